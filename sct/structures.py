"""Containers and objects: which names hold them, and one path to every part.

::

    layer = params["hidden"]           z = x @ params["hidden"]["w"]
    z = x @ layer["w"]          ──►

A part is reached through the name of the whole, so that its adjoint is the same part
of the adjoint of the whole: ``params_bar["hidden"]["w"] += ...``.  What a parameter is
shows in how it is used: a string as a subscript makes it a dict, an attribute that
arrays do not have an object.  One that is only indexed and unpacked may be a sequence
or an array; the emitted code serves both.
"""

from __future__ import annotations

import types
from collections.abc import Callable

import gast
import numpy as np

from sct import grammar, operations, runtime, templates
from sct.analysis.annotations import parameter_facts
from sct.arguments import parameter_names
from sct.errors import SctError
from sct.helpers import HELPERS
from sct.names import noun
from sct.normalise import normalise
from sct.operations import (
    FOUND,
    SOLVERS,
    BindError,
    Operation,
    bind_call,
    followed,
    unwrap,
)
from sct.questions import about_functions
from sct.stacks import popped, stacks
from sct.templates import is_array_attribute

MAKERS = (
    *(list, tuple, dict, *templates.SPLITTING),
    # And what helpers return of several arrays.
    *(HELPERS[name] for name in templates.SPLITTING_HELPERS),
)
DISPLAYS = (gast.List, gast.Tuple, gast.ListComp, gast.Dict, gast.DictComp)


class Structures:
    """The names that hold containers or objects.

    Attributes
    ----------
    certain : set of str
        Names that do.
    possible : set of str
        Parameters, and parts of containers, that may be sequences, or arrays.
    lists, dicts : set of str
        Those of `certain` that are known to be lists, or dicts.
    holders : set of str
        Those of which the elements are containers or objects.
    """

    def __init__(self, certain: set[str], possible: set[str]):
        self.certain, self.possible = certain, possible
        self.lists: set[str] = set()
        self.dicts: set[str] = set()
        self.holders: set[str] = set()

    @property
    def all(self) -> set[str]:
        return self.certain | self.possible

    def entry(self, place: gast.AST) -> str:
        """What a path leads to: "key" of a dict, "item" of a list, or "" for neither.

        What is stored there takes the place of what was there before; elsewhere it may
        be written into an array.
        """
        if not isinstance(place, gast.Subscript):
            return ""
        key, whole = place.slice, place.value
        string = isinstance(key, gast.Constant) and isinstance(key.value, str)
        if string or grammar.is_name(whole) and whole.id in self.dicts:
            return "key"
        plain = not isinstance(key, (gast.Slice, gast.Tuple))
        if grammar.is_name(whole) and whole.id in self.lists | self.holders and plain:
            return "item"
        return ""

    def sliced(self, place: gast.AST) -> bool:
        """Whether a path leads to several items of a list, rather than of an array."""
        root = grammar.root(place)
        own = root in self.lists and grammar.is_name(place.value)
        nested = root in self.lists & self.holders
        return isinstance(place.slice, gast.Slice) and (own or nested)

    def part(self, place: gast.AST) -> bool:
        """Whether a path leads to one element of something, container or array."""
        return grammar.root(place) in self.all and not isinstance(
            getattr(place, "slice", None), (gast.Slice, gast.Tuple)
        )


def structures(
    fn: gast.FunctionDef,
    classify: Callable[[gast.AST], Operation],
    arrays: set[str],
) -> Structures:
    """Find the containers of a function in ANF.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function.
    classify : callable
        ``classify(expr) -> Operation``.
    arrays : set of str
        Names known to hold arrays or numbers.
    """
    uses = _Uses(fn, classify)
    bound = _bindings(fn)
    certain = {
        n
        for n, values in bound.items()
        for v in values
        if isinstance(v, (gast.Starred, *DISPLAYS)) or _makes_container(v, classify)
    }
    lists = lists_only(fn, classify)
    certain |= lists
    parameters = [p for p in parameter_names(fn) if p not in arrays]
    possible: set[str] = set()
    for p in parameters:
        if uses.named(p):
            certain.add(p)
        elif uses.indexed_only(p):
            possible.add(p)
    possible |= {
        n
        for n, values in bound.items()
        if n not in certain and any(_is_partwise(v, classify) for v in values)
    }
    possible |= _copied_from(uses.partwise, bound, classify) & {*parameters} - certain
    # A slice of a sequence is one as well.
    for whole, parts in uses.slices.items():
        for kind in (certain, possible):
            if whole in kind:
                kind.update(v for v in parts if v not in uses.other)
    # A part that is itself taken apart makes a container of the whole.
    for whole, parts in uses.parts.items():
        if whole in parameters and any(uses.named(v) for v in parts):
            certain.add(whole)
            possible.discard(whole)
    # So may the parts themselves be.
    pending = [n for n in bound if n not in parameters]
    while True:
        found = certain | possible
        more = {
            n
            for n in pending
            if n not in found
            and all(v is not None and grammar.root(v) in found for v in bound[n])
        }
        named = {n for n in more if uses.named(n)}
        named |= uses.strings & set(pending) - certain
        named |= {
            n
            for n in set(pending) - certain
            if any(_like(v, classify) & certain for v in bound[n])
        }
        more = {n for n in more - named if uses.indexed_only(n)}
        if not named | more:
            break
        certain |= named
        possible |= more
        possible -= named
    made = Structures(certain, possible)
    made.dicts = {
        n
        for n in certain
        if n in uses.strings
        or n in bound
        and all(_makes_dict(v, classify) for v in bound[n])
    }
    made.lists = lists - made.dicts
    made.holders = {w for w, parts in uses.parts.items() if certain & set(parts)}
    made.holders |= {
        n
        for n, values in bound.items()
        if any(isinstance(v, DISPLAYS) and _items(v) & certain for v in values)
    }
    return made


def _items(display: gast.AST) -> set[str]:
    """The names of what a display holds."""
    parts = getattr(display, "values", None) or getattr(display, "elts", ())
    return {p.id for p in parts if isinstance(p, gast.Name)}


def _makes_dict(value: gast.AST | None, classify) -> bool:
    called = isinstance(value, gast.Call) and classify(value).callee is dict
    return called or isinstance(value, (gast.Dict, gast.DictComp))


def _bindings(fn: gast.FunctionDef) -> dict[str, list[gast.AST | None]]:
    """What the names of a function are bound to: None where no expression tells.

    What is unpacked from a value is bound to an element of it; a starred target to a
    list of its own, which is a `Starred`; what a stack gives back to all that is pushed
    there.
    """
    found: dict[str, list[gast.AST | None]] = {}
    pushed: dict[str, list[gast.AST | None]] = {n: [] for n in stacks(fn)}
    for s in grammar.statements(fn.body):
        if grammar.appended(s) in pushed:
            pushed[grammar.appended(s)] += s.value.args
        elif isinstance(s, gast.Assign) and grammar.is_name(s.targets[0]):
            # It may have begun with something in it.
            pushed.get(s.targets[0].id, []).extend(getattr(s.value, "elts", ()))
    for s in grammar.statements(fn.body):
        value = getattr(s, "value", None)
        if pushed.get(popped(s)) and isinstance(s.targets[0], gast.Name):
            found.setdefault(s.targets[0].id, []).extend(pushed[popped(s)])
            continue
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            value = gast.BinOp(grammar.name(s.target.id), s.op, value)
        for t in getattr(s, "targets", None) or [getattr(s, "target", None)]:
            parts = t.elts if isinstance(t, gast.Tuple) else [t]
            starred = [isinstance(e, gast.Starred) for e in parts]
            for i, e in enumerate(parts):
                bound = value
                if starred[i]:
                    bound = e
                elif e is not t:
                    # Behind a starred target items are counted from the end.
                    place = i - len(parts) if any(starred[:i]) else i
                    index = grammar.constant(place)
                    bound = gast.Subscript(value, index, gast.Load())
                for n in grammar.target_names(e):
                    found.setdefault(n, []).append(bound)
    return found


def lists_only(fn: gast.FunctionDef, classify) -> set[str]:
    """The names that hold lists or dicts wherever they are bound."""
    bound = {p: [None] for p in parameter_names(fn)}
    for n, values in _bindings(fn).items():
        bound.setdefault(n, []).extend(values)
    # What is made of itself alone, as `l` in ``l = l[:-1]``, is a list as long as all
    # else that it is bound to is one.
    only = set(bound)

    def is_list(value: gast.AST | None) -> bool:
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Add):
            names = grammar.names_read(value)
            return bool(names) and names <= only
        if isinstance(value, gast.BinOp) and isinstance(value.op, gast.Mult):
            # A list that is repeated: what it is repeated by is no list.
            return bool(grammar.names_read(value) & only)
        if isinstance(value, gast.Name):
            return value.id in only
        if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice):
            return grammar.is_name(value.value) and value.value.id in only
        if isinstance(value, gast.Call):
            return classify(value).callee is list or bool(_like(value, classify) & only)
        return isinstance(value, (gast.Starred, *DISPLAYS))

    while True:
        others = {n for n in only if not all(map(is_list, bound[n]))}
        if not others:
            break
        only -= others
    # Names that are only made of one another began with something from outside.
    lists = {
        n
        for n in only
        for v in bound[n]
        if isinstance(v, (gast.Starred, *DISPLAYS, gast.Call))
    }
    while True:
        more = {
            n
            for n in only - lists
            if any(v is not None and grammar.names_read(v) & lists for v in bound[n])
        }
        if not more:
            return lists
        lists |= more


def displays_named(
    fn: gast.FunctionDef,
    classify: Callable[[gast.AST], Operation],
    fresh: Callable[[str], str],
) -> gast.FunctionDef:
    """Give the displays that go into functions without a rule names of their own.

    Their adjoints are handed back whole, and taken apart where they were made.
    """
    fn = grammar.clone(fn)

    def block(body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for stmt in body:
            for inner in grammar.blocks(stmt):
                inner[:] = block(inner)
            call = getattr(stmt, "value", None)
            if isinstance(call, gast.Call) and _has_source(classify(call)):
                for holder, field in [
                    *((call.args, k) for k in range(len(call.args))),
                    *((vars(k), "value") for k in call.keywords),
                ]:
                    display = holder[field]
                    shown = isinstance(display, DISPLAYS)
                    if shown and grammar.names_read(display):
                        made = fresh(noun(display))
                        out.append(grammar.assign(made, display, stmt))
                        holder[field] = grammar.name(made)
            out.append(stmt)
        return out

    fn.body = block(fn.body)
    return fn


def _has_source(op: Operation) -> bool:
    """Whether a call is differentiated through the source of what it calls."""
    return op.kind == "opaque" and followed(op).kind == "call" or op.kind == "call"


# What derivatives do with containers, and with what may be one.
PARTWISE = (
    *(runtime.copied, runtime.filled, runtime.restored, runtime.zero_structure),
    runtime.added,
)


def _makes_container(value: gast.AST, classify) -> bool:
    index = None
    if isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Constant):
        # An item of a result that is unpacked at once.
        value, index = value.value, value.slice.value
    if not isinstance(value, gast.Call):
        return False
    op = classify(value)
    if op.kind == "call":
        return returns_container(unwrap(op.callee), index)
    if index is not None:
        return False
    several = any((k.arg or "").startswith("return_") for k in value.keywords)
    several = several or op.rule is not None and operations.may_have_parts(op)
    each = op.arguments.get(op.rule.each) if op.rule is not None else None
    several = several or isinstance(each, DISPLAYS)
    return several or any(op.callee is maker for maker in MAKERS)


@about_functions(False)
def returns_container(function: types.FunctionType, index: int | None = None) -> bool:
    """Whether what a user's function returns, or an item of it, is a container."""
    try:
        value = normalise(function).fn.body[-1].value
    except SctError:
        return False
    if index is not None:
        items = value.elts if isinstance(value, (gast.List, gast.Tuple)) else []
        if not -len(items) <= index < len(items):
            return False
        value = items[index]
    if isinstance(value, gast.Name):
        return value.id in of_function(function).certain
    return isinstance(value, DISPLAYS)


def _like(value: gast.AST | None, classify) -> set[str]:
    """The names of what a derivative makes a value in the structure of, if it does."""
    if not _is_partwise(value, classify):
        return set()
    # What is filled is given first, and then what it shall be like.
    like = [a for a in value.args if not isinstance(a, gast.Constant)][-1:]
    return {a.id for a in like if grammar.is_name(a)}


def _is_partwise(value: gast.AST | None, classify) -> bool:
    return isinstance(value, gast.Call) and classify(value).callee in PARTWISE


def _named_alike(fn: gast.FunctionDef) -> list[set[str]]:
    """The groups of names that are given to one part, such as ``c["w"]``."""
    bound = _bindings(fn)
    groups: dict[str, set[str]] = {}
    for n, values in bound.items():
        value = values[0]
        if len(values) > 1 or not isinstance(value, (gast.Subscript, gast.Attribute)):
            continue
        whole = value.value
        key = getattr(value, "attr", None) or getattr(value.slice, "value", None)
        if grammar.is_name(whole) and isinstance(key, (str, int)):
            groups.setdefault(f"{whole.id}[{key!r}]", set()).add(n)
    return [g for g in groups.values() if len(g) > 1]


class _Uses:
    """How the names of a function are read."""

    def __init__(self, fn: gast.FunctionDef, classify):
        self.classify = classify
        self.strings: set[str] = set()
        self.attributes: set[str] = set()
        self.other: set[str] = set()
        self.taken: set[str] = set()
        # What derivatives handle part by part.
        self.partwise: set[str] = set()
        # What was copied by `dict`, with the names of the copies.
        self.tables: list[tuple[str, str]] = []
        # The names of what lists of items were made of.
        self.listed: dict[str, str] = {}
        # The keys that are looked for in a name, or that loops over it give.
        self.members: set[tuple[str, str]] = set()
        self.parts: dict[str, list[str]] = {}
        self.slices: dict[str, list[str]] = {}
        self.counters = {
            n
            for s in grammar.statements(fn.body)
            if isinstance(s, gast.For)
            for n in grammar.writes(s)
        }
        self.counters |= self._chosen(fn)
        for stmt in grammar.statements(fn.body):
            self._statement(stmt)
            for place in grammar.places(stmt):
                # What is stored into a slice goes to an array.
                sliced = isinstance(place.slice, (gast.Slice, gast.Tuple))
                if sliced and grammar.is_name(place.value):
                    self.other.add(place.value.id)
        written = {n for s in grammar.statements(fn.body) for n in grammar.mutates(s)}
        for whole, parts in self.slices.items():
            sliced = [v for v in parts if v not in self.listed]
            if written & set(sliced):
                # Of an array it is a view, of a list a copy: it is taken for an array.
                self.other.add(whole)
        for names in _named_alike(fn):
            if not self.other.isdisjoint(names):
                self.other |= names
        self.strings.update(d for d, e in self.tables if e in self.strings)
        # Of an array, slices go into arithmetic.
        for whole, parts in self.slices.items():
            if any(v in self.other for v in parts):
                self.other.add(whole)

    def _chosen(self, fn: gast.FunctionDef) -> set[str]:
        """The names of indices that `max`, `min` or `sorted` chose by a key."""
        found: set[str] = set()
        for s in grammar.statements(fn.body):
            value = s.value if isinstance(s, gast.Assign) else None
            if isinstance(value, gast.Call) and [k.arg for k in value.keywords][:1] == [
                "key"
            ]:
                if self.classify(value).callee in (sorted, max, min):
                    found.update(grammar.writes(s))
            if isinstance(value, gast.Subscript) and grammar.root(value) in found:
                found.update(grammar.writes(s))
        return found

    def _statement(self, stmt: gast.AST) -> None:
        if isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Name):
            if isinstance(stmt.targets[0], gast.Tuple):
                self.taken.add(stmt.value.id)
                return
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            whole = grammar.root(stmt.value)
            copied = _copied_name(stmt.value, self.classify)
            if copied:
                if self.classify(stmt.value).callee is dict:
                    self.tables.append((copied, stmt.targets[0].id))
                self.listed[stmt.targets[0].id] = copied
                self.slices.setdefault(copied, []).append(stmt.targets[0].id)
                return
            if isinstance(stmt.value, gast.Subscript) and isinstance(
                stmt.value.slice, gast.Slice
            ):
                self.slices.setdefault(whole, []).append(stmt.targets[0].id)
                self.taken.add(whole)
                return
            if whole in self.listed and isinstance(stmt.value, gast.Subscript):
                self.members.add((self.listed[whole], stmt.targets[0].id))
            if whole and not isinstance(stmt.value, gast.Name):
                self.parts.setdefault(whole, []).append(stmt.targets[0].id)
        for head in grammar.heads(stmt):
            self._expression(head)

    def _expression(self, head: gast.AST) -> None:
        stack = [head]
        while stack:
            n = stack.pop()
            if isinstance(n, gast.Subscript) and isinstance(n.value, gast.Name):
                key = n.slice
                if isinstance(key, gast.Constant) and isinstance(key.value, str):
                    self.strings.add(n.value.id)
                elif _is_number(key) or self._counts(key):
                    self.taken.add(n.value.id)
                elif grammar.is_name(key) and (n.value.id, key.id) in self.members:
                    # What is looked for in it, and then taken from it, is a key.
                    self.strings.add(n.value.id)
                else:
                    self.other.add(n.value.id)
                stack.append(key)
            elif isinstance(n, gast.Attribute) and isinstance(n.value, gast.Name):
                if is_array_attribute(n.attr):
                    self.other.add(n.value.id)
                else:
                    self.attributes.add(n.value.id)
            elif isinstance(n, gast.Attribute) and not is_array_attribute(n.attr):
                # What has such a part somewhere is no array itself.
                self.attributes.add(grammar.root(n))
                stack.append(n.value)
            elif isinstance(n, gast.Call) and self._call(n):
                stack += [a for a in n.args if not isinstance(a, gast.Name)]
            elif isinstance(n, gast.Compare) and isinstance(n.ops[-1], MEMBER):
                whole = n.comparators[-1]
                if grammar.is_name(n.left) and grammar.is_name(whole):
                    self.members.add((whole.id, n.left.id))
                stack += [n.left, *n.comparators[:-1]]
                stack += [] if grammar.is_name(whole) else [whole]
            elif isinstance(n, gast.Name):
                self.other.add(n.id)
            else:
                stack += grammar.children(n)

    def _counts(self, key: gast.AST) -> bool:
        """Whether a subscript is arithmetic on the counters of loops."""
        names = grammar.names_read(key)
        kinds = (gast.Name, gast.BinOp)
        return isinstance(key, kinds) and bool(names) and names <= self.counters

    def _call(self, node: gast.Call) -> bool:
        """Note what a call says of its arguments; False when it says nothing."""
        op = self.classify(node)
        method = getattr(node.func, "attr", "")
        if method == "copy" and not node.args and grammar.is_name(node.func.value):
            return True
        if op.callee in ITEMISED and len(node.args) == 1:
            self.taken.update(a.id for a in node.args if grammar.is_name(a))
            return True
        if op.callee in PARTWISE:
            given = [a.id for a in node.args if grammar.is_name(a)]
            self.taken.update(given)
            self.partwise.update(given)
            return True
        if op.callee in (len, dict, enumerate, isinstance) or (
            isinstance(node.func, gast.Attribute) and node.func.attr in DICT_METHODS
        ):
            if isinstance(node.func, gast.Attribute) and isinstance(
                node.func.value, gast.Name
            ):
                self.strings.add(node.func.value.id)
            return True
        if op.kind != "call":
            return False
        function = unwrap(op.callee)
        if any(function is solver for solver in (*SOLVERS, *FOUND)):
            # Their solutions are numbers and arrays.
            self.other.update(a.id for a in node.args[1:2] if grammar.is_name(a))
            return True
        try:
            bound = bind_call(function, node)
        except BindError:
            return False
        own = of_function(function)
        for parameter, a in bound.items():
            if not isinstance(a, gast.Name):
                continue
            if parameter in own.certain:
                self.attributes.add(a.id)
            elif parameter in own.possible:
                self.taken.add(a.id)
            else:
                self.other.add(a.id)
        return True

    def named(self, name: str) -> bool:
        """Whether parts of a name are taken as no array's are."""
        return name in self.strings or name in self.attributes

    def indexed_only(self, name: str) -> bool:
        """Whether a name is read for nothing but its elements."""
        return name in self.taken and name not in self.other


def _is_number(key: gast.AST) -> bool:
    if isinstance(key, gast.UnaryOp):
        key = key.operand
    return isinstance(key, gast.Constant) and type(key.value) is int


def _copied_name(value: gast.AST, classify) -> str:
    """The name of what ``l.copy()``, ``list(l)`` or ``dict(l)`` copies, or ``""``."""
    if not isinstance(value, gast.Call) or value.keywords:
        return ""
    owner = getattr(value.func, "value", None)
    if getattr(value.func, "attr", "") == "copy" and not value.args:
        return owner.id if grammar.is_name(owner) else ""
    if classify(value).callee in (list, dict, tuple) and len(value.args) == 1:
        return value.args[0].id if grammar.is_name(value.args[0]) else ""
    return ""


def _copied_from(names: set[str], bound, classify) -> set[str]:
    """The names whose containers some names hold, or hold copies of."""
    found: set[str] = set()
    pending = list(names)
    while pending:
        n = pending.pop()
        if n in found:
            continue
        found.add(n)
        for v in bound.get(n, ()):
            pending.append(v.id if grammar.is_name(v) else _copied_name(v, classify))
    return found


# What takes a list as it takes an array.
ITEMISED = (list, tuple, sum, np.array, np.asarray, *templates.OF_ITEMS.values())
MEMBER = (gast.In, gast.NotIn)
DICT_METHODS = {"items", "keys", "values", "get"}


@about_functions(Structures(set(), set()))
def of_function(function) -> Structures:
    """The containers among the parameters of a user's function."""
    try:
        normal = normalise(function)
        resolve = operations.Resolver(normal.scope, {})
        facts = parameter_facts(normal.fn, normal.scope)
        arrays = {p for p, f in facts.items() if f.array or f.scalar}
        return structures(normal.fn, lambda e: operations.classify(e, resolve), arrays)
    except SctError:
        return Structures(set(), set())


def one_path_each(fn: gast.FunctionDef, found: Structures) -> gast.FunctionDef:
    """Reach every part of a container through the name of the whole; a new tree."""
    roots = found.all
    if not roots:
        return fn
    fn = _by_key(grammar.clone(fn))
    count: dict[str, int] = {}
    changed: set[str] = set()
    grown: set[str] = set()
    for s in grammar.statements(fn.body):
        for n in grammar.writes(s):
            count[n] = count.get(n, 0) + 1
        changed.update(grammar.mutates(s))
        grown.add(grammar.appended(s))
    parameters = set(parameter_names(fn))
    steady = {r for r in roots - changed if count.get(r, 0) + (r in parameters) == 1}
    counters = {
        n
        for s in grammar.statements(fn.body)
        if isinstance(s, gast.For)
        for n in grammar.writes(s)
    }
    uses = _PartUses(fn)
    paths: dict[str, gast.AST] = {}

    def block(body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for stmt in body:
            stmt = _Paths(paths).visit(stmt) if paths else stmt
            for inner in grammar.BLOCKS:
                if getattr(stmt, inner, None) and not isinstance(
                    stmt, gast.FunctionDef
                ):
                    setattr(stmt, inner, block(getattr(stmt, inner)))
            name = _part(stmt)
            if (
                name
                and count[name] == 1
                and name in uses.taken
                and name not in uses.other
                # A slice of a list is a list of its own, as is what an array picks.
                and not (name in changed | grown and _is_slice(stmt.value))
                and not (name in changed and _picked(stmt.value) - counters)
            ):
                value = stmt.value
                keys = _picked(value)
                fixed = all(count.get(k, 0) + (k in parameters) == 1 for k in keys)
                whole = grammar.root(value) in steady and (fixed or keys <= counters)
                if whole and (
                    not _is_slice(value) or _by_number(value, name, uses, counters)
                ):
                    paths[name] = value
                    continue
            out.append(stmt)
        return out or [grammar.located(gast.Pass(), body[0] if body else None)]

    fn.body = block(fn.body)
    return fn


def _picked(value: gast.AST) -> set[str]:
    """The names in the brackets of a path."""
    return grammar.names_read(value) - {grammar.root(value)}


def _by_key(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Read the values of a dict by their keys, in place of ``d.items()``."""
    readers: dict[str, int] = {}
    listed: set[str] = set()
    for s in grammar.statements(fn.body):
        for head in grammar.heads(s):
            for n in grammar.nodes(head):
                if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
                    readers[n.id] = readers.get(n.id, 0) + 1
                if isinstance(n, gast.Call) and grammar.is_name(n.func, "list"):
                    listed.update(a.id for a in n.args if isinstance(a, gast.Name))
    # Views that serve to be iterated over, and nothing else.
    iterated = {n for n in listed if readers[n] == 1}
    views: dict[str, tuple[str, str]] = {}
    lists: dict[str, tuple[str, str]] = {}

    def rewritten(stmt: gast.AST) -> list[gast.AST]:
        if not isinstance(stmt, gast.Assign):
            return [stmt]
        target, value = stmt.targets[0], stmt.value
        name = target.id if isinstance(target, gast.Name) else ""
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
            owner, method = value.func.value, value.func.attr
            known = method in ("items", "values", "keys") and not value.args
            if name in iterated and known and isinstance(owner, gast.Name):
                views[name] = (owner.id, method)
                return []
        if isinstance(value, gast.Call) and grammar.is_name(value.func, "list"):
            argument = value.args[0] if value.args else None
            if isinstance(argument, gast.Name) and argument.id in views:
                lists[name] = views[argument.id]
                value.args[0] = grammar.call(f"{views[argument.id][0]}.keys")
                return [stmt]
        if isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name):
            owner, method = lists.get(value.value.id, ("", ""))
            if method == "values":
                stmt.value = gast.Subscript(grammar.name(owner), value, gast.Load())
                return [stmt]
            pair = isinstance(target, gast.Tuple) and len(target.elts) == 2
            if method == "items" and pair and isinstance(target.elts[0], gast.Name):
                key, item = target.elts
                lookup = gast.Subscript(
                    grammar.name(owner), grammar.name(key.id), gast.Load()
                )
                return [
                    grammar.assign(key.id, value, stmt),
                    grammar.located(gast.Assign([item], lookup, None), stmt),
                ]
        return [stmt]

    def block(body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for stmt in body:
            for inner in grammar.BLOCKS:
                if getattr(stmt, inner, None) and not isinstance(
                    stmt, gast.FunctionDef
                ):
                    setattr(stmt, inner, block(getattr(stmt, inner)))
            out += rewritten(stmt)
        return out

    fn.body = block(fn.body)
    return fn


def _is_slice(value: gast.AST) -> bool:
    return isinstance(value, gast.Subscript) and isinstance(value.slice, gast.Slice)


def _by_number(
    value: gast.Subscript, name: str, uses: _PartUses, counters: set[str]
) -> bool:
    """Whether a slice begins at a known number and is only read by number."""
    low = value.slice.lower
    known = low is None or isinstance(low, gast.Constant) and low.value >= 0
    return (
        value.slice.step is None
        and known
        and all(
            isinstance(k, gast.Name)
            and k.id in counters
            or isinstance(k, gast.Constant)
            and type(k.value) is int
            and k.value >= 0
            for k in uses.keys.get(name, [None])
        )
    )


def _part(stmt: gast.AST) -> str:
    """The name that a statement gives to a part of something."""
    if not isinstance(stmt, gast.Assign) or not isinstance(stmt.targets[0], gast.Name):
        return ""
    value = stmt.value
    part = isinstance(value, (gast.Subscript, gast.Attribute)) and grammar.root(value)
    return stmt.targets[0].id if part else ""


def _owner(node: gast.AST) -> str:
    """The name of the array that a method is called of, or an empty string."""
    func = node.func if isinstance(node, gast.Call) else None
    if not isinstance(func, gast.Attribute) or not is_array_attribute(func.attr):
        return ""
    return func.value.id if grammar.is_name(func.value) else ""


class _PartUses:
    """The names of which only parts are read, and those that are read as a whole."""

    def __init__(self, fn: gast.FunctionDef):
        self.taken: set[str] = set()
        self.other: set[str] = set()
        self.keys: dict[str, list[gast.AST]] = {}
        for stmt in grammar.statements(fn.body):
            unpacked = isinstance(stmt, gast.Assign) and isinstance(
                stmt.targets[0], gast.Tuple
            )
            if unpacked and isinstance(stmt.value, gast.Name):
                self.taken.add(stmt.value.id)
                continue
            for head in grammar.heads(stmt):
                stack = [head]
                while stack:
                    n = stack.pop()
                    owner = _owner(n)
                    if owner:
                        # The operand of `v.mean()` is all of `v`.
                        self.other.add(owner)
                        stack += [*n.args, *[k.value for k in n.keywords]]
                    elif isinstance(n, (gast.Subscript, gast.Attribute)) and isinstance(
                        n.value, gast.Name
                    ):
                        self.taken.add(n.value.id)
                        if isinstance(n, gast.Subscript):
                            self.keys.setdefault(n.value.id, []).append(n.slice)
                            stack.append(n.slice)
                    elif isinstance(n, gast.Call) and grammar.is_name(n.func, "len"):
                        continue
                    elif isinstance(n, gast.Name):
                        self.other.add(n.id)
                    else:
                        stack += grammar.children(n)


class _Paths(gast.NodeTransformer):
    """Names of parts by paths, in the head of one statement."""

    def __init__(self, paths):
        self.paths = paths

    def visit_Name(self, node):
        if node.id in self.paths and isinstance(node.ctx, gast.Load):
            return grammar.clone(self.paths[node.id])
        return node

    def visit_Subscript(self, node):
        path = (
            self.paths.get(node.value.id) if isinstance(node.value, gast.Name) else None
        )
        if path is not None and _is_slice(path):
            # p[a:b][i] is p[a + i].
            low, key = path.slice.lower, self.visit(node.slice)
            if low is not None:
                key = gast.BinOp(key, gast.Add(), grammar.clone(low))
            return gast.Subscript(grammar.clone(path.value), key, node.ctx)
        return super().generic_visit(node)

    def generic_visit(self, node):
        if isinstance(node, gast.stmt) and any(True for _ in grammar.blocks(node)):
            for field, old in gast.iter_fields(node):
                if field not in grammar.BLOCKS and isinstance(old, gast.AST):
                    setattr(node, field, self.visit(old))
            return node
        return super().generic_visit(node)
