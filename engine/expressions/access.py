"""Reading parts of values: `x.key`, `x[index]`, `x[from..to]`, over columns.

Properties of nodes and relationships are read for a whole column at once. A column that mixes entities with maps and
other values is split by kind, so that each kind is read at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.comparison import as_list
from hoplite.engine.expressions.evaluator import map_rows, scattered
from hoplite.engine.expressions.java import NUMBER_VALUE, TEXT_VALUE, expected
from hoplite.engine.memory import refuse_references
from hoplite.errors import CypherError, entity_not_found, execution_failed, type_error
from hoplite.values import spatial
from hoplite.values.columns import (
    INT64_MAX,
    INT64_MIN,
    Bools,
    Column,
    EntityLists,
    Int64s,
    Integers,
    Nodes,
    Objects,
    Relationships,
    Strings,
    from_objects,
)
from hoplite.values.entities import NodeRef, RelationshipRef, VirtualNode, VirtualRelationship
from hoplite.values.order import signed_bytes
from hoplite.values.render import describe
from hoplite.values.temporal import INSTANT_TYPES, Duration
from hoplite.values.temporal_fields import component
from hoplite.values.value_types import wrong_value

# --- properties ----------------------------------------------------------------------------------------------------


_ONLY_MAPS, _STORED, _LISTS_AND_NULLS = {dict}, {NodeRef, RelationshipRef}, {list, type(None)}


def property_of(column: Column, key: str, execution: Execution) -> Column:
    """`column.key`"""
    match column:
        case Nodes(positions=positions):
            if execution.writer is not None and execution.graph.known_key(key):
                refuse_deleted_nodes(positions, execution)
            return execution.graph.node_property(positions, key)
        case Relationships(positions=positions):
            if execution.writer is not None and execution.graph.known_key(key):
                refuse_deleted_relationships(positions, execution)
            return execution.graph.relationship_property(positions, key)
        case Objects(values=values) if not _STORED.isdisjoint(map(type, values)):
            return by_kind(column, lambda part: property_of(part, key, execution))
        case Objects(values=values) if set(map(type, values)) == _ONLY_MAPS:
            return from_objects([value.get(key) for value in values])
        case _:
            return map_rows(lambda value: _property_of_value(value, key), column)


def by_kind(column: Objects, read: Callable[[Column], Column]) -> Column:
    """Read the nodes, the relationships and the other values of a mixed column separately, and merge the results."""
    kinds = np.fromiter(
        (1 if type(v) is NodeRef else 2 if type(v) is RelationshipRef else 0 for v in column.values),
        np.int8,
        len(column),
    )
    pieces = []
    for kind in (0, 1, 2):
        rows = np.flatnonzero(kinds == kind)
        if not len(rows):
            continue
        part = Objects(column.values[rows]) if kind == 0 else from_objects(column.values[rows])
        try:
            pieces.append((rows, read(part)))
        except RowError as failure:
            raise RowError(int(rows[failure.row]), failure.error) from None
    return scattered(pieces, len(column))


def _property_of_value(value: Any, key: str) -> Any:
    if value is None:
        return None
    if isinstance(value, dict):
        return value.get(key)
    if isinstance(value, (*INSTANT_TYPES, Duration)):
        return component(value, key)
    if isinstance(value, spatial.Point):
        return spatial.point_component(value, key)
    if isinstance(value, VirtualNode | VirtualRelationship):
        return None  # Neo4j asks the graph, which has no such entity
    raise type_error(f"Type mismatch: expected a map but was {describe(value)}", wrong_value(value, "MAP"))


def deleted(entities: Nodes | Relationships, execution: Execution) -> Bools:
    """Which of the entities this transaction has deleted."""
    graph = execution.graph
    exists = graph.node_exists if isinstance(entities, Nodes) else graph.relationship_exists
    return (entities.positions >= 0) & ~exists(entities.positions)


def _deleted_here(entities: Nodes | Relationships, execution: Execution) -> Bools:
    """The same, without those that a committed batch of CALL IN TRANSACTIONS deleted: they just have no properties."""
    gone = deleted(entities, execution)
    if gone.any() and execution.writer is not None:
        here = execution.writer.deleted_here(nodes=isinstance(entities, Nodes))
        gone &= np.isin(entities.positions, np.fromiter(here, np.int64, len(here)))
    return gone


def refuse_deleted_nodes(ids: Int64s, execution: Execution) -> None:
    """Fail at the first node that this transaction has deleted."""
    gone = _deleted_here(Nodes(ids), execution)
    if gone.any():
        row = int(np.argmax(gone))
        public = execution.graph.node_ids(ids[row : row + 1])[0]
        raise RowError(row, entity_not_found(f"Node with id {public} has been deleted in this transaction"))


def refuse_deleted_relationships(ids: Int64s, execution: Execution) -> None:
    """Fail at the first relationship that this transaction has deleted."""
    gone = _deleted_here(Relationships(ids), execution)
    if gone.any():
        row = int(np.argmax(gone))
        public = execution.graph.relationship_ids(ids[row : row + 1])[0]
        raise RowError(row, entity_not_found(f"Relationship with id {public} has been deleted in this transaction"))


# --- elements ------------------------------------------------------------------------------------------------------


def element_of(subject: Column, index: Column, execution: Execution) -> Column:
    """`subject[index]`"""
    if isinstance(subject, EntityLists) and isinstance(index, Integers):
        return _entity_at(subject, index)
    if isinstance(subject, Nodes | Relationships) and isinstance(index, Strings):
        keys = set(index.values)
        if len(keys) == 1 and None not in keys:
            return property_of(subject, keys.pop(), execution)
    if isinstance(index, Integers) and index.nulls is None and isinstance(subject, Objects):
        lists = subject.values.tolist()
        if set(map(type, lists)) <= _LISTS_AND_NULLS:
            return from_objects(_items(lists, index.values.tolist()))

    def by_value(container: Any, place: Any) -> Any:
        if isinstance(container, NodeRef | RelationshipRef) and isinstance(place, str):
            return _property_of_entity(container, place, execution)
        return _element_of_value(container, place)

    return map_rows(by_value, subject, index)


def _entity_at(subject: EntityLists, index: Integers) -> Nodes | Relationships:
    lengths = np.diff(subject.offsets)
    places = np.where(index.values < 0, index.values + lengths, index.values)
    outside = (places < 0) | (places >= lengths) | subject.null_mask() | index.null_mask()
    ids = np.full(len(lengths), -1, np.int64)
    inside = np.flatnonzero(~outside)
    ids[inside] = subject.positions[subject.offsets[:-1][inside] + places[inside]]
    return Nodes(ids) if subject.of_nodes else Relationships(ids)


def _property_of_entity(entity: NodeRef | RelationshipRef, key: str, execution: Execution) -> Any:
    try:
        return property_of(from_objects([entity]), key, execution).objects()[0]
    except RowError as failure:
        raise failure.error from None


def _element_of_value(container: Any, place: Any) -> Any:
    if container is None or place is None:
        return None
    if isinstance(container, list):
        return _item(container, place)
    if isinstance(container, bytes):
        return _item(signed_bytes(container), place)
    if isinstance(container, dict):
        if isinstance(place, str):
            return container.get(place)
        raise expected(TEXT_VALUE, place, f"Cannot access a map '{describe(container)}' by key '{describe(place)}': ")
    if isinstance(container, NodeRef | RelationshipRef):
        raise expected(TEXT_VALUE, place, f"Cannot use a property key with non string name. It was {describe(place)}: ")
    if isinstance(container, (*INSTANT_TYPES, Duration, spatial.Point)) and isinstance(place, str):
        return _property_of_value(container, place)
    found = describe(container)
    raise type_error(
        f"`{found}` is not a collection or a map. Element access is only possible by performing a collection lookup "
        "using an integer index, or by performing a map lookup using a string key "
        f"(found: {found}[{describe(place)}])",
        wrong_value(container, "LIST or MAP"),
    )


def _items(lists: list[list[Any] | None], places: list[int]) -> list[Any]:
    """The element of each list, null where there is none."""
    return [
        None if items is None or not -len(items) <= place < len(items) else items[place]
        for items, place in zip(lists, places, strict=True)
    ]


def _item(items: list[Any], place: Any) -> Any:
    if type(place) is int:
        return items[place] if -len(items) <= place < len(items) else None
    raise wrong_place(describe(items), place)


def wrong_place(items: str, place: Any) -> CypherError:
    """The error for an invalid index; `items` is the list as text."""
    if isinstance(place, float):
        message = f"Cannot access a list using an non-integer number index, got {describe(place)}"
        return type_error(message, wrong_value(place, "INTEGER"))
    return expected(
        NUMBER_VALUE,
        place,
        f"Cannot access a list '{items}' using a non-number index, got {describe(place)}: ",
    )


# --- slices --------------------------------------------------------------------------------------------------------


def slice_value(container: Any, start: Any, end: Any) -> Any:
    """`container[start..end]` with both bounds; a null in any place makes it null."""
    items = as_list(container)
    if items is None or start is None or end is None:
        return None
    return _slice(items, slice_bound(start), slice_bound(end))


def slice_from(container: Any, start: Any) -> Any:
    """`container[start..]`"""
    items = as_list(container)
    return None if items is None or start is None else _slice(items, slice_bound(start), None)


def slice_to(container: Any, end: Any) -> Any:
    """`container[..end]`"""
    items = as_list(container)
    return None if items is None or end is None else _slice(items, None, slice_bound(end))


def _slice(items: list[Any], start: int | None, end: int | None) -> list[Any]:
    wanted = slice(start, end)
    refuse_references(len(range(*wanted.indices(len(items)))))
    return items[wanted]


def slice_bound(value: Any) -> int:
    """Where a slice begins or ends: a number, converted as Java's casts do."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise type_error(f"Expected a numeric value but got: {describe(value)}", wrong_value(value, "INTEGER or FLOAT"))
    number = _truncated(value)
    if not -(2**31) <= number < 2**31:
        raise _no_index(number)
    return number


def _truncated(value: int | float) -> int:
    """A number as Java casts it to long."""
    if isinstance(value, int):
        return value
    if math.isnan(value):
        return 0
    return int(min(max(value, INT64_MIN), INT64_MAX))


def _no_index(number: int) -> CypherError:
    return execution_failed(f"Expected an integer between -2147483648 and 2147483647, but got: {number}")
