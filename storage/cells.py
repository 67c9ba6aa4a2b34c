"""Property values on their way into a bulk load: blocks of values, held until the load is committed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.disk.codec import decode, encode_into
from hoplite.storage.draft import FoldedColumn, Piece
from hoplite.storage.property_columns import PropertyColumn, without_nulls
from hoplite.storage.spill import Arrays, Queue
from hoplite.values.columns import (
    Booleans,
    Column,
    FloatLists,
    Floats,
    Int64s,
    Integers,
    Objects,
    Strings,
    concatenate,
    from_objects,
    object_array,
)

_OBJECT_BYTES = 80
"""The approximate size of a value that is a Python object."""


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Values of one key: the i-th is that of entity rows[i], counted from the first one of a load. No nulls."""

    rows: Int64s | range
    values: Column


def cells(column: Column, first: int = 0) -> Cells:
    """The non-null values of a column, for entities numbered from `first`."""
    nulls = column.null_mask()
    if not bool(nulls.any()):
        return Cells(range(first, first + len(column)), without_nulls(column))
    present = np.flatnonzero(~nulls)
    return Cells(present + first, without_nulls(column.take(present)))


class CellsCodec:
    """Cells as arrays: numbers as they are, texts as UTF-8, other values encoded as in the log."""

    def size(self, thing: Cells) -> int:
        """Their approximate size in memory, in bytes."""
        rows = 0 if isinstance(thing.rows, range) else thing.rows.nbytes
        match thing.values:
            case Integers(values=values) | Floats(values=values) | Booleans(values=values):
                return rows + values.nbytes
            case FloatLists(matrix=matrix):
                return rows + matrix.nbytes
        return rows + _OBJECT_BYTES * len(thing.values)

    def encode(self, thing: Cells) -> tuple[Any, Arrays]:
        """The kind of values, with the rows if these are consecutive; and the arrays."""
        span = thing.rows if isinstance(thing.rows, range) else None
        rows = () if isinstance(thing.rows, range) else (thing.rows,)
        match thing.values:
            case Integers(values=values) | Floats(values=values) | Booleans(values=values):
                return (type(thing.values), span), (*rows, values)
            case FloatLists(matrix=matrix):
                return ((FloatLists, matrix.shape[1]), span), (*rows, matrix.reshape(-1))
            case Strings(values=texts):
                encoded = _utf8(texts)
                if encoded is not None:
                    return (Strings, span), (*rows, *encoded)
        return (Objects, span), (*rows, *_encoded(thing.values.objects()))

    def decode(self, what: Any, arrays: Arrays) -> Cells:
        """The cells from their arrays."""
        kind, span = what
        rows: Int64s | range = arrays[0] if span is None else span
        content = arrays[1:] if span is None else arrays
        if isinstance(kind, tuple):
            return Cells(rows, FloatLists(content[0].reshape(-1, kind[1])))
        if kind is Strings:
            return Cells(rows, Strings(_texts(*content)))
        if kind is Objects:
            return Cells(rows, from_objects(_decoded(*content)))
        return Cells(rows, kind(content[0]))


def _utf8(texts: NDArray[np.object_]) -> Arrays | None:
    """The offset of each text, and their bytes; None if UTF-8 cannot encode them."""
    import pyarrow as pa

    try:
        array = pa.array(texts, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError):
        return None
    _, offsets, data = array.buffers()
    assert offsets is not None
    starts = np.frombuffer(memoryview(offsets), np.int64, len(texts) + 1)
    size = int(starts[-1])
    return starts, np.frombuffer(memoryview(data), np.uint8, size) if data is not None else np.zeros(0, np.uint8)


def _texts(offsets: NDArray[Any], data: NDArray[Any]) -> NDArray[np.object_]:
    import pyarrow as pa

    buffers = pa.py_buffer(offsets.data), pa.py_buffer(data.data)
    array = pa.LargeStringArray.from_buffers(len(offsets) - 1, *buffers)
    texts: NDArray[np.object_] = array.to_numpy(zero_copy_only=False)
    return texts if texts.flags.writeable else texts.copy()


def _encoded(values: NDArray[np.object_]) -> Arrays:
    data, offsets = bytearray(), np.zeros(len(values) + 1, np.int64)
    for row, value in enumerate(values):
        encode_into(value, data)
        offsets[row + 1] = len(data)
    return offsets, np.frombuffer(bytes(data), np.uint8)


def _decoded(offsets: NDArray[Any], data: NDArray[Any]) -> NDArray[np.object_]:
    content, bounds = memoryview(data.tobytes()), offsets.tolist()
    values = (decode(content[first:last]) for first, last in pairwise(bounds))
    return object_array(values, len(bounds) - 1)


class AddedColumn:
    """The values of one key in a bulk load, following those that existed before (`old`)."""

    def __init__(self, added: Queue[Cells]) -> None:
        self.old: FoldedColumn | None = None
        self.first = 0  # the number of the first new entity
        self._added = added
        self._last = -1
        self._is_ascending = True

    def add(self, values: Cells) -> None:
        """Add values."""
        rows = values.rows
        if rows[0] <= self._last or not (isinstance(rows, range) or bool((rows[1:] > rows[:-1]).all())):
            self._is_ascending = False
        self._last = max(self._last, int(rows[-1]))
        self._added.put(values)

    def pieces(self) -> Iterator[Piece]:
        """All values, ascending."""
        if self.old is not None:
            yield from self.old.pieces()
        if self._is_ascending:
            yield from ((self._numbers(added), added.values) for added in self._added)
            return
        every = list(self._added)
        numbers = np.concatenate([self._numbers(added) for added in every])
        order = np.argsort(numbers, kind="stable")
        yield numbers[order], concatenate([added.values for added in every]).take(order)

    def _numbers(self, added: Cells) -> Int64s:
        if isinstance(added.rows, range):
            return np.arange(added.rows.start + self.first, added.rows.stop + self.first, dtype=np.int64)
        return added.rows + self.first

    def unchanged(self) -> PropertyColumn | None:
        """None: the column is new."""
        return None
