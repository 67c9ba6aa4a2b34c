"""String functions: text in, text out.

Lengths and positions count code points. Only `split` and `replace` with an empty delimiter cut between UTF-16 units, as
Java does; a lone surrogate is written `?`, which is what a Neo4j server sends for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Any

from hoplite.engine.functions.arguments import small_whole, text, text_value, whole, wrong_input
from hoplite.engine.functions.letter_case import lower_case, upper_case
from hoplite.engine.functions.registry import cypher_function, named, over_columns
from hoplite.engine.memory import refuse_list, refuse_text
from hoplite.errors import argument_error, execution_failed, type_error
from hoplite.planner.types import ANY, INTEGER, LIST, STRING, list_of
from hoplite.values.columns import Column, Integers, ObjectArray, Strings, from_objects, object_array
from hoplite.values.floats import float_text
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

_INPUT = named("input", STRING)
_TRIM_CHARACTERS = named("trimCharacterString", STRING, optional=True)

# Java's Character.isWhitespace: Unicode's spaces except the three non-breaking ones, and layout control characters.
_WHITE_SPACE = (
    "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2008\u2009\u200a"
    "\u2028\u2029\u205f\u3000"
)

_TEMPORAL = (Date, Time, LocalTime, LocalDateTime, DateTime, Duration)


# --- parts of a text ---


@cypher_function(
    "left",
    args=(named("original", STRING), named("length", INTEGER)),
    returns=STRING,
    category="String",
    description="Returns a `STRING` containing the specified number (`INTEGER`) of leftmost characters in the given "
    "`STRING`.",
)
def left(original: Any, length: Any) -> str:
    """`left('hello', 3)` is `'hel'`."""
    whole_text, wanted = text(original, "left"), whole(length, "length", "left")
    if not whole_text:
        return ""
    count = (min(wanted, 2**31 - 1) + 2**31) % 2**32 - 2**31  # Java casts to int only after checking the upper bound
    if count < 0:
        raise execution_failed("Cannot handle negative start index nor negative length")
    return whole_text[:count]


@cypher_function(
    "right",
    args=(named("original", STRING), named("length", INTEGER)),
    returns=STRING,
    category="String",
    description="Returns a `STRING` containing the specified number of rightmost characters in the given `STRING`.",
)
def right(original: Any, length: Any) -> str:
    """`right('hello', 3)` is `'llo'`."""
    whole_text, count = text(original, "right"), whole(length, "length", "right")
    if count < 0:
        raise execution_failed("negative length")
    return whole_text[max(len(whole_text) - count, 0) :]


@cypher_function(
    "substring",
    args=(named("original", STRING), named("start", INTEGER), named("length", INTEGER, optional=True)),
    returns=STRING,
    category="String",
    description="Returns a substring of the given `STRING`, beginning with a 0-based index start.",
    forms=(
        (
            "substring(original :: STRING, start :: INTEGER) :: STRING",
            "Returns a substring of the given `STRING`, beginning with a 0-based index start.",
        ),
        (
            "substring(original :: STRING, start :: INTEGER, length :: INTEGER) :: STRING",
            "Returns a substring of a given `length` from the given `STRING`, beginning with a 0-based index start.",
        ),
    ),
)
def substring(original: Any, start: Any, *length: Any) -> str:
    """`substring('hello', 1, 3)` is `'ell'`."""
    whole_text = text(original, "substring")
    first = small_whole(start, "start", "substring")
    count = small_whole(length[0], "length", "substring") if length else len(whole_text)
    if whole_text and (first < 0 or count < 0):
        raise execution_failed("Cannot handle negative start index nor negative length")
    return whole_text[first : first + count]


@cypher_function(
    "split",
    args=(named("original", STRING), named("splitDelimiters", STRING, list_of(STRING))),
    returns=list_of(STRING),
    category="String",
    description="Returns a `LIST<STRING>` resulting from the splitting of the given `STRING` around matches of the "
    "given delimiter(s).",
)
def split(original: Any, delimiters: Any) -> list[str] | None:
    """`split('a,b;c', [',', ';'])` is `['a', 'b', 'c']`."""
    original = text(original, "split")
    if not original:
        return [original]
    if isinstance(delimiters, list):
        if any(delimiter is None for delimiter in delimiters):
            return None
        separators = [text_value(delimiter) for delimiter in delimiters]
    else:
        separators = [text_value(delimiters)]
    if not separators:
        return [original]
    refuse_list(2 * sum(original.count(separator) for separator in separators if separator))
    if len(separators) == 1 and separators[0]:
        parts: list[str] = original.split(separators[0])
        return parts
    if "" not in separators:
        return re.split("|".join(map(re.escape, separators)), original)
    refuse_list(len(original))
    others = [separator for separator in separators if separator]
    parts = re.split("|".join(map(re.escape, others)), original) if others else [original]
    return [unit for part in parts for unit in _utf16_units(part)]


def _utf16_units(part: str) -> list[str]:
    if part.isascii():
        return list(part)
    return [unit for character in part for unit in ([character] if ord(character) < 0x10000 else ["?", "?"])]


@cypher_function(
    "replace",
    args=(named("original", STRING), named("search", STRING), named("replace", STRING)),
    returns=STRING,
    category="String",
    description="Returns a `STRING` in which all occurrences of a specified search `STRING` in the given `STRING` have "
    "been replaced by another (specified) replacement `STRING`.",
)
def replace(original: Any, search: Any, replacement: Any) -> str:
    """`replace('abc', 'b', 'x')` is `'axc'`."""
    whole_text, wanted, new = text(original, "replace"), text_value(search), text_value(replacement)
    refuse_text(len(whole_text) + whole_text.count(wanted) * max(len(new) - len(wanted), 0))
    if wanted or not new:
        return whole_text.replace(wanted, new)
    return new + "".join(unit + new for unit in _utf16_units(whole_text))


@cypher_function(
    "reverse",
    args=(named("input", STRING, LIST),),
    returns=(STRING, LIST),
    category="String",
    description="Returns a `STRING` or `LIST<ANY>` in which the order of all characters or elements in the given "
    "`STRING` or `LIST<ANY>` have been reversed.",
)
def reverse(value: Any) -> str | list[Any]:
    """`reverse('abc')` is `'cba'`, `reverse([1, 2])` is `[2, 1]`."""
    if isinstance(value, str | list):
        refuse_list(len(value)) if isinstance(value, list) else refuse_text(len(value))
        return value[::-1]
    raise type_error(
        "Invalid input for function 'reverse()': Expected a string or a list; consider converting the value to a "
        "string "
        "with toString() or creating a list."
    )


# --- white space and other characters at the ends ---


def _trim_characters(value: tuple[Any, ...], function: str) -> str:
    return text(value[0], function) if value else _WHITE_SPACE


def _trim_forms(name: str, where: str) -> tuple[tuple[str, str], ...]:
    return (
        (f"{name}(input :: STRING) :: STRING", f"Returns the given `STRING` with {where} whitespace removed."),
        (
            f"{name}(input :: STRING, trimCharacterString :: STRING) :: STRING",
            f"Returns the given `STRING` with {where} `trimCharacterString` characters removed.",
        ),
    )


@cypher_function(
    "btrim",
    args=(_INPUT, _TRIM_CHARACTERS),
    returns=STRING,
    category="String",
    description="Returns the given `STRING` with leading and trailing whitespace removed.",
    forms=_trim_forms("btrim", "leading and trailing"),
)
def btrim(value: Any, *characters: Any) -> str:
    """`btrim('xxabcxx', 'x')` is `'abc'`."""
    return text(value, "btrim").strip(_trim_characters(characters, "btrim"))


@cypher_function(
    "ltrim",
    args=(_INPUT, _TRIM_CHARACTERS),
    returns=STRING,
    category="String",
    description="Returns the given `STRING` with leading whitespace removed.",
    forms=_trim_forms("ltrim", "leading"),
)
def ltrim(value: Any, *characters: Any) -> str:
    """`ltrim('  abc')` is `'abc'`."""
    return text(value, "ltrim").lstrip(_trim_characters(characters, "ltrim"))


@cypher_function(
    "rtrim",
    args=(_INPUT, _TRIM_CHARACTERS),
    returns=STRING,
    category="String",
    description="Returns the given `STRING` with trailing whitespace removed.",
    forms=_trim_forms("rtrim", "trailing"),
)
def rtrim(value: Any, *characters: Any) -> str:
    """`rtrim('abc  ')` is `'abc'`."""
    if characters:
        return _without_end(text(value, "rtrim"), text(characters[0], "rtrim"))
    return text(value, "rtrim").rstrip(_WHITE_SPACE)


def _without_end(value: str, characters: str) -> str:
    """The text without trailing characters of a set. Neo4j never removes a first character of 16 bits."""
    rest = value.rstrip(characters)
    return value[:1] if not rest and value[:1] <= "\uffff" else rest


_SIDES: dict[str, Callable[[str, str], str]] = {"BOTH": str.strip, "LEADING": str.lstrip, "TRAILING": _without_end}
_WHITE_SPACE_SIDES = _SIDES | {"TRAILING": str.rstrip}
_SIDE_CHARACTER_TEXT = 3


@cypher_function(
    "trim",
    args=(_INPUT,),
    returns=STRING,
    category="String",
    description="Returns the given `STRING` with leading and trailing whitespace removed.",
    forms=(
        (
            "trim([[LEADING | TRAILING | BOTH] [trimCharacterString :: STRING] FROM] input :: STRING) :: STRING",
            "Returns the given `STRING` with leading and/or trailing `trimCharacterString` removed.",
        ),
        (
            "trim(input :: STRING) :: STRING",
            "Returns the given `STRING` with leading and trailing whitespace removed.",
        ),
    ),
    nulls="handle",
)
def trim(*arguments: Any) -> str | None:
    """`trim('  abc ')` is `'abc'`.

    `trim(LEADING 'x' FROM 'xxa')`, which is `'a'`, arrives as `trim('LEADING', 'x', 'xxa')`; a query may also write
    that itself, and any text other than LEADING or TRAILING means BOTH. Null in its place is an error.
    """
    if arguments[-1] is None:
        return None
    side = text(arguments[0], "trim") if len(arguments) > 1 else "BOTH"
    if len(arguments) < _SIDE_CHARACTER_TEXT:
        return _WHITE_SPACE_SIDES.get(side, str.strip)(text(arguments[-1], "trim"), _WHITE_SPACE)
    if arguments[1] is None:
        return None
    value, character = text(arguments[2], "trim"), text(arguments[1], "trim")
    if len(character) != 1:
        raise argument_error("The argument `trimCharacterString` in the `trim()` function must be of length 1.")
    return _SIDES.get(side, str.strip)(value, character)


# --- case and form ---


def _case_function(name: str, as_called: str, description: str, convert: Callable[[str], str]) -> None:
    """Register a function that changes case; `as_called` is its name in messages."""

    @cypher_function(name, args=(_INPUT,), returns=STRING, category="String", description=description)
    def change_case(value: Any) -> str:
        return convert(text(value, as_called))

    @over_columns(name)
    def change_case_of_column(column: Column) -> Column | None:
        return _mapped(column, as_called, convert)


def _mapped(column: Column, name: str, convert: Callable[[str], str]) -> Column | None:
    """The converted texts; those of a stored column are cached under the name of the conversion."""
    if not isinstance(column, Strings):
        return None
    if column.pool is not None and column.slots is not None and column.pool.pays(name, len(column)):
        return Strings.of_pool(column.pool.converted(name, convert), column.slots)
    values: ObjectArray = column.values
    converted = (None if value is None else convert(value) for value in values.tolist())
    return Strings(object_array(converted, len(values)))


_case_function("toLower", "toLower", "Returns the given `STRING` in lowercase.", lower_case)
_case_function("lower", "toLower", "Returns the given `STRING` in lowercase.", lower_case)
_case_function("toUpper", "toUpper", "Returns the given `STRING` in uppercase.", upper_case)
_case_function("upper", "toUpper", "Returns the given `STRING` in uppercase.", upper_case)


@over_columns("trim")
def trim_column(*columns: Column) -> Column | None:
    """Trim white space at both ends of a column of text."""
    return _mapped(columns[0], "trim", lambda value: value.strip(_WHITE_SPACE)) if len(columns) == 1 else None


@cypher_function(
    "normalize",
    args=(_INPUT, named("normalForm", STRING, optional=True)),
    returns=STRING,
    category="String",
    description="Normalize a `STRING`. The `STRING` will be normalized using the normal form 'NFC'.",
    forms=(
        (
            "normalize(input :: STRING) :: STRING",
            "Normalize a `STRING`. The `STRING` will be normalized using the normal form 'NFC'.",
        ),
        (
            "normalize(input :: STRING, normalForm = NFC :: [NFC, NFD, NFKC, NFKD]) :: STRING",
            "Normalize a `STRING`. The `STRING` will be normalized according to the specified normalization form.",
        ),
    ),
)
def normalize(value: Any, form: str = "NFC") -> str:
    """`normalize('e\\u0301')` is `'é'`."""
    match form.upper():
        case "NFC" | "NFD" | "NFKC" | "NFKD" as known:
            original = text_value(value)
            refuse_text(24 * len(original))  # room for the decomposed text in wider characters
            return unicodedata.normalize(known, original)
    raise argument_error("Invalid normal form, expected NFC, NFD, NFKC, NFKD")


# --- to text ---


def string_of(value: Any) -> str | None:
    """The text of a value; None for lists, maps and entities, which have none."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return float_text(value)
        case Point():
            return str(value)
        case _:
            return str(value) if isinstance(value, _TEMPORAL) else None


@cypher_function(
    "toString",
    args=(named("input", ANY),),
    returns=STRING,
    category="String",
    description="Converts an `INTEGER`, `FLOAT`, `BOOLEAN`, `POINT` or temporal type (i.e. `DATE`, `ZONED TIME`, "
    "`LOCAL TIME`, `ZONED DATETIME`, `LOCAL DATETIME` or `DURATION`) value to a `STRING`.",
)
def to_string(value: Any) -> str:
    """`toString(1.0)` is `'1.0'`."""
    result = string_of(value)
    if result is None:
        raise wrong_input("toString", "a String, Float, Integer, Boolean, Temporal or Duration", value)
    return result


@over_columns("toString")
def to_string_of_column(column: Column) -> Column | None:
    """Text stays as it is, integers are formatted."""
    if isinstance(column, Strings):
        return column
    if not isinstance(column, Integers):
        return None
    values = column.objects()
    return from_objects(object_array((None if v is None else str(v) for v in values), len(values)))


@cypher_function(
    "toStringOrNull",
    args=(named("input", ANY),),
    returns=STRING,
    category="String",
    description="Converts an "
    "`INTEGER`, `FLOAT`, `BOOLEAN`, `POINT` or temporal type (i.e. `DATE`, `ZONED TIME`, "
    "`LOCAL TIME`, `ZONED "
    "DATETIME`, `LOCAL DATETIME` or `DURATION`) value to a `STRING`, or null if the value cannot be "
    "converted.",
)
def to_string_or_null(value: Any) -> str | None:
    """`toStringOrNull([1])` is null."""
    return string_of(value)
