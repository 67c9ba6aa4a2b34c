"""The error for a database that was closed beneath its drivers."""

from __future__ import annotations

from neo4j.exceptions import ServiceUnavailable


class DatabaseClosed(ServiceUnavailable):
    """A database in the process does not come back, as a server may: nothing is gained by trying again."""

    def is_retryable(self) -> bool:
        """Never."""
        return False
