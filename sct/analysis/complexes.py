"""Which names may hold complex numbers, as far as the text of a function shows.

::

    z = np.exp(1j * x)        # z may be complex
    r = np.abs(z)             # r is not

What a parameter holds is not known: here it is taken for real.
"""

from __future__ import annotations

import cmath
import types
from collections.abc import Callable, Mapping

import gast
import numpy as np

from sct import grammar
from sct.arguments import parameter_names
from sct.errors import SctError
from sct.helpers import is_helper
from sct.normalise import normalise
from sct.operations import UNDIFFERENTIATED, Operation, unwrap
from sct.questions import about_functions
from sct.resolve import MISSING, Scope, hashable

COMPLEX = {complex, np.complex64, np.complex128}
ATTRIBUTES = {"complex64", "complex128", "cdouble", "csingle", "fft"}
REAL = {abs, np.absolute, np.real, np.imag, np.angle, cmath.phase, cmath.polar}
# Whoever asks for these may have a complex number, whatever the text says of it.
ASKING = {np.imag, np.angle, cmath.phase, cmath.polar}
# Of complex numbers, their rules are not right.
REFUSED = {
    np.linalg.norm, np.linalg.cholesky, np.linalg.slogdet, np.std, np.var, np.vdot,
    np.sign, np.maximum, np.minimum, np.max, np.min, np.sort, np.hypot, max, min,
    np.nan_to_num,
}  # fmt: skip


def complex_names(
    fn: gast.FunctionDef, operations: Mapping[gast.AST, Operation], scope: Scope
) -> set[str]:
    """The names that may hold complex numbers.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    operations : mapping
        What its statements do.
    scope : Scope
        What its free names denote.
    """
    local = grammar.all_writes(fn.body) | set(parameter_names(fn))
    flows = []
    found: set[str] = set()
    for stmt, op in operations.items():
        targets = {*grammar.writes(stmt), *grammar.mutates(stmt)}
        known = hashable(op.callee)
        if known and op.callee in ASKING:
            found.update(n for n in op.operands if n in local)
        real = known and op.callee in REAL
        if not targets or real or isinstance(op.node, UNDIFFERENTIATED):
            continue
        called = op.kind == "call" and makes_complex(unwrap(op.callee))
        said = op.rule is not None and op.rule.result == "complex"
        if called or said or is_complex(op.node, scope.lookup, local):
            found |= targets
        flows.append((grammar.values_read(op.node), targets))
    while found:
        more = set().union(*[t for read, t in flows if read & found])
        if more <= found:
            break
        found |= more
    return found


def is_complex(
    node: gast.AST, lookup: Callable[[str], object], local: set[str]
) -> bool:
    """Whether an expression mentions complex numbers."""
    for n in grammar.nodes(node):
        if isinstance(n, gast.Constant):
            word = isinstance(n.value, str) and n.value.startswith("complex")
            if word or isinstance(n.value, complex):
                return True
        elif isinstance(n, gast.Attribute) and n.attr in ATTRIBUTES:
            return True
        elif isinstance(n, gast.Name) and n.id not in local:
            value = lookup(n.id)
            kind = getattr(getattr(value, "dtype", None), "kind", "")
            if kind == "c" or isinstance(value, complex) or _one_of(value):
                return True
    return False


def _one_of(value: object) -> bool:
    return value is not MISSING and isinstance(value, type) and value in COMPLEX


@about_functions(False)
def makes_complex(function) -> bool:
    """Whether the text of a user's function mentions complex numbers."""
    if is_helper(function):
        # They make complex numbers of complex numbers alone.
        return False
    try:
        normal = normalise(function)
    except SctError:
        return False
    local = grammar.all_writes(normal.fn.body) | set(parameter_names(normal.fn))
    parts = [h for s in grammar.statements(normal.fn.body) for h in grammar.heads(s)]
    if any(is_complex(p, normal.scope.lookup, local) for p in parts):
        return True
    calls = [n for p in parts for n in grammar.nodes(p) if isinstance(n, gast.Call)]
    callees = [unwrap(normal.scope.resolve(n.func)) for n in calls]
    return any(makes_complex(f) for f in callees if isinstance(f, types.FunctionType))
