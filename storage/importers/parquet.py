"""Parquet files: a folder that `storage/exporters/parquet.py` wrote, or tables of nodes and relationships by key."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from hoplite.storage.exporters.parquet import ENCODING, END, ID, JSON, LABELS, START, TYPE
from hoplite.storage.graph import Graph
from hoplite.storage.importers.json_values import stored_value
from hoplite.storage.importers.lines import Progress
from hoplite.storage.importers.problem import bad_file
from hoplite.storage.importers.table_columns import arrow_column
from hoplite.storage.importers.table_form import TableForm
from hoplite.storage.importers.tables import load_tables
from hoplite.values.columns import Column, Int64s, Integers, from_objects

Path = str | os.PathLike[str]
BATCH_ROWS = 1 << 20


def import_parquet_tables(
    graph: Graph,
    nodes: Mapping[str | tuple[str, ...], Path],
    relationships: Mapping[tuple[str, str, str], Path],
    key: str = "id",
    progress: Progress | None = None,
) -> dict[str, int]:
    """Node tables with a key column, relationship tables whose `start` and `end` refer to those keys."""
    return load_tables(
        graph,
        {labels: _tables(path) for labels, path in nodes.items()},
        {pattern: _tables(path) for pattern, path in relationships.items()},
        TableForm(key),
        progress=progress,
    )


def import_parquet(graph: Graph, folder: Path, progress: Progress | None = None) -> dict[str, int]:
    """A folder of files whose metadata says what they hold; returns how many nodes and relationships there were."""
    place = os.fspath(folder)
    try:
        paths = sorted(os.path.join(place, name) for name in os.listdir(place) if name.endswith(".parquet"))
    except OSError as error:
        raise bad_file(place, error.strerror or str(error)) from error
    if not paths:
        raise bad_file(place, "there is no .parquet file in this folder")
    made = {"nodes": 0, "relationships": 0}
    node_paths = [path for path in paths if LABELS in _metadata(path)]
    relationship_paths = [path for path in paths if TYPE in _metadata(path)]
    unknown = set(paths) - set(node_paths) - set(relationship_paths)
    if unknown:
        raise bad_file(
            min(unknown), "neither labels nor a type in its metadata: give a mapping with nodes and relationships"
        )
    with graph.bulk() as load:
        all_ids: list[Int64s] = []
        all_positions: list[Int64s] = []
        for done, path in enumerate(node_paths, 1):
            labels = tuple(json.loads(_metadata(path)[LABELS]))
            for columns, count in _columns(path):
                all_ids.append(_integers(path, columns.pop(ID, None), ID))
                all_positions.append(load.add_nodes(labels, count, columns))
                made["nodes"] += count
            if progress is not None:
                progress(done, len(paths))
        ids = np.concatenate(all_ids) if all_ids else np.zeros(0, np.int64)
        positions = np.concatenate(all_positions) if all_positions else np.zeros(0, np.int64)
        order = np.argsort(ids, kind="stable")
        ids, positions = ids[order], positions[order]
        for done, path in enumerate(relationship_paths, 1 + len(node_paths)):
            type = json.loads(_metadata(path)[TYPE])
            for columns, count in _columns(path):
                columns.pop(ID, None)
                starts = _found(path, START, _integers(path, columns.pop(START, None), START), ids, positions)
                ends = _found(path, END, _integers(path, columns.pop(END, None), END), ids, positions)
                load.add_relationships(type, starts, ends, columns)
                made["relationships"] += count
            if progress is not None:
                progress(done, len(paths))
        load.commit()
    return made


def _metadata(path: str) -> dict[bytes, bytes]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.read_schema(path).metadata or {}
    except (OSError, pa.ArrowInvalid) as error:
        raise bad_file(path, f"cannot be read: {error}") from error


def _tables(path: Path) -> Iterator[Any]:
    """A file in pieces; at least one, so that an empty file has columns too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(os.fspath(path)) as file:
            if not file.metadata.num_rows:
                yield file.schema_arrow.empty_table()
            for batch in file.iter_batches(BATCH_ROWS):
                yield pa.Table.from_batches([batch])
    except (OSError, pa.ArrowInvalid) as error:
        raise bad_file(os.fspath(path), f"cannot be read: {error}") from error


def _columns(path: str) -> Iterator[tuple[dict[str, Column], int]]:
    for table in _tables(path):
        columns: dict[str, Column] = {}
        for field in table.schema:
            array = table.column(field.name)
            if (field.metadata or {}).get(ENCODING) == JSON:
                texts = array.to_pylist()
                columns[field.name] = from_objects(
                    [None if text is None else stored_value(json.loads(text)) for text in texts]
                )
            else:
                columns[field.name] = arrow_column(array)
        yield columns, int(table.num_rows)


def _integers(path: str, column: Column | None, name: str) -> Int64s:
    if column is None or bool(column.null_mask().any()):
        raise bad_file(path, f"there is no column {name} with a value in every row")
    return column.values if isinstance(column, Integers) else np.array(column.objects(), np.int64)


def _found(path: str, name: str, wanted: Int64s, ids: Int64s, positions: Int64s) -> Int64s:
    if not len(wanted):
        return wanted
    slots = np.minimum(np.searchsorted(ids, wanted), max(len(ids) - 1, 0))
    missing = np.flatnonzero(ids[slots] != wanted) if len(ids) else np.arange(len(wanted))
    if len(missing):
        row = int(missing[0])
        raise bad_file(path, f"row {row}: {name} is {int(wanted[row])}, and there is no such node")
    return positions[slots]
