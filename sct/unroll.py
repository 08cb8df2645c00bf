"""Loops over short literal lists of variables, one turn after the other.

::

    l = [x, y]                          v = l[0]
    for i in range(len(l)):             s = s + v
        v = l[i]                ->      v = l[1]
        s = s + v                       s = s + v

Each turn may differentiate something else; lists of constants stay loops.
"""

from __future__ import annotations

import gast

from .containers import containers
from .exits import own_breaks
from .grammar import (
    all_writes,
    assign,
    blocks,
    clone,
    constant,
    is_name,
    located,
    nodes,
    statements,
)
from .names import Names, used_names
from .renaming import captured_names, rename

MOST = 8


def unrolled(fn: gast.FunctionDef, around) -> gast.FunctionDef:
    """Unroll loops over short lists of a known form.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    around : Surroundings
        What is known of the world around it.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one to be flattened again.
    """
    counters = {s.target.id: s for s in statements(fn.body) if isinstance(s, gast.For)}
    if not counters:
        return fn
    found = containers(fn, around, frozenset(counters))
    work = _Unrolling(fn, found, around.is_builtin)
    if not any(work.turns(s) is not None for s in statements(fn.body)):
        return fn
    fn = clone(fn)
    work = _Unrolling(fn, found, around.is_builtin)
    fn.body = work.block(fn.body)
    return fn


class _Unrolling:
    def __init__(self, fn, found, is_builtin):
        self.found, self.is_builtin = found, is_builtin
        self.captured = captured_names(fn.body)
        self.names = Names(used_names(fn))
        self.reads: dict[str, int] = _count(fn.body)

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in body:
            turns = self.turns(s)
            for inner in blocks(s):
                inner[:] = self.block(inner)
            out += [s] if turns is None else self.written(s, turns)
        return out

    def turns(self, loop: gast.AST) -> int | None:
        """How often a loop over known lists runs, None when it is to stay."""
        if not isinstance(loop, gast.For):
            return None
        index = loop.target.id
        if (
            index in self.captured
            or index in all_writes(loop.body)
            or own_breaks(loop.body)
        ):
            return None
        if (
            self.is_builtin(getattr(loop.iter, "func", None)) != "range"
            or len(loop.iter.args) != 1
        ):
            return None
        length = self.length(loop.iter.args[0])
        if length is None or length > MOST:
            return None
        indexed = any(
            isinstance(n, gast.Subscript)
            and is_name(n.slice, index)
            and isinstance(n.value, gast.Name)
            and n.value.id in self.found
            for s in loop.body
            for n in nodes(s)
        )
        return length if indexed else None

    def length(self, e: gast.AST) -> int | None:
        """The value of ``len(l)``, or of ``min`` of such."""
        if isinstance(e, gast.Constant) and isinstance(e.value, int):
            return e.value
        if not isinstance(e, gast.Call) or e.keywords:
            return None
        word = self.is_builtin(e.func)
        if word == "len" and isinstance(e.args[0], gast.Name):
            known = self.found.get(e.args[0].id)
            return None if known is None else len(known.keys)
        if word == "min" and len(e.args) > 1:
            parts = [self.length(a) for a in e.args]
            return None if None in parts else min(parts)
        return None

    def written(self, loop: gast.For, turns: int) -> list[gast.AST]:
        index = loop.target.id
        out: list[gast.AST] = []
        called = called_names(loop.body)
        called -= {n for n in called if self.reads[n] > _count(loop.body)[n]}
        for k in range(turns):
            body = fixed(clone(loop.body), index, k)
            # What is called has one meaning for each name.
            rename(body, {n: self.names.fresh(n) for n in sorted(called) if k})
            out += body
        if turns and self.reads.get(index, 0) > _count(loop.body).get(index, 0):
            out.append(assign(index, constant(turns - 1), loop))
        return out or [located(gast.Pass(), loop)]


def called_names(body: list[gast.AST]) -> set[str]:
    """The names that a block binds and calls."""
    bound = all_writes(body)
    return bound & {
        n.func.id
        for s in body
        for n in nodes(s)
        if isinstance(n, gast.Call) and is_name(n.func)
    }


def fixed(body: list[gast.AST], index: str, value: int) -> list[gast.AST]:
    """The statements of one turn of a loop, changed to have one `value` of `index`."""
    return [_Fixed(index, value).visit(s) for s in body]


class _Fixed(gast.NodeTransformer):
    """A counter that has one value."""

    def __init__(self, index: str, value: int):
        self.index, self.value = index, value

    def visit_Name(self, node):
        return (
            gast.copy_location(constant(self.value), node)
            if is_name(node, self.index)
            else node
        )


def _count(body: list[gast.AST]) -> dict[str, int]:
    found: dict[str, int] = {}
    for s in body:
        for n in nodes(s):
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
                found[n.id] = found.get(n.id, 0) + 1
    return found
