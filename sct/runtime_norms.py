"""Functions that emitted code calls for the rules of norms.

Where a norm has a kink, at 0 and where elements or rows tie, its derivative is taken as
0, and as shared equally.  Adjoints of complex arrays are as in
`runtime_decompositions`.
"""

from __future__ import annotations

import numpy as np

from .runtime_decompositions import svdvals_adjoint
from .runtime_linalg import inv_adjoint


def length_adjoint(g, y, x, axis, keepdims=False):
    """The adjoint of ``y = np.linalg.norm(x, None, axis, keepdims)``."""
    if not keepdims:
        y, g = np.expand_dims(y, axis), np.expand_dims(g, axis)
    return g * np.conj(x) / np.where(y == 0, 1.0, y)


def norm_adjoint(g, y, x, order=None, axis=None, keepdims=False):
    """The adjoint of ``y = np.linalg.norm(x, order, axis, keepdims)``."""
    if axis is None:
        axis = tuple(range(np.ndim(x)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    if not keepdims:
        y, g = np.expand_dims(y, axes), np.expand_dims(g, axes)
    if order is None or order == "fro" or (order == 2 and len(axes) == 1):
        return length_adjoint(g, y, x, axes, True)
    if len(axes) == 2:
        return matrix_norm_adjoint(g, y, x, order, axes)
    size = np.abs(x)
    towards = np.conj(x) / np.where(size == 0, 1.0, size)
    if order in (np.inf, -np.inf):
        return g * towards * shares(size, axes, y)
    if order == 0:
        return np.zeros_like(x)
    ratio = np.where(size == 0, 1.0, size) / np.where(y == 0, 1.0, y)
    return g * towards * ratio ** (order - 1)


def vector_norm_adjoint(g, y, x, order=2, axis=None, keepdims=False):
    """The adjoint of ``y = np.linalg.vector_norm(x, ord=order)`` over any axes."""
    if axis is None:
        axis = tuple(range(np.ndim(x)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    rows = np.moveaxis(x, axes, range(len(axes)))
    kept = np.shape(rows)[len(axes) :]
    flat = np.reshape(rows, (-1, *kept))
    bar = norm_adjoint(np.reshape(g, kept), np.reshape(y, kept), flat, order, 0)
    return np.moveaxis(np.reshape(bar, np.shape(rows)), range(len(axes)), axes)


def matrix_norm_adjoint(g, y, x, order, axes):
    """The adjoint of ``y = np.linalg.norm(x, order, axes, keepdims=True)``."""
    rows, columns = axes
    if order in (1, -1, np.inf, -np.inf):
        along, across = (rows, columns) if order in (1, -1) else (columns, rows)
        size = np.abs(x)
        sums = np.sum(size, axis=along, keepdims=True)
        towards = np.conj(x) / np.where(size == 0, 1.0, size)
        return g * towards * shares(sums, (across,), y)
    matrices = np.moveaxis(x, axes, (-2, -1))
    s = np.linalg.svd(matrices, compute_uv=False)
    g = np.moveaxis(g, axes, (-2, -1))[..., 0]
    hit = np.ones_like(s)
    if order != "nuc":
        hit = shares(s, (-1,), s[..., :1] if order == 2 else s[..., -1:])
    hit = np.where(s == 0, 0.0, hit)
    return np.moveaxis(svdvals_adjoint(g * hit, matrices), (-2, -1), axes)


def shares(size, axes, y):
    """What each element of `size` has part in its extreme value `y` along `axes`."""
    hit = (size == y).astype(size.dtype)
    return hit / np.sum(hit, axis=axes, keepdims=True)


def norm_change(x_bar, x_dot, axis=None, keepdims=False):
    """The change of a norm along `x_dot`, from its adjoint for ``g = 1``."""
    if axis is None:
        return np.real(np.sum(x_bar * x_dot, keepdims=keepdims))
    return np.real(np.sum(x_bar * x_dot, axis=axis, keepdims=keepdims))


def cond_adjoint(g, y, x, p=None):
    """The adjoint of ``y = np.linalg.cond(x, p)``."""
    # Before NumPy 2 that of complex matrices is complex.
    g, y = np.real(g), np.real(y)
    if p is None or p in (2, -2):
        s = np.linalg.svd(x, compute_uv=False)
        last, first = (-1, 0) if p != -2 else (0, -1)
        s_bar = np.zeros_like(s)
        s_bar[..., first] += g * y / s[..., first]
        s_bar[..., last] -= g * y / s[..., last]
        return svdvals_adjoint(s_bar, x)
    inverse = np.linalg.inv(x)
    size = np.linalg.norm(x, p, (-2, -1))
    other = np.linalg.norm(inverse, p, (-2, -1))
    inverse_bar = norm_adjoint(g * size, other, inverse, p, (-2, -1))
    return norm_adjoint(g * other, size, x, p, (-2, -1)) + inv_adjoint(
        inverse_bar, inverse
    )
