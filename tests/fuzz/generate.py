"""Random functions of everyday Python and NumPy, as the text of a module.

A program has a few helpers and one function ``f(a, b, u, v, m, c, k)`` of two numbers,
two vectors of three, a matrix of two by three, perhaps a container, and an integer::

    def f(a, b, u, v, m, k=3):
        value = np.tanh(a * u[1])
        for i in range(k):
            u[i % 3] = np.sin(value)
            value += 0.3 * np.sum(v / (1.0 + b * b))
            if value > 0.8 and k > 1:
                break
        return value * b

Values stay small (sines, quotients by ``1 + x * x``), so that differences are
accurate.  The same seed gives the same text.
"""

from __future__ import annotations

import ast
import random
from dataclasses import dataclass

import numpy as np

from .containers import Containers
from .expressions import atom
from .functions import Functions
from .scope import Scope
from .statements import NAMES, indented
from .writes import Writes

STATEMENTS = 20


@dataclass(frozen=True)
class Program:
    """The text of a module, and where to differentiate its function ``f``."""

    text: str
    args: tuple
    wrt: tuple[int, ...] = (0, 1, 2, 3, 4)


def program(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    return _Module(rng).program()


def _point(rng: random.Random) -> tuple:
    def number() -> float:
        return rng.choice((-1, 1)) * rng.uniform(0.2, 1.4)

    arrays = [np.array([number() for _ in range(n)]) for n in (3, 3, 6)]
    return (number(), number(), *arrays[:2], arrays[2].reshape(2, 3), rng.randrange(4))


class _Module(Writes, Containers, Functions):
    """One program in the making."""

    def __init__(self, rng: random.Random):
        self.rng = rng
        self.np = rng.choice(("np", "np", "np", "numpy", "xp"))
        self.plain = rng.random() < 0.9
        # Whether numbers are declared.
        self.declared = rng.random() < 0.7
        names = list(NAMES)
        if self.np != "np":
            names.append("np")
        self.names = rng.sample(names, 9)
        self.given = {"a", "b", "u", "v", "m", "k", "c"}
        # How many views, lists and functions have names of their own.
        self.views = self.lists = self.functions = 0

    def program(self) -> Program:
        """The whole of it."""
        *args, k = _point(self.rng)
        scope = Scope()
        for n, kind in zip("abuvmk", "SSVVMI", strict=True):
            scope.bind(n, kind)
        extra = ""
        if self.rng.random() < 0.4:
            parts, mutable, value = self.argument()
            scope.bind("c", "C", parts)
            if not mutable:
                scope.owned.discard("c")
            args.append(value)
            extra = ", c"
        head = f"def f(a, b, u, v, m{extra}, k=3):"
        if self.declared:
            head = f"def f(a: float, b: float, u, v, m{extra}, k: int = 3) -> float:"
        lines: list[str] = []
        while _count(lines) < STATEMENTS:
            lines += self.statement(scope, 0)
        lines.append(f"return {self.result(scope)}")
        if self.rng.random() < 0.1:
            lines.insert(0, '"""Some function."""')
        text = [*self.imports(), *self.helpers(), "", "", head, *indented(lines)]
        return Program("\n".join(text) + "\n", (*args, k), tuple(range(len(args))))

    def result(self, scope: Scope) -> str:
        """A number that many variables have a part in."""
        kind = {n: k for k in "SVM" for n in scope.atoms(k)}
        read = self.rng.sample(sorted(kind), min(len(kind), 5))
        terms = [
            f"{atom(x) if kind[x] == 'S' else f'{self.np}.sum({x})'}" for x in read
        ]
        weighed = [f"{0.2 * (i + 1):.1f} * {t}" for i, t in enumerate(terms)]
        return " + ".join([self.scalar(scope, 2), *weighed])

    def imports(self) -> list[str]:
        """The head of a module."""
        return [
            "import math",
            "",
            "import numpy" if self.np == "numpy" else f"import numpy as {self.np}",
            "",
            "from tests.fuzz.containers import Pair",
            "",
            "SCALE = 0.7",
            "WEIGHTS = " + self.np + ".array([0.4, -0.8, 1.1])",
        ]


def _count(lines: list[str]) -> int:
    """How many statements there are."""
    text = "\n".join(["def f():", *indented([*lines, "pass"])])
    return sum(isinstance(n, ast.stmt) for n in ast.walk(ast.parse(text))) - 2
