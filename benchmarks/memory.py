"""Memory and time of gradients of a loop, plain and with `sct.checkpointed`.

    python benchmarks/memory.py [--steps N ...] [--snapshots K]

The loop is a Lorenz trajectory.  Memory is the peak of what Python and NumPy allocate
during one gradient, as `tracemalloc` counts it.
"""

from __future__ import annotations

import argparse
import time
import tracemalloc

import numpy as np

import sct


def step(s, sigma, rho, beta, h):
    """One step of Euler's method."""
    velocity = np.array(
        [
            sigma * (s[1] - s[0]),
            s[0] * (rho - s[2]) - s[1],
            s[0] * s[1] - beta * s[2],
        ]
    )
    return s + h * velocity


def plain(s, sigma, rho, beta, h, n, snapshots):
    """The end of the trajectory, every state of which a gradient keeps."""
    for _ in range(n):
        s = step(s, sigma, rho, beta, h)
    return np.sum(s)


def checkpointed(s, sigma, rho, beta, h, n, snapshots):
    """The same, of which a gradient keeps some states and runs to the others again."""
    for _ in sct.checkpointed(range(n), snapshots=snapshots):
        s = step(s, sigma, rho, beta, h)
    return np.sum(s)


def measured(gradient, args) -> tuple[float, float, tuple]:
    """Peak of memory in KiB, CPU seconds, and the gradient."""
    start = time.process_time()
    result = gradient(*args)
    seconds = time.process_time() - start
    tracemalloc.start()
    gradient(*args)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1024, seconds, result


def main() -> None:
    """Print one line for each number of steps."""
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--steps", nargs="+", type=int, default=[1000, 10000])
    ap.add_argument("--snapshots", type=int, default=20)
    opt = ap.parse_args()
    both = [sct.grad(f, wrt=(0, 1, 2, 3)) for f in (plain, checkpointed)]
    print("  steps  plain KiB  checkpointed KiB  share  plain s  checkpointed s")
    for n in opt.steps:
        args = np.array([1.0, 1.0, 1.0]), 10.0, 28.0, 8.0 / 3.0, 1e-4, n
        (a, t, x), (b, u, y) = (measured(g, (*args, opt.snapshots)) for g in both)
        for expected, found in zip(x, y):
            np.testing.assert_allclose(found, expected, rtol=1e-9)
        print(f"{n:7d}  {a:9.1f}  {b:16.1f}  {b / a:5.3f}  {t:7.3f}  {u:14.3f}")


if __name__ == "__main__":
    main()
