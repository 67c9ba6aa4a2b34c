"""Take counts from the statistics.

EagerAggregation count(*)           NodeCountFromCountStore :Person
  NodeByLabelScan n:Person     =>     Argument
    Argument
"""

from __future__ import annotations

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.parts import AggregateCall, Traversal
from hoplite.planner.tree import bottom_up


def count_from_statistics(plan: lp.Plan, _: Catalogue) -> lp.Plan:
    """`MATCH (n:L) RETURN count(n)` and `MATCH ()-[r:T]->() RETURN count(r)` need no scan."""

    def change(node: lp.Plan) -> lp.Plan:
        match node:
            case lp.EagerAggregation(source=source, keys=(), aggregates=(aggregate,)):
                counted = _counted(aggregate)
                if counted is not None:
                    return _from_store(aggregate.name, counted, source) or node
        return node

    return bottom_up(plan, change)


def _counted(aggregate: AggregateCall) -> frozenset[str] | None:
    """The variable that is counted (none for count(*)); None for any other aggregate."""
    match aggregate:
        case AggregateCall(function="count", distinct=False, arguments=()):
            return frozenset()
        case AggregateCall(function="count", distinct=False, arguments=(ast.Variable(name=name),)):
            return frozenset((name,))
        case _:
            return None


def _from_store(name: str, counted: frozenset[str], source: lp.Plan) -> lp.Plan | None:
    match source:
        case lp.AllNodesScan(source=lp.Argument(variables=()) as bottom, node=node) if counted <= {node}:
            return lp.NodeCountFromCountStore(bottom, name, None)
        case lp.NodeByLabelScan(source=lp.Argument(variables=()) as bottom, node=node) if counted <= {node}:
            return lp.NodeCountFromCountStore(bottom, name, source.label)
        case lp.RelationshipTypeScan(
            source=lp.Argument(variables=()) as bottom,
            relationship=relationship,
            start=node,
            end=to_node,
            types=types,
            directed=True,
        ) if counted <= {node, relationship, to_node}:
            return lp.RelationshipCountFromCountStore(bottom, name, types)
        case lp.Expand(
            source=lp.AllNodesScan(source=lp.Argument(variables=()) as bottom, node=node),
            relationship=relationship,
            to_node=to_node,
            traversal=Traversal(types=types, direction=ast.Direction.OUTGOING | ast.Direction.INCOMING),
            into=False,
        ) if counted <= {node, relationship, to_node}:
            return lp.RelationshipCountFromCountStore(bottom, name, types)
        case _:
            return None
