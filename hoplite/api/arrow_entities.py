"""Nodes, relationships and paths as Arrow arrays: an entity is read once, column by column, and taken wherever it
occurs.

    node           {element_id: string, labels: list<string>, properties: struct}
    relationship   {element_id: string, type: string, start: string, end: string, properties: struct}
    path           {nodes: list<node>, relationships: list<relationship>}

A property is a field of the struct, null if an entity does not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
import pyarrow
import pyarrow.compute
from numpy.typing import NDArray

from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Column, EntityLists, Int64s, Nodes, Paths, Relationships

Array: TypeAlias = Any  # pyarrow arrays whose type is only known at run time, which its type hints cannot express
ToArray = Callable[[str, Column], Array]

pa: Any = pyarrow
_Int = TypeVar("_Int", np.int32, np.int64)


class EntityArrays:
    """Makes the arrays of one result. `to_array` makes the array of a property column."""

    def __init__(self, source: Snapshot, to_array: ToArray) -> None:
        self.source = source
        self.to_array = to_array

    def array(self, column: Nodes | Relationships | EntityLists | Paths) -> Array:
        """One column."""
        match column:
            case Nodes(positions=positions):
                return self._nodes_at(positions)
            case Relationships(positions=positions):
                return self._relationships_at(positions)
            case EntityLists(offsets=offsets, positions=positions, of_nodes=of_nodes, nulls=nulls):
                return _lists(
                    offsets, self._nodes_at(positions) if of_nodes else self._relationships_at(positions), nulls
                )
            case Paths():
                return self._paths(column)

    def _nodes_at(self, positions: Int64s) -> Array:
        """The nodes at these places; -1 is null."""
        nodes, places = _distinct(positions)
        return _taken(self._nodes(nodes, self._node_element_ids(nodes)), places)

    def _relationships_at(self, positions: Int64s) -> Array:
        """The relationships at these places; -1 is null."""
        relationships, places = _distinct(positions)
        starts, ends = self.source.endpoints(relationships)
        nodes, end_places = _distinct(np.concatenate((starts, ends)))
        made = self._relationships(relationships, _taken(self._node_element_ids(nodes), end_places))
        return _taken(made, places)

    def _paths(self, paths: Paths) -> Array:
        """Paths; a relationship's ends are nodes of its path, and share their texts."""
        starts, offsets = paths.starts, paths.offsets
        null = starts < 0
        node_offsets = offsets - offsets[0] + np.concatenate(([0], np.cumsum(~null)))
        is_start = np.zeros(node_offsets[-1], np.bool_)
        is_start[node_offsets[:-1][~null]] = True
        along = np.empty(len(is_start), np.int64)
        along[is_start] = starts[~null]
        along[~is_start] = paths.nodes[offsets[0] : offsets[-1]]

        relationships, relationship_places = _distinct(paths.relationships)
        nodes, node_places = _distinct(np.concatenate((along, *self.source.endpoints(relationships))))
        element_ids = self._node_element_ids(nodes)
        of_ends = element_ids.take(node_places[len(along) :])
        parts = [
            _lists(node_offsets, self._nodes(nodes, element_ids).take(node_places[: len(along)]), None),
            _lists(offsets, _taken(self._relationships(relationships, of_ends), relationship_places), None),
        ]
        mask = pa.array(null) if null.any() else None
        return pa.StructArray.from_arrays(parts, ["nodes", "relationships"], mask=mask)

    def _node_element_ids(self, nodes: Int64s) -> Array:
        return _element_ids(f"4:{self.source.uuid}:", self.source.node_ids(nodes))

    def _nodes(self, nodes: Int64s, element_ids: Array) -> Array:
        source = self.source
        codes, places = _distinct(source.label_set_codes(nodes))
        labels = pa.array([sorted(names) for names in source.labels_of_sets(codes)], pa.list_(pa.string()))
        columns = source.node_property_columns(nodes)
        return pa.StructArray.from_arrays(
            [
                element_ids,
                labels.take(places),
                self._properties(columns, len(nodes)),
            ],
            ["element_id", "labels", "properties"],
        )

    def _relationships(self, relationships: Int64s, ends: Array) -> Array:
        """The relationships; `ends` are the element ids of their start nodes, then of their end nodes."""
        source, count = self.source, len(relationships)
        types = pa.array(source.type_names, pa.string()).take(pa.array(source.relationship_types(relationships)))
        columns = source.relationship_property_columns(relationships)
        return pa.StructArray.from_arrays(
            [
                _element_ids(f"5:{source.uuid}:", source.relationship_ids(relationships)),
                types,
                ends[:count],
                ends[count:],
                self._properties(columns, count),
            ],
            ["element_id", "type", "start", "end", "properties"],
        )

    def _properties(self, columns: Mapping[str, Column], count: int) -> Array:
        there = {key: column for key, column in columns.items() if not bool(column.null_mask().all())}
        if not there:
            return pa.Array.from_buffers(pa.struct([]), count, [None])
        arrays = [self.to_array(key, column) for key, column in there.items()]
        return pa.StructArray.from_arrays(arrays, list(there))


def _distinct(ids: NDArray[_Int]) -> tuple[NDArray[_Int], Array]:
    """The distinct ids without -1, and each id's place among them, null for -1."""
    nulls = ids < 0
    encoded = pa.array(ids, mask=nulls if nulls.any() else None).dictionary_encode()
    return encoded.dictionary.to_numpy(), encoded.indices


def _taken(values: Array, places: Array) -> Array:
    """The values at these places, which are in order of first occurrence: if all are different, they are already in
    place."""
    return values if len(values) == len(places) else values.take(places)


def _element_ids(prefix: str, ids: Int64s) -> Array:
    return pa.compute.utf8_replace_slice(pa.array(ids).cast(pa.string()), 0, 0, prefix)


def _lists(offsets: Int64s, values: Array, nulls: Any) -> Array:
    """A list for each row, sliced from the values."""
    mask = None if nulls is None or not nulls.any() else pa.array(nulls)
    if len(values) > np.iinfo(np.int32).max:
        return pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=mask)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values, mask=mask)
