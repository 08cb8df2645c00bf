"""A failing program made small: statements go, blocks open, expressions collapse.

for i in range(3):            x = a * u[1]
    x = a * u[1]       ->     return x
return x * np.sin(b)
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator


def shrink(text: str, fails: Callable[[str], bool], rounds: int = 600) -> str:
    """The smallest text found that still fails.

    Parameters
    ----------
    text : str
        A module that fails.
    fails : callable
        Whether another module fails in the same way.
    rounds : int
        How many candidates to try.
    """
    again = True
    while again and rounds > 0:
        again = False
        for smaller in candidates(text):
            rounds -= 1
            if len(smaller) < len(text) and fails(smaller):
                text, again = smaller, True
                break
            if rounds <= 0:
                break
    return text


def candidates(text: str) -> Iterator[str]:
    """Texts with one thing less, the greatest cuts first."""
    tree = ast.parse(text)
    for edit in _edits(tree):
        new = copy.deepcopy(tree)
        edit(list(ast.walk(new)))
        yield ast.unparse(ast.fix_missing_locations(new))


def _edits(tree: ast.AST) -> Iterator[Callable[[list], None]]:
    for index, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for k, s in enumerate(value):
                    if len(value) > 1 or name == "orelse":
                        yield _replace(index, name, k, [])
                    for inner in ("body", "orelse"):
                        held = getattr(s, inner, None)
                        if held and not isinstance(s, ast.FunctionDef):
                            yield _replace(index, name, k, held)
    for index, node in enumerate(ast.walk(tree)):
        for name, value in ast.iter_fields(node):
            if name in ("func", "targets", "target", "slice", "test"):
                continue
            if isinstance(value, ast.expr) and not isinstance(
                value, (ast.Name, ast.Constant)
            ):
                for part in ast.iter_child_nodes(value):
                    if isinstance(part, ast.expr):
                        yield _set(index, name, part)


def _replace(index: int, name: str, k: int, new: list) -> Callable[[list], None]:
    def edit(nodes: list) -> None:
        getattr(nodes[index], name)[k : k + 1] = copy.deepcopy(new)

    return edit


def _set(index: int, name: str, new: ast.expr) -> Callable[[list], None]:
    def edit(nodes: list) -> None:
        setattr(nodes[index], name, copy.deepcopy(new))

    return edit
