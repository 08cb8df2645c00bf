"""Functions that are written with CuPy, where there is no GPU.

What is emitted for them is run on the stand-in of `standin.py`, and gives what the same
function gives when it is written with NumPy.  (`test_cupy_names.py` looks for every
name in CuPy itself.)
"""

from __future__ import annotations

import copy
import importlib
import inspect
import itertools
import linecache
import re
import sys
import types

import numpy as np
import pytest

import sct
from generated_examples.regenerate import EXAMPLES
from sct.errors import ArgumentError, UnsupportedError
from sct.resolve import canonical
from sct.templates import lookup

from . import standin, test_inplace, test_polybench
from .rules.test_rules import ROWS
from .standin import fetched, in_place_of_cupy, sent
from .test_kernels import along, slope

NUMPY = re.compile(r"\bnp\b")
COUNT = itertools.count()

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.fixture
def cupy():
    with in_place_of_cupy() as made:
        yield made


def module_of(text: str, **space: object) -> types.ModuleType:
    """A module with this text, which `inspect` finds."""
    name = f"with_cupy_{next(COUNT)}"
    filename = f"<{name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    made = types.ModuleType(name)
    made.__dict__.update(space)
    sys.modules[name] = made
    exec(compile(text, filename, "exec", dont_inherit=True), made.__dict__)
    return made


@pytest.fixture(autouse=True)
def without_modules():
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith("with_cupy_"):
            del sys.modules[name]


def with_numpy(text: str, **space: object):
    return module_of("import numpy as np\n" + text, **space).f


def with_cupy(text: str, **space: object):
    """The function of a text that says `np`, written with CuPy."""
    text = NUMPY.sub("cp", text)
    return module_of("import cupy as cp\n" + text, **sent(space)).f


def parts(value: object) -> list:
    """The numbers and arrays of a structure, in its order."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [p for v in value for p in parts(v)]
    held = vars(value) if hasattr(value, "__dict__") else {}
    if held and not hasattr(value, "dtype"):
        return parts(held)
    return [value]


def same(ours: object, theirs: object, rtol: float = 1e-11) -> None:
    """Check that two results have one structure, shapes, precision and numbers."""
    ours, theirs = parts(ours), parts(fetched(theirs))
    assert len(ours) == len(theirs)
    for x, y in zip(ours, theirs, strict=True):
        assert (x is None) == (y is None)
        if x is None or isinstance(x, str):
            continue
        assert np.shape(x) == np.shape(y)
        if hasattr(x, "dtype") and hasattr(y, "dtype"):
            assert x.dtype == y.dtype
        np.testing.assert_allclose(y, x, rtol=rtol, atol=1e-11)


# -- the examples of the project, which are whole programs --------------------------
def seeds_of(example) -> dict[str, object]:
    """The keywords that a derivative is called with."""
    names = list(inspect.signature(example.function).parameters)
    wrt = example.wrt if isinstance(example.wrt, tuple) else (example.wrt,)
    wrt = [w if isinstance(w, str) else names[w] for w in wrt]
    values = [example.arguments[names.index(w)] for w in wrt]
    ones = [np.ones(np.shape(v)) if np.ndim(v) else 1.0 for v in values]
    if example.mode == "jvp":
        return {f"{w}_dot": one for w, one in zip(wrt, ones)}
    if example.mode == "hvp":
        return {"v": tuple(ones) if isinstance(example.wrt, tuple) else ones[0]}
    if example.mode == "vjp":
        out = example.function(*copy.deepcopy(example.arguments))
        return {"out_bar": np.ones(np.shape(out))}
    return {}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_examples(example, cupy):
    module = sys.modules[example.function.__module__]
    text = inspect.getsource(module).replace("import numpy as np", "import cupy as cp")
    made = module_of(NUMPY.sub("cp", text))
    written = getattr(made, example.function.__name__)
    derivative, seeds = getattr(sct, example.mode), seeds_of(example)
    df = derivative(written, example.wrt)
    same(
        example.derivative()(*copy.deepcopy(example.arguments), **seeds),
        df(*sent(example.arguments, made), **sent(seeds)),
    )
    if NUMPY.search(inspect.getsource(example.function)):
        assert "numpy" not in sct.source(df)


def takes_cupys(example) -> bool:
    """Whether a function written with NumPy takes arrays of another library's."""
    try:
        example.function(*sent(example.arguments))
    except (TypeError, AttributeError):
        return False
    return True


def test_examples_written_with_numpy_take_its_arrays(cupy):
    """By NumPy's protocols, and without ever becoming NumPy's.

    For a number that is a seed NumPy's functions would make an array of their own.
    """
    given = [e for e in EXAMPLES if e.mode not in ("jacobian", "hessian")]
    given = [e for e in given if e.function.__module__.endswith(("arrays", "networks"))]
    taken = [e for e in given if takes_cupys(e)]
    assert len(taken) > 20
    for example in taken:
        df, seeds = example.derivative(), seeds_of(example)
        if example.mode in ("grad", "value_and_grad"):
            seeds = {"out_bar": np.array(0.8)}
        same(
            df(*copy.deepcopy(example.arguments), **seeds),
            df(*sent(example.arguments), **sent(seeds)),
        )


# -- rules -------------------------------------------------------------------------
def spelled(value: object, name: str, given: dict[str, object]) -> str:
    """The text of an argument, whose arrays and numbers become parameters."""
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        items = [spelled(v, f"{name}_{i}", given) for i, v in enumerate(value)]
        whole = ", ".join(items)
        if isinstance(value, list):
            return f"[{whole}]"
        return f"({whole},)" if items else "()"
    if isinstance(value, (np.ndarray, float)) and np.asarray(value).dtype.kind in "fc":
        given[name] = value
    return name


class Call:
    """A row of the tables, as a function of its floats."""

    def __init__(self, row, path: str):
        self.given: dict[str, object] = {}
        self.space: dict[str, object] = {}
        bound = lookup(row.primal).signature.bind(*row.args, **row.kwargs).arguments
        wrt = row.wrt or lookup(row.primal).wrt
        named = list(bound)
        args = []
        for i, a in enumerate(row.args):
            active = named[min(i, len(named) - 1)] in wrt
            args.append(self.argument(f"a{i}", a, active))
        pairs = row.kwargs.items()
        args += [f"{k}={self.argument(k, a, k in wrt)}" for k, a in pairs]
        call = f"np.{path}({', '.join(args)})"
        if path.startswith("ndarray."):
            call = f"{args[0]}.{path.removeprefix('ndarray.')}({', '.join(args[1:])})"
        self.text = f"def f({', '.join(self.given)}):\n    return {call}\n"

    def argument(self, name: str, value: object, active: bool) -> str:
        floats: dict[str, object] = {}
        text = spelled(value, name, floats)
        if active and floats:
            self.given.update(floats)
            for other in set(re.findall(r"\w+", text)) - set(floats):
                self.space[other] = item(value, other.removeprefix(name))
            return text
        self.space[name] = value
        return name


def item(value: object, path: str) -> object:
    for i in filter(None, path.split("_")):
        value = value[int(i)]
    return value


def calls() -> dict[str, Call]:
    """A call for each function that CuPy has, way to call it and rank of arguments."""
    found: dict[tuple, Call] = {}
    modules = standin.standin()
    for row in ROWS:
        rule, name = lookup(row.primal), canonical(row.primal)
        path = name.removeprefix("numpy.")
        owner, _, word = path.rpartition(".")
        owner = modules["cupy"] if not owner else modules.get(f"cupy.{owner}")
        method = path.startswith("ndarray.") and path.count(".") == 1
        there = hasattr(standin.ndarray, word) if method else hasattr(owner, word)
        if path == name or not there or rule.kind == "zero":
            continue
        ranks = [str(isinstance(a, np.ndarray) and a.ndim > 0) for a in row.args]
        key = (path, *sorted(row.kwargs), *ranks)
        call = Call(row, path)
        if call.given and key not in found:
            found[key] = call
    return {f"{n} {key[0]}": call for n, (key, call) in enumerate(found.items())}


CALLS = calls()


def like(value: object) -> object:
    """Numbers in the place of those of a result, floats for numbers."""
    if isinstance(value, (tuple, list)):
        items = [like(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if np.asarray(value).dtype.kind not in "fc":
        return np.zeros(np.shape(value)) if np.shape(value) else 0.0
    if not np.ndim(value):
        return 0.7
    count = np.arange(1.0, np.size(value) + 1.0).reshape(np.shape(value))
    return np.cos(count).astype(np.asarray(value).dtype)


def accepted(f, given) -> object:
    """What a function gives for CuPy's arrays; None where that is nothing."""
    try:
        return f(*sent(given))
    except (TypeError, AttributeError, ValueError):
        return None


def tangent_like(value: object) -> object:
    """A tangent, which is an array where its argument is one."""
    return np.asarray(like(value)) if isinstance(value, np.ndarray) else like(value)


@pytest.mark.parametrize("name", CALLS)
def test_rules(name, cupy):
    call = CALLS[name]
    ours = with_numpy(call.text, **call.space)
    theirs = with_cupy(call.text, **call.space)
    given, wrt = list(call.given.values()), tuple(call.given)
    if accepted(theirs, given) is None:
        pytest.skip("CuPy takes no such arguments")
    out = ours(*copy.deepcopy(given))
    try:
        expected = sct.vjp(ours, wrt)(*copy.deepcopy(given), out_bar=like(out))
    except UnsupportedError:
        with pytest.raises(UnsupportedError):
            sct.vjp(theirs, wrt)
        return
    same(expected, sct.vjp(theirs, wrt)(*sent(given), out_bar=sent(like(out))))
    dots = {f"{n}_dot": tangent_like(x) for n, x in call.given.items()}
    same(
        sct.jvp(ours, wrt)(*copy.deepcopy(given), **dots),
        sct.jvp(theirs, wrt)(*sent(given), **sent(dots)),
    )


def test_most_rules_are_tried():
    assert len({name.split()[1] for name in CALLS}) > 200


FIRST = {name.split()[1]: name for name in reversed(CALLS)}


@pytest.mark.parametrize("name", FIRST.values())
def test_second_derivatives(name, cupy):
    call = CALLS[name]
    head, _, value = call.text.partition("return ")
    text = (
        "def total(v):\n"
        "    return np.sum(np.real(v) ** 2) + np.sum(np.imag(v))\n\n"
        f"{head}y = {value}    return total(y)\n"
    )
    ours, theirs = with_numpy(text, **call.space), with_cupy(text, **call.space)
    given, wrt = list(call.given.values()), tuple(call.given)
    alone = with_cupy(call.text, **call.space)
    if not isinstance(accepted(alone, given), standin.ndarray):
        pytest.skip("not a single array")
    v = tuple(tangent_like(x) for x in given)
    try:
        expected = sct.hvp(ours, wrt)(*copy.deepcopy(given), v=v)
    except UnsupportedError:
        pytest.skip("refused with NumPy as well")
    same(expected, sct.hvp(theirs, wrt)(*sent(given), v=sent(v)))


# -- what CuPy does otherwise ------------------------------------------------------
IN_PLACE = """
def element_is_a_view(x):
    v = x[0]
    x[0] = 5.0
    return np.sum(x) * v


def element_changes(x):
    v = x[0]
    v *= 2.0
    return v * np.sum(x * x)


def sum_changes(x):
    s = np.sum(x)
    s *= 3.0
    s += x[1]
    return s * s


def sum_has_two_names(x):
    s = np.sum(x)
    kept = [s]
    for i in range(2):
        s *= 2.0
    return kept[0] * s


def loop_over_elements(x):
    u = np.zeros(4)
    u[0] = x[0]
    for i in range(1, 4):
        v = u[i - 1]
        u[i - 1] = np.sin(v) * x[1]
        u[i] = v * u[i - 1]
    return np.sum(u)


def accumulated(x):
    total = 0.0
    for i in range(3):
        total += np.sum(x**2) * x[i]
    return total


def stencil(x):
    for _ in range(3):
        x[1:-1] += 0.3 * (x[2:] - 2.0 * x[1:-1] + x[:-2]) * x[1:-1]
    return np.sum(x * x)


def held(x):
    items = [x[0], np.sum(x)]
    for i in range(2):
        items.append(items[-1] * items[i])
    return items[-1] * items[1]


def row_is_a_view(x):
    y = np.outer(x, x)
    row = y[1]
    row *= x
    return np.sum(y**2)


def unpacked(x):
    a, b, c = x
    return a * b + np.sin(c)


def iterated(x):
    s = 0.0
    for v in x:
        s = s * v + np.exp(v)
    return s


def smallest(x):
    while np.sum(x) < 40.0:
        x = x * (1.0 + x[2] ** 2)
    return x[0] * x[1]


def added_at(x):
    y = np.zeros(4)
    np.add.at(y, [0, 1, 0], x)
    return np.sum(y**3)
"""
WRITTEN = re.findall(r"def (\w+)", IN_PLACE)


def slopes(f, x: np.ndarray, step: float = 1e-4) -> np.ndarray:
    """Central differences of fourth order, of a function written with CuPy."""
    out = np.zeros_like(x)
    for i in range(len(x)):

        def value(by, i=i):
            moved = x.copy()
            moved[i] += by * step
            return float(f(sent(moved)))

        near, far = value(1) - value(-1), value(2) - value(-2)
        out[i] = (8.0 * near - far) / (12.0 * step)
    return out


@pytest.mark.parametrize("name", WRITTEN)
def test_elements_and_sums_are_arrays(name, cupy):
    module = module_of("import cupy as cp\n" + NUMPY.sub("cp", IN_PLACE))
    f, x = getattr(module, name), np.array([0.7, 1.3, 0.4])
    expected = slopes(f, x)
    given = sent(x)
    x_bar = sct.grad(f)(given)
    np.testing.assert_allclose(fetched(x_bar), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(fetched(given), x)
    direction = np.array([0.3, -0.2, 0.9])
    value, dot = sct.jvp(f)(sent(x), x_dot=sent(direction))
    np.testing.assert_allclose(float(dot), expected @ direction, rtol=1e-7)
    assert float(value) == pytest.approx(float(f(sent(x))), rel=1e-12)


def mentions_none(x):
    v = x[0]
    x[0] = 5.0
    return x.sum() * v


def mentions_numpy(x):
    s = np.sum(x)
    t = s
    s *= 2.0
    return s * t


@pytest.mark.parametrize("f", [mentions_none, mentions_numpy])
def test_arrays_that_a_derivative_was_not_made_for_are_refused(f, cupy):
    x = np.array([0.7, 1.3, 0.4])
    calls = [(sct.grad(f), {}), (sct.vjp(f), {"out_bar": 1.0}), (sct.hessian(f), {})]
    calls += [(sct.jvp(f), {"x_dot": sent(x)}), (sct.hvp(f), {"v": sent(x)})]
    for df, seeds in calls:
        with pytest.raises(ArgumentError, match="x is an array of CuPy's"):
            df(sent(x), **seeds)
    assert np.all(np.isfinite(sct.grad(f)(x)))
    annotated = with_cupy(
        inspect.getsource(f)
        .replace("(x)", "(x: np.ndarray)", 1)
        .replace(f.__name__, "f")
    )
    expected = slopes(annotated, x)
    np.testing.assert_allclose(fetched(sct.grad(annotated)(sent(x))), expected)


def test_what_writes_into_nothing_takes_arrays_of_either(cupy):
    def f(x):
        return (x * x).sum()

    np.testing.assert_allclose(fetched(sct.grad(f)(sent(np.ones(2)))), [2.0, 2.0])


def test_a_sum_that_many_names_may_have_is_not_changed(cupy):
    text = """
    def f(x):
        s = np.sum(x)
        kept = [s]
        for i in range(2):
            s *= 2.0
            kept.append(s)
        return kept[0] * kept[2]
    """
    f = with_cupy(inspect.cleandoc(text))
    assert float(f(sent(np.ones(3)))) == 144.0
    with pytest.raises(ArgumentError, match="which other names refer to it"):
        sct.grad(f)(sent(np.ones(3)))


def test_seeds_may_be_numbers_or_arrays(cupy):
    f = with_cupy("def f(x):\n    return np.linalg.det(x) * np.trace(x)\n")
    x = sent(np.array([[2.0, 0.3], [0.1, 1.0]]))
    same(fetched(sct.grad(f)(x)), sct.grad(f)(x, out_bar=sent(np.array(1.0))))


def test_single_precision_stays(cupy):
    f = with_cupy("def f(x, w):\n    return np.mean(np.tanh(x @ w) ** 2)\n")
    x = sent(np.ones((3, 2), np.float32)), sent(np.ones((2, 2), np.float32))
    assert [g.dtype for g in sct.grad(f, (0, 1))(*x)] == [np.float32] * 2


PROGRAMS = [p.values for p in (*test_polybench.KERNELS, *test_inplace.CASES)]


def rebound(f, np: types.ModuleType):
    """A function of another test, and those it calls, with another `np`."""
    space = {**f.__globals__, "np": np}
    for name, value in f.__globals__.items():
        if isinstance(value, types.FunctionType) and value.__module__ == f.__module__:
            space[name] = types.FunctionType(
                value.__code__, space, name, value.__defaults__, value.__closure__
            )
    made = types.FunctionType(
        f.__code__, space, f.__name__, f.__defaults__, f.__closure__
    )
    made.__annotations__ = f.__annotations__
    return made


@pytest.mark.parametrize(
    "f, args, wrt", PROGRAMS, ids=[f.__name__ for f, *_ in PROGRAMS]
)
def test_programs_that_write_in_place(f, args, wrt, cupy):
    """Right as this library has it, or refused: its elements are views."""
    written = rebound(f, cupy)

    def value(*moved):
        return float(written(*sent(copy.deepcopy(moved))))

    try:
        value(*args)
    except (TypeError, AttributeError, ValueError, IndexError):
        pytest.skip("CuPy takes no such arguments")
    given = sent(copy.deepcopy(args))
    try:
        bars = fetched(sct.grad(written, wrt=wrt)(*given))
    except (UnsupportedError, ArgumentError) as error:
        assert f.__name__ in REFUSED, error
        return
    except TypeError as error:
        assert f.__name__ in NOT_TAKEN, error
        return
    assert f.__name__ not in REFUSED | NOT_TAKEN
    for i, bar in zip(wrt, bars, strict=True):
        expected = slope(value, args, i, 3)
        assert along(args[i], bar, 3) == pytest.approx(expected, rel=1e-6, abs=1e-6)


REFUSED = {
    "name_of_an_array_and_then_of_a_number",
    "view_of_what_changes_before_its_elements_are_used",
}
# A count that is an array where a size is asked for, a list in the place of a mask.
NOT_TAKEN = {
    *("placed_where", "placed_by_a_mask_of_integers"),
    "out_where_it_is_defined",
}


# -- names -------------------------------------------------------------------------
IMPORTS = {
    "import cupy": "cupy.sum(cupy.sin(x) * cupy.linalg.norm(x))",
    "import cupy as cp": "cp.sum(cp.sin(x) * cp.linalg.norm(x))",
    "import cupy as np": "np.sum(np.sin(x) * np.linalg.norm(x))",
    "import numpy as np, cupy as cp": "cp.sum(cp.sin(x) * cp.linalg.norm(x)) * np.e**0",
    "from cupy import sin as s, sum, linalg as LA": "sum(s(x) * LA.norm(x))",
    "from cupy.linalg import norm\nfrom cupy import sin": "(sin(x) * norm(x)).sum()",
}


@pytest.mark.parametrize("line", IMPORTS)
def test_ways_to_import(line, cupy, tmp_path):
    f = module_of(f"{line}\n\ndef f(x):\n    return {IMPORTS[line]}\n").f
    df = sct.grad(f)
    x = np.array([0.3, -1.2])
    norm = np.linalg.norm(x)
    expected = np.cos(x) * norm + np.sum(np.sin(x)) * x / norm
    np.testing.assert_allclose(fetched(df(sent(x))), expected, rtol=1e-12)
    text = sct.source(df)
    assert "import cupy" in text
    assert ("import numpy" in text) == ("numpy" in line)
    second = fetched(sct.hessian(f)(sent(x)))
    np.testing.assert_allclose(second, second.T, rtol=1e-12)


def test_imported_inside(cupy):
    f = module_of("def f(x):\n    import cupy as cp\n    return cp.sum(x**3)\n").f
    np.testing.assert_allclose(fetched(sct.grad(f)(sent(np.ones(2)))), [3.0, 3.0])
    assert "import cupy as cp" in sct.source(sct.grad(f))


def test_saved_modules_need_cupy_alone(cupy, tmp_path, monkeypatch):
    f = with_cupy("def f(x, a):\n    return np.linalg.det(a) * np.prod(x)\n")
    path = tmp_path / "saved.py"
    sct.save(sct.grad(f, (0, 1)), path)
    imports = [s for s in path.read_text().splitlines() if "import" in s.split()[:3]]
    assert imports == ["from __future__ import annotations", "import cupy as cp"]
    for name in [n for n in sys.modules if n.partition(".")[0] == "sct"]:
        monkeypatch.setitem(sys.modules, name, None)
    spec = importlib.util.spec_from_file_location("saved", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    a = np.array([[2.0, 1.0], [0.5, 3.0]])
    x_bar, a_bar = module.f_grad(sent(np.array([2.0, 5.0])), sent(a))
    np.testing.assert_allclose(fetched(x_bar), 5.5 * np.array([5.0, 2.0]))
    np.testing.assert_allclose(fetched(a_bar), 10.0 * np.array([[3, -0.5], [-1, 2]]))


def test_functions_that_mention_no_library_speak_that_of_their_caller(cupy):
    text = """
    def g(x, y):
        return (x * y).sum(axis=0)

    def f(x, y):
        return np.sum(g(x, y) ** 2)
    """
    f = with_cupy(inspect.cleandoc(text))
    df = sct.grad(f, (0, 1))
    assert "numpy" not in sct.source(df)
    x, y = np.ones((2, 3)), np.array([1.0, 2.0, 3.0])
    x_bar, y_bar = df(sent(x), sent(y))
    np.testing.assert_allclose(fetched(x_bar), np.array([[4.0, 16.0, 36.0]] * 2))
    np.testing.assert_allclose(fetched(y_bar), 8.0 * y)


def test_either_library(cupy):
    cupy.get_array_module = lambda *args: cupy
    cupy.get_array_module.__module__ = "cupy"
    cupy.get_array_module.__name__ = "get_array_module"
    text = "    xp = np.get_array_module(x)\n    return xp.sum(xp.exp(x))\n"
    f = with_cupy("def f(x):\n" + text)
    np.testing.assert_allclose(fetched(sct.grad(f)(sent(np.zeros(2)))), [1.0, 1.0])


def test_functions_of_its_own_with_a_rule(cupy):
    class Kernel:
        """What CuPy compiles, such as an `ElementwiseKernel`."""

        __module__ = "cupy"

        def __call__(self, x):
            return x * x

    square = Kernel()

    @sct.elementwise(square)
    def rule(out, x):
        return 2.0 * x

    f = with_cupy("def f(x):\n    return np.sum(square(x))\n", square=square)
    np.testing.assert_allclose(fetched(sct.grad(f)(sent(np.ones(2)))), [2.0, 2.0])


def test_a_function_itself(cupy):
    assert float(sct.grad(cupy.sin)(sent(np.array(0.5)))) == np.cos(0.5)
    text = sct.source(sct.grad(cupy.sin))
    assert "cp.cos(x)" in text and "numpy" not in text


def test_special_functions(cupy):
    special = pytest.importorskip("scipy.special")
    text = "from cupyx.scipy import special\n\ndef f(x):\n    return "
    f = module_of("import cupy as cp\n" + text + "cp.sum(special.gammaln(x))\n").f
    x = np.array([0.7, 2.0])
    np.testing.assert_allclose(fetched(sct.grad(f)(sent(x))), special.digamma(x))
    f = module_of("import cupy as cp\n" + text + "cp.sum(special.j1(x))\n").f
    with pytest.raises(UnsupportedError, match="`scipy.special.jv`, and CuPy has no"):
        sct.grad(f)


def test_what_has_no_rule_is_not_followed_in_numpys_source(cupy):
    f = with_cupy("def f(x):\n    return np.sum(np.union1d(x, x))\n")
    with pytest.raises(UnsupportedError, match="there is no rule for it"):
        sct.grad(f)
