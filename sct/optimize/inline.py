"""Move the expression of a temporary to its only reader.

    t = x * y                         z = x * y + 1.0
    z = t + 1.0                  →
    x_bar = out_bar * y               x_bar = out_bar * y + out_bar * np.cos(x)
    x_bar += out_bar * np.cos(x)

That is done when nothing between the two changes what the expression reads, the order
of effects stays, the line does not get too long, and no comment stands between an
adjoint and its reader.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import gast

from sct import grammar
from sct.optimize import rebuild
from sct.optimize.effects import Effects, effects_of, stack_pop
from sct.optimize.facts import Facts
from sct.optimize.liveness import liveness
from sct.optimize.notes import CLOSED

LINE = 88


def text_width(node: gast.AST) -> int:
    """The length of the text of an expression or simple statement, about."""
    return len(gast.unparse(node).strip("\n"))


def inline(
    fn: gast.FunctionDef, facts: Facts, width: Callable[[gast.AST], int] = text_width
) -> tuple[bool, gast.FunctionDef]:
    """Move the expressions of temporaries to their only readers.

    Parameters
    ----------
    fn : gast.FunctionDef
        By-name derivative code; left as it is.
    facts : Facts
        What is known of it.
    width : callable
        ``width(node)``: how many columns the text of a node takes.

    Returns
    -------
    bool
        Whether anything was moved.
    gast.FunctionDef
        The function without the temporaries that were moved.
    """
    effects = effects_of(fn, facts)
    dying = liveness(fn, facts, effects, dead_read=True).dying
    return rebuild.with_body(
        fn, _inline_block(fn.body, (facts, effects, dying, width), 4)
    )


def _inline_block(body: list, context: tuple, indent: int) -> list:
    block = _Block(context, indent)
    for s in body:
        block.add(s)
    return [s for s in block.out if s is not None]


class _Block:
    """One block under construction: what was written when, by position in `out`."""

    def __init__(self, context: tuple, indent: int):
        self.context, self.indent = context, indent
        self.facts, self.effects, self.dying, self.width = context
        self.notes = self.facts.notes
        self.out: list[gast.AST | None] = []
        self.defs: dict[str, int] = {}
        self.bound: dict[str, list[int]] = {}
        self.written: dict[str, list[int]] = {}
        self.impure: list[int] = []
        self.last_comment = -1

    def add(self, s: gast.AST) -> None:
        if isinstance(s, grammar.Comment):
            self.last_comment = len(self.out)
            self.out.append(s)
            return
        last = set(self.dying.get(id(s), ()))
        refused: set[str] = set()
        while True:
            candidates = [n for n in last - refused if n in self.defs]
            if not candidates:
                break
            name = max(candidates, key=self.defs.__getitem__)
            definition = self.out[self.defs[name]]
            new = self._moved(name, definition, s)
            if new is None:
                refused.add(name)
                continue
            last = (last - {name}) | self.dying.get(id(definition), set())
            self._remove(self.defs[name])
            s = new
        self.dying[id(s)] = last
        inner = self.indent + 4
        s = rebuild.map_blocks(s, lambda b: _inline_block(b, self.context, inner))
        self.dying[id(s)] = last
        self._append(s)

    def _append(self, s: gast.AST) -> None:
        position = len(self.out)
        self.out.append(s)
        for inner in grammar.statements([s]):
            for n in self.notes.of(inner).reads:
                self.defs.pop(n, None)
        effect = self.effects.of(s)
        for n in effect.binds:
            self.bound.setdefault(n, []).append(position)
            self.defs.pop(n, None)
        for n in effect.mutates:
            self.written.setdefault(self.effects.cell(n), []).append(position)
        if effect.impure:
            self.impure.append(position)
        if isinstance(s, gast.Assign) and len(s.targets) == 1:
            t = s.targets[0]
            if isinstance(t, gast.Name) and self._movable(t.id, s):
                self.defs[t.id] = position

    def _movable(self, name: str, s: gast.Assign) -> bool:
        return (
            name in self.facts.temporary
            and name not in self.effects.pinned
            and name not in self.effects.stacks
            and stack_pop(s) not in self.effects.stacks
        )

    def _remove(self, position: int) -> None:
        s = self.out[position]
        self.out[position] = None
        effect = self.effects.of(s)
        for n in effect.binds:
            _drop(self.bound[n], position)
            self.defs.pop(n, None)
        for n in effect.mutates:
            _drop(self.written[self.effects.cell(n)], position)
        if effect.impure:
            _drop(self.impure, position)

    def _moved(
        self, name: str, definition: gast.Assign, s: gast.AST
    ) -> gast.AST | None:
        """`s` with the value of `definition` for `name`, None when that may not be."""
        position = self.defs[name]
        derivative = self.facts.derivative(name)
        if derivative and (self.last_comment > position or isinstance(s, gast.Return)):
            return None
        value = definition.value
        pure = not self.effects.of(definition).impure
        if not (self._unchanged(value, position) if pure else self._adjacent(position)):
            return None
        s = self._accumulation(name, s)
        place = _Place(name, self.facts, self.effects)
        if s is None or not place.found(s):
            return None
        free = self._independent(value)
        if place.after_call and not (pure and free) or place.after_any and not pure:
            return None
        new = rebuild.map_head(s, lambda node: _substituted(node, name, value))
        return new if self._fits(new) else None

    def _unchanged(self, value: gast.AST, position: int) -> bool:
        for n in self.notes.names(value):
            if _since(self.bound.get(n), position):
                return False
            if n not in self.facts.scalar and _since(
                self.written.get(self.effects.cell(n)), position
            ):
                return False
        return self._independent(value) or not _since(self.impure, position)

    def _independent(self, value: gast.AST) -> bool:
        """Whether no effect elsewhere can change `value`."""
        return self.notes.names(value) <= self.facts.scalar

    def _adjacent(self, position: int) -> bool:
        behind = (self.out[i] for i in range(len(self.out) - 1, position, -1))
        return all(s is None or isinstance(s, grammar.Comment) for s in behind)

    def _accumulation(self, name: str, s: gast.AST) -> gast.AST | None:
        """``x += e`` as ``x = x + e``, when it is `name` that is added to."""
        if not isinstance(s, gast.AugAssign) or not grammar.is_name(s.target, name):
            return s
        value = self.out[self.defs[name]].value
        new_memory = isinstance(value, (gast.BinOp, gast.UnaryOp))
        if name not in self.facts.scalar and not new_memory:
            return None
        total = gast.BinOp(grammar.name(name), s.op, s.value)
        return grammar.assign(name, total, at=s)

    def _fits(self, s: gast.AST) -> bool:
        if isinstance(s, gast.If):
            needed = self.width(s.test) + len("if :")
        elif isinstance(s, gast.For):
            needed = self.width(s.target) + self.width(s.iter) + len("for  in :")
        elif isinstance(s, gast.With):
            needed = sum(self.width(i) + 2 for i in s.items) + len("with :")
        else:
            needed = self.width(s)
        return self.indent + needed <= LINE


def _drop(positions: list[int], position: int) -> None:
    """Take one out of ascending positions: one of the last, as a rule."""
    del positions[bisect_left(positions, position)]


def _since(positions: list[int] | None, position: int) -> bool:
    return bool(positions) and positions[-1] > position


def _substituted(node: gast.AST, name: str, value: gast.AST) -> gast.AST:
    if isinstance(node, gast.Name):
        read = isinstance(node.ctx, gast.Load) and node.id == name
        return grammar.clone(value) if read else node
    return rebuild.map_children(node, lambda c: _substituted(c, name, value))


class _Place:
    """Where a statement reads a name, and what it evaluates before that."""

    def __init__(self, name: str, facts: Facts, effects: Effects):
        self.name, self.facts, self.effects = name, facts, effects
        self.notes = facts.notes
        self.count = 0
        self.after_call = False
        self.after_any = False

    def found(self, s: gast.AST) -> bool:
        """Whether `s` reads the name once, where an expression may stand."""
        if isinstance(s, gast.While) or type(s) not in rebuild.HEADS:
            return False
        order = rebuild.HEADS[type(s)]
        if isinstance(s, gast.AugAssign) and not isinstance(s.target, gast.Name):
            order = ("target", "value")
        for field in order:
            value = getattr(s, field)
            for node in value if isinstance(value, list) else [value]:
                if node is not None and not self._walk(node):
                    return False
        return self.count == 1

    def _walk(self, node: gast.AST) -> bool:
        if isinstance(node, gast.Name):
            self.count += node.id == self.name and isinstance(node.ctx, gast.Load)
            return True
        if isinstance(node, CLOSED):
            return self.name not in self.notes.names(node)
        if isinstance(node, (gast.Subscript, gast.Attribute)) and not isinstance(
            node.ctx, gast.Load
        ):
            # The target of a write keeps its name.
            if grammar.is_name(node.value, self.name):
                return False
        short = isinstance(node, (gast.IfExp, gast.BoolOp, gast.Compare))
        if short and self.name in self.notes.names(node):
            self.after_any = True
        for child in grammar.children(node):
            if not self._walk(child):
                return False
        if not self.count:
            self._evaluated(node)
        return True

    def _evaluated(self, node: gast.AST) -> None:
        if isinstance(node, gast.Call):
            self.after_any = True
            self.after_call |= not self.facts.pure(node)
        elif isinstance(node, (gast.Subscript, gast.BinOp)):
            self.after_any |= not self.notes.names(node) <= self.facts.scalar
