"""What the annotations of parameters say of their values.

``x: float`` is a scalar, ``n: int`` an integer, ``w: NDArray[np.float64]`` an array,
``a: Float[Array, "n d"]`` (as jaxtyping writes it) an array of rank two.
"""

from __future__ import annotations

import typing

import gast
import numpy as np

from sct.analysis.shapes import NUMBER, Fact, unknown
from sct.likeness import Kind, kinds_of
from sct.resolve import MISSING, Scope

WORDS = {"Float": True, "Float32": True, "Float64": True, "Complex": True, "Int": False}


def parameter_facts(fn: gast.FunctionDef, scope: Scope) -> dict[str, Fact]:
    """What is known of every parameter."""
    a = fn.args
    listed = [*a.posonlyargs, *a.args, *a.kwonlyargs]
    facts = {p.id: _fact(p.id, p.annotation, scope) for p in listed}
    for p, kind in kinds_of(scope.function).items():
        if p in facts:
            facts[p] = _of_kind(p, kind)
    module = getattr(scope.function, "__sct__", None)
    units = getattr(module, "units", None)
    if units and units[0].name == scope.function.__name__:
        # The seed of a gradient that was asked for is a number: one, unless another is
        # given.  Those of the functions that it calls may be arrays.
        for p, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
            if isinstance(default, gast.Constant) and default.value == 1.0:
                facts[p.id] = NUMBER
    for p in (a.vararg, a.kwarg):
        if p is not None:
            facts[p.id] = unknown(("parameter", p.id))
    return facts


def _of_kind(name: str, kind: Kind) -> Fact:
    """What an example says."""
    known = {"inexact": kind.word != "integers", "integer": kind.word == "integers"}
    if kind.rank == 0:
        return Fact(frozenset(), 0, **known)
    return unknown(("parameter", name), rank=kind.rank, array=True, **known)


def return_fact(fn: gast.FunctionDef, scope: Scope) -> Fact | None:
    """What the return annotation says of the result; None without one."""
    return None if fn.returns is None else _fact("result", fn.returns, scope)


def _fact(name: str, note: gast.AST | None, scope: Scope) -> Fact:
    root = ("parameter", name)
    if note is None:
        return unknown(root)
    if isinstance(note, gast.Constant) and isinstance(note.value, str):
        note = gast.parse(note.value, mode="eval").body
    if isinstance(note, gast.Subscript):
        return _subscripted(root, note, scope)
    found = scope.resolve(note)
    if found in (float, complex):
        return Fact(frozenset(), 0, inexact=True)
    if found is int or found is bool:
        return Fact(frozenset(), 0, integer=True)
    return _array(root, found)


def _subscripted(root: object, note: gast.Subscript, scope: Scope) -> Fact:
    base = scope.resolve(note.value)
    word = getattr(base, "__name__", "") if base is not MISSING else ""
    parts = note.slice.elts if isinstance(note.slice, gast.Tuple) else [note.slice]
    if word in WORDS and len(parts) == 2 and isinstance(parts[1], gast.Constant):
        axes = str(parts[1].value).split()
        known = not any(x.startswith(("*", "...")) for x in axes)
        rank = len(axes) if known else None
        if rank == 0:
            return Fact(frozenset(), 0, inexact=WORDS[word], integer=not WORDS[word])
        return unknown(root, rank=rank, array=True, inexact=WORDS[word])
    if base is np.ndarray:
        return unknown(root, array=True)
    name = getattr(note.value, "attr", getattr(note.value, "id", ""))
    if name == "NDArray":
        kind = scope.resolve(parts[0])
        return unknown(root, array=True, inexact=_is_inexact(kind))
    return unknown(root)


def _array(root: object, found: object) -> Fact:
    """An alias such as ``Array = NDArray[np.float64]``, or the array class itself."""
    if found is np.ndarray:
        return unknown(root, array=True)
    if getattr(typing.get_origin(found), "__name__", "") == "NDArray":
        # As NumPy spells it where the language has type aliases.
        (kind,) = typing.get_args(found)
        return unknown(root, array=True, inexact=_is_inexact(kind))
    if typing.get_origin(found) is np.ndarray:
        arguments = typing.get_args(found)
        inner = typing.get_args(arguments[1]) if len(arguments) > 1 else ()
        return unknown(root, array=True, inexact=bool(inner) and _is_inexact(inner[0]))
    return unknown(root)


def _is_inexact(kind: object) -> bool:
    return isinstance(kind, type) and issubclass(kind, (np.inexact, float, complex))
