"""Functions that emitted code calls for rules of elementwise functions.

Where one element is chosen among several, or where a derivative is a function that
NumPy does not have.  `g` is the adjoint of the result.
"""

from __future__ import annotations

import math

import numpy as np

from .runtime import unbroadcast
from .runtime_rules import scatter


def like(items, bars):
    """The list `bars` as an array, tuple or list, as `items` is."""
    if isinstance(items, np.ndarray):
        return np.array(bars)
    return tuple(bars) if isinstance(items, tuple) else bars


# Choices.


def unchosen(condlist):
    """Where none of the conditions holds."""
    free = True
    for condition in condlist:
        free = np.logical_and(free, np.logical_not(condition))
    return free


def select_adjoint(g, condlist, choicelist):
    """The adjoints of the choices in ``np.select(condlist, choicelist)``."""
    bars = []
    for i, choice in enumerate(choicelist):
        chosen = np.logical_and(unchosen(condlist[:i]), condlist[i])
        bars.append(unbroadcast(np.where(chosen, g, 0.0), choice))
    return bars


def choose_adjoint(g, a, choices, mode="raise"):
    """The adjoints of the choices in ``np.choose(a, choices)``."""
    if mode == "wrap":
        a = np.mod(a, len(choices))
    elif mode == "clip":
        a = np.clip(a, 0, len(choices) - 1)
    bars = [
        unbroadcast(np.where(np.equal(a, i), g, 0.0), x) for i, x in enumerate(choices)
    ]
    return like(choices, bars)


def extremum_adjoint(g, y, items):
    """The adjoints of items of which `y` is the largest or the least."""
    hits = [1.0 * (item == y) for item in items]
    count = sum(hits)
    bars = [g * hit / count for hit in hits]
    return like(items, bars)


def extremum_tangent(y, items, dots):
    """The tangent of `y`, the largest or the least of `items`."""
    total, count = 0.0, 0
    for item, dot in zip(items, dots):
        if item == y:
            total, count = total + dot, count + 1
    return total / count


# Sequences of numbers.


def prod_adjoint(g, iterable):
    """The adjoints of the items in ``math.prod(iterable)``."""
    n = len(iterable)
    others = [math.prod(iterable[:i]) * math.prod(iterable[i + 1 :]) for i in range(n)]
    return like(iterable, [g * other for other in others])


def prod_change(iterable, dots):
    """The tangent of ``math.prod(iterable)``."""
    total, change = 1.0, 0.0
    for x, dot in zip(iterable, dots):
        total, change = total * x, change * x + total * dot
    return change


def dist_adjoint(g, y, p, q):
    """The adjoint of `p` in ``y = math.dist(p, q)``."""
    bars = [g * (a - b) / (y + (y == 0)) for a, b in zip(p, q)]
    return like(p, bars)


def dist_change(y, p, q, dots):
    """The tangent of ``y = math.dist(p, q)`` as `p` moves."""
    change = sum((a - b) * dot for a, b, dot in zip(p, q, dots))
    return change / (y + (y == 0))


# Interpolation.


def interp_places(x, xp):
    """The intervals between `xp` that hold `x`, and whether `x` is inside at all."""
    places = np.clip(np.searchsorted(xp, x, side="right") - 1, 0, len(xp) - 2)
    return places, np.logical_and(x >= xp[0], x <= xp[-1])


def interp_slopes(x, xp, fp):
    """The slope of ``np.interp(x, xp, fp)``."""
    i, inside = interp_places(x, xp)
    return np.where(inside, (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i]), 0.0)


def interp_shares(x, xp):
    """How far `x` lies in its interval, from 0 to 1."""
    i, _ = interp_places(x, xp)
    return np.clip((x - xp[i]) / (xp[i + 1] - xp[i]), 0.0, 1.0)


def interp_adjoint_xp(g, x, xp, fp):
    """The adjoint of `xp` in ``np.interp(x, xp, fp)``."""
    i, _ = interp_places(x, xp)
    share, each = interp_shares(x, xp), -g * interp_slopes(x, xp, fp)
    return scatter(each * (1.0 - share), xp, i) + scatter(each * share, xp, i + 1)


def interp_adjoint_fp(g, x, xp, fp, left=None, right=None):
    """The adjoint of `fp` in ``np.interp(x, xp, fp, left, right)``."""
    i, _ = interp_places(x, xp)
    share = interp_shares(x, xp)
    if left is not None:
        g = np.where(x < xp[0], 0.0, g)
    if right is not None:
        g = np.where(x > xp[-1], 0.0, g)
    return scatter(g * (1.0 - share), fp, i) + scatter(g * share, fp, i + 1)


def interp_tangent_fp(x, xp, dots, left=None, right=None):
    """The tangent of ``np.interp(x, xp, fp, left, right)`` as `fp` moves."""
    if left is not None:
        left = 0.0
    if right is not None:
        right = 0.0
    return np.interp(x, xp, dots, left, right)


# Methods of ufuncs.


def running_places(y, a, axis=0):
    """Where along `axis` the extrema `y` of `a` so far were first met."""
    rows = np.moveaxis(y, axis, 0)
    changed = np.ones(np.shape(rows), bool)
    changed[1:] = rows[1:] != rows[:-1]
    order = np.reshape(np.arange(len(rows)), (-1,) + (1,) * (np.ndim(a) - 1))
    places = np.maximum.accumulate(np.where(changed, order, 0), 0)
    return np.moveaxis(places, 0, axis)


def reduceat_adjoint(g, array, indices, axis=0):
    """The adjoint of ``np.add.reduceat(array, indices, axis)``."""
    array_bar = np.zeros_like(array)
    rows, rows_bar = np.moveaxis(array_bar, axis, 0), np.moveaxis(g, axis, 0)
    stops = [*indices[1:], len(rows)]
    for k, (start, stop) in enumerate(zip(indices, stops)):
        rows[start : max(stop, start + 1)] += rows_bar[k]
    return array_bar


# Functions.


def bessel_i1(x):
    """The modified Bessel function of order 1, the derivative of ``np.i0``."""
    # The mean over a period, by the midpoint rule: exact to rounding up to x = 700.
    cosines = np.cos(np.pi / 256 * (np.arange(256) + 0.5))
    return np.mean(np.exp(np.expand_dims(x, -1) * cosines) * cosines, -1)


def sinc_slope(x):
    """The derivative of ``np.sinc``."""
    # Near 0, where the quotient loses digits, its power series.
    small = np.abs(x) < 0.02
    z = (np.pi * x) ** 2
    series = -np.pi * np.pi * x * (1 / 3 - z * (1 / 30 - z * (1 / 840 - z / 45360)))
    far = np.where(small, 1.0, x)
    return np.where(small, series, (np.cos(np.pi * far) - np.sinc(far)) / far)


def digamma(x):
    """The derivative of ``math.lgamma``."""
    # Psi(1 - x) = psi(x) + pi / tan(pi x), and psi(x + 1) = psi(x) + 1 / x.
    total, y = 0.0, x
    if x < 0.5:
        total, y = -math.pi / math.tan(math.pi * x), 1.0 - x
    while y < 10.0:
        total, y = total - 1.0 / y, y + 1.0
    z = 1.0 / (y * y)
    tail = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132)))))
    return total + math.log(y) - 0.5 / y - tail
