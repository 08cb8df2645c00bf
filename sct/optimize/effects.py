"""What a statement does to the names around it, and which names may share memory.

`Effects` looks at a whole function once.  Memory is tracked by classes of names: two
names are in one class when a value may flow from one to the other without being
computed anew (``y = x``, ``y = x[1:]``, ``y = np.reshape(x, -1)``; not ``y = x + 1``).
Of the outside (parameters and free names) anything may share with anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import gast

from sct import grammar
from sct.optimize.facts import Facts

_OUTSIDE = "<outside>"
_DISPLAYS = (gast.List, gast.Tuple)
_ARITHMETIC = (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant, gast.JoinedStr)


@dataclass
class Effect:
    """Names bound, names whose value is written in place, and whether more happens."""

    binds: set[str] = field(default_factory=set)
    mutates: set[str] = field(default_factory=set)
    impure: bool = False


@dataclass(frozen=True, slots=True)
class Flow:
    """Names that come to share memory when a statement runs.

    Attributes
    ----------
    into : tuple of str
        Where a value goes.
    names : frozenset of str
        What it may be part of.
    sums : tuple of sets of str
        What it may be made of where one of the names holds a container: joined lists
        share their elements.
    """

    into: tuple[str, ...]
    names: frozenset[str]
    sums: tuple[frozenset[str], ...]


def root(node: gast.AST) -> str | None:
    """The name that a chain of subscripts, attributes and views starts from."""
    return grammar.root(node) or None


def stack_call(node: gast.AST) -> tuple[str, str] | None:
    """``(s, "append")`` or ``(s, "pop")`` for a call on a list used as a stack."""
    if not (isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute)):
        return None
    owner, method = node.func.value, node.func.attr
    arity = {"append": 1, "pop": 0}.get(method)
    if not isinstance(owner, gast.Name) or node.keywords or len(node.args) != arity:
        return None
    return owner.id, method


def stack_push(stmt: gast.AST) -> tuple[str, gast.AST] | None:
    """``(s, v)`` when the statement is ``s.append(v)``."""
    if isinstance(stmt, gast.Expr):
        found = stack_call(stmt.value)
        if found and found[1] == "append":
            return found[0], stmt.value.args[0]
    return None


def stack_pop(stmt: gast.AST) -> str | None:
    """``s`` when the statement is ``target = s.pop()`` or ``s.pop()``."""
    if isinstance(stmt, (gast.Assign, gast.Expr)):
        found = stack_call(stmt.value)
        if found and found[1] == "pop":
            return found[0]
    return None


def is_new_list(stmt: gast.AST) -> bool:
    """Whether the statement is ``s = []``."""
    return (
        isinstance(stmt, gast.Assign)
        and len(stmt.targets) == 1
        and isinstance(stmt.targets[0], gast.Name)
        and isinstance(stmt.value, gast.List)
        and not stmt.value.elts
    )


def effects_of(fn: gast.FunctionDef, facts: Facts) -> Effects:
    """The `Effects` of a function; the same ones as long as it is the same tree."""
    latest = facts.notes.about("effects")
    if fn not in latest:
        latest.clear()
        latest[fn] = Effects(fn, facts)
    return latest[fn]


class Effects:
    """Effects of statements and sharing of memory in one function.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function; it must not change while this object is asked.
    facts : Facts
        What is known of it.

    Attributes
    ----------
    stacks : set of str
        Names made by sct that hold lists which are only pushed, popped and tested.
    pinned : set of str
        Names read by local functions, at times this analysis cannot know.
    """

    def __init__(self, fn: gast.FunctionDef, facts: Facts):
        self.facts, self.notes = facts, facts.notes
        self._parent: dict[str, str] = {}
        self._containers: set[str] = set()
        every = list(grammar.statements(fn.body))
        a = fn.args
        own = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
        self._local = {n for s in every for n in self.notes.of(s).writes}
        for p in own:
            if p is not None:
                self._union(p.id, _OUTSIDE)
        self._parameters = {p.id for p in own if p is not None}
        self.pinned = {n for s in every for n in self.notes.of(s).deferred}
        self.stacks = self._find_stacks(every)
        # What a statement does hangs on the function by this alone: what is read
        # stays bound, whatever the passes drop.
        self._known = self.notes.about(("effect", frozenset(self.stacks)))
        self._flows = self.notes.about(("flow", frozenset(self.stacks)))
        self._share(every)
        self._mutated: set[str] = set()
        for s in fn.body:
            effect = self.of(s)
            self._mutated |= {self._find(m) for m in effect.mutates}
            if effect.impure:
                self._mutated.add(self._find(_OUTSIDE))

    # Which names play which part.

    def _find_stacks(self, every: list[gast.AST]) -> set[str]:
        born = {s.targets[0].id for s in every if is_new_list(s)}
        born = (born & self.facts.temporary) - self.pinned
        if not born:
            return born
        # Mentions that are those of a stack, less all mentions.
        balance = dict.fromkeys(born, 0)
        for s in every:
            counts = self.notes.of(s).counts
            mentioned = born.intersection(counts)
            if not mentioned:
                continue
            for n in mentioned:
                balance[n] -= counts[n]
            push, pop = stack_push(s), stack_pop(s)
            if is_new_list(s):
                used = s.targets[0].id
            elif push or pop:
                used = push[0] if push else pop
            elif isinstance(s, gast.While) and isinstance(s.test, gast.Name):
                used = s.test.id
            else:
                continue
            if used in born:
                balance[used] += 1
        return {n for n in born if not balance[n]}

    # Sharing.

    def _find(self, name: str) -> str:
        parent = self._parent
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    def _union(self, a: str, b: str) -> None:
        if a not in self.facts.scalar and b not in self.facts.scalar:
            self._parent[self._find(a)] = self._find(b)

    def _sources(self, node: gast.AST, names: set[str], sums: list) -> None:
        """Note what the value of `node` may share memory with."""
        if isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Mult)):
            sides = (node.left, node.right)
            if any(isinstance(e, _DISPLAYS) for e in sides):
                names |= self.notes.names(node)
            else:
                sums.append(self.notes.names(node))
        elif isinstance(node, gast.Name):
            known = node.id in self._local or node.id in self._parameters
            names.add(node.id if known else _OUTSIDE)
        elif isinstance(node, gast.Call):
            if self.facts.fresh(node):
                return
            parts = list(self.facts.lends(node))
            owner = root(node.func)
            if owner is None or owner in self._local or owner in self._parameters:
                parts.append(node.func)
            for p in parts:
                self._sources(p, names, sums)
            stack = stack_call(node)
            if not self.facts.pure(node) and not (stack and stack[0] in self.stacks):
                names.add(_OUTSIDE)
        elif isinstance(node, gast.Subscript):
            self._sources(node.value, names, sums)
        elif not isinstance(node, _ARITHMETIC):
            for c in grammar.children(node):
                self._sources(c, names, sums)

    def _share(self, every: list[gast.AST]) -> None:
        sums: list[Flow] = []
        for s in every:
            flows = self._flows.get(s)
            if flows is None:
                flows = self._flows[s] = self._flows_of(s)
            for flow in flows:
                self._join(flow.into, flow.names)
                if flow.sums:
                    sums.append(flow)
            if isinstance(s, gast.Assign) and isinstance(s.value, _DISPLAYS):
                into = {n for t in s.targets for n in _roots(t)}
                self._containers |= into - self.stacks
        containers = -1
        while containers != len(self._containers):
            containers = len(self._containers)
            for flow in sums:
                for names in flow.sums:
                    if not names.isdisjoint(self._containers):
                        self._join(flow.into, names)
            heads = {self._find(c) for c in self._containers}
            self._containers |= {n for n in self._parent if self._find(n) in heads}

    def _join(self, into: tuple[str, ...], names: Iterable[str]) -> None:
        for n in names:
            for target in into:
                self._union(target, n)

    def _flows_of(self, s: gast.AST) -> list[Flow]:
        """What comes to share memory by a statement itself."""
        push = stack_push(s)
        if push and push[0] in self.stacks:
            return [self._flow([push[0]], push[1])]
        found = []
        if isinstance(s, gast.Assign):
            into = [n for t in s.targets for n in _roots(t)]
            value = s.value
        elif isinstance(s, gast.AugAssign):
            into, value = _roots(s.target), gast.BinOp(s.target, s.op, s.value)
        elif isinstance(s, gast.For):
            into, value = _roots(s.target), s.iter
        elif isinstance(s, gast.With):
            into, value = (
                self.notes.of(s).writes,
                gast.Tuple(grammar.heads(s), gast.Load()),
            )
        else:
            into = []
        into = [n for n in into if n not in self.facts.scalar]
        if into:
            found.append(self._flow(into, value))
        # An unknown call may store one of its arguments in another.
        for call in self.notes.of(s).impure:
            stack = stack_call(call)
            if not (stack and stack[0] in self.stacks):
                found.append(self._flow([_OUTSIDE], call))
        return found

    def _flow(self, into: list[str], value: gast.AST) -> Flow:
        names: set[str] = set()
        sums: list[frozenset[str]] = []
        self._sources(value, names, sums)
        return Flow(tuple(into), frozenset(names), tuple(sums))

    def is_bound(self, name: str) -> bool:
        """Whether a name is the function's own, a parameter or bound in it."""
        return name in self._local or name in self._parameters

    def cell(self, name: str) -> str:
        """A representative of the names that `name` may share memory with."""
        return self._find(name if self.is_bound(name) else _OUTSIDE)

    def mutable(self, name: str) -> bool:
        """Whether the value of `name` may be written in place anywhere."""
        return name not in self.facts.scalar and self.cell(name) in self._mutated

    def is_outside(self, name: str) -> bool:
        """Whether the value of `name` may be known to somebody else."""
        return self.cell(name) == self._find(_OUTSIDE)

    # Effects.

    def of(self, stmt: gast.AST) -> Effect:
        """The effect of a statement with everything inside it."""
        known = self._known.get(stmt)
        if known is None:
            known = self._own(stmt)
            for inner in (self.of(s) for b in grammar.blocks(stmt) for s in b):
                known.binds |= inner.binds
                known.mutates |= inner.mutates
                known.impure |= inner.impure
            self._known[stmt] = known
        return known

    def _own(self, s: gast.AST) -> Effect:
        binds = set(self.notes.of(s).writes)
        mutates: set[str] = set()
        push, pop = stack_push(s), stack_pop(s)
        if isinstance(s, (gast.Assign, gast.AugAssign)):
            for t in s.targets if isinstance(s, gast.Assign) else [s.target]:
                mutates |= _written(t)
            if isinstance(s, gast.AugAssign):
                mutates |= binds - self.facts.scalar
        stack = push[0] if push else pop
        if stack in self.stacks:
            # A stack is read by its own operations only: as good as rebound.
            impure = bool(push) and not self.facts.pure_expression(push[1])
            return Effect(binds | {stack}, mutates, impure)
        impure = isinstance(s, gast.With) or not self.notes.of(s).pure
        return Effect(binds, mutates, impure)


def _roots(target: gast.AST) -> list[str]:
    if isinstance(target, (gast.Tuple, gast.List)):
        return [n for t in target.elts for n in _roots(t)]
    found = root(target)
    return [found] if found else []


def _written(target: gast.AST) -> set[str]:
    """The names whose value an assignment to `target` changes in place."""
    if isinstance(target, (gast.Tuple, gast.List)):
        return {n for t in target.elts for n in _written(t)}
    if isinstance(target, (gast.Subscript, gast.Attribute)):
        found = root(target)
        return {found} if found else set()
    return set()
