"""JSON lines: one node or relationship a line, nodes first; the form of `apoc.export.json.all`, and a plainer one.

    {"type": "node", "id": 0, "labels": ["Movie"], "properties": {"title": "The Matrix"}}
    {"type": "relationship", "id": 0, "label": "ACTED_IN", "start": 1, "end": 0, "properties": {"roles": ["Neo"]}}

APOC writes ids as strings, and `"start": {"id": "1", "labels": [...]}`. Ids join the lines of one file; what is
imported gets ids of its own. Special values are described in `json_values`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from hoplite.errors import CypherError
from hoplite.storage.bulk import Cells
from hoplite.storage.graph import Graph
from hoplite.storage.importers.json_values import stored_value
from hoplite.storage.importers.lines import Progress, numbered_lines
from hoplite.storage.importers.problem import bad_line
from hoplite.values.columns import Int64s, from_objects


def import_jsonl(graph: Graph, path: str | os.PathLike[str], progress: Progress | None = None) -> dict[str, int]:
    """Add the nodes and relationships of a file (plain or gzip); how many there were of each."""
    content = _Content(os.fspath(path))
    for number, text in numbered_lines(content.path, progress):
        content.read(number, text)
    with graph.bulk() as load:
        nodes = load.add_mixed_nodes(content.label_sets)
        load.add_mixed_relationships(content.types, nodes[_rows(content.starts)], nodes[_rows(content.ends)])
        content.node_values.hand_to(load.add_node_cells)
        content.relationship_values.hand_to(load.add_relationship_cells)
        load.commit()
    return {"nodes": len(content.label_sets), "relationships": len(content.types)}


def _rows(rows: list[int]) -> Int64s:
    return np.array(rows, np.int64)


class _Values:
    """Property values by key: the rows that have one, and the values."""

    def __init__(self) -> None:
        self._by_key: dict[str, tuple[list[int], list[Any]]] = {}

    def add(self, row: int, properties: dict[str, Any]) -> None:
        for key, value in properties.items():
            stored = stored_value(value)
            if stored is None:
                continue
            held = self._by_key.get(key)
            if held is None:
                held = self._by_key[key] = ([], [])
            held[0].append(row)
            held[1].append(stored)

    def hand_to(self, take: Callable[[str, Cells], None]) -> None:
        for key, (rows, values) in self._by_key.items():
            take(key, Cells(_rows(rows), from_objects(values)))


class _Content:
    """What was read so far; rows count nodes, or relationships, in the order of the file."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.label_sets: list[tuple[str, ...]] = []
        self.node_values = _Values()
        self.types: list[str] = []
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.relationship_values = _Values()
        self._row_of_id: dict[str, int] = {}

    def read(self, number: int, text: str) -> None:
        """Take in one line."""
        try:
            line = json.loads(text)
            if not isinstance(line, dict):
                raise ValueError("not a JSON object")
            match line.get("type"):
                case "node":
                    self._read_node(line)
                case "relationship":
                    self._read_relationship(line)
                case other:
                    raise ValueError(f"type is neither node nor relationship but {other!r}")
        except json.JSONDecodeError as error:
            raise bad_line(self.path, number, f"not JSON: {error.msg} (column {error.colno})") from error
        except CypherError as error:
            raise bad_line(self.path, number, error.message) from error
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
            raise bad_line(self.path, number, reason) from error

    def _read_node(self, line: dict[str, Any]) -> None:
        row = len(self.label_sets)
        name = str(line["id"])
        if self._row_of_id.setdefault(name, row) != row:
            raise ValueError(f"a second node with id {name}")
        self.label_sets.append(_names(line.get("labels") or []))
        self.node_values.add(row, line.get("properties") or {})

    def _read_relationship(self, line: dict[str, Any]) -> None:
        type = line["label"]
        if not isinstance(type, str):
            raise ValueError(f"label is not a string but {type!r}")
        self.starts.append(self._node(line["start"]))
        self.ends.append(self._node(line["end"]))
        self.relationship_values.add(len(self.types), line.get("properties") or {})
        self.types.append(type)

    def _node(self, reference: Any) -> int:
        name = str(reference["id"] if isinstance(reference, dict) else reference)
        row = self._row_of_id.get(name)
        if row is None:
            raise ValueError(f"no node with id {name} on the lines before")
        return row


def _names(labels: Any) -> tuple[str, ...]:
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"labels is not a list of strings but {labels!r}")
    return tuple(labels)
