"""What a name or a dotted name of a function denotes.

Names are looked up as the function itself would: its locals hide everything,
then come closure cells, globals, builtins.  Objects decide, not spellings::

    from numpy import sin as f
    Scope(function).resolve(<f>) is numpy.sin

What CuPy has in place of one of NumPy's functions is taken for that: `resolve` says
what is meant, `lookup` and `binding` what is there.

Nothing of the user's is ever called: attributes are read only of modules,
classes, functions, ufuncs, and the distributions of SciPy.
"""

from __future__ import annotations

import builtins
import functools
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import gast
import numpy as np

from .backends import Backend, library, spoken, twin


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


@dataclass(frozen=True, eq=False)
class Binding:
    """How a free name of emitted code gets its value.

    Attributes
    ----------
    kind : str
        ``"global"``, ``"cell"`` or ``"builtin"`` for the user's names;
        ``"module"`` (numpy), ``"helper"`` (of `sct.runtime`), ``"unit"`` (an
        emitted function beside this one) or ``"value"`` for what sct adds.
    name : str
        The name where it comes from, which need not be the one in the text.
    module : str
        The module whose global it is; empty where that says nothing.
    value : object
        What it denotes now, or `MISSING`.
    cell : types.CellType or None
        The closure cell, for ``"cell"``.
    """

    kind: str
    name: str
    module: str = ""
    value: object = MISSING
    cell: types.CellType | None = None


class Scope:
    """The names a function sees.

    Parameters
    ----------
    function : types.FunctionType
        The function.
    locals : frozenset of str, optional
        Its own names, which hide outer ones; by default those its code lists.
    imports : mapping of str to Binding, optional
        The names that it imports itself.
    """

    def __init__(
        self,
        function: types.FunctionType,
        locals: frozenset[str] | None = None,
        imports: Mapping[str, Binding] = MappingProxyType({}),
    ):
        code = function.__code__
        if locals is None:
            locals = frozenset(code.co_varnames) | frozenset(code.co_cellvars)
        self.function = function
        self.locals = locals - set(imports)
        self.imports = imports
        self.cells = dict(
            zip(code.co_freevars, function.__closure__ or (), strict=True)
        )

    def lookup(self, name: str) -> object:
        """The object a free name denotes; `MISSING` for locals and unbound names."""
        if name in self.locals:
            return MISSING
        if name in self.imports or name in self.cells:
            return self.binding(name).value
        space = self.function.__globals__
        return space[name] if name in space else getattr(builtins, name, MISSING)

    @functools.cached_property
    def backend(self) -> Backend | None:
        """The array library that the function is written with, if it mentions one."""
        found = {library(b.value) for b in self.imports.values()}
        found.add(spoken(self.function, own=True))
        # Where CuPy is mentioned, its arrays are what the function is about.
        known = [b for b in found if b is not None]
        return min(known, key=lambda b: b.numbers, default=None)

    def modules(self) -> Iterator[tuple[str, types.ModuleType]]:
        """The modules that the function sees, by the names that it has for them."""
        for n, value in sorted(self.function.__globals__.items()):
            if isinstance(value, types.ModuleType) and n not in self.locals:
                yield n, value

    def resolve(self, expr: gast.AST) -> object:
        """The object a name or a chain of attributes denotes, or `MISSING`."""
        attributes: list[str] = []
        while isinstance(expr, gast.Attribute):
            attributes.append(expr.attr)
            expr = expr.value
        if not isinstance(expr, gast.Name):
            return MISSING
        found = self.lookup(expr.id)
        for attribute in reversed(attributes):
            found = _attribute(found, attribute)
        return twin(found)

    def binding(self, name: str) -> Binding:
        """Where a free name of the function comes from."""
        if name in self.imports:
            return self.imports[name]
        space = self.function.__globals__
        module = space.get("__name__") or ""
        if name in self.cells:
            try:
                value = self.cells[name].cell_contents
            except ValueError:
                value = MISSING
            return Binding("cell", name, module, value, self.cells[name])
        if name not in space and hasattr(builtins, name):
            return Binding("builtin", name, "builtins", getattr(builtins, name))
        return Binding("global", name, module, space.get(name, MISSING))


STATIC = (
    types.ModuleType,
    type,
    types.FunctionType,
    types.BuiltinFunctionType,
    np.ufunc,
    np.vectorize,
)


def _attribute(owner: object, name: str) -> object:
    known = isinstance(owner, STATIC) or _is_distribution(owner)
    if not known and twin(owner) is owner:
        return MISSING
    try:
        return getattr(owner, name, MISSING)
    except ImportError:
        # Lazy modules import on access.
        return MISSING


def _is_distribution(owner: object) -> bool:
    """Whether an object is one of those in `scipy.stats`, such as ``stats.norm``."""
    module = type(owner).__module__ or ""
    return module.startswith("scipy.stats.") and not isinstance(owner, tuple)


def hashable(obj: object) -> bool:
    """Whether an object may be looked for in sets; its class need not know."""
    try:
        hash(obj)
    except TypeError:
        return False
    return True


def canonical(obj: object) -> str:
    """The name by which messages call an object, such as ``numpy.linalg.norm``.

    Parameters
    ----------
    obj : object
        Usually a function; also a ufunc, method, class or module.

    Returns
    -------
    str
        A dotted name without ``builtins``.
    """
    if isinstance(obj, types.ModuleType):
        return obj.__name__
    if isinstance(obj, np.ufunc):
        return _ufunc_name(obj)
    if (same := twin(obj)) is not obj and library(obj) is not None:
        module, _, word = canonical(same).rpartition(".")
        return f"{library(obj).spelled(module)}.{word}"
    name = getattr(obj, "__qualname__", None) or getattr(obj, "__name__", None)
    if name is None:
        return f"a {canonical(type(obj))} object"
    owner = getattr(obj, "__objclass__", None)
    if owner is not None:
        return f"{canonical(owner)}.{obj.__name__}"
    bound = getattr(obj, "__self__", None)
    if isinstance(bound, np.ufunc):
        return f"{canonical(bound)}.{obj.__name__}"
    if isinstance(bound, np.random.RandomState):
        return f"numpy.random.{obj.__name__}"
    module = getattr(obj, "__module__", None)
    if module in (None, "builtins"):
        return name
    return f"{module}.{name}"


def _ufunc_name(ufunc: np.ufunc) -> str:
    """Ufuncs do not know their module: the one that has them under their name."""
    name = ufunc.__name__
    for module in ("numpy", "scipy.special"):
        if getattr(sys.modules.get(module), name, None) is ufunc:
            return f"{module}.{name}"
    return name
