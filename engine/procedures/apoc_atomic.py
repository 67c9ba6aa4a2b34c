"""apoc.atomic.*: read, change and write back one property. The statement's transaction keeps others from changing
it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.entities import properties_of
from hoplite.engine.functions.strings import string_of
from hoplite.engine.procedures.apoc_cypher import run_query
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.values.entities import NodeRef, RelationshipRef, VirtualNode, VirtualRelationship

_OUTPUTS = "(container :: ANY, property :: STRING, oldValue :: ANY, newValue :: ANY)"
_LONG = 1 << 64


def _changed(
    context: Execution, procedure: str, container: Any, key: str, change: Callable[[Any], tuple[Any, Any]]
) -> Iterator[Row]:
    """`change` returns the old value, as it is reported, and the new one."""
    if not isinstance(container, NodeRef | RelationshipRef) or isinstance(container, VirtualNode | VirtualRelationship):
        raise call_failed(procedure, "java.lang.RuntimeException", "You Must pass Node or Relationship")
    held = properties_of(context, container)
    if key not in held:
        raise _missing(procedure, key)
    old, new = change(held[key])
    writer = writer_of(context)
    if isinstance(container, NodeRef):
        writer.set_node_property(container.position, key, new)
    else:
        writer.set_relationship_property(container.position, key, new)
    if new is None:
        raise _missing(procedure, key)  # APOC reads the property again to report it
    yield container, key, old, new


def _missing(procedure: str, key: str) -> Exception:
    return call_failed(procedure, "org.neo4j.graphdb.NotFoundException", f"No such property, '{key}'.")


def _number(procedure: str, value: Any) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise call_failed(procedure, "java.lang.ClassCastException", "the property is not a number")
    return value


def _summed(procedure: str, sign: int, number: int | float | None) -> Callable[[Any], tuple[Any, Any]]:
    def change(old: Any) -> tuple[Any, Any]:
        if number is None:
            raise call_failed(procedure, "java.lang.NullPointerException", "the number is null")
        held = _number(procedure, old)
        if isinstance(held, float):
            return held, held + sign * float(number)
        # Java's arithmetic on longs: the addend loses its fraction, and the sum wraps around.
        total = held + sign * int(number)
        return held, (total + _LONG // 2) % _LONG - _LONG // 2

    return change


@cypher_procedure(
    "apoc.atomic.add(container :: ANY, propertyName :: STRING, number :: INTEGER | FLOAT, retryAttempts = 5 :: INTEGER)"
    f" :: {_OUTPUTS}",
    mode="WRITE",
    description="Adds a number to a property.",
    works_on_system=False,
)
def add(context: Execution, container: Any, key: str, number: int | float | None, _: int) -> Iterator[Row]:
    """An integer stays one."""
    name = "apoc.atomic.add"
    yield from _changed(context, name, container, key, _summed(name, 1, number))


@cypher_procedure(
    "apoc.atomic.subtract(container :: ANY, propertyName :: STRING, number :: INTEGER | FLOAT, retryAttempts = 5 ::"
    f" INTEGER) :: {_OUTPUTS}",
    mode="WRITE",
    description="Subtracts a number from a property.",
    works_on_system=False,
)
def subtract(context: Execution, container: Any, key: str, number: int | float | None, _: int) -> Iterator[Row]:
    """An integer stays one."""
    name = "apoc.atomic.subtract"
    yield from _changed(context, name, container, key, _summed(name, -1, number))


@cypher_procedure(
    "apoc.atomic.concat(container :: ANY, propertyName :: STRING, string :: STRING, retryAttempts = 5 :: INTEGER)"
    f" :: {_OUTPUTS}",
    mode="WRITE",
    description="Appends a string to a property.",
    works_on_system=False,
)
def concat(context: Execution, container: Any, key: str, text: str | None, _: int) -> Iterator[Row]:
    """A property that is not a string becomes one."""
    name = "apoc.atomic.concat"

    def change(old: Any) -> tuple[Any, Any]:
        if text is None:
            raise call_failed(name, "java.lang.NullPointerException", "the text is null")
        shown = str(string_of(old))
        return shown, shown + text

    yield from _changed(context, name, container, key, change)


@cypher_procedure(
    "apoc.atomic.insert(container :: ANY, propertyName :: STRING, position :: INTEGER, value :: ANY, retryAttempts = 5"
    f" :: INTEGER) :: {_OUTPUTS}",
    mode="WRITE",
    description="Inserts a value into a property that is a list.",
    works_on_system=False,
)
def insert(context: Execution, container: Any, key: str, position: int, value: Any, _: int) -> Iterator[Row]:
    """A single value counts as a list of one element; a position beyond the end is the end."""
    name = "apoc.atomic.insert"

    def change(old: Any) -> tuple[Any, Any]:
        if position is None or position < 0:
            raise call_failed(name, "java.lang.IndexOutOfBoundsException", f"Index: {position}")
        items = list(old) if isinstance(old, list) else [old]
        if any(type(item) is not type(value) for item in items):
            kind = "java.lang.ArrayStoreException"
            raise call_failed(name, kind, "the value has another type than the values of the property")
        return old, [*items[:position], value, *items[position:]]

    yield from _changed(context, name, container, key, change)


@cypher_procedure(
    "apoc.atomic.remove(container :: ANY, propertyName :: STRING, position :: INTEGER, retryAttempts = 5 :: INTEGER)"
    f" :: {_OUTPUTS}",
    mode="WRITE",
    description="Removes a value from a property that is a list.",
    works_on_system=False,
)
def remove(context: Execution, container: Any, key: str, position: int, _: int) -> Iterator[Row]:
    """By its position."""
    name = "apoc.atomic.remove"

    def change(old: Any) -> tuple[Any, Any]:
        if not isinstance(old, list):
            raise illegal_argument(name, f"Not an array {string_of(old)}")
        if position is None or not 0 <= position < len(old):
            message = f"Position {position} is out of range for array of length {len(old)}"
            raise call_failed(name, "java.lang.RuntimeException", message)
        return old, [*old[:position], *old[position + 1 :]]

    yield from _changed(context, name, container, key, change)


@cypher_procedure(
    "apoc.atomic.update(container :: ANY, propertyName :: STRING, operation :: STRING, retryAttempts = 5 :: INTEGER)"
    f" :: {_OUTPUTS}",
    mode="WRITE",
    description="Sets a property to the value of a Cypher expression, in which `n` is the node or relationship.",
    works_on_system=False,
)
def update(context: Execution, container: Any, key: str, operation: str, _: int) -> Iterator[Row]:
    """`apoc.atomic.update(a, 'age', 'n.age * 2')` doubles the age."""
    name = "apoc.atomic.update"

    def change(old: Any) -> tuple[Any, Any]:
        (row,) = run_query(context, name, f"RETURN {operation} AS value", {"n": container})
        return old, row["value"]

    yield from _changed(context, name, container, key, change)
