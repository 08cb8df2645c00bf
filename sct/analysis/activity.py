"""Activity: which values need an adjoint.

A name is *varied* at a point when it depends on the inputs, *useful* when the result
depends on it, both through differentiable operations; it is *active* when it is both
(Hascoët & Pascual, *The Tapenade automatic differentiation tool*, ACM TOMS 39, 2013).

    def f(x, n):
        k = n * 2.0        # not varied in x
        y = x * k          # active
        z = np.sin(y)      # varied, not useful: nothing is emitted for it
        return y
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import gast

from sct import grammar
from sct.analysis import dataflow
from sct.operations import Operation


@dataclass(frozen=True)
class Activity:
    """What is active where.

    Attributes
    ----------
    targets : dict
        Statement → its targets that are active after it.
    operands : dict
        Statement → its operands that are active before it.
    varied : dict
        Statement → its operands that are varied (useful or not).
    blocked : dict
        Statement → its varied operands for which the rule has no derivative.
    useful, varied_at, points : dict
        Point (see `dataflow`) → the names useful, varied, active there.
    """

    targets: dict[gast.AST, tuple[str, ...]]
    operands: dict[gast.AST, tuple[str, ...]]
    varied: dict[gast.AST, tuple[str, ...]]
    blocked: dict[gast.AST, tuple[str, ...]]
    useful: dict[dataflow.Point, set[str]]
    varied_at: dict[dataflow.Point, set[str]]
    points: dict[dataflow.Point, set[str]]


def activity(
    fn: gast.FunctionDef,
    operations: Mapping[gast.AST, Operation],
    wrt: list[str],
    groups: Mapping[str, frozenset[str]] | None = None,
    in_place: Collection[gast.AST] = (),
) -> Activity:
    """The activity of a function in ANF with respect to the names `wrt`.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function.
    operations : mapping
        Statement → what it does.
    wrt : list of str
        The names.
    groups : mapping, optional
        Name → those that may refer to the same memory: what is written by way of one
        of them is seen by all.
    in_place : collection, optional
        The assignments ``x = x + e`` that write into the array that `x` is.
    """
    groups = groups or {}
    varied = _varied(fn, operations, wrt, groups, in_place)
    return _useful(fn, operations, varied, groups, in_place)


def _varied(fn, operations, wrt, groups, in_place):
    records: dict[gast.AST, tuple[str, ...]] = {}
    blocked: dict[gast.AST, tuple[str, ...]] = {}

    def transfer(stmt: gast.AST, state: set[str]) -> None:
        blocked.pop(stmt, None)
        op = operations.get(stmt)
        if op is None:
            given = [i.context_expr for i in getattr(stmt, "items", ())]
            if any(grammar.names_read(e) & state for e in given):
                # A context manager may hand on what it was made of.
                state.update(grammar.writes(stmt))
            else:
                state.difference_update(grammar.writes(stmt))
            return
        inputs = tuple(n for n in op.operands if n in state)
        records[stmt] = inputs
        if op.kind in ("store", "append"):
            # The rest of the array is as it was.
            if inputs:
                state.add(op.operands[0])
                state.update(groups.get(op.operands[0], ()))
            return
        if op.kind == "constant":
            inputs = ()
        if any(n in state for n in op.held):
            blocked[stmt] = tuple(n for n in op.held if n in state)
            inputs = inputs + blocked[stmt]
        names = grammar.writes(stmt)
        if inputs:
            state.update(names)
            if stmt in in_place:
                state.update(groups.get(names[0], ()))
        else:
            state.difference_update(names)

    flow = dataflow.Forward(transfer, lambda a, b: a | b)
    flow.run(fn.body, set(wrt))
    return records, blocked, flow.points


def _useful(fn, operations, varied, groups, in_place):
    inputs, blocked, varied_points = varied
    targets: dict[gast.AST, tuple[str, ...]] = {}
    operands: dict[gast.AST, tuple[str, ...]] = {}

    def transfer(stmt: gast.AST, state: set[str]) -> None:
        if isinstance(stmt, gast.Return):
            if stmt.value is not None:
                state.update(grammar.names_read(stmt.value))
            return
        op = operations.get(stmt)
        if op is not None and op.kind in ("store", "append"):
            root = op.operands[0]
            moving = inputs.get(stmt, ())
            alive = root in state or not state.isdisjoint(groups.get(root, ()))
            targets[stmt] = (root,) if alive and moving else ()
            operands[stmt] = moving if alive else ()
            if alive:
                state.update(op.operands)
            return
        names = grammar.writes(stmt)
        wanted = tuple(n for n in names if n in state)
        if stmt in in_place and not state.isdisjoint(groups.get(names[0], ())):
            wanted = tuple(names)
        if op is not None and op.kind == "pop" and op.operands[0] in state:
            # Its adjoint gets longer again, whatever becomes of the value.
            wanted = tuple(names)
        state.difference_update(names)
        if op is None or op.kind == "constant":
            return
        moving = inputs.get(stmt, ()) + blocked.get(stmt, ())
        targets[stmt] = wanted if moving else ()
        operands[stmt] = moving if wanted else ()
        if wanted:
            state.update(op.operands)

    flow = dataflow.Backward(transfer)
    flow.run(fn.body, set())
    points = {p: s & varied_points.get(p, set()) for p, s in flow.points.items()}
    return Activity(
        targets, operands, inputs, blocked, flow.points, varied_points, points
    )
