"""A function whose derivative is asked for itself, with the parameters that it shows.

::

    @functools.wraps(g)                       def wrapper(x, y):
    def wrapper(*args, **kwargs):       ->        return g(x, y)
        return g(*args, **kwargs)

    def f(*xs):                               def f(*xs):
        return xs[0] * len(xs)          ->        xs_0 = xs[0]
                                                  return xs_0 * len(xs)

How many arguments come is not known here, so elements of ``*xs`` get names by number;
a function that reads ``xs`` as a whole reads a list of them instead.
"""

from __future__ import annotations

import functools
import inspect
import types
from dataclasses import replace

import gast

from .errors import unsupported
from .grammar import (
    assign,
    call,
    clone,
    constant,
    located,
    name,
    statements,
    writes,
)
from .names import Names, used_names
from .normalise import Normal, flattened, normalise
from .operations import element
from .renaming import rename
from .specialise import make_room, parameter, specialise

P = inspect.Parameter
UNKNOWN = (
    "how many arguments it holds is not known before the function runs",
    "Read its elements by number, as in `{0}[0]`, or take the arguments as one array.",
)


@functools.lru_cache(maxsize=512)
def wrapped_form(function: types.FunctionType) -> Normal | None:
    """A decorated function with the parameters of the function that it wraps.

    Parameters
    ----------
    function : types.FunctionType
        Any function.

    Returns
    -------
    Normal or None
        None for a function that is not ``def wrapper(*args, **kwargs)`` made with
        `functools.wraps`, or whose defaults cannot be written down.
    """
    variadic = function.__code__.co_flags & (
        inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    )
    if not variadic or not hasattr(function, "__wrapped__"):
        return None
    listed = list(inspect.signature(function).parameters.values())
    plain = [
        p for p in listed if p.kind in (P.POSITIONAL_ONLY, P.POSITIONAL_OR_KEYWORD)
    ]
    keywords = [p for p in listed if p.kind is P.KEYWORD_ONLY]
    if (
        len(plain) + len(keywords) < len(listed)
        or keywords
        and not _takes_keywords(function)
    ):
        return None
    given = [p.default for p in listed if p.default is not P.empty]
    if not all(map(_is_literal, given)) or given and not _passes_on(function):
        return None
    names = tuple(p.name for p in plain)
    normal = specialise(
        normalise(function), len(plain), tuple(p.name for p in keywords), names
    )
    args = normal.fn.args
    if [p.id for p in [*args.posonlyargs, *args.args]] != list(names):
        return None
    fn = clone(normal.fn)
    args = fn.args
    args.defaults = [constant(p.default) for p in plain if p.default is not P.empty]
    defaults = {p.name: p.default for p in keywords if p.default is not P.empty}
    args.kw_defaults = [
        constant(defaults[p.id]) if p.id in defaults else None for p in args.kwonlyargs
    ]
    return replace(normal, fn=fn)


def _passes_on(function: types.FunctionType) -> bool:
    """Whether all that a wrapper does with its arguments is to call what it wraps.

    Only then it cannot tell a default from an argument that was given.
    """
    flat = flattened(function)
    a = flat.fn.args
    variadic = {p.id for p in (a.vararg, a.kwarg) if p}
    passed: set[int] = set()
    for s in statements(flat.fn.body):
        for n in gast.walk(s):
            if isinstance(n, gast.Call):
                if flat.around.scope.resolve(n.func) is function.__wrapped__:
                    spread = [v for v in n.args if isinstance(v, gast.Starred)]
                    spread += [k for k in n.keywords if k.arg is None]
                    passed |= {id(v.value) for v in spread}
    return all(
        id(n) in passed
        for s in statements(flat.fn.body)
        for n in gast.walk(s)
        if isinstance(n, gast.Name) and n.id in variadic
    )


def _takes_keywords(function: types.FunctionType) -> bool:
    return bool(function.__code__.co_flags & inspect.CO_VARKEYWORDS)


def _is_literal(value: object) -> bool:
    return value is None or type(value) in (bool, int, float, str)


def entry(function: types.FunctionType, wrt: tuple[str, ...] = ()) -> Normal:
    """The form of a function whose derivative is asked for itself.

    Parameters
    ----------
    function : types.FunctionType
        Any function.
    wrt : tuple of str
        Its parameters of interest; ``xs_0`` is the first argument of ``*xs``.
    """
    normal = wrapped_form(function) or normalise(function)
    vararg = normal.fn.args.vararg
    if vararg is None:
        return normal
    start = f"{vararg.id}_"
    indices = {
        int(w[len(start) :])
        for w in wrt
        if w.startswith(start) and w[len(start) :].isdigit()
    }
    return opened(normal, tuple(sorted(indices))) if indices else normal


def parameter_at(function: types.FunctionType, index: int) -> str:
    """The name, for `entry`, of a parameter given by number."""
    a = entry(function).fn.args
    plain = [p.id for p in [*a.posonlyargs, *a.args]]
    if a.vararg and index >= len(plain):
        return element(a.vararg.id, index - len(plain))
    return [*plain, *(p.id for p in a.kwonlyargs)][index]


@functools.lru_cache(maxsize=512)
def opened(normal: Normal, indices: tuple[int, ...]) -> Normal:
    """A function whose first statements name elements of ``*xs``.

    Parameters
    ----------
    normal : Normal
        A function with ``*xs``.
    indices : tuple of int
        The arguments, counted from the first of ``*xs``.

    Returns
    -------
    Normal
        The function with ``xs_0 = xs[0]`` at its beginning; `Normal.elements` has them.

    Raises
    ------
    UnsupportedError
        When the function binds ``xs`` anew.
    """
    vararg = normal.fn.args.vararg.id
    fn = clone(normal.fn)
    named = {k: element(vararg, k) for k in indices}
    make_room(fn, flattened(normal.source.function), list(named.values()), set())
    made: set[str] = set()
    if _read_as_a_whole(fn, vararg):
        made = _list_of_all(fn, vararg, named, normal.source)
    else:
        fn.body = [_Elements(vararg, named).visit(s) for s in fn.body]
    lead = {n: constant(k) for k, n in named.items()}
    elements = {
        n: gast.Subscript(name(vararg), k, gast.Load()) for n, k in lead.items()
    }
    for n in elements:
        fn.args.kwonlyargs.append(parameter(n))
        fn.args.kw_defaults.append(None)
    temporary = normal.temporary | made
    return replace(normal, fn=fn, elements=elements, temporary=temporary)


def _read_as_a_whole(fn: gast.FunctionDef, vararg: str) -> bool:
    """Whether a function reads more of ``*xs`` than elements by number."""
    allowed: set[int] = set()
    nodes = [n for s in statements(fn.body) for n in gast.walk(s)]
    for n in nodes:
        if _number(n, vararg) is not None:
            allowed.add(id(n.value))
        elif isinstance(n, gast.Call) and getattr(n.func, "id", None) == "len":
            allowed |= {id(v) for v in n.args}
    return any(
        isinstance(n, gast.Name) and n.id == vararg and id(n) not in allowed
        for n in nodes
    )


def _list_of_all(fn: gast.FunctionDef, vararg: str, named: dict[int, str], source):
    """Let a function read a list of all its arguments; the names that this makes.

    ``items = [xs_0, xs_1]``, and what else there is of ``*xs`` appended to it.
    """
    for s in statements(fn.body):
        if vararg in writes(s):
            raise unsupported(
                source,
                s,
                f"`{vararg}` bound anew",
                UNKNOWN[0],
                UNKNOWN[1].format(vararg),
            )
    names = Names(used_names(fn) | set(named.values()) | {vararg})
    items, index, item = (names.fresh(w) for w in ("items", "i", "item"))
    rename(fn.body, {vararg: items})
    lead: list[gast.AST] = []
    first = []
    for k in range(max(named) + 1):
        if k not in named:
            held = names.fresh("item")
            place = gast.Subscript(name(vararg), constant(k), gast.Load())
            lead.append(assign(held, place))
        first.append(name(named.get(k) or held))
    lead.append(assign(items, gast.List(first, gast.Load())))
    place = gast.Subscript(name(vararg), name(index), gast.Load())
    body = [assign(item, place), gast.Expr(call(f"{items}.append", name(item)))]
    turns = call("range", constant(len(first)), call("len", name(vararg)))
    lead.append(gast.For(name(index, store=True), turns, body, [], None))
    at = fn.body[0]
    fn.body[:0] = [located(s, at) for s in lead]
    return {items, index, item}


def _number(node: gast.AST, vararg: str) -> int | None:
    """The `k` of ``xs[k]``."""
    if not isinstance(node, gast.Subscript) or not isinstance(node.ctx, gast.Load):
        return None
    if not isinstance(node.value, gast.Name) or node.value.id != vararg:
        return None
    index = getattr(node.slice, "value", None)
    literal = isinstance(node.slice, gast.Constant) and type(index) is int
    return index if literal and index >= 0 else None


class _Elements(gast.NodeTransformer):
    """Elements by their names."""

    def __init__(self, vararg: str, named: dict[int, str]):
        self.vararg, self.named = vararg, named

    def visit_Subscript(self, node):
        number = _number(node, self.vararg)
        if number in self.named:
            return gast.copy_location(name(self.named[number]), node)
        return self.generic_visit(node)
