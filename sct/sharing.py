"""Which names may refer to one array, and who writes into it.

::

    row = a[i]          # row looks into a
    rows.append(row)    # rows holds row, and so a part of a
    row[0] = 1.0        # writes into a, row and what rows holds

`Sharing` follows that through a function, statement by statement.  What it finds is an
upper bound: names that share nothing may be said to, never the other way round.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Container

import gast
import numpy as np

from sct import grammar, operations
from sct.analysis import dataflow, disjoint
from sct.analysis.aliases import is_fresh
from sct.arguments import bind, parameter_names
from sct.errors import SctError
from sct.helpers import is_helper
from sct.inplace import in_place_forms
from sct.names import Names, used_names
from sct.normalise import normalise
from sct.operations import Operation, Resolver, unwrap
from sct.questions import about_functions
from sct.resolve import MISSING, hashable
from sct.stacks import popped, resized
from sct.structures import lists_only, structures

GIVEN = "the caller's "
# What puts its arguments into the container that it is a method of.
KEEPS = {"append", "extend", "insert", "add", "update", "setdefault", "appendleft"}
# Whose values are always new.
NEW = (
    *(gast.BinOp, gast.UnaryOp, gast.Compare, gast.BoolOp),
    *(gast.Constant, gast.JoinedStr),
)
# Whose values look into their first argument, if into any.
OF_FIRST = {
    np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.squeeze,
    np.expand_dims, np.broadcast_to, np.diagonal, np.flip,
}  # fmt: skip
DISPLAYS = (gast.List, gast.Tuple, gast.Dict, gast.Set)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
# Name → the names that may refer to the same array.
Shared = dict[str, frozenset[str]]


class Sharing:
    """Which names may refer to one array, and which writes that concerns.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    classify : callable
        ``classify(expr) -> Operation``.
    numbers : set of str
        Names that only ever hold numbers, which nobody can write into.
    inner : bool
        Whether ``p += e`` on an array of the caller's matters as well.
    picking : collection of str
        Names that hold arrays, lists or truth values: what they pick is a copy.

    Attributes
    ----------
    copied : list of str
        The parameters whose array is written into.
    seconds : dict
        Second name → the statements that write into its array while it is to be read.
    twice : set of str
        Containers that may hold one array in two places.
    final : dict
        Name → the names that may refer to its array at the end.
    """

    def __init__(
        self,
        fn,
        classify,
        numbers: set[str],
        inner: bool = False,
        picking: Collection[str] = (),
    ):
        self.classify, self.numbers, self.inner = classify, numbers, inner
        self.picking = frozenset(picking)
        self.body, self.parameters = fn.body, parameter_names(fn)
        self.found = structures(fn, classify, set())
        self.lists = lists_only(fn, classify)
        self.containers = self.found.all | self.lists
        self.seconds: dict[str, list[gast.AST]] = {}
        # What the arrays are known by that a statement writes into, by its id.
        self._reached: dict[int, set[str]] = {}
        self.twice: set[str] = set()
        # All names of what containers hold, and what each was given by name.
        self._held: set[str] = set()
        self._gave: dict[str, set[str]] = {}
        # What is written into, and the ids of the statements that may do it.
        self._written: dict[str, set[int]] = {}
        self.where = _places(fn.body)
        for p in self.parameters:
            self.where.definitions.setdefault(p, [])
        self._fixed = _fixed(fn)
        self._nested = self._nesting()
        self._live: dict[int, set[str]] = {}
        # The ids of ``y = x`` and ``l = [x, y]``, and whether these are read no more.
        self._moves: dict[int, bool] = {}
        liveness = dataflow.Backward(self._before)
        liveness.run(fn.body, set())
        self._alive_at = liveness.points
        # A parameter refers to the array that the caller gave, whatever becomes of it.
        start: Shared = {}
        for p in self.parameters:
            start[p], start[GIVEN + p] = frozenset([GIVEN + p]), frozenset([p])
        self.final = dataflow.Forward(self._after, _either).run(fn.body, start) or {}
        self.copied = self.changed_by_others_than(set())

    def changed_by_others_than(self, harmless: set[int]) -> list[str]:
        """The parameters whose array may be written into, not by `harmless` alone."""
        writers = {p: self._written.get(GIVEN + p, set()) for p in self.parameters}
        return [p for p, found in writers.items() if found - harmless]

    def _nesting(self) -> dict[str, set[str]]:
        """The containers that each container may be, hold, or be held by."""
        groups = {n: {n} for n in self.containers}
        for stmt in grammar.statements(self.body):
            container, given = self.given(stmt)
            if isinstance(stmt, gast.Assign) and not self.is_new(stmt.value):
                given = given | self.into(stmt.value) | set(grammar.writes(stmt))
            joined = (given | {container}) & self.containers
            group = set().union(*[groups[n] for n in joined])
            groups.update(dict.fromkeys(group, group))
        return groups

    def is_new(self, value: gast.AST) -> bool:
        """Whether a value is a new container, though it may hold what others hold."""
        if isinstance(value, gast.Call):
            copies = getattr(value.func, "attr", "") == "copy"
            return copies or self.classify(value).callee in (list, dict, tuple)
        if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
            return grammar.root(value) in self.lists and grammar.is_name(value.value)
        return isinstance(value, gast.BinOp)

    def _before(self, stmt: gast.AST, live: set[str]) -> None:
        """The names alive before a statement, from those after it."""
        if self.written_into(stmt):
            self._live.setdefault(id(stmt), set()).update(live)
        if isinstance(stmt, gast.Assign) and (named := _named(stmt.value)):
            # Where a loop is walked again, more is alive.
            alone = len({*named}) == len(named)
            self._moves[id(stmt)] = alone and not live.intersection(named)
        live.difference_update(grammar.writes(stmt))
        live.update(grammar.reads(stmt))

    def _after(self, stmt: gast.AST, state: Shared) -> None:
        """What is shared after a statement, from what was before it."""
        self._note_writes(stmt, state)
        self._keep(stmt, state)
        if not isinstance(stmt, gast.AugAssign):
            self._bind(stmt, state)

    def _note_writes(self, stmt: gast.AST, state: Shared) -> None:
        """Note what a statement writes into under other names that matter."""
        alive = self._live.get(id(stmt), set())
        direct = not isinstance(getattr(stmt, "target", None), gast.Name)
        for name in set(self.written_into(stmt)) - self.numbers:
            known = {name} | state.get(name, frozenset())
            self._reached.setdefault(id(stmt), set()).update(known)
            for other in state.get(name, frozenset()):
                if direct and not self._replaces(name, other, stmt):
                    self._written.setdefault(other, set()).add(id(stmt))
                callers = self.inner and not direct and other.startswith(GIVEN)
                if other not in alive and not callers:
                    continue
                if direct and self._apart(name, other, stmt):
                    continue
                given = self._gave.get(other, set()) | self._gave.get(name, set())
                for n in {other, *self._chain(name), *given}:
                    found = self.seconds.setdefault(n, [])
                    if stmt not in found:
                        found.append(stmt)

    def _keep(self, stmt: gast.AST, state: Shared) -> None:
        """What a container is given to hold."""
        container, given = self.given(stmt)
        if container:
            self._gave.setdefault(container, set()).update(given)
        for n in given - self.numbers - {container}:
            theirs = {n} | state.get(n, frozenset()) - {container}
            before = state.get(container, frozenset())
            if theirs & before:
                self.twice.add(container)
            wholes = {container} | before & self.containers
            self._held |= theirs | wholes
            for c in wholes:
                state[c] = state.get(c, frozenset()) | theirs - {c}
            for m in theirs:
                state[m] = state.get(m, frozenset()) | wholes - {m}

    def _bind(self, stmt: gast.AST, state: Shared) -> None:
        """What the names that a statement binds refer to from then on."""
        names = set(grammar.writes(stmt))
        into: set[str] = set()
        one = False
        if isinstance(stmt, gast.Assign):
            into = self.into(stmt.value)
            repeats = self._repeats(stmt.value, into, state)
            # What is unpacked from one value may be one array.
            one = len(names) > 1 and (bool(into) or repeats)
            if len(names) == 1 and repeats:
                self.twice.update(names)
        others = into.union(*[state.get(n, frozenset()) for n in into])
        others -= names | self.numbers
        if popped(stmt) not in self.twice:
            # What was taken from a list is there no more.
            others.discard(popped(stmt))
        for n in names:
            for m in state.pop(n, frozenset()):
                state[m] = state.get(m, frozenset()) - {n}
        for n in names - self.numbers if others or into or one else ():
            theirs = others | (names - {n} if one else set())
            state[n] = frozenset(theirs)
            for m in theirs:
                state[m] = state.get(m, frozenset()) | {n}

    def written_into(self, stmt: gast.AST) -> list[str]:
        """The names through which a statement may write into an array."""
        if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
            return [stmt.target.id]
        value = getattr(stmt, "value", None)
        if isinstance(value, gast.Call):
            op = self.classify(value)
            written = written_parameters(unwrap(op.callee)) if op.kind == "call" else ()
            if written:
                return sorted(_given_to(written, unwrap(op.callee), value))
        grown = resized(stmt)
        return [grown] if grown else grammar.mutates(stmt)

    def into(self, value: gast.AST | None) -> set[str]:
        """The names whose arrays a value may share or hold."""
        if value is None:
            return set()
        if self.picking & picked_with(value):
            return set()
        found = looks_into(value, self.classify, self.where.definitions)
        if isinstance(value, gast.BinOp):
            return grammar.names_read(value) & self.containers
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
            # The copy of a container holds the same arrays.
            found |= {grammar.root(value.func.value)} & self.containers
        return found

    def concerned(self, stmt: gast.Assign, name: str) -> list[gast.AST]:
        """The writes for which it matters that a statement gives a second name."""
        into = self.into(stmt.value)
        if not into or not into <= self._fixed:
            return self.seconds.get(name, [])
        return [w for w in self.seconds.get(name, ()) if into & self._reached[id(w)]]

    def _chain(self, name: str) -> set[str]:
        """A name with the second names by way of which it looks into an array."""
        found: set[str] = set()
        new = {name}
        while new:
            found |= new
            new = {
                m
                for n in new
                for s in self.where.definitions.get(n, ())
                if isinstance(s, gast.Assign)
                for m in self.into(s.value)
                if self._is_second(m)
            } - found
        return found

    def moves(self, stmt: gast.AST) -> bool:
        """Whether a statement names or collects arrays that have no other name then."""
        return self._moves.get(id(stmt), False) and not any(
            map(self._is_second, self.into(stmt.value))
        )

    def _is_second(self, name: str) -> bool:
        """Whether a name may be given to an array that has another name as well."""
        seen: set[str] = set()
        new = {name}
        while new:
            seen |= new
            moved: set[str] = set()
            for d in (d for n in new for d in self.where.definitions.get(n, ())):
                into = self.into(d.value) if isinstance(d, gast.Assign) else set()
                if into and not self._moves.get(id(d)):
                    return True
                moved |= into
            new = moved - seen
        return False

    def given(self, stmt: gast.AST) -> tuple[str, set[str]]:
        """A container, and the names that a statement lets it hold."""
        value = getattr(stmt, "value", None)
        if isinstance(stmt, gast.Expr) and isinstance(value, gast.Call):
            func = value.func
            if isinstance(func, gast.Attribute) and func.attr in KEEPS:
                given = [*value.args, *[k.value for k in value.keywords]]
                return grammar.root(func.value), {
                    n for a in given for n in grammar.names_read(a)
                }
        if isinstance(stmt, gast.Assign) and grammar.mutates(stmt):
            (root,) = grammar.mutates(stmt)
            if root in self.containers:
                return root, self.into(value)
        return "", set()

    def filled(self, stmt: gast.AST) -> set[str]:
        """The names that a container to which a statement adds may go by.

        One that is made here goes by none of the names of what it holds.
        """
        container, given = self.given(stmt)
        if not given:
            return set()
        path = stmt.value.func if isinstance(stmt, gast.Expr) else stmt.targets[0]
        made = [getattr(d, "value", d) for d in self.where.definitions[container]]
        if made and grammar.is_name(path.value, container):
            if all(isinstance(v, DISPLAYS) or self.is_new(v) for v in made):
                return {container}
        return {container, *self.final.get(container, ())}

    def _repeats(self, value: gast.AST, into: set[str], state) -> bool:
        """Whether a container made here may hold one array twice."""
        if isinstance(value, gast.BinOp):
            # What was made of constants alone has nothing that could change.
            return any(state.get(n) or n in self.parameters for n in into)
        if isinstance(value, (gast.List, gast.Tuple, gast.Dict)):
            parts = value.values if isinstance(value, gast.Dict) else value.elts
            held = [
                p.id
                for p in parts
                if isinstance(p, gast.Name) and p.id not in self.numbers
            ]
            return any(
                m == n or m in state.get(n, ())
                for i, n in enumerate(held)
                for m in held[:i]
            )
        if isinstance(value, gast.Call):
            op = self.classify(value)
            if op.kind == "call" and not returns_apart(unwrap(op.callee)):
                return True
        return bool(into & self.twice)

    def changes_parts(self, stmt: gast.AST) -> bool:
        """Whether a statement writes into what a container holds, not where it is."""
        if resized(stmt):
            return False
        target = getattr(stmt, "target", None) or getattr(stmt, "targets", [None])[0]
        deep = isinstance(
            getattr(target, "value", None), (gast.Subscript, gast.Attribute)
        )
        return deep or isinstance(stmt, gast.AugAssign) or not grammar.mutates(stmt)

    def is_item(self, place: gast.AST | None) -> bool:
        """Whether a place is an element of a list or dict, rather than of an array."""
        return isinstance(place, gast.Subscript) and bool(self.found.entry(place))

    def _replaces(self, name: str, other: str, store: gast.AST) -> bool:
        """Whether a store only changes what `name` holds, and `other` may be that."""
        other = other.removeprefix(GIVEN)
        grown = bool(resized(store))
        item = any(map(self.is_item, grammar.places(store)))
        item = item or self._is_copy(name, other)
        if not grown and not (item and not self.changes_parts(store)):
            return False
        return other not in self._nested.get(name, ()) or self._is_part(other, name)

    def was_item(self, name: str, place: gast.AST | None) -> bool:
        """Whether a name is an item of the very container that a place is in."""
        if not self.is_item(place) or not grammar.is_name(place.value):
            return False
        return self._is_part(name, place.value.id)

    def _is_copy(self, name: str, other: str) -> bool:
        """Whether a name only ever holds copies of `other`."""
        found = [
            getattr(s, "value", None) for s in self.where.definitions.get(name, ())
        ]
        return bool(found) and all(
            not isinstance(v, gast.BinOp) and self.is_new(v) and other in self.into(v)
            for v in found
        )

    def _is_part(self, name: str, whole: str) -> bool:
        """Whether a name only ever refers to parts of a container, never to itself."""
        found = self.where.definitions.get(name, ())
        return bool(found) and all(
            isinstance(getattr(s, "value", None), (gast.Subscript, gast.Attribute))
            and grammar.is_name(s.value.value, whole)
            for s in found
        )

    def _apart(self, name: str, other: str, store: gast.AST) -> bool:
        """Whether `other` looks into parts of `name` that a store does not touch."""
        if self._replaces(name, other, store):
            return True
        if {name, other} & (self._held | self.twice):
            return False
        if any(
            self.into(getattr(s, "value", None))
            for s in self.where.definitions.get(name, ())
        ):
            return False
        here = self.where[id(store)]
        target = grammar.places(store)[0] if grammar.places(store) else None
        if target is None or not grammar.is_name(target.value, name):
            return False
        written = disjoint.Place(target.slice, here.loops, here.order)
        for stmt in self.where.definitions.get(other, ()):
            value = getattr(stmt, "value", None)
            into = self.into(value)
            if name not in into:
                # Unpacked together, they may be one.
                if into or name in grammar.writes(stmt):
                    return False
                continue
            if not (
                isinstance(value, gast.Subscript) and grammar.is_name(value.value, name)
            ):
                return False
            there = self.where[id(stmt)]
            # Turns that begin without the second name have nothing to do with it.
            carried = 0
            for loop in there.loops:
                if other in self._alive_at.get(dataflow.start(loop.body), ()):
                    break
                carried += 1
            read = disjoint.Place(value.slice, there.loops, there.order)
            if not disjoint.never_earlier(
                read, written, lambda n: n in self._fixed, carried
            ):
                return False
        return True


def _given_to(
    parameters: Collection[str], callee: types.FunctionType, call: gast.Call
) -> set[str]:
    """The names that a call gives to some parameters, all where that is not known."""
    try:
        bound = bind(normalise(callee).fn.args, call)
    except (SctError, TypeError):
        return grammar.names_read(call)
    return {n for p in parameters for n in grammar.names_read(bound[p])}


def _named(value: gast.AST) -> list[str]:
    """The names in ``y = x``, or those that a display collects."""
    parts = [value]
    if isinstance(value, gast.Dict):
        parts = value.values
    elif isinstance(value, (gast.List, gast.Tuple)):
        parts = value.elts
    if all(isinstance(p, (gast.Name, gast.Constant)) for p in parts):
        return [p.id for p in parts if isinstance(p, gast.Name)]
    return []


def _either(a: Shared, b: Shared) -> Shared:
    return {n: a.get(n, frozenset()) | b.get(n, frozenset()) for n in a | b}


class _Where(dict):
    """The loops around each statement and its place in the text, by its `id`."""

    def __init__(self):
        super().__init__()
        self.definitions: dict[str, list[gast.AST]] = {}


def _places(body: list[gast.AST]) -> _Where:
    found = _Where()

    def walk(body: list[gast.AST], loops: tuple[gast.AST, ...]) -> None:
        for stmt in body:
            found[id(stmt)] = disjoint.Place(None, loops, len(found))
            for n in grammar.writes(stmt):
                found.definitions.setdefault(n, []).append(stmt)
            looping = isinstance(stmt, (gast.For, gast.While))
            for inner in grammar.blocks(stmt):
                walk(inner, (*loops, stmt) if looping else loops)

    walk(body, ())
    return found


def _fixed(fn: gast.FunctionDef) -> set[str]:
    """The names that are bound once and for all."""
    count = dict.fromkeys(parameter_names(fn), 1)
    looped: set[str] = set()
    for stmt in grammar.statements(fn.body):
        for n in [*grammar.writes(stmt), *grammar.mutates(stmt)]:
            count[n] = count.get(n, 0) + 1
        if isinstance(stmt, (gast.For, gast.While)):
            looped |= grammar.all_writes([stmt])
    return {n for n, c in count.items() if c == 1 and n not in looped}


def looks_into(
    value: gast.AST,
    classify: Callable[[gast.AST], Operation],
    local: Container[str],
) -> set[str]:
    """The names, of those `local`, whose arrays a value may share or hold."""
    return {n for n in _sources(value, classify) if n in local}


def _sources(value: gast.AST, classify) -> set[str]:
    if isinstance(value, NEW):
        return set()
    if isinstance(value, gast.Subscript):
        root = grammar.root(value)
        return {root} if root and _is_basic(value.slice) else set()
    if isinstance(value, gast.Attribute):
        op = classify(value)
        return {grammar.root(value)} if op.kind != "constant" else set()
    if isinstance(value, gast.Call):
        op = classify(value)
        if op.kind == "call" and returns_new(unwrap(op.callee)):
            return set()
        if op.kind == "constant" or is_fresh(op):
            return set()
        # What items are sorted by is no part of them.
        given = [k.value for k in value.keywords if k.arg != "key"]
        parts = [*(op.inputs or value.args), *given]
        if op.kind == "rule" and is_helper(op.callee):
            # What a helper takes for its shape alone is no part of the value.
            parts = [op.arguments[p] for p in op.rule.wrt if p in op.arguments]
        if op.kind == "rule" and hashable(op.callee) and op.callee in OF_FIRST:
            # The others are shapes and axes.
            parts = parts[:1]
        if op.callee is MISSING:
            parts.append(getattr(value.func, "value", value.func))
        return {n for p in parts for n in grammar.names_read(p)}
    if isinstance(value, gast.Dict):
        return {n for v in value.values for n in grammar.names_read(v)}
    if isinstance(value, COMPREHENSIONS):
        found = _sources(getattr(value, "elt", None) or value.value, classify)
        for generator in reversed(value.generators):
            if found & set(grammar.target_names(generator.target)):
                found |= grammar.names_read(generator.iter)
        return found
    return grammar.names_read(value)


def alias_groups(
    fn: gast.FunctionDef,
    classify: Callable[[gast.AST], Operation],
    numbers: set[str],
    containers: Collection[str] = (),
) -> dict[str, frozenset[str]]:
    """For every name, the names that may refer to the same memory at some time.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    classify : callable
        ``classify(expr) -> Operation``.
    numbers : set of str
        Names that only ever hold numbers.
    containers : collection of str, optional
        Names that hold containers: what is put into one counts as one memory with it.
    """
    groups: dict[str, set[str]] = {}
    local = grammar.all_writes(fn.body) | set(parameter_names(fn))
    for stmt in grammar.statements(fn.body):
        value = getattr(stmt, "value", None)
        names = {*grammar.writes(stmt), *grammar.mutates(stmt), grammar.appended(stmt)}
        into: set[str] = set()
        if isinstance(stmt, gast.Assign) and grammar.writes(stmt):
            into = looks_into(value, classify, local)
            if isinstance(value, gast.BinOp):
                into |= grammar.names_read(value).intersection(containers)
        elif not names.isdisjoint(containers):
            # What is put into an array is copied there.
            given = value.args[0] if grammar.appended(stmt) else value
            into = grammar.names_read(given) & local
        # What is unpacked from one value may be one array.
        joined = (names | into) - numbers - {""}
        joined = joined.union(*[groups.get(n, ()) for n in joined])
        if len(joined) > 1:
            groups.update(dict.fromkeys(joined, joined))
    return {n: frozenset(g) for n, g in groups.items()}


def _flow_of(function: types.FunctionType) -> Sharing:
    fn, classify = _plain_stores(function)
    return Sharing(fn, classify, set())


def _plain_stores(function: types.FunctionType) -> tuple[gast.FunctionDef, Callable]:
    """A user's function, in-place calls as assignments; and what its operations do."""
    normal = normalise(function)
    resolve = Resolver(normal.scope, {})

    def classify(value: gast.AST) -> Operation:
        return operations.classify(value, resolve)

    held = structures(normal.fn, classify, set())
    fn = in_place_forms(
        normal.fn,
        classify,
        Names(used_names(normal.fn)),
        lambda kind, name: name,
        held.all,
        held.lists,
        set(),
    )
    return fn, classify


@about_functions(True)
def returns_new(function: types.FunctionType) -> bool:
    """Whether what a user's function returns never looks into its arguments."""
    try:
        flow = _flow_of(function)
    except SctError:
        return False
    value = flow.body[-1].value
    known = grammar.all_writes(flow.body) | set(flow.parameters)
    # An argument's array is known by the name of its parameter.
    return all(
        n in known and not any(m.startswith(GIVEN) for m in flow.final.get(n, ()))
        for n in (grammar.names_read(value) if value else ())
    )


@about_functions(True)
def returns_apart(function: types.FunctionType) -> bool:
    """Whether what a user's function returns never holds one array in two places."""
    try:
        flow = _flow_of(function)
    except SctError:
        return False
    value = flow.body[-1].value
    parts = value.elts if isinstance(value, gast.Tuple) else [value]
    held = [p.id for p in parts if grammar.is_name(p)]
    return not any(
        n in flow.twice or any(m == n or m in flow.final.get(n, ()) for m in held[:i])
        for i, n in enumerate(held)
    )


@about_functions(frozenset())
def written_parameters(function: types.FunctionType) -> frozenset[str]:
    """The parameters whose array or container a user's function may write into.

    ``p += e`` does not count: a check made when the derivative runs lets it pass on
    numbers alone.
    """
    try:
        flow = _flow_of(function)
    except SctError:
        return frozenset()
    filled = {n for s in grammar.statements(flow.body) for n in flow.filled(s)}
    return frozenset(flow.copied) | filled.intersection(flow.parameters)


def writes_into(function: types.FunctionType) -> bool:
    """Whether a user's function may write into an array or container it is given."""
    return bool(written_parameters(function))


@about_functions(False)
def stores(function: types.FunctionType) -> bool:
    """Whether a user's function may write into an array, be it one that it makes."""
    try:
        fn, classify = _plain_stores(function)
    except SctError:
        return True
    for stmt in grammar.statements(fn.body):
        if grammar.mutates(stmt) or resized(stmt):
            return True
        for head in grammar.heads(stmt):
            for call in gast.walk(head):
                if isinstance(call, gast.Call):
                    op = classify(call)
                    if "out" in op.keywords or op.problem:
                        return True
                    if op.kind == "call" and stores(unwrap(op.callee)):
                        return True
    return False


def picked_with(value: gast.AST) -> set[str]:
    """The names in the brackets of a path, those in bounds of slices left out."""
    found: set[str] = set()
    while isinstance(value, gast.Subscript):
        for index in grammar.indices(value):
            if not isinstance(index, gast.Slice):
                found |= grammar.names_read(index)
        value = value.value
    return found


def _is_basic(index: gast.AST) -> bool:
    """Whether an index may give a view: no list, no comparison, no array literal."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return not any(isinstance(p, (gast.List, gast.Compare, gast.Call)) for p in parts)
