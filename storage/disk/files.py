"""Every change to the file system that a database makes goes through this module, with one method for each, so that
tests can make any of them fail.
"""

from __future__ import annotations

import os
from pathlib import Path

try:
    from fcntl import F_FULLFSYNC, fcntl  # type: ignore[attr-defined,unused-ignore]
except ImportError:  # only macOS has it, and needs it
    F_FULLFSYNC = None


class Files:
    """The operating system's files."""

    def make_folder(self, path: Path) -> None:
        """A new folder."""
        os.mkdir(path)

    def create(self, path: Path) -> int:
        """A new, empty file, open for reading and writing."""
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o644)

    def open(self, path: Path) -> int:
        """A file that exists, open for reading and writing."""
        return os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))

    def write(self, file: int, data: bytes | memoryview, offset: int) -> None:
        """Write all of the data at an offset."""
        view = memoryview(data)
        while len(view):
            written = os.pwrite(file, view, offset)
            view, offset = view[written:], offset + written

    def truncate(self, file: int, size: int) -> None:
        """Cut a file off at a size."""
        os.ftruncate(file, size)

    def sync(self, file: int) -> None:
        """Wait until what was written is physically on disk."""
        if F_FULLFSYNC is None:
            os.fsync(file)
        else:
            fcntl(file, F_FULLFSYNC)

    def sync_folder(self, path: Path) -> None:
        """Wait until the names in a folder are physically on disk."""
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def rename(self, old: Path, new: Path) -> None:
        """Rename a file, replacing any file of the new name."""
        os.replace(old, new)

    def remove(self, path: Path) -> None:
        """Remove a file."""
        os.unlink(path)

    def remove_folder(self, path: Path) -> None:
        """Remove an empty folder."""
        os.rmdir(path)

    def close(self, file: int) -> None:
        """Close a file."""
        os.close(file)


def remove_tree(files: Files, path: Path) -> None:
    """Remove a file, or a folder of files, as far as it exists and can be removed."""
    try:
        if path.is_dir():
            for inside in list(path.iterdir()):
                files.remove(inside)
            files.remove_folder(path)
        elif path.exists():
            files.remove(path)
    except OSError:
        pass  # the next opening of the database tries again


def write_file(files: Files, path: Path, data: bytes) -> None:
    """Write a new file with this content, on disk when this returns (its name is, once the folder has been synced)."""
    file = files.create(path)
    try:
        files.write(file, data, 0)
        files.sync(file)
    finally:
        files.close(file)
