"""Documents: text that says where it may be broken, and the choice of where it is.

Promises that `render` breaks as few groups as it can, outermost first, so that lines
stay within the width::

    Group(["f(", Indent([Line(), "a,", Line(" "), "b"]), IfBroken(","), Line(), ")"])

is ``f(a, b)`` where that fits, and else one item per line with a trailing comma.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

INDENT = 4
WIDTH = 88


@dataclass(frozen=True)
class Line:
    """A place for a line break; the text `flat` where none is needed."""

    flat: str = ""


@dataclass(frozen=True)
class IfBroken:
    """Text that stands only where the group around it is broken."""

    text: str


@dataclass(frozen=True)
class Indent:
    """A document whose lines stand one level deeper."""

    content: Doc


@dataclass(frozen=True)
class Group:
    """A document whose own lines are all broken, or none."""

    content: Doc


Doc = str | list | Line | IfBroken | Indent | Group


def bracketed(left: str, content: Doc, right: str) -> Group:
    """`content` in brackets, on lines of its own where it does not fit between them."""
    return Group([left, Indent([Line(), content]), Line(), right])


def separated(items: Iterable[Doc]) -> list:
    """`items` with commas between, and one at the end of several broken lines."""
    items = list(items)
    doc: list = []
    for item in items[:-1]:
        doc += [item, ",", Line(" ")]
    doc += items[-1:]
    if len(items) > 1:
        doc.append(IfBroken(","))
    return doc


def flat(doc: Doc) -> str:
    """The text of a document on one line."""
    parts: list[str] = []
    stack = [doc]
    while stack:
        d = stack.pop()
        if isinstance(d, str):
            parts.append(d)
        elif isinstance(d, list):
            stack.extend(reversed(d))
        elif isinstance(d, Line):
            parts.append(d.flat)
        elif isinstance(d, (Indent, Group)):
            stack.append(d.content)
    return "".join(parts)


def render(doc: Doc, indent: int = 0, width: int = WIDTH) -> str:
    """Lay a document out.

    Parameters
    ----------
    doc : Doc
        What to print; it starts in column `indent`.
    indent : int
        Columns before the first line (not printed) and the lines after it (printed).
    width : int
        The column that no line should pass.

    Returns
    -------
    str
        The lines, without a newline at the end.
    """
    parts: list[str] = []
    column = indent
    stack: list[tuple[int, bool, Doc]] = [(indent, True, doc)]
    while stack:
        level, broken, d = stack.pop()
        if isinstance(d, str):
            parts.append(d)
            column += len(d)
        elif isinstance(d, list):
            stack.extend((level, broken, item) for item in reversed(d))
        elif isinstance(d, Indent):
            stack.append((level + INDENT, broken, d.content))
        elif isinstance(d, Group):
            whole = not broken or _fits(d.content, stack, width - column)
            stack.append((level, not whole, d.content))
        elif isinstance(d, IfBroken):
            if broken:
                stack.append((level, broken, d.text))
        elif broken:
            parts.append("\n" + " " * level)
            column = level
        else:
            parts.append(d.flat)
            column += len(d.flat)
    return "".join(parts)


def _fits(doc: Doc, after: list[tuple[int, bool, Doc]], room: int) -> bool:
    """Whether `doc` fits flat, with what follows it up to the next possible break."""
    stack: list[tuple[bool, Doc]] = [(False, doc)]
    following = len(after)
    while room >= 0:
        if not stack:
            if not following:
                return True
            following -= 1
            stack.append(after[following][1:])
        broken, d = stack.pop()
        if isinstance(d, str):
            room -= len(d)
        elif isinstance(d, list):
            stack.extend((broken, item) for item in reversed(d))
        elif isinstance(d, (Indent, Group)):
            stack.append((broken, d.content))
        elif isinstance(d, IfBroken):
            room -= len(d.text) if broken else 0
        elif broken:
            return True
        else:
            room -= len(d.flat)
    return False
