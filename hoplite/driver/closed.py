"""The error for a database that was closed while drivers use it."""

from __future__ import annotations

from neo4j.exceptions import ServiceUnavailable


class DatabaseClosed(ServiceUnavailable):
    """Unlike a server, a database in the process does not come back: retrying is useless."""

    def is_retryable(self) -> bool:
        """Never."""
        return False
