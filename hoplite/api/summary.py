"""The driver's `ResultSummary`, filled as a server would fill it, and the identity of that server."""

from __future__ import annotations

from typing import Any

from neo4j import Address, ResultSummary, ServerInfo

from hoplite.engine.procedures.database import AGENT

ADDRESS = Address(("localhost", 7687))
_PROTOCOL = (5, 8)


def server_info() -> ServerInfo:
    """The server that answers claim to come from."""
    server = ServerInfo(ADDRESS, _PROTOCOL)
    server.update({"server": AGENT})
    return server


def make_summary(metadata: dict[str, Any], columns: tuple[str, ...], row_count: int) -> ResultSummary:
    """What `consume` returns."""
    return ResultSummary(ADDRESS, had_key=bool(columns), had_record=row_count > 0, metadata=metadata)
