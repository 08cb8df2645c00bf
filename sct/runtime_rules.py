"""Functions that emitted code calls where a rule needs more than an expression.

Each is plain NumPy, so that it can be copied into a saved module together with those
it calls::

    w_bar = matmul_adjoint_a(z_bar, w, x)        # ranks unknown

Everywhere `g` is the adjoint of the result `y`.
"""

from __future__ import annotations

import numpy as np

from .runtime import add_at, unbroadcast, zero_like


def size_along(a, axis):
    """The number of elements of `a` along an axis or several."""
    shape = np.shape(a)
    axes = axis if isinstance(axis, tuple) else (axis,)
    size = 1
    for i in axes:
        size *= shape[i]
    return size


def scatter(g, a, index):
    """Zeros like `a`, with `g` added at `index`, repeated places included."""
    a_bar = np.zeros_like(a)
    add_at(a_bar, index, g)
    return a_bar


def cut(x_bar, y_bar):
    """Return `x_bar`, an adjoint made of `y_bar`, but 0 where 0 met an infinity."""
    squares = np.vdot(x_bar, x_bar)
    # A sum of squares is nan only if one of them is.
    if squares == squares:
        return x_bar
    return np.where((y_bar == 0) & np.isnan(x_bar), 0.0, x_bar)


# Reductions.


def average_shares(a, axis, weights):
    """What each element counts for in ``np.average(a, axis, weights)``."""
    if np.shape(weights) == np.shape(a):
        return weights / np.sum(weights, axis, keepdims=True)
    axes = np.mod(axis if isinstance(axis, tuple) else (axis,), np.ndim(a))
    weights = np.transpose(weights, np.argsort(axes))
    others = tuple(i for i in range(np.ndim(a)) if i not in axes)
    return np.expand_dims(weights / np.sum(weights), others)


def product_of_others(a, axis=None):
    """For each element of `a` the product of all others along `axis`."""
    if axis is None:
        axis = tuple(range(np.ndim(a)))
    axes = axis if isinstance(axis, tuple) else (axis,)
    rows = np.moveaxis(a, axes, range(-len(axes), 0))
    kept = np.shape(rows)[: np.ndim(a) - len(axes)]
    flat = np.reshape(rows, (*kept, size_along(a, axis)))
    ones = np.ones_like(flat[..., :1])
    before = np.cumprod(np.concatenate([ones, flat[..., :-1]], -1), -1)
    after = np.cumprod(np.concatenate([ones, flat[..., :0:-1]], -1), -1)[..., ::-1]
    others = np.reshape(before * after, np.shape(rows))
    return np.moveaxis(others, range(-len(axes), 0), axes)


def cumprod_adjoint(g, a, axis=None):
    """The adjoint of ``np.cumprod(a, axis)``; zeros in `a` are no exception."""
    if axis is None:
        rows, rows_bar = np.ravel(a), np.ravel(g)
    else:
        rows, rows_bar = np.moveaxis(a, axis, 0), np.moveaxis(g, axis, 0)
    before = np.cumprod(np.concatenate([np.ones_like(rows[:1]), rows[:-1]]), 0)
    tail = np.empty_like(rows)
    above = np.zeros_like(rows[:1])
    for i in reversed(range(len(rows))):
        tail[i] = rows_bar[i] + above[0]
        above = rows[i : i + 1] * tail[i : i + 1]
    if axis is None:
        return np.reshape(before * tail, np.shape(a))
    return np.moveaxis(before * tail, 0, axis)


def diff_adjoint(g, n=1, axis=-1):
    """The adjoint of ``np.diff(a, n, axis)``: minus the differences, `n` times."""
    rows_bar = np.swapaxes(g, axis, -1)
    for _ in range(n):
        edge = np.zeros_like(rows_bar, shape=(*np.shape(rows_bar)[:-1], 1))
        rows_bar = -np.diff(np.concatenate([edge, rows_bar, edge], -1))
    return np.swapaxes(rows_bar, axis, -1)


def sum_adjoint(g, iterable):
    """The adjoint of ``sum(iterable)``: one `g` for each element."""
    if isinstance(iterable, np.ndarray):
        return np.zeros_like(iterable) + g
    return type(iterable)([unbroadcast(g, x) for x in iterable])


def itemised(g, x):
    """Return `g`, the adjoint of the items of `x`, as a new array or list as `x` is."""
    if isinstance(x, (float, complex)):
        return unbroadcast(g, x)
    if not isinstance(g, (list, tuple)):
        # Of more axes than `x` where that was broadcast.
        g = unbroadcast(g, x) if hasattr(x, "dtype") else g
        g = +np.broadcast_to(g, np.shape(x))
    if not hasattr(x, "dtype"):
        return list(g)
    if hasattr(g, "dtype"):
        return g
    whole = zero_like(x)
    for i, part in enumerate(g):
        whole[i] = part
    return whole


# Products.


def sum_to_product(g, a, b):
    """Return `g` summed to the shape of ``a @ b``, from which it was broadcast."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + a.shape[-2:-1]
    shape = stack + b.shape[-1:] if b.ndim > 1 else stack
    return g if np.shape(g) == shape else unbroadcast(g, np.empty(shape, g.dtype))


def matmul_adjoint_a(g, a, b):
    """The adjoint of `a` in ``a @ b``, whatever the ranks."""
    b = b if hasattr(b, "ndim") else np.array(b)
    if b.ndim > 2 or getattr(g, "shape", ()) != a.shape[:-1] + b.shape[1:]:
        g = sum_to_product(g, a, b)
    if b.ndim == 2:
        a_bar = b @ g if a.ndim == 1 else g @ b.T
    elif b.ndim == 1:
        a_bar = g * b if a.ndim == 1 else g[..., None] * b
    elif a.ndim == 1:
        a_bar = (g[..., None, :] @ np.swapaxes(b, -1, -2))[..., 0, :]
    else:
        a_bar = g @ np.swapaxes(b, -1, -2)
    return a_bar if b.ndim < 3 and a_bar.dtype is a.dtype else unbroadcast(a_bar, a)


def matmul_adjoint_b(g, a, b):
    """The adjoint of `b` in ``a @ b``, whatever the ranks."""
    a = a if hasattr(a, "ndim") else np.array(a)
    if b.ndim > 2 or getattr(g, "shape", ()) != a.shape[:-1] + b.shape[1:]:
        g = sum_to_product(g, a, b)
    if a.ndim == 2 and b.ndim < 3:
        b_bar = a.T @ g
    elif a.ndim == 1:
        b_bar = g * a if b.ndim == 1 else g[..., None, :] * a[:, None]
    elif b.ndim > 2:
        b_bar = np.swapaxes(a, -1, -2) @ g
    else:
        count = size_along(g, tuple(range(a.ndim - 1)))
        rows = np.reshape(a, (count, a.shape[-1]))
        b_bar = rows.T @ np.reshape(g, (count, *b.shape[1:]))
    return b_bar if b.ndim < 3 and b_bar.dtype is b.dtype else unbroadcast(b_bar, b)


def dot_adjoint_a(g, a, b):
    """The adjoint of `a` in ``np.dot(a, b)``, whatever the ranks."""
    if np.ndim(a) == 0:
        return np.sum(g * b)
    if np.ndim(b) == 0:
        return g * b
    if np.ndim(b) == 1:
        return g * b if np.ndim(a) == 1 else g[..., None] * b
    kept = np.moveaxis(b, -2, -1)
    return np.tensordot(g, kept, np.ndim(b) - 1)


def dot_adjoint_b(g, a, b):
    """The adjoint of `b` in ``np.dot(a, b)``, whatever the ranks."""
    if np.ndim(b) == 0:
        return np.sum(g * a)
    if np.ndim(a) == 0:
        return g * a
    rows = list(range(np.ndim(a) - 1))
    b_bar = np.tensordot(a, g, (rows, rows))
    return np.moveaxis(b_bar, 0, -1 if np.ndim(b) == 1 else -2)


def inner_adjoint_a(g, a, b):
    """The adjoint of `a` in ``np.inner(a, b)``, whatever the ranks."""
    if np.ndim(a) == 0:
        return np.sum(g * b)
    if np.ndim(b) == 0:
        return g * b
    return np.tensordot(g, b, np.ndim(b) - 1)


def inner_adjoint_b(g, a, b):
    """The adjoint of `b` in ``np.inner(a, b)``, whatever the ranks."""
    if np.ndim(b) == 0:
        return np.sum(g * a)
    if np.ndim(a) == 0:
        return g * a
    rows = list(range(np.ndim(a) - 1))
    return np.tensordot(g, a, (rows, rows))


def _contracted(a, b, axes):
    if np.ndim(axes) == 0:
        return list(range(np.ndim(a) - axes, np.ndim(a))), list(range(axes))
    of_a, of_b = ([i] if np.ndim(i) == 0 else list(i) for i in axes)
    return [i % np.ndim(a) for i in of_a], [i % np.ndim(b) for i in of_b]


def tensordot_adjoint_a(g, a, b, axes=2):
    """The adjoint of `a` in ``np.tensordot(a, b, axes)``."""
    of_a, of_b = _contracted(a, b, axes)
    kept_a = [i for i in range(np.ndim(a)) if i not in of_a]
    kept_b = [i for i in range(np.ndim(b)) if i not in of_b]
    last = list(range(len(kept_a), np.ndim(g)))
    a_bar = np.tensordot(g, b, (last, kept_b))
    order = kept_a + [of_a[of_b.index(i)] for i in sorted(of_b)]
    return np.transpose(a_bar, np.argsort(order))


def tensordot_adjoint_b(g, a, b, axes=2):
    """The adjoint of `b` in ``np.tensordot(a, b, axes)``."""
    of_a, of_b = _contracted(a, b, axes)
    kept_a = [i for i in range(np.ndim(a)) if i not in of_a]
    kept_b = [i for i in range(np.ndim(b)) if i not in of_b]
    b_bar = np.tensordot(a, g, (kept_a, list(range(len(kept_a)))))
    order = [of_b[of_a.index(i)] for i in sorted(of_a)] + kept_b
    return np.transpose(b_bar, np.argsort(order))


def three_components(x, axis=-1):
    """The vectors along an axis, now the last one, a third component of 0 added."""
    rows = np.moveaxis(x, axis, -1)
    if np.shape(rows)[-1] == 3:
        return rows
    return np.concatenate([rows, np.zeros_like(rows[..., :1])], -1)


def cross_three(g, a, b, axisa, axisb, axisc):
    """The adjoint `g` of ``np.cross(a, b, ...)`` as vectors of three components."""
    if np.shape(a)[axisa] == 3 or np.shape(b)[axisb] == 3:
        return np.moveaxis(g, axisc, -1)
    zeros = np.zeros_like(g)
    return np.stack([zeros, zeros, g], -1)


def cross_adjoint_a(g, a, b, axisa=-1, axisb=-1, axisc=-1):
    """The adjoint of `a` in ``np.cross(a, b, axisa, axisb, axisc)``."""
    g = cross_three(g, a, b, axisa, axisb, axisc)
    rows = np.moveaxis(a, axisa, -1)
    bar = np.cross(three_components(b, axisb), g)[..., : np.shape(rows)[-1]]
    return np.moveaxis(unbroadcast(bar, rows), -1, axisa)


def cross_adjoint_b(g, a, b, axisa=-1, axisb=-1, axisc=-1):
    """The adjoint of `b` in ``np.cross(a, b, axisa, axisb, axisc)``."""
    g = cross_three(g, a, b, axisa, axisb, axisc)
    rows = np.moveaxis(b, axisb, -1)
    bar = np.cross(g, three_components(a, axisa))[..., : np.shape(rows)[-1]]
    return np.moveaxis(unbroadcast(bar, rows), -1, axisb)


def kron_adjoint_a(g, a, b):
    """The adjoint of `a` in ``np.kron(a, b)``."""
    rank = max(np.ndim(a), np.ndim(b))
    of_a = (1,) * (rank - np.ndim(a)) + np.shape(a)
    of_b = (1,) * (rank - np.ndim(b)) + np.shape(b)
    blocks = np.reshape(g, [n for pair in zip(of_a, of_b) for n in pair])
    weights = np.reshape(b, [n for pair in zip((1,) * rank, of_b) for n in pair])
    return np.reshape(
        np.sum(blocks * weights, axis=tuple(range(1, 2 * rank, 2))), np.shape(a)
    )


def kron_adjoint_b(g, a, b):
    """The adjoint of `b` in ``np.kron(a, b)``."""
    rank = max(np.ndim(a), np.ndim(b))
    of_a = (1,) * (rank - np.ndim(a)) + np.shape(a)
    of_b = (1,) * (rank - np.ndim(b)) + np.shape(b)
    blocks = np.reshape(g, [n for pair in zip(of_a, of_b) for n in pair])
    weights = np.reshape(a, [n for pair in zip(of_a, (1,) * rank) for n in pair])
    return np.reshape(
        np.sum(blocks * weights, axis=tuple(range(0, 2 * rank, 2))), np.shape(b)
    )


def einsum_adjoint(g, subscripts, operands):
    """The adjoints of all operands of ``np.einsum(subscripts, *operands)``."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    used = {c for c in subscripts if c.isalpha()}
    spare = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"]
    spare = [c for c in spare if c not in used]
    extra = [np.ndim(x) - len(t) + 3 for t, x in zip(terms, operands) if "..." in t]
    dots = "".join(spare[: max(extra, default=0)])
    if not arrow:
        once = [c for c in sorted(used) if inputs.count(c) == 1]
        output = dots + "".join(once)
    for i, term in enumerate(terms):
        own = np.ndim(operands[i]) - len(term) + 3
        terms[i] = term.replace("...", dots[len(dots) - own :])
    output = output.replace("...", dots)
    size = {}
    for term, x in zip(terms, operands):
        for c, n in zip(term, np.shape(x)):
            size[c] = max(size.get(c, 1), n) if n else 0

    adjoints = []
    for i, term in enumerate(terms):
        others = [(t, operands[j]) for j, t in enumerate(terms) if j != i]
        others = [(output, g), *others]
        free = "".join(dict.fromkeys(term))
        found = "".join(c for c in free if any(c in t for t, _ in others))
        summed = np.einsum(
            ",".join(t for t, _ in others) + "->" + found, *(x for _, x in others)
        )
        summed = np.reshape(summed, [size[c] if c in found else 1 for c in free])
        spread = np.broadcast_to(summed, [size[c] for c in free])
        if free == term:
            adjoints.append(unbroadcast(spread, operands[i]))
            continue
        x_bar = np.zeros_like(operands[i])
        grids = np.ogrid[tuple(slice(size[c]) for c in free)]
        x_bar[tuple(grids[free.index(c)] for c in term)] = spread
        adjoints.append(x_bar)
    return tuple(adjoints)


def einsum_tangent(dots, subscripts, operands):
    """The change of ``np.einsum(subscripts, *operands)`` as each operand moves."""
    y_dot = 0.0
    for i, dot in enumerate(dots):
        rest = operands[i + 1 :]
        y_dot = y_dot + np.einsum(subscripts, *operands[:i], dot, *rest)
    return y_dot


def einsum_mixed(g, dots, subscripts, operands):
    """The change of ``einsum_adjoint(g, ...)`` as each *other* operand moves."""
    bars = [np.zeros_like(x) for x in operands]
    for i, dot in enumerate(dots):
        changed = (*operands[:i], dot, *operands[i + 1 :])
        for j, bar in enumerate(einsum_adjoint(g, subscripts, changed)):
            if j != i:
                bars[j] = bars[j] + bar
    return tuple(bars)


# Diagonals.


def diagonal_adjoint(g, a, offset=0, axis1=0, axis2=1):
    """The adjoint of ``np.diagonal(a, offset, axis1, axis2)``."""
    a_bar = np.zeros_like(a)
    rows = np.moveaxis(a_bar, (axis1, axis2), (-2, -1))
    i = np.arange(np.shape(g)[-1])
    rows[..., i + max(-offset, 0), i + max(offset, 0)] = g
    return a_bar


def diag_adjoint(g, v, k=0):
    """The adjoint of ``np.diag(v, k)``, a vector or a matrix."""
    if np.ndim(v) == 1:
        return np.diag(g, k).copy()
    return diagonal_adjoint(g, v, k)


def trace_adjoint(g, a, offset=0, axis1=0, axis2=1):
    """The adjoint of ``np.trace(a, offset, axis1, axis2)``."""
    a_bar = np.zeros_like(a)
    rows = np.moveaxis(a_bar, (axis1, axis2), (-2, -1))
    i = np.arange(np.shape(np.diagonal(a, offset, axis1, axis2))[-1])
    rows[..., i + max(-offset, 0), i + max(offset, 0)] = np.expand_dims(g, -1)
    return a_bar


# Arrays.


def cast_adjoint(g, y, a):
    """The adjoint of a conversion of `a` to the dtype of `y`."""
    if np.issubdtype(y.dtype, np.inexact):
        return g
    return np.zeros_like(a)


def split_adjoint(g, arrays, axis=0):
    """The parts of `g` that `arrays` became when joined along `axis`."""
    if axis is None:
        g, axis = np.ravel(g), 0
        sizes = [np.size(a) for a in arrays]
    else:
        rank = np.ndim(g)
        sizes = [np.shape(a)[axis] if np.ndim(a) == rank else 1 for a in arrays]
    parts = np.split(g, np.cumsum(sizes)[:-1], axis)
    parts = [np.reshape(part, np.shape(a)) for part, a in zip(parts, arrays)]
    return np.stack(parts) if isinstance(arrays, np.ndarray) else type(arrays)(parts)


def join(parts, g, axis=0):
    """What `split_adjoint` split: `parts` side by side in an array of `g`'s shape."""
    if axis is None:
        return np.reshape(np.concatenate(parts, None), np.shape(g))
    shape = list(np.shape(g))
    shape[axis] = 1
    parts = [p if np.ndim(p) == len(shape) else np.reshape(p, shape) for p in parts]
    return np.concatenate(parts, axis)


def unstack_adjoint(g, arrays, axis=0):
    """The parts of `g` that `arrays` became when stacked along `axis`."""
    parts = np.moveaxis(g, axis, 0)
    return parts if isinstance(arrays, np.ndarray) else type(arrays)(parts)


def tile_adjoint(g, a, reps):
    """The adjoint of ``np.tile(a, reps)``."""
    reps = reps if isinstance(reps, (tuple, list)) else (reps,)
    rank = max(np.ndim(a), len(reps))
    reps = (1,) * (rank - len(reps)) + tuple(reps)
    shape = (1,) * (rank - np.ndim(a)) + np.shape(a)
    blocks = np.reshape(g, [n for pair in zip(reps, shape) for n in pair])
    a_bar = np.sum(blocks, axis=tuple(range(0, 2 * rank, 2)))
    return np.reshape(a_bar, np.shape(a))


def resize_adjoint(g, a):
    """The adjoint of ``np.resize(a, np.shape(g))``."""
    if np.ndim(a) == 0:
        return np.sum(g)
    g, size = np.ravel(g), np.size(a)
    whole = np.zeros_like(g, shape=-(-g.size // size) * size)
    whole[: g.size] = g
    return np.reshape(np.sum(np.reshape(whole, (-1, size)), axis=0), np.shape(a))


def repeat_adjoint(g, a, repeats, axis=None):
    """The adjoint of ``np.repeat(a, repeats, axis)``."""
    if axis is None:
        index = np.repeat(np.arange(np.size(a)), repeats)
        return np.reshape(scatter(g, np.ravel(a), index), np.shape(a))
    index = np.repeat(np.arange(np.shape(a)[axis]), repeats)
    return take_adjoint(g, a, index, axis)


def take_adjoint(g, a, indices, axis=None):
    """The adjoint of ``np.take(a, indices, axis)``."""
    a_bar = np.zeros_like(a, order="C")
    if axis is None:
        np.add.at(a_bar.reshape(-1), indices, g)
        return a_bar
    axis = axis % np.ndim(a)
    np.add.at(a_bar, (slice(None),) * axis + (indices,), g)
    return a_bar


def take_along_adjoint(g, arr, indices, axis):
    """The adjoint of ``np.take_along_axis(arr, indices, axis)``."""
    if axis is None:
        return np.reshape(scatter(g, np.ravel(arr), indices), np.shape(arr))
    return scatter(g, arr, along_axis(arr, indices, axis))


def along_axis(arr, indices, axis):
    """Return the index by which ``np.take_along_axis(arr, indices, axis)`` reads."""
    places = list(np.ogrid[tuple(slice(n) for n in np.shape(arr))])
    places[axis] = indices
    return tuple(places)


def diagonal_places(a):
    """Return the index of the elements that ``np.fill_diagonal(a, ...)`` writes."""
    return (np.arange(min(np.shape(a))),) * np.ndim(a)


def pad_adjoint(g, array, pad_width):
    """The part of `g` that `array` fills in ``np.pad(array, pad_width)``."""
    widths = np.broadcast_to(pad_width, (np.ndim(array), 2))
    sizes = np.shape(array)
    return g[tuple(slice(w[0], w[0] + n) for w, n in zip(widths, sizes))]


def stored_at(buffer, index):
    """Return ``buffer[index]``, zero where a later item of the index is the same."""
    part = np.array(buffer[index])
    last = np.full(buffer.shape, -1)
    order = np.arange(part.size).reshape(part.shape)
    last[index] = order
    part[last[index] != order] = 0.0
    return part[()]


def item_kept(whole, key):
    """Return what stands in a list, itself, or a copy of what stands in an array."""
    part = whole[key]
    return part if isinstance(whole, (list, dict)) else +part
