"""The adjoint of every statement, in the order of the program.

Each statement of the forward sweep becomes a `Step`: the statement, and beside it the
statements that the backward sweep runs for it.  Nothing is arranged yet: `storage`
decides what is kept for them, `reverse` puts the two sweeps together.

    L12: y = x * w     ⇒   x_bar = y_bar * w;  w_bar = y_bar * x

Adjoints are values, created by their first contribution::

    x_bar = e1             # the first
    x_bar = x_bar + e2     # any later one

Only an array that is read by subscript has a buffer (``x_bar[i] += y_bar``).  An
adjoint may for a while be *narrower* than its primal: the scalar that ``np.sum``
hands back stands for an array full of it.  `Fact.shape` of the adjoint says so, and
`_full` spreads it where an operation needs all of it.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from dataclasses import replace

import gast
import numpy as np

from sct import grammar, inline, names, templates
from sct.analysis import dataflow
from sct.analysis.cuts import CHOOSING, PRODUCTS, is_one_of, makes_zeros
from sct.analysis.masks import masks, pairs, sequences
from sct.analysis.shapes import NUMBER, Fact, normal
from sct.arguments import parameter_names
from sct.context import Context, Step
from sct.errors import SctError, unsupported
from sct.operations import FOUND, BindError, Operation, atoms, unwrap
from sct.refusals import COMPLEX, HOOKED, SLICED, held_constant, refusal, unfit
from sct.renaming import Captured
from sct.structures import PARTWISE, of_function
from sct.templates import JOINING

# Functions of the items of what they are given, be it a list or an array.
OF_ITEMS = (
    *(sum, max, min, *templates.OF_ITEMS.values()),
    *(np.stack, np.concatenate, np.array, np.asarray),
)
# Nothing but two vectors has a number for its product, nor anything but a matrix one
# for its determinant.
NUMBER_OF = ((operator.matmul, 1), (np.matmul, 1), (np.linalg.det, 2))


class Adjoints:
    """Builds the steps of a function.

    Parameters
    ----------
    context : Context
        The function in ANF and all that is known of it.
    """

    def __init__(self, context: Context):
        self.context = context
        self.bars: dict[str, Fact] = {}
        self.fresh: set[str] = set()
        self.buffered: set[str] = set()
        self.narrow: set[str] = set()
        # Names that may hold containers for all that is known of them here: functions
        # that take them apart give their adjoints.
        self.loose: set[str] = set()
        self.passed: set[str] = set()
        self.indexed = {
            n
            for op in context.operations.values()
            if op.callee is operator.getitem and op.kind == "rule"
            for n in op.operands
            if n not in context.structures
        }
        self.numeric = {
            n
            for op in context.operations.values()
            for n in _numeric_operands(op)
            if n not in context.structures
        }
        # Statement → the names it binds that are numbers or arrays on every path.
        self.certain = _certainly_numeric(context.fn, context.operations, self.numeric)
        self.bar_names: dict[str, str] = {}
        # What later adjoints read, by the names that hold it here.
        self.wanted: set[str] = set()
        # The parts of adjoints that are numbers.
        self.numbers: set[str] = set()
        # How many loops are around.
        self.turning = 0
        # The adjoints behind the loop that is at hand, and which are nobody else's.
        self.behind: tuple[dict[str, Fact], set[str]] = {}, set()
        self.masks = masks(context.fn, context.operations)
        self.sequences = sequences(context.fn, context.operations)
        self.pairs = pairs(context.fn, context.operations)
        # Names that are bound once, and by which adjoint their own are 0.
        self.single = _bound_once(context.fn) if context.cuts.adjoints else set()
        self.origins: dict[str, str] = {}
        # The names whose adjoints may have more digits than they have.
        self.widened: set[str] = set()
        # Adjoints must be contiguous, as their primals are, to be looked into likewise.
        self.reshaped = {
            grammar.root(place)
            for op in context.operations.values()
            for place in [op.arguments.get("place")]
            if grammar.reshapes(place)
        }

    def is_leaf(self, place: gast.AST) -> bool:
        """Whether a part of a container is read as a number or array, and only so."""
        root, depth = grammar.root(place), _depth(place)
        found = False
        if root in parameter_names(self.context.fn):
            # What is handed back is to have the shapes that were given.
            return False
        for stmt, op in self.context.operations.items():
            other = op.arguments.get("place")
            if other is None or grammar.root(other) != root or _depth(other) < depth:
                continue
            if _depth(other) > depth:
                return False
            if op.kind == "rule":
                found = True
                if not set(grammar.writes(stmt)) <= self.numeric:
                    return False
        return found

    # -- names ---------------------------------------------------------------------
    def bar(self, name: str) -> str:
        """The name of the adjoint of `name`."""
        if name not in self.bar_names:
            stem = name.rstrip("_") if name in self.context.temporary else name
            self.bar_names[name] = self._fresh(f"{stem}_bar")
        return self.bar_names[name]

    def _fresh(self, base: str) -> str:
        made = self.context.names.fresh(base)
        self.context.temporary.add(made)
        return made

    def _helper(self, name: str) -> str:
        return self.context.use("helper", name)

    # -- the ends of the function ---------------------------------------------------
    def seed(self, returned: gast.Return, seed: str) -> Step:
        """The step of the return: the adjoints of what is returned."""
        step = Step(returned)
        line = _Line(self, step)
        vary = self.context.activity.varied_at[dataflow.end(self.context.fn.body)]
        value = returned.value
        if isinstance(value, gast.Name):
            if value.id in vary and self._is_result(value.id, seed):
                self.bars[value.id] = line.fact(value.id)
            elif value.id in vary:
                line.add(value.id, grammar.name(seed), line.fact(value.id))
        elif isinstance(value, gast.Tuple):
            made = []
            for item in value.elts:
                alive = isinstance(item, gast.Name) and item.id in vary
                again = alive and item.id in self.bars
                if again:
                    made.append(self._fresh(f"{item.id}_inc"))
                elif alive:
                    made.append(self.bar(item.id))
                    self.bars[item.id] = line.fact(item.id)
                else:
                    made.append("_")
            if set(made) != {"_"}:
                parts = gast.Tuple(
                    [grammar.name(n, store=True) for n in made], gast.Store()
                )
                line.emit(parts, grammar.name(seed))
            for item, n in zip(value.elts, made, strict=True):
                if n.endswith("_inc") or "_inc_" in n:
                    line.add(item.id, grammar.name(n), line.fact(item.id))
        return step

    def _is_result(self, name: str, seed: str) -> bool:
        """Let the seed be the adjoint of a variable made to hold the result."""
        if name not in self.context.temporary or name in self.bar_names:
            return False
        self.bar_names[name] = seed
        return True

    def finish(
        self, fn: gast.FunctionDef, wrt: list[str], restore: set[str]
    ) -> tuple[Step, dict[str, gast.AST]]:
        """The step at the function's beginning, and the adjoints of the names `wrt`."""
        step = Step(None)
        facts = self.context.shapes.points[dataflow.start(fn.body)]
        line = _Line(self, step, facts=facts)
        for name in wrt:
            if name not in self.bars:
                line.zero(name, self.bars)
            elif not _is_whole(self.bars[name], facts, name):
                line.spread(name, self.bars)
            number = name in facts and facts[name].scalar
            if name in self.context.complexes or name in self.widened and not number:
                # Complex later on, or of double precision; what was given may not be.
                line.read(name)
                bar = grammar.name(self.bar(name))
                helper = self._helper("unbroadcast")
                line.emit(self.bar(name), grammar.call(helper, bar, grammar.name(name)))
            if name in restore:
                line.read(name)
                helper = self._helper("restored")
                bar = self.bar(name)
                line.emit(
                    bar, grammar.call(helper, grammar.name(bar), grammar.name(name))
                )
        return step, {n: grammar.name(self.bar(n)) for n in wrt}

    # -- blocks --------------------------------------------------------------------
    def block(self, body: list[gast.AST]) -> list[Step]:
        """The steps of a block; `bars` goes from its end to its beginning."""
        steps = [self._step(stmt) for stmt in reversed(body)]
        return steps[::-1]

    def _step(self, stmt: gast.AST) -> Step:
        if isinstance(stmt, gast.If):
            return self._if(stmt)
        if isinstance(stmt, (gast.For, gast.While)):
            return self._loop(stmt)
        if isinstance(stmt, gast.With):
            return Step(stmt, arms=[self.block(stmt.body)])
        operation = self.context.operations.get(stmt)
        targets = self.context.activity.targets.get(stmt, ())
        step = Step(stmt)
        if operation is not None and operation.kind == "hook":
            _Line(self, step).hook(operation)
        if operation is not None and targets:
            line = _Line(self, step)
            coming = bool(set(targets) & self.bars.keys())
            line.differentiate(operation, targets)
            line.make_sure(operation, stmt, coming)
        self.wanted = self.wanted - set(grammar.writes(stmt)) | step.old
        if operation is None or operation.kind not in ("store", "append"):
            # What the names were bound to before has nothing to do with what comes.
            for name in set(grammar.writes(stmt)) - set(self._own(operation)):
                self.bars.pop(name, None)
        return step

    def _own(self, operation: Operation | None) -> tuple[str, ...]:
        """The names that a statement reads as well: their adjoints were just made."""
        return () if operation is None else operation.operands

    def _if(self, stmt: gast.If) -> Step:
        step = Step(stmt)
        before = dataflow.before(stmt)
        wanted = sorted(self.context.activity.points[before])
        facts = self.context.shapes.points.get(before, {})
        coming, fresh = dict(self.bars), set(self.fresh)
        tails, results = [], []
        for body in (stmt.body, stmt.orelse):
            leaves = dataflow.end(body) not in self.context.activity.varied_at
            if body and isinstance(body[-1], gast.Break):
                # The last turn: the adjoints are those from behind the loop.
                here = self.context.shapes.points.get(dataflow.end(body), {})
                behind, self.fresh = self.behind[0], set(self.behind[1])
                self.bars = {n: here.get(n, f) for n, f in behind.items()}
            elif leaves:
                # Whatever is inside comes from elsewhere.
                self.bars, self.fresh = {}, set()
            else:
                alive = self.context.activity.points[dataflow.end(body)]
                self.bars = {n: f for n, f in coming.items() if n in alive}
                self.fresh = set(fresh)
            step.arms.append(self.block(body))
            if _raises(body):
                # Nothing comes back this way: what holds on the other path will do.
                self.bars, self.fresh = dict(coming), set(fresh)
            tails.append(_Line(self, Step(None), facts=facts))
            results.append((self.bars, self.fresh))
        # What one arm makes its own is not so in the other.
        self.fresh = set()
        written = grammar.all_writes([stmt])
        for name in wanted:
            for tail, (bars, owned) in zip(tails, results, strict=True):
                if name in bars:
                    continue
                if not stmt.orelse and name not in written:
                    # Zero unless the branch is taken.
                    _Line(self, step, facts=facts).zero(name, bars)
                else:
                    tail.zero(name, bars)
                owned.add(name)
            shapes = {bars[name].shape for bars, _ in results}
            if len(shapes) > 1:
                for tail, (bars, owned) in zip(tails, results, strict=True):
                    if not _is_whole(bars[name], facts, name):
                        tail.spread(name, bars)
                        owned.add(name)
        for arm, tail in zip(step.arms, tails, strict=True):
            if tail.step.adjoint:
                arm.insert(0, tail.step)
        self.bars = {n: results[0][0][n] for n in wanted}
        self.fresh = results[0][1] & results[1][1]
        return step

    def _loop(self, stmt: gast.For | gast.While) -> Step:
        activity, points = self.context.activity, self.context.shapes.points
        step = Step(stmt)
        head, exit_ = dataflow.before(stmt), dataflow.after(stmt)
        start, end = dataflow.start(stmt.body), dataflow.end(stmt.body)
        carried = sorted(activity.useful[head] & activity.varied_at[start])
        entry = _Line(self, step, facts=points.get(exit_, {}), new=True)
        self._settle(entry, carried)
        entry_bars, owned = dict(self.bars), set(self.fresh)
        outside, forced = self.buffered, set()
        around = self.behind
        self.turning += 1
        while True:
            self.buffered = set()
            self.bars = {
                n: points.get(end, {}).get(n, f) if n in carried else f
                for n, f in entry_bars.items()
            }
            self.fresh = set(owned)
            self.behind = dict(self.bars), set(owned)
            steps = self.block(stmt.body)
            tail = _Line(self, Step(None), facts=points[start])
            self._settle(tail, carried)
            # An array that the body adds into must be nobody else's in every turn.
            lost = (owned - self.fresh) & set(carried)
            missing = (self.buffered & set(carried)) - owned - forced
            if not lost and not missing:
                break
            owned -= lost
            for name in sorted(missing - lost):
                # What is bound in the loop alone may have no value behind it.
                entry.own(name, unbound=name not in points.get(head, {}))
                owned.add(name)
                forced.add(name)
        self.turning -= 1
        self.behind = around
        if tail.step.adjoint:
            steps.insert(0, tail.step)
        step.arms = [steps]
        self.buffered |= outside
        alive = activity.points[head]
        facts = points[head]
        self.bars = {n: facts.get(n, f) for n, f in self.bars.items() if n in alive}
        self.fresh &= owned
        return step

    def _settle(self, line: _Line, carried: list[str]) -> None:
        """Give every carried name an adjoint of its whole shape."""
        for name in carried:
            if name not in self.bars:
                line.zero(name, self.bars)
                self.fresh.add(name)
            elif not _is_whole(self.bars[name], line.before, name):
                line.spread(name, self.bars)


def _bound_once(fn: gast.FunctionDef) -> set[str]:
    """The names that one statement alone binds, in no loop or branch."""
    count: dict[str, int] = {}
    for s in grammar.statements(fn.body):
        for n in [*grammar.writes(s), *grammar.mutates(s)]:
            count[n] = count.get(n, 0) + 1
    straight = {n for s in fn.body for n in grammar.writes(s)}
    return {n for n, times in count.items() if times == 1 and n in straight}


def _numeric_operands(op: Operation) -> tuple[str, ...]:
    """What an operation reads as numbers or arrays."""
    if op.kind != "rule" or "place" in op.arguments or op.callee in OF_ITEMS:
        return ()
    return op.operands


def _certainly_numeric(
    fn: gast.FunctionDef,
    operations: Mapping[gast.AST, Operation],
    numeric: set[str],
) -> dict[gast.AST, set[str]]:
    """Statement → the names, of those `numeric`, that it binds to nothing else.

    These are read as numbers or arrays on every path that follows, if a loop takes
    any turn.
    """
    found: dict[gast.AST, set[str]] = {}

    def walk(body: list[gast.AST], read: set[str]) -> set[str]:
        """What is read in a block or behind it, from what is `read` behind it."""
        for stmt in reversed(body):
            bound = set(grammar.writes(stmt))
            if isinstance(stmt, gast.If):
                read = walk(stmt.body, read) & walk(stmt.orelse, read)
            else:
                found[stmt] = bound & read & numeric
                read = read - bound
                for inner in grammar.blocks(stmt):
                    read = walk(inner, read)
            if stmt in operations:
                read = read | set(_numeric_operands(operations[stmt]))
        return read

    walk(fn.body, set())
    return found


def _raises(body: list[gast.AST]) -> bool:
    """Whether every path through a block ends in an exception."""
    last = body[-1] if body else None
    if isinstance(last, gast.If):
        return _raises(last.body) and _raises(last.orelse)
    return isinstance(last, gast.Raise)


def _is_whole(bar: Fact, facts: dict[str, Fact], name: str) -> bool:
    """Whether an adjoint has the shape of its primal."""
    fact = facts.get(name)
    if fact is None:
        return bar.shape == facts_shape(facts, name)
    return bar.shape in (fact.shape, fact.raw)


def facts_shape(facts: dict[str, Fact], name: str) -> frozenset:
    """The shape of a name; one of its own when nothing is known."""
    return facts[name].shape if name in facts else frozenset([("unknown", name)])


class _Line:
    """Writes the adjoint of one step."""

    def __init__(self, adjoints: Adjoints, step: Step, facts=None, new=False):
        self.owner, self.step, self.new = adjoints, step, new
        self.context = adjoints.context
        self.operation = self.context.operations.get(step.stmt)
        self.coming: dict[str, Fact] = {}
        self.reached: set[str] = set()
        shapes = self.context.shapes
        self.before = shapes.operands.get(step.stmt, {}) if facts is None else facts
        self.after = shapes.targets.get(step.stmt, {}) if facts is None else facts

    # -- pieces --------------------------------------------------------------------
    def emit(self, target: str | gast.AST, value: gast.AST, lead: bool = False) -> None:
        block = self.step.lead if lead else self.step.adjoint
        block.append(grammar.assign(target, value, self.step.stmt))

    def read(self, *names: str, new: bool = False, lead: bool = False) -> None:
        new = new or self.new
        (self.step.new if new else self.step.old).update(names)
        self.owner.wanted.update(names)
        if new and not lead:
            self.step.late.update(names)

    def fact(self, name: str) -> Fact:
        return self.before.get(name) or Fact(facts_shape(self.before, name))

    def result(self, name: str) -> Fact:
        return self.after.get(name) or Fact(facts_shape(self.after, name))

    def zero_of(self, name: str, fact: Fact) -> gast.AST:
        """An additive zero for `name`."""
        if fact.scalar:
            return grammar.constant(0.0)
        self.read(name)
        array = fact.array or name in self.owner.indexed
        if array and name not in self.context.structures:
            return grammar.call(
                f"{self.context.use('module', 'numpy')}.zeros_like", grammar.name(name)
            )
        return grammar.call(self._zero_helper(name), grammar.name(name))

    def _zero_helper(self, name: str) -> str:
        """The helper that makes zeros for a name, or for a part of it."""
        whole = name in self.context.structures
        return self.owner._helper("zero_structure" if whole else "zero_like")

    def zero(self, name: str, bars: dict[str, Fact]) -> None:
        """``x_bar = 0``."""
        fact = self.fact(name)
        self.emit(self.owner.bar(name), self.zero_of(name, fact))
        bars[name] = fact

    def spread(self, name: str, bars: dict[str, Fact], new: bool = False) -> None:
        """Make a narrow adjoint as large as its primal."""
        bar = self.owner.bar(name)
        fact = self.result(name) if new else self.fact(name)
        if fact.scalar and self.context.numbers:
            numpy = self.context.use("module", "numpy")
            self.emit(bar, grammar.call(f"{numpy}.sum", grammar.name(bar)), lead=new)
        else:
            self.read(name, new=new, lead=new)
            # The adjoint of a result is only read, so it may be what it was.
            kept = new or fact.scalar
            helper = self.owner._helper("unbroadcast" if kept else "broadcast_like")
            value = grammar.call(helper, grammar.name(bar), grammar.name(name))
            self.emit(bar, value, lead=new)
        bars[name] = fact
        if not new:
            self.owner.fresh.add(name)

    def own(self, name: str, new: bool = False, unbound: bool = False) -> None:
        """Make an adjoint an array that nothing else refers to.

        It is like the value that the statement reads, or the `new` one that it leaves,
        and None where that is `unbound`.
        """
        bar = self.owner.bar(name)
        if name in self.context.structures or unbound:
            self.read(name, new=new, lead=new)
            zero = grammar.call(self._zero_helper(name), grammar.name(name))
            whole = grammar.call(self.owner._helper("added"), zero, grammar.name(bar))
            self.emit(bar, whole, lead=new)
        elif name in self.owner.reshaped:
            numpy = self.context.use("module", "numpy")
            order = grammar.constant("C")
            self.emit(
                bar, grammar.call(f"{numpy}.array", grammar.name(bar), order=order)
            )
        else:
            self.emit(bar, grammar.call(f"{bar}.copy"))
        self.owner.fresh.add(name)

    # -- contributions -------------------------------------------------------------
    def add(
        self, name: str, value: gast.AST, fact: Fact, at_end: list | None = None
    ) -> None:
        """``x_bar = value`` the first time, ``x_bar = x_bar + value`` later."""
        bar = self.owner.bar(name)
        bars = self.owner.bars
        self.reached.add(name)
        value = self._narrowed(name, value)
        if name in bars:
            if not _is_whole(bars[name], self.before, name):
                self.owner.narrow.add(name)
            if name in self.context.structures or name in self.owner.loose:
                value = grammar.call(
                    self.owner._helper("added"), grammar.name(bar), value
                )
            else:
                value = gast.BinOp(grammar.name(bar), gast.Add(), value)
            fact = Fact(normal(bars[name].shape | fact.shape), None, array=fact.array)
            made = True
        else:
            made = isinstance(value, (gast.BinOp, gast.UnaryOp))
        if made and name not in self.owner.reshaped:
            self.owner.fresh.add(name)
        else:
            self.owner.fresh.discard(name)
        if not grammar.is_name(value, bar):
            self.emit(bar, value)
        bars[name] = fact

    def _narrowed(self, name: str, value: gast.AST) -> gast.AST:
        """The real part of what a complex result hands to a real operand."""
        stmt, complexes = self.step.stmt, self.context.complexes
        if stmt is None or name in complexes or not complexes:
            return value
        if not complexes & {*grammar.writes(stmt), *grammar.mutates(stmt)}:
            return value
        if self.operation.kind == "call":
            # The derivative of what is called has seen to it.
            return value
        if name in self.context.structures:
            node = self.operation.node
            raise unsupported(self.context.source, node, "this call", *COMPLEX)
        self.read(name)
        helper = self.owner._helper("unbroadcast")
        if isinstance(value, gast.Call) and grammar.is_name(value.func, helper):
            return value
        return grammar.call(helper, value, grammar.name(name))

    def differentiate(self, op: Operation, targets: tuple[str, ...]) -> None:
        """The adjoint of the step's statement, whose active targets are `targets`."""
        stmt = self.step.stmt
        active = self.context.activity.operands[stmt]
        bars = self.owner.bars
        if op.kind == "store":
            self._store(op, active)
            return
        if op.kind == "append":
            self._append(op, active)
            return
        if op.kind == "pop":
            self._pop(op)
            return
        coming = {t: bars.pop(t) for t in targets if t in bars}
        if not coming:
            return
        self.coming = coming
        if self.context.activity.blocked.get(stmt):
            raise self.unfit(op)
        if op.kind == "opaque":
            raise self.refuse(op)
        try:
            if isinstance(stmt.targets[0], gast.Tuple):
                self._unpack(op, coming, active)
            elif op.kind == "copy":
                (target,) = coming
                self._contribute_all(
                    [
                        (
                            op.operands[0],
                            grammar.name(self.owner.bar(target)),
                            coming[target],
                        )
                    ],
                    coming,
                )
            elif op.kind == "tuple":
                (target,) = coming
                self._display(op, target, active)
            elif op.kind == "rule":
                (target,) = coming
                self._rule(op, target, coming[target], active)
            elif op.kind == "call":
                (target,) = coming
                seed = self._seed(target, coming[target])
                self._call(op, seed, active)
            else:
                raise self.refuse(op)
        except BindError as e:
            raise unfit(self.context.source, op, str(e.args[0])) from None

    def hook(self, op: Operation) -> None:
        """The block of a `sct.grad_of`, which may change the adjoint."""
        variable, *others = op.node.args
        source, hook = self.context.source, op.callee
        if (
            not isinstance(variable, gast.Name)
            or variable.id in self.context.structures
        ):
            raise unsupported(source, self.step.stmt, *HOOKED)
        if variable.id not in self.owner.bars:
            # No adjoint comes here.
            return
        name = variable.id
        if not _is_whole(self.owner.bars[name], self.before, name):
            self.spread(name, self.owner.bars)
        if hook.writes and name not in self.owner.fresh:
            self.own(name)
        try:
            bar = self.owner.bar(name)
            body = hook.statements(bar, [variable, *others], self.owner._fresh)
        except Captured:
            raise unsupported(source, self.step.stmt, *HOOKED) from None
        fn = self.context.fn
        local = grammar.all_writes(fn.body) | set(parameter_names(fn))
        read = {n for s in grammar.statements(body) for n in grammar.reads(s)}
        self.read(*read & local)
        self.step.adjoint += [grammar.located(s, self.step.stmt) for s in body]
        self.owner.fresh.discard(name)

    def make_sure(self, op: Operation, stmt: gast.AST, coming: bool) -> None:
        """Refuse a statement of which some operand got no adjoint."""
        active = set(self.context.activity.operands[stmt])
        if op.kind in ("store", "append"):
            active.discard(op.operands[0])
        if coming and active - self.reached:
            raise self.refuse(op)

    def unfit(self, op: Operation) -> Exception:
        """The error for a call that its rule does not fit."""
        if op.problem:
            return unfit(self.context.source, op, op.problem)
        active = self.context.activity.operands[self.step.stmt]
        return held_constant(self.context.source, op, active)

    def refuse(self, op: Operation) -> Exception:
        """The error for an operation that has no derivative."""
        return refusal(self.context.source, op)

    def _contribute_all(self, parts, coming) -> None:
        """Add ``(name, expression, fact)`` parts, those of an overwritten name last.

        The expressions may read the adjoint of the target, so that one is replaced
        only when nothing reads it any more.
        """
        sums: dict[str, tuple[gast.AST, Fact]] = {}
        if self.owner.widened & set(coming):
            narrows = self.owner._helper("unbroadcast")
            self.owner.widened.update(
                name
                for name, value, _ in parts
                if not grammar.is_name(getattr(value, "func", None), narrows)
            )
        for name, value, fact in parts:
            if name in sums:
                first, f = sums[name]
                value = self._together(first, value)
                fact = Fact(
                    normal(fact.shape | f.shape), None, array=fact.array or f.array
                )
            sums[name] = value, fact
        if self.context.cuts.adjoints:
            self._note_origins(sums, coming)
        # Those that begin last: the adjoint read here may be on its way to one of them.
        order = sorted(sums, key=lambda n: (n in coming, n not in self.owner.bars))
        for name in order:
            self.add(name, *sums[name])

    def _note_origins(self, names, coming) -> None:
        """Note where the zeros in the adjoints of some names come from.

        Element by element they are those of the adjoint that they are made of, back to
        where elements are chosen; a product that happens to be 0 there is no such zero.
        """
        owner, op = self.owner, self.operation
        origin = None
        if len(coming) == 1 and op is not None and op.kind in ("rule", "copy"):
            (target,) = coming
            passed = op.kind == "copy" or op.rule.pointwise and not makes_zeros(op)
            passed = passed and self.step.stmt not in self.context.cuts.masked
            if passed and target in owner.single:
                origin = owner.origins.get(target, target)
        for name in names:
            again = name in owner.bars or name not in owner.single
            if (
                origin
                and not again
                and self.fact(name).shape == self.result(target).shape
            ):
                owner.origins[name] = origin
            else:
                owner.origins[name] = name

    def _together(self, first: gast.AST, second: gast.AST) -> gast.AST:
        """The sum of two contributions, cut at once where both are cut alike."""
        calls = isinstance(first, gast.Call) and isinstance(second, gast.Call)
        if calls and all(
            grammar.is_name(c.func, self.owner._helper("cut")) for c in (first, second)
        ):
            (a, bar), (b, other) = first.args, second.args
            if grammar.is_name(bar) and grammar.is_name(other, bar.id):
                total = gast.BinOp(a, gast.Add(), b)
                return gast.Call(first.func, [total, bar], [])
        return gast.BinOp(first, gast.Add(), second)

    # -- rules ---------------------------------------------------------------------
    def _rule(self, op: Operation, target: str, coming: Fact, active) -> None:
        bar = grammar.name(self.owner.bar(target))
        if "place" in op.arguments:
            place = op.arguments["place"]
            back = _squeezed(place, bar)
            if back is not None and self._takes_all(place.value.id, target, coming):
                name = place.value.id
                self._contribute_all([(name, back, self.fact(name))], {target: coming})
            else:
                self._accumulate(place, bar, {target})
            return
        result = self.result(target)
        full = op.rule.full
        if isinstance(full, str):
            given = op.arguments.get(full)
            full = given is not None and not (
                isinstance(given, gast.Constant) and given.value is None
            )
        if full:
            coming = self._widen(target, coming, result)
        if target in self.owner.passed:
            result = replace(result, shape=coming.shape)
        parts = self._parts(op, bar, grammar.name(target), active)
        if op.rule.pointwise and any(self._short(part, result) for part in parts):
            coming = self._widen(target, coming, result)
            parts = self._parts(op, bar, grammar.name(target), active)
        if op.rule.pointwise:
            widens = op.rule.widens
            parts = [self._unbroadcast(part, result, widens) for part in parts]
        if self._gains_digits(op, target, coming):
            self.owner.widened.add(target)
        self._contribute_all(parts, {target: coming})

    def _gains_digits(self, op: Operation, target: str, coming: Fact) -> bool:
        """Whether a number that stands for an adjoint makes an array of its own here.

        In ``np.where(test, 1.0, 0.0)`` nothing tells of what precision it should be.
        """
        if _is_whole(coming, self.after, target) or coming.shape:
            return False
        if is_one_of(op, PRODUCTS):
            return any(self.owner.masks & set(atoms(a)) for a in op.arguments.values())
        return op.rule.pointwise and is_one_of(op, CHOOSING)

    def _takes_all(self, name: str, target: str, coming: Fact) -> bool:
        """Whether a target is all of an array, and its adjoint of its whole shape."""
        part = name in self.context.structures or self.fact(name).scalar
        return not part and _is_whole(coming, self.after, target)

    def _widen(self, target: str, coming: Fact, result: Fact) -> Fact:
        """Spread the adjoint of the target over its whole shape."""
        if _is_whole(coming, self.after, target):
            return coming
        if target in self.owner.passed:
            return coming
        self.coming[target] = coming
        self.spread(target, self.coming, new=True)
        return self.coming[target]

    def _parts(self, op, bar, out, active):
        """The contributions of a rule: ``(operand, expression, fact)``."""
        rule = op.rule
        wanted = {p for p in rule.wrt if set(atoms(op.arguments.get(p))) & set(active)}
        values = {**op.arguments, "out": out, "out_bar": bar}
        statements, expressions = inline.instantiate(
            rule,
            values,
            wanted,
            rank=lambda node: self._rank(op, node, out),
            is_complex=self.context.may_be_complex,
            nearer=self._nearer,
            fresh=lambda wish: self.owner._fresh(self._local(wish, op)),
            is_square=lambda node: self.context.squared(node, self.step.stmt),
            outer=self.context.outer,
        )
        known = functools.partial(self._is_array, bar, out)
        statements = self.context.spell(statements, op, known)
        said = list(expressions.values())
        said = self.context.spell(said, op, known)
        expressions = dict(zip(expressions, said, strict=True))
        expressions = self._cut(statements, expressions, bar)
        given = {n for a in op.arguments.values() for n in grammar.names_read(a)}
        self._note_reads(statements, expressions, set(atoms(out)) - given)
        for s in statements:
            self.step.adjoint.append(grammar.located(s, self.step.stmt))
        parts = []
        for p, e in expressions.items():
            operand = op.arguments[p]
            if isinstance(operand, gast.Name):
                # A rule that takes the whole adjoint gives the whole adjoint.
                whole = operand.id in self.context.structures
                full = whole or rule.full is True
                fact = self.fact(operand.id) if full else self._infer(e, statements)
                if op.callee in PARTWISE:
                    # Its adjoint has the parts that the operand has.
                    pass
                elif whole and isinstance(e, (gast.Tuple, gast.List)):
                    e = gast.List(e.elts, gast.Load())
                elif operand.id in self.context.containers.possible:
                    helper = self.owner._helper("itemised")
                    e = grammar.call(helper, e, grammar.name(operand.id))
                    self.read(operand.id)
                elif whole and op.callee in JOINING:
                    e = grammar.call(self.context.use("builtin", "list"), e)
                elif whole and op.callee not in (list, tuple):
                    helper = self.owner._helper("itemised")
                    e = grammar.call(helper, e, grammar.name(operand.id))
                    self.read(operand.id)
                parts.append((operand.id, e, fact))
            else:
                parts += self._spread_list(operand, e, active)
        return parts

    def _is_array(self, bar: gast.AST, out: gast.AST, node: gast.AST) -> bool:
        """Whether what a rule reads certainly is an array with axes."""
        same = grammar.is_name(node) and grammar.is_name(bar, node.id)
        if same and grammar.is_name(out):
            fact = self.result(out.id)
        else:
            fact = self.context.inference.fact(node, self.before)
        return fact.array or bool(fact.rank)

    def _rank(self, op: Operation, node: gast.AST, out: gast.AST) -> int | None:
        """The rank of an operand, None where it is not known."""
        for function, rank in NUMBER_OF:
            if op.callee is function and grammar.is_name(out):
                if self.result(out.id).scalar:
                    return rank
        return self.context.inference.fact(node, self.before).rank

    def _local(self, wish: str, op: Operation) -> str:
        """What to call a local of a rule: the part of an adjoint that it stands for."""
        operand = op.arguments.get(wish.removesuffix("_bar"))
        if not isinstance(operand, gast.Name) or not wish.endswith("_bar"):
            return wish
        made = operand.id in self.context.temporary
        return f"{_stem(operand)}_{'bar' if made else 'inc'}"

    def _nearer(self, value: gast.AST, other: gast.AST) -> bool:
        """Whether an adjoint reads `value` anyway, or finds it where it was stored.

        In a loop it may be computed again, which takes the other one all the same.
        """
        if isinstance(other, gast.Constant) or not isinstance(value, gast.Name):
            return False
        wanted = value.id in self.owner.wanted and not self.owner.turning
        return wanted or value.id in self.context.standing

    def _cut(self, statements, expressions, bar):
        """The adjoints of operands, 0 where that of the result is and they are nan."""
        infinite = self.context.cuts.adjoints.get(self.step.stmt)
        if not infinite:
            return expressions
        (target,) = self.coming
        origin = self.owner.origins.get(target, target)
        zeros = bar if origin == target else grammar.name(self.owner.bar(origin))
        before = {n for s in statements for n in grammar.names_read(s)}
        return {
            p: grammar.call(self.owner._helper("cut"), e, grammar.clone(zeros))
            if infinite & {"*", *before, *grammar.names_read(e)}
            else e
            for p, e in expressions.items()
        }

    def _note_reads(self, statements, expressions, outs: set[str]) -> None:
        read = {n for s in grammar.statements(statements) for n in grammar.reads(s)}
        read |= {n for e in expressions.values() for n in grammar.names_read(e)}
        made = grammar.all_writes(statements)
        known = self.before.keys() | self.after.keys()
        for n in sorted(read - made):
            if n in outs:
                self.read(n, new=True)
            elif n in known:
                self.read(n)

    def _infer(self, e, statements) -> Fact:
        env = dict(self.before)
        env.update(self.after)
        for n, f in self.owner.bars.items():
            env[self.owner.bar(n)] = f
        for n, f in self.coming.items():
            env[self.owner.bar(n)] = f
            env.setdefault(self.owner.bar(self.owner.origins.get(n, n)), f)
        for s in statements:
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                env[s.targets[0].id] = self.context.inference.fact(s.value, env)
        return self.context.inference.fact(e, env)

    def _spread_list(self, operand, e, active):
        """One contribution for each active element of a list operand."""
        leaves = [(p, n) for p, n in _leaves(operand) if n in active]
        nested = any(len(path) > 1 for path, _ in leaves)
        if len(leaves) == 1 or nested:
            if len(leaves) > 1 and not isinstance(e, gast.Name):
                held = self.owner._fresh("parts_bar")
                self.emit(held, e)
                e = grammar.name(held)
            parts = []
            for path, name in leaves:
                index = [grammar.constant(i) for i in path]
                keys = [index[0] if len(index) == 1 else gast.Tuple(index, gast.Load())]
                item = grammar.clone(e)
                for key in index if self.operation.callee is np.block else keys:
                    known = isinstance(item, gast.Tuple) and key in index
                    item = (
                        item.elts[key.value]
                        if known
                        else gast.Subscript(item, key, gast.Load())
                    )
                parts.append((name, item, self.fact(name)))
            return parts
        targets, parts = [], []
        live = dict(leaves)
        for i in range(len(operand.elts)):
            name = live.get((i,))
            made = (
                self.owner._fresh(f"{_stem(grammar.name(name))}_inc") if name else "_"
            )
            targets.append(grammar.name(made, store=True))
            if name:
                parts.append((name, grammar.name(made), self.fact(name)))
        self.emit(gast.Tuple(targets, gast.Store()), e)
        return parts

    # -- broadcasting --------------------------------------------------------------
    def _short(self, part, result: Fact) -> bool:
        """Whether a sum over broadcast axes would miss repetitions.

        The expression and the operand together must span the result: a factor that
        stands for many equal ones would be counted once.
        """
        name, _, fact = part
        own = self.fact(name).shape
        return own != result.shape and normal(own | fact.shape) != result.shape

    def _unbroadcast(self, part, result: Fact, widens: bool = False):
        name, value, fact = part
        own = self.fact(name)
        if own.shape == result.shape and not widens:
            return name, value, fact
        if name in self.context.passing and result.shape <= fact.shape:
            self.owner.passed.add(name)
            return part
        numpy = self.context.use("module", "numpy")
        # Not everywhere is there a sum of a number.
        if own.scalar and (self.context.numbers or fact.array or fact.rank):
            return name, grammar.call(f"{numpy}.sum", value), NUMBER
        if len(own.shape) == 1:
            (root,) = own.shape
            if isinstance(root, tuple) and root[0] == "kept" and root[1] == fact.shape:
                keywords = {"keepdims": grammar.constant(True)}
                if root[2] is not None:
                    keywords = {"axis": grammar.clone(root[2].node), **keywords}
                return name, grammar.call(f"{numpy}.sum", value, **keywords), own
        self.read(name)
        helper = self.owner._helper("unbroadcast")
        return name, grammar.call(helper, value, grammar.name(name)), own

    # -- subscripts ----------------------------------------------------------------
    def _accumulate(
        self, place: gast.AST, value: gast.AST, dying: set[str], part: str = ""
    ) -> None:
        """``x_bar[index] += value``, in a buffer like `x` that nobody shares.

        `part` is the name that is given to the part.
        """
        owner = self.owner
        name = grammar.root(place)
        self.reached.add(name)
        bar = owner.bar(name)
        fact = self.fact(name)
        if not (fact.array or name in owner.indexed | self.context.structures):
            owner.loose.add(name)
        fact = replace(fact, array=name not in self.context.structures)
        empty = name not in owner.bars
        if name in dying:
            # `x = x[1:]`: the adjoint of the new x goes into the buffer of the old.
            value_name = owner._fresh(f"{_stem(grammar.name(name))}_inc")
            self.emit(value_name, value)
            value = grammar.name(value_name)
        owner.buffered.add(name)
        if empty:
            self.read(name)
            self.emit(bar, self.zero_of(name, fact))
        elif not _is_whole(owner.bars[name], self.before, name):
            self.spread(name, owner.bars)
        elif name not in owner.fresh:
            self.own(name)
        owner.fresh.add(name)
        owner.bars[name] = fact
        self.read(
            *(n for n in grammar.names_read(place) if n in self.before and n != name)
        )
        part = part or self._part_name()
        held = name in self.context.structures
        # What may be a container itself is added part by part; and what nobody reads
        # may be None.
        whole = part in owner.loose
        whole = whole or held and part not in owner.certain.get(self.step.stmt, ())
        index = getattr(place, "slice", None)
        several = isinstance(index, gast.Slice) or whole and grammar.is_name(index)
        if isinstance(place, gast.Subscript) and (
            held and several or not self._distinct_path(place)
        ):
            call = grammar.call(
                owner._helper("add_at"),
                _renamed_root(place.value, bar, gast.Load()),
                self._as_argument(place.slice),
                value,
            )
            self.step.adjoint.append(grammar.located(gast.Expr(call), self.step.stmt))
            return
        if getattr(place, "attr", "") == "T" or grammar.is_view(place):
            # No name that could be bound: what it looks into is added to.
            place = gast.Subscript(place, grammar.constant(Ellipsis), gast.Load())
        target = _renamed_root(place, bar, gast.Store())
        if whole:
            old = _renamed_root(place, bar, gast.Load())
            self.emit(target, grammar.call(owner._helper("added"), old, value))
        elif empty and isinstance(place, gast.Subscript) and not held:
            self.emit(target, value)
        else:
            add = gast.AugAssign(target, gast.Add(), value)
            self.step.adjoint.append(grammar.located(add, self.step.stmt))

    def _part_name(self) -> str:
        """The name that the step's statement gives to the part it takes."""
        written = grammar.writes(self.step.stmt)
        return written[0] if len(written) == 1 else ""

    def _display(self, op: Operation, target: str, active) -> None:
        """``t = (a, b)``: ``a_bar += t_bar[0]``."""
        bar = self.owner.bar(target)
        keys, parts = op.arguments["keys"].elts, op.arguments["parts"].elts
        self._contribute_all(
            [
                (
                    e.id,
                    gast.Subscript(grammar.name(bar), grammar.clone(k), gast.Load()),
                    self.fact(e.id),
                )
                for k, e in zip(keys, parts, strict=True)
                if isinstance(e, gast.Name) and e.id in active
            ],
            {target: self.coming[target]},
        )

    def _append(self, op: Operation, active) -> None:
        """``l.append(v)``: ``v_bar += l_bar.pop()``."""
        owner = self.owner
        name, value = op.operands[0], op.arguments["value"]
        if name not in owner.bars:
            return
        owner.buffered.add(name)
        if name not in owner.fresh:
            self.own(name, new=True)
        part = grammar.call(f"{owner.bar(name)}.pop")
        if set(atoms(value)) & set(active):
            given = owner._fresh("item_bar")
            self.emit(given, part)
            if isinstance(value, gast.Name):
                self.add(value.id, grammar.name(given), self.fact(value.id))
            else:
                for name, item, fact in self._spread_list(
                    value, grammar.name(given), active
                ):
                    self.add(name, item, fact)
        else:
            self.step.adjoint.append(grammar.located(gast.Expr(part), self.step.stmt))

    def _pop(self, op: Operation) -> None:
        """``x = l.pop()``: ``l_bar.append(x_bar)``."""
        owner, (name,) = self.owner, op.operands
        self.reached.add(name)
        if name not in owner.bars:
            # As the list is after it, before what was taken is put back.
            self.read(name, new=True, lead=True)
            zero = grammar.call(self._zero_helper(name), grammar.name(name))
            self.emit(owner.bar(name), zero, lead=True)
            owner.bars[name] = self.fact(name)
            owner.fresh.add(name)
        owner.buffered.add(name)
        if name not in owner.fresh:
            self.own(name, new=True)
        values = []
        for target in grammar.writes(self.step.stmt):
            if target in owner.bars:
                values.append(self._seed(target, owner.bars.pop(target)))
            else:
                values.append(self.zero_of_new(target))
        whole = isinstance(self.step.stmt.targets[0], gast.Name)
        value = values[0] if whole else gast.Tuple(values, gast.Load())
        push = grammar.call(f"{owner.bar(name)}.append", value)
        self.step.adjoint.append(grammar.located(gast.Expr(push), self.step.stmt))

    def _store(self, op: Operation, active) -> None:
        """``y[i] = v``: ``v_bar += y_bar[i]``, and ``y_bar[i] = 0``."""
        stmt, owner = self.step.stmt, self.owner
        name, place = op.operands[0], op.arguments["place"]
        value = op.arguments["value"]
        if name not in owner.bars:
            return
        if self.context.containers.sliced(place):
            source = self.context.source
            raise unsupported(source, stmt, "this assignment", *SLICED)
        owner.buffered.add(name)
        if not _is_whole(owner.bars[name], self.before, name):
            self.spread(name, owner.bars)
        elif name not in owner.fresh:
            self.own(name)
        owner.fresh.add(name)
        self.read(
            *(n for n in grammar.names_read(place) if n in self.before and n != name)
        )
        part = _renamed_root(place, owner.bar(name), gast.Load())
        content = grammar.clone(place)
        content.ctx = gast.Load()
        fact = self.context.inference.fact(content, self.before)
        adds = isinstance(stmt, gast.AugAssign)
        moves = isinstance(value, gast.Name) and value.id in active
        if moves:
            if not adds and not self._distinct_path(place):
                part = grammar.call(
                    owner._helper("stored_at"),
                    _renamed_root(place.value, owner.bar(name), gast.Load()),
                    grammar.as_argument(
                        place.slice, self.context.use("builtin", "slice")
                    ),
                )
            elif not fact.scalar or not self.context.numbers:
                part = self._out_of_reach(part, place, adds)
            given = owner._fresh("rhs_bar")
            if fact.scalar:
                owner.numbers.add(given)
            self.emit(given, part)
        if not adds:
            target = _renamed_root(place, owner.bar(name), gast.Store())
            self.emit(target, self._cleared(place, fact))
        if moves:
            part = grammar.name(given)
            if adds and isinstance(stmt.op, gast.Sub):
                part = gast.UnaryOp(gast.USub(), part)
            if value.id in self.context.structures or stmt in self.context.exact:
                fact = self.fact(value.id)
            else:
                _, part, fact = self._unbroadcast((value.id, part, fact), fact)
            self.add(value.id, part, fact)

    def _out_of_reach(self, part: gast.AST, place: gast.AST, adds: bool) -> gast.AST:
        """The adjoint of a part, whatever becomes of the place where it stands."""
        containers = self.context.containers
        if containers.entry(place) and not adds:
            return part
        if containers.part(place):
            # A number or an array: both have a positive.
            return gast.UnaryOp(gast.UAdd(), part)
        return gast.Call(gast.Attribute(part, "copy", gast.Load()), [], [])

    def _cleared(self, place: gast.AST, fact: Fact) -> gast.AST:
        """The adjoint of what a store took the place of."""
        containers = self.context.containers
        if fact.scalar or not containers.part(place) or self.owner.is_leaf(place):
            return grammar.constant(0.0)
        self.read(grammar.root(place))
        old = grammar.clone(place)
        old.ctx = gast.Load()
        return grammar.call(self._zero_helper(grammar.root(place)), old)

    def _as_argument(self, index: gast.AST) -> gast.AST:
        return grammar.as_argument(index, self.context.use("builtin", "slice"))

    def _distinct_path(self, place: gast.AST) -> bool:
        """Whether a path of subscripts names no element twice."""
        held = self.context.containers
        while place is not None:
            index = getattr(place, "slice", None)
            # The entries of a container are distinct whatever their keys are.
            if index is not None and not held.entry(place):
                if not self._distinct(index):
                    return False
            place = grammar.whole(place)
        return True

    def _distinct(self, index: gast.AST) -> bool:
        """Whether an index certainly names no element twice."""
        if isinstance(index, gast.Constant):
            return True
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        names = tuple(p.id for p in parts if isinstance(p, gast.Name))
        if len(names) == len(parts) and names in self.owner.pairs:
            return True
        alike = set(names) & self.owner.sequences
        for part in parts:
            if isinstance(part, gast.Slice):
                continue
            if isinstance(part, gast.Name) and part.id in self.owner.masks:
                continue
            if isinstance(part, gast.Name) and alike == {part.id}:
                continue
            fact = self.context.inference.fact(part, self.before)
            if not (fact.integer and (fact.scalar or isinstance(part, gast.Compare))):
                if not (isinstance(part, gast.Constant)):
                    return False
        return True

    # -- several results, calls ----------------------------------------------------
    def _unpack(self, op: Operation, coming: dict[str, Fact], active) -> None:
        stmt = self.step.stmt
        elements = grammar.target_names(stmt.targets[0])
        if op.kind == "call":
            items = []
            for n in elements:
                if n in coming:
                    items.append(self._seed(n, coming[n]))
                else:
                    items.append(self.zero_of_new(n))
            self._call(op, gast.Tuple(items, gast.Load()), active)
            return
        if op.kind == "copy":
            dying = set(coming)
            whole = grammar.name(op.operands[0])
            self._taken_apart(whole, coming, dying)
            return
        if "place" in op.arguments:
            self._taken_apart(op.arguments["place"], coming, set(coming))
            return
        if op.kind == "rule":
            items = [
                grammar.name(self.owner.bar(n))
                if n in coming
                else grammar.constant(None)
                if op.rule.parts
                else self.zero_of_new(n)
                for n in elements
            ]
            for n in list(coming):
                coming[n] = self._widen(n, coming[n], self.result(n))
            held = [grammar.name(n) for n in elements]
            for i, t in enumerate(stmt.targets[0].elts):
                if isinstance(t, gast.Starred):
                    # A list of results: as many adjoints.
                    items[i] = gast.Starred(items[i], gast.Load())
                    held[i] = gast.Starred(held[i], gast.Load())
            out = gast.Tuple(held, gast.Load())
            parts = self._parts(op, gast.Tuple(items, gast.Load()), out, active)
            self._contribute_all(parts, coming)
            return
        raise self.refuse(op)

    def _taken_apart(self, whole: gast.AST, coming, dying: set[str]) -> None:
        """``a, *b, c = t``: ``t_bar[0] += a_bar``, ``t_bar[1:-1] += b_bar``..."""
        targets = self.step.stmt.targets[0].elts
        name, bars = grammar.root(whole), self.owner.bars
        unsure = not self.fact(name).array and name not in self.context.structures
        if unsure and grammar.is_name(whole) and name not in {*bars, *dying}:
            # A tuple, too, may be taken apart.
            self.read(name)
            helper = self._zero_helper(name)
            self.emit(self.owner.bar(name), grammar.call(helper, grammar.name(name)))
            bars[name] = self.fact(name)
            self.owner.fresh.add(name)
        count = len(targets)
        star = next(
            (i for i, t in enumerate(targets) if isinstance(t, gast.Starred)), count
        )
        for i, t in enumerate(targets):
            (n,) = grammar.target_names(t)
            if n not in coming:
                continue
            key: gast.AST = grammar.constant(i)
            if i == star:
                stop = (
                    grammar.expression(f"-{count - 1 - i}") if i < count - 1 else None
                )
                key = gast.Slice(grammar.constant(i) if i else None, stop, None)
            elif i > star:
                key = grammar.expression(f"-{count - i}")
            place = gast.Subscript(grammar.clone(whole), key, gast.Load())
            self._accumulate(place, grammar.name(self.owner.bar(n)), dying, n)

    def zero_of_new(self, name: str) -> gast.AST:
        """The zero that stands for the adjoint of a result nobody reads."""
        fact = self.result(name)
        if fact.scalar:
            return grammar.constant(0.0)
        made = self.owner._fresh(f"{name}_bar")
        self.read(name, new=True, lead=True)
        zero = grammar.call(self._zero_helper(name), grammar.name(name))
        self.emit(made, zero, lead=True)
        return grammar.name(made)

    def _seed(self, target: str, coming: Fact) -> gast.AST:
        self._widen(target, coming, self.result(target))
        return grammar.name(self.owner.bar(target))

    def _call(self, op: Operation, seed: gast.AST, active) -> None:
        try:
            derived, bound = self.context.derive(op, active)
        except SctError:
            if op.refused is None:
                raise
            raise self.unfit(op.refused) from None
        node = op.node
        args = [grammar.clone(a) for a in node.args]
        keywords = [gast.keyword(k.arg, grammar.clone(k.value)) for k in node.keywords]
        self.read(*(n for n in grammar.names_read(node) if n in self.before))
        if derived.implicit:
            (target,) = grammar.writes(self.step.stmt)
            self.read(target, new=True)
            if unwrap(op.callee) in FOUND:
                # It returns what has been found.
                stmt = self.step.stmt
                self.step.stmt = grammar.assign(stmt.targets[0], args[1], stmt)
            args[:2] = [grammar.name(target)]
        if derived.fwd:
            tape = self.owner._fresh(f"{_stem(node.func)}_tape")
            forward = gast.Call(grammar.name(derived.fwd), args, keywords)
            stmt = self.step.stmt
            target = stmt.targets[0]
            pair = gast.Tuple([target, grammar.name(tape, store=True)], gast.Store())
            self.step.stmt = grammar.assign(pair, forward, stmt)
            self.read(tape, new=True)
            args = [grammar.clone(a) for a in node.args]
            keywords = [
                gast.keyword(k.arg, grammar.clone(k.value)) for k in node.keywords
            ]
            keywords.append(gast.keyword(derived.tape, grammar.name(tape)))
            backward = gast.Call(grammar.name(derived.bwd), args, keywords)
        else:
            backward = gast.Call(grammar.name(derived.grad), args, keywords)
        backward.keywords.append(gast.keyword(derived.seed, seed))
        operands = [bound[p].id for p in derived.parameters]
        apart = of_function(unwrap(op.callee)).all
        self.owner.loose.update(bound[p].id for p in derived.parameters if p in apart)
        dying = set(grammar.writes(self.step.stmt))
        if len(operands) == 1:
            self._contribute_all(
                [(operands[0], backward, self.fact(operands[0]))], dying
            )
            return
        targets, parts = [], []
        once = {n for n in operands if operands.count(n) == 1}
        for n in operands:
            if n in once and n not in self.owner.bars and n not in dying:
                # The first contribution is the adjoint itself.
                targets.append(grammar.name(self.owner.bar(n), store=True))
                self.owner.bars[n] = self.fact(n)
                self.owner.fresh.discard(n)
                self.reached.add(n)
            else:
                made = self.owner._fresh(f"{_stem(grammar.name(n))}_inc")
                targets.append(grammar.name(made, store=True))
                parts.append((n, grammar.name(made), self.fact(n)))
        self.emit(gast.Tuple(targets, gast.Store()), backward)
        self._contribute_all(parts, dying)


def _renamed_root(place: gast.AST, name: str, ctx: gast.AST) -> gast.AST:
    """A path in another array."""
    place = grammar.clone(place)
    node = place
    while not isinstance(node, gast.Name):
        node = grammar.whole(node)
    node.id = name
    place.ctx = ctx
    return place


def _squeezed(place: gast.AST, bar: gast.AST) -> gast.AST | None:
    """``x_item_bar[:, 0]`` for ``x[:, None]``; None for what is not all of an array."""
    if not isinstance(place, gast.Subscript) or not grammar.is_name(place.value):
        return None
    index = grammar.indices(place)
    back = []
    for part in index:
        if isinstance(part, gast.Constant) and part.value is None:
            back.append(grammar.constant(0))
        elif isinstance(part, gast.Slice):
            if part.lower or part.upper or part.step:
                return None
            back.append(grammar.clone(part))
        else:
            return None
    if all(isinstance(part, gast.Slice) for part in back):
        return None
    # What is not mentioned follows.
    while isinstance(back[-1], gast.Slice):
        back.pop()
    key = back[0] if len(back) == 1 else gast.Tuple(back, gast.Load())
    return gast.Subscript(grammar.clone(bar), key, gast.Load())


def _depth(place: gast.AST) -> int:
    """How many steps a path has."""
    steps = 0
    while isinstance(place, (gast.Subscript, gast.Attribute)):
        place, steps = place.value, steps + 1
    return steps


def _leaves(operand: gast.AST, path: tuple[int, ...] = ()):
    """The names in a display, with the indices that lead to them."""
    for i, e in enumerate(operand.elts):
        if isinstance(e, gast.Name):
            yield (*path, i), e.id
        elif isinstance(e, (gast.List, gast.Tuple)):
            yield from _leaves(e, (*path, i))


def _stem(node: gast.AST) -> str:
    return names.noun(node).rstrip("_")
