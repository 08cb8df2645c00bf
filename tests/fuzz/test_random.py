"""Random programs: reverse mode agrees with differences, and nothing else gives way."""

from __future__ import annotations

import pytest

from .generate import program
from .judge import FINE, REFUSED, SKIPPED, judge

PROGRAMS, GROUPS = 40, 8


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs(group, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    seeds = range(group, PROGRAMS, GROUPS)
    seen = {s: judge(program(s), tmp_path, f"random_{s}") for s in seeds}
    wrong = {s: v for s, v in seen.items() if v.kind not in (FINE, REFUSED, SKIPPED)}
    assert not wrong, "\n".join(
        f"seed {s}: {v.kind}\n{v.detail}" for s, v in wrong.items()
    )
    assert sum(v.kind == FINE for v in seen.values()) >= len(seeds) // 2
