"""Rules of functions that choose among values, or interpolate between them.

``y = np.choose(k, [u, v])``  →  ``u_bar = np.where(k == 0, y_bar, 0.0)``
"""

from __future__ import annotations

import numpy as np

from sct.runtime import unbroadcast
from sct.runtime_elementwise import (
    choose_adjoint,
    extremum_adjoint,
    extremum_tangent,
    interp_adjoint_fp,
    interp_adjoint_xp,
    interp_places,
    interp_slopes,
    interp_tangent_fp,
    select_adjoint,
    unchosen,
)

from .registry import adjoint, nondifferentiable, tangent

nondifferentiable(unchosen, interp_places)


@adjoint(np.select, wrt=("choicelist", "default"), zero=("condlist",), jointly=True)
def select(out, condlist, choicelist, default=0, *, out_bar):
    choicelist_bar = select_adjoint(out_bar, condlist, choicelist)
    default_bar = unbroadcast(np.where(unchosen(condlist), out_bar, 0.0), default)
    return choicelist_bar, default_bar


@adjoint(select_adjoint, wrt=("g",), zero=("choicelist",), linear=True)
def select_(out, g, condlist, choicelist, *, out_bar):
    g_bar = np.select(condlist, out_bar, 0.0) + np.zeros_like(g)
    return g_bar


@adjoint(np.choose, wrt=("choices",), zero=("a",), linear=True)
def choose(out, a, choices, *, mode="raise", out_bar):
    choices_bar = choose_adjoint(out_bar, a, choices, mode)
    return choices_bar


@adjoint(choose_adjoint, wrt=("g",), zero=("choices",), linear=True)
def choose_(out, g, a, choices, mode="raise", *, out_bar):
    g_bar = np.choose(a, out_bar, mode=mode)
    return g_bar


@adjoint(np.interp, wrt=("x", "xp", "fp", "left", "right"))
def interp(out, x, xp, fp, left=None, right=None, *, out_bar):
    x_bar = out_bar * interp_slopes(x, xp, fp)
    xp_bar = interp_adjoint_xp(out_bar, x, xp, fp)
    fp_bar = interp_adjoint_fp(out_bar, x, xp, fp, left, right)
    left_bar = np.sum(np.where(np.less(x, np.take(xp, 0)), out_bar, 0.0))
    right_bar = np.sum(np.where(np.greater(x, np.take(xp, -1)), out_bar, 0.0))
    return x_bar, xp_bar, fp_bar, left_bar, right_bar


@tangent(np.interp)
def interp_tangent(
    out,
    x,
    xp,
    fp,
    left=None,
    right=None,
    *,
    x_dot,
    xp_dot,
    fp_dot,
    left_dot,
    right_dot,
):
    slopes = interp_slopes(x, xp, fp)
    from_x = slopes * x_dot
    from_xp = -slopes * np.interp(x, xp, xp_dot)
    from_fp = interp_tangent_fp(x, xp, fp_dot, left, right)
    from_left = np.where(np.less(x, np.take(xp, 0)), left_dot, 0.0)
    from_right = np.where(np.greater(x, np.take(xp, -1)), right_dot, 0.0)
    return from_x, from_xp, from_fp, from_left, from_right


def largest(items):
    """``max(items)``."""
    return max(items)


def least(items):
    """``min(items)``."""
    return min(items)


OF_ITEMS: dict[object, object] = {max: largest, min: least}
"""The function here that a builtin is when it is given one argument."""


# Equal items share.
@adjoint(largest, least)
def extremum(out, items, *, out_bar):
    items_bar = extremum_adjoint(out_bar, out, items)
    return items_bar


@tangent(largest, least)
def extremum_dot(out, items, *, items_dot):
    return extremum_tangent(out, items, items_dot)
