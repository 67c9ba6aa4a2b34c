"""apoc.convert.fromJson*, getJsonProperty* and apoc.json.path: JSON to values, whole or what a JSONPath finds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.expressions.regex import matcher
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.apoc_maps import any_properties
from hoplite.engine.functions.json_path import DEFAULT_OPTIONS, OPTIONS, JsonPathError, compile_path
from hoplite.engine.memory import refuse_list
from hoplite.errors import CypherError, transaction_timed_out
from hoplite.lazy_dataclass import dataclass
from hoplite.values.entities import NodeRef

Map = dict[str, Any] | None
_JACKSON = "com.fasterxml.jackson"
_AT_TEXT = "\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` disabled); line: {}, column: {}]"
_AT_VALUE = "\n at [Source: UNKNOWN; byte offset: #UNKNOWN]"
_JAVA_TYPES: dict[type, str] = {
    dict: "java.util.LinkedHashMap<java.lang.Object,java.lang.Object>",
    list: "java.util.ArrayList<java.lang.Object>",
}
_TOKENS: dict[type, tuple[str, str]] = {
    dict: ("Object", "START_OBJECT"),
    list: ("Array", "START_ARRAY"),
    str: ("String", "VALUE_STRING"),
    int: ("Integer", "VALUE_NUMBER_INT"),
    float: ("Floating-point", "VALUE_NUMBER_FLOAT"),
}


class _TooLarge(ValueError):
    """An integer that does not fit a long."""


def _integer(digits: str) -> int:
    if len(digits) > 20 or not -(2**63) <= int(digits) < 2**63:
        raise _TooLarge(digits)
    return int(digits)


_SPACE = " \t\r\n"
_DECODER = json.JSONDecoder(parse_int=_integer)


def parse_json(fail: Any, text: str) -> Any:
    """The first value in a text, or null if there is none; what follows it is ignored.

    `fail` makes an error from a Java class and a message.
    """
    stripped = text.lstrip(_SPACE)
    return _first(fail, stripped)[0] if stripped else None


def _first(fail: Any, text: str, at: int = 0) -> tuple[Any, int]:
    """The value at a position in a text, and the position after it."""
    if at == 0:
        refuse_list(text.count(",") + text.count("[") + text.count("{"))
    try:
        return _DECODER.raw_decode(text, at)
    except _TooLarge as problem:
        message = f"Numeric value ({problem}) out of range of long (-9223372036854775808 - 9223372036854775807)"
        raise fail(f"{_JACKSON}.core.exc.InputCoercionException", message + _AT_TEXT.format(1, 1)) from None
    except json.JSONDecodeError as problem:
        message = problem.msg + _AT_TEXT.format(problem.lineno, problem.colno)
        raise fail(f"{_JACKSON}.core.JsonParseException", message) from None
    except RecursionError:
        message = "Document nesting depth exceeds the maximum allowed (1000, from `StreamReadConstraints`)"
        raise fail(f"{_JACKSON}.core.exc.StreamConstraintsException", message) from None


def json_values(fail: Any, text: str, check: Any) -> Iterator[Any]:
    """All values in a text, one after another, with any white space between them."""
    at = len(text) - len(text.lstrip(_SPACE))
    while at < len(text):
        check()
        value, at = _first(fail, text, at)
        yield value
        while at < len(text) and text[at] in _SPACE:
            at += 1


def found_in_json(
    context: Execution, fail: Any, text: str | None, path: str | None, options: list[str] | None, kind: type | None
) -> Any:
    """What a path finds in a JSON text (all of it without a path), checked to be of `kind` if that is given."""
    if text is None:
        return None
    value = parse_json(fail, text)
    if path:
        value = followed(context, fail, value, path, options)
    if kind is not None and value is not None and not isinstance(value, kind):
        where = _AT_VALUE if path else _AT_TEXT.format(1, 1)
        raise fail(f"{_JACKSON}.databind.exc.MismatchedInputException", mismatch(value, kind) + where)
    return value


def mismatch(value: Any, kind: type) -> str:
    if kind is dict and isinstance(value, str):
        return (
            "Cannot construct instance of `java.util.LinkedHashMap` (although at least one Creator exists): no "
            f"String-argument constructor/factory method to deserialize from String value ('{value}')"
        )
    name, token = ("Boolean", f"VALUE_{str(value).upper()}") if isinstance(value, bool) else _TOKENS[type(value)]
    return f"Cannot deserialize value of type `{_JAVA_TYPES[kind]}` from {name} value (token `JsonToken.{token}`)"


@dataclass(frozen=True, slots=True)
class _Statement:
    context: Execution

    def check_time(self) -> None:
        self.context.check_time()

    def matches(self, pattern: str, text: str) -> bool:
        return matcher(pattern)(text, self.context.seconds_left())


def followed(context: Execution, fail: Any, value: Any, path: str, options: list[str] | None) -> Any:
    chosen = DEFAULT_OPTIONS if options is None else frozenset(options)
    if unknown := sorted(chosen - OPTIONS):
        message = f"No enum constant com.jayway.jsonpath.Option.{unknown[0]}"
        raise fail("java.lang.IllegalArgumentException", message)

    try:
        return compile_path(path).read(value, _Statement(context), chosen)
    except TimeoutError:
        raise transaction_timed_out() from None
    except JsonPathError as problem:
        raise fail(problem.java_class, problem.message) from None


def _failing(function: str) -> Any:
    def fail(java_class: str, message: str) -> CypherError:
        return function_failed(function, java_class, message)

    return fail


@apoc_function(
    "apoc.convert.fromJsonMap(map :: STRING, path =  :: STRING, pathOptions = null :: LIST<STRING>) :: MAP",
    "Parses a JSON object, or the one that a JSONPath finds.",
    needs_context=True,
)
def from_json_map(context: Execution, text: str | None, path: str | None, options: list[str] | None) -> Map:
    """Null for null."""
    found: Map = found_in_json(context, _failing("apoc.convert.fromJsonMap"), text, path, options, dict)
    return found


@apoc_function(
    "apoc.convert.fromJsonList(list :: STRING, path =  :: STRING, pathOptions = null :: LIST<STRING>) :: LIST<ANY>",
    "Parses a JSON list, or the one that a JSONPath finds.",
    needs_context=True,
)
def from_json_list(
    context: Execution, text: str | None, path: str | None, options: list[str] | None
) -> list[Any] | None:
    """Null for null."""
    fail = _failing("apoc.convert.fromJsonList")
    found: list[Any] | None = found_in_json(context, fail, text, path, options, list)
    return found


@apoc_function(
    "apoc.json.path(json :: STRING, path = $ :: STRING, pathOptions = null :: LIST<STRING>) :: ANY",
    "Returns what a JSONPath finds in a JSON text.",
    needs_context=True,
)
def json_path(context: Execution, text: str | None, path: str | None, options: list[str] | None) -> Any:
    """Null for null."""
    return found_in_json(context, _failing("apoc.json.path"), text, path, options, None)


def _property_text(context: Execution, node: NodeRef | None, key: str | None) -> str | None:
    value = (any_properties(context, node, None) or {}).get(key or "")
    return value if value is None or isinstance(value, str) else json.dumps(value)


@apoc_function(
    "apoc.convert.getJsonProperty(node :: NODE, key :: STRING, path =  :: STRING, pathOptions = null :: LIST<STRING>) "
    ":: ANY",
    "Parses a property that holds JSON.",
    needs_context=True,
)
def get_json_property(
    context: Execution, node: NodeRef | None, key: str | None, path: str | None, options: list[str] | None
) -> Any:
    """Null if the node lacks it."""
    fail = _failing("apoc.convert.getJsonProperty")
    return found_in_json(context, fail, _property_text(context, node, key), path, options, None)


@apoc_function(
    "apoc.convert.getJsonPropertyMap(node :: NODE, key :: STRING, path =  :: STRING, "
    "pathOptions = null :: LIST<STRING>) :: MAP",
    "Parses a property that holds a JSON object.",
    needs_context=True,
)
def get_json_property_map(
    context: Execution, node: NodeRef | None, key: str | None, path: str | None, options: list[str] | None
) -> Map:
    """Null if the node lacks it."""
    fail = _failing("apoc.convert.getJsonPropertyMap")
    found: Map = found_in_json(context, fail, _property_text(context, node, key), path, options, dict)
    return found
