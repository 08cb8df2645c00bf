"""Names that are used for one thing and then for another, and ways out of loops."""

import ast

import gast
import numpy as np
import pytest

import sct
from sct import grammar
from sct.lives import one_life_each

from .test_sharing import X, differences


def lives(text):
    """What becomes of a function in ANF."""
    (fn,) = grammar.block(text)
    before = gast.dump(fn)
    found = gast.gast_to_ast(one_life_each(fn))
    assert gast.dump(fn) == before

    return ast.unparse(found)


@pytest.mark.parametrize(
    "text, renamed",
    [
        ("t = [x, y]\ns = t[0]\nt = s * s\nreturn t", "t_2 = s * s\nreturn t_2"),
        ("r = a[0]\nr[0] = x\nr = a[1]\nr[0] = x\nreturn a", "r_2 = a[1]\nr_2[0] = x"),
        ("x = [x, x]\nreturn x", "x_2 = [x, x]\nreturn x_2"),
    ],
)
def test_renamed(text, renamed):
    body = "".join(f"    {line}\n" for line in text.splitlines())
    wanted = "".join(f"    {line}\n" for line in renamed.splitlines())
    assert wanted in lives(f"def f(a, x, y):\n{body}") + "\n"


@pytest.mark.parametrize(
    "text",
    [
        # One life: a later use may see either binding.
        "t = [x]\nif y:\n    t = [y]\nreturn t",
        "t = [x]\nfor i in a:\n    t = [t, i]\nreturn t",
        "t = a\nt += x\nreturn t",
        # Nothing that it would matter for.
        "t = x * y\nt = t * t\nreturn t",
        # A function inside may read either.
        "t = [x]\ng = lambda: t\nt = [y]\nreturn g",
    ],
)
def test_kept(text):
    body = "".join(f"    {line}\n" for line in text.splitlines())
    source = f"def f(a, x, y):\n{body}"
    (fn,) = grammar.block(source)
    assert one_life_each(fn) is fn


def list_and_number(x):
    acc = [x[0], x[1] * x[0]]
    s = acc[0] * acc[1]
    acc = s * s + 1.0
    for i in range(3):
        acc = acc + x[i] * acc
    return acc


def one_name_for_two_rows(x):
    m = np.outer(x, x)
    row = m[0]
    row[1] = x[2]
    row = m[1]
    row[:] = row * x
    return np.sum(m * m)


def parameter_made_a_view(x):
    y = x * x
    x = y[1:]
    x[0] = 2.0 * y[0]
    return np.sum(y * y)


def table_and_array(x):
    t = {"a": x * x}
    t = t["a"]
    t[0] = t[1] * t[2]
    return np.sum(t)


@pytest.mark.parametrize(
    "f",
    [list_and_number, one_name_for_two_rows, parameter_made_a_view, table_and_array],
)
def test_right(f):
    np.testing.assert_allclose(sct.grad(f)(X), differences(f, X), rtol=1e-6)


def parameter_of_an_inner_function(x):
    t = (np.cos(x[0]), x * x)
    t = t[1] / (2.0 + t[0])

    def g(t):
        return np.sin(t)

    return g(t[0]) * np.sum(t)


def names_of_underscores(x):
    _ = [x[0], x[0] * x[1]]
    first, *_ = _
    _ = _[0] * first
    return _ * np.sum(x)


@pytest.mark.parametrize("f", [parameter_of_an_inner_function, names_of_underscores])
def test_names_that_mean_something_elsewhere(f):
    np.testing.assert_allclose(sct.grad(f)(X), differences(f, X), rtol=1e-6)


def underscore_read_after_loops(x):
    _ = np.sin(x[0])
    s = x[1]
    for i in range(3):
        s = s * _ * x[i]
    for _unused in range(2):
        s = s * 1.5
    return s * _


def underscore_given(x, _=2.0):
    s = x[0] * _
    for _i in range(3):
        s = s * x[1] * _
    return s


@pytest.mark.parametrize("f", [underscore_read_after_loops, underscore_given])
def test_the_name_that_derivatives_throw_away_into(f):
    np.testing.assert_allclose(sct.grad(f)(X), differences(f, X), rtol=1e-6)


def list_where_it_returns_early(x):
    b = x[1]
    if x[0] > 0.5:
        if x[1] > 5.0:
            s = b * x[2]
        else:
            b = [b * 2.0, np.cos(x[2])]
            return b[0] + sum(b)
        s = s * 3.0
    else:
        s = x[0]
    return b * s


def list_in_a_loop_that_it_leaves(x):
    b = x[1]
    for i in range(3):
        if x[i] > 1.0:
            b = [b * x[i], x[0]]
            return b[0] * b[1]
        b = b * 0.5 + x[i]
    return b


@pytest.mark.parametrize(
    "f", [list_where_it_returns_early, list_in_a_loop_that_it_leaves]
)
@pytest.mark.parametrize("x", [X, X + 5.0, 0.5 * X, X[::-1].copy()])
def test_a_path_that_returns_does_not_lead_on(f, x):
    np.testing.assert_allclose(sct.grad(f)(x), differences(f, x), rtol=1e-6)


def test_a_flag_tells_lives_apart():
    text = "t = x\nd = False\nif y:\n    t = [x]\n    s = t[0]\n    d = True\n"
    body = text + "if not d:\n    s = t * x\nreturn s"
    body = "".join(f"    {line}\n" for line in body.splitlines())
    assert "t_2 = [x]" in lives(f"def f(x, y):\n{body}")
    # Raised elsewhere as well, a flag says nothing of the path.
    body = body.replace("    if y:\n", "    if x:\n        d = True\n    if y:\n")
    body = body.replace("        d = True\n    if not", "    if not")
    assert "t_2" not in lives(f"def f(x, y):\n{body}")


def unpacked_and_looped(x):
    pair = (Pair(x[0], x), x[1])
    first, scale = pair
    s = first.number * scale
    for first in np.outer(x, x):
        s = s + np.sum(first) * scale
    return s


class Pair:
    def __init__(self, number, array):
        self.number, self.array = number, array


def test_an_object_and_then_a_row():
    f = unpacked_and_looped
    np.testing.assert_allclose(sct.grad(f)(X), differences(f, X), rtol=1e-6)


# -- loops left from within branches: the last turn's adjoints come from behind the loop
def left_after_rebinding(x):
    w, s = x[0], 0.0
    for i in range(4):
        w = 2.0 * x[i % 3]
        if w > 1.5:
            break
        w = 3.0 * x[1]
        s += w * w
    return w * s + w


def left_from_nested_branches(x):
    w, s = x[0], 0.0
    for i in range(4):
        w = 2.0 * x[i % 3]
        if i == 2:
            s += w
            if s > 0.0:
                s *= w
                break
            else:
                w = w * 5.0
        elif i > 5:
            s = s * 2.0
            break
        w = 3.0 * x[1] * w
        s += w * w
    return w * s + w


def left_by_returns_and_breaks(x):
    w, s, i = x[0], 0.0, 0
    while True:
        i += 1
        for j in range(3):
            if x[j] > 1.0:
                if i > 1:
                    z = x[0] * w
                    return z + s
                else:
                    s = s + w
                    break
            elif i > 2:
                w = w * x[j]
                break
            w = w * x[j] + s
        else:
            s = s * 2.0
        s = s + w
        if i > 3:
            break
    return w * s


def left_with_an_array_in_hand(x):
    y = x.copy()
    for i in range(3):
        y[i] = y[i] * x[0]
        if y[i] > 0.8:
            z = y * 2.0
            if i > 0:
                y[0] = z[1]
                break
            else:
                t = z[0]
                return t * y[2]
        y = y * x[1]
    return np.sum(y) * y[0]


def left_with_a_list_in_hand(x):
    acc = []
    for v in x:
        if v > 1.0:
            acc.append(v * v)
            q = acc[-1]
            if len(acc) > 1:
                break
            elif v > 1.1:
                r = q * x[0]
                return r + acc[0]
        else:
            acc.append(v)
    return sum(acc) * acc[-1]


def left_with_what_no_other_path_binds(x, k=3):
    m = np.outer(x, x)
    s, j = 0.0, 0
    while j < k:
        j += 1
        for l in range(0, k, 2):
            s = s + x[-1]
            if np.mean(m) < 0.1 * j:
                d = dict(p=s, q=np.sin(m))
                d["q"][0], d["q"][1] = d["q"][1].copy(), d["q"][0].copy()
                return np.sin(d["q"][1, 2])
            if l > 1:
                break
            m = m * 0.9
        s = s + np.sum(m)
    return s


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    "f",
    [
        left_after_rebinding,
        left_from_nested_branches,
        left_by_returns_and_breaks,
        left_with_an_array_in_hand,
        left_with_a_list_in_hand,
        left_with_what_no_other_path_binds,
    ],
)
def test_loops_left_from_within_branches(f, seed):
    x = np.random.default_rng(seed).normal(size=3) * 1.3
    np.testing.assert_allclose(
        sct.grad(f)(x.copy()), differences(f, x.copy()), rtol=1e-5, atol=1e-6
    )


# -- one name for an array and then for a number of it
def itself_item(x):
    x = x[1]
    return x * x


def itself_row_and_item(x):
    x = np.outer(x, x)
    x = x[1]
    x = x[2]
    return x * x


def itself_summed(x):
    x = x * x
    x = np.sum(x)
    return np.sin(x)


def itself_by_method(x):
    x = np.exp(x)
    x = x.mean()
    x = x * 3.0
    return x


def itself_with_itself(x):
    x = x @ x
    return x * x


def itself_greatest(x):
    x = np.sin(x)
    x = np.max(x) * x[0]
    return x


def itself_in_a_loop(x):
    x = np.multiply.outer(x, np.outer(x, x))
    for i in range(3):
        x = x[i]
    return x * x


def itself_on_one_path(x):
    if x[0] > 0.0:
        x = x[2]
    else:
        x = np.linalg.norm(x)
    return x * x


def itself_unpacked(x):
    x, *rest = x
    return x * x * rest[0]


@pytest.mark.parametrize(
    "f",
    [
        itself_item,
        itself_row_and_item,
        itself_summed,
        itself_by_method,
        itself_with_itself,
        itself_greatest,
        itself_in_a_loop,
        itself_on_one_path,
        itself_unpacked,
    ],
)
def test_an_array_and_then_a_number_of_one_name(f):
    np.testing.assert_allclose(sct.grad(f)(X.copy()), differences(f, X), rtol=1e-6)
    v = np.array([0.3, -0.2, 0.9])
    _, slope = sct.jvp(f)(X.copy(), x_dot=v)
    np.testing.assert_allclose(slope, differences(f, X) @ v, rtol=1e-6)
