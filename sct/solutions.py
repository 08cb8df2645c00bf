"""What solvers of SciPy find, as values that depend on what goes into the equation.

::

    x = brentq(f, 0.0, 1.0, args=(k,))       x_found = brentq(f, 0.0, 1.0, args=(k,))
                                        ->   x = solution(f, x_found, k)

    sol = solve_ivp(f, span, y0)             sol = solve_ivp(f, span, y0)
    loss = sol.y[0, -1]                 ->   sol_y = flow(f, sol.y, sol.t, span, y0)
                                             loss = sol_y[0, -1]

What the solver itself returns is constant, as far as derivatives are concerned, and
`solution` and `flow` return what they are given: they have the derivative.
"""

from __future__ import annotations

import types

import gast
import numpy as np

from . import runtime_solvers
from .arguments import parameter_names
from .grammar import (
    assign,
    blocks,
    call,
    clone,
    heads,
    is_name,
    located,
    name,
    statements,
    writes,
)
from .names import Names, used_names
from .resolve import Binding, Scope
from .solvers import Solver, arguments, items, module_of, solver_of

# The kind of the binding by which a solver is known whose result is held constant.
HELD = "held"
# Of the options of `solve_ivp` those by which derivatives are solved for as well.
STEPPING = ("method", "rtol", "atol")
TOLERANCES = ("rtol", "atol")


def is_held(func: gast.AST, scope: Scope) -> bool:
    """Whether a name denotes a solver whose result is held constant."""
    return is_name(func) and getattr(scope.imports.get(func.id), "kind", "") == HELD


def with_solutions(fn: gast.FunctionDef, scope: Scope) -> gast.FunctionDef:
    """A function in which the solutions that solvers find depend on parameters.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    scope : Scope
        What its free names denote; what is new is imported there.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.  Calls that are not understood are
        left as they are.
    """
    work = _Solutions(fn, scope)
    if not any(work.form(s) for s in statements(fn.body)):
        return fn
    fn = clone(fn)
    work = _Solutions(fn, scope)
    found = [(s, work.form(s)) for s in statements(fn.body)]
    solved = {s: form for s, form in found if form}
    parts = work.parts_named(solved)
    _Reading(parts).visit(fn)
    fn.body = work.block(fn.body, solved)
    return fn


class _Solutions:
    def __init__(self, fn: gast.FunctionDef, scope: Scope):
        self.scope = scope
        self.names = Names(used_names(fn))
        bound: dict[str, list[gast.AST]] = {}
        for s in statements(fn.body):
            for n in writes(s):
                bound.setdefault(n, []).append(s)
        self.bound, self.given = bound, set(parameter_names(fn))
        # Name of a result → the attributes read of it; None where it is read whole.
        self.parts = _parts_read(fn)
        self.named: dict[tuple[str, str], str] = {}

    def form(self, s: gast.AST) -> tuple[Solver, dict[str, gast.AST]] | None:
        """What a statement solves, with the arguments, if that can be followed."""
        found = self._form(s)
        if found is None or not found[0].part:
            return found
        return found if self._apart(s.targets[0].id, found[0]) else None

    def _form(self, s: gast.AST) -> tuple[Solver, dict[str, gast.AST]] | None:
        """The same, whatever becomes of the result."""
        call_ = getattr(s, "value", None)
        if not isinstance(s, gast.Assign) or not isinstance(call_, gast.Call):
            return None
        callee = self.scope.resolve(call_.func)
        solver = solver_of(callee)
        if solver is None or is_held(call_.func, self.scope):
            return None
        given = arguments(callee, call_)
        target = s.targets[0]
        if given is None or not is_name(target):
            return None
        given["args"] = self.written(given.get("args"))
        if items(given["args"]) is None:
            return None
        function = self.scope.resolve(given[solver.functions[0]])
        plain = all(_says_nothing(given.get(p)) for p in solver.without)
        if not isinstance(function, types.FunctionType) or not plain:
            return None
        if callee.__name__ == "odeint" and not _says_nothing(given.get("tfirst")):
            return None
        return solver, given

    def written(self, args: gast.AST | None) -> gast.AST | None:
        """The tuple that a name holds, if nothing in it is bound again."""
        made = self.bound.get(args.id, []) if is_name(args) else []
        whole = getattr(made[0], "value", None) if len(made) == 1 else None
        parts = items(whole) if isinstance(whole, gast.Tuple) else None
        held = [e.id for e in parts or () if is_name(e)]
        once = all(len(self.bound.get(n, ())) + (n in self.given) == 1 for n in held)
        return whole if parts is not None and once else args

    def _apart(self, word: str, solver: Solver) -> bool:
        """Whether of all results of a name nothing but known attributes is read."""
        read = self.parts.get(word, set())
        if read is None or not read <= {solver.part, *solver.others}:
            return False
        forms = [self._form(s) for s in self.bound[word]]
        like = all(form is not None and form[0] is solver for form in forms)
        return like and word not in self.given

    # -- rewriting -----------------------------------------------------------------
    def parts_named(self, solved) -> dict[tuple[str, str], str]:
        """The names of the parts of results that are solutions."""
        for s, (solver, _) in solved.items():
            word, part = s.targets[0].id, solver.part
            if part and (word, part) not in self.named:
                # The underscore goes: it is read by the name of what is found.
                self.named[word, part] = self.names.fresh(f"{word}_{part}_")
        return self.named

    def block(self, body: list[gast.AST], solved) -> list[gast.AST]:
        """The statements of a block, with what solvers find."""
        out: list[gast.AST] = []
        for s in body:
            for inner in blocks(s):
                inner[:] = self.block(inner, solved)
            made = self.solved(s, *solved[s]) if s in solved else [s]
            out += [located(m, s) if m is not s else s for m in made]
        return out

    def solved(self, s: gast.Assign, solver: Solver, given) -> list[gast.AST]:
        """A call of a solver, and what it has found."""
        callee = self.scope.resolve(s.value.func)
        word, lead = s.targets[0].id, []
        if solver.part:
            found = gast.Attribute(name(word), solver.part, gast.Load())
            target = self.named[word, solver.part]
        else:
            found, target = name(self.names.fresh(f"{word}_found")), word
            s.targets[0].id = found.id
        s.value.func = name(self.import_(HELD, callee.__name__, callee))
        fun = clone(given[solver.functions[0]])
        params = [clone(p) for p in items(given.get("args"))]
        if solver.kind == "root":
            made = self.helper("solution", [fun, found, *params], [])
        else:
            start = self.array(clone(given["y0"]), lead)
            options = [
                gast.keyword(k, self.least(k, given[k])) for k in STEPPING if k in given
            ]
            if solver.part:
                times = given.get("t_eval")
                if times is None or isinstance(times, gast.Constant):
                    times = gast.Attribute(name(word), "t", gast.Load())
                span = clone(given["t_span"])
                args = [fun, found, clone(times), span, start, *params]
                made = self.helper("flow", args, options)
            else:
                args = [fun, found, clone(given["t"]), start, *params]
                made = self.helper("trajectory", args, options)
        gast.copy_location(made, s.value)
        return [*lead, s, *self.flattened(made, s, target)]

    def flattened(self, made: gast.Call, s: gast.AST, target: str) -> list[gast.AST]:
        """A call whose attributes are read before it."""
        lead = []
        for k, a in enumerate(made.args):
            if isinstance(a, gast.Attribute):
                part = self.names.fresh(f"{a.value.id}_{a.attr}")
                lead.append(assign(part, a, s))
                made.args[k] = name(part)
        return [*lead, assign(target, made, s)]

    def array(self, given: gast.AST, lead: list[gast.AST]) -> gast.AST:
        """What is a list, or a number, is made an array first."""
        made = self.bound.get(given.id, []) if is_name(given) else []
        lists = (gast.List, gast.Tuple, gast.ListComp)
        made_of_lists = any(isinstance(getattr(s, "value", None), lists) for s in made)
        if is_name(given) and not made_of_lists:
            return given
        numpy = self.import_("module", "numpy", np)
        made = self.names.fresh("start")
        word = "array" if made_of_lists or isinstance(given, lists) else "atleast_1d"
        whole = gast.Attribute(name(numpy), word, gast.Load())
        lead.append(gast.Assign([name(made, store=True)], _called(whole, given), None))
        return name(made)

    def least(self, option: str, given: gast.AST) -> gast.AST:
        """A tolerance that serves for the derivatives of all components as well."""
        if option not in TOLERANCES or isinstance(given, gast.Constant):
            return clone(given)
        numpy = self.import_("module", "numpy", np)
        return _called(gast.Attribute(name(numpy), "min", gast.Load()), clone(given))

    def helper(self, word: str, args, keywords) -> gast.Call:
        value = getattr(runtime_solvers, word)
        made = call(self.import_("helper", word, value), *args)
        made.keywords = keywords
        return made

    def import_(self, kind: str, word: str, value: object) -> str:
        """A name in this function for an object from elsewhere."""
        for n, b in self.scope.imports.items():
            if b.value is value and b.kind == kind:
                return n
        if kind == "module" and self.scope.lookup("np") is value:
            return "np"
        made = self.names.fresh("np" if value is np else word)
        module = module_of(value) if kind == HELD else ""
        self.scope.imports[made] = Binding(kind, word, module, value)
        self.scope.locals -= {made}
        return made


class _Reading(gast.NodeTransformer):
    def __init__(self, named: dict[tuple[str, str], str]):
        self.named = named

    def visit_Attribute(self, node):
        self.generic_visit(node)
        if is_name(node.value) and isinstance(node.ctx, gast.Load):
            found = self.named.get((node.value.id, node.attr))
            if found:
                return name(found)
        return node


def _called(func: gast.AST, *args: gast.AST) -> gast.Call:
    return gast.Call(func, list(args), [])


def _says_nothing(given: gast.AST | None) -> bool:
    """Whether an argument is not given, or None, False or 0."""
    return given is None or isinstance(given, gast.Constant) and not given.value


def _parts_read(fn: gast.FunctionDef) -> dict[str, set[str] | None]:
    """For each name, the attributes that are read of it; None where it is whole."""
    found: dict[str, set[str] | None] = {}
    stack = [h for s in statements(fn.body) for h in heads(s)]
    for n in stack:  # grows meanwhile
        whole = getattr(n, "value", None)
        if isinstance(n, gast.Attribute) and is_name(whole):
            read = found.setdefault(whole.id, set())
            if read is not None:
                read.add(n.attr)
            continue
        if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load):
            found[n.id] = None
        stack += list(gast.iter_child_nodes(n))
    return found
