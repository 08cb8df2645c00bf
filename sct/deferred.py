"""Functions that call what they are given: transformed when that is first met.

::

    def apply(f, x):                df = sct.grad(apply, wrt="x")
        return f(x) * x             df(np.sin, 0.3)     # transformed for np.sin
                                    df(np.exp, 0.3)     # and for np.exp

What a parameter that is called denotes, and of which class an object is whose methods
are called, only a call tells.  There is one derivative for each function, module or
class that comes; what cannot be differentiated is refused at the first call.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Hashable

import gast
import numpy as np

from sct.arguments import parameter_names
from sct.classes import copy_of
from sct.grammar import is_name, root, statements
from sct.meanings import GIVEN, key_of, of_sample
from sct.normalise import normalise

# Kinds of arguments whose methods say nothing about a class.
USUAL = (np.ndarray, list, tuple, dict, str)


def called_parameters(function: types.FunctionType) -> tuple[list[str], bool]:
    """The parameters that are called, have methods called, or go to functions.

    Parameters
    ----------
    function : types.FunctionType
        A function with source.

    Returns
    -------
    list of str
    bool
        Whether one of them certainly is no array: it is called, or has a method that
        arrays and containers have not.
    """
    normal = normalise(function)
    fn, scope = normal.fn, normal.scope
    parameters = parameter_names(fn)
    found: set[str] = set()
    certain: set[str] = set()
    # Whose part each name is.
    whole = {p: p for p in parameters}
    for s in statements(fn.body):
        if isinstance(s, gast.Assign) and is_name(s.targets[0]):
            source = root(s.value)
            if source in whole:
                whole.setdefault(s.targets[0].id, whole[source])
        for n in gast.walk(s):
            if not isinstance(n, gast.Call):
                continue
            owner = whole.get(root(n.func), "")
            found.add(owner)
            attr = getattr(n.func, "attr", "")
            if not any(hasattr(kind, attr) for kind in USUAL):
                certain.add(owner)
            if not isinstance(scope.resolve(n.func), types.FunctionType):
                continue
            values = [*n.args, *[k.value for k in n.keywords]]
            found.update(a.id for a in values if is_name(a))
    return [p for p in parameters if p in found], bool(certain & set(parameters))


def deferred(
    function: types.FunctionType, parameters: list[str], transform: Callable
) -> Callable:
    """A derivative that is made for the functions and classes that it is called with.

    Parameters
    ----------
    function : types.FunctionType
        The primal.
    parameters : list of str
        The parameters that are looked at.
    transform : callable
        The primal, or a copy of it that knows its parameters, to its derivative.
    """
    signature = inspect.signature(function)
    made: dict[tuple[Hashable, ...], Callable] = {}

    @functools.wraps(function)
    def derivative(*args, **kwargs):
        own = {k: v for k, v in kwargs.items() if k in signature.parameters}
        bound = signature.bind(*args, **own)
        bound.apply_defaults()
        known = {p: of_sample(bound.arguments[p], (p,)) for p in parameters}
        key = tuple(key_of(known[p]) for p in parameters)
        if key not in made:
            primal = copy_of(function)
            given = {p: k for p, k in known.items() if k is not None}
            setattr(primal, GIVEN, given)
            made[key] = transform(primal)
        return made[key](*args, **kwargs)

    del derivative.__wrapped__
    derivative.of = function, parameters, transform
    return derivative


def deferred_again(first: Callable, transform: Callable) -> Callable:
    """A derivative of what `deferred` gave, made when that is made.

    Parameters
    ----------
    first : callable
        The first derivative.
    transform : callable
        What it will be, once its functions and classes are known, to its derivative.
    """
    function, parameters, make = first.of

    def both(primal: types.FunctionType) -> Callable:
        made = make(primal)
        # It is given what the primal is given.
        setattr(made, GIVEN, getattr(primal, GIVEN))
        return transform(made)

    return deferred(function, parameters, both)
