"""sct: derivatives you can read."""

from sct import testing
from sct.api import grad, jvp, value_and_grad, vjp
from sct.check import check_grads
from sct.control import checkpoint, checkpointed, grad_of
from sct.errors import (
    ArgumentError,
    CheckError,
    ConvergenceError,
    NanError,
    NonDifferentiableError,
    RuleError,
    SctError,
    SourceError,
    UnsupportedError,
)
from sct.likeness import spec
from sct.operators import (
    elementwise_grad,
    ggnvp,
    hessian,
    hvp,
    jacobian,
    pullback,
    pushforward,
)
from sct.runtime_control import fixed_point, root, stop_gradient
from sct.store import save, source
from sct.templates import adjoint, elementwise, nondifferentiable, tangent
from sct.version import __version__

__all__ = [
    "ArgumentError",
    "CheckError",
    "ConvergenceError",
    "NanError",
    "NonDifferentiableError",
    "RuleError",
    "SctError",
    "SourceError",
    "UnsupportedError",
    "__version__",
    "adjoint",
    "check_grads",
    "checkpoint",
    "checkpointed",
    "elementwise",
    "elementwise_grad",
    "fixed_point",
    "ggnvp",
    "grad",
    "grad_of",
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "nondifferentiable",
    "pullback",
    "pushforward",
    "root",
    "save",
    "source",
    "spec",
    "stop_gradient",
    "tangent",
    "testing",
    "value_and_grad",
    "vjp",
]
