"""Extrema on which the result does not depend get no adjoint, all others do."""

from __future__ import annotations

import numpy as np
import pytest

import sct


def logsumexp(x):
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def logsumexp_rows(x):
    top = np.max(x, axis=1, keepdims=True)
    return np.sum(top[:, 0] + np.log(np.sum(np.exp(x - top), axis=1)))


def logsumexp_dropped(x):
    top = x.max(axis=1)
    return np.sum(np.log(np.sum(np.exp(x - top[:, None]), axis=1)) + top)


def logsumexp_last(x):
    top = np.max(x, axis=-1)
    shifted = x - np.expand_dims(top, -1)
    return np.sum((top + np.log(np.sum(np.exp(shifted), axis=-1))) ** 2)


def log_softmax(x):
    shifted = x - x.max(axis=1, keepdims=True)
    logp = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    return -np.mean(logp[:, 1])


def softmax(x):
    e = np.exp(x - np.min(x, axis=0, keepdims=True))
    return np.sum((e / np.sum(e, axis=0, keepdims=True)) ** 2)


def in_loop(x):
    total = 0.0
    for i in range(x.shape[0]):
        row = x[i]
        top = np.max(row)
        total = total + top + np.log(np.sum(np.exp(row - top)))
    return total


def tempered(x):
    top = np.max(x)
    return top + 0.5 * np.log(np.sum(np.exp(2.0 * (x - top))))


FREE = [
    logsumexp,
    logsumexp_rows,
    logsumexp_dropped,
    logsumexp_last,
    log_softmax,
    softmax,
    in_loop,
    tempered,
]


def peak(x):
    return np.max(x)


def not_given_back(x):
    top = np.max(x)
    return np.log(np.sum(np.exp(x - top)))


def given_back_twice(x):
    top = np.max(x)
    return 2.0 * top + np.log(np.sum(np.exp(x - top)))


def other_axis(x):
    top = np.max(x, axis=1, keepdims=True)
    e = np.exp(x - top)
    return np.sum((e / np.sum(e, axis=0, keepdims=True)) ** 2)


def misaligned(x):
    top = np.max(x, axis=1)
    e = np.exp(x - top)
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


def regularised(x):
    e = np.exp(x - np.max(x))
    return np.sum((e / (np.sum(e) + 1.0)) ** 2)


def from_turn_to_turn(x):
    before, total = 0.0, 0.0
    for i in range(x.shape[0]):
        top = np.max(x[i])
        total = total + i * (top - before)
        before = top
    return total


def on_one_path(x):
    top = np.max(x)
    if x[0, 0] > 0.0:
        y = x - top
    else:
        y = x
    return top + np.log(np.sum(np.exp(y)))


def captured(x):
    top = np.max(x)

    def centred(z):
        return z - top

    return np.sum(np.exp(centred(x)))


def rank_three(x, z):
    top = np.max(x, axis=1, keepdims=True)
    e = np.exp(z - top)
    return np.sum((e / np.sum(e, axis=1, keepdims=True)) ** 2)


BOUND = [
    peak,
    not_given_back,
    given_back_twice,
    other_axis,
    misaligned,
    regularised,
    from_turn_to_turn,
    on_one_path,
    captured,
]

X = np.random.default_rng(5).normal(size=(3, 3))


def slope(f, x):
    """Central differences along all elements."""
    out = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = 1e-6
        out[i] = (f(x + step) - f(x - step)) / 2e-6
    return out


@pytest.mark.parametrize("f", FREE, ids=lambda f: f.__name__)
def test_free_extrema_have_no_adjoint(f):
    df = sct.grad(f)
    np.testing.assert_allclose(df(X), slope(f, X), rtol=1e-6, atol=1e-8)
    assert "hit" not in sct.source(df)


@pytest.mark.parametrize("f", BOUND, ids=lambda f: f.__name__)
def test_other_extrema_keep_theirs(f):
    df = sct.grad(f)
    np.testing.assert_allclose(df(X), slope(f, X), rtol=1e-6, atol=1e-8)


def test_an_axis_counts_from_the_front_of_its_own_array():
    z = np.random.default_rng(6).normal(size=(2, 3, 3))
    expected = slope(lambda x: rank_three(x, z), X)
    np.testing.assert_allclose(
        sct.grad(rank_three)(X, z), expected, rtol=1e-6, atol=1e-8
    )
