"""Functions that emitted code calls for reductions, order statistics and scans.

Each is plain NumPy, as in `runtime_rules`::

    low, high = quantile_places(x, 0.25, 0)
    part = quantile_part(x, 0.25, 0)
    x_bar = take_adjoint((1.0 - part) * q_bar, x, low)  # and the same of `high`

What a reduction was told to leave out, by ``where=`` or as nan, is `where` here: None
for nothing.
"""

from __future__ import annotations

import numpy as np

from .runtime import unbroadcast
from .runtime_rules import product_of_others, size_along


def put_back(g, axis=None, keepdims=False):
    """Return a reduced `g` with the axes that it lost, of length one."""
    return g if axis is None or keepdims else np.expand_dims(g, axis)


def observed(a, where=None):
    """Where `a` is a number and selected."""
    found = ~np.isnan(a)
    return found if where is None else found & where


def count_along(a, axis=None, where=None):
    """How many elements along `axis` are selected: kept axes, at least one each."""
    chosen = np.broadcast_to(True if where is None else where, np.shape(a))
    return np.maximum(np.sum(chosen, axis, dtype=a.dtype, keepdims=True), 1)


def masked(g, a, where):
    """Return `g` where selected and 0 elsewhere, in the shape of `a`."""
    return np.where(where, g, np.zeros_like(a))


def deviations(a, axis=None, where=None, mean=None):
    """What each element is away from the mean along `axis`; 0 where not selected."""
    if where is None:
        return a - (np.mean(a, axis, keepdims=True) if mean is None else mean)
    chosen = np.where(where, a, np.zeros_like(a))
    if mean is None:
        mean = np.sum(chosen, axis, keepdims=True) / count_along(a, axis, where)
    return np.where(where, a - mean, np.zeros_like(a))


def freedom(a, axis=None, ddof=0, where=None):
    """The divisor of a variance along `axis`: kept axes."""
    return count_along(a, axis, where) - ddof


def extremum_shares(y, a, axis=None, keepdims=False, initial=None, where=None):
    """What each element counts for in the extremum `y`: those that tie, equally."""
    y = put_back(y, axis, keepdims)
    hit = np.equal(a, y)
    if where is not None:
        hit = hit & where
    hit = hit.astype(np.asarray(y).dtype)
    ties = np.sum(hit, axis, keepdims=True)
    if initial is not None:
        ties = ties + (initial == y)
    return hit / np.maximum(ties, 1)


def initial_shares(y, a, axis=None, keepdims=False, initial=None, where=None):
    """What `initial` counts for in the extremum `y`, which is 1 or 0, or a tie."""
    shares = extremum_shares(y, a, axis, keepdims, initial, where)
    return 1.0 - np.sum(shares, axis, keepdims=keepdims)


def selected_or_1(a, where=None):
    """The factors of a product, 1 where not selected."""
    return a if where is None else np.where(where, a, np.ones_like(a))


def product_shares(a, axis=None, initial=None, where=None):
    """For each element the product of all others along `axis` and of `initial`."""
    others = product_of_others(selected_or_1(a, where), axis)
    if initial is not None:
        others = others * initial
    return others if where is None else np.where(where, others, np.zeros_like(a))


def aligned_weights(a, axis, weights):
    """The weights of ``np.average(a, axis, weights)``, to be broadcast with `a`."""
    if axis is None or np.shape(weights) == np.shape(a):
        return weights
    axes = np.mod(axis if isinstance(axis, tuple) else (axis,), np.ndim(a))
    others = tuple(i for i in range(np.ndim(a)) if i not in axes)
    return np.expand_dims(np.transpose(weights, np.argsort(axes)), others)


def weights_adjoint(g, y, a, axis, weights, keepdims=False):
    """The adjoint of `weights` in ``y = np.average(a, axis, weights)``."""
    spread = aligned_weights(a, axis, weights)
    away = a - put_back(y, axis, keepdims)
    share = put_back(g, axis, keepdims) / np.sum(spread, axis, keepdims=True)
    whole = unbroadcast(share * away, spread)
    if axis is None or np.shape(weights) == np.shape(a):
        return whole
    axes = np.mod(axis if isinstance(axis, tuple) else (axis,), np.ndim(a))
    others = tuple(i for i in range(np.ndim(a)) if i not in axes)
    return np.transpose(np.squeeze(whole, others), np.argsort(np.argsort(axes)))


def weights_tangent(dot, y, a, axis, weights, keepdims=False):
    """The change of ``y = np.average(a, axis, weights)`` as `weights` move by `dot`."""
    spread = aligned_weights(a, axis, weights)
    away = (a - put_back(y, axis, keepdims)) * aligned_weights(a, axis, dot)
    total = np.sum(spread, axis, keepdims=keepdims)
    return np.sum(away, axis, keepdims=keepdims) / total


# Order statistics.


def quantile_order(a, q, axis=None, keepdims=False, method="linear", where=None):
    """Where the quantiles of `a` stand: between which two elements, and at which part.

    The two are places in ``a.ravel()``.  The quantiles of ``arange(n)`` are places in
    the order; `where` selects what is ordered, which must come first.
    """
    axes = tuple(range(np.ndim(a))) if axis is None else axis
    axes = tuple(np.mod(axes if isinstance(axes, tuple) else (axes,), np.ndim(a)))
    kept = [n for i, n in enumerate(np.shape(a)) if i not in axes]
    last = tuple(range(-len(axes), 0))
    rows = np.reshape(np.moveaxis(a, axes, last), (*kept, -1))
    numbers = np.reshape(np.arange(np.size(a)), np.shape(a))
    numbers = np.reshape(np.moveaxis(numbers, axes, last), np.shape(rows))
    order = np.take_along_axis(numbers, np.argsort(rows, -1, kind="stable"), -1)
    size = np.shape(rows)[-1]
    counts = np.full(kept, size)
    if where is not None:
        whole = np.broadcast_to(where, np.shape(a))
        counts = np.sum(np.reshape(np.moveaxis(whole, axes, last), rows.shape), -1)
    levels = np.ravel(q)
    table = np.zeros((size + 1, np.size(levels)))
    for n in np.unique(counts):
        if n > 0:
            table[n] = np.quantile(np.arange(float(n)), levels, method=method)
    place = table[counts]
    low = np.floor(place).astype(int)
    low = np.minimum(low, np.maximum(counts[..., None] - 2, 0))
    high = np.minimum(low + 1, np.maximum(counts[..., None] - 1, 0))
    part = (place - low).astype(np.result_type(a, np.float16))
    shape = [1 if i in axes else n for i, n in enumerate(np.shape(a))]
    shape = (*np.shape(q), *(shape if keepdims else kept))
    found = [np.take_along_axis(order, low, -1), np.take_along_axis(order, high, -1)]
    return tuple(np.reshape(np.moveaxis(x, -1, 0), shape) for x in (*found, part))


def quantile_places(a, q, axis=None, keepdims=False, method="linear", where=None):
    """Where the quantiles of `a` stand in ``a.ravel()``: between which two elements."""
    return quantile_order(a, q, axis, keepdims, method, where)[:2]


def quantile_part(a, q, axis=None, keepdims=False, method="linear", where=None):
    """Which part of the way from the lower element to the upper a quantile is."""
    return quantile_order(a, q, axis, keepdims, method, where)[2]


def quantile_rise(a, q, axis=None, keepdims=False, method="linear", where=None):
    """How fast the place of a quantile in the order changes with `q`; 0 at jumps."""
    part = quantile_part(a, q, axis, keepdims, method, where)
    size = np.size(a) if axis is None else size_along(a, axis)
    rise = {"linear": size - 1, "hazen": size, "interpolated_inverted_cdf": size}
    rise |= {"weibull": size + 1, "median_unbiased": size + 1 / 3}
    rise |= {"normal_unbiased": size + 1 / 4}
    inside = (part > 0) & (part < 1) if method != "linear" else True
    return rise.get(method, 0) * inside * np.ones_like(part)


def levels_adjoint(g, q):
    """The adjoint of the levels `q`, whose quantiles come first in what `g` is of."""
    return np.sum(g, axis=tuple(range(np.ndim(q), np.ndim(g))))


def levels_like(dot, y):
    """Return `dot`, of levels `q`, with as many axes as their quantiles `y` have."""
    axes = (1,) * (np.ndim(y) - np.ndim(dot))
    return np.reshape(np.asarray(dot), np.shape(dot) + axes)


def places_in(a, y, axis=-1):
    """Where in ``a.ravel()`` each element of `y` stands, which is `a` put in order."""
    if axis is None:
        order = np.argsort(a, None, kind="stable")
        return order[np.argsort(np.argsort(y, kind="stable"), kind="stable")]
    numbers = np.reshape(np.arange(np.size(a)), np.shape(a))
    rank = np.argsort(np.argsort(y, axis, kind="stable"), axis, kind="stable")
    order = np.take_along_axis(np.argsort(a, axis, kind="stable"), rank, axis)
    return np.take_along_axis(numbers, order, axis)


def distinct_groups(a):
    """For each element the place of its value in ``np.unique(a)``, and the counts."""
    _, group, count = np.unique(a, return_inverse=True, return_counts=True)
    return np.reshape(group, np.shape(a)), count


def distinct_adjoint(g, a):
    """The adjoint of ``np.unique(a)``: equal elements share."""
    group, count = distinct_groups(a)
    return np.take(g / count.astype(a.dtype), group)


def distinct_tangent(dot, a):
    """The change of ``np.unique(a)``."""
    group, count = distinct_groups(a)
    sums = np.bincount(np.ravel(group), np.ravel(dot), np.size(count))
    return (sums / count).astype(a.dtype)
