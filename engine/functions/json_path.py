"""JSONPath as Jayway's library, which APOC uses, reads it: `$.a.b`, `$..x`, `[0]`, `[*]`, `[1:]`, `[?(@.x > 1)]`.

A definite path names one place: it gives the value there, or null if there is none. Any other path gives the list of
what it finds. A final name that an object lacks counts as null.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, Protocol

from hoplite.engine.functions.json_filter import Filter, PathNode, parse_filter
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass

INVALID_PATH = "com.jayway.jsonpath.InvalidPathException"
DEFAULT_OPTIONS = frozenset(("SUPPRESS_EXCEPTIONS", "DEFAULT_PATH_LEAF_TO_NULL"))
OPTIONS = DEFAULT_OPTIONS | {"ALWAYS_RETURN_LIST", "AS_PATH_LIST", "REQUIRE_PROPERTIES"}


class Statement(Protocol):
    """The statement that a path is followed for: its time limit is checked at every step."""

    def check_time(self) -> None:
        """Raises if there is no time left."""

    def matches(self, pattern: str, text: str) -> bool:
        """Whether a regular expression matches the whole text."""


class JsonPathError(Exception):
    """What the library throws: an exception's name and message."""

    def __init__(self, java_class: str, message: str) -> None:
        super().__init__(message)
        self.java_class, self.message = java_class, message


def _not_found(message: str) -> JsonPathError:
    return JsonPathError("com.jayway.jsonpath.PathNotFoundException", message)


# --- steps ---


@dataclass(frozen=True, slots=True)
class Names:
    """`.a`, `['a','b']`"""

    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Places:
    """`[0]`, `[0,2]`, `[-1]`"""

    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Range:
    """`[1:3]`"""

    first: int | None
    end: int | None


@dataclass(frozen=True, slots=True)
class Everything:
    """`.*`, `[*]`"""


@dataclass(frozen=True, slots=True)
class Below:
    """`..`: the step after it is taken at every depth."""


@dataclass(frozen=True, slots=True)
class Filtered:
    """`[?(...)]`"""

    filter: Filter


@dataclass(frozen=True, slots=True)
class Computed:
    """`.length()`"""

    function: str
    argument: str


Step = Names | Places | Range | Everything | Below | Filtered | Computed


def _is_definite(step: Step) -> bool:
    return isinstance(step, Names | Computed) or (isinstance(step, Places) and len(step.places) == 1)


@dataclass(frozen=True, slots=True)
class JsonPath:
    """A parsed path."""

    steps: tuple[Step, ...]

    @property
    def is_definite(self) -> bool:
        """Whether it names one place."""
        return all(map(_is_definite, self.steps))

    def read(self, document: Any, statement: Statement, options: frozenset[str] = DEFAULT_OPTIONS) -> Any:
        """What it finds in a document."""
        try:
            found = list(_Reader(self.steps, document, statement, options).walk(0, "$", document))
        except JsonPathError:
            if "SUPPRESS_EXCEPTIONS" not in options:
                raise
            found = []
        if "AS_PATH_LIST" in options:
            return [path for path, _ in found]
        if not self.is_definite or "ALWAYS_RETURN_LIST" in options:
            return [value for _, value in found]
        if not found and "SUPPRESS_EXCEPTIONS" not in options:
            raise _not_found("No results for path: $" + "".join(map(_written, self.steps)))
        return found[-1][1] if found else None


def _written(step: Step) -> str:
    match step:
        case Names(names=names):
            return "[" + ",".join(f"'{name}'" for name in names) + "]"
        case Places(places=places):
            return "[" + ",".join(map(str, places)) + "]"
        case Computed(function=function, argument=argument):
            return f".{function}({argument})"
        case _:
            return "[*]"


Place = tuple[str, Any]


class _Reader:
    def __init__(self, steps: Sequence[Step], document: Any, statement: Statement, options: frozenset[str]) -> None:
        self._steps, self._document, self._statement = steps, document, statement
        self._leaf_is_null = "DEFAULT_PATH_LEAF_TO_NULL" in options

    def walk(self, at: int, path: str, value: Any) -> Iterator[Place]:
        """The places that the steps from here on lead to."""
        self._statement.check_time()
        if at == len(self._steps):
            yield path, value
            return
        match self._steps[at]:
            case Names(names=names):
                yield from self._named(at, path, value, names)
            case Places(places=places):
                if isinstance(value, list):
                    for place in places:
                        if -len(value) <= place < len(value):
                            yield from self.walk(at + 1, f"{path}[{place % len(value)}]", value[place])
                elif self._is_strict(at):
                    raise _not_found(f"Filter: [{places[0]}] can only be applied to arrays.")
            case Range(first=first, end=end):
                if isinstance(value, list):
                    for place in range(*slice(first, end).indices(len(value))):
                        yield from self.walk(at + 1, f"{path}[{place}]", value[place])
            case Everything():
                for name, child in _children(value):
                    yield from self.walk(at + 1, path + name, child)
            case Below():
                yield from self._below(at + 1, path, value)
            case Filtered(filter=condition):
                yield from self._filtered(at, path, value, condition)
            case Computed(function=function, argument=argument):
                yield from self.walk(at + 1, path, _compute(function, argument, value))

    def _is_strict(self, at: int) -> bool:
        return all(map(_is_definite, self._steps[:at]))

    def _named(self, at: int, path: str, value: Any, names: tuple[str, ...]) -> Iterator[Place]:
        is_last = at + 1 == len(self._steps)
        if not isinstance(value, dict):
            if self._is_strict(at):
                raise _not_found(f"Expected to find an object with property {_written(Names(names))} in path {path}")
            return
        missing_is_null = is_last and self._leaf_is_null
        if is_last and len(names) > 1:
            yield path, {name: value.get(name) for name in names if name in value or missing_is_null}
            return
        for name in names:
            if name in value or missing_is_null:
                yield from self.walk(at + 1, f"{path}['{name}']", value.get(name))
            elif self._is_strict(at):
                raise _not_found(f"No results for path: {path}['{name}']")

    def _below(self, at: int, path: str, value: Any) -> Iterator[Place]:
        """The step at every depth, from the outside to the inside."""
        self._statement.check_time()
        is_last = at + 1 == len(self._steps)
        match self._steps[at]:
            case Names(names=names):
                applies = isinstance(value, dict) and (
                    (is_last and self._leaf_is_null) or all(name in value for name in names)
                )
            case Places() | Range():
                applies = isinstance(value, list)
            case Filtered(filter=condition):
                applies = isinstance(value, dict) and condition.holds(value, self)
            case _:
                applies = isinstance(value, dict | list)
        if applies:
            yield from self.walk(at, path, value)
        for name, child in _children(value):
            yield from self._below(at, path + name, child)

    def _filtered(self, at: int, path: str, value: Any, condition: Filter) -> Iterator[Place]:
        if isinstance(value, dict):
            if condition.holds(value, self):
                yield from self.walk(at + 1, path, value)
        elif isinstance(value, list):
            for place, item in enumerate(value):
                if condition.holds(item, self):
                    yield from self.walk(at + 1, f"{path}[{place}]", item)

    # --- for filters ---

    def value_of(self, node: PathNode, item: Any) -> Any:
        """The value of a path in a filter: a missing name is null."""
        start = self._document if node.from_root else item
        return compile_path(node.text).read(start, self._statement)

    def exists(self, node: PathNode, item: Any) -> bool:
        """Whether a path in a filter leads anywhere."""
        path = compile_path(node.text)
        start = self._document if node.from_root else item
        try:
            found = path.read(start, self._statement, frozenset())
        except JsonPathError:
            return False
        return path.is_definite or bool(found)

    def matches(self, pattern: str, text: str) -> bool:
        """Whether a regular expression matches the whole text."""
        return self._statement.matches(pattern, text)


def _children(value: Any) -> Iterator[Place]:
    if isinstance(value, dict):
        for name, child in value.items():
            yield f"['{name}']", child
    elif isinstance(value, list):
        for place, child in enumerate(value):
            yield f"[{place}]", child


# --- functions ---


def _compute(function: str, argument: str, value: Any) -> Any:
    match function:
        case "length" | "size":
            return len(value) if isinstance(value, list | dict) else None
        case "keys":
            return list(value) if isinstance(value, dict) else None
        case "first" | "last" | "index":
            place = int(argument) if function == "index" else 0 if function == "first" else -1
            return value[place] if isinstance(value, list) and -len(value) <= place < len(value) else None
        case "concat":
            return "".join(item for item in value if isinstance(item, str)) if isinstance(value, list) else None
        case _:
            return _aggregate(function, value)


def _aggregate(function: str, value: Any) -> float:
    members = value if isinstance(value, list) else []
    numbers = [float(item) for item in members if isinstance(item, int | float) and not isinstance(item, bool)]
    if not numbers:
        raise JsonPathError(
            "com.jayway.jsonpath.JsonPathException",
            "Aggregation function attempted to calculate value using empty array",
        )
    mean = sum(numbers) / len(numbers)
    return {
        "min": min(numbers),
        "max": max(numbers),
        "sum": sum(numbers),
        "avg": mean,
        "stddev": math.sqrt(sum(number * number for number in numbers) / len(numbers) - mean * mean),
    }[function]


_FUNCTIONS = ("length", "size", "keys", "first", "last", "index", "concat", "min", "max", "sum", "avg", "stddev")


# --- reading a path ---

_NAME = lazy_pattern(r"[^.\[(]+")
_QUOTED = lazy_pattern(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\s*(,|\Z)""")
_ENDS_BADLY = "Path must not end with a '.' or '..'"


@lru_cache(maxsize=256)
def compile_path(text: str) -> JsonPath:
    """Parse a path; one that does not begin with `$` or `@` begins below the root."""
    text = text.strip()
    if not text.startswith(("$", "@")):
        text = f"$.{text}"
    if text.endswith("."):
        raise JsonPathError(INVALID_PATH, _ENDS_BADLY)
    steps: list[Step] = []
    at = 1
    while at < len(text):
        if text.startswith("..", at):
            steps.append(Below())
            at += 2
        elif text[at] == ".":
            at += 1
        elif text[at] != "[":
            raise JsonPathError(INVALID_PATH, f"Illegal character at position {at} expected '.' or '['")
        if text[at] == "[":
            content, end = _bracketed(text, at)
            steps.append(_bracket_step(content, at))
            at = end
        else:
            step, at = _name_step(text, at)
            steps.append(step)
    return JsonPath(tuple(steps))


def _name_step(text: str, at: int) -> tuple[Step, int]:
    found = _NAME.match(text, at)
    if found is None:
        raise JsonPathError(INVALID_PATH, f"Could not parse token starting at position {at}")
    name, end = found[0], found.end()
    if text.startswith("(", end):
        close = text.find(")", end)
        if name not in _FUNCTIONS:
            raise JsonPathError(INVALID_PATH, f"Function with name: {name} does not exist.")
        if close < 0:
            raise JsonPathError(INVALID_PATH, f"Arguments to function: '{name}' are not closed properly.")
        return Computed(name, text[end + 1 : close].strip()), close + 1
    if re.search(r"\s", name):
        message = f"Use bracket notion ['my prop'] if your property contains blank characters. position: {at}"
        raise JsonPathError(INVALID_PATH, message)
    return Everything() if name == "*" else Names((name,)), end


def _bracketed(text: str, at: int) -> tuple[str, int]:
    """What is between this bracket and its closing one, and the position after that."""
    depth, quote = 0, ""
    place = at
    while place < len(text):
        sign = text[place]
        if quote:
            if sign == "\\":
                place += 1
            elif sign == quote:
                quote = ""
        elif sign in "'\"":
            quote = sign
        elif sign in "[(":
            depth += 1
        elif sign in "])":
            depth -= 1
            if not depth:
                return text[at + 1 : place].strip(), place + 1
        place += 1
    raise JsonPathError(INVALID_PATH, f"Could not parse token starting at position {at}. Expected ?, ', 0-9, * ")


def _bracket_step(content: str, at: int) -> Step:
    if content == "*":
        return Everything()
    if content.startswith("?"):
        try:
            return Filtered(parse_filter(content[1:].strip()))
        except ValueError as problem:
            raise JsonPathError(INVALID_PATH, f"Failed to parse filter: [{content}], {problem}") from None
    if content[:1] in ("'", '"'):
        return Names(_quoted_names(content, at))
    if ":" in content:
        parts = content.split(":")
        if len(parts) != 2 or not all(re.fullmatch(r"\s*(-?\d+)?\s*", part) for part in parts):
            raise JsonPathError(INVALID_PATH, f"Failed to parse SliceOperation: {content}")
        return Range(*(int(part) if part.strip() else None for part in parts))
    if not re.fullmatch(r"\s*-?\d+\s*(,\s*-?\d+\s*)*", content):
        message = f"Could not parse token starting at position {at}. Expected ?, ', 0-9, * "
        raise JsonPathError(INVALID_PATH, message)
    return Places(tuple(map(int, content.split(","))))


def _quoted_names(content: str, at: int) -> tuple[str, ...]:
    names, place = [], 0
    while place < len(content):
        found = _QUOTED.match(content, place)
        if found is None:
            raise JsonPathError(
                INVALID_PATH,
                f"Property must be separated by comma or Property must be terminated "
                f"close square bracket at index {at + 1 + place}",
            )
        names.append(re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2]))
        place = found.end()
    return tuple(names)
