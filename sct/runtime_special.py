"""Functions that emitted code calls where a rule of `scipy.special` needs a series.

They are made of functions that have rules, so that their own derivatives follow::

    a_bar = out_bar * gammainc_in_a(a, x)
"""

from __future__ import annotations

import numpy as np
from scipy import special


def gammainc_terms(x):
    """How many terms of its series around x make up ``special.gammainc(a, x)``."""
    return int(24.0 * np.sqrt(np.max(np.append(x, 0.0)))) + 82


def gammainc_in_a(a, x):
    """The derivative of ``special.gammainc(a, x)`` in `a`.

    P(a, x) is the sum of w(a + k) = exp(-x) x^(a + k) / Γ(a + k + 1) over k >= 0 (DLMF
    8.7.1), and this the sum of their derivatives.  Summed are those that count.
    """
    inside = (x > 0.0) & (x < np.inf)
    x = np.where(inside, x, 1.0)
    first = np.maximum(np.floor(x - a - 12.0 * np.sqrt(x) - 40.0), 0.0)
    s = np.expand_dims(a + first, -1) + np.arange(gammainc_terms(x))
    logx = np.expand_dims(np.log(x), -1)
    terms = np.exp(s * logx - np.expand_dims(x, -1) - special.gammaln(s + 1.0))
    slope = np.sum(terms * (logx - special.digamma(s + 1.0)), axis=-1)
    return np.where(inside, slope, 0.0)


def betainc_terms(p, q, y):
    """How many terms of its series make up ``special.betainc(p, q, y)``."""
    count = 64
    base = special.gammaln(p + q) - special.gammaln(p + 1.0)
    while True:
        last = special.gammaln(p + q + count) - special.gammaln(p + count + 1.0)
        if np.all(last - base + count * np.log(y) < -40.0) or count >= 1 << 20:
            return count
        count *= 2


def betainc_in_a(a, b, x):
    """The derivative of ``special.betainc(a, b, x)`` in `a`.

    With y = x, p = a and q = b, or below 1 - I the same with y = 1 - x, p = b and
    q = a, I is the sum of Γ(p + q + n) / (Γ(q) Γ(p + n + 1)) y^(p + n) (1 - y)^q
    over n >= 0 (DLMF 8.17.8), and this the sum of their derivatives.
    """
    inside = (x > 0.0) & (x < 1.0)
    x = np.where(inside, x, 0.5)
    low = x * (a + b + 2.0) <= a + 1.0
    y, p, q = np.where(low, x, 1.0 - x), np.where(low, a, b), np.where(low, b, a)
    n = np.arange(betainc_terms(p, q, y))
    y, p, q = np.expand_dims(y, -1), np.expand_dims(p, -1), np.expand_dims(q, -1)
    low = np.expand_dims(low, -1)
    terms = np.exp(
        special.gammaln(p + q + n)
        - special.gammaln(q)
        - special.gammaln(p + n + 1.0)
        + (p + n) * np.log(y)
        + q * np.log1p(-y)
    )
    in_p = np.log(y) - special.digamma(p + n + 1.0)
    in_q = np.log1p(-y) - special.digamma(q)
    slope = special.digamma(p + q + n) + np.where(low, in_p, in_q)
    slope = np.sum(np.where(low, terms, -terms) * slope, axis=-1)
    return np.where(inside, slope, 0.0)
