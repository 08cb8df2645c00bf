"""Calls of local functions and lambdas, written out where they stand.

::

    def g(t, k=2.0):
        return k * t
                            ->      y = 2.0 * x
    y = g(x)

Free variables are read where the call stands, defaults where the ``def`` stands, as in
Python.  A global function that is given a local one (``apply(g, x)``) is written out
too.  What is recursive, decorated, bound twice, or used as a value stays as it is; a
definition that nobody reads any more is dropped.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from dataclasses import dataclass

import gast

from .arguments import bind, parameters
from .grammar import (
    all_writes,
    assign,
    blocks,
    clone,
    constant,
    free_names,
    located,
    name,
    outer_names,
    reads,
    statements,
    writes,
)
from .names import RESERVED, Names, used_names
from .renaming import FUNCTIONS, Captured, captured_names, rename
from .resolve import MISSING, Scope

LOOPS = (gast.For, gast.While)
# What reads names later than where it stands.
DELAYED = (*FUNCTIONS, gast.GeneratorExp)


@dataclass(frozen=True, eq=False)
class _Callee:
    """A function whose body is known: in ANF, with its parameters."""

    key: object
    fn: gast.FunctionDef
    foreign: bool = False


def write_out(
    fn: gast.FunctionDef,
    scope: Scope,
    flat: Callable[[gast.FunctionDef], gast.FunctionDef],
    known: Callable[[types.FunctionType], tuple[gast.FunctionDef, Scope, bool]],
) -> gast.FunctionDef:
    """Replace the calls of local functions by what they do.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    scope : Scope
        What its free names denote.
    flat : callable
        A local function to its ANF.
    known : callable
        A global function to its ANF, its scope, and whether its lines are those of
        the file of `fn`.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.  Otherwise statements may be those
        of the source language again: desugar and flatten it.
    """
    if not any(_is_definition(s) for s in statements(fn.body)):
        return fn
    fn = clone(fn)
    fn.body = _Writer(fn, scope, flat, known).block(fn.body, {}, (), False)
    return _without_unread(fn)


def _is_definition(stmt: gast.AST) -> bool:
    if isinstance(stmt, gast.FunctionDef):
        return not stmt.decorator_list
    return (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.value, gast.Lambda)
        and isinstance(stmt.targets[0], gast.Name)
    )


class _Writer:
    def __init__(self, fn, scope, flat, known):
        self.scope, self.flat, self.known = scope, flat, known
        given = {p.id for p in parameters(fn.args)}
        self.count = dict.fromkeys(given, 1)
        self.names = Names(used_names(fn))
        # The names that mean something in this function, whoever else uses them.
        self.visible = given
        # The names that local functions take from outside themselves.
        self.shared: set[str] = set()
        self.note(fn.body)

    def note(self, body: list[gast.AST]) -> None:
        """Take notice of the names of new statements."""
        for s in statements(body):
            for n in writes(s):
                self.count[n] = self.count.get(n, 0) + 1
            mentioned = reads(s) | set(writes(s))
            self.visible |= mentioned
            self.names.used |= mentioned
            inner = s if isinstance(s, gast.FunctionDef) else getattr(s, "value", None)
            if isinstance(inner, FUNCTIONS):
                self.shared |= free_names(inner)

    def claim(self, wish: str) -> str:
        """A local of an inner function as a local of this one."""
        if wish in self.visible or wish in RESERVED:
            wish = self.names.fresh(wish)
        self.visible.add(wish)
        self.names.used.add(wish)
        return wish

    def block(self, body, env: dict[str, _Callee], chain: tuple, loop: bool):
        """A block with its calls written out, given the functions bound before it."""
        return self.run(body, dict(env), chain, loop)

    def run(self, body, env: dict[str, _Callee], chain: tuple, loop: bool):
        """The same; what the statements bind is bound for those that follow, too."""
        out: list[gast.AST] = []
        for s in body:
            if _is_definition(s):
                out += self.definition(s, env)
                continue
            self.alias(s, env)
            done = self.statement(s, env, chain, loop)
            if done is not None:
                out += done
                continue
            for inner in blocks(s):
                inner[:] = self.block(inner, env, chain, loop or isinstance(s, LOOPS))
            out.append(s)
        return out

    def alias(self, s: gast.AST, env: dict[str, _Callee]) -> None:
        """``h = g`` binds the same function."""
        if isinstance(s, gast.Assign) and isinstance(s.value, gast.Name):
            target = s.targets[0]
            if s.value.id in env and self.single(target):
                env[target.id] = env[s.value.id]

    def single(self, target: gast.AST) -> bool:
        return isinstance(target, gast.Name) and self.count[target.id] == 1

    def definition(self, s: gast.AST, env: dict[str, _Callee]) -> list[gast.AST]:
        """Bind the defaults, and remember the function."""
        if isinstance(s, gast.Assign):
            bound, function = s.targets[0].id, s.value
            body = [located(gast.Return(function.body), s)]
        else:
            bound, function, body = s.name, s, s.body
        if self.count[bound] > 1 or bound in free_names(function):
            return [s]
        lead = []
        a = function.args
        for defaults in (a.defaults, a.kw_defaults):
            for k, d in enumerate(defaults):
                if d is not None and not isinstance(d, gast.Constant):
                    held = self.names.fresh(f"{bound}_default")
                    self.visible.add(held)
                    lead.append(assign(held, d, s))
                    defaults[k] = name(held)
        tree = gast.parse("def f(): pass").body[0]
        tree.name, tree.args, tree.body = bound, clone(a), clone(body)
        located(tree, s)
        env[bound] = _Callee(s, self.flat(tree))
        return [*lead, s]

    def statement(self, s, env, chain, loop) -> list[gast.AST] | None:
        """The statements for a call of a known function, None for anything else."""
        if not isinstance(s, (gast.Assign, gast.Expr)) or not isinstance(
            s.value, gast.Call
        ):
            return None
        callee = self.callee(s.value, env)
        if callee is None or callee.key in chain:
            return None
        if loop and any(
            isinstance(n, DELAYED) for b in callee.fn.body for n in gast.walk(b)
        ):
            # A function made anew each turn must not see the names of the last turn.
            return None
        try:
            body = self.expanded(s, callee, env)
        except (Captured, TypeError):
            return None
        for n in writes(s):
            self.count[n] -= 1
        self.note(body)
        return self.run(body, env, (*chain, callee.key), loop)

    def callee(self, call: gast.Call, env) -> _Callee | None:
        if isinstance(call.func, gast.Name) and call.func.id in env:
            return env[call.func.id]
        given = [*call.args, *[k.value for k in call.keywords]]
        if not any(isinstance(a, gast.Name) and a.id in env for a in given):
            return None
        function = self.scope.resolve(call.func)
        if not isinstance(function, types.FunctionType) or hasattr(
            function, "__wrapped__"
        ):
            return None
        fn, scope, same_file = self.known(function)
        free = free_names(fn)
        a = fn.args
        defaults = [*a.defaults, *[d for d in a.kw_defaults if d]]
        if (
            any(
                n in self.count or self.scope.lookup(n) is not scope.lookup(n)
                for n in free
            )
            or MISSING in map(scope.lookup, free)
            or not all(isinstance(d, gast.Constant) for d in defaults)
        ):
            return None
        self.visible |= free
        return _Callee(function, fn, foreign=not same_file)

    def expanded(self, s, callee: _Callee, env) -> list[gast.AST]:
        """The body of a function in place of its call."""
        bound = bind(callee.fn.args, s.value)
        body = clone(callee.fn.body)
        result = body.pop() if isinstance(body[-1], gast.Return) else gast.Return(None)
        # Written out, it writes the variables that it shares with this function.
        shared = outer_names(body)
        body = [
            b for b in body if not _is_docstring(b) and not isinstance(b, gast.Nonlocal)
        ]
        written, captured = all_writes(body) - shared, captured_names(body)
        mapping: dict[str, str] = {}
        lead = []
        for p, a in bound.items():
            plain = isinstance(a, gast.Name) and p not in written
            if plain and (a.id in env or p not in captured):
                mapping[p] = a.id
            else:
                mapping[p] = self.claim(p)
                lead.append(assign(mapping[p], a, s))
        target = s.targets[0] if isinstance(s, gast.Assign) else None
        direct = self.result_name(target, result, body, mapping, written - set(bound))
        for n in sorted(written - set(mapping)):
            mapping[n] = target.id if n == direct else self.claim(n)
        value = result.value or constant(None)
        rename([*body, value], mapping)
        if callee.foreign:
            for n in (n for b in [*body, value] for n in gast.walk(b)):
                n.lineno, n.col_offset = s.lineno, s.col_offset
        if target is not None and direct is None:
            last = s if callee.foreign else result
            body.append(located(gast.Assign([target], value, None), last))
        return [located(b, s) for b in [*lead, *body]]

    def result_name(self, target, result, body, mapping, own: set[str]) -> str | None:
        """The local that can be called as the target is: nobody reads the target."""
        if not isinstance(target, gast.Name) or not isinstance(result.value, gast.Name):
            return None
        mentioned = {n for b in body for n in used_names(b)} - own
        mentioned = {mapping.get(n, n) for n in mentioned} | self.shared
        taken = target.id in mentioned or target.id in captured_names(body)
        return result.value.id if result.value.id in own and not taken else None


def _is_docstring(stmt: gast.AST) -> bool:
    return isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant)


def _without_unread(fn: gast.FunctionDef) -> gast.FunctionDef:
    """`fn` without the local functions that nobody reads."""
    while True:
        listed = list(statements(fn.body))
        read = {n for s in listed for n in reads(s)}
        functions = {writes(s)[0] for s in listed if _is_definition(s)}
        dropped = {
            s
            for s in listed
            if (_is_definition(s) or _copies_one_of(s, functions))
            and writes(s)[0] not in read
        }
        if not dropped:
            return fn
        stack = [fn.body]
        while stack:
            body = stack.pop()
            kept = [s for s in body if s not in dropped]
            body[:] = kept or [located(gast.Pass(), body[0])]
            stack += [inner for s in kept for inner in blocks(s)]


def _copies_one_of(stmt: gast.AST, functions: set[str]) -> bool:
    return (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.value, gast.Name)
        and isinstance(stmt.targets[0], gast.Name)
        and stmt.value.id in functions
    )
