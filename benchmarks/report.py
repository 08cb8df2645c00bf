"""What was measured, as text: the table, the means, the comparison of two columns.

A row maps the label of a column to its cell: ``seconds`` (samples) and ``wrong_by``,
or the ``error`` that kept it from running.
"""

from __future__ import annotations

import math
import statistics

TOLERANCE = 1e-8  # of the largest element
# What the time of a column is a multiple of, where not of `hand`.
BASES = {"jvp": "primal", "hvp": "sct"}


def wrong(cell: dict) -> bool:
    """Whether a gradient was compared with the hand-written one and differs."""
    return cell.get("wrong_by", 0.0) > TOLERANCE


def for_people(seconds: float) -> str:
    """``1.23 ms``."""
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1.0:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"


def ratio(row: dict[str, dict], label: str) -> float | None:
    """How many times its base's median a column takes, where both were measured."""
    base = BASES.get(label, "hand")
    if not all(row.get(c, {}).get("seconds") for c in (label, base)):
        return None
    top, bottom = (statistics.median(row[c]["seconds"]) for c in (label, base))
    return top / bottom


def cell_text(row: dict[str, dict], label: str) -> str:
    """One cell of the table: times for `primal` and `hand`, else multiples."""
    cell = row.get(label)
    if cell is None:
        return ""
    if "error" in cell:
        return cell["error"].split(":")[0]
    times = ratio(row, label)
    absolute = label in ("primal", "hand") or times is None
    text = (
        for_people(statistics.median(cell["seconds"])) if absolute else f"{times:.2f}"
    )
    if wrong(cell):
        text += f" WRONG by {cell['wrong_by']:.0e}"
    return f"{text} {cell['run'].note}".rstrip()


def print_table(results: dict[str, dict]) -> None:
    """The table in Markdown, aligned."""
    seen = dict.fromkeys(label for row in results.values() for label in row)
    lines = [["program", *seen]]
    lines += [
        [name, *(cell_text(row, label) for label in seen)]
        for name, row in results.items()
    ]
    widths = [max(map(len, column)) for column in zip(*lines)]
    lines.insert(1, ["-" * w for w in widths])
    for line in lines:
        print("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths)) + " |")


def print_summary(results: dict[str, dict]) -> None:
    """What waits, the geometric mean and the worst row of every column of sct's."""
    for name, row in results.items():
        for label, cell in row.items():
            if label.startswith("sct") and "error" in cell:
                print(f"{name} {label} waits: {cell['error']}")
    for label in dict.fromkeys(c for r in results.values() for c in r):
        ratios = {
            name: times
            for name, row in results.items()
            if (times := ratio(row, label)) and not wrong(row[label])
        }
        if label in ("primal", "hand") or not ratios:
            continue
        mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
        worst = max(ratios, key=ratios.get)
        base = BASES.get(label, "hand")
        print(
            f"{label}/{base}: geometric mean {mean:.3f} over {len(ratios)}, "
            f"worst {ratios[worst]:.2f} ({worst})"
        )


def print_pair(results: dict[str, dict], a: str, b: str) -> None:
    """Ratios of the fastest samples, which a busy machine changes least."""
    ratios = {}
    for name, row in results.items():
        if all(row.get(label, {}).get("seconds") for label in (a, b)):
            fastest = [min(row[label]["seconds"]) for label in (a, b)]
            ratios[name] = fastest[0] / fastest[1]
            print(f"{name:20} {a}/{b} {ratios[name]:.3f}")
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
        worst = max(ratios, key=ratios.get)
        print(f"geometric mean {mean:.3f}, worst {ratios[worst]:.2f} ({worst})")
