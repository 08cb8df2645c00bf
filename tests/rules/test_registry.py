"""Registration: what a rule is, and what is refused as one."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import operator

import gast
import numpy as np
import pytest

from sct.errors import RuleError
from sct.templates import (
    METHODS,
    OPERATORS,
    PROPERTIES,
    PROPERTIES_CONSTANT,
    adjoint,
    elementwise,
    lookup,
    nondifferentiable,
    registry,
    rules,
)


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    list(rules())
    monkeypatch.setattr(registry, "_rules", dict(registry._rules))


def cube(x, scale=2.0):
    return scale * x * x * x


def test_a_rule_of_a_users_function():
    @adjoint(cube, wrt=("x",), pointwise=True)
    def rule(out, x, scale=None, *, out_bar):
        """Three."""
        x_bar = 3.0 * scale * out_bar * x * x
        return x_bar

    found = lookup(cube)
    assert (found.kind, found.primal, found.function) == ("adjoint", cube, rule)
    assert (found.wrt, found.parameters) == (("x",), ("x", "scale"))
    assert found.pointwise and not found.full
    bound = found.signature.bind(1.0)
    bound.apply_defaults()
    assert bound.arguments == {"x": 1.0, "scale": 2.0}
    assert [type(s) for s in found.tree.body] == [gast.Assign, gast.Return]
    assert found.tree is found.tree


def test_one_rule_for_several_primals_and_stacked():
    def first(x): ...
    def second(x): ...
    def third(x): ...

    @adjoint(first)
    @adjoint(second, third, full=False)
    def rule(out, x, *, out_bar):
        x_bar = out_bar
        return x_bar

    assert [lookup(f).function for f in (first, second, third)] == [rule] * 3
    assert [lookup(f).full for f in (first, second, third)] == [True, False, False]


def test_elementwise_and_nondifferentiable():
    def f(x, y): ...

    @elementwise(f)
    def rule(out, x, y):
        return y, x

    assert lookup(f).kind == "elementwise"
    assert lookup(f).wrt == ("x", "y")
    assert nondifferentiable(f) is f
    assert lookup(f).kind == "zero"


def test_lookup_is_by_identity():
    assert lookup(np.abs) is lookup(np.absolute)
    assert lookup([]) is None
    assert lookup(math.sin).function is not lookup(np.sin).function
    assert lookup(np.float64(1.0)) is None


def no_out(x, *, out_bar): ...
def no_seed(out, x): ...
def placed_seed(out, x, out_bar): ...
def other_names(out, y, scale=2.0, *, out_bar): ...
def other_order(out, scale, x, *, out_bar): ...
def too_many(out, x, scale, more, *, out_bar): ...


@pytest.mark.parametrize(
    "rule", [no_out, no_seed, placed_seed, other_names, other_order, too_many, math.sin]
)
def test_bad_rules_are_refused(rule):
    with pytest.raises(RuleError):
        adjoint(cube)(rule)
    assert lookup(cube) is None


def test_more_refusals():
    def good(out, x, scale=2.0, *, out_bar):
        x_bar = out_bar
        return x_bar

    with pytest.raises(RuleError, match="does not name parameters"):
        adjoint(cube, wrt=("z",))(good)
    with pytest.raises(RuleError, match="cannot be called"):
        adjoint(3)(good)
    with pytest.raises(RuleError, match="takes no `out_bar`"):
        elementwise(cube)(good)
    with pytest.raises(RuleError, match="not one value for each"):
        adjoint(cube, wrt=("x", "scale"))(good)
        lookup(cube).tree  # noqa: B018


OWN = [
    r for r in rules() if r.kind != "zero" and r.function.__module__.startswith("sct.")
]


@pytest.mark.parametrize("rule", OWN, ids=lambda r: r.function.__name__)
def test_a_body_is_text_that_can_be_inlined(rule):
    tree = rule.tree
    returned = tree.body[-1].value
    values = returned.elts if isinstance(returned, gast.Tuple) else [returned]
    if rule.kind == "adjoint":
        assert [v.id for v in values] == [f"{n}_bar" for n in rule.wrt]
    assert sum(isinstance(n, gast.Return) for n in gast.walk(tree)) == 1
    assert not inspect.getclosurevars(rule.function).nonlocals
    named = {n for n in gast.walk(tree) if isinstance(n, gast.Name)}
    bound = {n.id for n in named if not isinstance(n.ctx, gast.Load)}
    free = {n.id for n in named} - bound
    assert free <= {*rule.function.__globals__, *dir(builtins)}


def test_every_operator_has_a_rule():
    binary = {getattr(ast, c.__name__) for c in ast.operator.__subclasses__()}
    unary = {getattr(ast, c.__name__) for c in ast.unaryop.__subclasses__()}
    known = {op.__name__ for op in OPERATORS}
    assert {c.__name__ for c in binary | unary} <= known
    assert all(lookup(f) is not None for f in OPERATORS.values())
    assert OPERATORS[gast.MatMult] is operator.matmul


def test_methods_are_methods_of_arrays():
    named = {*METHODS, *PROPERTIES, *PROPERTIES_CONSTANT}
    assert [n for n in named if not hasattr(np.ndarray, n)] == ["is_integer"]
    assert [n for n, f in {**METHODS, **PROPERTIES}.items() if lookup(f) is None] == []
