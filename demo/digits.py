"""Part 2: a network on scikit-learn's digits, trained with an emitted gradient."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from models import loss, predict
from rich.console import Console
from rich.progress import track
from rich.syntax import Syntax
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import sct

HERE = Path(__file__).parent
OUTPUT = HERE / "output"
HIDDEN, BATCH, EPOCHS, RATE = 64, 64, 60, 0.3
GOAL = 0.95


def data() -> tuple[np.ndarray, ...]:
    """Training images, their one-hot labels, test images, their labels."""
    digits = load_digits()
    x, x_test, y, y_test = train_test_split(
        digits.data / 16.0, digits.target, test_size=0.25, random_state=0
    )
    return x, np.eye(10)[y], x_test, y_test


def initial(rng: np.random.Generator) -> list[np.ndarray]:
    """The parameters before training."""
    return [
        rng.normal(size=(64, HIDDEN)) / 8.0,
        np.zeros(HIDDEN),
        rng.normal(size=(HIDDEN, 10)) / np.sqrt(HIDDEN),
        np.zeros(10),
    ]


def train(loss_value_and_grad, x, t, console: Console):
    """Gradient descent on minibatches; the parameters and the loss of each step."""
    rng = np.random.default_rng(1)
    params = initial(rng)
    losses = []
    for _ in track(range(EPOCHS), "training", console=console):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            rows = order[start : start + BATCH]
            value, gradient = loss_value_and_grad(*params, x[rows], t[rows])
            params = [p - RATE * p_bar for p, p_bar in zip(params, gradient)]
            losses.append(value)
    return params, losses


def plot(losses: list[float], path: Path) -> None:
    """The loss of each step, and its mean over each epoch."""
    steps = len(losses) // EPOCHS
    epochs = np.reshape(losses, (EPOCHS, steps)).mean(axis=1)
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.semilogy(losses, color="0.75", linewidth=0.7, label="minibatch")
    axes.semilogy((np.arange(EPOCHS) + 0.5) * steps, epochs, label="epoch")
    axes.set(xlabel="step", ylabel="cross-entropy", title="Training on digits")
    axes.legend(frameon=False)
    figure.savefig(path, dpi=150)


def run_without_sct(module: Path, name: str, args) -> list[np.ndarray]:
    """What function `name` of `module` gives in an interpreter where sct is absent."""
    inputs, outputs = OUTPUT / "inputs.npz", OUTPUT / "outputs.npz"
    np.savez(inputs, *args)
    command = [sys.executable, HERE / "rerun.py", module, name, inputs, outputs]
    subprocess.run(command, check=True)
    with np.load(outputs) as arrays:
        return [arrays[key] for key in arrays.files]


def main(console: Console) -> tuple:
    """Train, plot, save the derivative and run it alone; arguments to time with."""
    console.rule("2. a network on scikit-learn's digits")
    OUTPUT.mkdir(exist_ok=True)
    df = sct.value_and_grad(loss, wrt=("w1", "b1", "w2", "b2"))
    text = inspect.getsource(df)
    console.print(Syntax(text, "python", background_color="default"))

    x, t, x_test, y_test = data()
    params, losses = train(df, x, t, console)
    accuracy = np.mean(predict(*params, x_test) == y_test)
    if accuracy <= GOAL:
        raise AssertionError(f"test accuracy is {accuracy:.1%}, not over {GOAL:.0%}")
    picture = OUTPUT / "loss.png"
    plot(losses, picture)
    console.print(
        f"Loss {losses[0]:.3f} -> {losses[-1]:.4f}, test accuracy {accuracy:.1%}, "
        f"plot in {picture.relative_to(HERE.parent)}."
    )

    module = OUTPUT / f"{df.__name__}.py"
    sct.save(df, module)
    args = (*params, x[:BATCH], t[:BATCH])
    value, gradient = df(*args)
    alone = run_without_sct(module, df.__name__, args)
    for here, there in zip((value, *gradient), alone, strict=True):
        here = np.asarray(here)
        if (here.dtype, here.shape) != (there.dtype, there.shape) or (
            here.tobytes() != there.tobytes()
        ):
            raise AssertionError("the saved module gives something else")
    console.print(
        f"Saved as {module.relative_to(HERE.parent)}; imported in a fresh interpreter "
        "without sct, it gives the same, bit for bit."
    )
    return df, args
