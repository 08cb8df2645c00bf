"""Names that hold a tuple, list or dict of a known form, and are never seen whole.

::

    t = (x, y)                      t: a tuple with the keys 0, 1
    u = t[0] * t[-1] + len(t)

    d = {"a": x}                    nothing: a function may keep or change it
    f(d)

    d = {**c, "a": x}               d: a dict with the key "a", and others
    u = d["a"]

A container counts as known when every value that its name is given has the same form,
and every use of the name reads or replaces elements that it has.  One that is changed
has no other name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

import gast

from .grammar import blocks, children, is_name, places, reads, statements, writes
from .renaming import captured_names

DISPLAYS = (gast.Tuple, gast.List)
SPREADS = (gast.Starred, gast.keyword)


@dataclass
class Container:
    """What is known of a name that holds a container.

    Attributes
    ----------
    kind : type
        Which display makes it.
    keys : list
        Its keys or indices, those of a dict that follow what is spread into it.
    names : tuple of str
        What its items are called, when they have names of their own.
    more : bool
        Whether it may have other items as well.
    stores : list of gast.Assign
        The statements that bind the name.
    changed : list of gast.Subscript
        The places in it that are written to.
    added : list of gast.Subscript
        Those of them to which something is added by ``l[0] += e``.
    """

    kind: type
    keys: list
    names: tuple = ()
    more: bool = False
    stores: list[gast.Assign] = field(default_factory=list)
    changed: list[gast.Subscript] = field(default_factory=list)
    added: list[gast.Subscript] = field(default_factory=list)

    @property
    def form(self) -> tuple[type, list, tuple, bool]:
        """What all values of one name must have in common."""
        return self.kind, self.keys, self.names, self.more


@dataclass(frozen=True)
class _Use:
    """One place where a name is read: the node, and those around it, inmost first."""

    node: gast.Name
    around: tuple[gast.AST, ...]


def containers(fn: gast.FunctionDef, around, moving: frozenset[str] = frozenset()):
    """The names that hold containers of a known form, never seen as a whole.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF.
    around : Surroundings
        What is known of the world around it.
    moving : frozenset of str
        The names that count as known keys of lists: counters of loops to be unrolled.

    Returns
    -------
    dict of str to Container
    """
    found = _candidates(fn, around)
    if not found:
        return {}
    for s in statements(fn.body):
        for place in places(s):
            if is_name(place.value) and place.value.id in found:
                found[place.value.id].changed.append(place)
                if isinstance(s, gast.AugAssign):
                    found[place.value.id].added.append(place)
    uses: dict[str, list[_Use]] = {n: [] for n in found}
    for use in _uses(fn, found.keys()):
        uses[use.node.id].append(use)
    copies: dict[str, set[str]] = {}
    for n, c in found.items():
        for s in c.stores:
            if isinstance(s.value, gast.Name):
                copies.setdefault(n, set()).add(s.value.id)
                copies.setdefault(s.value.id, set()).add(n)
    for n, c in list(found.items()):
        others = [u for u in uses[n] if _copied_to(u) not in copies.get(n, ())]
        single = not (c.changed and n in copies or _adds_to_named(fn, c))
        if not (single and all(_is_known(u, c, around, moving) for u in others)):
            found.pop(n)
    for n in list(found):
        if found[n].changed:
            continue
        if all(_is_constant(s.value) for s in found[n].stores):
            # Nothing is differentiated through it: it can stay, unless it is spread.
            if not any(isinstance(u.around[0], SPREADS) for u in uses[n]):
                found.pop(n)
    # A copy of what stays whole stays whole.
    whole = [n for n in copies if n not in found]
    while whole:
        for other in copies.get(whole.pop(), ()):
            if found.pop(other, None):
                whole.append(other)
    return found


def _candidates(fn: gast.FunctionDef, around) -> dict[str, Container]:
    found: dict[str, Container] = {}
    refused = captured_names(fn.body)
    for p in [*fn.args.posonlyargs, *fn.args.args, *fn.args.kwonlyargs]:
        refused.add(p.id)
    refused |= {p.id for p in (fn.args.vararg, fn.args.kwarg) if p}
    copies: list[gast.Assign] = []
    for s in statements(fn.body):
        plain = isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name)
        form = _form(s.value, around) if plain else None
        for n in writes(s):
            if plain and isinstance(s.value, gast.Name):
                copies.append(s)
            elif form is None or (n in found and found[n].form != form):
                refused.add(n)
            else:
                found.setdefault(n, Container(*form)).stores.append(s)
    for s in copies:
        n, source = s.targets[0].id, s.value.id
        if source not in found or n in refused:
            refused.add(n)
            continue
        form = found[source].form
        if n in found and found[n].form != form:
            refused.add(n)
        else:
            found.setdefault(n, Container(*form)).stores.append(s)
    return {n: c for n, c in found.items() if n not in refused}


def _adds_to_named(fn: gast.FunctionDef, c: Container) -> bool:
    """Whether ``l[0] += e`` adds to what has a name besides.

    Of an array that is a change under both names, of a number it is none; for items
    of lists that is decided when it runs.
    """
    if not c.added:
        return False
    keys = [key_of(place.slice, c) for place in c.added]
    if None in keys:
        return True
    held = {
        values[c.keys.index(k)].id
        for s in c.stores
        if (values := values_of(s.value)) is not None
        for k in keys
        if isinstance(values[c.keys.index(k)], gast.Name)
    }
    readers = [n for s in statements(fn.body) for n in reads(s) & held]
    return len(readers) > len({*readers})


def _form(value: gast.AST, around) -> tuple[type, list, tuple, bool] | None:
    """Kind, keys and names of the items of a container of a known form."""
    if isinstance(value, DISPLAYS):
        if any(isinstance(v, gast.Starred) for v in value.elts):
            return None
        return type(value), list(range(len(value.elts))), (), False
    if isinstance(value, gast.Dict):
        given = value.keys[_after_spread(value) :]
        more = len(given) < len(value.keys)
        if more and not all(isinstance(v, gast.Name) for v in value.values):
            return None
        keys = [k.value if isinstance(k, gast.Constant) else None for k in given]
        if all(isinstance(k, str) and k.isidentifier() for k in keys):
            alike = len(set(keys)) < len(keys)
            return None if alike else (gast.Dict, keys, (), more)
    if isinstance(value, gast.Call):
        values = around.values(value)
        if values is not None:
            keys = list(range(len(values)))
            return gast.Tuple, keys, () if values == tuple(keys) else values, False
    return None


def _after_spread(value: gast.Dict) -> int:
    """How many items of a display come before those that nothing can replace."""
    spread = [k + 1 for k, key in enumerate(value.keys) if key is None]
    return max(spread, default=0)


def _is_constant(value: gast.AST) -> bool:
    parts = values_of(value)
    return parts is not None and not any(isinstance(v, gast.Name) for v in parts)


def _uses(fn: gast.FunctionDef, names: Collection[str]) -> Iterator[_Use]:
    """Where a function reads some names, with the nodes around them."""
    for s in statements(fn.body):
        inside = {t for b in blocks(s) for t in b}
        stack = [(c, (s,)) for c in children(s) if c not in inside]
        while stack:
            node, around = stack.pop()
            if isinstance(node, gast.Name):
                if node.id in names and isinstance(node.ctx, gast.Load):
                    yield _Use(node, around)
                continue
            # Three nodes say how a name is used.
            stack += [(c, (node, *around[:2])) for c in children(node)]


def _copied_to(use: _Use) -> str | None:
    s = use.around[0]
    if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
        return s.targets[0].id if s.value is use.node else None
    return None


def _is_known(use: _Use, c: Container, around, moving: frozenset[str]) -> bool:
    """Whether a use reads or replaces known elements only."""
    node, parent = use.node, use.around[0]
    sequence = c.kind in DISPLAYS
    if isinstance(parent, gast.Subscript) and parent.value is node:
        if not isinstance(parent.ctx, gast.Load):
            known = key_of(parent.slice, c) is not None and not c.more
            return known and c.kind is not gast.Tuple and parent in c.changed
        if sequence and isinstance(parent.slice, gast.Name):
            return parent.slice.id in moving
        return key_of(parent.slice, c) is not None
    if c.more:
        return False
    if isinstance(parent, gast.Call) and node in parent.args:
        word = None if parent.keywords else around.is_builtin(parent.func)
        if word == "len":
            return True
        if sequence and word in ("sum", "max", "min"):
            return node is parent.args[0]
        return sequence and around.takes_lists(parent.func)
    if isinstance(parent, gast.Starred):
        return sequence and isinstance(use.around[1], (gast.Call, *DISPLAYS))
    if isinstance(parent, gast.keyword) and parent.arg is None:
        return not sequence
    if isinstance(parent, gast.Attribute) and sequence:
        return parent.attr in c.names
    if isinstance(parent, gast.Attribute):
        return got(use.around[1], parent, c) is not None
    if isinstance(parent, gast.Assign):
        target = parent.targets[0]
        return sequence and isinstance(target, gast.Tuple) and _fits(target, c)
    whole = c.kind is gast.Tuple and len(c.keys) > 0 and not c.names
    return isinstance(parent, gast.Return) and whole


def _fits(target: gast.Tuple, c: Container) -> bool:
    starred = any(isinstance(t, gast.Starred) for t in target.elts)
    return (
        len(c.keys) >= len(target.elts) - 1
        if starred
        else len(c.keys) == len(target.elts)
    )


def key_of(index: gast.AST, c: Container) -> object:
    """The key that a literal index means, None when there is no such element."""
    sign = 1
    if isinstance(index, gast.UnaryOp) and isinstance(index.op, gast.USub):
        index, sign = index.operand, -1
    if not isinstance(index, gast.Constant) or isinstance(index.value, bool):
        return None
    key = index.value
    if c.kind in DISPLAYS and isinstance(key, int):
        key = sign * key
        key += len(c.keys) * (key < 0)
    return key if key in c.keys else None


def got(node: gast.AST, method: gast.Attribute, c: Container) -> tuple | None:
    """What ``d.get("a", default)`` reads: ``(key, None)`` or ``(None, default)``."""
    if (
        method.attr != "get"
        or not isinstance(node, gast.Call)
        or node.func is not method
    ):
        return None
    if node.keywords or len(node.args) not in (1, 2):
        return None
    if not isinstance(node.args[0], gast.Constant):
        return None
    key = key_of(node.args[0], c)
    default = node.args[1] if len(node.args) == 2 else gast.Constant(None, None)
    return (key, None) if key is not None else (None, default)


def values_of(value: gast.AST) -> list[gast.AST] | None:
    """The elements of a literal container."""
    if isinstance(value, DISPLAYS):
        return list(value.elts)
    if isinstance(value, gast.Dict):
        return value.values[_after_spread(value) :]
    return None
