"""Operators and words of other languages, between two operands or before one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hoplite.grammar.tokens import Token
from hoplite.models.edits import Edit, Fix
from hoplite.models.stopped import Stopped
from hoplite.models.writing import quoted

_COMPARING = frozenset(["=", "<>", "!=", "<", ">", "<=", ">=", "=~", "CONTAINS", "IN"])

# Words of other languages for an operator of Cypher.
_WORDS = {
    "STARTSWITH": "STARTS WITH", "STARTS_WITH": "STARTS WITH", "BEGINSWITH": "STARTS WITH",
    "ENDSWITH": "ENDS WITH", "ENDS_WITH": "ENDS WITH",
    "INCLUDES": "CONTAINS", "INCLUDE": "CONTAINS",
    "REGEXP": "=~", "REGEX": "=~", "MATCHES": "=~", "~": "=~", "EQUALS": "=", "EQ": "=",
}  # fmt: skip
_TYPES = {
    "INT": "toInteger", "INTEGER": "toInteger", "BIGINT": "toInteger", "SIGNED": "toInteger", "LONG": "toInteger",
    "FLOAT": "toFloat", "DOUBLE": "toFloat", "DECIMAL": "toFloat", "NUMERIC": "toFloat", "REAL": "toFloat",
    "STRING": "toString", "VARCHAR": "toString", "TEXT": "toString", "CHAR": "toString",
    "BOOLEAN": "toBoolean", "BOOL": "toBoolean", "DATE": "date", "DATETIME": "datetime", "TIMESTAMP": "datetime",
}  # fmt: skip


def _fix(stopped: Stopped, reason: str, *edits: Edit) -> Fix:
    return Fix("syntax", edits, reason, stopped.offset)


def _operators(stopped: Stopped) -> Iterator[Fix]:
    token, before, after = stopped.token, stopped.before, stopped.after
    if token.text == "!=":
        yield _fix(stopped, "'!=' is written '<>'.", Edit(token.start, token.end, "<>"))
    if token.text == "=" and before is not None and before.text == "=" and before.end == token.start:
        yield _fix(stopped, "'==' is written '='.", Edit(token.start, token.end, ""))
    if token.text == "&" and after is not None and after.text == "&":
        yield _fix(stopped, "'&&' is written AND.", Edit(token.start, after.end, "AND"))
    word = token.text.upper()
    if word in ("LIKE", "ILIKE", "RLIKE") and after is not None and after.word == "string":
        yield from _like(stopped, token, after)
    if (
        word == "NOT"
        and after is not None
        and after.text.upper() in ("LIKE", "ILIKE", "IN", "CONTAINS", "STARTS", "ENDS")
    ):
        start = stopped.operand_start(stopped.at - 1)
        end = token.end + (stopped.text[token.end : token.end + 1] == " ")
        yield _fix(stopped, "NOT comes before what it negates.", Edit(start, start, "NOT "), Edit(token.start, end, ""))
    if word == "BETWEEN":
        yield from _between(stopped)
    if word in ("FILTER", "HAVING") and before is not None:
        yield _fix(stopped, f"{word} is written WHERE.", Edit(token.start, token.end, "WHERE"))


def _signs(stopped: Stopped) -> Iterator[Fix]:
    """`=>`, `=<`, `!x`, `IS 'x'`."""
    token, before, after = stopped.token, stopped.before, stopped.after
    if token.text in "<>" and before is not None and before.text == "=" and before.end == token.start:
        yield _fix(
            stopped, f"'={token.text}' is written '{token.text}='.", Edit(before.start, token.end, f"{token.text}=")
        )
    if token.text == "!" and after is not None and after.text != "=":
        yield _fix(stopped, "'!' is written NOT.", Edit(token.start, after.start, "NOT "))
    if token.word in ("string", "integer", "float") and before is not None:
        earlier = stopped.tokens[stopped.at - 2] if stopped.at > 1 else before
        if before.word == "IS":
            yield _fix(stopped, "IS is about NULL and types; '=' compares.", Edit(before.start, before.end, "="))
        elif before.word == "NOT" and earlier.word == "IS":
            yield _fix(stopped, "IS NOT is about NULL and types; '<>' compares.", Edit(earlier.start, before.end, "<>"))


def _named_operators(stopped: Stopped) -> Iterator[Fix]:
    """`x STARTSWITH 'a'`, `x REGEXP 'a.*'`."""
    token, before, after = stopped.token, stopped.before, stopped.after
    word = _WORDS.get(token.text.upper())
    if word is None or before is None or after is None:
        return
    if "NAME" in before.kinds or before.text in (")", "]"):
        yield _fix(stopped, f"{token.text} is written {word}.", Edit(token.start, token.end, word))


def _half_comparison(stopped: Stopped) -> Iterator[Fix]:
    """`x >= 1 AND <= 5`: the left operand is written each time."""
    tokens, at = stopped.tokens, stopped.at
    if stopped.token.word not in _COMPARING or at < 3 or tokens[at - 1].word not in ("AND", "OR"):
        return
    for i in range(at - 2, 0, -1):
        if tokens[i].word in ("AND", "OR", "WHERE"):
            return
        if tokens[i].word in _COMPARING:
            operand = stopped.text[stopped.operand_start(i - 1) : tokens[i - 1].end]
            place = stopped.token.start
            yield _fix(stopped, "Both sides of AND need a complete comparison.", Edit(place, place, f"{operand} "))
            return


def _several_conditions(stopped: Stopped) -> Iterator[Fix]:
    """`WHERE a, b`."""
    token = stopped.token
    if token.text == "," and stopped.has_where() and not stopped.open_brackets():
        yield _fix(stopped, "Conditions are joined by AND.", Edit(token.start, token.end, " AND"))


def _cast(stopped: Stopped) -> Iterator[Fix]:
    """`CAST(x AS INTEGER)`."""
    tokens, at = stopped.tokens, stopped.at
    opening = stopped.opening("(")
    if stopped.token.word != "AS" or not opening or tokens[opening - 1].text.upper() not in ("CAST", "CONVERT"):
        return
    closing = stopped.closing(opening)
    name = _TYPES.get(tokens[at + 1].text.upper()) if closing is not None and closing > at + 1 else None
    if name is None or closing is None:
        return
    inner = stopped.text[tokens[opening + 1].start : tokens[at - 1].end]
    edit = Edit(tokens[opening - 1].start, tokens[closing].end, f"{name}({inner})")
    yield _fix(stopped, f"A value is converted by {name}().", edit)


def _unquoted(stopped: Stopped) -> Iterator[Fix]:
    """`= The Matrix`: text needs quotes."""
    tokens, at = stopped.tokens, stopped.at
    first = at
    while first and "NAME" in tokens[first - 1].kinds and tokens[first - 1].word not in _COMPARING:
        first -= 1
    if first == at or not first or tokens[first - 1].word not in _COMPARING - {"IN"}:
        return
    last = at
    while last < len(tokens) and (tokens[last].word in ("NAME", "integer")):
        last += 1
    if last > at:
        start, end = tokens[first].start, tokens[last - 1].end
        yield _fix(stopped, "Text is written in quotes.", Edit(start, end, f'"{stopped.text[start:end]}"'))


def _like(stopped: Stopped, token: Token, pattern: Token) -> Iterator[Fix]:
    """`LIKE '%x%'` as one of Cypher's string operators."""
    quote, inside = pattern.text[0], pattern.text[1:-1]
    plain = inside.strip("%")
    caseless = token.text.upper() == "ILIKE"
    if "%" in plain or "_" in plain or caseless:
        body = re.sub(r"[.()\[\]{}+*?^$|]", lambda m: "\\\\" + m[0], inside).replace("%", ".*").replace("_", ".")
        written = f"=~ {quote}{'(?i)' if caseless else ''}{body}{quote}"
    elif inside.startswith("%") and inside.endswith("%"):
        written = f"CONTAINS {quote}{plain}{quote}"
    elif inside.endswith("%"):
        written = f"STARTS WITH {quote}{plain}{quote}"
    elif inside.startswith("%"):
        written = f"ENDS WITH {quote}{plain}{quote}"
    else:
        written = f"= {quote}{plain}{quote}"
    yield _fix(stopped, f"LIKE is written {written.split(quote)[0].strip()}.", Edit(token.start, pattern.end, written))


def _between(stopped: Stopped) -> Iterator[Fix]:
    tokens, at = stopped.tokens, stopped.at
    conjunction = next((i for i in range(at + 1, min(at + 12, len(tokens))) if tokens[i].word == "AND"), None)
    if conjunction is None or conjunction == at + 1:
        return
    start = stopped.operand_start(at - 1)
    text = stopped.text
    low = text[tokens[at + 1].start : tokens[conjunction - 1].end]
    operand = text[start : tokens[at - 1].end]
    edits = Edit(start, tokens[conjunction].end, f"{low} <= {operand} <=")
    yield _fix(stopped, "BETWEEN a AND b is written a <= x <= b.", edits)


def _aliases(stopped: Stopped) -> Iterator[Fix]:
    """`AS 'a name'`, `AS a name`, `AS count(n)`, and a name without AS."""
    tokens, at = stopped.tokens, stopped.at
    token, before, after = stopped.token, stopped.before, stopped.after
    if before is None or at < 2:
        return
    if before.word == "AS" and token.word == "string":
        yield _fix(stopped, "A name is not written in quotes.", Edit(token.start, token.end, quoted(token.text[1:-1])))
    if tokens[at - 2].word == "AS" and token.word == "NAME":
        name = quoted(stopped.text[before.start : token.end])
        yield _fix(stopped, "A name with spaces is written in backticks.", Edit(before.start, token.end, name))
    closing = stopped.closing(at) if token.text == "(" else None
    if tokens[at - 2].word == "AS" and closing is not None:
        name = quoted(stopped.text[before.start : tokens[closing].end])
        yield _fix(
            stopped, "A name with brackets is written in backticks.", Edit(before.start, tokens[closing].end, name)
        )
    projected = stopped.clause_start(frozenset(["RETURN", "WITH"])) is not None and not stopped.has_where()
    ends = after is None or after.text in (",", ";", "") or after.word in ("ORDER", "LIMIT", "SKIP", "MATCH", "RETURN")
    if projected and ends and token.word == "NAME" and (tokens[at - 2].text == "." or before.text in (")", "]")):
        yield _fix(stopped, "AS was left out.", Edit(token.start, token.start, "AS "))


OPERATOR_RULES: tuple[Callable[[Stopped], Iterator[Fix]], ...] = (
    _operators,
    _signs,
    _named_operators,
    _half_comparison,
    _several_conditions,
    _cast,
    _aliases,
    _unquoted,
)
