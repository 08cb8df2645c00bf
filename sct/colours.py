"""Columns of a sparse Jacobian that one product can tell apart.

Two columns may have one colour when no row has an entry in both (Curtis, Powell and
Reid, *On the estimation of sparse Jacobian matrices*, 1974): a product with the sum of
their unit vectors then holds the entries of both.
"""

from __future__ import annotations

import numpy as np

from .errors import ArgumentError


def coloured(pattern: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries of a pattern, and a colour for each of its columns.

    Parameters
    ----------
    pattern : array or sparse array
        What is not zero may be different from zero in the Jacobian.

    Returns
    -------
    rows, columns : array of int
        The entries.
    colours : array of int
        From zero on, without gaps.
    """
    if len(getattr(pattern, "shape", ())) != 2:
        raise ArgumentError(
            "a sparsity pattern has two axes: one for the numbers of the result, and "
            "one for those of the argument"
        )
    if hasattr(pattern, "tocoo"):
        entries = pattern.tocoo()
        rows, columns = entries.row, entries.col
    else:
        rows, columns = np.nonzero(pattern)
    m, n = pattern.shape
    order = np.argsort(columns, kind="stable")
    starts = np.searchsorted(columns[order], np.arange(n + 1))
    used: list[set[int]] = [set() for _ in range(m)]
    colours = np.zeros(n, dtype=int)
    # Full columns first: they leave the least choice.
    for j in np.argsort(-np.diff(starts), kind="stable"):
        own = rows[order[starts[j] : starts[j + 1]]]
        taken = set().union(*[used[i] for i in own])
        colour = next(c for c in range(n + 1) if c not in taken)
        colours[j] = colour
        for i in own:
            used[i].add(colour)
    return rows, columns, colours
