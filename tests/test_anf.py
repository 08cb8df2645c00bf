"""A-normal form: pairs, what stays, meaning, idempotence, time."""

from __future__ import annotations

import time

import gast
import pytest

from sct import grammar
from sct.anf import anf

from .programs import text_of, tree_of

PAIRS = [
    ("x = 0.5 * (x + a / x)", "quot = a / x\nsum_ = x + quot\nx = 0.5 * sum_"),
    ("y = np.exp(x).sum()", "exp = np.exp(x)\ny = exp.sum()"),
    ("y = f(x)(a)", "f_value = f(x)\ny = f_value(a)"),
    ("y = a[0](x)", "a_item = a[0]\ny = a_item(x)"),
    ("y = x[i + 1:len(x) - 1] * 2", "x_item = x[i + 1:len(x) - 1]\ny = x_item * 2"),
    ("y = x[f(i)]", "f_value = f(i)\ny = x[f_value]"),
    ("y = x[f(i):2, 0]", "f_value = f(i)\ny = x[f_value:2, 0]"),
    ("y = np.stack([x * 2.0, y])", "prod = x * 2.0\ny = np.stack([prod, y])"),
    (
        "y = f(*(a + b), **g(x))",
        "sum_ = a + b\ng_value = g(x)\ny = f(*sum_, **g_value)",
    ),
    (
        "y = f(g(x), k=h(x))",
        "g_value = g(x)\nh_value = h(x)\ny = f(g_value, k=h_value)",
    ),
    (
        "y = np.where(x > a * b, x, -x)",
        "test = x > a * b\nneg = -x\ny = np.where(test, x, neg)",
    ),
    ("y = x.a.b", "a_2 = x.a\ny = a_2.b"),
    ("y = (x + 1, [a, b])", "sum_ = x + 1\nitems = [a, b]\ny = (sum_, items)"),
    ("x[i + 1] = a * b", "prod = a * b\nx[i + 1] = prod"),
    ("x += a * b", "prod = a * b\nx += prod"),
    (
        "x.v[f(i)] += g(a)",
        "v = x.v\nf_value = f(i)\ng_value = g(a)\nv[f_value] += g_value",
    ),
    ("y = {'k': a * b, **x}", "prod = a * b\ny = {'k': prod, **x}"),
]


@pytest.mark.parametrize("before, after", PAIRS)
def test_pairs(before, after):
    assert flat(before) == after


UNCHANGED = [
    "y = -1",
    "y = f(x, -1)",
    "y = x",
    "y = np.pi",
    "y = np.linalg.norm(x, axis=(0, 1))",
    "y = np.zeros((2, 3))",
    "y = x.reshape((x.shape[0], len(x), -1))",
    "y = np.zeros(shape=(a + 1, b))",
    "y = np.array([[x, 1], [a, b]])",
    "y = lambda v: v * (v + 1)",
    "y = a < b + 1 < x * 2",
    "y = not a",
    "y = f'{x + 1}'",
    "y = [v * 2 + 1 for v in x]",
    "y = x[[0, 2]]",
    "y = x[..., None, ::2]",
    "a, b = f(x)",
    "if x + 1 > f(a) * 2:\n    y = 1",
    "while f(x + 1) * 2:\n    x = f(x)",
    "for i in range(len(x) - 1):\n    y = x[i]",
    "for i in reversed(range(1, a)):\n    y = x[i]",
    "assert x + 1 > 2, f'{x}'",
    "raise ValueError(f'{x}')",
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_unchanged(text):
    assert flat(text) == text


def flat(text: str) -> str:
    """The statements of a body, flattened."""
    body = "\n".join("    " + line for line in text.splitlines())
    tree, source = tree_of(f"def fn(x, a, b, i, y):\n{body}\n    return y\n")
    before = gast.dump(tree)
    out = anf(tree, source)
    assert gast.dump(tree) == before
    assert text_of(anf(out, source)) == text_of(out)
    lines = text_of(out).splitlines()[1:-1]
    return "\n".join(line[4:] for line in lines)


def test_return():
    tree, source = tree_of("def f(x):\n    return x * x\n")
    assert text_of(anf(tree, source)).splitlines()[1:] == [
        "    out = x * x",
        "    return out",
    ]
    tree, source = tree_of("def f(x):\n    return x, -x\n")
    assert text_of(anf(tree, source)).splitlines()[1:] == [
        "    out_2 = -x",
        "    return (x, out_2)",
    ]


def test_lines_are_the_users():
    tree, source = tree_of(
        "def f(x):\n    y = x\n    return (x * y) + (x\n        / y)\n"
    )
    assert [s.lineno for s in anf(tree, source).body] == [2, 3, 3, 3, 3]


def test_for_argument_is_bound_before():
    text = "for k in range(f(x)):\n    y = 1"
    assert flat(text) == "f_value = f(x)\nfor k in range(f_value):\n    y = 1"


def test_long_expression():
    tree, source = tree_of("def f(x):\n    return x\n")
    total = grammar.name("x")
    for _ in range(2000):
        total = gast.BinOp(total, gast.Add(), grammar.name("x"))
    tree.body[-1].value = total
    out = anf(tree, source)
    assert len(out.body) == 2001


def test_linear_time():
    body = "    x = 0.5 * (x + a / x)\n" * 5000
    tree, source = tree_of(f"def f(x, a):\n{body}    return x\n")
    start = time.perf_counter()
    out = anf(tree, source)
    assert time.perf_counter() - start < 5.0
    assert len(out.body) == 15001
