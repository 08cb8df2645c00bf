"""What a solver of SciPy has found, as a function of what it depends on.

Derivatives of these are made by `sct`: by the implicit function theorem, and by the
adjoint and the tangent of a differential equation.
"""

from __future__ import annotations

import numpy as np

from .runtime import unbroadcast
from .runtime_operators import entries, is_inexact, parts_of, with_parts


def solution(f, z, /, *params):
    """Return `z`, with ``f(z, *params) = 0``."""
    return z


def flow(fun, y, /, t, t_span, y0, *params, method="RK45", rtol=1e-3, atol=1e-6):
    """Return `y`, the columns of which solve ``dy/dt = fun(t, y, *params)`` at `t`."""
    return y


def trajectory(fun, y, /, t, y0, *params, rtol=1.49012e-8, atol=1.49012e-8):
    """Return `y`, the rows of which solve ``dy/dt = fun(y, t, *params)`` at `t`."""
    return y


def shaped_like(flat, x):
    """Return the numbers of `flat` in the shape and precision of `x`."""
    return unbroadcast(np.reshape(flat.copy(), np.shape(x))[()], x)


def row_of(x, like):
    """Return the numbers of `x`, the adjoint of what `like` is, in a row."""
    parts = parts_of(like)
    if parts is None:
        return np.ravel(x).copy() if is_inexact(like) else np.zeros(0)
    rows = [row_of(parts_of(x)[name], part) for name, part in parts.items()]
    return np.concatenate([np.zeros(0), *rows])


def filled_like(row, x):
    """Return the numbers of `row` as parts like those of `x`."""
    parts = parts_of(x)
    if parts is None:
        return shaped_like(row, x) if is_inexact(x) else None
    made = {}
    for name, part in parts.items():
        n = entries(part)
        made[name] = filled_like(row[:n], part)
        row = row[n:]
    return with_parts(x, made)
