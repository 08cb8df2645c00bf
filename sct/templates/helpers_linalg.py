"""Rules of the run-time helpers of linear algebra, for derivatives of derivatives.

``x = quotient(y, gap)``  →  ``y_bar = quotient(x_bar, gap)``

Those without a rule here are plain NumPy that sct differentiates as it stands.
"""

from __future__ import annotations

import numpy as np

from sct import runtime_decompositions as decompositions
from sct import runtime_fft, runtime_linalg, runtime_triangular
from sct.runtime_decompositions import adjugated, off_diagonal, quotient
from sct.runtime_fft import irfftn_adjoint, resized, rfftn_adjoint, transformed
from sct.runtime_linalg import (
    cofactors_change,
    multi_dot_adjoint,
    multi_dot_change,
    multi_dot_mixed,
    singular_cofactors,
)
from sct.runtime_rules import (
    cross_adjoint_a,
    cross_adjoint_b,
    einsum_adjoint,
    einsum_mixed,
)
from sct.runtime_triangular import lower_half, lower_inverse

from .registry import adjoint, nondifferentiable, tangent

nondifferentiable(
    decompositions.apart,
    decompositions.check_distinct,
    decompositions.largest,
    runtime_triangular.check_mode,
    runtime_linalg.last,
    runtime_fft.swapped,
    runtime_fft.transformed,
)


@adjoint(adjugated, linear=True)
def adjugated_(out, a, *, out_bar):
    a_bar = adjugated(out_bar)
    return a_bar


@adjoint(off_diagonal, linear=True)
def off_diagonal_(out, x, *, out_bar):
    x_bar = off_diagonal(out_bar)
    return x_bar


# The second derivative of a determinant is a symmetric form.
@adjoint(singular_cofactors, fresh=True)
def singular_cofactors_(out, a, *, out_bar):
    a_bar = cofactors_change(out_bar, a)
    return a_bar


@tangent(singular_cofactors)
def singular_cofactors_tangent(out, a, *, a_dot):
    return cofactors_change(a_dot, a)


@adjoint(lower_half, linear=True)
def lower_half_(out, x, *, out_bar):
    x_bar = lower_half(out_bar)
    return x_bar


@adjoint(quotient, pointwise=True)
def quotient_(out, x, gap, *, out_bar):
    x_bar = quotient(out_bar, gap)
    gap_bar = -quotient(out_bar * out, gap)
    return x_bar, gap_bar


@adjoint(lower_inverse)
def lower_inverse_(out, a, *, out_bar):
    transposed = np.swapaxes(out, -1, -2)
    a_bar = -np.tril(transposed @ out_bar @ transposed)
    return a_bar


@tangent(lower_inverse)
def lower_inverse_tangent(out, a, *, a_dot):
    return -out @ np.tril(a_dot) @ out


@adjoint(cross_adjoint_a, wrt=("g", "b"), zero=("a",), linear=True)
def cross_a(out, g, a, b, axisa=-1, axisb=-1, axisc=-1, *, out_bar):
    g_bar = np.cross(out_bar, b, axisa, axisb, axisc)
    b_bar = cross_adjoint_b(g, out_bar, b, axisa, axisb, axisc)
    return g_bar, b_bar


@adjoint(cross_adjoint_b, wrt=("g", "a"), zero=("b",), linear=True)
def cross_b(out, g, a, b, axisa=-1, axisb=-1, axisc=-1, *, out_bar):
    g_bar = np.cross(a, out_bar, axisa, axisb, axisc)
    a_bar = cross_adjoint_a(g, a, out_bar, axisa, axisb, axisc)
    return g_bar, a_bar


@tangent(einsum_adjoint)
def einsum_adjoint_tangent(out, g, subscripts, operands, *, g_dot, operands_dot):
    from_g = einsum_adjoint(g_dot, subscripts, operands)
    from_operands = einsum_mixed(g, operands_dot, subscripts, operands)
    return from_g, from_operands


@adjoint(multi_dot_adjoint, wrt=("g", "arrays"), each="arrays")
def multi_dot_adjoint_(out, g, arrays, *, out_bar):
    g_bar = multi_dot_change(out_bar, arrays)
    arrays_bar = multi_dot_mixed(g, out_bar, arrays)
    return g_bar, arrays_bar


@tangent(multi_dot_adjoint)
def multi_dot_adjoint_tangent(out, g, arrays, *, g_dot, arrays_dot):
    from_g = multi_dot_adjoint(g_dot, arrays)
    from_arrays = multi_dot_mixed(g, arrays_dot, arrays)
    return from_g, from_arrays


@adjoint(resized, wrt=("g",), zero=("a",), linear=True)
def resized_(out, g, a, *, out_bar):
    g_bar = resized(out_bar, g)
    return g_bar


@adjoint(rfftn_adjoint, wrt=("g",), zero=("a",), linear=True)
def rfftn(out, g, a, s=None, axes=None, norm=None, *, out_bar):
    g_bar = np.fft.rfftn(out_bar, s, transformed(a, s, axes), norm)
    return g_bar


@adjoint(irfftn_adjoint, wrt=("g",), zero=("a",), linear=True)
def irfftn(out, g, a, s=None, axes=None, norm=None, *, out_bar):
    moved = transformed(a, s, axes)
    g_bar = np.fft.irfftn(out_bar, np.take(np.shape(g), moved), moved, norm)
    return g_bar
