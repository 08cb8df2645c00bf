"""Read the original in place of a copy.

    t = out_bar                       t = out_bar
    x_bar = t * y                →    x_bar = out_bar * y

Only copies made by sct are looked through, constants that it named, and arithmetic on
numbers so short that a name would not help (`Facts.repeat`); the copies themselves are
left for `dead_code`.  A `return` keeps its names.
"""

from __future__ import annotations

import gast

from sct import grammar
from sct.optimize import rebuild
from sct.optimize.effects import Effects, effects_of
from sct.optimize.facts import Facts
from sct.optimize.notes import CLOSED


def copies(fn: gast.FunctionDef, facts: Facts) -> tuple[bool, gast.FunctionDef]:
    """Read the original instead of a copy, for copies made by sct.

    Parameters
    ----------
    fn : gast.FunctionDef
        By-name derivative code; left as it is.
    facts : Facts
        What is known of it.

    Returns
    -------
    bool
        Whether anything was replaced.
    gast.FunctionDef
        The function; the copies themselves are left for `dead_code`.
    """
    return rebuild.with_body(fn, _Copies(facts, effects_of(fn, facts)).block(fn.body))


class _Copies:
    # Both names hold the same object, so that in-place writes do not tell them apart;
    # only binding one of them anew does, and `x += e` counts as that.
    def __init__(self, facts: Facts, effects: Effects):
        self.facts, self.effects = facts, effects
        self.original: dict[str, gast.AST] = {}
        self.copied: dict[str, set[str]] = {}
        self.loops = 0

    def block(self, body: list) -> list:
        added: list[str] = []
        new = [self._statement(s, added) for s in body]
        for name in added:
            self.original.pop(name, None)
        return new

    def _statement(self, s: gast.AST, added: list[str]) -> gast.AST:
        effect = self.effects.of(s)
        if isinstance(s, gast.While):
            self._forget(effect.binds)
        replaced = not self.original.keys().isdisjoint(self.facts.notes.of(s).reads)
        if replaced and not isinstance(s, gast.Return):
            s = rebuild.map_head(s, self._replace)
        if isinstance(s, gast.For):
            self._forget(effect.binds)
        if isinstance(s, (gast.For, gast.While)):
            # What is computed before a loop is not computed again in every turn.
            self._forget({n for n, v in self.original.items() if not _is_atom(v)})
            self.loops += 1
        s = rebuild.map_blocks(s, self.block)
        self.loops -= isinstance(s, (gast.For, gast.While))
        self._forget(effect.binds)
        if isinstance(s, gast.Assign) and len(s.targets) == 1:
            self._remember(s.targets[0], s.value, added)
        return s

    def _forget(self, names: set[str]) -> None:
        for n in names:
            self.original.pop(n, None)
            for c in self.copied.pop(n, ()):
                self.original.pop(c, None)

    def _remember(self, target, value, added: list[str]) -> None:
        if not isinstance(target, gast.Name) or target.id not in self.facts.temporary:
            return
        if target.id in self.effects.pinned or target.id in self.effects.stacks:
            return
        if isinstance(value, gast.Name):
            if value.id == target.id or value.id in self.effects.pinned:
                return
            self.copied.setdefault(value.id, set()).add(target.id)
        elif self._repeated(target.id, value):
            for n in self.facts.notes.names(value):
                self.copied.setdefault(n, set()).add(target.id)
        elif not isinstance(value, gast.Constant):
            return
        self.original[target.id] = value
        added.append(target.id)

    def _repeated(self, name: str, value: gast.AST) -> bool:
        """Whether `value` is better read again than kept in a name of its own."""
        return (
            not self.loops
            and name in self.facts.scalar
            and not self.facts.derivative(name)
            and self.facts.repeat(value)
            # ``v = v * x`` read again would be of the new `v`.
            and name not in self.facts.notes.names(value)
        )

    def _replace(self, node: gast.AST) -> gast.AST:
        if isinstance(node, gast.Name):
            if isinstance(node.ctx, gast.Load) and node.id in self.original:
                return grammar.clone(self.original[node.id])
            return node
        if isinstance(node, CLOSED):
            return node
        return rebuild.map_children(node, self._replace)


def _is_atom(node: gast.AST) -> bool:
    return isinstance(node, (gast.Name, gast.Constant))
