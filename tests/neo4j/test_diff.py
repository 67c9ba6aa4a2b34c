"""The differ: verdicts from two answers (no server needed), and a whole run against a live Neo4j."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver

import hoplite
from hoplite.cli import main
from hoplite.differ.answers import Answer, Failure
from hoplite.differ.compare import AMONG_EQUALS, TOLERANCE, Verdict, judge, leftovers
from hoplite.differ.queries import read_queries
from hoplite.differ.shape import shape_of
from hoplite.differ.values import canonical


def answer(*rows: tuple[Any, ...], columns: tuple[str, ...] = ("a",)) -> Answer:
    made = tuple(tuple(canonical(value, lambda entity: None) for value in row) for row in rows)
    return Answer(columns, made, {})


def failure(code: str) -> Answer:
    return Answer(failure=Failure(code, "no"))


def verdict(query: str, ours: Answer, theirs: Answer, whole: tuple[Answer, Answer] | None = None) -> Verdict:
    def without_limit() -> tuple[Answer, Answer]:
        assert whole is not None
        return whole

    return judge(ours, theirs, shape_of(query), TOLERANCE, without_limit)[0]


def test_rows_are_a_multiset_without_order_by() -> None:
    assert verdict("MATCH (n) RETURN n.a AS a", answer((1,), (2,)), answer((2,), (1,))) is Verdict.EQUAL
    assert verdict("MATCH (n) RETURN n.a AS a", answer((1,), (1,)), answer((1,))) is Verdict.DIFFERENT


def test_order_by_fixes_the_order_of_its_keys_only() -> None:
    query = "MATCH (n) RETURN n.a AS a, n.b AS b ORDER BY a"
    columns = ("a", "b")
    ours = answer((1, "x"), (1, "y"), (2, "z"), columns=columns)
    assert verdict(query, ours, answer((1, "y"), (1, "x"), (2, "z"), columns=columns)) is Verdict.EQUAL
    assert verdict(query, ours, answer((2, "z"), (1, "x"), (1, "y"), columns=columns)) is Verdict.DIFFERENT


def test_types_count_and_the_last_digits_of_floats_do_not() -> None:
    assert verdict("RETURN 1 AS a", answer((1,)), answer((1.0,))) is Verdict.DIFFERENT
    assert verdict("RETURN 1 AS a", answer((True,)), answer((1,))) is Verdict.DIFFERENT
    assert verdict("RETURN 1 AS a", answer((0.1 + 0.2,)), answer((0.3,))) is Verdict.EQUAL
    assert verdict("RETURN 1 AS a", answer((float("nan"),)), answer((float("nan"),))) is Verdict.EQUAL


def test_lists_of_no_order_are_compared_without_one() -> None:
    ours, theirs = answer(([1, 2],)), answer(([2, 1],))
    assert verdict("MATCH (n) RETURN collect(n.a) AS a", ours, theirs) is Verdict.EQUAL
    assert verdict("MATCH (n) RETURN n.list AS a", ours, theirs) is Verdict.DIFFERENT


def test_a_limit_without_order_may_keep_any_rows_of_the_whole() -> None:
    query = "MATCH (n) RETURN n.a AS a LIMIT 1"
    whole = answer((1,), (2,))
    assert verdict(query, answer((1,)), answer((2,)), (whole, whole)) is Verdict.NONDETERMINISTIC
    assert verdict(query, answer((3,)), answer((2,)), (whole, whole)) is Verdict.DIFFERENT
    assert verdict(query, answer((1,)), answer((2,)), (whole, answer((2,)))) is Verdict.DIFFERENT


def test_a_limit_half_way_and_chance_leave_rows_open() -> None:
    for query in ("MATCH (n) WITH n LIMIT 1 RETURN n.a AS a", "RETURN rand() AS a", "RETURN datetime() AS a"):
        assert verdict(query, answer((1,)), answer((2,))) is Verdict.NONDETERMINISTIC
    assert verdict("RETURN datetime('2020-01-01T00:00Z') AS a", answer((1,)), answer((2,))) is Verdict.DIFFERENT


def test_a_limit_is_held_against_the_whole_where_paths_are_open_too() -> None:
    query = "MATCH ANY SHORTEST (n)-->+(m) RETURN m.a AS a LIMIT 1"
    whole = answer((1,), (2,))
    judgement = judge(answer((1,)), answer((2,)), shape_of(query), TOLERANCE, lambda: (whole, whole))
    assert judgement[:2] == (Verdict.NONDETERMINISTIC, AMONG_EQUALS)


def test_distinct_lists_of_no_order_may_be_more_rows_or_fewer() -> None:
    ours, theirs = answer(([1, 2],), ([2, 1],)), answer(([2, 1],))
    distinct, every = (f"MATCH (n) RETURN {word} COLLECT {{ RETURN 1 }} AS a" for word in ("DISTINCT", ""))
    assert verdict(distinct, ours, theirs) is Verdict.NONDETERMINISTIC
    assert verdict(every, ours, theirs) is Verdict.DIFFERENT
    assert verdict(distinct, ours, answer(([2, 2],))) is Verdict.DIFFERENT


def test_one_of_equal_rows_may_stand_for_all() -> None:
    for query in ("MATCH (n) RETURN DISTINCT n.a AS a", "MATCH (n) RETURN max(n.a) AS a"):
        assert verdict(query, answer((1,)), answer((1.0,))) is Verdict.NONDETERMINISTIC
        assert verdict(query, answer((1,)), answer((2.0,))) is Verdict.DIFFERENT
    assert verdict("MATCH (n) RETURN n.a AS a", answer((1,)), answer((1.0,))) is Verdict.DIFFERENT


def test_errors_are_compared_by_code() -> None:
    syntax, arithmetic = "Neo.ClientError.Statement.SyntaxError", "Neo.ClientError.Statement.ArithmeticError"
    assert verdict("RETURN 1/0", failure(arithmetic), failure(arithmetic)) is Verdict.BOTH_ERROR
    assert verdict("RETURN 1/0", failure(syntax), failure(arithmetic)) is Verdict.DIFFERENT
    assert verdict("RETURN 1/0", answer((1,)), failure(arithmetic)) is Verdict.ONE_ERROR
    timed_out = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
    assert verdict("RETURN 1", answer((1,)), failure(timed_out)) is Verdict.SKIPPED


def test_the_query_without_its_limit_and_with_its_sort_keys() -> None:
    shape = shape_of("MATCH (n) RETURN n.name AS name ORDER BY n.age DESC SKIP 1 LIMIT toInteger(rand())")
    assert shape.unlimited == "MATCH (n) RETURN n.name AS name ORDER BY n.age DESC "
    assert shape.keyed is not None and shape.keyed.startswith(
        "MATCH (n) RETURN n.name AS name, n.age AS `sort key 0` ORDER BY n.age DESC"
    )


def test_leftovers_pair_rows_whose_floats_are_close() -> None:
    ours, theirs = answer((0.1 + 0.2,), (5,)).rows, answer((0.3,), (6,)).rows
    assert leftovers(ours, theirs) == (answer((5,)).rows, answer((6,)).rows)


def test_a_limit_may_come_before_or_after_the_row_of_an_error() -> None:
    query = "MATCH (n) RETURN 1 / n.a AS a LIMIT 1"
    broken = failure("Neo.ClientError.Statement.ArithmeticError")
    assert verdict(query, answer((1,)), broken, (broken, broken)) is Verdict.NONDETERMINISTIC
    assert verdict(query, answer((1,)), broken, (answer((1,)), broken)) is Verdict.ONE_ERROR
    assert verdict(query, answer((1,)), broken, (answer((1,)), answer((1,)))) is Verdict.ONE_ERROR


def test_queries_come_from_cypher_and_json_lines(tmp_path: Path) -> None:
    (tmp_path / "a.cypher").write_text("RETURN ';' AS x;\nRETURN 2", encoding="utf-8")
    (tmp_path / "b.jsonl").write_text('{"id": "q", "cypher": "RETURN $p", "parameters": {"p": 1}}\n', encoding="utf-8")
    queries = read_queries(tmp_path)
    assert [(query.name, query.text) for query in queries] == [
        ("a 1", "RETURN ';' AS x"),
        ("a 2", "RETURN 2"),
        ("q", "RETURN $p"),
    ]
    assert queries[2].parameters == {"p": 1}


@pytest.mark.neo4j
def test_a_run_beside_a_server(empty: Driver) -> None:
    empty.execute_query("CREATE (a:A {x: 1})-[:R {w: 2.5}]->(b:B {x: 2}), (b)-[:R]->(b)")
    db = hoplite.import_neo4j(empty)
    queries = {
        "MATCH (n) RETURN n": "equal",
        "MATCH p = (n)-[r]->() RETURN p, r": "equal",
        "MATCH (n) RETURN n LIMIT 1": "equal",
        "MATCH (n) SET n.x = n.x + 1 RETURN count(*) AS c": "equal",
        "CREATE (n:New {x: 1})-[:T]->(:New) RETURN n": "equal",
        "RETURN 1 / 0": "both error",
        "MATCH (n": "both error",
        "RETURN rand() AS r": "nondeterministic",
    }
    report = hoplite.diff(db, empty, queries)
    assert [one.verdict.value for one in report.comparisons] == list(queries.values())
    assert report.exit_code == 0
    db.run("MATCH (n:A) SET n.x = 7")
    changed = hoplite.diff(db, empty, ["MATCH (n) RETURN n.x AS x"])
    assert changed.exit_code == 1
    (one,) = changed.comparisons
    assert (one.verdict, one.jaccard) == (Verdict.DIFFERENT, 1 / 3)
    page = changed.to_html()
    assert "only Hoplite" in page and "http" not in page.replace("http-equiv", "")
    assert json.loads(changed.to_json())["queries"][0]["hoplite"]["only_here"] == [["7"]]
    assert empty.execute_query("MATCH (n) RETURN sum(n.x) AS s").records[0]["s"] == 3  # writes were undone


@pytest.mark.neo4j
def test_ids_are_matched_through_the_import(empty: Driver) -> None:
    empty.execute_query("CREATE (:Gone)")
    empty.execute_query("CREATE (:A)-[:R]->(:B), (:A)-[:R]->(:B)")
    empty.execute_query("MATCH (n:Gone) DELETE n")
    db = hoplite.import_neo4j(empty)
    queries = [
        "MATCH (n:A) RETURN elementId(n) AS e, [elementId(n)] AS list",
        "MATCH ()-[r]->() RETURN {e: elementId(r)} AS map",
        "MATCH (n) RETURN id(n) AS number",
        "MATCH (a)-[r]->(b) RETURN id(a), id(r) AS r, id(b) ORDER BY r",
    ]
    report = hoplite.diff(db, empty, queries)
    assert report.counts() == {"equal": 4}, report.to_json()
    unlike = hoplite.diff(db, empty, ["MATCH (n:A) RETURN elementId(n) + '!' AS text"])
    assert unlike.counts() == {"different": 1}


@pytest.mark.neo4j
def test_the_command(empty: Driver, neo4j_uri: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    empty.execute_query("CREATE (:A {x: 1})")
    queries = tmp_path / "queries.cypher"
    queries.write_text("MATCH (n) RETURN n.x;\nRETURN 1;", encoding="utf-8")
    page = tmp_path / "report.html"
    arguments = ["diff", "--neo4j", neo4j_uri, "--queries", str(queries), "--import", "--html", str(page)]
    assert main(arguments) == 0
    assert "2 equal" in capsys.readouterr().out
    assert "<table>" in page.read_text(encoding="utf-8")
    empty.execute_query("MATCH (n) SET n.x = 2")
    (tmp_path / "graph.jsonl").write_text(
        '{"type": "node", "id": 0, "labels": ["A"], "properties": {"x": 1}}\n', encoding="utf-8"
    )
    graph = str(tmp_path / "graph.jsonl")
    assert main(["diff", "--neo4j", neo4j_uri, "--queries", str(queries), "--graph", graph]) == 1
    assert "1 different" in capsys.readouterr().out
