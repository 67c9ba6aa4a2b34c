"""The entries of a message's map, checked one by one, and refused in the words of Neo4j.

An entry that is missing or null is None.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hoplite.errors import CypherError, cypher_error
from hoplite.gql_status import UNCLASSIFIED, GqlStatus, alternatives, because, status

INVALID = "Neo.ClientError.Request.Invalid"
_PROTOCOL_ERROR = "08N06"
_LARGEST_COUNT = 2**31 - 1
_SEVERITIES = ("INFORMATION", "WARNING", "OFF")
_CLASSIFICATIONS = (
    "HINT", "UNRECOGNIZED", "UNSUPPORTED", "PERFORMANCE", "DEPRECATION", "GENERIC", "SECURITY", "TOPOLOGY", "SCHEMA",
)  # fmt: skip


class ProtocolError(Exception):
    """A message that is invalid, or not allowed now."""

    def __init__(self, message: str, code: str = INVALID, gql_status: GqlStatus = UNCLASSIFIED) -> None:
        super().__init__(message)
        self.error: CypherError = cypher_error(code, message, gql_status)


class Fields:
    """The entries of the map that a message has at one place, such as `metadata`."""

    def __init__(self, place: str, entries: Mapping[str, Any]) -> None:
        self._place = place
        self._entries = entries

    def integer(self, name: str) -> int | None:
        """An integer."""
        found: int | None = self._of(name, int, "long", "LONG")
        return found

    def text(self, name: str) -> str | None:
        """A string."""
        found: str | None = self._of(name, str, "string", "STRING")
        return found

    def dictionary(self, name: str) -> dict[str, Any] | None:
        """A map."""
        found: dict[str, Any] | None = self._of(name, dict, "dictionary", "MAP")
        return found

    def row_count(self, name: str) -> int:
        """How many rows: at least one, or -1 for all."""
        count = self.integer(name)
        if count is None:
            raise self._refused(name, "Expected value to be non-null", UNCLASSIFIED)
        if count < 1 and count != -1:
            cause = status("22N03", name, "INTEGER", 1, _LARGEST_COUNT, count)
            raise self._refused(name, f"Expecting size to be at least 1, but got: {count}", _protocol_error(cause))
        return count

    def is_read_only(self, name: str) -> bool:
        """An access mode: `r`, or `w`, which is meant where it is not given."""
        mode = self.text(name)
        if mode not in (None, "r", "w"):
            cause = status("22N04", mode, "access mode value", "'r' or 'w'")
            raise self._refused(name, "Expecting access mode value to be 'r' or 'w'", _protocol_error(cause))
        return mode == "r"

    def bookmarks(self, name: str) -> None:
        """A list of strings, which are not looked at."""
        listed = self._of(name, list, "list", "list")
        for mark in listed or ():
            if mark is not None and type(mark) is not str:
                cause = because("22N01", "", "LIST<STRING>", _kind(mark))
                raise self._refused(name, "Expected list of strings", _protocol_error(cause))

    def severity(self, name: str) -> str | None:
        """The lowest severity of notifications that are wanted."""
        given = self._entries.get(name)
        if given is None:
            return None
        if type(given) is not str:
            raise self._refused(name, "Required to be a String", _wrong_type(given, "String"))
        if given.upper() not in _SEVERITIES:
            cause = status("22N04", given, "NotificationConfig minimumSeverity", "'INFORMATION', 'WARNING' or 'NONE'")
            raise self._not_parsed("minimum severity", cause)
        return given.upper()

    def classifications(self, name: str) -> list[str] | None:
        """The kinds of notifications that are not wanted."""
        listed = self._entries.get(name)
        if listed is None:
            return None
        if type(listed) is not list or not all(type(one) is str for one in listed):
            raise self._refused(name, "Required to be a List::String", _wrong_type(listed, "LIST<STRING>"))
        for one in listed:
            if one.upper() not in _CLASSIFICATIONS:
                cause = status("22N04", one, "NotificationConfig category", alternatives(list(_CLASSIFICATIONS)))
                raise self._not_parsed("category to ignore", cause, of="")
        return [one.upper() for one in listed]

    def _of(self, name: str, kind: type, word: str, type_name: str) -> Any:
        value = self._entries.get(name)
        if value is not None and type(value) is not kind:
            raise self._refused(name, f"Expected {word}", _wrong_type(value, type_name))
        return value

    def _refused(self, name: str, reason: str, cause: GqlStatus) -> ProtocolError:
        message = f'Illegal value for field "{self._place}": Illegal value for field "{name}": {reason}'
        return ProtocolError(message, gql_status=_protocol_error(cause))

    def _not_parsed(self, what: str, cause: GqlStatus, of: str = "'s") -> ProtocolError:
        message = f'Illegal value for field "{self._place}": Illegal value for field "Could not parse a '
        message += f'NotificationConfig{of} {what}."'
        return ProtocolError(message, gql_status=_protocol_error(_protocol_error(cause)))


def _protocol_error(cause: GqlStatus) -> GqlStatus:
    return cause.under(_PROTOCOL_ERROR)


def _wrong_type(value: Any, wanted: str) -> GqlStatus:
    return _protocol_error(because("22N01", _written(value), wanted, _kind(value)))


_KINDS: Mapping[type, str] = {
    str: "String", int: "Long", float: "Double", bool: "Boolean", list: "List", dict: "Map", bytes: "ByteArray",
}  # fmt: skip


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), type(value).__name__)


def _written(value: Any) -> str:
    """A value as Neo4j's own objects write themselves."""
    match value:
        case str():
            return f'String("{value}")'
        case bool():
            return f"Boolean('{str(value).lower()}')"
        case int():
            return f"Long({value})"
        case float():
            return f"Double({value:e})"
        case list():
            return f"List{{{_all_written(value)}}}"
        case dict():
            return "Map{" + ", ".join(f"{key} -> {_written(one)}" for key, one in value.items()) + "}"
        case bytes():
            return f"ByteArray[{', '.join(str(one - 256 if one > 127 else one) for one in value)}]"
        case _:
            return "NO_VALUE" if value is None else str(value)


def _all_written(values: Sequence[Any]) -> str:
    return ", ".join(map(_written, values))
