"""Which names are read later: backward over structured code, loops by summary.

`liveness(fn, facts, effects)` tells, of every statement, which of the names it reads
are read there for the last time, and which assignments nobody reads:

    t = x * y       # t is read later
    z = t + 1.0     # t dies here
    t = 0.0         # dead, if t is not read any more
"""

from __future__ import annotations

from dataclasses import dataclass, field

import gast

from sct.optimize.effects import Effects, stack_pop
from sct.optimize.facts import Facts

_LOOPS = (gast.For, gast.While)


@dataclass
class Liveness:
    """The result of `liveness`; statements are known by their `id`.

    Attributes
    ----------
    dying : dict
        Statement → the names it reads that are not read after it.
    dead : set
        Statements without effect that bind names nobody reads.
    unread_targets : set
        ``for`` loops whose counter is not read after them, and pops nobody reads.
    """

    dying: dict[int, set[str]] = field(default_factory=dict)
    dead: set[int] = field(default_factory=set)
    unread_targets: set[int] = field(default_factory=set)


def liveness(
    fn: gast.FunctionDef, facts: Facts, effects: Effects, dead_read: bool = False
) -> Liveness:
    """Find last reads and unread assignments of a function.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function.
    facts : Facts
        What is known of it.
    effects : Effects
        Of the same tree.
    dead_read : bool
        Whether what a dead statement reads counts as read: it does while the statement
        still stands.

    Returns
    -------
    Liveness
    """
    solver = _Solver(facts, effects, dead_read)
    solver.block(fn.body, set(effects.pinned), frozenset(effects.pinned), ())
    return solver.result


class _Solver:
    def __init__(self, facts: Facts, effects: Effects, dead_read: bool):
        self.facts, self.effects, self.dead_read = facts, effects, dead_read
        self.notes = facts.notes
        self.result = Liveness()
        self._summaries: dict[int, tuple[set[str], set[str]]] = {}

    def block(
        self, body, live: set[str], floor: frozenset[str], loops: tuple
    ) -> set[str]:
        """Names live before `body`, from those live after it (a set it may change).

        `floor` is live everywhere in the block; `loops` holds, innermost last, what is
        live at the head and behind each loop around.
        """
        for s in reversed(body):
            live = self._statement(s, live, floor, loops)
        return live

    def _statement(self, s, live, floor, loops) -> set[str]:
        if isinstance(s, gast.If):
            other = self.block(s.orelse, set(live), floor, loops)
            live = self.block(s.body, live, floor, loops) | other
        elif isinstance(s, _LOOPS):
            return self._loop(s, live, floor)
        elif isinstance(s, gast.With):
            # The manager may swallow an exception: what is read behind stays live.
            live = self.block(s.body, set(live), floor | frozenset(live), loops) | live
        elif isinstance(s, (gast.Return, gast.Raise)):
            live = set(floor)
        elif isinstance(s, gast.Break):
            return set(loops[-1][1])
        elif isinstance(s, gast.Continue):
            return set(loops[-1][0])
        elif self._removable(s, live):
            self.result.dead.add(id(s))
            if not self.dead_read:
                return live
        return self._through(s, live, floor)

    def _through(self, s, live: set[str], floor) -> set[str]:
        note = self.notes.of(s)
        bound, read = set(note.writes), note.reads
        stored = self.effects.of(s).mutates
        if stack_pop(s) in self.effects.stacks and not (live & bound or stored):
            self.result.unread_targets.add(id(s))
        if not isinstance(s, gast.AugAssign):
            live -= bound - floor
        self.result.dying[id(s)] = read - live
        live |= read
        return live

    def _loop(self, s, live: set[str], floor) -> set[str]:
        if live.isdisjoint(self.notes.of(s).writes):
            self.result.unread_targets.add(id(s))
        exposed, _ = self._summary(s)
        head = live | exposed
        self.block(s.orelse, set(live), floor, ())
        self.block(s.body, set(head), floor, ((head, live | floor),))
        read = self.notes.of(s).reads
        self.result.dying[id(s)] = set() if isinstance(s, gast.While) else read - head
        return head | read

    def _summary(self, s) -> tuple[set[str], set[str]]:
        """Names read before they are bound, and names bound for certain."""
        known = self._summaries.get(id(s))
        if known:
            return known
        if isinstance(s, gast.If):
            read, bound = self._block_summary(s.body)
            other_read, other_bound = self._block_summary(s.orelse)
            read, bound = read | other_read, bound & other_bound
        elif isinstance(s, _LOOPS):
            read, _ = self._block_summary(s.body)
            read = (
                read.difference(self.notes.of(s).writes)
                | self._block_summary(s.orelse)[0]
            )
            bound = set()
        elif isinstance(s, gast.With):
            read, bound = self._block_summary(s.body)[0], set()
        else:
            read = set()
            aug = isinstance(s, gast.AugAssign)
            bound = set() if aug else set(self.notes.of(s).writes)
        result = self._summaries[id(s)] = (read | self.notes.of(s).reads, bound)
        return result

    def _block_summary(self, body) -> tuple[set[str], set[str]]:
        read: set[str] = set()
        bound: set[str] = set()
        for s in reversed(body):
            r, b = self._summary(s)
            read -= b
            read |= r
            bound |= b
        return read, bound

    def _removable(self, s, live: set[str]) -> bool:
        if not isinstance(s, (gast.Assign, gast.AugAssign)):
            return False
        bound = self.notes.of(s).writes
        if not bound or live.intersection(bound) or self.effects.of(s).impure:
            return False
        if isinstance(s, gast.AugAssign):
            return s.target.id in self.facts.scalar
        if stack_pop(s) in self.effects.stacks:
            return False
        return not self.effects.of(s).mutates
