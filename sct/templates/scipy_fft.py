"""Rules of `scipy.fft`, as those of `np.fft`.

``z = fft.fft(x)``  →  ``x_bar = fft.fft(z_bar)``
"""

from __future__ import annotations

import numpy as np
from scipy import fft

from sct import helpers, runtime_scipy_fft
from sct.runtime_fft import irfftn_adjoint, resized
from sct.runtime_scipy_fft import dct_adjoint, idct_adjoint

from .registry import adjoint

helpers.add(runtime_scipy_fft, (dct_adjoint, idct_adjoint))


@adjoint(fft.fft, wrt=("x",), linear=True, result="complex", fresh=True)
def fft_(out, x, n=None, axis=-1, norm=None, *, workers=None, out_bar):
    if n is None:
        x_bar = fft.fft(out_bar, axis=axis, norm=norm)
    else:
        x_bar = resized(fft.fft(out_bar, axis=axis, norm=norm), x)
    return x_bar


@adjoint(fft.ifft, wrt=("x",), linear=True, result="complex", fresh=True)
def ifft_(out, x, n=None, axis=-1, norm=None, *, workers=None, out_bar):
    if n is None:
        x_bar = fft.ifft(out_bar, axis=axis, norm=norm)
    else:
        x_bar = resized(fft.ifft(out_bar, axis=axis, norm=norm), x)
    return x_bar


# Transforms of part of an array only, by `s`, are not covered.


@adjoint(fft.fft2, wrt=("x",), linear=True, result="complex", fresh=True)
def fft2_(out, x, *, axes=(-2, -1), norm=None, workers=None, out_bar):
    x_bar = fft.fft2(out_bar, axes=axes, norm=norm)
    return x_bar


@adjoint(fft.ifft2, wrt=("x",), linear=True, result="complex", fresh=True)
def ifft2_(out, x, *, axes=(-2, -1), norm=None, workers=None, out_bar):
    x_bar = fft.ifft2(out_bar, axes=axes, norm=norm)
    return x_bar


@adjoint(fft.fftn, wrt=("x",), linear=True, result="complex", fresh=True)
def fftn_(out, x, *, axes=None, norm=None, workers=None, out_bar):
    x_bar = fft.fftn(out_bar, axes=axes, norm=norm)
    return x_bar


@adjoint(fft.ifftn, wrt=("x",), linear=True, result="complex", fresh=True)
def ifftn_(out, x, *, axes=None, norm=None, workers=None, out_bar):
    x_bar = fft.ifftn(out_bar, axes=axes, norm=norm)
    return x_bar


@adjoint(fft.rfft, wrt=("x",), linear=True, result="complex", fresh=True)
def rfft_(out, x, n=None, axis=-1, norm=None, *, workers=None, out_bar):
    if n is None:
        size = np.shape(x)[axis]
        x_bar = np.real(fft.fft(out_bar, size, axis=axis, norm=norm))
    else:
        x_bar = resized(np.real(fft.fft(out_bar, n, axis=axis, norm=norm)), x)
    return x_bar


@adjoint(fft.irfft, wrt=("x",), linear=True, result="real", fresh=True)
def irfft_(out, x, n=None, axis=-1, norm=None, *, workers=None, out_bar):
    x_bar = irfftn_adjoint(out_bar, x, None, (axis,), norm)
    return x_bar


# Cosine transforms.


@adjoint(fft.dct, wrt=("x",), linear=True, fresh=True, result="first")
def dct_(out, x, type=2, *, axis=-1, norm=None, workers=None, out_bar):
    x_bar = dct_adjoint(out_bar, type=type, axis=axis, norm=norm)
    return x_bar


@adjoint(fft.idct, wrt=("x",), linear=True, fresh=True, result="first")
def idct_(out, x, type=2, *, axis=-1, norm=None, workers=None, out_bar):
    x_bar = idct_adjoint(out_bar, type=type, axis=axis, norm=norm)
    return x_bar
