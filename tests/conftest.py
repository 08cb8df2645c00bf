"""What holds for all tests."""

import sys

import pytest


@pytest.fixture(autouse=True)
def without_cupy(request, monkeypatch):
    """Let CuPy count as imported only in tests of CuPy.

    Where it is imported, functions that mention no library may be given its arrays, and
    their derivatives are made for that; one process runs many tests.
    """
    if "cupy" not in request.node.nodeid:
        found = [n for n in sys.modules if n.partition(".")[0] in ("cupy", "cupyx")]
        for name in found:
            monkeypatch.delitem(sys.modules, name)
