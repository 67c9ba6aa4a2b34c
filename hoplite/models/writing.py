"""Edits of a query's text: names, arrows, entries of maps, variables."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from hoplite.grammar import ast
from hoplite.models.edits import Edit

_PLAIN = re.compile(r"[^\W\d]\w*\Z")


def quoted(name: str) -> str:
    """A name as written, in backticks if needed."""
    return name if _PLAIN.match(name) else "`" + name.replace("`", "``") + "`"


def literal(value: object) -> str:
    """A string or number as it is written."""
    if isinstance(value, str):
        return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    return str(value).lower() if isinstance(value, bool) else str(value)


def flipped(pattern: ast.RelationshipPattern, text: str) -> list[Edit] | None:
    """The edits that reverse an arrow; None if it is written with characters other than - < >."""
    start, end = pattern.span.start, pattern.span.end
    if pattern.repetition is not None:
        end = pattern.repetition.span.start
        while end > start and text[end - 1].isspace():
            end -= 1
    if pattern.direction is ast.Direction.OUTGOING and text[end - 1] == ">" and text[start] == "-":
        return [Edit(start, start, "<"), Edit(end - 1, end, "")]
    if pattern.direction is ast.Direction.INCOMING and text[start] == "<" and text[end - 1] == "-":
        return [Edit(start, start + 1, ""), Edit(end, end, ">")]
    return None


def replaced_type(
    pattern: ast.RelationshipPattern, old: ast.LabelName, new: str, outgoing: bool, text: str
) -> list[Edit] | None:
    """The edits that give a relationship another type, and reverse it if that leads the other way."""
    edits = [Edit(old.span.start, old.span.end, quoted(new))]
    if pattern.direction is not ast.Direction.BOTH and (pattern.direction is ast.Direction.OUTGOING) is not outgoing:
        turn = flipped(pattern, text)
        if turn is None:
            return None
        edits += turn
    return edits


def named(pattern: ast.NodePattern | ast.RelationshipPattern, name: str, text: str) -> Edit | None:
    """The edit that adds a variable to a pattern without one; None if there is no bracket to write it in."""
    start, end = pattern.span.start, pattern.span.end
    if isinstance(pattern, ast.NodePattern):
        return Edit(start + 1, start + 1, quoted(name))
    bracket = text.find("[", start, end)
    if bracket >= 0:
        return Edit(bracket + 1, bracket + 1, quoted(name))
    dashes = text.find("--", start, end)
    return None if dashes < 0 else Edit(dashes + 1, dashes + 1, f"[{quoted(name)}]")


def with_entry(pattern: ast.NodePattern | ast.RelationshipPattern, entry: str, text: str) -> Edit | None:
    """The edit that adds an entry to the map of a pattern."""
    properties = pattern.properties
    if isinstance(properties, ast.MapLiteral):
        start = properties.span.start + 1
        return Edit(start, start, f"{entry}, " if properties.entries else entry)
    if properties is not None or pattern.predicate is not None:
        return None
    if isinstance(pattern, ast.NodePattern):
        end = pattern.span.end - 1
    else:
        end = text.rfind("]", pattern.span.start, pattern.span.end)
        if end < 0:
            return None
    space = "" if text[end - 1] in " ([" else " "
    return Edit(end, end, f"{space}{{{entry}}}")


def without_entry(literal: ast.MapLiteral, spans: Sequence[tuple[int, int]], index: int, text: str) -> Edit:
    """The edit that removes an entry from a map, and the map with its last entry. `spans` are those of the entries."""
    if len(spans) == 1:
        start, end = literal.span.start, literal.span.end
        while start > 0 and text[start - 1].isspace():
            start -= 1
        return Edit(start, end, "")
    if index + 1 < len(spans):
        return Edit(spans[index][0], spans[index + 1][0], "")
    return Edit(spans[index - 1][1], spans[index][1], "")


def free_name(stem: str, taken: Collection[str]) -> str:
    """A variable name that is not used yet."""
    if stem not in taken:
        return stem
    number = 1
    while f"{stem}{number}" in taken:
        number += 1
    return f"{stem}{number}"
