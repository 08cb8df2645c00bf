"""Gradients have the precision of their arguments."""

from __future__ import annotations

import numpy as np
import pytest

import sct


def chosen(x):
    return np.sum(np.where(x > 0.0, x, 2.0 * x))


def clipped(x):
    return np.mean(np.clip(x, -0.5, 0.5))


def larger(x):
    return np.sum(np.maximum(np.sin(x), 0.1))


def masked(x):
    return np.sum((x > 0.0) * x)


def powers(x):
    return np.sum(2.0**x)


def signed(x):
    return np.sum(np.copysign(x, -1.0))


def finite(x):
    return np.sum(np.nan_to_num(x) * np.nan_to_num(x * x))


def step(x):
    return np.where(x > 0.0, x, 0.0)


def in_a_call(x):
    return np.sum(step(x) - 0.1)


def sigmoid(x):
    return np.sum(1.0 / (1.0 + np.exp(-x)))


def norms(x):
    return np.sum(np.sqrt(np.sum(x**2, axis=-1)))


FUNCTIONS = [
    *(chosen, clipped, larger, masked, powers, signed, finite, in_a_call, sigmoid),
    norms,
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gradient(f, dtype):
    x = np.array([[0.7, -0.4], [1.3, 0.25]], dtype)
    bar = sct.grad(f)(x)
    assert bar.dtype == dtype
    np.testing.assert_allclose(bar, sct.grad(f)(x.astype(float)), rtol=1e-5)
