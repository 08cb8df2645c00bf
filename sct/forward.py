"""Forward mode: every statement with the tangent of what it binds beside it.

::

    def f(x, w):                  def f_jvp(x, w, *, x_dot, w_dot):
        y = np.sin(x)                 # L2: y = np.sin(x)
        z = y * w                     y_dot = x_dot * np.cos(x)
        return z           ──►        y = np.sin(x)
                                      # L3: z = y * w
                                      z_dot = y_dot * w + y * w_dot
                                      z = y * w
                                      return z, z_dot

A tangent has the structure and the shapes of its primal, and parts of the tangents of
two names are one array where parts of the names are.  So a store into a part is a
store into the same part of the tangent, and nothing is kept: a tangent is read where
its primal is.

Every statement that binds a name which carries a derivative anywhere binds its tangent
too, to zeros where the value is a constant; those that nobody reads are removed later.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import gast
import numpy as np

from sct import grammar, inline, templates
from sct.analysis import dataflow
from sct.analysis.shapes import Fact
from sct.arguments import parameter_names
from sct.context import Context
from sct.errors import SctError, unsupported
from sct.operations import BindError, Operation, atoms, may_have_parts
from sct.refusals import BLIND, UNTANGENT, held_constant, refusal, unfit
from sct.sharing import looks_into
from sct.stacks import resized
from sct.templates import Rule

# Makers of zeros, whose tangent is made in the same way.
ZEROS = (np.zeros, np.zeros_like)
# What looks into its operand, or copies it, as that lies in memory.
MAY_COPY = (
    *(np.reshape, np.ravel, np.asarray, np.asanyarray, np.ascontiguousarray),
    np.ndarray.astype,
)


def tangents(
    context: Context,
    dots: dict[str, str],
    groups: dict[str, frozenset[str]],
    in_place: Collection[gast.AST],
    fresh_call: Callable[[gast.Call], bool],
    inner: bool,
    exact: bool,
) -> tuple[list[gast.AST], dict[str, str]]:
    """The statements of a function, each after or before those of its tangent.

    Parameters
    ----------
    context : Context
        The function in ANF, prepared, and what is known of it.
    dots : dict
        Parameter that is differentiated → name of its tangent.
    groups : dict
        Name → the names that may refer to the same memory, or hold what does.
    in_place : collection
        The assignments ``x = x + e`` that were written ``x += e``.
    fresh_call : callable
        Whether what a call returns shares no memory with anything.
    inner : bool
        Whether another function calls it, so that tangents may be of another kind than
        their containers: lists for tuples, `Parts` for objects.
    exact : bool
        Whether the caller writes into what the function returns.

    Returns
    -------
    list
        The body of the tangent; its last statement returns value and tangent.
    dict
        Name of the primal → name of its tangent.
    """
    work = _Tangents(context, dots, groups, in_place, fresh_call, inner, exact)
    return [*work.constant_parameters(), *work.block(context.fn.body)], work.dots


class _Tangents:
    def __init__(self, context, dots, groups, in_place, fresh_call, inner, exact):
        self.context, self.dots, self.inner = context, dict(dots), inner
        self.groups, self.fresh_call = groups, fresh_call
        every = list(grammar.statements(context.fn.body))
        # What is written into, by whatever name.
        changed = {n for s in every for n in grammar.mutates(s)}
        changed |= {resized(s) for s in every} - {""}
        added = {n for s in in_place for n in grammar.writes(s) if n in groups}
        changed |= added
        if exact:
            changed |= grammar.names_read(context.fn.body[-1])
        self.changed = changed.union(*[groups.get(n, ()) for n in changed])
        # What is added to, and seen by no other name meanwhile.
        self.added = {n for s in in_place for n in grammar.writes(s)} - self.changed
        # Of these statements other names see the effect.
        self.in_place = {s for s in in_place if added.issuperset(grammar.writes(s))}
        active = {n for found in context.activity.targets.values() for n in found}
        active |= set(dots)
        both = active & self.changed
        self.carrying = active.union(*[groups.get(n, ()) for n in both])
        self.indexed = {
            n
            for op in context.operations.values()
            if op.kind == "rule" and isinstance(op.node, gast.Subscript)
            for n in op.operands
        } - context.structures
        self.line = 0

    # -- names ---------------------------------------------------------------------
    def dot(self, name: str) -> str:
        """The name of the tangent of `name`."""
        if name not in self.dots:
            stem = name.rstrip("_") if name in self.context.temporary else name
            self.dots[name] = self._fresh(f"{stem}_dot")
        return self.dots[name]

    def _fresh(self, base: str) -> str:
        made = self.context.names.fresh(base)
        self.context.temporary.add(made)
        return made

    def _helper(self, name: str, *args: gast.AST) -> gast.AST:
        return grammar.call(self.context.use("helper", name), *args)

    # -- blocks --------------------------------------------------------------------
    def constant_parameters(self) -> list[gast.AST]:
        """The tangents of parameters that carry a derivative only later."""
        fn = self.context.fn
        facts = self.context.shapes.points.get(dataflow.start(fn.body), {})
        later = [p for p in parameter_names(fn) if p in self.carrying - {*self.dots}]
        return [
            grammar.assign(self.dot(p), self.zero(grammar.name(p), facts), fn)
            for p in later
        ]

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        out: list[gast.AST] = []
        for stmt in body:
            # `elif` says itself what it tests.
            quiet = len(body) == 1 and isinstance(stmt, gast.If) or self._made_up(stmt)
            if stmt.lineno not in (self.line, self.context.fn.lineno) and not quiet:
                said = f"L{stmt.lineno}: {self.context.source.line(stmt.lineno)}"
                out.append(grammar.Comment(said, lineno=stmt.lineno))
                self.line = stmt.lineno
            out += self._statement(stmt)
        return out

    def _made_up(self, stmt: gast.AST) -> bool:
        """Whether a statement on how a loop was left stands in no source."""
        temporary = self.context.temporary
        if isinstance(stmt, gast.If):
            return grammar.is_name(stmt.test) and stmt.test.id in temporary
        flag = isinstance(stmt, gast.Assign) and isinstance(stmt.value, gast.Constant)
        return flag and set(grammar.writes(stmt)) <= temporary

    def _statement(self, stmt: gast.AST) -> list[gast.AST]:
        if isinstance(stmt, gast.If):
            body = self.block(stmt.body)
            orelse = self.block(stmt.orelse)
            return [grammar.located(gast.If(stmt.test, body, orelse), stmt)]
        if isinstance(stmt, gast.For):
            body = self.block(stmt.body)
            loop = gast.For(stmt.target, stmt.iter, body, [], None)
            return [grammar.located(loop, stmt)]
        if isinstance(stmt, gast.While):
            return [
                grammar.located(gast.While(stmt.test, self.block(stmt.body), []), stmt)
            ]
        if isinstance(stmt, gast.With):
            body = self.block(stmt.body)
            return [grammar.located(gast.With(stmt.items, body, None), stmt)]
        if isinstance(stmt, gast.Return):
            return [self._return(stmt)]
        if self.context.operations.get(stmt) is None:
            return [stmt]
        return _Line(self, stmt).written()

    def _return(self, stmt: gast.Return) -> gast.Return:
        vary = self.context.activity.varied_at[dataflow.end(self.context.fn.body)]
        facts = self.context.shapes.points.get(dataflow.end(self.context.fn.body), {})

        def of(value: gast.AST) -> gast.AST:
            if isinstance(value, gast.Tuple):
                return gast.Tuple([of(e) for e in value.elts], gast.Load())
            named = isinstance(value, gast.Name)
            if named and value.id in vary & self.carrying:
                made = grammar.name(self.dot(value.id))
            else:
                made = self.zero(value, facts)
            if named and value.id in self.context.structures and not self.inner:
                return self._helper("restored", made, grammar.clone(value))
            return made

        made = gast.Tuple([stmt.value, of(stmt.value)], gast.Load())
        return grammar.located(gast.Return(made), stmt)

    # -- zeros ---------------------------------------------------------------------
    def zero(self, value: gast.AST, facts: dict[str, Fact]) -> gast.AST:
        """The tangent of a constant."""
        if isinstance(value, gast.Constant):
            number = isinstance(value.value, (float, int, complex))
            return grammar.constant(0.0 if number else None)
        if isinstance(value, gast.Name):
            fact = facts.get(value.id)
            if fact is not None and fact.scalar:
                return grammar.constant(0.0)
            whole = value.id in self.context.structures
        else:
            whole = bool(grammar.names_read(value) & self.context.structures)
        return self._helper(
            "zero_structure" if whole else "zero_like", grammar.clone(value)
        )


class _Line:
    """One statement that does something, and its tangent."""

    def __init__(self, owner: _Tangents, stmt: gast.AST):
        self.owner, self.stmt, self.context = owner, stmt, owner.context
        self.op: Operation = self.context.operations[stmt]
        self.active = set(self.context.activity.operands.get(stmt, ()))
        self.targets = set(self.context.activity.targets.get(stmt, ()))
        self.before = self.context.shapes.operands.get(stmt, {})
        self.after = self.context.shapes.targets.get(stmt, {})
        self.lead: list[gast.AST] = []
        # A name for the result where that of the target still holds an operand.
        self.result = ""

    def written(self) -> list[gast.AST]:
        """The statement and that of its tangent, in the order that they need."""
        op, stmt = self.op, self.stmt
        if op.kind == "store":
            return self._store()
        if op.kind == "append":
            return self._append()
        if op.kind == "hook":
            if op.callee.changes and op.node.args[0].id in self.owner.carrying:
                raise unsupported(self.context.source, stmt, *BLIND)
            return []
        if op.kind == "pop":
            return self._pop()
        bound = self._bound()
        if stmt in self.owner.in_place:
            return self._changed()
        if not bound:
            return [stmt]
        self.active |= self._seen(bound)
        if not self.active or not (self.targets or self._seen(bound)):
            return [stmt, *[self._zeros(n) for n in bound]]
        if self.context.activity.blocked.get(stmt):
            raise self._unfit(op)
        try:
            if op.kind == "call":
                return self._call()
            tangent = self._tangent()
        except BindError as e:
            raise unfit(self.context.source, op, str(e.args[0])) from None
        return self._ordered(self._target_dots(), tangent)

    def _bound(self) -> list[str]:
        """The names that the statement binds and that carry a derivative."""
        return [n for n in grammar.writes(self.stmt) if n in self.owner.carrying]

    def _unfit(self, op: Operation) -> Exception:
        """The error for a call that its rule does not fit."""
        if op.problem:
            return unfit(self.context.source, op, op.problem)
        return held_constant(self.context.source, op, tuple(sorted(self.active)))

    def _tangent(self) -> gast.AST:
        """The tangent of the statement's value."""
        op = self.op
        if op.kind == "copy" or "place" in op.arguments:
            return self._renamed(op.node, set(op.operands) & self.active)
        if op.kind == "tuple":
            return self._display(op.node)
        if op.kind == "rule":
            return self._cut(self._rule())
        raise refusal(self.context.source, op)

    def _seen(self, bound: list[str]) -> set[str]:
        """The operands whose memory the value refers to, where it is written into.

        Its tangent then refers to theirs, whether they carry a derivative yet or not.
        """
        owner = self.owner
        others = set().union(*[owner.groups.get(n, ()) for n in bound])
        if not others & owner.changed:
            return set()
        if isinstance(self.stmt.value, gast.Lambda):
            return set()
        local = others & owner.carrying
        if self.op.kind == "rule" and "place" not in self.op.arguments:
            # Shapes and indices are no part of the value.
            local &= set(self.op.operands)
        return looks_into(self.stmt.value, self.context.inference.operation, local)

    # -- targets -------------------------------------------------------------------
    def _target_dots(self) -> gast.AST:
        """The statement's target, in tangents."""
        target = grammar.clone(self.stmt.targets[0])
        for n in gast.walk(target):
            if isinstance(n, gast.Name):
                kept = n.id in self.owner.carrying
                n.id = self.owner.dot(n.id) if kept else "_"
        return target

    def _zeros(self, name: str) -> gast.AST:
        """The tangent of a name that gets a constant."""
        op = self.op
        fact = self.after.get(name)
        alone = isinstance(self.stmt.targets[0], gast.Name)
        if alone and op.kind == "tuple":
            value = self._display(op.node)
        elif fact is not None and fact.scalar:
            value = grammar.constant(0.0)
        elif alone and op.callee in ZEROS and not _has_dtype(op):
            value = grammar.clone(op.node)
            if name in self.owner.added:
                # Not the same zeros as the primal's.
                numpy = self.context.use("module", "numpy")
                value = grammar.call(f"{numpy}.zeros_like", grammar.name(name))
        else:
            value = self.owner.zero(grammar.name(name), self.after)
        return grammar.assign(self.owner.dot(name), value, self.stmt)

    def _ordered(self, target: gast.AST, tangent: gast.AST) -> list[gast.AST]:
        """The statement and its tangent, which reads operands and maybe the result."""
        stmt = self.stmt
        bound = set(grammar.writes(stmt))
        if not isinstance(target, gast.Tuple):
            tangent = self._own(stmt.targets[0].id, tangent)
        made = [*self.lead, grammar.assign(target, tangent, stmt)]
        read = {n for s in grammar.statements(made) for n in grammar.reads(s)}
        if self.result in read:
            first = grammar.assign(self.result, stmt.value, stmt)
            last = grammar.assign(stmt.targets[0], grammar.name(self.result), stmt)
            return [first, *made, last]
        late = bool(read & bound) and not bound & self._operands()
        both = [stmt, *made] if late else [*made, stmt]
        return [*both, *self._alike()]

    def _alike(self) -> list[gast.AST]:
        """A check that a tangent shares memory with its operand's if the value does."""
        op = self.op
        (name,) = names = grammar.writes(self.stmt)[:1]
        fact = self.after.get(name)
        if op.kind != "rule" or op.callee not in MAY_COPY or len(names) != 1:
            return []
        whole = op.arguments[op.rule.wrt[0]]
        single = fact is not None and fact.scalar
        if name not in self.owner.changed or single or not grammar.is_name(whole):
            return []
        pairs = [name, whole.id, self.owner.dot(name), self.owner.dot(whole.id)]
        check = self.owner._helper("check_alike", *map(grammar.name, pairs))
        return [grammar.located(gast.Expr(check), self.stmt)]

    def _operands(self) -> set[str]:
        return grammar.names_read(self.stmt.value)

    def _own(self, name: str, tangent: gast.AST) -> gast.AST:
        """A tangent that nothing else refers to, where something may write into it."""
        owner = self.owner
        fact = self.after.get(name)
        # The operand's tangent may be the one that is written into.
        concerned = {name, *self.active} & owner.changed
        if not concerned or fact is not None and fact.scalar:
            return tangent
        mirrored = self.op.kind != "rule" or "place" in self.op.arguments
        if mirrored or _is_linear(self.op):
            # It refers to what the tangent of its operand does, as the value does.
            return tangent
        if isinstance(tangent, (gast.BinOp, gast.UnaryOp, gast.Tuple)):
            return tangent
        if isinstance(tangent, gast.Call) and self.owner.fresh_call(tangent):
            return tangent
        return gast.UnaryOp(gast.UAdd(), tangent)

    # -- containers ----------------------------------------------------------------
    def _renamed(self, node: gast.AST, active: set[str]) -> gast.AST:
        """An expression in which active operands give way to their tangents.

        Indices and keys stay what they are.
        """
        made = grammar.clone(node)
        inner = _base(made)
        if inner is None or inner.id not in active:
            raise refusal(self.context.source, self.op)
        inner.id = self.owner.dot(inner.id)
        return made

    def _display(self, node: gast.AST) -> gast.AST:
        """A tuple, list or dict of tangents."""
        if isinstance(node, (gast.Tuple, gast.List)):
            return type(node)([self._item(e) for e in node.elts], gast.Load())
        if isinstance(node, gast.Dict):
            values = [self._item(v) for v in node.values]
            return gast.Dict([grammar.clone(k) for k in node.keys], values)
        made = grammar.clone(node)
        for k in made.keywords:
            k.value = self._item(k.value)
        return made

    def _item(self, item: gast.AST) -> gast.AST:
        if isinstance(item, (gast.Tuple, gast.List)):
            return type(item)([self._item(e) for e in item.elts], gast.Load())
        if isinstance(item, gast.Name) and self._moves(item.id):
            return grammar.name(self.owner.dot(item.id))
        return self.owner.zero(item, self.before)

    def _moves(self, name: str) -> bool:
        """Whether a name carries a derivative here, or may when it is written into."""
        owner = self.owner
        return name in self.active or name in owner.carrying & owner.changed

    def _append(self) -> list[gast.AST]:
        """``l.append(v)``: ``l_dot.append(v_dot)``."""
        name, value = self.op.operands[0], self.op.arguments["value"]
        if not self.targets:
            return [self.stmt, *self._still(name, "append", [self._item(value)])]
        dot = self.owner.dot(name)
        push = grammar.call(f"{dot}.append", self._item(value))
        return [self.stmt, grammar.located(gast.Expr(push), self.stmt)]

    def _pop(self) -> list[gast.AST]:
        """``x = l.pop()``: ``x_dot = l_dot.pop()``."""
        (name,) = self.op.operands
        if name not in self.owner.carrying:
            return [self.stmt, *[self._zeros(n) for n in self._bound()]]
        value = grammar.call(f"{self.owner.dot(name)}.pop")
        if isinstance(self.stmt, gast.Expr):
            return [self.stmt, grammar.located(gast.Expr(value), self.stmt)]
        return [self.stmt, grammar.assign(self._target_dots(), value, self.stmt)]

    def _still(self, name: str, method: str, args: list[gast.AST]) -> list[gast.AST]:
        """The tangent of a list that is to carry one keeps its length."""
        if name not in self.owner.carrying:
            return []
        call = grammar.call(f"{self.owner.dot(name)}.{method}", *args)
        return [grammar.located(gast.Expr(call), self.stmt)]

    def _store(self) -> list[gast.AST]:
        """``y[i] = v``: ``y_dot[i] = v_dot``."""
        stmt, op, owner = self.stmt, self.op, self.owner
        name, place, value = (
            op.operands[0],
            op.arguments["place"],
            op.arguments["value"],
        )
        primal = stmt
        if isinstance(stmt, grammar.Scatter):
            primal = stmt.call(self.context.use("builtin", "slice"))
        if name not in owner.carrying:
            return [primal]
        moves = isinstance(value, gast.Name) and self._moves(value.id)
        adds = isinstance(stmt, gast.AugAssign)
        if adds and not isinstance(stmt.op, (gast.Add, gast.Sub)):
            target = grammar.clone(place)
            _base(target).id = owner.dot(name)
            return self._scaled_place(place, target, value if moves else None)
        if adds and not moves:
            return [primal]
        target = grammar.clone(place)
        _base(target).id = owner.dot(name)
        if moves:
            tangent = grammar.name(owner.dot(value.id))
        elif self.context.containers.entry(place):
            tangent = owner.zero(value, self.before)
        else:
            tangent = grammar.constant(0.0)
        if isinstance(stmt, grammar.Scatter):
            made = grammar.located(
                grammar.Scatter(target, stmt.op, tangent, stmt.func), stmt
            ).call(self.context.use("builtin", "slice"))
        elif adds:
            made = grammar.located(gast.AugAssign(target, stmt.op, tangent), stmt)
        else:
            made = grammar.assign(target, tangent, stmt)
        return [made, primal]

    def _changed(self) -> list[gast.AST]:
        """``x += e`` on what other names see, or on a number."""
        stmt, owner = self.stmt, self.owner
        (name,) = grammar.writes(stmt)
        value = stmt.value.right
        place = grammar.name(name, store=True)
        if name not in owner.carrying:
            return [self._augmented(place, stmt.value.op, value)]
        moves = isinstance(value, gast.Name) and value.id in self.active
        target = grammar.name(owner.dot(name), store=True)
        if not isinstance(stmt.value.op, (gast.Add, gast.Sub)):
            return self._scaled_place(place, target, value if moves else None)
        primal = self._augmented(place, stmt.value.op, value)
        if not moves:
            return [primal]
        dot = grammar.name(owner.dot(value.id))
        return [self._augmented(target, stmt.value.op, dot), primal]

    def _augmented(self, place: gast.AST, op: gast.AST, value: gast.AST) -> gast.AST:
        made = gast.AugAssign(grammar.clone(place), op, grammar.clone(value))
        return grammar.located(made, self.stmt)

    def _scaled_place(
        self, place: gast.AST, target: gast.AST, moving: gast.AST | None
    ) -> list[gast.AST]:
        """``x *= e`` and its kin: ``x_dot *= e``, and then ``x_dot += x * e_dot``.

        What is added is computed first, since `e` may look into `x`.
        """
        stmt = self.stmt
        op = stmt.value.op if isinstance(stmt, gast.Assign) else stmt.op
        value = stmt.value.right if isinstance(stmt, gast.Assign) else stmt.value
        old = grammar.clone(place)
        old.ctx = gast.Load()
        whole = gast.BinOp(old, op, grammar.clone(value))
        primal = self._augmented(place, op, value)
        scales = isinstance(op, (gast.Mult, gast.Div, gast.MatMult))
        dot = grammar.clone(target)
        dot.ctx = gast.Load()
        # A name may be a number's or an array's; a place can be stored into.
        if not scales and not grammar.is_name(place):
            made = self._changed_by(whole, 0, dot)
            if moving is not None:
                moved = self._changed_by(whole, 1, self._item(moving))
                made = gast.BinOp(made, gast.Add(), moved)
            return [*self.lead, grammar.assign(target, made, stmt), primal]
        held = self.owner._fresh("moved_dot")
        if moving is not None:
            moved = self._changed_by(whole, 1, self._item(moving))
            self.lead.append(grammar.assign(held, moved, stmt))
        if scales:
            self.lead.append(self._augmented(target, op, value))
        else:
            slope = self._changed_by(whole, 0, grammar.constant(1.0))
            self.lead.append(self._augmented(target, gast.Mult(), slope))
        if moving is not None:
            self.lead.append(self._augmented(target, gast.Add(), grammar.name(held)))
        return [*self.lead, primal]

    def _changed_by(self, whole: gast.BinOp, k: int, dot: gast.AST) -> gast.AST:
        """What the change `dot` of an operand adds to the tangent of an operation."""
        op = self.context.inference.operation(whole)
        if op.rule.kind == "zero":
            return grammar.constant(0.0)
        if _is_linear(op):
            changed = {id((whole.left, whole.right)[k]): dot}
            return _replaced(whole, changed)
        own = templates.tangent_of(op.callee)
        dots = {f"{p}_dot": grammar.constant(0.0) for p in op.rule.wrt}
        wanted = op.rule.wrt[k]
        values = {**op.arguments, "out": whole, **dots, f"{wanted}_dot": dot}
        (made,) = self._text(own or op.rule, {**values, "out_bar": dot}, {wanted})
        return made

    # -- calls ---------------------------------------------------------------------
    def _call(self) -> list[gast.AST]:
        """``y = g(x, k)``: ``y, y_dot = g_jvp(x, k, x_dot=x_dot)``."""
        op, stmt = self.op, self.stmt
        try:
            exact = bool(self.owner.changed.intersection(grammar.writes(stmt)))
            derived, bound = self.context.derive(op, tuple(sorted(self.active)), exact)
        except SctError:
            if op.refused is None:
                raise
            raise self._unfit(op.refused) from None
        keywords = [
            gast.keyword(k.arg, grammar.clone(k.value)) for k in op.node.keywords
        ]
        for p in derived.parameters:
            given = grammar.name(self.owner.dot(bound[p].id))
            keywords.append(gast.keyword(derived.dots[p], given))
        args = [grammar.clone(a) for a in op.node.args]
        dots = self._target_dots()
        if derived.implicit:
            # The call returns what has been found.
            found = grammar.assign(stmt.targets[0], args[1], stmt)
            if not set(grammar.writes(stmt)) & self._operands():
                args[1] = grammar.loaded(stmt.targets[0])
            call = gast.Call(grammar.name(derived.jvp), args[1:], keywords)
            tangent = grammar.assign(dots, call, stmt)
            return [found, tangent] if args[1] is not found.value else [tangent, found]
        call = gast.Call(grammar.name(derived.jvp), args, keywords)
        pair = gast.Tuple([grammar.clone(stmt.targets[0]), dots], gast.Store())
        return [grammar.assign(pair, call, stmt)]

    # -- rules ---------------------------------------------------------------------
    def _rule(self) -> gast.AST:
        """The tangent of an operation that has a rule."""
        op = self.op
        wanted = [
            p for p in op.rule.wrt if set(atoms(op.arguments.get(p))) & self.active
        ]
        own = templates.tangent_of(op.callee)
        if _is_linear(op):
            return self._linear(wanted)
        if own is not None:
            if set(wanted) - set(own.wrt):
                raise self._unfit(op)
            return self._sum(self._instance(own, wanted))
        if not op.rule.pointwise:
            raise unsupported(
                self.context.source, op.node, "this operation", *UNTANGENT
            )
        parts = []
        for p in wanted:
            parts += self._instance(op.rule, [p])
        return self._spread(self._sum(parts))

    def _cut(self, tangent: gast.AST) -> gast.AST:
        """A tangent, 0 where it is an infinity that comes to nothing."""
        cuts, stmt = self.context.cuts, self.stmt
        if stmt in cuts.masked:
            return self.owner._helper("cut", tangent, grammar.clone(cuts.masked[stmt]))
        if stmt in cuts.overflows:
            (name,) = grammar.target_names(stmt.targets[0])
            numpy = self.context.use("module", "numpy")
            lost = grammar.call(f"{numpy}.isinf", grammar.name(name))
            zero = grammar.constant(0.0)
            return grammar.call(f"{numpy}.where", lost, zero, tangent)
        return tangent

    def _instance(self, rule: Rule, wanted: list[str]) -> list[gast.AST]:
        """What each tangent contributes, by the text of a rule."""
        op = self.op
        out = grammar.loaded(self.stmt.targets[0])
        if isinstance(out, gast.Name) and out.id in self._operands():
            self.result = self.result or self.owner._fresh(f"{out.id}_new")
            out = grammar.name(self.result)
        values = {**op.arguments, "out": out}
        if rule.kind == "tangent":
            given = {p: self._dots_of(op.arguments.get(p)) for p in wanted}
            zero = grammar.constant(0.0)
            values.update({f"{p}_dot": given.get(p) or zero for p in rule.wrt})
        else:
            values["out_bar"] = self._dots_of(op.arguments[wanted[0]])
        return self._text(rule, values, set(wanted))

    def _text(self, rule: Rule, values: dict, wanted: set[str]) -> list[gast.AST]:
        """The text of a rule, for what is `wanted` of it."""
        statements, expressions = inline.instantiate(
            rule,
            values,
            wanted,
            rank=lambda node: self.context.inference.fact(node, self.before).rank,
            is_complex=self.context.may_be_complex,
            is_square=lambda node: self.context.squared(node, self.stmt),
            fresh=self.owner._fresh,
            outer=self.context.outer,
        )

        def is_array(node: gast.AST) -> bool:
            fact = self.context.inference.fact(node, self.before)
            return fact.array or bool(fact.rank)

        statements = self.context.spell(statements, self.op, is_array)
        self.lead += [grammar.located(s, self.stmt) for s in statements]
        return self.context.spell(list(expressions.values()), self.op, is_array)

    def _linear(self, wanted: list[str]) -> gast.AST:
        """The primal's own operation, on tangents."""
        op = self.op
        if op.rule.jointly:
            held = self.context.structures
            changed = {
                id(op.arguments[p]): self._dots_of(op.arguments[p])
                if p in wanted or grammar.root(op.arguments[p]) in held
                else grammar.constant(0.0)
                for p in op.rule.wrt
                if p in op.arguments
            }
            made = _replaced(op.node, changed)
            return self._spread(made) if op.rule.pointwise else made
        parts = []
        for p in wanted:
            given = op.arguments[p]
            if op.rule.multilinear and isinstance(given, (gast.Tuple, gast.List)):
                parts += [
                    _replaced(op.node, {id(e): self._dots_of(e)})
                    for e in given.elts
                    if set(atoms(e)) & self.active
                ]
            elif isinstance(given, (gast.Tuple, gast.List)):
                # Item by item: `*args` are no display of the call's.
                dots = {id(e): self._dots_of(e) for e in given.elts}
                parts.append(_replaced(op.node, dots))
            else:
                parts.append(_replaced(op.node, {id(given): self._dots_of(given)}))
        total = self._sum(parts)
        return self._spread(total) if op.rule.pointwise else total

    def _dots_of(self, operand: gast.AST) -> gast.AST | None:
        """An operand in tangents; in a list, zeros for what is constant."""
        if operand is None:
            return None
        return self._item(operand)

    def _sum(self, parts: list[gast.AST]) -> gast.AST:
        several = self.op.rule.each or may_have_parts(self.op)
        total = parts[0]
        for part in parts[1:]:
            if several:
                total = self.owner._helper("added", total, part)
            else:
                total = gast.BinOp(total, gast.Add(), part)
        return total

    def _spread(self, tangent: gast.AST) -> gast.AST:
        """The tangent with the whole shape of the value."""
        (name,) = grammar.target_names(self.stmt.targets[0])
        result = self.after.get(name)
        if result is not None and result.scalar:
            return tangent
        env = {**self.before, **self.after}
        dots = self.owner.dots
        env |= {dots[n]: self.before[n] for n in self.active if n in self.before}
        for s in self.lead:
            if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Name):
                env[s.targets[0].id] = self.context.inference.fact(s.value, env)
        found = self.context.inference.fact(tangent, env)
        if result is not None and found.shape in (result.shape, result.raw):
            return tangent
        if result is None and len(self._operands()) == 1:
            return tangent
        given = [grammar.names_read(a) for a in self.op.arguments.values()]
        if set().union(*given) <= self.active:
            # The tangents of all operands together have the shape of their primals.
            return tangent
        return self.owner._helper(
            "broadcast_like", tangent, grammar.name(self.result or name)
        )


def _is_linear(op: Operation) -> bool:
    """Whether an operation is linear in what it is differentiated in."""
    linear = op.rule.linear
    if isinstance(linear, str):
        given = op.arguments.get(linear)
        return given is None or isinstance(given, gast.Constant) and given.value is None
    return linear


def _base(node: gast.AST) -> gast.Name | None:
    """The name that a path, or the copy of one, starts from."""
    inner = grammar.whole(node)
    while inner is not None:
        node, inner = inner, grammar.whole(inner)
    if isinstance(node, gast.Call):
        # `c.copy()`, or `dict(c)`.
        given = node.args or [getattr(node.func, "value", None)]
        return _base(given[0])
    return node if isinstance(node, gast.Name) else None


def _has_dtype(op: Operation) -> bool:
    return "dtype" in op.keywords or len(op.inputs) > 1


def _replaced(node: gast.AST, changed: dict[int, gast.AST]) -> gast.AST:
    """A copy of an expression in which some nodes, by identity, are others."""
    if id(node) in changed:
        return changed[id(node)]
    if isinstance(node, list):
        return [_replaced(n, changed) for n in node]
    if not isinstance(node, gast.AST):
        return node
    made = type(node)(
        *[_replaced(getattr(node, f, None), changed) for f in node._fields]
    )
    return gast.copy_location(made, node)
