"""apoc.util.compress and decompress: text to compressed bytes, and back.

The algorithms in Python's standard library: GZIP, DEFLATE, BZIP2 and NONE. They work in pieces, because one call over a
long text could not be interrupted, and a few bytes may decompress to more than fits into memory.
"""

from __future__ import annotations

import bz2
import codecs
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.memory import refuse_text
from hoplite.errors import unsupported

_PIECE = 1 << 18  # bytes
_GZIP = 16 + zlib.MAX_WBITS
_LACKING = ("BLOCK_LZ4", "FRAMED_SNAPPY")
_DEFAULTS = {"compression": "GZIP", "charset": "UTF-8"}


class _Compressor(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...
    def flush(self) -> bytes: ...


_COMPRESSORS: dict[str, Callable[[], _Compressor]] = {
    "GZIP": lambda: zlib.compressobj(wbits=-zlib.MAX_WBITS),
    "DEFLATE": zlib.compressobj,
    "BZIP2": bz2.BZ2Compressor,
}


@apoc_function("apoc.util.compress(data :: STRING, config = {} :: MAP) :: BYTEARRAY", "Compresses a string into bytes.")
def compress(text: str | None, config: dict[str, Any] | None) -> bytes:
    """With GZIP, in the format that other programs read."""
    algorithm, charset = _settings("apoc.util.compress", config)
    if text is None:
        raise _null("apoc.util.compress", "string")
    refuse_text(4 * len(text))
    data = text.encode(charset, "replace") if charset != "utf-16" else b"\xfe\xff" + text.encode("utf-16-be", "replace")
    if algorithm == "NONE":
        return data
    compressor = _COMPRESSORS[algorithm]()
    pieces = [compressor.compress(data[begin : begin + _PIECE]) for begin in range(0, len(data), _PIECE)]
    made = b"".join([*pieces, compressor.flush()])
    if algorithm != "GZIP":
        return made
    # The header that Java writes: no time, no name, no operating system.
    check, size = zlib.crc32(data), len(data) & 0xFFFFFFFF
    return b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + made + check.to_bytes(4, "little") + size.to_bytes(4, "little")


@apoc_function(
    "apoc.util.decompress(data :: BYTEARRAY, config = {} :: MAP) :: STRING", "Decompresses bytes into a string."
)
def decompress(data: Any, config: dict[str, Any] | None) -> str:
    """The inverse of `compress`."""
    name = "apoc.util.decompress"
    algorithm, charset = _settings(name, config)
    if data is None:
        raise _null(name, "buf")
    if not isinstance(data, bytes):
        what = f"Cannot convert {data[0]} to byte for input to procedure" if data else "Cannot convert a list to bytes"
        raise function_failed(name, "java.lang.IllegalArgumentException", what)
    if algorithm == "NONE":
        return data.decode(charset if charset != "utf-16" or data[:2] in _MARKS else "utf-16-be", "replace")
    try:
        read = b"".join(_read(algorithm, data))
    except (zlib.error, OSError, EOFError, ValueError):
        raise function_failed(name, *_NOT_READ[algorithm]) from None
    return read.decode(charset if charset != "utf-16" or read[:2] in _MARKS else "utf-16-be", "replace")


_MARKS = (codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)
_NOT_READ = {
    "GZIP": ("java.io.IOException", "Input is not in the .gz format"),
    "DEFLATE": ("java.util.zip.ZipException", "incorrect header check"),
    "BZIP2": ("java.io.IOException", "Stream is not in the BZip2 format"),
}


def _read(algorithm: str, data: bytes) -> Iterator[bytes]:
    """The text in pieces of bounded size, as long as the statement has memory for them."""
    reader: Any = bz2.BZ2Decompressor() if algorithm == "BZIP2" else None
    if reader is None:
        reader = zlib.decompressobj(_GZIP if algorithm == "GZIP" else zlib.MAX_WBITS)
    size = 0
    while not reader.eof:
        piece = reader.decompress(data, _PIECE)
        data = b"" if algorithm == "BZIP2" else reader.unconsumed_tail
        if not piece and not data:
            raise EOFError
        size += len(piece)
        refuse_text(2 * size)
        yield piece


def _settings(name: str, config: dict[str, Any] | None) -> tuple[str, str]:
    """The algorithm, and Python's name for the charset."""
    given = {**_DEFAULTS, **(config or {})}
    algorithm, charset = given["compression"], str(given["charset"])
    if algorithm in _LACKING:
        raise unsupported(f"{name} with compression {algorithm}")
    if algorithm is None:
        raise function_failed(name, "java.lang.NullPointerException", "Name is null")
    if algorithm != "NONE" and algorithm not in _COMPRESSORS:
        message = f"No enum constant apoc.util.CompressionAlgo.{algorithm}"
        raise function_failed(name, "java.lang.IllegalArgumentException", message)
    try:
        return str(algorithm), codecs.lookup(charset).name
    except LookupError:
        raise function_failed(name, "java.nio.charset.UnsupportedCharsetException", charset) from None


def _null(name: str, what: str) -> Exception:
    return function_failed(name, "java.lang.NullPointerException", f'Cannot read the length because "{what}" is null')
