"""What example arguments say of a function's parameters.

``like=(w, 3, np.sin)`` says that the first is an array of so many axes, the second an
integer, and which function the third is.
"""

from __future__ import annotations

import inspect
import types
from dataclasses import dataclass

import numpy as np

from .classes import copy_of
from .errors import ArgumentError
from .meanings import GIVEN, of_sample

# Holds the kinds of the parameters of a function that examples were given for.
LIKE = "__sct_like__"


@dataclass(frozen=True)
class Spec:
    """Shape and dtype of an array, in place of an example."""

    shape: tuple[int, ...]
    dtype: np.dtype


def spec(shape: int | tuple[int, ...] = (), dtype: object = float) -> Spec:
    """Shape and dtype of an argument, for `like`.

    Parameters
    ----------
    shape : int or tuple of int, optional
        The lengths of its axes; how many there are is what counts.
    dtype : dtype, optional
        The kind of its elements.

    Returns
    -------
    Spec

    Examples
    --------
    >>> spec((100, 3))
    Spec(shape=(100, 3), dtype=dtype('float64'))
    """
    whole = (shape,) if isinstance(shape, int) else tuple(shape)
    return Spec(whole, np.dtype(dtype))


@dataclass(frozen=True)
class Kind:
    """What is known of an argument: a number, or an array of some rank.

    Attributes
    ----------
    word : str
        ``"floats"``, ``"complex numbers"`` or ``"integers"``.
    rank : int
        How many axes there are.
    """

    word: str
    rank: int


WORDS = {"f": "floats", "c": "complex numbers", "i": "integers", "u": "integers"}


def kind_of(value: object) -> Kind | None:
    """The kind of an example; None for what is no number and no array of them."""
    if isinstance(value, (bool, int, float, complex)):
        value = spec((), type(value))
    word = WORDS.get(getattr(getattr(value, "dtype", None), "kind", ""))
    return Kind(word, len(value.shape)) if word else None


def informed(function: types.FunctionType, like: tuple) -> types.FunctionType:
    """A copy of a function that knows what its arguments are like.

    Parameters
    ----------
    function : types.FunctionType
        Any function.
    like : tuple
        Examples of its arguments.

    Raises
    ------
    ArgumentError
        When they do not fit its parameters.
    """
    signature = inspect.signature(function)
    try:
        bound = signature.bind_partial(*like).arguments
    except TypeError as error:
        raise ArgumentError(
            f"like does not fit the parameters of {function.__name__}: {error}"
        ) from None
    known = {p: of_sample(value, (p,)) for p, value in bound.items()}
    kinds = {p: kind_of(value) for p, value in bound.items()}
    made = copy_of(function)
    setattr(made, GIVEN, {p: k for p, k in known.items() if k is not None})
    setattr(made, LIKE, {p: k for p, k in kinds.items() if k is not None})
    return made


def kinds_of(function: object) -> dict[str, Kind]:
    """What examples have said of the parameters of a function."""
    return getattr(function, LIKE, {})
