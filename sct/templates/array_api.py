"""Functions by which code is written for any array library.

``xp = array_namespace(x)`` finds at run time the namespace that `x` belongs to.  For
the analysis it is NumPy's, whose names all share; the text keeps saying ``xp``.
``x = xp_promote(x, xp=xp)`` hands on its argument as a floating-point array.
"""

from __future__ import annotations

ROLES = {
    ("array_namespace", "array_api_compat"): "namespace",
    ("array_namespace", "scipy"): "namespace",
    ("get_namespace", "array_api_compat"): "namespace",
    ("get_array_module", "cupy"): "namespace",
    ("xp_promote", "scipy"): "identity",
}


def role(callee: object) -> str:
    """What a function is for: ``"namespace"``, ``"identity"`` or nothing.

    Parameters
    ----------
    callee : object
        Any object that is called.

    Returns
    -------
    str
        Empty for all other functions.
    """
    module = (getattr(callee, "__module__", None) or "").split(".")[0]
    return ROLES.get((getattr(callee, "__name__", None), module), "")
