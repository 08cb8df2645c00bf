"""The array libraries whose names derivatives are written in.

Rules, analyses and helpers say everything once, in NumPy's names.  A function that is
written with CuPy is read as if it were written with NumPy, and its derivative says
everything in CuPy's names::

    cp.sin       ──►  np.sin          what a name denotes, for whoever looks for a rule
    np.cos(x)    ──►  cp.cos(x)       what a rule says, in the derivative
    unbroadcast  ──►  unbroadcast     a helper, whose own text says `cp`

`NUMPY` and `CUPY` are the two libraries; a third would be another `Backend`.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator

from sct.helpers import is_helper

from . import cupy
from .backend import Backend

__all__ = ["CUPY", "NUMPY", "Backend", "library", "of_helper", "spoken", "twin"]

NUMPY = Backend("NumPy", "numpy", "np", {}, {}, numbers=True)
CUPY = Backend("CuPy", "cupy", "cp", cupy.MODULES, cupy.OTHERWISE, numbers=False)


def twin(value: object) -> object:
    """What NumPy, or SciPy, has for an object of another library; else the object.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    object
        The function of the same meaning for a function, and the helper in NumPy's names
        for one in those of another library.
    """
    return CUPY.twin(value) if CUPY.is_imported() else value


def of_helper(helper: object) -> Backend | None:
    """The library in whose names a helper is written; None for what is no helper."""
    if CUPY.is_imported() and CUPY.has_helper(helper):
        return CUPY
    return NUMPY if is_helper(helper) else None


def library(value: object) -> Backend | None:
    """The library that an object belongs to.

    Parameters
    ----------
    value : object
        A module, a function, an array or anything else.

    Returns
    -------
    Backend or None
    """
    if of_helper(value) is CUPY:
        return CUPY
    if isinstance(value, types.ModuleType):
        word = value.__name__
    else:
        word = getattr(value, "__module__", None) or type(value).__module__
    top = word.partition(".")[0] if isinstance(word, str) else ""
    return {"numpy": NUMPY, "cupy": CUPY, "cupyx": CUPY}.get(top)


def spoken(function: types.FunctionType, own: bool = False) -> Backend | None:
    """The library that a function is written with.

    Parameters
    ----------
    function : types.FunctionType
        The function.
    own : bool, optional
        Whether to look at its own text only, and not at that of functions it calls.

    Returns
    -------
    Backend or None
        CuPy if its text mentions that anywhere, else NumPy if it mentions that, or if
        nobody has imported CuPy.
    """
    if not CUPY.is_imported():
        return NUMPY
    found = None
    pending = [function]
    for f in pending:  # grows meanwhile
        for value in _mentioned(f):
            said = library(value)
            if said is CUPY:
                return CUPY
            found = found or said
            if not own and _is_plain(value) and value not in pending:
                pending.append(value)
    return found


def _is_plain(value: object) -> bool:
    """Whether a value is a function that may be written with any library."""
    if not isinstance(value, types.FunctionType):
        return False
    top = (value.__module__ or "").partition(".")[0]
    return top not in {*sys.stdlib_module_names, "numpy", "scipy", "sct"} - {"__main__"}


def _mentioned(function: types.FunctionType) -> Iterator[object]:
    """What the names in a function denote, as far as that is outside of it."""
    names: set[str] = set()
    codes = [function.__code__]
    for code in codes:  # grows meanwhile
        names.update(code.co_names)
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:
            pass
    space = function.__globals__
    for note in function.__annotations__.values():
        if isinstance(note, str):
            names.add(note.partition(".")[0].partition("[")[0])
        else:
            yield note
    yield from (space[n] for n in names if n in space)
