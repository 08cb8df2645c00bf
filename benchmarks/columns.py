"""The columns of the table: every way to get one program's gradient.

A column is a label and a maker; the maker takes the program's arguments and gives
a `Run`: a call without arguments, and what turns its result into NumPy arrays.

primal     the program itself
hand       its hand-written gradient (programs.py); hand:X, further ones
sct        sct.grad of the program as written
autograd   HIPS autograd: the program as written where it can, else the rewrite in
           autograd_programs.py, noted "rw"
jax        jit(grad) of the version in jax_programs.py, 64 bit; jax:X, other versions
torch      eager PyTorch, a few programs
jvp        the value and a tangent by sct.jvp, to be compared with primal
hvp        the product of the Hessian and a vector by sct.hvp, to be compared with sct
nb         numba.njit of a hand-written gradient in loops; nb:X, other ones
sct+nb     numba.njit of the gradient that sct emitted
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch

import numpy as np
import programs

import sct

DEFAULT = ("primal", "hand", "sct", "jvp", "hvp", "autograd", "jax", "torch")


@dataclass
class Run:
    """One column of one program, ready to be timed.

    Parameters
    ----------
    call : callable
        Computes the gradient once.
    to_numpy : callable or None
        Turns its result into a tuple of arrays; None where there is no gradient.
    note : str
        Printed beside the figure.
    """

    call: Callable[[], object]
    to_numpy: Callable[[object], tuple] | None = None
    note: str = ""


def arrays(result: object) -> tuple:
    """The gradients as a tuple of NumPy arrays."""
    result = result if isinstance(result, tuple) else (result,)
    return tuple(np.asarray(r) for r in result)


def optional(name: str) -> types.ModuleType | None:
    """The module, or None with a word on stderr where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        print(f"# without {name}: {error}", file=sys.stderr)
        return None


class Columns:
    """The makers of all columns whose packages are installed.

    Parameters
    ----------
    wanted : sequence of str
        Labels, or patterns such as ``hand*``; what they do not name is not imported.
    """

    def __init__(self, wanted):
        self.wanted = wanted
        self.made: dict = {}
        self.autograd = self._package("autograd", "autograd")
        self.jax = self._package("jax", "jax")
        self.torch = self._package("torch", "torch")
        self.numba = self._package("numba", "nb", "sct+nb")
        if self.autograd:
            self._load_autograd()
        if self.jax:
            # Inline instead of on another thread: JAX at its best on one CPU.
            self.jax.config.update("jax_cpu_enable_async_dispatch", False)
            self.jax_programs = importlib.import_module("jax_programs")
        if self.torch:
            self.torch.set_num_threads(1)
            self.torch_programs = importlib.import_module("torch_programs")

    def of(self, program) -> Iterator[tuple[str, Callable[[tuple], Run]]]:
        """The wanted columns of one program, as label and maker."""
        for label, maker in self._all(program):
            if any(fnmatch(label, pattern) for pattern in self.wanted):
                yield label, maker

    def _package(self, name, *labels):
        wanted = any(pattern.startswith(labels) for pattern in self.wanted)
        return optional(name) if wanted else None

    def _all(self, p):
        yield "primal", lambda a: Run(lambda: p.fn(*a))
        yield "hand", lambda a: Run(lambda: p.grad(*a), arrays)
        for label, gradient in p.alts.items():
            yield f"hand:{label}", lambda a, g=gradient: Run(lambda: g(*a), arrays)
        yield "sct", lambda a: self._sct(p, a)
        yield "jvp", lambda a: self._product(p, a, sct.jvp)
        yield "hvp", lambda a: self._product(p, a, sct.hvp)
        if self.autograd:
            yield "autograd", lambda a: self._autograd(p, a)
        if self.jax and p.name in self.jax_programs.FNS:
            yield "jax", lambda a: self._jax(p, a, self.jax_programs.FNS[p.name])
            for label, f in self.jax_programs.ALTS.get(p.name, {}).items():
                yield f"jax:{label}", lambda a, f=f: self._jax(p, a, f)
        if self.torch and p.name in self.torch_programs.FNS:
            yield "torch", lambda a: self._torch(p, a)
        if self.numba and p.numba:
            yield "sct+nb", lambda a: self._sct_numba(p, a)
            for label, f in p.numba.items():
                yield label, lambda a, f=f: self._numba(f, a)

    def _once(self, key, make):
        if key not in self.made:
            self.made[key] = make()
        return self.made[key]

    def _sct(self, p, args):
        key = "sct", p.name
        gradient = self._once(key, lambda: sct.grad(p.fn, wrt=p.wrt))
        return Run(lambda: gradient(*args), arrays)

    def _product(self, p, args, operator):
        """A derivative along a direction, the same for both operators."""
        made = self._once((operator, p.name), lambda: operator(p.fn, wrt=p.wrt))
        rng = np.random.default_rng(0)
        along = tuple(
            rng.standard_normal(args[i].shape)
            if isinstance(args[i], np.ndarray)
            else float(rng.standard_normal())
            for i in p.wrt
        )
        if operator is sct.hvp:
            directions = {"v": along}
        else:
            parameters = list(inspect.signature(p.fn).parameters)
            words = [f"{parameters[i]}_dot" for i in p.wrt]
            directions = dict(zip(words, along, strict=True))
        return Run(lambda: made(*args, **directions))

    def _sct_numba(self, p, args):
        key = "sct+nb", p.name
        emitted = self._once(
            key, lambda: self.numba.njit(self._compilable(sct.grad(p.fn, wrt=p.wrt)))
        )
        return Run(lambda: emitted(*args), arrays)

    def _numba(self, f, args):
        compiled = self._once(
            ("numba", f), lambda: self.numba.njit(self._compilable(f))
        )
        return Run(lambda: compiled(*args), arrays)

    def _compilable(self, f):
        """A copy of `f` that calls compiled copies of the helpers in its module."""
        helpers = {
            name: self.numba.njit(self._compilable(value))
            for name in f.__code__.co_names
            for value in [f.__globals__.get(name)]
            if isinstance(value, types.FunctionType)
            and value.__module__ == f.__module__
        }
        copy = types.FunctionType(f.__code__, {**f.__globals__, **helpers}, f.__name__)
        copy.__kwdefaults__ = f.__kwdefaults__
        return copy

    def _load_autograd(self):
        """The programs once more, with `np` meaning autograd's wrapped NumPy."""
        self.autograd_programs = importlib.import_module("autograd_programs")
        spec = importlib.util.spec_from_file_location("as_written", programs.__file__)
        self.as_written = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self.as_written)
        self.as_written.np = importlib.import_module("autograd.numpy")

    def _autograd(self, p, args):
        gradient, note = self._once(
            ("autograd", p.name), lambda: self._autograd_gradient(p)
        )
        return Run(lambda: gradient(*args), arrays, note)

    def _autograd_gradient(self, p):
        as_written = self.autograd.grad(getattr(self.as_written, p.fn.__name__), p.wrt)
        try:
            as_written(*p.make(p.sizes["S"]))
        except Exception as error:  # whatever autograd raises means the same here
            if p.name not in self.autograd_programs.FNS:
                why = "in-place" if p.inplace else type(error).__name__
                raise NotImplementedError(why) from error
            return self.autograd.grad(self.autograd_programs.FNS[p.name], p.wrt), "rw"
        return as_written, ""

    def _jax(self, p, args, f):
        jax = self.jax
        static = self.jax_programs.STATIC[p.name]
        gradient = self._once(
            ("jax", f),
            lambda: jax.jit(jax.grad(f, argnums=p.wrt), static_argnums=static),
        )
        args = [a if i in static else jax.numpy.asarray(a) for i, a in enumerate(args)]
        return Run(lambda: jax.block_until_ready(gradient(*args)), arrays)

    def _torch(self, p, args):
        torch = self.torch
        args = [
            torch.tensor(a) if i in p.wrt or isinstance(a, np.ndarray) else a
            for i, a in enumerate(args)
        ]
        leaves = [args[i].requires_grad_(True) for i in p.wrt]
        f = self.torch_programs.FNS[p.name]
        return Run(
            lambda: torch.autograd.grad(f(*args), leaves),
            lambda result: tuple(r.numpy() for r in result),
        )
