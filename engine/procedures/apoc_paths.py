"""apoc.path.*, apoc.neighbors.* and apoc.algo.*: what can be reached from a node, and the best paths between two."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from itertools import count, islice
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.given_entities import nodes_of
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, illegal_argument
from hoplite.engine.procedures.traversal import UNIQUENESS, Neighbours, Step, Traversal, parse_labels, parse_sides
from hoplite.values.entities import NodeRef, RelationshipRef

Config = dict[str, Any] | None


# --- paths --------------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.path.expand(startNode :: ANY, relFilter :: STRING, labelFilter :: STRING, minDepth :: INTEGER, maxDepth :: "
    "INTEGER) :: (path :: PATH)",
    mode="DEFAULT",
    description="Returns the paths from a node along relationships and labels that filters allow.",
    works_on_system=False,
)
def expand(
    context: Execution, start: Any, relationships: str | None, labels: str | None, least: int | None, most: int | None
) -> Iterator[Row]:
    """No path uses a relationship twice."""
    traversal = Traversal(
        steps=(parse_sides(relationships),),
        labels=(parse_labels(labels),) if labels else (),
        least=-1 if least is None else least,
        most=-1 if most is None else most,
    )
    for step in traversal.paths(context, _positions(context, start)):
        yield (step.path(),)


@cypher_procedure(
    "apoc.path.expandConfig(startNode :: ANY, config :: MAP) :: (path :: PATH)",
    mode="DEFAULT",
    description="Returns the paths from a node that a map of settings describes.",
    works_on_system=False,
)
def expand_config(context: Execution, start: Any, config: Config) -> Iterator[Row]:
    """All settings of the traversal."""
    for step in _configured(context, "apoc.path.expandConfig", start, config):
        yield (None if step is None else step.path(),)


@cypher_procedure(
    "apoc.path.spanningTree(startNode :: ANY, config :: MAP) :: (path :: PATH)",
    mode="DEFAULT",
    description="Returns one path from a node to every node it reaches.",
    works_on_system=False,
)
def spanning_tree(context: Execution, start: Any, config: Config) -> Iterator[Row]:
    """A shortest one."""
    for step in _configured(context, "apoc.path.spanningTree", start, _each_node_once("spanningTree", config)):
        yield (None if step is None else step.path(),)


@cypher_procedure(
    "apoc.path.subgraphNodes(startNode :: ANY, config :: MAP) :: (node :: NODE)",
    mode="DEFAULT",
    description="Returns the nodes that can be reached from a node.",
    works_on_system=False,
)
def subgraph_nodes(context: Execution, start: Any, config: Config) -> Iterator[Row]:
    """Each once."""
    for step in _configured(context, "apoc.path.subgraphNodes", start, _each_node_once("subgraphNodes", config)):
        yield (None if step is None else NodeRef(step.node),)


@cypher_procedure(
    "apoc.path.subgraphAll(startNode :: ANY, config :: MAP) :: (nodes :: LIST<NODE>, relationships :: "
    "LIST<RELATIONSHIP>)",
    mode="DEFAULT",
    description="Returns the nodes that can be reached from a node, and all relationships between them.",
    works_on_system=False,
)
def subgraph_all(context: Execution, start: Any, config: Config) -> Iterator[Row]:
    """One row; it has all relationships between the nodes, whatever the filter."""
    settings = _each_node_once("subgraphAll", config)
    steps = list(_configured(context, "apoc.path.subgraphAll", start, settings))
    nodes = [step.node for step in steps if step is not None]
    among = set(nodes)
    sides, neighbours = parse_sides(">"), Neighbours(context)
    relationships = [
        RelationshipRef(edge) for node in nodes for edge, end in neighbours.of(node, sides) if end in among
    ]
    yield [NodeRef(node) for node in nodes], relationships


def _each_node_once(name: str, config: Config) -> dict[str, Any]:
    least = (config or {}).get("minLevel", 0)
    if least not in (0, 1, -1):
        raise illegal_argument(f"apoc.path.{name}", f"minLevel can only be 0 or 1 in {name}()")
    return {**(config or {}), "uniqueness": "NODE_GLOBAL", "minLevel": least}


def _configured(context: Execution, procedure: str, start: Any, config: Config) -> Iterator[Step | None]:
    """The paths that a map of settings asks for; one null if there is none and `optional` is set."""
    settings = config or {}
    traversal = _traversal(context, procedure, settings)
    limit = int(settings.get("limit", -1))
    found = traversal.paths(context, _positions(context, start))
    empty = True
    for step in islice(found, limit if limit >= 0 else None):
        empty = False
        yield step
    if empty and settings.get("optional"):
        yield None


def _traversal(context: Execution, procedure: str, settings: dict[str, Any]) -> Traversal:
    uniqueness = str(settings.get("uniqueness", "RELATIONSHIP_PATH"))
    if uniqueness not in UNIQUENESS:
        raise illegal_argument(procedure, f"Invalid uniqueness: '{uniqueness}'")
    relationships = str(settings.get("relationshipFilter") or "")
    labels = str(settings.get("labelFilter") or "")
    from_start = settings.get("beginSequenceAtStart", True) is not False
    if sequence := settings.get("sequence"):
        parts = [part.strip() for part in str(sequence).split(",")]
        label_parts, relationship_parts = (parts[::2], parts[1::2]) if from_start else (parts[1::2], parts[::2])
    else:
        label_parts = [part.strip() for part in labels.split(",")] if labels else []
        relationship_parts = [part.strip() for part in relationships.split(",")]

    def among(*names: str) -> frozenset[int] | None:
        given = next((settings[name] for name in names if settings.get(name)), None)
        return None if given is None else frozenset(_positions(context, given))

    return Traversal(
        steps=tuple(parse_sides(part) for part in relationship_parts),
        labels=tuple(parse_labels(part) for part in label_parts),
        least=int(settings.get("minLevel", -1)),
        most=int(settings.get("maxLevel", -1)),
        uniqueness=uniqueness,
        filter_start=bool(settings.get("filterStartNode", False)),
        sequence_from_start=from_start,
        breadth_first=settings.get("bfs", True) is not False,
        ends=among("endNodes"),
        terminators=among("terminatorNodes"),
        allowed=among("allowlistNodes", "whitelistNodes"),
        denied=among("denylistNodes", "blacklistNodes") or frozenset(),
    )


def _positions(context: Execution, given: Any) -> list[int]:
    some = given if isinstance(given, list) else [given]
    return [node.position for node in nodes_of(context, [one for one in some if one is not None])]


# --- neighbours ---------------------------------------------------------------------------------------------------


def _layers(context: Execution, node: NodeRef | None, types: str | None, distance: int | None) -> list[list[int]]:
    """The nodes at 1, 2, ... hops, each at its shortest distance, without the node itself."""
    assert node is not None
    sides, neighbours = parse_sides(types), Neighbours(context)
    seen, layers = {node.position}, [[node.position]]
    while len(layers) <= (1 if distance is None else distance):
        layer = dict.fromkeys(end for one in layers[-1] for _, end in neighbours.of(one, sides) if end not in seen)
        seen.update(layer)
        layers.append(list(layer))
    return layers[1:]


def _asks_nothing(node: NodeRef | None, types: str | None) -> bool:
    """Naming no types means none here rather than all, and then there is no row."""
    return node is None or node.position < 0 or not types


_NEIGHBOURS = "(node :: NODE, relTypes =  :: STRING, distance = 1 :: INTEGER) :: "


@cypher_procedure(
    f"apoc.neighbors.tohop{_NEIGHBOURS}(node :: NODE)",
    mode="DEFAULT",
    description="Returns the nodes within a number of hops.",
    works_on_system=False,
)
def to_hop(context: Execution, node: NodeRef | None, types: str | None, distance: int | None) -> Iterator[Row]:
    """Each once, without the node itself."""
    if _asks_nothing(node, types):
        return
    for layer in _layers(context, node, types, distance):
        yield from ((NodeRef(one),) for one in layer)


@cypher_procedure(
    f"apoc.neighbors.tohop.count{_NEIGHBOURS}(value :: INTEGER)",
    mode="DEFAULT",
    description="Returns the number of nodes within a number of hops.",
    works_on_system=False,
)
def to_hop_count(context: Execution, node: NodeRef | None, types: str | None, distance: int | None) -> Iterator[Row]:
    """One row."""
    if _asks_nothing(node, types):
        return
    yield (sum(map(len, _layers(context, node, types, distance))),)


@cypher_procedure(
    f"apoc.neighbors.byhop{_NEIGHBOURS}(nodes :: LIST<NODE>)",
    mode="DEFAULT",
    description="Returns the nodes at each number of hops.",
    works_on_system=False,
)
def by_hop(context: Execution, node: NodeRef | None, types: str | None, distance: int | None) -> Iterator[Row]:
    """A list for each distance."""
    if _asks_nothing(node, types):
        return
    for layer in _layers(context, node, types, distance):
        yield ([NodeRef(one) for one in layer],)


@cypher_procedure(
    f"apoc.neighbors.byhop.count{_NEIGHBOURS}(value :: LIST<ANY>)",
    mode="DEFAULT",
    description="Returns the number of nodes at each number of hops.",
    works_on_system=False,
)
def by_hop_count(context: Execution, node: NodeRef | None, types: str | None, distance: int | None) -> Iterator[Row]:
    """One row."""
    if _asks_nothing(node, types):
        return
    yield ([len(layer) for layer in _layers(context, node, types, distance)],)


@cypher_procedure(
    f"apoc.neighbors.athop{_NEIGHBOURS}(node :: NODE)",
    mode="DEFAULT",
    description="Returns the nodes at a number of hops.",
    works_on_system=False,
)
def at_hop(context: Execution, node: NodeRef | None, types: str | None, distance: int | None) -> Iterator[Row]:
    """Those with exactly this shortest distance."""
    if _asks_nothing(node, types):
        return
    for layer in _layers(context, node, types, distance)[-1:]:
        yield from ((NodeRef(one),) for one in layer)


@cypher_procedure(
    f"apoc.neighbors.athop.count{_NEIGHBOURS}(value :: INTEGER)",
    mode="DEFAULT",
    description="Returns the number of nodes at a number of hops.",
    works_on_system=False,
)
def at_hop_count(context: Execution, node: NodeRef | None, types: str | None, distance: int | None) -> Iterator[Row]:
    """One row."""
    if _asks_nothing(node, types):
        return
    yield (sum(map(len, _layers(context, node, types, distance)[-1:])),)


# --- the best paths between two nodes ---------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.algo.dijkstra(startNode :: NODE, endNode :: NODE, relTypesAndDirections :: STRING, weightPropertyName :: "
    "STRING, defaultWeight = NaN :: FLOAT, numberOfWantedPaths = 1 :: INTEGER) :: (path :: PATH, weight :: FLOAT)",
    mode="DEFAULT",
    description="Returns the paths of least total weight between two nodes.",
    works_on_system=False,
)
def dijkstra(
    context: Execution, start: NodeRef, end: NodeRef, types: str, weight: str, default: float, wanted: int
) -> Iterator[Row]:
    """A relationship without a weight counts with the default."""
    if start is None or end is None:
        raise call_failed("apoc.algo.dijkstra", "java.lang.NullPointerException", "a node to search between is null")
    sides, neighbours, order = parse_sides(types), Neighbours(context), count()
    waiting: list[tuple[float, int, Step]] = [(0.0, next(order), Step(start.position))]
    visits: dict[int, int] = {}
    while waiting:
        cost, _, step = heapq.heappop(waiting)
        context.check_time()
        if visits.get(step.node, 0) >= wanted:
            continue
        visits[step.node] = visits.get(step.node, 0) + 1
        if step.node == end.position:
            yield step.path(), cost
            if visits[step.node] >= wanted:
                return
            continue
        found = neighbours.of(step.node, sides)
        if not found:
            continue
        edges = np.array([edge for edge, _ in found], np.int64)
        held = context.graph.relationship_property(edges, weight or "").objects()
        for (edge, node), value in zip(found, held, strict=True):
            further = default if value is None else float(value)
            if any(one.node == node for one in step.back()):
                continue
            heapq.heappush(waiting, (cost + further, next(order), Step(node, edge, step, step.length + 1)))


@cypher_procedure(
    "apoc.algo.allSimplePaths(startNode :: NODE, endNode :: NODE, relTypesAndDirections :: STRING, maxNodes :: "
    "INTEGER) :: (path :: PATH)",
    mode="DEFAULT",
    description="Returns the paths between two nodes that visit no node twice.",
    works_on_system=False,
)
def all_simple_paths(
    context: Execution, start: NodeRef | None, end: NodeRef | None, types: str | None, longest: int
) -> Iterator[Row]:
    """Up to a number of relationships."""
    if start is None or end is None:
        raise call_failed(
            "apoc.algo.allSimplePaths", "java.lang.NullPointerException", "a node to search between is null"
        )
    traversal = Traversal(steps=(parse_sides(types),), most=longest, uniqueness="NODE_PATH")
    for step in traversal.paths(context, [start.position]):
        if step.node == end.position:
            yield (step.path(),)
