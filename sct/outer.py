"""Variables that a function shares with others: read when they are meant to be.

::

    global COUNT                     global COUNT
    COUNT += 1                       COUNT_now = COUNT
    return x * COUNT        ->       COUNT = COUNT_now + 1
                                     COUNT_now_2 = COUNT
                                     return x * COUNT_now_2

A name that is declared ``global`` or ``nonlocal`` is only ever copied from and to, so
that the backward sweep has values of its own.  A variable that a local function
declares ``nonlocal`` is copied where a call in the same statement may change it.
"""

from __future__ import annotations

import gast

from .grammar import clone, heads, name, nodes, outer_names, source_blocks, statements
from .names import Names, used_names
from .renaming import FUNCTIONS

CLOSED = (
    *FUNCTIONS,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
)


def with_copies(tree: gast.FunctionDef) -> gast.FunctionDef:
    """Let a function read variables of others by copies.

    Parameters
    ----------
    tree : gast.FunctionDef
        A function in the source language; it is left as it is.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.
    """
    declared = outer_names(tree.body)
    inner = {
        n
        for f in nodes(tree)
        if isinstance(f, gast.FunctionDef) and f is not tree
        for s in statements(f.body)
        if isinstance(s, gast.Nonlocal)
        for n in s.names
    }
    if not declared | inner:
        return tree
    tree = clone(tree)
    work = _Copies(declared, inner, Names(used_names(tree)))
    stack = [tree.body]
    while stack:
        body = stack.pop()
        for k, s in enumerate(body):
            body[k] = s = work.statement(s)
            if not isinstance(s, FUNCTIONS):
                stack += source_blocks(s)
    return tree


class _Copies:
    def __init__(self, always: set[str], by_call: set[str], names: Names):
        self.always, self.by_call, self.names = always, by_call, names

    def statement(self, s: gast.AST) -> gast.AST:
        if isinstance(s, FUNCTIONS):
            return s
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name):
            calls = any(isinstance(n, gast.Call) for n in nodes(s.value))
            id = s.target.id
            if id in self.always or (id in self.by_call and calls):
                total = gast.BinOp(name(id), s.op, s.value)
                s = gast.copy_location(gast.Assign([s.target], total, None), s)
        own = heads(s)
        calls = any(isinstance(n, gast.Call) for h in own for n in nodes(h))
        copied = self.always | (self.by_call if calls else set())
        for field, value in list(gast.iter_fields(s)):
            if isinstance(value, gast.expr) and value in own:
                setattr(s, field, self.read(value, copied))
        return s

    def read(self, e: gast.AST, copied: set[str]) -> gast.AST:
        """An expression with copies of what it reads."""
        if isinstance(e, CLOSED):
            return e
        if isinstance(e, gast.Name):
            if e.id not in copied or not isinstance(e.ctx, gast.Load):
                return e
            held = name(self.names.fresh(f"{e.id}_now"), store=True)
            return gast.copy_location(gast.NamedExpr(held, e), e)
        for field, value in list(gast.iter_fields(e)):
            if isinstance(value, list):
                value[:] = [
                    self.read(v, copied) if isinstance(v, gast.AST) else v
                    for v in value
                ]
            elif isinstance(value, gast.AST):
                setattr(e, field, self.read(value, copied))
        return e
