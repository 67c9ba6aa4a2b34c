"""What a server sends at the end of a result: counters, plan and statuses, in the form of its messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from hoplite.engine.context import Counters
from hoplite.engine.prepare import Prepared
from hoplite.planner.explain import Measurement
from hoplite.planner.notifications import Notification

DATABASE = "neo4j"

_DIAGNOSTIC = {"OPERATION": "", "OPERATION_CODE": "0", "CURRENT_SCHEMA": "/"}
_FINE = {
    "gql_status": "00000",
    "status_description": "note: successful completion",
}
_NO_DATA = {"gql_status": "02000", "status_description": "note: no data"}
# What a server sends where rows were discarded before any was looked for.
_NOT_LOOKED_FOR = {
    "gql_status": "02N42",
    "status_description": "note: no data - unknown subcondition. Unknown GQLSTATUS from old server.",
}
_OMITTED = {"gql_status": "00001", "status_description": "note: successful completion - omitted result"}


def summary_metadata(
    prepared: Prepared,
    counters: Counters,
    notifications: Sequence[Notification],
    row_count: int,
    consumed_ms: int,
    measured: Mapping[int, Measurement],
) -> dict[str, Any]:
    """What a server sends at the end of a result."""
    stats = {name.replace("_", "-"): value for name, value in counters.changed().items()}
    if stats:
        stats["contains-updates"] = True
    metadata: dict[str, Any] = {
        "db": DATABASE,
        "type": prepared.query_type,
        "t_last": consumed_ms,
        "statuses": _statuses(prepared, notifications, row_count),
    }
    if stats:
        metadata["stats"] = stats
    if prepared.mode == "EXPLAIN":
        metadata["plan"] = prepared.description()
    elif prepared.mode == "PROFILE":
        metadata["profile"] = prepared.description(measured)
    return metadata


def _statuses(prepared: Prepared, notifications: Sequence[Notification], row_count: int) -> list[dict[str, Any]]:
    """Notifications and the outcome, in order of precedence: no data, warnings, success, information."""
    if prepared.mode == "EXPLAIN":
        outcome = _OMITTED
    elif row_count or (prepared.query_type == "s" and not prepared.writes):
        outcome = _FINE
    elif prepared.columns:
        outcome = _NO_DATA
    else:
        outcome = _OMITTED
    statuses = [_status(notification) for notification in (*prepared.notifications, *notifications)]
    statuses.append({**outcome, "diagnostic_record": dict(_DIAGNOSTIC)})
    return sorted(statuses, key=lambda status: -_precedence(str(status["gql_status"])))


def of_unread(metadata: dict[str, Any]) -> dict[str, Any]:
    """The same metadata for a result of which nothing was read: whether it had rows is not known."""
    return _with_outcome(metadata, _NOT_LOOKED_FOR)


def of_administration(metadata: dict[str, Any]) -> dict[str, Any]:
    """The same metadata for a statement on the system database, which always succeeds, with rows or without."""
    return {**_with_outcome(metadata, _FINE), "type": "s"}


def _with_outcome(metadata: dict[str, Any], outcome: dict[str, str]) -> dict[str, Any]:
    """With another outcome in the place of its own, which is the status without a notification's code."""
    statuses = [status if "neo4j_code" in status else {**status, **outcome} for status in metadata["statuses"]]
    return {**metadata, "statuses": sorted(statuses, key=lambda status: -_precedence(str(status["gql_status"])))}


def _precedence(gql_status: str) -> int:
    return {"02": 3, "01": 2, "00": 1, "03": 0}.get(gql_status[:2], -1)


def _status(notification: Notification) -> dict[str, Any]:
    """A notification as a server sends it."""
    diagnostic: dict[str, Any] = {
        **_DIAGNOSTIC,
        "_severity": notification.severity,
        "_classification": notification.category,
    }
    if notification.position is not None:
        diagnostic["_position"] = asdict(notification.position)
    if notification.hints:
        diagnostic["_hints"] = list(notification.hints)
    return {
        "gql_status": notification.gql_status,
        "status_description": notification.status_description,
        "neo4j_code": notification.code,
        "title": notification.title,
        "description": notification.description,
        "diagnostic_record": diagnostic,
    }
