"""One query on one side, in a transaction that is rolled back: columns, canonical rows, counters, or an error."""

from __future__ import annotations

import dataclasses
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from neo4j import Driver
from neo4j.exceptions import ClientError, DriverError, Neo4jError

from hoplite.differ.shape import shape_of
from hoplite.differ.values import Canonical, Name, canonical
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hoplite.api.database import Database

Row = tuple[Canonical, ...]
_TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration")
_GONE = ("ServiceUnavailable", "SessionExpired", "IncompleteCommit")
_TOO_MANY = "Neo.ClientError.Statement.ResultLimitExceeded"
_IDS = lazy_pattern(r"id\s*\(", re.IGNORECASE)
_WHOLE_GRAPH = (
    "MATCH (n) RETURN n, labels(n), properties(n)",
    "MATCH (a)-[r]->(b) RETURN r, a, b, type(r), properties(r)",
)


@dataclass(frozen=True, slots=True)
class Failure:
    """An error by its code."""

    code: str
    message: str

    @property
    def is_limit(self) -> bool:
        """Whether it is only a time or row limit, or a lost connection."""
        return self.code.endswith(_TIMED_OUT) or self.code == _TOO_MANY or self.code in _GONE


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gave. `graph` is the graph after a write, `records` the rows as the driver gave them, if
    requested."""

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    counters: Mapping[str, int] | None = None
    notifications: tuple[str, ...] = ()
    graph: tuple[Row, ...] = ()
    failure: Failure | None = None
    seconds: float = 0.0
    records: tuple[tuple[Any, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a query may take, and how many rows it may give."""

    timeout: float | None = 60.0
    max_rows: int = 200_000
    max_graph: int = 2_000
    """The largest graph that is compared after a write, in rows changed or not."""
    keep_records: bool = False
    """Whether answers also hold the driver's values."""


class Side(Protocol):
    """A database that answers."""

    def answer(self, query: str, parameters: Mapping[str, Any], limits: Limits) -> Answer:
        """Run a query and undo its changes."""


class HopliteSide:
    """Answers of a Hoplite database; `name` identifies the entities that both sides have."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def _name(self, entity: Any) -> str | None:
        return None if self._db.source_ids is None else self._db.source_ids.of(entity)

    def answer(self, query: str, parameters: Mapping[str, Any], limits: Limits) -> Answer:
        began = time.perf_counter()
        try:
            transaction = self._db.begin(timeout=limits.timeout, max_rows=limits.max_rows)
            try:
                result = transaction.run(query, dict(parameters))
                answer = read_answer(result, lambda text: transaction.run(text), self._name, limits, began)
            finally:
                transaction.rollback()
        except (Neo4jError, DriverError) as error:
            return failed_answer(error, began)
        return self._with_source_ids(query, answer)

    def _with_source_ids(self, query: str, answer: Answer) -> Answer:
        """The values of `id()` and `elementId()`, converted to the source's."""
        source = self._db.source_ids
        if source is None or _IDS.search(query) is None:
            return answer
        uuid, shape = self._db.uuid, shape_of(query)
        numbers = dict.fromkeys(shape.node_ids, source.nodes)
        numbers |= dict.fromkeys(shape.relationship_ids, source.relationships)

        def translated(row: Row) -> Row:
            values = [_with_source_texts(value, lambda text: source.of_text(text, uuid)) for value in row]
            for column, entities in numbers.items():
                tag, *content = values[column]
                if tag == "integer" and (number := entities.number(content[0])) is not None:
                    values[column] = ("integer", number)
            return tuple(values)

        return dataclasses.replace(answer, rows=tuple(map(translated, answer.rows)))


class Neo4jSide:
    """Answers of a server; entities are identified by their element ids if the import kept them."""

    def __init__(self, driver: Driver, database: str | None, db: Database) -> None:
        self._driver = driver
        self._database = database
        self._db = db

    def _name(self, entity: Any) -> str | None:
        return None if self._db.source_ids is None else self._db.source_ids.known(entity)

    def answer(self, query: str, parameters: Mapping[str, Any], limits: Limits) -> Answer:
        began = time.perf_counter()
        try:
            with (
                self._driver.session(database=self._database) as session,
                session.begin_transaction(timeout=limits.timeout) as transaction,
            ):
                try:
                    result = transaction.run(query, dict(parameters))
                    return read_answer(result, lambda text: transaction.run(text), self._name, limits, began)
                finally:
                    transaction.rollback()
        except (Neo4jError, DriverError) as error:
            return failed_answer(error, began)


def read_answer(result: Any, ask: Callable[[str], Any], name: Name, limits: Limits, began: float) -> Answer:
    """A result in canonical form; `ask` runs another query in the same transaction, to see the graph."""
    rows: list[Row] = []
    records: list[tuple[Any, ...]] = []
    columns = tuple(result.keys())
    for record in result:
        rows.append(_row(record, name))
        if limits.keep_records:
            records.append(tuple(value for _, value in record.items()))
        if len(rows) > limits.max_rows:
            raise ClientError._basic_hydrate(neo4j_code=_TOO_MANY, message=f"More than {limits.max_rows} rows")
    summary = result.consume()
    seconds = time.perf_counter() - began
    counters = {key: count for key, count in vars(summary.counters).items() if count and not key.startswith("_")}
    graph = _graph(ask, name, limits) if counters else ()
    notifications = tuple(sorted({_notification(status) for status in summary.gql_status_objects} - {""}))
    return Answer(columns, tuple(rows), counters, notifications, graph, None, seconds, tuple(records))


def _with_source_texts(value: Any, translate: Callable[[str], str]) -> Any:
    if isinstance(value, tuple):
        if value[:1] == ("string",):
            return ("string", translate(value[1]))
        return tuple(_with_source_texts(part, translate) for part in value)
    return value


def _row(record: Any, name: Name) -> Row:
    # A record raises for values that the driver cannot read; read as a tuple it does not.
    return tuple(canonical(value, name) for _, value in record.items())


def _graph(ask: Any, name: Name, limits: Limits) -> tuple[Row, ...]:
    """All nodes and relationships with their content; nothing if there are too many."""
    rows: list[Row] = []
    for query in _WHOLE_GRAPH:
        for record in ask(query):
            rows.append(_row(record, name))
            if len(rows) > limits.max_graph:
                return ()
    return tuple(rows)


def _notification(status: Any) -> str:
    if status.gql_status[:2] in ("00", "02"):
        return ""
    return f"{status.gql_status} {status.position or ''}".strip()


def failed_answer(error: Neo4jError | DriverError, began: float) -> Answer:
    """The answer for an error."""
    code = getattr(error, "code", None) or type(error).__name__
    message = getattr(error, "message", None) or str(error)
    return Answer(failure=Failure(code, message), seconds=time.perf_counter() - began)
