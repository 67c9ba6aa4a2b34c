"""The evidence for the rows of a query: the nodes and relationships that its patterns matched.

The query is run again with its paths named and carried along: every WITH and RETURN collects them next to its columns,
so that grouping, ordering and limits stay the same.

    MATCH (a)-[:R]->(b) RETURN a.x
    MATCH `  p0` = (a)-[:R]->(b) RETURN a.x, collect(`  p0`)[..20] AS `  p0`

The parts of a UNION run separately. Patterns inside CALL {} are named there and returned; those in a WHERE (EXISTS {},
COUNT {}, a bare pattern) are looked up at the next WITH or RETURN.
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
_NAME = "`  p{}`"  # no query uses such a name


@dataclass(slots=True)
class Evidence:
    """Nodes and relationships by their element ids, with labels, types and properties, and the paths of each row."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict)
    relationships: dict[str, dict[str, Any]] = field(default_factory=dict)
    paths: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def ids(self) -> frozenset[str]:
        """All element ids, to compare with other evidence."""
        return frozenset(self.nodes) | frozenset(self.relationships)


def evidence_of(db: Database, query: str, parameters: dict[str, Any], *, rows: int, seconds: float) -> Evidence:
    """The evidence for the first rows of a query that reads; empty if it has no patterns that can be named."""
    found = Evidence()
    for text in evidence_queries(query):
        answer = db.run_untrusted(text, parameters, rows=rows, bytes=10_000_000, seconds=seconds)
        columns = [place for place, name in enumerate(answer.columns) if name.startswith("  p")]
        for row in answer.rows:
            paths = [path for place in columns for path in _paths(row[place])]
            found.paths.append(paths)
            for path in paths:
                found.nodes |= {node["elementId"]: node for node in path["nodes"]}
                found.relationships |= {one["elementId"]: one for one in path["relationships"]}
    return found


def evidence_queries(query: str) -> list[str]:
    """The query with its paths as additional columns, one for each part of a UNION; empty if there are none to name."""
    try:
        body = parse(query).body
    except CypherError:
        return []
    if not isinstance(body, ast.SingleQuery | ast.Union):
        return []
    found = []
    for part in body.queries if isinstance(body, ast.Union) else (body,):
        naming = _Naming(query)
        if naming.single(part):
            found.append(naming.written(part.span))
    return found


class _Naming:
    """Names paths, and makes every WITH and RETURN pass them on."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._edits: list[tuple[int, str]] = []
        self._count = 0

    def written(self, span: ast.Span) -> str:
        """The part of the text with all additions."""
        text, start = self._text[: span.end], span.start
        for place, added in sorted(self._edits, reverse=True):
            text = text[:place] + added + text[place:]
        return text[start:]

    def single(self, query: ast.SingleQuery) -> list[str]:
        """The names at the end of a query."""
        names: list[str] = []
        asked: list[tuple[str, str]] = []  # names for subqueries of a WHERE, which the next projection computes
        for clause in query.clauses:
            match clause:
                case ast.MatchClause(patterns=patterns, predicate=predicate):
                    names += self._patterns(patterns)
                    asked += self._conditions(predicate)
                case ast.CallSubquery(query=ast.SingleQuery() as inner):
                    names += self.single(inner)
                case ast.WithClause(projection=projection) | ast.ReturnClause(projection=projection):
                    self._carry(projection, names, asked)
                    if not projection.star:
                        names += [name for name, _ in asked]
                    asked = []
                    if isinstance(clause, ast.WithClause):
                        asked += self._conditions(clause.predicate)
        return names

    def _name(self) -> str:
        self._count += 1
        return _NAME.format(self._count - 1)

    def _patterns(self, patterns: Iterable[ast.PathPattern]) -> Iterator[str]:
        for pattern in patterns:
            if pattern.path_variable is None and isinstance(pattern.pattern, ast.PatternChain):
                name = self._name()
                self._edits.append((pattern.span.start, f"{name} = "))
                yield name

    def _conditions(self, predicate: ast.Expression | None) -> Iterator[tuple[str, str]]:
        """The patterns that a WHERE requires: those of EXISTS and COUNT, and bare ones."""
        waiting: list[ast.Expression] = [] if predicate is None else [predicate]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Binary) and node.operator in ("AND", "OR"):
                waiting += [node.right, node.left]
            elif isinstance(node, ast.Comparison):
                waiting += [o for o in node.operands if isinstance(o, ast.SubqueryExpression)]
            elif isinstance(node, ast.PatternExpression):
                yield self._collected(self._text[node.span.start : node.span.end])
            elif isinstance(node, ast.SubqueryExpression) and isinstance(node.query, ast.SingleQuery):
                inner = node.query.clauses[0]
                if isinstance(inner, ast.MatchClause) and len(inner.patterns) == 1:
                    pattern, where = inner.patterns[0], inner.predicate
                    text = self._text[pattern.span.start : pattern.span.end]
                    if where is not None:
                        text += f" WHERE {self._text[where.span.start : where.span.end]}"
                    if pattern.path_variable is None and isinstance(pattern.pattern, ast.PatternChain):
                        yield self._collected(text)

    def _collected(self, pattern: str) -> tuple[str, str]:
        name = self._name()
        return name, f"COLLECT {{ MATCH {name} = {pattern} RETURN {name} LIMIT {_PATHS_OF_A_ROW} }}"

    def _carry(self, projection: ast.Projection, names: Iterable[str], asked: Iterable[tuple[str, str]]) -> None:
        """What a WITH or RETURN must add to pass the paths on; `*` does so by itself."""
        if projection.star or not projection.items:
            return
        made = [*((name, name) for name in names), *asked]
        columns = "".join(f", collect({value})[..{_PATHS_OF_A_ROW}] AS {name}" for name, value in made)
        if columns:
            self._edits.append((projection.items[-1].span.end, columns))


def _paths(value: Any) -> Iterator[dict[str, Any]]:
    """The paths in a value of any depth: each WITH that collects them nests them in a list."""
    if isinstance(value, list):
        for item in value:
            yield from _paths(item)
    elif isinstance(value, dict) and value.get("$type") == "Path":
        yield value
