"""All hostile statements. A file of statements has a list `STATEMENTS` and is named in `_FILES`."""

from __future__ import annotations

from tests.hostile import function_calls, junk, long_texts, running
from tests.hostile.statement import Hostile

_FILES = (junk, long_texts, running, function_calls)


def corpus() -> dict[str, Hostile]:
    """Every statement by its name."""
    found: dict[str, Hostile] = {}
    for file in _FILES:
        for statement in file.STATEMENTS:
            assert statement.name not in found, f"two statements are called {statement.name}"
            found[statement.name] = statement
    return found
