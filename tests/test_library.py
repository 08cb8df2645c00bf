"""Functions of NumPy and SciPy that have no rule, through their Python source."""

from __future__ import annotations

import numpy as np
import pytest

import sct
from sct import runtime_written

from .rules.rows import MODERN
from .test_kernels import check, draw

optimize = pytest.importorskip("scipy.optimize", reason="SciPy is an optional extra")

CASES: list = []
X, TABLE = draw(5), draw(3, 5)
# The name before NumPy 2.
trapezoid = getattr(np, "trapezoid", None) or np.trapz


def case(*args, wrt=None):
    def keep(f):
        chosen = tuple(range(len(args))) if wrt is None else wrt
        CASES.append(pytest.param(f, args, chosen, id=f.__name__))
        return f

    return keep


@case(X, 0.3)
def polynomial(p, x):
    return np.polynomial.polynomial.polyval(x, p)


@case(X, draw(4))
def polynomial_at_points(p, x):
    return np.sum(np.polynomial.polynomial.polyval(x, p) ** 2)


@case(X)
def polynomial_of_constants(x):
    return np.sum(np.polynomial.polynomial.polyval(x, [2.0, -1.0, 0.5]) ** 3)


@case(X)
def area(y):
    return trapezoid(y * y) + trapezoid(y, dx=0.5)


@case(TABLE)
def areas(y):
    return np.sum(trapezoid(y, axis=0) ** 2)


@case(X)
def vandermonde(x):
    return np.sum(np.vander(x) ** 2) + np.sum(np.vander(x, 3, increasing=True))


@case(TABLE)
def covariance(x):
    return np.sum(np.cov(x) ** 2)


@case(TABLE)
def covariance_of_columns(x):
    return np.sum(np.cov(x, rowvar=False, bias=True) ** 2)


@case(X, draw(5, seed=1))
def covariance_of_two(x, y):
    return np.cov(x, y)[0, 1]


@case(TABLE, 0.5 + draw(5, seed=2) ** 2)
def weighted_covariance(x, w):
    counts = np.array([1, 2, 1, 3, 1])
    once = np.cov(x, aweights=w, fweights=counts, ddof=1)
    return np.sum(once**2) + np.sum(np.sin(np.cov(x, aweights=w, bias=True)))


@case(np.array([1.0, -6.0, 11.0, -6.0, 0.0]))
def roots_of_a_polynomial(p):
    roots = np.roots(p[:4])
    return np.sum(np.sort(roots.real) ** 2 * np.arange(3.0))


@case(X)
def sorted_as_complex(x):
    return np.sum(np.real(np.sort_complex(x) * np.arange(5.0)))


@pytest.mark.parametrize(
    "args, kwargs",
    [
        ((TABLE,), {}),
        ((TABLE, draw(2, 5)), {"bias": True}),
        ((TABLE.T, draw(5, 2)), {"rowvar": False, "ddof": 2}),
        ((X,), {}),
        ((TABLE,), {"fweights": np.array([1, 2, 1, 3, 1])}),
        ((TABLE,), {"aweights": X**2, "dtype": np.float32}),
        ((TABLE.astype(np.float32),), {"aweights": X**2, "ddof": 0}),
        ((TABLE + 1j * TABLE**2,), {}),
        ((TABLE.tolist(),), {}),
    ],
)
def test_covariances_are_those_of_numpy(args, kwargs):
    expected = np.cov(*args, **kwargs)
    found = runtime_written.cov(*args, **kwargs)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("p", [[1, 2, 3.0], [0, 1, 2, 0, 0], [2.0], [0, 0.0], [1j, 2]])
def test_roots_are_those_of_numpy(p):
    expected = np.roots(p)
    np.testing.assert_allclose(runtime_written.roots(p), expected)
    assert runtime_written.roots(p).shape == expected.shape


def test_quotients_of_complex_polynomials_stay_complex():
    def f(p):
        quotient, rest = np.polydiv(np.array([1.0 + 0.1j, 2.0, 3.0, 0.5]), p)
        return np.real(np.sum(quotient) + rest[0])

    p, h = np.array([1.0 + 0.3j, 0.5, 2.0]), 1e-6
    p_bar = sct.grad(f, like=(p,))(p)
    for i, unit in enumerate(np.eye(3)):
        along = [(f(p + h * t * unit) - f(p - h * t * unit)) / (2 * h) for t in (1, 1j)]
        np.testing.assert_allclose(p_bar[i], along[0] - 1j * along[1], atol=1e-8)


@case(X, draw(5, seed=1))
def weighted_average(x, w):
    return np.average(x * x, weights=w)


@case(TABLE, draw(3))
def weighted_averages_of_columns(x, w):
    return np.sum(np.average(x, axis=0, weights=w) ** 2)


@case(X, draw(5, seed=1))
def products_of_a_precision(x, y):
    return np.sum(np.multiply(x, y, dtype=np.float64) ** 2)


@case(TABLE)
def turned(x):
    return np.sum(np.rot90(x)[0] ** 2) + np.sum(np.rot90(x, 3)[1] ** 3)


@case(X)
def valley(x):
    return optimize.rosen(x)


@case(X)
def folded(x):
    return np.add.reduce(x * x) * np.multiply.reduce(x, axis=0)


@case(TABLE)
def folded_along_an_axis(x):
    return np.sum(np.maximum.reduce(x) ** 2) + np.sum(np.minimum.reduce(x, 1))


@case(TABLE)
def accumulated(x):
    sums, products = np.add.accumulate(x), np.multiply.accumulate(x, axis=1)
    return np.sum(sums * products)


@case(TABLE, draw(5))
def accumulated_in_place(x, y):
    x[0] = y
    np.multiply.accumulate(x, out=x)
    return np.sum(x * y)


@pytest.mark.parametrize("f, args, wrt", CASES)
def test_gradient(f, args, wrt):
    check(f, args, wrt)


def test_options_decide_the_branches():
    text = sct.source(sct.grad(areas))
    forward = text.split(f"def {trapezoid.__name__}_fwd(")[1].split("\n\n\n")[0]
    assert "asanyarray(y)" in forward
    # `x` is not given, so what is done with it does not stand there.
    assert "diff(" not in forward and "is None" not in forward


def test_the_derivative_stands_beside_its_caller(tmp_path):
    path = tmp_path / "polynomial_grad.py"
    df = sct.grad(polynomial)
    sct.save(df, path)
    text = path.read_text()
    assert "def polyval_" in text
    assert text.count("import numpy as ") == 1
    space: dict = {}
    exec(compile(text, str(path), "exec"), space)
    np.testing.assert_array_equal(space["polynomial_grad"](X, 0.3), df(X, 0.3))


def test_what_its_source_cannot_say_is_refused_with_the_way_to_it():
    def collected(x):
        return np.frombuffer(x)

    def f(x):
        return np.sum(collected(x))

    with pytest.raises(sct.UnsupportedError, match="frombuffer.*no Python") as caught:
        sct.grad(f)
    lines = str(caught.value).split("\n")
    places = [s for s in lines if s.startswith("  File")]
    assert places[0].endswith("in collected")
    assert places[1].startswith(f'  File "{__file__}", line ')
    assert "    return np.sum(collected(x))" in lines
    assert "    " + " " * len("return np.sum(") + "^" * len("collected(x)") in lines


@pytest.mark.skipif(not MODERN, reason="its source was another before NumPy 2")
def test_a_rule_that_does_not_fit_is_named_when_the_source_does_not_help():
    def f(x):
        return np.linspace(x, 1.0, 3, retstep=True)[1]

    with pytest.raises(sct.UnsupportedError, match="'retstep'") as caught:
        sct.grad(f)
    assert caught.value.filename == __file__


def test_an_inactive_call_is_simply_made():
    def f(x):
        edges = np.histogram_bin_edges(np.arange(4.0), 2)
        return np.sum(x * edges[1])

    np.testing.assert_array_equal(sct.grad(f)(X), np.full(5, 1.5))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.cov([x, x * x])[0, 1],
        lambda x: np.sum(np.fft.fftshift((x, x * x)) ** 3),
        lambda x: np.sum(np.rot90([x, x * x])[0] ** 3),
    ],
)
def test_lists_and_tuples_of_arrays(f):
    check(f, (X,), (0,))


def test_a_list_filled_under_the_name_of_a_parameter():
    def total(parts):
        parts = [p * p for p in parts]
        found = 0.0
        for i in range(len(parts)):
            found += np.sum(parts[i])
        return found

    def f(x):
        return total((x, 2.0 * x))

    check(f, (X,), (0,))


def test_a_list_made_in_the_call_of_a_function_with_source():
    def total(parts):
        parts = np.asarray(parts)
        return np.sum(parts * parts)

    def f(x):
        return total([x, 2.0 * x])

    check(f, (X,), (0,))
