"""Forward mode: the tangent is that of differences, in the programs of reverse mode."""

from __future__ import annotations

import copy
import inspect
from typing import NamedTuple

import numpy as np
import pytest

import sct

from . import (
    test_adbench,
    test_containers,
    test_grammar_rest,
    test_inplace,
    test_kernels,
    test_library,
    test_objects,
    test_polybench,
)
from .test_constructs import RIGHT
from .test_kernels import leaves, mapped, slope, unchanged

PROGRAMS = [
    *test_kernels.KERNELS,
    *test_containers.KERNELS,
    *test_inplace.CASES,
    *test_inplace.LINEAR,
    *test_objects.CASES,
    *test_library.CASES,
    *test_adbench.PROGRAMS,
    *test_polybench.KERNELS,
]


def tangent_of(value, seed):
    """The direction in which `slope` moves a value, as a structure like it."""
    rng = np.random.default_rng(seed)
    return marked(mapped(value, lambda leaf: rng.normal(size=np.shape(leaf))[()]))


def marked(value):
    """A structure with None where it has no floats."""
    if isinstance(value, dict):
        return {k: marked(v) for k, v in value.items()}
    if hasattr(value, "_fields"):
        return type(value)(*[marked(v) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([marked(v) for v in value])
    if isinstance(value, (float, np.floating)):
        return value
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind == "f" else None
    if hasattr(value, "__dict__") and not inspect.isroutine(value):
        new = copy.copy(value)
        for k, v in vars(value).items():
            object.__setattr__(new, k, marked(v))
        return new
    return None


def seeds(f, count):
    """The names of the tangents of the arguments of a call."""
    names = []
    for p in inspect.signature(f).parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}_{k}_dot" for k in range(count)]
        else:
            names.append(f"{p.name}_dot")
    return names


def check(f, args, wrt):
    names = seeds(f, len(args))
    try:
        df = sct.jvp(f, wrt=wrt)
    except sct.UnsupportedError as error:
        if "none for tangents" in str(error):
            pytest.xfail("its tangent has no rule yet")
        raise
    for i in wrt:
        # One direction at a time: the others stand still.
        dots = {names[k]: tangent_of(args[k], k) for k in wrt}
        for k in {*wrt} - {i}:
            dots[names[k]] = mapped(dots[names[k]], lambda leaf: 0.0 * leaf)
        given, along = copy.deepcopy(args), copy.deepcopy(dots)
        value, tangent = df(*args, **dots)
        unchanged(given, args)
        unchanged(along, dots)
        expected = slope(f, args, i, i)
        if np.isnan(expected):
            # Too near to where the primal is not defined.
            continue
        for a, b in zip(leaves(f(*copy.deepcopy(args))), leaves(value), strict=True):
            np.testing.assert_allclose(b, a, rtol=1e-13)
        np.testing.assert_allclose(tangent, expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f, args, wrt", PROGRAMS)
def test_program(f, args, wrt):
    check(f, args, wrt)


@pytest.mark.parametrize("f, args", [*RIGHT, *test_grammar_rest.CASES])
def test_construct(f, args):
    wrt = tuple(i for i, x in enumerate(args) if leaves(x))
    if isinstance(f(*copy.deepcopy(args)), (float, np.floating)):
        check(f, args, wrt[:1])


def summed_in_place(x, w):
    out = np.zeros(3)
    for i in range(2):
        out += x[i] * w
    out += w
    return np.sum(out * out)


def added_to_an_argument(x, w):
    x += w
    x += w
    return x


def number_that_becomes_an_array(x):
    s = 0.0
    s += x
    s += x
    return np.sum(s * s)


def test_what_is_added_in_place_is_so_in_the_tangent():
    df = sct.jvp(summed_in_place, wrt=("x", "w"))
    text = sct.source(df)
    assert text.count("out_dot += ") == 2
    assert "broadcast_like" not in text
    x, w = np.array([0.5, -1.5]), np.array([1.0, 2.0, -0.5])
    x_dot, w_dot = np.array([0.3, 0.7]), np.array([-1.0, 0.5, 2.0])
    # out = (x0 + x1 + 1) w
    c, c_dot = np.sum(x) + 1.0, np.sum(x_dot)
    expected = 2.0 * c * w @ (c_dot * w + c * w_dot)
    value, found = df(x, w, x_dot=x_dot, w_dot=w_dot)
    np.testing.assert_allclose([value, found], [c * c * w @ w, expected])


def test_the_tangent_of_an_argument_is_not_added_to():
    x, w, x_dot, w_dot = np.arange(12.0).reshape(4, 3)
    before = x_dot.copy()
    df = sct.jvp(added_to_an_argument, wrt=("x", "w"))
    value, found = df(x.copy(), w, x_dot=x_dot, w_dot=w_dot)
    np.testing.assert_array_equal(x_dot, before)
    np.testing.assert_allclose(value, x + 2.0 * w)
    np.testing.assert_allclose(found, x_dot + 2.0 * w_dot)


def test_a_tangent_that_becomes_an_array():
    x, x_dot = np.array([1.0, 2.0]), np.array([0.5, -1.5])
    _, found = sct.jvp(number_that_becomes_an_array)(x, x_dot=x_dot)
    np.testing.assert_allclose(found, 8.0 * x @ x_dot)
    np.testing.assert_array_equal(x_dot, [0.5, -1.5])


def reciprocal_of_an_exponential(x):
    return 1.0 / (1.0 + np.exp(x))


def test_a_tangent_is_cut_once():
    df = sct.jvp(reciprocal_of_an_exponential)
    assert sct.source(df).count("np.isinf(") == 1
    value, tangent = df(np.array([800.0]), x_dot=np.array([1.0]))
    np.testing.assert_array_equal([value, tangent], [[0.0], [0.0]])


class Held(NamedTuple):
    x: float
    y: np.ndarray


def test_the_tangent_of_a_constant_object_is_of_its_class():
    def f(x, held):
        return x * x * held.x, held

    held = Held(1.0, np.ones(2))
    _, (slope_of_square, zero) = sct.jvp(f)(3.0, held, x_dot=1.0)
    assert slope_of_square == 6.0
    assert type(zero) is Held
    assert zero.x == 0.0 and np.array_equal(zero.y, np.zeros(2))


def test_what_is_stored_by_way_of_the_rows_of_an_array():
    def f(x):
        whole = np.empty((2, 3))
        for row in whole:
            row[:] = np.sin(x)
        return np.sum(whole * whole)

    x = np.array([0.3, 0.5, 0.9])
    _, slope_of_all = sct.jvp(f)(x, x_dot=np.ones(3))
    assert slope_of_all == pytest.approx(np.sum(4.0 * np.sin(x) * np.cos(x)))
