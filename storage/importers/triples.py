"""Triples: a subject, a predicate and an object on each line, separated by tabs.

Subjects and objects become nodes with one label and an `id`, each of them once (also if it was there before the
import); predicates become relationship types. Every line is a relationship.
"""

from __future__ import annotations

import os

import numpy as np

from hoplite.storage.graph import Graph
from hoplite.storage.importers.lines import Progress, numbered_lines
from hoplite.storage.importers.problem import bad_line
from hoplite.values.columns import from_objects

KEY = "id"
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
) -> dict[str, int]:
    """Add the triples of a file (plain or gzip); how many nodes and relationships were made.

    `header` says whether the first line names the columns; None: it does if they are called subject and object, head
    and tail, or source and target.
    """
    path = os.fspath(path)
    rows: dict[str, int] = {}
    starts: list[int] = []
    ends: list[int] = []
    types: list[str] = []
    for number, text in numbered_lines(path, progress):
        parts = text.split(separator)
        if len(parts) != 3:
            raise bad_line(path, number, f"expected 3 columns (subject, predicate, object), found {len(parts)}")
        subject, predicate, object = parts
        if number == 1 and (_is_header(subject, object) if header is None else header):
            continue
        if not (subject and predicate and object):
            raise bad_line(path, number, "a column is empty")
        starts.append(rows.setdefault(subject, len(rows)))
        ends.append(rows.setdefault(object, len(rows)))
        types.append(predicate)
    with graph.bulk() as load:
        names = list(rows)
        positions = np.full(len(names), -1, np.int64)
        known, nodes = load.snapshot.seek_nodes(label, KEY, names)
        positions[known] = nodes
        fresh = np.flatnonzero(positions < 0)
        new_names = [names[row] for row in fresh.tolist()]
        positions[fresh] = load.add_nodes((label,), len(fresh), {KEY: from_objects(new_names)})
        load.make_unique(label, KEY)
        load.add_mixed_relationships(types, positions[np.array(starts, np.int64)], positions[np.array(ends, np.int64)])
        load.commit()
    return {"nodes": len(fresh), "relationships": len(types)}


def _is_header(first: str, last: str) -> bool:
    return first.lower() in _HEADER_STARTS and last.lower() in _HEADER_ENDS
