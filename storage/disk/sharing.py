"""One graph for everyone who opens the same folder in this process, by whatever path; the last user closes it.

Readers share the graph of the writers, and see what they commit. When the last writer leaves, other processes may
write, and the remaining readers keep the version of that moment. A reader who comes before any writer gets a separate
graph, as of that moment.
"""

from __future__ import annotations

import threading
import weakref
from pathlib import Path

from hoplite import forks
from hoplite.storage.disk.graph import DiskGraph, Durability, Version

_guard = forks.brief_lock()
_opening: weakref.WeakValueDictionary[Path, _Folder] = weakref.WeakValueDictionary()
# By folder, the graph that was opened for writing. If its users dropped it without closing it, it exists and holds the
# lock until it is garbage-collected.
_writing: weakref.WeakValueDictionary[Path, DiskGraph] = weakref.WeakValueDictionary()


class Lease:
    """One user's share of a graph. It is also returned when it is garbage-collected."""

    def __init__(self, folder: _Folder, graph: DiskGraph, is_writing: bool) -> None:
        self.graph = graph
        self.is_writing = is_writing
        self._folder = folder

    def close(self) -> None:
        """Return it. The last writer makes a checkpoint, if it is worth it."""
        with self._folder.lock:
            self._folder.take_back(self)


def lease(
    path: Path,
    *,
    read_only: bool = False,
    partitions: int | None = None,
    memory: str | int | None = None,
    durability: Durability | None = None,
) -> Lease:
    """The graph in a folder, opened if it is not open yet. Settings of None keep the current value, or the default."""
    place = path.resolve()
    folder = _folder_at(place)
    with folder.lock:
        graph = folder.graph_at(path)
        if graph is None:
            graph = DiskGraph(
                path, read_only=read_only, partitions=partitions, memory=memory, durability=durability or "full"
            )
            if not read_only:
                _writing[place] = graph
        else:
            graph.check_settings(partitions, memory, durability)
        return folder.lend(graph, not read_only)


def lease_separate(path: Path, *, at: Version | None = None, memory: str | int | None = None) -> Lease:
    """A separate read-only graph in a folder, which stays at one version: the newest, or that of another process."""
    folder = _folder_at(path.resolve())
    with folder.lock:
        return folder.lend(DiskGraph(path, read_only=True, at=at, memory=memory), False)


def _folder_at(path: Path) -> _Folder:
    with _guard:
        folder = _opening.get(path)
        if folder is None:
            folder = _opening[path] = _Folder(path)
        return folder


class _Folder:
    """A folder being opened or open in this process. It lives as long as it is needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lock = threading.Lock()  # held while a graph is opened or closed, which may take long
        self._leases: weakref.WeakSet[Lease] = weakref.WeakSet()
        forks.watch(self)

    def graph_at(self, path: Path) -> DiskGraph | None:
        """The graph open for writing, if it is still the one at that path."""
        graphs = [lease.graph for lease in list(self._leases)]
        dropped = _writing.get(self._path)
        if dropped is not None:
            graphs.append(dropped)
        return next((graph for graph in graphs if graph.is_writing_at(path)), None)

    def lend(self, graph: DiskGraph, is_writing: bool) -> Lease:
        """Add a user of the graph."""
        lease = Lease(self, graph, is_writing)
        self._leases.add(lease)
        return lease

    def take_back(self, given_back: Lease) -> None:
        """Close the graph, or let others write, if it is no longer needed for that."""
        graph = given_back.graph
        self._leases.discard(given_back)
        left = [lease for lease in list(self._leases) if lease.graph is graph]
        if not left:
            graph.close()
        elif not any(lease.is_writing for lease in left):
            graph.stop_writing()

    def before_fork(self) -> None:
        """Does not wait for a graph that is being opened or closed: nothing in the child uses it."""

    def after_fork_in_parent(self) -> None:
        """Continue as before."""

    def after_fork_in_child(self) -> None:
        """What is opened here from now on is not the parent's graph."""
        self.lock = threading.Lock()
        _opening.pop(self._path, None)
