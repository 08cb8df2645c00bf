"""Every error that sct itself raises, and the one way to show its place.

An error with a place prints the user's line with a caret under the construct::

    `try` cannot be differentiated: which statements ran is known only at run time
      File "model.py", line 12, in loss
        try:
        ^^^
      Test the condition beforehand with `if`.
"""

from __future__ import annotations


class SctError(Exception):
    """Any error raised by sct.

    Attributes
    ----------
    filename : str or None
        The file of the construct at fault.
    lineno, offset : int or None
        Its line and column, both counted from one.
    text : str or None
        The source line.
    """

    filename: str | None = None
    lineno: int | None = None
    offset: int | None = None
    text: str | None = None


class UnsupportedError(SctError, NotImplementedError):
    """A construct that cannot be differentiated."""


class SourceError(SctError, OSError):
    """A function whose source cannot be read."""


class NonDifferentiableError(SctError, TypeError):
    """A derivative was asked for where there is none."""


class ArgumentError(SctError, TypeError):
    """Arguments that do not fit the function."""


class CheckError(SctError, AssertionError):
    """A derivative disagrees with central differences."""


class RuleError(SctError, TypeError):
    """A template that does not say what a rule must say."""


def unsupported(source, node, what: str, why: str, instead: str) -> UnsupportedError:
    """The error for a construct that cannot be differentiated.

    Parameters
    ----------
    source : Source
        The function's source.
    node : gast.AST
        The construct, with file line numbers.
    what : str
        The construct in a word, such as ```` `try` ````.
    why : str
        Why it is refused.
    instead : str
        What to write instead, one sentence.

    Returns
    -------
    UnsupportedError
        To be raised by the caller.
    """
    line = source.lines[node.lineno - 1].rstrip()
    text = line.strip()
    indent = len(line) - len(line.lstrip())
    start = _characters(line, getattr(node, "col_offset", 0) or 0)
    end = start + 1
    if getattr(node, "end_col_offset", None):
        end = len(line)
        if node.end_lineno == node.lineno:
            end = _characters(line, node.end_col_offset)
    caret = " " * max(start - indent, 0) + "^" * max(end - start, 1)
    error = UnsupportedError(
        f"{what} cannot be differentiated: {why}\n"
        f'  File "{source.filename}", line {node.lineno}, in {source.name}\n'
        f"    {text}\n"
        f"    {caret}\n"
        f"  {instead}"
    )
    error.filename, error.lineno = source.filename, node.lineno
    error.offset, error.text = start + 1, text
    return error


def _characters(line: str, column: int) -> int:
    """The index in characters of a column that the parser counts in UTF-8 bytes."""
    return len(line.encode()[:column].decode(errors="ignore"))
