"""Arrays into which active values are stored: they must hold floats.

::

    a = np.zeros(3, dtype=int)
    a[0] = x                        # cut to an integer, which no derivative knows

Where the text says that an array holds integers, such a store is refused; where it does
not say, the array is checked when the derivative runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import gast
import numpy as np

from sct import grammar
from sct.analysis.activity import Activity
from sct.arguments import parameter_names
from sct.errors import unsupported
from sct.operations import Operation
from sct.refusals import INTEGERS
from sct.resolve import MISSING, hashable

FLOATS = "floats"
WHOLE = "integers"
# Makers of floats unless a dtype is given, and where in their arguments that stands.
OF_FLOATS = {
    np.zeros: 1, np.ones: 1, np.empty: 1, np.eye: 3, np.identity: 1, np.linspace: 5,
}  # fmt: skip
# Makers of what their operand holds, and where in their arguments a dtype stands.
OF_OPERAND = {
    np.zeros_like: 1, np.ones_like: 1, np.empty_like: 1, np.array: 1, np.asarray: 1,
}  # fmt: skip


def check_floats(
    fn: gast.FunctionDef,
    source: object,
    operations: dict[gast.AST, Operation],
    active: Activity,
    groups: Mapping[str, Collection[str]],
    numbers: Collection[str],
    containers: Collection[str],
    floats: Collection[str],
    resolve: Callable[[gast.AST], object],
    check: Callable[..., gast.AST],
    operation: Callable[[gast.AST], Operation],
) -> None:
    """Refuse stores of active values into integers, and check what is not certain.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF; checks are added to it.
    source : Source
        Where it comes from.
    operations : dict
        Statement → what it does; that of the checks is added.
    active : Activity
        What is active where.
    groups : mapping
        Name → the names that may refer to the same memory.
    numbers, containers : collection of str
        Names that hold numbers; those that hold containers.
    floats : collection of str
        Parameters that hold floats or are checked to hold them.
    resolve : callable
        The object that an expression denotes.
    check : callable
        ``check(helper, arguments, keywords)``: the statement that calls a helper.
    operation : callable
        ``operation(expr) -> Operation``.
    """
    stores = {
        s: op.operands[0]
        for s, op in operations.items()
        if op.kind == "store" and active.targets.get(s)
        # What stands in a container is replaced; in an array in one it is cut.
        if op.operands[0] not in containers
        or not grammar.is_name(op.arguments["place"].value)
    }
    into = set(stores.values())
    into = into.union(*[groups.get(n, ()) for n in into]).difference(numbers)
    if not into:
        return
    held: dict[str, set[str]] = {}
    unsure: list[tuple[list[gast.AST], gast.AST, str]] = []

    def block(body: list[gast.AST]) -> None:
        for stmt in body:
            for inner in grammar.blocks(stmt):
                block(inner)
            for n in into.intersection(grammar.writes(stmt)):
                op = operations.get(stmt)
                # A copy holds what is checked under another name, or before.
                same = op is not None and into.issuperset(_copied(op)) and _copied(op)
                # Nothing is stored into a number.
                literal = isinstance(getattr(stmt, "value", None), gast.Constant)
                sure = same or literal or n in containers or active.varied.get(stmt)
                kind = FLOATS if sure else _holds(op, resolve)
                held.setdefault(n, set()).add(kind)
                if not kind:
                    unsure.append((body, stmt, n))

    block(fn.body)
    for stmt, n in stores.items():
        if held.get(n) == {WHOLE}:
            raise unsupported(source, stmt, "this assignment", *INTEGERS)
    for body, stmt, n in unsure:
        test = grammar.located(check("check_floats", [], {n: grammar.name(n)}), stmt)
        body.insert(body.index(stmt) + 1, test)
        operations[test] = operation(test.value)
    unsafe = into.difference(floats)
    given = {p: grammar.name(p) for p in parameter_names(fn) if p in unsafe}
    if given:
        test = grammar.located(check("check_floats", [], given), fn)
        fn.body.insert(0, test)
        operations[test] = operation(test.value)


def _copied(op: Operation) -> tuple[str, ...]:
    """The name of the array that an operation copies, if it does no more."""
    return op.operands if op.kind == "copy" or op.callee is np.copy else ()


def _holds(op: Operation | None, resolve: Callable[[gast.AST], object]) -> str:
    """What a value certainly holds, `FLOATS` or `WHOLE`; empty when that is unsure."""
    if op is None:
        return ""
    if isinstance(op.node, gast.BinOp):
        division = isinstance(op.node.op, gast.Div)
        sides = (op.node.left, op.node.right)
        return FLOATS if division or any(map(_is_float, sides)) else ""
    if op.callee is MISSING or not hashable(op.callee):
        return ""
    place = OF_FLOATS.get(op.callee, OF_OPERAND.get(op.callee))
    if place is None:
        return ""
    given = op.inputs[place] if len(op.inputs) > place else None
    given = op.keywords.get("dtype", given)
    if given is not None:
        return _of_dtype(given, resolve)
    if op.callee in OF_FLOATS:
        return FLOATS
    items = [n for n in gast.walk(op.inputs[0]) if isinstance(n, gast.Constant)]
    if any(map(_is_float, items)):
        return FLOATS
    return WHOLE if items and not grammar.names_read(op.inputs[0]) else ""


def _is_float(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, (float, complex))


def _of_dtype(node: gast.AST, resolve: Callable[[gast.AST], object]) -> str:
    """What an array of the dtype that an expression denotes holds."""
    kind = node.value if isinstance(node, gast.Constant) else resolve(node)
    try:
        code = "" if kind is MISSING else np.dtype(kind).kind
    except TypeError:
        return ""
    return FLOATS if code in "fc" and code else WHOLE if code in "iub" and code else ""
