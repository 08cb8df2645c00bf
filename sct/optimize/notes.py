"""What is found out about single nodes, once for each node.

A pass keeps the nodes that it does not change, so that what one pass found out about
them holds for the next.  No node is changed in place while notes about it are kept.

    notes.names(e)    the names that an expression reads
    notes.key(e)      equal for expressions written alike, and for no others
    notes.of(s)       what a statement reads, binds and calls
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

import gast

from sct import grammar

FUNCTIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)

# What evaluates its parts later, or many times.
CLOSED = (
    gast.Lambda,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
    *FUNCTIONS,
)
_UNSTEADY = (gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)


@dataclass(slots=True)
class Note:
    """What a statement itself does; a compound one in its head.

    Attributes
    ----------
    reads : frozenset of str
        The names that it reads.
    writes : tuple of str
        The names that it binds.
    deferred : frozenset of str
        The names in what it evaluates at another time.
    impure : tuple of trees
        Its calls that have an effect.
    pure : bool
        Whether evaluating it has no effect, function bodies left out.
    counts : dict
        How often it mentions each name.
    """

    reads: frozenset[str]
    writes: tuple[str, ...]
    deferred: frozenset[str]
    impure: tuple[gast.Call, ...]
    pure: bool
    counts: dict[str, int]


@dataclass
class Notes:
    """Notes about the nodes of one function, through all passes.

    Parameters
    ----------
    pure_call : callable
        ``pure_call(call)``: whether a call has no effect.

    Attributes
    ----------
    seen : dict
        What passes note down themselves: what about → about which → what.
    """

    pure_call: Callable[[gast.Call], bool]
    seen: dict[Hashable, dict] = field(default_factory=dict)
    _statements: dict[gast.AST, Note] = field(default_factory=dict)
    _names: dict[gast.AST, frozenset[str]] = field(default_factory=dict)
    _pure: dict[gast.AST, bool] = field(default_factory=dict)
    _keys: dict[gast.AST, int] = field(default_factory=dict)
    _numbers: dict[tuple, int] = field(default_factory=dict)

    def about(self, subject: Hashable) -> dict:
        """What passes have noted down about a subject: a dictionary to add to."""
        return self.seen.setdefault(subject, {})

    def names(self, node: gast.AST) -> frozenset[str]:
        """The names that an expression reads."""
        found = self._names.get(node)
        if found is None:
            found = self._names[node] = frozenset(grammar.names_read(node))
        return found

    def pure(self, node: gast.AST) -> bool:
        """Whether evaluating an expression has no effect that anybody could see."""
        if isinstance(node, (gast.Name, gast.Constant)):
            return True
        found = self._pure.get(node)
        if found is None:
            found = not isinstance(node, _UNSTEADY) and (
                not isinstance(node, gast.Call) or self.pure_call(node)
            )
            found = found and all(self.pure(n) for n in grammar.children(node))
            self._pure[node] = found
        return found

    def key(self, node: gast.AST) -> int:
        """A number that is equal for expressions written alike, and for no others."""
        found = self._keys.get(node)
        if found is None:
            if isinstance(node, gast.Name):
                parts = (gast.Name, node.id, type(node.ctx))
            elif isinstance(node, gast.Constant):
                value = node.value
                parts = (gast.Constant, type(value), repr(value), node.kind)
            else:
                fields = [self._part(getattr(node, f, None)) for f in node._fields]
                parts = (type(node), *fields)
            found = self._numbers.setdefault(parts, len(self._numbers))
            self._keys[node] = found
        return found

    def _part(self, value: object) -> Hashable:
        if isinstance(value, list):
            return tuple([self._part(v) for v in value])
        return self.key(value) if isinstance(value, gast.AST) else value

    def of(self, stmt: gast.AST) -> Note:
        """What a statement itself does."""
        found = self._statements.get(stmt)
        if found is None:
            found = self._statements[stmt] = self._note(stmt)
        return found

    def _note(self, stmt: gast.AST) -> Note:
        deferred: set[str] = set()
        impure: list[gast.Call] = []
        counts: dict[str, int] = {}
        heads = grammar.heads(stmt)
        inside = [stmt] if isinstance(stmt, FUNCTIONS) else [*heads, *_targets(stmt)]
        for n in [n for part in inside for n in grammar.nodes(part)]:
            if isinstance(n, gast.Name):
                counts[n.id] = counts.get(n.id, 0) + 1
            elif isinstance(n, gast.Call):
                if not self.pure_call(n):
                    impure.append(n)
            elif isinstance(n, CLOSED):
                inner = grammar.nodes(n)
                deferred |= {m.id for m in inner if isinstance(m, gast.Name)}
        if isinstance(stmt, (gast.Global, gast.Nonlocal)):
            deferred |= set(stmt.names)
        return Note(
            frozenset(grammar.reads(stmt)),
            tuple(grammar.writes(stmt)),
            frozenset(deferred),
            tuple(impure),
            all(self.pure(h) for h in heads if not isinstance(h, CLOSED)),
            counts,
        )


def _targets(s: gast.AST) -> list[gast.AST]:
    if isinstance(s, gast.Assign):
        return [t for t in s.targets if isinstance(t, gast.Name)]
    if isinstance(s, gast.For):
        return [s.target]
    if isinstance(s, gast.With):
        return [i.optional_vars for i in s.items if i.optional_vars]
    return []
