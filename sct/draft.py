"""Emitted functions that are written down as text, not made of a primal's statements.

::

    d = Draft(program, source, scope, {"x"})
    d.emit("f_square", arguments, "Return ...", [f"return {d.unit('f_fwd')}(x) ** 2"])
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable

import gast
import numpy as np

from sct import emit, grammar
from sct.module import Unit
from sct.names import Names
from sct.parse import Source
from sct.resolve import Binding, Scope


class Draft:
    """One function in the making.

    Parameters
    ----------
    program : derive.Program
        The module that it becomes a part of.
    source : Source
        The function that it is about, whose globals it sees.
    scope : Scope
        What names denote there.
    taken : set of str
        The names of its parameters.
    """

    def __init__(self, program, source: Source, scope: Scope, taken: set[str]):
        self.program, self.source, self.scope = program, source, scope
        self.names = Names(set(taken))
        self.bindings: dict[str, Binding] = {}

    def helper(self, word: str) -> str:
        """The name here of a helper."""
        value = self.program.backend.helper(word)
        return self._bound(word, Binding("helper", word, value=value))

    def builtin(self, word: str) -> str:
        """The name here of a builtin."""
        value = getattr(builtins, word)
        if word not in self.names.used and self.scope.lookup(word) is value:
            return word
        return self._bound(word, Binding("builtin", word, "builtins", value))

    def unit(self, word: str) -> str:
        """The name here of an emitted function."""
        self.bindings[word] = Binding("unit", word)
        self.names.used.add(word)
        return word

    def numpy(self) -> str:
        """The name here of NumPy."""
        return self.imported("np", Binding("module", "numpy", value=np))

    def imported(self, word: str, binding: Binding) -> str:
        """The name here of any object."""
        for alias, b in self.bindings.items():
            if b.value is binding.value:
                return alias
        alias = self.names.fresh(word)
        self.bindings[alias] = binding
        return alias

    def _bound(self, word: str, binding: Binding) -> str:
        for alias, b in self.bindings.items():
            if (b.kind, b.name) == (binding.kind, word):
                return alias
        alias = self.names.fresh(word)
        self.bindings[alias] = binding
        return alias

    def emit(
        self, name: str, args: gast.arguments, said: str, lines: Iterable[str]
    ) -> str:
        """Emit it under a name that is reserved, with a docstring; returns the name."""
        text = "\n".join(f"    {s}" for line in lines for s in line.split("\n"))
        fn = gast.parse(f"def f():\n{text}").body[0]
        fn.name, fn.args = name, args
        fn.body.insert(0, gast.Expr(grammar.constant(emit.wrap_docstring(said))))
        used = grammar.free_names(fn)
        bindings = {n: b for n, b in self.bindings.items() if n in used}
        self.program.units[name] = Unit(
            name, fn, emit.function_text(fn), self.source, bindings
        )
        return name


def parameters(text: str) -> gast.arguments:
    """``"x, *, k"`` as the parameters of a function."""
    return gast.parse(f"def f({text}): pass").body[0].args


def listed(words: Iterable[str], single: bool = False) -> str:
    """``(a, b)``; the word itself when it is to come back alone."""
    words = list(words)
    if single:
        return words[0]
    return f"({', '.join(words)}{',' * (len(words) == 1)})"


def quoted(names: Iterable[str]) -> str:
    """Names as sentences have them."""
    words = [f"`{n}`" for n in names]
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)
