"""Arguments at which the rules of SciPy's functions are tested: data only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import fft, integrate, linalg, signal, special, stats
from scipy.spatial import distance

from sct import runtime_scipy_linalg as helper

from .linalg_table import spread
from .rows import (
    Row,
    between,
    binary,
    definite,
    normal,
    positive,
    regular,
    start,
    unary,
    within,
)

start(3)


def those(names: str) -> list[Callable[..., Any]]:
    """The functions of `scipy.special` of these names that are installed."""
    return [getattr(special, n) for n in names.split() if hasattr(special, n)]


def large(*shape: int) -> np.ndarray:
    return between(1.5, 4.0, *shape)


def share(*shape: int) -> np.ndarray:
    return between(0.1, 0.9, *shape)


def minus(*shape: int) -> np.ndarray:
    return -positive(*shape)


REAL = "erf erfc erfi erfcx dawsn ndtr log_ndtr expit log_expit softplus cosm1 exprel"
REAL += " exp2 exp10 expm1 sindg cosdg tandg j0 j1 i0 i1 i0e i1e"
ABOVE = "gamma gammaln loggamma rgamma digamma factorial expi exp1 entr log1p cbrt"
ABOVE += " spence y0 y1 k0 k1 k0e k1e"

SPECIAL = [
    *[row for f in those(REAL) for row in unary(f, normal)],
    *[row for f in those(ABOVE) for row in unary(f, positive)],
    *unary(special.erfinv, within(-0.9, 0.9)),
    *unary(special.erfcinv, within(0.1, 1.9)),
    *[row for f in those("ndtri logit ellipk ellipe") for row in unary(f, share)],
    *[row for f in those("ndtri_exp") for row in unary(f, minus)],
    Row(special.ellipk, (np.array([-3.0, -1e-9, 0.0, 0.9]),)),
    Row(special.ellipe, (np.array([-3.0, -1e-9, 0.0, 0.9]),)),
    Row(special.spence, (np.array([0.2, 1.0 + 1e-9, 1.0, 3.0]),)),
    Row(special.exprel, (np.array([-1e-9, 0.0, 1e-4]),)),
    Row(special.cbrt, (minus(3),)),
    Row(special.i1, (np.array([-1.0, 0.0, 1e-9]),)),
    Row(special.digamma, (np.array([-1.5, -0.3, 40.0]),)),
    *binary(special.owens_t, normal, normal),
    *binary(special.beta, positive, positive),
    *binary(special.betaln, positive, positive),
    *binary(special.poch, positive, positive),
    *binary(special.binom, large, positive),
    *binary(special.xlogy, normal, positive),
    *binary(special.xlog1py, normal, positive),
    *binary(special.rel_entr, positive, positive),
    *binary(special.kl_div, positive, positive),
    *binary(special.boxcox, positive, normal),
    *binary(special.boxcox1p, positive, normal),
    *binary(special.huber, within(0.5, 0.9), large),
    *binary(special.huber, large, share),
    *binary(special.pseudo_huber, positive, normal),
    *binary(special.gammainc, positive, positive),
    *binary(special.gammaincc, positive, positive),
    *binary(special.gammaincinv, large, share),
    *binary(special.gammainccinv, large, share),
    Row(special.comb, (large(3), positive(3))),
    Row(special.boxcox, (positive(4), np.array([0.0, 1e-9, -1e-4, 1.0]))),
    *[
        Row(f, (np.array([0.3, 1.0, 20.0, 300.0]), np.array([0.2, 9.0, 15.0, 290.0])))
        for f in those("gammainc gammaincc")
    ],
    *[
        Row(f, (positive(*a), positive(*b), share(*x)))
        for f in those("betainc betaincc")
        for a, b, x in (((), (), ()), ((3,), (3,), (3,)), ((2, 1), (3,), ()))
    ],
    *[
        Row(f, (large(*a), large(*b), share(*x)))
        for f in those("betaincinv")
        for a, b, x in (((), (), ()), ((3,), (3,), (3,)), ((2, 1), (3,), ()))
    ],
    *[
        Row(f, (np.array([40.0, 0.5, 3.0]), np.array([2.0, 60.0, 0.2]), np.full(3, x)))
        for f in those("betainc")
        for x in (0.02, 0.5, 0.97)
    ],
    Row(special.lambertw, (share(3),)),
    Row(special.inv_boxcox, (positive(3), 0.4)),
    Row(special.inv_boxcox1p, (positive(3), 0.4)),
    *[Row(special.polygamma, (n, positive(3))) for n in (0, 1, 2)],
    Row(special.multigammaln, (large(2, 3), 3)),
    Row(special.multigammaln, (np.float64(2.3), 2)),
    Row(special.zeta, (2.5, positive(3))),
    *[Row(special.expn, (n, positive(3))) for n in (1, 2, np.array([1, 2, 3]))],
    *[
        Row(f, (v, positive(3)))
        for f in those("jv yv iv ive kv kve")
        for v in (0, 1, 2, 0.5, np.array([0.0, 1.0, 2.5]))
    ],
    Row(special.ive, (1, minus(3))),
    *[Row(f, (n, positive(3))) for f in those("yn kn") for n in (0, 1, 2)],
    Row(special.hyp2f1, (0.5, 1.5, 2.0, share(3))),
    Row(special.hyp1f1, (0.5, 1.5, normal(3))),
    Row(special.hyp0f1, (1.5, normal(3))),
    *[
        Row(f, (n, between(-1.0, 1.0, 3)))
        for f in those(
            "eval_legendre eval_chebyt eval_chebyu eval_laguerre "
            "eval_hermite eval_hermitenorm"
        )
        for n in (0, 1, 2, 5)
    ],
    Row(special.eval_hermite, (np.array([0, 1, 4]), normal(3))),
    Row(special.eval_legendre, (np.array([0, 1, 4]), share(3))),
    *[
        Row(f, (n, 1.5, normal(3)))
        for f in those("eval_gegenbauer eval_genlaguerre")
        for n in (0, 1, 4)
    ],
    *[Row(special.eval_jacobi, (n, 0.5, 1.5, share(3))) for n in (0, 1, 4)],
    *[
        Row(f, (normal(2, 3),), kwargs)
        for f in those("logsumexp softmax log_softmax")
        for kwargs in ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 1)})
    ],
    *[
        Row(special.logsumexp, (normal(2, 3),), kwargs)
        for kwargs in (
            {"keepdims": True},
            {"axis": 1, "keepdims": True},
            {"b": positive(2, 3)},
            {"axis": 1, "b": positive(3)},
            {"axis": 0, "b": positive(2, 1), "keepdims": True},
        )
    ],
    Row(special.logsumexp, (np.array([-np.inf, 0.3, -np.inf]),)),
    Row(special.logsumexp, (np.array([1000.0, 999.0]),)),
    *[
        Row(f, (normal(3).astype(np.float32),))
        for f in those("erf ndtr expit i1 softmax logsumexp")
    ],
    *[Row(f, (positive(3).astype(np.float32),)) for f in those("gammaln digamma k1")],
]

# Where a location and a scale may follow.
_SCALED = ({}, {"loc": 0.1}, {"loc": 0.1, "scale": 1.3})
_LOGS = ("logpdf", "pdf")

STATS = [
    *[
        Row(getattr(stats.norm, m), (normal(3), *rest))
        for m in ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf")
        for rest in ((), (0.3,), (normal(2, 1), positive(2, 1)))
    ],
    *[
        Row(getattr(stats.norm, m), (share(3), *rest))
        for m in ("ppf", "isf")
        for rest in ((), (0.3,), (normal(2, 1), positive(2, 1)))
    ],
    *[
        Row(getattr(stats.t, m), (np.array([-1.2, 0.1, 2.0]), df), kwargs)
        for m in (*_LOGS, "cdf", "sf", "logcdf", "logsf")
        for df in (3.5, positive(3))
        for kwargs in _SCALED
    ],
    *[
        Row(getattr(getattr(stats, d), m), (large(3), *shapes), kwargs)
        for d, shapes in (
            ("gamma", (1.7,)),
            ("chi2", (3.5,)),
            ("lognorm", (0.8,)),
            ("expon", ()),
            ("laplace", ()),
            ("logistic", ()),
            ("cauchy", ()),
        )
        for m in (*_LOGS, "cdf", "sf")
        for kwargs in _SCALED
    ],
    *[
        Row(getattr(stats.beta, m), (between(0.2, 0.8, 3), 1.7, positive(3)), kwargs)
        for m in (*_LOGS, "cdf", "sf")
        for kwargs in _SCALED
    ],
    *[
        Row(getattr(stats.poisson, m), (np.array([0, 2, 5]), positive(3)))
        for m in ("logpmf", "pmf", "cdf", "sf")
    ],
    Row(stats.poisson.logpmf, (3, positive(3), 1)),
    *[
        Row(getattr(stats.binom, m), (np.array([0, 2, 5]), 5, share(3)))
        for m in ("logpmf", "pmf")
    ],
    *[
        Row(getattr(stats.bernoulli, m), (np.array([0, 1, 1]), share(3)))
        for m in ("logpmf", "pmf")
    ],
    *[
        row
        for m in _LOGS
        for f in (getattr(stats.multivariate_normal, m),)
        for row in (
            Row(f, (normal(3),)),
            Row(f, (normal(3), normal(3), definite(3, 3)), wrt=("x", "mean")),
            Row(f, (normal(2, 3), normal(3), definite(3, 3)), wrt=("x", "mean")),
            Row(f, (normal(2, 2, 3), normal(3)), {"cov": positive()}),
            Row(f, (normal(2, 3), normal(3), positive(3))),
            Row(f, (normal(4), None, positive())),
            Row(f, (normal(2, 3), None, definite(3, 3)), {}, ("cov",), True),
        )
    ],
    *[
        Row(getattr(stats.dirichlet, m), (np.array([0.2, 0.3]), positive(3)))
        for m in _LOGS
    ],
    *[
        Row(
            getattr(stats.dirichlet, m),
            (np.array([[0.2, 0.1], [0.3, 0.4], [0.5, 0.5]]), positive(3)),
            {},
            ("alpha",),
        )
        for m in _LOGS
    ],
]

_LU, _PIVOTS = linalg.lu_factor(regular(3, 3)[::-1])
_BANDS = normal(4, 5) + np.array([[0.0], [0.0], [6.0], [0.0]])

LINALG = [
    *[Row(f, (regular(3, 3),)) for f in (linalg.inv, linalg.det)],
    *[Row(f, (regular(3, 3),)) for f in (linalg.expm, linalg.logm, linalg.sqrtm)],
    Row(linalg.expm, (normal(2, 3, 3),)),
    *[
        Row(linalg.solve, (regular(3, 3), b), kwargs)
        for b in (normal(3), normal(3, 2))
        for kwargs in ({}, {"transposed": True}, {"check_finite": False})
    ],
    Row(linalg.solve, (definite(3, 3), normal(3)), {"assume_a": "pos"}, ("b",)),
    Row(linalg.solve, (definite(3, 3), normal(3)), {"assume_a": "pos"}, ("a",), True),
    Row(linalg.pinv, (normal(4, 3),)),
    *[
        Row(linalg.norm, (normal(3, 4), *rest), kwargs)
        for rest in ((), ("fro",), (1, 0))
        for kwargs in ({}, {"keepdims": True})
    ],
    *[
        Row(linalg.cholesky, (definite(3, 3),), kwargs, symmetric=True)
        for kwargs in ({}, {"lower": True})
    ],
    *[
        Row(linalg.eigvalsh, (definite(3, 3),), kwargs, symmetric=True)
        for kwargs in ({}, {"lower": False})
    ],
    Row(linalg.eigh, (definite(3, 3),), {"eigvals_only": True}, symmetric=True),
    Row(linalg.svdvals, (normal(4, 3),)),
    Row(linalg.svd, (normal(4, 3),), {"compute_uv": False}),
    Row(linalg.svd, (spread(4, 3), False)),
    Row(linalg.qr, (regular(3, 3),)),
    Row(linalg.qr, (normal(4, 3),), {"mode": "economic"}),
    *[
        Row(linalg.solve_triangular, (regular(3, 3), b), kwargs)
        for b in (normal(3), normal(3, 2))
        for kwargs in (
            {},
            {"lower": True},
            {"trans": 1},
            {"trans": "T", "lower": True, "unit_diagonal": True},
        )
    ],
    *[
        Row(linalg.cho_factor, (definite(3, 3),), kwargs, symmetric=True)
        for kwargs in ({}, {"lower": True})
    ],
    *[
        Row(linalg.cho_solve, ((regular(3, 3), lower), b))
        for lower in (False, True)
        for b in (normal(3), normal(3, 2))
    ],
    Row(linalg.lu_factor, (regular(3, 3)[::-1],)),
    *[
        Row(linalg.lu_solve, ((_LU, _PIVOTS), b), {"trans": trans})
        for b in (normal(3), normal(3, 2))
        for trans in (0, 1)
    ],
    Row(linalg.solve_sylvester, (regular(3, 3), regular(2, 2), normal(3, 2))),
    Row(linalg.block_diag, (normal(2, 2), normal(1, 3), normal(2))),
    Row(linalg.toeplitz, (normal(3),)),
    Row(linalg.toeplitz, (normal(3), normal(4))),
    Row(linalg.solve_banded, ((1, 2), _BANDS, normal(5))),
    Row(linalg.solve_banded, ((1, 2), _BANDS, normal(5, 2))),
    Row(helper.block_diag_adjoint, (normal(3, 5), [normal(2, 2), normal(3)])),
    Row(helper.permuted, (normal(3, 2), _PIVOTS)),
    Row(helper.unpermuted, (normal(3, 2), _PIVOTS)),
]

_POINTS = np.cumsum(positive(2, 5), 1)

MORE = [
    *[
        Row(f, (normal(5), normal(3)), {"mode": mode})
        for f in (signal.convolve, signal.fftconvolve)
        for mode in ("full", "same", "valid")
    ],
    Row(signal.convolve, (normal(3), normal(5)), {"mode": "valid"}),
    Row(signal.convolve2d, (normal(4, 5), normal(2, 3)), {"mode": "same"}),
    Row(signal.lfilter, (normal(3), np.array([2.0, 0.5, 0.3]), normal(2, 6))),
    Row(signal.detrend, (normal(6),)),
    Row(signal.detrend, (normal(6, 2), 0, "constant")),
    Row(integrate.trapezoid, (normal(5),)),
    Row(integrate.trapezoid, (normal(5, 3),), {"dx": 0.3, "axis": 0}),
    Row(integrate.trapezoid, (normal(2, 5), _POINTS[0])),
    Row(integrate.trapezoid, (normal(2, 5), _POINTS)),
    Row(integrate.simpson, (normal(5),)),
    Row(integrate.simpson, (normal(6, 2),), {"dx": 0.3, "axis": 0}),
    Row(integrate.simpson, (normal(2, 5),), {"x": _POINTS[0]}),
    *[
        Row(distance.cdist, (normal(4, 3), normal(2, 3)), {"metric": metric})
        for metric in ("euclidean", "sqeuclidean", "cityblock")
    ],
    *[
        Row(f, (normal(5),), kwargs)
        for f in (fft.fft, fft.ifft, fft.rfft)
        for kwargs in ({}, {"n": 7}, {"n": 4, "norm": "ortho"}, {"norm": "forward"})
    ],
    Row(fft.fft, (normal(2, 4),), {"axis": 0}),
    Row(fft.irfft, (normal(5),)),
    Row(fft.irfft, (normal(5), 7)),
    *[Row(f, (normal(3, 4),)) for f in (fft.fft2, fft.ifft2, fft.fftn)],
    Row(fft.ifftn, (normal(3, 4),), {"norm": "ortho"}),
    *[
        Row(f, (normal(4), kind), {"norm": norm})
        for f in (fft.dct, fft.idct)
        for kind in (2, 3, 4)
        for norm in (None, "ortho", "forward")
    ],
    Row(fft.dct, (normal(4, 3),), {"axis": 0}),
    *[
        Row(f, (normal(4), 1), {"norm": norm})
        for f in (fft.dct, fft.idct)
        for norm in (None, "ortho", "forward")
    ],
    Row(fft.dct, (normal(4, 3), 1), {"axis": 0}),
    Row(linalg.cho_solve, ((regular(3, 3) + 1j * normal(3, 3), True), normal(3))),
    Row(linalg.cho_solve, ((regular(3, 3), False), normal(3) + 1j * normal(3))),
    *[
        Row(linalg.solve_toeplitz, (c, b))
        for b in (normal(4), normal(4, 2))
        for c in (
            normal(4) + np.array([6.0, 0.0, 0.0, 0.0]),
            (normal(4) + np.array([6.0, 0.0, 0.0, 0.0]), normal(4)),
        )
    ],
]

SCIPY = [*SPECIAL, *STATS, *LINALG, *MORE]
