"""What is refused, with its place and what to write instead."""

from __future__ import annotations

import builtins
import sys

import gast
import pytest

from sct.errors import SctError, UnsupportedError
from sct.fence import REFUSED, check

from .programs import tree_of

ROWS = [
    ("def f(x):\n    yield x\n", "generator", 2, 5),
    ("def f(x):\n    y = yield from x\n", "generator", 2, 9),
    ("def f(x):\n    def g():\n        yield x\n", "generator", 3, 9),
    ("def f(x):\n    class A:\n        pass\n", "`class`", 2, 5),
    ("def f(x):\n    async def g():\n        pass\n", "`async`", 2, 5),
    ("def f(x):\n    async for v in x:\n        pass\n", "`async`", 2, 5),
    ("def f(x):\n    async with x:\n        pass\n", "`async`", 2, 5),
    ("def f(x):\n    y = await x\n", "`async`", 2, 9),
    ("def f(x):\n    return [v async for v in x]\n", "`async`", 2, 30),
    ("def f(x):\n    exec('y = x')\n", "`exec`", 2, 5),
    ("def f(x):\n    y = 'é', eval('x')\n", "`eval`", 2, 14),
    ("def f(x):\n    e = exec\n", "`exec`", 2, 9),
    ("def f(x):\n    return builtins.locals()['x']\n", "`locals", 2, 12),
    ("def f(x):\n    return vars()['x']\n", "`vars", 2, 12),
    ("def f(x):\n    return [(y := v) for v in x]\n", "`:=`", 2, 14),
    ("def f(x):\n    with suppress(E):\n        pass\n", "`suppress`", 2, 10),
]
GROUPS = "def f(x):\n    try:\n        y = x\n    except* E:\n        pass\n"
if sys.version_info >= (3, 11):
    ROWS.append((GROUPS, "`except\\*`", 2, 5))


def builtin(node: gast.AST) -> str | None:
    """The builtin that an expression spells, as if nothing else had its name."""
    word = getattr(node, "id", None)
    if getattr(getattr(node, "value", None), "id", None) == "builtins":
        word = node.attr
    return word if hasattr(builtins, word or "") else None


@pytest.mark.parametrize("text, message, line, column", ROWS)
def test_refused(text, message, line, column):
    tree, source = tree_of(text)
    with pytest.raises(UnsupportedError, match=message) as info:
        check(tree, source, builtin)
    error = info.value
    assert (error.lineno, error.offset) == (line, column)
    assert error.text == text.splitlines()[line - 1].strip()
    assert error.filename == "model.py"


def test_first_of_two():
    tree, source = tree_of("def f(x):\n    exec(x)\n    yield x\n")
    with pytest.raises(UnsupportedError, match="`exec`"):
        check(tree, source, builtin)


def test_accepted():
    tree, source = tree_of(
        """
        def f(x):
            g = lambda v: (w := v)
            with m(x) as y:
                assert y, "text"
            while (n := g(x)) > 1:
                x[0] += n
            try:
                import os
            except E:
                global y
                del y
            match x:
                case [1, z]:
                    pass
            return [v for v in x if vars(x)]
        """
    )
    check(tree, source, builtin)


def test_message():
    tree, source = tree_of("def loss(é, x):\n    y = 'é', (yield x)\n")
    with pytest.raises(SctError) as info:
        check(tree, source, builtin)
    lines = str(info.value).splitlines()
    assert lines[1] == '  File "model.py", line 2, in loss'
    assert lines[2] == "    y = 'é', (yield x)"
    assert lines[3] == "              ^^^^^^^"
    assert lines[4].startswith("  Collect")


def test_table_says_why_and_what_instead():
    for entry in REFUSED.values():
        what, why, instead = entry
        assert what and why and instead.endswith(".")
