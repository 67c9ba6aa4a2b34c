"""When values are equal, which is smaller, and which form one group.

Cypher has three notions that differ:

    equals, compare   `=` and `<`: null if a null decides or types do not compare; nothing is equal
                      to NaN. Numbers compare exactly (if both types are known beforehand, Neo4j
                      compares an integer and a float as doubles: see `expressions.comparison`).
    sort_key          ORDER BY, min, max: every value has a place, numbers compare exactly.
                      MAP < NODE < RELATIONSHIP < LIST < PATH < POINT < ZONED DATETIME <
                      LOCAL DATETIME < DATE < ZONED TIME < LOCAL TIME < DURATION < STRING <
                      BOOLEAN < NUMBER < NaN < null
    group_key         DISTINCT and grouping: null with null and 1 with 1.0 are one group,
                      while every NaN is a group of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from math import copysign
from typing import Any

from hoplite.values.calendar import NANOS_PER_SECOND
from hoplite.values.duration_make import average_seconds
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualPath, VirtualRelationship
from hoplite.values.spatial import Point
from hoplite.values.temporal import (
    MAX_INTEGER,
    Date,
    DateTime,
    Duration,
    LocalDateTime,
    LocalTime,
    Time,
)

UNORDERED = 2
"""The result of `compare` for NaN and a number: not smaller, equal or larger, and yet not null."""

SAME = 3
"""The result of `compare` for equal points and durations, which have no order: `<=` is true, `<` null."""

_BEYOND_INTEGERS = 2.0**63
_JUST_BELOW_ZERO = Fraction(-1, 2**1100)  # between 0 and the largest float below it


# --- = -----------------------------------------------------------------------------------------


def equals(left: Any, right: Any) -> bool | None:
    """Cypher's `=`."""
    if left is None or right is None:
        return None
    left_type, right_type = type(left), type(right)
    if left_type is right_type:
        if left_type is list:
            return _equal_lists(left, right)
        if left_type is dict:
            return _equal_maps(left, right)
        return bool(left == right)
    if left_type is int and right_type is float:
        return bool(left == _as_java_long(right))
    if left_type is float and right_type is int:
        return bool(_as_java_long(left) == right)
    if left_type is bytes and right_type is list:
        return _equal_lists(signed_bytes(left), right)
    if left_type is list and right_type is bytes:
        return _equal_lists(left, signed_bytes(right))
    return False


def _as_java_long(value: float) -> float | int:
    """A float to compare with an integer: 2^63, which no integer reaches, counts as the largest one."""
    return MAX_INTEGER if value == _BEYOND_INTEGERS else value


def _equal_lists(left: list[Any], right: list[Any]) -> bool | None:
    if len(left) != len(right):
        return False
    undecided = False
    for left_item, right_item in zip(left, right, strict=True):
        same = equals(left_item, right_item)
        if same is False:
            return False
        undecided = undecided or same is None
    return None if undecided else True


def _equal_maps(left: dict[str, Any], right: dict[str, Any]) -> bool | None:
    if left.keys() != right.keys():
        return False
    undecided = False
    for key, left_item in left.items():
        same = equals(left_item, right[key])
        if same is False:
            return False
        undecided = undecided or same is None
    return None if undecided else True


# --- < ------------------------------------------------------------------------------------------


def compare(left: Any, right: Any) -> int | None:
    """-1, 0 or 1 as `left` is smaller, equal or larger; UNORDERED, SAME; None for null."""
    if left is None or right is None:
        return None
    left_type, right_type = type(left), type(right)
    if left_type is right_type:
        if left_type is int or left_type is str or left_type is bool:
            return _sign(left, right)
        key = _COMPARABLE.get(left_type)
        if key is not None:
            return _sign(key(left), key(right))
        if left_type is list:
            return _compare_lists(left, right)
        if left_type is dict:
            return _compare_maps(left, right)
        if left_type is Point or left_type is Duration:
            return SAME if left == right else None
        if left_type is not float:
            return None
    elif not (left_type in _NUMBERS and right_type in _NUMBERS):
        if bytes in (left_type, right_type) and list in (left_type, right_type):
            return _compare_lists(_as_list(left), _as_list(right))
        return None
    if left != left or right != right:
        return UNORDERED
    return _sign(_number_order(left), _number_order(right))


def _number_order(value: float | int) -> Any:
    """A number that sorts like Java's `compare`, which puts -0.0 before 0.0 and 0, although they are equal."""
    return _JUST_BELOW_ZERO if value == 0 and copysign(1, value) < 0 else value


def _sign(left: Any, right: Any) -> int:
    return 1 if left > right else -1 if left < right else 0


def less_than(left: Any, right: Any) -> bool | None:
    """Cypher's `<`."""
    order = compare(left, right)
    return None if order is None or order == SAME else order == -1


def less_or_equal(left: Any, right: Any) -> bool | None:
    """Cypher's `<=`."""
    order = compare(left, right)
    return None if order is None else order in (-1, 0, SAME)


_NUMBERS = (int, float)


def _compare_lists(left: list[Any], right: list[Any]) -> int | None:
    for left_item, right_item in zip(left, right, strict=False):
        order = compare(left_item, right_item)
        if order not in (0, SAME):
            return None if order == UNORDERED else order
    return (len(left) > len(right)) - (len(left) < len(right))


def _compare_maps(left: dict[str, Any], right: dict[str, Any]) -> int | None:
    if len(left) != len(right):
        return 1 if len(left) > len(right) else -1
    left_keys, right_keys = sorted(left), sorted(right)
    if left_keys != right_keys:
        return 1 if left_keys > right_keys else -1
    for key in left_keys:
        order = compare(left[key], right[key])
        if order not in (0, SAME):
            return None if order == UNORDERED else order
    return 0


# The same moment in two zones is ordered by the offset, then by the name of the zone.
_COMPARABLE: dict[type, Callable[[Any], Any]] = {
    Date: lambda date: date.epoch_day,
    LocalTime: lambda time: time.nanosecond_of_day,
    Time: lambda time: (time.utc_nanosecond, time.offset_seconds),
    LocalDateTime: lambda moment: (moment.epoch_day, moment.nanosecond_of_day),
    DateTime: lambda moment: (
        moment.epoch_second,
        moment.nanosecond,
        moment.offset_seconds,
        moment.region or "",
    ),
    NodeRef: lambda node: node.position,
    VirtualNode: lambda node: node.position,
    RelationshipRef: lambda relationship: relationship.position,
    VirtualRelationship: lambda relationship: relationship.position,
    PathValue: lambda path: (path.nodes[0], path.relationships, path.nodes),
    VirtualPath: lambda path: (path.nodes[0], path.relationships, path.nodes),
}


# --- ORDER BY -----------------------------------------------------------------------------------

_MAP, _NODE, _RELATIONSHIP, _LIST, _PATH, _POINT = range(6)
_DATE_TIME, _LOCAL_DATE_TIME, _DATE, _TIME, _LOCAL_TIME, _DURATION = range(6, 12)
_STRING, _BOOLEAN, _NUMBER, _NAN, _NULL = range(12, 17)

SortKey = tuple[Any, ...]
_NULL_KEY: SortKey = (_NULL,)
_NAN_KEY: SortKey = (_NAN,)


def sort_key(value: Any) -> SortKey:
    """A key for `sorted` that puts any values in Cypher's ascending order."""
    return _SORT_KEYS[type(value)](value)


def _float_key(value: float) -> SortKey:
    return (_NUMBER, _number_order(value)) if value == value else _NAN_KEY


def _list_key(items: list[Any] | bytes) -> SortKey:
    return (_LIST, [sort_key(item) for item in _as_list(items)])


def signed_bytes(data: bytes) -> list[int]:
    """Bytes as the list they are in Cypher: Java's bytes are signed."""
    return memoryview(data).cast("b").tolist()


def _as_list(items: list[Any] | bytes) -> list[Any]:
    return signed_bytes(items) if isinstance(items, bytes) else items


def _map_key(entries: dict[str, Any]) -> SortKey:
    keys = sorted(entries)
    return (_MAP, len(keys), keys, [sort_key(entries[key]) for key in keys])


def _path_key(path: PathValue) -> SortKey:
    return (_PATH, path.nodes[0], path.relationships, path.nodes)


def _date_time_key(moment: DateTime) -> SortKey:
    return (
        _DATE_TIME,
        moment.epoch_second,
        moment.nanosecond,
        moment.offset_seconds,
        moment.region or "",
    )


def _duration_key(duration: Duration) -> SortKey:
    return (
        _DURATION,
        average_seconds(duration) * NANOS_PER_SECOND + duration.nanoseconds,
        duration.months,
        duration.days,
    )


_SORT_KEYS: dict[type, Callable[[Any], SortKey]] = {
    type(None): lambda value: _NULL_KEY,
    int: lambda value: (_NUMBER, value),
    str: lambda value: (_STRING, value),
    float: _float_key,
    bool: lambda value: (_BOOLEAN, value),
    list: _list_key,
    dict: _map_key,
    bytes: _list_key,
    NodeRef: lambda node: (_NODE, node.position),
    VirtualNode: lambda node: (_NODE, node.position),
    RelationshipRef: lambda relationship: (_RELATIONSHIP, relationship.position),
    VirtualRelationship: lambda relationship: (_RELATIONSHIP, relationship.position),
    PathValue: _path_key,
    VirtualPath: _path_key,
    Point: lambda point: (_POINT, point.srid, point.coordinates),
    DateTime: _date_time_key,
    LocalDateTime: lambda moment: (_LOCAL_DATE_TIME, moment.epoch_day, moment.nanosecond_of_day),
    Date: lambda date: (_DATE, date.epoch_day),
    Time: lambda time: (_TIME, time.utc_nanosecond, time.offset_seconds),
    LocalTime: lambda time: (_LOCAL_TIME, time.nanosecond_of_day),
    Duration: _duration_key,
}


# --- DISTINCT -----------------------------------------------------------------------------------

_PLAIN = {int, str, type(None), Date, LocalTime, Time, LocalDateTime, DateTime, Duration, Point}
_PLAIN |= {NodeRef, RelationshipRef, PathValue, VirtualNode, VirtualRelationship, VirtualPath}


def group_key(value: Any) -> Hashable:
    """A hashable key that is equal for values of one group, and only for those."""
    kind = type(value)
    if kind in _PLAIN:
        return value  # type: ignore[no-any-return]
    if kind is float:
        return _as_java_long(value) if value == value else object()
    if kind is bool:
        return (bool, value)  # in Python, True equals 1
    if kind is dict:
        return (dict, frozenset((key, group_key(item)) for key, item in value.items()))
    return (list, tuple(map(group_key, _as_list(value))))
