"""Which variables a clause sees, and what happens to those it must not."""

from __future__ import annotations

import pytest

from tests.planner.small_catalogue import checked, complaint, place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RETURN x", "Variable `x` not defined"),
        ("MATCH (a) WITH a.k AS k RETURN a", "Variable `a` not defined"),
        ("UNWIND [1] AS x UNWIND [2] AS x RETURN x", "Variable `x` already declared"),
        ("MATCH (a) MATCH a = (b) RETURN a", "Variable `a` already declared"),
        ("CREATE (a) CREATE (a)", "Variable `a` already declared"),
        ("MATCH (a) CREATE (a)-[:R]->(b) RETURN b", ""),
        (
            "MATCH (a) MATCH ()-[a]-() RETURN a",
            "Type mismatch: a defined with conflicting type Node (expected Relationship)",
        ),
        ("WITH 1 AS a MATCH (a) RETURN a", "Type mismatch: a defined with conflicting type Integer (expected Node)"),
        ("FOREACH (x IN [1] | CREATE (n {k: x})) RETURN n", "Variable `n` not defined"),
        ("RETURN [x IN [1] | x] + x", "Variable `x` not defined"),
        ("WITH 1 AS x RETURN [x IN [2] | x] AS list, x", ""),
        ("MATCH (a) WHERE (a)-->(b) RETURN a", "PatternExpressions are not allowed to introduce new variables: 'b'."),
        ("MATCH (a) WHERE EXISTS { (a)-->(b) } RETURN a", ""),
        ("MATCH (a) WHERE EXISTS { (a)-->(b) } RETURN b", "Variable `b` not defined"),
    ],
)
def test_variables_live_where_they_are_declared(text: str, message: str) -> None:
    assert complaint(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH (a) CALL { RETURN a AS b } RETURN b", "Variable `a` not defined"),
        ("MATCH (a) CALL { WITH a RETURN a.k AS b } RETURN b", ""),
        ("MATCH (a) CALL (a) { RETURN a.k AS b } RETURN b", ""),
        ("MATCH (a) CALL (*) { RETURN a.k AS b } RETURN b", ""),
        ("MATCH (a) CALL () { RETURN a.k AS b } RETURN b", "Variable `a` not defined"),
        ("MATCH (a) CALL (a) { RETURN a.k } RETURN a", "Expression in CALL { RETURN ... } must be aliased (use AS)"),
        ("MATCH (a) CALL (a) { RETURN 1 AS a } RETURN a", "Variable `a` already declared in outer scope"),
        (
            "MATCH (a) CALL (a) { WITH 1 AS a RETURN a AS b } RETURN b",
            "The variable `a` is shadowing an imported variable with the same name and needs to be renamed",
        ),
        (
            "MATCH (a) WHERE EXISTS { UNWIND [1] AS a RETURN a } RETURN a",
            "The variable `a` is shadowing a variable with the same name from the outer scope and needs to be renamed",
        ),
        (
            "MATCH (a) CALL { WITH a LIMIT 1 RETURN 1 AS b } RETURN b",
            "Importing WITH should consist only of simple references to outside variables. LIMIT is not allowed.",
        ),
        ("MATCH (a) CALL { WITH a CREATE (b) } RETURN b", "Variable `b` not defined"),
        (
            "MATCH (a) RETURN COLLECT { MATCH (b) RETURN b, 1 }",
            "A Collect Expression must end with a single return column.",
        ),
        ("MATCH (a) RETURN EXISTS { CREATE (b) }", "An Exists Expression cannot contain any updates"),
    ],
)
def test_subqueries_take_in_what_they_name(text: str, message: str) -> None:
    assert complaint(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH (a)", "Query cannot conclude with MATCH"),
        ("WITH 1 AS x", "Query cannot conclude with WITH"),
        ("CREATE (a) MATCH (b) RETURN b", "WITH is required between CREATE and MATCH"),
        ("RETURN 1 AS x RETURN 2 AS y", "RETURN can only be used at the end of the query."),
        ("RETURN 1 AS x UNION RETURN 2 AS y", "All sub queries in an UNION must have the same return column names"),
        ("RETURN 1 AS x UNION RETURN 2 AS x UNION ALL RETURN 3 AS x", "Invalid combination of UNION and UNION ALL"),
        ("FOREACH (x IN [1] | MATCH (a))", "Invalid use of MATCH inside FOREACH"),
        ("RETURN *", "RETURN * is not allowed when there are no variables in scope"),
        ("MATCH (a) WITH a.k RETURN 1", "Expression in WITH must be aliased (use AS)"),
        ("RETURN 1 AS x, 2 AS x", "Multiple result columns with the same name are not supported"),
    ],
)
def test_clauses_come_in_order(text: str, message: str) -> None:
    assert complaint(text).startswith(message)


def test_a_message_points_at_the_name() -> None:
    assert place("MATCH (a)\nRETURN a, bb") == len("MATCH (a)\nRETURN a, ")


def test_columns_are_listed_in_order_and_a_star_sorts_them() -> None:
    assert checked("MATCH (b)-[r]->(a) RETURN *, 1 AS one").columns == ("a", "b", "r", "one")
    assert checked("MATCH (a) RETURN a.k, count( * )").columns == ("a.k", "count( * )")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("RETURN 1 AS x", "r"),
        ("CREATE (a)", "w"),
        ("CREATE (a) RETURN a", "rw"),
        ("CALL test.write('x')", "w"),
        ("CREATE INDEX FOR (a:A) ON (a.k)", "s"),
        ("SHOW INDEXES", "r"),
    ],
)
def test_the_kind_of_a_statement_is_known(text: str, kind: str) -> None:
    assert checked(text).query_type == kind
