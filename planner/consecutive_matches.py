"""MATCH clauses that follow on each other are one pattern, wherever that means the same.

    MATCH (c:Country) MATCH (a:Person)-[:LIVES_IN]->(c) MATCH (a)-[:KNOWS]->(b)

Where to begin and what to follow next is then chosen among the connections of all of them. Relationships have to differ
within each MATCH only: the pattern graph remembers which MATCH a connection is from.
"""

from __future__ import annotations

from collections.abc import Sequence

from hoplite.grammar import ast
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.patterns import Many, One, PatternGraph, Repeated
from hoplite.planner.variables import free_variables

_MOST_NODES = 50  # of a pattern: choosing an order for more costs more time than it saves


def consecutive_matches(clauses: Sequence[ast.Clause]) -> tuple[ast.MatchClause, ...]:
    """The MATCH that a list of clauses begins with, and those that follow and may become one pattern with it."""
    matches: list[ast.MatchClause] = []
    for clause in clauses:
        if not isinstance(clause, ast.MatchClause):
            break
        if clause.optional or any(p.selector is not None and p.selector.kind != "ALL" for p in clause.patterns):
            break
        matches.append(clause)
    if matches:
        return tuple(matches)
    first = clauses[0]
    assert isinstance(first, ast.MatchClause)
    return (first,)


def can_be_matched_together(
    before: Sequence[ast.MatchClause],
    together: PatternGraph,
    clause: ast.MatchClause,
    graph: PatternGraph,
    scope: frozenset[str],
    catalogue: Catalogue,
) -> bool:
    """Whether the next MATCH and those `before` it, which are one graph already, may be matched in any order.

    They may not where a name would mean something else in one pattern: a relationship that the next MATCH finds bound,
    a path, which is only there once everything is matched, or a name that belongs to a subquery as long as the next
    MATCH has not bound it. Which path is the shortest depends on the predicates of its own MATCH alone, and a random
    predicate is asked once for each row of its MATCH.
    """
    if len(together.nodes) + len(graph.nodes) > _MOST_NODES:
        return False
    connections = (*together.connections, *graph.connections)
    if not all(isinstance(connection, One | Many | Repeated) for connection in connections):
        return False
    known, added = together.variables(), graph.variables()
    if any(connection.relationship in known | scope for connection in graph.connections):
        return False
    own = free_variables((clause.patterns, clause.predicate))
    if own & {path.variable for path in together.paths}:
        return False
    earlier = free_variables(tuple((match.patterns, match.predicate) for match in before))
    if earlier & (added - known - scope):
        return False
    return is_deterministic((*together.predicates, *graph.predicates), catalogue)
