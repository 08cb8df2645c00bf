"""Values that stand in an array, from where they can be read back or still be read.

A number that is computed in a loop and put into an array need not be kept for the
backward sweep when the program never writes over that place again::

    for i in range(n):
        quot = (b[i] - L[i, :i] @ x[:i]) / L[i, i]
        x[i] = quot                                  # quot is x[i] from here on

And what a copy holds before it is written into stands in the original::

    C = C0.copy()
    for i in range(n):
        C[i] = C[i] * beta                           # C[i] was C0[i]

`disjoint` decides whether a later, or an earlier, store may meet the place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import gast

from sct import grammar
from sct.analysis.disjoint import Place, never_earlier
from sct.arguments import parameter_names


def standing(
    fn: gast.FunctionDef,
    groups: Mapping[str, frozenset[str]],
    plain: Callable[[gast.AST, str], bool],
) -> dict[str, gast.Assign]:
    """The names whose value can be read from the place where it is stored.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF, every array under one name.
    groups : mapping
        Name → the names that may refer to the same array, itself included.
    plain : callable
        ``plain(place, name)``: whether a place in an array holds what `name` holds
        once that is stored there: a number of the same kind.

    Returns
    -------
    dict
        Name → the statement, in a loop, that stores it.
    """
    walk = Accesses(fn)
    found: dict[str, gast.Assign] = {}
    for stmt, at in walk.candidates:
        place, name = stmt.targets[0], stmt.value.id
        array = place.value.id
        peers = groups.get(array, frozenset([array])) - {array}
        # One value in every turn, and one array for all turns.
        once = walk.bound.get(name) == [at.loops]
        lasting = not any(walk.bound.get(array, ()))
        if not once or not lasting or peers & walk.stores.keys():
            continue
        index = grammar.names_read(place.slice)
        fixed = all(walk.steady(n) or walk.counts(n, at.loops) for n in index)
        if fixed and plain(place, name):
            if all(never_earlier(at, s, walk.steady) for s in walk.stores[array]):
                found[name] = stmt
    return found


def untouched(
    fn: gast.FunctionDef,
    groups: Mapping[str, frozenset[str]],
    number: Callable[[gast.AST], bool],
) -> dict[gast.AST, gast.Subscript]:
    """The readings of a copy that might as well be of the original.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF, every array under one name.
    groups : mapping
        Name → the names that may refer to the same array, itself included.
    number : callable
        ``number(place)``: whether a place in an array holds a number.

    Returns
    -------
    dict
        ``t = copy[i]`` → ``original[i]``, for those that are written over later.
    """
    walk = Accesses(fn)
    found: dict[gast.AST, gast.Subscript] = {}
    for stmt, at in walk.readings:
        part = stmt.value
        copy = part.value.id
        original, stores = walk.copies.get(copy, ""), walk.stores.get(copy, ())
        once = len(walk.bound.get(copy, ())) == 1 and walk.steady(original)
        written = groups.get(original, frozenset([original])) & walk.stores.keys()
        shared = groups.get(copy, frozenset([copy])) - {copy}
        if not original or not once or written or shared & walk.stores.keys():
            continue
        lost = not all(never_earlier(at, s, walk.steady) for s in stores)
        first = all(never_earlier(s, at, walk.steady) for s in stores)
        if lost and first and number(part):
            found[stmt] = gast.Subscript(
                grammar.name(original), grammar.clone(part.slice), gast.Load()
            )
    return found


class Accesses:
    """Who binds names, and who writes into arrays, in which loops."""

    def __init__(self, fn: gast.FunctionDef):
        # Name → the loops around each statement that binds it.
        self.bound: dict[str, list[tuple]] = {n: [()] for n in parameter_names(fn)}
        self.stores: dict[str, list[Place]] = {}
        self.candidates: list[tuple[gast.Assign, Place]] = []
        self.readings: list[tuple[gast.Assign, Place]] = []
        # Name of a copy → name of the original.
        self.copies: dict[str, str] = {}
        self.order = 0
        self.block(fn.body, ())

    def block(self, body: list[gast.AST], loops: tuple[gast.AST, ...]) -> None:
        for stmt in body:
            self.order += 1
            for n in grammar.mutates(stmt):
                self.store(stmt, n, loops)
            if isinstance(stmt, gast.Assign) and grammar.is_name(stmt.targets[0]):
                self.take(stmt, loops)
            inner = loops
            if isinstance(stmt, (gast.For, gast.While)):
                inner = (*loops, stmt)
            for n in grammar.writes(stmt):
                self.bound.setdefault(n, []).append(inner)
            for b in grammar.blocks(stmt):
                self.block(b, inner)

    def store(self, stmt: gast.AST, name: str, loops: tuple[gast.AST, ...]) -> None:
        target = getattr(stmt, "target", None) or stmt.targets[0]
        known = isinstance(target, gast.Subscript) and grammar.is_name(target.value)
        place = Place(target.slice if known else None, loops, self.order)
        self.stores.setdefault(name, []).append(place)
        moved = isinstance(stmt, gast.Assign) and grammar.is_name(stmt.value)
        if known and moved and loops:
            # It may be read as soon as it is stored.
            self.order += 1
            self.candidates.append((stmt, replace(place, order=self.order)))

    def take(self, stmt: gast.Assign, loops: tuple[gast.AST, ...]) -> None:
        value = stmt.value
        if isinstance(value, gast.Subscript) and grammar.is_name(value.value):
            if loops:
                place = Place(value.slice, loops, self.order)
                self.readings.append((stmt, place))
        elif isinstance(value, gast.Call) and not (value.args or value.keywords):
            method = value.func if isinstance(value.func, gast.Attribute) else None
            if getattr(method, "attr", "") == "copy" and grammar.is_name(method.value):
                self.copies[stmt.targets[0].id] = method.value.id

    def steady(self, name: str) -> bool:
        """Whether a name keeps its only value throughout."""
        return self.bound.get(name, [()]) == [()]

    def counts(self, name: str, loops: tuple[gast.AST, ...]) -> bool:
        """Whether a name counts the turns of one of some loops, and nothing in it."""
        for k, loop in enumerate(loops, 1):
            if name in grammar.writes(loop):
                within = [b for b in self.bound[name] if b[:k] == loops[:k]]
                return len(within) == 1
        return False
