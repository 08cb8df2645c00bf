"""Complex numbers on the way from real arguments to a real result."""

import numpy as np
import pytest

import sct

from .test_kernels import check, draw

W = np.exp(1j * np.array([0.2, 1.0, 2.5]))


def length(x):
    return abs(2.0 + 1j * x)


def response(x):
    pole = 0.8 * np.exp(1j * x)
    gain = np.ones(3, dtype=complex)
    gain *= W - 1.0
    gain /= (W - pole) * (W - pole.conjugate())
    return np.sum(np.abs(gain) ** 2)


def phasors_in_an_array(x, y):
    z = np.zeros(3, dtype=np.complex128)
    for i in range(3):
        z[i] = x[i] + 1j * y[i]
        z[i:] += z[i] * np.conj(z[i]) * W[i]
    return np.sum(np.abs(z * W - x))


def real_made_complex(x):
    y = x * x
    x = y * W
    x = x * y
    return np.sum(np.abs(x) * y)


def rotated(x):
    return x * W


def by_a_call(x):
    return np.sum(np.abs(rotated(x * x) + x))


def at_zero(x):
    return np.sum(np.abs(x * W))


def elements(x):
    total = 0j
    for i in range(3):
        total = total + x[i] * W[i] ** i
    return abs(total) * x[0]


@pytest.mark.parametrize(
    "f, args",
    [
        (length, (0.7,)),
        (response, (0.7,)),
        (phasors_in_an_array, (draw(3), draw(3, seed=1))),
        (real_made_complex, (draw(3),)),
        (by_a_call, (draw(3),)),
        (elements, (draw(3),)),
    ],
)
def test_gradient(f, args):
    check(f, args, tuple(range(len(args))))
    for bar, given in zip(sct.grad(f, wrt=tuple(range(len(args))))(*args), args):
        assert np.asarray(bar).dtype == np.asarray(given).dtype


def test_length_of_zero():
    np.testing.assert_array_equal(sct.grad(at_zero)(np.zeros(3)), np.zeros(3))
