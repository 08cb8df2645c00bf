"""Derivatives against central differences.

A function is followed along one random direction for each argument, and the
slope found there compared with what the derivative says::

    d/dt <out_bar, f(x + t v)>  at t = 0    ≈    <x_bar, v>

Differences are extrapolated once (Richardson), so what they leave out is of
fourth order in the step.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence

import numpy as np

from . import api
from .errors import ArgumentError, CheckError

STEP = {4: 3e-2, 8: 1e-3}
TOLERANCE = {4: 1e-2, 8: 1e-6}


def check_grads(
    f: Callable,
    *args: object,
    wrt: int | str | Sequence[int | str] | None = None,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Raise unless the reverse derivative of `f` agrees with differences.

    Parameters
    ----------
    f : callable
        The function; it returns a number, an array or a tuple of these.
    *args : object
        The point at which to check.
    wrt : int, str or sequence of these, optional
        The arguments to check; by default all floats and float arrays.
    rtol, atol : float, optional
        Relative and absolute tolerance; by default 1e-6, for single precision
        1e-2.

    Raises
    ------
    CheckError
        When they disagree, with both numbers for each argument that does.
    """
    indices = _indices(f, args, wrt)
    width = min(_width(args[i]) for i in indices)
    rtol = TOLERANCE[width] if rtol is None else rtol
    atol = TOLERANCE[width] if atol is None else atol
    rng = np.random.default_rng(0)
    seed = _random_like(f(*copy.deepcopy(args)), rng)
    _, adjoints = api.vjp(f, wrt=indices)(*copy.deepcopy(args), out_bar=seed)

    lines = []
    for i, x_bar in zip(indices, adjoints, strict=True):
        direction = _random_like(args[i], rng)
        analytic = _inner(x_bar, direction)
        numeric = _slope(f, args, i, direction, seed, STEP[width])
        error = abs(analytic - numeric)
        # Written so that a nan on either side is a disagreement.
        if not error <= atol + rtol * abs(numeric):
            relative = error / max(abs(numeric), atol)
            lines.append(
                f"  {_parameter(f, i)}: derivative {analytic:.10g}, "
                f"differences {numeric:.10g}, relative error {relative:.2g}"
            )
    if lines:
        name = getattr(f, "__name__", repr(f))
        heading = f"the derivative of `{name}` disagrees with central differences"
        raise CheckError("\n".join([heading, *lines]))


def _indices(f: Callable, args: tuple, wrt: object) -> tuple[int, ...]:
    if wrt is None:
        chosen = tuple(i for i, x in enumerate(args) if _is_inexact(x))
        if not chosen:
            raise ArgumentError("no argument is a float or an array of floats")
        return chosen
    names = list(inspect.signature(f).parameters)
    several = (wrt,) if isinstance(wrt, (int, str)) else tuple(wrt)
    unknown = [w for w in several if isinstance(w, str) and w not in names]
    if unknown:
        raise ArgumentError(f"no parameter is called `{unknown[0]}`: {names}")
    return tuple(names.index(w) if isinstance(w, str) else w for w in several)


def _parameter(f: Callable, index: int) -> str:
    names = list(inspect.signature(f).parameters)
    return names[index] if index < len(names) else f"argument {index}"


def _is_inexact(x: object) -> bool:
    return isinstance(x, (float, complex)) or (
        getattr(getattr(x, "dtype", None), "kind", "") in ("f", "c")
    )


def _width(x: object) -> int:
    """Bytes of a real number of the precision of `x`."""
    return 4 if np.finfo(np.asarray(x).dtype).eps > 1e-10 else 8


def _random_like(x: object, rng: np.random.Generator) -> object:
    if isinstance(x, (tuple, list)):
        return type(x)(_random_like(item, rng) for item in x)
    drawn = rng.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        drawn = drawn + 1j * rng.normal(size=np.shape(x))
    if not np.shape(x):
        return drawn if isinstance(drawn, (float, complex)) else drawn[()]
    return drawn.astype(x.dtype) if _is_inexact(x) else drawn


def _inner(a: object, b: object) -> float:
    """The real part of the sum of all products, in double precision."""
    if isinstance(a, (tuple, list)):
        return sum(_inner(x, y) for x, y in zip(a, b, strict=True))
    return float(np.sum(np.multiply(a, b, dtype=complex)).real)


def _slope(f, args, index, direction, seed, step) -> float:
    def value(t: float) -> float:
        moved = list(copy.deepcopy(args))
        moved[index] = moved[index] + t * direction
        return _inner(f(*moved), seed)

    def difference(h: float) -> float:
        return (value(h) - value(-h)) / (2.0 * h)

    return (4.0 * difference(0.5 * step) - difference(step)) / 3.0
