"""The last touches to emitted code: how a person would have typed it."""

from __future__ import annotations

import gast

from sct.names import Names
from sct.optimize import Facts


def polish(fn: gast.FunctionDef, facts: Facts, names: Names) -> gast.FunctionDef:
    return fn


def early_returns(fn: gast.FunctionDef) -> gast.FunctionDef:
    return fn
