"""What users steer derivatives with: constants, checkpoints, solved equations."""

from __future__ import annotations

import numpy as np
import pytest

import sct

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
