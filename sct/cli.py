"""Derivatives from the command line, ahead of time.

    python -m sct grad model:loss --wrt w,b --out loss_grad.py

writes what `sct.save` writes; with ``--check`` nothing is written, and the exit
status says whether the file is up to date.
"""

from __future__ import annotations

import argparse
import difflib
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from . import api, operators, store
from .errors import ArgumentError, SctError
from .version import __version__

COMMANDS = {
    "grad": "the gradient of a function that returns a number",
    "value_and_grad": "the value and the gradient",
    "vjp": "the value, and adjoints for a given seed",
    "jvp": "the value, and its tangent along given tangents",
    "jacobian": "the Jacobian of a function that returns arrays",
    "hessian": "the Hessian of a function that returns a number",
    "hvp": "the product of the Hessian and a vector",
    "elementwise_grad": "the derivative of a function that maps element by element",
}

EPILOG = """\
examples:
  python -m sct grad model:loss                             print the gradient
  python -m sct grad model:loss --wrt w,b --out loss_grad.py
  python -m sct grad model:loss --wrt w,b --out loss_grad.py --check
  python -m sct vjp package.module:Class.function --wrt 0

exit status: 0 done or up to date, 1 stale (--check), 2 an error
"""

DIFF_LINES = 40


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments : sequence of str, optional
        What follows the name of the program; by default that of the process.

    Returns
    -------
    int
        The exit status.
    """
    options = _parser().parse_args(arguments)
    try:
        if options.check and options.out is None:
            raise ArgumentError("--check needs the file to compare with: give --out")
        module = api if hasattr(api, options.command) else operators
        df = getattr(module, options.command)(
            _function(options.function), wrt=options.wrt
        )
        if options.out is None:
            sys.stdout.write(store.source(df))
        elif options.check:
            return _check(store.source(df), options.out)
        else:
            store.save(df, options.out)
    except (SctError, OSError) as error:
        print(f"sct: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="sct",
        description="Write the derivative of a NumPy function as a Python module.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"sct {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for name, text in COMMANDS.items():
        command = commands.add_parser(
            name,
            help=text,
            description=f"Write {text}.",
            epilog=EPILOG,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.add_argument(
            "function", help="module and function, such as package.module:name"
        )
        command.add_argument(
            "--wrt",
            type=_wrt,
            default=0,
            metavar="NAMES",
            help="parameters, by name or position, with commas (default: the first)",
        )
        command.add_argument(
            "--out",
            type=Path,
            metavar="FILE",
            help="the module to write (default: print it)",
        )
        command.add_argument(
            "--check",
            action="store_true",
            help="write nothing; fail when FILE is not what would be written",
        )
    return parser


def _wrt(text: str) -> int | str | tuple[int | str, ...]:
    several = tuple(
        int(word) if word.isdecimal() else word
        for word in text.replace(",", " ").split()
    )
    if not several:
        raise argparse.ArgumentTypeError("name at least one parameter")
    return several[0] if len(several) == 1 else several


def _function(place: str) -> Callable:
    """The object that ``module:name.name`` denotes, looked for from this folder."""
    module, colon, path = place.partition(":")
    if not (module and colon and path):
        raise ArgumentError(f"{place!r} is not of the form package.module:function")
    folder = os.getcwd()
    if folder not in sys.path:
        sys.path.insert(0, folder)
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ArgumentError(f"cannot import {module!r}: {error}") from None
    for name in path.split("."):
        if not hasattr(found, name):
            raise ArgumentError(f"{module!r} has no {path!r}")
        found = getattr(found, name)
    return found


def _check(text: str, path: Path) -> int:
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if old == text:
        return 0
    diff = list(
        difflib.unified_diff(
            old.splitlines(),
            text.splitlines(),
            str(path),
            "as it would be written",
            lineterm="",
        )
    )
    state = "is stale" if path.exists() else "does not exist"
    print(f"sct: {path} {state}", file=sys.stderr)
    print("\n".join(diff[:DIFF_LINES]), file=sys.stderr)
    if len(diff) > DIFF_LINES:
        print(f"... and {len(diff) - DIFF_LINES} lines more", file=sys.stderr)
    return 1
