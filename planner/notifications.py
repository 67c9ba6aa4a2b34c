"""Notifications: what a statement's summary says beside its answer."""

from __future__ import annotations

from dataclasses import dataclass

from hoplite.errors import Position


@dataclass(frozen=True, slots=True)
class Notification:
    """One notification, in the older form (code, title, description) and in that of GQL (status, status description)."""

    code: str
    title: str
    description: str
    severity: str
    category: str
    gql_status: str
    status_description: str
    position: Position | None
