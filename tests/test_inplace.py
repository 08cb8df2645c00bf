"""Arrays that are written in place, by every way that NumPy has: right, or refused."""

import inspect

import numpy as np
import pytest

import sct

from .test_kernels import check, draw
from .test_sharing import differences

CASES: list = []


def case(*args, wrt=None):
    """The function below, differentiated with respect to all of `args` or to `wrt`."""

    def keep(f):
        chosen = tuple(range(len(args))) if wrt is None else wrt
        CASES.append(pytest.param(f, args, chosen, id=f.__name__))
        return f

    return keep


# -- functions and methods that write into an array ------------------------------------
@case(draw(5), draw(4, seed=1))
def added_at_repeated_indices(x, y):
    a = x * x
    np.add.at(a, [0, 1, 1, -4], y * a[:4])
    return np.sum(a**3)


@case(draw(5), draw(4, seed=1), np.array([3, 0, 3, 3]), wrt=(0, 1))
def subtracted_at_an_argument(x, y, k):
    np.subtract.at(x, k, y * y)
    return np.sum(x**3)


@case(draw(4, 3), draw(2, 3, seed=1))
def rows_added_at(a, y):
    np.add.at(a, np.array([2, 2]), y * a[1:3])
    np.add.at(a, (np.array([1, 1]), np.array([0, 0])), y[:, 1])
    np.add.at(a, (slice(None), np.array([1, 1, 0])), y[0])
    return np.sum(a**3)


@case(draw(4, 3), 0.7)
def a_number_added_at_a_row(a, s):
    row = a[1]
    np.add.at(row, [0, 0, 2], s * row[1])
    np.add.at(row, slice(1, 3), s)
    return np.sum(a**3)


@case(draw(6), draw(6, seed=1), np.array([0, 0, 1, 2, 2, 2]), wrt=(0, 1))
def histogram_in_a_loop(x, w, k):
    total = np.zeros(3)
    for _ in range(3):
        np.add.at(total, k, w * x)
        w = w * total[k]
    return np.sum(total * total)


@case(draw(4), draw(4, seed=1))
def multiplied_at_places_that_differ(x, y):
    np.multiply.at(x, slice(1, None), y[1:] * x[0])
    np.divide.at(x, 2, y[0])
    np.multiply.at(x, slice(None), 2.0)
    return np.sum(x**3)


@case(draw(4), draw(3, seed=1))
def put_in_places(x, y):
    a = x * x
    np.put(a, [3, 0, 3], y)
    np.put(a, [1, 2], a[0] * y[0])
    a.put(np.array([1]), 2.0)
    return np.sum(a**3)


@case(draw(3, 4), draw(2, seed=1))
def put_fewer_values_than_places(a, y):
    np.put(a, [1, 5, 7, 10, 11], y * y)
    return np.sum(a**3)


@case(draw(3, 4), draw(3, seed=1))
def placed_where(a, y):
    np.place(a, a > 0.9, y * a[0, 0])
    return np.sum(a**3)


@case(draw(5), np.array([0, 1, 1, 0, 2]), draw(2, seed=1), wrt=(0, 2))
def placed_by_a_mask_of_integers(x, mask, y):
    a = x * x
    np.place(a, mask, y)
    return np.sum(a**3)


@case(draw(3, 4), draw(3, 4, seed=1))
def masked_put(a, b):
    np.putmask(a, a > 0.9, a * b)
    np.putmask(a, a < 0.6, 0.5)
    return np.sum(a**3)


@case(draw(3, 4), draw(4, seed=1), draw(3, 1, seed=2))
def copied_where(a, row, column):
    np.copyto(a, row * row, where=a > 0.9)
    np.copyto(a, column, where=a < 0.7)
    np.copyto(src=row, dst=a[1])
    return np.sum(a**3)


@case(draw(4, 4), draw(4, seed=1), 0.7)
def diagonals_filled(a, d, s):
    np.fill_diagonal(a, d * a[0])
    b = a[:, :2] * s
    np.fill_diagonal(b, s * s)
    c = np.ones((3, 3, 3)) * s
    np.fill_diagonal(c, d[:3])
    return np.sum(a**3) + np.sum(b**3) + np.sum(c**3)


@case(draw(3, 4), draw(3, 1, seed=1), draw(1, 4, seed=2))
def put_along_axes(a, y, z):
    np.put_along_axis(a, np.argmax(a, axis=1)[:, None], y * y, axis=1)
    np.put_along_axis(a, np.argmin(a, axis=0)[None], z, 0)
    np.put_along_axis(a, np.array([1, 3]), y[0, 0] * z[0, :2], None)
    return np.sum(a**3)


@case(draw(3, 4), np.array([0.9, 0.3, 1.4, 0.6, 1.1]))
def sorted_in_place(a, x):
    weights = np.arange(12.0).reshape(3, 4)
    a *= a
    a.sort()
    a.sort(axis=0, kind="stable")
    x.sort()
    return np.sum(a * weights) + x[0] * x[3] ** 2


@case(draw(4, 3))
def rows_sorted_in_a_loop(a):
    for row in a:
        row.sort()
        row[1:] *= row[:-1]
    return np.sum(a * a)


@case(draw(3), 0.4)
def filled_by_a_method(x, s):
    a = np.outer(x, x)
    a[1].fill(s * a[0, 0])
    a.T[2].fill(s)
    return np.sum(a**3)


@case(draw(4), draw(4, seed=1))
def out_where(x, y):
    z = x * y
    np.divide(x, x - y, out=z, where=x > y)
    np.log(y, out=z, where=y > 1.0)
    np.multiply(z, 2.0, z, where=x < 1.0)
    return np.sum(z**3)


@case(np.array([-1.0, 0.7, 1.2]))
def out_where_it_is_defined(x):
    z = np.zeros(3)
    np.log(x, out=z, where=x > 0.0)
    np.divide(z, x, out=z, where=[False, True, True])
    return np.sum(z * z) + x[0]


@case(draw(3, 4), draw(4, seed=1), draw(3, seed=2))
def out_where_shapes_differ(a, row, column):
    z = a * 1.0
    np.multiply(row, column[:, None], out=z, where=a > 0.9)
    np.exp(row, out=z, where=row > 1.0)
    return np.sum(z * z)


@case(draw(3), 0.7)
def lists_stored(x, s):
    a = np.zeros(4)
    a[1:3] = [x[0] * s, x[1]]
    a[[0, 3]] = (s, x[2] * x[2])
    a[:2] += [x[2], s]
    return np.sum(a**3)


# -- through other shapes --------------------------------------------------------------
@case(draw(2, 3), 0.7)
def flat_elements(a, s):
    a.flat[4] = s * a[0, 0]
    a.flat[[0, 5]] *= s
    a.flat[1:3] += a.flat[3:5]
    return np.sum(a**3)


@case(draw(2, 3), 0.7)
def flat_named(a, s):
    f = a.flat
    for k in range(1, 6):
        f[k] = f[k - 1] * s + f[k]
    return np.sum(a**3)


@case(draw(2, 3))
def values_of_the_flat_iterator_are_copies(a):
    f = a.flat
    part = f[1:4]
    a[0] = 2.0 * a[1]
    return np.sum(part * part) * a[0, 1]


@case(draw(4), 0.7)
def another_shape_named(x, s):
    a = x * x
    m = a.reshape(2, 2)
    m[0] = m[1] * s
    m[:, 1] *= m[:, 0]
    a[0] += m[1, 1]
    return np.sum(a**3) * np.sum(m)


@case(draw(12))
def shape_of_a_shape(x):
    m = x.reshape(3, 4)
    t = np.reshape(m, (2, 2, 3))
    t[0, 1] = m[0, :3] * x[-1]
    m[2] *= t[0, 0, 0]
    return np.sum(x**3)


@case(draw(3, 4))
def row_in_another_shape(a):
    for row in a:
        pairs = row.reshape(2, 2)
        pairs[0] += pairs[1] * row[3]
    return np.sum(a**3)


@case(draw(3, 4))
def whole_of_another_shape(a):
    f = np.ravel(a)
    f *= f[::-1].copy()
    g = a.ravel()
    g += f[0]
    return np.sum(a**3) + np.dot(f, g)


@case(draw(3, 4), draw(3, seed=1))
def axes_exchanged(a, x):
    s = a.swapaxes(0, 1)
    s[0] = x * s[1]
    np.transpose(a)[2] *= x
    a.transpose(1, 0)[3, 1:] = x[1:]
    return np.sum(a**3)


@case(draw(1, 4))
def squeezed(a):
    v = a.squeeze()
    v[1:] *= v[:-1]
    np.squeeze(a, 0)[0] = v[3]
    return np.sum(a**3)


@case(draw(6), 3, wrt=(0,))
def shape_known_when_it_runs(x, n):
    m = x.reshape(n, -1)
    for i in range(1, n):
        m[i] = m[i - 1] * m[i]
    return np.sum(x * x)


@case(draw(3, 2))
def adjoint_that_comes_in_another_order(a):
    b = a * a
    b.reshape(-1)[2] = b[0, 0] * 3.0
    c = b.T * np.arange(6.0).reshape(2, 3)
    return np.sum(c * c)


@case(draw(3, 2), draw(2, 3, seed=1))
def reshaped_in_a_loop_beside_products(a, w):
    b = a * 1.0
    for _ in range(3):
        b.reshape(-1)[1:4] *= b.ravel()[2:5]
        b = (w.T * b.T.copy().T) * b
    return np.sum(b)


@case(draw(4, 3))
def read_in_another_shape_after_a_write(a):
    f = a.reshape(-1)
    s = np.sum(f * f)
    a[0] *= s
    return s * f[0] + np.dot(f[:3], f[3:6])


# -- before and after in one statement -------------------------------------------------
@case(draw(5))
def both_sides(x):
    x[1:-1] = x[:-2] * x[2:] - x[1:-1] * x[0]
    x[0] = x[0] * x[-1]
    return np.sum(x**3)


@case(draw(5))
def overlap_to_the_right(x):
    x[1:] = x[:-1]
    x[1:] *= x[:-1]
    x[2:] += x[:-2] * x[2:]
    return np.sum(x**3)


@case(draw(6))
def overlap_with_steps(x):
    x[::2] = x[1::2] * x[::2]
    x[::-1] = x * x
    x[1:5] -= x[4:0:-1]
    return np.sum(x**3)


@case(draw(4))
def a_shift_in_a_loop(x):
    for _ in range(3):
        x[1:] = x[:-1] * x[1:]
        x[0] = x[-1]
    return np.sum(x * x)


@case(draw(4, 4))
def rows_exchanged(a):
    a[[0, 1]] = a[[1, 0]]
    a[:, [0, 3]] = a[:, [3, 0]] * a[:, [1, 2]]
    a[[2, 3]] *= a[[3, 2]]
    return np.sum(a**3)


@case(draw(4, 4))
def rows_exchanged_one_by_one(a):
    for i in range(2):
        a[i], a[3 - i] = a[3 - i].copy(), a[i].copy()
        a[i] *= a[3 - i]
    return np.sum(a * np.arange(16.0).reshape(4, 4))


@case(draw(3, 3))
def pivoted(a):
    for k in range(2):
        p = k + int(np.argmax(np.abs(a[k:, k])))
        a[[k, p]] = a[[p, k]]
        for i in range(k + 1, 3):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return a[0, 0] * a[1, 1] + a[2, 2] * a[2, 0]


@case(draw(5))
def elements_rotated(x):
    x[0], x[1], x[2] = x[2] * x[0], x[0], x[1]
    x[3], x[4] = x[4], x[3] * x[0]
    return np.sum(x * x * np.arange(1.0, 6.0))


@case(draw(5))
def bubbles(x):
    for i in range(4):
        for j in range(4 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return np.sum(x**2 * np.arange(5.0))


@case(draw(6))
def index_read_from_what_is_written(x):
    k = np.argsort(x)
    x[k] = x[k[::-1]] * x
    x[k[0]] += x[k[1]] * x[k[2]]
    return np.sum(x**3)


@case(draw(3))
def chained_targets(x):
    a, b = np.zeros(3), np.zeros(3)
    a[:] = b[1:] = x[0]
    a[0] = b[0] = x[1] * a[2]
    return np.sum(a * b * x)


@case(draw(4))
def walrus_and_store(x):
    a = x * x
    a[1] = (t := a[0] * x[1]) * t
    a[2:] = (a[:2] * t)[::-1]
    return np.sum(a) * t


# -- two names for one array -----------------------------------------------------------
@case(draw(4))
def two_names_in_turn(x):
    a = x * x
    b = a
    for i in range(1, 4):
        a[i] *= b[i - 1]
        b[i - 1] += a[i]
    return np.sum(a * b)


@case(draw(4), draw(4, seed=1))
def names_that_change_hands(u, v):
    for _ in range(3):
        u[1:] *= v[:-1]
        u, v = v, u
        u[0] = v[3] * u[0]
    return np.sum(u * u * v)


@case(draw(3), draw(3, seed=1), draw(3, seed=2))
def three_buffers(u, v, w):
    for _ in range(4):
        w[:] = u * v
        w[1:] += u[:-1]
        u, v, w = v, w, u
    return np.sum(u * v * w)


@case(draw(4), 3, wrt=(0,))
def buffer_swapped_by_a_third_name(x, n):
    old, new = x.copy(), np.zeros(4)
    for _ in range(n):
        new[:-1] = old[1:] * old[:-1]
        new[-1] = old[0]
        spare = old
        old = new
        new = spare
    return np.sum(old * old) + new[0]


@case(draw(3, 3))
def rows_named_and_whole_read(a):
    first, last = a[0], a[-1]
    first[...] += last * last
    last[...] *= first
    return np.sum(a**3) + np.sum(first * last)


@case(draw(3))
def numbers_named_and_whole_read(a):
    first, last = a[0], a[-1]
    first += last * last
    last *= first
    return np.sum(a**3) + first * last


@case(draw(3), draw(3, seed=2))
def view_that_ends_before_its_name_is_written_into(u, v):
    part = v[::-1]
    s = np.sum(part**2)
    for k in range(2):
        part = np.zeros(3)
        row = part
        row[:2] += s * u[k]
    return np.sum(part * v)


@case(draw(3))
def name_of_an_array_and_then_of_a_number(u):
    for _ in range(2):
        a = u[-1]
    np.sin(u, out=u)
    u = np.sum(u) * a
    return u * u


@case(draw(3))
def name_of_what_is_written_into_and_then_of_its_sum(u):
    np.sin(u, out=u)
    u = np.sum(u)
    return u * u


@case(draw(3))
def number_with_two_names(a):
    v = a[0]
    u = v
    v += a[2]
    return u * v + np.sum(a)


def rows_added_to(a):
    first, last = a[0], a[-1]
    first += last * last
    return np.sum(a) + np.sum(first)


def test_rows_that_are_taken_for_numbers_are_refused_when_it_runs():
    with pytest.raises(sct.ArgumentError, match="write into rows with"):
        sct.grad(rows_added_to)(np.ones((3, 3)))


@case(draw(3, 3))
def row_read_after_the_array_is_written(a):
    row = a[1]
    a[1, 0] = a[0, 0] * a[2, 2]
    a *= 2.0
    s = np.sum(row * row)
    a[:] = 1.0
    return s * np.sum(row)


@case(draw(4, 4))
def block_named(a):
    block = a[1:3, 1:3]
    block *= a[:2, :2]
    block[0] += block[1]
    block.T[0] = a[3, :2]
    return np.sum(a**3)


@case(draw(3, 3))
def column_of_a_transpose(a):
    t = a.T
    column = t[:, 1]
    column[1:] *= column[:-1]
    t[2] = column.copy()
    return np.sum(a**3)


@case(draw(3, 4))
def rows_changed_in_a_loop(a):
    total = np.zeros(4)
    for row in a:
        row += total
        total += row[::-1] * row
        row /= total[0]
    return np.sum(a * a) + np.sum(total)


@case(draw(1)[0], draw(3))
def view_of_what_changes_before_its_elements_are_used(b, v):
    v = v * 1.0
    for _ in range(3):
        item = v[1:]
        r = item[0]
        v[1:][0] = 0.3 * b
        b = b + r * b * b
        v[1:][1] += r * b
    return b + np.sum(v * v)


@case(draw(4, 3))
def index_that_moves_on(a):
    i = 0
    while i < 3:
        row = a[i]
        i += 1
        row[0] = row[1] * a[i, 2]
    return np.sum(a**3)


@case(draw(4, 3))
def index_that_a_loop_takes_over(a):
    i = 3
    row = a[i]
    for i in range(3):
        row[i] *= a[i, 0]
        a[i] += row
    return np.sum(a**3)


@case(draw(3, 4))
def size_that_changes(a):
    n = 2
    pairs = a.reshape(-1, n)
    n = 3
    pairs[n] *= pairs[0]
    rest = a[n - 2 :]
    n = 0
    rest[n] += rest[1] * a[n]
    return np.sum(a**3)


@case(draw(3, 4), draw(3, seed=1))
def rows_counted(a, x):
    for i, row in enumerate(a):
        row[:i] = x[i]
        row[i:] *= row[i]
    for row, v in zip(a[::-1], x):
        row -= v
    return np.sum(a**3)


@case(draw(2, 3, 2))
def rows_of_rows(a):
    for plane in a:
        for row in plane:
            row *= row[::-1].copy()
        plane[0] += plane[1]
    return np.sum(a**3)


@case(draw(3, 3))
def array_augmented_by_itself(a):
    a += a
    a *= a.T.copy()
    a -= a[0]
    return np.sum(a**3)


@case(draw(3, 3))
def augmented_by_its_transpose(a):
    a += a.T
    a[:] = a @ a
    return np.sum(a * a)


@case(draw(3), 0.3)
def copy_is_no_second_name(x, s):
    a = x * s
    b = a.copy()
    a[0] = 5.0 * s
    b *= a
    c = +b
    b[1] = 0.0
    return np.sum(c * b) + np.sum(a)


@case(draw(4), True, wrt=(0,))
def name_chosen_by_a_branch(x, first):
    a, b = x * x, x + 1.0
    if first:
        a[1:] *= b[:-1]
    else:
        b[1:] *= a[:-1]
    a[0] = b[3]
    return np.sum(a * b)


@case(draw(5))
def written_until(x):
    i = 0
    while x[i] < 1.3 and i < 3:
        x[i + 1] *= x[i]
        i += 1
        if x[i] > 2.0:
            break
        x[0] += x[i]
    return np.sum(x**2)


@case(draw(4))
def element_named_before_it_is_written(x):
    first = x[0]
    x[0] = x[1] * first
    x[1] = first * x[0]
    last = x[3]
    x[2:] = first
    return first * last * np.sum(x)


@case(draw(3), draw(3, seed=1))
def out_onto_an_operand(x, y):
    a = x * y
    np.multiply(a, a, out=a)
    np.add(a[1:], a[:-1], out=a[1:])
    np.negative(a, a)
    b = np.exp(a, out=y)
    b *= y
    return np.sum(a * y)


@case(draw(3, 3), draw(3, 3, seed=1))
def cumulated_onto_itself(a, b):
    np.cumsum(a * b, axis=0, out=a)
    np.clip(a, 0.5, 2.5, out=b)
    a.clip(0.1, 1.5, out=a)
    return np.sum(a**3) + np.sum(b**2)


@case(draw(4))
def single_precision_stays(x):
    a = np.zeros(4, dtype=np.float64)
    a[1:] = x[1:] * 2
    a[0] = 3
    a[np.array([True, False, True, False])] *= x[:2]
    return np.sum(a**2)


@case(draw(3))
def empty_places(x):
    a = x * x
    a[3:] = x[3:]
    a[a > 100.0] = x[0]
    np.add.at(a, np.array([], dtype=int), 1.0)
    return np.sum(a * x)


def helper_fills(a, x):
    a.fill(2.0)
    return x * x


@case(draw(3))
def helper_sorts_an_argument(x):
    a = x * x
    y = helper_fills(a, x)
    return np.sum(a * y)


@case(draw(2, 3), draw(3, 2))
def another_shape_beside_a_transpose(a, w):
    total = 0.0
    b = a * a
    for k in range(3):
        f = b.ravel()
        f[k] = f[k + 1] * f[k]
        f[k + 2] += f[0]
        total = total + np.sum(b.T * w) * f[1]
    return total


@case(draw(6))
def two_other_shapes(x):
    m = x.reshape(2, 3)
    n = x.reshape(3, 2)
    m[0, 1] = n[2, 0] * m[1, 2]
    n[1] *= m[0, :2]
    t = m.T
    t[0] += n[0]
    return np.sum(x**3)


@case(draw(2, 2, 3))
def planes_in_one_row(a):
    for plane in a:
        f = plane.reshape(-1)
        f[1:] *= f[:-1]
        for row in plane:
            row[0] += f[5]
    return np.sum(a**2)


@case(draw(4), draw(4, seed=1))
def masks_in_a_loop(x, y):
    for k in range(3):
        m = x > y * (0.8 + 0.2 * k)
        x[m] *= y[m]
        y[~m] += x[~m]
        x[m] += y[m]
    return np.sum(x * y)


@case(draw(4))
def smaller_operands(x):
    a = np.ones((3, 4))
    a *= x
    a[1:] *= a[0]
    a[:, 1] /= x[0]
    a[:, [0, 2]] **= 2
    a[a > 0.7] -= x[1]
    return np.sum(a**2)


@case(np.array([1.3, 1.7, 2.1]), np.array([0.6, -0.8, 1.4]))
def powers_and_remainders(x, y):
    x **= y
    z = x + y * y
    z[0] **= x[1]
    z[1:] %= x[:2]
    z %= 0.7 + y * y
    w = x + z
    w //= 9.0
    return np.sum(x * y + z + w)


@case(draw(3, 3), draw(3, 3))
def products_of_matrices(a, b):
    c = a * a
    c @= b
    d = np.stack([c, a])
    d[1] @= c
    return np.sum(c * d[1] * d[0])


@case(draw(3, 4))
def out_into_views(a):
    np.add(a[0], a[1], out=a[1])
    np.multiply(a[:, 1], a[:, 2], out=a.T[3])
    np.matmul(a[:, :3], a[:, 0], out=a[:, 1])
    return np.sum(a**2)


@case(draw(4))
def parts_sorted(x):
    a = x * x
    b = a[1:]
    b.sort()
    a[:2].sort()
    a[::-1].sort()
    return np.sum(a * np.arange(1.0, 5.0)) * b[0]


@pytest.mark.parametrize("f, args, wrt", CASES)
def test_gradient(f, args, wrt):
    check(f, args, wrt)


# -- refused ---------------------------------------------------------------------------
def multiplied_at_unknown_places(x, k):
    a = x * x
    np.multiply.at(a, k, 2.0)
    return np.sum(a)


def greater_of_repeated(x):
    a = x * x
    np.maximum.at(a, [0, 0], x[1:3])
    return np.sum(a)


def partitioned(x):
    a = x * x
    a.partition(1)
    return a[0]


def put_modulo(x):
    a = x * x
    np.put(a, [7], x[0], mode="wrap")
    return np.sum(a)


def resized(x):
    a = x * x
    a.resize((2, 2))
    return np.sum(a)


def locked(x):
    a = x * x
    a.setflags(write=False)
    return np.sum(a)


def real_parts(x):
    z = x * 1j
    z.real[0] = x[0]
    return np.sum(np.abs(z))


def diagonal_of_another_order(x):
    a = np.outer(x, x)
    f = a.ravel("F")
    f[1] = x[0]
    return np.sum(a)


def diagonal_view(x):
    a = np.outer(x, x)
    d = np.diagonal(a)
    d[0] = x[0]
    return np.sum(a)


def wrapped_diagonal(x):
    a = np.outer(x, x)[:, :1]
    np.fill_diagonal(a, x[0], wrap=True)
    return np.sum(a)


@pytest.mark.parametrize(
    "f, line",
    [
        (multiplied_at_unknown_places, 2),
        (greater_of_repeated, 2),
        (partitioned, 2),
        (put_modulo, 2),
        (resized, 2),
        (locked, 2),
        (real_parts, 2),
        (diagonal_of_another_order, 2),
        (diagonal_view, 2),
        (wrapped_diagonal, 2),
    ],
)
def test_refused(f, line):
    with pytest.raises(sct.UnsupportedError) as caught:
        sct.grad(f)
    assert caught.value.filename == __file__
    assert caught.value.lineno == inspect.getsourcelines(f)[1] + line


# -- views that may be copies ----------------------------------------------------------
def written_by_another_shape(a):
    f = a.reshape(-1)
    f[1] = f[0] * 2.0
    return np.sum(a * a)


def local_written_by_another_shape(a):
    b = a.T
    b.ravel()[1] = 2.0
    return np.sum(b * b)


def part_written_by_another_shape(a):
    b = a * 2.0
    for k in range(2):
        part = b[:, 1:]
        part.reshape(-1)[k] = a[0, k]
    return np.sum(b * b)


@pytest.mark.parametrize(
    "f, a",
    [
        (written_by_another_shape, draw(3, 4).T),
        (written_by_another_shape, draw(3, 4)[:, ::2]),
        (local_written_by_another_shape, draw(3, 4)),
        (part_written_by_another_shape, draw(3, 4)),
    ],
)
def test_another_shape_that_is_a_copy(f, a):
    given = a.copy()
    df = sct.grad(f)
    with pytest.raises(sct.ArgumentError, match="not contiguous"):
        df(a)
    np.testing.assert_array_equal(a, given)


def test_another_shape_of_a_contiguous_argument():
    check(written_by_another_shape, (draw(3, 4),), (0,))


# -- what is kept ----------------------------------------------------------------------
LINEAR: list = []


def linear(*args, wrt=None):
    """A function of which the adjoint needs no value that was written over."""

    def keep(f):
        chosen = tuple(range(len(args))) if wrt is None else wrt
        LINEAR.append(pytest.param(f, args, chosen, id=f.__name__))
        return f

    return keep


@linear(draw(3, 2), draw(2, 4), draw(3, 4), 0.7, 1.3, wrt=(0, 1, 2, 3))
def gemm(A, B, C, alpha, beta):
    for i in range(3):
        for j in range(4):
            C[i, j] = beta * 2.0 * C[i, j]
            for k in range(2):
                C[i, j] += alpha * A[i, k] * B[k, j]
    return np.sum(C)


@linear(draw(3, 2), draw(2, 4), draw(3, 4))
def gemm_of_zeros(A, B, weights):
    C = np.zeros((3, 4))
    for i in range(3):
        for j in range(4):
            for k in range(2):
                C[i, j] += A[i, k] * B[k, j]
    return np.sum(C * weights)


@linear(draw(4, 3), draw(4, 4), 0.7)
def syrk(A, C, alpha):
    for i in range(4):
        C[i, : i + 1] *= 0.5
        for k in range(3):
            C[i, : i + 1] += alpha * A[i, k] * A[: i + 1, k]
    return np.sum(C)


@linear(draw(9), 5, wrt=(0,))
def jacobi(a, steps):
    b = a.copy()
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[1:-1] + a[2:]) / 3.0
        a[1:-1] = (b[:-2] + b[1:-1] + b[2:]) / 3.0
    return np.sum(a * a)


@linear(draw(5, 5), 4, wrt=(0,))
def seidel(a, steps):
    for _ in range(steps):
        for i in range(1, 4):
            for j in range(1, 4):
                a[i, j] = 0.25 * (a[i - 1, j] + a[i, j - 1] + a[i + 1, j] + a[i, j + 1])
    return np.sum(a * a)


@linear(draw(5, 5), 4, wrt=(0,))
def heat_in_two_arrays(u, steps):
    v = u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
            u[2:, 1:-1]
            - 4.0 * u[1:-1, 1:-1]
            + u[:-2, 1:-1]
            + u[1:-1, 2:]
            + u[1:-1, :-2]
        )
        u, v = v, u
    return np.sum(u * u)


@linear(draw(6), 0.5, 0.3, -0.2)
def recursive_filter(x, b, a1, a2):
    y = np.zeros(6)
    for n in range(2, 6):
        y[n] = b * x[n] - a1 * y[n - 1] - a2 * y[n - 2]
    return np.sum(y * y)


@linear(draw(6), np.array([0, 2, 2, 1, 0, 1]), draw(3, seed=1), wrt=(0, 2))
def scattered(x, k, y):
    np.add.at(y, k, 2.0 * x)
    np.subtract.at(y, k, x * x)
    return np.sum(y * y)


@linear(draw(3, 4), draw(4))
def views_added_to(a, y):
    for row in a:
        row += y
    a.T[1] = y[:3]
    a.reshape(-1)[::5] -= y[:3]
    a.fill(0.5)
    a[1] += y
    return np.sum(a * a)


@linear(np.tril(draw(5, 5)) + 3.0 * np.eye(5), draw(5, seed=1))
def triangular_solve(a, b):
    x = np.zeros(5)
    for i in range(5):
        x[i] = (b[i] - a[i, :i] @ x[:i]) / a[i, i]
    return np.sum(x * x)


@linear(np.tril(draw(5, 5)) + 3.0 * np.eye(5), draw(5, seed=1))
def triangular_solve_in_place(a, b):
    x = np.zeros(5)
    x[:] = b
    for i in range(5):
        for j in range(i):
            x[i] -= a[i, j] * x[j]
        x[i] = x[i] / a[i, i]
    return np.sum(x * x)


@linear(draw(5, 5) @ draw(5, 5).T + 3.0 * np.eye(5), draw(5, 5, seed=1))
def cholesky(a, w):
    for i in range(5):
        for j in range(i):
            s = a[i, j]
            for k in range(j):
                s -= a[i, k] * a[j, k]
            a[i, j] = s / a[j, j]
        s = a[i, i]
        for k in range(i):
            s -= a[i, k] * a[i, k]
        a[i, i] = np.sqrt(s)
    return np.sum(np.tril(a) * w)


@linear(draw(4, 4), draw(4, 3, seed=1), 0.7, 1.3)
def rank_k_update(c0, a, alpha, beta):
    c = c0.copy()
    total = 0.0
    for i in range(4):
        for j in range(i + 1):
            c[i, j] *= beta
        for k in range(3):
            for j in range(i + 1):
                c[i, j] += alpha * a[i, k] * a[j, k]
    for i in range(4):
        for j in range(i + 1):
            total += c[i, j] * c[i, j]
    return total


@linear(draw(4, 3) + 2.0, draw(4, seed=1))
def roots_read_where_they_were_put(a, w):
    out = np.zeros((4, 3))
    for i in range(4):
        for j in range(3):
            root = np.sqrt(a[i, j] + w[i])
            out[i, j] = root
            w[i] += root * root * a[i, j]
    return np.sum(out**3) + np.sum(w)


# Copies that are read after they were written into, or whose original changes.
@case(draw(5), draw(5, seed=1))
def copy_written_into_ahead(x, w):
    c = x.copy()
    for i in range(4):
        c[i] = c[i] * w[i]
        c[i + 1] = c[i + 1] * c[i]
    return np.sum(c**3)


@case(draw(5), draw(5, seed=1))
def copy_read_a_second_time(x, w):
    c = x.copy()
    for _ in range(2):
        for i in range(5):
            c[i] = c[i] * w[i]
    return np.sum(c**3)


@case(draw(5), draw(5, seed=1))
def copy_of_what_is_written_into(x, w):
    c = x.copy()
    for i in range(5):
        x[i] *= w[i]
        c[i] = c[i] * x[i]
    return np.sum(c**3) + np.sum(x)


@case(draw(5), draw(5, seed=1))
def copy_of_what_is_written_into_by_another_name(x, w):
    y = x
    c = x.copy()
    for i in range(5):
        y[i] *= w[i]
        c[i] = c[i] * y[i]
    return np.sum(c**3) + np.sum(x)


@case(draw(5), draw(5, seed=1))
def copy_of_what_is_bound_anew(x, w):
    y = x * w
    c = y.copy()
    y = w * w
    for i in range(5):
        c[i] = c[i] * y[i] * x[i]
    return np.sum(c**3)


@case(draw(5, 5), draw(5, seed=1))
def copy_of_which_rows_are_written_into(x, w):
    c = x.copy()
    c[2] = w
    for i in range(5):
        for j in range(5):
            c[i, j] = c[i, j] * w[j]
    return np.sum(c**3)


@case(draw(5), draw(5, seed=1))
def copy_read_once_for_the_sum_of_all(x, w):
    c = x.copy()
    for i in range(5):
        c[i] = c[i] * w[i] + c[i] * c[i] * w[i - 1]
    return np.sum(c**3)


# Indices that name no element twice, or look as if they did not.
@case(draw(3, 3), draw(3, seed=1), 3, wrt=(0, 1))
def stored_at_sequences(a, y, n):
    k = np.arange(n)
    rows, cols = np.tril_indices(n, -1)
    a[k, k] = y * y
    a[rows, cols] = y * a[0]
    a[cols, rows] = y * a[1]
    a[k] = a[k] * y
    return np.sum(a**3)


@case(draw(3), draw(4, seed=1))
def stored_at_a_sequence_from_the_end(a, y):
    k = np.arange(-1, 3)
    a[k] = y * y
    return np.sum(a**3)


@case(draw(3), draw(3, seed=1))
def stored_at_a_sequence_that_was_changed(a, y):
    k = np.arange(3)
    k[2] = 0
    a[k] = y * y
    return np.sum(a**3)


@case(draw(3, 3), draw(3, seed=1))
def stored_at_two_sequences(a, y):
    k, m = np.arange(3), np.arange(0, 6, 2) % 3
    a[m, k] = y * y
    a[m % 2, m % 2] = y * a[0]
    return np.sum(a**3)


@case(draw(3), draw(2, 3, seed=1))
def stored_at_a_sequence_more_than_once(a, y):
    k = np.arange(3)
    a[k] = y[0]
    for i in range(2):
        a[k] = y[i] * a[k]
    return np.sum(a**3)


# Parts that one statement reads twice.
@case(draw(6), draw(3, seed=1))
def parts_read_twice(x, w):
    total = 0.0
    for i in range(1, 5):
        total += x[i] * x[i] + w[0] * x[i] / x[i - 1] - x[i - 1] ** 2
        x[1:-1] = x[1:-1] * (x[1:-1] - x[:-2]) + x[:-2] * w[0]
    return total + np.sum(x**3)


@case(draw(6))
def parts_read_twice_with_a_change_between(x):
    rows = [x[0], x[1], x[2]]
    return rows[-1] * rows.pop() * rows[-1] + rows[0] * rows[0]


@case(draw(6), [2, 1, 0], wrt=(0,))
def counters_read_twice_with_a_change_between(x, k):
    return x[k[-1]] * x[k.pop()] * x[k[-1]] * x[k[-1]]


# Numbers that do not stay where they were put, or are not what stands there.
@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_written_over_in_a_later_turn(a, b):
    x = np.zeros(5)
    for i in range(4):
        x[i] = a[i] / b[i]
        x[i + 1] = x[i] * a[i]
    return np.sum(x**3)


@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_written_over_backwards(a, b):
    x = np.zeros(5)
    for i in range(4):
        x[i + 1] = a[i] / b[i]
        x[i] = x[i + 1] * a[i]
    return np.sum(x**3)


@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_written_over_when_all_are_there(a, b):
    x = np.zeros(4)
    for i in range(4):
        x[i] = a[i] / b[i]
    x *= a
    x[1] = 0.5
    return np.sum(x**3)


@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_in_an_array_that_is_replaced(a, b):
    x = np.zeros(4)
    for k in range(3):
        for i in range(4):
            x[i] = a[i] / b[i]
        x = x * a
        x[k] = a[k]
    return np.sum(x**3)


@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_in_an_array_of_each_turn(a, b):
    total = 0.0
    for k in range(3):
        x = np.zeros(4)
        for i in range(4):
            x[i] = a[i] / b[k] + np.sqrt(b[i])
        total += np.sum(x**3)
    return total


@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_at_a_place_that_is_computed(a, b):
    x = np.zeros(4)
    for i in range(4):
        k = (i * i) % 4
        x[k] = a[i] / b[i]
        a[i] = x[k] * x[k - 1]
    return np.sum(x**3) + np.sum(a)


@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_seen_by_another_name(a, b):
    x = np.zeros(4)
    y = x[::-1]
    for i in range(4):
        x[i] = a[i] / b[i]
        y[i] = b[i] * a[i]
    return np.sum(x**3)


@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_stored_on_one_path(a, b):
    x = np.zeros(4)
    for i in range(4):
        q = a[i] / b[i]
        if q > 1.0:
            x[i] = q
        x[0] += q * q
    return np.sum(x**3)


@case(draw(4) + 2.0, draw(4, seed=1) + 2.0)
def quotients_read_behind_their_store(a, b):
    x, total = np.zeros(4), 0.0
    for i in range(4):
        q = a[i] / b[i]
        x[i] = q
        for j in range(3):
            total += q * q * a[j] + np.exp(-q)
    return np.sum(x**3) + total


@pytest.mark.parametrize("f, args, wrt", LINEAR)
def test_nothing_is_kept_of_what_is_written_over(f, args, wrt):
    check(f, args, wrt)
    text = sct.source(sct.grad(f, wrt=wrt))
    assert "_stack" not in text and "_saved" not in text


def log_of_a_determinant(s, r):
    return np.log(np.linalg.det(s)) + r @ np.linalg.inv(s) @ r


def test_what_gives_a_number_tells_the_ranks():
    text = sct.source(sct.grad(triangular_solve, wrt=(0, 1)))
    assert "matmul_adjoint" not in text
    s, r = draw(3, 3) + 4.0 * np.eye(3), draw(3, seed=1)
    check(log_of_a_determinant, (s, r), (0, 1))
    text = sct.source(sct.grad(log_of_a_determinant, wrt=(0, 1)))
    assert "expand_dims(" not in text.partition("return s_bar, r_bar")[0]


# -- arrays of integers ----------------------------------------------------------------
def into_an_argument(x, k):
    k[0] = x
    return np.sum(k) * x


def into_a_copy(x, k):
    a = k.copy()
    a[0] = x
    return np.sum(a) * x


def into_a_row(x, k):
    row = k[None, :][0]
    row[1] = x
    return np.sum(k) * x


def into_an_item(x, k):
    parts = {"k": k}
    parts["k"][0] = x
    return np.sum(parts["k"]) * x


def into_a_range(x, k):
    a = np.arange(k[0], k[0] + 3)
    a[0] = x
    return np.sum(a) * x


INTO = [into_an_argument, into_a_copy, into_a_row, into_an_item, into_a_range]


@pytest.mark.parametrize("f", INTO)
def test_what_is_stored_into_integers_is_cut_and_refused(f):
    derivatives = [sct.grad(f), lambda x, k: sct.jvp(f)(x, k, x_dot=1.0)[1]]
    whole = np.arange(3)
    for df in derivatives:
        with pytest.raises(sct.ArgumentError, match="cut to an integer"):
            df(1.5, whole.copy())
        h = 1e-6
        expected = (f(1.5 + h, whole + 0.0) - f(1.5 - h, whole + 0.0)) / (2.0 * h)
        assert df(1.5, whole + 0.0) == pytest.approx(expected, rel=1e-8)


def arm_that_hands_on_one_adjoint_twice(a, b, v):
    x = np.zeros(3) + b
    y = (1.0 + v[1] ** 2) * b
    if 0.0 < a:
        x = 2.0 * a
    else:
        v = np.sin(v + x + y)
    return np.sum(v)


@pytest.mark.parametrize("a", [-1.0, 1.0])
def test_what_one_arm_owns_is_not_owned_in_the_other(a):
    # In one arm the adjoint of `v` is made anew, in the other it is that of `x` too.
    sct.check_grads(
        arm_that_hands_on_one_adjoint_twice, a, 0.3, np.array([0.4, 1.1, -0.7])
    )


def sorted_after_a_test(u, m):
    u, m = u * 1.0, m * 1.0
    if u[1] > 0.1:
        m[0] = m[1] * m[0]
    else:
        m[1] = m[0] * 3.0
    u.sort()
    return np.sum(m * m)


def test_a_test_is_not_made_again_on_an_array_that_has_changed():
    m = np.array([0.5, 1.5])
    for u in (np.array([0.5, -1.0, 2.0]), np.array([-1.0, 0.5, 0.05])):
        wanted = differences(lambda m, u=u: sorted_after_a_test(u, m), m)
        found = sct.grad(sorted_after_a_test, wrt=(0, 1))(u, m)[1]
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
