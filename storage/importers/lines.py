"""Text files line by line, plain or gzip, with progress."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from hoplite.storage.importers.problem import bad_file, bad_line

Progress: TypeAlias = Callable[[int, int | None], None]
"""Called now and then with how much is done, and the total (None: unknown); here in bytes of the file."""

_REPORT_EVERY = 20_000
GZIP_MAGIC = b"\x1f\x8b"


def numbered_lines(
    path: str, progress: Progress | None, *, keep_blank: bool = False, keep_return: bool = False
) -> Iterator[tuple[int, str]]:
    """(line number from 1, text without its end) for every line, or every line that is not blank.

    A carriage return before the line end belongs to it, unless it is to be kept.
    """
    try:
        size = os.path.getsize(path)
        raw = open(path, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise bad_file(path, error.strerror or str(error)) from error
    number = 0
    with raw:
        compressed = raw.read(2) == GZIP_MAGIC
        raw.seek(0)
        stream: Iterable[bytes] = gzip.GzipFile(fileobj=raw) if compressed else raw
        try:
            for number, line in enumerate(stream, 1):
                text = line.decode("utf-8-sig" if number == 1 else "utf-8").removesuffix("\n")
                if not keep_return:
                    text = text.removesuffix("\r")
                if keep_blank or text.strip():
                    yield number, text
                if progress is not None and number % _REPORT_EVERY == 0:
                    progress(min(raw.tell(), size), size)
        except UnicodeDecodeError as error:
            raise bad_line(path, number, f"not UTF-8: {error.reason}") from error
        except (EOFError, OSError) as error:
            raise bad_line(path, number + 1, f"cannot be read: {error}") from error
    if progress is not None:
        progress(size, size)
