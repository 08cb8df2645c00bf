"""Blocks that run in the backward sweep: ``with sct.grad_of(h) as h_bar``.

::

    h = np.tanh(w @ h)                         h = np.tanh(w @ h)
    with sct.grad_of(h) as h_bar:      ->      hook(h, np, bound)
        h_bar = np.clip(h_bar, -bound, bound)

The call stands for the block while the function is made ready: what the block reads
goes in as arguments, so that whatever renames names renames these.  No emitted code
holds it: the adjoint of the call is the block.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .control import checkpointed, grad_of
from .errors import unsupported
from .grammar import (
    assign,
    call,
    clone,
    is_name,
    located,
    name,
    names_bound,
    names_read,
    root,
    source_blocks,
    target_names,
)
from .helpers import is_helper
from .names import Names, used_names
from .renaming import rename
from .resolve import Binding, Scope

ALONE = (
    "`sct.grad_of` here",
    "it takes one name, in a `with` of its own, and gives the adjoint a name",
    "Write `with sct.grad_of(h) as h_bar:`, where `h` is a variable.",
)
INSIDE = (
    "this statement in a block of `sct.grad_of`",
    "the block is moved to the backward sweep, where only assignments, calls, `if` and "
    "loops can stand",
    "Call a function that does it.",
)
OUTSIDE = (
    "`{}` in a block of `sct.grad_of`",
    "it has a value outside the block as well, which runs at another time",
    "Give it another name in the block.",
)
WRITTEN = (
    "`out=` in a block of `sct.grad_of`",
    "it writes into an adjoint that other statements may share",
    "Bind the result instead: `h_bar = np.clip(h_bar, -1.0, 1.0)`.",
)
SIMPLE = (gast.Assign, gast.AugAssign, gast.Expr, gast.Pass, gast.Assert, gast.Raise)
# Methods that keep or show what they are given.
LOOKING = frozenset({"append", "add", "put", "write", "debug", "info", "warning"})
LOOPS = (gast.For, gast.While)


class Hook:
    """A block that runs in the backward sweep.

    Attributes
    ----------
    bar : str
        Its name for the adjoint.
    given : tuple of str
        The names that it reads, the variable first.
    body : list
        Its statements.
    """

    def __init__(self, bar: str, given: tuple[str, ...], body: list[gast.AST]):
        self.bar, self.given, self.body = bar, given, body

    @property
    def changes(self) -> bool:
        """Whether it may change the adjoint rather than look at it."""
        return self.bar in self._bound() or self.writes

    @property
    def writes(self) -> bool:
        """Whether it may write into the adjoint."""
        for s in self.body:
            for n in gast.walk(s):
                inside = isinstance(n, (gast.Subscript, gast.Attribute))
                if inside and isinstance(n.ctx, gast.Store) and root(n) == self.bar:
                    return True
                if isinstance(n, gast.Expr) and isinstance(n.value, gast.Call):
                    # A call for its effect alone may have it on what it is given.
                    if self.bar in names_read(n.value) and not _looks(n.value):
                        return True
        return False

    def _bound(self) -> set[str]:
        return set().union(*map(names_bound, self.body))

    def statements(
        self, bar: str, args: list[gast.AST], fresh: Callable[[str], str]
    ) -> list[gast.AST]:
        """The block for the adjoint `bar`, with `args` for the names that it reads.

        Raises
        ------
        Captured
            When one of its functions has a name of its own for what an argument holds.
        """
        own = self._bound() - {self.bar}
        mapping = {n: fresh(n) for n in sorted(own)} | {self.bar: bar}
        lead = []
        for n, a in zip(self.given, args, strict=True):
            if isinstance(a, gast.Name):
                mapping[n] = a.id
            else:
                mapping[n] = fresh(n)
                lead.append(assign(mapping[n], clone(a)))
        body = clone(self.body)
        rename(body, mapping)
        return [*lead, *body]


def _looks(node: gast.Call) -> bool:
    """Whether a call only looks at what it is given."""
    return is_name(node.func, "print") or getattr(node.func, "attr", "") in LOOKING


def without_hooks(
    tree: gast.FunctionDef, source, scope: Scope
) -> tuple[gast.FunctionDef, dict[str, Binding]]:
    """A function whose blocks of `sct.grad_of` are calls, and what is called.

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
    withs = [n for n in gast.walk(tree) if isinstance(n, gast.With)]
    if not any(_is_hook(i.context_expr, scope) for w in withs for i in w.items):
        return tree, {}
    tree = clone(tree)
    work = _Hooks(source, scope, Names(used_names(tree)))
    tree.body = work.block(tree.body)
    a = tree.args
    given = {
        p.id for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg] if p
    }
    elsewhere = given | set().union(*map(names_bound, tree.body))
    for hook, at in work.made:
        for n in sorted(hook._bound() & elsewhere - {hook.bar}):
            what, why, instead = OUTSIDE
            raise unsupported(source, at, what.format(n), why, instead)
    return tree, work.bindings


def _is_hook(node: gast.AST, scope: Scope) -> bool:
    return isinstance(node, gast.Call) and scope.resolve(node.func) is grad_of


class _Hooks:
    """Replaces the blocks."""

    def __init__(self, source, scope: Scope, names: Names):
        self.source, self.scope, self.names = source, scope, names
        self.bindings: dict[str, Binding] = {}
        self.made: list[tuple[Hook, gast.AST]] = []

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out = []
        for s in body:
            if isinstance(s, gast.With):
                if any(_is_hook(i.context_expr, self.scope) for i in s.items):
                    out.append(self.hook(s))
                    continue
            inner = source_blocks(s)
            if isinstance(s, gast.FunctionDef):
                inner = [s.body]
            for b in inner:
                b[:] = self.block(b)
            out.append(s)
        return out

    def hook(self, s: gast.With) -> gast.AST:
        item = s.items[0]
        args = item.context_expr.args
        bar = item.optional_vars
        if (
            len(s.items) > 1
            or len(args) != 1
            or not is_name(args[0])
            or not is_name(bar)
        ):
            raise unsupported(self.source, s, *ALONE)
        body = [self.statement(b) for b in s.body]
        read = set().union(*map(names_read, body))
        own = set().union(*map(names_bound, body)) | {bar.id}
        given = (args[0].id, *sorted(read - own - {args[0].id}))
        hook = Hook(bar.id, given, body)
        self.made.append((hook, s))
        alias = self.names.fresh("hook")
        self.bindings[alias] = Binding("value", alias, value=hook)
        return located(gast.Expr(call(alias, *map(name, given))), s)

    def statement(self, s: gast.AST) -> gast.AST:
        """A statement of a block; what it writes into is what is bound."""
        for n in gast.walk(s):
            if isinstance(n, gast.keyword) and n.arg == "out":
                raise unsupported(self.source, s, *WRITTEN)
        if isinstance(s, (gast.If, *LOOPS)):
            for b in source_blocks(s):
                b[:] = [self.statement(t) for t in b]
            return s
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            (target,) = target_names(s.target)
            return assign(target, gast.BinOp(name(target), s.op, s.value), s)
        if not isinstance(s, SIMPLE):
            raise unsupported(self.source, s, *INSIDE)
        return s


def without_control(
    tree: gast.FunctionDef, scope: Scope
) -> tuple[gast.FunctionDef, dict[str, Binding]]:
    """A function as it runs by itself, without what only derivatives heed.

    Blocks of `sct.grad_of` are left out, a loop of `sct.checkpointed` goes over its
    range, and functions of sct are called as emitted code calls them.

    Returns
    -------
    gast.FunctionDef
    dict
        Name → binding, for these functions.
    """
    work = _Plain(scope, Names(used_names(tree)))
    return work.visit(clone(tree)), work.bindings


class _Plain(gast.NodeTransformer):
    def __init__(self, scope: Scope, names: Names):
        self.scope, self.names = scope, names
        self.bindings: dict[str, Binding] = {}

    def visit_With(self, node):
        if any(_is_hook(i.context_expr, self.scope) for i in node.items):
            return located(gast.Pass(), node)
        return self.generic_visit(node)

    def visit_Call(self, node):
        self.generic_visit(node)
        found = self.scope.resolve(node.func)
        if found is checkpointed:
            return node.args[0]
        if isinstance(node.func, gast.Attribute) and is_helper(found):
            word = found.__name__
            known = [n for n, b in self.bindings.items() if b.name == word]
            alias = known[0] if known else self.names.fresh(word)
            self.bindings[alias] = Binding("helper", word, value=found)
            node.func = name(alias)
        return node
