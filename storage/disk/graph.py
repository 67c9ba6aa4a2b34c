"""The graph of a database on disk.

    commit       a record to the log, then the same as in memory
    checkpoint   the delta folded into a new snapshot while readers and writers continue: they only stop for the
                 moment in which the new manifest takes effect, together with what was committed meanwhile
    bulk load    a new snapshot at once
    open         the snapshot that the manifest names, and the commits in its log

A checkpoint is made when the log has grown past a limit, on request, and on closing, unless the log is short and the
snapshot large.

A forked process can read the graph as it was at the fork, and holds the files that it reads, like a read-only process.
Everything else in the folder belongs to the parent alone.
"""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from hoplite.errors import CypherError, access_mode
from hoplite.lazy import lazy_pattern
from hoplite.storage.delta import Delta, Journal
from hoplite.storage.disk.blocks import BlockReader
from hoplite.storage.disk.cache import Cache, byte_count, machine_memory
from hoplite.storage.disk.changes import NameCounts, apply, record_of
from hoplite.storage.disk.codec import BadEncoding
from hoplite.storage.disk.files import Files, remove_tree, write_file
from hoplite.storage.disk.lock import LOCK, FolderHold, WriterLock, is_held
from hoplite.storage.disk.log import HEADER_BYTES, Log, LogReader, header
from hoplite.storage.disk.manifest import (
    MANIFEST,
    Manifest,
    UncertainRename,
    log_name,
    read_manifest,
    snapshot_name,
    write_manifest,
)
from hoplite.storage.disk.problems import (
    cannot_open,
    checkpoint_failed,
    damaged,
    forked,
    load_failed,
    log_unusable,
    version_gone,
)
from hoplite.storage.disk.scratch import ScratchFolder, scratch_name
from hoplite.storage.disk.stored import StoredBase, open_snapshot
from hoplite.storage.disk.write import write_snapshot
from hoplite.storage.draft import Draft, empty_draft
from hoplite.storage.fold import folded
from hoplite.storage.graph import FOLD_MINIMUM, FOLD_SHARE, LOCK_TIMEOUT_S, Graph
from hoplite.storage.incidence import layout_for
from hoplite.storage.schema import Schema, initial_schema
from hoplite.storage.search.earlier import Earlier
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.spill import Spill
from hoplite.storage.tokens import Tokens

Durability = Literal["full", "relaxed"]

LOG_LIMITS = (16 * 2**20, 256 * 2**20)
"""A checkpoint is due when the log is a quarter of the snapshot, but not below the first nor above the second."""
LARGE_BYTES = 64 * 2**20
"""A snapshot larger than this is not rewritten at the end of every session, nor folded in memory."""
SMALLEST_PARTITION_BYTES = 2**20
LARGEST_PARTITION = 1 << 25
"""Relationships in a partition; building a larger one would take too much memory."""
SPILL_BYTES = (64 * 2**20, 2**30)
"""A load or a checkpoint may hold an eighth of the budget in memory, within these bounds."""
_OURS = lazy_pattern(r"(?:snapshot|wal|scratch)-(\d+)(?:\.log)?")


class Version(NamedTuple):
    """A version of a graph on disk, so that other processes can read the same one."""

    manifest: Manifest
    commits: int


class DiskGraph(Graph):
    """A graph in a folder. `partitions` of None: as many as the cache's budget suggests. A reader may open it at the
    version that another process reads."""

    def __init__(
        self,
        path: Path,
        *,
        read_only: bool = False,
        at: Version | None = None,
        durability: Durability = "full",
        memory: str | int | None = None,
        partitions: int | None = None,
        files: Files | None = None,
        log_limit_bytes: int | None = None,
        spill_bytes: int | None = None,
        fold_minimum: int = FOLD_MINIMUM,
        fold_share: float = FOLD_SHARE,
        lock_timeout_s: float = LOCK_TIMEOUT_S,
    ) -> None:
        if durability not in ("full", "relaxed"):
            raise ValueError(f"durability={durability!r}: it is 'full' or 'relaxed'")
        super().__init__(
            partitions or 1, fold_minimum=fold_minimum, fold_share=fold_share, lock_timeout_s=lock_timeout_s
        )
        self.root = path
        self.read_only = read_only or at is not None
        self._fixed_partitions = partitions
        self._durability: Durability = durability
        self._files = files or Files()
        self._cache = Cache(machine_memory() // 2 if memory is None else byte_count(memory))
        self._log_limit_bytes = log_limit_bytes
        self._checkpointing = threading.Lock()
        self._background: threading.Thread | None = None
        self._background_error: CypherError | None = None
        self._checkpoints = 0
        self._readers: list[tuple[int, weakref.ref[BlockReader]]] = []  # of snapshots, by number
        self._last_number = 0
        self._being_written: set[int] = set()
        self._spill_bytes = spill_bytes
        self._scratch_numbers: dict[ScratchFolder, int] = {}
        self._log: Log | None = None
        self._lock: WriterLock | None = None
        self._holds: list[FolderHold] = []
        self._process = os.getpid()
        self._is_ahead = False  # the log has a commit that was never made visible
        self._is_open = False
        try:
            if at is not None:
                self._open_at(at)
            elif read_only:
                self._open_to_read()
            else:
                self._open_to_write()
        except OSError as error:
            self._let_go()
            raise cannot_open(path, f"the database cannot be opened ({error.strerror or error})") from error
        except BaseException:
            self._let_go()
            raise
        self._is_open = True

    # --- opening ---

    def _open_to_write(self) -> None:
        self._make_root()
        self._lock = WriterLock(self.root)
        manifest = read_manifest(self.root)
        if manifest is None:
            self._refuse_if_not_new()
            manifest = self._create()
        self._remove_all_but(manifest.snapshot)
        reader = self._load(manifest)
        self._log = Log(
            self._files, reader.path, self._version, reader.end, is_durable=self._durability == "full"
        )  # fmt: skip

    def _make_root(self) -> None:
        if self.root.is_dir():
            return
        if self.root.exists():
            raise cannot_open(self.root, "there is a file of that name, but a database is a folder")
        self._files.make_folder(self.root)
        self._files.sync_folder(self.root.parent)

    def _refuse_if_not_new(self) -> None:
        """A folder without a manifest is a database whose creation was interrupted, or something else."""
        for inside in self.root.iterdir():
            number = _OURS.fullmatch(inside.name)
            is_begun = number is not None and number[1] == "1"
            is_begun = is_begun and (inside.is_dir() or inside.stat().st_size <= HEADER_BYTES)
            if not is_begun and inside.name not in (LOCK, f"{MANIFEST}.new"):
                if number is not None:
                    raise damaged(self.root / MANIFEST, "it is missing")
                raise cannot_open(self.root, f"the folder is not a database ({inside.name} is in it)")

    def _create(self) -> Manifest:
        """The first snapshot, which is empty."""
        for name in (snapshot_name(1), log_name(1)):
            remove_tree(self._files, self.root / name)
        partitions = self.partitions_for(0, 0)
        draft = empty_draft(Tokens())
        manifest = write_snapshot(
            self._files, self.root, 1, draft, partitions, initial_schema(), self.uuid, 0, Spill()
        )  # fmt: skip
        write_file(self._files, self.root / manifest.log, header(1, 0, self.uuid))
        self._files.sync_folder(self.root)
        try:
            write_manifest(self._files, self.root, manifest)
        except UncertainRename as uncertain:
            raise uncertain.error from None
        return manifest

    def _open_to_read(self) -> None:
        """Hold the snapshot that the manifest names; a checkpoint may remove it before it is held."""
        while True:
            manifest = read_manifest(self.root)
            if manifest is None:
                raise cannot_open(self.root, "there is no database here")
            try:
                hold = FolderHold(self.root / manifest.folder)
            except FileNotFoundError:
                if read_manifest(self.root) == manifest:
                    raise damaged(self.root / manifest.folder, "it is missing") from None
                continue
            if read_manifest(self.root) == manifest:
                break
            hold.release()
        self._holds.append(hold)
        self._load(manifest)

    def _open_at(self, version: Version) -> None:
        """Read a version that another process reads, which keeps it from being removed. Its log is gone once there is a
        newer one."""
        manifest, commits = version
        try:
            self._holds.append(FolderHold(self.root / manifest.folder))
        except FileNotFoundError:
            raise version_gone(self.root) from None
        if commits == manifest.commits:
            self._load_snapshot(manifest)
        elif (self.root / manifest.log).exists():
            self._load(manifest, commits)
        if self._version != commits:
            raise version_gone(self.root)

    @property
    def version(self) -> Version:
        """The value for `at` in another process."""
        return Version(self._manifest, self._version)

    def _load(self, manifest: Manifest, last_commit: int | None = None) -> LogReader:
        """The graph as of the last commit in the log, or as of an earlier one."""
        delta = self._load_snapshot(manifest)
        reader = LogReader(self.root / manifest.log, manifest.snapshot, manifest.commits, manifest.uuid)
        for record in reader.records():
            self._apply(record.content, delta, reader.path)
            self._version = record.commit
            if record.commit == last_commit:
                break
        self._known = NameCounts.of(delta.base.tokens)  # including the names added by the log
        self._replayed_bytes = reader.end - HEADER_BYTES
        return reader

    def _load_snapshot(self, manifest: Manifest) -> Delta:
        """The graph as of the snapshot; later writes go into the delta."""
        self._manifest, self._last_number = manifest, manifest.snapshot
        self.uuid = manifest.uuid
        try:
            base = self._stored(manifest, None)
        except ValueError as error:
            raise damaged(self.root / MANIFEST, str(error)) from error
        self._delta, self._version = Delta(base, manifest.schema), manifest.commits
        self._known = NameCounts.of(base.tokens)
        self._replayed_bytes = 0
        return self._delta

    def _stored(self, manifest: Manifest, tokens: Tokens | None) -> StoredBase:
        base = open_snapshot(self.root / manifest.folder, manifest, self._cache, tokens)
        if not self.read_only:
            myself = weakref.ref(self)  # a graph that is built does not keep the database open
            base.when_built = lambda: None if (graph := myself()) is None else graph._checkpoint_in_background()
        with self._guard:
            self._readers.append((manifest.snapshot, weakref.ref(base.reader)))
        return base

    def _apply(self, content: bytes, delta: Delta, path: Path) -> None:
        try:
            apply(content, delta)
        except BadEncoding as error:
            raise damaged(path, str(error)) from error

    def is_writing_at(self, path: Path) -> bool:
        """Whether this is the open, writable database at a path."""
        return self._is_open and not self._is_forked and self._lock is not None and self._lock.is_at(path)

    def check_settings(self, partitions: int | None, memory: str | int | None, durability: Durability | None) -> None:
        """Raise if the settings differ from those that the database is open with."""
        bytes_asked = None if memory is None else byte_count(memory)
        for name, asked, given in (
            ("partitions", partitions, self._fixed_partitions),
            ("memory", bytes_asked, self._cache.budget_bytes),
            ("durability", durability, self._durability),
        ):
            if asked is not None and asked != given:
                raise ValueError(
                    f"{name}={asked!r}: {self.root} is already open in this process with {name}={given!r}. "
                    "Leave the setting out to share it, or close it first."
                )

    # --- commits ---

    def _lock_writer(self) -> None:
        self._refuse_if_forked()
        super()._lock_writer()

    def _refuse_if_forked(self) -> None:
        if self._is_forked:
            raise forked(self.root, self._process)

    @property
    def _is_forked(self) -> bool:
        """Whether this is a copy in a process other than the one that opened the database."""
        return os.getpid() != self._process

    def _record(self, delta: Delta, journal: Journal) -> None:
        self._refuse_if_forked()
        if self.read_only:
            raise access_mode()
        if self._log is None or not self._is_open:
            raise cannot_open(self.root, "the database is closed")
        if self._is_ahead:
            raise log_unusable(self._log.path)
        content, known = record_of(delta, journal, self._known)
        self._is_ahead = True
        try:
            self._log.append(content)
        except BaseException:
            self._is_ahead = False
            raise
        self._known = known

    def _publish(self, delta: Delta) -> int:
        version = super()._publish(delta)
        self._is_ahead = False
        if self._log is not None and self._log.size > self._log_limit():
            self._checkpoint_in_background()
        return version

    def _finish_load(self, draft: Draft, schema: Schema, check: Callable[[Snapshot], None], spill: Spill) -> None:
        """Write a new snapshot, and put it into force if it passes the check."""
        self._refuse_if_forked()
        if self.read_only:
            raise access_mode()
        if not self._is_open:
            raise cannot_open(self.root, "the database is closed")
        assert self._log is not None
        commits = self._log.commits + 1
        try:
            with self._new_number() as number:
                manifest = self._write(number, draft, schema, commits, spill, Earlier(self._delta))
                try:
                    written = open_snapshot(self.root / manifest.folder, manifest, Cache(SPILL_BYTES[0]), draft.tokens)
                    check(Snapshot(Delta(written, schema), self.uuid, 0))
                    del written
                except BaseException:
                    remove_tree(self._files, self.root / manifest.folder)
                    raise
                loaded = self._take_over(manifest, draft.tokens, [])
                loaded.base.inherit(self._delta.base)
        except OSError as error:
            raise self._load_failed(error) from error
        self._publish(loaded)
        self._remove_all_but(manifest.snapshot)

    def _load_failed(self, error: OSError) -> Exception:
        return load_failed(self.root, error)

    def _new_spill(self) -> Spill:
        """Beyond a share of the budget, collected data goes to files in a separate folder."""
        with self._guard:
            self._last_number += 1
            number = self._last_number
            self._being_written.add(number)
        scratch = ScratchFolder(self._files, self.root / scratch_name(number))
        self._scratch_numbers[scratch] = number
        low, high = SPILL_BYTES
        limit = self._spill_bytes
        if limit is None:
            assert self._cache.budget_bytes is not None
            limit = min(max(low, self._cache.budget_bytes // 8), high)
        return Spill(limit, scratch)

    def _end_of_load(self, spill: Spill) -> None:
        self._close_spill(spill)
        super()._end_of_load(spill)

    def _close_spill(self, spill: Spill) -> None:
        scratch = spill.scratch
        if isinstance(scratch, ScratchFolder):
            scratch.close()
            self._being_written.discard(self._scratch_numbers.pop(scratch))

    # --- checkpoints ---

    def checkpoint(self) -> None:
        """Write a new snapshot of everything committed, and start a new log."""
        self._refuse_if_forked()
        if self.read_only:
            raise access_mode()
        with self._checkpointing:
            try:
                with self._new_number() as number:
                    self._checkpoint(number)
            except OSError as error:
                raise checkpoint_failed(self.root, error) from error
            self._remove_all_but(self._manifest.snapshot)

    fold = checkpoint

    def _checkpoint(self, number: int) -> None:
        log, before = self._log, self._manifest
        if log is None:
            raise cannot_open(self.root, "the database is closed")
        self._lock_writer()
        try:
            snapshot = self.snapshot(fold=False)  # held, so that writers do not change it
            end, commits = log.end, log.commits
        finally:
            self._writer.release()
        delta = snapshot._delta
        partitions = self.partitions_for(delta.node_count, delta.relationship_count)
        is_built = any(building.found is not None for building in delta.base.buildings.values())
        if end == HEADER_BYTES and partitions == before.partitions and not is_built:
            return
        spill = self._new_spill()
        try:
            manifest = self._write(number, folded(delta), delta.schema, commits, spill, Earlier(delta))
        finally:
            self._close_spill(spill)
        try:
            self._lock_writer()
        except CypherError:
            remove_tree(self._files, self.root / manifest.folder)
            raise
        try:
            if self._manifest is not before or self._log is not log or not log.is_usable:  # a bulk load was faster
                remove_tree(self._files, self.root / manifest.folder)
                return
            later = [record.content for record in self._log_reader(before).records() if record.offset >= end]
            checkpointed = self._take_over(manifest, delta.base.tokens, later)
            checkpointed.base.inherit(self._delta.base)
            with self._guard:
                self._delta = checkpointed
                self._unpin()
            self._checkpoints += 1
        finally:
            self._writer.release()

    def _log_reader(self, manifest: Manifest) -> LogReader:
        return LogReader(self.root / manifest.log, manifest.snapshot, manifest.commits, manifest.uuid)

    @contextmanager
    def _new_number(self) -> Iterator[int]:
        """The number for a snapshot to be written; while it is being written, it is left alone."""
        with self._guard:
            self._last_number += 1
            number = self._last_number
            self._being_written.add(number)
        try:
            yield number
        finally:
            self._being_written.discard(number)

    def _write(
        self, number: int, draft: Draft, schema: Schema, commits: int, spill: Spill, earlier: Earlier | None = None
    ) -> Manifest:
        """Write the files of a new snapshot; if this fails, none of them remain."""
        partitions = self.partitions_for(draft.node_count, draft.relationship_count)
        for name in (snapshot_name(number), log_name(number)):
            remove_tree(self._files, self.root / name)
        try:
            return write_snapshot(
                self._files, self.root, number, draft, partitions, schema, self.uuid, commits, spill, earlier
            )  # fmt: skip
        except BaseException:
            remove_tree(self._files, self.root / snapshot_name(number))
            raise

    def _take_over(self, manifest: Manifest, tokens: Tokens, later: list[bytes]) -> Delta:
        """Put a snapshot into force, with a log of the later commits; returns the graph as it is then. The caller holds
        the writer's lock."""
        old = self._log
        assert old is not None
        path = self.root / manifest.log
        log: Log | None = None
        try:
            write_file(self._files, path, header(manifest.snapshot, manifest.commits, manifest.uuid))
            log = Log(self._files, path, manifest.commits, HEADER_BYTES, is_durable=False)
            for content in later:
                log.append(content)
            log.sync()
            log.is_durable = self._durability == "full"
            self._files.sync_folder(self.root)
            delta = Delta(self._stored(manifest, tokens), manifest.schema)
            for content in later:
                self._apply(content, delta, path)
            write_manifest(self._files, self.root, manifest)
        except BaseException as error:
            if log is not None:
                log.close()
            if isinstance(error, UncertainRename) and not self._put_back():
                # Either manifest has everything that was acknowledged, as long as nothing more is acknowledged.
                old.is_usable = False
                raise error.error from error
            remove_tree(self._files, path)
            remove_tree(self._files, self.root / manifest.folder)
            if isinstance(error, UncertainRename):
                raise error.error from error
            raise
        self._log, self._manifest = log, manifest
        # A name may be newer than the manifest: if it was committed, the log has it.
        self._known = NameCounts.of_names(manifest.names).widest(self._known if later else None)
        old.close()
        return delta

    def _put_back(self) -> bool:
        """Whether the previous manifest is certain to be in force, after another could not be synced."""
        try:
            write_manifest(self._files, self.root, self._manifest)
        except (OSError, UncertainRename):
            return False
        return True

    def _checkpoint_in_background(self) -> None:
        if self._is_forked:
            return
        if self._background is None or not self._background.is_alive():
            self._background = threading.Thread(target=self._try_checkpoint, name="hoplite-checkpoint", daemon=True)
            self._background.start()

    def _try_checkpoint(self) -> None:
        try:
            self.checkpoint()
            self._background_error = None
        except CypherError as error:
            self._background_error = error

    def _log_limit(self) -> int:
        if self._log_limit_bytes is not None:
            return self._log_limit_bytes
        low, high = LOG_LIMITS
        return min(max(low, self._manifest.size // 4), high)

    def _fold_if_due(self) -> None:
        if not self._is_fold_due():
            return
        if self._manifest.size <= LARGE_BYTES or self.read_only:
            super()._fold_if_due()
        elif self._log is not None and self._log.size:
            self._checkpoint_in_background()

    def partitions_for(self, node_count: int, relationship_count: int) -> int:
        """The number of partitions requested, or one such that four of them fit the budget."""
        if self._fixed_partitions is not None:
            return self._fixed_partitions
        budget = self._cache.budget_bytes
        assert budget is not None
        layout = layout_for(node_count, relationship_count, 1)
        side = np.dtype(layout.indptr).itemsize * node_count + relationship_count * sum(
            np.dtype(part).itemsize for part in (layout.neighbours, layout.types, layout.relationships)
        )
        by_size = -(-side // max(budget // 4, SMALLEST_PARTITION_BYTES))
        return max(1, by_size, -(-relationship_count // LARGEST_PARTITION))

    # --- files that are no longer needed ---

    def _remove_all_but(self, current: int) -> None:
        """Remove the snapshots and logs of other numbers, except those being read or written."""
        if any(number != current and reader() is not None for number, reader in self._readers):
            gc.collect(1)  # finished queries may still hold it, in a reference cycle
        # Others may write a snapshot and put it into force meanwhile. What appears after this is not looked at.
        files = list(self.root.iterdir())
        with self._guard:
            # Before the readers: a snapshot is read before it is no longer being written.
            used = {current, *self._being_written}
            self._readers = [(number, reader) for number, reader in self._readers if reader() is not None]
            used.update(number for number, _ in self._readers)
            serials = {reader.serial for _, held in self._readers if (reader := held()) is not None}
        # Mapped files take their place on the disk until they are no longer held.
        self._cache.forget(lambda key: key[0] not in serials)
        for inside in files:
            number = _OURS.fullmatch(inside.name)
            if number is None or int(number[1]) in used:
                continue
            folder = self.root / snapshot_name(int(number[1]))
            if not is_held(folder):
                remove_tree(self._files, inside)

    # --- about it ---

    def statistics(self) -> dict[str, Any]:
        """The size of the graph, how it is held, and the cache's counters."""
        log, error = self._log, self._background_error
        return {
            **super().statistics(),
            "path": str(self.root),
            "format": self._manifest.version,
            "snapshot": self._manifest.snapshot,
            "snapshot_bytes": self._manifest.size,
            "commits": self._version,
            "log_bytes": self._replayed_bytes if log is None else log.size,
            "durability": self._durability,
            "checkpoints": self._checkpoints,
            "checkpoint_error": None if error is None else error.message,
            "cache": asdict(self._cache.statistics),
        }

    def loads(self) -> tuple[int, int]:
        """How many partitions and columns have been loaded so far, and evicted."""
        counts = self._cache.statistics
        return counts.loads, counts.evictions

    def verify(self) -> list[str]:
        """Read everything, and report what is wrong."""
        from hoplite.storage.disk.verify import problems_of

        with self._checkpointing:
            return problems_of(self.root)

    # --- the end ---

    def close(self) -> None:
        """Make a checkpoint if it is worth it, and release everything. In a forked process, release only what is
        read."""
        if not self._is_open:
            return
        self._is_open = False
        try:
            self._finish_writing()
        finally:
            self._let_go()

    def stop_writing(self) -> None:
        """The same, but stay open for reading: others may write from now on."""
        if self.read_only or not self._is_open or self._is_forked:
            return
        self._is_open = False  # to be written to
        try:
            self._finish_writing()
        finally:
            holds = self._held_snapshots()
            if self._log is not None:
                self._replayed_bytes = self._log.size
            self._let_go()
            self._holds, self.read_only, self._is_open = holds, True, True

    def _finish_writing(self) -> None:
        if self._is_forked:
            return
        self._delta.base.stop_building()
        if self._background is not None:
            self._background.join()
        log = self._log
        if log is not None and log.is_usable:
            is_short = log.size * 4 < self._manifest.size
            if log.size and not (is_short and self._manifest.size > LARGE_BYTES):
                self._checkpoint_at_the_end()
            if self._durability == "relaxed" and self._log is not None:
                self._log.sync()

    def _checkpoint_at_the_end(self) -> None:
        """Not while a transaction is open; nothing is lost if it fails."""
        if not self._writer.acquire_if_free():
            return
        self._writer.release()
        with suppress(CypherError):
            self.checkpoint()

    def __del__(self) -> None:
        """A graph that is no longer used must not keep others out."""
        if hasattr(self, "_is_open"):
            self._let_go()

    def _let_go(self) -> None:
        log, lock, holds = self._log, self._lock, self._holds
        self._log = self._lock = None
        self._holds = []
        if log is not None:
            log.close()
        for hold in holds:
            hold.release()
        if lock is not None:
            if self._is_forked:
                lock.leave()
            else:
                lock.release()

    # --- forks ---

    def before_fork(self) -> None:
        """Hold for the child what can be read: it could not do so before this process removes something."""
        super().before_fork()
        if self._is_open and not self.read_only:
            self._holds = self._held_snapshots()

    def _held_snapshots(self) -> list[FolderHold]:
        holds = []
        for number in {number for number, reader in self._readers if reader() is not None}:
            with suppress(OSError):  # without it the child can read as long as the files exist
                holds.append(FolderHold(self.root / snapshot_name(number)))
        return holds

    def after_fork_in_parent(self) -> None:
        """The child has what was held for it."""
        if not self.read_only:
            holds, self._holds = self._holds, []
            for hold in holds:
                hold.release()
        super().after_fork_in_parent()

    def after_fork_in_child(self) -> None:
        """Keep what can be read, and release what belongs to the parent."""
        super().after_fork_in_child()
        self._checkpointing = threading.Lock()
        self._background = None
        if self._log is not None:
            self._replayed_bytes = self._log.size
            self._log.close()
        if self._lock is not None:
            self._lock.leave()
        self._log = self._lock = None
