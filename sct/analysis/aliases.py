"""Which names may refer to the same array.

Two names are joined when one is assigned from the other by something that need not
make a new array: a copy, a subscript, a transpose, a call of which nothing is known.
The classes do not depend on the order of statements: they are an upper bound.

    y = x * 1.0      # a new array
    z = y            # z and y
    v = y[1:]        # v, z and y
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from sct import grammar
from sct.analysis.shapes import REDUCTIONS, TO_SCALAR, pointwise
from sct.operations import Operation

FRESH = {
    np.matmul, np.outer, np.cross, np.kron, np.concatenate, np.stack, np.hstack,
    np.vstack, np.column_stack, np.copy, np.zeros_like, np.ones_like, np.full_like,
    np.array, np.where, np.cumsum, np.cumprod, np.tile, np.repeat, np.linalg.inv,
    np.linalg.solve, np.linalg.cholesky, np.zeros, np.ones, np.full, np.eye, np.arange,
    np.linspace, np.ndarray.flatten, np.clip, np.inner, np.tensordot, np.diff, np.roll,
} | REDUCTIONS | TO_SCALAR  # fmt: skip


class Aliases:
    """The alias classes of a function.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    classify : callable
        ``classify(expr) -> Operation``.
    """

    def __init__(self, fn: gast.FunctionDef, classify: Callable[[gast.AST], Operation]):
        self._parent: dict[str, str] = {}
        self._size: dict[str, int] = {}
        for stmt in grammar.statements(fn.body):
            if not isinstance(stmt, gast.Assign):
                continue
            names = [n for t in stmt.targets for n in grammar.target_names(t)]
            for source in _sources(classify(stmt.value)):
                for n in names:
                    self._join(n, source)

    def shared(self, name: str) -> bool:
        """Whether another name may refer to the array of `name`."""
        return self._size.get(self._find(name), 1) > 1

    def _find(self, name: str) -> str:
        while self._parent.get(name, name) != name:
            name = self._parent[name]
        return name

    def _join(self, a: str, b: str) -> None:
        a, b = self._find(a), self._find(b)
        if a == b:
            return
        small, large = sorted((a, b), key=lambda n: self._size.get(n, 1))
        self._parent[small] = large
        self._size[large] = self._size.get(small, 1) + self._size.get(large, 1)


def _sources(op: Operation) -> tuple[str, ...]:
    """The names whose array the result of an operation may be or see into."""
    if op.kind == "constant" and not isinstance(op.node, gast.Name):
        return ()
    if pointwise(op) or is_fresh(op.callee):
        return ()
    return tuple(sorted(grammar.names_read(op.node)))


def is_fresh(callee: object) -> bool:
    """Whether a function always returns a new array."""
    return callee.__hash__ is not None and callee in FRESH
