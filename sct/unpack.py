"""Assignment to several targets becomes assignments to names.

::

    a, b = b, a            a_next = b
                     ->    b = a
                           a = a_next

    a, (b, c) = t          a, item = t
                     ->    b, c = item

A literal on the right is taken apart; values are computed in their order, and a store
waits in a temporary only where a later value still reads the name it overwrites.
"""

from __future__ import annotations

import gast

from .grammar import clone, is_name, name, names_read, target_names
from .names import noun
from .writer import Writer

ATOMS = (gast.Name, gast.Constant)
DISPLAYS = (gast.Tuple, gast.List)


class Unpacker:
    """Writes assignments to targets of any form.

    Parameters
    ----------
    writer : Writer
        Where they are written.
    captured : set of str
        The names that functions defined inside this one read.
    """

    def __init__(self, writer: Writer, captured: set[str]):
        self.writer = writer
        self.captured = captured

    def assign_all(self, targets: list[gast.AST], value: gast.AST) -> None:
        """Write ``a = b = ... = value``."""
        first, *others = targets
        if others:
            written = {n for t in targets[:-1] for n in target_names(t)}
            shared = isinstance(value, gast.Constant) or (
                isinstance(value, gast.Name) and value.id not in written
            )
            if not shared and isinstance(first, gast.Name):
                self.writer.assign(first, value)
                first, *others = others
                value = name(targets[0].id)
                shared = all(
                    value.id not in target_names(t) for t in [first, *others[:-1]]
                )
            if not shared:
                value = self.writer.bind(value, noun(value))
        self.assign(first, value)
        for target in others:
            self.assign(target, clone(value))

    def assign(self, target: gast.AST, value: gast.AST) -> None:
        """Write ``target = value``."""
        if not isinstance(target, DISPLAYS):
            self.writer.assign(target, value)
            return
        pairs = _pairs(target, value)
        if pairs is None:
            self._from_value(target, value)
        else:
            self._from_literal(pairs)

    def _from_literal(self, pairs: list[tuple[gast.AST, gast.AST]]) -> None:
        bound = [n for t, _ in pairs for n in target_names(t)]
        repeated = len(set(bound)) < len(bound)
        reads = [names_read(v) for _, v in pairs]
        calls = [any(isinstance(n, gast.Call) for n in gast.walk(v)) for _, v in pairs]
        waiting: list[tuple[gast.AST, gast.AST]] = []
        for k, (target, value) in enumerate(pairs):
            later = range(k + 1, len(pairs))
            if isinstance(target, gast.Name):
                waits = repeated or any(target.id in reads[j] for j in later)
                waits |= target.id in self.captured and any(calls[j] for j in later)
                waits |= any(
                    target.id in names_read(t) or target.id in target_names(t)
                    for t, _ in waiting
                )
                base = f"{target.id}_next"
            else:
                waits = bool(waiting) or any(
                    not isinstance(pairs[j][1], ATOMS) for j in later
                )
                base = noun(value)
            if waits and (later or waiting):
                if not isinstance(value, gast.Constant):
                    value = self.writer.bind(value, base)
                waiting.append((target, value))
            else:
                self.assign(target, value)
        for target, value in waiting:
            self.assign(target, value)

    def _from_value(self, target: gast.AST, value: gast.AST) -> None:
        """``a, (b, c) = t``: names first, other targets from temporaries."""
        later: list[tuple[gast.AST, gast.Name]] = []
        elements = []
        touched: set[str] = set()
        inners = [t.value if isinstance(t, gast.Starred) else t for t in target.elts]
        for k, (element, inner) in enumerate(zip(target.elts, inners, strict=True)):
            starred = isinstance(element, gast.Starred)
            if any(is_name(inner, getattr(t, "id", "")) for t in inners[k + 1 :]):
                # Of ``_, _ = t`` the last is what the name means afterwards.
                inner = name(self.writer.names.fresh("item"), store=True)
            elif not isinstance(inner, gast.Name) or inner.id in touched:
                touched |= names_read(inner) | set(target_names(inner))
                base = f"{inner.id}_next" if isinstance(inner, gast.Name) else "item"
                fresh = self.writer.names.fresh(base)
                later.append((inner, name(fresh)))
                inner = name(fresh, store=True)
            elements.append(gast.Starred(inner, gast.Store()) if starred else inner)
        self.writer.assign(gast.Tuple(elements, gast.Store()), value)
        for inner, held in later:
            self.assign(inner, held)


def _pairs(target, value) -> list[tuple[gast.AST, gast.AST]] | None:
    """Targets with the values of a literal; None when only run time can tell."""
    if not isinstance(value, DISPLAYS):
        return None
    if any(isinstance(v, gast.Starred) for v in value.elts):
        return None
    targets, values = target.elts, value.elts
    stars = [k for k, t in enumerate(targets) if isinstance(t, gast.Starred)]
    if not stars:
        return list(zip(targets, values)) if len(targets) == len(values) else None
    star = stars[0]
    after = len(targets) - star - 1
    if len(values) < star + after:
        return None
    middle = gast.List(values[star : len(values) - after], gast.Load())
    return [
        *zip(targets[:star], values[:star]),
        (targets[star].value, middle),
        *zip(targets[star + 1 :], values[len(values) - after :]),
    ]
