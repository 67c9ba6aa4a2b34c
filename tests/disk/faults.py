"""File layers that fail: at one step, from one step on, or as a machine that loses power.

A step is one change to the file system. `script.py` counts them, and the tests go through all of them.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from hoplite.storage.disk.files import Files
from hoplite.storage.disk.manifest import MANIFEST


class QuickFiles(Files):
    """Does not wait for the disk: there is no power failure."""

    def sync(self, file: int) -> None: ...

    def sync_folder(self, path: Path) -> None: ...


class Dead(BaseException):
    """The process ends here: no error handler may catch this and continue."""


class StepFiles(QuickFiles):
    """Calls `at_step` before every step; a write is done in two halves, with a step before each. `meanwhile` runs while
    the next snapshot is written."""

    def __init__(self) -> None:
        self.steps = 0
        self.meanwhile: Callable[[], None] | None = None

    def at_step(self, what: str) -> None:
        self.steps += 1

    def make_folder(self, path: Path) -> None:
        self.at_step(f"make {path.name}")
        super().make_folder(path)

    def create(self, path: Path) -> int:
        self.at_step(f"create {path.name}")
        if self.meanwhile is not None and path.name == "nodes.bin":
            happens, self.meanwhile = self.meanwhile, None
            happens()
        return super().create(path)

    def write(self, file: int, data: bytes | memoryview, offset: int) -> None:
        half = len(data) // 2
        self.at_step("write")
        super().write(file, data[:half], offset)
        self.at_step("write on")
        super().write(file, data[half:], offset + half)

    def truncate(self, file: int, size: int) -> None:
        self.at_step("truncate")
        super().truncate(file, size)

    def sync(self, file: int) -> None:
        self.at_step("sync")

    def sync_folder(self, path: Path) -> None:
        self.at_step("sync folder")

    def rename(self, old: Path, new: Path) -> None:
        self.at_step(f"rename to {new.name}")
        super().rename(old, new)

    def remove(self, path: Path) -> None:
        self.at_step(f"remove {path.name}")
        super().remove(path)

    def remove_folder(self, path: Path) -> None:
        self.at_step(f"remove {path.name}")
        super().remove_folder(path)


class FailOnce(StepFiles):
    """One step fails, as on a disk that is full for a moment."""

    def __init__(self, step: int, number: int = errno.ENOSPC) -> None:
        super().__init__()
        self._step, self._number = step, number
        self.failed = ""

    def at_step(self, what: str) -> None:
        self.steps += 1
        if self.steps == self._step:
            self.failed = what
            raise OSError(self._number, os.strerror(self._number))


class FullDisk(StepFiles):
    """From one step on nothing can be written; what takes no room still works."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = False

    def at_step(self, what: str) -> None:
        self.steps += 1
        if self.is_full and what.startswith(("write", "create", "make")):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


class DieAt(StepFiles):
    """The process ends at one step."""

    def __init__(self, step: int) -> None:
        super().__init__()
        self._step = step

    def at_step(self, what: str) -> None:
        self.steps += 1
        if self.steps >= self._step:
            raise Dead(what)


@dataclass(eq=False)
class _Inode:
    """A file: what it was when it was last synced."""

    synced: bytes = b""


@dataclass
class _Names:
    folders: set[Path] = field(default_factory=set)
    files: dict[Path, _Inode] = field(default_factory=dict)


Kept = Literal["nothing", "manifest", "names"]
"""What the file system had written on its own account, of all that was not synced: nothing; the rename of the manifest;
all names and sizes, but no content, so that zeros are read there."""


class PowerCut(DieAt):
    """The machine ends at one step: what was not synced is lost, in the worst ways that a file system allows."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self._now, self._synced = _Names(), _Names()
        self._opened: dict[int, _Inode] = {}

    def make_folder(self, path: Path) -> None:
        super().make_folder(path)
        self._now.folders.add(path)

    def create(self, path: Path) -> int:
        file = super().create(path)
        inode = self._now.files.setdefault(path, _Inode())
        inode.synced = b""
        self._opened[file] = inode
        return file

    def open(self, path: Path) -> int:
        file = super().open(path)
        self._opened[file] = self._now.files[path]
        return file

    def sync(self, file: int) -> None:
        super().sync(file)
        self._opened[file].synced = os.pread(file, os.fstat(file).st_size, 0)

    def sync_folder(self, path: Path) -> None:
        super().sync_folder(path)
        self._synced.folders = {f for f in self._synced.folders if f.parent != path}
        self._synced.folders |= {f for f in self._now.folders if f.parent == path}
        for known in [file for file in self._synced.files if file.parent == path]:
            del self._synced.files[known]
        self._synced.files |= {file: inode for file, inode in self._now.files.items() if file.parent == path}

    def rename(self, old: Path, new: Path) -> None:
        super().rename(old, new)
        self._now.files[new] = self._now.files.pop(old)

    def remove(self, path: Path) -> None:
        super().remove(path)
        del self._now.files[path]

    def remove_folder(self, path: Path) -> None:
        super().remove_folder(path)
        self._now.folders.discard(path)

    def after(self, root: Path, target: Path, kept: Kept) -> None:
        """What the disk holds when the power is back, as a copy of `root`."""
        names = self._now if kept == "names" else self._synced
        if kept == "manifest" and (manifest := root / MANIFEST) in self._now.files:
            names = _Names(names.folders, names.files | {manifest: self._now.files[manifest]})
        target.mkdir()
        for folder in sorted(names.folders):
            if folder != root and root in folder.parents:
                (target / folder.relative_to(root)).mkdir(parents=True, exist_ok=True)
        for path, inode in names.files.items():
            place = target / path.relative_to(root)
            if not place.parent.is_dir():
                continue
            content = inode.synced
            if kept == "names" and path.exists():
                content = content.ljust(path.stat().st_size, b"\0")[: path.stat().st_size]
            place.write_bytes(content)
