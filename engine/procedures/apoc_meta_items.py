"""What apoc.meta.data and apoc.meta.schema report: the properties and relationships of each label and type.

APOC goes through the nodes label by label, each with its outgoing relationships, and makes an item for whatever it
meets first. Here arrays give the same: all that matters about a node is its set of labels, so everything is summed by
set, and the first of each kind is found by the order in which APOC would meet it:

    relationships of a type   by start node, newest first within a node
    nodes                     by id

Everything is examined, whatever sample is asked for: APOC's own sample is random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import cypher_type
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.schema import Entity, Schema
from hoplite.values.column_types import COLUMN_TYPES
from hoplite.values.columns import Column, Int64s

RELATIONSHIP = "RELATIONSHIP"

Items = dict[str, "Item"]


@dataclass(slots=True)
class Item:
    """A property, or a kind of relationships, of a label or type."""

    label: str
    name: str  # of the property, or of the type
    element: str  # node or relationship
    type: str
    count: int = 0
    unique: bool = False
    indexed: bool = False
    array: bool = False
    left_total: int = 0
    right_total: int = 0
    other: list[str] = field(default_factory=list)
    other_labels: list[str] = field(default_factory=list)

    @property
    def left(self) -> int:
        """The average number of outgoing relationships of this kind, among nodes that have any."""
        return self.left_total // self.count if self.count else 0

    @property
    def right(self) -> int:
        """The average number of incoming ones."""
        return self.right_total // self.count if self.count else 0


@dataclass(frozen=True, slots=True)
class Collected:
    """The items of types and of labels, in APOC's order."""

    types: dict[str, Items]
    labels: dict[str, Items]


@dataclass(frozen=True, slots=True)
class _First:
    """Where a property first appears among the entities of one set of labels, its type there, and the (start) node."""

    place: int
    type: str
    node: int


@dataclass(frozen=True, slots=True)
class _Starts:
    """The nodes of one set of labels where relationships of a type start."""

    first_id: int
    count: int
    outgoing: int
    incoming: int
    has_several: bool
    ends: dict[int, int]  # by set of labels at the end: the place of the first relationship that leads there


_Firsts = dict[str, dict[int, _First]]  # by property and set of labels


@dataclass(frozen=True, slots=True)
class _Type:
    """Relationships of one type, by the sets of labels of their starts."""

    starts: dict[int, _Starts]
    properties: _Firsts


def collect(context: Execution, schema: Schema | None = None) -> Collected:
    """Everything about all labels and types in use; `schema` has the indexes and constraints, if not the graph."""
    graph = context.graph
    schema = graph.schema if schema is None else schema
    types = {name: _of_type(context, name) for name in graph.relationship_types_in_use()}
    nodes = graph.nodes()
    sets = graph.label_set_codes(nodes)
    properties = _property_firsts(context, graph.node_property_columns(nodes), sets, graph.node_ids(nodes), nodes)
    codes = np.unique(sets)
    labels_of = dict(zip(codes.tolist(), graph.labels_of_sets(codes), strict=True))
    found = Collected({name: {} for name in types}, {label: {} for label in graph.labels_in_use()})
    for label, items in found.labels.items():
        having = {code for code, labels in labels_of.items() if label in labels}
        steps: list[tuple[int, int, int, Item]] = []
        for number, (name, one) in enumerate(types.items()):
            starts = [at for code, at in one.starts.items() if code in having]
            if starts:
                _put(found.types[name], _relation(name, label, "relationship", starts, labels_of))
                for _, item in _described(context, schema, Entity.RELATIONSHIP, name, one.properties, having):
                    _put(found.types[name], item)
                first = min(at.first_id for at in starts)
                steps.append((first, 0, number, _relation(label, name, "node", starts, labels_of)))
        for number, (place, item) in enumerate(_described(context, schema, Entity.NODE, label, properties, having)):
            steps.append((place, 1, number, item))
        for *_, item in sorted(steps, key=lambda step: step[:3]):
            _put(items, item)
    return found


# --- arrays ---


def _of_type(context: Execution, name: str) -> _Type:
    graph = context.graph
    relationships = graph.relationships_with_type(name)
    starts, ends = graph.endpoints(relationships)
    order = np.lexsort((-graph.relationship_ids(relationships), graph.node_ids(starts)))
    relationships, starts, ends = relationships[order], starts[order], ends[order]
    context.check_time()
    start_sets, end_sets = (graph.label_set_codes(side).astype(np.int64) for side in (starts, ends))
    nodes, first, outgoing = np.unique(starts, return_index=True, return_counts=True)
    targets, counts = np.unique(ends, return_counts=True)
    at = np.minimum(np.searchsorted(targets, nodes), len(targets) - 1)
    incoming = np.where(targets[at] == nodes, counts[at], 0)
    context.check_time()
    pairs, places = np.unique(start_sets << 32 | end_sets, return_index=True)
    ids, sets = graph.node_ids(nodes), start_sets[first]
    found = {}
    for code in np.unique(sets).tolist():
        mine, led = sets == code, pairs >> 32 == code
        found[code] = _Starts(
            int(ids[mine].min()),
            int(mine.sum()),
            int(outgoing[mine].sum()),
            int(incoming[mine].sum()),
            bool((outgoing[mine] > 1).any()),
            dict(zip((pairs[led] & 0xFFFFFFFF).tolist(), places[led].tolist(), strict=True)),
        )
    columns = graph.relationship_property_columns(relationships)
    return _Type(found, _property_firsts(context, columns, start_sets, np.arange(len(starts)), starts))


def _property_firsts(
    context: Execution, columns: Mapping[str, Column], sets: NDArray[Any], places: Int64s, nodes: Int64s
) -> _Firsts:
    """Where each property first appears, by set of labels."""
    numbers = {key: number for number, key in enumerate(context.graph.property_keys())}
    found: _Firsts = {}
    for key in sorted(columns, key=numbers.__getitem__):
        context.check_time()
        column = columns[key]
        held = np.flatnonzero(~column.null_mask())
        if len(held):
            held = held[np.argsort(places[held], kind="stable")]
            kinds, first = np.unique(sets[held], return_index=True)
            rows = held[first]
            parts = (places[rows].tolist(), _types(column, rows), nodes[rows].tolist())
            found[key] = dict(zip(kinds.tolist(), map(_First, *parts), strict=True))
    return found


def _types(column: Column, rows: Int64s) -> list[str]:
    """The types of some values of a column."""
    if type(column) in COLUMN_TYPES:
        return [COLUMN_TYPES[type(column)]] * len(rows)
    return ["LIST" if isinstance(value, list | bytes) else cypher_type(value) for value in column.take(rows).objects()]


# --- items ---


def _put(items: Items, item: Item) -> None:
    """Add an item; a property and a kind of relationship with the same name share the place of the first one."""
    known = items.setdefault(item.name, item)
    if known is not item and item.type == RELATIONSHIP:
        known.type, known.count, known.array = RELATIONSHIP, item.count, known.array or item.array
        known.left_total, known.right_total, known.other = item.left_total, item.right_total, item.other


def _relation(
    label: str, name: str, element: str, starts: Sequence[_Starts], labels_of: Mapping[int, Sequence[str]]
) -> Item:
    """Relationships of a type that start at nodes of a label."""
    ends: dict[int, int] = {}
    for at in starts:
        for code, place in at.ends.items():
            ends[code] = min(place, ends.get(code, place))
    return Item(
        label,
        name,
        element,
        RELATIONSHIP,
        count=sum(at.count for at in starts),
        array=any(at.has_several for at in starts),
        left_total=sum(at.outgoing for at in starts),
        right_total=sum(at.incoming for at in starts),
        other=list(dict.fromkeys(one for code in sorted(ends, key=ends.__getitem__) for one in labels_of[code])),
    )


def _described(
    context: Execution, schema: Schema, entity: Entity, name: str, properties: _Firsts, having: set[int]
) -> list[tuple[int, Item]]:
    """The properties of a label, or of a type's relationships that start at one, in order of first appearance."""
    indexed = {key for index in schema.indexes if index.entity is entity and name in index.labels for key in index.keys}
    unique = {key for rule in schema.unique(entity, name) for key in rule.keys}
    found = []
    for key, firsts in properties.items():
        seen = [at for code, at in firsts.items() if code in having]
        if not seen:
            continue
        at = min(seen, key=lambda at: at.place)
        item = Item(name, key, entity.value.lower(), at.type, array=at.type == "LIST")
        item.indexed, item.unique = key in indexed, key in unique
        if item.unique and entity is Entity.NODE:
            (labels,) = context.graph.label_sets(np.array([at.node], np.int64))
            item.other_labels = [label for label in labels if label != name]
        found.append((at.place, item))
    return sorted(found, key=lambda one: one[0])
