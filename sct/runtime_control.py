"""What the user steers derivatives with, and the loops behind it.

In code that is not differentiated these are plain functions.  Emitted code calls them
as well, so each is short and complete in itself.
"""

from __future__ import annotations

import numpy as np

from .errors import ConvergenceError
from .runtime_operators import is_inexact


def stop_gradient(x):
    """Return `x`, held constant: no derivative goes back through it."""
    return x


def resolution(z):
    """Return the relative distance of neighbouring numbers like those in `z`."""
    return float(np.finfo(z.dtype if hasattr(z, "dtype") else float).eps)


def fixed_point(g, z0, /, *params, tol=1e-12, max_iter=1000, solve=None):
    """Return the `z` with ``z = g(z, *params)`` that iteration from `z0` leads to."""
    z = z0 if is_inexact(z0) else z0 + 0.0
    for _ in range(max_iter):
        before, z = z, g(z, *params)
        bound = max(tol, 4.0 * resolution(z)) * (1.0 + np.max(np.abs(z)))
        if np.max(np.abs(z - before)) <= bound:
            return z
    raise ConvergenceError(f"no fixed point was reached in {max_iter} iterations")


def root(f, z0, /, *params, tol=1e-12, max_iter=100, solve=None):
    """Return a `z` with ``f(z, *params) = 0``, found by Newton's method from `z0`."""
    z = z0 if is_inexact(z0) else z0 + 0.0
    here = f(z, *params)
    for _ in range(max_iter):
        step, share = newton_step(f, z, here, params), 1.0
        bound = max(tol, 4.0 * resolution(z)) * (1.0 + np.max(np.abs(z)))
        if np.max(np.abs(step)) <= bound:
            return z - step
        size = np.max(np.abs(here))
        after = f(z - step, *params)
        while not np.max(np.abs(after)) < size and share > 1e-3:
            share = 0.5 * share
            after = f(z - share * step, *params)
        z, here = z - share * step, after
    raise ConvergenceError(f"no root was reached in {max_iter} iterations")


def newton_step(f, z, here, params):
    """Return what Newton's method subtracts from `z`, where `f` has the value `here`.

    The Jacobian is one of differences.
    """
    width = resolution(z) ** 0.5
    if not getattr(z, "shape", ()):
        h = width * (1.0 + abs(z))
        return here * h / (f(z + h, *params) - here)
    flat, columns = z.reshape(-1), []
    for k in range(z.size):
        moved = flat.copy()
        moved[k] += width * (1.0 + abs(flat[k]))
        column = f(moved.reshape(z.shape), *params) - here
        columns.append(column.reshape(-1) / (moved[k] - flat[k]))
    step = np.linalg.solve(np.stack(columns, axis=-1), here.reshape(-1))
    return step.reshape(z.shape)


def solve_jacobian(jacobian, b):
    """Return the `u` with ``jacobian @ u = b``, of the shape of `b`."""
    shape = getattr(b, "shape", ())
    if not shape:
        return b / jacobian
    matrix = np.reshape(jacobian, (b.size, b.size))
    return np.reshape(np.linalg.solve(matrix, np.reshape(b, (-1,))), shape)


def solve_transposed(jacobian, b):
    """Return the `u` with ``u @ jacobian = b``, of the shape of `b`."""
    shape = getattr(b, "shape", ())
    if not shape:
        return b / jacobian
    matrix = np.reshape(jacobian, (b.size, b.size))
    return np.reshape(np.linalg.solve(matrix.T, np.reshape(b, (-1,))), shape)
