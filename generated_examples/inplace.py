"""Functions that write into arrays."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def diffuse(u0: Array, c: float, steps: int) -> float:
    u = u0.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def seidel(a: Array, sweeps: int) -> float:
    """Averages of neighbours, some of them new already."""
    n = len(a)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                a[i, j] = 0.2 * (
                    a[i - 1, j] + a[i, j - 1] + a[i, j] + a[i, j + 1] + a[i + 1, j]
                )
    return np.sum(a * a)


def durbin(r: Array) -> float:
    """The solution of a Toeplitz system, by its order."""
    y = np.zeros_like(r)
    y[0] = alpha = -r[0]
    beta = 1.0
    for k in range(1, len(r)):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(r[k - 1 :: -1], y[:k])) / beta
        y[:k] += alpha * y[k - 1 :: -1]
        y[k] = alpha
    return np.sum(y * y)


def relax(u, f, h):
    """One sweep over a string under load, into `u`."""
    for i in range(1, len(u) - 1):
        u[i] = 0.5 * (u[i - 1] + u[i + 1] + h * h * f[i])


def hanging_string(load, h, sweeps):
    u = np.zeros_like(load)
    for _ in range(sweeps):
        relax(u, load, h)
    return np.sum(load * u)
