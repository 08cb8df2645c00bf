"""Assignments and choices inside expressions become statements before them.

::

    y = f(x) + (a if c else b)          f_value = f(x)
                                        if c:
                                   ->       choice = a
                                        else:
                                            choice = b
                                        y = f_value + choice

Evaluation order is Python's: what stands to the left of a hoisted expression is
bound to a temporary before it, unless nothing can change it.  In a test, conditional
expressions and ``and``/``or`` stay where they are; only ``:=`` is hoisted, into
nested ``if`` statements when it is evaluated on some paths only.
"""

from __future__ import annotations

import gast

from .comprehensions import LISTED
from .grammar import children, clone, name, names_read, nodes
from .names import noun
from .renaming import Captured
from .writer import Writer

OPAQUE = (gast.Lambda, *LISTED)
# What may have to become statements.
HOISTED = (gast.NamedExpr, gast.IfExp, gast.BoolOp, *LISTED)
# What cannot be bound to a name: its parts are what is evaluated.
PARTS = (gast.keyword, gast.Starred, gast.Slice, gast.Tuple, gast.FormattedValue)


def negated(test: gast.AST) -> gast.AST:
    """``not test``, without a double ``not``."""
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.UnaryOp(gast.Not(), test)


def is_boolean(e: gast.AST) -> bool:
    """Whether an expression is made of comparisons: its value has no derivative."""
    if isinstance(e, gast.BoolOp):
        return all(is_boolean(v) for v in e.values)
    if isinstance(e, gast.UnaryOp):
        return isinstance(e.op, gast.Not)
    if isinstance(e, gast.Constant):
        return isinstance(e.value, bool)
    return isinstance(e, gast.Compare)


def walrus_targets(e: gast.AST) -> set[str]:
    """The names that an expression assigns."""
    return {n.target.id for n in nodes(e) if isinstance(n, gast.NamedExpr)}


def _hoisting(root: gast.AST, test: bool, listed: set[int]) -> set[int]:
    """The ids of the nodes at or above something that is to be hoisted.

    `listed` holds the ids of the comprehensions that are to become loops.
    """
    found: set[int] = set()
    parent: dict[int, gast.AST | None] = {id(root): None}
    stack = [(root, test)]
    while stack:
        n, in_test = stack.pop()
        loop = id(n) in listed and not in_test
        if isinstance(n, OPAQUE) and not loop:
            continue
        choice = isinstance(n, gast.IfExp)
        choice = choice or (isinstance(n, gast.BoolOp) and not is_boolean(n))
        if isinstance(n, gast.NamedExpr) or loop or (choice and not in_test):
            up = n
            while up is not None and id(up) not in found:
                found.add(id(up))
                up = parent[id(up)]
        if loop:
            continue
        # The value of a walrus outlives the test that it stands in.
        inner = not isinstance(n, gast.NamedExpr) and (
            in_test or is_boolean(n) or isinstance(n, gast.JoinedStr)
        )
        for child in children(n):
            parent[id(child)] = n
            in_child = inner or (isinstance(n, gast.IfExp) and child is n.test)
            stack.append((child, in_child))
    return found


def _slots(e: gast.AST) -> list[tuple[object, object]]:
    """The places of the operands of an expression, in the order of evaluation."""
    if isinstance(e, gast.Dict):
        places = []
        for k, key in enumerate(e.keys):
            if key is not None:
                places.append((e.keys, k))
            places.append((e.values, k))
    else:
        places = []
        for field in e._fields:
            value = getattr(e, field, None)
            if isinstance(value, list):
                places += [(value, k) for k in range(len(value))]
            else:
                places.append((e, field))
    found = []
    for box, key in places:
        child = _get(box, key)
        if isinstance(e, gast.Call) and key == "func":
            while isinstance(child, gast.Attribute):
                box, key, child = child, "value", child.value
        if isinstance(child, PARTS):
            found += _slots(child)
        elif isinstance(child, gast.expr):
            found.append((box, key))
    return found


def _get(box, key):
    return box[key] if isinstance(box, list) else getattr(box, key)


def _set(box, key, value) -> None:
    if isinstance(box, list):
        box[key] = value
    else:
        setattr(box, key, value)


class Hoister:
    """Lowers expressions, writing the statements that go before them.

    Parameters
    ----------
    writer : Writer
        Where they are written.
    captured : set of str
        The names that functions defined inside this one read.
    listing : Comprehensions
        Turns comprehensions into loops.
    run : callable
        ``run(body)``: write what statements of the source language come to.
    """

    def __init__(self, writer: Writer, captured: set[str], listing, run):
        self.writer = writer
        self.captured = captured
        self.listing, self.run = listing, run
        self._hoisting: set[int] = set()

    def value(self, e: gast.AST) -> gast.AST:
        """`e`, used for its value, with what must go before it written."""
        self._hoisting = self._found(e)
        return self._lower(e)

    def test(self, e: gast.AST) -> gast.AST:
        """`e`, used for its truth, with what must go before it written."""
        self._hoisting = self._found(e, test=True)
        return self._lower(e)

    def _found(self, e: gast.AST, test: bool = False) -> set[int]:
        if not any(isinstance(n, HOISTED) for n in nodes(e)):
            return set()
        return _hoisting(e, test, self.listing.of(e))

    def assign(self, target: str, e: gast.AST) -> None:
        """Write ``target = e``."""
        self._hoisting = set()
        self._into(target, e)

    def needs(self, e: gast.AST) -> bool:
        """Whether statements must go before `e`."""
        return bool(self._found(e))

    def _lower(self, e: gast.AST) -> gast.AST:
        if id(e) not in self._hoisting:
            return e
        if isinstance(e, gast.NamedExpr):
            self._into(e.target.id, e.value)
            return name(e.target.id)
        if isinstance(e, gast.Compare) and any(
            id(c) in self._hoisting for c in e.comparators[1:]
        ):
            e = self._conjunction(e)
        if isinstance(e, (gast.IfExp, *LISTED)):
            return self._temporary(e)
        if isinstance(e, gast.BoolOp) and not self._first_only(e):
            return self._temporary(e)
        self._operands(e)
        return e

    def _first_only(self, e: gast.BoolOp) -> bool:
        """Whether only the first operand, which is always evaluated, is hoisted."""
        return is_boolean(e) and not any(id(v) in self._hoisting for v in e.values[1:])

    def _temporary(self, e: gast.AST) -> gast.Name:
        fresh = self.writer.names.fresh("test" if is_boolean(e) else noun(e))
        self._into(fresh, e)
        return name(fresh)

    def _operands(self, e: gast.AST) -> None:
        slots = _slots(e)
        hoisting = [id(_get(*slot)) in self._hoisting for slot in slots]
        last = max(k for k, hoists in enumerate(hoisting) if hoists)
        written = [walrus_targets(_get(*slot)) for slot in slots]
        for k, (box, key) in enumerate(slots[: last + 1]):
            operand = _get(box, key)
            later = set().union(*written[k + 1 : last + 1])
            if k < last and not self._stable(operand, later):
                self._hoisting |= self._found(operand)
            operand = self._lower(operand)
            if k < last and not self._stable(operand, later):
                operand = self.writer.bind(operand, noun(operand))
            _set(box, key, operand)

    def _stable(self, operand: gast.AST, later: set[str]) -> bool:
        """Whether `operand` means the same after the assignments to `later`."""
        if isinstance(operand, gast.Name):
            return operand.id not in later
        return isinstance(operand, (gast.Constant, gast.Lambda))

    def _into(self, target: str, e: gast.AST) -> None:
        """Write ``target = e``, choices as ``if`` statements."""
        # Inside a test until now, a value from here on.
        self._hoisting |= self._found(e)
        if id(e) not in self._hoisting:
            self.writer.assign(target, e)
        elif isinstance(e, LISTED):
            taken = target in self.captured or target in names_read(e)
            into = self.writer.names.fresh(noun(e)) if taken else target
            try:
                loop = self.listing.loop(e, into, self.writer.at)
            except Captured:
                self.writer.assign(target, e)
                return
            around = self._hoisting
            self.run(loop)
            self._hoisting = around
            self.writer.assign(target, name(into))
        elif isinstance(e, gast.IfExp):
            test = self._lower(e.test)
            with self.writer.block() as body:
                self._into(target, e.body)
            with self.writer.block() as orelse:
                self._into(target, e.orelse)
            self._choose(test, body, orelse)
        elif isinstance(e, gast.BoolOp) and not self._first_only(e):
            self._short_circuit(target, e)
        else:
            self.writer.assign(target, self._lower(e))

    def _short_circuit(self, target: str, e: gast.BoolOp) -> None:
        first, *others = e.values
        if target in self.captured or any(
            target in names_read(v) | walrus_targets(v) for v in others
        ):
            self.writer.assign(target, self._temporary(e))
            return
        self._into(target, first)
        with self.writer.block() as body:
            if len(others) == 1:
                self._into(target, others[0])
            else:
                tail = gast.BoolOp(e.op, others)
                self._hoisting.add(id(tail))
                self._short_circuit(target, tail)
        if isinstance(e.op, gast.And):
            self._choose(name(target), body, [])
        else:
            self._choose(negated(name(target)), body, [])

    def _choose(self, test, body, orelse) -> None:
        if not body:
            test, body, orelse = negated(test), orelse, []
        if body:
            self.writer.add(gast.If(test, body, orelse))
        else:
            self.writer.add(gast.Expr(test))

    def _conjunction(self, e: gast.Compare) -> gast.BoolOp:
        """``a < b < c`` as ``a < (m := b) and m < c``."""
        values = []
        left = e.left
        for k, (op, right) in enumerate(zip(e.ops, e.comparators)):
            shared = right
            if k < len(e.ops) - 1 and not isinstance(right, gast.Constant):
                fresh = self.writer.names.fresh("middle")
                shared = name(fresh)
                right = gast.NamedExpr(name(fresh, store=True), right)
            values.append(gast.Compare(left, [op], [right]))
            left = clone(shared)
        both = gast.BoolOp(gast.And(), values)
        self._hoisting |= self._found(both, test=True)
        return both
