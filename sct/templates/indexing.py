"""Rules of functions that pick elements of arrays, by index, place or condition.

``y = x[i]``  →  ``x_bar = scatter(y_bar, x, i)``
"""

from __future__ import annotations

import operator

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_joins import (
    item_adjoint,
    numbers,
)
from sct.runtime_rules import (
    diag_adjoint,
    diagonal_adjoint,
    scatter,
    take_adjoint,
    take_along_adjoint,
)

from .registry import adjoint, nondifferentiable

nondifferentiable(
    *(np.tril_indices, np.triu_indices, np.diag_indices, np.unravel_index, np.ix_),
    np.ndindex,
    *(np.tril_indices_from, np.triu_indices_from, np.diag_indices_from),
    *(np.ravel_multi_index, np.shares_memory, np.may_share_memory),
)


@adjoint(operator.getitem, wrt=("a",), linear=True)
def getitem(out, a, b, *, out_bar):
    a_bar = scatter(out_bar, a, b)
    return a_bar


@adjoint(np.ndarray.item, wrt=("a",), linear=True)
def item(out, a, *args, out_bar):
    a_bar = item_adjoint(out_bar, a, *args)
    return a_bar


@adjoint(np.take, wrt=("a",), linear=True)
def take(out, a, indices, axis=None, *, mode="raise", out_bar):
    if mode == "raise":
        a_bar = take_adjoint(out_bar, a, indices, axis)
    else:
        places = np.take(numbers(a), indices, axis, mode=mode)
        a_bar = take_adjoint(out_bar, a, places)
    return a_bar


@adjoint(np.take_along_axis, wrt=("arr",), linear=True)
def take_along_axis(out, arr, indices, axis, *, out_bar):
    arr_bar = take_along_adjoint(out_bar, arr, indices, axis)
    return arr_bar


@adjoint(np.compress, wrt=("a",), linear=True)
def compress(out, condition, a, axis=None, *, out_bar):
    a_bar = take_adjoint(out_bar, a, np.compress(condition, numbers(a), axis))
    return a_bar


@adjoint(np.ndarray.compress, wrt=("a",), linear=True)
def compress_method(out, a, condition, axis=None, *, out_bar):
    a_bar = take_adjoint(out_bar, a, np.compress(condition, numbers(a), axis))
    return a_bar


@adjoint(np.extract, wrt=("arr",), linear=True)
def extract(out, condition, arr, *, out_bar):
    arr_bar = take_adjoint(out_bar, arr, np.extract(condition, numbers(arr)))
    return arr_bar


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


@adjoint(np.diagflat, wrt=("v",), linear=True)
def diagflat(out, v, k=0, *, out_bar):
    v_bar = np.reshape(np.diagonal(out_bar, k), np.shape(v))
    return v_bar


@adjoint(np.tril, wrt=("m",), linear=True)
def tril(out, m, k=0, *, out_bar):
    if np.ndim(m) >= 2:
        m_bar = np.tril(out_bar, k)
    else:
        m_bar = unbroadcast(np.tril(out_bar, k), m)
    return m_bar


@adjoint(np.triu, wrt=("m",), linear=True)
def triu(out, m, k=0, *, out_bar):
    if np.ndim(m) >= 2:
        m_bar = np.triu(out_bar, k)
    else:
        m_bar = unbroadcast(np.triu(out_bar, k), m)
    return m_bar
