"""Random writes into arrays: through names, through views, and by helpers.

In the tables X is the array that is written into, W and Y are views, E, G and I
counters, and the other letters those of `expressions`.
"""

from __future__ import annotations

import re

from .expressions import atom
from .scope import FIXED, Scope
from .statements import Statement, Statements


class Writes(Statements):
    """Statements that change an array in place."""

    def simple(self) -> list[Statement]:
        return [*super().simple(), *[self.write] * 4, self.built]

    def write(self, scope: Scope, depth: int) -> list[str]:
        """A change of an array that is there."""
        kind = self.rng.choice("VVM")
        pool = scope.writable(kind)
        if not pool:
            return self.made(scope, kind)
        path = self.rng.choice(pool)
        forms = {"V": VECTOR_WRITES, "M": MATRIX_WRITES}[kind]
        if FIXED.search(path):
            # ``t[0] += e`` changes the array, and then raises.
            forms = [f for f in forms if not re.search(r"(^|\s)X \S?=", f)]
        return self.written(path, self.rng.choice(forms), scope)

    def made(self, scope: Scope, kind: str) -> list[str]:
        """A name for an array that nobody else has."""
        name = self.target(scope, kind)
        value = self.small(scope, kind)
        scope.bind(name, kind)
        return [f"{name} = {value}"]

    def built(self, scope: Scope, depth: int) -> list[str]:
        """An array that is filled element by element."""
        kind = self.rng.choice("VM")
        name = self.target(scope, kind)
        made, forms = {
            "V": ("zeros(3)", VECTOR_FILLS),
            "M": ("empty((2, 3))", MATRIX_FILLS),
        }[kind]
        lines = self.written(name, self.rng.choice(forms), scope, name)
        scope.bind(name, kind)
        return [f"{name} = {self.np}.{made}", *lines]

    def written(
        self, path: str, form: str, scope: Scope, hidden: str | None = None
    ) -> list[str]:
        """The lines of a form, for the array at a path.

        Parameters
        ----------
        path : str
            The array.
        form : str
            What is done to it.
        scope : Scope
            The variables.
        hidden : str, optional
            A name that has no value that could be read yet.
        """
        inner = scope.copy()
        if hidden:
            inner.kinds.pop(hidden, None)
            inner.parts.pop(hidden, None)
        counters = [n for n in ("e", "g") if n not in scope.kinds]
        self.views += 1
        # A view has a name of its own each time.
        view = f"{self.rng.choice(('row', 'part', 'view'))}{self.views}"
        words = {
            "X": path,
            "I": self.rng.choice(scope.of("I")),
            "W": view,
            "Y": f"{view}_2",
            "E": counters[0],
            "G": counters[1],
        }

        def one(match: re.Match) -> str:
            letter = match.group()
            if letter in words:
                return words[letter]
            if letter == "P":
                return self.np
            if letter == "T":
                return self.test(inner, 0)
            return atom(self.small(inner, letter))

        return re.sub(r"(?<!\.)\b[SVMTPXIWYEG]\b", one, form).split("\n")


# What fills a vector, or a matrix, element by element.
VECTOR_FILLS = (
    "for E in range(3):\n    X[E] = S * v[E]",
    "X[0] = S\nfor E in range(1, 3):\n    X[E] = P.sin(X[E - 1] + S)",
    "for E, W in enumerate(v):\n    X[E] = W * S",
    "X[1:] = V[1:]\nX[0] = S",
    "X[2] = S\nfor E in range(1, -1, -1):\n    X[E] = X[E + 1] * S",
)
MATRIX_FILLS = (
    "for E in range(2):\n    for G in range(3):\n        X[E, G] = S * m[E, G]",
    "for E in range(2):\n    X[E] = V",
    "for E in range(2):\n    W = X[E]\n    W[:] = V",
    "X[:] = M",
    "X[0] = V\nX[1] = X[0] * S",
    "X[:, 0] = S\nX[:, 1:] = M[:, 1:]",
    "for W in X:\n    W[:] = V",
    "X.T[:] = S\nX[1] = V",
)
VECTOR_WRITES = (
    "X[I % 3] = S",
    "X[I % 3] += S",
    "X[1] *= S",
    "X[-1] -= S",
    "X[0], X[2] = X[2], X[0]",
    "X[0] = X[1] * X[2]",
    "X[1:] = V[:-1]",
    "X[1:] += X[:-1]",
    "X[:-1] = X[1:] * S",
    "X[::-1][0] = S",
    "X[::2] = S",
    "X[X > S] = S",
    "X[V > 0.1] *= S",
    "X[[0, 0, 2]] += S",
    "X[[2, 0]] = X[[0, 2]]",
    "X *= S",
    "X += V",
    "X -= S",
    "X /= 1.0 + V ** 2",
    "P.add.at(X, [0, 1, 1], V)",
    "P.sin(X, out=X)",
    "P.multiply(X, V, out=X)",
    "P.add(V, V, out=X)",
    "X.fill(S)",
    "X.sort()",
    "P.copyto(X, V)",
    "X[:] = V",
    "X[...] = S",
    "X[:] = X[::-1].copy()",
    "W = X[1:]\nW[0] = S\nW *= S",
    "W = X[:2]\nY = W[-1:]\nY[:] = S",
    "W = X[1:]\nX[2] = S\nW[0] = W[1] * S",
    "W = X\nW[0] = S\nX[1] = W[0] * S",
    "W = X[::-1]\nW[:2] += S",
    "for E in range(1, 3):\n    X[E] = P.tanh(X[E - 1] * S) + X[E]",
    "for E in range(3):\n    X[E] += S\n    if T:\n        break\n    X[E] *= S",
    "for E in range(3):\n    if T:\n        continue\n    X[E] = X[E - 1] * S",
    "if T:\n    X[0] = S\nelse:\n    X[1:] *= S",
    "if T:\n    X += S",
)
MATRIX_WRITES = (
    "X[0, 1] = S",
    "X[I % 2, 2] += S",
    "X[1] = V",
    "X[:, 1] = V[:2]",
    "X[I % 2] += V",
    "X[1][2] = S",
    "X[1][:2] *= S",
    "W = X[I % 2]\nW[:] = W * V",
    "W = X[0]\nW[1] = S\nW += V",
    "W = X[1]\nY = W[1:]\nY[0] = S\nX[0] = W * S",
    "W = X[:, 1:]\nW[0] = S\nY = W[1]\nY *= S",
    "X.T[0] = V[1:]",
    "X.T[1][0] = S",
    "W = X.T\nW[2] = S",
    "X.reshape(-1)[4] = S",
    "X.ravel()[2:4] += S",
    "W = X.reshape(-1)\nW[I] = S",
    "X[[0, 1]] = X[[1, 0]]",
    "for W in X:\n    W += V",
    "X[0], X[1] = X[1].copy(), X[0].copy()",
    "for W in X:\n    W[0] = S\n    W[1:] *= W[0]",
    "for E, W in enumerate(X):\n    W[E] = S * W[2]",
    "for E in range(2):\n    for G in range(3):\n        X[E, G] = P.sin(X[E, G] * S)",
    "for E in range(2):\n    W = X[E]\n    W[E] = S\n    W *= S",
    "for E in range(1, 3):\n    X[:, E] += X[:, E - 1] * S",
    "X[X > S] = S",
    "X[:, ::2] *= S",
    "X[1:, 1:] = S",
    "X -= V",
    "X *= S",
    "X[...] = M",
    "P.exp(-X ** 2, out=X)",
    "P.fill_diagonal(X, S)",
    "X.sort(axis=0)",
    "X[:, [0, 2]] = X[:, [2, 0]]",
    "if T:\n    X[0] = X[1] * S",
)
