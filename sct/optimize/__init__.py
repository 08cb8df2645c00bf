"""Optimise derivative code: the passes, their order, and their fixpoint.

Every pass takes a tree and facts and returns whether it changed anything, and the
tree that it made; the tree it was given stays as it was.

    t = out_bar * 1.0                 # L2: return x * x
    # L2: return x * x           →    x_bar = 2.0 * out_bar * x
    x_bar = x * t
    x_bar = x_bar + x * t
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from sct import grammar
from sct.optimize.cse import cse
from sct.optimize.dead_code import dead_code
from sct.optimize.facts import Facts
from sct.optimize.fold import fold
from sct.optimize.inline import inline, text_width
from sct.optimize.propagate import copies
from sct.optimize.stores import stores
from sct.optimize.taken import taken

__all__ = ["Facts", "optimize"]

# Each round shortens the text or brings it nearer to its normal form; the limit is
# for a rule that would not.
_ROUNDS = 20


def optimize(
    fn: gast.FunctionDef, facts: Facts, width: Callable[[gast.AST], int] = text_width
) -> gast.FunctionDef:
    """Optimise one function of derivative code.

    Parameters
    ----------
    fn : gast.FunctionDef
        By-name derivative code; left as it is.
    facts : Facts
        What is known of its names and calls.
    width : callable
        ``width(node)``: how many columns the text of a node takes.

    Returns
    -------
    gast.FunctionDef
        A new function that computes the same.
    """
    fn = grammar.clone(fn)
    fn = _fixpoint(fn, (copies, fold, cse, dead_code), facts)

    def inlined(fn, facts):
        return inline(fn, facts, width)

    passes = (inlined, copies, fold, cse, dead_code, stores, taken)
    return _fixpoint(fn, passes, facts)


def _fixpoint(fn: gast.FunctionDef, passes: tuple, facts: Facts) -> gast.FunctionDef:
    finished: dict[Callable, gast.FunctionDef] = {}
    for _ in range(_ROUNDS):
        for step in passes:
            if finished.get(step) is not fn:
                changed, fn = step(fn, facts)
                if not changed:
                    finished[step] = fn
        if all(finished.get(step) is fn for step in passes):
            break
    return fn
