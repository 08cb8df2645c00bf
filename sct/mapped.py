"""Functions that NumPy calls for elements or rows: as loops over these.

::

    y = np.vectorize(f)(x)              values = [f(item) for item in np.ravel(x)]
                                  ->    y = np.reshape(np.array(values), np.shape(x))

    y = np.subtract.outer(a, b)         column = np.reshape(a, np.shape(a) + (1,) *
                                  ->                        np.ndim(b))
                                        y = np.subtract(column, b)

Likewise `frompyfunc`, `apply_along_axis`, `piecewise`, `fromfunction`, and
`atleast_1d` of several arrays.  A call with arguments of
which this says nothing stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import gast
import numpy as np

from .backends import NUMPY
from .grammar import (
    all_writes,
    assign,
    blocks,
    call,
    clone,
    constant,
    expression,
    is_name,
    located,
    name,
    names_read,
    statements,
)
from .names import Names, used_names
from .resolve import MISSING, Binding, Scope

ATLEAST = (np.atleast_1d, np.atleast_2d, np.atleast_3d)


def without_maps(fn: gast.FunctionDef, scope: Scope, is_builtin: Callable):
    """Write what NumPy does with a function that it is given as loops.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    scope : Scope
        What its free names denote.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one to be desugared and
        flattened again.
    """
    work = _Maps(fn, scope)
    if not any(work.form(s) for s in statements(fn.body)):
        return fn
    if any(is_builtin(name(word)) != word for word in ("range", "zip")):
        return fn
    fn = clone(fn)
    work = _Maps(fn, scope)
    fn.body = work.block(fn.body)
    read = {n for s in statements(fn.body) for n in names_read(s)}
    unused = {s for n, s in work.mappers.items() if n not in read}
    _drop(fn.body, unused)
    return fn


def _drop(body: list[gast.AST], unused: set[gast.AST]) -> None:
    stack = [body]
    while stack:
        block = stack.pop()
        block[:] = [s for s in block if s not in unused]
        stack += [inner for s in block for inner in blocks(s)]


class _Maps:
    def __init__(self, fn: gast.FunctionDef, scope: Scope):
        self.fn, self.scope, self.names = fn, scope, Names(used_names(fn))
        self.local = all_writes(fn.body)
        bound: dict[str, list[gast.AST]] = {}
        for s in statements(fn.body):
            for n in all_writes([s]):
                bound.setdefault(n, []).append(s)
        # Functions that map another one, under a name of their own.
        self.mappers = {
            n: found[0]
            for n, found in bound.items()
            if len(found) == 1 and self.mapper(getattr(found[0], "value", None))
        }
        self.out: list[gast.AST] = []

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        """The statements of a block, those that map functions as loops."""
        made: list[gast.AST] = []
        for s in body:
            for inner in blocks(s):
                inner[:] = self.block(inner)
            form = self.form(s)
            self.out = []
            if form and form(self, s.value):
                *lead, last = self.out
                s.value = last
                made += [located(m, s) for m in [*lead, s]]
            else:
                made.append(s)
        return made

    # -- which calls ---------------------------------------------------------------
    def form(self, s: gast.AST) -> Callable | None:
        """How the call of a statement is written, if it is one of these."""
        value = s.value if isinstance(s, gast.Assign) else None
        if not isinstance(value, gast.Call) or any(
            isinstance(a, gast.Starred) for a in value.args
        ):
            return None
        callee = self.object(value.func)
        if self.mapped(value.func) is not None:
            return _Maps.each
        if getattr(callee, "__name__", "") == "outer" and isinstance(
            getattr(callee, "__self__", None), np.ufunc
        ):
            return _Maps.outer
        if callee is math.hypot and len(value.args) > 2:
            return _Maps.hypot
        if callee is np.apply_along_axis:
            return _Maps.along
        if callee in ATLEAST:
            return _Maps.atleast
        if callee is np.fromfunction:
            return _Maps.from_indices
        return _Maps.piecewise if callee is np.piecewise else None

    def object(self, node: gast.AST) -> object:
        """What a name or dotted name that is not bound here denotes."""
        free = not names_read(node) & self.local
        return self.scope.resolve(node) if free else MISSING

    def mapper(self, value: gast.AST | None) -> gast.AST | None:
        """The function that ``np.vectorize(f)`` maps."""
        if not isinstance(value, gast.Call) or not value.args:
            return None
        callee = self.object(value.func)
        given = {k.arg: k.value for k in value.keywords}
        if callee is np.vectorize and len(value.args) == 1 and given.keys() <= {"doc"}:
            return value.args[0]
        if callee is np.frompyfunc and len(value.args) == 3 and not given:
            one = getattr(value.args[2], "value", None) == 1
            return value.args[0] if one else None
        return None

    def mapped(self, func: gast.AST) -> gast.AST | None:
        """The function that a callee maps over elements."""
        if is_name(func) and func.id in self.mappers:
            return self.mapper(self.mappers[func.id].value)
        known = self.object(func)
        if type(known) is np.vectorize and not (known.excluded or known.signature):
            if known.otypes is None:
                return gast.Attribute(clone(func), "pyfunc", gast.Load())
        return None

    # -- how they are written ------------------------------------------------------
    def each(self, value: gast.Call) -> bool:
        """``np.vectorize(f)(x, y)``."""
        function = self.mapped(value.func)
        if value.keywords or not value.args:
            return False
        if len(value.args) == 1:
            shape = self.bind("shape", self.numpy("shape", value.args[0]))
            parts = [self.numpy("ravel", value.args[0])]
        else:
            shapes = [self.numpy("shape", a) for a in value.args]
            shape = self.bind("shape", self.numpy("broadcast_shapes", *shapes))
            whole = [self.numpy("broadcast_to", a, shape) for a in value.args]
            parts = [self.numpy("ravel", a) for a in whole]
        values = self.list_of("values", function, parts)
        # As there, the first one says of which type all are.
        first = gast.Subscript(clone(values), constant(0), gast.Load())
        dtype = self.numpy("result_type", first)
        result = self.numpy("reshape", self.numpy("array", values), shape)
        cast = gast.Attribute(result, "astype", gast.Load())
        self.out.append(gast.Call(cast, [dtype], []))
        return True

    def outer(self, value: gast.Call) -> bool:
        """``np.subtract.outer(a, b)``."""
        if len(value.args) != 2 or value.keywords:
            return False
        a, b = value.args
        ones = gast.BinOp(expression("(1,)"), gast.Mult(), self.numpy("ndim", b))
        shape = gast.BinOp(self.numpy("shape", a), gast.Add(), ones)
        column = self.bind("column", self.numpy("reshape", a, shape))
        self.out.append(gast.Call(clone(value.func.value), [column, clone(b)], []))
        return isinstance(value.func, gast.Attribute)

    def hypot(self, value: gast.Call) -> bool:
        """``math.hypot(x, y, z)``: the distance from the origin."""
        if not isinstance(value.func, gast.Attribute):
            return False
        origin = gast.Tuple([constant(0.0) for _ in value.args], gast.Load())
        func = gast.Attribute(clone(value.func.value), "dist", gast.Load())
        point = gast.Tuple(list(value.args), gast.Load())
        self.out.append(gast.Call(func, [point, origin], []))
        return True

    def along(self, value: gast.Call) -> bool:
        """``np.apply_along_axis(f, axis, arr)``."""
        if len(value.args) < 3 or value.keywords:
            return False
        function, axis, arr, *more = value.args
        size = gast.Subscript(self.numpy("shape", arr), clone(axis), gast.Load())
        rows = self.bind("rows", self.numpy("moveaxis", arr, axis, expression("-1")))
        flat = gast.Tuple([expression("-1"), size], gast.Load())
        lines = self.bind("lines", self.numpy("reshape", rows, flat))
        values = self.list_of("values", function, [lines], more)
        results = self.bind("results", self.numpy("array", values))
        lead = gast.Subscript(
            self.numpy("shape", rows), expression("x[:-1]").slice, gast.Load()
        )
        tail = gast.Subscript(
            self.numpy("shape", results), expression("x[1:]").slice, gast.Load()
        )
        shape = gast.BinOp(lead, gast.Add(), tail)
        whole = self.numpy("reshape", results, shape)
        rank = gast.BinOp(self.numpy("ndim", results), gast.Sub(), constant(1))
        rank = self.bind("rank", rank)
        first = gast.BinOp(clone(axis), gast.Mod(), self.numpy("ndim", arr))
        first = self.bind("first", first)
        last = gast.BinOp(clone(first), gast.Add(), clone(rank))
        places = call("range", gast.UnaryOp(gast.USub(), rank), constant(0))
        goals = call("range", first, last)
        self.out.append(self.numpy("moveaxis", whole, places, goals))
        return True

    def piecewise(self, value: gast.Call) -> bool:
        """``np.piecewise(x, [c, d], [f, g, h])``: the last that holds counts."""
        if len(value.args) != 3 or value.keywords or not is_name(value.args[0]):
            return False
        x, conditions, functions = value.args
        kinds = (gast.List, gast.Tuple)
        if not isinstance(conditions, kinds) or not isinstance(functions, kinds):
            return False
        places, made = list(conditions.elts), list(functions.elts)
        if len(made) - len(places) not in (0, 1):
            return False
        y = self.bind("pieces", self.numpy("zeros_like", x))
        if len(made) > len(places):
            free = places[0]
            for c in places[1:]:
                free = self.numpy("logical_or", free, c)
            places = [self.numpy("logical_not", free), *places]
            made = [made[-1], *made[:-1]]
        for c, f in zip(places, made, strict=True):
            at = self.bind("at", clone(c))
            part: gast.AST = clone(f)
            if not isinstance(f, gast.Constant):
                taken = gast.Subscript(clone(x), clone(at), gast.Load())
                part = gast.Call(part, [taken], [])
            place = gast.Subscript(clone(y), at, gast.Store())
            self.out.append(gast.Assign([place], part, None))
        self.out.append(y)
        return True

    def atleast(self, value: gast.Call) -> bool:
        """``np.atleast_1d(a, b)``: one after the other."""
        if len(value.args) < 2 or value.keywords:
            return False
        parts = [gast.Call(clone(value.func), [clone(a)], []) for a in value.args]
        kind = gast.Tuple if isinstance(np.atleast_1d(0, 0), tuple) else gast.List
        self.out.append(kind(parts, gast.Load()))
        return True

    def from_indices(self, value: gast.Call) -> bool:
        """``np.fromfunction(f, (m, n))``: of all row and column numbers at once."""
        if len(value.args) != 2 or value.keywords:
            return False
        function, shape = value.args
        if not isinstance(shape, gast.Tuple):
            return False
        dtype = gast.Attribute(name(self.module()), "float64", gast.Load())
        indices = self.bind("indices", self.numpy("indices", shape, dtype))
        parts = [
            gast.Subscript(clone(indices), constant(i), gast.Load())
            for i in range(len(shape.elts))
        ]
        self.out.append(gast.Call(clone(function), parts, []))
        return True

    # -- pieces --------------------------------------------------------------------
    def bind(self, wish: str, value: gast.AST) -> gast.AST:
        made = self.names.fresh(wish)
        self.out.append(assign(made, value))
        return name(made)

    def list_of(self, wish: str, function: gast.AST, parts: list, more=()) -> gast.AST:
        """``[f(item, *more) for item in part]``."""
        items = [self.names.fresh("item") for _ in parts]
        over = parts[0] if len(parts) == 1 else call("zip", *parts)
        target: gast.AST = name(items[0], store=True)
        if len(items) > 1:
            names = [name(i, store=True) for i in items]
            target = gast.Tuple(names, gast.Store())
        given = [*map(name, items), *map(clone, more)]
        each = gast.Call(clone(function), given, [])
        of = [gast.comprehension(target, over, [], 0)]
        return self.bind(wish, gast.ListComp(each, of))

    def numpy(self, word: str, *args: gast.AST) -> gast.AST:
        """A call of one of NumPy's functions, by the name that is seen here."""
        func = gast.Attribute(name(self.module()), word, gast.Load())
        return gast.Call(func, [clone(a) for a in args], [])

    def module(self) -> str:
        backend = self.scope.backend or NUMPY
        module = backend.module("numpy")
        for n, value in self.scope.modules():
            if value is module and n not in self.local:
                return n
        for n, binding in self.scope.imports.items():
            if binding.value is module:
                return n
        made = self.names.fresh(backend.alias)
        self.scope.imports[made] = Binding("module", module.__name__, value=module)
        return made
