"""Tuples, lists and dicts of a known form, taken apart into names.

::

    t = (x, y)                    t_0 = x
    x = 2.0 * x                   x = 2.0 * x
    u = t[0] * t[-1]       ->     u = t_0 * y
    v = g(*t)                     v = g(t_0, y)

    d = {"a": x, "b": y}   ->     w = x + y
    w = d["a"] + d["b"]

A container is taken apart when every value that its name is given is of the same known
form and every use of the name reads or replaces known elements; then nobody sees that
it is gone.  An element that is never bound again is its own name.
"""

from __future__ import annotations

import gast

from .containers import DISPLAYS, Container, containers, got, key_of, values_of
from .grammar import assign, blocks, clone, is_name, located, name, writes
from .names import Names, used_names
from .synonyms import without_synonyms

LOOPS = (gast.For, gast.While)


def taken_apart(fn: gast.FunctionDef, around) -> gast.FunctionDef:
    """Replace containers of a known form by their elements.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    around : Surroundings
        What is known of the world around it.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one to be desugared and
        flattened again.
    """
    named = without_synonyms(fn)
    if not containers(named, around):
        return named
    fn = clone(named)
    found = containers(fn, around)
    work = _Apart(fn, found, around)
    work.block(fn.body)
    return fn


class _Apart(gast.NodeTransformer):
    """Replaces containers by their elements, block after block."""

    def __init__(self, fn, found: dict[str, Container], around):
        self.found, self.is_builtin = found, around.is_builtin
        self.names = Names(used_names(fn))
        steady = _steady(fn)
        self.elements: dict[str, dict[object, gast.AST]] = {}
        for n, c in found.items():
            values = values_of(c.stores[0].value) if len(c.stores) == 1 else None
            changed = {key_of(place.slice, c) for place in c.changed}
            self.elements[n] = {}
            for k, key in enumerate(c.keys):
                value = values[k] if values and key not in changed else None
                if value is not None and (
                    not isinstance(value, gast.Name) or value.id in steady
                ):
                    self.elements[n][key] = value
                else:
                    wish = c.names[k] if c.names else f"{n}_{key}"
                    self.elements[n][key] = name(self.names.fresh(wish))

    def block(self, body: list[gast.AST]) -> None:
        out: list[gast.AST] = []
        for s in body:
            inner = list(blocks(s))
            for b in inner:
                self.block(b)
            out += self.statement(s, {t for b in inner for t in b})
        body[:] = out or [located(gast.Pass(), body[0] if body else None)]

    def statement(self, s: gast.AST, inside: set[gast.AST]) -> list[gast.AST]:
        if isinstance(s, gast.Assign):
            target = s.targets[0]
            if isinstance(target, gast.Name) and target.id in self.found:
                return self.store(target.id, s)
        if isinstance(s, gast.FunctionDef):
            return [s]
        for field_, value in gast.iter_fields(s):
            if isinstance(value, gast.AST):
                setattr(s, field_, self.visit(value))
            elif isinstance(value, list) and not any(v in inside for v in value):
                value[:] = [
                    self.visit(v) if isinstance(v, gast.AST) else v for v in value
                ]
        return [located(s, s)]

    def store(self, n: str, s: gast.Assign) -> list[gast.AST]:
        """``t_0, t_1 = (a, b)`` for ``t = (a, b)``."""
        elements = list(self.elements[n].values())
        values = values_of(s.value)
        if values is not None:
            values = [self.visit(v) for v in values]
            pairs = [
                (e, v) for e, v in zip(elements, values, strict=True) if not _same(e, v)
            ]
            if not pairs:
                return []
            elements, values = (list(side) for side in zip(*pairs, strict=True))
            if len(pairs) == 1:
                return [assign(elements[0].id, values[0], s)]
            value = gast.Tuple(values, gast.Load())
        elif isinstance(s.value, gast.Name):
            return self.store(n, assign(n, self.display(s.value.id), s))
        else:
            value = self.visit(s.value)
        targets = gast.Tuple([name(e.id, store=True) for e in elements], gast.Store())
        return [located(gast.Assign([targets], value, None), s)]

    def display(self, n: str) -> gast.AST:
        kind = gast.Tuple if self.found[n].kind is gast.Dict else self.found[n].kind
        return kind([clone(e) for e in self.elements[n].values()], gast.Load())

    def visit_Name(self, node):
        if isinstance(node.ctx, gast.Load) and node.id in self.found:
            return self.display(node.id)
        return node

    def visit_Attribute(self, node):
        """``r.logabsdet`` of ``r = np.linalg.slogdet(a)``."""
        if isinstance(node.value, gast.Name) and node.value.id in self.found:
            n = node.value.id
            place = self.found[n].names.index(node.attr)
            return clone(self.elements[n][self.found[n].keys[place]])
        return self.generic_visit(node)

    def visit_Subscript(self, node):
        if isinstance(node.value, gast.Name) and node.value.id in self.found:
            n = node.value.id
            element = clone(self.elements[n][key_of(node.slice, self.found[n])])
            if isinstance(node.ctx, gast.Store):
                element.ctx = gast.Store()
            return element
        return self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, gast.Attribute) and isinstance(
            node.func.value, gast.Name
        ):
            n = node.func.value.id
            if n in self.found:
                key, default = got(node, node.func, self.found[n])
                return (
                    clone(self.elements[n][key])
                    if key is not None
                    else self.visit(default)
                )
        if self.is_builtin(node.func) == "len" and isinstance(node.args[0], gast.Name):
            if node.args[0].id in self.found:
                return gast.Constant(len(self.found[node.args[0].id].keys), None)
        keywords = []
        for k in node.keywords:
            if (
                k.arg is None
                and isinstance(k.value, gast.Name)
                and k.value.id in self.found
            ):
                elements = self.elements[k.value.id].items()
                keywords += [gast.keyword(key, clone(e)) for key, e in elements]
            else:
                keywords.append(k)
        node.keywords = keywords
        self.generic_visit(node)
        node.args = _spread(node.args)
        return node

    def visit_Tuple(self, node):
        self.generic_visit(node)
        node.elts = _spread(node.elts)
        return node

    visit_List = visit_Tuple


def _spread(elements: list[gast.AST]) -> list[gast.AST]:
    """``*(a, b)`` as ``a, b``."""
    out: list[gast.AST] = []
    for e in elements:
        spread = isinstance(e, gast.Starred) and isinstance(e.value, DISPLAYS)
        out += e.value.elts if spread and isinstance(e.ctx, gast.Load) else [e]
    return out


def _same(a: gast.AST, b: gast.AST) -> bool:
    if isinstance(a, gast.Name):
        return is_name(b, a.id)
    return not isinstance(b, gast.Name)


def _steady(fn: gast.FunctionDef) -> set[str]:
    """The names that mean one value as long as the function runs."""
    a = fn.args
    listed = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    count = {p.id: 1 for p in listed if p}
    looped: set[str] = set()
    stack = [(s, False) for s in fn.body]
    while stack:
        s, loop = stack.pop()
        for n in writes(s):
            count[n] = count.get(n, 0) + 1
            if loop or isinstance(s, gast.For):
                looped.add(n)
        loop = loop or isinstance(s, LOOPS)
        stack += [(t, loop) for b in blocks(s) for t in b]
    return {n for n in used_names(fn) if count.get(n, 1) == 1 and n not in looped}
