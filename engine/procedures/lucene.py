"""Lucene's classic query syntax: text in, a tree of clauses out.

    drug AND (aspirin OR ibu*) -placebo "heart attack" asprin~1 name:ann title:"x y"^2

A `Boolean` holds clauses that must, should or must not match; a document matches if all that must do, none that must
not does, and, where nothing must, at least one that should does. AND makes its neighbours required, as the classic
parser has it.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import TypeAlias

from hoplite.engine.expressions.regex import Matcher, matcher
from hoplite.errors import CypherError
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass


class Occur(Enum):
    """What a clause asks of a document."""

    MUST = "+"
    SHOULD = ""
    MUST_NOT = "-"


@dataclass(frozen=True, slots=True)
class Words:
    """A word, or a phrase where `phrase` is set, before the analyzer has seen it; `field` None means every field."""

    text: str
    field: str | None = None
    phrase: bool = False
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Wildcard:
    """A word with `*` and `?`, or a regular expression; `matches` says whether a whole word fits, within a time."""

    matches: Matcher
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Fuzzy:
    """A word, or any within a number of edits of it."""

    text: str
    edits: int
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Range:
    """Words between two others; None is an open end."""

    low: str | None
    high: str | None
    include_low: bool
    include_high: bool
    field: str | None = None
    boost: float = 1.0


@dataclass(frozen=True, slots=True)
class Boolean:
    """Several clauses."""

    clauses: tuple[tuple[Occur, Query], ...]
    boost: float = 1.0


Query: TypeAlias = Words | Wildcard | Fuzzy | Range | Boolean


class QueryError(ValueError):
    """Text that is no query."""


_TOKEN = lazy_pattern(
    r"""\s*(?:
      (?P<operator>AND\b|OR\b|NOT\b|&&|\|\||!|\+|-)
    | (?P<open>\() | (?P<close>\))
    | (?P<phrase>"(?:\\.|[^"\\])*")
    | (?P<range>[\[{].+?\sTO\s.+?[\]}])
    | (?P<regex>/(?:\\.|[^/\\])+/)
    | (?P<field>(?:\\.|[^\s"(){}\[\]:^~+\-!*?/\\])(?:\\.|[^\s"(){}\[\]:^~\\])*):
    | (?P<word>(?:\\.|[^\s"(){}\[\]:^~\\])+)
    )(?:~(?P<slop>[0-9.]*))?(?:\^(?P<boost>[0-9.]+))?""",
    re.VERBOSE,
)
_ESCAPE = lazy_pattern(r"\\(.)")


def parse_query(text: str) -> Query:
    """The tree of a query; raises QueryError."""
    parser = _Parser(text)
    query = parser.clauses(None)
    if parser.token is not None:
        raise QueryError(f"Cannot parse '{text}'")
    return query


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._place = 0
        self.token: re.Match[str] | None = None
        self._advance()
        if self.token is None:
            raise QueryError(f"Cannot parse '{text}'")

    def _advance(self) -> None:
        if not self._text[self._place :].strip():
            self.token = None
            return
        self.token = _TOKEN.match(self._text, self._place)
        if self.token is None:
            raise QueryError(f"Cannot parse '{self._text}'")
        self._place = self.token.end()

    def clauses(self, field: str | None) -> Query:
        """Clauses up to a closing bracket or the end."""
        found: list[tuple[Occur, Query]] = []
        while self.token is not None and not self.token["close"]:
            conjunction, modifier = self._operators()
            clause = self._clause(field)
            if conjunction == "AND" and found and found[-1][0] is Occur.SHOULD:
                found[-1] = (Occur.MUST, found[-1][1])
            occur = modifier or (Occur.MUST if conjunction == "AND" else Occur.SHOULD)
            found.append((occur, clause))
        if not found:
            raise QueryError(f"Cannot parse '{self._text}'")
        return found[0][1] if len(found) == 1 and found[0][0] is not Occur.MUST_NOT else Boolean(tuple(found))

    def _operators(self) -> tuple[str | None, Occur | None]:
        conjunction, modifier = None, None
        while self.token is not None and self.token["operator"]:
            match self.token["operator"]:
                case "AND" | "&&":
                    conjunction = "AND"
                case "OR" | "||":
                    conjunction = "OR"
                case "+":
                    modifier = Occur.MUST
                case _:
                    modifier = Occur.MUST_NOT
            self._advance()
        return conjunction, modifier

    def _clause(self, field: str | None) -> Query:
        token = self.token
        if token is None or token["close"]:
            raise QueryError(f"Cannot parse '{self._text}'")
        self._advance()
        boost = float(token["boost"] or 1)
        if token["field"]:
            return self._clause(_unescaped(token["field"]))
        if token["open"]:
            inner = self.clauses(field)
            closing = self.token
            if closing is None:
                raise QueryError(f"Cannot parse '{self._text}'")
            self._advance()
            factor = float(closing["boost"] or 1)
            return inner if factor == 1 else Boolean(((Occur.SHOULD, inner),), factor)
        if token["phrase"]:
            return Words(_unescaped(token["phrase"][1:-1]), field, True, boost)
        if token["range"]:
            return _range(token["range"], field, boost)
        if token["regex"]:
            return Wildcard(self._matcher(token["regex"][1:-1]), field, boost)
        word = token["word"]
        if token["slop"] is not None:
            return Fuzzy(_unescaped(word).lower(), min(int(float(token["slop"] or 2)), 2), field, boost)
        if re.search(r"(?<!\\)[*?]", word):
            return Wildcard(self._matcher(_wildcard_pattern(word)), field, boost)
        return Words(_unescaped(word), field, False, boost)

    def _matcher(self, pattern: str) -> Matcher:
        try:
            return matcher(pattern)
        except CypherError as error:
            raise QueryError(f"Cannot parse '{self._text}': {error.message}") from None


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(r"\1", text)


def _wildcard_pattern(word: str) -> str:
    parts = re.findall(r"\\.|[*?]|[^*?\\]+", word.lower())
    patterns = {"*": ".*", "?": "."}
    return "(?s)" + "".join(patterns.get(part) or re.escape(_unescaped(part)) for part in parts)


def _range(text: str, field: str | None, boost: float) -> Range:
    low, high = re.split(r"\sTO\s", text[1:-1].strip(), maxsplit=1)
    ends = [None if end.strip() == "*" else _unescaped(end.strip().strip('"')).lower() for end in (low, high)]
    return Range(ends[0], ends[1], text[0] == "[", text[-1] == "]", field, boost)
