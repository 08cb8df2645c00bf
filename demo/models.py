"""The functions that the demo differentiates, and a gradient written by hand."""

from __future__ import annotations

import numpy as np


def loss(w1, b1, w2, b2, x, t):
    """Mean cross-entropy of a network with one hidden layer; `t` is one-hot."""
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    norm = np.sum(np.exp(scores), axis=1, keepdims=True)
    log_p = scores - np.log(norm)
    return -np.sum(t * log_p) / len(x)


def predict(w1, b1, w2, b2, x):
    """The most probable class of each row of `x`."""
    return np.argmax(np.tanh(x @ w1 + b1) @ w2 + b2, axis=1)


def loss_value_and_grad_by_hand(w1, b1, w2, b2, x, t):
    """`loss` and its gradient in the four parameters, as one would write them."""
    hidden = np.tanh(x @ w1 + b1)
    scores = hidden @ w2 + b2
    e = np.exp(scores)
    norm = np.sum(e, axis=1, keepdims=True)
    value = -np.sum(t * (scores - np.log(norm))) / len(x)

    scores_bar = (e / norm - t) / len(x)
    hidden_bar = scores_bar @ w2.T
    z_bar = hidden_bar * (1.0 - hidden * hidden)
    gradient = (
        x.T @ z_bar,
        z_bar.sum(axis=0),
        hidden.T @ scores_bar,
        scores_bar.sum(axis=0),
    )
    return value, gradient
