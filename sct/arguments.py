"""The parameters of a function's tree, bound to the arguments of a call.

::

    def g(a, *r, k=2.0): ...
    g(x, y)                     ->    {"a": x, "r": (y,), "k": 2.0}
"""

from __future__ import annotations

import inspect

import gast

from .grammar import clone, constant

P = inspect.Parameter


def parameters(a: gast.arguments) -> list[gast.Name]:
    """All parameters, in order."""
    return [p for p in [*a.posonlyargs, *a.args, a.vararg, *a.kwonlyargs, a.kwarg] if p]


def parameter_names(fn: gast.FunctionDef) -> list[str]:
    """The names of all parameters, in order."""
    return [p.id for p in parameters(fn.args)]


def bind(a: gast.arguments, call: gast.Call) -> dict[str, gast.AST]:
    """What each parameter is given: arguments, and defaults as they are written.

    Parameters
    ----------
    a : gast.arguments
        The parameters.
    call : gast.Call
        The call.

    Returns
    -------
    dict of str to gast.AST
        Trees of their own; a tuple for ``*xs``, a dict for ``**kw``.

    Raises
    ------
    TypeError
        When the call does not fit, or unpacks something with ``*``.
    """
    if any(isinstance(v, gast.Starred) for v in call.args) or any(
        k.arg is None for k in call.keywords
    ):
        raise TypeError
    plain = [*a.posonlyargs, *a.args]
    defaults = [P.empty] * (len(plain) - len(a.defaults)) + list(a.defaults)
    kinds = [P.POSITIONAL_ONLY] * len(a.posonlyargs) + [P.POSITIONAL_OR_KEYWORD] * len(
        a.args
    )
    listed = [
        P(p.id, k, default=d) for p, k, d in zip(plain, kinds, defaults, strict=True)
    ]
    if a.vararg:
        listed.append(P(a.vararg.id, P.VAR_POSITIONAL))
    for p, d in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        listed.append(P(p.id, P.KEYWORD_ONLY, default=P.empty if d is None else d))
    if a.kwarg:
        listed.append(P(a.kwarg.id, P.VAR_KEYWORD))
    found = inspect.Signature(listed).bind(
        *call.args, **{k.arg: k.value for k in call.keywords}
    )
    found.apply_defaults()
    bound = dict(found.arguments)
    if a.vararg:
        bound[a.vararg.id] = gast.Tuple(list(bound[a.vararg.id]), gast.Load())
    if a.kwarg:
        items = bound[a.kwarg.id]
        keys: list[gast.AST] = [constant(k) for k in items]
        bound[a.kwarg.id] = gast.Dict(keys, list(items.values()))
    return {p: clone(v) for p, v in bound.items()}
