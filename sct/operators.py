"""The public operators that are built around derivatives: pullbacks and Jacobians.

Each gives a plain function that calls the derivatives emitted beside it; `drivers`
writes it.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable

import numpy as np

from sct import drivers, store
from sct.arguments import parameter_names
from sct.backends import spoken
from sct.colours import coloured
from sct.errors import ArgumentError
from sct.likeness import LIKE, kinds_of
from sct.normalise import normalise
from sct.program import Program
from sct.transform import TITLES, Request, Wrt, plain_function, transformed


def pullback(
    f: Callable, *args: object, wrt: Wrt | None = None, has_aux: bool = False
) -> tuple:
    """The value of a function, and a function that pulls adjoints of it back.

    Parameters
    ----------
    f : callable
        The function.
    *args : object
        The point.
    wrt : int, str or tuple of these, optional
        The parameters; by default those of all arguments.
    has_aux : bool, optional
        Whether `f` returns a pair, of which only the first is differentiated; the
        second comes back in the third place.

    Returns
    -------
    value : object
        What `f` returns.
    callable
        ``pb(out_bar)``, which gives the adjoints for an adjoint of the value: a tuple,
        or one adjoint when `wrt` is a single parameter.  It may be called any number
        of times; the forward sweep ran once.  Arguments and value must be left as they
        are in between.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> import numpy as np
    >>> def scaled(x, k):
    ...     return k * x
    >>> value, pb = pullback(scaled, np.array([1.0, 2.0]), 3.0)
    >>> pb(np.array([1.0, 0.0]))
    (array([3., 0.]), np.float64(1.0))
    >>> pb(np.array([0.0, 1.0]))
    (array([0., 3.]), np.float64(2.0))
    """
    wrt = tuple(range(len(args))) if wrt is None else wrt
    return _remembered(f, wrt, PULLBACKS[has_aux])(*args)


PULLBACKS = [
    Request("Pullback", "pullback", functools.partial(drivers.pullback, aux=aux))
    for aux in (False, True)
]


def pushforward(f: Callable, primals: tuple, tangents: tuple) -> tuple:
    """The value of a function, and its tangent along tangents of its arguments.

    Parameters
    ----------
    f : callable
        The function.
    primals : tuple
        Its arguments.
    tangents : tuple
        A tangent for each, with its structure and shapes; None holds it constant.

    Returns
    -------
    value, tangent
        As from `jvp`.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> def power(x, n):
    ...     return x**n
    >>> pushforward(power, (3.0, 2), (1.0, None))
    (9.0, 6.0)
    """
    if len(primals) != len(tangents):
        raise ArgumentError(
            f"there are {len(primals)} arguments and {len(tangents)} tangents: give "
            "None for an argument that is held constant"
        )
    wrt = tuple(k for k, t in enumerate(tangents) if t is not None)
    given = tuple(t for t in tangents if t is not None)
    vector = "tangents"
    while not isinstance(f, np.ufunc) and vector in inspect.signature(f).parameters:
        vector += "_"
    df = _remembered(f, wrt, _pushed(vector))
    return df(*primals, **{vector: given})


@functools.cache
def _pushed(vector: str) -> Request:
    """The request for ``f_pushforward(*args, tangents=...)``."""

    def emit(program, function, names, single) -> str:
        stem = normalise(function).source.name
        said = "Return the value, and its derivative along `{v}`."
        name = f"{stem}_pushforward"
        return program.product(function, names, name, single, said, vector, True)

    return Request("Tangent", "pushforward", emit)


def _remembered(f: Callable, wrt: Wrt, request: Request) -> Callable:
    """What `transformed` gives; for a function, it is made once."""
    if isinstance(f, types.FunctionType):
        return _made(f, tuple(wrt) if isinstance(wrt, list) else wrt, request)
    return transformed(f, wrt, request)


_made = functools.lru_cache(maxsize=128)(transformed)


MODES = ("forward", "reverse")


def jacobian(
    f: Callable,
    wrt: Wrt = 0,
    mode: str | None = None,
    has_aux: bool = False,
    sparsity: object = None,
    **options: object,
) -> Callable:
    """The Jacobian of a function, as a function.

    Parameters
    ----------
    f : callable
        A function of floats, arrays, and containers of them.
    wrt : int, str or tuple of these, optional
        The parameters, as for `grad`.
    mode : str, optional
        ``"forward"`` for a run for each number of the argument, ``"reverse"`` for a
        backward sweep for each number of the result; by default whichever is less.
    has_aux : bool, optional
        Whether `f` returns a pair, of which only the first is differentiated, in
        reverse mode; the second comes back beside the Jacobian.
    sparsity : array or sparse array, optional
        Where the Jacobian of one array by another may be different from zero: a matrix
        with a row for each number of the result and a column for each of the argument.
        The Jacobian is then a `scipy.sparse.csr_array`, made of as few products as
        there are colours of its columns, and one that checks the pattern.
    **options
        As for `grad`.

    Returns
    -------
    callable
        ``f_jacobian(*args)``: an array of shape ``out.shape + x.shape``; for a tuple
        `wrt`, a tuple of them.  For containers, the structure of the result, and in
        each place of it one like the argument.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> import numpy as np
    >>> def polar(x):
    ...     return np.array([x[0] * np.cos(x[1]), x[0] * np.sin(x[1])])
    >>> jacobian(polar)(np.array([2.0, 0.0]))
    array([[1., 0.],
           [0., 2.]])
    """
    if mode not in (None, *MODES):
        raise ArgumentError(f"mode={mode!r} is none of {', '.join(MODES)}")
    if has_aux and mode == "forward":
        raise ArgumentError(
            "has_aux needs mode='reverse', which runs the function once"
        )
    if sparsity is not None:
        return _sparse(f, wrt, sparsity, "jacobian", options)
    emit = drivers.JacobianOf(mode, aux=has_aux)
    request = Request("Jacobian", "jacobian", emit, **options)
    return transformed(f, wrt, request)


def _sparse(f: Callable, wrt: Wrt, sparsity: object, word: str, options) -> Callable:
    """A Jacobian or Hessian in sparse form."""
    if isinstance(wrt, (tuple, list)):
        raise ArgumentError("a sparsity pattern is for one parameter: give wrt one")
    try:
        from scipy.sparse import csr_array
    except ImportError as error:
        raise ArgumentError(f"sparsity needs SciPy: {error}") from None

    def emit(program, function, names, single) -> str:
        primal, origin = function, None
        if word == "hessian":
            primal, origin = emitted(program, function, names, single), function
        made = drivers.JacobianOf("forward", origin, array=csr_array)
        return made(program, primal, names, single)

    df = transformed(f, wrt, Request(word.capitalize(), word, emit, **options))
    return functools.partial(df, pattern=coloured(sparsity))


def hessian(
    f: Callable,
    wrt: Wrt = 0,
    has_aux: bool = False,
    sparsity: object = None,
    **options: object,
) -> Callable:
    """The second derivatives of a function that returns a scalar, as a function.

    Parameters
    ----------
    f, wrt, **options
        As for `grad`.
    has_aux : bool, optional
        Whether `f` returns a pair, of which only the first is differentiated; the
        second comes back beside the Hessian.
    sparsity : array or sparse array, optional
        As for `jacobian`, of the gradient.

    Returns
    -------
    callable
        ``f_hessian(*args)``: an array of shape ``x.shape + x.shape``.  For a tuple
        `wrt`, a tuple of tuples: in row `i` and column `j`, the derivative by
        parameter `j` of the gradient in parameter `i`.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> import numpy as np
    >>> def saddle(x):
    ...     return x[0] * x[0] * x[1]
    >>> hessian(saddle)(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    if sparsity is not None:
        return _sparse(f, wrt, sparsity, "hessian", options)

    def emit(program, function, names, single) -> str:
        gradient = emitted(program, function, names, single, has_aux)
        made = drivers.JacobianOf(None, function, has_aux)
        return made(program, gradient, names, single)

    request = Request("Hessian", "hessian", emit, **options)
    return transformed(f, wrt, request)


def hvp(
    f: Callable,
    wrt: Wrt = 0,
    **options: object,
) -> Callable:
    """The product of the Hessian of a function with a vector, as a function.

    The gradient is differentiated in forward mode, so that the Hessian itself never
    stands anywhere: the product costs a small multiple of the gradient.

    Parameters
    ----------
    f, wrt, **options
        As for `grad`.

    Returns
    -------
    callable
        ``f_hvp(*args, v=...)``, where `v` has the structure and shapes of the argument;
        for a tuple `wrt`, it is a tuple, and the product is one, too.  Where `f` has a
        parameter `v` of its own, the keyword is ``v_2``.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> import numpy as np
    >>> def saddle(x):
    ...     return x[0] * x[0] * x[1]
    >>> hvp(saddle)(np.array([1.0, 2.0]), v=np.array([1.0, 0.0]))
    array([4., 2.])
    """

    def emit(program, function, names, single) -> str:
        gradient = emitted(program, function, names, single)
        stem = normalise(function).source.name
        said = f"Return the product of the Hessian of `{stem}` and `{{v}}`."
        return program.product(gradient, names, f"{stem}_hvp", single, said)

    request = Request("Hessian-vector product", "hvp", emit, **options)
    return transformed(f, wrt, request)


def ggnvp(
    f: Callable,
    g: Callable | None = None,
    wrt: Wrt = 0,
    **options: object,
) -> Callable:
    """The product of a Gauss-Newton matrix with a vector, as a function.

    The matrix is that of ``g(f(x))``: the Jacobian of `f`, the Hessian of `g`, and the
    Jacobian again, ``J.T @ H @ J``.

    Parameters
    ----------
    f : callable
        A model, which returns an array or a number.
    g : function, optional
        The loss of what `f` returns; by default half the sum of its squares.  For the
        negative logarithm of a likelihood the matrix is the Fisher information.
    wrt, **options
        As for `grad`.

    Returns
    -------
    callable
        ``f_ggnvp(*args, v=...)``, as from `hvp`.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> import numpy as np
    >>> def line(p, t):
    ...     return p[0] + p[1] * t
    >>> t = np.array([0.0, 1.0, 2.0])
    >>> ggnvp(line)(np.array([1.0, 1.0]), t, v=np.array([1.0, 0.0]))
    array([3., 3.])
    """
    loss = None if g is None else plain_function(g)

    def emit(program, function, names, single) -> str:
        curvature = None
        if loss is not None:
            (first, *_) = parameter_names(normalise(loss).fn)
            gradient = emitted(program, loss, (first,), True)
            stem = normalise(loss).source.name
            said = f"Return the product of the Hessian of `{stem}` and `{{v}}`."
            curvature = program.product(gradient, (first,), f"{stem}_hvp", True, said)
        return drivers.ggnvp(program, function, names, single, curvature)

    request = Request("Gauss-Newton product", "ggnvp", emit, **options)
    return transformed(f, wrt, request)


def emitted(
    program: Program,
    function: types.FunctionType,
    names: tuple[str, ...],
    single: bool,
    aux: bool = False,
) -> types.FunctionType:
    """A gradient as a function that can be differentiated in turn.

    It is made as `program` makes functions, and knows of its arguments what `function`
    does.
    """
    backend = spoken(function) or program.backend
    first = Program(program.optimize, holomorphic=program.holomorphic, backend=backend)
    name = first.derivative(function, names, "grad", single, aux)
    gradient = store.load(first.units.values(), title=TITLES["grad"])[name]
    setattr(gradient, LIKE, kinds_of(function))
    return gradient


def elementwise_grad(
    f: Callable,
    wrt: Wrt = 0,
    **options: object,
) -> Callable:
    """The derivative of a function that maps element by element, as such a function.

    Parameters
    ----------
    f : callable
        A function whose result has the shape of the argument, each element being a
        function of the element in its place alone.  That is taken on trust.
    wrt, **options
        As for `grad`.

    Returns
    -------
    callable
        ``f_elementwise_grad(*args)``, which gives the derivative in every place.

    Raises
    ------
    UnsupportedError, SourceError, ArgumentError
        As for `grad`.

    Examples
    --------
    >>> import numpy as np
    >>> elementwise_grad(np.tanh)(np.array([0.0, 20.0]))
    array([1., 0.])
    """
    request = Request(
        "Derivative of the elements",
        "elementwise_grad",
        drivers.elementwise_grad,
        **options,
    )
    return transformed(f, wrt, request)
