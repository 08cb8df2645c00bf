"""``try`` becomes a probe, which finds out what is raised, and an ``if`` on that.

::

    try:                           try:
        y = solve(a, b)                solve(a, b)
    except LinAlgError:            except LinAlgError:
        y = lstsq(a, b)                failed = True
                            ->     else:
                                       failed = False
                                   if failed:
                                       y = lstsq(a, b)
                                   else:
                                       y = solve(a, b)

What is tried runs twice when it succeeds, and is differentiated once; so it must have
no effect but the names it binds, and these must not be read when it was left half done.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .errors import unsupported
from .grammar import (
    Probe,
    assign,
    clone,
    constant,
    expression,
    located,
    name,
    names_bound,
    names_read,
    nodes,
    source_blocks,
)
from .names import Names
from .patterns import bindings
from .renaming import FUNCTIONS, rename
from .trial import (
    LEAVES,
    LOOPS,
    bound_early,
    bound_for_certain,
    count_reads,
    leaving,
    out_of_place,
    read_first,
    without_leaving,
)

QUIET = (gast.Assign, gast.AugAssign, gast.AnnAssign, gast.Expr, gast.Pass)
TRIED = (*QUIET, gast.If, *LOOPS, gast.Raise, gast.Assert, gast.Break, gast.Continue)

EFFECT = (
    "this statement in a `try`",
    "what is tried is computed once to see what it raises and once more to be "
    "differentiated, and this has an effect beside its value",
    "Move it out of the `try`.",
)
LEFT = (
    "a `{}` in the middle of a `try`",
    "what follows it must not run, and nothing says so yet",
    "Leave from the last statement of the `try`, or after it.",
)
HALF = (
    "a `try` that may be left half done",
    "`{}` is read after a statement of the `try` has bound it and a later one has "
    "failed",
    "Keep in the `try` only the statement that may fail.",
)
FINALLY = (
    "this `finally`",
    "it runs beside statements that have effects of their own",
    "Write it after the `try`, or put it into a context manager.",
)

LEAVES_FINALLY = (
    "a `{}` in a `finally`",
    "it takes the place of the exception or the result that there is",
    "Leave after the `try`.",
)


class Attempts:
    """Lowers ``try`` statements.

    Parameters
    ----------
    names : Names
        Where the answers of probes get their names.
    source : Source
        Where the function was written.
    every : list of trees
        All nodes of the function as the user wrote it.
    pure : callable
        ``pure(call)``: whether a call has no effect.
    """

    def __init__(self, names: Names, source, every, pure: Callable):
        self.names, self.source, self.pure = names, source, pure
        self.reads, self.bound = count_reads(every), bindings(every)

    def lowered(self, s: gast.Try) -> list[gast.AST]:
        """Statements for `s`: probes, and what the source language has besides."""
        if s.finalbody:
            return self._with_finally(s)
        self._require_effectless(s.body, EFFECT)
        self._require_atomic(s)
        failed = self.names.fresh("failed")
        error = None
        if any(h.name or _reraises(h.body) for h in s.handlers):
            error = self.names.fresh("error")
        several = len(s.handlers) > 1
        answers = list(range(1, len(s.handlers) + 1)) if several else [True]
        made = []
        for h, answer in zip(s.handlers, answers, strict=True):
            says = [assign(failed, constant(answer), h)]
            caught = None
            if error:
                caught = name(self.names.fresh("caught"), store=True)
                says.append(assign(error, name(caught.id), h))
            made.append(located(gast.ExceptHandler(clone(h.type), caught, says), h))
        fine = [assign(failed, constant(0 if several else False), s)]
        targets = [name(failed, store=True)]
        if error:
            fine.append(assign(error, constant(None), s))
            targets.append(name(error, store=True))
        probe = Probe(targets, gast.Try(self._tried(s.body), made, fine, []))
        rest = [*s.body, *s.orelse]
        for h, answer in reversed(list(zip(s.handlers, answers, strict=True))):
            handled = h.body
            if h.name is not None:
                own = self.names.fresh(h.name.id)
                rename(handled, {h.name.id: own})
                handled = [assign(own, name(error), h), *handled]
            _reraise(handled, error)
            test: gast.AST = name(failed)
            if several:
                test = gast.Compare(test, [gast.Eq()], [constant(answer)])
            rest = [located(gast.If(test, handled, rest), s)]
        return [located(probe, s), *rest]

    # -- what is tried -------------------------------------------------------------
    def _tried(self, body: list[gast.AST]) -> list[gast.AST]:
        """What is tried, for what it raises alone."""
        body = clone(body)
        own = {n for s in body for n in names_bound(s)}
        last = body[-1]
        if isinstance(last, gast.Assign) and not own & names_read(last.value):
            if all(isinstance(t, gast.Name) for t in last.targets):
                body[-1] = located(gast.Expr(last.value), last)
                own = {n for s in body for n in names_bound(s)}
        inside = bindings(nodes(gast.Module(body, [])))
        carried = {n for n in own & read_first(body) if self.bound[n] > inside[n]}
        fresh = {n: self.names.fresh(n) for n in sorted(own)}
        rename(body, fresh)
        body = without_leaving(out_of_place(body))
        body[:0] = [assign(fresh[n], name(n), body[0]) for n in sorted(carried)]
        left = leaving(body)
        if left is not None:
            word = type(left).__name__.lower()
            what, why, instead = LEFT
            raise unsupported(self.source, left, what.format(word), why, instead)
        return body

    def _require_effectless(self, body: list[gast.AST], why) -> None:
        for s in body:
            bad = self._effect(s)
            if bad is not None:
                raise unsupported(self.source, bad, *why)

    def _effect(self, stmt: gast.AST) -> gast.AST | None:
        """The part of a statement that has an effect, if there is one."""
        stack = [stmt]
        while stack:
            n = stack.pop()
            if isinstance(n, gast.stmt) and not isinstance(
                n, (*TRIED, gast.Return, gast.Try)
            ):
                return n
            if isinstance(n, gast.Call) and not self.pure(n):
                return n
            written = isinstance(n, (gast.Subscript, gast.Attribute))
            if written and not isinstance(n.ctx, gast.Load):
                return n
            if not isinstance(n, FUNCTIONS):
                stack.extend(gast.iter_child_nodes(n))
        return None

    def _require_atomic(self, s: gast.Try) -> None:
        """See to it that nobody reads what a failed attempt has bound."""
        early = bound_early(s.body)
        if not early:
            return
        inside = count_reads(nodes(gast.Module([*s.body, *s.orelse], [])))
        ends = [
            h
            for h in s.handlers
            if not isinstance(h.body[-1], (gast.Return, gast.Raise))
        ]
        first = read_first(s.body)
        for n in sorted(early):
            handled = any(n in names_read(b) for h in s.handlers for b in h.body)
            bound = all(n in bound_for_certain(h.body) for h in ends)
            outside = self.reads[n] > inside[n] and not bound
            again = bool(ends) and n in first
            if handled or outside or again:
                what, why, instead = HALF
                raise unsupported(self.source, s, what, why.format(n), instead)

    # -- finally -------------------------------------------------------------------
    def _with_finally(self, s: gast.Try) -> list[gast.AST]:
        """The last statements where the others end, and where they are left."""
        final, s.finalbody = s.finalbody, []
        inner = [s] if s.handlers else s.body
        for n in (n for f in final for n in _walk(f)):
            if isinstance(n, LEAVES):
                word = type(n).__name__.lower()
                what, why, instead = LEAVES_FINALLY
                raise unsupported(self.source, n, what.format(word), why, instead)
        lead = []
        if any(self._effect(f) for f in final):
            # It must run when an exception passes, too.
            for b in inner:
                if self._effect(b) is not None:
                    raise unsupported(self.source, final[0], *FINALLY)
            lead = [located(self._guard(inner, final), s)]
        return [*lead, *self._followed(inner, final), *clone(final)]

    def _guard(self, inner: list[gast.AST], final: list[gast.AST]) -> Probe:
        done = self.names.fresh("done")
        final = clone(final)
        own = {n for f in final for n in names_bound(f)}
        fresh = {n: self.names.fresh(n) for n in sorted(own)}
        rename(final, fresh)
        handler = gast.ExceptHandler(
            expression("BaseException"), None, [*final, gast.Raise(None, None)]
        )
        fine = [assign(done, constant(True))]
        tried = gast.Try(self._tried(inner), [handler], fine, [])
        return Probe([name(done, store=True)], tried)

    def _followed(self, body, final, loop: bool = False) -> list[gast.AST]:
        """A block with `final` before everything that leaves it."""
        out: list[gast.AST] = []
        for s in body:
            if isinstance(s, gast.Return) or (isinstance(s, LEAVES) and not loop):
                if isinstance(s, gast.Return) and s.value is not None:
                    held = self.names.fresh("out")
                    out.append(assign(held, s.value, s))
                    s.value = located(name(held), s)
                out += clone(final)
            elif not isinstance(s, FUNCTIONS):
                for inner in source_blocks(s):
                    deeper = loop or isinstance(s, LOOPS)
                    inner[:] = self._followed(inner, final, deeper)
            out.append(s)
        return out


def _walk(s: gast.AST):
    """A tree, without the functions inside."""
    stack = [s]
    while stack:
        n = stack.pop()
        yield n
        if not isinstance(n, FUNCTIONS):
            stack.extend(gast.iter_child_nodes(n))


def _reraises(body: list[gast.AST]) -> bool:
    return any(
        isinstance(n, gast.Raise) and n.exc is None for s in body for n in _walk(s)
    )


def _reraise(body: list[gast.AST], error: str | None) -> None:
    """Name the exception that ``raise`` raises again."""
    stack = [*body]
    while stack:
        s = stack.pop()
        if isinstance(s, gast.Raise) and s.exc is None:
            s.exc = located(name(error), s)
        # The handlers of another `try` inside have an exception of their own.
        stack += [n for n in gast.iter_child_nodes(s) if isinstance(n, gast.stmt)]
