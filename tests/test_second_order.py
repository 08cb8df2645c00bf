"""Derivatives of derivatives, in all pairs of modes, against differences."""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import math
from typing import NamedTuple

import numpy as np
import pytest

import sct

try:
    from scipy import linalg
except ImportError:
    linalg = None

from . import test_inplace, test_polybench
from .test_forward import tangent_of
from .test_kernels import draw, leaves, step

PROGRAMS = [*test_inplace.CASES, *test_inplace.LINEAR, *test_polybench.KERNELS]


# -- the same number in every pair of modes --------------------------------------------
def hessian_products(f, args, i, v):
    """``H v``, or for two tangents ``v H v``, in the four pairs of modes."""
    dot = f"{list(inspect.signature(f).parameters)[i]}_dot"
    again = f"{dot}_2"

    def given():
        return copy.deepcopy(args)

    def forward_over_reverse():
        return sct.jvp(sct.grad(f, wrt=i), wrt=i)(*given(), **{dot: v})[1]

    def reverse_over_reverse():
        return sct.vjp(sct.grad(f, wrt=i), wrt=i)(*given(), out_bar_2=v)[1]

    def reverse_over_forward():
        df = sct.vjp(sct.jvp(f, wrt=i), wrt=i)
        return df(*given(), **{dot: v, "out_bar": (0.0, 1.0)})[1]

    def forward_over_forward():
        df = sct.jvp(sct.jvp(f, wrt=i), wrt=i)
        return df(*given(), **{dot: v, again: v})[1][1]

    return {
        "forward over reverse": forward_over_reverse,
        "reverse over reverse": reverse_over_reverse,
        "reverse over forward": reverse_over_forward,
        "forward over forward": forward_over_forward,
    }


PAIRS = list(hessian_products(math.sin, (0.0,), 0, 1.0))


def expected_product(f, args, i, seed):
    """``H v`` by differences of the gradient, for the direction of `seed`."""
    df = sct.grad(f, wrt=i)

    def at(t):
        moved = list(copy.deepcopy(args))
        moved[i] = step(args[i], t, seed)
        return leaves(df(*moved))

    h = 1e-4
    points = zip(at(h), at(-h), at(2 * h), at(-2 * h), strict=True)
    return [(8 * (a - b) - (c - d)) / (12 * h) for a, b, c, d in points]


def check(f, args, i, pair):
    v = tangent_of(args[i], 5)
    products = expected_product(f, args, i, 5)
    found = hessian_products(f, args, i, v)[pair]()
    if pair == "forward over forward":
        products = [sum(np.sum(a * b) for a, b in zip(products, leaves(v)))]
    for a, b in zip(leaves(found), products, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


# -- what has to work ------------------------------------------------------------------
def polynomial(x):
    return x * x * x * math.sin(x)


def newton(a: float) -> float:
    x = a
    while abs(x * x - a) > 1e-12:
        x = 0.5 * (x + a / x)
    return x


def iterated(x: float) -> float:
    y = x
    for _ in range(4):
        y = y * math.sin(y) + x
    return y


def left_early(x: float) -> float:
    total, power = 0.0, 1.0
    for _ in range(10):
        power = power * x
        total = total + power
        if total > 3.0:
            return total * x
        power = 0.5 * power
    return total


def recursive(x: float, n: int = 4) -> float:
    if n == 0:
        return 1.0
    return x * recursive(x, n - 1)


def soft_maximum(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def network(w):
    x = np.array([0.3, -0.7, 0.2])
    return np.sum(np.tanh(w @ np.tanh(w @ x)) ** 2)


def stencil(u):
    u = u.copy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2]) ** 2
    return np.sum(u * u)


def by_elements(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[i] * x[i - 1]
        y[i] *= y[i - 1] + 2.0
    return y[3] * y[2]


def through_views(a):
    b = a * a
    row = b[1]
    row[:] = row * b[0]
    b.T[0] += a[1]
    return np.sum(b**2)


def parameters(p):
    hidden = np.tanh(p["w"] * p["b"])
    return np.sum(hidden**2) * p["b"]


def covariances(x):
    return np.sum(np.cov(x) ** 2) + np.sum(np.corrcoef(x, rowvar=False) ** 3)


def spread_out(x):
    a, b = np.broadcast_arrays(x[:, None], x)
    return np.sum(a * b * b)


def folded(x: float) -> float:
    return functools.reduce(lambda a, b: a * b + a, [x, x * x, x])


def ordered(x):
    a, b, c = sorted([x * x, math.sin(x), 3.0 * x])
    return a * b * c * c


def part_that_may_be_none(x):
    def parts(x, more):
        return x * x, x**3 if more else None

    a, b = parts(x, False)
    c, d = parts(x, True)
    return np.sum(a * c * d) if b is None else np.sum(b)


def library_loops(x):
    slope = np.polyder(np.polyint(x) * x[0], 2)
    return np.sum(np.poly(slope)) + np.polynomial.polynomial.polyval(x[0], slope) ** 2


def weights_of(x):
    factor = linalg.cho_factor(np.outer(x, x) + 2.0 * np.eye(3))
    return np.sum(linalg.cho_solve(factor, x) ** 2)


def pairs(x):
    return sum(a * b * b for a, b in itertools.combinations(x, 2))


SCALARS = [
    (polynomial, (0.7,)),
    (newton, (2.0,)),
    (iterated, (0.7,)),
    (left_early, (1.3,)),
    (recursive, (1.3,)),
    (folded, (0.7,)),
    (ordered, (0.7,)),
]
ARRAYS = [
    (soft_maximum, (draw(4),)),
    (network, (draw(3, 3),)),
    (stencil, (draw(6),)),
    (by_elements, (draw(4),)),
    (through_views, (draw(2, 2),)),
    (parameters, ({"w": draw(3), "b": 0.7},)),
    (covariances, (draw(2, 3),)),
    (spread_out, (draw(3),)),
    (part_that_may_be_none, (draw(3),)),
    (pairs, (draw(3),)),
    (library_loops, (draw(3),)),
    pytest.param(
        *(weights_of, (draw(3),)),
        marks=pytest.mark.skipif(linalg is None, reason="SciPy is an optional extra"),
    ),
]


class Body(NamedTuple):
    x: float
    y: np.ndarray


def by_name_and_place(c):
    x, y = c
    return np.sum(np.sin(x * c.y)) * c.x + np.sum(y[1:] ** 3)


def in_a_list(c):
    total = c[0].x * np.sum(c[1].y ** 2)
    for body in c:
        total = total + np.sum(np.cos(body.y)) * body.x**2
    return total


def not_all_of_it(c):
    return np.sum(c[1].y ** 3)


def kept_lists(x):
    total = 0.0
    for i in range(2):
        items = [np.sin(x[i])]
        for k in range(3):
            if k * 0.4 < x[2] or i > 0:
                items.append(np.cos(x[2] * k) * x[i])
        for e in range(len(items)):
            total += items[e] ** 3
    return total


def kept_items(d):
    for _ in range(2):
        if d["p"] > 0.1 and d["q"][0] < 5.0:
            d["p"] = np.sin(d["p"]) * d["q"][1]
    return d["p"] ** 2 * np.sum(d["q"] ** 2)


def rows_in_place(m):
    for i in range(2):
        m[i][1] = np.sin(m[i][0]) * m[i][1]
    return np.sum(m**3)


def compared_beside_stores(v):
    w = v * v
    choice = w[0] > 0.5 or not v[1] < 0.3
    w[0] = np.sin(v[1]) * w[1]
    if choice:
        w = w * v
    return np.sum(w * v)


def in_turns(v):
    for i in range(2):
        w = np.sin(v)
        w[i] = v[2] * w[1]
        v = w * v
    return np.sum(v)


BODY = Body(0.7, draw(3))
HELD = [
    (by_name_and_place, (BODY,)),
    (in_a_list, ([BODY, Body(1.2, draw(3, seed=2))],)),
    (not_all_of_it, ([BODY, Body(1.2, draw(3, seed=2))],)),
    (kept_lists, (draw(3),)),
    (kept_items, ({"p": 0.8, "q": draw(2, low=0.5)},)),
    (rows_in_place, (draw(2, 3),)),
    (compared_beside_stores, (draw(3),)),
    (in_turns, (draw(3),)),
]


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("f, args", HELD)
def test_what_derivatives_hold(f, args, pair):
    try:
        check(f, args, 0, pair)
    except sct.SctError:
        # What a gradient writes in place is not followed backwards in all cases.
        assert pair == "reverse over reverse"


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("g", [np.sin, math.exp, lambda x: x * x * x])
def test_functions_that_come_later(g, pair):
    def twice(x, g):
        return g(g(x)) * x

    check(twice, (0.6, g), 0, pair)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("f, args", SCALARS + ARRAYS)
def test_second_order(f, args, pair):
    check(f, args, 0, pair)


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("f, args, wrt", PROGRAMS[::6])
def test_never_wrong(f, args, wrt, pair):
    fixed = len(inspect.signature(f).parameters) == len(args)
    try:
        if fixed:
            check(f, args, wrt[0], pair)
    except sct.SctError:
        # What is refused is refused by name.
        pass


# -- higher ----------------------------------------------------------------------------
def derivative(f, mode):
    """The derivative of a function of one number, in one mode."""
    df = sct.grad(f) if mode == "grad" else sct.jvp(f)
    if mode == "grad":
        return lambda x: df(x)
    return lambda x: df(x, x_dot=1.0)[1]


MIXES = [m for m in itertools.product(["grad", "jvp"], repeat=4) if m.count("grad") < 3]


@pytest.mark.parametrize("modes", MIXES)
def test_mixes_of_modes_to_the_fourth_order(modes):
    df = polynomial
    for mode in modes:
        df = derivative(df, mode)
    x = 0.7
    s, c = math.sin(x), math.cos(x)
    # (x**3 sin x)'''' by the rule of Leibniz.
    expected = x**3 * s - 12 * x**2 * c - 36 * x * s + 24 * c
    assert df(x) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("f, order", [(polynomial, 4), (newton, 4), (iterated, 2)])
def test_gradients_of_gradients(f, order):
    df = f
    for _ in range(order - 1):
        df = sct.grad(df)
    h, x = 1e-3, 1.7
    slope = (8 * (df(x + h) - df(x - h)) - df(x + 2 * h) + df(x - 2 * h)) / (12 * h)
    assert sct.grad(df)(x) == pytest.approx(slope, rel=1e-7)


def contracted(x, y):
    return np.sum(np.einsum("ij,jk->ik", x, y) ** 3)


def chained(x, y):
    return np.sum(np.linalg.multi_dot([x, y, x]) ** 2)


@pytest.mark.parametrize("f", [contracted, chained])
def test_tangents_of_several_results_add_up(f):
    random = np.random.default_rng(5)
    x, y, v, w = (random.normal(size=(3, 3)) for _ in range(4))
    products = sct.hvp(f, (0, 1))(x, y, v=(v, w))
    df, h = sct.grad(f, (0, 1)), 1e-5
    above, below = df(x + h * v, y + h * w), df(x - h * v, y - h * w)
    for got, a, b in zip(products, above, below):
        np.testing.assert_allclose(got, (a - b) / (2 * h), rtol=1e-6, atol=1e-6)
