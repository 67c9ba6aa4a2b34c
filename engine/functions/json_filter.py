"""The conditions in `[?(...)]` of a JSONPath: `@.price < 10 && @.tags contains 'x'`."""

from __future__ import annotations

import json
import re
from typing import Any, Protocol

from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class PathNode:
    """A path from the current item, or from the root."""

    text: str
    from_root: bool


class Paths(Protocol):
    """Resolves paths and matches patterns."""

    def value_of(self, node: PathNode, item: Any) -> Any: ...

    def exists(self, node: PathNode, item: Any) -> bool: ...

    def matches(self, pattern: str, text: str) -> bool: ...


class Filter(Protocol):
    """A condition on an item."""

    def holds(self, item: Any, paths: Paths) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Pattern:
    text: str


@dataclass(frozen=True, slots=True)
class _All:
    parts: tuple[Filter, ...]

    def holds(self, item: Any, paths: Paths) -> bool:
        return all(part.holds(item, paths) for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Any:
    parts: tuple[Filter, ...]

    def holds(self, item: Any, paths: Paths) -> bool:
        return any(part.holds(item, paths) for part in self.parts)


@dataclass(frozen=True, slots=True)
class _Not:
    part: Filter

    def holds(self, item: Any, paths: Paths) -> bool:
        return not self.part.holds(item, paths)


@dataclass(frozen=True, slots=True)
class _Exists:
    path: PathNode

    def holds(self, item: Any, paths: Paths) -> bool:
        return paths.exists(self.path, item)


@dataclass(frozen=True, slots=True)
class _Comparison:
    left: Any
    operator: str
    right: Any

    def holds(self, item: Any, paths: Paths) -> bool:
        left, right = (
            paths.value_of(side, item) if isinstance(side, PathNode) else side for side in (self.left, self.right)
        )
        match self.operator:
            case "==" | "===":
                return _equal(left, right)
            case "!=" | "!==":
                return not _equal(left, right)
            case "<" | "<=" | ">" | ">=":
                return _ordered(left, right, self.operator)
            case "=~":
                return _matched(left, right, paths)
            case _:
                return _related(left, right, self.operator)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _equal(left: Any, right: Any) -> bool:
    if _is_number(left) and _is_number(right):
        return bool(left == right)
    return type(left) is type(right) and bool(left == right)


def _ordered(left: Any, right: Any, operator: str) -> bool:
    if not ((_is_number(left) and _is_number(right)) or (isinstance(left, str) and isinstance(right, str))):
        return False
    return bool(
        (left < right and operator in ("<", "<="))
        or (left > right and operator in (">", ">="))
        or (left == right and operator in ("<=", ">="))
    )


def _matched(left: Any, right: Any, paths: Paths) -> bool:
    pattern, text = (left, right) if isinstance(left, _Pattern) else (right, left)
    return isinstance(pattern, _Pattern) and isinstance(text, str) and paths.matches(pattern.text, text)


def _has(members: Any, value: Any) -> bool:
    return isinstance(members, list) and any(_equal(member, value) for member in members)


def _related(left: Any, right: Any, operator: str) -> bool:
    match operator:
        case "in":
            return _has(right, left)
        case "nin":
            return not _has(right, left)
        case "contains":
            return right in left if isinstance(left, str) and isinstance(right, str) else _has(left, right)
        case "size":
            return isinstance(left, str | list) and _equal(len(left), right)
        case "empty":
            return isinstance(left, str | list | dict) and (len(left) == 0) is right
        case "subsetof":
            return isinstance(left, list) and all(_has(right, member) for member in left)
        case "anyof":
            return isinstance(left, list) and any(_has(right, member) for member in left)
        case _:
            return isinstance(left, list) and not any(_has(right, member) for member in left)


# --- reading ---

_OPERATOR = lazy_pattern(r"===|!==|==|!=|<=|>=|=~|<|>|(?:subsetof|contains|noneof|anyof|empty|size|nin|in)\b", re.I)
_NUMBER = lazy_pattern(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = lazy_pattern(r"(true|false|null)\b")
_TEXT = lazy_pattern(r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\"""")
_REGEX = lazy_pattern(r"/((?:[^/\\]|\\.)*)/([a-zA-Z]*)")
_PATH_STEP = lazy_pattern(r"""\.\.?(?:\*|[\w-]+)(?:\(\))?|\[(?:'[^']*'|"[^"]*"|[^\]'"])*\]|\.\.""")


def parse_filter(text: str) -> Filter:
    """The condition in `?(...)`; raises ValueError if it is not one."""
    if not (text.startswith("(") and text.endswith(")")):
        raise ValueError("expected (...)")
    reader = _FilterReader(text[1:-1])
    found = reader.alternatives()
    if reader.rest():
        raise ValueError(f"unexpected {reader.rest()}")
    return found


class _FilterReader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def rest(self) -> str:
        return self._text[self._at :].strip()

    def _take(self, sign: str) -> bool:
        self._skip()
        if not self._text.startswith(sign, self._at):
            return False
        self._at += len(sign)
        return True

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._skip()
        found = pattern.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        return found

    def alternatives(self) -> Filter:
        parts = [self._conjunction()]
        while self._take("||"):
            parts.append(self._conjunction())
        return parts[0] if len(parts) == 1 else _Any(tuple(parts))

    def _conjunction(self) -> Filter:
        parts = [self._condition()]
        while self._take("&&"):
            parts.append(self._condition())
        return parts[0] if len(parts) == 1 else _All(tuple(parts))

    def _condition(self) -> Filter:
        if self._take("!"):
            return _Not(self._condition())
        if self._take("("):
            inner = self.alternatives()
            if not self._take(")"):
                raise ValueError("expected )")
            return inner
        left = self._value()
        operator = self._match(_OPERATOR)
        if operator is None:
            if not isinstance(left, PathNode):
                raise ValueError("expected an operator")
            return _Exists(left)
        return _Comparison(left, operator[0].lower(), self._value())

    def _value(self) -> Any:
        self._skip()
        if self._text[self._at : self._at + 1] in ("@", "$"):
            begin = self._at
            self._at += 1
            while (step := _PATH_STEP.match(self._text, self._at)) is not None:
                self._at = step.end()
            return PathNode("$" + self._text[begin + 1 : self._at], self._text[begin] == "$")
        if found := self._match(_TEXT):
            return re.sub(r"\\(.)", r"\1", found[1] if found[1] is not None else found[2])
        if found := self._match(_NUMBER):
            return json.loads(found[0])
        if found := self._match(_WORD):
            return json.loads(found[0])
        if found := self._match(_REGEX):
            return _Pattern(f"(?{found[2]}){found[1]}" if found[2] else found[1])
        if self._take("["):
            return self._members()
        raise ValueError(f"unexpected {self.rest()}")

    def _members(self) -> list[Any]:
        members: list[Any] = []
        while not self._take("]"):
            members.append(self._value())
            if not self._take(",") and not self._text.startswith("]", self._at):
                raise ValueError("expected , or ]")
        return members
