"""From a function and what is asked of it to emitted functions.

A `Program` is one emitted module in the making: the derivative that was asked for and
those of the functions that it calls.  A function that is called gets one derivative for
each set of its arguments that is active; one that calls itself, or that has values to
keep, gets its two sweeps apart::

    e = g(q, k)     ──►   q_bar, k_bar = g_grad(q, k, out_bar=e_bar)

    r = f(x, n)     ──►   r, f_tape = f_fwd(x, n)
                          x_bar = f_bwd(x, n, tape=f_tape, out_bar=r_bar)
"""

from __future__ import annotations

import builtins
import functools
import types
from dataclasses import dataclass, field, replace

import gast
import numpy as np

from sct import emit, grammar, polish, purity, runtime, runtime_rules
from sct.adjoint import Context, Derived
from sct.analysis import dataflow
from sct.analysis.activity import activity
from sct.analysis.aliases import is_fresh
from sct.analysis.annotations import parameter_facts, return_fact
from sct.analysis.calls import result_fact
from sct.analysis.passing import passing
from sct.analysis.shapes import (
    NUMBER,
    Fact,
    Inference,
    Shapes,
    must_be_scalar,
    shapes,
    with_stores,
)
from sct.analysis.shift import without_free_extrema
from sct.arguments import parameter_names
from sct.entry import entry
from sct.errors import unsupported
from sct.inplace import in_place_forms
from sct.module import Unit
from sct.names import Names, used_names
from sct.normalise import Normal, normalise
from sct.operations import (
    Operation,
    Resolver,
    bind_call,
    classify,
    store_operation,
    unwrap,
)
from sct.optimize import Facts, optimize
from sct.optimize.facts import trivial
from sct.prepare import prepare
from sct.refusals import IN_PLACE, JOINED, KEPT_VALUE, SHARED, WRITES, refusal
from sct.resolve import MISSING, Binding
from sct.reverse import BACKWARD, FORWARD, Sweeps, sweeps
from sct.sharing import alias_groups, stores, writes_into
from sct.specialise import form_of, specialise
from sct.storage import Storage
from sct.structures import one_path_each, structures
from sct.templates.array_api import role
from sct.views import one_name_each

# The two sweeps in one function, or one of them.
JOINT = ("grad", "value_and_grad", "vjp")
SPLIT = ("fwd", "bwd")
SUFFIX = {"grad": "grad", "value_and_grad": "value_and_grad", "vjp": "vjp"}


class Program:
    """The emitted functions of one module."""

    def __init__(self, optimize: bool = True):
        self.optimize = optimize
        self.units: dict[str, Unit] = {}
        self.names = Names(set())
        self.done: dict[tuple, Derived] = {}
        self.running: dict[tuple, Derived] = {}
        self.recursive: set[tuple] = set()

    # -- what is asked for ---------------------------------------------------------
    def derivative(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        mode: str,
        single: bool,
    ) -> str:
        """Emit the derivative of `function`; returns its name.

        Parameters
        ----------
        function : types.FunctionType
            The primal.
        wrt : tuple of str
            The parameters.
        mode : str
            ``"grad"``, ``"value_and_grad"`` or ``"vjp"``.
        single : bool
            Whether the adjoint comes back by itself rather than in a tuple.
        """
        normal = entry(function, wrt)
        key = (normal, wrt, ())
        name = self.reserve(f"{normal.source.name}_{SUFFIX[mode]}", normal)
        self.units[name] = None
        self.running[key] = self.split_names(normal, wrt)
        work = _Function(self, normal, wrt, (), mode=mode, single=single)
        unit = work.joint(name)
        derived = self.running.pop(key)
        if key in self.recursive:
            self.sweeps_apart(normal, wrt, (), derived)
            self.done[key] = derived
            unit = work.wrapper(name, derived)
        self.units[name] = unit
        return name

    def split_names(self, normal: Normal, wrt: tuple[str, ...]) -> Derived:
        """The names of two sweeps, without emitting anything."""
        stem = normal.source.name
        names = Names(used_names(normal.fn) | set(parameter_names(normal.fn)))
        return Derived(wrt, "", f"{stem}_fwd", f"{stem}_bwd", names.fresh("tape"))

    def called(self, normal: Normal, wrt: tuple[str, ...], statics: tuple) -> Derived:
        """The derivative of a function that another one calls."""
        key = (normal, wrt, statics)
        if key in self.done:
            return self.done[key]
        if key in self.running:
            if key not in self.recursive:
                self.recursive.add(key)
                named = self.running[key]
                fwd = self.reserve(named.fwd, normal)
                bwd = self.reserve(named.bwd, normal)
                self.running[key] = replace(named, fwd=fwd, bwd=bwd)
            return self.running[key]
        self.running[key] = self.split_names(normal, wrt)
        work = _Function(
            self, normal, wrt, statics, mode="grad", single=True, inner=True
        )
        before = dict(self.units)
        name = self.reserve(f"{normal.source.name}_grad", normal)
        self.units[name] = None
        unit = work.joint(name)
        derived = self.running.pop(key)
        if key in self.recursive or work.keeps:
            # What it calls has been emitted, for the two sweeps as well.
            calls = {n: u for n, u in self.units.items() if n not in {*before, name}}
            self.units = before
            if key not in self.recursive:
                derived = replace(
                    derived,
                    fwd=self.reserve(derived.fwd, normal),
                    bwd=self.reserve(derived.bwd, normal),
                )
            self.sweeps_apart(normal, wrt, statics, derived)
            self.units |= calls
        else:
            derived = Derived(wrt, grad=name)
            self.units[name] = unit
        self.done[key] = derived
        return derived

    def sweeps_apart(self, normal, wrt, statics, derived: Derived) -> None:
        """Emit the two sweeps of a function under the names of `derived`."""
        key = (normal, wrt, statics)
        self.done[key] = derived
        self.units[derived.fwd] = self.units[derived.bwd] = None
        work = _Function(
            self, normal, wrt, statics, mode="grad", single=True, inner=True
        )
        self.units[derived.fwd], self.units[derived.bwd] = work.split(derived)

    def reserve(self, wish: str, normal: Normal) -> str:
        """A name for a unit."""
        self.names.used |= used_names(normal.fn)
        return self.names.fresh(wish)


@dataclass
class _Function:
    """The transformation of one function."""

    program: Program
    normal: Normal
    wrt: tuple[str, ...]
    statics: tuple[tuple[str, object], ...]
    mode: str
    single: bool
    inner: bool = False
    bindings: dict[str, Binding] = field(default_factory=dict)
    keeps: bool = False

    def __post_init__(self) -> None:
        normal = self.normal
        used = used_names(normal.fn) | set(parameter_names(normal.fn))
        self.names = Names(used | set(self.program.names.used))
        self.temporary = set(normal.temporary)
        known = dict(self.statics)
        known.update(_constant_names(normal))
        self.resolve = Resolver(normal.scope, known)
        self.bindings.update(normal.scope.imports)
        self._operations: dict[int, tuple[gast.AST, Operation]] = {}
        self.captured = _captured(normal.fn)
        self.inference = Inference(self.operation, self._result_of)
        self._outer_names: list[str] | None = None
        self._modules: dict[str, str | None] = {}
        self.seed = "out_bar"
        self.single = self.single and len(self.wrt) == 1
        self._rename_seed()

    def _rename_seed(self) -> None:
        """Make room for the keyword `out_bar`."""
        self.fn = self.normal.fn
        if self.seed in parameter_names(self.fn):
            self.seed = self.names.fresh(self.seed)
        elif self.seed in self.names.used:
            other = self.names.fresh(f"{self.seed}_local")
            self.fn = grammar.clone(self.fn)
            for n in gast.walk(self.fn):
                if isinstance(n, gast.Name) and n.id == self.seed:
                    n.id = other
        self.names.used.add(self.seed)

    # -- names that sct brings in --------------------------------------------------
    def use(self, kind: str, name: str) -> str:
        """The name in this function of a module or helper."""
        for alias, b in self.bindings.items():
            if (b.kind, b.name) == (kind, name):
                return alias
        if kind == "builtin":
            value, wish = getattr(builtins, name), name
            if (
                name not in self._local_names
                and self.normal.scope.lookup(name) is value
            ):
                return name
        elif kind == "helper":
            value = getattr(runtime, name, None) or getattr(runtime_rules, name)
            wish = name
        else:
            value = {"numpy": np}.get(name) or __import__(name)
            wish = "np" if name == "numpy" else name
            if name not in self._modules:
                self._modules[name] = self._spelled(value, wish)
            if self._modules[name]:
                return self._modules[name]
        alias = self.names.fresh(wish)
        self.bindings[alias] = Binding(kind, name, value=value)
        self.resolve.statics[alias] = value
        return alias

    @functools.cached_property
    def _local_names(self) -> set[str]:
        """The names that the function binds itself."""
        return grammar.all_writes(self.fn.body) | set(parameter_names(self.fn))

    def _spelled(self, module: object, wish: str) -> str | None:
        """The user's own name for a module, when the function can see it."""
        if self._outer_names is None:
            self._outer_names = sorted(used_names(self.fn) - self._local_names)
        for n in [*self._outer_names, wish]:
            if n not in self._local_names and self.normal.scope.lookup(n) is module:
                self.names.used.add(n)
                return n
        return None

    def outer(self, name: str, rule: object) -> str:
        """The name here of a global that a rule reads."""
        space = rule.function.__globals__
        if name not in space:
            return name
        value = space[name]
        if isinstance(value, types.ModuleType):
            return self.use("module", value.__name__)
        if value is getattr(runtime, name, None) or value is getattr(
            runtime_rules, name, None
        ):
            return self.use("helper", name)
        for alias, b in self.bindings.items():
            if b.value is value and b.kind == "global":
                return alias
        alias = self.names.fresh(name)
        self.bindings[alias] = Binding("global", name, rule.function.__module__, value)
        self.resolve.statics[alias] = value
        return alias

    def unit_name(self, name: str) -> str:
        """Use another emitted function."""
        self.bindings[name] = Binding("unit", name)
        return name

    # -- operations ----------------------------------------------------------------
    def operation(self, expr: gast.AST) -> Operation:
        """What an expression does; the same object for the same node."""
        found = self._operations.get(id(expr))
        if found is None:
            op = classify(expr, self.resolve)
            captured = {c for n in op.operands for c in self.captured.get(n, ())}
            if captured:
                op = replace(op, operands=(*op.operands, *sorted(captured)))
            found = self._operations[id(expr)] = (expr, op)
        return found[1]

    def _result_of(self, op: Operation, env) -> Fact | None:
        """What is known of the result of a user's function."""
        function = unwrap(op.callee)
        return self.program_facts(function, op, env)

    def program_facts(self, function, op: Operation, env) -> Fact | None:
        return result_fact(function, op, env, self.inference)

    def derive(self, op: Operation, active: tuple[str, ...]):
        """The derivative of a call, and its arguments by parameter."""
        function = unwrap(op.callee)
        bound = bind_call(function, op.node)
        wrt = tuple(
            p for p, a in bound.items() if isinstance(a, gast.Name) and a.id in active
        )
        statics = tuple(
            (p, self.resolve(a))
            for p, a in bound.items()
            if isinstance(a, (gast.Name, gast.Attribute))
            and callable(self.resolve(a))
            and self.resolve(a) is not MISSING
        )
        normal = normalise(function)
        form = form_of(function, op.node)
        if form is not None:
            normal = specialise(normal, *form)
        derived = self.program.called(normal, wrt, statics)
        for name in (derived.grad, derived.fwd, derived.bwd):
            if name:
                self.unit_name(name)
        return derived, bound

    # -- transformation ------------------------------------------------------------
    def _sweeps(self) -> Sweeps:
        self.keeps = False
        declared = parameter_facts(self.fn, self.normal.scope)
        arrays = {p for p, f in declared.items() if f.array or f.scalar}
        self.structures = structures(self.fn, self.operation, arrays)
        self.resolve.structures = self.structures.all
        self._operations.clear()
        taken = one_path_each(self.fn, self.structures)
        forms = in_place_forms(taken, self.operation, self.names)
        numbers, integers = self._numbers(forms)
        rooted = one_name_each(
            forms,
            self.normal.source,
            self.operation,
            numbers,
            self._call_check,
            self.names,
            self.inner,
        )
        prepared = prepare(
            rooted,
            self.normal.source,
            self.names,
            self.operation,
            self.temporary,
            list(self.wrt),
            self.use,
            integers,
        )
        fn = self.prepared = prepared.fn
        self.augmented = prepared.augmented
        operations = {
            s: self.operation(s if isinstance(s, gast.FunctionDef) else s.value)
            for s in grammar.statements(fn.body)
            if isinstance(s, (gast.Assign, gast.Expr, gast.AugAssign, gast.FunctionDef))
        }
        operations.update(
            (s, store_operation(s))
            for s in grammar.statements(fn.body)
            if grammar.mutates(s)
        )
        wrt = list(self.wrt)
        facts = parameter_facts(fn, self.normal.scope)
        self.declared = dict(facts)
        declared = return_fact(
            normalise(self.normal.source.function).fn, self.normal.scope
        )
        self.promised = declared is not None and declared.scalar
        scalar = self.mode in ("grad", "value_and_grad") and not self.inner
        scalar = scalar or self.promised
        found = shapes(fn, facts, self.inference, in_place=prepared.in_place)
        known = {"in_place": prepared.in_place}
        records, points = must_be_scalar(fn, self.inference, found.operands, scalar)
        if self._assume_ranks(fn, operations, found, records):
            found = shapes(fn, facts, self.inference, **known)
            _, points = must_be_scalar(fn, self.inference, found.operands, scalar)
        entry = points[dataflow.start(fn.body)]
        facts = {
            p: NUMBER if p in entry and not f.scalar else f for p, f in facts.items()
        }
        self.entry_scalars = entry & set(facts)
        self.result = shapes(fn, facts, self.inference, **known).result
        found = shapes(fn, facts, self.inference, True, scalar, **known)
        found = with_stores(fn, found, self.inference)
        self.shapes = found
        operations = without_free_extrema(fn, operations, found)
        active = activity(fn, operations, wrt)
        self.context = Context(
            fn,
            self.normal.source,
            operations,
            active,
            found,
            self.inference,
            self.names,
            self.use,
            self.derive,
            self.outer,
            self.temporary,
            self.structures.all,
            self.structures.certain,
            passing(fn, operations, active, self.temporary, self._takes_wide),
        )
        scalars = _scalar_names(fn, found)
        groups = self.groups = alias_groups(fn, self.operation, scalars)
        refuse_unknown_effects(self.context, self.resolve, groups, scalars)
        storage = Storage(
            fn,
            self._fresh,
            self._pure_test,
            prepared.flags,
            groups,
            lambda e: self._is_number(e, fn, found),
        )
        restore = set() if self.inner else self.structures.all & set(wrt)
        both = sweeps(
            self.context, wrt, self.seed, storage, self._cheap(scalars), restore
        )
        self.wide = both.wide
        scalars = scalars | both.counters
        self.settled = {b for n, b in both.names.items() if n not in self.temporary}
        self.scalars = scalars | {both.names[n] for n in scalars if n in both.names}
        if self.mode in ("grad", "value_and_grad") and not self.inner:
            self.scalars.add(self.seed)
        return both

    def _assume_ranks(self, fn, operations, found: Shapes, records) -> bool:
        """Take arrays that are written into for what their elements must be.

        Where ``C[i, j]`` must be a number for the result to be one, `C` has two axes.
        That is checked when it runs, once, and then known everywhere.
        """
        changed = {n for s in grammar.statements(fn.body) for n in grammar.mutates(s)}
        ranks: dict[str, int] = {}
        for stmt, numbers in records.items():
            if not isinstance(stmt, gast.Assign) or not grammar.is_name(
                stmt.targets[0]
            ):
                continue
            value, env = stmt.value, found.operands.get(stmt, {})
            if (
                not isinstance(value, gast.Subscript)
                or stmt.targets[0].id not in numbers
            ):
                continue
            base = grammar.root(value)
            parts = (
                value.slice.elts
                if isinstance(value.slice, gast.Tuple)
                else [value.slice]
            )
            single = all(
                f.integer and f.scalar
                for f in (self.inference.fact(p, env) for p in parts)
            )
            known = base not in env or env[base].rank is not None
            if (
                grammar.is_name(value.value)
                and base in changed
                and single
                and not known
            ):
                ranks[base] = len(parts)
        if not ranks:
            return False

        def block(body: list[gast.AST]) -> None:
            for i in reversed(range(len(body))):
                for inner in grammar.blocks(body[i]):
                    block(inner)
                for n in set(grammar.writes(body[i])) & ranks.keys():
                    rank = grammar.constant(ranks[n])
                    test = self._call_check("check_rank", [rank], {n: grammar.name(n)})
                    body.insert(i + 1, grammar.located(test, body[i]))
                    operations[test] = self.operation(test.value)

        block(fn.body)
        return True

    def _is_number(self, expr: gast.AST, fn: gast.FunctionDef, found: Shapes) -> bool:
        """Whether a path certainly leads to a number."""
        at_end = found.points.get(dataflow.end(fn.body), {})
        return self.inference.fact(expr, at_end).scalar

    def _numbers(self, fn: gast.FunctionDef) -> tuple[set[str], set[str]]:
        """The names that hold numbers, and of these the ones that hold integers."""
        facts = parameter_facts(fn, self.normal.scope)
        found = shapes(fn, facts, self.inference)
        return _scalar_names(fn, found), _scalar_names(fn, found, integers=True)

    def _call_check(self, helper: str, args: list, keywords: dict) -> gast.AST:
        return gast.Expr(grammar.call(self.use("helper", helper), *args, **keywords))

    def _takes_wide(self, stmt: gast.AST, op: Operation) -> bool:
        """Whether the adjoint of a result may be broadcast to more than its shape."""
        if op.rule.pointwise or not op.rule.wide:
            return op.rule.pointwise
        facts = self.shapes.operands.get(stmt, {})
        ranks = {self.inference.fact(a, facts).rank for a in op.arguments.values()}
        return not ranks <= {1, 2}

    def _fresh(self, base: str) -> str:
        made = self.names.fresh(base)
        self.temporary.add(made)
        return made

    def _cheap(self, scalars: set[str]):
        """Which assignments `recompute` may repeat."""

        def cheap(stmt: gast.Assign, in_loop: bool) -> bool:
            name, value = stmt.targets[0].id, stmt.value
            if not in_loop:
                # Outside loops a name costs nothing to keep; a number no name either.
                return (
                    name in self.normal.temporary
                    and name in scalars
                    and (isinstance(value, gast.BinOp) and self._short(value, scalars))
                )
            if isinstance(value, (gast.Subscript, gast.Attribute, gast.UnaryOp)):
                return True
            if isinstance(value, gast.BinOp):
                costly = isinstance(value.op, (gast.MatMult, gast.Pow))
                return not costly and (name in self.normal.temporary or name in scalars)
            return False

        return cheap

    def _pure_test(self, test: gast.AST) -> bool:
        return all(self.pure(n) for n in gast.walk(test) if isinstance(n, gast.Call))

    def pure(self, call: gast.Call) -> bool:
        """Whether a call may be dropped, moved or made twice."""
        if isinstance(call.func, gast.Name) and call.func.id in self.bindings:
            binding = self.bindings[call.func.id]
            if binding.kind == "unit":
                return False
        return purity.pure(self.operation(call), self.resolve)

    def fresh_result(self, call: gast.Call) -> bool:
        """Whether what a call returns shares no memory with anything."""
        return is_fresh(self.operation(call))

    def _short(self, node: gast.AST, scalars: set[str] | None = None) -> bool:
        """Whether an expression is arithmetic on a few numbers."""
        scalars = self.scalars if scalars is None else scalars
        parts = grammar.nodes(node)
        allowed = (gast.BinOp, gast.UnaryOp, gast.Name, gast.Constant)
        return (
            all(isinstance(n, allowed) for n in parts)
            and sum(isinstance(n, gast.BinOp) for n in parts) <= 2
            and grammar.names_read(node) <= scalars
        )

    def optimised(self, fn: gast.FunctionDef) -> gast.FunctionDef:
        facts = Facts(
            pure=self.pure,
            temporary=self.temporary,
            scalar=self.scalars,
            fresh=self.fresh_result,
            cheap=lambda node: trivial(node) or self._short(node),
            repeat=self._short,
        )
        if not self.program.optimize:
            return fn
        fn = optimize(fn, facts)
        fn = polish.polish(fn, facts, self.wide, self.settled, self.augmented)
        return polish.unshared(fn, facts)

    # -- what is emitted -----------------------------------------------------------
    def joint(self, name: str) -> Unit:
        """Both sweeps in one function."""
        both = self._sweeps()
        bars = [both.bars[n] for n in self.wrt]
        body = list(both.forward)
        value = both.value
        if self.mode != "grad":
            value = self._safe_value(both, body)
        checks = self._checks(body, both)
        result = bars[0] if self.single else gast.Tuple(bars, gast.Load())
        if self.mode != "grad":
            result = gast.Tuple([value, result], gast.Load())
        end = _last(result)
        text = self._docstring(bars)
        body = [
            *checks,
            grammar.Comment(FORWARD, blank=True),
            *body,
            grammar.Comment(BACKWARD, blank=True),
            *both.backward,
            end,
        ]
        seed = grammar.constant(1.0) if self.mode != "vjp" else None
        fn = self._definition(name, body, seed)
        fn = self.optimised(fn)
        self.keeps = _keeps(fn)
        fn.body.insert(0, gast.Expr(grammar.constant(text)))
        return self._unit(name, fn)

    def _safe_value(self, both: Sweeps, body: list[gast.AST]) -> gast.AST:
        """The value of the primal, out of the reach of the backward sweep."""
        written = grammar.all_writes(both.backward)
        value = both.value
        restored = self._restored(both)
        if restored & grammar.names_read(value):
            value = self._copied(value, restored)
        if grammar.names_read(value) & written or not isinstance(
            value, (gast.Name, gast.Constant)
        ):
            held = self.names.fresh("value")
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
        for stmt, op in self.context.operations.items():
            if op.kind == "call" and self.context.activity.targets.get(stmt):
                if stores(unwrap(op.callee)):
                    changed.update(grammar.writes(stmt))
        changed -= self.scalars
        return changed.union(*[self.groups.get(n, ()) for n in changed])

    def _copied(self, value: gast.AST, restored: set[str]) -> gast.AST:
        if isinstance(value, gast.Tuple):
            parts = [self._copied(e, restored) for e in value.elts]
            return gast.Tuple(parts, gast.Load())
        if not grammar.names_read(value) & restored:
            return value
        if grammar.names_read(value) & self.structures.all:
            source = self.normal.source
            raise unsupported(source, self.prepared.body[-1], "this value", *KEPT_VALUE)
        return grammar.call(f"{value.id}.copy")

    def _checks(self, body: list[gast.AST], both: Sweeps) -> list[gast.AST]:
        """What must be checked of arguments and result, which no type says."""
        if self.inner:
            return []
        unknown = [
            p
            for p in self.wrt
            if not self.declared[p].inexact and p not in self.structures.all
        ]
        out: list[gast.AST] = []
        quoted = grammar.constant(self.normal.source.name)
        if self.mode == "vjp":
            numbers = [p for p in unknown if p in self.entry_scalars]
            if numbers:
                out.append(self._check("check_scalars", [quoted], numbers))
            rest = [p for p in unknown if p not in numbers]
            if rest:
                out.append(self._check("check_inexact", [], rest))
            body.append(
                gast.Expr(
                    grammar.call(
                        self.use("helper", "check_seed"),
                        grammar.name(self.seed),
                        grammar.clone(both.value),
                    )
                )
            )
            return out
        must = {p for p in self.entry_scalars if not self.declared[p].scalar}
        if (self.result.scalar or self.promised) and must <= set(self.wrt):
            scalars = [p for p in unknown if p in must]
            scalars += [p for p in self.wrt if p in must and p not in scalars]
            rest = [p for p in unknown if p not in must]
            if scalars:
                out.append(self._check("check_scalars", [quoted], scalars))
            if rest:
                out.append(self._check("check_inexact", [], rest))
            return out
        if unknown:
            out.append(self._check("check_inexact", [], unknown))
        body.append(
            gast.Expr(
                grammar.call(
                    self.use("helper", "check_scalar_result"),
                    quoted,
                    grammar.clone(both.value),
                )
            )
        )
        return out

    def _check(self, helper: str, args: list[gast.AST], names: list[str]) -> gast.AST:
        keywords = {n: grammar.name(n) for n in names}
        return gast.Expr(grammar.call(self.use("helper", helper), *args, **keywords))

    def _docstring(self, bars: list[gast.AST]) -> str:
        names = [b.id for b in bars]
        quoted = [f"`{n}`" for n in self.wrt]
        inputs = " and ".join(
            [", ".join(quoted[:-1]), quoted[-1]] if quoted[1:] else quoted
        )
        shown = (
            names[0]
            if self.single
            else f"({', '.join(names)}{',' * (len(names) == 1)})"
        )
        if self.mode == "grad":
            text = f"Return ``{shown}``: the gradient in {inputs}, "
            text += f"scaled by `{self.seed}`."
            if len(text) > 78:
                text = f"Return ``{shown}``: the gradient, scaled by `{self.seed}`."
        elif self.mode == "value_and_grad":
            text = (
                f"Return ``(value, {shown})``: the value, and its gradient in "
                f"{inputs}, scaled by `{self.seed}`."
            )
        else:
            text = (
                f"Return ``(value, {shown})``: the value, and the adjoints of {inputs} "
                f"for the adjoint `{self.seed}` of the value."
            )
        listed = parameter_names(self.fn)
        if self.normal.elements:
            listed.remove(self.fn.args.vararg.id)
        constant = [f"`{p}`" for p in listed if p not in self.wrt]
        if constant:
            text += f"\n\nHeld constant: {', '.join(constant)}."
        return emit.wrap_docstring(text)

    def _definition(
        self, name: str, body: list[gast.AST], seed: gast.AST | None
    ) -> gast.FunctionDef:
        """The derivative as a function: the primal's parameters, and the seed."""
        args = grammar.clone(self.normal.fn.args)
        elements = self.normal.elements
        kept = [k for k, p in enumerate(args.kwonlyargs) if p.id not in elements]
        args.kwonlyargs = [args.kwonlyargs[k] for k in kept]
        args.kw_defaults = [args.kw_defaults[k] for k in kept]
        lead = [grammar.assign(n, grammar.clone(e)) for n, e in elements.items()]
        body = [*lead, *body]
        result = self.normal.fn.returns
        note = grammar.clone(result) if self.promised and result else None
        args.kwonlyargs.append(gast.Name(self.seed, gast.Param(), note, None))
        args.kw_defaults.append(seed)
        made = self._function(name, args, body)
        made.returns = self._return_type(result)
        return made

    def _return_type(self, result: gast.AST | None) -> gast.AST | None:
        """The type of a derivative, where the primal states the types it needs."""
        a = self.normal.fn.args
        notes = {p.id: p.annotation for p in [*a.posonlyargs, *a.args, *a.kwonlyargs]}
        parts = [notes.get(n) for n in self.wrt]
        if None in parts or (self.mode != "grad" and result is None):
            return None
        parts = [grammar.clone(p) for p in parts]
        whole = parts[0] if self.single and len(parts) == 1 else _tuple_type(parts)
        if self.mode != "grad":
            whole = _tuple_type([grammar.clone(result), whole])
        return whole

    def _function(
        self, name: str, args: gast.arguments, body: list[gast.AST]
    ) -> gast.FunctionDef:
        made = grammar.block("def f():\n    pass")[0]
        made.name, made.args, made.body = name, args, body
        return made

    # -- the sweeps apart ----------------------------------------------------------
    def wrapper(self, name: str, derived: Derived) -> Unit:
        """The derivative of a recursive function: one sweep after the other."""
        self.unit_name(derived.fwd)
        self.unit_name(derived.bwd)
        args, keywords = self._passed()
        value = "value" if self.mode != "grad" else "_"
        value = self.names.fresh(value) if value == "value" else "_"
        tape = self.names.fresh("tape")
        pair = gast.Tuple(
            [grammar.name(value, store=True), grammar.name(tape, store=True)],
            gast.Store(),
        )
        first = grammar.assign(
            pair, gast.Call(grammar.name(derived.fwd), args, keywords)
        )
        args, keywords = self._passed()
        keywords.append(gast.keyword("out_bar", grammar.name(self.seed)))
        keywords.insert(-1, gast.keyword(derived.tape, grammar.name(tape)))
        result: gast.AST = gast.Call(grammar.name(derived.bwd), args, keywords)
        bars = [grammar.name(f"{n}_bar") for n in self.wrt]
        if not self.single and len(bars) == 1:
            result = gast.Tuple([result], gast.Load())
        if self.mode != "grad":
            result = gast.Tuple([grammar.name(value), result], gast.Load())
        body = [gast.Expr(grammar.constant(self._docstring(bars))), first]
        checks: list[gast.AST] = []
        unknown = [
            p
            for p in self.wrt
            if not self.declared[p].inexact and p not in self.structures.all
        ]
        if unknown:
            checks.append(self._check("check_inexact", [], unknown))
        if self.mode != "vjp":
            quoted = grammar.constant(self.normal.source.name)
            if not self.promised:
                helper = self.use("helper", "check_scalar_result")
                if value == "_":
                    value = self.names.fresh("value")
                    pair.elts[0] = grammar.name(value, store=True)
                body.append(
                    gast.Expr(grammar.call(helper, quoted, grammar.name(value)))
                )
        else:
            helper = self.use("helper", "check_seed")
            body.append(
                gast.Expr(
                    grammar.call(helper, grammar.name(self.seed), grammar.name(value))
                )
            )
        body[1:1] = checks
        body.append(gast.Return(result))
        seed = grammar.constant(1.0) if self.mode != "vjp" else None
        return self._unit(name, self._definition(name, body, seed))

    def _passed(self) -> tuple[list[gast.AST], list[gast.keyword]]:
        """The primal's parameters, passed on."""
        a = self.normal.fn.args
        args = [grammar.name(p.id) for p in [*a.posonlyargs, *a.args]]
        if a.vararg is not None:
            args.append(gast.Starred(grammar.name(a.vararg.id), gast.Load()))
        keywords = [gast.keyword(p.id, grammar.name(p.id)) for p in a.kwonlyargs]
        if a.kwarg is not None:
            keywords.append(gast.keyword(None, grammar.name(a.kwarg.id)))
        return args, keywords

    def split(self, derived: Derived) -> tuple[Unit, Unit]:
        """The two sweeps as two functions, which share a tape."""
        both = self._sweeps()
        bars = [both.bars[n] for n in self.wrt]
        result = bars[0] if len(bars) == 1 else gast.Tuple(bars, gast.Load())
        tape = derived.tape
        # Optimised in one piece, so that what the backward sweep needs is known.
        value = self.names.fresh("value")
        self.temporary.add(value)
        out = grammar.call(self._boundary, both.value)
        fn = self._definition(
            derived.fwd,
            [*both.forward, gast.Expr(out), *both.backward, _last(result)],
            grammar.constant(1.0),
        )
        fn = self.optimised(fn)
        at = next(i for i, s in enumerate(fn.body) if self._is_boundary(s))
        value = fn.body[at].value.args[0]
        forward, backward = fn.body[:at], fn.body[at + 1 :]
        halves = self._arms_apart(forward, backward, value, tape)
        if halves is None:
            kept = self._taped(forward, backward)
            unbound = maybe_unbound(forward, kept, parameter_names(self.normal.fn))
            lead = [grammar.assign(n, grammar.constant(None)) for n in unbound]
            names = gast.Tuple([grammar.name(n) for n in kept], gast.Load())
            pair = gast.Return(gast.Tuple([value, names], gast.Load()))
            halves = [*lead, *forward, pair], [*self._unpacked(kept, tape), *backward]
        fwd = self._forward_half(derived.fwd, halves[0])
        bwd = self._backward_half(derived.bwd, halves[1], tape)
        return self._unit(derived.fwd, fwd), self._unit(derived.bwd, bwd)

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
                *parameter_names(self.normal.fn),
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
        probe = self._function("probe", grammar.clone(self.normal.fn.args), backward)
        probe.args.args, probe.args.kwonlyargs, probe.args.posonlyargs = [], [], []
        probe.args.defaults, probe.args.kw_defaults = [], []
        read = live_at_start(backward)
        bound: list[str] = []
        for s in grammar.statements(forward):
            for n in grammar.writes(s):
                if n in read and n not in bound:
                    bound.append(n)
        return bound

    def _forward_half(self, name: str, body: list[gast.AST]) -> gast.FunctionDef:
        name_of = self.normal.source.name
        said = f"Forward sweep of `{name_of}`: return its value and the tape."
        args = grammar.clone(self.normal.fn.args)
        body = [gast.Expr(grammar.constant(said)), *body]
        return polish.early_returns(self._function(name, args, body))

    def _backward_half(
        self, name: str, body: list[gast.AST], tape: str
    ) -> gast.FunctionDef:
        fn = self._definition(name, body, grammar.constant(1.0))
        fn.args.kw_defaults[-1] = None
        fn.args.kwonlyargs.insert(-1, gast.Name(tape, gast.Param(), None, None))
        fn.args.kw_defaults.insert(-1, None)
        shown = [f"{n}_bar" for n in self.wrt]
        returned = shown[0] if len(shown) == 1 else f"({', '.join(shown)})"
        said = f"Backward sweep of `{self.normal.source.name}`: return ``{returned}``."
        fn.body.insert(0, gast.Expr(grammar.constant(said)))
        return polish.early_returns(fn)

    def _unit(self, name: str, fn: gast.FunctionDef) -> Unit:
        used = grammar.free_names(fn)
        bindings = {n: b for n, b in self.bindings.items() if n in used}
        return Unit(name, fn, emit.function_text(fn), self.normal.source, bindings)


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


def _keeps(fn: gast.FunctionDef) -> bool:
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


def _captured(fn: gast.FunctionDef) -> dict[str, set[str]]:
    """For each local function, what it takes from the function around it."""
    found: dict[str, set[str]] = {}
    for s in grammar.statements(fn.body):
        if isinstance(s, gast.FunctionDef):
            found.setdefault(s.name, set()).update(grammar.free_names(s))
        elif isinstance(s, gast.Assign) and isinstance(s.value, gast.Lambda):
            for n in grammar.writes(s):
                found.setdefault(n, set()).update(grammar.free_names(s.value))
    while True:
        more = {
            n: {c for m in names for c in found.get(m, ())} - names
            for n, names in found.items()
        }
        if not any(more.values()):
            return found
        for n, names in more.items():
            found[n] |= names


def _constant_names(normal: Normal) -> dict[str, object]:
    """Local names that are bound once, to an object known from outside."""
    count: dict[str, int] = {}
    values: dict[str, gast.AST] = {}
    for s in grammar.statements(normal.fn.body):
        for n in grammar.writes(s):
            count[n] = count.get(n, 0) + 1
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
            values[s.targets[0].id] = s.value
    found = {}
    for n, v in values.items():
        if count[n] > 1:
            continue
        if (
            isinstance(v, gast.Call)
            and role(normal.scope.resolve(v.func)) == "namespace"
        ):
            found[n] = np
        elif isinstance(v, (gast.Name, gast.Attribute)):
            obj = normal.scope.resolve(v)
            if callable(obj) or isinstance(obj, types.ModuleType):
                found[n] = obj
    return found


def _scalar_names(
    fn: gast.FunctionDef, found: Shapes, integers: bool = False
) -> set[str]:
    """The names that hold scalars (integers) wherever they are bound."""
    names: dict[str, bool] = {}
    start = found.points.get(dataflow.start(fn.body), {})
    for facts in [start, *found.targets.values()]:
        for n, f in facts.items():
            fits = f.scalar and (f.integer or not integers)
            names[n] = names.get(n, True) and fits
    return {n for n, scalar in names.items() if scalar}


def refuse_unknown_effects(
    context: Context,
    resolve: Resolver,
    groups: dict[str, frozenset[str]],
    scalars: set[str],
) -> None:
    """Refuse what may carry a varied value away, or change one, unseen by any rule."""
    shared = grammar.outer_names(context.fn.body)
    local = grammar.all_writes(context.fn.body) | set(parameter_names(context.fn))
    tuples = [
        s for s, o in context.operations.items() if isinstance(o.node, gast.Tuple)
    ]
    joined = context.certain.union(*map(grammar.writes, tuples))
    needed = {
        n
        for stmt, op in context.operations.items()
        if context.activity.varied.get(stmt)
        for n in grammar.reads(stmt) & local | set(op.operands)
    }
    for stmt, op in context.operations.items():
        varied = context.activity.varied.get(stmt)
        if varied and shared.intersection(grammar.writes(stmt)):
            raise unsupported(context.source, stmt, *SHARED)
        if isinstance(op.node, gast.BinOp):
            if varied and joined & set(varied):
                raise unsupported(context.source, op.node, "this expression", *JOINED)
        if not isinstance(op.node, gast.Call):
            continue
        if op.kind == "call" and writes_into(unwrap(op.callee)):
            raise unsupported(context.source, op.node, "this call", *WRITES)
        silent = op.kind in ("append", "call") or op.callee in (print, *purity.CHECKS)
        if not silent and isinstance(stmt, gast.Expr) and not purity.pure(op, resolve):
            given = grammar.reads(stmt) - scalars - context.structures
            if needed & given.union(*[groups.get(n, ()) for n in given]):
                raise unsupported(context.source, op.node, "this call", *IN_PLACE)
        if not varied:
            continue
        unseen = op.kind == "opaque" and op.callee is not print
        if unseen and not purity.pure(op, resolve):
            raise refusal(context.source, op)
        if op.kind == "call" and not context.activity.targets.get(stmt):
            if not purity.keeps_arguments(unwrap(op.callee)):
                raise unsupported(context.source, op.node, "this call", *IN_PLACE)
