"""What `itertools` pairs and picks, as generator expressions.

::

    product(x, y)              ((p, q) for p in x for q in y)
    combinations(x, 2)   ->    ((items[i], items[j]) for items in [list(x)]
                                for i in range(len(items))
                                for j in range(i + 1, len(items)))

Likewise `permutations`, `combinations_with_replacement` and `pairwise`; `chain` is the
list of all items.  A loop that is left early, or changes what it runs over, gets a
list, and so does one over what has no length, such as `np.ndindex`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import gast
import numpy as np

from .exits import own_breaks
from .grammar import (
    call,
    clone,
    constant,
    expression,
    is_name,
    located,
    name,
    names_read,
    root,
)
from .names import Names, used_names
from .resolve import hashable

BUILTINS = ("list", "len", "range")
# Where the next index begins, after that of the one before.
STARTS = {
    itertools.combinations: "{} + 1",
    itertools.combinations_with_replacement: "{}",
    itertools.permutations: "0",
}
# What has neither a length nor an index; all are finite.
LAZY = (np.ndindex, itertools.islice, itertools.zip_longest, itertools.product, *STARTS)
PAIRWISE = getattr(itertools, "pairwise", None)
OTHERS = (itertools.product, itertools.chain, PAIRWISE)


def with_selections(
    tree: gast.FunctionDef, is_builtin: Callable, resolve: Callable
) -> gast.FunctionDef:
    """Write selections as generator expressions.

    Parameters
    ----------
    tree : gast.FunctionDef
        A function in the source language; it is left as it is.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.
    resolve : callable
        The object that an expression denotes.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.
    """
    work = _Selections(tree, resolve)
    if not any(work.concerns(n) or work.is_lazy(n) for n in gast.walk(tree)):
        return tree
    if any(is_builtin(name(word)) != word for word in BUILTINS):
        return tree
    return work.visit(clone(tree))


class _Selections(gast.NodeTransformer):
    def __init__(self, tree: gast.FunctionDef, resolve: Callable):
        self.names, self.resolve = Names(used_names(tree)), resolve

    def concerns(self, e: gast.AST) -> bool:
        """Whether an expression is a selection from known arguments."""
        if not isinstance(e, gast.Call) or not e.args:
            return False
        if any(isinstance(a, gast.Starred) for a in e.args):
            return False
        callee = self.resolve(e.func)
        if not hashable(callee):
            return False
        if callee in OTHERS:
            return not e.keywords or callee is itertools.product and _repeat(e) > 0
        return callee in STARTS and not e.keywords and _size(e) > 0

    def is_lazy(self, e: gast.AST) -> bool:
        """Whether an expression is to be listed where a loop runs over it."""
        callee = self.resolve(e.func) if isinstance(e, gast.Call) else None
        return hashable(callee) and callee in LAZY

    def visit_comprehension(self, node):
        self.generic_visit(node)
        if self.is_lazy(node.iter):
            node.iter = located(call("list", node.iter), node.iter)
        return node

    def visit_Call(self, node):
        if self.resolve(node.func) in (enumerate, zip):
            node.args = [call("list", a) if self.is_lazy(a) else a for a in node.args]
        concerned = self.concerns(node)
        callee = self.resolve(node.func) if concerned else None
        self.generic_visit(node)
        if not concerned:
            return node
        if callee in STARTS:
            made = self.picked(node, STARTS[callee])
        elif callee is itertools.product:
            made = self.product(node)
        else:
            made = self.chained(node) if callee is itertools.chain else self.pairs(node)
        return located(made, node)

    def visit_For(self, node):
        selected = self.concerns(node.iter)
        # As in a comprehension, but for a selection.
        self.visit_comprehension(node)
        if selected and isinstance(node.iter, gast.GeneratorExp):
            if own_breaks(node.body) or names_read(node.iter) & _changed(node):
                listed = gast.ListComp(node.iter.elt, node.iter.generators)
                node.iter = located(listed, node.iter)
        return node

    def picked(self, node: gast.Call, start: str) -> gast.AST:
        """``combinations(x, 2)``: by two indices."""
        items, of = self.listed(node.args[0])
        indices = [self.names.fresh(w) for w in "ijklmn"[: _size(node)]]
        for k, i in enumerate(indices):
            given = [call("len", clone(items))]
            if k and start != "0":
                given.insert(0, expression(start.format(indices[k - 1])))
            of.append(_each(i, call("range", *given)))
            if start == "0":
                of[-1].ifs += [expression(f"{i} != {j}") for j in indices[:k]]
        return gast.GeneratorExp(_tuple([_item(items, name(i)) for i in indices]), of)

    def product(self, node: gast.Call) -> gast.AST:
        """``product(x, y)``: loops inside one another."""
        pools, of = [], []
        for a in node.args:
            pool, lead = (
                (a, [])
                if _is_plain(a)
                else self.held(a if _shown(a) else call("list", a))
            )
            pools.append(pool)
            of += lead
        pools *= _repeat(node)
        items = [self.names.fresh("item") for _ in pools]
        of += [_each(n, clone(pool)) for n, pool in zip(items, pools, strict=True)]
        return gast.GeneratorExp(_tuple([name(n) for n in items]), of)

    def chained(self, node: gast.Call) -> gast.AST:
        """``chain(x, y)``: the items of one after those of the other."""
        part, item = self.names.fresh("part"), self.names.fresh("item")
        whole = gast.Tuple(list(node.args), gast.Load())
        of = [_each(part, whole), _each(item, name(part))]
        return gast.GeneratorExp(name(item), of)

    def pairs(self, node: gast.Call) -> gast.AST:
        """``pairwise(x)``: every item with the next."""
        items, of = self.listed(node.args[0])
        i = self.names.fresh("i")
        count = gast.BinOp(call("len", clone(items)), gast.Sub(), constant(1))
        of.append(_each(i, call("range", count)))
        following = _item(items, expression(f"{i} + 1"))
        return gast.GeneratorExp(_tuple([_item(items, name(i)), following]), of)

    def listed(self, e: gast.AST) -> tuple[gast.AST, list[gast.comprehension]]:
        """A name for all items of an iterable, by index, and what binds it."""
        return self.held(call("list", e))

    def held(self, e: gast.AST) -> tuple[gast.AST, list[gast.comprehension]]:
        items = self.names.fresh("items")
        return name(items), [_each(items, gast.List([e], gast.Load()))]


def _shown(e: gast.AST) -> bool:
    return isinstance(e, (gast.List, gast.Tuple))


def _size(node: gast.Call) -> int:
    """How many items are picked together, 0 when that is not known."""
    value = getattr(node.args[1], "value", None) if len(node.args) == 2 else None
    return value if isinstance(value, int) and 0 < value <= 6 else 0


def _repeat(node: gast.Call) -> int:
    """How often ``product(x, repeat=2)`` takes the iterables, 0 when not known."""
    if not node.keywords:
        return 1
    value = getattr(node.keywords[0].value, "value", None)
    return value if isinstance(value, int) and len(node.keywords) == 1 else 0


def _is_plain(e: gast.AST) -> bool:
    """Whether an iterable may be evaluated again for every turn of another loop."""
    called = {n.func for n in gast.walk(e) if isinstance(n, gast.Call)}
    ranges = is_name(getattr(e, "func", e), "range")
    return is_name(e) or ranges and all(is_name(f) and f.id in BUILTINS for f in called)


def _changed(loop: gast.For) -> set[str]:
    """The names that a loop binds, writes into or calls methods of."""
    found = set()
    for n in gast.walk(loop):
        if isinstance(getattr(n, "ctx", None), gast.Store):
            found.add(root(n))
        elif isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute):
            found.add(root(n.func.value))
    return found


def _each(target: str, iterable: gast.AST) -> gast.comprehension:
    return gast.comprehension(name(target, store=True), iterable, [], 0)


def _item(items: gast.AST, index: gast.AST) -> gast.AST:
    return gast.Subscript(clone(items), index, gast.Load())


def _tuple(parts: list[gast.AST]) -> gast.AST:
    return gast.Tuple(parts, gast.Load())
