"""Functions that emitted code calls for the rules of `scipy.signal`.

They are made of functions that have rules, so that their own derivatives follow.
"""

from __future__ import annotations

import numpy as np
from scipy import signal


def convolution_adjoint(g, a, other):
    """The adjoint of `a` in ``signal.convolve(a, other)``, of whatever mode.

    The modes cut off both ends alike of the longest result; the adjoint is correlated.
    """
    sizes = [n + m - 1 for n, m in zip(np.shape(a), np.shape(other))]
    starts = [(n - m) // 2 for n, m in zip(sizes, np.shape(g))]
    widths = [
        (i, n - m - i) for i, n, m in zip(starts, sizes, np.shape(g), strict=True)
    ]
    a_bar = signal.convolve(np.pad(g, widths), np.flip(other), mode="valid")
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


def lagged(g, y, count):
    """The sums of ``g * y`` with `y` delayed by 0, 1, 2 and so on."""
    n = np.shape(y)[-1]
    return np.stack([np.sum(g[..., k:] * y[..., : n - k]) for k in range(count)])
