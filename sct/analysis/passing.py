"""Temporaries whose adjoint need not be summed to their shape.

In ``z = x * w + b`` the adjoint of the product is that of `z`, summed over the axes
along which the product was broadcast; then the adjoint of `x` is summed again::

    prod_bar = unbroadcast(z_bar, prod)                     # keeps `prod` alive
    x_bar = unbroadcast(prod_bar * w, x)
                                              ⇒
    x_bar = unbroadcast(z_bar * w, x)

One sum at the end is enough, as the product acts element by element and nothing else
uses it.  That is worth while where only its shape would be needed of the temporary.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import gast

from sct import grammar
from sct.analysis.activity import Activity
from sct.operations import Operation
from sct.templates import Rule, nearer


def passing(
    fn: gast.FunctionDef,
    operations: Mapping[gast.AST, Operation],
    activity: Activity,
    temporary: set[str],
    takes_wide,
) -> set[str]:
    """The temporaries through which wide adjoints are passed on.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    operations : mapping
        Statement → its operation.
    activity : Activity
        What is active where.
    temporary : set of str
        The names made by sct.
    takes_wide : callable
        ``takes_wide(stmt, operation)``: whether the adjoint of an operation may be
        given more axes, or longer ones, than its result has.

    Returns
    -------
    set of str
    """
    uses: dict[str, int] = {}
    births: dict[str, int] = {}
    for s in grammar.statements(fn.body):
        for n in grammar.reads(s):
            uses[n] = uses.get(n, 0) + 1
        for n in grammar.writes(s):
            births[n] = births.get(n, 0) + 1
    found: set[str] = set()
    waiting = [fn.body]
    while waiting:
        body = waiting.pop()
        born: dict[str, gast.AST] = {}
        for s in body:
            waiting.extend(grammar.blocks(s))
            op = operations.get(s)
            if op is None or op.kind != "rule":
                continue
            if op.rule.pointwise:
                for n in activity.operands.get(s, ()):
                    if n in born and not _reads_operand(op, n, activity.operands[s]):
                        found.add(n)
            for n in grammar.writes(s):
                once = uses.get(n) == births[n] == 1 and n in temporary
                reads = _read_for(op, activity.operands.get(s, ()))
                if once and takes_wide(s, op) and "out" not in reads:
                    born[n] = s
    return found


def _reads_operand(op: Operation, name: str, active: tuple[str, ...]) -> bool:
    """Whether the adjoint of an operation reads the value of an operand."""
    reads = _read_for(op, active)
    given = [p for p, a in op.arguments.items() if name in grammar.names_read(a)]
    return len(given) != 1 or given[0] in reads


def _read_for(op: Operation, active: tuple[str, ...]) -> set[str]:
    """The parameters of a rule that the adjoints of the active operands read."""
    found: set[str] = set()
    for p, names in _read_by(op.rule).items():
        given = op.arguments.get(p)
        if given is not None and grammar.names_read(given) & set(active):
            found |= names
    return found


@functools.cache
def _read_by(rule: Rule) -> dict[str, set[str]]:
    """For each adjoint that a rule returns, the names that it is computed from."""
    # Of a result that only one operation takes, nothing else reads the value.
    body = [
        t
        for s in rule.tree.body
        for t in (s.orelse if rule.asks(getattr(s, "test", None)) is nearer else [s])
    ]
    returned = body[-1].value
    many = isinstance(returned, gast.Tuple) and len(rule.wrt) != 1
    reads: dict[str, set[str]] = {}
    for s in grammar.statements(body[:-1]):
        below = set(grammar.reads(s))
        for n in tuple(below):
            below |= reads.get(n, set())
        if isinstance(s, gast.If):
            below |= {n for t in grammar.statements([s]) for n in grammar.reads(t)}
        for n in grammar.all_writes([s]):
            reads[n] = reads.get(n, set()) | below
    results = returned.elts if many else [returned]
    found = {}
    for p, e in zip(rule.wrt, results, strict=True):
        names = grammar.names_read(e)
        found[p] = names.union(*(reads.get(n, set()) for n in names))
    return found
