"""Containers as people use them: gradients are those of differences, in structure too.

Tuples, lists, dicts, named tuples, dataclasses and plain objects as arguments, written
into, copied, grown and cut; and the builtins that go through their items.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import itertools
import operator
import typing
from functools import reduce

import numpy as np
import pytest

import sct

from .test_kernels import check, draw

KERNELS: list = []


def kernel(*args, wrt=None):
    """The function below, differentiated with respect to all of `args` or to `wrt`."""

    def keep(f):
        chosen = tuple(range(len(args))) if wrt is None else wrt
        KERNELS.append(pytest.param(f, args, chosen, id=f.__name__))
        return f

    return keep


# -- structures as arguments, and writes into them ------------------------------------


class Pair(typing.NamedTuple):
    w: np.ndarray
    b: float
    n: int = 3


Counted = collections.namedtuple("Counted", "count index")


@dataclasses.dataclass(frozen=True)
class Frozen:
    w: np.ndarray
    b: float
    name: str = "f"
    n: int = 3


@dataclasses.dataclass(slots=True)
class Slotted:
    w: np.ndarray
    b: float


class Plain:
    def __init__(s, **k):
        s.__dict__.update(k)

    def __call__(s, x):
        return x


@kernel(Pair(draw(3, seed=1), 0.3))
def named_tuple(p):
    return np.sum(p.w * p.w) * p.b


@kernel(Pair(draw(3, seed=2), 0.3))
def named_tuple_unpacked(p):
    w, b, n = p
    return np.sum(w * w) * b * n


@kernel(Pair(draw(3, seed=3), 0.3))
def named_tuple_by_number(p):
    return np.sum(p[0]) * p[1] * p.b


@kernel(Counted(1.2, 0.3))
def named_tuple_with_names_of_methods(p):
    return p.count * p.index**2


@kernel([Pair(draw(3, seed=4), 0.3), Pair(draw(3, seed=5), 0.5)])
def named_tuples_in_a_list(ps):
    s = 0.0
    for p in ps:
        s += np.sum(p.w) * p.b
    return s


@kernel([Pair(draw(3, seed=6), 0.3), Pair(draw(3, seed=0), 0.5)])
def named_tuples_in_two_loops(ps):
    s = 0.0
    for w, b, _ in ps:
        s += np.sum(w) * b
    for p in ps:
        s *= p.b
    return s


@kernel({"a": Frozen(draw(3, seed=1), 0.3), "b": (Frozen(draw(3, seed=2), 0.1), 2.0)})
def frozen_nested(d):
    return np.sum(d["a"].w * d["b"][0].w) * d["b"][0].b * d["b"][1]


def slotted(s):
    return np.sum(s.w) * s.b


@kernel(Frozen(draw(3, seed=4), 0.3))
def frozen_unused(p):
    return p.b * 2.0


@kernel(
    Plain(
        w=draw(3, seed=5),
        b=0.3,
        act=np.tanh,
        meta={"lr": 0.1, "tags": ["a"]},
        k=None,
        flag=True,
    )
)
def plain_mixed(o):
    return np.sum(o.w) * o.b * o.meta["lr"]


@kernel(Plain(w=draw(3, seed=6), inner=Plain(u=draw(3, seed=0), c=2.0)))
def plain_nested(o):
    return np.sum(o.w * o.inner.u) * o.inner.c


def helper(p, x):
    return np.sum(p.w * x) * p.b


@kernel(Frozen(draw(3, seed=1), 0.3), draw(3, seed=2))
def frozen_helper(p, x):
    return helper(p, x) * helper(p, 2 * x)


@kernel(Pair(draw(3, seed=3), 0.3), draw(3, seed=4))
def named_tuple_given_on(p, x):
    return helper(p, x) * p.b


def helper_unpacking(p):
    w, b, n = p
    return np.sum(w) * b


@kernel(Pair(draw(3, seed=5), 0.3))
def named_tuple_unpacked_by_another(p):
    return helper_unpacking(p) * p.b


@kernel(collections.OrderedDict(a=draw(3, seed=6), b=2.0))
def ordered_dict(d):
    return np.sum(d["a"]) * d["b"]


@kernel({"a": draw(3, seed=0), "b": [1.0, draw(3, seed=1)], "c": (1.5, {"z": 0.2})})
def unused_parts(d):
    return d["c"][1]["z"] * d["c"][0]


@kernel({"x": 1.2, "y": 0.4})
def aug_chain(d):
    d["x"] *= d["y"]
    d["y"] += d["x"]
    d["x"] -= d["y"] * d["x"]
    return d["x"] * d["y"]


@kernel({"u": draw(4, seed=2), "v": draw(4, seed=3)})
def arr_dict_loop(d):
    for i in range(3):
        d["u"][i + 1] = d["u"][i] * d["v"][i]
        d["v"] = d["v"] * d["u"]
    return np.sum(d["u"] * d["v"])


@kernel([draw(3, seed=4), draw(3, seed=5)])
def list_swap(l):
    l[0], l[1] = (l[1], l[0] * l[1])
    return np.sum(l[0] * l[1] ** 2)


@kernel([1.1, 1.2, 1.3])
def numlist_write(l):
    for i in range(1, 3):
        l[i] = l[i - 1] * l[i]
    return l[2] * l[1]


@kernel([1.1, 1.2, 1.3])
def numlist_aug(l):
    for i in range(1, 3):
        l[i] += l[i - 1] * l[i]
    return l[2] * l[1]


@kernel([[1.1, 1.2], [1.3, 0.7]])
def numbers_of_lists_written(t):
    for i in range(2):
        for j in range(2):
            t[i][j] = t[i][j] * t[i - 1][j]
    return t[0][0] * t[1][1] + t[1][0]


@kernel([[1.1, 1.2], [1.3, 0.7]])
def numbers_of_lists_augmented(t):
    t[0][1] += t[1][0] * t[1][1]
    t[1][0] *= t[0][1]
    return t[0][1] * t[1][0]


@kernel([[1.1, 1.2], [1.3]])
def ragged_numbers(t):
    return sum(sum(r) for r in t) * t[0][0]


@kernel(draw(5, seed=6))
def table_of_least_costs(x):
    n = 5
    t = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            if i == 0 or j == 0:
                t[i][j] = x[i] + x[j]
            else:
                t[i][j] = min(
                    t[i - 1][j] + x[i], t[i][j - 1] * x[j], t[i - 1][j - 1] + 0.1
                )
    return t[-1][-1] * t[2][3]


@kernel(draw(4, seed=0))
def histogram(x):
    h = {}
    for i in range(4):
        k = i % 2
        if k in h:
            h[k] += x[i] * x[i]
        else:
            h[k] = x[i]
    return h[0] * h[1]


@kernel(draw(4, seed=1))
def dict_of_keywords(x):
    d = dict(scale=x[0], rows=np.outer(x, x))
    d["rows"].ravel()[2:4] += d["scale"]
    d["scale"] *= 2.0
    d["rows"][0], d["rows"][1] = d["rows"][1].copy(), d["rows"][0].copy()
    return d["scale"] * np.sum(d["rows"] ** 2)


@kernel({"p": 0.7, "q": draw(2, 3, seed=2)})
def one_of_what_is_spread(d):
    scale = {**d, "p": np.sin(d["p"]), "s": d["p"]}["p"]
    d["q"][1][2] = scale
    return scale * np.sum(d["q"] ** 2)


@kernel({"t": (draw(3, seed=1), 0.7), "w": [draw(2, 3, seed=2), draw(3, seed=3)]})
def items_of_several_shapes(d):
    low = np.where(d["t"][0] > d["t"][1], d["t"][0], d["t"][1])
    return np.sum(low * d["t"][1]) + np.sum(d["w"][0] * d["w"][1])


@kernel(draw(4, seed=1))
def running_sums_in_a_dict(x):
    h = {"a": 0.0, "b": 0.0}
    for i in range(4):
        h["a"] += x[i]
        h["b"] += h["a"] * x[i]
    return h["a"] * h["b"]


@kernel(draw(4, seed=2))
def arrays_added_up_in_a_list(x):
    accumulated = [np.zeros(4), np.ones(4)]
    for i in range(3):
        accumulated[i % 2] += x * x[i]
        accumulated[1] = accumulated[1] * accumulated[0]
    return np.sum(accumulated[0] * accumulated[1])


@kernel(draw(4, seed=3))
def alias_number_item(x):
    l = [x[0], x[1]]
    u = l[0]
    l[0] += x[2]
    return u * l[0]


@kernel(draw(4))
def aliased_pop(x):
    items = [x[0], x[1], x[2]]
    other = items
    items.pop(0)
    return other[0] * items[1]


@kernel(draw(4))
def item_of_two_names(x):
    items = [x * x, x]
    other = items[0]
    items[0] += x
    return np.sum(other * items[0])


@kernel([draw(3), draw(3, seed=5)])
def replaced_where_another_name_stays(c):
    e, g = c
    total = np.sum(e * g)
    c[1][1] *= 2.0
    c[1] = np.sin(c[1])
    c[1][0] = total
    return total * np.sum(c[1] ** 2)


@kernel(draw(2, 3))
def row_replaced_where_another_name_stays(c):
    e, g = c
    total = np.sum(e * g)
    c[1][1] *= 2.0
    c[1] = np.sin(c[1])
    c[1][0] = total
    return total * np.sum(c[1] ** 2)


@kernel(draw(3), {"p": 0.4, "q": draw(3, seed=4)})
def elements_of_a_part_exchanged(v, c):
    c["q"][0], c["q"][2] = c["q"][2], c["q"][0]
    c["p"] = v[0]
    return np.sum(c["q"] * v) * c["p"]


@kernel(draw(3), {"p": 0.4, "q": draw(3, seed=4)})
def part_written_into_and_then_replaced(v, c):
    for e in range(3):
        c["q"][e] = np.sin(c["q"][e] * v[e])
    c["q"] = np.sin(c["q"])
    c["q"][1] = c["p"]
    return np.sum(c["q"] * v) * c["p"]


@kernel(draw(3), (Pair(0.4, 0.3), Pair(0.2, draw(3, seed=4))))
def field_written_into_by_another_name(v, c):
    view = c[1].b[1:]
    view[0] = v[1] * c[0].w
    c[1].b.sort()
    return np.sum(c[1].b * v)


@kernel(draw(3), [draw(3, seed=3), draw(3, seed=4)])
def item_filled(v, c):
    c[0].fill(v[0])
    return np.sum(c[0] * v) + np.sum(c[1] ** 2)


def product_of_pair(pair):
    return pair.b * np.sum(pair.w)


@kernel(0.7, Pair(draw(3), 0.4))
def handed_on_and_nothing_else(a, c):
    return product_of_pair(c)


@kernel(0.7, draw(3))
def swapped_and_popped(a, u):
    items = [np.sin(a), np.cos(a)]
    items[0], items[1] = items[1], items[0]
    total = a
    while len(items) > 1:
        total = total + items.pop() * np.max(u)
    return total + items[0]


@kernel(draw(3), [draw(3, seed=3), draw(3, seed=4)])
def item_replaced_that_was_not_read(u, c):
    s = np.sum(c[0] * u)
    c[1] = np.tanh(u - s)
    return s + np.sum(c[1])


@kernel(draw(3), 0.7)
def parts_exchanged_and_walked(v, a):
    d = {"p": a, "q": np.sin(v)}
    total = a
    for _key, value in d.items():
        total = total + np.sum(value)
    d["q"][0], d["q"][2] = d["q"][2], d["q"][0] * total
    return np.sum(d["q"] * v) + d["p"]


@kernel(draw(3), 0.7)
def parts_replaced_and_written_into(u, a):
    d = {"p": np.cos(a), "q": np.tanh(u)}
    for i in range(3):
        d["q"][i] *= d["p"]
        d["p"] = np.sin(d["p"] + u[i])
    d["q"] = d["q"] * a
    d["q"][1:] += d["q"][:-1]
    return np.sum(d["q"]) * d["p"]


@kernel(draw(3), 0.7)
def nested_parts_replaced(u, a):
    d = {"w": [np.cos(a), a], "t": (np.tanh(u), np.cos(a))}
    for i in range(3):
        d["w"][1] += a * d["w"][0]
        d["w"][0] = np.sin(d["w"][1])
        if d["w"][0] > 0.1 * i:
            d["t"][0][i] = a
    return d["w"][0] * np.sum(d["t"][0]) + d["w"][1] * d["t"][1]


@kernel(draw(3), 0.7)
def items_replaced_written_into_and_walked(u, a):
    items = [np.tanh(u), np.cos(a * u)]
    items[0][1:] *= a
    items[1] = items[0] * u
    items[1][0] = a
    total = 0.0
    k = 0
    while k < len(items):
        total += np.sum(items[k] ** 2) * (k + 1)
        k += 1
    return total


@kernel(draw(3), 0.7)
def replaced_while_its_part_is_named(u, a):
    items = [np.tanh(u), a * u]
    old = items[0]
    items[0] = items[1]
    items[1] = old
    old[0] = a * a
    return np.sum(items[0] * u) + np.sum(items[1] ** 3)


@kernel([draw(3, seed=4), draw(3, seed=5)])
def same_twice(l):
    l[0][1] = l[1][0] * l[0][2]
    l[1] *= l[0]
    return np.sum(l[0] * l[1])


@kernel((draw(3, seed=6), [draw(3, seed=0), 0.5], {"k": draw(3, seed=1)}))
def tuple_deep(t):
    t[0][0] = t[1][1] * t[2]["k"][0]
    t[1][0] = t[1][0] * t[0]
    t[2]["k"] *= 2.0
    t[2]["z"] = t[2]["k"] * t[1][0]
    return np.sum(t[2]["z"])


@kernel(Frozen(draw(3, seed=2), 0.3))
def frozen_array_written(p):
    p.w[1:] *= p.b
    return np.sum(p.w * p.w)


# -- copies, nested containers, dicts as memories -------------------------------------


@kernel([draw(3, seed=3), draw(3, seed=4)])
def possible_aug(l):
    l[0] += l[1] * l[1]
    return np.sum(l[0] * l[1])


@kernel([1.2, 0.7])
def possible_aug_num(l):
    l[0] += l[1] * l[1]
    return l[0] * l[1]


@kernel(draw(2, 3))
def possible_arr(l):
    l[0] += l[1] * l[1]
    return np.sum(l[0] * l[1])


@kernel({"u": [draw(3, seed=5), draw(3, seed=6)]})
def nested_aug(d):
    d["u"][0] += d["u"][1] * d["u"][0]
    return np.sum(d["u"][0])


def inner(l):
    l = list(l)
    return l[0] * l[1]


@kernel([1.2, 0.7])
def copy_of_a_list(l):
    m = l.copy()
    m[0] = m[0] * m[1]
    return m[0] * l[0]


@kernel({"a": draw(3, seed=0), "b": 1.3})
def copy_of_a_dict(l):
    m = l.copy()
    m["a"] = m["a"] * m["b"]
    return np.sum(m["a"] * l["a"])


@kernel({"a": draw(3, seed=1), "b": 1.3})
def copy_by_dict(l):
    m = dict(l)
    m["a"] = m["a"] * m["b"]
    return np.sum(m["a"] * l["a"])


@kernel([{"a": 1.2}, {"a": 0.4}])
def list_dicts(l):
    for d in l:
        d["a"] *= 2.0
    return l[0]["a"] * l[1]["a"] ** 2


@kernel([{"a": 1.2}, {"a": 0.4}])
def list_dicts2(l):
    l[0] = {"a": l[1]["a"] * 3.0}
    return l[0]["a"] * l[1]["a"] ** 2


@kernel({"a": {"w": draw(3, seed=2), "b": 0.5}, "c": 2.0})
def replaced_dict(p):
    q = p["a"]
    p["a"] = {"w": q["w"] * 2.0, "b": q["b"] * p["c"]}
    return np.sum(p["a"]["w"]) * p["a"]["b"] * q["b"]


@kernel(draw(4, seed=3))
def while_table(x):
    memo = {}
    i = 0
    while i < 4:
        memo[i] = x[i] * (memo[i - 1] if i > 0 else 1.0)
        i += 1
    return memo[3] + memo[2] * memo[0]


@kernel(draw(4, seed=4))
def appended_then_written(x):
    l = []
    for i in range(4):
        l.append(x[i])
    for i in range(1, 4):
        l[i] = l[i] * l[i - 1]
    l.append(l[3] * l[0])
    l[0] = 0.0
    return sum(l) * l[4]


@kernel(draw(4, seed=5))
def aug_appended(x):
    l = []
    for i in range(4):
        l.append(x[i])
        l[-1] *= l[0]
        l[0] += x[i]
    return sum(l) * l[1]


@kernel([1.0, 2.0, 3.0], [0.5, 0.5, 0.25])
def two_lists(a, b):
    s = 0.0
    for i in range(len(a)):
        a[i] -= b[i] * a[i - 1]
        s += a[i] * b[i]
    return s


@kernel({"a": 1.2, "b": 0.4})
def keys_loop(d):
    for k in d:
        d[k] = d[k] * d[k]
    return d["a"] * d["b"]


@kernel({"a": 1.2, "b": 0.4})
def keys_loop2(d):
    s = 0.0
    for k in d.keys():
        s += d[k] ** 2
    for k in sorted(d):
        s *= d[k]
    return s


@kernel({"a": 1.2, "b": 0.4})
def in_test(d):
    s = 0.0
    for k in ["a", "z", "b"]:
        if k in d:
            s += d[k] ** 2
    return s


# -- map, filter, zip, enumerate, views of dicts --------------------------------------


@kernel(draw(5, seed=6))
def mapped(x):
    return sum(map(lambda t: t * t, x)) * x[0]


@kernel(draw(5, seed=0), draw(5, seed=1))
def mapped_over_two(x, y):
    return sum(map(lambda a, b: a * b**2, x, y))


def sq(t):
    return t * t * t


@kernel(draw(5, seed=2))
def mapped_by_a_function(x):
    return sum(map(sq, x))


@kernel(draw(5, seed=3))
def mapped_by_a_ufunc(x):
    return max(map(np.sin, x))


@kernel(draw(5, seed=4))
def list_of_mapped(x):
    l = list(map(sq, x))
    return l[0] * l[-1] + len(l)


@kernel(draw(5, seed=5))
def loop_over_mapped(x):
    s = 0.0
    for t in map(lambda q: q * s, x):
        s = s + t + 1.0
    return s


@kernel(draw(5, seed=6))
def loop_over_a_generator(x):
    s = 0.0
    for t in (q * s for q in x if q > 0.6):
        s = s + t + 1.0
    return s


@kernel(draw(5, seed=0))
def loop_over_a_generator_left(x):
    s = 0.0
    for t in (q * 2 for q in x if q > 0.6):
        if t > 2.2:
            continue
        if s > 3:
            break
        s += t * t
    else:
        s *= 2.0
    return s


@kernel(draw(5, seed=1))
def filtered(x):
    return sum(filter(lambda t: t > 1.0, x))


@kernel(draw(5, seed=2))
def filtered_by_a_function(x):

    def ok(t):
        return t > 0.8

    return sum(t * t for t in filter(ok, x))


@kernel(draw(5, seed=3))
def filtered_by_truth(x):
    return sum(filter(None, [x[0], 0.0, x[1]]))


@kernel(draw(5, seed=4))
def columns_unpacked(x):
    pairs = [(x[i], x[i + 1]) for i in range(4)]
    ls, rs = zip(*pairs)
    return sum(ls) * sum(rs)


@kernel([draw(3, seed=5), draw(3, seed=6)], [draw(3, seed=0), draw(3, seed=1)])
def zip_of_a_display(a, b):
    s = 0.0
    for p, q in zip(*[a, b]):
        s += np.sum(p * q)
    return s


@kernel({"a": 1.0, "b": 2.0})
def values_of_a_dict(d):
    return sum(d.values()) * max(d.values())


@kernel({"a": draw(3, seed=2), "b": draw(3, seed=3)})
def arrays_of_a_dict(d):
    return sum([np.sum(w * w) for w in d.values()])


@kernel({"a": 1.0, "b": 2.0})
def items_of_a_dict(d):
    s = 0.0
    for k, w in d.items():
        s += w * w * len(k)
    return s * sum((w for _, w in d.items()))


@kernel(draw(5, seed=4))
def values_of_a_local_dict(x):
    d = {"p": x[0], "q": x[1] * x[2]}
    d["r"] = d["p"] * 2.0
    return sum(d.values()) * min(d.values())


@kernel(draw(5, seed=5))
def dictcomp(x):
    d = {i: x[i] ** 2 for i in range(5)}
    return d[0] * d[3] + sum(d.values())


@kernel(draw(5, seed=6))
def listzip(x):
    l = list(zip(x, x[1:]))
    return l[0][1] * l[1][0]


@kernel(draw(5, seed=0))
def enumerated(x):
    return sum((i * t for i, t in enumerate(x))) + sum(
        (t * i for i, t in enumerate(x, 2))
    )


@kernel(draw(5, seed=1))
def turned_round(x):
    l = list(reversed(x))
    return l[0] * l[1] ** 2


@kernel(draw(5, seed=2))
def summed_from_the_end(x):
    s = 0.0
    for k, t in enumerate(reversed(x)):
        s += k * t * t
    return s


@kernel(draw(5, seed=3))
def nested_map(x):
    return sum(
        map(lambda t: t * t, map(lambda t: t + x[0], filter(lambda t: t < 1.2, x)))
    )


@kernel(draw(5, seed=4))
def any_all(x):
    if all(map(lambda t: t > 0, x)) and any(t > 1 for t in x):
        return x[0] ** 2
    return x[1]


@kernel(draw(5, seed=5))
def gen_nested(x):
    return sum(a * b for a in x for b in x if a < b)


@kernel(draw(5, seed=6))
def gen_tuple(x):
    t = tuple(a * a for a in x)
    return t[0] * t[-1]


@kernel(draw(5, seed=0))
def dict_of_zip(x):
    d = dict(zip("abcde", x))
    return d["a"] * d["c"]


@kernel(draw(5, seed=1))
def dict_gen(x):
    d = dict(((k, w * w) for k, w in zip("abcde", x)))
    return d["a"] * d["c"]


@kernel(draw(5, seed=2))
def set_map(x):
    n = len(set(map(lambda t: t > 1, x)))
    return n * x[0]


@kernel(draw(5, seed=3))
def maxgen(x):
    return max(t * t for t in x) - min(t for t in x)


# -- methods that change lists and dicts ----------------------------------------------


@kernel(np.array([0.6, -0.2]), draw(3, seed=4))
def autoregression(phi, y):
    histogram = list(y)
    out = 0.0
    for _ in range(3):
        nxt = phi[0] * histogram[-1] + phi[1] * histogram[-2]
        histogram.append(nxt)
        histogram.pop(0)
        out += nxt**2
    return out


@kernel([0.7, 1.2])
def first_deleted(us):
    del us[0]
    return us[0] * us[0]


@kernel(draw(5, seed=5))
def insertpop(x):
    l = [x[0], x[1]]
    l.insert(1, x[2])
    a = l.pop(0)
    l.extend([x[3], x[4]])
    return a * l[0] * l[-1]


@kernel(draw(5, seed=6))
def slicerev(x):
    l = [x[i] * x[0] for i in range(4)]
    m = l[::-1]
    return m[0] * m[1] ** 2 + l[0]


@kernel(draw(5, seed=0), 2, wrt=(0,))
def popped_anywhere(x, k):
    l = list(x)
    a = l.pop(k)
    b = l.pop(-2)
    del l[0]
    return a * b + l[0] * a


@kernel(draw(5, seed=1))
def stackmachine(x):
    st = []
    for i in range(5):
        st.append(x[i])
        if i % 2:
            a = st.pop()
            b = st.pop()
            st.append(a * b + a)
    return st.pop() * st[0]


@kernel(draw(5, seed=2))
def queue(x):
    q = [x[0], x[1]]
    s = 0.0
    for _i in range(4):
        a = q.pop(0)
        s += a * a
        q.append(a * q[0])
    return s


@kernel(draw(5, seed=3))
def whileq(x):
    q = list(x)
    s = 1.0
    while q:
        s *= 1 + q.pop() * s
    return s


@kernel(draw(3, seed=4), draw(3, seed=5))
def only_the_popped_is_read(x, y):
    items = [np.sin(x), np.tanh(y)]
    return np.sum(items.pop() * x)


@kernel(draw(3, seed=4), draw(3, seed=5))
def popped_and_appended_in_turns(x, y):
    items = [np.sin(x), np.tanh(y), x * y]
    for _ in range(2):
        last = items.pop()
        items.append(last * y)
        items.append(np.cos(last))
    return np.sum(items.pop())


@kernel(draw(3, seed=4), draw(3, seed=5))
def emptied_in_one_turn(x, y):
    s = 0.0
    for i in range(3):
        items = [np.sin(x) * i, np.tanh(y)]
        if i > 1:
            s = s + np.sum(items.pop() * x)
            s = s + np.sum(items.pop() * x)
    return s


@kernel((Pair(draw(3, seed=6), 1.7), 0.7))
def read_by_name_and_unpacked(c):
    first = c[0].w
    (_, b, _), last = c
    return np.sum(np.sin(first)) * b * last


@kernel({"a": 1.2, "b": 0.4})
def popped_from_a_dict(d):
    a = d.pop("a")
    d["c"] = a * d["b"]
    return d["c"] * sum(d.values())


@kernel({"a": 1.2, "b": 0.4})
def deleted_from_a_dict(d):
    a = d["a"]
    del d["a"]
    return a * sum(d.values())


@kernel({"a": 1.2, "b": 0.4})
def looked_up_with_defaults(d):
    return d.get("a", 1.0) * d.get("zz", 2.0) * d.setdefault("b", 1.0)


@kernel(draw(4, seed=4))
def counted_with_get(x):
    h = {}
    for i in range(4):
        h[i % 2] = h.get(i % 2, 0.0) + x[i] * x[i]
    return h[0] * h[1]


@kernel(draw(4, seed=5))
def set_by_default(x):
    h = {}
    for i in range(4):
        h.setdefault(i % 2, x[i])
        h[i % 2] = h[i % 2] * x[i]
    return h[0] * h[1]


@kernel({"a": 1.0, "b": 2.0})
def updated(d):
    e = dict(d)
    e["c"] = d["a"] * d["b"]
    e.update(a=3.0 * d["b"])
    return sum(e.values())


@kernel({"a": 1.0, "b": 2.0}, {"b": 0.3, "c": 0.4})
def updated_by_another(d, o):
    e = dict(d)
    e.update(o)
    return e["b"] * e["c"] * e["a"]


@kernel({"a": 1.0, "b": 2.0})
def merged(d):
    e = {**d, "b": d["a"] * 3}
    return e["b"] * e["a"]


@kernel(draw(5, seed=6))
def addlists(x):
    a = [x[0], x[1]]
    b = [x[2]]
    c = a + b + [x[3]]
    return c[0] * c[2] * c[3]


@kernel(draw(5, seed=0))
def clear(x):
    l = [x[0]]
    a = l[0]
    l.clear()
    l.append(a * x[1])
    return l[0] * len(l)


@kernel(draw(5, seed=1))
def rotated(x):
    q = list(x)
    q = q[1:] + [q[0]]
    return q[1] * q[-1]


def weighed_sum(values, by=1.0):
    total = 0.0
    for k, v in enumerate(values):
        total += v * (k + by)
    return total


def first_and_rest(values):
    return values[0], weighed_sum(values)


KEPT = []


def keeping(values):
    KEPT.append(values)
    return values[0]


@kernel(draw(4, seed=1))
def lists_changed_between_calls(x):
    l = [np.sin(x[0]), x[1]]
    s = weighed_sum(l)
    l.insert(0, x[2] * s)
    first, t = first_and_rest(l)
    l.reverse()
    u = weighed_sum(values=l, by=first)
    gone = l.pop(1)
    return s + t * u - gone * weighed_sum(l)


def test_a_list_that_a_function_may_keep_stays_one():
    def f(x):
        l = [x, x * x]
        y = keeping(l)
        l.insert(0, 2.0 * y)
        return l[0] * l[1]

    with pytest.raises(sct.UnsupportedError):
        sct.grad(f)(1.5)


@kernel(draw(5, seed=2))
def insertneg(x):
    l = list(x)
    l.insert(-1, x[0] * x[1])
    l.insert(0, 2.0)
    l.insert(99, x[2])
    return l[-1] * l[-3] * l[0] * l[1]


@kernel(draw(5, seed=3))
def star(x):
    a, *b, c = x
    return a * c + sum(b)


@kernel(draw(5, seed=4))
def star2(x):
    l = [*x, x[0] * 2]
    a, *b = l
    b.append(a)
    return b[0] * b[-1] * b[-2]


@kernel(draw(5, seed=5))
def slices(x):
    l = list(x)
    h = l[:2]
    t = l[2:]
    h.append(t[0] * t[1])
    return h[2] * h[0] + sum(t)


@kernel(draw(5, seed=6))
def window(x):
    w = []
    s = 0.0
    for i in range(5):
        w.append(x[i] * x[i])
        if len(w) > 2:
            w.pop(0)
        s += sum(w) / len(w) * x[i]
    return s


@kernel(draw(5, seed=0))
def slice_write(x):
    l = list(x)
    h = l[:2]
    h[0] = x[4]
    return h[0] * h[1] * l[0]


@kernel([draw(3, seed=1), draw(3, seed=2)])
def slice_write_r(l):
    h = l[:1]
    h[0][1] = 3.0
    return np.sum(h[0] * l[0])


# -- sorting, choosing, folding -------------------------------------------------------


@kernel(draw(5, seed=3))
def sorted_numbers(x):
    l = sorted(x)
    return l[0] * l[1] + l[-1] ** 2


@kernel(draw(5, seed=4))
def sorted_by_key(x):
    l = sorted(x, key=lambda t: -t)
    return l[0] * l[1]


@kernel(draw(5, seed=5))
def sorted_in_reverse(x):
    l = sorted(x * x, reverse=True)
    return l[0] * l[1]


@kernel(draw(5, seed=6))
def pairs_sorted(x):
    l = sorted([(x[i], x[i] * i) for i in range(5)], key=lambda p: p[1])
    return l[0][0] * l[-1][1]


@kernel({"b": 1.0, "a": 2.0})
def items_sorted(d):
    best = sorted(d.items(), key=lambda kv: kv[1])[0]
    return best[1] ** 2


@kernel(draw(5, seed=0))
def largest_by_key(x):
    return max(x, key=lambda t: t * t)


@kernel(np.array([1.3, 0.9, 0.6, 1.1, 0.8]))
def index_of_least(x):
    k = min(range(5), key=lambda i: x[i])
    return x[k] * x[0]


@kernel([(1.0, 2.0), (3.0, 0.5)])
def pair_of_least(ps):
    p = min(ps, key=lambda q: q[1])
    return p[0] * p[1]


@kernel(draw(5, seed=2))
def folded(x):
    return functools.reduce(lambda a, b: a * b + 1.0, x)


@kernel(draw(5, seed=3))
def folded_product(x):
    return reduce(operator.mul, list(x), 1.0)


@kernel(draw(5, seed=4))
def folded_display(x):
    return reduce(lambda a, b: a * b, [x[0], x[1], x[2]]) * reduce(max, x)


def comb(a, b):
    return a * b - a


@kernel(draw(5, seed=5))
def folded_generator(x):
    return reduce(comb, (t * t for t in x), x[0])


@kernel([draw(3, seed=6), draw(3, seed=0)])
def folded_arrays(l):
    return np.sum(reduce(np.multiply, l))


@kernel(draw(5, seed=1))
def accumulated(x):
    l = list(itertools.accumulate(x))
    return l[2] * l[-1]


@kernel(draw(5, seed=2))
def accumulated_in_a_loop(x):
    s = 0.0
    for t in itertools.accumulate(x, operator.mul):
        s += t * t
    return s


@kernel(draw(5, seed=3))
def sorted_in_place(x):
    l = list(x)
    l.sort()
    return l[0] * l[1]


@kernel(draw(5, seed=4))
def sorted_in_place_by_key(x):
    l = [t * t for t in x]
    l.sort(key=lambda t: -t, reverse=True)
    return l[0] * l[1]


@kernel(draw(5, seed=5))
def median(x):
    l = sorted(list(x))
    n = len(l)
    return (l[n // 2] + l[(n - 1) // 2]) / 2 * l[0]


@kernel(draw(5, seed=6))
def sortedsum(x):
    return sum(sorted(x)[1:-1])


@kernel(draw(5, seed=0))
def topk(x):
    return sum(t * t for t in sorted(x, reverse=True)[:2])


@kernel(draw(4))
def product_of_lists(x):
    a = [[x[0], x[1]], [x[2], x[3]]]
    c = [[0.0, 0.0], [0.0, 0.0]]
    for i in range(2):
        for j in range(2):
            for k in range(2):
                c[i][j] += a[i][k] * a[k][j]
    return c[0][1] * c[1][0] + c[0][0]


@kernel(draw(3))
def second_name_of_a_list(x):
    sums = [0.0, x[2]]
    same = sums
    same[0] += x[0] * x[1]
    return sums[0] * same[1]


@kernel([[1.0, 2.0], [3.0, 4.5]])
def elimination_in_lists(a):
    for i in range(2):
        for j in range(i + 1, 2):
            f = a[j][i] / a[i][i]
            for k in range(i, 2):
                a[j][k] -= f * a[i][k]
    return a[0][0] * a[1][1]


# -- any number of arguments ----------------------------------------------------------


@kernel(1.0, 2.0)
def star_top(*xs):
    s = 0.0
    for q in xs:
        s = s + q * q
    return s


@kernel(1.0, 2.0, 3.0, wrt=(1,))
def star_mid(*xs):
    s = 1.0
    for k, q in enumerate(xs):
        s = s * q + k
    return s


@kernel(1.0, draw(3, seed=1), 2.0, wrt=(0, 1))
def star_arr(a, *xs):
    return sum(np.sum(q) * a for q in xs) * xs[0][1]


@kernel(1.0, 2.0, wrt=(0, 1))
def star_kw(*xs, **o):
    total = 0.0
    for k, x in enumerate(xs):
        total = total + (k + 1) * np.sum(x * x)
    return total * o.get("gain", 3.0)


@kernel({"w": draw(3), "s": 0.4})
def methods_of_parts(d):
    twice = d["w"] * 2.0
    return d["w"].mean() * d["s"] + d["w"].dot(twice) + d["w"].reshape(-1)[0]


@kernel([draw(3), draw(3, seed=1)])
def methods_of_items(rows):
    total = 0.0
    for row in rows:
        total += row.mean() * row.sum()
    return total


@kernel(0.3, 0.4)
def list_of_each_turn_that_grows(b, x):
    for _ in range(3):
        items = [np.sin(b)]
        items.append(np.sin(x))
        b = sum(items)
    return b


@kernel(draw(3))
def ragged_tuple_read_in_a_list(u):
    parts = {"t": (np.sin(u), np.cos(np.sum(u)))}
    parts = (1.0, np.tanh(parts["t"][0]))
    w = sum(map(lambda t: t, [np.tanh(np.max(parts[1])), 1.0]))
    return np.sum(parts[1][1:]) * w


@kernel((0.9, draw(3)))
def items_of_unlike_shapes(c):
    return np.max(c[0] - c[1]) + np.sum((c[1] * c[0]) ** 2)


@kernel([0.3, 0.5, 0.7])
def sum_of_a_list_of_numbers(c):
    c[1] += 2.0 * c[0]
    return sum(c) * c[-1]


@kernel(draw(3, 2))
def sum_of_the_rows_of_an_array(x):
    return np.sum(sum(x) * x[0])


def pair_apart(pair):
    u, v = pair
    return u * v


def pair_beside(x):
    return x, (x * x, 3.0 * x)


def pairs_beside(x):
    return (x, 1.0), pair_beside(x)


@kernel(0.7)
def pair_of_a_result_taken_apart_elsewhere(x):
    a, pair = pair_beside(x)
    return pair_apart(pair) * a


@kernel(0.7)
def pair_in_a_pair_of_a_result(x):
    _, both = pairs_beside(x)
    a, pair = both
    return pair_apart(pair) * a


@kernel(0.7)
def pair_of_a_result_taken_apart_twice(x):
    (_, one), (a, pair) = pairs_beside(x)
    return pair_apart(pair) * a * one + pair_apart(pair)


def pairs_of_pairs(x):
    return pairs_beside(x), pairs_beside(2.0 * x)


@kernel(0.7)
def pairs_read_by_number(x):
    both = pairs_beside(x)
    return pair_apart(both[1][1]) * both[0][0] + both[1][0]


@kernel(0.7)
def pair_out_of_a_list_taken_apart_twice(x):
    pairs = [(x, 2.0 * x)]
    pairs.append((x * x, 3.0 * x))
    pair = pairs.pop()
    return pair_apart(pair) * x + pair_apart(pair)


@kernel(0.7)
def pairs_of_a_result_taken_apart_step_by_step(x):
    (first, second), (third, _) = pairs_of_pairs(x)
    a, one = first
    _, pair = second
    b, _ = third
    u, v = pair
    return a * one * u * v * b


@kernel(0.7)
def pairs_of_results_in_a_loop(x):
    total = 0.0
    for _ in range(3):
        (_, one), (a, pair) = pairs_beside(x)
        total = total + pair_apart(pair) * a * one + pair[0]
    return total


@pytest.mark.parametrize("f, args, wrt", KERNELS)
def test_gradient(f, args, wrt):
    check(f, args, wrt)


# -- what comes back -------------------------------------------------------------------
def mixed(p):
    return np.sum(p["w"]) * p["pair"].b


def test_what_has_no_derivative_stands_as_none():
    p = {
        "w": draw(2),
        "n": 3,
        "name": "model",
        "flag": True,
        "none": None,
        "act": np.tanh,
        "mask": np.array([True, False]),
        "pair": Pair(draw(2), 0.5),
        "tags": ["a", 1],
    }
    bar = sct.grad(mixed)(p)
    assert list(bar) == list(p)
    assert [bar[k] for k in ("n", "name", "flag", "none", "act", "mask")] == [None] * 6
    assert bar["tags"] == [None, None]
    assert type(bar["pair"]) is Pair and bar["pair"].n is None
    np.testing.assert_allclose(bar["w"], [0.5, 0.5])
    np.testing.assert_array_equal(bar["pair"].w, np.zeros(2))


def differences_of_items(rows):
    total = 0.0
    for i in range(len(rows) - 1):
        total += np.sum((rows[i + 1] - rows[i]) ** 2)
    return total


def test_items_that_are_taken_to_be_alike_must_be():
    df = sct.grad(differences_of_items)
    rows = [np.array([1.0, 2.0]), np.array([0.5, 1.0])]
    np.testing.assert_allclose(df(rows), [[1.0, 2.0], [-1.0, -2.0]])
    with pytest.raises(sct.ArgumentError, match="taken to be alike"):
        df([np.array([1.0, 2.0]), 0.5])


def test_gradients_are_of_the_kind_of_their_argument():
    frozen = Frozen(draw(3), 0.3)
    bar = sct.grad(frozen_unused)(frozen)
    assert type(bar) is Frozen and bar.b == 2.0 and bar.name is None
    np.testing.assert_array_equal(bar.w, np.zeros(3))
    slotted_bar = sct.grad(slotted)(Slotted(np.ones(2), 0.4))
    assert type(slotted_bar) is Slotted and slotted_bar.b == 2.0
    table = collections.defaultdict(list, a=draw(3), b=2.0)
    assert type(sct.grad(ordered_dict)(table)) is collections.defaultdict


def two_places(d):
    d["u"][0] = 2.0 * d["v"][1]
    return np.sum(d["u"] * d["v"])


def test_one_array_in_two_places_of_what_is_written_into_is_refused():
    a = draw(3)
    with pytest.raises(sct.ArgumentError, match="two places"):
        sct.grad(two_places)({"u": a, "v": a})
    with pytest.raises(sct.ArgumentError, match="two places"):
        sct.grad(two_places)({"u": a[:2], "v": a[1:]})


@pytest.mark.parametrize(
    "f",
    [
        named_tuple,
        frozen_nested,
        plain_nested,
        table_of_least_costs,
        sorted_by_key,
        columns_unpacked,
    ],
)
def test_saved_derivatives_stand_alone(f, tmp_path):
    (args,) = [p.values[1] for p in KERNELS if p.values[0] is f]
    path = tmp_path / "saved.py"
    path.write_text(sct.source(sct.grad(f)))
    text = path.read_text()
    assert "import sct" not in text and "from sct" not in text
    compile(text, str(path), "exec")


def remade_while_its_second_name_lasts(x):
    items = [x[0], np.sum(x)]
    before = items
    for i in range(3):
        before[0] = before[0] * np.sin(items[1])
        items = [before[0], items[1] * x[i]]
    return before[0] + items[0] * items[1]


def repeated_rows(x):
    table = [[0.0] * 2] * 2
    table[0][1] = x[0] * x[1]
    return table[1][1] * x[2]


@pytest.mark.parametrize("f", [repeated_rows, remade_while_its_second_name_lasts])
def test_what_two_names_may_see_is_refused(f):
    with pytest.raises(sct.SctError):
        sct.grad(f)(draw(4))


def transposed_part(x):
    d = dict(p=np.sum(x), q=np.outer(np.cos(x), x))
    return np.linalg.norm(d["q"].T @ d["q"] @ x + 3.0) + d["p"]


def test_the_transpose_of_a_part_is_added_to():
    x = np.array([0.7, 1.2, 0.4])
    bar = sct.grad(transposed_part)(x)
    for i in range(3):
        h = 1e-6 * (np.arange(3) == i)
        slope = (transposed_part(x + h) - transposed_part(x - h)) / 2e-6
        assert bar[i] == pytest.approx(slope, rel=1e-6)
