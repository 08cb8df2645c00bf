"""Emitted text parses back to its tree, and `ruff format` would leave it as it is."""

from __future__ import annotations

import ast
import random
import subprocess
import sys

import gast
import pytest

from sct.emit import expression_text, function_text, module_text, wrap_docstring
from sct.grammar import Comment, block, expression, name

EXPRESSIONS = """
x
-x
--x
+x
~x
not x
a - (b + c)
a - b + c
a * (b * c)
a / (b / c)
a * b * c
(a + b) * c
-(a + b) * c
(-x) ** 2
-(x**2)
2**-x
x**2
x**0.5
x ** f(y)
x[0] ** 2
x.a**2
x**y**z
(x**y) ** z
x**-y.a
x ** (a + b)
(a @ b).T
a @ b.T
a % b // c
a << b >> c
a & b | c ^ d
~a & b
a < b <= c
(a < b) < c
not a == b
(not a) == b
a is not None
x not in (1, 2)
a and b or c
a and (b or c)
(a or b) and not c
a or (b or c)
a if b else c
(a if b else c) if d else e
a if b else c if d else e
(a if b else c) + 1
lambda: 0
lambda x, *args, k=1, **kw: x + k
lambda x, /, y=2, *, z: (x, y, z)
(lambda x: x)(1)
(lambda x: x) + 1
f()
f(x)
f(x, *args, y=1, **kw)
f(*a, b, **c)
f(x for x in y)
f((x for x in y), 1)
f(lambda x: x, key=lambda: 0)
f(x)(y)[z].w
np.sum(x, axis=0, keepdims=True)
x.sum(axis=-1)
x[i]
x[i, j]
x[i + 1 : n]
x[: n - 1]
x[n - 1 :]
x[::-1]
x[:: k + 1]
x[a : b + 1 : c]
x[a:b:c]
x[-1:n]
x[a.b :]
x[f(i) :, None, ...]
x[1:-1, ::2]
x[()]
x[(i,)]
x[i:j,]
x["key"]
x[(a, *b)]
x[y := 2]
(x,)
()
(1, 2)
[]
[1]
[a, b, *c]
{}
{1, 2}
{"a": 1, **b, c: d}
[x for x in y]
[x for x in y if x if z]
[(x, y) for x, y in zip(a, b)]
{x for x in y}
{k: v for k, v in d.items()}
[x for y in z for x in y if (a if b else c)]
(x for x in y)
(y := f(x)) + y
[y := f(x), y]
1
1.0
1e-10
1e16
1.5e300
0.1
2j
0.5j
True
None
...
(1).real
(1.5).hex()
1e309
10**20
"text"
"it's"
'say "x"'
"line\\nline"
"back\\\\slash"
"tab\\t and é"
b"bytes"
b"it's"
f"{x}"
f"{x!r:>10} and {y:.{n}f}"
f"{{x}} {d['k']}"
f"{(lambda: 1)()}"
f"{ {1: 2}[1] }"
f"it's {x}"
"a" "b"
a + (yield_)
"""

# As `ruff format` left them.
LAYOUTS = """\
def f():
    covariance_bar = np.sum(out_bar * (weights @ activations - offsets), axis=0) * scale


def f():
    log_probabilities_bar = (
        log_probabilities_bar + out_bar * normaliser * weights[i] / z
    )


def f():
    hidden_bar = first_long_operand_name * (
        second_long_operand + third_long_operand + x
    )


def f():
    hidden_bar = unbroadcast(
        first_long_operand_name * second_long_operand_name, a, b, c1
    )


def f():
    hidden_bar = unbroadcast(
        first_long_operand * second_long_operand,
        third_operand_name,
        fourth_operand,
        fifth_operand_name,
        sixth_operand,
    )


def f():
    x_bar[i, j], y_bar[i, j] = (
        first_long_operand_name_here,
        second_long_operand_name_here2,
    )


def f():
    first_stack.append(
        (first_long_operand_name_here, second_long_operand_name_here, third)
    )


def f():
    return (
        first_long_operand_name_here_bar,
        second_long_operand_name_here_bar,
        third_bar1,
    )


def f():
    return {
        "first": first_long_operand_name_here_bar,
        "second": second_long_operand_name1,
    }


def f():
    return [
        first_long_operand_name_here_bar,
        second_long_operand_name_here_bar,
        third_bar,
    ]


def f():
    return np.where(
        condition_on_the_long_name > 0.0, value_where_it_holds, otherwise_value
    )


def f():
    out = (
        value_where_the_condition_holds
        if the_condition_itself > 0.0
        else otherwise_value
    )


def f():
    out = (
        first_condition_name > 0
        and second_condition_name > 0
        or third_condition_name > 1
    )


def f():
    out = (
        first_operand_name.reshape(rows, columns)
        .transpose(axes_order)
        .sum(axis=axis_name)
    )


def f():
    out = (
        -(first_long_operand_name_here + second_long_operand_name_here)
        * third_long_name1
    )


def f():
    out = [
        function(element, other)
        for element in some_long_sequence
        if element is not None
    ]


def f():
    out += (
        np.einsum("ij,jk->ik", first_long_operand_name, second_long_operand_name)
        ** power
    )


def f():
    out: list[np.ndarray] = [
        first_long_operand_name_here_bar,
        second_long_operand_name,
        thi,
    ]


def f():
    out = first_long_operand_name_here**exponent + second_long_operand_name**-exponent_2


def f():
    raise ValueError(
        f"the argument has shape {first_long_operand.shape}, not {expected_on}"
    )


def f():
    assert first_long_operand.shape == second_long_operand.shape, (
        "the arguments must agree"
    )


def f():
    if (
        first_condition_name > 0
        and second_condition_name > 0
        or third_condition_name > 123
    ):
        pass
    elif x:
        pass
    else:
        y = 1


def f():
    while (
        abs(x * x - a) > tolerance
        and iteration_number < maximum_number_of_iterations_12
    ):
        break
    else:
        x = 1


def f():
    for first, (second, third) in zip(
        first_long_sequence_name, second_long_sequence_name_1
    ):
        continue


def f():
    with (
        np.errstate(divide="ignore", invalid="ignore") as state,
        open(the_file_name) as f_1,
    ):
        pass


def f():
    with np.errstate(divide="ignore"):
        pass


def f():
    try:
        pass
    except ValueError as e:
        raise
    else:
        pass
    finally:
        x = 1


def f():
    x = 1

    def g(y):
        return y

    z = g(x)


def f():
    import math

    x = math.pi


def f():
    match x:
        case 1:
            y = 2


def f():
    a = b = c


def f():
    (x,) = y


def f():
    x = (y,)


def f():
    (x): int = 1


def f():
    global g


def f():
    y = yield x


def f():
    yield


def f():
    y = yield from x


def f():
    def g(
        first_long_parameter: np.ndarray, second_long_parameter: float = 1.0
    ) -> np.ndarray:
        return x


def f():
    def g(
        first_long_parameter: np.ndarray,
        /,
        second: float = 1.0,
        *rest,
        third=1,
        **keywords,
    ) -> tuple[np.ndarray, float]:
        return x
"""

DEMO = '''\
def diffuse_grad(
    u0: Array, c: float, steps: int, *, out_bar: float = 1.0
) -> tuple[Array, float]:
    """Return ``(u0_bar, c_bar)``: the gradient in `u0` and `c`.

    Held constant: `steps`.
    """
    u_stack: list[Array] = []
    for _ in range(steps):
        u_stack.append(u[1:-1].copy())
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    if not u_stack:
        return u_bar, 0.0
    elif c > 0.0:
        pass
    else:
        u_bar = -np.sum(u_bar, axis=1, keepdims=True) / s
    return u0_bar, c_bar
'''


def function_of(text: str) -> gast.FunctionDef:
    body = "".join(f"    {line}\n" for line in text.split("\n"))
    return gast.parse("def f():\n" + body).body[0]


def meaning(tree: gast.AST) -> str:
    return ast.dump(gast.gast_to_ast(tree))


def assert_formatted(text: str) -> None:
    command = [sys.executable, "-m", "ruff", "format", "--isolated", "--diff"]
    command += ["--line-length", "88", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("source", EXPRESSIONS.strip().split("\n"))
def test_expression_keeps_its_tree(source):
    text = expression_text(expression(source))
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(source))


@pytest.mark.parametrize("source", EXPRESSIONS.strip().split("\n")[:-2])
def test_expression_is_written_as_here(source):
    assert expression_text(expression(source)) == source


def test_expressions_are_formatted():
    lines = EXPRESSIONS.strip().split("\n")
    assert_formatted("".join(f"v = {expression_text(expression(e))}\n" for e in lines))


@pytest.mark.parametrize("text", LAYOUTS.split("\n\n\n"))
def test_statements_are_laid_out_as_here(text):
    fn = gast.parse(text).body[0]
    assert function_text(fn).rstrip("\n") == text.rstrip("\n")


def test_layouts_are_formatted():
    assert_formatted(LAYOUTS)


def test_long_deletion_is_bracketed():
    names = [f"a_variable_with_a_long_name_{i}" for i in range(4)]
    text = function_text(function_of(f"del {', '.join(names)}"))
    assert (
        text
        == "def f():\n    del (\n"
        + "".join(f"        {n},\n" for n in names)
        + "    )\n"
    )
    assert_formatted(text)


def test_function_comes_out_as_it_was():
    assert function_text(gast.parse(DEMO).body[0]) == DEMO


def test_comments_stand_where_the_tree_has_them():
    fn = function_of("x = 1\nif x:\n    y = 2")
    fn.body[:0] = [Comment("Forward sweep.", blank=True)]
    fn.body[2:2] = [Comment("Backward sweep.", blank=True), Comment("L1: x")]
    fn.body[-1].body.append(Comment("done"))
    assert function_text(fn) == (
        "def f():\n    # Forward sweep.\n    x = 1\n\n    # Backward sweep.\n"
        "    # L1: x\n    if x:\n        y = 2\n        # done\n"
    )


def test_negative_and_special_constants_read_back():
    for value in (-1, -2.5, -1j, float("inf"), float("-inf")):
        power = gast.BinOp(gast.Constant(value, None), gast.Pow(), name("x"))
        assert eval(expression_text(power), {"x": 1}) == value
    assert expression_text(gast.Constant(float("nan"), None)) == "(1e309 - 1e309)"


def test_docstring_with_quotes_and_backslashes():
    for text in (
        r"a \d",
        'says """x"""',
        'ends "so"',
        'ends \\\\"',
        "two\n\nparagraphs \\",
    ):
        fn = function_of("return x")
        fn.body.insert(0, gast.Expr(gast.Constant(text, None)))
        emitted = function_text(fn)
        assert ast.get_docstring(ast.parse(emitted).body[0]) == text
        assert_formatted(emitted)


def test_thousands_of_operands_and_statements():
    tree = name("x")
    for _ in range(3000):
        tree = gast.BinOp(tree, gast.Add(), name("x"))
    assert expression_text(tree) == " + ".join(["x"] * 3001)
    fn = function_of("return x")
    fn.body[:0] = [gast.Assign([name("y", store=True)], tree, None)]
    assert function_text(fn).count("\n        + x") == 3000
    fn.body = block("x = 1\n" * 5000)
    assert function_text(fn).count("x = 1") == 5000


def test_module():
    imports = [["import math"], ["import numpy as np"], []]
    names = [
        "g",
        "f",
        "Tape",
        "LIMIT",
        "a_function_with_a_very_long_name_indeed_" + "g" * 40,
    ]
    text = module_text(
        "Gradient.", imports, names, [DEMO, DEMO], ["def h():\n    pass\n"]
    )
    assert text.startswith(
        '"""Gradient."""\n\nfrom __future__ import annotations\n\nimport math\n\n'
        'import numpy as np\n\n__all__ = [\n    "LIMIT",\n    "Tape",\n'
    )
    assert text.endswith("return u0_bar, c_bar\n\n\ndef h():\n    pass\n")
    assert_formatted(text)
    assert module_text(None, [], ["f"], [], []).startswith("from __future__")


def test_docstring_is_wrapped():
    text = wrap_docstring("word " * 60 + "\n\nshort")
    first, *rest = text.split("\n")
    assert len(first) <= 81 and all(len(line) <= 84 for line in rest)
    assert text.split() == ["word"] * 60 + ["short"]
    assert wrap_docstring("x" * 78) == "x" * 78


def random_expression(rng: random.Random, depth: int) -> gast.AST:
    if depth == 0 or rng.random() < 0.1:
        atoms = [
            "x",
            "out_bar",
            "log_probabilities_bar",
            "1.0",
            "2",
            "None",
            "'s'",
            "x.a",
        ]
        return expression(rng.choice(atoms))

    def sub() -> gast.AST:
        return random_expression(rng, depth - 1)

    binary = [
        gast.Add,
        gast.Sub,
        gast.Mult,
        gast.Div,
        gast.MatMult,
        gast.Pow,
        gast.BitOr,
    ]
    binary += [gast.Mod, gast.LShift, gast.BitAnd, gast.BitXor, gast.FloorDiv]
    unary = [gast.USub, gast.Not, gast.Invert, gast.UAdd]
    make = [
        lambda: gast.BinOp(sub(), rng.choice(binary)(), sub()),
        lambda: gast.BinOp(sub(), rng.choice(binary)(), sub()),
        lambda: gast.UnaryOp(rng.choice(unary)(), sub()),
        lambda: gast.BoolOp(rng.choice([gast.And, gast.Or])(), [sub(), sub(), sub()]),
        lambda: gast.Compare(sub(), [gast.Lt(), gast.NotIn()], [sub(), sub()]),
        lambda: gast.IfExp(sub(), sub(), sub()),
        lambda: gast.Call(sub(), [sub(), sub()], [gast.keyword("axis", sub())]),
        lambda: gast.Subscript(sub(), gast.Slice(sub(), sub(), None), gast.Load()),
        lambda: gast.Subscript(sub(), sub(), gast.Load()),
        lambda: gast.Attribute(sub(), "T", gast.Load()),
        lambda: gast.Tuple([sub(), sub()], gast.Load()),
        lambda: gast.List([sub()], gast.Load()),
        lambda: gast.Dict([sub(), None], [sub(), sub()]),
        lambda: gast.NamedExpr(name("w", store=True), sub()),
        lambda: gast.Lambda(expression("lambda p: 0").args, sub()),
        lambda: gast.ListComp(
            sub(), [gast.comprehension(name("c", store=True), sub(), [sub()], 0)]
        ),
        lambda: gast.JoinedStr([gast.FormattedValue(sub(), -1, None)]),
        lambda: gast.Await(sub()),
        lambda: gast.Yield(sub()),
    ]
    return rng.choice(make)()


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("seed", range(300))
def test_random_expressions_keep_their_trees(seed):
    tree = random_expression(random.Random(seed), 4)
    text = expression_text(tree)
    parsed = ast.parse(f"({text})", mode="eval").body
    assert ast.dump(parsed) == meaning(tree), text
