"""Rules of functions that make, shape, join, index and copy arrays.

``y = np.swapaxes(x, 0, 1)``  →  ``x_bar = np.swapaxes(y_bar, 0, 1)``
"""

from __future__ import annotations

import operator

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_rules import (
    cast_adjoint,
    diag_adjoint,
    diagonal_adjoint,
    pad_adjoint,
    repeat_adjoint,
    resize_adjoint,
    scatter,
    split_adjoint,
    take_adjoint,
    take_along_adjoint,
    tile_adjoint,
    unstack_adjoint,
)

from .registry import adjoint, nondifferentiable

nondifferentiable(
    *(np.shape, np.size, np.ndim, np.zeros, np.ones, np.eye, np.identity, np.empty),
    *(np.zeros_like, np.ones_like, np.empty_like, np.tri, np.result_type, np.isscalar),
    *(np.tril_indices, np.triu_indices, np.diag_indices, np.unravel_index),
    *(np.iscomplexobj, np.isrealobj, np.shares_memory),
)


@adjoint(np.reshape, wrt=("a",), linear=True)
def reshape(out, a, shape, *, out_bar):
    a_bar = np.reshape(out_bar, np.shape(a))
    return a_bar


@adjoint(np.ravel, np.ndarray.flatten, linear=True)
def ravel(out, a, *, out_bar):
    a_bar = np.reshape(out_bar, np.shape(a))
    return a_bar


@adjoint(np.ndarray.item, wrt=("a",), linear=True)
def item(out, a, *, out_bar):
    a_bar = np.reshape(out_bar, np.shape(a))
    return a_bar


@adjoint(np.transpose, wrt=("a",), linear=True)
def transpose(out, a, axes=None, *, out_bar):
    if axes is None:
        a_bar = out_bar.T
    else:
        a_bar = np.transpose(out_bar, np.argsort(np.mod(axes, np.ndim(a))))
    return a_bar


@adjoint(np.swapaxes, wrt=("a",), linear=True)
def swapaxes(out, a, axis1, axis2, *, out_bar):
    a_bar = np.swapaxes(out_bar, axis1, axis2)
    return a_bar


@adjoint(np.moveaxis, wrt=("a",), linear=True)
def moveaxis(out, a, source, destination, *, out_bar):
    a_bar = np.moveaxis(out_bar, destination, source)
    return a_bar


@adjoint(np.expand_dims, wrt=("a",), linear=True)
def expand_dims(out, a, axis, *, out_bar):
    a_bar = np.squeeze(out_bar, axis)
    return a_bar


@adjoint(np.squeeze, wrt=("a",), linear=True)
def squeeze(out, a, axis=None, *, out_bar):
    a_bar = np.reshape(out_bar, np.shape(a))
    return a_bar


@adjoint(np.atleast_1d, np.atleast_2d, np.atleast_3d, linear=True)
def atleast(out, a, /, *, out_bar):
    a_bar = np.reshape(out_bar, np.shape(a))
    return a_bar


@adjoint(np.broadcast_to, wrt=("array",), linear=True)
def broadcast_to(out, array, shape, *, out_bar):
    array_bar = unbroadcast(out_bar, array)
    return array_bar


@adjoint(np.concatenate, wrt=("arrays",), linear=True)
def concatenate(out, arrays, /, axis=0, *, out_bar):
    arrays_bar = split_adjoint(out_bar, arrays, axis)
    return arrays_bar


@adjoint(np.stack, wrt=("arrays",), linear=True)
def stack(out, arrays, axis=0, *, out_bar):
    arrays_bar = unstack_adjoint(out_bar, arrays, axis)
    return arrays_bar


@adjoint(np.vstack, linear=True)
def vstack(out, tup, *, out_bar):
    tup_bar = split_adjoint(out_bar, tup, 0)
    return tup_bar


@adjoint(np.hstack, linear=True)
def hstack(out, tup, *, out_bar):
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


@adjoint(np.flip, wrt=("m",), linear=True)
def flip(out, m, axis=None, *, out_bar):
    m_bar = np.flip(out_bar, axis)
    return m_bar


@adjoint(np.fliplr, linear=True)
def fliplr(out, m, *, out_bar):
    m_bar = np.fliplr(out_bar)
    return m_bar


@adjoint(np.flipud, linear=True)
def flipud(out, m, *, out_bar):
    m_bar = np.flipud(out_bar)
    return m_bar


# `np.negative`, since a shift may be a tuple.
@adjoint(np.roll, wrt=("a",), linear=True)
def roll(out, a, shift, axis=None, *, out_bar):
    a_bar = np.roll(out_bar, np.negative(shift), axis)
    return a_bar


@adjoint(np.sort, wrt=("a",))
def sort(out, a, axis=-1, kind=None, *, out_bar):
    if axis is None:
        a_bar = scatter(out_bar, np.ravel(a), np.argsort(np.ravel(a)))
        a_bar = np.reshape(a_bar, np.shape(a))
    else:
        places = np.argsort(np.argsort(a, axis), axis)
        a_bar = np.take_along_axis(out_bar, places, axis)
    return a_bar


@adjoint(np.diag, wrt=("v",), linear=True)
def diag(out, v, k=0, *, out_bar):
    if np.ndim(v) == 1:
        v_bar = np.diag(out_bar, k)
    else:
        v_bar = diag_adjoint(out_bar, v, k)
    return v_bar


@adjoint(np.diagonal, wrt=("a",), linear=True)
def diagonal(out, a, offset=0, axis1=0, axis2=1, *, out_bar):
    a_bar = diagonal_adjoint(out_bar, a, offset, axis1, axis2)
    return a_bar


@adjoint(np.tril, wrt=("m",), linear=True)
def tril(out, m, k=0, *, out_bar):
    m_bar = np.tril(out_bar, k)
    return m_bar


@adjoint(np.triu, wrt=("m",), linear=True)
def triu(out, m, k=0, *, out_bar):
    m_bar = np.triu(out_bar, k)
    return m_bar


@adjoint(np.copy, np.ascontiguousarray, wrt=("a",), full=False, linear=True)
def copy(out, a, *, out_bar):
    a_bar = out_bar
    return a_bar


# An integer result has no derivative.
@adjoint(np.array, np.asarray, np.asanyarray, wrt=("a",), linear="dtype")
def array(out, a, /, dtype=None, *, copy=True, order=None, ndmin=0, out_bar):
    if dtype is None:
        a_bar = out_bar
    else:
        a_bar = cast_adjoint(out_bar, out, a)
    if ndmin != 0:
        a_bar = np.reshape(a_bar, np.shape(a))
    return a_bar


@adjoint(np.ndarray.astype, wrt=("a",), pointwise=True)
def astype(out, a, dtype, *, copy=True, out_bar):
    a_bar = cast_adjoint(out_bar, out, a)
    return a_bar


@adjoint(np.take, wrt=("a",), linear=True)
def take(out, a, indices, axis=None, *, out_bar):
    a_bar = take_adjoint(out_bar, a, indices, axis)
    return a_bar


@adjoint(np.take_along_axis, wrt=("arr",), linear=True)
def take_along_axis(out, arr, indices, axis, *, out_bar):
    arr_bar = take_along_adjoint(out_bar, arr, indices, axis)
    return arr_bar


# Around the array are zeros.
@adjoint(np.pad, wrt=("array",), linear=True)
def pad(out, array, pad_width, *, out_bar):
    array_bar = pad_adjoint(out_bar, array, pad_width)
    return array_bar


@adjoint(operator.getitem, wrt=("a",), linear=True)
def getitem(out, a, b, *, out_bar):
    a_bar = scatter(out_bar, a, b)
    return a_bar


@adjoint(np.full, wrt=("fill_value",), linear=True)
def full(out, shape, fill_value, dtype=None, *, out_bar):
    fill_value_bar = unbroadcast(out_bar, fill_value)
    return fill_value_bar


@adjoint(np.full_like, wrt=("fill_value",), zero=("a",), linear=True)
def full_like(out, a, fill_value, *, out_bar):
    fill_value_bar = unbroadcast(out_bar, fill_value)
    return fill_value_bar


@adjoint(np.linspace, wrt=("start", "stop"))
def linspace(out, start, stop, num=50, *, out_bar):
    start_bar = unbroadcast(np.tensordot(np.linspace(1.0, 0.0, num), out_bar, 1), start)
    stop_bar = unbroadcast(np.tensordot(np.linspace(0.0, 1.0, num), out_bar, 1), stop)
    return start_bar, stop_bar
