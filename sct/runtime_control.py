"""What the user steers derivatives with, and the loops behind it.

In code that is not differentiated these are plain functions.  Emitted code calls them
as well, so each is short and complete in itself.
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError, ConvergenceError
from .runtime_operators import is_inexact


def stop_gradient(x):
    """Return `x`, held constant: no derivative goes back through it."""
    return x


def resolution(z):
    """Return the relative distance of neighbouring numbers like those in `z`."""
    return float(np.finfo(z.dtype if hasattr(z, "dtype") else float).eps)


def fixed_point(g, z0, /, *params, tol=1e-12, max_iter=1000, solve=None):
    """Return the `z` with ``z = g(z, *params)`` that iteration from `z0` leads to."""
    z = z0 if is_inexact(z0) else z0 + 0.0
    for _ in range(max_iter):
        before, z = z, g(z, *params)
        bound = max(tol, 4.0 * resolution(z)) * (1.0 + np.max(np.abs(z)))
        if np.max(np.abs(z - before)) <= bound:
            return z
    raise ConvergenceError(f"no fixed point was reached in {max_iter} iterations")


def root(f, z0, /, *params, tol=1e-12, max_iter=100, solve=None):
    """Return a `z` with ``f(z, *params) = 0``, found by Newton's method from `z0`."""
    z = z0 if is_inexact(z0) else z0 + 0.0
    here = f(z, *params)
    for _ in range(max_iter):
        step, share = newton_step(f, z, here, params), 1.0
        bound = max(tol, 4.0 * resolution(z)) * (1.0 + np.max(np.abs(z)))
        if np.max(np.abs(step)) <= bound:
            return z - step
        size = np.max(np.abs(here))
        after = f(z - step, *params)
        while not np.max(np.abs(after)) < size and share > 1e-3:
            share = 0.5 * share
            after = f(z - share * step, *params)
        z, here = z - share * step, after
    raise ConvergenceError(f"no root was reached in {max_iter} iterations")


def newton_step(f, z, here, params):
    """Return what Newton's method subtracts from `z`, where `f` has the value `here`.

    The Jacobian is one of differences.
    """
    width = resolution(z) ** 0.5
    if not getattr(z, "shape", ()):
        h = width * (1.0 + abs(z))
        return here * h / (f(z + h, *params) - here)
    flat, columns = z.reshape(-1), []
    for k in range(z.size):
        moved = flat.copy()
        moved[k] += width * (1.0 + abs(flat[k]))
        column = f(moved.reshape(z.shape), *params) - here
        columns.append(column.reshape(-1) / (moved[k] - flat[k]))
    step = np.linalg.solve(np.stack(columns, axis=-1), here.reshape(-1))
    return step.reshape(z.shape)


def solve_jacobian(jacobian, b):
    """Return the `u` with ``jacobian @ u = b``, of the shape of `b`."""
    shape = getattr(b, "shape", ())
    if not shape:
        return b / jacobian
    matrix = np.reshape(jacobian, (b.size, b.size))
    return np.reshape(np.linalg.solve(matrix, np.reshape(b, (-1,))), shape)


def solve_transposed(jacobian, b):
    """Return the `u` with ``u @ jacobian = b``, of the shape of `b`."""
    shape = getattr(b, "shape", ())
    if not shape:
        return b / jacobian
    matrix = np.reshape(jacobian, (b.size, b.size))
    return np.reshape(np.linalg.solve(matrix.T, np.reshape(b, (-1,))), shape)


def check_unshared(written, /, **values):
    """Raise where an array that a loop writes into by ``x += e`` has another name."""
    for name in written.split():
        for other, y in values.items():
            x = values[name]
            both = getattr(x, "shape", ()) and getattr(y, "shape", ())
            if other != name and both and np.may_share_memory(x, y):
                raise ArgumentError(
                    f"{name} and {other} share memory, and `{name} += ...` changes "
                    f"both; write {name} = {name} + ..."
                )


def paths(c, r):
    """Return how many turns `c` snapshots reverse if each runs at most `r` times."""
    n = 1 if r >= 0 else 0
    for k in range(1, c + 1):
        n = n * (r + k) // k
    return n


def stride(turns, c):
    """Return where to keep the next of `c` states when `turns` are to be reversed.

    One of the `c` is kept before the first turn.  This is the binomial schedule of
    Griewank and Walther (ACM TOMS 26, 2000), which runs no fewer turns again than any.
    """
    r = 0
    while paths(c, r) < turns:
        r += 1
    return max(1, paths(c, r - 2), turns - paths(c - 1, r))


def forwards(turn, state, constants, turns, snapshots):
    """Return the state after all turns of a loop, and states on the way to reverse it.

    ``turn(i, *state, *constants)`` gives the state after turn `i`.
    """
    limit = snapshots or max(1, len(turns).bit_length())
    kept, place = [(0, state)], 0
    mark = stride(len(turns), limit) if limit > 1 else len(turns)
    for i in turns:
        if place == mark and len(turns) - place > 1 and len(kept) < limit:
            kept.append((place, state))
            free = limit - len(kept) + 1
            mark += stride(len(turns) - place, free) if free > 1 else len(turns)
        if place == len(turns) - 1 > kept[-1][0]:
            # The one at hand, with which the backward sweep begins.
            kept.append((place, state))
        after = turn(i, *state, *constants)
        state, place = after if len(state) > 1 else (after,), place + 1
    return state, kept


def backwards(turn, kept, constants, turns, snapshots):
    """Yield each turn of a loop, the last first, and the state before it.

    What `forwards` has kept is run from again, and no more states are kept at any time
    than `snapshots`.
    """
    limit = snapshots or max(1, len(turns).bit_length())
    kept = list(kept)
    for end in range(len(turns), 0, -1):
        place, state = kept[-1]
        while end - place > 1:
            free = limit - len(kept) + 1
            ahead = stride(end - place, free) if free > 1 else end - place - 1
            for i in turns[place : place + ahead]:
                after = turn(i, *state, *constants)
                state = after if len(state) > 1 else (after,)
            place += ahead
            if free > 1:
                kept.append((place, state))
        yield turns[end - 1], state
        if kept[-1][0] == end - 1:
            kept.pop()
