"""Functions that emitted code calls for the rules of eigen- and singular values.

An adjoint `a_bar` says that the result changes by the real part of
``sum(a_bar * a_dot)``.  For complex numbers it is the conjugate of the steepest ascent,
for which formulas stand in books; so these begin with ``g = np.conj(g)`` and end with
the conjugate of what they find.

Eigenvectors and singular vectors of equal values may be turned into one another.  How
a result changes with the matrix does not show in how it changes with these vectors, so
what depends on them is refused.
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError


def adjugated(a):
    """Return matrices transposed and conjugated."""
    return np.conj(np.swapaxes(a, -1, -2))


def on_diagonal(d, a):
    """Return `a` with the vectors `d` added to the diagonals of its matrices."""
    return a + np.expand_dims(d, -1) * np.eye(np.shape(d)[-1], dtype=d.dtype)


def apart(w):
    """Whether ``w[i]`` and ``w[j]`` are different, for more than rounding can do."""
    size = np.sum(np.abs(w), axis=-1)
    noise = np.shape(w)[-1] * np.finfo(w.dtype).eps * np.expand_dims(size, (-1, -2))
    return np.abs(np.expand_dims(w, -2) - np.expand_dims(w, -1)) > noise


def diagonals(a):
    """The diagonals of matrices, in an array of their own."""
    return np.copy(np.diagonal(a, 0, -2, -1))


def gaps(w):
    """Return ``w[j] - w[i]``, and nan where these are equal, as on the diagonal."""
    return np.where(apart(w), np.expand_dims(w, -2) - np.expand_dims(w, -1), np.nan)


def quotient(x, gap):
    """Return ``x / gap``, zero where `x` is."""
    return x / np.where(x == 0, 1.0, gap)


def off_diagonal(x):
    """Return matrices without their diagonals."""
    n = np.shape(x)[-1]
    return np.where(np.eye(n, dtype=bool), 0.0, x)


def check_distinct(v_bar, gap):
    """Raise when something may depend on vectors that belong to equal values.

    Those that nothing depends on have an adjoint of 0.  Where all have, contributions
    may have cancelled, as those of ``v @ np.linalg.inv(v)`` do.
    """
    used = np.any(v_bar != 0, axis=-2)
    used = used | ~np.any(used, axis=-1, keepdims=True)
    pairs = np.expand_dims(used, -1) | np.expand_dims(used, -2)
    if np.any(off_diagonal(np.isnan(gap) & pairs)):
        raise ArgumentError(
            "two eigenvalues or singular values are equal, so that their vectors are "
            "not determined, and the result depends on these: use the values alone, "
            "or a function of the matrix that needs no vectors"
        )


# Eigenvalues.


def eigh_adjoint(w_bar, v_bar, w, v):
    """The adjoint, a Hermitian matrix, of `a` in ``w, v = np.linalg.eigh(a)``.

    Giles (2008), section 3.1: ``v (diag(w_bar) + F ∘ (vᴴ v_bar)) vᴴ`` where
    ``F[i, j] = 1 / (w[j] - w[i])``.
    """
    if v_bar is None:
        return np.conj((v * np.expand_dims(np.real(w_bar), -2)) @ adjugated(v))
    turn, gap = adjugated(v) @ np.conj(v_bar), gaps(w)
    check_distinct(v_bar, gap)
    inner = 0.5 * quotient(off_diagonal(turn - adjugated(turn)), gap)
    if w_bar is not None:
        inner = on_diagonal(np.real(w_bar), inner)
    return np.conj(v @ inner @ adjugated(v))


def eigvalsh_adjoint(g, a, uplo="L"):
    """The adjoint, a Hermitian matrix, of `a` in ``np.linalg.eigvalsh(a, uplo)``."""
    w, v = np.linalg.eigh(a, uplo)
    return eigh_adjoint(g, None, w, v)


def eigvalsh_tangent(a_dot, a, uplo="L"):
    """The tangent of ``np.linalg.eigvalsh(a, uplo)``."""
    _, v = np.linalg.eigh(a, uplo)
    return np.real(diagonals(adjugated(v) @ a_dot @ v))


def eigh_tangent(a_dot, w, v):
    """The tangents of ``w, v = np.linalg.eigh(a)``; of v nan where values are equal."""
    inner = adjugated(v) @ (0.5 * (a_dot + adjugated(a_dot))) @ v
    w_dot = np.real(diagonals(inner))
    return w_dot, v @ quotient(off_diagonal(inner), gaps(w))


def largest(v):
    """For each column of `v` the row of its largest element, which is real."""
    return np.expand_dims(np.argmax(np.abs(v), axis=-2), -2)


def eig_adjoint(w_bar, v_bar, w, v, a):
    """The adjoint of `a` in ``w, v = np.linalg.eig(a)``.

    Boeddeker et al. (2017), "On the computation of complex-valued gradients": as for
    `eigh`, and columns of `v` keep their length, and their largest elements stay real.
    """
    inverse = np.linalg.inv(v)
    inner = np.zeros_like(v)
    if w_bar is not None:
        inner = on_diagonal(np.conj(w_bar), inner)
    if v_bar is not None:
        gap, turn = gaps(w), adjugated(v) @ np.conj(v_bar)
        kept = np.expand_dims(diagonals(turn), -2)
        place = largest(v)
        phase = np.imag(kept) / np.take_along_axis(v, place, -2)
        rows = np.take_along_axis(np.swapaxes(v, -1, -2), place, -1)
        turn = turn - (adjugated(v) @ v) * np.real(kept)
        if np.iscomplexobj(v):
            turn = turn - 1j * phase * np.conj(rows)
        check_distinct(v_bar, gap)
        inner = inner + quotient(off_diagonal(turn), np.conj(gap))
    a_bar = np.conj(adjugated(inverse) @ inner @ adjugated(v))
    return a_bar if np.iscomplexobj(a) else np.real(a_bar)


def eig_tangent(a_dot, w, v):
    """The tangents of ``w, v = np.linalg.eig(a)``; of v nan where values are equal."""
    inner = np.linalg.solve(v, a_dot @ v)
    v_dot = v @ quotient(off_diagonal(inner), gaps(w))
    kept = np.sum(np.real(np.conj(v) * v_dot), axis=-2, keepdims=True)
    v_dot = v_dot - v * kept
    if np.iscomplexobj(v):
        place = largest(v)
        turn = np.imag(np.take_along_axis(v_dot, place, -2))
        v_dot = v_dot - 1j * v * (turn / np.take_along_axis(v, place, -2))
    return diagonals(inner), v_dot


def eig_in_order(w, a):
    """The eigenvalues and -vectors of `a` in the order of the eigenvalues `w`."""
    values, v = np.linalg.eig(a)
    distance = np.abs(np.expand_dims(w, -1) - np.expand_dims(values, -2))
    if np.all(diagonals(distance) <= np.min(distance, axis=-1)):
        return values, v
    order = np.argmin(distance, axis=-1)
    v = np.take_along_axis(v, np.expand_dims(order, -2), -1)
    return np.take_along_axis(values, order, -1), v


def eigvals_adjoint(g, out, a):
    """The adjoint of `a` in ``out = np.linalg.eigvals(a)``."""
    w, v = eig_in_order(out, a)
    return eig_adjoint(g, None, w, v, a)


def eigvals_tangent(a_dot, out, a):
    """The tangent of ``out = np.linalg.eigvals(a)``."""
    _, v = eig_in_order(out, a)
    return diagonals(np.linalg.solve(v, a_dot @ v))


# Singular values.


def first_columns(u, u_bar, k):
    """The first `k` columns of a unitary matrix, and their adjoint.

    All others turn with these, so as to stay perpendicular to them.
    """
    first, rest = u[..., :k], u[..., k:]
    return first, u_bar[..., :k] - rest @ (adjugated(u_bar[..., k:]) @ first)


def all_columns(first_dot, first, u):
    """The tangent of a unitary matrix from that of its first columns."""
    rest = u[..., np.shape(first)[-1] :]
    return np.concatenate([first_dot, -first @ (adjugated(first_dot) @ rest)], -1)


def half_turns(x, y, s):
    """How singular vectors turn: ``(x[i, j] s[j] + s[i] y[i, j]) / (s[j]² - s[i]²)``.

    Taken apart into fractions whose denominators are ``s[j] - s[i]`` and their sum.
    """
    total = np.expand_dims(s, -2) + np.expand_dims(s, -1)
    apart = quotient(off_diagonal(x + y), gaps(s))
    together = quotient(x - y, np.where(total == 0, np.nan, total))
    return 0.5 * (apart + together)


def svd_adjoint(u_bar, s_bar, vh_bar, u, s, vh):
    """The adjoint of `a` in ``u, s, vh = np.linalg.svd(a)``.

    Townsend (2016), "Differentiating the singular value decomposition"; for complex
    numbers Wan and Zhang (2019).
    """
    if u_bar is None and vh_bar is None:
        columns = u[..., : np.shape(s)[-1]] * np.expand_dims(np.real(s_bar), -2)
        return np.conj(columns @ vh[..., : np.shape(s)[-1], :])
    k = np.shape(s)[-1]
    u_bar = np.zeros_like(u) if u_bar is None else np.conj(u_bar)
    v = adjugated(vh)
    v_bar = np.zeros_like(v) if vh_bar is None else np.swapaxes(vh_bar, -1, -2)
    u, u_bar = first_columns(u, u_bar, k)
    v, v_bar = first_columns(v, v_bar, k)
    of_u, of_v = adjugated(u) @ u_bar, adjugated(v) @ v_bar
    check_distinct(np.concatenate([u_bar, v_bar], -2), gaps(s))
    inner = half_turns(of_u - adjugated(of_u), of_v - adjugated(of_v), s)
    if s_bar is not None:
        inner = on_diagonal(np.real(s_bar), inner)
    a_bar = u @ inner @ adjugated(v)
    # What is not in the space of the vectors that there are.
    if np.shape(u)[-2] > k:
        a_bar = a_bar + quotient(u_bar - u @ of_u, np.expand_dims(s, -2)) @ adjugated(v)
    if np.shape(v)[-2] > k:
        outside = quotient(v_bar - v @ of_v, np.expand_dims(s, -2))
        a_bar = a_bar + u @ adjugated(outside)
    return np.conj(a_bar)


def svd_tangent(a_dot, u, s, vh):
    """The tangents of ``u, s, vh = np.linalg.svd(a)``; nan where values are equal."""
    k = np.shape(s)[-1]
    first, v = u[..., :k], adjugated(vh[..., :k, :])
    inner = adjugated(first) @ a_dot @ v
    s_dot = np.real(diagonals(inner))
    first_dot = first @ half_turns(inner, adjugated(inner), s)
    v_dot = v @ half_turns(adjugated(inner), inner, s)
    columns = np.expand_dims(s, -2)
    if np.shape(u)[-2] > k:
        first_dot = first_dot + quotient(a_dot @ v - first @ inner, columns)
    if np.shape(vh)[-1] > k:
        outside = adjugated(a_dot) @ first - v @ adjugated(inner)
        v_dot = v_dot + quotient(outside, columns)
    u_dot = all_columns(first_dot, first, u)
    return u_dot, s_dot, adjugated(all_columns(v_dot, v, adjugated(vh)))


def svdvals_adjoint(g, a):
    """The adjoint of `a` in ``np.linalg.svd(a, compute_uv=False)``."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.conj((u * np.expand_dims(g, -2)) @ vh)


def svdvals_tangent(a_dot, a):
    """The tangent of ``np.linalg.svd(a, compute_uv=False)``."""
    u, _, vh = np.linalg.svd(a, full_matrices=False)
    return np.real(diagonals(adjugated(u) @ a_dot @ adjugated(vh)))
