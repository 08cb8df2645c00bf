"""Pullbacks, Jacobians and other operators, against central differences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

import sct

X = np.array([0.7, -1.2, 0.4])
Y = np.array([[0.5, 1.5, -0.3], [1.1, 0.2, 0.9]])


def differences(f, x, step=1e-6):
    """The Jacobian of `f` by central differences."""
    columns = []
    for k in range(np.size(x)):
        e = np.zeros(np.size(x))
        e[k] = step
        e = e.reshape(np.shape(x))
        columns.append((np.asarray(f(x + e)) - np.asarray(f(x - e))) / (2.0 * step))
    return np.stack(columns, axis=-1).reshape(np.shape(columns[0]) + np.shape(x))


def close(a, b, tol=1e-7):
    np.testing.assert_allclose(a, b, rtol=tol, atol=tol)


def polar(x):
    return np.array([x[0] * np.cos(x[1]), x[0] * np.sin(x[1]), x[2] * x[2] * x[0]])


def recurrence(x):
    """Stacks: a backward sweep takes from them."""
    y = x
    for _ in range(3):
        y = np.sin(y) * x
    return y


def restored(x):
    """Arrays that the backward sweep puts back as they were."""
    u = np.zeros(3)
    for i in range(3):
        u[i] = x[i] * x[i - 1]
        u[i] *= u[i]
    for _ in range(2):
        u[1:] = np.sin(u[:-1]) * x[1:] + u[1:]
    return u * np.sum(u * u)


def halves(x, n=3):
    """Its own caller: tapes in tapes."""
    if n == 0:
        return np.sin(x) * x
    return halves(x * x, n - 1) * x + np.cos(x)


def inner(x):
    u = np.zeros(3)
    for i in range(3):
        u[i] = np.exp(x[i]) * u[i - 1] + x[i]
        u[i] *= x[i]
    return u


def outer(x):
    total = x
    for _ in range(2):
        total = inner(total) + x
    return total


def overwritten(x):
    x[1:] = x[:-1] * x[1:]
    x[0] *= x[2]
    return x * x[1]


VECTORS = [polar, recurrence, restored, halves, outer, overwritten]


@pytest.mark.parametrize("f", VECTORS)
def test_jacobian(f):
    before = X.copy()
    exact = differences(lambda x: f(x.copy()), X)
    for mode in ("forward", "reverse", None):
        found = sct.jacobian(f, mode=mode)(X)
        assert found.shape == (3, 3)
        np.testing.assert_array_equal(before, X)
        close(found, exact, 1e-6)


@pytest.mark.parametrize("f", VECTORS)
def test_pullback_may_be_called_again(f):
    exact = differences(lambda x: f(x.copy()), X)
    value, pb = sct.pullback(f, X)
    close(value, f(X.copy()))
    for k in [0, 1, 2, 1, 0]:
        (x_bar,) = pb(np.eye(3)[k])
        close(x_bar, exact[k], 1e-6)


@pytest.mark.parametrize("shape", [(), (1,), (4,), (2, 3)])
def test_shapes_are_those_of_the_result_and_of_the_argument(shape):
    def f(x):
        return np.outer(x, x) + np.sum(x)

    x = np.random.default_rng(0).normal(size=shape)
    found = sct.jacobian(f)(x)
    assert found.shape == (x.size, x.size, *shape)
    close(found, differences(f, x), 1e-6)


def test_numbers():
    assert sct.jacobian(lambda x: x * x)(3.0) == 6.0
    assert isinstance(sct.jacobian(lambda x: x * x)(3.0), float)
    np.testing.assert_array_equal(sct.jacobian(lambda x: x * X)(3.0), X)
    np.testing.assert_array_equal(sct.jacobian(np.sum)(X), np.ones(3))


def test_the_mode_is_chosen_by_size():
    assert "wide_jvp" in sct.source(sct.jacobian(wide))
    # As many rows as columns, fewer, and more: one function serves all.
    df = sct.jacobian(wide)
    for n, m in [(3, 3), (2, 5), (5, 2), (0, 3), (3, 0)]:
        a, x = np.ones((m, n)), np.arange(float(n))
        found = df(x, a)
        assert found.shape == (m, n)
        close(found, a * 2.0 * x)


def wide(x, a):
    return a @ (x * x)


def test_precision_stays():
    x = X.astype(np.float32)
    assert sct.jacobian(lambda x: x * x)(x).dtype == np.float32
    assert sct.pullback(lambda x: x * x, x)[1](x)[0].dtype == np.float32


def test_several_arguments():
    def f(x, w, k=2.0):
        return k * (w @ x)

    by_x, by_w = sct.jacobian(f, wrt=("x", "w"))(X, Y)
    close(by_x, 2.0 * Y)
    close(by_w, differences(lambda w: f(X, w), Y))
    (only,) = sct.jacobian(f, wrt=("w",))(X, Y)
    close(only, by_w)
    value, pb = sct.pullback(f, X, Y)
    x_bar, w_bar = pb(np.array([1.0, -2.0]))
    close(x_bar, 2.0 * np.array([1.0, -2.0]) @ Y)
    close(w_bar, 2.0 * np.outer([1.0, -2.0], X))
    close(sct.pullback(f, X, Y, wrt="x")[1](np.ones(2)), x_bar * 0 + 2.0 * Y.sum(0))


@dataclass
class Point:
    at: np.ndarray
    name: str
    weight: float


def test_containers():
    def f(p, pair):
        a, b = pair
        return {"whole": p["w"] * a, "rest": (np.sum(p["w"]) * b, p["n"])}

    p = {"w": X, "n": 3}
    found = sct.jacobian(f, wrt=("p", "pair"))(p, (2.0, 5.0))
    by_p, by_pair = found["whole"]
    close(by_p["w"], 2.0 * np.eye(3))
    assert by_p["n"] is None
    close(by_pair[0], X)
    close(by_pair[1], np.zeros(3))
    by_p, by_pair = found["rest"][0]
    close(by_p["w"], np.full(3, 5.0))
    close(by_pair[1], np.sum(X))
    value, pb = sct.pullback(f, p, (2.0, 5.0), wrt="p")
    seed = {"whole": np.ones(3), "rest": (0.0, 0)}
    close(pb(seed)["w"], np.full(3, 2.0))
    close(pb(seed)["w"], np.full(3, 2.0))


def test_objects():
    def f(p):
        return p.at * p.weight

    found = sct.jacobian(f)(Point(X, "here", 2.0))
    assert isinstance(found, Point)
    close(found.at, 2.0 * np.eye(3))
    close(found.weight, X)
    assert found.name is None


def test_other_callables():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return self.k * x * x

    close(sct.jacobian(Scale(2.0))(X), np.diag(4.0 * X))
    close(sct.jacobian(np.tanh)(X), np.diag(1.0 - np.tanh(X) ** 2))
    close(sct.jacobian(lambda *xs: xs[0] * xs[1], wrt=1)(X, X + 1), np.diag(X))
    value, pb = sct.pullback(lambda f, x: f(x) * x, np.sin, X, wrt=1)
    close(pb(np.ones(3)), np.sin(X) + X * np.cos(X))


def test_nothing_and_no_result():
    assert sct.jacobian(lambda x: x * x)(np.zeros(0)).shape == (0, 0)
    assert sct.jacobian(lambda x: x[:0])(X).shape == (0, 3)


# -- sparse ----------------------------------------------------------------------------
def chain(x, k):
    y = np.zeros_like(x)
    y[1:-1] = x[2:] * x[:-2] + k * np.sin(x[1:-1])
    y[0] = x[0] ** 2 * x[1]
    y[-1] = x[-1]
    return y


def banded(n):
    return np.tri(n, n, 1) * np.tri(n, n, 1).T


def test_sparse_jacobian():
    sparse = pytest.importorskip("scipy.sparse")
    x = np.cos(np.arange(30.0) ** 2)
    pattern = banded(30)
    for given in (pattern, pattern > 0, sparse.csr_array(pattern)):
        df = sct.jacobian(chain, sparsity=given)
        found = df(x, 2.0)
        assert isinstance(found, sparse.csr_array) and found.nnz <= 88
        close(found.toarray(), differences(lambda x: chain(x, 2.0), x), 1e-6)
    # A band of three needs three products, however long it is.
    assert max(df.keywords["pattern"][2]) == 2
    text = sct.source(df)
    assert "import sct" not in text
    assert "from scipy.sparse import csr_array" in text


def test_sparse_hessian():
    pytest.importorskip("scipy.sparse")
    x = np.cos(np.arange(12.0) ** 2)
    found = sct.hessian(long_valley, sparsity=banded(12))(x)
    close(found.toarray(), sct.hessian(long_valley)(x))
    grid = x.reshape(3, 4)
    whole = sct.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))(grid).reshape(12, 12)
    found = sct.hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2), sparsity=whole != 0.0)
    close(found(grid).toarray(), whole)


def long_valley(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_a_pattern_that_lacks_entries_is_found_out():
    pytest.importorskip("scipy.sparse")
    x = np.cos(np.arange(9.0) ** 2)
    with pytest.raises(sct.ArgumentError, match="entries where the sparsity pattern"):
        sct.jacobian(chain, sparsity=np.eye(9))(x, 2.0)
    with pytest.raises(sct.ArgumentError, match="has two axes"):
        sct.jacobian(chain, sparsity=np.ones(9))
    with pytest.raises(sct.ArgumentError, match="for one parameter"):
        sct.jacobian(chain, wrt=("x",), sparsity=np.eye(9))


# -- second derivatives ----------------------------------------------------------------
def rosenbrock(x):
    return sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def coupled(x, w):
    return np.sum(np.sin(x) * w @ x) + x[0] * x[1] * x[2]


def test_hessian():
    close(sct.hessian(rosenbrock)(X), differences(sct.grad(rosenbrock), X, 1e-5), 1e-4)
    w = np.outer(X, X) + np.eye(3)
    found = sct.hessian(coupled)(X, w)
    close(found, differences(lambda x: sct.grad(coupled)(x, w), X), 1e-6)
    (xx, xw), (wx, ww) = sct.hessian(coupled, wrt=(0, 1))(X, w)
    close(xx, found)
    assert (xw.shape, wx.shape, ww.shape) == ((3, 3, 3), (3, 3, 3), (3, 3, 3, 3))
    close(xw, differences(lambda w: sct.grad(coupled)(X, w), w), 1e-6)
    close(wx, np.moveaxis(xw, 0, -1))
    close(ww, 0.0)
    assert sct.hessian(lambda x: x**3)(2.0) == 12.0


def test_jacobian_of_a_jacobian():
    def f(x):
        return np.array([np.sum(x**4)])

    found = sct.jacobian(sct.jacobian(f))(X)
    assert found.shape == (1, 3, 3)
    close(found[0], np.diag(12.0 * X**2))


def test_hvp():
    w, v = np.outer(X, X) + np.eye(3), np.array([1.0, -0.5, 2.0])
    exact = sct.hessian(coupled)(X, w) @ v
    close(sct.hvp(coupled)(X, w, v=v), exact)
    x_part, w_part = sct.hvp(coupled, wrt=("x", "w"))(X, w, v=(v, 0.0 * w))
    close(x_part, exact)
    close(w_part, differences(lambda t: sct.grad(coupled, 1)(X + t * v, w), 0.0))
    assert "import sct" not in sct.source(sct.hvp(coupled))
    assert sct.hvp(lambda v: v**3)(2.0, v_2=0.5) == 6.0
    with pytest.raises(sct.ArgumentError, match="v is .* shape"):
        sct.hvp(coupled)(X, w, v=np.ones(2))


def test_hvp_of_methods_and_elements():
    class Model:
        def __init__(self, k):
            self.k = k

        def loss(self, x, y):
            return np.sum(self.k * x * x * y)

    close(sct.hvp(Model(3.0).loss)(X, X, v=X), 6.0 * X * X)
    close(sct.hvp(lambda *xs: np.sum(xs[0] * xs[1] ** 2), wrt=1)(X, X, v=X), 2 * X * X)


# -- products --------------------------------------------------------------------------
def logits(w, x):
    return w @ np.tanh(x)


def test_ggnvp():
    labels = np.array([0.0, 1.0])

    def nll(z):
        return np.sum(np.log1p(np.exp(z)) - labels * z)

    j = differences(lambda x: logits(Y, x), X)
    h = differences(sct.grad(nll), logits(Y, X))
    v = np.array([1.0, -0.5, 2.0])
    close(sct.ggnvp(logits, nll, wrt="x")(Y, X, v=v), j.T @ h @ j @ v, 1e-6)
    close(sct.ggnvp(logits, wrt=1)(Y, X, v=v), j.T @ j @ v)
    (only,) = sct.ggnvp(logits, wrt=(1,))(Y, X, v=(v,))
    close(only, j.T @ j @ v)
    w_part, x_part = sct.ggnvp(logits, nll, wrt=(0, 1))(Y, X, v=(0.0 * Y, v))
    close(x_part, j.T @ h @ j @ v, 1e-6)
    close(w_part, np.outer(h @ j @ v, np.tanh(X)), 1e-6)


def test_pushforward():
    j = differences(lambda x: logits(Y, x), X)
    value, tangent = sct.pushforward(logits, (Y, X), (None, X))
    close(value, logits(Y, X))
    close(tangent, j @ X)
    close(sct.pushforward(logits, (Y, X), (Y, X))[1], j @ X + logits(Y, X))
    assert sct.pushforward(lambda tangents: tangents**2, (3.0,), (1.0,)) == (9.0, 6.0)
    assert sct.pushforward(np.sin, (0.0,), (2.0,)) == (0.0, 2.0)
    with pytest.raises(sct.ArgumentError, match="2 arguments and 1 tangents"):
        sct.pushforward(logits, (Y, X), (X,))


# -- element by element ----------------------------------------------------------------
def test_elementwise_grad():
    def f(x, k):
        y = np.where(x > 0, x * x, -x)
        for _ in range(3):
            y = np.tanh(y) * k
        return y

    for x in (X, Y, 0.3, X.astype(np.float32)):
        found = sct.elementwise_grad(f)(x, 1.5)
        assert np.shape(found) == np.shape(x)
        x = np.asarray(x, float)
        exact = (f(x + 1e-6, 1.5) - f(x - 1e-6, 1.5)) / 2e-6
        close(found, exact, 1e-5)
    with pytest.raises(sct.ArgumentError, match="do not correspond element by"):
        sct.elementwise_grad(lambda x: np.sum(x))(X)
    with pytest.raises(sct.ArgumentError, match="do not correspond"):
        sct.elementwise_grad(f, wrt=1)(X, 1.5)


# -- inside functions ------------------------------------------------------------------
def field(t, w):
    return t * (1.0 - t) * np.sum(w[:, 0] * np.tanh(np.outer(t, w[:, 1])), axis=1)


def residual(w, t):
    second = sct.elementwise_grad(sct.elementwise_grad(field))
    return np.mean((second(t, w) + np.sin(3.0 * t)) ** 2)


def quartic(x):
    return np.sum(x**4) + x[0] * x[1]


def newton_step(x):
    gradient, hessian = sct.grad(quartic), sct.hessian(quartic)
    return np.sum(np.linalg.solve(hessian(x), gradient(x)))


def curvature(x):
    return np.sum(sct.hvp(quartic)(x, v=x)) + np.sum(sct.jacobian(polar)(x) ** 2)


def test_operators_inside_functions():
    w, t = np.outer(X, [1.0, 0.5]), np.linspace(0.0, 1.0, 5)
    slope = (field(t + 1e-4, w) - 2.0 * field(t, w) + field(t - 1e-4, w)) / 1e-8
    second = sct.elementwise_grad(sct.elementwise_grad(field))
    close(second(t, w), slope, 1e-6)
    close(sct.grad(residual)(w, t), differences(lambda w: residual(w, t), w), 1e-6)
    for f in (newton_step, curvature):
        close(sct.grad(f)(X), differences(f, X), 1e-6)


# -- what is returned beside -----------------------------------------------------------
def loss_and_state(x, w):
    h = np.tanh(x * w)
    u = np.zeros(3)
    for i in range(3):
        u[i] = h[i] * h[i - 1]
        u[i] *= u[i]
    return np.sum(u * u), {"h": h, "u": u.copy(), "n": 3}


def test_has_aux():
    value, aux = loss_and_state(X, X)
    exact = differences(lambda x: loss_and_state(x, X)[0], X)
    x_bar, found = sct.grad(loss_and_state, has_aux=True)(X, X)
    close(x_bar, exact)
    assert list(found) == ["h", "u", "n"] and found["n"] == 3
    close(found["h"], aux["h"])
    close(found["u"], aux["u"])
    (again, found), bars = sct.value_and_grad(loss_and_state, (0, 1), has_aux=True)(
        X, X
    )
    close(again, value)
    close(found["u"], aux["u"])
    close(bars[0], exact)
    (again, found), x_bar = sct.vjp(loss_and_state, has_aux=True)(X, X, out_bar=2.0)
    close(x_bar, 2.0 * exact)
    assert found["n"] == 3


def test_has_aux_of_other_operators():
    def f(x):
        y = np.sin(x) * x
        return y, ("beside", y + 1.0)

    exact = differences(lambda x: f(x)[0], X)
    value, pb, aux = sct.pullback(f, X, has_aux=True)
    close(value, f(X)[0])
    close(aux[1], value + 1.0)
    for k in range(3):
        close(pb(np.eye(3)[k])[0], exact[k])
    found, aux = sct.jacobian(f, has_aux=True)(X)
    close(found, exact)
    assert aux[0] == "beside"
    with pytest.raises(sct.ArgumentError, match="has_aux needs mode='reverse'"):
        sct.jacobian(f, mode="forward", has_aux=True)

    def g(x):
        return np.sum(x**3), "beside"

    found, aux = sct.hessian(g, has_aux=True)(X)
    close(found, np.diag(6.0 * X))
    assert aux == "beside"


def test_has_aux_of_branches_and_recursion():
    def f(x):
        if x > 0:
            return x * x, "square"
        return -x, "sign"

    assert sct.grad(f, has_aux=True)(3.0) == (6.0, "square")
    assert sct.grad(f, has_aux=True)(-3.0) == (-1.0, "sign")
    assert sct.grad(counted, has_aux=True)(3.0, 2) == (128.0 * 27.0, 2)


def counted(x, n):
    if n == 0:
        return x * x, n
    y, m = counted(2.0 * x, n - 1)
    return y * x, m + 1


# -- text ------------------------------------------------------------------------------
def test_a_saved_jacobian_runs(tmp_path):
    path = tmp_path / "saved.py"
    sct.jacobian(recurrence, save=path)
    space = {}
    exec(compile(path.read_text(), str(path), "exec"), space)
    close(space["recurrence_jacobian"](X), sct.jacobian(recurrence)(X))
    assert space["__all__"] == ["recurrence_jacobian"]
    assert "import sct" not in path.read_text()


def test_names_of_the_user_are_not_met():
    def f(rows, out, tape, k, unit_like):
        return rows * out * tape * k * unit_like

    found = sct.jacobian(f, wrt="out")(X, X, X, 2.0, 3.0)
    close(found, np.diag(6.0 * X * X))
    value, pb = sct.pullback(f, X, X, X, 2.0, 3.0, wrt="tape")
    close(pb(np.ones(3)), 6.0 * X * X)


def test_wrong_arguments():
    with pytest.raises(sct.ArgumentError, match="x is an integer"):
        sct.jacobian(lambda x: x * X)(3)
    with pytest.raises(sct.ArgumentError, match="holomorphic"):
        sct.jacobian(lambda x: x * x)(X + 0j)
    with pytest.raises(sct.ArgumentError, match="mode='sideways' is none of"):
        sct.jacobian(polar, mode="sideways")
    value, pb = sct.pullback(polar, X)
    with pytest.raises(sct.ArgumentError, match="must have its shape"):
        pb(np.ones(2))
    with pytest.raises(sct.ArgumentError, match="names no parameter"):
        sct.pullback(math.sin, 1.0, wrt="y")
