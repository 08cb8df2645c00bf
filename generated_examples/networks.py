"""Statistics and machine learning: losses, networks, likelihoods."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def softmax_loss(w: Array, b: Array, x: Array, t: Array) -> float:
    z = x @ w + b
    e = np.exp(z)
    s = np.sum(e, axis=1, keepdims=True)
    log_p = z - np.log(s)
    return -np.sum(t * log_p) / len(x)


def logistic_loss(w, x, y):
    """Logistic regression, for labels of -1 and 1."""
    margin = y * (x @ w)
    return np.mean(np.log(1.0 + np.exp(-margin)))


def ridge_loss(w: Array, x: Array, y: Array, penalty: float) -> float:
    residual = x @ w - y
    return np.mean(residual**2) + penalty * np.sum(w**2)


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def mlp_loss(w1, b1, w2, b2, x, t):
    """A network with one hidden layer and a softmax."""
    h = np.tanh(x @ w1 + b1)
    z = h @ w2 + b2
    z = z - np.max(z, axis=1, keepdims=True)
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.mean(np.sum(t * log_p, axis=1))


def dense(x, w, b):
    return np.maximum(x @ w + b, 0.0)


def relu_network(w1, b1, w2, b2, x, y):
    """Layers as calls of a helper."""
    h = dense(x, w1, b1)
    out = dense(h, w2, b2)
    return np.sum((out - y) ** 2)


def rnn_loss(w: Array, u: Array, b: Array, xs: Array, target: Array) -> float:
    """A recurrent cell over time."""
    h = np.zeros(len(b))
    loss = 0.0
    for t in range(len(xs)):
        h = np.tanh(w @ h + u @ xs[t] + b)
        loss = loss + np.sum((h - target[t]) ** 2)
    return loss


def huber_loss(w, x, y, delta):
    r = x @ w - y
    small = 0.5 * r**2
    large = delta * (np.abs(r) - 0.5 * delta)
    return np.sum(np.where(np.abs(r) <= delta, small, large))


def gaussian_mixture(weights, means, scales, x):
    """The log likelihood of points on a line."""
    z = (x[:, None] - means) / scales
    density = np.exp(-0.5 * z**2) / (scales * np.sqrt(2.0 * np.pi))
    return np.sum(np.log(density @ weights))


def attention(q, k, v):
    """One head of attention, summed up."""
    scores = q @ k.T / np.sqrt(q.shape[-1])
    e = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    p = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum((p @ v) ** 2)


def layer_norm(x, gain, shift, eps=1e-5):
    mean = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True)
    y = gain * (x - mean) / np.sqrt(var + eps) + shift
    return np.sum(y**3)


def cosine_similarity(a, b):
    return a @ b / (np.linalg.norm(a) * np.linalg.norm(b))
