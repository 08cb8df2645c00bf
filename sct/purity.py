"""Which calls have no effect.

A call is *pure* when dropping it, or making it twice, changes nothing but time: NumPy's
functions and Python's arithmetic are, except those that draw random numbers, print, or
write into an argument.  A user's function is pure when all that it does is.
"""

from __future__ import annotations

import functools
import types

import gast
import numpy as np

from sct import grammar
from sct.errors import SctError
from sct.helpers import HELPERS, is_helper
from sct.normalise import normalise
from sct.operations import Operation, Resolver, classify, unwrap
from sct.questions import about_functions
from sct.resolve import MISSING, hashable
from sct.solvers import solver_of
from sct.templates.array_api import role

PURE_BUILTINS = {
    abs, bool, complex, divmod, enumerate, float, int, isinstance, issubclass, len,
    list, max, min, pow, range, repr, reversed, round, slice, str, sum, tuple, type,
    zip, hash, id, callable, dict, set, frozenset, bytes, format, sorted, all, any,
}  # fmt: skip
IMPURE = {print, input, open, next, iter, exec, eval, setattr, delattr}
WRITING = {
    np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal, print,
}  # fmt: skip
# Methods that change a list, dict or array and nothing else.
INSIDE = {
    "append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort", "update",
    "setdefault", "fill", "copy", "get", "keys", "values", "items", "index", "count",
}  # fmt: skip
CHECKS = {f for n, f in HELPERS.items() if n.startswith("check_")}


def pure(op: Operation, resolve: Resolver, raising: bool = False) -> bool:
    """Whether a call has no effect.

    Parameters
    ----------
    op : Operation
        The call.
    resolve : Resolver
        What its function's names denote.
    raising : bool
        Whether it may raise exceptions of its own accord.
    """
    callee = op.callee
    if op.problem:
        # Arguments without a place in the rule: among them may be one to write into.
        return False
    if callee is MISSING:
        return _is_stack_method(op.node)
    if role(callee):
        return True
    if not hashable(callee):
        # A compiled function of another library, with a rule or without.
        return op.kind == "rule"
    if callee in CHECKS:
        return False
    if isinstance(callee, type) and issubclass(callee, BaseException):
        return True
    if op.kind == "rule":
        return op.rule.kind != "zero" or not _draws(callee)
    if callee in IMPURE:
        return False
    if callee in PURE_BUILTINS:
        return True
    if op.rule is not None:
        return not _draws(callee)
    if isinstance(callee, np.ufunc):
        return "out" not in op.keywords and len(op.inputs) <= callee.nin
    function = unwrap(callee)
    if solver_of(function):
        return False
    if isinstance(function, types.FunctionType):
        if is_helper(function):
            name = function.__name__
            return not name.startswith("check_") and name != "add_at"
        if function.__module__ and function.__module__.split(".")[0] == "numpy":
            return not _draws(callee)
        return function_is_pure(function, raising)
    return getattr(callee, "__module__", None) == "math"


def _is_stack_method(node: gast.AST) -> bool:
    func = getattr(node, "func", None)
    return isinstance(func, gast.Attribute) and func.attr in ("copy", "item")


def _draws(callee: object) -> bool:
    """Whether a function draws random numbers or writes somewhere."""
    owner = getattr(callee, "__self__", None)
    module = getattr(callee, "__module__", None) or ""
    return (
        isinstance(owner, (np.random.RandomState, np.random.Generator))
        or "random" in module
        or callee in WRITING
    )


# What makes a value that nobody else has.
MADE = (gast.List, gast.Dict, gast.Constant, gast.BinOp, gast.UnaryOp)


@about_functions(True)
def function_is_pure(function: types.FunctionType, raising: bool = False) -> bool:
    """Whether calling a user's function has no effect but its result."""
    try:
        normal = normalise(function)
    except SctError:
        return False
    resolve = Resolver(normal.scope, {})
    own = _own(normal.fn)
    every = grammar.statements(normal.fn.body)
    return all(_harmless(s, resolve, own, raising) for s in every)


def _own(fn: gast.FunctionDef) -> set[str]:
    """The names that hold lists, dicts and values made here, wherever bound."""
    found: set[str] = set()
    a = fn.args
    given = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    other = {p.id for p in given if p}
    for s in grammar.statements(fn.body):
        if isinstance(s, gast.AugAssign):
            continue
        value = s.value if isinstance(s, gast.Assign) else None
        plain = isinstance(value, MADE) and grammar.is_name(s.targets[0])
        (found if plain else other).update(grammar.writes(s))
    return found - other


@about_functions(True)
def repeatable(function: types.FunctionType) -> bool:
    """Whether a second run of a user's function is like the first.

    It may write into arrays and lists that it makes.
    """
    try:
        normal = normalise(function)
    except SctError:
        return False
    resolve = Resolver(normal.scope, {})
    for stmt in grammar.statements(normal.fn.body):
        if isinstance(stmt, (gast.Global, gast.Nonlocal)):
            return False
        calls = [n for h in grammar.heads(stmt) for n in gast.walk(h)]
        for op in [classify(n, resolve) for n in calls if isinstance(n, gast.Call)]:
            plain = unwrap(op.callee)
            if op.kind == "hook" or op.callee in CHECKS:
                continue
            if is_helper(plain) or solver_of(plain):
                # It does what it does again, if the functions that it is given do.
                words = [k.value for k in op.node.keywords]
                given = [unwrap(resolve(a)) for a in [*op.node.args, *words]]
                functions = [f for f in given if isinstance(f, types.FunctionType)]
                if not all(map(repeatable, functions)):
                    return False
                continue
            if pure(op, resolve, True):
                continue
            if isinstance(plain, types.FunctionType) and op.rule is None:
                if repeatable(plain):
                    continue
            method = getattr(op.node.func, "attr", "")
            inside = op.callee is MISSING and method in INSIDE
            if not inside and (op.callee is print or op.callee not in WRITING):
                return False
    return True


@functools.lru_cache(maxsize=1024)
def keeps_arguments(function: types.FunctionType) -> bool:
    """Whether a user's function certainly writes into no argument."""
    try:
        normal = normalise(function)
    except SctError:
        return False
    resolve = Resolver(normal.scope, {})
    own = _own(normal.fn)
    for stmt in grammar.statements(normal.fn.body):
        if isinstance(stmt, (gast.Raise, gast.Assert)):
            continue
        if isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Call):
            if classify(stmt.value, resolve).callee is print:
                continue
        if not _harmless(stmt, resolve, own):
            return False
    return True


def _harmless(
    stmt: gast.AST,
    resolve: Resolver,
    own: set[str] = frozenset(),
    raising: bool = False,
) -> bool:
    """Whether a statement does nothing beyond its function, which made `own`."""
    if isinstance(stmt, (gast.Raise, gast.Assert)) and not raising:
        return False
    if isinstance(stmt, (gast.With, gast.FunctionDef, gast.Global, gast.Nonlocal)):
        return False
    if isinstance(stmt, (gast.Assign, gast.AugAssign)):
        targets = stmt.targets if isinstance(stmt, gast.Assign) else [stmt.target]
        for t in targets:
            inside = isinstance(t, (gast.Subscript, gast.Attribute))
            if inside and getattr(t.value, "id", "") not in own:
                return False
        if isinstance(stmt, gast.AugAssign) and grammar.root(stmt.target) not in own:
            return False
    for head in grammar.heads(stmt):
        for n in gast.walk(head):
            if not isinstance(n, gast.Call) or _keeps_in(n, own):
                continue
            if not pure(classify(n, resolve), resolve, raising):
                return False
    return True


def _keeps_in(call: gast.Call, own: set[str]) -> bool:
    """Whether a call appends to one of the lists `own`."""
    func = call.func
    return (
        isinstance(func, gast.Attribute)
        and func.attr == "append"
        and getattr(func.value, "id", "") in own
    )
