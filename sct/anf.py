"""A-normal form: every sub-expression that a derivative may go through gets a name.

Statement forms stay as `sct.desugar` left them; expressions become one operation on
atoms (`sct.grammar` says which), temporaries named after what they hold::

    x = 0.5 * (x + a / x)       quot = a / x
                          ->    sum_ = x + quot
                                x = 0.5 * sum_

Evaluation order is Python's.  What is never differentiated stays as the user wrote
it: tests, comparisons, lambdas, f-strings, and arithmetic inside an index.
The pass is idempotent and takes time linear in the size of the function.
"""

from __future__ import annotations

from collections.abc import Callable

import gast

from .grammar import all_writes, assign, clone, located, name, target_names
from .names import Names, noun, used_names

OPAQUE = (
    gast.Compare,
    gast.BoolOp,
    gast.IfExp,
    gast.Lambda,
    gast.JoinedStr,
    gast.ListComp,
    gast.SetComp,
    gast.DictComp,
    gast.GeneratorExp,
)
SIZE_CALLS = frozenset({"len", "min", "max", "abs", "int", "range", "reversed"})
SIZE_ATTRIBUTES = frozenset({"shape", "ndim", "size"})
SIZE_KEYWORDS = frozenset(
    {"axis", "axes", "shape", "size", "reps", "shift", "pad_width"}
)


def anf(
    tree: gast.FunctionDef,
    source,
    looks_up: Callable[[gast.AST], bool] = lambda expr: False,
) -> gast.FunctionDef:
    """Flatten the expressions of a function.

    Parameters
    ----------
    tree : gast.FunctionDef
        What `sct.desugar.desugar` gave; it is left as it is.
    source : Source
        Where the function was written.
    looks_up : callable
        Whether an expression is an object of which a subscript is a call.

    Returns
    -------
    gast.FunctionDef
        The same function in A-normal form.
    """
    tree = clone(tree)
    parameters = target_names(gast.Tuple(_parameters(tree.args), gast.Store()))
    local = all_writes(tree.body) | set(parameters)
    work = _Flattener(Names(used_names(tree)), local, looks_up)
    tree.body = work.block(tree.body)
    return tree


def _parameters(a: gast.arguments) -> list[gast.Name]:
    found = [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg]
    return [p for p in found if p]


def is_atom(node: gast.AST) -> bool:
    """Whether an expression is a name, a constant or a negative constant."""
    if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub):
        node = node.operand
        return isinstance(node, gast.Constant)
    return isinstance(node, (gast.Name, gast.Constant))


def is_index(node: gast.AST, bare_names: bool = True) -> bool:
    """Whether an expression is the arithmetic of indices and sizes.

    Parameters
    ----------
    node : gast.AST
        An expression.
    bare_names : bool
        Whether names may stand in it by themselves; without them only ``len(x)``,
        ``x.shape[0]`` and the like can.
    """
    stack = [node]
    while stack:
        n = stack.pop()
        if isinstance(n, gast.Name):
            if not bare_names:
                return False
        elif isinstance(n, gast.Call):
            if not (isinstance(n.func, gast.Name) and n.func.id in SIZE_CALLS):
                return False
            # A length is a size whatever it is the length of.
            whole = bare_names or n.func.id == "len"
            if n.keywords or not all(
                whole and _is_chain(a) or is_index(a, bare_names) for a in n.args
            ):
                return False
        elif isinstance(n, gast.Attribute):
            if not _is_chain(n) or not (bare_names or n.attr in SIZE_ATTRIBUTES):
                return False
        elif isinstance(n, gast.BinOp):
            stack += [n.left, n.right]
        elif isinstance(n, gast.UnaryOp):
            stack.append(n.operand)
        elif isinstance(n, gast.Subscript):
            stack += [n.value, n.slice]
        elif isinstance(n, gast.Slice):
            stack += [p for p in (n.lower, n.upper, n.step) if p]
        elif isinstance(n, (gast.Tuple, gast.List)):
            stack += n.elts
        elif not isinstance(n, gast.Constant):
            return False
    return True


def _is_chain(node: gast.AST) -> bool:
    """Whether an expression is a name, or attributes of a name."""
    while isinstance(node, gast.Attribute):
        node = node.value
    return isinstance(node, gast.Name)


class _Flattener:
    """Flattens block after block; `out` is the block being written."""

    def __init__(self, names: Names, local: set[str], looks_up):
        self.names = names
        self.local, self.looks_up = local, looks_up
        self.out: list[gast.AST] = []
        self.at: gast.AST | None = None

    # --- statements ---

    def block(self, body: list[gast.AST]) -> list[gast.AST]:
        outer, self.out = self.out, []
        for s in body:
            self.at = s
            method = getattr(self, f"on_{type(s).__name__}", None)
            self.out.append(method(s) if method else s)
        done, self.out = self.out, outer
        return done

    def on_Assign(self, s: gast.Assign) -> gast.AST:
        target = s.targets[0]
        if isinstance(target, (gast.Name, gast.Tuple)):
            s.value = self.op(s.value)
        else:
            s.value = self.atom(s.value)
            self.place(target)
        return s

    def on_AugAssign(self, s: gast.AugAssign) -> gast.AST:
        self.place(s.target)
        s.value = self.atom(s.value)
        return s

    def on_Expr(self, s: gast.Expr) -> gast.AST:
        s.value = self.op(s.value)
        return s

    def on_Return(self, s: gast.Return) -> gast.AST:
        if isinstance(s.value, gast.Tuple):
            numbered = enumerate(s.value.elts, 1)
            s.value.elts = [self.atom(v, f"out_{k}") for k, v in numbered]
        elif s.value is not None:
            s.value = self.atom(s.value, "out")
        return s

    def on_If(self, s: gast.If) -> gast.AST:
        s.body, s.orelse = self.block(s.body), self.block(s.orelse)
        return s

    on_While = on_If

    def on_For(self, s: gast.For) -> gast.AST:
        if not is_index(s.iter):
            call = s.iter.args[0] if s.iter.func.id == "reversed" else s.iter
            call.args = [a if is_index(a) else self.atom(a) for a in call.args]
        s.body = self.block(s.body)
        return s

    def on_With(self, s: gast.With) -> gast.AST:
        first, *others = s.items
        first.context_expr = self.op(first.context_expr)
        if others:
            # The other managers are made only after the first is entered.
            s.items = [first]
            s.body = [located(gast.With(others, s.body, None), s)]
        s.body = self.block(s.body)
        return s

    def place(self, target: gast.AST) -> None:
        """Flatten what a subscript or attribute target computes."""
        if isinstance(target, gast.Subscript):
            target.value = self.atom(target.value)
            target.slice = self.index(target.slice)
        elif isinstance(target, gast.Attribute):
            target.value = self.atom(target.value)

    # --- expressions ---

    def bind(self, value: gast.AST, base: str) -> gast.Name:
        fresh = self.names.fresh(base)
        self.local.add(fresh)
        self.out.append(assign(fresh, value, self.at))
        return located(name(fresh), self.at)

    def atom(self, e: gast.AST, base: str | None = None) -> gast.AST:
        """`e` if it is an atom, else the name of a temporary that holds it."""
        if is_atom(e):
            return e
        base = base or noun(e)
        return self.bind(self.op(e), base)

    def op(self, e: gast.AST) -> gast.AST:
        """`e` as one operation, its operands written before."""
        if is_atom(e) or isinstance(e, OPAQUE):
            return e
        return getattr(self, f"op_{type(e).__name__}")(e)

    def op_BinOp(self, e: gast.BinOp) -> gast.AST:
        # Long sums lean left; recursion would be as deep as they are long.
        spine = [e]
        while isinstance(spine[-1].left, gast.BinOp):
            spine.append(spine[-1].left)
        while True:
            node = spine.pop()
            node.left, node.right = self.atom(node.left), self.atom(node.right)
            if not spine:
                return node
            spine[-1].left = self.bind(node, noun(node))

    def op_UnaryOp(self, e: gast.UnaryOp) -> gast.AST:
        if not isinstance(e.op, gast.Not):
            e.operand = self.atom(e.operand)
        return e

    def op_Attribute(self, e: gast.Attribute) -> gast.AST:
        if not self.is_global(e):
            e.value = self.atom(e.value)
        return e

    def is_global(self, e: gast.AST) -> bool:
        """Whether `e` is an attribute chain of something outside the function."""
        while isinstance(e, gast.Attribute):
            e = e.value
        return isinstance(e, gast.Name) and e.id not in self.local

    def op_Subscript(self, e: gast.Subscript) -> gast.AST:
        if self.looks_up(e.value):
            # `np.r_[2 * x, y]`: what stands in the brackets are operands.
            e.slice = self.operands(e.slice)
            return e
        e.value = self.atom(e.value)
        e.slice = self.index(e.slice)
        return e

    def operands(self, e: gast.AST) -> gast.AST:
        if isinstance(e, gast.Tuple):
            e.elts = [self.operands(v) for v in e.elts]
            return e
        return self.index(e) if isinstance(e, gast.Slice) else self.argument(e)

    def index(self, e: gast.AST) -> gast.AST:
        if is_index(e):
            return e
        if isinstance(e, gast.Tuple):
            e.elts = [self.index(v) for v in e.elts]
            return e
        if isinstance(e, gast.Slice):
            for field in ("lower", "upper", "step"):
                part = getattr(e, field)
                if part is not None:
                    setattr(e, field, self.index(part))
            return e
        if isinstance(e, gast.Starred):
            e.value = self.atom(e.value)
            return e
        return self.atom(e)

    def op_Call(self, e: gast.Call) -> gast.AST:
        owner = e.func.value if isinstance(e.func, gast.Attribute) else None
        if owner is not None and not (is_atom(owner) or self.is_global(owner)):
            # The owner of a method: `w.T.dot(x)` has two operands.
            e.func.value = self.atom(e.func.value)
        elif not _is_chain(e.func):
            e.func = self.atom(e.func)
        e.args = [self.argument(a) for a in e.args]
        for k in e.keywords:
            if not (k.arg in SIZE_KEYWORDS and is_index(k.value)):
                k.value = self.argument(k.value)
        return e

    def argument(self, e: gast.AST) -> gast.AST:
        """An atom, or a display of arguments, as an operand."""
        if isinstance(e, gast.Starred):
            e.value = self.atom(e.value)
            return e
        if isinstance(e, (gast.Tuple, gast.List)):
            # Arithmetic on bare names may be differentiable: `np.stack([2 * x, y])`.
            # Beside it a size is an item as well: `np.array([2 * x, len(y)])`.
            if not all(is_atom(v) or is_index(v, bare_names=False) for v in e.elts):
                e.elts = [self.argument(v) for v in e.elts]
            return e
        return self.atom(e)

    def op_Tuple(self, e: gast.Tuple) -> gast.AST:
        e.elts = [self.element(v) for v in e.elts]
        return e

    op_List = op_Set = op_Tuple

    def element(self, e: gast.AST) -> gast.AST:
        return self.argument(e) if isinstance(e, gast.Starred) else self.atom(e)

    def op_Dict(self, e: gast.Dict) -> gast.AST:
        for k, key in enumerate(e.keys):
            if key is not None:
                e.keys[k] = self.atom(key)
            e.values[k] = self.atom(e.values[k])
        return e
