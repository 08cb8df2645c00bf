"""Every Python snippet of the README and of docs/ runs and prints what it says.

Tables and texts that the sources say best are generated, and compared here.

The ``python`` blocks of one file run in order, in one namespace, in an empty folder.
Where a comment ``<!-- output -->`` and a ``text`` block follow, the block is what the
snippet prints.  A snippet that raises on purpose shows it with ``try`` and ``print``.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import sct

pytestmark = pytest.mark.smoke

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

SNIPPET = re.compile(
    r"^```python\n(?P<code>.*?)^```\n"
    r"(?:\n*<!-- output -->\n+```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Snippet:
    """Code, the line of the page it starts on, and what it prints (None: unsaid)."""

    code: str
    line: int
    output: str | None


def snippets(text: str) -> list[Snippet]:
    """The Python snippets of a page."""
    return [
        Snippet(m["code"], text.count("\n", 0, m.start("code")) + 1, m["output"])
        for m in SNIPPET.finditer(text)
    ]


def run(page: Path, folder: Path, printed) -> None:
    """Run the snippets of a page; `printed()` gives the output since last time."""
    namespace = {"__name__": page.stem}
    for snippet in snippets(page.read_text(encoding="utf-8")):
        # A real file, so that `inspect` finds the functions that it defines; one file
        # each, whose name says the line of the page, counted from one as a reader who
        # pastes it counts.
        file = folder / f"{page.stem}_{snippet.line}.py"
        file.write_text(snippet.code, encoding="utf-8")
        exec(compile(snippet.code, str(file), "exec", dont_inherit=True), namespace)
        output = printed()
        if snippet.output is not None:
            assert output.split("\n") == snippet.output.split("\n"), (
                f"{page.name}, line {snippet.line}"
            )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_snippets(page, tmp_path, monkeypatch, capsys):
    before = set(sys.modules)
    if "sparsity=" in page.read_text(encoding="utf-8"):
        pytest.importorskip("scipy", reason="sparse Jacobians need SciPy")
    if "import cupy" in page.read_text(encoding="utf-8"):
        pytest.importorskip("cupy")
        pytest.importorskip("scipy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    run(page, tmp_path, lambda: capsys.readouterr().out)
    for name in set(sys.modules) - before:
        # Derivatives check their arguments where CuPy is imported.
        if name.startswith("cupy"):
            monkeypatch.delitem(sys.modules, name)


PAGE = """
```python
import inspect

def f(x):
    return x
```

```python
print(inspect.getsource(f), end="")
```

<!-- output -->
```text
def f(x):
    return {result}
```
"""


@pytest.mark.parametrize("result", ["x", "y"])
def test_output_is_compared(result, tmp_path, capsys):
    page = tmp_path / "page.md"
    page.write_text(PAGE.replace("{result}", result))
    assert [s.line for s in snippets(page.read_text())] == [3, 10]
    if result == "x":
        run(page, tmp_path, lambda: capsys.readouterr().out)
    else:
        with pytest.raises(AssertionError, match="page.md, line 10"):
            run(page, tmp_path, lambda: capsys.readouterr().out)


def test_generated_parts_are_current(regenerate):
    assert [page.name for page, _ in regenerate.stale()] == [], (
        "write them with `python docs/regenerate.py`"
    )


def test_every_generated_part_is_written(regenerate):
    pages = [page.read_text(encoding="utf-8") for page in regenerate.PAGES]
    marked = [m for text in pages for m in re.findall("<!-- generated: (.*) -->", text)]
    found = [m[1] for text in pages for m in regenerate.PART.findall(text)]
    assert found == marked


def test_stale_parts_are_found(regenerate, tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("<!-- generated: refused -->\n\nnothing\n<!-- end -->\n")
    monkeypatch.setattr(regenerate, "PAGES", [page])
    ((found, text),) = regenerate.stale()
    assert found == page
    assert "| a generator |" in text and "nothing" not in text


@pytest.fixture(scope="module")
def regenerate():
    path = ROOT / "docs" / "regenerate.py"
    spec = importlib.util.spec_from_file_location("regenerate_docs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


KINK = re.compile(r"^\| `(.+?)` \| `x = (.+?)` \| `(.+?)` \|", re.MULTILINE)
KINKS = KINK.findall((ROOT / "docs" / "kinks.md").read_text(encoding="utf-8"))


def test_every_kink_is_read():
    page = (ROOT / "docs" / "kinks.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == len(KINKS)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(("function", "at", "derivative"), KINKS)
def test_kinks(function, at, derivative, tmp_path):
    file = tmp_path / "kink.py"
    source = f"import math\nimport numpy as np\n\ndef f(x):\n    return {function}\n"
    file.write_text(source, encoding="utf-8")
    namespace: dict = {"__name__": "kink"}
    exec(compile(source, str(file), "exec"), namespace)
    x = eval(at, {"np": np})
    expected = np.array(eval(derivative))
    assert np.array_equal(sct.grad(namespace["f"])(x), expected)


def test_links_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"
