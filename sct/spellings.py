"""Other spellings of a call: as that of a function that has a rule.

::

    np.einsum(a, [0, 1], b, [1, 2], [0, 2])     np.einsum("ab,bc->ac", a, b)
    np.fromiter(e, float)                       np.array(list(e), float)
    np.nditer(x)                                np.ravel(x, order="K")
    np.ndenumerate(x)                     ->    ((k, x[k]) for k in np.ndindex(...))
    np.poly1d(c)(x)                             np.polyval(c, x)
    stats.norm(m, s).pdf(x)                     stats.norm.pdf(x, m, s)

An object that has a name of its own, which is bound once and is only called, is taken
apart in the same way: what it was made of is held by names.
"""

from __future__ import annotations

import string
from collections.abc import Callable

import gast
import numpy as np

from .grammar import assign, call, clone, expression, is_name, located, name
from .names import Names, used_names
from .resolve import MISSING, Binding, Scope

# Of frozen distributions: those whose only argument of their own is where.
OF_FROZEN = frozenset(
    "pdf logpdf cdf logcdf sf logsf ppf isf pmf logpmf entropy mean var std".split()
)
# Where else NumPy's functions go under one name.
PLAIN = {np.fromiter: "array", np.nditer: "ravel", np.ndenumerate: "ndindex"}


def respelled(
    tree: gast.FunctionDef, is_builtin: Callable, scope: Scope
) -> gast.FunctionDef:
    """Write calls as those of functions that have a rule.

    Parameters
    ----------
    tree : gast.FunctionDef
        A function in the source language; it is left as it is.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.
    scope : Scope
        What its free names denote; what is needed beside them is added to it.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.
    """
    work = _Spellings(tree, scope)
    if not any(map(work.concerns, gast.walk(tree))):
        return tree
    if is_builtin(name("list")) != "list":
        return tree
    return work.visit(clone(tree))


class _Spellings(gast.NodeTransformer):
    def __init__(self, tree: gast.FunctionDef, scope: Scope):
        self.scope, self.names = scope, Names(used_names(tree))
        self.local = {n.id for n in gast.walk(tree) if _binds(n)}
        # Name → the call that makes the object, once it is taken apart.
        self.made: dict[str, gast.Call] = {}
        self.apart = {n for n in self.local if self.only_called(n, tree)}

    def object(self, e: gast.AST) -> object:
        found = self.scope.resolve(e)
        return MISSING if isinstance(found, (list, dict, np.ndarray)) else found

    def maker(self, e: gast.AST) -> str:
        """What kind of object a call makes: a frozen distribution or a polynomial."""
        plain = isinstance(e, gast.Call) and not _unpacks(e)
        callee = self.object(e.func) if plain else MISSING
        if callee is np.poly1d:
            return "polynomial" if len(e.args) == 1 and not e.keywords else ""
        return "frozen" if hasattr(type(callee), "freeze") or _freezes(callee) else ""

    def only_called(self, n: str, tree: gast.AST) -> bool:
        """Whether a name is an object that is made once, and only called."""
        bound = [m for m in gast.walk(tree) if _binds(m) and m.id == n]
        made = [
            s.value
            for s in gast.walk(tree)
            if isinstance(s, gast.Assign) and is_name(s.targets[0], n)
        ]
        if len(bound) != 1 or len(made) != 1 or not self.maker(made[0]):
            return False
        read = [m for m in gast.walk(tree) if is_name(m, n) and m is not bound[0]]
        kind = self.maker(made[0])
        called = [c for c in gast.walk(tree) if self.uses(c, n, kind)]
        return len(read) == len(called)

    def uses(self, c: gast.AST, n: str, kind: str) -> bool:
        """Whether a call is one of an object by its name."""
        if not isinstance(c, gast.Call) or len(c.args) > 1 or c.keywords:
            return False
        if kind == "polynomial":
            return is_name(c.func, n)
        method = isinstance(c.func, gast.Attribute) and c.func.attr in OF_FROZEN
        return method and is_name(c.func.value, n)

    def concerns(self, e: gast.AST) -> bool:
        """Whether an expression may be spelled in another way."""
        if isinstance(e, gast.Call) and not _unpacks(e):
            callee = self.object(e.func)
            if any(callee is f for f in PLAIN):
                return bool(e.args)
            if callee is np.einsum:
                return not isinstance(getattr(e.args[0], "value", 0), str)
        return bool(self.maker(e))

    def visit_Assign(self, node):
        target = node.targets[0]
        if not (is_name(target) and target.id in self.apart):
            return self.generic_visit(node)
        made = self.visit(node.value)
        self.made[target.id] = made
        lead = []
        for holder in [*enumerate(made.args), *((k, k.value) for k in made.keywords)]:
            at, value = holder
            if isinstance(value, gast.Constant):
                continue
            held = self.names.fresh(f"{target.id}_part")
            lead.append(located(assign(held, value), node))
            if isinstance(at, int):
                made.args[at] = name(held)
            else:
                at.value = name(held)
        return lead

    def visit_comprehension(self, node):
        self.generic_visit(node)
        node.iter = self.iterated(node.iter)
        return node

    # A loop, too, runs over something.
    visit_For = visit_comprehension

    def iterated(self, e: gast.AST) -> gast.AST:
        """What a loop runs over: an iterator that has no name is used up at once."""
        if not isinstance(e, gast.Call) or len(e.args) != 1 or e.keywords:
            return e
        callee = self.object(e.func)
        made = None
        if callee is np.nditer:
            order = gast.keyword("order", gast.Constant("K", None))
            made = gast.Call(self.numpy("ravel"), e.args, [order])
        elif callee is np.ndenumerate and is_name(e.args[0]):
            made = self.enumerated(e)
        return e if made is None else located(made, e)

    def visit_Call(self, node):
        self.generic_visit(node)
        owner, kind = self.owner(node)
        if kind and self.uses(node, *kind):
            return located(self.applied(node, owner, kind[1]), node)
        if not self.concerns(node):
            return node
        callee = self.object(node.func)
        made: gast.AST | None = None
        if callee is np.einsum:
            made = self.einsum(node)
        elif callee is np.fromiter:
            made = self.fromiter(node)
        return node if made is None else located(made, node)

    def owner(self, node: gast.Call) -> tuple[gast.Call | None, tuple[str, str] | None]:
        """The call that makes the object that another call is one of."""
        func = node.func
        holder = func.value if isinstance(func, gast.Attribute) else func
        if is_name(holder) and holder.id in self.made:
            made = self.made[holder.id]
            return made, (holder.id, self.maker(made))
        if isinstance(holder, gast.Call) and self.maker(holder):
            # As if it had a name.
            if isinstance(func, gast.Attribute):
                func.value = name("_")
            else:
                node.func = name("_")
            return holder, ("_", self.maker(holder))
        return None, None

    def applied(self, node: gast.Call, made: gast.Call, kind: str) -> gast.AST:
        """A call of the object that a call makes, as a call of one function."""
        if kind == "polynomial":
            return gast.Call(self.numpy("polyval"), [*clone(made.args), *node.args], [])
        func = gast.Attribute(clone(made.func), node.func.attr, gast.Load())
        return gast.Call(func, [*node.args, *clone(made.args)], clone(made.keywords))

    def einsum(self, node: gast.Call) -> gast.AST | None:
        """Subscripts as letters, where they are literal lists."""
        count = len(node.args) // 2
        operands, lists = node.args[: 2 * count : 2], node.args[1 : 2 * count : 2]
        if len(node.args) % 2:
            lists = [*lists, node.args[-1]]
        words = [_letters(e) for e in lists]
        if None in words:
            return None
        text = ",".join(words[:count])
        if len(node.args) % 2:
            text += "->" + words[-1]
        args = [gast.Constant(text, None), *operands]
        return gast.Call(node.func, args, node.keywords)

    def fromiter(self, node: gast.Call) -> gast.AST | None:
        """``np.array(list(e), dtype)``."""
        given = {k.arg: k.value for k in node.keywords}
        if len(node.args) > 2 or not given.keys() <= {"dtype"}:
            return None
        items = node.args[0]
        if isinstance(items, gast.GeneratorExp):
            items = gast.ListComp(items.elt, items.generators)
        elif not isinstance(items, (gast.List, gast.ListComp)):
            items = call("list", items)
        args = [items, *node.args[1:]]
        return gast.Call(self.numpy("array"), args, node.keywords)

    def enumerated(self, node: gast.Call) -> gast.AST:
        """The index and the value of every element."""
        (x,) = node.args
        k = self.names.fresh("k")
        pair = expression(f"({k}, {x.id}[{k}])")
        shape = gast.Attribute(clone(x), "shape", gast.Load())
        places = gast.Call(self.numpy("ndindex"), [shape], [])
        of = [gast.comprehension(name(k, store=True), places, [], 0)]
        return gast.GeneratorExp(pair, of)

    def numpy(self, word: str) -> gast.AST:
        """One of NumPy's functions, by the name that is seen here."""
        return gast.Attribute(name(self.module()), word, gast.Load())

    def module(self) -> str:
        known = [*self.scope.modules()]
        known += [(n, b.value) for n, b in self.scope.imports.items()]
        for n, value in known:
            if value is np and n not in self.local:
                return n
        made = self.names.fresh("np")
        self.scope.imports[made] = Binding("module", "numpy", value=np)
        return made


def _freezes(callee: object) -> bool:
    """Whether a call of an object gives a frozen distribution of SciPy's."""
    return type(callee).__module__.startswith("scipy.stats") and callable(callee)


def _binds(n: gast.AST) -> bool:
    return isinstance(n, gast.Name) and isinstance(n.ctx, (gast.Store, gast.Param))


def _unpacks(e: gast.Call) -> bool:
    """Whether a call unpacks something with ``*`` or ``**``."""
    starred = any(isinstance(a, gast.Starred) for a in e.args)
    return starred or any(k.arg is None for k in e.keywords)


def _letters(e: gast.AST) -> str | None:
    """The letters that literal subscripts of `np.einsum` are."""
    if not isinstance(e, (gast.List, gast.Tuple)):
        return None
    made = ""
    for item in e.elts:
        value = getattr(item, "value", None)
        if value is Ellipsis:
            made += "..."
        elif isinstance(value, int) and 0 <= value < 52:
            made += string.ascii_letters[value]
        else:
            return None
    return made
