"""apoc.export.json.*: nodes, relationships or a query's result as JSON, in a file or as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of
from hoplite.engine.functions.entities import labels, public_id, relationship_type
from hoplite.engine.procedures.apoc_cypher import query_columns, run_query
from hoplite.engine.procedures.exported import (
    REPORT,
    Part,
    Report,
    dumped,
    given_data,
    given_graph,
    plain,
    plain_properties,
    whole_graph,
)
from hoplite.engine.procedures.files import Target
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.spatial import Point

Config = dict[str, Any] | None
_FORMATS = ("JSON_LINES", "ARRAY_JSON", "JSON", "JSON_ID_AS_KEYS")
_UNWOUND = 20


class _Writer:
    """Converts entities and rows to JSON, and counts them."""

    def __init__(self, context: Execution, report: Report, with_properties: bool) -> None:
        self.context = context
        self.report = report
        self.with_properties = with_properties

    def _described(self, node: NodeRef) -> dict[str, Any]:
        names = labels(self.context, node)
        properties = plain_properties(self.context, node) if self.with_properties else {}
        found: dict[str, Any] = {"id": str(public_id(self.context, node))}
        return found | ({"labels": names} if names else {}) | ({"properties": properties} if properties else {})

    def entity(self, entity: NodeRef | RelationshipRef) -> dict[str, Any]:
        """A node, or a relationship with its ends."""
        self.report.count(self.context, entity)
        if isinstance(entity, NodeRef):
            return {"type": "node", **self._described(entity)}
        properties = plain_properties(self.context, entity)
        start, end = ends_of(self.context, entity)
        return {
            "type": "relationship",
            "id": str(public_id(self.context, entity)),
            "label": relationship_type(self.context, entity),
            **({"properties": properties} if properties else {}),
            "start": self._described(start),
            "end": self._described(end),
        }

    def value(self, value: Any) -> Any:
        """Any value in a row."""
        self.context.check_time()
        match value:
            case NodeRef() | RelationshipRef():
                return self.entity(value)
            case PathValue():
                return {
                    "length": len(value),
                    "rels": [self.entity(step) for step in value.relationship_refs()],
                    "nodes": [self.entity(node) for node in value.node_refs()],
                }
            case list():
                return [self.value(item) for item in value]
            case dict():
                return {key: self.value(item) for key, item in value.items()}
            case Point():
                self.report.properties += 1
                return plain(value)
        self.report.properties += 1
        return plain(value)

    def answer(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A row of a query."""
        self.report.answers += 1
        return {column: self.value(value) for column, value in row.items()}


def _export(
    context: Execution,
    procedure: str,
    part: Part | None,
    rows: Iterable[Any],
    source: str,
    file: str | None,
    given: Config,
) -> Iterator[Row]:
    config = given or {}
    form = str(config.get("jsonFormat") or "JSON_LINES")
    if form not in _FORMATS:
        raise illegal_argument(procedure, f"No enum constant apoc.export.json.JsonFormat.Format.{form}")
    size = config.get("batchSize")
    if isinstance(size, int) and size < _UNWOUND:
        message = f"`unwindBatchSize` must be <= `batchSize`, but got [unwindBatchSize:{_UNWOUND}, batchSize:{size}]"
        raise call_failed(procedure, "java.lang.RuntimeException", message)
    report = Report(file, source, "json")
    writer = _Writer(context, report, config.get("writeNodeProperties") is not False)
    with Target(context, procedure, file, config.get("stream") is True) as target:
        if part is None:
            _write_rows(target, form, (writer.answer(row) for row in rows))
        elif form in ("JSON_LINES", "ARRAY_JSON"):
            entities: list[NodeRef | RelationshipRef] = [*part.nodes, *part.relationships]
            _write_rows(target, form, map(writer.entity, entities))
        else:
            _write_groups(target, form, writer, part)
        yield report.row(target.text, 0 if report.rows else 1)


def _write_rows(target: Target, form: str, objects: Iterable[dict[str, Any]]) -> None:
    """Write objects one per line, or as one list."""
    is_list = form != "JSON_LINES"
    target.write("[" if is_list else "")
    for number, one in enumerate(objects):
        target.write(("" if number == 0 else "," if is_list else "\n") + dumped(one))
    target.write("]" if is_list else "")


def _write_groups(target: Target, form: str, writer: _Writer, part: Part) -> None:
    """Write nodes and relationships separately, as lists or by id."""
    by_id = form == "JSON_ID_AS_KEYS"
    opening, closing = ("{", "}") if by_id else ("[", "]")
    groups: tuple[tuple[str, Iterable[Any]], ...] = (("nodes", part.nodes), ("rels", part.relationships))
    for place, (name, entities) in enumerate(groups):
        target.write(f'{"," if place else "{"}"{name}":{opening}')
        for number, entity in enumerate(entities):
            one = writer.entity(entity)
            key = f"{dumped(one['id'])}:" if by_id else ""
            target.write(("," if number else "") + key + dumped(one))
        target.write(closing)
    target.write("}")


@cypher_procedure(
    f"apoc.export.json.all(file :: STRING, config = {{}} :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports the whole graph as JSON.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_all(context: Execution, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    part = whole_graph(context)
    return _export(context, "apoc.export.json.all", part, (), part.source, file, config)


@cypher_procedure(
    "apoc.export.json.data(nodes :: LIST<NODE>, rels :: LIST<RELATIONSHIP>, file :: STRING, config = {} :: MAP) "
    + REPORT,
    mode="DEFAULT",
    description="Exports nodes and relationships as JSON.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_data(context: Execution, nodes: Any, relationships: Any, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    part = given_data(nodes, relationships)
    return _export(context, "apoc.export.json.data", part, (), part.source, file, config)


@cypher_procedure(
    f"apoc.export.json.graph(graph :: MAP, file :: STRING, config = {{}} :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports a graph as JSON.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_graph(context: Execution, graph: Any, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    part = given_graph("apoc.export.json.graph", graph)
    return _export(context, "apoc.export.json.graph", part, (), part.source, file, config)


@cypher_procedure(
    f"apoc.export.json.query(statement :: STRING, file :: STRING, config = {{}} :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports the result of a query as JSON.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_query(context: Execution, statement: str, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    procedure = "apoc.export.json.query"
    columns = query_columns(context, procedure, statement, (config or {}).get("params"))
    rows = run_query(context, procedure, statement, (config or {}).get("params"))
    return _export(context, procedure, None, rows, f"statement: cols({len(columns)})", file, config)
