"""SQL's ways to end a query: WHERE after RETURN, GROUP BY, HAVING, DISTINCT in the middle."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from hoplite.engine.functions.registry import AGGREGATES
from hoplite.models.edits import Edit, Fix
from hoplite.models.stopped import CLAUSES, Stopped
from hoplite.models.writing import quoted

_TAIL = CLAUSES | frozenset(["ORDER", "SKIP", "LIMIT", "WHERE", "GROUP", "HAVING", "OFFSET", "FETCH"])


def _fix(stopped: Stopped, reason: str, *edits: Edit) -> Fix:
    return Fix("syntax", edits, reason, stopped.offset)


def _where_after_return(stopped: Stopped) -> Iterator[Fix]:
    """`RETURN ... WHERE p` and `HAVING p`: a condition on the rows before, or on the columns."""
    word = stopped.token.text.upper()
    if word not in ("WHERE", "HAVING"):
        return
    start = stopped.clause_start(frozenset(["RETURN", "WITH"]))
    if start is None or stopped.tokens[start].word != "RETURN":
        return
    tokens, text = stopped.tokens, stopped.text
    end = stopped.next_clause(stopped.at + 1, _TAIL)
    last = tokens[end - 1]
    condition = text[tokens[stopped.at + 1].start : last.end]
    names = {t.text for t in tokens[stopped.at + 1 : end] if "NAME" in t.kinds}
    first = start + 1 + (tokens[start + 1].word == "DISTINCT")
    items = list(stopped.parts(first, _items_end(stopped, start)))
    aliases = {tokens[b].text for a, b in items if b > a and tokens[b - 1].word == "AS"}
    removed = Edit(tokens[stopped.at - 1].end, last.end, "")
    aggregated = any(t.text.lower() in AGGREGATES for t in tokens[stopped.at + 1 : end])
    if names & aliases or aggregated:
        yield from _as_columns(stopped, start, first, items, condition, end)
        return
    added = Edit(tokens[start].start, tokens[start].start, _asked(stopped, start, condition))
    yield _fix(stopped, f"{word} comes before RETURN.", added, removed)


def _asked(stopped: Stopped, start: int, condition: str) -> str:
    """A condition before a RETURN: in the MATCH or WITH there, or joined to its WHERE."""
    tokens = stopped.tokens
    depth = 0
    for i in range(start - 1, -1, -1):
        text = tokens[i].text
        depth += (text in ")]}") - (text in "([{")
        if depth < 0:
            break
        if not depth and tokens[i].word == "WHERE":
            return f"AND {condition} "
        if not depth and tokens[i].word in ("MATCH", "WITH", "YIELD") and tokens[i - 1].word not in ("STARTS", "ENDS"):
            return f"WHERE {condition} "
        if not depth and tokens[i].word in CLAUSES:
            break
    return f"WITH * WHERE {condition} "


def _items_end(stopped: Stopped, start: int) -> int:
    return stopped.next_clause(start + 1, _TAIL)


def _as_columns(
    stopped: Stopped, start: int, first: int, items: list[tuple[int, int]], condition: str, end: int
) -> Iterator[Fix]:
    """The projection becomes a WITH, the condition its WHERE, and the columns are returned."""
    tokens, text = stopped.tokens, stopped.text
    named: list[str] = []
    columns: list[str] = []
    for a, b in items:
        written = text[tokens[a].start : tokens[b].end]
        if b > a and tokens[b - 1].word == "AS":
            name = tokens[b].text
        elif a == b:
            name = written
        else:
            name = quoted(written)
            plain = condition.replace(written, name)
            condition = plain if plain != condition else condition
            written = f"{written} AS {name}"
        named.append(written)
        columns.append(name)
    distinct = "DISTINCT " if tokens[start + 1].word == "DISTINCT" else ""
    tail = text[tokens[_items_end(stopped, start)].start : tokens[stopped.at].start].rstrip()
    if tail:
        tail = f" {tail}"
    new = f"WITH {distinct}{', '.join(named)} WHERE {condition} RETURN {', '.join(columns)}{tail}"
    edit = Edit(tokens[start].start, tokens[end - 1].end, new)
    yield _fix(stopped, "A condition on columns is the WHERE of a WITH.", edit)


def _group_by(stopped: Stopped) -> Iterator[Fix]:
    """`GROUP BY x`: Cypher groups by the columns that do not aggregate, so x must be one."""
    tokens, text, at = stopped.tokens, stopped.text, stopped.at
    if tokens[at].text.upper() == "GROUP" and at + 1 < len(tokens) and tokens[at + 1].text.upper() == "BY":
        keys_at = at + 2
    elif tokens[at].text.upper() == "BY" and (at == 0 or tokens[at - 1].word != "ORDER"):
        keys_at = at + 1
        if tokens[at - 1].text.upper() == "GROUP":
            at -= 1
    else:
        return
    end = stopped.next_clause(keys_at, _TAIL)
    start = stopped.clause_start(frozenset(["RETURN", "WITH"]))
    if end <= keys_at:
        return
    removed = Edit(tokens[at - 1].end, tokens[end - 1].end, "")
    if start is None:  # after MATCH
        start = next((i for i in range(end, len(tokens)) if tokens[i].word == "RETURN"), None)
        if start is None:
            return
        at = len(tokens)
    returned = start
    if tokens[start].word == "WITH":  # grouped are the rows that RETURN aggregates
        later = next((i for i in range(end, len(tokens)) if tokens[i].word == "RETURN"), None)
        aggregated = any(t.text.lower() in AGGREGATES for t in tokens[start:at])
        returned = start if aggregated or later is None else later
    first = returned + 1 + (tokens[returned + 1].word == "DISTINCT")
    last = _items_end(stopped, returned)
    items = list(stopped.parts(first, min(last, at) if returned == start else last))
    shown = [text[tokens[a].start : tokens[b].end].lower() for a, b in items]
    missing = []
    for a, b in stopped.parts(keys_at, end):
        key = text[tokens[a].start : tokens[b].end]
        if not any(_is_column(key.lower(), column) for column in shown):
            missing.append(key)
    edits = [removed]
    if missing:
        place = tokens[first].start
        edits.append(Edit(place, place, ", ".join(missing) + ", "))
    yield _fix(stopped, "Cypher groups by the columns that do not aggregate; there is no GROUP BY.", *edits)
    yield _fix(stopped, "Cypher groups by the columns that do not aggregate; there is no GROUP BY.", removed)


def _is_column(key: str, column: str) -> bool:
    return key == column or column.startswith(f"{key} as ") or column.endswith(f" as {key}")


def _distinct(stopped: Stopped) -> Iterator[Fix]:
    """`RETURN a, DISTINCT b`: DISTINCT applies to whole rows and comes first."""
    tokens, at = stopped.tokens, stopped.at
    for i in (at, at - 1):
        if i > 0 and tokens[i].word == "DISTINCT":
            start = stopped.clause_start(frozenset(["RETURN", "WITH"]))
            if start is None or start + 1 == i:
                return
            removed = Edit(tokens[i].start, tokens[i + 1].start, "")
            place = tokens[start + 1].start
            if tokens[start + 1].word == "DISTINCT" or any(t.text.lower() in AGGREGATES for t in tokens[start:i]):
                yield _fix(stopped, "Rows are distinct as a whole.", removed)
            else:
                yield _fix(stopped, "DISTINCT comes first.", removed, Edit(place, place, "DISTINCT "))


def _order(stopped: Stopped) -> Iterator[Fix]:
    """`RETURN x DESC` without ORDER BY."""
    tokens, at = stopped.tokens, stopped.at
    if stopped.token.text.upper() not in ("DESC", "ASC", "DESCENDING", "ASCENDING"):
        return
    start = stopped.clause_start(frozenset(["RETURN", "WITH"]))
    if start is not None:
        items = list(stopped.parts(start + 1 + (tokens[start + 1].word == "DISTINCT"), at))
        a, b = items[-1]
        if b > a and tokens[b - 1].word == "AS":
            a = b
        key = stopped.text[tokens[a].start : tokens[b].end]
        place = tokens[at - 1].end
        yield _fix(stopped, "Rows are sorted by ORDER BY.", Edit(place, place, f" ORDER BY {key}"))


def _first_rows(stopped: Stopped) -> Iterator[Fix]:
    """`RETURN TOP 5 x`, `FETCH FIRST 5 ROWS ONLY`, `LIMIT 5, 10`."""
    tokens, at = stopped.tokens, stopped.at
    token, before = stopped.token, stopped.before
    if token.word == "integer" and before is not None and before.text.upper() == "TOP":
        end = _end_of_query(stopped)
        edits = (Edit(before.start, tokens[at + 1].start, ""), Edit(end, end, f" LIMIT {token.text}"))
        yield _fix(stopped, "The first rows are a LIMIT.", *edits)
    if token.text.upper() == "FETCH":
        found = re.compile(r"FETCH\s+(?:FIRST|NEXT)\s+(\w+)\s+ROWS?\s+ONLY", re.I).match(stopped.text, token.start)
        if found is not None:
            yield _fix(stopped, "The first rows are a LIMIT.", Edit(*found.span(), f"LIMIT {found[1]}"))
    if token.text == "," and at > 1 and tokens[at - 2].word == "LIMIT" and tokens[at + 1].word == "integer":
        edit = Edit(tokens[at - 2].start, tokens[at + 1].end, f"SKIP {tokens[at - 1].text} LIMIT {tokens[at + 1].text}")
        yield _fix(stopped, "LIMIT a, b is written SKIP a LIMIT b.", edit)


def _end_of_query(stopped: Stopped) -> int:
    last = stopped.tokens[-2]
    return stopped.tokens[-3].end if last.text == ";" else last.end


def _nulls(stopped: Stopped) -> Iterator[Fix]:
    """`ORDER BY x DESC NULLS LAST`: nulls are the largest values; to place them elsewhere takes a sort key before."""
    tokens, at, text = stopped.tokens, stopped.at, stopped.text
    if stopped.token.text.upper() != "NULLS" or tokens[at + 1].text.upper() not in ("FIRST", "LAST"):
        return
    order = stopped.clause_start(frozenset(["ORDER"]))
    if order is None:
        return
    first, last = list(stopped.parts(order + 2, at))[-1]
    descending = tokens[last].word in ("DESC", "DESCENDING")
    last -= tokens[last].word in ("DESC", "DESCENDING", "ASC", "ASCENDING")
    edits = [Edit(tokens[at - 1].end, tokens[at + 1].end, "")]
    is_last = tokens[at + 1].text.upper() == "LAST"
    if descending is is_last:
        place = tokens[first].start
        key = text[place : tokens[last].end]
        edits.append(Edit(place, place, f"{key} IS {'NULL' if is_last else 'NOT NULL'}, "))
    yield _fix(stopped, "Nulls come last, or first with DESC.", *edits)


PROJECTION_RULES: tuple[Callable[[Stopped], Iterator[Fix]], ...] = (
    _where_after_return,
    _group_by,
    _distinct,
    _order,
    _first_rows,
    _nulls,
)
