"""Remove what no result needs, together with the comments that announced it.

    x_stack = []                            c_bar = out_bar * y
    x_stack.append(x)                 →     return c_bar
    x = x * c
    # L2: x = x * c
    x = x_stack.pop()
    x_bar = out_bar * x
    c_bar = out_bar * y
    return c_bar

Two views are joined.  By name, an accumulation that feeds only itself goes, and so
does a stack with all its pushes and pops; by flow, an assignment that is overwritten
before it is read.  Nothing with an effect goes: no impure call, assertion or raise, no
write into memory that somebody else may know.
"""

from __future__ import annotations

import gast

from sct import grammar
from sct.optimize import rebuild
from sct.optimize.effects import Effects, effects_of, root, stack_pop, stack_push
from sct.optimize.facts import Facts
from sct.optimize.liveness import Liveness, liveness

_LOOPS = (gast.For, gast.While)


def dead_code(fn: gast.FunctionDef, facts: Facts) -> tuple[bool, gast.FunctionDef]:
    """Remove statements and comments without a purpose.

    Parameters
    ----------
    fn : gast.FunctionDef
        By-name derivative code; left as it is.
    facts : Facts
        What is known of it.

    Returns
    -------
    bool
        Whether anything was removed.
    gast.FunctionDef
        The function without it.
    """
    effects = effects_of(fn, facts)
    live = liveness(fn, facts, effects)
    every = list(grammar.statements(fn.body))
    dead = live.dead | _unneeded(every, effects) | _unread_stacks(every, effects, live)
    body = _block(fn.body, dead, live, facts)
    return rebuild.with_body(fn, body)


def _unneeded(every: list[gast.AST], effects: Effects) -> set[int]:
    """Statements whose names, directly or through others, reach no effect."""
    feeds: dict[str, set[str]] = {}
    needed = list(effects.pinned)
    optional = []
    for s in every:
        into = _into(s, effects)
        sources = effects.notes.of(s).reads
        if into is None:
            needed.extend(sources)
        else:
            optional.append((id(s), into))
            for name in into:
                feeds.setdefault(name, set()).update(sources)
    seen: set[str] = set()
    while needed:
        name = needed.pop()
        if name in seen:
            continue
        seen.add(name)
        needed.extend(feeds.get(name, ()))
        if name not in effects.stacks and not name.startswith("&"):
            needed.append("&" + effects.cell(name))
    return {s for s, into in optional if not seen.intersection(into)}


def _into(s: gast.AST, effects: Effects) -> set[str] | None:
    """What a statement writes (``&`` a class of memory), None if it must stay."""
    if isinstance(s, (grammar.Comment, gast.Pass)):
        return None
    push, pop = stack_push(s), stack_pop(s)
    if push and push[0] in effects.stacks:
        return None if effects.of(s).impure else {push[0]}
    if not isinstance(s, (gast.Assign, gast.AugAssign)) and pop not in effects.stacks:
        return None
    effect = effects.of(s)
    if effect.impure or any(effects.is_outside(m) for m in effect.mutates):
        return None
    return effect.binds | {"&" + effects.cell(m) for m in effect.mutates}


def _unread_stacks(every, effects: Effects, live: Liveness) -> set[int]:
    """All statements of the stacks of which no popped value is read."""
    uses: dict[str, list[int]] = {}
    kept: set[str] = set()
    for s in every:
        push, pop = stack_push(s), stack_pop(s)
        stack = push[0] if push else pop
        if stack is None and isinstance(s, gast.Assign):
            stack = root(s.targets[0])
        if stack in effects.stacks:
            uses.setdefault(stack, []).append(id(s))
            if pop and id(s) not in live.unread_targets or effects.of(s).impure:
                kept.add(stack)
        elif isinstance(s, gast.While):
            kept |= effects.notes.of(s).reads & effects.stacks
    return {i for stack, ids in uses.items() if stack not in kept for i in ids}


def _block(body: list, dead: set[int], live: Liveness, facts: Facts) -> list:
    kept: list = []
    for s in reversed(body):
        if id(s) in dead:
            continue
        if isinstance(s, grammar.Comment):
            if not _announces(s, kept[-1] if kept else None):
                continue
        elif any(True for _ in grammar.blocks(s)):
            s = _compound(s, dead, live, facts)
            if s is None:
                continue
        kept.append(s)
    kept.reverse()
    if any(not isinstance(s, gast.Pass) for s in kept):
        kept = [s for s in kept if not isinstance(s, gast.Pass)]
    return kept


def _announces(comment: grammar.Comment, following: gast.AST | None) -> bool:
    if following is None:
        return False
    if isinstance(following, grammar.Comment):
        return comment.blank and not following.blank
    if isinstance(following, gast.Return) and not comment.blank:
        lines = (comment.lineno, getattr(following, "lineno", 0))
        return not all(lines) or lines[0] == lines[1]
    return True


def _compound(s: gast.AST, dead, live: Liveness, facts: Facts) -> gast.AST | None:
    """What remains of a compound statement, None when nothing does."""
    new = rebuild.map_blocks(s, lambda inner: _block(inner, dead, live, facts))
    empty = _empty(new.body)
    if isinstance(new, gast.With):
        return rebuild.replaced(new, body=[gast.Pass()]) if not new.body else new
    if new.orelse and _empty(new.orelse):
        new = rebuild.replaced(new, orelse=[])
    if not empty:
        return new
    head = new.iter if isinstance(new, gast.For) else new.test
    counter_read = isinstance(new, gast.For) and id(s) not in live.unread_targets
    if not new.orelse and facts.pure_expression(head) and not counter_read:
        return None
    if isinstance(new, gast.If) and new.orelse:
        return rebuild.replaced(
            new, test=_negated(new.test), body=new.orelse, orelse=[]
        )
    return rebuild.replaced(new, body=[gast.Pass()]) if not new.body else new


def _empty(body: list) -> bool:
    return all(isinstance(s, (gast.Pass, grammar.Comment)) for s in body)


def _negated(test: gast.AST) -> gast.AST:
    if isinstance(test, gast.UnaryOp) and isinstance(test.op, gast.Not):
        return test.operand
    return gast.UnaryOp(gast.Not(), test)
