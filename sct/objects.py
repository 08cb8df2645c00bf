"""Objects made in a function, taken apart into names.

::

    m = <new Point>             m_x = a
    m.x = a                     m_y = 2.0
    m.y = 2.0            ->     r = m_x * m_y
    r = m.x * m.y

That is possible where nobody sees the object as a whole: its constructor and methods
are written out, and what is left reads and writes its attributes.  A second name of an
object is either the same name, or has attributes of its own as long as nobody changes
those of either.
"""

from __future__ import annotations

import types

import gast

from .arguments import parameter_names
from .attributes import is_class_check
from .classes import find, is_named_tuple
from .errors import unsupported
from .grammar import (
    assign,
    blocks,
    clone,
    constant,
    is_name,
    located,
    name,
    statements,
    writes,
)
from .meanings import Made
from .names import Names, used_names
from .renaming import Captured, rename

LOOPS = (gast.For, gast.While)
WHOLE = (
    "an object that is made here and used as a whole",
    "only its attributes, and methods that have Python source, are followed",
    "Return or store the values that it holds.",
)
TWICE = (
    "a second name of an object that changes",
    "which of its attributes belong to which object cannot be told",
    "Use one name for each object.",
)


# Name → the statements that bind it.
Binders = dict[str, list[gast.AST]]


def objects_apart(fn: gast.FunctionDef, around) -> gast.FunctionDef:
    """Replace objects by their attributes.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF in which constructors and methods are written out.
    around : Surroundings
        What is known of the world around it.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one without `Made`, to be
        flattened again.

    Raises
    ------
    UnsupportedError
        For an object that is used as a whole.
    """
    if not _made(fn):
        return fn
    fn = clone(fn)
    while made := _made(fn):
        work = _Apart(fn, around, _outermost(fn, made))
        fn.body = [*work.given_parts(fn), *work.block(fn.body)]
        _read_directly(fn, set(work.attributes.values()))
    return fn


def _read_directly(fn: gast.FunctionDef, attributes: set[str]) -> None:
    """Read attributes that are bound once and for all without names in between."""
    count: dict[str, int] = {}
    steady = set(attributes)
    copies: dict[str, tuple[list, gast.AST]] = {}
    stack = [(fn.body, False)]
    while stack:
        body, loop = stack.pop()
        for s in body:
            for n in writes(s):
                count[n] = count.get(n, 0) + 1
                if loop:
                    steady.discard(n)
            if _source(s) in attributes:
                copies[s.targets[0].id] = body, s
            stack += [(b, loop or isinstance(s, LOOPS)) for b in blocks(s)]
    steady = {n for n in steady if count.get(n) == 1}
    single = {
        n: (body, s)
        for n, (body, s) in copies.items()
        if count[n] == 1 and s.value.id in steady and n not in steady
    }
    try:
        rename(fn.body, {n: s.value.id for n, (_, s) in single.items()})
    except Captured:
        return
    for body, s in single.values():
        body[:] = [t for t in body if t is not s] or [located(gast.Pass(), s)]


def _outermost(fn: gast.FunctionDef, made: Binders) -> Binders:
    """The objects that no attribute of another object holds."""
    held: set[str] = set()
    for s in statements(fn.body):
        if isinstance(s, gast.Assign):
            target, value = s.targets[0], s.value
            into = isinstance(target, gast.Attribute) and is_name(target.value)
            if into and target.value.id in made and is_name(value):
                held.add(value.id)
            out = isinstance(value, gast.Attribute) and is_name(value.value)
            if out and value.value.id in made and is_name(target):
                held.add(target.id)
    while True:
        pairs = [{n, _source(s)} - {""} for n, b in made.items() for s in b]
        more = {n for pair in pairs if held & pair for n in pair}
        if more <= held:
            break
        held |= more
    # Objects that hold one another are looked at all at once, and refused.
    return {n: b for n, b in made.items() if n not in held} or made


def _made(fn: gast.FunctionDef) -> Binders:
    """The names that hold objects made here, and what binds them."""
    bound: dict[str, list[gast.AST]] = {}
    for s in statements(fn.body):
        for n in writes(s):
            bound.setdefault(n, []).append(s)
    found = {
        n: binders
        for n, binders in bound.items()
        if any(isinstance(getattr(s, "value", None), Made) for s in binders)
    }
    while True:
        more = {
            n: binders
            for n, binders in bound.items()
            if n not in found and any(_source(s) in found for s in binders)
        }
        if not more:
            return found
        found |= more


def _source(s: gast.AST) -> str:
    """The `m` of ``v = m``."""
    plain = isinstance(s, gast.Assign) and is_name(s.targets[0]) and is_name(s.value)
    return s.value.id if plain else ""


class _Apart(gast.NodeTransformer):
    """Replaces attributes by names, statement by statement."""

    def __init__(self, fn, around, made: Binders):
        self.source, self.scope, self.made = around.source, around.scope, made
        self.given = {p for p in parameter_names(fn) if p in self.made}
        self.names = Names(used_names(fn))
        self.at: gast.AST = fn
        self.attributes: dict[tuple[str, str], str] = {}
        self.fields: dict[str, tuple[str, ...]] = {}
        order = {s: k for k, s in enumerate(statements(fn.body))}
        self.same: dict[str, str] = {}
        copies = []
        for n, binders in self.made.items():
            for s in binders:
                if isinstance(getattr(s, "value", None), Made):
                    if is_named_tuple(s.value.cls):
                        self.fields[n] = s.value.cls._fields
                    continue
                if not _source(s):
                    self.refuse(s, WHOLE)
                copies.append((n, s))
        first, blocks_of = _first_reads(fn, self.made), _blocks_of(fn)
        for n, s in copies:
            m = _source(s)
            single = len(self.made[n]) == 1 and len(self.made.get(m, ())) == 1
            single = single and not self.given & {n, m}
            # In a loop, only what is bound with the object follows it every turn.
            if single and m in self.made:
                block, loop = blocks_of[self.made[m][0]]
                single = not loop or block is blocks_of[s][0]
            if single and first.get(n, order[s] + 1) > order[s]:
                self.same[n] = m
        for n in self.same:
            self.same[n] = self.whole(n)
        self.copies = [(n, s) for n, s in copies if n not in self.same]
        self.stored = {
            (self.whole(n.value.id), n.attr)
            for n in gast.walk(fn)
            if isinstance(n, gast.Attribute) and is_name(n.value)
            if isinstance(n.ctx, gast.Store) and n.value.id in self.made
        }
        self.share(fn, order)

    def whole(self, n: str) -> str:
        """The name that stands for an object known by several."""
        while n in self.same and self.same[n] != n:
            n = self.same[n]
        return n

    def share(self, fn, order) -> None:
        """What attributes are copied with an object, and that none of them changes."""
        reads: dict[str, set[str]] = {}
        for s in statements(fn.body):
            for n in gast.walk(s) if not list(blocks(s)) else _heads(s):
                if isinstance(n, gast.Attribute) and is_name(n.value):
                    if n.value.id in self.made:
                        reads.setdefault(self.whole(n.value.id), set()).add(n.attr)
        self.copied = reads
        joined = {}
        for n, s in self.copies:
            m = self.whole(_source(s))
            n = self.whole(n)
            group = joined.get(n, {n}) | joined.get(m, {m})
            joined.update(dict.fromkeys(group, group))
        while True:
            before = {n: len(f) for n, f in reads.items()}
            for n, s in self.copies:
                m = self.whole(_source(s))
                reads.setdefault(m, set()).update(reads.get(self.whole(n), ()))
                fields = self.fields.get(n, ()) or self.fields.get(m, ())
                if fields:
                    self.fields[n] = self.fields[m] = fields
            if before == {n: len(f) for n, f in reads.items()}:
                break
        young = _young_stores(fn.body)
        for s in statements(fn.body):
            targets = getattr(s, "targets", None) or [getattr(s, "target", None)]
            for t in targets:
                if isinstance(t, gast.Attribute) and is_name(t.value):
                    n = self.whole(t.value.id)
                    if n in joined.keys() | self.given and s not in young:
                        self.refuse(s, TWICE)

    def given_parts(self, fn: gast.FunctionDef) -> list[gast.AST]:
        """The attributes of parameters that are given other objects later."""
        return [
            assign(
                self.attribute(p, f),
                gast.Attribute(name(p), f, gast.Load()),
                fn.body[0],
            )
            for p in sorted(self.given)
            for f in sorted(self.copied.get(p, ()))
        ]

    def refuse(self, at: gast.AST, entry: tuple[str, str, str]) -> None:
        what, why, instead = entry
        raise unsupported(self.source, at, what, why, instead)

    def attribute(self, n: str, attr: str) -> str:
        """The name of an attribute of an object."""
        key = self.whole(n), attr
        if key not in self.attributes:
            self.attributes[key] = self.names.fresh(f"{key[0]}_{attr}")
        return self.attributes[key]

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in body:
            self.at = s
            out += self.statement(s)
            for inner in list(blocks(s)):
                inner[:] = self.block(inner)
        return out or [located(gast.Pass(), body[0] if body else None)]

    def statement(self, s: gast.AST) -> list[gast.AST]:
        if isinstance(getattr(s, "value", None), Made) and s.targets[0].id in self.made:
            return []
        if _source(s) in self.made or _source(s) and s.targets[0].id in self.made:
            n, m = self.whole(s.targets[0].id), self.whole(s.value.id)
            if n == m:
                return []
            return [
                assign(self.attribute(n, f), self.part(m, f), s)
                for f in sorted(self.copied.get(n, ()))
            ]
        if is_class_check(s, self.scope):
            # It is about a parameter, before anything else is called by its name.
            return [s]
        inside = {t for b in blocks(s) for t in b}
        for field, value in gast.iter_fields(s):
            if isinstance(value, gast.AST):
                setattr(s, field, self.visit(value))
            elif isinstance(value, list) and not any(v in inside for v in value):
                value[:] = [
                    self.visit(v) if isinstance(v, gast.AST) else v for v in value
                ]
        return [s]

    def part(self, n: str, attr: str) -> gast.AST:
        """An attribute of an object that is made here, or of any other."""
        if n in self.made:
            return name(self.attribute(n, attr))
        return gast.Attribute(name(n), attr, gast.Load())

    def is_method(self, node: gast.Attribute) -> bool:
        """Whether an attribute is a method of the class of what is made here."""
        stored = (self.whole(node.value.id), node.attr) in self.stored
        made = [getattr(s, "value", None) for s in self.made[node.value.id]]
        classes = [m.cls for m in made if isinstance(m, Made)]
        found = [find(cls, node.attr) for cls in classes]
        return not stored and any(
            f and isinstance(f[0], types.FunctionType) for f in found
        )

    def visit_Attribute(self, node):
        if is_name(node.value) and node.value.id in self.made:
            if isinstance(node.ctx, gast.Load) and self.is_method(node):
                # It has the whole object with it.
                self.refuse(self.at, WHOLE)
            id = self.attribute(node.value.id, node.attr)
            new = name(id, store=isinstance(node.ctx, gast.Store))
            return gast.copy_location(new, node)
        return self.generic_visit(node)

    def visit_Subscript(self, node):
        """``p[0]`` of a named tuple."""
        fields = self.fields.get(node.value.id) if is_name(node.value) else None
        index = getattr(node.slice, "value", None)
        if fields and type(index) is int and -len(fields) <= index < len(fields):
            part = gast.Attribute(node.value, fields[index], node.ctx)
            return self.visit(gast.copy_location(part, node))
        return self.generic_visit(node)

    def visit_Call(self, node):
        size = is_name(node.func, "len") and len(node.args) == 1
        if size and is_name(node.args[0]) and node.args[0].id in self.fields:
            return gast.copy_location(constant(len(self.fields[node.args[0].id])), node)
        return self.generic_visit(node)

    def visit_Name(self, node):
        if node.id not in self.made:
            return node
        if node.id in self.fields and isinstance(node.ctx, gast.Load):
            # A named tuple read as a whole is a tuple, except where it is returned.
            if isinstance(self.at, gast.Assign) and self.at.value is node:
                parts = [name(self.attribute(node.id, f)) for f in self.fields[node.id]]
                return gast.copy_location(gast.Tuple(parts, gast.Load()), node)
        at = node if getattr(node, "lineno", 0) else self.at
        self.refuse(at, WHOLE)


def _heads(s: gast.AST) -> list[gast.AST]:
    inside = {t for b in blocks(s) for t in b}
    found = []
    stack = [c for c in gast.iter_child_nodes(s) if c not in inside]
    while stack:
        n = stack.pop()
        found.append(n)
        stack += list(gast.iter_child_nodes(n))
    return found


def _blocks_of(fn: gast.FunctionDef) -> dict[gast.AST, tuple[list, bool]]:
    """The block that each statement stands in, and whether that is in a loop."""
    found: dict[gast.AST, tuple[list, bool]] = {}
    stack = [(fn.body, False)]
    while stack:
        body, loop = stack.pop()
        for s in body:
            found[s] = body, loop
            stack += [(b, loop or isinstance(s, LOOPS)) for b in blocks(s)]
    return found


def _first_reads(fn, made) -> dict[str, int]:
    """The first statement, in order of the text, that reads each name."""
    first: dict[str, int] = {}
    for k, s in enumerate(statements(fn.body)):
        for n in gast.walk(s) if not list(blocks(s)) else _heads(s):
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
                if n.id in made:
                    first.setdefault(n.id, k)
    return first


def _young_stores(body: list[gast.AST]) -> set[gast.AST]:
    """The stores into objects that have no second name yet.

    They follow the object's making in the same block, with no copy of it in between.
    """
    found: set[gast.AST] = set()
    stack = [body]
    while stack:
        block = stack.pop()
        young: set[str] = set()
        for s in block:
            if isinstance(getattr(s, "value", None), Made):
                young.update(writes(s))
                continue
            inside = [t for b in blocks(s) for t in statements(b)]
            if isinstance(s, (gast.For, gast.While)):
                # What comes last in a turn comes before the next one.
                for t in inside:
                    young -= {_source(t), *(writes(t) if _source(t) else ())}
            for t in [s, *inside]:
                young -= {_source(t), *(writes(t) if _source(t) else ())}
                targets = getattr(t, "targets", None) or [getattr(t, "target", None)]
                for a in targets:
                    if isinstance(a, gast.Attribute) and is_name(a.value):
                        if a.value.id in young:
                            found.add(t)
            stack += list(blocks(s))
    return found
