"""Functions that emitted code calls for the rules of `scipy.integrate`.

They are made of functions that have rules, so that their own derivatives follow.
"""

from __future__ import annotations

import numpy as np
from scipy import integrate


def spacing(y, x, dx, axis):
    """The widths of the intervals between the points of `y`, along the last axis."""
    if x is None:
        return dx * np.ones_like(y, shape=np.shape(y)[axis] - 1)
    return (
        np.diff(x) if np.ndim(x) == 1 else np.moveaxis(np.diff(x, axis=axis), axis, -1)
    )


def trapezoid_adjoint_y(g, y, x=None, dx=1.0, axis=-1):
    """The adjoint of `y` in ``integrate.trapezoid(y, x, dx, axis)``."""
    shares = 0.5 * np.expand_dims(g, -1) * spacing(y, x, dx, axis)
    edge = np.zeros_like(shares[..., :1])
    left = np.concatenate([shares, edge], -1)
    return np.moveaxis(left + np.concatenate([edge, shares], -1), -1, axis)


def trapezoid_adjoint_x(g, y, x, axis=-1):
    """The adjoint of `x` in ``integrate.trapezoid(y, x, axis=axis)``."""
    rows = np.moveaxis(y, axis, -1)
    shares = 0.5 * np.expand_dims(g, -1) * (rows[..., 1:] + rows[..., :-1])
    edge = np.zeros_like(shares[..., :1])
    rows_bar = np.concatenate([edge, shares], -1) - np.concatenate([shares, edge], -1)
    if np.ndim(x) == 1:
        return np.sum(np.reshape(rows_bar, (-1, np.shape(x)[0])), 0)
    return np.moveaxis(rows_bar, -1, axis)


def simpson_adjoint(g, y, x=None, dx=1.0, axis=-1):
    """The adjoint of `y` in ``integrate.simpson(y, x, dx, axis)``."""
    points = x if x is None or np.ndim(x) == 1 else None
    if points is None and x is not None:
        raise NotImplementedError("the adjoint of simpson with `x` of several axes")
    units = np.eye(np.shape(y)[axis], dtype=y.dtype)
    weights = integrate.simpson(units, x=points, dx=dx)
    return np.moveaxis(np.expand_dims(g, -1) * weights, -1, axis)
