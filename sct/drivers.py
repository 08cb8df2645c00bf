"""Emitted functions that call emitted derivatives: pullbacks, Jacobians, products.

::

    def f_jacobian(x, w):
        out, tape = f_fwd(x, w)
        rows = [
            f_bwd(x, w, tape=tape, out_bar=unit_like(out, k))
            for k in range(entries(out))
        ]
        return from_rows(rows, out, x)

Each stands in one module with the derivatives that it calls.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from dataclasses import dataclass

import gast

from sct import emit, grammar, purity
from sct.analysis.annotations import parameter_facts
from sct.arguments import parameter_names
from sct.assemble import own_parameters, passed_on
from sct.context import Derived
from sct.derive import GIVEN
from sct.draft import Draft, listed, quoted
from sct.entry import entry
from sct.errors import UnsupportedError, unsupported
from sct.normalise import Normal, normalise
from sct.program import Program
from sct.refusals import UNLIKE
from sct.resolve import Binding

CSR = "scipy.sparse"


class Driver(Draft):
    """One function in the making that calls derivatives of another one.

    Parameters
    ----------
    program : Program
        The module that it becomes a part of.
    function : types.FunctionType
        The primal.
    wrt : tuple of str
        The parameters that the derivatives are for.
    origin : types.FunctionType, optional
        The function that `function` is a derivative of, when that is what the emitted
        function is about.
    """

    def __init__(self, program: Program, function, wrt: tuple[str, ...], origin=None):
        self.function, self.wrt = function, wrt
        self.normal: Normal = entry(function, wrt)
        source = normalise(origin or function).source
        taken = set(parameter_names(self.normal.fn))
        super().__init__(program, source, self.normal.scope, taken)
        self.parameters = own_parameters(entry(origin or function, wrt))
        self.stem = self.source.name
        self.containers: set[str] = set()

    def call(self, name: str, **more: str) -> str:
        """The text of a call that passes the parameters on, and gives `more`."""
        args, keywords = passed_on(self.parameters)
        keywords += [gast.keyword(k, grammar.expression(v)) for k, v in more.items()]
        return emit.expression_text(gast.Call(grammar.name(name), args, keywords))

    def apart(self, aux: bool = False) -> Derived:
        """Emit the two sweeps of the primal."""
        program = self.program
        derived, self.containers = program.apart(self.function, self.wrt, aux)
        return derived

    def along(self) -> Derived:
        """The derivative that goes forward, in a run of its own."""
        if not purity.repeatable(self.function):
            source = self.normal.source
            raise unsupported(source, source.tree, "this function", *UNLIKE)
        return self.program.with_tangent(self.normal, self.wrt, GIVEN, False)

    def checks(self, *helpers: str) -> list[str]:
        """Checks of the arguments, of those that no annotation vouches for."""
        facts = parameter_facts(self.normal.fn, self.normal.scope)
        names = [p for p in self.wrt if not facts[p].inexact]
        names = [p for p in names if p not in self.containers]
        given = ", ".join(f"{p}={self.spelled(p)}" for p in names)
        return [f"{self.helper(h)}({given})" for h in helpers if names]

    def spelled(self, parameter: str) -> str:
        """The text for a parameter of `wrt`; of an element, ``xs[0]``."""
        element = self.normal.elements.get(parameter)
        return emit.expression_text(element) if element else parameter

    def write(self, suffix: str, said: str, lines: Iterable[str]) -> str:
        """Emit the function, which has the primal's parameters."""
        name = self.program.reserve(f"{self.stem}_{suffix}", self.normal)
        return self.emit(name, self.parameters, said, lines)


def pullback(
    program: Program,
    function: types.FunctionType,
    wrt: tuple[str, ...],
    single: bool,
    aux: bool = False,
) -> str:
    """Emit ``f_pullback(*args)``, which returns the value and a function of seeds."""
    d = Driver(program, function, wrt)
    derived = d.apart(aux)
    beside = f", {d.names.fresh('aux')}" if aux else ""
    value, back, seed = (d.names.fresh(w) for w in ("value", "pullback", "out_bar"))
    tape = d.names.fresh("tape")
    bars = listed((f"{n}_bar" for n in wrt), single or len(wrt) == 1)
    result = _backward(d, derived, tape, seed)
    if not single and len(wrt) == 1:
        result = f"({result},)"
        bars = f"({bars},)"
    lines = [
        *d.checks("check_inexact"),
        f"{pair(value, beside)}, {tape} = {d.call(d.unit(derived.fwd))}",
        f"def {back}({seed}):\n"
        f"    {d.helper('check_seed')}({seed}, {value})\n"
        f"    return {result}",
        f"return {value}, {back}{beside}",
    ]
    said = (
        f"Return ``({value}, {back}{beside})``: the value, and the function "
        f"``{back}({seed})`` that gives ``{bars}``."
    )
    return d.write("pullback", said, lines)


def pair(value: str, beside: str) -> str:
    """What a primal returns: its value, or that and something beside it."""
    return f"({value}{beside})" if beside else value


@dataclass
class JacobianOf:
    """The emission of ``f_jacobian(*args)`` or ``f_hessian(*args)``.

    Attributes
    ----------
    mode : str or None
        ``"forward"`` for a column for every number of the argument, ``"reverse"`` for
        a row for every number of the result, None for what is less.
    origin : types.FunctionType or None
        The function of which this is the Hessian, whose gradient is differentiated.
    aux : bool
        Whether the function returns a pair, of which the first is differentiated.
    array : type or None
        The class of sparse arrays to return one of; the function then takes a `pattern`
        of rows, columns and the colours of columns.
    """

    mode: str | None
    origin: types.FunctionType | None = None
    aux: bool = False
    array: type | None = None

    def __call__(
        self,
        program: Program,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        single: bool,
    ) -> str:
        """Emit it; a mode that is not asked for and refused gives way to the other."""
        self.single = single
        self.driver = d = Driver(program, function, wrt, self.origin)
        self.point = listed([d.spelled(p) for p in wrt], single)
        self.out, self.k = d.names.fresh("out"), d.names.fresh("k")
        self.beside = f", {d.names.fresh('aux')}" if self.aux else ""
        if self.array is not None:
            return self.written(self.coloured())
        if self.aux or self.mode is not None:
            return self.written(self.lines(self.mode or "reverse"))
        by_columns = self.attempt("forward")
        if self.origin and by_columns:
            # As many as there are rows, and nothing is kept for them.
            return self.written(by_columns)
        by_rows = self.attempt("reverse")
        if not by_rows or not by_columns:
            return self.written(by_rows or by_columns or self.lines("reverse"))
        first, *rest = by_rows
        entries = d.helper("entries")
        test = f"if 0 < {entries}({self.point}) <= {entries}({self.out}):"
        inner = [f"    {s}" for line in by_columns for s in line.split("\n")]
        return self.written([first, "\n".join([test, *inner]), *rest])

    def lines(self, mode: str) -> list[str]:
        """The lines that compute the Jacobian in one mode."""
        return self.columns() if mode == "forward" else self.rows()

    def attempt(self, mode: str) -> list[str]:
        """The same; no lines, and nothing emitted, when that is refused."""
        program = self.driver.program
        before = dict(program.units), dict(program.done)
        try:
            return self.lines(mode)
        except UnsupportedError:
            program.units, program.done = before
            return []

    def written(self, lines: list[str]) -> str:
        """The function whose last lines are given."""
        d, word = self.driver, "Hessian" if self.origin else "Jacobian"
        said = f"Return the {word} of `{d.stem}` in {quoted(d.wrt)}"
        if self.array is not None:
            said += ", as a sparse array of numbers by numbers."
        elif self.single:
            first = d.spelled(d.wrt[0])
            out = f"{first}.shape" if self.origin else "out.shape"
            said += f", of shape ``{out} + {first}.shape``."
        else:
            said += f", one for each{' pair' if self.origin else ''}."
        if self.aux:
            said += f"\n\nBeside it comes what else `{d.stem}` returns."
        complex_ = d.program.holomorphic
        real = "check_complex" if complex_ else "check_real"
        checks = d.checks(*(() if self.origin else ("check_inexact",)), real)
        return d.write(word.lower(), said, [*checks, *lines])

    def rows(self) -> list[str]:
        """The lines that run the backward sweep for every number of the result."""
        d = self.driver
        derived = d.apart(self.aux)
        rows, k = d.names.fresh("rows"), self.k
        tape = d.names.fresh("tape")
        row = _backward(d, derived, tape, f"{d.helper('unit_like')}({self.out}, {k})")
        if not self.single and len(d.wrt) == 1:
            row = f"({row},)"
        count = f"{d.builtin('range')}({d.helper('entries')}({self.out}))"
        return [
            f"{pair(self.out, self.beside)}, {tape} = {d.call(d.unit(derived.fwd))}",
            f"{rows} = [{row} for {k} in {count}]",
            f"return {d.helper('from_rows')}({rows}, {self.out}, {self.point})"
            f"{self.beside}",
        ]

    def coloured(self) -> list[str]:
        """The lines that go forward for all columns of one colour at a time."""
        d, derived = self.driver, self.driver.along()
        words = ("pattern", "rows", "columns", "colours", "products", "values")
        pattern, rows, columns, colours, products, values = map(d.names.fresh, words)
        jvp, x = d.unit(derived.jvp), self.point
        whole, maximum = d.names.fresh("jacobian"), d.builtin("max")
        some = f"{d.helper('some_like')}({x})"
        where = f"{d.helper('units_where')}({x}, {colours} == {self.k})"
        dot = derived.dots[d.wrt[0]]
        product, check = (f"{d.call(jvp, **{dot: seed})}[1]" for seed in (where, some))
        turns = f"{d.builtin('range')}({maximum}({colours}) + 1)"
        d.bindings["csr_array"] = Binding("global", "csr_array", CSR, self.array)
        # Its own parameter, which the derivatives are not given.
        d.parameters.kwonlyargs.append(gast.Name(pattern, gast.Param(), None, None))
        d.parameters.kw_defaults.append(None)
        shape = f"({products}[0].size, {x}.size)"
        values_at = f"{d.helper('values_at')}({products}, {rows}, {columns}, {colours})"
        return [
            f"{rows}, {columns}, {colours} = {pattern}",
            f"{products} = [{product} for {self.k} in {turns}]",
            f"{values} = {values_at}",
            f"{whole} = csr_array(({values}, ({rows}, {columns})), {shape})",
            f"{d.helper('check_pattern')}({whole}, {check}, {some})",
            f"return {whole}",
        ]

    def columns(self) -> list[str]:
        """The lines that go forward for every number of the argument."""
        d, derived = self.driver, self.driver.along()
        columns, k = d.names.fresh("columns"), self.k
        unit = f"{d.helper('unit_like')}({self.point}, {k})"
        count = f"{d.builtin('range')}({d.helper('entries')}({self.point}))"
        last = f"return {d.helper('from_columns')}({columns}, {self.point})"
        name = d.unit(derived.jvp)
        if self.single:
            column = d.call(name, **{derived.dots[d.wrt[0]]: unit})
            return [f"{columns} = [{column}[1] for {k} in {count}]", last]
        dots = {p: d.names.fresh(f"{p}_dot") for p in d.wrt}
        column = d.call(name, **{derived.dots[p]: dots[p] for p in d.wrt})
        taken = ", ".join(dots.values()) + ("," if len(dots) == 1 else "")
        return [
            f"{columns} = []",
            f"for {k} in {count}:\n"
            f"    {taken} = {unit}\n"
            f"    {columns}.append({column}[1])",
            last,
        ]


def ggnvp(
    program: Program,
    function: types.FunctionType,
    wrt: tuple[str, ...],
    single: bool,
    curvature: str | None,
) -> str:
    """Emit ``f_ggnvp(*args, v=...)``.

    `curvature` is the emitted product of the Hessian of the loss and a vector; None
    where that is the vector itself.
    """
    d = Driver(program, function, wrt)
    derived, along = d.apart(), d.along()
    v = d.names.fresh("v")
    dots = [v] if single else [d.names.fresh(f"{p}_dot") for p in wrt]
    out, tape, out_dot = (d.names.fresh(w) for w in ("out", "tape", "out_dot"))
    seed = out_dot if curvature is None else f"{d.unit(curvature)}({out}, v={out_dot})"
    names = {along.dots[p]: dot for p, dot in zip(wrt, dots, strict=True)}
    back = {derived.tape: tape, derived.seed: seed}
    result = d.call(d.unit(derived.bwd), **back)
    lines = [
        *([] if single else [f"{listed(dots)} = {v}"]),
        *d.checks("check_inexact"),
        f"{out}, {tape} = {d.call(d.unit(derived.fwd))}",
        f"{out_dot} = {d.call(d.unit(along.jvp), **names)}[1]",
        f"return {result}" + ("," if not single and len(wrt) == 1 else ""),
    ]
    d.parameters.kwonlyargs.append(gast.Name(v, gast.Param(), None, None))
    d.parameters.kw_defaults.append(None)
    said = f"Return the product of the Gauss-Newton matrix of `{d.stem}` and `{v}`."
    return d.write("ggnvp", said, lines)


def elementwise_grad(
    program: Program, function: types.FunctionType, wrt: tuple[str, ...], single: bool
) -> str:
    """Emit ``f_elementwise_grad(*args)``: all elements go forward at once."""
    d = Driver(program, function, wrt)
    ones = d.helper("ones_for")
    parts = []
    for p in wrt:
        along = program.with_tangent(d.normal, (p,), GIVEN, False)
        seed = {along.dots[p]: f"{ones}({d.spelled(p)})"}
        part = f"{d.call(d.unit(along.jvp), **seed)}[1]"
        parts.append(f'{d.helper("beside")}({part}, {d.spelled(p)}, "{p}")')
    said = f"Return the derivative of each element of `{d.stem}` in {quoted(wrt)}."
    return d.write("elementwise_grad", said, [f"return {listed(parts, single)}"])


def _backward(d: Driver, derived: Derived, tape: str, seed: str) -> str:
    """A call of the backward sweep that leaves the tape as it is."""
    deep = consumption(d.program, derived.bwd)
    if deep:
        more = ", True" if deep > 1 else ""
        tape = f"{d.helper('unspent')}({tape}{more})"
    name = d.unit(derived.bwd)
    return d.call(name, **{derived.tape: tape, derived.seed: seed})


def consumption(program: Program, name: str) -> int:
    """What a backward sweep does to its tape.

    Returns
    -------
    int
        0 for nothing, 1 when it empties lists, 2 when it writes into arrays as well.
    """
    done: set[str] = set()
    pending, found = [name], 0
    while pending:
        unit = program.units[pending.pop()]
        if unit.name in done:
            continue
        done.add(unit.name)
        if unit.name in program.restoring:
            return 2
        for s in grammar.statements(unit.tree.body):
            calls = [n for h in grammar.heads(s) for n in gast.walk(h)]
            for n in calls:
                if not isinstance(n, gast.Call):
                    continue
                if getattr(n.func, "attr", "") == "pop":
                    found = 1
                binding = unit.bindings.get(getattr(n.func, "id", ""))
                if binding is not None and binding.kind == "unit":
                    pending.append(binding.name)
    return found
