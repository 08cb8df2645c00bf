"""Use the adjoint of a place before it is cleared, instead of a copy of it.

    rhs_bar = A_bar[1:-1].copy()              sum_bar = 0.5 * A_bar[1:-1]
    A_bar[1:-1] = 0.0                  →      A_bar[1:-1] = 0.0
    sum_bar = 0.5 * rhs_bar

That is done where the copy is read once, by the next statement, which makes a new value
of it and reads nothing else of the array.
"""

from __future__ import annotations

import gast

from sct import grammar
from sct.optimize import rebuild
from sct.optimize.effects import Effects, effects_of
from sct.optimize.facts import Facts

_ARITHMETIC = (gast.BinOp, gast.UnaryOp)


def taken(fn: gast.FunctionDef, facts: Facts) -> tuple[bool, gast.FunctionDef]:
    """Do without copies of what is cleared next.

    Parameters
    ----------
    fn : gast.FunctionDef
        By-name derivative code; left as it is.
    facts : Facts
        What is known of it.

    Returns
    -------
    bool
        Whether any copy went.
    gast.FunctionDef
        The function without it.
    """
    count: dict[str, int] = {}
    for s in grammar.statements(fn.body):
        for n, mentions in facts.notes.of(s).counts.items():
            count[n] = count.get(n, 0) + mentions
    mover = _Mover(facts, effects_of(fn, facts), count)
    return rebuild.with_body(fn, mover.block(fn.body))


class _Mover:
    def __init__(self, facts: Facts, effects: Effects, count: dict[str, int]):
        self.facts, self.effects, self.notes = facts, effects, facts.notes
        self.count = count

    def block(self, body: list) -> list:
        body = [
            rebuild.map_blocks(s, self.block) if any(grammar.blocks(s)) else s
            for s in body
        ]
        at = [i for i, s in enumerate(body) if not isinstance(s, grammar.Comment)]
        for i, j, k in zip(at, at[1:], at[2:], strict=False):
            moved = self._moved(body[i], body[j], body[k])
            if moved is not None:
                # The comment above the first announces what is left.
                body[i], body[j], body[k] = moved, body[j], None
        return [s for s in body if s is not None]

    def _moved(self, first, clear, last) -> gast.AST | None:
        """The use of a place, in terms of the place, if nothing is in the way."""
        if not all(isinstance(s, gast.Assign) for s in (first, clear, last)):
            return None
        name, place = first.targets[0], clear.targets[0]
        if not grammar.is_name(name) or not isinstance(place, gast.Subscript):
            return None
        part = self._copied(first.value, name.id)
        if part is None or self._key(part) != self._key(place):
            return None
        if not isinstance(clear.value, gast.Constant):
            return None
        array = grammar.root(place)
        once = self.count.get(name.id) == 2 and name.id in self.facts.temporary
        if not once or not array or not grammar.is_name(last.targets[0]):
            return None
        value = last.value
        if not isinstance(value, _ARITHMETIC) or not self.facts.pure_expression(value):
            return None
        others = self.notes.names(value) - {name.id}
        if name.id not in self.notes.names(value) or self._touches(array, others):
            return None
        bound = last.targets[0].id
        if bound in self.notes.names(place) or not _in_arithmetic(value, name.id):
            return None
        return rebuild.replaced(last, value=_with(value, name.id, part))

    def _copied(self, value: gast.AST, name: str) -> gast.AST | None:
        """The part that is copied; a number is its own copy."""
        func = value.func if isinstance(value, gast.Call) else None
        if isinstance(func, gast.Attribute) and func.attr == "copy" and not value.args:
            value = func.value
        elif name not in self.facts.scalar:
            return None
        return value if isinstance(value, gast.Subscript) else None

    def _key(self, place: gast.Subscript) -> int:
        return self.notes.key(rebuild.replaced(place, ctx=gast.Load()))

    def _touches(self, array: str, names) -> bool:
        cell = self.effects.cell(array)
        return any(
            n not in self.facts.scalar and self.effects.cell(n) == cell for n in names
        )


def _in_arithmetic(node: gast.AST, name: str) -> bool:
    """Whether a name stands in arithmetic only, which makes a new value of it."""
    if isinstance(node, _ARITHMETIC):
        parts = grammar.children(node)
        return all(grammar.is_name(p, name) or _in_arithmetic(p, name) for p in parts)
    return not any(grammar.is_name(n, name) for n in grammar.nodes(node))


def _with(node: gast.AST, name: str, part: gast.AST) -> gast.AST:
    if grammar.is_name(node, name):
        return part
    return rebuild.map_children(node, lambda child: _with(child, name, part))
