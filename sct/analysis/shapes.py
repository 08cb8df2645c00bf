"""Shapes, as far as they can be known without running the program.

A shape is the set of *roots* that were broadcast together to give it.  The empty set is
a scalar's; a parameter of unknown shape is a root of its own; equal sets mean equal
shapes.  This is enough to decide where an adjoint must be summed back to its primal:

    z = x * y            # shape {x, y}: the adjoint of x may need a sum over axes
    z = x * np.sin(x)    # shape {x}: it does not
    s = np.sum(z)        # shape {}

Ranks are kept where they are known (annotations, examples, reductions).  In `grad` the
result is known to be a scalar, and an elementwise operation whose result is a scalar
had scalar operands: `must_be_scalar` carries that backwards.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

import gast
import numpy as np

from sct import grammar, runtime
from sct.analysis import dataflow
from sct.operations import Operation
from sct.resolve import hashable
from sct.stacks import popped, stacks

Shape = frozenset
SCALAR: Shape = frozenset()


@dataclass(frozen=True)
class Fact:
    """What is known of one value.

    Attributes
    ----------
    shape : frozenset of roots
        See the module.
    rank : int or None
        Number of dimensions.
    integer : bool
        Whether it is an integer (a counter, a length) or made of integers (a shape).
    array : bool
        Whether it is certainly an array, not a Python scalar.
    inexact : bool
        Whether it is certainly made of floating-point or complex numbers.
    raw : frozenset or None
        The shape before it was found that it must be a scalar's.
    """

    shape: Shape
    rank: int | None = None
    integer: bool = False
    array: bool = False
    inexact: bool = False
    raw: Shape | None = field(default=None, compare=False)

    @property
    def scalar(self) -> bool:
        return self.shape == SCALAR


NUMBER = Fact(SCALAR, 0)
INTEGER = Fact(SCALAR, 0, integer=True)


def unknown(root: object, **facts) -> Fact:
    """A value of a shape of its own."""
    return Fact(frozenset([root]), **facts)


def same_shape(a: Fact, b: Fact) -> bool:
    """Whether two values certainly have one shape."""
    return a.shape == b.shape or None not in (a.raw, b.raw) and a.raw == b.raw


# Functions whose result has the shape of their operands broadcast together, beside
# those registered as elementwise.
LIKE_FIRST = {
    np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy,
    np.ascontiguousarray, np.nan_to_num, np.cumsum, np.cumprod, np.flip,
    np.roll, np.sort, np.tril, np.triu, np.ndarray.astype, np.nancumsum, np.nancumprod,
}  # fmt: skip
# Of an array of several axes, these give one axis unless told along which they go.
FLATTENING = {np.cumsum, np.cumprod, np.nancumsum, np.nancumprod}
REDUCTIONS = {
    np.sum, np.mean, np.prod, np.max, np.min, np.amax, np.amin, np.var, np.std,
    np.average, np.any, np.all, np.argmax, np.argmin, np.median, np.ptp,
    np.nansum, np.nanmean, np.nanprod, np.nanmax, np.nanmin, np.nanvar, np.nanstd,
    np.nanmedian, np.nanargmax, np.nanargmin, np.count_nonzero,
    np.linalg.norm,
}  # fmt: skip
TO_SCALAR = {float, np.vdot, np.ndim, np.size, len, complex}
TO_INTEGER = {len, int, np.ndim, np.size, np.argmax, np.argmin}
# Of integers, these are integers.
INTEGRAL = {abs, min, max, np.abs, np.minimum, np.maximum}
CONSTRUCTORS = {np.zeros, np.ones, np.empty, np.full, np.eye, np.arange, np.linspace}


def normal(shape: Shape) -> Shape:
    """Drop the roots that another root of the set covers (a kept axis of size one)."""
    if len(shape) < 2:
        return shape
    return frozenset(
        r
        for r in shape
        if not (isinstance(r, tuple) and r[0] == "kept" and r[1] <= shape)
    )


def broadcast(*facts: Fact) -> Fact:
    """The fact of an elementwise result."""
    shape = normal(frozenset().union(*[f.shape for f in facts]))
    ranks = [f.rank for f in facts]
    rank = max(ranks) if None not in ranks else None
    if not shape:
        rank = 0
    return Fact(shape, rank, array=any(f.array for f in facts) and bool(shape))


class Inference:
    """Facts of expressions, given the facts of names.

    Parameters
    ----------
    operation : callable
        ``operation(expr) -> Operation``.
    result_of : callable
        ``result_of(operation, argument_facts) -> Fact or None`` for calls of user
        functions.
    """

    def __init__(
        self,
        operation: Callable[[gast.AST], Operation],
        result_of: Callable[[Operation, dict[str, Fact]], Fact | None],
    ):
        self.operation, self.result_of = operation, result_of

    def fact(self, expr: gast.AST, env: Mapping[str, Fact]) -> Fact:
        """What is known of `expr`."""
        if isinstance(expr, gast.Name):
            return env.get(expr.id) or unknown(("outer", expr.id))
        if isinstance(expr, gast.Constant):
            if isinstance(expr.value, bool) or expr.value is None:
                return INTEGER
            if isinstance(expr.value, int):
                return INTEGER
            if isinstance(expr.value, (float, complex)):
                return NUMBER
            return unknown(("constant", repr(expr.value)))
        if isinstance(expr, gast.BinOp):
            left, right = self.fact(expr.left, env), self.fact(expr.right, env)
            if isinstance(expr.op, gast.MatMult):
                return _matmul(left, right)
            both = broadcast(left, right)
            if (
                left.integer
                and right.integer
                and not isinstance(expr.op, (gast.Div, gast.Pow))
            ):
                return Fact(both.shape, both.rank, True, both.array)
            return both
        if isinstance(expr, gast.UnaryOp):
            fact = self.fact(expr.operand, env)
            if isinstance(expr.op, gast.Not):
                return INTEGER
            return fact
        if isinstance(expr, gast.Compare):
            parts = [self.fact(e, env) for e in [expr.left, *expr.comparators]]
            both = broadcast(*parts)
            # A mask: as an index it never repeats an element.
            return Fact(both.shape, both.rank, True, both.array)
        if isinstance(expr, gast.Subscript):
            return self._subscript(expr, env)
        if isinstance(expr, gast.IfExp):
            a, b = self.fact(expr.body, env), self.fact(expr.orelse, env)
            return a if a == b else unknown(("either", a.shape, b.shape))
        if isinstance(expr, (gast.Tuple, gast.List)):
            facts = [self.fact(e, env) for e in expr.elts]
            whole = all(f.integer for f in facts)
            return unknown(("row", tuple(f.shape for f in facts)), integer=whole)
        if isinstance(expr, gast.Attribute):
            return self._attribute(expr, env)
        if isinstance(expr, gast.Call):
            return self._call(expr, env)
        return unknown(("expression", id(expr)))

    def _attribute(self, expr: gast.Attribute, env: Mapping[str, Fact]) -> Fact:
        op = self.operation(expr)
        owner = (
            self.fact(expr.value, env) if isinstance(expr.value, gast.expr) else None
        )
        if expr.attr in ("ndim", "size"):
            return INTEGER
        if isinstance(op.known, float):
            return NUMBER
        if expr.attr == "shape" and owner is not None:
            return unknown(("shape", owner.shape), integer=True)
        if op.kind == "rule" and op.callee is np.transpose and owner is not None:
            return _transpose(owner)
        if op.kind == "rule" and op.callee in (np.real, np.imag) and owner is not None:
            return owner
        return unknown(("attribute", expr.attr, owner and owner.shape))

    def _subscript(self, expr: gast.Subscript, env: Mapping[str, Fact]) -> Fact:
        base = self.fact(expr.value, env)
        parts = grammar.indices(expr)
        if isinstance(expr.value, gast.Attribute) and expr.value.attr == "shape":
            if not isinstance(expr.slice, gast.Slice):
                return INTEGER
        if base.integer and any(
            r[0] == "shape" for r in base.shape if isinstance(r, tuple)
        ):
            return INTEGER if not isinstance(expr.slice, gast.Slice) else base
        pattern: list[object] = []
        removed, added, simple = 0, 0, True
        # Rows of an array are alike; items of a list or tuple need not be.
        alike = base.array or "place" not in self.operation(expr).arguments
        for part in parts:
            if isinstance(part, gast.Slice):
                cut = _cut(part)
                simple = simple and cut is not None
                pattern.append(cut if cut is not None else ("slice", text(part)))
            elif isinstance(part, gast.Constant) and part.value is None:
                pattern.append("new")
                added += 1
            elif isinstance(part, gast.Constant) and part.value is Ellipsis:
                pattern.append("...")
            elif isinstance(part, gast.Constant) and isinstance(part.value, str):
                return unknown(("pick", base.shape, part.value))
            else:
                index = self.fact(part, env)
                if index.integer and index.scalar:
                    single = alike or not isinstance(part, gast.Constant)
                    pattern.append("at" if single else ("at", part.value))
                    removed += 1
                elif isinstance(part, (gast.List, gast.Tuple)) or not index.scalar:
                    return unknown(
                        ("take", base.shape, index.shape, len(parts)), array=True
                    )
                else:
                    return unknown(("pick", base.shape, text(part), len(parts)))
        while pattern and pattern[-1] == 0:
            pattern.pop()
        if not pattern:
            return base
        rank = None if base.rank is None else base.rank - removed + added
        if pattern[-1] == "new" and len(base.shape) == 1:
            at = -1 if pattern[:-1] == ["..."] else len(pattern) - 1
            again = _kept_again(base, at)
            if again is not None and (at == -1 or not any(pattern[:-1])):
                return again
        if rank == 0:
            return Fact(SCALAR, 0, base.integer)
        key = ("cut", base.shape, tuple(pattern))
        if not simple:
            key = (*key, id(expr))
        return unknown(
            key,
            rank=rank,
            integer=base.integer,
            array=not all(map(_is_single, pattern)),
        )

    def _call(self, expr: gast.Call, env: Mapping[str, Fact]) -> Fact:
        op = self.operation(expr)
        own = unknown(("call", id(expr)))
        if op.kind == "call":
            return self.result_of(op, env) or own
        callee, args, keywords = op.callee, op.inputs, op.keywords
        facts = [self.fact(a, env) for a in args if not isinstance(a, gast.Starred)]
        first = facts[0] if facts else NUMBER
        if op.kind == "copy":
            return env.get(op.operands[0]) or own
        if callee is None or not hashable(callee):
            return own
        if callee in TO_INTEGER and len(facts) == 1 and not keywords:
            return INTEGER
        if callee in TO_SCALAR:
            return NUMBER
        if callee in (np.trace, np.linalg.det) and facts:
            # Of a stack of matrices, there are as many.
            return NUMBER if first.rank == 2 else own
        said = op.rule.result if op.rule is not None else ""
        if facts and (callee in REDUCTIONS or said == "reduced"):
            return self._reduction(first, args, keywords, callee)
        if facts and (callee in LIKE_FIRST or said == "first"):
            return first if _keeps_shape(callee, args, keywords, first) else own
        if callee in CONSTRUCTORS:
            literal = not any(grammar.names_read(a) for a in args)
            root = ("made", text(expr) if literal else id(expr))
            return unknown(root, rank=_made_rank(callee, args, facts), array=True)
        if callee in (np.matmul, operator.matmul) and len(facts) == 2:
            return _matmul(*facts)
        if callee is np.dot and len(facts) == 2:
            return _dot(*facts)
        if callee is np.transpose and len(facts) == 1 and not keywords:
            return _transpose(first)
        if callee is np.expand_dims and len(facts) == 2:
            again = _kept_again(first, _integer(args[1]))
            return again or unknown(("expand", first.shape, text(args[1])), array=True)
        if callee in (runtime.unbroadcast, runtime.broadcast_like):
            return facts[1]
        if callee in (runtime.zero_like, runtime.zero_structure):
            return first
        if facts and (pointwise(op) or callee in POINTWISE):
            if op.kind == "rule":
                # Arguments given by keyword are operands as well.
                facts = [self.fact(a, env) for a in op.arguments.values()]
            both = broadcast(*facts)
            if callee in INTEGRAL and all(f.integer for f in facts):
                return Fact(both.shape, both.rank, True, both.array)
            return both
        return own

    def _reduction(self, fact, args, keywords, callee) -> Fact:
        axis = keywords.get("axis")
        if axis is None and callee is np.linalg.norm and len(args) > 2:
            axis = args[2]
        if axis is None and callee is not np.linalg.norm and len(args) > 1:
            axis = args[1]
        keep = keywords.get("keepdims")
        kept = isinstance(keep, gast.Constant) and keep.value is True
        if axis is None or (isinstance(axis, gast.Constant) and axis.value is None):
            if keep is None or (isinstance(keep, gast.Constant) and not keep.value):
                integer = fact.integer and callee in (np.sum, np.max, np.min, np.prod)
                return INTEGER if integer else NUMBER
            return unknown(("kept", fact.shape, None), rank=fact.rank, array=True)
        words = Axis(axis)
        literal = not grammar.names_read(axis)
        if kept and literal:
            return unknown(("kept", fact.shape, words), rank=fact.rank, array=True)
        if (
            keep is None or isinstance(keep, gast.Constant) and not keep.value
        ) and literal:
            count = len(axis.elts) if isinstance(axis, gast.Tuple) else 1
            rank = None if fact.rank is None else fact.rank - count
            if rank == 0:
                return NUMBER
            return unknown(("reduced", fact.shape, words), rank=rank)
        return unknown(("reduced", fact.shape, words, id(axis)))


def _keeps_shape(callee, args, keywords, first: Fact) -> bool:
    """Whether the result of one of `LIKE_FIRST` has the shape of its first operand."""
    if "shape" in keywords:
        return False
    if callee in (np.tril, np.triu):
        return first.rank is not None and first.rank > 1
    if callee not in FLATTENING and callee is not np.sort:
        return True
    axis = keywords.get("axis", args[1] if len(args) > 1 else None)
    if axis is None:
        return callee is np.sort or first.rank == 1
    return _integer(axis) is not None


def _kept_again(fact: Fact, at: int | None) -> Fact | None:
    """The fact of a reduced value whose axis `at` is put back with length one."""
    (root,) = fact.shape if len(fact.shape) == 1 else (None,)
    if not (isinstance(root, tuple) and root[0] == "reduced" and len(root) == 3):
        return None
    if at is None or at != _integer(root[2].node):
        return None
    rank = None if fact.rank is None else fact.rank + 1
    return unknown(("kept", root[1], root[2]), rank=rank, array=True)


def _made_rank(callee, args, facts: list[Fact]) -> int | None:
    """The number of axes of a new array, where the text says it."""
    if callee is np.eye:
        return 2
    if callee is np.arange:
        return 1
    if callee is np.linspace or not args or len(facts) != len(args):
        return None
    if isinstance(args[0], gast.Tuple):
        starred = any(isinstance(e, gast.Starred) for e in args[0].elts)
        return None if starred else len(args[0].elts)
    return 1 if facts[0].integer and facts[0].scalar else None


POINTWISE = {abs, round, divmod, np.where, np.maximum, np.minimum}


def pointwise(op: Operation) -> bool:
    """Whether an operation maps element by element, with broadcasting."""
    if op.rule is not None and op.rule.kind != "zero":
        return op.rule.pointwise
    return isinstance(op.callee, np.ufunc) and op.callee.signature is None


def _matmul(left: Fact, right: Fact) -> Fact:
    if left.rank is None or right.rank is None:
        return unknown(("matmul", left.shape, right.shape))
    if left.rank == 1 and right.rank == 1:
        return NUMBER
    rank = max(left.rank, right.rank, 2) - (left.rank == 1) - (right.rank == 1)
    return unknown(("matmul", left.shape, right.shape), rank=rank, array=True)


def _dot(left: Fact, right: Fact) -> Fact:
    if left.scalar or right.scalar:
        return broadcast(left, right)
    if left.rank in (1, 2) and right.rank in (1, 2):
        return _matmul(left, right)
    return unknown(("dot", left.shape, right.shape))


def _transpose(fact: Fact) -> Fact:
    if fact.scalar or fact.rank in (0, 1):
        return fact
    if len(fact.shape) == 1:
        (root,) = fact.shape
        if isinstance(root, tuple) and root[0] == "T":
            return Fact(root[1], fact.rank, fact.integer, fact.array)
    return Fact(frozenset([("T", fact.shape)]), fact.rank, fact.integer, fact.array)


def _integer(node: gast.AST) -> int | None:
    """The value of an integer literal; None for anything else."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        inner = _integer(node.operand)
        return None if inner is None else -inner
    if isinstance(node, gast.Constant) and type(node.value) is int:
        return node.value
    return None


def _cut(part: gast.Slice) -> int | None:
    """How many elements a slice takes off an axis; None when that is not constant."""
    if part.step is not None:
        return None
    low, high = (0 if p is None else _integer(p) for p in (part.lower, part.upper))
    # x[a:-b] has max(n - a - b, 0) elements for a >= 0, b > 0.
    if low is None or high is None or low < 0:
        return None
    if part.upper is not None and high >= 0:
        return None
    return low - high


def text(node: gast.AST) -> str:
    """A text that is equal for equal trees."""
    return gast.dump(node)


class Axis:
    """The axis of a reduction, as part of a root; equal when the text is."""

    def __init__(self, node: gast.AST):
        self.node, self.text = node, text(node)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Axis) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


@dataclass(frozen=True)
class Shapes:
    """The facts of a function.

    Attributes
    ----------
    operands : dict
        Statement → (name → fact), for the names it reads, before it.
    targets : dict
        Statement → (name → fact), for the names it binds, after it.
    points : dict
        Point → (name → fact).
    result : Fact
        Of the returned value (a tuple's elements: `results`).
    """

    operands: dict[gast.AST, dict[str, Fact]] = field(default_factory=dict)
    targets: dict[gast.AST, dict[str, Fact]] = field(default_factory=dict)
    points: dict[dataflow.Point, dict[str, Fact]] = field(default_factory=dict)
    result: Fact = NUMBER


def shapes(
    fn: gast.FunctionDef,
    parameters: Mapping[str, Fact],
    inference: Inference,
    in_place: Collection[gast.AST] = (),
) -> Shapes:
    """The facts of a function in ANF.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function.
    parameters : mapping of str to Fact
        What is known of its arguments.
    inference : Inference
        Facts of single expressions.
    in_place : collection
        The statements ``x = x + e`` that were written ``x += e``: an array keeps its
        shape there.
    """
    found = Shapes()
    joins: dict[tuple, Fact] = {}
    held = stacks(fn)

    def transfer(stmt: gast.AST, state: dict[str, Fact]) -> None:
        found.operands[stmt] = {n: state[n] for n in grammar.reads(stmt) if n in state}
        names = grammar.writes(stmt)
        if isinstance(stmt, gast.For):
            facts = {n: INTEGER for n in names}
        elif isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            old = state.get(names[0])
            if stmt in in_place and old is not None and old.array and old.rank:
                facts = {names[0]: old}
            else:
                facts = {names[0]: inference.fact(stmt.value, state)}
        elif isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Tuple):
            facts = _unpacked(stmt, names, inference.fact(stmt.value, state))
        else:
            facts = {n: unknown(("name", n, id(stmt))) for n in names}
        if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Call):
            facts = _checked(inference.operation(stmt.value), state)
        if grammar.appended(stmt) in held:
            # What is known of all numbers in a stack stands under a name no user has.
            items = f"{grammar.appended(stmt)}[]"
            item = inference.fact(stmt.value.args[0], state)
            state[items] = joined(items, state.get(items, item), item)
        items = state.get(f"{popped(stmt)}[]")
        if items is not None and items.scalar and grammar.is_name(stmt.targets[0]):
            facts = dict.fromkeys(names, items)
        state.update(facts)
        found.targets[stmt] = facts

    def joined(name: str, f: Fact, g: Fact) -> Fact:
        if f == g:
            return f
        rank = f.rank if f.rank == g.rank else None
        integer, array = f.integer and g.integer, f.array and g.array
        again = any(isinstance(r, tuple) and r[:2] == ("join", name) for r in f.shape)
        if again or f.shape == g.shape:
            return Fact(f.shape, rank, integer, array)
        new = unknown(
            ("join", name, len(joins)), rank=rank, integer=integer, array=array
        )
        return joins.setdefault((name, f.shape, g.shape), new)

    def meet(a: dict[str, Fact], b: dict[str, Fact]) -> dict[str, Fact]:
        out = {**b, **a}
        for n, f in a.items():
            g = b.get(n, f)
            if g is not f:
                out[n] = joined(n, f, g)
        return out

    flow = dataflow.Forward(transfer, meet)
    env = dict(parameters)
    last = flow.run(fn.body, env)
    found.points.update(flow.points)
    returned = fn.body[-1] if fn.body and isinstance(fn.body[-1], gast.Return) else None
    result = NUMBER
    if returned is not None and returned.value is not None and last is not None:
        result = inference.fact(returned.value, last)
    return Shapes(found.operands, found.targets, found.points, result)


def _checked(op: Operation, state: dict[str, Fact]) -> dict[str, Fact]:
    """What a run-time check makes sure of."""
    if op.callee is not runtime.check_rank:
        return {}
    (rank,) = [a.value for a in op.inputs]
    return {
        n: replace(state[n], rank=rank, array=True) for n in op.keywords if n in state
    }


def _unpacked(stmt: gast.Assign, names: list[str], value: Fact) -> dict[str, Fact]:
    if any(isinstance(r, tuple) and r[0] == "shape" for r in value.shape):
        return {n: INTEGER for n in names}
    rest = {t.value.id for t in stmt.targets[0].elts if isinstance(t, gast.Starred)}
    if rest:
        # What is left over is a list, whatever its items are.
        items = _unpacked_items(stmt, [n for n in names if n not in rest], value)
        return items | {n: unknown(("name", n, id(stmt))) for n in rest}
    results = [r for r in value.shape if isinstance(r, tuple) and r[0] == "row"]
    if len(value.shape) == 1 and results and len(results[0][1]) == len(names):
        return {n: Fact(s) for n, s in zip(names, results[0][1], strict=True)}
    return _unpacked_items(stmt, names, value)


def _unpacked_items(
    stmt: gast.Assign, names: list[str], value: Fact
) -> dict[str, Fact]:
    """What is known of items of one value, whichever they are."""
    rank = None if value.rank is None else value.rank - 1
    if rank == 0:
        return {n: NUMBER for n in names}
    return {n: unknown(("name", n, id(stmt)), rank=rank) for n in names}


def with_stores(fn: gast.FunctionDef, found: Shapes, inference: Inference) -> Shapes:
    """What a store says of the value that is stored.

    ``u[1:-1] = a * u[1:-1] + e`` writes a value no larger than the place; one that the
    place's own shape went into is no smaller either, whatever `a` and `e` are.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    found : Shapes
        Its facts.
    inference : Inference
        Facts of single expressions.

    Returns
    -------
    Shapes
        The facts, with those of such values and of what they are made from.
    """
    count: dict[str, int] = {}
    for stmt in grammar.statements(fn.body):
        for n in grammar.writes(stmt):
            count[n] = count.get(n, 0) + 1
    better: dict[str, Fact] = {}

    def block(body: list[gast.AST]) -> None:
        made: dict[str, gast.Assign] = {}
        for stmt in body:
            for inner in grammar.blocks(stmt):
                block(inner)
            for place in grammar.places(stmt):
                if isinstance(stmt.value, gast.Name):
                    read = grammar.clone(place)
                    read.ctx = gast.Load()
                    whole = inference.fact(read, found.operands.get(stmt, {}))
                    if whole.shape:
                        follow(stmt.value.id, whole, made)
            if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
                made[stmt.targets[0].id] = stmt

    def follow(name: str, whole: Fact, made: dict[str, gast.Assign]) -> None:
        pending = [name]
        while pending:
            n = pending.pop()
            if n not in made or count[n] != 1 or n in better:
                continue
            fact = found.targets[made[n]][n]
            if not whole.shape <= fact.shape:
                continue
            better[n] = replace(
                fact, shape=whole.shape, rank=whole.rank, raw=fact.shape
            )
            value = made[n].value
            if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call)):
                op = inference.operation(value)
                if op.kind == "rule" and pointwise(op):
                    pending += op.operands

    block(fn.body)

    def refine(facts: dict[str, Fact]) -> dict[str, Fact]:
        return {n: better.get(n, f) for n, f in facts.items()}

    if not better:
        return found
    return Shapes(
        {s: refine(f) for s, f in found.operands.items()},
        {s: refine(f) for s, f in found.targets.items()},
        {p: refine(f) for p, f in found.points.items()},
        found.result,
    )


def _is_single(part: object) -> bool:
    """Whether a part of an index is a single number."""
    return part == "at" or isinstance(part, tuple) and part[0] == "at"


def must_be_scalar(
    fn: gast.FunctionDef,
    inference: Inference,
    known: Mapping[gast.AST, Mapping[str, Fact]],
    scalar_result: bool = True,
) -> tuple[
    dict[gast.AST, set[str]], dict[gast.AST, set[str]], dict[dataflow.Point, set[str]]
]:
    """The names that must hold scalars for the function to return one.

    What is written into an element of an array of known rank must be a scalar, too;
    `known` holds what is known before each statement.

    Returns, for each statement, those of its operands, and those of its targets: a name
    may be one of either, as in ``x = x[0]``; and for each point all names.  The fact
    holds whenever execution gets from there to the return.
    """
    records: dict[gast.AST, set[str]] = {}
    targets: dict[gast.AST, set[str]] = {}

    def transfer(stmt: gast.AST, state: set[str]) -> None:
        if isinstance(stmt, gast.Return):
            if isinstance(stmt.value, gast.Name) and scalar_result:
                state.add(stmt.value.id)
                records[stmt] = {stmt.value.id}
            return
        if isinstance(stmt, dataflow.COMPOUND):
            state.difference_update(grammar.writes(stmt))
            return
        names = grammar.writes(stmt)
        wanted = {n for n in names if n in state}
        state.difference_update(names)
        targets[stmt] = wanted
        for place in grammar.places(stmt):
            element = grammar.clone(place)
            element.ctx = gast.Load()
            if (
                isinstance(stmt.value, gast.Name)
                and inference.fact(element, known.get(stmt, {})).scalar
            ):
                state.add(stmt.value.id)
        if (
            wanted
            and isinstance(stmt, gast.Assign)
            and grammar.is_name(stmt.targets[0])
        ):
            state.update(_scalar_operands(stmt.value, inference))
        records[stmt] = grammar.reads(stmt) & state

    flow = dataflow.Backward(transfer, may=False)
    flow.run(fn.body, set())
    return records, targets, flow.points


def _scalar_operands(value: gast.AST, inference: Inference) -> set[str]:
    """The operands that were scalars if the result of `value` is one."""
    if isinstance(value, gast.Name):
        return {value.id}
    if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call)):
        op = inference.operation(value)
        if op.kind == "rule" and pointwise(op):
            return set(op.operands) | {
                n
                for a in op.arguments.values()
                if isinstance(a, gast.Name)
                for n in [a.id]
            }
    return set()


def with_scalars(
    fn: gast.FunctionDef, found: Shapes, inference: Inference, scalar_result: bool
) -> Shapes:
    """The facts with what must be a scalar, told that the result is one."""
    records, targets, points = must_be_scalar(
        fn, inference, found.operands, scalar_result
    )

    def refine(facts: dict[str, Fact], scalars: set[str]) -> dict[str, Fact]:
        return {
            n: Fact(SCALAR, 0, f.integer, raw=f.shape)
            if n in scalars and not f.scalar
            else f
            for n, f in facts.items()
        }

    return Shapes(
        {s: refine(f, records.get(s, set())) for s, f in found.operands.items()},
        {s: refine(f, targets.get(s, set())) for s, f in found.targets.items()},
        {p: refine(f, points.get(p, set())) for p, f in found.points.items()},
        Fact(SCALAR, 0) if scalar_result else found.result,
    )
