"""Sums over comprehensions become loops; sums and extrema of displays, operations.

::

    s = sum(v * v for v in x if v > 0)   ->   s = 0
                                              for v in x:
                                                  if v > 0:
                                                      s = s + v * v

    m = max([a, b, c])                   ->   m = max(max(a, b), c)

`sum` begins with the integer 0, as it does in Python.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property

import gast

from .grammar import (
    assign,
    blocks,
    call,
    clone,
    constant,
    is_name,
    located,
    name,
    nodes,
    statements,
    target_names,
)
from .names import RESERVED, Names, used_names
from .renaming import Captured, rename

Builtin = Callable[[gast.AST], str | None]
DISPLAYS = (gast.Tuple, gast.List)


def loops_for_sums(fn: gast.FunctionDef, is_builtin: Builtin) -> gast.FunctionDef:
    """Write sums over comprehensions as loops.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    is_builtin : callable
        The word of the builtin that a name denotes, or None.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one to be desugared
        and flattened again.
    """
    work = _Sums(fn, is_builtin)
    if not any(work.pair(b, k) for b in _blocks(fn) for k in range(len(b))):
        return fn
    fn = clone(fn)
    for body in list(_blocks(fn)):
        body[:] = work.block(body)
    return fn


def _blocks(fn: gast.FunctionDef):
    yield fn.body
    for s in statements(fn.body):
        yield from blocks(s)


class _Sums:
    def __init__(self, fn: gast.FunctionDef, is_builtin: Builtin):
        self.fn, self.is_builtin = fn, is_builtin

    @cached_property
    def names(self) -> Names:
        return Names(used_names(self.fn))

    @cached_property
    def mentions(self) -> Counter[str]:
        """How often the function mentions each name."""
        return Counter(n.id for n in nodes(self.fn) if isinstance(n, gast.Name))

    def pair(self, body: list[gast.AST], k: int) -> bool:
        """Whether statement `k` is the sum of what the statement before it lists."""
        if k == 0 or not isinstance(body[k], gast.Assign):
            return False
        made, value = body[k - 1], body[k].value
        return (
            isinstance(made, gast.Assign)
            and isinstance(made.targets[0], gast.Name)
            and isinstance(made.value, (gast.GeneratorExp, gast.ListComp))
            and not any(g.is_async for g in made.value.generators)
            and isinstance(body[k].targets[0], gast.Name)
            and isinstance(value, gast.Call)
            and self.is_builtin(value.func) == "sum"
            and len(value.args) in (1, 2)
            and not value.keywords
            and is_name(value.args[0], made.targets[0].id)
            and self.mentions[made.targets[0].id] == 2
        )

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for k, s in enumerate(body):
            loop = self.loop(body[k - 1].value, s) if self.pair(body, k) else None
            if loop is None:
                out.append(s)
            else:
                out[-1:] = loop
        return out

    def loop(self, listed: gast.AST, s: gast.Assign) -> list[gast.AST] | None:
        """The loop that adds up, None when its names cannot be told apart."""
        own = {n for g in listed.generators for n in target_names(g.target)}
        inside = sum(isinstance(n, gast.Name) and n.id in own for n in nodes(listed))
        alone = sum(self.mentions[n] for n in own) == inside and not own & RESERVED
        target = s.targets[0].id
        taken = any(is_name(n, target) for n in nodes(listed))
        total = self.names.fresh("total") if taken else target
        step = gast.BinOp(name(total), gast.Add(), listed.elt)
        body: list[gast.AST] = [assign(total, step, s)]
        for g in reversed(listed.generators):
            for test in reversed(g.ifs):
                body = [located(gast.If(test, body, []), s)]
            body = [located(gast.For(g.target, g.iter, body, [], None), s)]
        if not alone:
            # The first iterable belongs to the function, not to the comprehension.
            loop = body[0]
            parts = [loop.target, *loop.body]
            parts += [g.iter for g in listed.generators[1:]]
            try:
                rename(parts, {n: self.names.fresh(n) for n in sorted(own)})
            except Captured:
                return None
        start = s.value.args[1] if len(s.value.args) == 2 else constant(0)
        lead = [assign(total, start, s)]
        after = [assign(target, name(total), s)] if taken else []
        return [*lead, *body, *after]


def of_displays(fn: gast.FunctionDef, is_builtin: Builtin) -> gast.FunctionDef:
    """Write `sum`, `max` and `min` of literal lists as operations on two operands.

    Parameters and result are those of `loops_for_sums`.
    """
    found = {
        s: value
        for s in statements(fn.body)
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.Call)
        if (value := _reduced(s.value, is_builtin)) is not None
    }
    if not found:
        return fn
    # Values are replaced in a copy; the originals say where.
    places = [k for k, s in enumerate(statements(fn.body)) if s in found]
    values = [found[s] for s in statements(fn.body) if s in found]
    fn = clone(fn)
    listed = list(statements(fn.body))
    for k, value in zip(places, values, strict=True):
        listed[k].value = located(value, listed[k])
    return fn


def _reduced(node: gast.Call, is_builtin: Builtin) -> gast.AST | None:
    word = is_builtin(node.func)
    if word not in ("sum", "max", "min") or node.keywords:
        return None
    args = node.args
    display = args and isinstance(args[0], DISPLAYS)
    if word == "sum":
        if not display or len(args) > 2 or not args[0].elts:
            return None
        items = [*(args[1:] or [constant(0)]), *args[0].elts]
    elif display and len(args) == 1 and args[0].elts:
        items = args[0].elts
    elif len(args) > 2:
        items = args
    else:
        return None
    if any(isinstance(v, gast.Starred) for v in items):
        return None
    value, *others = (clone(v) for v in items)
    for v in others:
        if word == "sum":
            value = gast.BinOp(value, gast.Add(), v)
        else:
            value = call(clone(node.func), value, v)
    return value
