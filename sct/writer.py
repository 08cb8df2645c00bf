"""Writing statements one after another, with temporaries where they are needed.

The passes that normalise a function share a `Writer`: it holds the block being
written, the user's statement that is being rewritten, and the supply of names.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import gast

from .grammar import assign, located, name
from .names import Names


class Writer:
    """The block being written.

    Parameters
    ----------
    names : Names
        Where temporaries get their names.

    Attributes
    ----------
    body : list of gast.AST
        The statements written so far.
    at : gast.AST or None
        The user's statement that they come from.
    """

    def __init__(self, names: Names):
        self.names = names
        self.body: list[gast.AST] = []
        self.at: gast.AST | None = None

    def add(self, statement: gast.AST) -> None:
        """Write a statement, with the line of the user's."""
        self.body.append(located(statement, self.at))

    def assign(self, target: str | gast.AST, value: gast.AST) -> None:
        """Write ``target = value``; nothing when they are the same name."""
        id = target.id if isinstance(target, gast.Name) else target
        if not (isinstance(value, gast.Name) and value.id == id):
            self.body.append(assign(target, value, self.at))

    def bind(self, value: gast.AST, base: str) -> gast.Name:
        """Write ``base = value`` under a fresh name, and give the name."""
        fresh = self.names.fresh(base)
        self.assign(fresh, value)
        return located(name(fresh), self.at)

    @contextmanager
    def block(self) -> Iterator[list[gast.AST]]:
        """A new block, written to until the end of the ``with``."""
        outer, at = self.body, self.at
        self.body = []
        try:
            yield self.body
        finally:
            self.body, self.at = outer, at
