"""The official JavaScript driver, over TCP and over WebSocket. Other languages: `make drivers-test`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import hoplite
from tests.server.drivers.run import Unavailable, javascript


def test_the_javascript_driver_manages_what_every_driver_must() -> None:
    cache = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "hoplite" / "drivers"
    try:
        with hoplite.serve() as uri:
            javascript(uri, 20_000, cache)
    except Unavailable as reason:
        if os.environ.get("CI") == "true":
            raise
        pytest.skip(str(reason))
