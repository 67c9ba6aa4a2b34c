"""Files of arrays, checksummed in blocks, written once and memory-mapped to be read.

A file is its arrays one after another, each beginning at a multiple of 64 bytes. Every block of 1 MiB (the last one may
be shorter) has a CRC-32, in a separate file next to them. A block is checked against it before its first use.

    ArrayFile  what a manifest says about a file: its size, its arrays, and where its checksums begin
"""

from __future__ import annotations

import itertools
import mmap
import os
import zlib
from collections.abc import Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite import forks
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.disk.files import Files
from hoplite.storage.disk.problems import damaged

BLOCK_BYTES = 1 << 20
ALIGNMENT = 64
SMALL_BYTES = 1 << 18
"""Smaller files are read, not mapped: a mapping takes a file descriptor."""
CHECKSUMS = "checksums"
DTYPES = frozenset({"<i4", "<i8", "<f4", "<f8", "|b1", "|u1", "<u4"})


@dataclass(frozen=True, slots=True)
class StoredArray:
    """Where an array is in its file."""

    dtype: str
    count: int
    offset: int

    @property
    def size(self) -> int:
        """In bytes."""
        return self.count * int(self.dtype[-1])


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """One file of a snapshot."""

    name: str
    size: int
    first_block: int
    arrays: Mapping[str, StoredArray] = field(default_factory=dict)

    @property
    def block_count(self) -> int:
        """The number of its blocks."""
        return -(-self.size // BLOCK_BYTES)


_serials = itertools.count()


class FileWriter:
    """Writes one file, computing its checksums on the way."""

    def __init__(self, files: Files, path: Path, first_block: int) -> None:
        self._files = files
        self._path = path
        self._first_block = first_block
        self._file = files.create(path)
        self._size = 0
        self._checksum = 0
        self._arrays: dict[str, StoredArray] = {}
        self.checksums: list[int] = []

    def add(self, name: str, *arrays: NDArray[Any]) -> None:
        """Append an array, in one or several parts."""
        stored = [np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for array in arrays]
        self.begin(name, stored[0].dtype.str, sum(map(len, stored)))
        for part in stored:
            self.write(part.view(np.uint8).data)

    def begin(self, name: str, dtype: str, count: int) -> None:
        """Announce that the next bytes written are an array."""
        assert dtype in DTYPES, dtype
        self.write(bytes(-self._size % ALIGNMENT))
        self._arrays[name] = StoredArray(dtype, count, self._size)

    def write(self, data: bytes | memoryview) -> int:
        """Append bytes; returns how many."""
        view = memoryview(data)
        at = 0
        while at < len(view):
            room = BLOCK_BYTES - self._size % BLOCK_BYTES
            piece = view[at : at + room]
            self._files.write(self._file, piece, self._size)
            self._checksum = zlib.crc32(piece, self._checksum)
            self._size += len(piece)
            at += len(piece)
            if self._size % BLOCK_BYTES == 0:
                self.checksums.append(self._checksum)
                self._checksum = 0
        return len(view)

    def finish(self) -> ArrayFile:
        """Wait until it is on disk."""
        if self._size % BLOCK_BYTES:
            self.checksums.append(self._checksum)
        self._files.sync(self._file)
        return ArrayFile(self._path.name, self._size, self._first_block, self._arrays)

    def close(self) -> None:
        """Let go of the file."""
        self._files.close(self._file)


class BlockReader:
    """The files of one snapshot folder."""

    def __init__(self, folder: Path, files: Mapping[str, ArrayFile], checksums: NDArray[np.uint32]) -> None:
        self.serial = next(_serials)  # identifies readers in a cache
        self.folder = folder
        self._files = files
        self._checksums = checksums
        self._verified = np.zeros(len(checksums), np.bool_)
        self._lock = forks.brief_lock()

    def file(self, name: str) -> ArrayFile:
        """What is known about a file."""
        return self._files[name]

    def array(self, name: str, array: str) -> NDArray[Any]:
        """One array of a file, mapped and verified."""
        return self.arrays(name, (array,))[array]

    def arrays(self, name: str, wanted: tuple[str, ...] | None = None) -> dict[str, NDArray[Any]]:
        """Some arrays of a file, or all of them, mapped and verified."""
        entry = self._files[name]
        places = {key: entry.arrays[key] for key in (entry.arrays if wanted is None else wanted)}
        with self._opened(name) as file:
            for place in places.values():
                self._verify(file, entry, place.offset, place.size)
            content = self._content(file, entry)
        return {
            key: np.frombuffer(content, place.dtype, place.count, place.offset)
            if place.count
            else np.zeros(0, place.dtype)
            for key, place in places.items()
        }

    def content(self, name: str) -> mmap.mmap | bytes:
        """A whole file, mapped and verified."""
        entry = self._files[name]
        with self._opened(name) as file:
            self._verify(file, entry, 0, entry.size)
            return self._content(file, entry)

    def verify_file(self, name: str) -> None:
        """Check every block of a file against its checksum."""
        entry = self._files[name]
        with self._opened(name) as file:
            self._verify(file, entry, 0, entry.size)

    def _content(self, file: int, entry: ArrayFile) -> mmap.mmap | bytes:
        if entry.size <= SMALL_BYTES:
            return os.pread(file, entry.size, 0)
        return mmap.mmap(file, entry.size, access=mmap.ACCESS_READ)

    def _opened(self, name: str) -> _Opened:
        return _Opened(self.folder / name, self._files[name].size)

    def _verify(self, file: int, entry: ArrayFile, offset: int, size: int) -> None:
        if not size:
            return
        for block in range(offset // BLOCK_BYTES, -(-(offset + size) // BLOCK_BYTES)):
            number = entry.first_block + block
            if self._verified[number]:
                continue
            # Read, not through a mapping: mapped memory would count towards this process.
            data = os.pread(file, min(BLOCK_BYTES, entry.size - block * BLOCK_BYTES), block * BLOCK_BYTES)
            if zlib.crc32(data) != int(self._checksums[number]):
                raise damaged(self.folder / entry.name, f"the checksum of block {block} does not match")
            with self._lock:
                self._verified[number] = True


class _Opened:
    """A file of the expected size, open for reading."""

    __slots__ = ("_file", "_path", "_size")

    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size

    def __enter__(self) -> int:
        try:
            self._file = os.open(self._path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            raise damaged(self._path, "it is missing") from None
        found = os.fstat(self._file).st_size
        if found != self._size:
            os.close(self._file)
            raise damaged(self._path, f"it has {found} bytes, and {self._size} were written")
        return self._file

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
