"""Which bindings of a name a statement may see.

::

    u = x * x          # reaches `y = u[0]`
    y = u[0]
    u = 0.0            # does not
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import gast

from sct import grammar

from . import dataflow


def reaching(
    fn: gast.FunctionDef, reads: Mapping[int, str], given: Iterable[str] = ()
) -> set[int]:
    """The bindings that reach one of some statements.

    ``x += e`` leaves an array what it is, and is none.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    reads : mapping of int to str
        The `id` of a statement → the name that it reads.
    given : iterable of str
        The names that are bound when the function begins.

    Returns
    -------
    set of int
        The ids of the statements that bind; that of `fn` stands for its beginning.
    """
    found: set[int] = set()
    names = set(reads.values())

    def after(stmt: gast.AST, state: dict[str, frozenset[int]]) -> None:
        if id(stmt) in reads:
            found.update(state.get(reads[id(stmt)], ()))
        if not isinstance(stmt, gast.AugAssign):
            for n in names.intersection(grammar.writes(stmt)):
                state[n] = frozenset([id(stmt)])

    def either(a: dict, b: dict) -> dict:
        return {n: a.get(n, frozenset()) | b.get(n, frozenset()) for n in a | b}

    if reads:
        start = {p: frozenset([id(fn)]) for p in given}
        dataflow.Forward(after, either).run(fn.body, start)
    return found
