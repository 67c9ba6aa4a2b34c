"""The leaves of syntax trees: constants, names, lengths, and the spans that all nodes carry."""

from __future__ import annotations

from dataclasses import field
from enum import Enum
from typing import Annotated, Any, Final

from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` to `end` (exclusive) of the query text."""

    start: int
    end: int


NOWHERE = Span(0, 0)

OPAQUE: Final = "opaque"
"""Marks a field, by `Annotated`, as a value that walks over trees do not look into."""


def unseen_span() -> Span:
    """A field for the span of a node. It is neither compared nor shown."""
    return field(default=NOWHERE, compare=False, repr=False)


class Direction(Enum):
    """Which way a relationship pattern points, read from left to right."""

    OUTGOING = "->"
    INCOMING = "<-"
    BOTH = "--"

    __hash__ = object.__hash__  # every query hashes directions, and Enum's own hash is written in Python

    @property
    def reversed(self) -> Direction:
        """The same pattern read from right to left."""
        return _REVERSED[self]


_REVERSED = {
    Direction.OUTGOING: Direction.INCOMING,
    Direction.INCOMING: Direction.OUTGOING,
    Direction.BOTH: Direction.BOTH,
}


@dataclass(frozen=True, slots=True)
class Literal:
    """`null`, a boolean, an integer, a float or a string."""

    value: bool | int | float | str | None
    span: Span = unseen_span()

    def __eq__(self, other: object) -> bool:  # 1, 1.0 and true are different literals
        return isinstance(other, Literal) and type(self.value) is type(other.value) and self.value == other.value

    def __hash__(self) -> int:
        return hash((type(self.value), self.value))


@dataclass(frozen=True, slots=True)
class ConstantList:
    """A long list of constants: numbers, strings, lists and maps of them, as values. Shorter ones are ListLiterals."""

    value: Annotated[list[Any], OPAQUE]
    span: Span = unseen_span()

    def __eq__(self, other: object) -> bool:  # compared by type, like literals, at any depth
        return isinstance(other, ConstantList) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(len(self.value))


@dataclass(frozen=True, slots=True)
class Parameter:
    """`$name` or `$0`"""

    name: str
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Variable:
    """A name that stands for a value."""

    name: str
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type as written after `IS ::`: `INTEGER`, `LIST<STRING NOT NULL>`, `INTEGER | FLOAT`.

    `name` is the normalised upper-case name (`ZONED DATETIME`, `LIST`, `ANY`, `PROPERTY VALUE`, `UNION` ...);
    `arguments` holds the element type of a LIST, or the alternatives of a UNION.
    """

    name: str
    arguments: tuple[TypeName, ...] = ()
    not_null: bool = False
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Hops:
    """The `*lower..upper` of a variable-length relationship as written; None for a missing bound.

    `*` is Hops(None, None), `*3` is Hops(3, 3), `*..2` is Hops(None, 2).
    """

    lower: int | None
    upper: int | None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Repetition:
    """A quantifier after a path pattern or relationship: `{lower,upper}`, `+`, `*`; upper None is unbounded."""

    lower: int
    upper: int | None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Hint:
    """`USING INDEX n:Label(key)`, `USING SCAN n:Label`, `USING JOIN ON n`; only its notification uses it."""

    kind: str  # INDEX, TEXT INDEX, RANGE INDEX, POINT INDEX, SCAN, JOIN
    variables: tuple[Variable, ...]
    label: str | None = None
    keys: tuple[str, ...] = ()
    span: Span = unseen_span()
