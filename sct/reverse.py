"""Reverse mode: the forward sweep, the backward sweep, and how they are put together.

::

    def f(x, w):                  def f_grad(x, w, *, out_bar=1.0):
        y = np.sin(x)                 # Forward sweep.
        z = y * w          ──►        y = np.sin(x)
        return z
                                      # Backward sweep.
                                      # L3: z = y * w
                                      y_bar = out_bar * w
                                      w_bar = out_bar * y
                                      # L2: y = np.sin(x)
                                      x_bar = y_bar * np.cos(x)
                                      return x_bar, w_bar

`adjoint` gives the statements of the backward sweep, `storage` what is kept for them;
here they are put in order, with a comment that quotes the source above each group.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import gast

from sct import grammar
from sct.adjoint import Adjoints
from sct.context import Context, Step
from sct.recompute import recompute
from sct.storage import Kept, Storage

FORWARD = "Forward sweep."
BACKWARD = "Backward sweep."


@dataclass
class Sweeps:
    """The two sweeps of a function.

    Attributes
    ----------
    forward, backward : list
        Their statements.
    value : gast.AST
        What the primal returns, as an expression that holds after `forward`.
    bars : dict
        Name in `wrt` → the expression of its adjoint after `backward`.
    names : dict
        Name of the primal → name of its adjoint.
    wide : set of str
        The adjoints that have the whole shape of their primal when they are added to.
    numbers : set of str
        The names that count turns or hold a number out of an adjoint.
    """

    forward: list[gast.AST]
    backward: list[gast.AST]
    value: gast.AST
    bars: dict[str, gast.AST] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    wide: set[str] = field(default_factory=set)
    numbers: set[str] = field(default_factory=set)


def sweeps(
    context: Context,
    wrt: list[str],
    seed: str,
    storage: Storage,
    cheap: Callable[[gast.AST, bool], bool],
    restore: set[str],
) -> Sweeps:
    """Both sweeps of a function.

    Parameters
    ----------
    context : Context
        The function in ANF, prepared, and what is known of it.
    wrt : list of str
        The names at the function's beginning whose adjoints are asked for.
    seed : str
        The name of the adjoint of the result.
    storage : Storage
        Decides what is kept.
    cheap : callable
        ``cheap(stmt, in_loop)``: which assignments may be computed again.
    restore : set of str
        Those of `wrt` whose adjoints are to be the kind of container they are.
    """
    fn = context.fn
    returned = fn.body[-1]
    adjoints = Adjoints(context)
    last = adjoints.seed(returned, seed)
    steps = adjoints.block(fn.body[:-1])
    first, bars = adjoints.finish(fn, wrt, restore)
    steps = [first, *steps, last]
    storage.survey(steps)
    elsewhere = context.standing, context.untouched
    recompute(
        steps, cheap, storage.single(), storage.steady, *elsewhere, storage.groups
    )
    storage.record(fn, steps)
    arranged = _Arrangement(context, storage)
    forward = arranged.forward(steps)
    backward = arranged.backward(steps)
    births = [
        grammar.assign(stack, gast.List([], gast.Load()), fn)
        for stack in storage.stacks.values()
    ]
    births += [
        grammar.assign(n, grammar.constant(None), fn) for n in sorted(storage.unbound)
    ]
    wide = {b for n, b in adjoints.bar_names.items() if n not in adjoints.narrow}
    return Sweeps(
        [*births, *forward],
        backward,
        returned.value,
        bars,
        adjoints.bar_names,
        wide,
        {n for n in arranged.trips.values() if n} | adjoints.numbers,
    )


class _Arrangement:
    """Puts steps in order, once forward and once backward."""

    def __init__(self, context: Context, storage: Storage):
        self.source, self.storage = context.source, storage
        self.use, self.context = context.use, context
        self.trips: dict[Step, str] = {}

    # -- forward -------------------------------------------------------------------
    def forward(self, steps: list[Step]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for step in steps:
            kept = self.storage.kept.get(step) or Kept()
            if kept.test_name:
                out.append(grammar.assign(kept.test_name, step.stmt.test, step.stmt))
            out += kept.before
            op = self.context.operations.get(step.stmt)
            hidden = isinstance(step.stmt, gast.Return) or op and op.kind == "hook"
            if step.stmt is not None and not hidden:
                out += self._forward(step, kept)
            out += kept.after
        return out

    def _forward(self, step: Step, kept: Kept) -> list[gast.AST]:
        stmt = step.stmt
        if isinstance(stmt, grammar.Scatter):
            return [stmt.call(self.use("builtin", "slice"))]
        if not step.arms:
            return [self._replacing(stmt)]
        arms = [self.forward(arm) for arm in step.arms]
        if isinstance(stmt, gast.If):
            test = grammar.name(kept.test_name) if kept.test_name else stmt.test
            body = arms[0] or [grammar.located(gast.Pass(), stmt)]
            return [grammar.located(gast.If(test, body, arms[1]), stmt)]
        if isinstance(stmt, gast.With):
            return [grammar.located(gast.With(stmt.items, arms[0], None), stmt)]
        trips = self._count(step)
        lead, tail = [], []
        if trips:
            lead = [grammar.assign(trips, grammar.constant(0), stmt)]
            more = gast.BinOp(grammar.name(trips), gast.Add(), grammar.constant(1))
            arms[0].insert(0, grammar.assign(trips, more, stmt))
            if kept.nested:
                push = grammar.call(
                    f"{self.storage.stack(trips)}.append", grammar.name(trips)
                )
                tail = [grammar.located(gast.Expr(push), stmt)]
        if isinstance(stmt, gast.For):
            loop = gast.For(stmt.target, stmt.iter, arms[0], [], None)
        else:
            loop = gast.While(stmt.test, arms[0], [])
        return [*lead, grammar.located(loop, stmt), *tail]

    def _replacing(self, stmt: gast.AST) -> gast.AST:
        """``d[k] += e`` on what may be a container as ``d[k] = d[k] + e``.

        An array that stands there is not written into: what was kept of it, and the
        caller's own, stay as they are.
        """
        place = stmt.target if isinstance(stmt, gast.AugAssign) else None
        if not isinstance(place, (gast.Subscript, gast.Attribute)):
            return stmt
        if not self.context.containers.part(place) or self.context.number(place):
            return stmt
        old = grammar.clone(place)
        old.ctx = gast.Load()
        return grammar.assign(place, gast.BinOp(old, stmt.op, stmt.value), stmt)

    def _count(self, step: Step) -> str:
        """The name that counts a loop's turns; empty when nothing need be counted."""
        if step not in self.trips:
            self.trips[step] = ""
            if self.storage.runs_backward(step.arms[0]):
                counted = isinstance(step.stmt, gast.While) or _may_break(step.arms[0])
                if counted and (
                    self._driver(step) is None or self._counter_is_read(step)
                ):
                    self.trips[step] = self.storage.fresh("turns")
        return self.trips[step]

    def _driver(self, step: Step) -> str | None:
        """A stack that holds exactly one value for each turn of an outermost loop."""
        if self.storage.of(step).nested:
            return None
        for inner in step.arms[0]:
            kept = self.storage.kept.get(inner)
            for s in [*kept.before, *kept.after] if kept else []:
                if isinstance(s, gast.Expr) and isinstance(s.value, gast.Call):
                    stack = s.value.func.value.id
                    if self.storage.pushes.get(stack) == 1:
                        return stack
        return None

    def _counter_is_read(self, step: Step) -> bool:
        if not isinstance(step.stmt, gast.For):
            return False
        counter = step.stmt.target.id
        body = self.backward(step.arms[0])
        return any(counter in grammar.reads(s) for s in grammar.statements(body))

    # -- backward ------------------------------------------------------------------
    def backward(self, steps: list[Step]) -> list[gast.AST]:
        out: list[gast.AST] = []
        line = 0
        for step in reversed(steps):
            kept = self.storage.kept.get(step) or Kept()
            compound = self._backward(step, kept) if step.arms else []
            lead = [*step.lead, *kept.first, *step.adjoint]
            block = [*lead, *compound, *kept.last]
            if not block:
                continue
            if step.stmt is not None:
                number = step.stmt.lineno
                if compound:
                    # What stands before a reversed loop belongs to its line as well.
                    said = [] if self._made_up(step) else [self._comment(number)]
                    block = [*lead, *said, *compound, *kept.last]
                    line = 0
                elif number != line:
                    block.insert(0, self._comment(number))
                    line = number
            out += block
        return out

    def _made_up(self, step: Step) -> bool:
        """Whether an ``if`` on how a loop was left stands in no source."""
        test = step.stmt.test if isinstance(step.stmt, gast.If) else None
        return isinstance(test, gast.Name) and test.id in self.storage.flags

    def _comment(self, number: int) -> gast.AST:
        return grammar.Comment(f"L{number}: {self.source.line(number)}", lineno=number)

    def _backward(self, step: Step, kept: Kept) -> list[gast.AST]:
        stmt = step.stmt
        if not any(self.storage.runs_backward(arm) for arm in step.arms):
            return []
        arms = [self.backward(arm) for arm in step.arms]
        if isinstance(stmt, gast.With):
            return [
                grammar.located(
                    gast.With([grammar.clone(i) for i in stmt.items], arms[0], None),
                    stmt,
                )
            ]
        if isinstance(stmt, gast.If):
            test, (body, orelse) = kept.decision, arms
            if not body:
                test, body, orelse = gast.UnaryOp(gast.Not(), test), orelse, []
            return [grammar.located(gast.If(test, body, orelse), stmt)]
        return [grammar.located(self._reversed(step, kept, arms[0]), stmt)]

    def _reversed(self, step: Step, kept: Kept, body: list[gast.AST]) -> gast.AST:
        """The loop that retraces a loop."""
        stmt = step.stmt
        trips = self._count(step)
        if trips:
            count = self.storage.pop(trips) if kept.nested else grammar.name(trips)
            if isinstance(stmt, gast.While) or not self._counter_is_read(step):
                turns = grammar.call(self.use("builtin", "range"), count)
                return gast.For(grammar.name("_", store=True), turns, body, [], None)
            part = gast.Subscript(
                grammar.clone(stmt.iter), gast.Slice(None, count, None), gast.Load()
            )
            turns = grammar.call(self.use("builtin", "reversed"), part)
            return gast.For(grammar.clone(stmt.target), turns, body, [], None)
        if isinstance(stmt, gast.While) or _may_break(step.arms[0]):
            return gast.While(grammar.name(self._driver(step)), body, [])
        turns = grammar.clone(stmt.iter)
        if turns.func.id == "reversed":
            turns = turns.args[0]
        else:
            turns = grammar.call(self.use("builtin", "reversed"), turns)
        return gast.For(grammar.clone(stmt.target), turns, body, [], None)


def _may_break(steps: list[Step]) -> bool:
    """Whether a loop's own body may leave it."""
    return any(
        isinstance(s.stmt, gast.Break)
        or (isinstance(s.stmt, (gast.If, gast.With)) and any(map(_may_break, s.arms)))
        for s in steps
    )
