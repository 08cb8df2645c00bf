"""One exit: a function ends in its only ``return``, a block in its only ``break``.

::

    if x > 0.0:                 if x > 0.0:
        return x                    out = x
    y = x * x           ->      else:
    return y                        y = x * x
                                    out = y
                                return out

What follows a statement that leaves on some paths moves into the other arm.  Where
an arm leaves on some of its own paths only, a flag guards what follows (``broken``,
``skipped``, ``returned``).  A ``return`` inside a loop is ``returned = True; break``,
and its expression is evaluated after the loop.  ``continue`` disappears.

A ``with`` block is taken to let exceptions through (`sct.fence` refuses
``suppress``), so it falls through exactly when its body does.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .grammar import assign, clone, constant, located, name, source_blocks, statements
from .hoist import negated
from .names import Names

# Moving the rest of a block into an arm nests it one deeper; beyond this, flags.
DEEPEST = 12
LOOPS = (gast.For, gast.While)
WORDS = {"return": "returned", "break": "broken", "continue": "skipped"}


class Leave(gast.stmt):
    """The end of a path, while the passes of this file run.

    Attributes
    ----------
    kind : str
        ``"return"``, ``"break"`` or ``"continue"``.
    value : gast.AST or None
        What is returned; None once the result variable holds it.
    flag : str or None
        The flag that is True whenever this is reached.
    """

    _fields = ()
    _attributes = ("lineno", "col_offset")

    def __init__(self, kind="", value=None, flag=None, at=None):
        super().__init__()
        self.kind, self.value, self.flag = kind, value, flag
        located(self, at)


# A flag (None: always) and the path to be taken when it is raised.
Guard = tuple[str | None, Leave]


def one_exit(tree: gast.FunctionDef, names: Names) -> gast.FunctionDef:
    """Give a function one exit; the tree is changed in place and returned.

    Parameters
    ----------
    tree : gast.FunctionDef
        A function whose statement forms are those of ANF otherwise.
    names : Names
        Where flags and the result variable get their names.
    """
    exits = _Exits(names)
    falls = exits.scan(tree.body)[1]
    if falls or not any(isinstance(s, gast.Return) for s in statements(tree.body)):
        nothing = located(gast.Return(constant(None)), tree.body[-1])
        exits.scan([nothing])
        tree.body.append(nothing)
    exits.choose_result(tree.body)
    body = exits.block(tree.body, 0)
    last = body[-1]
    if isinstance(last, Leave) and last.value is not None:
        body[-1] = located(gast.Return(last.value), last)
    else:
        at = exits.last_return
        _replace_tails(body, exits.store)
        body.append(located(gast.Return(exits.result()), at))
    tree.body = _tidied(body)
    return tree


class _Exits:
    def __init__(self, names: Names):
        self.names = names
        self.leaves: dict[int, bool] = {}
        self.falls: dict[int, bool] = {}
        self.depth_of_loops = 0
        self.in_with = False
        self.flags: list[tuple[str, gast.AST]] = []
        self.same: gast.AST | None = None
        self.whole: str | None = None
        self.parts: list[str] = []

    # --- what is known of the statements before they are rewritten ---

    def scan(self, body: list[gast.AST]) -> tuple[bool, bool]:
        """Whether a block leaves on some path, and whether it may reach its end.

        What can never run is cut off: it must not count as a way out.
        """
        leaves, falls = False, True
        for k, s in enumerate(body):
            own_leaves, falls = self._scan_one(s)
            self.leaves[id(s)], self.falls[id(s)] = own_leaves, falls
            leaves |= own_leaves
            if not falls:
                del body[k + 1 :]
                break
        return leaves, falls

    def _scan_one(self, s: gast.AST) -> tuple[bool, bool]:
        if isinstance(s, (gast.Return, gast.Break, gast.Continue)):
            return True, False
        if isinstance(s, gast.Raise):
            return False, False
        if isinstance(s, gast.If):
            (a, b), (c, d) = self.scan(s.body), self.scan(s.orelse)
            return a or c, b or d
        if isinstance(s, gast.With):
            return self.scan(s.body)
        if isinstance(s, LOOPS):
            self.scan(s.body)
            returns = any(isinstance(t, gast.Return) for t in statements(s.body))
            return returns, not _endless(s)
        return False, True

    def choose_result(self, body: list[gast.AST]) -> None:
        """Decide what holds the result: the user's own name, `out`, or `out_1`, ..."""
        returns = [s for s in statements(body) if isinstance(s, gast.Return)]
        values = [s.value or constant(None) for s in returns]
        self.last_return = max(returns, key=lambda s: s.lineno)
        first = values[0]
        if isinstance(first, (gast.Name, gast.Constant)) and (
            len({gast.dump(v) for v in values}) == 1
        ):
            self.same = first
        elif all(_is_tuple(v) and len(v.elts) == len(values[0].elts) for v in values):
            count = len(first.elts)
            self.parts = [self.names.fresh(f"out_{k + 1}") for k in range(count)]
        else:
            self.whole = self.names.fresh("out")

    def result(self) -> gast.AST:
        if self.same is not None:
            return clone(self.same)
        if self.whole is not None:
            return name(self.whole)
        return gast.Tuple([name(p) for p in self.parts], gast.Load())

    def store(self, leave: Leave) -> list[gast.AST]:
        """The statements by which the result variable gets its value."""
        if leave.value is None or self.same is not None:
            return []
        if self.whole is not None:
            return [assign(self.whole, leave.value, leave)]
        return [assign(p, v, leave) for p, v in zip(self.parts, leave.value.elts)]

    # --- rewriting: afterwards a block leaves only in tail position ---

    def block(self, body: list[gast.AST], depth: int) -> list[gast.AST]:
        out: list[gast.AST] = []
        for k, s in enumerate(body):
            if isinstance(s, (gast.Return, gast.Break, gast.Continue)):
                return [*out, *self.leave(s)]
            if not self.leaves[id(s)]:
                out += self.compound(s)
                continue
            rest = body[k + 1 :]
            if depth > DEEPEST and any(self.leaves[id(r)] for r in rest):
                return out + self.flat(body[k:])
            return out + self.split(s, rest, depth + 1)
        return out

    def leave(self, s: gast.AST) -> list[gast.AST]:
        kind = type(s).__name__.lower()
        value = (s.value or constant(None)) if kind == "return" else None
        return self.path(Leave(kind, value, None, s))

    def split(self, s: gast.AST, rest: list[gast.AST], depth: int) -> list[gast.AST]:
        """`s`, which leaves on some paths, and `rest` on the others."""
        if isinstance(s, gast.If) and rest:
            if not self.reaches_end(s.body):
                s.orelse += rest
            elif not self.reaches_end(s.orelse):
                s.body += rest
            if not self.reaches_end(s.body) or not self.reaches_end(s.orelse):
                s.body = self.block(s.body, depth)
                s.orelse = self.block(s.orelse, depth)
                return [s]
        guards: list[Guard] = []
        if isinstance(s, LOOPS):
            # Where the same return follows the loop anyway, a break leads to it.
            alike = self.same is not None and self.depth_of_loops == 0
            follows = alike and bool(rest) and isinstance(rest[0], gast.Return)
            written, guards = self.loop(s, follows)
        else:
            written = self.compound(s)
            if rest:
                written = self.flagged(written, {}, guards, in_place=False) + written
        return written + self.guarded(guards, self.block(rest, depth), s)

    def flat(self, body: list[gast.AST]) -> list[gast.AST]:
        """A block whose statements leave, each part guarded instead of nested."""
        out: list[gast.AST] = []
        guards: list[Guard] = []
        shared: dict[str, str] = {}
        part: list[gast.AST] = []
        for k, s in enumerate(body):
            part.append(s)
            if not self.leaves[id(s)] and k < len(body) - 1:
                continue
            written = self.block(part, 0)
            raised = [name(flag) for flag, _ in guards]
            out += self.flagged(written, shared, guards, in_place=True)
            if raised:
                test = raised[0] if len(raised) == 1 else gast.BoolOp(gast.Or(), raised)
                written = [located(gast.If(negated(test), written, []), part[0])]
            out += written
            part = []
        return out + self.guarded(guards, [], body[0])

    def reaches_end(self, body: list[gast.AST]) -> bool:
        """Whether the end of a block is reached on some path."""
        return all(self.falls[id(s)] for s in body)

    def compound(self, s: gast.AST) -> list[gast.AST]:
        """A statement with its blocks rewritten."""
        if isinstance(s, gast.If):
            s.body, s.orelse = self.block(s.body, 0), self.block(s.orelse, 0)
        elif isinstance(s, gast.With):
            outer, self.in_with = self.in_with, self.depth_of_loops > 0
            s.body = self.block(s.body, 0)
            self.in_with = outer
        elif isinstance(s, LOOPS):
            return self.loop(s, False)[0]
        return [s]

    def loop(
        self, s: gast.For | gast.While, follows: bool
    ) -> tuple[list[gast.AST], list[Guard]]:
        """A loop left only by its test and by ``break``; what must be guarded after.

        `follows` says that what comes after the loop is what its returns do.
        """
        # Asked before the returns inside become breaks.
        endless = _endless(s)
        outer, self.in_with = self.in_with, False
        self.depth_of_loops += 1
        s.body = self.block(s.body, 0)
        self.depth_of_loops -= 1
        self.in_with = outer
        returns = [leave for leave in _tails(s.body) if leave.kind == "return"]
        in_place = len(returns) > DEEPEST
        # Nothing but a return ends an endless loop: the last one needs no test.
        last = returns[-1] if endless and returns and not in_place else None
        guards: list[Guard] = []
        shared: dict[str, str] = {}

        def end(leave: Leave) -> list[gast.AST]:
            if leave.kind == "continue":
                return []
            stop = located(gast.Break(), leave)
            if leave.kind == "break" or follows:
                return [stop]
            if leave is last and leave.flag is None:
                guards.append((None, leave))
                return [stop]
            return [*self.raised(leave, shared, guards, in_place), stop]

        _replace_tails(s.body, end)
        if endless and guards:
            guards[-1] = (None, guards[-1][1])
        return [*self.lowered(), s], guards

    def lowered(self) -> list[gast.AST]:
        """The flags of returns, lowered; inside a loop this waits for the outermost."""
        if self.depth_of_loops:
            return []
        flags, self.flags = self.flags, []
        return [assign(flag, constant(False), at) for flag, at in flags]

    def flagged(
        self,
        body: list[gast.AST],
        shared: dict[str, str],
        guards: list[Guard],
        in_place: bool,
    ) -> list[gast.AST]:
        """Let the paths of `body` that leave raise flags; the flags, lowered."""
        known = set(shared.values())
        in_place = in_place or self.depth_of_loops == 0

        def end(leave: Leave) -> list[gast.AST]:
            return self.raised(leave, shared, guards, in_place)

        _replace_tails(body, end)
        return self.lowered() + [
            assign(shared[kind], constant(False), body[0])
            for kind in ("break", "continue")
            if kind in shared and shared[kind] not in known
        ]

    def raised(
        self,
        leave: Leave,
        shared: dict[str, str],
        guards: list[Guard],
        in_place: bool,
    ) -> list[gast.AST]:
        """What stands for `leave` where something still follows.

        Adds to `guards` the path to be taken afterwards, when it is a new one.
        """
        kind, value, flag = leave.kind, leave.value, leave.flag
        if kind == "return" and not in_place:
            written = []
            if flag is None:
                flag = self.names.fresh(WORDS[kind])
                self.flags.append((flag, leave))
                written = [assign(flag, constant(True), leave)]
            if all(flag != known for known, _ in guards):
                guards.append((flag, Leave(kind, value, flag, leave)))
            return written
        stored = self.store(leave) if kind == "return" else []
        if kind not in shared:
            shared[kind] = self.names.fresh(WORDS[kind])
            if kind == "return":
                self.flags.append((shared[kind], leave))
                guards.append((shared[kind], Leave(kind, None, shared[kind], leave)))
            else:
                guards.append((shared[kind], Leave(kind, None, None, leave)))
        return [*stored, assign(shared[kind], constant(True), leave)]

    def guarded(
        self, guards: list[Guard], rest: list[gast.AST], at: gast.AST
    ) -> list[gast.AST]:
        """``if flag: leave else: rest``, for all guards."""
        for flag, leave in reversed(guards):
            path = self.path(leave)
            if flag is None:
                rest = path
            else:
                rest = [located(gast.If(name(flag), path, rest), at)]
        return rest

    def path(self, leave: Leave) -> list[gast.AST]:
        """The last statements of a path; inside a ``with`` it stores its result."""
        if leave.kind == "return" and leave.value is not None and self.in_with:
            return [*self.store(leave), Leave(leave.kind, None, leave.flag, leave)]
        return [leave]


def _endless(loop: gast.AST) -> bool:
    """Whether only a ``return`` or an exception ends a loop."""
    if not (isinstance(loop, gast.While) and isinstance(loop.test, gast.Constant)):
        return False
    return bool(loop.test.value) and not own_breaks(loop.body)


def own_breaks(body: list[gast.AST]) -> list[tuple[list[gast.AST], int]]:
    """The places of the ``break`` statements that leave the loop whose body this is."""
    found = []
    stack = [body]
    while stack:
        inner = stack.pop()
        for k, s in enumerate(inner):
            if isinstance(s, gast.Break):
                found.append((inner, k))
            elif isinstance(s, LOOPS):
                stack.append(s.orelse)
            else:
                stack += source_blocks(s)
    return found


def _is_tuple(value: gast.AST) -> bool:
    return isinstance(value, gast.Tuple) and not any(
        isinstance(v, gast.Starred) for v in value.elts
    )


def _tails(body: list[gast.AST]) -> list[Leave]:
    """The ends of the paths of a block."""
    found: list[Leave] = []

    def keep(leave: Leave) -> list[gast.AST]:
        found.append(leave)
        return [leave]

    _replace_tails(body, keep)
    return found


def _replace_tails(
    body: list[gast.AST], replace: Callable[[Leave], list[gast.AST]]
) -> None:
    """Put other statements in the place of every `Leave`."""
    last = body[-1] if body else None
    if isinstance(last, Leave):
        body[-1:] = replace(last)
    elif isinstance(last, (gast.If, gast.With)):
        _replace_tails(last.body, replace)
        _replace_tails(getattr(last, "orelse", []), replace)


def _tidied(body: list[gast.AST]) -> list[gast.AST]:
    """A block without empty blocks inside."""
    out: list[gast.AST] = []
    for s in body:
        for field in ("body", "orelse"):
            if isinstance(s, (gast.If, gast.With, *LOOPS)) and getattr(s, field, None):
                setattr(s, field, _tidied(getattr(s, field)))
        if isinstance(s, gast.If) and not s.body:
            if s.orelse:
                s.test, s.body, s.orelse = negated(s.test), s.orelse, []
            elif isinstance(s.test, gast.Name):
                continue
            else:
                s.body = [located(gast.Pass(), s)]
        elif isinstance(s, (gast.With, *LOOPS)) and not s.body:
            s.body = [located(gast.Pass(), s)]
        out.append(s)
    return out
