"""Part 1: the gradient of a function of SciPy's, from SciPy's own source."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from scipy.optimize import minimize, rosen, rosen_der

import sct

POINTS = 20
DIMENSIONS = 10


def main(console: Console) -> None:
    """Differentiate `rosen`, compare with `rosen_der`, minimise with the result."""
    console.rule("1. scipy.optimize.rosen, differentiated from SciPy's source")
    rosen_grad = sct.grad(rosen, verbose=True)

    rng = np.random.default_rng(0)
    points = rng.normal(size=(POINTS, DIMENSIONS))
    worst = 0.0
    for x in points:
        ours, theirs = rosen_grad(x), rosen_der(x)
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
        worst = max(worst, np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs)))
    console.print(f"Within {worst:.1e} (relative) of rosen_der at {POINTS} points.")

    for method in ("BFGS", "L-BFGS-B"):
        found = minimize(rosen, points[0], jac=rosen_grad, method=method, tol=1e-10)
        distance = np.max(np.abs(found.x - 1.0))
        if distance > 1e-4:
            raise AssertionError(f"{method} ended {distance:.1e} from the optimum")
        console.print(
            f"minimize(method={method!r}): {found.nit} iterations, "
            f"{distance:.0e} from the optimum."
        )
