"""Rules: ordinary functions that say how a primal is differentiated.

A rule is written in the names of the emitted code, may be called as it stands, and
its body is what the transform inlines::

    @adjoint(np.tanh, pointwise=True)
    def tanh(out, x, *, out_bar):
        x_bar = out_bar * (1.0 - out * out)
        return x_bar

    @elementwise(np.arctan2)
    def arctan2(out, y, x):
        r2 = x * x + y * y
        return x / r2, -y / r2

    @tangent(np.linalg.inv)
    def inv_tangent(out, a, *, a_dot):
        return -out @ a_dot @ out

The tangents of functions that are linear or act element by element follow from their
adjoints; others need a rule of their own.

The parameters of a rule are its primal's, in the same positions; what follows a
parameter that the rule leaves out is keyword-only.  An argument that a rule does not
name cannot be bound, so a call that gives it is refused and never misread.

Rules for a package that need not be there stand in a module of their own, which is
imported when something has been looked up in vain and the package is imported by then:
whoever holds a function of SciPy's has imported SciPy.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import textwrap
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import gast
import numpy as np

from sct.backends import twin
from sct.errors import RuleError


@dataclass(frozen=True, eq=False)
class Rule:
    """How one primal is differentiated.

    Parameters
    ----------
    primal : object
        What the rule is for, told apart by identity.
    kind : str
        ``"adjoint"``: `function` returns adjoints; ``"elementwise"``: it returns
        partial derivatives; ``"tangent"``: it returns the parts of the tangent;
        ``"zero"``: the derivative is zero, there is no function.
    function : callable or None
        The rule itself.
    wrt : tuple of str
        The parameters that get an adjoint, one returned expression for each.
    zero : tuple of str
        The parameters in which the derivative is zero.  Any other that is not in `wrt`
        must not depend on what is differentiated.
    full : bool or str
        Whether `out_bar` must have the shape of `out`.  Otherwise it may be anything
        that broadcasts to it.  A string names a parameter: `full` unless that one is
        None.
    pointwise : bool
        Whether the primal acts element by element and broadcasts.  Its adjoints are
        then to be summed to the shape of their operands, and a tangent is the sum of
        the same expressions with ``x_dot`` for `out_bar`.
    linear : bool or str
        Whether the primal is linear in each of `wrt`, so that a tangent is the sum of
        the primal's own values with one of them replaced by its tangent.  A string
        names a parameter: linear only if that one is None.
    jointly : bool
        Whether it is linear in all of `wrt` together, as ``np.where`` is: a tangent is
        the primal with all of them replaced, by zeros where they are constant.
    multilinear : bool
        Whether it is linear in each item of a list operand on its own, as
        ``np.einsum`` is, and not in all items together, as ``np.stack`` is.
    result : str
        What else is known of the result: ``"reduced"``, it is reduced along `axis`;
        ``"first"``, it has the shape of the first argument; ``"complex"``, it is made
        of complex numbers whatever goes in; ``"real"``, never; else empty.
    fresh : bool
        Whether the result shares no memory with what goes in.
    parts : tuple of str
        The names of the values that the primal returns as a tuple.  The adjoint of one
        that nobody reads is None, where the result is taken apart at once.
    alone : mapping
        Parameter → the values of it for which the primal returns one value all the
        same.
    each : str
        The parameter, a list or tuple, for each item of which the primal returns one.
    wide : bool
        Whether `out_bar` may, unless all operands are known to be vectors or matrices,
        also be broadcast to more than the shape of `out`.
    singular : str
        Whether the derivative may be infinite: ``"pole"`` at finite arguments,
        ``"overflow"`` where the value is, as that of an exponential; else empty.
    """

    primal: object
    kind: str
    function: Callable[..., Any] | None = None
    wrt: tuple[str, ...] = ()
    zero: tuple[str, ...] = ()
    full: bool | str = False
    pointwise: bool = False
    linear: bool | str = False
    jointly: bool = False
    multilinear: bool = False
    wide: bool = False
    singular: str = ""
    result: str = ""
    fresh: bool = False
    widens: bool = False
    parts: tuple[str, ...] = ()
    each: str = ""
    alone: Mapping[str, tuple] = field(default_factory=dict)
    real: bool = False

    @cached_property
    def signature(self) -> inspect.Signature:
        """What binds the arguments of a call to names of the rule."""
        if self.function is None:
            return inspect.signature(lambda *args, **kwargs: None)
        signature = _primal_signature(self.function)
        if not isinstance(self.primal, types.FunctionType):
            return signature
        theirs = _named_as(signature.parameters, self.primal)
        return signature.replace(
            parameters=[
                p.replace(default=theirs[p.name].default)
                for p in signature.parameters.values()
            ]
        )

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the primal's inputs in the rule."""
        return tuple(self.signature.parameters)

    def asks(self, test: gast.AST) -> Callable[..., bool] | None:
        """The question, one of `QUESTIONS`, that a test in the rule is."""
        name = getattr(getattr(test, "func", None), "id", "")
        asked = self.function.__globals__.get(name) if name else None
        return next((q for q in QUESTIONS if q is asked), None)

    @property
    def tree(self) -> gast.FunctionDef:
        """The tree of the rule; shared, so clone before changing."""
        tree = _parsed(self.function)
        if self.joint:
            return tree
        returned = tree.body[-1].value
        many = isinstance(returned, gast.Tuple) and len(self.wrt) != 1
        if (len(returned.elts) if many else 1) != len(self.wrt):
            raise RuleError(
                f"rule `{tree.name}` returns not one value for each of "
                f"{', '.join(self.wrt)}"
            )
        return tree

    @cached_property
    def joint(self) -> bool:
        """Whether it gives the tangent as a whole, not one part for each of `wrt`."""
        returned = _parsed(self.function).body[-1].value
        single = not isinstance(returned, gast.Tuple)
        return self.kind == "tangent" and len(self.wrt) > 1 and single


_rules: dict[object, Rule] = {}
_tangents: dict[object, Rule] = {}

# Packages that need not be there, and the modules that hold rules for them.
OPTIONAL = {
    "scipy.fft": "scipy_fft",
    "scipy.integrate": "integrate",
    "scipy.linalg": "scipy_linalg",
    "scipy.signal": "signal",
    "scipy.spatial.distance": "distance",
    "scipy.special": "special",
    "scipy.stats": "stats",
}
_registered: set[str] = set()


def _key(primal: object) -> object:
    """What tells an object from all others, and a bound method by what it is made of.

    A bound method is a new object every time that it is looked up.
    """
    if isinstance(primal, types.MethodType):
        return id(primal.__self__), id(primal.__func__)
    return id(primal)


def _register_imported() -> bool:
    """Register the rules for packages imported since; whether there were any."""
    found = [p for p in OPTIONAL if p in sys.modules and p not in _registered]
    for package in found:
        _registered.add(package)
        importlib.import_module(f"{__package__}.{OPTIONAL[package]}")
    return bool(found)


def lookup(primal: object) -> Rule | None:
    """The rule of an object, found by identity.

    Parameters
    ----------
    primal : object
        Anything; it need not be hashable.

    Returns
    -------
    Rule or None
    """
    # A rule keeps its primal alive, so an id is never that of another object.
    found = _rules.get(_key(primal))
    if found is None and _register_imported():
        found = _rules.get(_key(primal))
    if found is None and (same := twin(primal)) is not primal:
        found = lookup(same)
    return found


def nearer(value: object, other: object) -> bool:
    """Whether a rule that may read either of two values does better to read the first.

    In a rule that is a question about the function at hand, answered while it is
    transformed: the backward sweep may have one of them anyway.
    """
    return True


def is_square(x: object) -> bool:
    """Whether `x` is a sum of squares, which is zero only where all of them are.

    That, too, is answered while a function is transformed.
    """
    return False


def given(argument: object) -> bool:
    """Whether an optional argument is given: a test in a rule, decided beforehand.

    In the text of a call it is given unless it is left out or the literal None.
    """
    return argument is not None


QUESTIONS = (nearer, is_square, given)
"""What a rule may ask about the function at hand."""


def tangent_of(primal: object) -> Rule | None:
    """The rule of its own that an object has for its tangent, found by identity."""
    lookup(primal)
    return _tangents.get(_key(primal))


def rules() -> Iterator[Rule]:
    """All registered rules, in order of registration."""
    _register_imported()
    yield from _rules.values()


def adjoint(
    *primals: object,
    wrt: tuple[str, ...] | None = None,
    zero: tuple[str, ...] = (),
    full: bool | str = True,
    pointwise: bool = False,
    linear: bool | str = False,
    jointly: bool = False,
    multilinear: bool = False,
    wide: bool = False,
    singular: str = "",
    result: str = "",
    fresh: bool = False,
    parts: tuple[str, ...] = (),
    each: str = "",
    alone: Mapping[str, tuple] | None = None,
    real: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function ``(out, x, ..., *, out_bar)`` as the adjoint of `primals`.

    Parameters
    ----------
    *primals : object
        The functions that the rule differentiates.
    wrt : tuple of str, optional
        The parameters that get an adjoint, in the order returned.  By default those
        without a default value.
    zero, full, pointwise, linear, jointly, multilinear, wide, singular, result, fresh,
    parts, each, alone, real
        As in `Rule`; a pointwise rule is never `full`.

    Raises
    ------
    RuleError
        When the function does not have the shape of a rule.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for primal in primals:
            _check(function, primal, bar=True)
            _rules[_key(primal)] = Rule(
                primal,
                "adjoint",
                function,
                _differentiable(function, wrt),
                _named(function, zero),
                False if pointwise else full,
                pointwise,
                linear or jointly or multilinear,
                jointly,
                multilinear,
                wide,
                singular,
                result,
                fresh,
                parts=parts,
                each=each,
                alone=alone or {},
                real=real,
            )
        return function

    return register


def elementwise(
    *primals: object,
    wrt: tuple[str, ...] | None = None,
    singular: str = "",
    widens: bool = False,
    real: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function ``(out, x, ...)`` returning the partials of `primals`.

    Parameters
    ----------
    *primals : object
        Functions that act element by element.
    wrt : tuple of str, optional
        The parameters whose partial is returned, in order.  By default those without
        a default value.
    singular, widens, real
        As in `Rule`.

    Raises
    ------
    RuleError
        When the function does not have the shape of a rule.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for primal in primals:
            _check(function, primal, bar=False)
            _rules[_key(primal)] = Rule(
                primal,
                "elementwise",
                function,
                _differentiable(function, wrt),
                pointwise=True,
                singular=singular,
                widens=widens,
                real=real,
            )
        return function

    return register


def tangent(
    *primals: object,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function ``(out, x, ..., *, x_dot, ...)`` as the tangent of `primals`.

    It returns one value for each parameter that has a tangent, in their order: what
    that tangent contributes to the tangent of the result, which is the sum of them.
    Or it returns that sum itself, when it is simpler so: the tangents of arguments that
    are constant are then the number 0.0.

    Parameters
    ----------
    *primals : object
        The functions that the rule differentiates.

    Raises
    ------
    RuleError
        When the function does not have the shape of a rule.
    """

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for primal in primals:
            _check(function, primal, bar=False)
            wrt = tuple(_dots(function))
            if not wrt:
                raise RuleError(
                    f"rule `{function.__name__}` needs a keyword-only parameter "
                    "`x_dot` for each parameter `x` that has a tangent"
                )
            _tangents[_key(primal)] = Rule(primal, "tangent", function, wrt)
        return function

    return register


def present(*names: str) -> list[object]:
    """The functions by these names that the installed NumPy has."""
    words = [n.rpartition(".") for n in names]
    owners = [(getattr(np, m) if m else np, n) for m, _, n in words]
    return [getattr(owner, n) for owner, n in owners if hasattr(owner, n)]


def nondifferentiable(*primals: Any) -> Any:
    """Register functions whose derivative is zero wherever it exists.

    Parameters
    ----------
    *primals : object
        The functions.

    Returns
    -------
    object
        The first of them, so that this also decorates.
    """
    for primal in primals:
        _rules[_key(primal)] = Rule(primal, "zero")
    return primals[0]


def _primal_signature(function: Callable[..., Any]) -> inspect.Signature:
    own = inspect.signature(function)
    seeds = {"out", "out_bar", *_dots(function).values()}
    inputs = [p for p in own.parameters.values() if p.name not in seeds]
    return own.replace(parameters=inputs)


def _named_as(
    names: Iterable[str], primal: types.FunctionType
) -> dict[str, inspect.Parameter]:
    """The parameters of a primal; what goes by position alone is named as in a rule."""
    theirs = list(inspect.signature(primal).parameters.values())
    nameless = [p for p in theirs if p.kind is p.POSITIONAL_ONLY]
    given = list(names)[: len(nameless)]
    return {
        **dict(zip(given, nameless)),
        **{p.name: p for p in theirs[len(nameless) :]},
    }


def _dots(function: Callable[..., Any]) -> dict[str, str]:
    """The parameters whose tangents a rule takes, and the names of these."""
    own = inspect.signature(function).parameters
    return {
        n: f"{n}_dot"
        for n in own
        if f"{n}_dot" in own and own[f"{n}_dot"].kind is inspect.Parameter.KEYWORD_ONLY
    }


def _differentiable(
    function: Callable[..., Any], wrt: tuple[str, ...] | None
) -> tuple[str, ...]:
    if wrt is not None:
        return _named(function, wrt)
    parameters = _primal_signature(function).parameters
    return tuple(n for n, p in parameters.items() if p.default is p.empty)


def _named(function: Callable[..., Any], names: tuple[str, ...]) -> tuple[str, ...]:
    parameters = _primal_signature(function).parameters
    if tuple(n for n in parameters if n in names) != tuple(names):
        raise RuleError(
            f"rule `{function.__name__}`: {names} does not name parameters of the "
            f"rule in their order ({', '.join(parameters)})"
        )
    return tuple(names)


def _check(function: Callable[..., Any], primal: object, bar: bool) -> None:
    if not isinstance(function, types.FunctionType) or function.__name__ == "<lambda>":
        raise RuleError(f"a rule is a function written with `def`, not {function!r}")
    said = f"rule `{function.__name__}`"
    if not callable(primal):
        raise RuleError(f"{said} is for {primal!r}, which cannot be called")
    parameters = inspect.signature(function).parameters
    if next(iter(parameters), None) != "out":
        raise RuleError(f"{said}: the first parameter must be `out`, the result")
    seed = parameters.get("out_bar")
    if bar and (seed is None or seed.kind is not seed.KEYWORD_ONLY):
        raise RuleError(f"{said} needs a keyword-only parameter `out_bar`")
    if not bar and seed is not None:
        raise RuleError(f"{said} returns partials, so it takes no `out_bar`")
    if isinstance(primal, types.FunctionType):
        own = _primal_signature(function).parameters
        theirs = _named_as(own, primal)
        placed = [n for n, p in own.items() if p.kind is not p.KEYWORD_ONLY]
        if placed != list(theirs)[: len(placed)] or not own.keys() <= theirs.keys():
            raise RuleError(
                f"{said} has parameters ({', '.join(own)}) after `out` where "
                f"`{primal.__name__}` has ({', '.join(theirs)})"
            )


@functools.cache
def _parsed(function: Callable[..., Any]) -> gast.FunctionDef:
    try:
        text = textwrap.dedent(inspect.getsource(function))
    except OSError as error:
        raise RuleError(f"no source for rule `{function.__name__}`") from error
    tree = gast.parse(text).body[0]
    tree.decorator_list = []
    if gast.get_docstring(tree) is not None:
        del tree.body[0]
    if not isinstance(tree.body[-1], gast.Return) or tree.body[-1].value is None:
        raise RuleError(f"rule `{tree.name}` must end in `return`, its only one")
    return tree
