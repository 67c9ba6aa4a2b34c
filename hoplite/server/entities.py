"""Rows as bytes: columns are packed as they come out of the engine, without the driver's values in between."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoplite.api.hydrate import Hydrator
from hoplite.engine.guard import interruptible
from hoplite.server.packstream import (
    NULL,
    list_header,
    map_header,
    packed,
    packed_all,
    packed_integer,
    packed_text,
    structure_header,
)
from hoplite.values.columns import Column, Integers, Nodes, Relationships
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship

_NODE, _RELATIONSHIP, _UNBOUND, _PATH = 0x4E, 0x52, 0x72, 0x50
_KEPT = 1 << 16  # entities remembered from one column to the next


class PackedValues(Hydrator):
    """A hydrator that produces bytes, and forgets them now and then: a result of any length takes little memory."""

    _nodes: dict[int, Any]  # bytes
    _relationships: dict[int, Any]  # those within a path, those by themselves, where they start

    def column(self, column: Column) -> list[Any]:
        """The bytes of each value of a column."""
        if len(self._nodes) + len(self._relationships) > _KEPT:
            self._nodes.clear()
            self._relationships.clear()
        match column:
            case Nodes(positions=positions):
                self._make_nodes(positions)
                return [NULL if i < 0 else self._nodes[i] for i in positions.tolist()]
            case Relationships(positions=positions):
                self._make_relationships(positions)
                return [NULL if i < 0 else self._relationships[i][1] for i in positions.tolist()]
            case Integers(values=numbers, nulls=None):
                return list(map(packed_integer, numbers.tolist()))
            case _:
                objects = column.objects()
                self._prefetch(objects)
                with interruptible():
                    return packed_all(objects.tolist(), self._entity)

    def _entity(self, value: Any) -> bytes:
        match value:
            case VirtualNode():
                labels = [packed_text(label) for label in value.labels]
                properties = packed(dict(value.properties), self._entity)
                return _node(value.position, labels, properties, str(value.position))
            case VirtualRelationship():
                return self._packed_virtual(value)
            case NodeRef(position=node):
                if node not in self._nodes:
                    self._make_nodes(np.array([node], np.int64))
                return self._nodes[node]  # type: ignore[no-any-return]
            case RelationshipRef(position=relationship):
                if relationship not in self._relationships:
                    self._make_relationships(np.array([relationship], np.int64))
                return self._relationships[relationship][1]  # type: ignore[no-any-return]
            case PathValue():
                return self._path(value)
            case _:
                return packed(value)

    def _path(self, path: PathValue) -> bytes:
        nodes = {node: number for number, node in enumerate(dict.fromkeys(path.node_refs()))}
        relationships = {one: number for number, one in enumerate(dict.fromkeys(path.relationship_refs()), 1)}
        self._make_nodes(np.array([node.position for node in nodes], np.int64))
        self._make_relationships(np.array([one.position for one in relationships], np.int64))
        walked = path.node_refs()
        steps = []
        for start, relationship, end in zip(walked[:-1], path.relationship_refs(), walked[1:], strict=True):
            number = relationships[relationship]
            steps += [number if self._starts_at(relationship, start) else -number, nodes[end]]
        return b"".join(
            [
                structure_header(_PATH, 3),
                list_header(len(nodes)),
                *map(self._entity, nodes),
                list_header(len(relationships)),
                *map(self._unbound, relationships),
                packed(steps),
            ]
        )

    def _starts_at(self, relationship: RelationshipRef, node: NodeRef) -> bool:
        if isinstance(relationship, VirtualRelationship):
            return relationship.start == node
        return bool(self._relationships[relationship.position][2] == node.position)

    def _unbound(self, relationship: RelationshipRef) -> bytes:
        """A relationship in a path, without its ends."""
        if isinstance(relationship, VirtualRelationship):
            number, _, rest = self._parts(relationship)
            return structure_header(_UNBOUND, 4) + number + rest
        return self._relationships[relationship.position][0]  # type: ignore[no-any-return]

    def _parts(self, virtual: VirtualRelationship) -> tuple[bytes, list[tuple[bytes, bytes]], bytes]:
        """The number of a virtual relationship, its ends, and everything else."""
        ends = [self._identity(virtual.start), self._identity(virtual.end)]
        number, element_id = packed_integer(virtual.position), packed_text(str(virtual.position))
        return number, ends, packed_text(virtual.type) + packed(dict(virtual.properties), self._entity) + element_id

    def _packed_virtual(self, virtual: VirtualRelationship) -> bytes:
        number, ends, rest = self._parts(virtual)
        return b"".join(
            [structure_header(_RELATIONSHIP, 8), number, ends[0][0], ends[1][0], rest, ends[0][1], ends[1][1]]
        )

    def _identity(self, node: NodeRef) -> tuple[bytes, bytes]:
        """The number and the element id of a node."""
        if isinstance(node, VirtualNode):
            return packed_integer(node.position), packed_text(str(node.position))
        (number,) = self.source.node_ids(np.array([node.position], np.int64)).tolist()
        return packed_integer(number), packed_text(f"4:{self.source.uuid}:{number}")

    def _make_some_nodes(self, ids: Any) -> None:
        new = [i for i in dict.fromkeys(ids.tolist()) if i >= 0 and i not in self._nodes]
        if not new:
            return
        positions, source = np.array(new, np.int64), self.source
        names = {label: packed_text(label) for labels in source.label_sets(positions) for label in labels}
        rows = zip(
            new,
            source.node_ids(positions).tolist(),
            source.node_exists(positions).tolist(),
            source.label_sets(positions),
            self._packed_maps(len(new), source.node_property_columns(positions)),
            strict=True,
        )
        prefix = f"4:{source.uuid}:"
        for position, number, exists, labels, properties in rows:
            shown = [names[label] for label in labels] if exists else []
            self._nodes[position] = _node(number, shown, properties if exists else map_header(0), f"{prefix}{number}")

    def _make_some_relationships(self, ids: Any) -> None:
        new = [i for i in dict.fromkeys(ids.tolist()) if i >= 0 and i not in self._relationships]
        if not new:
            return
        positions, source = np.array(new, np.int64), self.source
        starts, ends = source.endpoints(positions)
        types = [packed_text(name) for name in source.type_names]
        rows = zip(
            new,
            source.relationship_ids(positions).tolist(),
            source.relationship_exists(positions).tolist(),
            source.relationship_types(positions).tolist(),
            self._packed_maps(len(new), source.relationship_property_columns(positions)),
            starts.tolist(),
            source.node_ids(starts).tolist(),
            source.node_ids(ends).tolist(),
            strict=True,
        )
        node_prefix, prefix = f"4:{source.uuid}:", f"5:{source.uuid}:"
        unbound, bound = structure_header(_UNBOUND, 4), structure_header(_RELATIONSHIP, 8)
        for position, number, exists, kind, properties, start, start_id, end_id in rows:
            name, shown = (types[kind], properties) if exists else (packed_text(""), map_header(0))
            rest = name + shown + packed_text(f"{prefix}{number}")
            first = packed_integer(number)
            nodes = packed_integer(start_id) + packed_integer(end_id)
            element_ids = packed_text(f"{node_prefix}{start_id}") + packed_text(f"{node_prefix}{end_id}")
            self._relationships[position] = (unbound + first + rest, bound + first + nodes + rest + element_ids, start)

    def _packed_maps(self, count: int, columns: dict[str, Column]) -> list[bytes]:
        """The properties of a number of entities."""
        entries: list[list[bytes]] = [[] for _ in range(count)]
        for key, column in columns.items():
            name = packed_text(key)
            for entry, value in zip(entries, packed_all(column.objects().tolist()), strict=True):
                if value != NULL:
                    entry += (name, value)
        return [map_header(len(entry) // 2) + b"".join(entry) for entry in entries]


def _node(number: int, labels: list[bytes], properties: bytes, element_id: str) -> bytes:
    return b"".join(
        [
            structure_header(_NODE, 4),
            packed_integer(number),
            list_header(len(labels)),
            *labels,
            properties,
            packed_text(element_id),
        ]
    )
