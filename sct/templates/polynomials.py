"""Rules of polynomials, the highest coefficient first, and of finite differences.

``y = np.polyval(p, x)``  →  ``x_bar = y_bar * np.polyval(slope_of(p), x)``
"""

from __future__ import annotations

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_scans import (
    exponents,
    gradient_adjoint,
    gradient_of,
    gradient_tangent,
    slope_of,
    spacing_adjoint,
)

from .registry import adjoint, nondifferentiable, tangent

nondifferentiable(exponents)


@adjoint(np.polyval, wrt=("p", "x"))
def polyval(out, p, x, *, out_bar):
    p_bar = unbroadcast(np.ravel(out_bar) @ np.vander(np.ravel(x), np.size(p)), p)
    x_bar = out_bar * np.polyval(slope_of(p), x)
    return p_bar, x_bar


@tangent(np.polyval)
def polyval_tangent(out, p, x, *, p_dot, x_dot):
    from_p = np.polyval(p_dot, x)
    from_x = np.polyval(slope_of(p), x) * x_dot
    return from_p, from_x


@adjoint(np.vander, wrt=("x",))
def vander(out, x, N=None, increasing=False, *, out_bar):
    powers = exponents(out, increasing)
    slopes = powers * x[:, None] ** np.maximum(powers - 1, 0)
    x_bar = unbroadcast(np.sum(out_bar * slopes, 1), x)
    return x_bar


@tangent(np.vander)
def vander_tangent(out, x, N=None, increasing=False, *, x_dot):
    powers = exponents(out, increasing)
    from_x = powers * x[:, None] ** np.maximum(powers - 1, 0) * x_dot[:, None]
    return from_x


# Of a spacing that is one number; coordinates are constant.
@adjoint(np.gradient, wrt=("f", "varargs"))
def gradient(out, f, *varargs, axis=None, edge_order=1, out_bar):
    f_bar = gradient_adjoint(out_bar, f, varargs, axis, edge_order)
    varargs_bar = spacing_adjoint(out_bar, out, varargs)
    return f_bar, varargs_bar


@tangent(np.gradient)
def gradient_dot(out, f, *varargs, axis=None, edge_order=1, f_dot, varargs_dot):
    return gradient_tangent(f_dot, varargs_dot, out, f, varargs, axis, edge_order)


@adjoint(gradient_adjoint, wrt=("g",), zero=("f",), linear=True)
def gradient_bar(out, g, f, spacing, axis=None, edge_order=1, *, out_bar):
    g_bar = gradient_of(out_bar, spacing, axis, edge_order)
    return g_bar


@adjoint(gradient_of, wrt=("f",), linear=True)
def gradient_(out, f, spacing, axis=None, edge_order=1, *, out_bar):
    f_bar = gradient_adjoint(out_bar, f, spacing, axis, edge_order)
    return f_bar
