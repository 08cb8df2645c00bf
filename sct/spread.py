"""Lists and tuples that take in all items of another one: filled item by item.

::

    l = [a, *x]              l = [a]
                     ->      for v in x:
                                 l.append(v)

Displays of a known form have been taken apart before; what is spread here has a length
that is known only while the function runs.
"""

from __future__ import annotations

import gast

from .grammar import assign, blocks, call, clone, located, name, statements
from .names import Names, used_names

DISPLAYS = (gast.List, gast.Tuple)


def spread(fn: gast.FunctionDef, is_builtin) -> gast.FunctionDef:
    """Fill lists and tuples one after the other.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one to be flattened again.
    """
    sizes = _sizes(fn)
    if not any(_displays(s, sizes) for s in statements(fn.body)):
        return fn
    fn = clone(fn)
    names = Names(used_names(fn))
    tuples = is_builtin(name("tuple")) == "tuple"
    stack = [fn.body]
    while stack:
        body = stack.pop()
        stack += [inner for s in body for inner in blocks(s)]
        out: list[gast.AST] = []
        for s in body:
            for box, key, display in _displays(s, sizes):
                if isinstance(display, gast.List) or tuples:
                    lead, value = _filled(display, names, s)
                    out += lead
                    _put(box, key, value)
            out.append(s)
        body[:] = out
    return fn


def _sizes(fn: gast.FunctionDef) -> set[str]:
    """The names that hold shapes, which have no derivative: they stay as they are."""
    found: set[str] = set()
    for s in statements(fn.body):
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            value = s.value
            while isinstance(value, gast.Subscript):
                value = value.value
            shape = isinstance(value, gast.Attribute) and value.attr == "shape"
            if shape or (isinstance(value, gast.Name) and value.id in found):
                found.add(s.targets[0].id)
            else:
                found.discard(s.targets[0].id)
    return found


def _displays(s: gast.AST, sizes: set[str]) -> list[tuple[object, object, gast.AST]]:
    """The displays to be filled, with their places: a value, or arguments of a call."""
    if not isinstance(s, (gast.Assign, gast.Expr)):
        return []
    places = [(s, "value", s.value)]
    if isinstance(s.value, gast.Call):
        places += [(s.value.args, k, a) for k, a in enumerate(s.value.args)]
        places += [(k, "value", k.value) for k in s.value.keywords]
    return [
        p
        for p in places
        if isinstance(p[2], DISPLAYS)
        and any(
            isinstance(v, gast.Starred) and not _is_size(v.value, sizes)
            for v in p[2].elts
        )
    ]


def _is_size(value: gast.AST, sizes: set[str]) -> bool:
    return isinstance(value, gast.Name) and value.id in sizes


def _put(box, key, value) -> None:
    if isinstance(box, list):
        box[key] = value
    else:
        setattr(box, key, value)


def _filled(display, names: Names, at) -> tuple[list[gast.AST], gast.AST]:
    """The statements that fill a list, and the value it stands for."""
    items = names.fresh("items")
    first = []
    for v in display.elts:
        if isinstance(v, gast.Starred):
            break
        first.append(v)
    lead: list[gast.AST] = [assign(items, gast.List(first, gast.Load()))]
    for v in display.elts[len(first) :]:
        value = v
        if isinstance(v, gast.Starred):
            value = name(names.fresh("item"))
        keep = gast.Expr(call(f"{items}.append", value))
        if isinstance(v, gast.Starred):
            target = name(value.id, store=True)
            keep = gast.For(target, v.value, [keep], [], None)
        lead.append(keep)
    value: gast.AST = name(items)
    if isinstance(display, gast.Tuple):
        value = call("tuple", value)
    return [located(s, at) for s in lead], located(value, at)
