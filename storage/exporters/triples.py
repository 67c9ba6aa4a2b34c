"""Tab-separated triples, as `storage/importers/triples.py` reads them: subject, predicate and object on each line.

A node is named by the value of one key. What triples cannot express (labels, other properties, nodes without
relationships) is left out, and listed in the notes of the result.
"""

from __future__ import annotations

from typing import Any

from hoplite.storage.exporters.files import Target, whole_file
from hoplite.storage.exporters.rows import node_rows, relationship_rows
from hoplite.storage.importers.lines import Progress
from hoplite.storage.importers.problem import bad_table
from hoplite.storage.importers.triples import KEY
from hoplite.storage.snapshot import Snapshot

_REPORT_EVERY = 10_000
_FORBIDDEN = ("\t", "\n", "\r")


def export_triples(
    snapshot: Snapshot, path: Target, key: str = KEY, progress: Progress | None = None
) -> dict[str, Any]:
    """Write all relationships (gzip if the name ends in .gz); returns how much was written, and `notes` on what was
    not.

    Every node with a relationship needs a text under the key, which no other node has.
    """
    names: dict[int, Any] = {}
    labels: set[tuple[str, ...]] = set()
    others: set[str] = set()
    for node in node_rows(snapshot):
        names[node.id] = node.properties.get(key)
        labels.add(node.labels)
        others.update(node.properties)
    others.discard(key)
    held: set[str] = set()
    used: dict[int, str] = {}
    total = snapshot.relationship_count
    with whole_file(path) as stream:
        for done, row in enumerate(relationship_rows(snapshot), 1):
            for node_id in (row.start, row.end):
                if node_id not in used:
                    used[node_id] = _name(names[node_id], node_id, key)
            stream.write(f"{used[row.start]}\t{_checked(row.type)}\t{used[row.end]}\n")
            held.update(row.properties)
            if progress is not None and done % _REPORT_EVERY == 0:
                progress(done, total)
        if len(set(used.values())) < len(used):
            raise bad_table("triples", f"two nodes have the same {key!r}: they would become one")
    notes = [f"the property {name} of nodes" for name in sorted(others)]
    notes += [f"the property {name} of relationships" for name in sorted(held)]
    if len(names) > len(used):
        notes.append(f"{len(names) - len(used)} nodes without relationships")
    if any(len(some) != 1 for some in labels) or len(labels) > 1:
        notes.append("labels: there are several, or none")
    return {"nodes": len(used), "relationships": total, "notes": [f"left out: {note}" for note in notes]}


def _name(value: Any, node_id: int, key: str) -> str:
    if not isinstance(value, str) or not value:
        raise bad_table("triples", f"the node with id {node_id} has no text under {key!r} to name it by")
    return _checked(value)


def _checked(name: str) -> str:
    if any(character in name for character in _FORBIDDEN):
        raise bad_table("triples", f"{name!r} has a tab or the end of a line in it")
    return name
