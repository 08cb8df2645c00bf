"""Which names hold masks, or other indices that name no element twice."""

from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np

from sct import grammar, runtime_rules
from sct.arguments import parameter_names
from sct.operations import Operation
from sct.resolve import hashable

MASKS = {
    np.isnan, np.isfinite, np.isinf, np.logical_and, np.logical_or, np.logical_not,
    np.logical_xor, np.isin, np.isclose,
}  # fmt: skip
DISTINCT = {
    np.nonzero, np.flatnonzero, np.tril_indices, np.triu_indices, np.diag_indices,
    runtime_rules.diagonal_places,
}  # fmt: skip


def is_mask(value: gast.AST, op: Operation) -> bool:
    """Whether a value certainly is a boolean, or an array of these."""
    return isinstance(value, gast.Compare) or _one_of(op, MASKS)


def masks(fn: gast.FunctionDef, operations: Mapping[gast.AST, Operation]) -> set[str]:
    """The names that as indices never name an element twice, wherever they are bound.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    operations : mapping
        What its statements do.
    """
    found = dict.fromkeys(parameter_names(fn), False)
    for stmt in grammar.statements(fn.body):
        op = operations.get(stmt)
        plain = isinstance(stmt, gast.Assign) and grammar.is_name(stmt.targets[0])
        single = plain and op and (is_mask(op.node, op) or _one_of(op, DISTINCT))
        for n in grammar.writes(stmt):
            found[n] = found.get(n, True) and bool(single)
    return {n for n, distinct in found.items() if distinct}


def _one_of(op: Operation, functions: set) -> bool:
    return hashable(op.callee) and op.callee in functions
