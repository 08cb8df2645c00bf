"""What of NumPy and SciPy is differentiated, by sct and by other tools: measured.

::

    python docs/coverage.py                   writes coverage.md from coverage.json
    python docs/coverage.py measure sct       measures a tool, keeps what it finds
    python docs/coverage.py measure sct N...  measures some names again

`coverage.txt` lists names and calls of them.  Each call becomes a function of the
variables that it mentions, which returns a number: what the call gives, times fixed
weights.  Its derivatives along a fixed direction are compared with differences of the
plain function.
"""

from __future__ import annotations

import ast
import copy
import functools
import importlib
import itertools
import json
import linecache
import math
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).parent
LIST, DATA, PAGE = (FOLDER / f"coverage.{end}" for end in ("txt", "json", "md"))
TOOLS = ("sct", "autograd", "jax")
QUESTIONS = ("reverse", "forward", "second", "complex")
SUBMODULES = (
    *("special", "linalg", "stats", "signal", "integrate", "spatial.distance", "fft"),
    *("ndimage", "interpolate", "optimize", "sparse", "sparse.linalg"),
)


def apart(*shape: int, seed: int = 0) -> np.ndarray:
    """An array of different numbers of both signs, away from zero."""
    random = np.random.default_rng(seed)
    size = int(np.prod(shape))
    signs = random.choice([-1.0, 1.0], size)
    return np.reshape(signs * random.permutation(0.3 + 0.11 * np.arange(size)), shape)


VARIABLES = {
    "x": np.array([0.7, -1.2, 0.4]),
    "y": np.array([-0.5, 0.8, 1.6]),
    "p": np.array([0.6, 1.4, 2.2]),
    "q": np.array([1.1, 0.5, 1.9]),
    "s": np.array([0.2, 0.5, 0.8]),
    "u": np.array([0.3, -1.1, 2.2, 0.9, -0.4]),
    "M": apart(3, 4),
    "N": apart(4, 2),
    "A": apart(3, 3, seed=1) + np.diag([3.0, 4.0, 5.0]),
    "B": apart(3, 3, seed=2) + np.diag([4.0, 3.0, 6.0]),
    "T": apart(2, 3, 4),
    "f": 0.7,
    "g": 1.3,
}
GIVEN = {"i": np.array([2, 0, 2])}
# Seconds after which a call is given up.
LIMIT = 60


def names() -> Iterator[tuple[str, str, list[str]]]:
    """Priority, name and calls."""
    priority, name, calls = "", "", []
    for line in [*LIST.read_text(encoding="utf-8").splitlines(), "[end]"]:
        if line.startswith("    "):
            calls.append(line.strip())
        elif line and not line.startswith("#"):
            if name:
                yield priority, name, calls
            name, calls = "", []
            if line.startswith("["):
                priority = line.strip("[]")
            else:
                name = line


def space_of(tool: str) -> dict[str, object]:
    """The names that calls see: NumPy, SciPy or what a tool has in their place."""
    base = {"autograd": "autograd.", "jax": "jax."}.get(tool, "")
    space: dict[str, object] = {
        "math": math,
        "cmath": importlib.import_module("cmath"),
        "functools": functools,
        "itertools": itertools,
        "copy": copy,
        "np": importlib.import_module(f"{base}numpy"),
        **GIVEN,
    }
    for name in SUBMODULES:
        try:
            module = importlib.import_module(f"{base}scipy.{name}")
        except ImportError:
            continue
        if "." not in name or name == "spatial.distance":
            space[name.rpartition(".")[2]] = module
    return space


def leaves(value: object, path: str = "") -> Iterator[tuple[str, object]]:
    """The numbers and arrays of floats in a result, and where they stand in it."""
    if isinstance(value, (tuple, list)):
        for k, part in enumerate(value):
            yield from leaves(part, f"{path}[{k}]")
    elif np.asarray(value).dtype.kind in "fc":
        yield path, value


class Call:
    """A call as a function of the variables that it mentions."""

    def __init__(self, text: str):
        *self.before, self.last = [part.strip() for part in text.split(";")]
        mentioned = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
        self.variables = [n for n in VARIABLES if n in mentioned]
        random = np.random.default_rng(3)
        self.v = {
            n: random.normal(size=np.shape(VARIABLES[n]))[()] for n in self.variables
        }

    def function(self, space: dict, values: dict) -> Callable:
        """The function, of whatever tool's names, whose result is a number."""
        plain = self.build(space_of("numpy"), "return r")
        out = plain(*copy.deepcopy(list(values.values())))
        terms, weights = [], {}
        for k, (path, leaf) in enumerate(leaves(out)):
            count = np.arange(np.size(leaf), dtype=float)
            weights[f"w{k}"] = np.reshape(np.cos(count + 0.3 * k), np.shape(leaf))
            terms.append(f"np.sum(w{k} * r{path})")
        if not terms:
            raise ValueError("the result holds no floats")
        total = " + ".join(terms)
        if any(np.iscomplexobj(leaf) for _, leaf in leaves(out)):
            total = f"np.real({total})"
        return self.build({**space, **weights}, f"return {total}")

    def build(self, space: dict, last: str, body: list[str] | None = None) -> Callable:
        lines = [*self.before, f"r = {self.last}"] if body is None else body
        text = f"def call({', '.join(self.variables)}):\n"
        text += "".join(f"    {line}\n" for line in [*lines, last])
        filename = f"<coverage {next(_count)}>"
        linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
        space = {**space, "__name__": filename.strip("<>").replace(" ", "_")}
        exec(compile(text, filename, "exec"), space)
        return space["call"]


_count = itertools.count(1)


def differences(f: Callable, values: dict, v: dict, order: int) -> tuple[float, float]:
    """A derivative along `v` by differences, and how far it may be off."""
    found = []
    for step in (1e-2, 5e-3):
        if order == 1:
            weights = {1: 45 / 60, 2: -9 / 60, 3: 1 / 60}
        else:
            weights = {0: -49 / 36, 1: 3 / 2, 2: -3 / 20, 3: 1 / 90}
        total = 0.0
        for k, weight in weights.items():
            sign = -1.0 if order == 1 else 1.0
            ahead, behind = (
                f(*[np.asarray(x + t * v[n])[()] for n, x in values.items()])
                for t in (k * step, -k * step)
            )
            total += weight * (ahead + sign * behind) / step**order
        found.append(float(np.real(total)))
    return found[1], abs(found[1] - found[0])


def right(got: float, reference: tuple[float, float]) -> bool:
    expected, slack = reference
    return abs(got - expected) <= 1e-6 * (1.0 + abs(expected)) + slack


def inner(bars, call: Call) -> float:
    total = 0.0
    for x_bar, d in zip(bars, call.v.values(), strict=True):
        if np.shape(x_bar) != np.shape(d):
            return math.nan
        total += np.sum(np.asarray(x_bar) * d)
    return float(np.real(total))


class Sct:
    """How a tool is asked for derivatives along a direction."""

    def __init__(self, space: dict):
        import sct

        self.sct, self.space = sct, space

    def reverse(self, call, f, values):
        given = tuple(values.values())
        # What is complex has to be said beforehand.
        like = given if any(map(np.iscomplexobj, given)) else None
        return [inner(self.sct.grad(f, wrt=tuple(values), like=like)(*given), call)]

    def forward(self, call, f, values):
        dots = {f"{n}_dot": d for n, d in call.v.items()}
        return [float(self.sct.jvp(f, wrt=tuple(values))(*values.values(), **dots)[1])]

    def second(self, call, f, values):
        df = self.sct.grad(f, wrt=tuple(values))
        bars = "".join(f"{n}_bar, " for n in values)
        body = [f"{bars}= df({', '.join(values)})"]
        total = " + ".join(f"np.sum(v_{n} * {n}_bar)" for n in values)
        space = {**self.space, "df": df, **{f"v_{n}": d for n, d in call.v.items()}}
        slope = call.build(space, f"return {total}", body)
        return self.reverse(call, slope, values) + self.forward(call, slope, values)


class Autograd:
    def __init__(self, space: dict):
        import autograd

        self.tool, self.space = autograd, space

    def reverse(self, call, f, values):
        numbers = tuple(range(len(values)))
        return [inner(self.tool.grad(f, numbers)(*values.values()), call)]

    def forward(self, call, f, values):
        total = 0.0
        for k, d in enumerate(call.v.values()):
            total += float(self.tool.make_jvp(f, k)(*values.values())(d)[1])
        return [total]

    def second(self, call, f, values):
        df = self.tool.grad(f, tuple(range(len(values))))
        np_ = self.space["np"]

        def slope(*args):
            return sum(np_.sum(d * b) for b, d in zip(df(*args), call.v.values()))

        return self.reverse(call, slope, values)


class Jax:
    def __init__(self, space: dict):
        import jax

        jax.config.update("jax_enable_x64", True)
        self.tool, self.space = jax, space

    def reverse(self, call, f, values):
        numbers = tuple(range(len(values)))
        given = [self.tool.numpy.asarray(x) for x in values.values()]
        return [inner(self.tool.grad(f, numbers)(*given), call)]

    def forward(self, call, f, values):
        asarray = self.tool.numpy.asarray
        given = tuple(asarray(x) for x in values.values())
        dots = tuple(asarray(d) for d in call.v.values())
        return [float(self.tool.jvp(f, given, dots)[1])]

    def second(self, call, f, values):
        df = self.tool.grad(f, tuple(range(len(values))))
        np_ = self.space["np"]

        def slope(*args):
            return sum(np_.sum(d * b) for b, d in zip(df(*args), call.v.values()))

        return self.reverse(call, slope, values)


def give_up(number: int, frame: object) -> None:
    raise TimeoutError


def answer(tool, call: Call, question: str) -> str:
    """``yes``, ``no`` (it is refused), ``wrong``, or ``-`` where NumPy refuses."""
    values = {n: copy.deepcopy(VARIABLES[n]) for n in call.variables}
    if question == "complex":
        values = {n: x * (1.0 + 0.2j) + 0.05j for n, x in values.items()}
    order = 2 if question == "second" else 1
    try:
        plain = call.function(space_of("numpy"), values)
        reference = differences(plain, values, call.v, order)
    except Exception:
        return "-"
    ask = getattr(tool, "reverse" if question == "complex" else question)
    before = signal.signal(signal.SIGALRM, give_up)
    signal.alarm(LIMIT)
    try:
        f = call.function(tool.space, values)
        found = ask(call, f, values)
    except Exception:
        return "no"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return "yes" if all(right(got, reference) for got in found) else "wrong"


def measured(tool, calls: list[str]) -> dict[str, object]:
    """What is found for one name."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        first = Call(calls[0])
        found = {q: answer(tool, first, q) for q in QUESTIONS}
        both = [
            {answer(tool, Call(text), q) for q in ("reverse", "forward")}
            for text in calls[1:]
        ]
    good = {found["reverse"], found["forward"]} <= {"yes"}
    found["calls"] = [int(good), *[int(b == {"yes"}) for b in both]]
    return found


def measure(name: str, only: list[str]) -> None:
    """Measure a tool on all names, or on some, and keep what is found at once."""
    tool = {"sct": Sct, "autograd": Autograd, "jax": Jax}[name](space_of(name))
    for _, n, calls in names():
        if not only or n in only:
            keep(name, n, measured(tool, calls))


def keep(tool: str, name: str, found: dict[str, object]) -> None:
    """Write what a tool does with a name; names are kept in the order of the list."""
    data = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    rows = {**data.get(tool, {}), name: found}
    data[tool] = {n: rows[n] for _, n, _ in names() if n in rows}
    data = {t: data[t] for t in TOOLS if t in data}
    DATA.write_text(text_of(data), encoding="utf-8")


def text_of(data: dict) -> str:
    """The data, one name on a line."""
    parts = []
    for tool, found in data.items():
        rows = [f"  {json.dumps(n)}: {json.dumps(row)}" for n, row in found.items()]
        parts.append(f"{json.dumps(tool)}: {{\n" + ",\n".join(rows) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


MARKS = {"yes": "✓", "no": "", "wrong": "wrong", "-": "–"}


def page(data: dict) -> str:
    """The text of coverage.md: of the tools that all names were measured of."""
    listed = list(names())
    data = {t: rows for t, rows in data.items() if len(rows) == len(listed)}
    lines = [INTRODUCTION, totals(data, listed)]
    for priority in ("must", "should", "nice"):
        lines += [f"\n## {TITLES[priority]}\n", head(data)]
        for p, name, _ in listed:
            if p == priority:
                lines.append(row(name, data))
    return "\n".join(lines) + "\n"


def row(name: str, data: dict) -> str:
    """One name of the table, for each tool that has been measured."""
    cells = []
    for tool, found in data.items():
        asked_of = QUESTIONS if tool == "sct" else QUESTIONS[:3]
        cells += [MARKS[found[name][q]] for q in asked_of]
        right_calls = found[name]["calls"]
        cells.append(f"{sum(right_calls)}/{len(right_calls)}")
    return f"| `{name}` | " + " | ".join(cells) + " |"


def head(data: dict) -> str:
    """The first lines of the table."""
    cells = ["reverse", "forward", "second", "complex", "calls"]
    for tool in data:
        if tool != "sct":
            cells += [f"{tool}: reverse", "forward", "second", "calls"]
    return f"| | {' | '.join(cells)} |\n|---|{'---|' * len(cells)}"


def totals(data: dict, listed: list) -> str:
    """How many names and calls are right."""
    lines = [f"| names | of | {' | '.join(data)} |", f"|---|---|{'---|' * len(data)}"]
    for priority in ("must", "should", "nice", "all"):
        chosen = [n for p, n, _ in listed if priority in (p, "all")]
        if priority == "all":
            chosen = [n for _, n, _ in listed]
        for q in ("reverse", "forward", "second"):
            counts = [sum(d[n][q] == "yes" for n in chosen) for d in data.values()]
            cells = " | ".join(map(str, counts))
            lines.append(f"| {priority}, {WORDS[q]} | {len(chosen)} | {cells} |")
    calls = [sum(sum(r["calls"]) for r in d.values()) for d in data.values()]
    every = sum(len(r["calls"]) for r in data["sct"].values())
    lines.append(f"| all calls, both modes | {every} | {' | '.join(map(str, calls))} |")
    wrong = [
        sum("wrong" in asked(r).values() for r in d.values()) for d in data.values()
    ]
    lines.append(f"| wrong, without an error | | {' | '.join(map(str, wrong))} |")
    return "\n".join(lines)


def asked(found: dict) -> dict:
    """What all tools are asked."""
    return {q: found[q] for q in QUESTIONS[:3]}


WORDS = {"reverse": "reverse mode", "forward": "forward mode", "second": "second order"}
TITLES = {
    "must": "What programs commonly contain",
    "should": "What ordinary scientific code contains",
    "nice": "What is rare",
}
INTRODUCTION = """# Coverage

What of NumPy, SciPy, `math` and Python is differentiated, measured by
[coverage.py](coverage.py) on the calls in [coverage.txt](coverage.txt) and compared
with differences of the plain function: by `sct`, and by the other tools with the same
text, `np` and `scipy` replaced by theirs. A tick says that the first call of a
name is right; nothing, that it is refused; *wrong*, that something else than the
derivative comes back without an error; a dash, that the function itself takes no such
argument, or has no such derivative. *Second* is by reverse over reverse, for `sct` also
by forward over reverse; *complex* is the gradient for complex arguments. *calls* counts
the calls of a name that are right in both modes: keywords, methods, shapes.
"""


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        measure(sys.argv[2], sys.argv[3:])
    PAGE.write_text(page(json.loads(DATA.read_text(encoding="utf-8"))), "utf-8")
