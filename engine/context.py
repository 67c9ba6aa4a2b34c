"""What an execution has besides its plan: the graph it reads, parameters, clock, limits and counters."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from hoplite.engine.batch import Batch
from hoplite.engine.guard import Stopped
from hoplite.engine.memory import Memory
from hoplite.errors import CypherError, transaction_terminated, transaction_timed_out
from hoplite.lazy_dataclass import dataclass
from hoplite.values.temporal import DateTime, moment

if TYPE_CHECKING:
    from hoplite.engine.collected_queries import QueryCollector
    from hoplite.engine.functions.registry import Function
    from hoplite.engine.hops.select import BackendName
    from hoplite.engine.prepare import Prepared
    from hoplite.engine.procedures.registry import Procedure
    from hoplite.engine.profile import Profile
    from hoplite.planner.notifications import Notification
    from hoplite.storage.snapshot import Snapshot
    from hoplite.storage.transaction import Transaction


class Counters:
    """What a statement changed, under the driver's names. Most change nothing, so an object holds only what differs
    from these."""

    nodes_created: int = 0
    nodes_deleted: int = 0
    relationships_created: int = 0
    relationships_deleted: int = 0
    properties_set: int = 0
    labels_added: int = 0
    labels_removed: int = 0
    indexes_added: int = 0
    indexes_removed: int = 0
    constraints_added: int = 0
    constraints_removed: int = 0

    def changed(self) -> dict[str, int]:
        """Those that are not 0, by name."""
        return {name: count for name in Counters.__annotations__ if (count := getattr(self, name))}

    def copy(self) -> Counters:
        """A copy of the current counts."""
        twin = Counters()
        twin.restore(self)
        return twin

    def restore(self, counters: Counters) -> None:
        """Go back to earlier counts, after what was counted since has been undone."""
        self.__dict__ = dict(vars(counters))


class RowError(Exception):
    """An expression failed at one row of a batch.

    Operators yield the rows before it and raise its error only when more is asked for, as if they went row by row.
    """

    def __init__(self, row: int, error: CypherError) -> None:
        super().__init__(row, error)
        self.row = row
        self.error = error


class PlanRunner(Protocol):
    """Runs a physical plan over the rows of an argument batch (for subquery expressions)."""

    def __call__(self, plan: Any, argument: Batch, context: Execution) -> Iterator[Batch]: ...


class Job(Protocol):
    """A statement that runs in the background."""

    @property
    def name(self) -> str: ...

    @property
    def rate(self) -> int: ...

    @property
    def is_done(self) -> bool: ...


class Services(Protocol):
    """What built-in procedures need from the database that runs them."""

    @property
    def opened(self) -> DateTime:
        """When the database was opened."""
        ...

    @property
    def is_system(self) -> bool:
        """Whether this is the database `system`, which administers the others."""
        ...

    @property
    def is_read_only(self) -> bool:
        """Whether nothing may be written, neither to the graph nor to files."""
        ...

    @property
    def timeout(self) -> float | None:
        """How many seconds the statement may take."""
        ...

    @property
    def transaction_metadata(self) -> dict[str, Any]:
        """The metadata attached to the transaction, to be changed in place."""
        ...

    def prepare(self, text: str, graph: Snapshot | Transaction, parameters: Mapping[str, Any]) -> Prepared:
        """Prepare another statement, within the allowance of the current one."""
        ...

    def run_command(self, prepared: Prepared, context: Execution) -> None:
        """Run a command, such as CREATE INDEX."""
        ...

    def start_job(
        self, name: str, text: str, parameters: Mapping[str, Any], delay: int, rate: int, counts_down: bool
    ) -> None:
        """Run a statement in the background, once, every `rate` seconds, or until it counts down to 0."""
        ...

    def cancel_job(self, name: str) -> bool:
        """Cancel a background job; returns whether there was one."""
        ...

    def jobs(self) -> Sequence[Job]:
        """The background jobs."""
        ...

    def clear_plan_cache(self) -> int:
        """Forget all plans; returns how many there were besides the current statement's."""
        ...

    def query_collector(self, make: bool) -> QueryCollector | None:
        """What `db.stats.collect` records with; None if it was never on, unless one is to be made."""
        ...


_NANOS_PER_MILLISECOND = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Setting:
    """What the statements of a database have in common."""

    functions: Mapping[str, Function]
    run_plan: PlanRunner
    procedures: Mapping[str, Procedure] = field(default_factory=dict)
    backend: BackendName = "auto"
    import_folder: str | None = None  # where LOAD CSV may read


class Execution:
    """One running statement."""

    # Most statements never change these, and making an execution is a large part of a short one.
    writer: Transaction | None = None
    explicit = False  # in an explicit transaction: nothing may be committed on the way
    transaction_began: int | None = None  # like `began`; None: with the statement
    default_zone = "UTC"
    profile: Profile | None = None  # counts what operators do, for PROFILE
    changes: Counters | None = None  # `counters`, once something is counted
    notes: list[Notification] | None = None  # `notifications`, once there are any
    _constants: dict[int, Any] | None = None

    def __init__(
        self,
        graph: Snapshot | Transaction,
        parameters: Mapping[str, Any],  # internal values, of hoplite.values
        setting: Setting,
        began: int,  # in nanoseconds, as time.time_ns() counts them
        memory: Memory | None = None,
        deadline: float | None = None,  # of time.monotonic()
        cancelled: threading.Event | None = None,  # set from another thread to stop the statement
        services: Services | None = None,
    ) -> None:
        self.graph = graph
        self.parameters = parameters
        self.setting = setting
        self.began = began
        self.memory = Memory(None) if memory is None else memory
        self.deadline = deadline
        self.cancelled = cancelled
        self.services = services

    def over(self, graph: Snapshot) -> Execution:
        """The same statement, reading another graph."""
        twin = self._twin()
        twin.graph, twin.writer = graph, None
        return twin

    def until(self, deadline: float) -> Execution:
        """The same statement with another deadline."""
        twin = self._twin()
        twin.deadline = deadline
        return twin

    def nested(self, parameters: Mapping[str, Any], counters: Counters) -> Execution:
        """For a statement that runs inside this one, with its own parameters, and counts what it changes elsewhere."""
        twin = self._twin()
        twin.parameters, twin.changes, twin.profile, twin._constants = parameters, counters, None, None
        return twin

    def _twin(self) -> Execution:
        """A copy that counts and notes in the same place."""
        self.changes, self.notes = self.counters, self.notifications
        return copy(self)

    @property
    def functions(self) -> Mapping[str, Function]:
        """The functions that expressions may call."""
        return self.setting.functions

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """The procedures that may be called."""
        return self.setting.procedures

    @property
    def run_plan(self) -> PlanRunner:
        """Runs the plan of a subquery expression."""
        return self.setting.run_plan

    @property
    def backend(self) -> BackendName:
        """What runs hops."""
        return self.setting.backend

    @property
    def import_folder(self) -> str | None:
        """Where LOAD CSV may read."""
        return self.setting.import_folder

    @property
    def counters(self) -> Counters:
        """What the statement changed."""
        if self.changes is None:
            self.changes = Counters()
        return self.changes

    @property
    def notifications(self) -> list[Notification]:
        """Notifications that only come up at run time."""
        if self.notes is None:
            self.notes = []
        return self.notes

    @property
    def constants(self) -> dict[int, Any]:
        """The values of expressions that are the same in every row."""
        if self._constants is None:
            self._constants = {}
        return self._constants

    @property
    def statement_time(self) -> DateTime:
        """What the clocks show while the statement runs: when it began, in UTC, to the millisecond as in Neo4j."""
        return _to_millisecond(self.began)

    @property
    def transaction_time(self) -> DateTime:
        """When its transaction began."""
        return _to_millisecond(self.began if self.transaction_began is None else self.transaction_began)

    @property
    def database(self) -> Services:
        """What built-in procedures need from the database."""
        assert self.services is not None, "only a database runs procedures that need it"
        return self.services

    def seconds_left(self) -> float | None:
        """How long the statement may still run, at least a moment; None without a deadline."""
        return None if self.deadline is None else max(self.deadline - time.monotonic(), 0.01)

    def check_time(self) -> None:
        """Raise if the statement has to stop; called between bounded amounts of work."""
        error = self.stops(time.monotonic())
        if error is not None:
            raise Stopped.by(error)

    def stops(self, now: float) -> CypherError | None:
        """Why the statement has to stop: it was cancelled, is past its deadline, or holds too much memory."""
        if self.cancelled is not None and self.cancelled.is_set():
            return transaction_terminated()
        if self.deadline is not None and now > self.deadline:
            return transaction_timed_out()
        return self.memory.exceeded


def _to_millisecond(nanoseconds: int) -> DateTime:
    return moment(nanoseconds - nanoseconds % _NANOS_PER_MILLISECOND)
