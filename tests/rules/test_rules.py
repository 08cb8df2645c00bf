"""Every rule against its primal alone.

Along a random direction v, with a random adjoint w of the result, ``<w, J v>`` from
central differences of the primal must be ``<x_bar, v>`` from the rule.
"""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import sct
from sct.analysis.aliases import is_fresh
from sct.operations import Operation
from sct.runtime import unbroadcast
from sct.templates import METHODS, lookup, rules, tangent_of

from . import table, table_arrays
from .rows import MODERN, WIDENING, Row

ROWS = [*table.ROWS, *table_arrays.ROWS]

STEP = 3e-4

# Of the derivative in the exponent of a negative base, which no row asks for.
pytestmark = [
    pytest.mark.filterwarnings("ignore:invalid value encountered in log"),
    pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors"),
]


def tree_map(function, *trees):
    """Apply a function at the leaves of tuples and lists."""
    if isinstance(trees[0], (tuple, list)):
        return [tree_map(function, *parts) for parts in zip(*trees)]
    return function(*trees)


def leaves(tree):
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in leaves(part)]
    return [tree]


def inner(left, right):
    """The inner product of two trees of the same shapes."""
    pairs = zip(leaves(left), leaves(right))
    return sum(float(np.sum(np.multiply(a, b)).real) for a, b in pairs)


def moved(x, step, v):
    """``x + step * v``, of the types that `x` is made of."""
    if isinstance(x, (tuple, list)):
        return type(x)([moved(a, step, b) for a, b in zip(x, v)])
    if np.asarray(x).dtype.kind in "biu" and not np.any(v):
        return x
    same = (
        isinstance(x, float) or isinstance(x, int) and np.asarray(v).dtype.kind == "i"
    )
    return type(x)(x + step * v) if same else x + step * v


def spread(bar, x):
    """An adjoint as a tree like `x`, each leaf at its operand's full shape."""
    return tree_map(
        lambda a, b: np.broadcast_to(b, np.shape(a)),
        x,
        list(bar) if isinstance(x, (tuple, list)) else bar,
    )


class Case:
    """A row bound to its rule, single precision widened for the differences."""

    def __init__(self, row: Row):
        self.row = row
        self.rule = lookup(row.primal)
        self.random = np.random.default_rng(1)
        args = [np.float64(a) if is_single(a) else a for a in row.args]
        self.bound = self.rule.signature.bind(*args, **row.kwargs)
        given = {n: v for n, v in self.bound.arguments.items() if v is not None}
        self.wrt = row.wrt or tuple(n for n in self.rule.wrt if n in given)
        self.x = {n: given[n] for n in self.wrt}
        self.out = self.primal()
        floats = [leaf for leaf in leaves(self.out) if np.inexact in kinds(leaf)]
        single = any(np.finfo(a.dtype).bits == 32 for a in map(np.asarray, floats))
        self.tolerance = 1e-4 if single else 1e-8
        self.step = 0.1 if single else STEP

    def primal(self, **changes):
        bound = inspect.BoundArguments(self.rule.signature, dict(self.bound.arguments))
        bound.arguments.update(changes)
        return self.row.primal(*bound.args, **bound.kwargs)

    def bars(self, out_bar):
        """What the rule returns, by name, as the engine completes it."""
        rule, args, kwargs = self.rule, self.bound.args, self.bound.kwargs
        if rule.kind == "adjoint":
            kwargs = {**kwargs, "out_bar": out_bar}
        bars = rule.function(self.out, *args, **kwargs)
        bars = dict(zip(rule.wrt, bars if len(rule.wrt) > 1 else [bars]))
        bars = {n: bars[n] for n in self.wrt}
        if rule.kind == "elementwise":
            bars = {n: out_bar * partial for n, partial in bars.items()}
        return bars

    def adjoints(self, out_bar):
        """Adjoints of the shapes of their operands."""
        bars = self.bars(out_bar)
        if self.rule.pointwise:
            shape = np.shape(self.out)
            for n, bar in bars.items():
                bars[n] = unbroadcast(np.broadcast_to(bar, shape), self.x[n])
        return {n: spread(bar, self.x[n]) for n, bar in bars.items()}

    def normal(self, tree):
        def drawn(x):
            v = self.random.normal(size=np.shape(x))
            turned = 1j * self.random.normal(size=np.shape(x)) if is_complex(x) else 0.0
            # Integers stay where they are.
            return v * (np.asarray(x).dtype.kind in "fc") + turned

        return tree_map(drawn, tree)

    def direction(self, name):
        v = self.normal(self.x[name])
        return v + np.conj(np.swapaxes(v, -1, -2)) if self.row.symmetric else v

    def tangent(self, name, v):
        """The derivative along `v`, by central differences of sixth order."""
        weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}

        def difference(step):
            ahead = self.primal(**{name: moved(self.x[name], step, v)})
            behind = self.primal(**{name: moved(self.x[name], -step, v)})
            return tree_map(wide_difference, ahead, behind)

        parts = [difference(k * self.step) for k in weights]
        return tree_map(
            lambda *d: sum(w * x for w, x in zip(weights.values(), d)) / self.step,
            *parts,
        )


def wide_difference(a, b):
    return np.subtract(a, b, dtype=np.result_type(a, np.float64))


def is_complex(x):
    return np.iscomplexobj(x)


def kinds(x):
    return np.asarray(x).dtype.type.__mro__


def is_single(x):
    return getattr(x, "dtype", None) == np.float32


@pytest.fixture(params=ROWS, ids=str)
def case(request):
    return Case(request.param)


def close(a, b, tolerance):
    return np.allclose(a, b, rtol=tolerance, atol=tolerance)


def test_adjoint(case):
    out_bar = case.normal(case.out)
    bars = case.adjoints(out_bar)
    for name in case.wrt:
        v = case.direction(name)
        expected = inner(out_bar, case.tangent(name, v))
        assert close(inner(bars[name], v), expected, case.tolerance)


def argument(row, name):
    signature = lookup(row.primal).signature
    return signature.bind(*row.args, **row.kwargs).arguments.get(name)


def is_lazy(row):
    full = lookup(row.primal).full
    return argument(row, full) is None if isinstance(full, str) else not full


def is_linear(row):
    linear = lookup(row.primal).linear
    return argument(row, linear) is None if isinstance(linear, str) else linear


@pytest.mark.parametrize("row", [r for r in ROWS if is_lazy(r)], ids=str)
def test_a_scalar_stands_for_a_constant_adjoint(row):
    case = Case(row)
    lazy, full = case.adjoints(1.5), case.adjoints(np.full(np.shape(case.out), 1.5))
    for name in case.wrt:
        assert close(lazy[name], full[name], 1e-12)


@pytest.mark.parametrize(
    "row",
    [r for r in ROWS if lookup(r.primal).pointwise and tangent_of(r.primal) is None],
    ids=str,
)
def test_a_pointwise_adjoint_is_a_tangent(row):
    case = Case(row)
    for name in case.wrt:
        v = case.direction(name)
        out_dot = np.broadcast_to(case.bars(v)[name], np.shape(case.out))
        assert close(out_dot, case.tangent(name, v), case.tolerance)


@pytest.mark.parametrize(
    "row", [r for r in ROWS if is_linear(r) and not lookup(r.primal).multilinear]
)
def test_a_linear_primal_of_a_tangent_is_a_tangent(row):
    case = Case(row)
    for name in case.wrt:
        v = case.direction(name)
        v = type(case.x[name])(v) if isinstance(v, list) else np.asarray(v)
        rest = case.x if case.rule.jointly else {}
        still = {n: tree_map(np.zeros_like, x) for n, x in rest.items()}
        out_dot = leaves(case.primal(**{**still, name: v}))
        for a, b in zip(out_dot, leaves(case.tangent(name, v)), strict=True):
            assert close(a, b, case.tolerance)


def tangent_rows():
    return [row for row in ROWS if tangent_of(row.primal) is not None]


@pytest.mark.parametrize("row", tangent_rows(), ids=str)
def test_tangent(row):
    case = Case(row)
    rule = tangent_of(row.primal)
    for name in case.wrt:
        v = case.direction(name)
        v = tuple(v) if isinstance(case.x[name], tuple) else v
        dots = {f"{n}_dot": 0.0 for n in rule.wrt}
        if not rule.joint:
            given = case.bound.arguments
            dots = {f"{n}_dot": tree_map(zeros, given.get(n, 0.0)) for n in rule.wrt}
        dots[f"{name}_dot"] = v
        parts = rule.function(case.out, *case.bound.args, **case.bound.kwargs, **dots)
        if len(rule.wrt) > 1 and not rule.joint:
            parts = parts[rule.wrt.index(name)]
        for a, b in zip(leaves(parts), leaves(case.tangent(name, v)), strict=True):
            assert close(a, b, case.tolerance)


def zeros(x):
    return np.zeros_like(x) if isinstance(x, np.ndarray) else 0.0


def small(x):
    """A step that leaves an integer where it is."""
    dtype = np.asarray(x).dtype
    return np.full(np.shape(x), STEP if dtype.kind == "f" else 0).astype(dtype)


@pytest.mark.parametrize("row", [r for r in ROWS if lookup(r.primal).zero], ids=str)
def test_zero_derivatives(row):
    case = Case(row)
    for name in set(case.rule.zero) & set(case.bound.arguments):
        case.x[name] = case.bound.arguments[name]
        v = tree_map(small, case.x[name])
        changed = case.primal(**{name: moved(case.x[name], 1, v)})
        for a, b in zip(leaves(changed), leaves(case.out), strict=True):
            assert close(a, b, 1e-12)


@pytest.mark.skipif(not MODERN, reason=WIDENING)
@pytest.mark.parametrize(
    "row", [r for r in ROWS if any(map(is_single, r.args))], ids=str
)
def test_single_precision_stays(row):
    rule = lookup(row.primal)
    out = row.primal(*row.args, **row.kwargs)
    seed = {} if rule.kind == "elementwise" else {"out_bar": np.ones_like(out)}
    bars = rule.function(out, *row.args, **row.kwargs, **seed)
    for bar in bars if len(rule.wrt) > 1 else [bars]:
        assert bar is None or bar.dtype == np.float32


def test_every_differentiable_rule_has_a_row():
    tested = {lookup(row.primal) for row in ROWS}
    own = [r for r in rules() if r.kind != "zero"]
    own = [r for r in own if r.function.__module__.startswith("sct.")]
    assert [r.primal for r in own if r not in tested] == []


def arrays(value):
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from arrays(part)


def share_memory(given, result):
    return any(np.shares_memory(a, b) for a in arrays(given) for b in arrays(result))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_fresh_results_share_no_memory(row):
    given = [*row.args, *row.kwargs.values()]
    rule = lookup(row.primal)
    op = Operation("rule", None, rule=rule, callee=row.primal, keywords=row.kwargs)
    assert not (
        is_fresh(op) and share_memory(given, row.primal(*row.args, **row.kwargs))
    )


@pytest.mark.parametrize("name", METHODS)
def test_fresh_results_of_methods_share_no_memory(name):
    function = METHODS[name]
    op = Operation("rule", None, rule=lookup(function), callee=function)
    if not is_fresh(op):
        return
    x = np.ones((1, 1))
    for given in [(), (0,), (0.5, 2.0), (float,)]:
        try:
            result = getattr(x, name)(*given)
        except (TypeError, ValueError):
            continue
        assert not share_memory(x, result)


def changed_in_place_afterwards(x, r):
    e = np.exp(r)
    y = x * x
    s = np.pad(x, ((1, 1), (1, 1))) + e
    return np.sum(np.sin(s)) + np.sum(y)


def test_an_adjoint_that_is_a_view_is_not_written_into():
    x, r = np.ones((2, 3)), np.zeros((4, 5))
    _, r_bar = sct.grad(changed_in_place_afterwards, wrt=(0, 1))(x, r)
    np.testing.assert_allclose(r_bar, np.cos(np.pad(x, 1) + 1.0))
