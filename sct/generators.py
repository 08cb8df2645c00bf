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

from .arguments import parameter_names
from .grammar import (
    assign,
    call,
    clone,
    free_names,
    is_name,
    located,
    mutates,
    name,
    source_blocks,
    writes,
)
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
                yields = (gast.Yield, gast.YieldFrom)
                if any(isinstance(n, yields) for n in _own(s)) and _is_steady(tree, s):
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
        returns a value or may change something that others see, or where a ``while``
        loop might go on for ever.
    """
    made = clone(tree)
    work = _Listing(Names(used_names(made)).fresh("yielded"))
    work.block(made.body)
    kinds = (gast.Yield, gast.YieldFrom)
    if work.refused or any(isinstance(n, kinds) for n in _own(made)):
        return tree
    made.body.insert(0, assign(work.made, gast.List([], gast.Load()), made))
    made.body.append(located(gast.Return(name(work.made)), made.body[-1]))
    return made


def _is_steady(tree: gast.FunctionDef, generator: gast.FunctionDef) -> bool:
    """Whether what a local generator reads does not change while it is consumed."""
    bound: dict[str, int] = dict.fromkeys(parameter_names(tree), 1)
    numbers: dict[str, bool] = dict.fromkeys(parameter_names(tree), False)
    augmented: set[str] = set()
    stack: list[gast.AST] = list(tree.body)
    while stack:
        s = stack.pop()
        if s is generator:
            continue
        if mutates(s) or isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
            return False
        for n in writes(s):
            bound[n] = bound.get(n, 0) + 1
            if isinstance(s, gast.AugAssign):
                augmented.add(n)
            else:
                literal = isinstance(getattr(s, "value", None), gast.Constant)
                numbers[n] = numbers.get(n, True) and literal
        stack += [t for b in source_blocks(s) for t in b]
    if not all(numbers.get(n) for n in augmented):
        return False
    return all(bound.get(n, 0) < 2 for n in free_names(generator))


class _Listing:
    """Replaces what is yielded by what is appended, block after block."""

    def __init__(self, made: str):
        self.made, self.refused = made, False

    def block(self, body: list[gast.AST]) -> None:
        for k, s in enumerate(body):
            self.refused |= isinstance(s, (gast.While, gast.Try)) or _has_effect(s)
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


def _has_effect(s: gast.AST) -> bool:
    """Whether a statement may change what others see, or what was yielded before."""
    if isinstance(s, (gast.AugAssign, gast.Delete, gast.Global, gast.Nonlocal)):
        return True
    if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
        return True
    return bool(mutates(s))


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
