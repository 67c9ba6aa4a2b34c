"""What Cypher says, in the slowest and plainest way: the matcher that every kernel and operator is held to.

A graph is a list of nodes and a list of relationships (id, start, type, end). A trail is a walk that uses no
relationship twice, given as (relationship ids, nodes after each of them).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import Literal, NamedTuple, TypeAlias

Side: TypeAlias = Literal["->", "<-", "--"]
Trail: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]

# (relationship id, node stepped from, node stepped to) -> may this step be taken?
Allowed: TypeAlias = Callable[[int, int, int], bool]


class Relationship(NamedTuple):
    id: int
    start: int
    type: int
    end: int


class Graph(NamedTuple):
    nodes: list[int]
    relationships: list[Relationship]


def always(relationship: int, from_node: int, to_node: int) -> bool:
    return True


def steps(
    graph: Graph, node: int, side: Side, types: Collection[int] | None = None, allowed: Allowed = always
) -> Iterator[tuple[int, int]]:
    """(relationship id, neighbour) for every relationship of the node; a self-loop once."""
    for relationship in graph.relationships:
        if types is not None and relationship.type not in types:
            continue
        forwards = side != "<-" and relationship.start == node
        backwards = side != "->" and relationship.end == node
        neighbour = relationship.end if forwards else relationship.start
        if (forwards or backwards) and allowed(relationship.id, node, neighbour):
            yield relationship.id, neighbour


def trails(
    graph: Graph,
    start: int,
    lower: int,
    upper: int | None,
    side: Side,
    types: Collection[int] | None = None,
    allowed: Allowed = always,
    used: tuple[int, ...] = (),
) -> Iterator[Trail]:
    """All trails of lower .. upper relationships; none of them takes a relationship of `used`."""
    if lower <= 0:
        yield (), ()
    if upper is not None and upper <= 0:
        return
    for relationship, neighbour in steps(graph, start, side, types, allowed):
        if relationship not in used:
            shorter = None if upper is None else upper - 1
            rest = trails(graph, neighbour, lower - 1, shorter, side, types, allowed, (*used, relationship))
            for relationships, nodes in rest:
                yield (relationship, *relationships), (neighbour, *nodes)


def end_of(start: int, trail: Trail) -> int:
    return trail[1][-1] if trail[1] else start


def shortest(
    graph: Graph,
    start: int,
    end: int,
    upper: int | None,
    side: Side,
    types: Collection[int] | None = None,
    allowed: Allowed = always,
) -> list[Trail]:
    """All shortest trails between two nodes."""
    found = [t for t in trails(graph, start, 0, upper, side, types, allowed) if end_of(start, t) == end]
    length = min((len(trail[0]) for trail in found), default=0)
    return [trail for trail in found if len(trail[0]) == length]
