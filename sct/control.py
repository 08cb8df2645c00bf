"""Marks that the user sets: what is computed again, and what is done with an adjoint.

A mark says nothing in code that is not differentiated.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterable

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


def checkpointed(turns: Iterable, *, snapshots: int | None = None) -> Iterable:
    """A loop of which derivatives keep the state before a few turns only.

    ::

        for i in sct.checkpointed(range(n), snapshots=10):
            x = step(x, w)

    The backward sweep runs the other turns again, by the binomial schedule of Griewank
    and Walther: with `c` snapshots, ``comb(c + r, c)`` turns need at most `r` runs of
    each.

    Parameters
    ----------
    turns : range
        The turns of the loop.
    snapshots : int, optional
        How many states may be kept at a time; by default about as many as the number
        of turns has binary digits.

    Returns
    -------
    range
        The turns.

    Examples
    --------
    >>> import sct
    >>> def f(x):
    ...     for _ in sct.checkpointed(range(3), snapshots=2):
    ...         x = x * x
    ...     return x
    >>> f(2.0), sct.grad(f)(2.0)
    (256.0, 1024.0)
    """
    return turns


class _Skipped(BaseException):
    """Leaves a block that belongs to the backward sweep."""


class grad_of:
    """Statements on the adjoint of a variable, run in the backward sweep.

    ::

        h = np.tanh(w @ h + u)
        with sct.grad_of(h) as h_bar:
            h_bar = np.clip(h_bar, -1.0, 1.0)

    They run where the backward sweep passes the place where they stand, with all that
    has come back to the variable from the statements below: right behind the statement
    that gives it its value, that is its whole adjoint.  What is then bound to the name
    goes back further.  Names that the block binds are its own.

    In code that is not differentiated the block is passed over.

    Parameters
    ----------
    variable : object
        A variable: a number or an array.

    Examples
    --------
    >>> import sct
    >>> def f(x):
    ...     y = x * x
    ...     with sct.grad_of(y) as y_bar:
    ...         y_bar = min(y_bar, 1.0)
    ...     return 3.0 * y
    >>> f(2.0)
    12.0
    >>> sct.grad(f)(2.0)
    4.0
    """

    def __init__(self, variable: object):
        self.variable = variable

    def __enter__(self) -> None:
        # Python has no way to skip the body of a `with` but to raise in it: a tracer of
        # this one frame does, before the first instruction.
        frame = self.frame = sys._getframe(1)
        self.before = sys.gettrace(), frame.f_trace, frame.f_trace_opcodes
        sys.settrace(lambda *_: None)
        frame.f_trace_opcodes = True
        frame.f_trace = self._skip

    def _skip(self, frame: types.FrameType, event: str, arg: object) -> None:
        raise _Skipped

    def __exit__(self, kind: object, error: object, trace: object) -> bool:
        tracer, self.frame.f_trace, self.frame.f_trace_opcodes = self.before
        sys.settrace(tracer)
        del self.frame
        return kind is _Skipped
