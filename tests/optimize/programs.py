"""Helpers of the optimiser's tests: trees from text, facts, random programs."""

from __future__ import annotations

import random
import textwrap

import gast
import numpy as np

from sct import grammar
from sct.optimize import Facts

PURE = ("np.", "range", "reversed", "len", "abs")


def pure(call: gast.Call) -> bool:
    text = gast.unparse(call.func)
    pure_ = text.startswith(PURE) or text.endswith(".copy")
    return pure_ and not text.startswith("np.random")


def fresh(call: gast.Call) -> bool:
    return gast.unparse(call.func).endswith(".copy")


def facts(temporary: str = "", scalar: str = "") -> Facts:
    return Facts(pure, set(temporary.split()), set(scalar.split()), fresh=fresh)


def _commented(body: list) -> list:
    new = []
    for s in body:
        for field in grammar.BLOCKS:
            if getattr(s, field, None):
                setattr(s, field, _commented(getattr(s, field)))
        value = getattr(s, "value", None)
        is_mark = isinstance(s, gast.Expr) and isinstance(value, gast.Constant)
        if is_mark and isinstance(value.value, str):
            text = value.value
            new.append(grammar.Comment(text.lstrip("#"), text.startswith("#")))
        else:
            new.append(s)
    return new


def function(text: str) -> gast.FunctionDef:
    """The tree of a function; string statements are comments, with ``#`` headings."""
    fn = gast.parse(textwrap.dedent(text)).body[0]
    fn.body = _commented(fn.body)
    return fn


def _uncommented(body: list) -> list:
    new = []
    for s in body:
        if isinstance(s, grammar.Comment):
            s = gast.Expr(grammar.constant("#" * s.blank + s.text))
        for field in grammar.BLOCKS:
            if getattr(s, field, None):
                setattr(s, field, _uncommented(getattr(s, field)))
        new.append(s)
    return new


def text(fn: gast.FunctionDef) -> str:
    fn = grammar.clone(fn)
    fn.body = _uncommented(fn.body)
    return gast.unparse(gast.fix_missing_locations(fn)).strip()


def normal(source: str) -> str:
    return text(function(source))


def call(fn: gast.FunctionDef, *args: object, **names: object):
    space = {"np": np, **names}
    exec(text(fn), space)
    return space[fn.name](*args)


class Program:
    """A random by-name program over floats, arrays, aliases and stacks.

    ``a``, ``b`` and ``c`` hold arrays of four, ``u`` and ``v`` are temporaries for
    arrays, ``s`` and ``t`` hold floats; each may be bound again at any time.
    """

    ARRAYS = ("a", "b", "c", "u", "v", "w_bar", "u_bar")
    SCALARS = ("s", "t", "r", "q")
    TEMPORARY = "u v w_bar u_bar r q k_stack m_stack"

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.depth: dict[str, int] = {}

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def scalar(self) -> str:
        x, y = self.pick(*self.SCALARS), self.pick(*self.SCALARS)
        return self.pick(
            f"{x} * {y}",
            f"{x} + {y}",
            f"{x} - 0.5",
            x,
            f"np.sin({x})",
            "0.25",
            f"np.sum({self.pick(*self.ARRAYS)})",
            f"-{x}",
            f"note({x})",
        )

    def array(self) -> str:
        x, y = self.pick(*self.ARRAYS), self.pick(*self.ARRAYS)
        return self.pick(
            f"{x} * {y}",
            f"{x} + {y}",
            f"{self.pick(*self.SCALARS)} * {x}",
            x,
            f"np.cos({x})",
            f"{x}[::-1]",
            f"np.reshape({x}, -1)",
            f"{x} - -{y}",
            f"{x} * 1.0",
            f"2.0 * ({x} * {y})",
            f"{x} * 2.0",
            f"{x} + {x}",
            f"np.tanh({x})",
            f"-{x} * {y}",
            f"touch({x})",
        )

    def twice(self, indent: str, level: int, loop: bool) -> None:
        """Store into a place of an adjoint and add to it, soon after."""
        x, place = self.pick("w_bar", "u_bar"), self.pick("0", "1:3", "2")
        if self.random.random() < 0.5:
            end = self.pick("s * {}", "{} / 2.0", "{} * {}", "-{} + np.sum(w_bar)")
            self.lines.append(f"{indent}k{len(self.lines)} = {x}[{place}].copy()")
            held = self.lines[-1].split()[0]
            self.lines.append(f"{indent}{x}[{place}] = 0.0")
            self.lines.append(f"{indent}q = np.sum({end.format(held, held)})")
            return
        kept = self.pick("0.0", "0.0", f"{self.pick(*self.SCALARS)} * t")
        self.lines.append(f"{indent}{x}[{place}] = {kept}")
        for _ in range(self.random.randrange(3)):
            self.statement(indent, level, loop)
        sign = self.pick("+", "-")
        self.lines.append(f"{indent}{x}[{place}] {sign}= {self.pick('s', 'q')} * r")

    def statement(self, indent: str, level: int, loop: bool) -> None:
        kind = self.random.randrange(16)
        x, s = self.pick(*self.ARRAYS), self.pick(*self.SCALARS)
        if kind < 6:
            line = f"{x} = {self.array()}"
        elif kind < 9:
            line = f"{s} = {self.scalar()}"
        elif kind == 9:
            line = f"{x}[{self.random.randrange(4)}] = {self.scalar()}"
        elif kind == 10:
            line = f"{x}[1:3] += {self.pick(*self.ARRAYS)}[0:2]"
        elif kind == 11:
            line = f"{self.pick(x + ' += ' + self.pick(*self.ARRAYS), s + ' += ' + s)}"
        elif kind == 12 and not loop:
            return self.stack(indent, x, s)
        elif kind == 13:
            line = self.pick(f"note({s})", f"{x}[0:2] = {self.pick(*self.ARRAYS)}[2:4]")
        elif kind == 14 and level and self.random.random() < 0.4:
            return self.twice(indent, level, loop)
        elif kind == 14 and level:
            self.lines.append(f"{indent}if {s} > {self.pick(*self.SCALARS)}:")
            self.block(indent + "    ", level - 1, True)
            self.lines.append(f"{indent}else:")
            self.block(indent + "    ", level - 1, True)
            return None
        elif kind == 15 and level:
            self.lines.append(f"{indent}for i in range({self.random.randrange(3)}):")
            self.block(indent + "    ", level - 1, True)
            return None
        else:
            line = "pass"
        self.lines.append(indent + line)
        return None

    def stack(self, indent: str, x: str, s: str) -> None:
        stack, name = self.pick(("k_stack", x), ("m_stack", s))
        if self.depth.get(stack) and self.random.random() < 0.7:
            self.depth[stack] -= 1
            self.lines.append(f"{indent}{name} = {stack}.pop()")
            return
        copy = self.pick(name, f"{name} * 1.0")
        n = self.random.randrange(1, 3)
        self.depth[stack] = self.depth.get(stack, 0) + n
        self.lines.append(f"{indent}for i in range({n}):")
        self.lines.append(f"{indent}    {stack}.append({copy})")
        self.lines.append(f"{indent}    {name} = {name} * 0.5")

    def block(self, indent: str, level: int, loop: bool, size: int = 4) -> None:
        for _ in range(self.random.randrange(1, size + 1)):
            self.statement(indent, level, loop)

    def source(self) -> str:
        start = [
            "def f(a, b, s, t):",
            "    k_stack = []", "    m_stack = []", "    c = a * b",
            "    u = a + 1.0", "    v = b", "    w_bar = c", "    u_bar = np.cos(a)",
            "    r = s", "    q = t * 2.0",
        ]  # fmt: skip
        for _ in range(4):
            self.block("    ", 2, False, 8)
        last = ", ".join(
            self.random.sample(self.ARRAYS, 3) + self.random.sample(self.SCALARS, 2)
        )
        return "\n".join([*start, *self.lines, f"    return {last}"])


def run_recorded(fn: gast.FunctionDef) -> tuple:
    """What a random program returns, what it leaves of its arguments, what it noted."""
    noted = []

    def note(x):
        noted.append(float(x))
        return x * 0.5

    def touch(x):
        noted.append(x.copy())
        x[0] = 0.5 * x[0] + 0.25
        return x

    a, b = np.array([0.3, -0.7, 0.2, 0.9]), np.array([0.5, 0.1, -0.4, 0.8])
    with np.errstate(all="ignore"):
        out = call(fn, a, b, 0.6, -0.3, note=note, touch=touch)
    return (*out, a, b, *noted)
