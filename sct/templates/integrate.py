"""Rules of `scipy.integrate`.

``s = integrate.trapezoid(y, dx=h)``  →  `y_bar` is `s_bar` times h, half at the ends
"""

from __future__ import annotations

from scipy import integrate

from sct import helpers, runtime_integrate
from sct.runtime_integrate import (
    simpson_adjoint,
    trapezoid_adjoint_x,
    trapezoid_adjoint_y,
)

from .registry import adjoint, given, tangent

helpers.add(
    runtime_integrate, (simpson_adjoint, trapezoid_adjoint_x, trapezoid_adjoint_y)
)


@adjoint(integrate.trapezoid, wrt=("y", "x"), fresh=True)
def trapezoid(out, y, x=None, dx=1.0, axis=-1, *, out_bar):
    y_bar = trapezoid_adjoint_y(out_bar, y, x, dx, axis)
    if x is None:
        x_bar = None
    else:
        x_bar = trapezoid_adjoint_x(out_bar, y, x, axis)
    return y_bar, x_bar


@tangent(integrate.trapezoid)
def trapezoid_tangent(out, y, x=None, dx=1.0, axis=-1, *, y_dot, x_dot):
    from_y = integrate.trapezoid(y_dot, x, dx, axis)
    if given(x):
        from_x = integrate.trapezoid(y, x_dot, axis=axis)
    else:
        from_x = None
    return from_y, from_x


# The points are held constant.
@adjoint(integrate.simpson, wrt=("y",), linear=True, fresh=True)
def simpson(out, y, x=None, *, dx=1.0, axis=-1, out_bar):
    y_bar = simpson_adjoint(out_bar, y, x, dx, axis)
    return y_bar
