"""Triples: a subject, a predicate and an object on each line, separated by tabs.

Subjects and objects become nodes with one label and an `id`, each once (also if it existed before the import);
predicates become relationship types. Every line is a relationship. Arrow reads block after block, so that Python sees
each name only once per block; a block with a problem is read again line by line, to report it.
"""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np

from hoplite.storage.graph import Graph
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.blocks import BLOCK_BYTES, line_blocks
from hoplite.storage.importers.lines import Progress
from hoplite.values.columns import Int64s, from_objects

KEY = "id"
_COLUMNS = ("subject", "predicate", "object")
_HEADER_STARTS = frozenset({"subject", "head", "source", "start"})
_HEADER_ENDS = frozenset({"object", "tail", "target", "end"})


def import_triples(
    graph: Graph,
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    *,
    label: str = "Entity",
    separator: str = "\t",
    header: bool | None = None,
    bad_rows: BadRows | None = None,
    block_bytes: int = BLOCK_BYTES,
) -> dict[str, Any]:
    """Add the triples of a file (plain or gzip); returns how many nodes and relationships were created.

    `header` says whether the first line names the columns; None: it does if they are called subject and object, head
    and tail, or source and target.
    """
    path = os.fspath(path)
    bad_rows = bad_rows or BadRows()
    triples = _Triples(path, separator, bad_rows)
    for line, block in line_blocks(path, progress, block_bytes):
        if line == 1 and _has_header(block, separator, header):
            block = block.partition(b"\n")[2]
            line += 1
        triples.read(line, block)
    names, types, (starts, kinds, ends) = triples.joined()
    with graph.bulk(keeps_order=False) as load:
        positions = np.full(len(names), -1, np.int64)
        known, nodes = load.snapshot.seek_nodes(label, KEY, names)
        positions[known] = nodes
        fresh = np.flatnonzero(positions < 0)
        new_names = names if len(fresh) == len(names) else [names[row] for row in fresh.tolist()]
        positions[fresh] = load.add_nodes((label,), len(fresh), {KEY: from_objects(new_names)})
        load.make_unique(label, KEY)
        load.add_numbered_relationships(types, kinds, positions[starts], positions[ends])
        load.commit()
    return bad_rows.summary(len(fresh), len(starts))


def _has_header(block: bytes, separator: str, header: bool | None) -> bool:
    if header is not None:
        return header
    names = block.partition(b"\n")[0].decode("utf-8", "replace").strip("\r").split(separator)
    return len(names) == 3 and names[0].lower() in _HEADER_STARTS and names[2].lower() in _HEADER_ENDS


class _Triples:
    """Triples as numbers, block by block, and the names that the numbers of a block stand for. At the end Arrow turns
    them into numbers for the whole file: Python sees each name of a node once."""

    def __init__(self, path: str, separator: str, bad_rows: BadRows) -> None:
        self._path = path
        self._separator = separator
        self._bad_rows = bad_rows
        self._blocks: list[list[Any]] = []  # subjects, predicates and objects of each, as dictionary arrays

    def read(self, line: int, block: bytes) -> None:
        """Process a block that begins with the line of that number."""
        columns = _arrow_columns(block, self._separator)
        if columns is None:
            columns = self._line_by_line(line, block)
        if len(columns[0]):
            self._blocks.append([column.dictionary_encode() for column in columns])

    def joined(self) -> tuple[list[str], list[str], tuple[Int64s, Int64s, Int64s]]:
        """The names of nodes, the names of types, and the subjects, predicates and objects of all triples as numbers of
        these."""
        none = np.zeros(0, np.int64)
        if not self._blocks:
            return [], [], (none, none, none)
        nodes, ends = _numbered([block[place] for block in self._blocks for place in (0, 2)])
        types, kinds = _numbered([block[1] for block in self._blocks])
        self._blocks = []
        return nodes, types, (np.concatenate(ends[::2]), np.concatenate(kinds), np.concatenate(ends[1::2]))

    def _line_by_line(self, line: int, block: bytes) -> list[Any]:
        import pyarrow as pa

        kept: list[list[str]] = []
        for number, raw in enumerate(block.split(b"\n"), line):
            try:
                text = raw.decode("utf-8").rstrip("\r")
            except UnicodeDecodeError as error:
                self._bad_rows.take(self._path, number, f"not UTF-8: {error.reason}", error)
                continue
            if not text.strip():
                continue
            parts = text.split(self._separator)
            if len(parts) != 3:
                reason = f"expected 3 columns (subject, predicate, object), found {len(parts)}"
                self._bad_rows.take(self._path, number, reason)
            elif not all(parts):
                self._bad_rows.take(self._path, number, "a column is empty")
            else:
                kept.append(parts)
        return [pa.array(column, pa.string()) for column in zip(*kept, strict=True)] or [pa.array([], pa.string())] * 3


def _arrow_columns(block: bytes, separator: str) -> list[Any] | None:
    """The three columns of a block; None if some line is malformed."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as arrow_csv

    types = dict.fromkeys(_COLUMNS, pa.string())
    try:
        table = arrow_csv.read_csv(
            io.BytesIO(block),
            arrow_csv.ReadOptions(column_names=list(_COLUMNS), block_size=max(len(block), 1)),
            arrow_csv.ParseOptions(delimiter=separator, quote_char=False, ignore_empty_lines=False),
            arrow_csv.ConvertOptions(column_types=types, strings_can_be_null=False),
        )
    except (pa.ArrowInvalid, ValueError):  # ValueError: a separator of several characters
        return None
    columns = [table.column(name).combine_chunks() for name in _COLUMNS]
    if any(pc.any(pc.equal(column, pa.scalar(""))).as_py() for column in columns):
        return None
    return columns


def _numbered(arrays: list[Any]) -> tuple[list[str], list[Int64s]]:
    """The distinct names of some dictionary arrays, in the order of their first occurrence, and the arrays as numbers
    of these names."""
    import pyarrow as pa

    dictionaries = [array.dictionary for array in arrays]
    every = pa.concat_arrays(dictionaries).dictionary_encode()
    numbers = every.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    bounds = np.cumsum([0, *map(len, dictionaries)])
    parts = [
        numbers[first:last][array.indices.to_numpy(zero_copy_only=False)]
        for array, first, last in zip(arrays, bounds[:-1], bounds[1:], strict=True)
    ]
    return every.dictionary.to_pylist(), parts
