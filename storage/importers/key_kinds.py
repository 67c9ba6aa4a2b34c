"""The type that keys have in common: new ones are read in the type of those that exist."""

from __future__ import annotations

from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Booleans, Column, Floats, Integers, Strings
from hoplite.values.temporal import Date, DateTime, LocalDateTime, LocalTime

_BY_COLUMN: dict[type, str] = {Integers: "integer", Floats: "float", Booleans: "boolean", Strings: "text"}
_BY_VALUE: dict[type, str] = {
    int: "integer",
    float: "float",
    bool: "boolean",
    str: "text",
    Date: "date",
    LocalDateTime: "local datetime",
    DateTime: "datetime",
    LocalTime: "local time",
}
_NODES_AT_ONCE = 1 << 20


def kind_of(column: Column) -> str | None:
    """The type of all values but nulls, as in `csv_kinds.KINDS`; None if there are several types, or another one."""
    if len(column) and bool(column.null_mask().all()):
        return None
    if type(column) in _BY_COLUMN:
        return _BY_COLUMN[type(column)]
    kinds = {_BY_VALUE.get(kind) for kind in set(map(type, column.objects())) - {type(None)}}
    return kinds.pop() if len(kinds) == 1 else None


def stored_kind(snapshot: Snapshot, label: str, key: str) -> str | None:
    """The type of this property of all nodes with this label; None if none has it, or if there are several types."""
    nodes = snapshot.nodes_with_label(label)
    found: str | None = None
    for first in range(0, len(nodes), _NODES_AT_ONCE):
        column = snapshot.node_property(nodes[first : first + _NODES_AT_ONCE], key)
        if bool(column.null_mask().all()):
            continue
        kind = kind_of(column)
        if kind is None or found not in (None, kind):
            return None
        found = kind
    return found
