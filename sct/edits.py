"""Methods that change a list or dict, as new lists and as stores.

::

    a = l.pop(0)                    a = l[0]
                                    l = l[1:]
    l.insert(k, v)          ->      l = [*l[:k], v, *l[k:]]
    del d["a"]                      d = {key: d[key] for key in d.keys() if key != "a"}
    v = d.get(k, 0.0)               v = 0.0
                                    if k in d:
                                        v = d[k]

A list that is put together anew is another one than before, so this is done only where
no second name can tell: the name is never copied, stored or handed to a function that
may keep it.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .grammar import (
    assign,
    blocks,
    call,
    clone,
    constant,
    is_name,
    located,
    name,
    statements,
    writes,
)
from .names import Names, used_names
from .renaming import captured_names
from .spread import lists_of
from .stacks import popped, stacks

READERS = frozenset(
    {"len", "sum", "min", "max", "sorted", "list", "tuple", "dict", "range", "zip"}
    | {"enumerate", "reversed", "set", "any", "all", "isinstance", "print"}
)
OF_LISTS = frozenset({"insert", "reverse", "sort", "clear", "pop"})


def without_edits(
    fn: gast.FunctionDef,
    is_builtin: Callable,
    only_reads: Callable,
    is_copy: Callable,
):
    """Write methods that change lists and dicts as assignments.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.
    only_reads : callable
        Whether a function only reads the lists that it is given.
    is_copy : callable
        Whether a function copies what it is given, of whatever kind that is.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do; otherwise one to be desugared and
        flattened again.
    """
    if not any(_edit(s) or _is_merged(s) for s in statements(fn.body)):
        return fn
    given, fn = fn, clone(fn)
    work = _Edits(fn, is_builtin, only_reads)
    while more := _copies(fn, work.looked_into, is_copy) - work.looked_into:
        work.looked_into |= more
    stack = [fn.body]
    changed = False
    while stack:
        body = stack.pop()
        stack += [inner for s in body for inner in blocks(s)]
        out: list[gast.AST] = []
        for s in body:
            made = work.written(s)
            changed = changed or made is not None
            out += [s] if made is None else [located(m, s) for m in made]
        body[:] = out
    return fn if changed else given


def _edit(s: gast.AST) -> tuple[str, str, list, list] | None:
    """What ``l.method(args)`` or ``del l[k]`` changes: name, method, arguments."""
    if isinstance(s, gast.Delete) and len(s.targets) == 1:
        target = s.targets[0]
        plain = isinstance(target, gast.Subscript) and is_name(target.value)
        if plain and not isinstance(target.slice, (gast.Slice, gast.Tuple)):
            return target.value.id, "del", [target.slice], []
        return None
    value = s.value if isinstance(s, (gast.Expr, gast.Assign)) else None
    func = value.func if isinstance(value, gast.Call) else None
    if not isinstance(func, gast.Attribute) or not is_name(func.value):
        return None
    if isinstance(s, gast.Assign) and not is_name(s.targets[0]):
        return None
    if func.attr in {*OF_LISTS, "get", "setdefault", "update"}:
        if not any(isinstance(a, gast.Starred) for a in value.args):
            return func.value.id, func.attr, value.args, value.keywords
    return None


def _is_merged(s: gast.AST) -> bool:
    """Whether a statement is ``t = {**d, ...}``."""
    value = s.value if isinstance(s, gast.Assign) else None
    spread = isinstance(value, gast.Dict) and None in value.keys
    return spread and is_name(s.targets[0])


class _Edits:
    def __init__(self, fn: gast.FunctionDef, is_builtin: Callable, only_reads):
        self.is_builtin, self.only_reads = is_builtin, only_reads
        self.names = Names(used_names(fn))
        a = fn.args
        self.given = {p.id for p in [*a.posonlyargs, *a.args, *a.kwonlyargs]}
        self.lists, self.dicts = lists_of(fn), _dicts_of(fn)
        self.local = self.given | {n for s in statements(fn.body) for n in writes(s)}
        self.bound = {n for s in statements(fn.body) for n in writes(s)}
        self.shared = captured_names(fn.body)
        self.stacks = stacks(fn) - self.shared
        # The names that have a method `get` only as dicts.
        self.looked_into = self.given | self.dicts
        for s in statements(fn.body):
            self.shared |= self.handed_on(s)

    def handed_on(self, s: gast.AST) -> set[str]:
        """The names that a statement may make second names of."""
        value = getattr(s, "value", None)
        if isinstance(s, gast.Return) or value is None:
            return set()
        if isinstance(value, gast.Name):
            plain = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple)
            return set() if plain else {value.id}
        if isinstance(value, gast.Call):
            if self.is_builtin(value.func) in READERS or self.only_reads(value.func):
                return set()
            given = [*value.args, *[k.value for k in value.keywords]]
            return {a.id for a in given if is_name(a)}
        if isinstance(value, (gast.Tuple, gast.List)):
            return {e.id for e in value.elts if is_name(e)}
        if isinstance(value, gast.Dict):
            return {e.id for e in value.values if is_name(e)}
        return set()

    def kind(self, n: str, method: str, args: list[gast.AST], keywords: list) -> str:
        """Whether a name holds a "list" or a "dict", as far as can be told."""
        if n in self.lists or n in self.dicts:
            return "list" if n in self.lists else "dict"
        if n not in self.given or n in self.bound:
            return ""
        if method in ("insert", "reverse") or method == "pop" and not args:
            return "list"
        if method == "sort" and {k.arg for k in keywords} & {"key", "reverse"}:
            # Without them an array may be sorted.
            return "list"
        key = args[0] if args else None
        if isinstance(key, gast.UnaryOp):
            key = key.operand
        return {int: "list", str: "dict"}.get(type(getattr(key, "value", None)), "")

    def written(self, s: gast.AST) -> list[gast.AST] | None:
        """What a statement comes to, None when it stays as it is."""
        if _is_merged(s):
            return self.merged(s.targets[0].id, s.value)
        found = _edit(s)
        if found is None or found[0] not in self.local or popped(s) in self.stacks:
            return None
        n, method, args, keywords = found
        target = s.targets[0].id if isinstance(s, gast.Assign) else None
        if target == n:
            return None
        if method in ("get", "setdefault"):
            return self.looked_up(n, method, args, keywords, target)
        if method == "update":
            return None if target else self.updated(n, args, keywords)
        kind = self.kind(n, method, args, keywords)
        if not kind or n in self.shared:
            return None
        if kind == "dict":
            return self.popped(n, method, args, keywords, target)
        return self.changed(n, method, args, keywords, target)

    def merged(self, target: str, value: gast.Dict) -> list[gast.AST] | None:
        """``t = {**d, k: v}``: a copy, and stores into it."""
        pairs = list(zip(value.keys, value.values, strict=True))
        if any(is_name(n, target) for n in gast.walk(value)):
            return None
        if not all(is_name(v) for k, v in pairs if k is None):
            return None
        made: gast.AST = gast.Dict([], [])
        if pairs[0][0] is None:
            made = call("dict", pairs.pop(0)[1])
        out: list[gast.AST] = [assign(target, made)]
        for key, v in pairs:
            if key is None:
                out += self.updated(target, [v], []) or []
            else:
                place = gast.Subscript(name(target), key, gast.Store())
                out.append(gast.Assign([place], v, None))
        return out

    def looked_up(self, d, method, args, keywords, target):
        """``d.get(k, default)`` and ``d.setdefault(k, v)``."""
        if keywords or len(args) not in (1, 2) or d not in self.looked_into:
            return None
        key = args[0]
        default = args[1] if len(args) == 2 else constant(None)
        item = gast.Subscript(name(d), clone(key), gast.Load())
        there = gast.Compare(clone(key), [gast.In()], [name(d)])
        if method == "get":
            if target is None or is_name(key, target):
                return None
            return [
                gast.If(there, [assign(target, item)], [assign(target, clone(default))])
            ]
        place = gast.Subscript(name(d), clone(key), gast.Store())
        store = gast.Assign([place], clone(default), None)
        lead: list[gast.AST] = [gast.If(gast.UnaryOp(gast.Not(), there), [store], [])]
        return lead if target is None else [*lead, assign(target, item)]

    def updated(self, d, args, keywords):
        """``d.update(other, key=value)`` as stores."""
        if len(args) > 1 or not all(k.arg for k in keywords):
            return None
        if not all(is_name(a) for a in args) or any(is_name(a, d) for a in args):
            return None
        out: list[gast.AST] = []
        for other in args:
            key = self.names.fresh("key")
            place = gast.Subscript(name(d), name(key), gast.Store())
            item = gast.Subscript(name(other.id), name(key), gast.Load())
            body = [gast.Assign([place], item, None)]
            keys = call("list", call(f"{other.id}.keys"))
            out.append(gast.For(name(key, store=True), keys, body, [], None))
        for k in keywords:
            place = gast.Subscript(name(d), constant(k.arg), gast.Store())
            out.append(gast.Assign([place], k.value, None))
        return out

    def popped(self, d, method, args, keywords, target):
        """``d.pop(k)`` and ``del d[k]``: the dict without that key."""
        if method == "clear" and not target:
            return [assign(d, gast.Dict([], []))]
        if method not in ("pop", "del") or keywords or len(args) not in (1, 2):
            return None
        gone = self.names.fresh("gone")
        key = self.names.fresh("key")
        item = gast.Subscript(name(d), name(key), gast.Load())
        other = gast.Compare(name(key), [gast.NotEq()], [name(gone)])
        keys = gast.comprehension(name(key, store=True), call(f"{d}.keys"), [other], 0)
        out: list[gast.AST] = [assign(gone, clone(args[0]))]
        value = gast.Subscript(name(d), name(gone), gast.Load())
        if target is not None and len(args) == 2:
            there = gast.Compare(name(gone), [gast.In()], [name(d)])
            arms = [assign(target, value)], [assign(target, clone(args[1]))]
            out.append(gast.If(there, *arms))
        elif target is not None:
            out.append(assign(target, value))
        return [*out, assign(d, gast.DictComp(name(key), item, [keys]))]

    def changed(self, n, method, args, keywords, target):
        """A method of a list, as the list that it leaves."""
        if method == "sort" and not args and target is None:
            made = call("sorted", name(n))
            made.keywords = keywords
            return [assign(n, made)]
        if keywords:
            return None
        if method in ("pop", "del") and len(args) < 2:
            index = args[0] if args else gast.UnaryOp(gast.USub(), constant(1))
            lead = []
            if target is not None:
                item = gast.Subscript(name(n), clone(index), gast.Load())
                lead = [assign(target, item)]
            if target is not None and is_name(index, target):
                return None
            return [*lead, *self.without(n, index)]
        if target is not None:
            return None
        if method == "insert" and len(args) == 2:
            head, tail = _slice(n, None, args[0]), _slice(n, args[0], None)
            parts = [gast.Starred(p, gast.Load()) for p in (head, tail)]
            parts.insert(1, args[1])
            return [assign(n, gast.List(parts, gast.Load()))]
        if method == "reverse" and not args:
            back = gast.Slice(None, None, gast.UnaryOp(gast.USub(), constant(1)))
            return [assign(n, gast.Subscript(name(n), back, gast.Load()))]
        if method == "clear" and not args:
            return [assign(n, gast.List([], gast.Load()))]
        return None

    def without(self, n: str, index: gast.AST) -> list[gast.AST]:
        """A list without one of its items."""
        if isinstance(index, gast.Constant) and index.value == 0:
            return [assign(n, _slice(n, constant(1), None))]
        last = (
            isinstance(index, gast.UnaryOp) and getattr(index.operand, "value", 0) == 1
        )
        if last:
            return [assign(n, _slice(n, None, clone(index)))]
        # Counted from the beginning, whatever its sign.
        at = self.names.fresh("at")
        places = call("range", call("len", name(n)))
        after = gast.BinOp(name(at), gast.Add(), constant(1))
        parts = [_slice(n, None, name(at)), _slice(n, after, None)]
        made = gast.List([gast.Starred(p, gast.Load()) for p in parts], gast.Load())
        return [
            assign(at, gast.Subscript(places, clone(index), gast.Load())),
            assign(n, made),
        ]


def _slice(n: str, low: gast.AST | None, high: gast.AST | None) -> gast.AST:
    bounds = [b if b is None else clone(b) for b in (low, high)]
    return gast.Subscript(name(n), gast.Slice(*bounds, None), gast.Load())


def _copies(fn: gast.FunctionDef, known: set[str], is_copy: Callable) -> set[str]:
    """The names that are only ever bound to copies of `known` ones."""
    found: set[str] = set()
    other: set[str] = set()
    for s in statements(fn.body):
        call = s.value if isinstance(s, gast.Assign) else None
        whole = None
        if isinstance(call, gast.Call) and getattr(call.func, "attr", "") == "copy":
            whole = call.func.value
        elif isinstance(call, gast.Call) and is_copy(call.func):
            whole = call.args[0]
        copied = is_name(whole) and whole.id in known
        (found if copied else other).update(writes(s))
    return found - other


def _dicts_of(fn: gast.FunctionDef) -> set[str]:
    """The names that hold dicts wherever they are bound."""
    found: set[str] = set()
    other: set[str] = set()
    for s in statements(fn.body):
        value = s.value if isinstance(s, gast.Assign) else None
        plain = value is not None and isinstance(s.targets[0], gast.Name)
        made = isinstance(value, (gast.Dict, gast.DictComp))
        made = made or isinstance(value, gast.Call) and is_name(value.func, "dict")
        (found if plain and made else other).update(writes(s))
    return found - other
