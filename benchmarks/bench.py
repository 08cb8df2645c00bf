"""Time of gradients, in one process on one thread, beside hand-written ones.

    python benchmarks/bench.py                            # everything
    python benchmarks/bench.py --quick                    # small sizes, few samples
    python benchmarks/bench.py --programs gmm lstm --sizes S M
    python benchmarks/bench.py --columns hand sct jax     # columns.py lists them
    python benchmarks/bench.py --pair sct hand            # two, compared with care

Every column of a program is sampled in turn, round after round, so that a slow
spell of the machine hits all of them alike; the figure is the median.  Each
gradient is first compared with the hand-written one.  A program that sct refuses
is listed as waiting.  The exit code is 1 when a gradient by sct is wrong.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import os
import sys
import time

import report

THREADS = ("OPENBLAS", "OMP", "MKL", "NUMBA")


def options(argv: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    ap = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    ap.add_argument("--programs", nargs="+", metavar="NAME")
    ap.add_argument("--sizes", nargs="+", default=["S", "M", "L"], choices="SML")
    ap.add_argument("--columns", nargs="+", metavar="COLUMN")
    ap.add_argument("--pair", nargs=2, metavar="COLUMN")
    ap.add_argument("--quick", action="store_true", help="size S, three samples")
    ap.add_argument("--rounds", type=int, default=9, help="samples of a column")
    ap.add_argument("--sample", type=float, default=0.004, help="seconds of one, least")
    ap.add_argument("--budget", type=float, default=4.0, help="seconds of a column")
    ap.add_argument(
        "--clock",
        choices=["cpu", "wall"],
        default="cpu",
        help="time of the process (other processes disturb it least), or elapsed time",
    )
    ap.add_argument("--json", metavar="FILE", help="write the figures there too")
    opt = ap.parse_args(argv)
    if opt.quick:
        opt.sizes, opt.rounds, opt.sample, opt.budget = ["S"], 3, 0.002, 0.5
    return opt


def use_one_thread() -> None:
    """Make every numerical library use one thread; before any of them is imported."""
    for library in THREADS:
        os.environ[f"{library}_NUM_THREADS"] = "1"
    # Settings for the sake of old processors' kernels would slow NumPy alone.
    for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
        os.environ.pop(name, None)
    # XLA sizes its thread pools by the CPUs that the process may use.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    flags = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    os.environ["JAX_ENABLE_X64"] = "1"


def sample(call, times: int, clock: str) -> float:
    """Seconds of one call, over `times` calls without garbage collection."""
    now = time.process_time if clock == "cpu" else time.perf_counter
    gc.disable()
    start = now()
    for _ in range(times):
        call()
    seconds = (now() - start) / times
    gc.enable()
    return seconds


def error(got: tuple, expected: tuple) -> float:
    """The largest difference, relative to each gradient's largest element."""
    import numpy as np

    if len(got) != len(expected):
        return math.inf
    worst = 0.0
    for g, e in zip(got, expected):
        if np.shape(g) != np.shape(e):
            return math.inf
        scale = float(np.max(np.abs(e))) or 1.0
        difference = float(np.max(np.abs(g - e))) / scale
        worst = max(worst, difference if difference == difference else math.inf)
    return worst


def prepare(columns, program, size: str) -> dict[str, dict]:
    """The columns of one program: what runs and how wrong it is, or why it does not."""
    args = program.make(program.sizes[size])
    expected = program.grad(*args)
    row: dict[str, dict] = {}
    for label, make in columns.of(program):
        start = time.perf_counter()
        try:
            run = make(args)
            result = run.call()
        except Exception as why:  # a column that cannot is a cell of the table
            first_line = (str(why).strip().splitlines() or [""])[0]
            row[label] = {"error": f"{type(why).__name__}: {first_line}"}
            continue
        row[label] = {"run": run, "first": time.perf_counter() - start}
        if run.to_numpy:
            row[label]["wrong_by"] = error(run.to_numpy(result), expected)
    return row


def measure(row: dict[str, dict], opt: argparse.Namespace, rounds: int) -> None:
    """Sample all columns of a row in turn; each gets its ``seconds``."""
    cells = [cell for cell in row.values() if "run" in cell]
    for cell in cells:
        once = sample(cell["run"].call, 1, "wall")
        cell["calls"] = max(1, int(opt.sample / max(once, 1e-9)))
        least = max(1, int(opt.budget / max(once * cell["calls"], 1e-9)))
        cell["rounds"], cell["seconds"] = min(rounds, least), []
    for i in range(rounds):
        # Every other round backwards, so that no column always follows the same one.
        for cell in cells if i % 2 == 0 else reversed(cells):
            if i < cell["rounds"]:
                cell["seconds"].append(
                    sample(cell["run"].call, cell["calls"], opt.clock)
                )


def main() -> int:
    """Measure what the command line asks for and print it."""
    opt = options()
    use_one_thread()
    # Only now: these import NumPy, which reads those settings once.
    import columns as ways
    import programs

    unknown = set(opt.programs or ()) - set(programs.PROGRAMS)
    if unknown:
        print(f"no such program: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    wanted = opt.pair or opt.columns or ways.DEFAULT
    columns = ways.Columns(wanted)
    results: dict[str, dict] = {}
    for name in opt.programs or programs.PROGRAMS:
        program = programs.PROGRAMS[name]
        for size in opt.sizes:
            if size in program.sizes:
                row = results[f"{name}/{size}"] = prepare(columns, program, size)
                measure(row, opt, max(opt.rounds, 31) if opt.pair else opt.rounds)
                print(f"# {name}/{size}", file=sys.stderr, flush=True)
    if opt.json:
        figures = {
            name: {
                label: {k: v for k, v in cell.items() if k != "run"}
                for label, cell in row.items()
            }
            for name, row in results.items()
        }
        with open(opt.json, "w") as file:
            json.dump(figures, file, indent=1)
    if opt.pair:
        report.print_pair(results, *opt.pair)
    else:
        report.print_table(results)
        report.print_summary(results)
    wrong = [
        f"{name} {label}"
        for name, row in results.items()
        for label, cell in row.items()
        if label.startswith("sct") and report.wrong(cell)
    ]
    if wrong:
        print("WRONG: " + ", ".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
