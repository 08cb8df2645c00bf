"""SciPy's functions inside functions: what is imported when, and the emitted text."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

import sct

from .test_kernels import check, draw

special = pytest.importorskip("scipy.special", reason="SciPy is an optional extra")
stats = pytest.importorskip("scipy.stats", reason="SciPy is an optional extra")

X, Y = draw(4), np.exp(draw(4, seed=1))


def run(code: str, **environment: str) -> str:
    env = {**os.environ, **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=env
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_sct_imports_no_scipy():
    code = "import sct, sys; print([m for m in sys.modules if m.startswith('scipy')])"
    assert run(code) == "[]\n"


LATE = """
import linecache
import numpy as np
import sct
from sct.templates import lookup, rules

before = sum(1 for _ in rules())
assert lookup(len) is not None and sum(1 for _ in rules()) == before
from scipy import special
assert lookup(special.erf).kind == "elementwise"
assert sum(1 for _ in rules()) > before
source = "def f(x):\\n    return special.softmax(x)[0] * special.erf(x[1])\\n"
linecache.cache["f.py"] = (len(source), None, source.splitlines(True), "f.py")
exec(compile(source, "f.py", "exec"))
sct.check_grads(f, np.array([0.3, 0.4]))
"""


@pytest.mark.parametrize("array_api", ["0", "1"])
def test_rules_follow_when_scipy_is_imported(array_api):
    run(LATE, SCIPY_ARRAY_API=array_api)


def likelihood(a, x):
    return np.sum(special.gammaln(a) - special.xlogy(a, x) + special.log_ndtr(x))


def energies(x):
    return np.sum(special.logsumexp(x[:, None] - x, axis=1) ** 2)


def incomplete(a, x):
    return np.sum(special.gammainc(a, x) * special.betainc(a, 2.0, x / 9.0))


def tails(x, m, s):
    return np.sum(stats.norm.logsf(x, m, s)) + stats.t.cdf(m, 3.5)


def of_vectors(x, m):
    return stats.multivariate_normal.logpdf(x, m, np.diag(m * m))


CASES = [
    (likelihood, (Y, 1.0 + Y)),
    (energies, (X,)),
    (incomplete, (Y, Y + 0.1)),
    (tails, (X, 0.3, 1.2)),
    (of_vectors, (X, Y)),
]


@pytest.mark.parametrize("f, args", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_gradient(f, args):
    check(f, args, tuple(range(len(args))))


@pytest.mark.parametrize("f, args", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_gradient_of_the_gradient(f, args):
    df, w = sct.grad(f), np.cos(np.arange(4.0))
    if len(args) == 1:
        check(lambda x: np.sum(df(x) * w), args, (0,))
    elif len(args) == 2:
        check(lambda x, y: np.sum(df(x, y) * w), args, (0, 1))
    else:
        check(lambda x, y, z: np.sum(df(x, y, z) * w), args, (0, 1, 2))


def test_the_text_is_what_a_person_would_write(tmp_path):
    path = tmp_path / "f_grad.py"

    def f(x, a):
        return np.sum(stats.gamma.logpdf(x, a)) + stats.norm.cdf(a)

    sct.save(sct.grad(f, wrt=("x", "a")), path)
    text = path.read_text(encoding="utf-8")
    assert "\nfrom scipy import special, stats\n" in text
    assert "x_bar = out_bar * ((a - 1.0) / x - 1.0)\n" in text
    assert "stats.norm.pdf(a)" in text


def test_a_helper_takes_the_modules_that_it_needs_along(tmp_path):
    path = tmp_path / "f_grad.py"

    def f(a):
        return special.gammainc(a, 2.0)

    df = sct.grad(f)
    sct.save(df, path)
    space: dict = {}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), space)
    assert space["f_grad"](0.7) == df(0.7)
    assert "import sct" not in path.read_text(encoding="utf-8")


def test_an_order_is_held_constant():
    def f(v):
        return special.jv(v, 0.4)

    with pytest.raises(sct.UnsupportedError, match="`v` depends on"):
        sct.grad(f)


def test_a_frozen_distribution():
    def f(m):
        return stats.norm(m, 2.0).logpdf(0.3)

    assert sct.grad(f)(0.5) == pytest.approx((0.3 - 0.5) / 2.0**2)


def test_a_complex_result_of_a_real_argument():
    def f(x):
        return np.abs(special.lambertw(x))

    x_bar = sct.grad(f)(0.7)
    w = special.lambertw(0.7).real
    assert np.isrealobj(x_bar)
    np.testing.assert_allclose(x_bar, w / (0.7 * (1.0 + w)))
