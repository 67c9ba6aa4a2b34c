"""N-Triples (RDF): resources become nodes, triples between them relationships, literals properties.

    <http://ex.org/aspirin> <http://ex.org/treats> <http://ex.org/headache> .
    <http://ex.org/aspirin> <http://www.w3.org/2000/01/rdf-schema#label> "Aspirin"@en .

Every resource is a node with the label Resource and its IRI under `uri` (blank nodes `_:b0` alike). `rdf:type` gives a
label, a literal a property, anything else a relationship; names are what stands after the last `#` or `/` of an IRI.
Literals are read by their datatype; several of one predicate become a list, of texts where their types differ.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from hoplite.errors import CypherError
from hoplite.storage.graph import Graph
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.growing_load import GrowingLoad
from hoplite.storage.importers.lines import Progress, numbered_lines
from hoplite.storage.property_values import storable
from hoplite.values.temporal_parse import (
    parse_date,
    parse_date_time,
    parse_duration,
    parse_local_date_time,
    parse_local_time,
    parse_time,
)

LABEL, KEY = "Resource", "uri"
_RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_XSD = "http://www.w3.org/2001/XMLSchema#"
_RESOURCE = r"<([^<>\"{}|^`\\\x00-\x20]*)>|(_:[^\s<>\"]+)"
_LINE = re.compile(
    rf"\s*(?:{_RESOURCE})\s*<([^<>\s]*)>\s*"
    rf"(?:{_RESOURCE}|\"((?:[^\"\\]|\\.)*)\"(?:\^\^<([^<>\s]*)>|@[A-Za-z0-9-]+)?)\s*\.\s*(?:\#.*)?\Z"
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def import_ntriples(
    graph: Graph,
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    *,
    bad_rows: BadRows | None = None,
) -> dict[str, Any]:
    """Add the triples of a file (plain or gzip); how many nodes and relationships they made."""
    path = os.fspath(path)
    bad_rows = bad_rows or BadRows()
    resources = _Resources()
    for number, text in numbered_lines(path, progress):
        if text.lstrip().startswith("#"):
            continue
        try:
            resources.read(text)
        except (ValueError, CypherError) as error:
            bad_rows.take(path, number, getattr(error, "message", None) or str(error), error)
    with graph.bulk() as load:
        growing = GrowingLoad(load)
        resources.hand_to(growing)
        growing.finish()
        load.make_unique(LABEL, KEY)
        load.commit()
    return bad_rows.summary(growing.node_count, growing.relationship_count)


class _Resources:
    """All resources of a file. A resource may get labels and properties on any line, so all are kept until the end."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._labels: dict[int, dict[str, None]] = {}
        self._values: dict[int, dict[str, list[Any]]] = {}
        self._relationships: list[tuple[str, int, int]] = []

    def read(self, text: str) -> None:
        """Take in one line."""
        found = _LINE.match(text)
        if found is None:
            raise ValueError("no triple: expected <subject> <predicate> <object> . or a literal as the object")
        iri, blank, predicate, object_iri, object_blank, literal, datatype = found.groups()
        name = local_name(predicate)
        target = object_iri if object_iri is not None else object_blank
        value = None if target is not None else _value(_unescaped(literal), datatype)
        subject = self._row(_unescaped(iri) if iri is not None else blank)
        if target is None:
            self._values.setdefault(subject, {}).setdefault(name, []).append(value)
        elif predicate == _RDF_TYPE:
            self._labels.setdefault(subject, {})[local_name(target)] = None
        else:
            self._relationships.append((name, subject, self._row(_unescaped(target))))

    def _row(self, name: str) -> int:
        return self._rows.setdefault(name, len(self._rows))

    def hand_to(self, load: GrowingLoad) -> None:
        """Everything that was read, nodes first."""
        for name, row in self._rows.items():
            values = self._values.get(row, {})
            properties = {key: _property(items) for key, items in values.items()}
            load.add_node((LABEL, *self._labels.get(row, ())), {**properties, KEY: name})
        for type, start, end in self._relationships:
            load.add_relationship(type, start, end, {})


def local_name(iri: str) -> str:
    """`treats` for `http://ex.org/treats`."""
    name = re.split(r"[#/]", iri.rstrip("#/"))[-1]
    if not name:
        raise ValueError(f"<{iri}> has no name after its last # or /")
    return name


def _property(items: list[Any]) -> Any:
    if len(items) == 1:
        return items[0]
    if len({type(item) for item in items}) > 1:
        return [str(item) for item in items]
    return storable(items)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text

    def character(found: re.Match[str]) -> str:
        short, long, one = found.groups()
        if one is not None:
            if one not in _ESCAPED:
                raise ValueError(f"\\{one} is no escape")
            return _ESCAPED[one]
        return chr(int(short or long, 16))

    return _ESCAPE.sub(character, text)


def _value(text: str, datatype: str | None) -> Any:
    if datatype is None or not datatype.startswith(_XSD):
        return text
    read = _READERS.get(datatype.removeprefix(_XSD))
    return text if read is None else read(text)


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError(f"{text!r} is no boolean")
    return text in ("true", "1")


def _integer(text: str) -> int:
    number = int(text)
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{number} is beyond 64 bits")
    return number


def _moment(text: str) -> Any:
    has_zone = re.search(r"(Z|[+-]\d\d:\d\d)\Z", text)
    return parse_date_time(text, 0) if has_zone else parse_local_date_time(text)


def _time(text: str) -> Any:
    return parse_time(text, 0) if re.search(r"(Z|[+-]\d\d:\d\d)\Z", text) else parse_local_time(text)


_WHOLE = ("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger", "negativeInteger",
          "nonPositiveInteger", "unsignedInt", "unsignedShort", "unsignedByte", "unsignedLong")  # fmt: skip
_READERS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(_WHOLE, _integer),
    "decimal": float,
    "double": float,
    "float": float,
    "boolean": _boolean,
    "date": lambda text: parse_date(text.removesuffix("Z")),
    "dateTime": _moment,
    "time": _time,
    "duration": parse_duration,
}
