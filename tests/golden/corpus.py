"""Machine-written queries on the demo graphs, and (family `explain`) queries whose graph is not at hand, planned only.

Each answer says what of it the query determines: all rows, rows but for the order inside lists, or only their number;
and, where every ORDER BY key is a column, the sequence of those keys.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neo4j.exceptions import Neo4jError

from tests.golden.encoding import Entity, encoding
from tests.golden.load import NodeRow, RelationshipRow, load_graph
from tests.suites.data import data_path, json_lines
from tests.suites.workers import PASSED, Task, Verdict

DEADLINE_SECONDS = 10.0
MAX_ROWS = 50_000
EXPLAIN = "explain"
_FREE_LISTS = re.compile(r"\b(keys|labels)\s*\(", re.IGNORECASE)  # Neo4j promises no order here, though it keeps one


def read_tasks() -> list[Task]:
    answers = {
        (path.name.removesuffix(".jsonl.gz"), line["id"]): line
        for path in sorted(data_path("golden", "llm").glob("*.jsonl.gz"))
        for line in json_lines(path)
    }
    tasks = []
    for query in json_lines(data_path("cypher", "llm_queries.jsonl.gz")):
        graph = query["graph"] or EXPLAIN
        payload = {"cypher": query["cypher"], "wanted": answers[graph, query["id"]]}
        tasks.append(Task(f"{graph} {query['id']}", graph, graph, payload))
    return tasks


def describe(task: Task) -> str:
    wanted = task.payload["wanted"]
    shown = wanted.get("message") or wanted.get("all") or wanted.get("head")
    return f"  {task.payload['cypher']!r}\n  want {wanted.get('columns')} {wanted.get('rows')} rows {shown}"[:900]


class CorpusRunner:
    """One database per graph, which `new` makes, loaded again after a query that changed it."""

    def __init__(self, new: Callable[[], Any] | None = None) -> None:
        self.new = new or _in_memory
        warnings.simplefilter("ignore")
        self.db: Any = None
        self.loaded: str | None = None
        self.names: dict[str, str] = {}

    def prepare(self, task: Task) -> None:
        if self.loaded != task.group:
            if self.db is not None:
                self.db.close()
            self.loaded, self.db = None, self.new()
            self.names = {} if task.group == EXPLAIN else load_graph(self.db, *demo_rows(task.group))
            self.loaded = task.group

    def run(self, task: Task) -> Verdict:
        wanted, explain = task.payload["wanted"], task.group == EXPLAIN
        if reason := not_comparable(wanted):
            return Verdict("skipped", reason)
        graph, self.loaded = self.loaded, None  # until it is known that nothing changed
        try:
            result = self.db.run(("EXPLAIN " if explain else "") + task.payload["cypher"])
            columns, rows = list(result.keys()), []
            for record in result:
                rows.append(list(record.values()))
                if len(rows) > MAX_ROWS:
                    self.loaded = graph
                    return Verdict("failed", "rows differ", f"more than {MAX_ROWS}")
            counters = _counters(result.consume())
        except Neo4jError as error:
            self.loaded = graph
            return judge_error(wanted, error.code, error.message)
        if not counters:
            self.loaded = graph
        if explain and wanted["status"] == "ok":
            return PASSED if columns == wanted["columns"] else Verdict("failed", "columns differ", str(columns))
        return judge_rows(wanted, task.payload["cypher"], columns, rows, counters, self._entity)

    def _entity(self, entity: Any) -> Any:
        return recorded_entity(entity, self.names.get(entity.element_id))


def _in_memory() -> Any:
    import hoplite

    return hoplite.open()


def recorded_entity(entity: Any, name: str | None) -> Any:
    """`n12` for a node of the file; labels (or type) and properties for one that the query made."""
    if name is not None:
        return name
    properties = encoding().encode(dict(entity.items()))
    if hasattr(entity, "labels"):
        return {"labels": sorted(entity.labels), "properties": properties}
    return {"type": entity.type, "properties": properties}


def judge_rows(
    wanted: dict[str, Any],
    cypher: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    counters: Mapping[str, int],
    entity: Entity,
) -> Verdict:
    """Whether rows are what was recorded, as far as the query determines them."""
    if wanted["status"] == "error":
        return Verdict("failed", "rows instead of an error", f"{len(rows)} rows")
    if list(columns) != wanted["columns"]:
        return Verdict("failed", "columns differ", str(columns))
    if counters != wanted.get("counters", {}):
        return Verdict("failed", "counters differ", str(counters))
    got = encoding().fingerprint(wanted["columns"], rows, entity=entity, head=5)
    shown = f"{len(rows)} rows {json.dumps(got['head'], ensure_ascii=False)}"[:400]
    if "sequence" in wanted:
        keys = [[row[column] for column in wanted["keys"]] for row in rows]
        sequence = encoding().fingerprint([], keys, ordered=True, entity=entity)["digest"]
        if sequence != wanted["sequence"]:
            kind = "order differs" if got["digest"] == wanted["digest"] else "rows differ"
            return Verdict("failed", kind, shown)
    if wanted["deterministic"]:
        free = _FREE_LISTS.search(cypher) and got["loose"] == wanted["loose"]
        same = bool(free) or got["digest"] == wanted["digest"]
    elif wanted["loose_deterministic"]:
        same = got["loose"] == wanted["loose"]
    else:
        same = len(rows) == wanted["rows"]
    return PASSED if same else Verdict("failed", "rows differ", shown)


def not_comparable(wanted: dict[str, Any]) -> str:
    """Why an answer cannot be compared; empty where it can."""
    if wanted["status"] in ("timeout", "failed"):
        return "Neo4j gave no answer"
    if wanted.get("over"):
        return "too many rows"
    if wanted.get("now"):
        return "depends on the clock"
    if "second" in wanted:
        return "not determined"
    if "rows_deterministic" in wanted and not wanted["rows_deterministic"]:
        return "not determined"
    return ""


def judge_error(wanted: dict[str, Any], code: str | None, message: str | None) -> Verdict:
    """Whether an error is the one that was recorded, by its code."""
    raised = f"{code}: {message}"[:400]
    if wanted["status"] != "error":
        return Verdict("failed", "error instead of rows", raised)
    if code not in (wanted["code"], wanted.get("code_varies")):
        return Verdict("failed", "error code differs", raised)
    same = wanted.get("message_varies") or message == wanted["message"]
    return Verdict("passed", detail=raised, remarks=() if same else ("messages differ",))


def _counters(summary: Any) -> dict[str, int]:
    return {name: count for name, count in vars(summary.counters).items() if count and not name.startswith("_")}


def demo_rows(graph: str) -> tuple[list[NodeRow], list[RelationshipRow]]:
    """Nodes and relationships of a demo graph."""
    nodes: list[NodeRow] = []
    relationships: list[RelationshipRow] = []
    for line in json_lines(data_path("demo", graph, "graph.jsonl.gz")):
        properties = {key: _property(value) for key, value in line["properties"].items()}
        if line["type"] == "node":
            nodes.append((line["id"], line["labels"], properties))
        else:
            relationships.append((line["id"], line["label"], line["start"], line["end"], properties))
    return nodes, relationships


def _property(value: Any) -> Any:
    """The demo graphs have special forms for durations and points; the rest is as usual."""
    if isinstance(value, list):
        return [_property(item) for item in value]
    if isinstance(value, dict) and "$duration" in value:
        parts = value["$duration"]
        fields = [parts[unit] for unit in ("months", "days", "seconds", "nanos")]
        return encoding().decode({"$duration": fields})
    if isinstance(value, dict) and "$point" in value:
        three = len(value["$point"]) == 3
        srid = (4979 if three else 4326) if value["crs"].startswith("wgs-84") else (9157 if three else 7203)
        return encoding().decode({"$point": [srid, *value["$point"]]})
    return encoding().decode(value) if isinstance(value, dict) else value
