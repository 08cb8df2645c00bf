"""What the forward sweep keeps for the backward sweep: TBR, "to be recorded".

The backward sweep reads the primal's own names.  A name that it will read is *pending*
from the statement whose adjoint reads it on; when the program gives such a name a new
value, the old one is kept, and given back where the backward sweep comes past::

    x_saved = x                      x_stack.append(x)       in a loop
    x = x * x                        x = x * x
    ...                              ...
    x = x_saved                      x = x_stack.pop()

(Hascoët, Naumann & Pascual, *"To be recorded" analysis in reverse-mode automatic
differentiation*, FGCS 21, 2005).  A value that a loop's turn makes for itself is kept
when the turn ends, unless `recompute` has arranged to compute it again.  Every
variable has one stack, and every value is pushed and popped along the same path, so
that stacks are last in, first out, whatever the control flow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import gast

from sct import grammar
from sct.arguments import parameter_names
from sct.contents import Contents
from sct.context import Step
from sct.stacks import popped


@dataclass(eq=False)
class Kept:
    """What is added to one step.

    Attributes
    ----------
    before, after : list
        Statements of the forward sweep around the step's own.
    first, last : list
        Statements of the backward sweep before and after the step's adjoint.
    decision : gast.AST or None
        The test by which the backward sweep finds the arm of an ``if``.
    test_name : str
        The name into which the forward sweep evaluates the test, or empty.
    nested : bool
        Whether a loop is inside another.
    """

    before: list[gast.AST] = field(default_factory=list)
    after: list[gast.AST] = field(default_factory=list)
    first: list[gast.AST] = field(default_factory=list)
    last: list[gast.AST] = field(default_factory=list)
    decision: gast.AST | None = None
    test_name: str = ""
    nested: bool = False


@dataclass
class Turn:
    """One turn of a loop, while its body is walked.

    Attributes
    ----------
    written : set of str
        The names that the body writes.
    header : set of str
        Those of which the backward sweep reads the value that they have at the head:
        they are kept when they are overwritten, and so given back to the turn before.
    """

    written: set[str]
    header: set[str]


class Storage:
    """Decides what is kept.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    fresh : callable
        A new name from a wish.
    pure : callable
        ``pure(expr)``: whether a test may be evaluated again.
    flags : set of str
        Names that say by which ``break`` a loop was left: False in every turn but the
        last.
    groups : dict
        Name → the names that may refer to the same array.
    keeping : callable
        ``keeping(place)``: what to keep of a place that is written to.
    """

    def __init__(
        self,
        fn: gast.FunctionDef,
        fresh: Callable[[str], str],
        pure: Callable[[gast.AST], bool],
        flags: set[str],
        groups: dict[str, frozenset[str]],
        keeping: Callable[[gast.AST], gast.AST],
    ):
        self.fresh, self.pure, self.flags = fresh, pure, flags
        self.groups, self.keeping = groups, keeping
        self.kept: dict[Step, Kept] = {}
        self.stacks: dict[str, str] = {}
        self.pushes: dict[str, int] = {}
        self._writes: dict[str, int] = {n: 1 for n in parameter_names(fn)}
        self._in_loops: set[str] = set()
        self.unbound: set[str] = set()
        self._counters: set[str] = set()
        self._depth = 0

    def survey(self, steps: list[Step], in_loop: bool = False) -> None:
        """Take note of who writes what; to be called first."""
        for step in steps:
            changed = [] if step.stmt is None else grammar.mutates(step.stmt)
            for n in [*_written(step), *changed]:
                self._writes[n] = self._writes.get(n, 0) + 1
                if in_loop or isinstance(step.stmt, (gast.For, gast.While)):
                    self._in_loops.add(n)
            inner = in_loop or isinstance(step.stmt, (gast.For, gast.While))
            for arm in step.arms:
                self.survey(arm, inner)

    def record(self, fn: gast.FunctionDef, steps: list[Step]) -> set[str]:
        """Decide for a whole function; returns the names pending at its end."""
        self.contents = Contents(steps, self.groups, self.steady)
        return self._block(steps, set(), set(parameter_names(fn)), None)

    def of(self, step: Step) -> Kept:
        """What is added to `step`."""
        return self.kept.setdefault(step, Kept())

    # -- keeping and giving back ---------------------------------------------------
    def _keep(self, name: str, at: gast.AST) -> tuple[gast.AST, gast.AST]:
        """The statement that keeps `name`, and the one that gives it back."""
        if not self._depth:
            saved = self.fresh(f"{name}_saved")
            return (
                grammar.assign(saved, grammar.name(name), at),
                grammar.assign(name, grammar.name(saved), at),
            )
        return self._push(name, at), grammar.assign(name, self.pop(name), at)

    def _push(self, name: str, at: gast.AST) -> gast.AST:
        stack = self.stack(name)
        self.pushes[stack] = self.pushes.get(stack, 0) + 1
        return grammar.located(
            gast.Expr(grammar.call(f"{stack}.append", grammar.name(name))), at
        )

    def pop(self, name: str) -> gast.AST:
        """The value given back last."""
        return grammar.call(f"{self.stack(name)}.pop")

    def stack(self, name: str) -> str:
        """The stack of a variable."""
        if name not in self.stacks:
            stem = name.split(" ")[0].rstrip("_")
            self.stacks[name] = self.fresh(f"{stem}_stack")
        return self.stacks[name]

    def single(self) -> set[str]:
        """The names that one statement alone writes."""
        return {n for n, count in self._writes.items() if count == 1}

    def steady(self, name: str) -> bool:
        """Whether no value of `name` is ever overwritten."""
        return not self._threatened(name)

    def _threatened(self, name: str) -> bool:
        """Whether a value of `name` may be overwritten before the backward sweep."""
        if name in self._counters:
            return False
        return self._writes.get(name, 0) > 1 or name in self._in_loops

    # -- blocks --------------------------------------------------------------------
    def _block(
        self, steps: list[Step], pending: set[str], bound: set[str], turn: Turn | None
    ) -> set[str]:
        """Walk a block in program order.

        Parameters
        ----------
        steps : list of Step
            The block.
        pending : set of str
            The names pending at its beginning; not changed.
        bound : set of str
            The names certainly bound; brought up to date.
        turn : Turn or None
            Set when the end of the block is the end of a loop's turn.

        Returns
        -------
        set of str
            The names pending at its end.
        """
        pending = set(pending)
        ends_in_arms = False
        for i, step in enumerate(list(steps)):
            if isinstance(step.stmt, gast.If):
                last = turn is not None and i == len(steps) - 1
                # Only the arms that do not leave the loop come to the end of the turn.
                ends_in_arms = last and _may_leave(step)
                pending = self._if(step, pending, bound, turn if ends_in_arms else None)
            elif isinstance(step.stmt, (gast.For, gast.While)):
                pending = self._loop(step, pending, bound)
            elif isinstance(step.stmt, gast.With):
                pending = self._block(step.arms[0], pending, bound, None)
            else:
                self._simple(step, pending, bound)
                bound |= _written(step)
        if turn is not None and not ends_in_arms:
            pending = self._end_of_turn(steps, pending, turn, bound)
        return pending

    def _simple(self, step: Step, pending: set[str], bound: set[str]) -> None:
        """Walk a statement; `pending` is brought up to date."""
        if step.stmt is None:
            self._zeros(step, bound)
        self._keep_part(step)
        name = self.contents.grown(step)
        if name:
            cut = gast.Expr(grammar.call(f"{name}.pop"))
            if popped(step.stmt):
                value = grammar.loaded(step.stmt.targets[0])
                cut = gast.Expr(grammar.call(f"{name}.append", value))
                step.new.update(grammar.names_read(value))
            self.of(step).first.append(grammar.located(cut, step.stmt))
            step.old.add(name)
        written = _written(step)
        lost = sorted(n for n in written if n in pending or n in step.old)
        kept = self.of(step) if lost else None
        for name in lost:
            keep, give = self._keep(name, step.stmt)
            kept.before.append(keep)
            if name not in bound:
                # Some path comes here without it; there is nothing to keep, then.
                self.unbound.add(name)
            (kept.last if name in step.late else kept.first).append(give)
        pending -= written
        pending |= step.old - written
        pending |= step.new

    def _zeros(self, step: Step, bound: set[str]) -> None:
        """Take note of names read for their zeros, which no path need have bound."""
        self.unbound |= (step.old | step.new) - bound

    def _keep_part(self, step: Step) -> None:
        """Keep the part of an array that a statement writes over."""
        name = self.contents.overwritten(step)
        if not name:
            return
        target = getattr(step.stmt, "target", None) or step.stmt.targets[0]
        part = self.keeping(target)
        kept = self.of(step)
        step.old |= grammar.names_read(target) - {name}
        if not self._depth:
            saved = self.fresh(f"{name}_saved")
            kept.before.append(grammar.assign(saved, part, step.stmt))
            value: gast.AST = grammar.name(saved)
        else:
            # Not the stack of the variable: that one may be popped in another order.
            stack = self.stack(f"{name} in part")
            self.pushes[stack] = self.pushes.get(stack, 0) + 1
            push = gast.Expr(grammar.call(f"{stack}.append", part))
            kept.before.append(grammar.located(push, step.stmt))
            value = self.pop(f"{name} in part")
        # The array itself must be at hand for its part to be given back.
        step.old.add(name)
        kept.first.append(grammar.assign(grammar.clone(target), value, step.stmt))

    # -- branches ------------------------------------------------------------------
    def _if(
        self, step: Step, pending: set[str], bound: set[str], turn: Turn | None
    ) -> set[str]:
        self._zeros(step, bound)
        ends, bounds = [], []
        for arm in step.arms:
            inner = set(bound)
            ends.append(self._block(arm, pending, inner, turn))
            bounds.append(inner)
        leaving = [_breaks(arm) for arm in step.arms]
        certain = [b for b, leaves in zip(bounds, leaving, strict=True) if not leaves]
        certainly = set.intersection(*certain) if certain else bounds[0]
        for arm, end, leaves, inner in zip(
            step.arms, ends, leaving, bounds, strict=True
        ):
            for name in sorted((end & written_in(arm)) - certainly - bound):
                # Bound on this path alone: kept on it, and given back on it.
                if self._threatened(name) and not leaves:
                    if name not in inner:
                        self.unbound.add(name)
                    self._keep_at_end(arm, name)
                    end.discard(name)
        bound |= certainly
        after = ends[0] | ends[1]
        # What the arms give back is not at hand where one of them is chosen.
        inside = turn.written - turn.header if turn else set()
        return after | step.old | step.new | self._decide(step, pending - inside)

    def _decide(self, step: Step, pending: set[str]) -> set[str]:
        """Choose how the backward sweep finds the arm; returns what that reads."""
        if not any(self.runs_backward(arm) for arm in step.arms):
            return set()
        kept, test = self.of(step), step.stmt.test
        for arm, other in (step.arms, step.arms[::-1]):
            flag = _exit_flag(arm, self.flags)
            if flag is None:
                continue
            # Only the last turn left by this arm.
            reset = grammar.assign(flag, grammar.constant(False), step.stmt)
            arm.insert(0, Step(None, [reset]))
            kept.decision = grammar.name(flag)
            if arm is step.arms[1]:
                kept.decision = gast.UnaryOp(gast.Not(), kept.decision)
            del other
            return {flag}
        names = grammar.names_read(test)
        steady = all(n in pending or not self._threatened(n) for n in names)
        if (
            steady
            and not names & (written_in([step]) | changed_in([step]))
            and self.contents.lasting(step, names)
            and self.pure(test)
        ):
            kept.decision = grammar.clone(test)
            return names
        kept.test_name = self.fresh("branch")
        kept.decision = grammar.name(kept.test_name)
        if self._depth:
            kept.before.append(self._push(kept.test_name, step.stmt))
            kept.decision = self.pop(kept.test_name)
        return set()

    def runs_backward(self, steps: list[Step]) -> bool:
        """Whether the backward sweep has anything to do for some steps."""
        return any(
            s.adjoint
            or s.lead
            or (s in self.kept and (self.kept[s].first or self.kept[s].last))
            or any(self.runs_backward(arm) for arm in s.arms)
            for s in steps
        )

    # -- loops ---------------------------------------------------------------------
    def _loop(self, step: Step, pending: set[str], bound: set[str]) -> set[str]:
        self._zeros(step, bound)
        stmt = step.stmt
        written = written_in(step.arms[0])
        # A counter that its loop alone writes is given back by the reversed loop.
        counter = set(grammar.writes(stmt)) - written
        header = _read_at_head(step.arms[0], written)
        kept = self.of(step)
        kept.nested = bool(self._depth)
        for name in sorted(pending & ((written - header) | counter)):
            # Wanted by what stands before the loop, and by nothing in it.
            if name not in bound:
                self.unbound.add(name)
            keep, give = self._keep(name, stmt)
            kept.before.append(keep)
            kept.last.append(give)
            pending = pending - {name}
        self._counters |= counter
        self._depth += 1
        turn = Turn(written, header)
        end = self._block(step.arms[0], pending | header, bound | counter, turn)
        self._depth -= 1
        self._counters -= counter
        # Without a turn, what was pending before still is.
        pending = (pending | end | step.new | step.old) - counter
        if isinstance(stmt, gast.For):
            pending |= grammar.names_read(stmt.iter)
        return pending

    def _end_of_turn(
        self, steps: list[Step], pending: set[str], turn: Turn, bound: set[str]
    ) -> set[str]:
        """Keep what this turn made and its adjoint reads."""
        made = (pending & turn.written) - turn.header
        self.unbound |= made - bound
        for name in sorted(made):
            self._keep_at_end(steps, name)
        return pending - made

    def _keep_at_end(self, steps: list[Step], name: str) -> None:
        """Keep a name at the end of a block; give it back where the block begins.

        Where a path leaves the loop just before that end, only the others come there.
        """
        last = steps[-1] if steps else None
        if last is not None and _may_leave(last):
            for arm in last.arms:
                if not _breaks(arm):
                    self._keep_at_end(arm, name)
            test = self.of(last).decision
            if test is None or name in grammar.names_read(test):
                self._decide(last, set())
            return
        at = [s for s in steps if name in written_in([s])]
        end = Step(None)
        steps.insert(_length(steps), end)
        place = (
            at[-1].stmt
            if at
            else next((s.stmt for s in steps if s.stmt is not None), None)
        )
        keep, give = self._keep(name, place)
        if at and not at[-1].arms:
            self.of(at[-1]).after.append(keep)
        else:
            self.of(end).before.append(keep)
        self.of(end).first.append(give)


def changed_in(steps: list[Step]) -> set[str]:
    """The names whose arrays some steps write into."""
    found: set[str] = set()
    for step in steps:
        if step.stmt is not None:
            found.update(grammar.mutates(step.stmt))
        for arm in step.arms:
            found |= changed_in(arm)
    return found


def written_in(steps: list[Step]) -> set[str]:
    """The names that some steps write, those in their blocks included."""
    found: set[str] = set()
    for step in steps:
        found |= _written(step)
        for arm in step.arms:
            found |= written_in(arm)
    return found


def _written(step: Step) -> set[str]:
    return set() if step.stmt is None else set(grammar.writes(step.stmt))


def _breaks(arm: list[Step]) -> bool:
    """Whether an arm leaves its loop."""
    return bool(arm) and isinstance(arm[-1].stmt, (gast.Break, gast.Raise))


def _may_leave(step: Step) -> bool:
    """Whether a path through an `if` at the end of a block leaves the loop."""
    return isinstance(step.stmt, gast.If) and any(
        _breaks(arm) or (arm and _may_leave(arm[-1])) for arm in step.arms
    )


def _exit_flag(arm: list[Step], flags: set[str]) -> str | None:
    """The flag that an arm sets before it leaves its loop."""
    if not (arm and isinstance(arm[-1].stmt, gast.Break)):
        return None
    for step in arm:
        for n in _written(step) & flags:
            if (
                isinstance(step.stmt.value, gast.Constant)
                and step.stmt.value.value is True
            ):
                return n
    return None


def _length(steps: list[Step]) -> int:
    """Where the end of a block is: before a `break`."""
    return len(steps) - 1 if _breaks(steps) else len(steps)


def _read_at_head(steps: list[Step], written: set[str]) -> set[str]:
    """The names of `written` whose value at the head of a turn the adjoints read."""
    found: set[str] = set()

    def walk(steps: list[Step], current: set[str]) -> set[str]:
        for step in steps:
            found.update(current & step.old)
            if isinstance(step.stmt, gast.If):
                current = set().union(*[walk(arm, set(current)) for arm in step.arms])
            elif isinstance(step.stmt, (gast.For, gast.While)):
                # The body may not run, so nothing is certainly overwritten.
                walk(step.arms[0], current - _written(step))
            elif isinstance(step.stmt, gast.With):
                current = walk(step.arms[0], current)
            else:
                current = current - _written(step)
            found.update(current & step.new)
        return current

    walk(steps, set(written))
    return found
