"""Lists that are used as stacks: pushed, popped and tested, and nothing else.

::

    x_stack = []
    x_stack.append(x)
    while x_stack:
        x = x_stack.pop()

Their tangent is a stack, and so is their adjoint: what is pushed there is popped here.
Derivatives keep values in such lists, so this is what makes them fit to be
differentiated again.
"""

from __future__ import annotations

import gast

from .grammar import (
    appended,
    heads,
    is_name,
    names_read,
    places,
    statements,
    writes,
)


def popped(stmt: gast.AST | None) -> str:
    """The name of the list that ``x = l.pop()`` makes shorter, or ``""``."""
    if not isinstance(stmt, gast.Assign) or places(stmt):
        return ""
    call = stmt.value
    func = call.func if isinstance(call, gast.Call) else None
    plain = isinstance(func, gast.Attribute) and func.attr == "pop"
    if not plain or call.args or call.keywords or not is_name(func.value):
        return ""
    return func.value.id


def resized(stmt: gast.AST | None) -> str:
    """The name of the list that a statement makes longer or shorter, or ``""``."""
    return appended(stmt) or popped(stmt)


def stacks(fn: gast.FunctionDef) -> set[str]:
    """The names of a function in ANF that only ever hold lists used as stacks."""
    made: set[str] = set()
    found: set[str] = set()
    other: set[str] = set()
    for s in statements(fn.body):
        lists = isinstance(s, gast.Assign) and isinstance(s.value, gast.List)
        (made if lists and is_name(s.targets[0]) else other).update(writes(s))
        list_ = resized(s)
        if popped(s) and list_ not in writes(s):
            found.add(list_)
        if isinstance(s, gast.While) and is_name(s.test):
            continue
        parts = s.value.args if list_ else heads(s)
        other.update(n for part in parts for n in names_read(part))
    return found & made - other
