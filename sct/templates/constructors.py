"""Rules of functions that make arrays: of values, of copies, of evenly spaced numbers.

``x = np.full((2, 3), a)``  →  ``a_bar = np.sum(x_bar)``
"""

from __future__ import annotations

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_joins import cast_tangent
from sct.runtime_rules import cast_adjoint

from .registry import adjoint, given, nondifferentiable, tangent

nondifferentiable(
    *(np.shape, np.size, np.ndim, np.zeros, np.ones, np.eye, np.identity, np.empty),
    *(np.zeros_like, np.ones_like, np.empty_like, np.tri, np.result_type, np.isscalar),
    *(np.iscomplexobj, np.isrealobj, np.indices, np.can_cast, np.promote_types),
    *(np.array2string, np.format_float_positional, np.format_float_scientific),
    *(np.min_scalar_type, np.broadcast_shapes, np.issubdtype),
)


@adjoint(np.copy, wrt=("a",), full=False, linear=True)
def copy(out, a, order="K", subok=False, *, out_bar):
    a_bar = out_bar
    return a_bar


@adjoint(np.ascontiguousarray, np.asfortranarray, wrt=("a",), linear="dtype")
def ascontiguousarray(out, a, dtype=None, *, out_bar):
    if dtype is None:
        a_bar = out_bar
    else:
        a_bar = cast_adjoint(out_bar, out, a)
    return a_bar


@tangent(np.ascontiguousarray, np.asfortranarray)
def ascontiguousarray_tangent(out, a, dtype=None, *, a_dot):
    from_a = cast_tangent(a_dot, out)
    return from_a


@adjoint(np.asarray_chkfinite, wrt=("a",), linear="dtype")
def asarray_chkfinite(out, a, dtype=None, order=None, *, out_bar):
    if dtype is None:
        a_bar = out_bar
    else:
        a_bar = cast_adjoint(out_bar, out, a)
    return a_bar


@tangent(np.asarray_chkfinite)
def asarray_chkfinite_tangent(out, a, dtype=None, order=None, *, a_dot):
    from_a = cast_tangent(a_dot, out)
    return from_a


@adjoint(np.require, wrt=("a",), linear="dtype")
def require(out, a, dtype=None, requirements=None, *, out_bar):
    if dtype is None:
        a_bar = out_bar
    else:
        a_bar = cast_adjoint(out_bar, out, a)
    return a_bar


@tangent(np.require)
def require_tangent(out, a, dtype=None, requirements=None, *, a_dot):
    from_a = cast_tangent(a_dot, out)
    return from_a


# An integer result has no derivative.
@adjoint(np.array, np.asarray, np.asanyarray, wrt=("a",), linear="dtype")
def array(
    out, a, /, dtype=None, *, copy=True, order=None, subok=False, ndmin=0, out_bar
):
    if dtype is None:
        a_bar = out_bar
    else:
        a_bar = cast_adjoint(out_bar, out, a)
    if ndmin != 0:
        a_bar = np.reshape(a_bar, np.shape(a))
    return a_bar


@tangent(np.array, np.asarray, np.asanyarray)
def array_tangent(
    out, a, /, dtype=None, *, copy=True, order=None, subok=False, ndmin=0, a_dot
):
    from_a = cast_tangent(np.array(a_dot, ndmin=ndmin), out)
    return from_a


@adjoint(np.ndarray.astype, wrt=("a",), pointwise=True)
def astype(
    out, a, dtype, order="K", casting="unsafe", subok=True, copy=True, *, out_bar
):
    a_bar = cast_adjoint(out_bar, out, a)
    return a_bar


@adjoint(np.ndarray.view, wrt=("a",), full=False, linear=True)
def view(out, a, *, out_bar):
    a_bar = out_bar
    return a_bar


@adjoint(np.ndarray.tolist, wrt=("a",), linear=True)
def tolist(out, a, *, out_bar):
    a_bar = np.array(out_bar)
    return a_bar


@adjoint(np.full, wrt=("fill_value",), zero=("dtype",), linear=True)
def full(out, shape, fill_value, dtype=None, order="C", *, out_bar):
    fill_value_bar = unbroadcast(out_bar, fill_value)
    return fill_value_bar


@adjoint(np.full_like, wrt=("fill_value",), zero=("a", "dtype"), linear=True)
def full_like(
    out, a, fill_value, dtype=None, order="K", subok=True, *, shape=None, out_bar
):
    fill_value_bar = unbroadcast(out_bar, fill_value)
    return fill_value_bar


@adjoint(np.linspace, wrt=("start", "stop"), zero=("dtype",))
def linspace(out, start, stop, num=50, endpoint=True, *, dtype=None, axis=0, out_bar):
    if axis == 0:
        rows_bar = out_bar
    else:
        rows_bar = np.moveaxis(out_bar, axis, 0)
    if endpoint:
        rising, falling = np.linspace(0.0, 1.0, num), np.linspace(1.0, 0.0, num)
    else:
        rising = np.linspace(0.0, 1.0, num, endpoint)
        falling = 1.0 - rising
    start_bar = unbroadcast(np.tensordot(falling, rows_bar, 1), start)
    stop_bar = unbroadcast(np.tensordot(rising, rows_bar, 1), stop)
    return start_bar, stop_bar


@tangent(np.linspace)
def linspace_tangent(
    out, start, stop, num=50, endpoint=True, *, dtype=None, axis=0, start_dot, stop_dot
):
    zero_stop = np.zeros(np.shape(stop), out.dtype)
    from_start = np.linspace(start_dot, zero_stop, num, endpoint, axis=axis)
    zero_start = np.zeros(np.shape(start), out.dtype)
    from_stop = np.linspace(zero_start, stop_dot, num, endpoint, axis=axis)
    return from_start, from_stop


# Of a single argument, how far to go, only the length depends.
@adjoint(np.arange, wrt=("start", "step"), zero=("stop", "dtype"))
def arange(out, start, stop=None, step=None, dtype=None, *, out_bar):
    if given(stop):
        start_bar = np.sum(out_bar)
    else:
        start_bar = 0.0
    step_bar = np.sum(out_bar * np.arange(np.size(out)))
    return start_bar, step_bar


@tangent(np.arange)
def arange_tangent(
    out, start, stop=None, step=None, dtype=None, *, start_dot, step_dot
):
    if given(stop):
        from_start = np.full_like(out, start_dot)
    else:
        from_start = np.zeros_like(out)
    from_step = step_dot * np.arange(np.size(out))
    return from_start, from_step


@adjoint(np.float32, np.float64, np.longdouble, pointwise=True)
def cast(out, x, *, out_bar):
    x_bar = out_bar
    return x_bar
