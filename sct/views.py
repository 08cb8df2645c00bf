"""One name for every array that is written in place.

A view is replaced by the path that leads to it from the array that it looks into, so
that what is written and what is read can be told from the text alone::

    row = a[i]                        a[i][0] = x * y
    row[0] = x * y          ──►       s = a[i][0] + a[j, 0]
    s = row[0] + a[j, 0]

Arrays that nobody writes into keep their views.  In-place forms become assignments to
a path: ``np.add(p, q, out=v)``, ``v.fill(c)``, ``np.copyto(v, e)``.  A parameter that
is written into is copied on entry, so that the caller's array stays as it is.

What cannot be decided is refused: a view made on one path only, a view that outlives
the array it was taken from, an array handed to a function that may keep it.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Callable, Container

import gast
import numpy as np

from sct import grammar, operations
from sct.analysis import dataflow, disjoint
from sct.analysis.aliases import is_fresh
from sct.arguments import parameter_names
from sct.errors import SctError, unsupported
from sct.names import Names
from sct.normalise import normalise
from sct.operations import Operation, Resolver, unwrap
from sct.questions import about_functions
from sct.structures import DISPLAYS, structures

WHY = (
    "an array is written in place, and which names refer to it cannot be decided here",
    "Copy it first (`y = y.copy()`), or build the new value instead of writing.",
)
# Functions whose result looks into their first argument's array.
VIEWS = {
    np.transpose, np.reshape, np.ravel, np.squeeze, np.swapaxes, np.moveaxis,
    np.expand_dims, np.asarray, np.broadcast_to, np.diagonal, np.atleast_1d,
    np.atleast_2d, np.ascontiguousarray, np.real, np.imag, np.flip, np.split,
    np.array_split, np.diag, np.rot90, np.fliplr, np.flipud, np.rollaxis, np.asanyarray,
    np.require, np.broadcast_arrays, np.meshgrid, np.hsplit, np.vsplit, np.dsplit,
    np.atleast_3d, np.asfortranarray,
}  # fmt: skip


def in_place_forms(
    fn: gast.FunctionDef, classify: Callable[[gast.AST], Operation], names: Names
) -> gast.FunctionDef:
    """In-place calls as assignments to what they write into; a new tree."""
    fn = grammar.clone(fn)

    def block(body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for stmt in body:
            for inner in grammar.BLOCKS:
                if getattr(stmt, inner, None) and not isinstance(
                    stmt, gast.FunctionDef
                ):
                    setattr(stmt, inner, block(getattr(stmt, inner)))
            out += _lowered(stmt, classify, names)
        return out

    fn.body = block(fn.body)
    return fn


def _lowered(stmt, classify, names: Names) -> list[gast.AST]:
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, (gast.Assign, gast.Expr)) or not isinstance(
        value, gast.Call
    ):
        return [stmt]
    op = classify(value)
    if isinstance(op.callee, np.ufunc) and op.callee.nout == 1:
        # np.add(x, y, z) is np.add(x, y, out=z).
        value.keywords += [gast.keyword("out", a) for a in value.args[op.callee.nin :]]
        del value.args[op.callee.nin :]
    written = [k for k in value.keywords if k.arg == "out"]
    if written and isinstance(op.callee, (np.ufunc, *_FUNCTIONS)):
        target = written[0].value
        if isinstance(target, gast.Tuple) and len(target.elts) == 1:
            target = target.elts[0]
        value.keywords.remove(written[0])
        made = names.fresh("result")
        store = _store(target, grammar.name(made), stmt)
        lines = [grammar.assign(made, value, stmt), store]
        if isinstance(stmt, gast.Assign):
            lines.append(grammar.assign(stmt.targets[0], grammar.clone(target), stmt))
        return lines
    if isinstance(stmt, gast.Expr):
        func = value.func
        if op.callee is np.copyto and len(value.args) == 2 and not value.keywords:
            return [_store(value.args[0], value.args[1], stmt)]
        method = isinstance(func, gast.Attribute) and grammar.is_name(func.value)
        if method and func.attr == "fill" and len(value.args) == 1:
            return [_store(func.value, value.args[0], stmt)]
    return [stmt]


_FUNCTIONS = (type(np.sum), type(np.dot))


def _store(target: gast.AST, value: gast.AST, at: gast.AST) -> gast.AST:
    """``target[...] = value``."""
    place = gast.Subscript(
        grammar.clone(target), grammar.constant(Ellipsis), gast.Store()
    )
    return grammar.assign(place, value, at)


def one_name_each(
    fn: gast.FunctionDef,
    source: object,
    classify: Callable[[gast.AST], Operation],
    numbers: set[str],
    check: Callable[..., gast.AST],
    names: Names,
    inner: bool = False,
) -> gast.FunctionDef:
    """Give every array that is written into one name wherever that matters.

    Two names for one array matter where one is written through while the other is still
    to be read.  Such a second name gives way to the path that leads to the array.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    source : Source
        Where it comes from.
    classify : callable
        ``classify(expr) -> Operation``.
    numbers : set of str
        Names that only ever hold numbers, which nobody can write into.
    check : callable
        ``check(helper, arguments, names)``: the call of a run-time check.
    names : Names
        The function's supply of names.
    inner : bool
        Whether other derivatives call it, whose arrays it then must not write into.

    Returns
    -------
    gast.FunctionDef
        A new tree; `fn` itself when nothing is written in place.
    """
    every = list(grammar.statements(fn.body))
    if not any(
        grammar.mutates(s) or isinstance(s, gast.AugAssign) or grammar.appended(s)
        for s in every
    ):
        return fn
    fn = grammar.clone(fn)
    flow = _MayAlias(fn, classify, numbers, inner)
    work = _Paths(fn, source, flow, check, names)
    body = work.block(fn.body)
    after = _MayAlias(_with_body(fn, body), classify, numbers | work.elements, inner)
    work.settle(after)
    work.finish()
    fn.body = [
        *[grammar.assign(p, grammar.call(f"{p}.copy"), fn) for p in flow.copied],
        *[s for p in flow.parameters for s in work._ranked(p, fn)],
        *body,
    ]
    return fn


def _with_body(fn: gast.FunctionDef, body: list[gast.AST]) -> gast.FunctionDef:
    fn = copy.copy(fn)
    fn.body = body
    return fn


GIVEN = "the caller's "
# What puts its arguments into the container that it is a method of.
KEEPS = {"append", "extend", "insert", "add", "update", "setdefault", "appendleft"}
# What makes a container of the parts of another.
SHALLOW = {
    list,
    tuple,
    dict,
    set,
    frozenset,
    sorted,
    reversed,
    zip,
    enumerate,
    copy.copy,
}


class _MayAlias:
    """Where an array is written into through one name while another is to be read.

    Attributes
    ----------
    copied : list of str
        The parameters whose array is written into.
    seconds : dict
        Second name → the statements that write into its array while it is to be read.
    """

    def __init__(self, fn, classify, numbers: set[str], inner: bool = False):
        self.classify, self.numbers = classify, numbers
        self.parameters = parameter_names(fn)
        self.containers, self.lists = _containers(fn, classify, numbers)
        # Containers that may hold one array in two places; all names of what containers
        # hold; what each was given by name.
        self.twice: set[str] = set()
        self.held: set[str] = set()
        self.gave: dict[str, set[str]] = {}
        self.live: dict[int, set[str]] = {}
        self.seconds: dict[str, list[gast.AST]] = {}
        written: set[str] = set()

        def after(stmt: gast.AST, live: set[str]) -> None:
            if self.written_into(stmt):
                self.live.setdefault(id(stmt), set()).update(live)
            live.difference_update(grammar.writes(stmt))
            live.update(grammar.reads(stmt))

        liveness = dataflow.Backward(after)
        liveness.run(fn.body, set())
        self.alive_at = liveness.points
        self.body = fn.body
        self.where = _places(fn.body)
        for p in self.parameters:
            self.where.definitions.setdefault(p, [])
        self.fixed = _fixed(fn)
        # The containers that a container may be, hold, or be held by.
        self._nested = {n: {n} for n in self.containers}
        for stmt in grammar.statements(fn.body):
            container, given = self.given(stmt)
            if isinstance(stmt, gast.Assign):
                given = given | self.into(stmt.value) | set(grammar.writes(stmt))
            joined = (given | {container}) & self.containers
            group = set().union(*[self._nested[n] for n in joined])
            self._nested.update(dict.fromkeys(group, group))

        def across(stmt: gast.AST, state: dict[str, frozenset[str]]) -> None:
            for name in self.written_into(stmt):
                if name in numbers:
                    continue
                direct = not isinstance(getattr(stmt, "target", None), gast.Name)
                alive = self.live.get(id(stmt), set())
                for other in sorted(state.get(name, frozenset())):
                    if direct and not self._replaces(name, other, stmt):
                        written.add(other)
                    callers = inner and not direct and other.startswith(GIVEN)
                    if other not in alive and not callers:
                        continue
                    if direct and self._apart(name, other, stmt):
                        continue
                    given = self.gave.get(other, set()) | self.gave.get(name, set())
                    for n in {other, *self._chain(name), *given}:
                        found = self.seconds.setdefault(n, [])
                        if stmt not in found:
                            found.append(stmt)
            keep(stmt, state)
            if isinstance(stmt, gast.AugAssign):
                return
            names = grammar.writes(stmt)
            into: set[str] = set()
            if isinstance(stmt, gast.Assign):
                into = self.into(stmt.value)
                if len(names) == 1 and self._repeats(stmt.value, into, state):
                    self.twice.update(names)
            others = into.union(*[state.get(n, frozenset()) for n in into])
            others -= set(names) | numbers
            for n in names:
                for m in state.pop(n, frozenset()):
                    state[m] = state.get(m, frozenset()) - {n}
            for n in set(names) - numbers if others or into else ():
                # What is unpacked from one value may be one array.
                theirs = others | (set(names) - {n} if into else set())
                state[n] = frozenset(theirs)
                for m in theirs:
                    state[m] = state.get(m, frozenset()) | {n}

        def keep(stmt: gast.AST, state: dict[str, frozenset[str]]) -> None:
            """What a container is given to hold."""
            container, given = self.given(stmt)
            if container:
                self.gave.setdefault(container, set()).update(given)
            for n in given - numbers - {container}:
                theirs = {n} | state.get(n, frozenset()) - {container}
                before = state.get(container, frozenset())
                if theirs & before:
                    self.twice.add(container)
                wholes = {container} | before & self.containers
                self.held |= theirs | wholes
                for c in wholes:
                    state[c] = state.get(c, frozenset()) | theirs - {c}
                for m in theirs:
                    state[m] = state.get(m, frozenset()) | wholes - {m}

        def meet(a, b):
            return {n: a.get(n, frozenset()) | b.get(n, frozenset()) for n in a | b}

        # A parameter refers to the array that the caller gave, whatever becomes of it.
        start = {}
        for p in self.parameters:
            start[p], start[GIVEN + p] = frozenset([GIVEN + p]), frozenset([p])
        self.final = dataflow.Forward(across, meet).run(fn.body, start) or {}
        self.copied = [p for p in self.parameters if GIVEN + p in written]

    def written_into(self, stmt: gast.AST) -> list[str]:
        """The names through which a statement may write into an array."""
        if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
            return [stmt.target.id]
        value = getattr(stmt, "value", None)
        if isinstance(value, gast.Call):
            op = self.classify(value)
            if op.kind == "call" and writes_into(unwrap(op.callee)):
                return sorted(grammar.names_read(value))
        grown = grammar.appended(stmt)
        return [grown] if grown else grammar.mutates(stmt)

    def into(self, value: gast.AST) -> set[str]:
        """The names whose arrays a value may share or hold."""
        found = looks_into(value, self.classify)
        if isinstance(value, gast.Dict):
            return {n for v in value.values for n in grammar.names_read(v)}
        if isinstance(value, gast.BinOp):
            return found | grammar.names_read(value) & self.containers
        if isinstance(value, gast.Call):
            callee = self.classify(value).callee
            if isinstance(value.func, gast.Attribute):
                found |= {grammar.root(value.func.value)} & self.containers
            if callee.__hash__ is not None and callee in SHALLOW:
                found |= {n for a in value.args for n in grammar.names_read(a)}
                found |= {n for k in value.keywords for n in grammar.names_read(k)}
        return found

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
                if any(
                    isinstance(d, gast.Assign) and self.into(d.value)
                    for d in self.where.definitions.get(m, ())
                )
            } - found
        return found

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
        return bool(into & self.twice)

    def changes_parts(self, stmt: gast.AST) -> bool:
        """Whether a statement writes into what a container holds, not where it is."""
        if grammar.appended(stmt):
            return False
        target = getattr(stmt, "target", None) or getattr(stmt, "targets", [None])[0]
        deep = isinstance(
            getattr(target, "value", None), (gast.Subscript, gast.Attribute)
        )
        return deep or isinstance(stmt, gast.AugAssign) or not grammar.mutates(stmt)

    def _replaces(self, name: str, other: str, store: gast.AST) -> bool:
        """Whether a store only changes what `name` holds, and `other` may be that."""
        grown = bool(grammar.appended(store))
        whole = grown or name in self.lists and not self.changes_parts(store)
        return whole and other.removeprefix(GIVEN) not in self._nested.get(name, ())

    def _apart(self, name: str, other: str, store: gast.AST) -> bool:
        """Whether `other` looks into parts of `name` that a store does not touch."""
        if self._replaces(name, other, store):
            return True
        if {name, other} & (self.held | self.twice):
            return False
        if any(
            looks_into(getattr(s, "value", None), self.classify)
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
            if name not in looks_into(value, self.classify):
                if looks_into(value, self.classify):
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
                if other in self.alive_at.get(dataflow.start(loop.body), ()):
                    break
                carried += 1
            read = disjoint.Place(value.slice, there.loops, there.order)
            if not disjoint.never_earlier(
                read, written, lambda n: n in self.fixed, carried
            ):
                return False
        return True


def _containers(
    fn: gast.FunctionDef, classify, numbers: set[str]
) -> tuple[set[str], set[str]]:
    """The names that may hold lists, dicts or objects; those that only hold them."""
    found = structures(fn, classify, set())
    bound: dict[str, list[gast.AST]] = {p: [gast.Pass()] for p in parameter_names(fn)}
    for s in grammar.statements(fn.body):
        plain = isinstance(s, gast.Assign) and grammar.is_name(s.targets[0])
        for n in grammar.writes(s):
            bound.setdefault(n, []).append(s.value if plain else s)
    only: set[str] = set()

    def is_list(value: gast.AST) -> bool:
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add):
            return grammar.names_read(value) <= only
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
            return bool(grammar.names_read(value) & only) and (
                grammar.names_read(value) <= only | numbers
            )
        if isinstance(value, gast.Name):
            return value.id in only
        return isinstance(value, DISPLAYS)

    while True:
        more = {n for n, values in bound.items() if all(map(is_list, values))}
        if more <= only:
            return found.all | only, only
        only |= more


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


def looks_into(value: gast.AST, classify: Callable[[gast.AST], Operation]) -> set[str]:
    """The names whose arrays the value of an operation may share."""
    if isinstance(value, gast.Name):
        return {value.id}
    if isinstance(value, gast.Subscript):
        root = grammar.root(value)
        return {root} if root and _is_basic(value.slice) else set()
    if isinstance(value, (gast.Tuple, gast.List)):
        return grammar.names_read(value)
    if isinstance(value, gast.Attribute):
        op = classify(value)
        return {grammar.root(value)} - {""} if op.kind != "constant" else set()
    if isinstance(value, gast.Call):
        op = classify(value)
        if op.kind == "call" and returns_new(op.callee):
            return set()
        if op.kind in ("call", "opaque") and not is_fresh(op.callee):
            return {n for a in value.args for n in grammar.names_read(a)}
        if op.kind == "copy":
            return set(op.operands)
        view = op.callee.__hash__ is not None and op.callee in VIEWS
        # Told to copy, or not to, what is given may be returned as it is.
        if (view or "copy" in op.keywords) and op.inputs:
            return grammar.names_read(op.inputs[0])
    return set()


def alias_groups(
    fn: gast.FunctionDef, classify: Callable[[gast.AST], Operation], numbers: set[str]
) -> dict[str, frozenset[str]]:
    """For every name, the names that may refer to the same array at some time."""
    groups: dict[str, set[str]] = {}
    for stmt in grammar.statements(fn.body):
        if not isinstance(stmt, gast.Assign):
            continue
        names = set(grammar.writes(stmt)) - numbers
        into = looks_into(stmt.value, classify) - numbers
        if not names or not into:
            continue
        joined = set().union(*[groups.get(n, {n}) for n in names | into])
        for n in joined:
            groups[n] = joined
    return {n: frozenset(g) for n, g in groups.items()}


def _flow_of(function: types.FunctionType) -> _MayAlias:
    normal = normalise(function)
    resolve = Resolver(normal.scope, {})
    return _MayAlias(normal.fn, lambda e: operations.classify(e, resolve), set())


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


@about_functions(False)
def writes_into(function: types.FunctionType) -> bool:
    """Whether a user's function may write into an array or container it is given.

    ``p += e`` does not count: a check made when the derivative runs lets it pass on
    numbers alone.
    """
    try:
        flow = _flow_of(function)
    except SctError:
        return False
    filled = {
        m
        for s in grammar.statements(flow.body)
        for container, given in [flow.given(s)]
        if given
        for m in (container, *flow.final.get(container, ()))
    }
    return bool(flow.copied or filled & set(flow.parameters))


@about_functions(False)
def stores(function: types.FunctionType) -> bool:
    """Whether a user's function may write into an array, be it one that it makes."""
    try:
        normal = normalise(function)
    except SctError:
        return True
    resolve = Resolver(normal.scope, {})
    for stmt in grammar.statements(normal.fn.body):
        if grammar.mutates(stmt) or grammar.appended(stmt):
            return True
        for head in grammar.heads(stmt):
            for call in gast.walk(head):
                if isinstance(call, gast.Call):
                    op = operations.classify(call, resolve)
                    if "out" in op.keywords or op.problem:
                        return True
                    if op.kind == "call" and stores(unwrap(op.callee)):
                        return True
    return False


class _Paths:
    """Replaces second names by paths."""

    def __init__(self, fn, source, flow: _MayAlias, check, names: Names):
        self.names = names
        self.fn, self.source, self.flow, self.check = fn, source, flow, check
        self.paths: dict[str, gast.AST] = {}
        self.definitions: dict[str, list[gast.AST]] = {}
        self.readers: dict[str, list[gast.AST]] = {}
        self.home: dict[int, list[gast.AST]] = {}
        self._survey(fn.body)
        # The arrays of which elements are taken for numbers, by number of indices.
        self.ranks: dict[str, set[int]] = {}
        self.elements: set[str] = set()
        self.roots: set[str] = set()
        self.unclear: set[int] = set()
        self.pending: list[tuple[list, list]] = []
        for stmt in grammar.statements(fn.body):
            name = self._second(stmt)
            if name and self._is_element(stmt, name):
                self.elements.add(name)
                index = stmt.value.slice
                count = len(index.elts) if isinstance(index, gast.Tuple) else 1
                if not isinstance(stmt.value.value, gast.Name):
                    raise unsupported(source, stmt, "this element", *WHY)
                self.ranks.setdefault(stmt.value.value.id, set()).add(count)

    def _survey(self, body: list[gast.AST]) -> None:
        for stmt in body:
            self.home[id(stmt)] = body
            for n in grammar.writes(stmt):
                self.definitions.setdefault(n, []).append(stmt)
            for n in grammar.reads(stmt) | set(grammar.mutates(stmt)):
                self.readers.setdefault(n, []).append(stmt)
            for inner in grammar.blocks(stmt):
                self._survey(inner)

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        late: list[tuple[int, gast.AugAssign, int]] = []
        for stmt in body:
            name = self._second(stmt)
            if name and not self._is_element(stmt, name) and self._is_clear(stmt, name):
                value = _Substitute(self.paths).visit(grammar.clone(stmt.value))
                self.paths[name] = value
                self.roots.add(grammar.root(value))
                continue
            key = id(stmt)
            stmt = self._replaced(stmt)
            out += self._operands_named(stmt)
            for inner in grammar.BLOCKS:
                if getattr(stmt, inner, None) and not isinstance(
                    stmt, gast.FunctionDef
                ):
                    setattr(stmt, inner, self.block(getattr(stmt, inner)))
            out.append(stmt)
            for n in grammar.writes(stmt):
                out += self._ranked(n, stmt)
            if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
                late.append((len(out) - 1, stmt, key))
        self.pending.append((out, late))
        return out or [grammar.located(gast.Pass(), body[0] if body else None)]

    def settle(self, flow: _MayAlias) -> None:
        """Refuse to write into what still has two names; `flow` is of the new tree."""
        for writes in flow.seconds.values():
            for write in writes:
                if isinstance(getattr(write, "target", None), gast.Name):
                    self.unclear.add(id(write))
                else:
                    raise unsupported(self.source, write, "this", *WHY)
        for write in grammar.statements(flow.body):
            held = set(flow.written_into(write)) & flow.twice
            if held and flow.changes_parts(write):
                raise unsupported(self.source, write, "this", *WHY)

    def finish(self) -> None:
        """Put in the checks, now that it is known which names could be followed."""
        for out, late in self.pending:
            for at, stmt, key in reversed(late):
                out[at:at] = self._checked(stmt, key)

    def _second(self, stmt: gast.AST) -> str:
        """The second name that a statement gives to an array, if it does."""
        if not isinstance(stmt, gast.Assign):
            return ""
        for name in grammar.writes(stmt):
            if name in self.flow.seconds and looks_into(stmt.value, self.flow.classify):
                return name
        return ""

    def _is_element(self, stmt: gast.Assign, name: str) -> bool:
        """Whether ``v = a[i, j]`` reads a number rather than names a row."""
        if not isinstance(stmt.value, gast.Subscript):
            return False
        index = stmt.value.slice
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        if any(
            isinstance(p, gast.Slice)
            or (isinstance(p, gast.Constant) and not isinstance(p.value, int))
            for p in parts
        ):
            return False
        # Written through, or read as an array: a row.
        return not any(
            name in grammar.mutates(s)
            or grammar.is_name(getattr(s, "value", None), name)
            and any(m in self.flow.seconds for m in grammar.writes(s))
            or any(
                isinstance(n, (gast.Subscript, gast.Attribute))
                and grammar.is_name(n.value, name)
                for h in grammar.heads(s)
                for n in gast.walk(h)
            )
            for s in self.readers.get(name, ())
        ) and not self._only_added_to(name)

    def _only_added_to(self, name: str) -> bool:
        """Whether a name is read for nothing but ``v += e``: then `v` is a row."""
        readers = self.readers.get(name, ())
        return bool(readers) and all(
            isinstance(s, gast.AugAssign) and grammar.is_name(s.target, name)
            for s in readers
        )

    def _ranked(self, base: str, at: gast.AST) -> list[gast.AST]:
        """A check that the elements taken of an array are numbers, not rows."""
        return [
            grammar.located(
                self.check(
                    "check_rank", [grammar.constant(n)], {base: grammar.name(base)}
                ),
                at,
            )
            for n in sorted(self.ranks.get(base, ()))
        ]

    def _operands_named(self, stmt: gast.AST) -> list[gast.AST]:
        """Give the parts that became operands names of their own, read just before."""
        lead: list[gast.AST] = []
        value = getattr(stmt, "value", None)
        if isinstance(stmt, gast.Return) and isinstance(value, gast.Tuple):
            value.elts = [self._named(e, stmt, lead) for e in value.elts]
            return lead
        if not isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call)):
            stored = grammar.mutates(stmt) and not isinstance(value, gast.Name)
            if stored and isinstance(value, gast.Subscript):
                stmt.value = self._named(value, stmt, lead)
            return lead
        for field, old in gast.iter_fields(value):
            if isinstance(old, (gast.Subscript, gast.Attribute)) and field != "func":
                setattr(value, field, self._named(old, stmt, lead))
            elif field == "args":
                value.args = [
                    self._named(a, stmt, lead) if isinstance(a, gast.Subscript) else a
                    for a in old
                ]
        return lead

    def _named(self, part: gast.AST, stmt: gast.AST, lead: list) -> gast.AST:
        if isinstance(part, gast.Name) or grammar.root(part) not in self.roots:
            return part
        made = self.names.fresh(f"{grammar.root(part)}_part")
        lead.append(grammar.assign(made, part, stmt))
        return grammar.name(made)

    def _checked(self, stmt: gast.AugAssign, key: int) -> list[gast.AST]:
        """A check of what ``y += e`` changes: an array of other names, or a number."""
        shared = [n for n, s in self.flow.seconds.items() if key in map(id, s)]
        name = stmt.target.id
        if not shared or name in self.elements:
            return []
        helper = "check_numbers" if key in self.unclear else "check_arrays"
        test = self.check(helper, [], {name: grammar.name(name)})
        return [grammar.located(test, stmt)]

    def _is_clear(self, stmt: gast.Assign, name: str) -> bool:
        """Whether a path leads to the same array wherever the second name is used.

        Where it does not, ``x += e`` is checked to be one on numbers when it runs;
        anything else that writes is refused.
        """
        home = self.home.get(id(stmt), [])
        inside = {id(s) for s in grammar.statements(home)}
        clear = (
            isinstance(stmt.targets[0], gast.Name)
            and len(self._bindings(name)) == 1
            and name not in self.flow.parameters
            and _is_path(stmt.value, self.flow.where.definitions)
            and all(id(s) in inside for s in self.readers.get(name, ()))
            and all(self._steady(n, inside) for n in grammar.names_read(stmt.value))
        )
        if clear:
            return True
        for write in self.flow.seconds[name]:
            if not (
                isinstance(write, gast.AugAssign)
                and isinstance(write.target, gast.Name)
            ):
                raise unsupported(
                    self.source, stmt, "this second name of an array", *WHY
                )
            self.unclear.add(id(write))
        return False

    def _bindings(self, name: str) -> list[gast.AST]:
        """The statements that bind a name; ``x += e`` leaves an array what it is."""
        found = self.definitions.get(name, ())
        return [s for s in found if not isinstance(s, gast.AugAssign)]

    def _steady(self, name: str, inside: set[int]) -> bool:
        """Whether a name keeps its binding while a second name is in use."""
        found = self._bindings(name)
        again = sum(id(s) in inside for s in found)
        return again == 0 or (len(found) == 1 and name not in self.flow.parameters)

    def _replaced(self, stmt: gast.AST) -> gast.AST:
        if isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name):
            path = self.paths.get(stmt.target.id)
            if path is not None and isinstance(path, gast.Name):
                stmt.target = grammar.name(path.id, store=True)
            elif path is not None:
                place = gast.Subscript(
                    grammar.clone(path), grammar.constant(Ellipsis), gast.Store()
                )
                stmt.target = place
        if (grammar.reads(stmt) | set(grammar.mutates(stmt))) & self.paths.keys():
            stmt = _Substitute(self.paths).visit(stmt)
        return stmt


class _Substitute(gast.NodeTransformer):
    def __init__(self, paths):
        self.paths = paths

    def visit_Name(self, node):
        if node.id in self.paths and isinstance(node.ctx, gast.Load):
            return grammar.clone(self.paths[node.id])
        return node

    def visit_FunctionDef(self, node):
        return node

    def visit_If(self, node):
        node.test = self.visit(node.test)
        return node

    visit_While = visit_If

    def visit_For(self, node):
        node.iter = self.visit(node.iter)
        return node

    def visit_With(self, node):
        return node


def _is_basic(index: gast.AST) -> bool:
    """Whether an index may give a view: no list, no comparison, no array literal."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return not any(isinstance(p, (gast.List, gast.Compare, gast.Call)) for p in parts)


def _is_path(value: gast.AST, local: Container[str]) -> bool:
    """Whether an expression leads from a local name to a part of its array."""
    while True:
        if isinstance(value, gast.Name):
            return value.id in local
        if isinstance(value, gast.Subscript):
            value = value.value
        elif isinstance(value, gast.Attribute) and value.attr == "T":
            value = value.value
        else:
            return False
