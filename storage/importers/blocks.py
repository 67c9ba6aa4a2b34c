"""Text files in large blocks of whole lines, plain or gzip, with progress."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from typing import IO, Any

from hoplite.storage.importers.lines import GZIP_MAGIC, Progress
from hoplite.storage.importers.problem import bad_file

BLOCK_BYTES = 32 << 20
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def line_blocks(path: str, progress: Progress | None, block_bytes: int = BLOCK_BYTES) -> Iterator[tuple[int, bytes]]:
    """(number of the first line, lines as bytes); every block ends with a line end, except perhaps the last."""
    try:
        size = os.path.getsize(path)
        raw = open(path, "rb")  # noqa: SIM115 - closed below
    except OSError as error:
        raise bad_file(path, error.strerror or str(error)) from error
    with raw:
        compressed = raw.read(2) == GZIP_MAGIC
        raw.seek(0)
        stream: IO[bytes] | Any = gzip.GzipFile(fileobj=raw) if compressed else raw
        line = 1
        rest = b""
        try:
            while read := stream.read(block_bytes):
                if line == 1 and not rest:
                    read = read.removeprefix(_BYTE_ORDER_MARK)
                end = read.rfind(b"\n") + 1
                if not end:
                    rest += read
                    continue
                block, rest = rest + read[:end], read[end:]
                yield line, block
                line += block.count(b"\n")
                if progress is not None:
                    progress(min(raw.tell(), size), size)
        except (EOFError, OSError) as error:
            raise bad_file(path, f"cannot be read: {error}") from error
        if rest:
            yield line, rest
    if progress is not None:
        progress(size, size)
