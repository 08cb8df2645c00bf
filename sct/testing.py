"""A rule against its function alone: everything that a rule may get wrong.

``check_rule(np.linalg.solve, a, b)`` calls the function, differentiates it in every way
that sct knows, and compares with what its values say::

    value           that of a derivative is the function's own
    adjoints        shape, precision, and the slope along random directions
    inactive        the same when only some of the arguments are differentiated
    used twice      adjoints add up
    broadcasting    arguments of other shapes, where the rule acts element by element
    single          single precision stays single precision
    tangents        the dot-product test: <w, J v> is <J* w, v>
    second order    reverse and forward over reverse and forward, against differences
"""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import linecache
import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from . import api, templates
from .errors import ArgumentError, CheckError, UnsupportedError
from .resolve import canonical

STEP = 1e-3
# Central differences of sixth order: what is left out is of the order of STEP**6.
WEIGHTS = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
SHAPES = (((2, 1), (3,)), ((3,), (2, 1)), ((), (3,)), ((1, 3), (2, 3)), ((0,), ()))
LITERALS = (int, bool, str, type(None), type(...))


def check_rule(
    fn: Callable,
    *args: object,
    wrt: str | Sequence[str] | None = None,
    modes: Sequence[str] = ("reverse", "forward"),
    order: int = 2,
    symmetric: bool = False,
    rtol: float = 1e-6,
    **kwargs: object,
) -> None:
    """Raise unless the rule of a function agrees with the function.

    Parameters
    ----------
    fn : callable
        A function with a rule, or one that sct follows.
    *args, **kwargs
        A call of it, away from kinks and from the ends of its domain.  Lists and tuples
        of arrays are arguments, too.
    wrt : str or sequence of str, optional
        The parameters to differentiate in; by default those of the rule that are given
        floats or arrays of floats.
    modes : sequence of str, optional
        ``"reverse"`` is always checked; without ``"forward"``, tangents are not.
    order : int, optional
        1 leaves out second derivatives.
    symmetric : bool, optional
        Whether the function is one of symmetric matrices, so that only symmetric
        directions keep them in its domain.
    rtol : float, optional
        The relative tolerance.

    Raises
    ------
    CheckError
        When something disagrees; the message lists all that does.
    UnsupportedError
        When the call is refused in reverse mode.

    Examples
    --------
    >>> import numpy as np
    >>> import sct
    >>> def cube(x, scale=2.0):
    ...     return scale * x * x * x
    >>> @sct.adjoint(cube, wrt=("x",))
    ... def cube_rule(out, x, scale=2.0, *, out_bar):
    ...     x_bar = 2.0 * scale * out_bar * x * x
    ...     return x_bar
    >>> try:
    ...     check_rule(cube, 1.5, modes=("reverse",), order=1)
    ... except sct.CheckError as error:
    ...     print(error)
    the rule of `cube` at x=1.5 disagrees with the function:
      adjoint of `x`: 3.97..., and 5.95... by differences (relative error 0.33)
    """
    case = _Case(fn, args, kwargs, wrt, symmetric, rtol)
    case.value_and_adjoints()
    if not case.faults:
        case.subsets()
        case.used_twice()
        case.broadcasting()
        case.single_precision()
    tangents = "forward" in modes
    if tangents and not case.faults:
        case.tangents()
    if order > 1 and not case.faults:
        case.second_order(tangents)
    if case.faults:
        heading = f"the rule of {case} disagrees with the function:"
        raise CheckError("\n  ".join([heading, *case.faults]))


class _Case:
    """A call, as functions of those of its arguments that are differentiated."""

    def __init__(self, fn, args, kwargs, wrt, symmetric, rtol):
        self.fn, self.symmetric, self.rtol = fn, symmetric, rtol
        self.rule = templates.lookup(fn)
        self.random = np.random.default_rng(0)
        self.faults: list[str] = []
        self.space = {"fn": fn, "np": np, "__name__": "__main__"}
        self.x: dict[str, object] = {}
        names = _parameters(fn, self.rule, len(args))
        given = dict(zip(names, args)) | kwargs
        active = _active(self.rule, given, names, wrt)
        parts = [self.spelled(n, v, n in active) for n, v in zip(names, args)]
        parts += [f"{k}={self.spelled(k, v, k in active)}" for k, v in kwargs.items()]
        self.call = f"fn({', '.join(parts)})"
        if not self.x:
            raise ArgumentError("no argument is a float or an array of floats")
        self.parameters = tuple(self.x)
        self.out = fn(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        if any(_is_single(x) for x in (*self.x.values(), *_leaves(self.out))):
            self.rtol = max(rtol, 1e-3)
        self.v = {n: self.direction(x) for n, x in self.x.items()}
        self.u = {n: self.direction(x) for n, x in self.x.items()}
        self.w = self.like(self.out)

    def __str__(self) -> str:
        shown = ", ".join(f"{n}={_shown(x)}" for n, x in self.x.items())
        return f"`{canonical(self.fn).removeprefix('__main__.')}` at {shown}"

    def spelled(self, name: str, value: object, active: bool) -> str:
        """The text of an argument; what is differentiated is a parameter there."""
        if isinstance(value, (list, tuple)) and type(value) in (list, tuple):
            items = [
                self.spelled(f"{name}_{i}", item, active)
                for i, item in enumerate(value)
            ]
            text = ", ".join(items)
            if isinstance(value, list):
                return f"[{text}]"
            return f"({text},)" if items else "()"
        if active and _is_inexact(value):
            self.x[name] = value
            return name
        if type(value) in (*LITERALS, float):
            return repr(value)
        self.space[f"given_{name}"] = value
        return f"given_{name}"

    def like(self, tree: object) -> object:
        """Random numbers in the place of the floats of a result, zeros elsewhere."""
        if isinstance(tree, (list, tuple)):
            items = [self.like(t) for t in tree]
            return tree._make(items) if hasattr(tree, "_make") else type(tree)(items)
        drawn = self.random.normal(size=np.shape(tree))
        if np.iscomplexobj(tree):
            drawn = drawn + 1j * self.random.normal(size=np.shape(tree))
        if not _is_inexact(tree):
            return np.zeros(np.shape(tree))[()]
        return np.asarray(drawn, dtype=np.asarray(tree).dtype)[()]

    def direction(self, x: object) -> object:
        """A random change of an argument."""
        v = self.like(x)
        if self.symmetric and np.ndim(v) > 1:
            v = v + np.swapaxes(v, -1, -2)
        return v

    # -- functions of the arguments -------------------------------------------------
    def function(self, body: str, **names: object) -> Callable:
        """A function of the differentiated arguments with this text for its body."""
        space = {**self.space, **names}
        lines = [f"def checked({', '.join(self.parameters)}):"]
        lines += [f"    {line}" for line in body.split("\n")]
        text = "\n".join(lines) + "\n"
        filename = f"<check_rule {next(_count)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        exec(compile(text, filename, "exec"), space)
        return space["checked"]

    @functools.cached_property
    def primal(self) -> Callable:
        return self.function(f"return {self.call}")

    @functools.cached_property
    def vjp(self) -> Callable:
        return api.vjp(self.primal, wrt=self.parameters, like=self.examples)

    @property
    def examples(self) -> tuple | None:
        """What derivatives have to be told beforehand: which arguments are complex."""
        given = tuple(self.x.values())
        return given if any(map(np.iscomplexobj, given)) else None

    def at(self, t: float, v: dict[str, object] | None = None) -> list[object]:
        """Copies of the arguments, moved by ``t * v``."""
        v = self.v if v is None else v
        moved = {n: copy.deepcopy(x) for n, x in self.x.items()}
        for n, d in v.items():
            moved[n] = _of_kind(moved[n] + t * d, self.x[n]) if t else moved[n]
        return list(moved.values())

    def slope(self, f: Callable, weights: object, v: dict[str, object]) -> tuple:
        """The derivative of ``<weights, f>`` along `v`, and how far it may be off."""

        def difference(step: float) -> float:
            total = 0.0
            for k, weight in WEIGHTS.items():
                ahead, behind = f(*self.at(k * step, v)), f(*self.at(-k * step, v))
                change = _inner(ahead, weights) - _inner(behind, weights)
                total += weight * change / step
            return total

        found, other = difference(STEP), difference(0.5 * STEP)
        exact = self.complex_step(f, weights, v) if f is self.primal else None
        error = abs(found - other)
        near = 10.0 * error + 1e-12
        if exact is not None and abs(exact - other) <= 1e-6 * abs(exact) + near:
            return exact, 0.0
        return found, error

    def complex_step(self, f, weights, v) -> float | None:
        """The same from one step in the imaginary direction, where that is possible."""
        if any(np.iscomplexobj(x) for x in (*self.x.values(), *_leaves(self.out))):
            return None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                moved = f(*self.at(1e-30j, v))
            found = _inner(moved, weights, part="imag") / 1e-30
        except Exception:
            # It is not a function of complex numbers.
            return None
        return found if np.isfinite(found) else None

    # -- comparisons -----------------------------------------------------------------
    def compare(self, what: str, got: float, expected: float, slack=0.0, by="") -> None:
        """Note a disagreement."""
        error = abs(got - expected)
        scale = max(abs(expected), 1e-3)
        # Written so that a nan on either side is a disagreement.
        if not error <= self.rtol * max(1.0, abs(expected)) + 10.0 * slack:
            self.faults.append(
                f"{what}: {got:.10g}, and {expected:.10g}{by} "
                f"(relative error {error / scale:.2g})"
            )

    def close(self, a: object, b: object) -> bool:
        """Whether two adjoints are the same, but for rounding."""
        rtol = 1e-3 * self.rtol
        return np.allclose(a, b, rtol=rtol, atol=1e-2 * rtol, equal_nan=True)

    def value_and_adjoints(self) -> None:
        value, bars = self.vjp(*self.at(0.0), out_bar=self.w)
        self.same_value("the value of the derivative", value)
        for name, x_bar in zip(self.parameters, bars, strict=True):
            x = self.x[name]
            if np.shape(x_bar) != np.shape(x):
                self.faults.append(
                    f"adjoint of `{name}`: it has the shape {np.shape(x_bar)}, "
                    f"not {np.shape(x)}"
                )
                continue
            if np.iscomplexobj(x_bar) and not np.iscomplexobj(x):
                self.faults.append(f"adjoint of `{name}`: it is complex, `{name}` real")
            v = {name: self.v[name]}
            expected, slack = self.slope(self.primal, self.w, v)
            got = _inner(x_bar, self.v[name])
            what = f"adjoint of `{name}`"
            self.compare(what, got, expected, slack, " by differences")
        self.bars = dict(zip(self.parameters, bars))

    def same_value(self, what: str, value: object) -> None:
        for got, expected in zip(_leaves(value), _leaves(self.out), strict=True):
            same = np.shape(got) == np.shape(expected) and np.array_equal(
                got, expected, equal_nan=np.asarray(expected).dtype.kind in "fc"
            )
            if not same:
                self.faults.append(f"{what} is not that of the function")

    def subsets(self) -> None:
        """Whether adjoints stay when other arguments are held constant."""
        for size in range(1, min(len(self.parameters), 3)):
            for chosen in itertools.combinations(self.parameters, size):
                df = api.vjp(self.primal, wrt=chosen, like=self.examples)
                bars = df(*self.at(0.0), out_bar=self.w)[1]
                for name, x_bar in zip(chosen, bars, strict=True):
                    same = np.shape(x_bar) == np.shape(self.bars[name])
                    if not same or not self.close(x_bar, self.bars[name]):
                        others = set(self.parameters) - set(chosen)
                        self.faults.append(
                            f"adjoint of `{name}` when "
                            f"{', '.join(sorted(others))} is held constant: "
                            "it is another"
                        )

    def used_twice(self) -> None:
        """Whether the adjoints of two uses add up."""
        f = self.function(f"return {self.call}, {self.call}")
        other = self.like(self.out)
        second = self.vjp(*self.at(0.0), out_bar=copy.deepcopy(other))[1]
        seeds = (copy.deepcopy(self.w), other)
        df = api.vjp(f, wrt=self.parameters, like=self.examples)
        bars = df(*self.at(0.0), out_bar=seeds)[1]
        for name, x_bar, more in zip(self.parameters, bars, second, strict=True):
            if not self.close(x_bar, self.bars[name] + more):
                self.faults.append(
                    f"adjoint of `{name}` when it is used twice: "
                    "it is not the sum of both"
                )

    def broadcasting(self) -> None:
        """Whether adjoints are right for arguments of other shapes."""
        if self.rule is None or not self.rule.pointwise or self.examples:
            return
        first = {n: np.ravel(x)[0] for n, x in self.x.items() if np.size(x)}
        if len(first) < len(self.x):
            return
        own, v, w, out = self.x, self.v, self.w, self.out
        bars = self.bars
        for pair in SHAPES:
            given = zip(itertools.cycle(pair), first.items())
            self.x = {
                n: np.full(shape, x) * (1.0 + 0.01 * self.random.random(shape))
                for shape, (n, x) in given
            }
            try:
                self.out = self.primal(*self.at(0.0, {}))
            except Exception:
                # What is held constant does not fit, or it is a function of numbers.
                continue
            self.v = {n: self.direction(x) for n, x in self.x.items()}
            self.w = self.like(self.out)
            self.value_and_adjoints()
        self.x, self.v, self.w, self.out, self.bars = own, v, w, out, bars

    def single_precision(self) -> None:
        """Whether single precision in gives single precision out."""
        narrow = {"d": np.float32, "D": np.complex64}
        given = list(self.x.values())
        if any(np.dtype(getattr(x, "dtype", "O")).char not in narrow for x in given):
            return
        given = [x.astype(narrow[x.dtype.char])[()] for x in given]
        out = self.primal(*copy.deepcopy(given))
        if any(np.asarray(y).dtype.char in "dD" for y in _leaves(out)):
            # The function itself widens.
            return
        _, bars = self.vjp(*given, out_bar=self.like(out))
        for name, x, x_bar in zip(self.parameters, given, bars, strict=True):
            if np.asarray(x_bar).dtype != x.dtype:
                self.faults.append(
                    f"adjoint of `{name}` in single precision: it is "
                    f"{np.asarray(x_bar).dtype}"
                )

    def tangents(self) -> None:
        """Tangents against the function, and against the adjoints."""
        df = self.derived("forward mode", api.jvp, self.primal)
        if df is None:
            return
        dots = {f"{n}_dot": copy.deepcopy(d) for n, d in self.v.items()}
        value, out_dot = df(*self.at(0.0), **dots)
        self.same_value("the value of the tangent", value)
        for y_dot, y in zip(_leaves(out_dot), _leaves(self.out), strict=True):
            if _is_inexact(y) and np.shape(y_dot) != np.shape(y):
                self.faults.append(
                    f"tangent: it has the shape {np.shape(y_dot)}, not {np.shape(y)}"
                )
                return
        got = _inner(out_dot, self.w)
        expected = sum(_inner(self.bars[n], self.v[n]) for n in self.parameters)
        self.compare("tangent", got, expected, by=" by the adjoints")

    def derived(self, what: str, operator: Callable, f: Callable) -> Callable | None:
        """A derivative in all parameters; a refusal is noted."""
        try:
            return operator(f, wrt=self.parameters, like=self.examples)
        except UnsupportedError as error:
            reason = str(error).split("\n")[0]
            self.faults.append(f"{what} is refused: {reason}")
            return None

    def second_order(self, tangents: bool) -> None:
        """Second derivatives in all pairs of modes, of a number made of the result."""
        number = self.function(self.total(), w=self.w)
        gradient = api.grad(number, wrt=self.parameters, like=self.examples)
        names = ", ".join(self.parameters)
        given = {f"u_{n}": d for n, d in self.u.items()}
        bars = "".join(f"{n}_bar, " for n in self.parameters)
        sums = " + ".join(f"np.sum(u_{n} * {n}_bar)" for n in self.parameters)
        if any(np.iscomplexobj(x) for x in self.x.values()):
            sums = f"np.real({sums})"
        body = f"{bars}= {_DERIVATIVE}({names})\nreturn {sums}"
        slope = self.function(body, **{_DERIVATIVE: gradient}, **given)
        expected, slack = self.slope(slope, 1.0, self.v)
        pairs = [("reverse over reverse", api.grad, slope)]
        if tangents:
            pairs.append(("forward over reverse", api.jvp, slope))
            along = api.jvp(number, wrt=self.parameters, like=self.examples)
            dots = ", ".join(f"{n}_dot=u_{n}" for n in self.parameters)
            body = f"return {_DERIVATIVE}({names}, {dots})[1]"
            moved = self.function(body, **{_DERIVATIVE: along}, **given)
            pairs.append(("reverse over forward", api.grad, moved))
            pairs.append(("forward over forward", api.jvp, moved))
        for what, operator, f in pairs:
            df = self.derived(what, operator, f)
            if df is None:
                continue
            if operator is api.grad:
                found = zip(self.parameters, df(*self.at(0.0)))
                got = sum(_inner(x_bar, self.v[n]) for n, x_bar in found)
            else:
                dots = {f"{n}_dot": copy.deepcopy(d) for n, d in self.v.items()}
                got = _inner(df(*self.at(0.0), **dots)[1], 1.0)
            self.compare(what, got, expected, slack, " by differences")

    def total(self) -> str:
        """The body of a function that returns a number: ``<w, fn(...)>``."""
        terms = [
            f"np.sum(w{path} * y{path})"
            for path, leaf in _paths(self.out)
            if _is_inexact(leaf)
        ]
        text = " + ".join(terms)
        if any(np.iscomplexobj(leaf) for leaf in _leaves(self.out)):
            text = f"np.real({text})"
        return f"y = {self.call}\nreturn {text}"


_count = itertools.count(1)
# A name that is no parameter's.
_DERIVATIVE = "derivative_of_the_rule"


def _parameters(fn: Callable, rule: templates.Rule | None, count: int) -> list[str]:
    """The names of the first `count` arguments of a function."""
    signature = rule.signature if rule is not None else inspect.signature(fn)
    names: list[str] = []
    for p in signature.parameters.values():
        if p.kind is p.VAR_POSITIONAL:
            names += [f"{p.name}_{i}" for i in range(count - len(names))]
        elif p.kind is not p.KEYWORD_ONLY:
            names.append(p.name)
    return names[:count]


def _active(rule, given: dict, names: list[str], wrt) -> set[str]:
    """The parameters to differentiate in."""
    if wrt is None:
        chosen = set(given) if rule is None else set(rule.wrt)
    else:
        chosen = {wrt} if isinstance(wrt, str) else set(wrt)
    items = {n for n in names if n.rpartition("_")[0] in chosen}
    unknown = chosen - set(given) - {n.rpartition("_")[0] for n in names}
    if wrt is not None and unknown:
        raise ArgumentError(f"no argument is called `{min(unknown)}`: {[*given]}")
    return chosen | items


def _shown(x: object) -> str:
    """An argument in few words."""
    if np.shape(x):
        return f"{np.asarray(x).dtype}{list(np.shape(x))}".replace(" ", "")
    return f"{x:.6g}"


def _is_inexact(x: object) -> bool:
    return isinstance(x, (float, complex)) or (
        getattr(getattr(x, "dtype", None), "kind", "") in ("f", "c")
    )


def _is_single(x: object) -> bool:
    return _is_inexact(x) and np.finfo(np.asarray(x).dtype).eps > 1e-10


def _of_kind(moved: object, x: object) -> object:
    """A Python number for a Python number."""
    real = type(x) is float and not np.iscomplexobj(moved)
    return float(moved) if real else moved


def _paths(tree: object, path: str = "") -> Iterator[tuple[str, object]]:
    """The leaves of a result, and the subscripts that lead there."""
    if isinstance(tree, (list, tuple)):
        for i, item in enumerate(tree):
            yield from _paths(item, f"{path}[{i}]")
    else:
        yield path, tree


def _leaves(tree: object) -> list[object]:
    return [leaf for _, leaf in _paths(tree)]


def _inner(a: object, b: object, part: str = "real") -> float:
    """The real part of the sum of all products, in double precision."""
    if isinstance(a, (list, tuple)):
        return sum(_inner(x, y, part) for x, y in zip(a, b, strict=True))
    if not _is_inexact(a):
        return 0.0
    return float(getattr(np.sum(np.multiply(a, b, dtype=complex)), part))
