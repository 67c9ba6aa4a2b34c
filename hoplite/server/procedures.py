"""What the console needs from the server besides Cypher, as procedures, so that Bolt is the only way in.

    hoplite.server()      what this server offers
    hoplite.schema()      labels, types and how they are connected, with counts
    hoplite.check()       what is wrong with a query
    hoplite.repair()      the query with what is certain fixed
    hoplite.ask()         a question in plain words, if a model is configured
    hoplite.diff()        a query here and on a Neo4j, if the server may connect to it

Positions in a text are counted like JavaScript and Neo4j do, in UTF-16 units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from hoplite.api.database import Database
from hoplite.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hoplite.differ.answers import Answer, Row

_ROWS_SHOWN = 1_000
_DIFF_SECONDS, _DIFF_ROWS = 30.0, 100_000


@dataclass(frozen=True, slots=True)
class Offer:
    """What a server offers its clients besides running statements."""

    read_only: bool = False
    model: str | None = None  # NAME@URL of an OpenAI-compatible endpoint
    diff: bool = False  # whether it may connect to another server


def add_procedures(database: Database, offer: Offer) -> None:
    """Register them with a database."""
    procedures = _Procedures(database, offer)
    for signature, function in (
        ("hoplite.server() :: (version :: STRING, readOnly :: BOOLEAN, model :: STRING, diff :: BOOLEAN)",
         procedures.server),
        ("hoplite.schema() :: (labels :: MAP, relationshipTypes :: MAP, propertyKeys :: LIST<STRING>, "
         "connections :: LIST<MAP>, labelKeys :: MAP, typeKeys :: MAP)", procedures.schema),
        ("hoplite.check(query :: STRING, parameters = {} :: MAP) :: (kind :: STRING, start :: INTEGER, "
         "end :: INTEGER, text :: STRING, message :: STRING, suggestions :: LIST<STRING>)", procedures.check),
        ("hoplite.repair(query :: STRING, parameters = {} :: MAP) :: (query :: STRING, changes :: LIST<MAP>, "
         "problems :: LIST<MAP>)", procedures.repair),
        ("hoplite.ask(question :: STRING) :: (cypher :: STRING, changes :: LIST<STRING>, columns :: LIST<STRING>, "
         "rows :: LIST<LIST<ANY>>, error :: STRING, evidence :: MAP, attempts :: LIST<MAP>, seconds :: MAP)",
         procedures.ask),
        ("hoplite.diff(query :: STRING, uri :: STRING, options = {} :: MAP) :: (verdict :: STRING, reason :: STRING, "
         "similarity :: FLOAT, hoplite :: MAP, neo4j :: MAP)", procedures.diff),
    ):  # fmt: skip
        database.register_procedure(signature, function)


class _Procedures:
    def __init__(self, database: Database, offer: Offer) -> None:
        self._database = database
        self._offer = offer

    def server(self) -> Iterator[Mapping[str, Any]]:
        from hoplite import __version__

        model = None if self._offer.model is None else self._offer.model.partition("@")[0]
        yield {"version": __version__, "readOnly": self._offer.read_only, "model": model, "diff": self._offer.diff}

    def schema(self) -> Iterator[Mapping[str, Any]]:
        found, graph = self._database.schema(), self._database._graph.snapshot()
        names = ("start", "type", "end", "count")
        yield {
            "labels": found["labels"],
            "relationshipTypes": found["relationship_types"],
            "propertyKeys": found["property_keys"],
            "connections": [dict(zip(names, connection, strict=True)) for connection in found["connections"]],
            "labelKeys": {name: sorted(graph.keys_of_label(name)) for name in found["labels"]},
            "typeKeys": {name: sorted(graph.keys_of_type(name)) for name in found["relationship_types"]},
        }

    def check(self, query: str, parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        found = self._database.check(query, parameters or {})
        place = _places(query)
        for problem in found.as_dict()["problems"]:
            yield _placed(problem, place)

    def repair(self, query: str, parameters: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        mended = self._database.repair(query, parameters or {})
        made = mended.as_dict()
        before, after = _places(query), _places(mended.query)
        yield {
            "query": mended.query,
            "changes": [_placed(change, before) for change in made["changes"]],
            "problems": [_placed(problem, after) for problem in made["problems"]],
        }

    def ask(self, question: str) -> Iterator[Mapping[str, Any]]:
        if self._offer.model is None:
            raise ValueError("No model is configured: start the server with --model NAME@URL.")
        asked = self._database.ask(question, self._offer.model)
        said = json.loads(json.dumps(asked.to_dict(), default=str))
        error = said["rows"]["error"]
        yield {
            "cypher": said["cypher"],
            "changes": said["changes"],
            "columns": said["rows"]["columns"],
            "rows": said["rows"]["rows"],
            "error": None if error is None else error["message"],
            "evidence": said["evidence"],
            "attempts": said["attempts"],
            "seconds": said["seconds"],
        }

    def diff(self, query: str, uri: str, options: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
        if not self._offer.diff:
            raise ValueError("This server may not connect to others: start it with --diff.")
        from hoplite.differ.run import diff

        given = options or {}
        auth = (given["user"], given.get("password", "")) if given.get("user") else None
        report = diff(
            self._database,
            uri,
            [{"name": "query", "query": query, "parameters": given.get("parameters") or {}}],
            auth=auth,
            database=given.get("database"),
            timeout=float(given.get("timeout", _DIFF_SECONDS)),
            max_rows=int(given.get("maxRows", _DIFF_ROWS)),
        )
        (compared,) = report.comparisons
        yield {
            "verdict": compared.verdict.value,
            "reason": compared.reason,
            "similarity": compared.jaccard,
            "hoplite": _side(compared.hoplite, compared.only_hoplite),
            "neo4j": _side(compared.neo4j, compared.only_neo4j),
        }


def _side(answer: Answer, alone: Iterable[Row]) -> dict[str, Any]:
    """One side of a comparison: its first rows as texts, and which of them the other side lacks."""
    from collections import Counter

    from hoplite.differ.values import written

    lacking = Counter(alone)
    rows, marks = [], []
    for row in answer.rows[:_ROWS_SHOWN]:
        rows.append([written(value) for value in row])
        marks.append(lacking[row] > 0)
        lacking[row] -= 1
    failure = answer.failure
    return {
        "columns": list(answer.columns),
        "rows": rows,
        "marks": marks,
        "rowCount": len(answer.rows),
        "seconds": answer.seconds,
        "error": None if failure is None else {"code": failure.code, "message": failure.message},
    }


def _places(text: str) -> Callable[[int], int]:
    """From characters to UTF-16 units."""
    if text.isascii():
        return lambda place: place
    return lambda place: len(text[:place].encode("utf-16-le", "surrogatepass")) // 2


def _placed(found: Mapping[str, Any], place: Callable[[int], int]) -> dict[str, Any]:
    start, end = found["span"]
    rest = {key: value for key, value in found.items() if key != "span"}
    return {**rest, "start": place(start), "end": place(end)}
