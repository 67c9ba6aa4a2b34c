"""Temporary files of a load or a checkpoint, in a folder that is removed when it ends; a folder left behind by a crash
is removed when the database is next opened.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.disk.files import Files, remove_tree
from hoplite.storage.spill import SpillFailed


def scratch_name(number: int) -> str:
    """The name of the folder."""
    return f"scratch-{number}"


class ScratchFolder:
    """Arrays one after another in files; the folder is created with the first of them."""

    def __init__(self, files: Files, path: Path) -> None:
        self._files = files
        self._path = path
        self._open: dict[str, tuple[int, int]] = {}  # the file, and its length

    def append(self, name: str, array: NDArray[Any]) -> int:
        """Append an array to a file; returns its offset."""
        try:
            if name not in self._open:
                if not self._open and not self._path.is_dir():
                    self._files.make_folder(self._path)
                self._open[name] = self._files.create(self._path / name), 0
            file, size = self._open[name]
            if len(array):
                self._files.write(file, np.ascontiguousarray(array).view(np.uint8).data, size)
        except OSError as error:
            raise SpillFailed(error.errno, error.strerror) from error
        self._open[name] = file, size + array.nbytes
        return size

    def read(self, name: str, offset: int, into: NDArray[Any]) -> None:
        """Fill an array with what was written at an offset."""
        file, _ = self._open[name]
        view = memoryview(into.view(np.uint8).data) if len(into) else memoryview(b"")
        while len(view):
            count = os.preadv(file, [view], offset)
            if not count:
                raise SpillFailed(f"{self._path / name} is shorter than what was written to it")
            view, offset = view[count:], offset + count

    def remove(self, name: str) -> None:
        """Remove a file that is no longer needed."""
        file, _ = self._open.pop(name)
        self._files.close(file)
        self._files.remove(self._path / name)

    def close(self) -> None:
        """Remove everything."""
        for file, _ in self._open.values():
            self._files.close(file)
        self._open = {}
        remove_tree(self._files, self._path)
