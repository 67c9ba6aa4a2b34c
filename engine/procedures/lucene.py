"""Lucene's classic query syntax: text in, a tree of queries out, with words analyzed by the index's analyzer.

    drug AND (aspirin OR ibu*) -placebo "heart attack"~3 asprin~1 name:ann title:"x y"^2 [a TO c} /m.n/ *:*

Tokens and rules are those of `QueryParser.jj`: consecutive plain words are analyzed as one text; a word without a field
is searched for in every field, and a document's score is the sum over the fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

from hoplite.engine.expressions.regex import Matcher, matcher
from hoplite.engine.procedures.lucene_regexp import regexp_matcher
from hoplite.errors import CypherError
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass


class Occur(Enum):
    """What a clause requires of a document."""

    MUST = "+"
    SHOULD = ""
    MUST_NOT = "-"


@dataclass(frozen=True, slots=True)
class Term:
    """One word."""

    field: str
    word: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words at these places, or moved from there by up to `slop` steps in total."""

    field: str
    words: tuple[tuple[str, int], ...]
    slop: int


@dataclass(frozen=True, slots=True)
class Prefix:
    """Words that begin with a text."""

    field: str
    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """Words that a pattern matches as a whole."""

    field: str
    matches: Matcher


@dataclass(frozen=True, slots=True)
class Fuzzy:
    """A word, or any within a number of edits of it."""

    field: str
    text: str
    edits: int


@dataclass(frozen=True, slots=True)
class Range:
    """Words between two others; None is an open end."""

    field: str
    low: str | None
    high: str | None
    include_low: bool
    include_high: bool


@dataclass(frozen=True, slots=True)
class Everything:
    """All documents."""


@dataclass(frozen=True, slots=True)
class Boosted:
    """A query whose score is multiplied by a factor."""

    query: Query
    factor: float


@dataclass(frozen=True, slots=True)
class Boolean:
    """Several clauses: a document matches if every MUST clause does, no MUST_NOT clause does and, without MUST clauses,
    at least one SHOULD clause does."""

    clauses: tuple[tuple[Occur, Query], ...]


Query: TypeAlias = Term | Phrase | Prefix | Pattern | Fuzzy | Range | Everything | Boosted | Boolean


class QueryError(ValueError):
    """Text that is not a query. `java_class` is the class of the exception that Lucene throws."""

    def __init__(self, message: str, name: str = "ParseException") -> None:
        super().__init__(message)
        self.java_class = f"org.apache.lucene.queryparser.classic.{name}"


class Analyzes(Protocol):
    """What splits text into words."""

    def words(self, text: str) -> Sequence[str | None]: ...

    def normalised(self, text: str) -> str: ...


def parse_query(text: str, fields: Sequence[str], analyzer: Analyzes) -> Query:
    """The tree of a query over the fields of an index; raises QueryError."""
    parser = _Parser(text, fields, analyzer)
    query = parser.query(None)
    parser.expect("end")
    return Boolean(()) if query is None else query


# --- tokens ---

_SPACE = " \t\n\r　"
_START = rf'(?:[^{_SPACE}+\-!():^\[\]"{{}}~*?\\/]|\\.)'
_INSIDE = rf'(?:[^{_SPACE}!():^\[\]"{{}}~*?\\/]|\\.)'
_TOKENS = tuple(
    (kind, lazy_pattern(pattern, re.DOTALL))
    for kind, pattern in (
        ("and", r"AND|&&"),
        ("or", r"OR|\|\|"),
        ("not", r"NOT|!"),
        ("plus", r"\+"),
        ("minus", r"-"),
        ("bare", rf"[+\-!][{_SPACE}]"),
        ("open", r"\("),
        ("close", r"\)"),
        ("colon", r":"),
        ("star", r"\*"),
        ("boost", rf"\^[{_SPACE}]*[0-9]+(?:\.[0-9]+)?"),
        ("quoted", r'"(?:[^"\\]|\\.)*"'),
        ("term", rf"{_START}{_INSIDE}*"),
        ("slop", rf"~{_INSIDE}*"),
        ("prefix", rf"\*|{_START}{_INSIDE}*\*"),
        ("wild", rf"(?:{_START}|[*?])(?:{_INSIDE}|[*?])*"),
        ("regexp", r"/(?:[^/]|\\/)*/"),
        ("range", r"[\[{]"),
    )
)
_RANGE_TOKENS = tuple(
    (kind, lazy_pattern(pattern, re.DOTALL))
    for kind, pattern in (
        ("to", r"TO"),
        ("range_end", r"[\]}]"),
        ("range_quoted", r'"(?:[^"]|\\")+"'),
        ("goop", r"[^ \]}]+"),
    )
)
_NOT_BEHIND_PLAIN_WORDS = frozenset({"colon", "star", "slop", "boost", "and", "or"})
_ESCAPED_DIGITS = 4
_ESCAPE = lazy_pattern(rf"\\u(.{{0,{_ESCAPED_DIGITS}}})|\\(.)", re.DOTALL)
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_NUMBER = lazy_pattern(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_LONGEST_EDITS = 2


class _Token(NamedTuple):
    kind: str
    text: str
    column: int


def _tokens(text: str) -> list[_Token]:
    """The longest token at each position, the first of equally long ones; between brackets, the tokens of a range."""
    found: list[_Token] = []
    at, in_range = 0, False
    while True:
        while at < len(text) and text[at] in _SPACE:
            at += 1
        if at == len(text):
            found.append(_Token("end", "", at))
            return found
        best = _Token("", "", at)
        for kind, pattern in _RANGE_TOKENS if in_range else _TOKENS:
            match = pattern.match(text, at)
            if match is not None and len(match[0]) > len(best.text):
                best = _Token(kind, match[0], at)
        if not best.text:
            rest = text[at:].replace('"', '\\"')
            prefix = f' after prefix "{rest}"' if len(rest) > 1 else ""
            message = (
                f"Lexical error at line 1, column {len(text) + 1}.  Encountered: <EOF>{prefix} (in lexical state 2)"
            )
            raise QueryError(message, "TokenMgrError")
        in_range = best.kind == "range" or (in_range and best.kind != "range_end")
        found.append(best)
        at += len(best.text)


def _unescaped(text: str) -> str:
    if text.endswith("\\") and (len(text) - len(text.rstrip("\\"))) % 2:
        raise QueryError("Term can not end with escape character.")
    return _ESCAPE.sub(lambda found: found[2] or _escaped(found[1]), text)


def _escaped(digits: str) -> str:
    """The character that \\u and four digits stand for."""
    for digit in digits:
        if digit not in _HEX_DIGITS:
            raise QueryError(f"Non-hex character in Unicode escape sequence: {digit}")
    if len(digits) < _ESCAPED_DIGITS:
        raise QueryError("Truncated unicode escape sequence.")
    return chr(int(digits, 16))


# --- rules ---


class _Parser:
    def __init__(self, text: str, fields: Sequence[str], analyzer: Analyzes) -> None:
        self._text = text
        self._fields = fields
        self._analyzer = analyzer
        self._tokens = _tokens(text)
        self._at = 0

    # --- reading tokens ---

    def _kind(self, ahead: int = 0) -> str:
        place = self._at + ahead
        return self._tokens[place].kind if place < len(self._tokens) else "end"

    def _next(self) -> str:
        token = self._tokens[self._at]
        self._at += 1
        return token.text

    def _take(self, *kinds: str) -> str | None:
        return self._next() if self._kind() in kinds else None

    def expect(self, *kinds: str) -> str:
        """The next token, of one of these kinds."""
        if self._kind() not in kinds:
            found = self._tokens[self._at]
            what = f'"{found.text}' if found.text else '"<EOF>'
            expected = ", ".join(kinds)
            raise QueryError(f'Encountered {what}" at line 1, column {found.column}. Was expecting one of: {expected}.')
        return self._next()

    # --- clauses ---

    def query(self, field: str | None) -> Query | None:
        """Clauses up to a closing bracket or the end; None if the analyzer left no words."""
        clauses: list[tuple[Occur, Query]] = []
        first: Query | None = None
        count = 0
        while count == 0 or self._kind() not in ("end", "close"):
            if self._follow_plain_words():
                self._plain_words(field, clauses)
            else:
                conjunction = self._take("and", "or") if count else None
                modifier = self._take("plus", "minus", "not")
                clause = self._clause(field)
                _add(clauses, conjunction in ("AND", "&&"), modifier, clause)
                if count == 0 and modifier is None:
                    first = clause
            count += 1
        if len(clauses) == 1 and first is not None:
            return first
        return Boolean(tuple(clauses)) if clauses else None

    def _follow_plain_words(self) -> bool:
        return self._kind() == self._kind(1) == "term" and self._kind(2) not in _NOT_BEHIND_PLAIN_WORDS

    def _plain_words(self, field: str | None, clauses: list[tuple[Occur, Query]]) -> None:
        words = [_unescaped(self._next())]
        while self._kind() == "term" and self._kind(1) not in _NOT_BEHIND_PLAIN_WORDS:
            words.append(_unescaped(self._next()))
        query = self._field_query(field, " ".join(words), False)
        if isinstance(query, Boolean):
            clauses.extend((Occur.SHOULD, clause) for _, clause in query.clauses)
        elif query is not None:
            clauses.append((Occur.SHOULD, query))

    def _clause(self, field: str | None) -> Query | None:
        if self._kind(1) == "colon" and self._kind() in ("term", "star"):
            name = self._next()
            field = "*" if name == "*" else _unescaped(name)
            self._next()
        if self._take("open"):
            query = self.query(field)
            self.expect("close")
            return _boosted(query, self._take("boost"))
        if self._kind() == "range":
            return self._range(field)
        kind = self._kind()
        text = self.expect("term", "star", "prefix", "wild", "regexp", "bare", "quoted")
        boost = self._take("boost")
        slop = self._take("slop")
        if boost is None:
            boost = self._take("boost")
        if kind == "quoted":
            steps = int(_number(slop, 0.0))
            return _boosted(self._phrase(field, _unescaped(text[1:-1]), steps), boost)
        return _boosted(self._bare(field, kind, text, slop), boost)

    def _bare(self, field: str | None, kind: str, text: str, slop: str | None) -> Query | None:
        match kind:
            case "star" | "wild":
                if field == "*" and text == "*":
                    return Everything()
                pattern = self._wildcard(text)
                return self._everywhere(field, lambda name: Pattern(name, pattern))
            case "prefix":
                start = self._analyzer.normalised(_unescaped(text[:-1]))
                return self._everywhere(field, lambda name: Prefix(name, start))
            case "regexp":
                fits = regexp_matcher(self._analyzer.normalised(text[1:-1]))
                return self._everywhere(field, lambda name: Pattern(name, fits))
            case "bare":
                text = text[0]
        word = _unescaped(text)
        if slop is None:
            return self._field_query(field, word, False)
        likeness = _number(slop, float(_LONGEST_EDITS))
        if likeness >= 1 and likeness != int(likeness):
            raise QueryError("Fractional edit distances are not allowed!")
        wanted = self._analyzer.normalised(word)
        edits = int(likeness) if likeness >= 1 else int((1 - likeness) * len(wanted)) if likeness else 0
        return self._everywhere(field, lambda name: Fuzzy(name, wanted, min(edits, _LONGEST_EDITS)))

    def _range(self, field: str | None) -> Query | None:
        include_low = self.expect("range") == "["
        low = self._bound()
        self.expect("to")
        high = self._bound()
        include_high = self.expect("range_end") == "]"
        query = self._everywhere(field, lambda name: Range(name, low, high, include_low, include_high))
        return _boosted(query, self._take("boost"))

    def _bound(self) -> str | None:
        kind = self._kind()
        text = self.expect("goop", "range_quoted", "to")
        if kind == "range_quoted":
            text = text[1:-1]
        elif text == "*":
            return None
        return self._analyzer.normalised(_unescaped(text))

    # --- fields ---

    def _everywhere(self, field: str | None, make: Callable[[str], Query]) -> Query:
        """The query in one field, or in every field."""
        return make(field) if field is not None else _any_of([make(name) for name in self._fields])

    def _field_query(self, field: str | None, text: str, quoted: bool) -> Query | None:
        if field is not None:
            return self._in_field(field, text, quoted)
        found = [query for name in self._fields if (query := self._in_field(name, text, quoted)) is not None]
        longest = max((len(query.clauses) if isinstance(query, Boolean) else 1 for query in found), default=0)
        if longest == 1:
            return _any_of(found)
        terms = [
            [query.clauses[number][1] if isinstance(query, Boolean) else query for query in found]
            for number in range(longest)
        ]
        return _any_of([_any_of(some) for some in terms]) if terms else None

    def _phrase(self, field: str | None, text: str, slop: int) -> Query | None:
        def in_field(name: str) -> Query | None:
            query = self._in_field(name, text, True)
            return Phrase(name, query.words, slop) if isinstance(query, Phrase) else query

        if field is not None:
            return in_field(field)
        found = [query for name in self._fields if (query := in_field(name)) is not None]
        return _any_of(found) if found else None

    def _in_field(self, field: str, text: str, quoted: bool) -> Query | None:
        """A query for the words of a text: the only one, all of them as a phrase, or any of them."""
        words = [(word, place) for place, word in enumerate(self._analyzer.words(text)) if word is not None]
        if not words:
            return None
        if len(words) == 1:
            return Term(field, words[0][0])
        if quoted:
            return Phrase(field, tuple(words), 0)
        return Boolean(tuple((Occur.SHOULD, Term(field, word)) for word, _ in words))

    # --- patterns ---

    def _wildcard(self, text: str) -> Matcher:
        parts = re.findall(r"\\.|[*?]|[^*?\\]+", text, re.DOTALL)
        pattern = ""
        plain = ""
        for part in [*parts, ""]:
            if part in ("*", "?", ""):
                pattern += re.escape(self._analyzer.normalised(plain)) if plain else ""
                pattern += {"*": ".*", "?": ".", "": ""}[part]
                plain = ""
            else:
                plain += _unescaped(part)
        return self._matcher("(?s)" + pattern)

    def _matcher(self, pattern: str) -> Matcher:
        try:
            return matcher(pattern)
        except CypherError as error:
            raise QueryError(str(error.message)) from None


def _add(clauses: list[tuple[Occur, Query]], is_and: bool, modifier: str | None, query: Query | None) -> None:
    """AND also makes the clause before it required, unless that is prohibited."""
    if is_and and clauses and clauses[-1][0] is not Occur.MUST_NOT:
        clauses[-1] = (Occur.MUST, clauses[-1][1])
    if query is None:
        return
    if modifier in ("-", "!", "NOT"):
        clauses.append((Occur.MUST_NOT, query))
    else:
        clauses.append((Occur.MUST if modifier == "+" or is_and else Occur.SHOULD, query))


def _number(slop: str | None, default: float) -> float:
    """The number after ~; anything else is ignored."""
    number = _NUMBER.fullmatch(slop or "", 1)
    return default if number is None else float(number[0])


def _any_of(queries: Sequence[Query]) -> Boolean:
    return Boolean(tuple((Occur.SHOULD, query) for query in queries))


def _boosted(query: Query | None, boost: str | None) -> Query | None:
    return query if query is None or boost is None else Boosted(query, float(boost[1:]))
