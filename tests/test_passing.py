"""Adjoints of temporaries are summed once, at the end, and rightly so."""

from __future__ import annotations

import numpy as np
import pytest

import sct
from sct import runtime

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
        up, down = ([*args[:i], args[i] + s, *args[i + 1 :]] for s in (step, -step))
        out[at] = (f(*up) - f(*down)) / 2e-6
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


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("index_type", [np.int64, np.int8])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_are_added_once_for_every_time_they_are_indexed(dtype, index_type, order):
    index = np.array([[0, -1, 2], [2, 2, 1]], dtype=index_type)
    g = R.normal(size=(2, 3, 4, 2)).astype(dtype)
    buffer = np.ones((3, 4, 2), dtype=dtype, order=order)
    expected = np.ones((3, 4, 2))
    for at in np.ndindex(index.shape):
        expected[index[at]] += g[at]
    runtime.add_at(buffer, index, g)
    np.testing.assert_allclose(buffer, expected, rtol=1e-5)
    assert buffer.dtype == dtype


@pytest.mark.parametrize("shape", [(900, 3), (40, 30, 2), (3000, 20)])
def test_long_and_short_rows_are_summed_alike(shape):
    g = R.normal(size=shape)
    for axis in range(g.ndim):
        like = np.zeros([1 if i == axis else n for i, n in enumerate(shape)])
        expected = np.moveaxis(g, axis, 0).cumsum(axis=0)[-1]
        summed = runtime.unbroadcast(g, like)
        assert summed.shape == like.shape
        np.testing.assert_allclose(np.squeeze(summed, axis), expected, atol=1e-9)


def clipped(x):
    y = np.tanh(x)
    return np.sum(np.where(x > 0.0, 1.0 - y, y) * x)


def test_one_choice_instead_of_two():
    df = sct.grad(clipped)
    np.testing.assert_allclose(df(A), slope(clipped, [A], 0), rtol=1e-6, atol=1e-8)
    assert "y_bar = np.where(test, -where_bar, where_bar)" in sct.source(df)
