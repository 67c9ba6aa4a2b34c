"""A snapshot a few thousand nodes or relationships at a time: ids, labels or types, ends, and properties."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.snapshot import Snapshot

BATCH_ROWS = 10_000


@dataclass(frozen=True, slots=True)
class NodeRow:
    """A node; `id` is what id() gives."""

    id: int
    labels: tuple[str, ...]
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RelationshipRow:
    """A relationship between nodes by id."""

    id: int
    type: str
    start: int
    end: int
    properties: dict[str, Any]


def node_rows(snapshot: Snapshot) -> Iterator[NodeRow]:
    """All nodes, by id."""
    positions = snapshot.nodes()
    positions = positions[snapshot.node_ids(positions).argsort()]
    for first in range(0, len(positions), BATCH_ROWS):
        batch = positions[first : first + BATCH_ROWS]
        ids = snapshot.node_ids(batch).tolist()
        properties = snapshot.node_property_maps(batch)
        for id, labels, held in zip(ids, snapshot.label_sets(batch), properties, strict=True):
            yield NodeRow(id, tuple(sorted(labels)), held)


def relationship_rows(snapshot: Snapshot) -> Iterator[RelationshipRow]:
    """All relationships, by id."""
    positions = snapshot.relationships()
    positions = positions[snapshot.relationship_ids(positions).argsort()]
    names = snapshot.type_names
    for first in range(0, len(positions), BATCH_ROWS):
        batch = positions[first : first + BATCH_ROWS]
        ids = snapshot.relationship_ids(batch).tolist()
        starts, ends = (snapshot.node_ids(end).tolist() for end in snapshot.endpoints(batch))
        types = [names[code] for code in snapshot.relationship_types(batch).tolist()]
        properties = snapshot.relationship_property_maps(batch)
        for id, type, start, end, held in zip(ids, types, starts, ends, properties, strict=True):
            yield RelationshipRow(id, type, start, end, held)
