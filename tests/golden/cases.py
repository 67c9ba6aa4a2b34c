"""Small statements, each with its whole answer: columns, rows, counters or an error.

What decides is what a program sees: columns, rows to the type, counters, the error's code. Messages, GQLSTATUS and
notifications are compared and counted too.
"""

from __future__ import annotations

import json
import re
import warnings
from typing import Any

from neo4j.exceptions import Neo4jError

from tests.golden.encoding import encoding, sorted_lists
from tests.suites.data import data_path, json_lines
from tests.suites.workers import Task, Verdict

DEADLINE_SECONDS = 5.0
_COUNTERS = (
    *("nodes_created", "nodes_deleted", "relationships_created", "relationships_deleted", "properties_set"),
    *("labels_added", "labels_removed", "indexes_added", "indexes_removed", "constraints_added", "constraints_removed"),
    "system_updates",
)
# Identifiers of entities differ between databases; the recordings have <id> instead.
_IDENTIFIERS = (
    (re.compile(r"\b[45]:[0-9a-f]{8}-[0-9a-f-]{27}:\d+"), "<element id>"),
    (re.compile(r"(?i)\b(node|relationship)\s*[<(\[]\d+[>)\]]"), r"\1<id>"),
    (re.compile(r"(?i)\b(node|relationship) with id \d+"), r"\1 with id <id>"),
    (re.compile(r"(?<=Node\()\d+|(?<=id=)\d+|(?<=ownedIndex=)\d+|(?<=neo4j-transaction-)\d+"), "<id>"),
)
_BARE_IDENTIFIERS = ((re.compile(r"\(\d+\)"), "(<id>)"), (re.compile(r"-\[\d+\]-"), "-[<id>]-"))
_UNKNOWN_NAMES = ("01N50", "01N51", "01N52")


def read_tasks() -> list[Task]:
    cases = json_lines(data_path("golden", "cases.jsonl.gz"))
    return [Task(case["id"], case["family"], case["setup"] or "", case) for case in cases]


def describe(task: Task) -> str:
    case = task.payload
    wanted = case.get("error") or {key: case.get(key) for key in ("columns", "rows", "counters")}
    parameters = f" with {case['params']}" if case["params"] else ""
    return f"  {case['query']!r}{parameters} on {case['setup']}\n  want {json.dumps(wanted, ensure_ascii=False)[:400]}"


class CaseRunner:
    """Keeps one database per graph; a statement that may change it gets a fresh one, which is not used again."""

    def __init__(self) -> None:
        warnings.simplefilter("ignore")
        self.graphs: dict[str, list[str]] = json.loads(data_path("golden", "graphs.json").read_text())
        self.db: Any = None
        self.loaded: str | None = None

    def prepare(self, task: Task) -> None:
        import hoplite

        if self.loaded != task.group:
            if self.db is not None:
                self.db.close()
            self.loaded, self.db = None, hoplite.open()
            for statement in self.graphs[task.group] if task.group else ():
                self.db.run(statement).consume()
            self.loaded = task.group
        if before := task.payload.get("before"):
            self.loaded = None
            self.db.run(before).consume()

    def run(self, task: Task) -> Verdict:
        case, still_good = task.payload, self.loaded
        self.loaded = None  # until it is known that nothing changed
        try:
            result = self.db.run(case["query"], encoding().decode(case["params"]))
            columns, rows = list(result.keys()), [list(record.values()) for record in result]
            summary = result.consume()
        except Neo4jError as error:
            verdict = _judge_error(case, error)
        else:
            verdict = _judge_answer(
                case, columns, [[encoding().encode(value) for value in row] for row in rows], summary
            )
        if "kind" not in case:
            self.loaded = still_good
        return verdict


def _judge_error(case: dict[str, Any], error: Neo4jError) -> Verdict:
    message = _without_identifiers(error.message or "")
    wanted = case.get("error")
    if wanted is None:
        return Verdict("failed", "error instead of rows", f"{error.code}: {message}")
    if error.code != wanted["code"]:
        return Verdict("failed", "error code differs", f"{error.code}: {message}")
    remarks = []
    if wanted["message"] not in (None, message):
        remarks.append("messages differ")
    if wanted["gql"] not in (None, getattr(error, "gql_status", None)):
        remarks.append("GQLSTATUS differ")
    return Verdict("passed", detail=f"{error.code}: {message}", remarks=tuple(remarks))


def _judge_answer(case: dict[str, Any], columns: list[str], rows: list[Any], summary: Any) -> Verdict:
    if "error" in case:
        return Verdict("failed", "rows instead of an error", _shown(rows))
    if columns != case["columns"]:
        return Verdict("failed", "columns differ", str(columns))
    if case["rows"] is not None and not _same_rows(case, rows):
        return Verdict("failed", "rows differ", _shown(rows))
    counters = {name: count for name in _COUNTERS if (count := getattr(summary.counters, name, 0))}
    if counters != case.get("counters", {}):
        return Verdict("failed", "counters differ", str(counters))
    same = ("notifications" in case and case["notifications"] is None) or _same_notifications(case, summary)
    return Verdict("passed", remarks=() if same else ("notifications differ",))


def _same_rows(case: dict[str, Any], rows: list[Any]) -> bool:
    """Lists that come out of a graph may be in any order; LIMIT without ORDER BY promises only the number of rows."""
    if len(rows) != len(case["rows"]) or case.get("unspecified"):
        return len(rows) == len(case["rows"])

    def texts(rows: list[Any], loose: bool) -> list[str]:
        lines = [encoding().text(sorted_lists(row) if loose else row) for row in rows]
        return lines if case["ordered"] else sorted(lines)

    same = texts(rows, loose=False) == texts(case["rows"], loose=False)
    return same or (case["setup"] is not None and texts(rows, loose=True) == texts(case["rows"], loose=True))


def _same_notifications(case: dict[str, Any], summary: Any) -> bool:
    left_out = _UNKNOWN_NAMES if "kind" in case else ()
    got = [
        (status.gql_status, status.raw_severity, status.raw_classification, _position(status.position))
        for status in summary.gql_status_objects
        if status.is_notification and status.gql_status not in left_out
    ]
    wanted = [
        (note["gql"], note.get("severity"), note.get("category"), str(note.get("position")))
        for note in case.get("notifications", ())
        if note["gql"] not in left_out
    ]
    return sorted(map(str, got)) == sorted(map(str, wanted))


def _position(position: Any) -> str:
    return str([position.line, position.column, position.offset] if position else None)


def _without_identifiers(message: str) -> str:
    bare = () if "(line " in message else _BARE_IDENTIFIERS  # a quoted statement has numbers of its own
    for pattern, replacement in (*_IDENTIFIERS, *bare):
        message = pattern.sub(replacement, message)
    return message


def _shown(rows: list[Any]) -> str:
    return f"{len(rows)} rows {json.dumps(rows[:5], ensure_ascii=False)}"[:400]
