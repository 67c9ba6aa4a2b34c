"""The log: one record for each commit since the snapshot, in order. A record is on disk before its commit is
acknowledged.

    header   64 bytes: magic, format, number of the snapshot, commits before the first record, id of the database,
             CRC-32 of all that
    record   32 bytes: magic, length of the content, number of the commit, how much of the log was known to be on disk
             when the record was written, CRC-32 of the content, CRC-32 of these fields; then the content

A process that dies in the middle of a write leaves an incomplete record. A machine that loses power may leave whole
sectors of what was not yet synced as zeros. Both mark the end of the log: nothing of it was acknowledged. Anything else
is damage, and is reported as such.
"""

from __future__ import annotations

import os
import struct
import uuid
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.disk.files import Files
from hoplite.storage.disk.problems import damaged, log_failed, log_unusable

_HEADER = struct.Struct("<8sIxxxxQQ16s12xI")
_RECORD = struct.Struct("<4sIQQII")
HEADER_BYTES = _HEADER.size
RECORD_BYTES = _RECORD.size
_MAGIC = b"HOPLITEW"
_RECORD_MAGIC = b"\x8dHWR"
_VERSION = 1
SECTOR_BYTES = 512
MAXIMUM_RECORD = 2**32 - 1


@dataclass(frozen=True, slots=True)
class Record:
    """One commit, as read."""

    commit: int
    content: bytes
    offset: int
    end: int


def header(snapshot: int, commits: int, database: str) -> bytes:
    """The first bytes of a log."""
    fields = _HEADER.pack(_MAGIC, _VERSION, snapshot, commits, uuid.UUID(database).bytes, 0)[:-4]
    return fields + struct.pack("<I", zlib.crc32(fields))


def record_fields(data: bytes, offset: int) -> tuple[int, int, int] | None:
    """The length of the content, the number of the commit and the CRC-32 of the content of the record at an offset;
    None if there is no valid record header."""
    fields = data[offset : offset + RECORD_BYTES]
    if len(fields) < RECORD_BYTES or not fields.startswith(_RECORD_MAGIC):
        return None
    _, length, commit, _, content_crc, fields_crc = _RECORD.unpack(fields)
    return (length, commit, content_crc) if fields_crc == zlib.crc32(fields[:-4]) else None


def next_record(data: bytes, offset: int) -> int:
    """Where the next record with a valid header begins; the end if there is none."""
    while (offset := data.find(_RECORD_MAGIC, offset)) >= 0:
        if record_fields(data, offset) is not None:
            return offset
        offset += 1
    return len(data)


class LogReader:
    """Reads a log from its beginning to the end of what was committed."""

    def __init__(self, path: Path, snapshot: int, commits: int, database: str) -> None:
        self.path = path
        try:
            self._data = path.read_bytes()
        except FileNotFoundError:
            raise damaged(path, "it is missing") from None
        if self._data[:HEADER_BYTES] != header(snapshot, commits, database):
            raise damaged(path, "its header is not the one that was written")
        self._commits = commits
        self.end = HEADER_BYTES  # of the last record that was read

    def records(self) -> Iterator[Record]:
        """The commits in order. Raises for damage; stops where the log ends."""
        while self.end < len(self._data):
            record = self._record(self.end)
            if record is None:
                return
            if record.commit != self._commits + 1:
                raise damaged(self.path, f"commit {record.commit} at byte {self.end} does not follow {self._commits}")
            self._commits, self.end = record.commit, record.end
            yield record

    def _record(self, offset: int) -> Record | None:
        """The record at an offset; None if the log ends with an unfinished one."""
        fields = self._data[offset : offset + RECORD_BYTES]
        if len(fields) < RECORD_BYTES:
            return None
        magic, length, commit, _, content_crc, fields_crc = _RECORD.unpack(fields)
        if magic != _RECORD_MAGIC or fields_crc != zlib.crc32(fields[:-4]):
            self._refuse_if_finished(offset, fields, "has a damaged header")
            return None
        end = offset + RECORD_BYTES + length
        content = self._data[offset + RECORD_BYTES : end]
        if len(content) < length:
            return None
        if zlib.crc32(content) != content_crc:
            self._refuse_if_finished(offset, self._data[offset:end], "does not match its checksum")
            return None
        return Record(commit, content, offset, end)

    def _refuse_if_finished(self, offset: int, data: bytes, found: str) -> None:
        """An unreadable record was never finished if one of its sectors was never written and no later record says that
        it had been synced. Otherwise it is damaged."""
        if not _has_blank_sector(data, offset) or self._is_synced(offset):
            raise damaged(self.path, f"the record at byte {offset} {found}")

    def _is_synced(self, offset: int) -> bool:
        """Whether a later record was written knowing that this one was on disk."""
        at = self._data.find(_RECORD_MAGIC, offset + 1)
        while at >= 0:
            fields = self._data[at : at + RECORD_BYTES]
            if len(fields) == RECORD_BYTES:
                _, _, _, synced, _, fields_crc = _RECORD.unpack(fields)
                if fields_crc == zlib.crc32(fields[:-4]) and synced > offset:
                    return True
            at = self._data.find(_RECORD_MAGIC, at + 1)
        return False


def _has_blank_sector(data: bytes, offset: int) -> bool:
    """Whether the part of the data in some sector of the file is all zeros."""
    first = SECTOR_BYTES - offset % SECTOR_BYTES
    bounds = [0, *range(first, len(data), SECTOR_BYTES), len(data)]
    return any(not any(data[low:high]) for low, high in pairwise(bounds))


class Log:
    """Appends records to a log. Used by one writer at a time."""

    def __init__(self, files: Files, path: Path, commits: int, end: int, *, is_durable: bool) -> None:
        self.path = path
        self.commits = commits
        self.end = end
        self.is_usable = True
        self._files = files
        self.is_durable = is_durable  # wait for the disk at every commit
        self._synced = end
        self._file = files.open(path)
        try:
            if os.fstat(self._file).st_size > end:  # what a crash left unfinished
                files.truncate(self._file, end)
                files.sync(self._file)
        except BaseException:
            files.close(self._file)
            raise

    @property
    def size(self) -> int:
        """The bytes of its records."""
        return self.end - HEADER_BYTES

    def append(self, content: bytes) -> None:
        """Write the record of the next commit and, with full durability, wait until it is on disk. If this fails,
        nothing of it remains."""
        if not self.is_usable:
            raise log_unusable(self.path)
        if len(content) > MAXIMUM_RECORD:
            raise log_failed(self.path, OSError(27, "a transaction of more than 4 GB cannot be logged"))
        fields = _RECORD.pack(_RECORD_MAGIC, len(content), self.commits + 1, self._synced, zlib.crc32(content), 0)[:-4]
        record = fields + struct.pack("<I", zlib.crc32(fields)) + content
        try:
            self._files.write(self._file, record, self.end)
            if self.is_durable:
                self._files.sync(self._file)
        except OSError as error:
            self._take_back()
            raise log_failed(self.path, error) from error
        except BaseException:
            self._take_back()
            raise
        self.commits += 1
        self.end += len(record)
        if self.is_durable:
            self._synced = self.end

    def _take_back(self) -> None:
        """Remove a record that may be partly there. After a failed sync, only a successful sync tells what is on
        disk."""
        try:
            self._files.truncate(self._file, self.end)
            self._files.sync(self._file)
        except OSError:
            self.is_usable = False

    def sync(self) -> None:
        """Wait until all of it is on disk."""
        self._files.sync(self._file)
        self._synced = self.end

    def close(self) -> None:
        """Let go of the file."""
        self._files.close(self._file)
