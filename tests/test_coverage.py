"""The page of coverage says what was measured, and a part of it is measured again."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("scipy", reason="SciPy is an optional extra")

path = Path(__file__).parent.parent / "docs" / "coverage.py"
spec = importlib.util.spec_from_file_location("docs_coverage", path)
coverage = importlib.util.module_from_spec(spec)
spec.loader.exec_module(coverage)

DATA = json.loads(coverage.DATA.read_text(encoding="utf-8"))
LISTED = list(coverage.names())
# Every name takes about half a second.
SAMPLE = LISTED[::25]


@pytest.fixture(scope="module")
def tool():
    return coverage.Sct(coverage.space_of("sct"))


def test_every_name_is_measured():
    listed = [name for _, name, _ in LISTED]
    assert len(set(listed)) == len(listed)
    for found in DATA.values():
        assert list(found) == listed


def test_the_page_is_current():
    text = coverage.PAGE.read_text(encoding="utf-8")
    assert text == coverage.page(DATA), "write it with `python docs/coverage.py`"


@pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.3.0",
    reason="the table was measured with names that older versions of NumPy lack",
)
@pytest.mark.parametrize(("name", "calls"), [(n, c) for _, n, c in SAMPLE])
def test_what_was_measured_still_holds(tool, name, calls):
    assert coverage.measured(tool, calls) == DATA["sct"][name]


def test_a_wrong_derivative_is_seen(tool):
    class Wrong(coverage.Sct):
        def forward(self, call, f, values):
            return [2.0 * d for d in super().forward(call, f, values)]

    found = coverage.measured(Wrong(tool.space), ["np.sin(x)", "np.cos(x)"])
    assert (found["reverse"], found["forward"]) == ("yes", "wrong")
    assert found["calls"] == [0, 0]


def test_what_is_refused_is_seen(tool):
    found = coverage.measured(tool, ["sum([open(x)])", "np.sin(x)"])
    assert (found["reverse"], found["calls"]) == ("-", [0, 1])
    found = coverage.measured(tool, ["float(str(f))"])
    assert found["reverse"] in ("no", "wrong")
