"""Arguments at which the rules of products, `np.linalg` and `np.fft` are tested."""

from __future__ import annotations

import numpy as np

from sct import runtime_decompositions as decompositions
from sct import runtime_fft, runtime_linalg, runtime_rules, runtime_triangular
from sct.templates.registry import present

from .rows import Row, start

start(1)

_random = np.random.default_rng(6)


def normal(*shape: int) -> np.ndarray:
    return np.asarray(_random.normal(size=shape))


def complex_normal(*shape: int) -> np.ndarray:
    return normal(*shape) + 1j * normal(*shape)


def away(*shape: int) -> np.ndarray:
    """Numbers away from 0."""
    x = normal(*shape)
    return x + np.sign(x)


def complex_away(*shape: int) -> np.ndarray:
    return away(*shape) + 1j * away(*shape)


def spread(*shape: int) -> np.ndarray:
    """Matrices far from singular, with distinct eigenvalues and singular values."""
    diagonal = np.diag(3.0 + 3.0 * np.arange(max(shape[-2:])))
    return 0.5 * normal(*shape) + diagonal[: shape[-2], : shape[-1]]


def complex_spread(*shape: int) -> np.ndarray:
    return spread(*shape) + 0.5j * normal(*shape)


def definite(*shape: int) -> np.ndarray:
    """Symmetric positive definite matrices."""
    half = spread(*shape)
    return half + np.swapaxes(half, -1, -2)


def complex_definite(*shape: int) -> np.ndarray:
    half = complex_spread(*shape)
    return half + np.conj(np.swapaxes(half, -1, -2))


DRAWN = (normal, complex_normal)
AWAY = (away, complex_away)
SPREAD = (spread, complex_spread)
SQUARE = ((3, 3), (2, 3, 3), (1, 1))
# Unit matrices, of rows and columns in two dimensions.
_tall, _wide = (np.reshape(np.eye(6), s) for s in ((2, 3, 6), (6, 2, 3)))
MATRICES = ((3, 3), (4, 2), (2, 4), (2, 4, 2), (2, 3, 4))

PRODUCTS = [
    *[Row(np.vdot, (draw(2, 3), draw(6))) for draw in DRAWN],
    *[Row(np.vdot, (complex_normal(3), complex_normal(3)))],
    *[
        Row(f, (draw(*a), draw(*b)), kwargs)
        for draw in DRAWN
        for f in present("vecdot", "linalg.vecdot")
        for a, b, kwargs in (
            ((3,), (3,), {}),
            ((2, 3), (3,), {}),
            ((3, 2), (3, 1), {"axis": 0}),
        )
    ],
    *[
        Row(f, (draw(*a), draw(*b)))
        for draw in DRAWN
        for f in present("matvec")
        for a, b in (((2, 3), (3,)), ((4, 2, 3), (3,)), ((2, 3), (4, 3)))
    ],
    *[
        Row(f, (draw(*a), draw(*b)))
        for draw in DRAWN
        for f in present("vecmat")
        for a, b in (((2,), (2, 3)), ((4, 2), (2, 3)), ((2,), (4, 2, 3)))
    ],
    *[
        Row(np.linalg.multi_dot, ([draw(*shape) for shape in shapes],))
        for draw in DRAWN
        for shapes in (
            ((2, 3), (3, 4)),
            ((2, 3), (3, 4), (4, 2), (2, 3)),
            ((3,), (3, 4), (4, 2)),
            ((2, 3), (3,)),
            ((3,), (3, 4), (4,)),
        )
    ],
    *[
        Row(np.cross, (draw(*a), draw(*b)), kwargs)
        for draw in DRAWN
        for a, b, kwargs in (
            ((4, 3), (1, 3), {}),
            ((3, 4), (4, 3), {"axisa": 0, "axisb": 1, "axisc": 0}),
            ((2, 3, 4), (3, 4), {"axisa": 1, "axisb": 0}),
            ((3, 2), (3, 2), {"axis": 0}),
        )
    ],
    *[
        Row(f, (normal(3, 2), normal(3, 2)), {"axis": 0})
        for f in present("linalg.cross")
    ],
    *[Row(f, (normal(2, 3, 4),), {"offset": 1}) for f in present("linalg.trace")],
    *[Row(f, (normal(2, 3, 4),), {"offset": -1}) for f in present("linalg.diagonal")],
    *[Row(f, (normal(2, 3, 4),)) for f in present("linalg.matrix_transpose")],
    *[Row(f, (normal(2), normal(3))) for f in present("linalg.outer")],
    *[Row(f, (normal(2, 3), normal(3, 4))) for f in present("linalg.matmul")],
    *[Row(f, (normal(2, 3), normal(2, 3))) for f in present("linalg.tensordot")],
    Row(
        np.einsum,
        ("bij,bjk,k->bi", normal(2, 3, 4), normal(2, 4, 5), normal(5)),
        {"optimize": True},
    ),
    *[
        Row(np.einsum, (subscripts, *(complex_normal(*s) for s in shapes)))
        for subscripts, shapes in (
            ("nd,nn->d", [(3, 2), (3, 3)]),
            ("abcd->bd", [(2, 3, 2, 3)]),
            ("...ij,...jk->...ik", [(2, 3, 4), (4, 5)]),
            ("i->", [(0,)]),
        )
    ],
]

SOLVING = [
    *[
        Row(f, (draw(*shape),))
        for draw in SPREAD
        for f in (np.linalg.inv, np.linalg.det, np.linalg.slogdet, np.linalg.pinv)
        for shape in (*SQUARE, (0, 2, 2), (0, 0))
    ],
    *[Row(np.linalg.det, (np.array(a),)) for a in ([[1.0, 2.0], [2.0, 4.0]], [[0.0]])],
    Row(np.linalg.det, (np.ones((2, 3, 3)) * np.array([1.0, 2.0, 3.0]),)),
    Row(np.linalg.det, (np.zeros((2, 2)),)),
    Row(np.linalg.det, (np.array([[1.0, 2.0j], [2.0, 4.0j]]),)),
    *[Row(np.linalg.pinv, (draw(*s),)) for draw in SPREAD for s in MATRICES],
    Row(np.linalg.pinv, (spread(3, 3).astype(np.float32),)),
    Row(np.linalg.inv, (spread(3, 3).astype(np.float32),)),
    Row(np.linalg.det, (spread(3, 3).astype(np.float32),)),
    *[
        Row(np.linalg.solve, (a, np.stack([b, 2.0 * b])))
        for a, b in [(complex_spread(2, 3, 3), complex_normal(3, 4))]
    ],
    Row(np.linalg.solve, (complex_spread(3, 3), complex_normal(3))),
    *[
        Row(np.linalg.matrix_power, (draw(*shape), n))
        for draw in SPREAD
        for shape in SQUARE
        for n in (0, 1, 3, -1, -2)
    ],
    *[Row(np.linalg.tensorinv, (draw(2, 3, 6),)) for draw in DRAWN],
    *[Row(np.linalg.tensorinv, (draw(6, 2, 3), 1)) for draw in DRAWN],
    *[
        Row(np.linalg.tensorsolve, (draw(*np.shape(far)) + 6.0 * far, draw(*b), *axes))
        for draw in DRAWN
        for far, b, axes in (
            (_tall, (2, 3), ()),
            (np.moveaxis(_wide, 0, 1), (6,), ((0, 2),)),
            (np.moveaxis(_tall, -1, 1), (2, 3), ((1,),)),
        )
    ],
    *[
        Row(np.linalg.lstsq, (draw(*a), draw(1, *b)[0], None))
        for draw in SPREAD
        for a, b in (((5, 3), (5,)), ((5, 3), (5, 2)), ((3, 5), (3,)), ((3, 5), (3, 2)))
    ],
    *[
        Row(np.linalg.cond, (draw(*shape), *p))
        for draw in SPREAD
        for shape in SQUARE[:2]
        for p in ((), (2,), (-2,), (1,), (-np.inf,), ("fro",), ("nuc",))
    ],
]

NORMS = [
    *[
        Row(np.linalg.norm, (draw(*shape),), {"ord": order, **kwargs})
        for draw in AWAY
        for shape, kwargs in (
            ((3, 3), {}),
            ((4, 2), {"keepdims": True}),
            ((3, 2, 4), {"axis": (2, 0)}),
            ((3, 2, 4), {"axis": (0, -1), "keepdims": True}),
        )
        for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    ],
    *[
        Row(np.linalg.norm, (draw(3, 4),), {"ord": order, "axis": axis})
        for draw in AWAY
        for order in (None, 0.5, 1, 2, 3, -1.5, np.inf, -np.inf, 0)
        for axis in (0, -1)
    ],
    Row(np.linalg.norm, (complex_away(2, 3, 4),)),
    Row(np.linalg.norm, (away(3, 4).astype(np.float32),), {"axis": 1}),
    Row(np.linalg.norm, (away(3, 4).astype(np.float32),), {"ord": 2}),
    *[
        Row(f, (draw(2, 3, 4),), kwargs)
        for draw in AWAY
        for f in present("linalg.vector_norm")
        for kwargs in (
            {},
            {"axis": 1},
            {"axis": (0, 2), "ord": 3},
            {"axis": (2, 0), "ord": np.inf, "keepdims": True},
            {"keepdims": True, "ord": 1},
        )
    ],
    *[
        Row(f, (draw(2, 3, 4),), kwargs)
        for draw in AWAY
        for f in present("linalg.matrix_norm")
        for kwargs in ({}, {"ord": 2}, {"ord": "nuc", "keepdims": True}, {"ord": -1})
    ],
]

DECOMPOSITIONS = [
    *[
        Row(np.linalg.cholesky, (draw(*shape),), kwargs, symmetric=True)
        for draw in (definite, complex_definite)
        for shape in (*SQUARE, (40, 40), (0, 2, 2))
        for kwargs in ({}, *([{"upper": True}] if present("vecdot") else []))
    ],
    *[
        Row(f, (draw(*shape), *uplo), symmetric=True)
        for draw in (definite, complex_definite)
        for f in (np.linalg.eigh, np.linalg.eigvalsh)
        for shape in (*SQUARE, (0, 2, 2))
        for uplo in ((), ("U",))
        # Phases of complex eigenvectors are not determined.
        if f is np.linalg.eigvalsh or draw is definite or shape == (0, 2, 2)
    ],
    *[
        Row(f, (a,))
        for f in (np.linalg.eig, np.linalg.eigvals)
        for a in (
            spread(2, 3, 3),
            np.array([[1.0, -2.0, 0.3], [2.0, 1.0, 0.1], [0.2, 0.4, 3.0]]),
            complex_spread(2, 3, 3),
            normal(1, 1),
            np.zeros((0, 2, 2)),
        )
    ],
    *[
        Row(np.linalg.svd, (draw(*shape),), {"compute_uv": False})
        for draw in SPREAD
        for shape in (*MATRICES, (0, 2, 3))
    ],
    *[Row(np.linalg.svd, (spread(*shape), False)) for shape in MATRICES],
    *[
        Row(f, (draw(*shape),))
        for draw in SPREAD
        for f in present("linalg.svdvals")
        for shape in MATRICES
    ],
    *[
        Row(np.linalg.qr, (draw(*shape), *mode))
        for draw in SPREAD
        for shape in (*MATRICES, (0, 2, 3))
        for mode in ((), ("r",))
    ],
]

_SIZES = (5, 6, 1, 2)
FFT = [
    *[
        Row(f, (draw(size, 2), n, 0, norm))
        for draw in DRAWN
        for f in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft)
        for size in _SIZES
        for n, norm in ((8, None), (3, "ortho"), (1, "forward"), (7, "backward"))
    ],
    *[
        Row(f, (normal(size, 2), n, 0, norm))
        for f in (np.fft.rfft, np.fft.ihfft)
        for size in _SIZES
        for n, norm in ((None, None), (8, "ortho"), (3, "forward"), (1, "backward"))
    ],
    *[
        Row(f, (draw(3, 5),), {"norm": norm})
        for draw in DRAWN
        for f in (np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft)
        for norm in (None, "ortho", "forward")
    ],
    *[
        Row(f, (draw(3, 4, 5), s, axes))
        for draw in DRAWN
        for f in (np.fft.fft2, np.fft.ifft2, np.fft.irfft2)
        for s, axes in ((None, (-2, -1)), ((3, 7), (0, -1)), ((2, 6), (1, 0)))
    ],
    *[
        Row(f, (draw(3, 4, 5),), kwargs)
        for draw in DRAWN
        for f in (np.fft.fftn, np.fft.ifftn, np.fft.irfftn)
        for kwargs in (
            {},
            {"axes": (1, 0), "norm": "ortho"},
            {"s": (2, 6, 9), "axes": (0, 1, 2)},
            {"s": (5, 4), "axes": (2, 0), "norm": "forward"},
        )
    ],
    *[
        Row(np.fft.rfft2, (normal(3, 4, 5), s, axes))
        for s, axes in ((None, (-2, -1)), ((3, 7), (0, -1)), ((2, 6), (1, 0)))
    ],
    *[
        Row(np.fft.rfftn, (normal(3, 4, 5),), kwargs)
        for kwargs in (
            {},
            {"axes": (1, 0), "norm": "ortho"},
            {"s": (2, 6, 9), "axes": (0, 1, 2)},
            {"s": (5, 4), "axes": (2, 0), "norm": "forward"},
        )
    ],
    *[
        Row(f, (draw(5, 4), *axes))
        for draw in DRAWN
        for f in (np.fft.fftshift, np.fft.ifftshift)
        for axes in ((), (0,), ((1, 0),))
    ],
]

_PLANE, _SPACE = normal(4, 2), normal(3)
HELPERS = [
    *[
        Row(f, args)
        for f, args in (
            (runtime_rules.cross_adjoint_a, (normal(4, 3), normal(4, 2), _SPACE)),
            (runtime_rules.cross_adjoint_b, (normal(4, 3), _SPACE, normal(4, 2))),
            (runtime_rules.cross_adjoint_a, (normal(4), _PLANE, normal(2))),
            (runtime_rules.cross_adjoint_b, (normal(4), _PLANE, normal(4, 2))),
        )
    ],
    Row(
        runtime_linalg.multi_dot_adjoint,
        (normal(2, 3), [normal(2, 4), normal(4, 5), normal(5, 3)]),
    ),
    Row(runtime_triangular.lower_inverse, (np.tril(normal(3, 3)) + 3.0 * np.eye(3),)),
    Row(
        runtime_triangular.lower_inverse,
        (np.tril(normal(2, 40, 40)) + 9.0 * np.eye(40),),
    ),
    *[Row(runtime_triangular.lower_half, (draw(2, 3, 3),)) for draw in DRAWN],
    *[Row(decompositions.adjugated, (draw(2, 3, 4),)) for draw in DRAWN],
    *[Row(decompositions.off_diagonal, (draw(2, 3, 3),)) for draw in DRAWN],
    *[Row(decompositions.quotient, (draw(2, 3), draw(2, 3) + 3.0)) for draw in DRAWN],
    Row(decompositions.quotient, (np.zeros(3), normal(3))),
    *[
        Row(runtime_fft.resized, (draw(3, 4), np.zeros(shape)))
        for draw in DRAWN
        for shape in ((5, 2), (3, 4), (2, 9))
    ],
    *[
        Row(runtime_fft.rfftn_adjoint, (complex_normal(3, 4), np.zeros(shape), *s))
        for shape, s in (((3, 7), ()), ((3, 6), ()), ((3, 9), ((3, 6),)))
    ],
    *[
        Row(runtime_fft.irfftn_adjoint, (normal(3, 6), np.zeros(shape, kind), *s))
        for shape, s in (((3, 4), ()), ((5, 9), ((3, 6),)))
        for kind in (float, complex)
    ],
    *[
        Row(runtime_linalg.singular_cofactors, (draw(*shape),))
        for draw in SPREAD
        for shape in (*SQUARE, (2, 2))
    ],
    *[
        Row(runtime_linalg.singular_cofactors, (a,))
        for a in (np.ones((3, 3)), np.diag([2.0, 1j, 0.0]), np.zeros((2, 3, 3)))
    ],
]

LINEAR_ALGEBRA = [*PRODUCTS, *SOLVING, *NORMS, *DECOMPOSITIONS, *FFT, *HELPERS]
