"""``match`` becomes ``if`` ... ``elif`` ... ``else`` and assignments.

::

    match kind:                        if kind == "square":
        case "square":                     y = x * x
            y = x * x                  elif kind == "cube" or kind == "third":
        case "cube" | "third":    ->       y = x * x * x
            y = x * x * x              else:
        case _:                            y = x
            y = x

Where every pattern compares with values, that is all.  Sequences, mappings and classes
are tried by the ``match`` itself, in a probe that says which case it is; what the case
binds is then taken from the subject::

    match t:                           match t:
        case [a, b] if a > b:              case [a, b] if a > b:
            y = a * b             ->           case = 1
        ...                                ...
                                       if case == 1:
                                           a, b = t
                                           y = a * b
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

import gast

from .errors import unsupported
from .grammar import (
    Probe,
    assign,
    call,
    clone,
    constant,
    located,
    name,
    names_bound,
    nodes,
)
from .names import Names
from .renaming import rename

# Classes whose only positional pattern is the subject itself.
WHOLE = frozenset(
    "bool bytearray bytes dict float frozenset int list set str tuple".split()
)
REST = (
    "`**{}` in a pattern",
    "which items it takes is known only while it runs",
    "Take the items that are meant by their keys.",
)
POSITIONS = (
    "a pattern by position",
    "which attributes are meant is up to the class",
    "Name the attributes: `Point(x=a, y=b)`.",
)
STAR = (
    "`*` in a pattern",
    "it must call the builtin `list`, a name that is taken",
    "Rename `list`.",
)
GUARD = (
    "a guard on `{}`",
    "the name keeps what the pattern binds even when the guard refuses it",
    "Give the name in the pattern to nothing else.",
)
EITHER = (
    "names bound in a pattern with `|`",
    "which of its sides matched is known only while it runs",
    "Write a `case` for each side.",
)


class Patterns:
    """Lowers ``match`` statements.

    Parameters
    ----------
    names : Names
        Where temporaries get their names.
    source : Source
        Where the function was written.
    every : list of trees
        All nodes of the function as the user wrote it.
    is_builtin : callable
        The builtin that a name denotes, as a word, or None.
    """

    def __init__(self, names: Names, source, every, is_builtin: Callable):
        self.names, self.source, self.is_builtin = names, source, is_builtin
        self.bound = bindings(every)

    def lowered(self, s: gast.Match) -> list[gast.AST]:
        """Statements of the source language that do what `s` does."""
        lead: list[gast.AST] = []
        bound = {n for c in s.cases for n in names_bound(c.pattern)}

        def held(value: gast.AST) -> gast.AST:
            if isinstance(value, gast.Constant):
                return value
            if isinstance(value, gast.Name) and value.id not in bound:
                return value
            lead.append(assign(self.names.fresh("subject"), value, s))
            return name(lead[-1].targets[0].id)

        if _is_display(s.subject):
            parts = gast.Tuple([*s.subject.elts], gast.Load())
            if all(_is_plain(c.pattern, parts) for c in s.cases):
                parts.elts = [held(v) for v in parts.elts]
                return [*lead, *self._chain(s, parts)]
        subject = held(s.subject)
        if all(_is_plain(c.pattern, subject) for c in s.cases):
            return [*lead, *self._chain(s, subject)]
        return [*lead, *self._probed(s, subject)]

    def _chain(self, s: gast.Match, subject: gast.AST) -> list[gast.AST]:
        """Cases that compare, tried one after the other."""
        rest: list[gast.AST] = []
        for case in reversed(s.cases):
            test = self._test(case.pattern, subject)
            taken = self._captures(case.pattern, subject)
            body = [assign(n, v, case.pattern) for n, v in taken]
            if case.guard is None:
                body += case.body
                rest = body if test is None else [self._if(test, body, rest, case)]
            elif not taken:
                both = case.guard
                if test is not None:
                    both = gast.BoolOp(gast.And(), [test, case.guard])
                rest = [self._if(both, case.body, rest, case)]
            elif test is None:
                rest = [*body, self._if(case.guard, case.body, rest, case)]
            else:
                fits = self.names.fresh("fits")
                tried = [*body, assign(fits, case.guard, case.pattern)]
                rest = [
                    assign(fits, constant(False), case.pattern),
                    self._if(test, tried, [], case),
                    self._if(name(fits), case.body, rest, case),
                ]
        return rest

    def _if(self, test, body, orelse, case) -> gast.AST:
        return located(gast.If(test, body, orelse), case.pattern)

    def _test(self, pattern: gast.AST, subject: gast.AST) -> gast.AST | None:
        """Whether a plain pattern matches, None when it always does."""
        if isinstance(pattern, gast.MatchValue):
            return gast.Compare(clone(subject), [gast.Eq()], [pattern.value])
        if isinstance(pattern, gast.MatchSingleton):
            value = constant(pattern.value)
            return gast.Compare(clone(subject), [gast.Is()], [value])
        if isinstance(pattern, gast.MatchOr):
            tests = [self._test(p, subject) for p in pattern.patterns]
            return None if None in tests else gast.BoolOp(gast.Or(), tests)
        if isinstance(pattern, gast.MatchSequence):
            if len(pattern.patterns) != len(subject.elts):
                return constant(False)
            pairs = zip(pattern.patterns, subject.elts, strict=True)
            tests = [t for p, at in pairs if (t := self._test(p, at)) is not None]
            if len(tests) < 2:
                return tests[0] if tests else None
            return gast.BoolOp(gast.And(), tests)
        return None if pattern.pattern is None else self._test(pattern.pattern, subject)

    # -- by probe ------------------------------------------------------------------
    def _probed(self, s: gast.Match, subject: gast.Name) -> list[gast.AST]:
        self._require_own_names(s)
        number = self.names.fresh("case")
        cases = []
        rest: list[gast.AST] = []
        for k, case in reversed(list(enumerate(s.cases, 1))):
            pattern, guard = clone(case.pattern), clone(case.guard)
            if guard is None:
                pattern = _without_names(pattern)
            else:
                pattern, guard = self._with_own_names(pattern, guard)
            says = [assign(number, constant(k), case.pattern)]
            cases.insert(0, gast.match_case(pattern, guard, says))
            body = [
                assign(n, v, case.pattern)
                for n, v in self._captures(case.pattern, subject)
            ]
            test = gast.Compare(name(number), [gast.Eq()], [constant(k)])
            rest = [self._if(test, [*body, *case.body], rest, case)]
        if s.cases[-1].guard is not None or not _always(s.cases[-1].pattern):
            says = [assign(number, constant(0), s)]
            cases.append(gast.match_case(gast.MatchAs(None, None), None, says))
        else:
            # The last case needs no test.
            inner = rest
            while len(s.cases) > 1 and inner[0].orelse[0].orelse:
                inner = inner[0].orelse
            if len(s.cases) > 1:
                inner[0].orelse = inner[0].orelse[0].body
            else:
                rest = rest[0].body
        tried = gast.Match(clone(subject), cases)
        return [located(Probe([name(number, store=True)], tried), s), *rest]

    def _require_own_names(self, s: gast.Match) -> None:
        """See to it that nobody reads what a pattern binds when its guard refuses."""
        here = Counter(n for c in s.cases for n in _pattern_names(nodes(c.pattern)))
        for case in s.cases:
            for n in names_bound(case.pattern) if case.guard else ():
                if self.bound[n] > here[n]:
                    what, why, instead = GUARD
                    raise unsupported(
                        self.source, case.pattern, what.format(n), why, instead
                    )

    def _with_own_names(self, pattern, guard):
        """A pattern and its guard in names that nobody else reads."""
        own = {n: self.names.fresh(n) for n in sorted(names_bound(pattern))}
        for n in gast.walk(pattern):
            if isinstance(n, (gast.MatchAs, gast.MatchStar)) and n.name:
                n.name = own[n.name]
            elif isinstance(n, gast.MatchMapping) and n.rest:
                n.rest = own[n.rest]
        rename([guard], own)
        return pattern, guard

    def _captures(self, pattern, subject) -> list[tuple[str, gast.AST]]:
        """The names that a pattern binds, each with its part of the subject."""
        found: list[tuple[str, gast.AST]] = []
        pending = deque([(pattern, subject)])
        while pending:
            p, at = pending.popleft()
            if not names_bound(p):
                continue
            if isinstance(p, gast.MatchAs):
                if p.name:
                    found.append((p.name, clone(at)))
                if p.pattern is not None:
                    pending.append((p.pattern, at))
            elif isinstance(p, gast.MatchSequence) and isinstance(at, gast.Tuple):
                pending += zip(p.patterns, at.elts)
            elif isinstance(p, gast.MatchSequence):
                pending += self._elements(p, at)
            elif isinstance(p, gast.MatchMapping):
                if p.rest:
                    what, why, instead = REST
                    raise unsupported(self.source, p, what.format(p.rest), why, instead)
                for key, inner in zip(p.keys, p.patterns, strict=True):
                    part = gast.Subscript(clone(at), clone(key), gast.Load())
                    pending.append((inner, part))
            elif isinstance(p, gast.MatchClass):
                pending += self._attributes(p, at)
            elif isinstance(p, gast.MatchStar):
                if self.is_builtin(name("list")) != "list":
                    raise unsupported(self.source, p, *STAR)
                found.append((p.name, call("list", clone(at))))
            elif isinstance(p, gast.MatchOr):
                raise unsupported(self.source, p, *EITHER)
        return found

    def _elements(self, p: gast.MatchSequence, at: gast.AST):
        count = len(p.patterns)
        star = next(
            (k for k, q in enumerate(p.patterns) if isinstance(q, gast.MatchStar)),
            count,
        )
        for k, inner in enumerate(p.patterns):
            index: gast.AST = constant(k)
            if k == star:
                end = k + 1 - count
                upper = constant(end) if end else None
                index = gast.Slice(constant(k), upper, None)
            elif k > star:
                index = constant(k - count)
            yield inner, gast.Subscript(clone(at), index, gast.Load())

    def _attributes(self, p: gast.MatchClass, at: gast.AST):
        if p.patterns:
            if len(p.patterns) > 1 or self.is_builtin(p.cls) not in WHOLE:
                raise unsupported(self.source, p, *POSITIONS)
            yield p.patterns[0], at
        for attribute, inner in zip(p.kwd_attrs, p.kwd_patterns, strict=True):
            yield inner, gast.Attribute(clone(at), attribute, gast.Load())


def _pattern_names(every: list[gast.AST]) -> list[str]:
    """The names that patterns bind, each as often as it is bound."""
    found = []
    for n in every:
        if isinstance(n, (gast.MatchAs, gast.MatchStar)) and n.name:
            found.append(n.name)
        elif isinstance(n, gast.MatchMapping) and n.rest:
            found.append(n.rest)
    return found


def bindings(every: list[gast.AST]) -> Counter[str]:
    """How often each name is bound, told from all nodes of some trees."""
    found = Counter(_pattern_names(every))
    for n in every:
        if isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load):
            found[n.id] += 1
    return found


def _is_display(node: gast.AST) -> bool:
    return isinstance(node, (gast.Tuple, gast.List)) and not any(
        isinstance(v, gast.Starred) for v in node.elts
    )


def _is_plain(pattern: gast.AST, subject: gast.AST) -> bool:
    """Whether a pattern only compares the subject, or its known parts, with values."""
    if isinstance(pattern, gast.MatchSequence):
        if not isinstance(subject, gast.Tuple):
            return False
        if any(isinstance(p, gast.MatchStar) for p in pattern.patterns):
            return False
        pairs = zip(pattern.patterns, subject.elts)
        fits = len(pattern.patterns) == len(subject.elts)
        return not fits or all(_is_plain(p, at) for p, at in pairs)
    if isinstance(pattern, gast.MatchOr):
        return not names_bound(pattern) and all(
            _is_plain(p, subject) for p in pattern.patterns
        )
    if isinstance(pattern, gast.MatchAs):
        if pattern.name and isinstance(subject, gast.Tuple):
            return False
        return pattern.pattern is None or _is_plain(pattern.pattern, subject)
    values = (gast.MatchValue, gast.MatchSingleton)
    return isinstance(pattern, values) and not isinstance(subject, gast.Tuple)


def _always(pattern: gast.AST) -> bool:
    return isinstance(pattern, gast.MatchAs) and (
        pattern.pattern is None or _always(pattern.pattern)
    )


def _without_names(pattern: gast.AST) -> gast.AST:
    """A pattern that matches the same and binds nothing."""
    if isinstance(pattern, gast.MatchAs):
        if pattern.pattern is not None:
            return _without_names(pattern.pattern)
        return gast.MatchAs(None, None)
    if isinstance(pattern, gast.MatchStar):
        return gast.MatchStar(None)
    for field in ("patterns", "kwd_patterns"):
        inner = getattr(pattern, field, None)
        if inner:
            setattr(pattern, field, [_without_names(p) for p in inner])
    if isinstance(pattern, gast.MatchMapping):
        pattern.rest = None
    return pattern
