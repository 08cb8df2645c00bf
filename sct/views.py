"""One name for every array that is written in place.

A view is replaced by the path that leads to it from the array that it looks into, so
that what is written and what is read can be told from the text alone::

    row = a[i]                        a[i][0] = x * y
    row[0] = x * y          ──►       s = a[i][0] + a[j, 0]
    s = row[0] + a[j, 0]

    m = a.reshape(2, 2)               a.reshape(2, 2)[0] = x
    m[0] = x                ──►

Arrays that nobody writes into keep their views.  A parameter that is written into is
copied on entry, so that the caller's array stays as it is.

What cannot be decided is refused: a view made on one path only, a view that outlives
the array it was taken from, an array handed to a function that may keep it.  Whether
``a.reshape(2, 2)`` looks into `a` is known when it runs: it does where `a` is
contiguous, and that is checked.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import gast
import numpy as np

from sct import grammar
from sct.analysis.reaching import reaching
from sct.errors import unsupported
from sct.names import Names, noun
from sct.operations import Operation
from sct.refusals import PART
from sct.sharing import Sharing, picked_with
from sct.stacks import popped, resized
from sct.templates import is_array_attribute

# Functions that are methods of the same name, and how many arguments they have.
ARGUMENTS = {np.reshape: 2, np.ravel: 1, np.transpose: 2, np.swapaxes: 3, np.squeeze: 2}
WHY = (
    "an array is written in place, and which names refer to it cannot be decided here",
    "Copy it first (`y = y.copy()`), or build the new value instead of writing.",
)


def one_name_each(
    fn: gast.FunctionDef,
    source: object,
    classify: Callable[[gast.AST], Operation],
    numbers: set[str],
    picking: set[str],
    check: Callable[..., gast.AST],
    names: Names,
    inner: bool = False,
    elements: bool = True,
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
    picking : set of str
        Names that hold arrays, lists or truth values: what they pick is a copy.
    check : callable
        ``check(helper, arguments, names)``: the call of a run-time check.
    names : Names
        The function's supply of names.
    inner : bool
        Whether other derivatives call it, whose arrays it then must not write into.
    elements : bool
        Whether an element of an array is a number; otherwise it is a view as a row is.

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
    flow = Sharing(fn, classify, numbers, inner, picking)
    work = _Paths(fn, source, flow, check, names, elements)
    body = work.block(fn.body)
    taken = numbers | work.elements
    after = Sharing(_with_body(fn, body), classify, taken, inner, picking)
    if work.moved_elements(after):
        taken = taken | work.moved
        after = Sharing(_with_body(fn, body), classify, taken, inner, picking)
    work.settle(after)
    work.finish()
    # What `row += e` writes into is told where `row` has become a part of its array.
    # What is checked to be a number is not written into.
    written = {p for f in (flow, after) for p in f.changed_by_others_than(work.unclear)}
    copied = [p for p in flow.parameters if p in written]
    apart = _apart(fn, copied, flow.parameters, numbers, check) if not inner else []
    fn.body = [
        *apart,
        *[work.contiguous(fn, p) for p in flow.parameters if p in work.reshaped],
        *[grammar.assign(p, _copy_of(p, body, check), fn) for p in copied],
        *[
            s
            for p in flow.parameters
            if id(fn) in work.ranked
            for s in work._ranked(p, fn)
        ],
        *body,
    ]
    return fn


def copies_on_entry(
    fn: gast.FunctionDef,
    classify: Callable[[gast.AST], Operation],
    numbers: set[str],
    groups: dict[str, frozenset[str]],
    check: Callable[..., gast.AST],
    inner: bool,
) -> gast.FunctionDef:
    """Copy the parameters that a function writes into, by whatever name.

    Parameters
    ----------
    fn, classify, numbers, check, inner
        As for `one_name_each`.
    groups : dict
        Name → the names that may refer to the same memory, or hold what does.

    Returns
    -------
    gast.FunctionDef
        A new tree; `fn` itself when nothing of its arguments is written into.
    """
    flow = Sharing(fn, classify, numbers, inner)
    every = list(grammar.statements(fn.body))
    added = {s.target.id for s in every if _adds_to_itself(s)} - numbers
    lent = {n for a in added for n in groups.get(a, ())}
    stored = {grammar.root(place) for s in every for place in grammar.places(s)}
    made = []
    for p in flow.parameters:
        if p in flow.copied:
            copy = check("copied", [grammar.name(p)], {}).value
            if p in stored - flow.containers:
                copy = _copy_of(p, fn.body, check)
            made.append(grammar.assign(p, copy, fn))
        elif p in lent - numbers and not inner:
            # A number, or an array that another name adds to.
            copy = gast.UnaryOp(gast.UAdd(), grammar.name(p))
            if p in flow.containers:
                copy = check("copied", [grammar.name(p)], {}).value
            made.append(grammar.assign(p, copy, fn))
    if not made:
        return fn
    written = [s.targets[0].id for s in made]
    apart = _apart(fn, written, flow.parameters, numbers, check) if not inner else []
    fn = grammar.clone(fn)
    fn.body = [*apart, *made, *fn.body]
    return fn


def _adds_to_itself(stmt: gast.AST) -> bool:
    """Whether a statement is ``x += e`` of a name."""
    return isinstance(stmt, gast.AugAssign) and isinstance(stmt.target, gast.Name)


def _apart(
    fn: gast.FunctionDef,
    written: list[str],
    parameters: list[str],
    numbers: set[str],
    check: Callable[..., gast.AST],
) -> list[gast.AST]:
    """A check that no other argument looks into one that is written into.

    The function would see the change there; its derivative has a copy.
    """
    read = {n for s in grammar.statements(fn.body) for n in grammar.reads(s)}
    others = [p for p in parameters if p in read - numbers and p not in written]
    if not written or not others and len(written) < 2:
        return []
    changed = gast.Tuple([grammar.constant(p) for p in written], gast.Load())
    arguments = {p: grammar.name(p) for p in [*written, *others]}
    test = check("check_apart", [changed], arguments)
    return [grammar.located(test, fn)]


def _copy_of(name: str, body: list[gast.AST], check) -> gast.AST:
    """The copy of a parameter, with that of all it holds if that is written into."""
    places = [p for s in grammar.statements(body) for p in grammar.places(s)]
    own = [p for p in places if grammar.root(p) == name]
    grown = any(grammar.appended(s) == name for s in grammar.statements(body))
    # What a stack gives back under this name may not be of the parameter's kind.
    back = {n for s in grammar.statements(body) if popped(s) for n in grammar.writes(s)}
    if (
        (own or grown)
        and name not in back
        and all(grammar.is_name(_viewed(p.value)) for p in own)
    ):
        return grammar.call(f"{name}.copy")
    # What other names alone write into may be a number as well.
    return check("copied", [grammar.name(name)], {}).value


def _viewed(node: gast.AST) -> gast.AST:
    """The array that is looked into, as a whole, by transposes and other shapes."""
    while grammar.is_view(node) or getattr(node, "attr", "") == "T":
        node = grammar.whole(node)
    return node


def _with_body(fn: gast.FunctionDef, body: list[gast.AST]) -> gast.FunctionDef:
    fn = copy.copy(fn)
    fn.body = body
    return fn


class _Paths:
    """Replaces second names by paths."""

    def __init__(self, fn, source, flow: Sharing, check, names: Names, elements: bool):
        self.names, self.numbers = names, elements
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
        # The arrays that are looked into in another shape.
        self.reshaped: set[str] = set()
        # Elements that are checked to be numbers, each where it is read.
        self.moved: set[str] = set()
        self.unclear: set[int] = set()
        self.pending: list[tuple[list, list]] = []
        self.axes = self._axes()
        reads: dict[int, str] = {}
        for stmt in grammar.statements(fn.body):
            name = self._second(stmt)
            if name and self._names_element(stmt):
                self.elements.add(name)
            elif name and self._is_element(stmt, name):
                self.elements.update(grammar.writes(stmt))
                base, count = _whole(stmt.value)
                if isinstance(base, gast.Name):
                    self.ranks.setdefault(base.id, set()).add(count)
                    reads[id(stmt)] = base.id
                else:
                    self.moved.add(name)
        # The bindings of these arrays that such elements are taken of.
        self.ranked = reaching(fn, reads, self.flow.parameters)

    def _axes(self) -> dict[str, int]:
        """So many axes do the arrays have at least that are bound once and for all."""
        found: dict[str, int] = {}

        def note(part: gast.AST, more: int = 0) -> None:
            base = part.value.id if isinstance(part.value, gast.Name) else ""
            if len(self._bindings(base)) + (base in self.flow.parameters) == 1:
                taken = [p for p in grammar.indices(part) if not _takes_none(p)]
                found[base] = max(found.get(base, 0), len(taken) + more)

        every = list(grammar.statements(self.fn.body))
        for stmt in every:
            for head in grammar.heads(stmt):
                for n in grammar.nodes(head):
                    if isinstance(n, gast.Subscript):
                        note(n)
        self.axes = found
        for stmt in every:
            name = self._second(stmt)
            if name and isinstance(stmt.value, gast.Subscript):
                if not self._is_element(stmt, name):
                    # A slice keeps its axis; of a row there is at least one more.
                    parts = grammar.indices(stmt.value)
                    kept = any(isinstance(p, gast.Slice) for p in parts)
                    note(stmt.value, 0 if kept else 1)
        return found

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
            number = name and (
                self._names_element(stmt) or self._is_element(stmt, name)
            )
            if name and not number and self._is_clear(stmt, name):
                value = self._as_method(self._held(stmt, name, out))
                path = _Substitute(self.paths).visit(grammar.clone(value))
                self.paths[name] = path
                self.roots.add(grammar.root(path))
                if grammar.reshapes(value):
                    out += self._looked_into(stmt, value)
                out += self._parts_checked(stmt)
                if id(stmt) in self.ranked:
                    substitute = _Substitute(self.paths)
                    out += map(substitute.visit, self._ranked(name, stmt))
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
            for n in grammar.writes(stmt) if key in self.ranked else ():
                out += self._ranked(n, stmt)
            if self._may_be_number(stmt):
                late.append((len(out) - 1, stmt, key))
        self.pending.append((out, late))
        return out or [grammar.located(gast.Pass(), body[0] if body else None)]

    def moved_elements(self, flow: Sharing) -> set[str]:
        """Note the ``v`` in ``v = c["q"][i]; c["q"][j] = v`` that are to be numbers.

        They are where the array would count as held twice otherwise.
        """
        for write in self._into_twice_held(flow):
            value = getattr(write, "value", None)
            if not grammar.is_name(value) or self._may_be_number(write):
                continue
            found = flow.where.definitions.get(value.id, ())
            if found and all(self._takes_element(s, keys=True) for s in found):
                if value.id not in self.elements and not self._is_row(value.id, set()):
                    self.moved.add(value.id)
        return self.moved

    def _into_twice_held(self, flow: Sharing) -> list[gast.AST]:
        """What writes into an array that a container may hold in two places."""
        return [
            write
            for write in grammar.statements(flow.body)
            if set(flow.written_into(write)) & flow.twice and flow.changes_parts(write)
        ]

    def _takes_element(self, stmt: gast.AST, keys: bool = False) -> bool:
        """Whether a statement reads an element, by indices or, if so said, by a key."""
        if not self.numbers:
            return False
        value = stmt.value if isinstance(stmt, gast.Assign) else None
        if not isinstance(value, gast.Subscript) or not isinstance(
            stmt.targets[0], gast.Name
        ):
            if keys or value is None or not isinstance(stmt.targets[0], gast.Tuple):
                return False
            return grammar.is_name(value) and all(map(self._alone, _lists(stmt)))
        kinds = (int, str) if keys else int
        return not any(
            isinstance(p, gast.Slice)
            or (isinstance(p, gast.Constant) and not isinstance(p.value, kinds))
            for p in grammar.indices(value)
        )

    def settle(self, flow: Sharing) -> None:
        """Refuse to write into what still has two names; `flow` is of the new tree."""
        for writes in flow.seconds.values():
            for write in writes:
                if self._may_be_number(write):
                    self.unclear.add(id(write))
                else:
                    raise unsupported(self.source, write, "this", *WHY)
        for write in self._into_twice_held(flow):
            if not self._may_be_number(write):
                raise unsupported(self.source, write, "this", *WHY)
            self.unclear.add(id(write))

    def _may_be_number(self, write: gast.AST) -> bool:
        """Whether a write is ``y += e`` or ``l[i] += e``, which changes no number."""
        if not isinstance(write, gast.AugAssign):
            return False
        target = write.target
        return isinstance(target, gast.Name) or self.flow.is_item(target)

    def finish(self) -> None:
        """Put in the checks, now that it is known which names could be followed."""
        for out, late in self.pending:
            for at, stmt, key in reversed(late):
                out[at:at] = self._checked(stmt, key)
            for at, stmt in reversed(list(enumerate(out))):
                if isinstance(stmt, gast.AugAssign):
                    continue
                for n in self.moved.intersection(grammar.writes(stmt)):
                    test = self.check("check_numbers", [], {n: grammar.name(n)})
                    out.insert(at + 1, grammar.located(test, stmt))
                for n in self.reshaped.intersection(grammar.writes(stmt)):
                    if isinstance(stmt, gast.With):
                        stmt.body.insert(0, self.contiguous(stmt, n))
                    else:
                        out.insert(at + 1, self.contiguous(stmt, n))

    def contiguous(self, at: gast.AST, name: str) -> gast.AST:
        """A check that an array in another shape is the same array."""
        array = _Substitute(self.paths).visit(grammar.name(name))
        return grammar.located(self.check("check_contiguous", [], {name: array}), at)

    def _parts_checked(self, stmt: gast.Assign) -> list[gast.AST]:
        """Let it be checked that ``row = a[i]`` names a part: that `i` is no array."""
        read = picked_with(stmt.value)
        unsure = sorted(read - self.flow.numbers - self.elements)
        if not unsure:
            return []
        test = self.check("check_indices", [], {n: grammar.name(n) for n in unsure})
        return [grammar.located(test, stmt)]

    def _looked_into(self, stmt: gast.AST, value: gast.AST) -> list[gast.AST]:
        """Let it be checked that ``m = a.reshape(2, 2)`` looks into `a`.

        Wherever `a` is bound; and here, if `a` is itself a part.  The adjoint of the
        whole is contiguous as well, and so has the same strides.
        """
        own = grammar.root(value)
        root = grammar.root(self.paths.get(own, grammar.name(own)))
        self.reshaped.add(root)
        return [] if own == root else [self.contiguous(stmt, own)]

    def _as_method(self, value: gast.AST) -> gast.AST:
        """``np.reshape(a, s)`` as ``a.reshape(s)``; what is no view stays as it is."""
        if not isinstance(value, gast.Call):
            return value
        op = self.flow.classify(value)
        most = ARGUMENTS.get(op.callee, 0) if op.kind == "rule" else 0
        if not most or op.keywords or len(op.inputs) > most:
            return grammar.constant(None)
        if grammar.is_view(value) and value.func.value is op.inputs[0]:
            return value
        func = gast.Attribute(op.inputs[0], op.callee.__name__, gast.Load())
        return gast.Call(func, list(op.inputs[1:]), [])

    def _second(self, stmt: gast.AST) -> str:
        """The second name that a statement gives to an array, if it does."""
        if not isinstance(stmt, gast.Assign) or self.flow.moves(stmt):
            return ""
        for name in grammar.writes(stmt):
            writes = self.flow.concerned(stmt, name)
            if writes and self.flow.into(stmt.value):
                targets = [getattr(w, "target", None) for w in writes]
                # What `l[i] += e` puts into `l` is no longer what an item of it was.
                if not all(self.flow.was_item(name, t) for t in targets):
                    return name
        return ""

    def _is_element(self, stmt: gast.Assign, name: str) -> bool:
        """Whether ``v = a[i, j]`` reads a number rather than names a row.

        So does ``u, v = a``, or ``u, *rest = a``, which makes `rest` a new list.
        """
        if not self._takes_element(stmt):
            return False
        if _whole(stmt.value)[1] < self.axes.get(grammar.root(stmt.value), 0):
            return False
        return not any(
            self._is_row(n, set()) or self._only_added_to(n, set())
            for n in set(grammar.writes(stmt)).difference(_lists(stmt))
        )

    def _alone(self, made: str) -> bool:
        """Whether a list that is made here stays as it is, and has no second name."""
        every = [*self.readers.get(made, ()), *self.definitions[made]]
        for s in every:
            value = getattr(s, "value", None)
            if made in grammar.mutates(s) or resized(s) or self.flow.given(s)[1]:
                return False
            item = isinstance(value, gast.Subscript) and grammar.is_name(value.value)
            if item and not isinstance(value.slice, gast.Slice):
                continue
            if isinstance(s, gast.Assign) and made in self.flow.into(value):
                return False
        return True

    def _is_row(self, name: str, seen: set[str]) -> bool:
        """Whether a name, or one that it is given to, is taken for an array."""
        seen.add(name)
        return any(
            name in grammar.mutates(s)
            or any(
                isinstance(n, (gast.Subscript, gast.Attribute))
                and grammar.is_name(n.value, name)
                for h in grammar.heads(s)
                for n in gast.walk(h)
            )
            or any(self._is_row(m, seen) for m in self._copies(s, name) - seen)
            for s in self.readers.get(name, ())
        )

    def _only_added_to(self, name: str, seen: set[str]) -> bool:
        """Whether a name is read for nothing but ``v += e``: then `v` is a row."""
        seen.add(name)
        readers = self.readers.get(name, ())
        return bool(readers) and all(
            isinstance(s, gast.AugAssign)
            and grammar.is_name(s.target, name)
            or any(self._only_added_to(m, seen) for m in self._copies(s, name) - seen)
            for s in readers
        )

    def _copies(self, stmt: gast.AST, name: str) -> set[str]:
        """The second names that a statement gives to what `name` refers to."""
        if not grammar.is_name(getattr(stmt, "value", None), name):
            return set()
        return {m for m in grammar.writes(stmt) if m in self.flow.seconds} - {name}

    def _names_element(self, stmt: gast.Assign) -> bool:
        """Whether a statement is ``u = v``, and `v` a number that an array held.

        What is the greatest or least of such numbers is one of them.
        """
        if grammar.is_name(stmt.value):
            return stmt.value.id in self.elements
        if isinstance(stmt.value, gast.Call):
            one = self.flow.classify(stmt.value).callee in (max, min)
            shared = self.flow.into(stmt.value) & self.flow.seconds.keys()
            return one and shared <= self.elements | self.flow.numbers
        return False

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
        if isinstance(stmt, gast.Return):
            if isinstance(value, gast.Tuple):
                value.elts = [self._named(e, stmt, lead) for e in value.elts]
            elif value is not None:
                stmt.value = self._named(value, stmt, lead)
            return lead
        if not isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Call)):
            if grammar.mutates(stmt) or isinstance(stmt, gast.AugAssign):
                stmt.value = self._named(value, stmt, lead)
            return lead
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
            value.func.value = self._named(value.func.value, stmt, lead)
        for field, old in gast.iter_fields(value):
            if isinstance(old, gast.expr) and field != "func":
                setattr(value, field, self._named(old, stmt, lead))
            elif field == "args":
                value.args = [self._named(a, stmt, lead) for a in old]
            elif field == "keywords":
                for k in old:
                    k.value = self._named(k.value, stmt, lead)
        return lead

    def _named(self, part: gast.AST, stmt: gast.AST, lead: list) -> gast.AST:
        if isinstance(part, (gast.List, gast.Tuple)):
            part.elts = [self._named(e, stmt, lead) for e in part.elts]
            return part
        if isinstance(part, gast.Name) or grammar.root(part) not in self.roots:
            return part
        if grammar.is_view(part):
            part.func.value = self._named(part.func.value, stmt, lead)
        elif is_array_attribute(getattr(part, "attr", "")):
            part.value = self._named(part.value, stmt, lead)
        made = self.names.fresh(f"{grammar.root(part)}_part")
        lead.append(grammar.assign(made, part, stmt))
        return grammar.name(made)

    def _checked(self, stmt: gast.AugAssign, key: int) -> list[gast.AST]:
        """A check of what ``y += e`` changes: an array of other names, or a number."""
        shared = any(key in map(id, s) for s in self.flow.seconds.values())
        name = noun(stmt.target)
        # Under whatever name the container is known, it is its item that changes.
        shared = shared and isinstance(stmt.target, gast.Name)
        if name in self.elements or not (shared or key in self.unclear):
            return []
        helper = "check_numbers" if key in self.unclear else "check_arrays"
        value = grammar.clone(stmt.target)
        value.ctx = gast.Load()
        test = self.check(helper, [], {name: value})
        return [grammar.located(test, stmt)]

    def _is_clear(self, stmt: gast.Assign, name: str) -> bool:
        """Whether a path leads to the same array wherever the second name is used.

        Where it does not, ``x += e`` is checked to be one on numbers when it runs;
        anything else that writes is refused.
        """
        new = self.flow.is_new(stmt.value)
        if getattr(stmt.value, "attr", "T") != "T":
            # A field may hold a number as well as an array.
            new = new or any(map(self._may_be_number, self.flow.seconds[name]))
        if self._leads_there(stmt, name) and not new:
            if not self._is_replaced(stmt, name):
                return True
        for write in self.flow.seconds[name]:
            if not self._may_be_number(write):
                part = getattr(stmt.value, "attr", "") in ("real", "imag")
                why = PART if part else WHY
                raise unsupported(
                    self.source, stmt, "this second name of an array", *why
                )
            self.unclear.add(id(write))
        return False

    def _is_replaced(self, stmt: gast.Assign, name: str) -> bool:
        """Whether something else may stand where a path leads to, while it is used."""
        stores = [
            write
            for write in grammar.statements(self.fn.body)
            # `l[i] += e` changes the array that is there.
            if isinstance(write, gast.Assign)
            and any(
                self.flow.is_item(place) and _leads(place, stmt.value)
                for place in grammar.places(write)
            )
        ]
        return self._bound_in_use(stmt, name, stores)

    def _leads_there(self, stmt: gast.Assign, name: str) -> bool:
        if not isinstance(stmt.targets[0], gast.Name) or name in self.flow.parameters:
            return False
        value = self._as_method(stmt.value)
        if not self._is_path(value):
            return False
        places = self._places(stmt)
        readers = self.readers.get(name, [])
        bindings = self._bindings(name)
        if len(bindings) == 1:
            if not all(id(s) in places for s in readers):
                return False
        elif not self._apart(bindings, readers):
            return False
        # `a += e` leaves an array what it is.
        root = grammar.root(value)
        if self._bound_in_use(stmt, name, self._bindings(root)):
            return False
        first = places[id(stmt)]
        early = any(places[id(s)] <= first for s in readers if id(s) in places)
        return not (early and self._rebound(stmt, name, root))

    def _is_path(self, value: gast.AST) -> bool:
        """Whether an expression leads from a local name to a part of what it holds."""
        objects = self.flow.found.certain
        while not isinstance(value, gast.Name):
            if isinstance(value, gast.Attribute):
                own = grammar.root(value) in objects
                if value.attr != "T" and (is_array_attribute(value.attr) or not own):
                    return False
            elif not isinstance(value, gast.Subscript):
                if not grammar.is_view(value) or value.keywords:
                    return False
            value = grammar.whole(value)
        return value.id in self.flow.where.definitions

    def _rebound(self, stmt: gast.Assign, name: str, root: str) -> list[str]:
        """The indices and sizes that change while a second name is in use."""
        inner = sorted(grammar.names_read(stmt.value) - {root})
        return [
            n
            for n in inner
            if self._bound_in_use(stmt, name, self.definitions.get(n, []))
        ]

    def _held(self, stmt: gast.Assign, name: str, out: list[gast.AST]) -> gast.AST:
        """A path with names of its own for the indices that change meanwhile."""
        value = grammar.clone(stmt.value)
        for n in self._rebound(stmt, name, grammar.root(self._as_method(stmt.value))):
            held = self.names.fresh(f"{n}_held")
            out.append(grammar.assign(held, grammar.name(n), stmt))
            value = _Substitute({n: grammar.name(held)}).visit(value)
        return value

    def _places(self, stmt: gast.AST) -> dict[int, int]:
        """For all that is in the block of a statement, where in the block that is."""
        return {
            id(s): k
            for k, top in enumerate(self.home[id(stmt)])
            for s in grammar.statements([top])
        }

    def _apart(self, bindings: list[gast.AST], readers: list[gast.AST]) -> bool:
        """Whether every reader of a name can only see one and the same binding."""
        seen: set[int] = set()
        for b in bindings:
            places = self._places(b)
            if any(id(other) in places for other in bindings if other is not b):
                return False
            own = [s for s in readers if id(s) in places]
            if any(places[id(s)] <= places[id(b)] for s in own):
                return False
            seen.update(map(id, own))
        return all(id(s) in seen for s in readers)

    def _bound_in_use(
        self, stmt: gast.Assign, name: str, bindings: list[gast.AST]
    ) -> bool:
        """Whether bindings of another name may fall where a second name is in use."""
        places = self._places(stmt)
        inside = [s for s in bindings if id(s) in places]
        if not inside:
            return False
        used = [places[id(s)] for s in self.readers.get(name, ()) if id(s) in places]
        first, last = places[id(stmt)], max(used, default=-1)
        # A simple statement reads before it binds.
        top = self.home[id(stmt)][last]
        top = None if isinstance(top, grammar.COMPOUND) else top
        return any(k <= first for k in used) or any(
            first <= places[id(s)] <= last and not (s is top and s is not stmt)
            for s in inside
        )

    def _bindings(self, name: str) -> list[gast.AST]:
        """The statements that bind a name; ``x += e`` leaves an array what it is."""
        found = self.definitions.get(name, ())
        return [s for s in found if not isinstance(s, gast.AugAssign)]

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


def _leads(place: gast.AST, path: gast.AST) -> bool:
    """Whether a path may go through a place."""
    steps, others = [], []
    for found, node in ((steps, place), (others, path)):
        while not isinstance(node, gast.Name):
            found.insert(0, node)
            node = grammar.whole(node)
        found.insert(0, node)
    if len(steps) > len(others) or steps[0].id != others[0].id:
        return False
    for a, b in zip(steps[1:], others[1:], strict=False):
        if grammar.is_view(a) or grammar.is_view(b):
            return True
        if isinstance(a, gast.Attribute) or isinstance(b, gast.Attribute):
            # A field of a named tuple has a number as well.
            if getattr(a, "attr", "") != getattr(b, "attr", getattr(a, "attr", "")):
                return False
        elif isinstance(a.slice, gast.Constant) and isinstance(b.slice, gast.Constant):
            if a.slice.value != b.slice.value:
                return False
    return True


def _whole(value: gast.AST) -> tuple[gast.AST, int]:
    """The array that an element is taken of, and by how many indices."""
    if isinstance(value, gast.Subscript):
        return value.value, len(grammar.indices(value))
    return value, 1


def _lists(stmt: gast.Assign) -> list[str]:
    """The `rest` of ``v, *rest = a``."""
    targets = getattr(stmt.targets[0], "elts", ())
    return [t.value.id for t in targets if isinstance(t, gast.Starred)]


def _takes_none(index: gast.AST) -> bool:
    """Whether an index may use up no axis: `None`, ``...`` or a boolean."""
    known = isinstance(index, gast.Constant) and type(index.value) is not int
    return known or isinstance(index, gast.Compare)
