"""apoc.create.uuid* and apoc.data.url: encodings of UUIDs, and the parts of URLs."""

from __future__ import annotations

import base64
import re
import uuid
from typing import Any
from urllib.parse import unquote, urlsplit

from hoplite.engine.functions.apoc import apoc_function, function_failed

_NULL = "java.lang.NullPointerException"


# --- ids ------------------------------------------------------------------------------------------------------------

_SHORT_LENGTH = 22
_HEX = re.compile(r"[0-9a-fA-F]{1,8}(-[0-9a-fA-F]{1,4}){3}-[0-9a-fA-F]{1,12}")


def _short(number: uuid.UUID) -> str:
    return base64.b64encode(number.bytes).decode().rstrip("=")


@apoc_function("apoc.create.uuidBase64() :: STRING", "Returns a random UUID in Base64.", deterministic=False)
def uuid_in_base64() -> str:
    """22 characters."""
    return _short(uuid.uuid4())


@apoc_function("apoc.create.uuidHexToBase64(uuid :: STRING) :: STRING", "Converts a UUID to Base64.")
def uuid_to_base64(text: str | None) -> str:
    """22 characters."""
    function = "apoc.create.uuidHexToBase64"
    if text is None:
        raise function_failed(function, _NULL, 'Cannot invoke "String.length()" because "name" is null')
    if not _HEX.fullmatch(text):
        raise function_failed(function, "java.lang.IllegalArgumentException", f"Invalid UUID string: {text}")
    parts = zip(text.split("-"), (8, 4, 4, 4, 12), strict=True)
    return _short(uuid.UUID("".join(part.rjust(size, "0") for part, size in parts)))


@apoc_function(
    "apoc.create.uuidBase64ToHex(base64Uuid :: STRING) :: STRING", "Converts a UUID in Base64 to its usual form."
)
def uuid_from_base64(text: str | None) -> str:
    """36 characters."""
    function = "apoc.create.uuidBase64ToHex"
    if text is None:
        raise function_failed(function, _NULL, 'Cannot invoke "String.length()" because "uuid" is null')
    if len(text) != _SHORT_LENGTH:
        message = "Invalid UUID length. Expected 22 characters"
        raise function_failed(function, "java.lang.IllegalStateException", message)
    return str(uuid.UUID(bytes=base64.b64decode(text + "==")))


# --- parts ----------------------------------------------------------------------------------------------------------


@apoc_function("apoc.data.url(url :: STRING) :: MAP", "Returns the parts of a URL.")
def url_parts(text: str | None) -> dict[str, Any] | None:
    """Null for text that is not a URL."""
    scheme = re.match(r"[A-Za-z][A-Za-z0-9+.-]*(?=://)", text or "")
    if text is None or scheme is None or re.search(r"[\s<>\"{}|\\\\^`]", text):
        return None
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return None
    user, at, address = parts.netloc.rpartition("@")
    rest, mark, fragment = text.partition("#")
    path, query = unquote(parts.path), unquote(parts.query) if "?" in rest else None
    return {
        "protocol": scheme[0],
        "user": user if at else None,
        "host": re.sub(r":\d*$", "", address),
        "port": port,
        "path": path,
        "file": path if query is None else f"{path}?{query}",
        "query": query,
        "anchor": unquote(fragment) if mark else None,
    }
