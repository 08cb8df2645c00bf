"""What rules say where there is no derivative, as documented."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

from sct.templates import choices, lookup, ufuncs

NAN = math.nan

CASES = [
    (np.absolute, ([-2.0, 0.0, 2.0],), ([-1.0, 0.0, 1.0],)),
    (abs, (0.0,), (0.0,)),
    (np.maximum, ([1.0, 2.0], [1.0, 3.0]), ([0.5, 0.0], [0.5, 1.0])),
    (np.minimum, ([1.0, 2.0], [1.0, 3.0]), ([0.5, 1.0], [0.5, 0.0])),
    (max, (1.0, 1.0), (0.5, 0.5)),
    (min, (1.0, 1.0), (0.5, 0.5)),
    (np.max, ([1.0, 3.0, 3.0],), ([0.0, 0.5, 0.5],)),
    (np.min, ([1.0, 1.0, 3.0],), ([0.5, 0.5, 0.0],)),
    (np.clip, ([0.0, 1.0, 2.0], 0.0, 1.0), ([1, 1, 0], *2 * ([0, 0, 0], [0, 0, 1]))),
    (np.sinc, ([0.0],), ([0.0],)),
    (np.std, ([2.0, 2.0],), ([0.0, 0.0],)),
    (np.linalg.norm, ([0.0, 0.0],), ([0.0, 0.0],)),
    (np.linalg.norm, ([0.0, 0.0], 3), ([0.0, 0.0],)),
    (np.hypot, (0.0, 0.0), (0.0, 0.0)),
    (math.hypot, (0.0, 0.0), (0.0, 0.0)),
    (math.fabs, (0.0,), (0.0,)),
    (np.prod, ([0.0, 2.0, 3.0],), ([6.0, 0.0, 0.0],)),
    (np.logaddexp, (-np.inf, [-np.inf, 0.0]), ([0.0, 0.0], [0.0, 1.0])),
    (ufuncs.logaddexp_reduce, ([-np.inf, -np.inf],), ([0.0, 0.0],)),
    (ufuncs.maximum_accumulate, ([1.0, 1.0, 0.5],), ([3.0, 0.0, 0.0],)),
    (choices.largest, ([3.0, 1.0, 3.0],), ([0.5, 0.0, 0.5],)),
    (math.dist, ([1.0], [1.0]), ([0.0], [0.0])),
    (np.interp, (-3.0, [0.0, 1.0], [2.0, 5.0]), (0.0, [0.0, 0.0], [1.0, 0.0])),
    (np.where, ([True, False], [1.0, NAN], [NAN, 2.0]), ([1.0, 0.0], [0.0, 1.0])),
    (np.nan_to_num, ([NAN, np.inf, 1.0],), ([0.0, 0.0, 1.0],)),
    (operator.pow, (0.0, 0), (0.0, 0.0)),
    (operator.pow, (0.0, 1), (1.0, 0.0)),
    (operator.pow, (0.0, 2.5), (0.0, 0.0)),
    (operator.pow, (-2.0, 3), (12.0, NAN)),
    (math.pow, (0.0, 0.0), (0.0, 0.0)),
    (math.pow, (0.0, 1.0), (1.0, 0.0)),
]


@pytest.mark.parametrize(
    ("primal", "args", "expected"), CASES, ids=lambda v: getattr(v, "__name__", str(v))
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_kink(primal, args, expected):
    rule = lookup(primal)
    args = [np.array(a) if isinstance(a, list) else a for a in args]
    out = primal(*args)
    if rule.kind == "elementwise":
        bars = rule.function(out, *args)
    else:
        bars = rule.function(out, *args, out_bar=np.ones(np.shape(out))[()])
    bars = bars if len(rule.wrt) > 1 else [bars]
    # Options that are not given, such as `initial`, come last.
    for bar, value in zip(bars[: len(expected)], expected, strict=True):
        np.testing.assert_allclose(bar, value)
