"""Differentiate many random programs: ``python -m tests.fuzz.run 1000 --seed 7``.

A line shows how far it is, and each kind of failure when it is first met; at the end
stands each kind with its smallest program.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import sys
import tempfile
from pathlib import Path

from .generate import program
from .judge import FINE, REFUSED, SKIPPED, Verdict, judge
from .shrink import shrink


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.run")
    parser.add_argument("count", type=int, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    parser.add_argument("--no-shrink", action="store_true", help="show programs whole")
    options = parser.parse_args()
    counts, failures = collections.Counter(), {}
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for n in range(options.count):
            seed = options.seed + n
            verdict = judge(program(seed), Path(folder), f"random_{seed}")
            kind = _kind(verdict)
            counts[kind] += 1
            if kind not in (FINE, SKIPPED):
                if kind not in failures:
                    print(f"\rseed {seed}: {kind}")
                failures.setdefault(kind, []).append((seed, verdict))
            line = f"{n + 1} programs: {counts[FINE]} fine, {len(failures)} kinds fail"
            print(f"\r{line}", end="", flush=True)
        print()
        for kind, found in failures.items():
            _show(kind, found, Path(folder), not options.no_shrink)
    for kind, count in counts.most_common():
        print(f"{count:6}  {kind}")
    return (
        1 if any(k.split(":")[0] not in (FINE, SKIPPED, REFUSED) for k in counts) else 0
    )


def _kind(verdict: Verdict) -> str:
    if verdict.kind == REFUSED:
        return f"{REFUSED}: {verdict.detail.splitlines()[0]}"
    return verdict.kind


def _show(
    kind: str, found: list[tuple[int, Verdict]], folder: Path, small: bool
) -> None:
    seed, verdict = found[0]
    whole = program(seed)
    names = iter(range(10**6))

    def fails(text: str) -> bool:
        candidate = dataclasses.replace(whole, text=text)
        try:
            seen = judge(candidate, folder, f"smaller_{seed}_{next(names)}")
        except Exception:
            return False
        return _kind(seen) == kind

    text = shrink(whole.text, fails) if small else whole.text
    print(f"\n== {kind} (seeds {', '.join(str(s) for s, _ in found[:8])})")
    print(text)
    last = judge(dataclasses.replace(whole, text=text), folder, f"small_{seed}")
    print(last.detail)
    print(whole.args)


if __name__ == "__main__":
    sys.exit(main())
