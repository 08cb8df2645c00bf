"""Maxima and minima on whose value the result does not depend.

Before an exponential the largest element is often taken off, so that nothing
overflows, and given back afterwards::

    top = np.max(x)                          # any other number would do
    return top + np.log(np.sum(np.exp(x - top)))

While `x` is held fixed the result is the same for every `top`, so its derivative in
`top` is exactly zero, and nothing is emitted for the adjoint of ``np.max``.

Whether that is so is found by following what becomes of each value when ``top`` moves
by `d`: it stays, it moves by ``c * d`` (a *shift*), it is multiplied by
``exp(c * d)`` (a *scale*), or something else happens to it.  The extremum is *free*
when only values that stay get out of the function.  Along the axes of the extremum `d`
is constant, so a sum over these axes of a scale is a scale.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

import gast
import numpy as np

from sct import grammar
from sct.analysis import dataflow
from sct.analysis.shapes import Fact, Shapes, same_shape
from sct.operations import Operation

EXTREMA = (np.max, np.amax, np.min, np.amin)
SHIFT, SCALE, OTHER = "shift", "scale", "other"

# How a value lies against `d`: a number meets anything; otherwise the axes of the
# extremum are there (perhaps of length one) or have been dropped.
NUMBER, KEPT, DROPPED = "number", "kept", "dropped"


@dataclass(frozen=True)
class Change:
    """What becomes of a value when an extremum moves."""

    kind: str
    amount: Fraction = Fraction(0)
    form: str = NUMBER


LOST = Change(OTHER)
Changes = Mapping[gast.AST, Change]


@dataclass(frozen=True)
class _Extremum:
    axis: object
    operand: Fact


def without_free_extrema(
    fn: gast.FunctionDef, operations: Mapping[gast.AST, Operation], found: Shapes
) -> dict[gast.AST, Operation]:
    """The operations of a function, those of free extrema made constants.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    operations : mapping
        Statement → its operation.
    found : Shapes
        The facts of the function.

    Returns
    -------
    dict
        Statement → its operation.
    """
    follow = _Follow(operations, found)
    free = follow.free(fn)
    return {
        s: replace(op, kind="constant", operands=(), held=()) if s in free else op
        for s, op in operations.items()
    }


class _Follow:
    def __init__(self, operations: Mapping[gast.AST, Operation], found: Shapes):
        self.operations, self.found = operations, found
        self.extrema: dict[gast.AST, _Extremum] = {}
        self.leaked: set[gast.AST] = set()
        for s, op in operations.items():
            extremum = self._extremum(s, op)
            if extremum is not None:
                self.extrema[s] = extremum

    def free(self, fn: gast.FunctionDef) -> set[gast.AST]:
        """The extrema on which nothing that leaves the function depends."""
        if self.extrema:
            dataflow.Forward(self._transfer, _meet).run(fn.body, {})
        return self.extrema.keys() - self.leaked

    def _extremum(self, stmt: gast.AST, op: Operation) -> _Extremum | None:
        simple = op.kind == "rule" and any(op.callee is e for e in EXTREMA)
        if not simple or not isinstance(stmt, gast.Assign):
            return None
        operand, axis = op.arguments["a"], _literal(op.arguments.get("axis"))
        keep = _literal(op.arguments.get("keepdims"))
        if not grammar.is_name(operand) or axis is _UNKNOWN or keep is _UNKNOWN:
            return None
        return _Extremum(axis, self._fact(stmt, operand))

    def _fact(self, stmt: gast.AST, node: gast.AST) -> Fact:
        facts = self.found.operands.get(stmt, {})
        return facts.get(node.id) or Fact(frozenset([("unknown", node.id)]))

    # -- statements ----------------------------------------------------------------
    def _transfer(self, stmt: gast.AST, state: dict[str, Changes]) -> None:
        if isinstance(stmt, dataflow.COMPOUND):
            # Tests are never differentiated; what a loop runs over is an integer.
            for n in grammar.writes(stmt):
                state.pop(n, None)
            return
        read = {n: state[n] for n in grammar.reads(stmt) if n in state}
        target = stmt.targets[0] if isinstance(stmt, gast.Assign) else None
        op = self.operations.get(stmt)
        if not isinstance(target, gast.Name) or op is None or op.kind not in _KINDS:
            self._leak(read)
            for n in grammar.writes(stmt):
                state.pop(n, None)
            return
        changes = {}
        if op.kind != "constant":
            for key in {k for found in read.values() for k in found}:
                if key not in self.leaked:
                    change = self._change(stmt, op, key, read)
                    if change is not None:
                        changes[key] = change
        if stmt in self.extrema:
            # From here on `d` is that of this turn of a loop.
            for n, found in state.items():
                if stmt in found:
                    state[n] = {**found, stmt: LOST}
            changes[stmt] = Change(SHIFT, Fraction(1), self._form(stmt, op))
        if changes:
            state[target.id] = changes
        else:
            state.pop(target.id, None)

    def _leak(self, read: Mapping[str, Changes]) -> None:
        self.leaked.update(k for found in read.values() for k in found)

    def _form(self, stmt: gast.AST, op: Operation) -> str:
        extremum = self.extrema[stmt]
        if extremum.axis is None or extremum.operand.rank in (0, 1):
            return NUMBER
        return KEPT if _literal(op.arguments.get("keepdims")) else DROPPED

    # -- operations ----------------------------------------------------------------
    def _change(self, stmt, op: Operation, key, read) -> Change | None:
        """What becomes of the result; None when it stays."""

        def of(node: gast.AST | None) -> Change | None:
            return read.get(node.id, {}).get(key) if grammar.is_name(node) else None

        if op.kind == "copy":
            return of(op.node)
        given = _given(op)
        parts = {p: of(a) for p, a in given.items()}
        moving = {p: c for p, c in parts.items() if c is not None}
        named = set().union(*(grammar.names_read(a) for a in given.values()))
        seen = {a.id for a in given.values() if grammar.is_name(a)}
        hidden = any(key in read.get(n, {}) for n in named - seen)
        if hidden or LOST in moving.values():
            return LOST
        for primals, rule in _BINARY if len(moving) == 2 else _BINARY + _UNARY:
            if any(op.callee is p for p in primals):
                return rule(self, stmt, op, key, moving)
        return LOST

    def _add(self, stmt, op, key, moving) -> Change | None:
        sign = -1 if op.callee in (operator.sub, np.subtract) else 1
        if any(c.kind == SCALE for c in moving.values()):
            same = set(moving.values())
            return same.pop() if len(moving) == 2 and len(same) == 1 else LOST
        return _together(SHIFT, moving, {"a": 1, "b": sign})

    def _multiply(self, stmt, op, key, moving) -> Change | None:
        sign = 1 if op.callee in (operator.mul, np.multiply) else -1
        if all(c.kind == SCALE for c in moving.values()):
            return _together(SCALE, moving, {"a": 1, "b": sign})
        ((p, change),) = moving.items() if len(moving) == 1 else [("", LOST)]
        factor = _literal(op.arguments.get("b" if p == "a" else "a"))
        number = type(factor) in (int, float) and np.isfinite(factor) and factor
        if change.kind != SHIFT or not number:
            return LOST
        if sign == 1:
            return _moved(change, change.amount * Fraction(factor))
        return _moved(change, change.amount / Fraction(factor)) if p == "a" else LOST

    def _negate(self, stmt, op, key, moving) -> Change | None:
        (change,) = moving.values()
        return _moved(change, -change.amount) if change.kind == SHIFT else change

    def _keep(self, stmt, op, key, moving) -> Change | None:
        (change,) = moving.values()
        return change

    def _exp(self, stmt, op, key, moving) -> Change | None:
        (change,) = moving.values()
        return replace(change, kind=SCALE) if change.kind == SHIFT else LOST

    def _log(self, stmt, op, key, moving) -> Change | None:
        (change,) = moving.values()
        return replace(change, kind=SHIFT) if change.kind == SCALE else LOST

    def _sum(self, stmt, op, key, moving) -> Change | None:
        (change,) = moving.values()
        mean = op.callee is np.mean
        if set(moving) != {"a"} or (change.kind != SCALE and not mean):
            return LOST
        if change.form == NUMBER:
            return change
        axis, keep = (_literal(op.arguments.get(p)) for p in ("axis", "keepdims"))
        extremum, fact = self.extrema[key], self._fact(stmt, op.arguments["a"])
        aligned = change.form == KEPT and same_shape(fact, extremum.operand)
        if not aligned or not _same_axis(axis, extremum) or keep is _UNKNOWN:
            return LOST
        return change if keep else replace(change, form=DROPPED)

    def _expand(self, stmt, op, key, moving) -> Change | None:
        (change,) = moving.values()
        if change.form == NUMBER:
            return change
        axis = _literal(op.arguments.get("axis"))
        dropped = change.form == DROPPED and self._is_dropped(stmt, op, key)
        if set(moving) == {"a"} and dropped and _same_axis(axis, self.extrema[key]):
            return replace(change, form=KEPT)
        return LOST

    def _is_dropped(self, stmt, op, key) -> bool:
        """Whether an operand has the axes of the extremum's operand, less its own."""
        fact, extremum = self._fact(stmt, _given(op)["a"]), self.extrema[key]
        if fact.rank is not None and extremum.operand.rank is not None:
            axes = extremum.axis if isinstance(extremum.axis, tuple) else (0,)
            return fact.rank == extremum.operand.rank - len(axes)
        roots = [r for r in fact.shape if isinstance(r, tuple) and r[0] == "reduced"]
        return (
            len(fact.shape) == len(roots) == 1
            and len(roots[0]) == 3
            and roots[0][1] == extremum.operand.shape
        )

    def _index(self, stmt, op, key, moving) -> Change | None:
        (change,) = moving.values()
        if set(moving) != {"a"}:
            return LOST
        if change.form == NUMBER:
            return change
        index, extremum = op.node.slice, self.extrema[key]
        parts = list(index.elts) if isinstance(index, gast.Tuple) else [index]
        while parts and _is_full(parts[-1]):
            parts.pop()
        at = _place(parts)
        if at is None or not _same_axis(at, extremum):
            return LOST
        last = _literal(parts[-1])
        if change.form == DROPPED and last is None and self._is_dropped(stmt, op, key):
            return replace(change, form=KEPT)
        if change.form == KEPT and type(last) is int and self._is_kept(stmt, op, key):
            return replace(change, form=DROPPED)
        return LOST

    def _is_kept(self, stmt, op, key) -> bool:
        """Whether an operand has as many axes as the extremum's operand."""
        fact, operand = self._fact(stmt, _given(op)["a"]), self.extrema[key].operand
        roots = [r for r in fact.shape if isinstance(r, tuple) and r[0] == "kept"]
        return (
            same_shape(fact, operand)
            or (fact.rank is not None and fact.rank == operand.rank)
            or (len(fact.shape) == len(roots) == 1 and roots[0][1] == operand.shape)
        )


_KINDS = ("copy", "constant", "rule")
_BINARY = (
    ((operator.add, np.add, operator.sub, np.subtract), _Follow._add),
    (
        (operator.mul, np.multiply, operator.truediv, np.divide, np.true_divide),
        _Follow._multiply,
    ),
)
_UNARY = (
    ((operator.neg, np.negative), _Follow._negate),
    ((operator.pos, np.copy), _Follow._keep),
    ((np.exp,), _Follow._exp),
    ((np.log,), _Follow._log),
    ((np.sum, np.mean), _Follow._sum),
    ((np.expand_dims,), _Follow._expand),
    ((operator.getitem,), _Follow._index),
)
_UNKNOWN = object()


def _given(op: Operation) -> Mapping[str, gast.AST]:
    """The arguments of an operation, those of a subscript apart."""
    if isinstance(op.node, gast.Subscript):
        return {"a": op.node.value, "b": op.node.slice}
    return op.arguments


def _moved(change: Change, amount: Fraction) -> Change | None:
    return replace(change, amount=amount) if amount else None


def _together(kind, moving, signs) -> Change | None:
    """The sum of the changes of both operands of an elementwise operation."""
    changes = moving.values()
    forms = {c.form for c in changes}
    if any(c.kind != kind for c in changes) or len(forms) > 1:
        return LOST
    amount = sum(signs[p] * c.amount for p, c in moving.items())
    return _moved(Change(kind, form=forms.pop()), amount)


def _same_axis(axis: object, extremum: _Extremum) -> bool:
    """Whether two axes are one, for an operand of the extremum's shape."""
    if axis is _UNKNOWN or axis is None:
        return False
    rank, other = extremum.operand.rank, extremum.axis
    if rank is not None and isinstance(axis, int) and isinstance(other, int):
        return axis % rank == other % rank
    return axis == other


def _place(parts: list[gast.AST]) -> int | None:
    """The axis that the last part of an index adds or takes away."""
    if not parts:
        return None
    dots = isinstance(parts[0], gast.Constant) and parts[0].value is Ellipsis
    if dots and len(parts) == 2:
        return -1
    return len(parts) - 1 if all(map(_is_full, parts[:-1])) else None


def _is_full(part: gast.AST) -> bool:
    return isinstance(part, gast.Slice) and not (part.lower or part.upper or part.step)


def _literal(node: gast.AST | None) -> object:
    """The value of a literal (None for no node), `_UNKNOWN` for anything else."""
    if node is None:
        return None
    if isinstance(node, gast.Constant):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = _literal(node.operand)
        return -inner if isinstance(inner, (int, float)) else _UNKNOWN
    if isinstance(node, gast.Tuple):
        parts = tuple(_literal(e) for e in node.elts)
        return _UNKNOWN if _UNKNOWN in parts else parts
    return _UNKNOWN


def _meet(a: dict[str, Changes], b: dict[str, Changes]) -> dict[str, Changes]:
    """What holds on both paths: a change that only one of them knows is lost."""
    out = {}
    for n in a.keys() | b.keys():
        one, other = a.get(n, {}), b.get(n, {})
        out[n] = {
            k: one[k] if one.get(k) == other.get(k) else LOST
            for k in one.keys() | other.keys()
        }
    return out
