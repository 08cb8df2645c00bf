"""Rules of scans, differences, convolutions and tables.

``y = np.cumsum(x)``  →  ``x_bar = np.cumsum(y_bar[::-1])[::-1]``
"""

from __future__ import annotations

import numpy as np

from sct.runtime_rules import cumprod_adjoint, diff_adjoint
from sct.runtime_scans import (
    along,
    blank,
    convolve_adjoint,
    cumprod_tangent,
    cumulative_prod_tangent,
    diff_of,
    diff_part,
    edges_adjoint,
    edges_tangent,
    flipped_sums,
    histogram_adjoint,
    overlap_start,
)

from .registry import adjoint, given, nondifferentiable, tangent

nondifferentiable(overlap_start)


@adjoint(np.cumsum, wrt=("a",), zero=("dtype",), linear=True)
def cumsum(out, a, axis=None, dtype=None, *, out_bar):
    if axis is None:
        a_bar = np.reshape(np.cumsum(out_bar[::-1])[::-1], np.shape(a))
    else:
        a_bar = np.flip(np.cumsum(np.flip(out_bar, axis), axis), axis)
    return a_bar


@adjoint(np.cumprod, wrt=("a",), zero=("dtype",))
def cumprod(out, a, axis=None, dtype=None, *, out_bar):
    a_bar = cumprod_adjoint(out_bar, a, axis)
    return a_bar


@tangent(np.cumprod)
def cumprod_tangent_(out, a, axis=None, dtype=None, *, a_dot):
    from_a = cumprod_tangent(a_dot, out, a, axis)
    return from_a


# NumPy 2.1 and later.
if hasattr(np, "cumulative_sum"):

    @adjoint(np.cumulative_sum, wrt=("x",), zero=("dtype",), linear=True)
    def cumulative_sum(
        out, x, /, *, axis=None, dtype=None, include_initial=False, out_bar
    ):
        if include_initial and axis is None:
            x_bar = flipped_sums(out_bar[1:])
        elif include_initial:
            x_bar = flipped_sums(along(out_bar, axis, 1), axis)
        elif axis is None:
            x_bar = flipped_sums(out_bar)
        else:
            x_bar = flipped_sums(out_bar, axis)
        return x_bar

    @adjoint(np.cumulative_prod, wrt=("x",), zero=("dtype",))
    def cumulative_prod(
        out, x, /, *, axis=None, dtype=None, include_initial=False, out_bar
    ):
        if include_initial and axis is None:
            x_bar = cumprod_adjoint(out_bar[1:], x)
        elif include_initial:
            x_bar = cumprod_adjoint(along(out_bar, axis, 1), x, axis)
        else:
            x_bar = cumprod_adjoint(out_bar, x, axis)
        return x_bar

    @tangent(np.cumulative_prod)
    def cumulative_prod_tangent_(
        out, x, /, *, axis=None, dtype=None, include_initial=False, x_dot
    ):
        from_x = cumulative_prod_tangent(x_dot, x, axis, include_initial)
        return from_x


@adjoint(np.diff, wrt=("a", "prepend", "append"))
def diff(out, a, n=1, axis=-1, prepend=None, append=None, *, out_bar):
    if given(prepend) or given(append):
        a_bar = diff_part(out_bar, 1, a, n, axis, prepend, append)
    else:
        a_bar = diff_adjoint(out_bar, n, axis)
    prepend_bar = diff_part(out_bar, 0, a, n, axis, prepend, append)
    append_bar = diff_part(out_bar, 2, a, n, axis, prepend, append)
    return a_bar, prepend_bar, append_bar


@tangent(np.diff)
def diff_tangent(
    out,
    a,
    n=1,
    axis=-1,
    prepend=None,
    append=None,
    *,
    a_dot,
    prepend_dot,
    append_dot,
):
    from_a = diff_of(a_dot, n, axis, blank(prepend), blank(append))
    from_prepend = diff_of(np.zeros_like(a), n, axis, prepend_dot, blank(append))
    from_append = diff_of(np.zeros_like(a), n, axis, blank(prepend), append_dot)
    return from_a, from_prepend, from_append


@adjoint(np.ediff1d, wrt=("ary", "to_end", "to_begin"))
def ediff1d(out, ary, to_end=None, to_begin=None, *, out_bar):
    start = 0 if to_begin is None else np.size(to_begin)
    stop = np.size(out) if to_end is None else np.size(out) - np.size(to_end)
    ary_bar = np.reshape(diff_adjoint(out_bar[start:stop]), np.shape(ary))
    if given(to_end):
        to_end_bar = np.reshape(out_bar[stop:], np.shape(to_end))
    else:
        to_end_bar = None
    if given(to_begin):
        to_begin_bar = np.reshape(out_bar[:start], np.shape(to_begin))
    else:
        to_begin_bar = None
    return ary_bar, to_end_bar, to_begin_bar


@tangent(np.ediff1d)
def ediff1d_tangent(
    out, ary, to_end=None, to_begin=None, *, ary_dot, to_end_dot, to_begin_dot
):
    from_ary = np.ediff1d(ary_dot, blank(to_end), blank(to_begin))
    none = np.zeros_like(ary)
    from_to_end = np.ediff1d(none, to_end_dot, blank(to_begin))
    from_to_begin = np.ediff1d(none, blank(to_end), to_begin_dot)
    return from_ary, from_to_end, from_to_begin


@adjoint(np.convolve, wrt=("a", "v"), linear=True)
def convolve(out, a, v, mode="full", *, out_bar):
    start = overlap_start(a, v, mode)
    a_bar = convolve_adjoint(out_bar, a, v, start)
    v_bar = convolve_adjoint(out_bar, v, a, start)
    return a_bar, v_bar


@adjoint(np.correlate, wrt=("a", "v"), linear=True)
def correlate(out, a, v, mode="valid", *, out_bar):
    start = overlap_start(a, v, mode, True)
    a_bar = convolve_adjoint(out_bar, a, np.ravel(v)[::-1], start)
    v_bar = convolve_adjoint(out_bar, v, a, start)[::-1]
    return a_bar, v_bar


@adjoint(np.bincount, wrt=("weights",), linear=True)
def bincount(out, x, /, weights=None, minlength=0, *, out_bar):
    weights_bar = np.take(out_bar, x)
    return weights_bar


# The counts themselves are constant wherever they have a derivative; the edges may be
# those of the data.
@adjoint(np.histogram, wrt=("a", "weights"))
def histogram(out, a, bins=10, range=None, *, weights=None, out_bar):
    a_bar = edges_adjoint(out_bar[1], a, out[1], bins, range)
    if weights is None:
        weights_bar = None
    else:
        weights_bar = histogram_adjoint(out_bar[0], a, out[1])
    return a_bar, weights_bar


@tangent(np.histogram)
def histogram_tangent(out, a, bins=10, range=None, *, weights=None, a_dot, weights_dot):
    if given(weights):
        moved = np.broadcast_to(weights_dot, np.shape(a))
        counts_dot = np.histogram(a, out[1], weights=moved)[0]
    else:
        counts_dot = 0.0 * out[0]
    out_dot = counts_dot, edges_tangent(a_dot, a, out[1], bins, range)
    return out_dot


@adjoint(np.histogram_bin_edges, wrt=("a",))
def histogram_bin_edges(out, a, bins=10, range=None, *, out_bar):
    a_bar = edges_adjoint(out_bar, a, out, bins, range)
    return a_bar


@tangent(np.histogram_bin_edges)
def histogram_bin_edges_tangent(out, a, bins=10, range=None, *, a_dot):
    return edges_tangent(a_dot, a, out, bins, range)
