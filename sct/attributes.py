"""What a function writes that others see, as variables of its own.

::

    self.calls += 1                 self_calls = self.calls
    y = x * self.calls     ->       self_calls += 1
                                    setattr(self, "calls", self_calls)
                                    y = x * self_calls

The variable is what the function reads and what is differentiated.  That the object is
changed as well is an effect, which stays where no derivative goes through the value: a
counter counts, while what is active is the derivative's own (`unseen`).

A variable that is declared ``global`` or ``nonlocal`` is treated alike, as long as the
function calls no other function that might read it.
"""

from __future__ import annotations

import types

import gast
import numpy as np

from .arguments import parameter_names
from .classes import LIBRARIES
from .errors import unsupported
from .grammar import (
    all_writes,
    assign,
    blocks,
    call,
    clone,
    constant,
    heads,
    is_name,
    located,
    name,
    outer_names,
    statements,
    writes,
)
from .names import Names, used_names
from .renaming import rename
from .resolve import MISSING, Binding, Scope
from .runtime import check_class, check_plain

ATTRIBUTE = (
    "an object is changed, and which of its values are read afterwards cannot be told",
    "Keep the value in a variable, and return it.",
)

OUTER = (gast.Global, gast.Nonlocal)
Path = tuple[str, ...]


def attributes_apart(fn: gast.FunctionDef, around) -> gast.FunctionDef:
    """Let a function read the attributes that it writes from variables.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    around : Surroundings
        What is known of the world around it.

    Returns
    -------
    gast.FunctionDef
        The same tree when no attribute is written.

    Raises
    ------
    UnsupportedError
        Where it cannot be told which objects have a changed attribute.
    """
    if not any(_stored(s) or _is_setattr(s, around) for s in statements(fn.body)):
        return fn
    fn = clone(fn)
    fn.body = _assigned(fn.body, around)
    _Apart(fn, around).function()
    return fn


def _stored(s: gast.AST) -> gast.Attribute | None:
    """The attribute that a statement gives a value to."""
    if isinstance(s, gast.Assign):
        target = s.targets[0]
    else:
        target = s.target if isinstance(s, gast.AugAssign) else None
    return target if isinstance(target, gast.Attribute) else None


def is_class_check(s: gast.AST, scope: Scope) -> bool:
    """Whether a statement checks the class of an object, which does not change."""
    func = getattr(getattr(s, "value", None), "func", None)
    return func is not None and scope.resolve(func) is check_class


def _is_setattr(s: gast.AST, around) -> bool:
    """Whether a statement is ``setattr(m, "calls", e)``."""
    e = s.value if isinstance(s, gast.Expr) else None
    if not isinstance(e, gast.Call) or around.scope.resolve(e.func) is not setattr:
        return False
    attr = getattr(e.args[1], "value", None) if len(e.args) == 3 else None
    return isinstance(attr, str) and attr.isidentifier()


def _assigned(body: list[gast.AST], around) -> list[gast.AST]:
    """``m.calls = e`` for ``setattr(m, "calls", e)``."""
    out = []
    for s in body:
        for inner in list(blocks(s)):
            inner[:] = _assigned(inner, around)
        if _is_setattr(s, around):
            owner, attr, value = s.value.args
            target = gast.Attribute(owner, attr.value, gast.Store())
            s = assign(gast.copy_location(target, s), value, s)
        out.append(s)
    return out


class _Apart(gast.NodeTransformer):
    def __init__(self, fn, around):
        self.fn, self.source, self.scope = fn, around.source, around.scope
        self.local = all_writes(fn.body) - set(parameter_names(fn))
        self.names = Names(used_names(fn))
        self.alias: dict[str, Path] = self.aliases()
        self.variables: dict[Path, str] = {}
        for s in statements(fn.body):
            target = _stored(s)
            if target is not None:
                path = self.path(target)
                if path is not None:
                    self.variables.setdefault(path, "")
                elif self.is_read(target.attr):
                    raise unsupported(self.source, s, "this assignment", *ATTRIBUTE)
        # Read from a variable, such a name is a value of its own.
        self.alias = {n: p for n, p in self.alias.items() if p not in self.variables}
        for path in sorted(self.variables):
            self.variables[path] = self.names.fresh("_".join(path))
        self.at: gast.AST = fn

    def is_read(self, attr: str) -> bool:
        """Whether an attribute is read, of whatever object, but to be counted up."""
        return any(
            isinstance(n, gast.Attribute)
            and n.attr == attr
            and isinstance(n.ctx, gast.Load)
            for s in statements(self.fn.body)
            for h in heads(s)
            for n in gast.walk(h)
        )

    def aliases(self) -> dict[str, Path]:
        """The names that stand for a part of an object: ``l = m.layer``."""
        count: dict[str, int] = {}
        bound: dict[str, gast.AST] = {}
        for s in statements(self.fn.body):
            for n in writes(s):
                count[n] = count.get(n, 0) + 1
                if isinstance(s, gast.Assign) and is_name(s.targets[0]):
                    bound[n] = s.value
        found: dict[str, Path] = {}
        for n, value in bound.items():
            chain = _chain(value)
            if count[n] == 1 and len(chain) > 1 and n in self.local:
                if chain[0] not in self.local or chain[0] in found:
                    found[n] = found.get(chain[0], chain[:1]) + chain[1:]
        return found

    def path(self, e: gast.AST) -> Path | None:
        """The attributes that lead to a value from a parameter or global."""
        chain = _chain(e)
        if not chain:
            return None
        if chain[0] in self.alias:
            return self.alias[chain[0]] + chain[1:]
        return None if chain[0] in self.local else chain

    def function(self) -> None:
        at = self.fn.body[0]
        body = self.block(self.fn.body)
        first: list[gast.AST] = []
        for path, variable in self.variables.items():
            check = call(self.helper(), _spelled(path[:-1]), constant(path[-1]))
            first.append(located(gast.Expr(check), at))
            if _read_early(self.fn.body, variable):
                first.append(assign(variable, _spelled(path), at))
        self.fn.body = [*first, *body]

    def helper(self) -> str:
        """The name here of the check that an attribute is a plain one."""
        for n, binding in self.scope.imports.items():
            if binding.value is check_plain:
                return n
        made = self.names.fresh("check_plain")
        self.scope.imports[made] = Binding("helper", "check_plain", value=check_plain)
        return made

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in body:
            self.at = s
            out += self.statement(s)
            for inner in list(blocks(s)):
                inner[:] = self.block(inner)
        return out

    def statement(self, s: gast.AST) -> list[gast.AST]:
        target = _stored(s)
        path = self.path(target) if target is not None else None
        if isinstance(s, gast.Assign) and is_name(s.targets[0]):
            # A name for a part is no use of the whole: it is followed.
            if s.targets[0].id in self.alias:
                return [s]
        if is_class_check(s, self.scope):
            return [s]
        inside = {t for b in blocks(s) for t in b}
        for field, value in gast.iter_fields(s):
            if isinstance(value, gast.AST):
                setattr(s, field, self.visit(value))
            elif isinstance(value, list) and not any(v in inside for v in value):
                value[:] = [
                    self.visit(v) if isinstance(v, gast.AST) else v for v in value
                ]
        if target is None:
            return [s]
        if path is None:
            return self.counted(s, target)
        variable = name(self.variables[path])
        effect = call("setattr", clone(target.value), constant(target.attr), variable)
        return [s, located(gast.Expr(effect), s)]

    def counted(self, s: gast.AST, target: gast.Attribute) -> list[gast.AST]:
        """``layer.calls += 1`` of one of many objects; nobody reads it further on."""
        value, lead = s.value, []
        if isinstance(s, gast.AugAssign):
            old, new = (self.names.fresh(f"{target.attr}_{w}") for w in ("old", "new"))
            read = gast.Attribute(clone(target.value), target.attr, gast.Load())
            total = gast.BinOp(name(old), s.op, s.value)
            lead, value = [assign(old, read, s), assign(new, total, s)], name(new)
        effect = call("setattr", clone(target.value), constant(target.attr), value)
        return [*lead, located(gast.Expr(effect), s)]

    def visit_Attribute(self, node):
        path = self.path(node)
        if path in self.variables:
            store = isinstance(node.ctx, gast.Store)
            return gast.copy_location(name(self.variables[path], store=store), node)
        if path is not None and not self.leads(path):
            return node
        if path is not None:
            self.refuse(node)
        return self.generic_visit(node)

    def visit_Name(self, node):
        path = self.path(node)
        if path is not None and isinstance(node.ctx, gast.Load) and self.leads(path):
            self.refuse(node)
        return node

    def leads(self, path: Path) -> bool:
        """Whether a part that is written belongs to the value at a path."""
        return any(p[: len(path)] == path for p in self.variables)

    def refuse(self, node: gast.AST) -> None:
        at = node if getattr(node, "lineno", 0) else self.at
        raise unsupported(self.source, at, "this use of an object", *ATTRIBUTE)


def _read_early(body: list[gast.AST], variable: str) -> bool:
    """Whether a variable may be read before the function gives it a value."""
    for s in body:
        own = list(statements([s]))
        reads = any(
            is_name(n, variable) and isinstance(n.ctx, gast.Load) for n in gast.walk(s)
        )
        if reads or isinstance(s, gast.AugAssign) and variable in writes(s):
            return True
        if any(variable in writes(t) for t in own):
            return len(own) > 1
    return False


def outer_apart(fn: gast.FunctionDef, around) -> gast.FunctionDef:
    """Let a function read the outer variables that it writes from its own.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    around : Surroundings
        What is known of the world around it.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do, or when another function that is
        called might read such a variable.
    """
    outer = outer_names(fn.body)
    if not outer or any(_may_read(s, around, outer) for s in statements(fn.body)):
        return fn
    fn = clone(fn)
    names = Names(used_names(fn))
    variables = {n: names.fresh(f"{n.strip('_').lower()}_now") for n in sorted(outer)}
    rename([s for s in fn.body if not isinstance(s, OUTER)], variables)

    def block(body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for s in body:
            for inner in list(blocks(s)):
                inner[:] = block(inner)
            given = [n for n, v in variables.items() if v in writes(s)]
            if isinstance(s, gast.For) and given:
                s.body[:0] = [assign(n, name(variables[n]), s) for n in given]
                given = []
            out += [s, *(assign(n, name(variables[n]), s) for n in given)]
        return out

    body = block(fn.body)
    first = [
        assign(v, name(n), body[0])
        for n, v in variables.items()
        if _read_early(body, v)
    ]
    declared = [s for s in body if isinstance(s, OUTER)]
    fn.body = [*declared, *first, *(s for s in body if not isinstance(s, OUTER))]
    return fn


def _may_read(s: gast.AST, around, outer: set[str]) -> bool:
    """Whether a statement calls what might read an outer variable, or defines it."""
    if isinstance(s, gast.FunctionDef):
        return True
    for n in [n for h in heads(s) for n in gast.walk(h)]:
        if isinstance(n, (gast.Lambda, gast.GeneratorExp, gast.ListComp)):
            return True
        if isinstance(n, gast.Call):
            callee = around.scope.resolve(n.func)
            attr = getattr(n.func, "attr", "")
            if callee is MISSING and not hasattr(np.ndarray, attr):
                return True
            library = (getattr(callee, "__module__", None) or "").partition(".")[0]
            if isinstance(callee, types.FunctionType) and library not in LIBRARIES:
                if not around.has_rule(callee):
                    return True
    return False


def _spelled(path: Path) -> gast.AST:
    """``m.layer.w`` for its names."""
    value: gast.AST = name(path[0])
    for attr in path[1:]:
        value = gast.Attribute(value, attr, gast.Load())
    return value


def _chain(e: gast.AST) -> Path:
    """The names of ``m.layer.w``; empty for anything else."""
    attributes = []
    while isinstance(e, gast.Attribute):
        attributes.append(e.attr)
        e = e.value
    return (e.id, *reversed(attributes)) if isinstance(e, gast.Name) else ()
