"""What users steer derivatives with: constants, checkpoints, solved equations."""

from __future__ import annotations

import math
import sys
import tracemalloc

import numpy as np
import pytest

import sct
from sct import runtime_control

from .test_operators import close, differences

X = np.array([0.7, -1.2, 0.4])
W = np.array([[0.2, -0.1, 0.3], [0.1, 0.2, -0.2], [-0.3, 0.1, 0.1]])


# -- stop_gradient ---------------------------------------------------------------------
def test_stop_gradient():
    def f(x):
        return np.sum(sct.stop_gradient(x) * x * x)

    close(f(X), np.sum(X**3))
    close(sct.grad(f)(X), 2.0 * X * X)
    # A constant in every derivative.
    close(sct.hessian(f)(X), np.diag(2.0 * X))
    close(sct.jvp(f)(X, x_dot=X)[1], np.sum(2.0 * X**3))
    assert "import sct" not in sct.source(sct.grad(f))


def test_stop_gradient_by_another_name():
    from sct import stop_gradient as fixed

    def f(x):
        y = fixed(np.exp(x))
        return np.sum(y * x)

    close(sct.grad(f)(X), np.exp(X))


def test_stop_gradient_is_no_copy():
    def f(x):
        y = np.zeros(3)
        z = sct.stop_gradient(y)
        y[:] = x * x
        return np.sum(z) + np.sum(y)

    try:
        df = sct.grad(f)
    except sct.UnsupportedError:
        return
    # The second name shows what is written by the first, and carries no derivative.
    close(df(X), 2.0 * X)


# -- checkpoint ------------------------------------------------------------------------
RUNS = []


@sct.checkpoint
def block(x, w, n=4):
    """Not counted: a run that is counted would be an effect."""
    for _ in range(n):
        x = np.sin(x) + w @ x
    return x


def plain_block(x, w, n=4):
    for _ in range(n):
        x = np.sin(x) + w @ x
    return x


def chain(x, w):
    for _ in range(3):
        x = block(x, w)
    return np.sum(x * x)


def plain_chain(x, w):
    for _ in range(3):
        x = plain_block(x, w)
    return np.sum(x * x)


def test_checkpoint():
    close(chain(X, W), plain_chain(X, W))
    found = sct.grad(chain, wrt=(0, 1))(X, W)
    exact = sct.grad(plain_chain, wrt=(0, 1))(X, W)
    close(found[0], exact[0], 1e-12)
    close(found[1], exact[1], 1e-12)
    text = sct.source(sct.grad(chain))
    assert "block_fwd" not in text and "block_grad(" in text
    assert "plain_block_fwd" in sct.source(sct.grad(plain_chain))
    close(sct.jvp(chain)(X, W, x_dot=X)[1], exact[0] @ X)


@sct.checkpoint
def power(x, n):
    if n == 0:
        return x
    return power(np.sin(x) * x, n - 1)


def test_checkpoint_of_a_recursive_function():
    def f(x):
        return np.sum(power(x, 3))

    close(sct.grad(f)(X), differences(f, X))


def test_checkpoint_leaves_the_function_as_it_was():
    marked = sct.checkpoint(plain_block)
    assert marked is not plain_block
    assert "plain_block_fwd" in sct.source(sct.grad(plain_chain))
    assert marked.__name__ == "plain_block"

    def f(x):
        return np.sum(marked(marked(x, W), W))

    assert "_fwd" not in sct.source(sct.grad(f))
    close(sct.grad(f)(X), differences(f, X))
    with pytest.raises(sct.ArgumentError, match="not a function written in Python"):
        sct.checkpoint(np.sin)


# -- fixed points ----------------------------------------------------------------------
def layer(z, x, w):
    return np.tanh(w @ z + x)


def equilibrium(x, w):
    return np.sum(sct.fixed_point(layer, np.zeros(3), x, w) ** 2)


def unrolled(x, w):
    z = np.zeros(3)
    for _ in range(100):
        z = layer(z, x, w)
    return np.sum(z**2)


def test_fixed_point_is_as_unrolled():
    close(equilibrium(X, W), unrolled(X, W), 1e-11)
    found = sct.grad(equilibrium, wrt=(0, 1))(X, W)
    exact = sct.grad(unrolled, wrt=(0, 1))(X, W)
    for a, b in zip(found, exact, strict=True):
        close(a, b, 1e-10)
    _, along = sct.jvp(equilibrium, wrt=(0, 1))(X, W, x_dot=X, w_dot=W)
    close(along, np.sum(exact[0] * X) + np.sum(exact[1] * W), 1e-10)
    exact = differences(lambda x: sct.grad(equilibrium)(x, W), X)
    close(sct.hessian(equilibrium)(X, W), exact, 1e-6)


def test_nothing_of_the_iteration_is_kept():
    text = sct.source(sct.grad(equilibrium))
    assert "_stack" not in text and "tape" not in text
    assert "import sct" not in text and "from sct" not in text


def root_of_a(z, a):
    return 0.5 * (z + a / z)


def test_fixed_point_of_a_number():
    def f(a):
        return a * sct.fixed_point(root_of_a, 1.0, a)

    assert f(4.0) == pytest.approx(8.0)
    assert sct.grad(f)(4.0) == pytest.approx(1.5 * 2.0)
    assert sct.grad(sct.grad(f))(4.0) == pytest.approx(0.75 / 2.0)
    assert sct.jvp(f)(4.0, a_dot=2.0)[1] == pytest.approx(6.0)


def by_series(product, b):
    """Solve ``product(u) = b``, where `product` is near the identity."""
    u = b
    for _ in range(100):
        u = u + (b - product(u))
    return u


def test_fixed_point_with_options():
    def f(x, w):
        z = sct.fixed_point(layer, np.zeros(3), x, w, tol=1e-6, max_iter=50)
        return np.sum(z)

    def g(x, w):
        z = sct.fixed_point(layer, np.zeros(3), x, w, solve=by_series)
        return np.sum(z)

    close(sct.grad(f)(X, W), differences(lambda x: g(x, W), X), 1e-5)
    close(sct.grad(g)(X, W), differences(lambda x: g(x, W), X))
    close(sct.jvp(g)(X, W, x_dot=X)[1], sct.grad(g)(X, W) @ X)
    with pytest.raises(sct.ConvergenceError, match="no fixed point .* in 3 iterations"):
        sct.fixed_point(layer, np.zeros(3), X, W, max_iter=3)


def test_fixed_point_that_does_not_matter():
    def f(x, w):
        z = sct.fixed_point(layer, x, X, w)
        return np.sum(z * x)

    # Where the iteration begins has no part in what it leads to.
    close(sct.grad(f)(X, W), sct.fixed_point(layer, X, X, W))


# -- roots -----------------------------------------------------------------------------
def balance(z, a, b):
    return a @ z + 0.1 * z**3 - b


def at_balance(a, b):
    return np.sum(np.sin(sct.root(balance, np.zeros(3), a, b)))


def cubic(z, a):
    return z**3 + a * z - 1.0


def test_root():
    a = W + np.eye(3)
    z = sct.root(balance, np.zeros(3), a, X)
    close(balance(z, a, X), 0.0, 1e-12)
    a_bar, b_bar = sct.grad(at_balance, wrt=(0, 1))(a, X)
    close(a_bar, differences(lambda a: at_balance(a, X), a))
    close(b_bar, differences(lambda b: at_balance(a, b), X))
    _, along = sct.jvp(at_balance, wrt=(0, 1))(a, X, a_dot=a, b_dot=X)
    close(along, np.sum(a_bar * a) + np.sum(b_bar * X))
    found = sct.hessian(at_balance, wrt=1)(a, X)
    close(found, differences(lambda b: sct.grad(at_balance, 1)(a, b), X), 1e-6)


def test_root_of_a_number():
    def f(a):
        return sct.root(cubic, 0.5, a)

    z = f(2.0)
    assert z**3 + 2.0 * z == pytest.approx(1.0)
    slope = -z / (3.0 * z * z + 2.0)
    assert sct.grad(f)(2.0) == pytest.approx(slope)
    assert sct.jvp(f)(2.0, a_dot=1.0)[1] == pytest.approx(slope)
    h = 1e-5
    exact = (sct.grad(f)(2.0 + h) - sct.grad(f)(2.0 - h)) / (2.0 * h)
    assert sct.grad(sct.grad(f))(2.0) == pytest.approx(exact, rel=1e-7)


def test_root_by_a_solver_that_is_given():
    def f(b):
        return np.sum(sct.root(balance, np.zeros(3), np.eye(3) + W, b, solve=by_series))

    close(sct.grad(f)(X), differences(f, X))
    close(sct.jvp(f)(X, b_dot=X)[1], sct.grad(f)(X) @ X)


def test_a_root_that_is_not_there():
    with pytest.raises(sct.ConvergenceError, match="no root"):
        sct.root(lambda z: z * z + 1.0, 0.5, max_iter=20)


def test_a_saved_solution_runs(tmp_path):
    path = tmp_path / "saved.py"
    sct.save(sct.grad(equilibrium, wrt=(0, 1)), path)
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    found = space["equilibrium_grad"](X, W)
    close(found[0], sct.grad(equilibrium)(X, W))
    assert "import sct" not in path.read_text()


# -- blocks in the backward sweep ------------------------------------------------------
SEEN = []


def clipped(w, x, bound):
    h = np.zeros(3)
    for t in range(4):
        h = np.tanh(w @ h + x[t])
        with sct.grad_of(h) as h_bar:
            size = np.sqrt(np.sum(h_bar * h_bar))
            SEEN.append(size)
            if size > bound:
                h_bar *= bound / size
    return np.sum(h * h)


def clipped_by_hand(w, x, bound):
    """The gradient of `clipped` in `w`, written by hand."""
    states = [np.zeros(3)]
    for t in range(4):
        states.append(np.tanh(w @ states[-1] + x[t]))
    h_bar, w_bar, sizes = 2.0 * states[-1], np.zeros((3, 3)), []
    for t in reversed(range(4)):
        size = np.linalg.norm(h_bar)
        sizes.append(size)
        h_bar = h_bar * min(1.0, bound / size)
        z_bar = h_bar * (1.0 - states[t + 1] ** 2)
        w_bar = w_bar + np.outer(z_bar, states[t])
        h_bar = w.T @ z_bar
    return w_bar, sizes


def test_grad_of_in_a_loop():
    x = np.outer(np.arange(1.0, 5.0), X)
    SEEN.clear()
    clipped(W, x, 0.5)
    assert SEEN == []
    exact, sizes = clipped_by_hand(W, x, 0.5)
    close(sct.grad(clipped)(W, x, 0.5), exact, 1e-12)
    close(SEEN, sizes, 1e-12)
    # Wide bounds change nothing.
    plain = differences(lambda w: clipped(w, x, 1e3), W)
    close(sct.grad(clipped)(W, x, 1e3), plain)


def test_grad_of_in_a_function_that_is_called():
    def f(x):
        return np.sum(doubled(x * x) * x)

    close(sct.grad(f)(X), 2.0 * X * X * 2.0 * 2.0 + (2.0 * X * X) * 1.0)


def doubled(y):
    z = 2.0 * y
    with sct.grad_of(z) as z_bar:
        z_bar = z_bar * 2.0
    return z


def test_grad_of_sees_what_comes_from_below():
    def f(x):
        y = x * x
        a = 3.0 * y
        with sct.grad_of(y) as y_bar:
            SEEN.append(y_bar)
            y_bar = 0.0 * y_bar
        return a + 5.0 * y

    SEEN.clear()
    assert sct.grad(f)(2.0) == 3.0 * 4.0
    assert SEEN == [5.0]


def test_grad_of_leaves_other_adjoints_alone():
    def f(a, b):
        c = a + b
        with sct.grad_of(a) as a_bar:
            a_bar[0] = 7.0
        return np.sum(c * c)

    a_bar, b_bar = sct.grad(f, wrt=(0, 1))(X, X)
    close(b_bar, 4.0 * X)
    close(a_bar, 4.0 * X)

    def g(a, b):
        d = 1.0 * a
        with sct.grad_of(d) as d_bar:
            d_bar[0] = 7.0
        return np.sum((d + b) ** 2)

    a_bar, b_bar = sct.grad(g, wrt=(0, 1))(X, X)
    close(b_bar, 4.0 * X)
    close(a_bar, [7.0, *4.0 * X[1:]])


def test_grad_of_what_carries_no_derivative():
    def f(x, k):
        m = k * k
        with sct.grad_of(m) as m_bar:
            SEEN.append(m_bar)
        return m * x

    SEEN.clear()
    assert sct.grad(f)(2.0, 3.0) == 9.0
    assert SEEN == []
    assert sct.grad(f, wrt="k")(2.0, 3.0) == 12.0
    assert SEEN == [2.0]
    # What only looks is nothing to forward mode.
    assert sct.jvp(f, wrt="k")(2.0, 3.0, k_dot=1.0) == (18.0, 12.0)


def test_grad_of_with_names_of_its_own():
    def f(x):
        total = x
        for _ in range(3):
            total = total * x
            with sct.grad_of(total) as g:
                for k in range(3):
                    g = g + 0.0 * k
                scale = [1.0 for _ in range(2)][0]
                g = g * scale
        return total

    assert sct.grad(f)(2.0) == 32.0
    assert "import sct" not in sct.source(sct.grad(f))


def test_grad_of_of_a_restored_array():
    def f(x):
        u = np.zeros(3)
        for i in range(3):
            u[i] = x[i] * x[i]
            y = np.sum(u)
            with sct.grad_of(y) as y_bar:
                SEEN.append((y, y_bar))
            u[i] *= y
        return np.sum(u)

    SEEN.clear()
    exact = differences(f, X)
    close(sct.grad(f)(X), exact)
    # The values are those of the forward sweep, in reverse.
    values, u = [], np.zeros(3)
    for i in range(3):
        u[i] = X[i] ** 2
        values.append(np.sum(u))
        u[i] *= values[-1]
    close([v for v, _ in SEEN], values[::-1])


def test_blocks_are_passed_over_and_tracers_kept():
    lines = []

    def tracer(frame, event, arg):
        if frame.f_code.co_name == "plain" and event == "line":
            lines.append(frame.f_lineno - frame.f_code.co_firstlineno)
        return tracer

    def plain(x):
        with sct.grad_of(x) as x_bar:
            x = x_bar / 0.0
        return x + 1.0

    assert plain(1.0) == 2.0
    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert plain(1.0) == 2.0
    finally:
        sys.settrace(before)
    assert lines == [1, 3]
    with pytest.raises(KeyError):
        with sct.grad_of(1.0):
            pass
        raise KeyError


def test_adjoints_that_are_kept_stay_what_they_were():
    def f(x):
        y = 1.0 * x
        for _ in range(3):
            y = y + 0.5 * x
            with sct.grad_of(y) as y_bar:
                SEEN.append(y_bar)
        y[0] = 2.0 * y[1]
        return np.sum(y * y + x)

    SEEN.clear()
    exact = differences(lambda x: f(x.copy()), X)
    close(sct.grad(f)(X), exact)
    y = 2.5 * X
    bar = np.array([0.0, 2.0 * y[1] + 8.0 * y[1], 2.0 * y[2]])
    for found in SEEN:
        close(found, bar)


# -- loops from snapshots --------------------------------------------------------------
def swing(x, v, k, n, snapshots):
    energy = 0.0
    for i in sct.checkpointed(range(n), snapshots=snapshots):
        force = -k * np.sin(x)
        if i > 2:
            force = force - 0.1 * v
        v += 0.1 * force
        x = x + 0.1 * v
        energy += np.sum(v) * (0.5 + i)
    return np.sum(x * x) + energy


def plain_swing(x, v, k, n):
    energy = 0.0
    for i in range(n):
        force = -k * np.sin(x)
        if i > 2:
            force = force - 0.1 * v
        v = v + 0.1 * force
        x = x + 0.1 * v
        energy = energy + np.sum(v) * (0.5 + i)
    return np.sum(x * x) + energy


@pytest.mark.parametrize("n, snapshots", [(0, 3), (1, 1), (2, 1), (9, 3), (20, None)])
def test_checkpointed(n, snapshots):
    args = (X, 2.0 * X, 1.5)
    copies = X.copy(), 2.0 * X, 1.5
    close(swing(*copies, n, snapshots), plain_swing(*args, n))
    exact = sct.grad(plain_swing, wrt=(0, 1, 2))(*args, n)
    found = sct.grad(swing, wrt=(0, 1, 2))(*args, n, snapshots)
    for a, b in zip(found, exact, strict=True):
        close(a, b, 1e-12)
    close(sct.grad(swing, wrt=2)(*args, n, snapshots), exact[2], 1e-12)
    _, along = sct.jvp(swing, wrt=(0, 2))(*args, n, snapshots, x_dot=X, k_dot=2.0)
    close(along, exact[0] @ X + 2.0 * exact[2], 1e-12)


def fewest(turns: int, snapshots: int) -> int:
    """The fewest runs of turns that reverse a loop, by dynamic programming."""
    table: dict[tuple[int, int], int] = {}

    def best(n, c):
        if n <= 1:
            return 0
        if c == 1:
            return n * (n - 1) // 2
        if (n, c) not in table:
            table[n, c] = min(m + best(n - m, c - 1) + best(m, c) for m in range(1, n))
        return table[n, c]

    return best(turns, snapshots)


@pytest.mark.parametrize("snapshots", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("n", [1, 2, 7, 40, 64])
def test_no_schedule_runs_fewer_turns(n, snapshots):
    runs = []

    def turn(i, x, k):
        runs.append(i)
        return x + k

    (last,), kept = runtime_control.forwards(turn, (0,), (2,), range(n), snapshots)
    assert last == 2 * n
    assert len(kept) <= snapshots + 1
    backwards = runtime_control.backwards(turn, kept, (2,), range(n), snapshots)
    assert list(backwards) == [(i, (2 * i,)) for i in reversed(range(n))]
    # All but the last turn of the forward sweep count among those of the schedule.
    assert len(runs) == fewest(n, snapshots) + 1
    # The bound of Griewank and Walther.
    r = next(r for r in range(n + 1) if math.comb(snapshots + r, snapshots) >= n)
    if r:
        published = r * n - math.comb(snapshots + r, snapshots + 1)
        assert fewest(n, snapshots) == published


def lorenz(x, n, snapshots):
    for _ in sct.checkpointed(range(n), snapshots=snapshots):
        x = x + 0.002 * np.array(
            [10.0 * (x[1] - x[0]), x[0] * (28.0 - x[2]) - x[1], x[0] * x[1] - x[2]]
        )
    return np.sum(x)


def plain_lorenz(x, n):
    for _ in range(n):
        x = x + 0.002 * np.array(
            [10.0 * (x[1] - x[0]), x[0] * (28.0 - x[2]) - x[1], x[0] * x[1] - x[2]]
        )
    return np.sum(x)


def peak(run) -> int:
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_memory_of_snapshots():
    full, few = sct.grad(plain_lorenz), sct.grad(lorenz)
    x = np.array([1.0, 2.0, 3.0])
    close(few(x, 500, 8), full(x, 500), 1e-12)
    assert peak(lambda: few(x, 1000, 8)) < peak(lambda: full(x, 1000)) / 20


def test_checkpointed_in_a_loop_and_in_a_branch():
    def f(x, params, m):
        y = 0.0 * x
        for k in range(m):
            if k != 1:
                for i in sct.checkpointed(range(1, 7, 2), snapshots=2):
                    t = params["w"] * np.sin(x) + i
                    if k > 1:
                        continue_ = t * params["b"]
                        t = t + continue_
                    x = np.cos(t) + 0.1 * x
                y = y + x
        return np.sum(y * x)

    params = {"w": 0.7, "b": X}
    p_bar = sct.grad(f, wrt="params")(X, params, 4)
    exact = differences(lambda b: f(X, {"w": 0.7, "b": b}, 4), X)
    close(p_bar["b"], exact, 1e-6)
    close(p_bar["w"], differences(lambda w: f(X, params | {"w": w}, 4), 0.7), 1e-6)
    close(sct.grad(f)(X, params, 4), differences(lambda x: f(x, params, 4), X), 1e-6)


def test_checkpointed_with_outer_variables_and_calls():
    scale = 0.5

    def f(x):
        for _ in sct.checkpointed(range(6), snapshots=2):
            x = doubled_plain(x) * scale + np.sin(scale * x)
        return np.sum(x)

    close(sct.grad(f)(X), differences(f, X), 1e-6)
    value, pb = sct.pullback(f, X)
    close(pb(2.0)[0], 2.0 * pb(1.0)[0])
    close(sct.jacobian(f)(X), sct.grad(f)(X))


def doubled_plain(x):
    return 2.0 * x


def test_a_saved_loop_runs(tmp_path):
    path = tmp_path / "saved.py"
    sct.save(sct.grad(swing), path)
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    found = space["swing_grad"](X, 2.0 * X, 1.5, 12, 3)
    close(found, sct.grad(plain_swing)(X, 2.0 * X, 1.5, 12))
    assert "import sct" not in path.read_text()


def test_arrays_of_two_names_are_not_written_into():
    def f(x, n):
        v = x
        for _ in sct.checkpointed(range(n), snapshots=2):
            v += 0.1
            x = x * v
        return np.sum(x)

    with pytest.raises(sct.ArgumentError, match="v and x share memory"):
        sct.grad(f)(X.copy(), 3)


def nested(x):
    total = 0.0
    for i in sct.checkpointed(range(4), snapshots=2):
        for j in sct.checkpointed(range(5, 0, -1), snapshots=2):
            x = np.sin(x) * 1.1 + 0.01 * j
        total = total + np.sum(x) * (i + 1)
    return total


def watched(x):
    for _ in sct.checkpointed(range(4), snapshots=2):
        x = np.sin(x) * 1.1
        with sct.grad_of(x) as x_bar:
            SEEN.append(np.sum(x_bar))
            x_bar *= 2.0
        x = x + 0.5 * sct.stop_gradient(x)
    return np.sum(x)


def plain_watched(x):
    # The adjoint is doubled and one of three halves of it goes on.
    y, slope = x, np.ones(3)
    for _ in range(4):
        slope = slope * 2.0 * 1.1 * np.cos(y)
        y = 1.5 * 1.1 * np.sin(y)
    return slope


@pytest.mark.parametrize("f", [nested, watched])
def test_loops_in_loops_and_blocks_in_them(f, tmp_path):
    df = sct.grad(f)
    exact = differences(nested, X) if f is nested else plain_watched(X)
    close(df(X), exact, 1e-6)
    text = sct.source(df)
    assert "_loop_bwd(" in text
    assert "import sct" not in text and "from sct" not in text
    space = {"SEEN": []}
    exec(compile(text.replace("from tests", "# from tests"), "saved", "exec"), space)
    close(space[f"{f.__name__}_grad"](X), exact, 1e-6)


def test_solutions_in_a_loop():
    def f(x):
        total = 0.0
        for i in range(3):
            z = sct.fixed_point(layer, np.zeros(3), x * (i + 1.0), W)
            x = x * z
            total = total + np.sum(z)
        return total

    close(sct.grad(f)(X), differences(f, X), 1e-6)


def test_arguments_that_change_after_a_checkpointed_call():
    def f(x):
        y = x.copy()
        z = np.sin(block(y, W))
        y[0] = 5.0
        return np.sum(z * y)

    close(sct.grad(f)(X), differences(f, X), 1e-6)
