"""Where a plan runs: whole on one worker, with its hops across all workers, or in the leading process.

Hops go across workers if they are searches whose conditions on the way workers can evaluate, and are likely to be wide
enough that the work outweighs a message to every worker per level. They run level by level or, for trails, from the
nodes of their first step. Everything else runs whole on one worker.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from hoplite.cluster.owned import stays
from hoplite.engine.functions.registry import Function
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


def place_of(plan: pp.Plan, graph: Snapshot, split: Split, functions: Mapping[str, Function]) -> Place:
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
        if isinstance(node, _SEARCHES) and (reason := _keeps_together(node, functions)):
            return Place("one worker", reason)
        if isinstance(node, pp.Trails) and node.into:
            return Place("one worker", "trails to a given node are guided by their distance to it")
    searches = [node for node in nodes if isinstance(node, _SEARCHES)]
    if not searches:
        return Place("one worker", "there is no search to split")
    steps = max(steps_of(node.traversal, graph) for node in searches)
    if split == "auto" and steps < WIDE_STEPS:
        return Place("one worker", f"a search takes about {steps:,.0f} steps, too few to be split")
    return Place("across workers", f"a search takes about {steps:,.0f} steps")


def _keeps_together(
    node: pp.Reach | pp.Trails | pp.ShortestPaths | pp.ShortestTrails, functions: Mapping[str, Function]
) -> str:
    """Why a search cannot be split; nothing if it can be."""
    if node.step is not None and (reason := stays(node.step.predicate, functions)):
        return f"a condition on each step is evaluated where it runs: {reason}"
    match node:
        case pp.Reach(distinct_from=others) if others:
            return "the relationships of a row may not be used again"
        case pp.ShortestPaths(predicates=predicates) | pp.ShortestTrails(predicates=predicates) if predicates:
            return "conditions on a path are evaluated where it is found"
        case _:
            return ""


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


class Seeds(NamedTuple):
    """How a plan finds its start nodes: by a label, a property and a value, one or a list, that is given."""

    label: str
    key: str
    value: ast.Literal | ast.Parameter
    is_list: bool

    def of_each(self, graph: Snapshot, parameter_sets: Sequence[Mapping[str, Any]]) -> Positions:
        """A start node for each set of parameters; -1 where there is none."""
        values = []
        for parameters in parameter_sets:
            value = parameters.get(self.value.name) if isinstance(self.value, ast.Parameter) else self.value.value
            if self.is_list:
                value = value[0] if isinstance(value, list) and value else None
            values.append(value)
        which, nodes = graph.seek_nodes(self.label, self.key, values)
        found = np.full(len(values), -1, np.int64)
        found[which[::-1]] = nodes[::-1]
        return found


def seeds_of(plan: pp.Plan) -> Seeds | None:
    """The start nodes of a plan, if it starts at a few that a literal or a parameter names."""
    for node in walk(plan):
        match node:
            case pp.ParameterSeek(label=label, key=key, value=value):
                return Seeds(label, key, value, False)
            case pp.ElementsSeek(label=label, key=key, elements=elements):
                return Seeds(label, key, elements, True)
            case pp.IndexSeek(label=label, key=key, value=ast.Literal() | ast.Parameter() as value, many=False):
                return Seeds(label, key, value, False)
            case pp.IndexSeek():
                return None
    return None
