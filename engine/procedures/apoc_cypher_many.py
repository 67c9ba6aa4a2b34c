"""apoc.cypher.runMany and the like: several statements in one string, schema changes, queries with a time limit.

They run in their statement's transaction; APOC gives each statement of runMany its own.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from hoplite.engine.context import Counters, Execution
from hoplite.engine.guard import Guarded
from hoplite.engine.procedures.apoc_cypher import Parameters, query_failed, run_query, run_statement
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import CypherError, Refused
from hoplite.lazy import lazy_pattern

_STATEMENT_END = lazy_pattern(r";\r?\n")
_SHELL = lazy_pattern(r"\s*:?\b(?:begin|commit|rollback)\b", re.IGNORECASE)
_NULL = "java.lang.NullPointerException"


def statements_of(text: str) -> list[str]:
    """The statements of a script: each ends with a semicolon at the end of a line. Shell commands are skipped."""
    found = []
    for part in _STATEMENT_END.split(text):
        begin = 0
        while (command := _SHELL.match(part, begin)) is not None:
            begin = command.end()
        if part[begin:].strip():
            found.append(part[begin:].strip())
    return found


def statistics(counters: Counters, rows: int, began: float) -> dict[str, int]:
    """What a statement changed, under APOC's names."""
    return {
        "rows": rows,
        "time": int((time.perf_counter() - began) * 1000),
        "nodesCreated": counters.nodes_created,
        "nodesDeleted": counters.nodes_deleted,
        "labelsAdded": counters.labels_added,
        "labelsRemoved": counters.labels_removed,
        "relationshipsCreated": counters.relationships_created,
        "relationshipsDeleted": counters.relationships_deleted,
        "propertiesSet": counters.properties_set,
        "constraintsAdded": counters.constraints_added,
        "constraintsRemoved": counters.constraints_removed,
        "indexesAdded": counters.indexes_added,
        "indexesRemoved": counters.indexes_removed,
    }


def _run_each(
    context: Execution, procedure: str, text: str | None, parameters: Parameters, config: Any, may_write: bool
) -> Iterator[Row]:
    """The rows of each statement, followed on request by one numbered -1 with its statistics."""
    if text is None:
        raise call_failed(procedure, _NULL, 'Cannot invoke "String.length()" because "s" is null')
    if parameters is None:
        raise call_failed(procedure, _NULL, 'Cannot invoke "java.util.Map.size()" because "map" is null')
    if config is None:
        message = 'Cannot invoke "java.util.Map.getOrDefault(Object, Object)" because "config" is null'
        raise call_failed(procedure, _NULL, message)
    reports = config.get("statistics", True) is not False
    for statement in statements_of(text):
        began, counters, count = time.perf_counter(), Counters(), 0
        if not may_write and _writes(context, procedure, statement, parameters):
            continue
        for row in run_statement(
            context,
            procedure,
            statement,
            dict(parameters),
            may_write=may_write,
            may_change_schema=may_write,
            counters=counters,
        ):
            yield count, row
            count += 1
        if reports:
            yield -1, statistics(counters, count, began)


def _writes(context: Execution, procedure: str, statement: str, parameters: Mapping[str, Any]) -> bool:
    try:
        return bool(context.database.prepare(statement, context.graph, parameters).writes)
    except CypherError as error:
        raise query_failed(procedure, error) from error


_MANY = "(statement :: STRING, params :: MAP, config = {} :: MAP) :: (row :: INTEGER, result :: MAP)"


@cypher_procedure(
    f"apoc.cypher.runMany{_MANY}",
    mode="WRITE",
    description="Runs each statement in a string; they may write and change the schema.",
    works_on_system=False,
)
def run_many(context: Execution, text: str, parameters: Parameters, config: dict[str, Any]) -> Iterator[Row]:
    """Statements end with a semicolon at the end of a line."""
    return _run_each(context, "apoc.cypher.runMany", text, parameters, config, True)


@cypher_procedure(
    f"apoc.cypher.runManyReadOnly{_MANY}",
    description="Runs each read-only statement in a string.",
    works_on_system=False,
)
def run_many_read_only(context: Execution, text: str, parameters: Parameters, config: dict[str, Any]) -> Iterator[Row]:
    """Statements that write are skipped silently, as in APOC."""
    return _run_each(context, "apoc.cypher.runManyReadOnly", text, parameters, config, False)


@cypher_procedure(
    "apoc.cypher.runSchema(statement :: STRING, params :: MAP) :: (value :: MAP)",
    mode="SCHEMA",
    description="Runs a statement that may change the schema.",
    works_on_system=False,
)
def run_schema(context: Execution, statement: str, parameters: Parameters) -> Iterator[Row]:
    """A map for each of its rows."""
    procedure = "apoc.cypher.runSchema"
    for row in run_query(context, procedure, statement, parameters, may_write=True, may_change_schema=True):
        yield (row,)


@cypher_procedure(
    "apoc.cypher.runTimeboxed(statement :: STRING, params :: MAP, timeout :: INTEGER) :: (value :: MAP)",
    mode="DEFAULT",
    description="Runs a read-only query, for at most a number of milliseconds.",
    works_on_system=False,
)
def run_timeboxed(
    context: Execution, statement: str, parameters: Parameters, milliseconds: int | None
) -> Iterator[Row]:
    """The rows that arrive in time. As in APOC, a query that fails has none."""
    procedure = "apoc.cypher.runTimeboxed"
    if milliseconds is None:
        message = (
            "class org.neo4j.values.storable.NoValue cannot be cast to class org.neo4j.values.storable.NumberValue "
            "(org.neo4j.values.storable.NoValue and org.neo4j.values.storable.NumberValue are in unnamed module of "
            "loader 'app')"
        )
        raise call_failed(procedure, "java.lang.ClassCastException", message)
    if milliseconds <= 0:
        return
    end = time.monotonic() + milliseconds / 1000
    inner = context.until(end if context.deadline is None else min(end, context.deadline))
    yield from ((row,) for row in _rows_in_time(context, inner, procedure, statement, parameters or {}))


def _rows_in_time(
    outer: Execution, inner: Execution, procedure: str, statement: str, parameters: Mapping[str, Any]
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    try:
        with Guarded(inner):
            for row in run_query(inner, procedure, statement, parameters):
                inner.check_time()
                rows.append(row)
    except Refused:
        raise  # a query that is not allowed to run does raise
    except CypherError:
        outer.check_time()  # the statement itself was stopped, not just the query
    return rows
