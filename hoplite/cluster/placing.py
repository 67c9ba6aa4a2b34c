"""Where a plan runs: whole on one worker, with its hops across all of them, or in the process that leads them.

Hops go across workers where they are searches without conditions on their way, which are taken a level at a time or,
for trails, from where their first step leads, and are likely to be so wide that the work outweighs a message to every
worker for each level. Everything else runs whole on one worker.
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

# Steps that a search is likely to take, from which on several workers share it.
WIDE_STEPS = 200_000

_SEARCHES_ALONE = (pp.Repeat, pp.SelectShortest, pp.FollowBound)
_SEARCHES = (pp.Reach, pp.Trails, pp.ShortestPaths, pp.ShortestTrails)
_STAYS = (pp.CallProcedure, pp.LoadCsv, pp.Show, pp.Write, pp.InTransactions, pp.Drain)


class Place(NamedTuple):
    """Where, and why."""

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
            return Place("one worker", "what is asked of each step is looked up where it runs")
        if isinstance(node, pp.Trails) and node.into:
            return Place("one worker", "trails to a given node are led by their distance to it")
    searches = [node for node in nodes if isinstance(node, _SEARCHES)]
    if not searches:
        return Place("one worker", "there is no search to be split")
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
    """About how many steps a search from one node takes."""
    count = graph.relationship_count
    if traversal.types is not None:
        count = sum(graph.type_count(name) for name in traversal.types)
    return likely_steps(count / max(graph.node_count, 1), traversal.upper, count)


def likely_steps(degree: float, upper: int | None, relationship_count: int) -> float:
    """How many steps that is where nodes have so many relationships."""
    levels = 64 if upper is None else min(upper, 64)
    total, width = 0.0, 1.0
    for _ in range(levels):
        width *= max(degree, 1.0)
        total += width
        if total >= relationship_count:
            return float(relationship_count)
    return total


def seeds_of(plan: pp.Plan, graph: Snapshot, parameters: Mapping[str, Any]) -> Positions | None:
    """The nodes that a plan begins at, where it begins at a few that a literal or a parameter names."""
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
