"""Calls written out where they stand, when what they do cannot be told from outside.

::

    def g(t, k=2.0):
        return k * t
                            ->      y = 2.0 * x
    y = g(x)

    m = Model(w)                    m = <new Model>
    y = m.loss(x)           ->      m.w = w
                                    y = x @ m.w

Free variables are read where the call stands, defaults where the ``def`` stands, as in
Python.  Written out are

* local functions and lambdas, `functools.partial`, and functions given one of these;
* constructors, methods, properties and operators of objects whose class is known;
* functions that write into what they are given, that return a function or an object,
  and generators (as the list of what they yield).

What is recursive, decorated, bound twice, or used as a value stays as it is; a
definition that nobody reads any more is dropped.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import sys
import types
from collections.abc import Callable

import gast

from . import meanings, runtime
from .arguments import bind, parameters
from .attributes import ATTRIBUTE
from .backends import NUMPY
from .classes import (
    BINARY,
    LIBRARIES,
    UNARY,
    class_defaults,
    constructor,
    defining_class,
    fields,
    find,
    is_named_tuple,
)
from .errors import unsupported
from .exits import own_breaks
from .grammar import (
    all_writes,
    assign,
    blocks,
    clone,
    constant,
    free_names,
    heads,
    is_name,
    located,
    mutates,
    name,
    names_read,
    outer_names,
    reads,
    statements,
    writes,
)
from .helpers import is_helper
from .meanings import (
    Body,
    Instance,
    Items,
    Made,
    Method,
    Outside,
    Parent,
    Partial,
    Property,
)
from .names import RESERVED, Names, used_names
from .renaming import FUNCTIONS, Captured, captured_names, rename
from .resolve import MISSING, Binding, canonical
from .understanding import Env, Understanding
from .unroll import called_names, fixed

LOOPS = (gast.For, gast.While)
# What reads names later than where it stands.
DELAYED = (*FUNCTIONS, gast.GeneratorExp)
# Of the standard library, but what they hold may be anybody's.
SPECIAL = (functools.partial, types.MethodType, list, tuple, dict)
# The longest list of functions or objects that a loop is unrolled over.
MOST = 32
TURNS = (
    "`{}` in this loop",
    "it is another kind of function or object in the next turn",
    "Give each kind a name of its own.",
)


def write_out(fn: gast.FunctionDef, around, flat, given: Env) -> gast.FunctionDef:
    """Replace calls by what they do, where that is needed and known.

    Parameters
    ----------
    fn : gast.FunctionDef
        A function in ANF; it is left as it is.
    around : Surroundings
        What is known of the world around it.
    flat : callable
        A local function to its ANF.
    given : dict
        What is known of its parameters.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.  Otherwise statements may be those
        of the source language again: desugar and flatten it.
    """
    if not given and not _may_matter(fn, around):
        return fn
    work = _Writer(clone(fn), around, flat)
    owner, first = defining_class(around.source.function), parameters(fn.args)
    if owner is not None and first:
        work.frames.append((owner, name(first[0].id)))
    work.given = {p: k.value for p, k in given.items() if isinstance(k, Outside)}
    work.fn.body = work.block(work.fn.body, dict(given), (), False)
    if not work.changed:
        return fn
    work.check_classes()
    return _without_unread(work.fn, work.silent)


def _may_matter(fn: gast.FunctionDef, around) -> bool:
    """Whether a function mentions anything that calls could be written out of."""
    if defining_class(around.source.function) is not None:
        return True
    if any(_is_definition(s) for s in statements(fn.body)):
        return True
    made = {p.id for p in parameters(fn.args)} | all_writes(fn.body)
    for n in used_names(fn) - made:
        value = around.scope.lookup(n)
        module = value if isinstance(value, types.ModuleType) else type(value)
        word = getattr(module, "__name__", "")
        if isinstance(value, (types.FunctionType, type)):
            word = getattr(value, "__module__", "") or ""
        elif not isinstance(value, types.ModuleType):
            word = getattr(module, "__module__", "") or ""
        plain = word.partition(".")[0] in LIBRARIES - {"sct"}
        plain = plain and not isinstance(value, SPECIAL)
        if value is not MISSING and not plain:
            return True
    return any(isinstance(getattr(s, "value", None), Made) for s in statements(fn.body))


def _is_definition(stmt: gast.AST) -> bool:
    if isinstance(stmt, gast.FunctionDef):
        return not stmt.decorator_list
    return (
        isinstance(stmt, gast.Assign)
        and isinstance(stmt.value, gast.Lambda)
        and isinstance(stmt.targets[0], gast.Name)
    )


class _Writer(Understanding):
    """Walks over the statements in order, and knows what the names mean there."""

    def __init__(self, fn, around, flat):
        super().__init__(around.scope)
        self.fn, self.around, self.flat = fn, around, flat
        self.changed = False
        taken = {p.id for p in parameters(fn.args)}
        self.count.update(dict.fromkeys(taken, 1))
        self.names = Names(used_names(fn))
        # The names that mean something in this function, whoever else uses them.
        self.visible = taken
        # The names that local functions take from outside themselves.
        self.shared: set[str] = set()
        # The classes whose methods are being written out, and their objects.
        self.frames: list[tuple[type | None, gast.AST | None]] = []
        # The attributes that were read from the classes of objects made here.
        self.from_class: set[str] = set()
        self.note(fn.body)
        self.stored = {n for s in statements(fn.body) for n in mutates(s)}

    def note(self, body: list[gast.AST]) -> None:
        """Take notice of the names of new statements."""
        for s in statements(body):
            for n in writes(s):
                self.count[n] = self.count.get(n, 0) + 1
            mentioned = reads(s) | set(writes(s))
            self.visible |= mentioned
            self.names.used |= mentioned
            inner = s if isinstance(s, gast.FunctionDef) else getattr(s, "value", None)
            if isinstance(inner, FUNCTIONS):
                self.shared |= free_names(inner)

    def claim(self, wish: str) -> str:
        """A local of an inner function as a local of this one."""
        if wish in self.visible or wish in RESERVED:
            wish = self.names.fresh(wish)
        self.visible.add(wish)
        self.names.used.add(wish)
        return wish

    # -- statements ----------------------------------------------------------------
    def block(self, body, env: Env, chain: tuple, loop: bool):
        """A block with its calls written out, given what is known before it."""
        return self.run(body, dict(env), chain, loop)

    def run(self, body, env: Env, chain: tuple, loop: bool):
        """The same; what the statements bind is known to those that follow, too."""
        out: list[gast.AST] = []
        for s in body:
            if _is_definition(s):
                out += self.definition(s, env)
                continue
            self.settle(s, env)
            done = self.statement(s, env, chain, loop)
            if done is not None:
                self.changed = True
                out += done
                continue
            self.keep_class_attributes(s, env)
            self.remember(s, env)
            out.append(s)
            if list(blocks(s)):
                self.inside(s, env, chain, loop)
        return out

    def keep_class_attributes(self, s: gast.AST, env: Env) -> None:
        """Refuse to set what has been read from the class, or what it computes."""
        for target in _attribute_targets(s):
            owner = self.value(target.value, env)
            if not isinstance(owner, Instance):
                continue
            found = find(owner.cls, target.attr)
            # A property does when it is set what only its own code says.
            kind = type(found[0]) if found is not None else object
            own = kind.__module__.partition(".")[0] not in LIBRARIES
            computed = kind is property or own and hasattr(kind, "__set__")
            if computed or owner.made and target.attr in self.from_class:
                source = self.around.source
                raise unsupported(source, s, "this assignment", *ATTRIBUTE)

    def inside(self, s: gast.AST, env: Env, chain: tuple, loop: bool) -> None:
        """The blocks of a compound statement, and what is known after it."""
        looping = isinstance(s, LOOPS)
        ends = [] if isinstance(s, gast.If) and s.orelse else [env]
        if isinstance(s, gast.With):
            ends = []
        for inner in list(blocks(s)):
            end = dict(env)
            inner[:] = self.run(inner, end, chain, loop or looping)
            ends.append(end)
        for key in set().union(*ends):
            found = [end.get(key) for end in ends]
            if all(meanings.same(found[0], k) for k in found[1:]):
                env[key] = found[0]
                continue
            before = env.pop(key, None)
            if looping and before is not None:
                # The first turn was read as if all were like it.
                word = key if "." in key else f"{key}"
                what, why, instead = TURNS
                source = self.around.source
                raise unsupported(source, s, what.format(word), why, instead)

    def definition(self, s: gast.AST, env: Env) -> list[gast.AST]:
        """Bind the defaults, and remember the function."""
        if isinstance(s, gast.Assign):
            bound, function = s.targets[0].id, s.value
            body = [located(gast.Return(function.body), s)]
        else:
            bound, function, body = s.name, s, s.body
        if self.count[bound] > 1 or bound in free_names(function):
            return [s]
        lead = []
        a = function.args
        for defaults in (a.defaults, a.kw_defaults):
            for k, d in enumerate(defaults):
                if d is not None and not isinstance(d, gast.Constant):
                    defaults[k] = name(self.held(f"{bound}_default", d, s, lead))
        tree = gast.parse("def f(): pass").body[0]
        tree.name, tree.args, tree.body = bound, clone(a), clone(body)
        located(tree, s)
        env[bound] = Body(s, self.flat(tree))
        self.silent.add(bound)
        self.changed = True
        return [*lead, s]

    def held(self, wish: str, value: gast.AST, s: gast.AST, lead: list) -> str:
        """A name for a value as it is now; its statement goes to `lead`."""
        held = self.names.fresh(wish)
        self.visible.add(held)
        self.count[held] = 1
        lead.append(assign(held, value, s))
        return held

    # -- calls ---------------------------------------------------------------------
    def settle(self, s: gast.AST, env: Env) -> None:
        """Answer what a statement asks of the classes of objects."""
        if not any(isinstance(k, Instance) for k in env.values()):
            return

        def asked(e: gast.AST) -> meanings.Known | None:
            found = self.value(e, env)
            if isinstance(found, Instance) and found.path:
                self.trusted[found.path] = found.cls
            return found

        visitor = _Questions(asked, self.object, self.spelled)
        for field, value in gast.iter_fields(s):
            if isinstance(value, gast.expr) and value in heads(s):
                setattr(s, field, visitor.visit(value))
        self.changed |= visitor.changed

    def statement(self, s, env, chain, loop) -> list[gast.AST] | None:
        """The statements for what can be written out, None for anything else."""
        if isinstance(s, gast.If) and isinstance(s.test, gast.Constant):
            if isinstance(s.test.value, bool):
                arm = s.body if s.test.value else s.orelse
                return self.run(arm, env, chain, loop)
        if isinstance(s, gast.For):
            return self.turns(s, env, chain, loop)
        if isinstance(s, gast.AugAssign):
            return self.augmented(s, env, chain, loop)
        if not isinstance(s, (gast.Assign, gast.Expr)):
            return None
        if isinstance(s.value, gast.Call):
            return self.call(s, s.value, env, chain, loop)
        if isinstance(s, gast.Assign) and isinstance(s.targets[0], gast.Tuple):
            return self.unpacked(s, env, chain, loop)
        if isinstance(s.value, gast.Attribute):
            found = self.value(s.value, env)
            if isinstance(found, Property):
                call = gast.Call(name(found.function.__name__), [found.receiver], [])
                return self.method(s, found, call, env, chain, loop)
            self.of_class(s.value, env)
            return None
        found = self.operator(s.value, env)
        return None if found is None else self.method(s, *found, env, chain, loop)

    def unpacked(self, s: gast.Assign, env, chain, loop) -> list[gast.AST] | None:
        """``name, f = TABLE[0]`` of functions, as ``f = TABLE[0][1]``."""
        found = self.value(s.value, env)
        targets = s.targets[0].elts
        if not isinstance(found, Outside) or not self.needs_turns(found):
            return None
        if not all(map(is_name, targets)) or len(targets) != len(found.value):
            return None
        parts = [
            assign(
                target.id,
                gast.Subscript(clone(s.value), constant(k), gast.Load()),
                s,
            )
            for k, target in enumerate(targets)
        ]
        return self.run(parts, env, chain, loop)

    def check_classes(self) -> None:
        """See to it that given objects are of the classes that annotations say."""
        checks = []
        there = {gast.dump(s.value) for s in self.fn.body if isinstance(s, gast.Expr)}
        for path, cls in sorted(self.trusted.items()):
            helper = Binding("helper", "check_class", value=runtime.check_class)
            value = name(path[0])
            for attr in path[1:]:
                value = gast.Attribute(value, attr, gast.Load())
            said = constant(".".join(path))
            check = name(self.bring(runtime.check_class, helper))
            call = gast.Call(check, [value, said, self.spelled(cls)], [])
            if gast.dump(call) not in there:
                checks.append(located(gast.Expr(call), self.fn))
        for p, value in self.given.items():
            if self.can_bring(value):
                helper = Binding("helper", "check_same", value=runtime.check_same)
                check = name(self.bring(runtime.check_same, helper))
                call = gast.Call(check, [name(p), constant(p), self.spelled(value)], [])
                if gast.dump(call) not in there:
                    checks.append(located(gast.Expr(call), self.fn))
        first = bool(self.fn.body) and _is_docstring(self.fn.body[0])
        self.fn.body[first:first] = checks

    def of_class(self, e: gast.Attribute, env: Env) -> None:
        """Read an attribute that an object made here has from its class there."""
        owner = self.value(e.value, env)
        made = isinstance(owner, Instance) and owner.made and is_name(e.value)
        if not made or (e.value.id, e.attr) in self.attributes:
            return
        found = find(owner.cls, e.attr)
        if found is not None and not isinstance(found[0], types.FunctionType):
            if self.can_bring(owner.cls):
                self.from_class.add(e.attr)
                e.value = gast.copy_location(self.spelled(owner.cls), e.value)
                self.changed = True

    def operator(self, e: gast.AST, env: Env) -> tuple[Method, gast.Call] | None:
        """The method that an operator stands for, and its call."""
        if isinstance(e, gast.UnaryOp) and type(e.op) in UNARY:
            return self.special(UNARY[type(e.op)], [e.operand], env)
        if isinstance(e, gast.BinOp):
            word = BINARY[type(e.op)]
            left = self.special(f"__{word}__", [e.left, e.right], env)
            return left or self.special(f"__r{word}__", [e.right, e.left], env)
        if isinstance(e, gast.Subscript):
            return self.special("__getitem__", [e.value, e.slice], env)
        return None

    def special(self, method: str, args: list[gast.AST], env: Env):
        owner = self.value(args[0], env)
        if isinstance(owner, Instance) and owner.path:
            self.trusted[owner.path] = owner.cls
        if not isinstance(owner, Instance) or is_named_tuple(owner.cls):
            return None
        found = meanings.attribute(owner.cls, method, args[0])
        if not isinstance(found, Method):
            return None
        return found, gast.Call(name(method), args, [])

    def augmented(self, s: gast.AugAssign, env, chain, loop):
        """``v += u`` of objects, as ``v = v + u`` where their class has no other."""
        if not isinstance(s.target, gast.Name):
            return None
        old = name(s.target.id)
        word = BINARY[type(s.op)]
        found = self.special(f"__i{word}__", [old, s.value], env)
        found = found or self.operator(gast.BinOp(old, s.op, s.value), env)
        if found is None:
            return None
        plain = located(gast.Assign([s.target], found[1], None), s)
        return self.method(plain, *found, env, chain, loop)

    def call(self, s, call: gast.Call, env, chain, loop) -> list[gast.AST] | None:
        func = call.func
        if is_name(func, "super") and not call.args and self.frames:
            owner, receiver = self.frames[-1]
            mine = self.value(receiver, env) if receiver is not None else None
            if owner and isinstance(mine, Instance) and isinstance(s, gast.Assign):
                env[s.targets[0].id] = Parent(mine.cls, owner, receiver)
                return []
        helper = self.object(func)
        if isinstance(func, gast.Attribute) and is_helper(helper):
            # `sct.stop_gradient(x)`: emitted code has it without sct.
            call.func = gast.copy_location(name(self.bring(helper)), func)
            self.changed = True
            return None
        found = self.value(func, env)
        if isinstance(found, Outside) and isinstance(found.value, types.MethodType):
            return self.receive(s, found.value, call, env, chain, loop)
        if isinstance(found, Outside) and isinstance(found.value, functools.partial):
            found = self.outside_partial(found.value, func, env)
        elif self.object(func) is functools.partial and isinstance(s, gast.Assign):
            return self.partial(s, call, env)
        elif self.around.is_operator(self.object(func)) and isinstance(s, gast.Assign):
            return self.derivative(s, call, env)
        if isinstance(found, Partial):
            given = {k.arg: k for k in [*found.keywords, *call.keywords]}
            args = [*found.args, *call.args]
            whole = gast.Call(found.func, clone(args), clone(list(given.values())))
            located(whole, call)
            call.func, call.args, call.keywords = whole.func, whole.args, whole.keywords
            return self.run([s], env, chain, loop)
        if isinstance(found, Instance):
            if found.path:
                self.trusted[found.path] = found.cls
            found = meanings.attribute(found.cls, "__call__", func)
        replaced = self.replaced(call, env)
        if replaced is not None:
            return self.construct(s, *replaced, env, chain, loop)
        if isinstance(found, Method):
            receiver = found.receiver
            if isinstance(receiver, gast.Constant):
                receiver = name(self.bring(receiver.value))
            whole = gast.Call(func, [clone(receiver), *call.args], call.keywords)
            return self.method(s, found, whole, env, chain, loop)
        if isinstance(found, Outside) and isinstance(found.value, type):
            return self.construct(s, found.value, call, env, chain, loop)
        if isinstance(func, gast.Attribute) and self.is_object_end(func, env):
            return []
        callee = self.callee(call, found, env)
        if callee is not None:
            return self.expand(s, callee, call, env, chain, loop)
        if isinstance(found, Outside) and self.object(func) is not found.value:
            if callable(found.value) and self.can_bring(found.value):
                call.func = gast.copy_location(self.spelled(found.value), func)
                self.changed = True
        return None

    def replaced(self, call: gast.Call, env: Env) -> tuple[type, gast.Call] | None:
        """``p._replace(y=e)`` and ``dataclasses.replace(p, y=e)``, as ``C(p.x, e)``."""
        func = call.func
        if isinstance(func, gast.Attribute) and func.attr == "_replace":
            old, args = func.value, call.args
        elif self.object(func) is dataclasses.replace and call.args:
            old, *args = call.args
        else:
            return None
        owner = self.value(old, env)
        listed = fields(owner.cls) if isinstance(owner, Instance) else None
        given = {k.arg: k.value for k in call.keywords}
        if listed is None or args or not given.keys() <= set(listed):
            return None
        parts = [
            given.get(f) or gast.Attribute(clone(old), f, gast.Load()) for f in listed
        ]
        return owner.cls, gast.copy_location(gast.Call(func, parts, []), call)

    def is_object_end(self, func: gast.Attribute, env: Env) -> bool:
        """Whether a call is ``super().__init__()`` of a class without bases."""
        owner = self.value(func.value, env)
        return isinstance(owner, Parent) and func.attr in ("__init__", "__post_init__")

    def receive(self, s, method, call: gast.Call, env, chain, loop):
        """A call of a method that the module holds with its object."""
        receiver = gast.Attribute(call.func, "__self__", gast.Load())
        lead: list[gast.AST] = []
        held = self.held("self", clone(receiver), s, lead)
        whole = gast.Call(call.func, [name(held), *call.args], call.keywords)
        env[held] = Instance(type(method.__self__), sample=method.__self__)
        found = Method(method.__func__, type(method.__self__), name(held))
        body = self.method(s, found, whole, env, chain, loop)
        return None if body is None else [*lead, *body]

    def method(self, s, found, call: gast.Call, env, chain, loop):
        """A call of a known method, its object among the arguments."""
        body = self.body(found.function, found.owner)
        if body is None:
            return None
        self.frames.append((found.owner, call.args[0] if call.args else None))
        try:
            return self.expand(s, body, call, env, chain, loop)
        finally:
            self.frames.pop()

    def construct(self, s, cls: type, call: gast.Call, env, chain, loop):
        """``m = C(w)``: a new object, and what its constructor does to it."""
        found = constructor(cls)
        if isinstance(found, gast.FunctionDef):
            body = Body(cls, self.flat(clone(located(found, s))), True, cls)
        else:
            owner = found and meanings.attribute(cls, "__init__", call.func).owner
            body = found and self.body(found, owner)
        if not body or not isinstance(s, gast.Assign) or not is_name(s.targets[0]):
            return None
        if body.key in chain:
            return None
        target = s.targets[0].id
        given = names_read(call)
        made = self.names.fresh(target) if target in given else target
        whole = gast.Call(call.func, [name(made), *call.args], call.keywords)
        new = assign(made, Made(cls), s)
        self.count[made] = self.count.get(made, 0) + (made != target)
        self.visible.add(made)
        env = env if made == target else env
        self.remember(new, env)
        preset = self.preset(cls, made, s)
        for line in preset:
            self.remember(line, env)
        self.frames.append((body.owner, name(made)))
        try:
            inner = gast.copy_location(gast.Expr(whole), s)
            rest = self.expand(inner, body, whole, env, chain, loop)
        finally:
            self.frames.pop()
        if rest is None:
            raise unsupported(
                self.around.source,
                call,
                f"the call of `{cls.__name__}`",
                "its constructor cannot be written out here",
                "Pass the values themselves.",
            )
        last = [] if made == target else [assign(target, name(made), s)]
        for copy in last:
            self.remember(copy, env)
        return [new, *preset, *rest, *last]

    def preset(self, cls: type, made: str, s: gast.AST) -> list[gast.AST]:
        """What an object has from its class until it is given a value of its own."""
        targets = [t for s in statements(self.fn.body) for t in _attribute_targets(s)]
        attrs = class_defaults(cls, {t.attr for t in targets})
        if not self.can_bring(cls):
            return []
        return [
            assign(
                gast.Attribute(name(made), attr, gast.Store()),
                gast.Attribute(self.spelled(cls), attr, gast.Load()),
                s,
            )
            for attr in attrs
        ]

    def partial(self, s: gast.Assign, call: gast.Call, env) -> list[gast.AST] | None:
        """``h = functools.partial(g, x)``: remembered, with its arguments of now."""
        if not call.args or not self.single(s.targets[0]):
            return None
        lead: list[gast.AST] = []
        wish = s.targets[0].id
        func, *args = call.args
        spread = [a for a in args if isinstance(a, gast.Starred)]
        if spread or any(k.arg is None for k in call.keywords):
            return None
        args = [self.kept(wish, a, s, lead, env) for a in args]
        keywords = [
            gast.keyword(k.arg, self.kept(wish, k.value, s, lead, env))
            for k in call.keywords
        ]
        env[wish] = Partial(func, tuple(args), tuple(keywords))
        self.silent.add(wish)
        # What reads the name for anything but a call finds it missing, and is refused.
        return [*lead, s]

    def kept(self, wish: str, value, s, lead, env) -> gast.AST:
        if isinstance(value, gast.Constant) or is_name(value) and value.id in env:
            return value
        return name(self.held(f"{wish}_given", value, s, lead))

    def derivative(self, s: gast.Assign, call: gast.Call, env) -> list | None:
        """``df = sct.grad(g, wrt=1)``: made here and now, of a known function."""
        function = self.plain_function(call.args[0], env) if call.args else None
        try:
            args = [ast.literal_eval(gast.gast_to_ast(a)) for a in call.args[1:]]
            keywords = {
                k.arg: ast.literal_eval(gast.gast_to_ast(k.value))
                for k in call.keywords
            }
        except ValueError:
            return None
        if function is None or None in keywords or not self.single(s.targets[0]):
            return None
        made = self.object(call.func)(function, *args, **keywords)
        env[s.targets[0].id] = Outside(made)
        self.silent.add(s.targets[0].id)
        return [s]

    def plain_function(self, e: gast.AST, env: Env) -> types.FunctionType | None:
        """The function that an expression denotes, if it is closed."""
        found = self.value(e, env)
        if isinstance(found, Outside):
            return found.value if isinstance(found.value, types.FunctionType) else None
        if not isinstance(found, Body) or not isinstance(found.key, gast.AST):
            return None
        node = found.key
        word = getattr(node, "name", "<lambda>")
        origin = self.around.source.function
        codes = [
            c
            for c in origin.__code__.co_consts
            if isinstance(c, types.CodeType)
            and (c.co_name, c.co_firstlineno) == (word, node.lineno)
            and not c.co_freevars
        ]
        return (
            types.FunctionType(codes[0], origin.__globals__)
            if len(codes) == 1
            else None
        )

    def outside_partial(self, value: functools.partial, e: gast.AST, env) -> Partial:
        """A partial that the module holds, with its arguments read from it."""
        args = [
            gast.Subscript(
                gast.Attribute(clone(e), "args", gast.Load()), constant(k), gast.Load()
            )
            for k in range(len(value.args))
        ]
        table = gast.Attribute(clone(e), "keywords", gast.Load())
        keywords = [
            gast.keyword(k, gast.Subscript(clone(table), constant(k), gast.Load()))
            for k in value.keywords
        ]
        if not self.can_bring(value.func):
            # Its body is known all the same.
            inner = name(self.claim("function"))
            env[inner.id] = Outside(value.func)
        else:
            inner = self.spelled(value.func)
        return Partial(inner, tuple(args), tuple(keywords))

    def callee(self, call: gast.Call, found, env: Env) -> Body | None:
        """The function that a call is to be replaced by."""
        if isinstance(found, Body):
            return found
        function = found.value if isinstance(found, Outside) else None
        if not isinstance(function, types.FunctionType):
            return None
        if hasattr(function, "__wrapped__") or self.around.has_rule(function):
            return None
        given = [*call.args, *[k.value for k in call.keywords]]
        special = any(self.needs_body(a, env) for a in given)
        # Without a name that can be imported, only its body can stand here.
        nameless = self.object(call.func) is not function
        special = special or nameless and not self.can_bring(function)
        if not special and not self.around.needs_writing_out(function):
            return None
        return self.body(function)

    def changes(self, names: set[str]) -> bool:
        """Whether a function may write into what some names, or others, refer to."""
        listed = list(statements(self.fn.body))
        shared = [
            {*writes(s), *names_read(s.value)}
            for s in listed
            if isinstance(s, gast.Assign) and not isinstance(s.value, gast.BinOp)
        ]
        while True:
            more = {n for group in shared if group & names for n in group} | names
            if more == names:
                break
            names = more
        return bool(self.stored) or any(
            names & (reads(s) | set(writes(s)))
            for s in listed
            if isinstance(s, (gast.AugAssign, gast.Expr))
        )

    def needs_body(self, e: gast.AST, env: Env) -> bool:
        """Whether a function has to be written out because of an argument."""
        found = (
            self.value(e, env) if isinstance(e, (gast.Name, gast.Attribute)) else None
        )
        if isinstance(found, Outside):
            special = isinstance(found.value, (functools.partial, types.MethodType))
            return special or callable(found.value) and self.object(e) is MISSING
        return found is not None

    def body(self, function: types.FunctionType, owner: type | None = None):
        """The body of a function of a module, in the names of this one."""
        if self.around.has_rule(function):
            return None
        fn, scope, same_file = self.around.known(function)
        a = fn.args
        for d in [*a.defaults, *[d for d in a.kw_defaults if d]]:
            if not isinstance(d, gast.Constant) and scope.resolve(d) is MISSING:
                return None
        mapping = {}
        for n in free_names(fn) - {"super"}:
            theirs = scope.lookup(n)
            if theirs is MISSING:
                return None
            if n in self.count or self.scope.lookup(n) is not theirs:
                mapping[n] = self.bring(theirs, scope.binding(n))
            else:
                self.visible.add(n)
        if mapping:
            fn = clone(fn)
            try:
                rename([fn.args, *fn.body], mapping)
            except Captured:
                return None
        return Body(function, fn, foreign=not same_file, owner=owner)

    def can_bring(self, value: object) -> bool:
        """Whether a name for an object can be imported."""
        if isinstance(value, types.ModuleType):
            return sys.modules.get(value.__name__) is value
        module, _, path = canonical(value).rpartition(".")
        return getattr(sys.modules.get(module), path, None) is value

    def spelled(self, value: object) -> gast.AST:
        """An expression for an object that can be imported: ``np.sin``, or a name."""
        whole = isinstance(value, types.ModuleType)
        module, _, word = canonical(value).rpartition(".")
        backend = self.scope.backend or NUMPY
        sought = backend.module(value.__name__ if whole else module)
        value = sought if whole else getattr(sought, word)
        for n, known_module in self.scope.modules():
            if n not in self.count and known_module is sought:
                self.visible.add(n)
                return name(n) if whole else gast.Attribute(name(n), word, gast.Load())
        binding = Binding("module", value.__name__, value=value) if whole else None
        return name(self.bring(value, binding))

    def bring(self, value: object, binding: Binding | None = None) -> str:
        """A name in this function for an object from elsewhere."""
        for n, b in self.scope.imports.items():
            if b.value is value:
                return n
        if is_helper(value):
            value = (self.scope.backend or NUMPY).helper(value.__name__)
            binding = Binding("helper", value.__name__, value=value)
        elif binding is None:
            module, _, word = canonical(value).rpartition(".")
            binding = Binding("global", word, module, value)
        wish = binding.name.rpartition(".")[2]
        if self.scope.lookup(wish) is value and wish not in self.count:
            self.visible.add(wish)
            return wish
        alias = self.claim(wish)
        self.scope.imports[alias] = binding
        self.scope.locals -= {alias}
        return alias

    def expand(self, s, callee: Body, call, env, chain, loop) -> list[gast.AST] | None:
        """The statements for a call of a function whose body is known."""
        if callee.key in chain:
            return None
        if isinstance(callee.key, types.FunctionType) and (
            callee.key.__code__.co_flags & inspect.CO_GENERATOR
        ):
            # Its list must be what the generator gives, a value at a time.
            given = [*call.args, *[k.value for k in call.keywords]]
            if self.changes(set().union(*map(names_read, given))):
                return None
        if loop and any(
            isinstance(n, DELAYED) for b in callee.fn.body for n in gast.walk(b)
        ):
            # A function made anew each turn must not see the names of the last turn.
            return None
        try:
            body = self.expanded(s, callee, call, env)
        except (Captured, TypeError):
            return None
        for n in writes(s):
            self.count[n] = self.count.get(n, 0) - 1
        self.note(body)
        return self.run(body, env, (*chain, callee.key), loop)

    def expanded(self, s, callee: Body, call: gast.Call, env: Env) -> list[gast.AST]:
        """The body of a function in place of its call."""
        bound = bind(callee.fn.args, call)
        body = clone(callee.fn.body)
        result = body.pop() if isinstance(body[-1], gast.Return) else gast.Return(None)
        # Written out, it writes the variables that it shares with this function.
        shared = outer_names(body)
        body = [
            b for b in body if not _is_docstring(b) and not isinstance(b, gast.Nonlocal)
        ]
        written, captured = all_writes(body) - shared, captured_names(body)
        mapping: dict[str, str] = {}
        constants: dict[str, gast.Constant] = {}
        lead = []
        for p, a in bound.items():
            plain = isinstance(a, gast.Name) and p not in written
            if isinstance(a, gast.Constant) and p not in written | captured:
                constants[p] = a
            elif plain and (a.id in env or p not in captured):
                mapping[p] = a.id
            else:
                mapping[p] = self.claim(p)
                lead.append(assign(mapping[p], a, s))
        target = s.targets[0] if isinstance(s, gast.Assign) else None
        direct = self.result_name(target, result, body, mapping, written - set(bound))
        for n in sorted(written - set(mapping)):
            mapping[n] = target.id if n == direct else self.claim(n)
        result = gast.copy_location(gast.Return(result.value or constant(None)), result)
        if constants:
            # While parameters are still called what they are called there.
            body = [_Constants(constants).visit(b) for b in body]
            result = _Constants(constants).visit(result)
        rename([*body, result], mapping)
        value = result.value
        if callee.foreign:
            for n in (n for b in [*body, value] for n in gast.walk(b)):
                n.lineno, n.col_offset = s.lineno, s.col_offset
        if target is not None and direct is None:
            last = s if callee.foreign else result
            body.append(located(gast.Assign([target], value, None), last))
        return [located(b, s) for b in [*lead, *body]]

    def result_name(self, target, result, body, mapping, own: set[str]) -> str | None:
        """The local that can be called as the target is: nobody reads the target."""
        if not isinstance(target, gast.Name) or not isinstance(result.value, gast.Name):
            return None
        mentioned = {n for b in body for n in used_names(b)} - own
        mentioned = {mapping.get(n, n) for n in mentioned} | self.shared
        taken = target.id in mentioned or target.id in captured_names(body)
        return result.value.id if result.value.id in own and not taken else None

    # -- loops over functions and objects ------------------------------------------
    def turns(self, loop: gast.For, env, chain, outer: bool) -> list[gast.AST] | None:
        """A loop over a list of functions or objects from outside, unrolled."""
        count = self.length(loop.iter, env)
        if count is None or own_breaks(loop.body) or loop.orelse:
            return None
        index = loop.target.id
        if index in all_writes(loop.body) or index in captured_names(loop.body):
            return None
        if meanings.any_item(self.value(loop.iter.args[0].args[0], env)):
            # Objects of one class: one turn is like another.
            return None
        bodies = [fixed(clone(loop.body), index, k) for k in range(count)]
        if not any(
            self.needs_turns(self.value(n, env))
            for b in bodies
            for s in b
            for n in gast.walk(s)
            if isinstance(n, gast.Subscript)
        ):
            return None
        called = called_names(loop.body) - self.read_outside(loop)
        for body in bodies[1:]:
            # What is called has one meaning for each name.
            rename(body, {n: self.names.fresh(n) for n in sorted(called)})
        for body in bodies[1:]:
            self.note(body)
        self.stored |= {n for s in statements(loop.body) for n in mutates(s)}
        lines = [s for b in bodies for s in b]
        return self.run(lines, env, chain, outer) or [located(gast.Pass(), loop)]

    def read_outside(self, loop: gast.For) -> set[str]:
        """The names that are read outside a loop."""
        inside = set(statements([loop]))
        others = (s for s in statements(self.fn.body) if s not in inside)
        return set().union(*map(reads, others))

    def needs_turns(self, found, deep: bool = True) -> bool:
        if isinstance(found, Items) or not isinstance(found, Outside):
            return found is not None
        if deep and isinstance(found.value, (list, tuple)):
            return any(
                self.needs_turns(meanings.of_object(v), False) for v in found.value
            )
        return callable(found.value)

    def length(self, e: gast.AST, env: Env) -> int | None:
        """The length of a short list of the module's: `e` is ``range(len(LIST))``."""
        word = self.around.is_builtin(getattr(e, "func", None))
        if word != "range" or len(e.args) != 1 or not isinstance(e.args[0], gast.Call):
            return None
        inner = e.args[0]
        if self.around.is_builtin(inner.func) != "len" or not inner.args:
            return None
        found = self.value(inner.args[0], env)
        if isinstance(found, Items):
            return len(found.parts) if len(found.parts) <= MOST else None
        if not isinstance(found, Outside) or not isinstance(found.value, (list, tuple)):
            return None
        return len(found.value) if len(found.value) <= MOST else None


def _attribute_targets(s: gast.AST) -> list[gast.Attribute]:
    """The attributes that a statement gives a value to."""
    targets = getattr(s, "targets", None) or [getattr(s, "target", None)]
    return [t for t in targets if isinstance(t, gast.Attribute)]


class _Constants(gast.NodeTransformer):
    """Parameters by the constants that they are given."""

    def __init__(self, constants: dict[str, gast.Constant]):
        self.constants = constants

    def visit_Name(self, node):
        if node.id in self.constants:
            return gast.copy_location(constant(self.constants[node.id].value), node)
        return node


class _Questions(gast.NodeTransformer):
    """Answers ``isinstance(m, C)`` and ``type(m)`` where the class is known."""

    def __init__(self, value: Callable, object_: Callable, spelled: Callable):
        self.value, self.object, self.spelled = value, object_, spelled
        self.changed = False

    def visit_Call(self, node):
        self.generic_visit(node)
        word = self.object(node.func)
        if word not in (isinstance, type) or not node.args:
            return node
        found = self.value(node.args[0])
        if not isinstance(found, Instance):
            return node
        if word is type:
            self.changed = True
            return gast.copy_location(self.spelled(found.cls), node)
        parts = (
            node.args[1].elts
            if isinstance(node.args[1], gast.Tuple)
            else [node.args[1]]
        )
        classes = [self.object(p) for p in parts]
        if not all(isinstance(c, type) for c in classes):
            return node
        self.changed = True
        answer = constant(issubclass(found.cls, tuple(classes)))
        return gast.copy_location(answer, node)


def _is_docstring(stmt: gast.AST) -> bool:
    return isinstance(stmt, gast.Expr) and isinstance(stmt.value, gast.Constant)


def _without_unread(fn: gast.FunctionDef, silent: set[str]) -> gast.FunctionDef:
    """`fn` without the functions, made or named here, that nobody reads."""
    while True:
        listed = list(statements(fn.body))
        read = {n for s in listed for n in reads(s)}
        dropped = {
            s
            for s in listed
            if _is_definition(s) or isinstance(s, gast.Assign)
            if silent & set(writes(s)) - read
        }
        if not dropped:
            return fn
        stack = [fn.body]
        while stack:
            body = stack.pop()
            kept = [s for s in body if s not in dropped]
            body[:] = kept or [located(gast.Pass(), body[0])]
            stack += [inner for s in kept for inner in blocks(s)]
