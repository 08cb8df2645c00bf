"""The last touches to emitted code: how a person would have typed it.

::

    x_bar = x_bar + e                 x_bar += e
    if s > limit:                     if s > limit:
        returned = True                   returned = True
        break                  ──►        break
    else:                             p = 0.5 * p
        p = 0.5 * p
    prod_7_bar = 2.0 * x_bar          prod_bar = 2.0 * x_bar
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container

import gast

from sct import grammar
from sct.analysis import dataflow
from sct.hoist import negated
from sct.names import RESERVED
from sct.optimize import Facts

LEAVING = (gast.Break, gast.Raise, gast.Return, gast.Continue)


def polish(
    fn: gast.FunctionDef,
    facts: Facts,
    wide: set[str],
    settled: set[str],
    augmented: set,
    summed: set,
    structured: set[str],
) -> gast.FunctionDef:
    """Rewrite the statements of a derivative as a person would type them.

    Parameters
    ----------
    fn : gast.FunctionDef
        The optimised derivative; it is left alone.
    facts : Facts
        What is known of its names and calls.
    wide : set of str
        The adjoints that have the whole shape of their primal when they are added to.
    settled : set of str
        The names that stay as they are.
    augmented : set of (str, int)
        Name and line of the user's statements that were written ``x += e``.
    summed : set of (str, int)
        Those among them, and their tangents, that may be so again where nobody else
        sees the array.
    structured : set of str
        The adjoints of containers and objects.

    Returns
    -------
    gast.FunctionDef
    """
    fn = grammar.clone(fn)
    before = _first_seen(fn)
    fn, called = renamed(fn, facts, settled)
    # What was said of a name holds for its new one if it does for all that share it.
    narrow = {called.get(n, n) for n in before if n not in wide}
    wide = {called.get(n, n) for n in wide.intersection(before)} - narrow
    summed = {(called.get(n, n), line) for n, line in summed}
    structured = {called.get(n, n) for n in structured.intersection(before)}
    alone = _owned(fn, facts, wide | {n for n, _ in summed})
    owned = alone & wide
    numbers = facts.scalar - _lent(fn)
    own = numbers & facts.temporary | owned

    def added(stmt: gast.AST) -> bool:
        name = stmt.targets[0].id
        place = name, stmt.lineno
        as_written = name in numbers and place in augmented
        return name in own or as_written or name in alone and place in summed

    fn.body = _block(fn.body, added)
    return _unshared(fn, facts, structured)


def _attribute_set(stmt: gast.AST) -> gast.AST:
    """``m.calls = v`` for ``setattr(m, "calls", v)``."""
    call = stmt.value if isinstance(stmt, gast.Expr) else None
    if not isinstance(call, gast.Call) or not grammar.is_name(call.func, "setattr"):
        return stmt
    owner, attr, value = call.args
    if not isinstance(attr, gast.Constant) or not str(attr.value).isidentifier():
        return stmt
    target = gast.Attribute(owner, attr.value, gast.Store())
    return gast.copy_location(gast.Assign([target], value, None), stmt)


def _block(
    body: list[gast.AST], in_place: Callable[[gast.AST], bool]
) -> list[gast.AST]:
    out: list[gast.AST] = []
    for stmt in body:
        for field in grammar.BLOCKS:
            if getattr(stmt, field, None) and not isinstance(stmt, gast.FunctionDef):
                setattr(stmt, field, _block(getattr(stmt, field), in_place))
        if _keeps_itself(stmt):
            continue
        if isinstance(stmt, gast.If) and stmt.orelse and _is_empty(stmt.body):
            stmt.test, stmt.body = negated(stmt.test), stmt.orelse
            stmt.orelse = []
        elif isinstance(stmt, grammar.COMPOUND) and _is_empty(stmt.body):
            stmt.body = [gast.Pass()]
        out.append(_attribute_set(_added(stmt, in_place)))
        if isinstance(stmt, gast.For) and _retraces(stmt):
            stmt.target = grammar.name("_", store=True)
        # What follows an arm that leaves needs no `else`.
        if isinstance(stmt, gast.If) and stmt.orelse and _leaves(stmt.body):
            out += stmt.orelse
            stmt.orelse = []
    return out


def _is_empty(body: list[gast.AST]) -> bool:
    return all(isinstance(s, (gast.Pass, grammar.Comment)) for s in body)


def _keeps_itself(stmt: gast.AST) -> bool:
    """Whether a statement is ``x = x``: two names of one value that became one."""
    return (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.value, gast.Name)
        and grammar.is_name(stmt.targets[0], stmt.value.id)
    )


def _retraces(loop: gast.For) -> bool:
    """Whether a reversed loop does not read its counter."""
    counter = loop.target.id
    reversed_ = isinstance(loop.iter, gast.Call) and grammar.is_name(
        loop.iter.func, "reversed"
    )
    return reversed_ and not any(
        counter in grammar.reads(s) for s in grammar.statements(loop.body)
    )


def _leaves(body: list[gast.AST]) -> bool:
    return bool(body) and isinstance(body[-1], LEAVING)


def _added(stmt: gast.AST, in_place: Callable[[gast.AST], bool]) -> gast.AST:
    """``x += e`` for ``x = x + e``."""
    if not (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.targets[0], gast.Name)
        and isinstance(stmt.value, gast.BinOp)
    ):
        return stmt
    name = stmt.targets[0].id
    if not in_place(stmt):
        return stmt
    if not isinstance(stmt.value.op, (gast.Add, gast.Sub)):
        if grammar.is_name(stmt.value.left, name) and name not in grammar.names_read(
            stmt.value.right
        ):
            op, value = stmt.value.op, stmt.value.right
            return grammar.located(gast.AugAssign(stmt.targets[0], op, value), stmt)
        return stmt
    first, rest = _first_term(stmt.value)
    if not grammar.is_name(first, name) or name in grammar.names_read(rest[0][1]):
        return stmt
    if any(name in grammar.names_read(e) for _, e in rest):
        return stmt
    op, value = rest[0]
    if isinstance(op, gast.Sub) and len(rest) > 1:
        return stmt
    for more, e in rest[1:]:
        value = gast.BinOp(value, more, e)
    return grammar.located(gast.AugAssign(stmt.targets[0], op, value), stmt)


def _first_term(node: gast.AST) -> tuple[gast.AST, list[tuple[gast.AST, gast.AST]]]:
    """A sum as its first term and the signed others."""
    rest: list[tuple[gast.AST, gast.AST]] = []
    while isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Add, gast.Sub)):
        rest.append((node.op, node.right))
        node = node.left
    return node, rest[::-1]


def _lent(fn: gast.FunctionDef) -> set[str]:
    """The names that may hold an argument itself, which may be an array of rank 0."""
    a = fn.args
    parameters = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    lent = {p.id for p in parameters if p is not None}
    receivers: dict[str, list[str]] = {}
    for s in grammar.statements(fn.body):
        if isinstance(s, gast.Assign) and isinstance(
            s.value, (gast.Name, gast.Subscript, gast.Call, gast.Tuple)
        ):
            for n in _hands_on(s.value):
                receivers.setdefault(n, []).extend(grammar.writes(s))
    pending = list(lent)
    while pending:
        more = set(receivers.get(pending.pop(), ())) - lent
        lent |= more
        pending += more
    return lent


def _hands_on(value: gast.AST) -> set[str]:
    """The names whose objects an expression may give back."""
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute):
        # `x_stack.pop()` gives back what was put there.
        return {grammar.root(value.func).removesuffix("_stack")}
    return grammar.names_read(value)


def _owned(fn: gast.FunctionDef, facts: Facts, wide: set[str]) -> set[str]:
    """The adjoints that hold arrays which this function made, and nobody else sees."""
    made: dict[str, bool] = {}
    for stmt in grammar.statements(fn.body):
        if isinstance(stmt, gast.Assign) and isinstance(stmt.targets[0], gast.Name):
            name = stmt.targets[0].id
            if name in wide:
                made[name] = made.get(name, True) and _is_new(stmt.value, facts)
        else:
            for name in grammar.writes(stmt):
                made[name] = False
    owned = {n for n, new in made.items() if new and n in wide}
    return owned - _seen(fn, owned, facts) if owned else owned


def _is_new(value: gast.AST, facts: Facts) -> bool:
    if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Constant)):
        return True
    return isinstance(value, gast.Call) and facts.fresh(value)


def _seen(fn: gast.FunctionDef, names: set[str], facts: Facts) -> set[str]:
    """Those of `names` whose array something else may come to refer to."""
    seen: set[str] = set()
    for stmt in grammar.statements(fn.body):
        if isinstance(stmt, gast.Return):
            continue
        stack = [(h, False) for h in grammar.heads(stmt)]
        while stack:
            node, safe = stack.pop()
            if isinstance(node, gast.Name):
                if node.id in names and not safe:
                    seen.add(node.id)
                continue
            inner = isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare)) or (
                isinstance(node, gast.Call) and facts.fresh(node)
            )
            own_store = isinstance(node, gast.Subscript) and isinstance(
                node.ctx, gast.Store
            )
            for child in grammar.children(node):
                stack.append((child, inner or own_store))
    return seen


def _unshared(
    fn: gast.FunctionDef, facts: Facts, structured: Container[str]
) -> gast.FunctionDef:
    """Give every returned adjoint an array of its own; the function is changed.

    Those that are `structured`, of containers and objects, stay as they are.

    ::

        x_bar = out_bar                x_bar = out_bar
        y_bar = out_bar         ──►    y_bar = out_bar
        return x_bar, y_bar            # Arrays of their own.
                                       x_bar, y_bar = +x_bar, +y_bar
                                       return x_bar, y_bar
    """
    if not fn.body or not isinstance(fn.body[-1], gast.Return):
        return fn
    returned = [
        n
        for n in _names_in_order(fn.body[-1].value)
        if n in facts.temporary
        and n not in facts.scalar
        and n not in structured
        and n.rstrip("_0123456789").endswith("_bar")
    ]
    values: dict[str, list[gast.AST | None]] = {}
    for stmt in grammar.statements(fn.body):
        if isinstance(stmt, gast.Assign):
            single = isinstance(stmt.targets[0], gast.Name)
            for n in grammar.writes(stmt):
                values.setdefault(n, []).append(stmt.value if single else None)
    seen: set[str] = {
        n for n in grammar.names_read(fn.body[-1].value) if n not in returned
    }
    shared = []
    for name in dict.fromkeys(returned):
        roots = _roots(name, values, facts)
        if roots & seen or any(r not in values for r in roots):
            shared.append(name)
        seen |= roots
    if shared:
        copies = [
            grammar.assign(n, gast.UnaryOp(gast.UAdd(), grammar.name(n)))
            for n in shared
        ]
        said = "An array of its own." if len(shared) == 1 else "Arrays of their own."
        fn.body[-1:-1] = [grammar.Comment(said), *copies]
    return fn


def _names_in_order(node: gast.AST) -> list[str]:
    if isinstance(node, gast.Tuple):
        return [n for e in node.elts for n in _names_in_order(e)]
    return [node.id] if isinstance(node, gast.Name) else []


def _roots(name: str, values: dict, facts: Facts) -> set[str]:
    """The names whose arrays a name may refer to."""
    found: set[str] = set()
    seen: set[str] = set()
    pending = [name]
    while pending:
        n = pending.pop()
        if n in seen:
            continue
        seen.add(n)
        given = values.get(n)
        if given is None:
            found.add(n)
            continue
        for value in given:
            sources = _handed_on(value, facts)
            if sources:
                pending += sources
            else:
                found.add(n)
    return found


def _handed_on(value: gast.AST | None, facts: Facts) -> list[str]:
    """The names whose arrays the value of an expression may be, or see into."""
    if isinstance(value, gast.Name):
        return [value.id]
    if isinstance(value, (gast.Subscript, gast.Attribute)):
        return [grammar.root(value)] if grammar.root(value) else []
    if isinstance(value, gast.Call) and not facts.fresh(value) and value.args:
        first = value.args[0]
        owner = value.func.value if isinstance(value.func, gast.Attribute) else None
        names = _handed_on(first, facts)
        if isinstance(owner, (gast.Name, gast.Subscript)):
            names += _handed_on(owner, facts)
        return [n for n in names if n]
    return []


def early_returns(fn: gast.FunctionDef) -> gast.FunctionDef:
    """Return from the arms of a last ``if`` rather than behind it.

    ::

        if n == 0:                     if n == 0:
            out = 1.0                      return 1.0
        else:                  ──►     out = x * r
            out = x * r                return out
        return out
    """
    if len(fn.body) < 2 or not isinstance(fn.body[-1], gast.Return):
        return fn
    last, branch = fn.body[-1], fn.body[-2]
    if not isinstance(branch, gast.If) or not branch.orelse:
        return fn
    for arm in (branch.body, branch.orelse):
        arm.append(gast.Return(grammar.clone(last.value)))
        fold_return(arm)
    fn.body = [*fn.body[:-2], branch, *branch.orelse]
    branch.orelse = []
    return fn


def fold_return(arm: list[gast.AST]) -> None:
    """Return the value of the last assignment instead of its name."""
    if len(arm) < 2 or not isinstance(arm[-2], gast.Assign):
        return
    target, returned = arm[-2].targets[0], arm[-1]
    if not isinstance(target, gast.Name):
        return
    found = [n for n in gast.walk(returned.value) if grammar.is_name(n, target.id)]
    if len(found) != 1:
        return
    value = arm[-2].value
    if returned.value is found[0]:
        returned.value = value
    elif isinstance(returned.value, gast.Tuple) and found[0] in returned.value.elts:
        # Evaluated first either way: only names stand beside it.
        at = returned.value.elts.index(found[0])
        steady = (gast.Name, gast.Tuple, gast.Constant)
        if not all(isinstance(e, steady) for e in returned.value.elts):
            return
        returned.value.elts[at] = value
    else:
        return
    del arm[-2]


SUFFIX = re.compile(r"_\d+(?=_|$)")


def renamed(
    fn: gast.FunctionDef, facts: Facts, settled: set[str]
) -> tuple[gast.FunctionDef, dict[str, str]]:
    """Give names made by sct the smallest suffix that is free, or none.

    Two of them may share one name when neither is alive where the other is written.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function; it is changed.
    facts : Facts
        Says which names sct made; told of the new ones.
    settled : set of str
        Names that stay, such as the adjoints of the user's variables.

    Returns
    -------
    gast.FunctionDef
    dict of str to str
        Old name → new one, of those that have one.
    """
    order = _first_seen(fn)
    stems: dict[str, int] = {}
    for n in order:
        stem = _stem(n)
        stems[stem] = stems.get(stem, 0) + 1
    loose = facts.temporary - settled
    movable = [
        n for n in order if n in loose and (SUFFIX.search(n) or stems[_stem(n)] > 1)
    ]
    if not movable:
        return fn, {}
    clashes = _clashes(fn, set(movable) | set(order) & facts.temporary)
    fixed = set(order) - set(movable)
    foreign = fixed - facts.temporary
    given: dict[str, str] = {}
    for name in movable:
        stem = _stem(name)
        clashing = {given.get(n, n) for n in clashes[name]}
        n = 1
        while True:
            wish = stem if n == 1 else f"{stem}_{n}"
            if wish in RESERVED:
                wish += "_"
            free = wish not in clashing and wish not in foreign
            if free and (wish not in fixed or wish not in settled):
                break
            n += 1
        given[name] = wish
    for node in grammar.nodes(fn):
        if isinstance(node, gast.Name):
            node.id = given.get(node.id, node.id)
    facts.temporary.update(given.values())
    meant: dict[str, list[str]] = {new: [] for new in given.values()}
    for n in order:
        if given.get(n, n) in meant:
            meant[given.get(n, n)].append(n)
    for new, olds in meant.items():
        (facts.scalar.update if facts.scalar.issuperset(olds) else _discard(facts))(
            {new}
        )
    return fn, given


def _stem(name: str) -> str:
    """A name without its number; one of underscores alone stays."""
    return SUFFIX.sub("", name).rstrip("_") or name


def _discard(facts: Facts):
    return facts.scalar.difference_update


def _first_seen(fn: gast.FunctionDef) -> dict[str, None]:
    """The names of a function in the order of the text."""
    seen: dict[str, None] = {}
    for stmt in grammar.statements(fn.body):
        for n in sorted(grammar.reads(stmt)) + grammar.writes(stmt):
            seen.setdefault(n)
    a = fn.args
    for p in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]:
        if p is not None:
            seen.setdefault(p.id)
    return seen


def _clashes(fn: gast.FunctionDef, names: set[str]) -> dict[str, set[str]]:
    """For each name, those of the same stem that are alive where it is written."""
    stems = {n: _stem(n) for n in names}
    clashes: dict[str, set[str]] = {n: set() for n in names}
    peers: dict[str, set[str]] = {}
    for n, stem in stems.items():
        peers.setdefault(stem, set()).add(n)

    def transfer(stmt: gast.AST, live: set[str]) -> None:
        for n in grammar.writes(stmt):
            if n in stems:
                others = (peers[stems[n]] & live) - {n}
                clashes[n] |= others
                for m in others:
                    clashes[m].add(n)
        live.difference_update(grammar.writes(stmt))
        live.update(n for n in grammar.reads(stmt) if n in stems)

    dataflow.Backward(transfer).run(fn.body, set())
    return clashes
