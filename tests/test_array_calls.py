"""Calls of array functions as users write them, through the whole of sct.

Each function is compared with central differences in both modes, and its gradient
again with its own.
"""

from __future__ import annotations

import numpy as np
import pytest

import sct

V = np.array([0.3, -1.2, 0.8, 2.0, -0.5])
W = np.array([1.1, 0.4, -0.7, 0.9, 1.6])
M = 0.2 * (5.0 * np.arange(12.0) % 12.0).reshape(3, 4) - 1.05
T = 0.1 * (7.0 * np.arange(24.0) % 24.0).reshape(2, 3, 4) - 1.05
MASK = np.array([[1, 0, 1, 1], [1, 1, 0, 0], [0, 1, 1, 1]], bool)
HOLES = np.where(MASK, M, np.nan)

CALLS = {}


def call(*args):
    def register(function):
        CALLS[function.__name__] = function, args
        return function

    return register


@call(V, M)
def arrays_of_builtins(v, m):
    x, y = v[0], m[1, 2]
    return np.array([abs(y), max(x, y), min(x, 0.5) * y, -len(v)]) * v[:4]


@call(M)
def out_by_position(m):
    return np.sum(m, 1, None, None, True) + np.mean(m, 1, None, None, True)


@call(M)
def out_that_is_none(m):
    return m.max(1, None, True) * np.sum(m, axis=0, out=None)


@call(M)
def masked_reductions(m):
    return np.sum(m, axis=1, where=MASK) * np.prod(m, 1, where=MASK, initial=2.0)


@call(M)
def masked_spread(m):
    return m.mean(axis=0, where=MASK) + np.std(m, axis=0, where=MASK)


@call(HOLES)
def reductions_with_holes(c):
    return np.nansum(c * c, axis=0) + np.nanmedian(c, 0) * np.nanvar(c, axis=0)


@call(V, np.float64(0.37))
def levels(v, q):
    return np.quantile(v, q) + np.percentile(v, 100.0 * q * q)


@call(T)
def median_of_planes(t):
    return np.median(t, axis=(0, 2), keepdims=True) * t


@call(V, W)
def weighted(v, w):
    return np.average(v, weights=np.exp(w)) * v


@call(V, W)
def differences(v, w):
    return np.diff(v, prepend=w[:2], append=0.5) * np.diff(v).sum()


@call(V, W)
def products_of_sums(v, w):
    return np.sum(np.cumsum(v)) * np.cumsum(w)


@call(V, W)
def convolved(v, w):
    return np.convolve(v, w[:3], "same") + np.correlate(w, v, mode="same")


@call(V)
def gradient_with_spacing(v):
    return np.gradient(v * v, np.array([0.0, 1.0, 1.5, 3.0, 4.0]))


@call(M, np.float64(0.5))
def gradients_along_axes(m, h):
    along, across = np.gradient(m, h, 2.0)
    return along * across


@call(M)
def padded(m):
    return np.pad(m, ((1, 2), (0, 1)), mode="reflect") * np.pad(m, ((3, 0), (1, 0)))


@call(V, np.float64(0.4))
def padded_with_a_value(v, s):
    return np.pad(v * v, (1, 2), constant_values=s)


@call(V, W)
def joined(v, w):
    return np.r_[2.0 * v, 1.0, w[1:] * w[0]]


@call(V, W)
def joined_under_another_name(v, w):
    r = np.r_
    return r[v, w] * r[w, 1:6]


@call(V, W)
def columns(v, w):
    return np.c_[v, np.ones(5), w * v]


@call(M, V)
def inserted(m, v):
    return np.delete(np.insert(m, 1, v[:3], axis=1), [0, -1], 1)


@call(V)
def appended(v):
    return np.append(v, [1.0, 2.0]) * np.append(v[0] * v, v[:2])


@call(V)
def parts_of_unequal_length(v):
    a, *_, b = np.split(v, [1, 3])
    return a * b


@call(V)
def parts_in_a_list(v):
    return sum([np.sum(r * r) for r in np.array_split(v, 3)])


@call(V, W)
def grid(v, w):
    x, y = np.meshgrid(v, w, indexing="ij")
    return x * y * y


@call(V, np.float64(0.7))
def spread_together(v, s):
    pair = np.broadcast_arrays(v, s)
    return pair[0] * pair[1]


@call(V)
def windows(v):
    return np.lib.stride_tricks.sliding_window_view(v, 3).sum(-1) * v[:3]


@call(V)
def list_of_numbers(v):
    return np.var([v[0], 2.0, v[1] * v[2]])


@call(V, W)
def list_of_arrays(v, w):
    return np.mean([v, w, 2.0 * v], axis=0)


@call(V)
def python_lists(v):
    items = v.tolist()
    return items[0] * items[1] + np.sum(items)


@call(V)
def distinct(v):
    values, counts = np.unique(v[[0, 1, 1, 0]], return_counts=True)
    return values * values * counts


@call(V)
def counted_bins(v):
    heights, edges = np.histogram([0.1, 0.2, 0.5, 0.7, 0.9], 3, weights=v * v)
    return heights * edges[1:]


@call(M)
def larger_bounds(m):
    return np.clip(m[0, 0], m[1], 5.0) * m


@call(T)
def traces(t):
    return np.trace(t) * t[0]


@call(M)
def flat_sums(m):
    return np.cumsum(m[:, :1]) * m[:, :1]


@call(V)
def lower_of_a_row(v):
    return np.tril(v) * v


@call(M)
def in_fortran_order(m):
    return np.take(m.T, [0, 5, 5]) * np.reshape(m, (4, 3), order="F")[0]


@call(V, np.float64(0.6))
def polynomial(v, x):
    return np.polyval(v, x) + np.sum(np.vander(v, 3))


@call(np.float64(0.6), np.float64(2.1))
def spaced(a, b):
    return np.linspace(a, b, 4, endpoint=False) * np.logspace(a, b, 4)


@call(V, np.float64(0.7))
def raised_together(v, s):
    a, b = np.atleast_2d(v, s)
    return a * b


@call(V)
def made_of_indices(v):
    return np.fromfunction(lambda i, j: i * v[0] + j * v[1] ** 2, (2, 3))


@call(V)
def turned(v):
    return np.rot90(np.stack([v, v * v]), -1)


def number(function, weights):
    def f(*args):
        return float(np.sum(weights * np.nan_to_num(function(*args))))

    return f


def slope(f, args, directions, step=1e-3):
    """The derivative along directions, by central differences of fourth order."""

    def at(h):
        return f(*[a + h * d for a, d in zip(args, directions)])

    near, far = at(step) - at(-step), at(2 * step) - at(-2 * step)
    return (8 * near - far) / (12 * step)


def directions(args):
    random = np.random.default_rng(1)
    return [
        np.where(np.isnan(a), 0.0, random.normal(size=np.shape(a)))[()] for a in args
    ]


def dot(left, right):
    return sum(float(np.sum(a * np.nan_to_num(b))) for a, b in zip(left, right))


@pytest.fixture(params=CALLS)
def case(request):
    function, args = CALLS[request.param]
    weights = np.random.default_rng(2).normal(size=np.shape(function(*args)))
    return function, args, weights, directions(args)


def test_reverse(case):
    function, args, weights, along = case
    value, bars = sct.vjp(function, wrt=tuple(range(len(args))))(*args, out_bar=weights)
    np.testing.assert_array_equal(value, function(*args))
    for bar, a in zip(bars, args):
        assert np.shape(bar) == np.shape(a)
    expected = slope(number(function, weights), args, along)
    np.testing.assert_allclose(dot(along, bars), expected, rtol=1e-7, atol=1e-7)


def test_forward(case):
    function, args, weights, along = case
    names = function.__code__.co_varnames[: len(args)]
    dots = {f"{n}_dot": d for n, d in zip(names, along)}
    _, out_dot = sct.jvp(function, wrt=names)(*args, **dots)
    expected = slope(number(function, weights), args, along)
    np.testing.assert_allclose(
        np.sum(weights * np.nan_to_num(out_dot)), expected, rtol=1e-7, atol=1e-7
    )


# Lists of what a second derivative writes into; and nan times the zero that it gets.
ONCE = {"list_of_numbers", "python_lists", "parts_in_a_list", "list_of_arrays"}
ONCE |= {"gradients_along_axes", "spread_together", "parts_of_unequal_length"}
ONCE |= {"reductions_with_holes", "larger_bounds", "made_of_indices"}
TWICE = [n for n in CALLS if n not in ONCE]


def squared(function, weights, count):
    def of_one(x):
        return np.sum(weights * function(x) ** 2)

    def of_two(x, y):
        return np.sum(weights * function(x, y) ** 2)

    return of_one if count == 1 else of_two


@pytest.mark.parametrize("name", TWICE)
def test_twice(name):
    function, args = CALLS[name]
    weights = np.random.default_rng(2).normal(size=np.shape(function(*args)))
    first = sct.grad(squared(function, weights, len(args)))
    along = directions(args)[0]

    def of_one(x):
        return np.sum(along * first(x))

    def of_two(x, y):
        return np.sum(along * first(x, y))

    again = of_one if len(args) == 1 else of_two
    moved = [along, *[np.zeros_like(a) for a in args[1:]]]
    expected = slope(lambda *a: float(again(*a)), args, moved)
    found = sct.grad(again)(*args)
    np.testing.assert_allclose(dot([along], [found]), expected, rtol=1e-6, atol=1e-6)


def test_what_an_object_looks_up_is_followed():
    class Doubled:
        def __getitem__(self, index):
            return 2.0 * index

    table = Doubled()

    def f(x):
        return table[x * x]

    assert sct.grad(f)(3.0) == 12.0


def test_coordinates_of_a_gradient_have_no_derivative():
    def f(x):
        return np.sum(np.gradient(V, np.cumsum(x)))

    with pytest.raises(TypeError, match="coordinates"):
        sct.grad(f)(np.ones(5))
