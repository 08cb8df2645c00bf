"""Rules of Python's operators, shared with the NumPy functions they call.

``z = x / y``  →  ``x_bar = z_bar / y``, ``y_bar = -z_bar * x / (y * y)``
"""

from __future__ import annotations

import operator

import gast
import numpy as np

from .registry import adjoint, is_square, nearer, nondifferentiable, tangent

OPERATORS: dict[type, object] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
    gast.Not: operator.not_,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Is: operator.is_,
    gast.IsNot: operator.is_not,
    gast.In: operator.contains,
}

nondifferentiable(
    *(operator.floordiv, operator.invert, operator.not_, operator.and_, operator.or_),
    *(operator.xor, operator.lshift, operator.rshift, operator.eq, operator.ne),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.is_),
    *(operator.is_not, operator.contains),
)


@adjoint(operator.add, np.add, pointwise=True)
def add(out, a, b, *, out_bar):
    a_bar = out_bar
    b_bar = out_bar
    return a_bar, b_bar


@adjoint(operator.sub, np.subtract, pointwise=True)
def sub(out, a, b, *, out_bar):
    a_bar = out_bar
    b_bar = -out_bar
    return a_bar, b_bar


@adjoint(operator.mul, np.multiply, pointwise=True, linear=True)
def mul(out, a, b, *, out_bar):
    a_bar = out_bar * b
    b_bar = out_bar * a
    return a_bar, b_bar


@adjoint(operator.truediv, np.divide, np.true_divide, pointwise=True, singular="pole")
def truediv(out, a, b, *, out_bar):
    a_bar = out_bar / b
    if nearer(out, a):
        b_bar = -a_bar * out
    else:
        b_bar = -out_bar * a / (b * b)
    return a_bar, b_bar


@tangent(operator.truediv, np.divide, np.true_divide)
def truediv_tangent(out, a, b, *, a_dot, b_dot):
    from_a = a_dot / b
    from_b = -(a * b_dot / (b * b))
    return from_a, from_b


@adjoint(operator.mod, np.remainder, np.mod, pointwise=True)
def mod(out, a, b, *, out_bar):
    a_bar = out_bar
    b_bar = -out_bar * (a // b)
    return a_bar, b_bar


# `b - (b != 0)` is b - 1, and 0 where b is 0, so that a**0 has derivative 0 also at 0;
# `np.where` there would turn a Python exponent into a float64 array.
# a == 0 has no derivative in b but 0; a < 0 has none and gives nan.
# The root of a sum of squares is a norm: at 0 its derivative is 0.
@adjoint(operator.pow, pow, np.power, np.float_power, pointwise=True, singular="pole")
def power(out, a, b, *, out_bar):
    if is_square(a):
        a_bar = b * out_bar * (a + (a == 0)) ** (b - (b != 0))
    else:
        a_bar = b * out_bar * a ** (b - (b != 0))
    b_bar = out_bar * out * np.log(np.where(a == 0, 1.0, a))
    return a_bar, b_bar


@adjoint(operator.neg, np.negative, pointwise=True)
def neg(out, a, *, out_bar):
    a_bar = -out_bar
    return a_bar


@adjoint(operator.pos, pointwise=True)
def pos(out, a, *, out_bar):
    a_bar = out_bar
    return a_bar
