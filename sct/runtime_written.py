"""Functions of NumPy's, written again in what can be differentiated.

Each has the parameters and the result of the one of its name::

    def polyder(p, m=1):
        for _ in range(m):
            p = p[:-1] * np.arange(len(p) - 1, 0, -1)
        return p
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Return ``np.logspace(start, stop, ...)``."""
    levels = np.linspace(start, stop, num, endpoint, axis=axis)
    base = base if np.ndim(base) == 0 else np.expand_dims(base, axis)
    made = np.power(base, levels)
    return made if dtype is None else made.astype(dtype)


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Return ``np.geomspace(start, stop, ...)``, of real numbers."""
    sign = np.sign(start)
    low, high = np.log10(sign * start), np.log10(sign * stop)
    made = sign * np.power(10.0, np.linspace(low, high, num, endpoint, axis=axis))
    return made if dtype is None else made.astype(dtype)


def kaiser(M, beta):
    """Return ``np.kaiser(M, beta)``."""
    if M == 1:
        return np.ones(1)
    half = (M - 1) / 2.0
    place = (np.arange(M) - half) / half
    return np.i0(beta * np.sqrt(1.0 - place**2)) / np.i0(beta)


def cov(
    m,
    y=None,
    rowvar=True,
    bias=False,
    ddof=None,
    fweights=None,
    aweights=None,
    *,
    dtype=None,
):
    """Return ``np.cov(m, y, ...)``."""
    rows = np.atleast_2d(np.asarray(m))
    if not rowvar and np.ndim(m) != 1:
        rows = rows.T
    if y is not None:
        more = np.atleast_2d(np.asarray(y))
        if not rowvar and len(more) != 1:
            more = more.T
        rows = np.concatenate((rows, more))
    rows = rows.astype(np.result_type(rows, np.float64) if dtype is None else dtype)
    ddof = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        rows = rows - np.mean(rows, axis=1, keepdims=True)
        return np.squeeze(rows @ np.conj(rows.T) / max(rows.shape[1] - ddof, 0))
    if aweights is None:
        w = np.asarray(fweights)
        freedom = np.sum(w) - ddof
    else:
        w = np.asarray(aweights) if fweights is None else fweights * aweights
        freedom = np.sum(w) - ddof * np.sum(w * aweights) / np.sum(w)
    rows = rows - np.average(rows, axis=1, weights=w)[:, None]
    made = (rows * w) @ np.conj(rows.T) / np.maximum(freedom, 0.0)
    return np.squeeze(made.astype(rows.dtype))


def corrcoef(x, y=None, rowvar=True):
    """Return ``np.corrcoef(x, y, rowvar)``."""
    c = np.cov(x, y, rowvar)
    if np.ndim(c) == 0:
        return c / c
    spread = np.sqrt(np.diag(c))
    return np.clip(c / spread[:, None] / spread[None, :], -1.0, 1.0)


def interp(x, xp, fp, left=None, right=None, period=None):
    """Return ``np.interp(x, xp, fp, period=period)``."""
    x, xp = x % period, xp % period
    order = np.argsort(xp)
    xp, fp = xp[order], fp[order]
    xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
    fp = np.concatenate((fp[-1:], fp, fp[:1]))
    return np.interp(x, xp, fp)


def sort_complex(a):
    """Return ``np.sort_complex(a)``."""
    made = np.sort(a)
    return made if np.iscomplexobj(made) else made.astype(np.complex128)


# Polynomials, the highest coefficient first.


def polyadd(a1, a2):
    """Return ``np.polyadd(a1, a2)``."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    size = max(len(a1), len(a2))
    first = np.concatenate((np.zeros(size - len(a1), a1.dtype), a1))
    return first + np.concatenate((np.zeros(size - len(a2), a2.dtype), a2))


def polysub(a1, a2):
    """Return ``np.polysub(a1, a2)``."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    size = max(len(a1), len(a2))
    first = np.concatenate((np.zeros(size - len(a1), a1.dtype), a1))
    return first - np.concatenate((np.zeros(size - len(a2), a2.dtype), a2))


def polymul(a1, a2):
    """Return ``np.polymul(a1, a2)``."""
    a1, a2 = (
        np.trim_zeros(np.atleast_1d(a1), "f"),
        np.trim_zeros(np.atleast_1d(a2), "f"),
    )
    return np.convolve(a1, a2) if len(a1) and len(a2) else np.zeros(1)


def polyder(p, m=1):
    """Return ``np.polyder(p, m)``."""
    for _ in range(m):
        p = p[:-1] * np.arange(len(p) - 1, 0, -1)
    return p


def polyint(p, m=1, k=None):
    """Return ``np.polyint(p, m, k)``."""
    k = np.zeros(m) if k is None else np.atleast_1d(k) + np.zeros(m)
    for i in range(m):
        p = np.concatenate((p / np.arange(len(p), 0, -1), k[i : i + 1]))
    return p


def polydiv(u, v):
    """Return ``np.polydiv(u, v)``."""
    u, v = np.atleast_1d(u), np.atleast_1d(v)
    m, n = len(u) - 1, len(v) - 1
    r = u + 0.0 * v[0]
    q = np.zeros(max(m - n + 1, 1), r.dtype)
    for k in range(m - n + 1):
        q[k] = r[k] / v[0]
        r[k : k + n + 1] -= q[k] * v
    start = 0
    while start < len(r) - 1 and np.allclose(r[start], 0, rtol=1e-14):
        start += 1
    return q, r[start:]


def poly(seq_of_zeros):
    """Return ``np.poly(seq_of_zeros)``, of a vector."""
    if np.ndim(seq_of_zeros) != 1:
        raise ArgumentError(
            "np.poly of a matrix has no derivative here; pass its eigenvalues"
        )
    one = np.ones(1, seq_of_zeros.dtype)
    a = one
    for i in range(len(seq_of_zeros)):
        a = np.convolve(a, np.concatenate((one, -seq_of_zeros[i : i + 1])))
    return a


def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """Return ``np.polyfit(x, y, deg, w=w)``, the coefficients alone."""
    if full or cov:
        raise ArgumentError("np.polyfit has a derivative without `full` and `cov`")
    columns = np.vander(x, deg + 1)
    if w is not None:
        columns = w[:, None] * columns
        y = (y.T * w).T
    scale = np.sqrt(np.sum(columns * columns, axis=0))
    made = np.linalg.lstsq(columns / scale, y, rcond)[0]
    return (made.T / scale).T


def roots(p):
    """Return ``np.roots(p)``."""
    p = np.atleast_1d(np.asarray(p))
    places = np.flatnonzero(p)
    if len(places) == 0:
        return np.zeros(0)
    zeros = np.zeros(len(p) - 1 - places[-1])
    p = p[places[0] : places[-1] + 1]
    n = len(p) - 1
    if n == 0:
        return zeros
    companion = np.vstack((-p[1:] / p[0], np.eye(n, k=-1)[1:]))
    return np.hstack((np.linalg.eigvals(companion), zeros))


# Polynomials, the lowest coefficient first.


def polyval(x, c, tensor=True):
    """Return ``np.polynomial.polynomial.polyval(x, c, tensor)``."""
    if np.ndim(c) == 1:
        return np.polyval(np.flip(c), x)
    c = np.reshape(c, np.shape(c) + (1,) * (np.ndim(x) if tensor else 0))
    y = c[-1] + np.multiply(0.0, x)
    for i in range(2, len(c) + 1):
        y = c[-i] + np.multiply(y, x)
    return y
