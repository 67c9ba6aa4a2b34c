"""apoc.coll.elements: the elements of a list in columns."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef

_NULL = "java.lang.NullPointerException"


_KINDS: tuple[tuple[str, str, Any], ...] = (
    ("", "ANY", object),
    ("s", "STRING", str),
    ("i", "INTEGER", int),
    ("f", "FLOAT", float),
    ("b", "BOOLEAN", bool),
    ("l", "LIST<ANY>", list),
    ("m", "MAP", dict),
    ("n", "NODE", NodeRef),
    ("r", "RELATIONSHIP", RelationshipRef),
    ("p", "PATH", PathValue),
)
_ELEMENTS = ", ".join(f"_{place}{ending} :: {name}" for ending, name, _ in _KINDS for place in range(1, 11))


@cypher_procedure(
    "apoc.coll.elements(coll :: LIST<ANY>, limit = -1 :: INTEGER, offset = 0 :: INTEGER) :: "
    f"({_ELEMENTS}, elements :: INTEGER)",
    mode="DEFAULT",
    description="Returns the first ten elements of a list in columns, by type.",
    works_on_system=False,
)
def elements(context: Execution, values: list[Any] | None, limit: int, offset: int) -> Iterator[Row]:
    """One row."""
    if values is None:
        message = 'Cannot invoke "java.util.List.size()" because "list" is null'
        raise call_failed("apoc.coll.elements", _NULL, message)
    if offset < 0:
        message = f"Index {offset} out of bounds for length {len(values)}"
        raise call_failed("apoc.coll.elements", "java.lang.IndexOutOfBoundsException", message)
    chosen = values[offset:] if limit < 0 else values[offset : offset + limit]
    shown = [*chosen[:10], *[None] * 10][:10]
    found = [_of_kind(value, kind) for _, _, kind in _KINDS for value in shown]
    yield (*found, len(chosen))


def _of_kind(value: Any, kind: Any) -> Any:
    """The value, if it is of the kind; a Boolean is not a number, but any number counts as a float."""
    if kind is object:
        return value
    if isinstance(value, bool):
        return value if kind is bool else None
    if kind is float and isinstance(value, int):
        return float(value)
    if kind is int and isinstance(value, float):
        return int(value)
    return value if isinstance(value, kind) else None
