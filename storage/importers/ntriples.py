"""N-Triples (RDF): resources become nodes, triples between them relationships, literals properties.

    <http://ex.org/aspirin> <http://ex.org/treats> <http://ex.org/headache> .
    <http://ex.org/aspirin> <http://www.w3.org/2000/01/rdf-schema#label> "Aspirin"@en .

Every resource is a node with the label Resource and its IRI under `uri` (blank nodes `_:b0` alike). `rdf:type` gives a
label, a literal a property, anything else a relationship; names are what follows the last `#` or `/` of an IRI.
Literals are read by their datatype; several of one predicate become a list, of texts if their types differ.

What Hoplite exported (`storage/exporters/ntriples.py`, names in `rdf_names.py`) comes back as it was: nodes without the
label and IRI of imported ones, and the properties of relationships, which belong to statements about their triples.
"""

from __future__ import annotations

import json
import os
import re
from base64 import b64decode
from collections.abc import Callable, Mapping
from typing import Any

from hoplite.errors import CypherError
from hoplite.lazy import lazy_pattern
from hoplite.storage.graph import Graph
from hoplite.storage.importers import rdf_names as rdf
from hoplite.storage.importers.bad_rows import BadRows
from hoplite.storage.importers.growing_load import GrowingLoad
from hoplite.storage.importers.json_values import stored_value
from hoplite.storage.importers.lines import Progress, numbered_lines
from hoplite.storage.importers.problem import bad_file
from hoplite.storage.property_values import storable
from hoplite.values.temporal_parse import (
    parse_date,
    parse_date_time,
    parse_duration,
    parse_local_date_time,
    parse_local_time,
    parse_time,
)

_RDF_TYPE = f"{rdf.RDF}type"
_IRI = r"<((?:[^<>\"{}|^`\\\x00-\x20]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*)>"
_RESOURCE = rf"{_IRI}|(_:[^\s<>\"]+)"
_LINE = lazy_pattern(
    rf"\s*(?:{_RESOURCE})\s*{_IRI}\s*"
    rf"(?:{_RESOURCE}|\"((?:[^\"\\]|\\.)*)\"(?:\^\^{_IRI}|@[A-Za-z0-9-]+)?)\s*\.\s*(?:\#.*)?\Z"
)
_ESCAPE = lazy_pattern(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")
_ESCAPED = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def import_ntriples(
    graph: Graph,
    path: str | os.PathLike[str],
    progress: Progress | None = None,
    *,
    bad_rows: BadRows | None = None,
) -> dict[str, Any]:
    """Add the triples of a file (plain or gzip); returns how many nodes and relationships were created."""
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
        try:
            resources.hand_to(growing)
        except ValueError as error:
            raise bad_file(path, str(error)) from error
        growing.finish()
        if resources.are_of_others:
            load.make_unique(rdf.RESOURCE_LABEL, rdf.RESOURCE_KEY)
        load.commit()
    return bad_rows.summary(growing.node_count, growing.relationship_count)


class _Resources:
    """All resources of a file. Any line may add labels and properties to a resource, so all are kept until the end."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._labels: dict[int, dict[str, None]] = {}
        self._values: dict[int, dict[str, list[Any]]] = {}
        self._relationships: list[tuple[str, int, int]] = []
        self._statements: dict[str, _Statement] = {}

    @property
    def are_of_others(self) -> bool:
        """Whether no node was exported by Hoplite: then all of them are named by IRIs."""
        return not any(name.startswith(rdf.NODE) for name in self._rows)

    def read(self, text: str) -> None:
        """Process one line."""
        found = _LINE.match(text)
        if found is None:
            raise ValueError("not a triple: expected <subject> <predicate> <object> . or a literal as the object")
        iri, blank, predicate, object_iri, object_blank, literal, datatype = found.groups()
        subject = _unescaped(iri) if iri is not None else blank
        predicate = _unescaped(predicate)
        target = _unescaped(object_iri) if object_iri is not None else object_blank
        value = None if target is not None else _value(_unescaped(literal), datatype)
        if subject.startswith(rdf.RELATIONSHIP):
            self._statements.setdefault(subject, _Statement()).take(predicate, target, value)
        elif target is None:
            name = local_name(predicate)
            self._values.setdefault(self._row(subject), {}).setdefault(name, []).append(value)
        elif predicate == _RDF_TYPE:
            name = "" if target == rdf.ANY_NODE else local_name(target)
            labels = self._labels.setdefault(self._row(subject), {})
            if name:
                labels[name] = None
        else:
            name = local_name(predicate)
            self._relationships.append((name, self._row(subject), self._row(target)))

    def _row(self, name: str) -> int:
        return self._rows.setdefault(name, len(self._rows))

    def hand_to(self, load: GrowingLoad) -> None:
        """Pass on everything that was read, nodes first."""
        statements = self._by_triple()  # before the nodes: it may mention some that nothing else does
        for name, row in self._rows.items():
            values = self._values.get(row, {})
            properties = {key: _property(items) for key, items in values.items()}
            labels = self._labels.get(row, {})
            if name.startswith(rdf.NODE):
                load.add_node(tuple(labels), properties)
            else:
                load.add_node(tuple({rdf.RESOURCE_LABEL: None, **labels}), {**properties, rdf.RESOURCE_KEY: name})
        for triple in self._relationships:
            waiting = statements.get(triple)
            load.add_relationship(*triple, waiting.pop() if waiting else {})
        for triple, left in statements.items():  # about triples that are not in the file themselves
            for properties in left:
                load.add_relationship(*triple, properties)

    def _by_triple(self) -> dict[tuple[str, int, int], list[dict[str, Any]]]:
        """The properties that statements give to relationships; for those with the same ends and type, the last comes
        first."""
        found: dict[tuple[str, int, int], list[dict[str, Any]]] = {}
        for name, statement in reversed(self._statements.items()):
            if statement.subject is None or statement.predicate is None or statement.object is None:
                raise ValueError(f"<{name}> is not about a triple: it has no rdf:subject, rdf:predicate or rdf:object")
            triple = (local_name(statement.predicate), self._row(statement.subject), self._row(statement.object))
            properties = {key: _property(items) for key, items in statement.values.items()}
            found.setdefault(triple, []).append(properties)
        return found


class _Statement:
    """An rdf:Statement: the triple that it is about, and the statements about it."""

    __slots__ = ("object", "predicate", "subject", "values")

    def __init__(self) -> None:
        self.subject: str | None = None
        self.predicate: str | None = None
        self.object: str | None = None
        self.values: dict[str, list[Any]] = {}

    def take(self, predicate: str, target: str | None, value: Any) -> None:
        """Add one of its triples."""
        if target is None:
            self.values.setdefault(local_name(predicate), []).append(value)
        elif predicate == f"{rdf.RDF}subject":
            self.subject = target
        elif predicate == f"{rdf.RDF}predicate":
            self.predicate = target
        elif predicate == f"{rdf.RDF}object":
            self.object = target
        elif predicate != _RDF_TYPE:
            raise ValueError(f"<{predicate}> cannot be said of a relationship: only literals are allowed")


def local_name(iri: str) -> str:
    """`treats` for `http://ex.org/treats`."""
    if iri.startswith(rdf.NAMESPACE):
        return rdf.name_of_own(iri)
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
                raise ValueError(f"\\{one} is not an escape sequence")
            return _ESCAPED[one]
        return chr(int(short or long, 16))

    return _ESCAPE.sub(character, text)


def _value(text: str, datatype: str | None) -> Any:
    if datatype == rdf.JSON:
        return stored_value(json.loads(text))
    if datatype is None or not datatype.startswith(rdf.XSD):
        return text
    read = _READERS.get(datatype.removeprefix(rdf.XSD))
    return text if read is None else read(text)


def _boolean(text: str) -> bool:
    if text not in ("true", "false", "1", "0"):
        raise ValueError(f"{text!r} is not a boolean")
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
    "base64Binary": lambda text: b64decode(text, validate=True),
    "hexBinary": bytes.fromhex,
}
