"""What `itertools` pairs and picks, sorted displays, and deep copies."""

from __future__ import annotations

import copy
import inspect
import itertools
from itertools import combinations, product

import numpy as np
import pytest

import sct

from .test_forward import check as check_tangent
from .test_kernels import check

CASES: list = []
X = np.array([0.7, 1.2, 1.4])


def case(*args):
    def keep(f):
        CASES.append(pytest.param(f, args, id=f.__name__))
        return f

    return keep


@case(X)
def product_of_ranges(x):
    total = 0.0
    for i, j in itertools.product(range(len(x)), range(2)):
        total += x[i] * x[j] ** 2
    return total


@case(X)
def product_left_early(x):
    total = 0.0
    for i, j in product(range(len(x)), repeat=2):
        if i > j:
            continue
        total += x[i] * x[j]
        if total > 3.5:
            break
    return total


@case(X)
def product_of_what_changes(x):
    total = 0.0
    for u, v in product(x, x):
        x = x * 1.1
        total += u * v * v * x[0]
    return total


@case(X, 2.0 * X)
def product_of_three(x, y):
    return sum(a * b * c for a, b, c in product(x, [y[0], y[2]], y))


@case(0.7, 1.3)
def combinations_of_a_display(f, g):
    return sum([a * b for a, b in combinations([f, g, f * g], 2)])


@case(X)
def combinations_of_three(x):
    return sum(x[i] * x[j] / x[k] for i, j, k in combinations(range(len(x)), 3))


@case(X)
def combinations_of_keys(x):
    parts = {1: x[0], 0: x[1] * x[2]}
    # Keys, and not what stands under 0 and 1.
    return sum(a * parts[a] * parts[b] for a, b in combinations(parts, 2))


@case(X)
def combination_as_a_whole(x):
    total = 0.0
    for chosen in combinations(range(3), 2):
        total += x[chosen[0]] * x[chosen[1]] ** 2
    return total


@case(X)
def permutations(x):
    return sum(a * b * b for a, b in itertools.permutations(x, 2))


@case(X)
def with_replacement(x):
    return sum(a * b * b for a, b in itertools.combinations_with_replacement(x, 2))


@case(X)
def differences(x):
    return sum((b - a) ** 2 for a, b in itertools.pairwise(x))


@case(X, 2.0 * X)
def chained(x, y):
    total = 0.0
    for v in itertools.chain(x, [y[0], y[1]], y):
        total = total * v + v
    return total + sum(v * v for v in itertools.chain(x, y))


@case(X)
def every_order_of_a_display(x):
    orders = list(itertools.permutations([x[0], x[1], x[2]], 3))
    return sum(a * b * b * c**3 for a, b, c in orders)


@case(X)
def items_that_are_tuples(x):
    return sum(a * b for (a,), b in product([(x[0],), (x[1],)], x))


@case(0.7, 1.3)
def sorted_displays(f, g):
    return 2.0 * sorted([f, g])[0] ** 2 + sorted((f, g, f * g), reverse=True)[1]


@case(X)
def taken_apart_and_stored(x):
    first, second = sorted([x[0], x[1] * x[2]], reverse=True)
    y = x.copy()
    y[:] = sorted(x)
    y[1] = max([x[0], x[1]], key=lambda v: v * v)
    a, b = max([(x[0], x[1]), (x[1], x[2])], key=lambda pair: pair[0])
    return first**2 * second * a * b + np.sum(x * y * y)


@case(X, 2.0 * X)
def deep_copies(x, y):
    z = copy.deepcopy(x)
    z[0] = y[0] * z[1]
    return np.sum(z * x * copy.deepcopy(y[1]) * copy.deepcopy(y * x))


@pytest.mark.parametrize("f, args", CASES)
def test_gradient(f, args):
    check(f, args, tuple(range(len(args))))


@pytest.mark.parametrize("f, args", CASES)
def test_tangent(f, args):
    check_tangent(f, args, tuple(range(len(args))))


def test_an_unknown_number_of_items_is_refused():
    def f(x, n):
        return sum(c[0] * c[-1] for c in combinations(x, n))

    with pytest.raises(sct.UnsupportedError, match="combinations"):
        sct.grad(f)


@pytest.mark.parametrize("mode", [sct.grad, sct.jvp])
def test_a_deep_copy_keeps_what_is_one_array(mode):
    def f(x):
        y = copy.deepcopy([x, x])
        y[0][0] = 5.0
        return np.sum(y[1] * x)

    with pytest.raises(sct.UnsupportedError):
        mode(f)


@pytest.mark.parametrize("mode", [sct.grad, sct.jvp])
@pytest.mark.parametrize("made", [itertools.chain, itertools.pairwise])
def test_an_iterator_with_a_name_is_used_up(mode, made):
    def f(x):
        iterator = made(x)
        return sum(np.sum(v) for v in iterator) + sum(np.sum(v) for v in iterator)

    with pytest.raises(sct.UnsupportedError):
        mode(f)


def test_a_product_is_written_as_loops():
    text = inspect.getsource(sct.grad(product_of_ranges))
    assert "for item_2 in range(2):" in text
    assert "product(" not in text.partition("# Backward")[0]
