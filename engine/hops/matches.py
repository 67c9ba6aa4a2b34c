"""Count matches of a pattern: a pattern and the rows' bindings go in, each row's number of matches comes out."""

from __future__ import annotations

from hoplite.engine.hops.interface import Check, Positions, unchecked
from hoplite.engine.hops.pattern import Given, Pattern
from hoplite.engine.hops.select import BackendName, backend_named


def count_matches(
    pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked, backend: BackendName = "auto"
) -> Positions:
    """The weighted number of matches from each row."""
    return backend_named(backend).count_matches(pattern, given, row_count, check=check)
