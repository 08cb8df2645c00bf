"""Loops that are reversed from snapshots: their turns as a function of their own.

::

    for i in sct.checkpointed(range(n), snapshots=5):
        a = f(x)
        x = x + h * a               ->      x = g_loop(x, h, range(n), 5)

    def g_turn(i, x, h):                    def g_loop(x, h, turns, snapshots):
        a = f(x)                                for i in turns:
        x = x + h * a                               x = g_turn(i, x, h)
        return x                                return x

Both are real functions, on the lines where the loop stands: `snapshots` gives the
second one a derivative that runs turns again instead of keeping what they compute.
"""

from __future__ import annotations

import itertools
import linecache
import types
from collections.abc import Iterator
from dataclasses import dataclass

import gast

from . import runtime_control
from .arguments import parameter_names
from .control import checkpointed
from .errors import unsupported
from .grammar import (
    BLOCKS,
    call,
    clone,
    heads,
    is_name,
    is_view,
    located,
    name,
    names_bound,
    names_read,
    root,
    source_blocks,
    target_names,
    writes,
)
from .names import Names, used_names
from .resolve import Binding, Scope

LOOPS = (gast.For, gast.While)
MARK = "__sct_turns__"
FORM = (
    "`sct.checkpointed` here",
    "how many turns there are must be known before the first one",
    "Write `for i in sct.checkpointed(range(n), snapshots=k):`.",
)
LEFT = (
    "this way out of a loop of `sct.checkpointed`",
    "all turns are run again in the backward sweep",
    "Let a test inside the loop leave the values as they are.",
)
INPLACE = (
    "`{}` in a loop of `sct.checkpointed`",
    "its turn writes into it, and the states of earlier turns would change with it",
    "Build the new value: `x = np.where(...)`, or write into a copy: `y = x.copy()`.",
)
UNSET = (
    "`{}` in a loop of `sct.checkpointed`",
    "it is read behind the loop, and has no value where there is no turn",
    "Give it a value before the loop.",
)
CHANGING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault fill".split()
)
_numbers = itertools.count()


@dataclass(frozen=True)
class Turns:
    """What `MARK` says of the function of a whole loop.

    Attributes
    ----------
    turn : types.FunctionType
        The function of one turn: counter, state and constants to state.
    states, constants : tuple of str
        The names of what a turn is given and gives back, and of what it reads besides.
    changed : tuple of str
        Those of `states` that the user's loop may write into by ``x += e``.
    """

    turn: types.FunctionType
    states: tuple[str, ...]
    constants: tuple[str, ...]
    changed: tuple[str, ...]


def turns_of(function: object) -> Turns | None:
    """What is known of the function of a checkpointed loop; None for any other."""
    return getattr(function, MARK, None)


def is_outlined(function: object) -> bool:
    """Whether a function stands in no module of the user's but is part of another."""
    return hasattr(function, MARK)


def without_checkpointed(
    tree: gast.FunctionDef, source, scope: Scope
) -> tuple[gast.FunctionDef, dict[str, Binding]]:
    """A function whose checkpointed loops are calls, and what is called.

    Parameters
    ----------
    tree : gast.FunctionDef
        The function as the user wrote it; it is left as it is.
    source : Source
        Where it was written.
    scope : Scope
        What its free names denote.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.
    dict
        Name → binding.
    """
    loops = [n for n in gast.walk(tree) if isinstance(n, gast.For)]
    if not any(_is_checkpointed(s, scope) for s in loops):
        return tree, {}
    tree = clone(tree)
    work = _Outline(tree, source, scope)
    tree.body = work.block(tree.body, set())
    return tree, work.bindings


def _is_checkpointed(s: gast.AST, scope: Scope) -> bool:
    given = isinstance(s, gast.For) and isinstance(s.iter, gast.Call)
    return given and scope.resolve(s.iter.func) is checkpointed


class _Outline:
    """Moves the loops of one function out of it."""

    def __init__(self, tree: gast.FunctionDef, source, scope: Scope):
        self.source, self.scope = source, scope
        self.names = Names(used_names(tree) | set(parameter_names(tree)))
        self.given = set(parameter_names(tree))
        self.local = self.given | _bound(tree.body)
        self.before = [(t, names_bound(t)) for t in _all(tree.body)]
        self.bindings: dict[str, Binding] = {}

    def block(self, body: list[gast.AST], later: set[str]) -> list[gast.AST]:
        """A block without such loops; `later` is read after it."""
        out: list[gast.AST] = []
        for k, s in enumerate(body):
            after = _exposed(body[k + 1 :])[0] | later
            if isinstance(s, LOOPS):
                after |= _exposed([s])[0]
            for inner in source_blocks(s):
                inner[:] = self.block(inner, after)
            out.append(self.call(s, after) if _is_checkpointed(s, self.scope) else s)
        return out

    def call(self, s: gast.For, after: set[str]) -> gast.AST:
        """The call that stands for a loop, when `after` is read behind it."""
        turns, snapshots = self.arguments(s)
        self.check(s)
        bound = _bound(s.body)
        (counter,) = target_names(s.target)
        read = _exposed(s.body)[0]
        states = tuple(sorted((bound & (read | after)) - {counter}))
        if counter in bound | after or not states:
            raise unsupported(self.source, s, *FORM)
        for n in states:
            if n not in self.given and not self.bound_before(n, s):
                what, why, instead = UNSET
                raise unsupported(self.source, s, what.format(n), why, instead)
        inside = set().union(*[_reads(t) for t in _all(s.body)])
        constants = tuple(sorted((inside & self.local) - bound - {counter}))
        if counter == "_" and counter not in inside:
            counter = Names({*states, *constants, *inside}).fresh("i")
        stem = self.source.name
        loop = self.made(s, stem, counter, states, constants)
        alias = self.names.fresh(f"{stem}_loop")
        self.bindings[alias] = Binding("value", alias, value=loop)
        args = [*map(name, [*states, *constants]), turns, snapshots]
        targets = [name(n, store=True) for n in states]
        whole = gast.Tuple(targets, gast.Store()) if len(states) > 1 else targets[0]
        return located(gast.Assign([whole], call(alias, *args), None), s)

    def bound_before(self, word: str, loop: gast.For) -> bool:
        """Whether a statement above a loop may give a name its value."""
        return any(
            word in bound
            and s.lineno < loop.lineno
            and loop not in _all([s])
            or word in writes(s)
            and s.lineno < loop.lineno
            for s, bound in self.before
        )

    def arguments(self, s: gast.For) -> tuple[gast.AST, gast.AST]:
        """The range of a loop, and how many snapshots there are to be."""
        args, keywords = s.iter.args, {k.arg: k.value for k in s.iter.keywords}
        snapshots = keywords.pop("snapshots", None) or gast.Constant(None, None)
        plain = len(args) == 1 and isinstance(args[0], gast.Call)
        counted = plain and self.scope.resolve(args[0].func) is range
        if keywords or s.orelse or not counted or not is_name(s.target):
            raise unsupported(self.source, s, *FORM)
        return args[0], snapshots

    def check(self, loop: gast.For) -> None:
        """Refuse what a turn that is a function of its own cannot do."""
        own = _bound(loop.body)
        outer = self.local - (own - _exposed(loop.body)[0])
        changed = set(_changed(loop.body))
        for s, depth in _nested(loop.body, 0):
            leaves = isinstance(s, (gast.Break, gast.Continue)) and not depth
            if leaves or isinstance(s, (gast.Return, gast.Global, gast.Nonlocal)):
                raise unsupported(self.source, s, *LEFT)
            for n in _written_into(s) | (_referred_to(s) & changed):
                if n in outer or n not in own:
                    what, why, instead = INPLACE
                    raise unsupported(self.source, s, what.format(n), why, instead)

    def made(self, s: gast.For, stem: str, counter: str, states, constants):
        """The functions of one turn, and of the loop."""
        names = Names({counter, *states, *constants})
        turn = names.fresh(f"{stem}_turn")
        result = ", ".join(states)
        given = ", ".join([counter, *states, *constants])
        text = _turn_text(self.source, s, f"def {turn}({given}):", f"return {result}")
        step = self.function(turn, text, {})
        loop, turns, snapshots = (
            names.fresh(n) for n in (f"{stem}_loop", "turns", "snapshots")
        )
        given = ", ".join([*states, *constants, turns, snapshots])
        changed = [n for n in states if n in _changed(s.body)]
        more: dict[str, object] = {turn: step}
        check = ""
        if changed:
            # ``x += e`` would change an array under all its names.
            apart = names.fresh("check_unshared")
            more[apart] = runtime_control.check_unshared
            others = "".join(f", {n}={n}" for n in [*states, *constants])
            check = f'    {apart}("{" ".join(changed)}"{others})\n'
        text = (
            f"def {loop}({given}):\n"
            f"{check}"
            f"    for {counter} in {turns}:\n"
            f"        {result} = {turn}({', '.join([counter, *states, *constants])})\n"
            f"    return {result}\n"
        )
        whole = self.function(loop, text, more)
        setattr(whole, MARK, Turns(step, states, constants, tuple(changed)))
        return whole

    def function(self, word: str, text: str, more: dict[str, object]):
        return function_on_its_own(self.source, self.scope, word, text, more)


def function_on_its_own(
    source, scope: Scope, word: str, text: str, more: dict[str, object]
) -> types.FunctionType:
    """A function of a text that sees what the user's does, and `more`."""
    filename = f"<{word} of {source.name}, {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    user = source.function
    cells = {n: types.CellType(v) for n, v in more.items()} | scope.cells
    around = compile(text, filename, "exec", dont_inherit=True)
    if cells:
        # Compiled where the names of the cells are local to a function around it.
        tree = gast.gast_to_ast(gast.parse(text))
        shell = gast.gast_to_ast(
            gast.parse(f"def scope({', '.join(cells)}):\n    pass")
        )
        shell.body[0].body = tree.body
        around = compile(shell, filename, "exec", dont_inherit=True)
        around = _code_in(around, "scope")
    code = _code_in(around, word)
    closure = tuple(cells[n] for n in code.co_freevars)
    made = types.FunctionType(code, user.__globals__, word, None, closure)
    made.__module__ = user.__module__
    setattr(made, MARK, None)
    return made


def _code_in(code: types.CodeType, word: str) -> types.CodeType:
    """The code of a function that stands in another code, at whatever depth of ifs."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return next(c for c in inner if c.co_name == word)


def _turn_text(source, loop: gast.For, head: str, last: str) -> str:
    """The loop's body as a function, on the lines where it stands.

    ``x += e`` becomes ``x = x + e``, which leaves the `x` of the turn before alone.
    """
    first, end = loop.body[0], loop.body[-1].end_lineno
    lines = [bytearray(line, "utf-8") for line in source.lines[:end]]
    edits = []
    for s in _all(loop.body):
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            at, value = s.target.end_col_offset, s.value
            line = lines[s.target.lineno - 1]
            stop = line.index(b"=", at) + 1
            operator = line[at : stop - 1].decode().strip()
            new = f" = {s.target.id} {operator}".encode()
            edits.append((s.target.lineno, at, stop, new))
            edits.append((value.lineno, value.col_offset, value.col_offset, b"("))
            end_at = value.end_col_offset
            edits.append((value.end_lineno, end_at, end_at, b")"))
    for number, start, stop, new in sorted(edits, reverse=True):
        lines[number - 1][start:stop] = new
    indent = " " * loop.col_offset
    before = ["\n"] * (loop.lineno - 1)
    if indent:
        before[-1] = "if True:\n"
    gap = ["\n"] * (first.lineno - loop.lineno - 1)
    inner = " " * first.col_offset
    if first.lineno == loop.lineno:
        # On the line of the loop's head.
        body = lines[first.lineno - 1][first.col_offset :].decode()
        return "".join([*before, f"{indent}{head} {body.rstrip()}; {last}\n"])
    body = [line.decode() for line in lines[first.lineno - 1 :]]
    ending = "" if body[-1].endswith("\n") else "\n"
    return "".join(
        [*before, f"{indent}{head}\n", *gap, *body, ending, f"{inner}{last}\n"]
    )


def _bound(body: list[gast.AST]) -> set[str]:
    return set().union(*map(names_bound, body)) if body else set()


def _nested(body: list[gast.AST], depth: int) -> Iterator[tuple[gast.AST, int]]:
    """All statements of a block, with the loops inside it that they stand in."""
    for s in body:
        yield s, depth
        for b in source_blocks(s):
            yield from _nested(b, depth + isinstance(s, LOOPS))


def _all(body: list[gast.AST]) -> list[gast.AST]:
    return [s for s, _ in _nested(body, 0)]


def _reads(s: gast.AST) -> set[str]:
    """The names that a statement reads, all that it holds included."""
    found = names_read(s)
    for t in _all([s]):
        if isinstance(t, gast.AugAssign):
            found |= set(target_names(t.target)) | {root(t.target)}
        for b in getattr(t, "targets", []):
            if not is_name(b):
                found |= names_read(b)
    return found


def _exposed(body: list[gast.AST]) -> tuple[set[str], set[str]]:
    """The names that a block may read as they were before it, and those it binds."""
    read: set[str] = set()
    bound: set[str] = set()
    for s in body:
        if isinstance(s, gast.If):
            read |= names_read(s.test) - bound
            arms = [_exposed(b) for b in (s.body, s.orelse)]
            read |= set().union(*[r for r, _ in arms]) - bound
            bound |= arms[0][1] & arms[1][1]
        elif isinstance(s, LOOPS):
            own = set(target_names(s.target)) if isinstance(s, gast.For) else set()
            head = [n for h in heads(s) for n in names_read(h)]
            read |= (set(head) | _exposed(s.body)[0] - own) - bound
            read |= _exposed(s.orelse)[0] - bound
        elif isinstance(s, gast.With):
            read |= set().union(*[names_read(i.context_expr) for i in s.items]) - bound
            bound |= set(writes(s))
            inner = _exposed(s.body)
            read |= inner[0] - bound
            bound |= inner[1]
        else:
            read |= _reads(s) - bound
            if not any(getattr(s, field, None) for field in BLOCKS):
                bound |= set(writes(s))
    return read, bound


def _changed(body: list[gast.AST]) -> list[str]:
    """The names that ``x += e`` gives a new value, or changes."""
    found = [s.target for s in _all(body) if isinstance(s, gast.AugAssign)]
    return [t.id for t in found if isinstance(t, gast.Name)]


def _referred_to(s: gast.AST) -> set[str]:
    """The names whose arrays get a second name, or a place in a container."""
    value = s.value if isinstance(s, gast.Assign) else None
    parts = value.elts if isinstance(value, (gast.Tuple, gast.List)) else [value]
    held = (gast.Name, gast.Subscript, gast.Attribute)
    return {root(p) for p in parts if isinstance(p, held) or is_view(p)}


def _written_into(s: gast.AST) -> set[str]:
    """The names of what a statement writes into."""
    found = set()
    for n in gast.walk(s):
        if isinstance(n, (gast.Subscript, gast.Attribute)):
            if not isinstance(n.ctx, gast.Load):
                found.add(root(n))
        elif isinstance(n, gast.keyword) and n.arg == "out":
            found |= names_read(n.value)
        elif isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute):
            if n.func.attr in CHANGING:
                found.add(root(n.func))
    return found - {""}
