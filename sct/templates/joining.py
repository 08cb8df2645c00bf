"""Rules of functions that join, split, repeat and pad arrays.

``z = np.concatenate((x, y))``  →  ``x_bar, y_bar = split_adjoint(z_bar, (x, y))``
"""

from __future__ import annotations

import numpy as np

from sct.runtime_joins import (
    block_adjoint,
    joined_adjoint,
    joined_tangent,
    numbered_adjoint,
    numbers,
    pad_inside,
    pad_rows,
    pad_rows_adjoint,
    padding_adjoint,
    trim_adjoint,
    trim_start,
)
from sct.runtime_rules import (
    repeat_adjoint,
    resize_adjoint,
    split_adjoint,
    take_adjoint,
    tile_adjoint,
    unstack_adjoint,
)
from sct.runtime_scans import blank

from .registry import adjoint, nondifferentiable, present, tangent

nondifferentiable(numbers, pad_inside, trim_start)

JOINING = frozenset({
    np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack,
    *present("row_stack"),
    np.block, np.broadcast_arrays, np.meshgrid, np.choose, np.select, np.array,
    np.asarray, np.asanyarray, np.einsum, type(np.r_).__getitem__,
})  # fmt: skip
"""Functions of lists of arrays; to any other a list is an array."""

SPLITTING = frozenset({
    np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit, np.broadcast_arrays,
    np.meshgrid, np.histogram, np.polydiv, np.ndarray.tolist,
    getattr(np, "unstack", np.split),
})  # fmt: skip
"""Functions that return a list or tuple."""

SPLITTING_HELPERS = (
    *("split_adjoint", "unstack_adjoint", "block_adjoint", "joined_adjoint"),
    *("broadcast_adjoint", "meshgrid_adjoint", "einsum_adjoint"),
    *("choose_adjoint", "select_adjoint"),
)
"""Helpers that do."""


@adjoint(np.concatenate, wrt=("arrays",), zero=("dtype", "casting"), linear=True)
def concatenate(out, arrays, /, axis=0, *, dtype=None, casting=None, out_bar):
    arrays_bar = split_adjoint(out_bar, arrays, axis)
    return arrays_bar


@adjoint(np.stack, wrt=("arrays",), zero=("dtype", "casting"), linear=True)
def stack(out, arrays, axis=0, *, dtype=None, casting=None, out_bar):
    arrays_bar = unstack_adjoint(out_bar, arrays, axis)
    return arrays_bar


@adjoint(
    *present("vstack", "row_stack"),
    wrt=("tup",),
    zero=("dtype", "casting"),
    linear=True,
)
def vstack(out, tup, *, dtype=None, casting=None, out_bar):
    tup_bar = split_adjoint(out_bar, tup, 0)
    return tup_bar


@adjoint(np.hstack, wrt=("tup",), zero=("dtype", "casting"), linear=True)
def hstack(out, tup, *, dtype=None, casting=None, out_bar):
    tup_bar = split_adjoint(out_bar, tup, min(np.ndim(out_bar), 2) - 1)
    return tup_bar


@adjoint(np.column_stack, linear=True)
def column_stack(out, tup, *, out_bar):
    tup_bar = split_adjoint(out_bar, tup, 1)
    return tup_bar


@adjoint(np.split, np.array_split, wrt=("ary",), linear=True)
def split(out, ary, indices_or_sections, axis=0, *, out_bar):
    ary_bar = np.concatenate(out_bar, axis)
    return ary_bar


@adjoint(np.dstack, linear=True)
def dstack(out, tup, *, out_bar):
    tup_bar = split_adjoint(out_bar, tup, 2)
    return tup_bar


@adjoint(np.block, linear=True)
def block(out, arrays, *, out_bar):
    arrays_bar = block_adjoint(out_bar, arrays)
    return arrays_bar


# `np.r_[x, y]` and `np.c_[x, y]` are calls of this.
@adjoint(type(np.r_).__getitem__, wrt=("key",))
def joined(out, self, key, *, out_bar):
    key_bar = joined_adjoint(out_bar, self, key)
    return key_bar


@tangent(type(np.r_).__getitem__)
def joined_tangent_(out, self, key, *, key_dot):
    from_key = joined_tangent(key_dot, self, key)
    return from_key


@adjoint(np.vsplit, wrt=("ary",), linear=True)
def vsplit(out, ary, indices_or_sections, *, out_bar):
    ary_bar = np.concatenate(out_bar, 0)
    return ary_bar


@adjoint(np.hsplit, wrt=("ary",), linear=True)
def hsplit(out, ary, indices_or_sections, *, out_bar):
    ary_bar = np.concatenate(out_bar, min(np.ndim(ary), 2) - 1)
    return ary_bar


@adjoint(np.dsplit, wrt=("ary",), linear=True)
def dsplit(out, ary, indices_or_sections, *, out_bar):
    ary_bar = np.concatenate(out_bar, 2)
    return ary_bar


# NumPy 2.1 and later.
if hasattr(np, "unstack"):

    @adjoint(np.unstack, wrt=("x",), linear=True)
    def unstack(out, x, /, *, axis=0, out_bar):
        x_bar = np.stack(out_bar, axis)
        return x_bar


@adjoint(np.tile, wrt=("A",), linear=True)
def tile(out, A, reps, *, out_bar):
    A_bar = tile_adjoint(out_bar, A, reps)
    return A_bar


@adjoint(np.resize, wrt=("a",), linear=True)
def resize(out, a, new_shape, *, out_bar):
    a_bar = resize_adjoint(out_bar, a)
    return a_bar


@adjoint(np.repeat, wrt=("a",), linear=True)
def repeat(out, a, repeats, axis=None, *, out_bar):
    a_bar = repeat_adjoint(out_bar, a, repeats, axis)
    return a_bar


@adjoint(np.append, wrt=("arr", "values"))
def append(out, arr, values, axis=None, *, out_bar):
    parts = split_adjoint(out_bar, (arr, values), axis)
    arr_bar = parts[0]
    values_bar = parts[1]
    return arr_bar, values_bar


@tangent(np.append)
def append_tangent(out, arr, values, axis=None, *, arr_dot, values_dot):
    from_arr = np.append(arr_dot, blank(values), axis)
    from_values = np.append(np.zeros_like(arr), values_dot, axis)
    return from_arr, from_values


@adjoint(np.insert, wrt=("arr", "values"))
def insert(out, arr, obj, values, axis=None, *, out_bar):
    others = np.full(np.shape(values), np.size(arr))
    kept = np.insert(numbers(arr), obj, others, axis)
    arr_bar = numbered_adjoint(out_bar, kept, arr)
    put = np.insert(np.full(np.shape(arr), np.size(values)), obj, numbers(values), axis)
    values_bar = numbered_adjoint(out_bar, put, values)
    return arr_bar, values_bar


@tangent(np.insert)
def insert_tangent(out, arr, obj, values, axis=None, *, arr_dot, values_dot):
    from_arr = np.insert(arr_dot, obj, np.zeros_like(values), axis)
    from_values = np.insert(np.zeros_like(arr), obj, values_dot, axis)
    return from_arr, from_values


@adjoint(np.delete, wrt=("arr",), linear=True)
def delete(out, arr, obj, axis=None, *, out_bar):
    arr_bar = take_adjoint(out_bar, arr, np.delete(numbers(arr), obj, axis))
    return arr_bar


@adjoint(np.trim_zeros, wrt=("filt",))
def trim_zeros(out, filt, trim="fb", *, out_bar):
    filt_bar = trim_adjoint(out_bar, filt, trim)
    return filt_bar


@tangent(np.trim_zeros)
def trim_zeros_tangent(out, filt, trim="fb", *, filt_dot):
    start = trim_start(filt, trim)
    from_filt = filt_dot[start : start + np.size(out)]
    return from_filt


# What stands around the array: constants, elements of it, or sums of these.
@adjoint(np.pad, wrt=("array", "constant_values"))
def pad(
    out,
    array,
    pad_width,
    mode="constant",
    *,
    constant_values=None,
    end_values=None,
    reflect_type="even",
    stat_length=None,
    out_bar,
):
    if mode == "constant":
        array_bar = out_bar[pad_inside(array, pad_width)]
    elif mode == "edge" or mode == "wrap":
        places = np.pad(numbers(array), pad_width, mode)
        array_bar = take_adjoint(out_bar, array, places)
    else:
        array_bar = pad_rows_adjoint(
            out_bar, array, pad_width, mode, reflect_type, stat_length
        )
    constant_values_bar = padding_adjoint(out_bar, array, pad_width, constant_values)
    return array_bar, constant_values_bar


@tangent(np.pad)
def pad_tangent(
    out,
    array,
    pad_width,
    mode="constant",
    *,
    constant_values=None,
    end_values=None,
    reflect_type="even",
    stat_length=None,
    array_dot,
    constant_values_dot,
):
    if mode == "constant":
        from_array = np.pad(array_dot, pad_width)
    elif mode == "edge" or mode == "wrap":
        from_array = np.pad(array_dot, pad_width, mode)
    else:
        from_array = pad_rows(array_dot, pad_width, mode, reflect_type, stat_length)
    from_constant_values = np.pad(
        np.zeros_like(array), pad_width, constant_values=constant_values_dot
    )
    return from_array, from_constant_values
