"""Functions of any number of arguments, for the arguments of one call.

::

    def g(a, *xs, **kw):                        def g(a, xs_0, xs_1, *, k):
        return a * xs[0] + len(xs) * kw["k"]  ->    return a * xs_0 + 2 * k

        (called as ``g(p, q, r, k=s)``)
"""

from __future__ import annotations

import functools
import inspect
import types

import gast

from .errors import unsupported
from .grammar import assign, clone, constant, located, name
from .lift import lift
from .names import Names, used_names
from .normalise import Flat, Normal, finished, flattened
from .operations import element
from .renaming import Captured, rename


def form_of(function: types.FunctionType, call: gast.Call) -> tuple | None:
    """What `specialise` must know of a call, None for a function that needs nothing.

    Parameters
    ----------
    function : types.FunctionType
        What is called.
    call : gast.Call
        The call, without ``*`` and ``**``.
    """
    if not function.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
        return None
    return len(call.args), tuple(k.arg for k in call.keywords)


@functools.lru_cache(maxsize=512)
def specialise(
    normal: Normal,
    positional: int,
    keywords: tuple[str, ...],
    names: tuple[str, ...] = (),
) -> Normal:
    """A function for one number of arguments.

    Parameters
    ----------
    normal : Normal
        A function with ``*xs`` or ``**kw``.
    positional : int
        How many arguments come by position.
    keywords : tuple of str
        The names of those that come by keyword.
    names : tuple of str, optional
        How arguments by position are called, instead of ``xs_0`` and so on.

    Returns
    -------
    Normal
        The same function with a parameter for each argument.

    Raises
    ------
    UnsupportedError
        When two parameters would have one name.
    """
    flat = flattened(normal.source.function)
    fn = clone(flat.fn)
    a = fn.args
    plain = [p.id for p in [*a.posonlyargs, *a.args]]
    known = {*plain, *(p.id for p in a.kwonlyargs)}
    lead = []
    own: list[str] = []
    if a.vararg:
        extra = range(max(0, positional - len(plain)))
        own = [
            names[len(plain) + k] if names else element(a.vararg.id, k) for k in extra
        ]
        value = gast.Tuple([name(n) for n in own], gast.Load())
        lead.append(located(assign(a.vararg.id, value), fn))
        a.args += [parameter(n) for n in own]
        if own:
            a.defaults = []
        a.vararg = None
    if a.kwarg:
        more = [k for k in keywords if k not in known]
        keys: list[gast.AST] = [constant(k) for k in more]
        value = gast.Dict(keys, [name(k) for k in more])
        lead.append(located(assign(a.kwarg.id, value), fn))
        a.kwonlyargs += [parameter(k) for k in more]
        a.kw_defaults += [None] * len(more)
        a.kwarg = None
        own += more
    make_room(fn, flat, own, known)
    fn.body = [*lead, *fn.body]
    return finished(flat, lift(flat.around.flat(fn), flat.around, flat.given))


def parameter(n: str) -> gast.Name:
    """A parameter without annotation."""
    return gast.Name(n, gast.Param(), None, None)


def make_room(fn, flat: Flat, own: list[str], known: set[str]) -> None:
    """Rename the locals of `fn` that have the name of a new parameter, one of `own`.

    Raises
    ------
    UnsupportedError
        When that is impossible: a global or another parameter has the name.
    """
    used = Names(used_names(fn) | set(own) | known)
    body = [n for s in fn.body for n in gast.walk(s) if isinstance(n, gast.Name)]
    taken = {n.id for n in body} & set(own)
    bound = {n.id for n in body if not isinstance(n.ctx, gast.Load)}
    clash = bool(taken - bound) or bool(set(own) & known) or len(set(own)) < len(own)
    try:
        rename(fn.body, {n: used.fresh(n) for n in sorted(taken)})
    except Captured:
        clash = True
    if clash:
        raise unsupported(
            flat.source,
            flat.source.tree,
            f"`{fn.name}` with these arguments",
            "two of its names would be the same: " + ", ".join(own),
            "Rename its parameters.",
        )
