"""Tests of `sct.parse`: the right function, on the right lines, or an error."""

from __future__ import annotations

import functools
import importlib.util
import linecache

import gast
import pytest

from sct.errors import SourceError, UnsupportedError
from sct.parse import parse

MODEL = '''\
import functools

import numpy as np


def decorator(f):
    return functools.wraps(f)(lambda *a: f(*a))


@decorator
def decorated(x):
    return np.sin(x) * 2.5


class Model:
    def loss(self, x):
        return self.__scale(x)

    def __scale(self, x):
        return 3.0 * x


def outer(a):
    def inner(x):
        text = """two
lines"""
        return a * x + len(text)

    return inner, lambda x: (
        a * x
    ), lambda x: a + x


pair = lambda x: x + 1.0, lambda x: x + 2.0; nested = lambda x: lambda y: x * y


async def later(x):
    return x


def checked(x):
    assert x > 0
    return x * x
'''


@pytest.fixture
def load(tmp_path):
    def load_(text=MODEL):
        path = tmp_path / "model.py"
        path.write_text(text)
        spec = importlib.util.spec_from_file_location("model", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module, path

    return load_


def shown(function):
    return gast.unparse(parse(function).tree.body[-1])


def test_place_and_lines_are_those_of_the_file(load):
    model, path = load()
    source = parse(model.decorated.__wrapped__)
    assert source.name == "decorated"
    assert source.filename == str(path)
    assert source.place == "model.py:10-12"
    assert (
        source.text == MODEL[MODEL.index("@decorator") : MODEL.index("\n\n\nclass") + 1]
    )
    statement = source.tree.body[0]
    assert source.line(statement.lineno) == "return np.sin(x) * 2.5"
    assert (statement.lineno, statement.col_offset) == (12, 4)
    assert source.line(0) == source.line(10_000) == ""


def test_digest_changes_with_the_function_only(load):
    before = parse(load()[0].pair[0]).digest
    assert parse(load("# Comment.\n" + MODEL)[0].pair[0]).digest == before
    assert parse(load(MODEL.replace("x + 1.0", "x + 1.5"))[0].pair[0]).digest != before
    assert len(before) == 12


def test_nested_function_keeps_columns_and_strings(load):
    inner = load()[0].outer(2.0)[0]
    tree = parse(inner).tree
    assert tree.col_offset == 4
    assert tree.body[0].value.value == "two\nlines"


def test_method_with_private_names(load):
    assert shown(load()[0].Model.loss) == "return self.__scale(x)"


def test_lambdas_of_one_line_are_told_apart(load):
    model, _ = load()
    assert [shown(f) for f in model.pair] == ["return x + 1.0", "return x + 2.0"]
    assert shown(model.nested(2.0)) == "return x * y"
    assert parse(model.pair[0]).name == "lambda_"


def test_lambdas_that_share_a_line_with_others_in_a_closure(load):
    _, first, second = load()[0].outer(2.0)
    assert shown(first) == "return a * x"
    assert shown(second) == "return a + x"


def test_function_of_this_rewritten_test_module():
    def checked(x):
        assert x > 0, "positive"
        return x * x

    assert shown(checked) == "return x * x"


def test_registered_text_is_found():
    text = "def registered(x):\n    return x * x\n"
    filename = "<registered for a test>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    space = {}
    exec(compile(text, filename, "exec"), space)
    linecache.checkcache()
    assert shown(space["registered"]) == "return x * x"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("* 2.5", "* 3.5"),
        ("np.sin(x) * 2.5", "np.sin(x) / 2.5"),
        ("np.sin", "np.cos"),
        ("def decorated(x)", "def decorated(y)"),
        ("import functools\n", "\nimport functools\n\n"),
        ("np.sin(x) * 2.5", "np.sin(x"),
    ],
)
def test_edited_file_is_refused(load, old, new):
    model, path = load()
    path.write_text(MODEL.replace(old, new, 1))
    with pytest.raises(SourceError, match="import it again"):
        parse(model.decorated.__wrapped__)


def test_function_without_text():
    space = {}
    exec("def f(x): return x", space)
    with pytest.raises(SourceError, match="cannot find the source of `f`"):
        parse(space["f"])


@pytest.mark.parametrize("thing", [len, functools.partial(print), 3.0])
def test_not_a_python_function(thing):
    with pytest.raises(SourceError, match="has no Python source"):
        parse(thing)


def test_coroutine_is_refused_with_its_place(load):
    with pytest.raises(UnsupportedError, match=r"async def(.|\n)*in later"):
        parse(load()[0].later)
