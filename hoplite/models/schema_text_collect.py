"""What a graph has, for a prompt: labels and types with their properties, and the patterns between labels.

Names and counts are exact. If a label or type has more than `SAMPLE` entities, types, values and how many entities lack
a property come from a sample at equal distances, so that the same graph always gives the same text. A property that no
entity of the sample has is looked for among all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.snapshot import Snapshot
from hoplite.values.column_types import COLUMN_TYPES
from hoplite.values.columns import Column, Int64s
from hoplite.values.order import group_key, sort_key
from hoplite.values.value_types import value_type

SAMPLE = 2_000
_LOOKED_AT = 40 * SAMPLE  # entities searched for a sample before all are
_FEW = 3  # values shown of a property that has too many to list
_PROSE = 120  # characters: longer texts are prose, of which a few say nothing


@dataclass(frozen=True, slots=True)
class Property:
    """A property of a label or type. `values` are all values if `enumerated`, else some of them; numbers and dates that
    are too many to list have a `low` and a `high` end instead."""

    key: str
    types: tuple[str, ...]
    optional: bool
    unique: bool
    indexed: bool
    enumerated: bool
    values: tuple[Any, ...]
    low: Any = None
    high: Any = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A label, or a relationship type."""

    name: str
    count: int
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """`(:start)-[:type]->(:end)`; None is a node without labels."""

    start: str | None
    type: str
    end: str | None
    count: int


@dataclass(frozen=True, slots=True)
class SearchIndex:
    """A full-text or vector index, which a query has to name."""

    name: str
    kind: str
    entity: str
    labels: tuple[str, ...]
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GraphSchema:
    """Everything that a text may contain; the most frequent comes first."""

    labels: tuple[Kind, ...]
    types: tuple[Kind, ...]
    patterns: tuple[Pattern, ...]
    indexes: tuple[SearchIndex, ...]


def collect(graph: Snapshot, most_values: int) -> GraphSchema:
    """The schema of one version of the graph; a property with more than `most_values` values is not enumerated."""
    labels = [_label(graph, name, most_values) for name in graph.labels_in_use()]
    types = [_type(graph, name, most_values) for name in graph.relationship_types_in_use()]
    patterns = [Pattern(*ends, count) for ends, count in graph.patterns().items()]
    indexes = [
        SearchIndex(index.name, index.kind.value, index.entity.value, index.labels, index.keys)
        for index in graph.schema.indexes
        if index.kind in (IndexKind.FULLTEXT, IndexKind.VECTOR)
    ]
    return GraphSchema(
        tuple(sorted(labels, key=lambda kind: (-kind.count, kind.name))),
        tuple(sorted(types, key=lambda kind: (-kind.count, kind.name))),
        tuple(sorted(patterns, key=lambda one: (-one.count, one.type, one.start or "", one.end or ""))),
        tuple(sorted(indexes, key=lambda index: index.name)),
    )


def _label(graph: Snapshot, name: str, most_values: int) -> Kind:
    count = graph.label_count(name)
    some = _some_with_label(graph, name, count)

    def holders(key: str) -> Int64s:
        having = graph.nodes_with_key(key)
        return having[graph.has_label(having, name)]

    sampled = {
        key: _sampled(some, count, partial(graph.node_property, key=key), partial(holders, key))
        for key in sorted(graph.keys_of_label(name))
    }
    return Kind(name, count, _properties(graph, Entity.NODE, name, sampled, most_values))


def _type(graph: Snapshot, name: str, most_values: int) -> Kind:
    count = graph.type_count(name)
    some = _some_with_type(graph, name, count)

    def holders(key: str) -> Int64s:
        having = graph.relationships_with_key(key)
        return having[np.flatnonzero(graph.relationship_types(having) == graph.type_code(name))]

    sampled = {
        key: _sampled(some, count, partial(graph.relationship_property, key=key), partial(holders, key))
        for key in sorted(graph.keys_of_type(name))
    }
    return Kind(name, count, _properties(graph, Entity.RELATIONSHIP, name, sampled, most_values))


def _some(entities: Int64s) -> Int64s:
    """All of them, or a sample at equal distances."""
    if len(entities) <= SAMPLE:
        return entities
    return entities[np.linspace(0, len(entities) - 1, SAMPLE).astype(np.int64)]


def _some_with_label(graph: Snapshot, name: str, count: int) -> Int64s:
    """The nodes with a label, or a sample; for a common label, one taken at equal distances among all nodes, because a
    list of its nodes is only made on demand."""
    if count > SAMPLE:
        nodes = _distances(graph.node_count)
        found = nodes[graph.node_exists(nodes) & graph.has_label(nodes, name)]
        if len(found) >= SAMPLE:
            return _some(found)
    return _some(graph.nodes_with_label(name))


def _some_with_type(graph: Snapshot, name: str, count: int) -> Int64s:
    """The same for the relationships of a type."""
    if count > SAMPLE:
        relationships = _distances(graph.relationship_count)
        found = relationships[graph.relationship_exists(relationships)]
        found = found[graph.relationship_types(found) == graph.type_code(name)]
        if len(found) >= SAMPLE:
            return _some(found)
    return _some(graph.relationships_with_type(name))


def _distances(count: int) -> Int64s:
    return np.linspace(0, count - 1, min(count, _LOOKED_AT)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class _Sampled:
    """Values of a property; `whole` if they are all of them."""

    values: list[Any]
    types: tuple[str, ...]
    whole: bool
    optional: bool

    @staticmethod
    def of(column: Column, whole: bool) -> _Sampled:
        """The values in a column; if texts come from a large pool, only these are read."""
        values = [value for value in column.objects().tolist() if value is not None]
        known = COLUMN_TYPES.get(type(column))
        types = tuple(sorted({_type_name(value) for value in values})) if known is None else (known,)
        return _Sampled(values, types, whole, len(values) < len(column))


def _sampled(
    some: Int64s, count: int, read: Callable[[Int64s], Column], holders: Callable[[], Int64s]
) -> _Sampled | None:
    """The values of a property that some of `count` entities have; None if none of all has one."""
    found = _Sampled.of(read(some), len(some) == count)
    if found.values:
        return found
    if len(some) == count or not len(having := holders()):
        return None
    return replace(_Sampled.of(read(_some(having)), len(having) <= SAMPLE), optional=True)


def _properties(
    graph: Snapshot, entity: Entity, name: str, sampled: Mapping[str, _Sampled | None], most_values: int
) -> tuple[Property, ...]:
    schema = graph.schema
    unique = {rule.keys[0] for rule in schema.unique(entity, name) if len(rule.keys) == 1}
    found = []
    for key, held in sampled.items():
        if held is not None:
            shown = _shown(held.values, held.types, held.whole, most_values)
            indexed = schema.has_index(entity, name, key)
            found.append(Property(key, held.types, held.optional, key in unique, indexed, *shown))
    return tuple(found)


def _type_name(value: Any) -> str:
    """A stored list has one type, which its first element tells."""
    if isinstance(value, bytes):
        return "BYTE ARRAY"
    if isinstance(value, list):
        return f"LIST<{_type_name(value[0])}>" if value else "LIST<NOTHING>"
    return value_type(value).removesuffix(" NOT NULL")


def _shown(
    values: list[Any], types: tuple[str, ...], whole: bool, most_values: int
) -> tuple[bool, tuple[Any, ...], Any, Any]:
    """Whether the values are enumerated; the values shown; the ends of their range."""
    if len(types) > 1 or types[0].startswith(("LIST", "POINT", "BYTE")):
        return False, (), None, None
    is_plain = types[0] in ("STRING", "INTEGER", "BOOLEAN")
    distinct = list(dict.fromkeys(values) if is_plain else {group_key(value): value for value in values}.values())
    if types == ("STRING",) and sum(map(len, values)) > _PROSE * len(values):
        return False, (), None, None
    if len(distinct) <= most_values:
        if whole or len(distinct) * 4 <= len(values):
            return whole, tuple(sorted(distinct, key=sort_key)), None, None
        return False, tuple(distinct[:_FEW]), None, None
    if types == ("STRING",):
        return False, tuple(distinct[:_FEW]), None, None
    if types == ("INTEGER",):
        return False, (), min(distinct), max(distinct)
    ordered = sorted(distinct, key=sort_key)
    return False, (), ordered[0], ordered[-1]
