"""What a statement answered, besides its rows: its plan, its notifications, what it changed."""

from __future__ import annotations

import warnings
from typing import Any

_COUNTERS = (
    *("nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted", "properties_set"),
    *("labels_added", "labels_removed", "indexes_added", "indexes_removed"),
    *("constraints_added", "constraints_removed"),
)


def plan_text(summary: Any) -> str | None:
    """The plan that EXPLAIN or PROFILE asked for, as a table."""
    plan = summary.profile or summary.plan
    return None if plan is None else str(plan["args"]["string-representation"]).rstrip()


def is_explained(summary: Any) -> bool:
    """Whether the statement was only explained: its plan is all there is to its answer."""
    return summary.plan is not None and summary.profile is None


def notification_lines(summary: Any) -> list[str]:
    """One line for each notification: how serious, what, and where in the query."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # drivers from 5.28 on prefer GQL status objects
        notifications = summary.notifications or []
    return [_line(notification) for notification in notifications]


def _line(notification: dict[str, Any]) -> str:
    place = notification.get("position")
    where = f" (line {place['line']}, column {place['column']})" if place else ""
    return f"{notification['severity'].lower()}: {notification['description']}{where}"


def changes_text(summary: Any) -> str:
    """What a statement changed: `nodes created: 1, properties set: 2`, or nothing."""
    counted = ((name, getattr(summary.counters, name, 0)) for name in _COUNTERS)
    return ", ".join(f"{name.replace('_', ' ')}: {count:,}" for name, count in counted if count)
