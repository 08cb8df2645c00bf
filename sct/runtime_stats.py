"""Functions that emitted code calls where a rule of `scipy.stats` needs several steps.

They are made of functions that have rules, so that their own derivatives follow.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from .runtime_special import betainc_in_a


def t_cdf_in_df(z, df):
    """The derivative in `df` of the distribution function of Student's t at `z`.

    Beyond z > 0 lies half of I(df / 2, 1 / 2) at df / (df + z²); below, as much.  At
    0 it is 1 / 2 whatever `df` is.
    """
    apart = z != 0
    z = np.where(apart, z, 1.0)
    p = df / (df + z * z)
    logs = (0.5 * df - 1.0) * np.log(p) - 0.5 * np.log1p(-p)
    density = np.exp(logs - special.betaln(0.5 * df, 0.5))
    tail = 0.5 * betainc_in_a(0.5 * df, 0.5, p) + density * z * z / (df + z * z) ** 2
    return np.where(apart, -0.5 * np.sign(z) * tail, 0.0)


def normal_rows(x, mean, cov):
    """The points of a multivariate normal as rows from its mean, and its covariance."""
    if mean is not None:
        size = np.size(mean)
    else:
        size = np.shape(cov)[0] if np.ndim(cov) == 2 else 1
    matrix = cov if np.ndim(cov) == 2 else cov * np.eye(size)
    rows = np.reshape(x, (-1, size))
    return rows if mean is None else rows - np.reshape(mean, (size,)), matrix


def normal_scores(g, x, mean, cov):
    """The adjoints of the points of ``stats.multivariate_normal.logpdf``, as rows."""
    rows, matrix = normal_rows(x, mean, cov)
    return np.reshape(g, (-1, 1)) * -np.linalg.solve(matrix, rows.T).T


def normal_adjoint_x(g, x, mean, cov):
    """The adjoint of `x` in ``stats.multivariate_normal.logpdf(x, mean, cov)``."""
    return np.reshape(normal_scores(g, x, mean, cov), np.shape(x))


def normal_adjoint_mean(g, x, mean, cov):
    """The adjoint of `mean` in ``stats.multivariate_normal.logpdf(x, mean, cov)``."""
    rows_bar = normal_scores(g, x, mean, cov)
    return np.reshape(-np.sum(rows_bar, axis=0), np.shape(mean))


def normal_adjoint_cov(g, x, mean, cov):
    """The adjoint of `cov` in ``stats.multivariate_normal.logpdf(x, mean, cov)``."""
    rows, matrix = normal_rows(x, mean, cov)
    inverse = np.linalg.inv(matrix)
    rows_bar = normal_scores(g, x, mean, cov)
    cov_bar = -0.5 * (inverse.T @ (rows.T @ rows_bar) + np.sum(g) * inverse.T)
    if np.ndim(cov) == 2:
        return cov_bar
    return np.trace(cov_bar) if np.ndim(cov) == 0 else np.diag(cov_bar)


def normal_tangent_x(x_dot, y, x, mean, cov):
    """The change of ``y = multivariate_normal.logpdf(x, mean, cov)`` with `x`."""
    rows = normal_scores(1.0, x, mean, cov)
    return np.reshape(np.sum(rows * np.reshape(x_dot, np.shape(rows)), 1), np.shape(y))


def normal_tangent_mean(mean_dot, y, x, mean, cov):
    """The change of ``y = multivariate_normal.logpdf(x, mean, cov)`` with `mean`."""
    rows = normal_scores(1.0, x, mean, cov)
    return -np.reshape(np.sum(rows * np.reshape(mean_dot, (-1,)), 1), np.shape(y))


def normal_tangent_cov(cov_dot, y, x, mean, cov):
    """The change of ``y = multivariate_normal.logpdf(x, mean, cov)`` with `cov`."""
    matrix = normal_rows(x, mean, cov)[1]
    change = cov_dot if np.ndim(cov) == 2 else cov_dot * np.eye(np.shape(matrix)[0])
    rows = normal_scores(1.0, x, mean, cov)
    squares = np.sum(rows @ change * rows, 1)
    trace = np.trace(np.linalg.solve(matrix, change))
    return np.reshape(0.5 * (squares - trace), np.shape(y))


def dirichlet_rows(x, alpha):
    """The coordinates of the points of a Dirichlet distribution, the last included."""
    if np.shape(x)[0] == np.shape(alpha)[0]:
        return x
    return np.concatenate([x, 1.0 - np.sum(x, axis=0, keepdims=True)])


def dirichlet_adjoint_x(g, x, alpha):
    """The adjoint of `x` in ``stats.dirichlet.logpdf(x, alpha)``."""
    rows = dirichlet_rows(x, alpha)
    rows_bar = g * ((alpha - 1.0) / rows.T).T
    if np.shape(x)[0] == np.shape(alpha)[0]:
        return rows_bar
    return rows_bar[:-1] - rows_bar[-1:]


def dirichlet_adjoint_alpha(g, x, alpha):
    """The adjoint of `alpha` in ``stats.dirichlet.logpdf(x, alpha)``."""
    logs = np.log(dirichlet_rows(x, alpha))
    means = special.digamma(alpha) - special.digamma(np.sum(alpha))
    return np.sum(np.reshape(g * logs, (np.size(alpha), -1)), 1) - np.sum(g) * means


def dirichlet_tangent_x(x_dot, x, alpha):
    """The change of ``stats.dirichlet.logpdf(x, alpha)`` with `x`."""
    rows, rows_dot = dirichlet_rows(x, alpha), x_dot
    if np.shape(x)[0] != np.shape(alpha)[0]:
        rows_dot = np.concatenate([x_dot, -np.sum(x_dot, axis=0, keepdims=True)])
    return np.sum(((alpha - 1.0) / rows.T).T * rows_dot, axis=0)


def dirichlet_tangent_alpha(alpha_dot, x, alpha):
    """The change of ``stats.dirichlet.logpdf(x, alpha)`` with `alpha`."""
    logs = np.log(dirichlet_rows(x, alpha))
    means = special.digamma(alpha) - special.digamma(np.sum(alpha))
    return np.sum(alpha_dot * (logs.T - means), axis=-1)
