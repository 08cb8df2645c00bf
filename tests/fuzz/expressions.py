"""Random expressions: numbers, vectors of three, matrices of two by three, and tests.

In the tables S, V, M and T stand for a number, a vector, a matrix and a test, and P for
the name of NumPy.
"""

from __future__ import annotations

import ast
import random
import re

from .scope import Scope

# Calls that return a new array, besides those of NumPy.
FRESH = {"scaled"}
VIEWS = {"reshape", "transpose", "ravel"}


def atom(text: str) -> str:
    """`text`, in parentheses unless it binds as tightly as a name."""
    return (
        text
        if re.fullmatch(r"[\w.]+(\[[^\[\]]*\])*(\([^()]*\))?", text)
        else f"({text})"
    )


def is_fresh(text: str) -> bool:
    """Whether an expression surely has a value of its own."""
    node = ast.parse(text, mode="eval").body
    if isinstance(node, ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute):
            return func.attr not in VIEWS
        return func.id in FRESH
    return isinstance(node, (ast.BinOp, ast.UnaryOp))


def names_in(text: str) -> set[str]:
    """The names that an expression reads."""
    return {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}


class Expressions:
    """Expressions over the variables of a scope."""

    rng: random.Random
    np: str

    def value(self, scope: Scope, kind: str, depth: int) -> str:
        """An expression of a kind, at most `depth` forms deep."""
        return {"S": self.scalar, "V": self.vector, "M": self.matrix}[kind](
            scope, depth
        )

    def fill(self, form: str, scope: Scope, depth: int) -> str:
        """A form with S, V, M, T and P (np.) replaced."""

        def one(match: re.Match) -> str:
            letter = match.group()
            if letter == "P":
                return self.np
            if letter == "T":
                return self.test(scope, depth - 1)
            return atom(self.value(scope, letter, depth - 1))

        return re.sub(r"(?<!\.)\b[SVMTP]\b", one, form)

    def test(self, scope: Scope, depth: int) -> str:
        """A condition."""
        if depth <= 0:
            i = self.rng.choice(scope.of("I"))
            x = self.scalar(scope, 0)
            forms = (
                f"{x} > 0.1",
                f"{x} < 0.6",
                f"{i} > 1",
                f"{i} % 2 == 0",
                f"-0.5 < {x} < 0.9",
            )
            return self.rng.choice(forms)
        return self.fill(self.rng.choice(TESTS), scope, depth)

    def scalar(self, scope: Scope, depth: int) -> str:
        """A number."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            if rng.random() < 0.15:
                return rng.choice(("0.3", "1.0", "2.0", "-0.5", "0.0", "2", "SCALE"))
            i = rng.choice(scope.of("I"))
            if rng.random() < 0.1:
                return f"{i} * 0.2"
            if rng.random() < 0.3:
                x, w = rng.choice(scope.atoms("V")), rng.choice(scope.atoms("M"))
                return rng.choice(
                    (
                        f"{x}[1]",
                        f"{x}[-1]",
                        f"{x}[{i} % 3]",
                        f"{w}[1, 2]",
                        f"{w}[{i} % 2, 0]",
                    )
                )
            return rng.choice(scope.atoms("S") or ["0.4"])
        return self.fill(rng.choice(SCALARS), scope, depth)

    def vector(self, scope: Scope, depth: int) -> str:
        """Three numbers."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            w, i = rng.choice(scope.atoms("M") or ["m"]), rng.choice(scope.of("I"))
            return rng.choice(
                [*scope.atoms("V") * 3, f"{w}[0]", f"{w}[{i} % 2]", "WEIGHTS"]
            )
        return self.fill(rng.choice(VECTORS), scope, depth)

    def matrix(self, scope: Scope, depth: int) -> str:
        """Two rows of three numbers."""
        if depth <= 0 or self.rng.random() < 0.15:
            return self.rng.choice(scope.atoms("M"))
        return self.fill(self.rng.choice(MATRICES), scope, depth)

    def small(self, scope: Scope, kind: str, depth: int = 1) -> str:
        """A value of its own that stays small however often it is computed."""
        f = self.rng.choice(("tanh", "sin", "cos"))
        return f"{self.np}.{f}({self.value(scope, kind, depth)})"


TESTS = (
    "S > S",
    "S < 0.4",
    "T and T",
    "T or T",
    "not (T)",
    "0.0 < S < 1.0",
    "S <= S and T",
    "(T) or S > 0.5",
    "P.sum(V) > S",
    "k == 2",
)
SCALARS = (
    "S + S",
    "S - S",
    "S * S",
    "0.5 * (S + S)",
    "S / (1.0 + S ** 2)",
    "P.tanh(S)",
    "P.sin(S)",
    "math.cos(S)",
    "P.exp(-(S ** 2))",
    "P.sqrt(1.0 + S ** 2)",
    "-S",
    "abs(S)",
    "P.sum(V)",
    "P.mean(M)",
    "P.dot(V, V)",
    "V @ V",
    "S if T else S",
    "P.log(1.0 + S * S)",
    "max(S, S)",
    "V.sum()",
    "P.max(V)",
    "scaled(S)",
    "scaled(S, c=S)",
    "scaled(c=S, x=S)",
    "again(S, 2)",
    "again(S, depth=k)",
    "P.sum(V[1:] * V[:-1])",
    "S ** 2",
    "S ** 3",
    "+S",
    "P.sum(M * V)",
    "(1.0 + S ** 2) ** S",
    "P.where(T, S, S)",
    "S * 2",
    "S + 0 * S",
    "P.sum(P.where(V > S, V, S))",
    "1.0 / (2.0 + P.sin(S))",
    "P.mean((V - S) ** 2)",
    "pair(S, S)[1]",
    "P.minimum(S, S)",
    "P.sum(scaled(V))",
    "P.sum(scaled(V, S))",
    "P.sum(M[:, 1])",
    "P.sum(again(V, k))",
    "S * 1.0",
    "P.linalg.norm(V + 3.0)",
    "P.prod(1.0 + 0.1 * V)",
    "P.vdot(V, V)",
    "S ** 0",
    "V.mean()",
    "P.sum(M, axis=1)[0]",
    "P.min(M)",
    "S / 2",
    "S - 1.0 * S",
)
VECTORS = (
    "V + V",
    "V - V",
    "V * V",
    "V + S",
    "S * V",
    "S - V",
    "V / (1.0 + V * V)",
    "S / (1.0 + V ** 2)",
    "V / (1.0 + S * S)",
    "P.tanh(V)",
    "P.sin(V)",
    "P.where(V > 0.1, V, V)",
    "P.where(V > S, S, V)",
    "P.maximum(V, S)",
    "P.maximum(V, V)",
    "P.clip(V, -0.9, 0.8)",
    "P.sum(M, axis=0)",
    "M.mean(axis=0)",
    "V[::-1]",
    "-V",
    "P.abs(V)",
    "P.dot(V, M.T @ M)",
    "(M.T @ M) @ V",
    "V if T else V",
    "scaled(V)",
    "scaled(V, c=S)",
    "P.max(M, axis=0)",
    "P.exp(-(V * V))",
    "P.cumsum(V)",
    "V * 1.0",
    "V * 0 + V",
    "again(V, 1)",
    "P.concatenate([V[1:], V[:1]])",
    "P.sqrt(1.0 + V ** 2)",
    "V ** 2",
    "V ** 0",
    "(1.0 + V * V) ** S",
    "(1.0 + S * S) ** V",
    "P.array([S, S, S])",
    "P.stack([S, S, S])",
    "V / 2",
    "P.ones(3) * S",
    "P.zeros_like(V) + S",
)
MATRICES = (
    "M + M",
    "M * M",
    "M + V",
    "V * M",
    "S * M",
    "M - P.mean(M, axis=1, keepdims=True)",
    "P.tanh(M)",
    "M / P.sum(1.0 + M * M, axis=-1, keepdims=True)",
    "(M @ M.T) @ M",
    "P.outer(V[:2], V)",
    "M - S",
    "M / (1.0 + V * V)",
    "P.where(M > S, M, V)",
    "P.sin(M)",
    "M[::-1]",
    "P.maximum(M, V)",
    "P.reshape(M.T, (2, 3))",
    "P.matmul(M, P.outer(V, V))",
    "P.stack([V, V])",
    "scaled(M)",
    "P.sum(M, axis=1)[:, None] * V",
    "M.reshape(-1).reshape(2, 3)",
    "P.transpose(M.T)",
)
