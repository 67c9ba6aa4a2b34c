"""apoc.schema.nodes and apoc.schema.relationships: the indexes and constraints."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.engine.procedures.schema import describe_constraint
from hoplite.engine.procedures.vectors import describe_index
from hoplite.storage.schema import Constraint, Entity, Index, IndexKind
from hoplite.values.order import group_key, sort_key
from hoplite.values.spatial import Point

_ENTRIES: dict[IndexKind, type | None] = {IndexKind.RANGE: None, IndexKind.TEXT: str, IndexKind.POINT: Point}
"""The kinds of index that count their entries, with the type of their values."""
_ANY = {Entity.NODE: "<any-labels>", Entity.RELATIONSHIP: "<any-types>"}


def _listed(
    context: Execution, entity: Entity, config: dict[str, Any] | None, names: tuple[str, str, str]
) -> tuple[list[Constraint], list[Index]]:
    """The constraints and indexes whose labels or types the settings select."""
    procedure, included, excluded = names
    settings = config or {}
    include, exclude = set(settings.get(included) or ()), set(settings.get(excluded) or ())
    if include and exclude:
        message = (
            f"Parameters {included} and {excluded} are both valuated. Please check parameters and valuate only one."
        )
        raise illegal_argument(procedure, message)

    def wanted(rule: Constraint | Index) -> bool:
        about = rule.labels or (_ANY[entity],)
        return (
            rule.entity is entity
            and (not include or any(name in include for name in about))
            and not (exclude.intersection(about))
        )

    schema = context.graph.schema
    return [rule for rule in schema.constraints if wanted(rule)], [rule for rule in schema.indexes if wanted(rule)]


def _label(index: Index) -> str | list[str]:
    if index.kind is IndexKind.LOOKUP:
        return _ANY[index.entity]
    return index.labels[0] if len(index.labels) == 1 else list(index.labels)


def _name(index: Index) -> str:
    """`:Person(name)`, `:[Movie, Book],(title,text)`."""
    label = _label(index)
    keys = ",".join(index.keys)
    return f":{label}({keys})" if isinstance(label, str) else f":[{', '.join(label)}],({keys})"


def _selectivity(context: Execution, index: Index) -> tuple[int, float]:
    """The number of entries in an index, and the share of distinct values among them; full-text indexes and the like
    have neither."""
    if index.kind not in _ENTRIES:
        return 0, 1.0
    graph, (label,), entries = context.graph, index.labels, _ENTRIES[index.kind]
    is_of_nodes = index.entity is Entity.NODE
    members = graph.nodes_with_label(label) if is_of_nodes else graph.relationships_with_type(label)
    read = graph.node_property if is_of_nodes else graph.relationship_property
    columns = [read(members, key) for key in index.keys]
    held = np.logical_and.reduce([~column.null_mask() for column in columns])
    if entries is None and len(columns) == 1:
        size, different = int(held.sum()), graph.distinct_values(label, index.keys[0]) or 0
    else:
        rows = zip(*(column.take(np.flatnonzero(held)).objects() for column in columns), strict=True)
        kept = [group_key(list(row)) for row in rows if entries is None or isinstance(row[0], entries)]
        size, different = len(kept), len(set(kept))
    return size, min(different / size, 1.0) if size and different else 1.0


@cypher_procedure(
    "apoc.schema.nodes(config = {} :: MAP) :: (name :: STRING, label :: ANY, properties :: LIST<STRING>, status :: "
    "STRING, type :: STRING, failure :: STRING, populationProgress :: FLOAT, size :: INTEGER, "
    "valuesSelectivity :: FLOAT, userDescription :: STRING)",
    description="Lists the indexes and constraints on nodes.",
    works_on_system=False,
)
def schema_nodes(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """A row for each constraint and each index, indexes by name."""
    names = ("apoc.schema.nodes", "labels", "excludeLabels")
    constraints, indexes = _listed(context, Entity.NODE, config, names)
    for rule in constraints:
        name = f":{rule.labels[0]}({','.join(rule.keys)})"
        facts = ("", rule.kind.value, "NO FAILURE", 0.0, 0, 0.0, describe_constraint(rule))
        yield name, rule.labels[0], list(rule.keys), *facts
    for index in sorted(indexes, key=_name):
        size, share = _selectivity(context, index)
        described = describe_index(index, context.graph.schema.constraint(index.owning_constraint or ""))
        facts = ("ONLINE", index.kind.value, "NO FAILURE", 100.0, size, share, described)
        yield _name(index), _label(index), list(index.keys), *facts


@cypher_procedure(
    "apoc.schema.relationships(config = {} :: MAP) :: (name :: STRING, type :: STRING, properties :: LIST<STRING>, "
    "status :: STRING, relationshipType :: ANY)",
    description="Lists the indexes and constraints on relationships.",
    works_on_system=False,
)
def schema_relationships(context: Execution, config: dict[str, Any]) -> Iterator[Row]:
    """A row for each constraint, and for each index."""
    names = ("apoc.schema.relationships", "relationships", "excludeRelationships")
    constraints, indexes = _listed(context, Entity.RELATIONSHIP, config, names)
    for rule in constraints:
        (name,) = rule.labels
        variable = name.lower()
        keys = ",".join(f"{variable}.{key}" for key in rule.keys)
        required = f"({keys})" if len(rule.keys) > 1 else keys
        text = f"CONSTRAINT FOR ()-[{variable}:{name}]-() REQUIRE {required} IS UNIQUE"
        yield text, rule.kind.value, list(rule.keys), "", name
    for index in indexes:
        yield _name(index), index.kind.value, list(index.keys), "ONLINE", _label(index)


def _indexed_values(context: Execution, index: Index) -> dict[Hashable, list[Any]]:
    """The values that an index of one key holds, in its order."""
    (label,), (key,) = index.labels, index.keys
    held = context.graph.node_property(context.graph.nodes_with_label(label), key).objects()
    found: dict[Hashable, list[Any]] = {}
    for value in sorted((value for value in held if value is not None), key=sort_key):
        found.setdefault(group_key(value), []).append(value)
    return found


def _given(procedure: str, label: str | None, key: str | None) -> tuple[str, str]:
    if label is None or key is None:
        message = 'Cannot invoke "String.isEmpty()" because a name is null'
        raise call_failed(procedure, "java.lang.NullPointerException", message)
    return label, key


def _of_values(context: Execution, label: str, key: str) -> list[Index]:
    """The value indexes on nodes with one key; an empty string means any label or key."""
    return [
        index
        for index in context.graph.schema.indexes
        if index.entity is Entity.NODE and index.finds_values and len(index.keys) == 1 == len(index.labels)
        if label in ("", index.labels[0]) and key in ("", index.keys[0])
    ]


@cypher_procedure(
    "apoc.schema.properties.distinct(label :: STRING, key :: STRING) :: (value :: LIST<ANY>)",
    mode="DEFAULT",
    description="Returns the distinct values of an indexed property.",
    works_on_system=False,
)
def distinct_values(context: Execution, label: str | None, key: str | None) -> Iterator[Row]:
    """One list, which is empty if there is no such index."""
    indexes = _of_values(context, *_given("apoc.schema.properties.distinct", label, key))
    yield ([values[0] for index in indexes[:1] for values in _indexed_values(context, index).values()],)


@cypher_procedure(
    "apoc.schema.properties.distinctCount(label =  :: STRING, key =  :: STRING) :: (label :: STRING, key :: STRING, "
    "value :: ANY, count :: INTEGER)",
    mode="DEFAULT",
    description="Returns how often each value of an indexed property occurs.",
    works_on_system=False,
)
def count_distinct_values(context: Execution, label: str | None, key: str | None) -> Iterator[Row]:
    """For a label, a key, both, or all indexes."""
    for index in _of_values(context, *_given("apoc.schema.properties.distinctCount", label, key)):
        for values in _indexed_values(context, index).values():
            context.check_time()
            yield index.labels[0], index.keys[0], values[0], len(values)
