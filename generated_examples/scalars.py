"""Functions of a few numbers: branches, calls, recursion."""

from __future__ import annotations

import math

import numpy as np


def product_plus_sine(x: float, y: float) -> float:
    return x * y + np.sin(x)


def leaky_square(x: float, y: float) -> float:
    if x > y:
        x = x * x
    else:
        x = 0.1 * x
    return x * y


def spring_energy(q: float, k: float) -> float:
    return 0.5 * k * q * q


def total_cost(q: float, k: float, m: float) -> float:
    e = spring_energy(q, k)
    return e * e + m * q


def normal_cdf(x: float) -> float:
    return 0.5 * (1.0 + math.erf(x / math.sqrt(2.0)))


def black_scholes(
    spot: float, strike: float, rate: float, sigma: float, expiry: float
) -> float:
    """The price of a European call option."""
    spread = sigma * math.sqrt(expiry)
    d1 = (math.log(spot / strike) + (rate + 0.5 * sigma**2) * expiry) / spread
    d2 = d1 - spread
    discount = math.exp(-rate * expiry)
    return spot * normal_cdf(d1) - strike * discount * normal_cdf(d2)


def logistic_price(
    spot: float, strike: float, rate: float, sigma: float, expiry: float
) -> float:
    """A European call option, with a logistic curve for the normal distribution."""
    spread = sigma * np.sqrt(expiry)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma**2) * expiry) / spread
    d2 = d1 - spread
    p1 = 1.0 / (1.0 + np.exp(-1.702 * d1))
    p2 = 1.0 / (1.0 + np.exp(-1.702 * d2))
    return spot * p1 - strike * np.exp(-rate * expiry) * p2


def income_tax(income, allowance, low, high):
    """Tax in three brackets, which a reader leaves as soon as it is known."""
    taxable = income - allowance
    if taxable <= 0.0:
        return 0.0 * income
    if taxable <= 20000.0:
        return low * taxable
    return low * 20000.0 + high * (taxable - 20000.0)


def power(x: float, n: int) -> float:
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def fast_power(x, n):
    if n == 0:
        return 1.0
    half = fast_power(x, n // 2)
    if n % 2 == 0:
        return half * half
    return x * half * half


def tree_sum(x, low, high):
    """The sum of sin(k x) for low <= k < high, halving the range."""
    if high - low == 1:
        return np.sin(low * x)
    middle = (low + high) // 2
    return tree_sum(x, low, middle) + tree_sum(x, middle, high)


def even_step(x, n):
    if n == 0:
        return x
    return odd_step(x * x, n - 1)


def odd_step(x, n):
    if n == 0:
        return np.cos(x)
    return 0.5 * even_step(x + 1.0, n - 1)


def polar(x, y):
    return np.sqrt(x * x + y * y), np.arctan2(y, x)


def spiral(x, y):
    """A helper with two results."""
    radius, angle = polar(x, y)
    return radius * np.exp(-0.1 * angle)


def damped_wave(t, *, rate=0.3, frequency=2.0):
    return np.exp(-rate * t) * np.cos(frequency * t)


def interference(t, shift):
    """Calls by keyword, and a closure."""

    def delayed(amplitude):
        return amplitude * damped_wave(t - shift, rate=0.1)

    return damped_wave(t, frequency=3.0) + delayed(0.5)


def clamp_penalty(x: float, low: float = -1.0, high: float = 1.0) -> float:
    below = low - x if x < low else 0.0
    above = max(x - high, 0.0)
    return below**2 + above**2
