"""Rules of the run-time helpers themselves, for derivatives of derivatives.

``x_bar = scatter(g, x, index)``  →  ``g_bar = x_bar_bar[index]``

Helpers without a rule here are plain NumPy that sct differentiates as it stands.
"""

from __future__ import annotations

import numpy as np

from sct import runtime
from sct.runtime import added, filled, restored
from sct.runtime import broadcast_like as broadcast_like_
from sct.runtime import unbroadcast as unbroadcast_
from sct.runtime_control import (
    solve_jacobian,
    solve_transposed,
    stop_gradient,
)
from sct.runtime_elementwise import like
from sct.runtime_operators import (
    beside,
    columns_of,
    entries,
    from_columns,
    from_rows,
    ones_for,
    rows_of,
    unit_like,
)
from sct.runtime_rules import (
    along_axis,
    cast_adjoint,
    cut,
    diag_adjoint,
    diagonal_adjoint,
    diagonal_places,
    diff_adjoint,
    dot_adjoint_a,
    dot_adjoint_b,
    einsum_adjoint,
    einsum_mixed,
    einsum_tangent,
    inner_adjoint_a,
    inner_adjoint_b,
    itemised,
    join,
    kron_adjoint_a,
    kron_adjoint_b,
    matmul_adjoint_a,
    matmul_adjoint_b,
    pad_adjoint,
    repeat_adjoint,
    resize_adjoint,
    scatter,
    size_along,
    split_adjoint,
    sum_adjoint,
    take_adjoint,
    take_along_adjoint,
    tensordot_adjoint_a,
    tensordot_adjoint_b,
    tile_adjoint,
    trace_adjoint,
    unstack_adjoint,
)
from sct.runtime_solvers import filled_like, row_of

from .registry import adjoint, nondifferentiable, tangent

nondifferentiable(runtime.zero_structure, runtime.zero_like)
nondifferentiable(size_along, along_axis, diagonal_places, entries, unit_like)
nondifferentiable(ones_for, stop_gradient)


@adjoint(unbroadcast_, wrt=("g",), zero=("x",), linear=True)
def unbroadcast(out, g, x, *, out_bar):
    g_bar = unbroadcast_(out_bar, g)
    return g_bar


@adjoint(broadcast_like_, wrt=("g",), zero=("x",), linear=True)
def broadcast_like(out, g, x, *, out_bar):
    g_bar = unbroadcast_(out_bar, g)
    return g_bar


@adjoint(cut, wrt=("x_bar",), zero=("y_bar",), pointwise=True)
def cut_(out, x_bar, y_bar, *, out_bar):
    x_bar_bar = np.where((y_bar == 0) & np.isnan(x_bar), 0.0, out_bar)
    return x_bar_bar


@adjoint(filled, wrt=("x_dot",), zero=("x",), linear=True)
def filled_(out, x_dot, x, name, *, out_bar):
    x_dot_bar = out_bar
    return x_dot_bar


@adjoint(restored, wrt=("x_bar",), zero=("x",), linear=True)
def restored_(out, x_bar, x, *, out_bar):
    x_bar_bar = filled(out_bar, x, "out_bar")
    return x_bar_bar


@adjoint(added, jointly=True)
def added_(out, a, b, *, out_bar):
    a_bar = out_bar
    b_bar = out_bar
    return a_bar, b_bar


@adjoint(like, wrt=("bars",), zero=("items",), linear=True)
def like_(out, items, bars, *, out_bar):
    bars_bar = like(bars, out_bar)
    return bars_bar


@adjoint(itemised, wrt=("g",), zero=("x",), linear=True)
def itemised_(out, g, x, *, out_bar):
    g_bar = itemised(out_bar, g)
    return g_bar


@adjoint(scatter, wrt=("g",), zero=("a",), linear=True)
def scatter_(out, g, a, index, *, out_bar):
    g_bar = out_bar[index]
    return g_bar


@adjoint(matmul_adjoint_a, wrt=("g", "b"), zero=("a",), linear=True)
def matmul_a(out, g, a, b, *, out_bar):
    g_bar = out_bar @ b + np.zeros_like(g)
    b_bar = matmul_adjoint_b(g, out_bar, b)
    return g_bar, b_bar


@adjoint(matmul_adjoint_b, wrt=("g", "a"), zero=("b",), linear=True)
def matmul_b(out, g, a, b, *, out_bar):
    g_bar = a @ out_bar + np.zeros_like(g)
    a_bar = matmul_adjoint_a(g, a, out_bar)
    return g_bar, a_bar


@adjoint(dot_adjoint_a, wrt=("g", "b"), zero=("a",), linear=True)
def dot_a(out, g, a, b, *, out_bar):
    g_bar = np.dot(out_bar, b)
    b_bar = dot_adjoint_b(g, out_bar, b)
    return g_bar, b_bar


@adjoint(dot_adjoint_b, wrt=("g", "a"), zero=("b",), linear=True)
def dot_b(out, g, a, b, *, out_bar):
    g_bar = np.dot(a, out_bar)
    a_bar = dot_adjoint_a(g, a, out_bar)
    return g_bar, a_bar


@adjoint(inner_adjoint_a, wrt=("g", "b"), zero=("a",), linear=True)
def inner_a(out, g, a, b, *, out_bar):
    g_bar = np.inner(out_bar, b)
    b_bar = inner_adjoint_b(g, out_bar, b)
    return g_bar, b_bar


@adjoint(inner_adjoint_b, wrt=("g", "a"), zero=("b",), linear=True)
def inner_b(out, g, a, b, *, out_bar):
    g_bar = np.inner(a, out_bar)
    a_bar = inner_adjoint_a(g, a, out_bar)
    return g_bar, a_bar


@adjoint(tensordot_adjoint_a, wrt=("g", "b"), zero=("a",), linear=True)
def tensordot_a(out, g, a, b, axes=2, *, out_bar):
    g_bar = np.tensordot(out_bar, b, axes)
    b_bar = tensordot_adjoint_b(g, out_bar, b, axes)
    return g_bar, b_bar


@adjoint(tensordot_adjoint_b, wrt=("g", "a"), zero=("b",), linear=True)
def tensordot_b(out, g, a, b, axes=2, *, out_bar):
    g_bar = np.tensordot(a, out_bar, axes)
    a_bar = tensordot_adjoint_a(g, a, out_bar, axes)
    return g_bar, a_bar


@adjoint(kron_adjoint_a, wrt=("g", "b"), zero=("a",), linear=True)
def kron_a(out, g, a, b, *, out_bar):
    g_bar = np.kron(out_bar, b)
    b_bar = kron_adjoint_b(g, out_bar, b)
    return g_bar, b_bar


@adjoint(kron_adjoint_b, wrt=("g", "a"), zero=("b",), linear=True)
def kron_b(out, g, a, b, *, out_bar):
    g_bar = np.kron(a, out_bar)
    a_bar = kron_adjoint_a(g, a, out_bar)
    return g_bar, a_bar


@adjoint(diagonal_adjoint, wrt=("g",), zero=("a",), linear=True)
def diagonal(out, g, a, offset=0, axis1=0, axis2=1, *, out_bar):
    g_bar = np.diagonal(out_bar, offset, axis1, axis2)
    return g_bar


@adjoint(trace_adjoint, wrt=("g",), zero=("a",), linear=True)
def trace(out, g, a, offset=0, axis1=0, axis2=1, *, out_bar):
    g_bar = np.trace(out_bar, offset, axis1, axis2)
    return g_bar


@adjoint(diag_adjoint, wrt=("g",), zero=("v",), linear=True)
def diag(out, g, v, k=0, *, out_bar):
    g_bar = np.diag(out_bar, k)
    return g_bar


@adjoint(diff_adjoint, wrt=("g",), linear=True)
def diff(out, g, n=1, axis=-1, *, out_bar):
    g_bar = np.diff(out_bar, n, axis)
    return g_bar


@adjoint(cast_adjoint, wrt=("g",), zero=("y", "a"), linear=True)
def cast(out, g, y, a, *, out_bar):
    g_bar = cast_adjoint(out_bar, y, g)
    return g_bar


@adjoint(split_adjoint, wrt=("g",), zero=("arrays",), linear=True, each="arrays")
def split(out, g, arrays, axis=0, *, out_bar):
    g_bar = join(out_bar, g, axis)
    return g_bar


@adjoint(unstack_adjoint, wrt=("g",), zero=("arrays",), linear=True, each="arrays")
def unstack(out, g, arrays, axis=0, *, out_bar):
    g_bar = np.stack(out_bar, axis)
    return g_bar


@adjoint(tile_adjoint, wrt=("g",), zero=("a",), linear=True)
def tile(out, g, a, reps, *, out_bar):
    g_bar = np.tile(out_bar, reps)
    return g_bar


@adjoint(repeat_adjoint, wrt=("g",), zero=("a",), linear=True)
def repeat(out, g, a, repeats, axis=None, *, out_bar):
    g_bar = np.repeat(out_bar, repeats, axis)
    return g_bar


@adjoint(resize_adjoint, wrt=("g",), zero=("a",), linear=True)
def resize(out, g, a, *, out_bar):
    g_bar = np.resize(out_bar, np.shape(g))
    return g_bar


@adjoint(take_adjoint, wrt=("g",), zero=("a",), linear=True)
def take(out, g, a, indices, axis=None, *, out_bar):
    g_bar = np.take(out_bar, indices, axis)
    return g_bar


@adjoint(pad_adjoint, wrt=("g",), zero=("array",), linear=True)
def pad(out, g, array, pad_width, *, out_bar):
    g_bar = np.pad(out_bar, pad_width)
    return g_bar


@adjoint(sum_adjoint, wrt=("g",), zero=("iterable",), linear=True, each="iterable")
def sum_(out, g, iterable, *, out_bar):
    g_bar = sum(out_bar)
    return g_bar


@adjoint(join, wrt=("parts",), zero=("g",), linear=True)
def join_(out, parts, g, axis=0, *, out_bar):
    parts_bar = split_adjoint(out_bar, parts, axis)
    return parts_bar


@adjoint(einsum_adjoint, wrt=("g", "operands"), each="operands")
def einsum(out, g, subscripts, operands, *, out_bar):
    g_bar = einsum_tangent(out_bar, subscripts, operands)
    operands_bar = einsum_mixed(g, out_bar, subscripts, operands)
    return g_bar, operands_bar


@adjoint(take_along_adjoint, wrt=("g",), zero=("arr",), linear=True)
def take_along(out, g, arr, indices, axis, *, out_bar):
    g_bar = np.take_along_axis(out_bar, indices, axis)
    return g_bar


nondifferentiable(
    *(runtime.check_inexact, runtime.check_scalars, runtime.check_scalar_result),
    *(
        runtime.check_seed,
        runtime.check_tangent,
        runtime.check_alike,
        runtime.check_floats,
        runtime.check_rank,
        runtime.check_arrays,
        runtime.check_contiguous,
        runtime.check_indices,
        runtime.check_numbers,
        runtime.check_numpy,
        runtime.check_no_complex,
    ),
)


@adjoint(from_rows, wrt=("rows",), zero=("y", "x"), linear=True)
def from_rows_(out, rows, y, x, *, out_bar):
    rows_bar = rows_of(out_bar, y, x)
    return rows_bar


@adjoint(rows_of, wrt=("jacobian",), zero=("y", "x"), linear=True)
def rows_of_(out, jacobian, y, x, *, out_bar):
    jacobian_bar = from_rows(out_bar, y, x)
    return jacobian_bar


@adjoint(row_of, wrt=("x",), zero=("like",), linear=True, fresh=True)
def row_of_(out, x, like, *, out_bar):
    x_bar = filled_like(out_bar, like)
    return x_bar


@adjoint(filled_like, wrt=("row",), zero=("x",), linear=True, fresh=True)
def filled_like_(out, row, x, *, out_bar):
    row_bar = row_of(out_bar, x)
    return row_bar


@adjoint(from_columns, wrt=("columns",), zero=("x",), linear=True)
def from_columns_(out, columns, x, *, out_bar):
    columns_bar = columns_of(out_bar, x)
    return columns_bar


@adjoint(columns_of, wrt=("jacobian",), zero=("x",), linear=True)
def columns_of_(out, jacobian, x, *, out_bar):
    jacobian_bar = from_columns(out_bar, x)
    return jacobian_bar


@adjoint(solve_jacobian)
def solve_jacobian_(out, jacobian, b, *, out_bar):
    b_bar = solve_transposed(jacobian, out_bar)
    jacobian_bar = -np.tensordot(b_bar, out, 0)
    return jacobian_bar, b_bar


@tangent(solve_jacobian)
def solve_jacobian_tangent(out, jacobian, b, *, jacobian_dot, b_dot):
    moved = np.reshape(jacobian_dot * out, (*np.shape(b), -1)).sum(axis=-1)
    return -solve_jacobian(jacobian, moved), solve_jacobian(jacobian, b_dot)


@adjoint(solve_transposed)
def solve_transposed_(out, jacobian, b, *, out_bar):
    b_bar = solve_jacobian(jacobian, out_bar)
    jacobian_bar = -np.tensordot(out, b_bar, 0)
    return jacobian_bar, b_bar


@tangent(solve_transposed)
def solve_transposed_tangent(out, jacobian, b, *, jacobian_dot, b_dot):
    spread = jacobian_dot + np.zeros_like(jacobian)
    moved = np.tensordot(out, spread, np.ndim(out))
    return -solve_transposed(jacobian, moved), solve_transposed(jacobian, b_dot)


@adjoint(beside, wrt=("y",), zero=("x",), linear=True)
def beside_(out, y, x, name, *, out_bar):
    y_bar = out_bar
    return y_bar
