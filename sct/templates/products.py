"""Rules of products of arrays.

``z = w @ x`` (two matrices)  →  ``w_bar = z_bar @ x.T``, ``x_bar = w.T @ z_bar``

A test ``np.ndim(p) == k`` is decided while transforming; where ranks are unknown the
last branch holds.
"""

from __future__ import annotations

import operator

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_linalg import multi_dot_adjoint
from sct.runtime_rules import (
    cross_adjoint_a,
    cross_adjoint_b,
    dot_adjoint_a,
    dot_adjoint_b,
    einsum_adjoint,
    inner_adjoint_a,
    inner_adjoint_b,
    kron_adjoint_a,
    kron_adjoint_b,
    matmul_adjoint_a,
    matmul_adjoint_b,
    tensordot_adjoint_a,
    tensordot_adjoint_b,
    trace_adjoint,
)

from .registry import adjoint, present


@adjoint(operator.matmul, np.matmul, *present("linalg.matmul"), linear=True, wide=True)
def matmul(out, a, b, *, out_bar):
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        a_bar = out_bar @ b.T
        b_bar = a.T @ out_bar
    elif np.ndim(a) == 2 and np.ndim(b) == 1:
        a_bar = np.outer(out_bar, b)
        b_bar = a.T @ out_bar
    elif np.ndim(a) == 1 and np.ndim(b) == 2:
        a_bar = b @ out_bar
        b_bar = np.outer(a, out_bar)
    elif np.ndim(a) == 1 and np.ndim(b) == 1:
        a_bar = out_bar * b
        b_bar = out_bar * a
    else:
        a_bar = matmul_adjoint_a(out_bar, a, b)
        b_bar = matmul_adjoint_b(out_bar, a, b)
    return a_bar, b_bar


@adjoint(np.dot, linear=True)
def dot(out, a, b, *, out_bar):
    if np.ndim(a) == 2 and np.ndim(b) == 2:
        a_bar = out_bar @ b.T
        b_bar = a.T @ out_bar
    elif np.ndim(a) == 2 and np.ndim(b) == 1:
        a_bar = np.outer(out_bar, b)
        b_bar = a.T @ out_bar
    elif np.ndim(a) == 1 and np.ndim(b) == 2:
        a_bar = b @ out_bar
        b_bar = np.outer(a, out_bar)
    elif np.ndim(a) == 1 and np.ndim(b) == 1:
        a_bar = out_bar * b
        b_bar = out_bar * a
    else:
        a_bar = dot_adjoint_a(out_bar, a, b)
        b_bar = dot_adjoint_b(out_bar, a, b)
    return a_bar, b_bar


# The first operand is conjugated.
@adjoint(np.vdot, linear=True)
def vdot(out, a, b, *, out_bar):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        a_bar = np.conj(out_bar * b)
        b_bar = out_bar * np.conj(a)
    else:
        a_bar = np.conj(out_bar * np.reshape(b, np.shape(a)))
        b_bar = out_bar * np.conj(np.reshape(a, np.shape(b)))
    return a_bar, b_bar


@adjoint(np.inner, linear=True)
def inner(out, a, b, *, out_bar):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        a_bar = out_bar * b
        b_bar = out_bar * a
    elif np.ndim(a) == 2 and np.ndim(b) == 2:
        a_bar = out_bar @ b
        b_bar = out_bar.T @ a
    else:
        a_bar = inner_adjoint_a(out_bar, a, b)
        b_bar = inner_adjoint_b(out_bar, a, b)
    return a_bar, b_bar


@adjoint(np.outer, *present("linalg.outer"), linear=True)
def outer(out, a, b, *, out_bar):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        a_bar = out_bar @ b
        b_bar = a @ out_bar
    else:
        a_bar = np.reshape(out_bar @ np.ravel(b), np.shape(a))
        b_bar = np.reshape(np.ravel(a) @ out_bar, np.shape(b))
    return a_bar, b_bar


@adjoint(np.tensordot, *present("linalg.tensordot"), linear=True)
def tensordot(out, a, b, axes=2, *, out_bar):
    a_bar = tensordot_adjoint_a(out_bar, a, b, axes)
    b_bar = tensordot_adjoint_b(out_bar, a, b, axes)
    return a_bar, b_bar


@adjoint(np.einsum, wrt=("operands",), multilinear=True)
def einsum(out, subscripts, *operands, optimize=False, out_bar):
    operands_bar = einsum_adjoint(out_bar, subscripts, operands)
    return operands_bar


# Of vectors of two components, the third is 0.
@adjoint(np.cross, linear=True)
def cross(out, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None, *, out_bar):
    if axis is None and axisa == -1 and axisb == -1 and axisc == -1:
        a_bar = cross_adjoint_a(out_bar, a, b)
        b_bar = cross_adjoint_b(out_bar, a, b)
    elif axis is None:
        a_bar = cross_adjoint_a(out_bar, a, b, axisa, axisb, axisc)
        b_bar = cross_adjoint_b(out_bar, a, b, axisa, axisb, axisc)
    else:
        a_bar = cross_adjoint_a(out_bar, a, b, axis, axis, axis)
        b_bar = cross_adjoint_b(out_bar, a, b, axis, axis, axis)
    return a_bar, b_bar


@adjoint(*present("linalg.cross"), linear=True, fresh=True)
def linalg_cross(out, a, b, *, axis=-1, out_bar):
    a_bar = cross_adjoint_a(out_bar, a, b, axis, axis, axis)
    b_bar = cross_adjoint_b(out_bar, a, b, axis, axis, axis)
    return a_bar, b_bar


# The first operand is conjugated.
@adjoint(*present("vecdot", "linalg.vecdot"), linear=True, fresh=True)
def vecdot(out, a, b, *, axis=-1, out_bar):
    spread = np.expand_dims(out_bar, axis)
    a_bar = unbroadcast(np.conj(spread * b), a)
    b_bar = unbroadcast(spread * np.conj(a), b)
    return a_bar, b_bar


@adjoint(*present("matvec"), linear=True, fresh=True)
def matvec(out, a, b, *, out_bar):
    a_bar = unbroadcast(np.expand_dims(out_bar, -1) * np.expand_dims(b, -2), a)
    b_bar = unbroadcast(np.matvec(np.swapaxes(a, -1, -2), out_bar), b)
    return a_bar, b_bar


# The first operand is conjugated.
@adjoint(*present("vecmat"), linear=True, fresh=True)
def vecmat(out, a, b, *, out_bar):
    a_bar = unbroadcast(np.conj(np.matvec(b, out_bar)), a)
    rows = np.expand_dims(np.conj(a), -1)
    b_bar = unbroadcast(rows * np.expand_dims(out_bar, -2), b)
    return a_bar, b_bar


@adjoint(np.linalg.multi_dot, multilinear=True, fresh=True)
def multi_dot(out, arrays, *, out_bar):
    arrays_bar = multi_dot_adjoint(out_bar, arrays)
    return arrays_bar


@adjoint(np.kron, linear=True)
def kron(out, a, b, *, out_bar):
    a_bar = kron_adjoint_a(out_bar, a, b)
    b_bar = kron_adjoint_b(out_bar, a, b)
    return a_bar, b_bar


@adjoint(np.trace, wrt=("a",), linear=True)
def trace(out, a, offset=0, axis1=0, axis2=1, *, out_bar):
    a_bar = trace_adjoint(out_bar, a, offset, axis1, axis2)
    return a_bar
