"""The driver's `ResultSummary`, filled as a server would fill it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from neo4j import Address, ResultSummary, ServerInfo

from hoplite.engine.context import Counters
from hoplite.engine.prepare import Prepared
from hoplite.planner.notifications import Notification

_AGENT = "Neo4j/5.26.12"
_ADDRESS = Address(("localhost", 7687))
_PROTOCOL = (5, 8)

_FINE = {
    "gql_status": "00000",
    "status_description": "note: successful completion",
}
_NO_DATA = {"gql_status": "02000", "status_description": "note: no data"}
_OMITTED = {"gql_status": "00001", "status_description": "note: successful completion - omitted result"}


def make_summary(
    prepared: Prepared,
    counters: Counters,
    parameters: Mapping[str, Any],
    row_count: int,
    available_ms: int,
    consumed_ms: int,
) -> ResultSummary:
    """What `consume` returns."""
    server = ServerInfo(_ADDRESS, _PROTOCOL)
    server.update({"server": _AGENT})
    stats = {name.replace("_", "-"): value for name, value in asdict(counters).items() if value}
    if stats:
        stats["contains-updates"] = True
    metadata: dict[str, Any] = {
        "server": server,
        "db": "neo4j",
        "query": prepared.text,
        "parameters": dict(parameters),
        "type": prepared.query_type,
        "stats": stats,
        "t_first": available_ms,
        "t_last": consumed_ms,
        "statuses": _statuses(prepared, row_count),
    }
    if prepared.plan_description is not None:
        metadata["plan"] = prepared.plan_description
    return ResultSummary(_ADDRESS, had_key=bool(prepared.columns), had_record=row_count > 0, metadata=metadata)


def _statuses(prepared: Prepared, row_count: int) -> list[dict[str, Any]]:
    """Notifications and how the statement ended, in the order of precedence: no data, warnings, success,
    information.
    """
    if row_count:
        outcome = _FINE
    elif prepared.columns:
        outcome = _NO_DATA
    else:
        outcome = _OMITTED
    statuses = [_status(notification) for notification in prepared.notifications]
    statuses.append({**outcome, "diagnostic_record": {}})
    return sorted(statuses, key=lambda status: -_precedence(str(status["gql_status"])))


def _precedence(gql_status: str) -> int:
    return {"02": 3, "01": 2, "00": 1, "03": 0}.get(gql_status[:2], -1)


def _status(notification: Notification) -> dict[str, Any]:
    """A notification as a server sends it."""
    diagnostic: dict[str, Any] = {"_severity": notification.severity, "_classification": notification.category}
    if notification.position is not None:
        diagnostic["_position"] = asdict(notification.position)
    return {
        "gql_status": notification.gql_status,
        "status_description": notification.status_description,
        "neo4j_code": notification.code,
        "title": notification.title,
        "description": notification.description,
        "diagnostic_record": diagnostic,
    }
