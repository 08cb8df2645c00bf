"""Derivative trees to text, laid out as ``ruff format`` leaves it.

Promises that the text parses back to the tree, that comments stand where the tree has
them, and that the layout depends on nothing but the tree::

    AugAssign(x_bar, Add, BinOp(out_bar, Mult, y))   ->   x_bar += out_bar * y
    Comment("Backward sweep.", blank=True)           ->   (empty line) # Backward sweep.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from itertools import pairwise

import gast
from astor.code_gen import SourceGenerator

from sct import phrases
from sct.grammar import Comment, Probe, clone
from sct.layout import (
    INDENT,
    WIDTH,
    Doc,
    Group,
    Indent,
    Line,
    bracketed,
    flat,
    render,
    separated,
)
from sct.phrases import ATOM, NAMED, TEST, TUPLE, Phrases, kind, level, operands, symbol


class _Rare(SourceGenerator):
    """astor's generator for what `Phrases` leaves to it; the parts go back to ours."""

    def __init__(self, root: ast.AST, need: int):
        super().__init__(" " * INDENT)
        self.root, self.need = root, need
        root._pp = TUPLE  # astor's mark for "no parentheses": `Phrases` sets them
        self.visit(root)

    def visit(self, node: gast.AST) -> None:
        if node is self.root:
            super().visit(node)
        else:
            self.write(_PHRASES.text(node, self.need))


def _rare_text(node: gast.AST) -> str:
    """An expression that `Phrases` has no rule for, on one line."""
    if isinstance(node, (gast.Await, gast.Yield, gast.YieldFrom)):
        bare = getattr(ast, kind(node))(clone(node.value))
        need = ATOM if isinstance(node, gast.Await) else TEST
        return "".join(_Rare(bare, need).result)
    return ast.unparse(gast.gast_to_ast(clone(node)))


_PHRASES = Phrases(_rare_text)


def expression_text(node: gast.AST) -> str:
    """The text of an expression on one line.

    Parameters
    ----------
    node : gast.AST
        Any expression.

    Returns
    -------
    str
        Text that parses to `node`, with no parentheses it can do without inside; a
        tuple stands in its own.
    """
    return _PHRASES.text(node, TEST)


def function_text(fn: gast.FunctionDef) -> str:
    """The text of a function definition.

    Parameters
    ----------
    fn : gast.FunctionDef
        The function; `Comment` statements are printed where they stand.

    Returns
    -------
    str
        Its lines, with a newline at the end.
    """
    return "\n".join(_definition(fn, 0)) + "\n"


def module_text(
    header: str | None,
    imports: list[list[str]],
    all_names: list[str],
    functions: list[str],
    helpers: list[str],
) -> str:
    """The text of a module.

    Parameters
    ----------
    header : str or None
        The module docstring.
    imports : list of list of str
        Import lines in order, in groups that an empty line separates.
    all_names : list of str
        What ``__all__`` lists.
    functions, helpers : list of str
        The text of each function, in order; the helpers come last.

    Returns
    -------
    str
        The module, with a newline at the end.
    """
    groups = [["from __future__ import annotations"], *imports]
    head = [] if header is None else ["\n".join(_docstring(header))]
    head += ["\n".join(group) for group in groups if group]
    names: list[Doc] = [phrases.constant_text(n) for n in sorted(all_names, key=_rank)]
    items = bracketed("[", separated(names), "]") if names else "[]"
    head.append(render(["__all__ = ", items]))
    parts = ["\n\n".join(head), *[f.strip("\n") for f in [*functions, *helpers]]]
    return "\n\n\n".join(parts) + "\n"


def _rank(name: str) -> tuple[int, str]:
    """Constants, then classes, then the rest: the order that ruff gives ``__all__``."""
    if name.isupper() and len(name) > 1:
        return 0, name
    return (1 if name[:1].isupper() else 2), name


def wrap_docstring(text: str, width: int = WIDTH, indent: int = INDENT) -> str:
    """Fill each paragraph of a docstring.

    Parameters
    ----------
    text : str
        Paragraphs separated by empty lines.
    width : int
        The column that no line passes.
    indent : int
        How far the docstring is indented.

    Returns
    -------
    str
        The text with its lines broken, not indented; the first leaves room for the
        quotes.
    """
    paragraphs = text.strip().split("\n\n")
    filled = []
    for i, paragraph in enumerate(paragraphs):
        quotes = (3 if i == 0 else 0) * "\0"
        if len(paragraphs) == 1 and len(paragraph) + indent + 6 <= width:
            quotes = ""
        words = " ".join(paragraph.split())
        lines = textwrap.wrap(
            quotes + words,
            width - indent,
            break_long_words=False,
            break_on_hyphens=False,
        )
        filled.append("\n".join(lines).lstrip("\0"))
    return "\n\n".join(filled)


def _docstring(text: str) -> list[str]:
    first, *rest = inspect.cleandoc(text).replace("\\", "\\\\").split("\n")
    last = ""
    if not rest and first.endswith('"'):
        first, last = first[:-1], r"\""
    first, *rest = (line.replace('"""', r"\"\"\"") for line in (first, *rest))
    return ['"""' + first, *rest, '"""'] if rest else [f'"""{first}{last}"""']


def _indented(lines: list[str], depth: int = 1) -> list[str]:
    pad = " " * INDENT * depth
    return [pad + line if line else line for line in lines]


def _definition(fn: gast.FunctionDef, depth: int) -> list[str]:
    lines = []
    for decorator in fn.decorator_list:
        lines += _laid("@", decorator, "", NAMED, depth)
    parameters = _PHRASES.parameters(fn.args)
    inner = bracketed("(", Group(separated(parameters)), ")") if parameters else "()"
    result: Doc = ""
    if fn.returns is not None:
        result = [" -> ", _PHRASES.doc(fn.returns, TEST, True)]
        result = flat(result) if parameters else result
    signature: Doc = [f"def {fn.name}", inner, result, ":"]
    lines += render(signature, width=WIDTH - depth * INDENT).split("\n")
    body = fn.body
    first = body[0]
    if isinstance(first, gast.Expr) and isinstance(first.value, gast.Constant):
        if isinstance(first.value.value, str):
            lines += _indented(_docstring(first.value.value))
            body = body[1:]
            if body and isinstance(body[0], gast.FunctionDef):
                lines.append("")
    return lines + _block(body, depth)


def _block(body: list[gast.AST], depth: int) -> list[str]:
    """The lines of the statements in a block, one level deeper than `depth`."""
    lines: list[str] = []
    before: gast.AST | None = None
    for stmt in body:
        if before is not None and _apart(before, stmt):
            lines.append("")
        lines += _indented(_statement(stmt, depth + 1))
        before = stmt
    return lines


_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)
_IMPORTS = (gast.Import, gast.ImportFrom)


def _apart(before: gast.AST, after: gast.AST) -> bool:
    """Whether an empty line stands between two statements."""
    if isinstance(after, Comment) and after.blank:
        return True
    if isinstance(before, _DEFINITIONS):
        return True
    if isinstance(before, _IMPORTS) and not isinstance(after, _IMPORTS):
        return True
    return isinstance(after, _DEFINITIONS) and not isinstance(before, Comment)


def _statement(stmt: gast.AST, depth: int) -> list[str]:
    """The lines of a statement `depth` levels deep, without that indentation."""
    rule = _RULES.get(type(stmt))
    if rule is None:
        return ast.unparse(gast.gast_to_ast(clone(stmt))).split("\n")
    return rule(stmt, depth)


def _comment(stmt, depth):
    return [f"# {text}".rstrip() for text in stmt.text.split("\n")]


def _assign(stmt, depth):
    targets = "".join(_PHRASES.text(t) + " = " for t in stmt.targets)
    long = len(targets) + len(getattr(stmt.value, "id", "")) > WIDTH - depth * INDENT
    if long and isinstance(stmt.value, gast.Name) and len(stmt.targets) == 1:
        # A name cannot be broken, so the targets are.
        elements = getattr(stmt.targets[0], "elts", ())
        if elements:
            names = [f"{' ' * INDENT}{_PHRASES.text(t)}," for t in elements]
            return ["(", *names, f") = {stmt.value.id}"]
    return _laid(targets, stmt.value, "", TUPLE, depth)


def _aug_assign(stmt, depth):
    head = f"{_PHRASES.text(stmt.target)} {symbol(stmt.op)}= "
    return _laid(head, stmt.value, "", TUPLE, depth)


def _ann_assign(stmt, depth):
    target = _PHRASES.text(stmt.target)
    if isinstance(stmt.target, gast.Name) and not stmt.simple:
        target = f"({target})"
    if stmt.value is None:
        return _laid(f"{target}: ", stmt.annotation, "", TEST, depth)
    head = f"{target}: {_PHRASES.text(stmt.annotation, TEST)} = "
    return _laid(head, stmt.value, "", TUPLE, depth)


def _expr(stmt, depth):
    return _laid("", stmt.value, "", TUPLE, depth)


def _return(stmt, depth):
    return _laid("return ", stmt.value, "", TUPLE, depth) if stmt.value else ["return"]


def _raise(stmt, depth):
    if stmt.exc is None:
        return ["raise"]
    cause = " from " + _PHRASES.text(stmt.cause, TEST) if stmt.cause else ""
    return _laid("raise ", stmt.exc, cause, TEST, depth)


def _assert(stmt, depth):
    if stmt.msg is None:
        return _laid("assert ", stmt.test, "", TEST, depth)
    message = _PHRASES.text(stmt.msg, TEST)
    line = f"assert {_PHRASES.text(stmt.test, TEST)}, {message}"
    if len(line) + depth * INDENT <= WIDTH:
        return [line]
    *lines, last = _laid("assert ", stmt.test, ", (", TEST, depth)
    message = render(
        [last, Indent([Line(), _PHRASES.doc(stmt.msg, TEST, True)]), Line(), ")"],
        width=WIDTH - depth * INDENT,
    )
    return [*lines, *message.split("\n")]


def _delete(stmt, depth):
    doc = separated([_PHRASES.doc(t, TEST, True) for t in stmt.targets])
    return _bracketed_if_long("del ", doc, "", depth)


def _with(stmt, depth):
    items = []
    for item in stmt.items:
        doc: list = [_PHRASES.doc(item.context_expr, TEST, True)]
        if item.optional_vars is not None:
            doc += [" as ", _PHRASES.doc(item.optional_vars, TEST)]
        items.append(doc)
    if len(items) > 1:
        head = _bracketed_if_long("with ", separated(items), ":", depth)
    else:
        head = render(["with ", *items, ":"], width=WIDTH - depth * INDENT).split("\n")
    return head + _block(stmt.body, depth)


def _bracketed_if_long(head: str, doc: Doc, tail: str, depth: int) -> list[str]:
    room = WIDTH - depth * INDENT
    line = head + flat(doc) + tail
    if len(line) <= room:
        return [line]
    return render([head, bracketed("(", doc, ")"), tail], width=room).split("\n")


def _if(stmt, depth):
    lines = []
    word = "if "
    while True:
        lines += _laid(word, stmt.test, ":", NAMED, depth)
        lines += _block(stmt.body, depth)
        if len(stmt.orelse) != 1 or not isinstance(stmt.orelse[0], gast.If):
            return lines + _tail("else:", stmt.orelse, depth)
        stmt, word = stmt.orelse[0], "elif "


def _tail(head: str, body: list[gast.AST], depth: int) -> list[str]:
    return [head, *_block(body, depth)] if body else []


def _for(stmt, depth):
    lines = _laid(f"for {_PHRASES.text(stmt.target)} in ", stmt.iter, ":", TUPLE, depth)
    return lines + _block(stmt.body, depth) + _tail("else:", stmt.orelse, depth)


def _while(stmt, depth):
    lines = _laid("while ", stmt.test, ":", NAMED, depth)
    return lines + _block(stmt.body, depth) + _tail("else:", stmt.orelse, depth)


def _try(stmt, depth):
    lines = ["try:", *_block(stmt.body, depth)]
    for handler in stmt.handlers:
        head = "except"
        if handler.type is not None:
            head += " " + _PHRASES.text(handler.type, TEST)
        if handler.name is not None:
            head += " as " + getattr(handler.name, "id", handler.name)
        lines += [head + ":", *_block(handler.body, depth)]
    lines += _tail("else:", stmt.orelse, depth)
    return lines + _tail("finally:", stmt.finalbody, depth)


def _probe(stmt, depth):
    return _statement(stmt.statement, depth)


def _match(stmt, depth):
    lines = _laid("match ", stmt.subject, ":", TUPLE, depth)
    for case in stmt.cases:
        pattern = ast.unparse(gast.gast_to_ast(clone(case.pattern)))
        guard = "" if case.guard is None else f" if {_PHRASES.text(case.guard, NAMED)}"
        body = _block(case.body, depth + 1)
        lines += [" " * INDENT + f"case {pattern}{guard}:"]
        lines += [" " * INDENT + line if line else line for line in body]
    return lines


_RULES = {
    Comment: _comment,
    Probe: _probe,
    gast.Assign: _assign,
    gast.AugAssign: _aug_assign,
    gast.AnnAssign: _ann_assign,
    gast.Expr: _expr,
    gast.Return: _return,
    gast.Raise: _raise,
    gast.Assert: _assert,
    gast.Delete: _delete,
    gast.With: _with,
    gast.If: _if,
    gast.For: _for,
    gast.While: _while,
    gast.Try: _try,
    gast.Match: _match,
    gast.FunctionDef: _definition,
}


def _laid(head: str, node: gast.AST, tail: str, need: int, depth: int) -> list[str]:
    """The lines of ``head node tail``, `node` in parentheses where ruff sets them."""
    room = WIDTH - depth * INDENT
    doc = _PHRASES.doc(node, need)
    line = head + flat(doc) + tail
    if len(line) <= room:
        return [line]
    open_lines = render([head, doc, tail], width=room).split("\n")
    if level(node) < need or not _takes_parentheses(node):
        return open_lines
    fit = max(map(len, open_lines)) <= room
    if _is_operation(node) and fit and _brackets_suffice(node):
        return open_lines
    inner = _PHRASES.doc(node, TEST, inside=True)
    if not isinstance(node, gast.Tuple):
        inner = bracketed("(", inner, ")")
    closed_lines = render([head, inner, tail], width=room).split("\n")
    if not _is_operation(node) and max(map(len, closed_lines)) > room:
        return open_lines
    return closed_lines


def _is_operation(node: gast.AST) -> bool:
    """Whether an expression has places of its own to break at, once in parentheses."""
    forms = (
        gast.BinOp,
        gast.BoolOp,
        gast.Compare,
        gast.UnaryOp,
        gast.IfExp,
        gast.Tuple,
    )
    return isinstance(node, forms) or phrases.fluent(node)


def _takes_parentheses(node: gast.AST) -> bool:
    """Whether parentheses around a whole right-hand side may help it to fit."""
    if isinstance(node, gast.Tuple):
        return len(node.elts) > 1
    if isinstance(node, gast.UnaryOp):
        return level(node.operand) >= phrases.operand_level(node)
    if _is_operation(node):
        return True
    chain = phrases.links(node)
    names = (gast.Name, gast.Attribute, gast.Constant)
    return all(isinstance(link, names) for link in chain)


def _brackets_suffice(node: gast.AST) -> bool:
    """Whether brackets at one end of an operation are where it should break.

    So it is where its loosest operator occurs once, and its first operand begins or its
    last one ends with brackets that hold something.
    """
    strengths: list[int] = []
    leaves: list[tuple[gast.AST, bool]] = []
    for item in _leaves(node):
        if isinstance(item, int):
            strengths.append(item)
        else:
            leaves.append(item)
    if not strengths:
        return True
    loosest = min(strengths)
    if strengths.count(loosest) > 1:
        return False
    (first, first_closed), (last, last_closed) = leaves[0], leaves[-1]
    opens = first_closed or _holds(phrases.links(first)[0])
    return opens or last_closed or _holds(last)


def _leaves(node: gast.AST) -> Iterator[int | tuple[gast.AST, bool]]:
    """The operators of an operation, by strength, and its operands, in order.

    An operand comes with whether parentheses stand around it.
    """
    stack = [(node, TUPLE)]
    while stack:
        n, need = stack.pop()
        if level(n) < need:
            yield n, True
        elif isinstance(n, gast.IfExp):
            yield from (TEST, TEST)
            stack += [(n.orelse, TEST), (n.test, phrases.OR), (n.body, phrases.OR)]
        elif isinstance(n, gast.UnaryOp):
            yield n.op, False
            stack.append((n.operand, phrases.operand_level(n)))
        elif isinstance(n, (gast.BinOp, gast.BoolOp, gast.Compare)):
            chain = operands(n)
            strength = phrases.OR if isinstance(n, gast.BoolOp) else level(n)
            yield from [strength] * (len(chain) - 1)
            stack.extend((operand, least) for _, operand, least in reversed(chain))
        else:
            chain = phrases.links(n)
            for a, b in pairwise(chain):
                if isinstance(b, gast.Attribute) and isinstance(a, phrases.CLOSED):
                    yield phrases.ATOM
            yield n, False


def _holds(node: gast.AST) -> bool:
    """Whether an operand ends with brackets that are not empty."""
    if isinstance(node, gast.Call):
        return bool(node.args or node.keywords)
    if isinstance(node, (gast.Tuple, gast.List, gast.Set)):
        return bool(node.elts)
    if isinstance(node, gast.Dict):
        return bool(node.values)
    comprehensions = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)
    return isinstance(node, comprehensions)
