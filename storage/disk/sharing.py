"""One graph for all who open the same folder in this process, by whatever path; the last one closes it.

Those who only read share the graph of those who write, and see what is committed there. When the last writer leaves,
other processes may write, and the readers who are left keep the version that there is then. A reader who comes before
any writer has a graph of its own, as of that moment.
"""

from __future__ import annotations

import threading
import weakref
from pathlib import Path

from hoplite import forks
from hoplite.storage.disk.graph import DiskGraph, Durability, Version

_guard = forks.brief_lock()
_opening: weakref.WeakValueDictionary[Path, _Folder] = weakref.WeakValueDictionary()
# By folder, the graph that was opened to write: one that its users dropped without closing it is there, and holds the
# lock, until it is collected.
_writing: weakref.WeakValueDictionary[Path, DiskGraph] = weakref.WeakValueDictionary()


class Lease:
    """What one user has of a graph. One that is collected is given back, too."""

    def __init__(self, folder: _Folder, graph: DiskGraph, is_writing: bool) -> None:
        self.graph = graph
        self.is_writing = is_writing
        self._folder = folder

    def close(self) -> None:
        """Give it back. The last writer makes a checkpoint, if it is worth it."""
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
    """The graph in a folder, which is opened if nobody has it open. Settings of None are as they are, or as usual."""
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


def lease_apart(path: Path, *, at: Version | None = None, memory: str | int | None = None) -> Lease:
    """A graph of its own in a folder, to read, which stays at one version: the newest, or that of another process."""
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
    """A folder that someone is opening, or has opened, in this process. Lives as long as they need it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lock = threading.Lock()  # held while a graph is opened or closed, which may take a while
        self._leases: weakref.WeakSet[Lease] = weakref.WeakSet()
        forks.watch(self)

    def graph_at(self, path: Path) -> DiskGraph | None:
        """The graph that someone has open to write to, if it is still the one at that path."""
        graphs = [lease.graph for lease in list(self._leases)]
        dropped = _writing.get(self._path)
        if dropped is not None:
            graphs.append(dropped)
        return next((graph for graph in graphs if graph.is_writing_at(path)), None)

    def lend(self, graph: DiskGraph, is_writing: bool) -> Lease:
        """Let someone use a graph."""
        lease = Lease(self, graph, is_writing)
        self._leases.add(lease)
        return lease

    def take_back(self, given_back: Lease) -> None:
        """Close the graph, or let others write, if nobody needs it for that any more."""
        graph = given_back.graph
        self._leases.discard(given_back)
        left = [lease for lease in list(self._leases) if lease.graph is graph]
        if not left:
            graph.close()
        elif not any(lease.is_writing for lease in left):
            graph.stop_writing()

    def before_fork(self) -> None:
        """A graph that is being opened or closed is not waited for: nobody in the child has it."""

    def after_fork_in_parent(self) -> None:
        """Go on as before."""

    def after_fork_in_child(self) -> None:
        """What is opened here from now on is another graph than the parent's."""
        self.lock = threading.Lock()
        _opening.pop(self._path, None)
