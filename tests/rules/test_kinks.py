"""What rules say where there is no derivative, as documented."""

from __future__ import annotations

import math
import operator

import numpy as np
import pytest

import sct
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
    (ufuncs.hypot_reduce, ([0.0, 0.0],), ([0.0, 0.0],)),
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


def sinc(x):
    return np.sum(np.sinc(x))


def powers(x):
    return np.sum(x ** np.array([0.0, 1.0, 2.0, 3.0]))


def whole_powers(x):
    return np.sum(x**2 + x**3 + x**1 + x**0)


def of_the_exponent(x):
    return np.sum(0.0**x)


def product(x):
    return np.prod(x)


def products_so_far(x):
    return np.sum(np.cumprod(x))


def log_of_no_probability(x):
    return np.sum(np.exp(np.logaddexp(x, -np.inf)))


def quotient_and_rest(x):
    pair = np.divmod(x, 0.4)
    return np.sum(pair[0] * x + pair[1] ** 2)


SECOND = [
    (quotient_and_rest, [0.5, 0.9], [2.0, 2.0]),
    (sinc, [0.0, 1.0], [-(np.pi**2) / 3, 2.0]),
    (powers, [0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0]),
    (whole_powers, [0.0, 1.0], [2.0, 8.0]),
    (of_the_exponent, [1.0, 2.0], [0.0, 0.0]),
    (product, [0.0, 2.0, 3.0], [5.0, 3.0, 2.0]),
    (products_so_far, [0.0, 2.0, 3.0], [6.0, 4.0, 2.0]),
    (log_of_no_probability, [-np.inf, 0.0], [0.0, 1.0]),
]


@pytest.mark.parametrize(
    ("f", "x", "expected"), SECOND, ids=lambda v: getattr(v, "__name__", str(v))[:30]
)
def test_second_derivative(f, x, expected):
    # The rows of the Hessian, summed.
    found = sct.hvp(f)(np.array(x), v=np.ones(len(x)))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
