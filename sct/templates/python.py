"""Rules of builtins and of the module `math`, written in `math`'s own names.

``y = math.sin(x)``  →  ``x_bar = y_bar * math.cos(x)``
"""

from __future__ import annotations

import math

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_elementwise import (
    digamma,
    dist_adjoint,
    dist_change,
    prod_adjoint,
    prod_change,
)
from sct.runtime_rules import itemised, sum_adjoint

from .registry import adjoint, elementwise, nondifferentiable, tangent


def _of_math(*names: str) -> list[object]:
    """Functions of `math`, those that this version of Python has."""
    return [getattr(math, n) for n in names if hasattr(math, n)]


nondifferentiable(
    *(len, int, bool, round, isinstance, issubclass, type, range, any, all, str, repr),
    *(callable, hasattr, id, hash),
    *(math.floor, math.ceil, math.trunc, math.isnan, math.isinf, math.isfinite),
    *(math.isclose, math.comb, math.factorial, math.gcd, math.isqrt, math.perm),
    *(math.lcm, math.ulp, float.is_integer),
)


# At 0 the derivative is 0.
@adjoint(abs, pointwise=True)
def abs_(out, x, *, out_bar):
    if np.iscomplexobj(x):
        size = np.abs(x)
        x_bar = np.real(out_bar) * np.conj(x) / np.where(size == 0, 1.0, size)
    else:
        x_bar = out_bar * np.sign(x)
    return x_bar


@tangent(abs)
def abs_tangent(out, x, *, x_dot):
    if np.iscomplexobj(x):
        out_dot = np.real(np.conj(x) * x_dot) / np.where(out == 0, 1.0, out)
    else:
        out_dot = x_dot * np.sign(x)
    return out_dot


# Equal operands get half each.
@elementwise(max)
def max_(out, a, b):
    return (1.0 * (a > b) + 0.5 * (a == b)), (1.0 * (b > a) + 0.5 * (a == b))


# Equal operands get half each.
@elementwise(min)
def min_(out, a, b):
    return (1.0 * (a < b) + 0.5 * (a == b)), (1.0 * (b < a) + 0.5 * (a == b))


@adjoint(sum, wrt=("iterable", "start"), jointly=True)
def sum_(out, iterable, /, start=0, *, out_bar):
    iterable_bar = sum_adjoint(out_bar, iterable)
    start_bar = unbroadcast(out_bar, start)
    return iterable_bar, start_bar


@adjoint(list, tuple, wrt=("iterable",), full=True, linear=True)
def list_(out, iterable, /, *, out_bar):
    iterable_bar = itemised(out_bar, iterable)
    return iterable_bar


# A conversion; what is held in fewer digits has the same derivative.
@adjoint(
    *(float, np.float32, np.float64, np.longdouble),
    *(np.complex64, np.complex128, np.clongdouble),
    pointwise=True,
)
def float_(out, x, /, *, out_bar):
    x_bar = out_bar
    return x_bar


@adjoint(divmod, np.divmod)
def divmod_(out, a, b, *, out_bar):
    if np.ndim(a) == 0 and np.ndim(b) == 0:
        a_bar = out_bar[1]
        b_bar = -out_bar[1] * (a // b)
    else:
        a_bar = unbroadcast(out_bar[1], a)
        b_bar = unbroadcast(-out_bar[1] * (a // b), b)
    return a_bar, b_bar


@tangent(divmod, np.divmod)
def divmod_tangent(out, a, b, *, a_dot, b_dot):
    rest_dot = a_dot - out[0] * b_dot
    out_dot = (0.0 * rest_dot, rest_dot)
    return out_dot


@adjoint(math.modf, np.modf)
def modf(out, x, *, out_bar):
    x_bar = out_bar[0]
    return x_bar


@tangent(math.modf, np.modf)
def modf_tangent(out, x, *, x_dot):
    return (x_dot, 0.0 * x_dot)


@adjoint(math.frexp)
def frexp(out, x, *, out_bar):
    x_bar = math.ldexp(out_bar[0], -out[1])
    return x_bar


@tangent(math.frexp)
def frexp_tangent(out, x, *, x_dot):
    return (math.ldexp(x_dot, -out[1]), 0)


@adjoint(math.fsum)
def fsum(out, seq, /, *, out_bar):
    seq_bar = sum_adjoint(out_bar, seq)
    return seq_bar


@tangent(math.fsum)
def fsum_tangent(out, seq, /, *, seq_dot):
    return math.fsum(seq_dot)


@adjoint(math.prod, wrt=("iterable", "start"))
def prod(out, iterable, /, *, start=1, out_bar):
    iterable_bar = prod_adjoint(out_bar * start, iterable)
    start_bar = out_bar * math.prod(iterable)
    return iterable_bar, start_bar


@tangent(math.prod)
def prod_tangent(out, iterable, /, *, start=1, iterable_dot, start_dot):
    from_iterable = start * prod_change(iterable, iterable_dot)
    from_start = math.prod(iterable) * start_dot
    return from_iterable, from_start


# Where the points are the same the derivative is 0.
@adjoint(math.dist)
def dist(out, p, q, /, *, out_bar):
    p_bar = dist_adjoint(out_bar, out, p, q)
    q_bar = dist_adjoint(out_bar, out, q, p)
    return p_bar, q_bar


@tangent(math.dist)
def dist_tangent(out, p, q, /, *, p_dot, q_dot):
    from_p = dist_change(out, p, q, p_dot)
    from_q = dist_change(out, q, p, q_dot)
    return from_p, from_q


# At 0 the derivative is 0.
@adjoint(math.fabs, pointwise=True)
def fabs(out, x, *, out_bar):
    x_bar = out_bar * ((x > 0) - 1.0 * (x < 0))
    return x_bar


@adjoint(math.sin, pointwise=True)
def sin(out, x, *, out_bar):
    x_bar = out_bar * math.cos(x)
    return x_bar


@adjoint(math.cos, pointwise=True)
def cos(out, x, *, out_bar):
    x_bar = -out_bar * math.sin(x)
    return x_bar


@adjoint(math.tan, pointwise=True)
def tan(out, x, *, out_bar):
    x_bar = out_bar * (1.0 + out * out)
    return x_bar


@adjoint(math.asin, pointwise=True, singular="pole")
def asin(out, x, *, out_bar):
    x_bar = out_bar / math.sqrt(1.0 - x * x)
    return x_bar


@adjoint(math.acos, pointwise=True, singular="pole")
def acos(out, x, *, out_bar):
    x_bar = -out_bar / math.sqrt(1.0 - x * x)
    return x_bar


@adjoint(math.atan, pointwise=True)
def atan(out, x, *, out_bar):
    x_bar = out_bar / (1.0 + x * x)
    return x_bar


@elementwise(math.atan2, singular="pole")
def atan2(out, y, x):
    r2 = x * x + y * y
    return x / r2, -y / r2


@adjoint(math.sinh, pointwise=True)
def sinh(out, x, *, out_bar):
    x_bar = out_bar * math.cosh(x)
    return x_bar


@adjoint(math.cosh, pointwise=True)
def cosh(out, x, *, out_bar):
    x_bar = out_bar * math.sinh(x)
    return x_bar


@adjoint(math.tanh, pointwise=True)
def tanh(out, x, *, out_bar):
    x_bar = out_bar * (1.0 - out * out)
    return x_bar


@adjoint(math.asinh, pointwise=True)
def asinh(out, x, *, out_bar):
    x_bar = out_bar / math.sqrt(x * x + 1.0)
    return x_bar


# (x - 1)(x + 1), since x**2 - 1 loses all digits near 1.
@adjoint(math.acosh, pointwise=True, singular="pole")
def acosh(out, x, *, out_bar):
    x_bar = out_bar / math.sqrt((x - 1.0) * (x + 1.0))
    return x_bar


@adjoint(math.atanh, pointwise=True, singular="pole")
def atanh(out, x, *, out_bar):
    x_bar = out_bar / (1.0 - x * x)
    return x_bar


@adjoint(math.exp, pointwise=True)
def exp(out, x, *, out_bar):
    x_bar = out_bar * out
    return x_bar


# log 2 is a literal.
@adjoint(*_of_math("exp2"), pointwise=True)
def exp2(out, x, *, out_bar):
    x_bar = 0.6931471805599453 * out_bar * out
    return x_bar


@adjoint(math.expm1, pointwise=True)
def expm1(out, x, *, out_bar):
    x_bar = out_bar * (out + 1.0)
    return x_bar


@adjoint(math.log, wrt=("x", "base"), pointwise=True, singular="pole")
def log(out, x, base=None, /, *, out_bar):
    if base is None:
        x_bar = out_bar / x
        base_bar = None
    else:
        x_bar = out_bar / (x * math.log(base))
        base_bar = -out_bar * out / (base * math.log(base))
    return x_bar, base_bar


@adjoint(math.log2, pointwise=True, singular="pole")
def log2(out, x, *, out_bar):
    x_bar = out_bar / (math.log(2.0) * x)
    return x_bar


@adjoint(math.log10, pointwise=True, singular="pole")
def log10(out, x, *, out_bar):
    x_bar = out_bar / (math.log(10.0) * x)
    return x_bar


@adjoint(math.log1p, pointwise=True, singular="pole")
def log1p(out, x, *, out_bar):
    x_bar = out_bar / (1.0 + x)
    return x_bar


@adjoint(math.sqrt, pointwise=True, singular="pole")
def sqrt(out, x, *, out_bar):
    x_bar = 0.5 * out_bar / out
    return x_bar


@adjoint(*_of_math("cbrt"), pointwise=True, singular="pole")
def cbrt(out, x, *, out_bar):
    x_bar = out_bar / (3.0 * out * out)
    return x_bar


# x**0 has derivative 0 also at 0; in y it is 0 at x == 0, and nan for x < 0.
@adjoint(math.pow, pointwise=True, singular="pole")
def pow_(out, x, y, *, out_bar):
    x_bar = y * out_bar * x ** (y - (y != 0))
    y_bar = out_bar * out * np.log(np.where(x == 0, 1.0, x))
    return x_bar, y_bar


# At the origin the derivative is 0.
@adjoint(math.hypot, pointwise=True)
def hypot(out, x, y, *, out_bar):
    x_bar = out_bar * x / (out + (out == 0))
    y_bar = out_bar * y / (out + (out == 0))
    return x_bar, y_bar


@adjoint(math.degrees, pointwise=True)
def degrees(out, x, *, out_bar):
    x_bar = 180.0 / math.pi * out_bar
    return x_bar


@adjoint(math.radians, pointwise=True)
def radians(out, x, *, out_bar):
    x_bar = math.pi / 180.0 * out_bar
    return x_bar


@adjoint(math.copysign, wrt=("x",), zero=("y",), pointwise=True)
def copysign(out, x, y, *, out_bar):
    x_bar = out_bar * math.copysign(1.0, x) * math.copysign(1.0, y)
    return x_bar


@adjoint(math.fmod, pointwise=True)
def fmod(out, x, y, *, out_bar):
    x_bar = out_bar
    y_bar = -out_bar * math.trunc(x / y)
    return x_bar, y_bar


@adjoint(math.remainder, pointwise=True)
def remainder(out, x, y, *, out_bar):
    x_bar = out_bar
    y_bar = -out_bar * round((x - out) / y)
    return x_bar, y_bar


@adjoint(math.ldexp, wrt=("x",), zero=("i",), pointwise=True)
def ldexp(out, x, i, *, out_bar):
    x_bar = math.ldexp(out_bar, i)
    return x_bar


@adjoint(math.nextafter, wrt=("x",), zero=("y",), pointwise=True)
def nextafter(out, x, y, *, out_bar):
    x_bar = out_bar
    return x_bar


@adjoint(math.gamma, pointwise=True)
def gamma(out, x, *, out_bar):
    x_bar = out_bar * out * digamma(x)
    return x_bar


@adjoint(math.lgamma, pointwise=True)
def lgamma(out, x, *, out_bar):
    x_bar = out_bar * digamma(x)
    return x_bar


@adjoint(math.erf, pointwise=True)
def erf(out, x, *, out_bar):
    x_bar = 2.0 / math.sqrt(math.pi) * out_bar * math.exp(-x * x)
    return x_bar


@adjoint(math.erfc, pointwise=True)
def erfc(out, x, *, out_bar):
    x_bar = -2.0 / math.sqrt(math.pi) * out_bar * math.exp(-x * x)
    return x_bar
