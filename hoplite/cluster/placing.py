"""Where a plan runs: whole on one worker, with its hops across all workers, or in the leading process.

Hops go across workers if they are searches without conditions on the way, which run level by level or, for trails, from
the nodes of their first step, and are likely to be wide enough that the work outweighs a message to every worker per
level. Everything else runs whole on one worker.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from hoplite.engine.hops.interface import Positions
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner import physical as pp
from hoplite.planner.parts import PhysicalPlan, Traversal
from hoplite.storage.snapshot import Snapshot

Split = Literal["auto", "never", "always"]

# From this many expected steps, several workers share a search.
WIDE_STEPS = 200_000

_SEARCHES_ALONE = (pp.Repeat, pp.SelectShortest, pp.FollowBound)
_SEARCHES = (pp.Reach, pp.Trails, pp.ShortestPaths, pp.ShortestTrails)
_STAYS = (pp.CallProcedure, pp.LoadCsv, pp.Show, pp.Write, pp.InTransactions, pp.Drain)


class Place(NamedTuple):
    """Where a plan runs, and why."""

    where: Literal["here", "one worker", "across workers"]
    reason: str


def place_of(plan: pp.Plan, graph: Snapshot, split: Split) -> Place:
    """Where to run a plan."""
    nodes = [node for node in walk(plan) if isinstance(node, PhysicalPlan)]
    for node in nodes:
        if isinstance(node, _STAYS):
            return Place("here", f"{type(node).__name__} needs what only this process has")
    if split == "never":
        return Place("one worker", "hops are not to be split")
    for node in nodes:
        if isinstance(node, _SEARCHES_ALONE):
            return Place("one worker", f"{type(node).__name__} follows relationships one by one")
        if isinstance(node, _SEARCHES) and _asks_of_steps(node):
            return Place("one worker", "conditions on each step are evaluated where it runs")
        if isinstance(node, pp.Trails) and node.into:
            return Place("one worker", "trails to a given node are guided by their distance to it")
    searches = [node for node in nodes if isinstance(node, _SEARCHES)]
    if not searches:
        return Place("one worker", "there is no search to split")
    steps = max(steps_of(node.traversal, graph) for node in searches)
    if split == "auto" and steps < WIDE_STEPS:
        return Place("one worker", f"a search takes about {steps:,.0f} steps, too few to be split")
    return Place("across workers", f"a search takes about {steps:,.0f} steps")


def _asks_of_steps(node: pp.Reach | pp.Trails | pp.ShortestPaths | pp.ShortestTrails) -> bool:
    """Whether a search has conditions on its way."""
    match node:
        case pp.Reach(step=step, distinct_from=others):
            return step is not None or bool(others)
        case pp.Trails(step=step):
            return step is not None
        case pp.ShortestPaths(step=step, predicates=predicates) | pp.ShortestTrails(step=step, predicates=predicates):
            return step is not None or bool(predicates)


def steps_of(traversal: Traversal, graph: Snapshot) -> float:
    """Approximately how many steps a search from one node takes."""
    count = graph.relationship_count
    if traversal.types is not None:
        count = sum(graph.type_count(name) for name in traversal.types)
    return likely_steps(count / max(graph.node_count, 1), traversal.upper, count)


def likely_steps(degree: float, upper: int | None, relationship_count: int) -> float:
    """How many steps that is for nodes of this degree."""
    levels = 64 if upper is None else min(upper, 64)
    total, width = 0.0, 1.0
    for _ in range(levels):
        width *= max(degree, 1.0)
        total += width
        if total >= relationship_count:
            return float(relationship_count)
    return total


def seeds_of(plan: pp.Plan, graph: Snapshot, parameters: Mapping[str, Any]) -> Positions | None:
    """The start nodes of a plan, if it starts at a few that a literal or a parameter names."""
    for node in walk(plan):
        match node:
            case pp.ParameterSeek(label=label, key=key, value=value):
                return graph.seek_nodes(label, key, [parameters.get(value.name)])[1]
            case pp.ElementsSeek(label=label, key=key, elements=elements):
                listed = parameters.get(elements.name)
                return graph.seek_nodes(label, key, listed[:16])[1] if isinstance(listed, list) else None
            case pp.IndexSeek(label=label, key=key, value=value, many=False):
                match value:
                    case ast.Literal(value=literal):
                        return graph.seek_nodes(label, key, [literal])[1]
                    case ast.Parameter(name=name):
                        return graph.seek_nodes(label, key, [parameters.get(name)])[1]
                return None
    return None
