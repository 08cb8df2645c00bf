"""Rules of `scipy.spatial.distance`.

Where two points are one, the derivative of their distance is taken as 0.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import distance

from sct import helpers, runtime_distance
from sct.runtime_distance import cdist_adjoint_a, cdist_adjoint_b, cdist_slopes

from .registry import adjoint, tangent

helpers.add(runtime_distance, (cdist_adjoint_a, cdist_adjoint_b, cdist_slopes))


@adjoint(distance.cdist, fresh=True)
def cdist(out, XA, XB, metric="euclidean", *, out_bar):
    XA_bar = cdist_adjoint_a(out_bar, out, XA, XB, metric)
    XB_bar = cdist_adjoint_b(out_bar, out, XA, XB, metric)
    return XA_bar, XB_bar


@tangent(distance.cdist)
def cdist_tangent(out, XA, XB, metric="euclidean", *, XA_dot, XB_dot):
    slopes = cdist_slopes(out, XA, XB, metric)
    from_a = np.sum(XA_dot[:, None] * slopes, axis=-1)
    from_b = -np.sum(XB_dot * slopes, axis=-1)
    return from_a, from_b
