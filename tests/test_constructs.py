"""One construct of Python or NumPy each: the gradient is that of differences.

`RIGHT` has to work.  `NEVER_WRONG` may be refused as long as it is refused by name.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

import sct

X = np.array([0.7, 1.3, 0.9, 1.6])
Y = np.array([1.1, 0.6, 1.4, 0.8])
A = np.arange(1.0, 13.0).reshape(3, 4) / 7.0
B = np.arange(8.0, 0.0, -1.0).reshape(4, 2) / 5.0
SQUARE = np.array([[2.0, 0.3, 0.1], [0.2, 1.5, 0.4], [0.6, 0.1, 1.1]])
INDEX = np.array([0, 0, 2])
WEIGHT = 3.0

RIGHT: list = []
NEVER_WRONG: list = []


def case(*args, into=RIGHT):
    def keep(f):
        into.append(pytest.param(f, args, id=f.__name__))
        return f

    return keep


def later(*args):
    return case(*args, into=NEVER_WRONG)


def expressions(**forms):
    """Cases that are one expression each, in `x` alone or more."""
    for name, (f, *args) in forms.items():
        f.__name__ = name
        RIGHT.append(pytest.param(f, tuple(args), id=name))


# -- differences through nested containers -------------------------------------------
def leaves(value, path=()):
    """The paths to all numbers of a structure."""
    if isinstance(value, dict):
        return [p for k in value for p in leaves(value[k], (*path, k))]
    if isinstance(value, (list, tuple)):
        return [p for k, v in enumerate(value) for p in leaves(v, (*path, k))]
    if isinstance(value, np.ndarray):
        return [(*path, at) for at in np.ndindex(value.shape)]
    return [path]


def moved(value, path, by):
    """A structure with one number changed."""
    if isinstance(value, np.ndarray):
        new = value.copy()
        new[path[0]] += by
        return new
    if not path:
        return value + by
    if isinstance(value, dict):
        return {
            k: moved(v, path[1:], by) if k == path[0] else v for k, v in value.items()
        }
    parts = [moved(v, path[1:], by) if k == path[0] else v for k, v in enumerate(value)]
    return type(value)(parts)


def at(value, path):
    for key in path:
        value = value[key]
    return value


def check(f, args):
    bars = sct.grad(f, wrt=tuple(range(len(args))))(*args)
    for i, (value, bar) in enumerate(zip(args, bars, strict=True)):
        for path in leaves(value):

            def f_at(by, i=i, value=value, path=path):
                return f(*args[:i], moved(value, path, by), *args[i + 1 :])

            h = 1e-3
            wide = (f_at(h) - f_at(-h)) / (2 * h)
            narrow = (f_at(h / 2) - f_at(-h / 2)) / h
            expected = (4 * narrow - wide) / 3
            assert at(bar, path) == pytest.approx(expected, rel=1e-7, abs=1e-8), (
                i,
                path,
            )


@pytest.mark.parametrize("f, args", RIGHT)
def test_right(f, args):
    check(f, args)


@pytest.mark.parametrize("f, args", NEVER_WRONG)
def test_never_wrong(f, args):
    try:
        check(f, args)
    except sct.UnsupportedError as e:
        assert e.filename == __file__
        assert e.text
    except sct.ArgumentError as e:
        assert "derivatives need floats" in str(e)


# -- control flow --------------------------------------------------------------------
@case(1.5)
@case(0.5)
def two_arms(x):
    if x > 1.0:
        y = x * x
    else:
        y = 3.0 * x
    return y * x


@case(0.5)
def arm_without_else(x):
    y = x
    if y < 1.0:
        y = y * x
    return y * y


@case(1.5)
@case(2.5)
def elif_chain(x):
    if x > 3.0:
        y = x
    elif x > 2.0:
        y = x * x
    elif x > 1.0:
        y = x * x * x
    else:
        y = 1.0
    return y * x


@case(1.5)
@case(-1.5)
def two_returns(x):
    if x > 0.0:
        return x * x
    return x * 3.0


@case(1.5)
def return_inside_loop(x):
    s = x
    for _ in range(10):
        s = s * x
        if s > 4.0:
            return s
    return 2.0 * s


@case(1.2)
def while_with_counter(x):
    i, s = 0, 1.0
    while i < 4:
        s = s * x + i
        i = i + 1
    return s


@case(1.2)
def while_on_value(x):
    s = x
    while s < 9.0:
        s = s * s
    return s


@case(1.2)
def while_true_break(x):
    s = x
    while True:
        s = s * x
        if s > 3.3:
            break
    return s


@case(1.2)
def continued(x):
    s = x
    for i in range(5):
        if i % 2 == 0:
            continue
        s = s * x + i
    return s


@case(1.2)
def loop_else(x):
    s = x
    for _ in range(3):
        s = s * x
        if s > 100.0:
            break
    else:
        s = s * s
    return s


@case(1.5)
def conditional_expression(x):
    return (x * x if x > 1.0 else x) * (2.0 if x < 0.0 else x)


@case(1.5)
def boolean_tests(x):
    if x > 1.0 and not (x > 3.0 or x < 0.0):
        return x * x
    return x


@case(1.5)
def chained_comparison(x):
    return x * x if 1.0 < x < 2.0 else x


@case(1.5)
def walrus(x):
    if (y := x * x) > 1.0:
        return y * x
    return y


@case(X)
def over_elements(x):
    s = 1.0
    for v in x:
        s = s * v
    return s


@case(1.5)
def over_constants(x):
    s = x
    for v in (1.0, 2.0, 3.0):
        s = s * v + x
    return s


@case(X, Y)
def over_zip(x, y):
    s = 0.0
    for a, b in zip(x, y):
        s = s + a * b * b
    return s


@case(X)
def over_enumerate(x):
    s = 0.0
    for i, a in enumerate(x):
        s = s + a * a * i
    return s


@case(1.5)
def counter_after_loop(x):
    for i in range(3):  # noqa: B007
        x = x * x
    return x * i


@case(X)
def stepped_range(x):
    s = 0.0
    for i in range(3, 0, -2):
        s = s + x[i] * x[i]
    return s


@case(X)
def nested_loops(x):
    s = 0.0
    for i in range(4):
        t = x[i]
        for j in range(i):
            t = t * x[j]
        s = s + t
    return s


@case(X)
def augmented_number(x):
    s = 0.0
    for i in range(4):
        s += x[i] * x[i]
        s *= 0.5
    return s


# -- functions -----------------------------------------------------------------------
def product(a, b):
    return a * b


def scaled(x, k=2.0):
    return x * x * k


def both(a, b):
    return a * b, a + b


def factorial_like(x, n):
    if n > 0:
        return x * factorial_like(x + 0.1, n - 1)
    return 1.0


def of_many(*xs):
    return xs[0] * xs[1]


def applied(g, x):
    return g(x) * x


expressions(
    global_number=(lambda x: WEIGHT * x * x, 1.5),
    global_array=(lambda x: np.sum(Y * x * x), X),
    default_left_out=(lambda x: scaled(x), 1.5),
    keyword_given=(lambda x: scaled(x, k=3.0), 1.5),
    keyword_active=(lambda x: scaled(2.0, k=x) * x, 1.5),
    one_value_twice=(lambda x: product(x, x) * x, 1.5),
    recursion=(lambda x: factorial_like(x, 3), 1.5),
    from_math=(lambda x: math.sin(x) * math.exp(x), 1.5),
)


@case(1.5)
def two_results(x):
    p, q = both(x, 2.0 * x)
    return p * q


@case(1.5)
def own_default(x, k=2.0):
    return x * x * k


@case(1.5)
def keyword_only(x, *, k=2.0):
    return x * x * k


@case(1.5, 2.5)
def swap(x, y):
    x, y = y * 2.0, x * 3.0
    return x * x + y


@case(1.5)
def chained_assignment(x):
    a = b = x * x
    return a * b


@case(1.5)
def nested_unpacking(x):
    a, (b, c) = x, (x * 2.0, x * 3.0)
    return a * b * c


@case(1.5)
def docstring(x: float) -> float:
    """Some text."""
    y: float = x * x
    return y


@case(1.5)
def printed(x):
    print(f"x is {x}")
    assert x > 0.0, "positive"
    return x * x


@case(X)
def errstate(x):
    with np.errstate(all="ignore"):
        y = x * x
    return np.sum(y * x)


@case(1.5)
def constant_result(x):
    y = x * x  # noqa: F841
    return 3.0


@later(1.5)
def local_lambda(x):
    g = lambda t: t * t * x  # noqa: E731
    return g(x)


@later(1.5)
def local_function(x):
    def g(t):
        return t * t * x

    return g(x) * 2.0


@later(1.5)
def starred_parameters(x):
    return of_many(x, x * 2.0)


@later(1.5)
def starred_call(x):
    t = (x, x * 2.0)
    return product(*t)


@later(1.5)
def function_argument(x):
    return applied(np.sin, x)


@later(1.5)
def try_except(x):
    try:
        y = x * x
    except ValueError:
        y = x
    return y


# -- arrays --------------------------------------------------------------------------
expressions(
    method_sum=(lambda x: (x * x).sum(), X),
    method_dot=(lambda x, y: x.dot(y), X, Y),
    transposed=(lambda a: np.sum(np.dot(a, a.T)), A),
    shape_as_number=(lambda x: np.sum(x * x) / x.shape[0], X),
    matmul=(lambda a, b: np.sum((a @ b) ** 2), A, B),
    dot_matrices=(lambda a, b: np.sum(np.dot(a, b) ** 2), A, B),
    dot_vector=(lambda a, x: np.sum(np.dot(a, x) ** 2), A, X),
    vector_dot=(lambda x, b: np.sum(np.dot(x, b) ** 2), X, B),
    dot_vectors=(lambda x, y: np.dot(x, y) ** 2, X, Y),
    dot_number=(lambda s, x: np.sum(np.dot(s, x) ** 2), 1.5, X),
    sum_axis=(lambda a: np.sum(np.sum(a, axis=0) ** 2), A),
    sum_keepdims=(lambda a: np.sum(np.sum(a, axis=1, keepdims=True) * a), A),
    sum_last=(lambda a: np.sum(np.sum(a, axis=-1) ** 2), A),
    sum_axes=(lambda a: np.sum(a, axis=(0, 1)) ** 2, A),
    mean_axis=(lambda a: np.sum(np.mean(a, axis=0) ** 2), A),
    mean_all=(lambda a: np.mean(a * a), A),
    maximum_all=(lambda x: np.max(x) ** 2, X),
    relu=(lambda x: np.sum(np.maximum(x - 1.0, 0.0) ** 2), X),
    maximum_number=(lambda s, x: np.sum(np.maximum(s, x) ** 2), 1.0, X),
    where=(lambda x: np.sum(np.where(x > 1.0, x * x, x)), X),
    absolute=(lambda x: np.sum(np.abs(x - 1.0)), X),
    clip=(lambda x: np.sum(np.clip(x, 0.8, 1.4) * x), X),
    concatenate=(lambda x, y: np.sum(np.concatenate([x, y * x]) ** 2), X, Y),
    log1p=(lambda x: np.sum(np.log1p(x)), X),
    reshape=(lambda x: np.sum(np.dot(np.reshape(x, (2, 2)), x.reshape(2, 2))), X),
    transpose=(lambda a: np.sum(np.dot(a, np.transpose(a, (1, 0)))), A),
    determinant=(lambda a: np.linalg.det(a), SQUARE),
    array_plus_number=(lambda s, x: np.sum((x + s) * x), 1.5, X),
    array_times_number=(lambda s, x: np.sum(x * s), 1.5, X),
    array_by_number=(lambda s, x: np.sum(x / s), 1.5, X),
    number_by_array=(lambda s, x: np.sum(s / x), 1.5, X),
    number_to_array=(lambda s, x: np.sum(s**x), 1.5, X),
    array_to_number=(lambda s, x: np.sum(x**s), 1.5, X),
    np_multiply=(lambda s, x: np.sum(np.multiply(x, s)), 1.5, X),
    row_times=(lambda x, a: np.sum(a * x * a), X, A),
    row_below=(lambda x, a: np.sum(a / x), X, A),
    column_plus=(lambda c, x: np.sum((c + x) ** 2), A[:, :1].copy(), X),
    arange=(lambda x: np.sum(x * x * np.arange(4)), X),
    identity=(lambda a: np.sum(np.eye(3) @ a * a), A),
    array_literal=(lambda x: np.sum(x * x * np.array([1.0, 2.0, 3.0, 4.0])), X),
)

# -- numbers -------------------------------------------------------------------------
expressions(
    square_of_negative=(lambda x: x**2, -1.5),
    power_of_both=(lambda x, y: x**y, 1.5, 2.0),
    powers_at_zero=(lambda x: x**2.0 + x**1, 0.0),
    modulo=(lambda x: x % 2.0 * x, 5.5),
    floor_division=(lambda x: x // 2.0 * x, 5.5),
    minus_binds_less=(lambda x: -(x**2) * x, 1.5),
    plus_sign=(lambda x: +x * x, 1.5),
    builtin_abs=(lambda x: abs(x) * x, -1.5),
    builtin_max=(lambda x, y: max(x, y) * 2.0 * y, 1.5, 1.0),
    builtin_float=(lambda x: float(x) * x, 1.5),
)

# -- indices -------------------------------------------------------------------------
expressions(
    element=(lambda x: x[0] * x[1] * x[1], X),
    last_element=(lambda x: x[-1] * x[-1], X),
    one_element_twice=(lambda x: x[0] * x[0], X),
    slice=(lambda x: np.sum(x[1:3] ** 2), X),
    overlapping=(lambda x: np.sum((x[1:] - x[:-1]) ** 2), X),
    every_other=(lambda x: np.sum(x[::2] ** 2), X),
    matrix_element=(lambda a: a[0, 1] * a[1, 2], A),
    column=(lambda a: np.sum(a[:, 1] ** 2), A),
    repeated_indices=(lambda x: np.sum(x[INDEX] ** 2), X),
    mask=(lambda x: np.sum(x[x > 1.0] ** 2), X),
    new_axis=(lambda x: np.sum(x[None, :] * x[:, None] * x), X),
)


@later({"a": 1.5, "b": 2.5})
def dict_argument(p):
    return p["a"] * p["b"] + p["a"]


@later({"w": X, "i": {"b": 1.5}})
def nested_dict(p):
    return np.sum(p["w"] * p["w"]) + p["i"]["b"] ** 2


@later([1.5, 2.5])
def list_argument(p):
    return p[0] * p[1]


@later((1.5, 2.5))
def tuple_argument(t):
    a, b = t
    return a * b * b


@later(1.5)
def dict_inside(x):
    d = {"a": x, "b": x * x}
    return d["a"] * d["b"]


@later(1.5)
def list_inside(x):
    l = [x, x * x]
    return l[0] * l[1]


@later(X)
def comprehension(x):
    return np.sum(np.array([v * v for v in x]))


@later(X)
def generator(x):
    return sum(v * v for v in x)


@later(1.5)
def sum_of_list(x):
    return sum([x, x * x])


@dataclasses.dataclass
class Pair:
    a: float


@later(1.5)
def object_inside(x):
    p = Pair(x * x)
    return p.a * x


# -- writing in place ----------------------------------------------------------------
@case(X)
def rebound_alias(x):
    y = x
    y = y * 2.0
    return np.sum(x * y)


@later(X)
def alias_written(x):
    y = x * 1.0
    z = y
    z[0] = x[1] * x[2]
    return np.sum(y * y)


@later(X)
def element_written(x):
    y = x * x
    y[0] = x[1] * 3.0
    return np.sum(y * y)


@later(X)
def buffer_filled(x):
    y = np.zeros(4)
    for i in range(4):
        y[i] = x[i] * x[i]
    return np.sum(y * x)


@later(X)
def buffer_increased(x):
    y = np.zeros_like(x)
    for i in range(len(x)):
        y[i] += x[i] * 2.0
    return np.sum(y * y)


@later(X)
def augmented_array(x):
    y = x * 2.0
    z = y
    y += x
    y *= x
    return np.sum(z * y)


@later(X)
def slice_written(x):
    y = x * x
    y[1:3] = x[0:2] * 2.0
    return np.sum(y * y)


@later(X)
def view_written(x):
    y = x * x
    v = y[1:3]
    v[0] = x[0]
    return np.sum(y * y)


@later(np.array([1.0, 2.0]))
def own_copy_of_view(x):
    y = x.reshape(2, 1) * x
    y.T[0, 1] = x[0]
    return np.sum(y * y)
