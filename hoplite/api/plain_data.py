"""Rows as dictionaries of plain values, as `neo4j.Record.data` gives them:

    node           {"name": "Aspirin"}                             its properties
    relationship   ({"name": "Aspirin"}, "TREATS", {...})          with the properties of its ends
    path           [{...}, "TREATS", {...}]                        nodes and types in turn
    list, map      the same of what is in them
    anything else  as it is

The driver creates an object and makes ten checks for each value of each row. Most columns hold only numbers or texts,
which need no checks, and no driver either.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from hoplite.api.hydrate import PLAIN_COLUMNS, PLAIN_TYPES
from hoplite.values.columns import Column

if TYPE_CHECKING:
    from neo4j.graph import Node, Path, Relationship

_AS_IT_IS = PLAIN_TYPES | {bytes}
_BROKEN = "BrokenHydrationObject"  # the marker for a value that the driver does not know


def plain_rows(
    names: Sequence[str], columns: Sequence[tuple[Column | None, Sequence[Any]]], row_count: int
) -> list[dict[str, Any]] | None:
    """The rows of these columns, each given as the driver's values and, if there is one, the column itself; None if
    reading a value is an error."""
    plain = []
    for column, values in columns:
        if not isinstance(column, PLAIN_COLUMNS):
            if any(type(value).__name__ == _BROKEN for value in values):
                return None
            values = [value if type(value) in _AS_IT_IS else _plain(value) for value in values]
        plain.append(values)
    if len(plain) == 1:
        name = names[0]
        return [{name: value} for value in plain[0]]
    if not plain:
        return [{} for _ in range(row_count)]
    return [dict(zip(names, row, strict=True)) for row in zip(*plain, strict=True)]


def _plain(value: Any) -> Any:
    kind = type(value)
    if kind in _AS_IT_IS:
        return value
    if kind is list:
        return [_plain(item) for item in value]
    if kind is dict:
        return {key: _plain(item) for key, item in value.items()}
    node, relationship, path = _entities()
    if isinstance(value, node):
        properties = dict(value.items())
        if _AS_IT_IS.issuperset(map(type, properties.values())):
            return properties
        return {key: _plain(item) for key, item in properties.items()}
    if isinstance(value, relationship):
        return _plain(value.start_node), kind.__name__, _plain(value.end_node)
    if isinstance(value, path):
        parts = [_plain(value.nodes[0])]
        for step, end in zip(value.relationships, value.nodes[1:], strict=True):
            parts += [type(step).__name__, _plain(end)]
        return parts
    return value


@cache
def _entities() -> tuple[type[Node], type[Relationship], type[Path]]:
    """The driver's classes, looked up once: many values are tested against them."""
    from neo4j.graph import Node, Path, Relationship

    return Node, Relationship, Path
