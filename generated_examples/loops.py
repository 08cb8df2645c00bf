"""Loops: iterations, recurrences, time steps, quadrature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def newton_sqrt(a: float, tol: float) -> float:
    x = a
    while abs(x * x - a) > tol:
        x = 0.5 * (x + a / x)
    return x


def first_exceed(x: float, limit: float, n: int) -> float:
    s = 0.0
    p = 1.0
    for _ in range(n):
        p = p * x
        s = s + p
        if s > limit:
            return s * x
        p = 0.5 * p
    return s


def newton_cubic(a: float, b: float, steps: int) -> float:
    """A root of ``x**3 + a*x + b`` after some steps of Newton's method."""
    x = 1.0
    for _ in range(steps):
        f = x**3 + a * x + b
        slope = 3.0 * x**2 + a
        x = x - f / slope
    return x


def secant_root(a, tol):
    """The root of ``x - exp(-a x)``, left as soon as it is good enough."""
    x0 = 0.0
    x1 = 1.0
    while True:
        f0 = x0 - np.exp(-a * x0)
        f1 = x1 - np.exp(-a * x1)
        if abs(f1) < tol:
            break
        x0, x1 = x1, x1 - f1 * (x1 - x0) / (f1 - f0)
    return x1


def horner(x: float, c: Array) -> float:
    """A polynomial with the coefficients `c`, highest power first."""
    p = 0.0
    for k in range(len(c)):
        p = p * x + c[k]
    return p


def horner_over(x, coefficients):
    p = 0.0
    for c in coefficients:
        p = p * x + c
    return p


def search_root(x: float, c: float, n: int) -> float:
    """A `for` loop with an `else`."""
    y = x
    for _ in range(n):
        y = y * x + c
        if y > 10.0:
            y = np.log(y)
            break
    else:
        y = y * y
    return y * c


def trapezoid(a: float, b: float, rate: float, n: int) -> float:
    """The integral of ``exp(-rate x**2)`` by the trapezoidal rule."""
    h = (b - a) / n
    total = 0.5 * (np.exp(-rate * a**2) + np.exp(-rate * b**2))
    for i in range(1, n):
        x = a + i * h
        total += np.exp(-rate * x**2)
    return h * total


def simpson(rate, weights, nodes):
    """A quadrature rule on whole arrays."""
    return np.sum(weights * np.exp(-rate * nodes**2))


def lorenz_slope(s: Array, sigma: float, rho: float, beta: float) -> Array:
    x, y, z = s[0], s[1], s[2]
    return np.stack([sigma * (y - x), x * (rho - z) - y, x * y - beta * z])


def lorenz_rk4(
    s: Array, sigma: float, rho: float, beta: float, h: float, n: int
) -> float:
    """The distance from the origin after `n` Runge-Kutta steps."""
    for _ in range(n):
        k1 = lorenz_slope(s, sigma, rho, beta)
        k2 = lorenz_slope(s + 0.5 * h * k1, sigma, rho, beta)
        k3 = lorenz_slope(s + 0.5 * h * k2, sigma, rho, beta)
        k4 = lorenz_slope(s + h * k3, sigma, rho, beta)
        s = s + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sqrt(np.sum(s * s))


def pendulum(angle, speed, length, dt, n):
    """Symplectic Euler steps."""
    for _ in range(n):
        speed = speed - dt * 9.81 / length * np.sin(angle)
        angle = angle + dt * speed
    return angle


def logistic_map(x, r, n):
    for _ in range(n):
        x = r * x * (1.0 - x)
    return x


def kalman_loglik(q: float, r: float, ys: Array) -> float:
    """The log likelihood of a random walk seen through noise."""
    m = 0.0
    p = 1.0
    total = 0.0
    for t in range(len(ys)):
        p = p + q
        s = p + r
        e = ys[t] - m
        total -= 0.5 * (np.log(2.0 * np.pi * s) + e**2 / s)
        gain = p / s
        m = m + gain * e
        p = (1.0 - gain) * p
    return total


def kalman_filter(a: Array, h: Array, q: Array, r: Array, ys: Array) -> float:
    """The log likelihood of a linear Gaussian state space model."""
    m = np.zeros(len(a))
    p = np.eye(len(a))
    total = 0.0
    for y in ys:
        m = a @ m
        p = a @ p @ a.T + q
        s = h @ p @ h.T + r
        e = y - h @ m
        gain = np.linalg.solve(s, h @ p).T
        total -= 0.5 * (np.linalg.slogdet(s)[1] + e @ np.linalg.solve(s, e))
        m = m + gain @ e
        p = p - gain @ h @ p
    return total


def nbody_energy(x: Array, v: Array, mass: Array) -> float:
    """Kinetic and potential energy of bodies that attract one another."""
    energy = 0.5 * np.sum(mass * np.sum(v * v, axis=1))
    for i in range(len(x)):
        for j in range(i):
            d = x[i] - x[j]
            energy -= mass[i] * mass[j] / np.sqrt(np.sum(d * d))
    return energy
