"""Which notifications a client wants."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from hoplite.lazy_dataclass import dataclass

_SEVERITIES = {"OFF": 2, "WARNING": 1, "INFORMATION": 0}


@dataclass(frozen=True, slots=True)
class NotificationFilter:
    """The lowest severity to send, and the classifications not to send, as set by a driver, session or query."""

    min_severity: str = "INFORMATION"
    disabled: frozenset[str] = frozenset()

    def narrowed(self, min_severity: str | None, disabled: Iterable[str] | None) -> NotificationFilter:
        """This filter with the given parts replaced."""
        changed = self
        if min_severity is not None:
            changed = replace(changed, min_severity=_written(min_severity))
        if disabled is not None:
            changed = replace(changed, disabled=frozenset(map(_written, disabled)))
        return changed

    def wanted(self, statuses: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The status objects to send: the outcome always, notifications if they pass."""
        return [status for status in statuses if "neo4j_code" not in status or self._passes(status)]

    def _passes(self, status: dict[str, Any]) -> bool:
        record = status["diagnostic_record"]
        if record["_classification"] in self.disabled:
            return False
        return _SEVERITIES.get(record["_severity"], 0) >= _SEVERITIES.get(self.min_severity, 0)


def _written(value: Any) -> str:
    """The driver's enumerations are strings, and may be given as either."""
    return str(getattr(value, "value", value))
