"""The largest or least item of a list that was filled: item by item.

::

    l = []                        l = []
    for v in x:                   for v in x:
        l.append(v * v)               l.append(v * v)
    m = max(l)             ->     m = l[0]
                                  for i in range(1, len(l)):
                                      m = max(m, l[i])

Of equal items the first is kept, as `max` and `min` do.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .grammar import (
    assign,
    blocks,
    call,
    clone,
    constant,
    located,
    name,
    statements,
)
from .names import Names, used_names
from .spread import lists_of


def item_by_item(fn: gast.FunctionDef, is_builtin: Callable) -> gast.FunctionDef:
    """Compare the items of lists in pairs.

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
    lists = lists_of(fn)
    if not all(is_builtin(name(word)) == word for word in ("range", "len")):
        return fn
    if not any(_is_extreme(s, lists, is_builtin) for s in statements(fn.body)):
        return fn
    fn = clone(fn)
    names = Names(used_names(fn))
    stack = [fn.body]
    while stack:
        body = stack.pop()
        stack += [inner for s in body for inner in blocks(s)]
        out: list[gast.AST] = []
        for s in body:
            known = _is_extreme(s, lists, is_builtin)
            out += _compared(s, names) if known else [s]
        body[:] = out
    return fn


def _is_extreme(s: gast.AST, lists: set[str], is_builtin: Callable) -> bool:
    return (
        isinstance(s, gast.Assign)
        and isinstance(s.targets[0], gast.Name)
        and isinstance(s.value, gast.Call)
        and is_builtin(s.value.func) in ("max", "min")
        and len(s.value.args) == 1
        and not s.value.keywords
        and isinstance(s.value.args[0], gast.Name)
        and s.value.args[0].id in lists
    )


def _compared(s: gast.Assign, names: Names) -> list[gast.AST]:
    items = s.value.args[0].id
    target = s.targets[0].id
    best = names.fresh(target) if target == items else target
    index = names.fresh("i")
    first = gast.Subscript(name(items), constant(0), gast.Load())
    item = gast.Subscript(name(items), name(index), gast.Load())
    body = [assign(best, gast.Call(s.value.func, [name(best), item], []))]
    others = call("range", constant(1), call("len", name(items)))
    loop = gast.For(name(index, store=True), others, body, [], None)
    made = [assign(best, first), loop]
    if best != target:
        made.append(assign(target, name(best)))
    return [located(m, s) for m in made]
