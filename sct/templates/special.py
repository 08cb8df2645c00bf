"""Rules of `scipy.special`.

``y = special.gammaln(x)``  →  ``x_bar = y_bar * special.digamma(x)``

Formulas are those of the NIST Digital Library of Mathematical Functions (DLMF), by the
numbers there.  Numbers stand where `np.sqrt(np.pi)` would widen single precision.
Orders and degrees, such as `n` in ``special.jv(n, x)``, are held constant.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from sct import helpers, runtime_special
from sct.runtime import unbroadcast
from sct.runtime_special import (
    betainc_in_a,
    betainc_terms,
    gammainc_in_a,
    gammainc_terms,
)

from .registry import adjoint, elementwise, nondifferentiable, tangent

helpers.add(runtime_special, (betainc_in_a, gammainc_in_a))

nondifferentiable(special.gammasgn, special.round, betainc_terms, gammainc_terms)


def present(*names: str) -> list[object]:
    """The functions of these names that the installed SciPy has."""
    return [getattr(special, n) for n in names if hasattr(special, n)]


# The error function and its kin: DLMF 7.2, 7.10.


# 2 / √π.
@elementwise(special.erf)
def erf(out, x):
    return 1.1283791670955126 * np.exp(-x * x)


@elementwise(special.erfc)
def erfc(out, x):
    return -1.1283791670955126 * np.exp(-x * x)


@elementwise(special.erfi, singular="overflow")
def erfi(out, x):
    return 1.1283791670955126 * np.exp(x * x)


@elementwise(special.erfcx, singular="overflow")
def erfcx(out, x):
    return 2.0 * x * out - 1.1283791670955126


# √π / 2.
@elementwise(special.erfinv, singular="pole")
def erfinv(out, y):
    return 0.886226925452758 * np.exp(out * out)


@elementwise(special.erfcinv, singular="pole")
def erfcinv(out, y):
    return -0.886226925452758 * np.exp(out * out)


@elementwise(special.dawsn)
def dawsn(out, x):
    return 1.0 - 2.0 * x * out


# The normal distribution: 1 / √(2π) and √(2π).


@elementwise(special.ndtr)
def ndtr(out, x):
    return 0.3989422804014327 * np.exp(-0.5 * x * x)


@elementwise(special.log_ndtr)
def log_ndtr(out, x):
    return 0.3989422804014327 * np.exp(-0.5 * x * x - out)


@elementwise(special.ndtri, singular="pole")
def ndtri(out, y):
    return 2.5066282746310002 * np.exp(0.5 * out * out)


@elementwise(*present("ndtri_exp"), singular="pole")
def ndtri_exp(out, y):
    return 2.5066282746310002 * np.exp(y + 0.5 * out * out)


# With ∂T/∂h = -exp(-h²/2) erf(a h / √2) / √(8π) (Owen 1956).
@elementwise(special.owens_t)
def owens_t(out, h, a):
    bell = np.exp(-0.5 * h * h)
    in_h = -0.19947114020071635 * bell * special.erf(0.7071067811865476 * a * h)
    a2 = a * a
    return in_h, 0.15915494309189535 * np.exp(-0.5 * h * h * (1.0 + a2)) / (1.0 + a2)


# Logistic functions.


@elementwise(special.expit)
def expit(out, x):
    return out * (1.0 - out)


@elementwise(special.logit, singular="pole")
def logit(out, x):
    return 1.0 / (x * (1.0 - x))


@elementwise(*present("log_expit"))
def log_expit(out, x):
    return special.expit(-x)


@elementwise(*present("softplus"))
def softplus(out, x):
    return special.expit(x)


# The gamma function and its kin: DLMF 5.2, 5.15.


@elementwise(special.gamma, singular="pole")
def gamma(out, x):
    return out * special.digamma(x)


@elementwise(special.gammaln, special.loggamma, singular="pole")
def gammaln(out, x):
    return special.digamma(x)


@elementwise(special.rgamma, singular="pole")
def rgamma(out, x):
    return -out * special.digamma(x)


# 25.11.12: as `special.polygamma(1, x)`, which would widen single precision.
@elementwise(special.digamma, singular="pole")
def digamma(out, x):
    return special.zeta(2.0, x)


@adjoint(special.polygamma, wrt=("x",), pointwise=True, singular="pole")
def polygamma(out, n, x, *, out_bar):
    x_bar = out_bar * special.polygamma(n + 1, x)
    return x_bar


@adjoint(special.multigammaln, wrt=("a",), pointwise=True, singular="pole")
def multigammaln(out, a, d, *, out_bar):
    shifted = np.expand_dims(a, -1) - 0.5 * np.arange(d)
    a_bar = out_bar * np.sum(special.digamma(shifted), axis=-1)
    return a_bar


@elementwise(special.poch, singular="pole")
def poch(out, z, m):
    above = special.digamma(z + m)
    return out * (above - special.digamma(z)), out * above


@elementwise(special.binom, singular="pole")
def binom(out, n, k):
    rest = special.digamma(n - k + 1.0)
    above, below = special.digamma(n + 1.0), special.digamma(k + 1.0)
    return out * (above - rest), out * (rest - below)


@elementwise(special.comb, singular="pole")
def comb(out, N, k):
    rest = special.digamma(N - k + 1.0)
    above, below = special.digamma(N + 1.0), special.digamma(k + 1.0)
    return out * (above - rest), out * (rest - below)


@elementwise(special.factorial, singular="pole")
def factorial(out, n):
    return out * special.digamma(n + 1.0)


@elementwise(special.beta, singular="pole")
def beta(out, a, b):
    both = special.digamma(a + b)
    return out * (special.digamma(a) - both), out * (special.digamma(b) - both)


@elementwise(special.betaln, singular="pole")
def betaln(out, a, b):
    both = special.digamma(a + b)
    return special.digamma(a) - both, special.digamma(b) - both


# 25.11.17; the exponent is held constant.
@adjoint(special.zeta, wrt=("q",), pointwise=True, singular="pole")
def zeta(out, x, q=None, *, out_bar):
    q_bar = -out_bar * x * special.zeta(x + 1.0, q)
    return q_bar


# Incomplete gamma and beta functions: DLMF 8.8.13, 8.17.


@elementwise(special.gammainc, singular="pole")
def gammainc(out, a, x):
    density = np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))
    return gammainc_in_a(a, x), density


@elementwise(special.gammaincc, singular="pole")
def gammaincc(out, a, x):
    density = np.exp(special.xlogy(a - 1.0, x) - x - special.gammaln(a))
    return -gammainc_in_a(a, x), -density


@elementwise(special.gammaincinv, singular="pole")
def gammaincinv(out, a, y):
    density = np.exp(special.xlogy(a - 1.0, out) - out - special.gammaln(a))
    return -gammainc_in_a(a, out) / density, 1.0 / density


@elementwise(special.gammainccinv, singular="pole")
def gammainccinv(out, a, y):
    density = np.exp(special.xlogy(a - 1.0, out) - out - special.gammaln(a))
    return -gammainc_in_a(a, out) / density, -1.0 / density


@elementwise(special.betainc, singular="pole")
def betainc(out, a, b, x):
    logs = special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x)
    density = np.exp(logs - special.betaln(a, b))
    return betainc_in_a(a, b, x), -betainc_in_a(b, a, 1.0 - x), density


@elementwise(*present("betaincc"), singular="pole")
def betaincc(out, a, b, x):
    logs = special.xlogy(a - 1.0, x) + special.xlog1py(b - 1.0, -x)
    density = np.exp(logs - special.betaln(a, b))
    return -betainc_in_a(a, b, x), betainc_in_a(b, a, 1.0 - x), -density


@elementwise(special.betaincinv, singular="pole")
def betaincinv(out, a, b, y):
    logs = special.xlogy(a - 1.0, out) + special.xlog1py(b - 1.0, -out)
    density = np.exp(logs - special.betaln(a, b))
    in_a = -betainc_in_a(a, b, out) / density
    return in_a, betainc_in_a(b, a, 1.0 - out) / density, 1.0 / density


# Exponential integrals: DLMF 6.2, 8.19.13; E_0(x) = exp(-x) / x.


@elementwise(special.expi, singular="pole")
def expi(out, x):
    return np.exp(x) / x


@elementwise(special.exp1, singular="pole")
def exp1(out, x):
    return -np.exp(-x) / x


@elementwise(special.expn, wrt=("x",), singular="pole")
def expn(out, n, x):
    below = special.expn(n - (n > 0), x)
    return -np.where(n == 0, out + out / x, below)


# Entropies.  At x = 0 the derivative in y is 0, whatever y is.


@elementwise(special.xlogy, singular="pole")
def xlogy(out, x, y):
    return np.log(y), x / np.where(x == 0, 1.0, y)


@elementwise(special.xlog1py, singular="pole")
def xlog1py(out, x, y):
    return np.log1p(y), x / np.where(x == 0, 1.0, 1.0 + y)


@elementwise(special.entr, singular="pole")
def entr(out, x):
    return -np.log(x) - 1.0


@elementwise(special.rel_entr, singular="pole")
def rel_entr(out, x, y):
    return np.log(x / y) + 1.0, -x / np.where(x == 0, 1.0, y)


@elementwise(special.kl_div, singular="pole")
def kl_div(out, x, y):
    return np.log(x / y), 1.0 - x / np.where(x == 0, 1.0, y)


# Robust losses; at the kinks of the derivative there is none to choose.


@elementwise(special.huber)
def huber(out, delta, r):
    size = np.abs(r)
    return np.where(size > delta, size - delta, 0.0), np.clip(r, -delta, delta)


@elementwise(special.pseudo_huber)
def pseudo_huber(out, delta, r):
    root = np.sqrt(1.0 + (r / delta) ** 2)
    return 2.0 * out / delta - r * r / (delta * root), r / root


# Box-Cox transforms: log(x) exprel(u) with u = lmbda log(x), see `exprel`.


@elementwise(special.boxcox, singular="pole")
def boxcox(out, x, lmbda):
    logs = np.log(x)
    slope = 0.5 * logs * logs * special.hyp1f1(2.0, 3.0, lmbda * logs)
    return np.exp((lmbda - 1.0) * logs), slope


@elementwise(special.boxcox1p, singular="pole")
def boxcox1p(out, x, lmbda):
    logs = np.log1p(x)
    slope = 0.5 * logs * logs * special.hyp1f1(2.0, 3.0, lmbda * logs)
    return np.exp((lmbda - 1.0) * logs), slope


@elementwise(special.inv_boxcox, wrt=("y",))
def inv_boxcox(out, y, lmbda):
    return out ** (1.0 - lmbda)


@elementwise(special.inv_boxcox1p, wrt=("y",))
def inv_boxcox1p(out, y, lmbda):
    return (1.0 + out) ** (1.0 - lmbda)


# Elementary functions.


@elementwise(special.exp2, singular="overflow")
def exp2(out, x):
    return 0.6931471805599453 * out


@elementwise(special.exp10, singular="overflow")
def exp10(out, x):
    return 2.302585092994046 * out


@elementwise(special.expm1, singular="overflow")
def expm1(out, x):
    return out + 1.0


@elementwise(special.log1p, singular="pole")
def log1p(out, x):
    return 1.0 / (1.0 + x)


@elementwise(special.cbrt, singular="pole")
def cbrt(out, x):
    return 1.0 / (3.0 * out * out)


# exprel(x) = M(1, 2, x): 13.3.15.
@elementwise(special.exprel, singular="overflow")
def exprel(out, x):
    return 0.5 * special.hyp1f1(2.0, 3.0, x)


@elementwise(special.cosm1)
def cosm1(out, x):
    return -np.sin(x)


# π / 180.
@elementwise(special.sindg)
def sindg(out, x):
    return 0.017453292519943295 * special.cosdg(x)


@elementwise(special.cosdg)
def cosdg(out, x):
    return -0.017453292519943295 * special.sindg(x)


@elementwise(special.tandg)
def tandg(out, x):
    return 0.017453292519943295 * (1.0 + out * out)


# 4.13.4, multiplied out so that z = 0 is no exception.  The result is always complex.
@adjoint(
    special.lambertw, wrt=("z",), pointwise=True, result="complex", singular="pole"
)
def lambertw(out, z, k=0, tol=1e-8, *, out_bar):
    if np.iscomplexobj(z):
        z_bar = out_bar * np.exp(-out) / (1.0 + out)
    else:
        z_bar = np.real(out_bar * np.exp(-out) / (1.0 + out))
    return z_bar


# -log(z) / (z - 1) by 15.4.1, which has no gap at z = 1.
@elementwise(special.spence, widens=True, singular="pole")
def spence(out, z):
    return -special.hyp2f1(1.0, 1.0, 2.0, 1.0 - z)


# Complete elliptic integrals are F(1/2, 1/2; 1; m) and F(-1/2, 1/2; 1; m) times π / 2
# (19.5.1, 19.5.2); these have no gap at m = 0.


@elementwise(special.ellipk, widens=True, singular="pole")
def ellipk(out, m):
    return 0.39269908169872414 * special.hyp2f1(1.5, 1.5, 2.0, m)


@elementwise(special.ellipe, widens=True, singular="pole")
def ellipe(out, m):
    return -0.39269908169872414 * special.hyp2f1(0.5, 1.5, 2.0, m)


# Hypergeometric functions: 15.5.1, 13.3.15; their parameters are held constant.


@elementwise(special.hyp2f1, wrt=("z",), singular="pole")
def hyp2f1(out, a, b, c, z):
    return a * b / c * special.hyp2f1(a + 1.0, b + 1.0, c + 1.0, z)


@elementwise(special.hyp1f1, wrt=("x",), singular="overflow")
def hyp1f1(out, a, b, x):
    return a / b * special.hyp1f1(a + 1.0, b + 1.0, x)


@elementwise(special.hyp0f1, wrt=("z",), singular="overflow")
def hyp0f1(out, v, z):
    return special.hyp0f1(v + 1.0, z) / v


# Bessel functions: 10.6.1, 10.6.3, 10.29.1, 10.29.3, 10.51.2.


@elementwise(special.j0)
def j0(out, x):
    return -special.j1(x)


@elementwise(special.j1)
def j1(out, x):
    return 0.5 * (special.j0(x) - special.jv(2, x))


@elementwise(special.jv, wrt=("z",))
def jv(out, v, z):
    return 0.5 * (special.jv(v - 1, z) - special.jv(v + 1, z))


@elementwise(special.y0, singular="pole")
def y0(out, x):
    return -special.y1(x)


@elementwise(special.y1, singular="pole")
def y1(out, x):
    return special.y0(x) - out / x


@elementwise(special.yn, wrt=("x",), singular="pole")
def yn(out, n, x):
    return 0.5 * (special.yn(n - 1, x) - special.yn(n + 1, x))


@elementwise(special.yv, wrt=("z",), singular="pole")
def yv(out, v, z):
    return 0.5 * (special.yv(v - 1, z) - special.yv(v + 1, z))


@elementwise(special.i0, singular="overflow")
def i0(out, x):
    return special.i1(x)


@elementwise(special.i1, singular="overflow")
def i1(out, x):
    return 0.5 * (special.i0(x) + special.iv(2, x))


@elementwise(special.iv, wrt=("z",), singular="overflow")
def iv(out, v, z):
    return 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z))


# These are multiplied by exp(-|x|).


@elementwise(special.i0e)
def i0e(out, x):
    return special.i1e(x) - np.sign(x) * out


@elementwise(special.i1e)
def i1e(out, x):
    return 0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * out


@elementwise(special.ive, wrt=("z",), real=True)
def ive(out, v, z):
    around = 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z))
    return around - np.sign(z) * out


@elementwise(special.k0, singular="pole")
def k0(out, x):
    return -special.k1(x)


@elementwise(special.k1, singular="pole")
def k1(out, x):
    return -special.k0(x) - out / x


@elementwise(special.kn, wrt=("x",), singular="pole")
def kn(out, n, x):
    return -0.5 * (special.kn(n - 1, x) + special.kn(n + 1, x))


@elementwise(special.kv, wrt=("z",), singular="pole")
def kv(out, v, z):
    return -0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z))


# These are multiplied by exp(x).


@elementwise(special.k0e, singular="pole")
def k0e(out, x):
    return out - special.k1e(x)


@elementwise(special.k1e, singular="pole")
def k1e(out, x):
    return out - special.k0e(x) - out / x


@elementwise(special.kve, wrt=("z",), singular="pole")
def kve(out, v, z):
    return out - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z))


# Orthogonal polynomials: 18.9.15, 18.9.19, 18.9.21, 18.9.23, 18.9.25.


@elementwise(special.eval_jacobi, wrt=("x",))
def eval_jacobi(out, n, alpha, beta, x):
    scale = 0.5 * (n + alpha + beta + 1.0)
    return scale * special.eval_jacobi(n - 1, alpha + 1.0, beta + 1.0, x)


@elementwise(special.eval_legendre, wrt=("x",))
def eval_legendre(out, n, x):
    return 0.5 * (n + 1.0) * special.eval_jacobi(n - 1, 1.0, 1.0, x)


@elementwise(special.eval_gegenbauer, wrt=("x",))
def eval_gegenbauer(out, n, alpha, x):
    return 2.0 * alpha * special.eval_gegenbauer(n - 1, alpha + 1.0, x)


@elementwise(special.eval_chebyt, wrt=("x",))
def eval_chebyt(out, n, x):
    return n * special.eval_chebyu(n - 1, x)


@elementwise(special.eval_chebyu, wrt=("x",))
def eval_chebyu(out, n, x):
    return 2.0 * special.eval_gegenbauer(n - 1, 2.0, x)


@elementwise(special.eval_laguerre, wrt=("x",))
def eval_laguerre(out, n, x):
    return -special.eval_genlaguerre(n - 1, 1.0, x)


@elementwise(special.eval_genlaguerre, wrt=("x",))
def eval_genlaguerre(out, n, alpha, x):
    return -special.eval_genlaguerre(n - 1, alpha + 1.0, x)


# There is none of degree -1 for these.


@elementwise(special.eval_hermite, wrt=("x",))
def eval_hermite(out, n, x):
    return 2.0 * n * special.eval_hermite(n - (n > 0), x)


@elementwise(special.eval_hermitenorm, wrt=("x",))
def eval_hermitenorm(out, n, x):
    return n * special.eval_hermitenorm(n - (n > 0), x)


# Sums of exponentials along axes.  Where all of `a` is -inf the derivative is 0.


@adjoint(
    special.logsumexp,
    wrt=("a", "b"),
    full="axis",
    result="reduced",
    fresh=True,
    parts=("log_sum", "sign"),
    alone={"return_sign": (False, None)},
)
def logsumexp(out, a, axis=None, b=None, keepdims=False, return_sign=False, *, out_bar):
    if return_sign:
        total = out[0]
        total_bar = out[1] * out_bar[0]
    else:
        total = out
        total_bar = out_bar
    if axis is not None and not keepdims:
        total = np.expand_dims(total, axis)
        total_bar = np.expand_dims(total_bar, axis)
    share = total_bar * np.exp(a - np.where(total == -np.inf, 0.0, total))
    if b is None:
        a_bar = share
        b_bar = None
    else:
        a_bar = unbroadcast(share * b, a)
        b_bar = unbroadcast(share, b)
    return a_bar, b_bar


@adjoint(special.softmax, wrt=("x",), result="first", fresh=True)
def softmax(out, x, axis=None, *, out_bar):
    if axis is None:
        x_bar = out * (out_bar - np.sum(out_bar * out))
    else:
        x_bar = out * (out_bar - np.sum(out_bar * out, axis, keepdims=True))
    return x_bar


@adjoint(special.log_softmax, wrt=("x",), result="first", fresh=True)
def log_softmax(out, x, axis=None, *, out_bar):
    if axis is None:
        x_bar = out_bar - np.exp(out) * np.sum(out_bar)
    else:
        x_bar = out_bar - np.exp(out) * np.sum(out_bar, axis, keepdims=True)
    return x_bar


@tangent(special.logsumexp)
def logsumexp_tangent(
    out, a, axis=None, b=None, keepdims=False, return_sign=False, *, a_dot, b_dot
):
    if return_sign:
        total = out[0]
    else:
        total = out
    if axis is not None and not keepdims:
        total = np.expand_dims(total, axis)
    weights = np.exp(a - np.where(total == -np.inf, 0.0, total))
    if b is None:
        moved = weights * a_dot
    else:
        moved = weights * (b * a_dot + b_dot)
    change = np.sum(moved, axis=axis, keepdims=keepdims)
    if return_sign:
        out_dot = out[1] * change, np.zeros_like(out[1])
    else:
        out_dot = change
    return out_dot


@tangent(special.softmax)
def softmax_tangent(out, x, axis=None, *, x_dot):
    if axis is None:
        moved = out * (x_dot - np.sum(x_dot * out))
    else:
        moved = out * (x_dot - np.sum(x_dot * out, axis, keepdims=True))
    return moved


@tangent(special.log_softmax)
def log_softmax_tangent(out, x, axis=None, *, x_dot):
    if axis is None:
        moved = x_dot - np.sum(x_dot * np.exp(out))
    else:
        moved = x_dot - np.sum(x_dot * np.exp(out), axis, keepdims=True)
    return moved
