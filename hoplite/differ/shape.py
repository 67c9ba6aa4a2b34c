"""What a query leaves open: the order of its rows, which rows a LIMIT keeps, the order inside lists, randomness."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.parse import parse
from hoplite.grammar.tree import walk
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass

IN_THE_MIDDLE = "LIMIT or SKIP in the middle"
_CHANCE = {"rand", "randomuuid", "apoc.create.uuid", "apoc.coll.randomitem", "apoc.coll.shuffle"}
_CLOCK = {"timestamp", "date", "time", "datetime", "localtime", "localdatetime"}
_CLOCK_SUFFIXES = ("transaction", "statement", "realtime")
_FREE_LISTS = {
    "collect",
    "keys",
    "labels",
    "apoc.map.values",
    *(f"apoc.coll.{name}" for name in ("disjunction", "intersection", "subtract", "toset", "union")),
}
_MERGING = {"count", "max", "min"}
_TYPED_SUMS = {"avg", "sum"}  # an integer or a float depending on what they add up: no value represents others there
_CUT = lazy_pattern(r"\b(SKIP|OFFSET|LIMIT)\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shape:
    """`sort_columns`: the columns that ORDER BY sorts by, up to the first key that is not a column. `keyed`: the query
    with its hidden sort keys as additional columns, if it has any. `unlimited`: the query without its last SKIP and
    LIMIT, if it has them. `free_lists`: whether a list may come in any order. `merges`: whether equal rows become one,
    so that lists in another order may change the number of rows, and 1 may represent 1.0. `open`: why two right answers
    may differ beyond that; empty if they may not. `node_ids`, `relationship_ids`: the columns that are `id()` of an
    entity."""

    sort_columns: tuple[int, ...] = ()
    keyed: str | None = None
    unlimited: str | None = None
    free_lists: bool = False
    merges: bool = False
    open: tuple[str, ...] = ()
    node_ids: tuple[int, ...] = ()
    relationship_ids: tuple[int, ...] = ()


def shape_of(query: str) -> Shape:
    """The shape of a query; an empty one if it cannot be parsed."""
    try:
        statement = parse(query)
    except CypherError:
        return Shape()
    last = _last_projection(statement)
    names = {_function_name(node) for node in walk(statement)}
    node_ids, relationship_ids = _id_columns(statement, last) if last is not None and "id" in names else ((), ())
    return Shape(
        () if last is None else _sort_columns(last),
        None if last is None else _keyed(query, last),
        None if last is None else _unlimited(query, last),
        _has_free_lists(statement, names),
        not names & _TYPED_SUMS and any(_merges_rows(node) for node in walk(statement)),
        tuple(_open_ends(statement, last, names)),
        node_ids,
        relationship_ids,
    )


def _last_projection(statement: Any) -> ast.Projection | None:
    """The projection of the RETURN that ends a query without UNION."""
    for node in walk(statement):
        if isinstance(node, ast.Union):
            return None
        if isinstance(node, ast.SingleQuery):
            last = node.clauses[-1] if node.clauses else None
            return last.projection if isinstance(last, ast.ReturnClause) else None
    return None


def _sort_columns(projection: ast.Projection) -> tuple[int, ...]:
    if projection.star:
        return ()
    columns: list[int] = []
    for item in projection.order:
        column = next(
            (
                number
                for number, returned in enumerate(projection.items)
                if item.expression in (returned.expression, returned.alias)
                or (isinstance(item.expression, ast.Variable) and item.expression.name == returned.name)
            ),
            None,
        )
        if column is None:
            break  # sorted by these first; the effect of a hidden key is left open
        columns.append(column)
    return tuple(columns)


def _id_columns(statement: Any, last: ast.Projection) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Columns that are `id(x)`, of nodes and of relationships."""
    patterns = [node for node in walk(statement) if isinstance(node, ast.RelationshipPattern)]
    relationships = {pattern.variable.name for pattern in patterns if pattern.variable is not None}
    columns: tuple[list[int], list[int]] = [], []
    for number, item in enumerate(last.items):
        call = item.expression
        if isinstance(call, ast.FunctionCall) and _function_name(call) == "id" and len(call.arguments) == 1:
            argument = call.arguments[0]
            columns[isinstance(argument, ast.Variable) and argument.name in relationships].append(number)
    return tuple(columns[0]), tuple(columns[1])


def _keyed(query: str, projection: ast.Projection) -> str | None:
    """Works for keys that use only names before the RETURN; the others make it fail on both sides."""
    if projection.star or len(_sort_columns(projection)) == len(projection.order):
        return None
    end = projection.items[-1].span.end
    keys = [query[item.expression.span.start : item.expression.span.end] for item in projection.order]
    added = "".join(f", {key} AS `sort key {number}`" for number, key in enumerate(keys))
    return query[:end] + added + query[end:]


def _unlimited(query: str, projection: ast.Projection) -> str | None:
    cuts = [bound.span.start for bound in (projection.skip, projection.limit) if bound is not None]
    if not cuts:
        return None
    return _CUT.sub("", query[: min(cuts)].rstrip())


def _open_ends(statement: Any, last: ast.Projection | None, names: set[str]) -> Iterator[str]:
    if names & _CHANCE:
        yield "chance"
    if any(_reads_clock(node) for node in walk(statement)):
        yield "the clock"
    for node in walk(statement):
        if isinstance(node, ast.Projection) and node is not last and (node.limit is not None or node.skip is not None):
            yield IN_THE_MIDDLE
            break
    if _has_free_lists(statement, names) and (
        names & {"head", "last"} or any(isinstance(node, ast.Index | ast.Slice) for node in walk(statement))
    ):
        yield "an element of an unordered list"
    if any(_picks_shortest(node) for node in walk(statement)):
        yield "one of several shortest paths"
    if last is not None and last.limit is not None and any(isinstance(n, ast.Union) for n in walk(statement)):
        yield "LIMIT in a part of a UNION"


def _function_name(node: Any) -> str:
    return node.name.lower() if isinstance(node, ast.FunctionCall) else ""


def _reads_clock(node: Any) -> bool:
    name = _function_name(node)
    if name == "timestamp":
        return True
    family, _, suffix = name.partition(".")
    return family in _CLOCK and (suffix in _CLOCK_SUFFIXES or (not suffix and not node.arguments))


def _has_free_lists(statement: Any, names: set[str]) -> bool:
    return bool(names & _FREE_LISTS) or any(_makes_list(node) for node in walk(statement))


def _picks_shortest(node: Any) -> bool:
    """Whether it takes one, or k, of the paths of one length; ALL SHORTEST and GROUPS take all of them."""
    if isinstance(node, ast.ShortestPathFunction):
        return not node.every
    return isinstance(node, ast.PathSelector) and node.kind in ("ANY", "SHORTEST")


def _merges_rows(node: Any) -> bool:
    """DISTINCT, UNION and aggregation, which merge rows with equal keys, or equal values."""
    match node:
        case ast.Union(all=every):
            return not all(every)
        case ast.Projection(distinct=distinct):
            return distinct
        case ast.FunctionCall(distinct=distinct):
            return distinct or _function_name(node) in _MERGING
    return isinstance(node, ast.CountStar)


def _makes_list(node: Any) -> bool:
    return isinstance(node, ast.PatternComprehension | ast.SubqueryExpression)
