"""The rules of differentiation, one ordinary function for each primal.

``adjoint``, ``tangent``, ``elementwise`` and ``nondifferentiable`` register rules,
``lookup`` finds the one of an object; importing this package registers those of NumPy,
of `math`, `cmath` and of Python itself.
"""

from __future__ import annotations

# Importing a module of rules registers them.
from . import arrays, complexes, helpers, linalg, operators, python, reductions, ufuncs  # noqa: F401  # noqa: F401
from . import elementwise as _elementwise  # noqa: F401
from .choices import OF_ITEMS
from .methods import FOLDS, METHODS, PROPERTIES, PROPERTIES_CONSTANT
from .operators import OPERATORS
from .registry import (
    Rule,
    adjoint,
    elementwise,
    is_square,
    lookup,
    nearer,
    nondifferentiable,
    rules,
    tangent,
    tangent_of,
)

__all__ = [
    "FOLDS",
    "METHODS",
    "OF_ITEMS",
    "OPERATORS",
    "PROPERTIES",
    "PROPERTIES_CONSTANT",
    "Rule",
    "adjoint",
    "elementwise",
    "is_square",
    "lookup",
    "nearer",
    "nondifferentiable",
    "rules",
    "tangent",
    "tangent_of",
]
