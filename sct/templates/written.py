"""Functions of NumPy's that are differentiated as they are written here.

``np.logspace(a, b)``  →  ``np.power(10.0, np.linspace(a, b))``

Their own source does more than can be followed.  Where a rule fits a call, it counts.
"""

from __future__ import annotations

import numpy as np

from sct import runtime_written as written

WRITTEN: dict[object, object] = {
    getattr(np, name): getattr(written, name)
    for name in (
        *("logspace", "geomspace", "kaiser", "cov", "corrcoef", "interp"),
        *("polyadd", "polysub", "polymul", "polyder", "polyint", "polydiv", "poly"),
        *("polyfit", "roots", "sort_complex"),
    )
} | {np.polynomial.polynomial.polyval: written.polyval}
"""What to follow in place of the source of a function."""
