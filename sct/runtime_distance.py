"""Functions that emitted code calls for the rules of `scipy.spatial.distance`."""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError


def cdist_slopes(y, xa, xb, metric):
    """The derivatives of ``y = cdist(xa, xb, metric)`` by the differences of points."""
    change = xa[:, None] - xb
    if metric == "sqeuclidean":
        return 2.0 * change
    if metric == "euclidean":
        return change / np.expand_dims(np.where(y == 0, 1.0, y), -1)
    if metric == "cityblock":
        return np.sign(change)
    raise ArgumentError(f"cdist by the metric {metric!r} has no derivative")


def cdist_adjoint_a(g, y, xa, xb, metric="euclidean"):
    """The adjoint of `xa` in ``y = cdist(xa, xb, metric)``."""
    return np.sum(np.expand_dims(g, -1) * cdist_slopes(y, xa, xb, metric), axis=1)


def cdist_adjoint_b(g, y, xa, xb, metric="euclidean"):
    """The adjoint of `xb` in ``y = cdist(xa, xb, metric)``."""
    return -np.sum(np.expand_dims(g, -1) * cdist_slopes(y, xa, xb, metric), axis=0)
