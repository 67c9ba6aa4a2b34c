"""apoc.export.graphml.*: nodes and relationships as GraphML, in a file or as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.entities import labels, public_id, relationship_type
from hoplite.engine.procedures.exported import (
    REPORT,
    Part,
    Report,
    found_by,
    given_data,
    given_graph,
    in_java_order,
    tabular,
    whole_graph,
)
from hoplite.engine.procedures.files import Target
from hoplite.engine.procedures.registry import Row, cypher_procedure, illegal_argument
from hoplite.values.entities import NodeRef, RelationshipRef

Config = dict[str, Any] | None
_SPACE = "http://graphml.graphdrawing.org/xmlns"
_HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    f'<graphml xmlns="{_SPACE}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    f'xsi:schemaLocation="{_SPACE} {_SPACE}/1.0/graphml.xsd">\n'
)
_TYPES: dict[type, str] = {bool: "boolean", int: "long", float: "double"}


def _types(value: Any) -> str:
    """The attributes that name the type of a property."""
    if isinstance(value, list):
        return f' attr.type="string" attr.list="{_TYPES.get(type(value[0]), "string") if value else "string"}"'
    return f' attr.type="{_TYPES.get(type(value), "string")}"'


def _data(key: str, text: str) -> str:
    return f"<data key={quoteattr(key)}>{escape(text)}</data>"


class _Writer:
    """Keys, nodes and edges."""

    def __init__(self, context: Execution, target: Target, with_types: bool) -> None:
        self.context = context
        self.target = target
        self.with_types = with_types

    def keys(self, entities: Iterable[NodeRef | RelationshipRef], place: str, own: str) -> None:
        """A line for each property key of some entities, and one for labels or types."""
        found: dict[str, Any] = {}
        any_named = False
        for entity in entities:
            self.context.check_time()
            for key, value in held_by(self.context, entity).items():
                found.setdefault(key, value)
            any_named |= isinstance(entity, RelationshipRef) or bool(labels(self.context, entity))
        kinds = {key: _types(value) for key, value in in_java_order(found).items()}
        if any_named:
            kinds[own] = ' attr.type="string"'
        for key, kind in kinds.items():
            name = quoteattr(key)
            types = kind if self.with_types else ""
            self.target.write(f'<key id={name} for="{place}" attr.name={name}{types}/>\n')

    def _properties(self, entity: NodeRef | RelationshipRef) -> str:
        held = in_java_order(held_by(self.context, entity))
        return "".join(_data(key, tabular(self.context, value)) for key, value in held.items())

    def node(self, node: NodeRef) -> None:
        """Write one line."""
        names = "".join(f":{label}" for label in labels(self.context, node) or ())
        named = f" labels={quoteattr(names)}" if names else ""
        own = _data("labels", names) if names else ""
        number = public_id(self.context, node)
        self.target.write(f'<node id="n{number}"{named}>{own}{self._properties(node)}</node>\n')

    def edge(self, relationship: RelationshipRef) -> None:
        """Write one line."""
        name = relationship_type(self.context, relationship) or ""
        start, end = (public_id(self.context, one) for one in ends_of(self.context, relationship))
        self.target.write(
            f'<edge id="e{public_id(self.context, relationship)}" source="n{start}" target="n{end}" '
            f"label={quoteattr(name)}>{_data('label', name)}{self._properties(relationship)}</edge>\n"
        )


def _export(context: Execution, procedure: str, part: Part, file: str | None, config: Config) -> Iterator[Row]:
    settings = config or {}
    if settings.get("format") or settings.get("source") or settings.get("target"):
        raise illegal_argument(procedure, "The settings format, source and target are not supported")
    report = Report(file, part.source, "graphml")
    with Target(context, procedure, file, settings.get("stream") is True) as target:
        writer = _Writer(context, target, settings.get("useTypes") is True)
        target.write(_HEAD)
        writer.keys(part.nodes, "node", "labels")
        writer.keys(part.relationships, "edge", "label")
        target.write('<graph id="G" edgedefault="directed">\n')
        for node in part.nodes:
            report.count(context, node)
            writer.node(node)
        for relationship in part.relationships:
            report.count(context, relationship)
            writer.edge(relationship)
        target.write("</graph>\n</graphml>\n")
        yield report.row(target.text, 0 if report.rows else 1)


@cypher_procedure(
    f"apoc.export.graphml.all(file :: STRING, config :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports the whole graph as GraphML.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_all(context: Execution, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    return _export(context, "apoc.export.graphml.all", whole_graph(context), file, config)


@cypher_procedure(
    "apoc.export.graphml.data(nodes :: LIST<NODE>, rels :: LIST<RELATIONSHIP>, file :: STRING, config :: MAP) "
    + REPORT,
    mode="DEFAULT",
    description="Exports nodes and relationships as GraphML.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_data(context: Execution, nodes: Any, relationships: Any, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    return _export(context, "apoc.export.graphml.data", given_data(nodes, relationships), file, config)


@cypher_procedure(
    f"apoc.export.graphml.graph(graph :: MAP, file :: STRING, config :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports a graph as GraphML.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_graph(context: Execution, graph: Any, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    procedure = "apoc.export.graphml.graph"
    return _export(context, procedure, given_graph(procedure, graph), file, config)


@cypher_procedure(
    f"apoc.export.graphml.query(statement :: STRING, file :: STRING, config :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports the nodes and relationships in a query's result as GraphML.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_query(context: Execution, statement: str, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    procedure = "apoc.export.graphml.query"
    return _export(context, procedure, found_by(context, procedure, statement, config or {}), file, config)
