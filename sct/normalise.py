"""A function object to its normal form, once.

``parse → fence → desugar → anf → lift``: the part of the way that does not depend on
what is differentiated with respect to what.
"""

from __future__ import annotations

import builtins
import functools
import inspect
import types
from collections.abc import Mapping
from dataclasses import dataclass, field

import gast
import numpy as np

from sct import fence, grammar, templates
from sct.anf import anf
from sct.classes import method_class
from sct.desugar import desugar
from sct.enclosed import without_closures
from sct.errors import SctError
from sct.generators import listed, without_generators
from sct.hooks import without_hooks
from sct.imports import without_imports
from sct.iterators import with_generators
from sct.lift import Surroundings, lift
from sct.lives import one_life_each
from sct.meanings import GIVEN, Known, of_class
from sct.operations import Resolver, classify, looks_up, parts_of
from sct.outer import with_copies
from sct.outline import without_checkpointed
from sct.parse import Source, parse
from sct.questions import about_functions
from sct.renaming import own_names
from sct.resolve import MISSING, Scope
from sct.selections import with_selections
from sct.spellings import respelled

# The functions of the public API that give derivatives.
OPERATORS = {
    "sct.api": {"grad", "value_and_grad", "vjp", "jvp"},
    "sct.operators": {"elementwise_grad", "ggnvp", "hessian", "hvp", "jacobian"},
}


@dataclass(frozen=True, eq=False)
class Normal:
    """A function in A-normal form.

    Attributes
    ----------
    source : Source
        Where it was written.
    scope : Scope
        What its free names denote.
    fn : gast.FunctionDef
        Its tree; shared, so never changed.
    temporary : frozenset of str
        The names that normalisation made.
    elements : mapping of str to gast.AST
        Parameters of `fn` that the function itself has not: the element of ``*xs``
        that each stands for.
    """

    source: Source
    scope: Scope
    fn: gast.FunctionDef
    temporary: frozenset[str]
    elements: Mapping[str, gast.AST] = field(default_factory=dict)


@functools.lru_cache(maxsize=512)
def normalise(function: types.FunctionType) -> Normal:
    """The normal form of a function.

    Parameters
    ----------
    function : types.FunctionType
        Any function with Python source.

    Raises
    ------
    SourceError
        When there is no source.
    UnsupportedError
        When it holds what cannot be differentiated.
    """
    flat = flattened(function)
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        # It has a derivative only where it is written out.
        fence.check(flat.source.tree, flat.source, flat.around.is_builtin)
    return finished(flat, lift(flat.fn, flat.around, flat.given))


def finished(flat: Flat, fn: gast.FunctionDef) -> Normal:
    """The normal form whose tree is `fn`.

    Parameters
    ----------
    flat : Flat
        The function it was made of.
    fn : gast.FunctionDef
        A tree of the same meaning.
    """
    fence.check_outer(fn, flat.source)
    fn = one_life_each(fn)
    bound = grammar.all_writes(fn.body)
    made = bound - _names_of_the_user(flat.source.tree)
    around = flat.around.scope
    scope = Scope(flat.source.function, around.locals | bound, around.imports)
    return Normal(flat.source, scope, fn, frozenset(made))


@dataclass(frozen=True, eq=False)
class Flat:
    """A function in ANF as it was written, and what `lift` may ask about it.

    `given` says what is known of its parameters.
    """

    source: Source
    fn: gast.FunctionDef
    around: Surroundings
    given: Mapping[str, Known]


@functools.lru_cache(maxsize=512)
def flattened(function: types.FunctionType) -> Flat:
    """The function in ANF, local functions and containers as they were."""
    source = parse(function)
    tree = without_generators(source.tree)
    if function.__code__.co_flags & inspect.CO_GENERATOR:
        tree = listed(tree)
    package = function.__globals__.get("__package__") or ""
    tree, blocks = without_hooks(tree, source, Scope(function))
    tree, loops = without_checkpointed(tree, source, Scope(function))
    plain, imports = without_imports(tree, source, package)
    scope = Scope(function, imports=imports | blocks | loops)
    plain, enclosed = without_closures(plain, source, scope)
    scope.imports.update(enclosed)
    resolve = Resolver(scope, {})

    def is_builtin(node: gast.AST) -> str | None:
        found = scope.resolve(node)
        name = getattr(found, "__name__", None)
        if found is not MISSING and name and getattr(builtins, name, None) is found:
            return name
        return None

    fence.check(tree, source, is_builtin)

    def pure(node: gast.Call) -> bool:
        # Purity is told from normal forms.
        from sct import purity

        return purity.pure(classify(node, resolve), resolve, raising=True)

    def flat(tree: gast.FunctionDef) -> gast.FunctionDef:
        fewer = desugar(with_copies(tree), source, is_builtin, pure)
        return anf(fewer, source, lambda expr: looks_up(resolve(expr)))

    def known(callee: types.FunctionType) -> tuple[gast.FunctionDef, Scope, bool]:
        other = flattened(callee)
        return other.fn, other.around.scope, other.source.filename == source.filename

    def values(call: gast.Call) -> tuple[int | str, ...] | None:
        callee = scope.resolve(call.func)
        if callee is not MISSING and templates.lookup(callee) is not None:
            return parts_of(classify(call, resolve))
        plain = isinstance(callee, types.FunctionType)
        return _values_returned(callee) if plain else None

    def takes_lists(callee: gast.AST) -> bool:
        found = scope.resolve(callee)
        module = getattr(found, "__module__", None) or ""
        of_numpy = isinstance(found, np.ufunc) or module.split(".")[0] == "numpy"
        return of_numpy and templates.lookup(found) is not None

    def has_rule(callee: types.FunctionType) -> bool:
        if templates.lookup(callee) is not None:
            return True
        of_sct = (callee.__module__ or "").partition(".")[0] == "sct"
        # The derivative of one of its functions is like any other.
        return of_sct and not hasattr(callee, "__sct__")

    def is_operator(callee: object) -> bool:
        module = getattr(callee, "__module__", "")
        return getattr(callee, "__name__", "") in OPERATORS.get(module, ())

    def needs_writing_out(callee: types.FunctionType) -> bool:
        # That is told from their trees.
        from sct import beyond

        return beyond.needs_writing_out(callee)

    def only_reads(callee: gast.AST) -> bool:
        # That is told from its tree.
        from sct import beyond

        found = scope.resolve(callee)
        plain = isinstance(found, types.FunctionType)
        return takes_lists(callee) or plain and beyond.only_reads(found)

    around = Surroundings(
        source,
        scope,
        is_builtin,
        flat,
        known,
        values,
        takes_lists,
        only_reads,
        has_rule,
        is_operator,
        needs_writing_out,
    )
    plain = respelled(plain, is_builtin, scope)
    plain = with_selections(plain, is_builtin, scope.resolve)
    fn = one_life_each(flat(with_generators(plain, is_builtin)))
    return Flat(source, fn, around, _parameters_known(fn, function, scope))


def _parameters_known(fn, function, scope: Scope) -> dict[str, Known]:
    """The parameters that are objects of a known class."""
    a = fn.args
    found: dict[str, Known] = {}
    plain = [*a.posonlyargs, *a.args]
    cls = method_class(function) if plain else None
    notes = {p.id: _noted(p, scope) for p in [*plain, *a.kwonlyargs]}
    if cls is not None:
        notes[plain[0].id] = cls
    for p, note in notes.items():
        instance = of_class(note, path=(p,))
        if instance is not None:
            found[p] = instance
    return found | getattr(function, GIVEN, {})


@about_functions(None)
def _values_returned(callee: types.FunctionType) -> tuple[int | str, ...] | None:
    """The values a user's function returns, None when that is one or not known."""
    try:
        flat = flattened(callee)
    except SctError:
        return None
    last = flat.fn.body[-1]
    value = getattr(last, "value", None)
    if isinstance(last, gast.Return) and grammar.is_name(value):
        # What another function returned, as it is.
        listed = list(grammar.statements(flat.fn.body))
        made = [s for s in listed if value.id in grammar.writes(s)]
        targets = getattr(made[0], "targets", ()) if len(made) == 1 else ()
        call = made[0].value if any(map(grammar.is_name, targets)) else None
        return flat.around.values(call) if isinstance(call, gast.Call) else None
    if not isinstance(last, gast.Return) or not isinstance(value, gast.Tuple):
        return None
    return tuple(range(len(value.elts))) or None


def _names_of_the_user(tree: gast.FunctionDef) -> set[str]:
    """The names that a function or one inside it binds."""
    inside = [
        n for n in gast.walk(tree) if isinstance(n, (gast.FunctionDef, gast.Lambda))
    ]
    return {n for function in inside for n in own_names(function)}


def _noted(parameter: gast.Name, scope: Scope) -> object:
    """What the annotation of a parameter denotes, a string read as an expression."""
    note = parameter.annotation
    if isinstance(note, gast.Constant) and isinstance(note.value, str):
        note = grammar.expression(note.value)
    return MISSING if note is None else scope.resolve(note)
