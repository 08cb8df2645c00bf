"""Operations without a derivative: why, and what to write instead.

What can be told from syntax alone is refused by `fence`; here stand the operations that
are refused because an active value goes through them.
"""

from __future__ import annotations

import types

import gast

from sct import grammar
from sct.errors import UnknownCallError, UnsupportedError, unsupported
from sct.operations import Operation, held_by
from sct.resolve import MISSING, canonical

SHARED = (
    "an active value in a `global` or `nonlocal` variable",
    "other functions may read it, and their derivatives would not know",
    "Return the value, and let the caller keep it.",
)
MANAGED = (
    "what a context manager made of active values hands to `as`",
    "how it depends on them is not followed",
    "Compute the value in a statement of its own, inside the `with`.",
)
UNKNOWN = "what it calls is not known before it runs"
GROWING = (
    "a list grows while it is counted by the loop",
    "Take its length before: `n = len(values)`, then `for i in range(n)`.",
)
PART = (
    "it writes into an array by way of its real or imaginary part",
    "Write into the array itself: `z[0] = ...`.",
)
FOREIGN = (
    "there is no rule for it, and the source that NumPy has of it is NumPy's",
    "Write what it computes with functions that have rules, or give it a rule with "
    "`@sct.adjoint`.",
)
REPEATED = (
    "the index may name an element twice, which is then multiplied or divided twice",
    "Write `x[i] *= y` where no index is repeated, or loop over the indices.",
)
COMPLEX = (
    "complex numbers go into it, and how it changes with these is not known",
    "Write it with `np.abs`, `np.conj` and arithmetic.",
)
UNPAIRED = (
    "with `has_aux` it must be a pair: the value, and whatever else is to be known",
    "Return a tuple of two: `return value, aux`.",
)
UNSOLVED = (
    "which function is solved is not known before it runs, or it stands in this one",
    "Give the name of a function that stands at the top of a module.",
)
COUNTED = (
    "what is solved must have a parameter of its own for every argument",
    "Write it with all of its parameters: `def g(z, x, w): ...`.",
)
TIMED = (
    "the times themselves are active, and how the solution changes with them is not "
    "followed",
    "Scale the time: solve `dy/ds = T * f(s * T, y)` for s from 0 to 1.",
)
UNREPEATABLE = (
    "what it calls is run again, and a second run might not be like the first: it "
    "draws random numbers or does something beside returning a value",
    "Draw the numbers outside and pass them.",
)
UNLIKE = (
    "it is run more than once, as for each column of a Jacobian, and its runs may be "
    "unlike one another: it draws random numbers or does more than return a value",
    'Draw the numbers outside and pass them, or give a Jacobian `mode="reverse"`.',
)
HOOKED = (
    "this `sct.grad_of`",
    "the variable is a container or a view of an array that is written into, or the "
    "block has a function with a name of its own that it has as well",
    "Copy the value first, `h = h.copy()`, and give the block other names.",
)
BLIND = (
    "this `sct.grad_of` in forward mode",
    "there is no adjoint that its block could change",
    "Use reverse mode (`sct.grad`, `sct.vjp`).",
)
JOINED = (
    "containers of active values are joined or repeated, and it has no rule for them",
    "Build the list with `append`, or join arrays with `np.concatenate`.",
)
SLICED = (
    "several items of a list are replaced at once, and their number may change",
    "Assign them one by one, or put the list together anew: `l = l[:1] + [a, b]`.",
)
UNTANGENT = (
    "its rule gives adjoints, and it has none for tangents",
    "Give it one with `@sct.tangent`, or use reverse mode (`sct.grad`, `sct.vjp`).",
)
INTEGERS = (
    "the array holds integers, and what is stored there is cut to one",
    "Make it an array of floats: `np.zeros(n)`.",
)
WRITES = (
    "the function may write into an array or container that it is given",
    "Let it return the new value instead, or give it a rule with `sct.adjoint`.",
)
IN_PLACE = (
    "it may change an array or container in place, and how is not known",
    "Build the new value instead: `x = x + y`, `np.where`, `np.concatenate` or "
    "`np.stack`.",
)


def refusal(source: object, op: Operation) -> UnsupportedError:
    """The error for an operation through which an active value goes.

    Parameters
    ----------
    source : Source
        The function's source.
    op : Operation
        The operation; of kind ``"opaque"`` or ``"tuple"``.
    """
    node = op.node
    if op.kind == "tuple" or isinstance(
        node, (gast.Tuple, gast.List, gast.Dict, gast.Set)
    ):
        return unsupported(
            source,
            node,
            "a container of active values",
            "it is not made of names and numbers alone, so its parts are not followed",
            "Give each value a name of its own.",
        )
    if isinstance(node, gast.GeneratorExp):
        return unsupported(
            source,
            node,
            "a generator expression over active values",
            "its values are computed later, where they are asked for",
            "Write it as a list: `[...]`.",
        )
    if isinstance(node, gast.Lambda):
        return unsupported(
            source,
            node,
            "a lambda that captures an active value",
            "it is passed on as a value, and where it is called is not known",
            "Call it directly, or pass the value as a parameter.",
        )
    if isinstance(node, gast.Attribute):
        return unsupported(
            source,
            node,
            f"the attribute `.{node.attr}` of an active value",
            "it is no attribute of arrays that has a rule",
            "Pass the value itself as a parameter.",
        )
    if isinstance(node, gast.Call):
        return _call(source, op)
    return unsupported(
        source,
        node,
        "this expression",
        "an active value goes through it and it has no rule",
        "Write it with arithmetic and NumPy functions.",
    )


def _call(source: object, op: Operation) -> UnsupportedError:
    name = spelled(op.node.func)
    if op.callee is MISSING:
        method = isinstance(op.node.func, gast.Attribute)
        what = f"the call of `{name}`" if method else "this call"
        why = UNKNOWN
        instead = "Call a function that the module or an enclosing function defines."
        return unsupported(source, op.node, what, why, instead, UnknownCallError)
    if op.problem:
        return unfit(source, op, op.problem)
    said = canonical(op.callee)
    if isinstance(op.callee, type):
        why = f"`{said}` is a class, and what its objects do is not followed"
        instead = "Pass the values themselves."
    elif isinstance(op.callee, (types.BuiltinFunctionType, types.MethodType)):
        why = f"there is no rule for `{said}`, and it has no Python source"
        instead = (
            "Give it one: wrap it in a function and register that with `@sct.adjoint`."
        )
    else:
        why = f"there is no rule for `{said}`"
        instead = (
            "Give it one with `@sct.adjoint`, or declare it constant with "
            "`sct.nondifferentiable`."
        )
    return unsupported(source, op.node, f"the call of `{name}`", why, instead)


def unfit(source: object, op: Operation, problem: str) -> UnsupportedError:
    """The error for a call with arguments that its rule or function does not take."""
    instead = (
        "Write it with the arguments that the rule covers, or give the function a "
        "rule of your own with `@sct.adjoint`."
    )
    if op.kind == "call":
        instead = "Call it with the arguments that its signature names."
    what = f"the call of `{spelled(_called(op))}`"
    return unsupported(source, op.node, what, problem, instead)


def held_constant(source: object, op: Operation, active) -> UnsupportedError:
    """The error for one of the names `active` where the rule takes a constant."""
    arguments = op.arguments.items()
    where = next(p for p, a in arguments if held_by(op.rule, p, a) & set(active))
    return unsupported(
        source,
        op.node,
        f"the call of `{spelled(_called(op))}`",
        f"its argument `{where}` depends on what it is differentiated in, and the rule "
        "takes that argument for a constant",
        "Compute that argument from constants, or give the function a rule of your own "
        "with `@sct.adjoint`.",
    )


def _called(op: Operation) -> gast.AST:
    """What a call calls, or a subscript looks something up in."""
    return op.node.func if isinstance(op.node, gast.Call) else op.node.value


def spelled(func: gast.AST) -> str:
    """A callee as the user wrote it."""
    parts = []
    while isinstance(func, gast.Attribute):
        parts.append(func.attr)
        func = func.value
    parts.append(func.id if grammar.is_name(func) else "…")
    return ".".join(reversed(parts))
