"""What each pass changes, and what it must leave alone."""

from __future__ import annotations

import gast
import numpy as np
import pytest

from sct.optimize.cse import cse
from sct.optimize.dead_code import dead_code
from sct.optimize.fold import fold
from sct.optimize.inline import inline
from sct.optimize.propagate import copies
from sct.optimize.stores import stores
from sct.optimize.taken import taken

from .programs import facts, function, normal, text

NAMES = "x_bar y_bar z_bar t u k x_saved x_stack"


def body(lines: str) -> str:
    inner = "\n".join("    " + line for line in lines.split("\n"))
    return f"def f(x, y, n, out_bar=1.0):\n{inner}"


def after(pass_, lines: str, scalar: str = "") -> str:
    return text(pass_(function(body(lines)), facts(NAMES, scalar))[1])


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("out_bar * y * 1.0", "out_bar * y"),
        ("1.0 * out_bar * y", "out_bar * y"),
        ("out_bar * y / 1.0", "out_bar * y"),
        ("0.0 + out_bar * y", "out_bar * y"),
        ("out_bar * y - 0.0", "out_bar * y"),
        ("out_bar * y + -x", "out_bar * y - x"),
        ("out_bar * y - -x", "out_bar * y + x"),
        ("x + -out_bar * y", "x - out_bar * y"),
        ("-(-(out_bar * y))", "out_bar * y"),
        ("out_bar * -y", "-out_bar * y"),
        ("out_bar / -y", "-out_bar / y"),
        ("-out_bar * -y", "out_bar * y"),
        ("-(out_bar * y)", "-out_bar * y"),
        ("y * out_bar", "out_bar * y"),
        ("np.cos(x) * (out_bar * y)", "out_bar * y * np.cos(x)"),
        ("out_bar * 3.0", "3.0 * out_bar"),
        ("out_bar * y * 2.0", "2.0 * out_bar * y"),
        ("out_bar * (2.0 * y)", "2.0 * out_bar * y"),
        ("2.0 * (3.0 * out_bar)", "6.0 * out_bar"),
        ("-2.0 * out_bar * 0.5", "-1.0 * out_bar"),
        ("out_bar * y + out_bar * y", "2.0 * out_bar * y"),
        ("out_bar / y + out_bar / y", "2.0 * out_bar / y"),
        ("out_bar * y ** (3 - 1)", "out_bar * y ** 2"),
    ],
)
def test_fold_rewrites(before, expected):
    assert after(fold, f"x_bar = {before}") == normal(body(f"x_bar = {expected}"))
    values = {"x": 0.7, "y": -1.3, "out_bar": 1.9, "np": np}
    assert eval(before, dict(values)) == eval(expected, dict(values))


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("z = x * 1.0 + -y", id="the user's own arithmetic"),
        pytest.param("x_bar = 0.0 * out_bar", id="a zero has a shape"),
        pytest.param("x_bar = out_bar ** 0", id="so has a one"),
        pytest.param("x_bar = 1.0 * n", id="an integer would stay one"),
        pytest.param("x_bar = 3.0 * (5.0 * out_bar)", id="rounds twice"),
        pytest.param("x_bar = out_bar * y * 3.0", id="not a power of two"),
        pytest.param("x_bar = out_bar * (0.1 + 0.2)", id="sum is rounded"),
        pytest.param("x_bar = out_bar + 2.0 * (n * n)", id="integer product"),
        pytest.param("x_bar = out_bar * 1.0\nx_bar[0] = 0.0", id="a copy"),
        pytest.param("return out_bar * 1.0", id="a copy for the caller"),
        pytest.param("x_bar = g(x) * out_bar * g(y)", id="order of effects"),
    ],
)
def test_fold_leaves(lines):
    assert after(fold, lines) == normal(body(lines))


def test_fold_turns_a_negated_increment_round():
    assert after(fold, "x_bar += -out_bar * y") == normal(body("x_bar -= out_bar * y"))
    assert after(fold, "x_bar -= -out_bar") == normal(body("x_bar += out_bar"))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("t = x * y\nz = t + 1.0", "z = x * y + 1.0"),
        ("t = x + y\nz = t * t", None),
        ("t = x * y\nu = np.sin(t)\nz = u + 1.0", "z = np.sin(x * y) + 1.0"),
        ("t = x + y\nif t > 0.0:\n    z = x", "if x + y > 0.0:\n    z = x"),
        ("x_bar = out_bar * y\nx_bar += x * y", "x_bar = out_bar * y + x * y"),
        ("x_bar = out_bar * y\nx_bar = x_bar - x", "x_bar = out_bar * y - x"),
        ("t = g(x)\nz = t + 1.0", "z = g(x) + 1.0"),
        ("t = g(x)\nu = g(y)\nz = t + u", "z = g(x) + g(y)"),
        ("t = n + 1\nx[t] = y", "x[n + 1] = y"),
    ],
)
def test_inline_moves(before, expected):
    assert after(inline, before) == normal(body(expected or before))


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("z = x * y\nw = z + 1.0", id="a name of the user"),
        pytest.param("t = x * y\nx = 2.0\nz = t + x", id="operand bound again"),
        pytest.param("t = x[0]\nx[0] = y\nz = t * x", id="operand written in place"),
        pytest.param("t = x[1:]\nw = x\nw[0] = y\nz = t * 2.0", id="through an alias"),
        pytest.param("t = x + y\nx += 1.0\nz = t * 2.0", id="augmented"),
        pytest.param("t = x[0]\ng(x)\nz = t * 2.0", id="a call may write"),
        pytest.param("t = g(x)\nz = g(y)\nw = t + z", id="order of calls"),
        pytest.param("t = g(x)\nz = x[0] + t", id="read before the call"),
        pytest.param("t = np.sin(x)\nfor i in range(n):\n    z = t", id="into a loop"),
        pytest.param(
            "t = np.sin(x)\nwhile t > y:\n    y = y + 1.0", id="a loop's test"
        ),
        pytest.param("t = x + y\nz = lambda: t", id="read later"),
        pytest.param("x_bar = out_bar * y\n'L1: a'\ny_bar = x_bar * x", id="comment"),
        pytest.param("x_bar = out_bar * y\nreturn x_bar", id="a result has its name"),
        pytest.param(
            f"t = {' + '.join(['np.sin(x)'] * 5)}\nz = t * ({' + '.join(['y'] * 8)})",
            id="line too long",
        ),
    ],
)
def test_inline_leaves(lines):
    assert after(inline, lines) == normal(body(lines))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("t = x\nz = t * t", "t = x\nz = x * x"),
        ("t = x\nx = 1.0\nz = t * x", None),
        ("t = x\nx += y\nz = t * x", None),
        ("t = x\nfor i in range(n):\n    z = t\n    x = y", None),
        ("if n:\n    t = x\nelse:\n    t = y\nz = t * 2.0", None),
        ("z = x\nw = z * z", None),
        ("t = 0.5\nz = t * x", "t = 0.5\nz = 0.5 * x"),
    ],
)
def test_copies(before, expected):
    assert after(copies, before) == normal(body(expected or before))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("t = x * y\nreturn x", "return x"),
        ("t = x * y\nu = t + 1.0\nreturn x", "return x"),
        ("x = 1.0\nx = 2.0\nreturn x", "x = 2.0\nreturn x"),
        (
            "x_bar = 0.0\nfor i in range(n):\n    x_bar = x_bar + y\nreturn y",
            "return y",
        ),
        ("if n > 0:\n    t = x\nreturn x", "return x"),
        (
            "if n > 0:\n    t = x\nelse:\n    x = y\nreturn x",
            "if not n > 0:\n    x = y\nreturn x",
        ),
        ("'L1: a'\nt = x * y\n'L2: b'\nx = y\nreturn x", "'L2: b'\nx = y\nreturn x"),
        (
            "'#Forward sweep.'\nt = x\n'#Backward sweep.'\n'L1: a'\nx = y\nreturn x",
            "'#Backward sweep.'\n'L1: a'\nx = y\nreturn x",
        ),
        (
            "x_stack = []\nfor i in range(n):\n    x_stack.append(x)\n    x = x * y\n"
            "for i in reversed(range(n)):\n    x = x_stack.pop()\n    y = y + 1.0\n"
            "return y",
            "for i in reversed(range(n)):\n    y = y + 1.0\nreturn y",
        ),
        ("z_bar = np.zeros(3)\nz_bar[0] += y\nreturn x", "return x"),
    ],
)
def test_dead_code_removes(before, expected):
    fn, changed = function(body(before)), True
    while changed:
        changed, fn = dead_code(fn, facts(NAMES))
    assert text(fn) == normal(body(expected))


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("t = np.random.rand()\nreturn x", id="random stream"),
        pytest.param("t = g(x)\nreturn x", id="unknown call"),
        pytest.param("print(x)\nreturn x", id="print"),
        pytest.param("assert x > 0.0, 'positive'\nreturn x", id="assert"),
        pytest.param("if x > 0.0:\n    raise ValueError\nreturn x", id="raise"),
        pytest.param("x[0] = y\nreturn y", id="the caller's memory"),
        pytest.param("t = x[1:]\nt[0] = y\nreturn y", id="through a view"),
        pytest.param("x += y\nreturn y", id="in place"),
        pytest.param("k = x * y\nz = lambda: k\nreturn z", id="read by a closure"),
        pytest.param("if g(x):\n    pass\nreturn y", id="test with an effect"),
        pytest.param(
            "t = 0.0\nfor i in range(n):\n    y = t\n    t = x\nreturn y",
            id="next turn",
        ),
        pytest.param(
            "t = x\nfor i in range(n):\n    t = y\nreturn t", id="loop may not run"
        ),
        pytest.param(
            "t = x\nwhile n > 0:\n    if x > y:\n        t = y\n        break\n"
            "    t = n\n    n = n - 1\nreturn t",
            id="break",
        ),
        pytest.param(
            "x_stack = []\nfor i in range(n):\n    x_stack.append(x)\nwhile x_stack:\n"
            "    x = x_stack.pop()\n    y = y + 1.0\nreturn y",
            id="a stack that counts",
        ),
        pytest.param(
            "x_stack = []\nx_stack.append(x)\nx = y * x\n"
            "x[0] = x_stack.pop()\nreturn x",
            id="popped into a slice",
        ),
        pytest.param(
            "t = x\nwith np.errstate(all='ignore'):\n    t = g(y)\n    t = y\nreturn t",
            id="an exception may be swallowed",
        ),
    ],
)
def test_dead_code_leaves(lines):
    assert after(dead_code, lines) == normal(body(lines))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("z = np.exp(x)\nt = np.exp(x)", "z = np.exp(x)\nt = z"),
        ("z = np.exp(x)\nt = y * np.exp(x)", "z = np.exp(x)\nt = y * z"),
        (
            "z = x * y\nif n:\n    t = x * y\nelse:\n    t = x * y + 1.0",
            "z = x * y\nif n:\n    t = z\nelse:\n    t = z + 1.0",
        ),
        (
            "z = x * y\nfor i in range(n):\n    t = x * y",
            "z = x * y\nfor i in range(n):\n    t = z",
        ),
    ],
)
def test_cse_reuses(before, expected):
    assert after(cse, before) == normal(body(expected))


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param("z = x * y\nx = 1.0\nt = x * y", id="operand bound again"),
        pytest.param("z = x * y\nz = 1.0\nt = x * y", id="holder bound again"),
        pytest.param("z = x * y\nx[0] = 1.0\nt = x * y", id="operand written"),
        pytest.param("z = x * y\nz[0] = 1.0\nt = x * y", id="holder written"),
        pytest.param("z = np.zeros(n)\nt = np.zeros(n)\nt[0] = 1.0", id="own memory"),
        pytest.param("z = x * y\ng(x)\nt = x * y", id="a call may write"),
        pytest.param("z = g(x)\nt = g(x)", id="effects stay two"),
        pytest.param("z = np.random.rand()\nt = np.random.rand()", id="random stream"),
        pytest.param("z = -x\nt = -x\nw = x[0]\nu = x[0]", id="cheap"),
        pytest.param("if n:\n    z = x * y\nt = x * y", id="on one path only"),
        pytest.param(
            "z = x * y\nfor i in range(n):\n    t = x * y\n    x = t", id="next turn"
        ),
        pytest.param("x = x * y\nt = x * y", id="reads what it binds"),
    ],
)
def test_cse_leaves(lines):
    assert after(cse, lines) == normal(body(lines))


def test_what_reads_itself_is_no_copy():
    """``t = t * y`` read again would be of the new `t`."""
    lines = "t = np.sin(x)\nu = t * y\nt = u\nz = t + u"
    known = facts(NAMES, "x y t u")
    known.repeat = lambda node: isinstance(node, gast.BinOp)
    _, once = copies(function(body(lines)), known)
    _, twice = copies(once, known)
    values = {"x": 0.7, "y": -1.3, "np": np}
    for fn in (function(body(lines)), once, twice):
        space = dict(values)
        exec("\n".join(text(fn).replace("    ", "").split("\n")[1:]), space)
        assert space["z"] == 2.0 * np.sin(0.7) * -1.3


ARRAY = "z_bar = np.zeros(3)\n"


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        # Cleared, and then added to.
        ("z_bar[n] = 0.0\nz_bar[n] += out_bar * y", "z_bar[n] = out_bar * y"),
        ("z_bar[n] = 0.0\nz_bar[n] -= out_bar * y", "z_bar[n] = -(out_bar * y)"),
        (
            "z_bar[1:] = 0.0\n'L2: s'\nx_bar = out_bar * y\nz_bar[1:] += x_bar * y",
            "'L2: s'\nx_bar = out_bar * y\nz_bar[1:] = x_bar * y",
        ),
        # The first to be added to a place of an array of zeros.
        (
            "x_bar = np.zeros_like(x)\nx_bar[0] = y\nx_bar[1] += out_bar * y\n"
            "x_bar[2:, 0] -= out_bar * x\nx_bar[2:, 1:] += y\nx_bar[0] += y",
            "x_bar = np.zeros_like(x)\nx_bar[0] = y\nx_bar[1] = out_bar * y\n"
            "x_bar[2:, 0] = -(out_bar * x)\nx_bar[2:, 1:] = y\nx_bar[0] += y",
        ),
        (
            "x_bar = np.zero_structure(x)\nx_bar[0] += np.unbroadcast(y * x, x)\n"
            "x_bar[1] -= np.unbroadcast(y * x, x)",
            "x_bar = np.zero_structure(x)\nx_bar[0] = np.unbroadcast(y * x, x)\n"
            "x_bar[1] = -np.unbroadcast(y * x, x)",
        ),
        # Stored, and added to at once.
        (
            "z_bar[1:] = out_bar * y\nz_bar[1:] -= out_bar * x\nz_bar[1:] += x * y",
            "z_bar[1:] = out_bar * y - out_bar * x + x * y",
        ),
    ],
)
def test_stores_join(before, expected):
    end = "\nreturn z_bar"
    assert after(stores, ARRAY + before + end) == normal(body(ARRAY + expected + end))


@pytest.mark.parametrize(
    "lines",
    [
        # Another place, or one that may overlap.
        "z_bar[n] = 0.0\nz_bar[n - 1] += out_bar * y",
        "z_bar[1:] = 0.0\nz_bar[:-1] += out_bar * y\nz_bar[1:] += out_bar * y",
        # Read before it is added to, by the name or by a view.
        "z_bar[n] = 0.0\nx_bar = z_bar * y\nz_bar[n] += x_bar * y",
        "z_bar[n] = 0.0\nz_bar[n] += out_bar * z_bar[n]",
        "t = z_bar[1:]\nz_bar[n] = 0.0\nx_bar = t * y\nz_bar[n] += x_bar * y",
        # The index means something else by then.
        "z_bar[n] = 0.0\nn = n + 1\nz_bar[n] += out_bar * y",
        # Not on every path, or not here.
        "z_bar[n] = 0.0\nif y > 0:\n    z_bar[n] += out_bar * y",
        "z_bar[n] = 0.0\nfor k in range(n):\n    z_bar[k] += x\nz_bar[n] += y * x",
        # What is stored may change before the sum, or be an array of its own.
        "z_bar[n] = x[0] * y\nx_bar = out_bar * y\nz_bar[n] += out_bar * y",
        "z_bar[n] = 0.0\nz_bar[n] += y",
        # No sum.
        "z_bar[n] = 0.0\nz_bar[n] *= out_bar * y",
        # An item of a container takes the shape of what is stored, and its memory.
        "x_bar = np.zero_structure(x)\nx_bar[0] += y\nx_bar[1] += y * 2.0",
        "x_bar = np.zero_structure(x)\nx_bar[0] += np.unbroadcast(y, x)",
        # Zero no longer, or perhaps not.
        "x_bar = np.zeros_like(x)\nx_bar[1:] = y\nx_bar[:2] += y\nx_bar[-1] += y",
        "x_bar = np.zeros_like(x)\nx_bar[n] = y\nx_bar[0] += y",
        "x_bar = np.zeros_like(x)\nx_bar[..., 0] = y\nx_bar[..., 1] += y",
        "x_bar = np.zeros_like(x)\nx_bar[::2] = y\nx_bar[5] += y",
        "x_bar = np.zeros_like(x)\nfor k in range(n):\n    x_bar[k] = y\nx_bar[0] += y",
        "x_bar = np.zeros_like(x)\ng(x_bar)\nx_bar[0] += y",
    ],
)
def test_stores_leave(lines):
    whole = ARRAY + lines + "\nreturn z_bar"
    assert after(stores, whole) == normal(body(whole))


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        (
            "t = z_bar[1:].copy()\nz_bar[1:] = 0.0\nx_bar = 0.5 * t * y",
            "x_bar = 0.5 * z_bar[1:] * y\nz_bar[1:] = 0.0",
        ),
        (
            "'L2: s'\nk = z_bar[n]\nz_bar[n] = 0.0\nx_bar = -k / y[n]",
            "'L2: s'\nx_bar = -z_bar[n] / y[n]\nz_bar[n] = 0.0",
        ),
    ],
)
def test_taken_before_it_is_cleared(before, expected):
    end = "\nreturn z_bar"
    found = after(taken, ARRAY + before + end, "k")
    assert found == normal(body(ARRAY + expected + end))


@pytest.mark.parametrize(
    "lines",
    [
        # Read again, or not at once.
        "t = z_bar[1:].copy()\nz_bar[1:] = 0.0\nx_bar = 0.5 * t\ny_bar = t * y",
        "t = z_bar[1:].copy()\nz_bar[1:] = 0.0\ny = y + 1.0\nx_bar = 0.5 * t",
        # The array is read besides, or another place of it is cleared.
        "t = z_bar[1:].copy()\nz_bar[1:] = 0.0\nx_bar = t * z_bar[1:]",
        "u = z_bar[1:]\nt = z_bar[1:].copy()\nz_bar[1:] = 0.0\nx_bar = t * u",
        "t = z_bar[1:].copy()\nz_bar[:1] = 0.0\nx_bar = t * y",
        # What is made may share memory with the part.
        "t = z_bar[1:].copy()\nz_bar[1:] = 0.0\nx_bar = t",
        "t = z_bar[1:].copy()\nz_bar[1:] = 0.0\nx_bar = [t] * n",
        "t = z_bar[1:].copy()\nz_bar[1:] = 0.0\nx_bar = 0.5 * g(t)",
        # The index changes with it, and a view is no copy.
        "t = z_bar[n].copy()\nz_bar[n] = 0.0\nn = t * 2.0",
        "t = z_bar[1:]\nz_bar[1:] = 0.0\nx_bar = 0.5 * t",
    ],
)
def test_taken_only_where_nothing_is_in_the_way(lines):
    whole = ARRAY + lines + "\nreturn z_bar"
    assert after(taken, whole) == normal(body(whole))
