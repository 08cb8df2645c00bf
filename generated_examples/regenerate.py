"""Write the derivatives in this folder again: `make examples`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sct
from generated_examples import (
    arrays,
    control,
    inplace,
    loops,
    models,
    networks,
    scalars,
)

HERE = Path(__file__).parent


class Example(NamedTuple):
    """A function, the derivative asked for, and arguments to try it with."""

    function: Callable
    mode: str
    wrt: int | str | tuple[int | str, ...]
    arguments: tuple

    @property
    def name(self) -> str:
        """The name of the module, and of the derivative in it."""
        return f"{self.function.__name__}_{self.mode}"

    @property
    def path(self) -> Path:
        return HERE / f"{self.name}.py"

    def derivative(self) -> Callable:
        return getattr(sct, self.mode)(self.function, self.wrt)


def some(*shape: int) -> np.ndarray:
    """Numbers between -1 and 1, the same for the same shape."""
    return np.random.default_rng(shape).uniform(-1.0, 1.0, shape)


def one_hot(labels: list[int]) -> np.ndarray:
    return np.eye(max(labels) + 1)[labels]


def definite(n: int) -> np.ndarray:
    a = some(n, n)
    return a @ a.T + n * np.eye(n)


def layer(rows: int, columns: int) -> dict[str, np.ndarray]:
    return {"w": some(rows, columns), "b": some(columns)}


SIGNS = np.array([1.0, -1.0, 1.0, 1.0, -1.0])

SOFTMAX = (some(4, 3), some(3), some(5, 4), one_hot([0, 2, 1, 1, 0]))
EXAMPLES = [
    Example(scalars.product_plus_sine, "grad", (0, 1), (0.7, -1.3)),
    Example(scalars.leaky_square, "grad", (0, 1), (0.7, 0.2)),
    Example(scalars.total_cost, "grad", (0, 1, 2), (0.7, 1.1, 0.4)),
    Example(scalars.normal_cdf, "value_and_grad", 0, (0.3,)),
    Example(scalars.black_scholes, "grad", (0, 2, 3, 4), (100.0, 95.0, 0.03, 0.2, 1.5)),
    Example(scalars.logistic_price, "grad", (0, 3), (100.0, 95.0, 0.03, 0.2, 1.5)),
    Example(scalars.income_tax, "grad", (0, 2, 3), (45000.0, 9000.0, 0.2, 0.4)),
    Example(scalars.power, "grad", 0, (1.3, 5)),
    Example(scalars.fast_power, "grad", "x", (1.3, 11)),
    Example(scalars.tree_sum, "grad", "x", (0.4, 0, 7)),
    Example(scalars.even_step, "grad", "x", (0.4, 5)),
    Example(scalars.spiral, "grad", ("x", "y"), (0.6, 0.8)),
    Example(scalars.interference, "grad", (0, 1), (0.6, 0.2)),
    Example(scalars.clamp_penalty, "grad", (0, 1, 2), (1.7, -1.0, 1.0)),
    Example(loops.newton_sqrt, "grad", 0, (2.0, 1e-12)),
    Example(loops.first_exceed, "grad", 0, (1.4, 3.0, 20)),
    Example(loops.newton_cubic, "value_and_grad", (0, 1), (2.0, -1.5, 4)),
    Example(loops.secant_root, "grad", 0, (1.5, 1e-13)),
    Example(loops.horner, "grad", (0, 1), (0.7, some(5))),
    Example(loops.horner_over, "grad", 0, (0.7, some(5))),
    Example(loops.search_root, "grad", (0, 1), (1.5, 0.4, 9)),
    Example(loops.trapezoid, "grad", (0, 1, 2), (0.1, 1.4, 0.6, 8)),
    Example(loops.simpson, "grad", 0, (0.6, some(7), some(7))),
    Example(
        loops.lorenz_rk4,
        "grad",
        ("s", "rho"),
        (1.0 + some(3), 10.0, 28.0, 8.0 / 3.0, 0.01, 6),
    ),
    Example(loops.pendulum, "grad", ("angle", "length"), (0.5, 0.1, 1.2, 0.05, 12)),
    Example(loops.logistic_map, "grad", (0, 1), (0.3, 2.9, 7)),
    Example(loops.kalman_loglik, "value_and_grad", (0, 1), (0.3, 0.5, some(6))),
    Example(
        loops.kalman_filter,
        "grad",
        ("a", "q", "r"),
        (0.5 * some(3, 3), some(2, 3), definite(3), definite(2), some(4, 2)),
    ),
    Example(loops.nbody_energy, "grad", (0, 1), (some(4, 3), some(4, 3), 2 + some(4))),
    Example(networks.softmax_loss, "grad", (0, 1), SOFTMAX),
    Example(networks.logistic_loss, "grad", "w", (some(4), some(5, 4), SIGNS)),
    Example(networks.ridge_loss, "grad", "w", (some(4), some(5, 4), some(5), 0.1)),
    Example(networks.logsumexp, "grad", 0, (some(6),)),
    Example(
        networks.mlp_loss,
        "value_and_grad",
        (0, 1, 2, 3),
        (
            some(4, 6),
            some(6),
            some(6, 3),
            some(3),
            some(5, 4),
            one_hot([0, 2, 1, 1, 0]),
        ),
    ),
    Example(
        networks.relu_network,
        "grad",
        (0, 1, 2, 3),
        (some(4, 6), some(6), some(6, 3), some(3), some(5, 4), some(5, 3)),
    ),
    Example(
        networks.rnn_loss,
        "grad",
        (0, 1, 2),
        (some(3, 3), some(3, 2), some(3), some(6, 2), some(6, 3)),
    ),
    Example(networks.huber_loss, "grad", 0, (some(4), some(5, 4), some(5), 0.3)),
    Example(
        networks.gaussian_mixture,
        "grad",
        (0, 1, 2),
        (np.array([0.3, 0.7]), some(2), 1.5 + some(2), some(6)),
    ),
    Example(
        networks.attention, "grad", (0, 1, 2), (some(4, 3), some(5, 3), some(5, 2))
    ),
    Example(networks.layer_norm, "grad", (0, 1, 2), (some(3, 4), some(4), some(4))),
    Example(networks.cosine_similarity, "grad", (0, 1), (some(4), 0.3 + some(4))),
    Example(arrays.rosenbrock, "grad", 0, (some(5),)),
    Example(arrays.rastrigin, "grad", 0, (some(5),)),
    Example(arrays.quadratic_form, "grad", (0, 1), (some(4), some(4, 4))),
    Example(arrays.mahalanobis, "grad", (0, 1), (some(3), some(7, 3))),
    Example(arrays.gaussian_loglik, "grad", (0, 1), (some(3), definite(3), some(4, 3))),
    Example(arrays.gp_loglik, "grad", (0, 1), (0.8, 0.4, some(6), some(6))),
    Example(arrays.pairwise_energy, "grad", 0, (some(4, 3),)),
    Example(arrays.total_variation, "grad", 0, (some(4, 5), 1e-2)),
    Example(arrays.chain, "grad", 0, (some(4, 3),)),
    Example(arrays.projectile, "vjp", (0, 1), (some(3), 0.1)),
    Example(arrays.rosenbrock, "hessian", 0, (some(4),)),
    Example(arrays.rosenbrock, "hvp", 0, (some(4),)),
    Example(arrays.projectile, "jacobian", 0, (some(3), 0.1)),
    Example(arrays.projectile, "jvp", (0, 1), (some(3), 0.1)),
    Example(loops.newton_sqrt, "jvp", 0, (2.0, 1e-10)),
    Example(scalars.product_plus_sine, "hvp", 0, (1.3, 0.4)),
    Example(networks.softmax_loss, "hvp", 0, SOFTMAX),
    Example(
        control.equilibrium_loss,
        "grad",
        ("w", "x"),
        (some(3, 3), some(3), some(3) ** 2),
    ),
    Example(
        control.validation_loss,
        "grad",
        "penalty",
        (0.3, some(7, 3), some(7), some(5, 3), some(5)),
    ),
    Example(control.lorenz, "grad", ("x", "rho"), (some(3), 2.0, 30)),
    Example(control.clipped_rnn, "grad", "w", (some(3, 3), some(4, 3), 1e3)),
    Example(control.deep_chain, "grad", ("w", "x"), (some(3, 3), some(3))),
    Example(inplace.diffuse, "grad", (0, 1), (some(7), 0.2, 3)),
    Example(inplace.seidel, "grad", "a", (some(5, 5), 2)),
    Example(inplace.durbin, "grad", 0, (0.4 * some(5),)),
    Example(inplace.hanging_string, "grad", ("load", "h"), (some(6), 0.2, 3)),
    Example(
        models.deep_network,
        "grad",
        "layers",
        ([layer(3, 4), layer(4, 2)], some(5, 3), some(5, 2)),
    ),
    Example(
        models.autoencoder,
        "value_and_grad",
        0,
        ({"encoder": layer(4, 2), "decoder": layer(2, 4)}, some(5, 4), 0.1),
    ),
    Example(
        models.chain_energy,
        "grad",
        (0, 1),
        ([models.Spring(2.0, 0.3, 0.1), models.Spring(1.0, 0.2, 0.4)], some(2)),
    ),
    Example(
        models.swing_error,
        "grad",
        ("system", "angle", "forces"),
        (models.Oscillator(1.3, 0.2), 0.4, some(5), some(5), 0.1),
    ),
]


def main() -> None:
    for example in EXAMPLES:
        sct.save(example.derivative(), example.path)
        print(example.path.name)


if __name__ == "__main__":
    main()
