"""The parts of sct import one another in one direction only.

`LINES` draws it: a file may import from the lines above its own, and within its own
folder.  Parts joined by ``+`` need one another: what is known of a function that is
called is found by the stages that ask for it.  A file that is not drawn fails, so that
the drawing stays complete.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = pytest.mark.smoke

PACKAGE = Path(__file__).parent.parent / "sct"

LINES = """
errors version questions
runtime
runtime_rules runtime_decompositions runtime_fft
runtime_reductions runtime_scans runtime_joins runtime_written runtime_operators
runtime_special runtime_elementwise runtime_linalg runtime_triangular
runtime_stats runtime_control runtime_norms runtime_scipy_linalg
runtime_signal runtime_integrate runtime_distance runtime_scipy_fft
runtime_solvers
helpers
backends
grammar layout
names phrases renaming arguments solvers
writer trial synonyms
unpack patterns containers comprehensions spread outer iterators stacks
hoist attempts
exits
iterate
parse resolve
selections spellings
classes solutions
control
hooks outline
fence desugar anf imports generators enclosed
templates
inline sums components unroll extremes edits ordering mapped
meanings attributes grown
likeness
understanding
writeout objects
lift
operations
refusals spelling
normalise+lives+purity+analysis+beyond
prepare specialise known inplace reuse integers
entry
structures
context
adjoint
sharing
views forward
contents
storage
recompute
reverse
optimize
polish
emit
module
nans
unseen assemble
draft
implicit snapshots
flows
derive deferred
program
drivers
store
transform colours
api
operators
check cli testing
__init__
__main__
"""

KNOTS = [
    (i, knot.split("+"))
    for i, line in enumerate(LINES.splitlines())
    for knot in line.split()
]
RANK = {name: i for i, knot in KNOTS for name in knot}
PEERS = {name: knot for _, knot in KNOTS for name in knot}


def part(path: Path, package: Path) -> str:
    """The name that `LINES` gives to a file: its own, or that of its folder."""
    return path.relative_to(package).parts[0].removesuffix(".py")


def imports(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Line and full name of each module that a file imports, at whatever depth."""
    place = (package.name, *path.relative_to(package).parent.parts)
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = place[: len(place) - node.level + 1] if node.level else ()
            module = ".".join([*base, *filter(None, [node.module])])
            for alias in node.names:
                yield node.lineno, f"{module}.{alias.name}"


def imported_part(name: str, package: Path) -> str | None:
    """The part of the package that an import names; None for anything else."""
    first, *rest = name.split(".")
    if first != package.name:
        return None
    inside = rest and any((package / f"{rest[0]}{end}").exists() for end in ("", ".py"))
    return rest[0] if inside else "__init__"


def wrong_imports(package: Path) -> list[str]:
    """What the files of a package import against the drawing."""
    wrong = []
    for path in sorted(package.rglob("*.py")):
        own = part(path, package)
        where = path.relative_to(package).as_posix()
        if own not in RANK:
            wrong.append(f"{where}: not drawn in LINES")
            continue
        for line, name in imports(path, package):
            other = imported_part(name, package)
            if other in (None, *PEERS[own]):
                continue
            if RANK.get(other, len(RANK)) >= RANK[own]:
                wrong.append(f"{where}:{line}: {own} imports {other}")
    return wrong


def importers(package: Path, module: str) -> set[str]:
    """The files of a package that import a module from outside it."""
    return {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        for _, name in imports(path, package)
        if name.split(".")[0] == module
    }


def test_imports_point_one_way():
    assert wrong_imports(PACKAGE) == []


def test_all_that_is_drawn_exists():
    parts = {part(path, PACKAGE) for path in PACKAGE.rglob("*.py")}
    assert set(RANK) - parts == set()


def test_only_emit_imports_astor():
    assert importers(PACKAGE, "astor") == {"emit.py"}


def test_only_the_backend_imports_cupy():
    assert importers(PACKAGE, "cupy") <= {"backends/cupy.py"}


@pytest.mark.parametrize(
    ("file", "source", "complaint"),
    [
        ("errors.py", "from sct.api import grad", "errors.py:1: errors imports api"),
        ("anf.py", "from . import desugar", "anf.py:1: anf imports desugar"),
        ("runtime.py", "import sct.grammar", "runtime.py:1: runtime imports grammar"),
        ("runtime.py", "from .errors import SctError", None),
        ("emit.py", "import sct", "emit.py:1: emit imports __init__"),
        ("emit.py", "def f():\n    from .api import g", "emit.py:2: emit imports api"),
        (
            "analysis/x.py",
            "from ..emit import x",
            "analysis/x.py:1: analysis imports emit",
        ),
        ("analysis/x.py", "from .y import z\nfrom sct.grammar import y", None),
        ("other.py", "", "other.py: not drawn in LINES"),
    ],
)
def test_wrong_imports_are_found(tmp_path, file, source, complaint):
    package = tmp_path / "sct"
    (package / "analysis").mkdir(parents=True)
    for name in ("__init__", "errors", "grammar", "desugar", "emit", "api"):
        (package / f"{name}.py").touch()
    (package / file).write_text(source)
    assert wrong_imports(package) == ([complaint] if complaint else [])
