"""What a statement may hold in memory: rows that operators gather, and single values that grow.

An operator that gathers rows (a sort, a join, an aggregation) reports about how many bytes they take, and when it
releases them. Exceeding the statement's limit raises Neo4j's error for it. Single values have the same limit: no list
or text is begun that could not be finished.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from hoplite.engine.batch import Batch
from hoplite.errors import CypherError, memory_limit_reached
from hoplite.storage.disk.cache import machine_memory
from hoplite.values.columns import Column, Objects, Strings

_SHARE = 0.7  # share of the machine's memory, like the share of Neo4j's heap for transactions
_SAMPLE = 8
_DEEPEST = 3  # levels of nested lists and maps that are examined
_LARGE = 256  # from this many bytes of a value on, its occurrences are counted
_SMALL = 1 << 16  # up to this many bytes, a value is not checked
_LOOKED_AT = 1 << 20  # from this many bytes of a value on, the process's memory is read again
_REFERENCE = 8
_LIST_ITEM = 40  # a reference and a small value
_SHORT = 4  # memory is short from this share of the limit on
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_CGROUP = Path("/sys/fs/cgroup/memory.max")


@cache
def default_limit() -> int:
    """The bytes that a statement may hold by default."""
    total = machine_memory()
    with suppress(OSError, ValueError):  # no limit for a control group
        total = min(total, int(_CGROUP.read_text()))
    return int(total * _SHARE)


class _Current(threading.local):
    """What the statement in this thread may hold; None if there is none."""

    memory: Memory | None = None


current = _Current()


def refuse_text(length: int) -> None:
    """Raise an error if a text of this many characters would not fit."""
    if length > sys.maxsize >> 32:
        raise memory_limit_reached(length, default_limit(), 0)
    _refuse(length)


def refuse_list(count: int) -> None:
    """Raise an error if a list of this many elements would not fit."""
    _refuse(count * _LIST_ITEM)


def refuse_references(count: int) -> None:
    """Raise an error if a list of references to this many existing elements would not fit."""
    _refuse(count * _REFERENCE)


def has_room(size: int) -> bool:
    """Whether this many more bytes could be held: what only saves time is left undone where they could not."""
    memory = current.memory
    if memory is None:
        return size <= default_limit()
    return max(memory.look(), memory.held) + size <= memory.limit


def _refuse(size: int) -> None:
    """Raise an error if this many more bytes would not fit: a call into C that allocates them cannot be interrupted."""
    if size < _SMALL:
        return
    memory = current.memory
    if memory is not None and size >= _LOOKED_AT:
        memory.look()
    limit, taken = (default_limit(), 0) if memory is None else (memory.limit, memory.taken)
    if taken + size > limit:
        raise memory_limit_reached(size, limit, taken)


class _Statistics:
    """The system's memory statistics of this process, read each time; empty if the system has none."""

    def __init__(self) -> None:
        self._file = -1

    def read(self) -> bytes:
        """The raw statistics: every statement reads them when it begins, and most never need them parsed."""
        try:
            if self._file < 0:
                self._file = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
            return os.pread(self._file, 128, 0)
        except OSError:
            return b""

    def forget(self) -> None:
        """In a child process: the open file describes the parent."""
        if self._file >= 0:
            os.close(self._file)
        self._file = -1


_statistics = _Statistics()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_statistics.forget)


def process_memory() -> bytes:
    """The system's memory statistics of this process."""
    return _statistics.read()


def _held(statistics: bytes) -> int:
    """Bytes of memory of the process, without pages of mapped files."""
    fields = statistics.split()
    return (int(fields[1]) - int(fields[2])) * _PAGE if fields else 0


class Memory:
    """What one statement holds."""

    # Most statements hold little, and never change these.
    held = 0
    taken = 0  # held by the process since the statement began, at the last look
    began = b""  # the process's statistics when the statement began
    exceeded: CypherError | None = None  # why the statement has to stop, once the process holds too much

    def __init__(self, limit: int | None) -> None:
        self.limit = default_limit() if limit is None else limit

    def look(self) -> int:
        """The bytes that the process has taken since the statement began; 0 if the system does not say."""
        if self.began:
            self.taken = _held(_statistics.read()) - _held(self.began)
        return self.taken

    def is_short(self) -> bool:
        """Whether so much is taken that work should be done in smaller pieces."""
        return self.taken > self.limit // _SHORT

    def holding(self) -> Held:
        """`with memory.holding() as held`: what is added is released at the end."""
        return Held(self)


class Held:
    """What one operator holds."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._bytes = 0

    def add(self, size: int) -> None:
        """Hold this many more bytes."""
        memory = self._memory
        if memory.held + size > memory.limit:
            raise memory_limit_reached(size, memory.limit, memory.held)
        memory.held += size
        self._bytes += size

    def add_batch(self, batch: Batch) -> Batch:
        """Hold the rows of a batch."""
        self.add(sum(column_bytes(column) for column in batch.columns.values()))
        return batch

    def release(self) -> None:
        """Release everything."""
        self._memory.held -= self._bytes
        self._bytes = 0

    def __enter__(self) -> Held:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def column_bytes(column: Column) -> int:
    """About how many bytes a column takes; object values are estimated from a few of them."""
    if isinstance(column, Strings) and column.slots is not None:
        return column.slots.nbytes  # the texts belong to the stored column, and are not read for this
    if isinstance(column, Strings | Objects):
        values = column.objects()
        count = len(values)
        if not count:
            return 0
        some = [values[place] for place in range(0, count, -(-count // _SAMPLE))]
        each = sum(map(_value_bytes, some)) // len(some)
        # Many rows often share a large value: a list that was collected and then unwound.
        distinct = count if each < _LARGE else len(set(map(id, values)))
        return 8 * count + distinct * each
    arrays = (getattr(column, name) for name in column.__slots__)
    return sum(array.nbytes for array in arrays if hasattr(array, "nbytes"))


def _value_bytes(value: Any, depth: int = 0) -> int:
    if isinstance(value, str):
        return sys.getsizeof(value)
    if not isinstance(value, list | tuple | dict):
        return 32
    size = sys.getsizeof(value)
    if depth == _DEEPEST:  # deeper parts may be shared, and are not examined
        return size
    count = len(value)
    if isinstance(value, dict):
        inside = list(islice(value.values(), _SAMPLE))
    else:
        inside = list(value[:: -(-count // _SAMPLE)]) if count else []
    return size + (count * sum(_value_bytes(item, depth + 1) for item in inside) // len(inside) if inside else 0)
