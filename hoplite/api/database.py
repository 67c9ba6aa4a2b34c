"""The database: open, run, session, begin, load. Everything here ends in the driver's types and errors."""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from hoplite.allowance import Allowance, allowing
from hoplite.api.backends import describe_backend, resolve_backend
from hoplite.api.for_models import ForModels
from hoplite.api.jobs import Jobs, join
from hoplite.api.limits import Judge, Limits, check_settings
from hoplite.api.result import Result
from hoplite.api.retrieval import Retrieval
from hoplite.api.services import DatabaseServices
from hoplite.api.transaction import Session, Transaction
from hoplite.api.transfers import Transfers
from hoplite.engine.batch import UNIT, Batch
from hoplite.engine.commands import run_command
from hoplite.engine.context import Execution, Setting
from hoplite.engine.families import Extended
from hoplite.engine.functions.registry import FUNCTIONS, Function
from hoplite.engine.guard import Guarded
from hoplite.engine.memory import Memory
from hoplite.engine.prepare import Prepared, Preparer
from hoplite.engine.procedures.registry import (
    PROCEDURES,
    Procedure,
    table_procedure,
    user_function,
    user_procedure,
)
from hoplite.engine.profile import Profile
from hoplite.errors import (
    ENGINE_ERRORS,
    CypherError,
    access_mode,
    as_driver_error,
    driver_errors,
    parameter_missing,
    transaction_timed_out,
)
from hoplite.grammar.limits import TextLimits
from hoplite.lazy import cached_property
from hoplite.planner.explain import PlanFormat, explain, has_hops
from hoplite.storage.disk.cache import byte_count
from hoplite.storage.graph import Graph
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.transaction import Transaction as GraphTransaction
from hoplite.values.driver import from_driver, from_parameters, to_driver
from hoplite.values.temporal import moment

if TYPE_CHECKING:
    from hoplite.engine.collected_queries import QueryCollector
    from hoplite.engine.hops.select import BackendName
    from hoplite.models.facts import Memory as Facts
    from hoplite.storage.disk.graph import Durability
    from hoplite.storage.disk.sharing import Lease
    from hoplite.storage.importers.source_ids import SourceIds


_TEXT = TextLimits()  # the default


# From this many relationships, compiled kernels are loaded before a query needs a hop.
_HOPS_ANTICIPATED = 10_000


class Database(Transfers, Retrieval, ForModels):
    """A graph and the engine over it. May be used from several threads."""

    _is_system = False  # it stands for a server's database `system`

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        timeout: float | None = None,
        max_rows: int | None = None,
        read_only: bool = False,
        partitions: int | None = None,
        backend: BackendName = "auto",
        device: str | None = None,
        import_folder: str | os.PathLike[str] | None = None,
        lenient: bool = False,
        memory: str | int | None = None,
        query_memory: str | int | None = None,
        max_text_length: int = _TEXT.max_text_length,
        max_tokens: int = _TEXT.max_tokens,
        max_nesting: int = _TEXT.max_nesting,
        durability: Durability | None = None,
    ) -> None:
        """In memory without a path or with ":memory:"; else in that folder, which is created if it does not exist.

        Everyone who opens a folder in one process shares its graph, and the last one to close closes it. `memory`,
        `partitions` and `durability` belong to the graph: another call that opens it must omit them or give the same
        values. The other settings belong to each `Database`; one opened with `read_only` cannot write, but sees what
        others write.

        `memory` ("512MB") is how much of a database on disk is held at once; `query_memory` is how much a statement may
        hold while it sorts, joins and aggregates (by default 70% of the machine's memory). Neither limits the arrays of
        a search, which take up to 30 bytes for each node of the graph (docs/SCALE.md).

        `timeout` is in seconds and starts with the call, so it includes parsing and planning. `max_text_length`
        (characters), `max_tokens` and `max_nesting` (levels of expressions, patterns and subqueries) bound the text of
        a statement. A long list of constants is one token, and a chain of operators one level.

        With `durability` "full", the default, a commit is physically on disk before it is acknowledged; "relaxed"
        leaves the moment to the operating system: a crash of the process still loses nothing, but a crash of the
        machine may lose the latest commits.

        `read_only` refuses statements that would write, and `max_rows` stops one that returns more rows.
        `import_folder` is the folder that LOAD CSV and APOC's imports may read files from: without one they may read
        none. With `lenient`, some forms that models write and Neo4j refuses are accepted, each with a notification.
        `partitions` is the number of pieces that the relationships of a graph are stored in: more than one for graphs
        larger than memory. `backend` runs the hops: "numba", "scipy", "numpy", "torch", or "auto", which uses compiled
        kernels once they are loaded. `device` is where Torch runs: "cpu", "cuda", "cuda:1"; by default the GPU if there
        is one.
        """
        if path == ":memory:":
            path = None
        texts = TextLimits(max_text_length, max_tokens, max_nesting)
        check_settings(partitions, memory, durability, texts)
        self._backend = resolve_backend(backend, device)
        memory_bytes = None if query_memory is None else byte_count(query_memory, "query_memory")
        self._limits = Limits(timeout, max_rows, read_only, memory_bytes=memory_bytes)
        self._import_folder = None if import_folder is None else os.fspath(import_folder)
        self._functions: Extended[Function] = Extended(FUNCTIONS)
        self._procedures: Extended[Procedure] = Extended(PROCEDURES)
        self._preparer = Preparer(self._functions, self._procedures, lenient, texts)
        self._transactions: weakref.WeakSet[Transaction] = weakref.WeakSet()  # those that may be open
        self._facts: Facts | None = None  # about the graph, for checks of queries
        self._closed = False
        self._opened = moment(time.time_ns())
        self._jobs = Jobs()
        self._collector: QueryCollector | None = None  # once `db.stats.collect` was called
        self._lease: Lease | None = None  # of a graph on disk
        self._path = None if path is None else os.fspath(path)
        if path is None:
            self._held_graph = Graph(partitions or 1)
        else:
            self._lease = self._open_folder(path, read_only, partitions, memory, durability)
            self._held_graph = self._lease.graph
            self._anticipate_hops(at_once=False)
        self.source_ids: SourceIds | None = None  # of the latest import from a Neo4j server

    def __repr__(self) -> str:
        where = "in memory" if self._path is None else f"at {self._path!r}"
        if self._closed:
            return f"<Database {where}, closed>"
        graph = self._graph.snapshot()
        mode = ", read-only" if self._limits.read_only else ""
        return f"<Database {where}{mode}: {graph.node_count:,} nodes, {graph.relationship_count:,} relationships>"

    def _repr_html_(self) -> str:
        from hoplite.api.display import database_html

        return database_html(repr(self), {} if self._closed else self.schema())

    @property
    def uuid(self) -> str:
        """The middle part of this database's element ids."""
        return self._graph.uuid

    def _open_folder(
        self,
        path: str | os.PathLike[str],
        read_only: bool,
        partitions: int | None,
        memory: str | int | None,
        durability: Durability | None,
    ) -> Lease:
        from hoplite.storage.disk.sharing import lease

        with driver_errors():
            return lease(Path(path), read_only=read_only, partitions=partitions, memory=memory, durability=durability)

    # --- running -----------------------------------------------------------------------------------------------

    def run(self, query: str, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> Result:
        """Run a statement in its own transaction. Writes are committed before this returns; reads stream."""
        return self._run_alone(query, {**(parameters or {}), **params}, self._limits)

    def session(
        self,
        *,
        timeout: float | None = None,
        max_rows: int | None = None,
        read_only: bool | None = None,
    ) -> Session:
        """A session with its own limits."""
        return Session(self, self._limits.within(timeout, max_rows, read_only))

    def begin(
        self,
        *,
        timeout: float | None = None,
        max_rows: int | None = None,
        read_only: bool | None = None,
    ) -> Transaction:
        """An explicit transaction; as a context manager it commits at the end and rolls back on an exception."""
        return Transaction(self, self._limits.within(timeout, max_rows, read_only))

    def explain(
        self, query: str, parameters: Mapping[str, Any] | None = None, /, *, format: PlanFormat = "text", **params: Any
    ) -> str:
        """The plan of a query as a table, without running it; with format="json", as JSON that `run_plan` accepts."""
        if format not in ("text", "json"):
            raise ValueError(f"The format of a plan is 'text' or 'json', not {format!r}.")
        with driver_errors():
            allowance = self._limits.allowance()
            given = from_parameters({**(parameters or {}), **params}, allowance)
            prepared = self._prepare(query, self._graph.snapshot(), given, allowance, check_parameters=False)
            if format == "json":
                with allowing(allowance):
                    return prepared.as_json()
            if prepared.plan is None:
                return ""
            table = explain(prepared.plan)
            return f"{table}\nHops run in: {describe_backend(self._backend)}" if has_hops(prepared.plan) else table

    def run_plan(self, plan: str | bytes, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> Result:
        """Run a plan that `explain` wrote as JSON, here or elsewhere, as `run` runs a query (docs/PLANS.md).

        A text that is not a plan, or was written by another version, raises `ValueError`.
        """
        return self._run_plan(plan, {**(parameters or {}), **params}, self._limits)

    def profile(self, query: str, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> str:
        """Run a statement like `run`, and return its plan with the rows and the time of each operator; on disk, also
        how many partitions and columns it loaded."""
        before = self._graph.loads()
        given = {**(parameters or {}), **params}
        with driver_errors():
            allowance = self._limits.allowance()
            converted = from_parameters(given, allowance)
            prepared = self._prepare(query, self._graph.snapshot(), converted, allowance)
            prepared = replace(prepared, mode="PROFILE")
            result = self._run_alone(prepared, given, self._limits, converted)
            result.consume()
            plan = "" if prepared.plan is None else explain(prepared.plan, result.measured)
        if before is None or (after := self._graph.loads()) is None:
            return plan
        return f"{plan}\nLoaded from disk: {after[0] - before[0]:,}, evicted: {after[1] - before[1]:,}"

    # --- what is in it -----------------------------------------------------------------------------------------

    def schema(self) -> dict[str, Any]:
        """Labels, types and keys in use with their counts, and how labels are connected."""
        graph = self._graph.snapshot()
        labels = {name: count for name in graph.labels_in_use() if (count := graph.label_count(name))}
        types = {name: count for name in graph.relationship_types_in_use() if (count := graph.type_count(name))}
        connections = [
            (start, name, end, count)
            for name in types
            for start in labels
            if graph.pattern_count(start, name, None)
            for end in labels
            if (count := graph.pattern_count(start, name, end))
        ]
        return {
            "labels": labels,
            "relationship_types": types,
            "property_keys": list(graph.property_keys()),
            "connections": connections,
        }

    def _deadline(self) -> Callable[[], None]:
        """Raises once the time allowed for a statement has passed."""
        timeout = self._limits.timeout
        if timeout is None:
            return _nothing
        end = time.monotonic() + timeout

        def check() -> None:
            if time.monotonic() > end:
                raise transaction_timed_out()

        return check

    # --- extending it ------------------------------------------------------------------------------------------

    def register_procedure(
        self,
        signature: str,
        rows_or_function: Iterable[Mapping[str, Any]] | Callable[..., Iterable[Mapping[str, Any]]],
        mode: str = "READ",
    ) -> None:
        """Add a procedure: rows over its inputs and outputs, or a function of the inputs that yields dicts."""
        with driver_errors():
            if callable(rows_or_function):
                procedure = user_procedure(signature, rows_or_function, mode, to_user=to_driver, from_user=from_driver)
            else:
                rows = [{k: from_driver(v) for k, v in row.items()} for row in rows_or_function]
                procedure = table_procedure(signature, rows, mode)
        self._procedures[procedure.signature.name] = procedure
        self._forget_statements()

    def register_function(self, signature: str, function: Callable[..., Any], *, deterministic: bool = False) -> None:
        """Add a scalar function, which takes and returns the driver's values.

        If it always gives the same result for the same arguments, `deterministic=True` allows plans that call it less
        often.
        """
        with driver_errors():
            made = user_function(
                signature, function, to_user=to_driver, from_user=from_driver, deterministic=deterministic
            )
        self._functions[made.signature.name.lower()] = made
        self._forget_statements()

    def _forget_statements(self) -> None:
        self._preparer.forget()
        self._facts = None

    # --- on disk -----------------------------------------------------------------------------------------------

    def checkpoint(self) -> None:
        """Fold what was written into a new snapshot and start a new log. This happens by itself when the log has
        grown."""
        self._refuse_if_read_only()
        with driver_errors():
            self._graph.checkpoint()

    def stats(self) -> dict[str, Any]:
        """The size of the database, how it is held in memory and on disk, and the cache's counters."""
        return self._graph.statistics()

    def verify(self) -> list[str]:
        """Read the whole database, and report what is damaged, a sentence each; nothing if all is well."""
        return self._graph.verify()

    # --- the end -----------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Close the database; a closed one can no longer be used."""
        if self._closed:
            return
        self._rest(for_good=True)
        self._closed = True
        if self._lease is not None:
            self._lease.close()

    def _rest(self, for_good: bool = False) -> None:
        """End everything in progress, without closing."""
        jobs = self._jobs.stop(for_good)
        for transaction in list(self._transactions):
            transaction._cut_off()
        join(jobs)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> str:
        raise TypeError("A database cannot be sent to another process: send its path, and open it there.")

    # --- inside ------------------------------------------------------------------------------------------------

    @property
    def _graph(self) -> Graph:
        if self._closed:
            raise RuntimeError("The database is closed.")
        return self._held_graph

    def _anticipate_hops(self, coming: int = 0, at_once: bool = True) -> None:
        if self._graph.snapshot().relationship_count + coming >= _HOPS_ANTICIPATED:
            from hoplite.engine.hops.select import anticipate

            anticipate(self._backend, at_once)

    def _begin_script(self) -> Transaction:
        return Transaction(self, self._limits, may_mix=True)

    def _refuse_if_read_only(self) -> None:
        if self._limits.read_only:
            with driver_errors():
                raise access_mode()

    def _execution(
        self,
        graph: Snapshot,
        parameters: Mapping[str, Any],
        writer: GraphTransaction | None,
        limits: Limits,
        allowance: Allowance,
    ) -> Execution:
        """The context of one run. Its time began with the call, when the allowance was made."""
        execution = Execution(
            graph,
            parameters,
            self._setting if limits.judge is None else replace(self._setting, import_folder=None),  # may read no files
            time.time_ns(),
            Memory(limits.memory_bytes),
            allowance.deadline,
            limits.stop,
            DatabaseServices(self, allowance, limits),
        )
        if writer is not None:
            execution.writer = writer
        return execution

    @cached_property
    def _setting(self) -> Setting:
        return Setting(
            self._functions, self._preparer.operators.run_plan, self._procedures, self._backend, self._import_folder
        )

    def _batches(self, prepared: Prepared, execution: Execution) -> Iterator[Batch]:
        """The rows of a statement; under PROFILE they are counted on the way."""
        operator = prepared.operator
        assert operator is not None
        if prepared.mode is None and self._collector is None:
            return operator.batches(execution, UNIT)
        if prepared.mode == "PROFILE":
            execution.profile = Profile()
        return self._collected(prepared, operator.run(execution, UNIT))

    def _collected(self, prepared: Prepared, batches: Iterator[Batch]) -> Iterator[Batch]:
        """The same batches, recorded if `db.stats.collect` is on."""
        return batches if self._collector is None else self._collector.watched(prepared.text, batches)

    def _explained(self, prepared: Prepared, given: Mapping[str, Any], limits: Limits) -> Result:
        """The result of a statement under EXPLAIN, which does not run."""
        return Result(prepared, self._collected(prepared, iter(())), None, given, limits.max_rows)

    def _prepare(
        self,
        text: str,
        graph: Snapshot,
        parameters: Mapping[str, Any],
        allowance: Allowance,
        check_parameters: bool = True,
        judge: Judge | None = None,
    ) -> Prepared:
        began = 0 if self._collector is None else time.perf_counter_ns()
        try:
            prepared = self._preparer.prepare(text, graph, parameters, allowance)
        except CypherError as error:
            error.hints = self._hints(text, parameters)
            raise
        if prepared.notifications:
            prepared = replace(prepared, notifications=self._hinted(prepared.notifications, text, parameters))
        if judge is not None:
            with allowing(allowance):
                judge(prepared, graph, parameters)
        wanted = prepared.parameters
        if check_parameters and not wanted.keys() <= parameters.keys() and prepared.mode != "EXPLAIN":
            raise _missing(wanted, parameters)
        if began and self._collector is not None:
            self._collector.prepared(time.perf_counter_ns() - began)
        return prepared

    def _read_plan(
        self, plan: str | bytes, given: Mapping[str, Any], allowance: Allowance
    ) -> tuple[Prepared, dict[str, Any]]:
        """A plan from JSON, ready to run, and its parameters as the engine's values."""
        from hoplite.engine.read_plans import prepare_plan

        with allowing(allowance):
            prepared = prepare_plan(plan, self._preparer.operators, self._procedures)
        converted = from_parameters(given, allowance)
        if not prepared.parameters.keys() <= converted.keys():
            raise _missing(prepared.parameters, converted)
        return prepared, converted

    def _run_plan(self, plan: str | bytes, given: Mapping[str, Any], limits: Limits) -> Result:
        with driver_errors():
            prepared, converted = self._read_plan(plan, given, limits.allowance())
            return self._run_alone(prepared, given, limits, converted)

    def _run_alone(
        self,
        statement: str | Prepared,
        given: Mapping[str, Any],
        limits: Limits,
        parameters: Mapping[str, Any] | None = None,
    ) -> Result:
        """Run in its own transaction; `parameters` are the given ones if they are already the engine's values."""
        graph = self._graph
        allowance = limits.allowance()
        try:  # not `with driver_errors()`: every statement passes through here
            if parameters is None:
                parameters = from_parameters(given, allowance)
            snapshot = graph.snapshot()
            if isinstance(statement, str):
                known = self._preparer.latest(statement, snapshot, parameters)
                if known is None or limits.judge is not None or self._collector is not None:
                    known = self._prepare(statement, snapshot, parameters, allowance, judge=limits.judge)
                prepared = known
            elif isinstance(statement, Prepared):
                prepared = statement
            else:
                raise TypeError(f"a query is text, not {type(statement).__name__}")
            if not prepared.only_reads:
                del snapshot  # the writer changes the graph in place if nothing holds it
                return self._run_with_effects(prepared, parameters, given, limits, allowance)
            execution = self._execution(snapshot, parameters, None, limits, allowance)
            batches = self._batches(prepared, execution)
            return Result(prepared, batches, execution, given, limits.max_rows, None, limits.hydrator)
        except ENGINE_ERRORS as error:
            raise as_driver_error(error) from None

    def _run_with_effects(
        self,
        prepared: Prepared,
        parameters: Mapping[str, Any],
        given: Mapping[str, Any],
        limits: Limits,
        allowance: Allowance,
    ) -> Result:
        """Run, in its own transaction, what does more than return rows, or less."""
        if prepared.mode == "EXPLAIN":
            return self._explained(prepared, given, limits)
        if not prepared.writes and prepared.command is None:
            execution = self._execution(self._graph.snapshot(), parameters, None, limits, allowance)
            batches = self._batches(prepared, execution)
            if not prepared.columns:  # nothing will be read from it: run it now
                with Guarded(execution):
                    batches = iter(list(batches))
            result = Result(prepared, batches, execution, given, limits.max_rows, None, limits.hydrator)
            if prepared.has_effects:
                result.detach()
            return result
        if limits.read_only and prepared.writes:
            raise access_mode()
        with allowing(allowance):
            transaction = self._graph.begin()
        try:
            result = self._run_in(prepared, transaction, parameters, given, limits, allowance)
            result.detach()
            transaction.commit()
        except BaseException:
            if transaction.is_open:
                transaction.rollback()
            raise
        return result

    def _run_in(
        self,
        prepared: Prepared,
        transaction: GraphTransaction,
        parameters: Mapping[str, Any],
        given: Mapping[str, Any],
        limits: Limits,
        allowance: Allowance,
        owner: Transaction | None = None,
    ) -> Result:
        execution = self._execution(transaction, parameters, transaction, limits, allowance)
        if owner is not None:
            execution.explicit, execution.transaction_began = True, owner._began
        if prepared.command is not None:
            batches = self._collected(prepared, run_command(prepared, execution))
        else:
            batches = self._batches(prepared, execution)
        if not prepared.columns:  # nothing is returned: run it for its effects
            with Guarded(execution):
                for _ in batches:
                    pass
            batches = iter(())
        return Result(prepared, batches, execution, given, limits.max_rows, owner, limits.hydrator)


def _missing(wanted: Iterable[str], parameters: Mapping[str, Any]) -> CypherError:
    return parameter_missing([name for name in wanted if name not in parameters])


def _nothing() -> None:
    """The check of a statement without a deadline."""
