"""The passes together, and each alone, keep what random programs compute."""

from __future__ import annotations

import time

import numpy as np
import pytest

from sct.optimize import optimize
from sct.optimize.cse import cse
from sct.optimize.dead_code import dead_code
from sct.optimize.fold import fold
from sct.optimize.inline import inline
from sct.optimize.propagate import copies
from sct.optimize.stores import stores
from sct.optimize.taken import taken

from .programs import Program, facts, function, normal, run_recorded, text

PASSES = {
    "copies": copies,
    "inline": inline,
    "fold": fold,
    "cse": cse,
    "dead_code": dead_code,
    "stores": stores,
    "taken": taken,
}


def program_facts():
    return facts(Program.TEMPORARY, " ".join((*Program.SCALARS, "i")))


def same(one: tuple, other: tuple) -> None:
    assert len(one) == len(other)
    for x, y in zip(one, other, strict=True):
        np.testing.assert_array_equal(x, y)
        assert np.shape(x) == np.shape(y)


@pytest.mark.parametrize("seed", range(150))
def test_optimised_program_computes_the_same(seed):
    fn = function(Program(seed).source())
    same(run_recorded(optimize(fn, program_facts())), run_recorded(fn))


@pytest.mark.parametrize("name", PASSES)
def test_each_pass_alone_keeps_the_meaning_and_its_input(name):
    for seed in range(500, 560):
        fn = function(Program(seed).source())
        before = text(fn)
        changed, new = PASSES[name](fn, program_facts())
        assert text(fn) == before
        assert changed == (text(new) != before)
        same(run_recorded(new), run_recorded(fn))


@pytest.mark.parametrize("seed", range(900, 930))
def test_a_second_application_changes_nothing(seed):
    once = optimize(function(Program(seed).source()), program_facts())
    assert text(optimize(once, program_facts())) == text(once)


def test_product_plus_sine():
    fn = function("""
        def f(x, y, out_bar=1.0):
            "#Forward sweep."
            t = x * y
            s = np.sin(x)
            r = t + s
            "#Backward sweep."
            "L2: return x * y + np.sin(x)"
            r_bar = out_bar
            t_bar = r_bar
            s_bar = r_bar
            x_bar = y * t_bar
            y_bar = x * t_bar
            c = np.cos(x)
            x_bar = x_bar + s_bar * c
            return x_bar, y_bar
    """)
    names = "t s r r_bar t_bar s_bar c x_bar y_bar"
    assert text(optimize(fn, facts(names))) == normal("""
        def f(x, y, out_bar=1.0):
            "#Backward sweep."
            "L2: return x * y + np.sin(x)"
            y_bar = out_bar * x
            x_bar = out_bar * y + out_bar * np.cos(x)
            return x_bar, y_bar
    """)


def test_square():
    fn = function("""
        def f(x, out_bar=1.0):
            "L2: return x * x"
            x_bar = out_bar * x
            x_bar = x_bar + out_bar * x
            return x_bar
    """)
    assert text(optimize(fn, facts("x_bar"))) == normal("""
        def f(x, out_bar=1.0):
            "L2: return x * x"
            x_bar = 2.0 * out_bar * x
            return x_bar
    """)


def test_five_thousand_statements_take_seconds():
    lines = ["def f(x, out_bar=1.0):"]
    for i in range(2500):
        lines.append(f"    t{i} = x * {i + 1}.0")
        lines.append(f"    x = np.sin(t{i})")
    fn = function("\n".join([*lines, "    return x"]))
    start = time.perf_counter()
    new = optimize(fn, facts(" ".join(f"t{i}" for i in range(2500))))
    assert time.perf_counter() - start < 10.0
    assert len(new.body) == 2501
