"""The examples in the docstrings of public functions give what they say."""

from __future__ import annotations

import doctest
import importlib

import numpy as np
import pytest

import sct

pytestmark = pytest.mark.smoke

MODULES = [
    "sct.api",
    "sct.check",
    "sct.errors",
    "sct.store",
    "sct.templates.registry",
]
# NumPy 1 prints `5.0` where NumPy 2 prints `np.float64(5.0)`.
scalars_with_types = pytest.mark.skipif(
    np.lib.NumpyVersion(np.__version__) < "2.0.0", reason="NumPy 1 prints them bare"
)


@scalars_with_types
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings(name):
    outcome = doctest.testmod(importlib.import_module(name))
    assert outcome.failed == 0


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "vjp"])
def test_there_are_examples(name):
    found = doctest.DocTestFinder(recurse=False).find(getattr(sct, name))
    assert any(test.examples for test in found)


def test_public_functions_are_documented():
    for name in sct.__all__:
        if callable(found := getattr(sct, name)):
            assert found.__doc__, name
