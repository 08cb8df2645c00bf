"""A name that is used for one thing and then for another, as two names.

::

    acc = [x, y]                      acc = [x, y]
    s = acc[0]                        s = acc[0]
    acc = s * s           ──►         acc_2 = s * s
    z = acc + 1.0                     z = acc_2 + 1.0

What holds a container, or refers to an array that is written in place, is told by name
in the stages that follow.  The uses of a name that no binding has in common are its
lives; a name keeps its first.  Names that hold numbers and fresh arrays have no need of
that, and stay.
"""

from __future__ import annotations

import gast

from sct import grammar
from sct.analysis import dataflow
from sct.arguments import parameter_names
from sct.names import Names, used_names
from sct.renaming import FUNCTIONS, Captured, rename

# What makes a container: displays, and calls by these names.
CONTAINERS = ("list", "dict", "tuple")
DISPLAYS = (gast.List, gast.Tuple, gast.Dict, gast.ListComp, gast.DictComp)
# What may refer to an array that has a name already.
PARTS = (gast.Name, gast.Subscript, gast.Attribute)
# What binds names unseen.
UNSEEN = (grammar.Probe, *grammar.WAYS)
GIVEN = "given"
# A binding: the statement, or `GIVEN`, and the name.
Binding = tuple[object, str]


def one_life_each(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Give each life of a name a name of its own, where it matters.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.
    """
    several = _several(fn)
    if not several:
        return fn
    lives = _Lives(fn, several)
    names = Names(used_names(fn))
    called: dict[Binding, str] = {}
    taken: set[str] = set()
    for binding in lives.bindings:
        life = lives.of(binding)
        if life not in called:
            old = binding[1]
            called[life] = names.fresh(old) if old in taken else old
            taken.add(old)
    if all(new == old for (_, old), new in called.items()):
        return fn
    tree = grammar.clone(fn)
    try:
        both = zip(
            grammar.statements(fn.body), grammar.statements(tree.body), strict=True
        )
        for stmt, new in both:
            _rename(stmt, new, lives, called)
    except Captured:
        return fn
    return tree


def _several(fn: gast.FunctionDef) -> set[str]:
    """The names that are bound more than once and for which it may matter.

    They hold containers, or are second names of arrays that are written into, or have
    second names that are written through.
    """
    count = dict.fromkeys(parameter_names(fn), 1)
    for stmt in grammar.statements(fn.body):
        for n in grammar.writes(stmt):
            count[n] = count.get(n, 0) + 1
    again = {n for n, c in count.items() if c > 1} - grammar.outer_names(fn.body)
    if not again:
        return again
    held: set[str] = set()
    parts: set[str] = set()
    changed: set[str] = set()
    shares: list[set[str]] = []
    for stmt in grammar.statements(fn.body):
        changed.update(grammar.mutates(stmt))
        if isinstance(stmt, gast.AugAssign):
            changed.update(grammar.writes(stmt))
        if not isinstance(stmt, gast.Assign):
            continue
        if _makes_container(stmt.value) or _converts(stmt):
            held.update(grammar.writes(stmt))
        elif isinstance(stmt.value, PARTS):
            parts.update(grammar.writes(stmt))
            shares.append({*grammar.writes(stmt), grammar.root(stmt.value)})
    groups = [g for g in _joined(shares) if g & (held | changed)]
    through = [g for g in groups if g & parts & changed]
    found = again & held.union(parts.intersection(set().union(*groups)), *through)
    return found - _hidden(fn) if found else found


def _makes_container(value: gast.AST) -> bool:
    if isinstance(value, gast.Call):
        return grammar.is_name(value.func) and value.func.id in CONTAINERS
    return isinstance(value, DISPLAYS)


def _converts(stmt: gast.Assign) -> bool:
    """Whether a statement is ``x = np.array(x)``, which may make another of a list."""
    value = stmt.value
    if not isinstance(value, gast.Call) or len(value.args) != 1:
        return False
    word = getattr(value.func, "attr", "") or getattr(value.func, "id", "")
    given = [a.id for a in value.args if grammar.is_name(a)]
    same = given == grammar.writes(stmt)
    return same and word in ("array", "asarray")


def _hidden(fn: gast.FunctionDef) -> set[str]:
    """The names that are read later than where they stand, or bound unseen."""
    hidden: set[str] = set()
    for stmt in grammar.statements(fn.body):
        for node in (n for head in grammar.heads(stmt) for n in grammar.nodes(head)):
            if isinstance(node, (*FUNCTIONS, gast.GeneratorExp)):
                hidden |= grammar.names_read(node)
            elif isinstance(node, UNSEEN):
                hidden |= {m.id for m in grammar.nodes(node) if grammar.is_name(m)}
    return hidden


def _joined(groups: list[set[str]]) -> list[set[str]]:
    """Groups that have nothing in common, from groups that may."""
    of: dict[str, set[str]] = {}
    for group in groups:
        found = {id(of[n]): of[n] for n in group if n in of}
        whole, *rest = sorted([group, *found.values()], key=len, reverse=True)
        whole.update(*rest)
        of.update(dict.fromkeys([n for g in (group, *rest) for n in g], whole))
    return list({id(g): g for g in of.values()}.values())


class _Lives:
    """Which bindings of a name have a use in common.

    Attributes
    ----------
    bindings : list of pairs
        All bindings of the names, in order of the text.
    """

    def __init__(self, fn: gast.FunctionDef, names: set[str]):
        self.names = names
        given = [(GIVEN, p) for p in parameter_names(fn) if p in names]
        self.bindings: list[Binding] = list(given)
        self._parent: dict[Binding, Binding] = {}
        self._read: dict[object, dict[str, Binding]] = {}
        for stmt in grammar.statements(fn.body):
            for n in grammar.writes(stmt):
                if n in names:
                    self.bindings.append((stmt, n))
        start = {b[1]: frozenset([b]) for b in given}
        dataflow.Forward(self._across, _either).run(fn.body, start)

    def of(self, binding: Binding) -> Binding:
        """The life of a binding, which is known by one of its bindings."""
        while binding in self._parent:
            binding = self._parent[binding]
        return binding

    def read_by(self, stmt: gast.AST) -> list[tuple[str, Binding]]:
        """The names that a statement reads, with their lives."""
        return [(n, self.of(b)) for n, b in self._read.get(stmt, {}).items()]

    def _across(self, stmt: gast.AST, state: dict[str, frozenset[Binding]]) -> None:
        read = self._read.setdefault(stmt, {})
        for n in grammar.reads(stmt) & self.names:
            for b in state.get(n, ()):
                self._join(read.setdefault(n, b), b)
        for n in grammar.writes(stmt):
            if n not in self.names:
                continue
            new = (stmt, n)
            if isinstance(stmt, gast.AugAssign):
                for b in state.get(n, ()):
                    self._join(b, new)
            state[n] = frozenset([new])

    def _join(self, a: Binding, b: Binding) -> None:
        a, b = self.of(a), self.of(b)
        if a != b:
            self._parent[b] = a


def _either(a: dict, b: dict) -> dict:
    return {n: a.get(n, frozenset()) | b.get(n, frozenset()) for n in a | b}


def _rename(
    stmt: gast.AST, new: gast.AST, lives: _Lives, called: dict[Binding, str]
) -> None:
    """Give the names in a statement those of their lives; `new` is its copy."""
    read = {n: called[life] for n, life in lives.read_by(stmt)}
    bound = {
        n: called[lives.of((stmt, n))] for n in grammar.writes(stmt) if n in lives.names
    }
    targets = getattr(new, "targets", None) or [getattr(new, "target", None)]
    if isinstance(new, gast.With):
        targets = [i.optional_vars for i in new.items]
    stores = [
        (m, m.id)
        for t in targets
        if t is not None
        for m in grammar.nodes(t)
        if isinstance(m, gast.Name) and isinstance(m.ctx, gast.Store)
    ]
    rename(grammar.heads(new), read)
    for node, old in stores:
        node.id = bound.get(old, old)
