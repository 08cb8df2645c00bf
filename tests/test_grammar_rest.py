"""The rest of Python: each construct differentiates as central differences do."""

from __future__ import annotations

import inspect
import sys
import textwrap
import typing

import numpy as np
import pytest

import sct

X = np.array([0.7, 1.3, 0.9, 1.6])
SPD = np.array([[2.0, 0.3], [0.3, 1.5]])
COUNT = 0

CASES: list = []


def case(*args):
    def keep(f):
        CASES.append(pytest.param(f, args, id=f"{f.__name__}-{len(CASES)}"))
        return f

    return keep


def difference(f, args):
    """The gradient in the first argument by central differences."""
    first, *others = args
    flat = np.array(first, dtype=float).ravel()
    found = []
    for k in range(flat.size):
        values = []
        for h in (1e-4, -1e-4, 5e-5, -5e-5):
            moved = flat.copy()
            moved[k] += h
            value = moved.reshape(np.shape(first))
            values.append(f(value if np.ndim(first) else float(value), *others))
        wide, narrow = (values[0] - values[1]) / 2e-4, (values[2] - values[3]) / 1e-4
        found.append((4 * narrow - wide) / 3)
    return np.reshape(found, np.shape(first))


@pytest.mark.parametrize("f, args", CASES)
def test_gradient(f, args):
    np.testing.assert_allclose(
        sct.grad(f)(*args), difference(f, args), rtol=1e-8, atol=1e-9
    )


# -- match ---------------------------------------------------------------------------
@case(1.3, "square")
@case(1.3, "sq")
@case(1.3, "cube")
@case(1.3, None)
@case(1.3, True)
@case(1.3, "long enough")
@case(1.3, "short")
def by_value(x, kind):
    match kind:
        case "square" | "sq":
            y = x * x
        case "cube":
            y = x * x * x
        case None:
            y = 2.0 * x
        case True:
            y = 5.0 * x
        case word if len(word) > 7:
            y = x * len(word)
        case _:
            y = x
    return y * x


@case(1.3, 2.0)
@case(1.3, 0.0)
def by_parts(x, y):
    match (x, y):
        case (a, 0.0):
            return a * 3.0
        case (a, b):
            return a * b * b


@case(1.3, [3, 2])
@case(1.3, [2, 3])
@case(1.3, (2, 3, 4))
@case(1.3, range(2, 6))
@case(1.3, np.array([2, 3]))
@case(1.3, {"w": 2.0, "b": {"c": 4}, "z": 1})
@case(1.3, 2.5)
@case(1.3, "ab")
def by_form(x, t):
    match t:
        case [a, b] if a > b:
            return x * a
        case [a, b, *rest]:
            return x * x * b + x * len(rest)
        case {"w": w, "b": {"c": c}}:
            return x * w * c
        case float(v):
            return x**2 * v
    return x


class Point:
    __match_args__ = ("p",)

    def __init__(self, p, q):
        self.p, self.q = p, q


@case(1.3, Point(2.0, 0.0))
@case(1.3, Point(2.0, 3.0))
@case(1.3, 7)
def by_class(x, t):
    match t:
        case Point(q=0.0, p=p) as whole:
            y = x * x * p * (whole.q + 1.0)
        case Point(p=p, q=q):
            y = x * p * q
        case int() | str():
            y = x**4
    return y


@case(X)
def match_on_active_values(x):
    s = 0.0
    for k in range(4):
        match [x[k], k % 3]:
            case [v, 0]:
                s = s + v * v
            case [v, 1 | 5]:
                s = s + v**3
            case [v, n]:
                s = s * v + n
    return s


@case(1.3)
def captures_outlive_their_case(x):
    y = 10.0
    match x:
        case y if y > 2.0:
            return y
    return x * y * y


@case(1.3)
def no_case_fits(x):
    match 3:
        case 1:
            x = x * 5.0
    return x * x


# -- try -----------------------------------------------------------------------------
@case(SPD)
@case(-SPD)
def factor_or_not(a):
    try:
        y = np.linalg.cholesky(a)
    except np.linalg.LinAlgError:
        y = a * a
    return np.sum(y * y)


@case(1.3, {"k": 2.0})
@case(1.3, {})
def looked_up(x, table):
    try:
        w = table["k"]
    except KeyError:
        return x * x
    else:
        x = x * w
    return x**3


@case(1.3)
def tried_in_a_loop(x):
    s = x
    for k in range(5):
        try:
            if k % 2:
                raise ValueError("odd")
            s = s * x
        except ValueError as e:
            s = s + len(str(e)) * x
        finally:
            s = s * 1.5
    return s


@case(1.3, 0)
@case(1.3, 1)
@case(1.3, 2)
@case(1.3, 3)
def many_handlers(x, k):
    try:
        n = [10, 5, 0, "a"][k] + 0
        y = x * (10 // n)
    except ZeroDivisionError:
        y = x**2
    except (TypeError, IndexError):
        y = x**3
    return y * x


@case(1.3, "2")
@case(1.3, "two")
def returned_from_try(x, text):
    try:
        return x ** int(text)
    except ValueError:
        return x**5


@case(1.3)
def handlers_inside_handlers(x):
    try:
        y = x / 0
    except ZeroDivisionError:
        try:
            y = x * [][0]
        except IndexError:
            y = x**3
    return y


@case(1.3)
def continued_from_a_handler(x):
    s = x
    for word in ("1", "a", "3"):
        try:
            n = int(word)
        except ValueError:
            continue
        s = s * x + n * x
    return s


@case(1.3, ("2", "q"))
@case(1.3, ("p", "q"))
def left_from_a_try_or_run_to_the_end(x, words):
    for word in words:
        try:
            n = int(word)
            break
        except ValueError:
            x = x * x
    else:
        return x * 3.0
    return x**n


@case(1.3)
def try_updates_a_variable(x):
    s = 2.0 * x
    for k in range(4):
        try:
            s += x * (1 // k)
        except ZeroDivisionError:
            s = s * x
    return s * s


def test_finally_runs_when_an_exception_passes():
    log = []

    def f(x):
        try:
            if x > 1.0:
                raise ValueError("high")
            y = x * x
        finally:
            log.append("done")
        return y * x

    df = sct.grad(f)
    assert df(0.5) == pytest.approx(0.75)
    assert log == ["done"]
    with pytest.raises(ValueError, match="high"):
        df(1.5)
    assert log == ["done", "done"]


def test_exception_raised_again():
    def f(x):
        try:
            y = x * np.linalg.inv(np.zeros((2, 2)))[0, 0]
        except np.linalg.LinAlgError as e:
            if x < 1.0:
                raise
            raise RuntimeError(str(e)) from e
        return y

    df = sct.grad(f)
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        df(0.5)
    with pytest.raises(RuntimeError, match="Singular") as info:
        df(1.5)
    assert isinstance(info.value.__cause__, np.linalg.LinAlgError)


def test_uncaught_exception_passes():
    def f(x, d):
        try:
            y = x * d["a"]
        except ZeroDivisionError:
            y = x
        return y

    with pytest.raises(KeyError):
        sct.grad(f)(1.0, {})


def prints_in_try(x):
    try:
        print(x)
        y = x * x
    except ValueError:
        y = x
    return y


def reads_what_was_left(x):
    y = x
    try:
        y = x * x
        z = y * len([][0])
    except IndexError:
        z = y
    return z


def leaves_in_the_middle(x):
    try:
        if x > 1.0:
            return x
        y = x * x
    except ValueError:
        y = x
    return y


@pytest.mark.parametrize(
    "f, words, line",
    [
        (prints_in_try, "effect", 2),
        (reads_what_was_left, "`y` is read", 2),
        (leaves_in_the_middle, "must not run", 3),
    ],
)
def test_try_refused(f, words, line):
    with pytest.raises(sct.UnsupportedError, match=words) as info:
        sct.grad(f)
    assert info.value.lineno == inspect.getsourcelines(f)[1] + line


# -- names that come and go ------------------------------------------------------------
@case(1.3)
def deleted(x):
    y = x * x
    z = y * x
    del y, x
    return z


@case(1.3)
def imported(x):
    import math
    import os.path as paths

    from numpy import sin as wave

    if paths.exists("/nowhere/at/all"):
        x = x * 2.0
    return wave(x) * math.exp(x)


@case(X)
def imported_numpy(x):
    import numpy

    return numpy.sum(numpy.cos(x) * x)


@case(1.3)
def imported_in_a_local_function(x):
    def g(t):
        from math import log

        return log(t) * t

    return g(x) * x


def test_import_is_saved(tmp_path):
    path = tmp_path / "imported_grad.py"
    sct.save(sct.grad(imported), path)
    space: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    assert space["imported_grad"](1.3) == pytest.approx(difference(imported, (1.3,)))


def test_comprehension_is_saved(tmp_path):
    path = tmp_path / "sizes_grad.py"
    sct.save(sct.grad(sizes_stay_comprehensions), path)
    space: dict = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    found = space["sizes_stay_comprehensions_grad"](X)
    np.testing.assert_allclose(found, difference(sizes_stay_comprehensions, (X,)))


def test_unknown_import_is_refused():
    def f(x):
        import a_module_that_is_not_there

        return x * a_module_that_is_not_there.k

    with pytest.raises(sct.UnsupportedError, match="not imported yet"):
        sct.grad(f)


def test_global_counter():
    def f(x):
        global COUNT
        COUNT += 1
        y = x * COUNT
        COUNT = COUNT + 1
        return y * x * COUNT

    global COUNT
    COUNT = 0
    df = sct.grad(f)
    assert df(1.5) == pytest.approx(2 * 1.5 * 1 * 2)
    assert COUNT == 2
    assert df(1.5) == pytest.approx(2 * 1.5 * 3 * 4)
    assert COUNT == 4


def reads_count():
    return COUNT


def test_active_global():
    def f(x, n):
        global COUNT
        COUNT = x
        for _ in range(n):
            COUNT *= x
        return x * COUNT

    df = sct.grad(f)
    assert df(1.5, 2) == pytest.approx(4 * 1.5**3)
    assert COUNT == 1.5**3
    with pytest.raises(sct.SourceError, match="writes the variable `COUNT`"):
        sct.save(df, "never.py")


def test_active_global_that_another_function_may_read_is_refused():
    def f(x):
        global COUNT
        COUNT = x * x
        return x * reads_count()

    with pytest.raises(sct.UnsupportedError, match="`global`") as info:
        sct.grad(f)
    assert info.value.text == "COUNT = x * x"


@case(X)
def accumulated_by_a_local_function(x):
    s = 0.0
    n = 0

    def add(v):
        nonlocal s, n
        s += v * v
        n = n + 1

    for v in x:
        add(v)
        add(v * s)
    return s * n


@case(1.3)
def read_before_the_call_that_changes_it(x):
    s = x

    def double(v):
        nonlocal s
        s = 2.0 * s
        return s * v

    return s * double(x) + s * double(s)


@case(1.3)
def local_function_out_of_a_list(x):
    s = x

    def g(v):
        nonlocal s
        s = s * v
        return v

    h = [g]
    return h[0](x) * s


def test_nonlocal_in_a_function_that_stays():
    def f(x):
        s = x

        def g(n):
            nonlocal s
            s = s * 2.0
            return g(n - 1) if n else n

        g(3)
        return x * s

    with pytest.raises(sct.UnsupportedError, match="`nonlocal`") as info:
        sct.grad(f)
    assert info.value.text == "nonlocal s"


# -- comprehensions --------------------------------------------------------------------
@case(X)
def list_comprehension(x):
    return np.sum(np.array([v * v for v in x if v > 0.8]))


@case(X)
def nested_comprehension(x):
    items = [a * b for a in x for b in x if a != b]
    return np.sum(np.stack(items)) + items[0] * items[-1]


@case(X)
def comprehension_of_comprehensions(x):
    rows = [[v * i for v in x] for i in range(3)]
    return np.sum(np.array(rows) ** 2)


@case(X)
def names_of_comprehensions_are_their_own(x):
    v = x[0] * 2.0
    first = [v * v for v in x]
    second = [v * first[k] for k, v in enumerate(first)]
    return np.sum(np.array(second)) * v


@case(X)
def generator_expressions(x):
    total = sum(v * v for v in x)
    items = tuple(v * total for v in x)
    return max(v * v for v in items) + items[1]


@case(X)
def extremes_of_lists(x):
    c = [x[0] * x[1]]
    for v in x:
        if v > 0.8:
            c.append(v * v)
    return min(c) * max([v * c[0] for v in c])


@case(X)
def lists_joined(x):
    heads = [np.tanh(x[i : i + 2]) for i in range(0, 4, 2)]
    parts = [h * h for h in heads] + [np.sin(x)]
    parts += heads
    parts.extend([x[:1], x[1:]])
    y = np.concatenate(parts)
    return np.sum(y * y)


@case(X)
def arrays_unpacked(x):
    a, b, *c = x * 2
    d, e = np.exp(x[:2])
    return a * b * d * e + np.sum(np.array(c))


@case(X)
def dict_comprehension(x):
    table = {f"k{i}": v * v for i, v in enumerate(x)}
    return table["k0"] * table["k3"]


@case(X)
def comprehension_in_order(x):
    trace = []

    def seen(k):
        trace.append(k)
        return k

    y = [v * seen(i) for i, v in enumerate(x)]
    return y[3] * x[0] + len(trace)


@case(X)
def sizes_stay_comprehensions(x):
    shape = tuple(n for n in x.shape if n > 1)
    if all(n > 1 for n in shape) and any([v > 1.5 for v in x]):
        return np.sum(x.reshape(shape) ** 2)
    return np.sum(x)


@case(X)
def starred_shapes(x):
    y = x.reshape((2, *x.shape[1:], -1))
    return np.sum(y @ y)


@case(X)
def sorted_inactive(x):
    order = sorted(range(4), key=lambda k: -k)
    s = x[0]
    for k in order:
        s = s * x[k] + k
    return s


# -- small things ----------------------------------------------------------------------
@case(X)
def slice_objects(x):
    s = slice(1, 3)
    y = x[s] * x[0]
    return np.sum(y[..., :1]) + np.sum(x[...])


@case(1.3)
def cast(x):
    y = typing.cast(float, x * x)
    return y * typing.cast("float", x)


@case(1.3)
def positional_only(x, /, k=2.0, *, m=3.0):
    def g(a, /, b=k, *c, d=m):
        return a * b * d + sum(c)

    return g(x) * x + g(x, x, x, d=x)


@case(1.3)
def lambda_defaults(x):
    fs = []
    for k in range(3):
        fs.append(k)
    f = lambda t, k=x: t * k  # noqa: E731
    x = 2.0 * x
    return f(x) * f(x, 3.0) + fs[2]


@case(1.3)
def while_else(x):
    n = 0
    while n < 3:
        n += 1
        if x > 100.0:
            break
        x = x * 1.5
    else:
        x = x * x
    return x


@case(1.3)
def assert_with_walrus(x):
    assert (y := x * x) > 0.0, f"{y=}"
    return y * x


@case(1.3)
def chained_comparisons(x):
    if 0.0 < (y := x * x) < 10.0 != 3.0:
        return y * x
    return x


@case(1.3)
def texts(x):
    y = x * x
    label = f"{y:.3f} {x!r:>10} {'a' if x > 1 else 'b'}"
    return y * len(label) / len(label)


@case(X)
def starred_everywhere(x):
    first, *middle, last = x
    parts = [*middle, last]
    a, b, c = (*parts,)
    return first * a * np.sum(np.stack([b, *parts])) + c


@case(1.3)
def checks_that_raise(x):
    y = x * x
    if y > 100.0:
        raise ValueError("high")
    for _ in range(2):
        if y > 100.0:
            if x > 0.0:
                raise ValueError("high")
            else:
                raise ValueError("low")
        y = y * x
    return y


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters")
def test_type_parameters(tmp_path):
    path = tmp_path / "generic.py"
    path.write_text(
        textwrap.dedent(
            """
            def f[T](x: T) -> T:
                type Number = float
                def g[S](t: S) -> S:
                    return t * t
                return g(x) * x
            """
        )
    )
    space: dict = {"__name__": "generic"}
    exec(compile(path.read_text(), str(path), "exec"), space)
    assert sct.grad(space["f"])(1.5) == pytest.approx(3 * 1.5**2)
