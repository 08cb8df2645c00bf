"""Rules of functions that reduce along axes.

``s = np.sum(x, axis=1)``  →  ``x_bar = np.expand_dims(s_bar, 1)``

What a rule returns broadcasts to its operand; nothing is spread out without need.
Elements that tie for a maximum or minimum share its adjoint equally.
"""

from __future__ import annotations

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_reductions import (
    count_along,
    deviations,
    extremum_shares,
    freedom,
    initial_shares,
    masked,
    product_shares,
    put_back,
    selected_or_1,
    weights_adjoint,
    weights_tangent,
)
from sct.runtime_rules import (
    average_shares,
    cut,
    product_of_others,
    size_along,
)

from .registry import adjoint, given, nondifferentiable, tangent

nondifferentiable(
    *(np.argmax, np.argmin, np.nanargmax, np.nanargmin, np.count_nonzero, np.nonzero),
    *(np.any, np.all, np.argwhere, np.flatnonzero, np.digitize, np.searchsorted),
    *(np.argsort, np.argpartition, np.lexsort),
)


@adjoint(np.sum, wrt=("a", "initial"), zero=("dtype",), full="axis", linear="initial")
def sum(
    out, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=None, out_bar
):
    if axis is None or keepdims:
        a_bar = out_bar
    else:
        a_bar = np.expand_dims(out_bar, axis)
    if given(where):
        a_bar = masked(a_bar, a, where)
    initial_bar = np.sum(out_bar)
    return a_bar, initial_bar


@tangent(np.sum)
def sum_tangent(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    keepdims=False,
    initial=None,
    where=None,
    a_dot,
    initial_dot,
):
    if given(where):
        from_a = np.sum(a_dot, axis, keepdims=keepdims, where=where)
    else:
        from_a = np.sum(a_dot, axis, keepdims=keepdims)
    from_initial = initial_dot + np.zeros_like(out)
    return from_a, from_initial


@adjoint(np.mean, wrt=("a",), zero=("dtype",), full="axis", linear=True)
def mean(out, a, axis=None, dtype=None, *, keepdims=False, where=None, out_bar):
    if given(where):
        rows_bar = put_back(out_bar, axis, keepdims) / count_along(a, axis, where)
        a_bar = masked(rows_bar, a, where)
    elif axis is None:
        a_bar = out_bar / np.size(a)
    elif keepdims:
        a_bar = out_bar / size_along(a, axis)
    else:
        a_bar = np.expand_dims(out_bar, axis) / size_along(a, axis)
    return a_bar


@adjoint(np.average, wrt=("a", "weights"), full="axis", linear="weights")
def average(out, a, axis=None, weights=None, *, keepdims=False, out_bar):
    if given(weights):
        a_bar = put_back(out_bar, axis, keepdims) * average_shares(a, axis, weights)
        weights_bar = weights_adjoint(out_bar, out, a, axis, weights, keepdims)
    else:
        if axis is None:
            a_bar = out_bar / np.size(a)
        elif keepdims:
            a_bar = out_bar / size_along(a, axis)
        else:
            a_bar = np.expand_dims(out_bar, axis) / size_along(a, axis)
        weights_bar = None
    return a_bar, weights_bar


@tangent(np.average)
def average_tangent(
    out, a, axis=None, weights=None, *, keepdims=False, a_dot, weights_dot
):
    if given(weights):
        from_a = np.average(a_dot, axis, weights, keepdims=keepdims)
        from_weights = weights_tangent(weights_dot, out, a, axis, weights, keepdims)
    else:
        from_a = np.mean(a_dot, axis, keepdims=keepdims)
        from_weights = None
    return from_a, from_weights


@adjoint(np.max, np.amax, np.min, np.amin, wrt=("a", "initial"), full="axis")
def max(out, a, axis=None, *, keepdims=False, initial=None, where=None, out_bar):
    if given(initial) or given(where):
        shares = extremum_shares(out, a, axis, keepdims, initial, where)
        a_bar = put_back(out_bar, axis, keepdims) * shares
    elif axis is None:
        hit = (a == out).astype(out.dtype)
        a_bar = out_bar * hit / np.sum(hit)
    elif keepdims:
        hit = (a == out).astype(out.dtype)
        a_bar = out_bar * hit / np.sum(hit, axis, keepdims=True)
    else:
        hit = (a == np.expand_dims(out, axis)).astype(out.dtype)
        share = hit / np.sum(hit, axis, keepdims=True)
        a_bar = np.expand_dims(out_bar, axis) * share
    rest = initial_shares(out, a, axis, keepdims, initial, where)
    initial_bar = np.sum(out_bar * rest)
    return a_bar, initial_bar


@tangent(np.max, np.amax, np.min, np.amin)
def max_tangent(
    out,
    a,
    axis=None,
    *,
    keepdims=False,
    initial=None,
    where=None,
    a_dot,
    initial_dot,
):
    shares = extremum_shares(out, a, axis, keepdims, initial, where)
    # Of what is not chosen the tangent may be infinite.
    from_a = np.sum(cut(shares * a_dot, shares), axis, keepdims=keepdims)
    rest = initial_shares(out, a, axis, keepdims, initial, where)
    from_initial = initial_dot * rest
    return from_a, from_initial


@adjoint(np.prod, wrt=("a", "initial"), zero=("dtype",), full="axis")
def prod(
    out, a, axis=None, dtype=None, *, keepdims=False, initial=None, where=None, out_bar
):
    if given(initial) or given(where):
        others = product_shares(a, axis, initial, where)
        a_bar = put_back(out_bar, axis, keepdims) * others
    elif axis is None or keepdims:
        a_bar = out_bar * product_of_others(a, axis)
    else:
        a_bar = np.expand_dims(out_bar, axis) * product_of_others(a, axis)
    product = np.prod(selected_or_1(a, where), axis, keepdims=keepdims)
    initial_bar = np.sum(out_bar * product)
    return a_bar, initial_bar


@tangent(np.prod)
def prod_tangent(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    keepdims=False,
    initial=None,
    where=None,
    a_dot,
    initial_dot,
):
    if given(initial) or given(where):
        others = product_shares(a, axis, initial, where)
    else:
        others = product_of_others(a, axis)
    from_a = np.sum(others * a_dot, axis, keepdims=keepdims)
    product = np.prod(selected_or_1(a, where), axis, keepdims=keepdims)
    from_initial = initial_dot * product
    return from_a, from_initial


@adjoint(np.var, wrt=("a", "mean"), zero=("dtype",), full="axis")
def var(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    where=None,
    mean=None,
    correction=None,
    out_bar,
):
    if given(correction):
        free = freedom(a, axis, correction, where)
    else:
        free = freedom(a, axis, ddof, where)
    if given(where) or given(mean) or given(correction):
        rows_bar = 2.0 * put_back(out_bar, axis, keepdims) / free
        a_bar = rows_bar * deviations(a, axis, where, mean)
    elif axis is None:
        a_bar = 2.0 * out_bar / (np.size(a) - ddof) * (a - np.mean(a))
    else:
        rows_bar = 2.0 * out_bar / (size_along(a, axis) - ddof)
        if keepdims:
            a_bar = rows_bar * (a - np.mean(a, axis, keepdims=True))
        else:
            shifted = a - np.mean(a, axis, keepdims=True)
            a_bar = np.expand_dims(rows_bar, axis) * shifted
    rise_bar = 2.0 * put_back(out_bar, axis, keepdims) / free
    mean_bar = unbroadcast(-rise_bar * deviations(a, axis, where, mean), mean)
    return a_bar, mean_bar


@tangent(np.var)
def var_tangent(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    where=None,
    mean=None,
    correction=None,
    a_dot,
    mean_dot,
):
    if given(correction):
        free = freedom(a, axis, correction, where)
    else:
        free = freedom(a, axis, ddof, where)
    away = deviations(a, axis, where, mean)
    from_a = np.sum(2.0 * away * a_dot / free, axis, keepdims=keepdims)
    from_mean = np.sum(-2.0 * away * mean_dot / free, axis, keepdims=keepdims)
    return from_a, from_mean


# Where all elements are equal the derivative is 0.
@adjoint(np.std, wrt=("a", "mean"), zero=("dtype",), full="axis")
def std(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    where=None,
    mean=None,
    correction=None,
    out_bar,
):
    spread = np.where(out == 0, 1.0, out)
    if given(correction):
        free = freedom(a, axis, correction, where)
    else:
        free = freedom(a, axis, ddof, where)
    if given(where) or given(mean) or given(correction):
        rows_bar = put_back(out_bar / spread, axis, keepdims) / free
        a_bar = rows_bar * deviations(a, axis, where, mean)
    elif axis is None:
        a_bar = out_bar / ((np.size(a) - ddof) * spread) * (a - np.mean(a))
    else:
        rows_bar = out_bar / ((size_along(a, axis) - ddof) * spread)
        if keepdims:
            a_bar = rows_bar * (a - np.mean(a, axis, keepdims=True))
        else:
            shifted = a - np.mean(a, axis, keepdims=True)
            a_bar = np.expand_dims(rows_bar, axis) * shifted
    rise_bar = put_back(out_bar / spread, axis, keepdims) / free
    mean_bar = unbroadcast(-rise_bar * deviations(a, axis, where, mean), mean)
    return a_bar, mean_bar


@tangent(np.std)
def std_tangent(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    where=None,
    mean=None,
    correction=None,
    a_dot,
    mean_dot,
):
    if given(correction):
        free = freedom(a, axis, correction, where)
    else:
        free = freedom(a, axis, ddof, where)
    spread = np.where(out == 0, 1.0, out)
    away = deviations(a, axis, where, mean)
    from_a = np.sum(away * a_dot / free, axis, keepdims=keepdims) / spread
    from_mean = -np.sum(away * mean_dot / free, axis, keepdims=keepdims) / spread
    return from_a, from_mean


@adjoint(np.ptp, wrt=("a",), full="axis")
def ptp(out, a, axis=None, *, keepdims=False, out_bar):
    top = (a == np.max(a, axis, keepdims=True)).astype(a.dtype)
    bottom = (a == np.min(a, axis, keepdims=True)).astype(a.dtype)
    top = top / np.sum(top, axis, keepdims=True)
    bottom = bottom / np.sum(bottom, axis, keepdims=True)
    if axis is None or keepdims:
        a_bar = out_bar * (top - bottom)
    else:
        a_bar = np.expand_dims(out_bar, axis) * (top - bottom)
    return a_bar


@tangent(np.ptp)
def ptp_tangent(out, a, axis=None, *, keepdims=False, a_dot):
    top = np.max(a, axis, keepdims=True)
    bottom = np.min(a, axis, keepdims=True)
    shares = extremum_shares(top, a, axis, True) - extremum_shares(
        bottom, a, axis, True
    )
    from_a = np.sum(shares * a_dot, axis, keepdims=keepdims)
    return from_a
