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


class UnknownCallError(UnsupportedError):
    """A call of which only running it tells what it calls."""


class SourceError(SctError, OSError):
    """A function whose source cannot be read."""


class NonDifferentiableError(SctError, TypeError):
    """A derivative was asked for where there is none."""


class ArgumentError(SctError, TypeError):
    """Arguments that do not fit the function."""


class NanError(SctError, FloatingPointError):
    """A derivative that is not a number, where `check_nan` looks."""


class ConvergenceError(SctError, RuntimeError):
    """An iteration that did not come to an end."""


class CheckError(SctError, AssertionError):
    """A derivative disagrees with central differences."""


class RuleError(SctError, TypeError):
    """A template that does not say what a rule must say."""


def unsupported(
    source,
    node,
    what: str,
    why: str,
    instead: str,
    kind: type[UnsupportedError] = UnsupportedError,
) -> UnsupportedError:
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
    kind : type, optional
        The class of the error.

    Returns
    -------
    UnsupportedError
        To be raised by the caller.
    """
    error = kind(
        f"{what} cannot be differentiated: {why}\n{_shown(source, node)}\n  {instead}"
    )
    _locate(error, source, node)
    return error


def led_to(error: SctError, source, node) -> None:
    """Add the call that led to an error to its message.

    Parameters
    ----------
    error : SctError
        Raised while a function that is called was looked at.
    source : Source
        The function that calls it.
    node : gast.AST
        The call, with file line numbers.
    """
    error.args = (f"{error}\n  Called here:\n{_shown(source, node)}",)
    if error.filename is None:
        _locate(error, source, node)


def _locate(error: SctError, source, node) -> None:
    line = source.lines[node.lineno - 1]
    error.filename, error.lineno = source.filename, node.lineno
    error.offset, error.text = _columns(line, node)[0] + 1, line.strip()


def _shown(source, node) -> str:
    """The place of a construct as a traceback shows it."""
    line = source.lines[node.lineno - 1].rstrip()
    start, end = _columns(line, node)
    indent = len(line) - len(line.lstrip())
    return (
        f'  File "{source.filename}", line {node.lineno}, '
        f"in {source.name_at(node.lineno)}\n"
        f"    {line.strip()}\n"
        f"    {' ' * max(start - indent, 0)}{'^' * max(end - start, 1)}"
    )


def _columns(line: str, node) -> tuple[int, int]:
    """Where a construct begins and ends in its first line, in characters."""
    start = _characters(line, getattr(node, "col_offset", 0) or 0)
    end = start + 1
    if getattr(node, "end_col_offset", None):
        end = len(line.rstrip())
        if node.end_lineno == node.lineno:
            end = _characters(line, node.end_col_offset)
    return start, end


def _characters(line: str, column: int) -> int:
    """The index in characters of a column that the parser counts in UTF-8 bytes."""
    return len(line.encode()[:column].decode(errors="ignore"))
