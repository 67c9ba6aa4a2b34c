"""The backends that a test runs on: all of them, and Torch if it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import get_args

import pytest

from hoplite.engine.hops import BackendName

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="Torch is not installed: make torch-test")

every_backend = pytest.mark.parametrize(
    "backend",
    [pytest.param(name, marks=needs_torch if name == "torch" else ()) for name in get_args(BackendName)],
)
