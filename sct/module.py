"""Emitted functions to the text of one module that needs no sct.

Every free name of every function is bound to something; here each of these
things gets one name in the module and one line that brings it there::

    f_grad: np -> numpy, K -> a.K          import numpy as np
    g_grad: K -> b.K, unbroadcast   ──►    from a import K
                                           from b import K as K_2

The functions follow, printed anew where a name of theirs had to give way, and
after them the text of the helpers that they call.
"""

from __future__ import annotations

import ast
import builtins
import functools
import inspect
import re
import sys
import sysconfig
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

import gast

from . import emit
from .backends import of_helper
from .grammar import clone, free_names, names_read, nodes, outer_names
from .helpers import HELPERS
from .hooks import without_control
from .outline import is_outlined
from .parse import Source, parse
from .resolve import MISSING, Binding, Scope
from .solutions import HELD
from .version import __version__


@dataclass(frozen=True, eq=False)
class Unit:
    """One emitted function.

    Attributes
    ----------
    name : str
        Its name.
    tree : gast.FunctionDef
        Its tree, comments included.
    text : str
        Its text, as `sct.emit.function_text` prints the tree.
    source : Source
        The function it was made from.
    bindings : dict of str to Binding
        What its free names denote.  Names that are missing here denote what
        they denote in `source.function`.
    """

    name: str
    tree: gast.FunctionDef
    text: str
    source: Source
    bindings: dict[str, Binding] = field(default_factory=dict)

    @functools.cached_property
    def free(self) -> list[str]:
        """Its free names, in order."""
        return sorted(free_names(self.tree) | _annotation_names(self.tree))


@dataclass(frozen=True, eq=False)
class Module:
    """The text of a module, and how it came about.

    Attributes
    ----------
    units : tuple of Unit
        The emitted functions, the one it is about first.
    text : str
        The whole text.
    names : tuple of dict
        For each unit, the name in the text of each free name of its tree, and
        of the unit itself.
    problems : tuple of str
        Why this text cannot stand alone: one sentence for each name that no
        import and no literal can supply.
    """

    units: tuple[Unit, ...]
    text: str
    names: tuple[dict[str, str], ...]
    problems: tuple[str, ...]


def free_bindings(unit: Unit) -> dict[str, Binding]:
    """What each free name of a unit denotes, in order of name."""
    scope = Scope(unit.source.function, frozenset())
    return {
        n: unit.bindings[n] if n in unit.bindings else scope.binding(n)
        for n in unit.free
    }


def _annotation_names(tree: gast.FunctionDef) -> set[str]:
    a = tree.args
    parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    notes = [p.annotation for p in parameters if p] + [tree.returns]
    return {n for note in notes if note for n in names_read(note)}


def module_text(
    units: Iterable[Unit], *, title: str = "Gradient", version: str = __version__
) -> str:
    """The text of the module that holds `units`; see `build`."""
    return build(units, title=title, version=version).text


def build(
    units: Iterable[Unit],
    *,
    title: str = "Gradient",
    version: str = __version__,
    about: Source | None = None,
) -> Module:
    """The module that holds some emitted functions.

    Parameters
    ----------
    units : iterable of Unit
        The functions; the first is what the module is about.
    title : str
        What that one is, as its header says it.
    version : str
        The version in the header.
    about : Source, optional
        The function that the header names; by default that of the first unit.

    Returns
    -------
    Module
        Its text and names.
    """
    units = tuple(units)
    names = _Names(units)
    renamed = [names.of_unit(u) for u in names.units]
    functions = [
        u.text
        if all(old == new for old, new in m.items())
        else emit.function_text(_renamed(u.tree, m))
        for u, m in zip(names.units, renamed, strict=True)
    ]
    helpers = names.helper_texts()
    if names.constants:
        functions.insert(0, "\n".join(names.constants))
    text = emit.module_text(
        _header(names.units, title, version, about or units[0].source),
        _import_groups(names.imports),
        [renamed[0][units[0].name]],
        functions,
        helpers,
    )
    return Module(units, text, tuple(renamed[: len(units)]), tuple(names.problems))


def _header(units: list[Unit], title: str, version: str, first: Source) -> str:
    sources = [u.source for u in units if not _is_emitted(u.source.function)]
    others = {s.name: s.digest for s in sources}
    others.pop(first.name, None)
    digests = [first.digest, *[f"`{n}` {d}" for n, d in others.items()]]
    said = f"{title} of `{first.name}` ({first.place}), generated by sct {version}."
    if len(said) > 85:
        # The mark stays in one piece: it tells a module of ours from any other file.
        said = said.replace(", generated by", ",\ngenerated by")
    return (
        f"{said}\n\n"
        "Do not edit: change the source and call `sct.save` again.\n"
        f"Source digest: {', with '.join(digests[:2])}"
        + "".join(f", {d}" for d in digests[2:])
    )


def _is_emitted(function: types.FunctionType) -> bool:
    return isinstance(getattr(function, "__sct__", None), Module)


def _renamed(tree: gast.FunctionDef, names: dict[str, str]) -> gast.FunctionDef:
    tree = clone(tree)
    tree.name = names[tree.name]
    for node in nodes(tree):
        if isinstance(node, gast.Name):
            node.id = names.get(node.id, node.id)
    return tree


def _mentioned(tree: gast.FunctionDef) -> set[str]:
    """The names in the body and the head of a function."""
    return {n.id for n in nodes(tree) if isinstance(n, gast.Name)}


class _Names:
    """The names of a module: no two things share one, whatever functions call them."""

    def __init__(self, units: tuple[Unit, ...]):
        self.units = list(units)
        self.siblings = {u: {v.name: v for v in units} for u in units}
        self.outlined: dict[types.FunctionType, Unit] = {}
        self.given: dict[object, str] = {}
        self.taken: set[str] = set()
        self.imports: list[tuple[str, str | None, str]] = []
        self.constants: list[str] = []
        self.problems: list[str] = []
        self.helpers: dict[str, Callable] = {}
        self._gather()
        self._no_outer_variables()
        self.mentioned = {u: _mentioned(u.tree) for u in self.units}
        self.local = set().union(*self.mentioned.values())
        for unit in self.units:
            self.given[unit] = self._free(unit.name)

    def _gather(self) -> None:
        """Take in the emitted functions that units call as values."""
        for unit in self.units:  # grows meanwhile
            for binding in free_bindings(unit).values():
                record = getattr(binding.value, "__sct__", None)
                if is_outlined(binding.value):
                    self._take(binding.value)
                for other in record.units if isinstance(record, Module) else ():
                    if other not in self.siblings:
                        self.siblings[other] = {v.name: v for v in record.units}
                        self.units.append(other)
                if (helper := _helper(binding)) is not None:
                    self._reserve(helper)

    def _take(self, function: types.FunctionType) -> None:
        """Take in a function that stands in no module, as it is."""
        if function in self.outlined:
            return
        source = parse(function)
        tree, bindings = without_control(source.tree, Scope(function))
        text = emit.function_text(tree)
        unit = Unit(source.name, tree, text, source, bindings)
        self.outlined[function] = unit
        self.siblings[unit] = {}
        self.units.append(unit)

    def _no_outer_variables(self) -> None:
        """Note the variables of other modules that units write."""
        for unit in self.units:
            for n in sorted(outer_names(unit.tree.body)):
                self.problems.append(
                    f"it writes the variable `{n}` of `{unit.source.name}`, which a "
                    "module of its own cannot"
                )

    def _reserve(self, helper: Callable) -> None:
        """Keep the builtins of a helper, and of those it calls, from being hidden."""
        pending = [helper]
        for called in pending:  # grows meanwhile
            pending += [h for h in _helper_calls(called) if h not in pending]
            for word in _helper_words(called) & {*dir(builtins)}:
                self.given["builtin", word] = word
                self.taken.add(word)

    def of_unit(self, unit: Unit) -> dict[str, str]:
        """The names in the module of the free names of a unit, and of itself."""
        names = {n: self._name(n, b, unit) for n, b in free_bindings(unit).items()}
        return {**names, unit.name: self.given[unit]}

    def _name(self, text: str, binding: Binding, unit: Unit) -> str:
        kind, value = binding.kind, binding.value
        if kind == "unit":
            return self.given[self.siblings[unit][binding.name]]
        record = getattr(value, "__sct__", None)
        if isinstance(value, types.FunctionType) and value in self.outlined:
            return self.given[self.outlined[value]]
        if isinstance(record, Module):
            return self.given[next(u for u in record.units if u.name == value.__name__)]
        if (helper := _helper(binding)) is not None:
            return self._helper(helper, text)
        if isinstance(value, types.ModuleType):
            return self._module(text, value.__name__, binding, unit)
        if kind == "builtin" and text != binding.name:
            return self._import(text, "builtins", binding.name)
        if kind == "builtin":
            return self._builtin(text)
        if kind == HELD:
            taken = binding.name in self.mentioned[unit]
            wish = text if taken else binding.name
            return self._import(wish, binding.module, binding.name)
        if kind == "global" and _holds(binding.module, binding.name, value):
            return self._import(text, binding.module, binding.name)
        module, name = getattr(value, "__module__", ""), getattr(value, "__name__", "")
        if _holds(module, name, value):
            return self._import(text, module, name)
        return self._constant(text, binding, unit)

    def _builtin(self, text: str) -> str:
        if ("builtin", text) not in self.given:
            name = self.given["builtin", text] = self._free(text)
            if name != text:
                self.imports.append(("builtins", text, name))
        return self.given["builtin", text]

    def _module(self, text: str, module: str, binding: Binding, unit: Unit) -> str:
        """The name of a module, without the suffix of sct's own where it needs none."""
        wish = re.sub(r"_\d+$", "", text) if binding.kind == "module" else text
        own = self.mentioned[unit]
        return self._import(text if wish in own else wish, module, None)

    def _import(self, text: str, module: str, attribute: str | None) -> str:
        key = (module, attribute, text)
        if key not in self.given:
            self.given[key] = self._free(text)
            self.imports.append((module, attribute, self.given[key]))
        return self.given[key]

    def _free(self, wish: str) -> str:
        """`wish`, with the smallest suffix that makes it new."""
        name, n = wish, 1
        while name in self.taken or (n > 1 and name in self.local):
            n += 1
            name = f"{wish}_{n}"
        self.taken.add(name)
        return name

    def _helper(self, helper: Callable, text: str) -> str:
        key = ("helper", helper, text)
        if key not in self.given:
            self.given[key] = self._free(text)
            self.helpers[self.given[key]] = helper
        return self.given[key]

    def _constant(self, text: str, binding: Binding, unit: Unit) -> str:
        value, owner = binding.value, unit.source.name
        key = ("constant", binding.kind, binding.name, unit.source.function, id(value))
        if key in self.given:
            return self.given[key]
        name = self.given[key] = self._free(text)
        place = "a closure variable" if binding.kind == "cell" else "a variable"
        literal = _literal(value)
        if literal is None:
            self.problems.append(
                f"`{binding.name}` is {place} of `{owner}` that no module holds; make "
                "it an argument, or define it at the top of a module"
            )
            self.constants.append(f"# `{name}` is {place} of `{owner}`.")
        else:
            self.constants.append(f"# The value of {place} of `{owner}`.")
            self.constants.append(f"{name} = {literal}")
        return name

    def helper_texts(self) -> list[str]:
        """The helpers that the functions call, and those that these call."""
        texts = []
        pending = list(self.helpers)
        for name in pending:  # grows meanwhile
            helper = self.helpers[name]
            text = _respell(_helper_text(helper), helper.__name__, name)
            for other in _helper_calls(helper):
                called = self._helper(other, other.__name__)
                text = _respell(text, other.__name__, called)
                if called not in pending:
                    pending.append(called)
            for word, module in sorted(_helper_modules(helper).items()):
                text = _respell(text, word, self._import(word, module, None))
            texts.append(text)
        return texts


def _helper(binding: Binding) -> Callable | None:
    """The helper that is meant, if one is, in whatever library's names."""
    return binding.value if of_helper(binding.value) is not None else None


def _respell(text: str, old: str, new: str) -> str:
    return text if old == new else re.sub(rf"\b{old}\b(?!`)", new, text)


# What helpers raise, and what their copies do.
PLAIN_ERRORS = {
    "ArgumentError": "TypeError",
    "ConvergenceError": "RuntimeError",
    "NanError": "FloatingPointError",
}


def helper_source(name: str) -> str:
    """The text of a helper, raising what a module without sct can.

    Parameters
    ----------
    name : str
        One of `sct.helpers.HELPERS`.

    Returns
    -------
    str
        Its text.  Other helpers that it calls are not part of it.
    """
    return _helper_text(HELPERS[name])


@functools.cache
def _helper_text(helper: Callable) -> str:
    source = inspect.getsource(helper)
    for error, builtin in PLAIN_ERRORS.items():
        source = source.replace(error, builtin)
    return source.rstrip("\n")


@functools.cache
def _helper_words(helper: Callable) -> set[str]:
    """The names that a helper mentions."""
    every = ast.walk(ast.parse(_helper_text(helper)))
    return {n.id for n in every if isinstance(n, ast.Name)}


@functools.cache
def _helper_modules(helper: Callable) -> dict[str, str]:
    """The names that a helper has for modules."""
    own = getattr(helper, "__globals__", None)
    space = inspect.getmodule(helper).__dict__ if own is None else own
    return {
        word: space[word].__name__
        for word in _helper_words(helper)
        if isinstance(space.get(word), types.ModuleType)
    }


@functools.cache
def _helper_calls(helper: Callable) -> list[Callable]:
    backend = of_helper(helper)
    names = (_helper_words(helper) & backend.helper_names()) - {helper.__name__}
    return [backend.helper(n) for n in sorted(names)]


def _holds(module: str | None, name: str, value: object) -> bool:
    """Whether importing `name` from `module` gives `value` in another process too."""
    if module in (None, "", "__main__") or not name.isidentifier():
        return False
    return getattr(sys.modules.get(module), name, MISSING) is value is not MISSING


LITERALS = (int, float, complex, str, bool, type(None))


def _literal(value: object) -> str | None:
    """The text of a plain constant, or None for other objects."""
    leaves = [value]
    while leaves:
        leaf = leaves.pop()
        if type(leaf) is tuple:
            leaves.extend(leaf)
        elif type(leaf) not in LITERALS:
            return None
    try:
        ast.literal_eval(repr(value))
    except (ValueError, SyntaxError):
        return None
    return emit.expression_text(gast.parse(repr(value), mode="eval").body)


def _import_groups(imports: list[tuple[str, str | None, str]]) -> list[list[str]]:
    """Import lines in the groups and order of isort."""
    plain: dict[str, list[str]] = {}
    members: dict[str, list[str]] = {}
    renamed: dict[str, list[str]] = {}
    for module, attribute, name in imports:
        if attribute is None:
            package, _, last = module.rpartition(".")
            if package and last == name:
                members.setdefault(package, []).append(name)
                continue
            line = f"import {module}" + (f" as {name}" if name != module else "")
            plain.setdefault(module, []).append(line)
        elif attribute == name:
            members.setdefault(module, []).append(name)
        else:
            renamed.setdefault(module, []).append(
                f"from {module} import {attribute} as {name}"
            )
    groups: list[list[str]] = [[], [], []]
    for module in sorted(plain, key=_module_key):
        groups[_section(module)] += sorted(plain[module])
    for module in sorted({*members, *renamed}, key=_module_key):
        lines = groups[_section(module)]
        if module in members:
            lines.append(_from_line(module, sorted(members[module], key=_member_key)))
        lines += sorted(renamed.get(module, []))
    return [g for g in groups if g]


def _module_key(module: str) -> tuple[str, str]:
    return module.lower(), module


def _member_key(name: str) -> tuple[int, str, str]:
    """Constants first, then classes, then the rest."""
    rank = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    return rank, name.lower(), name


def _from_line(module: str, names: list[str]) -> str:
    line = f"from {module} import {', '.join(names)}"
    if len(line) <= 88:
        return line
    return "\n".join([f"from {module} import (", *[f"    {n}," for n in names], ")"])


def _section(module: str) -> int:
    """0 for the standard library, 1 for installed packages, 2 for the user's own."""
    top = module.partition(".")[0]
    if top in sys.stdlib_module_names:
        return 0
    file = getattr(sys.modules.get(top), "__file__", None)
    if file is None:
        return 1
    installed = {Path(sysconfig.get_path(p)) for p in ("purelib", "platlib")}
    return 1 if installed & set(Path(file).parents) else 2
