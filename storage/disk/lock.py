"""Who may write, and which snapshots are still being read. Locks are held by open files, so that they end with the
process, however it ends.

    lock          held exclusively by one process, the writer. The file remains and means nothing by itself
    snapshot-N/   read-only processes hold the folder they read from, so that it is not removed

A forked process shares what its parent holds. It closes its copy of the writer's lock, which does not release it, and
keeps its copies of what it reads.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from hoplite.storage.disk.problems import cannot_open, in_use

LOCK = "lock"


class WriterLock:
    """The right to change a database."""

    def __init__(self, root: Path) -> None:
        try:
            self._file = os.open(root / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise cannot_open(
                root, f"the folder cannot be written to ({error.strerror}); read_only=True opens it to read"
            ) from error
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
            holder = "this process" if holder == str(os.getpid()) else f"process {holder}" if holder else "another"
            os.close(self._file)
            raise in_use(root, holder) from None
        except OSError as error:
            os.close(self._file)
            raise cannot_open(root, f"the folder cannot be locked ({error.strerror})") from error
        self._sign()

    def _sign(self) -> None:
        """Record the process id for others' error messages; the lock holds without it."""
        try:
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, str(os.getpid()).encode(), 0)
        except OSError:
            pass

    def is_at(self, root: Path) -> bool:
        """Whether this is the lock of the database at a path, not of an earlier one there."""
        try:
            return os.path.samestat(os.stat(root / LOCK), os.fstat(self._file))
        except OSError:
            return False

    def release(self) -> None:
        """Let others write, even if a process has inherited the file and not closed it."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_UN)
        finally:
            os.close(self._file)

    def leave(self) -> None:
        """In a forked process: the lock stays with the parent."""
        os.close(self._file)


class FolderHold:
    """Keeps a snapshot's folder from being removed while it is read."""

    def __init__(self, folder: Path) -> None:
        self._folder = os.open(folder, os.O_RDONLY)
        fcntl.flock(self._folder, fcntl.LOCK_SH)

    def release(self) -> None:
        """Allow it to be removed."""
        os.close(self._folder)


def is_held(folder: Path) -> bool:
    """Whether another process reads from a snapshot's folder."""
    try:
        opened = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(opened)
    return False
