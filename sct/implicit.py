"""Derivatives by the implicit function theorem, of `sct.fixed_point` and `sct.root`.

What an iteration leads to depends on the parameters alone, and so its derivative does
not go back through the iteration: of ``z = g(z, x)`` the adjoint solves an equation of
its own, ::

    u = z_bar + u @ dg/dz           x_bar = u @ dg/dx

and of ``f(z, x) = 0``, ``u @ df/dz = z_bar`` and ``x_bar = -u @ df/dx``.
"""

from __future__ import annotations

import types
from dataclasses import dataclass

import gast

from sct import grammar
from sct.arguments import parameter_names
from sct.context import Derived
from sct.draft import Draft, listed, parameters
from sct.normalise import normalise
from sct.operations import element
from sct.runtime_control import fixed_point
from sct.runtime_solvers import solution


@dataclass(frozen=True)
class Solved:
    """A call of a solver.

    Attributes
    ----------
    solver : types.FunctionType
        `fixed_point` or `root`; `solution`, `flow` or `trajectory` where SciPy solves.
    function : types.FunctionType
        What is solved for its first argument.
    which : tuple of int
        Which of its other arguments are active.
    count : int
        How many others there are.
    options : tuple of str
        Which keywords are given besides.
    start : bool
        Whether a flow starts where an active value says.
    """

    solver: types.FunctionType
    function: types.FunctionType
    which: tuple[int, ...]
    count: int
    options: tuple[str, ...]
    start: bool = False

    @property
    def found(self) -> bool:
        """Whether the solution has been found before."""
        return self.solver is solution

    @property
    def fixed(self) -> bool:
        return self.solver is fixed_point

    @property
    def parameters(self) -> tuple[str, ...]:
        """The solver's own names for what is active."""
        start = ("y0",) if self.start else ()
        return (*start, *(element("params", k) for k in self.which))


def returns_list(fn: gast.FunctionDef) -> bool:
    """Whether a function in ANF returns a list or tuple that it makes."""
    value = fn.body[-1].value if isinstance(fn.body[-1], gast.Return) else None
    made = [value]
    if grammar.is_name(value):
        bound = [s for s in grammar.statements(fn.body) if isinstance(s, gast.Assign)]
        made = [s.value for s in bound if value.id in grammar.writes(s)]
    kinds = (gast.List, gast.Tuple, gast.ListComp)
    return any(isinstance(v, kinds) for v in made)


class _Solution(Draft):
    """The derivative of a solution, in the making."""

    def __init__(self, program, call: Solved):
        self.call, self.normal = call, normalise(call.function)
        self.given = parameter_names(self.normal.fn)[: call.count + 1]
        self.z, *others = self.given
        self.wrt = tuple(others[k] for k in call.which)
        self.stem = self.normal.source.name
        self.lists = returns_list(self.normal.fn)
        taken = {*self.given, *call.options}
        super().__init__(program, self.normal.source, self.normal.scope, taken)

    def all_units(self, function: str) -> str:
        """A list of what a function gives for each unit of `z`, as a template."""
        k = self.names.fresh("k")
        each = function.format(f"{self.helper('unit_like')}({self.z}, {k})")
        return f"[{each} for {k} in {self.turns()}]"

    def array(self, value: str) -> str:
        """What a function gives, as an array where it is a list."""
        return f"{self.numpy()}.array({value})" if self.lists else value

    def turns(self) -> str:
        return f"{self.builtin('range')}({self.helper('entries')}({self.z}))"

    def solved(self, unknown: str, function: str, b: str) -> str:
        """The solution of a linear equation by the solver that is given."""
        product = function.format(unknown)
        if self.call.fixed:
            product = f"{unknown} - {product}"
        return f"solve(lambda {unknown}: {product}, {b})"

    def iterated(self, step: str, b: str) -> str:
        """The solution of ``u = b + ...`` by iteration, `step` being one of it."""
        given = ", ".join(self.given)
        passed = "".join(f", {word}={word}" for word in self.call.options)
        helper = self.helper("fixed_point")
        return f"{helper}({self.unit(step)}, {b}, {b}, {given}{passed})"

    def step(self, word: str, unknown: str, b: str, function: str, units) -> str:
        """Emit the iteration by which a derivative is found."""
        d = Draft(self.program, self.source, self.scope, set(self.given))
        unknown, b = d.names.fresh(unknown), d.names.fresh(b)
        for unit in units:
            d.unit(unit)
        name = self.program.reserve(f"{self.stem}_{word}_step", self.normal)
        args = parameters(f"{unknown}, {b}, {', '.join(self.given)}")
        said = f"Return the next `{unknown}` on the way to the {word} of `{self.stem}`."
        return d.emit(name, args, said, [f"return {b} + {function.format(unknown)}"])


def adjoint_of_solution(program, call: Solved) -> Derived:
    """The derivative of a call of a solver in reverse mode.

    Parameters
    ----------
    program : derive.Program
        The module that it becomes a part of.
    call : Solved
        The call.
    """
    d = _Solution(program, call)
    by_z = program.called(d.normal, (d.z,), whole=True)
    by_others = program.called(d.normal, d.wrt, whole=True)
    seed, u = d.names.fresh("out_bar"), d.names.fresh("u")
    given = ", ".join(d.given)
    across = f"{d.unit(by_z.grad)}({given}, {by_z.seed}={{}})"
    if "solve" in call.options:
        lines = [f"{u} = {d.solved(u, across, seed)}"]
    elif call.fixed:
        step = d.step("adjoint", "u", f"{d.z}_bar", across, [by_z.grad])
        lines = [f"{u} = {d.iterated(step, seed)}"]
    else:
        rows = d.names.fresh("rows")
        square = f"{d.helper('from_rows')}({rows}, {d.z}, {d.z})"
        lines = [
            f"{rows} = {d.all_units(across)}",
            f"{u} = {d.helper('solve_transposed')}({square}, {seed})",
        ]
    back = "" if call.fixed else "-"
    back = f"{d.unit(by_others.grad)}({given}, {by_others.seed}={back}{u})"
    bars = listed([f"{p}_bar" for p in d.wrt], len(d.wrt) == 1)
    word = call.solver.__name__
    said = (
        f"Return ``{bars}`` for the adjoint `{seed}` of `{d.z}`, the "
        f"{word.replace('_', ' ')} of `{d.stem}`."
    )
    name = program.reserve(f"{d.stem}_{word}_grad", d.normal)
    args = parameters(f"{given}, *, {', '.join([*call.options, seed])}")
    d.emit(name, args, said, [*lines, f"return {back}"])
    return Derived(call.parameters, grad=name, seed=seed, implicit=True)


def tangent_of_solution(program, call: Solved) -> Derived:
    """The derivative of a call of a solver in forward mode.

    Parameters
    ----------
    program : derive.Program
        The module that it becomes a part of.
    call : Solved
        The call.
    """
    d = _Solution(program, call)
    by_z = program.with_tangent(d.normal, (d.z,))
    by_others = program.with_tangent(d.normal, d.wrt)
    g, start = d.names.fresh("g"), d.names.fresh(f"{d.z}_start")
    dots = {p: d.names.fresh(f"{p}_dot") for p in d.wrt}
    moved, z_dot = d.names.fresh("moved"), d.names.fresh(f"{d.z}_dot")
    given = ", ".join(d.given)
    along = d.array(f"{d.unit(by_z.jvp)}({given}, {by_z.dots[d.z]}={{}})[1]")
    passed = "".join(f", {by_others.dots[p]}={dots[p]}" for p in d.wrt)
    options = "".join(f", {word}={word}" for word in call.options)
    word = call.solver.__name__
    others = ", ".join([start, *d.given[1:]])
    lines = [
        *([] if call.found else [f"{d.z} = {d.helper(word)}({g}, {others}{options})"]),
        f"{moved} = {d.array(f'{d.unit(by_others.jvp)}({given}{passed})[1]')}",
    ]
    sign = "" if call.fixed else "-"
    if "solve" in call.options:
        lines.append(f"{z_dot} = {sign}{d.solved(z_dot, along, moved)}")
    elif call.fixed:
        step = d.step("tangent", f"{d.z}_dot", "moved", along, [by_z.jvp])
        lines.append(f"{z_dot} = {d.iterated(step, moved)}")
    else:
        columns = d.names.fresh("columns")
        square = f"{d.helper('from_columns')}({columns}, {d.z})"
        lines.append(f"{columns} = {d.all_units(along)}")
        lines.append(f"{z_dot} = -{d.helper('solve_jacobian')}({square}, {moved})")
    said = (
        f"Return ``({d.z}, {z_dot})``: the {word.replace('_', ' ')} of `{d.stem}`, and "
        "its tangent."
    )
    if call.found:
        said = f"Return the tangent of `{d.z}`, the {word} of `{d.stem}`."
    name = program.reserve(f"{d.stem}_{word}_jvp", d.normal)
    keywords = ", ".join([*call.options, *dots.values()])
    args = given if call.found else f"{g}, {others}"
    args = parameters(f"{args}, *, {keywords}")
    value = "" if call.found else f"{d.z}, "
    d.emit(name, args, said, [*lines, f"return {value}{z_dot}"])
    keywords = dict(zip(call.parameters, dots.values(), strict=True))
    return Derived(call.parameters, jvp=name, dots=keywords, implicit=call.found)
