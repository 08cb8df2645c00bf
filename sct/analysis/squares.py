"""Which names hold sums of squares, which are zero only where all that is squared is.

::

    r = np.sqrt(np.sum(d**2, axis=-1))       # at d == 0: 0.5 * r_bar / r * 2.0 * d

The root of one is a norm, and its derivative at 0 is taken as 0, as that of
`np.linalg.norm` is; the product of the two partials would be nan.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping

import gast
import numpy as np

from sct import grammar
from sct.analysis import dataflow
from sct.analysis.activity import Activity
from sct.analysis.cuts import POWERS, PRODUCTS, QUOTIENTS, is_one_of, number
from sct.operations import Operation, atoms

SUMS = {operator.add, np.add}
INNER = {operator.matmul, np.matmul, np.dot, np.inner, np.vdot}
# Zero where all that goes into one element of the result is.
KEEPING = {
    sum, np.sum, np.mean, operator.getitem, np.reshape, np.ravel, np.expand_dims,
    np.squeeze, np.transpose, np.swapaxes, np.moveaxis, np.broadcast_to, np.copy,
    np.cumsum, np.sqrt,
}  # fmt: skip


def squares(
    fn: gast.FunctionDef, operations: Mapping[gast.AST, Operation], active: Activity
) -> dict[gast.AST, frozenset[str]]:
    """The operands of roots and powers that are sums of squares, by statement.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    operations : mapping
        What its statements do.
    active : Activity
        Which of them matter.
    """
    roots = [
        s
        for s, op in operations.items()
        if active.targets.get(s)
        and (op.callee is np.sqrt or is_one_of(op, POWERS) and _is_root(op))
    ]
    if not roots:
        return {}
    found: dict[gast.AST, frozenset[str]] = {}

    def transfer(stmt: gast.AST, known: set[str]) -> None:
        op = operations.get(stmt)
        if op is not None:
            found[stmt] = frozenset(grammar.names_read(op.node) & known)
        written = set(grammar.writes(stmt)) | set(grammar.mutates(stmt))
        held = op is not None and op.kind not in ("store", "append")
        moving = set(active.operands.get(stmt, ()))
        is_square = held and _is_square(op, known, moving)
        known -= written
        if is_square:
            known |= written

    dataflow.Forward(transfer, lambda a, b: a & b).run(fn.body, set())
    return {s: found[s] for s in roots if found[s]}


def _is_root(op: Operation) -> bool:
    exponent = number(op.arguments.get("b"))
    return exponent is not None and 0.0 < exponent < 1.0


def _is_square(op: Operation, known: set[str], moving: set[str]) -> bool:
    """Whether the result of an operation is zero only where what is squared is."""
    if isinstance(op.node, gast.Constant):
        return op.node.value == 0 and op.node.value is not False
    if op.kind == "copy":
        return op.operands[0] in known
    if op.kind != "rule":
        return False
    given = list(op.arguments.values())
    read = [set(atoms(a)) for a in given]

    def square(node: gast.AST) -> bool:
        return grammar.is_name(node) and node.id in known

    def same() -> bool:
        return all(map(grammar.is_name, given)) and given[0].id == given[1].id

    if op.callee is np.square:
        return True
    if is_one_of(op, POWERS):
        exponent = number(op.arguments.get("b"))
        return exponent is not None and exponent > 0 and exponent % 2 == 0
    if is_one_of(op, PRODUCTS):
        if same() or all(map(square, given)):
            return True
        return any(
            square(given[i]) and not read[1 - i] & moving for i in range(len(given))
        )
    if is_one_of(op, QUOTIENTS):
        return square(given[0]) and not read[1] & moving
    if is_one_of(op, SUMS):
        return all(map(square, given))
    if is_one_of(op, INNER):
        return len(given) == 2 and same()
    return is_one_of(op, KEEPING) and bool(read[0]) and read[0] <= known
