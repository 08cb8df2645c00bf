"""Imports inside a function: done once, before it is read any further.

::

    def f(x):
        from numpy import sin     ->    def f(x):
        return sin(x)                       return sin(x)        # sin: numpy.sin

The name is then known as one of the module's own is, and the derivative's module
imports it at its top.  Only what is imported already, the standard library, NumPy,
SciPy and CuPy are imported here: other modules may do anything at all when they first
are.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys

import gast

from .errors import unsupported
from .grammar import clone, located
from .resolve import MISSING, Binding

SAFE = frozenset({*sys.stdlib_module_names, "numpy", "scipy", "cupy", "cupyx"})
UNKNOWN = (
    "an `import` inside a function",
    "`{}` is not imported yet, and importing it might do anything",
    "Import it at the top of the module.",
)
SHARED = (
    "an `import` inside a function",
    "its name `{}` is given to something else as well",
    "Import at the top of the module, or under a name of its own.",
)


def without_imports(
    tree: gast.FunctionDef, source, package: str
) -> tuple[gast.FunctionDef, dict[str, Binding]]:
    """A function without its imports, and what they bind.

    Parameters
    ----------
    tree : gast.FunctionDef
        The function as the user wrote it; it is left as it is.
    source : Source
        Where it was written.
    package : str
        What relative imports are relative to.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.
    dict
        Name → binding.
    """
    kinds = (gast.Import, gast.ImportFrom)
    if not any(isinstance(n, kinds) for n in gast.walk(tree)):
        return tree, {}
    tree = clone(tree)
    found: dict[str, Binding] = {}
    stack: list[gast.AST] = [tree]
    while stack:
        node = stack.pop()
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if not isinstance(block, list):
                continue
            kept = []
            for s in block:
                if not isinstance(s, kinds):
                    kept.append(s)
                    continue
                for name, binding in _bound(s, source, package):
                    known = found.setdefault(name, binding)
                    if known.value is not binding.value:
                        _refuse(source, s, SHARED, name)
                    found[name] = binding
            block[:] = kept or ([located(gast.Pass(), block[0])] if block else [])
        stack.extend(n for n in gast.iter_child_nodes(node) if _has_blocks(n))
    _require_own(tree, found, source)
    return tree, found


def _has_blocks(node: gast.AST) -> bool:
    return isinstance(node, (gast.stmt, gast.ExceptHandler, gast.match_case))


def _require_own(tree, found: dict[str, Binding], source) -> None:
    """See to it that an imported name is bound by nothing else."""
    for n in gast.walk(tree):
        id = n.id if isinstance(n, gast.Name) else getattr(n, "name", None)
        load = isinstance(n, gast.Name) and isinstance(n.ctx, gast.Load)
        if not load and isinstance(id, str) and id in found:
            at = n if getattr(n, "lineno", None) else tree
            _refuse(source, at, SHARED, id)


def _bound(s, source, package: str) -> list[tuple[str, Binding]]:
    out = []
    for alias in s.names:
        if isinstance(s, gast.Import):
            whole = _module(alias.name, s, source)
            top = alias.name.split(".")[0]
            value = whole if alias.asname else sys.modules[top]
            name = alias.asname or top
            out.append((name, Binding("module", value.__name__, value=value)))
            continue
        relative = "." * (s.level or 0) + (s.module or "")
        origin = importlib.util.resolve_name(relative, package) if s.level else s.module
        module = _module(origin, s, source)
        value = getattr(module, alias.name, MISSING)
        if value is MISSING:
            value = _module(f"{origin}.{alias.name}", s, source)
        binding = Binding("global", alias.name, origin, value)
        if isinstance(value, type(sys)):
            binding = Binding("module", value.__name__, value=value)
        out.append((alias.asname or alias.name, binding))
    return out


def _module(name: str, s, source):
    if name not in sys.modules and name.split(".")[0] not in SAFE:
        _refuse(source, s, UNKNOWN, name)
    try:
        return importlib.import_module(name)
    except ImportError:
        _refuse(source, s, UNKNOWN, name)


def _refuse(source, node, entry: tuple[str, str, str], name: str) -> None:
    what, why, instead = entry
    raise unsupported(source, node, what, why.format(name), instead)
