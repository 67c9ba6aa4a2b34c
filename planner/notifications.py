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

    def status(self) -> dict[str, object]:
        """The notification as the driver's summaries hold it."""
        diagnostic: dict[str, object] = {"_severity": self.severity, "_classification": self.category}
        if self.position is not None:
            diagnostic["_position"] = {
                "offset": self.position.offset,
                "line": self.position.line,
                "column": self.position.column,
            }
        return {
            "gql_status": self.gql_status,
            "status_description": self.status_description,
            "neo4j_code": self.code,
            "title": self.title,
            "description": self.description,
            "diagnostic_record": diagnostic,
        }
