"""Functions that emitted code calls for the rules of `np.linalg`.

Adjoints of complex matrices are as in `runtime_decompositions`.
"""

from __future__ import annotations

import numpy as np

from .runtime import unbroadcast
from .runtime_decompositions import adjugated, svdvals_adjoint, svdvals_tangent
from .runtime_rules import product_of_others, size_along

# Determinants and inverses.


def cofactors(a, y):
    """The cofactors of matrices with the determinants `y`; those may be 0."""
    if np.ndim(a) == 2 and y != 0:
        return y * np.linalg.inv(a).T
    if np.all(y != 0):
        return np.expand_dims(y, (-1, -2)) * np.swapaxes(np.linalg.inv(a), -1, -2)
    return singular_cofactors(a)


def singular_cofactors(a):
    """The cofactors of matrices that need not have an inverse.

    The singular values of the adjugate are the products of all others of `a`.
    """
    u, s, vh = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    others = np.expand_dims(product_of_others(s, -1), -2)
    return np.expand_dims(sign, (-1, -2)) * np.conj((u * others) @ vh)


def cofactors_change(a_dot, a):
    """The change of the cofactors of `a`, as its singular vectors see it.

    Of a diagonal matrix the determinant changes in the second order by the products of
    all but two elements, times the minors of these two of the change.
    """
    u, s, vh = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vh)
    turned = adjugated(u) @ a_dot @ adjugated(vh)
    unit = np.eye(np.shape(s)[-1], dtype=bool)
    left = np.where(unit[:, None] | unit, 1.0, s[..., None, None, :])
    others = np.where(unit, 0.0, np.prod(left, axis=-1))
    diagonal = np.diagonal(turned, axis1=-2, axis2=-1)
    moved = np.where(unit, others @ diagonal[..., None], 0.0)
    moved = moved - others * np.swapaxes(turned, -1, -2)
    return np.expand_dims(sign, (-1, -2)) * (np.conj(u) @ moved @ np.conj(vh))


def slogdet_adjoint(sign_bar, log_bar, sign, a):
    """The adjoint of `a` in ``sign, log = np.linalg.slogdet(a)``."""
    scale = np.zeros_like(sign) if log_bar is None else np.real(log_bar)
    if np.iscomplexobj(a):
        # The sign is a phase: it turns by the imaginary part of the logarithm.
        scale = scale + 1j * np.imag(sign_bar * sign)
    return np.expand_dims(scale, (-1, -2)) * np.swapaxes(np.linalg.inv(a), -1, -2)


def slogdet_tangent(a_dot, sign, a):
    """The tangents of ``sign, log = np.linalg.slogdet(a)``."""
    relative = np.trace(np.linalg.solve(a, a_dot), axis1=-2, axis2=-1)
    turn = 1j * np.imag(relative) if np.iscomplexobj(a) else 0.0
    return sign * turn, np.real(relative)


def inv_adjoint(g, y):
    """The adjoint of `a` in ``y = np.linalg.inv(a)``."""
    transposed = y.T if np.ndim(y) == 2 else np.swapaxes(y, -1, -2)
    return -(transposed @ g @ transposed)


def tensorinv_change(e, y, ind=2):
    """The change of ``y = np.linalg.tensorinv(a, ind)`` when `a` changes by `e`."""
    n = size_along(e, tuple(range(ind)))
    inverse = np.reshape(y, (n, n))
    return np.reshape(-inverse @ np.reshape(e, (n, n)) @ inverse, np.shape(y))


def tensorinv_adjoint(g, y, a, ind=2):
    """The adjoint of `a` in ``y = np.linalg.tensorinv(a, ind)``."""
    n = size_along(a, tuple(range(ind)))
    a_bar = inv_adjoint(np.reshape(g, (n, n)), np.reshape(y, (n, n)))
    return np.reshape(a_bar, np.shape(a))


def pinv_adjoint(g, y, a):
    """The adjoint of `a` in ``y = np.linalg.pinv(a)``, while its rank stays.

    Golub and Pereyra (1973).
    """
    g, yh = np.conj(g), adjugated(y)
    gh = adjugated(g)
    rows = (gh - a @ (y @ gh)) @ y @ yh
    columns = yh @ y @ (gh - (gh @ y) @ a)
    return np.conj(rows + columns - yh @ g @ yh)


def pinv_tangent(a_dot, y, a):
    """The tangent of ``y = np.linalg.pinv(a)``, while the rank of `a` stays."""
    turned, yh = adjugated(a_dot), adjugated(y)
    rows = y @ yh @ (turned - (turned @ a) @ y)
    columns = (turned - y @ (a @ turned)) @ yh @ y
    return rows + columns - y @ a_dot @ y


def power_change(e, a, n):
    """The change of ``np.linalg.matrix_power(a, n)`` when `a` changes by `e`.

    Powers of ``[[a, e], [0, a]]`` hold it in their corner (Mathias 1996).
    """
    upper = np.concatenate([a, e], -1)
    lower = np.concatenate([np.zeros_like(a), a], -1)
    size = np.shape(a)[-1]
    both = np.linalg.matrix_power(np.concatenate([upper, lower], -2), n)
    return both[..., :size, size:]


def multi_dot_adjoint(g, arrays):
    """The adjoints of all factors of ``np.linalg.multi_dot(arrays)``."""
    factors = [np.transpose(x) for x in arrays]
    if np.ndim(arrays[0]) == 1:
        factors[0] = np.expand_dims(arrays[0], 1)
    if np.ndim(arrays[-1]) == 1:
        factors[-1] = np.expand_dims(arrays[-1], 0)
    g = np.reshape(g, (np.shape(factors[0])[1], np.shape(factors[-1])[0]))
    bars = []
    for i, x in enumerate(arrays):
        chain = [*factors[:i][::-1], g, *factors[i + 1 :][::-1]]
        bars.append(np.reshape(np.linalg.multi_dot(chain), np.shape(x)))
    return bars


def multi_dot_change(dots, arrays):
    """The change of ``np.linalg.multi_dot(arrays)`` as each factor moves."""
    y_dot = 0.0
    for i, dot in enumerate(dots):
        factors = [*arrays[:i], dot, *arrays[i + 1 :]]
        y_dot = y_dot + np.linalg.multi_dot(factors)
    return y_dot


def multi_dot_mixed(g, dots, arrays):
    """The change of ``multi_dot_adjoint(g, arrays)`` as each *other* factor moves."""
    bars = [np.zeros_like(x) for x in arrays]
    for i, dot in enumerate(dots):
        factors = [*arrays[:i], dot, *arrays[i + 1 :]]
        for j, bar in enumerate(multi_dot_adjoint(g, factors)):
            if j != i:
                bars[j] = bars[j] + bar
    return bars


# Linear systems.


def solve_adjoint_b(g, a, b):
    """The adjoint of `b` in ``np.linalg.solve(a, b)``."""
    if np.ndim(g) < np.ndim(a):
        b_bar = np.linalg.solve(np.swapaxes(a, -1, -2), np.expand_dims(g, -1))
        return unbroadcast(b_bar[..., 0], b)
    return unbroadcast(np.linalg.solve(np.swapaxes(a, -1, -2), g), b)


def solve_adjoint_a(g, y, a, b):
    """The adjoint of `a` in ``y = np.linalg.solve(a, b)``."""
    transposed = np.swapaxes(a, -1, -2)
    if np.ndim(y) < np.ndim(a):
        b_bar = np.linalg.solve(transposed, np.expand_dims(g, -1))
        return unbroadcast(-b_bar * np.expand_dims(y, -2), a)
    b_bar = np.linalg.solve(transposed, g)
    return unbroadcast(-b_bar @ np.swapaxes(y, -1, -2), a)


def solve_tangent_a(a_dot, y, a):
    """The tangent of ``y = np.linalg.solve(a, b)`` for a constant `b`."""
    if np.ndim(y) < np.ndim(a):
        b_dot = a_dot @ np.expand_dims(y, -1)
        return -np.linalg.solve(a, b_dot)[..., 0]
    return -np.linalg.solve(a, a_dot @ y)


def tensorsolve_adjoint_b(g, a, b, axes=None):
    """The adjoint of `b` in ``np.linalg.tensorsolve(a, b, axes)``."""
    matrix = np.reshape(with_last(a, axes), (np.size(b), -1))
    b_bar = np.linalg.solve(np.transpose(matrix), np.ravel(g))
    return np.reshape(b_bar, np.shape(b))


def tensorsolve_adjoint_a(b_bar, y, a, axes=None):
    """The adjoint of `a` in ``y = np.linalg.tensorsolve(a, b, axes)``."""
    a_bar = -np.tensordot(b_bar, y, 0)
    if axes is None:
        return a_bar
    return np.transpose(a_bar, np.argsort(last(a, axes)))


def tensorsolve_tangent_a(a_dot, y, a, axes=None):
    """The tangent of ``y = np.linalg.tensorsolve(a, b, axes)`` for a constant `b`."""
    b_dot = np.tensordot(with_last(a_dot, axes), y, np.ndim(y))
    return -np.linalg.tensorsolve(a, b_dot, axes)


def last(a, axes):
    """The axes of `a` in their order, those of `axes` behind all others."""
    return [i for i in range(np.ndim(a)) if i not in axes] + list(axes)


def with_last(a, axes):
    """Return `a` with `axes` behind all others, as they are for None."""
    return a if axes is None else np.transpose(a, last(a, axes))


def lstsq_inverse(a, rcond):
    """What ``np.linalg.lstsq(a, b, rcond)`` multiplies `b` by."""
    if rcond is None:
        rcond = np.finfo(a.dtype).eps * max(np.shape(a))
    return np.linalg.pinv(a, rcond)


def lstsq_adjoint_b(x_bar, squares_bar, x, squares, a, b, rcond):
    """The adjoint of `b` in ``x, squares, _, _ = np.linalg.lstsq(a, b, rcond)``."""
    b_bar = np.zeros_like(b)
    if x_bar is not None:
        b_bar = b_bar + np.transpose(lstsq_inverse(a, rcond)) @ x_bar
    if squares_bar is not None and np.size(squares):
        b_bar = b_bar + 2.0 * np.real(squares_bar) * np.conj(b - a @ x)
    return b_bar


def lstsq_adjoint_a(x_bar, squares_bar, s_bar, x, squares, a, b, rcond):
    """The adjoint of `a` in ``x, squares, _, s = np.linalg.lstsq(a, b, rcond)``.

    Golub and Pereyra (1973); the residual changes by no more than `a` does.
    """
    a_bar = np.zeros_like(a)
    if s_bar is not None:
        a_bar = a_bar + svdvals_adjoint(s_bar, a)
    columns = np.reshape(x, (np.shape(a)[1], -1))
    residual = np.reshape(b - a @ x, (np.shape(a)[0], -1))
    if squares_bar is not None and np.size(squares):
        weighted = -2.0 * np.real(squares_bar) * np.conj(residual)
        a_bar = a_bar + weighted @ np.transpose(columns)
    if x_bar is not None:
        inverse = lstsq_inverse(a, rcond)
        g = np.conj(np.reshape(x_bar, np.shape(columns)))
        ah, ih = adjugated(a), adjugated(inverse)
        found = residual @ adjugated(inverse @ (ih @ g))
        found = found + ih @ columns @ adjugated(g - ah @ (ih @ g))
        found = found - ih @ g @ adjugated(columns)
        a_bar = a_bar + np.conj(found)
    return a_bar


def lstsq_tangent(a_dot, b_dot, x, squares, a, b, rcond):
    """The tangents of ``x, squares, rank, s = np.linalg.lstsq(a, b, rcond)``."""
    a_dot, b_dot = a_dot + np.zeros_like(a), b_dot + np.zeros_like(b)
    columns = np.reshape(x, (np.shape(a)[1], -1))
    residual = np.reshape(b - a @ x, (np.shape(a)[0], -1))
    moved = np.reshape(b_dot - a_dot @ x, np.shape(residual))
    inverse, turned = lstsq_inverse(a, rcond), adjugated(a_dot)
    x_dot = inverse @ (moved + adjugated(inverse) @ (turned @ residual))
    outside = turned @ (adjugated(inverse) @ columns)
    x_dot = x_dot + outside - inverse @ (a @ outside)
    squares_dot = 2.0 * np.sum(np.real(np.conj(residual) * moved), axis=0)
    if np.size(squares) == 0:
        squares_dot = np.zeros_like(squares)
    return np.reshape(x_dot, np.shape(x)), squares_dot, 0, svdvals_tangent(a_dot, a)
