"""Rows of the tables of rules, and the arguments that are drawn for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MODERN = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
WIDENING = "before NumPy 2 a number of Python's makes another of single precision wide"


@dataclass(frozen=True, eq=False)
class Row:
    """A call of a primal.

    Parameters
    ----------
    primal : callable
    args : tuple
    kwargs : dict
    wrt : tuple of str or None
        The parameters to differentiate in; None for all of the rule's that are given.
    symmetric : bool
        Whether only symmetric directions keep the arguments in the domain.
    """

    primal: Callable[..., Any]
    args: tuple
    kwargs: dict = field(default_factory=dict)
    wrt: tuple[str, ...] | None = None
    symmetric: bool = False

    def __str__(self) -> str:
        shown = [_shown(a) for a in self.args]
        shown += [f"{k}={_shown(v)}" for k, v in self.kwargs.items()]
        module = getattr(self.primal, "__module__", None) or "numpy"
        return f"{module}.{self.primal.__name__}({', '.join(shown)})"


def _shown(value: object) -> str:
    if isinstance(value, (tuple, list)):
        return "[" + ",".join(map(_shown, value)) + "]"
    if isinstance(value, np.ndarray):
        return f"{value.dtype.char}{list(value.shape)}".replace(" ", "")
    return type(value).__name__ if " at 0x" in str(value) else str(value)


_random = np.random.default_rng(0)


def start(seed: int) -> None:
    """Begin a table, whose arguments then depend on no other table."""
    global _random
    _random = np.random.default_rng(seed)


def normal(*shape: int) -> np.ndarray:
    return np.asarray(_random.normal(size=shape))


def between(low: float, high: float, *shape: int) -> np.ndarray:
    return np.asarray(_random.uniform(low, high, size=shape))


def positive(*shape: int) -> np.ndarray:
    return between(0.5, 2.0, *shape)


def regular(*shape: int) -> np.ndarray:
    """Matrices far from singular."""
    return normal(*shape) + 4.0 * np.eye(shape[-1])


def definite(*shape: int) -> np.ndarray:
    """Symmetric positive definite matrices."""
    half = normal(*shape)
    return half @ np.swapaxes(half, -1, -2) + np.eye(shape[-1])


def unary(primal: Callable[..., Any], draw: Callable[..., np.ndarray]) -> list[Row]:
    return [Row(primal, (draw(*shape),)) for shape in ((), (3,), (2, 3), (0,), (2, 0))]


def binary(
    primal: Callable[..., Any],
    left: Callable[..., np.ndarray],
    right: Callable[..., np.ndarray],
) -> list[Row]:
    pairs = (
        *[((), ()), ((3,), (3,)), ((2, 3), ()), ((), (2, 3)), ((2, 3), (3,))],
        *[((2, 1), (1, 3)), ((1, 3), (2, 3)), ((0,), ()), ((2, 0), (2, 1))],
    )
    return [Row(primal, (left(*a), right(*b))) for a, b in pairs]


def scalar(primal: Callable[..., Any], *args: float) -> list[Row]:
    return [Row(primal, args)]


def within(low: float, high: float) -> Callable[..., np.ndarray]:
    return lambda *shape: between(low, high, *shape)
