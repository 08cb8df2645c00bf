"""Calls in other spellings: interleaved subscripts, iterators, frozen objects."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from numpy import fromiter

import sct

from .test_forward import check as check_tangent
from .test_kernels import check, draw

try:
    from scipy import stats
except ImportError:
    stats = None

CASES: list = []
X = np.array([0.7, 1.2, 1.4])


def case(*args, needs=True):
    def keep(f):
        skip = pytest.mark.skipif(needs is None, reason="SciPy is an optional extra")
        CASES.append(pytest.param(f, args, id=f.__name__, marks=skip))
        return f

    return keep


@case(draw(2, 3), draw(3, 2))
def interleaved(a, b):
    return np.sum(np.einsum(a, [0, 1], b, [1, 2], [0, 2]) ** 2)


@case(draw(2, 3), draw(3, 2))
def interleaved_without_result(a, b):
    return np.sum(np.einsum(a, [..., 1], b, [1, 2]) ** 2)


@case(X)
def from_iterators(x):
    squares = np.fromiter((v * v for v in x), float)
    return np.sum(squares * fromiter([x[1], x[0], x[2] * x[1]], dtype=float))


@case(draw(2, 3))
def elements(x):
    total = 0.0
    for v in np.nditer(x):
        total = total + v * v * v
    return total + sum(v * v for v in np.nditer(x.T))


@case(draw(2, 3))
def elements_with_their_places(x):
    total = 0.0
    for (i, j), v in np.ndenumerate(x):
        total = total + v * v * (i - 2 * j)
    return total + sum(v * v * k[0] for k, v in np.ndenumerate(x))


@case(draw(2, 3))
def places(x):
    total = 0.0
    for i, j in np.ndindex(2, 3):
        total = total + x[i, j] ** 2 * (i + 1)
    return total + sum(n * x[k] ** 2 for n, k in enumerate(np.ndindex(x.shape)))


@case(X, 0.7)
def polynomials(c, x):
    p = np.poly1d(c)
    c = 2.0 * c
    return p(x) * p(x * x) + np.poly1d(c)(x) * c[0]


@case(X, 0.7, needs=stats)
def frozen_distributions(x, m):
    d = stats.norm(loc=m, scale=m * m)
    m = 3.0 * m
    at_once = np.sum(stats.norm(m, 2.0).logpdf(x))
    return np.sum(d.pdf(x) * d.cdf(x)) * m + d.logpdf(x[0]) + at_once


@case(X, 0.7, needs=stats)
def frozen_normal_vectors(x, m):
    return stats.multivariate_normal(x, m * np.eye(3)).logpdf(np.ones(3))


@pytest.mark.parametrize("f, args", CASES)
def test_gradient(f, args):
    check(f, args, tuple(range(len(args))))


@pytest.mark.parametrize("f, args", CASES)
def test_tangent(f, args):
    check_tangent(f, args, tuple(range(len(args))))


def test_what_is_emitted_has_the_plain_spelling():
    assert 'np.einsum("ab,bc->ac", a, b)' in inspect.getsource(sct.grad(interleaved))


def test_what_is_done_otherwise_to_an_object_is_refused():
    def f(x):
        p = np.poly1d(x)
        return np.sum(p.coeffs) + p(x[0])

    with pytest.raises(sct.UnsupportedError, match="poly1d"):
        sct.grad(f)


@pytest.mark.parametrize("mode", [sct.grad, sct.jvp])
@pytest.mark.parametrize("made", [np.nditer, np.ndenumerate])
def test_an_iterator_with_a_name_is_used_up(mode, made):
    def f(x):
        iterator = made(x)
        first = sum(v * v for v in iterator)
        return first + sum(v for v in iterator)

    with pytest.raises(sct.UnsupportedError):
        mode(f)
