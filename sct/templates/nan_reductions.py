"""Rules of reductions and scans that leave out what is not a number.

``s = np.nansum(x)``  →  ``x_bar = masked(s_bar, x, observed(x))``

An element that is nan has the adjoint 0.
"""

from __future__ import annotations

import numpy as np

from sct.runtime_reductions import (
    count_along,
    deviations,
    extremum_shares,
    freedom,
    masked,
    observed,
    product_shares,
    put_back,
    quantile_part,
    quantile_places,
    selected_or_1,
)
from sct.runtime_rules import cumprod_adjoint, cut, take_adjoint
from sct.runtime_scans import cumprod_tangent

from .registry import adjoint, given, tangent


@adjoint(np.nansum, wrt=("a",), zero=("dtype",), full="axis")
def nansum(out, a, axis=None, dtype=None, *, keepdims=False, where=None, out_bar):
    a_bar = masked(put_back(out_bar, axis, keepdims), a, observed(a, where))
    return a_bar


@tangent(np.nansum)
def nansum_tangent(out, a, axis=None, dtype=None, *, keepdims=False, where=None, a_dot):
    shares = masked(a_dot, a, observed(a, where))
    from_a = np.sum(shares, axis, keepdims=keepdims)
    return from_a


@adjoint(np.nanmean, wrt=("a",), zero=("dtype",), full="axis")
def nanmean(out, a, axis=None, dtype=None, *, keepdims=False, where=None, out_bar):
    seen = observed(a, where)
    rows_bar = put_back(out_bar, axis, keepdims) / count_along(a, axis, seen)
    a_bar = masked(rows_bar, a, seen)
    return a_bar


@tangent(np.nanmean)
def nanmean_tangent(
    out, a, axis=None, dtype=None, *, keepdims=False, where=None, a_dot
):
    seen = observed(a, where)
    shares = masked(a_dot / count_along(a, axis, seen), a, seen)
    from_a = np.sum(shares, axis, keepdims=keepdims)
    return from_a


@adjoint(np.nanvar, wrt=("a",), zero=("dtype",), full="axis")
def nanvar(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    where=None,
    correction=None,
    out_bar,
):
    seen = observed(a, where)
    if given(correction):
        free = freedom(a, axis, correction, seen)
    else:
        free = freedom(a, axis, ddof, seen)
    rows_bar = 2.0 * put_back(out_bar, axis, keepdims) / free
    a_bar = rows_bar * deviations(a, axis, seen)
    return a_bar


@tangent(np.nanvar)
def nanvar_tangent(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    where=None,
    correction=None,
    a_dot,
):
    seen = observed(a, where)
    if given(correction):
        free = freedom(a, axis, correction, seen)
    else:
        free = freedom(a, axis, ddof, seen)
    parts = 2.0 * deviations(a, axis, seen) * a_dot / free
    from_a = np.sum(parts, axis, keepdims=keepdims)
    return from_a


# Where all elements are equal the derivative is 0.
@adjoint(np.nanstd, wrt=("a",), zero=("dtype",), full="axis")
def nanstd(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    where=None,
    correction=None,
    out_bar,
):
    seen = observed(a, where)
    if given(correction):
        free = freedom(a, axis, correction, seen)
    else:
        free = freedom(a, axis, ddof, seen)
    spread = np.where(out == 0, 1.0, out)
    rows_bar = put_back(out_bar / spread, axis, keepdims) / free
    a_bar = rows_bar * deviations(a, axis, seen)
    return a_bar


@tangent(np.nanstd)
def nanstd_tangent(
    out,
    a,
    axis=None,
    dtype=None,
    *,
    ddof=0,
    keepdims=False,
    where=None,
    correction=None,
    a_dot,
):
    seen = observed(a, where)
    if given(correction):
        free = freedom(a, axis, correction, seen)
    else:
        free = freedom(a, axis, ddof, seen)
    parts = deviations(a, axis, seen) * a_dot / free
    from_a = np.sum(parts, axis, keepdims=keepdims) / np.where(out == 0, 1.0, out)
    return from_a


@adjoint(np.nanmax, np.nanmin, wrt=("a",), full="axis")
def nanmax(out, a, axis=None, *, keepdims=False, initial=None, where=None, out_bar):
    shares = extremum_shares(out, a, axis, keepdims, initial, where)
    a_bar = put_back(out_bar, axis, keepdims) * shares
    return a_bar


@tangent(np.nanmax, np.nanmin)
def nanmax_tangent(
    out, a, axis=None, *, keepdims=False, initial=None, where=None, a_dot
):
    shares = extremum_shares(out, a, axis, keepdims, initial, where)
    from_a = np.sum(cut(shares * a_dot, shares), axis, keepdims=keepdims)
    return from_a


@adjoint(np.nanprod, wrt=("a",), zero=("dtype",), full="axis")
def nanprod(out, a, axis=None, dtype=None, *, keepdims=False, where=None, out_bar):
    others = product_shares(a, axis, None, observed(a, where))
    a_bar = put_back(out_bar, axis, keepdims) * others
    return a_bar


@tangent(np.nanprod)
def nanprod_tangent(
    out, a, axis=None, dtype=None, *, keepdims=False, where=None, a_dot
):
    others = product_shares(a, axis, None, observed(a, where))
    from_a = np.sum(others * a_dot, axis, keepdims=keepdims)
    return from_a


@adjoint(np.nancumsum, wrt=("a",), zero=("dtype",))
def nancumsum(out, a, axis=None, dtype=None, *, out_bar):
    if axis is None:
        sums_bar = np.reshape(np.cumsum(out_bar[::-1])[::-1], np.shape(a))
    else:
        sums_bar = np.flip(np.cumsum(np.flip(out_bar, axis), axis), axis)
    a_bar = masked(sums_bar, a, observed(a))
    return a_bar


@tangent(np.nancumsum)
def nancumsum_tangent(out, a, axis=None, dtype=None, *, a_dot):
    from_a = np.cumsum(masked(a_dot, a, observed(a)), axis)
    return from_a


@adjoint(np.nancumprod, wrt=("a",), zero=("dtype",))
def nancumprod(out, a, axis=None, dtype=None, *, out_bar):
    seen = observed(a)
    factors_bar = cumprod_adjoint(out_bar, selected_or_1(a, seen), axis)
    a_bar = masked(factors_bar, a, seen)
    return a_bar


@tangent(np.nancumprod)
def nancumprod_tangent(out, a, axis=None, dtype=None, *, a_dot):
    seen = observed(a)
    factors = selected_or_1(a, seen)
    from_a = cumprod_tangent(masked(a_dot, a, seen), out, factors, axis)
    return from_a


@adjoint(np.nanmedian, wrt=("a",), full=True)
def nanmedian(out, a, axis=None, *, overwrite_input=False, keepdims=False, out_bar):
    low, high = quantile_places(a, 0.5, axis, keepdims, "linear", observed(a))
    part = quantile_part(a, 0.5, axis, keepdims, "linear", observed(a))
    lower_bar = take_adjoint((1.0 - part) * out_bar, a, low)
    a_bar = lower_bar + take_adjoint(part * out_bar, a, high)
    return a_bar


@tangent(np.nanmedian)
def nanmedian_tangent(
    out, a, axis=None, *, overwrite_input=False, keepdims=False, a_dot
):
    low, high = quantile_places(a, 0.5, axis, keepdims, "linear", observed(a))
    part = quantile_part(a, 0.5, axis, keepdims, "linear", observed(a))
    from_a = (1.0 - part) * np.take(a_dot, low) + part * np.take(a_dot, high)
    return from_a


@adjoint(np.nanquantile, wrt=("a",))
def nanquantile(
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
    low, high = quantile_places(a, q, axis, keepdims, method, observed(a))
    part = quantile_part(a, q, axis, keepdims, method, observed(a))
    lower_bar = take_adjoint((1.0 - part) * out_bar, a, low)
    a_bar = lower_bar + take_adjoint(part * out_bar, a, high)
    return a_bar


@tangent(np.nanquantile)
def nanquantile_tangent(
    out,
    a,
    q,
    axis=None,
    *,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    a_dot,
):
    low, high = quantile_places(a, q, axis, keepdims, method, observed(a))
    part = quantile_part(a, q, axis, keepdims, method, observed(a))
    from_a = (1.0 - part) * np.take(a_dot, low) + part * np.take(a_dot, high)
    return from_a


@adjoint(np.nanpercentile, wrt=("a",))
def nanpercentile(
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
    low, high = quantile_places(a, levels, axis, keepdims, method, observed(a))
    part = quantile_part(a, levels, axis, keepdims, method, observed(a))
    lower_bar = take_adjoint((1.0 - part) * out_bar, a, low)
    a_bar = lower_bar + take_adjoint(part * out_bar, a, high)
    return a_bar


@tangent(np.nanpercentile)
def nanpercentile_tangent(
    out,
    a,
    q,
    axis=None,
    *,
    overwrite_input=False,
    method="linear",
    keepdims=False,
    a_dot,
):
    levels = np.divide(q, 100.0)
    low, high = quantile_places(a, levels, axis, keepdims, method, observed(a))
    part = quantile_part(a, levels, axis, keepdims, method, observed(a))
    from_a = (1.0 - part) * np.take(a_dot, low) + part * np.take(a_dot, high)
    return from_a
