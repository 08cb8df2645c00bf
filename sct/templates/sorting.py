"""Rules of functions that put elements in order, or pick them by their order.

``m = np.median(x)``  →  half of ``m_bar`` for each of the two elements in the middle

Which elements these are is constant; of equal ones any may be taken.
"""

from __future__ import annotations

import numpy as np

from sct.runtime_reductions import (
    distinct_adjoint,
    distinct_groups,
    distinct_tangent,
    levels_adjoint,
    levels_like,
    places_in,
    quantile_part,
    quantile_places,
    quantile_rise,
)
from sct.runtime_rules import scatter, take_adjoint

from .registry import adjoint, nondifferentiable, tangent

nondifferentiable(places_in, quantile_places, quantile_rise, distinct_groups)


@adjoint(quantile_part, wrt=("q",), zero=("a",))
def part(out, a, q, axis=None, keepdims=False, method="linear", where=None, *, out_bar):
    rise = quantile_rise(a, q, axis, keepdims, method, where)
    q_bar = levels_adjoint(out_bar * rise, q)
    return q_bar


@tangent(quantile_part)
def part_tangent(
    out, a, q, axis=None, keepdims=False, method="linear", where=None, *, q_dot
):
    rise = quantile_rise(a, q, axis, keepdims, method, where)
    from_q = levels_like(q_dot, out) * rise
    return from_q


@adjoint(np.sort, wrt=("a",))
def sort(out, a, axis=-1, kind=None, *, order=None, stable=None, out_bar):
    if axis is None:
        a_bar = scatter(out_bar, np.ravel(a), np.argsort(np.ravel(a)))
        a_bar = np.reshape(a_bar, np.shape(a))
    else:
        places = np.argsort(np.argsort(a, axis), axis)
        a_bar = np.take_along_axis(out_bar, places, axis)
    return a_bar


@tangent(np.sort)
def sort_tangent(out, a, axis=-1, kind=None, *, order=None, stable=None, a_dot):
    if axis is None:
        from_a = np.ravel(a_dot)[np.argsort(np.ravel(a))]
    else:
        from_a = np.take_along_axis(a_dot, np.argsort(a, axis), axis)
    return from_a


@adjoint(np.partition, wrt=("a",))
def partition(out, a, kth, axis=-1, kind="introselect", order=None, *, out_bar):
    a_bar = take_adjoint(out_bar, a, places_in(a, out, axis))
    return a_bar


@tangent(np.partition)
def partition_tangent(out, a, kth, axis=-1, kind="introselect", order=None, *, a_dot):
    from_a = np.take(a_dot, places_in(a, out, axis))
    return from_a


@adjoint(np.median, wrt=("a",))
def median(out, a, axis=None, *, overwrite_input=False, keepdims=False, out_bar):
    low, high = quantile_places(a, 0.5, axis, keepdims)
    part = quantile_part(a, 0.5, axis, keepdims)
    lower_bar = take_adjoint((1.0 - part) * out_bar, a, low)
    a_bar = lower_bar + take_adjoint(part * out_bar, a, high)
    return a_bar


@tangent(np.median)
def median_tangent(out, a, axis=None, *, overwrite_input=False, keepdims=False, a_dot):
    low, high = quantile_places(a, 0.5, axis, keepdims)
    part = quantile_part(a, 0.5, axis, keepdims)
    from_a = (1.0 - part) * np.take(a_dot, low) + part * np.take(a_dot, high)
    return from_a


@adjoint(np.quantile, wrt=("a", "q"))
def quantile(
    out,
    a,
    q,
    axis=None,
    *,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    out_bar,
):
    low, high = quantile_places(a, q, axis, keepdims, method)
    part = quantile_part(a, q, axis, keepdims, method)
    lower_bar = take_adjoint((1.0 - part) * out_bar, a, low)
    a_bar = lower_bar + take_adjoint(part * out_bar, a, high)
    rise = quantile_rise(a, q, axis, keepdims, method)
    slope = rise * (np.take(a, high) - np.take(a, low))
    q_bar = levels_adjoint(out_bar * slope, q)
    return a_bar, q_bar


@tangent(np.quantile)
def quantile_tangent(
    out,
    a,
    q,
    axis=None,
    *,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    a_dot,
    q_dot,
):
    low, high = quantile_places(a, q, axis, keepdims, method)
    part = quantile_part(a, q, axis, keepdims, method)
    from_a = (1.0 - part) * np.take(a_dot, low) + part * np.take(a_dot, high)
    rise = quantile_rise(a, q, axis, keepdims, method)
    slope = rise * (np.take(a, high) - np.take(a, low))
    from_q = levels_like(q_dot, out) * slope
    return from_a, from_q


@adjoint(np.percentile, wrt=("a", "q"))
def percentile(
    out,
    a,
    q,
    axis=None,
    *,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    out_bar,
):
    levels = np.divide(q, 100.0)
    low, high = quantile_places(a, levels, axis, keepdims, method)
    part = quantile_part(a, levels, axis, keepdims, method)
    lower_bar = take_adjoint((1.0 - part) * out_bar, a, low)
    a_bar = lower_bar + take_adjoint(part * out_bar, a, high)
    rise = quantile_rise(a, levels, axis, keepdims, method)
    slope = rise * (np.take(a, high) - np.take(a, low))
    q_bar = levels_adjoint(out_bar * slope, q) / 100.0
    return a_bar, q_bar


@tangent(np.percentile)
def percentile_tangent(
    out,
    a,
    q,
    axis=None,
    *,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    a_dot,
    q_dot,
):
    levels = np.divide(q, 100.0)
    low, high = quantile_places(a, levels, axis, keepdims, method)
    part = quantile_part(a, levels, axis, keepdims, method)
    from_a = (1.0 - part) * np.take(a_dot, low) + part * np.take(a_dot, high)
    rise = quantile_rise(a, levels, axis, keepdims, method)
    slope = rise * (np.take(a, high) - np.take(a, low))
    from_q = levels_like(q_dot, out) * slope / 100.0
    return from_a, from_q


# Elements that are equal share what their value gets.
@adjoint(np.unique, wrt=("ar",))
def unique(
    out,
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    *,
    equal_nan=True,
    sorted=True,
    out_bar,
):
    if return_index or return_inverse or return_counts:
        ar_bar = distinct_adjoint(out_bar[0], ar)
    else:
        ar_bar = distinct_adjoint(out_bar, ar)
    return ar_bar


@tangent(np.unique)
def unique_tangent(
    out,
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    *,
    equal_nan=True,
    sorted=True,
    ar_dot,
):
    if return_index or return_inverse or return_counts:
        from_ar = (distinct_tangent(ar_dot, ar), *map(np.zeros_like, out[1:]))
    else:
        from_ar = distinct_tangent(ar_dot, ar)
    return from_ar
