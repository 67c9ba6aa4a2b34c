"""Schema commands and SHOW."""

from __future__ import annotations

from collections.abc import Iterator

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.prepare import Prepared
from hoplite.errors import unsupported


def run_command(prepared: Prepared, context: Execution) -> Iterator[Batch]:
    """Run a command."""
    raise unsupported("schema commands")
