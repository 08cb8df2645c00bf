"""Values that are better computed again than kept.

A temporary such as ``r * x`` in a loop, or an element ``a[i]``, costs as much to keep
as to compute from values that the backward sweep has at hand anyway.  Its assignment is
put in front of the adjoint that reads it first::

    x = r * x * (1.0 - x)       ⇒       x = x_stack.pop()
                                        prod = r * x
                                        diff = 1.0 - x
                                        prod_bar = x_bar * diff
                                        ...

That is done when every operand still has its value there (or gets it back there), and
is either read by another adjoint as well or never overwritten.

A number that was stored where it still stands (`analysis/standing.py`) is read from
there: ``x[i] = v`` leaves ``v = x[i]`` for the backward sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import gast

from sct import grammar
from sct.context import Step
from sct.stacks import resized
from sct.storage import changed_in, written_in


def recompute(
    steps: list[Step],
    cheap: Callable[[gast.AST, bool], bool],
    single: set[str],
    steady: Callable[[str], bool],
    standing: Mapping[str, gast.Assign],
    untouched: Mapping[gast.AST, gast.Subscript],
    groups: Mapping[str, Collection[str]],
) -> None:
    """Plan what is computed again; the steps are changed.

    Parameters
    ----------
    steps : list of Step
        The steps of a function, before storage is decided.
    cheap : callable
        ``cheap(stmt, in_loop)``: whether an assignment may be computed again.
    single : set of str
        The names that only one statement writes.
    steady : callable
        ``steady(name)``: whether no value of `name` is ever overwritten.
    standing : mapping
        Name → the statement that stores it where it can be read back.
    untouched : mapping
        Statement → what it might as well read, which is never written over.
    groups : mapping
        Name → the names that may refer to the same memory.
    """
    plan = _Plan(steps, cheap, single, steady, standing, untouched, groups)
    plan.block(steps, set(), False)


class _Plan:
    def __init__(self, steps, cheap, single, steady, standing, untouched, groups):
        self.groups = groups
        self.cheap, self.single, self.steady = cheap, single, steady
        self.standing, self.untouched = standing, untouched
        self.readers: dict[str, set[Step]] = {}
        self.inside: dict[Step, set[str]] = {}
        self._read(steps)

    def _read(self, steps: list[Step]) -> set[str]:
        """Note who reads what; returns the names that some steps read."""
        found: set[str] = set()
        for step in steps:
            own = step.old | step.new
            for n in own:
                self.readers.setdefault(n, set()).add(step)
            for arm in step.arms:
                own = own | self._read(arm)
            self.inside[step] = own
            found |= own
        return found

    def block(self, steps: list[Step], counters: set[str], in_loop: bool) -> None:
        for step in steps:
            if isinstance(step.stmt, (gast.For, gast.While)):
                body = step.arms[0]
                own = set(grammar.writes(step.stmt)) - written_in(body)
                self.block(body, counters | own, True)
            else:
                for arm in step.arms:
                    self.block(arm, counters, in_loop)
        last: dict[str, int] = {}
        for i, step in enumerate(steps):
            for n in self.inside[step]:
                last[n] = i
        where = {step.stmt: i for i, step in enumerate(steps)}
        for i in reversed(range(len(steps))):
            if not self._candidate(steps, i, last, counters, in_loop):
                self._read_back(steps, i, last, where)

    def _candidate(self, steps, i, last, counters, in_loop) -> bool:
        """Arrange for a step's value to be computed again, if that can be."""
        step = steps[i]
        stmt = step.stmt
        if step.arms or not isinstance(stmt, gast.Assign):
            return False
        target = stmt.targets[0]
        if not isinstance(target, gast.Name) or target.id not in self.single:
            return False
        name = target.id
        at = last.get(name, -1)
        if at <= i or name in step.new or not self.cheap(stmt, in_loop):
            return False
        span = steps[i : at + 1]
        # Everybody who reads it stands in this block, behind its assignment.
        count = sum(_reads(s, name) for s in span)
        if count != len(self.readers.get(name, ())):
            return False
        value = self.untouched.get(stmt, stmt.value)
        operands = grammar.names_read(value)
        between = {n for s in span[1:-1] for n in _writes(s)}
        user = steps[at]
        if operands & between or (user.arms and operands & _writes(user)):
            return False
        # Elements change by way of other names as well.
        seen = set().union(*[self.groups.get(n, ()) for n in operands])
        inside = [*span[1:-1], *([user] if user.arms else [])]
        if any(seen & changed_in([s]) for s in inside):
            return False
        if operands & user.new:
            return False
        for n in operands - counters:
            element = isinstance(value, gast.Subscript) and n not in self.single
            if element and grammar.is_name(value.value, n):
                # Elements are at hand as long as the array is.
                continue
            known = self.steady(n) or self._needed(steps, i, n)
            if not known and not self._is_part(steps[:i], n):
                return False
        user.adjoint.insert(0, grammar.assign(name, grammar.clone(value), stmt))
        for s in span:
            _forget(s, name)
        user.old |= operands
        self._moved(name, operands, user, at, last)
        return True

    def _moved(self, name, operands, user, at, last) -> None:
        """Take note that the step `user` reads operands, and nobody a name."""
        self.inside[user] |= operands
        self.readers[name] = set()
        for n in operands:
            self.readers.setdefault(n, set()).add(user)
            last[n] = max(last.get(n, -1), at)

    def _read_back(self, steps, i, last, where) -> None:
        """Arrange for a step's value to be read from the place where it stands."""
        stmt = steps[i].stmt
        if not isinstance(stmt, gast.Assign):
            return
        for name in grammar.writes(stmt):
            store = self.standing.get(name)
            at = -1 if store is None else where.get(store, -1)
            if at <= i or name not in last or name in steps[i].old:
                continue
            end = max(at, last[name])
            span = steps[i : end + 1]
            if sum(_reads(s, name) for s in span) != len(self.readers[name]):
                continue
            user, place = steps[end], grammar.clone(store.targets[0])
            place.ctx = gast.Load()
            again = grammar.assign(name, place, store)
            operands = grammar.names_read(place)
            for s in span:
                _forget(s, name)
            if user.stmt is store:
                # Right behind the store, so before what it wrote over comes back.
                user.lead.append(again)
                user.new |= operands
            else:
                user.adjoint.insert(0, again)
                user.old |= operands
            self._moved(name, operands, user, end, last)

    def _is_part(self, steps: list[Step], name: str) -> bool:
        """Whether a name is a part of an array, which costs nothing to take again."""
        return name in self.single and any(
            isinstance(s.stmt, gast.Assign)
            and grammar.is_name(s.stmt.targets[0], name)
            and isinstance(s.stmt.value, gast.Subscript)
            for s in steps
        )

    def _needed(self, steps: list[Step], i: int, name: str) -> bool:
        """Whether an adjoint of the block reads the value of `name` at step `i`."""
        for k in range(i - 1, -1, -1):
            step = steps[k]
            if step.stmt is not None and name in _writes(step):
                if name in step.new:
                    return True
                break
            if name in self.inside[step]:
                return True
        for k in range(i, len(steps)):
            step = steps[k]
            if name in _writes(step):
                return name in step.old
            if name in self.inside[step]:
                return True
        return False


def _writes(step: Step) -> set[str]:
    every = grammar.statements([step.stmt] if step.stmt else [])
    grown = {resized(s) for s in every}
    return written_in([step]) | changed_in([step]) | grown - {""}


def _reads(step: Step, name: str) -> int:
    """How many steps in and below `step` read a name."""
    own = int(name in step.old or name in step.new)
    return own + sum(_reads(s, name) for arm in step.arms for s in arm)


def _forget(step: Step, name: str) -> None:
    step.old.discard(name)
    step.new.discard(name)
    for arm in step.arms:
        for s in arm:
            _forget(s, name)
