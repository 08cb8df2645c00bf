"""Adjoints of objects, which derivatives fill part by part, as dicts of their parts.

::

    m_bar = zero_structure(m)            m_bar = zero_structure(m)
    m_bar.w += out_bar          ->       m_bar["w"] += out_bar
    w_bar = m_bar.w                      w_bar = m_bar["w"]

What derivatives make for an object is no object of a user's class, but `Parts`, which
gives its parts by either spelling.  Written so, it is differentiated as a dict is.
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from .grammar import (
    clone,
    constant,
    root,
    statements,
    target_names,
)
from .runtime import added, filled, zero_structure

MAKERS = (added, filled, zero_structure)


def parts_by_name(fn: gast.FunctionDef, resolve: Callable) -> gast.FunctionDef:
    """Write the parts of adjoints that are filled as items.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    resolve : callable
        The object that a name denotes.

    Returns
    -------
    gast.FunctionDef
        The same tree when no attribute of such an adjoint is written.
    """
    stored = {root(t) for s in statements(fn.body) for t in _attributes_stored(s)}
    if not stored:
        return fn
    bound: dict[str, list[gast.AST]] = {}
    for s in statements(fn.body):
        for target in getattr(s, "targets", None) or [getattr(s, "target", None)]:
            for n in target_names(target):
                bound.setdefault(n, []).append(getattr(s, "value", None))
    grown = {n for n in bound if _is_grown(bound[n], resolve)}
    while more := {
        n
        for n in bound.keys() - grown
        if all(_steps(v) and root(v) in grown for v in bound[n])
    }:
        grown |= more
    if stored.isdisjoint(grown):
        return fn
    fn = clone(fn)
    work = _ByName(grown)
    for s in statements(fn.body):
        for field, old in gast.iter_fields(s):
            if isinstance(old, gast.AST):
                setattr(s, field, work.visit(old))
            elif field == "targets":
                s.targets = [work.visit(t) for t in old]
    return fn


def _attributes_stored(s: gast.AST) -> list[gast.AST]:
    targets = getattr(s, "targets", None) or [getattr(s, "target", None)]
    return [n for t in targets for n in _steps(t) if isinstance(n, gast.Attribute)]


def _steps(place: gast.AST | None) -> list[gast.AST]:
    """The subscripts and attributes that lead to what is written."""
    steps = []
    while isinstance(place, (gast.Subscript, gast.Attribute)):
        steps.append(place)
        place = place.value
    return steps


def _is_grown(values: list[gast.AST], resolve: Callable) -> bool:
    """Whether a name is bound to what derivatives make for an object."""
    return any(isinstance(v, gast.Call) and resolve(v.func) in MAKERS for v in values)


class _ByName(gast.NodeTransformer):
    """Writes the parts of some names as items, in the head of one statement."""

    def __init__(self, grown: set[str]):
        self.grown = grown

    def visit_Call(self, node):
        node.args = [self.visit(a) for a in node.args]
        node.keywords = [self.visit(k) for k in node.keywords]
        # A method is no part.
        if isinstance(node.func, gast.Attribute):
            node.func.value = self.visit(node.func.value)
        return node

    def visit_Attribute(self, node):
        node = self.generic_visit(node)
        if root(node) not in self.grown or hasattr(np.ndarray, node.attr):
            return node
        return gast.Subscript(node.value, constant(node.attr), node.ctx)
