"""What may be said beside the function: examples, checks for nan, holomorphic."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest

import sct

from .test_operators import close, differences

X = np.array([0.7, -1.2, 0.4])
W = np.array([[0.5, 1.5, -0.3], [1.1, 0.2, 0.9]])


# -- like ------------------------------------------------------------------------------
def layer(w, b, x):
    return np.sum(np.tanh(w @ x + b) ** 2)


def test_like_tells_ranks_and_checks_them():
    b = np.array([0.1, -0.2])
    df = sct.grad(layer, wrt=(0, 1), like=(W, b, sct.spec(3)))
    exact = sct.grad(layer, wrt=(0, 1))(W, b, X)
    for found, known in zip(df(W, b, X), exact, strict=True):
        close(found, known, 1e-14)
    text = sct.source(df)
    assert "matmul_adjoint" not in text
    assert "matmul_adjoint" in sct.source(sct.grad(layer, wrt=(0, 1)))
    with pytest.raises(sct.ArgumentError, match="b is a float; .* floats of rank 1"):
        df(W, 0.5, X)
    with pytest.raises(sct.ArgumentError, match="w is an integer array"):
        df(W.astype(int), b, X)
    with pytest.raises(sct.ArgumentError, match=r"x is an array of shape \(3, 1\)"):
        df(W, b, X[:, None])


def test_like_tells_numbers():
    def f(x, n):
        return x**n

    df = sct.grad(f, like=(2.0, 3))
    assert df(3.0, 2) == 6.0
    assert "unbroadcast" not in sct.source(df)
    with pytest.raises(sct.ArgumentError, match="n is a float; .* integers of rank 0"):
        df(3.0, 2.0)
    with pytest.raises(sct.ArgumentError, match="x is an integer"):
        df(3, 2)


def test_like_for_every_operator():
    b = np.array([0.1, -0.2])
    like = (W, b, X)
    plain = functools.partial(sct.grad, layer)
    close(sct.value_and_grad(layer, like=like)(W, b, X)[1], plain()(W, b, X))
    close(sct.vjp(layer, like=like)(W, b, X, out_bar=1.0)[1], plain()(W, b, X))
    _, along = sct.jvp(layer, wrt=2, like=like)(W, b, X, x_dot=X)
    close(along, plain(wrt=2)(W, b, X) @ X)
    close(sct.jacobian(layer, wrt=2, like=like)(W, b, X), plain(wrt=2)(W, b, X))
    hessian = differences(lambda x: plain(wrt=2)(W, b, x), X)
    close(sct.hessian(layer, wrt=2, like=like)(W, b, X), hessian, 1e-6)
    close(sct.hvp(layer, wrt=2, like=like)(W, b, X, v=X), hessian @ X, 1e-6)
    for make in (sct.jacobian, sct.hessian, sct.jvp, sct.hvp):
        more = {sct.jvp: {"x_dot": X}, sct.hvp: {"v": X}}.get(make, {})
        with pytest.raises(sct.ArgumentError, match="as `like` said"):
            make(layer, wrt=2, like=like)(W, 0.5, X, **more)


def apply(f, x):
    return f(x) * x


@dataclass
class Scale:
    k: float

    def __call__(self, x):
        return self.k * x * x

    def method(self, x, y):
        return np.sum(self.k * x * y)


def test_like_tells_functions_and_classes():
    df = sct.grad(apply, wrt="x", like=(np.sin, 1.0))
    assert df(np.sin, 2.0) == pytest.approx(np.sin(2.0) + 2.0 * np.cos(2.0))
    assert "np.sin(x)" in sct.source(df)
    with pytest.raises(sct.ArgumentError, match="f is another function"):
        df(np.cos, 2.0)
    df = sct.grad(apply, wrt="x", like=(Scale(2.0), 1.0))
    assert df(Scale(3.0), 2.0) == pytest.approx(9.0 * 4.0)


def test_like_of_what_is_given_already():
    df = sct.grad(Scale(2.0).method, wrt="x", like=(X, X))
    close(df(X, X + 1.0), 2.0 * (X + 1.0))
    with pytest.raises(sct.ArgumentError, match="as `like` said"):
        df(X, 1.0)
    df = sct.grad(functools.partial(layer, W), wrt=1, like=(X[:2], X))
    close(df(X[:2], X), sct.grad(layer, wrt=2)(W, X[:2], X))


def test_like_must_fit():
    with pytest.raises(sct.ArgumentError, match="like does not fit .* layer: too many"):
        sct.grad(layer, like=(1.0, 2.0, 3.0, 4.0))


# -- nan -------------------------------------------------------------------------------
def rooted(x):
    y = x + 1.0
    z = np.sqrt(y)
    return np.sum(z)


@np.errstate(all="ignore")
def test_check_nan_says_where():
    df = sct.grad(rooted, check_nan=True)
    close(df(np.ones(3)), 0.5 / np.sqrt(2.0))
    with pytest.raises(sct.NanError, match=r"^\w+ is not a .* after L\d+: z = np.sqrt"):
        df(np.array([1.0, -2.0, 1.0]))
    with pytest.raises(FloatingPointError, match="y is not a number"):
        df(np.array([np.nan, 1.0, 1.0]))
    assert np.isnan(sct.grad(rooted)(np.array([1.0, -2.0, 1.0]))[1])


@np.errstate(all="ignore")
def test_check_nan_in_calls_and_results():
    def f(x):
        return rooted(x) * 2.0

    with pytest.raises(sct.NanError, match="z = np.sqrt"):
        sct.grad(f, check_nan=True)(-2.0 * np.ones(3))
    with pytest.raises(sct.NanError):
        sct.jvp(rooted, check_nan=True)(-2.0 * np.ones(3), x_dot=np.ones(3))
    text = sct.source(sct.grad(f, check_nan=True))
    assert "raise FloatingPointError" in text and "import sct" not in text


# -- holomorphic -----------------------------------------------------------------------
Z = 0.4 + 0.9j


def analytic(z):
    return np.exp(z) * z * z


def derivative(z):
    return np.exp(z) * (z * z + 2.0 * z)


def test_holomorphic():
    assert sct.grad(analytic, holomorphic=True)(Z) == pytest.approx(derivative(Z))
    value, found = sct.value_and_grad(analytic, holomorphic=True)(Z)
    assert value == pytest.approx(analytic(Z))
    assert found == pytest.approx(derivative(Z))
    z = np.array([Z, 1.0 - Z, 2.0j])
    for mode in ("forward", "reverse", None):
        found = sct.jacobian(analytic, mode=mode, holomorphic=True)(z)
        close(found, np.diag(derivative(z)))
    found = sct.hessian(lambda z: np.sum(z**3), holomorphic=True)(z)
    close(found, np.diag(6.0 * z))


def test_holomorphic_functions_take_complex_numbers():
    for make in (sct.grad, sct.jacobian):
        with pytest.raises(sct.ArgumentError, match="must be complex"):
            make(analytic, holomorphic=True)(1.0)
    with pytest.raises(sct.ArgumentError, match="holomorphic=True"):
        sct.jacobian(analytic)(Z)


def test_unknown_options():
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        sct.jacobian(layer, colour="red")
