"""Map literals and map projections, over columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.access import by_kind, deleted, property_of
from hoplite.engine.expressions.evaluator import Compiled, Evaluator, map_rows, scattered
from hoplite.engine.expressions.java import class_name
from hoplite.errors import execution_failed
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Column, Nodes, Objects, Relationships, nulls, object_array
from hoplite.values.entities import NodeRef, RelationshipRef, VirtualNode, VirtualRelationship
from hoplite.values.render import describe


def map_of(keys: Sequence[str], columns: Sequence[Column], row_count: int) -> Objects:
    """`{key: column, ...}`; of two entries with the same key, the last one wins."""
    if not keys:
        return Objects(object_array(({} for _ in range(row_count)), row_count))
    rows = zip(*(c.objects() for c in columns), strict=True)
    return Objects(object_array((dict(zip(keys, row, strict=True)) for row in rows), row_count))


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One item of a projection: an expression, or, without one, the subject's property of that name."""

    key: str
    value: Compiled | None


def projection(subject: Compiled, entries: Sequence[Entry], all_properties: bool) -> Evaluator:
    """`subject {.*, .key, key: value}`: entries override the properties of `.*`; null for a null subject."""
    only_properties = not all_properties and all(entry.value is None for entry in entries)
    keys = [entry.key for entry in entries]

    def evaluate(batch: Batch, execution: Execution) -> Column:
        column = subject.evaluate(batch, execution)
        empty = column.null_mask()
        if only_properties and entries and execution.writer is not None and isinstance(column, Nodes | Relationships):
            empty = empty | deleted(column, execution)
        rows = np.flatnonzero(~empty)
        if not len(rows):
            return nulls(batch.row_count)
        here = column.take(rows)
        try:
            base = None if only_properties else _all_properties(here, execution)
            columns = []
            for entry in entries:
                if entry.value is None:
                    columns.append(property_of(here, entry.key, execution))
                else:
                    columns.append(entry.value.evaluate(batch.take(rows) if empty.any() else batch, execution))
        except RowError as failure:
            raise RowError(int(rows[failure.row]), failure.error) from None
        maps = map_of(keys, columns, len(rows))
        if all_properties and base is not None:
            pairs = zip(base.objects(), maps.values, strict=True)
            maps = Objects(object_array(({**properties, **own} for properties, own in pairs), len(rows)))
        absent = np.flatnonzero(empty)
        return scattered([(rows, maps), (absent, nulls(len(absent)))], batch.row_count)

    return evaluate


def _all_properties(column: Column, execution: Execution) -> Column:
    """Each entity or map as a map of all its properties."""
    match column:
        case Nodes(positions=positions):
            maps = execution.graph.node_property_maps(positions)
        case Relationships(positions=positions):
            maps = execution.graph.relationship_property_maps(positions)
        case Objects(values=values) if not {NodeRef, RelationshipRef}.isdisjoint(map(type, values)):
            return by_kind(column, lambda part: _all_properties(part, execution))
        case _:
            return map_rows(_as_map, column)
    if execution.writer is not None:  # a deleted entity has nothing left
        gone = deleted(column, execution)
        maps = [{} if is_gone else found for found, is_gone in zip(maps, gone, strict=True)]
    return Objects(object_array(maps, len(maps)))


def _as_map(value: Any) -> dict[str, Any]:
    if isinstance(value, dict):
        return value
    if isinstance(value, VirtualNode | VirtualRelationship):
        return {}
    raise execution_failed(f"{describe(value)} (of class {class_name(value)})")
