"""The derivative of a checkpointed loop: turns are run again from snapshots.

::

    def f_loop_bwd(x, h, turns, snapshots, *, tape, out_bar):
        x_bar = out_bar
        h_bar = zero_structure(h)
        for i, (x,) in backwards(f_turn, tape, (h,), turns, snapshots):
            x_bar, h_inc = f_turn_grad(i, x, h, out_bar=x_bar)
            h_bar = added(h_bar, h_inc)
        return x_bar, h_bar
"""

from __future__ import annotations

import types
from dataclasses import replace

from sct.analysis.complexes import returns_complex
from sct.arguments import parameter_names
from sct.context import Derived
from sct.draft import Draft, listed, parameters
from sct.names import Names
from sct.normalise import Normal, normalise
from sct.outline import turns_of
from sct.resolve import Binding


def loop_from_snapshots(
    program, function: types.FunctionType, wrt: tuple[str, ...], given
) -> Derived:
    """The derivative of the function of a checkpointed loop in reverse mode.

    Parameters
    ----------
    program : derive.Program
        The module that it becomes a part of.
    function : types.FunctionType
        The function that `outline` made of the loop.
    wrt : tuple of str
        Its parameters that are active.
    given : derive.Given
        What the call says of its parameters.
    """
    of = turns_of(function)
    loop, turn = normalise(function), normalise(of.turn)
    # What the loop carries is active as soon as a part of it is.
    active = (*of.states, *(n for n in of.constants if n in wrt))
    inner = given.among(of.constants)
    if given.complexes or returns_complex(of.turn, frozenset()):
        # What is carried may become complex.
        inner = replace(inner, complexes=frozenset(active))
    derived = program.called(turn, active, inner, whole=True)
    fwd = program.reserve(f"{loop.source.name}_fwd", loop)
    bwd = program.reserve(f"{loop.source.name}_bwd", loop)
    names = Names(set(parameter_names(loop.fn)))
    tape, seed = names.fresh("tape"), names.fresh("out_bar")
    made = Derived(wrt, "", fwd, bwd, tape, seed)
    _forward(program, loop, of, made)
    _backward(program, loop, of, made, active, derived)
    return made


def _draft(program, loop: Normal, of) -> tuple[Draft, str]:
    """A function in the making, and the function of a turn in it."""
    d = Draft(program, loop.source, loop.scope, set(parameter_names(loop.fn)))
    turn = of.turn.__name__
    d.bindings[turn] = Binding("value", turn, value=of.turn)
    d.names.used.add(turn)
    return d, turn


def _shared(loop: Normal, of) -> tuple[str, str, str, str]:
    """State, constants, turns and snapshots, as arguments have them."""
    turns, snapshots = parameter_names(loop.fn)[-2:]
    return listed(of.states), listed(of.constants), turns, snapshots


def _forward(program, loop: Normal, of, made: Derived) -> None:
    d, turn = _draft(program, loop, of)
    state, constants, turns, snapshots = _shared(loop, of)
    run = f"{d.helper('forwards')}({turn}, {state}, {constants}, {turns}, {snapshots})"
    kept = d.names.fresh("kept")
    result = listed(of.states, len(of.states) == 1)
    lines = [f"{state}, {kept} = {run}", f"return {result}, {kept}"]
    if of.changed:
        others = "".join(f", {n}={n}" for n in [*of.states, *of.constants])
        check = f'{d.helper("check_unshared")}("{" ".join(of.changed)}"{others})'
        lines.insert(0, check)
    said = "Run the loop: return the state behind it, and states on the way to keep."
    args = parameters(", ".join(parameter_names(loop.fn)))
    d.emit(made.fwd, args, said, lines)


def _backward(program, loop: Normal, of, made: Derived, active, derived) -> None:
    d, turn = _draft(program, loop, of)
    state, constants, turns, snapshots = _shared(loop, of)
    bars = {n: d.names.fresh(f"{n}_bar") for n in active}
    more = {n: d.names.fresh(f"{n}_inc") for n in active[len(of.states) :]}
    counter = parameter_names(normalise(of.turn).fn)[0]
    counter = d.names.fresh(counter)
    seeds = listed([bars[n] for n in of.states], len(of.states) == 1)
    passed = ", ".join([counter, *of.states, *of.constants])
    back = f"{d.unit(derived.grad)}({passed}, {derived.seed}={seeds})"
    parts = [bars[n] for n in of.states] + list(more.values())
    given = f"{turn}, {made.tape}, {constants}, {turns}, {snapshots}"
    run = f"{d.helper('backwards')}({given})"
    lines = [f"{seeds} = {made.seed}"]
    lines += [f"{bars[n]} = {d.helper('zero_structure')}({n})" for n in more]
    body = [f"{listed(parts, len(parts) == 1)} = {back}"]
    body += [
        f"{bars[n]} = {d.helper('added')}({bars[n]}, {m})" for n, m in more.items()
    ]
    lines.append(f"for {counter}, {state} in {run}:\n    " + "\n    ".join(body))
    result = listed([bars[n] for n in made.parameters], len(made.parameters) == 1)
    lines.append(f"return {result}")
    said = f"Run the loop backwards, from what is kept: return ``{result}``."
    text = ", ".join(parameter_names(loop.fn))
    args = parameters(f"{text}, *, {made.tape}, {made.seed}")
    d.emit(made.bwd, args, said, lines)
