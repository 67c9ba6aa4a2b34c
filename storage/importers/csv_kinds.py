"""What the texts of a column are: the first type that fits all of them without loss, or one that is known already.

    true, FALSE           boolean         2024-05-01               date
    -12                   integer         2024-05-01T10:00:00      local datetime (or with a space)
    1.5, 2e9              float           2024-05-01T10:00:00Z     datetime
    anything else         text            10:30:00                 local time

A number stays text if reading it would change what it says: 007, -0 among integers, an integer beyond 64 bits, a float
that would become infinite or 0, or has more digits than a double keeps. A column of keys also stays text if two of its
texts would become the same key (1 and 1.0), or if a zero at the end would be lost (version 1.10).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import time
from decimal import Decimal
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import pyarrow as pa

_DATE = r"\d{4}-\d{2}-\d{2}"
_TIME = r"\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?"
# What every value of a column has to look like, in the order in which types are tried.
_PATTERNS = {
    "boolean": r"(?i:true|false)",
    "integer": r"0|-?[1-9]\d{0,18}",
    "float": r"-?((0|[1-9]\d{0,14})|(0|[1-9]\d*)(\.\d+([eE][+-]?\d+)?|[eE][+-]?\d+))",
    "date": _DATE,
    "local datetime": f"{_DATE}[T ]{_TIME}",
    "datetime": f"{_DATE}[T ]{_TIME}Z",
    "local time": r"\d{2}:\d{2}:\d{2}(\.\d{1,6})?",
}
KINDS = (*_PATTERNS, "text")
_FIRST_LOOK = 1_000  # values that rule out most types
_WRITTEN_IN_ONE_WAY = ("integer", "date")  # by their patterns
_WITH_ARTICLE = {"integer": "an integer"}
# Decimals of up to this many digits come back from a double as they were, if its exponent is an ordinary one.
_DIGITS_OF_A_DOUBLE = 15
_NEEDS_A_LOOK = rf"(\d\.?){{{_DIGITS_OF_A_DOUBLE + 1},}}|[eE][+-]?\d{{3}}"
_LOST_ZERO = r"\.\d+0([eE]|$)"


def with_article(kind: str) -> str:
    """`an integer`"""
    return _WITH_ARTICLE.get(kind, "a " + kind)


def inferred(texts: pa.ChunkedArray[Any], *, is_key: bool = False) -> tuple[str, Any]:
    """The first type that fits all values, and the column with that type."""
    import pyarrow.compute as pc

    if texts.null_count == len(texts):
        return "text", texts
    first = texts.drop_null().slice(0, _FIRST_LOOK)
    for kind, pattern in _PATTERNS.items():
        if _all_match(first, pattern) and _all_match(texts, pattern):
            try:
                column = converted(texts, kind)
            except ValueError:  # a number beyond 64 bits, the 30th of February
                continue
            if kind == "float" and not _keeps_floats(texts, column, is_key):
                continue
            may_coincide = is_key and kind not in _WRITTEN_IN_ONE_WAY
            if may_coincide and pc.count_distinct(texts).as_py() != pc.count_distinct(column).as_py():
                continue
            return kind, column
    return "text", texts


def _all_match(texts: pa.ChunkedArray[Any], pattern: str) -> bool:
    import pyarrow.compute as pc

    return bool(pc.all(pc.match_substring_regex(texts, f"^({pattern})$")).as_py())


def _keeps_floats(texts: pa.ChunkedArray[Any], column: Any, is_key: bool) -> bool:
    """Whether the floats say what the texts say."""
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(texts, "[.eE]")).as_py():
        return False  # integers, apart from a -0
    if is_key and pc.any(pc.match_substring_regex(texts, _LOST_ZERO)).as_py():
        return False
    doubtful: Any = pc.fill_null(cast(Any, pc.match_substring_regex(texts, _NEEDS_A_LOOK)), False)
    texts, column = texts.filter(doubtful), column.filter(doubtful)
    if not pc.all(pc.is_finite(column), min_count=0).as_py():
        return False
    # Most programs write the shortest text for a float, though not all in one form. Others are looked at one by one.
    differs: Any = pc.not_equal(column.cast(texts.type), texts)
    texts, column = texts.filter(differs), column.filter(differs)
    differs = pc.not_equal(_digits(column.cast(texts.type)), _digits(texts))
    texts, column = texts.filter(differs), column.filter(differs)
    return all(map(_says, texts.to_pylist(), column.to_pylist()))


def _digits(texts: Any) -> Any:
    """The significant digits of numbers, without zeros at either end."""
    import pyarrow.compute as pc

    mantissas = pc.replace_substring_regex(pc.replace_substring(texts, ".", ""), "[eE].*$", "")
    return pc.utf8_rtrim(pc.utf8_ltrim(mantissas, "-0"), "0")


def _says(text: Any, value: Any) -> bool:
    """Whether a float, written with as many digits as a text has, is that text."""
    if not value:
        return False  # the digits of a text for 0 are those of 0
    written = Decimal(text)
    digits = len(written.as_tuple().digits)
    return Decimal(f"{value:.{digits - 1}e}") == written


def converted(texts: pa.ChunkedArray[Any], kind: str) -> Any:
    """The column with that type; ValueError if a value is not one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    match kind:
        case "boolean":
            return pc.utf8_lower(texts).cast(pa.bool_())
        case "integer":
            return texts.cast(pa.int64())
        case "float":
            return texts.cast(pa.float64())
        case "date":
            return texts.cast(pa.date32())
        case "local datetime":
            return _moments(texts, None)
        case "datetime":
            return _moments(texts, "UTC")
        case "local time":
            read = [None if text is None else time.fromisoformat(text) for text in texts.to_pylist()]
            return pa.array(read, pa.time64("us"))
        case _:
            return texts


def unreadable(texts: pa.ChunkedArray[Any], kind: str, first: int = 0) -> Iterator[int]:
    """The places of the values that are not of this type, in order: halves that can be read are not divided."""
    try:
        converted(texts, kind)
    except ValueError:
        if len(texts) == 1:
            yield first
        else:
            half = len(texts) // 2
            yield from unreadable(texts.slice(0, half), kind, first)
            yield from unreadable(texts.slice(half), kind, first + half)


def _moments(texts: pa.ChunkedArray[Any], zone: str | None) -> Any:
    """Nanoseconds only if there are any: they limit the range to the years from 1677 to 2262."""
    import pyarrow as pa

    try:
        return texts.cast(pa.timestamp("us", zone))
    except pa.ArrowInvalid:
        return texts.cast(pa.timestamp("ns", zone))
