"""Rules of the run-time helpers of array functions, for derivatives of derivatives.

``x_bar = masked(g, x, m)``  →  ``g_bar = unbroadcast(masked(x_bar_bar, x, m), g)``

They are linear in the adjoints and tangents that they are given.
"""

from __future__ import annotations

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_joins import (
    block_adjoint,
    joined_adjoint,
    joined_tangent,
    numbered,
    numbered_adjoint,
    pad_rows,
    pad_rows_adjoint,
    padding_adjoint,
    trim_adjoint,
    trim_start,
)
from sct.runtime_reductions import (
    count_along,
    extremum_shares,
    freedom,
    initial_shares,
    masked,
    observed,
    put_back,
)
from sct.runtime_scans import (
    along,
    along_adjoint,
    bins_of,
    diff_part,
    diff_whole,
    edge_width,
)

from .registry import adjoint, nondifferentiable

nondifferentiable(
    *(count_along, extremum_shares, freedom, initial_shares, observed),
    *(bins_of, edge_width),
)


@adjoint(put_back, wrt=("g",), linear=True)
def put_back_(out, g, axis=None, keepdims=False, *, out_bar):
    g_bar = np.reshape(out_bar, np.shape(g))
    return g_bar


@adjoint(masked, wrt=("g",), zero=("a",), linear=True)
def masked_(out, g, a, where, *, out_bar):
    g_bar = unbroadcast(masked(out_bar, a, where), g)
    return g_bar


@adjoint(along, wrt=("a",), linear=True)
def along_(out, a, axis, start, stop=None, *, out_bar):
    a_bar = along_adjoint(out_bar, a, axis, start, stop)
    return a_bar


@adjoint(along_adjoint, wrt=("g",), zero=("a",), linear=True)
def along_bar(out, g, a, axis, start, stop=None, *, out_bar):
    g_bar = along(out_bar, axis, start, stop)
    return g_bar


@adjoint(diff_part, wrt=("g",), zero=("a", "prepend", "append"), linear=True)
def diff_part_(out, g, part, a, n=1, axis=-1, prepend=None, append=None, *, out_bar):
    g_bar = diff_whole(out_bar, part, a, n, axis, prepend, append)
    return g_bar


@adjoint(diff_whole, wrt=("part",), zero=("a", "prepend", "append"), linear=True)
def diff_whole_(
    out, part, which, a, n=1, axis=-1, prepend=None, append=None, *, out_bar
):
    part_bar = diff_part(out_bar, which, a, n, axis, prepend, append)
    return part_bar


@adjoint(numbered_adjoint, wrt=("g",), zero=("a",), linear=True)
def numbered_bar(out, g, places, a, *, out_bar):
    g_bar = numbered(out_bar, places)
    return g_bar


@adjoint(numbered, wrt=("values",), linear=True)
def numbered_(out, values, places, *, out_bar):
    values_bar = numbered_adjoint(out_bar, places, values)
    return values_bar


@adjoint(trim_adjoint, wrt=("g",), zero=("a",), linear=True)
def trim(out, g, a, trim="fb", *, out_bar):
    start = trim_start(a, trim)
    g_bar = out_bar[start : start + np.size(g)]
    return g_bar


@adjoint(pad_rows_adjoint, wrt=("g",), zero=("a",), linear=True)
def pad_bar(
    out, g, a, pad_width, mode="mean", reflect_type="even", stat_length=None, *, out_bar
):
    g_bar = pad_rows(out_bar, pad_width, mode, reflect_type, stat_length)
    return g_bar


@adjoint(pad_rows, wrt=("a",), linear=True)
def pad(
    out, a, pad_width, mode="mean", reflect_type="even", stat_length=None, *, out_bar
):
    a_bar = pad_rows_adjoint(out_bar, a, pad_width, mode, reflect_type, stat_length)
    return a_bar


@adjoint(padding_adjoint, wrt=("g",), zero=("a", "constant_values"), linear=True)
def padding(out, g, a, pad_width, constant_values, *, out_bar):
    g_bar = np.pad(np.zeros_like(a), pad_width, constant_values=out_bar)
    return g_bar


@adjoint(block_adjoint, wrt=("g",), zero=("arrays",), linear=True)
def block(out, g, arrays, *, out_bar):
    g_bar = np.reshape(np.block(list(out_bar)), np.shape(g))
    return g_bar


@adjoint(joined_adjoint, wrt=("g",), zero=("key",), linear=True)
def joined_bar(out, g, joiner, key, *, out_bar):
    g_bar = joined_tangent(out_bar, joiner, key)
    return g_bar


@adjoint(joined_tangent, wrt=("dots",), zero=("key",), linear=True)
def joined(out, dots, joiner, key, *, out_bar):
    dots_bar = joined_adjoint(out_bar, joiner, key)
    return dots_bar
