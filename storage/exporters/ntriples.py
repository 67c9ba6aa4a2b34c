"""N-Triples (RDF), as `storage/importers/ntriples.py` reads them back: nothing of a graph is lost.

    <urn:hoplite:node/0> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:hoplite:label/Person> .
    <urn:hoplite:node/0> <urn:hoplite:key/name> "Ann" .
    <urn:hoplite:node/0> <urn:hoplite:type/KNOWS> <urn:hoplite:node/1> .

A node with the label Resource and an IRI under `uri` (an imported one) keeps that IRI as its name. Properties of a
relationship belong to a statement about its triple (rdf:Statement). Values are literals of XML Schema's types, lists
are several literals; what these types, or the order and number of triples, cannot express is JSON with a datatype of
Hoplite's.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from hoplite.lazy import lazy_pattern
from hoplite.storage.exporters.files import Target, whole_file
from hoplite.storage.exporters.json_values import json_value
from hoplite.storage.exporters.rows import NodeRow, RelationshipRow, node_rows, relationship_rows
from hoplite.storage.importers import rdf_names as rdf
from hoplite.storage.importers.lines import Progress
from hoplite.storage.snapshot import Snapshot
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

_REPORT_EVERY = 10_000
_IRI = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>\"{}|^`\\\x00-\x20]*|_:[A-Za-z0-9_](?:[\w.-]*[\w-])?", re.ASCII)
_SECONDS_MISSING = lazy_pattern(r"((?:\A|T)\d\d:\d\d)(?=\Z|Z|[+-])")
_DATE, _CLOCK, _OFFSET = r"\d{4}-\d\d-\d\d", r"\d\d:\d\d:\d\d(?:\.\d+)?", r"(?:Z|[+-]\d\d:\d\d)"
_TEMPORAL: Mapping[type, tuple[str, re.Pattern[str]]] = {
    Date: ("date", re.compile(_DATE)),
    LocalTime: ("time", re.compile(_CLOCK)),
    Time: ("time", re.compile(_CLOCK + _OFFSET)),
    LocalDateTime: ("dateTime", re.compile(f"{_DATE}T{_CLOCK}")),
    DateTime: ("dateTime", re.compile(f"{_DATE}T{_CLOCK}{_OFFSET}")),
    Duration: ("duration", re.compile("[^-]*")),
}
_ESCAPED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r"}
_TO_ESCAPE = lazy_pattern(r"[\\\"\n\r]")


def export_ntriples(snapshot: Snapshot, path: Target, progress: Progress | None = None) -> dict[str, Any]:
    """Write the graph (gzip if the name ends in .gz); returns its size."""
    total = snapshot.node_count + snapshot.relationship_count
    names = _names(snapshot)
    with whole_file(path) as stream:
        done = 0
        for node in node_rows(snapshot):
            stream.writelines(_node_lines(node, names[node.id]))
            done += 1
            if progress is not None and done % _REPORT_EVERY == 0:
                progress(done, total)
        for row in relationship_rows(snapshot):
            stream.writelines(_relationship_lines(row, names))
            done += 1
            if progress is not None and done % _REPORT_EVERY == 0:
                progress(done, total)
    return {"nodes": snapshot.node_count, "relationships": snapshot.relationship_count, "notes": []}


def _names(snapshot: Snapshot) -> dict[int, str]:
    """How each node is written: by its IRI if no other node has the same, else by its id."""
    held = {node.id: name for node in node_rows(snapshot) if (name := _iri_of(node)) is not None}
    holders = Counter(held.values())
    names = {}
    for node_id in snapshot.node_ids(snapshot.nodes()).tolist():
        name = held.get(node_id)
        if name is None or holders[name] > 1:
            name = f"{rdf.NODE}{node_id}"
        names[node_id] = name if name.startswith("_:") else f"<{name}>"
    return names


def _iri_of(node: NodeRow) -> str | None:
    name = node.properties.get(rdf.RESOURCE_KEY)
    if rdf.RESOURCE_LABEL not in node.labels or not isinstance(name, str) or not _IRI.fullmatch(name):
        return None
    return None if name.startswith(rdf.NAMESPACE) else name


def _node_lines(node: NodeRow, name: str) -> Iterator[str]:
    labels, properties = node.labels, node.properties
    if not name.startswith(f"<{rdf.NAMESPACE}"):
        labels = tuple(label for label in labels if label != rdf.RESOURCE_LABEL)
        properties = {key: value for key, value in properties.items() if key != rdf.RESOURCE_KEY}
        yield f"{name} <{rdf.RDF}type> <{rdf.iri(rdf.LABEL, rdf.RESOURCE_LABEL)}> .\n"
    elif not labels and not properties:
        yield f"{name} <{rdf.RDF}type> <{rdf.ANY_NODE}> .\n"  # some triple must mention the node
    for label in labels:
        yield f"{name} <{rdf.RDF}type> <{rdf.iri(rdf.LABEL, label)}> .\n"
    yield from _property_lines(name, properties)


def _relationship_lines(row: RelationshipRow, names: Mapping[int, str]) -> Iterator[str]:
    start, type_, end = names[row.start], f"<{rdf.iri(rdf.TYPE, row.type)}>", names[row.end]
    yield f"{start} {type_} {end} .\n"
    if row.properties:
        name = f"<{rdf.RELATIONSHIP}{row.id}>"
        yield f"{name} <{rdf.RDF}type> <{rdf.RDF}Statement> .\n"
        yield f"{name} <{rdf.RDF}subject> {start} .\n"
        yield f"{name} <{rdf.RDF}predicate> {type_} .\n"
        yield f"{name} <{rdf.RDF}object> {end} .\n"
        yield from _property_lines(name, row.properties)


def _property_lines(subject: str, properties: Mapping[str, Any]) -> Iterator[str]:
    for key, value in properties.items():
        for literal in _literals(value):
            yield f"{subject} <{rdf.iri(rdf.KEY, key)}> {literal} .\n"


def _literals(value: Any) -> list[str]:
    """One literal for a value; one for each item of a list, if that expresses all of it."""
    if isinstance(value, list):
        items = [_literal(item) for item in value]
        if len(items) > 1 and len(set(items)) == len(items):  # triples have no order, and no duplicates
            return items
        return [_json(value)]
    return [_literal(value)]


def _literal(value: Any) -> str:
    match value:
        case str():
            return _quoted(value)
        case bool():
            return _typed("true" if value else "false", "boolean")
        case int():
            return _typed(str(value), "integer")
        case float():
            return _typed(repr(value).replace("inf", "INF").replace("nan", "NaN"), "double")
        case bytes():
            return _typed(b64encode(value).decode("ascii"), "base64Binary")
    if type(value) in _TEMPORAL:
        datatype, form = _TEMPORAL[type(value)]
        text = _SECONDS_MISSING.sub(r"\1:00", str(value))
        if form.fullmatch(text):
            return _typed(text, datatype)
    return _json(value)


def _typed(text: str, datatype: str) -> str:
    return f'"{text}"^^<{rdf.XSD}{datatype}>'


def _json(value: Any) -> str:
    return f"{_quoted(json.dumps(json_value(value), ensure_ascii=False))}^^<{rdf.JSON}>"


def _quoted(text: str) -> str:
    return f'"{_TO_ESCAPE.sub(lambda found: _ESCAPED[found.group()], text)}"'
