"""The helpers: functions and classes that emitted code calls, and where they stand.

``HELPERS["unbroadcast"]`` is the one of that name.  A saved module carries their text.
"""

from __future__ import annotations

import types

from . import runtime, runtime_operators, runtime_rules

# What `runtime` holds, any derivative may need; the others, rules and operators.
MODULES = (runtime, runtime_rules, runtime_operators)

HELPERS = {
    name: value
    for module in MODULES
    for name, value in vars(module).items()
    if isinstance(value, (types.FunctionType, type))
    and value.__module__ == module.__name__
}


def is_helper(value: object) -> bool:
    """Whether an object is one of the helpers."""
    return HELPERS.get(getattr(value, "__name__", "")) is value
