"""Statement forms: pairs, what stays, and that meaning stays."""

from __future__ import annotations

import time

import gast
import pytest

from sct.anf import anf
from sct.desugar import desugar
from sct.errors import UnsupportedError

from .programs import Program, World, assert_one_exit, text_of, tree_of

PAIRS = [
    ("x: float = a", "x = a"),
    ("x: float", ""),
    ("a = b = x + 1", "a = x + 1\nb = a"),
    ("a = b = x", "a = x\nb = x"),
    ("x[0] = b = f(a)", "f_value = f(a)\nx[0] = f_value\nb = f_value"),
    ("a, b = x, 1", "a = x\nb = 1"),
    ("a, b = b, a", "a_next = b\nb = a\na = a_next"),
    ("a, b = b, a + b", "a_next = b\nb = a + b\na = a_next"),
    ("a, (b, c) = x", "a, item = x\nb, c = item"),
    ("[a, b] = x", "a, b = x"),
    ("a, *b = x", "a, *b = x"),
    ("a, *b = x, 1, 2", "a = x\nb = [1, 2]"),
    ("a = b if x else c", "if x:\n    a = b\nelse:\n    a = c"),
    ("a = b or c", "a = b\nif not a:\n    a = c"),
    ("a = b and a", "choice = b\nif choice:\n    choice = a\na = choice"),
    ("a = f(x) + (y := 2) * y", "f_value = f(x)\ny = 2\na = f_value + y * y"),
    ("a = x + (x := 2)", "x_2 = x\nx = 2\na = x_2 + x"),
    ("x += (x := 2)", "x_2 = x\nx = 2\nx_2 += x\nx = x_2"),
    (
        "a = np.exp(x * 2) + (b if c else x)",
        "exp = np.exp(x * 2)\nif c:\n    choice = b\nelse:\n    choice = x\n"
        "a = exp + choice",
    ),
    (
        "while (n := f(x)) > 1:\n    a = n",
        "while True:\n    n = f(x)\n    if not n > 1:\n        break\n"
        "    else:\n        a = n",
    ),
    (
        "if a and (b := x):\n    c = b",
        "choice = a\nif choice:\n    b = x\n    choice = b\nif choice:\n    c = b",
    ),
    ("for v in x:\n    a = v", "for i in range(len(x)):\n    v = x[i]\n    a = v"),
    (
        "for k, v in enumerate(x):\n    a = v",
        "for k in range(len(x)):\n    v = x[k]\n    a = v",
    ),
    (
        "for k, (v, w) in enumerate(zip(x, b), 1):\n    a = v",
        "for i in range(min(len(x), len(b))):\n    k = 1 + i\n    v = x[i]\n"
        "    w = b[i]\n    a = v",
    ),
    (
        "for v in reversed(x):\n    a = v",
        "for i in range(len(x)):\n    v = x[-1 - i]\n    a = v",
    ),
    (
        "for v in x:\n    x = v",
        "x_2 = x\nfor i in range(len(x_2)):\n    v = x_2[i]\n    x = v",
    ),
    (
        "for k, v in x.items():\n    a = v",
        "items = list(x.items())\nfor i in range(len(items)):\n"
        "    k, v = items[i]\n    a = v",
    ),
    (
        "for k in range(a):\n    if x:\n        continue\n    b = k",
        "for k in range(a):\n    if not x:\n        b = k",
    ),
    (
        "for k in range(a):\n    if x:\n        break\nelse:\n    b = k",
        "broken = False\nfor k in range(a):\n    if x:\n        broken = True\n"
        "        break\n"
        "if not broken:\n    b = k",
    ),
    (
        "a = [v for v in x if v]",
        "a = []\nfor i in range(len(x)):\n    v = x[i]\n    if v:\n        a.append(v)",
    ),
    (
        "a = {f(v): v for v in range(x)}",
        "a = {}\nfor v in range(x):\n    key = f(v)\n    a[key] = v",
    ),
    (
        "v = a\nx = b + max(v * x for v in range(2))",
        "v = a\nitems = []\nfor v_2 in range(2):\n    items.append(v_2 * x)\n"
        "x = b + max(items)",
    ),
    ("del a, b[x]", "del b[x]"),
    (
        "try:\n    a = f(x)\nexcept E as e:\n    a = g(e)\nelse:\n    b = a",
        "try:\n    f(x)\nexcept E as caught:\n    failed = True\n"
        "    error = caught\nelse:\n    failed = False\n    error = None\n"
        "if failed:\n    e_2 = error\n    a = g(e_2)\nelse:\n    a = f(x)\n    b = a",
    ),
    (
        "try:\n    a = f(x)\nexcept E:\n    raise\nexcept F:\n    pass",
        "try:\n    f(x)\nexcept E as caught:\n    failed = 1\n    error = caught\n"
        "except F as caught_2:\n    failed = 2\n    error = caught_2\n"
        "else:\n    failed = 0\n    error = None\n"
        "if failed == 1:\n    raise error\nelif failed == 2:\n    pass\n"
        "else:\n    a = f(x)",
    ),
    (
        "try:\n    a = x\nfinally:\n    b = a",
        "a = x\nb = a",
    ),
    (
        "match x:\n    case 1 | 2:\n        a = b\n    case c if c > b:\n"
        "        a = c\n    case _:\n        pass",
        "if x == 1 or x == 2:\n    a = b\nelse:\n    c = x\n    if c > b:\n"
        "        a = c\n    else:\n        pass",
    ),
    (
        "match x, b:\n    case 0, None:\n        a = b\n    case 0, c:\n        a = c",
        "if x == 0 and b is None:\n    a = b\nelif x == 0:\n    c = b\n    a = c",
    ),
    (
        "match f(x):\n    case [p, *_, {'k': q}] if p:\n        c = p * q\n"
        "    case _:\n        c = x",
        "subject = f(x)\nmatch subject:\n"
        "    case [p_2, *_, {'k': q_2}] if p_2:\n        case_ = 1\n"
        "    case _:\n        case_ = 2\n"
        "if case_ == 1:\n    p = subject[0]\n    q = subject[-1]['k']\n    c = p * q\n"
        "else:\n    c = x",
    ),
]


@pytest.mark.parametrize("before, after", PAIRS)
def test_pairs(before, after):
    assert lowered(before) == after


UNCHANGED = [
    "x += a * 2",
    "x[i] += a * 2",
    "x.v = a * (b + 1)",
    "a = b < c < x",
    "a = b > 1 and c > 2",
    "a = [v * 2 for v in range(3)]",
    "a = [v - 1 for v in x.shape]",
    "a = sum([v for v in x])",
    "a = lambda v: v if v else b",
    "if a and (b or c if x else a):\n    b = 1",
    "while a or b:\n    b = f(b)",
    "for k in reversed(range(a, b)):\n    c = k",
    "with f(x) as a:\n    b = a",
    "assert a, b",
    "if x < 0:\n    raise ValueError(x)",
    "print(a + b)",
    "pass",
]


@pytest.mark.parametrize("text", UNCHANGED)
def test_unchanged(text):
    assert lowered(text) == text


def lowered(text: str) -> str:
    """The statements of a body, lowered."""
    body = "\n".join("    " + line for line in text.splitlines())
    tree, source = tree_of(f"def fn(x, a, b, c, y):\n{body}\n    return y\n")
    before = gast.dump(tree)
    out = desugar(tree, source)
    assert gast.dump(tree) == before
    lines = text_of(out).splitlines()[1:]
    assert lines.pop() == "    return y"
    return "\n".join(line[4:] for line in lines)


EXITS = [
    (
        "if a:\n    return b\nreturn -b",
        "if a:\n    out = b\nelse:\n    out = -b\nreturn out",
    ),
    (
        "if a:\n    return 1, b\nreturn 2, c",
        "if a:\n    out_1 = 1\n    out_2 = b\nelse:\n    out_1 = 2\n    out_2 = c\n"
        "return (out_1, out_2)",
    ),
    ("return a if b else c", "if b:\n    out = a\nelse:\n    out = c\nreturn out"),
    ("if a:\n    return\nb = 1", "if not a:\n    b = 1\nreturn None"),
    (
        "if a:\n    if b:\n        return 1\n    c = 2\nreturn c",
        "returned = False\nif a:\n    if b:\n        out = 1\n        returned = True\n"
        "    else:\n        c = 2\nif not returned:\n    out = c\nreturn out",
    ),
    (
        "for k in range(a):\n    if b:\n        return k\n    c = k\nreturn c",
        "returned = False\nfor k in range(a):\n    if b:\n        returned = True\n"
        "        break\n    else:\n        c = k\nif returned:\n    out = k\nelse:\n"
        "    out = c\nreturn out",
    ),
    (
        "for k in range(a):\n    for l in range(b):\n        if c:\n"
        "            return l\n"
        "return 0",
        "returned = False\nfor k in range(a):\n    for l in range(b):\n        if c:\n"
        "            returned = True\n            break\n    if returned:\n"
        "        break\n"
        "if returned:\n    out = l\nelse:\n    out = 0\nreturn out",
    ),
    (
        "while True:\n    a = f(a)\n    if b:\n        return a * 2",
        "while True:\n    a = f(a)\n    if b:\n        break\nreturn a * 2",
    ),
    (
        "for k in range(a):\n    if b:\n        return c\n    c = k\nreturn c",
        "for k in range(a):\n    if b:\n        break\n    else:\n"
        "        c = k\nreturn c",
    ),
    ("with f(a):\n    return b", "with f(a):\n    pass\nreturn b"),
    ("raise ValueError", "raise ValueError\nreturn None"),
]


@pytest.mark.parametrize("before, after", EXITS)
def test_exits(before, after):
    body = "\n".join("    " + line for line in before.splitlines())
    tree, source = tree_of(f"def fn(x, a, b, c):\n{body}\n")
    out = desugar(tree, source)
    assert_one_exit(out)
    assert "\n".join(s[4:] for s in text_of(out).splitlines()[1:]) == after


@pytest.mark.parametrize("seed", range(150))
def test_random_programs_keep_their_meaning(seed):
    program = Program(seed)
    tree, source = tree_of(program.text)
    fewer = desugar(tree, source)
    atoms = anf(fewer, source)
    assert_one_exit(fewer)
    assert text_of(desugar(fewer, source)) == text_of(fewer)
    assert text_of(anf(atoms, source)) == text_of(atoms)
    for s in range(4):
        expected = World(s).run(program.text, 1, 2, [0, 3, 1])
        assert World(s).run(text_of(fewer), 1, 2, [0, 3, 1]) == expected
        assert World(s).run(text_of(atoms), 1, 2, [0, 3, 1]) == expected


@pytest.mark.parametrize("last", ["return 0", "pass"])
@pytest.mark.parametrize("head", ["if t(%d) > 2:", "while t(%d) > 2:"])
def test_many_exits_do_not_nest(head, last):
    lines = [f"    {head % k}\n        return {k}" for k in range(1000)]
    text = "def f(a, b, x):\n" + "\n".join(lines) + f"\n    {last}\n"
    tree, source = tree_of(text)
    out = desugar(tree, source)
    assert_one_exit(out)
    printed = text_of(out)
    assert max(len(s) - len(s.lstrip()) for s in printed.splitlines()) < 4 * 30
    for s in range(5):
        assert World(s).run(printed, 1, 2, [0]) == World(s).run(text, 1, 2, [0])


def test_shadowed_builtins_are_not_builtins():
    tree, source = tree_of("def f(zip, x):\n    for a in zip(x):\n        b = a\n")
    assert "zip_ = zip(x)" in text_of(desugar(tree, source))
    tree, source = tree_of("def f(len, x):\n    for a in x:\n        b = a\n")
    with pytest.raises(UnsupportedError, match="builtin `len`"):
        desugar(tree, source)
    tree, source = tree_of("def f(x):\n    for a in enumerate(x):\n        b = a\n")
    out = desugar(tree, source, lambda n: None if n.id == "enumerate" else n.id)
    assert "enumerate_ = enumerate(x)" in text_of(out)


def test_resizing_what_is_looped_over_is_refused():
    tree, source = tree_of("def f(x):\n    for v in x:\n        x.append(v)\n")
    with pytest.raises(UnsupportedError, match="`.append`") as info:
        desugar(tree, source)
    assert (info.value.lineno, info.value.offset) == (3, 9)


def test_lines_are_the_users():
    tree, source = tree_of(
        "def f(x):\n    for v in x:\n        if v:\n            return v\n"
        "    return x\n"
    )
    out = desugar(tree, source)
    lines = [(type(s).__name__, s.lineno) for s in out.body]
    assert lines == [("Assign", 4), ("For", 2), ("If", 2), ("Return", 5)]
    assert [s.lineno for s in out.body[2].body] == [4]
    assert [s.lineno for s in out.body[2].orelse] == [5]


def test_linear_time():
    body = "    x = x + (a if x else 1)\n" * 5000
    tree, source = tree_of(f"def f(x, a):\n{body}    return x\n")
    # Quadratic work takes minutes; what else the machine does must not matter.
    start = time.process_time()
    desugar(tree, source)
    assert time.process_time() - start < 5.0
