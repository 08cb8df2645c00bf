"""What one statement of ANF does, as far as derivatives are concerned.

`classify` looks at the single operation of a statement, finds the object that is
called, and says which rule or which function of the user's answers for it, with the
arguments bound to parameter names.  Everything later works from these answers;
nothing later looks at spellings such as ``np.sum`` or ``x.sum``.
"""

from __future__ import annotations

import copy
import functools
import inspect
import math
import operator
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import gast
import numpy as np

from sct import grammar, runtime, runtime_control, runtime_solvers, templates
from sct.hooks import Hook
from sct.resolve import MISSING, Scope, hashable
from sct.solutions import is_held
from sct.solvers import solver_of
from sct.templates.array_api import role

# Values of these never carry a derivative, whatever they are computed from.
UNDIFFERENTIATED = (gast.Compare, gast.BoolOp, gast.JoinedStr)
BITWISE = (gast.BitOr, gast.BitAnd, gast.BitXor)
# Of these keywords of ufuncs derivatives do not depend: precision, and order in memory.
LAYOUT = frozenset({"dtype", "order", "subok"})
SOLVERS = (runtime_control.fixed_point, runtime_control.root)
# What they return when a solver of SciPy's has found it.
FOUND = (
    runtime_solvers.solution,
    runtime_solvers.flow,
    runtime_solvers.trajectory,
)
DEFAULTS = {"where": True, "out": None}
POWERS = {operator.pow, pow, np.power, np.float_power, math.pow}
DISPATCHERS = (type(np.sum), type(np.dot))
# The packages in whose modules nobody binds a name anew.
FIXED = frozenset({"math", "numpy", "scipy", "cupy", "cupyx"})
UNSOLVED = (
    "the function that it solves must be known by name or stand in this one, `args` be "
    "a tuple written in the call, and of the result nothing be read but the solution "
    "and how it was found"
)
OPAQUE = (gast.Lambda, gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


@dataclass(frozen=True, eq=False)
class Operation:
    """The operation of one statement.

    Attributes
    ----------
    kind : str
        ``"copy"``, ``"store"``, ``"append"``, ``"pop"``, ``"tuple"`` (any display),
        ``"rule"``, ``"call"`` (a function of the user's), ``"hook"`` (a block of
        `sct.grad_of`),
        ``"constant"`` (no derivative) or ``"opaque"`` (not known: refused when a
        varied value goes in).
    node : gast.AST
        The expression.
    operands : tuple of str
        The names through which derivatives flow.
    held : tuple of str
        The names for which the rule has no derivative, though there is one.
    rule : templates.Rule or None
        The rule, for ``"rule"``.
    callee : object
        The object called, `MISSING` when not known.
    arguments : mapping
        Parameter of the rule → expression.
    inputs, keywords : tuple, mapping
        The arguments as given, the owner of a method first.
    problem : str
        Why the rule that there is does not fit the call.
    known : object
        What an attribute of a library's module is, `MISSING` for any other.
    refused : Operation or None
        For a ``"call"`` of a NumPy function that a rule does not fit: what to refuse
        when its source cannot be followed either.
    """

    kind: str
    node: gast.AST
    operands: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    rule: templates.Rule | None = None
    callee: object = MISSING
    arguments: Mapping[str, gast.AST] = field(default_factory=dict)
    inputs: tuple[gast.AST, ...] = ()
    keywords: Mapping[str, gast.AST] = field(default_factory=dict)
    problem: str = ""
    known: object = MISSING
    refused: Operation | None = None


class BindError(Exception):
    """The call does not fit the rule's parameters; `args[0]` says why."""


class Resolver:
    """`Scope` plus the local names known to denote one object throughout.

    Parameters
    ----------
    scope : Scope
        The function's globals, cells and builtins.
    statics : mapping of str to object
        Local names bound once to a known object (``g = np.sin``).

    Attributes
    ----------
    structures : set of str
        Names that hold containers or objects.
    dicts : set of str
        Those of them that hold dicts, whose items are their keys.
    """

    def __init__(self, scope: Scope, statics: Mapping[str, object]):
        self.scope, self.statics = scope, statics
        self.structures: set[str] = set()
        self.dicts: set[str] = set()

    def __call__(self, expr: gast.AST) -> object:
        """The object that a name or attribute chain denotes, or `MISSING`."""
        chain = []
        root = expr
        while isinstance(root, gast.Attribute):
            chain.append(root.attr)
            root = root.value
        if isinstance(root, gast.Name) and root.id in self.statics:
            found = self.statics[root.id]
            for attr in reversed(chain):
                found = getattr(found, attr, MISSING)
            return found
        return self.scope.resolve(expr)


def classify(value: gast.AST, resolve: Resolver) -> Operation:
    """What the expression `value`, one operation on atoms, does."""
    if isinstance(value, gast.Name):
        return Operation("copy", value, (value.id,))
    if isinstance(value, gast.Constant) or isinstance(value, UNDIFFERENTIATED):
        return Operation("constant", value)
    if isinstance(value, gast.BinOp):
        found = _rule(
            templates.OPERATORS[type(value.op)], value, [value.left, value.right]
        )
        # Of numbers, they are constant; `|` may join two dicts as well.
        return replace(found, kind="opaque") if isinstance(value.op, BITWISE) else found
    if isinstance(value, gast.UnaryOp):
        if isinstance(value.op, (gast.Not, gast.Invert)):
            return Operation("constant", value)
        return _rule(templates.OPERATORS[type(value.op)], value, [value.operand])
    if isinstance(value, gast.Subscript):
        owner = resolve(value.value)
        if looks_up(owner):
            return _looked_up(value, owner)
        if grammar.root(value) in resolve.structures or _is_path(value.value):
            return _part(value)
        return _rule(operator.getitem, value, [value.value, value.slice])
    if isinstance(value, (gast.Tuple, gast.List, gast.Dict)):
        return _display(value)
    if isinstance(value, gast.Attribute):
        return _attribute(value, resolve)
    if isinstance(value, gast.Call):
        return _call(value, resolve)
    names = grammar.names_read(value)
    if isinstance(value, OPAQUE[1:]):
        names &= grammar.values_read(value)
    return Operation("opaque", value, tuple(sorted(names)))


def _ufunc_method(callee: object) -> tuple[object, str]:
    """A method of a ufunc, which is a new object every time it is looked up."""
    owner = getattr(callee, "__self__", None)
    if isinstance(callee, types.BuiltinMethodType) and isinstance(owner, np.ufunc):
        return owner, callee.__name__
    return None, ""


def _is_path(node: gast.AST) -> bool:
    """Whether an expression is a name, or subscripts and views of one."""
    while (
        isinstance(node, gast.Subscript)
        or getattr(node, "attr", "") == "T"
        or grammar.is_view(node)
    ):
        node = grammar.whole(node)
    return isinstance(node, gast.Name)


def _part(value: gast.AST) -> Operation:
    """A part of a container, object or array, reached by a path from its name."""
    root = grammar.root(value)
    rule = templates.lookup(operator.getitem)
    given = {"place": value}
    return Operation("rule", value, (root,), (), rule, operator.getitem, given)


def looks_up(value: object) -> bool:
    """Whether a class of someone's own says what the items of `value` are."""
    return isinstance(getattr(type(value), "__getitem__", None), types.FunctionType)


def _looked_up(value: gast.Subscript, owner: object) -> Operation:
    """An item of a known object whose class says what that is, such as `np.r_`."""
    method = type(owner).__getitem__
    if templates.lookup(method) is None:
        return Operation("opaque", value, tuple(sorted(grammar.names_read(value))))
    return _rule(
        method, value, [value.value, grammar.as_argument(value.slice, "slice")]
    )


def _display(value: gast.Tuple | gast.List | gast.Dict) -> Operation:
    """A tuple, list or dict of names and constants; its parts go by ``arguments``."""
    if isinstance(value, gast.Dict):
        keys, parts = value.keys, value.values
    else:
        parts = value.elts
        keys = [grammar.constant(i) for i in range(len(parts))]
    names = tuple(e.id for e in parts if isinstance(e, gast.Name))
    simple = all(isinstance(e, (gast.Name, gast.Constant)) for e in parts)
    simple = simple and all(isinstance(k, (gast.Name, gast.Constant)) for k in keys)
    # Of two parts that may have one key, the last counts.
    named = [k.value for k in keys if isinstance(k, gast.Constant)]
    simple = simple and len({*named}) == len(keys) or simple and len(keys) == 1
    if not simple:
        return Operation("opaque", value, tuple(sorted(grammar.names_read(value))))
    pairs = {
        "keys": gast.Tuple(keys, gast.Load()),
        "parts": gast.Tuple(parts, gast.Load()),
    }
    return Operation("tuple", value, names, arguments=pairs)


def _attribute(value: gast.Attribute, resolve: Resolver) -> Operation:
    if grammar.root(value) in resolve.structures and resolve(value) is MISSING:
        return _part(value)
    found = resolve(value)
    if found is not MISSING or value.attr in templates.PROPERTIES_CONSTANT:
        owner = getattr(resolve(value.value), "__name__", "").partition(".")[0]
        return Operation("constant", value, known=found if owner in FIXED else MISSING)
    function = templates.PROPERTIES.get(value.attr)
    if function is not None:
        return _rule(function, value, [value.value])
    return Operation("opaque", value, tuple(sorted(grammar.names_read(value))))


def _call(value: gast.Call, resolve: Resolver) -> Operation:
    callee = resolve(value.func)
    args = list(value.args)
    if isinstance(callee, Hook):
        names = tuple(sorted(grammar.names_read(value)))
        return Operation("hook", value, names, callee=callee)
    owner = getattr(value.func, "value", None)
    if grammar.is_name(owner) and owner.id in resolve.structures:
        if value.func.attr == "append" and len(args) == 1:
            operands = (owner.id, *atoms(args[0]))
            return Operation("append", value, operands, arguments={"value": args[0]})
        if value.func.attr == "pop" and not args and not value.keywords:
            return Operation("pop", value, (owner.id,))
        if value.func.attr == "copy" and not args:
            return Operation("copy", value, (owner.id,))
    if callee is runtime.copied:
        return Operation("copy", value, (grammar.root(args[0]),), callee=callee)
    if callee is copy.deepcopy and len(args) == 1 and grammar.is_name(args[0]):
        # What a container holds in two places is one array in its copy as well.
        if args[0].id not in resolve.structures:
            return Operation("copy", value, (args[0].id,), callee=callee)
    if callee is MISSING and isinstance(value.func, gast.Attribute):
        # A method of something computed here: an array's, if a derivative is asked for.
        method = templates.METHODS.get(value.func.attr)
        if method is not None and templates.lookup(method) is not None:
            if method in (np.reshape, np.transpose) and len(args) > 1:
                # x.reshape(2, 3) is np.reshape(x, (2, 3)).
                args = [gast.Tuple(args, gast.Load())]
            return _rule(method, value, [value.func.value, *args], value.keywords)
    if callee is dict and not args and all(k.arg for k in value.keywords):
        keys = [grammar.constant(k.arg) for k in value.keywords]
        made = _display(gast.Dict(keys, [k.value for k in value.keywords]))
        return replace(made, node=value, callee=callee)
    if callee in (list, tuple) and len(args) == 1:
        if getattr(getattr(args[0], "func", None), "attr", "") == "keys":
            return Operation("constant", value, callee=callee)
        if grammar.is_name(args[0]) and args[0].id in resolve.dicts:
            return Operation("constant", value, callee=callee)
    if callee in (sorted, max, min) and value.keywords and len(args) == 1:
        # The key says where an item goes, and has no part in what it is.
        given = {k.arg: k.value for k in value.keywords if k.arg}
        names = tuple(sorted(grammar.names_read(args[0])))
        return Operation(
            "opaque", value, names, (), None, callee, {}, tuple(args), given
        )
    if callee is dict and len(args) == 1 and grammar.is_name(args[0]):
        if args[0].id in resolve.structures and not value.keywords:
            return Operation("copy", value, (args[0].id,), callee=callee)
    if callee in (max, min) and len(args) == 1:
        callee = templates.OF_ITEMS[callee]
    keywords = list(value.keywords)
    folded = templates.FOLDS.get(_ufunc_method(callee))
    if folded is not None:
        # np.add.reduce(x) is np.sum(x, axis=0).
        if len(args) == 1 and not any(k.arg in (None, "axis") for k in keywords):
            keywords.append(gast.keyword("axis", grammar.constant(0)))
        callee = folded
    rule = templates.lookup(callee) if callee is not MISSING else None
    if rule is not None:
        return _rule(callee, value, args, keywords)
    if role(callee) == "namespace":
        return Operation("constant", value, callee=callee)
    if role(callee) == "identity" and len(args) == 1 and grammar.is_name(args[0]):
        return Operation("copy", value, (args[0].id,), callee=callee)
    plain, names = unwrap(callee), tuple(sorted(grammar.names_read(value)))
    if any(plain is s for s in (*SOLVERS, *FOUND)):
        # Where the iteration begins has no part in what it leads to.
        names = tuple(n for a in args[2:] for n in atoms(a))
    if solver_of(callee) is not None:
        if is_held(value.func, resolve.scope):
            return Operation("constant", value, callee=callee)
        return Operation("opaque", value, names, callee=callee, problem=UNSOLVED)
    if isinstance(plain, types.FunctionType) and not isinstance(callee, DISPATCHERS):
        return Operation("call", value, names, callee=callee)
    given = {k.arg: k.value for k in value.keywords if k.arg}
    return Operation("opaque", value, names, (), None, callee, {}, tuple(args), given)


def unwrap(callee: object) -> object:
    """The plain function behind `functools.partial` without arguments, or a cache.

    NumPy's own functions stand behind dispatchers.
    """
    while True:
        if isinstance(callee, functools._lru_cache_wrapper):
            callee = callee.__wrapped__
        elif isinstance(callee, DISPATCHERS):
            callee = templates.WRITTEN.get(callee, callee._implementation)
        elif isinstance(callee, types.FunctionType) and callee in templates.WRITTEN:
            callee = templates.WRITTEN[callee]
        elif isinstance(callee, functools.partial) and not (
            callee.args or callee.keywords
        ):
            callee = callee.func
        else:
            return callee


def followed(op: Operation) -> Operation:
    """A call of a NumPy function that no rule fits as one of its Python source."""
    plain = isinstance(op.node, gast.Call) and isinstance(op.callee, DISPATCHERS)
    if not plain or not isinstance(unwrap(op.callee), types.FunctionType):
        return op
    names = tuple(sorted(grammar.names_read(op.node)))
    refused = op if op.rule is not None or op.problem else None
    return Operation("call", op.node, names, callee=op.callee, refused=refused)


def parts_of(op: Operation) -> tuple[str, ...] | None:
    """The names of the values that a call returns as a tuple, if its rule tells."""
    if op.rule is None or not may_have_parts(op):
        return None
    given = [op.arguments[p] for p in op.rule.alone if p in op.arguments]
    return op.rule.parts if all(isinstance(a, gast.Constant) for a in given) else None


def may_have_parts(op: Operation) -> bool:
    """Whether a call that has a rule may return several values as a tuple."""
    left = grammar.constant(None)
    given = [(op.arguments.get(p, left), v) for p, v in op.rule.alone.items()]
    alone = any(isinstance(a, gast.Constant) and a.value in v for a, v in given)
    return bool(op.rule.parts) and not alone


def _rule(
    primal: object,
    node: gast.AST,
    args: list[gast.AST],
    keywords: Sequence[gast.keyword] = (),
) -> Operation:
    rule = templates.lookup(primal)
    args, keywords = _without_out(primal, args, keywords)
    given = {k.arg: k.value for k in keywords if k.arg}
    if isinstance(primal, np.ufunc):
        keywords = [k for k in keywords if k.arg not in LAYOUT]
    if rule is not None:
        keywords = [k for k in keywords if not _says_nothing(k, primal, rule)]
    names = tuple(sorted(grammar.names_read(node)))
    if rule is None or rule.kind == "zero" or _is_one(primal, args):
        kind = "opaque" if rule is None else "constant"
        return Operation(kind, node, names, (), rule, primal, {}, tuple(args), given)
    try:
        arguments = bind(rule, args, keywords)
    except BindError as e:
        return Operation(
            "opaque",
            node,
            names,
            callee=primal,
            inputs=tuple(args),
            keywords=given,
            problem=e.args[0],
        )
    operands = [n for p in rule.wrt for n in atoms(arguments.get(p))]
    held = [n for p in arguments for n in sorted(held_by(rule, p, arguments[p]))]
    return Operation(
        "rule",
        node,
        tuple(operands),
        tuple(held),
        rule,
        primal,
        arguments,
        tuple(args),
        given,
    )


def _is_one(primal: object, args: list[gast.AST]) -> bool:
    """Whether a call is ``x ** 0``, which is 1 whatever comes back to it."""
    power = hashable(primal) and primal in POWERS
    exponent = args[1] if power and len(args) > 1 else None
    return isinstance(exponent, gast.Constant) and exponent.value == 0


def _says_nothing(keyword: gast.keyword, primal: object, rule: templates.Rule) -> bool:
    """Whether a keyword that a rule does not name has its default value."""
    value = keyword.value
    if not isinstance(value, gast.Constant) or keyword.arg in rule.parameters:
        return False
    if isinstance(primal, np.ufunc):
        return DEFAULTS.get(keyword.arg, MISSING) is value.value
    try:
        default = inspect.signature(primal).parameters[keyword.arg].default
    except (TypeError, ValueError, KeyError):
        return False
    return type(default) is type(value.value) and default == value.value


def _without_out(
    primal: object, args: list[gast.AST], keywords: Sequence[gast.keyword]
) -> tuple[list[gast.AST], list[gast.keyword]]:
    """``np.sum(x, 0, None, None, True)`` as ``np.sum(x, 0, None, keepdims=True)``."""
    names = _positions(primal) if isinstance(primal, DISPATCHERS) else ()
    at = names.index("out") if "out" in names else len(args)
    named = [gast.keyword(n, a) for n, a in zip(names[at:], args[at:])]
    keywords = [
        k
        for k in [*named, *keywords]
        if k.arg != "out" or getattr(k.value, "value", k) is not None
    ]
    return args[: at if named else None], keywords


@functools.lru_cache(maxsize=512)
def _positions(function: Callable) -> tuple[str, ...]:
    """The parameters of one of NumPy's functions that may be given by position."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return ()
    return tuple(p.name for p in parameters if p.kind is not p.KEYWORD_ONLY)


def held_by(rule: templates.Rule, parameter: str, given: gast.AST) -> set[str]:
    """The names in an argument that the rule takes for constants."""
    if parameter in rule.zero:
        return set()
    differentiated = set(atoms(given)) if parameter in rule.wrt else set()
    return grammar.values_read(given) - differentiated


def bind(
    rule: templates.Rule, args: list[gast.AST], keywords: Sequence[gast.keyword]
) -> dict[str, gast.AST]:
    """The arguments of a call, by the rule's parameter names.

    Raises
    ------
    BindError
        When the rule has no such parameter, or an argument is unpacked with ``*``.
    """
    try:
        bound = _bind(rule.signature, args, keywords).arguments
        # `*operands` are one operand, a tuple.
        return {
            p: gast.Tuple(list(a), gast.Load()) if isinstance(a, tuple) else a
            for p, a in bound.items()
        }
    except TypeError as e:
        raise BindError(f"its rule does not take these arguments ({e})") from None


def bind_call(function: types.FunctionType, node: gast.Call) -> dict[str, gast.AST]:
    """The arguments of a call of a user's function, by its parameter names.

    Those of ``*xs`` go by ``xs_0`` and so on, those of ``**kw`` by their own names.

    Raises
    ------
    BindError
        When the call does not fit the function's signature.
    """
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        found = _bind(signature, node.args, node.keywords).arguments
    except TypeError as e:
        raise BindError(str(e)) from None
    bound: dict[str, gast.AST] = {}
    for p, value in found.items():
        kind = signature.parameters[p].kind
        if kind is inspect.Parameter.VAR_POSITIONAL:
            bound |= {element(p, k): v for k, v in enumerate(value)}
        elif kind is inspect.Parameter.VAR_KEYWORD:
            bound |= value
        else:
            bound[p] = value
    return bound


def element(parameter: str, index: int) -> str:
    """The parameter that stands for one argument of ``*parameter``."""
    return f"{parameter}_{index}"


def _bind(signature, args, keywords) -> inspect.BoundArguments:
    if any(isinstance(a, gast.Starred) for a in args) or any(
        k.arg is None for k in keywords
    ):
        raise BindError("its arguments are unpacked with `*` from an unknown value")
    return signature.bind(*args, **{k.arg: k.value for k in keywords})


def atoms(node: gast.AST | None) -> list[str]:
    """The names in an operand: itself, or the elements of a literal list."""
    if isinstance(node, gast.Name):
        return [node.id]
    if isinstance(node, (gast.List, gast.Tuple)):
        return [n for e in node.elts for n in atoms(e)]
    return []


def store_operation(stmt: gast.Assign | gast.AugAssign) -> Operation:
    """What ``x[i] = e`` and ``x[i] += e`` do: kind ``"store"``.

    The operands are the array and the names of `e`; ``arguments["place"]`` is the
    target, ``arguments["value"]`` is `e`.
    """
    target = stmt.target if isinstance(stmt, gast.AugAssign) else stmt.targets[0]
    root = grammar.root(target)
    operands = (root, *[n for n in atoms(stmt.value) if n != root])
    return Operation(
        "store", stmt.value, operands, arguments={"place": target, "value": stmt.value}
    )
