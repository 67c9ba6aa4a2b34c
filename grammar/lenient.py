"""Forms that language models still write, translated to current Cypher. Text in, text and a list of changes out.

| written                          | read as                             |
|----------------------------------|-------------------------------------|
| a Markdown code fence            | what is inside it                   |
| `cypher` or `Cypher query:` first | without it                          |
| an explanation after the query  | without it                          |
| `a != b`, `a == b`               | `a <> b`, `a = b`                   |
| `exists(n.p)`                    | `(n.p IS NOT NULL)`                 |
| `size((a)-->())`                 | `COUNT { (a)-->() }`                |
| `toInt(x)`, `distance(a, b)`     | `toInteger(x)`, `point.distance(a, b)` |

Strings, names in backticks and comments are left alone. Use it only on a text that was refused.
"""

from __future__ import annotations

import re

from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Change:
    """One change: its position in the given text, and a description."""

    offset: int
    description: str


_FENCE = lazy_pattern(r"```[ \t]*(?:cypher|sql|\w*)[ \t]*\r?\n?(.*?)(?:```|\Z)", re.S | re.I)
_LEAD = lazy_pattern(r"\s*(?:(?:here is|this is|the)\b[^\n:]*:|cypher(?:[ \t]+(?:query|statement))?[ \t]*:?)\s*", re.I)
CLAUSE_WORDS = (
    "MATCH", "OPTIONAL", "WITH", "RETURN", "UNWIND", "CALL", "CREATE", "MERGE", "SET", "REMOVE", "DELETE", "DETACH",
    "FOREACH", "LOAD", "UNION", "USE", "FINISH",
)  # fmt: skip
"""The words that begin a clause."""
_OTHERS = (
    "WHERE", "ORDER", "SKIP", "LIMIT", "OFFSET", "SHOW", "DROP", "EXPLAIN", "PROFILE", "ON", "AND", "OR", "YIELD",
)  # fmt: skip
_CLAUSE = lazy_pattern(rf"\s*(?:{'|'.join(CLAUSE_WORDS + _OTHERS)})\b", re.I)
_PARAGRAPH = lazy_pattern(r"\r?\n[ \t]*\r?\n|;[ \t]*\r?\n")
_QUIET = lazy_pattern(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|//[^\n]*|/\*.*?\*/", re.S)
_PATTERN = lazy_pattern(r"\(\s*\w*\s*(?::[^()]*)?\)\s*<?-")
RENAMED = {"toint": "toInteger", "distance": "point.distance"}


def relaxed(text: str) -> tuple[str, list[Change]]:
    """The text in forms that Neo4j 5 accepts, and the changes made."""
    changes: list[Change] = []
    text, start = _without_fence(text, changes)
    text, start = _without_lead(text, start, changes)
    text = _without_prose(text, start, changes)
    return _forms(text, start, changes), changes


def _without_fence(text: str, changes: list[Change]) -> tuple[str, int]:
    fence = _FENCE.search(text)
    if fence is None:
        return text, 0
    changes.append(Change(fence.start(), "a code fence was removed"))
    return fence[1], fence.start(1)


def _without_lead(text: str, start: int, changes: list[Change]) -> tuple[str, int]:
    lead = _LEAD.match(text)
    if lead is None or not _CLAUSE.match(text, lead.end()):
        return text, start
    changes.append(Change(start, f"'{lead[0].strip()}' before the query was removed"))
    return text[lead.end() :], start + lead.end()


def _without_prose(text: str, start: int, changes: list[Change]) -> str:
    """Cut off what follows the query: after an empty line, or a semicolon at the end of a line, not followed by a
    clause."""
    for gap in _PARAGRAPH.finditer(text):
        rest = text[gap.end() :]
        if rest.strip() and not _CLAUSE.match(rest) and text[: gap.start()].strip() and rest.lstrip()[0].isalpha():
            changes.append(Change(start + gap.end(), "text after the query was removed"))
            return text[: gap.start()]
    return text


def _forms(text: str, start: int, changes: list[Change]) -> str:
    """Operators and functions, outside strings and comments."""
    parts: list[str] = []
    position = 0
    while position < len(text):
        quiet = _QUIET.match(text, position)
        if quiet is not None:
            parts.append(quiet[0])
            position = quiet.end()
            continue
        found = _form_at(text, position)
        if found is None:
            parts.append(text[position])
            position += 1
            continue
        end, replacement = found
        changes.append(Change(start + position, f"'{text[position:end]}' was read as '{replacement}'"))
        parts.append(replacement)
        position = end
    return "".join(parts)


def _form_at(text: str, position: int) -> tuple[int, str] | None:
    """The end of the outdated form that begins here, and its replacement."""
    if text.startswith("!=", position):
        return position + 2, "<>"
    if text.startswith("==", position):
        return position + 2, "="
    if position and (text[position - 1].isalnum() or text[position - 1] in "_.$"):
        return None
    call = re.compile(r"(\w+)\s*\(").match(text, position)
    if call is None:
        return None
    name = call[1].lower()
    if name in RENAMED:
        return call.end(1), RENAMED[name]
    if name not in ("exists", "size"):
        return None
    close = _closing(text, call.end() - 1)
    if close is None:
        return None
    inside = text[call.end() : close].strip()
    if name == "exists" and re.fullmatch(r"(?:\w+|`[^`]+`)(?:\.(?:\w+|`[^`]+`)|\[[^\]]+\])+", inside):
        return close + 1, f"({inside} IS NOT NULL)"
    if name == "size" and _PATTERN.match(inside):
        return close + 1, f"COUNT {{ {inside} }}"
    return None


def _closing(text: str, opening: int) -> int | None:
    """The parenthesis that closes the one at `opening`."""
    depth, position = 0, opening
    while position < len(text):
        quiet = _QUIET.match(text, position)
        if quiet is not None:
            position = quiet.end()
            continue
        depth += (text[position] == "(") - (text[position] == ")")
        if depth == 0:
            return position
        position += 1
    return None
