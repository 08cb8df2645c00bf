"""Fewer statement forms: those of ANF, with expressions still nested.

::

    for i, v in enumerate(x):           for i in range(len(x)):
        if v < 0.0:                         v = x[i]
            return s                        if v < 0.0:
        s += v                    ->            break
    return s                                else:
                                                s += v
                                        return s

Meaning and evaluation order are Python's, short circuits included; ``dict(p=x)`` is
``{"p": x}``.  Every statement keeps the line of the user's statement that it came from.
``x += e`` stays: whether it writes in place is for later stages to find out.  The files
beside this one do the work: `hoist` (expressions), `comprehensions`, `unpack`
(targets), `iterate` (loops over anything), `attempts` (``try``), `patterns`
(``match``), `exits` (return, break, continue).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable

import gast

from .attempts import Attempts
from .comprehensions import Comprehensions
from .exits import one_exit, own_breaks
from .grammar import (
    all_writes,
    assign,
    clone,
    constant,
    free_names,
    located,
    name,
    names_read,
    nodes,
)
from .hoist import Hoister, negated, walrus_targets
from .iterate import Iteration
from .names import Names, noun, used_names
from .patterns import Patterns
from .unpack import Unpacker
from .writer import Writer


def desugar(
    tree: gast.FunctionDef,
    source,
    is_builtin: Callable[[gast.AST], str | None] | None = None,
    pure: Callable[[gast.Call], bool] = lambda call: True,
) -> gast.FunctionDef:
    """Lower the statements of a function to those of ANF.

    Parameters
    ----------
    tree : gast.FunctionDef
        The function as the user wrote it; it is left as it is.
    source : Source
        Where it was written.
    is_builtin : callable, optional
        Gives the word of the builtin that a name of the function's globals denotes,
        or None.  By default every builtin's name denotes the builtin.
    pure : callable, optional
        Whether a call has no effect but its value.

    Returns
    -------
    gast.FunctionDef
        The same function with one exit, in the statement forms of ANF.

    Raises
    ------
    UnsupportedError
        For a loop that has no equal over `range`, or a ``try`` or ``match`` that cannot
        be told apart into what is found out and what is differentiated.
    """
    tree = clone(tree)
    names = Names(used_names(tree))
    lowering = _Lowering(tree, source, names, is_builtin or _by_name, pure)
    tree = lowering.displays.visit(tree)
    tree.body = lowering.block(tree.body)
    return one_exit(tree, names)


def _by_name(node: gast.AST) -> str | None:
    return (
        node.id if isinstance(node, gast.Name) and hasattr(builtins, node.id) else None
    )


class _Displays(gast.NodeTransformer):
    """Writes ``dict(p=x)`` as ``{"p": x}``."""

    def __init__(self, is_builtin: Callable[[gast.AST], str | None]):
        self.is_builtin = is_builtin

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        words = [k.arg for k in node.keywords]
        if node.args or None in words or self.is_builtin(node.func) != "dict":
            return node
        values = [k.value for k in node.keywords]
        return located(gast.Dict([constant(w) for w in words], values), node)


class _Lowering:
    """Lowers block after block; what leaves a block is left to `one_exit`."""

    def __init__(self, tree, source, names: Names, is_builtin, pure):
        a = tree.args
        parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
        local = {p.id for p in parameters if p} | all_writes(tree.body)
        every = nodes(tree)
        local |= {n.target.id for n in every if isinstance(n, gast.NamedExpr)}
        captured = {
            n
            for inner in every
            if isinstance(inner, (gast.Lambda, gast.FunctionDef)) and inner is not tree
            for n in free_names(inner)
        }

        def builtin(node: gast.AST) -> str | None:
            return None if names_read(node) & local else is_builtin(node)

        def effectless(node: gast.Call) -> bool:
            taken = isinstance(node.func, gast.Name) and node.func.id in local
            return not taken and pure(node)

        self.displays = _Displays(builtin)
        self.writer = Writer(names)
        listing = Comprehensions(every, names, local, builtin)
        self.hoister = Hoister(self.writer, captured, listing, self.run)
        self.unpacker = Unpacker(self.writer, captured)
        self.iteration = Iteration(self.writer, self.unpacker, builtin, source)
        self.attempts = Attempts(names, source, every, effectless)
        self.patterns = Patterns(names, source, every, builtin)

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        with self.writer.block() as out:
            self.run(body)
        return out

    def run(self, body: list[gast.AST]) -> None:
        """Write what statements come to, after what is written already."""
        at = self.writer.at
        for s in body:
            self.writer.at = s
            method = getattr(self, f"on_{type(s).__name__}", self.writer.add)
            method(s)
        self.writer.at = at

    def on_Assign(self, s: gast.Assign) -> None:
        first, *others = s.targets
        if isinstance(first, gast.Name) and not others:
            self.hoister.assign(first.id, s.value)
            return
        value = self.value(s.value)
        for t in s.targets:
            self.targets(t)
        self.unpacker.assign_all(s.targets, value)

    def on_AnnAssign(self, s: gast.AnnAssign) -> None:
        if s.value is not None:
            self.on_Assign(located(gast.Assign([s.target], s.value, None), s))

    def on_AugAssign(self, s: gast.AugAssign) -> None:
        target = s.target
        if isinstance(target, gast.Name):
            if target.id in walrus_targets(s.value):
                # The old value is the one that is added to.
                old = self.writer.bind(name(target.id), target.id)
                value = self.value(s.value)
                store = name(old.id, store=True)
                self.writer.add(gast.AugAssign(store, s.op, value))
                self.writer.assign(target.id, name(old.id))
                return
        else:
            self.targets(target)
        s.value = self.value(s.value)
        self.writer.add(s)

    def on_Expr(self, s: gast.Expr) -> None:
        s.value = self.value(s.value)
        self.writer.add(s)

    def on_Return(self, s: gast.Return) -> None:
        if isinstance(s.value, gast.IfExp):
            arms = [located(gast.Return(v), s) for v in (s.value.body, s.value.orelse)]
            self.on_If(located(gast.If(s.value.test, [arms[0]], [arms[1]]), s))
            return
        if s.value is not None:
            s.value = self.value(s.value)
        self.writer.add(s)

    def on_Assert(self, s: gast.Assert) -> None:
        s.test = self.hoister.test(s.test)
        self.writer.add(s)

    def on_If(self, s: gast.If) -> None:
        s.test = self.hoister.test(s.test)
        s.body, s.orelse = self.block(s.body), self.block(s.orelse)
        self.writer.add(s)

    def on_Try(self, s: gast.Try) -> None:
        self.run(self.attempts.lowered(s))

    def on_Match(self, s: gast.Match) -> None:
        self.run(self.patterns.lowered(s))

    def on_Delete(self, s: gast.Delete) -> None:
        """``del x`` binds nothing; an element or attribute is deleted."""
        kept = [t for t in s.targets if not isinstance(t, gast.Name)]
        if kept:
            for t in kept:
                self.targets(t)
            self.writer.add(gast.Delete(kept))

    def on_While(self, s: gast.While) -> None:
        after = self.after(s)
        body = self.block(s.body)
        with self.writer.block() as before:
            test = self.hoister.test(s.test)
        if before:
            stop = gast.If(negated(test), [gast.Break()], [])
            body = [*before, located(stop, s), *body]
            test = located(constant(True), s)
        s.test, s.body = test, body
        self.writer.add(s)
        self.writer.body += after

    def on_For(self, s: gast.For) -> None:
        after = self.after(s)
        if isinstance(s.iter, gast.GeneratorExp):
            s = self.iteration.merged(s)
        s.iter = self.value(s.iter)
        self.targets(s.target)
        head = self.iteration.lower(s)
        s.body = head + self.block(s.body)
        self.writer.add(s)
        self.writer.body += after

    def after(self, loop: gast.For | gast.While) -> list[gast.AST]:
        """The ``else`` of a loop, as statements to follow it."""
        orelse, loop.orelse = loop.orelse, []
        breaks = own_breaks(loop.body) if orelse else []
        after = self.block(orelse)
        if breaks:
            broken = self.writer.names.fresh("broken")
            for inner, k in reversed(breaks):
                inner.insert(k, assign(broken, constant(True), inner[k]))
            self.writer.assign(broken, constant(False))
            after = [located(gast.If(negated(name(broken)), after, []), loop)]
        return after

    def on_With(self, s: gast.With) -> None:
        first, *others = s.items
        first.context_expr = self.value(first.context_expr)
        body = s.body
        if others:
            # The other managers are made only after the first is entered.
            body = [located(gast.With(others, body, None), s)]
        target = first.optional_vars
        if target is not None and not isinstance(target, gast.Name):
            held = self.writer.names.fresh(noun(first.context_expr))
            first.optional_vars = name(held, store=True)
            body = [assign(target, name(held), s), *body]
        s.items, s.body = [first], self.block(body)
        self.writer.add(s)

    def value(self, e: gast.AST) -> gast.AST:
        return self.hoister.value(e)

    def targets(self, target: gast.AST) -> None:
        """Lower what a target computes."""
        if isinstance(target, gast.Subscript):
            target.value, target.slice = (
                self.value(target.value),
                self.value(target.slice),
            )
        elif isinstance(target, gast.Attribute):
            target.value = self.value(target.value)
        elif isinstance(target, (gast.Tuple, gast.List)):
            for t in target.elts:
                self.targets(t)
        elif isinstance(target, gast.Starred):
            self.targets(target.value)
