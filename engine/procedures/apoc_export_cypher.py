"""apoc.export.cypher.*: nodes, relationships and the schema as statements that recreate them.

A node without a unique key has the label `UNIQUE IMPORT LABEL` and its id while the statements run; the last ones
remove both.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.entities import labels, public_id, relationship_type
from hoplite.engine.functions.strings import string_of
from hoplite.engine.procedures.exported import Part, found_by, given_data, given_graph, in_java_order, whole_graph
from hoplite.engine.procedures.files import Target
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.storage.schema import Entity, Index, IndexKind
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.spatial import Point
from hoplite.values.temporal import TEMPORAL_FUNCTIONS

Config = dict[str, Any] | None
_RESULT = (
    ":: (file :: STRING, batches :: INTEGER, source :: STRING, format :: STRING, nodes :: INTEGER, relationships :: "
    "INTEGER, properties :: INTEGER, time :: INTEGER, rows :: INTEGER, batchSize :: INTEGER, cypherStatements :: ANY, "
    "nodeStatements :: ANY, relationshipStatements :: ANY, schemaStatements :: ANY, cleanupStatements :: ANY)"
)
_LABEL, _ID, _NAME = "UNIQUE IMPORT LABEL", "UNIQUE IMPORT ID", "UNIQUE_IMPORT_NAME"
_FRAMES = {
    "cypher-shell": (":begin\n", ":commit\n", "CALL db.awaitIndexes(300);\n"),
    "plain": ("", "", ""),
}
_OTHER_FRAME = ("BEGIN\n", "COMMIT\n", "SCHEMA AWAIT\n")
_SECTIONS = ("schema", "nodes", "relationships", "cleanup")
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


# --- words ----------------------------------------------------------------------------------------------------------


def _quoted(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"


def _literal(value: Any) -> str:
    match value:
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return "[" + ", ".join(map(_literal, value)) + "]"
        case Point():
            axes = ", ".join(f"{axis}: {string_of(at)}" for axis, at in zip("xyz", value.coordinates, strict=False))
            return f"point({{{axes}, crs: '{value.crs}'}})"
    function = TEMPORAL_FUNCTIONS.get(type(value))
    return f"{function}('{string_of(value)}')" if function else str(string_of(value))


def _map(entries: Mapping[str, Any]) -> str:
    return "{" + ", ".join(f"{_quoted(key)}:{_literal(value)}" for key, value in entries.items()) + "}"


def _label_list(names: Iterable[str]) -> str:
    return "".join(f":{_quoted(name)}" for name in names)


# --- settings -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Settings:
    """The settings of an export."""

    frame: tuple[str, str, str]
    verb: str
    unwinds: str  # NONE, UNWIND_BATCH, UNWIND_BATCH_PARAMS
    unwind_size: int
    batch_size: int
    separate: bool

    @classmethod
    def of(cls, procedure: str, config: Mapping[str, Any]) -> _Settings:
        optimizations = config.get("useOptimizations") or {}
        unwinds = str(optimizations.get("type") or "UNWIND_BATCH").upper()
        size, batch = int(optimizations.get("unwindBatchSize") or 20), int(config.get("batchSize") or 20_000)
        if unwinds not in ("NONE", "UNWIND_BATCH", "UNWIND_BATCH_PARAMS"):
            raise illegal_argument(
                procedure, f"No enum constant apoc.export.util.ExportConfig.OptimizationType.{unwinds}"
            )
        form = str(config.get("cypherFormat") or "create")
        if form in ("addStructure", "updateStructure") or (form == "updateAll" and unwinds == "NONE"):
            message = f"cypherFormat '{form}' is not supported with useOptimizations '{unwinds}'"
            raise illegal_argument(procedure, message)
        if unwinds != "NONE" and size > batch:
            message = f"`unwindBatchSize` must be <= `batchSize`, but got [unwindBatchSize:{size}, batchSize:{batch}]"
            raise call_failed(procedure, "java.lang.RuntimeException", message)
        frame = _FRAMES.get(str(config.get("format") or "cypher-shell"), _OTHER_FRAME)
        verb = "MERGE" if form == "updateAll" else "CREATE"
        return cls(frame, verb, unwinds, size, batch, config.get("separateFiles") is True)


# --- statements -----------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Script:
    """The statements, by section."""

    context: Execution
    part: Part
    settings: _Settings
    properties: int = 0
    artificial: int = 0  # nodes without a unique key
    sections: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in _SECTIONS})
    keys: dict[NodeRef, tuple[str, dict[str, Any]]] = field(default_factory=dict)

    def key_of(self, node: NodeRef) -> tuple[str, dict[str, Any]]:
        """The label and the values that identify a node."""
        if node not in self.keys:
            held, schema = held_by(self.context, node), self.context.graph.schema
            names = labels(self.context, node) or () if node in self.part.nodes else ()
            rules = (rule for label in names for rule in schema.unique(Entity.NODE, label))
            rule = next((rule for rule in rules if all(key in held for key in rule.keys)), None)
            if rule is None:
                self.keys[node] = (_LABEL, {_ID: public_id(self.context, node)})
            else:
                self.keys[node] = (rule.labels[0], {key: held[key] for key in rule.keys})
        return self.keys[node]

    def frame(self, section: str, statements: list[str], behind: str = "") -> None:
        """Wrap statements in a transaction."""
        begin, commit, _ = self.settings.frame
        if statements:
            self.sections[section] += [begin, *statements, commit, behind]

    # nodes

    def add_nodes(self, nodes: Iterable[NodeRef]) -> None:
        groups: dict[Any, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
        plain: list[str] = []
        for node in nodes:
            self.context.check_time()
            held, (label, key) = held_by(self.context, node), self.key_of(node)
            self.properties += len(held)
            self.artificial += label == _LABEL
            others = tuple(name for name in labels(self.context, node) or () if name != label)
            if self.settings.unwinds == "NONE":
                names = sorted(labels(self.context, node) or ()) + [label] * (label == _LABEL)
                values = {name: held[name] for name in sorted(held)} | (key if label == _LABEL else {})
                plain.append(f"CREATE ({_label_list(names)} {_map(values)});\n")
            else:
                rest = in_java_order({name: value for name, value in held.items() if name not in key})
                groups.setdefault((label, tuple(key), others), []).append((key, rest))
        for (label, keys, others), rows in groups.items():
            fields = ", ".join(f"{_quoted(name)}: row.{_field(name)}" for name in keys)
            tail = f" SET n{_label_list(others)}" if others else ""
            head = f"{self.settings.verb} (n:{_quoted(label)}{{{fields}}}) SET n += row.properties{tail};\n"
            plain += self._unwound([f"{{{_found(key)}, properties:{_map(rest)}}}" for key, rest in rows], head)
        self._batched("nodes", plain)

    # relationships

    def add_relationships(self, relationships: Iterable[RelationshipRef]) -> None:
        groups: dict[Any, list[str]] = {}
        plain: list[str] = []
        for relationship in relationships:
            self.context.check_time()
            held, type_name = held_by(self.context, relationship), relationship_type(self.context, relationship) or ""
            self.properties += len(held)
            (first, first_key), (second, second_key) = map(self.key_of, ends_of(self.context, relationship))
            if self.settings.unwinds == "NONE":
                values = " " + _map({name: held[name] for name in sorted(held)}) if held else ""
                plain.append(
                    f"MATCH (n1:{_quoted(first)}{_map(first_key)}), (n2:{_quoted(second)}{_map(second_key)}) "
                    f"CREATE (n1)-[r:{_quoted(type_name)}{values}]->(n2);\n"
                )
            else:
                row = (
                    f"{{start: {{{_found(first_key)}}}, end: {{{_found(second_key)}}}, "
                    f"properties:{_map(in_java_order(held))}}}"
                )
                groups.setdefault((type_name, first, tuple(first_key), second, tuple(second_key)), []).append(row)
        for (type_name, first, first_keys, second, second_keys), rows in groups.items():
            head = "".join(
                f"MATCH ({side}:{_quoted(label)}"
                + "{"
                + ", ".join(f"{_quoted(name)}: row.{side}.{_field(name)}" for name in keys)
                + "})\n"
                for side, label, keys in (("start", first, first_keys), ("end", second, second_keys))
            )
            head += f"{self.settings.verb} (start)-[r:{_quoted(type_name)}]->(end) SET r += row.properties;\n"
            plain += self._unwound(rows, head)
        self._batched("relationships", plain)

    def _unwound(self, rows: list[str], head: str) -> Iterator[str]:
        size = self.settings.unwind_size
        for first in range(0, len(rows), size):
            listed = "[" + ", ".join(rows[first : first + size]) + "]"
            if self.settings.unwinds == "UNWIND_BATCH_PARAMS":
                yield f":param rows => {listed}\nUNWIND $rows AS row\n{head}"
            else:
                yield f"UNWIND {listed} AS row\n{head}"

    def _batched(self, section: str, statements: list[str]) -> None:
        size = self.settings.batch_size
        if self.settings.unwinds != "NONE":
            size = max(1, size // self.settings.unwind_size)
        for first in range(0, len(statements), size):
            self.frame(section, statements[first : first + size])

    # schema

    def add_schema(self, part: Part | None) -> None:
        """Indexes and constraints; unless everything is exported, only those on labels and types in the part."""
        schema, about = self.context.graph.schema, None
        if part is not None and part.kind != "database":
            about = {name for node in part.nodes for name in labels(self.context, node) or ()}
            about |= {relationship_type(self.context, one) or "" for one in part.relationships}
        statements = sorted(filter(None, (_index(one) for one in schema.indexes if _is_about(one, about))))
        for rule in schema.constraints:
            if about is None or about.intersection(rule.labels):
                variable, place = ("node", f"(node:{_quoted(rule.labels[0])})")
                if rule.entity is Entity.RELATIONSHIP:
                    variable, place = ("rel", f"()-[rel:{_quoted(rule.labels[0])}]-()")
                keys = ", ".join(f"{variable}.{_quoted(key)}" for key in rule.keys)
                statements.append(f"CREATE CONSTRAINT {_quoted(rule.name)} FOR {place} REQUIRE ({keys}) IS UNIQUE;\n")
        if self.artificial:
            place = f"(node:`{_LABEL}`) REQUIRE (node.`{_ID}`)"
            statements.append(f"CREATE CONSTRAINT {_NAME} FOR {place} IS UNIQUE;\n")
        self.frame("schema", statements, self.settings.frame[2])

    def add_cleanup(self) -> None:
        """Statements that remove the artificial label."""
        size = self.settings.batch_size
        for _ in range(0, self.artificial, size):
            text = f"MATCH (n:`{_LABEL}`)  WITH n LIMIT {size} REMOVE n:`{_LABEL}` REMOVE n.`{_ID}`;\n"
            self.frame("cleanup", [text])
        if self.artificial:
            self.frame("cleanup", [f"DROP CONSTRAINT {_NAME};\n"])


def _field(name: str) -> str:
    return "_id" if name == _ID else _quoted(name)


def _found(key: Mapping[str, Any]) -> str:
    return ", ".join(f"{_field(name)}:{_literal(value)}" for name, value in key.items())


def _is_about(index: Index, about: set[str] | None) -> bool:
    return index.owning_constraint is None and (about is None or bool(about.intersection(index.labels)))


def _index(index: Index) -> str | None:
    names = "|".join(map(_quoted, index.labels))
    variable, place = ("n", f"(n:{names})") if index.entity is Entity.NODE else ("rel", f"()-[rel:{names}]-()")
    if index.kind is IndexKind.FULLTEXT:
        keys = ",".join(f"{variable}.{_quoted(key)}" for key in index.keys)
        return f"CREATE FULLTEXT INDEX {_quoted(index.name)} FOR {place} ON EACH [{keys}];\n"
    if index.kind in (IndexKind.LOOKUP, IndexKind.VECTOR):
        return None
    keys = ", ".join(f"{variable}.{_quoted(key)}" for key in index.keys)
    return f"CREATE {index.kind.value} INDEX FOR {place} ON ({keys});\n"


# --- exports --------------------------------------------------------------------------------------------------------


def _export(
    context: Execution, procedure: str, part: Part, file: str | None, config: Config, *, only_schema: bool = False
) -> Iterator[Row]:
    began, settings = time.perf_counter(), _Settings.of(procedure, config or {})
    script = _Script(context, part, settings)
    nodes, relationships = ((), ()) if only_schema else (part.nodes, part.relationships)
    script.add_nodes(nodes)
    script.add_relationships(relationships)
    script.add_schema(None if only_schema else part)
    script.add_cleanup()
    order = _SECTIONS if settings.unwinds != "NONE" else ("nodes", "schema", "relationships", "cleanup")
    texts = {name: "".join(script.sections[name]) for name in order}
    name = file or None
    if name is not None:
        for target_name, text in _files(name, texts, settings.separate).items():
            with Target(context, procedure, target_name, False) as target:
                target.write(text)
    apart = settings.separate and name is None
    whole = "".join(texts.values()) if name is None and not apart else None
    parts = [texts[section] if apart else None for section in ("nodes", "relationships", "schema", "cleanup")]
    counts = (len(nodes), len(relationships), script.properties, int((time.perf_counter() - began) * 1000))
    yield name, 1, part.source, "cypher", *counts, len(nodes) + len(relationships), settings.batch_size, whole, *parts


def _files(name: str, texts: Mapping[str, str], separate: bool) -> dict[str, str]:
    """One file, or one for each section: `x.nodes.cypher`."""
    if not separate:
        return {name: "".join(texts.values())}
    stem, dot, ending = name.rpartition(".")
    return {f"{stem}.{section}{dot}{ending}" if dot else f"{name}.{section}": text for section, text in texts.items()}


@cypher_procedure(
    f"apoc.export.cypher.all(file =  :: STRING, config = {{}} :: MAP) {_RESULT}",
    mode="DEFAULT",
    description="Exports the whole graph as Cypher statements.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_all(context: Execution, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; without a file, it includes the statements."""
    return _export(context, "apoc.export.cypher.all", whole_graph(context), file, config)


@cypher_procedure(
    "apoc.export.cypher.data(nodes :: LIST<NODE>, rels :: LIST<RELATIONSHIP>, file =  :: STRING, config = {} :: MAP) "
    + _RESULT,
    mode="DEFAULT",
    description="Exports nodes and relationships as Cypher statements.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_data(context: Execution, nodes: Any, relationships: Any, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; without a file, it includes the statements."""
    return _export(context, "apoc.export.cypher.data", given_data(nodes, relationships), file, config)


@cypher_procedure(
    f"apoc.export.cypher.graph(graph :: MAP, file :: STRING, config = {{}} :: MAP) {_RESULT}",
    mode="DEFAULT",
    description="Exports a graph as Cypher statements.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_graph(context: Execution, graph: Any, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; without a file, it includes the statements."""
    procedure = "apoc.export.cypher.graph"
    return _export(context, procedure, given_graph(procedure, graph), file, config)


@cypher_procedure(
    f"apoc.export.cypher.query(statement :: STRING, file =  :: STRING, config = {{}} :: MAP) {_RESULT}",
    mode="DEFAULT",
    description="Exports the nodes and relationships in a query's result as Cypher statements.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_query(context: Execution, statement: str, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; without a file, it includes the statements."""
    procedure = "apoc.export.cypher.query"
    return _export(context, procedure, found_by(context, procedure, statement, config or {}), file, config)


@cypher_procedure(
    f"apoc.export.cypher.schema(file =  :: STRING, config = {{}} :: MAP) {_RESULT}",
    mode="DEFAULT",
    description="Exports indexes and constraints as Cypher statements.",
    works_on_system=False,
    opens_files=True,
    has_effects=True,
)
def export_schema(context: Execution, file: str | None, config: Config) -> Iterator[Row]:
    """One row of statistics; without a file, it includes the statements."""
    return _export(context, "apoc.export.cypher.schema", whole_graph(context), file, config, only_schema=True)
