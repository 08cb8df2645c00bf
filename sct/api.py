"""The public functions: from a function to its derivative.

The whole way stands in `derive`; here arguments are checked and the result is loaded.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import types
from collections.abc import Callable
from os import PathLike

import numpy as np

from sct import store, templates
from sct.arguments import parameter_names
from sct.classes import find, is_known, method_for
from sct.deferred import called_parameters, deferred
from sct.derive import SUFFIX, Program
from sct.entry import parameter_at
from sct.errors import (
    ArgumentError,
    SourceError,
    UnknownCallError,
    UnsupportedError,
)
from sct.normalise import normalise
from sct.resolve import canonical

Wrt = int | str | tuple[int | str, ...]


def grad(
    f: Callable,
    wrt: Wrt = 0,
    *,
    verbose: bool = False,
    save: str | PathLike | None = None,
    optimize: bool = True,
) -> Callable:
    """The gradient of a function that returns a scalar, as a function.

    Parameters
    ----------
    f : callable
        A Python function of floats and arrays of floats, with source.
    wrt : int, str or tuple of these, optional
        The parameters to differentiate with respect to, by position or name; by
        default the first.
    verbose : bool, optional
        Whether to print the source of the gradient.
    save : path, optional
        A file to write the gradient to, as a module that needs no sct; see `save`.
    optimize : bool, optional
        Whether to simplify the emitted code; without, it computes the same at length.

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
    return _derivative(f, wrt, "grad", verbose, save, optimize)


def value_and_grad(
    f: Callable,
    wrt: Wrt = 0,
    *,
    verbose: bool = False,
    save: str | PathLike | None = None,
    optimize: bool = True,
) -> Callable:
    """The value of a function that returns a scalar, and its gradient.

    Parameters
    ----------
    f, wrt, verbose, save, optimize
        As for `grad`.

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
    return _derivative(f, wrt, "value_and_grad", verbose, save, optimize)


def vjp(
    f: Callable,
    wrt: Wrt = 0,
    *,
    verbose: bool = False,
    save: str | PathLike | None = None,
    optimize: bool = True,
) -> Callable:
    """The value of a function, and adjoints for a given adjoint of the value.

    Parameters
    ----------
    f, wrt, verbose, save, optimize
        As for `grad`; `f` may return an array, or a tuple.

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
    return _derivative(f, wrt, "vjp", verbose, save, optimize)


TITLES = {"grad": "Gradient", "value_and_grad": "Value and gradient", "vjp": "Adjoint"}


def _derivative(
    f: Callable, wrt: Wrt, mode: str, verbose: bool, save, optimize: bool
) -> Callable:
    bound = _bound(f)
    if bound is not None:
        inner, first, rebind = bound
        moved = _moved(wrt, first)
        return rebind(_derivative(inner, moved, mode, verbose, save, optimize))
    function = _function(f)
    names = _names(function, wrt)
    single = not isinstance(wrt, (tuple, list))

    def transform(primal: types.FunctionType) -> Callable:
        program = Program(optimize)
        name = program.derivative(primal, names, mode, single)
        df = store.load(program.units.values(), title=TITLES[mode])[name]
        if verbose:
            print(f"# {TITLES[mode]} of `{function.__name__}`, generated by sct:")
            print(inspect.getsource(df))
        if save is not None:
            store.save(df, save)
        return df

    try:
        return transform(function)
    except UnsupportedError as error:
        if save is not None:
            raise
        asked, certain = called_parameters(function)
        if not certain and not (asked and isinstance(error, UnknownCallError)):
            raise
        df = deferred(function, asked, transform)
        df.__sct__ = store.DEFERRED
        df.__name__ = df.__qualname__ = f"{function.__name__}_{SUFFIX[mode]}"
        return df


def _bound(f: object) -> tuple[Callable, int, Callable] | None:
    """A function with arguments given beforehand: itself, how many, how to give them.

    Such are bound methods, objects that can be called, and `functools.partial`.
    """
    if isinstance(f, functools.partial) and (f.args or f.keywords):

        def rebind(df: Callable) -> functools.partial:
            return functools.partial(df, *f.args, **f.keywords)

        return f.func, len(f.args), rebind
    if isinstance(f, types.MethodType):
        method, owner = f.__func__, f.__self__
    elif is_known(type(f)) and find(type(f), "__call__"):
        (method, _), owner = find(type(f), "__call__"), f
    else:
        return None
    if not isinstance(method, types.FunctionType):
        return None
    if not isinstance(owner, type):
        method = method_for(method, type(owner))
    return method, 1, lambda df: types.MethodType(df, owner)


def _moved(wrt: Wrt, by: int) -> Wrt:
    """The parameters that `wrt` means, where the first `by` arguments are given."""
    if isinstance(wrt, (tuple, list)):
        return tuple(_moved(w, by) for w in wrt)
    return wrt + by if type(wrt) is int and wrt >= 0 else wrt


def _function(f: object) -> types.FunctionType:
    """The Python function that `f` is, or a refusal that says what it is."""
    if isinstance(f, types.FunctionType):
        return f
    if templates.lookup(f) is not None and templates.lookup(f).kind != "zero":
        return _spelled_out(f)
    if not callable(f):
        raise ArgumentError(f"{f!r} is not a function")
    raise SourceError(
        f"{canonical(f)} has no Python source and no rule; "
        "give it one with @sct.adjoint"
    )


@functools.cache
def _spelled_out(primal: object) -> types.FunctionType:
    """A Python function that calls a NumPy function, for ``sct.grad(np.sin)``."""
    word = primal.__name__
    parameters = ", ".join(templates.lookup(primal).wrt)
    text = f"def {word}({parameters}):\n    return primal({parameters})\n"
    filename = f"<{canonical(primal)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = {
        "primal": primal,
        "np": np,
        "__name__": getattr(primal, "__module__", "numpy"),
    }
    exec(compile(text, filename, "exec"), space)
    return space[word]


def _names(f: types.FunctionType, wrt: Wrt) -> tuple[str, ...]:
    """The parameters that `wrt` names."""
    listed = tuple(wrt) if isinstance(wrt, (tuple, list)) else (wrt,)
    if not listed:
        raise ArgumentError("wrt is empty: name at least one parameter")
    parameters = parameter_names(normalise(f).fn)
    found = []
    for w in listed:
        if isinstance(w, int) and not isinstance(w, bool):
            try:
                name = parameter_at(f, w)
            except (IndexError, ValueError):
                name = None
        else:
            name = w if isinstance(w, str) else None
        if name is None or (isinstance(w, str) and name not in parameters):
            raise ArgumentError(
                f"wrt={w!r} names no parameter of {f.__name__}, which has "
                f"{', '.join(parameters) or 'none'}"
            )
        if name in found:
            raise ArgumentError(f"wrt names `{name}` twice")
        found.append(name)
    return tuple(found)
