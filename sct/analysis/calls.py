"""What is known of the result of a user's function, from its source.

def sigmoid(x):                       sigmoid(z) has the shape of z
    return 1.0 / (1.0 + np.exp(-x))
"""

from __future__ import annotations

import gast

from sct import grammar
from sct.analysis.annotations import return_fact
from sct.analysis.shapes import Fact, Inference, Shape, shapes, unknown
from sct.arguments import parameter_names
from sct.errors import SctError
from sct.normalise import Normal, normalise
from sct.operations import (
    BindError,
    Operation,
    Resolver,
    bind_call,
    classify,
    store_operation,
)
from sct.questions import about_functions


def result_fact(function, op: Operation, env, inference: Inference) -> Fact | None:
    """What is known of the result of ``function(...)``.

    Parameters
    ----------
    function : types.FunctionType
        What is called.
    op : Operation
        The call.
    env : mapping of str to Fact
        What is known of the caller's names.
    inference : Inference
        Facts of the caller's expressions.

    Returns
    -------
    Fact or None
        None when nothing is known.
    """
    try:
        own = _own_result(function)
        bound = bind_call(function, op.node)
    except (SctError, BindError):
        return None
    if own is None or not all(_is_parameter(r) for r in own.shape):
        return None
    given: Shape = frozenset()
    facts = []
    for _, parameter in own.shape:
        if parameter not in bound:
            return None
        fact = inference.fact(bound[parameter], env)
        facts.append(fact)
        given |= fact.shape
    rank = facts[0].rank if len(facts) == 1 else (0 if not given else None)
    return Fact(given, rank, own.integer, own.array and bool(given))


def _is_parameter(root: object) -> bool:
    return isinstance(root, tuple) and root[0] == "parameter"


def operations_of(normal: Normal) -> dict[gast.AST, Operation]:
    """What the statements of a function do, as far as its text tells."""
    resolve = Resolver(normal.scope, {})
    listed = list(grammar.statements(normal.fn.body))
    found = {
        s: classify(s.value, resolve)
        for s in listed
        if isinstance(s, (gast.Assign, gast.Expr, gast.AugAssign))
    }
    found.update((s, store_operation(s)) for s in listed if grammar.mutates(s))
    return found


@about_functions(None)
def _own_result(function) -> Fact | None:
    """The result in terms of the parameters' shapes."""
    normal = normalise(function)
    declared = return_fact(normal.fn, normal.scope)
    if declared is not None and declared.scalar:
        return declared
    resolve = Resolver(normal.scope, {})
    memo: dict[int, tuple[gast.AST, Operation]] = {}

    def operation(expr):
        if id(expr) not in memo:
            memo[id(expr)] = (expr, classify(expr, resolve))
        return memo[id(expr)][1]

    inference = Inference(operation, lambda op, env: None)
    inference.result_of = lambda op, env: result_fact(op.callee, op, env, inference)
    facts = {n: unknown(("parameter", n)) for n in parameter_names(normal.fn)}
    try:
        return shapes(normal.fn, facts, inference).result
    except BindError:
        return None
