"""Derivatives of what solvers of SciPy find: roots, and differential equations."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import sct

optimize = pytest.importorskip("scipy.optimize")
integrate = pytest.importorskip("scipy.integrate")
from scipy.integrate import odeint, solve_ivp  # noqa: E402
from scipy.optimize import brentq, fsolve, newton, root, root_scalar  # noqa: E402

TIMES = np.linspace(0.0, 2.0, 6)


# -- equations ------------------------------------------------------------------------
def cubic(z, a):
    return z**3 - a


def coupled(z, a, b):
    return [z[0] * np.cos(z[1]) - a, z[0] * z[1] - z[1] - b]


def bracketed(a):
    return a * brentq(cubic, 0.0, 3.0, args=(a,))


def bracketed_by_a_lambda(a, b):
    c = a * b
    return a * optimize.bisect(lambda z: z**3 + z - c, 0.0, 3.0, xtol=1e-13)


def by_newton(a):
    return newton(cubic, 1.0, args=(a,), fprime=lambda z, a: 3.0 * z * z) ** 2


def by_secants(a, b):
    def residual(z, shift=b):
        return np.exp(z) - a - shift * z

    return newton(residual, 1.0, tol=1e-13)


def of_a_system(a, b):
    z = fsolve(coupled, [1.0, 1.0], args=(a, b), xtol=1e-13)
    return z[0] * z[1] + a


def by_root(a, b):
    sol = root(lambda z: np.array(coupled(z, a, b)), np.array([1.0, 1.0]), tol=1e-13)
    if not sol.success:
        raise ValueError(sol.message)
    return np.sum(sol.x * np.array([1.0, b]))


def of_many(a):
    sol = root(cubic, np.ones(3), args=(a,), tol=1e-13)
    return np.sum(sol.x**2)


def scalar_root(a):
    sol = root_scalar(cubic, args=(a,), bracket=(0.0, 3.0), xtol=1e-14)
    return sol.root * sol.converged


def inside_a_loop(a):
    total = 0.0
    for k in range(1, 4):
        a = brentq(lambda z: z**2 + k * z - a, 0.0, 5.0)  # noqa: B023
        total += a * a
    return total


def of_roots(a):
    return sum([brentq(cubic, 0.0, 3.0, args=(a * c,)) for c in (1.0, 2.0, 0.5)])


def with_a_function_inside(a):
    def square(z):
        return z * z

    return brentq(lambda z: square(z) * z - a, 0.0, 3.0)


def of_a_dict(a, b):
    p = {"a": a, "b": {"c": b}}
    return brentq(lambda z: z**3 - p["a"] * z - p["b"]["c"], 0.0, 5.0)


class Cubic:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def root(self):
        return brentq(lambda z: z**3 - self.a * z - self.b, 0.0, 5.0)


def of_an_object(a, b):
    return Cubic(a, a * b).root()


def with_a_named_tuple(a, b):
    params = (a, b)
    z = fsolve(coupled, [1.0, 1.0], args=params, xtol=1e-13)
    return z[1]


EQUATIONS = [
    (of_a_dict, (1.2, 0.7)),
    (of_an_object, (1.2, 0.7)),
    (with_a_named_tuple, (0.9, 0.3)),
    (bracketed, (2.0,)),
    (bracketed_by_a_lambda, (2.0, 1.5)),
    (by_newton, (2.0,)),
    (by_secants, (3.0, 0.5)),
    (of_a_system, (0.9, 0.3)),
    (by_root, (0.9, 0.3)),
    (of_many, (np.array([1.0, 2.0, 3.0]),)),
    (scalar_root, (2.0,)),
    (inside_a_loop, (2.0,)),
    (of_roots, (2.0,)),
    (with_a_function_inside, (2.0,)),
]


# -- differential equations -----------------------------------------------------------
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def predator_prey(t, y, a, b):
    x, p = y
    return np.array([a[0] * x - a[1] * x * p, b * x * p - a[2] * p])


def decay(k, y0):
    sol = solve_ivp(
        lambda t, y: -k * y, (0.0, 2.0), y0, t_eval=TIMES, rtol=1e-10, atol=1e-12
    )
    return np.sum(sol.y[:, -1]) + sol.y[0, 2] ** 2


def oscillator(w, x):
    def rhs(t, y):
        return [y[1], -w * w * y[0]]

    sol = solve_ivp(rhs, (0.0, 2.0), [x, 0.5 * x], rtol=1e-10, atol=1e-12)
    return sol.y[0, -1] + sol.y[1, -1] ** 2


def fit(a, b):
    sol = solve_ivp(
        predator_prey,
        (0.0, 2.0),
        np.array([1.0, 0.5]),
        method="DOP853",
        t_eval=np.linspace(0.5, 1.5, 4),
        args=(a, b),
        rtol=1e-10,
        atol=1e-12,
    )
    if not sol.success:
        raise ValueError(sol.message)
    return np.sum((sol.y - 1.0) ** 2) / len(sol.t)


def stiff(k):
    sol = solve_ivp(
        lambda t, y: -k * (y - np.cos(t)),
        (0.0, 1.0),
        np.array([0.0]),
        method="Radau",
        t_eval=[1.0],
        rtol=1e-9,
        atol=1e-11,
    )
    return sol.y[0, 0]


def with_a_jacobian(k):
    sol = solve_ivp(
        lambda t, y, rate=k: -rate * y * y,
        (0.0, 1.0),
        np.array([1.0]),
        method="BDF",
        jac=lambda t, y: np.array([[-2.0 * k * y[0]]]),
        **OPTIONS,
    )
    return sol.y[0, -1]


def backwards(k, y0):
    sol = solve_ivp(
        lambda t, y: -k * y * t,
        (2.0, 0.5),
        y0,
        t_eval=[1.5, 0.5],
        rtol=1e-10,
        atol=1e-12,
    )
    return np.sum(sol.y**2)


def complex_flow(k, w):
    sol = solve_ivp(
        lambda t, y: (1j * k - 0.5 * w) * y,
        (0.0, 1.0),
        np.array([1.0 + 0.5j, 2.0 + 0.0j]),
        t_eval=[0.5, 1.0],
        rtol=1e-10,
        atol=1e-12,
    )
    return np.sum(np.abs(sol.y[:, -1]) ** 2) + sol.y[0, 0].real


def branches(k, x):
    if k > 0.5:
        sol = solve_ivp(
            lambda t, y: -k * y, (0.0, 1.0), np.array([x]), rtol=1e-10, atol=1e-12
        )
    else:
        sol = solve_ivp(lambda t, y: k * y, (0.0, 1.0), np.array([x]), rtol=1e-9)
    y = sol.y
    y[:, -1] *= 2.0
    return np.sum(sol.y[:, -1] ** 2)


def by_odeint(w, x):
    def rhs(y, t):
        return [y[1], -w * w * y[0]]

    y = odeint(rhs, [x, 0.5 * x], TIMES, rtol=1e-10, atol=1e-12)
    return np.sum(y[-1] ** 2) + y[2, 0]


def shooting(v, k):
    def end(v):
        y = odeint(
            lambda y, t: [y[1], -k * y[0]], [0.0, v], TIMES, rtol=1e-11, atol=1e-12
        )
        return y[-1, 0]

    return end(v) ** 2


def in_pieces(k, y0):
    for j in range(3):
        sol = solve_ivp(
            lambda t, y: -k * y + j,  # noqa: B023
            (0.0, 1.0),
            y0,
            t_eval=[1.0],
            rtol=1e-10,
            atol=1e-12,
        )
        y0 = sol.y[:, 0]
    return np.sum(y0**2)


def tolerances_for_each(k):
    sol = solve_ivp(
        lambda t, y: [-k * y[0], k * y[0]],
        (0.0, 1.0),
        [1.0, 0.0],
        rtol=1e-10,
        atol=np.array([1e-12, 1e-11]),
    )
    return sol.y[0, -1]


def matrix_system(m, y0):
    sol = solve_ivp(
        lambda t, y: m @ y, (0.0, 1.0), y0, t_eval=[0.5, 1.0], rtol=1e-10, atol=1e-12
    )
    return np.sum(sol.y[0])


OPTIONS = {"rtol": 1e-10, "atol": 1e-12}


def with_options(k):
    sol = solve_ivp(
        predator_prey, (0.0, 1.0), [1.0, k], args=(np.ones(3), k), **OPTIONS
    )
    return sol.y[0, -1]


def simulated(k, f):
    return solve_ivp(f, (0.0, 1.0), np.array([1.0]), args=(k,), **OPTIONS)


def quadratic(t, y, k):
    return -k * y * y


def by_a_function_that_returns_the_result(k):
    sol = simulated(k, quadratic)
    return sol.y[0, -1] * sol.t[-1]


def weighted(y, w, v):
    return np.tanh(w @ np.tanh(v @ y))


def of_a_list(s):
    w = [s * np.ones((2, 3)), s * np.arange(6.0).reshape(3, 2)]
    sol = solve_ivp(
        lambda t, y: weighted(y, w[0], w[1]), (0.0, 1.0), [1.0, 0.5], **OPTIONS
    )
    return np.sum(sol.y[:, -1] ** 2)


def of_a_tuple_in_a_tuple(a):
    def rhs(t, y, p):
        b, c = p
        return [b * y[0] - c * y[0] * y[1], -y[1] + c * y[0] * y[1]]

    y0 = [a, 0.5]
    sol = solve_ivp(rhs, (0.0, 1.0), y0, args=((a, 0.5 * a),), **OPTIONS)
    u, v = sol.y
    return u[-1] * v[-1]


FLOWS = [
    (with_options, (0.7,)),
    (by_a_function_that_returns_the_result, (0.7,)),
    (of_a_list, (0.4,)),
    (of_a_tuple_in_a_tuple, (0.7,)),
    (decay, (0.7, np.array([1.0, 2.0]))),
    (oscillator, (1.3, 0.8)),
    (fit, (np.array([1.0, 0.8, 0.6]), 0.7)),
    (stiff, (20.0,)),
    (with_a_jacobian, (0.7,)),
    (backwards, (0.4, np.array([1.0, 2.0]))),
    (complex_flow, (0.7, 0.4)),
    (branches, (0.7, 0.4)),
    (by_odeint, (1.3, 0.8)),
    (shooting, (0.9, 1.2)),
    (in_pieces, (0.4, np.array([1.0, 2.0]))),
    (tolerances_for_each, (0.7,)),
    (matrix_system, (np.array([[0.1, -1.0], [0.8, -0.2]]), np.array([1.0, 2.0]))),
]


def flat(values):
    return np.concatenate([np.ravel(v) for v in values])


def moved(args, along, h):
    return [a + h * d for a, d in zip(args, along, strict=True)]


def slope(f, args, along, h=1e-4):
    """A difference of the fourth order."""
    near, far = (
        np.subtract(f(*moved(args, along, s * h)), f(*moved(args, along, -s * h)))
        for s in (1, 2)
    )
    return (8.0 * near - far) / (12.0 * h)


def directions(args, seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=np.shape(a))[()] for a in args]


@pytest.mark.parametrize("f, args", EQUATIONS + FLOWS)
def test_both_modes(f, args):
    wrt = tuple(range(len(args)))
    along = directions(args, 0)
    expected = slope(f, args, along)
    # Differences of what LSODA finds are not smooth.
    rtol = 2e-5 if f is by_odeint else 2e-7
    gradient = sct.grad(f, wrt=wrt)(*args)
    for g, a in zip(gradient, args, strict=True):
        assert np.shape(g) == np.shape(a)
    np.testing.assert_allclose(
        flat(gradient) @ flat(along), expected, rtol=rtol, atol=1e-9
    )
    words = [f"{n}_dot" for n in f.__code__.co_varnames[: len(args)]]
    value, found = sct.jvp(f, wrt=wrt)(*args, **dict(zip(words, along, strict=True)))
    np.testing.assert_allclose(value, f(*args), rtol=1e-12)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-9)


SECOND = {decay, oscillator, by_odeint, of_a_list, of_a_tuple_in_a_tuple}


@pytest.mark.parametrize(
    "f, args", [*EQUATIONS, *[case for case in FLOWS if case[0] in SECOND]]
)
def test_second_order(f, args):
    wrt = tuple(range(len(args)))
    gradient = sct.grad(f, wrt=wrt)
    along = directions(args, 1)
    product = sct.hvp(f, wrt=wrt)(*args, v=tuple(along))
    expected = slope(lambda *args: flat(gradient(*args)), args, along)
    np.testing.assert_allclose(flat(product), expected, rtol=1e-5, atol=1e-6)


def test_reverse_over_reverse():
    hessian = sct.grad(sct.grad(decay))(0.7, np.array([1.0, 2.0]))
    # The ends add up to 3 exp(-2k); the first is exp(-0.8 k) at the third time.
    expected = 12.0 * np.exp(-1.4) + 2.56 * np.exp(-1.6 * 0.7)
    np.testing.assert_allclose(hessian, expected, rtol=1e-7)
    second = sct.grad(sct.grad(bracketed))(2.0)
    np.testing.assert_allclose(second, 4.0 / 9.0 * 2.0 ** (-2.0 / 3.0), rtol=1e-9)


def test_exact_solutions():
    k, y0 = 0.7, np.array([1.0, 2.0])
    k_bar, y0_bar = sct.grad(decay, wrt=(0, 1))(k, y0)
    end, third = np.exp(-2.0 * k), np.exp(-0.8 * k)
    np.testing.assert_allclose(k_bar, -6.0 * end - 1.6 * third**2, rtol=1e-8)
    np.testing.assert_allclose(y0_bar, [end + 2.0 * third**2, end], rtol=1e-8)
    w, x = 1.3, 0.8
    c, s = np.cos(2.0 * w), np.sin(2.0 * w)
    a, v = x * c + 0.5 * x / w * s, -x * w * s + 0.5 * x * c
    a_w = -2.0 * x * s - 0.5 * x / w**2 * s + x / w * c
    v_w = -x * s - 2.0 * x * w * c - x * s
    found = sct.grad(oscillator, wrt=(0, 1))(w, x)
    exact = [a_w + 2.0 * v * v_w, a / x + 2.0 * v * v / x]
    np.testing.assert_allclose(found, exact, rtol=1e-7)
    # And by LSODA: the squares of both at the end, and the first at the third time.
    c, s = np.cos(0.8 * w), np.sin(0.8 * w)
    third_w = -0.8 * x * s - 0.5 * x / w**2 * s + 0.4 * x / w * c
    third_x = c + 0.5 / w * s
    found = sct.grad(by_odeint, wrt=(0, 1))(w, x)
    exact = [2.0 * (a * a_w + v * v_w) + third_w, 2.0 * (a * a + v * v) / x + third_x]
    np.testing.assert_allclose(found, exact, rtol=1e-7)


def test_precision_and_containers():
    _, y0_bar = sct.grad(decay, wrt=(0, 1))(0.7, np.array([1.0, 2.0], dtype=np.float32))
    assert y0_bar.dtype == np.float32


def test_the_error_is_that_of_the_tolerance():
    def loose(k):
        sol = solve_ivp(lambda t, y: -k * y, (0.0, 2.0), np.array([1.0]))
        return sol.y[0, -1]

    np.testing.assert_allclose(sct.grad(loose)(0.7), -2.0 * np.exp(-1.4), rtol=5e-3)


# -- how it is emitted ----------------------------------------------------------------
def test_standing_alone(tmp_path):
    for f, args in [
        (oscillator, (1.3, 0.8)),
        FLOWS[-1],
        (bracketed_by_a_lambda, (2.0, 1.5)),
    ]:
        wrt = tuple(range(len(args)))
        gradient = sct.grad(f, wrt=wrt)
        sct.save(gradient, tmp_path / f"{f.__name__}_grad.py")
        lines = [
            f"from {f.__name__}_grad import {f.__name__}_grad as g",
            "from numpy import array",
            "import sys, numpy",
            f"print(repr(g(*{args!r})))",
            "assert 'sct' not in sys.modules",
        ]
        ran = subprocess.run(
            [sys.executable, "-c", "\n".join(lines)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        space = {"np": np, "array": np.array}
        np.testing.assert_allclose(
            flat(eval(ran.stdout, space)), flat(gradient(*args)), rtol=1e-6
        )


def test_the_solver_is_called_as_it_was_written():
    text = sct.source(sct.grad(bracketed))
    assert "y = brentq(cubic, 0.0, 3.0, args=(a,))" in text.replace("found", "y")
    assert "stop_gradient" not in text and "solution(" not in text


# -- what is refused ------------------------------------------------------------------
def used_whole(k):
    sol = solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.array([1.0]))
    return sol["y"][0, -1]


class Decay:
    def __init__(self, k):
        self.k = k

    def rhs(self, t, y):
        return -self.k * y

    def end(self):
        sol = solve_ivp(self.rhs, (0.0, 1.0), np.array([1.0]))
        return sol.y[0, -1]


def by_a_method(k):
    return Decay(k).end()


def with_events(k):
    def hit(t, y):
        return y[0] - 0.5

    sol = solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.array([1.0]), events=hit)
    return sol.y[0, -1]


def with_events_in_one_branch(k):
    def hit(t, y):
        return y[0] - 0.5

    sol = solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.array([1.0]))
    if k < 0.5:
        sol = solve_ivp(lambda t, y: -k * y, (0.0, 2.0), np.array([1.0]), events=hit)
    return sol.y[0, -1]


def of_dense_output(k):
    sol = solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.array([1.0]), dense_output=True)
    return sol.sol(0.5)[0]


def with_full_output(a):
    z, info = brentq(cubic, 0.0, 3.0, args=(a,), full_output=True)
    return z


def by_another_name(a):
    solver = brentq
    return solver(cubic, 0.0, 3.0, args=(a,))


def of_an_unknown_function(a, f):
    return brentq(f, 0.0, 3.0, args=(a,))


def with_unknown_arguments(a):
    args = tuple(v for v in [a])
    return brentq(cubic, 0.0, 3.0, args=args)


def until(k):
    sol = solve_ivp(lambda t, y: -y, (0.0, k), np.array([1.0]))
    return sol.y[0, -1]


def at(k):
    sol = solve_ivp(lambda t, y: -y, (0.0, 1.0), np.array([1.0]), t_eval=[k])
    return sol.y[0, -1]


@pytest.mark.parametrize(
    "f",
    [
        used_whole,
        by_a_method,
        with_events,
        with_events_in_one_branch,
        of_dense_output,
        with_full_output,
        of_an_unknown_function,
        with_unknown_arguments,
        until,
        at,
    ],
)
@pytest.mark.parametrize("operator", [sct.grad, sct.jvp])
def test_refused(f, operator):
    args = (0.4, cubic)[: f.__code__.co_argcount]
    with pytest.raises(sct.UnsupportedError):
        df = operator(f)
        df(*args, **({"k_dot": 1.0} if operator is sct.jvp else {}))


@pytest.mark.parametrize("operator", [sct.grad, sct.jvp])
def test_never_silently_constant(operator):
    """A solver under another name is followed or refused."""
    try:
        df = operator(by_another_name)
    except sct.UnsupportedError:
        return
    found = df(2.0) if operator is sct.grad else df(2.0, a_dot=1.0)[1]
    np.testing.assert_allclose(found, 2.0 ** (-2.0 / 3.0) / 3.0, rtol=1e-9)


def constant(x):
    sol = solve_ivp(
        lambda t, y: -y, (0.0, 1.0), np.array([1.0]), dense_output=True, events=None
    )
    return x * sol.sol(0.5)[0]


def test_what_depends_on_nothing_is_called():
    np.testing.assert_allclose(sct.grad(constant)(2.0), np.exp(-0.5), rtol=1e-3)
