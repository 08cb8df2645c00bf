"""Every name and keyword that is said for CuPy, looked for in CuPy itself.

CuPy can be imported where there is no GPU, and its functions say which arguments they
take.  What rules and helpers say is read from their text; what the rest of sct says,
from derivatives of the project's examples.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import re
import sys
import textwrap
import types
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import sct
from generated_examples.regenerate import EXAMPLES
from sct import templates
from sct.backends import CUPY, words
from sct.errors import UnsupportedError
from sct.helpers import HELPERS, is_helper
from sct.resolve import canonical

from . import standin
from .test_cupy import CALLS, NUMPY, module_of, with_cupy

pytestmark = [
    pytest.mark.skipif(
        importlib.util.find_spec("cupy") is None, reason="CuPy is not installed"
    ),
    pytest.mark.filterwarnings("ignore"),
]


@functools.cache
def modules() -> dict[str, types.ModuleType]:
    """CuPy's modules, which are hidden from other tests."""
    for name in ["cupy", *CUPY.modules.values()]:
        try:
            importlib.import_module(name)
        except ImportError:
            # Some need libraries of CUDA's for being imported.
            pass
    return {n: sys.modules.pop(n) for n in list(sys.modules) if _is_cupys(n)}


def _is_cupys(name: str) -> bool:
    return name.partition(".")[0] in ("cupy", "cupyx", "cupy_backends")


@contextmanager
def imported() -> Iterator[None]:
    sys.modules.update(modules())
    try:
        yield
    finally:
        for name in [n for n in sys.modules if _is_cupys(n)]:
            modules().setdefault(name, sys.modules[name])
            del sys.modules[name]


@pytest.fixture(autouse=True)
def cupy():
    with imported():
        yield sys.modules["cupy"]


# -- what CuPy has -----------------------------------------------------------------
UNREADABLE = object()


@functools.cache
def there(module: str, path: str) -> object:
    """CuPy's object for one of NumPy's or SciPy's; None if there is none.

    Of a module that cannot be imported here, the definition in its text.
    """
    for part in path.split(".")[:-1]:
        if f"{module}.{part}" in CUPY.modules:
            module, path = f"{module}.{part}", path.partition(".")[2]
    theirs = CUPY.modules.get(module)
    if theirs is None:
        return None
    if theirs not in sys.modules:
        return in_text(theirs, path)
    found: object = sys.modules[theirs]
    for part in path.split("."):
        found = getattr(found, part, None)
    return found


def in_text(module: str, word: str) -> ast.FunctionDef | None:
    """The definition of what a module imports from its parts."""
    package = Path(importlib.util.find_spec("cupyx").origin).parent.parent
    init = package.joinpath(*module.split("."), "__init__.py")
    if not init.exists():
        return None
    for node in ast.parse(init.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if (alias.asname or alias.name) == word:
                    part = package.joinpath(*node.module.split(".")).with_suffix(".py")
                    defined = ast.parse(part.read_text()).body
                    functions = (n for n in defined if isinstance(n, ast.FunctionDef))
                    return next(f for f in functions if f.name == alias.name)
    return None


def signature(found: object) -> inspect.Signature | None:
    """Which arguments a function takes; None where nothing says so."""
    if isinstance(found, ast.FunctionDef):
        text = f"def f({ast.unparse(found.args)}): pass"
    else:
        try:
            return inspect.signature(found)
        except (TypeError, ValueError):
            # What is compiled says it in its first line.
            said = (getattr(found, "__doc__", None) or "").partition("\n")[0]
        match = re.match(r"[\w.]+\((.*)\)", said)
        if match is None:
            return None
        given = re.sub(r"\[.*?\]", "", match[1].replace("\\", ""))
        given = given.removeprefix("self, ").removeprefix("self")
        # Of `_ndarray_base a` the last word is the name.
        given = re.sub(r"\b[\w.]+ (\w+)\b(?=[,=)]|$)", r"\1", given)
        text = f"def f({given}): pass"
    text = re.sub(r"=[^,*)]+", "=None", text)
    space: dict = {}
    exec(text, space)
    return inspect.signature(space["f"])


def complaint(found: object, call: ast.Call) -> str:
    """Why a function does not take the arguments of a call; empty if it does."""
    taken = signature(found)
    starred = any(isinstance(a, ast.Starred) for a in call.args)
    if taken is None or starred or any(k.arg is None for k in call.keywords):
        return ""
    try:
        taken.bind(*call.args, **{k.arg: k.value for k in call.keywords})
    except TypeError as error:
        return str(error)
    return ""


# -- what is said ------------------------------------------------------------------
def chain(node: ast.AST) -> tuple[str, str]:
    """The first name and the rest of a chain of attributes."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.insert(0, node.attr)
        node = node.value
    return (node.id if isinstance(node, ast.Name) else ""), ".".join(parts)


def of_arrays(attr: str) -> bool:
    """Whether arrays alone have an attribute of this name."""
    return hasattr(np.ndarray, attr) and not hasattr(str, attr)


def faults(tree: ast.AST, space: dict[str, str], passed: set[str]) -> Iterator[str]:
    """What a text says that CuPy has not.

    Parameters
    ----------
    tree : ast.AST
        The text.
    space : dict
        Its names for modules, and which of NumPy's and SciPy's they are.
    passed : set of str
        Parameters of a rule, which it says only if the call of the function does.
    """
    inner = {n.value for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in inner:
            root, path = chain(node)
            if root in space and there(space[root], path) is None:
                yield f"{space[root]}.{path}"
            elif root not in space and of_arrays(node.attr):
                if not hasattr(sys.modules["cupy"].ndarray, node.attr):
                    yield f"array.{node.attr}"
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        root, path = chain(node.func)
        kept = [k for k in node.keywords if getattr(k.value, "id", k) != k.arg]
        dropped = [k for k in node.keywords if k not in kept and k.arg in passed]
        call = ast.Call(node.func, node.args, [*kept])
        call.keywords += [k for k in node.keywords if k not in kept + dropped]
        if root in space:
            found = there(space[root], path)
            if found is not None and (said := complaint(found, call)):
                yield f"{space[root]}.{path}: {said}"
        elif of_arrays(node.func.attr):
            found = getattr(sys.modules["cupy"].ndarray, node.func.attr, None)
            if found is not None and (said := complaint(found, call)):
                yield f"array.{node.func.attr}: {said}"


def tree_of(function: object) -> ast.AST:
    tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    tree.decorator_list = []
    return tree


def modules_of(function: object) -> dict[str, str]:
    """The names that a function has for NumPy's and SciPy's modules."""
    space = vars(sys.modules[function.__module__])
    named = {n: v.__name__ for n, v in space.items() if isinstance(v, types.ModuleType)}
    return {n: m for n, m in named.items() if m.split(".")[0] in ("numpy", "scipy")}


def available(primal: object) -> bool:
    """Whether a function written with CuPy can call a function that has a rule."""
    name = canonical(primal)
    module, _, word = name.rpartition(".")
    if module.split(".")[0] not in ("numpy", "scipy") or "ndarray" in module:
        return True
    return there(module, word) is not None


@functools.cache
def rules() -> list:
    """The rules of what can be called in a function that is written with CuPy."""
    found = {r.function: r for r in templates.rules() if r.function is not None}
    for rule in templates.rules():
        tangent = templates.tangent_of(rule.primal)
        if tangent is not None:
            found[tangent.function] = tangent
    ours = [r for f, r in found.items() if f.__module__.startswith("sct.")]
    ours = [r for r in ours if available(r.primal)]
    called = helpers([r for r in ours if not is_helper(r.primal)])
    return [r for r in ours if not is_helper(r.primal) or r.primal.__name__ in called]


def helpers(rules: list) -> set[str]:
    """The helpers that functions written with CuPy can come to call, by some rules."""
    trees = [tree_of(r.function) for r in rules]
    names = {n.id for t in trees for n in ast.walk(t) if isinstance(n, ast.Name)}
    rooted = ("sct.runtime", "sct.runtime_operators", "sct.runtime_control")
    pending = [n for n, h in HELPERS.items() if n in names or h.__module__ in rooted]
    for name in pending:  # grows meanwhile
        for n in ast.walk(tree_of(HELPERS[name])):
            if isinstance(n, ast.Name) and n.id in HELPERS and n.id not in pending:
                pending.append(n.id)
    return set(pending)


# What CuPy lacks of what rules say of functions that it has: these are refused.
LACKING = {
    "scipy.special.hyp1f1": {"boxcox", "boxcox1p", "exprel"},
    "scipy.special.hyp2f1": {"ellipk"},
    "scipy.special.iv": {"i1"},
    "scipy.special.ive": {"i1e"},
    "scipy.special.jv": {"j1"},
}


def test_rules_say_what_cupy_has():
    found = {}
    for rule in rules():
        passed = set(rule.parameters)
        said = faults(tree_of(rule.function), modules_of(rule.function), passed)
        for fault in said:
            found.setdefault(fault, set()).add(rule.primal.__name__)
    assert len(rules()) > 400
    assert found == LACKING


@pytest.mark.parametrize("name", LACKING)
def test_what_it_lacks_is_refused(name):
    special = pytest.importorskip("scipy.special")
    for word in LACKING[name]:
        names = tuple("xy"[: getattr(special, word).nin])
        args = ", ".join(names)
        text = f"def f({args}):\n    return special.{word}({args})\n"
        f = module_of("from cupyx.scipy import special\n\n" + text).f
        with pytest.raises(UnsupportedError, match=re.escape(name)):
            sct.vjp(f, names)


def test_helpers_say_what_cupy_has():
    found = {}
    called = helpers(rules())
    for name in sorted(called):
        for fault in faults(tree_of(HELPERS[name]), modules_of(HELPERS[name]), set()):
            found.setdefault(fault, set()).add(name)
    assert len(called) > 150
    # Which is asked for before.
    assert found == {"array.__array_interface__": {"copied_array"}}


def test_words_say_what_cupy_has():
    for name in CUPY.otherwise.values():
        function = getattr(words, name)
        assert list(faults(tree_of(function), {"np": "numpy"}, set())) == []


def said_in(df) -> list[str]:
    """What a derivative says that CuPy has not."""
    tree = ast.parse(sct.source(df))
    back = {theirs: ours for ours, theirs in CUPY.modules.items()}
    space = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert alias.name.split(".")[0] not in ("numpy", "scipy")
                if alias.name in back:
                    space[alias.asname or alias.name] = back[alias.name]
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                assert whole.split(".")[0] not in ("numpy", "scipy")
                if whole in back:
                    space[alias.asname or alias.name] = back[whole]
    return list(faults(tree, space, set()))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.name)
def test_examples_say_what_cupy_has(example):
    module = sys.modules[example.function.__module__]
    if not NUMPY.search(inspect.getsource(example.function)):
        pytest.skip("mentions no library")
    text = inspect.getsource(module).replace("import numpy as np", "import cupy as cp")
    written = getattr(module_of(NUMPY.sub("cp", text)), example.function.__name__)
    assert said_in(getattr(sct, example.mode)(written, example.wrt)) == []


@pytest.mark.parametrize("mode", ["vjp", "jvp"])
def test_derivatives_of_calls_say_what_cupy_has(mode):
    found, tried = {}, 0
    for name, call in CALLS.items():
        own = list(faults(ast.parse(call.text), {"np": "numpy"}, set()))
        if own or not NUMPY.search(call.text):
            # CuPy has no such call, or it is that of a method, which says no library.
            continue
        f = with_cupy(call.text, **call.space)
        try:
            df = getattr(sct, mode)(f, tuple(call.given))
        except UnsupportedError:
            continue
        tried += 1
        if said := said_in(df):
            found[name] = said
    assert tried > 300
    assert found == {}


# -- what else is said of CuPy -----------------------------------------------------
def test_the_stand_in_has_nothing_that_cupy_lacks():
    for name, made in standin.standin().items():
        real = sys.modules.get(name)
        for word, value in vars(made).items():
            called = isinstance(value, (standin.ufunc, types.FunctionType))
            if called and templates.lookup(value):
                assert hasattr(real, word), f"{name}.{word}"
    assert {n for n in vars(standin.ndarray) if not n.startswith("__")} <= {
        *dir(sys.modules["cupy"].ndarray)
    }


def test_keywords_that_the_stand_in_refuses_are_not_there(cupy):
    for name, lacking in standin.LACKING_KEYWORDS.items():
        function = getattr(cupy, name, None) or getattr(cupy.linalg, name)
        assert not lacking & set(signature(function).parameters), name


def test_numbers_are_refused_where_the_stand_in_does(cupy):
    for word in CUPY.otherwise:
        more = {"expand_dims": (0,), "broadcast_to": ((2,),), "tensordot": (1.0, 0)}
        value = (0,) if word == "mod" else 1.0
        with pytest.raises((TypeError, AttributeError)):
            getattr(cupy, word)(value, *more.get(word, ()))


def test_parameters_have_the_places_that_numpys_have(cupy):
    """A call says the same by position, so that NumPy's rule may bind it."""
    other = {}
    for ours in CUPY.modules:
        for word, value in vars(importlib.import_module(ours)).items():
            rule = templates.lookup(value) if callable(value) else None
            found = there(ours, word) if rule is not None else None
            if found is None or rule.kind == "zero" or isinstance(value, np.ufunc):
                continue
            mine, its = signature(value), signature(found)
            if mine is None or its is None:
                continue
            pairs = zip(placed(mine), placed(its))
            if changed := [(a, b) for a, b in pairs if a != b]:
                other[f"{ours}.{word}"] = changed
    renamed = {pair for pairs in other.values() for pair in pairs}
    assert renamed <= RENAMED, {k: v for k, v in other.items() if {*v} - RENAMED}


# Of these only the names differ.
RENAMED = {
    ("object", "obj"),
    ("arrays", "tup"),
    ("obj", "indices"),
    ("ary", "arr"),
    ("arr", "a"),
    ("m", "a"),
    ("a", "x"),
    ("shape", "newshape"),
    ("a", "M"),
    ("x", "a"),
    ("start_or_stop", "start"),
    ("A", "a"),
}


def placed(taken: inspect.Signature) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in taken.parameters.values() if p.kind in kinds]
