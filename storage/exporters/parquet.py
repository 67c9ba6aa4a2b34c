"""Parquet files in a folder: one for each set of labels, one for each relationship type.

Nodes have the column `:id`, relationships `:id`, `:start` and `:end`; labels and type are in the file's metadata. A
property is a typed column if all its values have one Arrow type, else a column of JSON texts (marked as such in the
field's metadata), so that nothing is lost.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Any

from hoplite.storage.exporters.files import whole_path
from hoplite.storage.exporters.json_values import json_value
from hoplite.storage.exporters.rows import NodeRow, RelationshipRow, node_rows, relationship_rows
from hoplite.storage.importers.lines import Progress
from hoplite.storage.snapshot import Snapshot
from hoplite.values.temporal import Date

LABELS, TYPE, ENCODING, JSON = b"hoplite.labels", b"hoplite.type", b"hoplite.encoding", b"json"
ID, START, END = ":id", ":start", ":end"
_ROW_GROUP = 50_000


def export_parquet(
    snapshot: Snapshot, folder: str | os.PathLike[str], progress: Progress | None = None
) -> dict[str, int]:
    """Write the graph; returns its size."""
    place = os.fspath(folder)
    os.makedirs(place, exist_ok=True)
    nodes = sorted(node_rows(snapshot), key=lambda row: row.labels)
    total, done = snapshot.node_count + snapshot.relationship_count, 0
    for number, (labels, group) in enumerate(groupby(nodes, key=lambda row: row.labels)):
        rows = list(group)
        metadata: dict[bytes | str, bytes | str] = {LABELS: json.dumps(labels).encode()}
        _write(os.path.join(place, f"nodes-{number:03d}.parquet"), rows, {ID: lambda row: row.id}, metadata)
        done += len(rows)
        if progress is not None:
            progress(done, total)
    del nodes
    relationships = sorted(relationship_rows(snapshot), key=lambda row: row.type)
    ends: dict[str, Callable[[Any], int]] = {
        ID: lambda row: row.id,
        START: lambda row: row.start,
        END: lambda row: row.end,
    }
    for number, (type, group_of_type) in enumerate(groupby(relationships, key=lambda row: row.type)):
        chosen = list(group_of_type)
        path = os.path.join(place, f"relationships-{number:03d}.parquet")
        _write(path, chosen, ends, {TYPE: json.dumps(type).encode()})
        done += len(chosen)
        if progress is not None:
            progress(done, total)
    return {"nodes": snapshot.node_count, "relationships": snapshot.relationship_count}


def _write(
    path: str,
    rows: list[NodeRow] | list[RelationshipRow],
    special: dict[str, Callable[[Any], int]],
    metadata: dict[bytes | str, bytes | str],
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    keys = sorted({key for row in rows for key in row.properties})
    kinds = {key: _arrow_type(row.properties.get(key) for row in rows) for key in keys}
    fields: list[Any] = [pa.field(name, pa.int64(), nullable=False) for name in special]
    for key, kind in kinds.items():
        marked = {ENCODING: JSON} if kind is None else None
        fields.append(pa.field(key, pa.string() if kind is None else kind, metadata=marked))
    schema = pa.schema(fields, metadata=metadata)
    with whole_path(path) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for part in _parts(rows):
            columns = [pa.array([get(row) for row in part], pa.int64()) for get in special.values()]
            for key, kind in kinds.items():
                values = [row.properties.get(key) for row in part]
                columns.append(_arrow_column(values, kind))
            writer.write_table(pa.Table.from_arrays(columns, schema=schema))


def _parts(rows: list[Any]) -> Iterator[list[Any]]:
    left = iter(rows)
    while part := list(islice(left, _ROW_GROUP)):
        yield part


def _arrow_type(values: Iterable[Any]) -> Any:
    """The Arrow type of all values; None if they have none in common, or none that preserves them."""
    import pyarrow as pa

    plain: dict[Any, Any] = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    plain |= {bytes: pa.binary(), Date: pa.date32()}
    kinds = {_kind(value) for value in values if value is not None}
    if len(kinds) != 1:
        return None
    (kind,) = kinds
    if isinstance(kind, tuple):
        item = plain.get(kind[0]) if kind[0] in (bool, int, float, str) else None
        return None if item is None else pa.list_(item)
    return plain.get(kind)


def _kind(value: Any) -> Any:
    if isinstance(value, list):
        kinds = {type(item) for item in value}
        return (kinds.pop(),) if len(kinds) == 1 else (None,)
    return type(value)


def _arrow_column(values: list[Any], kind: Any) -> Any:
    import pyarrow as pa

    if kind is None:
        texts = [None if value is None else json.dumps(json_value(value), ensure_ascii=False) for value in values]
        return pa.array(texts, pa.string())
    if kind == pa.date32():
        days = [None if value is None else value.epoch_day for value in values]
        return pa.array(days, pa.int32()).cast(pa.date32())
    return pa.array(values, kind)
