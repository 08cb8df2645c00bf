"""Functions that emitted code calls where elements are joined, padded and picked.

Each is plain NumPy, as in `runtime_rules`::

    x_bar = take_adjoint(y_bar, x, np.delete(numbers(x), 2))

A function that only moves elements, given their numbers, says where each comes from.
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError
from .runtime import unbroadcast


def numbers(a):
    """The elements' numbers in the order of ``a.ravel()``, in the shape of `a`."""
    return np.reshape(np.arange(np.size(a)), np.shape(a))


def numbered(values, places):
    """The elements of `values` at their numbers, 0 at the number behind all."""
    return np.take(np.append(np.ravel(values), 0.0), places)


def trim_start(a, trim="fb"):
    """How many zeros ``np.trim_zeros(a, trim)`` takes away in front."""
    if np.ndim(a) != 1:
        raise ArgumentError(
            f"np.trim_zeros of an array of {np.ndim(a)} axes has no derivative here; "
            "write a slice"
        )
    return np.argmax(np.not_equal(a, 0)) if "f" in trim.lower() else 0


def trim_adjoint(g, a, trim="fb"):
    """The adjoint of ``np.trim_zeros(a, trim)``."""
    start = trim_start(a, trim)
    a_bar = np.zeros_like(a)
    a_bar[start : start + np.size(g)] = g
    return a_bar


# Padding.


def pad_pairs(a, pad_width):
    """How far `a` is padded along each axis, before and behind."""
    if isinstance(pad_width, dict):
        pairs = np.zeros((np.ndim(a), 2), int)
        for axis, width in pad_width.items():
            pairs[axis] = width
        return pairs
    return np.broadcast_to(pad_width, (np.ndim(a), 2))


def pad_matrix(size, pair, mode, reflect_type="even", stat_length=None):
    """What each padded element counts the `size` elements of its row for."""
    options = {} if stat_length is None else {"stat_length": stat_length}
    if mode in ("reflect", "symmetric"):
        options = {"reflect_type": reflect_type}
    elif mode not in ("linear_ramp", "mean"):
        raise ArgumentError(
            f"np.pad with mode={mode!r} has no derivative here; write it with "
            "np.concatenate"
        )
    return np.pad(np.eye(size), (tuple(pair), (0, 0)), mode, **options)


def pad_rows_adjoint(
    g, a, pad_width, mode="mean", reflect_type="even", stat_length=None
):
    """The adjoint of ``np.pad`` where padded elements are sums, axis after axis."""
    shape, pairs = np.shape(a), pad_pairs(a, pad_width)
    for axis in reversed(range(np.ndim(a))):
        matrix = pad_matrix(shape[axis], pairs[axis], mode, reflect_type, stat_length)
        rows = np.tensordot(matrix.astype(a.dtype), g, (0, axis))
        g = np.moveaxis(rows, 0, axis)
    return g


def pad_rows(a, pad_width, mode="mean", reflect_type="even", stat_length=None):
    """Return ``np.pad(a, ...)``, of which `pad_rows_adjoint` is the adjoint."""
    shape, pairs = np.shape(a), pad_pairs(a, pad_width)
    for axis in range(np.ndim(a)):
        matrix = pad_matrix(shape[axis], pairs[axis], mode, reflect_type, stat_length)
        rows = np.tensordot(matrix.astype(a.dtype), a, (1, axis))
        a = np.moveaxis(rows, 0, axis)
    return a


def pad_inside(a, pad_width):
    """Where `a` itself stands in what it is padded to."""
    pairs = pad_pairs(a, pad_width)
    return tuple(slice(w[0], w[0] + n) for w, n in zip(pairs, np.shape(a)))


def padding_adjoint(g, a, pad_width, constant_values):
    """The adjoint of `constant_values` in ``np.pad(a, pad_width, ...)``."""
    number = np.size(constant_values)
    values = np.reshape(np.arange(number), np.shape(constant_values))
    blank = np.full(np.shape(a), number)
    places = np.pad(blank, pad_width, constant_values=values)
    sums = np.bincount(np.ravel(places), np.ravel(g), number + 1)[:number]
    return unbroadcast(np.reshape(sums, np.shape(constant_values)), constant_values)


# What `np.r_` and `np.c_` join.


def joined_blanks(joiner, key):
    """The items of `key`, with zeros for all that has elements."""
    items = key if isinstance(key, tuple) else (key,)
    return [
        item
        if isinstance(item, str)
        else np.zeros(np.shape(joiner[item] if isinstance(item, slice) else item))
        for item in items
    ]


def joined_adjoint(g, joiner, key):
    """The parts of `g` that the items of `key` became in ``joiner[key]``."""
    items = key if isinstance(key, tuple) else (key,)
    parts = []
    for i, item in enumerate(items):
        marked = joined_blanks(joiner, key)
        if isinstance(item, (str, slice)):
            parts.append(None)
            continue
        marked[i] = 1 + np.reshape(np.arange(np.size(item)), np.shape(item))
        places = np.argsort(np.ravel(joiner[tuple(marked)]), kind="stable")
        places = places[np.size(places) - np.size(item) :]
        parts.append(np.reshape(np.take(g, places), np.shape(item)))
    return tuple(parts) if isinstance(key, tuple) else parts[0]


def joined_tangent(dots, joiner, key):
    """The change of ``joiner[key]`` as its items move by `dots`."""
    dots = dots if isinstance(key, tuple) else (dots,)
    moved = joined_blanks(joiner, key)
    for i, dot in enumerate(dots):
        if dot is not None and not isinstance(dot, (str, slice)):
            moved[i] = dot
    return joiner[tuple(moved)]


# Shapes.


def layout(a, order):
    """The order, "C" or "F", that `order` means for `a`."""
    if order in ("C", "F"):
        return order
    flags = getattr(a, "flags", None)
    if flags is None or flags.c_contiguous:
        return "C"
    if flags.f_contiguous:
        return "F"
    if order == "A":
        return "C"
    raise ArgumentError(
        f"the elements of an array of shape {np.shape(a)} that is not contiguous are "
        "taken as they lie in memory, which is not followed; write order='C'"
    )


def rolled_to(a, axis, start=0):
    """The place to which ``np.rollaxis(a, axis, start)`` brings an axis."""
    rank = np.ndim(a)
    axis, start = axis % rank, start + rank if start < 0 else start
    return start - 1 if axis < start else start


def broadcast_adjoint(g, arrays):
    """The adjoints of ``np.broadcast_arrays(*arrays)``."""
    return tuple(unbroadcast(part, a) for part, a in zip(g, arrays))


def meshgrid_adjoint(g, arrays, indexing="xy"):
    """The adjoints of ``np.meshgrid(*arrays)``."""
    bars = []
    for i, a in enumerate(arrays):
        axis = 1 - i if indexing == "xy" and i < 2 <= len(arrays) else i
        others = tuple(k for k in range(len(arrays)) if k != axis)
        bars.append(np.reshape(np.sum(g[i], axis=others), np.shape(a)))
    return tuple(bars)


def window_places(x, window_shape, axis=None):
    """Where in ``x.ravel()`` each element of ``sliding_window_view(x, ...)`` is."""
    view = np.lib.stride_tricks.sliding_window_view
    return view(numbers(x), window_shape, axis)


def strided_places(x, shape=None, strides=None):
    """Where in ``x.ravel()`` each element of ``as_strided(x, shape, strides)`` is."""
    if not x.flags.c_contiguous:
        raise ArgumentError(
            "np.lib.stride_tricks.as_strided of an array that is not contiguous has no "
            "derivative here; pass x.copy()"
        )
    shape = x.shape if shape is None else shape
    strides = x.strides if strides is None else strides
    grids = np.ogrid[tuple(slice(n) for n in shape)]
    start = np.zeros(shape, int)
    return start + sum(k * s for k, s in zip(grids, strides)) // x.itemsize


def cast_tangent(dot, y):
    """The change `dot`, converted as `y` was; that of integers is zero."""
    if np.issubdtype(y.dtype, np.inexact):
        return np.asarray(dot, y.dtype)
    return np.zeros_like(y, dtype=float)


# Picking.


def item_adjoint(g, a, *index):
    """The adjoint of ``a.item(*index)``."""
    if not index:
        return np.reshape(g, np.shape(a))
    a_bar = np.zeros_like(a, order="C")
    if len(index) == 1 and not isinstance(index[0], tuple):
        a_bar.reshape(-1)[index[0]] = g
    else:
        a_bar[index[0] if len(index) == 1 else index] = g
    return a_bar


def numbered_adjoint(g, places, a):
    """The adjoint of `a`, of which `places` has the elements' numbers.

    What is not of `a` has the number behind all.
    """
    sums = np.zeros_like(g, shape=np.size(a) + 1)
    np.add.at(sums, places, g)
    return unbroadcast(np.reshape(sums[:-1], np.shape(a)), a)


def block_adjoint(g, arrays):
    """The adjoints of the arrays in ``np.block(arrays)``, nested as they are."""
    if not isinstance(arrays, list):
        return np.reshape(g, np.shape(arrays))
    depth, inner = 0, arrays
    while isinstance(inner, list):
        depth, inner = depth + 1, inner[0]
    return block_parts(g, arrays, depth)


def block_parts(g, arrays, depth):
    """The parts of `g` that the blocks became which are joined along an axis."""
    if not isinstance(arrays, list):
        return np.reshape(g, np.shape(arrays))
    parts, start = [], 0
    for inner in arrays:
        stop = start + block_length(inner, depth)
        cut = (..., slice(start, stop)) + (slice(None),) * (depth - 1)
        parts.append(block_parts(g[cut], inner, depth - 1))
        start = stop
    return parts


def block_length(arrays, axis):
    """How long a block is along its axis `axis` from the end."""
    if not isinstance(arrays, list):
        shape = np.shape(arrays)
        return shape[-axis] if len(shape) >= axis else 1
    return block_length(arrays[0], axis)
