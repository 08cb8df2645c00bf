"""Functions that emitted code calls for the rules of triangular decompositions.

Adjoints of complex matrices are as in `runtime_decompositions`.
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError
from .runtime_decompositions import adjugated, all_columns, first_columns, on_diagonal

# Cholesky's decomposition.


def lower_inverse(a):
    """The inverse of a lower triangular matrix, by halves."""
    n = np.shape(a)[-1]
    if n <= 32:
        return np.linalg.inv(np.tril(a))
    k = n // 2
    top = lower_inverse(a[..., :k, :k])
    bottom = lower_inverse(a[..., k:, k:])
    inverse = np.zeros_like(a)
    inverse[..., :k, :k] = top
    inverse[..., k:, :k] = -(bottom @ a[..., k:, :k] @ top)
    inverse[..., k:, k:] = bottom
    return inverse


def lower_half(x):
    """The lower triangles of matrices, with half the diagonals."""
    n, dtype = np.shape(x)[-1], np.real(x).dtype
    return (np.tri(n, dtype=dtype) - 0.5 * np.eye(n, dtype=dtype)) * x


def cholesky_adjoint(g, y, upper=False):
    """The adjoint, a Hermitian matrix, of `a` in ``y = np.linalg.cholesky(a)``.

    Murray (2016), "Differentiation of the Cholesky decomposition", section 3.
    """
    if upper:
        y, g = adjugated(y), adjugated(g)
    half = lower_half(adjugated(y) @ np.conj(g))
    inverse = lower_inverse(y)
    a_bar = adjugated(inverse) @ half @ inverse
    return 0.5 * (np.conj(a_bar) + np.swapaxes(a_bar, -1, -2))


def cholesky_tangent(a_dot, y, upper=False):
    """The tangent of ``y = np.linalg.cholesky(a)``: ``y @ half(y⁻¹ a_dot y⁻ᴴ)``."""
    if upper:
        y = adjugated(y)
    inverse = lower_inverse(y)
    a_dot = 0.5 * (a_dot + adjugated(a_dot))
    y_dot = y @ lower_half(inverse @ a_dot @ adjugated(inverse))
    return adjugated(y_dot) if upper else y_dot


# The QR decomposition.


def check_mode(q, r):
    """Raise unless ``q, r = np.linalg.qr(a)`` are two matrices."""
    if np.ndim(q) != np.ndim(r):
        raise ArgumentError("np.linalg.qr of mode 'raw' has no derivative")


def qr_adjoint(q_bar, r_bar, q, r):
    """The adjoint of `a` in ``q, r = np.linalg.qr(a)``.

    Walter and Lehmann (2018); for more columns than rows Roberts and Roberts (2020).
    """
    check_mode(q, r)
    k = min(np.shape(q)[-2], np.shape(r)[-1])
    q_bar = np.zeros_like(q) if q_bar is None else np.conj(q_bar)
    r_bar = np.zeros_like(r) if r_bar is None else np.conj(r_bar)
    q, q_bar = first_columns(q, q_bar, k)
    square, square_bar = r[..., :k, :k], r_bar[..., :k, :k]
    rest, rest_bar = r[..., :k, k:], r_bar[..., :k, k:]
    # What is right of the square is `q @ rest`.
    q_bar = q_bar + q @ (rest @ adjugated(rest_bar))
    m = square @ adjugated(square_bar) - adjugated(q_bar) @ q
    lower = lower_half(m)
    both = q_bar + q @ (lower + adjugated(lower))
    left_bar = adjugated(np.linalg.solve(square, adjugated(both)))
    return np.conj(np.concatenate([left_bar, q @ rest_bar], -1))


def r_adjoint(g, a):
    """The adjoint of `a` in ``np.linalg.qr(a, "r")``."""
    q, r = np.linalg.qr(a)
    return qr_adjoint(None, g, q, r)


def qr_tangent(a_dot, q, r):
    """The tangents of ``q, r = np.linalg.qr(a)``."""
    check_mode(q, r)
    k = min(np.shape(q)[-2], np.shape(r)[-1])
    first, square, rest = q[..., :k], r[..., :k, :k], r[..., :k, k:]
    moved = adjugated(np.linalg.solve(adjugated(square), adjugated(a_dot[..., :k])))
    inner = adjugated(first) @ moved
    lower = np.tril(inner, -1)
    turn = lower - adjugated(lower)
    if np.iscomplexobj(inner):
        phases = 1j * np.imag(np.diagonal(inner, 0, -2, -1))
        turn = on_diagonal(phases, turn)
    first_dot = first @ (turn - inner) + moved
    square_dot = (inner - turn) @ square
    # What is right of the square is ``first @ rest``.
    rest_dot = adjugated(first) @ (a_dot[..., k:] - first_dot @ rest)
    r_dot = np.concatenate([square_dot, rest_dot], -1)
    below = np.zeros_like(r[..., k:, :])
    return all_columns(first_dot, first, q), np.concatenate([r_dot, below], -2)


def r_tangent(a_dot, a):
    """The tangent of ``np.linalg.qr(a, "r")``."""
    q, r = np.linalg.qr(a)
    return qr_tangent(a_dot, q, r)[1]
