"""What is refused, with its place and what to write instead."""

from __future__ import annotations

import pytest

from sct.errors import SctError, UnsupportedError
from sct.fence import REFUSED, check

from .programs import tree_of

ROWS = [
    ("def f(x):\n    try:\n        y = x\n    finally:\n        pass\n", "`try`", 2, 5),
    ("def f(x):\n    yield x\n", "generator", 2, 5),
    ("def f(x):\n    y = yield from x\n", "generator", 2, 9),
    ("def f(x):\n    global y\n", "`global`", 2, 5),
    ("def f(x):\n    def g():\n        nonlocal x\n", "`nonlocal`", 3, 9),
    ("def f(x):\n    import os\n", "`import`", 2, 5),
    ("def f(x):\n    from os import path\n", "`import`", 2, 5),
    ("def f(x):\n    if x:\n        del x\n", "`del`", 3, 9),
    ("def f(x):\n    class A:\n        pass\n", "`class`", 2, 5),
    ("def f(x):\n    match x:\n        case 1:\n            pass\n", "`match`", 2, 5),
    ("def f(x):\n    async def g():\n        pass\n", "`async`", 2, 5),
    ("def f(x):\n    return [(y := v) for v in x]\n", "`:=`", 2, 14),
    ("def f(x):\n    with suppress(E):\n        pass\n", "`suppress`", 2, 10),
]


@pytest.mark.parametrize("text, message, line, column", ROWS)
def test_refused(text, message, line, column):
    tree, source = tree_of(text)
    with pytest.raises(UnsupportedError, match=message) as info:
        check(tree, source)
    error = info.value
    assert (error.lineno, error.offset) == (line, column)
    assert error.text == text.splitlines()[line - 1].strip()
    assert error.filename == "model.py"


def test_first_of_two():
    tree, source = tree_of("def f(x):\n    del x\n    import os\n")
    with pytest.raises(UnsupportedError, match="`del`"):
        check(tree, source)


def test_accepted():
    tree, source = tree_of(
        """
        def f(x):
            g = lambda v: (w := v)
            with m(x) as y:
                assert y, "text"
            while (n := g(x)) > 1:
                x[0] += n
            return [v for v in x]
        """
    )
    check(tree, source)


def test_message():
    tree, source = tree_of("def loss(é, x):\n    y = 'é', (yield x)\n")
    with pytest.raises(SctError) as info:
        check(tree, source)
    lines = str(info.value).splitlines()
    assert lines[1] == '  File "model.py", line 2, in loss'
    assert lines[2] == "    y = 'é', (yield x)"
    assert lines[3] == "              ^^^^^^^"
    assert lines[4].startswith("  Collect")


def test_table_says_why_and_what_instead():
    for entry in REFUSED.values():
        what, why, instead = entry
        assert what and why and instead.endswith(".")
