"""What can be wrong with a database on disk, with Neo4j's codes."""

from __future__ import annotations

import os
from pathlib import Path

from hoplite.errors import ACCESS_MODE, CypherError

DAMAGED = "Neo.DatabaseError.General.StorageDamageDetected"
CANNOT_OPEN = "Neo.DatabaseError.Database.UnableToStartDatabase"
UNAVAILABLE = "Neo.TransientError.Database.DatabaseUnavailable"
LOG_FAILED = "Neo.DatabaseError.Transaction.TransactionLogError"
CHECKPOINT_FAILED = "Neo.DatabaseError.General.UnknownError"


def damaged(path: Path, found: str) -> CypherError:
    """A file does not hold what was written to it."""
    return CypherError(DAMAGED, f"{path}: {found}. The file is damaged and will not be read.")


def cannot_open(path: Path, why: str) -> CypherError:
    """The folder cannot be opened as a database."""
    return CypherError(CANNOT_OPEN, f"{path}: {why}")


def version_gone(path: Path) -> CypherError:
    """A version that another process has read is no longer on disk."""
    return CypherError(UNAVAILABLE, f"{path}: the requested version has been replaced by a newer one. Open the newest.")


def in_use(path: Path, holder: str) -> CypherError:
    """Someone else is writing."""
    return CypherError(
        UNAVAILABLE,
        f"{path}: the database is open for writing by {holder}. Close it there first, or open it with read_only=True.",
    )


def forked(path: Path, owner: int) -> CypherError:
    """A write in a process forked from the one that opened the database."""
    return CypherError(
        ACCESS_MODE,
        f"{path}: the database was opened by process {owner}, from which this one (process {os.getpid()}) was forked. "
        "Here it can only be read, as it was at the fork. To write, open the folder again in this process, after it "
        f"was closed in process {owner}.",
    )


def log_failed(path: Path, error: OSError) -> CypherError:
    """A commit could not be written."""
    return CypherError(LOG_FAILED, f"{path}: {error.strerror or error}. The transaction was rolled back completely.")


def log_unusable(path: Path) -> CypherError:
    """A failed write could not be undone, so no commit may follow it."""
    return CypherError(
        LOG_FAILED,
        f"{path}: an earlier write failed and could not be undone. "
        "Close the database and open it again; what was committed is safe.",
    )


def checkpoint_failed(path: Path, error: OSError) -> CypherError:
    """A snapshot could not be written; the one before it and the log stay in force."""
    return CypherError(
        CHECKPOINT_FAILED,
        f"{path}: the snapshot could not be written ({error.strerror or error}). Nothing is lost: the log has it.",
    )


def load_failed(path: Path, error: OSError) -> CypherError:
    """A bulk load could not be written."""
    return CypherError(
        LOG_FAILED, f"{path}: {error.strerror or error}. The load was rolled back; the database is unchanged."
    )
