"""Derivatives against central differences, in both modes and to any order.

A function is followed along one random direction for each argument, and the
slope found there compared with what the derivative says::

    d/dt <out_bar, f(x + t v)>  at t = 0    ≈    <x_bar, v>  =  <out_bar, out_dot>

Differences are extrapolated once (Richardson), so what they leave out is of
fourth order in the step.  A derivative is a function with source as well: of the next
order is what is found when it is checked in its turn.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from . import api
from .errors import ArgumentError, CheckError
from .runtime import attributes, rebuilt

STEP = {4: 3e-2, 8: 1e-3}
TOLERANCE = {4: 1e-2, 8: 1e-6}
MODES = ("reverse", "forward")


def check_grads(
    f: Callable,
    *args: object,
    wrt: int | str | Sequence[int | str] | None = None,
    order: int = 1,
    modes: Sequence[str] = MODES,
    rtol: float | None = None,
    atol: float | None = None,
) -> None:
    """Raise unless the derivatives of `f` agree with differences.

    Parameters
    ----------
    f : callable
        The function; it returns a number, an array or anything made of these.
    *args : object
        The point at which to check.
    wrt : int, str or sequence of these, optional
        The arguments to check; by default all that are, or hold, floats.
    order : int
        Up to which order; at the second, every mode over every other is checked.
    modes : sequence of str
        ``"reverse"``, ``"forward"`` or both.
    rtol, atol : float, optional
        Relative and absolute tolerance; by default 1e-6, for single precision
        1e-2.

    Raises
    ------
    CheckError
        When they disagree, with both numbers for each argument that does.
    UnsupportedError
        When a derivative of one of these orders cannot be made.

    Examples
    --------
    >>> def area(box):
    ...     return box["width"] * box["height"] ** 2
    >>> check_grads(area, {"width": 2.0, "height": 3.0}, order=2)
    """
    indices = _indices(f, args, wrt)
    widths = [_width(x) for i in indices for x in _leaves(args[i]) if _is_inexact(x)]
    if not widths:
        raise ArgumentError("no argument is a float or an array of floats")
    unknown = set(modes).difference(MODES)
    if unknown:
        raise ArgumentError(f"no mode is called {sorted(unknown)[0]!r}: {MODES}")
    width = min(widths)
    rtol = TOLERANCE[width] if rtol is None else rtol
    atol = TOLERANCE[width] if atol is None else atol
    rng = np.random.default_rng(0)
    check = _Check(f, args, indices, tuple(modes), STEP[width], rtol, atol, rng)
    lines = check.lines(f, {}, order, "")
    if lines:
        name = getattr(f, "__name__", repr(f))
        heading = f"the derivative of `{name}` disagrees with central differences"
        raise CheckError("\n".join([heading, *lines]))


@dataclass
class _Check:
    """The point, and how exactly derivatives there are to agree."""

    f: Callable
    args: tuple
    indices: tuple[int, ...]
    modes: tuple[str, ...]
    step: float
    rtol: float
    atol: float
    rng: np.random.Generator

    def lines(self, f: Callable, given: dict, order: int, over: str) -> list[str]:
        """What disagrees for a function that takes the keywords `given`."""
        seed = _random_like(f(*copy.deepcopy(self.args), **given), self.rng)
        directions = [_direction(self.args[i], self.rng) for i in self.indices]
        found: list[str] = []
        if "reverse" in self.modes:
            title = f"reverse{over}"
            g = api.vjp(f, wrt=self.indices)
            more = given | dict.fromkeys(_new(f, g), seed)
            _, adjoints = g(*copy.deepcopy(self.args), **more)
            for i, x_bar, v in zip(self.indices, adjoints, directions, strict=True):
                slope = self.slope(f, given, {i: v}, seed)
                name = _parameter(self.f, i)
                found += self.compared(title, name, _inner(x_bar, v), slope)
            if order > 1:
                found += self.lines(g, more, order - 1, f" over {title}")
        if "forward" in self.modes:
            title = f"forward{over}"
            g = api.jvp(f, wrt=self.indices)
            more = given | dict(zip(_new(f, g), directions, strict=True))
            _, tangent = g(*copy.deepcopy(self.args), **more)
            along = dict(zip(self.indices, directions, strict=True))
            slope = self.slope(f, given, along, seed)
            names = ", ".join(_parameter(self.f, i) for i in self.indices)
            found += self.compared(title, names, _inner(tangent, seed), slope)
            if order > 1:
                found += self.lines(g, more, order - 1, f" over {title}")
        return found

    def compared(self, mode: str, name: str, analytic: float, numeric: float):
        """A line when the two disagree."""
        error = abs(analytic - numeric)
        # Written so that a nan on either side is a disagreement.
        if error <= self.atol + self.rtol * abs(numeric):
            return []
        relative = error / max(abs(numeric), self.atol)
        return [
            f"  {name}: derivative {analytic:.10g}, differences {numeric:.10g}, "
            f"relative error {relative:.2g} ({mode} mode)"
        ]

    def slope(self, f: Callable, given: dict, along: dict, seed: object) -> float:
        """By differences: how `f`, weighed with `seed`, changes along directions."""

        def value(t: float) -> float:
            moved = list(copy.deepcopy(self.args))
            for i, v in along.items():
                moved[i] = _moved(moved[i], v, t)
            return _inner(f(*moved, **given), seed)

        def difference(h: float) -> float:
            return (value(h) - value(-h)) / (2.0 * h)

        return (4.0 * difference(0.5 * self.step) - difference(self.step)) / 3.0


def _new(f: Callable, g: Callable) -> list[str]:
    """The keywords that a derivative takes besides those of its function."""
    known, taken = (inspect.signature(h).parameters for h in (f, g))
    return [n for n, p in taken.items() if p.kind is p.KEYWORD_ONLY and n not in known]


def _indices(f: Callable, args: tuple, wrt: object) -> tuple[int, ...]:
    if wrt is None:
        return tuple(i for i, x in enumerate(args) if any(map(_is_inexact, _leaves(x))))
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


def _parts(x: object) -> dict | None:
    """What a container or object holds, by key, place or name; None for neither."""
    if isinstance(x, dict):
        return x
    if isinstance(x, (list, tuple)):
        return dict(enumerate(x))
    return None if hasattr(x, "dtype") else attributes(x) or None


def _leaves(x: object) -> list[object]:
    parts = _parts(x)
    if parts is None:
        return [x]
    return [leaf for part in parts.values() for leaf in _leaves(part)]


def _mapped(function: Callable, x: object, *others: object) -> object:
    """A value like `x`, of what a function makes of its leaves and those of others."""
    parts = _parts(x)
    if parts is None:
        return function(x, *others)
    rest = [_parts(other) for other in others]
    made = {k: _mapped(function, v, *[r[k] for r in rest]) for k, v in parts.items()}
    return rebuilt(x, made.values() if isinstance(x, (list, tuple)) else made)


def _random_like(x: object, rng: np.random.Generator) -> object:
    def drawn(x: object) -> object:
        if x is None:
            return None
        found = rng.normal(size=np.shape(x))
        if np.iscomplexobj(x):
            found = found + 1j * rng.normal(size=np.shape(x))
        if not np.shape(x):
            return found if isinstance(found, (float, complex)) else found[()]
        return found.astype(x.dtype) if _is_inexact(x) else found

    return _mapped(drawn, x)


def _direction(x: object, rng: np.random.Generator) -> object:
    """A random tangent, None where there is no float."""
    return _mapped(lambda u: _random_like(u, rng) if _is_inexact(u) else None, x)


def _moved(x: object, direction: object, t: float) -> object:
    """`x` and `t` times a direction; what is no float stays."""
    return _mapped(lambda u, v: u + t * v if _is_inexact(u) else u, x, direction)


def _inner(a: object, b: object) -> float:
    """The real part of the sum of all products, in double precision."""
    parts = _parts(a)
    if parts is not None:
        others = _parts(b)
        return sum(_inner(v, others[k]) for k, v in parts.items())
    if a is None or b is None:
        return 0.0
    return float(np.sum(np.multiply(a, b, dtype=complex)).real)
