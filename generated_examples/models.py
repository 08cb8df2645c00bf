"""Parameters in lists, dicts, dataclasses and models."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


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


class Oscillator:
    """A damped pendulum, driven from outside."""

    gravity = 9.81

    def __init__(self, length, damping):
        self.length = length
        self.damping = damping

    @property
    def stiffness(self):
        return self.gravity / self.length

    def acceleration(self, angle, speed, force):
        return force - self.stiffness * math.sin(angle) - self.damping * speed

    def step(self, angle, speed, force, dt):
        speed = speed + dt * self.acceleration(angle, speed, force)
        return angle + dt * speed, speed


def swing_error(
    system: Oscillator, angle: float, forces: Array, seen: Array, dt: float
) -> float:
    """How far a pendulum is from where it was seen."""
    speed = 0.0
    error = 0.0
    for force, place in zip(forces, seen):
        angle, speed = system.step(angle, speed, force, dt)
        error += (angle - place) ** 2
    return error
