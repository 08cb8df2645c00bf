"""Lists and tuples that take in all items of another one: filled item by item.

::

    l = [a, *x]              l = [a]
    l += y                   for v in x:
                     ->          l.append(v)
                             for v in y:
                                 l.append(v)

So are `l.extend(y)` and the sum of two lists, where they are lists for certain.
Displays of a known form have been taken apart before; what is spread here has a length
that is known only while the function runs.
"""

from __future__ import annotations

import gast

from .grammar import (
    assign,
    blocks,
    call,
    clone,
    is_name,
    located,
    name,
    names_read,
    statements,
    writes,
)
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
    sizes, lists = _sizes(fn), lists_of(fn)
    if not any(
        _displays(s, sizes) or _is_joined(s, lists) or _taken_in(s, lists)
        for s in statements(fn.body)
    ):
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
            if _is_joined(s, lists):
                sides = (s.value.left, s.value.right)
                both = [gast.Starred(v, gast.Load()) for v in sides]
                s.value = gast.List(both, gast.Load())
            taken = _taken_in(s, lists)
            if taken is not None:
                item = names.fresh("item")
                keep = gast.Expr(call(f"{taken[0]}.append", name(item)))
                target = name(item, store=True)
                loop = gast.For(target, taken[1], [keep], [], None)
                out.append(located(loop, s))
                continue
            for box, key, display in _displays(s, sizes):
                if isinstance(display, gast.List) or tuples:
                    items = _own_name(s, display) or names.fresh("items")
                    lead, value = _filled(display, items, names, s)
                    out += lead
                    _put(box, key, value)
            if not _is_same(s):
                out.append(s)
        body[:] = out
    return fn


def lists_of(fn: gast.FunctionDef) -> set[str]:
    """The names that hold lists wherever they are bound."""
    a = fn.args
    given = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    found: set[str] = set()
    other = {p.id for p in given if p}
    for s in statements(fn.body):
        if isinstance(s, gast.AugAssign) and isinstance(s.op, gast.Add):
            # What is added to a list leaves it one.
            continue
        value = s.value if isinstance(s, gast.Assign) else None
        plain = value is not None and isinstance(s.targets[0], gast.Name)
        made = isinstance(value, (gast.List, gast.ListComp)) or _is_joined(s, found)
        made = made or isinstance(value, gast.Call) and is_name(value.func, "list")
        made = made or _is_slice_of(value, found)
        (found if plain and made else other).update(writes(s))
    return found - other


def _is_slice_of(value: gast.AST, lists: set[str]) -> bool:
    """Whether an expression is ``l[a:b]`` of a list."""
    return (
        isinstance(value, gast.Subscript)
        and isinstance(value.slice, gast.Slice)
        and getattr(value.value, "id", "") in lists
    )


def _is_joined(s: gast.AST, lists: set[str]) -> bool:
    """Whether a statement is ``l = a + b`` of two lists."""
    value = s.value if isinstance(s, gast.Assign) else None
    return (
        isinstance(value, gast.BinOp)
        and isinstance(value.op, gast.Add)
        and getattr(value.left, "id", "") in lists
        and getattr(value.right, "id", "") in lists
    )


def _taken_in(s: gast.AST, lists: set[str]) -> tuple[str, gast.AST] | None:
    """``(l, x)`` when a statement is ``l += x`` or ``l.extend(x)`` of a list `l`."""
    if isinstance(s, gast.AugAssign) and isinstance(s.op, gast.Add):
        id = getattr(s.target, "id", "")
        return (id, s.value) if id in lists else None
    called = s.value if isinstance(s, gast.Expr) else None
    func = getattr(called, "func", None)
    if not isinstance(func, gast.Attribute) or func.attr != "extend":
        return None
    id = getattr(func.value, "id", "")
    plain = id in lists and len(called.args) == 1 and not called.keywords
    return (id, called.args[0]) if plain else None


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


def _own_name(s: gast.AST, display: gast.AST) -> str | None:
    """The name that a list is filled under when it is bound to one at once."""
    if not isinstance(s, gast.Assign) or s.value is not display:
        return None
    target = s.targets[0]
    plain = isinstance(target, gast.Name) and isinstance(display, gast.List)
    return target.id if plain and target.id not in names_read(display) else None


def _is_same(s: gast.AST) -> bool:
    """Whether a statement binds a name to itself."""
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.value, gast.Name)
        and is_name(s.targets[0], s.value.id)
    )


def _put(box, key, value) -> None:
    if isinstance(box, list):
        box[key] = value
    else:
        setattr(box, key, value)


def _filled(display, items: str, names: Names, at) -> tuple[list[gast.AST], gast.AST]:
    """The statements that fill a list, and the value it stands for."""
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
