"""Gradients from end to end, on every supported Python: each against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sct

pytestmark = pytest.mark.smoke

RNG = np.random.default_rng(0)
X = RNG.uniform(0.5, 1.5, size=4)
A = RNG.uniform(0.5, 1.5, size=(3, 4))
CASES = []


def case(*args):
    def keep(f):
        CASES.append(pytest.param(f, args, id=f.__name__))
        return f

    return keep


@case(0.7, 1.9)
def scalar_code(x, y):
    return math.sin(x * y) / (1.0 + x**2) - y


@case(X)
def elementwise(x):
    return np.sum(np.exp(-x) * np.tanh(x) + np.sqrt(x))


@case(X, 0.3)
def broadcasting(x, b):
    return np.mean((x[:, None] - x + b) ** 2)


@case(A, X, RNG.normal(size=3))
def matrix_product(w, x, b):
    return np.sum(np.tanh(w @ x + b))


@case(A)
def reductions(a):
    return np.max(np.sum(a * a, axis=1)) + np.prod(a[0]) + np.var(a)


@case(X)
def slices(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


@case(0.4, 5)
def loop(r, n):
    x = 0.3
    for _ in range(n):
        x = 3.0 * r * x * (1.0 - x)
    return x


@case(2.0)
def while_loop(a):
    x = a
    while abs(x * x - a) > 1e-14 * a:
        x = 0.5 * (x + a / x)
    return x


@case(X, 0.2)
def branches(x, c):
    total = 0.0
    for v in x:
        if v > 1.0:
            total += c * v
        elif v > 0.7:
            total -= v * v
        else:
            continue
        if total > 3.0:
            return total * c
    return total


@case(A)
def in_place(a):
    a = a.copy()
    a[1] *= a[0]
    row = a[1]
    a[2, 1:] += 2.0 * row[:-1]
    return np.sum(a**3)


@case(X)
def argument_written(x):
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1]
    return x[-1]


def scale(x, k=2.0):
    return k * x * x


@case(X, 1.1)
def calls(x, k):
    return np.sum(scale(x) + scale(x, k=k * k))


@case(X, 0, 4)
def recursion(x, low, high):
    if high - low == 1:
        return x[low] * x[low]
    middle = (low + high) // 2
    return recursion(x, low, middle) * x[low] + recursion(x, middle, high)


@case(X)
def closures(x):
    def shifted(t):
        return t - x[0]

    return sum(shifted(v) ** 2 for v in x)


@case((2.0, X))
def containers(p):
    parts = {"scale": p[0], "rows": [p[1], p[1][::-1]]}
    return parts["scale"] * np.dot(*parts["rows"])


@case(1.2)
def local_names(x_bar):
    np_sum, out_bar = x_bar * x_bar, 3.0
    return np_sum * out_bar


@pytest.mark.parametrize(("f", "args"), CASES)
def test_gradient(f, args):
    """Along one direction, by differences that sct has no part in."""
    wrt = tuple(i for i, x in enumerate(args) if not isinstance(x, int))
    gradients = sct.grad(f, wrt=wrt)(*_copies(args))
    for i, gradient in zip(wrt, gradients, strict=True):
        direction = _direction(args[i])

        def value(t, i=i, direction=direction):
            moved = list(_copies(args))
            moved[i] = _moved(moved[i], t, direction)
            return f(*moved)

        near, far = value(1e-3) - value(-1e-3), value(2e-3) - value(-2e-3)
        expected = (8.0 * near - far) / 12e-3
        assert _inner(gradient, direction) == pytest.approx(expected, rel=1e-8), i


def _copies(args):
    return tuple(x.copy() if isinstance(x, np.ndarray) else x for x in args)


def _direction(x):
    if isinstance(x, tuple):
        return tuple(_direction(v) for v in x)
    return np.cos(np.arange(np.size(x))).reshape(np.shape(x)) + 0.1


def _moved(x, t, direction):
    if isinstance(x, tuple):
        return tuple(_moved(v, t, d) for v, d in zip(x, direction, strict=True))
    return x + t * direction if isinstance(x, np.ndarray) else x + t * float(direction)


def _inner(a, b):
    if isinstance(b, tuple):
        return sum(_inner(x, y) for x, y in zip(a, b, strict=True))
    return float(np.sum(a * b))


def test_saved_module_gives_the_same(tmp_path):
    df = sct.value_and_grad(matrix_product, wrt=("w", "b"))
    path = tmp_path / "saved.py"
    sct.save(df, path)
    space = {"__name__": "saved"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    value, (w_bar, b_bar) = space[df.__name__](A, X, np.ones(3))
    expected, (w_expected, b_expected) = df(A, X, np.ones(3))
    assert value == expected == matrix_product(A, X, np.ones(3))
    assert np.array_equal(w_bar, w_expected) and np.array_equal(b_bar, b_expected)


def test_seed_scales_the_gradient():
    assert sct.grad(scalar_code)(0.7, 1.9, out_bar=-2.0) == pytest.approx(
        -2.0 * sct.grad(scalar_code)(0.7, 1.9), rel=1e-14
    )
