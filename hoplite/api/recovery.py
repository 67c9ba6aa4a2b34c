"""Recovering what a damaged database still holds."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from hoplite.errors import driver_errors
from hoplite.storage.disk.recover import Recovery
from hoplite.storage.disk.recover import recover as recover_folder

__all__ = ["Recovery", "recover"]


def recover(
    path: str | os.PathLike[str],
    to: str | os.PathLike[str],
    progress: Callable[[int, int | None], None] | None = None,
) -> Recovery:
    """Create a new database at `to` from everything in the one at `path` that can still be read, and report what is
    missing.

    Everything is checked against its checksums, and nothing is written to the database at `path`. `to` must not exist.
    docs/FORMAT.md says what survives the loss of which file.
    """
    with driver_errors():
        return recover_folder(Path(path), Path(to), progress)
