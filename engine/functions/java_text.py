"""Single values as Java's `toString` writes them: temporal values omit seconds that are 0."""

from __future__ import annotations

import re
from typing import Any

from hoplite.engine.functions.strings import string_of

_TIME = re.compile(r"(?<=\d\d:\d\d):(\d\d)(?:\.(\d+))?")


def _java_time(found: re.Match[str]) -> str:
    """Zero seconds are omitted, and fractions have three, six or nine digits."""
    seconds, fraction = found[1], (found[2] or "").rstrip("0")
    if fraction:
        return f":{seconds}.{fraction.ljust(-(-len(fraction) // 3) * 3, '0')}"
    return "" if seconds == "00" else f":{seconds}"


def java_text(value: Any) -> str:
    """A single value as Java's `toString` writes it."""
    text = string_of(value) or ""
    return text if isinstance(value, bool | int | float | str) else _TIME.sub(_java_time, text, count=1)
