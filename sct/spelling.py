"""What a rule says, in the names of the library that the function is written with.

::

    scale = cp.expand_dims(out_bar, (-1, -2))  ──►  scale = expanded_array(...)

CuPy's `expand_dims` takes arrays, and an adjoint may be a number.  What the library
lacks is refused: at the call whose derivative needs it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
import types
from collections.abc import Callable, Iterator

import gast

from sct import grammar
from sct.backends import NUMPY, Backend, library
from sct.errors import unsupported
from sct.helpers import HELPERS, is_helper
from sct.operations import Operation, Resolver


def respelled(
    nodes: list[gast.AST],
    backend: Backend,
    resolve: Resolver,
    use: Callable[[str, str], str],
    source: object,
    op: Operation,
    is_array: Callable[[gast.AST], bool],
) -> list[gast.AST]:
    """What a rule says, as it is said in another library.

    Parameters
    ----------
    nodes : list of gast.AST
        Statements and expressions, which are changed.
    backend : Backend
        The library.
    resolve : Resolver
        What names denote.
    use : callable
        ``use("helper", name)``: the name in the function of a helper.
    source : Source
        Where the function comes from.
    op : Operation
        The operation whose derivative they are.
    is_array : callable
        Whether what an expression gives certainly is an array.

    Returns
    -------
    list of gast.AST

    Raises
    ------
    UnsupportedError
        When the library lacks something.
    """
    if backend is NUMPY:
        return nodes
    work = _Respelled(backend, resolve, use, is_array, op)
    nodes = [work.visit(n) for n in nodes]
    if work.lacking:
        raise unsupported(
            source,
            op.node,
            "this call",
            f"its derivative needs {' and '.join(sorted(work.lacking))}, and "
            f"{backend.name} has no such function",
            f"Write it with other functions of {backend.name}, or give it a rule of "
            "your own with `@sct.adjoint`.",
        )
    return nodes


class _Respelled(gast.NodeTransformer):
    def __init__(self, backend: Backend, resolve: Resolver, use, is_array, op):
        self.backend, self.resolve, self.use = backend, resolve, use
        self.is_array, self.op = is_array, op
        self.lacking: set[str] = set()

    def visit_Call(self, node):
        module, path = self.spelled(node.func)
        if module == "numpy" and path in self.backend.otherwise:
            if not (self.is_array(node.args[0]) or self.is_first(node.args[0])):
                word = self.use("helper", self.backend.otherwise[path])
                node.func = gast.Name(word, gast.Load(), None, None)
        return self.generic_visit(node)

    def is_first(self, node: gast.AST) -> bool:
        """Whether the function itself has been given something for its first array."""
        op = self.op
        if op.rule.pointwise or library(op.callee) is not NUMPY or not op.inputs:
            return False
        return isinstance(node, gast.Name) and grammar.is_name(op.inputs[0], node.id)

    def visit_Attribute(self, node):
        module, path = self.spelled(node)
        if not module:
            return self.generic_visit(node)
        if self.backend.lacks(module, path):
            self.lacking.add(f"`{module}.{path}`")
        return node

    def spelled(self, node: gast.AST) -> tuple[str, str]:
        """The module of NumPy's or SciPy's that is meant, and what of it."""
        parts: list[str] = []
        while isinstance(node, gast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        module = self.resolve(node) if isinstance(node, gast.Name) else None
        if not parts or not isinstance(module, types.ModuleType):
            return "", ""
        return module.__name__, ".".join(parts)

    def visit_Name(self, node):
        value = self.resolve(node)
        if is_helper(value):
            self.lacking |= lacking(value.__name__, self.backend)
        return node


def lacking(name: str, backend: Backend) -> set[str]:
    """What a library lacks of what a helper, and those it calls, say."""
    pending, found = [name], set()
    for n in pending:  # grows meanwhile
        said, called = _said(n)
        pending += [c for c in called if c not in pending]
        found |= {f"`{m}.{path}`" for m, path in said if backend.lacks(m, path)}
    return found


@functools.cache
def _said(name: str) -> tuple[set[tuple[str, str]], set[str]]:
    """What a helper says of modules, and which helpers it mentions."""
    helper = HELPERS[name]
    space = vars(inspect.getmodule(helper))
    tree = ast.parse(textwrap.dedent(inspect.getsource(helper)))
    names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    said = {
        (space[root].__name__, path)
        for root, path in _chains(tree)
        if isinstance(space.get(root), types.ModuleType)
    }
    return said, {n for n in names if n in HELPERS and space.get(n) is HELPERS[n]}


def _chains(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """The chains of attributes in a tree, each by its first name and the rest."""
    inner = {n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node in inner:
            continue
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.insert(0, node.attr)
            node = node.value
        if isinstance(node, ast.Name):
            yield node.id, ".".join(parts)
