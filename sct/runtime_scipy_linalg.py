"""Functions that emitted code calls for the rules of `scipy.linalg`.

They are made of functions that have rules, so that their own derivatives follow.
Everywhere `g` is the adjoint of the result `y`.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from .runtime_decompositions import adjugated
from .runtime_triangular import cholesky_adjoint, cholesky_tangent

# Factors that are solved with.


def triangle(x, lower=False, unit_diagonal=False):
    """The triangle of matrices that ``linalg.solve_triangular`` reads."""
    offset = 1 if unit_diagonal else 0
    return np.tril(x, -offset) if lower else np.triu(x, offset)


def outer_rows(x, y):
    """The product of columns, or of matrices with columns: ``x @ y.T``."""
    return np.outer(x, y) if np.ndim(x) == 1 else x @ np.swapaxes(y, -1, -2)


def cho_factor_adjoint(g, c, lower=False):
    """The adjoint of `a` in ``c, lower = linalg.cho_factor(a, lower)``.

    The other triangle of `c`, which is not to be read, is that of `a`.
    """
    half_bar = triangle(g, lower)
    a_bar = cholesky_adjoint(half_bar, triangle(c, lower), not lower)
    return a_bar + (g - half_bar)


def cho_factor_tangent(a_dot, c, lower=False):
    """The tangent of `c` in ``c, lower = linalg.cho_factor(a, lower)``."""
    c_dot = cholesky_tangent(a_dot, triangle(c, lower), not lower)
    return c_dot + (a_dot - triangle(a_dot, lower))


def factor_adjoint(a_bar, c, lower=False):
    """The adjoint of the factor `c` of a Hermitian matrix with the adjoint `a_bar`."""
    both = a_bar + adjugated(a_bar)
    if lower:
        return np.tril(both @ np.conj(np.tril(c)))
    return np.triu(np.conj(np.triu(c)) @ both)


def cho_solve_adjoint_c(b_bar, y, c, lower=False):
    """The adjoint of `c` in ``y = linalg.cho_solve((c, lower), b)``."""
    return factor_adjoint(-outer_rows(b_bar, y), c, lower)


def cho_solve_tangent_c(c_dot, y, c, lower=False):
    """The change of ``y = linalg.cho_solve((c, lower), b)`` with `c`."""
    half, half_dot = triangle(c, lower), triangle(c_dot, lower)
    if lower:
        half, half_dot = adjugated(half), adjugated(half_dot)
    moved = adjugated(half_dot) @ (half @ y) + adjugated(half) @ (half_dot @ y)
    return -linalg.cho_solve((c, lower), moved)


def permuted(x, piv):
    """The rows of `x` in the order into which ``linalg.lu_factor`` puts them."""
    order = np.arange(np.shape(x)[0])
    for i, k in enumerate(piv):
        order[i], order[k] = order[k], order[i]
    return x[order]


def unpermuted(x, piv):
    """The rows of `x` in the order in which they are given to ``linalg.lu_factor``."""
    order = permuted(np.arange(np.shape(x)[0]), piv)
    return x[np.argsort(order)]


def lu_parts(lu):
    """The two factors that ``linalg.lu_factor`` keeps in one matrix."""
    return np.tril(lu, -1) + np.eye(np.shape(lu)[0], dtype=lu.dtype), np.triu(lu)


def lu_factor_adjoint(g, lu, piv):
    """The adjoint of `a` in ``lu, piv = linalg.lu_factor(a)``."""
    low, up = lu_parts(lu)
    inner = np.tril(low.T @ np.tril(g, -1), -1) + np.triu(np.triu(g) @ up.T)
    left = linalg.solve_triangular(low.T, inner, unit_diagonal=True)
    return unpermuted(linalg.solve_triangular(up, left.T).T, piv)


def lu_factor_tangent(a_dot, lu, piv):
    """The tangent of ``lu`` in ``lu, piv = linalg.lu_factor(a)``."""
    low, up = lu_parts(lu)
    moved = linalg.solve_triangular(
        low, permuted(a_dot, piv), lower=True, unit_diagonal=True
    )
    inner = linalg.solve_triangular(up.T, moved.T, lower=True).T
    return low @ np.tril(inner, -1) + np.triu(inner) @ up


def lu_adjoint_of(a_bar, lu, piv):
    """The adjoint of `lu` from that of the matrix that it stands for."""
    low, up = lu_parts(lu)
    a_bar = permuted(a_bar, piv)
    return np.tril(a_bar @ up.T, -1) + np.triu(low.T @ a_bar)


def lu_solve_adjoint_lu(b_bar, y, lu, piv, trans=0):
    """The adjoint of `lu` in ``y = linalg.lu_solve((lu, piv), b, trans)``."""
    a_bar = -outer_rows(b_bar, y) if trans == 0 else -outer_rows(y, b_bar)
    return lu_adjoint_of(a_bar, lu, piv)


def lu_solve_tangent_lu(lu_dot, y, lu, piv, trans=0):
    """The change of ``y = linalg.lu_solve((lu, piv), b, trans)`` with `lu`."""
    low, up = lu_parts(lu)
    a_dot = np.tril(lu_dot, -1) @ up + low @ np.triu(lu_dot)
    a_dot = unpermuted(a_dot, piv)
    moved = a_dot @ y if trans == 0 else a_dot.T @ y
    return -linalg.lu_solve((lu, piv), moved, trans)


# Functions of matrices.


def expm_change(a, e):
    """The change of ``linalg.expm(a)`` when `a` changes by `e`.

    The exponential of [[a, e], [0, a]] has it in the upper right (Mathias 1996).
    """
    n = np.shape(a)[-1]
    above = np.concatenate([a, e], -1)
    below = np.concatenate([np.zeros_like(a), a], -1)
    return linalg.expm(np.concatenate([above, below], -2))[..., :n, n:]


def logm_change(a, e):
    """The change of ``linalg.logm(a)`` when `a` changes by `e`; see `expm_change`."""
    n = np.shape(a)[-1]
    above = np.concatenate([a, e], -1)
    below = np.concatenate([np.zeros_like(a), a], -1)
    return linalg.logm(np.concatenate([above, below], -2))[..., :n, n:]


# Matrices of a pattern.


def block_diag_adjoint(g, arrays):
    """The adjoints of all blocks of ``linalg.block_diag(*arrays)``."""
    bars, i, j = [], 0, 0
    for a in arrays:
        shape = np.shape(np.atleast_2d(a))
        block = g[i : i + shape[0], j : j + shape[1]]
        bars.append(np.reshape(block, np.shape(a)))
        i, j = i + shape[0], j + shape[1]
    return tuple(bars)


def toeplitz_adjoint_c(g, c, r=None):
    """The adjoint of the column `c` of ``linalg.toeplitz(c, r)``."""
    c_bar = np.zeros_like(c)
    for k in range(np.shape(g)[0]):
        c_bar[k] = np.trace(g, -k)
        if r is None and k > 0:
            c_bar[k] += np.trace(g, k)
    return c_bar


def toeplitz_adjoint_r(g, r):
    """The adjoint of the row `r` of ``linalg.toeplitz(c, r)``, but the first item."""
    r_bar = np.zeros_like(r)
    for k in range(1, np.shape(g)[1]):
        r_bar[k] = np.trace(g, k)
    return r_bar


def toeplitz_parts(c_or_cr):
    """The first column and row that ``linalg.solve_toeplitz`` is given."""
    if np.ndim(c_or_cr[0]) > 0:
        return c_or_cr[0], c_or_cr[1]
    return c_or_cr, c_or_cr


def toeplitz_of(c_or_cr):
    """The matrix of ``linalg.solve_toeplitz(c_or_cr, b)``."""
    c, r = toeplitz_parts(c_or_cr)
    return linalg.toeplitz(c, r)


def toeplitz_transposed(c_or_cr):
    """What ``linalg.solve_toeplitz`` takes for the transposed matrix."""
    c, r = toeplitz_parts(c_or_cr)
    return np.concatenate((c[:1], r[1:])), c


def toeplitz_adjoint(g, c_or_cr):
    """The adjoint of what ``linalg.solve_toeplitz`` takes, from that of the matrix."""
    if np.ndim(c_or_cr[0]) > 0:
        c, r = c_or_cr
        return toeplitz_adjoint_c(g, c, r), toeplitz_adjoint_r(g, r)
    return toeplitz_adjoint_c(g, c_or_cr)


def transposed_bands(ab, lower, upper):
    """The bands of a transposed matrix, as ``linalg.solve_banded`` takes them."""
    bands = np.zeros_like(ab)
    n = np.shape(ab)[1]
    for k in range(-lower, upper + 1):
        width = n - abs(k)
        if width > 0:
            row = ab[upper - k, max(k, 0) : max(k, 0) + width]
            bands[lower + k, max(-k, 0) : max(-k, 0) + width] = row
    return bands


def bands_of_product(x, y, lower, upper):
    """The bands of ``x @ y.T``, as ``linalg.solve_banded`` takes them."""
    x, y = (x[:, None], y[:, None]) if np.ndim(x) == 1 else (x, y)
    n = np.shape(x)[0]
    bands = np.zeros_like(x, shape=(lower + upper + 1, n))
    for k in range(-lower, upper + 1):
        width = n - abs(k)
        if width > 0:
            i, j = max(-k, 0), max(k, 0)
            bands[upper - k, j : j + width] = np.sum(
                x[i : i + width] * y[j : j + width], 1
            )
    return bands


def bands_times(ab, y, lower, upper):
    """The product of the matrix with these bands and `y`."""
    product = np.zeros_like(y)
    n = np.shape(y)[0]
    rows = (slice(None), None) if np.ndim(y) == 2 else slice(None)
    for k in range(-lower, upper + 1):
        width = n - abs(k)
        if width > 0:
            i, j = max(-k, 0), max(k, 0)
            band = ab[upper - k, j : j + width]
            product[i : i + width] += band[rows] * y[j : j + width]
    return product
