"""Calls of workers: answers are waited for together, a worker that dies is asked again, and what each has done is
counted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np

from hoplite.cluster.pool import Check, Lost, Pool, worker_lost
from hoplite.cluster.worker import Piece, Work
from hoplite.engine.batch import Batch

# How often a call is repeated after its worker has died.
ATTEMPTS = 4

_numbers = count(1)


_KINDS = ("hops", "conditions and values", "statements")
_KIND_OF = {"values": 1, "kept": 1, "run": 2}


class Tally:
    """What each worker has done: calls, items, seconds, and bytes sent and received; and the same for each kind of
    call."""

    def __init__(self, workers: int) -> None:
        self.table = np.zeros((workers, 5))
        self.kinds = np.zeros((len(_KINDS), 5))

    def add(self, worker: int, method: str, work: Work, sent: int, received: int) -> None:
        """Count a call."""
        counted = (1, work.items, work.seconds, sent, received)
        self.table[worker] += counted
        self.kinds[_KIND_OF.get(method, 0)] += counted

    def since(self, before: Tally) -> Tally:
        """What has been done since a copy was made."""
        left = Tally(len(self.table))
        left.table = self.table - before.table
        left.kinds = self.kinds - before.kinds
        return left

    def copy(self) -> Tally:
        """The current counts."""
        return self.since(Tally(len(self.table)))

    def __str__(self) -> str:
        numbers = [(str(worker), row) for worker, row in enumerate(self.table.tolist())]
        kinds = [(kind, row) for kind, row in zip(_KINDS, self.kinds.tolist(), strict=True) if row[0]]
        return "\n\n".join(_rows(title, rows) for title, rows in (("Worker", numbers), ("Asked for", kinds)) if rows)


def _rows(title: str, rows: list[tuple[str, list[float]]]) -> str:
    width = max(6, *(len(name) for name, _ in rows))
    lines = [f"{title:>{width}} {'Calls':>6} {'Items':>12} {'ms':>10} {'Sent':>12} {'Received':>12}"]
    for name, (calls, items, seconds, sent, received) in rows:
        counted = f"{calls:>6,.0f} {items:>12,.0f} {1000 * seconds:>10,.2f} {sent:>12,.0f} {received:>12,.0f}"
        lines.append(f"{name:>{width}} {counted}")
    return "\n".join(lines)


class Calls:
    """The workers of one cluster."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool
        self.tally = Tally(pool.size)
        self._members = pool.members

    def submit(self, worker: int, method: str, arguments: tuple[Any, ...]) -> Any:
        """Begin a call; it is lost if the workers were replaced by those of another version."""
        return self.pool.submit(worker, method, arguments, self._members)

    def ask(self, method: str, asked: Sequence[tuple[int, tuple[Any, ...]]], check: Check) -> list[Any]:
        """The answers of several workers to their requests; a worker that dies is asked again."""
        answers: list[Any] = [None] * len(asked)
        left = list(range(len(asked)))
        for _ in range(ATTEMPTS):
            number = next_number()
            try:
                calls = [self.submit(asked[one][0], method, (number, *asked[one][1])) for one in left]
                lost = self._collect(calls, left, answers, check)
            except BaseException:
                for one in left:
                    self.pool.tell(asked[one][0], "stop", number)
                raise
            if not lost:
                for (worker, arguments), (answer, work) in zip(asked, answers, strict=True):
                    self.tally.add(worker, method, work, byte_count(arguments), byte_count(answer))
                return [answer for answer, _ in answers]
            left = lost
            self.await_return(check)
        raise worker_lost()

    def _collect(self, calls: list[Any], places: list[int], answers: list[Any], check: Check) -> list[int]:
        """Put answers in their places; returns the places of those whose worker died."""
        try:
            for place, answer in zip(places, self.pool.collect(calls, check), strict=True):
                answers[place] = answer
            return []
        except Lost:
            lost = []
        for place, call in zip(places, calls, strict=True):
            try:
                answers[place] = self.pool.collect([call], check)[0]
            except Lost:
                lost.append(place)
        return lost

    def stream(self, worker: int, method: str, arguments: tuple[Any, ...], check: Check) -> Iterator[Any]:
        """What a method of a worker yields, a piece ahead of the reader. It begins now, and is repeated if the worker
        dies before the first piece has arrived."""
        number = next_number()
        call = self.submit(worker, "begin", (number, method, arguments))
        return self._pieces(worker, method, arguments, check, number, call)

    def _pieces(
        self, worker: int, method: str, arguments: tuple[Any, ...], check: Check, number: int, call: Any
    ) -> Iterator[Any]:
        try:
            piece, number = self._first_piece(worker, method, arguments, check, number, call)
            self.tally.add(worker, method, piece.work, byte_count(arguments), byte_count(piece.items))
            while not piece.is_last:
                call = self.submit(worker, "more", (number,))
                yield from piece.items
                piece = self.collect_piece(call, check)
                self.tally.add(worker, method, piece.work, 0, byte_count(piece.items))
        except Lost:
            raise worker_lost() from None
        except BaseException:
            self.pool.tell(worker, "stop", number)
            raise
        yield from piece.items

    def _first_piece(
        self, worker: int, method: str, arguments: tuple[Any, ...], check: Check, number: int, call: Any
    ) -> tuple[Piece, int]:
        for _ in range(ATTEMPTS - 1):
            try:
                return self.collect_piece(call, check), number
            except Lost:
                self.await_return(check)
                number = next_number()
                call = self.submit(worker, "begin", (number, method, arguments))
        return self.collect_piece(call, check), number

    def collect_piece(self, call: Any, check: Check) -> Piece:
        """The answer to `begin` or `more`; `Lost` also if the worker was restarted since `begin`."""
        piece: Piece | None = self.pool.collect([call], check)[0]
        if piece is None:
            raise Lost
        return piece

    def await_return(self, check: Check) -> None:
        """Wait until a worker that died is there again."""
        try:
            self.pool.await_return(check)
        except Lost:
            raise worker_lost() from None


def next_number() -> int:
    """A number for a call, by which it can be stopped."""
    return next(_numbers)


def byte_count(value: Any) -> int:
    """About how many bytes are sent: those of arrays and texts."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, tuple | list):
        return sum(map(byte_count, value))
    if isinstance(value, Batch):
        return sum(map(byte_count, value.columns.values()))
    if isinstance(value, Mapping):
        return sum(map(byte_count, value.values()))
    if isinstance(value, str):
        return len(value)
    return sum(byte_count(getattr(value, slot)) for slot in getattr(type(value), "__slots__", ()))
