"""Run a function of a saved module where sct cannot be imported.

    python rerun.py MODULE.py FUNCTION INPUTS.npz OUTPUTS.npz

The function takes the arrays of INPUTS in order and gives ``(value, gradients)``.
"""

from __future__ import annotations

import importlib.util
import sys

import numpy as np


class WithoutSct:
    """An import finder that refuses sct and everything in it."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.split(".")[0] == "sct":
            raise ModuleNotFoundError(f"{name} is not to be imported here", name=name)


def main(module_path: str, name: str, inputs: str, outputs: str) -> None:
    """Import, call, store."""
    sys.meta_path.insert(0, WithoutSct)
    spec = importlib.util.spec_from_file_location(name, module_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    with np.load(inputs) as arrays:
        args = [arrays[key] for key in arrays.files]
    value, gradient = getattr(module, name)(*args)
    np.savez(outputs, value, *gradient)


if __name__ == "__main__":
    main(*sys.argv[1:])
