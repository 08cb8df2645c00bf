"""Differentiate many random programs: ``python -m tests.fuzz.run 1000 --seed 7``.

Several processes share the work; what comes of a seed does not depend on how many.  A
line shows how far it is, and each kind of failure when it is first met; at the end
stands each kind with its smallest program, and how many programs there were of each.
With ``--save`` the seeds that failed are written down, those of refusals as well.
With ``--orders`` it is forward mode and second derivatives that are judged.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .generate import program
from .judge import FINE, REFUSED, SKIPPED, Verdict, judge
from .orders import judge_orders
from .shrink import shrink

# A process that has judged so many programs makes room for a new one: modules, sources
# and normal forms add up.
PROGRAMS_EACH = 250
WIDTH = 78


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run")
    parser.add_argument("count", type=int, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--save", type=Path, help="a file for the seeds that fail")
    parser.add_argument("--no-shrink", action="store_true", help="show programs whole")
    parser.add_argument(
        "--orders", action="store_true", help="judge forward mode and second order"
    )
    options = parser.parse_args()
    check = judge_orders if options.orders else None
    failures: dict[str, list[tuple[int, Verdict]]] = {}
    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        seeds = range(options.seed, options.seed + options.count)
        try:
            with verdicts(seeds, Path(folder), options.jobs, check) as judged:
                for seed, verdict in judged:
                    kind = kind_of(verdict)
                    counts[kind] += 1
                    if kind not in (FINE, SKIPPED):
                        if kind not in failures:
                            print(f"\rseed {seed}: {kind}".ljust(WIDTH))
                        failures.setdefault(kind, []).append((seed, verdict))
                        if options.save:
                            with options.save.open("a") as file:
                                print(seed, kind, sep="\t", file=file)
                    print(f"\r{summary(counts)}".ljust(WIDTH), end="", flush=True)
        except KeyboardInterrupt:
            print("\nstopped")
        print()
        for kind, found in failures.items():
            show(kind, found, Path(folder), not options.no_shrink, check)
    print(f"\n{summary(counts)}")
    for kind, count in counts.most_common():
        print(f"{count:6}  {kind}")
    return 1 if any(class_of(k) not in (FINE, SKIPPED, REFUSED) for k in counts) else 0


@contextmanager
def verdicts(
    seeds: range, folder: Path, jobs: int, check: Callable | None
) -> Iterator[Iterator[tuple[int, Verdict]]]:
    """Each seed with what came of its program, in order."""
    _begin(folder)
    tasks = [(seed, folder, check) for seed in seeds]
    if jobs == 1:
        yield map(_judged, tasks)
        return
    with multiprocessing.Pool(jobs, _begin, (folder, True), PROGRAMS_EACH) as pool:
        yield pool.imap(_judged, tasks)


def _begin(folder: Path, helps: bool = False) -> None:
    """Let programs that are written to a folder be imported."""
    sys.path.insert(0, str(folder))
    if helps:
        # The first process stops the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _judged(task: tuple[int, Path, Callable | None]) -> tuple[int, Verdict]:
    seed, folder, check = task
    return seed, judge(program(seed), folder, f"random_{seed}", check)


def kind_of(verdict: Verdict) -> str:
    """The kind of a verdict, that of a refusal with what it says first."""
    if verdict.kind == REFUSED:
        return f"{REFUSED}: {verdict.detail.splitlines()[0]}"
    return verdict.kind


def class_of(kind: str) -> str:
    """A word for many kinds: fine, skipped, refused, crash or wrong."""
    first = kind.split()[0].rstrip(":")
    return first if first in (FINE, SKIPPED, REFUSED, "crash") else "wrong"


def summary(counts: collections.Counter[str]) -> str:
    """How many programs there were, and how many of each class."""
    classes = dict.fromkeys((FINE, SKIPPED, REFUSED, "wrong", "crash"), 0)
    for kind, count in counts.items():
        classes[class_of(kind)] += count
    parts = ", ".join(f"{n} {word}" for word, n in classes.items())
    return f"{sum(counts.values())} programs: {parts}"


def show(
    kind: str,
    found: list[tuple[int, Verdict]],
    folder: Path,
    small: bool,
    check: Callable | None,
) -> None:
    """Print the smallest program found that fails in one way."""
    seed, verdict = found[0]
    whole = program(seed)
    names = iter(range(10**6))

    def fails(text: str) -> bool:
        candidate = dataclasses.replace(whole, text=text)
        try:
            seen = judge(candidate, folder, f"smaller_{seed}_{next(names)}", check)
        except Exception:
            return False
        return kind_of(seen) == kind

    text = shrink(whole.text, fails) if small else whole.text
    print(f"\n== {kind} (seeds {', '.join(str(s) for s, _ in found[:8])})")
    print(text)
    again = dataclasses.replace(whole, text=text)
    last = judge(again, folder, f"small_{seed}", check)
    print(last.detail)
    print(whole.args)


if __name__ == "__main__":
    sys.exit(main())
