"""In-place calls as assignments to what they write into.

::

    np.add(p, q, out=v)               v[...] = np.add(p, q)
    v.fill(c)                         v[...] = c
    np.copyto(v, e, where=m)          v[...] = np.where(m, e, v)
    v.sort()                  ──►     v[...] = np.sort(v)
    np.place(v, m, e)                 v[m] = np.resize(e, np.count_nonzero(m))
    np.put(v, k, e)                   v.reshape(-1)[k] = np.resize(e, np.shape(k))
    np.add.at(v, k, e)                a `grammar.Scatter`

Each form is a method of `_Forms` with the signature of the call.  A call that does not
fit it stays as it is, and is refused where it matters.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container

import gast
import numpy as np

from sct import grammar, runtime, templates
from sct.analysis.masks import is_mask
from sct.arguments import parameter_names
from sct.names import Names
from sct.operations import Operation
from sct.resolve import MISSING, hashable

DISPATCHED = (type(np.sum), type(np.dot))
AT = {
    np.add: gast.Add,
    np.subtract: gast.Sub,
    np.multiply: gast.Mult,
    np.divide: gast.Div,
}


def in_place_forms(
    fn: gast.FunctionDef,
    classify: Callable[[gast.AST], Operation],
    names: Names,
    use: Callable[[str, str], str],
    containers: Container[str],
    lists: Container[str],
    temporary: set[str],
) -> gast.FunctionDef:
    """In-place calls as assignments to what they write into.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    classify : callable
        ``classify(expr) -> Operation``.
    names : Names
        The function's supply of names.
    use : callable
        ``use(kind, name)``: the name in the function of a module or helper.
    containers : set of str
        Names that may hold lists, dicts or objects: their methods are their own.
    lists : set of str
        Names that hold lists.
    temporary : set of str
        Receives the names made here.

    Returns
    -------
    gast.FunctionDef
        A new tree.
    """
    fn = grammar.clone(fn)
    forms = _Forms(fn, classify, names, use, containers, lists, temporary)

    def block(body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for stmt in body:
            for inner in grammar.BLOCKS:
                if getattr(stmt, inner, None) and not isinstance(
                    stmt, gast.FunctionDef
                ):
                    setattr(stmt, inner, block(getattr(stmt, inner)))
            out += forms.lowered(stmt)
        return out

    fn.body = block(fn.body)
    return fn


class _Forms:
    """The forms; each returns False when it does not know the arguments."""

    def __init__(self, fn, classify, names: Names, use, containers, lists, temporary):
        self.classify, self.names, self.use = classify, names, use
        self.containers, self.lists = containers, lists
        self.temporary = temporary
        self.bound: dict[str, list[gast.AST]] = {
            p: [gast.Pass()] for p in parameter_names(fn)
        }
        for s in grammar.statements(fn.body):
            plain = isinstance(s, gast.Assign) and grammar.is_name(s.targets[0])
            for n in grammar.writes(s):
                self.bound.setdefault(n, []).append(s.value if plain else s)
        self.flat = {
            n
            for n, values in self.bound.items()
            if all(getattr(v, "attr", "") == "flat" for v in values)
        }
        self.out: list[gast.AST] = []
        self.at: gast.AST | None = None

    def lowered(self, stmt: gast.AST) -> list[gast.AST]:
        """What a statement comes to."""
        self.out, self.at = [], stmt
        value = getattr(stmt, "value", None)
        if grammar.places(stmt):
            self.listed(stmt)
        elif isinstance(value, gast.Attribute):
            if set(grammar.writes(stmt)) & self.flat:
                stmt.value = self.flattened(value.value)
        elif isinstance(stmt, gast.Assign) and isinstance(value, gast.Subscript):
            self.copied(stmt, value)
        elif isinstance(value, gast.Call):
            if self.call(stmt, value):
                return self.out
            self.arrays(value)
        return [*self.out, stmt]

    def listed(self, stmt: gast.Assign | gast.AugAssign) -> None:
        """Make an array of a list of numbers before it is stored in one."""
        root, value = grammar.root(grammar.places(stmt)[0]), stmt.value
        if root in self.containers or not isinstance(value, gast.Name):
            return
        values = self.bound.get(value.id, ())
        if values and all(isinstance(v, (gast.List, gast.Tuple)) for v in values):
            stmt.value = self.bind("array", self.numpy("array", value))

    def arrays(self, node: gast.Call) -> None:
        """Make arrays of the lists of numbers that functions of arrays are given."""
        op = self.classify(node)
        if op.kind != "rule" or not takes_arrays(op.callee):
            return
        if op.rule.multilinear:
            # What it is given is a list of arrays, not an array.
            return
        given = [op.arguments[p] for p in op.rule.wrt if p in op.arguments]
        for holder, field in [
            *((node.args, k) for k in range(len(node.args))),
            *((vars(k), "value") for k in node.keywords),
        ]:
            value = holder[field]
            shown = isinstance(value, (gast.List, gast.Tuple)) and (
                grammar.names_read(value)
            )
            if any(value is g for g in given) and (
                shown or grammar.is_name(value) and value.id in self.lists
            ):
                holder[field] = self.bind("array", self.numpy("array", value))

    def copied(self, stmt: gast.Assign, part: gast.Subscript) -> None:
        """Parts by way of `x.flat` are copies, those of a reshaped array are not."""
        flat = grammar.is_name(part.value) and part.value.id in self.flat
        if flat and isinstance(self.index(part.slice), gast.Slice):
            stmt.value = self.numpy("copy", self.bind("part", part))

    def call(self, stmt: gast.AST, node: gast.Call) -> bool:
        if not isinstance(stmt, (gast.Assign, gast.Expr)):
            return False
        op = self.classify(node)
        if isinstance(op.callee, np.ufunc) and op.callee.nout == 1:
            # np.add(x, y, z) is np.add(x, y, out=z).
            extra = node.args[op.callee.nin :]
            node.keywords += [gast.keyword("out", a) for a in extra]
            del node.args[op.callee.nin :]
        out = next((k for k in node.keywords if k.arg == "out"), None)
        if out and isinstance(op.callee, (np.ufunc, *DISPATCHED)):
            return self.into_out(stmt, node, op, out)
        if not isinstance(stmt, gast.Expr):
            return False
        form, args = FORMS.get(op.callee) if _hashable(op.callee) else None, node.args
        func = node.func
        method = isinstance(func, gast.Attribute) and grammar.is_name(func.value)
        if op.callee is MISSING and method and func.value.id not in self.containers:
            form, args = METHODS.get(func.attr), [func.value, *args]
        ufunc = getattr(op.callee, "__self__", None)
        if isinstance(ufunc, np.ufunc) and op.callee.__name__ == "at":
            form, args = _Forms.ufunc_at, [ufunc, *args]
        elif op.callee is runtime.add_at:
            form, args = _Forms.ufunc_at, [np.add, *args]
        if form is None or any(isinstance(a, gast.Starred) for a in args):
            return False
        keywords = {k.arg: k.value for k in node.keywords}
        try:
            bound = inspect.signature(form).bind(self, *args, **keywords)
        except TypeError:
            return False
        return form(*bound.args, **bound.kwargs) is not False

    # -- calls with `out` ----------------------------------------------------------
    def into_out(self, stmt, node: gast.Call, op: Operation, out: gast.keyword) -> bool:
        target = out.value
        if isinstance(target, gast.Tuple) and len(target.elts) == 1:
            target = target.elts[0]
        if not isinstance(target, gast.Name):
            return False
        node.keywords.remove(out)
        where = next((k for k in node.keywords if k.arg == "where"), None)
        place: gast.AST = grammar.constant(Ellipsis)
        if where is not None and isinstance(op.callee, np.ufunc):
            # What is not selected is not computed: `np.log` may not be defined there.
            node.keywords.remove(where)
            shape = self.bind("shape", gast.Attribute(target, "shape", gast.Load()))
            place = self.spread(where.value, shape)
            node.args = [
                a if isinstance(a, gast.Constant) else self.selected(a, shape, place)
                for a in node.args
            ]
        self.store(target, place, self.bind("result", node))
        if isinstance(stmt, gast.Assign):
            self.add(grammar.assign(stmt.targets[0], grammar.clone(target)))
        return True

    def spread(self, value: gast.AST, shape: gast.AST) -> gast.AST:
        return self.bind("spread", self.numpy("broadcast_to", value, shape))

    def selected(self, value: gast.AST, shape: gast.AST, mask: gast.AST) -> gast.AST:
        whole = self.spread(value, shape)
        return self.bind("part", gast.Subscript(whole, mask, gast.Load()))

    # -- functions that write into their first argument ----------------------------
    def copyto(self, dst, src, casting=None, where=None):
        if casting is not None:
            return False
        if where is not None:
            src = self.bind("result", self.numpy("where", where, self.array(src), dst))
        self.store(dst, grammar.constant(Ellipsis), src)

    def put(self, a, ind, v, mode=None):
        if mode is not None and getattr(mode, "value", None) != "raise":
            return False
        if not isinstance(v, gast.Constant):
            v = self.resized(v, self.bind("shape", self.numpy("shape", ind)))
        flat = self.bind("flat", self.flattened(a))
        self.store(flat, ind, v)

    def place(self, arr, mask, vals):
        mask = self.mask(mask)
        if not isinstance(vals, gast.Constant):
            count = self.bind("count", self.numpy("count_nonzero", mask))
            vals = self.resized(vals, count)
        self.store(arr, mask, vals)

    def putmask(self, a, mask, values):
        mask = self.mask(mask)
        if not isinstance(values, gast.Constant):
            values = self.resized(values, self.bind("shape", self.numpy("shape", a)))
            values = gast.Subscript(values, mask, gast.Load())
            values = self.bind("part", values)
        self.store(a, mask, values)

    def put_along_axis(self, arr, indices, values, axis=None):
        if axis is None or isinstance(axis, gast.Constant) and axis.value is None:
            place, arr = indices, self.bind("flat", self.flattened(arr))
        else:
            helper = self.use("helper", "along_axis")
            place = self.bind("places", grammar.call(helper, arr, indices, axis))
        self.store(arr, place, self.array(values))

    def fill_diagonal(self, a, val, wrap=None):
        if wrap is not None and getattr(wrap, "value", None) is not False:
            return False
        helper = self.use("helper", "diagonal_places")
        place = self.bind("places", grammar.call(helper, a))
        self.store(a, place, self.array(val))

    def fill(self, a, value):
        self.store(a, grammar.constant(Ellipsis), value)

    def sort(self, a, axis=None, kind=None):
        # Whatever the algorithm, numbers come out in one order.
        args = [] if axis is None else [axis]
        result = self.bind("result", self.numpy("sort", a, *args))
        self.store(a, grammar.constant(Ellipsis), result)

    def ufunc_at(self, ufunc, a, indices, b):
        if ufunc not in AT or not grammar.is_name(a):
            return False
        target = gast.Subscript(a, self.index(indices), gast.Store())
        func = self.at.value.func
        made = grammar.Scatter(target, AT[ufunc](), self.array(b), func)
        self.add(gast.copy_location(made, self.at))

    # -- pieces --------------------------------------------------------------------
    def add(self, stmt: gast.AST) -> None:
        self.out.append(grammar.located(stmt, self.at))

    def bind(self, base: str, value: gast.AST) -> gast.AST:
        """The name of a temporary that holds `value`."""
        made = self.names.fresh(base)
        self.temporary.add(made)
        self.bound[made] = [value]
        self.add(grammar.assign(made, grammar.clone(value)))
        return grammar.name(made)

    def store(self, target: gast.AST, index: gast.AST, value: gast.AST) -> None:
        """``target[index] = value``."""
        place = gast.Subscript(
            grammar.clone(target), grammar.clone(index), gast.Store()
        )
        self.add(grammar.assign(place, grammar.clone(value)))

    def numpy(self, function: str, *args: gast.AST, **keywords: gast.AST) -> gast.AST:
        return grammar.call(
            f"{self.use('module', 'numpy')}.{function}", *args, **keywords
        )

    def array(self, value: gast.AST) -> gast.AST:
        """An atom: an array in place of a list of atoms."""
        if isinstance(value, (gast.List, gast.Tuple)):
            return self.bind("array", self.numpy("array", value))
        return value

    def resized(self, value: gast.AST, shape: gast.AST) -> gast.AST:
        """As many values as there are places, again and again."""
        return self.bind("values", self.numpy("resize", self.array(value), shape))

    def flattened(self, a: gast.AST) -> gast.AST:
        """``a.reshape(-1)``."""
        func = gast.Attribute(grammar.clone(a), "reshape", gast.Load())
        return gast.Call(func, [grammar.expression("-1")], [])

    def index(self, value: gast.AST) -> gast.AST:
        """An index that was an argument: ``slice(1, n)`` is ``1:n``."""
        if isinstance(value, gast.Tuple):
            return gast.Tuple([self.index(e) for e in value.elts], gast.Load())
        if isinstance(value, gast.Name) and value.id in self.temporary:
            made = self.bound.get(value.id, [None])[0]
            if isinstance(made, gast.Call) and self.classify(made).callee is slice:
                parts = made.args if len(made.args) > 1 else [None, *made.args]
                parts = [None if getattr(p, "value", 0) is None else p for p in parts]
                return gast.Slice(*[grammar.clone(p) for p in [*parts, None][:3]])
        return value

    def mask(self, value: gast.AST) -> gast.AST:
        """An index that selects; of integers, one would count."""
        values = self.bound.get(value.id, ()) if isinstance(value, gast.Name) else ()
        if values and all(is_mask(v, self.classify(v)) for v in values):
            return value
        dtype = grammar.name(self.use("builtin", "bool"))
        return self.bind("mask", self.numpy("asarray", value, dtype=dtype))


FORMS = {
    np.copyto: _Forms.copyto,
    np.put: _Forms.put,
    np.place: _Forms.place,
    np.putmask: _Forms.putmask,
    np.put_along_axis: _Forms.put_along_axis,
    np.fill_diagonal: _Forms.fill_diagonal,
}
METHODS = {"fill": _Forms.fill, "sort": _Forms.sort, "put": _Forms.put}


def takes_arrays(callee: object) -> bool:
    """Whether a function of NumPy's takes a list only for the array that it makes."""
    module = getattr(callee, "__module__", None) or ""
    dispatched = isinstance(callee, (np.ufunc, *DISPATCHED))
    return (dispatched or module.startswith("numpy")) and not (
        _hashable(callee) and callee in templates.JOINING
    )


def _hashable(callee: object) -> bool:
    return hashable(callee)
