"""Queues of intermediate data for building a graph, read back in order.

Up to a limit the data stays in memory. Beyond it, items go to files as arrays, if there is a place for files; a `Codec`
converts an item to arrays and back. Nothing here outlasts the build.

    spill = Spill(limit_bytes, scratch)
    ends = spill.queue(Arrays())
    ends.put((starts, ends))
    for starts, ends in ends: ...
    starts, ends = joined(ends)
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass

T = TypeVar("T")
Arrays = tuple[NDArray[Any], ...]


class SpillFailed(OSError):
    """Intermediate data could not be written, or not be read back."""


class Scratch(Protocol):
    """A place for temporary files. Raises SpillFailed."""

    def append(self, name: str, array: NDArray[Any]) -> int:
        """Append an array to a file; returns its offset."""
        ...

    def read(self, name: str, offset: int, into: NDArray[Any]) -> None:
        """Fill an array with what was written at an offset."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file that is no longer needed."""
        ...


class Codec(Protocol[T]):
    """How an item is written to a file."""

    def size(self, thing: T) -> int:
        """Its approximate size in memory, in bytes."""
        ...

    def encode(self, thing: T) -> tuple[Any, Arrays]:
        """A description of the item, and its arrays."""
        ...

    def decode(self, what: Any, arrays: Arrays) -> T:
        """The item from its arrays."""
        ...


class PlainArrays:
    """Tuples of arrays as they are."""

    def size(self, thing: Arrays) -> int:
        """The bytes of the arrays."""
        return sum(array.nbytes for array in thing)

    def encode(self, thing: Arrays) -> tuple[Any, Arrays]:
        """The arrays."""
        return None, thing

    def decode(self, what: Any, arrays: Arrays) -> Arrays:
        """The arrays."""
        return arrays


@dataclass(frozen=True, slots=True)
class _Filed:
    """An item in a file: its description, and (type, count, offset) of its arrays."""

    what: Any
    arrays: tuple[tuple[np.dtype[Any], int, int], ...]


class Spill:
    """Queues that share one limit."""

    def __init__(self, limit_bytes: int | None = None, scratch: Scratch | None = None) -> None:
        self._limit_bytes = limit_bytes if scratch is not None else None
        self.scratch = scratch
        self._held_bytes = 0
        self._queues: list[Queue[Any]] = []
        self._names = count()

    def queue(self, codec: Codec[T]) -> Queue[T]:
        """A new queue."""
        made = Queue(self, codec, f"spill-{next(self._names)}")
        self._queues.append(made)
        return made

    def _took(self, size: int) -> None:
        self._held_bytes += size
        if self._limit_bytes is not None and self._held_bytes > self._limit_bytes:
            assert self.scratch is not None
            for queue in self._queues:
                queue._file(self.scratch)
            self._held_bytes = 0


class Queue(Generic[T]):
    """Items in the order in which they were added."""

    def __init__(self, spill: Spill, codec: Codec[T], name: str) -> None:
        self._spill = spill
        self._codec = codec
        self._name = name
        self._filed: list[_Filed] = []  # come before those held in memory
        self._held: list[T] = []
        self._held_bytes = 0

    def __len__(self) -> int:
        return len(self._filed) + len(self._held)

    def put(self, thing: T) -> None:
        """Add an item, which must not be changed afterwards."""
        self._held.append(thing)
        size = self._codec.size(thing)
        self._held_bytes += size
        self._spill._took(size)

    def __iter__(self) -> Iterator[T]:
        for filed in self._filed:
            yield self._codec.decode(filed.what, tuple(self._read(*place) for place in filed.arrays))
        yield from list(self._held)

    def shapes(self) -> Iterator[tuple[tuple[np.dtype[Any], int], ...]]:
        """The types and lengths of the arrays of each item; nothing is read."""
        for filed in self._filed:
            yield tuple((dtype, length) for dtype, length, _ in filed.arrays)
        for held in self._held:
            yield tuple((array.dtype, len(array)) for array in self._codec.encode(held)[1])

    def drain(self, into: Arrays) -> None:
        """Move the arrays of all items, one after another, into arrays that are long enough."""
        at = [0] * len(into)
        for filed in self._filed:
            for column, (dtype, length, offset) in enumerate(filed.arrays):
                part = into[column][at[column] : at[column] + length]
                if dtype == part.dtype:
                    self._scratch.read(self._name, offset, part)
                else:
                    part[:] = self._read(dtype, length, offset)
                at[column] += length
        held_last_first = self._held[::-1]
        self._held = []
        while held_last_first:  # each is released before the next is copied
            for column, array in enumerate(self._codec.encode(held_last_first.pop())[1]):
                into[column][at[column] : at[column] + len(array)] = array
                at[column] += len(array)
        self.clear()

    def clear(self) -> None:
        """Drop everything."""
        if self._filed:
            self._scratch.remove(self._name)
        self._filed, self._held = [], []
        self._spill._held_bytes -= self._held_bytes
        self._held_bytes = 0

    @property
    def _scratch(self) -> Scratch:
        scratch = self._spill.scratch
        assert scratch is not None
        return scratch

    def _read(self, dtype: np.dtype[Any], length: int, offset: int) -> NDArray[Any]:
        array = np.empty(length, dtype)
        self._scratch.read(self._name, offset, array)
        return array

    def _file(self, scratch: Scratch) -> None:
        """Move what is in memory to the file."""
        for held in self._held:
            what, arrays = self._codec.encode(held)
            places = tuple((array.dtype, len(array), scratch.append(self._name, array)) for array in arrays)
            self._filed.append(_Filed(what, places))
        self._held, self._held_bytes = [], 0


def joined(queue: Queue[Arrays], dtypes: tuple[Any, ...]) -> Arrays:
    """Each array of a queue, concatenated; the queue is empty afterwards."""
    shapes = list(queue.shapes())
    if len(shapes) == 1 and tuple(dtype for dtype, _ in shapes[0]) == tuple(map(np.dtype, dtypes)):
        only = next(iter(queue))
        queue.clear()
        return only
    columns = tuple(np.empty(sum(shape[column][1] for shape in shapes), dtype) for column, dtype in enumerate(dtypes))
    queue.drain(columns)
    return columns
