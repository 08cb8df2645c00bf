"""Names that pick: with one of them in its brackets, ``a[n]`` is a copy, never a part.

Arrays, lists and truth values pick; integers and slices do not.
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from sct.arguments import parameter_names
from sct.operations import Operation

from . import dataflow
from .shapes import Shapes

# What gives arrays of indices, or tuples of them.
MAKERS = (
    np.arange, np.argpartition, np.argsort, np.argwhere, np.array, np.asarray,
    np.diag_indices, np.flatnonzero, np.ix_, np.lexsort, np.nonzero, np.tril_indices,
    np.triu_indices, np.unique, np.where,
)  # fmt: skip


def picking(
    fn: gast.FunctionDef, found: Shapes, operation: Callable[[gast.AST], Operation]
) -> set[str]:
    """The names that hold arrays, lists or truth values wherever they are bound.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    found : Shapes
        What is known of its names.
    operation : callable
        ``operation(expr) -> Operation``.
    """
    names = dict.fromkeys(parameter_names(fn), False)
    for n, fact in found.points.get(dataflow.start(fn.body), {}).items():
        names[n] = fact.array
    for stmt, facts in found.targets.items():
        made = getattr(stmt, "value", None)
        picks = isinstance(made, (gast.Compare, gast.List))
        if isinstance(made, gast.Call):
            callee = operation(made).callee
            picks = any(callee is maker for maker in MAKERS)
        for n, fact in facts.items():
            names[n] = names.get(n, True) and (picks or fact.array or bool(fact.rank))
    return {n for n, picks in names.items() if picks}
