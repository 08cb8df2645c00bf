"""sct: derivatives you can read."""

from sct.api import grad, jvp, value_and_grad, vjp
from sct.check import check_grads
from sct.errors import (
    ArgumentError,
    CheckError,
    NonDifferentiableError,
    RuleError,
    SctError,
    SourceError,
    UnsupportedError,
)
from sct.operators import elementwise_grad, hessian, jacobian, pullback
from sct.store import save, source
from sct.templates import adjoint, elementwise, nondifferentiable, tangent
from sct.version import __version__

__all__ = [
    "ArgumentError",
    "CheckError",
    "NonDifferentiableError",
    "RuleError",
    "SctError",
    "SourceError",
    "UnsupportedError",
    "__version__",
    "adjoint",
    "check_grads",
    "elementwise",
    "elementwise_grad",
    "grad",
    "hessian",
    "jacobian",
    "jvp",
    "nondifferentiable",
    "pullback",
    "save",
    "source",
    "tangent",
    "value_and_grad",
    "vjp",
]
