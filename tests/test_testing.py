"""The rule tester: right rules pass, and each kind of wrong rule is found and named."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import sct
from sct import testing
from sct.templates import registry
from sct.testing import check_rule

from .rules.rows import definite, normal, positive, regular


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    list(registry.rules())
    for table in ("_rules", "_tangents"):
        monkeypatch.setattr(registry, table, dict(getattr(registry, table)))


RIGHT = [
    (np.sin, (normal(3),), {}),
    (np.hypot, (normal(2, 3), normal(3)), {}),
    (np.where, (np.array([True, False, True]), normal(3), normal(3)), {}),
    (np.clip, (normal(3), -0.4, 0.6), {}),
    (operator.getitem, (normal(3, 4), (slice(None), 1)), {}),
    (np.sum, (normal(2, 3),), {"axis": 1}),
    (np.cumprod, (positive(3),), {}),
    (np.matmul, (normal(2, 3), normal(3, 2)), {}),
    (np.concatenate, ([normal(2), normal(3)],), {}),
    (np.linalg.inv, (regular(3, 3),), {}),
    (np.linalg.cholesky, (definite(3, 3),), {"symmetric": True}),
    (np.exp, (0.3 + 0.2j,), {}),
    (np.multiply, (normal(3) + 0.5j, normal(3)), {}),
    (np.abs, (normal(3) + 1j * normal(3),), {}),
    (np.linalg.norm, (normal(2, 3) + 1j * normal(2, 3),), {}),
    (np.multiply, (normal(3), normal(3) + 1j * normal(3)), {}),
]


@pytest.mark.parametrize(
    ("fn", "args", "kwargs"), RIGHT, ids=lambda v: getattr(v, "__name__", "")
)
def test_right_rules_pass(fn, args, kwargs):
    check_rule(fn, *args, **kwargs)


def quotient(x, y):
    return x / y


def test_a_function_without_a_rule_is_followed():
    check_rule(quotient, normal(3), positive(3))


def rule_of(fn, rule, tangent=None, **options):
    sct.adjoint(fn, **options)(rule)
    if tangent is not None:
        sct.tangent(fn)(tangent)


def weighted(x, y):
    return np.sum(x * x) * y


def right(out, x, y, *, out_bar):
    x_bar = np.sum(out_bar * y) * 2.0 * x
    y_bar = out_bar * np.sum(x * x)
    return x_bar, y_bar


def right_tangent(out, x, y, *, x_dot, y_dot):
    return 2.0 * np.sum(x * x_dot) * y, np.sum(x * x) * y_dot


def half(out, x, y, *, out_bar):
    x_bar = np.sum(out_bar * y) * x
    y_bar = out_bar * np.sum(x * x)
    return x_bar, y_bar


def flat(out, x, y, *, out_bar):
    x_bar = np.ravel(np.sum(out_bar * y) * 2.0 * x)
    y_bar = out_bar * np.sum(x * x)
    return x_bar, y_bar


def no_number(out, x, y, *, out_bar):
    x_bar = np.sum(out_bar * y) * 2.0 * x * np.nan
    y_bar = out_bar * np.sum(x * x)
    return x_bar, y_bar


def wide(out, x, y, *, out_bar):
    x_bar = np.sum(out_bar * y) * 2.0 * x * np.array(1.0, np.float64)[None]
    y_bar = out_bar * np.sum(x * x)
    return x_bar, y_bar


@sct.nondifferentiable
def twice(x):
    return 2.0 * x


def first_order_only(out, x, y, *, out_bar):
    x_bar = np.sum(out_bar * y) * twice(x)
    y_bar = out_bar * np.sum(x * x)
    return x_bar, y_bar


def left_out(out, x, y, *, x_dot, y_dot):
    return np.sum(x * x_dot) * y, np.sum(x * x) * y_dot


X, Y = normal(2, 3), normal(3)


def test_a_right_rule_of_a_users_function_passes():
    rule_of(weighted, right, right_tangent)
    check_rule(weighted, X, Y)


WRONG = [
    (half, right_tangent, r"adjoint of `x`: .* by differences \(relative error 0.5\)"),
    (no_number, right_tangent, "adjoint of `x`: nan"),
    (flat, right_tangent, r"adjoint of `x`: it has the shape \(6,\), not \(2, 3\)"),
    (wide, right_tangent, "adjoint of `x` in single precision: it is float64"),
    (right, left_out, "tangent: .* by the adjoints"),
    (first_order_only, right_tangent, "reverse over reverse: .* by differences"),
    (right, None, "forward mode is refused: this operation"),
]


@pytest.mark.parametrize(("rule", "tangent", "message"), WRONG)
def test_wrong_rules_are_found(rule, tangent, message):
    rule_of(weighted, rule, tangent)
    with pytest.raises(sct.CheckError, match=message) as caught:
        check_rule(weighted, X, Y)
    assert str(caught.value).startswith("the rule of `tests.test_testing.weighted` at")


def test_what_is_not_asked_for_is_not_checked():
    rule_of(weighted, first_order_only)
    check_rule(weighted, X, Y, order=1, modes=("reverse",))
    rule_of(weighted, half)
    check_rule(weighted, X, Y, wrt="y", order=1, modes=("reverse",))


def test_adjoints_that_depend_on_what_else_is_active(monkeypatch):
    plain = testing.api.vjp

    def other(f, wrt, like):
        df = plain(f, wrt=wrt, like=like)
        if len(wrt) == 2:
            return df
        return lambda *args, out_bar: (df(*args, out_bar=out_bar)[0], (0.0 * X,))

    monkeypatch.setattr(testing.api, "vjp", other)
    rule_of(weighted, right, right_tangent)
    with pytest.raises(sct.CheckError, match="when y is held constant: it is another"):
        check_rule(weighted, X, Y)


def once(x):
    return 3.0 * x


def test_adjoints_that_do_not_broadcast():
    def rule(out, x, *, out_bar):
        x_bar = 3.0 * out_bar * (np.ndim(x) == 1)
        return x_bar

    rule_of(once, rule, pointwise=True)
    with pytest.raises(sct.CheckError, match="adjoint of `x`: 0, and"):
        check_rule(once, normal(3))


def test_a_call_without_floats_is_an_error():
    with pytest.raises(sct.ArgumentError, match="no argument is a float"):
        check_rule(np.sin, 3)
    with pytest.raises(sct.ArgumentError, match="no argument is called `z`"):
        check_rule(np.sin, 0.3, wrt="z")


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("gammaln", (positive(3),)),
        ("betaln", (positive(2, 3), positive(3))),
        ("logsumexp", (normal(3),)),
        ("gammainc", (positive(3), positive(3))),
        ("huber", (positive(2, 3), 4.0 * positive(3))),
        ("jv", (2, positive(3))),
    ],
)
def test_rules_of_scipy(name, args):
    special = pytest.importorskip("scipy.special", reason="SciPy is an optional extra")
    check_rule(getattr(special, name), *args)
