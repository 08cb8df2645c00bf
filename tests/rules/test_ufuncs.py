"""Every ufunc with a derivative: numbers, vectors, matrices and what broadcasts, twice.

Real and complex, in both modes, and the second derivative in both orders of modes,
against differences along random directions.
"""

from __future__ import annotations

import functools

import numpy as np
import pytest

import sct
from sct.templates import lookup

# The parameters of ufuncs are numbered differently by themselves.
ONE = [((),), ((3,),), ((2, 3),), ((0,),)]
TWO = [
    *[((), ()), ((3,), (3,)), ((2, 3), (2, 3)), ((), (2, 3)), ((2, 3), ())],
    *[((2, 3), (3,)), ((2, 3), (1, 3)), ((2, 3), (2, 1)), ((2, 1), (3,))],
]
UFUNCS = {
    u.__name__: u
    for u in vars(np).values()
    if isinstance(u, np.ufunc) and u.signature is None and u.nin <= 2
    if lookup(u) is not None and lookup(u).kind != "zero"
}
# What takes integers is tested by a row of its own.
UNARY = sorted(n for n, u in UFUNCS.items() if u.nin == 1)
BINARY = sorted(n for n, u in UFUNCS.items() if u.nin == 2 and n != "ldexp")


def accepts_complex(u):
    try:
        u(*[1.5 + 0.5j] * u.nin)
    except TypeError:
        return False
    # Complex numbers are ordered by these, and their derivative is none.
    return u not in (np.maximum, np.minimum, np.fmax, np.fmin)


def weighted(u):
    """A number made of all that a ufunc gives, as a function of its arguments."""
    if u.nin == 1 and u.nout == 1:
        return lambda x, w: np.sum(np.real(w * u(x)))
    if u.nin == 1:
        return lambda x, w: np.sum(w * u(x)[0] ** 2) + np.sum(w * u(x)[1])
    if u.nout == 1:
        return lambda x, y, w: np.sum(np.real(w * u(x, y)))
    return lambda x, y, w: np.sum(w * u(x, y)[0]) + np.sum(w * u(x, y)[1] ** 2)


class Draw:
    def __init__(self, is_complex):
        self.random, self.is_complex = np.random.default_rng(0), is_complex

    def __call__(self, low, high, shape):
        x = np.asarray(self.random.uniform(low, high, shape))
        if self.is_complex:
            x = x + 1j * self.random.uniform(0.1, 0.4, shape)
        return x[()]


def along(f, args, v):
    """The derivative of a function of arrays along `v`, by central differences."""
    total = 0.0
    for k, weight in ((1, 45 / 60), (2, -9 / 60), (3, 1 / 60)):
        ahead, behind = (
            f(*[x + h * d for x, d in zip(args, v)]) for h in (2e-3 * k, -2e-3 * k)
        )
        total = total + weight * (ahead - behind) / 2e-3
    return total


def inner(bars, v):
    return sum(np.sum(np.real(b * d)) for b, d in zip(bars, v, strict=True))


class Derived:
    """The derivatives of a ufunc, for complex arguments those of one rank each."""

    def __init__(self, u, like):
        self.f, names = weighted(u), ("x", "y")[: u.nin]
        self.names = names
        again = None if like is None else (*like, *like[:-1])
        self.gradient = sct.grad(self.f, wrt=names, like=like)
        self.tangent = sct.jvp(self.f, wrt=names, like=like)
        slope = second(self.gradient, u.nin)
        self.bent_back = sct.grad(slope, wrt=names, like=again)
        self.bent_on = sct.jvp(slope, wrt=names, like=again)

    def check(self, args, w, v):
        f, gradient = self.f, self.gradient
        dots = {f"{n}_dot": d for n, d in zip(self.names, v)}
        expected = along(lambda *xs: f(*xs, w), args, v)
        bars = gradient(*args, w)
        for b, x in zip(bars, args):
            assert np.shape(b) == np.shape(x)
            assert np.iscomplexobj(b) == np.iscomplexobj(x)
        close = functools.partial(np.testing.assert_allclose, rtol=1e-7, atol=1e-8)
        close(inner(bars, v), expected)
        close(self.tangent(*args, w, **dots)[1], expected)
        curved = along(lambda *xs: inner(gradient(*xs, w), v), args, v)
        close(inner(self.bent_back(*args, w, *v), v), curved, atol=1e-7)
        close(self.bent_on(*args, w, *v, **dots)[1], curved, atol=1e-7)


def check(u, cases, is_complex):
    """Both modes, and second derivatives by forward and reverse over reverse."""
    draw, derived = Draw(is_complex), {}
    for args in cases(draw):
        w = draw(0.5, 1.5, np.broadcast_shapes(*map(np.shape, args)))
        ranks = tuple(map(np.ndim, args)) if is_complex else ()
        if ranks not in derived:
            derived[ranks] = Derived(u, (*args, w) if is_complex else None)
        derived[ranks].check(args, w, [draw(-1.0, 1.0, np.shape(x)) for x in args])


def second(gradient, count):
    """The slope of a function along directions that come last, by its gradient."""
    if count == 1:

        def slope(x, w, dx):
            (x_bar,) = gradient(x, w)
            return np.sum(np.real(x_bar * dx))

        return slope

    def slope_of_two(x, y, w, dx, dy):
        x_bar, y_bar = gradient(x, y, w)
        return np.sum(np.real(x_bar * dx)) + np.sum(np.real(y_bar * dy))

    return slope_of_two


KINDS = [False, True]


@pytest.mark.parametrize("is_complex", KINDS, ids=["real", "complex"])
@pytest.mark.parametrize("name", UNARY)
def test_of_one(name, is_complex):
    u = UFUNCS[name]
    if is_complex and not accepts_complex(u):
        pytest.skip("takes no complex numbers")
    low, high = (1.3, 1.7) if name in ("arccosh", "acosh") else (0.3, 0.7)
    check(u, lambda draw: [[draw(low, high, s)] for (s,) in ONE], is_complex)


@pytest.mark.parametrize("is_complex", KINDS, ids=["real", "complex"])
@pytest.mark.parametrize("name", BINARY)
def test_of_two(name, is_complex):
    u = UFUNCS[name]
    if is_complex and not accepts_complex(u):
        pytest.skip("takes no complex numbers")
    # The quotient stays between two whole numbers, and neither operand is the larger.
    large, small = (2.55, 2.8), (1.05, 1.25)

    def cases(draw):
        for a, b in TWO:
            yield [draw(*large, a), draw(*small, b)]
            yield [draw(*small, a), draw(*large, b)]

    check(u, cases, is_complex)


def test_that_is_all():
    known = {"sin", "cosh", "power", "hypot", "logaddexp2", "multiply", "absolute"}
    assert known <= {*UNARY, *BINARY} and len(UNARY) > 30 and len(BINARY) > 15
