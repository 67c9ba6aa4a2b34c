"""Nodes, relationships and paths as Arrow arrays: an entity is read once, column by column, and taken where it occurs.

    node           {element_id: string, labels: list<string>, properties: struct}
    relationship   {element_id: string, type: string, start: string, end: string, properties: struct}
    path           {nodes: list<node>, relationships: list<relationship>}

A property has the field of its key in the struct, null where an entity does not have it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
import pyarrow
import pyarrow.compute

from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Column, EntityLists, Int64s, Nodes, Paths, Relationships

Array: TypeAlias = Any  # of pyarrow, whose type hints know no arrays whose type is found out when they are made
ToArray = Callable[[str, Column], Array]

pa: Any = pyarrow


class EntityArrays:
    """Makes the arrays of one result. `to_array` makes that of a property's column."""

    def __init__(self, source: Snapshot, to_array: ToArray) -> None:
        self.source = source
        self.to_array = to_array

    def array(self, column: Nodes | Relationships | EntityLists | Paths) -> Array:
        """One column."""
        match column:
            case Nodes(ids=ids):
                return self._entities(ids, self._nodes)
            case Relationships(ids=ids):
                return self._entities(ids, self._relationships)
            case EntityLists(offsets=offsets, ids=ids, of_nodes=of_nodes, nulls=nulls):
                made = self._entities(ids, self._nodes if of_nodes else self._relationships)
                return _lists(offsets, made, nulls)
            case Paths(starts=starts, offsets=offsets, relationships=relationships, nodes=nodes):
                null = starts < 0
                nodes = nodes[offsets[0] : offsets[-1]]
                node_offsets = offsets - offsets[0] + np.concatenate(([0], np.cumsum(~null)))
                along = np.empty(node_offsets[-1], np.int64)
                is_start = np.zeros(len(along), np.bool_)
                is_start[node_offsets[:-1][~null]] = True
                along[is_start] = starts[~null]
                along[~is_start] = nodes
                parts = [
                    _lists(node_offsets, self._entities(along, self._nodes), None),
                    _lists(offsets, self._entities(relationships, self._relationships), None),
                ]
                mask = pa.array(null) if null.any() else None
                return pa.StructArray.from_arrays(parts, ["nodes", "relationships"], mask=mask)

    def _entities(self, ids: Int64s, make: Callable[[Int64s], Array]) -> Array:
        """The entities at these places; -1 is null."""
        distinct, place = np.unique(ids, return_inverse=True)
        nulls = ids < 0
        first = 1 if len(distinct) and distinct[0] < 0 else 0
        made = make(distinct[first:])
        return made.take(pa.array(place.reshape(-1) - first, mask=nulls if nulls.any() else None))

    def _nodes(self, nodes: Int64s) -> Array:
        source = self.source
        sets, place = np.unique(source.label_set_codes(nodes), return_inverse=True)
        first = [0] * len(sets)
        for number, code in enumerate(place.tolist()):
            first[code] = number
        labels = pa.array([sorted(names) for names in source.label_sets(nodes[first])], pa.list_(pa.string()))
        columns = source.node_property_columns(nodes)
        return pa.StructArray.from_arrays(
            [
                _element_ids(f"4:{source.uuid}:", source.node_ids(nodes)),
                labels.take(pa.array(place.reshape(-1))),
                self._properties(columns, len(nodes)),
            ],
            ["element_id", "labels", "properties"],
        )

    def _relationships(self, relationships: Int64s) -> Array:
        source = self.source
        starts, ends = source.endpoints(relationships)
        prefix = f"4:{source.uuid}:"
        types = pa.array(source.type_names, pa.string()).take(pa.array(source.relationship_types(relationships)))
        columns = source.relationship_property_columns(relationships)
        return pa.StructArray.from_arrays(
            [
                _element_ids(f"5:{source.uuid}:", source.relationship_ids(relationships)),
                types,
                _element_ids(prefix, source.node_ids(starts)),
                _element_ids(prefix, source.node_ids(ends)),
                self._properties(columns, len(relationships)),
            ],
            ["element_id", "type", "start", "end", "properties"],
        )

    def _properties(self, columns: Mapping[str, Column], count: int) -> Array:
        there = {key: column for key, column in columns.items() if not bool(column.null_mask().all())}
        if not there:
            return pa.array([{}] * count, pa.struct([]))
        arrays = [self.to_array(key, column) for key, column in there.items()]
        return pa.StructArray.from_arrays(arrays, list(there))


def _element_ids(prefix: str, ids: Int64s) -> Array:
    return pa.compute.binary_join_element_wise(prefix, pa.array(ids).cast(pa.string()), "")


def _lists(offsets: Int64s, values: Array, nulls: Any) -> Array:
    """A list for each row, cut out of the values."""
    mask = None if nulls is None or not nulls.any() else pa.array(nulls)
    if len(values) > np.iinfo(np.int32).max:
        return pa.LargeListArray.from_arrays(pa.array(offsets), values, mask=mask)
    return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), values, mask=mask)
