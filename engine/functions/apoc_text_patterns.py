"""apoc.text.* with Java's regular expressions, within the statement's time limit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.expressions.regex import Finder, Found, finder
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.guard import Stopped, interruptible
from hoplite.errors import CypherError, UnsupportedCypher, transaction_timed_out

Text = str | None


class _Search:
    """The matches of one function's pattern in texts."""

    def __init__(self, function: str, execution: Execution, pattern: str) -> None:
        self._execution = execution
        try:
            with interruptible():
                self.finder: Finder = finder(pattern)
        except UnsupportedCypher:
            raise
        except CypherError as problem:
            message = problem.message.removeprefix("Invalid Regex: ")
            raise function_failed(function, "java.util.regex.PatternSyntaxException", message) from None

    def matches(self, text: str) -> Iterator[Found]:
        """From left to right."""
        try:
            for found in self.finder.find(text, self._execution.seconds_left()):
                yield found
                self._execution.check_time()
        except TimeoutError:
            raise Stopped.by(transaction_timed_out()) from None


@apoc_function(
    "apoc.text.split(text :: STRING, regex :: STRING, limit = 0 :: INTEGER) :: LIST<ANY>",
    "Splits a string at the matches of a regular expression, into at most `limit` parts.",
    needs_context=True,
)
def split(execution: Execution, text: Text, regex: Text, limit: int | None) -> list[str] | None:
    """As Java's String.split: without a limit, empty parts at the end are dropped; with a negative one they are
    kept."""
    if text is None or regex is None or limit is None:
        return None
    parts: list[str] = []
    place = 0
    for found in _Search("apoc.text.split", execution, regex).matches(text):
        if limit > 0 and len(parts) == limit - 1:
            break
        if found.end == 0:  # an empty match at the beginning splits off nothing
            continue
        parts.append(text[place : found.start])
        place = found.end
    parts.append(text[place:])
    while limit == 0 and place and parts and not parts[-1]:
        parts.pop()
    return parts


@apoc_function(
    "apoc.text.replace(text :: STRING, regex :: STRING, replacement :: STRING) :: STRING",
    "Replaces every match of a regular expression.",
    needs_context=True,
)
@apoc_function(
    "apoc.text.regreplace(text :: STRING, regex :: STRING, replacement :: STRING) :: STRING",
    "Replaces every match of a regular expression.",
    needs_context=True,
)
def replace(execution: Execution, text: Text, regex: Text, replacement: Text) -> Text:
    """Groups are $1, $2, ... and ${name} in the replacement; a backslash escapes what follows it."""
    if text is None or regex is None or replacement is None:
        return None
    search = _Search("apoc.text.replace", execution, regex)
    pieces: list[str | int] | None = None
    out: list[str] = []
    place = 0
    for found in search.matches(text):
        if pieces is None:  # an error in it matters only if there is something to replace
            pieces = _pieces(replacement, search.finder)
        out.append(text[place : found.start])
        out.extend(piece if isinstance(piece, str) else found.groups[piece] or "" for piece in pieces)
        place = found.end
    return "".join((*out, text[place:]))


def _pieces(replacement: str, pattern: Finder) -> list[str | int]:
    """The texts and group numbers of a replacement; a number takes as many digits as still name a group."""
    pieces: list[str | int] = []
    place = 0
    while place < len(replacement):
        char = replacement[place]
        after = replacement[place + 1 : place + 2]
        if char == "\\":
            if not after:
                raise ValueError("character to be escaped is missing")
            pieces.append(after)
            place += 2
        elif char != "$":
            pieces.append(char)
            place += 1
        elif after == "{":
            end = replacement.find("}", place)
            name = replacement[place + 2 : end]
            if end < 0 or name not in pattern.names:
                raise ValueError(f"No group with name {{{name}}}")
            pieces.append(pattern.names[name])
            place = end + 1
        else:
            end = place + 2
            if not after or after not in "0123456789" or int(after) > pattern.group_count:
                raise ValueError(f"No group {after}")
            number = int(after)
            while (digit := replacement[end : end + 1]) and digit in "0123456789":
                if number * 10 + int(digit) > pattern.group_count:
                    break
                number, end = number * 10 + int(digit), end + 1
            pieces.append(number)
            place = end
    return pieces


@apoc_function(
    "apoc.text.regexGroups(text :: STRING, regex :: STRING) :: LIST<ANY>",
    "Returns every match of a regular expression with its groups.",
    needs_context=True,
)
def regex_groups(execution: Execution, text: Text, regex: Text) -> list[list[Text]]:
    """The whole match comes first."""
    if text is None or regex is None:
        return []
    return [list(found.groups) for found in _Search("apoc.text.regexGroups", execution, regex).matches(text)]


@apoc_function(
    "apoc.text.regexGroupsByName(text :: STRING, regex :: STRING) :: LIST<ANY>",
    "Returns the matches of a regular expression with their named groups.",
    needs_context=True,
)
def regex_groups_by_name(execution: Execution, text: Text, regex: Text) -> list[dict[str, Any]]:
    """A map for each match: the whole match as `group`, and the named groups as `matches`."""
    if text is None or regex is None:
        return []
    search = _Search("apoc.text.regexGroupsByName", execution, regex)
    names = search.finder.names
    return [
        {"group": found.groups[0], "matches": {name: found.groups[number] for name, number in names.items()}}
        for found in search.matches(text)
    ]
