"""A generator as the function that returns the list of what it yields.

::

    def squares(x):                     def squares(x):
        for v in x:                         yielded = []
            yield v * v         ->          for v in x:
                                                yielded.append(v * v)
                                            return yielded

That is the same to whoever takes all values, as long as neither side sees what the
other does in between, and the generator comes to an end.
"""

from __future__ import annotations

import gast

from .grammar import assign, call, clone, is_name, located, name, source_blocks
from .names import Names, used_names
from .renaming import FUNCTIONS


def without_generators(tree: gast.FunctionDef) -> gast.FunctionDef:
    """A function whose local generators are in their list form; a new tree."""
    if not any(isinstance(n, gast.Yield) for n in gast.walk(tree)):
        return tree
    if any(
        isinstance(n, gast.Call) and is_name(n.func, "next") for n in gast.walk(tree)
    ):
        return tree
    tree = clone(tree)
    stack = [tree.body]
    while stack:
        body = stack.pop()
        for k, s in enumerate(body):
            stack += source_blocks(s)
            if isinstance(s, gast.FunctionDef):
                if any(isinstance(n, (gast.Yield, gast.YieldFrom)) for n in _own(s)):
                    body[k] = s = listed(s)
                stack.append(s.body)
    return tree


def listed(tree: gast.FunctionDef) -> gast.FunctionDef:
    """The list form of a generator.

    Parameters
    ----------
    tree : gast.FunctionDef
        A generator as the user wrote it; it is left as it is.

    Returns
    -------
    gast.FunctionDef
        The same tree where one of its ``yield`` is no statement of its own, where it
        returns a value, or where a ``while`` loop might go on for ever.
    """
    made = clone(tree)
    work = _Listing(Names(used_names(made)).fresh("yielded"))
    work.block(made.body)
    kinds = (gast.Yield, gast.YieldFrom)
    if work.endless or any(isinstance(n, kinds) for n in _own(made)):
        return tree
    made.body.insert(0, assign(work.made, gast.List([], gast.Load()), made))
    made.body.append(located(gast.Return(name(work.made)), made.body[-1]))
    return made


class _Listing:
    """Replaces what is yielded by what is appended, block after block."""

    def __init__(self, made: str):
        self.made, self.endless = made, False

    def block(self, body: list[gast.AST]) -> None:
        for k, s in enumerate(body):
            self.endless |= isinstance(s, (gast.While, gast.Try))
            if isinstance(s, FUNCTIONS):
                continue
            if isinstance(s, gast.Return) and s.value is None:
                s.value = name(self.made)
                located(s, s)
            value = s.value if isinstance(s, gast.Expr) else None
            if isinstance(value, gast.Yield) and value.value is not None:
                kept = call(f"{self.made}.append", value.value)
                body[k] = gast.copy_location(gast.Expr(located(kept, s)), s)
            elif isinstance(value, gast.YieldFrom):
                kept = call(f"{self.made}.extend", value.value)
                body[k] = gast.copy_location(gast.Expr(located(kept, s)), s)
            for inner in source_blocks(s):
                self.block(inner)


def _own(tree: gast.FunctionDef) -> list[gast.AST]:
    """All nodes of a function, those of functions inside it left out."""
    found: list[gast.AST] = []
    stack: list[gast.AST] = list(tree.body)
    while stack:
        n = stack.pop()
        found.append(n)
        if not isinstance(n, FUNCTIONS):
            stack += list(gast.iter_child_nodes(n))
    return found
