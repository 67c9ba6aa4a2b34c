"""Random small multigraphs: self-loops, parallel relationships, few names, many absent properties, mixed types.

Every node and relationship has a number of its own in `id`, so that both sides of a comparison can name it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from neo4j.time import Date, Duration

from tests.neo4j.choices import Choices

LABELS = ("A", "B", "C")
TYPES = ("R", "S", "T")
NODE_COUNTS = (0, 1, 2, 3, 4, 5, 6, 4, 5, 6, 5, 6)
RELATIONSHIP_COUNTS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 6, 7, 8, 9, 10, 11, 8, 9, 10)
INTEGERS = (0, 1, 2, -1, 3)
STRINGS = ("a", "b", "", "ab", "B")
# No NaN: whether two of them are one group depends on whether rows share the value, see known_defects.py.
ANYTHING: tuple[Any, ...] = (
    1,
    "a",
    True,
    2.5,
    [1, 2],
    -1,
    "1",
    float("inf"),
    0,
    [],
    False,
    1.0,
    Date(2024, 2, 29),
    Duration(days=1),
)
DATES = (Date(2024, 2, 29), Date(2023, 12, 31), Date(1970, 1, 1))


@dataclass(frozen=True, slots=True)
class RandomGraph:
    """Rows as parameters: nodes (labels, properties), relationships (start, type, end, properties) by node number."""

    nodes: tuple[tuple[tuple[str, ...], dict[str, Any]], ...]
    relationships: tuple[tuple[int, str, int, dict[str, Any]], ...]

    def create_statement(self) -> str:
        """The graph as one readable CREATE; empty where there is nothing."""
        parts = [f"(n{number}{_labels(labels)} {_map(held)})" for number, (labels, held) in enumerate(self.nodes)]
        parts += [f"(n{start})-[:{kind} {_map(held)}]->(n{end})" for start, kind, end, held in self.relationships]
        return "CREATE " + ", ".join(parts) if parts else ""


def _labels(labels: tuple[str, ...]) -> str:
    return "".join(f":{label}" for label in labels)


def _map(properties: dict[str, Any]) -> str:
    return "{" + ", ".join(f"{key}: {literal(value)}" for key, value in properties.items()) + "}"


def literal(value: Any) -> str:
    """A value as Cypher."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case list():
            return "[" + ", ".join(map(literal, value)) + "]"
        case float() if math.isinf(value):
            return "Infinity"
        case Date():
            return f"date('{value.iso_format()}')"
        case Duration():
            return f"duration('{value.iso_format()}')"
    return repr(value)


def random_graph(choices: Choices) -> RandomGraph:
    """A graph of up to six nodes and eleven relationships."""
    nodes = []
    for number in range(choices.pick(NODE_COUNTS)):
        labels = tuple(label for label in LABELS if choices.chance(55))
        nodes.append((labels, {"id": number, **_properties(choices, node=True)}))
    relationships: list[tuple[int, str, int, dict[str, Any]]] = []
    if nodes:
        for number in range(choices.pick(RELATIONSHIP_COUNTS)):
            start, end = choices.below(len(nodes)), choices.below(len(nodes))
            if relationships and choices.chance(20):
                start, _, end, _ = relationships[-1]  # parallel to the one before
            kind = choices.pick(TYPES)
            relationships.append((start, kind, end, {"id": 100 + number, **_properties(choices, node=False)}))
    return RandomGraph(tuple(nodes), tuple(relationships))


def _properties(choices: Choices, node: bool) -> dict[str, Any]:
    held: dict[str, Any] = {}
    if choices.chance(70):
        held["x"] = choices.pick(INTEGERS)
    if choices.chance(60):
        held["s"] = choices.pick(STRINGS)
    if node and choices.chance(40):
        held["l"] = [choices.pick(INTEGERS) for _ in range(choices.below(4))]
    if choices.chance(40):
        held["m"] = choices.pick(ANYTHING)
    if choices.chance(30):
        held["d"] = choices.pick(DATES)
    return held
