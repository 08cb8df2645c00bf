"""The version of sct, as emitted modules state it."""

from __future__ import annotations

__version__ = "0.1.0"
