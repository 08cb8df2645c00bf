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

import builtins
import types
from collections.abc import Iterable

import gast

from sct import emit, grammar
from sct.adjoint import Derived
from sct.analysis.annotations import parameter_facts
from sct.arguments import parameter_names
from sct.assemble import own_parameters, passed_on
from sct.derive import Program
from sct.entry import entry
from sct.module import Unit
from sct.names import Names
from sct.normalise import Normal, normalise
from sct.resolve import Binding


class Driver:
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
        self.program, self.function, self.wrt = program, function, wrt
        self.normal: Normal = entry(function, wrt)
        self.names = Names(set(parameter_names(self.normal.fn)))
        self.bindings: dict[str, Binding] = {}
        self.parameters = own_parameters(entry(origin or function, wrt))
        self.source = normalise(origin or function).source
        self.stem = self.source.name
        self.containers: set[str] = set()

    def helper(self, word: str) -> str:
        """The name here of a helper, or of a builtin that is meant."""
        return self._bound(word, Binding("helper", word))

    def builtin(self, word: str) -> str:
        """The name here of a builtin."""
        value = getattr(builtins, word)
        if word not in self.names.used and self.normal.scope.lookup(word) is value:
            return word
        return self._bound(word, Binding("builtin", word, "builtins", value))

    def unit(self, word: str) -> str:
        """The name here of an emitted function."""
        self.bindings[word] = Binding("unit", word)
        return word

    def _bound(self, word: str, binding: Binding) -> str:
        for alias, b in self.bindings.items():
            if (b.kind, b.name) == (binding.kind, word):
                return alias
        alias = self.names.fresh(word)
        self.bindings[alias] = binding
        return alias

    def call(self, name: str, **more: str) -> str:
        """The text of a call that passes the parameters on, and gives `more`."""
        args, keywords = passed_on(self.parameters)
        keywords += [gast.keyword(k, grammar.expression(v)) for k, v in more.items()]
        return emit.expression_text(gast.Call(grammar.name(name), args, keywords))

    def apart(self) -> Derived:
        """Emit the two sweeps of the primal."""
        derived, self.containers = self.program.apart(self.function, self.wrt)
        return derived

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

    def emit(self, suffix: str, said: str, lines: Iterable[str], extra=()) -> str:
        """Emit the function; `extra` are its own keyword-only parameters."""
        name = self.program.reserve(f"{self.stem}_{suffix}", self.normal)
        text = "\n".join(f"    {s}" for line in lines for s in line.split("\n"))
        fn = gast.parse(f"def f():\n{text}").body[0]
        fn.name, fn.args = name, self.parameters
        for p in extra:
            fn.args.kwonlyargs.append(gast.Name(p, gast.Param(), None, None))
            fn.args.kw_defaults.append(None)
        fn.body.insert(0, gast.Expr(grammar.constant(emit.wrap_docstring(said))))
        used = grammar.free_names(fn)
        bindings = {n: b for n, b in self.bindings.items() if n in used}
        unit = Unit(name, fn, emit.function_text(fn), self.source, bindings)
        self.program.units[name] = unit
        return name


def listed(words: Iterable[str], single: bool = False) -> str:
    """``(a, b)``; the word itself when it is to come back alone."""
    words = list(words)
    if single:
        return words[0]
    return f"({', '.join(words)}{',' * (len(words) == 1)})"


def quoted(names: Iterable[str]) -> str:
    """Names as sentences have them."""
    words = [f"`{n}`" for n in names]
    return " and ".join([", ".join(words[:-1]), words[-1]] if words[1:] else words)


def pullback(
    program: Program, function: types.FunctionType, wrt: tuple[str, ...], single: bool
) -> str:
    """Emit ``f_pullback(*args)``, which returns the value and a function of seeds."""
    d = Driver(program, function, wrt)
    derived = d.apart()
    value, back, seed = (d.names.fresh(w) for w in ("value", "pullback", "out_bar"))
    tape = d.names.fresh("tape")
    bars = listed((f"{n}_bar" for n in wrt), single or len(wrt) == 1)
    result = _backward(d, derived, tape, seed)
    if not single and len(wrt) == 1:
        result = f"({result},)"
        bars = f"({bars},)"
    lines = [
        *d.checks("check_inexact"),
        f"{value}, {tape} = {d.call(d.unit(derived.fwd))}",
        f"def {back}({seed}):\n"
        f"    {d.helper('check_seed')}({seed}, {value})\n"
        f"    return {result}",
        f"return {value}, {back}",
    ]
    said = (
        f"Return ``({value}, {back})``: the value, and the function "
        f"``{back}({seed})`` that gives ``{bars}``."
    )
    return d.emit("pullback", said, lines)


def jacobian_by_rows(
    program: Program,
    function: types.FunctionType,
    wrt: tuple[str, ...],
    single: bool,
    origin: types.FunctionType | None = None,
) -> str:
    """Emit ``f_jacobian(*args)``, which runs the backward sweep for every number.

    With an `origin`, whose gradient the function is, it is ``f_hessian(*args)``.
    """
    d = Driver(program, function, wrt, origin)
    derived = d.apart()
    out, rows, k = (d.names.fresh(w) for w in ("out", "rows", "k"))
    tape = d.names.fresh("tape")
    row = _backward(d, derived, tape, f"{d.helper('unit_like')}({out}, {k})")
    if not single and len(wrt) == 1:
        row = f"({row},)"
    count = f"{d.builtin('range')}({d.helper('entries')}({out}))"
    point = listed([d.spelled(p) for p in wrt], single)
    lines = [
        *d.checks(*(() if origin else ("check_inexact",)), "check_real"),
        f"{out}, {tape} = {d.call(d.unit(derived.fwd))}",
        f"{rows} = [{row} for {k} in {count}]",
        f"return {d.helper('from_rows')}({rows}, {out}, {point})",
    ]
    return d.emit(*_jacobian_said(d, out, single, origin is not None), lines)


def elementwise_grad(
    program: Program, function: types.FunctionType, wrt: tuple[str, ...], single: bool
) -> str:
    """Emit ``f_elementwise_grad(*args)``, one backward sweep for all elements."""
    d = Driver(program, function, wrt)
    derived = d.apart()
    out, tape = d.names.fresh("out"), d.names.fresh("tape")
    given = ", ".join(f"{p}={d.spelled(p)}" for p in wrt)
    seed = f"{d.helper('ones_beside')}({out}, {given})"
    back = d.call(d.unit(derived.bwd), **{derived.tape: tape, derived.seed: seed})
    lines = [
        *d.checks("check_inexact"),
        f"{out}, {tape} = {d.call(d.unit(derived.fwd))}",
        f"return {back}" + ("," if not single and len(wrt) == 1 else ""),
    ]
    said = f"Return the derivative of each element of `{d.stem}` in {quoted(wrt)}."
    return d.emit("elementwise_grad", said, lines)


def _jacobian_said(d: Driver, out: str, single: bool, hessian: bool) -> tuple[str, str]:
    """Suffix and docstring of a Jacobian."""
    word = "Hessian" if hessian else "Jacobian"
    said = f"Return the {word} of `{d.stem}` in {quoted(d.wrt)}"
    first = d.spelled(d.wrt[0])
    if single:
        shape = f"{first if hessian else out}.shape + {first}.shape"
        return word.lower(), f"{said}, of shape ``{shape}``."
    return word.lower(), f"{said}, one for each{' pair' if hessian else ''}."


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
