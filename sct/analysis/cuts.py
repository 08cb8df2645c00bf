"""Which adjoints are cut where they are zero, lest they be multiplied by an infinity.

::

    y = np.sqrt(x)                  y_bar is 0 where x <= 1; where x is 0, too,
    z = np.where(x > 1.0, y, 1.0)   x_bar = 0.5 * y_bar / y would be 0 / 0

The derivative is 0 there, for `z` does not depend on `y`.  A value is *selected* if the
result depends on it only by way of functions that choose among elements.  It is
*bounded* if the result depends on it only by way of divisors, or of functions that tend
to a constant, as on the exponential in ``1.0 / (1.0 + np.exp(-x))``: there an overflow
does no harm.
"""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

import gast
import numpy as np

from sct import grammar, runtime_rules
from sct.analysis import dataflow
from sct.analysis.activity import Activity
from sct.analysis.calls import operations_of
from sct.analysis.disjoint import Place, never_earlier
from sct.analysis.masks import masks
from sct.analysis.shapes import pointwise
from sct.analysis.standing import Accesses
from sct.arguments import parameter_names
from sct.errors import SctError
from sct.normalise import normalise
from sct.operations import POWERS, Operation, atoms, unwrap
from sct.questions import about_functions
from sct.resolve import MISSING, hashable
from sct.templates import OF_ITEMS

# What of an operand these do not choose gets the adjoint 0.
CHOOSING = {
    np.where, np.maximum, np.minimum, np.fmax, np.fmin, np.clip, np.nan_to_num,
    np.max, np.min, np.amax, np.amin, np.take, np.take_along_axis, np.tril, np.triu,
    np.diag, np.diagonal, operator.getitem, max, min, runtime_rules.cut,
    np.nanmax, np.nanmin, np.median, np.nanmedian, np.quantile, np.percentile,
    np.nanquantile, np.nanpercentile, np.compress, np.extract, np.select, np.choose,
    *OF_ITEMS.values(),
}  # fmt: skip
PRODUCTS = {operator.mul, np.multiply}
QUOTIENTS = {operator.truediv, np.divide, np.true_divide}
# These tend to a constant, and their derivatives to 0 faster than exponentials grow.
BOUNDED = {
    np.reciprocal, np.exp, np.exp2, np.tanh, np.arctan, math.exp, math.tanh, math.atan,
}  # fmt: skip
# These make of an exponential at most a power of it.
POLYNOMIAL = {
    operator.add, operator.sub, operator.neg, operator.pos, np.add, np.subtract,
    np.negative, np.positive, np.sqrt, np.square, np.sum, np.mean, sum,
} | PRODUCTS | QUOTIENTS | POWERS  # fmt: skip

Operations = Mapping[gast.AST, Operation]


@dataclass(frozen=True)
class Cuts:
    """Where derivatives are cut, for an infinity would meet a zero.

    Attributes
    ----------
    adjoints : dict
        Statement whose adjoint may be 0 → the names that may hold infinities.  An
        adjoint that reads one of them is cut; every one is where the name ``"*"`` is
        among them.
    overflows : set
        Statements whose result may be infinite, to no effect: so is its tangent.
    masked : dict
        Product with a mask → the mask, which may be 0 where a tangent is infinite.
    calls : set of Operation
        Calls of functions whose own derivative must be cut, the adjoint of their
        result being 0 in places.
    """

    adjoints: dict[gast.AST, frozenset[str]] = field(default_factory=dict)
    overflows: set[gast.AST] = field(default_factory=set)
    masked: dict[gast.AST, gast.AST] = field(default_factory=dict)
    calls: set[Operation] = field(default_factory=set)


def cuts(
    fn: gast.FunctionDef,
    operations: Operations,
    active: Activity,
    data: set[str],
    resolve: Callable[[gast.AST], object],
    chosen: bool = False,
) -> Cuts:
    """Where the derivatives of a function are cut.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    operations : mapping
        What its statements do.
    active : Activity
        Which of them matter.
    data : set of str
        The parameters that are held constant and may hold infinities.
    resolve : callable
        What a name or dotted name denotes.
    chosen : bool
        Whether the adjoint of the function's own result may be 0 in places.
    """
    moving = {s: op for s, op in operations.items() if active.targets.get(s)}
    distinct = masks(fn, operations)
    made = Cuts()
    found = made.adjoints
    if chosen or any(_chooses(op, distinct) for op in moving.values()):
        selected = _unreached(
            fn,
            moving,
            _plain(distinct),
            _filled(fn, moving),
            chosen,
        )
        given = data if _by_data(fn, moving, active, distinct) else set()
        infinite = _infinite(fn, operations, given, resolve, ("pole", "overflow"))
        found.update(_at(selected, moving, infinite, ("pole", "overflow")))
        made.calls.update(moving[s] for s in selected if _may_be_cut(moving[s]))
        if any("*" in names for names in found.values()):
            made.masked.update(_masked(moving, distinct))
    if any(_singular(op) == "pole" for op in moving.values()) and _forks(fn):
        # What one arm alone depends on has the adjoint 0 on the other.
        everything = _plain(set())
        lone = _unreached(fn, moving, everything, (), False, True)
        for stmt, names in _at(lone, moving, {}, ("pole",)).items():
            found[stmt] = found.get(stmt, frozenset()) | names
    if any(_singular(op) == "overflow" for op in moving.values()):
        bounded = _unreached(fn, moving, _bounded)
        infinite = _infinite(fn, operations, set(), resolve, ("overflow",))
        for stmt, names in _at(bounded, moving, infinite, ("overflow",)).items():
            found[stmt] = found.get(stmt, frozenset()) | names
            if _singular(moving[stmt]) == "overflow":
                made.overflows.add(stmt)
    return made


def _at(stmts, moving: Operations, infinite, kinds) -> dict:
    found = {}
    for stmt in stmts:
        op = moving[stmt]
        if op.kind != "rule" or not pointwise(op) or is_one_of(op, CHOOSING):
            continue
        names = infinite.get(stmt, frozenset())
        if _singular(op) in kinds:
            names |= {"*"}
        if names:
            found[stmt] = names
    return found


def makes_zeros(op: Operation) -> bool:
    """Whether an operand may have the adjoint 0 where the result has not."""
    if is_one_of(op, POWERS):
        return (number(op.arguments.get("b")) or 0.0) < 0.0
    return any(is_one_of(op, functions) for functions in (CHOOSING, BOUNDED, QUOTIENTS))


def _singular(op: Operation) -> str:
    """Whether the derivative of an operation may be infinite, and how."""
    if op.rule is None or not op.rule.singular:
        return ""
    divisor = op.arguments.get("b" if "b" in op.arguments else "y")
    if is_one_of(op, QUOTIENTS) and number(divisor) is not None:
        return ""
    if is_one_of(op, POWERS) and (number(divisor) or 0.0) >= 1.0:
        return ""
    return op.rule.singular


def number(node: gast.AST | None) -> float | None:
    """The value of a literal number."""
    if isinstance(node, gast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        value = number(node.operand)
        return None if value is None else -value
    return None


def _chooses(op: Operation, distinct: set[str]) -> bool:
    """Whether an operation gives part of an operand the adjoint 0."""
    if op.kind == "store":
        # What was there before has no part in the result.
        return True
    if op.kind == "call":
        function = unwrap(op.callee)
        return isinstance(function, types.FunctionType) and chooses(function)
    if op.kind != "rule":
        return False
    if isinstance(op.node, gast.Subscript):
        index = op.node.slice
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        return any(isinstance(p, gast.Compare) or distinct & {*atoms(p)} for p in parts)
    if is_one_of(op, PRODUCTS):
        return any(distinct & set(atoms(a)) for a in op.arguments.values())
    return is_one_of(op, CHOOSING)


def _masked(moving: Operations, distinct: set[str]) -> dict[gast.AST, gast.AST]:
    """The products with a mask, and the mask."""
    return {
        stmt: factor
        for stmt, op in moving.items()
        if is_one_of(op, PRODUCTS)
        for factor in op.arguments.values()
        if distinct & set(atoms(factor))
    }


@about_functions(False)
def chooses(function: types.FunctionType) -> bool:
    """Whether a function gives part of what it is given the adjoint 0."""
    try:
        normal = normalise(function)
    except SctError:
        return False
    operations = operations_of(normal)
    distinct = masks(normal.fn, operations)
    listed = [op for op in operations.values() if op.kind != "store"]
    if not any(_chooses(op, distinct) for op in listed):
        return False
    given = set(parameter_names(normal.fn))
    _, reached = _reached(normal.fn, operations, lambda op, _: op.operands)
    _, plainly = _reached(normal.fn, operations, _plain(distinct))
    return not given & reached <= plainly


def _may_be_cut(op: Operation) -> bool:
    """Whether a call is of a function of the user's with a singular derivative."""
    function = unwrap(op.callee) if op.kind == "call" else None
    return isinstance(function, types.FunctionType) and has_poles(function)


@about_functions(False)
def has_poles(function: types.FunctionType) -> bool:
    """Whether the derivative of a function may be infinite."""
    try:
        normal = normalise(function)
    except SctError:
        return False
    listed = operations_of(normal).values()
    return any(_singular(op) or _may_be_cut(op) for op in listed)


def _by_data(fn, moving: Operations, active: Activity, distinct: set[str]) -> bool:
    """Whether what is held constant decides, alone, what some operation chooses."""
    varied = {n for stmt in moving for n in active.operands[stmt]}
    for stmt in grammar.statements(fn.body):
        if grammar.reads(stmt) & varied:
            varied.update(grammar.writes(stmt))
    for op in moving.values():
        if _chooses(op, distinct):
            condition = op.arguments.get("condition", getattr(op.node, "slice", None))
            if condition is not None and not grammar.names_read(condition) & varied:
                return True
    return False


def _filled(fn, moving: Operations) -> set[str]:
    """The arrays in which nothing that matters is ever written over."""
    seen = Accesses(fn)
    made = {
        n for s, op in moving.items() if op.kind != "store" for n in grammar.writes(s)
    }
    made.update(parameter_names(fn))

    def apart(places: list[Place]) -> bool:
        after = [replace(p, order=p.order + 0.5) for p in places]
        return all(never_earlier(a, p, seen.steady) for a in after for p in places)

    return {n for n, places in seen.stores.items() if n not in made and apart(places)}


def _plain(distinct: set[str]) -> Callable[[Operation, bool], Iterable[str]]:
    """The operands of which an operation chooses nothing, if it is reached itself."""
    return lambda op, reached: () if _chooses(op, distinct) else op.operands * reached


def _unreached(*arguments) -> set[gast.AST]:
    """The statements on whose result the function's does not depend plainly."""
    found, _ = _reached(*arguments)
    return {s for s, is_reached in found.items() if not is_reached}


def _reached(
    fn,
    moving: Operations,
    plain: Callable[[Operation, bool], Iterable[str]],
    filled: Collection[str] = (),
    chosen: bool = False,
    both: bool = False,
) -> tuple[dict[gast.AST, bool], set]:
    """On which statements a function's result depends plainly, and on what is given.

    `plain` gives the operands on which a result depends plainly, when the function's
    does so on that result, and when not; `filled` are arrays of which nothing is
    written over.  If it is `chosen`, nothing depends plainly on the result itself; if
    on `both`, it must do so on either arm of an ``if``.
    """
    found: dict[gast.AST, bool] = {}
    straight = set(fn.body)

    def transfer(stmt: gast.AST, reached: set[str]) -> None:
        if isinstance(stmt, gast.Return) and stmt.value is not None and not chosen:
            reached.update(grammar.names_read(stmt.value))
        op = moving.get(stmt)
        if op is not None and op.kind in ("store", "append"):
            root = op.operands[0]
            if root in reached:
                reached.update(op.operands)
                if isinstance(stmt, gast.Assign) and root not in filled:
                    reached.add(_overwritten(root))
            return
        written = set(grammar.writes(stmt))
        is_reached = any(
            n in reached and _overwritten(n) not in reached for n in written
        )
        arms = [f for f in reached if isinstance(f, tuple) and f[0] in written]
        reached -= written | {*map(_overwritten, written), *arms}
        if op is None:
            return
        found[stmt] = is_reached
        reached.update(plain(op, is_reached))
        if stmt not in straight:
            return
        # On either arm of a choice: the part that one leaves out, the other has.
        facts = {(n, *arm[1:]) for arm in arms for n in plain(op, True)}
        if is_reached and is_one_of(op, {np.where}):
            facts |= {(n, stmt, p) for p in "xy" for n in atoms(op.arguments.get(p))}
        reached |= facts
        reached.update(
            n for n, at, p in facts if {(n, at, "x"), (n, at, "y")} <= reached
        )

    state = dataflow.Backward(transfer, both=both).run(fn.body, set())
    return found, state or set()


def _forks(fn: gast.FunctionDef) -> bool:
    """Whether a function has an ``if``."""
    return any(isinstance(s, gast.If) for s in grammar.statements(fn.body))


def _overwritten(name: str) -> str:
    """The fact that part of what a name is bound to is written over later."""
    return f"{name}[...]"


def _bounded(op: Operation, reached: bool) -> Iterable[str]:
    """The operands that an operation does not bound."""
    if is_one_of(op, BOUNDED):
        return ()
    if op.kind == "copy" or is_one_of(op, POLYNOMIAL):
        if is_one_of(op, QUOTIENTS):
            return atoms(op.arguments["a"]) if reached else ()
        if is_one_of(op, POWERS) and (number(op.arguments.get("b")) or 0.0) < 0.0:
            return ()
        return op.operands if reached else ()
    return op.operands


def _infinite(fn, operations, data, resolve, kinds) -> dict[gast.AST, frozenset[str]]:
    """The names read or bound by each statement that may hold infinities."""
    found: dict[gast.AST, frozenset[str]] = {}

    def transfer(stmt: gast.AST, infinite: set[str]) -> None:
        op, written = operations.get(stmt), set(grammar.writes(stmt))
        if op is None:
            infinite -= written
            return
        read = grammar.names_read(op.node)
        may = bool(read & infinite) and not isinstance(op.node, gast.Compare)
        if op.rule is not None and _singular(op) in kinds:
            may = True
        elif is_one_of(op, QUOTIENTS):
            may = may and not grammar.names_read(op.arguments["b"]) & infinite
        if isinstance(op.node, (gast.Attribute, gast.Name)) and op.kind == "constant":
            may = "pole" in kinds and not _finite(resolve(op.node))
        found[stmt] = frozenset(read & infinite | (written if may else set()))
        if op.kind in ("store", "append"):
            written = {op.operands[0]} if may else set()
        infinite -= written
        if may:
            infinite |= written

    dataflow.Forward(transfer, lambda a, b: a | b).run(fn.body, set(data))
    return found


def _finite(value: object) -> bool:
    """Whether a constant, if it is one of numbers, holds no infinities."""
    if value is MISSING or not isinstance(value, (float, complex, np.ndarray)):
        return True
    try:
        return bool(np.all(np.isfinite(value)))
    except TypeError:
        return True


def is_one_of(op: Operation, functions: set) -> bool:
    """Whether an operation calls one of `functions`."""
    return hashable(op.callee) and op.callee in functions
