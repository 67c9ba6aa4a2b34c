"""apoc.periodic.submit, repeat, countdown, list, cancel and truncate: statements that run in the background."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.procedures.apoc_cypher import query_failed
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import CypherError

_JOB = ":: (name :: STRING, delay :: INTEGER, rate :: INTEGER, done :: BOOLEAN, cancelled :: BOOLEAN)"
_NULL = "java.lang.NullPointerException"
_ROWS_AT_ONCE = 10_000


def _start(
    context: Execution,
    procedure: str,
    name: str | None,
    statement: str | None,
    config: dict[str, Any] | None,
    *,
    delay: int = 0,
    rate: int = 0,
    counts_down: bool = False,
) -> Iterator[Row]:
    """Check the statement and start the job."""
    parameters = dict((config or {}).get("params") or {})
    try:
        prepared = context.database.prepare(f"EXPLAIN {statement}", context.graph, parameters)
    except CypherError as error:
        raise query_failed(procedure, error) from error
    if prepared.command is not None:
        message = "Supported query types for the operation are [READ_ONLY, WRITE, READ_WRITE]"
        raise call_failed(procedure, "java.lang.RuntimeException", message)
    if name is None:
        raise call_failed(procedure, _NULL, 'Cannot invoke "String.hashCode()" because "this.name" is null')
    context.database.start_job(name, str(statement), parameters, delay, rate, counts_down)
    yield name, delay, rate, False, False


@cypher_procedure(
    f"apoc.periodic.submit(name :: STRING, statement :: STRING, params = {{}} :: MAP) {_JOB}",
    mode="WRITE",
    description="Runs a statement once in the background.",
    works_on_system=False,
)
def submit(context: Execution, name: str | None, statement: str | None, config: dict[str, Any] | None) -> Iterator[Row]:
    """The job. `params` in the map are its parameters."""
    return _start(context, "apoc.periodic.submit", name, statement, config)


@cypher_procedure(
    f"apoc.periodic.repeat(name :: STRING, statement :: STRING, rate :: INTEGER, config = {{}} :: MAP) {_JOB}",
    mode="WRITE",
    description="Runs a statement in the background at an interval in seconds.",
    works_on_system=False,
)
def repeat(
    context: Execution, name: str | None, statement: str | None, rate: int | None, config: dict[str, Any] | None
) -> Iterator[Row]:
    """The job, until it is cancelled."""
    procedure = "apoc.periodic.repeat"
    if rate is None or rate <= 0:
        raise call_failed(procedure, "java.lang.IllegalArgumentException", "The rate must be a number above 0")
    return _start(context, procedure, name, statement, config, rate=rate)


@cypher_procedure(
    f"apoc.periodic.countdown(name :: STRING, statement :: STRING, delay :: INTEGER) {_JOB}",
    mode="WRITE",
    description="Runs a statement in the background repeatedly, with a delay in seconds, until it returns 0.",
    works_on_system=False,
)
def countdown(context: Execution, name: str | None, statement: str | None, delay: int | None) -> Iterator[Row]:
    """The job. The first value that the statement returns says whether it continues."""
    procedure = "apoc.periodic.countdown"
    if delay is None or delay < 0:
        raise call_failed(procedure, "java.lang.IllegalArgumentException", "The delay must be a number, 0 or above")
    return _start(context, procedure, name, statement, None, delay=delay, counts_down=True)


@cypher_procedure(
    f"apoc.periodic.list() {_JOB}",
    mode="DEFAULT",
    description="Lists background jobs.",
    works_on_system=False,
)
def list_jobs(context: Execution) -> Iterator[Row]:
    """Finished jobs stay listed for a moment."""
    for job in context.database.jobs():
        yield job.name, 0, job.rate, job.is_done, False


@cypher_procedure(
    f"apoc.periodic.cancel(name :: STRING) {_JOB}",
    mode="DEFAULT",
    description="Cancels a background job.",
    works_on_system=False,
    has_effects=True,
)
def cancel(context: Execution, name: str | None) -> Iterator[Row]:
    """The job, if there was one. What its statement has not committed is rolled back."""
    if name is not None and context.database.cancel_job(name):
        yield name, 0, 0, True, True


@cypher_procedure(
    "apoc.periodic.truncate(config = {} :: MAP)",
    mode="SCHEMA",
    description="Deletes all nodes and relationships; with `dropSchema`, all indexes and constraints too.",
    works_on_system=False,
    admin=True,
)
def truncate(context: Execution, config: dict[str, Any] | None) -> Iterator[Row]:
    """No rows. Runs in the statement's transaction."""
    writer = writer_of(context)
    for read, delete in (
        (writer.relationships, writer.delete_relationship),
        (writer.nodes, writer.delete_node),
    ):
        for some in np.array_split(read(), range(_ROWS_AT_ONCE, len(read()), _ROWS_AT_ONCE)):
            context.check_time()
            for entity in some.tolist():
                delete(entity)
    if (config or {}).get("dropSchema") is True:
        for constraint in writer.schema.constraints:
            writer.drop_constraint(constraint.name)
        for index in writer.schema.indexes:
            writer.drop_index(index.name)
    yield from ()
