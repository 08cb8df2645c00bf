"""Rules of functions that shape, turn and spread arrays.

``y = np.swapaxes(x, 0, 1)``  →  ``x_bar = np.swapaxes(y_bar, 0, 1)``
"""

from __future__ import annotations

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_joins import (
    broadcast_adjoint,
    layout,
    meshgrid_adjoint,
    rolled_to,
    strided_places,
    window_places,
)
from sct.runtime_rules import take_adjoint

from .registry import adjoint, nondifferentiable

nondifferentiable(layout, rolled_to, strided_places, window_places)


@adjoint(np.reshape, wrt=("a",), linear=True)
def reshape(out, a, shape, order="C", *, copy=None, out_bar):
    if order == "C":
        a_bar = np.reshape(out_bar, np.shape(a))
    else:
        a_bar = np.reshape(out_bar, np.shape(a), order=layout(a, order))
    return a_bar


@adjoint(np.ravel, np.ndarray.flatten, wrt=("a",), linear=True)
def ravel(out, a, order="C", *, out_bar):
    if order == "C":
        a_bar = np.reshape(out_bar, np.shape(a))
    else:
        a_bar = np.reshape(out_bar, np.shape(a), order=layout(a, order))
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


@adjoint(np.broadcast_to, wrt=("array",), zero=("subok",), linear=True)
def broadcast_to(out, array, shape, subok=False, *, out_bar):
    array_bar = unbroadcast(out_bar, array)
    return array_bar


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


@adjoint(np.rot90, wrt=("m",), linear=True)
def rot90(out, m, k=1, axes=(0, 1), *, out_bar):
    m_bar = np.rot90(out_bar, -k, axes)
    return m_bar


# `np.negative`, since a shift may be a tuple.
@adjoint(np.roll, wrt=("a",), linear=True)
def roll(out, a, shift, axis=None, *, out_bar):
    a_bar = np.roll(out_bar, np.negative(shift), axis)
    return a_bar


@adjoint(np.rollaxis, wrt=("a",), linear=True)
def rollaxis(out, a, axis, start=0, *, out_bar):
    a_bar = np.moveaxis(out_bar, rolled_to(a, axis, start), axis)
    return a_bar


@adjoint(np.broadcast_arrays, wrt=("args",), zero=("subok",), linear=True)
def broadcast_arrays(out, *args, subok=False, out_bar):
    args_bar = broadcast_adjoint(out_bar, args)
    return args_bar


@adjoint(np.meshgrid, wrt=("xi",), linear=True)
def meshgrid(out, *xi, copy=True, sparse=False, indexing="xy", out_bar):
    xi_bar = meshgrid_adjoint(out_bar, xi, indexing)
    return xi_bar


@adjoint(np.lib.stride_tricks.sliding_window_view, wrt=("x",), linear=True)
def sliding_window_view(out, x, window_shape, axis=None, *, out_bar):
    x_bar = take_adjoint(out_bar, x, window_places(x, window_shape, axis))
    return x_bar


@adjoint(np.lib.stride_tricks.as_strided, wrt=("x",), linear=True)
def as_strided(out, x, shape=None, strides=None, *, out_bar):
    x_bar = take_adjoint(out_bar, x, strided_places(x, shape, strides))
    return x_bar


# NumPy 2.0 and later.
if hasattr(np, "matrix_transpose"):

    @adjoint(np.matrix_transpose, linear=True)
    def matrix_transpose(out, x, /, *, out_bar):
        x_bar = np.matrix_transpose(out_bar)
        return x_bar
