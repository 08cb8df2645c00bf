"""Arrays with two names, lists that grow, and calls that write: right, or refused."""

import collections

import numpy as np
import pytest

import sct

X = np.array([0.7, 1.2, 0.4])


def differences(f, x, h=1e-6):
    """The gradient of the sum of all that `f` returns, by central differences."""
    bar = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        up, down = x.copy(), x.copy()
        up[i] += h
        down[i] -= h
        bar[i] = (total(f(up)) - total(f(down))) / (2.0 * h)
    return bar


def total(value):
    parts = value if isinstance(value, (tuple, list)) else [value]
    return sum(np.sum(p) for p in parts)


# -- calls that write into what they are given -----------------------------------------
def fill_first(c, p):
    c[0] = 9.0
    return p * c


def augment(p):
    p += 1.0
    return p * p


def fill_by_another(c, p):
    return fill_first(c, p)


def sorts_a_constant(x):
    c = np.array([3.0, 1.0, 2.0])
    y = (x * c) ** 2
    c.sort()
    return np.sum(y * c)


def sorts_a_view_of_a_constant(x):
    c = np.array([[3.0, 1.0, 2.0]])
    y = (x * c) ** 2
    row = c[0]
    row.sort()
    return np.sum(y * c)


def fills_a_diagonal(x):
    c = np.ones((3, 3))
    y = (x * c) ** 2
    np.fill_diagonal(c, 7.0)
    return np.sum(y * c)


def puts(x):
    c = np.ones(3)
    y = (x * c) ** 2
    np.put(c, [0], 5.0)
    return np.sum(y * c)


def helper_writes_into_a_constant(x):
    c = np.array([3.0, 1.0, 2.0])
    y = (x * c) ** 2
    return np.sum(y * fill_first(c, x))


def helper_of_a_helper_writes(x):
    c = np.array([3.0, 1.0, 2.0])
    y = (x * c) ** 2
    return np.sum(y * fill_by_another(c, x))


def sums_into_a_third_argument(x):
    z = np.empty(())
    np.sum(x * x, 0, None, z)
    return z * x[0]


def writes_through_the_flat_view(x):
    z = x * x
    flat = z.flat
    flat[1] = 1.0
    return np.sum(z * x)


def writes_through_a_view_by_einsum(x):
    z = np.outer(x, x)
    d = np.einsum("ii->i", z)
    d[0] = 1.0
    return np.sum(z * x)


def writes_into_the_larger(x):
    z = x[:1] * 2.0
    y = max(z, x[1:2])
    y[0] = 1.0
    return np.sum(z * x)


def writes_through_a_view_of_a_constant(x):
    c = np.ones(3)
    d = c.view()
    y = (x * c) ** 2
    d[0] = 5.0
    return np.sum(y * c)


@pytest.mark.parametrize(
    "f",
    [
        writes_through_a_view_by_einsum,
        writes_into_the_larger,
        writes_through_a_view_of_a_constant,
        sums_into_a_third_argument,
    ],
)
def test_refused(f):
    with pytest.raises(sct.UnsupportedError, match=r"test_sharing\.py"):
        sct.grad(f)


def helper_augments(x):
    z = x * x
    return np.sum(augment(z) * z)


def test_augmenting_an_argument_is_refused_for_arrays_and_right_for_numbers():
    with pytest.raises(sct.SctError, match="array"):
        sct.grad(helper_augments)(X)
    assert sct.grad(helper_augments)(0.7) == pytest.approx(
        differences(helper_augments, np.array(0.7)), rel=1e-6
    )


# -- stores ----------------------------------------------------------------------------
def index_of_unknown_kind(x):
    z = np.zeros(3)
    z[...] = x
    places = iter([2, 1])
    z[next(places)] = x[0]
    return np.sum(z * x)


def swapped_in_a_loop(x):
    a, b = np.zeros(3), np.zeros(3)
    for i in range(3):
        a[i] = x[i] * 2.0
        b[:] = a
        a, b = b, a
    return np.sum(a * x + b * b)


def rows_of_a_list(x):
    rows = [np.zeros(3) for _ in range(3)]
    for i in range(3):
        rows[i][i] = x[i] * x[i - 1]
        rows[i - 1] += x
    return np.sum(np.stack(rows) ** 2)


def numbers_in_a_repeated_list(x):
    s = [0.0] * 3
    for i in range(6):
        s[i % 3] += x[i % 3] * x[i // 3]
    return s[0] * s[1] + s[2]


@pytest.mark.parametrize(
    "f",
    [
        helper_writes_into_a_constant,
        helper_of_a_helper_writes,
        index_of_unknown_kind,
        swapped_in_a_loop,
        rows_of_a_list,
        sorts_a_constant,
        sorts_a_view_of_a_constant,
        fills_a_diagonal,
        puts,
        writes_through_the_flat_view,
        numbers_in_a_repeated_list,
    ],
)
def test_stores(f):
    np.testing.assert_allclose(sct.grad(f)(X), differences(f, X), rtol=1e-6)


def left_after_a_name_of_one_path(x):
    s, i = 0.0, 0
    while i < 4:
        i += 1
        if s > 100.0:
            break
        for _ in range(2):
            z = np.tanh(x * i)
            s = s + z * z * x
        if s > 1.5:
            break
        s = s * z
    return s * z


@pytest.mark.parametrize("x", [0.3, 0.7, 1.3])
def test_a_break_nested_in_an_arm(x):
    expected = differences(left_after_a_name_of_one_path, np.array(x))
    assert sct.grad(left_after_a_name_of_one_path)(x) == pytest.approx(expected, 1e-6)


def chosen_by_what_is_kept(x):
    for _ in range(3):
        y = np.sin(x)
        z = y * y * y
        if y > 0.5:
            x = x * z
        else:
            x = np.cos(z) * x
    return x


def chosen_by_what_is_kept_beside_a_break(x):
    s = x
    for i in range(4):
        y = np.sin(s + i)
        s = s + y * y
        if y > 0.3:
            s = s * np.cos(y)
        else:
            t = y * s
            if t < -2.0:
                break
            s = s + t * t
    return s


def list_tested_at_the_end_of_a_turn(x):
    for i in range(3):
        items = []
        for _ in range(4):
            if i > 1:
                continue
            items.append(np.sin(x))
        x = max(items) if items else np.cos(x)
    return x


@pytest.mark.parametrize("x", [-1.3, -0.4, 0.3, 0.7, 1.3])
@pytest.mark.parametrize(
    "f",
    [
        chosen_by_what_is_kept,
        chosen_by_what_is_kept_beside_a_break,
        list_tested_at_the_end_of_a_turn,
    ],
)
def test_a_test_at_the_end_of_a_turn(f, x):
    expected = differences(f, np.array(x))
    assert sct.grad(f)(x) == pytest.approx(expected, rel=1e-6)


# -- names that come and go -----------------------------------------------------------
def rows_augmented(m):
    for row in m:
        row += row[::-1] * row
    return np.sum(m * m)


def row_augmented(m):
    row = m[0]
    row += m[1]
    return np.sum(m * m)


def swapped_and_written(m):
    u, v = m[0] * 1.0, m[1] * 1.0
    for i in range(3):
        u, v = np.sin(u + v), 0.6 * u
        part = v[1:]
        part[0] = u[i] * v[0]
        u[0] = part[1]
    return np.sum(u * v)


def buffers_exchanged(m):
    u, v = m[0] * m[1], np.zeros(3)
    for _ in range(3):
        for i in range(3):
            v[i] = np.sin(u[i]) * u[i - 1]
        u, v = v, u
    return np.sum(u * u)


@pytest.mark.parametrize(
    "f", [rows_augmented, row_augmented, swapped_and_written, buffers_exchanged]
)
def test_right_and_the_argument_as_it_was(f):
    m = np.outer([1.0, 0.6], X)
    given = m.copy()
    np.testing.assert_allclose(sct.grad(f)(m), differences(f, given), rtol=1e-6)
    np.testing.assert_array_equal(m, given)


def dotted(values):
    total = 0.0
    for x in values:
        total += np.sin(x)
    return total


def unused_call_of_an_adding_helper(x):
    for i in range(2):
        items = [x[0], x[i]]
        unused = dotted(items)
        del unused
    return np.sum(x * x)


def test_a_call_that_nobody_needs():
    f = unused_call_of_an_adding_helper
    np.testing.assert_allclose(sct.grad(f)(X), differences(f, X), rtol=1e-6)


# -- lists that grow -------------------------------------------------------------------
def grown_in_arms(x):
    path = [x]
    for i in range(4):
        if i % 2:
            path.append(path[-1] * path[0])
        else:
            path.append(np.sin(path[-1]))
    return path[-1] * path[-2]


def grown_after_a_loop_over_it(x):
    path = [x, x * x]
    s = 0.5
    for p in path:
        s += np.sin(p) * s + p
    path.append(x)
    path.append(s)
    return path[-1] * path[-2] * s


def constants_that_grow(x):
    c = [1.0]
    y = x
    for _ in range(3):
        y = y * y * c[-1]
        c.append(c[-1] + 1.0)
    return y * x


def grown_and_read_as_a_whole(x):
    acc = []
    for i in range(3):
        acc.append(x * i)
        y = np.array(acc)
        x = x + np.sum(y * y)
    return x


def grown_and_read_all_over(x):
    acc = []
    for i in range(3):
        acc.append(x * i)
        x = x + acc[i] * acc[i - 1] * acc[-1]
    return x


def grown_by_another_name(x):
    path = [x]
    same = path
    for _ in range(3):
        path.append(same[-1] * x)
    return same[-1] * same[1]


@pytest.mark.parametrize(
    "f",
    [
        grown_in_arms,
        grown_by_another_name,
        grown_after_a_loop_over_it,
        constants_that_grow,
        grown_and_read_as_a_whole,
        grown_and_read_all_over,
    ],
)
def test_grown_lists(f):
    expected = differences(f, np.array(0.7))
    assert sct.grad(f)(0.7) == pytest.approx(expected, rel=1e-6)


def grown_while_counted(x):
    path = [x, x * x]
    for i in range(len(path)):
        path.append(path[i] * x)
    return path[-1] * path[2]


def keys_that_may_be_one(x, key="a"):
    d = {"a": x, key: x * x}
    return d["a"] * 3.0


def repeated(x):
    parts = [x * x] * 2
    return parts[0] * parts[1]


def tuple_that_grows(x):
    t = (x,)
    for _ in range(3):
        t = t + (t[-1] * x,)
    return t[-1] * t[0]


@pytest.mark.parametrize(
    "f",
    [
        grown_while_counted,
        keys_that_may_be_one,
        repeated,
        tuple_that_grows,
    ],
)
def test_containers_refused(f):
    with pytest.raises(sct.UnsupportedError, match=r"test_sharing\.py"):
        sct.grad(f)


def masks(x):
    inside = (x > 0.5) | (x < -1.0) & (x > -2.0)
    return x * x * inside + (3 & 2) * x


def test_bitwise_operators_of_masks():
    assert sct.grad(masks)(0.7) == pytest.approx(3.4)


# -- the value beside the gradient -----------------------------------------------------
def writing(x):
    z = x * x
    z[0] = z[1] * z[0]
    z[1] = z[1] * z[0]
    return z


def value_of_a_helper(x):
    return writing(x)


def argument_itself(x):
    x[1:] *= x[0]
    x[1:] *= x[1:]
    return x


def view_and_number(x):
    z = x * x
    z[1:] *= x[0]
    z[1:] *= z[1:]
    w = z[1:]
    return w, x * x[0]


def row_and_table(x):
    table = np.outer(x, x)
    row = table[0]
    row[0] = 1.0
    return row, table


def recursive(x, n=2):
    z = x * x
    z[0] = z[1] * z[0]
    z[1] = z[1] * z[0]
    if n == 0:
        return z
    return recursive(z, n - 1)


@pytest.mark.parametrize(
    "f",
    [
        writing,
        value_of_a_helper,
        argument_itself,
        view_and_number,
        row_and_table,
        recursive,
    ],
)
def test_value_is_what_the_function_returns(f):
    expected = f(X.copy())
    pair = isinstance(expected, tuple)
    seed = tuple(map(np.ones_like, expected)) if pair else np.ones_like(expected)
    value, bar = sct.vjp(f)(X, out_bar=seed)
    for got, want in zip(*([value], [expected]) if not pair else (value, expected)):
        np.testing.assert_allclose(got, want)
    np.testing.assert_allclose(bar, differences(f, X), rtol=1e-6)


def sorted_in_place(x):
    x.sort()
    return np.sum(x * np.arange(1.0, 4.0) * x[0])


def test_an_argument_that_is_sorted_may_be_an_array():
    given = X.copy()
    np.testing.assert_allclose(
        sct.grad(sorted_in_place)(given), differences(sorted_in_place, X), rtol=1e-6
    )
    np.testing.assert_array_equal(given, X)


# -- arguments that are one array ------------------------------------------------------
def adds_into_the_first(u, v):
    u[1:] += v[:-1] * v[1:]
    return np.sum(u * v)


def test_an_argument_that_is_written_into_must_be_no_other():
    df = sct.grad(adds_into_the_first, wrt=(0, 1))
    z = np.arange(6.0)
    df(z[:3], z[3:])
    for u, v in [(X, X), (z[:4], z[2:]), (X[:], X)]:
        with pytest.raises(sct.ArgumentError, match="u and v share memory"):
            df(u, v)


Params = collections.namedtuple("Params", "scale weights")


def repeated_in_a_named_tuple(x):
    p = Params(x[0], x * x)
    p.weights[[0, 0, 2]] += x[1]
    return np.sum(p.weights * x)


def repeated_in_an_argument(p):
    p.weights[np.array([0, 0, 2])] += p.scale
    return np.sum(p.weights * p.weights)


def test_repeated_indices_into_what_a_container_holds():
    np.testing.assert_allclose(
        sct.grad(repeated_in_a_named_tuple)(X),
        differences(repeated_in_a_named_tuple, X),
        rtol=1e-6,
    )
    bar = sct.grad(repeated_in_an_argument)(Params(0.5, X.copy()))
    # The two stores at 0 write the same number: one of them counts.
    w = X + 0.5 * np.array([1.0, 0.0, 1.0])
    np.testing.assert_allclose(bar.weights, 2.0 * w)
    assert bar.scale == pytest.approx(2.0 * (w[0] + w[2]))


def elements_exchanged_beside_a_view(v):
    v[0], v[2] = v[2], v[0]
    for i in range(2):
        part = v[1:]
        part[0] = v[i] * v[0]
        part *= np.tanh(v[2])
    return np.sum(v * np.arange(1.0, 4.0))


def test_a_slice_beside_an_element_says_nothing_of_rows():
    f = elements_exchanged_beside_a_view
    np.testing.assert_allclose(sct.grad(f)(X.copy()), differences(f, X), rtol=1e-6)


def unpacked_and_written(c):
    x, y, z = c
    c[1] = x * y
    return np.sum(c) * y + z


def unpacked_rest_and_written(c):
    first, *rest = c
    c[1] = first * c[2]
    s = c[1]
    for v in rest:
        s = s + v * c[1] * v
    return s * first


def rest_of_an_array_of_known_rank(c):
    c[1] = c[0] * c[1]
    first, *rest = c
    s = 0.0
    for v in rest:
        s = s + v * v
    return first * s * c[1]


def rest_of_a_pair(c):
    _, *rest = c[0], c[1]
    s = 0.0
    for v in rest:
        s = s + v * v
    return s * c[2]


def greatest_of_elements(c):
    most = max(c[0], c[1], c[2])
    c[1] *= 2.0
    return most * np.sum(c)


@pytest.mark.parametrize(
    "f",
    [
        unpacked_and_written,
        unpacked_rest_and_written,
        rest_of_an_array_of_known_rank,
        rest_of_a_pair,
        greatest_of_elements,
    ],
)
def test_elements_that_have_names_when_the_array_is_written_into(f):
    np.testing.assert_allclose(
        sct.grad(f)(X.copy()), differences(f, X.copy()), rtol=1e-6
    )


def test_rows_that_have_names_are_not_taken_for_numbers():
    with pytest.raises(sct.ArgumentError, match="taken for numbers"):
        sct.vjp(unpacked_and_written)(np.ones((3, 2)), out_bar=1.0)


def array_and_then_number(c):
    c[1:] += c[:1]
    s = np.sin(c[-1]) * c[0]
    c = 0.5
    return s * c


def array_and_then_a_number_of_it(c):
    c[0] += c[1]
    c = np.tanh(c[-1] if c[0] > 1.0 else c[1])
    return c * c


@pytest.mark.parametrize("f", [array_and_then_number, array_and_then_a_number_of_it])
def test_an_array_that_is_written_into_and_then_a_number_of_its_name(f):
    np.testing.assert_allclose(
        sct.grad(f)(X.copy()), differences(f, X.copy()), rtol=1e-6
    )


def both(x, y):
    return x * y, x + y


def the_last_of_a_result(c):
    x, y = c[0], c[1]
    x, x = both(x, y)
    return x * x


def the_last_of_each_pair(c):
    s, x, y = 0.0, c[0], c[1]
    for x, x in zip([s, y], [y, c[2]]):  # noqa: B020
        s = s + x * y * x
    return s * x


def the_last_of_an_array(c):
    _, *_ = c * c
    a, *a, b = c
    return _[1] * a[0] * b


@pytest.mark.parametrize(
    "f", [the_last_of_a_result, the_last_of_each_pair, the_last_of_an_array]
)
def test_a_name_that_is_bound_twice_at_once_is_the_last(f):
    np.testing.assert_allclose(sct.grad(f)(X), differences(f, X), rtol=1e-6)


def test_a_rule_reads_results_that_have_no_name():
    def last_of_three(x):
        _, _, right = np.linalg.svd(x)
        return np.abs(right[0, 0]) * x[0, 0]

    x = np.array([[0.7, 0.2], [0.3, 1.4], [-0.5, 0.6]])
    np.testing.assert_allclose(
        sct.grad(last_of_three)(x), differences(last_of_three, x), rtol=1e-6
    )


def written_through_a_sibling(c):
    y = np.sin(c)
    z = y[1:]
    s = np.sum(z * c[:-1])
    w = y[1:]
    w[0] = 2.0
    return s


def fill_with_twice(x, s):
    x[0] = 2.0 * s


def written_through_a_sibling_by_a_helper(c):
    s = np.sum(c[1:] * c[:1])
    fill_with_twice(c[1:], 1.0)
    t = np.prod(c[::2])
    fill_with_twice(c[::-1], s)
    return s * t


@pytest.mark.parametrize(
    "f", [written_through_a_sibling, written_through_a_sibling_by_a_helper]
)
def test_two_views_of_one_array_are_not_told_apart_by_their_indices(f):
    np.testing.assert_allclose(
        sct.grad(f)(X.copy()), differences(f, X.copy()), rtol=1e-6
    )


def picked_by_arrays(c):
    m = np.outer(c, c)
    diagonal = m[np.arange(3), np.arange(3)]
    diagonal[0] = 5.0
    m[0] -= diagonal
    m[np.argsort(c)][0] = 7.0
    order = [0, 2]
    some = m[order]
    some *= 2.0
    large = c[c > 0.5]
    large[0] = 3.0
    return np.sum(m**2) * np.sum(some) + np.sum(large) * np.sum(c)


def picked_in_a_container(c):
    d = {"m": np.outer(c, c)}
    rows = d["m"][np.array([0, 2])]
    rows[0] = 2.0 * c
    k = np.argmax(c)
    row = d["m"][k]
    row[1] = c[0]
    return np.sum(d["m"] ** 2) * np.sum(rows)


@pytest.mark.parametrize("f", [picked_by_arrays, picked_in_a_container])
def test_what_an_array_picks_is_a_copy(f):
    np.testing.assert_allclose(
        sct.grad(f)(X.copy()), differences(f, X.copy()), rtol=1e-6
    )


def row_written(c, i):
    m = np.outer(c, c)
    row = m[i]
    row[0] = c[1]
    return np.sum(m**2)


def test_an_index_that_may_pick_is_checked():
    df = sct.grad(row_written)
    for i in (1, np.int64(2), slice(0, 2)):
        wanted = differences(lambda c, i=i: row_written(c, i), X)
        np.testing.assert_allclose(df(X, i), wanted, rtol=1e-6)
    for i in ([0, 1], np.array([0, 1]), np.array(1), True):
        with pytest.raises(sct.ArgumentError, match="copy"):
            df(X, i)


def number_and_matrix_of_one_name(b: float, u, m):
    d = dict(p=np.sin(b**3), q=np.sin(np.outer(u[:2], m[0])))
    x = d["q"] + m
    rows = np.sum(np.sum(d["q"], axis=1)[:, None] * 0.4, axis=1)
    return rows[0] + np.sum(d["q"]) + d["p"] + np.sum(x)


def test_an_adjoint_that_takes_the_name_of_another_keeps_its_shape():
    m = np.array([[0.3, -0.8, 0.5], [1.1, 0.2, -0.4]])
    sct.check_grads(number_and_matrix_of_one_name, 0.6, X, m)


def element_of_a_view_of_a_view(c, by=0.5):
    x = c[:, None]
    y = x[-1]
    y *= by
    return np.sum(y * c.sum())


def test_elements_of_views_that_have_no_name_are_checked():
    # The last of the rows of a column is an array, which `y *= by` changes in place.
    with pytest.raises(sct.ArgumentError, match="taken for numbers"):
        sct.grad(element_of_a_view_of_a_view)(X.copy())


def item_replaced_after_a_write_through_its_view(scale, c):
    x = c[0][1:]
    x[1:] *= scale
    c[0] = np.tanh(c[0])
    return np.sum(c[0])


def test_a_list_gets_back_the_very_item_that_was_replaced():
    # What its adjoint reads of the first array is a view.
    c = [np.array([-0.3, -1.05, 1.2]), np.ones(3)]
    sct.check_grads(item_replaced_after_a_write_through_its_view, 0.7, c, wrt=0)


def twins(x):
    t = np.sin(x)
    return t, t


def sine_and_double(x):
    t = np.sin(x)
    return t, t * 2.0


def twins_of_another(x):
    return twins(x)


def one_of_twins_written(c):
    u, v = twins(c)
    u[0] = c[1]
    return np.sum(u * v)


def one_of_passed_twins_written(c):
    u, v = twins_of_another(c)
    u[:] = c * 2.0
    return np.sum(v)


def one_of_twins_added_to(c):
    u, v = twins(c)
    u += 1.0
    return np.sum(v) * u[0]


def one_of_kept_twins_written(c):
    pair = twins(c)
    pair[0][0] = 5.0
    return np.sum(pair[1]) * c[0]


def one_of_two_written(c):
    u, v = sine_and_double(c)
    u[0] = c[1]
    return np.sum(u * v)


def number_of_twins(c):
    u, v = twins(c[0])
    u *= 2.0
    return u * v


@pytest.mark.parametrize(
    "f",
    [
        one_of_twins_written,
        one_of_passed_twins_written,
        one_of_twins_added_to,
        one_of_kept_twins_written,
        one_of_two_written,
        number_of_twins,
    ],
)
def test_one_new_array_that_a_function_returns_twice(f):
    wanted = differences(f, X.copy())
    v = np.array([0.3, -0.2, 0.9])
    _, slope = sct.jvp(f)(X.copy(), c_dot=v)
    np.testing.assert_allclose(slope, wanted @ v, rtol=1e-6)
    if f in (one_of_two_written, number_of_twins):
        np.testing.assert_allclose(sct.grad(f)(X.copy()), wanted, rtol=1e-6)
    else:
        with pytest.raises((sct.UnsupportedError, sct.ArgumentError)):
            sct.grad(f)(X.copy())
