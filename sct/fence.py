"""The Python that can be differentiated: one table of what cannot.

`check` raises for the first refused construct of a function, at its line and
column, saying why and what to write instead::

    try:                ->  `try` cannot be differentiated: which statements ...
        y = f(x)              File "model.py", line 12, in loss
                              ...
                              Test the condition beforehand with `if`.
"""

from __future__ import annotations

import gast

from .errors import unsupported

_TRY = (
    "`try`",
    "which of its statements ran is known only while it runs",
    "Test the condition beforehand with `if`, or move the `try` into the caller.",
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
_SHARED = (
    "it writes variables that other functions see",
    "Take the variable as a parameter and return its new value.",
)
_IMPORT = (
    "an `import` inside a function",
    "names must be known before the function runs",
    "Import at the top of the module.",
)

REFUSED: dict[type, tuple[str, str, str]] = {
    gast.Try: _TRY,
    gast.TryStar: _TRY,
    gast.AsyncFunctionDef: _ASYNC,
    gast.AsyncFor: _ASYNC,
    gast.AsyncWith: _ASYNC,
    gast.Await: _ASYNC,
    gast.Yield: _YIELD,
    gast.YieldFrom: _YIELD,
    gast.Global: ("`global`", *_SHARED),
    gast.Nonlocal: ("`nonlocal`", *_SHARED),
    gast.Import: _IMPORT,
    gast.ImportFrom: _IMPORT,
    gast.ClassDef: (
        "a `class` inside a function",
        "its body is not part of the computation",
        "Define the class at the top of the module.",
    ),
    gast.Delete: (
        "`del`",
        "the derivative may need the value again",
        "Leave the `del` out.",
    ),
    gast.Match: (
        "`match`",
        "patterns bind names while they are tried",
        "Write the cases as `if` ... `elif` ... `else`.",
    ),
}
WALRUS = (
    "`:=` inside a comprehension",
    "it assigns once for every element",
    "Write the comprehension as a `for` loop.",
)
SUPPRESS = (
    "`suppress`",
    "which of the statements inside ran is known only while they run",
    "Test the condition beforehand with `if`.",
)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def check(tree: gast.FunctionDef, source) -> None:
    """Refuse a function that holds a construct that cannot be differentiated.

    Parameters
    ----------
    tree : gast.FunctionDef
        The function as the user wrote it.
    source : Source
        Where it was written.

    Raises
    ------
    UnsupportedError
        For the first such construct of the text.
    """
    found = []
    stack = [(tree, False)]
    while stack:
        node, inside = stack.pop()
        if type(node) in REFUSED:
            found.append((node, REFUSED[type(node)]))
        if inside and isinstance(node, gast.NamedExpr):
            found.append((node, WALRUS))
        if isinstance(node, gast.withitem) and _suppresses(node.context_expr):
            found.append((node.context_expr, SUPPRESS))
        # A lambda's own variables are nobody else's.
        inside = inside or isinstance(node, COMPREHENSIONS)
        inside = inside and not isinstance(node, gast.Lambda)
        stack.extend((child, inside) for child in gast.iter_child_nodes(node))
    if found:
        node, entry = min(found, key=lambda f: (f[0].lineno, f[0].col_offset))
        raise unsupported(source, node, *entry)


def _suppresses(manager: gast.AST) -> bool:
    func = getattr(manager, "func", None)
    return "suppress" in (getattr(func, "id", None), getattr(func, "attr", None))
