"""JSON lines: one node or relationship per line, nodes first; the form of `apoc.export.json.all`, and a simpler one.

    {"type": "node", "id": 0, "labels": ["Movie"], "properties": {"title": "The Matrix"}}
    {"type": "relationship", "id": 0, "label": "ACTED_IN", "start": 1, "end": 0, "properties": {"roles": ["Neo"]}}

APOC writes ids as strings, and `"start": {"id": "1", "labels": [...]}`. Ids connect the lines of one file; what is
imported gets new ids. Special values are described in `json_values`.
"""

from __future__ import annotations

import json
import os
from typing import Any

from hoplite.errors import CypherError
from hoplite.storage.graph import Graph
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.growing_load import GrowingLoad
from hoplite.storage.importers.json_values import stored_value
from hoplite.storage.importers.lines import Progress, numbered_lines


def import_jsonl(
    graph: Graph,
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    *,
    bad_rows: BadRows | None = None,
) -> dict[str, Any]:
    """Add the nodes and relationships of a file (plain or gzip); returns how many there were of each."""
    path = os.fspath(path)
    bad_rows = bad_rows or BadRows()
    with graph.bulk() as load:
        reading = _Reading(GrowingLoad(load))
        for number, text in numbered_lines(path, progress):
            try:
                reading.read(text)
            except json.JSONDecodeError as error:
                bad_rows.take(path, number, f"not JSON: {error.msg} (column {error.colno})", error)
            except CypherError as error:
                bad_rows.take(path, number, error.message, error)
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                reason = f"{error.args[0]!r} is missing" if isinstance(error, KeyError) else str(error)
                bad_rows.take(path, number, reason, error)
        reading.load.finish()
        load.commit()
    return bad_rows.summary(reading.load.node_count, reading.load.relationship_count)


class _Reading:
    """Processes lines; knows the row of the load for each id."""

    def __init__(self, load: GrowingLoad) -> None:
        self.load = load
        self._row_of_id: dict[str, int] = {}

    def read(self, text: str) -> None:
        """Process one line; a line that raises has added nothing."""
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

    def _read_node(self, line: dict[str, Any]) -> None:
        name = str(line["id"])
        if name in self._row_of_id:
            raise ValueError(f"a second node with id {name}")
        self._row_of_id[name] = self.load.add_node(_names(line.get("labels") or []), _properties(line))

    def _read_relationship(self, line: dict[str, Any]) -> None:
        type = line["label"]
        if not isinstance(type, str):
            raise ValueError(f"label is not a string but {type!r}")
        self.load.add_relationship(type, self._node(line["start"]), self._node(line["end"]), _properties(line))

    def _node(self, reference: Any) -> int:
        name = str(reference["id"] if isinstance(reference, dict) else reference)
        row = self._row_of_id.get(name)
        if row is None:
            raise ValueError(f"no node with id {name} on the lines before")
        return row


def _properties(line: dict[str, Any]) -> dict[str, Any]:
    return {key: stored_value(value) for key, value in (line.get("properties") or {}).items()}


def _names(labels: Any) -> tuple[str, ...]:
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise ValueError(f"labels is not a list of strings but {labels!r}")
    return tuple(labels)
