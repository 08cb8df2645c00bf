"""What is known, without running anything, of the value that a name holds.

::

    g = lambda t: t * t         a function whose body stands here
    h = functools.partial(g, x) a call of `g` with one argument given
    m = Model(w)                an object of a known class, made here
    f = m.loss                  a method of it
    LAYERS[0]                   what the module's own list holds now

The writer of calls (`writeout`) asks this at every call.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

import gast
import numpy as np

from .classes import annotated, behaves, find, is_known, is_named_tuple
from .resolve import MISSING

CONTAINERS = (list, tuple, dict)
# Holds what is known of the parameters of a function: name → meaning.
GIVEN = "__sct_given__"
FUNCTIONS = (
    types.FunctionType,
    types.BuiltinFunctionType,
    np.ufunc,
    type(np.sum),
)


class Made(gast.Constant):
    """An object of a class, new and without attributes: ``m = C.__new__(C)``.

    Stands for itself between the stages that write out calls and those that take the
    object apart; no emitted code holds it.
    """

    def __init__(self, cls: type):
        super().__init__(None, None)
        self.cls = cls


@dataclass(frozen=True, eq=False)
class Body:
    """A function whose body is known: in ANF, with its parameters."""

    key: object
    fn: gast.FunctionDef
    foreign: bool = False
    owner: type | None = None


@dataclass(frozen=True, eq=False)
class Outside:
    """A function, class or container of the module's, or of any other."""

    value: object


@dataclass(frozen=True, eq=False)
class Instance:
    """An object of a known class.

    Attributes
    ----------
    cls : type
        Its class.
    made : bool
        Whether the function makes it.
    sample : object
        The object itself, when there is just one.
    path : tuple of str
        How it is reached from a parameter whose annotation gives its class.
    parts : mapping of str to Known
        What is known of its attributes.
    """

    cls: type
    made: bool = False
    sample: object = MISSING
    path: tuple[str, ...] = ()
    parts: Mapping[str, Known] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Items:
    """A list or tuple, and what is known of its items."""

    parts: tuple[Known | None, ...]


@dataclass(frozen=True, eq=False)
class Method:
    """A function and what it is given first."""

    function: types.FunctionType
    owner: type
    receiver: gast.AST


@dataclass(frozen=True, eq=False)
class Partial:
    """A call that has got some of its arguments."""

    func: gast.AST
    args: tuple[gast.AST, ...]
    keywords: tuple[gast.keyword, ...]


@dataclass(frozen=True, eq=False)
class Parent:
    """What ``super()`` gives."""

    cls: type
    after: type
    receiver: gast.AST


@dataclass(frozen=True, eq=False)
class Property:
    """An attribute that is computed when it is read."""

    function: types.FunctionType
    owner: type
    receiver: gast.AST


Known = Body | Outside | Instance | Items | Method | Partial | Parent | Property


def of_object(value: object) -> Known | None:
    """What is known of an object that the module, or a closure, holds.

    Parameters
    ----------
    value : object
        Anything, or `MISSING`.
    """
    if value is MISSING or isinstance(value, types.ModuleType):
        return None
    if isinstance(value, (*FUNCTIONS, *CONTAINERS, functools.partial)):
        return Outside(value)
    if isinstance(value, types.MethodType):
        plain = isinstance(value.__func__, types.FunctionType)
        return Outside(value) if plain and is_known(type(value.__self__)) else None
    if isinstance(value, type):
        return Outside(value) if is_known(value) else None
    return of_class(type(value), value)


def of_class(
    cls: object, sample: object = MISSING, path: tuple[str, ...] = ()
) -> Instance | None:
    """What is known of an object of a class, None when its methods do not matter."""
    if not isinstance(cls, type) or not is_known(cls) or not behaves(cls):
        return None
    return Instance(cls, sample=sample, path=path)


def of_sample(value: object, path: tuple[str, ...], deep: int = 6) -> Known | None:
    """What a value tells of those that a parameter will be given.

    Parameters
    ----------
    value : object
        What it is given in one call.
    path : tuple of str
        How it is reached.
    deep : int, optional
        How far to look into objects and lists.
    """
    if isinstance(value, types.ModuleType):
        return Outside(value)
    if isinstance(value, (*FUNCTIONS, functools.partial, types.MethodType)):
        return of_object(value)
    if type(value) in (list, tuple) and deep:
        parts = tuple(of_sample(v, (), deep - 1) for v in value)
        return Items(parts) if any(k is not None for k in parts) else None
    whole = of_class(type(value), path=path)
    if is_named_tuple(type(value)):
        return whole or Instance(type(value), path=path)
    if whole is None or not deep:
        return whole
    held = getattr(value, "__dict__", {}).items()
    parts = {n: of_sample(v, (*path, n) if path else (), deep - 1) for n, v in held}
    known = {n: k for n, k in parts.items() if k is not None}
    return Instance(type(value), path=path, parts=known)


def any_item(whole: Known | None) -> Instance | None:
    """What is known of all items of a list: that they are objects of one class."""
    if isinstance(whole, Items):
        parts = whole.parts
    elif isinstance(whole, Outside) and type(whole.value) in (list, tuple):
        parts = tuple(of_sample(v, ()) for v in whole.value)
    else:
        return None
    if not parts or not all(isinstance(k, Instance) for k in parts):
        return None
    return parts[0] if len({key_of(k) for k in parts}) == 1 else None


def key_of(known: Known | None) -> Hashable:
    """The same for two values of which the same is known."""
    if isinstance(known, Instance):
        return known.cls, tuple((n, key_of(k)) for n, k in sorted(known.parts.items()))
    if isinstance(known, Items):
        return tuple(map(key_of, known.parts))
    if not isinstance(known, Outside):
        return None
    # Two bound methods of one object are equal, though not the same.
    return known.value if callable(known.value) else id(known.value)


def attribute(cls: type, attr: str, receiver: gast.AST, after=None) -> Known | None:
    """What the class of an object says of one of its attributes.

    Parameters
    ----------
    cls : type
        The class of the object.
    attr : str
        The attribute.
    receiver : gast.AST
        An expression for the object.
    after : type, optional
        The class behind which to begin, as `super` does.
    """
    found = find(cls, attr, after)
    if found is None:
        return None
    value, owner = found
    if isinstance(value, types.FunctionType):
        return Method(value, owner, receiver)
    if isinstance(value, staticmethod):
        return of_object(value.__func__)
    if isinstance(value, classmethod):
        return Method(value.__func__, owner, gast.Constant(cls, None))
    if isinstance(value, property) and isinstance(value.fget, types.FunctionType):
        return Property(value.fget, owner, receiver)
    return None if owner is object else of_object(value)


def same(a: Known | None, b: Known | None) -> bool:
    """Whether two values behave alike, as far as is known."""
    if a is b:
        return True
    if isinstance(a, Instance) and isinstance(b, Instance):
        if (a.cls, a.made, a.sample) == (b.cls, b.made, b.sample):
            return a.path == b.path
        # One that is given and one that is made: what they hold must not matter.
        return a.cls is b.cls and not a.parts and not b.parts and _is_plain(a.cls)
    return isinstance(a, Outside) and isinstance(b, Outside) and a.value is b.value


def _is_plain(cls: type) -> bool:
    """Whether no annotation of a class gives a class whose methods matter."""
    names = {n for base in cls.__mro__ for n in getattr(base, "__annotations__", ())}
    return not any(of_class(annotated(cls, n)) for n in names)
