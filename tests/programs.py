"""Random programs full of control flow, and ways to run and judge trees."""

from __future__ import annotations

import ast
import random
import textwrap
from contextlib import contextmanager

import gast

from sct import grammar


class Stub:
    """What error messages need of a `Source`."""

    filename = "model.py"

    def __init__(self, text: str, name: str = "f"):
        self.lines = text.splitlines(keepends=True)
        self.name = name

    def name_at(self, number: int) -> str:
        return self.name


def tree_of(text: str) -> tuple[gast.FunctionDef, Stub]:
    """The first function of a text, and its source."""
    text = textwrap.dedent(text).strip("\n") + "\n"
    tree = next(s for s in gast.parse(text).body if isinstance(s, gast.FunctionDef))
    return tree, Stub(text, tree.name)


class _Probes(gast.NodeTransformer):
    def visit_Probe(self, node):
        return node.statement


def text_of(tree: gast.AST) -> str:
    """A tree as plain text."""
    return ast.unparse(gast.gast_to_ast(_Probes().visit(grammar.clone(tree))))


class OutOfFuel(Exception):
    """A program ran for too long."""


class World:
    """What a random program sees: every use leaves a trace in `log`."""

    def __init__(self, seed: int, fuel: int = 150):
        self.random = random.Random(seed)
        self.log: list[object] = []
        self.fuel = fuel

    def tick(self, label: object) -> int:
        self.log.append(label)
        if len(self.log) > self.fuel:
            raise OutOfFuel
        return self.random.randrange(4)

    @contextmanager
    def managed(self, label: object):
        self.log.append(("enter", label))
        yield label
        self.log.append(("exit", label))

    def run(self, text: str, *args):
        """The outcome of the text's function `f`, and the trace."""
        scope = {"t": self.tick, "managed": self.managed}
        exec(compile(text, "<program>", "exec"), scope)
        try:
            outcome = scope["f"](*args)
        except (OutOfFuel, ValueError, ZeroDivisionError) as error:
            outcome = type(error)
        return outcome, self.log


class Program:
    """Writes one random function `f(a, b, x)`; `text` is its source."""

    VARS = ("a", "b", "c", "d")

    def __init__(self, seed: int, size: int = 5):
        self.random = random.Random(seed)
        self.labels = 0
        self.tuples = self.random.random() < 0.3
        lines = ["def f(a, b, x):", "    c, d = a, b"]
        lines += self.block(1, in_loop=False, size=size)
        if self.random.random() < 0.7:
            lines.append("    " + self.leave())
        self.text = "\n".join(lines) + "\n"

    def leave(self) -> str:
        if self.tuples:
            return f"return {self.expression(1)}, {self.expression(0)}"
        return self.random.choice(
            ["return a", f"return {self.expression(2)}", "return"]
        )

    def block(self, depth: int, in_loop: bool, size: int) -> list[str]:
        lines = []
        for _ in range(self.random.randint(1, size)):
            lines += self.statement(depth, in_loop)
        return lines

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        pad = "    " * depth
        r = self.random
        kinds = ["assign", "assign", "aug", "swap", "call", "return", "walrus"]
        if depth < 5:
            kinds += ["if", "if", "for", "while", "with", "forelse", "whileelse"]
        if in_loop:
            kinds += ["break", "continue"]
        kind = r.choice(kinds)
        if kind == "return" and (not r.random() < 0.5 or depth == 1):
            kind = "call"

        def inner(loop: bool) -> list[str]:
            return self.block(depth + 1, loop, 3)

        if kind == "assign":
            return [f"{pad}{r.choice(self.VARS)} = {self.expression(3)}"]
        if kind == "aug":
            return [f"{pad}{r.choice(self.VARS)} += {self.expression(2)}"]
        if kind == "swap":
            count = r.randint(2, 3)
            targets = ", ".join(r.choice(self.VARS) for _ in range(count))
            values = ", ".join(self.expression(1) for _ in range(count))
            return [f"{pad}{targets} = {values}"]
        if kind == "call":
            return [f"{pad}{self.tick()}"]
        if kind == "walrus":
            return [f"{pad}t(({r.choice(self.VARS)} := {self.expression(2)}))"]
        if kind in {"break", "continue"}:
            return [f"{pad}{kind}"]
        if kind == "return":
            return [pad + self.leave()]
        if kind == "if":
            lines = [f"{pad}if {self.test()}:", *inner(in_loop)]
            if r.random() < 0.3:
                lines += [f"{pad}elif {self.test()}:", *inner(in_loop)]
            if r.random() < 0.5:
                lines += [f"{pad}else:", *inner(in_loop)]
            return lines
        if kind == "with":
            self.labels += 1
            return [f"{pad}with managed({self.labels}):", *inner(in_loop)]
        if kind.startswith("for"):
            lines = [f"{pad}for {self.head()}:", *inner(True)]
        else:
            # Every turn uses fuel, so that every program ends.
            turn = f"{pad}    {self.tick()}"
            lines = [f"{pad}while {self.test()}:", turn, *inner(True)]
        if kind.endswith("else"):
            lines += [f"{pad}else:", *inner(in_loop)]
        return lines

    def head(self) -> str:
        v, w = self.random.choice(self.VARS), self.random.choice(self.VARS)
        return self.random.choice(
            [
                f"{v} in range({self.tick()})",
                f"{v} in reversed(range({self.tick()}))",
                f"{v} in x",
                f"{v}, {w} in enumerate(x)",
                f"{v}, {w} in enumerate(x, start={self.tick()})",
                f"{v}, {w} in zip(x, reversed(x))",
                f"{v}, (b, {w}) in enumerate(zip(x, range({self.tick()})))",
                f"{v} in {{1: 2, 3: 4}}.values()",
                f"{v} in ({self.expression(1)}, {self.expression(1)})",
            ]
        )

    def tick(self) -> str:
        self.labels += 1
        return f"t({self.labels})"

    def test(self) -> str:
        return self.random.choice(
            [
                self.tick(),
                f"{self.tick()} > 1",
                f"{self.tick()} and {self.expression(1)}",
                f"({self.random.choice(self.VARS)} := {self.tick()}) < 2",
                f"{self.tick()} and (a := {self.tick()}) or {self.tick()}",
                f"0 < {self.tick()} < (b := {self.tick()})",
                "x",
                "True",
            ]
        )

    def expression(self, depth: int) -> str:
        r = self.random
        if depth == 0 or r.random() < 0.3:
            return r.choice([*self.VARS, "1", "2", "x[0]", self.tick()])
        e = [self.expression(depth - 1) for _ in range(3)]
        v = r.choice(self.VARS)
        return r.choice(
            [
                f"({e[0]} + {e[1]})",
                f"({e[0]} - {e[1]} * 2)",
                f"t({e[0]})",
                f"({e[0]} if {e[1]} else {e[2]})",
                f"({e[0]} and {e[1]})",
                f"({e[0]} or {e[1]} or {e[2]})",
                f"({v} := {e[0]})",
                f"({e[0]} < {e[1]} < {e[2]})",
                f"(not {e[0]})",
                f"max({e[0]}, {e[1]})",
            ]
        )


def assert_one_exit(tree: gast.FunctionDef) -> None:
    """The rules on exits of the ANF grammar."""
    assert isinstance(tree.body[-1], gast.Return)
    returns = [s for s in grammar.statements(tree.body) if isinstance(s, gast.Return)]
    assert len(returns) == 1
    stack = [tree.body]
    while stack:
        body = stack.pop()
        assert body
        for s in body:
            assert not isinstance(s, gast.Continue)
            assert not getattr(s, "orelse", None) or isinstance(s, gast.If)
            assert s.lineno >= tree.lineno
            if s is not body[-1]:
                assert not _breaks(s), text_of(tree)
            stack += grammar.blocks(s)


def _breaks(s: gast.AST) -> bool:
    if isinstance(s, gast.Break):
        return True
    if isinstance(s, (gast.If, gast.With)):
        return any(_breaks(t) for b in grammar.blocks(s) for t in b)
    return False
