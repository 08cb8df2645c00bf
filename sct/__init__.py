"""sct: derivatives you can read."""

from sct.api import grad, value_and_grad, vjp
from sct.errors import (
    ArgumentError,
    CheckError,
    NonDifferentiableError,
    RuleError,
    SctError,
    SourceError,
    UnsupportedError,
)
from sct.store import save, source
from sct.templates import adjoint, elementwise, nondifferentiable
from sct.version import __version__
