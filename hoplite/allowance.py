"""What the current statement may still use, starting with its text: the time until its deadline, and memory.

Parsing, checking and planning a text are hundreds of small functions over trees that call each other. So the allowance
is not passed as an argument: it belongs to the thread while the thread prepares a statement, and whatever loops over
many parts consults it between bounded amounts of work.

    with allowing(Allowance(deadline, cancelled, memory_bytes)):
        ...
            check_time()
"""

from __future__ import annotations

import threading
import time

from hoplite.errors import memory_limit_reached, transaction_terminated, transaction_timed_out
from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """`deadline` is a time of time.monotonic(); another thread sets `cancelled` to stop the statement."""

    deadline: float | None = None
    cancelled: threading.Event | None = None
    memory_bytes: int | None = None


class _Current(threading.local):
    allowance = Allowance()


_current = _Current()


class allowing:
    """`with allowing(allowance):` within the block, this thread works under the allowance."""

    __slots__ = ("_allowance", "_before")

    def __init__(self, allowance: Allowance) -> None:
        self._allowance = allowance
        self._before = allowance

    def __enter__(self) -> None:
        self._before = _current.allowance
        _current.allowance = self._allowance

    def __exit__(self, *_: object) -> None:
        _current.allowance = self._before


def deadline_after(seconds: float | None) -> float | None:
    """The moment that many seconds from now; None for no deadline."""
    return None if seconds is None else time.monotonic() + seconds


def check_time() -> None:
    """Raise if the statement was cancelled or is past its deadline."""
    allowance = _current.allowance
    if allowance.cancelled is not None and allowance.cancelled.is_set():
        raise transaction_terminated()
    if allowance.deadline is not None and time.monotonic() > allowance.deadline:
        raise transaction_timed_out()


def check_memory(size: int) -> None:
    """Raise if this many bytes are more than the statement may hold."""
    limit = _current.allowance.memory_bytes
    if limit is not None and size > limit:
        raise memory_limit_reached(size, limit, 0)
