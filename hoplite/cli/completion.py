"""What Tab offers: labels after `(n:`, types after `[r:`, keys after `n.` or in a map, procedures after CALL, else
keywords and functions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from hoplite.cli.schema import SchemaNames, read_names
from hoplite.lazy import lazy_pattern

if TYPE_CHECKING:
    from hoplite.api.database import Database

KEYWORDS = tuple(
    """
    ALL AND ANY AS ASC BY CALL CASE COLLECT CONTAINS COUNT CREATE DELETE DESC DETACH DISTINCT ELSE END ENDS EXISTS
    EXPLAIN FOREACH IN IS LIMIT MATCH MERGE NOT NULL ON OPTIONAL OR ORDER PROFILE REMOVE RETURN SET SHORTEST SKIP STARTS
    THEN TRANSACTIONS UNION UNWIND WHEN WHERE WITH XOR YIELD
    """.split()  # noqa: SIM905
)
COMMANDS = (
    *(
        ":begin",
        ":commit",
        ":explain",
        ":help",
        ":limit",
        ":mode",
        ":pager",
        ":param",
        ":profile",
        ":quit",
        ":rollback",
    ),
    *(":schema", ":source"),
)

_WORD = lazy_pattern(r"[\w]*\Z")
_DOTTED = lazy_pattern(r"[\w.]*\Z")
_CLOSED = lazy_pattern(
    r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|(?P<name>`[^`]*`)|(?P<comment>//[^\n]*\n|/\*.*?\*/)", re.DOTALL
)
_OPEN = lazy_pattern(r"['\"`]|//|/\*")
_KEY = lazy_pattern(r"(?:[\w`)\]]\s*\.\s*|[{,]\s*)\w*\Z")
_NAME = lazy_pattern(r"[:|&!]\s*\w*\Z")
_CALL = lazy_pattern(r"\bCALL\s+[\w.]*\Z", re.IGNORECASE)


def candidates(before: str, names: SchemaNames) -> Sequence[str]:
    """What may follow `before`, the text to the left of the cursor."""
    if re.fullmatch(r"\s*:\w*", before):
        return COMMANDS
    plain = _CLOSED.sub(lambda found: "x" if found["name"] else " " if found["comment"] else "", before)
    if _OPEN.search(plain):
        return ()  # inside a string, a quoted name or a comment
    if _CALL.search(plain):
        return names.procedures
    bracket = _innermost_bracket(plain)
    if _NAME.search(plain) and bracket in ("(", "["):
        return names.labels if bracket == "(" else names.types
    key = _KEY.search(plain)
    if key and (bracket == "{" or "." in key[0]):
        return (*_functions_within(plain, names), *names.keys)
    if re.search(r"\b\w+\s*:\s*\w*\Z", plain) and not bracket:
        return names.labels  # WHERE n:Label, SET n:Label
    return (*KEYWORDS, *names.functions)


def _functions_within(plain: str, names: SchemaNames) -> Sequence[str]:
    """The functions whose dotted names begin with what was typed: `apoc.coll.su`."""
    dotted = _last(_DOTTED, plain).lower()
    return [name for name in names.functions if "." in dotted and name.lower().startswith(dotted)]


def _last(pattern: re.Pattern[str], text: str) -> str:
    found = pattern.search(text)
    return found[0] if found else ""


def _innermost_bracket(text: str) -> str:
    """The last bracket that is still open, or ""."""
    open_brackets: list[str] = []
    closing = {")": "(", "]": "[", "}": "{"}
    for character in text:
        if character in "([{":
            open_brackets.append(character)
        elif character in closing and open_brackets and open_brackets[-1] == closing[character]:
            open_brackets.pop()
    return open_brackets[-1] if open_brackets else ""


class CypherCompleter(Completer):
    def __init__(self, db: Database) -> None:
        self.db = db

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        before = document.text_before_cursor
        words = [_last(_DOTTED, before), _last(_WORD, before)]  # a name with dots, or what follows the last of them
        if before.lstrip().startswith(":") and " " not in before.strip():
            words = [before.lstrip()]
        for name in candidates(before, read_names(self.db)):
            typed = next((word for word in words if name.lower().startswith(word.lower())), None)
            if typed is not None:
                quoted = name if re.fullmatch(r":?\w+(\.\w+)*", name) else f"`{name}`"
                yield Completion(quoted, start_position=-len(typed), display=name)
