"""Random functions of functions: local ones, lambdas, closures, recursion, and helpers.

Helpers stand at the top of a module; what is local stands where it is used.
"""

from __future__ import annotations

import re

from .expressions import atom
from .scope import Scope
from .statements import Statement, Statements


class Functions(Statements):
    """Helpers, and statements with functions in them."""

    def simple(self) -> list[Statement]:
        return [
            *super().simple(),
            *[self.local] * 3,
            *[self.wrote] * 2,
        ]

    def local(self, scope: Scope, depth: int) -> list[str]:
        """A function made and called, or handed on."""
        name = self.target(scope, "S")
        self.functions += 1
        words = {
            "N": name,
            "F": f"local{self.functions}",
            "Q": f"state{self.functions}",
            "I": self.rng.choice(scope.of("I")),
        }

        def one(match: re.Match) -> str:
            letter = match.group()
            if letter in words:
                return words[letter]
            if letter == "P":
                return self.np
            if letter == "T":
                return self.test(scope, 0)
            return atom(self.small(inside, letter))

        forms = LOCAL
        if scope.loops:
            # A function that is made anew in each turn is not followed.
            forms = [f for f in LOCAL if "made" not in f and "inner" not in f]
        form = self.rng.choice(forms)
        # A number may have the name of a number outside, but not that of a container:
        # what is read of that would not be there.
        inside = scope.copy()
        for own in re.findall(r"\b[a-z]+\b", form):
            if inside.kinds.get(own) == "C":
                inside.drop(own)
        lines = re.sub(r"(?<!\.)\b[SVMTPINFQ]\b", one, form).split("\n")
        scope.bind(name, "S")
        return lines

    def wrote(self, scope: Scope, depth: int) -> list[str]:
        """A helper that writes into what it is given."""
        kind = self.rng.choice("VVM")
        pool = scope.writable(kind)
        if not pool:
            return self.assign(scope, depth)
        x, s = self.rng.choice(pool), self.small(scope, "S")
        if kind == "M":
            forms = (f"fill({x}[1], {s})", f"shift({x}, {s})", f"fill({x}.T[0], {s})")
        else:
            forms = (f"fill({x}, {s})", f"fill({x}[1:], {s})", f"shift({x}, {s})")
        return [self.rng.choice(forms)]

    def helpers(self) -> list[str]:
        """The functions of a module, besides `f`."""
        parts = [self.pair(), self.scaled(), self.recursive(), *HELPERS, *WRITERS]
        return [
            ln
            for part in parts
            for ln in ["", "", *[re.sub(r"\bP\b", self.np, s) for s in part]]
        ]

    def pair(self) -> list[str]:
        """A helper with two results, for numbers and arrays."""
        x = self.rng.choice(("x", "out", "value", "p_bar"))
        second = self.rng.choice((f"{x} * t", f"t / (1.0 + {x} * {x})", "t"))
        return [
            f"def pair({x}, y):",
            f"    t = P.sin({x}) * y",
            f"    return t, {second}",
        ]

    def scaled(self) -> list[str]:
        """A helper with a default, a keyword and a branch or loop."""
        if self.rng.random() < 0.5:
            body = [
                "    if c > 0.5:",
                "        x = x * x * c",
                "    else:",
                "        return P.tanh(x) - c",
            ]
        else:
            body = ["    for i in range(2):", "        x = P.cos(x) * c + 0.1 * i"]
        return ["def scaled(x, c=0.6):", *body, "    return x + SCALE * P.sin(c)"]

    def recursive(self) -> list[str]:
        """A helper that calls itself."""
        step = self.rng.choice(("x * {}", "0.5 * ({} + x)", "{} - x * x"))
        head = ["def again(x, depth):"]
        inner = step.format("again(P.sin(x), depth - 1)")
        if self.rng.random() < 0.5:
            return [
                *head,
                "    if depth <= 0:",
                "        return x",
                f"    return {inner}",
            ]
        return [
            *head,
            "    out = x",
            "    if depth > 0:",
            f"        out = {inner}",
            "    return out",
        ]


# Helpers that take containers and functions, make them, or call one another.
HELPERS = tuple(
    text.split("\n")
    for text in (
        "def summed(values):\n"
        "    total = 0.0\n"
        "    for x in values:\n"
        "        total += P.sin(x)\n"
        "    return total",
        'def weighed(d):\n    return P.sum(d["q"] * d["p"])',
        "def boxed(pair):\n    return pair.x * P.sum(pair.y)",
        "def twice(g, x):\n    return g(g(x))",
        "def made(c):\n"
        "    def inner(x):\n"
        "        return P.sin(c * x) + c\n"
        "\n"
        "    return inner",
        "def even(x, n):\n"
        "    if n == 0:\n"
        "        return x\n"
        "    return odd(P.sin(x), n - 1)",
        "def odd(x, n):\n"
        "    if n == 0:\n"
        "        return x * x\n"
        "    return even(x * P.cos(x), n - 1)",
        "def tree(x, n):\n"
        "    if n <= 0:\n"
        "        return P.cos(x)\n"
        "    return tree(x * 0.5, n - 1) * tree(x + 0.1, n - 2)",
    )
)
WRITERS = tuple(
    text.split("\n")
    for text in (
        "def fill(x, s):\n    x[0] = x[1] * s\n    x[1:] *= s",
        "def shift(x, s):\n"
        "    for i in range(len(x) - 1):\n"
        "        x[i] += s * x[i + 1]\n"
        "    return x",
    )
)
# Statements with functions in them: N is the result, F a function, Q a variable.
LOCAL = (
    "def F(t):\n    return P.sin(t) * S\nN = F(S) + F(0.5)",
    "def F(t, c=S):\n    if t > c:\n        return t * c\n    return t - S\nN = F(S)",
    "F = lambda t, c=S: t * c + S\nN = F(S) * F(S, c=0.3)",
    "N = (lambda t: t * S)(S)",
    "Q = S\ndef F(t):\n    nonlocal Q\n    Q = P.sin(Q + t)\nF(S)\nF(S)\nN = Q",
    "Q = S\ndef F(t):\n    nonlocal Q\n    Q = Q * P.cos(t)\n    return Q\n"
    "N = F(S) + F(S)",
    "Q = S\ndef F(t):\n    return t * Q\nQ = P.sin(Q)\nN = F(S)",
    "N = twice(lambda t: P.sin(t) * S, S)",
    "F = made(S)\nN = F(S) * F(0.2)",
    "N = made(S)(S)",
    "N = twice(made(S), S)",
    "N = even(S, 3)",
    "N = odd(S, k)",
    "N = tree(S, 2)",
    "N = P.sum(again(V, I % 3))",
    "N = tree(even(S, I % 2), k)",
    "def F(t):\n    def inner(c):\n        return P.cos(c) * t\n"
    "    return inner(t) + S\nN = F(S)",
    "def F(t):\n    return P.sum(t) * S\nN = F(V) + F(M)",
    "def F(t):\n    w = P.zeros(3)\n    for g in range(3):\n"
    "        w[g] = P.sin(t * v[g])\n    return P.sum(w)\nN = F(S)",
    "def F(t, *, c=2.0):\n    for g in range(3):\n        t = P.sin(t) * c\n"
    "        if t > 0.7:\n            break\n    return t\nN = F(S, c=S)",
    "N = sum(map(lambda t: t * S, [S, S]))",
    "def F(*ts):\n    return sum(ts) * S\nN = F(S, S)",
    "F = {'up': lambda t: t * S, 'down': lambda t: P.sin(t)}\n"
    "N = F['up'](S) + F['down'](S)",
)
