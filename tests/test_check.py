"""Tests of `sct.check`: right derivatives pass, wrong ones do not."""

from __future__ import annotations

import numpy as np
import pytest

from sct import check
from sct.errors import ArgumentError, CheckError


def f(x, n, y):
    return np.sin(x) * y**n, np.sum(x)


def f_vjp(x, n, y, *, out_bar):
    first, second = out_bar
    x_bar = first * np.cos(x) * y**n + second
    y_bar = np.sum(first * np.sin(x) * n * y ** (n - 1))
    return f(x, n, y), (x_bar, y_bar)


X = np.array([0.3, -1.2, 2.0])


@pytest.fixture
def derivative(monkeypatch):
    """Let `vjp` give a derivative written by hand."""

    def use(vjp):
        monkeypatch.setattr(check.api, "vjp", lambda f, wrt: vjp)

    return use


def test_right_derivative_passes(derivative):
    derivative(f_vjp)
    x = X.copy()
    assert check.check_grads(f, x, 3, 1.5) is None
    assert check.check_grads(f, x, 3, 1.5, wrt=("x", 2)) is None
    assert check.check_grads(f, x.astype(np.float32), 3, 1.5) is None
    np.testing.assert_array_equal(x, X)


@pytest.mark.parametrize("factor", [1.001, -1.0, 0.0, np.nan])
def test_wrong_derivative_is_named(derivative, factor):
    def wrong(*args, out_bar):
        value, (x_bar, y_bar) = f_vjp(*args, out_bar=out_bar)
        return value, (x_bar, factor * y_bar)

    derivative(wrong)
    with pytest.raises(CheckError, match="y: derivative .* differences") as caught:
        check.check_grads(f, X, 3, 1.5)
    assert "x:" not in str(caught.value)


def test_complex_pairing(derivative):
    derivative(lambda z, out_bar: (z * z, (2.0 * z * out_bar,)))
    check.check_grads(lambda z: z * z, 1.0 + 2.0j)
    derivative(lambda z, out_bar: (z * z, (np.conj(2.0 * z * out_bar),)))
    with pytest.raises(CheckError):
        check.check_grads(lambda z: z * z, 1.0 + 2.0j)


def test_nothing_to_check():
    with pytest.raises(ArgumentError, match="no argument is a float"):
        check.check_grads(f, 1, 2, 3)
    with pytest.raises(ArgumentError, match="no parameter is called `q`"):
        check.check_grads(f, X, 3, 1.5, wrt="q")
