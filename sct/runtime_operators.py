"""Functions that emitted Jacobians and pullbacks call.

A *row* of a Jacobian is the derivative of one number of the result, and has the
structure of the argument; a *column* is the derivative by one number of the argument,
and has the structure of the result.
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError, NanError
from .runtime import attributes, describe, rebuilt, zero_like


def parts_of(x):
    """Return the parts of a container or object by key or name, None for a value."""
    if hasattr(x, "dtype"):
        return None
    if isinstance(x, dict):
        return x
    if isinstance(x, (list, tuple)):
        return dict(enumerate(x))
    return attributes(x) or None


def with_parts(x, parts):
    """Return a container or object of the kind of `x` with other parts."""
    if isinstance(x, (list, tuple)):
        return rebuilt(x, list(parts.values()))
    return rebuilt(x, parts)


def check_nan(name, x, place):
    """Return `x`; raise if it is or holds a number that is none."""
    if is_inexact(x) and np.isnan(x).any():
        raise NanError(f"{name} is not a number: {place}")
    return x


def is_inexact(x):
    """Return whether `x` is a float, a complex number or an array of them."""
    if hasattr(x, "dtype"):
        return x.dtype.kind in "fc"
    return isinstance(x, (float, complex))


def entries(x):
    """Return how many floats and complex numbers there are in `x`."""
    parts = parts_of(x)
    if parts is not None:
        return sum([entries(v) for v in parts.values()])
    if not is_inexact(x):
        return 0
    return x.size if hasattr(x, "size") else 1


def unit_like(x, k):
    """Return zeros like `x`, with a one for its number `k`."""
    parts = parts_of(x)
    if parts is not None:
        made = {}
        for name, part in parts.items():
            n = entries(part)
            made[name] = unit_like(part, k if 0 <= k < n else -1)
            k -= n
        return with_parts(x, made)
    zero = zero_like(x)
    if not getattr(zero, "shape", ()):
        return zero + 1 if k == 0 else zero
    if k >= 0:
        zero.reshape(-1)[k] = 1
    return zero


def ones_for(x):
    """Return ones of the shape and inexact dtype of `x`."""
    return zero_like(x) + 1


def beside(y, x, name):
    """Return `y`, which has a derivative for every element of the argument `x`."""
    if getattr(x, "shape", ()) != getattr(y, "shape", ()):
        raise ArgumentError(
            f"{name} is {describe(x)} and the result is {describe(y)}: they do not "
            "correspond element by element; use sct.jacobian"
        )
    return y


def from_rows(rows, y, x):
    """Return a Jacobian given by rows: for each part of `y`, one like each of `x`."""
    parts = parts_of(y)
    if parts is not None:
        made = {}
        for name, part in parts.items():
            n = entries(part)
            made[name] = from_rows(rows[:n], part, x)
            rows = rows[n:]
        return with_parts(y, made)
    parts = parts_of(x)
    if parts is not None:
        made = {}
        for name, part in parts.items():
            made[name] = from_rows([parts_of(row)[name] for row in rows], y, part)
        return with_parts(x, made)
    if not is_inexact(x) or not is_inexact(y):
        return None
    shape = getattr(y, "shape", ()) + getattr(x, "shape", ())
    if not shape:
        return rows[0]
    return np.stack(rows).reshape(shape) if rows else np.zeros_like(x, shape=shape)


def from_columns(columns, x):
    """Return a Jacobian given by columns; it is laid out as `from_rows` does."""
    y = columns[0]
    parts = parts_of(y)
    if parts is not None:
        made = {}
        for name in parts:
            made[name] = from_columns([parts_of(c)[name] for c in columns], x)
        return with_parts(y, made)
    parts = parts_of(x)
    if parts is not None:
        made = {}
        for name, part in parts.items():
            n = entries(part)
            made[name] = from_columns(columns[:n], part) if n else None
            columns = columns[n:]
        return with_parts(x, made)
    shape = getattr(y, "shape", ()) + getattr(x, "shape", ())
    if not is_inexact(y):
        return None
    return np.stack(columns, axis=-1).reshape(shape) if shape else y


def units_where(x, places):
    """Return an array like `x` with ones at some places and zeros elsewhere."""
    return np.reshape(places, x.shape).astype(x.dtype)


def some_like(x):
    """Return an array like `x` of numbers that have nothing to do with one another."""
    k = np.arange(1.0, x.size + 1.0)
    return np.reshape(np.sin(k * k) + 1.5, x.shape).astype(x.dtype)


def values_at(products, rows, columns, colours):
    """Return entries of a Jacobian, given its products with sums of unit vectors.

    In a row, no two columns of one colour have an entry.
    """
    flat = np.stack([product.reshape(-1) for product in products])
    return flat[colours[columns], rows]


def check_pattern(jacobian, product, v):
    """Raise where a Jacobian lacks entries: its product with `v` is known otherwise."""
    found, wanted = jacobian @ v.reshape(-1), product.reshape(-1)
    size = abs(jacobian) @ abs(v.reshape(-1)) + np.abs(wanted)
    largest = np.max(np.append(size, 0.0))
    bound = 1e4 * np.finfo(wanted.dtype).eps * (size + 1e-3 * largest)
    if np.any(np.abs(found - wanted) > bound):
        raise ArgumentError(
            "the Jacobian has entries where the sparsity pattern has none: give a "
            "pattern with all that may be different from zero"
        )


def rows_of(jacobian, y, x):
    """Return the rows that `from_rows` makes a Jacobian of, in a list."""
    _, flat = flat_jacobian(jacobian, y, x)
    flat = flat.reshape((entries(y), *getattr(x, "shape", ())))
    return [flat[k] for k in range(entries(y))]


def columns_of(jacobian, x):
    """Return the columns that `from_columns` makes a Jacobian of, in a list."""
    n, flat = flat_jacobian(jacobian, 0.0, x)
    shape = flat.shape[: flat.ndim - len(getattr(x, "shape", ()))]
    flat = flat.reshape((*shape, n))
    return [flat[..., k] for k in range(n)]


def flat_jacobian(jacobian, y, x):
    """Return how many columns the Jacobian of an array by an array has, and itself."""
    if parts_of(y) is not None or parts_of(x) is not None:
        raise ArgumentError(
            "the Jacobian of a container is not differentiated again; take one of a "
            "function of arrays that returns an array"
        )
    return entries(x), np.asarray(jacobian)


def unspent(tape, arrays=False, made=None):
    """Return a copy of a tape, from which a backward sweep may take.

    Lists are copied, at any depth; with `arrays`, so is all that can be written into.
    """
    made = {} if made is None else made
    if id(tape) in made:
        return made[id(tape)]
    if type(tape) in (list, tuple):
        whole = type(tape)([unspent(v, arrays, made) for v in tape])
    elif not arrays:
        whole = tape
    elif hasattr(tape, "dtype"):
        whole = copied_array(tape, made) if tape.shape else tape
    else:
        parts = parts_of(tape)
        whole = tape
        if parts is not None:
            parts = {k: unspent(v, arrays, made) for k, v in parts.items()}
            whole = with_parts(tape, parts)
    made[id(tape)] = whole
    return whole


def copied_array(x, made):
    """Return a copy of an array; views of one array are copied to views of one copy."""
    owner = x
    while isinstance(getattr(owner, "base", None), type(owner)):
        owner = owner.base
    if id(owner) not in made:
        made[id(owner)] = owner.copy(order="K")
    copy = made[id(owner)]
    if owner is x:
        return copy
    here = type(x) is np.ndarray and hasattr(x, "__array_interface__")
    if not here or copy.strides != owner.strides:
        raise ArgumentError(
            "a view of an array that is written into is kept for the backward sweep, "
            "which can run once only: use sct.vjp"
        )
    start = owner.__array_interface__["data"][0]
    offset = x.__array_interface__["data"][0] - start
    return np.ndarray(x.shape, x.dtype, copy.ravel(order="K"), offset, x.strides)


def check_like(kind, axes, /, **arguments):
    """Raise where an argument is not of the kind that a derivative was made for."""
    kinds = {"f": "floats", "c": "complex numbers", "i": "integers", "u": "integers"}
    words = {float: "floats", complex: "complex numbers", int: "integers"}
    for name, x in arguments.items():
        dtype = getattr(x, "dtype", None)
        found = kinds.get(dtype.kind) if dtype is not None else words.get(type(x))
        if found != kind or len(getattr(x, "shape", ())) != axes:
            raise ArgumentError(
                f"{name} is {describe(x)}; this derivative is for {kind} of rank "
                f"{axes}, as `like` said"
            )


def check_complex(**arguments):
    """Raise where an argument of a holomorphic function is not complex."""
    for name, x in arguments.items():
        if not np.iscomplexobj(x):
            raise ArgumentError(
                f"{name} is {describe(x)}: with holomorphic=True it must be complex"
            )


def check_real(**arguments):
    """Raise where an argument is complex: a Jacobian has one number for each of it."""
    for name, x in arguments.items():
        parts = parts_of(x)
        if parts is not None:
            check_real(**{f"{name}.{k}": v for k, v in parts.items()})
        elif isinstance(x, complex) or getattr(x, "dtype", np.dtype(int)).kind == "c":
            raise ArgumentError(
                f"{name} is {describe(x)}: the Jacobian of a complex function is given "
                "with holomorphic=True, if it is holomorphic"
            )
