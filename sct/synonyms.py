"""One name for every list and dict that is made and changed here.

::

    items = [x, y]                    items = [x, y]
    w = items                 ──►     items[1] = z
    w[1] = z                          s = items[0]
    s = w[0]

A second name gives way to the first where it can only mean the same: it is bound once,
and as long as it is read the first is not bound to anything else.
"""

from __future__ import annotations

import gast

from sct import grammar
from sct.arguments import parameter_names
from sct.renaming import captured_names, rename

DISPLAYS = (gast.List, gast.Dict)


def without_synonyms(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Let second names of lists and dicts that are changed give way.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one in ANF.
    """
    names = _Names(fn)
    pairs = [(s.targets[0].id, s.value.id) for s in names.copies]
    if not pairs:
        return fn
    # What is changed under one name has changed under all.
    changed = set(names.changed)
    while more := {n for p in pairs for n in p if changed & {*p}} - changed:
        changed |= more
    if not any(w in changed and x in names.made for w, x in pairs):
        return fn
    fn = grammar.clone(fn)
    names = _Names(fn)
    for stmt in names.copies:
        if stmt.targets[0].id in changed:
            names.give_way(stmt)
    return fn


class _Names:
    """What binds, reads and changes the names of a function."""

    def __init__(self, fn: gast.FunctionDef):
        hidden = captured_names(fn.body) | grammar.outer_names(fn.body)
        self.bound: dict[str, list[gast.AST]] = {p: [fn] for p in parameter_names(fn)}
        self.readers: dict[str, list[gast.AST]] = {}
        self.home: dict[gast.AST, list[gast.AST]] = {}
        self.changed: set[str] = set()
        self.copies: list[gast.Assign] = []
        for block in _blocks(fn.body):
            for stmt in block:
                self.home[stmt] = block
                self._note(stmt)
        self.made = {
            n
            for n, found in self.bound.items()
            if n not in hidden
            and all(isinstance(getattr(s, "value", None), DISPLAYS) for s in found)
        }
        self.copies = [
            s
            for s in self.copies
            if len(self.bound[s.targets[0].id]) == 1 and s.targets[0].id not in hidden
        ]

    def _note(self, stmt: gast.AST) -> None:
        for n in grammar.writes(stmt):
            self.bound.setdefault(n, []).append(stmt)
        for n in grammar.reads(stmt) | set(grammar.mutates(stmt)):
            self.readers.setdefault(n, []).append(stmt)
        self.changed.update(grammar.mutates(stmt))
        value = getattr(stmt, "value", None)
        if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
            self.changed.add(grammar.root(value.func.value))
        copies = isinstance(stmt, gast.Assign) and grammar.is_name(value)
        if copies and grammar.is_name(stmt.targets[0]):
            self.copies.append(stmt)

    def give_way(self, stmt: gast.Assign) -> None:
        """Put the first name in place of the second, if it means the same."""
        second, first = stmt.targets[0].id, stmt.value.id
        body = self.home[stmt]
        places = {s: k for k, top in enumerate(body) for s in grammar.statements([top])}
        readers, here = self.readers.get(second, []), places[stmt]
        if first not in self.made or any(places.get(s, -1) <= here for s in readers):
            return
        last = max([places[s] for s in readers], default=here)
        if any(here < places.get(s, -1) <= last for s in self.bound[first]):
            return
        for s in readers:
            rename(grammar.heads(s), {second: first})
        self.readers.setdefault(first, []).extend(readers)
        body.remove(stmt)
        if not body:
            body.append(grammar.located(gast.Pass(), stmt))


def _blocks(body: list[gast.AST]):
    """A block and all that are inside it."""
    yield body
    for stmt in body:
        for inner in grammar.blocks(stmt):
            yield from _blocks(inner)
