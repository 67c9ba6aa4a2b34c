"""Columns as Arrow arrays. Typed columns are passed on unchanged; entities become structs, paths lists of structs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import pyarrow as pa

from hoplite.api.arrow_entities import EntityArrays
from hoplite.api.hydrate import Hydrator
from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.errors import argument_error, to_driver_error
from hoplite.values.columns import (
    Booleans,
    Column,
    EntityLists,
    Floats,
    Integers,
    Nodes,
    Paths,
    Relationships,
    Strings,
)

_INT64 = pa.int64()


def to_table(names: tuple[str, ...], batches: list[Batch], hydrating: Callable[[], Hydrator]) -> pa.Table:
    """A table with these columns. `hydrating` gives what makes values that have no type in Arrow, if there are any."""
    if not batches:
        return pa.table({name: pa.array([], pa.null()) for name in names})
    batch = batches[0] if len(batches) == 1 else concatenate_batches([b.only(names) for b in batches])
    columns, arrays, are_integers = batch.columns, [], True
    for name in names:  # short tables of integers are made often: few calls
        column = columns[name]
        if type(column) is Integers and column.nulls is None and column.values.flags.c_contiguous:
            held = pa.py_buffer(column.values)  # type: ignore[arg-type]  # without looking at what they are
            arrays.append(pa.Array.from_buffers(_INT64, len(column.values), [None, held], 0))
        else:
            are_integers = False
            arrays.append(to_array(name, column, hydrating))
    if are_integers:
        return pa.Table.from_arrays(arrays, schema=_of_integers(names))
    return pa.Table.from_arrays(arrays, list(names))


@lru_cache(256)
def _of_integers(names: tuple[str, ...]) -> pa.Schema:
    return pa.schema([(name, _INT64) for name in names])


def rows_to_table(names: Sequence[str], rows: Sequence[Sequence[Any]]) -> pa.Table:
    """A table of rows that already hold the driver's values."""
    return pa.table({name: _objects(name, [row[place] for row in rows]) for place, name in enumerate(names)})


def to_array(name: str, column: Column, hydrating: Callable[[], Hydrator]) -> pa.Array[Any]:
    """One column; its name is used in errors."""
    match column:
        case Integers(values=values, nulls=nulls) | Floats(values=values, nulls=nulls):
            return pa.array(values, mask=nulls)
        case Booleans(values=flags, nulls=nulls):
            return pa.array(flags, mask=nulls)
        case Strings(values=values):
            return pa.array(values, pa.string())
        case Nodes() | Relationships() | EntityLists() | Paths():
            entities = EntityArrays(hydrating().source, lambda key, part: to_array(key, part, hydrating))
            array: pa.Array[Any] = entities.array(column)
            return array
        case _:
            return _objects(name, hydrating().column(column))


def _objects(name: str, values: Sequence[Any]) -> pa.Array[Any]:
    try:
        array: pa.Array[Any] = pa.array([_plain(value) for value in values])
        return array
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as problem:
        raise to_driver_error(
            argument_error(f"Column `{name}` holds values that Arrow has no common type for: {problem}")
        ) from None


def _plain(value: Any) -> Any:
    """What Arrow can hold: entities as dictionaries, temporal values as Python's."""
    from neo4j.graph import Node, Path, Relationship
    from neo4j.spatial import Point
    from neo4j.time import Date, DateTime, Duration, Time

    match value:
        case Node():
            return {"element_id": value.element_id, "labels": sorted(value.labels), "properties": _map(value)}
        case Relationship():
            start, end = value.start_node, value.end_node
            return {
                "element_id": value.element_id,
                "type": value.type,
                "start": None if start is None else start.element_id,
                "end": None if end is None else end.element_id,
                "properties": _map(value),
            }
        case Path():
            return {
                "nodes": [_plain(n) for n in value.nodes],
                "relationships": [_plain(r) for r in value.relationships],
            }
        case list():
            return [_plain(item) for item in value]
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case DateTime() | Date() | Time():
            return value.to_native()
        case Duration():
            return {
                "months": value.months,
                "days": value.days,
                "seconds": value.seconds,
                "nanoseconds": value.nanoseconds,
            }
        case Point():
            return {"srid": value.srid, "coordinates": [float(x) for x in value]}
        case _:
            return value


def _map(entity: Any) -> dict[str, Any]:
    return {key: _plain(item) for key, item in entity.items()}
