"""Pattern queries on random multigraphs, each with the fingerprint of Neo4j's rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

from neo4j.exceptions import Neo4jError

from tests.golden.encoding import encoding
from tests.golden.load import load_graph
from tests.suites.data import data_path, json_lines
from tests.suites.workers import PASSED, Task, Verdict

DEADLINE_SECONDS = 5.0


@cache
def _lines() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Graphs by name, and cases."""
    graphs: dict[str, Any] = {}
    cases: list[dict[str, Any]] = []
    for line in json_lines(data_path("golden", "patterns.jsonl.gz")):
        if "nodes" in line:
            graphs[line["graph"]] = line
        else:
            cases.append(line)
    return graphs, cases


def read_tasks() -> list[Task]:
    return [Task(case["id"], case["family"], case["graph"], case) for case in _lines()[1]]


def describe(task: Task) -> str:
    case = task.payload
    wanted = case.get("error") or json.dumps(case.get("rows", f"{case.get('n')} rows"), ensure_ascii=False)
    parameters = f" with {case['params']}" if case["params"] else ""
    return f"  {case['query']}{parameters}\n  want {wanted[:400]}"


class PatternRunner:
    """Only reads: one database per graph, which `new` makes."""

    def __init__(self, new: Callable[[], Any] | None = None) -> None:
        self.new = new or _in_memory
        self.graphs = _lines()[0]
        self.db: Any = None
        self.loaded: str | None = None

    def prepare(self, task: Task) -> None:
        if self.loaded != task.group:
            if self.db is not None:
                self.db.close()
            self.loaded = None
            self.db = self.new()
            _load(self.db, self.graphs[task.group])
            self.loaded = task.group

    def run(self, task: Task) -> Verdict:
        case = task.payload
        try:
            result = self.db.run(case["query"], encoding().decode(case["params"]))
            columns, rows = list(result.keys()), [list(record.values()) for record in result]
        except Neo4jError as error:
            raised = f"{error.code}: {error.message}"
            if "error" not in case:
                return Verdict("failed", "error instead of rows", raised)
            return PASSED if error.code == case["error"] else Verdict("failed", "error code differs", raised)
        if "error" in case:
            return Verdict("failed", "rows instead of an error", f"{len(rows)} rows")
        got = encoding().fingerprint(columns, rows, ordered=case.get("ordered", False), head=5)
        if got["columns"] != case["columns"]:
            return Verdict("failed", "columns differ", str(columns))
        if got["loose" if case.get("loose") else "digest"] != case["digest"]:
            shown = json.dumps(got["head"], ensure_ascii=False)
            return Verdict("failed", "rows differ", f"{got['rows']} rows {shown}"[:400])
        return PASSED


def _in_memory() -> Any:
    import hoplite

    return hoplite.open()


def _load(db: Any, graph: dict[str, Any]) -> None:
    decode = encoding().decode
    load_graph(
        db,
        [(node["properties"]["id"], node["labels"], decode(node["properties"])) for node in graph["nodes"]],
        [
            (hop["properties"]["id"], hop["type"], hop["from"], hop["to"], decode(hop["properties"]))
            for hop in graph["rels"]
        ],
    )
