"""The helpers: functions and classes that emitted code calls, and where they stand.

``HELPERS["unbroadcast"]`` is the one of that name.  A saved module carries their text.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection

from . import (
    runtime,
    runtime_control,
    runtime_decompositions,
    runtime_elementwise,
    runtime_fft,
    runtime_joins,
    runtime_linalg,
    runtime_norms,
    runtime_operators,
    runtime_reductions,
    runtime_rules,
    runtime_scans,
    runtime_solvers,
    runtime_triangular,
    runtime_written,
)

HELPERS: dict[str, Callable] = {}
# Helpers whose result shares no memory with what they are given.
NEW: set[Callable] = set()


def add(module: types.ModuleType, new: Collection[Callable] = ()) -> None:
    """Take what a module defines for helpers, and those that `new` names for `NEW`."""
    NEW.update(new)
    for name, value in vars(module).items():
        if isinstance(value, (types.FunctionType, type)):
            if value.__module__ == module.__name__:
                HELPERS[name] = value


# What `runtime` holds, any derivative may need; the others, rules and operators.  Rules
# for packages that need not be there add helpers of their own.
for module in (
    *(runtime, runtime_rules, runtime_elementwise, runtime_reductions, runtime_scans),
    *(runtime_joins, runtime_written, runtime_operators, runtime_control),
    *(runtime_linalg, runtime_decompositions, runtime_triangular, runtime_norms),
    *(runtime_fft, runtime_solvers),
):
    add(module)
# The adjoints of linear algebra are.
NEW.update(
    value
    for module in (
        *(runtime_linalg, runtime_decompositions, runtime_triangular, runtime_norms),
        runtime_fft,
    )
    for name, value in vars(module).items()
    if "_adjoint" in name
)
NEW.update({runtime_linalg.cofactors, runtime_triangular.lower_inverse})
# What these return was the solver's, and nobody else has it.
NEW.update(vars(runtime_solvers)[n] for n in ("solution", "flow", "trajectory"))
NEW.add(runtime_solvers.shaped_like)
NEW.update({runtime_elementwise.extremum_adjoint, runtime_elementwise.prod_adjoint})


def is_helper(value: object) -> bool:
    """Whether an object is one of the helpers, in NumPy's names."""
    name = getattr(value, "__name__", "")
    return isinstance(name, str) and name in HELPERS and HELPERS[name] is value
