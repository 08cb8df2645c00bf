"""What the optimiser may assume of the names and calls of one function.

The passes know syntax only; whoever built the derivative knows which names it made
and which calls are harmless, and says so in a `Facts`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

import gast

from sct import grammar
from sct.optimize.notes import Notes

_DERIVATIVE = re.compile(r".*_(bar|dot)(_\d+)?_*$")


def trivial(node: gast.AST) -> bool:
    """Whether evaluating `node` twice costs less than reading one more name does.

    Parameters
    ----------
    node : gast.AST
        An expression.

    Returns
    -------
    bool
        True for atoms, and for negations, attributes and constant subscripts of these.
    """
    while True:
        if isinstance(node, (gast.Name, gast.Constant)):
            return True
        if isinstance(node, gast.UnaryOp):
            node = node.operand
        elif isinstance(node, gast.Attribute):
            node = node.value
        elif isinstance(node, gast.Subscript) and not any(
            isinstance(n, gast.Name) for n in gast.walk(node.slice)
        ):
            node = node.value
        else:
            return False


@dataclass
class Facts:
    """What is known of a function that is to be optimised.

    Parameters
    ----------
    pure : callable
        ``pure(call)``: whether a call may be dropped, moved and merged.
    temporary : set of str
        Names made by sct, free to be renamed, inlined and dropped.
    scalar : set of str
        Names that only ever hold immutable numbers.
    cheap : callable
        ``cheap(node)``: whether computing `node` twice is fine.
    fresh : callable
        ``fresh(call)``: whether the result of a call shares no memory with anything.
    lends : callable
        ``lends(call)``: the arguments with which the result of any other may share it.
    repeat : callable
        ``repeat(node)``: whether reading `node` again is better than giving it a name.

    Attributes
    ----------
    notes : Notes
        What the passes found out about single nodes.
    """

    pure: Callable[[gast.Call], bool]
    temporary: set[str] = field(default_factory=set)
    scalar: set[str] = field(default_factory=set)
    cheap: Callable[[gast.AST], bool] = trivial
    fresh: Callable[[gast.Call], bool] = lambda call: False
    lends: Callable[[gast.Call], list[gast.AST]] = grammar.arguments
    repeat: Callable[[gast.AST], bool] = lambda node: False

    def __post_init__(self) -> None:
        self.notes = Notes(self.pure)

    def derivative(self, name: str) -> bool:
        """Whether `name` is an adjoint or a tangent made by sct, the seed included."""
        known = self.notes.about("derivative")
        if name not in known:
            known[name] = bool(_DERIVATIVE.match(name))
        return known[name] and (name in self.temporary or name.startswith("out_"))

    def pure_expression(self, node: gast.AST) -> bool:
        """Whether evaluating `node` has no effect that anybody could see."""
        return self.notes.pure(node)
