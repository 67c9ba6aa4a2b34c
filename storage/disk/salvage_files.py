"""The files of a damaged snapshot: what can still be read of them, and what is wrong with each.

A block is intact if it matches its checksum. If the file of checksums is itself damaged or missing, the manifest still
has its CRC-32: if checksums recomputed from the files lead to it, all of them are intact. Failing that, blocks without
a checksum are read unchecked, and reported as such.
"""

from __future__ import annotations

import mmap
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.disk.blocks import BLOCK_BYTES, CHECKSUMS, ArrayFile, BlockReader
from hoplite.storage.disk.manifest import Manifest
from hoplite.storage.disk.problems import damaged

Progress = Callable[[int, int | None], None]


class SalvageReader(BlockReader):
    """Reads arrays whose blocks are all intact, from files of any length; raises for the others."""

    def __init__(self, folder: Path, manifest: Manifest, progress: Progress | None = None) -> None:
        self.damage: list[str] = []
        self.unchecked: list[str] = []
        found = _checksums_of(folder, manifest, progress)
        super().__init__(folder, {file.name: file for file in manifest.files}, self._trusted(folder, manifest, found))
        self._found = found
        for file in manifest.files:
            self._judge(file)

    def _trusted(self, folder: Path, manifest: Manifest, found: NDArray[np.int64]) -> NDArray[np.uint32]:
        """The checksums to check blocks against: those that were written or, if they are lost, those computed."""
        path = folder / CHECKSUMS
        try:
            content = path.read_bytes()
            problem = "its checksum does not match"
        except OSError as error:
            content, problem = b"", "it is missing" if isinstance(error, FileNotFoundError) else str(error.strerror)
        if zlib.crc32(content) == manifest.checksums_crc32 and len(content) == 4 * len(found):
            return np.frombuffer(content, "<u4")
        made_anew = np.maximum(found, 0).astype("<u4")
        if bool((found >= 0).all()) and zlib.crc32(made_anew.tobytes()) == manifest.checksums_crc32:
            self.damage.append(f"{path}: {problem}; the files agree with the manifest without it")
            return made_anew
        self.damage.append(f"{path}: {problem}")
        written = np.full(len(found), -1, np.int64)
        known = np.frombuffer(content[: 4 * min(len(found), len(content) // 4)], "<u4")
        written[: len(known)] = known
        doubtful = (found >= 0) & (written != found)
        for file in manifest.files:
            if bool(doubtful[file.first_block : file.first_block + file.block_count].any()):
                self.unchecked.append(file.name)
        return made_anew

    def _judge(self, file: ArrayFile) -> None:
        """Report what is wrong with a file."""
        path = self.folder / file.name
        found = self._found[file.first_block : file.first_block + file.block_count]
        wrong = np.flatnonzero(found != self._checksums[file.first_block : file.first_block + file.block_count])
        if not path.exists():
            self.damage.append(f"{path}: it is missing")
        elif (size := path.stat().st_size) != file.size:
            self.damage.append(f"{path}: it has {size} bytes, and {file.size} were written")
        elif len(wrong):
            blocks = ", ".join(map(str, wrong[:5].tolist())) + (" ..." if len(wrong) > 5 else "")
            self.damage.append(f"{path}: the checksum does not match in {len(wrong)} of {len(found)} blocks ({blocks})")

    def _verify(self, file: int, entry: ArrayFile, offset: int, size: int) -> None:
        blocks = slice(entry.first_block + offset // BLOCK_BYTES, entry.first_block - (-(offset + size) // BLOCK_BYTES))
        if size and bool((self._found[blocks] != self._checksums[blocks]).any()):
            raise damaged(self.folder / entry.name, "a checksum does not match")

    def part(self, name: str, array: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """An array, and which of its items are intact."""
        content, are_read = self.whole(name)
        place = self._files[name].arrays[array]
        width = int(place.dtype[-1])
        are_sound: NDArray[np.bool_] = np.all(
            are_read[place.offset : place.offset + place.size].reshape(place.count, width), axis=1
        )
        return np.frombuffer(content, place.dtype, place.count, place.offset), are_sound

    def whole(self, name: str) -> tuple[mmap.mmap | bytes, NDArray[np.bool_]]:
        """All bytes of a file, and which of them are intact."""
        entry = self._files[name]
        blocks = slice(entry.first_block, entry.first_block + entry.block_count)
        are_sound = np.repeat(self._found[blocks] == self._checksums[blocks], BLOCK_BYTES)[: entry.size]
        with self._opened(name) as file:
            return self._content(file, entry), are_sound

    def _opened(self, name: str) -> _AnyLength:  # type: ignore[override]
        return _AnyLength(self.folder / name)

    def _content(self, file: int, entry: ArrayFile) -> mmap.mmap | bytes:
        if os.fstat(file).st_size >= entry.size:
            return super()._content(file, entry)
        return os.pread(file, entry.size, 0).ljust(entry.size, b"\0")  # nothing is read from a missing file


class _AnyLength:
    """A file open for reading; an empty one if it is missing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> int:
        try:
            self._file = os.open(self._path, os.O_RDONLY)
        except OSError:
            self._file = os.open(os.devnull, os.O_RDONLY)
        return self._file

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def _checksums_of(folder: Path, manifest: Manifest, progress: Progress | None) -> NDArray[np.int64]:
    """The CRC-32 of every block as it is; -1 if it cannot be read in full."""
    found = np.full(sum(file.block_count for file in manifest.files), -1, np.int64)
    done = 0
    for file in manifest.files:
        with _AnyLength(folder / file.name) as opened:
            for block in range(file.block_count):
                size = min(BLOCK_BYTES, file.size - block * BLOCK_BYTES)
                try:
                    data = os.pread(opened, size, block * BLOCK_BYTES)
                except OSError:  # a sector of the disk that cannot be read
                    continue
                if len(data) == size:
                    found[file.first_block + block] = zlib.crc32(data)
        done += file.size
        if progress is not None:
            progress(done, manifest.size)
    return found
