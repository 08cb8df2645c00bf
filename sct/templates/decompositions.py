"""Rules of the decompositions of `np.linalg`.

``w, v = np.linalg.eigh(a)``  →  ``a_bar = eigh_adjoint(w_bar, v_bar, w, v)``

What is said of a Hermitian matrix, of which only one triangle is read, has a Hermitian
adjoint, as if both were read.  Phases of complex vectors are taken for undetermined,
except those of `eig`.
"""

from __future__ import annotations

import numpy as np

from sct.runtime_decompositions import (
    eig_adjoint,
    eig_tangent,
    eigh_adjoint,
    eigh_tangent,
    eigvals_adjoint,
    eigvals_tangent,
    eigvalsh_adjoint,
    eigvalsh_tangent,
    svd_adjoint,
    svd_tangent,
    svdvals_adjoint,
    svdvals_tangent,
)
from sct.runtime_triangular import (
    cholesky_adjoint,
    cholesky_tangent,
    qr_adjoint,
    qr_tangent,
    r_adjoint,
    r_tangent,
)

from .registry import adjoint, present, tangent


@adjoint(np.linalg.cholesky)
def cholesky(out, a, *, upper=False, out_bar):
    if upper:
        a_bar = cholesky_adjoint(out_bar, out, True)
    else:
        a_bar = cholesky_adjoint(out_bar, out)
    return a_bar


@tangent(np.linalg.cholesky)
def cholesky_tangent_(out, a, *, upper=False, a_dot):
    if upper:
        out_dot = cholesky_tangent(a_dot, out, True)
    else:
        out_dot = cholesky_tangent(a_dot, out)
    return out_dot


@adjoint(np.linalg.eigh, wrt=("a",), parts=("eigenvalues", "eigenvectors"), fresh=True)
def eigh(out, a, UPLO="L", *, out_bar):
    a_bar = eigh_adjoint(out_bar[0], out_bar[1], out[0], out[1])
    return a_bar


@tangent(np.linalg.eigh)
def eigh_tangent_(out, a, UPLO="L", *, a_dot):
    return eigh_tangent(a_dot, out[0], out[1])


@adjoint(np.linalg.eigvalsh, wrt=("a",), result="real", fresh=True)
def eigvalsh(out, a, UPLO="L", *, out_bar):
    a_bar = eigvalsh_adjoint(out_bar, a, UPLO)
    return a_bar


@tangent(np.linalg.eigvalsh)
def eigvalsh_tangent_(out, a, UPLO="L", *, a_dot):
    return eigvalsh_tangent(a_dot, a, UPLO)


@adjoint(
    np.linalg.eig, parts=("eigenvalues", "eigenvectors"), result="complex", fresh=True
)
def eig(out, a, *, out_bar):
    a_bar = eig_adjoint(out_bar[0], out_bar[1], out[0], out[1], a)
    return a_bar


@tangent(np.linalg.eig)
def eig_tangent_(out, a, *, a_dot):
    return eig_tangent(a_dot, out[0], out[1])


@adjoint(np.linalg.eigvals, result="complex", fresh=True)
def eigvals(out, a, *, out_bar):
    a_bar = eigvals_adjoint(out_bar, out, a)
    return a_bar


@tangent(np.linalg.eigvals)
def eigvals_tangent_(out, a, *, a_dot):
    return eigvals_tangent(a_dot, out, a)


@adjoint(
    np.linalg.svd,
    wrt=("a",),
    parts=("U", "S", "Vh"),
    alone={"compute_uv": (False,)},
    fresh=True,
)
def svd(out, a, full_matrices=True, compute_uv=True, hermitian=False, *, out_bar):
    if compute_uv:
        a_bar = svd_adjoint(out_bar[0], out_bar[1], out_bar[2], out[0], out[1], out[2])
    else:
        a_bar = svdvals_adjoint(out_bar, a)
    return a_bar


@tangent(np.linalg.svd)
def svd_tangent_(
    out, a, full_matrices=True, compute_uv=True, hermitian=False, *, a_dot
):
    if compute_uv:
        dots = svd_tangent(a_dot, out[0], out[1], out[2])
    else:
        dots = svdvals_tangent(a_dot, a)
    return dots


@adjoint(*present("linalg.svdvals"), result="real", fresh=True)
def svdvals(out, x, *, out_bar):
    x_bar = svdvals_adjoint(out_bar, x)
    return x_bar


@tangent(*present("linalg.svdvals"))
def svdvals_tangent_(out, x, *, x_dot):
    return svdvals_tangent(x_dot, x)


@adjoint(np.linalg.qr, wrt=("a",), parts=("Q", "R"), alone={"mode": ("r",)}, fresh=True)
def qr(out, a, mode="reduced", *, out_bar):
    if mode == "r":
        a_bar = r_adjoint(out_bar, a)
    else:
        a_bar = qr_adjoint(out_bar[0], out_bar[1], out[0], out[1])
    return a_bar


@tangent(np.linalg.qr)
def qr_tangent_(out, a, mode="reduced", *, a_dot):
    if mode == "r":
        dots = r_tangent(a_dot, a)
    else:
        dots = qr_tangent(a_dot, out[0], out[1])
    return dots
