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
    temporary = f"{place}.part"
    try:
        with (
            gzip.open(temporary, "wt", encoding="utf-8", newline="", compresslevel=6)
            if place.endswith(".gz")
            else open(temporary, "w", encoding="utf-8", newline="")
        ) as stream:
            yield stream
        os.replace(temporary, place)
    except BaseException:
        with suppress(FileNotFoundError):
            os.remove(temporary)
        raise
