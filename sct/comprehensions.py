"""Comprehensions become loops that fill a list, dict or set.

::

    y = np.array([v * v for v in x if v > 0.0])

                                            items = []
                                            for v in x:
                                   ->           if v > 0.0:
                                                    items.append(v * v)
                                            y = np.array(items)

A generator expression becomes a list where it is used up at once.  What cannot hold an
active value stays as it is written: a comprehension over sizes and constants, one in a
test, and one that is summed, which `sums` makes a loop of its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import gast

from .grammar import (
    assign,
    call,
    children,
    clone,
    located,
    name,
    names_read,
    nodes,
    target_names,
    values_read,
)
from .names import RESERVED, Names
from .renaming import rename

LISTED = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
# Builtins that use up what they are given, and only look at it.
CONSUMERS = frozenset({"list", "tuple", "min", "max", "sorted", "set", "dict", "sum"})


class Comprehensions:
    """Tells which comprehensions become loops, and writes the loops.

    Parameters
    ----------
    every : list of trees
        All nodes of the function.
    names : Names
        Where variables get their names.
    local : set of str
        The names that the function itself binds.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.
    """

    def __init__(self, every, names: Names, local: set[str], is_builtin: Callable):
        self.names, self.local, self.is_builtin = names, local, is_builtin
        mentions = _mentions(every)
        within: Counter[str] = Counter()
        for n in every:
            if isinstance(n, LISTED):
                own, inside = _own_names(n), _mentions(nodes(n))
                within.update({k: c for k, c in inside.items() if k in own})
        # Names that are nothing but the variables of one comprehension.
        self.private = {n for n, c in within.items() if c == mentions[n]} - RESERVED

    def of(self, e: gast.AST) -> set[int]:
        """The ids of the comprehensions in `e` that are to become loops."""
        found: set[int] = set()
        stack = [(e, None)]
        while stack:
            n, parent = stack.pop()
            if isinstance(n, gast.Lambda):
                continue
            if isinstance(n, LISTED):
                if self._is_listed(n, parent):
                    found.add(id(n))
                continue
            stack += [(c, n) for c in children(n)]
        return found

    def _is_listed(self, e: gast.AST, parent: gast.AST | None) -> bool:
        if any(g.is_async for g in e.generators) or not self._may_be_active(e):
            return False
        if isinstance(e, gast.SetComp) and self.is_builtin(name("set")) != "set":
            return False
        word = None
        if isinstance(parent, gast.Call) and e in parent.args:
            word = self.is_builtin(parent.func)
        if word == "sum" and isinstance(e, (gast.ListComp, gast.GeneratorExp)):
            return False
        return not isinstance(e, gast.GeneratorExp) or word in CONSUMERS

    def _may_be_active(self, e: gast.AST) -> bool:
        """Whether anything but sizes comes from the function's own names."""
        return bool(values_read(e) & (self.local - _own_names(e)))

    def loop(self, e: gast.AST, target: str, at: gast.AST) -> list[gast.AST]:
        """The statements by which `target` becomes what `e` is.

        Raises
        ------
        Captured
            When a function inside has a variable of a name that would change.
        """
        e = clone(e)
        outer, *inner = e.generators
        own = _own_names(e)
        kept = self.private - names_read(outer.iter)
        changed = {n: self.names.fresh(n) for n in sorted(own - kept)}
        # A second comprehension over the same name has a variable of its own.
        self.private -= own
        value = [e.key, e.value] if isinstance(e, gast.DictComp) else [e.elt]
        parts = [*value, outer.target, *outer.ifs]
        parts += [p for g in inner for p in (g.target, g.iter, *g.ifs)]
        rename(parts, changed)
        empty, body = self._filled(e, target, value)
        for g in reversed(e.generators):
            for test in reversed(g.ifs):
                body = [gast.If(test, body, [])]
            body = [gast.For(g.target, g.iter, body, [], None)]
        return [located(s, at) for s in (assign(target, empty), *body)]

    def _filled(self, e, target: str, value: list[gast.AST]):
        """What is filled, and the statements that add to it."""
        if isinstance(e, gast.DictComp):
            key, item = value
            lead = []
            if not isinstance(key, (gast.Name, gast.Constant)):
                # A store would evaluate it after the value.
                lead = [assign(self.names.fresh("key"), key)]
                key = name(lead[0].targets[0].id)
            place = gast.Subscript(name(target), key, gast.Store())
            return gast.Dict([], []), [*lead, gast.Assign([place], item, None)]
        if isinstance(e, gast.SetComp):
            return call("set"), [gast.Expr(call(f"{target}.add", *value))]
        keep = gast.Expr(call(f"{target}.append", *value))
        return gast.List([], gast.Load()), [keep]


def _mentions(every: list[gast.AST]) -> Counter[str]:
    return Counter(n.id for n in every if isinstance(n, gast.Name))


def _own_names(e: gast.AST) -> set[str]:
    return {n for g in e.generators for n in target_names(g.target)}
