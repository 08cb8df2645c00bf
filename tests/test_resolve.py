"""Tests of `sct.resolve`: objects decide, not spellings."""

from __future__ import annotations

import math

import gast
import numpy as np
import pytest

from sct.resolve import MISSING, Scope, canonical

SCALE = 2.0


class Settings:
    rate = 0.5

    @property
    def computed(self):
        raise AssertionError("user code was run")


settings = Settings()


def f(x):
    y = np.sin(x) * SCALE
    return y + len(settings.rate) + Settings.rate


def expr(text):
    return gast.parse(text, mode="eval").body


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("np", np),
        ("np.linalg.norm", np.linalg.norm),
        ("np.add.at", np.add.at),
        ("len", len),
        ("SCALE", 2.0),
        ("Settings.rate", 0.5),
    ],
)
def test_resolve(text, value):
    assert Scope(f).resolve(expr(text)) == value


@pytest.mark.parametrize(
    "text", ["x", "y", "nowhere", "np.nowhere", "settings.computed", "np.sin(x)", "x.T"]
)
def test_not_resolved(text):
    assert Scope(f).resolve(expr(text)) is MISSING


def test_locals_hide_globals():
    assert Scope(f, frozenset({"np"})).resolve(expr("np.sin")) is MISSING
    assert Scope(f, frozenset()).lookup("np") is np


def test_globals_are_live(monkeypatch):
    scope = Scope(f)
    monkeypatch.setitem(globals(), "SCALE", 3.0)
    assert scope.lookup("SCALE") == 3.0


def test_cells_come_before_globals():
    SCALE = 7.0  # noqa: N806

    def g(x):
        return SCALE * x * later  # noqa: F821

    binding = Scope(g).binding("SCALE")
    assert (binding.kind, binding.value) == ("cell", 7.0)
    assert Scope(g).binding("later").value is MISSING
    later = 1.0
    assert Scope(g).binding("later").value == later


def test_bindings():
    scope = Scope(f)
    assert scope.binding("SCALE").kind == "global"
    assert scope.binding("SCALE").module == __name__
    assert scope.binding("len").kind == "builtin"
    assert scope.binding("nowhere").kind == "global"


@pytest.mark.parametrize(
    ("obj", "name"),
    [
        (np.sin, "numpy.sin"),
        (np.sum, "numpy.sum"),
        (np.linalg.norm, "numpy.linalg.norm"),
        (np.add.at, "numpy.add.at"),
        (np.random.rand, "numpy.random.rand"),
        (np.ndarray.sum, "numpy.ndarray.sum"),
        (np.float64, "numpy.float64"),
        (np, "numpy"),
        (math.sin, "math.sin"),
        (len, "len"),
        (f, f"{__name__}.f"),
        (Settings(), f"a {__name__}.Settings object"),
    ],
)
def test_canonical(obj, name):
    assert canonical(obj) == name
