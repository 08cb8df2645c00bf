"""A function object to its normal form, once.

``parse → fence → desugar → anf``: the part of the way that does not depend on what is
differentiated with respect to what.
"""

from __future__ import annotations

import builtins
import functools
import types
from dataclasses import dataclass

import gast

from sct import fence, grammar
from sct.anf import anf
from sct.desugar import desugar
from sct.parse import Source, parse
from sct.resolve import MISSING, Scope


@dataclass(frozen=True, eq=False)
class Normal:
    """A function in A-normal form.

    Attributes
    ----------
    source : Source
        Where it was written.
    scope : Scope
        What its free names denote.
    fn : gast.FunctionDef
        Its tree; shared, so never changed.
    temporary : frozenset of str
        The names that normalisation made.
    """

    source: Source
    scope: Scope
    fn: gast.FunctionDef
    temporary: frozenset[str]


@functools.lru_cache(maxsize=512)
def normalise(function: types.FunctionType) -> Normal:
    """The normal form of a function.

    Parameters
    ----------
    function : types.FunctionType
        Any function with Python source.

    Raises
    ------
    SourceError
        When there is no source.
    UnsupportedError
        When it holds what cannot be differentiated.
    """
    source = parse(function)
    tree = source.tree
    fence.check(tree, source)
    scope = Scope(function)

    def is_builtin(node: gast.AST) -> str | None:
        found = scope.resolve(node)
        name = getattr(found, "__name__", None)
        if found is not MISSING and name and getattr(builtins, name, None) is found:
            return name
        return None

    own = grammar.all_writes(tree.body)
    fn = anf(desugar(tree, source, is_builtin), source)
    made = grammar.all_writes(fn.body) - own
    return Normal(source, scope, fn, frozenset(made))
