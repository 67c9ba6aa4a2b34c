"""Query text -> tokens, each with the kinds it may have, best guess first.

Cypher has no reserved words, and what a bracket means may only become clear later, so one token of lookahead is not
enough. Every token therefore carries a tuple of kinds, and the parser takes the first one that fits (`parse.py`). A
word that is a keyword may be that keyword or a NAME; most signs have one kind only. One pass over the tokens, with the
brackets paired, then puts the kinds in order by these rules:

    (          NODE_LPAR before LPAR          if it holds what a node pattern may hold and a relationship follows,
                                              or if it begins with ":" or holds nothing
    - <        _DASH, _LEFT_HEAD first          after ")", if a relationship follows: --, -[...]-, <--, <-[...]-
    [x IN      ITEMS_LSQB before LSQB         unless a comma follows before any WHERE or "|"
    [( [p = (  PATHS_LSQB before LSQB         if a pattern follows and a "|" stands in the bracket
    |          SEPARATOR before VBAR          the first of reduce() and FOREACH; of a comprehension the last if it has a
                                              WHERE (`[n IN ns WHERE n:A|B | n.x]`), else the first
    <          TYPE_LESS before LESSTHAN      after ANY or VALUE: ANY<INTEGER | FLOAT>
    a.b.c(     FUNCTION before NAME           for the first word of dotted names before "("; keywords stay in front,
                                              unless they could only be a literal there (`null(1)`)
    any(x IN   QUANTIFIER first               also all, none, single
    reduce     REDUCE first                   before "(x =", else FUNCTION or NAME
    count      COUNT_STAR before "(*)"; COUNT, EXISTS, COLLECT before "{" unless a map projection follows; else a name
    trim       TRIM                           if FROM stands in its bracket
    shortestPath                              the keyword before "((", else a name
    NOT, DISTINCT                             the keyword only if an expression may follow
    CASE                                      the same, and only if a WHEN or END stands after it
    STARTS, ENDS                              the keyword only before WITH
    WHEN       NAME first                     between CASE and WHEN
    WHERE, IS  NAME first                     directly after "(" or "[", if what follows cannot be a predicate;
                                              IS also after WHEN, unless NULL, NOT, TYPED, NORMALIZED or the name of a
                                              normal form follows (Neo4j reads `WHEN IS :: INT` so)
    FOR, IF    NAME first                     after INDEX or CONSTRAINT, if FOR or IF follows
    USE        _COMMAND_USE first              if SHOW, DROP, TERMINATE or CREATE and a word stand after its graph
    any word   NAME first                     before "=": it is a path variable or a property
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

from hoplite.allowance import check_memory, check_time
from hoplite.grammar.constants import FEWEST_CHARACTERS, constant_list
from hoplite.grammar.identifiers import NAME_PART, NAME_START
from hoplite.grammar.limits import TextLimits, too_many_tokens
from hoplite.lazy_dataclass import dataclass

Kinds = tuple[str, ...]


@dataclass(slots=True)
class Token:
    """A piece of the text.

    `word` is its keyword in upper case or its sign; NAME for other words; `string`, `integer` and so on for literals.
    """

    kinds: Kinds
    word: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class ConstantToken(Token):
    """A long list of constants, already read."""

    value: list[Any]


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The keywords and signs of the grammar with the kinds of their tokens."""

    keywords: Mapping[str, Kinds]
    signs: Mapping[str, Kinds]


# Unicode characters for the signs of a relationship, with the kind of the token and the sign that each stands for.
_ARROWS = {
    **dict.fromkeys("\u00ad\u2010\u2011\u2012\u2013\u2014\u2015\ufe58\ufe63\uff0d", ("_LINE", "-")),
    **dict.fromkeys("\u27e8\u3008\ufe64\uff1c", ("_LEFT_ARROW", "<")),
    **dict.fromkeys("\u27e9\u3009\ufe65\uff1e", ("RIGHT_ARROW", ">")),
}

_SCANNER = re.compile(
    rf"""
    (?: \ufeff++ | [^\S\x85]++ | //[^\n\r]*+ | /\*(?s:.*?)\*/ )*+  # space and comments
    (?: (?P<WORD>  {NAME_START}[{NAME_PART}]* )
    | (?P<OPEN>    /\* )
    | (?P<SIGN>    <= | >= | <> | =~ | != | \+= | :: | \|\| | \.\. | \.(?!\d) |
                   [-()\[\]{{}},:;=<>+*/%^|&!] )
    | (?P<ARROW>   [{"".join(_ARROWS)}] )
    | (?P<STRING>  '(?:[^'\\]++|\\(?s:.))*+' | "(?:[^"\\]++|\\(?s:.))*+" )
    | (?P<NUMBER>  0[xXoO]\w* | (?:\d[\d_]*)?\.\d\w*(?:(?<=[eE])[+-]\d\w*)? | \d\w*(?:(?<=[eE])[+-]\d\w*)? )
    | (?P<PARAMETER> \$ \s* (?! (?i:all|any)\s*\( ) (?: (?:{NAME_START}|\d)[{NAME_PART}]* | `(?:[^`]++|``)*+` ) )
    | (?P<NAME>    `(?:[^`]++|``)*+` )
    | (?P<DOLLAR>  \$ )
    | (?P<UNKNOWN> (?s:.) )
    | (?P<END>     \Z )
    )
    """,
    re.VERBOSE,
)

_KINDS = {number: name for name, number in _SCANNER.groupindex.items()}
_WORD, _OPEN, _SIGN, _ARROW, _NUMBER, _END_OF_TEXT = (
    _SCANNER.groupindex[name] for name in ("WORD", "OPEN", "SIGN", "ARROW", "NUMBER", "END")
)
END = "$END"
_NAME: Kinds = ("NAME",)
_NO_LIMITS = TextLimits()
_CHECKED_EVERY = 0xFFF  # a mask: every 4,096th token
_BYTES_FOR_TOKEN = 1_000  # approximate, including its share of the tree and of the plan


def tokenize(
    text: str, vocabulary: Vocabulary, constants: bool = False, limits: TextLimits = _NO_LIMITS
) -> list[Token]:
    """The tokens of a text with their kinds in order; the last one is the end of the text.

    With `constants`, a long list of constants is one token.
    """
    tokens: list[Token] = []
    position: int | None = 0
    constants = constants and len(text) >= FEWEST_CHARACTERS
    while position is not None:
        position = _scan(text, position, vocabulary, constants, tokens, limits)
    if len(tokens) > limits.max_tokens:
        raise too_many_tokens(text, tokens[limits.max_tokens].start, limits)
    tokens.append(Token((END,), END, "", len(text), len(text)))
    _mark(tokens)
    return tokens


def _scan(
    text: str, first: int, vocabulary: Vocabulary, constants: bool, tokens: list[Token], limits: TextLimits
) -> int | None:
    """Add tokens up to the end of the text, or up to a long list of constants, after which the scan continues.

    A quote or comment that is never closed is the last token: everything after it is inside.
    """
    keywords, signs = vocabulary.keywords, vocabulary.signs
    for match in _SCANNER.finditer(text, first):
        if not len(tokens) & _CHECKED_EVERY:
            _check(text, match.start(), len(tokens), limits)
        group = match.lastindex
        assert group is not None
        piece = match[group]
        start, end = match.span(group)
        if group == _WORD:
            word = piece.upper()
            kinds = keywords.get(word)
            if kinds is None:
                tokens.append(Token(_NAME, word if word in _RULES else "NAME", piece, start, end))
            else:
                tokens.append(Token(kinds, word, piece, start, end))
        elif group == _SIGN:
            if piece == "[" and constants and (constant := constant_list(text, start)) is not None:
                value, end = constant
                tokens.append(ConstantToken(("CONSTANT",), "constant", text[start:end], start, end, value))
                return end
            tokens.append(Token(signs[piece], piece, piece, start, end))
        elif group == _END_OF_TEXT:
            return None
        elif group == _ARROW:
            kind, sign = _ARROWS[piece]
            tokens.append(Token((kind,), sign, piece, start, end))
        elif group == _NUMBER:
            word = "integer" if _is_integer(piece) else "float"
            # The number of hops, repetitions or paths is written in decimal digits: 0x1 is only allowed where 1.5 is.
            kind = "INTEGER" if word == "integer" and (piece[0] != "0" or piece == "0") else "FLOAT"
            tokens.append(Token((kind,), word, piece, start, end))
        elif group == _OPEN:
            tokens.append(Token(signs["/"], "/", "/", start, start + 1))
            tokens.append(Token(signs["*"], "*", "*", start + 1, end))
            return None
        else:
            kind = _KINDS[group]
            tokens.append(Token((kind,), "NAME" if kind == "NAME" else kind.lower(), piece, start, end))
            if kind == "UNKNOWN" and piece in "'\"`":
                return None
    return None


def _check(text: str, offset: int, count: int, limits: TextLimits) -> None:
    if count > limits.max_tokens:
        raise too_many_tokens(text, offset, limits)
    check_time()
    check_memory(count * _BYTES_FOR_TOKEN)


def _is_integer(number: str) -> bool:
    if number[:2] in ("0x", "0X", "0o", "0O"):
        return True
    return "." not in number and not re.search(r"^\d[\d_]*[eE][+-]?\d", number)


# --- the pass over the tokens -------------------------------------------------------------------------------

_CLOSING = {"(": ")", "[": "]", "{": "}"}
_BRACKETS = frozenset("()[]{}")
_SEEN_OF_OPEN_BRACKET = 200  # tokens
_LOOKED_AHEAD = [END] * 8
_SINGLE_SIGNS = tuple("()[]{},:;=<>+*/%^|&!-.")
_DOUBLE_SIGNS = ("..", "<=", ">=", "<>", "=~", "!=", "+=", "::", "||")
_NO_WORD = frozenset(_SINGLE_SIGNS + _DOUBLE_SIGNS).union(
    ["string", "integer", "float", "constant", "parameter", "dollar", "unknown", END]
)
_ENDS_EXPRESSION = _NO_WORD.difference(
    ["(", "[", "{", "+", "-", "!", "string", "integer", "float", "constant", "parameter", "dollar", "unknown"]
).union(["AS", "AND", "OR", "XOR", "IS", "IN", "THEN", "WHEN", "STARTS", "ENDS", "CONTAINS"])
_AFTER_FUNCTION = frozenset(["(", "."])
_AFTER_NODE_NAME = frozenset([")", ":", "{", "parameter", "WHERE", "IS"])
_AFTER_IS = frozenset(["NULL", "NOT", "TYPED", "NORMALIZED", "NFC", "NFD", "NFKC", "NFKD"])
_AFTER_WHERE_AS_NAME = frozenset([")", "]", ":", "{", "*", "IS", "WHERE", "parameter"])


@dataclass(frozen=True, slots=True)
class _Cases:
    """`missing_ends[i]`: how many more CASE than END there are from the CASE at `i` onwards."""

    last_when_or_end: int
    missing_ends: dict[int, int]

    @staticmethod
    def of(words: list[str]) -> _Cases:
        last, missing, missing_ends = -1, 0, dict[int, int]()
        for index in range(len(words) - 1, -1, -1):
            word = words[index]
            if word == "CASE":
                missing += 1
                missing_ends[index] = missing
            elif word == "END":
                missing -= 1
            if last < 0 and word in ("WHEN", "END"):
                last = index
        return _Cases(last, missing_ends)


class _Row:
    """The tokens with their brackets paired: `partner[i]` closes what `i` opens (-1 if nothing does)."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.words = [token.word for token in tokens]  # followed by the end's, so that a look ahead needs no bounds
        self.words += _LOOKED_AHEAD
        self.partner = self._pair()

    @cached_property
    def cases(self) -> _Cases:
        """What follows each token that CASE affects."""
        return _Cases.of(self.words)

    def _pair(self) -> dict[int, int]:
        partner: dict[int, int] = {}
        opened: list[int] = []
        brackets = [(index, word) for index, word in enumerate(self.words) if word in _BRACKETS]
        for index, word in brackets:
            if word in _CLOSING:
                opened.append(index)
            elif opened and _CLOSING[self.words[opened[-1]]] == word:
                partner[opened.pop()] = index
        return partner

    def is_word(self, index: int) -> bool:
        return self.words[index] not in _NO_WORD

    def closing(self, index: int) -> int:
        return self.partner.get(index, -1)

    def outermost(self, opening: int, wanted: frozenset[str]) -> list[int]:
        """Where the wanted words are directly inside a bracket, not inside a deeper one.

        A bracket that is never closed is searched to the end: the text is refused anyway.
        """
        found = []
        end = self.partner.get(opening, min(opening + _SEEN_OF_OPEN_BRACKET, len(self.words)))
        index = opening + 1
        while index < end:
            if self.words[index] in wanted:
                found.append(index)
            index = self.partner.get(index, index) + 1
        return found

    def starts_relationship(self, index: int) -> bool:
        """Whether `-[...]-`, `--(`, `-->` or one of them after `<` begins here."""
        if self.words[index] == "<":
            index += 1
        if self.words[index] != "-":
            return False
        following = self.words[index + 1]
        if following == "[":
            return self.words[self.closing(index + 1) + 1] == "-" and index + 1 in self.partner
        return following == "-" and self.words[index + 2] in ("(", ">")

    def opens_pattern(self, index: int) -> bool:
        """Whether the bracket is a node pattern with a relationship after it."""
        if self.words[index] != "(" or not self.starts_relationship(self.closing(index) + 1):
            return False
        if index not in self.partner:
            return False
        first = self.words[index + 1]
        if first in (")", ":", "{", "WHERE", "IS", "parameter"):
            return True
        return self.is_word(index + 1) and self.words[index + 2] in _AFTER_NODE_NAME

    def names_function(self, index: int) -> bool:
        """Whether dotted names that start here end before an opening bracket."""
        while self.words[index + 1] == "." and self.is_word(index + 2):
            index += 2
        return self.words[index + 1] == "("


def _mark(tokens: list[Token]) -> None:
    row = _Row(tokens)
    words = row.words
    for index in range(len(tokens)):
        if not index & _CHECKED_EVERY:
            check_time()
        word = words[index]
        rule = _RULES.get(word)
        if rule is not None:
            rule(row, index)
        elif word == "NAME":
            if words[index + 1] in _AFTER_FUNCTION and words[index - 1] != "." and row.names_function(index):
                tokens[index].kinds = ("FUNCTION", "NAME")
        elif word not in _NO_WORD:
            _mark_keyword(row, index)


def _mark_keyword(row: _Row, index: int) -> None:
    token = row.tokens[index]
    if row.words[index + 1] == "=":
        token.kinds = ("NAME", token.kinds[0])
    elif row.words[index - 1] != "." and row.names_function(index):
        token.kinds = (token.kinds[0], "FUNCTION", "NAME")


def _name_or_function(row: _Row, index: int) -> Kinds:
    if row.words[index - 1] != "." and row.names_function(index):
        return ("FUNCTION", "NAME")
    return ("NAME",)


def _round_bracket(row: _Row, index: int) -> None:
    if row.opens_pattern(index) or row.words[index + 1] in (")", ":"):
        row.tokens[index].kinds = ("NODE_LPAR", "LPAR")


def _square_bracket(row: _Row, index: int) -> None:
    bars: list[int] = []
    if row.is_word(index + 1) and row.words[index + 2] == "IN":
        parts = row.outermost(index, frozenset([",", "WHERE", "|"]))
        if parts and row.words[parts[0]] == ",":
            return
        row.tokens[index].kinds = ("ITEMS_LSQB", "LSQB")
        bars = row.outermost(index, frozenset(["|"]))
    elif row.opens_pattern(index + 1) or (
        row.is_word(index + 1) and row.words[index + 2] == "=" and row.opens_pattern(index + 3)
    ):
        bars = row.outermost(index, frozenset(["|"]))
        if bars:
            row.tokens[index].kinds = ("PATHS_LSQB", "LSQB")
    if bars:
        has_where = bool(row.outermost(index, frozenset(["WHERE"])))
        row.tokens[bars[-1 if has_where else 0]].kinds = ("SEPARATOR", "VBAR")


def _dash(row: _Row, index: int) -> None:
    if row.words[index - 1] == ")" and row.tokens[index].kinds == ("MINUS",):
        begins = row.starts_relationship(index)
        row.tokens[index].kinds = ("_DASH", "MINUS") if begins else ("MINUS", "_DASH")


def _less(row: _Row, index: int) -> None:
    before = row.words[index - 1]
    if row.tokens[index].kinds != ("LESSTHAN",):
        return
    if before == ")":
        begins = row.starts_relationship(index)
        row.tokens[index].kinds = ("_LEFT_HEAD", "LESSTHAN") if begins else ("LESSTHAN", "_LEFT_HEAD")
    elif before in ("ANY", "VALUE"):
        row.tokens[index].kinds = ("TYPE_LESS", "LESSTHAN")


def _bar(row: _Row, index: int) -> None:
    if len(row.tokens[index].kinds) == 1:
        row.tokens[index].kinds = ("VBAR", "SEPARATOR")


def _quantifier(row: _Row, index: int) -> None:
    token = row.tokens[index]
    keyword = token.kinds[:-1]
    if row.words[index + 1] == "(" and row.is_word(index + 2) and row.words[index + 3] == "IN":
        token.kinds = ("QUANTIFIER", *keyword, "FUNCTION", "NAME")
    elif row.words[index + 1] in _ENDS_EXPRESSION:
        token.kinds = (*_name_or_function(row, index), *keyword)
    else:
        token.kinds = (*keyword, *_name_or_function(row, index))


def _reduce(row: _Row, index: int) -> None:
    token = row.tokens[index]
    if row.words[index + 1] == "(" and row.is_word(index + 2) and row.words[index + 3] == "=":
        _first_bar(row, index + 1)
        token.kinds = ("REDUCE", "FUNCTION", "NAME")
    else:
        token.kinds = _name_or_function(row, index)


def _foreach(row: _Row, index: int) -> None:
    if row.words[index + 1] == "(":
        _first_bar(row, index + 1)
    _mark_keyword(row, index)


def _first_bar(row: _Row, opening: int) -> None:
    bars = row.outermost(opening, frozenset(["|"]))
    if bars:
        row.tokens[bars[0]].kinds = ("SEPARATOR", "VBAR")


def _before_brace(row: _Row, index: int) -> None:
    token = row.tokens[index]
    keyword = token.kinds[0]
    if row.words[index + 1] == "{" and not _holds_projection(row, index + 1):
        token.kinds = (keyword, "NAME")
    elif keyword == "COUNT" and row.words[index + 1 : index + 4] == ["(", "*", ")"]:
        token.kinds = ("COUNT_STAR", "FUNCTION", "NAME")
    else:
        token.kinds = (*_name_or_function(row, index), keyword)


def _holds_projection(row: _Row, brace: int) -> bool:
    """Whether the braces contain `.key`, `key: value`, a variable or nothing."""
    first, second = row.words[brace + 1], row.words[brace + 2]
    if first in (".", "}"):
        return True
    return row.is_word(brace + 1) and second in (":", ",", "}")


def _trim(row: _Row, index: int) -> None:
    token = row.tokens[index]
    token.kinds = _name_or_function(row, index)
    if row.words[index + 1] == "(" and (
        row.outermost(index + 1, frozenset(["FROM"]))
        or (row.words[index + 2] in ("BOTH", "LEADING", "TRAILING") and row.words[index + 3] not in _ENDS_EXPRESSION)
    ):
        token.kinds = ("TRIM", *token.kinds)


def _before_bracket(row: _Row, index: int) -> None:
    token = row.tokens[index]
    if row.words[index + 1] != "(" or row.words[index + 2] != "(":
        token.kinds = (*_name_or_function(row, index), token.kinds[0])


def _literal_word(row: _Row, index: int) -> None:
    token = row.tokens[index]
    if row.words[index + 1] == "=":
        return
    if row.words[index + 1] == "(":
        token.kinds = ("FUNCTION", *token.kinds)


def _before_expression(row: _Row, index: int) -> None:
    token = row.tokens[index]
    keyword = token.kinds[0]
    following = row.words[index + 1]
    if row.words[index - 1] == "IS":
        token.kinds = (keyword,)
    elif (following == "ORDER" and row.words[index + 2] == "BY") or (
        following in _ENDS_EXPRESSION
        and not (row.is_word(index + 1) and row.words[index + 2] == "(")
        and not (keyword == "DISTINCT" and following == (")" if row.words[index - 1] == "(" else "*"))
    ):
        token.kinds = ("NAME", keyword)
    else:
        token.kinds = (keyword, *_name_or_function(row, index))


def _case(row: _Row, index: int) -> None:
    token = row.tokens[index]
    following = row.words[index + 1]
    if index > row.cases.last_when_or_end:
        is_name = True
    elif row.words[index - 1] == "CASE" and following == "WHEN":  # nested, if there are enough ENDs
        is_name = row.cases.missing_ends[index] >= 0
    elif "WHEN" in (following, row.words[index + 2]):
        is_name = False
    else:
        is_name = following in _ENDS_EXPRESSION or following in ("ELSE", "END")
    token.kinds = ("NAME", "CASE") if is_name else ("CASE", *_name_or_function(row, index))


def _when(row: _Row, index: int) -> None:
    token = row.tokens[index]
    if row.words[index - 1] == "CASE" and row.words[index + 1] == "WHEN":
        token.kinds = ("NAME", "WHEN")
    else:
        _mark_keyword(row, index)


def _before_with(row: _Row, index: int) -> None:
    token = row.tokens[index]
    if row.words[index + 1] != "WITH":
        token.kinds = (*_name_or_function(row, index), token.kinds[0])


def _inside_pattern(row: _Row, index: int) -> None:
    token = row.tokens[index]
    in_pattern = row.words[index - 1] in ("(", "[") and row.words[index + 1] in _AFTER_WHERE_AS_NAME
    in_case = row.words[index - 1] in ("WHEN", ",") and row.words[index + 1] not in _AFTER_IS
    if in_pattern or in_case:
        token.kinds = ("NAME", token.kinds[0])
    else:
        _mark_keyword(row, index)


def _use(row: _Row, index: int) -> None:
    _mark_keyword(row, index)
    after = index + (2 if row.words[index + 1] == "GRAPH" and row.is_word(index + 2) else 1)
    while row.words[after + 1] == ".":
        after += 2
    command = row.words[after + 1]
    if command in ("SHOW", "DROP", "TERMINATE") or (command == "CREATE" and row.is_word(after + 2)):
        row.tokens[index].kinds = ("_COMMAND_USE", *row.tokens[index].kinds)


def _schema_name(row: _Row, index: int) -> None:
    """`CREATE INDEX FOR FOR (n:Label)`, `CREATE INDEX IF FOR (n:Label)`: the first is a name."""
    named = row.words[index + 1] in ("FOR", "IF") or (row.words[index] == "FOR" and row.words[index + 1] == "IF")
    if row.words[index - 1] in ("INDEX", "CONSTRAINT") and named:
        row.tokens[index].kinds = ("NAME", row.tokens[index].kinds[0])
    else:
        _mark_keyword(row, index)


_RULES: dict[str, Callable[[_Row, int], None]] = {
    "(": _round_bracket,
    "[": _square_bracket,
    "-": _dash,
    "<": _less,
    "|": _bar,
    "ANY": _quantifier,
    "ALL": _quantifier,
    "NONE": _quantifier,
    "SINGLE": _quantifier,
    "REDUCE": _reduce,
    "FOREACH": _foreach,
    "COUNT": _before_brace,
    "EXISTS": _before_brace,
    "COLLECT": _before_brace,
    "TRIM": _trim,
    "SHORTESTPATH": _before_bracket,
    "ALLSHORTESTPATHS": _before_bracket,
    "NULL": _literal_word,
    "TRUE": _literal_word,
    "FALSE": _literal_word,
    "INF": _literal_word,
    "INFINITY": _literal_word,
    "NAN": _literal_word,
    "NOT": _before_expression,
    "CASE": _case,
    "DISTINCT": _before_expression,
    "WHEN": _when,
    "STARTS": _before_with,
    "ENDS": _before_with,
    "WHERE": _inside_pattern,
    "IS": _inside_pattern,
    "USE": _use,
    "FOR": _schema_name,
    "IF": _schema_name,
}
