"""Whether it matters to a function that elements and sums of arrays are numbers.

It does where one is written into by way of another name, or its array is::

    v = x[0]                 s = np.sum(x)
    x[0] = 5.0               t = s
    return v                 s += 1.0

With NumPy `v` and `t` stay what they were; in libraries where elements and sums are
arrays without axes, they change.
"""

from __future__ import annotations

import gast

from sct import grammar


def matter(fn: gast.FunctionDef, parameters: list[str]) -> bool:
    """Whether a function may write into an element or a sum that has another name.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function in ANF.
    parameters : list of str
        The names of its parameters.

    Returns
    -------
    bool
        False where that certainly is not so.
    """
    every = list(grammar.statements(fn.body))
    places = [p for s in every for p in grammar.places(s)]
    if any(_may_be_element(p) for p in places):
        return True
    added = {
        s.target.id
        for s in every
        if isinstance(s, gast.AugAssign) and isinstance(s.target, gast.Name)
    }
    lent = set(parameters)
    for s in every:
        value = getattr(s, "value", None)
        if not isinstance(s, (gast.Assign, gast.Expr)) or value is None:
            continue
        if isinstance(value, gast.Subscript) and _may_be_element(value) and places:
            return True
        if isinstance(value, (gast.BinOp, gast.UnaryOp, gast.Compare)):
            continue
        if not isinstance(value, gast.Call) or isinstance(s, gast.Expr):
            # Copies, items of displays and parts: what is bound and what it is made of.
            lent |= {*grammar.writes(s), *grammar.names_read(value)} - _constants(s)
    return bool(added & lent)


def _constants(stmt: gast.AST) -> set[str]:
    """What a statement binds to a literal."""
    literal = isinstance(getattr(stmt, "value", None), gast.Constant)
    return set(grammar.writes(stmt)) if literal else set()


def _may_be_element(place: gast.AST) -> bool:
    """Whether a path may lead to a single element of an array."""
    index = getattr(place, "slice", None)
    parts = index.elts if isinstance(index, gast.Tuple) else [index]
    keys = (isinstance(p, gast.Constant) and isinstance(p.value, str) for p in parts)
    slices = (isinstance(p, gast.Slice) for p in parts)
    return index is not None and not any(slices) and not any(keys)
