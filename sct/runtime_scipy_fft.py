"""Functions that emitted code calls for the rules of `scipy.fft`."""

from __future__ import annotations

import numpy as np
from scipy import fft

from .errors import ArgumentError
from .runtime_fft import swapped


def dct_adjoint(g, type=2, axis=-1, norm=None):
    """The adjoint of ``fft.dct(x, type, axis=axis, norm=norm)``.

    Orthogonal transforms are inverted.  The matrix of type 3 is that of type 2
    transposed, with half of its first column; that of type 4 is symmetric, and so is
    that of type 1 but for its first and last column, which are half as large.
    """
    if norm == "ortho":
        return fft.idct(g, type=type, axis=axis, norm=norm)
    if type == 4:
        return fft.dct(g, type=4, axis=axis, norm=norm)
    if type not in (1, 2, 3):
        raise ArgumentError(f"a cosine transform of type {type} has no derivative")
    place = np.arange(np.shape(g)[axis])
    rows = np.moveaxis(g, axis, -1)
    if type == 1:
        ends = (place == 0) | (place == place[-1])
        rows = np.moveaxis(np.where(ends, 2.0 * rows, rows), -1, axis)
        rows = np.moveaxis(fft.dct(rows, type=1, axis=axis, norm=norm), axis, -1)
        return np.moveaxis(np.where(ends, 0.5 * rows, rows), -1, axis)
    if type == 2:
        rows = np.where(place == 0, 2.0 * rows, rows)
        return fft.dct(np.moveaxis(rows, -1, axis), type=3, axis=axis, norm=norm)
    rows = np.moveaxis(fft.dct(g, type=2, axis=axis, norm=norm), axis, -1)
    return np.moveaxis(np.where(place == 0, 0.5 * rows, rows), -1, axis)


def idct_adjoint(g, type=2, axis=-1, norm=None):
    """The adjoint of ``fft.idct(x, type, axis=axis, norm=norm)``."""
    other = 5 - type if type in (2, 3) else type
    return dct_adjoint(g, type=other, axis=axis, norm=swapped(norm))
