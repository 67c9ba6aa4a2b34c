"""hop.*: the nodes around others, and one shortest path to each, for use inside queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.grouping import distinct
from hoplite.engine.hops import Hop, Positions
from hoplite.engine.khop import SIDES, shortest_paths_from
from hoplite.engine.procedures.registry import cypher_procedure, illegal_argument
from hoplite.values.columns import Integers, Nodes
from hoplite.values.entities import NodeRef
from hoplite.values.render import describe

_OPTIONS = ("direction", "types", "exact")


@cypher_procedure(
    "hop.within(nodes :: ANY, hops :: INTEGER, options = {} :: MAP) :: (node :: NODE, distance :: INTEGER)",
    description="The nodes within a number of hops of a node or of any in a list, each once, with its distance from "
    "the nearest of them; the given nodes are at distance 0. Options: direction ('out', 'in' or 'both'), types (a "
    "relationship type or a list of them), exact (only the nodes at that distance).",
    works_on_system=False,
)
def within(context: Execution, nodes: Any, count: int | None, options: Mapping[str, Any] | None) -> Iterator[Batch]:
    """By ascending distance."""
    sources, upper, hop, exact = _asked(context, "hop.within", nodes, count, options)
    found, level = hops.levels(hop, sources, upper, check=context.check_time, backend=context.backend)
    if exact:
        kept = level == upper
        found, level = found[kept], level[kept]
    yield Batch({"node": Nodes(found), "distance": Integers(level)}, len(found))


@cypher_procedure(
    "hop.paths(nodes :: ANY, hops :: INTEGER, options = {} :: MAP) :: (path :: PATH)",
    description="One shortest path from a node, or from the nearest of a list, to each other node within a number of "
    "hops. Options: direction ('out', 'in' or 'both'), types (a relationship type or a list of them), exact (only "
    "paths of that length).",
    works_on_system=False,
)
def paths(context: Execution, nodes: Any, count: int | None, options: Mapping[str, Any] | None) -> Iterator[Batch]:
    """By ascending length."""
    sources, upper, hop, exact = _asked(context, "hop.paths", nodes, count, options)
    found = shortest_paths_from(hop, sources, upper, exact, context.backend, context.check_time)
    yield Batch({"path": found}, len(found))


def _asked(
    context: Execution, name: str, nodes: Any, count: int | None, options: Mapping[str, Any] | None
) -> tuple[Positions, int, Hop, bool]:
    """The arguments of a call: distinct sources, the number of hops, the hop, and whether only that exact distance
    counts."""
    given = nodes if isinstance(nodes, list | tuple) else [nodes]
    for node in given:
        if node is not None and type(node) is not NodeRef:
            raise illegal_argument(name, f"Expected a node or a list of nodes, but got {describe(node)}.")
    if count is None or count < 0:
        raise illegal_argument(name, f"Expected a number of hops, 0 or more, but got {describe(count)}.")
    chosen = dict(options or {})
    unknown = [option for option in chosen if option not in _OPTIONS]
    if unknown:
        raise illegal_argument(name, f"Unknown option '{unknown[0]}'; the options are {', '.join(_OPTIONS)}.")
    direction, exact, types = chosen.get("direction") or "out", chosen.get("exact") or False, chosen.get("types")
    if direction not in SIDES:
        raise illegal_argument(name, f"Expected direction to be 'out', 'in' or 'both', but got {describe(direction)}.")
    if not isinstance(exact, bool):
        raise illegal_argument(name, f"Expected exact to be true or false, but got {describe(exact)}.")
    names = [types] if isinstance(types, str) else types
    if names is not None and not (isinstance(names, Sequence) and all(isinstance(one, str) for one in names)):
        raise illegal_argument(name, f"Expected types to be a string or a list of strings, but got {describe(types)}.")
    sources = distinct(np.array([node.position for node in given if node is not None], np.int64))
    return sources, count, hops.hop_of(context.graph, SIDES[direction], names), exact
