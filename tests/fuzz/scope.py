"""What a random program knows of its variables at one place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

# A part of a container: how it is written after the name, and its kind.
Part = tuple[str, str]
# Parts that cannot be bound anew, as they are inside a tuple.
FIXED = re.compile(r"\.[xy]$|\[\"t\"\]")


@dataclass
class Scope:
    """The variables that can be read here.

    Attributes
    ----------
    kinds : dict
        Name → S(calar), V(ector), M(atrix), I(nteger) or C(ontainer).
    parts : dict
        Container → its parts.
    owned : set of str
        Arrays, and containers of arrays, that can be written into: no other name
        that is bound on some paths only refers to them.
    loops : int
        How many loops are around.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    parts: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    owned: set[str] = field(default_factory=set)
    loops: int = 0

    def of(self, kind: str) -> list[str]:
        """The names of a kind."""
        return [n for n, k in self.kinds.items() if k == kind]

    def atoms(self, kind: str) -> list[str]:
        """The names of a kind, and the parts of containers that are of it."""
        return [
            *self.of(kind),
            *[n + p for n, parts in self.parts.items() for p, k in parts if k == kind],
        ]

    def writable(self, kind: str) -> list[str]:
        """The arrays of a kind that can be written into."""
        return [n for n in self.of(kind) if n in self.owned] + [
            n + p
            for n, parts in self.parts.items()
            for p, k in parts
            if k == kind and n in self.owned
        ]

    def bind(self, name: str, kind: str, parts: tuple[Part, ...] = ()) -> None:
        """A name gets a value that is nobody else's."""
        self.kinds[name] = kind
        self.parts.pop(name, None)
        self.owned.discard(name)
        if parts:
            self.parts[name] = parts
        if kind in "VMC":
            self.owned.add(name)

    def drop(self, name: str) -> None:
        """A name cannot be read any more."""
        del self.kinds[name]
        self.parts.pop(name, None)
        self.owned.discard(name)

    def copy(self, inner: int = 0) -> Scope:
        """The same, to be changed; `inner` loops further in."""
        return Scope(
            dict(self.kinds), dict(self.parts), set(self.owned), self.loops + inner
        )

    def merge(self, others: list[Scope]) -> None:
        """What holds after any one of several ways."""
        first, *rest = others
        self.kinds = {
            n: k
            for n, k in first.kinds.items()
            if all(
                o.kinds.get(n) == k and o.parts.get(n) == first.parts.get(n)
                for o in rest
            )
        }
        self.parts = {n: p for n, p in first.parts.items() if n in self.kinds}
        self.owned = set.intersection(*[o.owned for o in others]) & set(self.kinds)

    def after(self, inner: Scope) -> None:
        """What holds after a loop, whose body ends with `inner`."""
        self.owned &= inner.owned
