"""What the two modes work from, and what they make of a statement and of a call."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import gast

from sct import grammar, names
from sct.analysis import dataflow
from sct.analysis.activity import Activity
from sct.analysis.cuts import Cuts
from sct.analysis.shapes import Fact, Inference, Shapes
from sct.operations import Operation, atoms
from sct.structures import Structures


@dataclass(eq=False)
class Step:
    """A statement and its adjoint.

    Attributes
    ----------
    stmt : gast.AST or None
        The statement of the forward sweep; None for backward statements that belong
        to the beginning of a block.
    adjoint : list
        The statements of the backward sweep; for a compound statement, those that run
        before its reversed body.
    lead : list
        Statements that run before `adjoint` and read only new values.
    old, new : set of str
        The names of the primal that these read, as they are before and after the
        statement.
    late : set of str
        Those of `new` that `adjoint` itself reads.
    arms : list of lists of Step
        The blocks of a compound statement.
    """

    stmt: gast.AST | None
    adjoint: list[gast.AST] = field(default_factory=list)
    lead: list[gast.AST] = field(default_factory=list)
    old: set[str] = field(default_factory=set)
    new: set[str] = field(default_factory=set)
    late: set[str] = field(default_factory=set)
    arms: list[list[Step]] = field(default_factory=list)


@dataclass(frozen=True)
class Derived:
    """The derivative of a function that is called.

    Attributes
    ----------
    parameters : tuple of str
        Its parameters that are active, in the order in which adjoints come back.
    grad : str
        The function that gives the adjoints, called with the primal's arguments.
    fwd, bwd : str
        The two sweeps, when they are split; else empty.
    tape : str
        The keyword by which `bwd` takes the tape.
    seed : str
        The keyword by which they take the adjoint of the result.
    reals : frozenset of str
        The parameters that are taken for real.
    jvp : str
        In forward mode, the function that gives value and tangent.
    dots : dict
        Active parameter → the keyword by which `jvp` takes its tangent.
    implicit : bool
        Whether `grad` takes the result, and the parameters of what was solved for it;
        in forward mode, whether `jvp` does, and gives the tangent alone.
    """

    parameters: tuple[str, ...]
    grad: str = ""
    fwd: str = ""
    bwd: str = ""
    tape: str = "tape"
    seed: str = "out_bar"
    reals: frozenset[str] = frozenset()
    jvp: str = ""
    dots: Mapping[str, str] = field(default_factory=dict)
    implicit: bool = False


@dataclass
class Context:
    """What the transformation of one function works from."""

    fn: gast.FunctionDef
    source: object
    operations: dict[gast.AST, Operation]
    activity: Activity
    shapes: Shapes
    inference: Inference
    names: names.Names
    use: Callable[[str, str], str]
    derive: Callable[..., tuple[Derived, dict[str, gast.AST]]]
    outer: Callable[[str, object], str]
    temporary: set[str]
    containers: Structures
    passing: set[str] = field(default_factory=set)
    exact: set[gast.AST] = field(default_factory=set)
    complexes: set[str] = field(default_factory=set)
    cuts: Cuts = field(default_factory=Cuts)
    squares: dict[gast.AST, frozenset[str]] = field(default_factory=dict)
    standing: dict[str, gast.Assign] = field(default_factory=dict)
    # The names whose adjoints or tangents hold because they are real.
    reals: set[str] = field(default_factory=set)
    untouched: dict[gast.AST, gast.Subscript] = field(default_factory=dict)
    # Whether an element of an array is a number, and no array.
    numbers: bool = True
    # ``spell(nodes, operation, is_array)``: what a rule says, in the names used here.
    spell: Callable[..., list[gast.AST]] = lambda nodes, op, is_array: nodes

    @property
    def structures(self) -> set[str]:
        """The names that hold containers or objects, or may."""
        return self.containers.all

    def may_be_complex(self, node: gast.AST) -> bool:
        """Whether an operand may be complex; if not, it must be real."""
        named = set(atoms(node))
        if named & self.complexes:
            return True
        self.reals |= named
        return False

    def squared(self, node: gast.AST, stmt: gast.AST) -> bool:
        """Whether an operand of a root certainly is a sum of squares."""
        return bool(set(atoms(node)) & self.squares.get(stmt, frozenset()))

    def number(self, place: gast.AST) -> bool:
        """Whether a path certainly leads to a number."""
        if not self.numbers:
            return False
        part = grammar.clone(place)
        part.ctx = gast.Load()
        points, root = self.shapes.points, grammar.root(place)
        at_end = points.get(dataflow.end(self.fn.body), {})
        # The name may hold something else by then.
        facts = [e[root] for e in self._before(place) if root in e]
        return self.inference.fact(part, at_end).scalar and all(
            self.inference.fact(part, {**at_end, root: f}).scalar for f in facts
        )

    def _before(self, place: gast.AST) -> list[dict[str, Fact]]:
        """What is known where a path is taken, or else wherever its name is used."""
        stmt = self._taken.get(place)
        used = self.shapes.operands
        return [used[stmt]] if stmt in used else list(used.values())

    @functools.cached_property
    def _taken(self) -> dict[gast.AST, gast.AST]:
        """The statement that each path is part of."""
        return {
            n: s
            for s in self.shapes.operands
            for h in grammar.heads(s)
            for n in grammar.nodes(h)
            if isinstance(n, (gast.Subscript, gast.Attribute))
        }
