"""The solvers of SciPy: what they solve, and where their results hold the solution.

::

    x = brentq(f, 0.0, 1.0, args=(k,))            f(x, k) = 0
    sol = root(f, x0, args=(k,))                  f(sol.x, k) = 0
    sol = solve_ivp(f, span, y0, args=(k,))       dy/dt = f(t, y, k), sol.y at sol.t
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass

import gast


@dataclass(frozen=True)
class Solver:
    """One of them.

    Attributes
    ----------
    kind : str
        ``"root"`` or ``"flow"``.
    functions : tuple of str
        The parameters that take functions, that which is solved first.
    part : str
        The attribute of the result that is the solution; empty where that is all.
    others : frozenset of str
        The other attributes that may be read.
    lead : int
        How many arguments the functions take besides `args`.
    without : tuple of str
        The parameters by which the result becomes something else.
    """

    kind: str
    functions: tuple[str, ...]
    part: str = ""
    others: frozenset[str] = frozenset()
    lead: int = 1
    without: tuple[str, ...] = ("full_output",)


# The one that solves differential equations for derivatives.
SCIPY_IVP = ("scipy.integrate", "solve_ivp")
_bracketing = Solver("root", ("f",))
SOLVERS = {
    "scipy.optimize": {
        "bisect": _bracketing,
        "brenth": _bracketing,
        "brentq": _bracketing,
        "ridder": _bracketing,
        "toms748": _bracketing,
        "fsolve": Solver("root", ("func", "fprime")),
        "newton": Solver("root", ("func", "fprime", "fprime2")),
        "root": Solver(
            "root",
            ("fun", "jac"),
            "x",
            frozenset("success message status nfev njev nit fun method".split()),
            without=("callback",),
        ),
        "root_scalar": Solver(
            "root",
            ("f", "fprime", "fprime2"),
            "root",
            frozenset("converged flag iterations function_calls method".split()),
        ),
    },
    "scipy.integrate": {
        "odeint": Solver("flow", ("func", "Dfun"), lead=2),
        "solve_ivp": Solver(
            "flow",
            ("fun", "jac"),
            "y",
            frozenset("t success message status nfev njev nlu".split()),
            lead=2,
            without=("events",),
        ),
    },
}


def solver_of(callee: object) -> Solver | None:
    """What is known of a solver; None for anything else.

    Whoever holds one has imported its module.
    """
    for module, solvers in SOLVERS.items():
        name = getattr(callee, "__name__", "")
        if name in solvers and getattr(sys.modules.get(module), name, None) is callee:
            return solvers[name]
    return None


def module_of(callee: object) -> str:
    """The module from which a solver is imported."""
    name = callee.__name__
    return next(
        m
        for m in SOLVERS
        if getattr(sys.modules.get(m), name, None) is callee and name in SOLVERS[m]
    )


def arguments(callee: object, node: gast.Call) -> dict[str, gast.AST] | None:
    """The arguments of a call by parameter, those of ``**options`` among them.

    None where some are unpacked with a star or do not fit.
    """
    starred = any(isinstance(a, gast.Starred) for a in node.args)
    if starred or any(k.arg is None for k in node.keywords):
        return None
    try:
        bound = inspect.signature(callee).bind(
            *node.args, **{k.arg: k.value for k in node.keywords}
        )
    except TypeError:
        return None
    found = dict(bound.arguments)
    return found | found.pop("options", {}) if _open(callee) else found


def _open(callee: object) -> bool:
    """Whether its options are keywords of any name."""
    given = inspect.signature(callee).parameters.get("options")
    return given is not None and given.kind is given.VAR_KEYWORD


def items(given: gast.AST | None) -> list[gast.AST] | None:
    """What `args` holds, where that is written there; None where it is not."""
    if given is None or isinstance(given, gast.Constant) and given.value is None:
        return []
    if isinstance(given, (gast.Tuple, gast.List)):
        starred = any(isinstance(e, gast.Starred) for e in given.elts)
        return None if starred else list(given.elts)
    return None
