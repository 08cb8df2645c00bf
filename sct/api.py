"""The public functions: from a function to its derivative.

What stands between is in `transform` and `derive`.
"""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from sct.transform import Wrt, derivative


def grad(
    f: Callable,
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    verbose: bool = False,
    save: str | PathLike | None = None,
    like: tuple | None = None,
    optimize: bool = True,
    check_nan: bool = False,
    holomorphic: bool = False,
) -> Callable:
    """The gradient of a function that returns a scalar, as a function.

    Parameters
    ----------
    f : callable
        A Python function of floats and arrays of floats, with source.
    wrt : int, str or tuple of these, optional
        The parameters to differentiate with respect to, by position or name; by
        default the first.
    has_aux : bool, optional
        Whether `f` returns a pair, of which only the first is differentiated; the
        second comes back beside the gradient: ``(gradient, aux)``.
    verbose : bool, optional
        Whether to print the source of the gradient.
    save : path, optional
        A file to write the gradient to, as a module that needs no sct; see `save`.
    like : tuple, optional
        Examples of the arguments, or `spec` in place of arrays.  They tell the numbers
        of axes and the kinds of numbers, so that the code is for these alone, checks
        that the arguments are like that, and is shorter; and they tell functions and
        classes of objects, so that the derivative is made now rather than when it is
        first called.
    optimize : bool, optional
        Whether to simplify the emitted code; without, it computes the same at length.
    check_nan : bool, optional
        Whether the derivative raises a `NanError` at the first number that is none,
        and says behind which line.
    holomorphic : bool, optional
        Whether `f` is a holomorphic function of complex arguments, which is taken on
        trust: the gradient is then its complex derivative.

    Returns
    -------
    callable
        ``f_grad(*args, out_bar=1.0)``, a plain Python function with source.  It returns
        the gradient scaled by `out_bar`, with the shape and dtype of the argument; for
        a tuple `wrt`, a tuple of gradients.  The gradient in a list, tuple, dict, named
        tuple, dataclass or plain object is one of the same kind, zero in what has no
        part in the result, and None where there is no float, complex number or array
        of these: for integers, bools, strings, None and functions.

    Raises
    ------
    UnsupportedError
        When `f` holds what cannot be differentiated; the message names file and line.
    SourceError
        When the source of `f` cannot be found.
    ArgumentError
        When `wrt` names no parameter.  Also by the gradient itself, when it is called
        with integers, or for a result that is no scalar.  (Integers are refused because
        the rounding that comes with them has no derivative; pass floats.)

    Examples
    --------
    >>> import numpy as np
    >>> def energy(x, k=2.0):
    ...     return 0.5 * k * np.sum(x * x)
    >>> denergy = grad(energy)
    >>> denergy(np.array([1.0, 3.0]))
    array([2., 6.])
    >>> grad(energy, wrt=("x", "k"))(np.array([1.0, 3.0]), 4.0)
    (array([ 4., 12.]), np.float64(5.0))
    """
    return derivative(
        f,
        wrt,
        "grad",
        has_aux,
        verbose=verbose,
        save=save,
        like=like,
        optimize=optimize,
        check_nan=check_nan,
        holomorphic=holomorphic,
    )


def value_and_grad(
    f: Callable,
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    **options: object,
) -> Callable:
    """The value of a function that returns a scalar, and its gradient.

    Parameters
    ----------
    f, wrt, **options
        As for `grad`.
    has_aux : bool, optional
        Whether `f` returns a pair, of which only the first is differentiated; both
        come back: ``((value, aux), gradient)``.

    Returns
    -------
    callable
        ``f_value_and_grad(*args, out_bar=1.0)``, which returns ``(value, gradient)``;
        for a tuple `wrt` the gradient is a tuple.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> def cube(x):
    ...     return x * x * x
    >>> value_and_grad(cube)(2.0)
    (8.0, 12.0)
    """
    return derivative(f, wrt, "value_and_grad", has_aux, **options)


def vjp(
    f: Callable,
    wrt: Wrt = 0,
    *,
    has_aux: bool = False,
    **options: object,
) -> Callable:
    """The value of a function, and adjoints for a given adjoint of the value.

    Parameters
    ----------
    f, wrt, **options
        As for `grad`; `f` may return an array, or a tuple.
    has_aux : bool, optional
        As for `value_and_grad`; `out_bar` is the adjoint of the first alone.

    Returns
    -------
    callable
        ``f_vjp(*args, out_bar)``, which returns ``(value, adjoints)``: the product of
        `out_bar`, an array of the value's shape (a tuple for a tuple), and the
        Jacobian.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> import numpy as np
    >>> def squares(x):
    ...     return x * x
    >>> value, x_bar = vjp(squares)(np.array([1.0, 2.0]), out_bar=np.array([1.0, 0.5]))
    >>> x_bar
    array([2., 2.])
    """
    return derivative(f, wrt, "vjp", has_aux, **options)


def jvp(
    f: Callable,
    wrt: Wrt = 0,
    **options: object,
) -> Callable:
    """The value of a function, and its tangent along given tangents of its arguments.

    Parameters
    ----------
    f, wrt, **options
        As for `grad`; `f` may return anything made of floats and arrays.

    Returns
    -------
    callable
        ``f_jvp(*args, x_dot=...)``, with a keyword for each parameter in `wrt`, which
        returns ``(value, tangent)``: the product of the Jacobian and the tangents,
        which have the structures and shapes of their arguments.  It keeps nothing, so
        it needs twice the memory of `f`.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> def cube(x):
    ...     return x * x * x
    >>> jvp(cube)(2.0, x_dot=1.0)
    (8.0, 12.0)
    """
    return derivative(f, wrt, "jvp", **options)
