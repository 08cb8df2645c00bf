"""Loops over anything become loops over `range`.

::

    for i, v in enumerate(x):          for i in range(len(x)):
        s = s + v               ->         v = x[i]
                                           s = s + v

`enumerate`, `zip`, `reversed` and `range` are taken apart in any combination.
What has no index (dictionary views, sets, generators) is listed first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gast

from .errors import unsupported
from .exits import own_breaks
from .grammar import (
    all_writes,
    call,
    clone,
    constant,
    is_name,
    located,
    name,
    target_names,
)
from .names import noun
from .renaming import Captured, rename
from .unpack import Unpacker
from .writer import Writer

NO_INDEX = (gast.GeneratorExp, gast.Set, gast.SetComp, gast.Dict, gast.DictComp)
NO_INDEX_CALLS = frozenset(
    {"map", "filter", "open", "iter", "dict", "set", "frozenset"}
)
VIEWS = frozenset({"items", "keys", "values"})
RESIZING = frozenset({"append", "clear", "extend", "insert", "pop", "remove"})


@dataclass(frozen=True)
class Items:
    """What a loop runs over: how many items, and the item at an index."""

    length: gast.AST
    item: Callable[[str], gast.AST]
    plain: str | None = None


class Iteration:
    """Lowers the heads of ``for`` loops.

    Parameters
    ----------
    writer : Writer
        Where statements are written.
    unpacker : Unpacker
        For the loops' targets.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.
    source : Source
        Where the function was written.
    """

    def __init__(self, writer: Writer, unpacker: Unpacker, is_builtin, source):
        self.writer = writer
        self.unpacker = unpacker
        self.is_builtin = is_builtin
        self.source = source

    def lower(self, loop: gast.For) -> list[gast.AST]:
        """Give a loop a `range` and a name; the statements its body must begin with."""
        target = loop.target
        if self._is_range(loop.iter):
            if isinstance(target, gast.Name):
                return []
            index = self._index()
            loop.target = name(index, store=True)
            with self.writer.block() as head:
                self.unpacker.assign(target, name(index))
            return head
        self._refuse_resizing(loop)
        if _keys_of(loop):
            loop.iter = self.writer.bind(call(self._name("list"), loop.iter), "keys")
        changed = all_writes(loop.body) | set(target_names(target))
        counted = self._counted(loop)
        if counted:
            index, value = loop.target.elts[0].id, loop.target.elts[1]
            items = self._items(loop.iter.args[0], changed)
        else:
            index, value = self._index(), target
            items = self._items(loop.iter, changed)
        with self.writer.block() as head:
            self.unpacker.assign(value, items.item(index))
        loop.target = name(index, store=True)
        loop.iter = call(self._name("range"), items.length)
        return head

    def merged(self, loop: gast.For) -> gast.For:
        """A loop over a generator expression as one that makes each item in its turn.

        ``for v in (f(t) for t in x if t)`` is ``for t in x: if t: v = f(t); ...``.
        """
        e = loop.iter
        several = len(e.generators) > 1 and own_breaks(loop.body)
        if several or any(g.is_async for g in e.generators):
            return loop
        first, *others = e.generators
        own = {n for g in e.generators for n in target_names(g.target)}
        parts = [e.elt, first.target, *first.ifs]
        parts += [p for g in others for p in (g.target, g.iter, *g.ifs)]
        try:
            rename(parts, {n: self.writer.names.fresh(n) for n in sorted(own)})
        except Captured:
            return loop
        body = [gast.Assign([loop.target], e.elt, None), *loop.body]
        for g in reversed(e.generators):
            for test in reversed(g.ifs):
                body = [gast.If(test, body, [])]
            body = [gast.For(g.target, g.iter, body, [], None)]
        return located(body[0], loop)

    def _is_range(self, e: gast.AST) -> bool:
        if self._called(e) == "reversed" and len(e.args) == 1:
            e = e.args[0]
        return self._called(e) == "range"

    def _called(self, e: gast.AST) -> str | None:
        """The builtin that an expression calls with plain arguments."""
        if not isinstance(e, gast.Call) or not isinstance(e.func, gast.Name):
            return None
        if any(isinstance(a, gast.Starred) for a in e.args):
            return None
        return self.is_builtin(e.func)

    def _counted(self, loop: gast.For) -> bool:
        """Whether the loop is ``for name, target in enumerate(x)``."""
        e, t = loop.iter, loop.target
        return (
            self._called(e) == "enumerate"
            and len(e.args) == 1
            and not e.keywords
            and isinstance(t, (gast.Tuple, gast.List))
            and len(t.elts) == 2
            and isinstance(t.elts[0], gast.Name)
            and not isinstance(t.elts[1], gast.Starred)
        )

    def _index(self) -> str:
        names = self.writer.names
        free = [c for c in "ijk" if c not in names.used]
        return names.fresh(free[0] if free else "i")

    def _name(self, word: str) -> gast.Name:
        """A builtin that the loop needs."""
        if self.is_builtin(name(word)) != word:
            raise unsupported(
                self.source,
                self.writer.at,
                "this `for`",
                f"it must call the builtin `{word}`, a name that is taken",
                f"Rename `{word}`, or loop over an index.",
            )
        return name(word)

    def _len(self, e: gast.AST) -> gast.AST:
        return call(self._name("len"), e)

    def _items(self, e: gast.AST, changed: set[str]) -> Items:
        called = self._called(e)
        if called == "zip" and e.args and not e.keywords:
            return self._zip([self._items(a, changed) for a in e.args])
        if called == "enumerate" and e.args and _keywords(e) <= {"start"}:
            start = [*e.args[1:], *[k.value for k in e.keywords]]
            return self._enumerate(self._items(e.args[0], changed), start)
        if called == "range" and len(e.args) == 1:
            stop = self._held(e.args[0], changed, "stop")
            return Items(stop, name)
        if called == "reversed" and len(e.args) == 1:
            held = self._items(e.args[0], changed)
            if held.plain:
                return Items(held.length, lambda i: _at(held.plain, _from_end(i)))
        if self._has_no_index(e, called):
            e = self.writer.bind(call(self._name("list"), e), noun(e))
        held = self._held(e, changed, noun(e))
        return Items(self._len(held), lambda i: _at(held.id, name(i)), plain=held.id)

    def _held(self, e: gast.AST, changed: set[str], base: str) -> gast.AST:
        """`e` as an atom that the loop's body leaves alone."""
        if isinstance(e, gast.Name) and e.id not in changed:
            return e
        if isinstance(e, gast.Constant) and isinstance(e.value, int):
            return e
        return self.writer.bind(e, base)

    def _zip(self, parts: list[Items]) -> Items:
        length = parts[0].length
        if len(parts) > 1:
            length = call(self._name("min"), *[p.length for p in parts])
        return Items(
            length, lambda i: gast.Tuple([p.item(i) for p in parts], gast.Load())
        )

    def _enumerate(self, items: Items, start: list[gast.AST]) -> Items:
        first = self._held(start[0], set(), "start") if start else constant(0)

        def item(i: str) -> gast.AST:
            number = name(i)
            if not (isinstance(first, gast.Constant) and first.value == 0):
                number = gast.BinOp(clone(first), gast.Add(), number)
            return gast.Tuple([number, items.item(i)], gast.Load())

        return Items(items.length, item)

    def _has_no_index(self, e: gast.AST, called: str | None) -> bool:
        if isinstance(e, NO_INDEX) or called in NO_INDEX_CALLS:
            return True
        if called in {"zip", "enumerate", "reversed"}:
            return True
        return (
            isinstance(e, gast.Call)
            and isinstance(e.func, gast.Attribute)
            and e.func.attr in VIEWS
        )

    def _refuse_resizing(self, loop: gast.For) -> None:
        """A length taken once must stay the length."""
        over = {n.id for n in gast.walk(loop.iter) if isinstance(n, gast.Name)}
        for s in loop.body:
            for n in gast.walk(s):
                if (
                    isinstance(n, gast.Call)
                    and isinstance(n.func, gast.Attribute)
                    and n.func.attr in RESIZING
                    and any(is_name(n.func.value, id) for id in over)
                ):
                    raise unsupported(
                        self.source,
                        n,
                        f"`.{n.func.attr}` on what the loop runs over",
                        "the number of turns would change while the loop runs",
                        "Loop over a copy, or collect the items in another list.",
                    )


def _keys_of(loop: gast.For) -> bool:
    """Whether ``for k in d`` goes over the keys of a dict: its body reads ``d[k]``."""
    if not is_name(loop.iter) or not is_name(loop.target):
        return False
    return any(
        isinstance(n, gast.Subscript)
        and is_name(n.value, loop.iter.id)
        and is_name(n.slice, loop.target.id)
        for s in loop.body
        for n in gast.walk(s)
    )


def _keywords(e: gast.Call) -> set[str | None]:
    return {k.arg for k in e.keywords}


def _at(id: str, index: gast.AST) -> gast.AST:
    return gast.Subscript(name(id), index, gast.Load())


def _from_end(index: str) -> gast.AST:
    minus_one = gast.UnaryOp(gast.USub(), constant(1))
    return gast.BinOp(minus_one, gast.Sub(), name(index))
