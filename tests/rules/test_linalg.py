"""Linear algebra and Fourier transforms in functions: both modes, twice, named results.

What depends on eigenvectors or singular vectors is tested by functions that do not
tell apart those that differ by a sign, a phase, or an order.
"""

from __future__ import annotations

import inspect
import types

import numpy as np
import pytest
from numpy import linalg as LA
from numpy.fft import irfft, rfft

import sct

from .rows import MODERN, WIDENING

random = np.random.default_rng(4)


def normal(*shape):
    return random.normal(size=shape)


def complex_normal(*shape):
    return normal(*shape) + 1j * normal(*shape)


def spread(*shape):
    """Matrices far from singular, with distinct eigenvalues and singular values."""
    diagonal = np.diag(3.0 + 3.0 * np.arange(max(shape[-2:])))
    return 0.5 * normal(*shape) + diagonal[: shape[-2], : shape[-1]]


def complex_spread(*shape):
    return spread(*shape) + 0.5j * normal(*shape)


def like(x):
    return complex_normal(*np.shape(x)) if np.iscomplexobj(x) else normal(*np.shape(x))


def along(f, x, v, step=2e-4):
    """The derivative of `f` at `x` along `v`, by central differences."""
    pairs = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
    parts = [w * (f(x + k * step * v) - f(x - k * step * v)) for k, w in pairs.items()]
    return sum(parts) / step


def inner(a, b):
    """How much a value changes along `b` by its adjoint `a`."""
    return np.sum(np.real(a * b))


def check(f, x, second=True):
    """Adjoint and tangent of `f` at `x`, and the derivatives of its gradient."""
    (name,) = inspect.signature(f).parameters
    out, v = f(x), like(x)
    expected = along(f, x, v)
    seed = like(out)
    given = {"like": (x,)} if np.iscomplexobj(x) else {}
    _, x_bar = sct.vjp(f, **given)(x, out_bar=seed)
    assert x_bar.shape == x.shape and x_bar.dtype == x.dtype
    np.testing.assert_allclose(inner(x_bar, v), inner(seed, expected), 1e-7, 1e-9)
    _, out_dot = sct.jvp(f, **given)(x, **{f"{name}_dot": v})
    np.testing.assert_allclose(out_dot, expected, 1e-7, 1e-9)
    if not second:
        return
    weights = normal(*np.shape(out))

    def weighed(x):
        return np.sum(f(x) * weights)

    gradient = sct.grad(weighed)
    bent = along(gradient, x, v)
    np.testing.assert_allclose(sct.hvp(weighed)(x, v=v), bent, 1e-6, 1e-8)

    def slope(x):
        return np.sum(gradient(x) * v)

    np.testing.assert_allclose(sct.grad(slope)(x), bent, 1e-6, 1e-8)


def hermitian(a):
    return a + np.conj(np.swapaxes(a, -1, -2))


# -- eigenvalues -----------------------------------------------------------------------


def eigenvalues_alone(a):
    return np.exp(0.1 * LA.eigvalsh(hermitian(a)))


def exponential(a):
    w, v = np.linalg.eigh(hermitian(a))
    scaled = v * np.expand_dims(np.exp(0.1 * w), -2)
    return np.real(scaled @ np.conj(np.swapaxes(v, -1, -2)))


def projector(a):
    v = np.linalg.eigh(hermitian(a), "U").eigenvectors[..., :1]
    return np.real(v @ np.conj(np.swapaxes(v, -1, -2)))


def named_values(a):
    found = np.linalg.eigh(hermitian(a))
    return found.eigenvalues * found[0]


def general_exponential(a):
    w, v = np.linalg.eig(a)
    return np.real((v * np.expand_dims(np.exp(0.1 * w), -2)) @ np.linalg.inv(v))


def general_moduli(a):
    return np.abs(np.linalg.eigvals(a))


def general_columns(a):
    return np.abs(np.linalg.eig(a).eigenvectors) ** 2


# -- singular values -------------------------------------------------------------------


def cubed(a):
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    return np.real((u * np.expand_dims(s**3, -2)) @ vh)


def outside(a):
    u, s, _ = np.linalg.svd(a)
    rest = u[..., s.shape[-1] :]
    return np.real(rest @ np.conj(np.swapaxes(rest, -1, -2)))


def outside_rows(a):
    found = np.linalg.svd(a)
    rest = found.Vh[..., found.S.shape[-1] :, :]
    return np.real(np.conj(np.swapaxes(rest, -1, -2)) @ rest)


def values_of_svd(a):
    return np.linalg.svd(a)[1] ** 2


def values_alone(a):
    return np.linalg.svd(a, compute_uv=False) ** 2


# -- triangular ------------------------------------------------------------------------


def factor(a):
    definite = a @ np.conj(np.swapaxes(a, -1, -2)) + np.eye(a.shape[-2])
    return np.abs(np.linalg.cholesky(definite)) ** 2


def whitened(a):
    q, r = np.linalg.qr(a)
    return np.real(q @ np.conj(np.swapaxes(q, -1, -2))) * np.abs(r[..., :1, :1])


def triangle(a):
    return np.abs(np.linalg.qr(a, "r")) ** 2


def complete(a):
    found = np.linalg.qr(a, mode="complete")
    rest = found.Q[..., min(a.shape[-2:]) :]
    part = np.real(rest @ np.conj(np.swapaxes(rest, -1, -2)))
    return part * np.abs(found.R[..., :1, :1])


# -- the rest --------------------------------------------------------------------------


def log_volume(a):
    return np.linalg.slogdet(a).logabsdet ** 2


def log_volume_unpacked(a):
    sign, log = np.linalg.slogdet(a)
    return log * np.abs(sign)


def volumes(a):
    return np.linalg.det(a) * np.arange(1.0, 1.0 + a.shape[0])


def traces(a):
    return np.trace(a, axis1=-2, axis2=-1) * np.arange(1.0, 1.0 + a.shape[0])


def fitted(a):
    x, residuals, _, s = np.linalg.lstsq(a, a[:, 0] ** 2, rcond=None)
    return np.sum(np.abs(x) ** 2) + np.sum(residuals) + np.sum(np.log(s))


def powers(a):
    return np.real(LA.matrix_power(a, 3) @ LA.matrix_power(a, -2))


def chain(a):
    return np.real(np.linalg.multi_dot([a, np.swapaxes(a, 0, 1), a]))


def conditions(a):
    return np.linalg.cond(a) + np.linalg.cond(a, 1) + LA.cond(a, p="fro")


def every_norm(a):
    total = LA.norm(a, axis=(-2, -1)) + LA.norm(a, "nuc", (-2, -1))
    for order in (1, -1, 2, -2, np.inf, -np.inf):
        total = total + LA.norm(a, order, axis=(-2, -1))
    return total + LA.norm(a, 3, axis=-1)[..., 0]


def inverse_of_tensor(a):
    return np.linalg.tensorinv(np.reshape(a, (2, 2, 4)))


def solution_of_tensor(a):
    return np.linalg.tensorsolve(np.reshape(a, (2, 2, 4)), a[:2, :2])


def moore_penrose(a):
    return np.real(np.linalg.pinv(a))


SQUARE = (
    *(eigenvalues_alone, exponential, projector, named_values, general_exponential),
    *(general_moduli, log_volume, log_volume_unpacked, powers),
    *(conditions, every_norm),
)
ANY = (
    *(cubed, outside, outside_rows, values_of_svd, values_alone, factor, triangle),
    *(complete, whitened, moore_penrose),
)


@pytest.mark.parametrize("f", [*SQUARE, general_columns])
def test_square(f):
    check(f, spread(3, 3))
    check(f, complex_spread(2, 3, 3), second=False)


@pytest.mark.parametrize("f", ANY)
def test_any_shape(f):
    check(f, spread(4, 2))
    for shape in ((2, 4), (3, 3), (2, 4, 3)):
        check(f, spread(*shape), second=False)
    for shape in ((4, 2), (2, 4)):
        check(f, complex_spread(*shape), second=False)


@pytest.mark.parametrize("f", [volumes, traces])
def test_stacks_are_not_single_numbers(f):
    check(f, spread(2, 3, 3))
    check(f, spread(1, 2, 2))


@pytest.mark.parametrize("f", [fitted, chain])
def test_matrix(f):
    check(f, spread(4, 2))
    for draw in (spread, complex_spread):
        check(f, draw(2, 4), second=False)


@pytest.mark.parametrize("f", [inverse_of_tensor, solution_of_tensor])
def test_tensors(f):
    check(f, spread(4, 4))


# -- forms of results ------------------------------------------------------------------


def decomposed(a):
    return np.linalg.eigh(hermitian(a))


def handed_on(a):
    found = decomposed(a)
    return found.eigenvalues * found.eigenvectors[0] ** 2


def by_number(a, vectors=True):
    found = np.linalg.svd(a, compute_uv=vectors)
    return found[1] ** 2


def written_into(a):
    w, v = np.linalg.eigh(hermitian(a))
    w[w < 20.0] = 0.0
    return (v * w) @ v.T


def iterated(a):
    for _ in range(3):
        q, r = np.linalg.qr(a)
        a = r @ q
    return np.diag(a)


def again(n, a):
    if n == 0:
        return a
    out = again(n - 1, a @ a)
    return out


def called_again(a):
    return again(2, 0.1 * a)


def turned(a):
    T, b = np.linalg.qr(a)
    return T.T @ a + b


@pytest.mark.parametrize("f", [handed_on, by_number, written_into])
def test_results_as_they_come(f):
    a, v = spread(3, 3), normal(3, 3)
    seed = like(f(a))
    _, bar = sct.vjp(f)(a, out_bar=seed)
    expected = inner(seed, along(f, a, v))
    np.testing.assert_allclose(inner(np.asarray(bar), v), expected, 1e-7)


@pytest.mark.parametrize("f", [iterated, called_again, turned])
def test_results_in_functions(f):
    check(f, spread(3, 3))


# -- values that agree -----------------------------------------------------------------


@pytest.mark.parametrize("f", [eigenvalues_alone, named_values])
def test_equal_eigenvalues_alone(f):
    def total(a):
        return np.sum(f(a))

    a = np.eye(3)
    expected = 0.2 * np.exp(0.2) if f is eigenvalues_alone else 8.0
    np.testing.assert_allclose(sct.grad(total)(a), expected * a, atol=1e-12)
    _, dot = sct.jvp(total)(a, a_dot=np.ones((3, 3)))
    np.testing.assert_allclose(dot, 3.0 * expected)


def test_equal_singular_values_alone():
    def total(a):
        return np.sum(np.linalg.svd(a)[1] ** 2)

    np.testing.assert_allclose(sct.grad(total)(2.0 * np.eye(3)), 4.0 * np.eye(3))

    def top(a):
        return np.linalg.svd(a, compute_uv=False)[0]

    np.testing.assert_allclose(sct.grad(top)(np.ones((3, 3))), np.full((3, 3), 1 / 3))


@pytest.mark.parametrize("f", [exponential, projector, cubed, general_exponential])
def test_vectors_of_equal_values_are_refused(f):
    def total(a):
        return np.sum(f(a) * weights)

    weights = np.arange(9.0).reshape(3, 3)
    with pytest.raises(sct.SctError, match="values are equal"):
        sct.grad(total)(np.diag([1.0, 1.0, 2.0]))


def test_vectors_beside_equal_values():
    """Of the eigenvalue that stands alone, the vector has a derivative."""

    def largest(a):
        v = np.linalg.eigh(a)[1][:, -1]
        return np.sum(np.arange(9.0).reshape(3, 3) * np.outer(v, v))

    a, v = np.diag([1.0, 1.0, 4.0]), hermitian(normal(3, 3))
    np.testing.assert_allclose(inner(sct.grad(largest)(a), v), along(largest, a, v))


def test_raw_qr_is_refused():
    def raw(a):
        return np.sum(np.linalg.qr(a, mode="raw")[0])

    with pytest.raises(sct.SctError, match="raw"):
        sct.grad(raw)(spread(3, 2))


def test_determinant_of_singular_matrices():
    def total(a):
        return np.sum(np.linalg.det(a))

    cofactors = np.array([[4.0, -2.0], [-2.0, 1.0]])
    a = np.array([[1.0, 2.0], [2.0, 4.0]])
    np.testing.assert_allclose(sct.grad(total)(a), cofactors)
    both = np.stack([a, np.eye(2)])
    np.testing.assert_allclose(sct.grad(total)(both), [cofactors, np.eye(2)])
    np.testing.assert_array_equal(sct.grad(total)(np.zeros((3, 3))), np.zeros((3, 3)))
    rank_two = np.diag([2.0, 3.0, 0.0])
    np.testing.assert_allclose(sct.grad(total)(rank_two), np.diag([0.0, 0.0, 6.0]))


@pytest.mark.parametrize("rank", [0, 1, 2])
def test_second_derivative_of_a_determinant_of_a_singular_matrix(rank):
    a, v = np.diag([2.0, 3.0, 0.0][:rank] + [0.0] * (3 - rank)), normal(3, 3)

    def slope(a):
        return np.sum(sct_gradient(a) * v)

    sct_gradient = sct.grad(np_determinant)
    # det is a cubic form, so these differences are exact.
    bent = (sct_gradient(a + v) - sct_gradient(a - v)) / 2.0
    np.testing.assert_allclose(sct.hvp(np_determinant)(a, v=v), bent, atol=1e-12)
    np.testing.assert_allclose(sct.grad(slope)(a), bent, atol=1e-12)


def np_determinant(a):
    return np.linalg.det(a)


@pytest.mark.parametrize("order", [None, 1, 2, np.inf, "fro", "nuc", -np.inf])
def test_norm_at_zero(order):
    def norm(x):
        return np.linalg.norm(x, order)

    np.testing.assert_array_equal(sct.grad(norm)(np.zeros((2, 3))), np.zeros((2, 3)))


def test_norms_share_ties():
    def norm(x):
        return np.linalg.norm(x, np.inf)

    np.testing.assert_allclose(sct.grad(norm)(np.array([2.0, -2.0])), [0.5, -0.5])
    columns = np.array([[1.0, 1.0], [-1.0, 1.0]])

    def largest_column(x):
        return np.linalg.norm(x, 1)

    np.testing.assert_allclose(sct.grad(largest_column)(columns), columns / 2)


# -- Fourier transforms ----------------------------------------------------------------


def power(x):
    return np.sum(np.abs(np.fft.rfft(x)) ** 2)


def filtered(x):
    spectrum = np.fft.rfft(x, 9, norm="forward")
    return np.fft.irfft(spectrum * np.exp(-0.1 * np.arange(5)), n=7)


def imported(x):
    return irfft(rfft(x) * (1.0 + 1.0j), len(x))


def convolved(x):
    return np.real(np.fft.ifft2(np.fft.fft2(x) * np.conj(np.fft.fft2(x))))


def shifted(x):
    return np.abs(np.fft.fftshift(np.fft.fftn(x))) ** 2 * np.fft.fftfreq(x.shape[-1])


def hermitian_pair(x):
    return np.fft.hfft(np.fft.ihfft(x, 6) ** 2, norm="ortho")


@pytest.mark.parametrize("size", [4, 5])
@pytest.mark.parametrize("f", [power, filtered, imported, hermitian_pair])
def test_real_transforms(f, size):
    check(f, normal(size))


@pytest.mark.parametrize("f", [convolved, shifted])
def test_transforms_of_matrices(f):
    check(f, normal(3, 4))
    check(f, complex_normal(4, 3), second=False)


# -- single precision ------------------------------------------------------------------


@pytest.mark.skipif(not MODERN, reason=WIDENING)
@pytest.mark.parametrize("f", [*SQUARE, *ANY, fitted, power, filtered])
def test_single_precision_stays(f):
    x = spread(3, 3).astype(np.float32)
    x = x[0] if f in (power, filtered) else x

    def total(x):
        return np.sum(f(x))

    x_bar = sct.grad(total)(x)
    assert x_bar.dtype == np.float32
    wide = sct.grad(total)(x.astype(np.float64))
    np.testing.assert_allclose(x_bar, wide, 1e-2, 1e-2 * np.max(np.abs(wide)))


# -- against others --------------------------------------------------------------------


@pytest.mark.parametrize("draw", [spread, complex_spread])
@pytest.mark.parametrize(
    "f", [eigenvalues_alone, exponential, projector, cubed, factor, log_volume, powers]
)
def test_like_jax(f, draw):
    """The convention for complex numbers is JAX's."""
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    theirs = {**globals(), "np": jax.numpy, "LA": jax.numpy.linalg}
    theirs["hermitian"] = types.FunctionType(hermitian.__code__, theirs)
    again = types.FunctionType(f.__code__, theirs)

    def total(a):
        return np.sum(f(a))

    a = draw(3, 3)
    mine = sct.grad(total, like=(a,))(a)
    expected = jax.grad(lambda a: jax.numpy.sum(again(a)))(a)
    np.testing.assert_allclose(mine, expected, 1e-8, 1e-10)
