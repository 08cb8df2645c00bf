"""ANF made ready for its adjoint: what the backward sweep needs to find its way.

::

    total += x                        total = total + x
    for i in range(n):                for i in range(n):
        x = x * x          ──►            x = x * x
        if x > m:                         if x > m:
            break                             left = True
                                              break

* ``x += e`` becomes ``x = x + e``: `views` has seen to it that no other name for the
  same array is read any more.
* A ``break`` sets a flag of its own, so that the backward sweep knows which one was
  taken.
* A loop's counter and bounds are written by nobody else.
* ``x = op(x)`` is split when the adjoint reads both values of `x`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import gast

from sct import grammar
from sct.attributes import ATTRIBUTE
from sct.errors import unsupported
from sct.names import Names, noun
from sct.operations import Operation
from sct.refusals import GROWING, REPEATED


class Prepared:
    """The outcome of `prepare`.

    Attributes
    ----------
    fn : gast.FunctionDef
        The tree.
    flags : set of str
        The names that say how loops were left.
    augmented : set of (str, int)
        Name and line of the statements that were written ``x += e``.
    in_place : set
        Those statements themselves.
    exact : set
        The stores made of ``x[i] *= e``: what is stored has the shape of the place.
    """

    def __init__(self, fn: gast.FunctionDef, work: _Preparation):
        self.fn, self.flags, self.augmented = fn, work.flags, work.augmented_at
        self.in_place, self.exact = work.in_place, work.exact


def prepare(
    fn: gast.FunctionDef,
    source: object,
    names: Names,
    classify,
    temporary: set[str],
    wrt: list[str],
    use: Callable[[str, str], str],
    integers: set[str],
    forward: bool = False,
    groups: Mapping[str, Collection[str]] | None = None,
) -> Prepared:
    """Make a function in ANF ready for its adjoint.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function; it is left alone.
    source : Source
        Where it comes from.
    names : Names
        Its supply of names.
    classify : callable
        ``classify(expr) -> Operation``.
    temporary : set of str
        Receives the names made here that no reader need see.
    wrt : list of str
        The parameters that are differentiated.
    use : callable
        ``use("builtin", "list")``: the name in the function of a builtin.
    integers : set of str
        Names that only ever hold single integers.
    forward : bool
        For forward mode: there ``x[i] *= e`` and ``x = op(x)`` stay as they are.
    groups : mapping, optional
        Name → the names that may refer to the same memory, where arrays have several.

    Returns
    -------
    Prepared
    """
    fn = grammar.clone(fn)
    work = _Preparation(fn, source, names, classify, temporary)
    work.varied = _reached(fn, wrt)
    groups = groups or {}
    while more := set().union(*[groups.get(n, ()) for n in work.varied]) - work.varied:
        # What is stored by way of one name is seen by way of the others.
        work.varied = _reached(fn, [*work.varied, *more])
    work.use, work.integers, work.as_they_are = use, integers, forward
    fn.body = work.block(fn.body)
    return Prepared(fn, work)


class _Preparation:
    def __init__(self, fn, source, names, classify, temporary):
        self.source, self.names, self.classify = source, names, classify
        self.temporary = temporary
        self.flags: set[str] = set()
        self.augmented_at: set[tuple[str, int]] = set()
        self.in_place: set[gast.AST] = set()
        self.exact: set[gast.AST] = set()
        self.unique = _unique_flags(fn)
        self.varied: set[str] = set()
        self.as_they_are = False
        # For each loop around: the flags made for it, the names its body sets False.
        self.raised: list[list[str]] = []
        self.lowered: list[set[str]] = []

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for stmt in body:
            out += self.statement(stmt, out)
        return out

    def statement(self, stmt: gast.AST, before: list[gast.AST]) -> list[gast.AST]:
        if isinstance(stmt, gast.AugAssign):
            if isinstance(stmt.target, gast.Subscript):
                return self.store(stmt)
            stmt = self.augmented(stmt)
        if isinstance(stmt, gast.Assign):
            if isinstance(stmt.targets[0], gast.Subscript):
                return self.store(stmt)
            if isinstance(stmt.targets[0], gast.Attribute):
                raise unsupported(self.source, stmt, "this assignment", *ATTRIBUTE)
            return self.assignment(stmt)
        if isinstance(stmt, (gast.For, gast.While)):
            return self.loop(stmt, before)
        if isinstance(stmt, gast.If):
            stmt.body, stmt.orelse = self.block(stmt.body), self.block(stmt.orelse)
        elif isinstance(stmt, gast.With):
            stmt.body = self.block(stmt.body)
        elif isinstance(stmt, gast.Expr) and self.classify(stmt.value).kind == "pop":
            # The backward sweep puts it back.
            item = self.names.fresh("item")
            self.temporary.add(item)
            return [grammar.assign(item, stmt.value, stmt)]
        elif isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant):
            # The user's docstring.
            return []
        elif isinstance(stmt, gast.Break):
            return self.leave(stmt, before)
        return [stmt]

    def augmented(self, stmt: gast.AugAssign) -> gast.Assign:
        """``x += e`` as ``x = x + e``."""
        if not isinstance(stmt.target, gast.Name):
            raise unsupported(self.source, stmt, "this assignment", *ATTRIBUTE)
        name = stmt.target.id
        self.augmented_at.add((name, stmt.lineno))
        value = gast.BinOp(grammar.name(name), stmt.op, stmt.value)
        made = grammar.assign(name, grammar.located(value, stmt), stmt)
        self.in_place.add(made)
        return made

    def store(self, stmt: gast.Assign | gast.AugAssign) -> list[gast.AST]:
        """``x[i] *= e`` by way of the element; ``x[i] = e`` and ``x[i] += e`` stay."""
        if isinstance(stmt, gast.Assign):
            target = stmt.targets[0]
        else:
            target = stmt.target
        if not grammar.root(target):
            raise unsupported(self.source, stmt, "this assignment", *ATTRIBUTE)
        if isinstance(stmt, gast.Assign):
            return [stmt]
        adds = isinstance(stmt.op, (gast.Add, gast.Sub))
        plain = _is_plain(target.slice, self.integers)
        if isinstance(stmt, grammar.Scatter):
            if not adds and not plain:
                raise unsupported(self.source, stmt, "this call", *REPEATED)
            # `add_at`, which emitted code calls, is for containers as well.
            if not plain or grammar.is_name(stmt.func):
                return [stmt]
            stmt = grammar.located(gast.AugAssign(target, stmt.op, stmt.value), stmt)
        if adds and plain or self.as_they_are:
            return [stmt]
        item, result = (self.names.fresh(f"{grammar.root(target)}_item") for _ in "12")
        self.temporary.update((item, result))
        read = grammar.clone(target)
        read.ctx = gast.Load()
        value = gast.BinOp(grammar.name(item), stmt.op, stmt.value)
        store = grammar.assign(target, grammar.name(result), stmt)
        self.exact.add(store)
        return [
            grammar.assign(item, read, stmt),
            grammar.assign(result, grammar.located(value, stmt), stmt),
            store,
        ]

    def assignment(self, stmt: gast.Assign) -> list[gast.AST]:
        written = set(grammar.writes(stmt))
        op: Operation = self.classify(stmt.value)
        if isinstance(stmt.targets[0], gast.Tuple) and _is_array(op):
            # The adjoint of an array is an array, not a tuple of its parts.
            made = self.names.fresh(noun(stmt.value))
            self.temporary.add(made)
            return [
                grammar.assign(made, stmt.value, stmt),
                grammar.assign(stmt.targets[0], grammar.name(made), stmt),
            ]
        if self.as_they_are:
            return [stmt]
        both = op.kind == "rule" and written & set(op.operands) and _reads_out(op)
        again = op.kind == "call" and written & set(op.operands)
        if not both and not again or not isinstance(stmt.targets[0], gast.Name):
            return [stmt]
        (name,) = written
        made = self.names.fresh(f"{name}_new")
        self.temporary.add(made)
        return [
            grammar.assign(made, stmt.value, stmt),
            grammar.assign(name, grammar.name(made), stmt),
        ]

    def loop(
        self, stmt: gast.For | gast.While, before: list[gast.AST]
    ) -> list[gast.AST]:
        lead: list[gast.AST] = []
        written = grammar.all_writes(stmt.body)
        if isinstance(stmt, gast.For):
            grown = {grammar.appended(s) for s in grammar.statements(stmt.body)}
            if grown & grammar.names_read(stmt.iter):
                raise unsupported(self.source, stmt, "this loop", *GROWING)
            target = stmt.target.id
            moving = (written | {target}) & grammar.names_read(stmt.iter)
            if moving:
                for n in sorted(moving):
                    held = self.names.fresh(f"{n}_first")
                    lead.append(grammar.assign(held, grammar.name(n), stmt))
                    stmt.iter = _renamed(stmt.iter, n, held)
            lead += self.listed(stmt)
            if target in written:
                counter = self.names.fresh(f"{target}_turn")
                stmt.target = grammar.name(counter, store=True)
                stmt.body.insert(0, grammar.assign(target, grammar.name(counter), stmt))
        self.raised.append([])
        self.lowered.append(
            {
                n
                for s in grammar.statements(stmt.body)
                if _is_bool(s, False)
                for n in grammar.writes(s)
            }
        )
        stmt.body = self.block(stmt.body)
        made = self.raised.pop()
        self.lowered.pop()
        lead += [grammar.assign(f, grammar.constant(False), stmt) for f in made]
        return [*lead, stmt]

    def listed(self, stmt: gast.For) -> list[gast.AST]:
        """Make a list of what is iterated over, if that might be no sequence.

        A loop over `d` came here as one over ``range(len(d))`` that reads ``d[i]``;
        that is the same for arrays and lists, and not for a dict.
        """
        lead = []
        for name in sorted(_iterated(stmt) - self.varied):
            held = self.names.fresh(f"{name}_items")
            self.temporary.add(held)
            made = grammar.call(self.use("builtin", "list"), grammar.name(name))
            lead.append(grammar.assign(held, grammar.located(made, stmt), stmt))
            stmt.iter = _renamed(stmt.iter, name, held)
            for read in stmt.body:
                if not _is_item(read, stmt):
                    break
                if grammar.is_name(read.value.value, name):
                    read.value = _renamed(read.value, name, held)
        return lead

    def leave(self, stmt: gast.Break, before: list[gast.AST]) -> list[gast.AST]:
        """Let a flag say that the loop was left here."""
        for earlier in before:
            name = grammar.writes(earlier)[0] if _is_bool(earlier, True) else None
            if name in self.unique and name not in self.lowered[-1]:
                self.flags.add(name)
                return [stmt]
        flag = self.names.fresh("left")
        self.temporary.add(flag)
        self.flags.add(flag)
        self.raised[-1].append(flag)
        return [grammar.assign(flag, grammar.constant(True), stmt), stmt]


def _is_bool(stmt: gast.AST, value: bool) -> bool:
    return (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.targets[0], gast.Name)
        and isinstance(stmt.value, gast.Constant)
        and stmt.value.value is value
    )


def _unique_flags(fn: gast.FunctionDef) -> set[str]:
    """The names that are False, and True from one place on."""
    raised: dict[str, int] = {}
    other: set[str] = set()
    for stmt in grammar.statements(fn.body):
        for n in grammar.writes(stmt):
            if _is_bool(stmt, True):
                raised[n] = raised.get(n, 0) + 1
            elif not _is_bool(stmt, False):
                other.add(n)
    return {n for n, count in raised.items() if count == 1 and n not in other}


def _is_plain(index: gast.AST, integers: set[str]) -> bool:
    """Whether an index is made of slices and numbers: it names nothing twice."""
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    return all(
        isinstance(p, (gast.Slice, gast.Constant))
        or (
            not any(isinstance(n, (gast.List, gast.Call)) for n in gast.walk(p))
            and grammar.names_read(p) <= integers
        )
        for p in parts
    )


def _reached(fn: gast.FunctionDef, wrt: list[str]) -> set[str]:
    """All names that may depend on `wrt`."""
    reached = set(wrt)
    flows = [
        (grammar.reads(s), n)
        for s in grammar.statements(fn.body)
        for t in _changed(s)
        for n in (grammar.target_names(t) or [grammar.root(t)])
    ]
    while True:
        more = {n for read, n in flows if read & reached}
        if more <= reached:
            return reached
        reached |= more


def _changed(stmt: gast.AST) -> list[gast.AST]:
    """What a statement binds, writes into, or calls a method of for its effect."""
    if isinstance(stmt, gast.Assign):
        return stmt.targets
    call = stmt.value if isinstance(stmt, gast.Expr) else None
    method = isinstance(call, gast.Call) and isinstance(call.func, gast.Attribute)
    return [call.func.value] if method else []


def _is_item(stmt: gast.AST, loop: gast.For) -> bool:
    """Whether a statement is ``v = x[i]`` at the head of a loop over `x`."""
    return (
        isinstance(stmt, gast.Assign)
        and stmt.lineno == loop.lineno
        and isinstance(stmt.value, gast.Subscript)
        and isinstance(stmt.value.value, gast.Name)
        and loop.target.id in grammar.names_read(stmt.value.slice)
    )


def _iterated(loop: gast.For) -> set[str]:
    """The names that a loop over ``range(len(x))`` was written to iterate over."""
    found: set[str] = set()
    for stmt in loop.body:
        if not _is_item(stmt, loop):
            break
        found.add(stmt.value.value.id)
    lengths = {
        n.args[0].id
        for n in gast.walk(loop.iter)
        if isinstance(n, gast.Call)
        and grammar.is_name(n.func, "len")
        and isinstance(n.args[0], gast.Name)
    }
    return found & lengths


def _is_array(op: Operation) -> bool:
    """Whether an operation certainly has one array for its result."""
    if op.kind != "rule":
        return False
    one = op.rule.pointwise and getattr(op.callee, "nout", 1) == 1
    return one or isinstance(op.node, (gast.BinOp, gast.UnaryOp))


def _reads_out(op: Operation) -> bool:
    body = grammar.statements(op.rule.tree.body)
    return any("out" in grammar.reads(s) for s in body)


def _renamed(node: gast.AST, old: str, new: str) -> gast.AST:
    node = grammar.clone(node)
    for n in gast.walk(node):
        if isinstance(n, gast.Name) and n.id == old:
            n.id = new
    return node
