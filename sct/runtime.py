"""The functions that emitted code calls.

Each is short and complete in itself, because a saved module carries the text of
those it uses instead of importing sct.  They take whatever follows NumPy's
dispatch protocols and convert nothing.
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError


def sum_along(g, axes):
    """Return `g` summed along `axes`, which stay with length one."""
    if g.size < 2048 or g.shape[-1] > 16 or g.dtype.char not in "fdFD":
        return g.sum(axis=axes, keepdims=True)
    # Along short rows `np.einsum` is several times faster.
    kept = [i for i in range(g.ndim) if i not in axes]
    shape = [1 if i in axes else n for i, n in enumerate(g.shape)]
    return np.einsum(g, list(range(g.ndim)), kept).reshape(shape)


def unbroadcast(g, x):
    """Return `g` summed or spread to the shape of `x`, no wider in dtype than `x`."""
    if type(g) is type(x) and (
        type(x) is float or g.shape == x.shape and g.dtype == x.dtype
    ):
        return g
    shape = getattr(x, "shape", ())
    given = getattr(g, "shape", ())
    if given != shape:
        lead = len(given) - len(shape)
        axes = tuple(
            i for i, n in enumerate(given) if i < lead or shape[i - lead] == 1 != n
        )
        if not shape:
            g = g.sum()
        elif axes:
            g = sum_along(g, axes)
        if shape and lead > 0:
            g = g.reshape(g.shape[lead:])
        if getattr(g, "shape", ()) != shape:
            g = g + np.zeros_like(x)
    have, want = getattr(g, "dtype", type(g)), getattr(x, "dtype", type(x))
    if have is not want:
        have, want = np.dtype(have), np.dtype(want)
        if have.kind == "c" and want.kind == "f":
            g, have = g.real, g.real.dtype if hasattr(g, "dtype") else np.dtype(float)
        if (
            have.kind == want.kind
            and want.kind in "fc"
            and have.itemsize > want.itemsize
        ):
            g = g.astype(want) if hasattr(g, "astype") else want.type(g)
    return g


def zero_like(x):
    """Return the zero that adds to adjoints of `x`: its shape and inexact dtype.

    The zero of a list or tuple is a list, that of a dict a dict; None stands for the
    zero of what has no derivative.
    """
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        if isinstance(x, (float, int)):
            return 0.0
        return 0j if isinstance(x, complex) else zero_structure(x)
    if dtype.kind not in "fc":
        dtype = np.dtype(float)
    return dtype.type(0) if isinstance(x, np.generic) else np.zeros_like(x, dtype=dtype)


def zero_structure(x):
    """Return the zero of a container or object, part by part."""
    if isinstance(x, dict):
        return {k: zero_like(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [zero_like(v) for v in x]
    if not hasattr(x, "__dict__") or callable(x):
        return None
    zero = object.__new__(type(x))
    for name, value in vars(x).items():
        object.__setattr__(zero, name, zero_like(value))
    return zero


def added(a, b):
    """Return the sum of two adjoints, part by part where they have parts."""
    if isinstance(b, dict):
        return {k: added(a[k], b[k]) for k in b}
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        return [added(u, v) for u, v in zip(a, b, strict=True)]
    if a is None or b is None:
        return a if b is None else b
    if not hasattr(b, "__dict__"):
        return a + b
    total = object.__new__(type(b))
    for name, value in vars(b).items():
        object.__setattr__(total, name, added(getattr(a, name), value))
    return total


def restored(x_bar, x):
    """Return an adjoint as the kind of container that its argument is."""
    if isinstance(x, dict):
        return {k: restored(x_bar[k], v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        parts = [restored(u, v) for u, v in zip(x_bar, x, strict=True)]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    if hasattr(x, "__dict__") and not hasattr(x, "dtype"):
        for name, value in vars(x).items():
            object.__setattr__(x_bar, name, restored(getattr(x_bar, name), value))
    return x_bar


def broadcast_like(g, x):
    """Return `g` spread over a new array like `x`; `g` itself when `x` is a scalar."""
    dtype = getattr(x, "dtype", None)
    if dtype is None or isinstance(x, np.generic):
        return g
    if dtype.kind not in "fc":
        dtype = np.dtype(float)
    return np.full_like(x, g if dtype.kind == "c" else g.real, dtype=dtype)


def add_at(buffer, index, g):
    """Add `g` to ``buffer[index]`` in place, once for every time an item is indexed."""
    parts = index if isinstance(index, tuple) else (index,)
    basic = (int, slice, type(None), type(...), np.integer)
    if isinstance(buffer, list):
        buffer[index] = added(buffer[index], g)
    elif all(isinstance(i, basic) for i in parts):
        buffer[index] += g
    elif (
        getattr(getattr(index, "dtype", None), "kind", "") == "i"
        and 4 * index.size > len(buffer)
        and np.shape(g) == index.shape + buffer.shape[1:]
        and buffer.dtype.char in "fd"
        and g.dtype.char in "fd"
    ):
        add_rows(buffer, index, g)
    else:
        np.add.at(buffer, index, g)


def add_rows(buffer, index, g):
    """Add the rows `g` to ``buffer[index]``, several times faster than `np.add.at`."""
    width = buffer[0].size
    places = index.astype(np.intp).reshape(-1, 1) % len(buffer) * width
    places = (places + np.arange(width)).reshape(-1)
    buffer += np.bincount(places, g.reshape(-1), buffer.size).reshape(buffer.shape)


def describe(x):
    """Return what `x` is, in words."""
    dtype, shape = getattr(x, "dtype", None), getattr(x, "shape", ())
    if dtype is not None and shape:
        kind = {"i": "integer", "u": "integer", "b": "boolean", "O": "object"}
        kind = {**kind, "U": "string", "f": "", "c": ""}.get(dtype.kind, str(dtype))
        noun = f"{kind} array".strip()
        return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun} of shape {shape}"
    if isinstance(x, (bool, np.bool_)):
        return f"a boolean ({x})"
    if isinstance(x, (int, np.integer)):
        return f"an integer ({x})"
    if x is None:
        return "None"
    noun = {"str": "string"}.get(type(x).__name__, type(x).__name__)
    return f"{'an' if noun[0] in 'aeiouAEIOU' else 'a'} {noun}"


def check_inexact(**arguments):
    """Raise unless every argument is a float, a complex number or an array of them."""
    for name, x in arguments.items():
        kind = getattr(getattr(x, "dtype", None), "kind", "")
        if isinstance(x, (float, complex)) or kind in ("f", "c"):
            continue
        if isinstance(x, (bool, int)):
            remedy = f"pass {float(x)}"
        elif kind:
            remedy = f"pass {name}.astype(float)"
        else:
            remedy = f"pass np.array({name}, dtype=float)"
        message = f"{name} is {describe(x)}: derivatives need floats; {remedy}"
        raise ArgumentError(message)


def check_scalars(function, /, **arguments):
    """Raise unless every argument is a single float or complex number."""
    check_inexact(**arguments)
    for name, x in arguments.items():
        if getattr(x, "shape", ()):
            raise ArgumentError(
                f"{name} is {describe(x)}: {function} gives a scalar only for scalar "
                f"{name}; for arrays use sct.vjp"
            )


def check_scalar_result(function, out):
    """Raise unless `out`, what `function` returned, is a single number."""
    number = isinstance(out, (int, float, complex)) or hasattr(out, "dtype")
    if not number or getattr(out, "shape", ()):
        raise ArgumentError(
            f"{function} returned {describe(out)}; sct.grad differentiates scalars: "
            "use sct.vjp"
        )


def check_seed(out_bar, out):
    """Raise unless the seed `out_bar` has the structure and shapes of `out`."""
    if isinstance(out, (tuple, list, dict)):
        if type(out_bar) is not type(out) or len(out_bar) != len(out):
            raise ArgumentError(
                f"out_bar is {describe(out_bar)}; the result is {describe(out)} of "
                f"{len(out)} items, and so must out_bar be"
            )
        for key in out if isinstance(out, dict) else range(len(out)):
            check_seed(out_bar[key], out[key])
    elif getattr(out_bar, "shape", ()) != getattr(out, "shape", ()):
        raise ArgumentError(
            f"out_bar is {describe(out_bar)}; the result is {describe(out)}, "
            "and out_bar must have its shape"
        )


def check_rank(rank, /, **arrays):
    """Raise unless every array has `rank` axes."""
    for name, x in arrays.items():
        if len(getattr(x, "shape", ())) != rank:
            raise ArgumentError(
                f"{name} is {describe(x)}: its elements are taken for numbers here, so "
                f"it must have {rank} axes; write into rows with {name}[i][...] += y"
            )


def check_arrays(**arrays):
    """Raise unless every argument is an array with at least one axis."""
    for name, x in arrays.items():
        if not getattr(x, "shape", ()):
            raise ArgumentError(
                f"{name} is {describe(x)}: `{name} += ...` changes an array under all "
                f"its names, and a number under one; write {name} = {name} + ..."
            )


def check_numbers(**arguments):
    """Raise if an argument is an array with at least one axis."""
    for name, x in arguments.items():
        if getattr(x, "shape", ()):
            raise ArgumentError(
                f"{name} is {describe(x)}: which other names refer to it when "
                f"`{name} += ...` changes it is not known; write {name} = {name} + ..."
            )
