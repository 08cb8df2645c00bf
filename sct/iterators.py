"""Iterators that builtins make, as generator expressions.

::

    sum(map(f, x))                  sum(f(item) for item in x)
    list(filter(f, x))              list(item for item in x if f(item))
    max(zip(x, y))          ->      max(item for item in zip(x, y))
    sum(d.values())                 sum(d[key] for key in d.keys())
    xs, ys = zip(*pairs)            xs, ys = ([p[0] for p in pairs], [p[1] for ...])

A generator expression is as lazy as what it stands for: a loop over it evaluates each
item at the beginning of a turn.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .grammar import (
    call,
    clone,
    constant,
    is_name,
    located,
    name,
    names_read,
    target_names,
)
from .names import Names, used_names
from .renaming import Captured, rename

# What goes through all items of its first argument, or of its only one.
CONSUMERS = frozenset({"list", "tuple", "sum", "min", "max", "sorted", "set", "dict"})
MAKERS = frozenset({"zip", "enumerate", "reversed"})
FOLDS = frozenset({"reduce", "accumulate"})
VIEWS = frozenset({"values", "items"})


def with_generators(tree: gast.FunctionDef, is_builtin: Callable) -> gast.FunctionDef:
    """Write iterators as generator expressions.

    Parameters
    ----------
    tree : gast.FunctionDef
        A function in the source language; it is left as it is.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.
    """
    work = _Generators(Names(used_names(tree)), is_builtin)
    if not any(work.concerns(n) for n in gast.walk(tree)):
        return tree
    return work.visit(clone(tree))


class _Generators(gast.NodeTransformer):
    def __init__(self, names: Names, is_builtin: Callable):
        self.names, self.is_builtin = names, is_builtin
        # What the loop changes whose head is being written.
        self.changed: set[str] = set()

    def word(self, e: gast.AST) -> str | None:
        """The builtin that a call calls."""
        return self.is_builtin(e.func) if isinstance(e, gast.Call) else None

    def concerns(self, e: gast.AST) -> bool:
        """Whether there may be something to do about an expression."""
        word = self.word(e)
        if isinstance(e, gast.Call) and _last_word(e.func) in FOLDS:
            return True
        if word in ("map", "filter", "zip"):
            return word != "zip" or any(isinstance(a, gast.Starred) for a in e.args)
        if word == "dict" and e.args and isinstance(e.args[0], gast.GeneratorExp):
            return True
        return word in CONSUMERS and bool(e.args) and self.is_lazy(e.args[0])

    def is_lazy(self, e: gast.AST) -> bool:
        """Whether an expression makes an iterator or a view of a dict."""
        return self.word(e) in MAKERS or _view(e) is not None

    def visit_Assign(self, node):
        columns = self.columns(node)
        if columns:
            node.value = located(columns, node.value)
        return self.generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        made = None
        word = self.word(node)
        if word == "map" and len(node.args) > 1 and not node.keywords:
            made = self.mapped(node)
        elif word == "filter" and len(node.args) == 2:
            made = self.filtered(*node.args)
        elif word == "zip" and len(node.args) == 1:
            made = self.transposed(node)
        elif word == "dict" and len(node.args) == 1 and not node.keywords:
            made = self.table(node.args[0])
        elif word in MAKERS or _last_word(node.func) in FOLDS:
            node.args = [self.listed(a) for a in node.args]
        elif word in CONSUMERS and node.args and self.is_lazy(node.args[0]):
            node.args[0] = located(self.items(node.args[0]), node.args[0])
        if isinstance(made, gast.GeneratorExp):
            made = self.visit_GeneratorExp(made)
        return node if made is None else located(made, node)

    def visit_For(self, node):
        outer, self.changed = self.changed, self.changed | _bound(node)
        node.iter = self.visit(node.iter)
        self.changed = outer
        for body in (node.body, node.orelse):
            body[:] = [self.visit(s) for s in body]
        return node

    def visit_GeneratorExp(self, node):
        self.generic_visit(node)
        generators = []
        for g in node.generators:
            inner = self.merged(g)
            generators += inner or [g]
        node.generators = generators
        return node

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp

    def merged(self, g: gast.comprehension) -> list[gast.comprehension] | None:
        """``for t in (f(u) for u in x)`` as ``for u in x for t in [f(u)]``."""
        e = g.iter
        if not isinstance(e, gast.GeneratorExp):
            return None
        own = {n for h in e.generators for n in target_names(h.target)}
        first, *others = e.generators
        parts = [e.elt, first.target, *first.ifs]
        parts += [p for h in others for p in (h.target, h.iter, *h.ifs)]
        try:
            rename(parts, {n: self.names.fresh(n) for n in sorted(own)})
        except Captured:
            return None
        one = gast.List([e.elt], gast.Load())
        return [*e.generators, gast.comprehension(g.target, one, g.ifs, 0)]

    def listed(self, e: gast.AST) -> gast.AST:
        """A generator expression as a list, where it may be evaluated beforehand."""
        if not isinstance(e, gast.GeneratorExp) or names_read(e) & self.changed:
            return e
        return gast.ListComp(e.elt, e.generators)

    def items(self, e: gast.AST) -> gast.AST:
        """The items of an iterator, one by one."""
        view = _view(e)
        if view is None:
            item = self.names.fresh("item")
            return _generator(name(item), name(item, store=True), e)
        owner, method = view
        key = self.names.fresh("key")
        value: gast.AST = gast.Subscript(name(owner), name(key), gast.Load())
        if method == "items":
            value = gast.Tuple([name(key), value], gast.Load())
        return _generator(value, name(key, store=True), call(f"{owner}.keys"))

    def table(self, pairs: gast.AST) -> gast.AST | None:
        """``dict(pairs)`` of an iterator as a comprehension."""
        if isinstance(pairs, gast.GeneratorExp):
            pair = pairs.elt
            if isinstance(pair, gast.Tuple) and len(pair.elts) == 2:
                return gast.DictComp(*pair.elts, pairs.generators)
        if not self.is_lazy(pairs):
            return None
        key, value = (self.names.fresh(w) for w in ("key", "value"))
        names = [name(n, store=True) for n in (key, value)]
        of = [gast.comprehension(gast.Tuple(names, gast.Store()), pairs, [], 0)]
        return gast.DictComp(name(key), name(value), of)

    def mapped(self, node: gast.Call) -> gast.AST | None:
        function, *iterables = node.args
        if any(isinstance(a, gast.Starred) for a in node.args):
            return None
        items = [self.names.fresh("item") for _ in iterables]
        value = self.applied(function, items)
        if value is None:
            return None
        if len(items) == 1:
            return _generator(value, name(items[0], store=True), iterables[0])
        if self.is_builtin(name("zip")) != "zip":
            return None
        target = gast.Tuple([name(i, store=True) for i in items], gast.Store())
        return _generator(value, target, call("zip", *iterables))

    def filtered(self, function: gast.AST, iterable: gast.AST) -> gast.AST | None:
        item = self.names.fresh("item")
        test: gast.AST | None = name(item)
        if not (isinstance(function, gast.Constant) and function.value is None):
            test = self.applied(function, [item])
        if test is None:
            return None
        made = _generator(name(item), name(item, store=True), iterable)
        made.generators[0].ifs.append(test)
        return made

    def applied(self, function: gast.AST, items: list[str]) -> gast.AST | None:
        """What a function gives for some items."""
        if not isinstance(function, gast.Lambda):
            plain = isinstance(function, (gast.Name, gast.Attribute))
            return (
                gast.Call(clone(function), [name(i) for i in items], [])
                if plain
                else None
            )
        a = function.args
        others = (*a.posonlyargs, *a.kwonlyargs, *a.defaults, a.vararg, a.kwarg)
        if any(others) or len(a.args) != len(items):
            return None
        body = clone(function.body)
        try:
            rename([body], {p.id: i for p, i in zip(a.args, items, strict=True)})
        except Captured:
            return None
        return body

    def transposed(self, node: gast.Call) -> gast.AST | None:
        """``zip(*rows)``: column by column."""
        rows = getattr(node.args[0], "value", None)
        if isinstance(rows, (gast.Tuple, gast.List)):
            return gast.Call(node.func, rows.elts, node.keywords)
        if not isinstance(rows, gast.Name) or node.keywords:
            return None
        if any(self.is_builtin(name(w)) != w for w in ("range", "len")):
            return None
        index = self.names.fresh("j")
        first = gast.Subscript(name(rows.id), constant(0), gast.Load())
        column = self.column(rows.id, name(index))
        places = call("range", call("len", first))
        return _generator(column, name(index, store=True), places)

    def column(self, rows: str, index: gast.AST) -> gast.AST:
        row = self.names.fresh("row")
        item = gast.Subscript(name(row), index, gast.Load())
        made = _generator(item, name(row, store=True), name(rows))
        return gast.ListComp(made.elt, made.generators)

    def columns(self, node: gast.Assign) -> gast.AST | None:
        """The columns that ``xs, ys = zip(*rows)`` takes apart."""
        target, value = node.targets[0], node.value
        if self.word(value) != "zip" or len(value.args) != 1 or len(node.targets) > 1:
            return None
        rows = getattr(value.args[0], "value", None)
        if not isinstance(target, (gast.Tuple, gast.List)) or value.keywords:
            return None
        starred = any(isinstance(t, gast.Starred) for t in target.elts)
        if starred or not isinstance(rows, gast.Name):
            return None
        count = range(len(target.elts))
        return gast.Tuple(
            [self.column(rows.id, constant(k)) for k in count], gast.Load()
        )


def _last_word(func: gast.AST) -> str:
    """The name of a function without its module."""
    return getattr(func, "attr", "") or getattr(func, "id", "")


def _bound(loop: gast.For) -> set[str]:
    """The names that a loop binds."""
    return {
        n.id
        for n in gast.walk(loop)
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)
    }


def _view(e: gast.AST) -> tuple[str, str] | None:
    """The dict and the method of ``d.values()`` or ``d.items()``."""
    func = e.func if isinstance(e, gast.Call) and not e.args else None
    if not isinstance(func, gast.Attribute) or func.attr not in VIEWS:
        return None
    return (func.value.id, func.attr) if is_name(func.value) else None


def _generator(value: gast.AST, target: gast.AST, iterable: gast.AST):
    return gast.GeneratorExp(value, [gast.comprehension(target, iterable, [], 0)])
