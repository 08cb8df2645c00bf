"""Places where a source transformation goes wrong without anybody noticing."""

from __future__ import annotations

import bdb
import inspect
import itertools
import linecache
import os
import subprocess
import sys
import time
import traceback

import numpy as np
import pytest

import sct

from .fuzz.judge import identical, load, slope

X = np.array([0.7, -0.4, 1.3])
S = 1.7
_numbers = itertools.count()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Make a module from a text, for this test only."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(text: str):
        name = f"trap_{next(_numbers)}"
        monkeypatch.setitem(sys.modules, name, None)
        return load(text, tmp_path, name)

    return make


def agrees(f, *args, wrt=None):
    """Assert that the gradient of `f` is that of differences, in all of `wrt`."""
    wrt = tuple(range(len(args))) if wrt is None else wrt
    for i, bar in zip(wrt, sct.grad(f, wrt=wrt)(*args), strict=True):
        assert np.shape(bar) == np.shape(args[i])
        for at, got in enumerate(np.ravel(bar)):
            expected = slope(f, args, i, at, 1e-3)
            assert got == pytest.approx(expected, rel=1e-7, abs=1e-8), (i, at)


# -- names ---------------------------------------------------------------------------
NAMES = """
    n cx mask np numpy d len x_bar out_bar sct x_stack w_stack branch turns left tape
    value out x_saved returned unbroadcast reversed list append f_grad math _ g g_grad
    x_inc check_inexact sum_bar
""".split()
LOCAL = """
import math
import numpy as xp

def g(x):
    for _i in range(2):
        x = math.sin(x) * x
    return x

def f(x, w):
    {name} = x * w
    for i in range(3):
        {name} = {name} * x + 0.1 * i
        if {name} > 0.5:
            {name} = {name} * w
    y = {name} * {name}
    return xp.sum(w * y * x){rest}
"""


@pytest.mark.parametrize("name", NAMES)
def test_a_local_of_any_name(module, name):
    rest = "" if name in ("g", "math") else " + g(x)"
    agrees(module(LOCAL.format(name=name, rest=rest)).f, 0.8, 1.2)


@pytest.mark.parametrize("name", NAMES)
def test_a_parameter_of_any_name(module, name):
    text = f"""
import numpy as xp

def f({name}, w):
    y = xp.sin({name}) * w
    w = y * {name}
    return xp.exp(-w * y) * {name}
"""
    agrees(module(text).f, 0.8, 1.2)


def test_a_local_that_shadows_numpy_of_the_module(module):
    text = """
import numpy as np

def f(x):
    return np.sin(x) * g(x)

def g(x):
    np = x * x
    return np * x
"""
    agrees(module(text).f, 0.8)


# -- identity ------------------------------------------------------------------------
def test_two_helpers_of_one_name(module):
    first = module("K = 2.0\ndef h(x):\n    return K * x * x\n")
    second = module("K = 5.0\ndef h(x):\n    return K * x * x * x\n")
    text = f"""
import {first.__name__} as p
import {second.__name__} as q

K = 3.0

def f(x, y):
    return p.h(x) * q.h(y) + K * p.h(y)
"""
    agrees(module(text).f, 0.8, 1.2)


def test_one_global_name_in_two_modules(module, tmp_path):
    first = module("K = 2.0\ndef h(x):\n    y = x * x\n    return K * y * x\n")
    text = f"""
from {first.__name__} import h

K = 3.0

def f(x):
    return h(x) * K * x
"""
    f = module(text).f
    agrees(f, 0.8)
    df = sct.grad(f)
    sct.save(df, tmp_path / "saved_grad.py")
    saved = load((tmp_path / "saved_grad.py").read_text(), tmp_path, "saved_grad")
    assert saved.f_grad(0.8) == df(0.8)


def test_two_closures_of_one_factory():
    def factory(k):
        def scaled(x):
            return k * x * x

        return scaled

    two, five = factory(2.0), factory(5.0)

    def both(x):
        return two(x) * five(x)

    agrees(two, 0.8)
    agrees(five, 0.8)
    agrees(both, 0.8)
    assert sct.grad(two)(1.0) == 4.0
    assert sct.grad(five)(1.0) == 10.0


def test_rebinding_a_global_is_seen(module):
    m = module("K = 2.0\ndef f(x):\n    return K * x * x\n")
    df = sct.grad(m.f)
    assert df(1.0) == 4.0
    m.K = 7.0
    assert df(1.0) == 14.0


def test_rebinding_a_closure_cell_is_seen():
    k = 2.0

    def f(x):
        return k * x * x

    df = sct.grad(f)
    assert df(1.0) == 4.0
    k = 7.0
    assert df(1.0) == 14.0


# -- operators -----------------------------------------------------------------------
OPERATORS = [
    lambda x, s: np.sum(x / s),
    lambda x, s: np.sum(s / x),
    lambda x, s: np.sum((x * x) ** s),
    lambda x, s: np.sum(s**x),
    lambda x, s: np.sum(x * s + x - s),
    lambda x, s: np.sum(np.maximum(x, s) * x),
]


@pytest.mark.parametrize("f", OPERATORS, ids=range(len(OPERATORS)))
def test_arrays_with_numbers(f):
    agrees(f, X, S)


def times_one(x):
    y = x * 1.0
    z = y * y
    return np.sum(y * z + x)


def zero_times(x):
    return np.sum(x * 0 + x)


def power_zero(x):
    y = x**0
    return np.sum(y * x + y)


def returned(x, y):
    return x


def used_twice(x, y):
    return x * x + x * y


def not_used(x, y):
    return np.sin(y)


def constant(x, y):
    return 3.0


def self_difference(x, y):
    return x - x + y / y


SMALL = [times_one, zero_times, power_zero]
PAIRS = [returned, used_twice, not_used, constant, self_difference]


@pytest.mark.parametrize("f", SMALL)
def test_arithmetic_that_tempts_to_simplify(f):
    agrees(f, X)
    agrees(f, X.reshape(3, 1))


@pytest.mark.parametrize("f", PAIRS)
def test_arguments_that_matter_much_or_not(f):
    agrees(f, 0.8, 1.2)


def test_an_argument_that_does_not_matter_gets_zeros_like_itself():
    def f(x, y):
        return np.sum(y)

    x_bar, y_bar = sct.grad(f, wrt=(0, 1))(np.ones((2, 3), np.float32), X)
    assert identical(x_bar, np.zeros((2, 3), np.float32))
    assert identical(y_bar, np.ones(3))


# -- loops ---------------------------------------------------------------------------
def constant_in_for(x, y):
    for _ in range(2):
        x = 0.7
    return x * y


def constant_after_use(x, y):
    s = 0.0
    for _ in range(3):
        s = s + x * x * y
        x = 0.5
    return s * x


def constant_in_while(x, y):
    i = 0
    while i < 2:
        i += 1
        x = y
        y = 0.3
    return x * x + y


def constant_in_no_turn(x, y):
    for _ in range(0):
        x = 0.7
    return x * y


def constant_before_break(x, y):
    for i in range(4):
        y = y * x
        if i > 1:
            x = 2.0
            break
    return x * y


def counter_as_index(x, y):
    s = 0.0
    i = 0
    v = np.array([x, y, x * y])
    while i < 3:
        s = s + v[i] * v[i - 1]
        i += 1
    return s


def return_in_arm(x, y):
    if x > 5.0:
        z = x
    else:
        z = y * x
        if z > 0.1:
            return z * z
    return x * y * z


def swapped(x, y):
    for _ in range(3):
        x, y = y, x * y
    return x


def traded(x, y):
    for _ in range(3):
        x, y = y, x
    return x * x * y


def traded_through_a_third(x, y):
    for _ in range(3):
        z = x
        x = y
        y = z
    return np.sum(x * x * y)


def return_below_two_tests(x, y):
    if x > 5.0:
        if y > 1.0:
            return y
    x = np.max(y if 0.5 < y < 0.9 else x * y)
    return x


def divided_in_an_arm(x, y):
    s = x * x
    if s > 0.1:
        y = y / x
    return np.max(s**y)


def divided_in_an_arm_by_a_third(x, y, z=0.7):
    if y > 0.1:
        x = x / z
    return np.max((y * y) ** x)


LOOPS = [
    traded,
    traded_through_a_third,
    return_below_two_tests,
    divided_in_an_arm,
    divided_in_an_arm_by_a_third,
    constant_in_for,
    constant_after_use,
    constant_in_while,
    constant_in_no_turn,
    constant_before_break,
    counter_as_index,
    return_in_arm,
    swapped,
]


@pytest.mark.parametrize("f", LOOPS)
def test_control_flow(f):
    agrees(f, 0.8, 1.2, *(f.__defaults__ or ()))
    agrees(f, -0.8, 0.4, *(f.__defaults__ or ()))


# -- calls ---------------------------------------------------------------------------
def with_default(x, c=0.6):
    x = np.cos(x) * c
    return x * x


def default_left_out(x, y):
    return with_default(x * y)


def keyword_constant(x, y):
    return with_default(x * y, c=0.25)


def keyword_only_active(x, y):
    return with_default(0.3, c=x * y)


def keywords_reversed(x, y):
    return with_default(c=y, x=x)


def same_twice(x, y):
    return with_default(x, x) * y


def deep(x, depth):
    if depth <= 0:
        return x
    return x * deep(np.sin(x), depth - 1)


def recursion_by_keyword(x, y):
    return deep(x, depth=3) * deep(y, 2)


CALLS = [
    default_left_out,
    keyword_constant,
    keyword_only_active,
    keywords_reversed,
    same_twice,
    recursion_by_keyword,
]


@pytest.mark.parametrize("f", CALLS)
def test_calls(f):
    agrees(f, 0.8, 1.2)


# -- effects -------------------------------------------------------------------------
def test_an_unused_draw_still_draws():
    def f(x):
        unused = np.random.rand()  # noqa: F841
        np.random.rand(2)
        return x * np.random.rand()

    np.random.seed(3)
    f(1.0)
    after = np.random.rand()
    np.random.seed(3)
    df = sct.grad(f)
    x_bar = df(1.0)
    assert np.random.rand() == after
    np.random.seed(3)
    np.random.rand(3)
    assert x_bar == np.random.rand()


def test_the_caller_keeps_its_arrays():
    def f(x, w):
        for i in range(2):
            x = x * w + i
        return np.sum(x * w)

    x, w = X.copy(), X.copy()
    x.flags.writeable = w.flags.writeable = False
    sct.grad(f, wrt=(0, 1))(x, w)
    assert identical((x, w), (X, X))


def test_gradients_do_not_share_memory():
    def f(x, y):
        return np.sum(x + y)

    x_bar, y_bar = sct.grad(f, wrt=(0, 1))(X, X)
    x_bar[0] = 9.0
    assert y_bar[0] == 1.0


def test_a_gradient_does_not_share_memory_with_an_argument():
    def f(x, y):
        return x @ y

    x, y = X.copy(), 2.0 * X
    x_bar, y_bar = sct.grad(f, wrt=(0, 1))(x, y)
    x_bar[0] = y_bar[0] = 99.0
    assert identical((x, y), (X, 2.0 * X))


# -- types ---------------------------------------------------------------------------
@pytest.mark.parametrize("x", [2, np.array([1, 2]), np.int64(3), True])
def test_integers_are_refused(x):
    def f(x):
        return np.sum(x * x)

    with pytest.raises(TypeError, match="x is .*float"):
        sct.grad(f)(x)


def test_float32_stays_float32():
    def f(x, s):
        y = np.sqrt(x * x + 1.0) / 3.0
        z = np.where(x > 0.0, y * 2.0, np.exp(-y)) + s
        return np.mean(z**2) + np.sum(np.maximum(z, 0.5), axis=0)

    x, s = X.astype(np.float32), np.float32(0.5)
    value, bars = sct.value_and_grad(f, wrt=(0, 1))(x, s)
    assert value.dtype == np.float32
    assert [b.dtype for b in bars] == [np.float32, np.float32]
    exact = sct.grad(f, wrt=(0, 1))(X, 0.5)
    np.testing.assert_allclose(bars[0], exact[0], rtol=1e-5)
    np.testing.assert_allclose(bars[1], exact[1], rtol=1e-5)


@pytest.mark.parametrize("make", [sct.grad, sct.value_and_grad])
def test_a_result_that_is_no_number_is_refused(make):
    def f(x):
        return x * x

    with pytest.raises(TypeError, match="vjp"):
        make(f)(X)


def test_vjp_of_an_array():
    def f(x):
        return x * x

    value, x_bar = sct.vjp(f)(X, out_bar=np.array([1.0, 2.0, 3.0]))
    assert identical(value, X * X)
    np.testing.assert_allclose(x_bar, [2 * 0.7, 4 * -0.4, 6 * 1.3])


# -- text ----------------------------------------------------------------------------
def test_the_same_statement_on_two_lines(module):
    text = """def f(x, y):
    y = x * y
    x = x * y
    y = x * y
    return y
"""
    f = module(text).f
    agrees(f, 0.8, 1.2)
    shown = sct.source(sct.grad(f, wrt=(0, 1)))
    announced = [s.strip() for s in shown.splitlines() if s.strip().startswith("# L")]
    lines = [2, 3, 4]
    expected = [f"# L{n}: {text.splitlines()[n - 1].strip()}" for n in reversed(lines)]
    assert [s for s in announced if "return" not in s] == expected


def test_text_does_not_depend_on_hashes(module, tmp_path):
    m = module("""import numpy as np

def h(x, y):
    for i in range(3):
        x, y = np.sin(y), x * y
    return x, y

def f(a, b, c, d, e):
    p, q = h(a, b)
    for i in range(3):
        if p > q:
            c = c * d + e
        e, d = d * p, np.tanh(e) * q
    return a * b + c * d * e
""")
    program = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"import sct, {m.__name__} as m\n"
        "print(sct.source(sct.grad(m.f, wrt=(0, 1, 2, 3, 4))))"
    )

    def text(seed: str) -> str:
        env = {**os.environ, "PYTHONHASHSEED": seed}
        run = [sys.executable, "-c", program]
        return subprocess.run(run, env=env, capture_output=True, check=True).stdout

    first = text("0")
    assert b"def f_grad" in first
    assert text("1") == first
    assert text("12345") == first


def test_a_traceback_quotes_the_emitted_line():
    def f(x):
        y = np.exp(x)
        return np.sum(y * y)

    try:
        sct.grad(f)(X, out_bar="seed")
    except Exception as e:
        last = [t for t in traceback.extract_tb(e.__traceback__) if t.name == "f_grad"][
            -1
        ]
    assert "out_bar" in last.line
    assert last.line in inspect.getsource(sct.grad(f))


def test_the_source_is_what_runs():
    def f(x):
        return np.sin(x) * x

    df = sct.grad(f)
    text = inspect.getsource(df)
    assert text.startswith("def f_grad(x, *, out_bar=1.0):")
    space = {"np": np, **df.__globals__}
    space.update(
        {
            n: c.cell_contents
            for n, c in zip(df.__code__.co_freevars, df.__closure__ or ())
        }
    )
    exec(text, space)
    assert space["f_grad"](0.7) == df(0.7)


class Steps(bdb.Bdb):
    """Records the source lines it steps over."""

    def __init__(self, name: str):
        super().__init__()
        self.name, self.lines = name, []

    def user_line(self, frame):
        if frame.f_code.co_name == self.name:
            path, number = frame.f_code.co_filename, frame.f_lineno
            self.lines.append(linecache.getline(path, number).strip())
        self.set_step()


def test_a_debugger_steps_through_it():
    def f(x):
        y = np.sin(x)
        for _ in range(2):
            y = y * x
        return y

    df = sct.grad(f)
    steps = Steps("f_grad")
    steps.runcall(df, 0.7)
    known = {s.strip() for s in inspect.getsource(df).splitlines()}
    assert len(steps.lines) > 8
    assert set(steps.lines) <= known
    assert steps.lines[-1] == "return x_bar"
    assert steps.lines.count("y = y * x") == 2


# -- paths that bind nothing ---------------------------------------------------------
def left_before(a, k):
    for _ in range(k):
        if k % 2 == 0:
            break
        r = [np.tanh(a), np.cos(a)]
        if a < 0.4:
            r[1] = np.tanh(a)
            return r[0]
        else:
            return a * a
    return a


def bound_in_an_arm_and_read_in_another(a, k):
    if k % 2:
        r = a * np.ones(3)
        r[0] = a * a
    s = a
    if k == 3:
        s = s + r[1]
    return s * a


def bound_in_an_arm_and_read_in_a_loop(a, k):
    if k % 2:
        r = [2.0 * a, a * a]
        r[0] = a * a
    s = a
    for _ in range(k % 2):
        s = s + r[0] * r[1]
    return s * a


@pytest.mark.parametrize("k", range(4))
@pytest.mark.parametrize("a", [0.3, 0.5])
@pytest.mark.parametrize(
    "f",
    [
        left_before,
        bound_in_an_arm_and_read_in_another,
        bound_in_an_arm_and_read_in_a_loop,
    ],
)
def test_a_name_that_a_path_does_not_bind_has_no_zero(f, a, k):
    agrees(f, a, k, wrt=(0,))


# -- time ----------------------------------------------------------------------------
def straight(statements: int) -> str:
    forms = (
        "y = np.sin(x) * y",
        "x = x * y + 0.1",
        "z = y / (1.0 + x * x)",
        "y = z - x",
    )
    body = [f"    {forms[i % 4]}" for i in range(statements)]
    return "\n".join(["import numpy as np", "def f(x, y):", *body, "    return x * y"])


def test_time_grows_with_the_text_and_no_faster(module):
    def seconds(n: int) -> float:
        f = module(straight(n)).f
        begin = time.process_time()
        sct.grad(f)
        return time.process_time() - begin

    seconds(20)
    short, long = seconds(200), seconds(2000)
    assert long < 25.0 * short


def test_long_functions_are_right(module):
    agrees(module(straight(500)).f, 0.3, 0.4)
