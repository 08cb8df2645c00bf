"""Arguments at which rules of elementwise functions, and of their kin, are tested."""

from __future__ import annotations

import cmath
import math

import numpy as np

from sct import runtime
from sct import runtime_elementwise as helper
from sct import runtime_rules as rules_helper
from sct.templates import choices, ufuncs

from .rows import Row, binary, normal, positive, scalar, start, unary, within

start(2)


def complex_normal(*shape: int) -> np.ndarray:
    return np.asarray(normal(*shape) + 1j * normal(*shape))


# Not in all versions of Python.
_NEW = [getattr(math, n) for n in ("exp2", "cbrt") if hasattr(math, n)]
_MASKS = [np.array([True, False, False]), np.array([True, True, False])]
_KNOTS = np.array([-2.0, -0.5, 0.7, 2.0])
_DISTINCT = np.array([[0.3, -1.0, 0.8, 0.5], [0.1, 0.4, 0.2, 0.9]])

REAL = [
    *unary(np.i0, normal),
    *unary(np.modf, within(0.1, 0.9)),
    *unary(np.frexp, within(0.6, 0.9)),
    *unary(np.unwrap, within(-1.0, 1.0))[1:],
    Row(np.unwrap, (np.array([0.1, 7.0, -9.0, 2.0]),)),
    Row(np.unwrap, (np.array([[0.1, 7.0], [-9.0, 2.0]]),), {"axis": 0, "period": 3.0}),
    Row(np.nextafter, (positive(3), 1.0), {}, ("x",)),
    *binary(np.divmod, within(2.2, 2.8), within(0.95, 1.05)),
    Row(np.ldexp, (normal(2, 3), 2)),
    Row(np.float64, (0.3,)),
    Row(np.longdouble, (0.3,)),
    Row(np.float32, (np.float32(0.3),)),
    *scalar(divmod, 2.3, 0.9),
    Row(divmod, (within(2.2, 2.8)(2, 3), within(0.95, 1.05)(3))),
    *[
        row
        for f in (math.gamma, math.lgamma)
        for x in (0.3, 2.5, 14.0, -1.4)
        for row in scalar(f, x)
    ],
    *[row for f in (math.modf, math.frexp, *_NEW) for row in scalar(f, 0.7)],
    *scalar(math.remainder, 2.3, 0.9),
    Row(math.ldexp, (0.7, 3)),
    *scalar(math.nextafter, 0.7, 1.0),
    Row(math.fsum, ([1.0, 2.0, 3.0],)),
    Row(math.fsum, (normal(3),)),
    Row(math.prod, ([2.0, -1.0, 3.0],)),
    Row(math.prod, ([2.0, 0.0, 3.0],), {"start": 2.0}),
    Row(math.prod, ((0.0, 0.0, 3.0),)),
    Row(math.dist, ([2.0, 0.5], [3.0, -1.0])),
    Row(math.dist, ((2.0, 0.5, 1.0), (3.0, -1.0, 2.0))),
]

CHOICES = [
    Row(np.select, (_MASKS, [normal(3), normal(3)])),
    Row(np.select, (_MASKS, [normal(3), normal(2, 3)], 0.3)),
    Row(np.select, (_MASKS[:1], [normal(3)]), {"default": normal(3)}),
    Row(np.choose, (np.array([1, 0, 1]), [normal(3), normal(3)])),
    Row(np.choose, (np.array([1, 0, 1]), [normal(3), 0.3])),
    Row(np.choose, (np.array([4, -1, 1]), normal(3, 3)), {"mode": "wrap"}),
    Row(np.choose, (np.array([4, -1, 1]), [normal(3), normal(3)]), {"mode": "clip"}),
    *[
        Row(np.interp, (x, _KNOTS, normal(4)), kwargs)
        for x in (0.3, normal(5), np.array([[-3.0, -1.0], [0.1, 3.0]]))
        for kwargs in ({}, {"left": 0.1, "right": -0.2})
    ],
    Row(choices.largest, ([1.0, 3.0, 2.0],)),
    Row(choices.largest, (normal(4),)),
    Row(choices.least, ((1.0, 3.0, 2.0),)),
    Row(helper.like, ((0.0, 0.0), [1.0, 2.0])),
    Row(rules_helper.itemised, (normal(3), [0.0, 0.0, 0.0])),
    Row(runtime.restored, (normal(3), np.zeros(3))),
    Row(runtime.filled, (normal(3), np.zeros(3), "x_dot")),
    Row(runtime.added, (normal(3), normal(3))),
    Row(helper.select_adjoint, (normal(3), _MASKS, [normal(3), normal(3)])),
    Row(helper.choose_adjoint, (normal(3), np.array([1, 0, 1]), [normal(3), 0.3])),
]

UFUNCS = [
    *[
        Row(ufuncs.logaddexp_reduce, (normal(2, 3), *axis), kwargs)
        for axis in ((), (1,), (None,))
        for kwargs in ({}, {"keepdims": True})
    ],
    *[
        Row(f, (_DISTINCT, *axis))
        for f in (ufuncs.maximum_accumulate, ufuncs.minimum_accumulate)
        for axis in ((), (1,), (-1,))
    ],
    Row(ufuncs.maximum_accumulate, (normal(1),)),
    Row(ufuncs.add_reduceat, (normal(6), [0, 2, 5])),
    Row(ufuncs.add_reduceat, (normal(6), np.array([0, 4, 2]))),
    Row(ufuncs.add_reduceat, (normal(2, 5), [0, 3]), {"axis": 1}),
    Row(helper.reduceat_adjoint, (normal(3), normal(6), [0, 2, 5])),
    *[
        Row(ufuncs.hypot_reduce, (normal(2, 3), *axis), kwargs)
        for axis in ((), (1,), (None,))
        for kwargs in ({}, {"keepdims": True})
    ],
]

COMPLEX = [
    *[
        row
        for f in (
            *(np.real, np.imag, np.conjugate, np.absolute, np.angle, np.exp, np.log),
            *(np.sqrt, np.square, np.reciprocal, np.sin, np.cos, np.tan, np.tanh),
            *(np.sinh, np.cosh, np.arctan, np.arcsinh, np.log1p, np.expm1, np.exp2),
            *(np.negative, np.positive, np.log2, np.log10, np.arcsin, np.arccos),
            *(np.arctanh, np.arccosh),
        )
        for row in [Row(f, (complex_normal(),)), Row(f, (complex_normal(2, 3),))]
    ],
    *[Row(f, (normal(3),)) for f in (np.real, np.imag, np.angle)],
    Row(np.angle, (complex_normal(3),), {"deg": True}),
    *[
        row
        for f in (np.add, np.subtract, np.multiply, np.divide, np.power)
        for row in [
            *binary(f, complex_normal, complex_normal)[1:5],
            *binary(f, positive, complex_normal)[:2],
            *binary(f, complex_normal, positive)[:2],
        ]
    ],
    Row(np.where, (np.array([True, False, True]), complex_normal(3), normal(3))),
    Row(complex, (0.3,)),
    Row(complex, (0.3, -0.7)),
    Row(abs, (0.3 - 0.7j,)),
    *[Row(f, (0.3 - 0.7j,)) for f in (np.complex64, np.complex128, np.clongdouble)],
    *[
        Row(f, (0.3 - 0.7j,))
        for f in (
            *(cmath.exp, cmath.log, cmath.log10, cmath.sqrt, cmath.sin, cmath.cos),
            *(cmath.tan, cmath.sinh, cmath.cosh, cmath.tanh, cmath.asin, cmath.acos),
            *(
                cmath.atan,
                cmath.asinh,
                cmath.acosh,
                cmath.atanh,
                cmath.phase,
                cmath.polar,
            ),
        )
    ],
    Row(cmath.log, (0.3 - 0.7j, 1.2 + 0.1j)),
    Row(cmath.exp, (0.3,)),
    Row(cmath.rect, (0.7, 0.3)),
]

if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
    REAL += [
        Row(np.clip, (normal(6),), {"min": -0.4, "max": 0.6}),
        Row(np.clip, (normal(3, 3),), {"max": normal(3)}),
    ]

ELEMENTWISE = [*REAL, *CHOICES, *UFUNCS, *COMPLEX]
