"""Random functions of everyday Python and NumPy, as the text of a module.

A program has a few helpers and one function ``f(a, b, u, v, m, k)`` of two numbers,
two vectors of three, a matrix of two by three, and an integer::

    def f(a, b, u, v, m, k=3):
        value = np.tanh(a * u[1])
        for i in range(k):
            value += 0.3 * np.sum(v / (1.0 + b * b))
            if value > 0.8 and k > 1:
                break
        return value * b

Values stay small (sines, quotients by ``1 + x * x``), so that differences are
accurate.  The same seed gives the same text.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field

import numpy as np

# Names that derivative code likes to use itself.
NAMES = (
    "x y z t s r w acc tmp x_bar out_bar a_bar u_bar x_stack value_stack branch turns "
    "left tape value out x_saved returned result n d cx mask sct len_ f_tape sum_bar "
    "prod unbroadcast _ f_grad h0_grad x_dot count"
).split()
BODY = "    "
SHAPES = {"V": (3,), "M": (2, 3)}


@dataclass(frozen=True)
class Program:
    """The text of a module, and where to differentiate its function ``f``."""

    text: str
    args: tuple
    wrt: tuple[int, ...] = (0, 1, 2, 3, 4)


def program(seed: int) -> Program:
    """The program of a seed."""
    rng = random.Random(seed)
    return Program(_Module(rng).text(), _point(rng))


def _point(rng: random.Random) -> tuple:
    def number() -> float:
        return rng.choice((-1, 1)) * rng.uniform(0.2, 1.4)

    arrays = [np.array([number() for _ in range(n)]) for n in (3, 3, 6)]
    return (number(), number(), *arrays[:2], arrays[2].reshape(2, 3), rng.randrange(4))


def _atom(text: str) -> str:
    """`text`, in parentheses unless it binds as tightly as a name."""
    return (
        text
        if re.fullmatch(r"[\w.]+(\[[^\[\]]*\])?(\([^()]*\))?", text)
        else f"({text})"
    )


@dataclass
class _Scope:
    """The variables that hold a value: S(calar), V(ector), M(atrix) or I(nteger)."""

    kinds: dict[str, str] = field(default_factory=dict)
    loops: int = 0

    def of(self, kind: str) -> list[str]:
        return [n for n, k in self.kinds.items() if k == kind]

    def copy(self, inner: int = 0) -> _Scope:
        return _Scope(dict(self.kinds), self.loops + inner)

    def merge(self, others: list[_Scope]) -> None:
        """What holds after any one of several ways."""
        first, *rest = [o.kinds for o in others]
        self.kinds = {
            n: k for n, k in first.items() if all(o.get(n) == k for o in rest)
        }


class _Module:
    def __init__(self, rng: random.Random):
        self.rng = rng
        self.np = rng.choice(("np", "np", "np", "numpy", "xp"))
        # Whether `x = x + y` is written out, and whether numbers are declared.
        self.plain = rng.random() < 0.9
        self.declared = rng.random() < 0.7
        names = list(NAMES)
        if self.np != "np":
            names.append("np")
        self.names = rng.sample(names, 9)

    def text(self) -> str:
        lines = [
            "import math",
            "",
            "import numpy" if self.np == "numpy" else f"import numpy as {self.np}",
        ]
        lines += [
            "",
            "SCALE = 0.7",
            "WEIGHTS = " + self.np + ".array([0.4, -0.8, 1.1])",
        ]
        parts = [self.pair(), self.scaled(), self.recursive()]
        return (
            "\n".join([*lines, *[ln for p in parts for ln in p], *self.main()]) + "\n"
        )

    # -- functions -----------------------------------------------------------------
    def pair(self) -> list[str]:
        """A helper with two results, for numbers and arrays."""
        np_, x = self.np, self.rng.choice(("x", "out", "value", "p_bar"))
        second = self.rng.choice((f"{x} * t", f"t / (1.0 + {x} * {x})", "t"))
        return [
            "",
            "",
            f"def pair({x}, y):",
            f"    t = {np_}.sin({x}) * y",
            f"    return t, {second}",
        ]

    def scaled(self) -> list[str]:
        """A helper with a default, a keyword and a branch or loop."""
        np_ = self.np
        if self.rng.random() < 0.5:
            body = [
                "    if c > 0.5:",
                "        x = x * x * c",
                "    else:",
                f"        return {np_}.tanh(x) - c",
            ]
        else:
            body = ["    for i in range(2):", f"        x = {np_}.cos(x) * c + 0.1 * i"]
        return [
            "",
            "",
            "def scaled(x, c=0.6):",
            *body,
            f"    return x + SCALE * {np_}.sin(c)",
        ]

    def recursive(self) -> list[str]:
        step = self.rng.choice(("x * {}", "0.5 * ({} + x)", "{} - x * x"))
        head = ["", "", "def again(x, depth):"]
        inner = step.format(f"again({self.np}.sin(x), depth - 1)")
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

    def main(self) -> list[str]:
        scope = _Scope({"a": "S", "b": "S", "u": "V", "v": "V", "m": "M", "k": "I"})
        lines = []
        for _ in range(self.rng.randint(2, 8)):
            lines += self.statement(scope, 0)
        lines.append(f"return {self.scalar(scope, 2)}")
        doc = ['"""Some function."""'] if self.rng.random() < 0.1 else []
        head = "def f(a, b, u, v, m, k=3):"
        if self.declared:
            head = "def f(a: float, b: float, u, v, m, k: int = 3) -> float:"
        return ["", "", head, *[BODY + s for s in doc + lines]]

    # -- statements ----------------------------------------------------------------
    def statement(self, scope: _Scope, depth: int) -> list[str]:
        simple = [self.assign] * 6 + [self.augmented] + [self.swap, self.called]
        simple += [self.chained, self.harmless]
        if depth < 3:
            simple += [self.branch] * 3 + [self.for_loop] * 2 + [self.while_loop]
        return self.rng.choice(simple)(scope, depth)

    def block(self, scope: _Scope, depth: int, most: int = 3) -> list[str]:
        return [
            ln
            for _ in range(self.rng.randint(1, most))
            for ln in self.statement(scope, depth + 1)
        ]

    def target(self, scope: _Scope, kind: str) -> str:
        """A name to assign; inside a loop no variable changes its kind."""
        taken = {"k", *self.counters(scope)}
        pool = [n for n in [*self.names, "a", "b", "u"] if n not in taken]
        if scope.loops:
            pool = [n for n in pool if scope.kinds.get(n) == kind]
        if not pool:
            pool = [n for n in NAMES if n not in scope.kinds and n not in taken]
        return self.rng.choice(pool)

    def counters(self, scope: _Scope) -> list[str]:
        return scope.of("I")

    def assign(self, scope: _Scope, depth: int) -> list[str]:
        kind = self.rng.choice("SSSVVM")
        name = self.target(scope, kind)
        value = self.value(scope, kind, 2)
        if scope.loops:
            value = f"{self.np}.{self.rng.choice(('tanh', 'sin', 'cos'))}({value})"
        note = ": float" if kind == "S" and self.rng.random() < 0.05 else ""
        scope.kinds[name] = kind
        return [f"{name}{note} = {value}"]

    def augmented(self, scope: _Scope, depth: int) -> list[str]:
        pool = scope.of("S")
        if not pool:
            return self.assign(scope, depth)
        name = self.rng.choice(pool)
        op, value = self.rng.choice(("+=", "-=", "*=", "/=")), self.scalar(scope, 1)
        value = {
            "*=": f"{self.np}.cos({value})",
            "/=": f"1.0 + {_atom(value)} ** 2",
        }.get(op, value)
        if self.plain:
            return [f"{name} = {name} {op[0]} {_atom(value)}"]
        return [f"{name} {op} {value}"]

    def swap(self, scope: _Scope, depth: int) -> list[str]:
        kind = self.rng.choice("SV")
        pool = scope.of(kind)
        if len(pool) < 2:
            return self.assign(scope, depth)
        x, y = self.rng.sample(pool, 2)
        if self.rng.random() < 0.4:
            return [f"{x}, {y} = {y}, {x}"]
        f = self.rng.choice(("tanh", "sin"))
        return [f"{x}, {y} = {self.np}.{f}({x} + {y}), 0.6 * {x}"]

    def called(self, scope: _Scope, depth: int) -> list[str]:
        kind = self.rng.choice("SSV")
        p = self.target(scope, kind)
        q = self.target(scope, kind)
        given = f"{self.value(scope, kind, 1)}, {self.value(scope, kind, 1)}"
        if p == q:
            q = "_"
            if scope.kinds.get(q, kind) != kind:
                return self.assign(scope, depth)
        scope.kinds[p] = scope.kinds[q] = kind
        return [f"{p}, {q} = pair({given})"]

    def chained(self, scope: _Scope, depth: int) -> list[str]:
        p, q = self.target(scope, "S"), self.target(scope, "S")
        value = f"{self.np}.sin({self.scalar(scope, 1)})"
        scope.kinds[p] = scope.kinds[q] = "S"
        return [f"{p} = {q} = {value}"]

    def harmless(self, scope: _Scope, depth: int) -> list[str]:
        return [
            self.rng.choice(
                (
                    "pass",
                    f"assert k >= 0, {self.scalar(scope, 0)}",
                    f"unused = {self.scalar(scope, 1)}",
                    f"{self.np}.sin({self.scalar(scope, 0)})",
                )
            )
        ]

    def branch(self, scope: _Scope, depth: int) -> list[str]:
        test = self.test(scope, 2)
        if self.rng.random() < 0.15:
            name = self.target(scope, "S")
            test = f"({name} := {self.np}.sin({self.scalar(scope, 1)})) > 0.2"
            scope.kinds[name] = "S"
        lines, ways = [f"if {test}:"], []
        arms = self.rng.choice((1, 2, 2, 3))
        for arm in range(arms):
            inner = scope.copy()
            if arm:
                last = arm == arms - 1 and arms < 3 or self.rng.random() < 0.5
                lines.append("else:" if last else f"elif {self.test(scope, 1)}:")
            body = self.block(inner, depth, 2)
            leaves = self.rng.random() < (0.15 if depth else 0.1)
            if leaves:
                body.append(f"return {self.scalar(inner, 1)}")
            else:
                ways.append(inner)
            lines += [BODY + s for s in body]
            if lines and arm and last:
                break
        else:
            ways.append(scope.copy())
        if ways:
            scope.merge(ways)
        return lines

    def leave(self, scope: _Scope) -> list[str]:
        """A way out of a turn, under a test."""
        way = self.rng.choice(
            ("break", "break", "continue", f"return {self.scalar(scope, 1)}")
        )
        lines = [f"if {self.test(scope, 1)}:"]
        if self.rng.random() < 0.5:
            inner = scope.copy()
            lines += [BODY + s for s in self.assign(inner, 2)]
        return [*lines, BODY + way]

    def turns(self, inner: _Scope, depth: int) -> list[str]:
        body = self.block(inner, depth)
        if self.rng.random() < 0.5:
            body += self.leave(inner)
            body += self.block(inner.copy(), depth, 2)
        return [BODY + s for s in body]

    def otherwise(self, scope: _Scope, depth: int) -> list[str]:
        if self.rng.random() > 0.2:
            return []
        return ["else:", *[BODY + s for s in self.block(scope.copy(1), depth, 1)]]

    def counter(self, scope: _Scope) -> str | None:
        free = [n for n in ("i", "j", "l", "step") if n not in scope.kinds]
        return self.rng.choice(free) if free else None

    def for_loop(self, scope: _Scope, depth: int) -> list[str]:
        i = self.counter(scope)
        if i is None:
            return self.assign(scope, depth)
        span = self.rng.choice(
            (
                "range(3)",
                "range(k)",
                "range(1, 4)",
                "range(3, 0, -1)",
                "range(0, k, 2)",
                "range(len(u))",
            )
        )
        inner = scope.copy(1)
        inner.kinds[i] = "I"
        return [
            f"for {i} in {span}:",
            *self.turns(inner, depth),
            *self.otherwise(scope, depth),
        ]

    def while_loop(self, scope: _Scope, depth: int) -> list[str]:
        i = self.counter(scope)
        if i is None:
            return self.assign(scope, depth)
        inner = scope.copy(1)
        inner.kinds[i] = "I"
        test = f"{i} < {self.rng.choice(('3', 'k'))}"
        if self.rng.random() < 0.4:
            test += f" and {self.test(scope, 0)}"
        scope.kinds[i] = "I"
        return [
            f"{i} = 0",
            f"while {test}:",
            BODY + f"{i} += 1",
            *self.turns(inner, depth),
            *self.otherwise(scope, depth),
        ]

    # -- expressions ---------------------------------------------------------------
    def value(self, scope: _Scope, kind: str, depth: int) -> str:
        return {"S": self.scalar, "V": self.vector, "M": self.matrix}[kind](
            scope, depth
        )

    def fill(self, form: str, scope: _Scope, depth: int) -> str:
        """A form with S, V, M, T and P (np.) replaced."""

        def one(match: re.Match) -> str:
            letter = match.group()
            if letter == "P":
                return self.np
            if letter == "T":
                return self.test(scope, depth - 1)
            return _atom(self.value(scope, letter, depth - 1))

        return re.sub(r"(?<!\.)\b[SVMTP]\b", one, form)

    def test(self, scope: _Scope, depth: int) -> str:
        if depth <= 0:
            i = self.rng.choice(self.counters(scope))
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

    def scalar(self, scope: _Scope, depth: int) -> str:
        rng = self.rng
        pool = scope.of("S")
        if depth <= 0 or rng.random() < 0.15:
            if rng.random() < 0.15:
                return rng.choice(("0.3", "1.0", "2.0", "-0.5", "0.0", "2", "SCALE"))
            i = rng.choice(self.counters(scope))
            if rng.random() < 0.1:
                return f"{i} * 0.2"
            if rng.random() < 0.3:
                x, w = rng.choice(scope.of("V")), rng.choice(scope.of("M"))
                return rng.choice(
                    (
                        f"{x}[1]",
                        f"{x}[-1]",
                        f"{x}[{i} % 3]",
                        f"{w}[1, 2]",
                        f"{w}[{i} % 2, 0]",
                    )
                )
            return rng.choice(pool or ["0.4"])
        return self.fill(rng.choice(SCALARS), scope, depth)

    def vector(self, scope: _Scope, depth: int) -> str:
        rng = self.rng
        if depth <= 0 or rng.random() < 0.15:
            w, i = rng.choice(scope.of("M") or ["m"]), rng.choice(self.counters(scope))
            return rng.choice(
                [*scope.of("V") * 3, f"{w}[0]", f"{w}[{i} % 2]", "WEIGHTS"]
            )
        return self.fill(rng.choice(VECTORS), scope, depth)

    def matrix(self, scope: _Scope, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.15:
            return self.rng.choice(scope.of("M"))
        return self.fill(self.rng.choice(MATRICES), scope, depth)


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
