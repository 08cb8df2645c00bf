"""Rules of complex numbers: of their parts, and of the module `cmath`.

``r = z.imag``  →  ``z_bar = -1j * r_bar``

The adjoint of ``z = x + 1j * y`` is ``x_bar - 1j * y_bar``, as in JAX and autograd:
what holds for real numbers then holds for analytic functions of complex ones.  Of what
goes back to a real operand the engine takes the real part.
"""

from __future__ import annotations

import cmath

import numpy as np

from .registry import adjoint, nondifferentiable, tangent

nondifferentiable(cmath.isnan, cmath.isinf, cmath.isfinite, cmath.isclose)
nondifferentiable(np.iscomplex, np.isreal)


@adjoint(np.real, pointwise=True)
def real(out, val, *, out_bar):
    val_bar = out_bar
    return val_bar


@tangent(np.real)
def real_tangent(out, val, *, val_dot):
    return np.real(val_dot)


@adjoint(np.imag, pointwise=True)
def imag(out, val, *, out_bar):
    val_bar = -1j * out_bar
    return val_bar


@tangent(np.imag)
def imag_tangent(out, val, *, val_dot):
    return np.imag(val_dot)


@adjoint(np.angle, wrt=("z",), pointwise=True, singular="pole")
def angle(out, z, deg=False, *, out_bar):
    if deg:
        z_bar = -1j * (180.0 / np.pi) * out_bar / z
    else:
        z_bar = -1j * out_bar / z
    return z_bar


@tangent(np.angle)
def angle_tangent(out, z, deg=False, *, z_dot):
    if deg:
        out_dot = 180.0 / np.pi * np.imag(z_dot / z)
    else:
        out_dot = np.imag(z_dot / z)
    return out_dot


@adjoint(complex, wrt=("real", "imag"), pointwise=True, result="complex")
def complex_(out, real=0, imag=0, *, out_bar):
    real_bar = out_bar
    imag_bar = 1j * out_bar
    return real_bar, imag_bar


@tangent(complex)
def complex_tangent(out, real=0, imag=0, *, real_dot, imag_dot):
    return complex(real_dot, imag_dot)


@adjoint(cmath.exp, pointwise=True, result="complex")
def exp(out, z, *, out_bar):
    z_bar = out_bar * out
    return z_bar


@adjoint(
    cmath.log, wrt=("z", "base"), pointwise=True, singular="pole", result="complex"
)
def log(out, z, base=None, /, *, out_bar):
    if base is None:
        z_bar = out_bar / z
        base_bar = None
    else:
        z_bar = out_bar / (z * cmath.log(base))
        base_bar = -out_bar * out / (base * cmath.log(base))
    return z_bar, base_bar


@adjoint(cmath.log10, pointwise=True, singular="pole", result="complex")
def log10(out, z, *, out_bar):
    z_bar = out_bar / (2.302585092994046 * z)
    return z_bar


@adjoint(cmath.sqrt, pointwise=True, singular="pole", result="complex")
def sqrt(out, z, *, out_bar):
    z_bar = 0.5 * out_bar / out
    return z_bar


@adjoint(cmath.sin, pointwise=True, result="complex")
def sin(out, z, *, out_bar):
    z_bar = out_bar * cmath.cos(z)
    return z_bar


@adjoint(cmath.cos, pointwise=True, result="complex")
def cos(out, z, *, out_bar):
    z_bar = -out_bar * cmath.sin(z)
    return z_bar


@adjoint(cmath.tan, pointwise=True, result="complex")
def tan(out, z, *, out_bar):
    z_bar = out_bar * (1.0 + out * out)
    return z_bar


@adjoint(cmath.sinh, pointwise=True, result="complex")
def sinh(out, z, *, out_bar):
    z_bar = out_bar * cmath.cosh(z)
    return z_bar


@adjoint(cmath.cosh, pointwise=True, result="complex")
def cosh(out, z, *, out_bar):
    z_bar = out_bar * cmath.sinh(z)
    return z_bar


@adjoint(cmath.tanh, pointwise=True, result="complex")
def tanh(out, z, *, out_bar):
    z_bar = out_bar * (1.0 - out * out)
    return z_bar


@adjoint(cmath.asin, pointwise=True, singular="pole", result="complex")
def asin(out, z, *, out_bar):
    z_bar = out_bar / cmath.sqrt(1.0 - z * z)
    return z_bar


@adjoint(cmath.acos, pointwise=True, singular="pole", result="complex")
def acos(out, z, *, out_bar):
    z_bar = -out_bar / cmath.sqrt(1.0 - z * z)
    return z_bar


@adjoint(cmath.atan, pointwise=True, singular="pole", result="complex")
def atan(out, z, *, out_bar):
    z_bar = out_bar / (1.0 + z * z)
    return z_bar


@adjoint(cmath.asinh, pointwise=True, singular="pole", result="complex")
def asinh(out, z, *, out_bar):
    z_bar = out_bar / cmath.sqrt(z * z + 1.0)
    return z_bar


@adjoint(cmath.acosh, pointwise=True, singular="pole", result="complex")
def acosh(out, z, *, out_bar):
    z_bar = out_bar / (cmath.sqrt(z - 1.0) * cmath.sqrt(z + 1.0))
    return z_bar


@adjoint(cmath.atanh, pointwise=True, singular="pole", result="complex")
def atanh(out, z, *, out_bar):
    z_bar = out_bar / (1.0 - z * z)
    return z_bar


@adjoint(cmath.phase, pointwise=True, singular="pole")
def phase(out, z, *, out_bar):
    z_bar = -1j * out_bar / z
    return z_bar


@tangent(cmath.phase)
def phase_tangent(out, z, *, z_dot):
    return np.imag(z_dot / z)


@adjoint(cmath.polar)
def polar(out, z, *, out_bar):
    z_bar = (out_bar[0] * out[0] - 1j * out_bar[1]) / z
    return z_bar


@tangent(cmath.polar)
def polar_tangent(out, z, *, z_dot):
    turned = z_dot / z
    return (out[0] * np.real(turned), np.imag(turned))


@adjoint(cmath.rect, pointwise=True, result="complex")
def rect(out, r, phi, *, out_bar):
    r_bar = out_bar * cmath.rect(1.0, phi)
    phi_bar = 1j * out_bar * out
    return r_bar, phi_bar
