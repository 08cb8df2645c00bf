"""Objects and their methods, and functions of functions: right, or refused.

Models as classes, accumulators, vectors with operators, helpers that write into what
they are given, functions made by functions, generators, and functions that are only
met when the derivative is called.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import NamedTuple

import numpy as np
import pytest

import sct

from .test_kernels import check, draw

CASES: list = []


def case(*args, wrt=None):
    """The function below, differentiated with respect to all of `args` or to `wrt`."""

    def keep(f):
        chosen = tuple(range(len(args))) if wrt is None else wrt
        CASES.append(pytest.param(f, args, chosen, id=f.__name__))
        return f

    return keep


# -- models ----------------------------------------------------------------------------
class Layer:
    def __init__(self, w, act=np.tanh):
        self.w = w
        self.act = act

    def __call__(self, x):
        return self.act(self.w * x)


class Net:
    power = 2.0

    def __init__(self, w, k):
        self.first = Layer(w)
        self.second = Layer(w * k, act=np.sin)
        self.k = k
        self.seen = []

    def forward(self, x):
        h = self.first(x)
        self.last = h
        return self.second(h) * self.k + self.last

    @property
    def size(self):
        return np.sum(self.first.w**2)

    @classmethod
    def scaled(cls, x):
        return cls.power * x

    @staticmethod
    def squared(x):
        return x * x

    def loss(self, x):
        return np.sum(self.squared(self.forward(x))) + self.scaled(self.size)


@case(draw(3), 1.3)
def objects_in_an_object(x, k):
    net = Net(x, k)
    return net.loss(x * k) * net.k


@case(draw(3), 1.3)
def object_changed_in_a_loop(x, k):
    net = Net(x, k)
    total = 0.0
    for _ in range(3):
        total = total + net.loss(x * k) * net.k
        net.k = net.k * 0.5
    return total


NET = Net(draw(3), 0.7)
LAYER = Layer(draw(3, seed=4))


@case(draw(3))
def object_of_the_module(x):
    return np.sum(LAYER(x) ** 2)


class Counted:
    total = 0

    def __init__(self, w):
        self.w = w
        self.calls = 0

    def value(self, x):
        self.calls += 1
        Counted.total += 1
        return self.w * x * x


def test_counters_count():
    counted = Counted(1.5)

    def f(x):
        return counted.value(x) * counted.value(2.0 * x)

    before = Counted.total
    assert sct.grad(f)(0.5) == pytest.approx(4 * 1.5**2 * 4 * 0.5**3)
    assert counted.calls == 2
    assert Counted.total == before + 2
    assert sct.grad(counted.value)(0.5) == pytest.approx(1.5)
    assert counted.calls == 3


def test_a_value_put_on_a_given_object_stays_out_of_it():
    class Kept:
        pass

    def f(x, kept):
        kept.last = x * x
        return kept.last * x

    kept = Kept()
    assert sct.grad(f)(0.5, kept) == pytest.approx(3 * 0.25)
    assert not hasattr(kept, "last")


class Base:
    def __init__(self, w):
        self.w = w

    def outer(self, x):
        return self.inner(x) * self.w

    def inner(self, x):
        return x


class Derived(Base):
    def __init__(self, w, c):
        super().__init__(w)
        self.c = c

    def inner(self, x):
        return super().inner(x) * self.c + x * x


@case(1.1, 0.6)
def inherited_methods(x, c):
    return Derived(x, c).outer(x * c) + Base(c).outer(x)


DERIVED = Derived(1.5, 0.5)
METHOD = DERIVED.outer


@case(1.1)
def method_held_by_the_module(x):
    return METHOD(x) * x


@case(1.1)
def method_by_two_names(x):
    f = DERIVED.outer
    g = f
    return f(x) * g(x * 2.0)


@case(draw(4))
def method_in_a_loop(x):
    total = 0.0
    for v in x:
        total += DERIVED.outer(v)
    return total


# -- state -----------------------------------------------------------------------------
class Running:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add(self, v):
        self.total += v
        self.count += 1
        return self

    @property
    def mean(self):
        return self.total / self.count


@case(draw(5))
def running_mean(x):
    running = Running()
    for v in x:
        running.add(v * v)
    return running.mean * running.total


@case(draw(5))
def methods_in_a_chain(x):
    running = Running()
    running.add(x[0]).add(x[1] * x[2])
    return running.mean


@case(draw(5))
def two_objects_in_turn(x):
    even, odd = Running(), Running()
    for i in range(5):
        if i % 2:
            odd.add(x[i])
        else:
            even.add(x[i] * x[i])
    return odd.total * even.mean


class Memory:
    def __init__(self):
        self.held = {}

    def get(self, key, x):
        if key not in self.held:
            self.held[key] = x * x
        return self.held[key]


@case(1.2)
def memory_in_an_object(x):
    memory = Memory()
    return memory.get("a", x) * memory.get("a", x * 3.0)


class Field:
    def __init__(self, n):
        self.u = np.zeros(n)

    def put(self, i, v):
        self.u[i] = v
        return self

    def step(self, c):
        self.u[1:] += c * self.u[:-1]


@case(draw(5), 0.3)
def array_in_an_object(y, c):
    field = Field(5)
    for i in range(5):
        field.put(i, y[i] * y[i])
    for _ in range(2):
        field.step(c)
    return np.sum(field.u * field.u)


class Decaying:
    scale = 2.0
    steps = 0

    def step(self):
        self.steps += 1
        return self.steps


@case(0.7)
def attribute_of_the_class_until_it_is_set(x):
    d, total = Decaying(), 0.0
    for _ in range(3):
        total += x * d.scale
        d.scale = d.scale * 0.5
    return total


@case(0.7)
def counter_that_starts_in_the_class(x):
    d = Decaying()
    return x * d.step() * d.step()


@case(0.7)
def object_of_the_first_turn(x):
    total = 0.0
    for i in range(3):
        p = Base(x * (i + 1.0))
        if i == 0:
            first = p
        total += first.w * p.w
    return total


# -- operators -------------------------------------------------------------------------
class Vector:
    def __init__(self, x, y):
        self.x = x
        self.y = y

    def __add__(self, other):
        return Vector(self.x + other.x, self.y + other.y)

    def __rmul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __sub__(self, other):
        return self + (-other)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __iadd__(self, other):
        self.x = self.x + other.x
        self.y = self.y + other.y
        return self

    def __getitem__(self, i):
        return self.x if i == 0 else self.y


@case(1.2, 0.4)
def vectors_in_a_loop(x, v):
    p, q = Vector(x, v), Vector(v, 0.1)
    for _ in range(4):
        p = p + 0.1 * q
        q = q - 0.2 * p
    return p @ q


@case(1.2, 0.4)
def operator_in_place(x, v):
    p = Vector(x, v)
    for _ in range(3):
        p += Vector(x * v, x)
    return p[0] * p[1]


@case(1.2, 0.4)
def object_of_either_branch(x, v):
    if x > v:
        p = Vector(x, v)
    else:
        p = Vector(v * v, x)
    return p @ p


@case(1.2, 0.4)
def objects_until_large(x, v):
    p = Vector(x, v)
    while p.x < 10.0:
        p = Vector(p.x * 1.5 + v, p.y * p.x)
    return p @ Vector(v, x)


@case(1.2, 0.4)
def objects_swapped(x, v):
    p, q = Vector(x, v), Vector(v, x * x)
    p, q = q, p
    return p.x * q.y


@case(1.2, 0.4)
def objects_of_numbers_that_are_called_alike(x, v):
    points = [Vector(x, v), Vector(v, x * v), Vector(1.0, x)]
    total = 0.0
    for p in points:
        total += p @ points[0]
    return total


def combined(a, b):
    return Vector(a * b, a + b)


@case(1.2, 0.4)
def functions_that_return_objects(x, v):
    p = combined(x, v)
    q = combined(p.y, v)
    return (p + q) @ q


class Matrix:
    def __init__(self, entries):
        self.entries = entries

    def __matmul__(self, x):
        return self.entries @ x

    @property
    def T(self):
        return Matrix(self.entries.T)


@case(draw(3, 3), draw(3))
def operator_as_a_matrix(a, x):
    m = Matrix(a)
    return np.sum((m.T @ (m @ x)) ** 2)


# -- dataclasses and named tuples ------------------------------------------------------
@dataclasses.dataclass
class Box:
    a: float
    b: float = 2.0

    def area(self):
        return self.a * self.b

    def scaled(self, k):
        return dataclasses.replace(self, a=self.a * k)


class Pair(NamedTuple):
    left: object
    right: object


@case(1.2)
def dataclass_made_here(x):
    return Box(x).scaled(x).area()


@case(Box(1.2, 0.3), 2.0)
def dataclass_with_methods(box: Box, k):
    return box.area() * box.scaled(k).area()


@case(1.2)
def class_asked_for(x):
    box = Box(x, x * x)
    if isinstance(box, Box):
        return box.area()
    return x


@case(draw(3))
def named_tuple_made_here(x):
    p = Pair(x * x, x[0])
    q = p._replace(right=x[1])
    left, right = q
    return np.sum(left) * right * q[1] * len(q)


# -- given objects ---------------------------------------------------------------------
class Model:
    first: Layer

    def __init__(self, w):
        self.first = Layer(w)
        self.layers = [Layer(0.5 * w), Layer(w)]
        self.act = np.sin
        self.k = 0.4

    def loss(self, x):
        x = self.first(x)
        return np.sum(self.act(x)) * self.k

    def deep(self, x):
        for layer in self.layers:
            x = layer(x)
        return np.sum(x) * self.k


@case(Layer(draw(3)), draw(3, seed=1))
def called_object(layer, x):
    return np.sum(layer(x) ** 2)


@case(Model(draw(3)), draw(3, seed=1))
def method_of_an_object(model, x):
    return model.loss(x)


@case(Model(draw(3)), draw(3, seed=1))
def list_of_objects_in_an_object(model, x):
    return model.deep(x)


def annotated(model: Derived, x):
    return model.outer(x)


def test_an_object_of_another_class_is_refused():
    df = sct.grad(annotated, wrt="x")
    assert df(DERIVED, 1.1) == pytest.approx(0.75 + 2 * 1.5 * 1.1)
    with pytest.raises(sct.ArgumentError, match="model is a Base"):
        df(Base(1.5), 1.1)


def asks_for_the_class(model: Base, x):
    if isinstance(model, Derived):
        return x * x
    return 3.0 * x


def test_an_answer_about_a_class_rests_on_it():
    df = sct.grad(asks_for_the_class, wrt="x")
    assert df(Base(1.5), 1.1) == 3.0
    with pytest.raises(sct.ArgumentError, match="model is a Derived"):
        df(DERIVED, 1.1)


KEPT = 0.0


class Reader:
    def get(self):
        return KEPT


def keeps_and_reads_by_a_method(x, reader):
    global KEPT
    KEPT = x * x
    return x * reader.get()


def test_a_method_may_read_what_is_kept():
    with pytest.raises(sct.UnsupportedError, match="`global`"):
        sct.grad(keeps_and_reads_by_a_method)(0.7, Reader())


def test_one_derivative_for_all_calls_with_one_method():
    seen = []

    def f(x, g):
        return g(x) * x

    from sct.deferred import deferred

    df = deferred(f, ["g"], lambda primal: seen.append(primal) or primal)
    df(1.0, DERIVED.outer)
    df(2.0, DERIVED.outer)
    assert len(seen) == 1


class Tripled:
    def __init__(self, x):
        self.x = x

    @property
    def third(self):
        return self.x / 3.0

    @third.setter
    def third(self, value):
        self.x = 3.0 * value


def sets_a_property(x):
    t = Tripled(x)
    t.third = x * x
    return t.x


def sets_a_property_of_an_argument(x, t):
    t.third = x * x
    return t.x * x


def test_setting_a_property_is_refused():
    with pytest.raises(sct.ArgumentError, match=r"`\.third` of a Tripled runs code"):
        sct.grad(sets_a_property_of_an_argument)(0.7, Tripled(1.0))
    with pytest.raises(sct.UnsupportedError, match="an object is changed"):
        sct.grad(sets_a_property)


def test_each_class_has_its_own_derivative():
    def f(x, m):
        return m.outer(x)

    df = sct.grad(f)
    assert df(1.1, Base(1.5)) == pytest.approx(1.5)
    assert df(1.1, DERIVED) == pytest.approx(0.75 + 2 * 1.5 * 1.1)
    assert df(1.1, Base(2.0)) == pytest.approx(2.0)


def test_methods_objects_and_partials_are_functions():
    x = 1.1
    assert sct.grad(DERIVED.outer)(x) == pytest.approx(0.75 + 2 * 1.5 * x)
    np.testing.assert_allclose(
        sct.vjp(LAYER)(np.ones(3), out_bar=np.ones(3))[0], np.tanh(LAYER.w)
    )
    f = functools.partial(math.pow, x)
    assert sct.grad(functools.partial(scaled, 2.0))(x) == pytest.approx(4.0 * x)
    assert sct.grad(functools.partial(scaled, b=3.0))(x) == pytest.approx(9.0)
    assert sct.value_and_grad(functools.partial(scaled, b=3.0))(x)[0] == 9.0 * x
    assert f(2.0) == x**2


def test_the_gradient_in_a_model_is_a_model():
    model = Derived(1.5, 0.5)
    bar = sct.grad(annotated)(model, 1.1)
    assert isinstance(bar, Derived)
    assert bar.c == pytest.approx(1.1 * 1.5)
    assert bar.w == pytest.approx(1.1 * 0.5 + 1.1**2)
    assert sct.grad(Derived.inner)(model, 1.1).c == pytest.approx(1.1)
    # An inherited method is taken for one of the class that defines it.
    with pytest.raises(sct.ArgumentError, match="self is a Derived"):
        sct.grad(Derived.outer)(model, 1.1)
    assert (model.w, model.c) == (1.5, 0.5)


# -- helpers that write ----------------------------------------------------------------
def axpy(a, x, y):
    y += a * x


@case(draw(4), draw(4, seed=1), 0.4)
def added_in_place_by_a_helper(x, y, a):
    z = y * y
    axpy(a, x, z)
    axpy(a, z, z)
    return np.sum(z * z)


@case(draw(4))
def rows_given_to_a_helper(x):
    a = np.outer(x, x)
    for i in range(4):
        axpy(x[i], a[0], a[i])
    return np.sum(a * a)


def filled(a, f):
    for i in range(len(a)):
        a[i] = f(i)


@case(draw(4))
def filled_by_a_function(x):
    a = np.zeros(4)
    filled(a, lambda i: x[i] * i)
    return np.sum(a * a)


def swapped(a, i, j):
    a[i], a[j] = a[j], a[i]


@case(draw(4))
def elements_swapped_by_a_helper(x):
    a = x.copy()
    swapped(a, 0, 3)
    swapped(a, 1, 3)
    return np.sum(a * np.arange(4.0) * x)


def kept(values, v):
    values.append(v * v)


@case(draw(3))
def list_grown_by_a_helper(x):
    values = []
    for i in range(3):
        kept(values, x[i])
    return values[0] * values[1] * values[2]


def doubled_first(x):
    x[0] = x[0] * 2.0
    return np.sum(x * x)


@case(draw(4))
def argument_of_a_helper_read_afterwards(x):
    y = x * 1.5
    total = doubled_first(y)
    return total * y[0]


@case(draw(4))
def own_argument_written_by_a_helper(x):
    return doubled_first(x) * x[0]


# -- functions of functions ------------------------------------------------------------
def scaled(a, b):
    return a * b**2


def adder(k):
    def add(t):
        return t + k * t * t

    return add


ADD = adder(2.0)


@case(1.1, 0.4)
def functions_made_by_a_function(x, k):
    f, g = adder(k), adder(x)
    return f(x) * g(k) * ADD(x)


def polynomial(*coefficients):
    return lambda t: sum(c * t**i for i, c in enumerate(coefficients))


@case(1.1, 0.4)
def lambda_made_by_a_function(x, k):
    return polynomial(1.0, x, k)(x)


def composed(*fs):
    def h(x):
        for f in fs:
            x = f(x)
        return x

    return h


CHAIN = composed(np.sin, np.exp)


@case(1.1)
def functions_composed(x):
    return CHAIN(x) * composed(np.sin, np.cos, lambda t: t * x)(x)


@case(1.1)
def partials_of_partials(x):
    f = functools.partial(scaled, b=x)
    g = functools.partial(f, 2.0 * x)
    return f(x) * g()


STEPS = [("square", lambda t: t * t), ("sine", np.sin)]
TABLE = {"k": 2.0, "both": [np.exp, np.cos]}


@case(1.1)
def functions_of_a_list_of_pairs(x):
    for _, f in STEPS:
        x = f(x) * 1.1
    return x


@case(1.1)
def functions_of_a_nested_table(x):
    return TABLE["both"][1](x) * TABLE["both"][0](x) * TABLE["k"]


@functools.lru_cache
def cached(x):
    return x * x


@case(1.1)
def cached_function(x):
    return cached(x) * x


def tripled(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return 3.0 * f(*args, **kwargs)

    return inner


@tripled
def decorated(x, y=2.0):
    return x * x * y


@case(1.1)
def decorated_function(x):
    return decorated(x) * decorated(x, y=x)


def remembering(f):
    table = {}

    def inner(x):
        return f(x) * len(table) + f(x)

    return inner


@remembering
def remembered(x):
    return x * x


@case(1.1)
def closure_around_a_table(x):
    return remembered(x) * x


@case(1.2, np.sin, wrt=(0,))
def given_a_function(x, f):
    return f(x) * x


@case(1.2, lambda t: t**3, wrt=(0,))
def given_a_lambda(x, f):
    return f(x) * x


@case(1.2, functools.partial(scaled, 2.0), wrt=(0,))
def given_a_partial(x, f):
    return f(x) * x


def after(f, x):
    return f(x) + 1.0


@case(1.2, adder(0.5), wrt=(0,))
def given_a_function_to_hand_on(x, f):
    return after(f, x) * x


def given_a_module(x, xp):
    return xp.sum(xp.exp(x) * xp.arange(3.0)) * xp.pi


def test_a_module_may_be_given():
    x = draw(3)
    expected = np.exp(x) * np.arange(3.0) * np.pi
    np.testing.assert_allclose(sct.grad(given_a_module)(x, np), expected)


def test_each_function_has_its_own_derivative():
    df = sct.grad(given_a_function)
    assert df(0.3, np.sin) == pytest.approx(math.cos(0.3) * 0.3 + math.sin(0.3))
    assert df(0.3, np.exp) == pytest.approx(math.exp(0.3) * 1.3)
    assert df(0.3, np.sin, out_bar=2.0) == pytest.approx(2.0 * df(0.3, np.sin))
    assert df.__name__ == "given_a_function_grad"
    with pytest.raises(sct.ArgumentError, match="when it is first called"):
        sct.source(df)


def test_what_is_met_and_not_followed_is_refused_when_it_is_met():
    df = sct.grad(given_a_function)
    with pytest.raises(sct.UnsupportedError, match="what it calls is not known"):
        df(0.3, "sin".__eq__)


# -- derivatives inside functions ------------------------------------------------------
def cubes(y):
    return np.sum(y**3)


def weighted(y, k):
    return y * y * k


@case(draw(3))
def derivative_of_a_function(x):
    return np.sum(sct.grad(cubes)(x) * x)


@case(draw(3))
def derivative_of_a_lambda(x):
    return np.sum(sct.grad(lambda y: np.sum(y**3))(x) * x)


@case(1.2)
def derivative_in_the_second_argument(x):
    slope = sct.grad(weighted, wrt=1)
    return slope(x, 2.0) * x


@case(1.2)
def derivative_of_a_derivative(x):
    return sct.grad(sct.grad(lambda y: y**4))(x) * x


@case(1.2)
def value_beside_a_derivative(x):
    value, slope = sct.value_and_grad(lambda y: y**4)(x)
    return value * slope


# -- generators ------------------------------------------------------------------------
def powers(n, x):
    t = x
    for i in range(n):
        yield t, i
        t = t * x


@case(1.1)
def generator_of_pairs(x):
    total = 0.0
    for t, i in powers(3, x):
        total += t * i
    return total


def flattened(rows):
    for row in rows:
        yield from row


@case(1.1, 0.4)
def generator_that_hands_on(x, y):
    return sum(v * v for v in flattened([[x, y], [x * y]]))


@case(draw(5))
def generator_inside(x):
    def every_other():
        for i in range(0, 5, 2):
            yield x[i] * x[i]

    total = 0.0
    for v in every_other():
        total += v * total + v
    return total


def endless(x):
    while True:
        yield x
        x = x * 0.5


def takes_from_an_endless_generator(x):
    total = 0.0
    for v in endless(x):
        total += v
        if v < 0.1:
            break
    return total


def changed_in_between(x):
    a = x * x
    total = 0.0
    for v in pairs(a):
        a[1:] *= 2.0
        total += v
    return total


def pairs(a):
    for i in range(len(a)):
        yield a[i] * a[0]


def changed_by_another_name(x):
    a = np.outer(x, x)
    row, total = a[0], 0.0
    for v in pairs(row):
        a[0] = a[0] * 2.0
        total += v
    return total


def augmented_in_between(x):
    a = x * x
    row, total = a[:], 0.0
    for v in pairs(row):
        a *= 2.0
        total += v
    return total


def writing(a):
    for i in range(len(a)):
        yield a[i]
        a[0] = a[0] * 2.0


def generator_that_writes(x):
    a, total = x * x, 0.0
    for v in writing(a):
        total += v * a[0]
    return total


def local_generator_over_what_changes(x):
    a = x * x

    def items():
        for i in range(len(a)):
            yield a[i]

    total = 0.0
    for v in items():
        a[2] = v * v
        total += v
    return total


def local_generator_over_a_view(x):
    a = x * x
    row = a[:]

    def items():
        for i in range(len(row)):
            yield row[i]

    total = 0.0
    for v in items():
        a *= 2.0
        total += v
    return total


class Walk:
    def __init__(self, a):
        self.a = a

    def items(self, a):
        for i in range(len(a)):
            yield a[i] * self.a[0]


WALK = Walk(np.ones(3))


def generator_that_is_a_method(x):
    a = x * x
    total = 0.0
    for v in WALK.items(a):
        a *= 2.0
        total += v
    return total


@pytest.mark.parametrize(
    "f",
    [
        local_generator_over_a_view,
        generator_that_is_a_method,
        takes_from_an_endless_generator,
        changed_in_between,
        changed_by_another_name,
        augmented_in_between,
        generator_that_writes,
        local_generator_over_what_changes,
    ],
)
def test_generators_refused(f):
    with pytest.raises(sct.UnsupportedError, match=r"test_objects\.py"):
        sct.grad(f)


@pytest.mark.parametrize("f, args, wrt", CASES)
def test_gradient(f, args, wrt):
    check(f, args, wrt)
