"""What MATCH, CREATE and MERGE take for a pattern."""

from __future__ import annotations

import pytest

from tests.planner.small_catalogue import complaint


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("CREATE (a)-[:R]-(b)", "Only directed relationships are supported in CREATE"),
        ("MERGE (a)-[:R]-(b)", ""),
        (
            "CREATE (a)-[r]->(b)",
            "Exactly one relationship type must be specified for CREATE. Did you forget to prefix "
            "your relationship type with a ':'?",
        ),
        ("CREATE (a)-[:R|S]->(b)", "A single relationship type must be specified for CREATE"),
        ("CREATE (a)-[:R*2]->(b)", "Variable length relationships cannot be used in CREATE"),
        (
            "CREATE (a:A|B)",
            "Label expressions in patterns are not allowed in a CREATE clause, but only in a MATCH clause "
            "and in expressions",
        ),
        (
            "CREATE (a WHERE a.k = 1)",
            "Node pattern predicates are not allowed in a CREATE clause, but only in a MATCH "
            "clause or inside a pattern comprehension",
        ),
        (
            "MATCH (a) CREATE (a:A)-[:R]->(b)",
            "Can't create node `a` with labels or properties here. The variable is already declared in this context",
        ),
        (
            "CREATE (a {k: a.k})",
            "The Node variable 'a' is referencing a Node that is created in the same CREATE clause "
            "which is not allowed. Please only reference variables created in earlier clauses.",
        ),
        (
            "MATCH (a $p) RETURN a",
            "Parameter maps cannot be used in `MATCH` patterns (use a literal map instead, e.g. `{id: $p.id}`)",
        ),
    ],
)
def test_writing_takes_what_can_be_written(text: str, message: str) -> None:
    assert complaint(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "MATCH (a:A:B|C) RETURN a",
            "Mixing label expression symbols ('|', '&', '!', and '%') with colon (':') between "
            "labels is not allowed. Please only use one set of symbols. This expression could be expressed as "
            ":(A&B)|C.",
        ),
        (
            "MATCH (a:A:B), (b:B|C) RETURN a",
            "Mixing label expression symbols ('|', '&', '!', and '%') with colon (':') "
            "between labels is not allowed. Please only use one set of symbols. This expression could be expressed "
            "as :A&B.",
        ),
        ("MATCH (a:A:B)-[:R|S]-() MATCH (c:C|D) RETURN a", ""),
        (
            "MATCH ()-[r:R:S]->() RETURN r",
            "Relationship types in a relationship type expressions may not be combined using ':'",
        ),
        ("MATCH ()-[r:!R*]->() RETURN r", "Variable length relationships must not use relationship type expressions."),
    ],
)
def test_label_expressions_are_written_in_one_way(text: str, message: str) -> None:
    assert complaint(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "MATCH p = shortestPath((a)-[*2..3]-(b)) RETURN p",
            "shortestPath(...) does not support a minimal length different from 0 or 1",
        ),
        (
            "MATCH p = shortestPath((a)-[*]-(b)-[*]-(c)) RETURN p",
            "shortestPath(...) requires a pattern containing a single relationship",
        ),
        ("MATCH (a) RETURN shortestPath((a)-[*]-(b))", "Variable `b` not defined"),
        (
            "MATCH ((a)-->(b)){2,1} RETURN a",
            "A quantifier for a path pattern must not have a lower bound which exceeds "
            "its upper bound.\nIn this case, the lower bound 2 is greater than the upper bound 1.",
        ),
        (
            "MATCH ((a)-->(b))* RETURN a",
            "A top-level path pattern in a `MATCH` clause must be written such that it always "
            "evaluates to at least one node pattern.\nIn this case, `((a)-->(b)){0}` would result in an empty pattern.",
        ),
        (
            "MATCH ((a)-->(b))+ (a) RETURN a",
            "The variable `a` occurs both inside and outside a quantified path pattern and needs to be renamed.",
        ),
        ("MATCH (((a)-->(b))+)+ RETURN a", "Quantified path patterns are not allowed to be nested."),
        (
            "MATCH (a)-->+(b)-[*]->(c) RETURN a",
            "Mixing variable-length relationships ('-[*]-') with quantified "
            "relationships ('()-->*()') or quantified path patterns ('(()-->())*') is not allowed.",
        ),
        (
            "MATCH SHORTEST 1 (a)-->+(b), (c) RETURN a",
            "Multiple path patterns cannot be used in the same clause in combination with a selective path selector.",
        ),
        ("MATCH ((a)-->(b))+ RETURN [x IN a | x.k], size(b)", ""),
        (
            "MATCH ((a)-->(b))+ RETURN a.k",
            "Type mismatch: expected Map, Node, Relationship, Point, Duration, Date, Time, "
            "LocalTime, LocalDateTime or DateTime but was List<Node>",
        ),
    ],
)
def test_paths_have_limits(text: str, message: str) -> None:
    assert complaint(text) == message
