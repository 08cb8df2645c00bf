"""Functions of NumPy's that take numbers and lists, where CuPy's take arrays only.

Written in NumPy's names as helpers are.  `cupy.OTHERWISE` says what each stands for;
their names are as long as what they stand for, so that lines break where they did.
"""

from __future__ import annotations

import numpy as np


def expanded_array(a, axis):
    """Return `a`, an array or a number, with new axes of length one."""
    return np.expand_dims(np.asarray(a), axis)


def ravelled(a):
    """Return the elements of an array, or a number, along one axis."""
    return np.ravel(np.asarray(a))


def broadcast_array(a, shape):
    """Return `a`, an array, a number or a list of them, spread to a shape."""
    return np.broadcast_to(np.asarray(a), shape)


def sort_order(a, axis=-1, kind=None):
    """Return the indices that sort an array, or a list of axes."""
    if isinstance(a, (list, tuple)):
        return sorted(range(len(a)), key=a.__getitem__)
    return np.argsort(a, axis, kind=kind)


def sum_up_to(a, axis=None):
    """Return the sums of the first elements of an array, or of a list of sizes."""
    if isinstance(a, (list, tuple)):
        return [sum(a[: k + 1]) for k in range(len(a))]
    return np.cumsum(a, axis)


def mod_of(a, n):
    """Return what remains of an array, or of a tuple of axes, divided by `n`."""
    if isinstance(a, (list, tuple)):
        return [k % n for k in a]
    return np.mod(a, n)


def size_of(a):
    """Return the number of elements of an array; a number is one."""
    return np.asarray(a).size


def dot_products(a, b, axes=2):
    """Return the products of `a`, an array or a number, and `b`, summed over axes."""
    return np.tensordot(np.asarray(a), b, axes)
