"""Functions that emitted code calls for scans, differences, convolution and tables.

Each is plain NumPy, as in `runtime_rules`::

    x_bar = convolve_adjoint(y_bar, w, x, "full")
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError
from .runtime import unbroadcast, zero_like
from .runtime_rules import diff_adjoint

# Scans.


def flipped_sums(g, axis=0):
    """The adjoint of ``np.cumsum`` along an axis: sums from the other end."""
    return np.flip(np.cumsum(np.flip(g, axis), axis), axis)


def along(a, axis, start, stop=None):
    """Return the part of `a` from `start` to `stop` along an axis."""
    index = [slice(None)] * np.ndim(a)
    index[axis] = slice(start, stop)
    return a[tuple(index)]


def cumprod_tangent(dot, y, a, axis=None):
    """The change of ``y = np.cumprod(a, axis)``; zeros in `a` are no exception."""
    if axis is None:
        rows, rows_dot, sums = np.ravel(a), np.ravel(dot), np.ravel(y)
    else:
        rows, rows_dot = np.moveaxis(a, axis, 0), np.moveaxis(dot, axis, 0)
        sums = np.moveaxis(y, axis, 0)
    moved = np.zeros_like(sums)
    before, before_dot = np.ones_like(rows[:1]), np.zeros_like(rows[:1])
    for i in range(len(rows)):
        moved[i] = before_dot[0] * rows[i] + before[0] * rows_dot[i]
        before, before_dot = sums[i : i + 1], moved[i : i + 1]
    return np.moveaxis(moved, 0, 0 if axis is None else axis)


def cumulative_prod_tangent(dot, a, axis=None, include_initial=False):
    """The change of ``np.cumulative_prod(a)``."""
    moved = cumprod_tangent(dot, np.cumprod(a, axis), a, axis)
    if not include_initial:
        return moved
    axis = 0 if axis is None else axis
    return np.concatenate([np.zeros_like(along(moved, axis, 0, 1)), moved], axis)


def edge_width(edge, axis=-1):
    """How far `edge` reaches that `np.diff` puts before or behind along an axis."""
    return 0 if edge is None else np.shape(edge)[axis] if np.ndim(edge) else 1


def diff_part(g, part, a, n=1, axis=-1, prepend=None, append=None):
    """The adjoint of one part of ``np.diff(a, n, axis, prepend, append)``.

    The parts are 0, what is put before, 1, `a` itself, and 2, what is put behind.
    """
    whole = diff_adjoint(g, n, axis)
    start = edge_width(prepend, axis)
    stop = start + np.shape(a)[axis]
    cuts = ((0, start), (start, stop), (stop, stop + edge_width(append, axis)))
    given = (prepend, a, append)[part]
    found = along(whole, axis, *cuts[part])
    return found if given is None else unbroadcast(found, given)


def diff_whole(part, which, a, n=1, axis=-1, prepend=None, append=None):
    """The differences of one part alone, of which `diff_part` is the adjoint."""
    parts = [blank(prepend), np.zeros_like(a), blank(append)]
    parts[which] = part
    return diff_of(parts[1], n, axis, parts[0], parts[2])


def along_adjoint(g, a, axis, start, stop=None):
    """The adjoint of ``along(a, axis, start, stop)``."""
    a_bar = np.zeros_like(a)
    index = [slice(None)] * np.ndim(a)
    index[axis] = slice(start, stop)
    a_bar[tuple(index)] = g
    return a_bar


def blank(edge):
    """Return the zero of what is put before or behind; None stays."""
    return None if edge is None else zero_like(edge)


def diff_of(a, n=1, axis=-1, prepend=None, append=None):
    """Return ``np.diff(a, n, axis, prepend, append)`` where None stands for neither."""
    if prepend is None and append is None:
        return np.diff(a, n, axis)
    parts = [a]
    for edge, place in ((prepend, 0), (append, 2)):
        if edge is not None:
            shape = list(np.shape(a))
            shape[axis] = edge_width(edge, axis)
            parts.insert(place, np.broadcast_to(edge, shape))
    return np.diff(np.concatenate(parts, axis), n, axis)


# Convolution.


def overlap_start(a, v, mode="full", correlates=False):
    """Where what `mode` keeps of ``np.convolve(a, v)`` begins."""
    short = min(np.size(a), np.size(v))
    if mode == "full":
        return 0
    if mode == "valid":
        return short - 1
    return short // 2 if correlates and np.size(a) < np.size(v) else (short - 1) // 2


def convolve_adjoint(g, a, v, start=0):
    """The adjoint of `a` in ``np.convolve(a, v)[start:]``, cut to the length of `g`."""
    whole = np.zeros_like(g, shape=np.size(a) + np.size(v) - 1)
    whole[start : start + np.size(g)] = g
    return np.convolve(whole, np.ravel(v)[::-1], "valid")


# Tables.


def bins_of(a, edges):
    """The number of the bin that each of `a` is in, and whether it is in any."""
    at = np.searchsorted(edges, a, "right") - 1
    at = np.where(np.equal(a, edges[-1]), np.size(edges) - 2, at)
    inside = (at >= 0) & (at < np.size(edges) - 1)
    return np.where(inside, at, 0), inside


def histogram_adjoint(g, a, edges):
    """The adjoint of the weights of ``np.histogram(a, edges)``."""
    at, inside = bins_of(a, edges)
    return np.where(inside, np.take(g, at), 0.0)


def spans(bins, range=None):
    """Whether ``np.histogram(a, bins, range)`` takes the outer edges from `a`."""
    return range is None and np.ndim(bins) == 0


def edges_adjoint(g, a, edges, bins, range=None):
    """The adjoint of `a`, from the `edges` of ``np.histogram(a, bins, range)``."""
    if not spans(bins, range):
        return np.zeros_like(a)
    share = np.linspace(0.0, 1.0, np.size(edges))
    low, high = a == np.min(a), a == np.max(a)
    from_low = np.sum(g * (1.0 - share)) * low / np.sum(low)
    return from_low + np.sum(g * share) * high / np.sum(high)


def edges_tangent(a_dot, a, edges, bins, range=None):
    """The change of the `edges` of ``np.histogram(a, bins, range)`` with `a`."""
    if not spans(bins, range):
        return np.zeros_like(edges)
    low, high = a == np.min(a), a == np.max(a)
    first = np.sum(a_dot * low) / np.sum(low)
    return np.linspace(first, np.sum(a_dot * high) / np.sum(high), np.size(edges))


# Polynomials and gradients.


def slope_of(p):
    """The coefficients of the derivative of a polynomial."""
    p = np.asarray(p)
    return p[:-1] * np.arange(np.size(p) - 1, 0, -1).astype(p.dtype)


def exponents(y, increasing=False):
    """The exponents of the columns of ``y = np.vander(x, ...)``."""
    count = np.arange(np.shape(y)[1])
    return count if increasing else count[::-1]


def gradient_of(f, spacing, axis=None, edge_order=1):
    """Return ``np.gradient(f, *spacing, axis=axis, edge_order=edge_order)``."""
    return np.gradient(f, *spacing, axis=axis, edge_order=edge_order)


def gradient_adjoint(g, f, spacing, axis=None, edge_order=1):
    """The adjoint of `f` in ``np.gradient(f, *spacing)``.

    An element of the gradient is made of at most three neighbours of `f`, so that the
    gradients of three combs tell what each of them counts for.
    """
    axes = range(np.ndim(f)) if axis is None else axis
    axes = axes if isinstance(axes, (tuple, list, range)) else (axes,)
    parts = [g] if len(axes) == 1 else g
    steps = [1.0] if not spacing else list(spacing)
    steps = steps * len(axes) if len(steps) < len(axes) else steps
    f_bar = np.zeros_like(f)
    for part, i, step in zip(parts, axes, steps):
        rows, rows_bar = np.moveaxis(part, i, 0), np.moveaxis(f_bar, i, 0)
        size = len(rows)
        first = np.clip(np.arange(size) - 1, 0, max(size - 3, 0))
        for tooth in range(3):
            comb = (np.arange(size) % 3 == tooth).astype(f.dtype)
            weights = np.gradient(comb, step, edge_order=edge_order)
            places = np.minimum(first + (tooth - first) % 3, size - 1)
            shape = (size,) + (1,) * (np.ndim(f) - 1)
            np.add.at(rows_bar, places, np.reshape(weights, shape) * rows)
    return f_bar


def spacing_parts(y, spacing, several):
    """The gradients that each spacing is in the divisor of."""
    parts = y if several else [y]
    for h in spacing:
        if np.ndim(h) > 0:
            raise ArgumentError(
                "np.gradient has no derivative in coordinates here, only in a spacing "
                "that is one number"
            )
    return [parts] if len(spacing) < len(parts) else [[part] for part in parts]


def spacing_adjoint(g, y, spacing):
    """The adjoints of the spacings, numbers, in ``y = np.gradient(f, *spacing)``."""
    bars = []
    several = isinstance(y, (tuple, list))
    of_g, of_y = (spacing_parts(x, spacing, several) for x in (g, y))
    for parts, values, h in zip(of_g, of_y, spacing):
        bars.append(-sum(np.sum(u * v) for u, v in zip(parts, values)) / h)
    return tuple(bars)


def gradient_tangent(dot, dots, y, f, spacing, axis=None, edge_order=1):
    """The change of ``y = np.gradient(f, *spacing)`` as `f` and the spacings move."""
    moved = gradient_of(dot + np.zeros_like(f), spacing, axis, edge_order)
    if not spacing or not np.any(np.ravel(dots)):
        return moved
    parts = list(moved) if isinstance(y, (tuple, list)) else [moved]
    values = list(y) if isinstance(y, (tuple, list)) else [y]
    spacing_parts(values, spacing, True)
    for k in range(len(parts)):
        i = k if len(spacing) > 1 else 0
        parts[k] = parts[k] - values[k] * dots[i] / spacing[i]
    return type(y)(parts) if isinstance(y, (tuple, list)) else parts[0]
