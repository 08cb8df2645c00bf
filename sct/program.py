"""From a function and what is asked of it to emitted functions.

A `Program` is one emitted module in the making: the derivative that was asked for and
those of the functions that it calls.  A function that is called gets one derivative for
each set of its arguments that is active; one that calls itself, or that has values to
keep, gets its two sweeps apart::

    e = g(q, k)     ──►   q_bar, k_bar = g_grad(q, k, out_bar=e_bar)

    r = f(x, n)     ──►   r, f_tape = f_fwd(x, n)
                          x_bar = f_bwd(x, n, tape=f_tape, out_bar=r_bar)
"""

from __future__ import annotations

import types
from dataclasses import replace

from sct.arguments import parameter_names
from sct.assemble import Assembly, TangentAssembly, computes_much
from sct.backends import NUMPY, Backend
from sct.context import Derived
from sct.control import is_checkpointed
from sct.derive import GIVEN, Differentiation, Given, seed_name
from sct.entry import entry
from sct.module import Unit
from sct.names import Names, used_names
from sct.normalise import Normal


class Program:
    """The emitted functions of one module.

    Parameters
    ----------
    optimize : bool
        Whether to simplify them.
    check_nan : bool
        Whether they look for numbers that are none.
    holomorphic : bool
        Whether the function asked for is taken to be holomorphic.
    backend : Backend
        The array library in whose names they are, where the function that they are for
        mentions none.
    """

    def __init__(
        self,
        optimize: bool = True,
        check_nan: bool = False,
        holomorphic: bool = False,
        backend: Backend = NUMPY,
    ):
        self.backend = backend
        # Whether one of the functions may write into an element or a sum of an array.
        self.writes = False
        self.optimize, self.check_nan = optimize, check_nan
        self.holomorphic = holomorphic
        self.units: dict[str, Unit] = {}
        self.names = Names(set())
        self.done: dict[tuple, Derived] = {}
        self.running: dict[tuple, Derived] = {}
        self.recursive: set[tuple] = set()
        # The backward sweeps that write into what the forward sweep has left.
        self.restoring: set[str] = set()

    # -- what is asked for ---------------------------------------------------------
    def derivative(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        mode: str,
        single: bool,
        aux: bool = False,
    ) -> str:
        """Emit the derivative of `function`; returns its name.

        Parameters
        ----------
        function : types.FunctionType
            The primal.
        wrt : tuple of str
            The parameters.
        mode : str
            ``"grad"``, ``"value_and_grad"``, ``"vjp"`` or ``"jvp"``.
        single : bool
            Whether the adjoint comes back by itself rather than in a tuple.
        aux : bool
            Whether the function returns a pair, of which the first is differentiated.
        """
        normal = entry(function, wrt)
        if mode == "jvp":
            return self.with_tangent(normal, wrt, inner=False).jvp
        key = (normal, wrt, GIVEN, False)
        name = self.reserve(f"{normal.source.name}_{mode}", normal)
        self.units[name] = None
        self.running[key] = self.split_names(normal, wrt)
        work = Differentiation(
            self,
            normal,
            wrt,
            GIVEN,
            mode=mode,
            single=single,
            aux=aux,
        )
        unit = Assembly(work).joint(name)
        derived = self.running.pop(key)
        if key in self.recursive:
            self.sweeps_apart(normal, wrt, GIVEN, derived)
            self.done[key] = derived
            if not aux:
                unit = Assembly(work).wrapper(name, derived)
        self.units[name] = unit
        return name

    def split_names(self, normal: Normal, wrt: tuple[str, ...]) -> Derived:
        """The names of two sweeps, without emitting anything."""
        stem = normal.source.name
        names = Names(used_names(normal.fn) | set(parameter_names(normal.fn)))
        tape, seed = names.fresh("tape"), seed_name(normal)
        return Derived(wrt, "", f"{stem}_fwd", f"{stem}_bwd", tape, seed)

    def with_tangent(
        self,
        normal: Normal,
        wrt: tuple[str, ...],
        given: Given = GIVEN,
        inner: bool = True,
        exact: bool = False,
    ) -> Derived:
        """A function that gives value and tangent, called by another one or not."""
        key = (normal, wrt, given, "jvp", exact)
        if key not in self.done:
            options = {"mode": "jvp", "single": True, "inner": inner, "exact": exact}
            work = Differentiation(self, normal, wrt, given, **options)
            name = self.reserve(f"{normal.source.name}_jvp", normal)
            self.units[name] = None
            # Known to those that call it again before it is written.
            self.done[key] = Derived(wrt, jvp=name, dots=work.seeds)
            self.units[name] = TangentAssembly(work).whole(name)
            reals = work.taken_for_real()
            self.done[key] = replace(self.done[key], reals=reals)
        return self.done[key]

    def product(
        self,
        function: types.FunctionType,
        wrt: tuple[str, ...],
        name: str,
        single: bool,
        said: str,
        vector: str = "v",
        value: bool = False,
    ) -> str:
        """Emit the product of the Jacobian of `function` with a vector.

        Parameters
        ----------
        function : types.FunctionType
            The primal.
        wrt : tuple of str
            The parameters.
        name : str
            What to call it.
        single : bool
            Whether the vector is one tangent rather than a tuple of them.
        said : str
            Its docstring, with ``{v}`` for the vector.
        vector : str
            What to call the vector, if no parameter is called so.
        value : bool
            Whether it returns the value and the product.
        """
        normal = entry(function, wrt)
        work = Differentiation(
            self, normal, wrt, GIVEN, mode="product", single=single, vector=vector
        )
        name = self.reserve(name, normal)
        self.units[name] = None
        said = said.format(v=work.vector)
        self.units[name] = TangentAssembly(work).product(name, said, value)
        return name

    def called(
        self,
        normal: Normal,
        wrt: tuple[str, ...],
        given: Given = GIVEN,
        whole: bool = False,
    ) -> Derived:
        """The derivative of a function that another one calls.

        It is one function where both sweeps in one will do, and where the function is
        marked by `sct.checkpoint` or must be `whole`.
        """
        whole = whole or is_checkpointed(normal.source.function)
        key = (normal, wrt, given, whole)
        if key in self.done:
            return self.done[key]
        if key in self.running:
            if key not in self.recursive and not whole:
                self.recursive.add(key)
                named = self.running[key]
                fwd = self.reserve(named.fwd, normal)
                bwd = self.reserve(named.bwd, normal)
                self.running[key] = replace(named, fwd=fwd, bwd=bwd)
            return self.running[key]
        self.running[key] = self.split_names(normal, wrt)
        work = Differentiation(
            self, normal, wrt, given, mode="grad", single=True, inner=True
        )
        before = dict(self.units)
        name = self.reserve(f"{normal.source.name}_grad", normal)
        self.units[name] = None
        if whole:
            self.running[key] = Derived(wrt, grad=name, seed=work.seed)
        unit = Assembly(work).joint(name)
        derived = self.running.pop(key)
        if key in self.recursive or not whole and computes_much(unit.tree):
            # What it calls has been emitted, for the two sweeps as well.
            calls = {n: u for n, u in self.units.items() if n not in {*before, name}}
            self.units = before
            if key not in self.recursive:
                derived = replace(
                    derived,
                    fwd=self.reserve(derived.fwd, normal),
                    bwd=self.reserve(derived.bwd, normal),
                )
            derived = self.sweeps_apart(normal, wrt, given, derived)
            self.units |= calls
        else:
            reals = work.taken_for_real()
            derived = Derived(wrt, grad=name, seed=work.seed, reals=reals)
            self.units[name] = unit
        self.done[key] = derived
        return derived

    def apart(
        self, function: types.FunctionType, wrt: tuple[str, ...], aux: bool = False
    ) -> tuple[Derived, set[str]]:
        """Emit the two sweeps of a function that is asked for itself.

        Returns
        -------
        Derived
            Their names.
        set of str
            Those of `wrt` that may be containers or objects.
        """
        normal = entry(function, wrt)
        named = self.split_names(normal, wrt)
        fwd, bwd = self.reserve(named.fwd, normal), self.reserve(named.bwd, normal)
        derived = replace(named, fwd=fwd, bwd=bwd)
        work = Differentiation(self, normal, wrt, GIVEN, "vjp", single=True, aux=aux)
        self.split(work, derived)
        return derived, work.structures.all & set(wrt)

    def sweeps_apart(self, normal, wrt, given: Given, derived: Derived) -> Derived:
        """Emit the two sweeps of a function under the names of `derived`."""
        self.done[normal, wrt, given, False] = derived
        work = Differentiation(
            self, normal, wrt, given, mode="grad", single=True, inner=True
        )
        self.split(work, derived)
        return replace(derived, reals=work.taken_for_real())

    def split(self, work: Differentiation, derived: Derived) -> None:
        self.units[derived.fwd] = self.units[derived.bwd] = None
        self.units[derived.fwd], self.units[derived.bwd] = Assembly(work).split(derived)

    def reserve(self, wish: str, normal: Normal) -> str:
        """A name for a unit."""
        self.names.used |= used_names(normal.fn)
        return self.names.fresh(wish)
