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


def judge(program: Program, folder: Path, name: str, check=None) -> Verdict:
    """Differentiate and check one program.

    Parameters
    ----------
    program : Program
        What to check.
    folder : Path
        Where modules can be written; on ``sys.path``.
    name : str
        A name for the program's module that was not used before.
    check : callable, optional
        ``check(f, value, program, folder, name)``, which judges the derivatives of the
        program's function; by default those of reverse mode.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        f = load(program.text, folder, name).f
        try:
            # Zero times infinity, on a way that does not count, is left alone.
            with deadline(SECONDS), np.errstate(all="raise"):
                value = f(*copy.deepcopy(program.args))
        except (Exception, OutOfTime) as e:
            return Verdict(SKIPPED, repr(e))
        if np.ndim(value) or not np.isfinite(value) or abs(value) > 1e3:
            return Verdict(SKIPPED, f"value {value}")
        if check is not None:
            return check(f, value, program, folder, name)
        return attempt(lambda: _judge(f, value, program, folder, name))


def attempt(work: Callable[[], Verdict]) -> Verdict:
    """What `work` says, or what its giving way says."""
    try:
        with deadline(SECONDS):
            return work()
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
    """Raise `OutOfTime` in the block when it takes more time of the processor."""

    def stop(number, frame):
        raise OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


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
    # What is done by turns shows in many programs, and takes time in each.
    turn = sum(map(ord, program.text))
    df = sct.grad(f, wrt=wrt)
    text = text_of(df)
    if turn % 3 == 0 and text_of(sct.grad(f, wrt=wrt)) != text:
        return Verdict("text differs")
    args = copy.deepcopy(given)
    bars = df(*args)
    if not identical(args, given):
        return Verdict("arguments changed")
    verdict = against_differences(f, given, wrt, bars, value)
    if verdict is not None:
        return verdict
    if turn % 3 == 1:
        plain = sct.grad(f, wrt=wrt, optimize=False)(*copy.deepcopy(given))
        if not close(plain, bars):
            return Verdict("unoptimised differs", f"{plain}\n{bars}")
    if text is not None:
        path = folder / f"{name}_grad.py"
        sct.save(df, path)
        saved = load(path.read_text(), folder, path.stem)
        if not identical(getattr(saved, df.__name__)(*copy.deepcopy(given)), bars):
            return Verdict("saved differs")
    # The value beside the gradient; or one argument alone, as which of them are asked
    # for changes what is active.
    if turn % 2:
        same, again = sct.value_and_grad(f, wrt=wrt)(*copy.deepcopy(given))
        # `x = x + y + z` is written `x += y + z`.
        if not close(same, value):
            return Verdict("value differs", f"{same!r} for {value!r}")
        if not close(again, bars):
            return Verdict("value_and_grad differs", f"{again}\n{bars}")
    else:
        one = turn // 2 % len(wrt)
        alone = sct.grad(f, wrt=wrt[one])(*copy.deepcopy(given))
        if not close(alone, bars[one]):
            return Verdict("one alone differs", f"argument {one}: {alone}\n{bars[one]}")
    return Verdict(FINE)


def text_of(df: Callable) -> str | None:
    """The text of a derivative, None where it has none until it is called."""
    try:
        return sct.source(df)
    except sct.ArgumentError:
        return None


def against_differences(f, args, wrt, bars, value) -> Verdict | None:
    """The first gradient that disagrees with differences, if any."""
    for i, bar in zip(wrt, bars, strict=True):
        if form(bar) != form(args[i]):
            return Verdict("shape", f"argument {i}: {form(bar)} for {form(args[i])}")
        for at, got in enumerate(numbers(bar)):
            seen = [slope(f, args, i, at, h) for h in (2e-3, 1e-5)]
            scale = TOLERANCE * (1.0 + abs(got) + abs(value))
            if min(abs(s - got) for s in seen) <= 20 * scale:
                continue
            # What no step tells is left alone, however great the gradient is there.
            noise = TOLERANCE * (1.0 + abs(seen[1]) + abs(value))
            if abs(seen[1] - slope(f, args, i, at, 3e-6)) > 100 * noise:
                return Verdict(SKIPPED, "a kink")
            return Verdict(
                "WRONG", f"argument {i}, number {at}: {got}, differences {seen}"
            )
    return None


def slope(f: Callable, args: tuple, i: int, at: int, h: float) -> float:
    """The derivative of `f` in one number, by differences extrapolated once."""

    def moved(by: float):
        new = list(copy.deepcopy(args))
        new[i] = shifted(new[i], at, by)
        return float(f(*new))

    wide = (moved(h) - moved(-h)) / (2 * h)
    narrow = (moved(h / 2) - moved(-h / 2)) / h
    return (4 * narrow - wide) / 3


def parts(value) -> list | None:
    """What a container holds; None for a number or array."""
    if isinstance(value, dict):
        return list(value.values())
    return list(value) if isinstance(value, (tuple, list)) else None


def rebuilt(value, new: list):
    """A container like `value` that holds other parts."""
    if isinstance(value, dict):
        return dict(zip(value, new, strict=True))
    return type(value)(*new) if hasattr(value, "_fields") else type(value)(new)


def form(value):
    """Containers, keys, shapes and dtypes, without the numbers."""
    held = parts(value)
    if held is None:
        return np.shape(value), np.asarray(value).dtype
    keys = tuple(value) if isinstance(value, dict) else ()
    return (type(value), keys, *map(form, held))


def numbers(value) -> list[float]:
    """All numbers of a value, in order."""
    held = parts(value)
    if held is None:
        return np.ravel(value).tolist()
    return [x for part in held for x in numbers(part)]


def shifted(value, at: int, by: float):
    """`value` with one of its numbers greater by `by`."""
    held = parts(value)
    if held is None:
        flat = np.ravel(value) + by * (np.arange(np.size(value)) == at)
        return flat.reshape(np.shape(value)) if np.shape(value) else value + by
    for k, part in enumerate(held):
        count = len(numbers(part))
        if 0 <= at < count:
            held[k] = shifted(part, at, by)
        at -= count
    return rebuilt(value, held)


def close(a, b) -> bool:
    """Whether two values are of one form and agree up to rounding."""
    return form(a) == form(b) and np.allclose(
        numbers(a), numbers(b), rtol=1e-8, atol=1e-9
    )


def identical(a, b) -> bool:
    """Whether two values are the same bit for bit."""
    x, y = np.array(numbers(a)), np.array(numbers(b))
    return form(a) == form(b) and x.tobytes() == y.tobytes()
