"""A name that is used for one thing and then for another, as two names.

::

    acc = [x, y]                      acc = [x, y]
    s = acc[0]                        s = acc[0]
    acc = s * s           ──►         acc_2 = s * s
    z = acc + 1.0                     z = acc_2 + 1.0

What holds a container, or refers to an array that is written in place, is told by name
in the stages that follow.  The uses of a name that no binding has in common are its
lives; a name keeps its first.  A path that raised a flag (``returned``) does not lead
to what is done where it is not raised.  Names that hold numbers and fresh arrays have
no need of that, and stay.
"""

from __future__ import annotations

import gast

from sct import grammar
from sct.analysis import dataflow
from sct.arguments import parameter_names
from sct.names import Names, used_names
from sct.renaming import FUNCTIONS, Captured, rename
from sct.templates import is_array_attribute

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
# What flags are known to be on the way to some place, and a binding on such a way.
Way = frozenset[tuple[str, bool]]
Arrived = tuple[Binding, Way]
# So many flags are followed: each of them may double the ways.
MOST_FLAGS = 4
# Stands for no name: the bindings that every way to a place has.
ANY = ""


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
        for head in grammar.heads(stmt):
            held.update(_read_by_word(head))
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


def _read_by_word(head: gast.AST) -> set[str]:
    """The names whose parts are read as ``p.weights`` or ``p["weights"]``."""
    found: set[str] = set()
    for n in grammar.nodes(head):
        if isinstance(n, gast.Attribute):
            word = not is_array_attribute(n.attr)
        else:
            key = n.slice if isinstance(n, gast.Subscript) else None
            word = isinstance(key, gast.Constant) and isinstance(key.value, str)
        if word:
            found.add(grammar.root(n))
    return found


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
        self._flags = _flags(fn)
        every: Binding = (GIVEN, ANY)
        start = {b[1]: frozenset([(b, Way())]) for b in [every, *given]}
        dataflow.Forward(self._across, _either, self._assume).run(fn.body, start)

    def of(self, binding: Binding) -> Binding:
        """The life of a binding, which is known by one of its bindings."""
        while binding in self._parent:
            binding = self._parent[binding]
        return binding

    def read_by(self, stmt: gast.AST) -> list[tuple[str, Binding]]:
        """The names that a statement reads, with their lives."""
        return [(n, self.of(b)) for n, b in self._read.get(stmt, {}).items()]

    def _across(self, stmt: gast.AST, state: dict[str, frozenset[Arrived]]) -> None:
        read = self._read.setdefault(stmt, {})
        for n in grammar.reads(stmt) & self.names:
            for b, _ in state.get(n, ()):
                self._join(read.setdefault(n, b), b)
        for n in grammar.writes(stmt):
            if n in self._flags:
                now = (n, stmt.value.value)
                for m, arrived in state.items():
                    state[m] = frozenset((b, _with(way, now)) for b, way in arrived)
            if n not in self.names:
                continue
            new = (stmt, n)
            if isinstance(stmt, gast.AugAssign):
                for b, _ in state.get(n, ()):
                    self._join(b, new)
            state[n] = frozenset((new, way) for _, way in state[ANY])

    def _assume(self, test: gast.AST, holds: bool, state: dict) -> None:
        """Leave out what arrives on ways where a flag is known to be otherwise."""
        if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
            test, holds = test.operand, not holds
        if not grammar.is_name(test) or test.id not in self._flags:
            return
        other = (test.id, not holds)
        for n, arrived in state.items():
            state[n] = frozenset((b, way) for b, way in arrived if other not in way)

    def _join(self, a: Binding, b: Binding) -> None:
        a, b = self.of(a), self.of(b)
        if a != b:
            self._parent[b] = a


def _flags(fn: gast.FunctionDef) -> list[str]:
    """The first names that are only ever bound to `True` and `False`."""
    flags: dict[str, bool] = dict.fromkeys(parameter_names(fn), False)
    for stmt in grammar.statements(fn.body):
        value = getattr(stmt, "value", None)
        plain = isinstance(stmt, gast.Assign) and isinstance(value, gast.Constant)
        for n in grammar.writes(stmt):
            flags[n] = flags.get(n, True) and plain and isinstance(value.value, bool)
    unseen = grammar.outer_names(fn.body) | _hidden(fn)
    return [n for n, is_flag in flags.items() if is_flag and n not in unseen][
        :MOST_FLAGS
    ]


def _with(way: Way, now: tuple[str, bool]) -> Way:
    """What is known on a way where a flag is set."""
    return way - {(now[0], not now[1])} | {now}


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
