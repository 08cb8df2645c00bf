"""A function object to its source text, its tree, and where both stand.

The file is parsed whole and the function looked up in it by line and name, so
nested functions need no dedenting and every position is that of the file::

    parse(f)  ->  Source(f, "f", "model.py", first_line=11, tree=<def f(x): ...>)

What is found is compiled and compared with the function's own code: a file
edited since it was imported is an error, not the derivative of something else.
"""

from __future__ import annotations
import __future__

import ast
import copy
import dis
import hashlib
import inspect
import linecache
import types
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from pathlib import PurePath

import gast

from .errors import SourceError, unsupported

FUTURE = reduce(
    lambda flags, name: flags | getattr(__future__, name).compiler_flag,
    __future__.all_feature_names,
    0,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
# Where a derivative says which of its names are others in the text of its module.
SPELLING = "__sct_names__"
POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


@dataclass(frozen=True, eq=False)
class Source:
    """A function together with its text.

    Attributes
    ----------
    function : types.FunctionType
        The function itself.
    name : str
        Its name; ``"lambda_"`` for a lambda.
    filename : str
        Where the text stands, as the code object says it.
    first_line, last_line : int
        The lines of the file it takes, decorators included.
    lines : tuple of str
        All lines of the file.
    tree : gast.FunctionDef
        Its tree, with lines and columns of the file.  A lambda stands as a
        function with one ``return``.
    """

    function: types.FunctionType
    name: str
    filename: str
    first_line: int
    last_line: int
    lines: tuple[str, ...]
    tree: gast.FunctionDef

    def line(self, number: int) -> str:
        """The text of one line, stripped; empty when there is no such line."""
        if 1 <= number <= len(self.lines):
            return self.lines[number - 1].strip()
        return ""

    def name_at(self, number: int) -> str:
        """The function that a line of the file belongs to, for messages.

        What was written out where it is called keeps its own lines.
        """
        if self.first_line <= number <= self.last_line:
            return self.name
        around = [
            n
            for n in ast.walk(ast.parse("".join(self.lines)))
            if isinstance(n, FUNCTIONS) and n.lineno <= number <= n.end_lineno
        ]
        around.sort(key=lambda n: n.lineno)
        return getattr(around[-1], "name", "lambda_") if around else self.name

    @property
    def text(self) -> str:
        """The lines of the function, as in the file."""
        return "".join(self.lines[self.first_line - 1 : self.last_line])

    @property
    def place(self) -> str:
        """File and lines, without folders: ``model.py:11-12``."""
        lines = f"{self.first_line}"
        if self.last_line != self.first_line:
            lines += f"-{self.last_line}"
        return f"{PurePath(self.filename).name}:{lines}"

    @cached_property
    def digest(self) -> str:
        """Twelve hex digits that change with the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:12]


def parse(function: types.FunctionType) -> Source:
    """The source of a function.

    Parameters
    ----------
    function : types.FunctionType
        A function defined by ``def`` or ``lambda``, at any depth.

    Returns
    -------
    Source
        Its text, tree and place.

    Raises
    ------
    SourceError
        When there is no text, or it is not the text of this function.
    """
    if not inspect.isfunction(function):
        shown = getattr(function, "__name__", None) or type(function).__name__
        raise SourceError(
            f"`{shown}` has no Python source: it is a {type(function).__name__}, "
            "not a function written in Python. Wrap it in a `def`, or register a "
            "rule for it with `@sct.adjoint`."
        )
    code = function.__code__
    filename = code.co_filename
    linecache.checkcache(filename)
    lines = linecache.getlines(filename, function.__globals__)
    if not lines:
        raise SourceError(
            f"cannot find the source of `{function.__qualname__}`: {filename!r} "
            "holds no text. Define the function in a file or a notebook cell."
        )
    node = _find(function, lines)
    spelling = getattr(function, SPELLING, None)
    if spelling:
        node = respelled(copy.deepcopy(node), spelling)
    source = _source(function, node, lines)
    if isinstance(node, ast.AsyncFunctionDef):
        raise unsupported(
            source,
            source.tree,
            "`async def`",
            "its result is a coroutine, not a value",
            "Write the computation as a plain `def`.",
        )
    return source


def respelled(node: ast.FunctionDef, names: dict[str, str]) -> ast.FunctionDef:
    """The function in the names of its own unit, on the lines of the module."""
    node.name = names.get(node.name, node.name)
    for n in ast.walk(node):
        if isinstance(n, ast.Name):
            n.id = names.get(n.id, n.id)
        elif isinstance(n, ast.arg):
            n.arg = names.get(n.arg, n.arg)
    return node


def _source(function, node: ast.AST, lines: list[str]) -> Source:
    tree = gast.ast_to_gast(node)
    if isinstance(node, ast.Lambda):
        tree = _as_def(tree)
    return Source(
        function=function,
        name=tree.name,
        filename=function.__code__.co_filename,
        first_line=_first_line(node),
        last_line=node.end_lineno,
        lines=tuple(lines),
        tree=tree,
    )


def _as_def(tree: gast.Lambda) -> gast.FunctionDef:
    result = gast.copy_location(gast.Return(tree.body), tree.body)
    function = gast.FunctionDef(
        name="lambda_",
        args=tree.args,
        body=[result],
        decorator_list=[],
        returns=None,
        type_comment=None,
        type_params=[],
    )
    return gast.copy_location(function, tree)


def _first_line(node: ast.AST) -> int:
    """The line a code object calls its first: that of the first decorator."""
    return min([node.lineno, *[d.lineno for d in getattr(node, "decorator_list", [])]])


def _find(function: types.FunctionType, lines: list[str]) -> ast.AST:
    """The node of the file whose compiled code is the function's."""
    code = function.__code__
    try:
        found = _functions("".join(lines), code.co_flags & FUTURE)
    except (SyntaxError, ValueError) as error:
        raise _stale(function, f"it does not parse: {error}") from None
    candidates = found.get((code.co_name, code.co_firstlineno), [])
    if not candidates:
        raise _stale(function, f"no such function starts at line {code.co_firstlineno}")
    if len(candidates) == 1 and _registered(code.co_filename):
        return candidates[0][0]
    # Two functions of one line with equal code are one function to us.
    own = _fingerprint(code)
    exact = [n for n, c in candidates if _fingerprint(c) == own]
    if exact:
        return exact[0]
    near = [n for n, c in candidates if _rewritten(c, code)]
    if not near:
        raise _stale(function, f"line {code.co_firstlineno} now holds other code")
    if len(near) > 1:
        raise SourceError(
            f"line {code.co_firstlineno} of {code.co_filename!r} holds several "
            "functions that this one may be. Give it a `def` of its own."
        )
    return near[0]


def _registered(filename: str) -> bool:
    """Whether the text was put into linecache by a program, so that no edit reaches it.

    This holds for notebook cells and for what sct emits.
    """
    entry = linecache.cache.get(filename, ())
    return len(entry) > 1 and entry[1] is None


def _stale(function: types.FunctionType, detail: str) -> SourceError:
    return SourceError(
        f"{function.__code__.co_filename!r} is no longer the source of "
        f"`{function.__qualname__}`: {detail}. The file changed after it was "
        "imported; import it again."
    )


@lru_cache(maxsize=16)
def _functions(text: str, flags: int) -> dict[tuple[str, int], list]:
    """All functions of a file as (node, code), by name and first line.

    The file is compiled whole: the code of a function depends on what stands
    around it (closures, names of classes, imports).
    """
    tree = ast.parse(text)
    nodes = [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)]
    nodes.sort(key=lambda n: (n.lineno, n.col_offset))
    keys = [(getattr(n, "name", "<lambda>"), _first_line(n)) for n in nodes]
    positions = [{p: getattr(n, p) for p in POSITION} for n in nodes]

    # Several lambdas may start on one line, so each is compiled on a line of its own.
    beyond = text.count("\n") + 2
    marks = list(keys)
    for i, node in enumerate(nodes):
        if isinstance(node, ast.Lambda):
            line = beyond + i
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
            marks[i] = ("<lambda>", line)
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    codes = {
        (c.co_name, c.co_firstlineno): c
        for c in _nested(compile(tree, "<source>", "exec", flags, dont_inherit=True))
    }

    found: dict[tuple[str, int], list] = {}
    for node, key, position, mark in zip(nodes, keys, positions, marks, strict=True):
        vars(node).update(position)
        if mark in codes:
            found.setdefault(key, []).append((node, codes[mark]))
    return found


def _nested(code: types.CodeType) -> Iterator[types.CodeType]:
    """The code objects inside `code`."""
    pending = [code]
    while pending:
        inner = [c for c in pending.pop().co_consts if isinstance(c, types.CodeType)]
        yield from inner
        pending += inner


def _fingerprint(code: types.CodeType) -> Hashable:
    """What of a code object decides what it computes, positions left out."""
    return (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_kwonlyargcount,
        tuple(
            _fingerprint(c) if isinstance(c, types.CodeType) else (type(c), repr(c))
            for c in code.co_consts
        ),
    )


def _rewritten(found: types.CodeType, code: types.CodeType) -> bool:
    """Whether `code` is `found` with something added, as import hooks do.

    pytest, for one, rewrites the assertions of test modules on import.
    """
    parameters = code.co_argcount + code.co_kwonlyargcount
    if found.co_varnames[:parameters] != code.co_varnames[:parameters]:
        return False
    extra = _vocabulary(code) - _vocabulary(found)
    return bool(extra) and _vocabulary(found) <= _vocabulary(code)


def _vocabulary(code: types.CodeType) -> set[Hashable]:
    """The names and constants that instructions mention."""
    words: set[Hashable] = set()
    for instruction in dis.get_instructions(code):
        value = instruction.argval
        if isinstance(value, (str, int, float, complex)) and (
            instruction.opcode in dis.hasconst or isinstance(value, str)
        ):
            words.add((type(value), repr(value)))
    return words
