"""Sorting, choosing and folding items: as loops, and as an order of indices.

::

    y = sorted(x, key=f)        keys = [f(item) for item in x]
                                order = sorted(range(len(x)), key=lambda i: keys[i])
                          ->    y = [x[i] for i in order]

    r = reduce(f, x)            r = x[0]
                                for i in range(1, len(x)):
                                    r = f(r, x[i])

The order is made of integers and has no derivative; items are taken by it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable

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
    statements,
)
from .names import Names, used_names

BUILTINS = frozenset({"sorted", "range", "len", "list", "max", "min"})


def by_index(fn: gast.FunctionDef, is_builtin: Callable, resolve: Callable):
    """Write `sorted`, `max` with a key, `reduce` and `accumulate` by index.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.
    resolve : callable
        The object that an expression denotes.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one to be desugared and
        flattened again.
    """
    work = _Ordering(fn, is_builtin, resolve)
    if not any(work.concerns(s) for s in statements(fn.body)):
        return fn
    if any(is_builtin(name(word)) != word for word in BUILTINS):
        return fn
    fn = clone(fn)
    stack = [fn.body]
    while stack:
        body = stack.pop()
        stack += [inner for s in body for inner in blocks(s)]
        out: list[gast.AST] = []
        for s in body:
            made = work.written(s) if work.concerns(s) else [s]
            out += [located(m, s) for m in made]
        body[:] = out
    return fn


class _Ordering:
    def __init__(self, fn: gast.FunctionDef, is_builtin: Callable, resolve: Callable):
        self.is_builtin, self.resolve = is_builtin, resolve
        self.names = Names(used_names(fn))
        # An order that has been written already is left as it is.
        self.orders = {
            s.targets[0].id
            for s in statements(fn.body)
            if isinstance(s, gast.Assign)
            and is_name(s.targets[0])
            and isinstance(s.value, gast.Call)
            and is_builtin(s.value.func) == "range"
        }

    def concerns(self, s: gast.AST) -> bool:
        """Whether a statement sorts, chooses or folds items."""
        value = s.value if isinstance(s, gast.Assign) else None
        if not isinstance(value, gast.Call):
            return False
        if any(isinstance(a, gast.Starred) for a in value.args):
            return False
        word = self.is_builtin(value.func)
        given = {k.arg for k in value.keywords}
        if word in ("sorted", "max", "min"):
            items = value.args[0] if len(value.args) == 1 else None
            if not isinstance(items, (gast.Name, gast.List, gast.Tuple)):
                return False
            if is_name(items) and items.id in self.orders:
                return False
            key = next((k.value for k in value.keywords if k.arg == "key"), None)
            if isinstance(key, gast.Attribute):
                # A method, such as that of a dict whose keys are sorted.
                return False
            return given <= {"key", "reverse"} and (word == "sorted" or "key" in given)
        callee = self.resolve(value.func)
        if callee is itertools.accumulate:
            return not given and len(value.args) in (1, 2)
        return callee is functools.reduce and not given and len(value.args) in (2, 3)

    def written(self, s: gast.Assign) -> list[gast.AST]:
        """The statements that a statement comes to."""
        target, value = s.targets[0], s.value
        if not is_name(target):
            # The result is taken apart, or stored.
            whole = self.names.fresh("items")
            last = gast.Assign([target], name(whole), None)
            return [*self.written(assign(whole, value)), last]
        target = target.id
        word = self.is_builtin(value.func)
        if word is None:
            return self.folded(target, value)
        keywords = {k.arg: k.value for k in value.keywords}
        items, lead = getattr(value.args[0], "id", ""), []
        if not items:
            items = self.names.fresh("items")
            lead.append(assign(items, value.args[0]))
        elif word == "sorted":
            # A set or the keys of a dict have no index.
            items = self.names.fresh("items")
            lead.append(assign(items, call("list", value.args[0])))
        keys = items
        key = keywords.pop("key", None)
        if key is not None and not (
            isinstance(key, gast.Constant) and key.value is None
        ):
            keys, item = self.names.fresh("keys"), self.names.fresh("item")
            of = [gast.comprehension(name(item, store=True), name(items), [], 0)]
            each = gast.ListComp(gast.Call(key, [name(item)], []), of)
            lead.append(assign(keys, each))
        i = self.names.fresh("i")
        chosen = gast.Subscript(name(keys), name(i), gast.Load())
        at = gast.parse(f"lambda {i}: None", mode="eval").body
        at.body = chosen
        places = call("range", call("len", name(keys)))
        order = self.names.fresh("order" if word == "sorted" else "place")
        made = call(word, places, key=at, **keywords)
        lead.append(assign(order, made))
        if word != "sorted":
            item = gast.Subscript(name(items), name(order), gast.Load())
            return [*lead, assign(target, item)]
        j = self.names.fresh("j")
        item = gast.Subscript(name(items), name(j), gast.Load())
        of = [gast.comprehension(name(j, store=True), name(order), [], 0)]
        return [*lead, assign(target, gast.ListComp(item, of))]

    def folded(self, target: str, value: gast.Call) -> list[gast.AST]:
        """``reduce(f, x, start)`` and ``list(accumulate(x, f))``."""
        every = self.resolve(value.func) is itertools.accumulate
        items = value.args[0 if every else 1]
        lead: list[gast.AST] = []
        if not is_name(items):
            lead.append(assign(self.names.fresh("items"), items))
            items = name(lead[0].targets[0].id)
        # Only now the target may be what is folded.
        total, i = self.names.fresh("total"), self.names.fresh("i")
        item = gast.Subscript(name(items.id), name(i), gast.Load())
        if every and len(value.args) == 1:
            step = assign(total, gast.BinOp(name(total), gast.Add(), item))
        else:
            function = value.args[1 if every else 0]
            step = assign(total, gast.Call(function, [name(total), item], []))
        low = []
        if len(value.args) == 3:
            lead.append(assign(total, value.args[2]))
        else:
            first = gast.Subscript(name(items.id), constant(0), gast.Load())
            lead.append(assign(total, first))
            low = [constant(1)]
        body = [step]
        result: gast.AST = name(total)
        if every:
            totals = self.names.fresh("totals")
            lead.append(assign(totals, gast.List([name(total)], gast.Load())))
            body.append(gast.Expr(call(f"{totals}.append", name(total))))
            result = name(totals)
        turns = call("range", *low, call("len", name(items.id)))
        loop = gast.For(name(i, store=True), turns, body, [], None)
        return [*lead, loop, assign(target, result)]
