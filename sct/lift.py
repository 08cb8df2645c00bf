"""More of the language made plain: what is known of a function without running it.

    sums as loops → edits as assignments → calls written out → loops unrolled
    → containers and objects apart

Each step gives the same tree when it finds nothing to do; a step that leaves forms of
the source language behind is followed by `flat`, which desugars and flattens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import gast

from .attributes import attributes_apart, outer_apart
from .components import taken_apart
from .edits import without_edits
from .extremes import item_by_item
from .grown import parts_by_name
from .mapped import without_maps
from .meanings import Known
from .objects import objects_apart
from .ordering import by_index
from .parse import Source
from .resolve import Scope
from .runtime import copied
from .solutions import with_solutions
from .spread import spread
from .sums import loops_for_sums, of_displays
from .unroll import unrolled
from .writeout import write_out


@dataclass(frozen=True)
class Surroundings:
    """What the steps may ask about the world around a function.

    Attributes
    ----------
    source : Source
        Where it was written.
    scope : Scope
        What its free names denote.
    is_builtin : callable
        The word of the builtin that a name denotes, or None.
    flat : callable
        A tree to its ANF.
    known : callable
        A global function to its ANF, its scope, and whether it stands in this file.
    values : callable
        The values that the call of a function returns, each by its name or its place;
        None when that is not known.
    takes_lists : callable
        Whether a function of a library only reads the lists that it is given.
    only_reads : callable
        Whether a function does, be it a user's.
    has_rule : callable
        Whether a function has a rule of its own.
    is_operator : callable
        Whether an object is `sct.grad` or another of its kind.
    needs_writing_out : callable
        Whether what a function does cannot be told from what it returns.
    """

    source: Source
    scope: Scope
    is_builtin: Callable
    flat: Callable
    known: Callable
    values: Callable
    takes_lists: Callable
    only_reads: Callable
    has_rule: Callable
    is_operator: Callable
    needs_writing_out: Callable


def lift(
    fn: gast.FunctionDef, around: Surroundings, given: Mapping[str, Known]
) -> gast.FunctionDef:
    """Make plain what can be.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    around : Surroundings
        What is known of the world around it.
    given : mapping
        What is known of its parameters.

    Returns
    -------
    gast.FunctionDef
        A function in ANF of the same meaning.
    """

    def sums(fn: gast.FunctionDef) -> gast.FunctionDef:
        return loops_for_sums(fn, around.is_builtin)

    def inner(tree: gast.FunctionDef) -> gast.FunctionDef:
        return around.flat(sums(around.flat(tree)))

    def flatly(step: Callable, fn: gast.FunctionDef) -> gast.FunctionDef:
        done = step(fn)
        return fn if done is fn else around.flat(done)

    def written(fn: gast.FunctionDef) -> gast.FunctionDef:
        # What a list holds has a name of its own once the list is taken apart.
        for _ in range(2):
            before = fn
            fn = flatly(lambda fn: write_out(fn, around, inner, given), fn)
            fn = flatly(sums, fn)
            fn = flatly(lambda fn: unrolled(fn, around), fn)
            fn = flatly(lambda fn: taken_apart(fn, around), fn)
            if fn is before:
                break
        return fn

    def is_copy(func: gast.AST) -> bool:
        return around.scope.resolve(func) is copied

    steps = (
        # While the comprehensions that are summed are still there.
        sums,
        lambda fn: taken_apart(fn, around),
        lambda fn: without_edits(fn, around.is_builtin, around.only_reads, is_copy),
        lambda fn: without_maps(fn, around.scope, around.is_builtin),
        lambda fn: by_index(fn, around.is_builtin, around.scope.resolve),
        sums,
        written,
        lambda fn: objects_apart(fn, around),
        lambda fn: parts_by_name(fn, around.scope.resolve),
        lambda fn: attributes_apart(fn, around),
        lambda fn: outer_apart(fn, around),
        lambda fn: of_displays(fn, around.is_builtin),
        lambda fn: spread(fn, around.is_builtin),
        lambda fn: item_by_item(fn, around.is_builtin),
        lambda fn: with_solutions(fn, around.scope),
    )
    for step in steps:
        fn = flatly(step, fn)
    return fn
