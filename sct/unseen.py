"""Effects that no rule sees: what would carry a derivative away, or change a value."""

from __future__ import annotations

import gast

from sct import grammar, purity
from sct.analysis import dataflow
from sct.analysis.complexes import is_real_only
from sct.arguments import parameter_names
from sct.classes import LIBRARIES
from sct.context import Context
from sct.errors import unsupported
from sct.operations import Resolver, unwrap
from sct.refusals import (
    COMPLEX,
    IN_PLACE,
    JOINED,
    MANAGED,
    SHARED,
    WRITES,
    refusal,
)
from sct.resolve import MISSING, hashable
from sct.sharing import writes_into


def refuse_unknown_effects(
    context: Context,
    resolve: Resolver,
    groups: dict[str, frozenset[str]],
    scalars: set[str],
) -> None:
    """Refuse what may carry a varied value away, or change one, unseen by any rule."""
    _keep_from_objects(context)
    shared = grammar.outer_names(context.fn.body)
    local = grammar.all_writes(context.fn.body) | set(parameter_names(context.fn))
    elsewhere = _calls_others(context)
    tuples = [
        s for s, o in context.operations.items() if isinstance(o.node, gast.Tuple)
    ]
    joined = context.containers.certain.union(*map(grammar.writes, tuples))
    needed = {
        n
        for stmt, op in context.operations.items()
        if context.activity.varied.get(stmt)
        for n in grammar.reads(stmt) & local | set(op.operands)
    }
    for stmt in grammar.statements(context.fn.body):
        if isinstance(stmt, gast.With):
            active = context.activity.points[dataflow.start(stmt.body)]
            if active.intersection(grammar.writes(stmt)):
                manager = stmt.items[0].context_expr
                raise unsupported(context.source, manager, *MANAGED)
    for stmt, op in context.operations.items():
        varied = context.activity.varied.get(stmt)
        written = shared.intersection(grammar.writes(stmt))
        if varied and written and (elsewhere or op.kind != "copy"):
            raise unsupported(context.source, stmt, *SHARED)
        if isinstance(op.node, gast.BinOp):
            if varied and joined & set(varied):
                raise unsupported(context.source, op.node, "this expression", *JOINED)
        if not isinstance(op.node, gast.Call) or op.kind == "hook":
            continue
        if varied and context.complexes & set(varied):
            if not hashable(op.callee) or is_real_only(op):
                raise unsupported(context.source, op.node, "this call", *COMPLEX)
        if any(op.callee is check for check in purity.CHECKS):
            continue
        if op.kind == "call" and writes_into(unwrap(op.callee)):
            raise unsupported(context.source, op.node, "this call", *WRITES)
        silent = op.kind in ("append", "call") or op.callee is print
        silent = silent or _sets_attribute(op)
        if not silent and isinstance(stmt, gast.Expr) and not purity.pure(op, resolve):
            given = grammar.reads(stmt) - scalars - context.structures
            if needed & given.union(*[groups.get(n, ()) for n in given]):
                raise unsupported(context.source, op.node, "this call", *IN_PLACE)
        if not varied:
            continue
        unseen = op.kind == "opaque" and op.callee is not print
        if unseen and not purity.pure(op, resolve):
            raise refusal(context.source, op)
        if op.kind == "call" and not context.activity.targets.get(stmt):
            if not purity.keeps_arguments(unwrap(op.callee)):
                raise unsupported(context.source, op.node, "this call", *IN_PLACE)


def _calls_others(context: Context) -> bool:
    """Whether a function calls another, which may read what it writes elsewhere."""
    for op in context.operations.values():
        module = (getattr(op.callee, "__module__", None) or "").split(".")[0]
        if op.kind == "call" and module not in LIBRARIES:
            return True
        if op.kind == "opaque" and isinstance(op.node, gast.Call):
            if op.callee is MISSING:
                return True
    return False


def _sets_attribute(op) -> bool:
    """Whether a call is what `attributes` made of ``m.calls = e``."""
    name = op.node.args[1] if op.callee is setattr and len(op.node.args) > 1 else None
    return isinstance(name, gast.Constant)


def _keep_from_objects(context: Context) -> None:
    """Leave it to the caller to put an active value into one of its objects.

    What the function reads afterwards it has in a variable (`attributes`).
    """
    given = set(parameter_names(context.fn))

    def block(body: list[gast.AST]) -> None:
        for inner in [b for s in body for b in grammar.blocks(s)]:
            block(inner)
        kept = []
        for stmt in body:
            op = context.operations.get(stmt)
            varied = op is not None and context.activity.varied.get(stmt)
            if varied and _sets_attribute(op):
                if grammar.root(op.node.args[0]) not in given:
                    if _calls_others(context):
                        raise unsupported(context.source, stmt, *SHARED)
                    kept.append(stmt)
                del context.operations[stmt]
                continue
            kept.append(stmt)
        body[:] = kept or [grammar.located(gast.Pass(), body[0])]

    block(context.fn.body)
