"""Zero adjoints cut a branch off, whatever infinity they meet there."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import sct

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def guarded_root(x):
    return np.sum(np.where(x > 1.0, np.sqrt(x), x * x + x))


def guarded_power(x):
    return np.sum(np.where(x > 0.0, x**0.5 + x**-1.5, x))


def guarded_quotient(x):
    return np.sum(np.where(x == 0.0, 1.0, np.sin(x) / x))


def entropy(p):
    return -np.sum(np.where(p > 0.0, p * np.log(p), 0.0))


def elu(x):
    return np.sum(np.where(x > 0.0, x, np.exp(x) - 1.0))


def by_maximum(x):
    return np.sum(np.maximum(np.log(x), -3.0))


def by_clip(x):
    return np.sum(np.clip(1.0 / x, -2.0, 2.0))


def by_mask(x):
    root = np.sqrt(x)
    return np.sum(root[x > 0.5]) + np.sum((x > 0.5) * root)


def by_reduction(x):
    return np.max(np.sqrt(x)) + np.nanmax(np.sqrt(x))


def by_order(x):
    return np.median(np.sqrt(x)) + np.quantile(np.sqrt(x), 0.5)


def by_cases(x):
    root = np.sqrt(x)
    chosen = np.select([x < 1.0, x > 1.0], [x, root]) + np.choose(x > 1.0, [x, root])
    return np.sum(chosen) + np.sum(np.compress(x > 1.0, root))


def written_over(x):
    y = np.log(x)
    y[0] = 3.0
    return np.sum(y * x)


def row_norms(x):
    r = np.sqrt(np.sum(np.reshape(x, (2, -1)) ** 2, axis=-1))
    return np.sum(np.where(r > 0.1, r, 0.1))


def infinite_branch(x):
    return np.sum(np.where(x > 0.0, 2.0 * x, x * np.inf))


def sigmoid(x):
    return np.sum(1.0 / (1.0 + np.exp(-x)))


def power_of_a_sigmoid(x):
    return np.sum(3.0 * (2.0 + np.exp(x)) ** -2)


def hyperbolic_secant(x):
    return np.sum(2.0 / np.cosh(x))


def gumbel(x):
    return np.sum(np.exp(-np.exp(-x)))


def in_a_loop(x):
    total = 0.0
    for i in range(3):
        total = total + np.sum(np.where(x > 0.0, np.log(x) * i, x))
    return total


def in_a_branch(x):
    y = np.sqrt(x)
    total = 0.0
    if x[1] > 0.0:
        z = 2.0 * y
        total = np.sum(np.where(x > 1.0, np.log(z), x))
    for _ in range(2):
        w = y * 3.0
        total = total + np.sum(np.where(x > 1.0, w**2, x))
    return total


CASES = [
    (in_a_branch, [0.0, 4.0], [3.0, 0.125 + 18.0]),
    (guarded_root, [0.0, 0.5, 4.0], [1.0, 2.0, 0.25]),
    (guarded_power, [0.0, -1.0, 1.0], [1.0, 1.0, -1.0]),
    (guarded_quotient, [0.0, np.pi], [0.0, -1 / np.pi]),
    (entropy, [0.0, 1.0, np.e], [0.0, -1.0, -2.0]),
    (elu, [800.0, -1.0], [1.0, np.exp(-1.0)]),
    (by_maximum, [0.0, 0.01, 2.0], [0.0, 0.0, 0.5]),
    (by_clip, [0.0, 0.1, 4.0], [0.0, 0.0, -0.0625]),
    (by_mask, [0.0, 0.25, 4.0], [0.0, 0.0, 0.5]),
    (by_reduction, [0.0, 4.0], [0.0, 0.5]),
    (by_order, [0.0, 4.0, 9.0], [0.0, 0.5, 0.0]),
    (by_cases, [0.0, 4.0], [2.0, 0.75]),
    (written_over, [0.0, 1.0], [3.0, 1.0]),
    (row_norms, [0.0, 0.0, 3.0, -4.0], [0.0, 0.0, 0.6, -0.8]),
    (infinite_branch, [1.0, 2.0], [2.0, 2.0]),
    (sigmoid, [-800.0, 0.0], [0.0, 0.25]),
    (power_of_a_sigmoid, [800.0, 0.0], [0.0, -6.0 / 27.0]),
    (hyperbolic_secant, [-800.0, 0.0], [0.0, 0.0]),
    (gumbel, [-800.0, 0.0], [0.0, np.exp(-1.0)]),
    (in_a_loop, [0.0, 0.5], [3.0, 6.0]),
]


@pytest.mark.parametrize(
    ("f", "x", "expected"), CASES, ids=lambda v: getattr(v, "__name__", str(v))[:24]
)
@pytest.mark.parametrize("optimize", [True, False])
def test_gradient(f, x, expected, optimize):
    found = sct.grad(f, optimize=optimize)(np.array(x))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].__name__)
def test_tangent(case):
    f, x, expected = case
    f_jvp = sct.jvp(f)
    for i, direction in enumerate(np.eye(len(x))):
        keyword = {f"{next(iter(inspect.signature(f).parameters))}_dot": direction}
        _, dot = f_jvp(np.array(x), **keyword)
        np.testing.assert_allclose(dot, expected[i], rtol=1e-12, atol=1e-300)


def logarithm(x):
    return np.log(x)


def of_a_call(x):
    return np.sum(np.where(x > 0.0, logarithm(x), x))


def positive_part(x):
    return np.where(x > 0.0, x, 0.0)


def by_a_call(x):
    return np.sum(positive_part(np.sqrt(x) - 1.0))


def of_calls_alone(x):
    return np.sum(logarithm(x) + positive_part(x))


def test_calls():
    x = np.array([0.0, 4.0])
    np.testing.assert_array_equal(sct.grad(of_a_call)(x), [1.0, 0.25])
    np.testing.assert_array_equal(sct.grad(by_a_call)(x), [0.0, 0.25])
    # Where nothing is chosen, the derivative of the function is the plain one.
    assert "cut(" not in sct.source(sct.grad(of_calls_alone))


def slope(f):
    """The sum of the elements of a gradient: its derivative is the second one."""
    f_grad = sct.grad(f)

    def summed(x):
        return np.sum(f_grad(x))

    return summed


SECOND = [
    (guarded_root, [0.0, 0.5, 4.0], [2.0, 2.0, -0.25 * 4.0**-1.5]),
    (entropy, [0.0, 0.5], [0.0, -2.0]),
    (elu, [800.0, -1.0], [0.0, np.exp(-1.0)]),
    (sigmoid, [-800.0, 0.0], [0.0, 0.0]),
]


@pytest.mark.parametrize(
    ("f", "x", "expected"), SECOND, ids=lambda v: getattr(v, "__name__", str(v))[:24]
)
def test_second_derivative(f, x, expected):
    found = sct.grad(slope(f))(np.array(x))
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


def square_of_a_log(x):
    return np.sum(np.where(x > 0.0, np.log(x) ** 2, 0.0))


def test_an_adjoint_that_happens_to_be_zero_still_has_a_derivative():
    # (log x)**2 at 1: the adjoint of the logarithm is 0 there, and changes.
    found = sct.grad(slope(square_of_a_log))(np.array([0.0, 1.0, 2.0]))
    expected = [0.0, 2.0, 0.5 * (1.0 - np.log(2.0))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def removable(x):
    return np.sum(np.where(x < 1.0, np.cbrt(x) ** 3, 0.0))


def test_a_product_that_happens_to_be_zero_is_not_cut():
    # At 0 the derivative is 1, and not to be had from the parts: nan, never 0.
    found = sct.grad(removable)(np.array([0.0, 0.5, 2.0]))
    np.testing.assert_allclose(found, [np.nan, 1.0, 0.0])


def missing(w, x, y):
    return np.sum(np.where(np.isnan(y), 0.0, (y - x * w) ** 2))


def test_missing_data():
    x, y = np.array([1.0, 2.0, np.nan]), np.array([2.0, 3.0, np.nan])
    # 2 * (w * x - y) * x, summed over what is there.
    assert sct.grad(missing)(0.5, x, y) == 2 * (-1.5 * 1.0 - 2.0 * 2.0)


def not_cut(x):
    return np.sum(np.sqrt(x)) + np.sum(np.log1p(np.exp(x)))


def test_what_is_not_constant_stays_infinite_or_nan():
    found = sct.grad(not_cut)(np.array([0.0, 800.0]))
    # Where the value itself overflows, no derivative is made up.
    assert np.isinf(found[0]) and np.isnan(found[1])


def distances(x):
    d = x[:, None] - x[None, :]
    return np.sum(np.sqrt(np.sum(d * d, axis=-1)))


def root_mean_square(x):
    return np.mean(x**2) ** 0.5


def sum_of_squares(x):
    total = 0.0
    for i in range(3):
        total = total + x[i] ** 2 / 4.0
    return np.sqrt(total)


def test_norms_written_by_hand():
    x = np.array([[0.0, 0.0], [3.0, 4.0], [3.0, 0.0]])
    far = 2.0 * np.array([[-1.6, -0.8], [0.6, 1.8], [1.0, -1.0]])
    np.testing.assert_allclose(sct.grad(distances)(x), far, rtol=1e-12)
    _, dot = sct.jvp(distances)(x, x_dot=np.eye(3, 2))
    np.testing.assert_allclose(dot, np.sum(far * np.eye(3, 2)), rtol=1e-12)
    for f in (root_mean_square, sum_of_squares):
        np.testing.assert_array_equal(sct.grad(f)(np.zeros(3)), np.zeros(3))
        sct.check_grads(f, np.array([1.0, -2.0, 0.5]))


def weighted(x, w):
    return np.sqrt(np.sum(w * x**2))


def test_a_factor_that_is_differentiated_makes_no_square():
    with np.errstate(divide="ignore"):
        _, w_bar = sct.grad(weighted, wrt=("x", "w"))(np.ones(1), np.zeros(1))
    assert np.isinf(w_bar[0])


def test_single_precision_stays():
    x = np.array([-800.0, 1.0], np.float32)
    assert sct.grad(sigmoid)(x).dtype == np.float32
    assert sct.grad(distances)(x[:, None]).dtype == np.float32


def plain(x, y):
    return np.sum(np.sqrt(x) / y + np.exp(x) * np.log(y))


def test_nothing_is_cut_without_need():
    assert "cut(" not in sct.source(sct.grad(plain, wrt=("x", "y")))


def both_arms(x):
    t = np.exp(-x * x) * np.sqrt(x)
    return np.sum(np.where(x > 1.0, 1.0 - t, t))


def tail_of(x):
    t = np.exp(-x * x) * np.sqrt(x)
    return np.where(x > 1.0, 1.0 - t, t)


def both_arms_of_a_function(x):
    return np.sum(tail_of(1.0 / x))


def every_row_once(x):
    y = np.empty((3, 2))
    for i in range(3):
        y[i] = np.sqrt(x) * i
    return np.sum(y)


@pytest.mark.parametrize("f", [both_arms, both_arms_of_a_function, every_row_once])
def test_nothing_is_cut_that_cannot_be_zero(f):
    f_grad = sct.grad(f)
    assert "cut(" not in sct.source(f_grad)
    x, d = np.array([0.6, 1.7]), 1e-6
    change = [(f(x + d * e) - f(x - d * e)) / (2 * d) for e in np.eye(2)]
    np.testing.assert_allclose(f_grad(x), change, rtol=1e-7)


def one_arm_after_another(x):
    a, b = np.sqrt(x), x
    total = 0.0
    for _ in range(2):
        total = total + np.sum(np.where(x > 1.0, a, b))
        a, b = b, a
    return total


def on_two_paths(x, flag):
    if flag:
        a, b = np.sqrt(x), x
    else:
        a, b = x, np.sqrt(x)
    return np.sum(np.where(x > 1.0, a, b))


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (one_arm_after_another, [0.0, 4.0], [np.inf, 1.25]),
        (lambda x: on_two_paths(x, True), [0.0, 4.0], [1.0, 0.25]),
        (lambda x: on_two_paths(x, False), [4.0, 0.25], [1.0, 1.0]),
    ],
)
def test_one_arm_is_cut(f, x, expected):
    np.testing.assert_allclose(sct.grad(f)(np.array(x)), expected)


def made_before_its_branch(x):
    y = np.log(x)
    if x > 0.0:
        r = y * y
    else:
        r = 3.0 * x
    return r


def power_made_before_its_branch(x):
    y = (x - 1.0) ** (x * 0.5)
    if x > 1.0:
        return y
    return 2.0 * x


def elements_that_are_guarded(x):
    y = np.sqrt(x)
    s = 0.0
    for i in range(2):
        if x > i:
            s += y
    return s + x


@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (made_before_its_branch, 0.0, 3.0),
        (made_before_its_branch, -1.0, 3.0),
        (made_before_its_branch, 2.0, np.log(2.0)),
        (power_made_before_its_branch, 0.5, 2.0),
        (elements_that_are_guarded, 0.0, 1.0),
        (elements_that_are_guarded, 4.0, 1.5),
    ],
)
def test_a_branch_not_taken_gives_nothing(f, x, expected):
    x = np.float64(x)
    with np.errstate(all="ignore"):
        assert sct.grad(f)(x) == pytest.approx(expected)
        assert sct.jvp(f)(x, x_dot=np.float64(1.0))[1] == pytest.approx(expected)


def on_both_arms(x):
    y = np.log(x)
    if x > 1.0:
        return y * 2.0
    return y


def test_what_both_arms_depend_on_is_not_cut():
    assert "cut(" not in sct.source(sct.grad(on_both_arms))
    assert sct.grad(on_both_arms)(2.0) == pytest.approx(1.0)
