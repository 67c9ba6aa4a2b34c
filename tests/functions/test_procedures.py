"""Signatures, tables of users, and the built-in procedures."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite.engine.context import Execution, Setting
from hoplite.engine.functions.document import page
from hoplite.engine.functions.show import function_rows
from hoplite.engine.procedures.lucene import QueryError, parse_query
from hoplite.engine.procedures.lucene_regexp import RegexpError
from hoplite.engine.procedures.registry import PROCEDURES, table_procedure, user_function, user_procedure
from hoplite.engine.procedures.show import procedure_rows
from hoplite.engine.signatures import parse_function_signature, parse_signature
from hoplite.errors import CypherError
from hoplite.planner.types import INTEGER, NUMBER, STRING, list_of
from hoplite.storage.graph import Graph
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.search.analyzers import analyzer
from hoplite.values.entities import NodeRef

DOCUMENTATION = Path(__file__).parents[2] / "docs" / "FUNCTIONS.md"


def execution(graph: Graph) -> Execution:
    """An execution that reads the latest version of the graph."""
    return Execution(graph.snapshot(), {}, Setting({}, _no_plans), 0, cancelled=threading.Event())


def _no_plans(plan: Any, argument: Any, context: Execution) -> Any:
    raise AssertionError("no procedure runs a plan")


def call(graph: Graph, name: str, *arguments: Any) -> list[tuple[Any, ...]]:
    """The rows of a call."""
    rows: list[tuple[Any, ...]] = []
    names = [field.name for field in PROCEDURES[name].signature.outputs]
    for found in PROCEDURES[name].call(execution(graph), arguments):
        if isinstance(found, Mapping):
            rows.append(tuple(found.values()))
        else:
            rows += zip(*(found[name].objects() for name in names), strict=True)
    return rows


@pytest.fixture
def people() -> Graph:
    """Two people and a city, with a vector index and a full-text index."""
    graph = Graph()
    with graph.begin() as transaction:
        ann = transaction.create_node(["Person"], {"name": "Ann Smith", "age": 30, "v": [1.0, 0.0]})
        bob = transaction.create_node(["Person", "Chef"], {"name": "Bob", "v": [0.0, 1.0]})
        oslo = transaction.create_node(["City"], {})
        transaction.create_relationship(ann, bob, "KNOWS", {"since": 2020})
        transaction.create_relationship(bob, oslo, "LIVES_IN", {})
        vectors = {"indexConfig": {"vector.dimensions": 2, "vector.similarity_function": "cosine"}}
        transaction.create_index("vectors", IndexKind.VECTOR, Entity.NODE, ["Person"], ["v"], vectors)
        transaction.create_index("names", IndexKind.FULLTEXT, Entity.NODE, ["Person"], ["name"])
    return graph


def test_a_signature_has_inputs_with_types_and_defaults_and_outputs() -> None:
    signature = parse_signature("test.my(in :: INTEGER?, n = 5 :: LIST<INTEGER | FLOAT>) :: (out :: STRING?)")
    assert signature.name == "test.my"
    assert [(field.name, field.type, field.default, field.has_default) for field in signature.inputs] == [
        ("in", "INTEGER?", None, False),
        ("n", "LIST<INTEGER | FLOAT>", 5, True),
    ]
    assert [field.name for field in signature.outputs] == ["out"]
    assert parse_signature("test.nothing() :: ()").outputs == ()
    assert parse_signature("test.nothing() :: VOID").outputs == ()


def test_a_function_signature_has_a_result() -> None:
    signature = parse_function_signature("my.f(a :: STRING, b = 'x' :: LIST<INTEGER | FLOAT>) :: INTEGER")
    assert [argument.types for argument in signature.arguments] == [(STRING,), (list_of(NUMBER),)]
    assert (signature.least, signature.most) == (1, 2)
    assert signature.returns == (INTEGER,)


@pytest.mark.parametrize("text", ["", "f", "f(", "f(a)", "f(a :: NOPE) :: NOPE"])
def test_broken_signatures_are_refused(text: str) -> None:
    with pytest.raises(ValueError):
        parse_function_signature(text)


def test_a_table_yields_the_rows_whose_inputs_equal_the_arguments() -> None:
    rows: list[dict[str, Any]] = [
        {"a": "x", "n": 1.0, "out": 1},
        {"a": "x", "n": 2.0, "out": 2},
        {"a": None, "n": 1.0, "out": 3},
    ]
    procedure = table_procedure("test.my(a :: STRING?, n :: FLOAT?) :: (out :: INTEGER?)", rows)
    context = execution(Graph())
    assert list(procedure.call(context, ["x", 1])) == [{"out": 1}]
    assert list(procedure.call(context, [None, 1.0])) == [{"out": 3}]
    with pytest.raises(CypherError):
        list(procedure.call(context, [1, 1.0]))


def test_functions_of_users_become_procedures_and_functions() -> None:
    procedure = user_procedure(
        "test.up(n :: INTEGER, by = 2 :: INTEGER) :: (m :: INTEGER)", lambda n, by: [{"m": n + by}]
    )
    assert list(procedure.call(execution(Graph()), [1])) == [{"m": 3}]
    function = user_function("my.add(a :: INTEGER, b = 10 :: INTEGER) :: INTEGER", lambda a, b: a + b)
    assert function.call(1) == 11
    assert function.call(1, 2) == 3


def test_names_in_use(people: Graph) -> None:
    assert call(people, "db.labels") == [("Person",), ("Chef",), ("City",)]
    assert call(people, "db.relationshipTypes") == [("KNOWS",), ("LIVES_IN",)]
    assert call(people, "dbms.components") == [("Neo4j Kernel", ["5.26.12"], "community")]
    assert call(people, "db.awaitIndexes") == []


def test_properties_by_type(people: Graph) -> None:
    rows = call(people, "db.schema.nodeTypeProperties")
    assert (":`Person`", ["Person"], "age", ["Long"], True) in rows
    assert (":`City`", ["City"], None, None, False) in rows
    assert call(people, "db.schema.relTypeProperties") == [
        (":`KNOWS`", "since", ["Long"], True),
        (":`LIVES_IN`", None, None, False),
    ]


def test_the_schema_as_a_picture(people: Graph) -> None:
    ((nodes, relationships),) = call(people, "db.schema.visualization")
    assert [node.labels for node in nodes] == [("Chef",), ("City",), ("Person",)]
    drawn = {(r.start.labels[0], r.type, r.end.labels[0]) for r in relationships}
    assert ("Person", "KNOWS", "Chef") in drawn
    assert ("City", "KNOWS", "Person") not in drawn


def test_nearest_vectors_come_first(people: Graph) -> None:
    assert call(people, "db.index.vector.queryNodes", "vectors", 2, [1, 0]) == [(NodeRef(0), 1.0), (NodeRef(1), 0.5)]
    with pytest.raises(CypherError, match="Index query vector has 3 dimensions, but indexed vectors have 2"):
        call(people, "db.index.vector.queryNodes", "vectors", 2, [1, 0, 0])
    with pytest.raises(CypherError, match="There is no such vector schema index: nope"):
        call(people, "db.index.vector.queryNodes", "nope", 2, [1, 0])


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("ann", {0}),
        ("ANN OR bob", {0, 1}),
        ("ann AND bob", set()),
        ("+ann -smith", set()),
        ("a*", {0}),
        ("anm~", {0}),
        ('"ann smith"', {0}),
        ('"smith ann"', set()),
        ("name:(bob OR nope)", {1}),
        ("nope", set()),
        ("[a TO b]", {0}),
        ("/b.b/", {1}),
    ],
)
def test_full_text_queries(people: Graph, query: str, found: set[int]) -> None:
    rows = call(people, "db.index.fulltext.queryNodes", "names", query)
    assert {node.position for node, _ in rows} == found
    assert all(score > 0 for _, score in rows)


@pytest.mark.parametrize("text", ["", "(", "a AND", ")", "/(/", "/[a/"])
def test_broken_queries_are_refused(text: str) -> None:
    with pytest.raises((QueryError, RegexpError)):
        parse_query(text, ("t",), analyzer("standard"))


def test_show_lists_functions_and_procedures() -> None:
    rows = {row["signature"]: row for row in function_rows()}
    shown = rows["left(original :: STRING, length :: INTEGER) :: STRING"]
    assert (shown["name"], shown["category"]) == ("left", "String")
    assert rows["count(input :: ANY) :: INTEGER"]["aggregating"]
    assert "round(value :: FLOAT, precision :: INTEGER | FLOAT) :: FLOAT" in rows
    assert "db.labels" in [row["name"] for row in procedure_rows()]


def test_the_documentation_is_up_to_date() -> None:
    assert DOCUMENTATION.read_text(encoding="utf-8") == page(), "run python -m hoplite.engine.functions.document"


def test_clearing_the_query_caches_says_how_many_plans_there_were() -> None:
    empty, clear = "Query cache already empty.", "CALL db.clearQueryCaches()"
    with hoplite.open() as db:
        assert db.run(clear).value() == [empty]
        for query in ("RETURN 1", "RETURN 1", "RETURN 2", "EXPLAIN RETURN 1"):
            db.run(query).consume()
        for given in (1, "a", 2):
            db.run("RETURN $x", x=given).consume()
        assert db.run(clear).value() == ["Query caches successfully cleared of 5 queries."]
        assert db.run(clear).value() == [empty]
        db.run("RETURN 1").consume()
        assert db.run(f"{clear} YIELD value RETURN value").value() == [
            "Query caches successfully cleared of 1 queries."
        ]


def test_metadata_of_a_transaction_is_replaced_and_ends_with_it() -> None:
    read = "CALL tx.getMetaData() YIELD metadata RETURN metadata"
    with hoplite.open() as db:
        assert db.run(f"CALL tx.setMetaData({{a: 1}}) {read}").value() == [{"a": 1}]
        assert db.run(read).value() == [{}]
        with db.begin() as transaction:
            transaction.run("CALL tx.setMetaData({a: 1})").consume()
            transaction.run("CALL tx.setMetaData({b: 2})").consume()
            assert transaction.run(read).value() == [{"b": 2}]
        assert db.run(read).value() == [{}]
        with pytest.raises(ClientError, match='because "data" is null'):
            db.run("CALL tx.setMetaData(null)").consume()


def test_the_creation_date_does_not_change() -> None:
    with hoplite.open() as db:
        first = db.run("CALL db.info() YIELD creationDate").value()
        time.sleep(0.002)
        assert db.run("CALL db.info() YIELD creationDate").value() == first
