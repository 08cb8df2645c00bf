"""Which calls certainly return a new array, not one that shares memory with another."""

from __future__ import annotations

import copy
import operator

import gast
import numpy as np

from sct import grammar, runtime, runtime_rules
from sct.analysis.shapes import REDUCTIONS, TO_SCALAR, pointwise
from sct.helpers import NEW
from sct.operations import Operation
from sct.resolve import MISSING, hashable

FRESH = {
    np.matmul, np.outer, np.cross, np.kron, np.concatenate, np.stack, np.hstack,
    np.vstack, np.column_stack, np.copy, np.zeros_like, np.ones_like, np.full_like,
    np.array, np.where, np.cumsum, np.cumprod, np.tile, np.repeat, np.linalg.inv,
    np.linalg.solve, np.linalg.cholesky, np.zeros, np.ones, np.full, np.eye, np.arange,
    np.linspace, np.ndarray.flatten, np.clip, np.inner, np.tensordot, np.roll, np.dot,
    np.dstack, np.block, np.insert, np.delete, np.ediff1d, np.convolve,
    np.correlate, np.interp, np.bincount, np.partition, np.unique, np.compress,
    np.extract, np.choose, np.select, np.quantile, np.percentile, np.nanquantile,
    np.nanpercentile, np.nancumsum, np.nancumprod, np.diagflat,
    np.pad, np.sort, np.take, np.take_along_axis, np.tril, np.triu, np.empty,
    np.empty_like, np.ndarray.item, operator.matmul, divmod, sum,
    int, copy.deepcopy, runtime.zero_like, runtime.zero_structure,
    runtime.broadcast_like,
    runtime_rules.scatter,
    runtime_rules.product_of_others, runtime_rules.cumprod_adjoint,
    runtime_rules.matmul_adjoint_a, runtime_rules.matmul_adjoint_b,
    runtime_rules.dot_adjoint_a,
    runtime_rules.dot_adjoint_b, runtime_rules.inner_adjoint_a,
    runtime_rules.inner_adjoint_b, runtime_rules.tensordot_adjoint_a,
    runtime_rules.tensordot_adjoint_b, runtime_rules.kron_adjoint_a,
    runtime_rules.kron_adjoint_b, runtime_rules.diagonal_adjoint,
    runtime_rules.trace_adjoint, runtime_rules.take_adjoint,
    runtime_rules.take_along_adjoint, runtime_rules.tile_adjoint,
    runtime_rules.repeat_adjoint, runtime_rules.stored_at, np.resize,
    runtime_rules.resize_adjoint, runtime_rules.along_axis,
    runtime_rules.diagonal_places,
    runtime_rules.diag_adjoint, runtime_rules.itemised, runtime.copied,
} | REDUCTIONS | TO_SCALAR  # fmt: skip
# Element by element, but what needs no change is returned as it is.
UNCHANGED = {
    np.real_if_close, np.conjugate, np.real, np.imag, max, min, runtime_rules.cut,
}  # fmt: skip


# What is returned may share memory with the first argument alone.
OF_THE_FIRST = {runtime.unbroadcast, runtime_rules.cut}


def lends(op: Operation, call: gast.Call) -> list[gast.AST]:
    """The arguments with which the result of a call may share memory."""
    if hashable(op.callee) and op.callee in OF_THE_FIRST:
        return call.args[:1]
    return grammar.arguments(call)


def is_fresh(op: Operation) -> bool:
    """Whether the result of a call shares no memory with what it is given.

    Whatever is not known to return something new may return a view.
    """
    callee = op.callee
    if callee is MISSING:
        func = getattr(op.node, "func", None)
        return isinstance(func, gast.Attribute) and func.attr == "copy"
    if not hashable(callee) or callee in UNCHANGED or "copy" in op.keywords:
        return False
    declared = op.rule is not None and op.rule.fresh
    return declared or pointwise(op) or callee in FRESH or callee in NEW
