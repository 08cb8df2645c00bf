"""The Python that can be differentiated: one table of what cannot.

`check` raises for the first refused construct of a function, at its line and
column, saying why and what to write instead::

    yield x      ->  a generator cannot be differentiated: its statements run ...
                       File "model.py", line 12, in loss
                       ...
                       Collect the values in a list and return it.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .errors import unsupported
from .grammar import statements

_GROUPS = (
    "`except*`",
    "several of its handlers may run, one for each part of a group",
    "Use `except`, or move the `try` into the caller.",
)
_ASYNC = (
    "`async` code",
    "its statements interleave with those of other tasks",
    "Write the computation as plain statements in a `def`.",
)
_YIELD = (
    "a generator",
    "its statements run a few at a time, between those of its caller",
    "Collect the values in a list and return it.",
)
REFUSED: dict[type, tuple[str, str, str]] = {
    gast.TryStar: _GROUPS,
    gast.AsyncFunctionDef: _ASYNC,
    gast.AsyncFor: _ASYNC,
    gast.AsyncWith: _ASYNC,
    gast.Await: _ASYNC,
    gast.Yield: _YIELD,
    gast.YieldFrom: _YIELD,
    gast.ClassDef: (
        "a `class` inside a function",
        "its body is not part of the computation",
        "Define the class at the top of the module.",
    ),
}
WALRUS = (
    "`:=` inside a comprehension",
    "it assigns once for every element",
    "Write the comprehension as a `for` loop.",
)
UNSEEN = (
    "use of `eval`, `exec`, `locals()` or `vars()`",
    "it reaches the variables of the function by way of strings, unseen",
    "Write the names, expressions or statements themselves.",
)
# `vars(x)` is about `x`; without an argument it is `locals()`.
BY_STRINGS = {"eval", "exec", "locals", "vars"}
NONLOCAL = (
    "`nonlocal` in a function that is not written out where it is called",
    "it writes a variable of the function around it, unseen",
    "Take the variable as a parameter and return its new value.",
)
SUPPRESS = (
    "`suppress`",
    "which of the statements inside ran is known only while they run",
    "Test the condition beforehand with `if`.",
)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def check(tree: gast.FunctionDef, source, is_builtin: Callable) -> None:
    """Refuse a function that holds a construct that cannot be differentiated.

    Parameters
    ----------
    tree : gast.FunctionDef
        The function as the user wrote it.
    source : Source
        Where it was written.
    is_builtin : callable
        The builtin that an expression denotes, as a word, or None.

    Raises
    ------
    UnsupportedError
        For the first such construct of the text.
    """
    found = []
    about: set[int] = set()
    stack = [(tree, False)]
    while stack:
        node, inside = stack.pop()
        if type(node) in REFUSED:
            found.append((node, REFUSED[type(node)]))
        if inside and isinstance(node, gast.NamedExpr):
            found.append((node, WALRUS))
        if isinstance(node, gast.comprehension) and node.is_async:
            found.append((node.iter, _ASYNC))
        if isinstance(node, gast.Call) and node.args:
            if is_builtin(node.func) == "vars":
                about.add(id(node.func))
        if isinstance(node, (gast.Name, gast.Attribute)) and id(node) not in about:
            if is_builtin(node) in BY_STRINGS:
                found.append((node, UNSEEN))
        if isinstance(node, gast.withitem) and _suppresses(node.context_expr):
            found.append((node.context_expr, SUPPRESS))
        # A lambda's own variables are nobody else's.
        inside = inside or isinstance(node, COMPREHENSIONS)
        inside = inside and not isinstance(node, gast.Lambda)
        stack.extend((child, inside) for child in gast.iter_child_nodes(node))
    if found:
        node, entry = min(found, key=lambda f: (f[0].lineno, f[0].col_offset))
        raise unsupported(source, node, *entry)


def check_outer(fn: gast.FunctionDef, source) -> None:
    """Refuse local functions that stay and write a variable of the one around them.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function whose local functions are written out where they can be.
    source : Source
        Where it was written.
    """
    for stmt in statements(fn.body):
        if isinstance(stmt, gast.FunctionDef):
            for inner in gast.walk(stmt):
                if isinstance(inner, gast.Nonlocal):
                    raise unsupported(source, inner, *NONLOCAL)


def _suppresses(manager: gast.AST) -> bool:
    func = getattr(manager, "func", None)
    return "suppress" in (getattr(func, "id", None), getattr(func, "attr", None))
