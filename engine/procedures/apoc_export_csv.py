"""apoc.export.csv.*: nodes, relationships or a query's result as CSV, in a file or as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.entities import labels, public_id, relationship_type
from hoplite.engine.procedures.apoc_cypher import query_columns, run_query
from hoplite.engine.procedures.exported import REPORT, Part, Report, given_data, given_graph, tabular, whole_graph
from hoplite.engine.procedures.files import Target
from hoplite.engine.procedures.registry import Row, cypher_procedure, illegal_argument
from hoplite.values.entities import NodeRef, RelationshipRef

Config = dict[str, Any] | None
_BATCH = 20_000


class _Lines:
    """Writes lines of fields, quoting all of them, only those that need it, or none."""

    def __init__(self, target: Target, config: dict[str, Any]) -> None:
        self._target = target
        quotes = config.get("quotes", "always")
        self._quotes = "none" if quotes is False else "always" if quotes is True else str(quotes)
        self._delimiter = str(config.get("delim") or ",")
        if self._delimiter in ("TAB", "\\t"):
            self._delimiter = "\t"

    def _field(self, text: str | None) -> str:
        if text is None:
            return ""
        needs = any(mark in text for mark in (self._delimiter, '"', "\n", "\r"))
        if self._quotes == "none" or (self._quotes == "ifNeeded" and not needs):
            return text
        return '"' + text.replace('"', '""') + '"'

    def write(self, fields: Iterable[str | None]) -> None:
        """Write one line; None becomes an empty field without quotes."""
        self._target.write(self._delimiter.join(map(self._field, fields)) + "\n")


def _settings(procedure: str, config: Config) -> dict[str, Any]:
    settings = config or {}
    if settings.get("bulkImport") is True:
        raise illegal_argument(procedure, "bulkImport, with a file for each label, is not supported")
    return settings


def _keys(context: Execution, entities: Iterable[Any]) -> list[str]:
    found: set[str] = set()
    for entity in entities:
        context.check_time()
        found.update(held_by(context, entity))
    return sorted(found)


def _export(context: Execution, procedure: str, part: Part, file: str | None, config: Config) -> Iterator[Row]:
    settings = _settings(procedure, config)
    report = Report(file, part.source, "csv", batch_size=int(settings.get("batchSize") or _BATCH))
    of_nodes, of_relationships = _keys(context, part.nodes), _keys(context, part.relationships)
    with Target(context, procedure, file, settings.get("stream") is True) as target:
        lines = _Lines(target, settings)
        lines.write(["_id", "_labels", *of_nodes, "_start", "_end", "_type", *of_relationships])
        for node in part.nodes:
            report.count(context, node)
            held = held_by(context, node)
            names = "".join(f":{label}" for label in labels(context, node) or ())
            values = [tabular(context, held.get(key)) for key in of_nodes]
            lines.write([str(public_id(context, node)), names, *values, *[None] * (3 + len(of_relationships))])
        for relationship in part.relationships:
            report.count(context, relationship)
            held = held_by(context, relationship)
            ends = [str(public_id(context, end)) for end in ends_of(context, relationship)]
            values = [tabular(context, held.get(key)) for key in of_relationships]
            nothing = [None] * (2 + len(of_nodes))
            lines.write([*nothing, *ends, relationship_type(context, relationship), *values])
        yield report.row(target.text, 1)


@cypher_procedure(
    f"apoc.export.csv.all(file :: STRING, config :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports the whole graph as CSV.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_all(context: Execution, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    return _export(context, "apoc.export.csv.all", whole_graph(context), file, config)


@cypher_procedure(
    f"apoc.export.csv.data(nodes :: LIST<NODE>, rels :: LIST<RELATIONSHIP>, file :: STRING, config :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports nodes and relationships as CSV.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_data(context: Execution, nodes: Any, relationships: Any, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    return _export(context, "apoc.export.csv.data", given_data(nodes, relationships), file, config)


@cypher_procedure(
    f"apoc.export.csv.graph(graph :: MAP, file :: STRING, config :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports a graph as CSV.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_graph(context: Execution, graph: Any, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    procedure = "apoc.export.csv.graph"
    return _export(context, procedure, given_graph(procedure, graph), file, config)


@cypher_procedure(
    f"apoc.export.csv.query(query :: STRING, file :: STRING, config :: MAP) {REPORT}",
    mode="DEFAULT",
    description="Exports the result of a query as CSV.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_query(context: Execution, statement: str, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; with `stream` and no file, it includes the text."""
    procedure = "apoc.export.csv.query"
    settings = _settings(procedure, config)
    given = settings.get("params")
    columns = query_columns(context, procedure, statement, given)
    report = Report(
        file, f"statement: cols({len(columns)})", "csv", batch_size=int(settings.get("batchSize") or _BATCH)
    )
    with Target(context, procedure, file, settings.get("stream") is True) as target:
        lines = _Lines(target, settings)
        lines.write(columns)
        for row in run_query(context, procedure, statement, given):
            report.answers += 1
            for value in row.values():
                report.nodes += isinstance(value, NodeRef)
                report.relationships += isinstance(value, RelationshipRef)
                report.properties += not isinstance(value, NodeRef | RelationshipRef)
            lines.write([tabular(context, value) for value in row.values()])
        yield report.row(target.text, 1)
