"""A part of an array that a statement reads several times, read once.

::

    total += C[i, j] * C[i, j]

is in ANF ::

    C_item = C[i, j]                    C_item = C[i, j]
    C_item_2 = C[i, j]           ──►    prod = C_item * C_item
    prod = C_item * C_item_2            total = total + prod
    total = total + prod

and what comes back to the part is added up before it is added to the adjoint of the
array: ``C_bar[i, j] += 2.0 * out_bar * C_item``.
"""

from __future__ import annotations

from collections.abc import Callable, Set

import gast

from sct import grammar
from sct.renaming import rename


def reuse(
    fn: gast.FunctionDef, temporary: set[str], pure: Callable[[gast.AST], bool]
) -> gast.FunctionDef:
    """Give parts that one statement of the source reads twice one name.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF, every array under one name.
    temporary : set of str
        The names made by sct.
    pure : callable
        ``pure(call)``: whether a call has no effect.

    Returns
    -------
    gast.FunctionDef
        A new tree; `fn` itself when there is nothing to do.
    """
    count: dict[str, int] = {}
    for s in grammar.statements(fn.body):
        for n in grammar.writes(s):
            count[n] = count.get(n, 0) + 1
    once = {n for n in temporary if count.get(n) == 1}
    same: dict[str, str] = {}
    _find(fn.body, once, pure, same)
    if not same:
        return fn
    fn = grammar.clone(fn)
    _drop(fn.body, same.keys())
    rename(fn.body, same)
    return fn


def _find(body: list[gast.AST], once: set[str], pure, same: dict[str, str]) -> None:
    """Find second readings in a block, and those of which they are the same."""
    held: dict[str, str] = {}
    line = 0
    for stmt in body:
        for inner in grammar.blocks(stmt):
            _find(inner, once, pure, same)
        if stmt.lineno != line or not _only_computes(stmt, once, pure):
            held, line = {}, stmt.lineno
        value = stmt.value if isinstance(stmt, gast.Assign) else None
        if isinstance(value, gast.Subscript) and grammar.is_name(stmt.targets[0]):
            name = stmt.targets[0].id
            if name in once:
                first = held.setdefault(gast.dump(value), name)
                if first != name:
                    same[name] = first


def _only_computes(stmt: gast.AST, once: set[str], pure) -> bool:
    """Whether a statement changes nothing that was there before it."""
    return (
        isinstance(stmt, gast.Assign)
        and not grammar.mutates(stmt)
        and once.issuperset(grammar.writes(stmt))
        and all(pure(n) for n in grammar.nodes(stmt.value) if isinstance(n, gast.Call))
    )


def _drop(body: list[gast.AST], names: Set[str]) -> None:
    """Take out the statements that bind some names; the block is changed."""
    body[:] = [s for s in body if not names & set(grammar.writes(s))]
    for s in body:
        for inner in grammar.blocks(s):
            _drop(inner, names)
