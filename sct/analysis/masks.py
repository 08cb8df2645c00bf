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
    return _always(fn, operations, MASKS | DISTINCT, True)


def sequences(
    fn: gast.FunctionDef, operations: Mapping[gast.AST, Operation]
) -> set[str]:
    """The names that hold sequences of integers that are all different."""
    return _always(fn, operations, {np.arange, np.flatnonzero}, False)


def pairs(
    fn: gast.FunctionDef, operations: Mapping[gast.AST, Operation]
) -> set[tuple[str, ...]]:
    """The names that together, in this order, index no element twice."""
    count: dict[str, int] = dict.fromkeys(parameter_names(fn), 1)
    found = set()
    for stmt in grammar.statements(fn.body):
        for n in grammar.writes(stmt):
            count[n] = count.get(n, 0) + 1
        for n in grammar.mutates(stmt):
            count[n] = 2
        op = operations.get(stmt)
        if op is not None and _one_of(op, DISTINCT) and isinstance(stmt, gast.Assign):
            if isinstance(stmt.targets[0], gast.Tuple):
                found.add(tuple(grammar.writes(stmt)))
    return {p for p in found if all(count[n] == 1 for n in p)}


def _always(fn, operations, functions: set, compared: bool) -> set[str]:
    """The names that hold results of some functions (or comparisons), and no others."""
    found = dict.fromkeys(parameter_names(fn), False)
    for stmt in grammar.statements(fn.body):
        op = operations.get(stmt)
        plain = isinstance(stmt, gast.Assign) and grammar.is_name(stmt.targets[0])
        single = plain and op and _one_of(op, functions) and _counts_up(op)
        single = single or (compared and plain and isinstance(stmt.value, gast.Compare))
        for n in grammar.writes(stmt):
            found[n] = found.get(n, True) and bool(single)
        found.update(dict.fromkeys(grammar.mutates(stmt), False))
    return {n for n, distinct in found.items() if distinct}


def _counts_up(op: Operation) -> bool:
    """Whether an operation is `np.arange` from 0, or something else."""
    whole = len(op.node.args) == 1 and not op.node.keywords
    return op.callee is not np.arange or whole


def _one_of(op: Operation, functions: set) -> bool:
    return hashable(op.callee) and op.callee in functions
