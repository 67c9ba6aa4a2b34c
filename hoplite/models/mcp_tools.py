"""What the tools of the Model Context Protocol server do, without the protocol: arguments in, JSON texts out.

What cannot be done raises `ToolFailed` with a message for the model. Every tool works within the settings: a client
cannot raise a limit.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from hoplite.allowance import Allowance, deadline_after
from hoplite.engine.khop import SIDES
from hoplite.errors import driver_errors
from hoplite.models.mcp_entities import find_entities, fulltext_indexes
from hoplite.models.schema_text import Form, token_count
from hoplite.models.untrusted import Answer
from hoplite.models.untrusted_judge import WRITE_KINDS
from hoplite.planner.explain import explain

if TYPE_CHECKING:
    from hoplite.api.database import Database

_BYTES_PER_TOKEN = 3.5
_MOST_HOPS = 6
_MOST_NAMES = 20
_MOST_ENTITIES = 100
_DIRECTIONS = tuple(SIDES)


class ToolFailed(Exception):
    """A tool cannot do what it was asked to; the message says why."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The limits of all tools."""

    write: bool = False
    tokens: int = 6_000  # of an answer
    rows: int = 1_000
    seconds: float = 10.0
    memory: str | int = "256MB"
    estimated_rows: float = 10_000_000


class Tools:
    """The tools for one database; another thread sets `stop` when the client gives up."""

    def __init__(self, db: Database, settings: Settings) -> None:
        self._db = db
        self._settings = settings

    def schema(self, question: str | None, form: str) -> str:
        """The schema of the graph, cut to the budget."""
        if form not in get_args(Form):
            raise ToolFailed(f"form is {form!r}, and can be {', '.join(get_args(Form))}.")
        return self._db.schema_text(question, form=form, max_tokens=self._settings.tokens)  # type: ignore[arg-type]

    def read(self, query: str, parameters: dict[str, Any], cursor: str | None, stop: threading.Event) -> str:
        """The rows of a statement that reads."""
        return self._told(self._run(query, parameters, cursor, stop))

    def write(self, query: str, parameters: dict[str, Any], stop: threading.Event) -> str:
        """The rows of a statement that may write, and what it changed."""
        if not self._settings.write:
            raise ToolFailed("This server does not write.")
        return self._told(self._run(query, parameters, None, stop, writes=WRITE_KINDS))

    def explain(self, query: str, parameters: dict[str, Any], stop: threading.Event) -> str:
        """The plan of a statement, without running it."""
        allowance = Allowance(deadline_after(self._settings.seconds), stop)
        with driver_errors():
            graph = self._db._graph.snapshot()
            prepared = self._db._prepare(query, graph, parameters, allowance, check_parameters=False)
            plan = "" if prepared.plan is None else explain(prepared.plan)
        kinds = {"r": "reads", "w": "writes", "rw": "reads and writes", "s": "changes the schema"}
        kind = kinds[prepared.query_type] if prepared.writes else "reads"
        lines = [f"The statement {kind}.", plan or "It is a command, which has no plan."]
        lines += [f"{note.severity.lower()}: {note.description}" for note in prepared.notifications]
        return self._cut("\n".join(lines))

    def repair(self, query: str, parameters: dict[str, Any]) -> str:
        """The statement with everything fixed that is provably wrong."""
        return json.dumps(self._db.repair(query, parameters).as_dict(), ensure_ascii=False)

    def find(self, names: Sequence[str], label: str | None, limit: int, stop: threading.Event) -> str:
        """The nodes that names may refer to, the best first."""
        if not names or len(names) > _MOST_NAMES:
            raise ToolFailed(f"Give 1 to {_MOST_NAMES} names.")
        most = max(1, min(limit, _MOST_ENTITIES))
        graph = self._db._graph.snapshot()
        if label is not None and not graph.known_label(label):
            raise ToolFailed(f"There is no label {label!r}. The labels are {', '.join(sorted(graph.labels_in_use()))}.")
        found = {name: self._found(name, label, most, len(names), stop) for name in names}

        def document(count: int) -> dict[str, Any]:
            return {name: {**one, "nodes": one["nodes"][:count]} for name, one in found.items()}

        return self._fitting(document, most)

    def neighbourhood(
        self, ids: Sequence[str], hops: int, types: Sequence[str], direction: str, limit: int, stop: threading.Event
    ) -> str:
        """The nodes within some hops, each with one shortest path as evidence."""
        if not 1 <= hops <= _MOST_HOPS:
            raise ToolFailed(f"hops can be 1 to {_MOST_HOPS}.")
        if direction not in _DIRECTIONS:
            raise ToolFailed(f"direction can be {', '.join(_DIRECTIONS)}.")
        options = {"direction": direction} | ({"types": list(types)} if types else {})
        answer = self._run(
            "MATCH (seed) WHERE elementId(seed) IN $ids WITH collect(seed) AS seeds "
            "CALL hop.paths(seeds, $hops, $options) YIELD path RETURN path LIMIT $limit",
            {"ids": list(ids), "hops": hops, "options": options, "limit": max(1, min(limit, self._settings.rows))},
            None,
            stop,
        )
        paths = [row[0] for row in answer.rows]
        more = {"truncated": "There is more: ask for fewer hops, or for types."} if answer.truncated else {}
        return self._fitting(lambda count: _subgraph(paths[:count]) | more, len(paths))

    # --- inside ------------------------------------------------------------------------------------------------

    def _found(self, name: str, label: str | None, most: int, names: int, stop: threading.Event) -> dict[str, Any]:
        graph = self._db._graph.snapshot()
        search = find_entities(graph, name, label, most, self._settings.seconds / names)
        positions = np.array([one.node for one in search.found], np.int64)
        ids, labels = graph.node_ids(positions).tolist(), graph.label_sets(positions)
        entries: list[dict[str, Any]] = [
            {
                "elementId": f"4:{graph.uuid}:{node_id}",
                "labels": list(of),
                "property": one.key,
                "value": one.value,
                "match": one.how,
                "score": one.score,
            }
            for one, node_id, of in zip(search.found, ids, labels, strict=True)
        ]
        entries += self._from_fulltext(graph, name, label, most, {entry["elementId"] for entry in entries}, stop)
        return {"nodes": entries[:most]} | (
            {} if search.complete else {"incomplete": "There was not enough time to search all texts."}
        )

    def _run(
        self,
        query: str,
        parameters: dict[str, Any],
        cursor: str | None,
        stop: threading.Event,
        writes: Sequence[str] = (),
    ) -> Answer:
        settings = self._settings
        answer = self._db.run_untrusted(
            query,
            parameters,
            rows=settings.rows,
            bytes=int(settings.tokens * _BYTES_PER_TOKEN),
            seconds=settings.seconds,
            memory=settings.memory,
            estimated_rows=settings.estimated_rows,
            writes=writes,
            cursor=cursor,
            stop=stop,
        )
        if answer.error is not None:
            hints = "".join(f"\nHint: {hint}" for hint in answer.error.get("hints", ()))
            raise ToolFailed(f"{answer.error['code']}: {answer.error['message']}{hints}")
        if answer.truncated and not answer.rows and not answer.changes:
            raise ToolFailed(str(answer.reason))
        return answer

    def _told(self, answer: Answer) -> str:
        document: dict[str, Any] = {"columns": answer.columns, "rows": answer.rows}
        if answer.changes:
            document["changes"] = answer.changes
        if answer.truncated:
            document["truncated"] = answer.reason
            if answer.cursor is not None:
                document["cursor"] = answer.cursor
                document["hint"] = (
                    "For the next rows call again with the same query and params and this cursor. Fewer columns, "
                    "properties instead of nodes, an aggregation or a LIMIT make the answer shorter."
                )
        if answer.warnings:
            document["warnings"] = [one["message"] for one in answer.warnings]
        return json.dumps(document, ensure_ascii=False, allow_nan=False)

    def _from_fulltext(
        self, graph: Any, name: str, label: str | None, most: int, known: set[str], stop: threading.Event
    ) -> list[dict[str, Any]]:
        """What full-text indexes find in addition."""
        found: list[dict[str, Any]] = []
        words = " ".join(word for word in "".join(c if c.isalnum() else " " for c in name).split())
        for index in fulltext_indexes(graph, label) if words else ():
            answer = self._run(
                "CALL db.index.fulltext.queryNodes($index, $words, {limit: $most}) YIELD node, score "
                "RETURN elementId(node), labels(node), properties(node), score",
                {"index": index, "words": words.lower(), "most": most},
                None,
                stop,
            )
            for element_id, labels, properties, score in answer.rows:
                if element_id not in known and (label is None or label in labels):
                    known.add(element_id)
                    entry = {"elementId": element_id, "labels": labels, "properties": properties}
                    found.append({**entry, "match": f"full text of {index}", "relevance": round(score, 3)})
        return found

    def _cut(self, text: str) -> str:
        most = int(self._settings.tokens * _BYTES_PER_TOKEN)
        return text if len(text.encode()) <= most else text.encode()[:most].decode(errors="ignore") + "\n... (cut)"

    def _fitting(self, make: Callable[[int], dict[str, Any]], count: int) -> str:
        """The document with this many entries as JSON, or with as many as fit the budget."""

        def text(entries: int) -> str:
            left_out = {} if entries == count else {"left_out": "Not everything fits: ask for less at once."}
            return json.dumps(make(entries) | left_out, ensure_ascii=False, allow_nan=False)

        low, high = 0, count
        while low < high:
            middle = (low + high + 1) // 2 if (low, high) != (0, count) else count
            if token_count(text(middle)) <= self._settings.tokens:
                low = middle
            else:
                high = middle - 1
        return text(low)


def _subgraph(paths: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Paths as chains of names, and each of their nodes and relationships once."""
    nodes: dict[str, dict[str, Any]] = {}
    found: list[dict[str, Any]] = []
    for path in paths:
        for node in path["nodes"]:
            nodes[node["elementId"]] = {"labels": node["labels"], "properties": node["properties"]}
        steps: list[dict[str, Any]] = []
        for before, one in zip(path["nodes"], path["relationships"], strict=False):
            is_forward = one["startNodeElementId"] == before["elementId"]
            step = {"type": one["type"], "direction": "out" if is_forward else "in"}
            steps.append(step | ({"properties": one["properties"]} if one["properties"] else {}))
        chain = [node["elementId"] for node in path["nodes"]]
        found.append({"to": chain[-1], "hops": len(steps), "nodes": chain, "relationships": steps})
    return {"paths": found, "nodes": nodes}
