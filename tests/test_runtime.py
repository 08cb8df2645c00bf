"""Tests of `sct.runtime`: what emitted code calls."""

from __future__ import annotations

import numpy as np
import pytest

from sct import runtime
from sct.errors import ArgumentError

SHAPES = [(), (1,), (3,), (1, 3), (2, 3), (2, 1), (1, 1), (4, 2, 3), (4, 1, 1), (0, 3)]


def pairs():
    for a in SHAPES:
        for b in SHAPES:
            try:
                yield a, b, np.broadcast_shapes(a, b)
            except ValueError:
                continue


@pytest.mark.parametrize(("a", "b", "out"), list(pairs()))
def test_unbroadcast_is_the_transpose_of_broadcasting(a, b, out):
    rng = np.random.default_rng(0)
    x, g = rng.normal(size=a), rng.normal(size=out)
    x_bar = runtime.unbroadcast(g, x)
    assert np.shape(x_bar) == a
    assert np.sum(x_bar * x) == pytest.approx(np.sum(g * np.broadcast_to(x, out)))


@pytest.mark.parametrize("shape", [(), (1,), (3,), (1, 3), (2, 1)])
def test_unbroadcast_spreads_what_is_smaller(shape):
    x, g = np.zeros((2, 3)), np.ones(shape)
    np.testing.assert_array_equal(runtime.unbroadcast(g, x), np.ones((2, 3)))
    np.testing.assert_array_equal(runtime.unbroadcast(2.0, x), np.full((2, 3), 2.0))


def test_unbroadcast_gives_back_what_fits():
    g = np.ones(3)
    assert runtime.unbroadcast(g, np.zeros(3)) is g
    assert runtime.unbroadcast(2.0, 1.0) == 2.0
    assert runtime.unbroadcast(np.float64(2.0), 1.0) == 2.0


@pytest.mark.parametrize(
    ("g", "x", "dtype"),
    [
        (np.ones(3), np.zeros(3, np.float32), np.float32),
        (np.ones((2, 3)), np.zeros(3, np.float32), np.float32),
        (np.ones(3) * 1j, np.zeros(3), np.float64),
        (np.ones(3) * 1j, np.zeros(3, np.float32), np.float32),
        (np.ones(3) * 1j, np.zeros(3, np.complex64), np.complex64),
        (np.ones(3), np.zeros(3, int), np.float64),
        (np.ones(3, np.float32), np.zeros(3), np.float32),
        (np.ones(3), np.float32(1), np.float32),
        (2.0, np.float32(1), np.float32),
        (2.0, np.zeros(3, np.float32), np.float32),
        (1j, 2.0, np.float64),
        (np.complex64(1j), 2.0, np.float32),
        (np.ones(3), 1, np.float64),
    ],
)
def test_unbroadcast_dtype(g, x, dtype):
    assert np.asarray(runtime.unbroadcast(g, x)).dtype == dtype


@pytest.mark.parametrize(
    ("x", "kind", "dtype"),
    [
        (2.0, float, float),
        (2, float, float),
        (2j, complex, complex),
        (np.float32(2), np.float32, np.float32),
        (np.ones(3, np.float32), np.ndarray, np.float32),
        (np.ones(3, int), np.ndarray, float),
        (np.array(3.0), np.ndarray, float),
    ],
)
def test_zero_like(x, kind, dtype):
    zero = runtime.zero_like(x)
    assert type(zero) is kind
    assert np.shape(zero) == np.shape(x)
    assert np.asarray(zero).dtype == dtype
    assert not np.any(zero)


def test_broadcast_like_is_fresh_and_writable():
    g, x = np.ones((1, 3)), np.zeros((2, 3), np.float32)
    out = runtime.broadcast_like(g, x)
    out[0, 0] = 5.0
    np.testing.assert_array_equal(out, [[5, 1, 1], [1, 1, 1]])
    assert out.dtype == np.float32
    assert g[0, 0] == 1.0
    assert runtime.broadcast_like(2.0, 1.0) == 2.0
    assert runtime.broadcast_like(1 + 1j, x)[0, 0] == 1.0


@pytest.mark.parametrize(
    "index",
    [
        1,
        np.int64(1),
        slice(1, 3),
        (slice(None), 1),
        None,
        [0, 0, 2],
        np.array([2, 2]),
        ([0, 0], [1, 1]),
        (slice(None), [1, 1]),
        np.arange(12).reshape(4, 3) % 2 == 0,
    ],
)
def test_add_at_is_the_transpose_of_indexing(index):
    rng = np.random.default_rng(1)
    x = rng.normal(size=(4, 3))
    g = rng.normal(size=x[index].shape)
    buffer = np.zeros_like(x)
    runtime.add_at(buffer, index, g)
    assert np.sum(buffer * x) == pytest.approx(np.sum(g * x[index]))


@pytest.mark.parametrize(
    ("x", "words"),
    [
        (2, r"x is an integer \(2\): derivatives need floats; pass 2\.0"),
        (True, r"x is a boolean \(True\): .* pass 1\.0"),
        (np.int64(2), r"x is an integer \(2\)"),
        (np.arange(3), r"x is an integer array of shape \(3,\): .*x\.astype\(float\)"),
        ([1.0], r"x is a list: .* pass np\.array\(x, dtype=float\)"),
        ({}, "x is a dict"),
        ("a", "x is a string"),
        (None, "x is None"),
    ],
)
def test_check_inexact_refuses(x, words):
    with pytest.raises(ArgumentError, match=words):
        runtime.check_inexact(y=1.0, x=x)


@pytest.mark.parametrize(
    "x", [1.0, 1j, np.float32(1), np.ones(3), np.ones(3, np.complex64), np.array(1.0)]
)
def test_check_inexact_accepts(x):
    assert runtime.check_inexact(x=x) is None


def test_check_scalars():
    assert runtime.check_scalars("f", function=1.0, x=np.array(1.0)) is None
    with pytest.raises(ArgumentError, match=r"x is an array of shape \(4,\): f gives"):
        runtime.check_scalars("f", x=np.ones(4))
    with pytest.raises(ArgumentError, match="x is an integer"):
        runtime.check_scalars("f", x=1)


@pytest.mark.parametrize("out", [1.0, 1, 1j, np.float32(1), np.array(1.0)])
def test_check_scalar_result_accepts(out):
    assert runtime.check_scalar_result("f", out) is None


@pytest.mark.parametrize(
    ("out", "words"),
    [
        (np.ones(4), r"f returned an array of shape \(4,\); .* use sct.vjp"),
        ((1.0, 2.0), "f returned a tuple"),
        ([1.0], "f returned a list"),
        (None, "f returned None"),
    ],
)
def test_check_scalar_result_refuses(out, words):
    with pytest.raises(ArgumentError, match=words):
        runtime.check_scalar_result("f", out)


def test_check_seed():
    x = np.ones(3)
    assert runtime.check_seed((x, 1.0), (x, 2.0)) is None
    assert runtime.check_seed({"a": x}, {"a": x}) is None
    for out_bar, out in [(1.0, x), (np.ones(2), x), ((x,), (x, x)), (x, (x, x, x))]:
        with pytest.raises(ArgumentError, match="out_bar is"):
            runtime.check_seed(out_bar, out)
