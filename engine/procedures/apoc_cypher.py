"""apoc.cypher.*, apoc.when, apoc.case, apoc.do.* and apoc.periodic.*: queries given as strings.

They run in their statement's transaction, and its summary does not count what they write. Batches of `apoc.periodic`
are therefore committed together with the statement, not one by one.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from hoplite.engine.batch import UNIT
from hoplite.engine.context import Counters, Execution
from hoplite.engine.functions.apoc import apoc_function
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import CypherError
from hoplite.lazy import lazy_pattern

Parameters = Mapping[str, Any] | None
FORBIDDEN = "Neo.ClientError.Security.Forbidden"
_FAILURE = "org.neo4j.graphdb.QueryExecutionException"
_STATEMENT = "Neo.ClientError.Statement."
_JAVA_CLASSES = {
    _STATEMENT + "SyntaxError": "org.neo4j.exceptions.SyntaxException",
    _STATEMENT + "ArithmeticError": "org.neo4j.exceptions.ArithmeticException",
    _STATEMENT + "ParameterMissing": "org.neo4j.exceptions.ParameterNotFoundException",
    _STATEMENT + "TypeError": "org.neo4j.exceptions.CypherTypeException",
    _STATEMENT + "ArgumentError": "org.neo4j.exceptions.InvalidArgumentException",
    _STATEMENT + "EntityNotFound": "org.neo4j.exceptions.EntityNotFoundException",
}
_CAUSE = lazy_pattern(r"Failed to invoke (?:procedure|function) `[^`]*`: Caused by: ([\w.$]+): (.*)", re.DOTALL)


def query_failed(procedure: str, error: CypherError) -> CypherError:
    """The error of a procedure whose query failed, which names only the innermost cause."""
    message = error.message or ""
    inner = _CAUSE.fullmatch(message)
    if inner is not None:
        return call_failed(procedure, inner[1], inner[2])
    if message == "long overflow":
        return call_failed(procedure, "java.lang.ArithmeticException", message)
    return call_failed(procedure, _JAVA_CLASSES.get(error.code or "", _FAILURE), message)


def run_query(
    context: Execution,
    procedure: str,
    text: str,
    parameters: Parameters,
    *,
    may_write: bool = False,
    may_change_schema: bool = False,
) -> Iterator[dict[str, Any]]:
    """The rows of a query as maps. As in APOC, its parameters are also variables at its beginning."""
    given = dict(parameters or {})
    whole = _with_variables(text, given)
    return run_statement(context, procedure, whole, given, may_write=may_write, may_change_schema=may_change_schema)


def query_columns(context: Execution, procedure: str, text: str, parameters: Parameters) -> tuple[str, ...]:
    """The columns of a query, before it runs."""
    given = dict(parameters or {})
    try:
        return tuple(context.database.prepare(_with_variables(text, given), context.graph, given).columns)
    except CypherError as error:
        raise query_failed(procedure, error) from error


def _with_variables(text: str, given: Mapping[str, Any]) -> str:
    """The query after a WITH that turns its parameters into variables."""
    named = ", ".join(f"$`{name}` AS `{name}`" for name in given)
    return f"WITH {named} {text}" if named else text


def run_statement(
    context: Execution,
    procedure: str,
    text: str,
    parameters: Mapping[str, Any],
    *,
    may_write: bool = False,
    may_change_schema: bool = False,
    counters: Counters | None = None,
) -> Iterator[dict[str, Any]]:
    """The rows of a statement as maps, in the current transaction; `counters` counts what it writes."""
    inner = context.nested(parameters, counters or Counters())
    try:
        prepared = context.database.prepare(text, context.graph, parameters)
        if (prepared.command is not None and not may_change_schema) or (prepared.writes and not may_write):
            kind = "Schema" if prepared.operator is None else "Write"
            raise CypherError(FORBIDDEN, f"{kind} operations are not allowed for user '' with FULL overridden by READ.")
        yield from _rows(inner, prepared)
    except CypherError as error:
        if error.code == FORBIDDEN:
            raise
        raise query_failed(procedure, error) from error


def _rows(inner: Execution, prepared: Any) -> Iterator[dict[str, Any]]:
    if prepared.mode == "EXPLAIN":
        return
    if prepared.command is not None:
        inner.database.run_command(prepared, inner)
        return
    for batch in prepared.operator.run(inner, UNIT):
        columns = [batch[name].objects() for name in prepared.columns]
        for values in zip(*columns, strict=True):
            yield dict(zip(prepared.columns, values, strict=True))


# --- one query ------------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.cypher.run(statement :: STRING, params :: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Runs a read-only query.",
    works_on_system=False,
)
def run(context: Execution, statement: str, parameters: Parameters) -> Iterator[Row]:
    """A map for each row of the query."""
    yield from ((row,) for row in run_query(context, "apoc.cypher.run", statement, parameters))


@cypher_procedure(
    "apoc.cypher.doIt(statement :: STRING, params :: MAP) :: (value :: MAP)",
    mode="WRITE",
    description="Runs a query that may write.",
    works_on_system=False,
)
def do_it(context: Execution, statement: str, parameters: Parameters) -> Iterator[Row]:
    """A map for each row of the query."""
    for row in run_query(context, "apoc.cypher.doIt", statement, parameters, may_write=True):
        yield (row,)


@cypher_procedure(
    "apoc.cypher.runWrite(statement :: STRING, params :: MAP) :: (value :: MAP)",
    mode="WRITE",
    description="Runs a query that may write.",
    works_on_system=False,
)
def run_write(context: Execution, statement: str, parameters: Parameters) -> Iterator[Row]:
    """A map for each row of the query."""
    for row in run_query(context, "apoc.cypher.runWrite", statement, parameters, may_write=True):
        yield (row,)


@apoc_function(
    "apoc.cypher.runFirstColumnSingle(statement :: STRING, params :: MAP) :: ANY",
    "Runs a query and returns the first column of its first row.",
    needs_context=True,
)
def first_column_single(context: Execution, statement: str, parameters: Parameters) -> Any:
    """Null if there is no row."""
    rows = run_query(context, "apoc.cypher.runFirstColumnSingle", statement, parameters)
    return next((next(iter(row.values())) for row in rows), None)


@apoc_function(
    "apoc.cypher.runFirstColumnMany(statement :: STRING, params :: MAP) :: LIST<ANY>",
    "Runs a query and returns its first column as a list.",
    needs_context=True,
)
def first_column_many(context: Execution, statement: str, parameters: Parameters) -> list[Any]:
    """All rows of the query."""
    rows = run_query(context, "apoc.cypher.runFirstColumnMany", statement, parameters)
    return [next(iter(row.values())) for row in rows]


# --- one of several queries -----------------------------------------------------------------------------------------


def _choose(
    context: Execution, procedure: str, statement: str | None, parameters: Parameters, may_write: bool
) -> Iterator[Row]:
    if statement is None:
        raise call_failed(procedure, "java.lang.NullPointerException", "the query is null")
    if not statement:
        yield ({},)
        return
    for row in run_query(context, procedure, statement, parameters, may_write=may_write):
        yield (row,)


def _decided(procedure: str, condition: bool | None) -> bool:
    if condition is None:
        message = (
            "class org.neo4j.values.storable.NoValue cannot be cast to class org.neo4j.values.storable.BooleanValue"
        )
        raise call_failed(procedure, "java.lang.ClassCastException", message)
    return condition


def _first_true(conditions: list[Any] | None, otherwise: str | None) -> str | None:
    given = conditions or []
    for condition, query in zip(given[::2], given[1::2], strict=False):
        if condition is None:
            raise ValueError("a condition is null")
        if condition is True:
            return query  # type: ignore[no-any-return]
    return otherwise


@cypher_procedure(
    "apoc.when(condition :: BOOLEAN, ifQuery :: STRING, elseQuery =  :: STRING, params = {} :: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Runs one of two read-only queries.",
    works_on_system=False,
)
def when(
    context: Execution, condition: bool | None, query: str, otherwise: str | None, parameters: Parameters
) -> Iterator[Row]:
    """The second if the condition is false; null is an error."""
    chosen = query if _decided("apoc.when", condition) else otherwise
    yield from _choose(context, "apoc.when", chosen, parameters, may_write=False)


@cypher_procedure(
    "apoc.do.when(condition :: BOOLEAN, ifQuery :: STRING, elseQuery :: STRING, params = {} :: MAP) :: (value :: MAP)",
    mode="WRITE",
    description="Runs one of two queries that may write.",
    works_on_system=False,
)
def do_when(
    context: Execution, condition: bool | None, query: str, otherwise: str | None, parameters: Parameters
) -> Iterator[Row]:
    """The second if the condition is false; null is an error."""
    chosen = query if _decided("apoc.do.when", condition) else otherwise
    yield from _choose(context, "apoc.do.when", chosen, parameters, may_write=True)


@cypher_procedure(
    "apoc.case(conditionals :: LIST<ANY>, elseQuery =  :: STRING, params = {} :: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Runs the query after the first condition that is true.",
    works_on_system=False,
)
def case(context: Execution, conditions: list[Any], otherwise: str | None, parameters: Parameters) -> Iterator[Row]:
    """Conditions and queries alternate in the list."""
    yield from _choose(context, "apoc.case", _first_true(conditions, otherwise), parameters, may_write=False)


@cypher_procedure(
    "apoc.do.case(conditionals :: LIST<ANY>, elseQuery =  :: STRING, params = {} :: MAP) :: (value :: MAP)",
    mode="WRITE",
    description="Runs the query after the first condition that is true; it may write.",
    works_on_system=False,
)
def do_case(context: Execution, conditions: list[Any], otherwise: str | None, parameters: Parameters) -> Iterator[Row]:
    """Conditions and queries alternate in the list."""
    yield from _choose(context, "apoc.do.case", _first_true(conditions, otherwise), parameters, may_write=True)


# --- a query for the rows of another --------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.periodic.iterate(cypherIterate :: STRING, cypherAction :: STRING, config :: MAP) :: (batches :: INTEGER, "
    "total :: INTEGER, timeTaken :: INTEGER, committedOperations :: INTEGER, failedOperations :: INTEGER, "
    "failedBatches :: INTEGER, retries :: INTEGER, errorMessages :: MAP, batch :: MAP, operations :: MAP, "
    "wasTerminated :: BOOLEAN, failedParams :: MAP, updateStatistics :: MAP)",
    mode="WRITE",
    description="Runs a query for each row of another, in batches.",
    works_on_system=False,
)
def iterate(context: Execution, source: str, action: str, config: dict[str, Any] | None) -> Iterator[Row]:
    """One row of statistics. A batch that fails is rolled back and reported; the others stay."""
    settings, began = config or {}, time.perf_counter()
    assert context.writer is not None, "a procedure of mode WRITE runs in a transaction that may write"
    given, size = settings.get("params") or {}, settings.get("batchSize", 10_000)
    if not isinstance(given, dict):
        raise call_failed("apoc.periodic.iterate", "java.lang.IllegalArgumentException", "params must be a map")
    if not isinstance(size, int) or isinstance(size, bool) or size < 1:
        message = "batchSize parameter must be > 0"
        raise call_failed("apoc.periodic.iterate", "java.lang.IllegalArgumentException", message)
    rows = list(run_query(context, "apoc.periodic.iterate", source, given))
    errors: dict[str, int] = {}
    changed = Counters()
    batches = failed_batches = failed = 0
    for first in range(0, max(len(rows), 1), size):
        rows_of_batch = rows[first : first + size]
        batches += 1
        savepoint, before = context.writer.savepoint(), changed.copy()
        try:
            _run_batch(context, action, given, rows_of_batch, settings.get("batchMode", "BATCH"), changed)
        except CypherError as error:
            context.writer.rollback_to(savepoint)
            changed.restore(before)
            failed_batches, failed = failed_batches + 1, failed + len(rows_of_batch)
            errors[error.message] = errors.get(error.message, 0) + 1
    done = len(rows) - failed
    thrown = {f"{_FAILURE}: {message}": times for message, times in errors.items()}
    counts = {"total": batches, "failed": failed_batches, "committed": batches - failed_batches, "errors": thrown}
    operations = {"total": len(rows), "failed": failed, "committed": done, "errors": errors}
    seconds = int(time.perf_counter() - began)
    yield (
        *(batches, len(rows), seconds, done, failed, failed_batches, 0, errors, counts, operations, False, {}),
        _statistics(changed),
    )


def _run_batch(
    context: Execution, action: str, given: dict[str, Any], rows: list[dict[str, Any]], mode: str, changed: Counters
) -> None:
    """One run over all rows, with their columns as variables, or, if asked for, one run for each row."""
    if not rows:
        return
    if mode == "BATCH_SINGLE":
        _write(context, action, {**given, "_batch": rows}, changed)
        return
    if mode == "SINGLE":
        for row in rows:
            named = ", ".join(f"$`{name}` AS `{name}`" for name in row)
            _write(context, f"WITH {named} {action}" if named else action, {**given, **row}, changed)
        return
    named = ", ".join(f"_batch.`{name}` AS `{name}`" for name in rows[0])
    _write(context, f"UNWIND $_batch AS _batch WITH {named} {action}", {**given, "_batch": rows}, changed)


def _write(context: Execution, text: str, given: Mapping[str, Any], changed: Counters) -> None:
    prepared = context.database.prepare(text, context.graph, given)
    if prepared.operator is None:
        raise CypherError(FORBIDDEN, "Schema operations are not allowed for user '' with FULL overridden by WRITE.")
    inner = context.nested(given, changed)
    for _ in prepared.operator.run(inner, UNIT):
        pass


def _statistics(changed: Counters) -> dict[str, int]:
    return {
        "nodesCreated": changed.nodes_created,
        "nodesDeleted": changed.nodes_deleted,
        "relationshipsCreated": changed.relationships_created,
        "relationshipsDeleted": changed.relationships_deleted,
        "propertiesSet": changed.properties_set,
        "labelsAdded": changed.labels_added,
        "labelsRemoved": changed.labels_removed,
    }


@cypher_procedure(
    "apoc.periodic.commit(statement :: STRING, params = {} :: MAP) :: (updates :: INTEGER, executions :: INTEGER, "
    "runtime :: INTEGER, batches :: INTEGER, failedBatches :: INTEGER, batchErrors :: MAP, failedCommits :: INTEGER, "
    "commitErrors :: MAP, wasTerminated :: BOOLEAN)",
    mode="WRITE",
    description="Runs a query repeatedly until it returns 0.",
    works_on_system=False,
)
def commit(context: Execution, statement: str, parameters: Parameters) -> Iterator[Row]:
    """One row of statistics. The number that the statement returns says how much it did."""
    if "limit" not in statement.lower():
        message = "the statement sent to apoc.periodic.commit must contain a `limit`"
        raise call_failed("apoc.periodic.commit", "java.lang.IllegalArgumentException", message)
    began, updates, executions, errors = time.perf_counter(), 0, 0, dict[str, int]()
    while True:
        context.check_time()
        done = 0
        with suppress(StopIteration):
            row = next(run_query(context, "apoc.periodic.commit", statement, parameters, may_write=True))
            done = int(next(iter(row.values()), 0) or 0)
        if not done:
            break
        updates, executions = updates + done, executions + 1
    seconds = int(time.perf_counter() - began)
    yield updates, executions, seconds, executions + 1, 0, errors, 0, {}, False
