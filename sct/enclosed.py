"""Functions that are given to solvers: what they take from around them is given, too.

::

    def loss(k, x0):                               def loss_rhs(t, y, rate):
        rate = 2.0 * k                                 return -rate * y
        sol = solve_ivp(
            lambda t, y: -rate * y,                def loss(k, x0):
            (0.0, 1.0),                     ->         rate = 2.0 * k
            x0,                                        sol = solve_ivp(
        )                                                  loss_rhs, (0.0, 1.0), x0,
        return sol.y[0, -1]                                args=(rate,),
                                                       )
                                                       return sol.y[0, -1]

A solver calls the function while it runs, so that what its free variables hold where
the solver is called is what they mean.
"""

from __future__ import annotations

import ast
import re
import textwrap

import gast

from .arguments import parameter_names
from .grammar import clone, free_names, is_name, name, names_bound, root
from .names import Names, used_names
from .outline import function_on_its_own
from .resolve import Binding, Scope
from .solvers import Solver, arguments, items, solver_of

WORDS = {"root": "residual", "flow": "rhs"}


def without_closures(
    tree: gast.FunctionDef, source, scope: Scope
) -> tuple[gast.FunctionDef, dict[str, Binding]]:
    """A function whose solvers solve functions that stand at the top of a module.

    Parameters
    ----------
    tree : gast.FunctionDef
        The function as the user wrote it; it is left as it is.
    source : Source
        Where it was written.
    scope : Scope
        What its free names denote.

    Returns
    -------
    gast.FunctionDef
        The same tree when there is nothing to do.
    dict
        Name → binding, of the functions that are new.
    """
    calls = [n for n in gast.walk(tree) if isinstance(n, gast.Call)]
    if not any(solver_of(scope.resolve(n.func)) for n in calls):
        return tree, {}
    work = _Enclosed(tree, source, scope)
    return work.visit(clone(tree)), work.bindings


class _Enclosed(gast.NodeTransformer):
    def __init__(self, tree: gast.FunctionDef, source, scope: Scope):
        self.source, self.scope = source, scope
        self.names = Names(used_names(tree) | set(parameter_names(tree)))
        self.bindings: dict[str, Binding] = {}
        # For each function around: the names that it binds, and the local functions.
        self.around: list[tuple[set[str], dict[str, gast.AST]]] = []

    # -- scopes --------------------------------------------------------------------
    def visit_FunctionDef(self, node):
        bound = set().union(*map(names_bound, node.body))
        self.around.append((bound | {*parameter_names(node)}, _functions(node.body)))
        self.generic_visit(node)
        self.around.pop()
        return node

    def visit_Lambda(self, node):
        return self._inside(node, {*parameter_names(node)})

    def visit_comprehension_of(self, node):
        targets = [n for g in node.generators for n in gast.walk(g.target)]
        return self._inside(node, {n.id for n in targets if is_name(n)})

    visit_ListComp = visit_SetComp = visit_comprehension_of
    visit_DictComp = visit_GeneratorExp = visit_comprehension_of

    def _inside(self, node, bound: set[str]):
        self.around.append((bound, {}))
        self.generic_visit(node)
        self.around.pop()
        return node

    def _local(self, word: str) -> bool:
        return any(word in bound for bound, _ in self.around)

    def _definition(self, word: str) -> gast.AST | None:
        """The one local function that a name denotes."""
        for bound, functions in reversed(self.around):
            if word in bound:
                return functions.get(word)
        return None

    # -- calls ---------------------------------------------------------------------
    def visit_Call(self, node):
        self.generic_visit(node)
        callee = self.scope.resolve(node.func)
        solver = solver_of(callee)
        if solver:
            self._spell_out(node)
        given = arguments(callee, node) if solver else None
        params = items(given.get("args")) if given else None
        if params is None or any(self._local(n) for n in _names_in(node.func)):
            return node
        inner = {p: self._function(given.get(p)) for p in solver.functions}
        inner = {p: fn for p, fn in inner.items() if fn is not None}
        if solver.functions[0] not in inner:
            return node
        taken = self._taken(inner.values(), solver.lead + len(params))
        if taken is None:
            return node
        others = [p for p in solver.functions[1:] if p in given and p not in inner]
        if taken and not all(isinstance(given[p], gast.Constant) for p in others):
            # They would be given more than they take.
            return node
        for p, fn in inner.items():
            _replace(node, given[p], name(self._outlined(solver, p, fn, taken)))
        more = list(map(clone, taken.values()))
        if more:
            whole = gast.Tuple([*params, *more], gast.Load())
            if "args" in given:
                _replace(node, given["args"], whole)
            else:
                node.keywords.append(gast.keyword("args", whole))
        return node

    def _spell_out(self, node: gast.Call) -> None:
        """``**OPTIONS`` of a known dict as keywords."""
        spelled = []
        for k in node.keywords:
            found = self.scope.resolve(k.value) if k.arg is None else None
            if not isinstance(found, dict) or not all(
                isinstance(w, str) for w in found
            ):
                spelled.append(k)
                continue
            for word in found:
                value = gast.Subscript(
                    clone(k.value), gast.Constant(word, None), gast.Load()
                )
                spelled.append(gast.keyword(word, gast.copy_location(value, k.value)))
        node.keywords = spelled

    def _function(self, given: gast.AST | None) -> gast.AST | None:
        """The definition of a function that stands in this one."""
        found = self._definition(given.id) if is_name(given) else given
        if not isinstance(found, (gast.Lambda, gast.FunctionDef)):
            return None
        a = found.args
        plain = not (a.vararg or a.kwarg or a.kwonlyargs)
        outer = (gast.Global, gast.Nonlocal)
        plain = plain and not any(isinstance(n, outer) for n in gast.walk(found))
        return found if plain and not getattr(found, "decorator_list", None) else None

    def _needed(self, fn: gast.AST) -> tuple[list[str], list[str]]:
        """The variables that a function takes from around it, and the functions."""
        variables, functions, pending = [], [], [fn]
        for f in pending:  # grows meanwhile
            free = _free_in_body(f) if f is fn else free_names(f)
            for n in sorted(free):
                if not self._local(n) or n in variables or n in functions:
                    continue
                inner = self._definition(n)
                if inner is None:
                    variables.append(n)
                else:
                    functions.append(n)
                    pending.append(inner)
        return variables, functions

    def _taken(self, inner, count: int) -> dict[str, gast.AST] | None:
        """What functions take from around them, by the parameters that it becomes.

        Of a dict or object that is what they read of it.  Parameters behind the first
        `count` have their defaults.  None where that cannot be said of all of them.
        """
        variables = dict.fromkeys(n for fn in inner for n in self._needed(fn)[0])
        deeper = {g for fn in inner for g in self._needed(fn)[1]}
        whole = {n for g in deeper for n in free_names(self._definition(g))}
        names = Names({*variables}.union(*map(used_names, inner)))
        taken: dict[str, gast.AST] = {}
        for n in variables:
            found = [_paths(fn, n) for fn in inner]
            if n in whole or None in found:
                taken[n] = name(n)
                continue
            paths = {text: path for part in found for text, path in part.items()}
            for text, path in paths.items():
                taken[names.fresh("_".join(re.findall(r"\w+", text)))] = path
        tails = [_tail(fn, count) for fn in inner]
        if None in tails:
            return None
        for tail in tails:
            for n, default in tail.items():
                known = taken.setdefault(n, default)
                if gast.dump(known) != gast.dump(default):
                    return None
        own = {n for fn in inner for n in parameter_names(fn)[:count]}
        return None if own & set(taken) else taken

    def _outlined(self, solver: Solver, parameter: str, fn, taken) -> str:
        """The name of a function of its own that does what a local one does."""
        word = WORDS[solver.kind] if parameter == solver.functions[0] else parameter
        word = getattr(fn, "name", "") or f"{self.source.name}_{word}"
        alias = self.names.fresh(word)
        inner = self._needed(fn)[1]
        lines = [_definition_text(n, self._definition(n)) for n in reversed(inner)]
        given = [n for n in parameter_names(fn) if n not in taken]
        head = f"def {word}({', '.join([*given, *taken])}):"
        spelled = {_unparsed(path): n for n, path in taken.items() if not is_name(path)}
        text = _placed(_Parts(spelled).visit(clone(fn)), head, lines)
        free = free_names(fn).union(*[free_names(self._definition(n)) for n in inner])
        known = {**self.scope.imports, **self.bindings}
        more = {n: b.value for n, b in known.items() if n in free}
        made = function_on_its_own(self.source, self.scope, word, text, more)
        self.bindings[alias] = Binding("value", alias, value=made)
        return alias


class _Parts(gast.NodeTransformer):
    """Reads parts of dicts and objects from names of their own."""

    def __init__(self, names: dict[str, str]):
        self.names = names

    def visit_path(self, node):
        found = self.names.get(_unparsed(node)) if _is_path(node) else None
        return name(found) if found else self.generic_visit(node)

    visit_Attribute = visit_Subscript = visit_path


def _is_path(node: gast.AST) -> bool:
    """Whether an expression is an attribute or an item of a dict, of a name or path."""
    if isinstance(node, gast.Subscript):
        key = getattr(node.slice, "value", None)
        if not isinstance(node.slice, gast.Constant) or not isinstance(key, str):
            return False
    elif not isinstance(node, gast.Attribute):
        return False
    loaded = isinstance(node.ctx, gast.Load)
    return loaded and (is_name(node.value) or _is_path(node.value))


def _paths(fn: gast.AST, word: str) -> dict[str, gast.AST] | None:
    """The paths by which a function reads what a name holds; None for the name."""
    found: dict[str, gast.AST] = {}
    stack = [fn.body] if isinstance(fn, gast.Lambda) else list(fn.body)
    for n in stack:  # grows meanwhile
        parts = list(gast.iter_child_nodes(n))
        if isinstance(n, gast.Call) and _is_path(n.func) and root(n.func) == word:
            # A method, which may read anything.
            return None
        if _is_path(n) and root(n) == word:
            found[_unparsed(n)] = n
            continue
        if is_name(n, word):
            return None
        stack += parts
    return found


def _functions(body: list[gast.AST]) -> dict[str, gast.AST]:
    """The local functions of a block that are bound once."""
    found: dict[str, list[gast.AST]] = {}
    for s in body:
        for n in [s] if isinstance(s, gast.FunctionDef) else gast.walk(s):
            if isinstance(n, gast.FunctionDef):
                found.setdefault(n.name, []).append(n)
            elif isinstance(n, gast.Name) and not isinstance(n.ctx, gast.Load):
                whole = isinstance(s, gast.Assign) and s.targets == [n]
                found.setdefault(n.id, []).append(s.value if whole else None)
    kinds = (gast.FunctionDef, gast.Lambda)
    return {
        n: f[0] for n, f in found.items() if len(f) == 1 and isinstance(f[0], kinds)
    }


def _names_in(node: gast.AST) -> list[str]:
    return [n.id for n in gast.walk(node) if isinstance(n, gast.Name)]


def _tail(fn: gast.AST, count: int) -> dict[str, gast.AST] | None:
    """The defaults of the parameters behind the first; None where they have none."""
    names, defaults = parameter_names(fn), fn.args.defaults
    missing = len(names) - count
    if missing > len(defaults) or missing < 0:
        return None
    tail = dict(zip(names[count:], defaults[len(defaults) - missing :]))
    plain = all(isinstance(d, (gast.Name, gast.Constant)) for d in tail.values())
    return tail if plain else None


def _replace(node: gast.Call, old: gast.AST, new: gast.AST) -> None:
    """Put another argument in the place of one of a call."""
    node.args = [new if a is old else a for a in node.args]
    for k in node.keywords:
        k.value = new if k.value is old else k.value


def _free_in_body(fn: gast.AST) -> set[str]:
    """What a function takes from around it while it runs."""
    plain = clone(fn)
    plain.args.defaults = []
    return free_names(plain)


def _unparsed(node: gast.AST) -> str:
    return ast.unparse(ast.fix_missing_locations(gast.gast_to_ast(node)))


def _placed(fn: gast.AST, head: str, lines: list[str]) -> str:
    """The text of a function with its statements on the lines where they stand."""
    if isinstance(fn, gast.Lambda):
        first, body = fn.lineno, [f"return {_unparsed(fn.body)}"]
    else:
        first, body = fn.body[0].lineno, list(map(_unparsed, fn.body))
    body = [*lines, *body]
    if len(body) == 1 and "\n" not in body[0]:
        return "\n" * (first - 1) + f"{head} {body[0]}\n"
    inner = textwrap.indent("\n".join(body), "    ")
    before = first - 2 - sum(text.count("\n") + 1 for text in lines)
    return "\n" * max(before, 0) + f"{head}\n{inner}\n"


def _definition_text(word: str, fn: gast.AST) -> str:
    """A local function as one inside another."""
    if isinstance(fn, gast.Lambda):
        return f"{word} = {_unparsed(fn)}"
    return _unparsed(fn)
