"""What the rows of a query rest on: the nodes and relationships that its patterns matched.

The query is run once more with its paths named and carried along: every WITH and RETURN collects them beside its own
columns, so that grouping, ordering and cutting stay what they are.

    MATCH (a)-[:R]->(b) RETURN a.x
    MATCH `  p0` = (a)-[:R]->(b) RETURN a.x, collect(`  p0`)[..20] AS `  p0`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.parse import parse

if TYPE_CHECKING:
    from hoplite.api.database import Database

_PATHS_OF_A_ROW = 20
_NAME = "`  p{}`"  # no query has such a name


@dataclass(slots=True)
class Evidence:
    """Nodes and relationships by their element ids, with labels, types and properties, and the paths of each row."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    relationships: dict[str, dict[str, Any]] = field(default_factory=dict)
    paths: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def ids(self) -> frozenset[str]:
        """All element ids: what is compared with another evidence."""
        return frozenset(self.nodes) | frozenset(self.relationships)


def evidence_of(db: Database, query: str, parameters: dict[str, Any], *, rows: int, seconds: float) -> Evidence:
    """The evidence for the first rows of a query that reads; empty where it has no patterns that can be named."""
    found = Evidence()
    text = evidence_query(query)
    if text is None:
        return found
    answer = db.run_untrusted(text, parameters, rows=rows, bytes=10_000_000, seconds=seconds)
    columns = [place for place, name in enumerate(answer.columns) if name.startswith("  p")]
    for row in answer.rows:
        paths = [path for place in columns for path in _paths(row[place])]
        found.paths.append(paths)
        for path in paths:
            found.nodes |= {node["elementId"]: node for node in path["nodes"]}
            found.relationships |= {one["elementId"]: one for one in path["relationships"]}
    return found


def evidence_query(query: str) -> str | None:
    """The query with its paths as further columns; None where there are none to name."""
    try:
        body = parse(query).body
    except CypherError:
        return None
    if not isinstance(body, ast.SingleQuery):
        return None
    edits: list[tuple[int, str]] = []
    names: list[str] = []
    for clause in body.clauses:
        match clause:
            case ast.MatchClause(patterns=patterns):
                for pattern in patterns:
                    name = _NAME.format(len(names))
                    if pattern.path_variable is None and isinstance(pattern.pattern, ast.PatternChain):
                        edits.append((pattern.span.start, f"{name} = "))
                        names.append(name)
            case ast.WithClause(projection=projection) | ast.ReturnClause(projection=projection):
                edits += _carried(projection, names)
    if not names:
        return None
    for place, added in sorted(edits, reverse=True):
        query = query[:place] + added + query[place:]
    return query


def _carried(projection: ast.Projection, names: Iterable[str]) -> Iterator[tuple[int, str]]:
    """What a WITH or RETURN has to say to hand the paths on; `*` does so by itself."""
    if projection.star or not projection.items:
        return
    columns = "".join(f", collect({name})[..{_PATHS_OF_A_ROW}] AS {name}" for name in names)
    yield projection.items[-1].span.end, columns


def _paths(value: Any) -> Iterator[dict[str, Any]]:
    """The paths in a value of any depth: each WITH that collects them puts a list around them."""
    if isinstance(value, list):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, dict) and value.get("$type") == "Path":
        yield value
