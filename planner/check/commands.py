"""SHOW and the schema commands: which columns can be yielded and returned."""

from __future__ import annotations

from hoplite.grammar import ast
from hoplite.planner.check.state import Check
from hoplite.planner.check.typespec import TypeSpec


def check_command(check: Check, command: ast.Command) -> dict[str, TypeSpec]:
    """Check a command; returns its columns."""
    del check, command
    return {}
