"""Rules of `np.fft`.

``z = np.fft.fft(x)``  →  ``x_bar = np.fft.fft(z_bar)``

The matrix of a Fourier transform is symmetric; only where a length is given is more to
be done, since that cuts off or fills up.
"""

from __future__ import annotations

import numpy as np

from sct.runtime_fft import (
    irfftn_adjoint,
    resized,
    rfftn_adjoint,
    swapped,
    transformed,
)

from .registry import adjoint, nondifferentiable

nondifferentiable(np.fft.fftfreq, np.fft.rfftfreq)


@adjoint(np.fft.fft, wrt=("a",), linear=True, result="complex", fresh=True)
def fft(out, a, n=None, axis=-1, norm=None, *, out_bar):
    if n is None:
        a_bar = np.fft.fft(out_bar, axis=axis, norm=norm)
    else:
        a_bar = resized(np.fft.fft(out_bar, axis=axis, norm=norm), a)
    return a_bar


@adjoint(np.fft.ifft, wrt=("a",), linear=True, result="complex", fresh=True)
def ifft(out, a, n=None, axis=-1, norm=None, *, out_bar):
    if n is None:
        a_bar = np.fft.ifft(out_bar, axis=axis, norm=norm)
    else:
        a_bar = resized(np.fft.ifft(out_bar, axis=axis, norm=norm), a)
    return a_bar


@adjoint(np.fft.fft2, wrt=("a",), linear=True, result="complex", fresh=True)
def fft2(out, a, s=None, axes=(-2, -1), norm=None, *, out_bar):
    if s is None:
        a_bar = np.fft.fft2(out_bar, axes=axes, norm=norm)
    else:
        a_bar = resized(np.fft.fft2(out_bar, axes=axes, norm=norm), a)
    return a_bar


@adjoint(np.fft.ifft2, wrt=("a",), linear=True, result="complex", fresh=True)
def ifft2(out, a, s=None, axes=(-2, -1), norm=None, *, out_bar):
    if s is None:
        a_bar = np.fft.ifft2(out_bar, axes=axes, norm=norm)
    else:
        a_bar = resized(np.fft.ifft2(out_bar, axes=axes, norm=norm), a)
    return a_bar


@adjoint(np.fft.fftn, wrt=("a",), linear=True, result="complex", fresh=True)
def fftn(out, a, s=None, axes=None, norm=None, *, out_bar):
    if s is None:
        a_bar = np.fft.fftn(out_bar, axes=axes, norm=norm)
    else:
        moved = transformed(a, s, axes)
        a_bar = resized(np.fft.fftn(out_bar, axes=moved, norm=norm), a)
    return a_bar


@adjoint(np.fft.ifftn, wrt=("a",), linear=True, result="complex", fresh=True)
def ifftn(out, a, s=None, axes=None, norm=None, *, out_bar):
    if s is None:
        a_bar = np.fft.ifftn(out_bar, axes=axes, norm=norm)
    else:
        moved = transformed(a, s, axes)
        a_bar = resized(np.fft.ifftn(out_bar, axes=moved, norm=norm), a)
    return a_bar


@adjoint(np.fft.rfft, wrt=("a",), linear=True, result="complex", fresh=True)
def rfft(out, a, n=None, axis=-1, norm=None, *, out_bar):
    if n is None:
        size = np.shape(a)[axis]
        a_bar = np.real(np.fft.fft(out_bar, size, axis=axis, norm=norm))
    else:
        a_bar = resized(np.real(np.fft.fft(out_bar, n, axis=axis, norm=norm)), a)
    return a_bar


@adjoint(np.fft.rfft2, wrt=("a",), linear=True, result="complex", fresh=True)
def rfft2(out, a, s=None, axes=(-2, -1), norm=None, *, out_bar):
    a_bar = rfftn_adjoint(out_bar, a, s, axes, norm)
    return a_bar


@adjoint(np.fft.rfftn, wrt=("a",), linear=True, result="complex", fresh=True)
def rfftn(out, a, s=None, axes=None, norm=None, *, out_bar):
    a_bar = rfftn_adjoint(out_bar, a, s, axes, norm)
    return a_bar


@adjoint(np.fft.irfft, wrt=("a",), linear=True, result="real", fresh=True)
def irfft(out, a, n=None, axis=-1, norm=None, *, out_bar):
    a_bar = irfftn_adjoint(out_bar, a, None, (axis,), norm)
    return a_bar


@adjoint(np.fft.irfft2, wrt=("a",), linear=True, result="real", fresh=True)
def irfft2(out, a, s=None, axes=(-2, -1), norm=None, *, out_bar):
    a_bar = irfftn_adjoint(out_bar, a, s, axes, norm)
    return a_bar


@adjoint(np.fft.irfftn, wrt=("a",), linear=True, result="real", fresh=True)
def irfftn(out, a, s=None, axes=None, norm=None, *, out_bar):
    a_bar = irfftn_adjoint(out_bar, a, s, axes, norm)
    return a_bar


# The inverse real transform of the conjugate, scaled the other way.
@adjoint(np.fft.hfft, wrt=("a",), linear=True, result="real", fresh=True)
def hfft(out, a, n=None, axis=-1, norm=None, *, out_bar):
    a_bar = np.conj(irfftn_adjoint(out_bar, a, None, (axis,), swapped(norm)))
    return a_bar


# The conjugate of the real transform, scaled the other way.
@adjoint(np.fft.ihfft, wrt=("a",), linear=True, result="complex", fresh=True)
def ihfft(out, a, n=None, axis=-1, norm=None, *, out_bar):
    if n is None:
        size = np.shape(a)[axis]
        a_bar = np.real(np.fft.ifft(out_bar, size, axis=axis, norm=norm))
    else:
        a_bar = resized(np.real(np.fft.ifft(out_bar, n, axis=axis, norm=norm)), a)
    return a_bar


@adjoint(np.fft.fftshift, wrt=("x",), linear=True, fresh=True)
def fftshift(out, x, axes=None, *, out_bar):
    x_bar = np.fft.ifftshift(out_bar, axes=axes)
    return x_bar


@adjoint(np.fft.ifftshift, wrt=("x",), linear=True, fresh=True)
def ifftshift(out, x, axes=None, *, out_bar):
    x_bar = np.fft.fftshift(out_bar, axes=axes)
    return x_bar
