"""What an import has fetched from a server so far, in a file next to its database: batches are added as they come, and
the next process reads them back if this one is killed halfway.

    frame    28 bytes: magic, number of the frame, length of the content, CRC-32 of the content, CRC-32 of these fields;
             then the content, a value as `storage/disk/codec.py` writes it
    frame 0  a description of the import, as a map
    others   one batch each: [noun, first, count, rows]

Nothing waits for the disk: what was not written completely does not match its checksum. The first unusable frame is cut
off with all that follow it, and what they held is fetched again. Nothing that is read is trusted.
"""

from __future__ import annotations

import fcntl
import os
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hoplite.errors import EXTERNAL_RESOURCE_FAILED, CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.disk.codec import BadEncoding, decode, encode
from hoplite.storage.disk.files import Files
from hoplite.storage.property_values import storable
from hoplite.values.columns import Int64s

SUFFIX = ".fetched"
_FRAME = struct.Struct("<8sQQI")
_CHECKSUM = struct.Struct("<I")
_MAGIC = b"HOPFETC1"
FRAME_BYTES = _FRAME.size + _CHECKSUM.size


@dataclass(frozen=True, slots=True)
class FetchedBatch:
    """The entities that existed among `count` requested numbers, in ascending order: a node as [number, labels,
    properties], a relationship as [number, type, start, end, properties]."""

    noun: str
    first: int  # of the numbers, in the list of all
    count: int
    rows: list[list[Any]]


class FetchedFile:
    """Batches in the order in which they were fetched: first the stored ones are taken, then others are added."""

    def __init__(self, path: Path, files: Files | None = None) -> None:
        self.path = path
        self.problem: str | None = None  # why some of the stored batches could not be used
        self._files = files or Files()
        self._frame = 0  # the number of the next one
        self._begin = 0  # of the last one taken or added
        self._end = 0
        self._is_open = True
        with _told(path):
            self._file = self._files.open(path) if path.exists() else self._files.create(path)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._files.close(self._file)
            raise _failed(path, "another process is importing into the same database") from None
        if not _MAGIC.startswith(os.pread(self._file, len(_MAGIC), 0)):
            self._files.close(self._file)
            raise _failed(path, "this file was not left by an import, and is not overwritten")
        content = self._next()
        self.description: Mapping[str, Any] = content if isinstance(content, dict) else {}

    @property
    def is_empty(self) -> bool:
        """Whether no batch has been used."""
        return self._frame <= 1

    def start_over(self, description: Mapping[str, Any]) -> None:
        """Discard what is stored; `description` is what is imported now."""
        self._frame, self._begin, self._end = 0, 0, 0
        self._append(dict(description))
        self.description = description

    def take(self, noun: str, first: int, numbers: Int64s) -> FetchedBatch | None:
        """The next stored batch, if it has what was requested for these numbers; without one, everything after it is
        useless too."""
        content = self._next()
        if content is None:
            return None
        match content:
            case [str(kept_noun), int(kept_first), int(count), [*rows]] if (
                (kept_noun, kept_first) == (noun, first)
                and 0 < count <= len(numbers)
                and _are_usable(rows, _CHECKS[noun], set(numbers[:count].tolist()))
            ):
                return FetchedBatch(noun, first, count, rows)
        self._step_back()
        self.problem = (
            f"what {self.path} keeps from byte {self._end} is not what this import needs, and was fetched again"
        )
        return None

    def add(self, batch: FetchedBatch) -> None:
        """Store a batch."""
        self._append([batch.noun, batch.first, batch.count, batch.rows])

    def forget_last(self) -> None:
        """Discard the last batch, so that what is stored is not a complete import and cannot have been committed."""
        self._step_back()
        with _told(self.path):
            self._files.truncate(self._file, self._end)

    def close(self) -> None:
        """Close the file; one without batches is removed."""
        if self._is_open and self.is_empty:
            self.remove()
        elif self._is_open:
            self._is_open = False
            self._files.close(self._file)

    def remove(self) -> None:
        """Remove the file: the import is complete."""
        self._is_open = False
        self._files.close(self._file)
        with suppress(OSError):  # too late to fail; the next import finds that this one is complete
            self._files.remove(self.path)

    def _append(self, content: Any) -> None:
        data = encode(content)
        fields = _FRAME.pack(_MAGIC, self._frame, len(data), zlib.crc32(data))
        with _told(self.path):
            if os.fstat(self._file).st_size > self._end:
                self._files.truncate(self._file, self._end)
            self._files.write(self._file, fields + _CHECKSUM.pack(zlib.crc32(fields)) + data, self._end)
        self._step(len(data))

    def _next(self) -> Any:
        """The content of the next frame; None if none was written completely."""
        with _told(self.path):
            left = os.fstat(self._file).st_size - self._end
            head = os.pread(self._file, FRAME_BYTES, self._end)
            if len(head) < FRAME_BYTES:
                return None
            fields = head[: _FRAME.size]
            magic, frame, length, checksum = _FRAME.unpack(fields)
            is_sound = (magic, frame) == (_MAGIC, self._frame) and head[_FRAME.size :] == _CHECKSUM.pack(
                zlib.crc32(fields)
            )
            if is_sound and length > left - FRAME_BYTES:
                return None  # the process was killed while writing
            data = os.pread(self._file, length, self._end + FRAME_BYTES) if is_sound else b""
        try:
            if not is_sound or zlib.crc32(data) != checksum:
                raise BadEncoding("it does not match its checksum")
            content = decode(data)
        except BadEncoding:
            self.problem = f"{self.path} is damaged at byte {self._end}; what followed was fetched again"
            return None
        self._step(length)
        return content

    def _step(self, length: int) -> None:
        self._frame += 1
        self._begin, self._end = self._end, self._end + FRAME_BYTES + length

    def _step_back(self) -> None:
        self._frame -= 1
        self._end = self._begin


def fetched_path(root: Path) -> Path:
    """The file that stores the batches for the database in a folder."""
    return root.with_name(root.name + SUFFIX)


def _are_usable(rows: list[Any], is_row: Callable[[Any], bool], asked: set[int]) -> bool:
    last = -1
    for row in rows:
        if not is_row(row) or row[0] not in asked or row[0] <= last:
            return False
        last = row[0]
    return True


def _is_node(row: Any) -> bool:
    match row:
        case [int(), [*labels], dict(properties)]:
            return all(type(label) is str for label in labels) and _are_storable(properties)
    return False


def _is_relationship(row: Any) -> bool:
    match row:
        case [int(), str(), int(), int(), dict(properties)]:
            return _are_storable(properties)
    return False


def _are_storable(properties: dict[str, Any]) -> bool:
    try:
        return all(storable(value) is not None for value in properties.values())
    except CypherError:
        return False


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _failed(path, error.strerror or str(error)) from error


def _failed(path: Path, reason: str) -> CypherError:
    return CypherError(EXTERNAL_RESOURCE_FAILED, f"{path}: {reason}.\nNothing was imported.")


_CHECKS: Mapping[str, Callable[[Any], bool]] = {"nodes": _is_node, "relationships": _is_relationship}
