"""Tests of `sct.check`: right derivatives pass, wrong ones do not."""

from __future__ import annotations

import dataclasses
from typing import NamedTuple

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
    """Let `vjp` give a derivative written by hand, and check it alone."""

    def use(vjp):
        monkeypatch.setattr(check.api, "vjp", lambda f, wrt: vjp)
        monkeypatch.setattr(check.check_grads, "__kwdefaults__", REVERSE)

    return use


REVERSE = check.check_grads.__kwdefaults__ | {"modes": ("reverse",)}


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
    derivative(lambda z, *, out_bar: (z * z, (2.0 * z * out_bar,)))
    check.check_grads(lambda z: z * z, 1.0 + 2.0j)
    derivative(lambda z, *, out_bar: (z * z, (np.conj(2.0 * z * out_bar),)))
    with pytest.raises(CheckError):
        check.check_grads(lambda z: z * z, 1.0 + 2.0j)


def test_nothing_to_check():
    with pytest.raises(ArgumentError, match="no argument is a float"):
        check.check_grads(f, 1, 2, 3)
    with pytest.raises(ArgumentError, match="no parameter is called `q`"):
        check.check_grads(f, X, 3, 1.5, wrt="q")


def test_modes_and_orders(monkeypatch):
    def cube(x, y):
        return x**3 * np.sin(y)

    check.check_grads(cube, 0.7, X, order=3)
    asked = []
    for name in ("vjp", "jvp"):
        made = getattr(check.api, name)

        def noted(g, wrt, made=made, name=name):
            asked.append(name)
            return made(g, wrt)

        monkeypatch.setattr(check.api, name, noted)
    check.check_grads(cube, 0.7, X, order=2)
    assert asked == ["vjp", "vjp", "jvp", "jvp", "vjp", "jvp"]
    with pytest.raises(ArgumentError, match="no mode is called 'backward'"):
        check.check_grads(cube, 0.7, X, modes=("backward",))


def test_a_wrong_second_derivative_is_found(monkeypatch):
    def square(x):
        return x * x

    made = check.api.jvp

    def wrong(g, wrt):
        right = made(g, wrt)
        if g.__name__ != "square_vjp":
            return right

        def wrong_jvp(x, *, out_bar=1.0, x_dot=1.0):
            value, tangent = right(x, out_bar=out_bar, x_dot=x_dot)
            return value, (tangent[0], (1.01 * tangent[1][0],))

        return wrong_jvp

    monkeypatch.setattr(check.api, "jvp", wrong)
    with pytest.raises(CheckError, match="forward over reverse mode"):
        check.check_grads(square, 1.3, order=2)


@dataclasses.dataclass
class Model:
    weights: np.ndarray
    layers: int = 2


class Pair(NamedTuple):
    first: float
    second: object


def test_containers_and_objects():
    def model(m, x):
        return np.sum(np.tanh(m.weights * x)) * m.layers

    def pairs(p, items):
        return p.first * p.second, [items[0] * p.first, items[1]]

    check.check_grads(model, Model(X), 1.5, order=2)
    check.check_grads(pairs, Pair(1.2, X), [2.0, X])
    check.check_grads(pairs, Pair(1.2, X), [2.0, X], order=2, modes=("forward",))
    check.check_grads(lambda d: d["a"] ** 2 * d["n"], {"a": 1.5, "n": 3}, order=2)
