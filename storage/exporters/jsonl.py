"""JSON lines, nodes first, as `storage/importers/jsonl.py` reads them."""

from __future__ import annotations

import json
from typing import Any

from hoplite.storage.exporters.files import Target, whole_file
from hoplite.storage.exporters.json_values import json_value
from hoplite.storage.exporters.rows import node_rows, relationship_rows
from hoplite.storage.importers.lines import Progress
from hoplite.storage.snapshot import Snapshot

_REPORT_EVERY = 10_000


def export_jsonl(snapshot: Snapshot, path: Target, progress: Progress | None = None) -> dict[str, int]:
    """Write the graph to a file (gzip if its name ends in .gz); returns its size."""
    total = snapshot.node_count + snapshot.relationship_count
    done = 0
    with whole_file(path) as stream:

        def write(line: dict[str, Any]) -> None:
            nonlocal done
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
            done += 1
            if progress is not None and done % _REPORT_EVERY == 0:
                progress(done, total)

        for node in node_rows(snapshot):
            write({"type": "node", "id": node.id, "labels": list(node.labels), "properties": _values(node.properties)})
        for row in relationship_rows(snapshot):
            write(
                {
                    "type": "relationship",
                    "id": row.id,
                    "label": row.type,
                    "start": row.start,
                    "end": row.end,
                    "properties": _values(row.properties),
                }
            )
    return {"nodes": snapshot.node_count, "relationships": snapshot.relationship_count}


def _values(properties: dict[str, Any]) -> dict[str, Any]:
    return {key: json_value(value) for key, value in properties.items()}
