"""What a statement answered besides its rows: its plan, its notifications, what it changed.

All of it is in what a server sends at the end (`Result.end`), which does not need the driver.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COUNTERS = (
    *("nodes-created", "nodes-deleted", "relationships-created", "relationships-deleted", "properties-set"),
    *("labels-added", "labels-removed", "indexes-added", "indexes-removed"),
    *("constraints-added", "constraints-removed"),
)
Ending = Mapping[str, Any]


def plan_text(ending: Ending) -> str | None:
    """The plan that EXPLAIN or PROFILE requested, as a table."""
    plan = ending.get("profile") or ending.get("plan")
    return None if plan is None else str(plan["args"]["string-representation"]).rstrip()


def is_explained(ending: Ending) -> bool:
    """Whether the statement was only explained: its plan is its whole answer."""
    return "plan" in ending


def notification_lines(ending: Ending) -> list[str]:
    """One line for each notification: its severity, text and position in the query."""
    return [_line(status) for status in ending["statuses"] if "neo4j_code" in status]


def _line(status: Mapping[str, Any]) -> str:
    record = status["diagnostic_record"]
    place = record.get("_position")
    where = f" (line {place['line']}, column {place['column']})" if place else ""
    return f"{record['_severity'].lower()}: {status['description']}{where}"


def changes_text(ending: Ending) -> str:
    """What a statement changed: `nodes created: 1, properties set: 2`, or nothing."""
    counted = ((name, ending.get("stats", {}).get(name, 0)) for name in _COUNTERS)
    return ", ".join(f"{name.replace('-', ' ')}: {count:,}" for name, count in counted if count)
