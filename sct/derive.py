"""The transformation of one function: from its normal form to what is emitted for it.

`Differentiation` runs the stages in their order, and answers what they ask of the
function as a whole: what an operation does, which name a module has here, what may be
repeated.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import types
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import gast
import numpy as np

from sct import grammar, polish, purity
from sct.analysis import dataflow, elements
from sct.analysis.activity import activity
from sct.analysis.aliases import is_fresh, lends
from sct.analysis.annotations import parameter_facts, return_fact
from sct.analysis.calls import result_fact
from sct.analysis.complexes import complex_names, is_real_only, taken_for_real
from sct.analysis.complexes import declared as declared_complex
from sct.analysis.cuts import cuts
from sct.analysis.passing import passing
from sct.analysis.picking import picking
from sct.analysis.reaching import reaching
from sct.analysis.shapes import (
    NUMBER,
    Fact,
    Inference,
    Shapes,
    must_be_scalar,
    shapes,
    with_scalars,
    with_stores,
)
from sct.analysis.shift import without_free_extrema
from sct.analysis.squares import squares
from sct.analysis.standing import standing, untouched
from sct.arguments import parameter_names
from sct.backends import CUPY, NUMPY, Backend, library, twin
from sct.context import Context, Derived
from sct.control import is_checkpointed
from sct.errors import SctError, led_to, unsupported
from sct.flows import adjoint_of_flow, tangent_of_flow
from sct.forward import tangents
from sct.helpers import is_helper
from sct.implicit import Solved, adjoint_of_solution, tangent_of_solution
from sct.inplace import in_place_forms
from sct.integers import check_floats
from sct.known import options, with_options
from sct.names import Names, used_names
from sct.normalise import Normal, normalise
from sct.operations import (
    FOUND,
    SOLVERS,
    Operation,
    Resolver,
    bind_call,
    classify,
    followed,
    looks_up,
    store_operation,
    unwrap,
)
from sct.optimize import Facts, optimize
from sct.optimize.facts import trivial
from sct.outline import turns_of
from sct.prepare import Prepared, prepare
from sct.refusals import (
    COUNTED,
    FOREIGN,
    TIMED,
    UNPAIRED,
    UNREPEATABLE,
    UNSOLVED,
)
from sct.resolve import MISSING, Binding
from sct.reuse import reuse
from sct.reverse import Sweeps, sweeps
from sct.runtime_solvers import flow, trajectory
from sct.sharing import alias_groups
from sct.snapshots import loop_from_snapshots
from sct.specialise import form_of, specialise
from sct.spelling import respelled
from sct.storage import Storage
from sct.structures import displays_named, one_path_each, structures
from sct.templates.array_api import role
from sct.unseen import refuse_unknown_effects
from sct.views import copies_on_entry, one_name_each


@dataclass(frozen=True)
class Given:
    """What a call says of the parameters of the function.

    Attributes
    ----------
    statics : tuple of pairs
        Those that are objects known while transforming, and these.
    complexes : frozenset of str
        Those that may be complex.
    chosen : bool
        Whether the adjoint of the result may be 0 in places, since it is chosen from.
    """

    statics: tuple[tuple[str, object], ...] = ()
    complexes: frozenset[str] = frozenset()
    chosen: bool = False

    def among(self, names: Collection[str]) -> Given:
        """What is said of some parameters."""
        statics = tuple((n, f) for n, f in self.statics if n in names)
        return Given(statics, self.complexes & set(names), self.chosen)


GIVEN = Given()


@dataclass
class Differentiation:
    """The transformation of one function."""

    # The `Program` that it is part of.
    program: Any
    normal: Normal
    wrt: tuple[str, ...]
    given: Given
    mode: str
    single: bool
    inner: bool = False
    exact: bool = False
    aux: bool = False
    vector: str = "v"
    bindings: dict[str, Binding] = field(default_factory=dict)

    def __post_init__(self) -> None:
        normal = self.normal
        used = used_names(normal.fn) | set(parameter_names(normal.fn))
        self.names = Names(used | set(self.program.names.used))
        self.temporary = set(normal.temporary)
        known = dict(self.given.statics)
        known.update(_constant_names(normal))
        self.resolve = Resolver(normal.scope, known)
        self.bindings.update(normal.scope.imports)
        self._operations: dict[int, tuple[gast.AST, Operation]] = {}
        self.captured = _captured(normal.fn)
        self.inference = Inference(self.operation, self._result_of)
        self._outer_names: list[str] | None = None
        self._modules: dict[str, str | None] = {}
        self.fn = normal.fn
        self.single = self.single and len(self.wrt) == 1
        self.forward = self.mode in ("jvp", "product")
        if self.mode == "product":
            self.vector = self._seed(self.vector)
            lone = {self.wrt[0]: self.vector} if self.single else {}
            dots = {p: self._seed(f"{p}_dot") for p in self.wrt if p not in lone}
            self.seeds = lone | dots
        elif self.mode == "jvp":
            self.seeds = {p: self._seed(f"{p}_dot") for p in self.wrt}
        else:
            self.seed = self._seed(seed_name(normal))
        self._free_underscore()
        # The adjoints of containers and objects.
        self.structured: set[str] = set()
        # What the function returns beside its value, which is not differentiated.
        self.beside: gast.AST | None = None

    def _seed(self, wish: str) -> str:
        """Make room for the keyword by which a seed is given."""
        wish = beside(wish, parameter_names(self.fn))
        if wish in self.names.used:
            other = self.names.fresh(f"{wish}_local")
            self.fn = grammar.clone(self.fn)
            for n in gast.walk(self.fn):
                if isinstance(n, gast.Name) and n.id == wish:
                    n.id = other
        self.names.used.add(wish)
        return wish

    def _free_underscore(self) -> None:
        """Keep `_` free for what nobody reads, when the function does read it."""
        if not any("_" in grammar.reads(s) for s in grammar.statements(self.fn.body)):
            return
        other = self.names.fresh("underscore")
        given = "_" in parameter_names(self.fn)
        fn = grammar.clone(self.fn)
        for n in [n for stmt in fn.body for n in gast.walk(stmt)]:
            if isinstance(n, gast.Name) and n.id == "_":
                n.id = other
        if given:
            fn.body.insert(0, grammar.assign(other, grammar.name("_"), fn.body[0]))
        self.fn = fn

    # -- names that sct brings in --------------------------------------------------
    def use(self, kind: str, name: str) -> str:
        """The name in this function of a module or helper."""
        own = self.backend.spelled(name) if kind == "module" else name
        for alias, b in self.bindings.items():
            if (b.kind, b.name) == (kind, own):
                return alias
        if kind == "builtin":
            value, wish = getattr(builtins, name), name
            if (
                name not in self._local_names
                and self.normal.scope.lookup(name) is value
            ):
                return name
        elif kind == "helper":
            value, wish = self.backend.helper(name), name
        else:
            value = self.backend.module(name)
            name = own
            plain = name == self.backend.package
            wish = self.backend.alias if plain else name.rpartition(".")[2]
            if name not in self._modules:
                self._modules[name] = self._spelled(value, wish)
            if self._modules[name]:
                return self._modules[name]
        alias = self.names.fresh(wish)
        self.bindings[alias] = Binding(kind, name, value=value)
        self.resolve.statics[alias] = twin(value)
        return alias

    @functools.cached_property
    def backend(self) -> Backend:
        """The library in whose names this is: the function's own, or the program's."""
        return self.normal.scope.backend or self.program.backend

    @functools.cached_property
    def numbers(self) -> bool:
        """Whether an element or a sum of an array is a number, not an array.

        Where it may be called with arrays of CuPy's all the same, only Python's numbers
        may be changed in place under a second name.
        """
        return self.backend.numbers and self.program.backend.numbers

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
        if is_helper(value):
            return self.use("helper", value.__name__)
        for alias, b in self.bindings.items():
            if b.value is value and b.kind == "global":
                return alias
        alias = self.names.fresh(name)
        self.bindings[alias] = Binding("global", name, rule.function.__module__, value)
        self.resolve.statics[alias] = value
        return alias

    def spell(self, nodes: list[gast.AST], op: Operation, is_array) -> list[gast.AST]:
        """What a rule says of an operation, in the names of the library at hand."""
        here = self.backend, self.resolve, self.use, self.normal.source
        return respelled(nodes, *here, op, is_array)

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
        return result_fact(unwrap(op.callee), op, env, self.inference)

    def derive(self, op: Operation, active: tuple[str, ...], exact: bool = False):
        """The derivative of a call, and its arguments by parameter.

        In forward mode, `exact` asks for tangents that share memory just as values do.
        """
        function = unwrap(op.callee)
        bound = bind_call(function, op.node)
        if any(function is s for s in (*SOLVERS, *FOUND)):
            return self._solved(function, op, bound, active), bound
        function = self.in_own_names(op, function)
        if is_checkpointed(function) and not purity.repeatable(function):
            raise unsupported(self.normal.source, op.node, "this call", *UNREPEATABLE)
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
        complexes = self.context.complexes
        given = Given(
            statics,
            frozenset(
                p for p, a in bound.items() if grammar.values_read(a) & complexes
            ),
            op in self.context.cuts.calls and not self.forward,
        )
        try:
            if turns_of(function) is not None and not self.forward:
                derived = self._reversed(function, wrt, given, op)
                return derived, bound
            normal = normalise(function)
            form = form_of(function, op.node)
            if form is not None:
                normal = specialise(normal, *form)
            known = options(function, bound, wrt)
            if known:
                normal = with_options(normal, known)
            if self.forward:
                derived = self.program.with_tangent(normal, wrt, given, True, exact)
            else:
                derived = self.program.called(normal, wrt, given)
        except SctError as error:
            led_to(error, self.normal.source, op.node)
            raise
        for name in (derived.grad, derived.fwd, derived.bwd, derived.jvp):
            if name:
                self.unit_name(name)
        reals = [bound[p] for p in derived.reals if p in bound]
        self.context.reals.update(n for a in reals for n in grammar.values_read(a))
        return derived, bound

    def in_own_names(self, op: Operation, function: object) -> object:
        """A function that is called, written with the library of this one."""
        if is_helper(function):
            return self.backend.helper(function.__name__)
        if library(function) is NUMPY and self.backend is not NUMPY:
            raise unsupported(self.normal.source, op.node, "this call", *FOREIGN)
        return function

    def _reversed(self, loop, wrt, given, op: Operation) -> Derived:
        """The derivative of a checkpointed loop."""
        if not purity.repeatable(loop):
            raise unsupported(self.normal.source, op.node, "this loop", *UNREPEATABLE)
        derived = loop_from_snapshots(self.program, loop, wrt, given)
        self.unit_name(derived.fwd)
        self.unit_name(derived.bwd)
        return derived

    def _complex(self, fn: gast.FunctionDef) -> set[str]:
        """The parameters that may be complex."""
        known = declared_complex(fn, self.normal.scope) | self.given.complexes
        if self.program.holomorphic and not self.inner:
            known.update(self.wrt)
        return known

    def taken_for_real(self) -> frozenset[str]:
        """The parameters that are taken for real, though nothing says that they are."""
        context = self.context
        read = context.reals | {
            n
            for s, op in context.operations.items()
            if context.activity.targets.get(s) and is_real_only(op)
            for n in op.operands
        }
        facts = self.declared
        known = {p for p, f in facts.items() if f.inexact or f.integer}
        unsure = set(facts) - known - context.complexes - self.structures.all
        return frozenset(
            taken_for_real(
                self.prepared,
                context.operations,
                self.normal.scope,
                context.complexes & set(facts),
                read - context.complexes,
                unsure,
            )
            if read
            else ()
        )

    def _solved(self, solver, op: Operation, bound, active) -> Derived:
        """The derivative of ``sct.fixed_point(g, z0, x)`` and its like."""
        active = set(active)
        given = next(iter(bound.values()))
        g = unwrap(self.resolve(given))
        if not isinstance(g, types.FunctionType):
            raise unsupported(self.normal.source, op.node, "this call", *UNSOLVED)
        params = [a for p, a in bound.items() if p.startswith("params_")]
        if not purity.repeatable(g):
            raise unsupported(self.normal.source, op.node, "this call", *UNREPEATABLE)
        taken = normalise(g).fn.args
        if taken.vararg or len([*taken.posonlyargs, *taken.args]) <= len(params):
            raise unsupported(self.normal.source, op.node, "this call", *COUNTED)
        times = [a for p, a in bound.items() if p in ("t", "t_span")]
        if active & {n for a in times for n in grammar.names_read(a)}:
            raise unsupported(self.normal.source, op.node, "this call", *TIMED)
        which = [grammar.is_name(a) and a.id in active for a in params]
        start = bound.get("y0")
        call = Solved(
            solver,
            g,
            tuple(k for k, given in enumerate(which) if given),
            len(params),
            tuple(k.arg for k in op.node.keywords),
            grammar.is_name(start) and start.id in active,
        )
        flows = solver in (flow, trajectory)
        try:
            if self.forward:
                derive = tangent_of_flow if flows else tangent_of_solution
            else:
                derive = adjoint_of_flow if flows else adjoint_of_solution
            derived = derive(self.program, call)
        except SctError as error:
            led_to(error, self.normal.source, op.node)
            raise
        self.unit_name(derived.grad or derived.jvp)
        return derived

    # -- transformation ------------------------------------------------------------
    def sweeps(self) -> Sweeps:
        """Both sweeps of the function, in reverse mode."""
        prepared, scalars = self.analysed()
        fn = self.prepared
        storage = Storage(
            fn,
            self._fresh,
            self._pure_test,
            prepared.flags,
            self.groups,
            self._kept,
        )
        restore = set() if self.inner else self.structures.all & set(self.wrt)
        both = sweeps(
            self.context,
            list(self.wrt),
            self.seed,
            storage,
            self._cheap(scalars),
            restore,
        )
        self.wide = both.wide
        self.summed = set()
        self.settled = {b for n, b in both.names.items() if n not in self.temporary}
        self.structured = {b for n, b in both.names.items() if n in self.structures.all}
        if CUPY.is_imported():
            self.scalars = _python_numbers(self.prepared, scalars)
            return both
        scalars = scalars | both.numbers
        self.scalars = scalars | {both.names[n] for n in scalars if n in both.names}
        if self.mode in ("grad", "value_and_grad") and not self.inner:
            self.scalars.add(self.seed)
        return both

    def tangents(self) -> list[gast.AST]:
        """The body of the function with its tangent, in forward mode."""
        prepared, scalars = self.analysed()
        body, dots = tangents(
            self.context,
            self.seeds,
            self.groups,
            prepared.in_place,
            self.fresh_result,
            self.inner,
            self.exact,
        )
        self.wide = set()
        self.summed = {
            (name, line)
            for n, line in prepared.augmented
            for name in (n, dots.get(n, n))
            if name not in (*self.seeds.values(), *parameter_names(self.fn))
        }
        self.temporary.update(self.seeds.values())
        self.settled = {d for n, d in dots.items() if n not in self.temporary}
        if CUPY.is_imported():
            self.scalars = _python_numbers(self.prepared, scalars)
            return body
        self.scalars = scalars | {dots[n] for n in scalars if n in dots}
        return body

    def analysed(self) -> tuple[Prepared, set[str]]:
        """Make the function ready and find out what is to be known of it.

        Returns
        -------
        Prepared
        set of str
            The names that hold scalars wherever they are bound.
        """
        declared = parameter_facts(self.fn, self.normal.scope)
        arrays = {p for p, f in declared.items() if f.array or f.scalar}
        fn = self._paired(self.fn) if self.aux else self.fn
        fn = displays_named(fn, self.operation, self._fresh)
        self.structures = structures(fn, self.operation, arrays)
        self.resolve.structures = self.structures.all
        self.resolve.dicts = self.structures.dicts
        self._operations.clear()
        taken = one_path_each(fn, self.structures)
        forms = in_place_forms(
            taken,
            self.operation,
            self.names,
            self.use,
            self.structures.all,
            self.structures.lists,
            self.temporary,
        )
        if elements.matter(forms, parameter_names(forms)):
            self.program.writes = True
        numbers, integers, picks = self._numbers(forms)
        shared: dict[str, frozenset[str]] = {}
        if self.forward:
            known = self.operation, numbers
            shared = alias_groups(forms, *known, self.structures.all)
            rooted = copies_on_entry(
                forms, *known, shared, self._call_check, self.inner
            )
        else:
            rooted = one_name_each(
                forms,
                self.normal.source,
                self.operation,
                numbers,
                picks,
                self._call_check,
                self.names,
                self.inner,
                self.numbers,
            )
            rooted = reuse(rooted, self.temporary, self.pure)
        prepared = prepare(
            rooted,
            self.normal.source,
            self.names,
            self.operation,
            self.temporary,
            list(self.wrt),
            self.use,
            integers,
            self.forward,
            shared,
        )
        fn = self.prepared = prepared.fn
        if self.aux:
            last = fn.body[-1]
            value, self.beside = last.value.elts
            fn.body[-1] = grammar.located(gast.Return(value), last)
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
        self.promised = declared is not None and declared.scalar and not self.aux
        scalar = self.mode in ("grad", "value_and_grad") and not self.inner
        scalar = scalar or self.promised
        in_place = prepared.in_place
        found = shapes(fn, facts, self.inference, in_place)
        _, records, points = must_be_scalar(fn, self.inference, found.operands, scalar)
        if self._assume_ranks(fn, operations, found, records):
            found = shapes(fn, facts, self.inference, in_place)
            *_, points = must_be_scalar(fn, self.inference, found.operands, scalar)
        entry = points[dataflow.start(fn.body)]
        numbers = {p: NUMBER for p in facts if p in entry and not facts[p].scalar}
        self.entry_scalars = entry & set(facts)
        if numbers:
            found = shapes(fn, facts | numbers, self.inference, in_place)
        self.result = found.result
        found = with_scalars(fn, found, self.inference, scalar)
        found = with_stores(fn, found, self.inference)
        self.shapes = found
        operations = without_free_extrema(fn, operations, found)
        active = activity(fn, operations, wrt, shared, prepared.in_place)
        sources = {
            s: followed(operations[s])
            for s, given in active.operands.items()
            if given and (operations[s].kind == "opaque" or s in active.blocked)
        }
        if any(op is not operations[s] for s, op in sources.items()):
            operations.update(sources)
            active = activity(fn, operations, wrt, shared, prepared.in_place)
        scalars = self._scalar_names(fn, found)
        floats = {p for p, f in self.declared.items() if f.inexact or f.integer}
        check_floats(
            fn,
            self.normal.source,
            operations,
            active,
            shared,
            scalars,
            self.structures.certain,
            floats | set(wrt),
            self.resolve,
            self._call_check,
            self.operation,
        )
        data = set(parameter_names(fn)) - set(wrt) - scalars
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
            self.structures,
            passing(fn, operations, active, self.temporary, self._takes_wide),
            prepared.exact,
            complex_names(fn, operations, self.normal.scope, self._complex(fn)),
            cuts(fn, operations, active, data, self.resolve, self.given.chosen),
            squares(fn, operations, active),
        )
        self.context.numbers, self.context.spell = self.numbers, self.spell
        groups = shared if self.forward else alias_groups(fn, self.operation, scalars)
        self.groups = groups
        self.context.standing = standing(fn, groups, self._holds(scalars))
        self.context.untouched = untouched(fn, groups, self._is_number)
        refuse_unknown_effects(self.context, self.resolve, groups, scalars)
        return prepared, scalars

    def _paired(self, fn: gast.FunctionDef) -> gast.FunctionDef:
        """The function with a display of two items as its result."""
        last = fn.body[-1]
        value = last.value if isinstance(last, gast.Return) else None
        if isinstance(value, gast.Tuple) and len(value.elts) == 2:
            return fn
        if not isinstance(value, gast.Name):
            raise unsupported(self.normal.source, last, "this result", *UNPAIRED)
        fn = grammar.clone(fn)
        names = [self._fresh("value"), self._fresh("aux")]
        targets = [grammar.name(n, store=True) for n in names]
        taken = gast.Assign([gast.Tuple(targets, gast.Store())], value, None)
        pair = gast.Tuple([grammar.name(n) for n in names], gast.Load())
        fn.body[-1:] = [grammar.located(s, last) for s in (taken, gast.Return(pair))]
        return fn

    def _assume_ranks(self, fn, operations, found: Shapes, records) -> bool:
        """Take arrays that are written into for what their elements must be.

        Where ``C[i, j]`` must be a number for the result to be one, `C` has two axes.
        That is checked when it runs, once, and then known everywhere.
        """
        changed = {n for s in grammar.statements(fn.body) for n in grammar.mutates(s)}
        ranks: dict[str, int] = {}
        reads: dict[int, str] = {}
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
                and base in changed - self.structures.certain
                and single
                and not known
            ):
                ranks[base] = len(parts)
                reads[id(stmt)] = base
        if not ranks or not self.numbers:
            return False

        seen = reaching(fn, reads)

        def block(body: list[gast.AST]) -> None:
            for i in reversed(range(len(body))):
                for inner in grammar.blocks(body[i]):
                    block(inner)
                bound = set(grammar.writes(body[i])) if id(body[i]) in seen else set()
                for n in bound & ranks.keys():
                    rank = grammar.constant(ranks[n])
                    test = self._call_check("check_rank", [rank], {n: grammar.name(n)})
                    body.insert(i + 1, grammar.located(test, body[i]))
                    operations[test] = self.operation(test.value)

        block(fn.body)
        return True

    def _changed(self, root: str, others: frozenset[str]) -> bool:
        """Whether an array in a container may be written into, by whatever name."""
        return any(
            not grammar.is_name(place.value) or grammar.root(place) in others
            for s in grammar.statements(self.prepared.body)
            for place in grammar.places(s)
            if grammar.root(place) in {root, *others}
        )

    def _kept(self, place: gast.AST) -> gast.AST:
        """What to keep of a place that a statement writes to, as it is before that."""
        part = grammar.clone(place)
        part.ctx = gast.Load()
        if self.context.number(place):
            return part
        entry = self.structures.entry(part)
        if entry:
            # What was there is replaced, not written into; if there was anything.
            get = gast.Attribute(part.value, "get", gast.Load())
            return gast.Call(get, [part.slice], []) if entry == "key" else part
        if self.structures.part(part):
            # A number or an array: both have a positive.  An array in a list that has
            # another name as well, be it one that an adjoint alone reads, is to stand
            # there itself again, and no copy of it.
            root = grammar.root(part)
            others = self.groups.get(root, frozenset()) - {root}
            if others and grammar.is_name(place.value) and self._changed(root, others):
                return grammar.call(
                    self.use("helper", "item_kept"), part.value, part.slice
                )
            return gast.UnaryOp(gast.UAdd(), part)
        return gast.Call(gast.Attribute(part, "copy", gast.Load()), [], [])

    def _is_number(self, place: gast.AST) -> bool:
        """Whether a place is in an array, and a number stands there."""
        return not self.structures.part(place) and self.context.number(place)

    def _holds(self, scalars: set[str]):
        """Which places in arrays give back the number that is stored there."""

        def holds(place: gast.AST, name: str) -> bool:
            names = {grammar.root(place), name}
            alike = names & self.context.complexes in (set(), names)
            return alike and name in scalars and self._is_number(place)

        return holds

    def _numbers(self, fn: gast.FunctionDef) -> tuple[set[str], set[str], set[str]]:
        """The names that hold numbers, those that hold integers, those that pick."""
        facts = parameter_facts(fn, self.normal.scope)
        found = shapes(fn, facts, self.inference)
        numbers, integers = (
            self._scalar_names(fn, found, whole) for whole in (False, True)
        )
        return numbers, integers, picking(fn, found, self.operation)

    def _scalar_names(
        self, fn: gast.FunctionDef, found: Shapes, integers: bool = False
    ) -> set[str]:
        """The names that hold numbers (integers) wherever they are bound."""
        scalars = _scalar_names(fn, found, integers)
        return scalars if self.numbers else _python_numbers(fn, scalars)

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
            lends=lambda call: lends(self.operation(call), call),
            cheap=lambda node: trivial(node) or self._short(node),
            repeat=self._short,
        )
        if not self.program.optimize:
            return fn
        fn = optimize(fn, facts)
        return polish.polish(
            fn,
            facts,
            self.wide,
            self.settled,
            self.augmented,
            self.summed,
            self.structured,
        )


def seed_name(normal: Normal) -> str:
    """The keyword by which a derivative takes the adjoint of the result."""
    return beside("out_bar", parameter_names(normal.fn))


def beside(wish: str, parameters: list[str]) -> str:
    """A keyword that is no parameter yet: ``x_dot``, or else ``x_dot_2`` and so on."""
    words = itertools.chain([wish], (f"{wish}_{k}" for k in itertools.count(2)))
    return next(w for w in words if w not in parameters)


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
            if callable(obj) or isinstance(obj, types.ModuleType) or looks_up(obj):
                found[n] = obj
    return found


def _python_numbers(fn: gast.FunctionDef, scalars: set[str]) -> set[str]:
    """Those of some scalars that are numbers of Python's wherever they are bound.

    Where elements and sums of arrays are arrays, only literals, counters and lengths
    are, and what is computed of these.
    """
    found = scalars - set(parameter_names(fn))

    def is_number(value: gast.AST) -> bool:
        if isinstance(value, gast.Subscript):
            # An item of a shape.
            return getattr(value.value, "attr", "") == "shape"
        if isinstance(value, gast.Attribute):
            return value.attr in ("ndim", "size")
        if isinstance(value, gast.Call):
            return grammar.is_name(value.func) and value.func.id in ("len", "int")
        parts = (gast.BinOp, gast.UnaryOp, gast.Name, gast.Constant)
        inner = grammar.nodes(value)
        plain = all(isinstance(n, parts) for n in inner)
        return plain and grammar.names_read(value) <= found

    while True:
        fewer = {
            n
            for s in grammar.statements(fn.body)
            for n in grammar.writes(s)
            if isinstance(s, (gast.Assign, gast.AugAssign)) and not is_number(s.value)
        }
        if not found & fewer:
            return found
        found -= fewer


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
