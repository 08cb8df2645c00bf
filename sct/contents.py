"""Which arrays' contents the backward sweep reads, and which stores leave them be.

A name whose *value* an adjoint reads must be bound to the same array again when the
backward sweep comes by; the elements of that array must be what they were, too.  Where
the program writes into it in between, the part written over is kept, unless

* no adjoint reads elements at all (only a shape, as ``np.zeros_like(x)`` does), or
* the elements that adjoints have read by then are never those written (`disjoint`).

A list that the program appends to is cut back, where an adjoint may read it by an index
that counts from its end, or as a whole, before all appended elements are there.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from sct import grammar
from sct.analysis.disjoint import Place, never_earlier
from sct.context import Step
from sct.stacks import popped, resized

# Functions that read no elements of the argument at this position.
SHAPE_ONLY = {
    "zeros_like": 0,
    "zero_like": 0,
    "zero_structure": 0,
    "unbroadcast": 1,
    "broadcast_like": 1,
    "shape": 0,
    "size": 0,
    "ndim": 0,
    "len": 0,
}


class Contents:
    """What adjoints read of the contents of arrays.

    Parameters
    ----------
    steps : list of Step
        The steps of a function.
    groups : dict
        Name → the names that may refer to the same array, itself included.
    steady : callable
        ``steady(name)``: whether a name is never bound anew.
    """

    def __init__(
        self,
        steps: list[Step],
        groups: dict[str, frozenset[str]],
        steady: Callable[[str], bool],
    ):
        self.groups, self.steady = groups, steady
        self.reads: dict[str, list[Place]] = {}
        self.stores: dict[Step, Place] = {}
        self.tests: dict[Step, Place] = {}
        self.appends: dict[Step, Place] = {}
        # What the heads of loops read.
        self.heads: dict[str, list[Place]] = {}
        # The array that a name looks into, if any, and where.
        self.views: dict[str, list[tuple[str, Place]]] = {}
        # The loops whose every turn begins with an array of its own: name → how many.
        self.renewed: dict[str, list[Place]] = {}
        self._order = 0
        self._walk(steps, (), True)

    def _walk(
        self, steps: list[Step], loops: tuple[gast.AST, ...], always: bool
    ) -> None:
        for step in steps:
            self._order += 2
            # What leads reads what the statement has written.
            self._read(step.lead, loops, self._order + 1)
            self._read(step.adjoint, loops, self._order)
            self._note(step, loops, always)
            if isinstance(step.stmt, gast.For):
                for n in grammar.names_read(step.stmt.iter):
                    place = Place(None, loops, self._order)
                    self.heads.setdefault(n, []).append(place)
            inner = loops
            if isinstance(step.stmt, (gast.For, gast.While)):
                inner = (*loops, step.stmt)
            whole = not isinstance(step.stmt, gast.If)
            if not whole:
                self.tests[step] = Place(None, loops, self._order)
            for arm in step.arms:
                self._walk(arm, inner, whole and (always or inner is not loops))

    def _read(
        self, adjoint: list[gast.AST], loops: tuple[gast.AST, ...], order: int
    ) -> None:
        for stmt in grammar.statements(adjoint):
            for head in grammar.heads(stmt):
                for name, index in _elements(head):
                    place = Place(index, loops, order)
                    self.reads.setdefault(name, []).append(place)

    def _note(self, step: Step, loops: tuple[gast.AST, ...], always: bool) -> None:
        stmt = step.stmt
        if stmt is None:
            return
        if resized(stmt):
            self.appends[step] = Place(None, loops, self._order)
        if grammar.mutates(stmt):
            target = getattr(stmt, "target", None) or stmt.targets[0]
            plain = isinstance(target, gast.Subscript) and grammar.is_name(target.value)
            self.stores[step] = Place(
                target.slice if plain else None, loops, self._order
            )
        elif isinstance(stmt, gast.Assign):
            value = stmt.value
            plain = isinstance(value, gast.Subscript) and grammar.is_name(value.value)
            for n in grammar.writes(stmt):
                if always and not grammar.is_name(value):
                    self.renewed.setdefault(n, []).append(
                        Place(None, loops, self._order)
                    )
                base = value.value.id if plain else ""
                place = Place(value.slice if plain else None, loops, self._order)
                self.views.setdefault(n, []).append((base, place))

    def grown(self, step: Step) -> str:
        """The list that a step makes longer or shorter, if adjoints read it before.

        One that is popped as well is put back at every step, or at none.
        """
        if step not in self.appends:
            return ""
        name = resized(step.stmt)
        steps = [step]
        if any(popped(s.stmt) == name for s in self.appends):
            steps = [s for s in self.appends if resized(s.stmt) == name]
        return name if any(map(self._read_before, steps)) else ""

    def _read_before(self, step: Step) -> bool:
        """Whether an adjoint reads the list of a step as it was before that."""
        name, at = resized(step.stmt), self.appends[step]
        for other in self.groups.get(name, frozenset([name])):
            for p in [*self.reads.get(other, ()), *self.heads.get(other, ())]:
                later = p.order > at.order and not set(p.loops) & set(at.loops)
                fixed = isinstance(p.index, gast.Constant) and p.index.value >= 0
                if not later and not fixed:
                    return True
        return False

    def lasting(self, step: Step, names: set[str]) -> bool:
        """Whether what an ``if`` finds in some names is there on the way back.

        What adjoints read is given back; of the others a shape may be all they read.
        """
        at = self.tests[step]
        changes = {s: grammar.mutates(s.stmt) for s in self.stores}
        changes.update((s, [resized(s.stmt)]) for s in self.appends)
        return not any(
            names & self.groups.get(n, frozenset([n]))
            for s, changed in changes.items()
            if _may_be_before(at, {**self.stores, **self.appends}[s])
            for n in changed
        )

    def overwritten(self, step: Step) -> str:
        """The array of which a store may write over what an adjoint has read."""
        if step not in self.stores:
            return ""
        name = grammar.mutates(step.stmt)[0]
        store = self.stores[step]
        carried = max(
            (
                len(p.loops)
                for p in self.renewed.get(name, ())
                if p.order < store.order and p.loops == store.loops[: len(p.loops)]
            ),
            default=0,
        )
        for other in self.groups.get(name, frozenset([name])):
            places = self.reads.get(other, [])
            if other != name and any(_may_be_before(p, store) for p in places):
                # Of another array's view an index says nothing here.
                places = [
                    p if base == name else Place(None, p.loops, p.order)
                    for base, p in self.views.get(other, [("", Place(None, (), 0))])
                ]
            elif other != name:
                continue
            if not all(never_earlier(p, store, self.steady, carried) for p in places):
                return name
        return ""


def _may_be_before(read: Place, store: Place) -> bool:
    """Whether a read may come before a store, in whatever turns of their loops."""
    return read.order <= store.order or bool(set(read.loops) & set(store.loops))


def _elements(node: gast.AST):
    """The names whose elements an expression reads, with the subscript if any."""
    stack = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, gast.Name):
            if isinstance(n.ctx, gast.Load):
                yield n.id, None
        elif isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name):
            if isinstance(n.ctx, gast.Load):
                yield n.value.id, n.slice
            stack.append(n.slice)
        elif isinstance(n, gast.Attribute) and n.attr in (
            "shape",
            "dtype",
            "size",
            "ndim",
        ):
            continue
        elif isinstance(n, gast.Call):
            word = (
                n.func.attr
                if isinstance(n.func, gast.Attribute)
                else getattr(n.func, "id", "")
            )
            skipped = SHAPE_ONLY.get(word)
            if isinstance(n.func, gast.Attribute):
                stack.append(n.func.value)
            stack += [
                a
                for i, a in enumerate(n.args)
                if i != skipped or not isinstance(a, gast.Name)
            ]
            stack += [k.value for k in n.keywords]
        else:
            stack += grammar.children(n)
