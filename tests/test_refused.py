"""What is refused: the error, its place, why, and what to write instead.

A row is the text of a module whose `f` is refused; `mode` and `wrt` say how, where it
is not the gradient in the first argument.  «Marks» stand around what the error
must underline.  When a construct comes to work, its row goes, and its reason with it;
the registry at the end finds reasons that no row shows, so that none goes unseen.
"""

from __future__ import annotations

import ast
import importlib.util
import itertools
import re
import sys
import textwrap
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

import sct

from .standin import in_place_of_cupy

HEAD = """\
import builtins
import functools
import math
import time
from contextlib import suppress

import numpy as np

import sct

"""
_numbers = itertools.count()


def row(name: str, words: str, text: str, since=(3, 10), marks=()):
    """A refused module, and words that its error must say about the cause."""
    if sys.version_info < since:
        marks = pytest.mark.skipif(True, reason="not in this Python")
    return pytest.param(
        words, textwrap.dedent(text).strip() + "\n", id=name, marks=marks
    )


ROWS = [
    # -- what the text alone tells ---------------------------------------------------
    row(
        "generator",
        "generator.*a few at a time",
        """
        def f(x):
            total = 0.0 * x
            «yield total»
        """,
    ),
    row(
        "generator that hands on",
        "generator",
        """
        def f(x):
            y = «yield from [x, x]»
            return y
        """,
    ),
    row(
        "class in a function",
        "`class` inside a function",
        """
        def f(x):
            «class Pair:»
                first = 1.0
            return x * Pair.first
        """,
    ),
    row(
        "async function",
        "`async def`.*coroutine",
        """
        «async def f(x):»
            return x
        """,
    ),
    row(
        "async function inside",
        "`async`",
        """
        def f(x):
            «async def g():»
                return x
            return g()
        """,
    ),
    row(
        "group of exceptions",
        r"`except\*`",
        """
        def f(x):
            «try:»
                y = math.sqrt(x)
            except* ValueError:
                y = x
            return y
        """,
        since=(3, 11),
    ),
    row(
        "walrus in a comprehension",
        "`:=`",
        """
        def f(x):
            return sum([(«y := v») * y for v in x])
        """,
    ),
    row(
        "exec",
        "`exec`.*by way of strings",
        """
        def f(x):
            «exec»("y = x * x")
            return x
        """,
    ),
    row(
        "eval",
        "`eval`.*by way of strings",
        """
        def f(x):
            return 2.0 * «builtins.eval»("x * x")
        """,
    ),
    row(
        "eval by another name",
        "`eval`.*by way of strings",
        """
        def f(x):
            compute = «eval»
            return compute("x * x")
        """,
    ),
    row(
        "locals",
        "`locals.*by way of strings",
        """
        def f(x):
            return «locals»()["x"]
        """,
    ),
    row(
        "suppress",
        "`suppress`",
        """
        def f(x):
            y = x
            with «suppress(ValueError)»:
                y = math.sqrt(x)
            return y
        """,
    ),
    # -- imports ---------------------------------------------------------------------
    row(
        "import of what is not there",
        "`no_such_module` is not imported yet",
        """
        def f(x):
            «import no_such_module»
            return x * no_such_module.k
        """,
    ),
    row(
        "import under a name in use",
        "its name `m` is given to something else",
        """
        def f(x):
            import math as m
            y = m.sin(x)
            «m» = 2.0
            return m * y
        """,
    ),
    # -- match -----------------------------------------------------------------------
    row(
        "rest of a mapping",
        r"`\*\*rest` in a pattern",
        """
        def f(x):
            match x:
                case «{"a": a, **rest}»:
                    return a * rest["b"]
            return 0.0
        """,
    ),
    row(
        "attributes by position",
        "a pattern by position",
        """
        class Point:
            __match_args__ = ("a", "b")
        def f(x):
            match x:
                case «Point(a, b)»:
                    return a * b
            return 0.0
        """,
    ),
    row(
        "guard whose name is used again",
        "a guard on `a`",
        """
        def f(x):
            a = x[1]
            match x:
                case «[a, b]» if a > b:
                    return b
            return a
        """,
    ),
    row(
        "names on either side",
        r"with `\|`",
        """
        def f(x):
            match x:
                case «[a, 1.0] | [2.0, a]»:
                    return a
            return x[0]
        """,
    ),
    row(
        "star where list is taken",
        "the builtin `list`",
        """
        def f(x):
            list = 2.0
            match x:
                case [a, «*rest»]:
                    return a * list
            return x[0]
        """,
    ),
    # -- try -------------------------------------------------------------------------
    row(
        "effect in a try",
        "has an effect",
        """
        def f(x):
            try:
                «print("x")»
                y = math.sqrt(x)
            except ValueError:
                y = x
            return y
        """,
    ),
    row(
        "return in the middle of a try",
        "a `return` in the middle",
        """
        def f(x):
            try:
                if x > 1.0:
                    «return x»
                y = math.sqrt(x)
            except ValueError:
                y = x
            return y
        """,
    ),
    row(
        "try left half done",
        "`y` is read after",
        """
        def f(x):
            y = x
            «try:»
                y = x * x
                z = math.sqrt(y - 1.0)
            except ValueError:
                z = y
            return z
        """,
    ),
    row(
        "finally that returns",
        "`return` in a `finally`.*takes the place",
        """
        def f(x):
            try:
                y = math.sqrt(x)
            finally:
                «return x»
        """,
    ),
    row(
        "finally beside effects",
        "effects of their own",
        """
        def f(x):
            try:
                print("in")
            finally:
                «print("out")»
            return x
        """,
    ),
    # -- loops -----------------------------------------------------------------------
    row(
        "list that grows under its loop",
        "number of turns would change",
        """
        def f(x):
            values = [x]
            for v in values:
                if len(values) < 3:
                    «values.append(v * x)»
            return values[2]
        """,
    ),
    row(
        "list that grows while it is counted",
        "a list grows",
        """
        def f(x):
            values = [x]
            «for i in range(len(values)):»
                values.append(values[i] * x)
            return values[1]
        """,
    ),
    row(
        "loop where len is taken",
        "the builtin `len`",
        """
        def f(x):
            len = 2.0
            total = 0.0
            «for v in x:»
                total += v * len
            return total
        """,
    ),
    # -- arguments -------------------------------------------------------------------
    row(
        "arguments that the function does not take",
        "`g`.*unexpected keyword argument 'b'",
        """
        def g(x):
            return x * x
        def f(x):
            return «g(x, b=2.0)»
        """,
    ),
    row(
        "arguments that the rule does not take",
        r"`np\.linspace`.*'retstep'",
        """
        def f(x):
            return «np.linspace(x, 1.0, 3, retstep=True)»[1]
        """,
    ),
    row(
        "arguments of unknown number",
        r"unpacked with `\*`",
        """
        def f(x):
            return «math.hypot(*x)»
        """,
    ),
    row(
        "argument that the rule takes for a constant",
        "`repeats` depends on",
        """
        def f(x):
            return np.sum(«np.repeat(x, x)»)
        """,
    ),
    # -- values that go where no rule is ---------------------------------------------
    row(
        "value in a global",
        "`global`",
        """
        def g():
            return KEPT
        def f(x):
            global KEPT
            «KEPT = x * x»
            return x * g()
        """,
    ),
    row(
        "function without rule and source",
        r"no rule for `time\.ctime`, and it has no Python source",
        """
        def f(x):
            return (
                math.sin(x)
                + «time.ctime(x)»
                + math.cos(x)
            )
        """,
    ),
    row(
        "function over several lines",
        r"`time\.ctime`",
        """
        def f(x):
            return «time.ctime(»
                x * x
            )
        """,
    ),
    row(
        "lambda",
        r"`time\.ctime`",
        """
        f = lambda x: 2.0 * «time.ctime(x)»
        """,
    ),
    row(
        "columns in characters",
        r"`time\.ctime`",
        """
        def f(x):
            é = "ü"; y = «time.ctime(x)»
            return y * len(é)
        """,
    ),
    row(
        "callee not known",
        "this call.*not known before it runs",
        """
        TABLE = {"sin": math.sin, "cos": math.cos}
        def f(x, key):
            return «TABLE[key](x)»
        """,
    ),
    row(
        "operator without rule",
        "an active value goes through it",
        """
        def f(x):
            return «x | {"b": 1.0}»
        """,
    ),
    row(
        "random numbers",
        "`numpy.random.normal`",
        """
        def f(x):
            return «np.random.normal(x)»
        """,
    ),
    row(
        "call that may write",
        "may change an array or container in place",
        """
        def f(x):
            «np.random.shuffle(x)»
            return np.sum(x * x)
        """,
    ),
    row(
        "lazy values",
        "generator expression",
        """
        def f(x):
            return «(x * k for k in range(3))»
        """,
    ),
    row(
        "method not known",
        r"`y\.tobytes`.*not known before it runs",
        """
        def f(x):
            y = x * x
            return «y.tobytes()»
        """,
    ),
    row(
        "attribute not known",
        r"attribute `\.ctypes`",
        """
        def f(x):
            y = x * x
            return «y.ctypes»
        """,
    ),
    row(
        "what a manager hands over",
        "context manager",
        """
        def f(x):
            with «np.nditer(x)» as items:
                for v in items:
                    x = x * v
            return np.sum(x)
        """,
    ),
    row(
        "arguments bound anew",
        "`xs` bound anew.*how many",
        """
        wrt = (0, 1)
        def f(*xs):
            total = 0.0
            while xs:
                total = total + xs[0] ** 2
                «xs = xs[1:]»
            return total
        """,
    ),
    row(
        "lambda as a value",
        "a lambda that captures",
        """
        def f(x):
            return «lambda v: v * x»
        """,
    ),
    # -- arrays and containers that change -------------------------------------------
    row(
        "one of two arrays",
        "which names refer to it",
        """
        def f(x, first):
            y = x * 2.0
            «z = y if first else x»
            y[0] = 3.0
            return np.sum(z * y)
        """,
    ),
    row(
        "real part written",
        "real or imaginary part",
        """
        def f(x):
            z = x * x
            «z.real[0] = 2.0»
            return np.sum(z * z)
        """,
    ),
    row(
        "deviation of complex numbers",
        "complex numbers go into it",
        """
        def f(x):
            return «np.std(np.exp(1j * x))»
        """,
    ),
    row(
        "multiplied where an index may be repeated",
        "may name an element twice",
        """
        def f(x, k):
            z = x * x
            «np.multiply.at(z, k, 2.0)»
            return np.sum(z)
        """,
    ),
    row(
        "stored into an array of integers",
        "holds integers",
        """
        def f(x):
            a = np.zeros(3, dtype=int)
            «a[0] = x»
            return np.sum(a) * x
        """,
    ),
    row(
        "rule without a tangent",
        "it has none for tangents",
        """
        def doubled(x):
            return 2.0 * float(x)
        @sct.adjoint(doubled)
        def _(out, x, *, out_bar):
            x_bar = 2.0 * out_bar
            return x_bar
        mode = sct.jvp
        def f(x):
            return «doubled(x)» * x
        """,
    ),
    row(
        "lists repeated",
        "joined or repeated",
        """
        def f(x):
            pair = [x, x * x]
            four = «pair * 2»
            return four[3]
        """,
    ),
    row(
        "slice of a list replaced",
        "several items of a list",
        """
        def f(x):
            parts = [x, x * x, x]
            «parts[1:] = [parts[0], parts[1]]»
            return parts[2]
        """,
    ),
    row(
        "container with keys not known",
        "not made of names and numbers alone",
        """
        def f(x, key):
            table = «{key: x, "a": x * x}»
            return table["a"]
        """,
    ),
    row(
        "callee that writes",
        "may write into an array or container",
        """
        def g(v, n):
            v[0] = 2.0
            if n > 0:
                «g(v, n - 1)»
        def f(x):
            g(x, 2)
            return np.sum(x * x)
        """,
    ),
    row(
        "attribute set",
        "an object is changed",
        """
        def f(x, models):
            «models[0].y = x»
            return models[0].y * x
        """,
    ),
    row(
        "object made here",
        "is a class, and what its objects do",
        """
        class Pair:
            def __new__(cls, first):
                pair = object.__new__(cls)
                pair.first = first
                return pair
        def f(x):
            return «Pair(x)».first
        """,
    ),
    row(
        "object made here and used as a whole",
        "only its attributes, and methods",
        """
        class Pair:
            def __init__(self, first):
                self.first = first
        def f(x):
            pair = Pair(x)
            return str(«pair») and pair.first
        """,
    ),
    row(
        "object made in a loop that keeps a function of it",
        "its constructor cannot be written out here",
        """
        class Pair:
            def __init__(self, first):
                self.first = first
                self.twice = lambda: 2.0 * first
        def f(x, n):
            for _ in range(n):
                pair = «Pair(x)»
                x = pair.first
            return x
        """,
    ),
    row(
        "two names of an object that changes",
        "which of its attributes belong to which object",
        """
        class Pair:
            def __init__(self, first):
                self.first = first
        def f(x, n):
            pair = Pair(x)
            other = Pair(x)
            if n > 0:
                other = pair
            «other.first = 2.0 * x»
            return pair.first
        """,
    ),
    row(
        "object of another class in the next turn",
        "another kind of function or object in the next turn",
        """
        class Half:
            def __init__(self, x):
                self.x = 0.5 * x
            def twice(self):
                return 2.0 * self.x
        class Double(Half):
            def twice(self):
                return 4.0 * self.x
        def f(x, n):
            part = Half(x)
            «for _ in range(n):»
                x = part.twice()
                part = Double(x)
            return x
        """,
    ),
    row(
        "local function that is recursive and keeps a count",
        "`nonlocal`",
        """
        def f(x):
            count = 0
            def power(n):
                «nonlocal count»
                count += 1
                return x if n == 0 else x * power(n - 1)
            return power(3)
        """,
    ),
    row(
        "has_aux without a pair",
        "with `has_aux` it must be a pair",
        """
        def f(x):
            «return x, x, x»

        mode = functools.partial(sct.grad, has_aux=True)
        """,
    ),
    row(
        "a checkpointed function that draws random numbers",
        "is run again.*draws random numbers",
        """
        @sct.checkpoint
        def g(x):
            return x * np.random.normal()

        def f(x):
            return «g(x)» * x
        """,
    ),
    row(
        "fixed point of a local function",
        "which function is solved is not known",
        """
        def f(x):
            def g(z, x):
                return np.cos(z) * x

            return «sct.fixed_point(g, 0.5, x)»
        """,
    ),
    row(
        "columns of a function that draws random numbers",
        "run more than once, as for each column",
        """
        «def f(x):»
            return x * np.random.normal(size=3)

        mode = functools.partial(sct.jacobian, mode="forward")
        """,
    ),
    row(
        "grad_of of an expression",
        "`sct.grad_of` here.*takes one name",
        """
        def f(x):
            y = x * x
            «with sct.grad_of(y[0]) as y_bar:»
                print(y_bar)
            return y
        """,
    ),
    row(
        "a statement that cannot be moved to the backward sweep",
        "moved to the backward sweep",
        """
        def f(x):
            y = x * x
            with sct.grad_of(y) as y_bar:
                «return y_bar»
            return y
        """,
    ),
    row(
        "a name inside and outside a block of grad_of",
        "`k` in a block .*it has a value outside",
        """
        def f(x):
            k = 2.0
            y = k * x
            «with sct.grad_of(y) as y_bar:»
                k = 3.0
                y_bar = k * y_bar
            return y
        """,
    ),
    row(
        "out= in a block of grad_of",
        "`out=` in a block",
        """
        def f(x):
            y = x * x
            with sct.grad_of(y) as y_bar:
                «np.clip(y_bar, -1.0, 1.0, out=y_bar)»
            return np.sum(y)
        """,
    ),
    row(
        "grad_of of a container",
        "the variable is a container",
        """
        def f(x):
            y = [x]
            y.append(x * x)
            «with sct.grad_of(y) as y_bar:»
                print(y_bar)
            return y[-1] * y[0]
        """,
    ),
    row(
        "grad_of in forward mode",
        "in forward mode.*no adjoint",
        """
        def f(x):
            y = x * x
            «with sct.grad_of(y) as y_bar:»
                y_bar = 2.0 * y_bar
            return y

        mode = sct.jvp
        """,
    ),
    row(
        "checkpointed loop over a list",
        "how many turns there are",
        """
        def f(x):
            «for k in sct.checkpointed([1.0, 2.0]):»
                x = k * x
            return x
        """,
    ),
    row(
        "a way out of a checkpointed loop",
        "all turns are run again",
        """
        def f(x):
            for _ in sct.checkpointed(range(9)):
                x = x * x
                if x > 1e3:
                    «break»
            return x
        """,
    ),
    row(
        "an array written into in a checkpointed loop",
        "`u` in a loop .*its turn writes into it",
        """
        def f(x):
            u = x * x
            for i in sct.checkpointed(range(3)):
                «u[i] = u[i - 1] * x[i]»
            return np.sum(u)
        """,
    ),
    row(
        "a value that only a checkpointed loop gives",
        "`y` in a loop .*no value where there is no turn",
        """
        def f(x):
            «for _ in sct.checkpointed(range(3)):»
                y = x * x
                x = y + x
            return y * x
        """,
    ),
    row(
        "fixed point of a function of any number of arguments",
        "must have a parameter of its own for every argument",
        """
        def g(z, *xs):
            return np.cos(z) * xs[0]

        def f(x):
            return «sct.fixed_point(g, 0.5, x)»
        """,
    ),
    row(
        "fixed point of a function that draws random numbers",
        "is run again.*draws random numbers",
        """
        def g(z, x):
            return np.cos(z) * x + np.random.normal()

        def f(x):
            return «sct.fixed_point(g, 0.5, x)»
        """,
    ),
    # -- what another library lacks --------------------------------------------------
    row(
        "function that CuPy lacks",
        "its derivative needs `numpy.insert`, and CuPy has no such function",
        """
        import cupy as cp
        def g(x):
            return cp.sum(x)
        @sct.adjoint(g)
        def rule(out, x, *, out_bar):
            x_bar = out_bar * np.insert(np.ones_like(x), 0, 1.0)[1:]
            return x_bar
        def f(x):
            return cp.sin(«g(x)»)
        """,
    ),
    row(
        "function that NumPy has in Python",
        "no rule for it, and the source that NumPy has",
        """
        import cupy as cp
        def f(x):
            return cp.sum(«cp.union1d(x, x)»)
        """,
    ),
    row(
        "differential equation solved up to an active time",
        "the times themselves are active",
        """
        from scipy.integrate import solve_ivp

        def f(x):
            sol = «solve_ivp(lambda t, y: -x * y, (0.0, x), np.array([1.0]))»
            return sol.y[0, -1]
        """,
        marks=() if importlib.util.find_spec("scipy") else pytest.mark.skip,
    ),
    row(
        "equation solved for a result that is used as a whole",
        "of the result nothing be read but the solution",
        """
        from scipy.optimize import root

        def f(x):
            sol = «root(lambda z: z**3 - x, 1.0)»
            return sum(sol.values())
        """,
        marks=() if importlib.util.find_spec("scipy") else pytest.mark.skip,
    ),
]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """The module of a text, and where it stands."""
    opened = ExitStack()

    def make(text: str):
        if "import cupy" in text:
            opened.enter_context(in_place_of_cupy())
        name = f"refused_{next(_numbers)}"
        path = tmp_path / f"{name}.py"
        path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, path)
        made = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, made)
        spec.loader.exec_module(made)
        return made, str(path)

    with opened:
        yield make


def differentiated(m):
    """The derivative of a row: its gradient in the first argument, unless it says."""
    return getattr(m, "mode", sct.grad)(m.f, wrt=getattr(m, "wrt", 0))


def marked(text: str) -> tuple[str, int, int, int]:
    """A text without its marks; their line and columns in it, counted from one."""
    before, after = text.split("«")
    line = before.count("\n") + 1
    column = len(before) - before.rfind("\n")
    width = len(after.split("»")[0])
    return text.replace("«", "").replace("»", ""), line, column, width


@pytest.mark.parametrize("words, text", ROWS)
def test_refused(module, words, text):
    text, line, column, width = marked(HEAD + text)
    m, path = module(text)
    with pytest.raises(sct.UnsupportedError) as caught:
        differentiated(m)
    error = caught.value
    first, place, shown, caret, advice, *rest = str(error).split("\n")
    assert re.search(words, first)
    assert "cannot be differentiated: " in first
    whole = text.splitlines()[line - 1]
    assert re.fullmatch(rf'  File "{re.escape(path)}", line {line}, in \w+', place)
    assert shown == f"    {whole.strip()}"
    indent = len(whole) - len(whole.lstrip())
    assert caret == " " * (4 + column - 1 - indent) + "^" * width
    assert (error.filename, error.lineno, error.offset) == (path, line, column)
    assert error.text == whole.strip()
    assert re.fullmatch(r"  [A-Z].*\.", advice)
    assert not rest


# -- the way to it ---------------------------------------------------------------------
CHAIN = """
def f(x):
    return 2.0 * middle(x)
def middle(x):
    y = x * x
    return inner(y)
def inner(x):
    return time.ctime(x)
"""


def test_calls_that_led_there(module):
    text = HEAD + CHAIN
    m, path = module(text)
    with pytest.raises(
        sct.UnsupportedError, match=r"no rule for `time\.ctime`"
    ) as caught:
        sct.grad(m.f)
    lines = str(caught.value).split("\n")
    numbered = {s.strip(): n for n, s in enumerate(text.split("\n"), 1)}
    frames = [
        ("return time.ctime(x)", "inner", "time.ctime(x)"),
        ("return inner(y)", "middle", "inner(y)"),
        ("return 2.0 * middle(x)", "f", "middle(x)"),
    ]
    places = [k for k, s in enumerate(lines) if s.startswith("  File")]
    assert len(places) == 3
    for k, (shown, function, part) in zip(places, frames, strict=True):
        line = numbered[shown]
        assert lines[k] == f'  File "{path}", line {line}, in {function}'
        assert lines[k + 1] == f"    {shown}"
        assert lines[k + 2] == "    " + " " * shown.index(part) + "^" * len(part)
    assert [lines[k - 1] for k in places[1:]] == ["  Called here:"] * 2
    assert caught.value.lineno == numbered["return time.ctime(x)"]


def test_lines_of_what_is_written_out_belong_to_its_function(module):
    text = """
def apply(h, x):
    return time.ctime(h(x))
def f(x):
    return apply(lambda v: v * x, x)
"""
    m, path = module(HEAD + text)
    with pytest.raises(sct.UnsupportedError) as caught:
        sct.grad(m.f)
    assert f"line {caught.value.lineno}, in apply" in str(caught.value)
    assert caught.value.text == "return time.ctime(h(x))"


def test_function_without_source_is_refused_where_it_is_called(module):
    text = "compile('def g(x): return x * x', '<nowhere>', 'exec')"
    made = f"made = {{}}\nexec({text}, made)\ng = made['g']\n"
    m, path = module(HEAD + made + "def f(x):\n    return 2.0 * g(x)\n")
    with pytest.raises(
        sct.SourceError, match="cannot find the source of `g`"
    ) as caught:
        sct.grad(m.f)
    error = caught.value
    assert (error.filename, error.text) == (path, "return 2.0 * g(x)")
    assert str(error).split("\n")[-3:] == [
        f'  File "{path}", line {error.lineno}, in f',
        "    return 2.0 * g(x)",
        "                 ^^^^",
    ]


# -- what is no function, and no argument ----------------------------------------------
@pytest.mark.parametrize(
    "ask, error, words",
    [
        (lambda: sct.grad(3.0), sct.ArgumentError, "3.0 is not a function"),
        (
            lambda: sct.grad(time.ctime),
            sct.SourceError,
            "time.ctime has no Python.*give",
        ),
        (
            lambda: sct.grad(lambda x: x, wrt=()),
            sct.ArgumentError,
            "wrt is empty: name",
        ),
        (lambda: sct.grad(lambda x: x, wrt=1), sct.ArgumentError, "wrt=1.*has x"),
        (lambda: sct.grad(lambda x: x, wrt="y"), sct.ArgumentError, "wrt='y'.*has x"),
        (lambda: sct.grad(lambda x: x, (0, "x")), sct.ArgumentError, "names `x` twice"),
    ],
)
def test_refused_entry(ask, error, words):
    with pytest.raises(error, match=words):
        ask()


# -- the registry ----------------------------------------------------------------------
def pattern(node: ast.AST) -> str | None:
    """What a reason in the source of sct says, as a regular expression."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return ".*".join(re.escape(p) for p in re.split(r"\{\w*\}", node.value))
    if isinstance(node, ast.JoinedStr):
        parts = [
            pattern(v) if isinstance(v, ast.Constant) else ".*" for v in node.values
        ]
        return "".join(parts)
    return None


def reasons() -> dict[str, str]:
    """Every reason to refuse that sct knows, with its place."""
    found = {}
    package = Path(sct.__file__).parent
    for path in sorted(package.rglob("*.py")):
        for n in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            why = None
            if isinstance(n, ast.Tuple) and 2 <= len(n.elts) <= 3:
                # (what,) why, what to write instead.
                said = [pattern(e) for e in n.elts]
                if all(said) and n.elts[-1].value.endswith("."):
                    why = said[-2]
            elif isinstance(n, ast.Call) and getattr(n.func, "id", "") == "unsupported":
                why = pattern(n.args[3]) if len(n.args) > 3 else None
            elif isinstance(n, ast.Assign) and getattr(n.targets[0], "id", "") == "why":
                why = pattern(n.value)
            if why:
                found[why] = f"{path.relative_to(package).as_posix()}:{n.lineno}"
    return found


@pytest.mark.skipif(
    sys.version_info < (3, 11), reason="the row of `except*` needs its syntax"
)
def test_every_reason_has_a_row(module):
    said = []
    for p in ROWS:
        if not p.marks:
            m, _ = module(marked(HEAD + p.values[1])[0])
            with pytest.raises(sct.UnsupportedError) as caught:
                differentiated(m)
            said.append(str(caught.value).split("\n")[0])
    known = reasons()
    assert len(known) > 30
    unseen = [w for w in known if not any(re.search(w, s) for s in said)]
    assert unseen == [], "\n".join(known[w] for w in unseen)
