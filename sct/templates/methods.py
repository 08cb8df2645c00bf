"""What attributes of arrays stand for.

``x.sum(0)``  →  ``np.sum(x, 0)``;  ``x.T``  →  ``np.transpose(x)``
"""

from __future__ import annotations

import numpy as np

from .ufuncs import METHODS_OF_UFUNCS

METHODS: dict[str, object] = {
    **{
        name: getattr(np, name)
        for name in (
            *("sum", "mean", "prod", "max", "min", "std", "var", "cumsum", "cumprod"),
            *("dot", "trace", "diagonal", "clip", "round", "any", "all", "nonzero"),
            *("reshape", "ravel", "transpose", "squeeze", "swapaxes", "copy"),
            *("repeat", "take", "argmax", "argmin", "argsort", "searchsorted"),
            *("conj", "conjugate", "choose", "argpartition"),
        )
    },
    "flatten": np.ndarray.flatten,
    "astype": np.ndarray.astype,
    "item": np.ndarray.item,
    "is_integer": float.is_integer,
    "compress": np.ndarray.compress,
    "tolist": np.ndarray.tolist,
    "view": np.ndarray.view,
}
"""Function that a method of an array calls, the array its first argument."""

PROPERTIES: dict[str, object] = {
    "T": np.transpose,
    "real": np.real,
    "imag": np.imag,
    # NumPy 2.0 and later.
    **({"mT": np.matrix_transpose} if hasattr(np, "matrix_transpose") else {}),
}
"""Function that a property of an array is."""

PROPERTIES_CONSTANT = frozenset(
    {"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "flags"}
)
"""Properties of an array that carry no derivative."""

FOLDS: dict[tuple[object, str], object] = {
    (np.add, "reduce"): np.sum,
    (np.multiply, "reduce"): np.prod,
    (np.maximum, "reduce"): np.max,
    (np.minimum, "reduce"): np.min,
    (np.add, "accumulate"): np.cumsum,
    (np.multiply, "accumulate"): np.cumprod,
    **METHODS_OF_UFUNCS,
}
"""Function that a method of a ufunc is, along the first axis unless told otherwise."""

# What else arrays have, which is no function of them alone.
OTHERS = frozenset({"fill", "flat", "partition", "put", "resize", "setflags", "sort"})


def is_array_attribute(attr: str) -> bool:
    """Whether arrays have an attribute or method of this name."""
    known = (METHODS, PROPERTIES, PROPERTIES_CONSTANT, OTHERS)
    return any(attr in names for names in known)
