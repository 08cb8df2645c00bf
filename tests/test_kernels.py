"""Programs as people write them: the gradient is that of differences.

Containers and objects of parameters, and the many ways in which two names can mean one
array.

What stands under `kernel` has to work.  What stands under `refused` or `refuses` cannot
be followed yet and says so: before anything runs and at its line, or when the gradient
is called.
"""

from __future__ import annotations

import copy
import functools
import inspect
import linecache
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

import sct

KERNELS: list = []
REFUSED_FOR_NOW: list = []
REFUSED_WHEN_CALLED: list = []


def kernel(*args, wrt=None, into=KERNELS, marks=()):
    """The function below, differentiated with respect to all of `args` or to `wrt`."""

    def keep(f):
        chosen = tuple(range(len(args))) if wrt is None else wrt
        into.append(pytest.param(f, args, chosen, id=f.__name__, marks=marks))
        return f

    return keep


refused = functools.partial(kernel, into=REFUSED_FOR_NOW)
refuses = functools.partial(kernel, into=REFUSED_WHEN_CALLED)


def draw(*shape, seed=0, low=0.5, high=1.5):
    return np.random.default_rng((seed, *shape)).uniform(low, high, shape)


# -- differences through any structure -------------------------------------------------
def mapped(value, change):
    """`value` with each float and each array of floats changed."""
    if isinstance(value, (float, np.floating)):
        return change(value)
    if isinstance(value, np.ndarray):
        return change(value) if value.dtype.kind == "f" else value.copy()
    if isinstance(value, dict):
        return type(value)({k: mapped(v, change) for k, v in value.items()})
    if hasattr(value, "_fields"):
        return type(value)(*[mapped(v, change) for v in value])
    if isinstance(value, (list, tuple)):
        return type(value)([mapped(v, change) for v in value])
    if hasattr(value, "__dict__") and not inspect.isroutine(value):
        new = copy.copy(value)
        for k, v in vars(value).items():
            object.__setattr__(new, k, mapped(v, change))
        return new
    return value


def leaves(value) -> list:
    """The floats and arrays of floats of a structure, in its order."""
    found = []
    mapped(value, lambda leaf: found.append(leaf) or leaf)
    return found


def step(value, by, seed):
    """`value` moved along a direction drawn for `seed`."""
    rng = np.random.default_rng(seed)
    return mapped(value, lambda leaf: leaf + by * rng.normal(size=np.shape(leaf)))


def along(value, bar, seed) -> float:
    """The inner product of `bar` and the direction drawn for `seed`."""
    rng = np.random.default_rng(seed)
    total = 0.0
    for leaf, part in zip(leaves(value), matching(value, bar), strict=True):
        assert np.shape(part) == np.shape(leaf)
        total += np.sum(part * rng.normal(size=np.shape(leaf)))
    return total


def matching(value, bar) -> list:
    """The parts of `bar` where `value` has floats, in the same order."""
    if isinstance(value, (float, np.floating)):
        return [bar]
    if isinstance(value, np.ndarray):
        return [bar] if value.dtype.kind == "f" else []
    if not leaves(value):
        return []
    assert type(bar) is type(value)
    if isinstance(value, dict):
        assert list(bar) == list(value)
        return [p for k in value for p in matching(value[k], bar[k])]
    if isinstance(value, (list, tuple)):
        return [p for v, b in zip(value, bar, strict=True) for p in matching(v, b)]
    return matching(vars(value), vars(bar))


def slope(f, args, i, seed) -> float:
    """The derivative of `f` along a direction in argument `i`, by differences."""

    def at(by):
        moved = [copy.deepcopy(a) for a in args]
        moved[i] = step(args[i], by, seed)
        return f(*moved)

    h = 1e-3
    wide = (at(h) - at(-h)) / (2 * h)
    narrow = (at(h / 2) - at(-h / 2)) / h
    narrower = (at(h / 4) - at(-h / 4)) / (h / 2)
    first, second = (4 * narrow - wide) / 3, (4 * narrower - narrow) / 3
    return (16 * second - first) / 15


def unchanged(before, after):
    for b, a in zip(leaves(before), leaves(after), strict=True):
        np.testing.assert_array_equal(b, a)


def check(f, args, wrt):
    given = copy.deepcopy(args)
    expected = f(*copy.deepcopy(args))
    bars = sct.grad(f, wrt=wrt)(*args)
    unchanged(given, args)
    value, again = sct.value_and_grad(f, wrt=wrt)(*args)
    unchanged(given, args)
    # `sum` of floats compensates its rounding from Python 3.12 on, a loop does not.
    assert value == pytest.approx(expected, rel=1e-14)
    for i, bar, same in zip(wrt, bars, again, strict=True):
        size = max(float(np.max(np.abs(p))) for p in matching(args[i], bar))
        for seed in range(2):
            got = along(args[i], bar, seed)
            slack = 1e-7 * (1.0 + size + abs(value))
            assert got == pytest.approx(slope(f, args, i, seed), abs=slack), i
            assert got == pytest.approx(along(args[i], same, seed), rel=1e-10), i


@pytest.mark.parametrize("f, args, wrt", KERNELS)
def test_gradient(f, args, wrt):
    check(f, args, wrt)


@pytest.mark.parametrize("f, args, wrt", REFUSED_FOR_NOW)
def test_refused_for_now(f, args, wrt):
    assert np.isfinite(f(*copy.deepcopy(args)))
    with pytest.raises(sct.UnsupportedError) as caught:
        sct.grad(f, wrt=wrt)
    e = caught.value
    assert e.filename == __file__
    assert f'"{__file__}", line {e.lineno}' in str(e)
    assert e.text.strip() == linecache.getline(__file__, e.lineno).strip()


@pytest.mark.parametrize("f, args, wrt", REFUSED_WHEN_CALLED)
def test_refused_when_called(f, args, wrt):
    given = copy.deepcopy(args)
    assert np.isfinite(f(*copy.deepcopy(args)))
    df = sct.grad(f, wrt=wrt)
    with pytest.raises(sct.ArgumentError, match="write "):
        df(*args)
    unchanged(given, args)


# -- containers and objects of parameters ----------------------------------------------
LAYERS = [(draw(3, 4), draw(4)), (draw(4, 2), draw(2))]


@kernel(LAYERS, draw(2, 3))
def mlp_of_tuples(layers, x):
    for w, b in layers:
        x = np.tanh(x @ w + b)
    return np.sum(x * x)


@kernel([draw(3), draw(3, seed=1), draw(2)])
def first_and_rest(parts):
    first, *rest = parts
    return np.sum(first) * np.sum(rest[0])


@kernel([list(p) for p in LAYERS], draw(2, 3), draw(2, 2))
def mlp_but_the_last(layers, x, y):
    *hidden, (w_out, b_out) = layers
    for w, b in hidden:
        x = np.maximum(x @ w + b, 0.1)
    return np.mean((x @ w_out + b_out - y) ** 2)


@kernel({"enc": {"w": draw(3, 2), "b": draw(2)}, "dec": {"w": draw(2, 3)}}, draw(4, 3))
def autoencoder(params, x):
    code = np.tanh(x @ params["enc"]["w"] + params["enc"]["b"])
    return np.sum((code @ params["dec"]["w"] - x) ** 2)


@kernel({"a": {"k": 1.3, "m": draw(2)}, "b": {"k": 0.4, "m": draw(2)}})
def dict_of_dicts_walked(params):
    total = 0.0
    for name, part in params.items():
        sign = 1.0 if name == "a" else -2.0
        for v in part.values():
            total += sign * np.sum(v * v)
    return total


@kernel({"w": draw(3), "b": 0.3, "name": "linear", "steps": 2}, draw(3))
def dict_with_settings(model, x):
    y = x
    for _ in range(model["steps"]):
        y = y * model["w"] + model["b"]
    return y.sum() if model["name"] == "linear" else 0.0


@dataclass
class Dense:
    w: np.ndarray
    b: np.ndarray
    slope: float = 0.2


@kernel(Dense(draw(3, 2), draw(2)), draw(3))
def dataclass_model(layer, x):
    z = x @ layer.w + layer.b
    return np.sum(np.where(z > 0.0, z * z, layer.slope * z))


@kernel([Dense(draw(3, 3), draw(3), 0.1), Dense(draw(3, 3), draw(3), 0.3)], draw(3))
def dataclasses_in_a_list(layers, x):
    for layer in layers:
        x = np.sin(x @ layer.w + layer.b) * layer.slope
    return np.sum(x)


@dataclass(frozen=True)
class Frozen:
    mass: float
    length: float


@kernel(Frozen(1.2, 0.7), 0.4)
def frozen_dataclass(p, angle):
    return p.mass * 9.81 * p.length * (1.0 - math.cos(angle))


@kernel([Frozen(1.2, 0.7), Frozen(0.5, 1.7)], 0.4)
def frozen_dataclasses_in_a_loop(chain, angle):
    energy, height = 0.0, 0.0
    for part in chain:
        height += part.length * math.cos(angle)
        energy += part.mass * height
    return energy


class Spring:
    def __init__(self, k, rest):
        self.k = k
        self.rest = rest

    def energy(self, x):
        return 0.5 * self.k * (x - self.rest) ** 2


@kernel(Spring(3.0, 0.5), 1.2)
def plain_object(spring, x):
    return spring.k * (x - spring.rest) ** 2 * spring.k


@kernel([Spring(3.0, 0.5), Spring(1.0, 0.1)], draw(2))
def plain_objects_in_a_list(springs, x):
    total = 0.0
    for s, v in zip(springs, x):
        total += 0.5 * s.k * (v - s.rest) ** 2
    return total


class State(NamedTuple):
    position: np.ndarray
    velocity: np.ndarray
    time: float


@kernel(State(draw(2), draw(2), 0.0), 0.1)
def named_tuple_in_an_ode_loop(state, dt):
    for _ in range(4):
        velocity = state.velocity - dt * np.sin(state.position) * (1.0 + state.time)
        state = State(state.position + dt * velocity, velocity, state.time + dt)
    return np.sum(state.position * state.velocity)


@kernel(State(draw(2), draw(2), 0.5), 0.1)
def named_tuple_replaced(state, dt):
    for _ in range(3):
        state = state._replace(
            position=state.position + dt * state.velocity, time=state.time * 1.1
        )
    return np.sum(state.position**2) * state.time


def rhs(y, k):
    return np.array([y[1], -k * y[0]])


@kernel(draw(2), 1.7, 0.1)
def runge_kutta(y, k, dt):
    path = [y]
    for _ in range(3):
        k1 = rhs(y, k)
        k2 = rhs(y + 0.5 * dt * k1, k)
        k3 = rhs(y + 0.5 * dt * k2, k)
        k4 = rhs(y + dt * k3, k)
        y = y + dt / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        path.append(y)
    return np.sum(np.array(path) ** 2)


@kernel(draw(4))
def list_to_array(x):
    ys = []
    v = 1.0
    for t in x:
        v = v * t + math.sin(t)
        ys.append(v)
    return np.sum(np.array(ys) ** 2)


@kernel(0.7)
def list_read_from_its_end(x):
    path = [x]
    for _ in range(2):
        path.append(path[-1] * path[0])
    return path[2]


@kernel(0.7)
def list_read_by_its_length(x):
    path = [x, x]
    for _ in range(3):
        path.append(path[len(path) - 1] * path[0])
    return path[-1]


@kernel(0.7)
def list_read_by_a_counter(x):
    path = [x, x * x]
    for i in range(3):
        path.append(path[i] * path[i + 1])
    return path[-1]


@kernel(draw(3))
def list_stacked_and_read_backwards(x):
    rows = [x]
    while len(rows) < 4:
        rows.append(rows[-1] * np.sin(rows[0]))
    return np.sum(np.stack(rows)[1:] * np.vstack(rows)[:-1])


@kernel(draw(3))
def list_popped(x):
    todo = [v for v in x]
    total = 0.0
    while todo:
        v = todo.pop()
        total += v * v * (1 + len(todo))
    return total


@kernel(draw(3))
def list_element_written(x):
    parts = [x[0], x[1], x[2]]
    for i in range(3):
        parts[i] = parts[i - 1] * parts[i]
    return sum(parts)


@kernel(draw(3), ["a", "b", "c"], wrt=(0,))
def dict_built_in_a_loop(x, names):
    table = {}
    for i, name in enumerate(names):
        table[name] = x[i] * x[i]
    total = 0.0
    for name in names:
        total += table[name] * math.sin(table["a"])
    return total


@kernel(draw(3))
def dict_updated(x):
    table = {"s": np.sum(x), "p": x[0] * x[1]}
    table["q"] = table["s"] * table["p"]
    table["s"] += 1.0
    table["p"] = table.get("p", 0.0) * table["s"]
    return table["q"] * table["s"] + table["p"]


@refused({k: draw(2, seed=k) for k in range(3)})
def dict_of_lists(tables):
    groups = {"even": [], "odd": []}
    for k, v in tables.items():
        groups["even" if k % 2 == 0 else "odd"].append(np.sum(v * v))
    return sum(groups["even"]) * groups["odd"][0]


@kernel(draw(3), draw(3, seed=1))
def generator_expressions(x, y):
    dot = sum(a * b for a, b in zip(x, y))
    return dot * sum(math.sin(a) for a in x if a > 0.6) + max(a * a for a in y)


@refused(draw(3))
def generator_in_product(x):
    return math.prod(v + 1.0 for v in x)


@refused(draw(3))
def generator_in_fsum(x):
    return math.fsum(v * v for v in x)


@kernel(draw(3), draw(3, seed=1))
def tuple_swapped_in_a_loop(x, y):
    pair = (x, y)
    for _ in range(3):
        pair = (pair[1], pair[0] * np.sin(pair[1]))
    return np.sum(pair[0]) * np.sum(pair[1])


def table_of(x, y):
    return {"sum": np.sum(x * y), "parts": (x * x, [y[0], x[1] * y])}


def pair_of(x, y):
    return x * y, np.sum(x)


def list_of(x, y):
    out = []
    for v in x:
        out.append(v * y)
    return out


def nested_of(x, y):
    return {"x": x, "parts": [x * y, {"y": y * 2.0}]}


def itself_and_a_part(x, y):
    return x, x[0], y[::-1]


def rows_written(x, y):
    path = np.empty((3, 3))
    for i in range(3):
        x = x * y
        path[i] = x
    return path


def elements_kept_before_they_change(x, y):
    out = []
    z = x * y
    for i in range(3):
        out.append(z[i])
        z[i] = 0.0
    return out


def parameter_written_and_returned(x, y):
    x[1:] *= y[0]
    return x


def view_returned_beside_its_array(x, y):
    table = np.outer(x, y)
    row = table[0]
    row[0] = 1.0
    return row, table


def part_of_what_was_written(x, y):
    table = np.outer(x, y)
    part = table[1:]
    table[0:2] = 3.0
    return part


STRUCTURED = [
    table_of,
    pair_of,
    list_of,
    nested_of,
    itself_and_a_part,
    rows_written,
    elements_kept_before_they_change,
    parameter_written_and_returned,
    view_returned_beside_its_array,
    part_of_what_was_written,
]


@pytest.mark.parametrize("f", STRUCTURED)
def test_adjoint_of_a_structured_result(f):
    x, y = draw(3), draw(3, seed=1)
    value = f(x.copy(), y)
    seed = step(value, 1.0, 5)
    got, bars = sct.vjp(f, wrt=(0, 1))(x, y, out_bar=seed)
    unchanged((x, y), (draw(3), draw(3, seed=1)))
    assert type(got) is type(value)
    unchanged(value, got)

    def weighted(*args):
        return sum(
            np.sum(s * v) for s, v in zip(leaves(seed), leaves(f(*args)), strict=True)
        )

    for i, bar in enumerate(bars):
        expected = slope(weighted, (x, y), i, 3)
        assert along((x, y)[i], bar, 3) == pytest.approx(expected, rel=1e-7, abs=1e-8)


@kernel(draw(3), draw(3, seed=1))
def object_made_of_results(x, y):
    state = State(x * y, y * y, x[0] * y[1])
    return np.sum(state.position * state.velocity) * state.time


def largest(xs):
    return max(xs)


@kernel(draw(4))
def largest_by_a_helper(x):
    terms = []
    for v in x:
        terms.append(v * v)
    return largest(terms)


@kernel([{"q": draw(2)}, {"q": draw(2, seed=1)}])
def one_name_in_two_loops(parts):
    total = 0.0
    for part in parts:
        total += np.sum(part["q"])
    for part in parts:
        total += np.sum(part["q"])
    return total


@kernel(draw(3), draw(4))
def outer_of_a_ufunc(u, v):
    return np.sum(np.multiply.outer(u, v) ** 2)


@kernel(draw(4, 4, 4), draw(4, 4, 4, seed=3), 2, wrt=(0, 1))
def heat_3d_by_pairs(A, B, tsteps):
    n = A.shape[0]
    for _ in range(1, tsteps + 1):
        for src, dst in ((A, B), (B, A)):
            for i in range(1, n - 1):
                for j in range(1, n - 1):
                    for k in range(1, n - 1):
                        c = src[i, j, k]
                        dst[i, j, k] = (
                            0.125 * (src[i + 1, j, k] - 2.0 * c + src[i - 1, j, k])
                            + 0.125 * (src[i, j + 1, k] - 2.0 * c + src[i, j - 1, k])
                            + 0.125 * (src[i, j, k + 1] - 2.0 * c + src[i, j, k - 1])
                            + c * c
                        )
    return np.sum(A * A)


# -- two names for one array -----------------------------------------------------------
@kernel(draw(3), draw(3, seed=1))
def two_names(x, y):
    a = x * y
    b = a
    b[0] = y[1] * y[1]
    a[1] *= b[0]
    return np.sum(a * b)


@kernel(draw(3))
def augmented_through_an_alias(x):
    a = x.copy()
    b = a
    b += x * x
    b *= a
    return np.sum(a)


@kernel(draw(3))
def rebound_not_augmented(x):
    a = x.copy()
    b = a
    b = b + x * x
    b *= a
    return np.sum(a * b)


@kernel(draw(3, 4), draw(4))
def row_view_written(a, y):
    for i in range(len(a)):
        row = a[i]
        row[1:] += y[:-1] * row[:-1]
        row *= y
    return np.sum(a * a)


@kernel(draw(3, 4), draw(4))
def rows_of_a_loop(a, y):
    for row in a:
        row += y * y
        row[0] *= row[1]
    return np.sum(a * a * a)


@kernel(draw(3, 4), draw(3, seed=1))
def rows_of_zip(a, y):
    for row, v in zip(a, y):
        row[:] = row * v
        row -= v
    return np.sum(a * a)


@kernel(draw(3, 4), draw(3, seed=1))
def rows_of_enumerate(a, y):
    for i, row in enumerate(a):
        row[i] = y[i] * row[i + 1]
    return np.sum(a * a)


@kernel(draw(3, 4), draw(3))
def transpose_written(a, x):
    a.T[0] = x * x
    a.T[1] *= a.T[0]
    return np.sum(a**3)


@kernel(draw(3, 4), draw(3))
def transposed_view_named(a, x):
    t = a.T
    t[2] = x * t[1]
    t[0, 1] += a[1, 2]
    return np.sum(a**2)


@kernel(draw(3, 4), 1.7)
def reshape_written(a, s):
    a.reshape(-1)[5] = s * s
    a.ravel()[7] *= s
    return np.sum(a * a)


@kernel(draw(3, 4), 1.7)
def reshaped_view_named(a, s):
    flat = a.reshape(-1)
    for k in range(1, 12, 3):
        flat[k] = flat[k - 1] * s
    return np.sum(a * a)


@kernel(draw(3, 4), 1.7)
def diagonal_and_flat_written(a, s):
    b = a[:, :3].copy()
    b.flat[2] = s
    np.fill_diagonal(b, s * b[0, 1])
    return np.sum(b * b)


@kernel(draw(3), draw(3, seed=1))
def out_argument(x, y):
    z = np.empty(3)
    np.add(x, y, out=z)
    np.multiply(z, x, out=z)
    np.sin(z, out=z)
    return np.sum(z * y)


@kernel(draw(3))
def out_by_position(x):
    z = np.empty(3)
    np.sin(x, z)
    return np.sum(z)


@kernel(draw(3, 3), draw(3, 3, seed=1))
def out_of_matmul_by_position(x, y):
    z = np.empty((3, 3))
    np.matmul(x, y, z)
    return np.sum(z * z)


@kernel(draw(3), draw(3, seed=1))
def out_is_a_part(x, y):
    z = np.zeros((2, 3))
    np.multiply(x, y, out=z[0])
    np.exp(z[0], out=z[1])
    return np.sum(z[0] * z[1])


@kernel(draw(3, 3), draw(3, 3, seed=1))
def out_of_matmul(x, y):
    buffer = np.empty_like(x)
    for _ in range(3):
        np.matmul(x, y, out=buffer)
        y = y + 0.1 * buffer
    return np.sum(buffer * y)


@kernel(draw(3), 0.7)
def filled(x, s):
    z = x * x
    z.fill(s * s)
    z[1] = x[1]
    return np.sum(z * x)


@kernel(draw(2, 3), draw(3, seed=1))
def copied_to(a, x):
    np.copyto(a[1], x * x)
    b = np.empty_like(x)
    np.copyto(b, a[1] * a[0])
    return np.sum(a) * np.sum(b)


@kernel(draw(5, low=-1.0, high=1.0), 0.3)
def mask_written_with_a_number(y, x):
    y = y * 2.0
    y[y > 0] = x
    return np.sum(y * y)


@kernel(draw(5, low=-1.0, high=1.0), draw(5))
def mask_written_with_values(y, x):
    mask = y > 0
    y[mask] = x[mask] * y[mask]
    y[~mask] *= 0.5
    y[y < -0.4] += x[0]
    return np.sum(y**3)


@kernel(draw(4), draw(3), np.array([2, 0, 2]), wrt=(0, 1))
def repeated_indices_read(x, y, at):
    return np.sum(x[at] * y) + np.sum(x[at] ** 2 * y)


@kernel(draw(4), draw(3), np.array([2, 0, 2]), wrt=(0, 1))
def repeated_indices_written(x, y, at):
    x[at] = y * y
    return np.sum(x * x)


@kernel(draw(4), draw(3), np.array([2, 0, 2]), wrt=(0, 1))
def repeated_indices_augmented(x, y, at):
    x[at] += y * x[at]
    return np.sum(x**3)


@kernel(draw(4), draw(3), np.array([2, 0, 2]), wrt=(0, 1))
def repeated_indices_added_at(x, y, at):
    z = np.zeros_like(x)
    np.add.at(z, at, y * y)
    return np.sum(z * z * x)


@kernel(draw(4, 3), draw(3), np.array([2, 0, 2]), wrt=(0, 1))
def repeated_rows_with_a_slice(x, y, at):
    x[at, 1:] = x[at, :-1] * y[1:]
    return np.sum(x**2)


@kernel(draw(6))
def overlapping_slices(x):
    x[1:] = x[:-1] * x[1:]
    x[:-2] += x[2:]
    x[::2] = x[1::2] * x[::2]
    return np.sum(x * x)


@kernel(draw(6))
def overlapping_reversed(x):
    x[:] = x[::-1] * 2.0
    x[1:4] = x[3:0:-1]
    return np.sum(x * x * np.arange(6.0))


@kernel(draw(6))
def elements_exchanged(x):
    for i in range(3):
        x[i], x[5 - i] = x[5 - i] * x[i], x[i]
    x[[0, 1]] = x[[1, 0]]
    return np.sum(x * x * np.arange(6.0))


@kernel(draw(6), 0.1, 5, wrt=(0, 1))
def buffers_swapped(u, c, steps):
    un = np.empty_like(u)
    for _ in range(steps):
        un[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2]) * u[1:-1]
        un[0] = un[-2]
        un[-1] = un[1]
        u, un = un, u
    return np.sum(u * u)


@kernel(draw(6), 0.1, 5, wrt=(0, 1))
def buffers_rotated(u, c, steps):
    old, now, new = u.copy(), u * u, np.zeros_like(u)
    for _ in range(steps):
        new[1:-1] = 2.0 * now[1:-1] - old[1:-1] + c * now[2:] * now[:-2]
        old, now, new = now, new, old
    return np.sum(now * old)


@kernel(draw(2, 6), 0.1, 5, wrt=(0, 1))
def buffers_by_parity(u, c, steps):
    for t in range(steps):
        new, old = (t + 1) % 2, t % 2
        u[new, 1:-1] = u[old, 1:-1] * (1.0 + c * u[old, :-2])
    return np.sum(u * u)


def push(u, v, c):
    u[1:] += c * v[:-1] * u[:-1]
    v *= c


@kernel(draw(4), draw(4, seed=1), 0.7)
def helper_writes_into_its_arguments(u, v, c):
    for _ in range(2):
        push(u, v, c)
    push(v, u, c)
    return np.sum(u * v)


def normalise_rows(a):
    a /= np.sqrt(np.sum(a * a, axis=1))[:, None]
    return a


@refused(draw(3, 2), draw(3, 2, seed=1))
def helper_returns_what_it_wrote(a, w):
    b = normalise_rows(a)
    b[0] *= 2.0
    return np.sum(a * b * w)


@kernel(draw(3, 4), 0.4)
def helper_gets_a_view(a, c):
    push(a[0], a[1], c)
    push(a[:, 0], a[:, 1], c)
    return np.sum(a**2)


@kernel(draw(2, 3), draw(3))
def view_outlives_its_name(a, x):
    row = a[0]
    a = a * 2.0
    row[1] = x[1] * row[0]
    return np.sum(a) * np.sum(row * row)


@refused(draw(3), draw(3, seed=1), True, wrt=(0, 1))
@refused(draw(3), draw(3, seed=1), False, wrt=(0, 1))
def view_of_one_or_the_other(x, y, first):
    target = x if first else y
    target[0] = x[1] * y[1]
    return np.sum(x * x * y)


def clobber(p):
    p[0] = 2.0 * p[1]
    return p * p


def shifted(p, q):
    p[1:] += q[:-1]
    return np.sum(p * q)


@kernel(draw(3))
def helper_writes_into_a_parameter_and_returns(x):
    return np.sum(clobber(x))


@kernel(draw(3))
def helper_writes_into_a_local_and_returns(x):
    z = x * x
    b = clobber(z)
    return np.sum(b * z)


@kernel(draw(3))
def helper_gets_one_array_twice(x):
    z = x * x
    return shifted(z, z) * np.sum(z)


@kernel(draw(2, 3))
def helper_gets_two_views(a):
    z = a * a
    return shifted(z[0], z[1]) * np.sum(z)


@refused(draw(3))
def list_repeats_an_array(x):
    rows = [x * x] * 2
    rows[0] += 1.0
    return np.sum(rows[1] * rows[1])


@kernel(draw(3))
def dict_holds_an_array_twice(x):
    z = np.zeros(3)
    both = {"a": z, "b": z}
    both["a"] += x
    return np.sum(both["b"] * x)


@refused(draw(3))
def history_of_one_array(x):
    z = x * x
    history = []
    for i in range(3):
        history.append(z)
        z[i] = x[1] * z[i]
    return np.sum(history[0])


@refuses(draw(3))
def history_of_an_augmented_array(x):
    z = x * x
    history = []
    for _ in range(3):
        history.append(z)
        z *= x
    return np.sum(history[0])


@kernel(draw(3))
def history_of_copies(x):
    z = x * x
    history = []
    for i in range(3):
        z[i] *= x[i - 1]
        history.append(z.copy())
    return np.sum(history[0] * history[2])


@refuses(draw(3, 3))
def rows_in_a_comprehension(a):
    z = a * a
    rows = [row for row in z]
    rows[0][0] = 1.0
    return np.sum(z * a)


@refused(draw(3, 3))
def rows_by_a_starred_target(a):
    z = a * a
    _first, *rest = z
    rest[0][0] = 1.0
    return np.sum(z * a)


@kernel(draw(3, 3))
def row_in_a_dict(a):
    z = a * a
    rows = {"r": z[0]}
    rows["r"][0] = 1.0
    return np.sum(z * a)


@refused(draw(3, 3))
def parts_of_a_split(a):
    z = a * a
    top, _middle, _bottom = np.split(z, 3)
    top[0] = 1.0
    return np.sum(z * a)


@refused(draw(3, 3))
def diagonal_read_after_a_store(a):
    z = a * a
    d = np.diag(z)
    z[0, 0] = 1.0
    return np.sum(d * a[0])


@kernel(draw(3, 3))
def table_in_lists(a):
    table = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            table[i][j] = a[i, j] * (table[i - 1][j] + 1.0)
    return sum(sum(row) for row in table)


@kernel(0.7)
def number_in_a_nested_list(x):
    table = [[0.0] * 2 for _ in range(2)]
    table[0][1] = x * x
    return sum(table[0])


@kernel(0.7)
def list_turned_round(x):
    queue = [x, x * x]
    queue = queue[1:] + [queue[0]]
    return queue[1]


@kernel(draw(4))
def sums_in_a_list(x):
    sums = [0.0, 0.0]
    for i, v in enumerate(x):
        sums[i % 2] += v * v
    return sums[0] * sums[1]


@kernel(0.7)
def numbers_kept_in_a_dict(x):
    memo = {0: x, 1: x * x}
    for i in range(2, 5):
        memo[i] = memo[i - 1] * x + memo[i - 2]
    return memo[4]


@refuses(draw(2, 3))
def rows_exchanged(a):
    a[0], a[1] = a[1], a[0]
    return np.sum(a * np.arange(6.0).reshape(2, 3))


@kernel(draw(2, 3))
def copies_of_rows_exchanged(a):
    a[0], a[1] = a[1].copy(), a[0].copy()
    return np.sum(a * np.arange(6.0).reshape(2, 3))


@kernel(draw(3, 3))
def gram_schmidt(a):
    for i in range(3):
        for j in range(i):
            a[i] -= (a[i] @ a[j]) * a[j]
        a[i] = a[i] / np.sqrt(a[i] @ a[i])
    return np.sum(a * np.arange(9.0).reshape(3, 3))


@kernel(draw(3, 3), draw(3))
def gauss_with_pivots(a, b):
    n = len(a)
    for k in range(n):
        pivot = k + int(np.argmax(np.abs(a[k:, k])))
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            b[[k, pivot]] = b[[pivot, k]]
        for i in range(k + 1, n):
            m = a[i, k] / a[k, k]
            a[i, k:] -= m * a[k, k:]
            b[i] -= m * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return np.sum(np.tanh(x))


@refused(draw(3))
def real_part_written(x):
    z = x * x
    z.real[0] = 1.0
    return np.sum(z * x)


@refused(draw(3))
def cast_that_copies_nothing(x):
    z = x * x
    y = z.astype(float, copy=False)
    y[0] = 1.0
    return np.sum(z * x)


@refused(0.7)
def dicts_joined(x):
    d = {"a": x} | {"b": x * x}
    return d["a"] * d["b"]


@refused(0.7)
def dict_joined_in_place(x):
    d = {"a": x}
    d |= {"b": x * x}
    return d["a"] * d["b"]


@kernel({"u": draw(3)})
def array_of_a_dict_written(state):
    state["u"][1:] *= 2.0
    return np.sum(state["u"])


@kernel({"u": draw(3)})
def entry_of_a_dict_replaced(state):
    state["u"] = state["u"] * 2.0
    return np.sum(state["u"])


@kernel({"b": 1.5})
def number_of_a_dict_augmented(state):
    state["b"] *= state["b"]
    return state["b"]


@kernel({"b": 1.5})
def entry_added_to_a_dict(state):
    state["new"] = state["b"] * 2.0
    return state["b"] * state["new"]


@kernel((draw(3), draw(3, seed=1)))
def array_of_a_tuple_written(pair):
    pair[0][1:] = pair[1][:-1]
    return np.sum(pair[0] * pair[1])


@kernel([draw(3), draw(3, seed=1)])
def array_of_a_list_written(us):
    for u in us:
        u[0] = 1.0
    us[0][1:] *= 2.0
    return np.sum(us[0] * us[1])


@kernel([0.7, 1.2])
def argument_appended_to(us):
    us.append(us[0] * us[1])
    return us[2] * us[1]


@kernel([0.7, 1.2])
def element_deleted(us):
    del us[0]
    return us[0] * us[0]


@refused(0.7)
def slice_of_a_list_written(x):
    parts = [x, x * x, x]
    parts[1:] = [parts[0], parts[1]]
    return parts[2] * parts[1]


@kernel(Dense(draw(3), draw(3)))
def array_of_an_object_written(p):
    p.w[0] = 3.0
    return np.sum(p.w * p.b)


@kernel({"u": draw(3), "v": draw(3, seed=1)})
def arrays_in_a_dict_written(state):
    u = state["u"]
    u[1:] *= state["v"][:-1]
    state["v"] += u
    return np.sum(state["u"] * state["v"])


@refused(Dense(draw(3, 3), draw(3)), draw(3))
def arrays_of_an_object_written(layer, x):
    layer.b -= 0.1 * x * layer.b
    layer.w[0] = layer.b
    layer.slope *= 3.0
    return np.sum(layer.w @ x) * layer.slope


@refused([draw(3), draw(3, seed=1)])
def arrays_of_a_list_swapped(us):
    for _ in range(3):
        us[1][1:] = us[0][:-1] * us[1][1:]
        us[0], us[1] = us[1], us[0]
    return np.sum(us[0] * us[0]) + us[1][0]


# -- functions that are not plain functions --------------------------------------------
class Oscillator:
    def __init__(self, k, damping):
        self.k = k
        self.damping = damping

    def force(self, x, v):
        return -self.k * x - self.damping * v

    def run(self, x, v, steps):
        for _ in range(steps):
            v = v + 0.1 * self.force(x, v)
            x = x + 0.1 * v
        return x * x

    def __call__(self, x, v):
        return self.k * x * x + self.damping * v * v

    @property
    def ratio(self):
        return self.damping / self.k

    @staticmethod
    def square(x):
        return x * x


OSCILLATOR = Oscillator(1.3, 0.2)


@kernel(0.7, 0.4)
def method_of_a_global_object(x, v):
    return OSCILLATOR.run(x, v, 3)


@kernel(0.7, 0.4)
def global_callable_object(x, v):
    return OSCILLATOR(x, v) * x


@kernel(0.7)
def static_method_of_a_class(x):
    return Oscillator.square(x) + OSCILLATOR.square(2.0 * x)


@kernel(0.7)
def property_of_a_global_object(x):
    return x * OSCILLATOR.ratio


@kernel(Oscillator(1.3, 0.2), 0.7, 0.4)
def method_of_an_argument(system, x, v):
    return system.force(x, v) * x


@kernel(Oscillator(1.3, 0.2), 0.7)
def method_by_its_class(system, x):
    return Oscillator.run(system, x, 0.1, 3)


class Ratio:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    @property
    def ratio(self):
        return self.a * self.b


@refuses(Ratio(1.3, 0.2), 0.7)
def property_of_an_argument(pair, x):
    return pair.ratio * x


@kernel(Oscillator(1.3, 0.2), 0.7)
def attribute_of_a_callable_argument(system, x):
    return system.k * x


@kernel(1.3, 0.7)
def object_made_inside(k, x):
    system = Oscillator(k, 0.1 * k)
    return system.force(x, 0.3) * system.k


@kernel(1.3, 0.7)
def object_called_inside(k, x):
    return Oscillator(k, 0.1)(x, k)


def scaled(x, k, power=1):
    return k * x**power


TRIPLE = functools.partial(scaled, k=3.0, power=2)
TABLE = {"square": lambda v: v * v, "sine": math.sin, "scaled": scaled}


@kernel(0.7)
def partial_of_the_module(x):
    return TRIPLE(x) * x


@kernel(0.7, 1.2)
def partial_made_inside(x, k):
    g = functools.partial(scaled, k=k)
    return g(x) * g(x * k)


@kernel(draw(3))
def reduced(x):
    return functools.reduce(lambda a, b: a * b + 1.0, x)


@kernel(draw(3))
def reduced_with_a_start(x):
    return functools.reduce(scaled, [v for v in x], 2.0)


@kernel(draw(3))
def mapped_and_summed(x):
    return sum(map(math.sin, x)) * sum(map(lambda v: v * v, x))


@kernel(draw(3), draw(3, seed=1))
def mapped_over_two(x, y):
    return sum(map(lambda a, b: a * b, x, y)) + sum(list(map(scaled, x, y)))


@kernel(draw(3))
def filtered(x):
    return sum(v * v for v in filter(lambda v: v > 0.7, x))


@kernel(0.7, "square", wrt=(0,))
def function_of_a_table(x, which):
    return TABLE["square"](x) + TABLE["sine"](x) * TABLE["scaled"](x, 2.0)


@refused(0.7, "sine", wrt=(0,))
def function_chosen_at_run_time(x, which):
    return TABLE[which](x)


@kernel(0.7)
def local_table_of_lambdas(x):
    table = {"a": lambda v: v * x, "b": lambda v: math.exp(-v)}
    return table["a"](x) * table["b"](x)


@kernel(0.7)
def loop_over_functions(x):
    y = x
    for g in (math.sin, math.exp, lambda v: v * x):
        y = g(y)
    return y


def twice(g):
    return lambda v: g(g(v))


@kernel(0.7)
def function_that_makes_a_function(x):
    return twice(math.sin)(x) * x


@kernel(draw(3))
def sorted_by_value(x):
    return sum(k * v for k, v in enumerate(sorted(x)))


@kernel(draw(3))
def extreme_by_key(x):
    return max(x, key=lambda v: -v) * min([v * v for v in x])


ENTRIES = {
    "lambda_of_a_table": (TABLE["square"], (0.7,)),
    "static_method": (Oscillator.square, (0.7,)),
    "method_of_a_class": (Ratio.ratio.fget, (Ratio(1.3, 0.2),)),
    "bound_method": (OSCILLATOR.run, (0.7, 0.4, 3)),
    "callable_object": (OSCILLATOR, (0.7, 0.4)),
    "partial": (TRIPLE, (0.7,)),
}


@pytest.mark.parametrize("name", ENTRIES)
def test_entry(name):
    f, args = ENTRIES[name]
    check(f, args, (0,))


def number_kept_in_a_dict(x):
    state = {"b": x}
    state["b"] *= x
    state["b"] += 1.0
    return state["b"]


@pytest.mark.parametrize("x", [1.3, draw(3)])
def test_a_value_that_is_a_number_or_an_array_is_kept(x):
    value, x_bar = sct.vjp(number_kept_in_a_dict)(x, out_bar=np.ones_like(x)[()])
    np.testing.assert_allclose(value, x * x + 1.0)
    np.testing.assert_allclose(x_bar, 2.0 * x)
