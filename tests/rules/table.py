"""Arguments at which every rule is tested: data only.

Each row is a call ``primal(*args, **kwargs)`` away from kinks.
"""

from __future__ import annotations

import importlib.util
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from sct import runtime, runtime_control, runtime_operators, runtime_solvers
from sct import runtime_rules as helper

from .elementwise_table import ELEMENTWISE
from .linalg_table import LINEAR_ALGEBRA
from .rows import (
    MODERN,
    Row,
    between,
    binary,
    definite,
    normal,
    positive,
    regular,
    scalar,
    start,
    unary,
    within,
)

start(0)

UFUNCS = [
    *[
        row
        for f in (
            np.positive,
            np.negative,
            np.exp,
            np.exp2,
            np.expm1,
            np.square,
            np.sin,
            np.cos,
            np.tan,
            np.arctan,
            np.sinh,
            np.cosh,
            np.tanh,
            np.arcsinh,
            np.degrees,
            np.rad2deg,
            np.radians,
            np.deg2rad,
            np.sinc,
            np.absolute,
            np.fabs,
            np.nan_to_num,
            np.real_if_close,
            np.cbrt,
            np.reciprocal,
        )
        for row in unary(f, normal)
    ],
    *[
        row
        for f in (np.log, np.log2, np.log10, np.log1p, np.sqrt)
        for row in unary(f, positive)
    ],
    *[
        row
        for f in (np.arcsin, np.arccos, np.arctanh)
        for row in unary(f, within(-0.9, 0.9))
    ],
    *unary(np.arccosh, within(1.5, 4.0)),
    *[
        row
        for f in (
            np.add,
            np.subtract,
            np.multiply,
            np.arctan2,
            np.hypot,
            np.maximum,
            np.minimum,
            np.fmax,
            np.fmin,
            np.logaddexp,
            np.logaddexp2,
        )
        for row in binary(f, normal, normal)
    ],
    *binary(np.divide, normal, positive),
    *binary(np.power, positive, normal),
    *binary(np.float_power, positive, normal),
    *[
        row
        for f in (np.remainder, np.fmod)
        for row in binary(f, within(2.2, 2.8), within(0.95, 1.05))
    ],
    Row(np.power, (normal(4), 3)),
    Row(np.power, (normal(4), np.array([0, 1, 2, 3])), {}, ("a",)),
    Row(np.copysign, (normal(3), normal(3))),
    Row(np.ldexp, (normal(3), np.array([1, -2, 3]))),
    Row(np.clip, (normal(6), -0.4, 0.6)),
    Row(np.clip, (normal(6), None, 0.3), {}, ("a", "a_max")),
    Row(np.clip, (normal(3, 3),), {"a_min": normal(3), "a_max": 2.0}),
    *[
        Row(np.where, (np.array([True, False, True]), x, y))
        for x in (normal(3), normal(2, 3), np.float64(0.7))
        for y in (normal(3), -0.3)
    ],
    Row(np.tanh, (normal(3).astype(np.float32),)),
    Row(np.multiply, (normal(3).astype(np.float32), np.float32(2.0))),
]

OPERATORS = [
    *binary(operator.add, normal, normal),
    *binary(operator.sub, normal, normal),
    *binary(operator.mul, normal, normal),
    *binary(operator.truediv, normal, positive),
    *binary(operator.pow, positive, normal),
    *binary(operator.mod, within(2.2, 2.8), within(0.95, 1.05)),
    *unary(operator.neg, normal),
    *unary(operator.pos, normal),
    *scalar(operator.mul, 2.0, -3.0),
    *scalar(operator.pow, 2.0, 3.0),
    Row(operator.pow, (-2.0, 3), {}, ("a",)),
    Row(operator.getitem, (normal(5), 2)),
    Row(operator.getitem, (normal(5), slice(1, -1))),
    Row(operator.getitem, (normal(3, 4), (slice(None), 1))),
    Row(operator.getitem, (normal(3, 4), (Ellipsis, None, slice(None, None, -2)))),
    Row(operator.getitem, (normal(5), np.array([0, 2, 2, -1]))),
    Row(operator.getitem, (normal(3), np.array([True, False, True]))),
    Row(operator.getitem, (normal(3, 3), (np.array([0, 0]), np.array([1, 1])))),
]

PYTHON = [
    *[
        row
        for f in (
            math.sin,
            math.cos,
            math.tan,
            math.asin,
            math.acos,
            math.atan,
            math.sinh,
            math.cosh,
            math.tanh,
            math.asinh,
            math.atanh,
            math.exp,
            math.expm1,
            math.log,
            math.log2,
            math.log10,
            math.log1p,
            math.sqrt,
            math.fabs,
            math.degrees,
            math.radians,
            math.erf,
            math.erfc,
            abs,
            float,
        )
        for row in scalar(f, 0.3)
    ],
    *[
        row
        for f in (
            math.atan2,
            math.hypot,
            math.fmod,
            math.pow,
            math.copysign,
            math.log,
            pow,
            max,
            min,
            divmod,
        )
        for row in scalar(f, 2.3, 0.9)
    ],
    *scalar(math.fabs, -0.3),
    *scalar(math.acosh, 2.5),
    *scalar(math.copysign, -1.5, 0.5),
    Row(math.pow, (-1.5, 2.0), {}, ("x",)),
    Row(abs, (normal(4),)),
    Row(pow, (normal(4), 2), {}, ("a",)),
    Row(sum, ([1.0, 2.0, 3.0],)),
    Row(sum, ((normal(3), 2.0, normal(1)), 0.5)),
    Row(sum, (normal(3, 2),)),
]

_distinct = np.arange(24.0).reshape(2, 3, 4)
_distinct = np.sin(7.0 * _distinct) + 0.01 * _distinct
_AXES = (
    *[{}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"keepdims": True}],
    *[{"axis": 1, "keepdims": True}, {"axis": (-1, 0), "keepdims": True}],
)

REDUCTIONS = [
    *[
        Row(f, (_distinct,), kwargs)
        for f in (
            np.sum,
            np.mean,
            np.max,
            np.min,
            np.prod,
            np.var,
            np.std,
            np.ptp,
            np.average,
        )
        for kwargs in _AXES
    ],
    *[Row(f, (np.float64(0.7),)) for f in (np.sum, np.mean, np.max, np.prod)],
    *[Row(f, (_distinct,), {"axis": 1}) for f in (np.amax, np.amin)],
    *[Row(f, (normal(0, 3),), {"axis": 1}) for f in (np.sum, np.mean, np.max, np.prod)],
    *[Row(f, (normal(0, 3),), {"axis": 0}) for f in (np.sum, np.prod)],
    *[Row(f, (normal(3, 4),), {"axis": 1, "ddof": 1}) for f in (np.var, np.std)],
    Row(np.var, (normal(5),), {"ddof": 1}),
    Row(np.sum, (normal(3, 4).astype(np.float32), 0)),
    Row(np.max, (np.array([1.0, 2.0], np.float32),)),
    Row(np.prod, (np.array([2.0, 0.0, 3.0]),)),
    Row(np.prod, (np.array([0.0, 0.0, 3.0]),)),
    Row(np.average, (normal(4),), {"weights": positive(4)}),
    *[
        Row(np.average, (normal(2, 3, 4), (2, 0)), {"weights": w})
        for w in [positive(4, 2)]
        if MODERN
    ],
    Row(np.average, (normal(3, 4),), {"weights": positive(3, 4)}),
    Row(np.average, (normal(3, 4), 1), {"weights": positive(4)}),
    Row(np.average, (normal(3, 4), 1), {"weights": positive(4), "keepdims": True}),
    Row(np.average, (normal(3, 4), 0), {"weights": positive(3, 4)}),
    *[
        Row(f, (normal(2, 3, 4),), kwargs)
        for f in (np.cumsum, np.cumprod)
        for kwargs in ({}, {"axis": 0}, {"axis": -2})
    ],
    Row(np.cumprod, (np.array([2.0, 0.0, 3.0, 0.0, 4.0]),)),
    Row(np.cumsum, (normal(0),)),
    Row(np.diff, (normal(5),)),
    Row(np.diff, (normal(5, 3), 2, 0)),
    *[Row(np.linalg.norm, (normal(*shape),)) for shape in ((4,), (3, 4), (2, 3, 4))],
    *[
        Row(np.linalg.norm, (normal(3, 4),), kwargs)
        for kwargs in (
            {"axis": 0},
            {"axis": 1, "keepdims": True},
            {"ord": "fro"},
            {"axis": (0, 1)},
            {"keepdims": True},
            {"ord": 3, "axis": 1},
            {"ord": 1, "axis": 0},
            {"ord": np.inf, "axis": 1},
            {"ord": -np.inf, "axis": 1},
            {"ord": 2, "axis": 1},
        )
    ],
    Row(np.linalg.norm, (normal(4), 2)),
    Row(np.linalg.norm, (normal(4), 1.5)),
]

_MATMUL = (
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((2,), (2, 3)),
    ((2, 3), (3, 4)),
    ((2, 0), (0, 3)),
)
_BATCHES = (
    *[((5, 2, 3), (5, 3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 4))],
    *[((3,), (5, 3, 4)), ((5, 2, 3), (3,)), ((1, 2, 3), (5, 3, 4))],
)

LINALG = [
    *[
        Row(f, (normal(*a), normal(*b)))
        for f in (operator.matmul, np.matmul)
        for a, b in _MATMUL + _BATCHES
    ],
    *[
        Row(np.dot, (normal(*a), normal(*b)))
        for a, b in (
            *_MATMUL,
            ((), ()),
            ((), (3,)),
            ((3,), ()),
            ((2, 3), (4, 3, 2)),
            ((4, 2, 3), (3,)),
            ((3,), (4, 3, 2)),
            ((4, 2, 3), (3, 5)),
        )
    ],
    *[
        Row(np.vdot, (normal(*a), normal(*b)))
        for a, b in (((3,), (3,)), ((2, 3), (6,)))
    ],
    *[
        Row(np.inner, (normal(*a), normal(*b)))
        for a, b in (
            ((3,), (3,)),
            ((2, 3), (4, 3)),
            ((2, 3), (3,)),
            ((3,), (5, 2, 3)),
            ((4, 2, 3), (5, 3)),
            ((), (3,)),
            ((2, 3), ()),
        )
    ],
    *[
        Row(np.outer, (normal(*a), normal(*b)))
        for a, b in (((2,), (3,)), ((2, 2), (3,)), ((), (3,)), ((2,), (0,)))
    ],
    *[
        Row(np.tensordot, (normal(*a), normal(*b), axes))
        for a, b, axes in (
            ((2, 3), (3, 4), 1),
            ((2, 3, 4), (3, 4, 5), 2),
            ((2, 3, 4), (4, 2, 5), ([0, 2], [1, 0])),
            ((2, 3, 4), (4, 2, 5), ([2, 0], [0, 1])),
            ((2, 3, 4), (5, 4, 3), ([-1, 1], [1, 2])),
            ((2, 3), (4, 3), (1, 1)),
            ((2,), (3,), 0),
        )
    ],
    *[
        Row(np.einsum, (subscripts, *(normal(*s) for s in shapes)))
        for subscripts, shapes in (
            ("ij,jk->ik", [(2, 3), (3, 4)]),
            ("ij,jk", [(2, 3), (3, 4)]),
            ("i,i->", [(3,), (3,)]),
            ("ii->", [(3, 3)]),
            ("ii->i", [(3, 3)]),
            ("iij->j", [(2, 2, 3)]),
            ("ij->j", [(2, 3)]),
            ("ij->ji", [(2, 3)]),
            ("i,j->ij", [(2,), (3,)]),
            ("ij,kj->", [(2, 3), (4, 3)]),
            ("bij,bjk,k->bi", [(2, 3, 4), (2, 4, 5), (5,)]),
            ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
            ("...i->...", [(2, 3, 4)]),
            ("ij,ij->ij", [(1, 3), (2, 3)]),
            ("i...,...->i...", [(2, 3), (3,)]),
            ("i,i,i->i", [(3,), (3,), (3,)]),
        )
    ],
    *[
        Row(np.cross, (normal(*a), normal(*b)))
        for a, b in (((3,), (3,)), ((4, 3), (3,)), ((1, 3), (4, 3)))
    ],
    *[
        Row(np.kron, (normal(*a), normal(*b)))
        for a, b in (((2,), (3,)), ((2, 3), (3, 2)), ((2,), (3, 2)), ((2, 2, 2), (3,)))
    ],
    *[Row(np.trace, (normal(3, 4), k)) for k in (0, 1, -2)],
    Row(np.trace, (normal(3, 4, 3), 1, 2, 0)),
    *[
        Row(f, (regular(*shape),))
        for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet)
        for shape in ((3, 3), (2, 3, 3))
    ],
    *[
        Row(np.linalg.solve, (regular(*a), normal(*b)))
        for a, b in (
            *(((3, 3), (3,)), ((3, 3), (3, 2))),
            *(((2, 3, 3), (2, 3, 4)), ((3, 3), (2, 3, 4))),
            # Before NumPy 2 the latter is a stack of vectors.
            *(
                (((2, 3, 3), (3, 4)), ((2, 3, 3), (3,)))
                if MODERN
                else [((2, 3, 3), (2, 3))]
            ),
        )
    ],
    *[
        Row(np.linalg.cholesky, (definite(*shape),), symmetric=True)
        for shape in ((3, 3), (2, 3, 3))
    ],
]

ARRAYS = [
    *[
        Row(np.reshape, (normal(2, 3), shape))
        for shape in (6, (3, 2), (-1,), (1, 6, 1))
    ],
    *[
        Row(f, (normal(2, 3),))
        for f in (
            np.ravel,
            np.ndarray.flatten,
            np.copy,
            np.ascontiguousarray,
            np.array,
            np.asarray,
        )
    ],
    *[
        Row(f, (normal(*s),))
        for s in ((), (3,), (2, 3), (0, 2))
        for f in (np.atleast_1d, np.atleast_2d, np.atleast_3d)
    ],
    Row(np.asarray, (normal(3), np.float32)),
    Row(np.ndarray.astype, (normal(3), np.float32)),
    Row(np.ndarray.astype, (between(0.1, 0.9, 3), np.int64)),
    Row(np.ndarray.item, (normal(1, 1),)),
    Row(np.transpose, (normal(2, 3, 4),)),
    *[
        Row(np.transpose, (normal(2, 3, 4), axes))
        for axes in ((1, 2, 0), (-1, 0, 1), (2, 1, 0))
    ],
    Row(np.swapaxes, (normal(2, 3, 4), 0, -1)),
    Row(np.moveaxis, (normal(2, 3, 4), 0, -1)),
    Row(np.moveaxis, (normal(2, 3, 4), (0, 1), (2, 0))),
    *[Row(np.expand_dims, (normal(2, 3), axis)) for axis in (0, -1, (0, 2))],
    Row(np.squeeze, (normal(1, 3, 1),)),
    Row(np.squeeze, (normal(1, 3, 1), 0)),
    *[
        Row(np.broadcast_to, (normal(*s), (4, 2, 3)))
        for s in ((), (3,), (2, 1), (1, 2, 3), (4, 2, 3))
    ],
    *[Row(np.concatenate, ([normal(2, 3), normal(2, 1)], 1))],
    *[Row(np.concatenate, ((normal(2, 3), normal(0, 3)), axis)) for axis in (0, None)],
    Row(np.concatenate, (normal(2, 3, 4),)),
    *[Row(np.stack, ([normal(2, 3), normal(2, 3)], axis)) for axis in (0, 1, -1)],
    Row(np.stack, (normal(3, 2),)),
    Row(np.vstack, ([normal(3), normal(2, 3)],)),
    Row(np.hstack, ([normal(3), np.float64(0.5)],)),
    Row(np.hstack, ((normal(2, 3), normal(2, 1)),)),
    Row(np.column_stack, ([normal(3), normal(3, 2)],)),
    *[
        Row(f, (normal(6, 2), parts))
        for f in (np.split, np.array_split)
        for parts in (3, [1, 4])
    ],
    Row(np.split, (normal(2, 6), 2, 1)),
    *[Row(np.tile, (normal(2, 3), reps)) for reps in (2, (2, 1), (2, 1, 3))],
    Row(np.tile, (np.float64(0.5), 3)),
    *[
        Row(np.repeat, (normal(2, 3), *rest))
        for rest in ((2,), (2, 0), (np.array([1, 0, 2]), 1))
    ],
    *[Row(np.flip, (normal(2, 3), axis)) for axis in (None, 0, (0, 1))],
    Row(np.fliplr, (normal(2, 3),)),
    Row(np.flipud, (normal(2, 3),)),
    *[
        Row(np.roll, (normal(3, 4), *rest))
        for rest in ((2,), (-1, 0), ((1, 2), (0, 1)))
    ],
    *[Row(np.sort, (_distinct, *rest)) for rest in ((), (0,), (None,))],
    Row(np.sort, (_distinct,), {"kind": "stable"}),
    *[Row(np.resize, (normal(2, 3), n)) for n in (4, (2, 3), (3, 5), 0)],
    Row(np.resize, (0.7, 3)),
    *[
        Row(np.diag, (normal(*s), k))
        for s in ((3,), (3, 3), (3, 4))
        for k in (0, 1, -1)
    ],
    Row(np.diagonal, (normal(3, 4),)),
    Row(np.diagonal, (normal(3, 4, 2), -1, 2, 0)),
    *[Row(f, (normal(3, 4), k)) for f in (np.tril, np.triu) for k in (0, -1)],
    *[
        Row(np.take, (normal(3, 4), *rest))
        for rest in (([0, 0, 5],), (1, 0), (np.array([[0, 1], [1, 1]]), -1))
    ],
    *[
        Row(np.take_along_axis, (normal(2, 3), np.array([[0, 0], [2, 1]]), axis))
        for axis in (1, -1)
    ],
    Row(np.take_along_axis, (normal(2, 3), np.array([0, 5, 5]), None)),
    *[Row(np.pad, (normal(2, 3), width)) for width in (1, (1, 2), ((0, 1), (2, 0)))],
    *[Row(np.full, ((2, 3), fill)) for fill in (0.5, normal(3), normal(2, 1))],
    Row(np.full_like, (normal(2, 3), 0.5)),
    Row(np.linspace, (0.5, 2.0, 5)),
    Row(np.linspace, (normal(2), 1.0, 4)),
]


def product(
    primal: Callable[..., Any],
    helpers: tuple[Callable[..., Any], ...],
    shapes: tuple,
    *rest: object,
) -> list[Row]:
    rows = []
    for left, right in shapes:
        a, b = normal(*left), normal(*right)
        g = normal(*np.shape(primal(a, b, *rest)))
        rows += [Row(f, (g, a, b, *rest)) for f in helpers]
    return rows


_PARTS = [normal(2, 3), normal(3)]

HELPERS = [
    *[
        Row(runtime.unbroadcast, (normal(2, 3), np.zeros(s)))
        for s in ((2, 3), (3,), (2, 1))
    ],
    Row(helper.cut, (normal(3), np.array([0.0, 1.0, 2.0]))),
    *product(
        np.matmul,
        (helper.matmul_adjoint_a, helper.matmul_adjoint_b),
        _MATMUL + _BATCHES,
    ),
    *product(
        np.dot,
        (helper.dot_adjoint_a, helper.dot_adjoint_b),
        (*_MATMUL, ((), (3,)), ((3,), ()), ((2, 3), (4, 3, 2)), ((4, 2, 3), (3,))),
    ),
    *product(
        np.inner,
        (helper.inner_adjoint_a, helper.inner_adjoint_b),
        (((3,), (3,)), ((2, 3), (4, 3)), ((4, 2, 3), (5, 3)), ((), (3,))),
    ),
    *product(
        np.tensordot,
        (helper.tensordot_adjoint_a, helper.tensordot_adjoint_b),
        (((2, 3, 4), (4, 2, 5)),),
        ([0, 2], [1, 0]),
    ),
    *product(
        np.kron,
        (helper.kron_adjoint_a, helper.kron_adjoint_b),
        (((2,), (3,)), ((2, 3), (3, 2)), ((2,), (3, 2))),
    ),
    Row(runtime.broadcast_like, (normal(3), np.zeros((2, 3)))),
    Row(runtime.broadcast_like, (0.5, np.zeros((2, 3)))),
    *[
        Row(f, args)
        for f in (runtime_control.solve_jacobian, runtime_control.solve_transposed)
        for args in [
            (normal(3, 3) + 3.0 * np.eye(3), normal(3)),
            (normal(2, 2, 2, 2) + 3.0 * np.eye(4).reshape(2, 2, 2, 2), normal(2, 2)),
            (2.0, 3.0),
        ]
    ],
    Row(runtime_operators.from_rows, ([normal(2), normal(2)], normal(2), normal(2))),
    Row(runtime_operators.from_columns, ([normal(3)] * 2, normal(2))),
    Row(runtime_solvers.row_of, (normal(2, 3), normal(2, 3))),
    Row(runtime_solvers.filled_like, (normal(6), normal(2, 3))),
    Row(runtime_operators.beside, (normal(3), normal(3), "x")),
    Row(runtime_operators.rows_of, (normal(2, 3, 2), normal(2, 3), normal(2))),
    Row(runtime_operators.columns_of, (normal(2, 3, 2), normal(2))),
    Row(helper.scatter, (normal(4), np.zeros(5), np.array([0, 2, 2, -1]))),
    Row(helper.diagonal_adjoint, (normal(2), np.zeros((3, 4)), 2)),
    Row(helper.trace_adjoint, (normal(2), np.zeros((3, 4, 2)), 0, 0, 1)),
    Row(helper.diag_adjoint, (normal(4, 4), np.zeros(3), 1)),
    Row(helper.diag_adjoint, (normal(3), np.zeros((3, 4)))),
    Row(helper.diff_adjoint, (normal(3, 2), 2, 0)),
    Row(helper.cast_adjoint, (normal(3), np.zeros(3), np.zeros(3))),
    Row(helper.cast_adjoint, (normal(3), np.zeros(3, int), np.zeros(3))),
    Row(helper.split_adjoint, (normal(3, 3), _PARTS, 0)),
    Row(helper.split_adjoint, (normal(2, 5), (normal(2, 3), normal(2, 2)), 1)),
    Row(helper.split_adjoint, (normal(9), _PARTS, None)),
    Row(helper.unstack_adjoint, (normal(2, 3), [0.0, 0.0, 0.0], 1)),
    Row(helper.tile_adjoint, (normal(4, 3), normal(2, 3), (2, 1))),
    Row(helper.repeat_adjoint, (normal(2, 6), normal(2, 3), 2, 1)),
    Row(helper.resize_adjoint, (normal(2, 4), normal(2, 3))),
    Row(helper.resize_adjoint, (normal(3), 0.5)),
    Row(helper.take_adjoint, (normal(2, 2), normal(2, 3), [0, 0], 1)),
    Row(helper.pad_adjoint, (normal(4, 5), normal(2, 3), 1)),
    Row(helper.sum_adjoint, (normal(3), [normal(3), 1.0, normal(1)])),
    Row(helper.sum_adjoint, (normal(2), normal(3, 2))),
    Row(helper.join, ([normal(2, 3), normal(3)], np.zeros((3, 3)))),
    Row(helper.join, ([normal(2, 3), normal(3)], np.zeros(9), None)),
    Row(helper.einsum_adjoint, (normal(2), "i,ij->i", (normal(2), normal(2, 3)))),
    Row(helper.einsum_adjoint, (normal(2), "i,i,i->i", tuple(normal(3, 2)))),
    Row(
        helper.take_along_adjoint, (normal(2, 2), normal(2, 3), np.eye(2, dtype=int), 1)
    ),
]

# At the end, so that the numbers of the others stay.
MORE = [
    Row(np.conjugate, (normal(3),)),
    Row(np.asanyarray, (normal(3),)),
    Row(np.asanyarray, ([normal(2), normal(2)],), {"order": "C"}),
    Row(np.array, (normal(3),), {"ndmin": 3}),
    Row(np.array, (normal(),), {"ndmin": 2, "copy": True}),
    Row(np.array, (normal(2, 2), np.float64), {"ndmin": 2}),
    Row(list, (normal(3),)),
    Row(tuple, (normal(3),)),
]

ROWS = [*UFUNCS, *OPERATORS, *PYTHON, *REDUCTIONS, *LINALG, *ARRAYS, *HELPERS, *MORE]
ROWS += [*LINEAR_ALGEBRA, *ELEMENTWISE]
if importlib.util.find_spec("scipy"):
    from .scipy_table import SCIPY

    ROWS += SCIPY
