"""CuPy: where it has what NumPy and SciPy have, and what it says otherwise.

Nearly all that it has is spelled as NumPy spells it, so this is all there is to say.
What it lacks is found by looking into the package that is installed, which needs no GPU
for that.
"""

from __future__ import annotations

# NumPy's and SciPy's modules, and CuPy's of the same meaning.
MODULES = {
    "numpy": "cupy",
    "numpy.linalg": "cupy.linalg",
    "numpy.fft": "cupy.fft",
    "numpy.random": "cupy.random",
    "scipy.fft": "cupyx.scipy.fft",
    "scipy.linalg": "cupyx.scipy.linalg",
    "scipy.signal": "cupyx.scipy.signal",
    "scipy.spatial.distance": "cupyx.scipy.spatial.distance",
    "scipy.special": "cupyx.scipy.special",
    "scipy.stats": "cupyx.scipy.stats",
}

# What is not said as NumPy says it, since NumPy's takes numbers and lists as well: the
# names of functions in `words`.
OTHERWISE = {
    "expand_dims": "expanded_array",
    "ravel": "ravelled",
    "broadcast_to": "broadcast_array",
    "argsort": "sort_order",
    "cumsum": "sum_up_to",
    "mod": "mod_of",
    "size": "size_of",
    "tensordot": "dot_products",
}
