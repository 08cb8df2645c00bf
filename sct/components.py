"""Tuples, lists and dicts of a known form, taken apart into names.

::

    t = (x, y)                    t_0 = x
    x = 2.0 * x                   x = 2.0 * x
    u = t[0] * t[-1]       ->     u = t_0 * y
    v = g(*t)                     v = g(t_0, y)

    d = {"a": x, "b": y}   ->     w = x + y
    w = d["a"] + d["b"]

A container is taken apart when every value that its name is given is of the same known
form and every use of the name reads known elements; then nobody can change it, and
nobody sees that it is gone.  An element that is never bound again is its own name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import gast

from .grammar import assign, blocks, clone, is_name, located, name, statements, writes
from .names import Names, used_names
from .renaming import captured_names

DISPLAYS = (gast.Tuple, gast.List)
LOOPS = (gast.For, gast.While)
SPREADS = (gast.Starred, gast.keyword)


@dataclass
class Container:
    """What is known of a name that holds a container."""

    kind: type
    keys: list
    stores: list[gast.Assign] = field(default_factory=list)


@dataclass(frozen=True)
class _Use:
    """One place where a name is read: the node, and those around it, inmost first."""

    node: gast.Name
    around: tuple[gast.AST, ...]


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
    if not containers(fn, around):
        return fn
    fn = clone(fn)
    found = containers(fn, around)
    work = _Apart(fn, found, around)
    work.block(fn.body)
    return fn


def containers(fn: gast.FunctionDef, around, moving: frozenset[str] = frozenset()):
    """The names that hold containers of a known form, never seen as a whole.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    around : Surroundings
        What is known of the world around it.
    moving : frozenset of str
        The names that count as known keys of lists: counters of loops to be unrolled.

    Returns
    -------
    dict of str to Container
    """
    found = _candidates(fn, around)
    if not found:
        return {}
    uses: dict[str, list[_Use]] = {n: [] for n in found}
    for use in _uses(fn):
        if use.node.id in uses:
            uses[use.node.id].append(use)
    copies: dict[str, set[str]] = {}
    for n in list(found):
        for use in uses[n]:
            other = _copied_to(use)
            if other in found and found[other].keys == found[n].keys:
                copies.setdefault(n, set()).add(other)
                copies.setdefault(other, set()).add(n)
            elif not _is_known(use, found[n], around, moving):
                found.pop(n)
                break
    for n in list(found):
        if all(_is_constant(s.value) for s in found[n].stores):
            # Nothing is differentiated through it: it can stay, unless it is spread.
            if not any(isinstance(u.around[0], SPREADS) for u in uses[n]):
                found.pop(n)
    # A copy of what stays whole stays whole.
    whole = [n for n in copies if n not in found]
    while whole:
        for other in copies.get(whole.pop(), ()):
            if found.pop(other, None):
                whole.append(other)
    return found


def _candidates(fn: gast.FunctionDef, around) -> dict[str, Container]:
    found: dict[str, Container] = {}
    refused = captured_names(fn.body)
    for p in [*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs]:
        refused.add(p.id)
    refused |= {p.id for p in (fn.args.vararg, fn.args.kwarg) if p}
    copies: list[gast.Assign] = []
    for s in statements(fn.body):
        plain = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        form = _form(s.value, around) if plain else None
        for n in writes(s):
            if plain and isinstance(s.value, gast.Name):
                copies.append(s)
            elif form is None or (n in found and (found[n].kind, found[n].keys) != form):
                refused.add(n)
            else:
                found.setdefault(n, Container(*form)).stores.append(s)
    for s in copies:
        n, source = s.targets[0].id, s.value.id
        if source not in found or n in refused:
            refused.add(n)
            continue
        form = found[source].kind, found[source].keys
        if n in found and (found[n].kind, found[n].keys) != form:
            refused.add(n)
        else:
            found.setdefault(n, Container(*form)).stores.append(s)
    return {n: c for n, c in found.items() if n not in refused}


def _form(value: gast.AST, around) -> tuple[type, list] | None:
    """Kind and keys of a container of a known form."""
    if isinstance(value, DISPLAYS):
        if any(isinstance(v, gast.Starred) for v in value.elts):
            return None
        return type(value), list(range(len(value.elts)))
    if isinstance(value, gast.Dict):
        keys = [k.value if isinstance(k, gast.Constant) else None for k in value.keys]
        if all(isinstance(k, str) and k.isidentifier() for k in keys):
            return (gast.Dict, keys) if len(set(keys)) == len(keys) else None
    if isinstance(value, gast.Call):
        size = around.size(value)
        return None if size is None else (gast.Tuple, list(range(size)))
    return None


def _is_constant(value: gast.AST) -> bool:
    parts = _values(value)
    return parts is not None and not any(isinstance(v, gast.Name) for v in parts)


def _uses(fn: gast.FunctionDef) -> Iterator[_Use]:
    """All names read in a function, with the nodes around them."""
    for s in statements(fn.body):
        inside = {t for b in blocks(s) for t in b}
        stack = [(c, (s,)) for c in gast.iter_child_nodes(s) if c not in inside]
        while stack:
            node, around = stack.pop()
            if isinstance(node, gast.Name):
                if isinstance(node.ctx, gast.Load):
                    yield _Use(node, around)
                continue
            # Three nodes say how a name is used.
            stack += [(c, (node, *around[:2])) for c in gast.iter_child_nodes(node)]


def _copied_to(use: _Use) -> str | None:
    s = use.around[0]
    if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
        return s.targets[0].id if s.value is use.node else None
    return None


def _is_known(use: _Use, c: Container, around, moving: frozenset[str]) -> bool:
    """Whether a use reads known elements only."""
    node, parent = use.node, use.around[0]
    sequence = c.kind in DISPLAYS
    if isinstance(parent, gast.Subscript) and parent.value is node:
        if not isinstance(parent.ctx, gast.Load):
            return False
        if sequence and isinstance(parent.slice, gast.Name):
            return parent.slice.id in moving
        return _key(parent.slice, c) is not None
    if isinstance(parent, gast.Call) and node in parent.args and not parent.keywords:
        word = around.is_builtin(parent.func)
        if word == "len":
            return True
        # A test is not taken apart; there the call would be left without its list.
        if sequence and isinstance(use.around[1], gast.Assign):
            if word in ("sum", "max", "min"):
                return node is parent.args[0] and bool(c.keys)
            return around.takes_lists(parent.func)
        return False
    if isinstance(parent, gast.Call) and node in parent.args:
        return sequence and around.takes_lists(parent.func)
    if isinstance(parent, gast.Starred):
        return sequence and isinstance(use.around[1], (gast.Call, *DISPLAYS))
    if isinstance(parent, gast.keyword) and parent.arg is None:
        return not sequence
    if isinstance(parent, gast.Attribute) and not sequence:
        return _got(use.around[1], parent, c) is not None
    if isinstance(parent, gast.Assign):
        target = parent.targets[0]
        return sequence and isinstance(target, gast.Tuple) and _fits(target, c)
    return isinstance(parent, gast.Return) and c.kind is gast.Tuple and len(c.keys) > 0


def _fits(target: gast.Tuple, c: Container) -> bool:
    starred = any(isinstance(t, gast.Starred) for t in target.elts)
    return len(c.keys) >= len(target.elts) - 1 if starred else len(c.keys) == len(target.elts)


def _key(index: gast.AST, c: Container) -> object:
    """The key that a literal index means, None when there is no such element."""
    sign = 1
    if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub):
        index, sign = index.operand, -1
    if not isinstance(index, gast.Constant) or isinstance(index.value, bool):
        return None
    key = index.value
    if c.kind in DISPLAYS and isinstance(key, int):
        key = sign * key
        key += len(c.keys) * (key < 0)
    return key if key in c.keys else None


def _got(node: gast.AST, method: gast.Attribute, c: Container) -> tuple | None:
    """What ``d.get("a", default)`` reads: ``(key, None)`` or ``(None, default)``."""
    if method.attr != "get" or not isinstance(node, gast.Call) or node.func is not method:
        return None
    if node.keywords or len(node.args) not in (1, 2):
        return None
    if not isinstance(node.args[0], gast.Constant):
        return None
    key = _key(node.args[0], c)
    default = node.args[1] if len(node.args) == 2 else gast.Constant(None, None)
    return (key, None) if key is not None else (None, default)


class _Apart(gast.NodeTransformer):
    """Replaces containers by their elements, block after block."""

    def __init__(self, fn, found: dict[str, Container], around):
        self.found, self.is_builtin = found, around.is_builtin
        self.names = Names(used_names(fn))
        steady = _steady(fn)
        self.elements: dict[str, dict[object, gast.AST]] = {}
        self.dropped: set[gast.AST] = set()
        for n, c in found.items():
            values = _values(c.stores[0].value) if len(c.stores) == 1 else None
            self.elements[n] = {}
            for k, key in enumerate(c.keys):
                value = values[k] if values else None
                if value is not None and (not isinstance(value, gast.Name) or value.id in steady):
                    self.elements[n][key] = value
                else:
                    self.elements[n][key] = name(self.names.fresh(f"{n}_{key}"))

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
                value[:] = [self.visit(v) if isinstance(v, gast.AST) else v for v in value]
        return [located(s, s)]

    def store(self, n: str, s: gast.Assign) -> list[gast.AST]:
        """``t_0, t_1 = (a, b)`` for ``t = (a, b)``."""
        elements = list(self.elements[n].values())
        values = _values(s.value)
        if values is not None:
            values = [self.visit(v) for v in values]
            pairs = [(e, v) for e, v in zip(elements, values, strict=True) if not _same(e, v)]
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

    def visit_Subscript(self, node):
        if isinstance(node.value, gast.Name) and node.value.id in self.found:
            n = node.value.id
            return clone(self.elements[n][_key(node.slice, self.found[n])])
        return self.generic_visit(node)

    def visit_Starred(self, node):
        # What is visited keeps its place; `spread` puts the elements there.
        return self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, gast.Attribute) and isinstance(node.func.value, gast.Name):
            n = node.func.value.id
            if n in self.found:
                key, default = _got(node, node.func, self.found[n])
                return clone(self.elements[n][key]) if key is not None else self.visit(default)
        if self.is_builtin(node.func) == "len" and isinstance(node.args[0], gast.Name):
            if node.args[0].id in self.found:
                return gast.Constant(len(self.found[node.args[0].id].keys), None)
        keywords = []
        for k in node.keywords:
            if k.arg is None and isinstance(k.value, gast.Name) and k.value.id in self.found:
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


def _values(value: gast.AST) -> list[gast.AST] | None:
    """The elements of a literal container."""
    if isinstance(value, DISPLAYS):
        return list(value.elts)
    return list(value.values) if isinstance(value, gast.Dict) else None


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
