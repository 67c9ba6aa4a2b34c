"""From reductions to syntax trees: finds the function that builds a rule of the grammar.

Each `build_*` module has one function for each grammar rule or alias it serves, called with the source, the span of
what was read and the children that the grammar passes on.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from hoplite.grammar import (
    build_clauses,
    build_expressions,
    build_patterns,
    build_schema,
    build_types,
)

Action = Callable[..., Any]

_MODULES: tuple[ModuleType, ...] = (
    build_expressions,
    build_types,
    build_patterns,
    build_clauses,
    build_schema,
)


def action(name: str) -> Action:
    """The function that builds what the grammar calls `name`."""
    for module in _MODULES:
        function = vars(module).get(name)
        if function is not None and function.__module__ == module.__name__:
            built: Action = function
            return built
    raise LookupError(f"no function builds the grammar rule {name}")
