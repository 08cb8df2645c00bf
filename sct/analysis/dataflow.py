"""The two directions in which facts flow through structured code.

Both walk a block in order (or against it), give each statement to a `transfer`
function that updates the state in place, and meet states where paths meet.  A loop is
walked until its state at the head no longer changes.  States are kept only at the
*points* where control flow forks or joins, so that straight code costs nothing:

    before(stmt), after(stmt)    around a compound statement
    start(block), end(block)     inside it

A state is a set of names or a dictionary from names to facts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from sct import grammar

State = Any
Point = tuple[str, int]


def before(stmt: gast.AST) -> Point:
    """The point just before a compound statement."""
    return ("before", id(stmt))


def after(stmt: gast.AST) -> Point:
    """The point just after a compound statement."""
    return ("after", id(stmt))


def start(block: list[gast.AST]) -> Point:
    """The point where a block begins."""
    return ("start", id(block))


def end(block: list[gast.AST]) -> Point:
    """The point where a block ends (where it leaves a loop, when it does)."""
    return ("end", id(block))


COMPOUND = (gast.If, gast.For, gast.While, gast.With)


class Forward:
    """Facts that flow with execution.

    Parameters
    ----------
    transfer : callable
        ``transfer(stmt, state)`` updates `state` across a simple statement, or across
        the head of a compound one (a loop's target).
    meet : callable
        ``meet(a, b)`` gives the state where two paths join.
    assume : callable, optional
        ``assume(test, holds, state)`` updates `state` at the start of an arm: the
        test of its ``if`` holds there, or does not.
    """

    def __init__(
        self,
        transfer: Callable[[gast.AST, State], None],
        meet: Callable[[State, State], State],
        assume: Callable[[gast.AST, bool, State], None] = lambda *facts: None,
    ):
        self.transfer, self.meet, self.assume = transfer, meet, assume
        self.points: dict[Point, State] = {}
        self._breaks: list[list[State]] = []

    def run(self, block: list[gast.AST], state: State) -> State | None:
        """The state after `block`, None when its end cannot be reached."""
        self.points[start(block)] = state.copy()
        for stmt in block:
            if state is None:
                break
            state = self._step(stmt, state)
            if isinstance(stmt, (gast.Break, gast.Raise)):
                self.points[end(block)] = self.points[before(stmt)]
                return None
        if state is not None:
            self.points[end(block)] = state.copy()
        return state

    def _step(self, stmt: gast.AST, state: State) -> State | None:
        if isinstance(stmt, (gast.Break, gast.Raise)):
            self.points[before(stmt)] = state.copy()
            if isinstance(stmt, gast.Break):
                self._breaks[-1].append(state)
            return state
        if not isinstance(stmt, COMPOUND):
            self.transfer(stmt, state)
            return state
        self.points[before(stmt)] = state.copy()
        if isinstance(stmt, gast.If):
            self.transfer(stmt, state)
            other = state.copy()
            self.assume(stmt.test, True, state)
            self.assume(stmt.test, False, other)
            state = self._meet(self.run(stmt.body, state), self.run(stmt.orelse, other))
        elif isinstance(stmt, gast.With):
            self.transfer(stmt, state)
            state = self.run(stmt.body, state)
        else:
            state = self._loop(stmt, state)
        if state is not None:
            self.points[after(stmt)] = state.copy()
        return state

    def _loop(self, stmt: gast.For | gast.While, state: State) -> State:
        while True:
            self._breaks.append([])
            inner = state.copy()
            self.transfer(stmt, inner)
            last = self.run(stmt.body, inner)
            breaks = self._breaks.pop()
            new = state if last is None else self.meet(state, last)
            if new == state:
                break
            state = new
        for b in breaks:
            state = self.meet(state, b)
        return state

    def _meet(self, a: State | None, b: State | None) -> State | None:
        if a is None or b is None:
            return b if a is None else a
        return self.meet(a, b)


class Backward:
    """Facts that flow against execution; states are sets of names.

    Parameters
    ----------
    transfer : callable
        ``transfer(stmt, state)`` updates `state` from after a simple statement to
        before it; for a compound statement, across its head.
    may : bool
        Whether a fact holds at a fork when it holds on some path (else: on every one).
    both : bool
        Whether, of the two arms of an ``if``, it is to hold on both all the same.
    """

    def __init__(
        self,
        transfer: Callable[[gast.AST, set[str]], None],
        may: bool = True,
        both: bool = False,
    ):
        self.transfer, self.may, self.both = transfer, may, both or not may
        self.points: dict[Point, set[str]] = {}
        self._exits: list[set[str]] = []

    def run(self, block: list[gast.AST], state: set[str]) -> set[str] | None:
        """The state before `block`; None stands for "anything" (the block raises)."""
        if block and isinstance(block[-1], gast.Break):
            state = set(self._exits[-1])
        if block and isinstance(block[-1], gast.Raise):
            state = None
        self.points[end(block)] = set() if state is None else set(state)
        for stmt in reversed(block):
            state = self._step(stmt, state)
        self.points[start(block)] = set() if state is None else set(state)
        return state

    def _step(self, stmt: gast.AST, state: set[str] | None) -> set[str] | None:
        if not isinstance(stmt, COMPOUND):
            if state is None:
                if not isinstance(stmt, gast.Raise):
                    return None
                state = set() if self.may else None
            if state is not None:
                self.transfer(stmt, state)
            return state
        self.points[after(stmt)] = set() if state is None else set(state)
        if isinstance(stmt, gast.If):
            a = self.run(stmt.body, None if state is None else set(state))
            b = self.run(stmt.orelse, None if state is None else set(state))
            state = self._meet(a, b)
        elif isinstance(stmt, gast.With):
            state = self.run(stmt.body, state)
        else:
            state = self._loop(stmt, state)
            self.points[before(stmt)] = set() if state is None else set(state)
            return state
        if state is not None:
            self.transfer(stmt, state)
        self.points[before(stmt)] = set() if state is None else set(state)
        return state

    def _loop(self, stmt: gast.For | gast.While, leaving: set[str] | None) -> set[str]:
        leaving = set() if leaving is None else leaving
        # Least fixpoint from nothing more for "may", greatest from all for "must".
        head = set(leaving)
        while True:
            self._exits.append(leaving)
            first = self.run(stmt.body, set(head))
            self._exits.pop()
            if first is None:
                first = set(head) if not self.may else set()
            self.transfer(stmt, first)
            new = head | first if self.may else head & first
            if new == head:
                return head
            head = new

    def _meet(self, a: set[str] | None, b: set[str] | None) -> set[str] | None:
        if a is None or b is None:
            return b if a is None else a
        return a & b if self.both else a | b


def writes_anywhere(stmt: gast.AST) -> set[str]:
    """The names that a statement binds, inside its blocks included."""
    return grammar.all_writes([stmt])
