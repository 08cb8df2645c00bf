"""Rules of products of arrays and of `np.linalg`.

``z = w @ x`` (two matrices)  →  ``w_bar = z_bar @ x.T``, ``x_bar = w.T @ z_bar``

A test ``np.ndim(p) == k`` is decided while transforming; where ranks are unknown the
last branch holds.
"""

from __future__ import annotations

import operator

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_rules import (
    cholesky_adjoint,
    det_adjoint,
    dot_adjoint_a,
    dot_adjoint_b,
    einsum_adjoint,
    inner_adjoint_a,
    inner_adjoint_b,
    inv_adjoint,
    kron_adjoint_a,
    kron_adjoint_b,
    matmul_adjoint_a,
    matmul_adjoint_b,
    solve_adjoint_a,
    solve_adjoint_b,
    tensordot_adjoint_a,
    tensordot_adjoint_b,
    trace_adjoint,
)

from .registry import adjoint, nondifferentiable

nondifferentiable(np.linalg.matrix_rank)


@adjoint(operator.matmul, np.matmul, linear=True, wide=True)
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


@adjoint(np.vdot, linear=True)
def vdot(out, a, b, *, out_bar):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        a_bar = out_bar * b
        b_bar = out_bar * a
    else:
        a_bar = out_bar * np.reshape(b, np.shape(a))
        b_bar = out_bar * np.reshape(a, np.shape(b))
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


@adjoint(np.outer, linear=True)
def outer(out, a, b, *, out_bar):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        a_bar = out_bar @ b
        b_bar = a @ out_bar
    else:
        a_bar = np.reshape(out_bar @ np.ravel(b), np.shape(a))
        b_bar = np.reshape(np.ravel(a) @ out_bar, np.shape(b))
    return a_bar, b_bar


@adjoint(np.tensordot, linear=True)
def tensordot(out, a, b, axes=2, *, out_bar):
    a_bar = tensordot_adjoint_a(out_bar, a, b, axes)
    b_bar = tensordot_adjoint_b(out_bar, a, b, axes)
    return a_bar, b_bar


@adjoint(np.einsum, wrt=("operands",), multilinear=True)
def einsum(out, subscripts, *operands, out_bar):
    operands_bar = einsum_adjoint(out_bar, subscripts, operands)
    return operands_bar


# For vectors of three components.
@adjoint(np.cross, linear=True)
def cross(out, a, b, *, out_bar):
    a_bar = unbroadcast(np.cross(b, out_bar), a)
    b_bar = unbroadcast(np.cross(out_bar, a), b)
    return a_bar, b_bar


@adjoint(np.kron, linear=True)
def kron(out, a, b, *, out_bar):
    a_bar = kron_adjoint_a(out_bar, a, b)
    b_bar = kron_adjoint_b(out_bar, a, b)
    return a_bar, b_bar


@adjoint(np.trace, wrt=("a",), linear=True)
def trace(out, a, offset=0, axis1=0, axis2=1, *, out_bar):
    a_bar = trace_adjoint(out_bar, a, offset, axis1, axis2)
    return a_bar


@adjoint(np.linalg.inv)
def inv(out, a, *, out_bar):
    if np.ndim(a) == 2:
        a_bar = -out.T @ out_bar @ out.T
    else:
        a_bar = inv_adjoint(out_bar, out)
    return a_bar


@adjoint(np.linalg.det)
def det(out, a, *, out_bar):
    if np.ndim(a) == 2:
        a_bar = out_bar * out * np.linalg.inv(a).T
    else:
        a_bar = det_adjoint(out_bar, out, a)
    return a_bar


@adjoint(np.linalg.slogdet)
def slogdet(out, a, *, out_bar):
    if np.ndim(a) == 2:
        a_bar = out_bar[1] * np.linalg.inv(a).T
    else:
        scale = np.expand_dims(out_bar[1], (-1, -2))
        a_bar = scale * np.swapaxes(np.linalg.inv(a), -1, -2)
    return a_bar


@adjoint(np.linalg.solve)
def solve(out, a, b, *, out_bar):
    if np.ndim(a) == 2 and np.ndim(b) == 1:
        b_bar = np.linalg.solve(a.T, out_bar)
        a_bar = -np.outer(b_bar, out)
    elif np.ndim(a) == 2 and np.ndim(b) == 2:
        b_bar = np.linalg.solve(a.T, out_bar)
        a_bar = -b_bar @ out.T
    else:
        a_bar = solve_adjoint_a(out_bar, out, a, b)
        b_bar = solve_adjoint_b(out_bar, a, b)
    return a_bar, b_bar


# `a` is symmetric, and so is its adjoint.
@adjoint(np.linalg.cholesky)
def cholesky(out, a, *, out_bar):
    a_bar = cholesky_adjoint(out_bar, out)
    return a_bar
