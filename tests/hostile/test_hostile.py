"""A sample of the hostile statements with every run of the tests; `make hostile` tries them all."""

from __future__ import annotations

import sys

import pytest

from tests.hostile.corpus import corpus
from tests.hostile.watch import watch

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what a process uses is read from /proc")


@pytest.mark.parametrize("name", [name for name, statement in corpus().items() if statement.sample])
def test_it_stops_in_time_within_its_memory(name: str) -> None:
    assert watch(name).problem == ""
