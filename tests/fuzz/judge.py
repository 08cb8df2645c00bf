"""What is wrong with the derivative of a program, if anything.

`judge` differentiates the function of a program and holds what comes out against
central differences, against the function itself and against its saved form.
"""

from __future__ import annotations

import copy
import importlib.util
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import sct

from .generate import Program

FINE, SKIPPED, REFUSED = "fine", "skipped", "refused"
TOLERANCE = 2e-6
SECONDS = 20.0


@dataclass(frozen=True)
class Verdict:
    """A kind (one for each fault, so far as one can tell), and what was seen."""

    kind: str
    detail: str = ""


def judge(program: Program, folder: Path, name: str) -> Verdict:
    """Differentiate and check one program.

    Parameters
    ----------
    program : Program
        What to check.
    folder : Path
        Where modules can be written; on ``sys.path``.
    name : str
        A name for the program's module that was not used before.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        f = load(program.text, folder, name).f
        try:
            with deadline(SECONDS):
                value = f(*copy.deepcopy(program.args))
        except (Exception, OutOfTime) as e:
            return Verdict(SKIPPED, repr(e))
        if not np.isfinite(value) or abs(value) > 1e3:
            return Verdict(SKIPPED, f"value {value}")
        try:
            with deadline(SECONDS):
                return _judge(f, value, program, folder, name)
        except OutOfTime:
            return Verdict("slow", f"not done after {SECONDS} s")
        except sct.SctError as e:
            return Verdict(REFUSED, str(e))
        except Exception as e:
            frame = traceback.extract_tb(e.__traceback__)[-1]
            where = f"{Path(frame.filename).name}:{frame.name}"
            if frame.filename.startswith("<sct"):
                where = "emitted code"
            detail = "".join(traceback.format_exception(e)[-3:])
            what = re.sub(r"'\w+'|\d+", "…", f"{type(e).__name__}: {e}")
            return Verdict(f"crash in {where}: {what}", detail)


class OutOfTime(BaseException):
    """Not an `Exception`: nothing on the way is to catch it."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise `OutOfTime` in the block when it takes longer."""

    def stop(number, frame):
        raise OutOfTime

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def load(text: str, folder: Path, name: str):
    """The module of a text."""
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _judge(f: Callable, value, program: Program, folder: Path, name: str) -> Verdict:
    wrt, given = program.wrt, program.args
    df = sct.grad(f, wrt=wrt)
    if sct.source(sct.grad(f, wrt=wrt)) != sct.source(df):
        return Verdict("text differs")
    args = copy.deepcopy(given)
    bars = df(*args)
    if not identical(args, given):
        return Verdict("arguments changed")
    verdict = against_differences(f, given, wrt, bars, value)
    if verdict is not None:
        return verdict
    same, again = sct.value_and_grad(f, wrt=wrt)(*copy.deepcopy(given))
    if not identical(same, value):
        return Verdict("value differs", f"{same!r} for {value!r}")
    if not close(again, bars):
        return Verdict("value_and_grad differs", f"{again}\n{bars}")
    sct.save(df, folder / f"{name}_grad.py")
    saved = load((folder / f"{name}_grad.py").read_text(), folder, f"{name}_grad")
    if not identical(getattr(saved, df.__name__)(*copy.deepcopy(given)), bars):
        return Verdict("saved differs")
    # Which of the arguments is asked for changes what is active.
    one = len(name) % len(wrt)
    alone = sct.grad(f, wrt=wrt[one])(*copy.deepcopy(given))
    if not close([alone], [bars[one]]):
        return Verdict("one alone differs", f"argument {one}: {alone}\n{bars[one]}")
    return Verdict(FINE)


def against_differences(f, args, wrt, bars, value) -> Verdict | None:
    """The first gradient that disagrees with differences, if any."""
    for i, bar in zip(wrt, bars, strict=True):
        if np.shape(bar) != np.shape(args[i]):
            return Verdict(
                "shape", f"argument {i}: {np.shape(bar)} for {np.shape(args[i])}"
            )
        for at in np.ndindex(np.shape(args[i])):
            got = float(np.asarray(bar)[at])
            seen = [slope(f, args, i, at, h) for h in (2e-3, 1e-5)]
            scale = TOLERANCE * (1.0 + abs(got) + abs(value))
            if min(abs(s - got) for s in seen) <= 20 * scale:
                continue
            if abs(seen[1] - slope(f, args, i, at, 3e-6)) > 100 * scale:
                return Verdict(SKIPPED, "a kink")
            return Verdict(
                "WRONG", f"argument {i}{list(at)}: {got}, differences {seen}"
            )
    return None


def slope(f: Callable, args: tuple, i: int, at: tuple, h: float) -> float:
    """The derivative of `f` in one number, by differences extrapolated once."""

    def moved(by: float):
        new = list(copy.deepcopy(args))
        if at:
            new[i][at] += by
        else:
            new[i] += by
        return float(f(*new))

    wide = (moved(h) - moved(-h)) / (2 * h)
    narrow = (moved(h / 2) - moved(-h / 2)) / h
    return (4 * narrow - wide) / 3


def close(a, b) -> bool:
    """Whether two sequences of numbers and arrays agree up to rounding."""
    return all(
        np.allclose(x, y, rtol=1e-8, atol=1e-9) for x, y in zip(a, b, strict=True)
    )


def identical(a, b) -> bool:
    """Whether two values, or tuples of values, are the same bit for bit."""
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(identical, a, b))
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()
