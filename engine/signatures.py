"""Signatures of procedures and functions as text: `test.my.proc(in :: INTEGER?, n = 5 :: INTEGER) :: (out :: STRING?)`.

Text in, a `ProcedureSignature` or a function's `Signature` out. A type may end in `?` (null is allowed, as it always
is), and may be a union (`INTEGER | FLOAT`) or a list (`LIST<STRING>`). Outputs are `()` or `VOID` for a procedure that
yields nothing.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from hoplite.lazy import lazy_pattern
from hoplite.planner.types import (
    ANY,
    BOOLEAN,
    DATE,
    DATE_TIME,
    DURATION,
    FLOAT,
    INTEGER,
    LIST,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    MAP,
    NODE,
    NUMBER,
    PATH,
    POINT,
    RELATIONSHIP,
    STRING,
    TIME,
    Argument,
    CypherType,
    Field,
    Form,
    ProcedureSignature,
    Signature,
    list_of,
)

_NAME = lazy_pattern(r"\s*([\w`]+(?:\.[\w`]+)*)\s*\(")
_FIELD = lazy_pattern(r"\s*`?(?P<name>[^`=:]+?)`?\s*(?:=\s*(?P<default>.*?)\s*)?::\s*(?P<type>.+?)\s*", re.DOTALL)
_WORDS = {"null": None, "true": True, "false": False, "": ""}

_TYPES: dict[str, CypherType] = {
    "ANY": ANY,
    "BOOLEAN": BOOLEAN,
    "BOOL": BOOLEAN,
    "INTEGER": INTEGER,
    "INT": INTEGER,
    "FLOAT": FLOAT,
    "NUMBER": NUMBER,
    "STRING": STRING,
    "MAP": MAP,
    "NODE": NODE,
    "RELATIONSHIP": RELATIONSHIP,
    "PATH": PATH,
    "POINT": POINT,
    "DATE": DATE,
    "TIME": TIME,
    "ZONED TIME": TIME,
    "LOCALTIME": LOCAL_TIME,
    "LOCAL TIME": LOCAL_TIME,
    "DATETIME": DATE_TIME,
    "ZONED DATETIME": DATE_TIME,
    "LOCALDATETIME": LOCAL_DATE_TIME,
    "LOCAL DATETIME": LOCAL_DATE_TIME,
    "DURATION": DURATION,
}


def _broken(text: str) -> ValueError:
    return ValueError(f"Not a signature: {text!r}; expected the form name(input :: TYPE, ...) :: (output :: TYPE, ...)")


def parse_signature(text: str, mode: str = "READ", description: str = "") -> ProcedureSignature:
    """The signature of a procedure."""
    name, inputs, rest = _call(text)
    outputs = rest.removeprefix("::").strip() if rest else "()"
    if outputs.upper() in ("VOID", "()"):
        fields: tuple[Field, ...] = ()
    elif outputs.startswith("(") and outputs.endswith(")"):
        fields = tuple(_field(part, text) for part in _split(outputs[1:-1]))
    else:
        raise _broken(text)
    return ProcedureSignature(name, inputs, fields, mode, description)


def parse_function_signature(text: str, category: str = "", description: str = "") -> Signature:
    """The signature of a user's function: `my.distance(a :: STRING, b :: STRING) :: INTEGER`."""
    name, inputs, rest = _call(text)
    if not rest.startswith("::"):
        raise _broken(text)
    arguments = tuple(Argument(types_of(field.type), field.has_default, field.name) for field in inputs)
    returns = types_of(rest.removeprefix("::").strip())
    forms = (Form(text, description),)
    return Signature(name, arguments, returns, category, description, built_in=False, own_forms=forms)


def function_defaults(text: str) -> tuple[Any, ...]:
    """The default values of the inputs that have one, in order."""
    return tuple(field.default for field in _call(text)[1] if field.has_default)


def _call(text: str) -> tuple[str, tuple[Field, ...], str]:
    """The name, the inputs, and what follows the closing parenthesis."""
    found = _NAME.match(text)
    if found is None:
        raise _broken(text)
    depth, end = 1, found.end()
    while end < len(text) and depth:
        depth += {"(": 1, ")": -1}.get(text[end], 0)
        end += 1
    if depth:
        raise _broken(text)
    inputs = tuple(_field(part, text) for part in _split(text[found.end() : end - 1]))
    return found.group(1).replace("`", ""), inputs, text[end:].strip()


def _split(text: str) -> Iterator[str]:
    """The parts between commas that stand outside brackets and quotes."""
    depth, quote, start = 0, "", 0
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            depth -= 1
        elif character == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    if text[start:].strip():
        yield text[start:]


def _field(text: str, whole: str) -> Field:
    found = _FIELD.fullmatch(text)
    if found is None:
        raise _broken(whole)
    default = found["default"]
    value = None if default is None else _default(default)
    return Field(found["name"].strip(), found["type"], value, default is not None)


def _default(text: str) -> Any:
    """The value of a default: a literal's, or else the text itself."""
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


@cache
def types_of(text: str) -> tuple[CypherType, ...]:
    """The types that a written type denotes: `INTEGER | FLOAT` is two."""
    bare = text.strip().rstrip("?").removesuffix("NOT NULL").strip()
    parts = [part.strip() for part in _alternatives(bare)]
    return tuple(_type(part) for part in parts)


def _alternatives(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "|" and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _type(text: str) -> CypherType:
    upper = re.sub(r"\s+", " ", text.rstrip("?").removesuffix("NOT NULL").strip()).upper()
    if upper in ("LIST", "BYTEARRAY"):  # for the check, bytes are a list
        return LIST
    inner = re.fullmatch(r"(?:LIST|ARRAY)\s*(?:<|\s+OF\s+)(.+?)>?", upper)
    if inner is not None:
        members = types_of(inner.group(1))
        numbers = set(members) == {INTEGER, FLOAT}
        return list_of(NUMBER if numbers else members[0] if len(members) == 1 else ANY)
    if upper not in _TYPES:
        raise ValueError(f"Unknown type {text!r}")
    return _TYPES[upper]
