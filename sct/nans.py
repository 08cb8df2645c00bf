"""Emitted functions that look for numbers that are none, statement by statement.

::

    x_bar = out_bar / x        ->      x_bar = out_bar / x
                                       check_nan("x_bar", x_bar, "after L3: np.log(x)")
"""

from __future__ import annotations

import gast

from sct import grammar


def with_nan_checks(fn: gast.FunctionDef, helper: str, source) -> gast.FunctionDef:
    """A function that stops at the first number that is none.

    Parameters
    ----------
    fn : gast.FunctionDef
        An emitted function; it is left as it is.
    helper : str
        The name of `runtime_operators.check_nan` in it.
    source : Source
        The function that it was made from.
    """
    fn = grammar.clone(fn)
    fn.body = _block(fn.body, helper, source, "")
    return fn


def _block(body: list[gast.AST], helper: str, source, place: str) -> list[gast.AST]:
    out: list[gast.AST] = []
    for s in body:
        if isinstance(s, grammar.Comment):
            place = s.text if s.text.startswith("L") else ""
        line = getattr(s, "lineno", None)
        here = place
        if not here and isinstance(line, int) and source.line(line):
            here = f"L{line}: {source.line(line)}"
        for inner in grammar.blocks(s):
            inner[:] = _block(inner, helper, source, place)
        if isinstance(s, gast.Return) and s.value is not None:
            if not isinstance(s.value, (gast.Name, gast.Tuple, gast.Constant)):
                s.value = _check(helper, "result", s.value, here)
        out.append(s)
        if isinstance(s, (gast.Assign, gast.AugAssign)):
            names = [n for n in grammar.writes(s) if n != "_"]
            names += [n for n in grammar.mutates(s) if n not in names]
            out += [gast.Expr(_check(helper, n, grammar.name(n), here)) for n in names]
    return out


def _check(helper: str, word: str, value: gast.AST, place: str) -> gast.AST:
    said = f"after {place}" if place else "in the forward sweep"
    return grammar.call(helper, grammar.constant(word), value, grammar.constant(said))
