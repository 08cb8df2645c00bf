"""Whether an array is never written at a place where it was read before.

A store ``a[i, j] = e`` in nested loops need not keep what it writes over when no
adjoint reads that element at an earlier time.  A read and a store are compared as in
dependence analysis: their turns are unknown integers, the read's turn comes before the
store's in the order of the loops, every counter lies between the bounds of its
``range``, and all indices are equal.  These are difference constraints ``u - v <= c``;
when they contradict one another (a negative cycle), the two places are never the same.

    for i in range(n):
        for j in range(i):
            ... a[j, k] ...     # read at j < i: row i is not written before turn i
            a[i, j] = e

(Constraint systems of this form: Cormen et al., *Introduction to Algorithms*, 24.4.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import gast

from sct import grammar

# An affine term: a name (or "" for zero) and an offset.
Term = tuple[str, int]


@dataclass(frozen=True)
class Place:
    """One access to an array.

    Attributes
    ----------
    index : gast.AST or None
        The subscript; None for the whole array.
    loops : tuple of gast.AST
        The loops around it, outermost first.
    order : int
        Where it stands in the text.
    """

    index: gast.AST | None
    loops: tuple[gast.AST, ...]
    order: int


def never_earlier(
    read: Place,
    store: Place,
    steady: Callable[[str], bool],
    carried: int = 0,
) -> bool:
    """Whether `read` never touches, before `store` runs, an element that it writes.

    Parameters
    ----------
    read, store : Place
        Two accesses to one array.
    steady : callable
        Whether a name keeps its value throughout.
    carried : int
        So many outer loops are in the same turn for both.
    """
    common = 0
    for a, b in zip(read.loops, store.loops, strict=False):
        if a is not b:
            break
        common += 1
    if common == 0 and read.order > store.order:
        return True
    # The read in an earlier turn of the loop at some level, or before in the same one.
    levels = list(range(carried, common))
    cases: list[int | None] = [*levels]
    if read.order <= store.order:
        cases.append(None)
    if cases and (read.index is None or store.index is None):
        return False
    return all(_impossible(read, store, steady, common, level) for level in cases)


def _impossible(
    read: Place,
    store: Place,
    steady: Callable[[str], bool],
    common: int,
    level: int | None,
) -> bool:
    system = _System(steady)
    for side, place in (("r", read), ("s", store)):
        for loop in place.loops:
            system.bounds(loop, side)
    for k in range(common if level is None else level):
        counter = _counter(read.loops[k])
        if counter:
            system.equal((f"{counter}:r", 0), (f"{counter}:s", 0))
    if level is not None:
        loop = read.loops[level]
        counter, step = _counter(loop), _step(loop)
        if not counter or not step:
            return False
        first, second = (f"{counter}:r", 0), (f"{counter}:s", 0)
        if step < 0:
            first, second = second, first
        system.less(first, second)
    if not system.same_place(read, store):
        return False
    return system.contradicts()


class _System:
    """Constraints ``u - v <= c`` on the counters of both accesses."""

    def __init__(self, steady: Callable[[str], bool]):
        self.steady = steady
        self.edges: list[tuple[str, str, int]] = []
        self.fresh = 0
        self.counters: dict[str, set[str]] = {"r": set(), "s": set()}

    def at_most(self, a: Term, b: Term) -> None:
        """``a <= b``."""
        self.edges.append((a[0], b[0], b[1] - a[1]))

    def less(self, a: Term, b: Term) -> None:
        self.at_most((a[0], a[1] + 1), b)

    def equal(self, a: Term, b: Term) -> None:
        self.at_most(a, b)
        self.at_most(b, a)

    def bounds(self, loop: gast.AST, side: str) -> None:
        """Take in the range of a loop's counter, if it has one."""
        counter = _counter(loop)
        if not counter:
            return
        low, high = _range(loop)
        self.counters[side].add(counter)
        own = (f"{counter}:{side}", 0)
        lower = self.term(low, side) if low is not None else None
        upper = self.term(high, side) if high is not None else None
        if lower is not None:
            self.at_most(lower, own)
        if upper is not None:
            self.less(own, upper)

    def term(self, node: gast.AST, side: str) -> Term | None:
        """``i + 1`` and the like as a term, a counter by the turn of its side."""
        if isinstance(node, gast.Constant) and type(node.value) is int:
            return ("", node.value)
        if isinstance(node, gast.Name):
            if node.id in self.counters[side]:
                return (f"{node.id}:{side}", 0)
            return (node.id, 0) if self.steady(node.id) else None
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
            inner = self.term(node.operand, side)
            return ("", -inner[1]) if inner and not inner[0] else None
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
            left, right = self.term(node.left, side), self.term(node.right, side)
            if left is None or right is None:
                return None
            if isinstance(node.op, gast.Sub):
                return (left[0], left[1] - right[1]) if not right[0] else None
            if left[0] and right[0]:
                return None
            return (left[0] or right[0], left[1] + right[1])
        return None

    def same_place(self, read: Place, store: Place) -> bool:
        """Demand that all indices be equal; False when nothing can be demanded."""
        a, b = _parts(read.index), _parts(store.index)
        known = False
        for left, right in zip(a, b, strict=False):
            points = [self.point(left, "r"), self.point(right, "s")]
            if None in points:
                continue
            self.equal(*points)
            known = True
        return known

    def point(self, part: gast.AST, side: str) -> Term | None:
        """An element of one axis: an index, or some index within a slice."""
        if not isinstance(part, gast.Slice):
            found = self.term(part, side)
            return found if found is not None and self.natural(found) else None
        if part.step is not None:
            return None
        self.fresh += 1
        own = (f"slice {self.fresh}", 0)
        self.at_most(("", 0), own)
        lower = self.term(part.lower, side) if part.lower is not None else None
        upper = self.term(part.upper, side) if part.upper is not None else None
        if lower is not None and self.natural(lower):
            self.at_most(lower, own)
        if upper is not None and self.natural(upper):
            self.less(own, upper)
        return own

    def natural(self, term: Term) -> bool:
        """Whether a term is certainly not negative (or it would count from the end)."""
        other = _System(self.steady)
        other.edges = [*self.edges]
        other.at_most(term, ("", -1))
        return other.contradicts()

    def contradicts(self) -> bool:
        """Whether the constraints have no solution (Bellman and Ford)."""
        names = {n for a, b, _ in self.edges for n in (a, b)}
        distance = dict.fromkeys(names, 0)
        for _ in range(len(names) + 1):
            changed = False
            for a, b, c in self.edges:
                if distance[b] + c < distance[a]:
                    distance[a] = distance[b] + c
                    changed = True
            if not changed:
                return False
        return True


def _counter(loop: gast.AST) -> str:
    return loop.target.id if isinstance(loop, gast.For) else ""


def _call(loop: gast.For) -> tuple[gast.Call, bool]:
    """The ``range(...)`` of a loop, and whether it is reversed."""
    call = loop.iter
    back = isinstance(call, gast.Call) and grammar.is_name(call.func, "reversed")
    return (call.args[0] if back else call), back


def _step(loop: gast.AST) -> int:
    """+1 or -1 for a counter that goes up or down; 0 when that is not known."""
    if not isinstance(loop, gast.For):
        return 0
    call, back = _call(loop)
    if not isinstance(call, gast.Call) or not grammar.is_name(call.func, "range"):
        return 0
    step = 1
    if len(call.args) == 3:
        value = call.args[2]
        negative = isinstance(value, gast.UnaryOp) and isinstance(value.op, gast.USub)
        value = value.operand if negative else value
        if not isinstance(value, gast.Constant) or value.value <= 0:
            return 0
        step = -1 if negative else 1
    return -step if back else step


def _range(loop: gast.For) -> tuple[gast.AST | None, gast.AST | None]:
    """The lowest value of a counter and the first above its highest, if known."""
    call, _ = _call(loop)
    if not isinstance(call, gast.Call) or not grammar.is_name(call.func, "range"):
        return None, None
    if len(call.args) == 1:
        return grammar.constant(0), call.args[0]
    if len(call.args) == 2:
        return call.args[0], call.args[1]
    start, stop, _ = call.args
    step = _step(gast.For(loop.target, call, [], [], None))
    one = grammar.constant(1)
    if step > 0:
        return start, stop
    if step < 0:
        return gast.BinOp(stop, gast.Add(), one), gast.BinOp(start, gast.Add(), one)
    return None, None


def _parts(index: gast.AST) -> list[gast.AST]:
    return index.elts if isinstance(index, gast.Tuple) else [index]
