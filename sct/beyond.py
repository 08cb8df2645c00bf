"""What a function does beyond returning a value that numbers and arrays make up.

The derivative of a call is told from what goes in and what comes out.  A function that
writes into what it is given, one that returns a function or an object, and a generator
do more: they are written out where they are called.  What a function does not do, keep
a list that it is given, lets the list change afterwards.
"""

from __future__ import annotations

import inspect
import types

import gast
import numpy as np

from sct.arguments import parameter_names
from sct.classes import LIBRARIES, is_known
from sct.edits import READERS
from sct.errors import SctError
from sct.grammar import heads, mutates, names_read, root, statements, writes
from sct.hooks import Hook
from sct.normalise import flattened
from sct.questions import about_functions
from sct.renaming import captured_names
from sct.solvers import solver_of

# Methods of lists, dicts and arrays that change them.
CHANGING = frozenset(
    "append extend insert pop remove clear reverse sort update setdefault popitem "
    "fill put partition itemset resize add discard".split()
)
# What looks, prints or fails, and changes nothing.
SILENT = frozenset({"print", "len", "isinstance", "float", "int", "range"})
# What may give a part of its operands.
PARTS = (gast.Name, gast.Subscript, gast.Attribute, gast.Call, gast.Tuple)


@about_functions(False)
def needs_writing_out(function: types.FunctionType) -> bool:
    """Whether what a function does cannot be told from what it returns.

    Parameters
    ----------
    function : types.FunctionType
        A function with source.
    """
    library = (function.__module__ or "").partition(".")[0] in LIBRARIES
    if library and not hasattr(function, "__sct__"):
        # A derivative of a library's function takes from the tape that it is given.
        return False
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        return True
    try:
        flat = flattened(function)
    except SctError:
        return False
    return writes_into_parts(flat) or returns_function(flat)


@about_functions(True)
def only_reads(function: types.FunctionType) -> bool:
    """Whether a function only looks into the lists that it is given.

    It may give away what they hold, but neither changes nor keeps nor returns them.

    Parameters
    ----------
    function : types.FunctionType
        A function with source.
    """
    try:
        flat = flattened(function)
    except SctError:
        return False
    fn, around = flat.fn, flat.around
    given = set(parameter_names(fn))
    if given & captured_names(fn.body):
        return False

    def looks(callee: gast.AST) -> bool:
        found = around.scope.resolve(callee)
        own = isinstance(found, types.FunctionType) and only_reads(found)
        return own or around.is_builtin(callee) in READERS or around.takes_lists(callee)

    for s in statements(fn.body):
        value = getattr(s, "value", None)
        if isinstance(value, gast.Name) and value.id in given:
            return False
        if given & {*mutates(s), *(writes(s) if isinstance(s, gast.AugAssign) else ())}:
            return False
        for n in [n for h in heads(s) for n in gast.walk(h)]:
            if isinstance(n, gast.Call):
                changes = getattr(n.func, "attr", "") in CHANGING
                if changes and root(n.func) in given:
                    return False
                parts = [*n.args, *[k.value for k in n.keywords]]
                parts = [] if looks(n.func) else parts
            else:
                parts = getattr(n, "elts", None) or getattr(n, "values", [])
            if any(isinstance(p, gast.Name) and p.id in given for p in parts):
                return False
    return True


def writes_into_parts(flat) -> bool:
    """Whether a function may write into an array, container or object it is given."""
    fn, scope = flat.fn, flat.around.scope
    a = fn.args
    listed = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    given = {p.id for p in listed if p}
    returned = getattr(fn.body[-1], "value", None)
    nothing = returned is None or getattr(returned, "value", 0) is None
    for s in statements(fn.body):
        if given & set(mutates(s)):
            return True
        if isinstance(s, gast.AugAssign) and nothing and given & set(writes(s)):
            return True
        for call in [n for h in heads(s) for n in gast.walk(h)]:
            if isinstance(call, gast.Call) and _changes(s, call, given, scope):
                return True
        value = getattr(s, "value", None)
        if isinstance(s, gast.Assign) and isinstance(value, PARTS):
            if names_read(value) & given and not _is_new(value, scope):
                given.update(writes(s))
    return False


def _is_new(value: gast.AST, scope) -> bool:
    """Whether a call certainly gives a value of its own."""
    if not isinstance(value, gast.Call):
        return False
    found = scope.resolve(value.func)
    return isinstance(found, np.ufunc) or found in (np.sum, np.dot, np.zeros_like)


def _changes(s: gast.AST, call: gast.Call, given: set[str], scope) -> bool:
    """Whether a call may change one of the values `given`."""
    func = call.func
    if isinstance(func, gast.Attribute) and func.attr in CHANGING:
        if root(func.value) in given and isinstance(s, (gast.Expr, gast.Assign)):
            return True
    arguments = [*call.args, *[k.value for k in call.keywords]]
    passed = given & {n for a in arguments for n in names_read(a)}
    if any(k.arg == "out" and names_read(k.value) & given for k in call.keywords):
        return True
    if not passed:
        return False
    callee = scope.resolve(func)
    if isinstance(callee, Hook):
        return False
    if isinstance(callee, types.FunctionType):
        return needs_writing_out(callee)
    return isinstance(s, gast.Expr) and getattr(callee, "__name__", "") not in SILENT


def returns_function(flat) -> bool:
    """Whether a function returns a function made in it, or an object of a class."""
    fn, scope = flat.fn, flat.around.scope
    result = getattr(fn.body[-1], "value", None)
    returned = names_read(result) if result is not None else set()
    for s in reversed(list(statements(fn.body))):
        if not returned & set(writes(s)):
            continue
        if isinstance(s, gast.FunctionDef):
            return True
        value = getattr(s, "value", None)
        if isinstance(value, gast.Lambda):
            return True
        if isinstance(value, gast.Name):
            returned.add(value.id)
        elif isinstance(value, gast.Call):
            found = scope.resolve(value.func)
            name = getattr(found, "__qualname__", "")
            solver = solver_of(found)
            if solver is not None and solver.part:
                # Its parts depend on what is solved, each in its own way.
                return True
            if name == "partial" or isinstance(found, type) and is_known(found):
                return True
            if isinstance(found, types.FunctionType) and needs_writing_out(found):
                return True
    return False
