"""Random tuples, lists, dicts and named tuples: made, read, changed and grown.

The letters of the tables are those of `expressions`; besides, C is a container, N a
name for a number, and L a list of numbers or vectors.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np

from .expressions import atom
from .scope import FIXED, Part, Scope
from .statements import Statement, Statements


class Pair(NamedTuple):
    """A named tuple for random programs."""

    x: float
    y: object


# How a container is made, whether its parts can be replaced, and what its parts are.
FORMS: tuple[tuple[str, bool, tuple[Part, ...]], ...] = (
    ("(S, V)", False, (("[0]", "S"), ("[1]", "V"))),
    ("[S, S, S]", True, (("[0]", "S"), ("[1]", "S"), ("[-1]", "S"))),
    ("[V, V]", True, (("[0]", "V"), ("[1]", "V"))),
    ('{"p": S, "q": V}', True, (('["p"]', "S"), ('["q"]', "V"))),
    ("dict(p=S, q=M)", True, (('["p"]', "S"), ('["q"]', "M"))),
    ("Pair(S, V)", False, ((".x", "S"), (".y", "V"))),
    ("Pair(y=M, x=S)", False, ((".x", "S"), (".y", "M"))),
    (
        '{"w": [S, S], "t": (V, S)}',
        True,
        (('["w"][0]', "S"), ('["w"][1]', "S"), ('["t"][0]', "V"), ('["t"][1]', "S")),
    ),
    (
        "(Pair(S, V), S)",
        False,
        (("[0].x", "S"), ("[0].y", "V"), ("[1]", "S")),
    ),
    ("[Pair(S, V), Pair(S, V)]", True, (("[0].x", "S"), ("[1].y", "V"))),
)


class Containers(Statements):
    """Statements that make and use containers."""

    def simple(self) -> list[Statement]:
        return [
            *super().simple(),
            *[self.container] * 2,
            *[self.changed] * 2,
            *[self.used] * 2,
            *[self.grown] * 2,
        ]

    def argument(self) -> tuple[tuple[Part, ...], bool, object]:
        """A container: its parts, whether they can be changed, and itself."""
        form, mutable, parts = self.rng.choice(FORMS)

        def number() -> float:
            return self.rng.choice((-1, 1)) * self.rng.uniform(0.2, 1.4)

        def array(*shape: int) -> np.ndarray:
            return np.array([number() for _ in range(int(np.prod(shape)))]).reshape(
                shape
            )

        made = re.sub(r"\bS\b", "number()", form)
        made = re.sub(r"\bV\b", "array(3)", made)
        made = re.sub(r"\bM\b", "array(2, 3)", made)
        value = eval(made, {"number": number, "array": array, "Pair": Pair})
        return parts, mutable, value

    def container(self, scope: Scope, depth: int) -> list[str]:
        """A container of values that are its own."""
        form, mutable, parts = self.rng.choice([f for f in FORMS if "Pair" not in f[0]])
        name = self.target(scope, "C")
        value = re.sub(
            r"(?<!\.)\b[SVM]\b", lambda m: self.small(scope, m.group()), form
        )
        scope.bind(name, "C", parts)
        if not mutable:
            scope.owned.discard(name)
        return [f"{name} = {value}"]

    def changed(self, scope: Scope, depth: int) -> list[str]:
        """A part that is replaced by another."""
        places = [
            (n + p, k)
            for n, parts in scope.parts.items()
            if n in scope.owned
            for p, k in parts
            if not FIXED.search(p)
        ]
        if not places:
            return self.container(scope, depth)
        place, kind = self.rng.choice(places)
        value = self.small(scope, kind)
        op = self.rng.choice(("=", "=", "+=", "*=")) if kind == "S" else "="
        return [f"{place} {op} {value}"]

    def used(self, scope: Scope, depth: int) -> list[str]:
        """A container of known form, read as a whole."""
        pool = [(n, p) for n, p in scope.parts.items() if n in scope.kinds]
        if not pool:
            return self.container(scope, depth)
        c, parts = self.rng.choice(pool)
        kinds = tuple(p for p, _ in parts)
        forms = USES.get(kinds)
        if forms is None:
            return self.container(scope, depth)
        name = self.target(scope, "S")
        lines = self.filled(self.rng.choice(forms), scope, {"C": c, "N": name})
        scope.bind(name, "S")
        return lines

    def grown(self, scope: Scope, depth: int) -> list[str]:
        """A list that grows, and what becomes of it."""
        name = self.target(scope, "S")
        self.lists += 1
        words = {"L": f"items{self.lists}", "N": name}
        kind = self.rng.choice("SSV")
        grows, reads = GROWTH[kind]
        lines = self.filled(self.rng.choice(grows), scope, words)
        lines += self.filled(self.rng.choice(reads), scope, words)
        scope.bind(name, "S")
        return lines

    def filled(self, form: str, scope: Scope, words: dict[str, str]) -> list[str]:
        """The lines of a form, its values small."""
        e, g = [n for n in ("e", "g") if n not in scope.kinds]
        words = {"I": self.rng.choice(scope.of("I")), "E": e, "G": g, **words}

        def one(match: re.Match) -> str:
            letter = match.group()
            if letter in words:
                return words[letter]
            if letter == "P":
                return self.np
            if letter == "T":
                return self.test(scope, 0)
            return atom(self.small(scope, letter))

        return re.sub(r"(?<!\.)\b[SVMTPILNCEG]\b", one, form).split("\n")


# How lists of numbers, or of vectors, grow; and how they are read.
GROWTH = {
    "S": (
        (
            "L = []\nfor E in range(3):\n    L.append(S * v[E])",
            "L = [S]\nfor E in range(3):\n    L.append(P.sin(L[-1] + S))",
            "L = [S * G for G in v]",
            "L = [P.sin(G * S) for G in (S, S, 0.5)]",
            "L = [S, S]\nL += [S]",
            "L = [S]\nL.extend([S, S])",
            "L = [S, S]\nL.insert(0, S)",
            "L = [0.0] * 3\nfor E in range(3):\n    L[E] = S * v[E]",
            "L = [S]\nif T:\n    L.append(S)",
            "L = []\nfor E in range(4):\n    if T:\n        continue\n    L.append(S)",
            "L = [S]\nfor E in range(3):\n    L.append(S)\n    if T:\n        break",
            "L = [S, S, S]\nL[1] = L[0] * S",
            "L = [S, S]\nL[0], L[1] = L[1], L[0]",
            "L = [S]\nfor E in range(k):\n    L.append(L[E] * S)",
        ),
        (
            "N = sum(L)",
            "N = len(L) * S",
            "N = sum(L) / (1.0 + len(L))",
            "N = S\nfor G in L:\n    N = N + G * S",
            "N = S\nfor E, G in enumerate(L):\n    N += G * (E + 1)",
            "N = P.sum(P.array(L))",
            "N = sum(P.sin(G) for G in L)",
            "N = sum([G * G for G in L])",
            "N = S\nwhile len(L) > 1:\n    N = N + L.pop() * S",
            "N = S\nfor G in reversed(L):\n    N = P.sin(N + G)",
            "N = S\nif L:\n    N = L[-1] * L[0]",
            "N = summed(L)",
            "N = S\nfor E, G in zip(L, v):\n    N += E * G",
            "N = S\nfor E in range(len(L)):\n    N = N * P.cos(L[E])",
            "N = P.sum(P.stack(L) ** 2) if L else S",
            "N = max(L) if L else S",
        ),
    ),
    "V": (
        (
            "L = [V]\nfor E in range(2):\n    L.append(P.sin(L[-1] + S))",
            "L = [V, V]",
            "L = [V]\nfor E in m:\n    L.append(E * S)",
            "L = [P.tanh(G) for G in m]",
            "L = [V]\nif T:\n    L.append(V)",
        ),
        (
            "N = P.sum(P.stack(L))",
            "N = P.sum(sum(L))",
            "N = P.sum(P.concatenate(L) ** 2)",
            "N = S\nfor G in L:\n    N = N + P.dot(G, V)",
            "N = P.dot(L[0], L[-1])",
            "N = sum(G[1] for G in L)",
            "N = P.sum(P.array(L)[:, 1])",
            "N = P.sum(L.pop() * V)",
        ),
    ),
}
# How containers of known form are read, by the places of their parts.
USES = {
    ("[0]", "[1]"): (
        "E, G = C\nN = P.sum(E * G)",
        "N = S\nfor E in C:\n    N = N + P.sum(E)",
    ),
    ("[0]", "[1]", "[-1]"): (
        "N = sum(C)",
        "N, *rest = C",
        "E, *rest, G = C\nN = E * G",
        "N = summed(C)",
        "N = S\nfor E in C[1:]:\n    N *= E",
    ),
    ('["p"]', '["q"]'): (
        "N = S\nfor E, G in C.items():\n    N = N + P.sum(G)",
        "N = sum(P.sum(G) for G in C.values())",
        "N = C.get('p', 0.0) * S",
        "N = S\nfor E in C:\n    N = N + P.sum(C[E])",
        "N = {**C, 'p': S}['p']",
        "N = weighed(C)",
        "N = S\nif 'p' in C:\n    N = C['p']",
    ),
    (".x", ".y"): (
        "E, G = C\nN = P.sum(E * G)",
        "N = C[0] * P.sum(C[1])",
        "N = boxed(C)",
    ),
    ('["w"][0]', '["w"][1]', '["t"][0]', '["t"][1]'): (
        "N = sum(C['w']) * C['t'][1]",
        "E, G = C['t']\nN = P.sum(E) * G",
    ),
    ("[0].x", "[0].y", "[1]"): (
        "E, G = C\nN = boxed(E) * G",
        "(rest, E), G = C\nN = E[1] * G",
    ),
    ("[0].x", "[1].y"): (
        "N = S\nfor E in C:\n    N = N + boxed(E)",
        "N = sum(G.x for G in C)",
    ),
}
