"""Part 3: what one gradient costs, beside the ways to do without sct."""

from __future__ import annotations

import importlib
import importlib.util
import statistics
import time
from collections.abc import Callable

import models
from rich.console import Console
from rich.table import Table

ROUNDS, SAMPLE = 25, 0.005


def medians(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Seconds of one call of each, all sampled in turn in this process."""
    samples: dict[str, list[float]] = {name: [] for name in calls}
    times = {}
    for name, call in calls.items():
        call()
        start = time.perf_counter()
        call()
        times[name] = max(1, round(SAMPLE / (time.perf_counter() - start)))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(times[name]):
                call()
            samples[name].append((time.perf_counter() - start) / times[name])
    return {name: statistics.median(seconds) for name, seconds in samples.items()}


def by_autograd():
    """autograd's gradient of `loss`, and its value; None where it is not installed."""
    if importlib.util.find_spec("autograd") is None:
        return None
    autograd = importlib.import_module("autograd")
    # The same source once more, with `np` meaning autograd's wrapped NumPy.
    spec = importlib.util.spec_from_file_location("wrapped", models.__file__)
    wrapped = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(wrapped)
    wrapped.np = importlib.import_module("autograd.numpy")
    return autograd.value_and_grad(wrapped.loss, argnum=(0, 1, 2, 3))


def main(console: Console, df: Callable, args: tuple) -> None:
    """Print the time of the loss alone and of each way to its gradient."""
    console.rule("3. the time of one loss and gradient")
    ways = {
        "the loss alone": models.loss,
        "by sct": df,
        "by hand": models.loss_value_and_grad_by_hand,
        "by autograd": by_autograd(),
    }
    if ways["by autograd"] is None:
        del ways["by autograd"]
        console.print("autograd is not installed: its row is left out.")
    seconds = medians({name: lambda f=f: f(*args) for name, f in ways.items()})
    table = Table()
    table.add_column("loss and gradient")
    for heading in ("time", "/ loss alone", "/ by hand"):
        table.add_column(heading, justify="right")
    for name, t in seconds.items():
        by_loss, by_hand = t / seconds["the loss alone"], t / seconds["by hand"]
        table.add_row(name, f"{t * 1e6:.0f} us", f"{by_loss:.2f}", f"{by_hand:.2f}")
    console.print(table)
