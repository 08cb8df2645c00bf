"""Derivatives of the solutions of differential equations.

The tangent is solved for beside the solution; the adjoint backwards in time, from each
time at which the solution is known to the one before it, ::

    dy/dt = f(t, y, x)      d y_bar/dt = -y_bar @ df/dy      d x_bar/dt = -y_bar @ df/dx

by the solver, and within the tolerances, by which the solution was found.  So these are
derivatives of the exact solution, as near to it as the solution itself is.
"""

from __future__ import annotations

import importlib

from sct.arguments import parameter_names
from sct.context import Derived
from sct.draft import Draft, listed, parameters
from sct.implicit import Solved
from sct.normalise import normalise
from sct.resolve import Binding
from sct.runtime_solvers import trajectory
from sct.solvers import SCIPY_IVP
from sct.structures import of_function

# What `odeint` is called within `solve_ivp`, and its tolerance.
LSODA = {"method": '"LSODA"', "rtol": "1.49012e-8", "atol": "1.49012e-8"}


class _Flow(Draft):
    """The derivative of a flow, in the making."""

    def __init__(self, program, call: Solved):
        self.call, self.normal = call, normalise(call.function)
        first, second, *others = parameter_names(self.normal.fn)
        self.params = others[: call.count]
        self.rows = call.solver is trajectory
        self.y, self.t = (first, second) if self.rows else (second, first)
        # The arguments of the function that is solved, in its order.
        self.given = ", ".join([first, second, *self.params])
        self.active = [self.params[k] for k in call.which]
        self.stem = self.normal.source.name
        # Parameters that are, or may be, containers.
        self.structures = of_function(call.function).all
        taken = {first, second, *self.params, *call.options}
        super().__init__(program, self.normal.source, self.normal.scope, taken)
        self.start = self.names.fresh(f"{self.y}0")
        self.span = "" if self.rows else self.names.fresh(f"{self.t}_span")
        self.bars = {p: self.names.fresh(f"{p}_bar") for p in self.moving}
        self.dots = {p: self.names.fresh(f"{p}_dot") for p in self.moving}

    @property
    def moving(self) -> list[str]:
        """What is differentiated: the start, and parameters."""
        return [*([self.start] if self.call.start else []), *self.active]

    @property
    def arguments(self) -> list[str]:
        """What a derivative is given besides its keywords."""
        span = [self.span] if self.span else []
        return [self.y, self.t, *span, self.start, *self.params]

    def size(self, parameter: str) -> str:
        """How many numbers there are in a parameter."""
        if parameter in self.structures:
            return f"{self.helper('entries')}({parameter})"
        return f"{self.numpy()}.size({parameter})"

    def row(self, inc: str, parameter: str) -> str:
        """The adjoint of a parameter in a row."""
        if parameter in self.structures:
            return f"{self.helper('row_of')}({inc}, {parameter})"
        return f"{self.numpy()}.ravel({inc})"

    def like(self, row: str, parameter: str) -> str:
        """A row as the adjoint of a parameter."""
        word = "filled_like" if parameter in self.structures else "shaped_like"
        return f"{self.helper(word)}({row}, {parameter})"

    def solver(self) -> str:
        """The name here of `solve_ivp`."""
        module, word = SCIPY_IVP
        value = getattr(importlib.import_module(module), word)
        return self.imported(word, Binding("global", word, module, value))

    def function(self) -> str:
        """The name here of the function that is solved."""
        binding = Binding("value", self.stem, value=self.call.function)
        return self.imported(self.stem, binding)

    def options(self) -> str:
        """How the solution was found, as keywords."""
        said = dict(LSODA) if self.rows else {}
        said |= {word: word for word in self.call.options}
        return "".join(f", {word}={value}" for word, value in said.items())

    def system(self, word: str, more: list[str], said: str, lines) -> str:
        """Emit a larger equation, the state of which has several parts."""
        name = self.program.reserve(f"{self.stem}_{word}_system", self.normal)
        given = [self.t, self.state, self.n, *self.params, *more]
        args = parameters(", ".join(given))
        return self.emit(name, args, said, lines)


def _inner(d: _Flow) -> _Flow:
    """The draft of the system, with names of its own for what it holds."""
    s = _Flow(d.program, d.call)
    s.names.used |= {*d.dots.values()}
    s.state, s.n = s.names.fresh("state"), s.names.fresh("n")
    return s


def adjoint_of_flow(program, call: Solved) -> Derived:
    """The derivative of a flow in reverse mode.

    Parameters
    ----------
    program : derive.Program
        The module that it becomes a part of.
    call : Solved
        The call of `flow` or `trajectory`.
    """
    d = _Flow(program, call)
    by = program.called(d.normal, (d.y, *d.active), whole=True)
    s = _inner(d)
    y_bar, rate = s.names.fresh(f"{d.y}_bar"), s.names.fresh("rate")
    incs = [s.names.fresh(f"{p}_inc") for p in (d.y, *d.active)]
    np_, back = s.numpy(), s.unit(by.grad)
    rows = [f"-{s.row(i, p)}" for i, p in zip(incs[1:], d.active)]
    parts = [rate, f"-{incs[0]}", *rows]
    system = s.system(
        "adjoint",
        [],
        f"Return how `{d.y}`, its adjoint and those of parameters change with `{d.t}`.",
        [
            f"{d.y}, {y_bar} = {s.state}[:{s.n}], {s.state}[{s.n} : 2 * {s.n}]",
            f"{rate} = {s.function()}({d.given})",
            f"{listed(incs, len(incs) == 1)} = {back}({d.given}, {by.seed}={y_bar})",
            f"return {np_}.concatenate([{', '.join(parts)}])",
        ],
    )
    seed, np_ = d.names.fresh("out_bar"), d.numpy()
    n, bars, before, i, sol = map(d.names.fresh, ("n", "bars", "before", "i", "sol"))
    at = (lambda x: f"{x}[{i}]") if d.rows else (lambda x: f"{x}[:, {i}]")
    sizes = [d.size(p) for p in d.active]
    begin = f"{d.t}[0]" if d.rows else f"{d.span}[0]"
    args = listed([n, *d.params])
    whole = f"{np_}.concatenate([{at(d.y)}, {bars}])"
    come = at(seed)
    turns = f"{d.builtin('range')}({d.builtin('len')}({d.t}))"
    back = f"({d.t}[{i}], {before}[{i}])"
    given = f"t_eval={before}[{i} : {i} + 1], args={args}{d.options()}"
    lines = [
        f"{n} = {d.builtin('len')}({d.start})",
        f"{bars} = {np_}.zeros({' + '.join([n, *sizes])})",
        f"{before} = {np_}.append({begin}, {d.t}[:-1])",
        f"for {i} in {d.builtin('reversed')}({turns}):\n"
        f"    {bars} = {np_}.concatenate([{bars}[:{n}] + {come}, {bars}[{n}:]])\n"
        f"    if {d.t}[{i}] != {before}[{i}]:\n"
        f"        {sol} = {d.solver()}({d.unit(system)}, {back}, {whole}, {given})\n"
        f"        {bars} = {sol}.y[{n}:, -1]",
    ]
    results, at_ = [], n
    if call.start:
        results.append(d.like(f"{bars}[:{n}]", d.start))
    for p, size in zip(d.active, sizes):
        end = f"{at_} + {size}"
        results.append(d.like(f"{bars}[{at_} : {end}]", p))
        at_ = end
    lines.append(f"return {listed(results, len(results) == 1)}")
    word = call.solver.__name__
    said = (
        f"Return ``{listed(d.bars.values(), len(d.bars) == 1)}`` for the adjoint "
        f"`{seed}` of `{d.y}`, the solution of `{d.stem}`: solved backwards in time."
    )
    name = program.reserve(f"{d.stem}_{word}_grad", d.normal)
    keywords = ", ".join([*call.options, seed])
    d.emit(name, parameters(f"{', '.join(d.arguments)}, *, {keywords}"), said, lines)
    return Derived(call.parameters, grad=name, seed=seed, implicit=True)


def tangent_of_flow(program, call: Solved) -> Derived:
    """The derivative of a flow in forward mode.

    Parameters
    ----------
    program : derive.Program
        The module that it becomes a part of.
    call : Solved
        The call of `flow` or `trajectory`.
    """
    d = _Flow(program, call)
    by = program.with_tangent(d.normal, (d.y, *d.active))
    s = _inner(d)
    y_dot, rate, rate_dot = map(s.names.fresh, (f"{d.y}_dot", "rate", "rate_dot"))
    np_ = s.numpy()
    passed = {d.y: y_dot, **{p: d.dots[p] for p in d.active}}
    given = "".join(f", {by.dots[p]}={dot}" for p, dot in passed.items())
    system = s.system(
        "tangent",
        [d.dots[p] for p in d.active],
        f"Return how `{d.y}` and its tangent change with `{d.t}`.",
        [
            f"{d.y}, {y_dot} = {s.state}[:{s.n}], {s.state}[{s.n}:]",
            f"{rate}, {rate_dot} = {s.unit(by.jvp)}({d.given}{given})",
            f"return {np_}.concatenate([{rate}, {rate_dot}])",
        ],
    )
    np_, (n, sol) = d.numpy(), map(d.names.fresh, ("n", "sol"))
    begin = d.dots[d.start] if call.start else f"{np_}.zeros({n})"
    args = listed([n, *d.params, *[d.dots[p] for p in d.active]])
    span = f"({d.t}[0], {d.t}[-1])" if d.rows else d.span
    start = f"{np_}.concatenate([{d.start}, {begin}])"
    end = f"{sol}.y[{n}:]" + ".T" * d.rows
    lines = [
        f"{n} = {d.builtin('len')}({d.start})",
        f"{sol} = {d.solver()}({d.unit(system)}, {span}, {start}, t_eval={d.t}, "
        f"args={args}{d.options()})",
        f"return {end}",
    ]
    said = f"Return the tangent of `{d.y}`, the solution of `{d.stem}`."
    word = call.solver.__name__
    name = program.reserve(f"{d.stem}_{word}_jvp", d.normal)
    keywords = ", ".join([*call.options, *d.dots.values()])
    d.emit(name, parameters(f"{', '.join(d.arguments)}, *, {keywords}"), said, lines)
    dots = dict(zip(call.parameters, d.dots.values(), strict=True))
    return Derived(call.parameters, jvp=name, dots=dots, implicit=True)
