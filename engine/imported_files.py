"""The files that a statement may read: those in `import_folder`, by `file:///` URLs."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any
from urllib.parse import unquote_to_bytes

from hoplite.errors import CypherError
from hoplite.lazy import lazy_pattern

_CODE = "Neo.ClientError.Statement.ExternalResourceFailed"
_SCHEME = lazy_pattern(r"([A-Za-z][A-Za-z0-9+.-]*):")
NO_FOLDER = "no import_folder was given: it is an argument of hoplite.open, and --import-folder on the command line"
NETWORK = ("http", "https", "ftp", "jar")
_ILLEGAL = lazy_pattern(r'[\x00-\x20\x7f"<>\\^`{|}\[\]]')
_BAD_ESCAPE = lazy_pattern(r"%(?![0-9A-Fa-f]{2})")


def cannot_load(url: Any, reason: str) -> CypherError:
    """The error for a file that cannot be read."""
    return CypherError(_CODE, f"Cannot load from URL '{url}': {reason} ()")


def _invalid(url: str, reason: str) -> CypherError:
    return CypherError(_CODE, f"Invalid URL '{url}': {reason} ()")


def confined_path(url: str, folder: str | None) -> Path:
    """The file that a URL names, checked to be in the import folder."""
    path = _file_path(url)
    if folder is None:
        raise CypherError(_CODE, f"Cannot load from URL '{url}': {NO_FOLDER}")
    root = Path(folder).resolve()
    try:
        name = unquote_to_bytes(path).decode("utf-8", "surrogateescape")
        found = (root / posixpath.normpath(f"/{name}").lstrip("/")).resolve()
        is_file = found.is_file()
    except (OSError, ValueError):
        is_file = False
    if not is_file or not found.is_relative_to(root):  # resolved: a link may lead out of the folder
        raise cannot_load(url, f"Couldn't load the external resource at: {url}")
    return found


def _file_path(url: str) -> str:
    """The path in a `file:///` URL, still escaped; for any other, the error messages of Java's libraries."""
    scheme = _SCHEME.match(url)
    if scheme is None:
        raise _invalid(url, f"no protocol: {url}")
    if scheme[1].lower() in NETWORK:
        raise cannot_load(url, "only file:/// URLs are read, from the folder given as import_folder")
    if scheme[1].lower() != "file":
        raise _invalid(url, f"unknown protocol: {scheme[1]}")
    if bad := _BAD_ESCAPE.search(url):
        raise _invalid(url, f"Malformed escape pair at index {bad.start()}: {url}")
    if bad := _ILLEGAL.search(url):
        raise _invalid(url, f"Illegal character in path at index {bad.start()}: {url}")
    rest = url[scheme.end() :]
    path, _, fragment = rest.partition("#")
    path, question, _ = path.partition("?")
    if path.startswith("//") and path[2:3] not in ("/", ""):
        raise cannot_load(url, "file URL may not contain an authority section (i.e. it should be 'file:///')")
    if question:
        raise cannot_load(url, "file URL may not contain a query component")
    if not path.startswith("/"):
        raise cannot_load(url, "URI is not hierarchical")
    if "#" in rest or fragment:
        raise cannot_load(url, "URI has a fragment component")
    if not path.isascii():
        raise cannot_load(url, "Bad escape")
    return path.removeprefix("//") if path.startswith("///") else path
