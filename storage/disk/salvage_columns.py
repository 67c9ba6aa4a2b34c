"""What is left of a property column: the values whose bytes are all in intact blocks.

An intact column is read as a whole. Otherwise each value is checked: its place in the arrays of the file and, for
values of different lengths, the bytes between its offsets.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.errors import CypherError
from hoplite.storage.disk.cache import Cache
from hoplite.storage.disk.codec import BadEncoding, decode
from hoplite.storage.disk.columns import StoredColumn
from hoplite.storage.disk.manifest import StoredKey
from hoplite.storage.disk.salvage_files import SalvageReader
from hoplite.storage.property_columns import KeyValues, PropertyColumn
from hoplite.values.columns import Booleans, Column, FloatLists, Floats, Int64s, Integers, Objects, object_array

_NUMBERS = {"integers": Integers, "floats": Floats, "booleans": Booleans}
_UNREADABLE = (CypherError, BadEncoding, KeyError, ValueError, IndexError, TypeError, OverflowError)


def salvaged_column(
    reader: SalvageReader, cache: Cache, key: StoredKey, total: int
) -> tuple[KeyValues | None, int | None]:
    """What can be read of a column, and for how many entities the value is lost; None: for all."""
    column = StoredColumn(reader, cache, key.file, key.kind, key.is_sparse, total)
    try:
        positions, values = column.entries()
        if _are_positions(positions, total) and len(values) == len(positions):
            return column, 0
    except _UNREADABLE:
        pass
    try:
        return _part(reader, key, total)
    except _UNREADABLE:
        return None, None


def _part(reader: SalvageReader, key: StoredKey, total: int) -> tuple[KeyValues | None, int | None]:
    if key.kind == "strings":
        positions, are_placed, values, are_sound = _texts(reader, key)
    else:
        positions, are_placed = reader.part(key.file, "positions") if key.is_sparse else (np.arange(total), None)
        if key.kind == "vectors":
            values, are_sound = _vectors(reader, key, len(positions))
        else:
            values, are_sound = _numbers(reader, key) if key.kind in _NUMBERS else _encoded(reader, key)
    if len(positions) != len(are_sound):
        return None, None
    if are_placed is not None:
        are_sound = are_sound & are_placed
    kept = np.flatnonzero(are_sound & ~values.null_mask())
    found = positions[kept].astype(np.int64)
    if not len(kept) or not _are_positions(found, total):
        return None, None
    return PropertyColumn(found, values.take(kept)), int((~are_sound).sum())


def _are_positions(positions: Int64s, total: int) -> bool:
    return not len(positions) or bool(
        positions[0] >= 0 and positions[-1] < total and (positions[1:] > positions[:-1]).all()
    )


def _numbers(reader: SalvageReader, key: StoredKey) -> tuple[Column, NDArray[np.bool_]]:
    values, are_sound = reader.part(key.file, "values")
    nulls = None
    if "nulls" in reader.file(key.file).arrays:
        nulls, are_known = reader.part(key.file, "nulls")
        are_sound = are_sound & are_known
    return _NUMBERS[key.kind](values, nulls), are_sound


def _vectors(reader: SalvageReader, key: StoredKey, count: int) -> tuple[Column, NDArray[np.bool_]]:
    values, are_sound = reader.part(key.file, "values")
    are_sound = np.asarray(are_sound.reshape(count, -1).all(axis=1))
    nulls = None
    if "nulls" in reader.file(key.file).arrays:
        nulls, are_known = reader.part(key.file, "nulls")
        are_sound = are_sound & are_known
    return FloatLists(values.reshape(count, -1), nulls), are_sound


def _encoded(reader: SalvageReader, key: StoredKey) -> tuple[Column, NDArray[np.bool_]]:
    offsets, are_sound = reader.part(key.file, "offsets")
    data, are_read = reader.part(key.file, "data")
    are_sound = _reach_sound(offsets, are_sound, are_read)
    values: list[Any] = [None] * len(are_sound)
    for slot in np.flatnonzero(are_sound).tolist():
        first, last = int(offsets[slot]), int(offsets[slot + 1])
        values[slot] = None if first == last else decode(data[first:last].data)
    return Objects(object_array(values, len(values))), are_sound


def _reach_sound(offsets: Int64s, are_sound: NDArray[np.bool_], are_read: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each value between two offsets: are both intact, and all the bytes between them?"""
    unread = np.concatenate([[0], np.cumsum(~are_read)])
    bounded = np.clip(offsets, 0, len(are_read))
    are_sound = are_sound & (bounded == offsets)
    reached: NDArray[np.bool_] = (
        are_sound[1:] & are_sound[:-1] & (offsets[1:] >= offsets[:-1]) & (unread[bounded[1:]] == unread[bounded[:-1]])
    )
    return reached


def _texts(reader: SalvageReader, key: StoredKey) -> tuple[Int64s, NDArray[np.bool_] | None, Column, NDArray[np.bool_]]:
    """Positions and which of them are intact, texts and which of them are."""
    import pyarrow as pa

    content, are_read = reader.whole(key.file)
    buffer = pa.py_buffer(content)
    try:
        batch = pa.ipc.open_file(buffer).get_batch(0)
        texts = batch.column("value")
        if not pa.types.is_large_string(texts.type):
            raise ValueError(str(texts.type))
    except (pa.ArrowException, OSError) as error:
        raise ValueError(str(error)) from error
    validity, offsets_at, data_at = (_within(buffer, part) for part in texts.buffers())
    count = len(texts)
    assert offsets_at is not None
    offsets = np.frombuffer(content, "<i8", count + 1, offsets_at)
    whole = _words(are_read, offsets_at, count + 1, 8)
    read_data = are_read[data_at:] if data_at is not None else np.zeros(0, np.bool_)
    are_sound = _reach_sound(offsets, whole, read_data)
    nulls = np.zeros(count, np.bool_)
    if validity is not None:
        bits = np.frombuffer(content, np.uint8, -(-count // 8), validity)
        nulls = np.unpackbits(bits, count=count, bitorder="little") == 0
        are_sound &= np.repeat(are_read[validity : validity + len(bits)], 8)[:count]
    values: list[Any] = [None] * count
    for slot in np.flatnonzero(are_sound & ~nulls).tolist():
        assert data_at is not None
        values[slot] = bytes(content[data_at + int(offsets[slot]) : data_at + int(offsets[slot + 1])]).decode()
    column = Objects(object_array(values, count))
    if not key.is_sparse:
        return np.arange(count), None, column, are_sound
    place = _within(buffer, batch.column("position").buffers()[1])
    assert place is not None
    return np.frombuffer(content, "<i8", count, place), _words(are_read, place, count, 8), column, are_sound


def _within(whole: Any, part: Any) -> int | None:
    """Where one of Arrow's parts begins in the file."""
    if part is None or not part.size:
        return None
    at = int(part.address - whole.address)
    if not 0 <= at <= whole.size - part.size:
        raise ValueError("not in the file")
    return at


def _words(are_read: NDArray[np.bool_], offset: int, count: int, size: int) -> NDArray[np.bool_]:
    """For each word from a byte onwards: is all of it intact?"""
    words: NDArray[np.bool_] = np.all(are_read[offset : offset + count * size].reshape(count, size), axis=1)
    return words
