"""The database's graph: the latest committed version, one writer at a time, any number of readers.

    version   a Base and a Delta above it
    commit    puts the writer's delta in place; its cost depends on the changes alone
    fold      makes a new base once the delta is a fair share of it; done when no transaction is open

A reader's snapshot pins a delta: a writer never changes one that a live snapshot holds, but continues with a
copy. A reader who arrives while a writer changes the delta in place gets a copy with the writer's steps taken
back.

A forked process has a copy of the graph as of the last commit, and may use it like any other. What was being written at
that moment belongs to the parent: the copy of that transaction or load is useless in the child.
"""

from __future__ import annotations

import threading
import uuid
import weakref
from collections.abc import Callable
from typing import Any

from hoplite import forks
from hoplite.errors import CypherError
from hoplite.storage.base import Base
from hoplite.storage.build import build_base, empty_base
from hoplite.storage.bulk import BulkLoad
from hoplite.storage.delta import Delta, Journal
from hoplite.storage.draft import Draft
from hoplite.storage.fold import folded
from hoplite.storage.schema import Schema, initial_schema
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.spill import Spill
from hoplite.storage.tokens import Tokens
from hoplite.storage.transaction import Transaction
from hoplite.storage.writer_turn import WriterTurn

FOLD_MINIMUM = 512
"""A delta smaller than this is never worth a fold by itself."""
FOLD_SHARE = 4
"""A delta is folded when it is larger than one part in this many of its base ..."""
FOLD_MAXIMUM = 2_000_000
"""... and in any case when it is larger than this: its dictionaries take ten times the memory of a base."""
LOCK_TIMEOUT_S = 30.0


class Graph:
    """A graph in memory."""

    def __init__(
        self,
        partitions: int = 1,
        *,
        fold_minimum: int = FOLD_MINIMUM,
        fold_share: float = FOLD_SHARE,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        self.uuid = str(uuid.uuid4())
        self.partitions = partitions
        self.lock_timeout_s = lock_timeout_s
        self._fold_minimum = fold_minimum
        self._fold_share = fold_share
        self._writer = WriterTurn()
        self._guard = threading.RLock()  # held briefly: to change the delta, and to see what is current
        self._delta = Delta(empty_base(Tokens(), partitions), initial_schema())
        self._version = 0
        self._changing: Transaction | None = None  # the open writer
        self._loading: BulkLoad | None = None  # or the open load
        self._unfolded = (-1, 0)  # the state of the delta last found not to need a fold
        self._pinned: weakref.ref[Snapshot] | None = None  # the one snapshot of the current delta
        self._kept: Snapshot | None = None  # the same, kept for the next reader until something is written
        self._is_guarded_for_fork = False
        forks.watch(self)

    # --- readers ---

    def snapshot(self, *, fold: bool = True) -> Snapshot:
        """The latest committed version. It does not change while it is held."""
        kept = self._kept
        if kept is not None:
            return kept
        with self._guard:
            snapshot = None if self._pinned is None else self._pinned()
            if snapshot is not None:
                return snapshot
            if self._changing is not None:
                self._take_from(self._changing)
            elif fold:
                self._fold_if_due()
            snapshot = Snapshot(self._delta, self.uuid, self._version)
            self._pinned = weakref.ref(snapshot)
            if fold:
                self._kept = snapshot
            return snapshot

    def _is_pinned(self) -> bool:
        """Whether a reader holds the current delta; asked, under the guard, by whoever is about to change it."""
        self._kept = None
        return self._pinned is not None and self._pinned() is not None

    def _unpin(self) -> None:
        """Readers from now on get another delta."""
        self._pinned = self._kept = None

    # --- the writer ---

    def begin(self, *, lazy: bool = False) -> Transaction:
        """A transaction. There is one writer at a time: this waits for the other one, and gives up after
        `lock_timeout_s`, or sooner if the statement that this thread prepares is cancelled or past its deadline.

        A lazy transaction only reads at first, and becomes the writer with `prepare_write` or its first write.
        """
        if lazy:
            return Transaction(self, self.snapshot())
        self._lock_writer()
        with self._guard:
            self._fold_if_due()
            transaction = Transaction(self, Snapshot(self._delta, self.uuid, self._version))
            transaction._become_writer(self._delta, self._version)
            self._changing = transaction
        return transaction

    def _acquire_writer(self, transaction: Transaction, *, fold: bool = True) -> tuple[Delta, int]:
        """Make a transaction the one writer; returns what it starts from."""
        self._lock_writer()
        with self._guard:
            if fold:
                self._fold_if_due()
            self._changing = transaction
            return self._delta, self._version

    def _lock_writer(self) -> None:
        if not self._writer.acquire(self.lock_timeout_s):
            raise CypherError(
                "Neo.TransientError.Transaction.LockAcquisitionTimeout",
                f"Another transaction is writing: the lock could not be acquired within {self.lock_timeout_s} seconds.",
            )

    def _release_writer(self) -> None:
        self._changing = self._loading = None
        self._writer.release()

    def _record(self, delta: Delta, journal: Journal) -> None:
        """Called before a commit becomes visible, with its changes. On disk they are written here, and an error
        prevents the commit. In memory there is nothing to do."""

    def _publish(self, delta: Delta) -> int:
        with self._guard:
            if delta is not self._delta:
                self._delta = delta
            self._unpin()
            self._version += 1
            return self._version

    def _finish_load(self, draft: Draft, schema: Schema, check: Callable[[Snapshot], None], spill: Spill) -> None:
        """Put a new base in place, if it passes the check. `spill` says how much memory building it may take."""
        base = build_base(draft, self.partitions_for(draft.node_count, draft.relationship_count))
        delta = Delta(base, schema)
        check(Snapshot(delta, self.uuid, 0))
        self._keep_searches(base, schema)
        self._publish(delta)

    def _new_spill(self) -> Spill:
        """Where a load keeps the data it collects."""
        return Spill()

    def _load_failed(self, error: OSError) -> Exception:
        """The error for a load that could not be written."""
        return error

    def _end_of_load(self, spill: Spill) -> None:
        """A load was committed or discarded."""
        self._release_writer()

    def partitions_for(self, node_count: int, relationship_count: int) -> int:
        """The number of partitions for a base of this size."""
        return self.partitions

    def bulk(self, *, keeps_order: bool = True) -> BulkLoad:
        """A bulk load: the one writer until it is committed or closed. The delta is folded first. Without
        `keeps_order`, new relationships get public ids in any order."""
        self._lock_writer()
        try:
            with self._guard:
                if self._delta.size:
                    self._replace_base(self._folded())
                self._writer.use("a bulk load")
                self._loading = BulkLoad(self, self.snapshot(fold=False), self._new_spill(), keeps_order)
                return self._loading
        except BaseException:
            self._release_writer()
            raise

    # --- forks ---

    def before_fork(self) -> None:
        """Let a step that changes the graph finish."""
        self._guard.acquire()
        self._is_guarded_for_fork = True

    def after_fork_in_parent(self) -> None:
        """Continue as before."""
        self._is_guarded_for_fork = False
        self._guard.release()

    def after_fork_in_child(self) -> None:
        """Continue from the last commit: a writer has stayed in the parent."""
        if self._is_guarded_for_fork:
            self._is_guarded_for_fork = False
            self._guard.release()
        else:
            self._guard = threading.RLock()
        self._writer = WriterTurn()
        writer, load = self._changing, self._loading
        self._changing = self._loading = None
        if writer is not None:
            self._take_from(writer)
            writer._lose()
        if load is not None:
            load._lose()

    def _take_from(self, writer: Transaction) -> None:
        """Leave the delta to the writer who is changing it, and continue with a copy as of the last commit."""
        if writer._in_place and writer._journal:
            committed = self._delta.copy()
            committed.undo(writer._journal)
            self._delta = committed
            writer._in_place = False

    # --- folding ---

    def _fold_if_due(self) -> None:
        if self._is_fold_due():
            self._replace_base(self._folded())

    def _is_fold_due(self) -> bool:
        state = (self._delta.serial, self._delta.writes)
        if state == self._unfolded:  # nothing has been written since the last check
            return False
        base = self._delta.base
        limit = (base.node_count + base.relationship_count) / self._fold_share
        if self._delta.size >= max(self._fold_minimum, min(limit, FOLD_MAXIMUM), 1):
            return True
        self._unfolded = state
        return False

    def _folded(self) -> Base:
        delta = self._delta
        return build_base(folded(delta), self.partitions_for(delta.node_count, delta.relationship_count))

    def fold(self) -> None:
        """Fold now, whatever the size. Readers keep their positions; new readers get new ones."""
        self._lock_writer()
        try:
            with self._guard:
                if self._delta.size:
                    self._replace_base(self._folded())
        finally:
            self._writer.release()

    def _replace_base(self, base: Base) -> None:
        schema = self._delta.schema
        self._keep_searches(base, schema)
        self._delta = Delta(base, schema)
        self._unpin()

    def _keep_searches(self, base: Base, schema: Schema) -> None:
        """Make the search indexes of a base that takes the place of the present one from those there are."""
        if self._delta.base._search_indexes:
            from hoplite.storage.search.earlier import Earlier

            base.carry_over(Earlier(self._delta), schema)

    # --- what a graph on disk overrides ---

    def checkpoint(self) -> None:
        """Fold; on disk, write a new snapshot."""
        self.fold()

    def statistics(self) -> dict[str, Any]:
        """The size of the graph, and how it is held."""
        snapshot = self.snapshot(fold=False)
        return {
            "path": None,
            "nodes": snapshot.node_count,
            "relationships": snapshot.relationship_count,
            "partitions": len(self._delta.base.outgoing),
            "unfolded_changes": self._delta.size,
        }

    def loads(self) -> tuple[int, int] | None:
        """How many partitions and columns have been loaded from disk so far, and evicted; None in memory."""
        return None

    def verify(self) -> list[str]:
        """What is wrong with the files; nothing in memory."""
        return []

    def close(self) -> None:
        """Nothing to release in memory."""
