"""Functions that NumPy calls for elements or rows, and outer products of ufuncs."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sct


def kink(t):
    return t * t if t > 0 else 3.0 * t


@np.vectorize
def smooth(t, u):
    return math.sin(t) * u


def vectorized(x):
    f = np.vectorize(lambda t: t * t if t > 0 else 3.0 * t)
    return np.sum(f(x) * np.arange(6.0).reshape(2, 3))


def vectorized_function(x):
    return np.sum(np.vectorize(kink)(x) ** 2)


def vectorized_with_broadcasting(x):
    return np.sum(smooth(x, x[0]) * smooth(x, 2.0))


def from_a_python_function(x):
    f = np.frompyfunc(kink, 1, 1)
    return np.sum(f(x).astype(float) * x)


def rows_to_numbers(x):
    return np.sum(np.apply_along_axis(lambda r: np.sum(r**3), 0, x) ** 2)


def rows_to_rows(x):
    y = np.apply_along_axis(np.cumsum, 1, x)
    return np.sum(y * x)


def rows_with_an_argument(x):
    y = np.apply_along_axis(lambda r, k: r[:2] * k, -1, x, 2.0)
    return np.sum(y**2)


def columns_to_longer_ones(x):
    y = np.apply_along_axis(lambda c: np.concatenate([c, c * c, c]), 0, x)
    return np.sum(y * np.arange(y.size).reshape(y.shape))


def pieces(x):
    y = np.piecewise(x, [x < 0, x > 0.5], [lambda t: t * t, lambda t: 3.0 * t, 1.5])
    return np.sum(y * x)


def pieces_that_overlap(x):
    y = np.piecewise(x, [x < 1.0, x < 0.0], [np.sin, np.cos])
    return np.sum(y * x)


def differences(x):
    return np.sum(np.subtract.outer(x, x[0]) ** 3)


def quotients(x):
    return np.sum(np.divide.outer(x[0], 2.0 + x[1] ** 2))


def length(x):
    return math.hypot(x[0, 0], 2.0, x[0, 1] * x[1, 1], x[0, 2])


FUNCTIONS = [
    vectorized,
    vectorized_function,
    vectorized_with_broadcasting,
    from_a_python_function,
    rows_to_numbers,
    rows_to_rows,
    rows_with_an_argument,
    columns_to_longer_ones,
    pieces,
    pieces_that_overlap,
    differences,
    quotients,
    length,
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    x = np.array([[0.7, -0.4, 1.3], [0.2, 0.9, -1.1]])
    value, bar = sct.value_and_grad(f)(x)
    assert value == f(x)
    assert bar.dtype == x.dtype
    sct.check_grads(f, x)
    v = np.cos(3.0 * x)
    _, dot = sct.jvp(f)(x, x_dot=v)
    np.testing.assert_allclose(dot, np.sum(bar * v))


def whole_numbers(x):
    return np.sum(np.vectorize(lambda t: 0 if t < 0 else t)(x) * x)


def test_the_first_value_says_of_which_type_all_are():
    x = np.array([-1.0, 2.7])
    value, bar = sct.value_and_grad(whole_numbers)(x)
    # The values are 0 and 2: whole numbers, for the first one is.
    assert value == whole_numbers(x) == 2 * 2.7
    np.testing.assert_array_equal(bar, [0.0, 2.0])
