"""Marks that the user sets: what is computed again instead of kept.

A mark says nothing in code that is not differentiated.
"""

from __future__ import annotations

import types
from collections.abc import Callable

from .classes import copy_of
from .errors import ArgumentError

MARK = "__sct_checkpoint__"


def checkpoint(f: Callable) -> Callable:
    """A function of which derivatives keep nothing but the arguments.

    The backward sweep of whatever calls it runs its forward sweep again.

    Parameters
    ----------
    f : function
        A function that does nothing but to return a value, the same one for the same
        arguments: one that draws random numbers is refused when it is differentiated.

    Returns
    -------
    function
        One that does what `f` does; `f` itself is left as it is.  This may also stand
        above a ``def``, as ``@sct.checkpoint``.

    Raises
    ------
    ArgumentError
        When `f` is no function written in Python.

    Examples
    --------
    >>> @checkpoint
    ... def layer(x, w):
    ...     return x * w
    >>> layer(2.0, 3.0)
    6.0
    """
    if not isinstance(f, types.FunctionType):
        raise ArgumentError(f"{f!r} is not a function written in Python")
    made = copy_of(f)
    setattr(made, MARK, True)
    return made


def is_checkpointed(f: object) -> bool:
    """Whether a function is marked by `checkpoint`."""
    return getattr(f, MARK, False)
