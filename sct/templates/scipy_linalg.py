"""Rules of `scipy.linalg`.

``x = linalg.cho_solve(c, b)``  →  ``b_bar = linalg.cho_solve(c, x_bar)``

Where a matrix is taken for symmetric, or for triangular, only one of its triangles is
read: what is said of the former has a symmetric adjoint, as if both were read, and that
of the latter is zero beyond its triangle.  Options that say how a result is computed,
and `check_finite`, have no part in a derivative; those that allow to overwrite an
argument are refused.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from sct import helpers, runtime_scipy_linalg
from sct.runtime_decompositions import (
    eigh_adjoint,
    eigh_tangent,
    eigvalsh_adjoint,
    eigvalsh_tangent,
    svd_adjoint,
    svd_tangent,
    svdvals_adjoint,
    svdvals_tangent,
)
from sct.runtime_linalg import (
    cofactors,
    inv_adjoint,
    pinv_adjoint,
    pinv_tangent,
    solve_adjoint_a,
    solve_adjoint_b,
    solve_tangent_a,
)
from sct.runtime_norms import norm_adjoint, norm_change
from sct.runtime_scipy_linalg import (
    bands_of_product,
    bands_times,
    block_diag_adjoint,
    cho_factor_adjoint,
    cho_factor_tangent,
    cho_solve_adjoint_c,
    cho_solve_tangent_c,
    expm_change,
    logm_change,
    lu_factor_adjoint,
    lu_factor_tangent,
    lu_solve_adjoint_lu,
    lu_solve_tangent_lu,
    outer_rows,
    permuted,
    toeplitz_adjoint,
    toeplitz_adjoint_c,
    toeplitz_adjoint_r,
    toeplitz_of,
    toeplitz_transposed,
    transposed_bands,
    triangle,
    unpermuted,
)
from sct.runtime_triangular import (
    cholesky_adjoint,
    cholesky_tangent,
    qr_adjoint,
    qr_tangent,
    r_adjoint,
    r_tangent,
)

from .registry import adjoint, tangent

helpers.add(
    runtime_scipy_linalg,
    (
        cho_factor_adjoint,
        cho_solve_adjoint_c,
        expm_change,
        logm_change,
        lu_factor_adjoint,
        lu_solve_adjoint_lu,
        toeplitz_adjoint,
        toeplitz_adjoint_c,
        toeplitz_adjoint_r,
        toeplitz_of,
        toeplitz_transposed,
        triangle,
    ),
)


# Inverses and what is solved with a whole matrix, as in `linalg`.


@adjoint(linalg.inv, wrt=("a",), fresh=True)
def inv(out, a, *, check_finite=True, out_bar):
    if np.ndim(a) == 2:
        a_bar = -out.T @ out_bar @ out.T
    else:
        a_bar = inv_adjoint(out_bar, out)
    return a_bar


@tangent(linalg.inv)
def inv_tangent(out, a, *, check_finite=True, a_dot):
    return -out @ a_dot @ out


@adjoint(linalg.det, wrt=("a",), fresh=True)
def det(out, a, *, check_finite=True, out_bar):
    if np.ndim(a) == 2:
        a_bar = out_bar * cofactors(a, out)
    else:
        a_bar = np.expand_dims(out_bar, (-1, -2)) * cofactors(a, out)
    return a_bar


@tangent(linalg.det)
def det_tangent(out, a, *, check_finite=True, a_dot):
    return np.sum(cofactors(a, out) * a_dot, axis=(-2, -1))


# Of a matrix that is said to be symmetric, the two triangles are taken to be alike.
@adjoint(linalg.solve, wrt=("a", "b"), fresh=True)
def solve(out, a, b, *, check_finite=True, assume_a=None, transposed=False, out_bar):
    if transposed:
        b_bar = linalg.solve(a, out_bar)
        a_bar = -outer_rows(out, b_bar)
    elif np.ndim(a) == 2 and np.ndim(b) == 1:
        b_bar = linalg.solve(a.T, out_bar)
        a_bar = -np.outer(b_bar, out)
    elif np.ndim(a) == 2 and np.ndim(b) == 2:
        b_bar = linalg.solve(a.T, out_bar)
        a_bar = -b_bar @ out.T
    else:
        a_bar = solve_adjoint_a(out_bar, out, a, b)
        b_bar = solve_adjoint_b(out_bar, a, b)
    return a_bar, b_bar


@tangent(linalg.solve)
def solve_tangent(
    out, a, b, *, check_finite=True, assume_a=None, transposed=False, a_dot, b_dot
):
    if transposed:
        from_a = -linalg.solve(a, a_dot.T @ out, transposed=True)
    elif np.ndim(a) == 2:
        from_a = -linalg.solve(a, a_dot @ out)
    else:
        from_a = solve_tangent_a(a_dot, out, a)
    from_b = linalg.solve(a, b_dot, transposed=transposed)
    return from_a, from_b


@adjoint(linalg.pinv, wrt=("a",), fresh=True)
def pinv(out, a, *, atol=None, rtol=None, check_finite=True, out_bar):
    a_bar = pinv_adjoint(out_bar, out, a)
    return a_bar


@tangent(linalg.pinv)
def pinv_tangent_(out, a, *, atol=None, rtol=None, check_finite=True, a_dot):
    return pinv_tangent(a_dot, out, a)


@adjoint(linalg.norm, wrt=("a",), fresh=True)
def norm(out, a, ord=None, axis=None, keepdims=False, *, check_finite=True, out_bar):
    if ord is None and axis is None and not keepdims:
        a_bar = out_bar * np.conj(a) / np.where(out == 0, 1.0, out)
    else:
        a_bar = norm_adjoint(out_bar, out, a, ord, axis, keepdims)
    return a_bar


@tangent(linalg.norm)
def norm_tangent(
    out, a, ord=None, axis=None, keepdims=False, *, check_finite=True, a_dot
):
    a_bar = norm_adjoint(np.ones_like(out), out, a, ord, axis, keepdims)
    return norm_change(a_bar, a_dot, axis, keepdims)


# Decompositions, as in `decompositions`.


@adjoint(linalg.cholesky, wrt=("a",), fresh=True, result="first")
def cholesky(out, a, lower=False, *, check_finite=True, out_bar):
    a_bar = cholesky_adjoint(out_bar, out, not lower)
    return a_bar


@tangent(linalg.cholesky)
def cholesky_tangent_(out, a, lower=False, *, check_finite=True, a_dot):
    return cholesky_tangent(a_dot, out, not lower)


@adjoint(
    linalg.eigh,
    wrt=("a",),
    parts=("eigenvalues", "eigenvectors"),
    alone={"eigvals_only": (True,)},
    fresh=True,
)
def eigh(out, a, *, lower=True, eigvals_only=False, check_finite=True, out_bar):
    if eigvals_only:
        a_bar = eigvalsh_adjoint(out_bar, a, "L" if lower else "U")
    else:
        a_bar = eigh_adjoint(out_bar[0], out_bar[1], out[0], out[1])
    return a_bar


@tangent(linalg.eigh)
def eigh_tangent_(out, a, *, lower=True, eigvals_only=False, check_finite=True, a_dot):
    if eigvals_only:
        dots = eigvalsh_tangent(a_dot, a, "L" if lower else "U")
    else:
        dots = eigh_tangent(a_dot, out[0], out[1])
    return dots


@adjoint(linalg.eigvalsh, wrt=("a",), fresh=True)
def eigvalsh(out, a, *, lower=True, check_finite=True, out_bar):
    a_bar = eigvalsh_adjoint(out_bar, a, "L" if lower else "U")
    return a_bar


@tangent(linalg.eigvalsh)
def eigvalsh_tangent_(out, a, *, lower=True, check_finite=True, a_dot):
    return eigvalsh_tangent(a_dot, a, "L" if lower else "U")


@adjoint(
    linalg.svd,
    wrt=("a",),
    parts=("U", "s", "Vh"),
    alone={"compute_uv": (False,)},
    fresh=True,
)
def svd(out, a, full_matrices=True, compute_uv=True, *, check_finite=True, out_bar):
    if compute_uv:
        a_bar = svd_adjoint(out_bar[0], out_bar[1], out_bar[2], out[0], out[1], out[2])
    else:
        a_bar = svdvals_adjoint(out_bar, a)
    return a_bar


@tangent(linalg.svd)
def svd_tangent_(
    out, a, full_matrices=True, compute_uv=True, *, check_finite=True, a_dot
):
    if compute_uv:
        dots = svd_tangent(a_dot, out[0], out[1], out[2])
    else:
        dots = svdvals_tangent(a_dot, a)
    return dots


@adjoint(linalg.svdvals, wrt=("a",), fresh=True)
def svdvals(out, a, *, check_finite=True, out_bar):
    a_bar = svdvals_adjoint(out_bar, a)
    return a_bar


@tangent(linalg.svdvals)
def svdvals_tangent_(out, a, *, check_finite=True, a_dot):
    return svdvals_tangent(a_dot, a)


# Pivoting is not covered.
@adjoint(linalg.qr, wrt=("a",), parts=("Q", "R"), alone={"mode": ("r",)}, fresh=True)
def qr(out, a, *, mode="full", check_finite=True, out_bar):
    if mode == "r":
        a_bar = r_adjoint(out_bar[0], a)
    else:
        a_bar = qr_adjoint(out_bar[0], out_bar[1], out[0], out[1])
    return a_bar


@tangent(linalg.qr)
def qr_tangent_(out, a, *, mode="full", check_finite=True, a_dot):
    if mode == "r":
        dots = r_tangent(a_dot, a)
    else:
        dots = qr_tangent(a_dot, out[0], out[1])
    return dots


# Triangular matrices.


@adjoint(linalg.solve_triangular, wrt=("a", "b"), fresh=True, real=True)
def solve_triangular(
    out,
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    *,
    check_finite=True,
    out_bar,
):
    if trans == 0 or trans == "N":
        b_bar = linalg.solve_triangular(
            a, out_bar, trans=1, lower=lower, unit_diagonal=unit_diagonal
        )
        full_bar = -outer_rows(b_bar, out)
    else:
        b_bar = linalg.solve_triangular(
            a, out_bar, lower=lower, unit_diagonal=unit_diagonal
        )
        full_bar = -outer_rows(out, b_bar)
    a_bar = triangle(full_bar, lower=lower, unit_diagonal=unit_diagonal)
    return a_bar, b_bar


@tangent(linalg.solve_triangular)
def solve_triangular_tangent(
    out,
    a,
    b,
    trans=0,
    lower=False,
    unit_diagonal=False,
    *,
    check_finite=True,
    a_dot,
    b_dot,
):
    a_part = triangle(a_dot, lower=lower, unit_diagonal=unit_diagonal)
    if trans == 0 or trans == "N":
        moved = a_part @ out
    else:
        moved = a_part.T @ out
    from_a = -linalg.solve_triangular(
        a, moved, trans=trans, lower=lower, unit_diagonal=unit_diagonal
    )
    from_b = linalg.solve_triangular(
        a, b_dot, trans=trans, lower=lower, unit_diagonal=unit_diagonal
    )
    return from_a, from_b


# Cholesky's and LU decompositions, and what is solved with them.


@adjoint(linalg.cho_factor, wrt=("a",), parts=("c", "lower"), fresh=True)
def cho_factor(out, a, lower=False, *, check_finite=True, out_bar):
    a_bar = cho_factor_adjoint(out_bar[0], out[0], lower)
    return a_bar


@tangent(linalg.cho_factor)
def cho_factor_tangent_(out, a, lower=False, *, check_finite=True, a_dot):
    dots = cho_factor_tangent(a_dot, out[0], lower), 0.0
    return dots


@adjoint(linalg.cho_solve, wrt=("c_and_lower", "b"), fresh=True)
def cho_solve(out, c_and_lower, b, *, check_finite=True, out_bar):
    if np.iscomplexobj(out):
        b_bar = np.conj(linalg.cho_solve(c_and_lower, np.conj(out_bar)))
    else:
        b_bar = linalg.cho_solve(c_and_lower, out_bar)
    c_bar = cho_solve_adjoint_c(b_bar, out, c_and_lower[0], c_and_lower[1])
    c_and_lower_bar = c_bar, 0.0
    return c_and_lower_bar, b_bar


@tangent(linalg.cho_solve)
def cho_solve_tangent(
    out, c_and_lower, b, *, check_finite=True, c_and_lower_dot, b_dot
):
    c, lower = c_and_lower
    from_c = cho_solve_tangent_c(c_and_lower_dot[0], out, c, lower)
    from_b = linalg.cho_solve(c_and_lower, b_dot)
    return from_c, from_b


# Where pivots are is locally constant.
@adjoint(linalg.lu_factor, wrt=("a",), parts=("lu", "piv"), fresh=True)
def lu_factor(out, a, *, check_finite=True, out_bar):
    a_bar = lu_factor_adjoint(out_bar[0], out[0], out[1])
    return a_bar


@tangent(linalg.lu_factor)
def lu_factor_tangent_(out, a, *, check_finite=True, a_dot):
    dots = lu_factor_tangent(a_dot, out[0], out[1]), np.zeros(np.shape(out[1]))
    return dots


@adjoint(permuted, wrt=("x",), zero=("piv",), linear=True)
def permuted_(out, x, piv, *, out_bar):
    x_bar = unpermuted(out_bar, piv)
    return x_bar


@adjoint(unpermuted, wrt=("x",), zero=("piv",), linear=True)
def unpermuted_(out, x, piv, *, out_bar):
    x_bar = permuted(out_bar, piv)
    return x_bar


@adjoint(linalg.lu_solve, wrt=("lu_and_piv", "b"), fresh=True)
def lu_solve(out, lu_and_piv, b, trans=0, *, check_finite=True, out_bar):
    if trans == 0:
        b_bar = linalg.lu_solve(lu_and_piv, out_bar, trans=1)
    else:
        b_bar = linalg.lu_solve(lu_and_piv, out_bar)
    lu_bar = lu_solve_adjoint_lu(b_bar, out, lu_and_piv[0], lu_and_piv[1], trans)
    lu_and_piv_bar = lu_bar, 0.0
    return lu_and_piv_bar, b_bar


@tangent(linalg.lu_solve)
def lu_solve_tangent(
    out, lu_and_piv, b, trans=0, *, check_finite=True, lu_and_piv_dot, b_dot
):
    lu, piv = lu_and_piv
    from_lu = lu_solve_tangent_lu(lu_and_piv_dot[0], out, lu, piv, trans)
    from_b = linalg.lu_solve(lu_and_piv, b_dot, trans=trans)
    return from_lu, from_b


# Functions of matrices (Higham 2008, "Functions of Matrices", 3.2), and Sylvester's
# equation: the derivative of a b + b a = ... along a direction solves it again.


@adjoint(linalg.expm, fresh=True, result="first")
def expm(out, A, *, out_bar):
    A_bar = expm_change(np.swapaxes(A, -1, -2), out_bar)
    return A_bar


@tangent(linalg.expm)
def expm_tangent(out, A, *, A_dot):
    return expm_change(A, A_dot)


@adjoint(linalg.logm, wrt=("A",), fresh=True, result="first")
def logm(out, A, *, out_bar):
    A_bar = logm_change(A.T, out_bar)
    return A_bar


@tangent(linalg.logm)
def logm_tangent(out, A, *, A_dot):
    return logm_change(A, A_dot)


@adjoint(linalg.sqrtm, wrt=("A",), fresh=True, result="first")
def sqrtm(out, A, *, out_bar):
    A_bar = linalg.solve_sylvester(out.T, out.T, out_bar)
    return A_bar


@tangent(linalg.sqrtm)
def sqrtm_tangent(out, A, *, A_dot):
    return linalg.solve_sylvester(out, out, A_dot)


@adjoint(linalg.solve_sylvester, fresh=True)
def solve_sylvester(out, a, b, q, *, out_bar):
    q_bar = linalg.solve_sylvester(a.T, b.T, out_bar)
    a_bar = -q_bar @ out.T
    b_bar = -out.T @ q_bar
    return a_bar, b_bar, q_bar


@tangent(linalg.solve_sylvester)
def solve_sylvester_tangent(out, a, b, q, *, a_dot, b_dot, q_dot):
    from_a = -linalg.solve_sylvester(a, b, a_dot @ out)
    from_b = -linalg.solve_sylvester(a, b, out @ b_dot)
    from_q = linalg.solve_sylvester(a, b, q_dot)
    return from_a, from_b, from_q


# Matrices of a pattern.


@adjoint(linalg.block_diag, wrt=("arrs",), linear=True, fresh=True)
def block_diag(out, *arrs, out_bar):
    arrs_bar = block_diag_adjoint(out_bar, arrs)
    return arrs_bar


@adjoint(block_diag_adjoint, wrt=("g",), zero=("arrays",), linear=True)
def block_diag_adjoint_(out, g, arrays, *, out_bar):
    g_bar = linalg.block_diag(*out_bar)
    return g_bar


@adjoint(linalg.toeplitz, wrt=("c", "r"), jointly=True, fresh=True, real=True)
def toeplitz(out, c, r=None, *, out_bar):
    c_bar = toeplitz_adjoint_c(out_bar, c, r)
    if r is None:
        r_bar = None
    else:
        r_bar = toeplitz_adjoint_r(out_bar, r)
    return c_bar, r_bar


@adjoint(linalg.solve_toeplitz, wrt=("c_or_cr", "b"), fresh=True, real=True)
def solve_toeplitz(out, c_or_cr, b, check_finite=True, *, out_bar):
    b_bar = linalg.solve_toeplitz(toeplitz_transposed(c_or_cr), out_bar)
    c_or_cr_bar = toeplitz_adjoint(-outer_rows(b_bar, out), c_or_cr)
    return c_or_cr_bar, b_bar


@tangent(linalg.solve_toeplitz)
def solve_toeplitz_tangent(out, c_or_cr, b, check_finite=True, *, c_or_cr_dot, b_dot):
    from_c = -linalg.solve_toeplitz(c_or_cr, toeplitz_of(c_or_cr_dot) @ out)
    from_b = linalg.solve_toeplitz(c_or_cr, b_dot)
    return from_c, from_b


@adjoint(linalg.solve_banded, wrt=("ab", "b"), fresh=True)
def solve_banded(out, l_and_u, ab, b, *, check_finite=True, out_bar):
    lower, upper = l_and_u
    across = transposed_bands(ab, lower, upper)
    b_bar = linalg.solve_banded((upper, lower), across, out_bar)
    ab_bar = -bands_of_product(b_bar, out, lower, upper)
    return ab_bar, b_bar


@tangent(linalg.solve_banded)
def solve_banded_tangent(out, l_and_u, ab, b, *, check_finite=True, ab_dot, b_dot):
    moved = bands_times(ab_dot, out, l_and_u[0], l_and_u[1])
    from_ab = -linalg.solve_banded(l_and_u, ab, moved)
    from_b = linalg.solve_banded(l_and_u, ab, b_dot)
    return from_ab, from_b
