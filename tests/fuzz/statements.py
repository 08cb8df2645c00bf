"""Random statements: assignments to names, branches and loops."""

from __future__ import annotations

from collections.abc import Callable

from .expressions import Expressions, atom, is_fresh, names_in
from .scope import Scope

# Names that derivative code likes to use itself.
NAMES = (
    "x y z t s r w acc tmp x_bar out_bar a_bar u_bar x_stack value_stack branch turns "
    "left tape value out x_saved returned result n d cx mask sct len_ f_tape sum_bar "
    "prod unbroadcast _ f_grad h0_grad x_dot count"
).split()
BODY = "    "
Statement = Callable[[Scope, int], list[str]]


def indented(lines: list[str]) -> list[str]:
    """The lines of a block."""
    return [BODY + s for s in lines]


class Statements(Expressions):
    """Statements that bind names, and those that others stand in."""

    names: list[str]
    given: set[str]
    # Whether `x = x + y` is written out.
    plain: bool

    def statement(self, scope: Scope, depth: int) -> list[str]:
        """One statement, or a few that belong together."""
        choices = self.simple()
        if depth < 3:
            choices += [self.branch] * 3 + [self.for_loop] * 2 + [self.while_loop]
        return self.rng.choice(choices)(scope, depth)

    def simple(self) -> list[Statement]:
        """The statements that may stand at any depth, the frequent ones repeated."""
        return [
            *[self.assign] * 6,
            self.augmented,
            self.swap,
            self.called,
            self.chained,
            self.harmless,
        ]

    def block(self, scope: Scope, depth: int, most: int = 3) -> list[str]:
        """A few statements, a level further in."""
        return [
            ln
            for _ in range(self.rng.randint(1, most))
            for ln in self.statement(scope, depth + 1)
        ]

    # -- names ---------------------------------------------------------------------
    def target(self, scope: Scope, kind: str) -> str:
        """A name to assign; inside a loop no variable changes its kind."""
        taken = {"k", "c", *scope.of("I")}
        pool = [n for n in [*self.names, "a", "b", "u"] if n not in taken]
        if scope.loops:
            pool = [n for n in pool if scope.kinds.get(n) == kind and kind != "C"]
        if not pool:
            pool = self.unused(scope)
        return self.rng.choice(pool)

    def unused(self, scope: Scope) -> list[str]:
        """Names that mean nothing here."""
        return [n for n in NAMES if n not in scope.kinds and n not in self.given]

    def bind(self, scope: Scope, name: str, kind: str, value: str) -> None:
        """Note that a name was given the value of an expression."""
        scope.bind(name, kind)
        if kind in "VM" and not is_fresh(value):
            scope.owned -= {name, *names_in(value)}

    # -- assignments ---------------------------------------------------------------
    def assign(self, scope: Scope, depth: int) -> list[str]:
        """One name."""
        kind = self.rng.choice("SSSVVM")
        name = self.target(scope, kind)
        value = self.value(scope, kind, 2)
        if scope.loops:
            value = f"{self.np}.{self.rng.choice(('tanh', 'sin', 'cos'))}({value})"
        note = ": float" if kind == "S" and self.rng.random() < 0.05 else ""
        self.bind(scope, name, kind, value)
        return [f"{name}{note} = {value}"]

    def augmented(self, scope: Scope, depth: int) -> list[str]:
        """``x += e`` for numbers."""
        pool = scope.of("S")
        if not pool:
            return self.assign(scope, depth)
        name = self.rng.choice(pool)
        op, value = self.rng.choice(("+=", "-=", "*=", "/=")), self.scalar(scope, 1)
        value = {
            "*=": f"{self.np}.cos({value})",
            "/=": f"1.0 + {atom(value)} ** 2",
        }.get(op, value)
        if self.plain:
            return [f"{name} = {name} {op[0]} {atom(value)}"]
        return [f"{name} {op} {value}"]

    def swap(self, scope: Scope, depth: int) -> list[str]:
        """Two names at once."""
        kind = self.rng.choice("SV")
        pool = scope.of(kind)
        if len(pool) < 2:
            return self.assign(scope, depth)
        x, y = self.rng.sample(pool, 2)
        if self.rng.random() < 0.4:
            scope.owned -= {x, y}
            if kind == "S" or not scope.loops:
                return [f"{x}, {y} = {y}, {x}"]
        scope.bind(x, kind)
        scope.bind(y, kind)
        f = self.rng.choice(("tanh", "sin"))
        return [f"{x}, {y} = {self.np}.{f}({x} + {y}), 0.6 * {x}"]

    def called(self, scope: Scope, depth: int) -> list[str]:
        """The results of a helper that has two."""
        kind = self.rng.choice("SSV")
        p = self.target(scope, kind)
        q = self.target(scope, kind)
        given = f"{self.value(scope, kind, 1)}, {self.value(scope, kind, 1)}"
        if p == q:
            q = "_"
            if scope.kinds.get(q, kind) != kind:
                return self.assign(scope, depth)
        scope.bind(p, kind)
        scope.bind(q, kind)
        # The two may be one array.
        scope.owned -= {p, q}
        return [f"{p}, {q} = pair({given})"]

    def chained(self, scope: Scope, depth: int) -> list[str]:
        """One number for two names."""
        p, q = self.target(scope, "S"), self.target(scope, "S")
        value = f"{self.np}.sin({self.scalar(scope, 1)})"
        scope.bind(p, "S")
        scope.bind(q, "S")
        return [f"{p} = {q} = {value}"]

    def harmless(self, scope: Scope, depth: int) -> list[str]:
        """What changes nothing."""
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

    # -- branches ------------------------------------------------------------------
    def branch(self, scope: Scope, depth: int) -> list[str]:
        """An ``if`` with up to three arms."""
        test = self.test(scope, 2)
        if self.rng.random() < 0.15:
            name = self.target(scope, "S")
            test = f"({name} := {self.np}.sin({self.scalar(scope, 1)})) > 0.2"
            scope.bind(name, "S")
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
            lines += indented(body)
            if lines and arm and last:
                break
        else:
            ways.append(scope.copy())
        if ways:
            scope.merge(ways)
        return lines

    # -- loops ---------------------------------------------------------------------
    def leave(self, scope: Scope) -> list[str]:
        """A way out of a turn, under a test."""
        way = self.rng.choice(
            ("break", "break", "continue", f"return {self.scalar(scope, 1)}")
        )
        lines = [f"if {self.test(scope, 1)}:"]
        if self.rng.random() < 0.5:
            inner = scope.copy()
            lines += indented(self.assign(inner, 2))
        return [*lines, BODY + way]

    def turns(self, inner: Scope, depth: int) -> list[str]:
        """The body of a loop."""
        body = self.block(inner, depth)
        if self.rng.random() < 0.5:
            body += self.leave(inner)
            rest = inner.copy()
            body += self.block(rest, depth, 2)
            inner.after(rest)
        return indented(body)

    def otherwise(self, scope: Scope, depth: int) -> list[str]:
        """Perhaps an ``else`` of a loop."""
        if self.rng.random() > 0.2:
            return []
        inner = scope.copy(1)
        body = self.block(inner, depth, 1)
        scope.after(inner)
        return ["else:", *indented(body)]

    def counter(self, scope: Scope) -> str | None:
        """A name for a counter."""
        free = [n for n in ("i", "j", "l", "step") if n not in scope.kinds]
        return self.rng.choice(free) if free else None

    def for_loop(self, scope: Scope, depth: int) -> list[str]:
        """A loop over a range."""
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
                "range(len(v))",
            )
        )
        inner = scope.copy(1)
        inner.bind(i, "I")
        body = self.turns(inner, depth)
        scope.after(inner)
        return [f"for {i} in {span}:", *body, *self.otherwise(scope, depth)]

    def while_loop(self, scope: Scope, depth: int) -> list[str]:
        """A loop that counts by itself, perhaps under a further condition."""
        i = self.counter(scope)
        if i is None:
            return self.assign(scope, depth)
        inner = scope.copy(1)
        inner.bind(i, "I")
        test = f"{i} < {self.rng.choice(('3', 'k'))}"
        if self.rng.random() < 0.4:
            test += f" and {self.test(scope, 0)}"
        scope.bind(i, "I")
        body = self.turns(inner, depth)
        scope.after(inner)
        return [
            f"{i} = 0",
            f"while {test}:",
            BODY + f"{i} += 1",
            *body,
            *self.otherwise(scope, depth),
        ]
