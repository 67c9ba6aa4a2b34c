"""Patterns: nodes, relationships, labels, repetitions, selectors."""

from __future__ import annotations

import pytest

from hoplite.grammar import ast
from hoplite.grammar.ast import Direction, LabelAnd, LabelName, LabelNot, LabelOr
from tests.grammar.reading import clause, element, expression

A, B, C = LabelName("A"), LabelName("B"), LabelName("C")


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        (":A", A),
        (":A:B", LabelAnd((A, B), colon=True)),
        (":A&B|!C", LabelOr((LabelAnd((A, B)), LabelNot(C)))),
        (":A|(B|C)", LabelOr((A, LabelOr((B, C))))),
        (":A|:B", LabelOr((A, B), colon=True)),
        (" IS A|B", LabelOr((A, B))),
        (":%", ast.LabelWildcard()),
        (":$(x)", ast.DynamicLabel(ast.Variable("x"))),
        (":$any(x)", ast.DynamicLabel(ast.Variable("x"), "any")),
    ],
)
def test_label_expressions(text: str, labels: ast.LabelExpression) -> None:
    node = element(f"(n{text})")
    assert isinstance(node, ast.NodePattern)
    assert node.labels == labels


def test_node_with_everything() -> None:
    assert element("(n:A {x: 1} WHERE n.y)") == ast.NodePattern(
        ast.Variable("n"),
        A,
        ast.MapLiteral((("x", ast.Literal(1)),)),
        ast.Property(ast.Variable("n"), "y"),
    )
    assert element("($p)") == ast.NodePattern(properties=ast.Parameter("p"))
    assert element("()") == ast.NodePattern()


@pytest.mark.parametrize(
    ("text", "direction"),
    [
        ("-->", Direction.OUTGOING),
        ("<--", Direction.INCOMING),
        ("--", Direction.BOTH),
        ("<-->", Direction.BOTH),
        ("-[]->", Direction.OUTGOING),
        (" < - [ ] - ", Direction.INCOMING),
    ],
)
def test_directions(text: str, direction: Direction) -> None:
    assert element(f"(a){text}(b)", 1) == ast.RelationshipPattern(direction)


@pytest.mark.parametrize(
    ("text", "hops"),
    [
        ("*", ast.Hops(None, None)),
        ("*3", ast.Hops(3, 3)),
        ("*..2", ast.Hops(None, 2)),
        ("*2..", ast.Hops(2, None)),
        ("*1..3", ast.Hops(1, 3)),
        ("*..", ast.Hops(None, None)),
    ],
)
def test_variable_lengths(text: str, hops: ast.Hops) -> None:
    assert element(f"(a)-[r:R{text} {{x: 1}}]->(b)", 1) == ast.RelationshipPattern(
        Direction.OUTGOING,
        ast.Variable("r"),
        LabelName("R"),
        hops,
        ast.MapLiteral((("x", ast.Literal(1)),)),
    )


@pytest.mark.parametrize(
    ("text", "repetition"),
    [
        ("+", ast.Repetition(1, None)),
        ("*", ast.Repetition(0, None)),
        ("{2}", ast.Repetition(2, 2)),
        ("{1,3}", ast.Repetition(1, 3)),
        ("{,3}", ast.Repetition(0, 3)),
        ("{1,}", ast.Repetition(1, None)),
    ],
)
def test_repetitions(text: str, repetition: ast.Repetition) -> None:
    relationship = element(f"(a)-[:R]->{text}(b)", 1)
    assert isinstance(relationship, ast.RelationshipPattern)
    assert relationship.repetition == repetition
    path = element(f"(a) ((x)-->(y) WHERE x.v > 1){text} (b)", 1)
    assert isinstance(path, ast.ParenthesizedPath)
    assert path.repetition == repetition
    assert path.predicate is not None


@pytest.mark.parametrize(
    ("text", "kind", "count"),
    [
        ("ANY", "ANY", None),
        ("ANY 2 PATHS", "ANY", 2),
        ("ALL PATHS", "ALL", None),
        ("ALL SHORTEST", "ALL SHORTEST", None),
        ("ANY SHORTEST PATH", "SHORTEST", None),
        ("SHORTEST 3", "SHORTEST", 3),
        ("SHORTEST GROUP", "SHORTEST GROUPS", None),
        ("SHORTEST 2 PATH GROUPS", "SHORTEST GROUPS", 2),
    ],
)
def test_path_selectors(text: str, kind: str, count: int | None) -> None:
    match = clause(f"MATCH p = {text} (a)-->+(b) RETURN p")
    assert isinstance(match, ast.MatchClause)
    expected = ast.PathSelector(kind, None if count is None else ast.Literal(count))
    assert match.patterns[0].selector == expected


def test_shortest_paths_in_patterns_and_expressions() -> None:
    match = clause("MATCH p = allShortestPaths((a)-[*]-(b)) RETURN p")
    assert isinstance(match, ast.MatchClause)
    assert isinstance(match.patterns[0].pattern, ast.ShortestPathFunction)
    assert match.patterns[0].pattern.every
    assert isinstance(expression("shortestPath((a)-[*]-(b))"), ast.ShortestPathExpression)
