"""Operators at the work they are for, on numbers."""

from __future__ import annotations

import numpy as np

import sct


def rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_newtons_method():
    """Exact Hessians: quadratic convergence to the minimum of Rosenbrock's function."""
    gradient, hessian = sct.grad(rosen), sct.hessian(rosen)
    x = np.array([0.9, 1.1, 0.8, 1.0, 0.9])
    sizes = []
    for _ in range(40):
        g = gradient(x)
        sizes.append(np.linalg.norm(g))
        x = x - np.linalg.solve(hessian(x), g)
    np.testing.assert_allclose(x, 1.0, rtol=1e-12)
    # Digits double: few steps lead from near to the end.
    near = next(k for k, size in enumerate(sizes) if size < 1e-2)
    assert sizes[near + 4] < 1e-9


def layer(z, x, w):
    return np.tanh(w @ z + x)


def equilibrium_loss(w, inputs, targets):
    total = 0.0
    for k in range(len(inputs)):
        z = sct.fixed_point(layer, np.zeros(4), inputs[k], w)
        total = total + np.sum((z - targets[k]) ** 2)
    return total


def unrolled_loss(w, inputs, targets):
    total = 0.0
    for k in range(len(inputs)):
        z = np.zeros(4)
        for _ in range(120):
            z = layer(z, inputs[k], w)
        total = total + np.sum((z - targets[k]) ** 2)
    return total


def test_a_deep_equilibrium_layer_is_trained():
    rng = np.random.default_rng(1)
    inputs = rng.normal(size=(6, 4))
    true = 0.3 * rng.normal(size=(4, 4))
    targets = np.array([sct.fixed_point(layer, np.zeros(4), u, true) for u in inputs])
    step = sct.value_and_grad(equilibrium_loss)
    w = np.zeros((4, 4))
    first, w_bar = step(w, inputs, targets)
    np.testing.assert_allclose(
        w_bar, sct.grad(unrolled_loss)(w, inputs, targets), rtol=1e-9, atol=1e-12
    )
    for _ in range(60):
        w = w - 0.1 * w_bar
        value, w_bar = step(w, inputs, targets)
    assert value < 0.1 * first
    np.testing.assert_allclose(
        w_bar, sct.grad(unrolled_loss)(w, inputs, targets), rtol=1e-5, atol=1e-7
    )


def normal_equations(beta, penalty, a, b):
    return a.T @ (a @ beta - b) + np.exp(penalty) * beta


def validation_loss(penalty, a, b, a_test, b_test):
    beta = sct.root(normal_equations, np.zeros(8), penalty, a, b)
    return np.mean((a_test @ beta - b_test) ** 2)


def test_a_penalty_is_tuned_by_its_hypergradient():
    rng = np.random.default_rng(1)
    beta = rng.normal(size=8)
    a, a_test = rng.normal(size=(12, 8)), rng.normal(size=(40, 8))
    b = a @ beta + 2.0 * rng.normal(size=12)
    b_test = a_test @ beta + 0.1 * rng.normal(size=40)
    slope = sct.value_and_grad(validation_loss)
    # A search along the grid finds what the hypergradient leads to.
    grid = np.linspace(-6.0, 6.0, 121)
    losses = [validation_loss(p, a, b, a_test, b_test) for p in grid]
    best = grid[int(np.argmin(losses))]
    low, high = -6.0, 6.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        _, bar = slope(middle, a, b, a_test, b_test)
        low, high = (low, middle) if bar > 0.0 else (middle, high)
    assert abs(0.5 * (low + high) - best) < 0.11


def network(t, w):
    hidden = np.tanh(np.outer(t, w[:, 0]) + w[:, 1])
    return t * (1.0 - t) * np.sum(hidden * w[:, 2], axis=1)


def residuals(w, t):
    second = sct.elementwise_grad(sct.elementwise_grad(network))
    return second(t, w) + np.pi**2 * np.sin(np.pi * t)


def test_a_network_solves_poissons_equation():
    """Second derivatives inside the residual, and a Jacobian around it."""
    rng = np.random.default_rng(1)
    t = np.linspace(0.0, 1.0, 15)
    w = rng.normal(size=(4, 3))
    jacobian, damping = sct.jacobian(residuals), 1.0
    r = residuals(w, t)
    for _ in range(30):
        j = jacobian(w, t).reshape(15, -1)
        step = np.linalg.solve(j.T @ j + damping * np.eye(12), j.T @ r)
        trial = w - step.reshape(4, 3)
        after = residuals(trial, t)
        better = np.sum(after**2) < np.sum(r**2)
        w, r = (trial, after) if better else (w, r)
        damping *= 0.3 if better else 10.0
    np.testing.assert_allclose(network(t, w), np.sin(np.pi * t), atol=2e-3)


def lorenz(x, n):
    for _ in sct.checkpointed(range(n), snapshots=12):
        x = x + 0.001 * np.array(
            [
                10.0 * (x[1] - x[0]),
                x[0] * (28.0 - x[2]) - x[1],
                x[0] * x[1] - 2.6 * x[2],
            ]
        )
    return x[0]


def test_a_trajectory_of_ten_thousand_steps():
    x, v = np.array([1.0, 2.0, 20.0]), np.array([1.0, -0.5, 0.3])
    x_bar = sct.grad(lorenz)(x, 10_000)
    _, along = sct.jvp(lorenz)(x, 10_000, x_dot=v)
    np.testing.assert_allclose(x_bar @ v, along, rtol=1e-9)
    assert np.linalg.norm(x_bar) > 1e2


def logits(w, a):
    return a @ w


def test_fisher_scoring():
    """The Gauss-Newton matrix of a logistic model is its Fisher information."""
    rng = np.random.default_rng(1)
    a = rng.normal(size=(60, 4))
    labels = (rng.uniform(size=60) < 1.0 / (1.0 + np.exp(-a @ np.ones(4)))).astype(
        float
    )

    def loss(z):
        return np.sum(np.log1p(np.exp(z)) - labels * z)

    def whole(w, a):
        return loss(logits(w, a))

    gradient, product = sct.grad(whole), sct.ggnvp(logits, loss)
    w = np.zeros(4)
    for _ in range(8):
        fisher = np.stack([product(w, a, v=e) for e in np.eye(4)])
        w = w - np.linalg.solve(fisher, gradient(w, a))
    np.testing.assert_allclose(gradient(w, a), 0.0, atol=1e-10)
    p = 1.0 / (1.0 + np.exp(-a @ w))
    np.testing.assert_allclose(fisher, a.T @ (a * (p * (1.0 - p))[:, None]), rtol=1e-6)
    np.testing.assert_allclose(sct.hvp(whole)(w, a, v=w), fisher @ w, rtol=1e-6)


def cell(w, u, h, x):
    return np.tanh(w @ h + u @ x)


def shared(w, u, inputs):
    h = np.zeros(3)
    for x in inputs:
        h = cell(w, u, h, x)
    return np.sum(h * h)


def test_layers_that_share_their_weights():
    """The gradient in shared weights is the sum of those in weights of their own."""
    rng = np.random.default_rng(1)
    w, u = 0.5 * rng.normal(size=(3, 3)), rng.normal(size=(3, 2))
    inputs = rng.normal(size=(4, 2))

    def own(ws, u, inputs):
        h = np.zeros(3)
        for k in range(4):
            h = cell(ws[k], u, h, inputs[k])
        return np.sum(h * h)

    each = sct.grad(own)(np.stack([w] * 4), u, inputs)
    np.testing.assert_allclose(sct.grad(shared)(w, u, inputs), each.sum(0), rtol=1e-12)


def log_posterior(theta, x, y):
    scale = np.exp(theta[2])
    z = (y - theta[0] - theta[1] * x) / scale
    return -0.5 * np.sum(z * z) - len(x) * theta[2] - 0.5 * np.sum(theta * theta) / 9.0


def test_a_posterior_is_sampled():
    """Hamiltonian Monte Carlo with the emitted gradient, of a line with noise."""
    rng = np.random.default_rng(1)
    x = np.linspace(-1.0, 1.0, 40)
    y = 0.5 + 2.0 * x + 0.3 * rng.normal(size=40)
    step = sct.value_and_grad(log_posterior)
    theta = np.zeros(3)
    value, slope = step(theta, x, y)
    kept = []
    for turn in range(600):
        p = rng.normal(size=3)
        q, at, g = theta, value, slope
        energy = value - 0.5 * p @ p
        for _ in range(12):
            p = p + 0.5 * 0.03 * g
            q = q + 0.03 * p
            at, g = step(q, x, y)
            p = p + 0.5 * 0.03 * g
        if np.log(rng.uniform()) < at - 0.5 * p @ p - energy:
            theta, value, slope = q, at, g
        if turn >= 200:
            kept.append(theta)
    mean = np.mean(kept, axis=0)
    a = np.stack([np.ones(40), x], axis=1)
    fit = np.linalg.solve(a.T @ a, a.T @ y)
    np.testing.assert_allclose(mean[:2], fit, atol=0.06)
    np.testing.assert_allclose(np.exp(mean[2]), np.std(y - a @ fit), rtol=0.2)
