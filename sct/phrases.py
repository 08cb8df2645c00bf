"""Expressions to documents: brackets where trees need them, breaks where ruff's are.

Promises text that parses back to the tree, spaced as ``ruff format`` spaces it, and
breaks only inside brackets::

    BinOp(x, Mult, BinOp(y, Add, Call(f, [z])))   ->   x * (y + f(z))

`sct.layout` chooses among the breaks; `sct.emit` adds the brackets that let the
outermost operators of a statement break.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import gast

from sct.layout import Doc, Group, IfBroken, Line, bracketed, flat, separated

# How tightly each form binds, loosest first.
(
    TUPLE,
    NAMED,
    TEST,
    OR,
    AND,
    NOT,
    COMPARE,
    BIT_OR,
    BIT_XOR,
    BIT_AND,
    SHIFT,
    SUM,
    TERM,
    FACTOR,
    POWER,
    AWAIT,
    ATOM,
) = range(17)

OPERATORS = {
    "Or": ("or", OR),
    "And": ("and", AND),
    "Not": ("not ", NOT),
    "Eq": ("==", COMPARE),
    "NotEq": ("!=", COMPARE),
    "Lt": ("<", COMPARE),
    "LtE": ("<=", COMPARE),
    "Gt": (">", COMPARE),
    "GtE": (">=", COMPARE),
    "Is": ("is", COMPARE),
    "IsNot": ("is not", COMPARE),
    "In": ("in", COMPARE),
    "NotIn": ("not in", COMPARE),
    "BitOr": ("|", BIT_OR),
    "BitXor": ("^", BIT_XOR),
    "BitAnd": ("&", BIT_AND),
    "LShift": ("<<", SHIFT),
    "RShift": (">>", SHIFT),
    "Add": ("+", SUM),
    "Sub": ("-", SUM),
    "Mult": ("*", TERM),
    "Div": ("/", TERM),
    "FloorDiv": ("//", TERM),
    "Mod": ("%", TERM),
    "MatMult": ("@", TERM),
    "UAdd": ("+", FACTOR),
    "USub": ("-", FACTOR),
    "Invert": ("~", FACTOR),
    "Pow": ("**", POWER),
}

LEVELS = {
    "Tuple": TUPLE,
    "Yield": TUPLE,
    "YieldFrom": TUPLE,
    "NamedExpr": NAMED,
    "Lambda": TEST,
    "IfExp": TEST,
    "Compare": COMPARE,
    "Await": AWAIT,
}


def kind(node: gast.AST) -> str:
    """The name of a node's class."""
    return type(node).__name__


def symbol(op: gast.AST) -> str:
    """An operator as it is written."""
    return OPERATORS[kind(op)][0]


def level(node: gast.AST) -> int:
    """How tightly the outermost form of an expression binds."""
    if isinstance(node, (gast.BinOp, gast.BoolOp, gast.UnaryOp)):
        return OPERATORS[kind(node.op)][1]
    if isinstance(node, gast.Constant):
        return _number_level(node.value)
    return LEVELS.get(kind(node), ATOM)


def _number_level(value: object) -> int:
    if isinstance(value, complex) and value.real:
        return SUM
    if isinstance(value, (int, float, complex)) and constant_text(value)[0] == "-":
        return FACTOR
    return ATOM


def constant_text(value: object, quote: str = '"') -> str:
    """A literal, strings in `quote` unless the other one saves backslashes."""
    if isinstance(value, (str, bytes)):
        return _quoted(value, quote)
    if value is ...:
        return "..."
    if isinstance(value, complex) and not value.real:
        return constant_text(value.imag).removesuffix(".0") + "j"
    text = repr(value)
    if isinstance(value, (float, complex)):
        text = text.strip("()").replace("e+", "e").replace("inf", "1e309")
        text = text.replace("nan", "(1e309 - 1e309)")
    return text


def _quoted(value: str | bytes, quote: str) -> str:
    other = "'" if quote == '"' else '"'
    text = repr(value)
    prefix, body, used = text[: text.index(text[-1])], text[:-1], text[-1]
    body = body[len(prefix) + 1 :].replace("\\" + used, used)
    if body.count(quote) > body.count(other):
        quote = other
    return prefix + quote + body.replace(quote, "\\" + quote) + quote


def operands(node: gast.AST) -> list[tuple[str, gast.AST, int]]:
    """A chain of one binding strength: (operator before, operand, level needed)."""
    if isinstance(node, gast.BoolOp):
        chain = []
        for value in node.values:
            mixed = isinstance(value, gast.BoolOp) and level(value) > level(node)
            parts = operands(value) if mixed else [("", value, level(node) + 1)]
            chain += [(symbol(node.op), *parts[0][1:]), *parts[1:]]
        return chain
    if isinstance(node, gast.Compare):
        chain = [("", node.left, BIT_OR)]
        pairs = zip(node.ops, node.comparators)
        return chain + [(symbol(op), right, BIT_OR) for op, right in pairs]
    strength = level(node)
    if strength == POWER:
        chain = [("", node.left, AWAIT), ("**", node.right, FACTOR)]
        while level(chain[-1][1]) == POWER:
            power = chain.pop()[1]
            chain += [("**", power.left, AWAIT), ("**", power.right, FACTOR)]
        return chain
    chain = []
    while isinstance(node, gast.BinOp) and level(node) == strength:
        chain.append((symbol(node.op), node.right, strength + 1))
        node = node.left
    chain.append(("", node, strength))
    return chain[::-1]


def operand_level(node: gast.UnaryOp) -> int:
    """The level that the operand of a sign needs; a power is bracketed: ``-(x**2)``."""
    need = level(node)
    return AWAIT if need == FACTOR and level(node.operand) == POWER else need


def links(node: gast.AST) -> list[gast.AST]:
    """A chain of attributes, calls and subscripts, from its base outward."""
    chain = [node]
    while isinstance(node, (gast.Attribute, gast.Call, gast.Subscript)):
        node = node.func if isinstance(node, gast.Call) else node.value
        chain.append(node)
    return chain[::-1]


def fluent(node: gast.AST) -> bool:
    """Whether an expression is a chain of calls that breaks before its dots."""
    chain = links(node)
    after = pairwise(chain)
    joints = [isinstance(b, gast.Attribute) and _closes(a) for a, b in after]
    return sum(joints) >= 2


CLOSED = (gast.Call, gast.Subscript)


def _closes(node: gast.AST) -> bool:
    return isinstance(node, CLOSED) or level(node) < ATOM


class Phrases:
    """Documents of expressions.

    Parameters
    ----------
    rare : callable
        The text of an expression of a kind that has no rule here.
    quote : str
        The quote that strings prefer.
    """

    def __init__(self, rare: Callable[[gast.AST], str], quote: str = '"'):
        self.rare, self.quote = rare, quote

    def text(self, node: gast.AST, need: int = TUPLE) -> str:
        """An expression on one line, in parentheses where looser than `need`."""
        return flat(self.doc(node, need))

    def doc(self, node: gast.AST, need: int = TUPLE, inside: bool = False) -> Doc:
        """The document of an expression.

        Parameters
        ----------
        node : gast.AST
            The expression.
        need : int
            It is put in parentheses where it binds looser than this.
        inside : bool
            Whether brackets stand around it, so that its operators may break.
        """
        if level(node) < need and not isinstance(node, gast.Tuple):
            return bracketed("(", self.doc(node, inside=True), ")")
        rule = getattr(self, "_" + kind(node), None)
        if rule is None:
            return self.rare(node)
        if isinstance(node, gast.Tuple):
            return self._Tuple(node, need)
        return rule(node, inside)

    def _Name(self, node, inside):
        return node.id

    def _Constant(self, node, inside):
        return (node.kind or "") + constant_text(node.value, self.quote)

    def _Starred(self, node, inside):
        return ["*", self.doc(node.value, BIT_OR, inside)]

    def _Attribute(self, node, inside):
        return self._chain(node, inside)

    _Call = _Subscript = _Attribute

    def _chain(self, node, inside):
        base, *rest = links(node)
        breaks = inside and fluent(node)
        number = isinstance(base, gast.Constant) and type(base.value) in (int, float)
        dotted = number and isinstance(rest[0], gast.Attribute)
        doc = [self.doc(base, ATOM + dotted, inside)]
        last = base
        for link in rest:
            if isinstance(link, gast.Call):
                doc.append(self._arguments(link))
            elif isinstance(link, gast.Subscript):
                doc.append(bracketed("[", self._index(link.slice), "]"))
            else:
                doc.append(Line() if breaks and _closes(last) else "")
                doc.append("." + link.attr)
            last = link
        return Group(doc) if breaks else doc

    def _arguments(self, node):
        if not node.args and not node.keywords:
            return "()"
        if len(node.args) == 1 and not node.keywords:
            if isinstance(node.args[0], gast.GeneratorExp):
                return self._GeneratorExp(node.args[0], True)
        items = [self.doc(a, NAMED, True) for a in node.args]
        for k in node.keywords:
            items.append(
                [f"{k.arg}=" if k.arg else "**", self.doc(k.value, TEST, True)]
            )
        return bracketed("(", Group(separated(items)), ")")

    def _index(self, node):
        if not isinstance(node, gast.Tuple):
            return (
                self._slice(node)
                if kind(node) == "Slice"
                else self.doc(node, NAMED, True)
            )
        sliced = any(kind(e) == "Slice" for e in node.elts)
        starred = any(isinstance(e, gast.Starred) for e in node.elts)
        if not node.elts or ((starred or len(node.elts) == 1) and not sliced):
            return self.doc(node, TEST, True)
        items = [self._index_item(e) for e in node.elts]
        return [items[0], ","] if len(items) == 1 else separated(items)

    def _index_item(self, node):
        return (
            self._slice(node) if kind(node) == "Slice" else self.doc(node, TEST, True)
        )

    def _slice(self, node):
        bounds = [node.lower, node.upper, node.step]
        space = "" if all(b is None or _short(b) for b in bounds) else " "
        lower, upper, step = (
            "" if b is None else self.doc(b, TEST, True) for b in bounds
        )
        doc = [lower, space if lower else "", ":", space if upper else "", upper]
        if step:
            doc += [space if upper else "", ":", space, step]
        return doc

    def _BinOp(self, node, inside):
        (_, operand, need), *rest = operands(node)
        doc: list = [self.doc(operand, need, inside)]
        plain = _plain(operand, need)
        for op, operand, need in rest:
            close = op == "**" and plain and _plain(operand, need)
            space = "" if close else " "
            doc += [Line(space) if inside else space, op]
            doc.append(IfBroken(" ") if close and inside else space)
            doc.append(self.doc(operand, need, inside))
            plain = _plain(operand, need)
        return Group(doc)

    _BoolOp = _Compare = None

    def _UnaryOp(self, node, inside):
        need = operand_level(node)
        return [symbol(node.op), self.doc(node.operand, need, inside)]

    def _IfExp(self, node, inside):
        doc: list = [self.doc(node.body, OR, inside)]
        line = Line(" ") if inside else " "
        while isinstance(node, gast.IfExp):
            doc += [line, "if ", self.doc(node.test, OR, inside), line, "else "]
            node, before = node.orelse, node
            if isinstance(node, gast.IfExp):
                doc.append(self.doc(node.body, OR, inside))
        return Group([*doc, self.doc(before.orelse, TEST, inside)])

    def _Lambda(self, node, inside):
        parameters = flat(separated(self.parameters(node.args)))
        head = f"lambda {parameters}: " if parameters else "lambda: "
        return [head, self.doc(node.body, TEST)]

    def _NamedExpr(self, node, inside):
        return [node.target.id, " := ", self.doc(node.value, TEST, inside)]

    def _Tuple(self, node, need):
        items = [self.doc(e, NAMED if need else TEST, True) for e in node.elts]
        if len(items) < 2:
            return ["(", *items, "," if items else "", ")"]
        if need == TUPLE:
            return flat(separated(items))
        return bracketed("(", separated(items), ")")

    def _List(self, node, inside):
        items = [self.doc(e, NAMED, True) for e in node.elts]
        return bracketed("[", separated(items), "]") if items else "[]"

    def _Set(self, node, inside):
        items = [self.doc(e, NAMED, True) for e in node.elts]
        return bracketed("{", separated(items), "}") if items else "{*()}"

    def _Dict(self, node, inside):
        items: list = []
        for key, value in zip(node.keys, node.values):
            if key is None:
                items.append(["**", self.doc(value, BIT_OR, True)])
            else:
                items.append(
                    [self.doc(key, TEST, True), ": ", self.doc(value, TEST, True)]
                )
        return bracketed("{", separated(items), "}") if items else "{}"

    def _ListComp(self, node, inside):
        return bracketed("[", self._clauses(self.doc(node.elt, NAMED, True), node), "]")

    def _SetComp(self, node, inside):
        return bracketed("{", self._clauses(self.doc(node.elt, NAMED, True), node), "}")

    def _GeneratorExp(self, node, inside):
        return bracketed("(", self._clauses(self.doc(node.elt, NAMED, True), node), ")")

    def _DictComp(self, node, inside):
        item = [self.doc(node.key, TEST, True), ": ", self.doc(node.value, TEST, True)]
        return bracketed("{", self._clauses(item, node), "}")

    def _clauses(self, item, node):
        doc = [item]
        for clause in node.generators:
            word = "async for " if clause.is_async else "for "
            target, source = self.doc(clause.target), self.doc(clause.iter, OR, True)
            doc += [Line(" "), word, target, " in ", source]
            for test in clause.ifs:
                doc += [Line(" "), "if ", self.doc(test, OR, True)]
        return Group(doc)

    def _JoinedStr(self, node, inside):
        inner = Phrases(self.rare, "'" if self.quote == '"' else '"')
        text = "".join(inner.field(part) for part in node.values)
        expressions = "".join(
            inner.text(p.value) for p in gast.walk(node) if kind(p) == "FormattedValue"
        )
        if self.quote in text or "\\" in expressions:
            return self.rare(node)
        return f"f{self.quote}{text}{self.quote}"

    def field(self, part: gast.AST) -> str:
        """One part of an f-string."""
        if isinstance(part, gast.Constant):
            return _quoted(part.value, '"')[1:-1].replace("{", "{{").replace("}", "}}")
        text = self.text(part.value, OR)
        text = f" {text} " if text[0] == "{" else text
        if part.conversion != -1:
            text += "!" + chr(part.conversion)
        if part.format_spec is not None:
            text += ":" + "".join(self.field(p) for p in part.format_spec.values)
        return "{" + text + "}"

    def parameters(self, args: gast.arguments) -> list[Doc]:
        """The parameters of a function or lambda, markers included."""
        plain = [*args.posonlyargs, *args.args]
        defaults = [None] * (len(plain) - len(args.defaults)) + args.defaults
        docs = [self._parameter(p, d) for p, d in zip(plain, defaults)]
        if args.posonlyargs:
            docs.insert(len(args.posonlyargs), "/")
        if args.vararg:
            docs.append(["*", self._parameter(args.vararg, None)])
        elif args.kwonlyargs:
            docs.append("*")
        pairs = zip(args.kwonlyargs, args.kw_defaults)
        docs += [self._parameter(p, d) for p, d in pairs]
        if args.kwarg:
            docs.append(["**", self._parameter(args.kwarg, None)])
        return docs

    def _parameter(self, parameter, default):
        doc = [parameter.id if isinstance(parameter, gast.Name) else parameter.arg]
        if parameter.annotation is not None:
            doc += [": ", self.doc(parameter.annotation, TEST, True)]
        if default is not None:
            sign = " = " if parameter.annotation is not None else "="
            doc += [sign, self.doc(default, TEST, True)]
        return doc


Phrases._BoolOp = Phrases._Compare = Phrases._BinOp


def _short(bound: gast.AST) -> bool:
    """Whether a slice bound needs no space beside its colon."""
    if isinstance(bound, gast.UnaryOp):
        return _short(bound.operand)
    return isinstance(bound, (gast.Name, gast.Constant))


def _plain(operand: gast.AST, need: int) -> bool:
    """Whether ``**`` stands close to an operand."""
    if level(operand) < need:
        return False
    while isinstance(operand, gast.UnaryOp):
        operand = operand.operand
    while isinstance(operand, gast.Attribute):
        operand = operand.value
    if isinstance(operand, gast.Constant):
        return isinstance(operand.value, (int, float, complex))
    return isinstance(operand, gast.Name)
