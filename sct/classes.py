"""What a class says of its objects: constructor, methods, properties, operators.

Only classes written in Python count, whose objects are made and read as usual::

    find(Model, "loss")        ->  <function Model.loss>, the class that defines it
    constructor(Point)         ->  def __init__(self, x, y=0.0): self.x = x; self.y = y

The second is for dataclasses and named tuples, whose constructors have no source.
"""

from __future__ import annotations

import abc
import dataclasses
import dis
import functools
import inspect
import sys
import types
import typing
from collections.abc import Collection

import gast

from .resolve import MISSING

BINARY = {
    gast.Add: "add",
    gast.Sub: "sub",
    gast.Mult: "mul",
    gast.Div: "truediv",
    gast.FloorDiv: "floordiv",
    gast.Mod: "mod",
    gast.Pow: "pow",
    gast.MatMult: "matmul",
    gast.BitOr: "or",
    gast.BitAnd: "and",
    gast.BitXor: "xor",
    gast.LShift: "lshift",
    gast.RShift: "rshift",
}
UNARY = {gast.USub: "__neg__", gast.UAdd: "__pos__", gast.Invert: "__invert__"}
# With one of these, attributes are not what the text says.
SPECIAL = ("__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__new__")
# Modules whose objects are no models of anybody's.
LIBRARIES = frozenset(
    {*sys.stdlib_module_names, "numpy", "scipy", "cupy", "cupyx", "jax", "sct"}
    - {"__main__"}
)


def is_known(cls: type) -> bool:
    """Whether objects of a class are what their methods, as written, make of them."""
    module = (cls.__module__ or "").partition(".")[0]
    if not isinstance(cls, type) or module in LIBRARIES:
        return False
    if issubclass(cls, (BaseException, types.ModuleType)) or type(cls) not in PLAIN:
        return False
    if is_named_tuple(cls):
        return True
    frozen = getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)
    for name in SPECIAL:
        found = find(cls, name)
        usual = found is None or found[1] is object
        if not usual and not (frozen and name in ("__setattr__", "__delattr__")):
            return False
    return all(b is object or b.__flags__ & _HEAP for b in cls.__mro__)


# A flag of CPython's: the class was made by a `class` statement.
_HEAP = 1 << 9
PLAIN = (type, abc.ABCMeta)


def is_named_tuple(cls: type) -> bool:
    """Whether a class is a named tuple's."""
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def find(cls: type, name: str, after: type | None = None) -> tuple | None:
    """What a class, or the first of its bases that has it, says of an attribute.

    Parameters
    ----------
    cls : type
        The class.
    name : str
        The attribute.
    after : type, optional
        The class behind which to begin, as `super` does.

    Returns
    -------
    tuple or None
        The attribute, unbound, and the class that defines it.
    """
    order = cls.__mro__
    if after is not None:
        order = order[order.index(after) + 1 :]
    for base in order:
        if name in base.__dict__:
            return base.__dict__[name], base
    return None


def behaves(cls: type) -> bool:
    """Whether a class has methods or properties of its own, besides a constructor."""
    kinds = (types.FunctionType, property, classmethod, staticmethod)
    return any(
        isinstance(value, kinds) and name != "__init__" and is_own(value)
        for base in cls.__mro__
        if base is not object
        for name, value in base.__dict__.items()
    )


def method_class(function: types.FunctionType) -> type | None:
    """The class in whose body a function was defined, when its module has it."""
    if hasattr(function, CLASS):
        return getattr(function, CLASS)
    path = function.__qualname__.split(".")
    if len(path) < 2 or "<locals>" in path:
        return None
    found: object = function.__globals__.get(path[0], MISSING)
    for name in path[1:-1]:
        found = getattr(found, name, MISSING)
    if not isinstance(found, type) or not is_known(found):
        return None
    return found if found.__dict__.get(path[-1]) is function else None


def defining_class(function: types.FunctionType) -> type | None:
    """The class in whose body a method was written, for ``super()`` in it."""
    cls = method_class(function)
    for base in cls.__mro__ if cls is not None else ():
        held = base.__dict__.get(function.__name__)
        held = getattr(held, "fget", getattr(held, "__func__", held))
        if getattr(held, "__code__", None) is function.__code__:
            return base
    return None


def copy_of(function: types.FunctionType) -> types.FunctionType:
    """A function like another, to be known something about that the other is not."""
    made = types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__, made.__module__ = function.__qualname__, function.__module__
    made.__doc__, made.__annotations__ = function.__doc__, function.__annotations__
    made.__dict__.update(function.__dict__)
    return made


# Says of a function for objects of which class it is.
CLASS = "__sct_class__"


@functools.lru_cache(maxsize=256)
def method_for(function: types.FunctionType, cls: type) -> types.FunctionType:
    """A method as it is for the objects of one class, which may inherit it."""
    if method_class(function) is cls:
        return function
    made = copy_of(function)
    setattr(made, CLASS, cls)
    return made


def annotated(cls: type, attr: str) -> object:
    """The class that the annotation of an attribute gives, or `MISSING`."""
    try:
        return typing.get_type_hints(cls).get(attr, MISSING)
    except (NameError, TypeError, AttributeError):
        return MISSING


def class_defaults(cls: type, stored: Collection[str] = ()) -> list[str]:
    """The attributes that objects have from their class until they are set.

    Parameters
    ----------
    cls : type
        The class.
    stored : collection of str
        Attributes that are set outside its methods.
    """
    codes = [
        getattr(getattr(v, "fget", getattr(v, "__func__", v)), "__code__", None)
        for base in cls.__mro__
        for v in base.__dict__.values()
    ]
    named = {n for code in codes if code is not None for n in code.co_names}
    kinds = (types.FunctionType, property, classmethod, staticmethod)
    return sorted(
        n
        for n in named | set(stored)
        if (found := find(cls, n)) is not None
        and found[1] is not object
        and not isinstance(found[0], kinds)
        and _sets(codes, n, stored)
    )


def _sets(codes: list, attr: str, stored: Collection[str]) -> bool:
    """Whether one of some functions gives a value to an attribute of that name."""
    return attr in stored or any(
        i.opname == "STORE_ATTR" and i.argval == attr
        for code in codes
        if code is not None
        for i in dis.get_instructions(code)
    )


def fields(cls: type) -> tuple[str, ...] | None:
    """The parameters of a constructor that has no source, None for any other."""
    made = constructor(cls)
    if not isinstance(made, gast.FunctionDef):
        return None
    return tuple(p.id for p in made.args.args[1:])


@functools.lru_cache(maxsize=256)
def constructor(cls: type) -> types.FunctionType | gast.FunctionDef | None:
    """What ``C(...)`` runs once the object is there, None when that is not known.

    Returns
    -------
    function, tree or None
        A function with source, or a tree for a constructor that has none.
    """
    if is_named_tuple(cls):
        defaults = dict.fromkeys(cls._fields, inspect.Parameter.empty)
        defaults |= cls._field_defaults
        return _setter(list(defaults), defaults)
    init, owner = find(cls, "__init__")
    if owner is object:
        return _setter([], {})
    if dataclasses.is_dataclass(owner) and owner.__dataclass_params__.init:
        if "__init__" in owner.__dict__ and not is_own(init):
            return _of_dataclass(owner)
    return init if isinstance(init, types.FunctionType) else None


def is_own(value: object) -> bool:
    """Whether a method was written by the author of its class, and has source."""
    function = getattr(value, "fget", getattr(value, "__func__", value))
    if not isinstance(function, types.FunctionType):
        return False
    module = function.__globals__.get("__name__", "").partition(".")[0]
    generated = function.__code__.co_filename == "<string>"
    return not generated and module not in LIBRARIES


def _of_dataclass(cls: type) -> gast.FunctionDef | None:
    fields = [f for f in dataclasses.fields(cls) if f.init]
    if len(fields) < len(dataclasses.fields(cls)) or any(f.kw_only for f in fields):
        return None
    empty = inspect.Parameter.empty
    defaults = {}
    for f in fields:
        if f.default_factory is not dataclasses.MISSING:
            return None
        given = f.default is not dataclasses.MISSING
        defaults[f.name] = f.default if given else empty
    return _setter([f.name for f in fields], defaults, find(cls, "__post_init__"))


def _setter(names: list[str], defaults: dict, after=None) -> gast.FunctionDef | None:
    """``def __init__(self, x, k=2.0): self.x = x; self.k = k``."""
    listed = []
    for n in names:
        value = defaults[n]
        if value is inspect.Parameter.empty:
            listed.append(n)
        elif value is None or type(value) in (bool, int, float, str):
            listed.append(f"{n}={value!r}")
        else:
            return None
    lines = [f"    self.{n} = {n}" for n in names]
    lines += ["    self.__post_init__()"] if after else []
    head = f"def __init__({', '.join(['self', *listed])}):"
    return gast.parse("\n".join([head, *lines, "    return None"])).body[0]
