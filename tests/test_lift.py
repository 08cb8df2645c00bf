"""Local functions, known containers, sums and calls of any number of arguments."""

from __future__ import annotations

import ast
import copy
import functools
import time

import gast
import numpy as np
import pytest

import sct
from sct.normalise import normalise
from sct.specialise import specialise

from .programs import text_of

K = 3.0


def scale(t, k=2.0):
    return t * k


def pair(a, b):
    return a * b, a + b


def call(f, x):
    return f(x)


def compose(f, g, x):
    return f(g(x))


def repeat(f, x, n):
    for _ in range(n):
        x = f(x)
    return x


def product(*xs):
    return xs[0] * xs[1]


def mixed(a, *xs, k=1.0, **kw):
    s = a
    for v in xs:
        s = s + v * k
    return s * len(xs) * kw["c"] * kw.get("d", 2.0)


def passed_on(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


def doubled(f):
    @functools.wraps(f)
    def wrapper(*args):
        return 2.0 * f(*args)

    return wrapper


@passed_on
def decorated(x, y, k=2.0):
    return x * y * k


@doubled
def twice_decorated(x, y):
    return x * y * y


# --- what becomes of the text ---


def square_by_lambda(x):
    g = lambda t: t * t  # noqa: E731
    return g(x)


def affine(x):
    def g(t, k=2.0):
        u = t * k
        return u + 1.0

    y = g(x)
    return y


def rebound_element(x, y):
    t = (x, y)
    x = 2.0 * x
    return t[0] * t[-1] + x


def conditional_sum(x):
    return sum(v * v for v in x if v > 0)


def spread(x):
    t = (x, 2.0)
    return scale(*t) + scale(**{"t": x, "k": 3.0})


def largest(a, b, c):
    return max([a, b, c])


def indexed_result(a, b):
    r = pair(a, b)
    return r[0] - r[1]


def over_variables(x, y):
    s = 0.0
    for v in [x, y]:
        s = s + v
    return s


def over_constants(x):
    s = 0.0
    for v in [1.0, 2.0]:
        s = s + v * x
    return s


PAIRS = [
    (square_by_lambda, "out = x * x\nreturn out"),
    (affine, "u = x * 2.0\ny = u + 1.0\nreturn y"),
    (
        rebound_element,
        "t_0 = x\nx = 2.0 * x\nt_item = t_0\nt_item_2 = y\n"
        "prod = t_item * t_item_2\nout = prod + x\nreturn out",
    ),
    (
        conditional_sum,
        "out = 0\nfor i in range(len(x)):\n    v = x[i]\n    if v > 0:\n"
        "        prod = v * v\n        out = out + prod\nreturn out",
    ),
    (
        spread,
        "scale_value = scale(x, 2.0)\nscale_value_2 = scale(t=x, k=3.0)\n"
        "out = scale_value + scale_value_2\nreturn out",
    ),
    (largest, "max_ = max(a, b)\nout = max(max_, c)\nreturn out"),
    (
        indexed_result,
        "r_0, r_1 = pair(a, b)\nr_item = r_0\nr_item_2 = r_1\n"
        "out = r_item - r_item_2\nreturn out",
    ),
    (over_variables, "s = 0.0\nv = x\ns = s + v\nv = y\ns = s + v\nreturn s"),
    (
        over_constants,
        "s = 0.0\nitems = [1.0, 2.0]\nfor i in range(len(items)):\n"
        "    v = items[i]\n    prod = v * x\n    s = s + prod\nreturn s",
    ),
]


@pytest.mark.parametrize("f, after", PAIRS, ids=lambda v: getattr(v, "__name__", None))
def test_pair(f, after):
    body = normalise(f).fn.body
    text = "\n".join(ast.unparse(gast.gast_to_ast(s)) for s in body)
    assert text == after


def test_lines_are_those_of_the_local_function():
    first = affine.__code__.co_firstlineno
    lines = [s.lineno - first for s in normalise(affine).fn.body]
    assert lines == [2, 3, 6]


# --- what the text means ---


def late_binding(x):
    k = 2.0

    def g(t):
        return t * k

    y = g(x)
    k = 3.0
    return y + g(x)


def default_once(x):
    def g(t=x):
        return t

    x = x + 1.0
    return g() * x


def own_local(x):
    y = 1.0

    def g(t):
        y = t * t
        return y + K

    z = g(x)
    y = y + g(z)
    return y + z


def rebound_parameter(x):
    def g(x):
        x = x * 2.0
        return x

    return g(x) * x


def many_exits(x):
    def g(t):
        if t > 1.0:
            return t * t
        elif t > 0.0:
            return -t
        return 0.5 * t

    out = 0.0
    for i in range(4):
        out = out + g(x - i)
    return out


def endless(x):
    def g(t):
        s = 0.0
        while True:
            s += t
            if s > 5.0:
                return s

    return g(x) + g(2.0 * x)


def nested_functions(x):
    def outer(a):
        def inner(b):
            return a * b

        return inner(a) + inner(2.0)

    return outer(x) + outer(x + 1.0)


def factory(x):
    def make(k):
        return lambda t: k * t

    g = make(x)
    x = 5.0
    return g(2.0) * x


def any_arguments(x):
    def g(t, *r, k=2.0, **kw):
        return t + r[0] * k + kw["z"] + len(r)

    return g(x, x, x, z=3.0) + g(x, 1.0, k=x, z=x)


def by_keyword(x):
    def g(a, b):
        return a - b * b

    a, b = 10.0, x
    return g(b, a) + g(b=a, a=b) + g(*(a, b)) + g(**{"b": a, "a": x})


def functions_as_arguments(x):
    y = call(lambda t: t * t, x) + call(np.sin, x)
    return y + compose(lambda t: t + 1.0, lambda t: t * x, x) + repeat(scale, x, 2)


def local_function_repeated(x):
    def g(t):
        return t * x

    return repeat(g, x, 3)


def function_of_two_names(x):
    f = g = lambda t: t * t  # noqa: E731
    return f(x) * g(x)


def local_tuple(x):
    def g(a):
        return a, a * 2.0

    p, q = g(x)
    q, p = g(p)
    r = g(q)
    return p * q + r[0] * r[-1]


def rotating(x):
    s = (x, 1.0)
    for _ in range(4):
        s = (s[1], s[0] + s[1])
    return s[0] + 10.0 * s[1]


def state_of_a_loop(x):
    t = pair(x, 2.0)
    while t[0] < 50.0:
        t = pair(t[0], t[1])
    return t[0] - t[1]


def swapped_copies(x):
    t = (x, 2.0)
    u = t
    t = (u[1], u[0])
    return u[0] + 10.0 * t[0] + 100.0 * t[1]


def nested_tuples(x):
    t = (x, (x, 2.0))
    a, (b, c) = t
    return a * b * c + t[1][0]


def starred_target(x):
    a, *b = (x, 2.0, x * x)
    return a + b[0] * b[1]


def either(x):
    if x > 1.0:
        t = (x, 1.0)
    else:
        t = (2.0, x)
    return t[0] * len(t) + t[1]


def small_table(x):
    d = {"a": x, "b": x * x}
    return d["a"] * d["b"] + d.get("b") + d.get("c", 1.0)


def stacked(x):
    l = [x, x * x]  # noqa: E741
    return np.sum(np.stack(l)) * l[0]


def enumerated(x):
    s = x
    for i, (a, b) in enumerate(zip([x, 2.0], (x * x, x))):
        s = s + a * b * i
    return s * i


def skipping(x):
    s = 0.0
    for v in [x, 2.0, x * x]:
        if v > 1.9:
            continue
        s += v
    return s


def shadowing_sums(x):
    v = 3.0
    s = sum(v * v for v in [x, 2.0])
    return s + sum([q * v for q in (x, 1.0)], 2.0) + sum([x, v])


def sum_of_calls(x):
    def g(t):
        return t * t

    return g(x) if g(x) < 1.0 else g(-x) + sum(g(v) for v in (x, 1.0))


def sum_in_a_function(x):
    def g(t):
        return sum(t * k for k in [1.0, 2.0, t])

    return g(x) + g(2.0)


def extremes(x):
    return max(x, 2.0, x * x) * min([x, 1.0, 3.0]) + max((x,))


def recursive_constant(x):
    def fact(n):
        return 1.0 if n <= 0 else n * fact(n - 1)

    return fact(3) * x


def called_variadic(x):
    return product(x, x) + mixed(x, x, 2.0, k=x, c=x * x)


def called_decorated(x):
    return decorated(x, x, k=3.0) + twice_decorated(x, x) + decorated(2.0, y=x)


FUNCTIONS = [
    late_binding, default_once, own_local, rebound_parameter, many_exits, endless,
    nested_functions, factory, any_arguments, by_keyword, functions_as_arguments,
    local_function_repeated, function_of_two_names, local_tuple, rotating,
    state_of_a_loop, swapped_copies, nested_tuples, starred_target, either,
    small_table, stacked, enumerated, skipping, shadowing_sums, sum_of_calls,
    sum_in_a_function, extremes, recursive_constant, called_variadic,
    called_decorated,
]  # fmt: skip


def run(f, *args):
    """The value of a function's normal form."""
    scope = dict(f.__globals__)
    exec(text_of(normalise(f).fn), scope)
    return scope[f.__name__](*args)


def difference(f, args, k, h=1e-6):
    """Central difference of `f` in argument `k`, element by element."""
    out = np.zeros(np.shape(args[k]))
    for at in np.ndindex(out.shape):
        step = np.zeros(out.shape)
        step[at] = h
        up, down = list(args), list(args)
        up[k], down[k] = args[k] + step, args[k] - step
        if not out.shape:
            up[k], down[k] = float(up[k]), float(down[k])
        out[at] = (f(*up) - f(*down)) / (2.0 * h)
    return out if out.shape else float(out)


@pytest.mark.parametrize("x", [1.3, 0.6])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_meaning_stays(f, x):
    assert run(f, x) == pytest.approx(f(x), rel=1e-14)


@pytest.mark.parametrize("x", [1.3, 0.6])
@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_gradient(f, x):
    assert sct.grad(f)(x) == pytest.approx(difference(f, (x,), 0), rel=1e-6)


def pairs_in_order(x):
    v = 3.0
    s = sum(a * b for a in x for b in x if a < b)
    return s + sum(v * v for v in x if v > 0) * v + sum([q * q for q in x], 2.0)


@pytest.mark.parametrize("f", [conditional_sum, pairs_in_order])
def test_sums_over_arrays(f):
    x = np.array([1.0, -2.0, 3.0])
    assert run(f, x) == pytest.approx(f(x))
    want = difference(f, (x,), 0)
    assert sct.grad(f)(x) == pytest.approx(want, rel=1e-6, abs=1e-6)


def test_sum_begins_with_the_integer_zero():
    x = np.array([1.0, 2.0], np.float32)
    assert run(conditional_sum, x).dtype == np.float32
    assert run(conditional_sum, np.array([2, -1])) == 4


# --- what stays as it is ---


def appended(x):
    l = [x]  # noqa: E741
    l.append(2.0 * x)
    return l[0] + l[1] + len(l)


def shared_list(x):
    l = [x, x]  # noqa: E741
    m = l
    m[0] = 7.0
    return l[0] + l[1]


def escaping_closures(x):
    kept = []

    def make(k):
        return lambda t: k * t

    for i in range(3):
        kept.append(make(i * x))
    return kept[0](1.0) + 10.0 * kept[1](1.0) + 100.0 * kept[2](1.0)


def mutual(x):
    def even(n):
        return True if n == 0 else odd(n - 1)

    def odd(n):
        return False if n == 0 else even(n - 1)

    return x if even(4) else -x


def chosen(x):
    if x > 1.0:
        g = lambda t: 2.0 * t  # noqa: E731
    else:
        g = lambda t: 3.0 * t  # noqa: E731
    return g(x)


def read_by_a_function(x):
    t = [x, 2.0]
    h = [lambda: t[0]]
    t = [3.0, 4.0]
    return h[0]() + t[1] + x


def in_place(x):
    def g(t):
        t += 1.0
        return t

    y = g(x)
    return y[0] * 10.0 + x[0]


@pytest.mark.parametrize(
    "f, x",
    [
        (appended, 1.5),
        (shared_list, 1.5),
        (escaping_closures, 1.5),
        (mutual, 1.5),
        (chosen, 1.5),
        (read_by_a_function, 1.5),
        (in_place, np.array([1.0, 2.0])),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_never_wrong(f, x):
    want = f(copy.copy(x))
    assert run(f, copy.copy(x)) == pytest.approx(want)
    numeric = difference(lambda v: f(copy.copy(v)), (x,), 0)
    try:
        gradient = sct.grad(f)(copy.copy(x))
    except sct.errors.SctError:
        return
    assert gradient == pytest.approx(numeric, rel=1e-6)


def test_what_is_left_alone_is_the_same_tree():
    tree = normalise(scale).fn
    assert text_of(tree) == "def scale(t, k=2.0):\n    out = t * k\n    return out"


# --- any number of arguments ---


def test_specialise():
    normal = specialise(normalise(mixed), 3, ("k", "c"))
    args = normal.fn.args
    assert [p.id for p in args.args] == ["a", "xs_0", "xs_1"]
    assert [p.id for p in args.kwonlyargs] == ["k", "c"]
    assert args.vararg is args.kwarg is None
    text = text_of(normal.fn)
    assert "xs[" not in text and "kw[" not in text and "kw.get" not in text
    scope: dict[str, object] = {}
    exec(text, scope)
    got = scope["mixed"](2.0, 3.0, 5.0, k=0.5, c=7.0)
    assert got == mixed(2.0, 3.0, 5.0, k=0.5, c=7.0)


def taken_name(*xs):
    xs_0 = 2.0 * xs[1]
    return xs_0 * xs[0]


def first_of_many(*xs):
    return xs[0] * xs[0] * len(xs) + xs[2]


def after_others(a, *xs):
    return a * xs[0]


def whole(*xs):
    s = 0.0
    for v in xs:
        s = s + v * v
    return s


@pytest.mark.parametrize(
    "f, args",
    [
        (product, (1.5, 2.5)),
        (whole, (1.5, 2.5)),
        (taken_name, (1.5, 2.5)),
        (first_of_many, (1.5, 2.5, 3.5)),
        (after_others, (1.5, 2.5)),
        (decorated, (1.5, 2.5)),
        (twice_decorated, (1.5, 2.5)),
    ],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_own_arguments(f, args):
    for k in range(len(args)):
        want = difference(f, args, k)
        assert sct.grad(f, wrt=k)(*args) == pytest.approx(want, abs=1e-8, rel=1e-6)
    both = sct.grad(f, wrt=(0, 1))(*args)
    wanted = [difference(f, args, k) for k in (0, 1)]
    assert both == pytest.approx(wanted, rel=1e-6)


def test_a_wrapper_with_defaults_keeps_them():
    assert sct.grad(decorated)(3.0, 5.0) == pytest.approx(10.0)
    assert sct.grad(decorated)(3.0, 5.0, k=1.0) == pytest.approx(5.0)


def counting(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args) * len(args)

    return wrapper


@counting
def counted(x, k=2.0):
    return x * k


def test_a_wrapper_that_counts_is_not_given_defaults():
    assert counted(3.0) == 6.0
    try:
        gradient = sct.grad(counted)(3.0)
    except sct.errors.UnsupportedError:
        return
    assert gradient == pytest.approx(2.0)


# --- time ---


def written(lines, path):
    """A function `f` of a file of its own."""
    path.write_text("\n".join(["def f(x):", *(f"    {s}" for s in lines)]))
    scope: dict[str, object] = {"__name__": "long"}
    exec(compile(path.read_text(), str(path), "exec"), scope)
    return scope["f"]


def test_time_is_linear(tmp_path):
    def taken(turns):
        lines = ["g = lambda t: t * x", "y = x", "t = (x, y)"]
        lines += ["y = g(y) + t[0]", "t = (y, t[0])"] * turns + ["return t[0]"]
        f = written(lines, tmp_path / f"{turns}.py")
        start = time.perf_counter()
        normalise(f)
        return time.perf_counter() - start

    short = min(taken(100), taken(101))
    assert taken(800) < 25.0 * short
