"""Write an element or slice of an adjoint once where it would be written twice.

    C_bar[i, j] = 0.0                         beta_bar += rhs_bar * c
    beta_bar += rhs_bar * c            →      C_bar[i, j] = rhs_bar * beta
    C_bar[i, j] += rhs_bar * beta

    x_bar[:-1] = -b_bar                →      x_bar[:-1] = -b_bar - a_bar * y
    x_bar[:-1] -= a_bar * y

    x_bar = np.zeros_like(x)                  x_bar = np.zeros_like(x)
    x_bar[0] += out_bar * y            →      x_bar[0] = out_bar * y

What is put off must not be missed on the way: nothing in between may read or write the
array, bind a name of the index or leave the block.  A sum ``0.0 + e`` is taken for `e`,
as everywhere; with any other first value the two must follow one another.
"""

from __future__ import annotations

import math

import gast

from sct import grammar
from sct.optimize import rebuild
from sct.optimize.effects import Effects, effects_of
from sct.optimize.facts import Facts

_ARITHMETIC = (gast.BinOp, gast.UnaryOp)


def stores(fn: gast.FunctionDef, facts: Facts) -> tuple[bool, gast.FunctionDef]:
    """Join stores into one place of an adjoint with what is added there next.

    Parameters
    ----------
    fn : gast.FunctionDef
        By-name derivative code; left as it is.
    facts : Facts
        What is known of it.

    Returns
    -------
    bool
        Whether anything was joined.
    gast.FunctionDef
        The function with the sums stored at once.
    """
    return rebuild.with_body(fn, _Joiner(facts, effects_of(fn, facts)).block(fn.body))


class _Joiner:
    def __init__(self, facts: Facts, effects: Effects):
        self.facts, self.effects, self.notes = facts, effects, facts.notes
        # Whether what was made of zeros certainly is one array.
        self.arrays: dict[str, bool] = {}

    def block(self, body: list) -> list:
        kept: list = []
        zeros: dict[str, list[gast.AST]] = {}
        waiting: gast.Assign | None = None
        for s in body:
            if any(True for _ in grammar.blocks(s)):
                s, waiting = rebuild.map_blocks(s, self.block), None
            elif waiting is not None and not isinstance(s, grammar.Comment):
                joined = self._joined(waiting, s, kept)
                if joined is not None:
                    kept = [k for k in kept if k is not waiting]
                    s, waiting = joined, None
                elif not self._passes_by(waiting, s):
                    waiting = None
            s = self._first(s, zeros)
            if self._may_wait(s):
                waiting = s
            kept.append(s)
        return kept

    def _may_wait(self, s: gast.AST) -> bool:
        """Whether a statement stores into a place of an adjoint."""
        if not (isinstance(s, gast.Assign) and len(s.targets) == 1):
            return False
        target = s.targets[0]
        return (
            isinstance(target, gast.Subscript)
            and isinstance(target.value, gast.Name)
            and self.facts.derivative(target.value.id)
            and not any(isinstance(n, gast.Call) for n in grammar.nodes(target.slice))
        )

    def _joined(self, first: gast.Assign, s: gast.AST, kept: list) -> gast.AST | None:
        """The one store for a store and what is added to it, if they are that."""
        if not isinstance(s, gast.AugAssign) or type(s.op) not in (gast.Add, gast.Sub):
            return None
        place = first.targets[0]
        if self.notes.key(place) != self.notes.key(s.target):
            return None
        # A name may be an array that is written into later.
        fresh = isinstance(s.value, _ARITHMETIC) or (
            isinstance(s.value, gast.Name) and s.value.id in self.facts.scalar
        )
        if not fresh or self._touches(place.value.id, self.notes.names(s.value)):
            return None
        value = s.value
        if isinstance(first.value, gast.Constant) and first.value.value == 0.0:
            if isinstance(s.op, gast.Sub):
                value = gast.UnaryOp(gast.USub(), value)
        elif next(k for k in reversed(kept) if not _is_said(k)) is first:
            value = gast.BinOp(first.value, s.op, value)
        else:
            return None
        return grammar.located(gast.Assign([place], value, None), s)

    def _first(self, s: gast.AST, zeros: dict[str, list[gast.AST]]) -> gast.AST:
        """`s`, as a plain store if it adds to what is still zero.

        `zeros` are the arrays made of zeros, with the places written to since then.
        """
        target = s.targets[0] if isinstance(s, gast.Assign) else None
        target = s.target if isinstance(s, gast.AugAssign) else target
        place = target if isinstance(target, gast.Subscript) else None
        array = place.value.id if place and grammar.is_name(place.value) else ""
        effect = self.effects.of(s)
        for name in list(zeros):
            seen = effect.impure and self.effects.is_outside(name)
            touched = seen or self._touches(name, effect.mutates)
            if name in effect.binds or touched and name != array:
                del zeros[name]
        if isinstance(s, gast.Assign) and grammar.is_name(s.targets[0]):
            if self.facts.derivative(s.targets[0].id) and _makes_zeros(s.value):
                zeros[s.targets[0].id] = []
                self.arrays[s.targets[0].id] = _called(s.value) == "zeros_like"
        if array not in zeros:
            return s
        others, zeros[array] = zeros[array], [*zeros[array], place.slice]
        if not isinstance(s, gast.AugAssign) or not all(
            _apart(place.slice, other) for other in others
        ):
            return s
        if not self.arrays[array] and not _is_whole(s.value):
            return s
        if type(s.op) is gast.Add:
            value = s.value
        elif type(s.op) is gast.Sub:
            value = gast.UnaryOp(gast.USub(), s.value)
        else:
            return s
        return grammar.located(gast.Assign([place], value, None), s)

    def _passes_by(self, store: gast.Assign, s: gast.AST) -> bool:
        """Whether a statement may as well run before a store."""
        place, effect = store.targets[0], self.effects.of(s)
        if not isinstance(s, (gast.Assign, gast.AugAssign)) or effect.impure:
            return False
        index = self.notes.names(place.slice)
        if (index | {place.value.id}) & effect.binds:
            return False
        if any(self._touches(m, index) for m in effect.mutates):
            return False
        return not self._touches(
            place.value.id, {*self.notes.of(s).reads, *effect.mutates}
        )

    def _touches(self, array: str, names) -> bool:
        """Whether some names may share memory with an array."""
        cell = self.effects.cell(array)
        return any(
            n not in self.facts.scalar and self.effects.cell(n) == cell for n in names
        )


def _makes_zeros(value: gast.AST) -> bool:
    """Whether an expression is a new array, or container of arrays, of zeros."""
    return _called(value) in ("zeros_like", "zero_like", "zero_structure")


def _called(value: gast.AST) -> str:
    func = value.func if isinstance(value, gast.Call) else None
    return getattr(func, "attr", "") or getattr(func, "id", "")


def _is_whole(value: gast.AST) -> bool:
    """Whether a value is all of an item of a container, and nobody else's."""
    of_an_item = _called(value) == "unbroadcast"
    return of_an_item and isinstance(value.args[0], _ARITHMETIC)


def _apart(a: gast.AST, b: gast.AST) -> bool:
    """Whether two indices certainly have no element in common."""
    for one, other in zip(_axes(a), _axes(b), strict=False):
        first, second = _span(one), _span(other)
        if first is None or second is None:
            # The axes that follow may not be the same.
            return False
        if first[1] <= second[0] or second[1] <= first[0]:
            return True
    return False


def _axes(index: gast.AST) -> list[gast.AST]:
    return index.elts if isinstance(index, gast.Tuple) else [index]


def _span(part: gast.AST) -> tuple[float, float] | None:
    """The first index of one axis and the one behind the last, as far as is known."""
    if isinstance(part, gast.Slice):
        low = 0 if part.lower is None else _natural(part.lower)
        high = math.inf if part.upper is None else _natural(part.upper)
        low, high = low or 0, math.inf if high is None else high
        return (low, high) if part.step is None else (0, math.inf)
    at = _natural(part)
    return None if at is None else (at, at + 1)


def _natural(node: gast.AST) -> int | None:
    """The value of a literal that counts from the beginning."""
    value = node.value if isinstance(node, gast.Constant) else None
    return value if type(value) is int and value >= 0 else None


def _is_said(s: gast.AST) -> bool:
    return isinstance(s, grammar.Comment)
