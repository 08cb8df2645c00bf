"""Names changed inside a tree, each in the scope that it belongs to.

::

    {t: x}:   y = t * k; h = lambda t: t + k   ->   y = x * k; h = lambda t: t + k

Parameters and local names of a function inside, and targets of a comprehension, are
their own: they stay, and what they hide stays hidden.
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from . import grammar
from .grammar import all_writes, outer_names, target_names

FUNCTIONS = (gast.Lambda, gast.FunctionDef)
COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


class Captured(Exception):
    """A new name would be taken for one that an inner scope binds."""


def rename(nodes: list[gast.AST], names: Mapping[str, str]) -> None:
    """Change names of some trees in place.

    Parameters
    ----------
    nodes : list of trees
        Statements or expressions of one scope.
    names : mapping of str to str
        Old name → new name.

    Raises
    ------
    Captured
        When an inner scope has a name of its own that is one of the new ones.
        The trees may then be half changed.
    """
    stack = [(n, dict(names)) for n in nodes]
    while stack:
        node, known = stack.pop()
        if isinstance(node, gast.Name):
            node.id = known.get(node.id, node.id)
            stack += [(node.annotation, known)] if node.annotation else []
        elif isinstance(node, FUNCTIONS):
            if isinstance(node, gast.FunctionDef):
                node.name = known.get(node.name, node.name)
            inner = _inside(node, own_names(node), known)
            stack += [(n, known) for n in outside(node)]
            body = node.body if isinstance(node.body, list) else [node.body]
            stack += [(n, inner) for n in body]
        elif isinstance(node, COMPREHENSIONS):
            inner = _inside(node, own_names(node), known)
            first = node.generators[0].iter
            stack.append((first, known))
            stack += [(n, inner) for n in _parts(node) if n is not first]
        else:
            stack += [(n, known) for n in grammar.children(node)]


def own_names(scope: gast.AST) -> set[str]:
    """The names that a function, lambda or comprehension binds for itself."""
    if isinstance(scope, COMPREHENSIONS):
        return {n for g in scope.generators for n in target_names(g.target)}
    a = scope.args
    given = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    own = {p.id for p in given if p}
    if isinstance(scope, gast.FunctionDef):
        own |= all_writes(scope.body) - outer_names(scope.body)
    return own


def captured_names(nodes: list[gast.AST]) -> set[str]:
    """The names that functions and comprehensions inside some trees mention."""
    found: set[str] = set()
    for node in nodes:
        for scope in grammar.nodes(node):
            if isinstance(scope, (*FUNCTIONS, *COMPREHENSIONS)):
                inside = grammar.nodes(scope)
                found |= {n.id for n in inside if isinstance(n, gast.Name)}
    return found


def outside(function: gast.AST) -> list[gast.AST]:
    """What of a function or lambda is evaluated where it stands."""
    a = function.args
    found = [*a.defaults, *[d for d in a.kw_defaults if d]]
    if isinstance(function, gast.FunctionDef):
        found += function.decorator_list
    return found


def _inside(node, own: set[str], known: Mapping[str, str]) -> dict[str, str]:
    inner = {old: new for old, new in known.items() if old not in own}
    mentioned = {n.id for n in grammar.nodes(node) if isinstance(n, gast.Name)}
    if any(new in own and old in mentioned for old, new in inner.items()):
        raise Captured
    return inner


def _parts(comprehension: gast.AST) -> list[gast.AST]:
    found = [
        n for n in grammar.children(comprehension) if n not in comprehension.generators
    ]
    for g in comprehension.generators:
        found += [g.target, g.iter, *g.ifs]
    return found
