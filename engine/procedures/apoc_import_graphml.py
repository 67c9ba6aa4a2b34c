"""apoc.import.graphml: create the nodes and relationships in a GraphML file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.xml_tree import Element, Text, elements_of, read_xml
from hoplite.engine.procedures.apoc_import import bytes_of_file
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.exported import REPORT, Report
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import CypherError

Config = dict[str, Any] | None
_PROCEDURE = "apoc.import.graphml"
_TYPES = ("boolean", "int", "long", "float", "double", "string")


def _fail(java_class: str, message: str) -> CypherError:
    return call_failed(_PROCEDURE, java_class, message)


def _type(name: str | None) -> str:
    kind = (name or "string").strip().lower()
    if kind not in _TYPES:
        message = f"No enum constant apoc.export.graphml.XmlGraphMLReader.Type.{kind.upper()}"
        raise _fail("java.lang.IllegalArgumentException", message)
    return kind


def _value(kind: str, text: str) -> Any:
    try:
        match kind:
            case "boolean":
                return text.lower() == "true"
            case "int" | "long":
                if text != text.strip() or "_" in text:
                    raise ValueError
                return int(text)
            case "float":
                return float(np.float32(text.strip()))
            case "double":
                return float(text)
    except ValueError:
        raise _fail("java.lang.NumberFormatException", f'For input string: "{text}"') from None
    return text


@dataclass(frozen=True, slots=True)
class _Key:
    """A declared property: its name, the type of its values or of their elements, and a default."""

    name: str
    type: str
    items: str | None
    default: Any

    def value(self, text: str) -> Any:
        """What a text stands for; the default, or else an empty text, where there is none."""
        if not text:
            return "" if self.default is None else self.default
        if self.items is None:
            return _value(self.type, text)
        return [_value(self.items, str(item)) if item is not None else None for item in json.loads(text)]


def _content(element: Element) -> str:
    return "".join(child.content for child in element.children if isinstance(child, Text))


def _labels(text: str | None) -> list[str]:
    return [name for part in (text or "").split(":") if (name := part.strip())]


@dataclass(slots=True)
class _Import:
    """What the file has declared and made so far."""

    context: Execution
    config: Mapping[str, Any]
    report: Report
    keys: dict[tuple[bool, str], _Key] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)

    @property
    def _reads_labels(self) -> bool:
        return self.config.get("readLabels") is True

    def declare(self, element: Element) -> None:
        """Note a `<key>`."""
        held = element.attributes
        inner = next((one for one in element.children if isinstance(one, Element) and one.name == "default"), None)
        kind, items = _type(held.get("attr.type")), held.get("attr.list")
        default = None if inner is None else _value(kind, _content(inner))
        number = held.get("id", "")
        key = _Key(held.get("attr.name", number), kind, None if items is None else _type(items), default)
        self.keys[held.get("for") in (None, "node"), number] = key

    def add(self, element: Element) -> None:
        """Create a node or a relationship with its properties."""
        self.context.check_time()
        is_node = element.name == "node"
        keys = [key for (of_node, _), key in self.keys.items() if of_node == is_node]
        properties = {key.name: key.default for key in keys if key.default is not None}
        own = "labels" if is_node else "label"
        named: list[str] = []
        for entry in element.children:
            if not isinstance(entry, Element) or entry.name != "data":
                continue
            number, text = entry.attributes.get("key", ""), _content(entry)
            if self._reads_labels and number == own and text:
                named.append(text)
                continue
            key = self.keys.get((is_node, number)) or _Key(number, "string", None, None)
            properties[key.name] = key.value(text)
            self.report.properties += 1
        if is_node:
            self._add_node(element, named, properties)
        else:
            self._add_edge(element, named, properties)

    def _add_node(self, element: Element, named: list[str], properties: dict[str, Any]) -> None:
        number = element.attributes.get("id", "")
        if self.config.get("storeNodeIds") is True:
            properties = {"id": number, **properties}
        written = [element.attributes.get("labels"), *named] if self._reads_labels else []
        labels = list(dict.fromkeys(name for text in written for name in _labels(text)))
        self.nodes[number] = writer_of(self.context).create_node(labels, properties)
        self.report.nodes += 1

    def _add_edge(self, element: Element, named: list[str], properties: dict[str, Any]) -> None:
        type_name = element.attributes.get("label")
        if type_name is None and named:
            type_name = named[0].replace(":", "").strip()
        if type_name is None:
            type_name = str(self.config.get("defaultRelationshipType") or "RELATED")
        ends = self._end(element, "source"), self._end(element, "target")
        writer_of(self.context).create_relationship(*ends, type_name, properties)
        self.report.relationships += 1

    def _end(self, element: Element, side: str) -> int:
        """A node of the file, or one of the graph with a label and a property that the configuration names."""
        number = element.attributes.get(side, "")
        known = self.nodes.get(number)
        if known is not None:
            return known
        place = self.config.get(side) or {}
        if not place.get("label"):
            message = (
                f"The node with the given id: {number} was not found. Check that it is defined before the referencing "
                "relationship."
            )
            raise _fail("java.lang.RuntimeException", message)
        value = _value(_type(element.attributes.get(f"{side}Type")), number)
        _, found = writer_of(self.context).seek_nodes(str(place["label"]), str(place.get("id") or "id"), [value])
        if not len(found):
            raise _fail("java.lang.IllegalArgumentException", "Other node is null.")
        return int(found[0])


@cypher_procedure(
    f"apoc.import.graphml(urlOrBinaryFile :: ANY, config :: MAP) {REPORT}",
    mode="WRITE",
    description="Creates the nodes and relationships in a GraphML file.",
    works_on_system=False,
    opens_files=True,
)
def import_graphml(context: Execution, file: Any, config: Config) -> Iterator[Row]:
    """One row of statistics."""
    document = read_xml(_fail, bytes_of_file(context, _PROCEDURE, file), context.check_time)
    work = _Import(context, config or {}, Report(file if isinstance(file, str) else None, "file", "graphml"))
    for element in elements_of(document):
        if element.name == "key":
            work.declare(element)
        elif element.name in ("node", "edge"):
            work.add(element)
    row = work.report.row(None, 0)
    yield (*row[:7], 0, *row[8:])
