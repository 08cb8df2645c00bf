"""Which names may hold complex numbers, as far as the text of a function shows.

::

    z = np.exp(1j * x)        # z may be complex
    r = np.abs(z)             # r is not

What a parameter holds is not known unless it is annotated: it is taken for real, and
`taken_for_real` tells where that counts.
"""

from __future__ import annotations

import cmath
import types
from collections.abc import Callable, Collection, Mapping

import gast
import numpy as np

from sct import grammar
from sct.analysis.calls import operations_of
from sct.arguments import parameter_names
from sct.errors import SctError
from sct.helpers import is_helper
from sct.likeness import kinds_of
from sct.normalise import normalise
from sct.operations import (
    UNDIFFERENTIATED,
    BindError,
    Operation,
    bind_call,
    unwrap,
)
from sct.questions import about_functions
from sct.resolve import MISSING, Scope, hashable

COMPLEX = {complex, np.complex64, np.complex128}
ATTRIBUTES = {"complex64", "complex128", "cdouble", "csingle"}
REAL = {abs, np.absolute, np.real, np.imag, np.angle, cmath.phase, cmath.polar}
# Whoever asks for these may have a complex number, whatever the text says of it.
ASKING = {np.imag, np.angle, cmath.phase, cmath.polar}
# Of complex numbers, their rules are not right.
REFUSED = {np.std, np.var, np.sign, np.hypot, np.nan_to_num}


def is_real_only(op: Operation) -> bool:
    """Whether the rule of an operation is not right for complex numbers."""
    if op.rule is not None and op.rule.real:
        return True
    return hashable(op.callee) and op.callee in REFUSED


def complex_names(
    fn: gast.FunctionDef,
    operations: Mapping[gast.AST, Operation],
    scope: Scope,
    given: Collection[str] = (),
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
    given : collection of str
        The parameters that do.
    """
    local = grammar.all_writes(fn.body) | set(parameter_names(fn))
    flows = []
    found = set(given)
    for stmt, op in operations.items():
        targets = {*grammar.writes(stmt), *grammar.mutates(stmt)}
        said = op.rule.result if op.rule is not None else ""
        known = hashable(op.callee)
        if known and op.callee in ASKING:
            found.update(n for n in op.operands if n in local)
        real = known and op.callee in REAL or said == "real"
        if not targets or real or isinstance(op.node, UNDIFFERENTIATED):
            continue
        if said == "complex" or is_complex(op.node, scope.lookup, local):
            found |= targets
        flows.append((op, targets))
    while True:
        more = set().union(*[t for op, t in flows if _made_complex(op, found)])
        if more <= found:
            return found
        found |= more


def taken_for_real(
    fn: gast.FunctionDef,
    operations: Mapping[gast.AST, Operation],
    scope: Scope,
    given: Collection[str],
    read: set[str],
    parameters: Collection[str],
) -> list[str]:
    """Those of some parameters that must be real if the names `read` are to be."""
    return [
        p
        for p in parameters
        if complex_names(fn, operations, scope, {*given, p}) & read
    ]


def _made_complex(op: Operation, found: set[str]) -> bool:
    """Whether the result of an operation may be complex, if the names `found` are."""
    function = unwrap(op.callee) if op.kind == "call" else None
    if not isinstance(function, types.FunctionType):
        return bool(grammar.values_read(op.node) & found)
    try:
        bound = bind_call(function, op.node)
    except BindError:
        return bool(grammar.values_read(op.node) & found)
    given = [p for p, a in bound.items() if grammar.values_read(a) & found]
    return returns_complex(function, frozenset(given))


def declared(fn: gast.FunctionDef, scope: Scope) -> set[str]:
    """The parameters that are complex by their annotations, or by examples."""
    a = fn.args
    noted = [p for p in [*a.posonlyargs, *a.args, *a.kwonlyargs] if p.annotation]
    kinds = kinds_of(scope.function).items()
    found = {p for p, kind in kinds if kind.word == "complex numbers"}
    for p in noted:
        note = p.annotation
        if isinstance(note, gast.Constant) and isinstance(note.value, str):
            note = gast.parse(note.value, mode="eval").body
        words = [getattr(n, "attr", getattr(n, "id", "")) for n in grammar.nodes(note)]
        if is_complex(note, scope.lookup, set()) or "Complex" in words:
            found.add(p.id)
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
def returns_complex(function: types.FunctionType, given: frozenset[str]) -> bool:
    """Whether a user's function may return complex numbers when it is `given` some."""
    if is_helper(function):
        # They make complex numbers of complex numbers alone.
        return bool(given)
    try:
        normal = normalise(function)
    except SctError:
        return bool(given)
    operations = operations_of(normal)
    given = given | declared(normal.fn, normal.scope)
    found = complex_names(normal.fn, operations, normal.scope, given)
    listed = grammar.statements(normal.fn.body)
    returned = [s.value for s in listed if isinstance(s, gast.Return) and s.value]
    local = grammar.all_writes(normal.fn.body) | set(parameter_names(normal.fn))
    return any(
        grammar.values_read(v) & found or is_complex(v, normal.scope.lookup, local)
        for v in returned
    )
