"""What a query of `patterns` means, in the slowest and plainest way: every relationship is tried for every step."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeAlias, assert_never

from tests.joins.patterns import Aggregate, Chain, Graph, Match, Predicate, Query, Returned, Step

Row: TypeAlias = dict[str, int | None]  # the numbers of nodes; None is null
Used: TypeAlias = frozenset[int]

_MOST_ROWS = 200_000


class TooMany(Exception):
    """A query has more rows than a list of all of them should hold."""


def answer(graph: Graph, query: Query) -> list[tuple[Any, ...]]:
    """The rows of a query; lists in them are sorted, for Cypher leaves their order open."""
    rows: list[Row] = [{}]
    for match in query.matches:
        rows = list(islice((found for row in rows for found in _matches(graph, match, row)), _MOST_ROWS + 1))
        if len(rows) > _MOST_ROWS:
            raise TooMany
    return _returned(graph, query.returned, rows)


def _matches(graph: Graph, match: Match, row: Row) -> Iterator[Row]:
    found = False
    for matched, _ in _chains(graph, match.chains, row, frozenset()):
        if all(_holds(graph, predicate, matched) is True for predicate in match.predicates):
            found = True
            yield matched
    if match.optional and not found:
        names = {node.name: None for chain in match.chains for node in chain.nodes}
        yield {**names, **row}


def _chains(graph: Graph, chains: tuple[Chain, ...], row: Row, used: Used) -> Iterator[tuple[Row, Used]]:
    if not chains:
        yield row, used
        return
    for matched, now in _chain(graph, chains[0], 0, row, used):
        yield from _chains(graph, chains[1:], matched, now)


def _chain(graph: Graph, chain: Chain, at: int, row: Row, used: Used) -> Iterator[tuple[Row, Used]]:
    """The ways to match a chain from its node `at` on."""
    pattern = chain.nodes[at]
    candidates = [row[pattern.name]] if pattern.name in row else list(range(len(graph.nodes)))
    for node in candidates:
        if node is None or (pattern.label is not None and pattern.label not in graph.nodes[node].labels):
            continue
        matched = {**row, pattern.name: node}
        if at == len(chain.steps):
            yield matched, used
            continue
        following = chain.nodes[at + 1].name
        for end, now in _ways(graph, chain.steps[at], node, used):
            if matched.get(following, end) == end:
                yield from _chain(graph, chain, at + 1, {**matched, following: end}, now)


def _ways(graph: Graph, step: Step, node: int, used: Used) -> Iterator[tuple[int, Used]]:
    """Where a step leads, and the relationships used after it."""
    lower, upper = step.bounds or (1, 1)
    if lower == 0:
        yield node, used
    if upper == 0:
        return
    for number, relationship in enumerate(graph.relationships):
        if number in used or (step.types and relationship.type not in step.types):
            continue
        ends = set()
        if step.side != "<-" and relationship.start == node:
            ends.add(relationship.end)
        if step.side != "->" and relationship.end == node:
            ends.add(relationship.start)
        for end in ends:
            if lower <= 1:
                yield end, used | {number}
            if upper > 1:
                rest = Step(step.name, step.types, step.side, (max(lower - 1, 1), upper - 1))
                yield from _ways(graph, rest, end, used | {number})


def _holds(graph: Graph, predicate: Predicate, row: Row) -> bool | None:
    left = row[predicate.left]
    if predicate.kind == ">":
        x = None if left is None else graph.nodes[left].x
        return None if x is None else x > predicate.number
    if predicate.kind in ("is", "in"):
        wanted = (predicate.number, predicate.number + 2 * (predicate.kind == "in"))
        return None if left is None else left in wanted
    right = row[predicate.right]
    match predicate.kind:
        case "<>" | "=":
            return None if left is None or right is None else (left == right) == (predicate.kind == "=")
        case "<":
            xs = [None if node is None else graph.nodes[node].x for node in (left, right)]
            return None if xs[0] is None or xs[1] is None else xs[0] < xs[1]
        case "way":
            assert predicate.step is not None
            assert predicate.second is not None
            firsts = () if left is None else _ways(graph, predicate.step, left, frozenset())
            return any(
                end == right for middle, used in firsts for end, _ in _ways(graph, predicate.second, middle, used)
            )
        case _:
            assert predicate.step is not None
            there = left is not None and any(end == right for end, _ in _ways(graph, predicate.step, left, frozenset()))
            return there == (predicate.kind == "there")


def _returned(graph: Graph, returned: Returned, rows: list[Row]) -> list[tuple[Any, ...]]:
    keys = [tuple(row[key] for key in returned.keys) for row in rows]
    if not returned.aggregates:
        return list(dict.fromkeys(keys)) if returned.distinct else list(keys)
    groups: dict[tuple[Any, ...], list[Row]] = {} if returned.keys else {(): []}
    for key, row in zip(keys, rows, strict=True):
        groups.setdefault(key, []).append(row)
    answer = [
        (*key, *(_aggregated(graph, aggregate, group) for aggregate in returned.aggregates))
        for key, group in groups.items()
    ]
    if returned.top is None:
        return answer
    count = len(returned.keys)
    # Null comes first in descending order, and last in ascending order.
    answer.sort(
        key=lambda row: (
            [(value is not None, -(value or 0)) for value in row[count:]],
            [(value is None, value or 0) for value in row[:count]],
        )
    )
    return answer[: returned.top]


def _aggregated(graph: Graph, aggregate: Aggregate, rows: list[Row]) -> Any:
    if aggregate.function == "count(*)":
        return len(rows)
    nodes = [node for row in rows if (node := row[aggregate.of]) is not None]
    values = [x for node in nodes if (x := graph.nodes[node].x) is not None]
    match aggregate.function:
        case "count":
            return len(nodes)
        case "count distinct":
            return len(set(nodes))
        case "collect":
            return sorted(nodes)
        case "collect distinct":
            return sorted(set(nodes))
        case "count x":
            return len(values)
        case "sum":
            total = sum(values)
            return total if total < 1 << 63 else float(total)
        case "avg":
            return float(sum(values)) / len(values) if values else None
        case "min":
            return min(values, default=None)
        case "max":
            return max(values, default=None)
        case _:
            assert_never(aggregate.function)
