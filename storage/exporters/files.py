"""Files that appear only when complete: written next to their final place, and moved there at the end."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, TypeAlias

Target: TypeAlias = str | os.PathLike[str] | IO[str]
"""A file by its path, or an open stream of text."""


@contextmanager
def whole_file(target: Target) -> Iterator[IO[str]]:
    """A text file to write, compressed if its name ends in .gz. If writing fails, nothing remains.

    A stream is written to directly, and left open.
    """
    if not isinstance(target, str | os.PathLike):
        yield target
        return
    place = os.fspath(target)
    with (
        whole_path(place) as path,
        (
            gzip.open(path, "wt", encoding="utf-8", newline="", compresslevel=6)
            if place.endswith(".gz")
            else open(path, "w", encoding="utf-8", newline="")
        ) as stream,
    ):
        yield stream


@contextmanager
def whole_path(place: str) -> Iterator[str]:
    """Where to write so that the file appears at its place when it is complete.

    A link keeps pointing where it does: the file it leads to is the one that is replaced. Pipes and devices cannot be
    replaced by a file, so they are written to directly.
    """
    if is_special(place):
        yield place
        return
    final = os.path.realpath(place)
    temporary = f"{final}.part"
    try:
        yield temporary
        os.replace(temporary, final)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(temporary)
        raise


def is_special(place: str | os.PathLike[str]) -> bool:
    """Whether something exists there that is not a regular file: a pipe, a device, a folder."""
    return os.path.exists(place) and not os.path.isfile(place)
