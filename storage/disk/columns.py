"""Property columns as files, and columns that are read from them.

    integers, floats   values (8 bytes each), nulls (a byte each) if there are any, positions if the column is sparse
    booleans           the same, a byte each
    strings            an Arrow IPC file: a column `value`, and a column `position` if it is sparse
    values             anything else: `offsets` into `data`, the values as in codec.py; a null takes no bytes

Numbers are read from the mapped file. Text and general values become Python objects only where they are asked for; a
column that is read from end to end is kept in that form as long as the cache has room.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.disk.blocks import ArrayFile, BlockReader, FileWriter
from hoplite.storage.disk.cache import Cache
from hoplite.storage.disk.codec import BadEncoding, decode, encode_into
from hoplite.storage.disk.problems import damaged
from hoplite.storage.property_columns import PropertyColumn
from hoplite.values.columns import Booleans, Column, Floats, Int64s, Integers, Objects, Strings, object_array

if TYPE_CHECKING:
    import pyarrow as pa

WHOLE_SHARE = 8
"""When one in so many values is asked for at once, all of them are made Python objects, and kept."""
SMALL_COLUMN = 65_536
"""A column of up to so many values is made Python objects as soon as any of it is asked for."""
OBJECT_BYTES = 64
"""What a Python object takes beside its content, about."""


# --- writing ---


def column_kind(column: Column) -> str:
    """Which of the forms at the top a column takes."""
    match column:
        case Integers():
            return "integers"
        case Floats():
            return "floats"
        case Booleans():
            return "booleans"
        case Strings(values=texts) if _is_unicode(texts):
            return "strings"
    return "values"


def _is_unicode(texts: NDArray[np.object_]) -> bool:
    """Arrow's strings are UTF-8, which has no lone surrogates; Cypher's strings may."""
    try:
        for text in texts:
            if text is not None and not text.isascii():
                text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_column(kind: str, column: PropertyColumn, writer: FileWriter) -> None:
    """Write a column in a form that holds it."""
    if kind == "strings":
        _write_strings(writer, column)
        return
    if column.positions is not None:
        writer.add("positions", column.positions)
    match column.column:
        case Integers(values=values, nulls=nulls) | Floats(values=values, nulls=nulls):
            writer.add("values", values)
            if nulls is not None:
                writer.add("nulls", nulls)
        case Booleans(values=booleans, nulls=nulls):
            writer.add("values", booleans)
            if nulls is not None:
                writer.add("nulls", nulls)
        case other:
            data, offsets = bytearray(), np.zeros(len(other) + 1, np.int64)
            for row, value in enumerate(other.objects()):
                if value is not None:
                    encode_into(value, data)
                offsets[row + 1] = len(data)
            writer.add("offsets", offsets)
            writer.add("data", np.frombuffer(bytes(data), np.uint8))


def _write_strings(writer: FileWriter, column: PropertyColumn) -> None:
    import pyarrow as pa

    columns: dict[str, pa.Array[Any]] = {"value": pa.array(column.column.objects(), pa.large_string())}
    if column.positions is not None:
        columns["position"] = pa.array(column.positions, pa.int64())
    batch = pa.record_batch(columns)
    with pa.ipc.new_file(_Sink(writer), batch.schema) as out:
        out.write_batch(batch)


class _Sink(io.RawIOBase):
    """A file as Arrow writes to it; closing it leaves the writer open."""

    def __init__(self, writer: FileWriter) -> None:
        self._writer = writer
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        written = self._writer.write(memoryview(data).cast("B"))
        self._size += written
        return written

    def tell(self) -> int:
        return self._size


# --- reading ---


class _Encoded(Protocol):
    """Values that are Python objects only on demand."""

    positions: Int64s | None

    def __len__(self) -> int: ...

    def take(self, slots: Int64s) -> Strings | Objects: ...

    def one(self, slot: int) -> Any: ...

    def everything(self) -> Column: ...

    @property
    def object_bytes(self) -> int: ...


@dataclass(slots=True, eq=False)
class _ArrowStrings:
    """Text in Arrow's form."""

    texts: pa.Array[Any]
    positions: Int64s | None

    def __len__(self) -> int:
        return len(self.texts)

    def take(self, slots: Int64s) -> Strings | Objects:
        return Strings(_objects(self.texts.take(_indices(slots))))

    def one(self, slot: int) -> Any:
        return self.texts[slot].as_py()

    def everything(self) -> Column:
        return Strings(_objects(self.texts))

    @property
    def object_bytes(self) -> int:
        return self.texts.nbytes + OBJECT_BYTES * len(self.texts)


def _indices(slots: Int64s) -> pa.Int64Array:
    import pyarrow as pa

    return pa.array(slots, pa.int64())


def _objects(texts: pa.Array[Any]) -> NDArray[np.object_]:
    found: NDArray[np.object_] = texts.to_numpy(zero_copy_only=False)
    if found.flags.writeable:
        return found
    return found.copy()


@dataclass(slots=True, eq=False)
class _EncodedValues:
    """General values as codec.py writes them."""

    offsets: Int64s
    data: NDArray[np.uint8]
    positions: Int64s | None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, slots: Int64s) -> Strings | Objects:
        return Objects(object_array((self.one(slot) for slot in slots.tolist()), len(slots)))

    def one(self, slot: int) -> Any:
        first, last = int(self.offsets[slot]), int(self.offsets[slot + 1])
        return None if first == last else decode(self.data[first:last].data)

    def everything(self) -> Column:
        return self.take(np.arange(len(self)))

    @property
    def object_bytes(self) -> int:
        return 4 * len(self.data) + 2 * OBJECT_BYTES * len(self)


class StoredColumn:
    """One key's values in a file, loaded when they are first asked for; the same as a `PropertyColumn`."""

    __slots__ = ("_cache", "_is_sparse", "_key", "_kind", "_name", "_reader", "_total")

    def __init__(self, reader: BlockReader, cache: Cache, name: str, kind: str, is_sparse: bool, total: int) -> None:
        self._reader = reader
        self._cache = cache
        self._name = name
        self._kind = kind
        self._is_sparse = is_sparse
        self._total = total  # entities, not values
        self._key = (reader.serial, name)

    @property
    def positions(self) -> Int64s | None:
        """The entities that have a value, if the column is sparse."""
        return self._loaded().positions if self._is_sparse else None

    def gather(self, positions: Int64s) -> Column:
        """The values of these entities; null for those that have none, and for positions outside the base."""
        loaded = self._loaded()
        if isinstance(loaded, PropertyColumn):
            return loaded.gather(positions)
        if self._is_worth_decoding(loaded, len(positions)):
            return self.whole().gather(positions)
        slots, found = _slots(loaded.positions, positions, self._total)
        taken: Strings | Objects = self._guarded(lambda: loaded.take(np.where(found, slots, 0)))
        taken.values[~found] = None  # a fresh array
        return taken

    def entries(self) -> tuple[Int64s, Column]:
        """The entities that have a value, ascending, and their values."""
        return self.whole().entries()

    def value(self, position: int) -> Any:
        """The value of one entity, or None."""
        loaded = self._loaded()
        if isinstance(loaded, PropertyColumn):
            return loaded.value(position)
        if self._is_worth_decoding(loaded, 1):
            return self.whole().value(position)
        slot = position
        if loaded.positions is not None:
            slot = int(np.searchsorted(loaded.positions, position))
            if slot == len(loaded.positions) or loaded.positions[slot] != position:
                return None
        elif not 0 <= position < len(loaded):
            return None
        return self._guarded(lambda: loaded.one(slot))

    def whole(self) -> PropertyColumn:
        """All of it in memory."""
        loaded = self._loaded()
        if isinstance(loaded, PropertyColumn):
            return loaded

        def load() -> tuple[PropertyColumn, int]:
            return PropertyColumn(loaded.positions, self._guarded(loaded.everything)), loaded.object_bytes

        return self._cache.get((*self._key, "objects"), load, from_disk=False)

    def _is_worth_decoding(self, loaded: _Encoded, wanted: int) -> bool:
        share = wanted * WHOLE_SHARE >= len(loaded) or len(loaded) <= SMALL_COLUMN
        return share and self._cache.fits(loaded.object_bytes)

    def _guarded(self, read: Callable[[], Any]) -> Any:
        try:
            return read()
        except BadEncoding as error:
            raise damaged(self._reader.folder / self._name, str(error)) from error

    def _loaded(self) -> PropertyColumn | _Encoded:
        return self._cache.get(self._key, self._load)

    def _load(self) -> tuple[PropertyColumn | _Encoded, int]:
        entry = self._reader.file(self._name)
        column = self._load_strings(entry) if self._kind == "strings" else self._load_arrays()
        count = len(column.column) if isinstance(column, PropertyColumn) else len(column)
        held = column.positions
        if (held is None) == self._is_sparse or count != (self._total if held is None else len(held)):
            raise damaged(self._reader.folder / self._name, "it has not as many values as there should be")
        return column, entry.size

    def _load_strings(self, entry: ArrayFile) -> _Encoded:
        import pyarrow as pa

        path = self._reader.folder / self._name
        content = self._reader.content(self._name)
        try:
            batch = pa.ipc.open_file(pa.py_buffer(content)).get_batch(0)
            batch.validate(full=True)
            texts = batch.column("value")
            positions = batch.column("position").to_numpy() if "position" in batch.schema.names else None
            if not pa.types.is_large_string(texts.type):
                raise pa.ArrowInvalid(f"a column of {texts.type}")
        except (pa.ArrowException, KeyError, IndexError) as error:
            raise damaged(path, f"it is not the Arrow file it should be ({error})") from error
        return _ArrowStrings(texts, positions)

    def _load_arrays(self) -> PropertyColumn | _Encoded:
        arrays = self._reader.arrays(self._name)
        positions = arrays.get("positions")
        nulls = arrays.get("nulls")
        match self._kind:
            case "integers":
                return PropertyColumn(positions, Integers(arrays["values"], nulls))
            case "floats":
                return PropertyColumn(positions, Floats(arrays["values"], nulls))
            case "booleans":
                return PropertyColumn(positions, Booleans(arrays["values"], nulls))
        offsets, data = arrays["offsets"], arrays["data"]
        if not len(offsets) or offsets[0] or offsets[-1] != len(data) or bool((offsets[1:] < offsets[:-1]).any()):
            raise damaged(self._reader.folder / self._name, "its offsets do not fit its data")
        return _EncodedValues(offsets, data, positions)


def _slots(held: Int64s | None, positions: Int64s, total: int) -> tuple[Int64s, NDArray[np.bool_]]:
    """Where the values of these entities are, and which of them have one."""
    if held is None:
        return positions, (positions >= 0) & (positions < total)
    slots = np.minimum(np.searchsorted(held, positions), len(held) - 1)
    return slots, held[slots] == positions
