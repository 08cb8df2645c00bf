"""A stand-in for CuPy where there is no GPU: its arrays and names, on top of NumPy.

What tells CuPy from NumPy is here as it is there: an element or a sum of an array is an
array without axes, a view where a row would be one; arrays never become NumPy's by
themselves, nor NumPy's arrays CuPy's; functions take arrays and not numbers, unless
they are ufuncs or are listed; NumPy's functions hand on to those of the same name; and
what CuPy lacks is not there.  `tests/test_cupy.py` compares the names with those of
CuPy where that is installed.
"""

from __future__ import annotations

import importlib
import operator
import sys
import types
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

# What NumPy has and CuPy 14 has not, of what derivatives could ask for.
LACKING = {
    "numpy": """asmatrix block bmat einsum_path errstate frompyfunc fromregex geomspace
        histogram_bin_edges insert longdouble matrix matvec nanpercentile nanquantile
        ndenumerate nditer polyder polydiv polyint seterr spacing unstack vecdot
        vecmat""".split(),
    "numpy.linalg": """diagonal matrix_norm multi_dot outer svdvals tensordot trace
        vecdot vector_norm""".split(),
    "numpy.fft": [],
    "numpy.random": [],
}
# What it has of the functions of `scipy.special`, where it lacks most.
SPECIAL = """beta betainc betaincinv betaln binom boxcox boxcox1p cbrt cosdg cosm1
    digamma ellipk entr erf erfc erfcinv erfcx erfinv exp1 exp10 exp2 expi expit expm1
    expn exprel gamma gammainc gammaincc gammainccinv gammaincinv gammaln gammasgn huber
    i0 i0e i1 i1e inv_boxcox inv_boxcox1p j0 j1 k0 k0e k1 k1e kl_div lambertw log1p
    log_expit log_ndtr log_softmax loggamma logit logsumexp multigammaln ndtr ndtri
    poch polygamma pseudo_huber psi rel_entr rgamma sinc sindg softmax tandg xlog1py
    xlogy y0 y1 yn zeta""".split()
# The keywords that its functions have not.
LACKING_KEYWORDS = {
    **dict.fromkeys("amax amin max min nanmax nanmin".split(), {"initial", "where"}),
    **dict.fromkeys(["prod", "sum"], {"initial", "where"}),
    **dict.fromkeys(["mean", "nanmean", "nanprod", "nansum", "any", "all"], {"where"}),
    **dict.fromkeys(["std", "var"], {"where", "mean", "correction"}),
    **dict.fromkeys(["nanstd", "nanvar"], {"where", "correction"}),
    **dict.fromkeys(["broadcast_to", "broadcast_arrays", "copy"], {"subok"}),
    "clip": {"min", "max"},
    "cholesky": {"upper"},
    "pinv": {"hermitian", "rtol"},
    "svd": {"hermitian"},
    "sort": {"order", "stable"},
    "argsort": {"order", "stable"},
    "take": {"mode"},
}
# These take numbers and lists in the place of their first array.
FREE = set(
    """allclose angle append arange array asanyarray asarray atleast_1d atleast_2d
    atleast_3d average broadcast_arrays broadcast_shapes can_cast default_rng
    diag_indices diagflat diff dtype einsum empty eye fftfreq finfo full gradient
    identity iinfo imag indices isclose iscomplexobj isrealobj isscalar issubdtype
    linspace logspace min_scalar_type nan_to_num ndim normal ones percentile
    promote_types quantile rand randn random real resize result_type rfftfreq round
    seed shape tile tri tril tril_indices triu triu_indices uniform vander
    zeros""".split()
)
# These give what NumPy's give: numbers, shapes, kinds.
PLAIN = set(
    """shape ndim size result_type dtype finfo iinfo broadcast_shapes can_cast isscalar
    iscomplexobj isrealobj may_share_memory shares_memory min_scalar_type promote_types
    issubdtype common_type seed""".split()
)


class ndarray:
    """An array that is somewhere else."""

    __module__ = "cupy"
    # Never handed to NumPy, and stronger than its numbers.
    __array_priority__ = 100
    __slots__ = ("__held__",)

    def __init__(self, held: np.ndarray):
        self.__held__ = held

    def __array__(self, *args, **kwargs):
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` "
            "to construct a NumPy array explicitly."
        )

    def get(self) -> np.ndarray:
        """A copy here."""
        return self.__held__.copy()

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        name = ufunc.__name__
        if method != "__call__" or not hasattr(sys.modules["cupy"], name):
            return NotImplemented
        return getattr(sys.modules["cupy"], name)(*inputs, **kwargs)

    def __array_function__(self, function, kinds, args, kwargs):
        module = function.__module__.replace("numpy", "cupy", 1)
        owner = sys.modules.get(module, sys.modules["cupy"])
        if not hasattr(owner, function.__name__):
            return NotImplemented
        return getattr(owner, function.__name__)(*args, **kwargs)

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        refuse_numpy(index)
        index = unwrapped(index)
        # Without axes it still is an array, and a view where a row would be one.
        more = () if Ellipsis in [i for i in index if i is Ellipsis] else (...,)
        return ndarray(self.__held__[(*index, *more)])

    def __setitem__(self, index, value):
        refuse_numpy((index, value))
        self.__held__[unwrapped(index)] = unwrapped(value)

    def __len__(self):
        return len(self.__held__)

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self.__held__)

    def __float__(self):
        return float(self.__held__)

    def __int__(self):
        return int(self.__held__)

    def __complex__(self):
        return complex(self.__held__)

    def __index__(self):
        return operator.index(self.__held__)

    def __repr__(self):
        return repr(self.__held__)

    __hash__ = None

    def item(self, *args):
        return self.__held__.item(*args)

    def tolist(self):
        return self.__held__.tolist()

    @property
    def flags(self):
        return self.__held__.flags

    def fill(self, value):
        self.__held__.fill(unwrapped(value))

    def sort(self, *args, **kwargs):
        self.__held__.sort(*args, **kwargs)


def _operator(name: str):
    def method(self, *others):
        if any(isinstance(o, np.ndarray) for o in others):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        if any(isinstance(o, (list, tuple, dict, str)) for o in others):
            return NotImplemented
        if name.startswith("__i") and name not in ("__invert__",):
            held = getattr(self.__held__, name)(*unwrapped(others))
            if held is NotImplemented:
                return held
            assert held is self.__held__
            return self
        # Of an array that has no axes NumPy's own operators give numbers.
        return wrapped(getattr(self.__held__, name)(*unwrapped(others)))

    return method


for word in """add sub mul truediv floordiv mod pow matmul and or xor""".split():
    for kind in ("", "r", "i"):
        setattr(ndarray, f"__{kind}{word}__", _operator(f"__{kind}{word}__"))
for word in "neg pos abs invert lt le gt ge eq ne divmod rdivmod".split():
    setattr(ndarray, f"__{word}__", _operator(f"__{word}__"))


def _method(name: str):
    def method(self, *args, **kwargs):
        refuse_numpy((args, kwargs))
        found = getattr(self.__held__, name)(*unwrapped(args), **unwrapped(kwargs))
        return wrapped(found)

    return method


for word in """all any argmax argmin argsort astype clip conj copy cumprod cumsum
        diagonal dot flatten max mean min nonzero prod ravel repeat reshape round
        squeeze std sum swapaxes take trace transpose var view""".split():
    setattr(ndarray, word, _method(word))


def _attribute(name: str, plain: bool = False):
    def get(self):
        found = getattr(self.__held__, name)
        return found if plain else ndarray(np.asarray(found))

    def set(self, value):
        setattr(self.__held__, name, unwrapped(value))

    return property(get, set)


for word in ("T", "real", "imag"):
    setattr(ndarray, word, _attribute(word))
for word in ("shape", "dtype", "ndim", "size", "itemsize", "nbytes", "strides"):
    setattr(ndarray, word, _attribute(word, plain=True))


def wrapped(value: object) -> object:
    """What NumPy gave, as CuPy would give it: no numbers of NumPy's."""
    if isinstance(value, (np.ndarray, np.generic)):
        return ndarray(np.asarray(value))
    if isinstance(value, (tuple, list)):
        items = [wrapped(v) for v in value]
        named = hasattr(value, "_fields")
        return type(value)(*items) if named else type(value)(items)
    return value


def unwrapped(value: object) -> object:
    """What NumPy is to be given."""
    if isinstance(value, ndarray):
        return value.__held__
    if isinstance(value, (tuple, list)):
        items = [unwrapped(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return slice(*[unwrapped(p) for p in parts])
    if isinstance(value, dict):
        return {k: unwrapped(v) for k, v in value.items()}
    if isinstance(value, ufunc):
        return value.same
    return value


def refuse_numpy(value: object) -> None:
    """Raise for one of NumPy's arrays, wherever it stands."""
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        for v in value:
            refuse_numpy(v)


def _has_array(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return any(_has_array(v) for v in value)
    return isinstance(value, ndarray)


def function(name: str, same):
    """CuPy's function for one of NumPy's."""

    def call(*args, **kwargs):
        unknown = LACKING_KEYWORDS.get(name, set()) & {*kwargs}
        if unknown:
            raise TypeError(f"cupy.{name} got an unexpected keyword {unknown}")
        arrays = args[1:] if name in ("asarray", "array") else args
        if name == "split":
            # Where to split is known here.
            arrays = args[:1]
            assert not isinstance(args[1], ndarray)
        refuse_numpy((arrays, kwargs))
        if name not in FREE and not _has_array(args[:1] or [*kwargs.values()]):
            raise TypeError(f"cupy.{name} takes arrays, not {args!r}")
        found = same(*unwrapped(args), **unwrapped(kwargs))
        return found if name in PLAIN else wrapped(found)

    call.__name__ = call.__qualname__ = name
    call.__module__ = "cupy"
    return call


class ufunc:
    """CuPy's ufunc for one of NumPy's; it knows itself by a name of its own."""

    __module__ = "cupy"

    def __init__(self, same: np.ufunc):
        self.same, self.nin, self.nout = same, same.nin, same.nout
        self.__name__ = f"cupy_{same.__name__}"

    def __call__(self, *args, **kwargs):
        refuse_numpy((args, kwargs))
        if any(isinstance(a, (tuple, list)) for a in args):
            raise TypeError("Unsupported type <class 'list'>")
        out = kwargs.get("out")
        found = self.same(*unwrapped(args), **unwrapped(kwargs))
        return wrapped(found) if out is None else out

    def at(self, a, indices, *b):
        refuse_numpy((a, indices, b))
        self.same.at(unwrapped(a), unwrapped(indices), *unwrapped(b))

    def reduce(self, *args, **kwargs):
        return wrapped(self.same.reduce(*unwrapped(args), **unwrapped(kwargs)))

    def accumulate(self, *args, **kwargs):
        return wrapped(self.same.accumulate(*unwrapped(args), **unwrapped(kwargs)))

    def outer(self, *args, **kwargs):
        return wrapped(self.same.outer(*unwrapped(args), **unwrapped(kwargs)))


class grids:
    """``cp.ogrid`` and the like for NumPy's."""

    __module__ = "cupy"

    def __init__(self, same):
        self.same = same

    def __getitem__(self, index):
        refuse_numpy(index)
        return wrapped(self.same[unwrapped(index)])


def _module(ours: str, theirs: str) -> types.ModuleType:
    """CuPy's module for one of NumPy's or SciPy's."""
    made = types.ModuleType(theirs)
    module = importlib.import_module(ours)
    seen: dict[int, object] = {}
    for word in dir(module):
        value = getattr(module, word)
        lacking = word in LACKING[ours] if ours in LACKING else word not in SPECIAL
        if word.startswith("_") or lacking:
            continue
        if isinstance(value, types.ModuleType):
            continue
        if isinstance(value, np.ufunc):
            value = seen.setdefault(id(value), ufunc(value))
        elif word in ("ogrid", "mgrid", "r_", "c_"):
            value = grids(value)
        elif isinstance(value, type) or not callable(value):
            # Kinds and constants are NumPy's own there as well.
            pass
        else:
            value = seen.setdefault(id(value), function(word, value))
        setattr(made, word, value)
    return made


def standin() -> dict[str, types.ModuleType]:
    """The modules of the stand-in, by name."""
    whole = _module("numpy", "cupy")
    whole.ndarray = ndarray
    whole.asnumpy = lambda x: x.get()
    found = {"cupy": whole}
    for part in ("linalg", "fft", "random"):
        module = found[f"cupy.{part}"] = _module(f"numpy.{part}", f"cupy.{part}")
        setattr(whole, part, module)
    try:
        special = _module("scipy.special", "cupyx.scipy.special")
    except ImportError:
        return found
    for name in ("cupyx", "cupyx.scipy"):
        found[name] = types.ModuleType(name)
        found[name].__path__ = []
    found["cupyx"].scipy = found["cupyx.scipy"]
    found["cupyx.scipy"].special = found["cupyx.scipy.special"] = special
    return found


@contextmanager
def in_place_of_cupy() -> Iterator[types.ModuleType]:
    """Let the stand-in be what `import cupy` gives; gives it."""
    names = [n for n in sys.modules if n.partition(".")[0] in ("cupy", "cupyx")]
    kept = {n: sys.modules.pop(n) for n in names}
    made = standin()
    sys.modules.update(made)
    try:
        yield made["cupy"]
    finally:
        for n in made:
            sys.modules.pop(n, None)
        sys.modules.update(kept)


def sent(value: object, module: types.ModuleType | None = None) -> object:
    """Arguments for a function that is written with CuPy.

    Objects become those of the class of the same name in `module`.
    """
    if isinstance(value, np.ndarray):
        return ndarray(value.copy())
    kind = getattr(module, type(value).__name__, None)
    if isinstance(kind, type):
        made = object.__new__(kind)
        made.__dict__.update(sent(vars(value), module))
        return made
    return _each(value, lambda v: sent(v, module))


def fetched(value: object) -> object:
    """What such a function gave, as NumPy has it."""
    if isinstance(value, ndarray):
        return value.get()
    if hasattr(value, "__dict__") and not isinstance(value, type):
        value = vars(value)
    return _each(value, fetched)


def _each(value: object, function) -> object:
    if isinstance(value, (tuple, list)):
        items = [function(v) for v in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {k: function(v) for k, v in value.items()}
    return value
