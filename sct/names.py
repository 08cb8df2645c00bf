"""Names made up by sct: fresh, and saying what they hold.

A temporary is named after the operation that it holds::

    a / x       ->  quot
    np.exp(z)   ->  exp
    x.sum()     ->  sum_        (`sum` is a builtin)
    u[1:-1]     ->  u_item
    p["w"]      ->  w

and takes the smallest suffix that is free (``quot_2``) when the word is taken.
"""

from __future__ import annotations

import builtins
import keyword

import gast

from sct import grammar

RESERVED = (
    frozenset(dir(builtins)) | frozenset(keyword.kwlist) | {"match", "case", "type"}
)

OPERATORS = {
    gast.Add: "sum",
    gast.Sub: "diff",
    gast.Mult: "prod",
    gast.Div: "quot",
    gast.FloorDiv: "floor",
    gast.Mod: "rem",
    gast.MatMult: "matmul",
    gast.Pow: "power",
    gast.LShift: "shift",
    gast.RShift: "shift",
    gast.BitOr: "bits",
    gast.BitAnd: "bits",
    gast.BitXor: "bits",
    gast.USub: "neg",
    gast.UAdd: "pos",
    gast.Invert: "bits",
    gast.Not: "test",
}
KINDS = {
    gast.Compare: "test",
    gast.BoolOp: "choice",
    gast.IfExp: "choice",
    gast.Lambda: "function",
    gast.Tuple: "items",
    gast.List: "items",
    gast.ListComp: "items",
    gast.GeneratorExp: "items",
    gast.Set: "items",
    gast.SetComp: "items",
    gast.Dict: "table",
    gast.DictComp: "table",
    gast.JoinedStr: "text",
    gast.Constant: "const",
}


def noun(node: gast.AST) -> str:
    """The word for what an operation gives.

    Parameters
    ----------
    node : gast.AST
        An expression.

    Returns
    -------
    str
        A word, which may be that of a builtin (``"sum"``): `Names.fresh` makes
        a variable of it.
    """
    if isinstance(node, (gast.BinOp, gast.UnaryOp)):
        return OPERATORS[type(node.op)]
    if isinstance(node, gast.Call):
        word = _last_word(node.func) or "value"
        # `g(x)` is a value of g; the word itself is that function's name.
        own = isinstance(node.func, gast.Name) and word not in RESERVED
        return f"{word}_value" if own else word
    if isinstance(node, gast.Subscript):
        key = getattr(node.slice, "value", None)
        if isinstance(key, str) and key.isidentifier():
            return key.strip("_") or "item"
        base = _last_word(node.value)
        return f"{base}_item" if base else "item"
    if isinstance(node, (gast.Attribute, gast.Name)):
        return _last_word(node)
    if isinstance(node, gast.Starred):
        return noun(node.value)
    return KINDS.get(type(node), "value")


def _last_word(node: gast.AST) -> str:
    if isinstance(node, gast.Attribute):
        return node.attr.strip("_") or "value"
    if isinstance(node, gast.Name):
        return node.id.rstrip("_") or "value"
    return ""


class Names:
    """A supply of names, none of which is taken.

    Parameters
    ----------
    used : set of str
        The names that are taken already.
    """

    def __init__(self, used: set[str]):
        self.used = set(used)
        self._last: dict[str, int] = {}

    def fresh(self, base: str) -> str:
        """A name that nobody uses: `base`, or `base` with the smallest suffix."""
        plain = f"{base}_" if base in RESERVED else base
        if plain not in self.used:
            self.used.add(plain)
            return plain
        # Suffixes below the last one given are taken for good.
        n = self._last.get(base, 1) + 1
        while f"{base}_{n}" in self.used:
            n += 1
        self._last[base] = n
        self.used.add(f"{base}_{n}")
        return f"{base}_{n}"


def used_names(tree: gast.AST) -> set[str]:
    """All names that a tree mentions, whatever for."""
    found = set()
    for n in grammar.nodes(tree):
        if isinstance(n, gast.Name):
            found.add(n.id)
        elif isinstance(n, (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)):
            found.add(n.name)
        elif isinstance(n, gast.alias):
            found.add((n.asname or n.name).split(".")[0])
        elif isinstance(n, (gast.Global, gast.Nonlocal)):
            found.update(n.names)
        elif isinstance(n, (gast.MatchAs, gast.MatchStar)) and n.name:
            found.add(n.name)
        elif isinstance(n, gast.MatchMapping) and n.rest:
            found.add(n.rest)
    return found
