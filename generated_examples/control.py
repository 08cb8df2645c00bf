"""Functions whose derivatives are steered: equations, snapshots, clipped adjoints."""

import numpy as np

import sct


def cell(z, x, w):
    """One turn of an implicit layer."""
    return np.tanh(0.3 * w @ z + x)


def equilibrium_loss(w, x, target):
    """The error of a layer that is run until it changes nothing any more."""
    z = sct.fixed_point(cell, np.zeros(3), x, w)
    return np.sum((z - target) ** 2)


def normal_equations(beta, penalty, a, b):
    """Zero for the coefficients of a ridge regression."""
    return a.T @ (a @ beta - b) + np.exp(penalty) * beta


def validation_loss(penalty, a, b, a_test, b_test):
    """The error on other data, as it depends on the penalty of the fit."""
    beta = sct.root(normal_equations, np.zeros(3), penalty, a, b)
    return np.mean((a_test @ beta - b_test) ** 2)


def lorenz(x, rho, n):
    """A trajectory that is kept at eight places only."""
    for _ in sct.checkpointed(range(n), snapshots=8):
        dx = np.array(
            [10.0 * (x[1] - x[0]), x[0] * (rho - x[2]) - x[1], x[0] * x[1] - 2.5 * x[2]]
        )
        x = x + 0.005 * dx
    return np.sum(x * x)


def clipped_rnn(w, inputs, bound):
    """A recurrent network whose adjoint is held below a bound."""
    h = np.zeros(3)
    for t in range(len(inputs)):
        h = np.tanh(w @ h + inputs[t])
        with sct.grad_of(h) as h_bar:
            norm = np.sqrt(np.sum(h_bar * h_bar))
            if norm > bound:
                h_bar = h_bar * bound / norm
    return np.sum(h * h)


@sct.checkpoint
def block(x, w):
    """A block of layers, of which nothing but the arguments is kept."""
    for _ in range(3):
        x = np.tanh(w @ x)
    return x


def deep_chain(w, x):
    """Blocks one after the other, with the same weights."""
    for _ in range(4):
        x = block(x, w)
    return np.sum(x * x)
