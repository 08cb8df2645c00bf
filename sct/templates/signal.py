"""Rules of `scipy.signal`.

``z = signal.convolve(x, h)``  →  ``x_bar`` is `z_bar` correlated with `h`
"""

from __future__ import annotations

import numpy as np
from scipy import signal

from sct import helpers, runtime_signal
from sct.runtime_signal import convolution_adjoint, lagged

from .registry import adjoint, tangent

helpers.add(runtime_signal, (convolution_adjoint, lagged))


@adjoint(signal.convolve, linear=True, fresh=True)
def convolve(out, in1, in2, mode="full", method="auto", *, out_bar):
    in1_bar = convolution_adjoint(out_bar, in1, in2)
    in2_bar = convolution_adjoint(out_bar, in2, in1)
    return in1_bar, in2_bar


@adjoint(signal.fftconvolve, signal.convolve2d, linear=True, fresh=True)
def fftconvolve(out, in1, in2, mode="full", *, out_bar):
    in1_bar = convolution_adjoint(out_bar, in1, in2)
    in2_bar = convolution_adjoint(out_bar, in2, in1)
    return in1_bar, in2_bar


# Of the filter B / A with the tangents of its coefficients for new ones.
@adjoint(signal.lfilter, fresh=True)
def lfilter(out, b, a, x, *, out_bar):
    one = np.ones_like(a[:1])
    forward = signal.lfilter(one, a, x)
    b_bar = lagged(out_bar, forward, np.shape(b)[0])
    again = signal.lfilter(one, a, out)
    a_bar = -lagged(out_bar, again, np.shape(a)[0])
    x_bar = signal.lfilter(b, a, out_bar[..., ::-1])[..., ::-1]
    return b_bar, a_bar, x_bar


@tangent(signal.lfilter)
def lfilter_tangent(out, b, a, x, *, b_dot, a_dot, x_dot):
    from_b = signal.lfilter(b_dot, a, x)
    from_a = -signal.lfilter(a_dot, a, out)
    from_x = signal.lfilter(b, a, x_dot)
    return from_b, from_a, from_x


# The projection that takes the trend away is symmetric.
@adjoint(signal.detrend, wrt=("data",), linear=True, fresh=True, result="first")
def detrend(out, data, axis=-1, type="linear", bp=0, *, out_bar):
    data_bar = signal.detrend(out_bar, axis=axis, type=type, bp=bp)
    return data_bar
