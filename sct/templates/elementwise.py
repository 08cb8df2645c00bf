"""Rules of NumPy functions that act element by element.

``y = np.tanh(x)``  →  ``x_bar = y_bar * (1.0 - y * y)``

At kinks, where any subgradient will do, these are taken (``docs/kinks.md`` sets them
beside those of other tools): the sign of 0 is 0, equal operands of `maximum` and
`minimum` share equally, ``x**0`` has derivative 0 at 0.
"""

from __future__ import annotations

import numpy as np

from sct.runtime_elementwise import bessel_i1, sinc_slope

from .registry import adjoint, elementwise, is_square, nondifferentiable, tangent

nondifferentiable(
    *(np.sign, np.floor, np.ceil, np.rint, np.trunc, np.fix, np.round, np.around),
    *(np.floor_divide, np.heaviside, np.signbit, np.isnan, np.isinf, np.isfinite),
    *(np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal),
    *(np.logical_and, np.logical_or, np.logical_xor, np.logical_not),
    *(np.isclose, np.allclose, np.array_equal, np.isposinf, np.isneginf, np.isin),
    *(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert),
    *(np.left_shift, np.right_shift, np.spacing),
)


@adjoint(np.positive, pointwise=True)
def positive(out, x, *, out_bar):
    x_bar = out_bar
    return x_bar


@adjoint(np.conjugate, pointwise=True, linear=True)
def conjugate(out, x, *, out_bar):
    x_bar = np.conj(out_bar)
    return x_bar


# At 0 the derivative is 0.
@adjoint(np.absolute, np.fabs, pointwise=True)
def absolute(out, x, *, out_bar):
    if np.iscomplexobj(x):
        size = np.abs(x)
        x_bar = np.real(out_bar) * np.conj(x) / np.where(size == 0, 1.0, size)
    else:
        x_bar = out_bar * np.sign(x)
    return x_bar


@tangent(np.absolute, np.fabs)
def absolute_tangent(out, x, *, x_dot):
    if np.iscomplexobj(x):
        out_dot = np.real(np.conj(x) * x_dot) / np.where(out == 0, 1.0, out)
    else:
        out_dot = x_dot * np.sign(x)
    return out_dot


@adjoint(np.exp, pointwise=True, singular="overflow")
def exp(out, x, *, out_bar):
    x_bar = out_bar * out
    return x_bar


# log 2 is a literal: `np.log(2.0)` would widen single precision.
@adjoint(np.exp2, pointwise=True, singular="overflow")
def exp2(out, x, *, out_bar):
    x_bar = 0.6931471805599453 * out_bar * out
    return x_bar


@adjoint(np.expm1, pointwise=True, singular="overflow")
def expm1(out, x, *, out_bar):
    x_bar = out_bar * (out + 1.0)
    return x_bar


@adjoint(np.log, pointwise=True, singular="pole")
def log(out, x, *, out_bar):
    x_bar = out_bar / x
    return x_bar


# By log 2.
@adjoint(np.log2, pointwise=True, singular="pole")
def log2(out, x, *, out_bar):
    x_bar = out_bar / (0.6931471805599453 * x)
    return x_bar


# By log 10.
@adjoint(np.log10, pointwise=True, singular="pole")
def log10(out, x, *, out_bar):
    x_bar = out_bar / (2.302585092994046 * x)
    return x_bar


@adjoint(np.log1p, pointwise=True, singular="pole")
def log1p(out, x, *, out_bar):
    x_bar = out_bar / (1.0 + x)
    return x_bar


# The root of a sum of squares is a norm: at 0 its derivative is 0.
@adjoint(np.sqrt, pointwise=True, singular="pole")
def sqrt(out, x, *, out_bar):
    if is_square(x):
        x_bar = 0.5 * out_bar / (out + (out == 0))
    else:
        x_bar = 0.5 * out_bar / out
    return x_bar


@adjoint(np.cbrt, pointwise=True, singular="pole")
def cbrt(out, x, *, out_bar):
    x_bar = out_bar / (3.0 * out * out)
    return x_bar


@adjoint(np.square, pointwise=True)
def square(out, x, *, out_bar):
    x_bar = 2.0 * out_bar * x
    return x_bar


@adjoint(np.reciprocal, pointwise=True, singular="pole")
def reciprocal(out, x, *, out_bar):
    x_bar = -out_bar * out * out
    return x_bar


@adjoint(np.sin, pointwise=True)
def sin(out, x, *, out_bar):
    x_bar = out_bar * np.cos(x)
    return x_bar


@adjoint(np.cos, pointwise=True)
def cos(out, x, *, out_bar):
    x_bar = -out_bar * np.sin(x)
    return x_bar


@adjoint(np.tan, pointwise=True)
def tan(out, x, *, out_bar):
    x_bar = out_bar * (1.0 + out * out)
    return x_bar


@adjoint(np.arcsin, pointwise=True, singular="pole")
def arcsin(out, x, *, out_bar):
    x_bar = out_bar / np.sqrt(1.0 - x * x)
    return x_bar


@adjoint(np.arccos, pointwise=True, singular="pole")
def arccos(out, x, *, out_bar):
    x_bar = -out_bar / np.sqrt(1.0 - x * x)
    return x_bar


@adjoint(np.arctan, pointwise=True)
def arctan(out, x, *, out_bar):
    x_bar = out_bar / (1.0 + x * x)
    return x_bar


@elementwise(np.arctan2, singular="pole")
def arctan2(out, y, x):
    r2 = x * x + y * y
    return x / r2, -y / r2


@adjoint(np.sinh, pointwise=True, singular="overflow")
def sinh(out, x, *, out_bar):
    x_bar = out_bar * np.cosh(x)
    return x_bar


@adjoint(np.cosh, pointwise=True, singular="overflow")
def cosh(out, x, *, out_bar):
    x_bar = out_bar * np.sinh(x)
    return x_bar


@adjoint(np.tanh, pointwise=True)
def tanh(out, x, *, out_bar):
    x_bar = out_bar * (1.0 - out * out)
    return x_bar


@adjoint(np.arcsinh, pointwise=True)
def arcsinh(out, x, *, out_bar):
    x_bar = out_bar / np.sqrt(x * x + 1.0)
    return x_bar


# Two roots: x**2 - 1 loses all digits near 1, and its root is another one for some
# complex numbers.
@adjoint(np.arccosh, pointwise=True, singular="pole")
def arccosh(out, x, *, out_bar):
    x_bar = out_bar / (np.sqrt(x - 1.0) * np.sqrt(x + 1.0))
    return x_bar


@adjoint(np.arctanh, pointwise=True, singular="pole")
def arctanh(out, x, *, out_bar):
    x_bar = out_bar / (1.0 - x * x)
    return x_bar


@adjoint(np.degrees, np.rad2deg, pointwise=True)
def degrees(out, x, *, out_bar):
    x_bar = 180.0 / np.pi * out_bar
    return x_bar


@adjoint(np.radians, np.deg2rad, pointwise=True)
def radians(out, x, *, out_bar):
    x_bar = np.pi / 180.0 * out_bar
    return x_bar


@adjoint(np.sinc, pointwise=True)
def sinc(out, x, *, out_bar):
    x_bar = out_bar * sinc_slope(x)
    return x_bar


# At the origin the derivative is 0.
@adjoint(np.hypot, pointwise=True)
def hypot(out, x, y, *, out_bar):
    x_bar = out_bar * x / np.where(out == 0, 1.0, out)
    y_bar = out_bar * y / np.where(out == 0, 1.0, out)
    return x_bar, y_bar


# Equal operands get half each.
@adjoint(np.maximum, np.minimum, np.fmax, np.fmin, pointwise=True)
def maximum(out, x, y, *, out_bar):
    x_bar = np.where(x == y, 0.5 * out_bar, np.where(x == out, out_bar, 0.0))
    y_bar = np.where(x == y, 0.5 * out_bar, np.where(y == out, out_bar, 0.0))
    return x_bar, y_bar


@tangent(np.maximum, np.minimum, np.fmax, np.fmin)
def maximum_tangent(out, x, y, *, x_dot, y_dot):
    larger_dot = np.where(x == out, x_dot, y_dot)
    out_dot = np.where(x == y, 0.5 * (x_dot + y_dot), larger_dot)
    return out_dot


# A bound that is met passes the adjoint on to `a`.
@adjoint(np.clip, wrt=("a", "a_min", "a_max", "min", "max"), pointwise=True)
def clip(out, a, a_min=None, a_max=None, *, min=None, max=None, out_bar):
    a_bar = np.where(a == out, out_bar, 0.0)
    a_min_bar = np.where(a < out, out_bar, 0.0)
    a_max_bar = np.where(a > out, out_bar, 0.0)
    min_bar = np.where(a < out, out_bar, 0.0)
    max_bar = np.where(a > out, out_bar, 0.0)
    return a_bar, a_min_bar, a_max_bar, min_bar, max_bar


@adjoint(np.where, wrt=("x", "y"), zero=("condition",), pointwise=True, jointly=True)
def where(out, condition, x, y, *, out_bar):
    x_bar = np.where(condition, out_bar, 0.0)
    y_bar = np.where(condition, 0.0, out_bar)
    return x_bar, y_bar


# Where both are -inf the derivative is 0.
@adjoint(np.logaddexp, pointwise=True)
def logaddexp(out, x, y, *, out_bar):
    base = np.where(out == -np.inf, 0.0, out)
    x_bar = out_bar * np.exp(x - base)
    y_bar = out_bar * np.exp(y - base)
    return x_bar, y_bar


# Where both are -inf the derivative is 0.
@adjoint(np.logaddexp2, pointwise=True)
def logaddexp2(out, x, y, *, out_bar):
    base = np.where(out == -np.inf, 0.0, out)
    x_bar = out_bar * np.exp2(x - base)
    y_bar = out_bar * np.exp2(y - base)
    return x_bar, y_bar


@adjoint(np.copysign, wrt=("x",), zero=("y",), pointwise=True)
def copysign(out, x, y, *, out_bar):
    x_bar = out_bar * np.sign(x) * np.sign(out)
    return x_bar


@adjoint(np.fmod, pointwise=True)
def fmod(out, x, y, *, out_bar):
    x_bar = out_bar
    y_bar = -out_bar * np.trunc(x / y)
    return x_bar, y_bar


@adjoint(np.nan_to_num, wrt=("x",), pointwise=True)
def nan_to_num(out, x, *, nan=0.0, posinf=None, neginf=None, out_bar):
    x_bar = np.where(np.isfinite(x), out_bar, 0.0)
    return x_bar


@adjoint(np.frexp)
def frexp(out, x, *, out_bar):
    x_bar = np.ldexp(out_bar[0], -out[1])
    return x_bar


@tangent(np.frexp)
def frexp_tangent(out, x, *, x_dot):
    return (np.ldexp(x_dot, -out[1]), 0.0 * x_dot)


@adjoint(np.nextafter, wrt=("x",), zero=("y",), pointwise=True)
def nextafter(out, x, y, *, out_bar):
    x_bar = out_bar
    return x_bar


# Whole periods are added, which have no derivative.
@adjoint(np.unwrap, wrt=("p",), pointwise=True)
def unwrap(out, p, discont=None, axis=-1, *, period=None, out_bar):
    p_bar = out_bar
    return p_bar


@adjoint(np.i0, pointwise=True, singular="overflow")
def i0(out, x, *, out_bar):
    x_bar = out_bar * bessel_i1(x)
    return x_bar


@adjoint(np.ldexp, wrt=("x",), zero=("n",), pointwise=True)
def ldexp(out, x, n, *, out_bar):
    x_bar = np.ldexp(out_bar, n)
    return x_bar


@adjoint(np.real_if_close, wrt=("a",), pointwise=True)
def real_if_close(out, a, *, out_bar):
    a_bar = out_bar
    return a_bar
