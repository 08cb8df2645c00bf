"""What is noted down about nodes is what the nodes say."""

from __future__ import annotations

import gast
import pytest

from sct import grammar
from sct.optimize.notes import Notes

from .programs import pure

EXPRESSIONS = [
    "x",
    "y",
    "1",
    "1.0",
    "True",
    "-0.0",
    "0.0",
    "'x'",
    "b'x'",
    "x + y",
    "x - y",
    "y + x",
    "-x",
    "not x",
    "f(x)",
    "f(x, y)",
    "f(x, a=y)",
    "f(x, b=y)",
    "f(*x)",
    "f(**x)",
    "x[y]",
    "x[y:]",
    "x[:y]",
    "x.y",
    "x < y",
    "x < y < z",
    "(x, y)",
    "[x, y]",
    "lambda x: x",
    "lambda y: x",
    "[x for x in y]",
    "x if y else z",
    "{x: y}",
    "{**y}",
    "f'{x}'",
    "f'{x!r}'",
]


def notes() -> Notes:
    return Notes(pure)


def test_keys_tell_apart_what_is_written_differently_and_nothing_else():
    known = notes()
    keys = [known.key(grammar.expression(e)) for e in EXPRESSIONS]
    assert len(set(keys)) == len(EXPRESSIONS)
    assert [known.key(grammar.expression(e)) for e in EXPRESSIONS] == keys


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("np.sin(x) + y", True),
        ("note(x)", False),
        ("x + np.sum([note(x), y])", False),
        ("x[note(y)]", False),
        ("(x := y)", False),
        ("lambda: note(x)", False),
    ],
)
def test_purity_of_an_expression_is_that_of_all_in_it(text, expected):
    assert notes().pure(grammar.expression(text)) is expected


def test_a_statement():
    (loop,) = grammar.block("for i in note(n, [j for j in x]):\n    y = x + i")
    note = notes().of(loop)
    assert note.reads == {"note", "n", "x"}
    assert note.writes == ("i",)
    assert note.deferred == {"j", "x"}
    assert [gast.unparse(c.func).strip() for c in note.impure] == ["note"]
    assert not note.pure
    assert note.counts == {"i": 1, "note": 1, "n": 1, "j": 2, "x": 1}


def test_nodes_are_those_of_gast_without_words():
    words = (gast.expr_context, gast.operator, gast.unaryop, gast.cmpop, gast.boolop)
    for text in EXPRESSIONS:
        tree = grammar.expression(text)
        every = [n for n in gast.walk(tree) if not isinstance(n, words)]
        assert grammar.nodes(tree) == every


def test_a_clone_is_alike_and_shares_no_expression():
    for text in EXPRESSIONS:
        tree = grammar.expression(text)
        copied = grammar.clone(tree)
        assert gast.dump(copied) == gast.dump(tree)
        assert not {*grammar.nodes(copied)} & {*grammar.nodes(tree)}
