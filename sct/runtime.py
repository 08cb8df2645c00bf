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
    kind = type(x)
    if type(g) is kind:
        if kind is float or kind is complex:
            return g
        if g.shape == x.shape and g.dtype is x.dtype:
            return g
    shape = getattr(x, "shape", ())
    given = getattr(g, "shape", ())
    if given != shape:
        lead = len(given) - len(shape)
        axes = tuple(
            [i for i, n in enumerate(given) if i < lead or shape[i - lead] == 1 != n]
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
    if type(x) is np.ndarray and x.dtype.kind in "fc":
        return np.zeros(x.shape, x.dtype)
    dtype = getattr(x, "dtype", None)
    if dtype is None:
        if isinstance(x, dict):
            return {k: zero_like(v) for k, v in x.items()}
        if isinstance(x, (list, tuple)):
            return [zero_like(v) for v in x]
        if isinstance(x, (float, int)):
            return 0.0
        return 0j if isinstance(x, complex) else None
    if dtype.kind not in "fc":
        dtype = np.dtype(float)
    return dtype.type(0) if isinstance(x, np.generic) else np.zeros_like(x, dtype=dtype)


class Parts:
    """The adjoint of an object or named tuple while it grows: its parts, by name.

    They may be changed, whatever the class that they are the parts of says to that.
    """

    def __init__(self, parts):
        self.__dict__.update(parts)

    def __len__(self):
        return len(self.__dict__)

    def __getitem__(self, index):
        held = self.__dict__
        return held[index if isinstance(index, str) else list(held)[index]]

    def __setitem__(self, index, value):
        held = self.__dict__
        held[index if isinstance(index, str) else list(held)[index]] = value

    def get(self, index):
        return self[index]

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        raise ArgumentError(
            f"`.{name}` is nothing that the object holds: its class finds it when "
            "it is read, and no derivative goes back through that; write what it is "
            "made of"
        )


def attributes(x):
    """Return what an object holds, by name; a value that is no object holds nothing."""
    if isinstance(x, type) or type(x).__module__ in ("builtins", "numpy"):
        return {}
    held = dict(getattr(x, "__dict__", {}))
    for kind in type(x).__mro__:
        slots = kind.__dict__.get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if not name.startswith("__") and hasattr(x, name):
                held[name] = getattr(x, name)
    return held


def class_numbers(x):
    """Return the floats and arrays that the class of an object holds, by name."""
    held = {}
    for kind in reversed(type(x).__mro__):
        for name, value in kind.__dict__.items():
            if isinstance(value, (float, complex)) or hasattr(value, "dtype"):
                held[name] = value
    return held


def rebuilt(x, parts):
    """Return an object or container of the kind of `x` that has other parts."""
    if isinstance(x, dict):
        whole = x.copy()
        whole.update(parts)
        return whole
    if isinstance(x, (list, tuple)):
        return x._make(parts) if hasattr(x, "_fields") else type(x)(parts)
    whole = object.__new__(type(x))
    for name, value in parts.items():
        object.__setattr__(whole, name, value)
    return whole


def zero_structure(x):
    """Return the zero that adds to adjoints of a container or object, part by part."""
    if isinstance(x, np.ndarray):
        return zero_like(x)
    if isinstance(x, dict):
        return {k: zero_structure(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        zeros = [zero_structure(v) for v in x]
        return Parts(zip(x._fields, zeros)) if hasattr(x, "_fields") else zeros
    held = attributes(x)
    if not held:
        return zero_like(x)
    zeros = {name: zero_structure(value) for name, value in held.items()}
    # What its class holds is constant: `restored` leaves out what goes there.
    shared = {n: zero_like(v) for n, v in class_numbers(x).items() if n not in zeros}
    return Parts(zeros | shared)


def added(a, b):
    """Return the sum of two adjoints, part by part where they have parts."""
    if a is None or b is None:
        return a if b is None else b
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        return a + b
    if isinstance(b, dict):
        return a | {k: added(a[k], v) if k in a else v for k, v in b.items()}
    names = b._fields if hasattr(b, "_fields") else attributes(b)
    if names:
        return Parts({n: added(getattr(a, n), getattr(b, n)) for n in names})
    if isinstance(a, Parts):
        # A named tuple was unpacked.
        items = zip(vars(a).items(), b, strict=True)
        return Parts({n: added(u, v) for (n, u), v in items})
    if isinstance(a, (list, tuple)) or isinstance(b, (list, tuple)):
        return [added(u, v) for u, v in zip(a, b, strict=True)]
    return a + b


def restored(x_bar, x):
    """Return an adjoint as the kind of structure that its argument is.

    None stands where the argument has no float, complex number or array of these.
    """
    if hasattr(x, "dtype") and x.dtype.kind not in "fc":
        return None
    if hasattr(x, "dtype") or isinstance(x, (float, complex)):
        if getattr(x_bar, "shape", ()) != getattr(x, "shape", ()):
            raise ArgumentError(
                f"an item is {describe(x)} and its derivative {describe(x_bar)}: items "
                "are taken to be alike here; write them as arguments of their own"
            )
        return x_bar
    if isinstance(x, dict):
        return rebuilt(x, {k: restored(x_bar[k], v) for k, v in x.items()})
    if isinstance(x, (list, tuple)):
        return rebuilt(x, [restored(u, v) for u, v in zip(x_bar, x, strict=True)])
    held = attributes(x).items()
    parts = {name: restored(getattr(x_bar, name), value) for name, value in held}
    found = any(part is not None for part in parts.values())
    return rebuilt(x, parts) if found else None


def copied(x, seen=None):
    """Return a copy of a structure and of all in it that can be written into."""
    seen = [] if seen is None else seen
    if isinstance(x, tuple):
        return rebuilt(x, [copied(v, seen) for v in x])
    held = attributes(x)
    if not (held or isinstance(x, (list, dict)) or getattr(x, "shape", ())):
        return x
    array = not isinstance(x, Parts) and hasattr(x, "dtype")
    for other in seen:
        both = array and not isinstance(other, Parts) and hasattr(other, "dtype")
        if x is other or both and np.may_share_memory(x, other):
            raise ArgumentError(
                f"{describe(x)} is in two places of an argument that the function "
                "writes into: both would change, and which derivative belongs to which "
                "is not followed; write a copy into one of them"
            )
    seen.append(x)
    if array:
        return x.copy()
    if isinstance(x, list):
        return rebuilt(x, [copied(v, seen) for v in x])
    held = x if isinstance(x, dict) else held
    return rebuilt(x, {k: copied(v, seen) for k, v in held.items()})


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
    if isinstance(index, int) and isinstance(buffer, np.ndarray):
        buffer[index] += g
        return
    parts = index if isinstance(index, tuple) else (index,)
    basic = (int, slice, type(None), type(...), np.integer)
    if isinstance(buffer, (list, dict, Parts)):
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


def check_no_complex(**arguments):
    """Raise where an argument is complex, for which something else would be right."""
    for name, x in arguments.items():
        if (
            isinstance(x, complex)
            or getattr(getattr(x, "dtype", None), "kind", "") == "c"
        ):
            raise ArgumentError(
                f"{name} is {describe(x)}, and was taken for real: give examples with "
                f"like=, or annotate it, as `{name}: complex` or with np.complex128"
            )


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


def check_tangent(name, x_dot, x):
    """Raise unless a tangent has the shape of its primal."""
    if getattr(x_dot, "shape", ()) != getattr(x, "shape", ()) or x_dot is None:
        raise ArgumentError(
            f"{name} is {describe(x_dot)}; the argument is {describe(x)}, "
            f"and {name} must have its shape"
        )


def check_floats(**arrays):
    """Raise where an array of integers would get floats, or a list holds such a one."""
    for name, x in arrays.items():
        if isinstance(x, (list, tuple)):
            check_floats(**{f"{name}[{k}]": v for k, v in enumerate(x)})
        elif isinstance(x, dict):
            check_floats(**{f"{name}[{k!r}]": v for k, v in x.items()})
        elif isinstance(x, Parts):
            check_floats(**{f"{name}.{k}": v for k, v in vars(x).items()})
        elif getattr(x, "shape", ()) and x.dtype.kind in "iub":
            raise ArgumentError(
                f"{name} is {describe(x)}: what is stored there is cut to an integer; "
                f"pass {name}.astype(float), or make it an array of floats"
            )


def check_alike(y, x, y_dot, x_dot):
    """Raise unless `y_dot` looks into `x_dot` just where `y` looks into `x`."""
    if np.may_share_memory(y, x) != np.may_share_memory(y_dot, x_dot):
        raise ArgumentError(
            f"{describe(x)} is looked into in another shape and written into, and its "
            "tangent lies differently in memory; pass tangents that are contiguous, as "
            "np.ascontiguousarray gives them"
        )


def filled(x_dot, x, name):
    """Return the tangent of a container or object with zeros where None stands in it.

    None stands for the tangent of what is constant, as it does in gradients for what
    has no float, complex number or array of these.
    """
    if x_dot is None:
        return zero_structure(x)
    if isinstance(x, dict) and isinstance(x_dot, dict) and {*x_dot} == {*x}:
        return {k: filled(x_dot[k], v, f"{name}[{k!r}]") for k, v in x.items()}
    alike = isinstance(x_dot, (list, tuple, Parts)) and len(x_dot) == len(x)
    if isinstance(x, (list, tuple)) and alike:
        parts = [filled(x_dot[k], v, f"{name}[{k}]") for k, v in enumerate(x)]
        return Parts(zip(x._fields, parts)) if hasattr(x, "_fields") else parts
    held = {} if isinstance(x, (dict, list, tuple)) else attributes(x)
    dots = attributes(x_dot)
    if held and {*held} == {*dots}:
        shared = {n: zero_like(v) for n, v in class_numbers(x).items()}
        parts = {k: filled(dots[k], v, f"{name}.{k}") for k, v in held.items()}
        return Parts(shared | parts)
    kind = getattr(getattr(x, "dtype", None), "kind", "")
    if not (isinstance(x, (float, complex)) or kind in ("f", "c")):
        if not isinstance(x_dot, (int, float, complex)) or not x_dot:
            return zero_like(x)
        raise ArgumentError(
            f"{name} is {describe(x_dot)}; the argument there is {describe(x)}: pass "
            "a tangent of the structure of the argument, with None for what is constant"
        )
    check_tangent(name, x_dot, x)
    return x_dot


def ranks(x):
    """Return the numbers of axes of an array, or of lists of lists of numbers."""
    if isinstance(x, (list, tuple)):
        return {1 + rank for v in x for rank in ranks(v)}
    return {len(getattr(x, "shape", ()))}


def check_class(value, name, kind):
    """Raise unless `value` is of just the class whose methods are written out."""
    if type(value) is not kind:
        raise ArgumentError(
            f"{name} is a {type(value).__name__}: the methods of {kind.__name__} are "
            "part of this derivative, and another class may have others"
        )


def check_plain(value, attr):
    """Raise where setting an attribute of `value` does more than to keep it there."""
    held = getattr(type(value), attr, None)
    if isinstance(held, property) or hasattr(type(value).__setattr__, "__code__"):
        raise ArgumentError(
            f"setting `.{attr}` of a {type(value).__name__} runs code of its class, "
            "which this derivative does not follow; write what it sets"
        )


def check_same(value, name, expected):
    """Raise unless `value` is the function or module that is written out."""
    if value is not expected:
        raise ArgumentError(
            f"{name} is another function or module than this derivative is of"
        )


def check_apart(written, /, **arguments):
    """Raise where an argument that is written into shares memory with another."""
    for k, name in enumerate(written):
        x = arguments[name]
        for other, y in arguments.items():
            if other == name or other in written[k:]:
                continue
            arrays = getattr(x, "shape", ()) and getattr(y, "shape", ())
            if (
                x is y
                and type(x).__hash__ is None
                or (arrays and np.may_share_memory(x, y))
            ):
                raise ArgumentError(
                    f"{name} and {other} share memory, and {name} is written into; "
                    f"pass a copy of one of them: write {name}.copy() in the call"
                )


def check_rank(rank, /, **arrays):
    """Raise unless every array has `rank` axes."""
    for name, x in arrays.items():
        if ranks(x) - {rank}:
            raise ArgumentError(
                f"{name} is {describe(x)}: its elements are taken for numbers here, so "
                f"it must have {rank} axes; write into rows with {name}[i][...] += y"
            )


def check_indices(**arguments):
    """Raise where what an array is indexed with picks a copy, and no part of it."""
    for name, x in arguments.items():
        array = hasattr(x, "shape") and not isinstance(x, np.integer)
        if array or isinstance(x, (list, bool)):
            raise ArgumentError(
                f"{name} is {describe(x)}: what it picks of an array is a copy, and is "
                f"taken for a part here, as it is written into; write a[{name}].copy()"
            )


def check_numpy(**arguments):
    """Raise for arrays of which elements and sums are arrays that may be written into.

    The derivative of a function that writes into something, and is not known to be for
    such arrays, takes them for numbers.
    """
    for name, x in arguments.items():
        if isinstance(x, (list, tuple)):
            check_numpy(**{f"{name}[{k}]": v for k, v in enumerate(x)})
        elif isinstance(x, dict):
            check_numpy(**{f"{name}[{k!r}]": v for k, v in x.items()})
        elif type(x).__module__ == "cupy":
            raise ArgumentError(
                f"{name} is an array of CuPy's, whose elements and sums are arrays as "
                "well, and the function writes into some: annotate the parameter, as "
                "`x: cp.ndarray`, so that its derivative is made for that"
            )


def check_contiguous(**arrays):
    """Raise unless every array is contiguous, in the order of its last axis first."""
    for name, x in arrays.items():
        flags = getattr(x, "flags", None)
        if flags is not None and not flags.c_contiguous:
            raise ArgumentError(
                f"{name} is {describe(x)} that is not contiguous, and its `reshape` or "
                f"`ravel`, which is written into, may be a copy; write {name}[...] = y"
            )


def check_arrays(**arrays):
    """Raise unless every argument is an array, which may have no axes."""
    for name, x in arrays.items():
        if not hasattr(x, "shape") or isinstance(x, np.generic):
            raise ArgumentError(
                f"{name} is {describe(x)}: `{name} += ...` changes an array under all "
                f"its names, and a number under one; write {name} = {name} + ..."
            )


def check_numbers(**arguments):
    """Raise if an argument is an array, even one without axes."""
    for name, x in arguments.items():
        if hasattr(x, "shape") and not isinstance(x, np.generic):
            raise ArgumentError(
                f"{name} is {describe(x)}: which other names refer to it when it is "
                "changed in place is not known; copy it, or write "
                f"{name} = {name} + ..."
            )
