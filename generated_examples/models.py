"""Parameters in lists, dicts and dataclasses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np


def deep_network(layers, x, y):
    """The loss of a network whose layers are dicts."""
    for layer in layers:
        x = np.tanh(x @ layer["w"] + layer["b"])
    return np.mean((x - y) ** 2)


def autoencoder(params, x, decay):
    code = np.tanh(x @ params["encoder"]["w"] + params["encoder"]["b"])
    back = code @ params["decoder"]["w"] + params["decoder"]["b"]
    size = 0.0
    for part in params.values():
        size += np.sum(part["w"] ** 2)
    return np.mean((back - x) ** 2) + decay * size


@dataclass
class Spring:
    stiffness: float
    rest: float
    damping: float


def chain_energy(springs, ends):
    """The energy of springs in a row, and what they lose."""
    energy = 0.0
    for spring, end in zip(springs, ends):
        stretch = end - spring.rest
        energy += 0.5 * spring.stiffness * stretch**2
        energy -= spring.damping * math.sqrt(1.0 + stretch**2)
    return energy
