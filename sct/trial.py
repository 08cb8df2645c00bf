"""A block run on trial: what it binds when it fails halfway, and copies without effect.

::

    y = f(x)            y may be bound, z not, when the block fails
    z = g(y)

    x += e              x = x + e
    return x      ->    x
"""

from __future__ import annotations

from collections import Counter

import gast

from .grammar import (
    assign,
    located,
    name,
    names_bound,
    names_read,
    source_blocks,
    target_names,
)

LEAVES = (gast.Return, gast.Break, gast.Continue)
LOOPS = (gast.For, gast.While)


def count_reads(every: list[gast.AST]) -> Counter[str]:
    """How often each name is read, told from all nodes of some trees."""
    found: Counter[str] = Counter()
    for n in every:
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
            found[n.id] += 1
        elif isinstance(n, gast.AugAssign) and isinstance(n.target, gast.Name):
            found[n.target.id] += 1
    return found


def bound_early(body: list[gast.AST]) -> set[str]:
    """The names that may be bound when a later statement fails."""
    while len(body) > 1 and _never_fails(body[-1]):
        body = body[:-1]
    *first, last = body
    early = {n for s in first for n in names_bound(s)}
    simple = isinstance(last, (gast.Assign, gast.AugAssign, gast.AnnAssign))
    targets = getattr(last, "targets", None) or [getattr(last, "target", None)]
    if simple and len(targets) == 1 and isinstance(targets[0], gast.Name):
        own = names_bound(last) - set(target_names(targets[0]))
    else:
        own = names_bound(last)
    return early | own


def _never_fails(s: gast.AST) -> bool:
    if isinstance(s, (gast.Return, gast.Assign)):
        targets = getattr(s, "targets", [])
        names = all(isinstance(t, gast.Name) for t in targets)
        return names and isinstance(s.value, gast.Constant)
    return isinstance(s, (gast.Break, gast.Continue, gast.Pass))


def bound_for_certain(body: list[gast.AST]) -> set[str]:
    """Names that a block binds whenever it runs to its end."""
    return {
        n
        for s in body
        if isinstance(s, gast.Assign)
        for t in s.targets
        for n in target_names(t)
    }


def read_first(body: list[gast.AST]) -> set[str]:
    """The names that a block may read before it binds them."""
    bound: set[str] = set()
    found: set[str] = set()
    for s in body:
        read = names_read(s)
        if isinstance(s, gast.AugAssign):
            read |= set(target_names(s.target))
        found |= read - bound
        bound |= bound_for_certain([s])
    return found


def out_of_place(body: list[gast.AST]) -> list[gast.AST]:
    """``x += e`` as ``x = x + e``: a trial changes nothing."""
    for k, s in enumerate(body):
        for inner in source_blocks(s):
            out_of_place(inner)
        if isinstance(s, gast.AugAssign):
            total = gast.BinOp(name(s.target.id), s.op, s.value)
            body[k] = assign(s.target, total, s)
    return body


def without_leaving(body: list[gast.AST]) -> list[gast.AST]:
    """A block whose last statement does not leave the function or a loop."""
    last = body[-1]
    if isinstance(last, gast.Return) and last.value is not None:
        body[-1] = located(gast.Expr(last.value), last)
    elif isinstance(last, LEAVES):
        body[-1] = located(gast.Pass(), last)
    elif isinstance(last, gast.If):
        for arm in source_blocks(last):
            without_leaving(arm)
    return body


def leaving(body: list[gast.AST]) -> gast.AST | None:
    """A statement that leaves the function, or a loop around the block."""
    stack = [(s, False) for s in body]
    while stack:
        s, loop = stack.pop()
        if isinstance(s, gast.Return) or (isinstance(s, LEAVES) and not loop):
            return s
        deeper = loop or isinstance(s, LOOPS)
        stack += [(t, deeper) for inner in source_blocks(s) for t in inner]
    return None
