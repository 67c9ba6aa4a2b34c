"""Property columns as files, and columns that are read from them.

    integers, floats   values (8 bytes each), nulls (a byte each) if there are any, positions if the column is sparse
    booleans           the same, a byte each
    vectors            lists of floats of one length: `values`, row after row, in 8 or 4 bytes each; the rest as above
    strings            an Arrow IPC file: a column `value`, and a column `position` if it is sparse
    values             anything else: `offsets` into `data`, the values as in codec.py; a null takes no bytes

Numbers are read from the mapped file. Text and general values become Python objects only when read; a column that is
read completely is kept in that form while the cache has room.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.disk.blocks import ArrayFile, BlockReader, FileWriter
from hoplite.storage.disk.cache import Cache
from hoplite.storage.disk.codec import BadEncoding, decode, encode_into
from hoplite.storage.disk.problems import damaged
from hoplite.storage.draft import ColumnDraft
from hoplite.storage.property_columns import DENSE_SHARE, PropertyColumn, narrowed
from hoplite.values.columns import (
    Booleans,
    Column,
    FloatLists,
    Floats,
    Int64s,
    Integers,
    Objects,
    Strings,
    object_array,
    with_nulls_at,
)

if TYPE_CHECKING:
    import pyarrow as pa

WHOLE_SHARE = 8
"""If at least one in this many values is read at once, all of them become Python objects and are kept."""
SMALL_COLUMN = 65_536
"""A column of up to this many values becomes Python objects as soon as any of it is read."""
_OBJECTS = "objects"
OBJECT_BYTES = 64
"""The approximate overhead of a Python object."""


# --- writing ---


def column_kind(column: Column) -> str:
    """The form (see the top of the file) that a column takes."""
    match column:
        case Integers():
            return "integers"
        case Floats():
            return "floats"
        case Booleans():
            return "booleans"
        case Strings():
            return "strings"
        case FloatLists():
            return "vectors"
    return "values"


class ColumnWriter:
    """Collects values in pieces, ascending by the number of their entity. They are held in a compact form until the
    column is written, because its kind and whether it is sparse depend on all of them."""

    def __init__(self, total: int) -> None:
        self.kind: str | None = None
        self.count = 0
        self._total = total  # entities
        self._length = 1  # of the lists in a column of vectors
        self._numbers: list[Int64s | range] = []
        self._parts: list[Any] = []

    @staticmethod
    def of(draft: ColumnDraft, total: int, seen: Callable[[Int64s], None]) -> ColumnWriter:
        """All values of a draft; `seen` is called with the entities that have one."""
        writer = ColumnWriter(total)
        for numbers, values in draft.pieces():
            column = narrowed(values)
            if not writer._take(numbers, column, column_kind(column)):
                break
            seen(numbers)
        else:
            return writer
        writer = ColumnWriter(total)  # not all of one kind, or not valid UTF-8
        for numbers, values in draft.pieces():
            writer._take(numbers, values, "values")
            seen(numbers)
        return writer

    @property
    def is_sparse(self) -> bool:
        """Whether it is written with the positions of the entities that have a value."""
        return self.count * DENSE_SHARE < self._total

    def _take(self, numbers: Int64s, column: Column, kind: str) -> bool:
        """Whether the values could be stored with those before them."""
        if self.kind not in (None, kind):
            return False
        match column:
            case Integers(values=values) | Floats(values=values) | Booleans(values=values) if kind != "values":
                part: Any = values
            case FloatLists(matrix=matrix) if kind == "vectors":
                part = matrix
                if self.kind is not None and self._length != matrix.shape[1]:
                    return False
                self._length = matrix.shape[1]
            case Strings(values=texts) if kind == "strings":
                part = _arrow_texts(texts)
                if part is None:
                    return False
            case _:
                part = _encoded(column)
        self.kind = kind
        follows = int(numbers[-1]) - int(numbers[0]) + 1 == len(numbers)
        self._numbers.append(range(int(numbers[0]), int(numbers[-1]) + 1) if follows else numbers)
        self._parts.append(part)
        self.count += len(numbers)
        return True

    def write(self, writer: FileWriter) -> None:
        """Write the column."""
        match self.kind:
            case "strings":
                self._write_strings(writer)
            case "values":
                self._write_values(writer)
            case _:
                self._write_numbers(writer)

    def _positions(self) -> Int64s:
        return np.concatenate([np.asarray(numbers, np.int64) for numbers in self._numbers])

    def _spans(self) -> Iterator[tuple[int, Int64s | None, int, Any]]:
        """For a dense column: (entities without a value; of the entities after them, which slots have one (None: all);
        how many these are; the values)."""
        at = 0
        for numbers, part in zip(self._numbers, self._parts, strict=True):
            first, last = int(numbers[0]), int(numbers[-1]) + 1
            yield first - at, None if isinstance(numbers, range) else numbers - first, last - first, part
            at = last
        yield self._total - at, None, 0, None

    def _write_numbers(self, writer: FileWriter) -> None:
        dtype = {"integers": "<i8", "floats": "<f8", "booleans": "|b1"}.get(str(self.kind))
        if dtype is None:
            dtype = "<f4" if all(part.dtype == np.float32 for part in self._parts) else "<f8"
        if self.is_sparse:
            writer.add("positions", self._positions())
        count = self.count if self.is_sparse else self._total
        writer.begin("values", dtype, count * self._length)
        if self.is_sparse:
            for part in self._parts:
                writer.write(_bytes_of(part, dtype))
            return
        for gap, slots, length, part in self._spans():
            writer.write(_bytes_of(np.zeros(gap * self._length, dtype), dtype))
            if slots is not None:
                spread = np.zeros((length, *part.shape[1:]), dtype)
                spread[slots] = part
                part = spread
            if length:
                writer.write(_bytes_of(part, dtype))
        if self.count < self._total:
            nulls = np.ones(self._total, np.bool_)
            for numbers in self._numbers:
                nulls[slice(numbers.start, numbers.stop) if isinstance(numbers, range) else numbers] = False
            writer.add("nulls", nulls)

    def _write_strings(self, writer: FileWriter) -> None:
        import pyarrow as pa

        chunks = []
        if self.is_sparse:
            chunks = self._parts
        else:
            for gap, slots, length, part in self._spans():
                if gap:
                    chunks.append(pa.nulls(gap, pa.large_string()))
                if slots is not None:
                    places = np.full(length, -1, np.int64)
                    places[slots] = np.arange(len(slots))
                    part = part.take(pa.array(places, pa.int64(), mask=places < 0))
                if length:
                    chunks.append(part)
        columns: dict[str, pa.Array[Any]] = {"value": pa.concat_arrays(chunks) if len(chunks) > 1 else chunks[0]}
        del chunks
        if self.is_sparse:
            columns["position"] = pa.array(self._positions(), pa.int64())
        self._parts = []
        batch = pa.record_batch(columns)
        with pa.ipc.new_file(_Sink(writer), batch.schema) as out:
            out.write_batch(batch)

    def _write_values(self, writer: FileWriter) -> None:
        count = self.count if self.is_sparse else self._total
        if self.is_sparse:
            writer.add("positions", self._positions())
        lengths = np.zeros(count, np.int64)
        at = 0
        for numbers, (sizes, _) in zip(self._numbers, self._parts, strict=True):
            places: Any = slice(at, at + len(sizes)) if self.is_sparse else np.asarray(numbers)
            lengths[places] = sizes
            at += len(sizes)
        writer.add("offsets", np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64))
        writer.begin("data", "|u1", int(lengths.sum()))
        for _, data in self._parts:
            writer.write(data)


def _bytes_of(values: NDArray[Any], dtype: str) -> memoryview:
    return memoryview(np.ascontiguousarray(values, dtype).reshape(-1).view(np.uint8).data)


def _arrow_texts(texts: NDArray[np.object_]) -> pa.Array[Any] | None:
    """Arrow's strings are UTF-8, which has no lone surrogates; Cypher's strings may."""
    import pyarrow as pa

    try:
        return pa.array(texts, pa.large_string())
    except (pa.ArrowException, UnicodeEncodeError):
        return None


def _encoded(column: Column) -> tuple[Int64s, bytes]:
    """The length of each value, and their bytes."""
    data, lengths = bytearray(), np.zeros(len(column), np.int64)
    for row, value in enumerate(column.objects()):
        before = len(data)
        encode_into(value, data)
        lengths[row] = len(data) - before
    return lengths, bytes(data)


class _Sink(io.RawIOBase):
    """A file that Arrow writes to; closing it leaves the writer open."""

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
    """Values that become Python objects on demand."""

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

    def utf8_reader(self) -> Callable[[int], bytes]:
        """Reads the text of an entity that has one from the mapped file, without Arrow's objects around it."""
        offsets, data = (memoryview(b"" if part is None else part) for part in self.texts.buffers()[1:])
        places, positions = np.frombuffer(offsets, np.int64)[self.texts.offset :], self.positions

        def read(position: int) -> bytes:
            slot = position if positions is None else np.searchsorted(positions, position)
            return bytes(data[places[slot] : places[slot + 1]])

        return read

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
    """One key's values in a file, loaded on first use; the same interface as `PropertyColumn`."""

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
        decoded = self._decoded(loaded, len(positions))
        if decoded is not None:
            return decoded.gather(positions)
        slots, found = _slots(loaded.positions, positions, self._total)
        taken: Strings | Objects = self._guarded(lambda: loaded.take(np.where(found, slots, 0)))
        return taken if bool(found.all()) else with_nulls_at(taken, ~found)

    def entries(self) -> tuple[Int64s, Column]:
        """The entities that have a value, ascending, and their values."""
        return self.whole().entries()

    def holders(self) -> Int64s:
        """The entities that have a value, ascending."""
        positions = self.positions
        return self.whole().holders() if positions is None else positions

    def codes_of_holders(self, codes: NDArray[Any], every: list[int]) -> list[int]:
        """The distinct codes of the entities that have a value."""
        return self.whole().codes_of_holders(codes, every)

    def texts(self) -> tuple[Int64s | None, pa.Array[Any]] | None:
        """Positions (None: all) and values of a column of text, in Arrow's form; None for any other column."""
        loaded = self._loaded()
        return (loaded.positions, loaded.texts) if isinstance(loaded, _ArrowStrings) else None

    def utf8_reader(self) -> Callable[[int], bytes]:
        """A function that reads the text of an entity, which has one, as UTF-8."""
        loaded = self._loaded()
        if not isinstance(loaded, _ArrowStrings):
            raise damaged(self._reader.folder / self._name, "it does not hold texts")
        return loaded.utf8_reader()

    def value(self, position: int) -> Any:
        """The value of one entity, or None."""
        loaded = self._loaded()
        if isinstance(loaded, PropertyColumn):
            return loaded.value(position)
        decoded = self._decoded(loaded, 1)
        if decoded is not None:
            return decoded.value(position)
        slot = position
        if loaded.positions is not None:
            slot = int(np.searchsorted(loaded.positions, position))
            if slot == len(loaded.positions) or loaded.positions[slot] != position:
                return None
        elif not 0 <= position < len(loaded):
            return None
        return self._guarded(lambda: loaded.one(slot))

    def whole(self) -> PropertyColumn:
        """The whole column, in memory."""
        loaded = self._loaded()
        if isinstance(loaded, PropertyColumn):
            return loaded

        def load() -> tuple[PropertyColumn, int]:
            return PropertyColumn(loaded.positions, self._guarded(loaded.everything)), loaded.object_bytes

        return self._cache.get((*self._key, _OBJECTS), load, from_disk=False)

    def at_hand(self) -> PropertyColumn | None:
        """The whole column, if its values can be used as they are: numbers in the mapped file."""
        loaded = self._loaded()
        return loaded if isinstance(loaded, PropertyColumn) else None

    def _decoded(self, loaded: _Encoded, wanted: int) -> PropertyColumn | None:
        """The whole column as Python objects, if it is held in that form, or if that is worth it now."""
        if wanted * WHOLE_SHARE >= len(loaded) or len(loaded) <= SMALL_COLUMN:
            return self.whole() if self._cache.fits(loaded.object_bytes) else None
        held: PropertyColumn | None = self._cache.held((*self._key, _OBJECTS))
        return held

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
            raise damaged(self._reader.folder / self._name, "it has the wrong number of values")
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
            raise damaged(path, f"it is not a valid Arrow file ({error})") from error
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
            case "vectors":
                return PropertyColumn(positions, FloatLists(self._rows(arrays["values"], positions), nulls))
        offsets, data = arrays["offsets"], arrays["data"]
        if not len(offsets) or offsets[0] or offsets[-1] != len(data) or bool((offsets[1:] < offsets[:-1]).any()):
            raise damaged(self._reader.folder / self._name, "its offsets do not fit its data")
        return _EncodedValues(offsets, data, positions)

    def _rows(self, values: NDArray[Any], positions: Int64s | None) -> NDArray[Any]:
        count = self._total if positions is None else len(positions)
        if not count or not len(values) or len(values) % count:
            raise damaged(self._reader.folder / self._name, "its values do not make lists of one length")
        return values.reshape(count, -1)


def _slots(held: Int64s | None, positions: Int64s, total: int) -> tuple[Int64s, NDArray[np.bool_]]:
    """The slots of the values of these entities, and which of them have one."""
    if held is None:
        return positions, (positions >= 0) & (positions < total)
    slots = np.minimum(np.searchsorted(held, positions), len(held) - 1)
    return slots, held[slots] == positions
