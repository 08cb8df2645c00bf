"""Write the parts of the documentation that the sources say best.

    python docs/regenerate.py

Between ``<!-- generated: files -->`` and ``<!-- end -->`` stands what `PARTS` gives for
``files``.  The tests fail when a page is not what this would write.
"""

from __future__ import annotations

import ast
import functools
import importlib.util
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import gast

import sct
from sct import derive, emit, fence, normalise, polish

HERE = Path(__file__).parent
ROOT = HERE.parent
PAGES = [ROOT / "README.md", *sorted(HERE.glob("*.md"))]
PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n\n).*?(\n<!-- end -->)", re.DOTALL)

EXAMPLE = """\
import math


def swing(x: float, v: float, n: int) -> float:
    for i in range(n):
        a = -math.sin(x)
        if v > 1.0:
            a -= 0.5 * v * v
        v += 0.1 * a
        x += 0.1 * v
    return x * x
"""
ORDER = """
api operators colours control transform deferred check testing cli store module
arguments errors
parse resolve entry normalise fence hooks outline imports generators spellings
selections iterators edits
stacks ordering mapped desugar hoist unpack patterns attempts comprehensions iterate
exits anf lives enclosed solvers solutions
lift writeout understanding meanings classes objects attributes grown beyond sums
containers synonyms components unroll specialise known integers operations refusals
spelling structures inplace sharing views reuse prepare
purity questions program derive context assemble unseen draft drivers implicit
flows snapshots nans likeness
adjoint inline contents storage recompute reverse forward polish emit phrases layout
runtime runtime_rules runtime_reductions runtime_scans runtime_joins runtime_written
runtime_elementwise runtime_operators runtime_control runtime_special runtime_stats
runtime_scipy_linalg runtime_signal runtime_integrate runtime_distance
runtime_scipy_fft runtime_solvers
runtime_linalg runtime_decompositions runtime_triangular runtime_norms runtime_fft
helpers grammar names renaming writer version
""".split()


def files() -> str:
    """A table of the modules of sct, each with the first sentence about itself."""
    rank = {word: i for i, word in enumerate(ORDER)}
    package = ROOT / "sct"
    paths = [p for p in package.rglob("*.py") if p.name != "__main__.py"]
    rows = ["| file | |", "|---|---|"]
    for path in sorted(
        paths,
        key=lambda p: (
            len(p.relative_to(package).parts),
            p.parent.name,
            rank.get(p.stem, len(rank)),
            p.stem,
        ),
    ):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        if said:
            where = path.relative_to(package).as_posix()
            rows.append(f"| `{where}` | {said.splitlines()[0]} |")
    return "\n".join(rows) + "\n"


def refused() -> str:
    """A table of the constructs that are refused by their syntax."""
    entries = [*fence.REFUSED.values()]
    for value in vars(fence).values():
        if isinstance(value, tuple) and len(value) == 3 and value not in entries:
            entries.append(value)
    rows = ["| construct | why | instead |", "|---|---|---|"]
    for what, why, instead in dict.fromkeys(entries):
        rows.append(f"| {what} | {why} | {instead} |")
    return "\n".join(rows) + "\n"


@functools.cache
def stages() -> dict[str, str]:
    """The example as each stage leaves it."""
    texts = {"source": EXAMPLE.split("\n\n\n")[1]}

    def watched(module: object, name: str, text: Callable[[object], str]):
        stage = getattr(module, name)

        def run(*args, **kwargs):
            result = stage(*args, **kwargs)
            texts[name] = text(result)
            return result

        return mock.patch.object(module, name, run)

    def both(result: derive.Sweeps) -> str:
        fn = gast.parse("def f():\n    pass").body[0]
        fn.body = [*result.forward, *result.backward]
        lines = emit.function_text(fn).splitlines()[1:]
        return "".join(f"{line[4:]}\n" for line in lines)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pendulum.py"
        path.write_text(EXAMPLE, encoding="utf-8")
        swing = _imported(path).swing
        with (
            watched(normalise, "desugar", emit.function_text),
            watched(normalise, "anf", emit.function_text),
            watched(derive, "prepare", lambda made: emit.function_text(made.fn)),
            watched(derive, "sweeps", both),
            watched(derive, "optimize", emit.function_text),
            watched(polish, "polish", emit.function_text),
        ):
            made = sct.grad(swing, wrt=("x", "v"))
        texts["module"] = sct.source(made)
    return texts


def _imported(path: Path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def stage(name: str) -> str:
    """The example after one stage, as a block of text."""
    return f"```text\n{stages()[name]}```\n"


PARTS: dict[str, Callable[[], str]] = {
    "files": files,
    "refused": refused,
    **{
        f"stage-{name}": functools.partial(stage, name)
        for name in ("source", "anf", "prepare", "sweeps", "optimize", "module")
    },
}


def written(text: str) -> str:
    """A page with its generated parts as they should be."""
    return PART.sub(lambda m: m[1] + PARTS[m[2]]() + m[3], text)


def stale() -> Iterator[tuple[Path, str]]:
    """The pages that differ from what this program would write, and that text."""
    for page in PAGES:
        old = page.read_text(encoding="utf-8")
        new = written(old)
        if new != old:
            yield page, new


def main() -> int:
    """Write the pages that differ."""
    for page, text in stale():
        page.write_text(text, encoding="utf-8")
        print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
