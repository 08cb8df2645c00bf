"""A rule's body, put into the derivative at hand.

A rule such as ::

    def truediv(out, a, b, *, out_bar):
        a_bar = out_bar / b
        b_bar = -out_bar * a / (b * b)
        return a_bar, b_bar

applied to ``y = u / v`` with only `u` active becomes the expression ``y_bar / v``:
parameters are replaced by the operands, tests on facts that are known are decided,
what no wanted adjoint needs is dropped, and the rule's own locals get fresh names, so
that they never meet the user's.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Mapping

import gast

from sct import grammar, templates
from sct.helpers import is_helper
from sct.resolve import hashable
from sct.runtime_reductions import put_back
from sct.templates import Rule


def instantiate(
    rule: Rule,
    values: Mapping[str, gast.AST],
    wanted: set[str],
    *,
    rank: Callable[[gast.AST], int | None],
    is_complex: Callable[[gast.AST], bool],
    nearer: Callable[[gast.AST, gast.AST], bool] = lambda value, other: False,
    is_square: Callable[[gast.AST], bool] = lambda value: False,
    fresh: Callable[[str], str],
    outer: Callable[[str, Rule], str],
) -> tuple[list[gast.AST], dict[str, gast.AST]]:
    """The statements and the adjoint expressions of one use of a rule.

    Parameters
    ----------
    rule : Rule
        The rule; its tree is left alone.
    values : mapping of str to tree
        The expressions for its parameters, `out` and `out_bar`.
    wanted : set of str
        The parameters whose adjoint (or partial derivative) is asked for.
    rank : callable
        The rank of an operand, None where it is not known.
    is_complex : callable
        Whether an operand may be complex.
    nearer : callable
        Which of two values is better read, as `templates.nearer` asks.
    is_square : callable
        Whether an operand certainly is a sum of squares, as `templates.is_square` asks.
    fresh : callable
        A new name from a wish.
    outer : callable
        The name in the emitted code for a global of the rule's module.

    Returns
    -------
    statements : list of trees
        To stand before the expressions.
    expressions : dict
        Wanted parameter → its adjoint as an expression, or the part of the tangent that
        comes from it; a tangent that is not put together from parts stands under an
        empty name.
    """
    tree = rule.tree
    omitted = set(_defaults(rule.function)) - set(values)
    known = {p: grammar.constant(d) for p, d in _defaults(rule.function).items()}
    known.update(values)
    for p in rule.signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            known.setdefault(p.name, gast.Tuple([], gast.Load()))
    questions = {
        templates.nearer: nearer,
        templates.is_square: is_square,
        templates.given: _is_given,
    }
    answer = functools.partial(_answer, rule, known, questions)
    facts = rank, is_complex, answer, wanted
    body = _decide(grammar.clone(tree.body), known, facts)
    returned = body.pop().value
    if rule.joint:
        results = {"": returned}
    else:
        parts = returned.elts if len(rule.wrt) != 1 else [returned]
        results = dict(zip(rule.wrt, parts, strict=True))
        results = {p: e for p, e in results.items() if p in wanted}

    body = _needed(body, {n for e in results.values() for n in grammar.names_read(e)})
    body, results = _folded(body, results)
    own = grammar.all_writes(body)
    renamed = {n: fresh(n) for n in sorted(own)}

    def substitute(node: gast.AST) -> gast.AST:
        space = rule.function.__globals__
        named = functools.partial(outer, rule=rule)
        return _Substitute(known, omitted, renamed, named, space).visit(node)

    body = [substitute(s) for s in body]
    results = {p: substitute(e) for p, e in results.items()}
    if rule.kind == "elementwise":
        results = {p: _scaled(values["out_bar"], e) for p, e in results.items()}
    return body, results


def _scaled(seed: gast.AST, partial: gast.AST) -> gast.AST:
    """``out_bar * partial``."""
    if isinstance(partial, gast.Constant) and partial.value == 1.0:
        return seed
    return gast.BinOp(grammar.clone(seed), gast.Mult(), partial)


def _number(value: float) -> gast.AST:
    """A literal; a negative one as Python writes it."""
    if value < 0:
        return gast.UnaryOp(gast.USub(), grammar.constant(-value))
    return grammar.constant(value)


@functools.lru_cache(maxsize=512)
def _defaults(function: Callable) -> dict[str, object]:
    """The defaults of a rule's parameters; shared, so never changed."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def _decide(body, known, facts) -> list[gast.AST]:
    """Decide the tests on facts that are known while transforming."""
    out: list[gast.AST] = []
    for stmt in body:
        if not isinstance(stmt, gast.If):
            out.append(stmt)
            continue
        truth = _truth(stmt.test, known, facts)
        if truth is None:
            stmt.body = _decide(stmt.body, known, facts)
            stmt.orelse = _decide(stmt.orelse, known, facts)
            out.append(stmt)
        else:
            out += _decide(stmt.body if truth else stmt.orelse, known, facts)
    return out


def _truth(test, known, facts) -> bool | None:
    """Whether a rule's test holds, None when that shows only at run time.

    Tests of unknown ranks count as false: the last branch of such a chain is general.
    """
    if isinstance(test, gast.BoolOp):
        parts = [_truth(v, known, facts) for v in test.values]
        decisive = isinstance(test.op, gast.Or)
        if decisive in parts:
            return decisive
        return None if None in parts else not decisive
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        inner = _truth(test.operand, known, facts)
        return None if inner is None else not inner
    if _asks(test, "iscomplexobj"):
        return facts[1](known[test.args[0].id])
    answer = facts[2](test)
    if answer is not None:
        return answer
    if isinstance(test, gast.Compare) and _asks(test.left, "ndim"):
        found = facts[0](known[test.left.args[0].id])
        return found is not None and _compare(
            test.ops[0], found, test.comparators[0].value
        )
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        left, right = _value(test.left, known), _value(test.comparators[0], known)
        none = isinstance(test.comparators[0], gast.Constant) and right == (None,)
        if none and isinstance(test.left, gast.Name) and test.left.id in facts[3]:
            return isinstance(test.ops[0], gast.IsNot)
        if none and isinstance(test.left, gast.Subscript):
            # `out_bar[0] is None`: the result is taken apart, and one part not read.
            found = left == (None,)
            return found if isinstance(test.ops[0], gast.Is) else not found
        if left is not None and right is not None:
            return _compare(test.ops[0], left[0], right[0])
        if none and isinstance(test.left, gast.Name):
            node = known.get(test.left.id)
            if node is not None and not isinstance(node, (gast.Name, gast.Constant)):
                return isinstance(test.ops[0], gast.IsNot)
        return None
    value = _value(test, known)
    return None if value is None else bool(value[0])


def _answer(rule: Rule, known, questions, test: gast.AST) -> bool | None:
    """The answer to a question of the rule about the function at hand, if it is one."""
    asked = rule.asks(test)
    return questions[asked](*(known[a.id] for a in test.args)) if asked else None


def _is_given(argument: gast.AST) -> bool:
    """Whether an argument of a call is more than the literal None."""
    return not (isinstance(argument, gast.Constant) and argument.value is None)


def _value(node, known) -> tuple[object] | None:
    """The value of a literal, in a tuple; None when it is not one."""
    if isinstance(node, gast.Name) and node.id in known:
        node = known[node.id]
    if isinstance(node, gast.Subscript) and isinstance(node.slice, gast.Constant):
        whole = known.get(getattr(node.value, "id", ""))
        if isinstance(whole, gast.Tuple):
            node = whole.elts[node.slice.value]
    if isinstance(node, gast.Constant):
        return (node.value,)
    if (
        isinstance(node, gast.UnaryOp)
        and isinstance(node.op, gast.USub)
        and isinstance(node.operand, gast.Constant)
    ):
        return (-node.operand.value,)
    return None


def _asks(node: gast.AST, attr: str) -> bool:
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr == attr
        and isinstance(node.args[0], gast.Name)
    )


def _compare(op: gast.AST, left: object, right: object) -> bool | None:
    if isinstance(op, gast.Is):
        return left is right
    if isinstance(op, gast.IsNot):
        return left is not right
    try:
        return {
            gast.Eq: lambda: left == right,
            gast.NotEq: lambda: left != right,
            gast.Lt: lambda: left < right,
            gast.LtE: lambda: left <= right,
            gast.Gt: lambda: left > right,
            gast.GtE: lambda: left >= right,
        }[type(op)]()
    except (KeyError, TypeError):
        return None


def _needed(body: list[gast.AST], live: set[str]) -> list[gast.AST]:
    """The statements that the names `live` at the end depend on."""
    kept: list[gast.AST] = []
    for stmt in reversed(body):
        if isinstance(stmt, gast.If):
            names = grammar.all_writes([stmt])
            if names & live:
                stmt.body = _needed(stmt.body, set(live))
                stmt.orelse = _needed(stmt.orelse, set(live))
                live |= {
                    n for s in grammar.statements([stmt]) for n in grammar.reads(s)
                }
                kept.append(stmt)
        elif set(grammar.writes(stmt)) & live:
            live -= set(grammar.writes(stmt))
            live |= grammar.reads(stmt)
            kept.append(stmt)
    return kept[::-1]


def _folded(body, results):
    """Put a returned name's only assignment into its place: ``return out_bar / b``."""
    count: dict[str, int] = {}
    for node in [*body, *results.values()]:
        for n in grammar.nodes(node):
            if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
                count[n.id] = count.get(n.id, 0) + 1
    kept = list(body)
    results = dict(results)
    for p, e in results.items():
        if not isinstance(e, gast.Name) or count[e.id] > 1:
            continue
        at = [s for s in kept if e.id in grammar.all_writes([s])]
        if (
            len(at) == 1
            and isinstance(at[0], gast.Assign)
            and grammar.is_name(at[0].targets[0])
        ):
            results[p] = at[0].value
            kept.remove(at[0])
    return kept, results


def _denoted(func: gast.AST, space: Mapping[str, object]) -> object:
    """The function that a rule calls."""
    if isinstance(func, gast.Name):
        return space.get(func.id)
    if isinstance(func, gast.Attribute):
        return getattr(_denoted(func.value, space), func.attr, None)
    return None


def _leave_out_defaults(call: gast.Call, callee: object) -> None:
    """What a parameter is by default need not be said: ``np.sum(x, None)``.

    Defaults of NumPy's other than None are not those of all its versions.
    """
    known = callable(callee) and hashable(callee)
    defaults = _default_arguments(callee) if known else ()
    while call.args and len(call.args) <= len(defaults):
        value, default = _value(call.args[-1], {}), defaults[len(call.args) - 1]
        if value is None or default is None or type(value[0]) is not type(default[0]):
            break
        if value[0] != default[0] or value[0] is not None and not is_helper(callee):
            break
        call.args.pop()
    call.keywords = [
        k
        for k in call.keywords
        if k.arg != "keepdims" or getattr(k.value, "value", k) is not False
    ]


@functools.lru_cache(maxsize=512)
def _default_arguments(callee: Callable) -> tuple[tuple[object] | None, ...]:
    """The defaults of parameters that are given by position, each in a tuple."""
    try:
        parameters = inspect.signature(callee).parameters.values()
    except ValueError:
        return ()
    return tuple(
        None if p.default is p.empty else (p.default,)
        for p in parameters
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    )


class _Substitute(gast.NodeTransformer):
    """Parameters by operands, locals by fresh names, globals by emitted names."""

    def __init__(self, values, omitted, renamed, outer, space):
        self.values, self.omitted = values, omitted
        self.renamed, self.outer, self.space = renamed, outer, space

    def visit_Name(self, node):
        if node.id in self.renamed:
            return gast.Name(self.renamed[node.id], node.ctx, None, None)
        if node.id in self.values:
            return grammar.clone(self.values[node.id])
        return gast.Name(self.outer(node.id), node.ctx, None, None)

    def visit_BinOp(self, node):
        """Literals are computed: ``x ** (3 - (3 != 0))`` is ``x ** 2``."""
        self.generic_visit(node)
        left, right = _value(node.left, {}), _value(node.right, {})
        if isinstance(node.op, (gast.Pow, gast.Div)) and right in ((1,), (1.0,)):
            return node.left
        if isinstance(node.op, gast.Sub) and right == (0.0,) and left is None:
            return node.left
        if isinstance(node.op, gast.Sub) and left is not None and right is not None:
            return _number(left[0] - right[0])
        return node

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        value = _value(node.operand, {})
        if isinstance(node.op, gast.Not) and value is not None:
            return grammar.constant(not value[0])
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        left, right = _value(node.left, {}), _value(node.comparators[0], {})
        if left is not None and right is not None:
            found = _compare(node.ops[0], left[0], right[0])
            if found is not None:
                return grammar.constant(found)
        return node

    def visit_Call(self, node):
        """``np.expand_dims(g, 1)`` of a literal axis is ``g[:, None]``.

        An argument that is passed on under its own name, as in ``f(x, axis=axis)``, is
        left out where the call at hand leaves it out.
        """
        callee = _denoted(node.func, self.space)
        node.keywords = [
            k
            for k in node.keywords
            if not (k.arg in self.omitted and getattr(k.value, "id", "") == k.arg)
        ]
        self.generic_visit(node)
        _leave_out_defaults(node, callee)
        if callee is put_back and len(node.args) == 1 and not node.keywords:
            return node.args[0]
        called = node.func.attr if isinstance(node.func, gast.Attribute) else ""
        given = [_value(a, {}) for a in node.args]
        if called == "where" and given[0] in ((True,), (False,)):
            return node.args[1 if given[0][0] else 2]
        # As a number of NumPy's, a logarithm would widen single precision.
        if called == "log" and given[0] is not None and given[0][0] > 0:
            return grammar.constant(math.log(given[0][0]))
        axis = _value(node.args[1], {}) if called == "expand_dims" else None
        # Along a first or last axis `g` may be a plain number.
        if axis is None or type(axis[0]) is not int or axis[0] < 1:
            return node
        parts = [gast.Slice(None, None, None) for _ in range(axis[0])]
        index = gast.Tuple([*parts, grammar.constant(None)], gast.Load())
        return gast.Subscript(node.args[0], index, gast.Load())

    def visit_Subscript(self, node):
        self.generic_visit(node)
        # `out_bar[1]` of a result that is unpacked at once.
        if isinstance(node.value, gast.Tuple) and isinstance(node.slice, gast.Constant):
            return node.value.elts[node.slice.value]
        return node
