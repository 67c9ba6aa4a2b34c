"""Graphs of neighbours that are made in the background: a search does without until one is there."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections.abc import Callable

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.schema import Index
from hoplite.storage.search.neighbours import Float32s, Neighbours
from hoplite.values.columns import Int64s

_under_way: weakref.WeakSet[Building] = weakref.WeakSet()


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The vectors that a graph is to be of, their public ids, the index they belong to, and a graph of earlier ones."""

    matrix: Float32s
    ids: Int64s
    index: Index
    before: Neighbours | None

    def made(self, goes_on: Callable[[int], bool]) -> Neighbours | None:
        """The graph, of the earlier one where little has changed."""
        found = None
        if self.before is not None:
            found = self.before.updated(self.matrix, self.ids, self.index, goes_on)
        return found or Neighbours.build(self.matrix, self.ids, self.index, goes_on)


class Building:
    """A graph that is being made. `found` is it when it is there; `when_done` is called then."""

    def __init__(self, task: Task, when_done: Callable[[], None] | None) -> None:
        self.total = len(task.ids)
        self.done = 0
        self.found: Neighbours | None = None
        self.is_over = False  # and nothing is to be begun again
        self._is_stopped = False
        self._thread = threading.Thread(
            target=self._run, args=(task, when_done), name="hoplite-vector-index", daemon=True
        )
        _under_way.add(self)
        self._thread.start()

    def _run(self, task: Task, when_done: Callable[[], None] | None) -> None:
        try:
            self.found = task.made(self._goes_on)
        finally:
            self.is_over = True
        if self.found is not None:
            self.done = self.total
            if when_done is not None:
                when_done()

    def _goes_on(self, done: int) -> bool:
        self.done = done
        return not self._is_stopped

    @property
    def is_under_way(self) -> bool:
        """Whether it will be there some time."""
        return self._thread.is_alive()

    def wait(self, seconds: float | None) -> None:
        """Until it is there, or will not be, or the time is over."""
        self._thread.join(seconds)

    def stop(self) -> None:
        """Give it up, and wait until nothing is done for it any more."""
        self._is_stopped = True
        if self._thread is not threading.current_thread():
            self._thread.join()


@atexit.register
def stop_all() -> None:
    """A process does not end while another thread is at work inside the package."""
    for building in list(_under_way):
        building.stop()
