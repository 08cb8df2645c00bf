"""Rules of functions that reduce or accumulate along axes.

``s = np.sum(x, axis=1)``  →  ``x_bar = np.expand_dims(s_bar, 1)``

What a rule returns broadcasts to its operand; nothing is spread out without need.
Elements that tie for a maximum or minimum share its adjoint equally.
"""

from __future__ import annotations

import numpy as np

from sct.runtime_rules import (
    average_shares,
    cumprod_adjoint,
    diff_adjoint,
    norm_adjoint,
    product_of_others,
    size_along,
)

from .registry import adjoint, nondifferentiable

nondifferentiable(
    *(np.argmax, np.argmin, np.argsort, np.searchsorted, np.count_nonzero, np.nonzero),
    *(np.any, np.all, np.argwhere, np.flatnonzero, np.digitize),
)


@adjoint(np.sum, wrt=("a",), zero=("dtype",), full="axis", linear=True)
def sum(out, a, axis=None, dtype=None, *, keepdims=False, out_bar):
    if axis is None or keepdims:
        a_bar = out_bar
    else:
        a_bar = np.expand_dims(out_bar, axis)
    return a_bar


@adjoint(np.mean, wrt=("a",), zero=("dtype",), full="axis", linear=True)
def mean(out, a, axis=None, dtype=None, *, keepdims=False, out_bar):
    if axis is None:
        a_bar = out_bar / np.size(a)
    elif keepdims:
        a_bar = out_bar / size_along(a, axis)
    else:
        a_bar = np.expand_dims(out_bar, axis) / size_along(a, axis)
    return a_bar


# The weights are held constant.
@adjoint(np.average, wrt=("a",), full="axis", linear=True)
def average(out, a, axis=None, weights=None, *, keepdims=False, out_bar):
    if weights is None:
        if axis is None:
            a_bar = out_bar / np.size(a)
        elif keepdims:
            a_bar = out_bar / size_along(a, axis)
        else:
            a_bar = np.expand_dims(out_bar, axis) / size_along(a, axis)
    elif axis is None or keepdims:
        a_bar = out_bar * average_shares(a, axis, weights)
    else:
        a_bar = np.expand_dims(out_bar, axis) * average_shares(a, axis, weights)
    return a_bar


@adjoint(np.max, np.amax, np.min, np.amin, wrt=("a",), full="axis")
def max(out, a, axis=None, *, keepdims=False, out_bar):
    if axis is None:
        hit = (a == out).astype(out.dtype)
        a_bar = out_bar * hit / np.sum(hit)
    elif keepdims:
        hit = (a == out).astype(out.dtype)
        a_bar = out_bar * hit / np.sum(hit, axis, keepdims=True)
    else:
        hit = (a == np.expand_dims(out, axis)).astype(out.dtype)
        share = hit / np.sum(hit, axis, keepdims=True)
        a_bar = np.expand_dims(out_bar, axis) * share
    return a_bar


@adjoint(np.prod, wrt=("a",), full="axis")
def prod(out, a, axis=None, *, keepdims=False, out_bar):
    if axis is None or keepdims:
        a_bar = out_bar * product_of_others(a, axis)
    else:
        a_bar = np.expand_dims(out_bar, axis) * product_of_others(a, axis)
    return a_bar


@adjoint(np.var, wrt=("a",), full="axis")
def var(out, a, axis=None, *, ddof=0, keepdims=False, out_bar):
    if axis is None:
        a_bar = 2.0 * out_bar / (np.size(a) - ddof) * (a - np.mean(a))
    else:
        rows_bar = 2.0 * out_bar / (size_along(a, axis) - ddof)
        if keepdims:
            a_bar = rows_bar * (a - np.mean(a, axis, keepdims=True))
        else:
            shifted = a - np.mean(a, axis, keepdims=True)
            a_bar = np.expand_dims(rows_bar, axis) * shifted
    return a_bar


# Where all elements are equal the derivative is 0.
@adjoint(np.std, wrt=("a",), full="axis")
def std(out, a, axis=None, *, ddof=0, keepdims=False, out_bar):
    spread = np.where(out == 0, 1.0, out)
    if axis is None:
        a_bar = out_bar / ((np.size(a) - ddof) * spread) * (a - np.mean(a))
    else:
        rows_bar = out_bar / ((size_along(a, axis) - ddof) * spread)
        if keepdims:
            a_bar = rows_bar * (a - np.mean(a, axis, keepdims=True))
        else:
            shifted = a - np.mean(a, axis, keepdims=True)
            a_bar = np.expand_dims(rows_bar, axis) * shifted
    return a_bar


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


@adjoint(np.cumsum, wrt=("a",), linear=True)
def cumsum(out, a, axis=None, *, out_bar):
    if axis is None:
        a_bar = np.reshape(np.cumsum(out_bar[::-1])[::-1], np.shape(a))
    else:
        a_bar = np.flip(np.cumsum(np.flip(out_bar, axis), axis), axis)
    return a_bar


@adjoint(np.cumprod, wrt=("a",))
def cumprod(out, a, axis=None, *, out_bar):
    a_bar = cumprod_adjoint(out_bar, a, axis)
    return a_bar


@adjoint(np.diff, wrt=("a",), linear=True)
def diff(out, a, n=1, axis=-1, *, out_bar):
    a_bar = diff_adjoint(out_bar, n, axis)
    return a_bar


# At 0 the derivative is 0.
@adjoint(np.linalg.norm, wrt=("x",))
def norm(out, x, ord=None, axis=None, keepdims=False, *, out_bar):
    if ord is None and axis is None:
        x_bar = out_bar * x / np.where(out == 0, 1.0, out)
    else:
        x_bar = norm_adjoint(out_bar, out, x, ord, axis, keepdims)
    return x_bar
