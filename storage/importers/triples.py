"""Triples: a subject, a predicate and an object on each line, separated by tabs.

Subjects and objects become nodes with one label and an `id`, each of them once (also if it was there before the
import); predicates become relationship types. Every line is a relationship. Arrow reads block after block, so that
Python sees each name only once a block; a block with anything odd in it is read again line by line, to say what.
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
    """Add the triples of a file (plain or gzip); how many nodes and relationships were made.

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
    starts, kinds, ends = triples.joined()
    with graph.bulk() as load:
        names = list(triples.nodes)
        positions = np.full(len(names), -1, np.int64)
        known, nodes = load.snapshot.seek_nodes(label, KEY, names)
        positions[known] = nodes
        fresh = np.flatnonzero(positions < 0)
        new_names = names if len(fresh) == len(names) else [names[row] for row in fresh.tolist()]
        positions[fresh] = load.add_nodes((label,), len(fresh), {KEY: from_objects(new_names)})
        load.make_unique(label, KEY)
        for name, number in triples.types.items():
            chosen = np.flatnonzero(kinds == number)
            load.add_relationships(name, positions[starts[chosen]], positions[ends[chosen]], {})
        load.commit()
    return bad_rows.summary(len(fresh), len(starts))


def _has_header(block: bytes, separator: str, header: bool | None) -> bool:
    if header is not None:
        return header
    names = block.partition(b"\n")[0].decode("utf-8", "replace").strip("\r").split(separator)
    return len(names) == 3 and names[0].lower() in _HEADER_STARTS and names[2].lower() in _HEADER_ENDS


class _Triples:
    """Numbers for names, and triples as numbers."""

    def __init__(self, path: str, separator: str, bad_rows: BadRows) -> None:
        self._path = path
        self._separator = separator
        self._bad_rows = bad_rows
        self.nodes: dict[str, int] = {}
        self.types: dict[str, int] = {}
        self._parts: list[tuple[Int64s, Int64s, Int64s]] = []

    def read(self, line: int, block: bytes) -> None:
        """Take in a block that begins with the line of that number."""
        columns = _arrow_columns(block, self._separator)
        if columns is None:
            columns = self._line_by_line(line, block)
        numbers = (self.nodes, self.types, self.nodes)
        subjects, predicates, objects = map(_numbered, columns, numbers)
        self._parts.append((subjects, predicates, objects))

    def joined(self) -> tuple[Int64s, Int64s, Int64s]:
        """Subjects, predicates and objects of all triples, as numbers."""
        if not self._parts:
            return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64)
        subjects, predicates, objects = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        return subjects, predicates, objects

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
    """The three columns of a block; None where some line is not as it should be."""
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


def _numbered(names: Any, numbers: dict[str, int]) -> Int64s:
    """The number of each name of an Arrow array; new names get the next ones."""
    encoded = names.dictionary_encode()
    encoded = encoded.combine_chunks() if hasattr(encoded, "combine_chunks") else encoded
    known = np.array([numbers.setdefault(name, len(numbers)) for name in encoded.dictionary.to_pylist()], np.int64)
    return known[encoded.indices.to_numpy(zero_copy_only=False)] if len(known) else np.zeros(0, np.int64)
