"""One array library: its modules, what they have in common with NumPy, its helpers."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import linecache
import re
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from sct.helpers import HELPERS

from . import words

PLAIN = (types.ModuleType, str, int, float, tuple, list, dict)


@dataclass(frozen=True, eq=False)
class Backend:
    """An array library.

    Attributes
    ----------
    name : str
        What it is called.
    package : str
        The package that it is.
    alias : str
        What that is called by custom.
    modules : mapping of str to str
        NumPy's and SciPy's modules → its own of the same meaning.  What is missing here
        it lacks, unless it is NumPy.
    otherwise : mapping of str to str
        NumPy's functions that take what its own do not → what is called in their place,
        a function of `words`.
    numbers : bool
        Whether an element or a sum of an array is a number.  Otherwise it is an array
        without axes: an element can be written into by its array, and the other way
        round.
    """

    name: str
    package: str
    alias: str
    modules: Mapping[str, str]
    otherwise: Mapping[str, str]
    numbers: bool
    # The helpers in its names, by the package they were made for and by the text's own
    # module; and NumPy's twin of each of them.
    _spaces: dict[tuple, dict] = field(default_factory=dict)
    _originals: dict[int, object] = field(default_factory=dict)

    # -- names ---------------------------------------------------------------------
    def is_imported(self) -> bool:
        """Whether anyone has imported it."""
        return self.package in sys.modules

    def spelled(self, module: str) -> str:
        """The name of its module for one of NumPy's or SciPy's."""
        return self.modules.get(module, module)

    def module(self, name: str) -> types.ModuleType:
        """Its module for one of NumPy's or SciPy's; an empty one, if it has none."""
        try:
            return importlib.import_module(self.spelled(name))
        except ImportError:
            return types.ModuleType(self.spelled(name))

    def lacks(self, module: str, path: str) -> bool:
        """Whether it has no ``path`` in its module for one of NumPy's or SciPy's."""
        if not self.modules or module.partition(".")[0] not in ("numpy", "scipy"):
            return False
        parts = path.split(".")
        while parts and f"{module}.{parts[0]}" in self.modules:
            module = f"{module}.{parts.pop(0)}"
        if module not in self.modules:
            return True
        found: object = self.module(module)
        for part in parts:
            found = getattr(found, part, None)
        return found is None

    # -- twins of NumPy's ----------------------------------------------------------
    def twin(self, value: object) -> object:
        """NumPy's or SciPy's object of the same meaning; the object, if there is none.

        A method of a ufunc is the same method of the other ufunc.
        """
        found = self._twins().get(id(value))
        if found is not None:
            return found[1]
        owner = self._twins().get(id(getattr(value, "__self__", None)))
        if owner is not None and callable(value):
            return getattr(owner[1], getattr(value, "__name__", ""), value)
        return self._originals.get(id(value), value)

    def _twins(self) -> dict[int, tuple[object, object]]:
        here = tuple(sys.modules.get(theirs) for theirs in self.modules.values())
        return _table(tuple(self.modules), here)

    # -- helpers -------------------------------------------------------------------
    def helper(self, name: str) -> Callable:
        """The helper of that name in its names: for live derivatives and for texts."""
        if name in self.otherwise.values():
            return self._space(words.__name__)[name]
        original = HELPERS[name]
        if not self.modules or isinstance(original, type):
            return original
        return self._space(original.__module__)[name]

    def helper_names(self) -> set[str]:
        """The names of all helpers, those of `words` among them."""
        return {*HELPERS, *self.otherwise.values()}

    def has_helper(self, value: object) -> bool:
        """Whether an object is one of the helpers in its names."""
        return id(value) in self._originals

    def respelled(self, text: str, otherwise: Mapping[str, str]) -> str:
        """A text in NumPy's names in its own, but for some words."""
        for word, other in otherwise.items():
            text = re.sub(rf"\bnp\.{word}\b", other, text)
        text = re.sub(r"\bnp\b", self.alias, text)
        return text.replace('"numpy"', f'"{self.package}"')

    def _space(self, name: str) -> dict[str, object]:
        """What a module of helpers defines, in its names."""
        # Whoever replaces the package, as tests do, gets helpers that call the other.
        key = (sys.modules.get(self.package), name)
        if key in self._spaces:
            return self._spaces[key]
        own = name == words.__name__
        source = inspect.getsource(sys.modules[name])
        text = self.respelled(source, {} if own else self.otherwise)
        filename = f"<{name} in the names of {self.name}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        space = self._spaces[key] = {"__name__": name}
        tree = ast.parse(text)
        for node in ast.parse(source).body:
            space.update(self._imported(node, name))
        skipped = (ast.Import, ast.ImportFrom, ast.ClassDef)
        tree.body = [node for node in tree.body if not isinstance(node, skipped)]
        exec(compile(tree, filename, "exec", dont_inherit=True), space)
        for word, original in vars(sys.modules[name]).items():
            if HELPERS.get(word) is original and isinstance(
                original, types.FunctionType
            ):
                self._originals[id(space[word])] = original
        if own:
            meant = {other: getattr(np, w) for w, other in self.otherwise.items()}
            self._originals.update({id(space[n]): f for n, f in meant.items()})
        else:
            for other in self.otherwise.values():
                space[other] = self.helper(other)
        return space

    def _imported(self, node: ast.AST, name: str) -> dict[str, object]:
        """What a statement at the top of a module of helpers binds, but functions."""
        there = vars(sys.modules[name])
        if isinstance(node, ast.ClassDef):
            return {node.name: there[node.name]}
        if not isinstance(node, (ast.Import, ast.ImportFrom)):
            return {}
        found = {}
        for alias in node.names:
            word = alias.asname or alias.name
            value = there[word]
            if isinstance(value, types.ModuleType):
                word = self.alias if word == "np" else word
                value = self.module(value.__name__)
            elif HELPERS.get(word) is value:
                value = self.helper(word)
            found[word] = value
        return found


@functools.lru_cache(maxsize=8)
def _table(
    ours: tuple[str, ...], theirs: tuple[types.ModuleType | None, ...]
) -> dict[int, tuple[object, object]]:
    """Objects of one library and their twins, by the ids of the former."""
    found: dict[int, tuple[object, object]] = {}
    for name, other in zip(ours, theirs, strict=True):
        if other is None:
            continue
        try:
            module = importlib.import_module(name)
        except ImportError:
            # SciPy need not be there.
            continue
        found[id(other)] = other, module
        for word in dir(module):
            mine, its = getattr(module, word, None), getattr(other, word, None)
            same = its is mine or isinstance(mine, PLAIN) or isinstance(its, PLAIN)
            if not word.startswith("_") and its is not None and not same:
                # What has two names there has one meaning.
                found.setdefault(id(its), (its, mine))
    return found
