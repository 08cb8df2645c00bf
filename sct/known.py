"""A library function for arguments that are known: what they rule out is left out.

::

    def trapezoid(y, x=None, dx=1.0, axis=-1):
        y = asanyarray(y)                             y = asanyarray(y)
        if x is None:                                 d = dx
            d = dx                     ──►            nd = y.ndim
        else:                                         ...
            ...
        nd = y.ndim

Functions of NumPy and SciPy take many options, and decide by tests on them which of
several computations they do.  Of the user's own functions nothing is left out: their
derivatives are there to be read.
"""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Mapping
from dataclasses import replace

import gast

from sct import grammar
from sct.normalise import Normal
from sct.resolve import MISSING

LIBRARIES = frozenset({"numpy", "scipy", "cupy", "cupyx"})
LEAVES = (gast.Raise, gast.Break)
OPTIONS = (type(None), bool, int, str)
COMPARED = {
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
}
# Stands for a value of which only that is known.
NOT_NONE = object()
# Stands for a dict without items that nobody else knows.
EMPTY = object()
Known = tuple[tuple[str, type, object], ...]


def options(
    function: types.FunctionType, bound: Mapping[str, gast.AST], wrt: tuple[str, ...]
) -> Known:
    """What is known of the parameters of a library function in one call.

    Parameters
    ----------
    function : types.FunctionType
        What is called.
    bound : mapping of str to gast.AST
        The arguments given, by parameter.
    wrt : tuple of str
        The parameters it is differentiated in.

    Returns
    -------
    tuple
        Parameter, kind and value; nothing for functions of other modules.
    """
    if (function.__module__ or "").split(".")[0] not in LIBRARIES:
        return ()
    found: list[tuple[str, type, object]] = []
    for p in inspect.signature(function).parameters.values():
        if p.name in wrt:
            value = NOT_NONE
        elif p.name not in bound:
            value = p.default
        elif isinstance(bound[p.name], gast.Constant):
            value = bound[p.name].value
        else:
            continue
        if value is not p.empty and value.__hash__ is not None:
            found.append((p.name, type(value), value))
    return tuple(found)


@functools.lru_cache(maxsize=512)
def with_options(normal: Normal, known: Known) -> Normal:
    """A function without the branches that what is known of its parameters rules out.

    Parameters
    ----------
    normal : Normal
        The function.
    known : tuple
        What `options` found.
    """
    fn = grammar.clone(normal.fn)
    shared = grammar.outer_names(fn.body)
    values = {name: value for name, _, value in known if name not in shared}
    fn.body = _Folding(normal.scope).block(fn.body, values)
    return replace(normal, fn=fn)


class _Folding:
    """One pass over structured code; what is known changes along the way."""

    def __init__(self, scope):
        self.scope = scope

    def block(self, body: list[gast.AST], values: dict) -> list[gast.AST]:
        """A block without what is ruled out; `values` is brought to its end."""
        out: list[gast.AST] = []
        for stmt in body:
            left = bool(out) and isinstance(out[-1], LEAVES)
            if left and not isinstance(stmt, gast.Return):
                continue
            if isinstance(stmt, gast.If):
                out += self.branch(stmt, values)
                continue
            if isinstance(stmt, (gast.For, gast.While)):
                for n in grammar.all_writes([stmt]):
                    values.pop(n, None)
                self.forget_emptiness([stmt, *stmt.body], values)
                stmt.body = self.block(stmt.body, dict(values))
            else:
                self.simple(stmt, values)
                if isinstance(stmt, gast.With):
                    stmt.body = self.block(stmt.body, values)
            out.append(stmt)
        return out or [grammar.located(gast.Pass(), body[0])]

    def branch(self, stmt: gast.If, values: dict) -> list[gast.AST]:
        stmt.test = self.simpler(stmt.test, values)
        truth = self.truth(stmt.test, values)
        if truth is not None:
            taken = stmt.body if truth else stmt.orelse
            return self.block(taken, values) if taken else []
        stmt.test = _Literals(values).visit(stmt.test)
        ends = []
        for field in ("body", "orelse"):
            inner = dict(values)
            made = getattr(stmt, field)
            if made:
                setattr(stmt, field, self.block(made, inner))
            if not made or not isinstance(getattr(stmt, field)[-1], LEAVES):
                ends.append(inner)
        for n in list(values):
            if not all(n in e and _same(e[n], ends[0][n]) for e in ends):
                del values[n]
        if len(ends) == 1:
            values.update(ends[0])
        return [stmt]

    def simple(self, stmt: gast.AST, values: dict) -> None:
        """Write what is known into a statement, and learn from it."""
        if isinstance(stmt, (gast.Assign, gast.AugAssign, gast.Expr, gast.Return)):
            if stmt.value is not None:
                stmt.value = _Literals(values).visit(stmt.value)
        for n in grammar.writes(stmt):
            values.pop(n, None)
        self.forget_emptiness([stmt], values)
        if isinstance(stmt, gast.Assign) and grammar.is_name(stmt.targets[0]):
            value = self.value(stmt.value, values)
            if isinstance(value, OPTIONS):
                values[stmt.targets[0].id] = value
            elif isinstance(stmt.value, gast.Dict) and not stmt.value.keys:
                values[stmt.targets[0].id] = EMPTY

    def forget_emptiness(self, body: list[gast.AST], values: dict) -> None:
        """What is read in any other way than ``**kw`` may be filled there."""
        for stmt in grammar.statements(body):
            for n in grammar.reads(stmt) | set(grammar.mutates(stmt)):
                if values.get(n) is EMPTY:
                    del values[n]

    def truth(self, test: gast.AST, values: dict) -> bool | None:
        """Whether a test holds, None when that is not known."""
        value = self.value(test, values)
        return bool(value) if isinstance(value, OPTIONS) else None

    def simpler(self, test: gast.AST, values: dict) -> gast.AST:
        """A test without the operands of `and` and `or` that decide nothing."""
        if not isinstance(test, gast.BoolOp):
            return test
        neutral = isinstance(test.op, gast.And)
        left = []
        for part in test.values:
            part = self.simpler(part, values)
            truth = self.truth(part, values)
            if truth is None:
                left.append(part)
            elif truth is not neutral:
                left.append(grammar.constant(not neutral))
                break
        if not left:
            return grammar.constant(neutral)
        if len(left) == 1:
            return left[0]
        return gast.copy_location(gast.BoolOp(test.op, left), test)

    def value(self, node: gast.AST, values: dict) -> object:
        """The value of an expression; `MISSING` when it is not known."""
        if isinstance(node, gast.Constant):
            return node.value
        if isinstance(node, gast.Name):
            return values.get(node.id, MISSING)
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            truth = self.truth(node.operand, values)
            return MISSING if truth is None else not truth
        if isinstance(node, gast.BoolOp):
            made = self.simpler(node, values)
            return made.value if isinstance(made, gast.Constant) else MISSING
        if isinstance(node, gast.Compare) and len(node.ops) == 1:
            return self.compared(node, values)
        return MISSING

    def compared(self, node: gast.Compare, values: dict) -> object:
        op = node.ops[0]
        left, right = (self.value(e, values) for e in (node.left, *node.comparators))
        if isinstance(op, (gast.Is, gast.IsNot)):
            if right is MISSING:
                right = self.scope.resolve(node.comparators[0])
            if left is MISSING or right is MISSING:
                return MISSING
            if NOT_NONE in (left, right) and None not in (left, right):
                return MISSING
            return (left is right) is isinstance(op, gast.Is)
        literal = isinstance(left, OPTIONS) and isinstance(right, OPTIONS)
        if not literal or type(op) not in COMPARED:
            return MISSING
        try:
            return COMPARED[type(op)](left, right)
        except TypeError:
            return MISSING


def _same(a: object, b: object) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, OPTIONS) and a == b)


class _Literals(gast.NodeTransformer):
    """Known options in place of the names that hold them, where a value is read."""

    def __init__(self, values: Mapping[str, object]):
        self.values = values

    def visit_Name(self, node: gast.Name) -> gast.AST:
        value = self.values.get(node.id, MISSING)
        if isinstance(node.ctx, gast.Load) and isinstance(value, OPTIONS):
            return gast.copy_location(grammar.constant(value), node)
        return node

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        return node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [
            gast.keyword(k.arg, self.visit(k.value))
            for k in node.keywords
            if k.arg or self.values.get(getattr(k.value, "id", "")) is not EMPTY
        ]
        return node

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        node.slice = self.visit(node.slice)
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node
