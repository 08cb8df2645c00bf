"""Random programs: derivatives agree with differences, and nothing else gives way."""

from __future__ import annotations

import pytest

from .generate import program
from .judge import FINE, REFUSED, SKIPPED, judge
from .orders import judge_orders

PROGRAMS, GROUPS = 40, 8
# Forward mode and second derivatives take longer.
CHECKS = {"reverse": (None, range(PROGRAMS)), "orders": (judge_orders, range(24))}


@pytest.mark.parametrize("group", range(GROUPS))
@pytest.mark.parametrize("modes", CHECKS)
def test_random_programs(modes, group, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    check, programs = CHECKS[modes]
    seeds = programs[group::GROUPS]
    seen = {s: judge(program(s), tmp_path, f"random_{s}", check) for s in seeds}
    wrong = {s: v for s, v in seen.items() if v.kind not in (FINE, REFUSED, SKIPPED)}
    assert not wrong, "\n".join(
        f"seed {s}: {v.kind}\n{v.detail}" for s, v in wrong.items()
    )
    # Reverse over reverse mode refuses many of them, whatever the other mode says.
    least = len(seeds) // 2 if check is None else 0
    assert sum(v.kind == FINE for v in seen.values()) >= least
