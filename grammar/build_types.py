"""Builds type names, in the spelling that Neo4j prints: `INT` is `INTEGER`, `TIMESTAMP WITH TIME ZONE` is
`ZONED DATETIME`.
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar.ast import Span, TypeName
from hoplite.grammar.source import Source
from hoplite.grammar.tokens import Token

_SPELLINGS = {
    "BOOL": "BOOLEAN",
    "VARCHAR": "STRING",
    "INT": "INTEGER",
    "SIGNED INT": "INTEGER",
    "SIGNED INTEGER": "INTEGER",
    "TIME WITH TIME": "ZONED TIME",
    "TIME WITH TIMEZONE": "ZONED TIME",
    "TIME WITHOUT TIME": "LOCAL TIME",
    "TIME WITHOUT TIMEZONE": "LOCAL TIME",
    "TIMESTAMP WITH TIME": "ZONED DATETIME",
    "TIMESTAMP WITH TIMEZONE": "ZONED DATETIME",
    "TIMESTAMP WITHOUT TIME": "LOCAL DATETIME",
    "TIMESTAMP WITHOUT TIMEZONE": "LOCAL DATETIME",
    "VERTEX": "NODE",
    "ANY NODE": "NODE",
    "ANY VERTEX": "NODE",
    "EDGE": "RELATIONSHIP",
    "ANY RELATIONSHIP": "RELATIONSHIP",
    "ANY EDGE": "RELATIONSHIP",
    "ANY MAP": "MAP",
    "PATHS": "PATH",
    "ANY PROPERTY VALUE": "PROPERTY VALUE",
    "ANY VALUE": "ANY",
}


def simple_type(source: Source, span: Span, *words: Token) -> TypeName:
    written = " ".join(word.word for word in words)
    return TypeName(_SPELLINGS.get(written, written), (), False, span)


def list_type(source: Source, span: Span, word: Token, element: TypeName) -> TypeName:
    return TypeName("LIST", (element,), False, span)


def union_type(source: Source, span: Span, *parts: Token | TypeName) -> TypeName:
    inner = parts[-1]
    assert isinstance(inner, TypeName)
    return inner if inner.name == "UNION" else TypeName("UNION", (inner,), False, span)


def not_null(source: Source, span: Span, word: Token) -> Span:
    return span


def list_suffix(source: Source, span: Span, not_null: Span | None) -> tuple[Span, bool]:
    return span, not_null is not None


def type_part(
    source: Source,
    span: Span,
    name: TypeName,
    not_null: Span | None,
    *suffixes: tuple[Span, bool],
) -> TypeName:
    if not_null is not None and name.name == "UNION":
        source.complain(
            "Closed Dynamic Union Types can not be appended with `NOT NULL`, "
            "specify `NOT NULL` on all inner types instead.",
            not_null.start,
        )
    part = replace(name, not_null=not_null is not None)
    for suffix, element_not_null in suffixes:
        part = TypeName("LIST", (part,), element_not_null, Span(span.start, suffix.end))
    return part


def type(source: Source, span: Span, *parts: TypeName) -> TypeName:
    return parts[0] if len(parts) == 1 else TypeName("UNION", parts, False, span)
