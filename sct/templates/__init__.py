"""The rules of differentiation, one ordinary function for each primal.

``adjoint``, ``tangent``, ``elementwise`` and ``nondifferentiable`` register rules,
``lookup`` finds the one of an object; importing this package registers those of NumPy,
of `math`, `cmath` and of Python itself.
"""

from __future__ import annotations

# Importing a module of rules registers them.
from . import (  # noqa: F401
    array_helpers,
    arrays,
    complexes,
    constructors,
    decompositions,
    fft,
    helpers,
    helpers_linalg,
    indexing,
    joining,
    linalg,
    nan_reductions,
    operators,
    polynomials,
    products,
    python,
    reductions,
    scans,
    sorting,
    ufuncs,
)
from . import elementwise as _elementwise  # noqa: F401
from .choices import OF_ITEMS
from .joining import JOINING, SPLITTING, SPLITTING_HELPERS
from .methods import (
    FOLDS,
    METHODS,
    PROPERTIES,
    PROPERTIES_CONSTANT,
    is_array_attribute,
)
from .operators import OPERATORS

from .written import WRITTEN  # isort: skip
from .registry import (
    Rule,
    adjoint,
    elementwise,
    given,
    is_square,
    lookup,
    nearer,
    nondifferentiable,
    present,
    rules,
    tangent,
    tangent_of,
)

__all__ = [
    "FOLDS",
    "JOINING",
    "METHODS",
    "OF_ITEMS",
    "OPERATORS",
    "PROPERTIES",
    "PROPERTIES_CONSTANT",
    "SPLITTING",
    "SPLITTING_HELPERS",
    "WRITTEN",
    "Rule",
    "adjoint",
    "elementwise",
    "given",
    "is_array_attribute",
    "is_square",
    "lookup",
    "nearer",
    "nondifferentiable",
    "present",
    "rules",
    "tangent",
    "tangent_of",
]
