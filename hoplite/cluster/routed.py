"""Many runs of one plan, each whole on a worker: several travel in a message, and a worker that has none left takes
over some of another's."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from hoplite.cluster.calls import ATTEMPTS, Calls, byte_count, next_number
from hoplite.cluster.owners import Owners
from hoplite.cluster.pool import Lost, worker_lost
from hoplite.cluster.worker import Bounds, Failed, Piece, Work
from hoplite.engine.batch import Batch
from hoplite.engine.hops.interface import Positions, unchecked

# Messages a worker has at once: one that it works on, and the next.
_AHEAD = 2
# Runs in the first message to a worker, and the most in one; seconds that a message should take.
_FIRST, _MOST = 4, 256
_MESSAGE_S = 0.1


class _Sent(NamedTuple):
    """A message: the runs in it, by number."""

    worker: int
    number: int
    runs: list[int]
    call: Any


def shared_out(seeds: Positions | None, owners: Owners, count: int) -> list[deque[int]]:
    """The runs of each worker, those that start close together one after another; in turn where that is not known."""
    if seeds is None:
        return [deque(range(worker, count, owners.workers)) for worker in range(owners.workers)]
    order = np.argsort(seeds, kind="stable")
    owner = np.where(seeds < 0, np.arange(count) % owners.workers, owners.of(np.maximum(seeds, 0)))
    return [deque(order[owner[order] == worker].tolist()) for worker in range(owners.workers)]


class Routed:
    """The runs of a plan, one for each set of parameters."""

    def __init__(self, calls: Calls, plan: str, parameter_sets: Sequence[Mapping[str, Any]], bounds: Bounds) -> None:
        self._calls = calls
        self._plan = plan
        self._sets = parameter_sets
        self._bounds = bounds
        self._answers: list[list[Batch]] = [[] for _ in parameter_sets]
        self._sizes = [_FIRST] * calls.pool.size
        self._lost_in_turn = 0

    def run(self, queues: list[deque[int]]) -> list[list[Batch]]:
        """The rows of every run. The error of one ends them all."""
        under_way: list[_Sent] = []
        try:
            while True:
                for worker in range(len(queues)):
                    while sum(sent.worker == worker for sent in under_way) < _AHEAD and any(queues):
                        under_way.append(self._send(worker, queues))
                if not under_way:
                    return self._answers
                ended = under_way.pop(self._calls.pool.await_any([sent.call for sent in under_way], unchecked))
                try:
                    left = self._take(ended)
                    self._lost_in_turn = 0
                except Lost:
                    left = ended.runs
                    self._await_return()
                queues[ended.worker].extendleft(reversed(left))
        except BaseException:
            for sent in under_way:
                self._calls.pool.tell(sent.worker, "stop", sent.number)
            raise

    def _send(self, worker: int, queues: list[deque[int]]) -> _Sent:
        queue = queues[worker] or max(queues, key=len)
        # The last runs are spread over all workers.
        size = min(self._sizes[worker], -(-sum(map(len, queues)) // (2 * len(queues))))
        take = queue.popleft if queue is queues[worker] else queue.pop
        runs = [take() for _ in range(min(size, len(queue)))]
        number = next_number()
        arguments = number, self._plan, [self._sets[run] for run in runs], self._bounds
        return _Sent(worker, number, runs, self._calls.submit(worker, "run_several", arguments))

    def _take(self, sent: _Sent) -> list[int]:
        """Note the answers in a message; returns the runs that it does not answer."""
        pieces: list[Piece] = self._calls.pool.collect([sent.call], unchecked)[0]
        seconds = sum(piece.work.seconds for piece in pieces)
        self._sizes[sent.worker] = max(1, min(_MOST, int(_MESSAGE_S * len(pieces) / max(seconds, 1e-6))))
        for run, piece in zip(sent.runs, pieces, strict=False):
            items = list(piece.items)
            while not piece.is_last:
                piece = self._calls.collect_piece(self._calls.submit(sent.worker, "more", (sent.number,)), unchecked)
                items += piece.items
            if items and isinstance(items[-1], Failed):
                raise items[-1].error
            self._answers[run] = items
        work = Work(seconds, sum(piece.work.items for piece in pieces))
        self._calls.tally.add(sent.worker, "run", work, 0, sum(byte_count(piece.items) for piece in pieces))
        return sent.runs[len(pieces) :]

    def _await_return(self) -> None:
        """A worker died: the same may happen again, but not always."""
        self._lost_in_turn += 1
        if self._lost_in_turn >= ATTEMPTS * self._calls.pool.size:
            raise worker_lost()
        self._calls.await_return(unchecked)
