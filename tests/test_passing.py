"""Adjoints of temporaries are summed once, at the end, and rightly so."""

from __future__ import annotations

import numpy as np
import pytest

import sct

R = np.random.default_rng(11)
A, B, C = R.normal(size=(4, 3)), R.normal(size=3), R.normal(size=(4, 1))
S, T = R.normal(size=(1, 3)), R.normal(size=(2, 4, 3))


def bias(x, w, b):
    return np.sum((x * w + b) ** 2)


def chain(x, w, b):
    return np.sum(np.sin((x * w + b) / 3.0 - x * b))


def outer_sum(x, w, b):
    return np.sum(np.tanh((x + w) + (b - w) * 2.0))


def small_first(x, w, b):
    return np.sum(np.exp(0.1 * ((w * b + b) + x)))


def constant_factor(x, w, b):
    return np.sum(np.cos(w) * (2.0 * x + b) + x)


def product(x, w, b):
    return np.sum((x @ w + b) ** 3)


def accumulated(x, w, b):
    out = np.zeros((4, 3))
    for i in range(2):
        out += x * w
        out += b * (i + 1.0)
    return np.sum(out * out)


OPERANDS = [(A, B, C), (B, A, C), (C, B, A), (S, C, B), (T, C, B), (B, S, T)]
PRODUCTS = [
    (A, R.normal(size=(3, 5)), R.normal(size=5)),
    (S, R.normal(size=(3, 1)), A),
    (S, R.normal(size=(3, 3)), A),
    (S, R.normal(size=(3, 3)), T),
    (B, R.normal(size=(3, 3)), A),
    (B, B, A),
    (A, B, T[:, :, :1] * np.ones(4)),
    (T, R.normal(size=(3, 5)), R.normal(size=(4, 1))),
    (A, R.normal(size=(2, 3, 1)), np.ones((2, 4, 6))),
    (A, B, np.ones((5, 1))),
]
CASES = [
    *((f, args) for f in (bias, chain, outer_sum, small_first) for args in OPERANDS),
    *((constant_factor, args) for args in OPERANDS),
    *((product, args) for args in PRODUCTS),
    (accumulated, (A, B, C)),
    (accumulated, (S, C, B)),
    (accumulated, (B, B, S)),
]


def slope(f, args, i):
    """Central differences in all elements of one argument."""
    out = np.zeros_like(args[i])
    for at in np.ndindex(out.shape):
        step = np.zeros_like(out)
        step[at] = 1e-6
        ends = [[a + s if k == i else a for k, a in enumerate(args)] for s in (step, -step)]
        out[at] = (f(*ends[0]) - f(*ends[1])) / 2e-6
    return out


@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_against_differences(f, args):
    for i, bar in enumerate(sct.grad(f, wrt=(0, 1, 2))(*args)):
        np.testing.assert_allclose(bar, slope(f, args, i), rtol=1e-5, atol=1e-6)
        assert bar.shape == args[i].shape


def test_dtypes_stay():
    x, w, b = (a.astype(np.float32) for a in (A, B, C))
    bars = sct.grad(chain, wrt=(0, 1, 2))(x, w, b.astype(np.float64))
    assert [a.dtype for a in bars] == [np.float32, np.float32, np.float64]


def test_only_the_shape_is_not_kept():
    source = sct.source(sct.grad(bias, wrt=(0, 1, 2)))
    assert "prod = " not in source
