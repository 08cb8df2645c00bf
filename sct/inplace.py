"""In-place calls as assignments to what they write into.

::

    np.add(p, q, out=v)               result = np.add(p, q); v[...] = result
    v.fill(c)                 ──►     v[...] = c
    np.copyto(v, e)                   v[...] = e
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from sct import grammar
from sct.names import Names
from sct.operations import Operation

FUNCTIONS = (type(np.sum), type(np.dot))


def in_place_forms(
    fn: gast.FunctionDef, classify: Callable[[gast.AST], Operation], names: Names
) -> gast.FunctionDef:
    """In-place calls as assignments to what they write into; a new tree."""
    fn = grammar.clone(fn)

    def block(body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for stmt in body:
            for inner in grammar.BLOCKS:
                if getattr(stmt, inner, None) and not isinstance(
                    stmt, gast.FunctionDef
                ):
                    setattr(stmt, inner, block(getattr(stmt, inner)))
            out += _lowered(stmt, classify, names)
        return out

    fn.body = block(fn.body)
    return fn


def _lowered(stmt, classify, names: Names) -> list[gast.AST]:
    value = getattr(stmt, "value", None)
    if not isinstance(stmt, (gast.Assign, gast.Expr)) or not isinstance(
        value, gast.Call
    ):
        return [stmt]
    op = classify(value)
    if isinstance(op.callee, np.ufunc) and op.callee.nout == 1:
        # np.add(x, y, z) is np.add(x, y, out=z).
        value.keywords += [gast.keyword("out", a) for a in value.args[op.callee.nin :]]
        del value.args[op.callee.nin :]
    written = [k for k in value.keywords if k.arg == "out"]
    if written and isinstance(op.callee, (np.ufunc, *FUNCTIONS)):
        target = written[0].value
        if isinstance(target, gast.Tuple) and len(target.elts) == 1:
            target = target.elts[0]
        value.keywords.remove(written[0])
        made = names.fresh("result")
        store = _store(target, grammar.name(made), stmt)
        lines = [grammar.assign(made, value, stmt), store]
        if isinstance(stmt, gast.Assign):
            lines.append(grammar.assign(stmt.targets[0], grammar.clone(target), stmt))
        return lines
    if isinstance(stmt, gast.Expr):
        func = value.func
        if op.callee is np.copyto and len(value.args) == 2 and not value.keywords:
            return [_store(value.args[0], value.args[1], stmt)]
        method = isinstance(func, gast.Attribute) and grammar.is_name(func.value)
        if method and func.attr == "fill" and len(value.args) == 1:
            return [_store(func.value, value.args[0], stmt)]
    return [stmt]


def _store(target: gast.AST, value: gast.AST, at: gast.AST) -> gast.AST:
    """``target[...] = value``."""
    place = gast.Subscript(
        grammar.clone(target), grammar.constant(Ellipsis), gast.Store()
    )
    return grammar.assign(place, value, at)
