"""Write adjoint arithmetic as it would be written by hand, changing no float.

    x_bar = y * out_bar * 1.0         x_bar = out_bar * y
    t_bar = (x_bar * y) * 2.0    →    t_bar = 2.0 * x_bar * y
    z_bar = x_bar + -(t_bar)          z_bar = x_bar - t_bar
    a_bar = [x_bar, 0.0][0]           a_bar = x_bar

Only statements that read or bind an adjoint or tangent are looked at: the user's own
arithmetic stays as it was typed.  Products are commuted, which is exact; they are
re-associated only for powers of two, which is exact too.  Nothing is folded that could
change a dtype (a factor 1.0 goes only from what is known to be inexact), a shape
(``x * 0.0`` stays) or who owns a piece of memory (``y = x * 1.0`` stays a copy where
one of the two is written in place).
"""

from __future__ import annotations

from fractions import Fraction

import gast

from sct import grammar
from sct.optimize import rebuild
from sct.optimize.effects import Effects, effects_of
from sct.optimize.facts import Facts

_OPERATIONS = {
    gast.Add: lambda a, b: a + b,
    gast.Sub: lambda a, b: a - b,
    gast.Mult: lambda a, b: a * b,
    gast.Div: lambda a, b: a / b,
}
_ARITHMETIC = (gast.BinOp, gast.UnaryOp)
_LEFT_ALONE = (gast.Name, gast.Constant, gast.Lambda, gast.JoinedStr)


def fold(fn: gast.FunctionDef, facts: Facts) -> tuple[bool, gast.FunctionDef]:
    """Apply exact identities to the statements that handle derivatives.

    Parameters
    ----------
    fn : gast.FunctionDef
        By-name derivative code; left as it is.
    facts : Facts
        What is known of it.

    Returns
    -------
    bool
        Whether anything was rewritten.
    gast.FunctionDef
        The function in its simpler form.
    """
    return rebuild.with_body(fn, _Folder(facts, effects_of(fn, facts)).block(fn.body))


class _Folder:
    def __init__(self, facts: Facts, effects: Effects):
        self.facts, self.effects, self.notes = facts, effects, facts.notes
        # Expressions that no rule changes, by whether they may share memory.
        self.settled = {b: self.notes.about(("folded", b)) for b in (False, True)}

    def block(self, body: list) -> list:
        return [self._statement(s) for s in body]

    def _statement(self, s: gast.AST) -> gast.AST:
        if any(True for _ in grammar.blocks(s)):
            return rebuild.map_blocks(s, self.block)
        if isinstance(s, gast.FunctionDef):
            return s
        note = self.notes.of(s)
        if not any(map(self.facts.derivative, (*note.reads, *note.writes))):
            return s
        if isinstance(s, gast.AugAssign):
            return self._augmented(s)
        if isinstance(s, gast.Assign):
            value = self._visit(s.value, self._may_share(s))
            return s if value is s.value else rebuild.replaced(s, value=value)
        return rebuild.map_head(s, lambda node: self._visit(node, False))

    def _augmented(self, s: gast.AugAssign) -> gast.AST:
        value, op = self._visit(s.value, True), s.op
        if isinstance(op, (gast.Add, gast.Sub)):
            positive = _without_sign(value)
            if positive is not None:
                value = positive
                op = gast.Sub() if isinstance(op, gast.Add) else gast.Add()
        return s if value is s.value else rebuild.replaced(s, value=value, op=op)

    def _may_share(self, s: gast.Assign) -> bool:
        """Whether the target may be one object with what the value reads."""
        names = [*self.notes.names(s.value), *self.notes.of(s).writes]
        return all(isinstance(t, gast.Name) for t in s.targets) and not any(
            self.effects.mutable(n) for n in names
        )

    def _visit(self, node: gast.AST, may_share: bool) -> gast.AST:
        if isinstance(node, _LEFT_ALONE) or node in self.settled[may_share]:
            return node
        new = self._folded(node, may_share)
        if new is node:
            self.settled[may_share][node] = True
        return new

    def _folded(self, node: gast.AST, may_share: bool) -> gast.AST:
        inner = isinstance(node, _ARITHMETIC)
        node = rebuild.map_children(node, lambda child: self._visit(child, inner))
        if isinstance(node, gast.Subscript):
            return _item(node) or node
        if not (inner and self.facts.pure_expression(node)):
            return node
        while isinstance(node, _ARITHMETIC):
            new = self._rewrite(node)
            if new is None or not (
                may_share
                or isinstance(new, _ARITHMETIC + (gast.Constant,))
                or _is_where(new)
            ):
                break
            node = new
        return node

    def _rewrite(self, node: gast.AST) -> gast.AST | None:
        """`node` after one rule, None when no rule applies."""
        if isinstance(node, gast.UnaryOp):
            return self._negation(node)
        exact = _constants(node)
        if exact is not None:
            return exact
        rule = {
            gast.Add: self._sum,
            gast.Sub: self._difference,
            gast.Mult: self._product,
            gast.Div: self._quotient,
        }.get(type(node.op))
        return rule(node) if rule else None

    def _negation(self, node: gast.UnaryOp) -> gast.AST | None:
        if not isinstance(node.op, gast.USub):
            return None
        positive = _without_sign(node.operand)
        if positive is not None and self._inexact(positive):
            return positive
        if _is_product(node.operand) and self._inexact(node.operand):
            return _at_front(node.operand, _negative)
        return None

    def _sum(self, node: gast.BinOp) -> gast.AST | None:
        left, right = node.left, node.right
        choice = self._choice(node)
        if choice is not None:
            return choice
        if _is_zero(right) and self._adjoint(left):
            return left
        if _is_zero(left) and self._adjoint(right):
            return right
        positive = _without_sign(right)
        if positive is not None:
            return gast.BinOp(left, gast.Sub(), positive)
        if self._adjoint(left) and self._alike(left, right):
            return self._scaled(2.0, left)
        return None

    def _choice(self, node: gast.BinOp) -> gast.AST | None:
        """One `np.where` for two of the same condition that complement each other."""
        left, right = node.left, node.right
        if not (_is_where(left) and _is_where(right)):
            return None
        (test, *ours), (other, *theirs) = left.args, right.args
        same = self._alike
        if not (same(left.func, right.func) and same(test, other)):
            return None
        pairs = list(zip(ours, theirs, strict=True))
        if not all(_is_zero(a) or _is_zero(b) for a, b in pairs):
            return None
        parts = []
        for a, b in pairs:
            if _is_zero(b):
                parts.append(a)
            else:
                parts.append(b if isinstance(node.op, gast.Add) else _negative(b))
        return gast.Call(left.func, [test, *parts], [])

    def _difference(self, node: gast.BinOp) -> gast.AST | None:
        choice = self._choice(node)
        if choice is not None:
            return choice
        if _is_zero(node.right) and self._inexact(node.left):
            return node.left
        positive = _without_sign(node.right)
        if positive is not None:
            return gast.BinOp(node.left, gast.Add(), positive)
        return None

    def _product(self, node: gast.BinOp) -> gast.AST | None:
        left, right = node.left, node.right
        if _is_whole(left) and self._inexact(right):
            return gast.BinOp(grammar.constant(float(left.value)), gast.Mult(), right)
        if _is_whole(right) and self._inexact(left):
            return gast.BinOp(left, gast.Mult(), grammar.constant(float(right.value)))
        if _is_one(left) and self._inexact(right):
            return right
        if _is_one(right) and self._inexact(left):
            return left
        positive = _without_sign(right)
        if positive is not None and self._inexact(left):
            return gast.BinOp(_at_front(left, _negative), gast.Mult(), positive)
        if self._scales(right, left):
            return self._scaled(right.value, left)
        if _is_number(right):
            behind = _leads(left) or _is_product(left)
            return None if behind else gast.BinOp(right, gast.Mult(), left)
        if _is_product(right) and self._scales(left, right):
            return self._scaled(left.value, right)
        front = _front(right)
        rest = _without_front(right) if _is_product(right) else None
        if rest is not None and self._scales(front, left):
            return self._scaled(front.value, gast.BinOp(left, gast.Mult(), rest))
        if self._adjoint(right) and not self._adjoint(left) and not _leads(left):
            return gast.BinOp(right, gast.Mult(), left)
        return None

    def _quotient(self, node: gast.BinOp) -> gast.AST | None:
        left, right = node.left, node.right
        if _is_one(right) and self._inexact(left):
            return left
        positive = _without_sign(right)
        if positive is not None and self._inexact(left):
            return gast.BinOp(_at_front(left, _negative), gast.Div(), positive)
        return None

    def _scales(self, factor: gast.AST, node: gast.AST) -> bool:
        """Whether `factor` may be moved in front of the product `node`."""
        power = _is_number(factor) and _is_power_of_two(factor.value)
        return power and (self._inexact(node) or not _is_product(node))

    def _scaled(self, factor: float, node: gast.AST) -> gast.AST:
        """`node` times a power of two, the constant in front."""

        def scale(front: gast.AST) -> gast.AST:
            negated = _negated_operand(front)
            if negated is not None:
                return _negative(scale(negated))
            if _is_number(front):
                return grammar.constant(float(factor * front.value))
            return gast.BinOp(grammar.constant(factor), gast.Mult(), front)

        return _at_front(node, scale)

    def _alike(self, a: gast.AST, b: gast.AST) -> bool:
        """Whether two expressions are written alike."""
        return self.notes.key(a) == self.notes.key(b)

    def _adjoint(self, node: gast.AST) -> bool:
        names = self.notes.names(node)
        return self._inexact(node) and any(self.facts.derivative(n) for n in names)

    def _inexact(self, node: gast.AST) -> bool:
        """Whether `node` is known to be of a floating or complex type."""
        if isinstance(node, gast.Constant):
            return isinstance(node.value, (float, complex))
        if isinstance(node, gast.Name):
            return self.facts.derivative(node.id)
        if isinstance(node, gast.UnaryOp):
            return isinstance(node.op, (gast.USub, gast.UAdd)) and self._inexact(
                node.operand
            )
        if isinstance(node, gast.BinOp) and type(node.op) in _OPERATIONS:
            return self._inexact(node.left) or self._inexact(node.right)
        return False


def _item(node: gast.Subscript) -> gast.AST | None:
    """The `a` in ``[a, 0.0][0]``."""
    shown = isinstance(node.value, (gast.List, gast.Tuple))
    k = getattr(node.slice, "value", None)
    if not shown or type(k) is not int or not 0 <= k < len(node.value.elts):
        return None
    plain = all(isinstance(e, (gast.Name, gast.Constant)) for e in node.value.elts)
    return node.value.elts[k] if plain else None


def _is_number(node: gast.AST) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, float)


def _is_whole(node: gast.AST) -> bool:
    """Whether `node` is an integer literal that a float holds exactly."""
    return isinstance(node, gast.Constant) and (
        type(node.value) is int and abs(node.value) < 2**24
    )


def _is_one(node: gast.AST) -> bool:
    return _is_number(node) and node.value == 1.0


def _is_zero(node: gast.AST) -> bool:
    return _is_number(node) and node.value == 0.0


def _is_where(node: gast.AST) -> bool:
    return (
        isinstance(node, gast.Call)
        and isinstance(node.func, gast.Attribute)
        and node.func.attr == "where"
        and len(node.args) == 3
        and not node.keywords
    )


def _is_power_of_two(value: float) -> bool:
    if value <= 0.0 or value in (1.0, float("inf")) or value != value:
        return False
    top, bottom = value.as_integer_ratio()
    return top & (top - 1) == 0 and bottom & (bottom - 1) == 0


def _is_product(node: gast.AST) -> bool:
    return isinstance(node, gast.BinOp) and isinstance(node.op, (gast.Mult, gast.Div))


def _front(node: gast.AST) -> gast.AST:
    """The first factor of a chain of products and quotients."""
    while _is_product(node):
        node = node.left
    return node


def _leads(node: gast.AST) -> bool:
    """Whether a number stands in front of a product."""
    front = _front(node)
    negated = _negated_operand(front)
    return _is_number(front if negated is None else negated)


def _at_front(node: gast.AST, change) -> gast.AST:
    """A chain of products with its first factor changed."""
    chain = []
    while _is_product(node):
        chain.append(node)
        node = node.left
    node = change(node)
    for n in reversed(chain):
        node = gast.BinOp(node, n.op, n.right)
    return node


def _without_front(node: gast.BinOp) -> gast.AST | None:
    """A chain of products without its first factor, None when that is a numerator."""
    chain = []
    while _is_product(node.left):
        chain.append(node)
        node = node.left
    if isinstance(node.op, gast.Div):
        return None
    rest = node.right
    for n in reversed(chain):
        rest = gast.BinOp(rest, n.op, n.right)
    return rest


def _negated_operand(node: gast.AST) -> gast.AST | None:
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        return node.operand
    return None


def _without_sign(node: gast.AST) -> gast.AST | None:
    """What `node` is the negative of, None when it carries no sign."""
    if _negated_operand(_front(node)) is None:
        return None
    return _at_front(node, _negated_operand)


def _negative(node: gast.AST) -> gast.AST:
    inner = _negated_operand(node)
    return gast.UnaryOp(gast.USub(), node) if inner is None else inner


def _constants(node: gast.BinOp) -> gast.AST | None:
    """The value of an operation on two literals, when a double holds it exactly."""
    values = []
    for side in (node.left, node.right):
        if not isinstance(side, gast.Constant) or type(side.value) not in (int, float):
            return None
        values.append(side.value)
    compute = _OPERATIONS.get(type(node.op))
    try:
        rounded = compute(*values) if compute else None
        exact = compute(*map(Fraction, values)) if compute else None
    except (ArithmeticError, ValueError):
        return None
    if compute is None or rounded < 0 or Fraction(rounded) != exact:
        return None
    return grammar.constant(rounded)
