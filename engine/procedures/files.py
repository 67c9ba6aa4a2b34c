"""The files that procedures read and write: those in `import_folder`, as for LOAD CSV.

A name is a path in the folder, with or without a leading slash, or a `file:///` URL. Anything that leads out of the
folder, by dots or links, is refused, as are network addresses. A read-only run writes no files.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import posixpath
import re
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from hoplite.engine.context import Execution
from hoplite.engine.imported_files import NETWORK, NO_FOLDER
from hoplite.engine.memory import refuse_text
from hoplite.engine.procedures.registry import call_failed
from hoplite.errors import CypherError, access_mode

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):")
_NETWORK = (*NETWORK, "s3", "gs", "hdfs")
_IO_ERROR = "java.io.IOException"
_OUTSIDE = "You're providing a directory outside the import directory defined into `server.directories.import`"
_GZIP = b"\x1f\x8b"
_PIECE = 1 << 20


class NotReadable(Exception):
    """A file that cannot be read; `error` is what the procedure raises."""

    def __init__(self, error: CypherError) -> None:
        super().__init__(error)
        self.error = error


def _place(context: Execution, procedure: str, name: str, verb: str) -> Path:
    """The file of this name inside the folder, with all links resolved."""
    if context.import_folder is None:
        message = f"{verb} files not enabled, {NO_FOLDER}"
        raise call_failed(procedure, "java.lang.RuntimeException", message)
    root = Path(context.import_folder).resolve()
    scheme = _SCHEME.match(name)
    if scheme is None:
        inside = Path(name).is_relative_to(root)
        path = Path(posixpath.normpath(name)) if inside else Path(posixpath.normpath(f"{root}/{name.lstrip('/')}"))
    elif scheme[1].lower() == "file":
        local = re.sub(r"^//[^/]*", "", name[scheme.end() :])
        path = Path(f"{root}{posixpath.normpath('/' + unquote(local).lstrip('/'))}")
    elif scheme[1].lower() in _NETWORK:
        message = f"'{name}': only files are read, from the folder given as import_folder"
        raise call_failed(procedure, _IO_ERROR, message)
    else:
        raise call_failed(procedure, "java.net.MalformedURLException", f"unknown protocol: {scheme[1]}")
    try:
        found = path.resolve()
    except (OSError, RuntimeError, ValueError):  # a loop of links, a NUL in the name
        raise call_failed(procedure, _IO_ERROR, f"Cannot open file {name} for reading.") from None
    if not found.is_relative_to(root):
        raise call_failed(procedure, _IO_ERROR, _OUTSIDE)
    return found


def read_text(context: Execution, procedure: str, given: Any) -> str:
    """The text of a file or of bytes, in UTF-8. `NotReadable` if there is no such file."""
    return decoded(read_bytes(context, procedure, given))


def decoded(content: bytes) -> str:
    """The text of bytes in UTF-8."""
    return content.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")


def read_bytes(context: Execution, procedure: str, given: Any) -> bytes:
    """The content of a file, or bytes, possibly compressed by gzip. `NotReadable` if there is no such file."""
    if isinstance(given, bytes):
        content = given
    elif isinstance(given, str):
        path = _place(context, procedure, given, "Import from")
        try:
            refuse_text(path.stat().st_size)
            content = path.read_bytes()
        except OSError:
            message = f"Cannot open file {path} for reading."
            raise NotReadable(call_failed(procedure, _IO_ERROR, message)) from None
    else:
        raise call_failed(procedure, "java.lang.RuntimeException", "Only byte[] or url String allowed")
    if content.startswith(_GZIP):
        content = _unpacked(context, procedure, content)
    return content


def _unpacked(context: Execution, procedure: str, content: bytes) -> bytes:
    """Decompress in pieces: a small archive may hold far too large a text."""
    pieces, size = [], 0
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as archive:
            while piece := archive.read(_PIECE):
                context.check_time()
                size += len(piece)
                refuse_text(size)
                pieces.append(piece)
    except (OSError, EOFError, zlib.error) as problem:
        raise call_failed(procedure, "java.util.zip.ZipException", str(problem)) from None
    return b"".join(pieces)


class Target:
    """Where an export goes: a file, text that is returned, or nowhere."""

    def __init__(self, context: Execution, procedure: str, name: str | None, streams: bool) -> None:
        self._context = context
        self._parts: list[str] = []
        self._keeps = streams and name is None
        self._file: Any = None
        if name is None:
            return
        path = _place(context, procedure, name, "Export to")
        if context.database.is_read_only:
            raise access_mode()
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), 0o666)
        except OSError as problem:
            message = f"{path} ({problem.strerror})"
            raise call_failed(procedure, "java.io.FileNotFoundException", message) from None
        self._file = os.fdopen(handle, "w", encoding="utf-8", newline="")

    def write(self, text: str) -> None:
        """Append text."""
        self._context.check_time()
        if self._file is not None:
            self._file.write(text)
        elif self._keeps:
            self._parts.append(text)

    def __enter__(self) -> Target:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    @property
    def text(self) -> str | None:
        """The text to return."""
        return "".join(self._parts) if self._keeps else None
