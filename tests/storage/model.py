"""A property graph in plain dictionaries, which the storage is compared with. Entities are known by the public ids that
the storage assigned.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hoplite.storage.incidence import Adjacency, Incidence
from hoplite.storage.snapshot import Snapshot


@dataclass
class ModelRelationship:
    """A relationship between two public ids."""

    start: int
    end: int
    type: str
    properties: dict[str, Any]


@dataclass
class Model:
    """Nodes and relationships by public id."""

    labels: dict[int, set[str]] = field(default_factory=dict)
    properties: dict[int, dict[str, Any]] = field(default_factory=dict)
    relationships: dict[int, ModelRelationship] = field(default_factory=dict)

    def copy(self) -> Model:
        """An independent twin."""
        return copy.deepcopy(self)


def node_id(snapshot: Snapshot, node: int) -> int:
    """The public id of a node."""
    return int(snapshot.node_ids(np.array([node]))[0])


def node_at(snapshot: Snapshot, public: int) -> int:
    """The position of a node."""
    return int(snapshot.node_positions(np.array([public]))[0])


def relationship_id(snapshot: Snapshot, relationship: int) -> int:
    """The public id of a relationship."""
    return int(snapshot.relationship_ids(np.array([relationship]))[0])


def relationship_at(snapshot: Snapshot, public: int) -> int:
    """The position of a relationship."""
    return int(snapshot.relationship_positions(np.array([public]))[0])


def entries(adjacency: Adjacency, node: int) -> list[tuple[int, int, int]]:
    """(type, neighbour, relationship) of a node's entries, read off the arrays as a kernel would."""
    found = []

    def read(incidence: Incidence, row: int) -> None:
        for entry in range(int(incidence.indptr[row]), int(incidence.indptr[row + 1])):
            relationship = (
                incidence.first_relationship + entry
                if incidence.relationships is None
                else int(incidence.relationships[entry])
            )
            found.append((int(incidence.types[entry]), int(incidence.neighbours[entry]), relationship))

    if adjacency.partition_of is None:
        incidence, row = adjacency.partitions[0], node
    else:
        assert adjacency.row_of is not None
        incidence, row = adjacency.partitions[adjacency.partition_of[node]], int(adjacency.row_of[node])
    if row < len(incidence.indptr) - 1:
        read(incidence, row)
        assert [entry[0] for entry in found] == sorted(entry[0] for entry in found)
    if adjacency.delta is not None:
        assert adjacency.delta_rows is not None
        place = int(np.searchsorted(adjacency.delta_rows, node))
        if place < len(adjacency.delta_rows) and adjacency.delta_rows[place] == node:
            read(adjacency.delta, place)
    removed = set() if adjacency.removed is None else set(adjacency.removed.tolist())
    return [entry for entry in found if entry[2] not in removed]


def assert_same(snapshot: Snapshot, model: Model) -> None:
    """Every read says what the model says."""
    _assert_same_nodes(snapshot, model)
    _assert_same_relationships(snapshot, model)
    _assert_same_hops(snapshot, model)
    _assert_same_statistics(snapshot, model)


def _assert_same_nodes(snapshot: Snapshot, model: Model) -> None:
    nodes = snapshot.nodes()
    ids = snapshot.node_ids(nodes)
    assert sorted(ids.tolist()) == sorted(model.labels)
    assert snapshot.node_count == len(model.labels)
    assert snapshot.node_positions(ids).tolist() == nodes.tolist()
    assert snapshot.node_exists(nodes).all()
    for public, labels in zip(ids.tolist(), snapshot.label_sets(nodes), strict=True):
        assert set(labels) == model.labels[public]
    assert snapshot.has_any_label(nodes).tolist() == [bool(model.labels[public]) for public in ids.tolist()]
    maps = snapshot.node_property_maps(nodes)
    for node, public, properties in zip(nodes.tolist(), ids.tolist(), maps, strict=True):
        assert exact(properties) == exact(model.properties[public])
        assert exact(snapshot.node_properties(node)) == exact(model.properties[public])
        assert set(snapshot.node_keys(node)) == set(model.properties[public])
    with_nulls = np.append(nodes[::-1], -1)
    for key in snapshot.property_keys():
        expected = [model.properties[public].get(key) for public in ids[::-1].tolist()] + [None]
        assert list(map(exact, snapshot.node_property(with_nulls, key).objects())) == list(map(exact, expected))
    for label in snapshot.labels():
        having = {public for public, labels in model.labels.items() if label in labels}
        found = snapshot.nodes_with_label(label)
        assert found.tolist() == sorted(found.tolist())
        assert set(snapshot.node_ids(found).tolist()) == having
        assert snapshot.label_count(label) == len(having)
        assert snapshot.has_label(with_nulls, label).tolist() == [
            *(public in having for public in ids[::-1].tolist()),
            False,
        ]


def _assert_same_relationships(snapshot: Snapshot, model: Model) -> None:
    relationships = snapshot.relationships()
    ids = snapshot.relationship_ids(relationships)
    assert sorted(ids.tolist()) == sorted(model.relationships)
    assert snapshot.relationship_count == len(model.relationships)
    assert snapshot.relationship_positions(ids).tolist() == relationships.tolist()
    assert snapshot.relationship_exists(relationships).all()
    starts, ends = snapshot.endpoints(relationships)
    types = snapshot.relationship_types(relationships)
    rows = zip(
        ids.tolist(), snapshot.node_ids(starts).tolist(), snapshot.node_ids(ends).tolist(), types.tolist(), strict=True
    )
    for public, start, end, code in rows:
        expected = model.relationships[public]
        assert (start, end, snapshot.type_names[code]) == (expected.start, expected.end, expected.type)
    for relationship, public, properties in zip(
        relationships.tolist(), ids.tolist(), snapshot.relationship_property_maps(relationships), strict=True
    ):
        assert exact(properties) == exact(model.relationships[public].properties)
        assert exact(snapshot.relationship_properties(relationship)) == exact(properties)
    for name in snapshot.type_names:
        having = {public for public, relationship in model.relationships.items() if relationship.type == name}
        assert set(snapshot.relationship_ids(snapshot.relationships_with_type(name)).tolist()) == having
        assert snapshot.type_count(name) == len(having)


def _assert_same_hops(snapshot: Snapshot, model: Model) -> None:
    for outgoing in (True, False):
        adjacency = snapshot.adjacency(outgoing)
        for node in snapshot.nodes().tolist():
            public = node_id(snapshot, node)
            expected = sorted(
                key for key, r in model.relationships.items() if (r.start if outgoing else r.end) == public
            )
            relationships, neighbours = snapshot.neighbours(node, outgoing)
            assert sorted(snapshot.relationship_ids(relationships).tolist()) == expected
            assert snapshot.degree(np.array([node, -1]), outgoing).tolist() == [len(expected), 0]
            found = entries(adjacency, node)
            assert sorted((n, r) for _, n, r in found) == sorted(
                zip(neighbours.tolist(), relationships.tolist(), strict=True)
            )
            assert [t for t, _, r in found] == [int(snapshot.relationship_types(np.array([r]))[0]) for _, _, r in found]


def _assert_same_statistics(snapshot: Snapshot, model: Model) -> None:
    for label in snapshot.labels():
        for key in snapshot.property_keys():
            wanted = [0, 1, 1.0, True, "a", "b", [1, 2], [1.0, 2.0], 2.5, None, float("nan")]
            rows, nodes = snapshot.seek_nodes(label, key, wanted)
            found = {
                (row, public) for row, public in zip(rows.tolist(), snapshot.node_ids(nodes).tolist(), strict=True)
            }
            assert len(found) == len(rows)
            assert found == {
                (row, public)
                for row, value in enumerate(wanted)
                for public, labels in model.labels.items()
                if label in labels and equal(model.properties[public].get(key), value)
            }


def equal(left: Any, right: Any) -> bool:
    """Cypher's `=` being true, for the values used here."""
    if left is None or right is None or isinstance(left, bool) != isinstance(right, bool):
        return False
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def exact(value: Any) -> Any:
    """A form whose equality tells 1, 1.0 and true apart."""
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [exact(item) for item in value]
    return type(value).__name__, repr(value)
