"""New blocks from old ones, without touching a node of the old."""

from __future__ import annotations

from collections.abc import Callable

import gast

from sct import grammar


def replaced(node: gast.AST, **fields: object) -> gast.AST:
    """A shallow copy of `node` with some fields changed."""
    cls = type(node)
    new = cls.__new__(cls)
    new.__dict__.update(node.__dict__)
    new.__dict__.update(fields)
    return new


def map_children(node: gast.AST, change: Callable[[gast.AST], gast.AST]) -> gast.AST:
    """`node` with `change` applied to each child; `node` itself when none changes."""
    fields = {}
    for name in grammar.PARTS[type(node)]:
        value = getattr(node, name, None)
        if isinstance(value, gast.AST):
            new = change(value)
            if new is not value:
                fields[name] = new
        elif type(value) is list:
            new_list = [change(v) if isinstance(v, gast.AST) else v for v in value]
            if any(n is not v for n, v in zip(new_list, value, strict=True)):
                fields[name] = new_list
    return replaced(node, **fields) if fields else node


HEADS = {
    gast.If: ("test",),
    gast.While: ("test",),
    gast.For: ("iter",),
    gast.With: ("items",),
    gast.Assign: ("value", "targets"),
    gast.AugAssign: ("value", "target"),
    gast.Return: ("value",),
    gast.Expr: ("value",),
    gast.Assert: ("test", "msg"),
    gast.Raise: ("exc", "cause"),
}


def map_head(stmt: gast.AST, change: Callable[[gast.AST], gast.AST]) -> gast.AST:
    """`stmt` with `change` applied to the expressions it evaluates itself."""
    fields = {}
    for name in HEADS.get(type(stmt), ()):
        value = getattr(stmt, name)
        if isinstance(value, list):
            new = [change(v) for v in value]
            if any(n is not v for n, v in zip(new, value, strict=True)):
                fields[name] = new
        elif value is not None:
            new = change(value)
            if new is not value:
                fields[name] = new
    return replaced(stmt, **fields) if fields else stmt


def map_blocks(stmt: gast.AST, change: Callable[[list], list]) -> gast.AST:
    """`stmt` with `change` applied to each block directly inside it, in order."""
    if not isinstance(stmt, (gast.If, gast.For, gast.While, gast.With)):
        return stmt
    fields = {}
    for name in grammar.BLOCKS:
        old = getattr(stmt, name, None)
        if old:
            new = change(old)
            if len(new) != len(old) or any(
                n is not o for n, o in zip(new, old, strict=True)
            ):
                fields[name] = new
    return replaced(stmt, **fields) if fields else stmt


def with_body(fn: gast.FunctionDef, body: list) -> tuple[bool, gast.FunctionDef]:
    """``(changed, fn)`` with a new body, `fn` itself when no statement differs."""
    same = len(body) == len(fn.body) and all(
        n is o for n, o in zip(body, fn.body, strict=True)
    )
    return (False, fn) if same else (True, replaced(fn, body=body))
