"""Functions of vectors and matrices."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rosenbrock(x: Array) -> float:
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def rastrigin(x):
    return 10.0 * len(x) + np.sum(x**2 - 10.0 * np.cos(2.0 * np.pi * x))


def quadratic_form(x, a):
    return x @ a @ x


def mahalanobis(x: Array, data: Array) -> float:
    """The squared distance of `x` from a cloud of points, in its own metric."""
    mean = data.mean(axis=0)
    centred = data - mean
    cov = centred.T @ centred / (len(data) - 1)
    d = x - mean
    return d @ np.linalg.solve(cov, d)


def gaussian_loglik(mean: Array, cov: Array, x: Array) -> float:
    d = x - mean
    _, logdet = np.linalg.slogdet(cov)
    maha = np.sum(d * np.linalg.solve(cov, d.T).T)
    return -0.5 * (len(x) * logdet + maha)


def gp_loglik(length, noise, x, y):
    """The log marginal likelihood of a Gaussian process."""
    gap = x[:, None] - x[None, :]
    k = np.exp(-0.5 * (gap / length) ** 2) + noise * np.eye(len(x))
    chol = np.linalg.cholesky(k)
    alpha = np.linalg.solve(chol, y)
    return -0.5 * alpha @ alpha - np.sum(np.log(np.diag(chol)))


def pairwise_energy(x):
    """The energy of charges, without a loop."""
    gap = x[:, None, :] - x[None, :, :]
    square = np.sum(gap**2, axis=-1) + np.eye(len(x))
    return 0.5 * np.sum(1.0 / np.sqrt(square)) - 0.5 * len(x)


def total_variation(image, eps):
    dx = image[:, 1:] - image[:, :-1]
    dy = image[1:, :] - image[:-1, :]
    return np.sum(np.sqrt(dx[:-1, :] ** 2 + dy[:, :-1] ** 2 + eps))


def chain(x):
    """An array method after another."""
    return (x.T @ x).sum(axis=0).mean() * x.max()


def projectile(v: Array, drag: float) -> Array:
    """A vector as the result."""
    speed = np.linalg.norm(v)
    return np.concatenate([v * (1.0 - drag * speed), v[::-1]])
