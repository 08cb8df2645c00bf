"""Functions that emitted code calls for the rules of `np.fft`.

``np.fft.fft`` multiplies by a symmetric matrix, so it is its own adjoint.  A real
transform is a complex one of which half is cut off; its inverse reads each number that
it needs twice, as it is and conjugated.
"""

from __future__ import annotations

import numpy as np


def resized(g, a):
    """Return `g` cut off, or filled up with zeros, to the shape of `a`."""
    shape = np.shape(a)
    g = g[tuple(slice(n) for n in shape)]
    if np.shape(g) == shape:
        return g
    return np.pad(g, [(0, n - m) for n, m in zip(shape, np.shape(g))])


def swapped(norm):
    """The normalization of a transform that scales as one by `norm` does backwards."""
    return {"forward": "backward", "ortho": "ortho"}.get(norm, "forward")


def transformed(a, s, axes):
    """The axes of ``np.fft.fftn(a, s, axes)``."""
    if axes is not None:
        return [i % np.ndim(a) for i in axes]
    return list(range(np.ndim(a)))[0 if s is None else -len(s) :]


def rfftn_adjoint(g, a, s=None, axes=None, norm=None):
    """The adjoint of `a` in ``np.fft.rfftn(a, s, axes, norm)``."""
    axes = transformed(a, s, axes)
    sizes = [np.shape(g)[i] for i in axes]
    sizes[-1] = np.shape(a)[axes[-1]] if s is None or s[-1] == -1 else s[-1]
    return resized(np.real(np.fft.fftn(g, sizes, axes, norm)), a)


def irfftn_adjoint(g, a, s=None, axes=None, norm=None):
    """The adjoint of `a` in ``np.fft.irfftn(a, s, axes, norm)``."""
    axes = transformed(a, s, axes)
    half = np.moveaxis(np.fft.rfftn(g, None, axes, swapped(norm)), axes[-1], -1)
    weights = np.full(np.shape(half)[-1], 2.0, np.real(half).dtype)
    # The first is read once, and the last if the length is even.
    weights[0] = 1.0
    if np.shape(g)[axes[-1]] % 2 == 0:
        weights[-1] = 1.0
    a_bar = resized(np.moveaxis(np.conj(half) * weights, -1, axes[-1]), a)
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)
