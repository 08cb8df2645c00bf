"""Arguments at which the rules of reductions and array functions are tested.

What `table` has of them is not repeated: here are the keywords, the odd shapes and
layouts, and the functions that came later.
"""

from __future__ import annotations

import numpy as np

from sct import runtime_joins as joins
from sct import runtime_reductions as reductions
from sct import runtime_scans as scans
from sct.runtime_joins import numbers
from sct.templates.registry import present

from .rows import Row, normal, positive, start

start(4)

# No two elements are near each other.
_stack = 0.1 * (7.0 * np.arange(24.0) % 24.0).reshape(2, 3, 4) - 1.05
_matrix = 0.2 * (5.0 * np.arange(12.0) % 12.0).reshape(3, 4) - 1.05
_row = np.array([0.3, -1.2, 0.8, 2.0, -0.5])
_mask = np.array([[1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]], bool)
_holes = np.where(_mask, _matrix, np.nan)
_steps = np.array([0.0, 0.5, 1.0, 2.5, 3.0])
# The same numbers, laid out in other ways.
_LAYOUTS = (
    _matrix[::-1, ::2],
    np.asfortranarray(_matrix),
    _matrix.T,
    _matrix[:, :1],
    _matrix[:1],
)

_AXES = ({}, {"axis": 1}, {"axis": (0, -1)}, {"axis": 0, "keepdims": True})

REDUCTIONS = [
    *[
        Row(f, (_matrix,), {**axes, "where": _mask, **more})
        for axes in _AXES
        for f, more in (
            (np.sum, {}),
            (np.sum, {"initial": 2.0}),
            (np.mean, {}),
            (np.prod, {}),
            (np.prod, {"initial": 2.0}),
            (np.max, {"initial": -0.5}),
            (np.min, {"initial": 0.5}),
            (np.var, {}),
            (np.std, {"ddof": 1}),
        )
    ],
    *[
        Row(f, (_matrix, 1), {"initial": 0.4})
        for f in (np.sum, np.prod, np.max, np.min)
    ],
    Row(np.max, (_matrix, 1), {"initial": 5.0}),
    *[
        Row(f, (_matrix, 1), {"correction": 1.5})
        for f in (np.var, np.std)
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    ],
    *[
        Row(f, (_matrix, 1), {"mean": np.mean(_matrix, 1, keepdims=True) + 0.1})
        for f in (np.var, np.std)
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    ],
    *[
        Row(f, (x, 0))
        for f in (np.sum, np.mean, np.prod, np.max, np.var, np.std, np.ptp, np.median)
        for x in _LAYOUTS
    ],
    *[
        Row(f, (_holes,), axes)
        for f in (
            np.nansum,
            np.nanmean,
            np.nanvar,
            np.nanstd,
            np.nanmax,
            np.nanmin,
            np.nanprod,
            np.nanmedian,
        )
        for axes in (*_AXES, {"axis": 0})
    ],
    *[
        Row(f, (_holes, 1), {"where": _mask[::-1] | ~_mask})
        for f in (np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd)
    ],
    *[Row(f, (_holes, 1), {"ddof": 1}) for f in (np.nanvar, np.nanstd)],
    *[
        Row(f, (_holes, *rest))
        for f in (np.nancumsum, np.nancumprod)
        for rest in ((), (0,), (-1,))
    ],
    Row(np.nansum, (np.array([1.0, np.nan, 2.0], np.float32),), {}),
    Row(np.sum, (normal(3, 2).astype(np.float32),), {"where": [True, False]}),
    Row(np.average, (_matrix, 0), {"weights": positive(3)}),
    *[
        Row(np.average, (_stack, (2, 0)), {"weights": positive(4, 2), "keepdims": True})
        if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
        else Row(np.average, (_stack, 1), {"weights": positive(3), "keepdims": True})
    ],
]

_METHODS = ("linear", "hazen", "weibull", "midpoint", "lower", "nearest")

ORDERS = [
    *[Row(np.median, (x,)) for x in (_row, _row[:4], np.float64(0.5), _row[::-1])],
    *[Row(np.median, (_stack,), axes) for axes in (*_AXES, {"axis": (2, 0)})],
    *[
        Row(np.quantile, (_row, 0.37), {"method": method})
        if method == "linear"
        else Row(np.quantile, (_row, 0.37), {"method": method}, ("a",))
        for method in _METHODS
    ],
    Row(np.quantile, (_stack, np.array([0.2, 0.61]))),
    Row(np.quantile, (_stack, np.array([[0.2], [0.61]]), (0, 2)), {"keepdims": True}),
    Row(np.quantile, (_matrix.T, 0.37, 1)),
    Row(np.percentile, (_stack, 37.0, 1)),
    Row(np.percentile, (_row, np.array([12.0, 81.0]))),
    Row(np.nanquantile, (_holes, np.array([0.2, 0.61]), 1)),
    Row(np.nanquantile, (_holes, 0.37), {"method": "hazen"}),
    Row(np.nanpercentile, (_holes, 37.0, 0), {"keepdims": True}),
    *[Row(np.sort, (x, axis)) for x in _LAYOUTS for axis in (0, -1)],
    *[Row(np.partition, (_matrix, 1, axis)) for axis in (0, -1, None)],
    Row(np.partition, (_row, [1, 3])),
    Row(np.unique, (_matrix,)),
]

SCANS = [
    *[
        Row(f, (x, axis))
        for f in (np.cumsum, np.cumprod)
        for x in _LAYOUTS
        for axis in (0, -1, None)
    ],
    Row(np.cumprod, (np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 1.0]]), 1)),
    *[
        Row(f, (_matrix,), {"axis": axis, "include_initial": initial})
        for f in (
            getattr(np, name)
            for name in ("cumulative_sum", "cumulative_prod")
            if hasattr(np, name)
        )
        for axis in (0, -1)
        for initial in (False, True)
    ],
    *[
        Row(f, (_row,), {"include_initial": True})
        for f in (
            getattr(np, name)
            for name in ("cumulative_sum", "cumulative_prod")
            if hasattr(np, name)
        )
    ],
    Row(np.diff, (_row,), {"prepend": 0.5}),
    Row(np.diff, (_row, 2), {"prepend": normal(2), "append": np.float64(1.5)}),
    Row(np.diff, (_matrix, 1, 0), {"append": normal(2, 4)}),
    Row(np.diff, (_matrix, 2, -1), {"prepend": 0.5}),
    Row(np.diff, (_row, 0)),
    Row(np.ediff1d, (_matrix,)),
    Row(np.ediff1d, (_row, normal(2), np.float64(0.5))),
    *[
        Row(f, (normal(n), normal(m), mode))
        for f in (np.convolve, np.correlate)
        for n, m in ((5, 3), (2, 5), (4, 4), (1, 3))
        for mode in ("full", "same", "valid")
    ],
    Row(np.bincount, (np.array([0, 1, 1, 3, 0]), _row), {"minlength": 6}),
    *[
        Row(np.histogram_bin_edges, (np.array([0.3, 2.2, 2.2, 0.1, 0.5]), *rest))
        for rest in ((), (3,), (3, (0.0, 3.0)))
    ],
    # At an edge, counts have no derivative.
    *[
        Row(np.histogram, (_steps, *rest), {"weights": _row}, wrt=("weights",))
        for rest in ([3], [[0.2, 1.0, 3.0]])
    ],
    *[
        Row(np.histogram, (np.array([0.3, 2.2, 1.4, 0.1, 0.5]), *rest), kwargs)
        for rest in ([3], [3, (0.0, 3.0)], [[0.2, 1.0, 3.0]])
        for kwargs in ({}, {"weights": _row})
    ],
]

POLYNOMIALS = [
    *[Row(np.polyval, (normal(4), x)) for x in (np.float64(0.7), _row, _matrix)],
    Row(np.polyval, (normal(1), _row)),
    Row(np.vander, (_row,)),
    *[Row(np.vander, (_row, n, up)) for n in (1, 3) for up in (False, True)],
    *[
        Row(np.gradient, args, kwargs)
        for args, kwargs in (
            ((_row,), {}),
            ((_row[:2],), {}),
            ((_row[:3],), {"edge_order": 2}),
            ((_row, 0.5), {}),
            ((_matrix,), {}),
            ((_matrix, 0.5), {}),
            ((_matrix, 0.5, 2.0), {"edge_order": 2}),
            ((_matrix.T, 0.5), {"axis": -1}),
            ((_stack,), {"axis": (2, 0)}),
        )
    ],
]

JOINS = [
    *[
        Row(np.pad, (x, width, mode))
        for mode in ("edge", "wrap", "reflect", "symmetric", "linear_ramp", "mean")
        for x, width in ((_row, 2), (_row, (7, 0)), (_matrix, ((1, 2), (0, 3))))
    ],
    Row(np.pad, (_row, 7, "reflect"), {"reflect_type": "odd"}),
    Row(np.pad, (_matrix, 2, "symmetric"), {"reflect_type": "odd"}),
    Row(np.pad, (_row, 2, "mean"), {"stat_length": 2}),
    Row(np.pad, (_row, 2, "linear_ramp"), {"end_values": 1.5}),
    Row(np.pad, (_matrix, 1), {"constant_values": 0.5}),
    Row(np.pad, (_row, 2), {"constant_values": normal(2)}),
    Row(np.dstack, ([_row, _row],)),
    Row(np.dstack, ((_stack, _stack[..., :1]),)),
    Row(np.block, ([[_matrix, normal(3, 1)], [normal(1, 4), np.float64(0.5)]],)),
    Row(np.block, ([_row, normal(2)],)),
    Row(np.vsplit, (_matrix, 3)),
    Row(np.hsplit, (_matrix, [1])),
    Row(np.hsplit, (_row, [2])),
    Row(np.dsplit, (_stack, 2)),
    *[
        Row(np.unstack, (_stack,), {"axis": axis})
        for axis in (0, -1)
        if hasattr(np, "unstack")
    ],
    *[
        Row(type(np.r_).__getitem__, (joiner, key))
        for joiner, key in (
            (np.r_, (_row, normal(2))),
            (np.r_, (_row, np.float64(0.5))),
            (np.r_, _row),
            (np.c_, (_row, normal(5))),
            (np.c_, (_matrix, normal(3), normal(3, 2))),
        )
    ],
    *[
        Row(np.append, args)
        for args in (
            (_row, 0.5),
            (_matrix, _row),
            (_matrix, normal(2, 4), 0),
            (_matrix, normal(3, 1), -1),
        )
    ],
    *[
        Row(np.insert, args)
        for args in (
            (_row, 1, 0.5),
            (_row, [3, 1], normal(2)),
            (_row, [1, 3], 0.5),
            (_row, slice(1, 4, 2), normal(2)),
            (_matrix, 1, normal(3), 1),
            (_matrix, -1, normal(2), None),
            (_matrix, [0, 2], normal(2, 4), 0),
        )
    ],
    *[
        Row(np.delete, args)
        for args in (
            (_row, 1),
            (_row, [0, -1]),
            (_row, slice(None, None, 2)),
            (_matrix, 1, 0),
            (_matrix.T, 2, 1),
            (_matrix, [1, 5]),
        )
    ],
    Row(np.trim_zeros, (_row, "f")),
]

SHAPES = [
    *[Row(np.rot90, (_stack, *rest)) for rest in ((), (2,), (-1, (2, 0)))],
    *[Row(np.reshape, (_matrix, (2, 6), order)) for order in ("F", "A")],
    *[Row(np.ravel, (_matrix, order)) for order in ("F", "K")],
    Row(np.ndarray.flatten, (_matrix.T, "F")),
    *[Row(np.rollaxis, (_stack, *rest)) for rest in ((2,), (0, 2), (1, 3), (-1, 1))],
    Row(np.broadcast_arrays, (_matrix, _matrix[:1], np.float64(0.5))),
    *[
        Row(np.meshgrid, (_row, normal(3), normal(2)), options)
        for options in ({}, {"indexing": "ij"}, {"sparse": True}, {"copy": False})
    ],
    Row(np.meshgrid, (_row,)),
    Row(np.lib.stride_tricks.sliding_window_view, (_row, 3)),
    Row(np.lib.stride_tricks.sliding_window_view, (_matrix, (2, 2))),
    Row(np.lib.stride_tricks.sliding_window_view, (_matrix.T, 2, 0)),
    Row(np.lib.stride_tricks.as_strided, (_row, (3, 2), (8, 16))),
    *[
        Row(np.matrix_transpose, (_stack,))
        for _ in range(1)
        if hasattr(np, "matrix_transpose")
    ],
    *[Row(f, (_row, k)) for f in (np.tril, np.triu) for k in (0, 1)],
    Row(np.diagflat, (_row, 1)),
    Row(np.diagflat, (_matrix,)),
]

PICKS = [
    *[Row(np.take, (x, [0, 2, 2])) for x in _LAYOUTS[:3]],
    *[Row(np.take, (_row, [7, -8, 1]), {"mode": mode}) for mode in ("wrap", "clip")],
    Row(np.take_along_axis, (_matrix.T, np.argsort(_matrix.T, 0), 0)),
    Row(np.compress, ([True, False, True], _matrix, 0)),
    Row(np.compress, ([0, 1, 1], _matrix)),
    Row(np.ndarray.compress, (_matrix, [True, False, True], 0)),
    Row(np.extract, (_matrix > 0, _matrix)),
    Row(np.ndarray.item, (_matrix.T, 5)),
    Row(np.ndarray.item, (_matrix, 1, 2)),
    Row(np.ndarray.item, (_matrix, (1, 2))),
    Row(np.choose, ([0, 1, 0, 2, 1], [_row, normal(5), 0.5])),
    Row(np.interp, (_matrix, _steps, _row), {"left": 0.3, "right": -2.0}),
]

MADE = [
    Row(np.linspace, (0.5, 2.0, 5, False)),
    Row(np.linspace, (normal(2), normal(2), 4), {"axis": 1}),
    Row(np.linspace, (normal(2, 1), normal(3), 4), {"axis": -1, "endpoint": False}),
    Row(np.linspace, (0.5, 2.0, 1)),
    *[
        Row(f, (_matrix,))
        for f in (np.asfortranarray, np.asarray_chkfinite, np.require, np.ndarray.view)
    ],
    Row(np.ascontiguousarray, (_matrix, np.float32)),
    Row(np.require, (_matrix, None, "F")),
    Row(np.copy, (_matrix, "F")),
    Row(np.ndarray.tolist, (_matrix,)),
    Row(np.full_like, (_matrix, 0.5), {"shape": (2, 2)}),
    Row(np.full_like, (_matrix, normal(4))),
    Row(np.arange, (0.5, 3.2, 0.7)),
    Row(np.arange, (0.5, 3.2)),
    *[Row(f, (np.float64(0.5),)) for f in (np.float32, np.float64, np.longdouble)],
]


def helpers() -> list[Row]:
    """Rows of the helpers that have rules, for derivatives of derivatives."""
    kept = np.insert(numbers(_row), [1, 3], [5, 5])
    return [
        Row(reductions.put_back, (normal(3), 1)),
        Row(reductions.masked, (normal(3, 1), _matrix, _mask)),
        Row(reductions.quantile_part, (_row, 0.37)),
        Row(reductions.quantile_part, (_row, np.array([0.2, 0.61]))),
        Row(scans.along, (_matrix, 1, 1, 3)),
        Row(scans.along_adjoint, (normal(3, 2), _matrix, 1, 1, 3)),
        *[
            Row(scans.diff_part, (normal(6), k, _row, 2, -1, 0.5, normal(2)))
            for k in range(3)
        ],
        Row(scans.diff_whole, (_row, 1, _row, 1, -1, 0.5)),
        Row(scans.diff_whole, (0.5, 0, _row, 1, -1, 0.5)),
        Row(scans.gradient_adjoint, (_matrix, _matrix, (0.5,), 1)),
        Row(scans.gradient_of, (_matrix, (0.5,), 1)),
        Row(joins.numbered_adjoint, (normal(7), kept, _row)),
        Row(joins.numbered, (_row, kept)),
        Row(joins.trim_adjoint, (_row, _row)),
        Row(joins.pad_rows_adjoint, (normal(9), _row, 2, "mean")),
        Row(joins.pad_rows, (_row, 2, "reflect", "odd")),
        Row(joins.padding_adjoint, (normal(9), _row, 2, 0.5)),
        Row(joins.block_adjoint, (normal(3, 6), [_matrix, normal(3, 2)])),
        Row(joins.joined_adjoint, (normal(7), np.r_, (_row, normal(2)))),
        Row(joins.joined_tangent, ((_row, normal(2)), np.r_, (_row, normal(2)))),
    ]


ROWS = [
    *REDUCTIONS,
    *ORDERS,
    *SCANS,
    *POLYNOMIALS,
    *JOINS,
    *SHAPES,
    *PICKS,
    *MADE,
    *helpers(),
    *[Row(f, ([normal(3), normal(2, 3)],)) for f in present("row_stack")],
]
