"""The trees that travel through sct, and what each stage promises of them.

All trees are gast trees.  Three grammars follow one another:

source
    what a user writes; `sct.fence` says what of it can be differentiated.
ANF (A-normal form), after `sct.desugar` and `sct.anf`
    one operation on atoms per statement::

        function ::= def f(parameters): block           ending in the only `return`
        block    ::= statement*
        statement::= name = op  |  name, ... = op  |  op       (the last for its effect)
                   | if test: block else: block
                   | for name in range(index, ...): block      (or reversed(range(...)))
                   | while test: block
                   | break                                     (last in its block)
                   | with expr, ...: block  |  assert test, expr  |  raise expr
                   | probe                                   (a `Probe`)
                   | pass  |  def g(...): ...               (untouched local function)
                   | return atom  |  return (atom, ...)
        op       ::= atom | (atom, ...) | [atom, ...] | atom ⊕ atom | ⊖ atom
                   | callee(atom, ..., key=atom, *atom, **atom)
                   | atom[index] | atom.attr
                   | comparison | boolean | f-string | lambda   (never differentiated)
        atom     ::= name | constant
        callee   ::= name | name.attr.attr...
        index    ::= atom | slice of atoms | tuple of these
        test     ::= an expression without walrus            (never differentiated)

derivative
    the statements of ANF and nested expressions, `Comment` statements,
    `s.append(x)`, `x = s.pop()`, `x_bar += e` and subscript targets.

Nothing is ever marked on a node: analyses return dictionaries keyed by node.
Every statement keeps the `lineno` of the user's statement that it came from.
"""

from __future__ import annotations

from collections.abc import Iterator

import gast


class Comment(gast.stmt):
    """A comment line, as a statement: it reads nothing and writes nothing.

    Parameters
    ----------
    text : str
        What follows the ``# ``.
    blank : bool
        Whether an empty line stands above it (section headings).
    """

    _fields = ("text", "blank")
    _attributes = ("lineno",)

    def __init__(self, text: str = "", blank: bool = False, lineno: int = 0):
        super().__init__()
        self.text, self.blank, self.lineno = text, blank, lineno


class Probe(gast.stmt):
    """A ``try`` or ``match`` that only finds out which way a function takes.

    It is one simple statement: it binds `targets` on every path that leaves it, and
    whatever else it binds inside is read nowhere else.

    Parameters
    ----------
    targets : list of gast.Name
        The names that say which way it was.
    statement : gast.Try or gast.Match
        The statement itself, in the source language.
    """

    _fields = ("targets", "statement")
    _attributes = ("lineno", "col_offset")

    def __init__(self, targets: list[gast.AST], statement: gast.AST):
        super().__init__()
        self.targets, self.statement = targets, statement


class Scatter(gast.AugAssign):
    """``np.add.at(x, i, e)``: ``x[i] += e``, once for every time an item is indexed.

    Parameters
    ----------
    target : gast.Subscript
        The place.
    op : gast.operator
        What is done there.
    value : gast.AST
        The other operand.
    func : gast.AST
        The callee as it was written.
    """

    _fields = ("target", "op", "value", "func")

    def __init__(self, target, op, value, func):
        super().__init__(target, op, value)
        self.func = func

    def call(self, slice_: str) -> gast.Expr:
        """The statement that does it; `slice_` is the name of the builtin."""
        index = as_argument(self.target.slice, slice_)
        made = call(clone(self.func), clone(self.target.value), index, self.value)
        return located(gast.Expr(made), self)


def name(id: str, store: bool = False) -> gast.Name:
    """A name, read unless `store`."""
    return gast.Name(id, gast.Store() if store else gast.Load(), None, None)


def constant(value: object) -> gast.Constant:
    """A literal."""
    return gast.Constant(value, None)


def assign(
    target: str | gast.AST, value: gast.AST, at: gast.AST | None = None
) -> gast.Assign:
    """``target = value``, with the line of `at`."""
    if isinstance(target, str):
        target = name(target, store=True)
    return located(gast.Assign([target], value, None), at)


def arguments(node: gast.Call) -> list[gast.AST]:
    """All arguments of a call, by position and by name."""
    return [*node.args, *[k.value for k in node.keywords]]


def call(func: str | gast.AST, *args: gast.AST, **keywords: gast.AST) -> gast.Call:
    """``func(*args, **keywords)``; a dotted string is an attribute chain."""
    if isinstance(func, str):
        first, *attributes = func.split(".")
        func = name(first)
        for attr in attributes:
            func = gast.Attribute(func, attr, gast.Load())
    return gast.Call(
        func, list(args), [gast.keyword(k, v) for k, v in keywords.items()]
    )


def expression(text: str) -> gast.AST:
    """The tree of one expression."""
    return gast.parse(text, mode="eval").body


def block(text: str) -> list[gast.AST]:
    """The trees of some statements."""
    return gast.parse(text).body


def located(node: gast.AST, at: gast.AST | None) -> gast.AST:
    """`node` and all below it that has no line yet, given the place of `at`."""
    line = getattr(at, "lineno", None) or 0
    column = getattr(at, "col_offset", None) or 0
    end_line = getattr(at, "end_lineno", None)
    end_column = getattr(at, "end_col_offset", None)
    for n in nodes(node):
        if not getattr(n, "lineno", None):
            n.lineno, n.col_offset = line, column
            n.end_lineno, n.end_col_offset = end_line, end_column
    return node


def clone(node):
    """A deep copy of a tree or of a list of trees: no node ever has two parents.

    A loop, not a recursion: a long sum is as deep as it has operands.  Operators and
    contexts say no more than their class does, and are not copied.
    """
    if node is None:
        return None
    top = node.copy() if type(node) is list else shallow(node)
    made = [top]
    for n in made:
        if type(n) is list:
            for k, value in enumerate(n):
                if isinstance(value, gast.AST):
                    n[k] = copied = shallow(value)
                    made.append(copied)
            continue
        fields = n.__dict__
        for part in PARTS[type(n)]:
            value = fields.get(part)
            if value is None:
                continue
            if isinstance(value, gast.AST):
                fields[part] = copied = shallow(value)
                made.append(copied)
            elif type(value) is list:
                fields[part] = copied = value.copy()
                made.append(copied)
    return top


def shallow(node: gast.AST) -> gast.AST:
    """A copy of one node, its parts the same."""
    cls = type(node)
    copied = cls.__new__(cls)
    copied.__dict__ = node.__dict__.copy()
    return copied


# Fields that hold no expression or statement.
_PLAIN = frozenset(
    {"ctx", "op", "ops", "id", "attr", "arg", "kind", "type_comment", "conversion"}
)


class _Parts(dict):
    def __missing__(self, cls: type[gast.AST]) -> tuple[str, ...]:
        found = self[cls] = tuple(f for f in cls._fields if f not in _PLAIN)
        return found


# For each class of nodes, the fields in which expressions or statements stand.
PARTS = _Parts({gast.Constant: ()})


def children(node: gast.AST) -> list[gast.AST]:
    """The nodes directly below one, operators and contexts left out."""
    found: list[gast.AST] = []
    _add_children(node, found)
    return found


def nodes(node: gast.AST) -> list[gast.AST]:
    """`node` and all below it, operators and contexts left out, outer before inner."""
    found = [node]
    for n in found:
        _add_children(n, found)
    return found


def _add_children(node: gast.AST, found: list[gast.AST]) -> None:
    fields = node.__dict__
    for part in PARTS[type(node)]:
        value = fields.get(part)
        if value is None:
            continue
        if isinstance(value, gast.AST):
            found.append(value)
        elif type(value) is list:
            for v in value:
                if isinstance(v, gast.AST):
                    found.append(v)


COMPOUND = (gast.If, gast.For, gast.While, gast.With)
BLOCKS = ("body", "orelse", "finalbody")
# Compound statements of the source language only: one statement until they are lowered.
WAYS = (gast.Try, gast.Match)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
# Attributes of arrays that have no derivative.
SIZES = frozenset({"shape", "ndim", "size", "dtype"})


def blocks(stmt: gast.AST) -> Iterator[list[gast.AST]]:
    """The blocks directly inside a compound statement, no local function."""
    if isinstance(stmt, COMPOUND):
        for field in BLOCKS:
            inner = getattr(stmt, field, None)
            if inner:
                yield inner


def source_blocks(stmt: gast.AST) -> list[list[gast.AST]]:
    """The blocks directly inside a statement of the source language."""
    found = list(blocks(stmt))
    if isinstance(stmt, gast.Try):
        handled = [h.body for h in stmt.handlers]
        found += [b for b in (stmt.body, *handled, stmt.orelse, stmt.finalbody) if b]
    elif isinstance(stmt, gast.Match):
        found += [c.body for c in stmt.cases]
    return found


def statements(body: list[gast.AST]) -> Iterator[gast.AST]:
    """All statements of a block, outer before inner, in order of the text."""
    stack = body[::-1]
    while stack:
        s = stack.pop()
        yield s
        if isinstance(s, COMPOUND):
            inner = [t for b in blocks(s) for t in b]
            stack += inner[::-1]


def is_name(node: gast.AST, id: str | None = None) -> bool:
    """Whether `node` is a name (that name, when `id` is given)."""
    return isinstance(node, gast.Name) and (id is None or node.id == id)


def as_argument(index: gast.AST, slice_: str) -> gast.AST:
    """An index as an argument: ``1:n`` becomes ``slice(1, n)``."""
    if isinstance(index, gast.Tuple):
        return gast.Tuple([as_argument(e, slice_) for e in index.elts], gast.Load())
    if isinstance(index, gast.Slice):
        parts = [p or constant(None) for p in (index.lower, index.upper)]
        if index.step is not None:
            parts.append(index.step)
        return call(slice_, *[clone(p) for p in parts])
    return clone(index)


# Methods of arrays that look into the array; the last two only if it is contiguous.
VIEWS = frozenset({"transpose", "swapaxes", "squeeze", "reshape", "ravel"})
RESHAPES = frozenset({"reshape", "ravel"})


def is_view(node: gast.AST) -> bool:
    """Whether an expression is a call such as ``x.reshape(2, 3)``."""
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr in VIEWS
    )


def whole(node: gast.AST) -> gast.AST | None:
    """What an expression takes a part of, or looks into; None for anything else."""
    if isinstance(node, (gast.Subscript, gast.Attribute, gast.Starred)):
        return node.value
    return node.func.value if is_view(node) else None


def root(node: gast.AST) -> str:
    """The name that a chain of subscripts, attributes and views starts from."""
    inner = whole(node)
    while inner is not None:
        node, inner = inner, whole(inner)
    return node.id if isinstance(node, gast.Name) else ""


def reshapes(node: gast.AST | None) -> bool:
    """Whether a path leads through an array in another shape."""
    while node is not None:
        if is_view(node) and node.func.attr in RESHAPES:
            return True
        node = whole(node)
    return False


def places(stmt: gast.AST) -> list[gast.AST]:
    """The subscripts that a statement writes to."""
    targets = getattr(stmt, "targets", None) or [getattr(stmt, "target", None)]
    return [t for t in targets if isinstance(t, gast.Subscript)]


def mutates(stmt: gast.AST) -> list[str]:
    """The names whose arrays a statement itself writes into."""
    targets = getattr(stmt, "targets", None) or [getattr(stmt, "target", None)]
    return [root(t) for t in targets if isinstance(t, (gast.Subscript, gast.Attribute))]


def appended(stmt: gast.AST | None) -> str:
    """The name of the list that ``l.append(v)`` makes longer, or ``""``."""
    call = stmt.value if isinstance(stmt, gast.Expr) else None
    func = getattr(call, "func", None)
    if getattr(func, "attr", "") == "append" and isinstance(func.value, gast.Name):
        return func.value.id
    return ""


def loaded(target: gast.AST) -> gast.AST:
    """What an assignment has bound, as an expression: `a, b` for ``a, b = ...``."""
    value = clone(target)
    for n in gast.walk(value):
        if hasattr(n, "ctx"):
            n.ctx = gast.Load()
    return value


def target_names(target: gast.AST) -> list[str]:
    """The names that an assignment target binds, in order."""
    if isinstance(target, gast.Name):
        return [target.id]
    if isinstance(target, (gast.Tuple, gast.List)):
        return [n for t in target.elts for n in target_names(t)]
    if isinstance(target, gast.Starred):
        return target_names(target.value)
    return []


def writes(stmt: gast.AST) -> list[str]:
    """The names that a statement itself binds (a compound one: in its head only)."""
    if isinstance(stmt, (gast.Assign, Probe)):
        if len(stmt.targets) == 1 and isinstance(stmt.targets[0], gast.Name):
            return [stmt.targets[0].id]
        return [n for t in stmt.targets for n in target_names(t)]
    if isinstance(stmt, (gast.AugAssign, gast.AnnAssign)):
        return target_names(stmt.target)
    if isinstance(stmt, gast.For):
        return target_names(stmt.target)
    if isinstance(stmt, gast.With):
        return [
            n
            for i in stmt.items
            if i.optional_vars
            for n in target_names(i.optional_vars)
        ]
    if isinstance(stmt, (gast.FunctionDef, gast.ClassDef)):
        return [stmt.name]
    if isinstance(stmt, (gast.Import, gast.ImportFrom)):
        return [(a.asname or a.name).split(".")[0] for a in stmt.names]
    if isinstance(stmt, WAYS):
        return sorted(names_bound(stmt))
    return []


def all_writes(body: list[gast.AST]) -> set[str]:
    """The names bound anywhere in a block."""
    return {n for s in statements(body) for n in writes(s)}


# What has names of its own inside.
_SCOPES = (gast.Lambda, gast.FunctionDef, *COMPREHENSIONS, Probe)


def names_read(node: gast.AST) -> set[str]:
    """The names that an expression reads, those of lambdas' own parameters left out."""
    found: set[str] = set()
    stack = [node]
    for n in stack:
        if isinstance(n, gast.Name):
            if isinstance(n.ctx, gast.Load):
                found.add(n.id)
        elif isinstance(n, _SCOPES):
            found |= _read_inside(n)
        else:
            _add_children(n, stack)
    return found


def _read_inside(scope: gast.AST) -> set[str]:
    """The names that something with names of its own reads from around it."""
    if isinstance(scope, (gast.Lambda, gast.FunctionDef)):
        return free_names(scope)
    if isinstance(scope, Probe):
        return names_read(scope.statement) - names_bound(scope.statement)
    first, *others = scope.generators
    own = {t for g in scope.generators for t in target_names(g.target)}
    parts = [p for g in others for p in (g.iter, *g.ifs)]
    parts += [*first.ifs, *(c for c in children(scope) if c not in scope.generators)]
    inner = {n for p in parts for n in names_read(p)}
    return names_read(first.iter) | (inner - own)


def indices(part: gast.Subscript) -> list[gast.AST]:
    """What stands in the brackets, separated by commas."""
    return part.slice.elts if isinstance(part.slice, gast.Tuple) else [part.slice]


def values_read(node: gast.AST) -> set[str]:
    """The names that an expression reads more of than shape, rank, size or dtype."""
    found: set[str] = set()
    stack = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, gast.Name):
            found.add(n.id)
        elif not (isinstance(n, gast.Attribute) and n.attr in SIZES):
            stack += children(n)
    return found


def names_bound(node: gast.AST) -> set[str]:
    """The names that a statement binds, all that it holds included."""
    found: set[str] = set()
    stack = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store):
            found.add(n.id)
        elif isinstance(n, (gast.MatchAs, gast.MatchStar)) and n.name:
            found.add(n.name)
        elif isinstance(n, gast.MatchMapping) and n.rest:
            found.add(n.rest)
        elif isinstance(n, gast.FunctionDef):
            found.add(n.name)
        if isinstance(n, gast.comprehension):
            # Its target is its own.
            stack += [n.iter, *n.ifs]
        elif not isinstance(n, (gast.Lambda, gast.FunctionDef)):
            stack += children(n)
    return found


def outer_names(body: list[gast.AST]) -> set[str]:
    """The names that a block declares ``global`` or ``nonlocal``."""
    declared = (gast.Global, gast.Nonlocal)
    return {n for s in statements(body) if isinstance(s, declared) for n in s.names}


def free_names(fn: gast.FunctionDef | gast.Lambda) -> set[str]:
    """The names that a function takes from outside itself."""
    a = fn.args
    own = {
        p.id for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg] if p
    }
    outer: set[str] = set()
    for d in [*a.defaults, *[d for d in a.kw_defaults if d]]:
        outer |= names_read(d)
    if isinstance(fn, gast.Lambda):
        return outer | (names_read(fn.body) - own)
    declared = outer_names(fn.body)
    own |= all_writes(fn.body) - declared
    inner = declared | {n for s in statements(fn.body) for n in reads(s)}
    inner |= {
        n
        for s in statements(fn.body)
        if isinstance(s, gast.Return) and s.value
        for n in names_read(s.value)
    }
    return outer | (inner - own)


def heads(stmt: gast.AST) -> list[gast.AST]:
    """The expressions that a statement itself evaluates, in its head only."""
    if isinstance(stmt, gast.Assign):
        return [stmt.value, *[t for t in stmt.targets if not isinstance(t, gast.Name)]]
    if isinstance(stmt, Comment):
        return []
    if isinstance(stmt, gast.If) or isinstance(stmt, gast.While):
        return [stmt.test]
    if isinstance(stmt, gast.For):
        return [stmt.iter]
    if isinstance(stmt, gast.With):
        return [i.context_expr for i in stmt.items]
    if isinstance(stmt, gast.AugAssign):
        return [stmt.value, stmt.target]
    if isinstance(stmt, (gast.FunctionDef, Probe, *WAYS)):
        return [stmt]
    return [n for n in children(stmt) if isinstance(n, gast.expr)]


def reads(stmt: gast.AST) -> set[str]:
    """The names that a statement itself reads (a compound one: in its head only)."""
    if isinstance(stmt, gast.Assign) and all(map(is_name, stmt.targets)):
        return names_read(stmt.value)
    found = set().union(*map(names_read, heads(stmt)))
    if isinstance(stmt, gast.AugAssign):
        found |= set(target_names(stmt.target))
    return found
