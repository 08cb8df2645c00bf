"""Rules of methods of ufuncs, such as ``np.maximum.accumulate``.

A method of a ufunc is a new object whenever it is looked up.  So each stands here as a
function of its own, by which `METHODS_OF_UFUNCS` finds the rule.
"""

from __future__ import annotations

import numpy as np

from sct.runtime_elementwise import reduceat_adjoint, running_places
from sct.runtime_rules import take_along_adjoint

from .registry import adjoint, nondifferentiable, tangent

nondifferentiable(running_places)


def logaddexp_reduce(array, axis=0, *, keepdims=False):
    """``np.logaddexp.reduce``."""
    return np.logaddexp.reduce(array, axis, keepdims=keepdims)


def hypot_reduce(array, axis=0, *, keepdims=False):
    """``np.hypot.reduce``."""
    return np.hypot.reduce(array, axis, keepdims=keepdims)


def maximum_accumulate(array, axis=0):
    """``np.maximum.accumulate``."""
    return np.maximum.accumulate(array, axis)


def minimum_accumulate(array, axis=0):
    """``np.minimum.accumulate``."""
    return np.minimum.accumulate(array, axis)


def add_reduceat(array, indices, axis=0):
    """``np.add.reduceat``."""
    return np.add.reduceat(array, indices, axis)


METHODS_OF_UFUNCS: dict[tuple[object, str], object] = {
    (np.logaddexp, "reduce"): logaddexp_reduce,
    (np.hypot, "reduce"): hypot_reduce,
    (np.maximum, "accumulate"): maximum_accumulate,
    (np.minimum, "accumulate"): minimum_accumulate,
    (np.add, "reduceat"): add_reduceat,
}
"""The function here that a method of a ufunc is."""


# Where all is -inf the derivative is 0.
@adjoint(logaddexp_reduce, wrt=("array",), full="axis")
def logaddexp_reduce_(out, array, axis=0, *, keepdims=False, out_bar):
    base = np.where(out == -np.inf, 0.0, out)
    if axis is None or keepdims:
        array_bar = out_bar * np.exp(array - base)
    else:
        shares = np.exp(array - np.expand_dims(base, axis))
        array_bar = np.expand_dims(out_bar, axis) * shares
    return array_bar


@tangent(logaddexp_reduce)
def logaddexp_reduce_tangent(out, array, axis=0, *, keepdims=False, array_dot):
    base = np.where(out == -np.inf, 0.0, out)
    if not (axis is None or keepdims):
        base = np.expand_dims(base, axis)
    moved = np.exp(array - base) * array_dot
    return np.sum(moved, axis, keepdims=keepdims)


# At the origin the derivative is 0.
@adjoint(hypot_reduce, wrt=("array",), full="axis")
def hypot_reduce_(out, array, axis=0, *, keepdims=False, out_bar):
    base = np.where(out == 0, 1.0, out)
    if axis is None or keepdims:
        array_bar = out_bar / base * array
    else:
        array_bar = np.expand_dims(out_bar / base, axis) * array
    return array_bar


@tangent(hypot_reduce)
def hypot_reduce_tangent(out, array, axis=0, *, keepdims=False, array_dot):
    moved = np.sum(array * array_dot, axis, keepdims=keepdims)
    return moved / np.where(out == 0, 1.0, out)


# Of equal elements the first counts.
@adjoint(maximum_accumulate, minimum_accumulate, wrt=("array",))
def running(out, array, axis=0, *, out_bar):
    places = running_places(out, array, axis)
    array_bar = take_along_adjoint(out_bar, array, places, axis)
    return array_bar


@tangent(maximum_accumulate, minimum_accumulate)
def running_tangent(out, array, axis=0, *, array_dot):
    return np.take_along_axis(array_dot, running_places(out, array, axis), axis)


@adjoint(add_reduceat, wrt=("array",), linear=True)
def add_reduceat_(out, array, indices, axis=0, *, out_bar):
    array_bar = reduceat_adjoint(out_bar, array, indices, axis)
    return array_bar


@adjoint(reduceat_adjoint, wrt=("g",), zero=("array",), linear=True)
def reduceat(out, g, array, indices, axis=0, *, out_bar):
    g_bar = np.add.reduceat(out_bar, indices, axis)
    return g_bar
