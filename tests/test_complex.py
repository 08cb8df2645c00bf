"""Complex numbers on the way from real arguments to a real result."""

import cmath
import math

import numpy as np
import pytest
from numpy.typing import NDArray

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


def magnitude(z):
    return np.abs(z) ** 2


def turned(z, a):
    return z * np.exp(1j * a)


def real_of_a_call(x):
    return np.sum(magnitude(x * (1.0 + 2.0j)) * x)


def call_of_a_call(x):
    return np.sum(np.abs(turned(turned(x, x), 0.3) + 1.0))


def parts(x):
    z = np.exp(1j * x) + 0.5
    return np.sum(z.real**2 * z.imag) + np.sum(np.angle(z) * np.real(np.conj(z)))


def powers(x):
    z = (1.0 + 2.0j) * x
    return np.sum((z**3 / (1.0 + z) + np.sqrt(z) * np.log(z)).imag)


def numbers(x):
    z = complex(x, x * x)
    w = cmath.exp(z) / (z - 2.0j) + cmath.sqrt(z) ** 2.5
    r, phi = cmath.polar(w)
    return r * math.cos(phi) + abs(cmath.rect(x, r))


@pytest.mark.parametrize(
    "f, x",
    [
        (real_of_a_call, draw(3)),
        (call_of_a_call, draw(3)),
        (parts, draw(3)),
        (powers, np.abs(draw(3)) + 0.1),
        (numbers, 0.7),
    ],
)
def test_parts_and_calls(f, x):
    check(f, (x,), (0,))
    assert np.asarray(sct.grad(f)(x)).dtype == np.float64
    v = np.cos(3.0 * x)
    _, dot = sct.jvp(f)(x, x_dot=v)
    np.testing.assert_allclose(dot, np.sum(sct.grad(f)(x) * v))


def cubic(z):
    return np.sum(z.real**3 + z.imag * z.real)


def product(z):
    return np.sum(z * np.conj(z) * z).real


def length_of(z: NDArray[np.complex128]):
    return np.sum(np.abs(z) * np.angle(z))


def of_a_call(z: NDArray[np.complex128]):
    return np.sum(magnitude(z) * magnitude(2.0j * z + 1.0))


def conjugated(f, z):
    """``df/dx - 1j * df/dy`` by central differences."""
    h, bar = 1e-6, np.zeros_like(z)
    for i in range(len(z)):
        e = np.zeros(len(z))
        e[i] = h
        along_x = (f(z + e) - f(z - e)) / (2 * h)
        bar[i] = along_x - 1j * (f(z + 1j * e) - f(z - 1j * e)) / (2 * h)
    return bar


@pytest.mark.parametrize("f", [cubic, product, length_of, of_a_call])
def test_complex_arguments(f):
    z = draw(3) + 1j * draw(3, seed=1)
    bar = sct.grad(f)(z)
    np.testing.assert_allclose(bar, conjugated(f, z), rtol=1e-6, atol=1e-7)
    assert bar.dtype == z.dtype


@pytest.mark.parametrize("f", [cubic, product])
def test_a_real_argument_has_a_real_gradient(f):
    bar = sct.grad(f)(draw(3))
    np.testing.assert_allclose(bar, conjugated(f, draw(3) + 0j).real, atol=1e-7)
    assert bar.dtype == np.float64


def lengths(x, w):
    return np.sum(np.abs(x * w) ** 2)


def test_what_is_taken_for_real_is_checked_to_be():
    x, z = draw(3), draw(3) + 1j
    np.testing.assert_allclose(sct.grad(lengths)(x, x), 2.0 * x**3)
    bar = sct.grad(lengths, like=(x, z))(x, z)
    np.testing.assert_allclose(bar, 2.0 * x * np.abs(z) ** 2)
    bar = sct.grad(lengths, like=(z, x))(z, x)
    np.testing.assert_allclose(bar, 2.0 * np.conj(z) * x**2)
    for args in [(z, x), (x, z)]:
        with pytest.raises(sct.ArgumentError, match="was taken for real: give"):
            sct.grad(lengths)(*args)
        with pytest.raises(sct.ArgumentError, match="was taken for real: give"):
            sct.jvp(lengths)(*args, x_dot=x)
