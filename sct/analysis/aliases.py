"""Which functions return a new array, and which one that looks into another."""

from __future__ import annotations

import numpy as np

from sct.analysis.shapes import REDUCTIONS, TO_SCALAR

FRESH = {
    np.matmul, np.outer, np.cross, np.kron, np.concatenate, np.stack, np.hstack,
    np.vstack, np.column_stack, np.copy, np.zeros_like, np.ones_like, np.full_like,
    np.array, np.where, np.cumsum, np.cumprod, np.tile, np.repeat, np.linalg.inv,
    np.linalg.solve, np.linalg.cholesky, np.zeros, np.ones, np.full, np.eye, np.arange,
    np.linspace, np.ndarray.flatten, np.clip, np.inner, np.tensordot, np.diff, np.roll,
} | REDUCTIONS | TO_SCALAR  # fmt: skip
# Functions whose result looks into their first argument's array.
VIEWS = {
    np.transpose, np.reshape, np.ravel, np.squeeze, np.swapaxes, np.moveaxis,
    np.expand_dims, np.asarray, np.broadcast_to, np.diagonal, np.atleast_1d,
    np.atleast_2d, np.ascontiguousarray, np.real, np.imag, np.flip, np.split,
    np.array_split, np.diag, np.rot90, np.fliplr, np.flipud, np.rollaxis, np.asanyarray,
    np.require, np.broadcast_arrays, np.meshgrid, np.hsplit, np.vsplit, np.dsplit,
    np.atleast_3d, np.asfortranarray,
}  # fmt: skip


def is_fresh(callee: object) -> bool:
    """Whether a function always returns a new array."""
    return callee.__hash__ is not None and callee in FRESH
