"""Consecutive MATCH clauses become one pattern wherever that means the same.

    MATCH (c:Country) MATCH (a:Person)-[:LIVES_IN]->(c) MATCH (a)-[:KNOWS]->(b)

Where to begin and what to follow next is then chosen among the connections of all of them. Relationships must differ
only within each MATCH, so the pattern graph remembers which MATCH a connection comes from.
"""

from __future__ import annotations

from collections.abc import Sequence

from hoplite.grammar import ast
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.patterns import Many, One, PatternGraph, Repeated
from hoplite.planner.variables import free_variables

_MOST_NODES = 50  # choosing an order for a larger pattern costs more time than it saves


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
    """Whether the next MATCH and those `before` it, already merged into one graph, may be matched in any order.

    They may not if a name would change its meaning in a merged pattern: a relationship that is already bound when the
    next MATCH starts, a path, which exists only once everything is matched, or a name that belongs to a subquery until
    the next MATCH binds it. Which path is shortest depends only on the predicates of its own MATCH, and a random
    predicate is evaluated once for each row of its MATCH.
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
