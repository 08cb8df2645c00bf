"""Kernels of PolyBench, with updates in place: the gradient is that of differences.

Each stands here as the suite has it, in loops over elements, and with slices where
NumPy users would write them.  Some are nonlinear besides, so that values are kept.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from .test_kernels import check, draw

KERNELS: list = []


def kernel(*args, wrt=None):
    """The function below, differentiated with respect to all of `args` or to `wrt`."""

    def keep(f):
        chosen = tuple(range(len(args))) if wrt is None else wrt
        KERNELS.append(pytest.param(f, args, chosen, id=f.__name__))
        return f

    return keep


# -- stencils --------------------------------------------------------------------------
@kernel(draw(9), draw(9, seed=1), 3, wrt=(0, 1))
def jacobi_1d(A, B, tsteps):
    n = len(A)
    for _ in range(tsteps):
        for i in range(1, n - 1):
            B[i] = 0.33333 * (A[i - 1] + A[i] + A[i + 1])
        for i in range(1, n - 1):
            A[i] = 0.33333 * (B[i - 1] + B[i] + B[i + 1])
    return np.sum(A * A) + np.sum(B)


@kernel(draw(9), 4, wrt=(0,))
def jacobi_1d_swapped(a, steps):
    u = a.copy()
    un = a.copy()
    for _ in range(steps):
        for i in range(1, len(u) - 1):
            un[i] = 0.33333 * (u[i - 1] + u[i] * u[i] + u[i + 1])
        u, un = un, u
    return np.sum(u * u)


@kernel(draw(9), draw(9, seed=1), 3, wrt=(0, 1))
def jacobi_1d_slices(A, B, steps):
    for _t in range(steps):
        B[1:-1] = 0.33333 * (A[:-2] + A[1:-1] + A[2:])
        A[1:-1] = 0.33333 * (B[:-2] + B[1:-1] * B[1:-1] + B[2:])
    return (A * B).sum()


@kernel(draw(5, 5), draw(5, 5, seed=1), 2, wrt=(0, 1))
def jacobi_2d(A, B, tsteps):
    n = A.shape[0]
    for _ in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (
                    A[i, j] + A[i, j - 1] + A[i, 1 + j] + A[1 + i, j] + A[i - 1, j]
                )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (
                    B[i, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j] + B[i - 1, j]
                )
    return np.sum(A * A) + B[2, 2]


@kernel(draw(5, 5), draw(5, 5, seed=1), 2, wrt=(0, 1))
def jacobi_2d_nonlinear(A, B, steps):
    n = A.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                B[i, j] = 0.2 * (
                    A[i, j] * A[i, j]
                    + A[i, j - 1]
                    + A[i, 1 + j]
                    + A[1 + i, j]
                    + A[i - 1, j]
                )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = 0.2 * (
                    B[i, j] * B[i - 1, j] + B[i, j - 1] + B[i, 1 + j] + B[1 + i, j]
                )
    return float(np.sum(A)) if steps < 0 else np.sum(A) + B[2, 2]


@kernel(draw(5, 5), 2, wrt=(0,))
def jacobi_2d_slices(A, steps):
    A = A.copy()
    B = np.empty_like(A)
    B[:] = A
    for _t in range(steps):
        B[1:-1, 1:-1] = 0.2 * (
            A[1:-1, 1:-1] ** 2 + A[1:-1, :-2] + A[1:-1, 2:] + A[2:, 1:-1] + A[:-2, 1:-1]
        )
        A, B = B, A
    return np.sum(A**2) + np.sum(B)


@kernel(draw(5, 5), 2, wrt=(0,))
def seidel_2d(A, tsteps):
    n = len(A)
    for _ in range(tsteps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i, j] = (
                    A[i - 1, j - 1]
                    + A[i - 1, j]
                    + A[i - 1, j + 1]
                    + A[i, j - 1]
                    + A[i, j]
                    + A[i, j + 1]
                    + A[i + 1, j - 1]
                    + A[i + 1, j]
                    + A[i + 1, j + 1]
                ) / 9.0
    return np.sum(A * A)


@kernel(draw(5, 5), 2, wrt=(0,))
def seidel_2d_nonlinear(A, steps):
    n = len(A)
    for _ in range(0, steps):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                A[i][j] = (
                    A[i - 1][j - 1]
                    + A[i - 1][j] * A[i][j]
                    + A[i - 1][j + 1]
                    + A[i][j - 1]
                    + A[i][j]
                    + A[i][j + 1]
                    + A[i + 1][j - 1]
                    + A[i + 1][j] * A[i][j - 1]
                    + A[i + 1][j + 1]
                ) / 9.0
    return np.sum(A * A)


@kernel(draw(6, 6), 2, wrt=(0,))
def seidel_2d_rows(A, steps):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            A[i, 1:-1] += (
                A[i - 1, :-2]
                + A[i - 1, 1:-1] * A[i, 1:-1]
                + A[i - 1, 2:]
                + A[i, 2:]
                + A[i + 1, :-2]
                + A[i + 1, 1:-1]
                + A[i + 1, 2:]
            )
            for j in range(1, A.shape[1] - 1):
                A[i, j] += A[i, j - 1] ** 2
                A[i, j] /= 9.0
    return np.sum(A)


@kernel(draw(4, 4, 4), draw(4, 4, 4, seed=3), 2, wrt=(0, 1))
def heat_3d(A, B, tsteps):
    n = A.shape[0]
    for _ in range(1, tsteps + 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + 0.125 * (A[i, j, k + 1] - 2.0 * A[i, j, k] + A[i, j, k - 1])
                        + A[i, j, k]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = (
                        0.125 * (B[i + 1, j, k] - 2.0 * B[i, j, k] + B[i - 1, j, k])
                        + 0.125 * (B[i, j + 1, k] - 2.0 * B[i, j, k] + B[i, j - 1, k])
                        + 0.125 * (B[i, j, k + 1] - 2.0 * B[i, j, k] + B[i, j, k - 1])
                        + B[i, j, k]
                    )
    return np.sum(A * A)


@kernel(draw(4, 4, 4), draw(4, 4, 4, seed=3), 2, wrt=(0, 1))
def heat_3d_nonlinear(A, B, tsteps):
    n = A.shape[0]
    for _ in range(1, tsteps + 1):
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    B[i, j, k] = (
                        0.125 * (A[i + 1, j, k] - 2.0 * A[i, j, k] + A[i - 1, j, k])
                        + 0.125 * (A[i, j + 1, k] - 2.0 * A[i, j, k] + A[i, j - 1, k])
                        + A[i, j, k] * A[i, j, k - 1]
                    )
        for i in range(1, n - 1):
            for j in range(1, n - 1):
                for k in range(1, n - 1):
                    A[i, j, k] = B[i, j, k] + 0.125 * B[i + 1, j, k] * B[i, j, k + 1]
    return np.sum(A * A)


@kernel(draw(4, 4, 4), 2, wrt=(0,))
def heat_3d_slices(A, tsteps):
    B = np.array(A)
    inside = slice(1, -1)

    def lap(u, axis):
        lo = [inside] * 3
        hi = [inside] * 3
        lo[axis] = slice(0, -2)
        hi[axis] = slice(2, None)
        return 0.125 * (u[tuple(hi)] - 2.0 * u[1:-1, 1:-1, 1:-1] + u[tuple(lo)])

    for _t in range(tsteps):
        B[1:-1, 1:-1, 1:-1] = lap(A, 0) + lap(A, 1) + lap(A, 2) + A[1:-1, 1:-1, 1:-1]
        A[1:-1, 1:-1, 1:-1] = lap(B, 0) + lap(B, 1) + lap(B, 2) + B[1:-1, 1:-1, 1:-1]
    return np.sum(A**3)


# -- linear algebra --------------------------------------------------------------------
SPD = draw(5, 5) @ draw(5, 5).T + 5.0 * np.eye(5)


@kernel(SPD)
def lu(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[k, j]
            A[i, j] /= A[j, j]
        for j in range(i, n):
            for k in range(i):
                A[i, j] -= A[i, k] * A[k, j]
    return np.sum(np.log(np.abs(np.diag(A)))) + np.sum(A)


@kernel(SPD)
def lu_outer(A):
    lu = A.copy()
    n = lu.shape[0]
    for k in range(n - 1):
        lu[k + 1 :, k] /= lu[k, k]
        lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
    return np.sum(lu * lu)


@kernel(SPD)
def cholesky_of_rows(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i][j] -= A[i][k] * A[j][k]
            A[i][j] /= A[j][j]
        for k in range(i):
            A[i][i] -= A[i][k] * A[i][k]
        A[i][i] = math.sqrt(A[i][i])
    return np.sum(np.tril(A))


@kernel(SPD)
def cholesky(A):
    n = A.shape[0]
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i, j] -= A[i, k] * A[j, k]
            A[i, j] /= A[j, j]
        for k in range(i):
            A[i, i] -= A[i, k] * A[i, k]
        A[i, i] = math.sqrt(A[i, i])
    return np.sum(np.tril(A))


@kernel(SPD)
def cholesky_dots(A):
    n = A.shape[0]
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j] - np.dot(L[i, :j], L[j, :j])
            if i == j:
                L[i, j] = np.sqrt(s)
            else:
                L[i, j] = s / L[j, j]
    return np.sum(L**3)


@kernel(draw(6, low=-0.2, high=0.4))
def durbin(r):
    n = len(r)
    y = np.zeros(n)
    z = np.zeros(n)
    y[0] = -r[0]
    beta = 1.0
    alpha = -r[0]
    for k in range(1, n):
        beta = (1.0 - alpha * alpha) * beta
        total = 0.0
        for i in range(k):
            total += r[k - i - 1] * y[i]
        alpha = -(r[k] + total) / beta
        for i in range(k):
            z[i] = y[i] + alpha * y[k - i - 1]
        for i in range(k):
            y[i] = z[i]
        y[k] = alpha
    return np.sum(y * y) + y[1]


@kernel(draw(6, low=-0.2, high=0.4))
def durbin_reversed(r):
    y = np.zeros_like(r)
    y[0] = -r[0]
    beta, alpha = 1.0, -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * y[:k][::-1]
        y[k] = alpha
    return np.sum(np.sin(y))


@kernel(draw(5, 5), 2, wrt=(0,))
def adi(u, tsteps):
    n = u.shape[0]
    v = np.zeros_like(u)
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    dx, dt = 1.0 / n, 1.0 / tsteps
    mul1, mul2 = 2.0 * dt / dx**2 * 0.1, dt / dx**2 * 0.1
    a, b = -mul1 / 2.0, 1.0 + mul1
    d, e = -mul2 / 2.0, 1.0 + mul2
    for _ in range(1, tsteps + 1):
        for i in range(1, n - 1):
            v[0, i] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = v[0, i]
            for j in range(1, n - 1):
                p[i, j] = -a / (a * p[i, j - 1] + b)
                q[i, j] = (
                    -d * u[j, i - 1] + (1.0 + 2.0 * d) * u[j, i] - d * u[j, i + 1] ** 2
                ) / (a * p[i, j - 1] + b)
                q[i, j] -= a * q[i, j - 1] / (a * p[i, j - 1] + b)
            v[n - 1, i] = 1.0
            for j in range(n - 2, 0, -1):
                v[j, i] = p[i, j] * v[j + 1, i] + q[i, j]
        for i in range(1, n - 1):
            u[i, 0] = 1.0
            p[i, 0] = 0.0
            q[i, 0] = u[i, 0]
            for j in range(1, n - 1):
                p[i, j] = -d / (d * p[i, j - 1] + e)
                q[i, j] = (
                    -a * v[i - 1, j]
                    + (1.0 + 2.0 * a) * v[i, j]
                    - a * v[i + 1, j]
                    - d * q[i, j - 1]
                ) / (d * p[i, j - 1] + e)
            u[i, n - 1] = 1.0
            for j in range(n - 2, 0, -1):
                u[i, j] = p[i, j] * u[i, j + 1] + q[i, j]
    return np.sum(u * u)


@kernel(draw(5, 5), 2, wrt=(0,))
def adi_slices(u, tsteps):
    n = u.shape[0]
    v = np.zeros_like(u)
    p = np.zeros_like(u)
    q = np.zeros_like(u)
    dx, dt = 1.0 / n, 1.0 / tsteps
    mul1, mul2 = 2.0 * dt / dx**2 * 0.1, dt / dx**2 * 0.1
    a, b = -mul1 / 2.0, 1.0 + mul1
    d, e = -mul2 / 2.0, 1.0 + mul2
    inner = slice(1, n - 1)
    for _ in range(tsteps):
        v[0, inner] = 1.0
        p[inner, 0] = 0.0
        q[inner, 0] = v[0, inner]
        for j in range(1, n - 1):
            below = a * p[inner, j - 1] + b
            p[inner, j] = -a / below
            q[inner, j] = (
                -d * u[j, : n - 2] + (1.0 + 2.0 * d) * u[j, inner] - d * u[j, 2:]
            ) / below
            q[inner, j] -= a * q[inner, j - 1] / below
        v[n - 1, inner] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, inner] = p[inner, j] * v[j + 1, inner] + q[inner, j]
        u[inner, 0] = 1.0
        p[inner, 0] = 0.0
        q[inner, 0] = u[inner, 0]
        for j in range(1, n - 1):
            below = d * p[inner, j - 1] + e
            p[inner, j] = -d / below
            q[inner, j] = (
                -a * v[: n - 2, j] + (1.0 + 2.0 * a) * v[inner, j] - a * v[2:, j]
            ) / below
            q[inner, j] -= d * q[inner, j - 1] / below
        u[inner, n - 1] = 1.0
        for j in range(n - 2, 0, -1):
            u[inner, j] = p[inner, j] * u[inner, j + 1] + q[inner, j]
    return np.sum(u * u)


@kernel(draw(5, 5) + np.eye(5), draw(5))
def trisolv(L, b):
    n = len(b)
    x = np.zeros(n)
    for i in range(n):
        x[i] = b[i]
        for j in range(i):
            x[i] -= L[i][j] * x[j]
        x[i] = x[i] / L[i][i]
    return np.sum(x * x)


@kernel(draw(5, 5) + np.eye(5), draw(5))
def trisolv_in_place(L, b):
    for i in range(L.shape[0]):
        b[i] = (b[i] - L[i, :i] @ b[:i]) / L[i, i]
    for i in reversed(range(L.shape[0])):
        b[i] = (b[i] - L[i + 1 :, i] @ b[i + 1 :]) / L[i, i]
    return np.sum(np.cos(b))


@kernel(draw(4, 4), draw(4, 3), 1.3, 0.7)
def syrk(C, A, alpha, beta):
    n, m = A.shape
    for i in range(n):
        for j in range(i + 1):
            C[i, j] *= beta
        for k in range(m):
            for j in range(i + 1):
                C[i, j] += alpha * A[i, k] * A[j, k]
    return np.sum(C * C)


@kernel(draw(4, 4), draw(4, 3), 1.3, 0.7)
def syrk_slices(C, A, alpha, beta):
    for i in range(A.shape[0]):
        C[i, : i + 1] *= beta
        for k in range(A.shape[1]):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(C**2)


@kernel(draw(5, 5, low=1.0, high=9.0))
def floyd_warshall(path):
    n = path.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                path[i, j] = min(path[i, j], path[i, k] + path[k, j])
    return np.sum(path * path)


@kernel(draw(5, 5, low=1.0, high=9.0))
def floyd_warshall_if(path):
    n = len(path)
    for k in range(n):
        for i in range(n):
            for j in range(n):
                if path[i][k] + path[k][j] < path[i][j]:
                    path[i][j] = path[i][k] + path[k][j]
    return np.sum(path**2)


@kernel(draw(5, 5, low=1.0, high=9.0))
def floyd_warshall_rows(path):
    for k in range(path.shape[0]):
        path = np.minimum(path, path[:, k, None] + path[k])
    return np.sum(path * path)


@kernel(1.2, 0.8, draw(4, 4), *(draw(4, seed=s) for s in range(8)))
def gemver(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            A[i, j] = A[i, j] + u1[i] * v1[j] + u2[i] * v2[j]
    for i in range(n):
        for j in range(n):
            x[i] = x[i] + beta * A[j, i] * y[j]
    for i in range(n):
        x[i] = x[i] + z[i]
    for i in range(n):
        for j in range(n):
            w[i] = w[i] + alpha * A[i, j] * x[j]
    return np.sum(w)


@kernel(1.2, 0.8, draw(4, 4), *(draw(4, seed=s) for s in range(8)))
def gemver_arrays(alpha, beta, A, u1, v1, u2, v2, w, x, y, z):
    A += np.outer(u1, v1) + u2[:, None] * v2
    x += beta * y @ A + z
    w += alpha * A @ x
    return np.sum(w)


@kernel(draw(4, 5), draw(4, 5, seed=1), draw(4, 5, seed=2), draw(3))
def fdtd_2d(ex, ey, hz, fict):
    nx, ny = hz.shape
    for t in range(len(fict)):
        for j in range(ny):
            ey[0, j] = fict[t]
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] -= 0.7 * (
                    ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j] * hz[i, j]
                )
    return np.sum(hz * hz)


@kernel(draw(4, 5), draw(4, 5, seed=1), draw(4, 5, seed=2), draw(3))
def fdtd_2d_slices(ex, ey, hz, fict):
    for f in fict:
        ey[0, :] = f
        ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
        ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
        hz[:-1, :-1] -= 0.7 * (
            ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1] * hz[:-1, :-1]
        )
    return np.sum(hz * hz)


@pytest.mark.parametrize("f, args, wrt", KERNELS)
def test_gradient(f, args, wrt):
    check(f, args, wrt)
