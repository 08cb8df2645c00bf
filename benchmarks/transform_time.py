"""Time that `sct.grad` itself takes, for functions of 50, 500 and 5000 statements.

    python benchmarks/transform_time.py [--statements N ...]

The functions are straight lines of unary and binary operations; time per statement
that grows with their number means that some pass is not linear.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from pathlib import Path

import sct

STATEMENTS = (
    "v{i} = np.sin(v{j}) * x",
    "v{i} = v{j} * v{k} + 0.5",
    "v{i} = v{j} / (2.0 + v{k} * v{k})",
    "v{i} = np.tanh(v{j} - x)",
    "v{i} = v{j} + v{k}",
)


def straight_line(n: int) -> str:
    """The source of a function of `n` statements, its return not counted."""
    lines = ["import numpy as np", "", "", "def f(x):", "    v0 = x", "    v1 = x * x"]
    for i in range(2, n):
        form = STATEMENTS[i % len(STATEMENTS)]
        lines.append("    " + form.format(i=i, j=i - 1, k=i - 2))
    lines.append(f"    return v{n - 1}")
    return "\n".join(lines) + "\n"


def load(source: str, folder: Path, name: str):
    """The function of a module written to `folder`."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.f


def main() -> None:
    """Print milliseconds per statement for each length."""
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("--statements", nargs="+", type=int, default=[50, 500, 5000])
    lengths = ap.parse_args().statements
    with tempfile.TemporaryDirectory() as folder:
        warm_up = load(straight_line(10), Path(folder), "straight_10")
        sct.grad(warm_up)
        print("statements  seconds  ms/statement  value at 0.5")
        for n in lengths:
            f = load(straight_line(n), Path(folder), f"straight_{n}")
            start = time.perf_counter()
            df = sct.grad(f)
            seconds = time.perf_counter() - start
            each = 1e3 * seconds / n
            print(f"{n:10d}  {seconds:7.3f}  {each:12.3f}  {df(0.5):.6g}", flush=True)


if __name__ == "__main__":
    main()
