"""Clauses, queries, statements and schema commands."""

from __future__ import annotations

import pytest

from hoplite.grammar import ast
from hoplite.grammar.parse import parse
from hoplite.grammar.statement import Administration, CreateConstraint, CreateIndex, DropSchema, Show
from tests.grammar.reading import clause, query, refusal

N, X = ast.Variable("n"), ast.Variable("x")


def kinds(text: str) -> list[str]:
    return [type(part).__name__.removesuffix("Clause") for part in query(text).clauses]


def test_clauses_in_a_row() -> None:
    text = "MATCH (n) OPTIONAL MATCH (n)-->(m) WITH n, m WHERE n.x UNWIND n.xs AS x CREATE (n)-[:R]->(m) RETURN x"
    assert kinds(text) == ["Match", "Match", "With", "Unwind", "Create", "Return"]


def test_order_skip_and_limit_belong_to_the_projection_before_them() -> None:
    last = clause("RETURN DISTINCT n ORDER BY n.a, n.b DESC OFFSET 1 LIMIT 2")
    assert isinstance(last, ast.ReturnClause)
    projection = last.projection
    assert projection.distinct
    assert [item.descending for item in projection.order] == [False, True]
    assert (projection.skip, projection.limit) == (ast.Literal(1), ast.Literal(2))


def test_with_takes_a_where_behind_its_limit() -> None:
    first = query("WITH n LIMIT 1 WHERE n.x RETURN n").clauses[0]
    assert isinstance(first, ast.WithClause)
    assert first.projection.limit == ast.Literal(1)
    assert first.predicate == ast.Property(N, "x")


def test_lone_order_skip_and_limit_are_clauses() -> None:
    assert kinds("MATCH (n) ORDER BY n.x LIMIT 3 RETURN n") == ["Match", "With", "Return"]
    assert kinds("MATCH (n) RETURN n LIMIT 3 SKIP 1") == ["Match", "Return", "With"]
    lone = query("MATCH (n) SKIP 1 LIMIT 3 RETURN n").clauses[1]
    assert isinstance(lone, ast.WithClause)
    assert lone.projection == ast.Projection((), star=True, skip=ast.Literal(1), limit=ast.Literal(3))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("1  +  1", "1  +  1"),
        ("/* a */ n . k /* b */", "n . k"),
        ("n /* in */ + 1 // out", "n /* in */ + 1"),
        ("(n)", "n"),
        ("`n`", "n"),
        ("((1))", "((1))"),
        ("n {.k}", "n"),
        ("COUNT( * )", "COUNT( * )"),
        ("n.k AS `a b`", "a b"),
        (r"'\u0041'", r"'\u0041'"),
    ],
)
def test_names_of_columns(text: str, name: str) -> None:
    only = clause(f"RETURN {text}")
    assert isinstance(only, ast.ReturnClause)
    assert only.projection.items[0].name == name


def test_star_comes_first() -> None:
    only = clause("RETURN *, 1 AS one")
    assert isinstance(only, ast.ReturnClause)
    assert only.projection.star
    assert [item.name for item in only.projection.items] == ["one"]


def test_merge_and_set_items() -> None:
    merge = clause("MERGE (n:A) ON CREATE SET n.x = 1, n:B ON MATCH SET n += $p ON CREATE SET n = {}")
    assert isinstance(merge, ast.MergeClause)
    assert merge.on_create == (
        ast.SetProperty(ast.Property(N, "x"), ast.Literal(1)),
        ast.SetLabels(N, (ast.LabelName("B"),)),
        ast.SetProperties(N, ast.MapLiteral(()), False),
    )
    assert merge.on_match == (ast.SetProperties(N, ast.Parameter("p"), True),)


def test_set_and_remove_by_computed_names() -> None:
    written = query("MATCH (n) SET n[k] = 1, n:$(l) REMOVE n['k'], n.a.b, n IS A:B").clauses
    assert written[1] == ast.SetClause(
        (
            ast.SetDynamicProperty(ast.Index(N, ast.Variable("k")), ast.Literal(1)),
            ast.SetLabels(N, (ast.DynamicLabel(ast.Variable("l")),)),
        )
    )
    assert written[2] == ast.RemoveClause(
        (
            ast.RemoveProperty(ast.Index(N, ast.Literal("k"))),
            ast.RemoveProperty(ast.Property(ast.Property(N, "a"), "b")),
            ast.RemoveLabels(N, (ast.LabelName("A"), ast.LabelName("B"))),
        )
    )


def test_delete() -> None:
    assert query("MATCH (n) DETACH DELETE n, n.r").clauses[1] == ast.DeleteClause(
        (N, ast.Property(N, "r")), detach=True
    )
    assert query("MATCH (n) NODETACH DELETE n").clauses[1] == ast.DeleteClause((N,))


def test_foreach_holds_clauses() -> None:
    loop = clause("FOREACH (x IN [1] | CREATE (n {v: x}) SET n:A)")
    assert isinstance(loop, ast.ForeachClause)
    assert [type(part) for part in loop.clauses] == [ast.CreateClause, ast.SetClause]


def test_call_subquery() -> None:
    old = clause("CALL { WITH n RETURN 1 AS one } RETURN one")
    assert isinstance(old, ast.CallSubquery)
    assert old.imports is None
    scoped = clause("OPTIONAL CALL (n, x) { RETURN 1 AS one } RETURN one")
    assert isinstance(scoped, ast.CallSubquery)
    assert (scoped.imports, scoped.optional) == ((N, X), True)
    everything = clause("CALL (*) { RETURN 1 AS one } RETURN one")
    assert isinstance(everything, ast.CallSubquery)
    assert everything.import_all


def test_call_in_transactions() -> None:
    batches = clause(
        "CALL () { CREATE () } IN 3 CONCURRENT TRANSACTIONS OF 10 ROWS ON ERROR CONTINUE REPORT STATUS AS x RETURN x"
    )
    assert isinstance(batches, ast.CallSubquery)
    assert batches.in_transactions == ast.InTransactions(ast.Literal(10), ast.Literal(3), "CONTINUE", X)


def test_call_procedure() -> None:
    assert clause("CALL db.labels") == ast.CallProcedure("db.labels", None)
    assert clause("CALL db.labels() YIELD *") == ast.CallProcedure("db.labels", (), star=True)
    assert clause("CALL a.b(1) YIELD c AS x, d WHERE x RETURN x") == ast.CallProcedure(
        "a.b", (ast.Literal(1),), (ast.YieldItem("c", X), ast.YieldItem("d", None)), predicate=X
    )


def test_load_csv() -> None:
    assert clause("LOAD CSV WITH HEADERS FROM $u AS x FIELDTERMINATOR '\\t' RETURN x") == ast.LoadCsvClause(
        ast.Parameter("u"), X, True, "\t"
    )


def test_hints_modes_and_use() -> None:
    match = query("USE a.b MATCH DIFFERENT RELATIONSHIPS (n:A) USING INDEX n:A(x, y) USING JOIN ON n RETURN n").clauses
    assert match[0] == ast.UseClause("a.b")
    assert isinstance(match[1], ast.MatchClause)
    assert match[1].mode == "DIFFERENT RELATIONSHIPS"
    assert match[1].hints == (
        ast.Hint("INDEX", (N,), "A", ("x", "y")),
        ast.Hint("JOIN", (N,)),
    )


def test_union() -> None:
    body = parse("RETURN 1 AS x UNION RETURN 2 AS x UNION ALL RETURN 3 AS x").body
    assert isinstance(body, ast.Union)
    assert len(body.queries) == 3
    assert body.all == (False, True)


def test_modes_and_options() -> None:
    statement = parse("CYPHER 5 runtime=slotted EXPLAIN RETURN 1;")
    assert statement.mode == "EXPLAIN"
    assert statement.options == (("version", "5"), ("runtime", "slotted"))
    assert refusal("CYPHER 4 RETURN 1").code.endswith("ArgumentError")


def test_indexes_and_constraints() -> None:
    assert parse("CREATE INDEX i IF NOT EXISTS FOR (n:A) ON (n.x, n.y) OPTIONS {}").body == CreateIndex(
        "RANGE", "i", "NODE", ("A",), ("x", "y"), True, ast.MapLiteral(())
    )
    assert parse("CREATE FULLTEXT INDEX FOR ()-[r:R|S]-() ON EACH [r.x]").body == CreateIndex(
        "FULLTEXT", None, "RELATIONSHIP", ("R", "S"), ("x",)
    )
    assert parse("CREATE LOOKUP INDEX FOR (n) ON EACH labels(n)").body == CreateIndex("LOOKUP", None, "NODE", (), ())
    assert parse("CREATE CONSTRAINT FOR (n:A) REQUIRE n.x IS :: INT").body == CreateConstraint(
        "TYPED", None, "NODE", "A", ("x",), ast.TypeName("INTEGER")
    )
    assert parse("CREATE CONSTRAINT c FOR ()-[r:R]->() REQUIRE (r.x, r.y) IS RELATIONSHIP UNIQUE").body == (
        CreateConstraint("UNIQUE", "c", "RELATIONSHIP", "R", ("x", "y"))
    )
    assert parse("DROP CONSTRAINT $name IF EXISTS").body == DropSchema("CONSTRAINT", ast.Parameter("name"), True)


def test_show() -> None:
    assert parse("SHOW VECTOR INDEXES").body == Show("INDEXES", "VECTOR")
    shown = parse("SHOW BUILT IN FUNCTIONS YIELD name AS n ORDER BY n LIMIT 1 WHERE n <> '' RETURN n").body
    assert isinstance(shown, Show)
    assert (shown.kind, shown.qualifier) == ("FUNCTIONS", "BUILT IN")
    assert shown.yielded is not None
    assert shown.yielded.limit == ast.Literal(1)
    assert shown.returned is not None
    assert parse("SHOW DATABASE neo4j").body == Show("DATABASES", None, (ast.Literal("neo4j"),))


def test_commands_for_servers_are_recognised_by_name() -> None:
    assert parse("CREATE USER bob SET PASSWORD 'abc'").body == Administration("CREATE USER")
    assert parse("GRANT ROLE r TO u").body == Administration("GRANT")
