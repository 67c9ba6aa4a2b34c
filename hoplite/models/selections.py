"""SQL's ways to begin a query and to name what it returns, and values that were never filled in.

SELECT p.name FROM Person p WHERE p.age > 30      MATCH (p:Person) WHERE p.age > 30 RETURN p.name
RETURN m.*                                        RETURN m
RETURN {n.name, n.age}                            RETURN n.name, n.age
RETURN ORDER BY n.name                            RETURN n.name ORDER BY n.name
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hoplite.models.edits import Edit, Fix
from hoplite.models.stopped import CLAUSES, Stopped
from hoplite.models.writing import free_name

_TAIL = CLAUSES | frozenset(["ORDER", "SKIP", "LIMIT", "WHERE", "GROUP", "HAVING", "OFFSET", "FETCH"])
_RETURNING = frozenset(["RETURN", "WITH"])


def _fix(stopped: Stopped, reason: str, *edits: Edit) -> Fix:
    return Fix("syntax", edits, reason, stopped.offset)


def _select(stopped: Stopped) -> Iterator[Fix]:
    """`SELECT columns FROM Label alias WHERE ...`, and `SELECT columns FROM (a:Label)-->(b)`."""
    tokens, text = stopped.tokens, stopped.text
    if stopped.at or tokens[0].text.upper() != "SELECT":
        return
    source = stopped.next_clause(1, frozenset(["FROM"]))
    end = stopped.next_clause(source + 1, _TAIL)
    if source + 1 >= end or source < 2 or tokens[source].word != "FROM":
        return
    columns = text[tokens[1].start : tokens[source - 1].end]
    tail = stopped.next_clause(end + 1, _TAIL) if tokens[end].word == "WHERE" else end
    condition = text[tokens[end].start : tokens[tail - 1].end] if tail > end else ""
    rest = text[tokens[tail].start :] if tail < len(tokens) - 1 else ""
    if tokens[source + 1].text == "(":
        pattern, alias = text[tokens[source + 1].start : tokens[end - 1].end], None
    else:
        named = _label_and_alias(stopped, source + 1, end)
        if named is None:
            return
        label, alias = named
        if alias is None:
            alias = free_name("n", {token.text for token in tokens})
            columns, condition, rest = (_qualified(part, alias) for part in (columns, condition, rest))
        pattern = f"({alias}:{label})"
    if columns.strip() == "*" and alias is not None:
        columns = alias
    parts = (f"MATCH {pattern}", condition, f"RETURN {columns}", rest)
    whole = " ".join(part for part in parts if part)
    yield _fix(stopped, "A query begins with MATCH and ends with RETURN.", Edit(tokens[0].start, len(text), whole))


def _label_and_alias(stopped: Stopped, first: int, end: int) -> tuple[str, str | None] | None:
    """`Person`, `Person p` or `Person AS p`."""
    words = [token for token in stopped.tokens[first:end] if token.word != "AS"]
    if not 1 <= len(words) <= 2 or any("NAME" not in token.kinds for token in words):
        return None
    return words[0].text, words[1].text if len(words) > 1 else None


_BARE = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|(?<![\w.$])[^\W\d]\w*(?!\s*\(|\w|\s*\.)")
_WORDS = frozenset(
    [
        *(
            "AND",
            "OR",
            "XOR",
            "NOT",
            "IN",
            "IS",
            "NULL",
            "TRUE",
            "FALSE",
            "AS",
            "DISTINCT",
            "CONTAINS",
            "STARTS",
            "ENDS",
        ),
        *("WITH", "WHERE", "ORDER", "BY", "SKIP", "LIMIT", "ASC", "DESC", "ASCENDING", "DESCENDING", "BETWEEN", "LIKE"),
        *("CASE", "WHEN", "THEN", "ELSE", "END"),
    ]
)


def _qualified(part: str, alias: str) -> str:
    """The columns of a table's rows as properties of a node."""

    def property(found: re.Match[str]) -> str:
        name = found[0]
        if name[0] in "'\"" or name.upper() in _WORDS:
            return name
        before = part[: found.start()].rstrip()
        return name if before[-3:].upper() == " AS" else f"{alias}.{name}"

    return _BARE.sub(property, part)


def _all_properties(stopped: Stopped) -> Iterator[Fix]:
    """`m.*`: a node is returned with all of its properties."""
    token, before = stopped.token, stopped.before
    if token.text == "*" and before is not None and before.text == "." and stopped.at > 1:
        yield _fix(stopped, "A node is returned with all of its properties.", Edit(before.start, token.end, ""))


def _in_braces(stopped: Stopped) -> Iterator[Fix]:
    """`RETURN {n.name, n.age}`: the braces of a map without keys."""
    opening = stopped.opening("{")
    closing = None if opening is None else stopped.closing(opening)
    if opening is None or closing is None or stopped.tokens[opening - 1].word not in (*_RETURNING, "DISTINCT", ","):
        return
    if any(token.text == ":" for token in stopped.tokens[opening:closing]):
        return
    first, last = stopped.tokens[opening], stopped.tokens[closing]
    edits = (Edit(first.start, first.end, ""), Edit(last.start, last.end, ""))
    yield _fix(stopped, "Columns are not written in braces.", *edits)


def _sorted_only(stopped: Stopped) -> Iterator[Fix]:
    """`RETURN ORDER BY x`: what is sorted by is what is asked for."""
    tokens, at = stopped.tokens, stopped.at
    order = at if stopped.token.word == "ORDER" else at - 1
    if order < 1 or tokens[order].word != "ORDER" or tokens[order + 1].word != "BY":
        return
    if tokens[order - 1].word != "RETURN":
        return
    first, last = next(stopped.parts(order + 2, stopped.next_clause(order + 2, _TAIL)), (0, 0))
    last -= tokens[last].word in ("DESC", "DESCENDING", "ASC", "ASCENDING")
    if first and last >= first:
        key = stopped.text[tokens[first].start : tokens[last].end]
        yield _fix(
            stopped, "A RETURN names what it returns.", Edit(tokens[order].start, tokens[order].start, f"{key} ")
        )


def _qualified_type(stopped: Stopped) -> Iterator[Fix]:
    """`-[r:Person.KNOWS]->`: the name of a type is not qualified."""
    token, before, after, tokens, at = stopped.token, stopped.before, stopped.after, stopped.tokens, stopped.at
    if token.text != "." or before is None or after is None or "NAME" not in before.kinds or "NAME" not in after.kinds:
        return
    if at > 1 and tokens[at - 2].text in (":", "|") and stopped.opening("[") is not None:
        yield _fix(stopped, "The name of a type is not qualified.", Edit(before.start, after.start, ""))


def _number_in_groups(stopped: Stopped) -> Iterator[Fix]:
    """`n.account = 1326 9418 4458-6`: digits in groups are text."""
    tokens, at = stopped.tokens, stopped.at
    if at < 2 or stopped.token.word != "integer" or tokens[at - 2].text not in ("=", "<>", ":"):
        return
    found = _GROUPS.match(stopped.text, tokens[at - 1].start)
    if found is not None and stopped.token.end <= found.end():
        yield _fix(stopped, "Digits in groups are text.", Edit(*found.span(), f"'{found[0]}'"))


_GROUPS = re.compile(r"\d+(?:[ -]\d+)+(?![\w.])")


def _unfilled(stopped: Stopped) -> Iterator[Fix]:
    """`{balance: ?}`, `{balance: ?x}` and `{balance: <value>}` ask for nothing."""
    found = _PLACEHOLDER.match(stopped.text, stopped.token.start)
    tokens, at = stopped.tokens, stopped.at
    if found is None or at < 3 or tokens[at - 1].text != ":" or stopped.opening("{") != stopped.open_brackets()[-1]:
        return
    before = tokens[at - 3]
    following = next(token for token in tokens[at:] if token.start >= found.end())
    reason = f"A placeholder for {tokens[at - 2].text} was removed: no value is given."
    if before.text == "{" and following.text == "}":
        start = before.start - (stopped.text[before.start - 1] == " ")
        yield _fix(stopped, reason, Edit(start, following.end, ""))
    elif following.text == ",":
        after = tokens[tokens.index(following) + 1]
        yield _fix(stopped, reason, Edit(tokens[at - 2].start, after.start, ""))
    elif before.text == ",":
        yield _fix(stopped, reason, Edit(before.start, found.end(), ""))


_PLACEHOLDER = re.compile(r"\?\w*|<\w+>|\.\.\.")


def _no_node(stopped: Stopped) -> Iterator[Fix]:
    """`(n)-[r:KNOWS] RETURN n`, `(n)-(m)`: a relationship without a node at its end, or without its second dash."""
    token, before, tokens, at = stopped.token, stopped.before, stopped.tokens, stopped.at
    if before is None:
        return
    if before.text == "]" and (token.word in _TAIL or token.text in (",", ";", "")):
        opening = next((i for i in range(at - 1, -1, -1) if stopped.closing(i) == at - 1), 0)
        into = opening > 1 and tokens[opening - 1].text == "-" and tokens[opening - 2].text == "<"
        yield _fix(stopped, "A relationship ends at a node.", Edit(before.end, before.end, "-()" if into else "->()"))
    if token.text == "(" and before.text == "-" and at > 1 and tokens[at - 2].text == ")":
        yield _fix(stopped, "A relationship has two dashes.", Edit(before.end, before.end, "-"))


SELECTION_RULES: tuple[Callable[[Stopped], Iterator[Fix]], ...] = (
    _select,
    _all_properties,
    _in_braces,
    _sorted_only,
    _qualified_type,
    _number_in_groups,
    _unfilled,
    _no_node,
)
