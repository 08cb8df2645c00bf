"""Read a value from the name that holds it instead of computing it again.

    e = np.exp(x)                         e = np.exp(x)
    t = np.exp(x)                   →     t = e
    x_bar = out_bar * t                   x_bar = out_bar * t

An expression is available from the statement that computes it, in that block and the
blocks inside, until a name in it is bound again or memory it reads is written.  What
is as cheap as a name is computed again.  Two names come to share a value only when no
memory of either is ever written.
"""

from __future__ import annotations

import gast

from sct import grammar
from sct.optimize import rebuild
from sct.optimize.effects import Effects, effects_of, root
from sct.optimize.facts import Facts

_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Compare)
_CLOSED = (
    gast.Lambda,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
    gast.IfExp,
    gast.BoolOp,
    gast.JoinedStr,
)
_DISPLAYS = (gast.List, gast.Tuple, gast.Dict, gast.Set)

# Stands for what is called, among the classes of memory.
_CALLED = "<called>"

# What becomes of the value of an expression: it is read at once, it gets a name of
# which no memory is ever written, or it is kept where it may be written.
_READ, _SHARED, _KEPT = "read", "shared", "kept"
_CANDIDATES = (gast.BinOp, gast.UnaryOp, gast.Call, gast.Compare, gast.Subscript)


def cse(fn: gast.FunctionDef, facts: Facts) -> tuple[bool, gast.FunctionDef]:
    """Reuse values that a name already holds.

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
        The function with names in place of repeated expressions.
    """
    return rebuild.with_body(fn, _Reuse(facts, effects_of(fn, facts)).block(fn.body))


def _is_call(node: gast.AST) -> bool:
    return isinstance(node, gast.Call)


class _Reuse:
    def __init__(self, facts: Facts, effects: Effects):
        self.facts, self.effects, self.notes = facts, effects, facts.notes
        self.offers = self.notes.about("offers")
        self.holder: dict[int, str] = {}
        self.by_name: dict[str, set[int]] = {}
        self.by_cell: dict[str, set[int]] = {}

    def block(self, body: list) -> list:
        added: list[int] = []
        new = [self._statement(s, added) for s in body]
        for k in added:
            self.holder.pop(k, None)
        return new

    def _statement(self, s: gast.AST, added: list[int]) -> gast.AST:
        if isinstance(s, (gast.For, gast.While)):
            self._forget(s)
        if not isinstance(s, gast.While):
            s = self._reuse(s)
        if any(True for _ in grammar.blocks(s)):
            inner = rebuild.map_blocks(s, self.block)
            self._forget(s)
            return inner
        self._forget(s)
        self._remember(s, added)
        return s

    def _forget(self, s: gast.AST) -> None:
        effect = self.effects.of(s)
        lost: set[int] = set()
        for n in effect.binds:
            lost |= self.by_name.pop(n, set())
        for n in effect.mutates:
            lost |= self.by_cell.pop(self.effects.cell(n), set())
        if effect.impure:
            for keys in self.by_cell.values():
                lost |= keys
            self.by_cell.clear()
        for k in lost:
            self.holder.pop(k, None)

    def _remember(self, s: gast.AST, added: list[int]) -> None:
        if not (isinstance(s, gast.Assign) and len(s.targets) == 1):
            return
        target, value = s.targets[0], s.value
        if not isinstance(target, gast.Name) or target.id in self.effects.pinned:
            return
        if not self._shareable(value):
            return
        read = self.notes.names(value)
        if target.id in read:
            return
        k = self.notes.key(value)
        if k in self.holder:
            return
        self.holder[k] = target.id
        added.append(k)
        # No store writes into `np` or other names for functions.
        callees = {root(n.func) for n in grammar.nodes(value) if _is_call(n)}
        callees = {n for n in callees if n and not self.effects.is_bound(n)}
        for n in read | {target.id}:
            self.by_name.setdefault(n, set()).add(k)
            if n not in self.facts.scalar:
                cell = _CALLED if n in callees else self.effects.cell(n)
                self.by_cell.setdefault(cell, set()).add(k)

    def _shareable(self, node: gast.AST) -> bool:
        known = self.notes.about("shareable")
        if node not in known:
            known[node] = (
                isinstance(node, _CANDIDATES)
                and not self.facts.cheap(node)
                and self.facts.pure_expression(node)
            )
        return known[node]

    def _reuse(self, s: gast.AST) -> gast.AST:
        if not any(k in self.holder for k in self._offered(s)):
            return s
        written = self.effects.of(s).mutates.union(self.notes.of(s).writes)
        plain = isinstance(s, gast.Assign) and all(
            isinstance(t, gast.Name) for t in s.targets
        )
        shared = plain and not any(self.effects.mutable(n) for n in written)
        use = _SHARED if shared else _KEPT
        if isinstance(s, (gast.If, gast.Assert, gast.AugAssign)):
            use = _READ
        if isinstance(s, (gast.Assign, gast.AugAssign)):
            value = self._visit(s.value, use)
            return s if value is s.value else rebuild.replaced(s, value=value)
        if isinstance(s, gast.Return):
            return s
        return rebuild.map_head(s, lambda node: self._visit(node, use))

    def _offered(self, s: gast.AST) -> set[int]:
        """The keys of what a statement computes itself."""
        found = self.offers.get(s)
        if found is None:
            found = self.offers[s] = {
                self.notes.key(n)
                for h in grammar.heads(s)
                for n in grammar.nodes(h)
                if isinstance(n, _CANDIDATES)
            }
        return found

    def _visit(self, node: gast.AST, use: str) -> gast.AST:
        """`node` with names for what is held, as far as its `use` allows."""
        if isinstance(node, _CLOSED):
            return node
        if isinstance(node, _CANDIDATES):
            name = self.holder.get(self.notes.key(node))
            if name and (use == _READ or use == _SHARED and self._constant(name)):
                return grammar.name(name)
        inner = use
        if isinstance(node, _ARITHMETIC):
            inner = _READ
        elif isinstance(node, _DISPLAYS) and use == _READ:
            inner = _KEPT
        elif isinstance(node, gast.Call) and not self.facts.pure(node):
            inner = _KEPT
        return rebuild.map_children(node, lambda child: self._visit(child, inner))

    def _constant(self, name: str) -> bool:
        return not self.effects.mutable(name)
