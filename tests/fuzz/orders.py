"""What is wrong with the tangents and the second derivatives of a program, if anything.

`judge_orders` is a `check` for `judge`.  Forward mode is held against reverse mode, by
the product of a gradient and a direction, and second derivatives along a direction
against differences of the gradient, in the four pairs of modes.
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

import sct

from .generate import Program
from .judge import (
    FINE,
    REFUSED,
    SKIPPED,
    TOLERANCE,
    Verdict,
    attempt,
    close,
    form,
    numbers,
    parts,
    rebuilt,
)

# The others are other programs' turn.
PAIRS_EACH = 2
# From what counts most.
SEVERITY = ("WRONG", "crash", "slow", REFUSED, SKIPPED, FINE)


def judge_orders(
    f: Callable, value, program: Program, folder: Path, name: str
) -> Verdict:
    """Check forward mode, and second derivatives in some of the pairs of modes."""
    case = Case(f, value, program)
    reverse = attempt(case.gradient)
    if reverse.kind != FINE:
        return _named("reverse", reverse)
    chosen = list(itertools.combinations(PAIRS, PAIRS_EACH))
    turn = sum(map(ord, program.text)) % len(chosen)
    seen = [_named("forward", attempt(case.forward))]
    for pair in chosen[turn]:
        seen.append(_named(pair, attempt(functools.partial(case.second, PAIRS[pair]))))
    return min(seen, key=_severity)


def _named(mode: str, verdict: Verdict) -> Verdict:
    """The verdict, with the mode in which it was met."""
    if verdict.kind in (FINE, SKIPPED):
        return verdict
    if verdict.kind == REFUSED:
        return Verdict(REFUSED, f"{mode}: {verdict.detail}")
    return Verdict(f"{verdict.kind} ({mode})", verdict.detail)


def _severity(verdict: Verdict) -> int:
    first = verdict.kind.split()[0]
    return SEVERITY.index(first) if first in SEVERITY else 0


class Case:
    """A program's function, its gradient, and a direction for its arguments."""

    def __init__(self, f: Callable, value, program: Program):
        self.f, self.value = f, value
        self.args, self.wrt = program.args, program.wrt
        rng = random.Random(program.text)
        self.v = tuple(direction(self.args[i], rng) for i in self.wrt)

    def gradient(self) -> Verdict:
        """Make the gradient; it has been judged by itself."""
        self.df = sct.grad(self.f, wrt=self.wrt)
        self.bars = self.df(*copy.deepcopy(self.args))
        return Verdict(FINE)

    def along(self, suffix: str) -> dict:
        """The direction, as keywords of a tangent."""
        given = list(inspect.signature(self.f).parameters)
        names = [f"{given[i]}_dot{suffix}" for i in self.wrt]
        return dict(zip(names, copy.deepcopy(self.v), strict=True))

    def given(self) -> tuple:
        """The arguments, to be written into."""
        return copy.deepcopy(self.args)

    def forward(self) -> Verdict:
        """``<gradient, v>`` is the tangent along `v`."""
        args, v = self.given(), self.along("")
        value, tangent = sct.jvp(self.f, wrt=self.wrt)(*args, **v)
        if not close((args, tuple(v.values())), (self.args, self.v)):
            return Verdict("arguments changed")
        if not close(value, self.value):
            return Verdict("value differs", f"{value!r} for {self.value!r}")
        if np.ndim(tangent):
            return Verdict("shape", f"tangent {tangent!r}")
        expected = inner(self.bars, self.v)
        scale = 1.0 + sum(map(abs, numbers(self.bars)))
        if not abs(tangent - expected) <= 1e-9 * scale:
            return Verdict("WRONG", f"tangent {tangent}, by the gradient {expected}")
        return Verdict(FINE)

    def second(self, pair: Callable) -> Verdict:
        """The Hessian along `v` is what differences of the gradient say."""
        found = pair(self)
        if form(found) not in (form(self.bars), form(self.value)):
            return Verdict("shape", f"{form(found)} for {form(self.bars)}")
        expected = self.differences(1e-4)
        if form(found) == form(self.value):
            expected = [np.dot(expected, numbers(self.v))]
        got = np.array(numbers(found))
        scale = 1.0 + np.max(np.abs(numbers(self.bars))) + np.max(np.abs(expected))
        if np.allclose(got, expected, rtol=0.0, atol=50 * TOLERANCE * scale):
            return Verdict(FINE)
        seen = [self.differences(h) for h in (1e-3, 1e-5, 3e-6)]
        if len(got) == 1:
            seen = [[np.dot(s, numbers(self.v))] for s in seen]
        for s in seen:
            if np.allclose(got, s, rtol=0.0, atol=200 * TOLERANCE * scale):
                return Verdict(FINE)
        if not np.allclose(seen[1], seen[2], rtol=0.0, atol=200 * TOLERANCE * scale):
            return Verdict(SKIPPED, "a kink")
        return Verdict("WRONG", f"{got}, by differences {expected}")

    def differences(self, h: float) -> np.ndarray:
        """The change of the gradient along `v`, by differences extrapolated once."""

        def at(t: float) -> np.ndarray:
            moved = list(copy.deepcopy(self.args))
            for i, d in zip(self.wrt, self.v, strict=True):
                moved[i] = plus(moved[i], d, t)
            return np.array(numbers(self.df(*moved)))

        wide = (at(h) - at(-h)) / (2 * h)
        narrow = (at(h / 2) - at(-h / 2)) / h
        return (4 * narrow - wide) / 3


def forward_over_reverse(case: Case):
    """The tangent of the gradient."""
    df = sct.jvp(case.df, wrt=case.wrt)
    return df(*case.given(), **case.along(""))[1]


def reverse_over_reverse(case: Case):
    """The adjoint of the gradient, for the direction as its seed."""
    df = sct.vjp(case.df, wrt=case.wrt)
    return df(*case.given(), out_bar_2=copy.deepcopy(case.v))[1]


def forward_over_forward(case: Case):
    """The tangent of the tangent."""
    df = sct.jvp(sct.jvp(case.f, wrt=case.wrt), wrt=case.wrt)
    return df(*case.given(), **case.along(""), **case.along("_2"))[1][1]


def reverse_over_forward(case: Case):
    """The adjoint of the tangent."""
    df = sct.vjp(sct.jvp(case.f, wrt=case.wrt), wrt=case.wrt)
    return df(*case.given(), **case.along(""), out_bar=(0.0, 1.0))[1]


PAIRS = {
    "forward over reverse": forward_over_reverse,
    "reverse over reverse": reverse_over_reverse,
    "forward over forward": forward_over_forward,
    "reverse over forward": reverse_over_forward,
}


def direction(value, rng: random.Random):
    """A random tangent of a value."""
    held = parts(value)
    if held is not None:
        return rebuilt(value, [direction(part, rng) for part in held])
    drawn = np.array([rng.uniform(-1.0, 1.0) for _ in range(np.size(value))])
    return drawn.reshape(np.shape(value)) if np.shape(value) else float(drawn[0])


def plus(value, change, t: float):
    """A value moved by ``t * change``."""
    held = parts(value)
    if held is None:
        return value + t * change
    moved = [plus(a, b, t) for a, b in zip(held, parts(change), strict=True)]
    return rebuilt(value, moved)


def inner(a, b) -> float:
    """The sum of all products."""
    return float(np.dot(numbers(a), numbers(b)))
