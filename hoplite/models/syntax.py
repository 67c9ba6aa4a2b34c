"""Texts that do not parse: prose around the query, forms of SQL and of older Cypher, missing brackets and commas.

A rule looks at the tokens around the point where parsing stopped and offers edits. The first offer that makes the text
parse is taken, or else the first that lets parsing get further; the rest is left to the next round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hoplite.errors import CypherError
from hoplite.grammar.parse import parse, tokens_of
from hoplite.grammar.tokens import END
from hoplite.models.calls import COMPONENTS
from hoplite.models.edits import Edit, Fix
from hoplite.models.names import closest, folded
from hoplite.models.operators import OPERATOR_RULES
from hoplite.models.problems import Finding
from hoplite.models.projections import PROJECTION_RULES
from hoplite.models.selections import SELECTION_RULES
from hoplite.models.stopped import CLAUSES, Stopped
from hoplite.models.writing import quoted

Offers = Iterator[Fix]
_FEW = 4  # tokens of a sentence before the one that cannot be Cypher
_BEGINNINGS = CLAUSES | frozenset(["WHERE", "ORDER", "SKIP", "LIMIT", "AND", "OR", "ON"])
_MEANT = _BEGINNINGS | frozenset(["HAVING", "GROUP", "FETCH", "OFFSET", "BETWEEN", "NOT"])  # a condition is not prose
_MOST_TOKENS = 4_000  # of a text that is worth this


def finding_of(text: str, error: CypherError) -> Finding:
    """What is wrong with a text that does not parse, with a fix if there is one."""
    message = error.message.split("\n")[0]
    offset = offset_of(error, text)
    try:
        tokens = tokens_of(text)
    except CypherError:
        tokens = []
    fix = None
    if tokens and len(tokens) <= _MOST_TOKENS:
        fix = _best(Stopped(text, tokens, offset, message))
    found = () if fix is None else tuple(edit.after.strip() for edit in fix.edits if edit.after.strip())[:1]
    end = offset
    for token in tokens:
        if token.start == offset:
            end = token.end
    return Finding("syntax", offset, end, message, found, fix)


def offset_of(error: CypherError, text: str) -> int:
    """The position of an error in characters; Neo4j counts in UTF-16 units."""
    if error.position is None:
        return 0
    if text.isascii():
        return min(error.position.offset, len(text))
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * error.position.offset]
    return min(len(before.decode("utf-16-le", "replace")), len(text))


def _best(stopped: Stopped) -> Fix | None:
    further: Fix | None = None
    furthest = 0
    for rule in _RULES:
        for fix in rule(stopped):
            changed, moved = _applied(stopped, fix)
            try:
                parse(changed)
            except CypherError as error:
                reached = offset_of(error, changed) - moved
                if reached > stopped.offset and reached > furthest:
                    further, furthest = fix, reached
                continue
            return fix
        if further is not None:
            return further
    return further


def _applied(stopped: Stopped, fix: Fix) -> tuple[str, int]:
    """The text with a fix, and how far what follows the stop has moved."""
    text, moved = stopped.text, 0
    for edit in sorted(fix.edits, key=lambda e: (e.start, e.end), reverse=True):
        text = text[: edit.start] + edit.after + text[edit.end :]
        if edit.start <= stopped.offset:
            moved += len(edit.after) - (edit.end - edit.start)
    return text, moved


def _fix(stopped: Stopped, reason: str, *edits: Edit) -> Fix:
    return Fix("syntax", edits, reason, stopped.offset)


# --- around the query ---

_FENCE = re.compile(r"```[ \t]*\w*[ \t]*\r?\n?(.*?)(?:```|\Z)", re.S)
_FIRST = re.compile(
    r"(?:^|[\n:>])\s*((?:OPTIONAL\s+MATCH|MATCH\s*\(|MATCH\s+\w+\s*=|CALL\s*[{(\w]|UNWIND\s|WITH\s|MERGE\s*\(|"
    r"CREATE\s*\(|RETURN\s).*)",
    re.S | re.I,
)


def _fence(stopped: Stopped) -> Offers:
    found = _FENCE.search(stopped.text)
    if found is not None and found[1].strip():
        start, end = found.span(1)
        edits = (Edit(0, start, ""), Edit(end, len(stopped.text), ""))
        yield _fix(stopped, "Text around the query was removed.", *edits)


_TAGS = re.compile(r"\s*<(\w+)>(.*)</\1>\s*\Z", re.S)


def _wrapping(stopped: Stopped) -> Offers:
    """The whole query in quotes, in backticks or in a tag."""
    text = stopped.text
    tagged = _TAGS.match(text)
    if tagged is not None:
        edits = (Edit(0, tagged.start(2), ""), Edit(tagged.end(2), len(text), ""))
        yield _fix(stopped, "Text around the query was removed.", *edits)
    first, last = len(text) - len(text.lstrip()), len(text.rstrip()) - 1
    if last > first and text[first] == text[last] and text[first] in "\"'`" and stopped.offset == first:
        edits = (Edit(0, first + 1, ""), Edit(last, len(text), ""))
        yield _fix(stopped, "The quotes around the query were removed.", *edits)


def _comments(stopped: Stopped) -> Offers:
    """`-- a comment` and `# a comment`; Cypher's begin with two slashes."""
    text = stopped.text
    line = text.rfind("\n", 0, stopped.offset) + 1
    found = re.compile(r"(?:(?<=\s)|^)(?:--(?=\s)|#)[^\n]*", re.M).search(text, line)
    if found is not None and found.start() <= stopped.offset and "(" not in found[0][:4]:
        start = found.start()
        yield _fix(stopped, "A comment begins with //.", Edit(start, start + len(found[0].rstrip()), ""))


def _lead(stopped: Stopped) -> Offers:
    found = _FIRST.search(stopped.text)
    if found is not None and found.start(1) and stopped.offset < found.start(1) + 1:
        yield _fix(stopped, "Text before the query was removed.", Edit(0, found.start(1), ""))


_PROSE = re.compile(r"\s*(?:[-*#>`]|\w+[,:]?\s+\w+|\w+:)")


def _prose(stopped: Stopped) -> Offers:
    """Prose after the query, on a separate line or after a semicolon."""
    text = stopped.text
    for sign in ("\n", ";"):
        cut = text.rfind(sign, 0, stopped.offset)
        line = [token for token in stopped.tokens[: stopped.at + 1] if token.start > cut]
        if cut <= 0 or not text[:cut].strip() or len(line) > _FEW or not line or line[0].word in _BEGINNINGS:
            continue
        if _PROSE.match(text, cut + 1):
            end = cut
            while text[end - 1].isspace():
                end -= 1
            yield _fix(stopped, "Text after the query was removed.", Edit(end, len(text), ""))


def _trail(stopped: Stopped) -> Offers:
    """What follows the query and is not a clause."""
    rest = stopped.tokens[stopped.at : -1]
    words = {word for token in rest for word in (token.word, token.text.upper())}
    if rest and stopped.at and not words & _MEANT:
        start = stopped.offset
        yield _fix(stopped, "Text after the query was removed.", Edit(start, len(stopped.text), ""))


# --- maps in patterns ---

_COMPARED = frozenset([">", "<", ">=", "<=", "<>", "=", "!=", "=~", "CONTAINS", "STARTS", "ENDS", "IN", "IS"])
_MONGO = {"$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<=", "$ne": "<>", "$eq": "=", "$in": "IN", "$regex": "=~"}


def _map_conditions(stopped: Stopped) -> Offers:
    """`(n:L {age > 60})` and `(n:L {age: {$gt: 60}})`: a map has values, a condition belongs in a WHERE."""
    opening = stopped.opening("{")
    if opening is None:
        return
    bracket = stopped.enclosing(opening)
    if bracket is not None and stopped.tokens[bracket].text == "{":  # `{age: {$gt: 60}}`
        opening, bracket = bracket, stopped.enclosing(bracket)
    closing = stopped.closing(opening)
    if closing is None or bracket is None or stopped.tokens[bracket].text not in "([":
        return
    tokens, text = stopped.tokens, stopped.text
    entries = list(stopped.parts(opening + 1, closing))
    name, naming = stopped.variable_of(bracket)
    values: list[str] = []
    conditions: list[str] = []
    for first, last in entries:
        condition = _condition(stopped, first, last, name)
        if condition is None:
            values.append(text[tokens[first].start : tokens[last].end])
        elif condition:
            conditions.append(condition)
    if not conditions:
        return
    kept = "{" + ", ".join(values) + "} " if values else ""
    edit = Edit(tokens[opening].start, tokens[closing].end, f"{kept}WHERE {' AND '.join(conditions)}")
    yield _fix(stopped, "A map in a pattern holds values; a condition belongs in WHERE.", *naming, edit)


def _condition(stopped: Stopped, first: int, last: int, name: str) -> str | None:
    """The condition that an entry of a map means; None for a plain `key: value`."""
    tokens, text = stopped.tokens, stopped.text
    if last - first < 1:
        return None
    key = quoted(tokens[first].text.strip("'\"`"))
    operator = tokens[first + 1]
    if operator.word in _COMPARED:
        rest = text[operator.start : tokens[last].end]
        return f"{name}.{key} {rest.replace('!=', '<>', 1)}"
    if operator.text != ":" or last - first < 2:
        return None
    value = tokens[first + 2]
    if value.word in _COMPARED:
        return f"{name}.{key} {text[value.start : tokens[last].end].replace('!=', '<>', 1)}"
    if value.text == "{" and tokens[last].text == "}" and last - first >= 6:
        inner = text[tokens[first + 3].start : tokens[first + 4].start].strip().strip("'\"`")
        sign = inner if inner.startswith("$") else "$" + inner
        if sign in _MONGO and tokens[first + 4].text == ":":
            return f"{name}.{key} {_MONGO[sign]} {text[tokens[first + 5].start : tokens[last - 1].end]}"
    return None


def _old_parameter(stopped: Stopped) -> Offers:
    """`{x}`, the old form of the parameter `$x`; a placeholder with a condition on it is removed."""
    tokens, at = stopped.tokens, stopped.at
    if stopped.token.text == "}" and at >= 2 and tokens[at - 2].text == "{":
        key = tokens[at - 1]
        yield from _placeholder(stopped, at - 2, at)
        if re.fullmatch(r"\w+", key.text):
            edit = Edit(tokens[at - 2].start, stopped.token.end, f"${key.text}")
            yield _fix(stopped, "A parameter is written with a dollar sign.", edit)
    if stopped.token.text == "?":
        yield from _placeholder(stopped, at, at)


def _placeholder(stopped: Stopped, first: int, last: int) -> Offers:
    """`{balance: ?}` followed by `x.balance > 500` adds nothing to it."""
    tokens = stopped.tokens
    if first < 3 or tokens[first - 1].text != ":":
        return
    key = tokens[first - 2].text
    rest = stopped.text[tokens[last].end :]
    if re.search(rf"\.{re.escape(key)}\s*(?:[<>=]|IN\b|CONTAINS\b|STARTS\b|IS\b)", rest, re.I) is None:
        return
    before, after = tokens[first - 3], tokens[last + 1]
    if before.text == "{" and after.text == "}":
        start = before.start - (stopped.text[before.start - 1] == " ")
        edit = Edit(start, after.end, "")
    elif after.text == ",":
        edit = Edit(tokens[first - 2].start, tokens[last + 2].start, "")
    else:
        edit = Edit(before.start, tokens[last].end, "")
    yield _fix(stopped, f"A placeholder for {key} was removed: a condition says what it is.", edit)


# --- small things ---


def _labels(stopped: Stopped) -> Offers:
    """`(n Person)` and `(n:Report Source)`."""
    token, before, tokens, at = stopped.token, stopped.before, stopped.tokens, stopped.at
    if before is None or "NAME" not in token.kinds or at < 2 or token.word in _BEGINNINGS:
        return
    if "NAME" in before.kinds and tokens[at - 2].text in ("(", "["):
        yield _fix(stopped, "A label follows a colon.", Edit(before.end, token.start, ":"))
    if "NAME" in before.kinds and tokens[at - 2].text == ":":
        yield _fix(stopped, "A label is one name.", Edit(before.end, token.end, ""))
        yield _fix(stopped, "A label is one name.", Edit(before.end, token.start, ""))
    is_variable = "NAME" in before.kinds and before.word not in _BEGINNINGS and tokens[at - 2].text != "."
    is_component = "NAME" in before.kinds and token.text.lower() in COMPONENTS  # `n.born YEAR`
    if (is_variable or is_component) and stopped.after is not None and stopped.after.text != ".":
        yield _fix(stopped, "A property follows a dot.", Edit(before.end, token.start, "."))


def _quoted_names(stopped: Stopped) -> Offers:
    """`n."first name"`, `(n:"Person")`."""
    token, before = stopped.token, stopped.before
    if token.word == "string" and before is not None and before.text in (".", ":"):
        name = quoted(token.text[1:-1])
        yield _fix(stopped, "Names are not written in quotes.", Edit(token.start, token.end, name))
    if token.word == "string" and before is not None and before.text in ("{", ","):
        name = quoted(token.text[1:-1])
        edits = [
            Edit(t.start, t.end, quoted(t.text[1:-1]))
            for t, following in zip(stopped.tokens, stopped.tokens[1:], strict=False)
            if t.word == "string" and following.text == ":" and t.start >= token.start
        ]
        yield _fix(stopped, "Keys are not written in quotes.", *(edits or [Edit(token.start, token.end, name)]))


def _arrows(stopped: Stopped) -> Offers:
    """`(a)->[r]->(b)`, `(a)-[r](b)`, `n.-[r]->(m)`."""
    token, before, after = stopped.token, stopped.before, stopped.after
    if before is None:
        return
    if token.text == ">" and before.text == "-" and after is not None and after.text == "[":
        yield _fix(stopped, "The head of an arrow comes after the bracket.", Edit(token.start, token.end, ""))
    if token.text == ">" and before.text == "-" and after is not None and after.text == "(":
        yield _fix(stopped, "An arrow has two dashes.", Edit(token.start, token.start, "-"))
    if token.text == "(" and before.text == "-" and stopped.at > 1 and stopped.tokens[stopped.at - 2].text == "<":
        yield _fix(stopped, "An arrow has two dashes.", Edit(token.start, token.start, "-"))
    if token.text == "(" and before.text == "]":
        yield _fix(stopped, "A relationship has a line on both sides.", Edit(token.start, token.start, "->"))
    if token.text == "[" and before.text == ")":
        yield _fix(stopped, "A relationship has a line on both sides.", Edit(token.start, token.start, "-"))
    if token.text in ("-", "<") and before.text == "." and stopped.at >= 2:
        subject = stopped.tokens[stopped.at - 2]
        edit = Edit(subject.start, before.end, f"({subject.text})")
        yield _fix(stopped, "A node is written in parentheses.", edit)


def _types(stopped: Stopped) -> Offers:
    """`-[:A, B]->`, `-[:A OR B]->`, `-[:A]{2}-`, `-A->`."""
    token, before, after, tokens, at = stopped.token, stopped.before, stopped.after, stopped.tokens, stopped.at
    if before is None or after is None:
        return
    opening = stopped.opening("[")
    if (
        opening is not None
        and (token.text == "," or token.word == "OR")
        and opening
        and tokens[opening - 1].text == "-"
    ):
        closing = stopped.closing(opening)
        others = range(at, closing if closing is not None else at)
        edits = [
            Edit(tokens[i].start, tokens[i].end, "|") for i in others if tokens[i].text == "," or tokens[i].word == "OR"
        ]
        yield _fix(stopped, "Types are separated by '|'.", *edits)
    repeated = re.compile(r"\{\s*(\d*)\s*(,?)\s*(\d*)\s*\}").match(stopped.text, token.start)
    if before.text == "]" and repeated is not None:
        lower, comma, upper = repeated.groups()
        length = f"*{lower}..{upper}" if comma else f"*{lower}"
        edits = [Edit(before.start, before.start, length), Edit(token.start, repeated.end(), "")]
        yield _fix(stopped, "How often a relationship is followed is written in its brackets.", *edits)
    if (
        before.text == "-"
        and "NAME" in token.kinds
        and after.text == "-"
        and at > 1
        and tokens[at - 2].text in (")", "<")
    ):
        edits = [Edit(token.start, token.start, "[:"), Edit(token.end, token.end, "]")]
        yield _fix(stopped, "A type is written in brackets.", *edits)


def _lists(stopped: Stopped) -> Offers:
    """`IN ('a', 'b')`."""
    opening = stopped.opening("(")
    if opening is None or not opening or stopped.tokens[opening - 1].word != "IN":
        return
    closing = stopped.closing(opening)
    if closing is not None:
        first, last = stopped.tokens[opening], stopped.tokens[closing]
        edits = (Edit(first.start, first.end, "["), Edit(last.start, last.end, "]"))
        yield _fix(stopped, "A list is written in square brackets.", *edits)


_QUOTES = str.maketrans({"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"'})
_APOSTROPHE = re.compile(r"(?<=\w)'(?=\w)")


def _quotes(stopped: Stopped) -> Offers:
    text = stopped.text
    if text.translate(_QUOTES) != text:
        edits = [Edit(i, i + 1, c.translate(_QUOTES)) for i, c in enumerate(text) if c.translate(_QUOTES) != c]
        yield _fix(stopped, "Quotes are straight.", *edits)
    inner = [m.start() for m in _APOSTROPHE.finditer(text) if text[m.start() - 1] != "\\"]
    if inner:
        edits = [Edit(i, i, "\\") for i in inner]
        yield _fix(stopped, "An apostrophe inside quotes is escaped.", *edits)


def _separators(stopped: Stopped) -> Offers:
    """Commas, AND and operators that are missing or duplicated."""
    token, before = stopped.token, stopped.before
    if before is None:
        return
    if before.text in (",", ";") or before.word in ("AND", "OR", "WHERE"):
        yield _fix(stopped, f"'{before.text}' has nothing after it.", Edit(before.start, token.start, ""))
    earlier = stopped.tokens[stopped.at - 2] if stopped.at > 1 else before
    if before.word in _BEGINNINGS and (earlier.text == "," or earlier.word in ("AND", "OR")):
        yield _fix(stopped, f"'{earlier.text}' has nothing after it.", Edit(earlier.start, before.start, " "))
    if token.word == before.word and token.word not in ("NAME", "string", "integer", "(", ")"):
        yield _fix(stopped, f"'{token.text}' was written twice.", Edit(token.start, token.end, ""))
    if token.word == "WHERE" and stopped.has_where():
        yield _fix(stopped, "A second condition is joined by AND.", Edit(token.start, token.end, "AND"))
    if token.word in ("string", "integer", "float") and "NAME" in before.kinds and earlier.text in (".", "{", ","):
        yield _fix(stopped, "An equals sign was left out.", Edit(before.end, token.start, " = "))
    if token.word not in CLAUSES and token.word != END and token.text not in ")]}":
        yield _fix(stopped, "A comma was left out.", Edit(before.end, before.end, ","))
    if "NAME" in token.kinds or token.text == "(":
        yield _fix(stopped, "AND was left out.", Edit(token.start, token.start, "AND "))
    if token.text == "(" and before.word == "OPTIONAL":
        yield _fix(stopped, "OPTIONAL comes before MATCH.", Edit(token.start, token.start, "MATCH "))


_SYNONYMS = {"SELECT": "RETURN", "FIND": "MATCH", "GET": "MATCH", "SORT": "ORDER", "SORTED": "ORDER"}


def _keywords(stopped: Stopped) -> Offers:
    """A misspelt or missing keyword, according to what the message expected."""
    token = stopped.token
    alone = re.search(r"expected '([A-Z]+)' \(line", stopped.message)
    if alone is not None:
        yield _fix(stopped, f"{alone[1]} was left out.", Edit(token.start, token.start, f"{alone[1]} "))
    word = token.text.upper()
    if word in ("ORDERBY", "SORTBY", "ORDER_BY"):
        yield _fix(stopped, "ORDER BY is meant.", Edit(token.start, token.end, "ORDER BY"))
    if word in _SYNONYMS and (_SYNONYMS[word] == "MATCH") is (stopped.at == 0):
        yield _fix(stopped, f"{_SYNONYMS[word]} is meant.", Edit(token.start, token.end, _SYNONYMS[word]))
    expected = set(re.findall(r"'([A-Z]{3,})(?: [A-Z ]+)?'", stopped.message))
    near = closest(word, expected, 0.75) if re.fullmatch(r"[A-Za-z]{3,}", token.text) else None
    if near is None:
        names = re.findall(r"'([a-z]+[A-Z]\w*)'", stopped.message)
        near = next((name for name in names if folded(name) == folded(token.text)), None)
    if near is None and stopped.before is not None and stopped.clause_start(_ORDERING) is not None:
        near = closest(word, ("DESC", "ASC"), 0.75)
    if near is not None:
        yield _fix(stopped, f"{near} is meant.", Edit(token.start, token.end, near))


_ORDERING = frozenset(["ORDER"])


def _brackets(stopped: Stopped) -> Offers:
    """Brackets that are never closed, or closed without having been opened."""
    tokens, token = stopped.tokens, stopped.token
    open_now = stopped.open_brackets()
    if token.text in ")]}":
        yield _fix(stopped, f"'{token.text}' closes nothing.", Edit(token.start, token.end, ""))
    if open_now:
        signs = "".join({"(": ")", "[": "]", "{": "}"}[tokens[i].text] for i in reversed(open_now))
        end = stopped.before.end if stopped.before is not None else 0
        for count in range(1, len(signs) + 1):
            closed = "".join(signs[:count])
            yield _fix(stopped, f"'{closed}' was left out.", Edit(end, end, closed))


_RULES: tuple[Callable[[Stopped], Offers], ...] = (
    _fence,
    _wrapping,
    _lead,
    _prose,
    _comments,
    *OPERATOR_RULES,
    *SELECTION_RULES,
    _map_conditions,
    _old_parameter,
    *PROJECTION_RULES,
    _arrows,
    _types,
    _keywords,
    _labels,
    _quoted_names,
    _lists,
    _quotes,
    _brackets,
    _separators,
    _trail,
)
