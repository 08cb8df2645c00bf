"""Calls that other tools get wrong or refuse, to second order, against differences."""

from __future__ import annotations

import numpy as np
import pytest

from .test_coverage import coverage, tool

__all__ = ["tool"]

CALLS = """
np.sinc(x - 0.7)
np.where(x > 0, A, f)
np.where(A > 0, x, y[:, None])
np.sum(M, where=M > 0)
np.sum(M, axis=0, where=M > 0)
np.mean(M, where=M > 0)
np.prod(x * np.array([1.0, 0.0, 1.0]) + (x - 0.7)*0)
np.prod(x * np.array([0.0, 0.0, 1.0]))
np.prod((x - np.array([0.7, 0.0, 0.0])))
np.prod((x - np.array([0.7, -1.2, 0.0])))
np.var(M, correction=1)
np.var(M, axis=0, ddof=1)
np.transpose(T, (-1, 0, 1))
np.repeat(T, 2, axis=-1)
np.repeat(x, np.array([2, 0, 3]))
np.repeat(M, np.array([2, 0, 3, 1]), axis=-1)
np.diag(M)
np.diag(M, 1)
np.diag(x, -1)
np.full_like(x, f)
np.full_like(x, f) * x
np.linalg.norm(M, axis=0, keepdims=True)
np.linalg.norm(x, np.inf)
np.linalg.norm(M, np.inf)
np.linalg.norm(x, 1)
np.linalg.norm(M, 2)
np.linalg.norm(M, 1)
np.linalg.norm(x, -np.inf)
np.linalg.norm(M, 'nuc')
np.linalg.solve(np.stack([A, B]), M)
np.linalg.solve(np.stack([A, B]), A)
np.fft.rfft(u, n=8)
np.fft.rfft(M, n=4, axis=0)
np.fft.rfft(M, 2, axis=0)
np.fft.rfft(u, norm='forward')
np.fft.rfft(u, norm='ortho')
np.fft.rfft(u)
np.fft.rfft2(A)
np.fft.rfftn(T, s=(3, 5), axes=(1, 2))
np.fft.rfftn(A)
np.fft.irfft(np.fft.rfft(u), n=5)
np.fft.irfft(x + 1j * y, n=5)
np.fft.irfft(x + 1j * y, n=7)
x * 2.0 if isinstance(x, np.ndarray) else x
f * 2.0 if isinstance(f, float) else f
z = np.empty(3); np.multiply(x, y, out=z); z
z = x * 1.0; w = z; w *= 2; z
np.std(f * x)
x.std()
np.nanstd(x)
np.array([[f]]).item()
(x * 1.0)[0].item()
z = u.copy(); z.sort(); z
np.unique(x)
np.unique(np.array([f, g, f]))
np.union1d(x, y)
np.clip(x, s - 1, s)
np.clip(x, min=f - 0.2, max=g)
np.clip(x, a_min=-g, a_max=f / 2)
np.trace(T, offset=1, axis1=1, axis2=2)
np.diff(x, prepend=f, append=g)
np.diff(M, n=2, axis=0)
np.gradient(u, 0.5)
np.gradient(u, np.array([0.0, 0.3, 0.9, 1.1, 2.0]))
np.gradient(M, 0.5, 2.0)
T.transpose(2, 0, 1)
np.broadcast_to(x, (2, 4, 3))
np.atleast_1d(f, x)[0]
np.atleast_2d(f, x)[1]
np.atleast_3d(M, x)[0]
np.roll(M, (1, -1), axis=(0, 1))
np.tile(T, (2,))
np.tile(x, (2, 2))
np.pad(x, 2, mode='edge')
np.pad(M, 1, mode='reflect')
np.pad(x, (1, 2), mode='wrap')
np.pad(M, ((1, 0), (2, 1)), 'symmetric')
np.pad(x, 1)
np.concatenate([x, M], axis=None)
np.linspace(f, g, num=4, endpoint=False)
np.linspace(x, y, 4, axis=-1)
np.sort(M, axis=0)
np.sort(M)
np.outer(A, B)
np.einsum('ii->i', A)
np.einsum('ii', A)
np.einsum('iij->ij', np.stack([A, B, A]))
np.einsum('ij,ij->', A, B)
np.einsum('...ij,...jk', T, N)
np.linalg.det(np.outer(x, y))
np.linalg.slogdet(A).logabsdet
np.linalg.slogdet(A)[1]
np.linalg.cholesky(A @ A.T, upper=True)
np.linalg.eigh(A + A.T).eigenvalues
np.linalg.svd(M, full_matrices=True)[1]
np.linalg.svd(M, compute_uv=False)
special.betainc(p, q, s)
special.gammainc(p, q)
special.logsumexp(x, b=y)
special.logsumexp(x, b=np.where(np.arange(3) == 1, 0.0, 1.0) * y)
sum([v * v for v in np.nditer(x)])
sum([v * k[0] for k, v in np.ndenumerate(x)])
sum([M[k] ** 2 for k in np.ndindex(3, 4)])
special.expit(1e3 * x)
np.nanmax(np.where(x > 0, x, np.nan)) + np.nansum(x)
np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0)
np.where(x > 0, np.log(np.abs(x)), 0.0)
x.astype(int) * y
np.piecewise(x, [x < 0, x >= 0], [lambda t: -t, lambda t: t ** 2])
np.select([x < 0, x > 0.5], [x ** 2, y], f)
np.hypot(x, y)
np.logaddexp(x, y)
np.einsum('i,i', x, y)
np.power(x, 2)
np.power(x, np.array([2, 3, 0]))
x ** np.array([2.0, 3.0, 0.0])
np.float_power(p, y)
np.linalg.pinv(M)
np.linalg.eig(A)[0]
np.linalg.qr(A)[0]
np.max(M, axis=1)
np.max(M, axis=(0, 1))
np.max(x, initial=0.5)
np.cumsum(M, axis=1)
np.cumprod(x - np.array([0.0, -1.2, 0.0]))
np.matmul(T, N)
np.dot(x, y)
np.dot(M, N)
np.dot(T, N)
np.inner(A, B)
np.tensordot(T, N, axes=([2], [0]))
np.kron(M, x)
np.cross(x, y)
x[[0, 0, 2]]
T[0, [1, 1], 1:]
np.take(M, [0, 2], axis=1)
np.take_along_axis(M, np.argsort(M, axis=1), axis=1)
np.mean(M, axis=0, where=M > np.min(M))
np.std(np.stack([x, y]), axis=0)
np.nanstd(np.where(x > 0.5, np.nan, x))
np.histogram(u, bins=[-2.0, 0.0, 3.0])[0] * f
np.hypot.reduce(M, axis=1)
np.linalg.norm(T, axis=(0, 2))
np.linalg.norm(M, -2)
np.fft.irfft2(A + 1j * B, s=(3, 5))
np.fft.irfftn(A + 1j * B, s=(3, 4))
np.trapezoid(u, np.array([0.0, 0.3, 0.9, 1.1, 2.0]))
special.gammaincc(p, q)
integrate.odeint(lambda v, t: -f * v, 1.0, [0.0, 1.0])[1]
integrate.solve_ivp(lambda t, v: -f * v, (0.0, 1.0), [1.0], rtol=1e-9).y[0, -1]
optimize.root(lambda v: v * v - g, 1.0).x
"""
# Where the values have fewer digits.
FIRST_ORDER = """
x.astype(np.float32).astype(float)
"""


def asked(call: str, tool, *questions: str) -> list[str]:
    text = coverage.Call(call)
    with np.errstate(all="ignore"):
        return [coverage.answer(tool, text, q) for q in questions]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS.strip().split("\n"))
def test_every_order(call, tool):
    found = asked(call, tool, "reverse", "forward", "second")
    if np.lib.NumpyVersion(np.__version__) < "2.3.0" and set(found) == {"-"}:
        pytest.skip("this version of NumPy has no such call")
    assert set(found) == {"yes"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", FIRST_ORDER.strip().split("\n"))
def test_first_order(call, tool):
    assert set(asked(call, tool, "reverse", "forward")) == {"yes"}
