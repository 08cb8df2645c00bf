"""Two sweeps put together to functions as they are emitted.

::

    def f_grad(x, *, out_bar=1.0):          def f_fwd(x):
        # Forward sweep.                          ...
        ...                          or           return value, tape
        # Backward sweep.
        ...                                   def f_bwd(x, *, tape, out_bar):
        return x_bar                              ...
                                                  return x_bar
"""

from __future__ import annotations

import gast

from sct import emit, grammar, polish, runtime
from sct.analysis import dataflow
from sct.arguments import parameter_names
from sct.backends import CUPY
from sct.context import Derived
from sct.likeness import kinds_of
from sct.module import Unit
from sct.names import used_names
from sct.nans import with_nan_checks
from sct.normalise import Normal
from sct.operations import unwrap
from sct.reverse import BACKWARD, FORWARD, Sweeps
from sct.sharing import stores

# What sees to it that an argument is a float or an array of floats.
INEXACT = (runtime.check_inexact, runtime.check_scalars)


class Assembly:
    """The functions of one derivative.

    Parameters
    ----------
    work : derive.Differentiation
        The transformation that makes the sweeps.
    """

    def __init__(self, work):
        self.work = work

    def joint(self, name: str) -> Unit:
        """Both sweeps in one function."""
        both = self.work.sweeps()
        bars = [both.bars[n] for n in self.work.wrt]
        body = list(both.forward)
        value, beside = self._value(both, body)
        before, after = self._checks(both.value)
        result = bars[0] if self.work.single else gast.Tuple(bars, gast.Load())
        if self.work.mode != "grad":
            result = gast.Tuple([value, result], gast.Load())
        elif self.work.aux:
            result = gast.Tuple([result, beside], gast.Load())
        end = _last(result)
        text = self._docstring(bars)
        body = [
            *element_names(self.work.normal),
            *before,
            grammar.Comment(FORWARD, blank=True),
            *body,
            *after,
            grammar.Comment(BACKWARD, blank=True),
            *both.backward,
            end,
        ]
        seed = grammar.constant(1.0) if self.work.mode != "vjp" else None
        fn = self._definition(name, body, seed)
        fn = self.work.optimised(fn)
        fn.body.insert(0, gast.Expr(grammar.constant(text)))
        return self._unit(name, fn)

    def _value(self, both: Sweeps, body: list[gast.AST]):
        """What the primal returns, and what is not its value of that."""
        value, beside = both.value, self.work.beside
        if self.work.mode != "grad":
            value = self._safe(both, body, value, "value")
        if beside is not None:
            beside = self._safe(both, body, beside, "aux")
            value = gast.Tuple([value, beside], gast.Load())
        return value, beside

    def _safe(self, both, body: list[gast.AST], value: gast.AST, wish: str) -> gast.AST:
        """Something that the primal returns, out of the backward sweep's reach.

        Statements that see to it are added to `body`, the forward sweep.
        """
        written = grammar.all_writes(both.backward)
        restored = self._restored(both)
        if restored & grammar.names_read(value):
            value = self._copied(value, restored)
        if grammar.names_read(value) & written or not isinstance(
            value, (gast.Name, gast.Constant)
        ):
            held = self.work.names.fresh(wish)
            body.append(grammar.assign(held, value))
            return grammar.name(held)
        return value

    def _restored(self, both: Sweeps) -> set[str]:
        """The names whose contents the backward sweep may put back."""
        changed = {
            n
            for s in grammar.statements(both.backward)
            for n in [*grammar.mutates(s), *_cut(s)]
        }
        for stmt, op in self.work.context.operations.items():
            if op.kind == "call" and self.work.context.activity.targets.get(stmt):
                if stores(unwrap(op.callee)):
                    changed.update(grammar.writes(stmt))
        changed -= self.work.scalars
        return changed.union(*[self.work.groups.get(n, ()) for n in changed])

    def _copied(self, value: gast.AST, restored: set[str]) -> gast.AST:
        if isinstance(value, gast.Tuple):
            parts = [self._copied(e, restored) for e in value.elts]
            return gast.Tuple(parts, gast.Load())
        if not grammar.names_read(value) & restored:
            return value
        if grammar.names_read(value) & self.work.structures.all:
            return grammar.call(self.work.use("helper", "copied"), value)
        # A number or an array: both have a positive.
        return gast.UnaryOp(gast.UAdd(), value)

    def _checks(self, value: gast.AST) -> tuple[list[gast.AST], list[gast.AST]]:
        """What must be checked of the arguments, and of the result, which no type says.

        Of a function whose result is a number if its arguments are, it is enough to
        check these.
        """
        work = self.work
        if work.inner:
            return [], []
        undeclared = {p for p in work.wrt if not work.declared[p].inexact}
        undeclared -= work.structures.all
        must = {p for p in work.entry_scalars if not work.declared[p].scalar}
        after: list[gast.AST] = []
        if work.mode == "vjp":
            numbers = undeclared & work.entry_scalars
            seed = [grammar.name(work.seed), grammar.clone(value)]
            after.append(self._check("check_seed", seed, []))
        elif (work.result.scalar or work.promised) and must <= set(work.wrt):
            numbers = must
        else:
            numbers = set()
            result = [self._quoted_name(), grammar.clone(value)]
            after.append(self._check("check_scalar_result", result, []))
        return self._checked_inputs(undeclared, numbers), after

    def _checked_inputs(self, undeclared: set[str], numbers: set[str]):
        """Checks that some parameters are numbers, and others not integers."""
        before = [*self._fitting(), *self._for_numpy()]
        scalars = [p for p in self.work.wrt if p in numbers]
        rest = undeclared - numbers - self._checked_already()
        rest = [p for p in self.work.wrt if p in rest]
        if scalars:
            before.append(self._check("check_scalars", [self._quoted_name()], scalars))
        if rest:
            before.append(self._check("check_inexact", [], rest))
        if self.work.program.holomorphic:
            before.append(self._check("check_complex", [], list(self.work.wrt)))
        reals = self.work.taken_for_real()
        if reals:
            ordered = [p for p in parameter_names(self.work.fn) if p in reals]
            before.append(self._check("check_no_complex", [], ordered))
        return before

    def _for_numpy(self) -> list[gast.AST]:
        """A check that no argument is CuPy's, where the difference matters.

        Nobody has arrays of CuPy's who has not imported it.
        """
        work = self.work
        if not (CUPY.is_imported() and work.numbers and work.program.writes):
            return []
        known = {p for p, fact in work.declared.items() if fact.scalar}
        names = [p for p in parameter_names(work.fn) if p not in known]
        return [self._check("check_numpy", [], names)] if names else []

    def _fitting(self) -> list[gast.AST]:
        """Checks that arguments are of the kinds that `like` said."""
        groups: dict[tuple[str, int], list[str]] = {}
        for p, kind in kinds_of(self.work.normal.source.function).items():
            groups.setdefault((kind.word, kind.rank), []).append(p)
        return [
            self._check("check_like", [*map(grammar.constant, kind)], names)
            for kind, names in groups.items()
        ]

    def _checked_already(self) -> set[str]:
        """The parameters that the function, a derivative itself, sees to."""
        calls = [s.value for s in self.work.fn.body if isinstance(s, gast.Expr)]
        return {
            k.arg
            for call in calls
            if isinstance(call, gast.Call)
            and self.work.operation(call).callee in INEXACT
            for k in call.keywords
            if grammar.is_name(k.value, k.arg)
        }

    def _quoted_name(self) -> gast.AST:
        return grammar.constant(self.work.normal.source.name)

    def _check(self, helper: str, args: list[gast.AST], names: list[str]) -> gast.AST:
        keywords = {n: grammar.name(n) for n in names}
        return gast.Expr(
            grammar.call(self.work.use("helper", helper), *args, **keywords)
        )

    def _docstring(self, bars: list[gast.AST]) -> str:
        names = [b.id for b in bars]
        quoted = [f"`{n}`" for n in self.work.wrt]
        inputs = " and ".join(
            [", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted
        )
        shown = (
            names[0]
            if self.work.single
            else f"({', '.join(names)}{',' * (len(names) == 1)})"
        )
        value = "(value, aux)" if self.work.aux else "value"
        if self.work.mode == "grad":
            shown = f"({shown}, aux)" if self.work.aux else shown
            text = f"Return ``{shown}``: the gradient in {inputs}, "
            text += f"scaled by `{self.work.seed}`."
            if len(text) > 78:
                text = (
                    f"Return ``{shown}``: the gradient, scaled by `{self.work.seed}`."
                )
        elif self.work.mode == "value_and_grad":
            text = (
                f"Return ``({value}, {shown})``: the value, and its gradient in "
                f"{inputs}, scaled by `{self.work.seed}`."
            )
        else:
            text = (
                f"Return ``({value}, {shown})``: the value, and the adjoints of "
                f"{inputs} for the adjoint `{self.work.seed}` of the value."
            )
        return emit.wrap_docstring(text + self._held())

    def _held(self) -> str:
        """What the docstring says of the parameters that are held constant."""
        listed = parameter_names(self.work.fn)
        if self.work.normal.elements:
            listed.remove(self.work.fn.args.vararg.id)
        constant = [f"`{p}`" for p in listed if p not in self.work.wrt]
        return f"\n\nHeld constant: {', '.join(constant)}." if constant else ""

    def _definition(
        self, name: str, body: list[gast.AST], seed: gast.AST | None
    ) -> gast.FunctionDef:
        """The derivative as a function: the primal's parameters, and the seed."""
        args = own_parameters(self.work.normal)
        result = self.work.normal.fn.returns
        note = grammar.clone(result) if self.work.promised and result else None
        args.kwonlyargs.append(gast.Name(self.work.seed, gast.Param(), note, None))
        args.kw_defaults.append(seed)
        made = self._function(name, args, body)
        made.returns = self._return_type(result)
        return made

    def _return_type(self, result: gast.AST | None) -> gast.AST | None:
        """The type of a derivative, where the primal states the types it needs."""
        a = self.work.normal.fn.args
        notes = {p.id: p.annotation for p in [*a.posonlyargs, *a.args, *a.kwonlyargs]}
        parts = [notes.get(n) for n in self.work.wrt]
        known = result is not None or self.work.mode == "grad"
        if None in parts or not known or self.work.aux:
            return None
        parts = [grammar.clone(p) for p in parts]
        whole = parts[0] if self.work.single and len(parts) == 1 else _tuple_type(parts)
        if self.work.mode != "grad":
            whole = _tuple_type([grammar.clone(result), whole])
        return whole

    def _function(
        self, name: str, args: gast.arguments, body: list[gast.AST]
    ) -> gast.FunctionDef:
        made = grammar.block("def f():\n    pass")[0]
        declared = [s for s in body if isinstance(s, (gast.Global, gast.Nonlocal))]
        body = [*declared, *(s for s in body if s not in declared)]
        made.name, made.args, made.body = name, args, body
        return made

    # -- the sweeps apart ----------------------------------------------------------
    def wrapper(self, name: str, derived: Derived) -> Unit:
        """The derivative of a recursive function: one sweep after the other."""
        self.work.unit_name(derived.fwd)
        self.work.unit_name(derived.bwd)
        value, tape = self.work.names.fresh("value"), self.work.names.fresh("tape")
        before, after = self._checks(grammar.name(value))
        returned: gast.AST = grammar.name(value)
        if self.work.mode == "grad":
            value = value if after else "_"
        elif stores(self.work.normal.source.function):
            # The backward sweep may write into it.
            returned = gast.UnaryOp(gast.UAdd(), returned)
        pair = gast.Tuple(
            [grammar.name(value, store=True), grammar.name(tape, store=True)],
            gast.Store(),
        )
        args, keywords = passed_on(own_parameters(self.work.normal))
        call = gast.Call(grammar.name(derived.fwd), args, keywords)
        forward = grammar.assign(pair, call)
        args, keywords = passed_on(own_parameters(self.work.normal))
        keywords.append(gast.keyword(derived.tape, grammar.name(tape)))
        keywords.append(gast.keyword(derived.seed, grammar.name(self.work.seed)))
        result: gast.AST = gast.Call(grammar.name(derived.bwd), args, keywords)
        bars = [grammar.name(f"{n}_bar") for n in self.work.wrt]
        if not self.work.single and len(bars) == 1:
            result = gast.Tuple([result], gast.Load())
        if self.work.mode != "grad":
            result = gast.Tuple([returned, result], gast.Load())
        text = gast.Expr(grammar.constant(self._docstring(bars)))
        lead = element_names(self.work.normal) if before else []
        body = [text, *lead, *before, forward, *after, gast.Return(result)]
        seed = grammar.constant(1.0) if self.work.mode != "vjp" else None
        return self._unit(name, self._definition(name, body, seed))

    def split(self, derived: Derived) -> tuple[Unit, Unit]:
        """The two sweeps as two functions, which share a tape."""
        both = self.work.sweeps()
        bars = [both.bars[n] for n in self.work.wrt]
        result = bars[0] if len(bars) == 1 else gast.Tuple(bars, gast.Load())
        tape = derived.tape
        # Optimised in one piece, so that what the backward sweep needs is known.
        value = self.work.names.fresh("value")
        self.work.temporary.add(value)
        returned = both.value
        if self.work.aux:
            returned = gast.Tuple([returned, self.work.beside], gast.Load())
        out = grammar.call(self._boundary, returned)
        lead = element_names(self.work.normal)
        lead += [] if self.work.inner else self._fitting()
        fn = self._definition(
            derived.fwd,
            [*lead, *both.forward, gast.Expr(out), *both.backward, _last(result)],
            grammar.constant(1.0),
        )
        fn = self.work.optimised(fn)
        at = next(i for i, s in enumerate(fn.body) if self._is_boundary(s))
        value = fn.body[at].value.args[0]
        forward, backward = fn.body[:at], fn.body[at + 1 :]
        halves = self._arms_apart(forward, backward, value, tape)
        if halves is None:
            kept = self._taped(forward, backward)
            unbound = maybe_unbound(forward, kept, parameter_names(self.work.normal.fn))
            lead = [grammar.assign(n, grammar.constant(None)) for n in unbound]
            names = gast.Tuple([grammar.name(n) for n in kept], gast.Load())
            pair = gast.Return(gast.Tuple([value, names], gast.Load()))
            halves = [*lead, *forward, pair], [*self._unpacked(kept, tape), *backward]
        fwd = self._forward_half(derived.fwd, halves[0])
        bwd = self._backward_half(derived.bwd, halves[1], tape)
        if self._restores(halves[1]):
            self.work.program.restoring.add(derived.bwd)
        return self._unit(derived.fwd, fwd), self._unit(derived.bwd, bwd)

    def _restores(self, backward: list[gast.AST]) -> bool:
        """Whether a backward sweep writes into anything but adjoints."""
        primal = used_names(self.work.prepared)
        written = {n for s in grammar.statements(backward) for n in grammar.mutates(s)}
        return any("_bar" not in n or n in primal for n in written)

    def _arms_apart(self, forward, backward, value, tape):
        """A tape for each arm, when both sweeps are one ``if`` on the same test."""
        back = [s for s in backward if not isinstance(s, grammar.Comment)]
        if not forward or len(back) != 2:
            return None
        there, again = forward[-1], back[0]
        if not (isinstance(there, gast.If) and isinstance(again, gast.If)):
            return None
        steady = not grammar.names_read(there.test) & grammar.all_writes(forward)
        if gast.dump(there.test) != gast.dump(again.test) or not steady:
            return None
        if not there.orelse or self._taped(forward[:-1], backward):
            return None
        for arm, reverse in ((there.body, again.body), (there.orelse, again.orelse)):
            kept = self._taped(arm, [*reverse, back[1]])
            given = [
                *parameter_names(self.work.normal.fn),
                *grammar.all_writes(forward[:-1]),
            ]
            for n in maybe_unbound(arm, kept, given):
                arm.insert(0, grammar.assign(n, grammar.constant(None)))
            names = gast.Tuple([grammar.name(n) for n in kept], gast.Load())
            arm.append(
                gast.Return(gast.Tuple([grammar.clone(value), names], gast.Load()))
            )
            polish.fold_return(arm)
            at = next(
                (
                    i
                    for i, s in enumerate(reverse)
                    if not isinstance(s, grammar.Comment)
                ),
                len(reverse),
            )
            reverse[at:at] = self._unpacked(kept, tape)
        tail, there.orelse = there.orelse, []
        return [*forward, *tail], backward

    def _unpacked(self, kept: list[str], tape: str) -> list[gast.AST]:
        if not kept:
            return []
        targets = gast.Tuple([grammar.name(n, store=True) for n in kept], gast.Store())
        return [grammar.assign(targets, grammar.name(tape))]

    _boundary = "sweep_boundary"

    def _is_boundary(self, stmt: gast.AST) -> bool:
        return (
            isinstance(stmt, gast.Expr)
            and isinstance(stmt.value, gast.Call)
            and grammar.is_name(stmt.value.func, self._boundary)
        )

    def _taped(self, forward: list[gast.AST], backward: list[gast.AST]) -> list[str]:
        """The names that the forward sweep binds and the backward sweep reads."""
        read = live_at_start(backward)
        bound: list[str] = []
        for s in grammar.statements(forward):
            for n in grammar.writes(s):
                if n in read and n not in bound:
                    bound.append(n)
        return bound

    def _forward_half(self, name: str, body: list[gast.AST]) -> gast.FunctionDef:
        name_of = self.work.normal.source.name
        said = f"Forward sweep of `{name_of}`: return its value and the tape."
        args = own_parameters(self.work.normal)
        body = [gast.Expr(grammar.constant(said)), *body]
        return polish.early_returns(self._function(name, args, body))

    def _backward_half(
        self, name: str, body: list[gast.AST], tape: str
    ) -> gast.FunctionDef:
        fn = self._definition(name, body, grammar.constant(1.0))
        fn.args.kw_defaults[-1] = None
        fn.args.kwonlyargs.insert(-1, gast.Name(tape, gast.Param(), None, None))
        fn.args.kw_defaults.insert(-1, None)
        shown = [f"{n}_bar" for n in self.work.wrt]
        returned = shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
        primal = self.work.normal.source.name
        said = f"Backward sweep of `{primal}`: return ``{returned}``."
        fn.body.insert(0, gast.Expr(grammar.constant(said)))
        return polish.early_returns(fn)

    def _unit(self, name: str, fn: gast.FunctionDef) -> Unit:
        if self.work.program.check_nan:
            helper = self.work.use("helper", "check_nan")
            fn = with_nan_checks(fn, helper, self.work.normal.source)
        used = grammar.free_names(fn)
        bindings = {n: b for n, b in self.work.bindings.items() if n in used}
        return Unit(name, fn, emit.function_text(fn), self.work.normal.source, bindings)


class TangentAssembly(Assembly):
    """The function that gives value and tangent.

    ::

        def f_jvp(x, n, *, x_dot):
            ...
            return out, out_dot
    """

    def whole(self, name: str) -> Unit:
        """The function, under a given name."""
        work = self.work
        body = work.tangents()
        lead = element_names(work.normal)
        body = [*lead, *self._checked_seeds(), *body]
        args = own_parameters(work.normal)
        notes = {p.id: p.annotation for p in [*args.args, *args.kwonlyargs]}
        for p in work.wrt:
            note = grammar.clone(notes[p]) if notes.get(p) is not None else None
            dot = gast.Name(work.seeds[p], gast.Param(), note, None)
            args.kwonlyargs.append(dot)
            args.kw_defaults.append(None)
        fn = self._function(name, args, body)
        result = work.normal.fn.returns
        if result is not None:
            fn.returns = _tuple_type([grammar.clone(result), grammar.clone(result)])
        fn = polish.early_returns(work.optimised(fn))
        _fold_returns(fn.body)
        fn.body.insert(0, gast.Expr(grammar.constant(self._told())))
        return self._unit(name, fn)

    def product(self, name: str, said: str, value: bool) -> Unit:
        """The function whose tangents are given as one vector.

        It returns the tangent alone, or the `value` as well.
        """
        work = self.work
        body = work.tangents()
        last = body[-1]
        if not value:
            body[-1] = grammar.located(gast.Return(last.value.elts[1]), last)
        lead = element_names(work.normal)
        dots = [work.seeds[p] for p in work.wrt]
        if dots != [work.vector]:
            parts = [grammar.name(n, store=True) for n in dots]
            whole = gast.Tuple(parts, gast.Store())
            lead.append(grammar.assign(whole, grammar.name(work.vector)))
        args = own_parameters(work.normal)
        args.kwonlyargs.append(gast.Name(work.vector, gast.Param(), None, None))
        args.kw_defaults.append(None)
        body = [*lead, *self._checked_seeds(), *body]
        fn = polish.early_returns(work.optimised(self._function(name, args, body)))
        _fold_returns(fn.body)
        fn.body.insert(0, gast.Expr(grammar.constant(emit.wrap_docstring(said))))
        return self._unit(name, fn)

    def _checked_seeds(self) -> list[gast.AST]:
        """Checks of the arguments, and that the seeds have their shapes."""
        work = self.work
        if work.inner:
            return []
        undeclared = {p for p in work.wrt if not work.declared[p].inexact}
        undeclared -= work.structures.all
        numbers = {p for p in work.entry_scalars if not work.declared[p].scalar}
        checks = self._checked_inputs(undeclared, numbers & set(work.wrt))
        for p in [p for p in work.wrt if p in work.structures.all]:
            seed = work.seeds[p]
            given = grammar.name(seed), grammar.name(p), grammar.constant(seed)
            whole = grammar.call(work.use("helper", "filled"), *given)
            checks.append(grammar.assign(seed, whole))
        unsure = [p for p in work.wrt if not work.declared[p].scalar]
        unsure = [p for p in unsure if p not in work.structures.all]
        for p in unsure:
            seed = work.seeds[p]
            given = [grammar.constant(seed), grammar.name(seed), grammar.name(p)]
            checks.append(self._check("check_tangent", given, []))
        return checks

    def _told(self) -> str:
        """The docstring."""
        seeds = [f"`{self.work.seeds[p]}`" for p in self.work.wrt]
        along = " and ".join([", ".join(seeds[:-1]), seeds[-1]] if seeds[1:] else seeds)
        text = (
            f"Return ``(out, out_dot)``: the value, and its derivative along {along}."
        )
        return emit.wrap_docstring(text + self._held())


def _fold_returns(body: list[gast.AST]) -> None:
    """Return the values of last assignments instead of their names, where they fit."""
    for inner in [b for s in body for b in grammar.blocks(s)]:
        _fold_returns(inner)
    if body and isinstance(body[-1], gast.Return):
        polish.fold_return(body)


def own_parameters(normal: Normal) -> gast.arguments:
    """The parameters that a function itself has, without names for elements."""
    args = grammar.clone(normal.fn.args)
    kept = [k for k, p in enumerate(args.kwonlyargs) if p.id not in normal.elements]
    args.kwonlyargs = [args.kwonlyargs[k] for k in kept]
    args.kw_defaults = [args.kw_defaults[k] for k in kept]
    return args


def element_names(normal: Normal) -> list[gast.AST]:
    """The statements that name the elements of ``*xs``."""
    return [grammar.assign(n, grammar.clone(e)) for n, e in normal.elements.items()]


def passed_on(a: gast.arguments) -> tuple[list[gast.AST], list[gast.keyword]]:
    """Arguments that pass parameters on as they are."""
    args = [grammar.name(p.id) for p in [*a.posonlyargs, *a.args]]
    if a.vararg is not None:
        args.append(gast.Starred(grammar.name(a.vararg.id), gast.Load()))
    keywords = [gast.keyword(p.id, grammar.name(p.id)) for p in a.kwonlyargs]
    if a.kwarg is not None:
        keywords.append(gast.keyword(None, grammar.name(a.kwarg.id)))
    return args, keywords


def _tuple_type(parts: list[gast.AST]) -> gast.AST:
    inside = gast.Tuple(parts, gast.Load()) if len(parts) > 1 else parts[0]
    return gast.Subscript(grammar.name("tuple"), inside, gast.Load())


def _last(result: gast.AST) -> gast.Return:
    """The return of a derivative, which belongs to no line of the source."""
    stmt = gast.Return(result)
    stmt.lineno = -1
    return stmt


def live_at_start(body: list[gast.AST]) -> set[str]:
    """The names that a block reads before it writes them, on some path."""
    flow = dataflow.Backward(_reads_and_writes)
    return flow.run(body, set()) or set()


def _reads_and_writes(stmt: gast.AST, state: set[str]) -> None:
    state.difference_update(grammar.writes(stmt))
    state.update(grammar.reads(stmt))


def maybe_unbound(
    body: list[gast.AST], names: list[str], bound: list[str]
) -> list[str]:
    """Those of `names` that some path through a block leaves unbound."""

    def transfer(stmt: gast.AST, state: set[str]) -> None:
        state.update(grammar.writes(stmt))

    flow = dataflow.Forward(transfer, lambda a, b: a & b)
    end = flow.run(body, set(bound))
    return [n for n in names if end is not None and n not in end]


def _cut(stmt: gast.AST) -> list[str]:
    """The list that ``l.pop()`` makes shorter."""
    call = stmt.value if isinstance(stmt, gast.Expr) else None
    func = getattr(call, "func", None)
    return [func.value.id] if getattr(func, "attr", "") == "pop" else []


def computes_much(fn: gast.FunctionDef) -> bool:
    """Whether the forward sweep of an emitted function is worth keeping values of."""
    for stmt in fn.body:
        if isinstance(stmt, grammar.Comment) and stmt.text == BACKWARD:
            return False
        for s in grammar.statements([stmt]):
            if isinstance(s, (gast.For, gast.While)) or any(
                isinstance(n, gast.Call)
                and grammar.names_read(gast.Tuple([*n.args], None))
                for h in grammar.heads(s)
                for n in gast.walk(h)
            ):
                return True
    return False
