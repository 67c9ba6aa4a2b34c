"""APOC functions and procedures, with the answers of APOC core 5.26."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from hoplite.engine.context import Execution, Setting
from hoplite.engine.functions.registry import FUNCTIONS
from hoplite.engine.procedures.registry import PROCEDURES
from hoplite.errors import CypherError
from hoplite.storage.graph import Graph
from hoplite.storage.transaction import Transaction
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.temporal import Date


def call(name: str, *arguments: Any) -> Any:
    """The function as the evaluator calls it."""
    function = FUNCTIONS[name.lower()]
    execution = Execution(Graph().snapshot(), {}, Setting({}, _no_plans), 0)
    return function.call(execution, *arguments) if function.needs_context else function.call(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("apoc.coll.toSet", ([1, 1.0, 2, None, None, "a"],), [1, 2, None, "a"]),
        ("apoc.coll.toSet", (None,), None),
        ("apoc.coll.intersection", ([1, 2, 2, 3], [2, 3, 3, 4]), [2, 3]),
        ("apoc.coll.intersection", (None, [1]), []),
        ("apoc.coll.union", (None, [1, 1]), [1, 1]),
        ("apoc.coll.subtract", ([1, 1, 2], [2]), [1]),
        ("apoc.coll.removeAll", ([1, 1, 2], [2]), [1, 1]),
        ("apoc.coll.disjunction", ([1, 2], [2, 3]), [1, 3]),
        ("apoc.coll.avg", ([],), None),
        ("apoc.coll.sum", ([1, 2],), 3.0),
        ("apoc.coll.max", ([1, 3.5, None],), 3.5),
        ("apoc.coll.sort", (["b", "A", "a"],), ["A", "a", "b"]),
        ("apoc.coll.pairs", ([1, 2],), [[1, 2], [2, None]]),
        ("apoc.coll.pairs", ([],), []),
        ("apoc.coll.flatten", ([[1], [2, [3]], 4],), [1, 2, [3], 4]),
        ("apoc.coll.flatten", ([[1], [2, [3]]], True), [1, 2, 3]),
        ("apoc.coll.contains", ([1.0], 1), True),
        ("apoc.coll.contains", ([None], None), False),
        ("apoc.coll.zip", ([1, 2, 3], [1]), [[1, 1], [2, None], [3, None]]),
        ("apoc.coll.frequencies", ([1, 1],), [{"item": 1, "count": 2}]),
        ("apoc.coll.stdev", ([1, 2, 3],), 1),
        ("apoc.coll.insert", ([1, 2], 5, 9), [1, 2]),
        ("apoc.coll.combinations", ([1, 2, 3], 2), [[1, 2], [1, 3], [2, 3]]),
        ("apoc.text.join", (["a", None], ","), "a,null"),
        ("apoc.text.indexOf", ("abcb", "b", 2), 3),
        ("apoc.text.levenshteinSimilarity", ("kitten", "sitting"), pytest.approx(0.5714285714285714)),
        ("apoc.text.jaroWinklerDistance", ("martha", "marhta"), pytest.approx(0.03888888888888886)),
        ("apoc.text.sorensenDiceSimilarity", ("night", "nacht"), 0.25),
        ("apoc.text.camelCase", ("Foo bar_baz",), "fooBarBaz"),
        ("apoc.text.snakeCase", ("FooBar baz",), "foo-bar-baz"),
        ("apoc.text.clean", ("Hello, Wörld 1!",), "hellowoerld1"),
        ("apoc.text.lpad", ("a", 3), "  a"),
        ("apoc.text.regreplace", ("abc", "(a)", "$1$1"), "aabc"),
        ("apoc.text.split", ("a,b,c", ",", 2), ["a", "b,c"]),
        ("apoc.text.regexGroups", ("<x> <y>", r"<(\w)>"), [["<x>", "x"], ["<y>", "y"]]),
        ("apoc.util.md5", (["a", 1],), "8a8bb7cd343aa2ad99b7d762030857a2"),
        ("apoc.map.clean", ({"a": 1, "b": "", "c": None, "d": "x"}, ["a"], [""]), {"d": "x"}),
        ("apoc.map.merge", (None, {"b": 2}), {"b": 2}),
        ("apoc.map.get", ({"a": 1}, "b", 7), 7),
        ("apoc.map.values", ({"a": 1}, ["a", "c"], True), [1, None]),
        ("apoc.map.sortedProperties", ({"b": 1, "a": 2},), [["a", 2], ["b", 1]]),
        ("apoc.map.groupByMulti", ([{"k": 1}], "k"), {"1": [{"k": 1}]}),
        ("apoc.convert.toJson", ({"a": [1, 2.5, None, "x"], "b": Date(0)},), '{"a":[1,2.5,null,"x"],"b":"1970-01-01"}'),
        ("apoc.convert.fromJsonMap", ('{"a":[1.5]}',), {"a": [1.5]}),
        ("apoc.convert.toList", (1,), [1]),
        ("apoc.date.format", (0,), "1970-01-01 00:00:00"),
        ("apoc.date.format", (1577934245000, "ms", "EEE, d MMM yyyy HH:mm:ss"), "Thu, 2 Jan 2020 03:04:05"),
        ("apoc.date.parse", ("2020-01-02", "s", "yyyy-MM-dd"), 1577923200),
        ("apoc.date.convertFormat", ("2020-01-02", "yyyy-MM-dd", "dd/MM/yyyy"), "02/01/2020"),
        ("apoc.date.toISO8601", (0,), "1970-01-01T00:00:00.000Z"),
        ("apoc.date.field", (0, "year"), 1970),
        ("apoc.temporal.format", (Date(18263), "dd.MM.yyyy"), "02.01.2020"),
        ("apoc.meta.cypher.type", ([1],), "LIST OF INTEGER"),
    ],
)
def test_functions(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    assert call(name, *arguments) == expected


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("apoc.map.get", ({"a": 1}, "b"), "Key b is not of one of the existing keys [a]"),
        ("apoc.date.parse", ("nope",), 'Unparseable date: "nope"'),
        ("apoc.text.split", ("a", "("), "Failed to invoke function `apoc.text.split`"),
        ("apoc.coll.sum", ([1, None],), "Failed to invoke function `apoc.coll.sum`"),
    ],
)
def test_functions_that_fail(name: str, arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(CypherError) as failure:
        call(name, *arguments)
    assert failure.value.code == "Neo.ClientError.Procedure.ProcedureCallFailed"
    assert message in failure.value.message


# --- procedures ---


def _no_plans(plan: Any, argument: Any, context: Execution) -> Any:
    raise AssertionError("no procedure runs a plan")


def run(transaction: Transaction, name: str, *arguments: Any) -> list[Any]:
    """The rows of a call inside a transaction; of one column, its values."""
    context = Execution(transaction, {}, Setting({}, _no_plans), 0)
    context.writer = transaction
    rows = [tuple(row.values()) for row in PROCEDURES[name].call(context, arguments) if isinstance(row, Mapping)]
    return [row[0] if len(row) == 1 else row for row in rows]


def test_merging_a_node_finds_it_or_makes_it() -> None:
    with Graph().begin() as transaction:
        (made,) = run(transaction, "apoc.merge.node", ["A", "B"], {"id": 1}, {"c": 1}, {"m": 2})
        (found,) = run(transaction, "apoc.merge.node", ["A"], {"id": 1}, {"c": 5}, {"m": 2})
        assert made == found
        assert transaction.node_properties(made.position) == {"id": 1, "c": 1, "m": 2}
        assert run(transaction, "apoc.merge.node", ["A"], {"id": 2}) != [made]
        with pytest.raises(CypherError, match="at least one identifying property"):
            run(transaction, "apoc.merge.node", ["A"], {})


def test_merging_a_relationship_finds_it_or_makes_it() -> None:
    with Graph().begin() as transaction:
        start, end = (NodeRef(transaction.create_node([], {})) for _ in range(2))
        arguments = (start, "T", {"k": 1}, {"c": 1}, end, {"m": 1})
        (made,) = run(transaction, "apoc.merge.relationship", *arguments)
        assert isinstance(made, RelationshipRef)
        assert run(transaction, "apoc.merge.relationship", *arguments) == [made]
        assert transaction.relationship_properties(made.position) == {"k": 1, "c": 1, "m": 1}
        assert run(transaction, "apoc.merge.relationship", end, "T", {"k": 1}, {}, start) != [made]


def test_labels_and_properties_that_are_values() -> None:
    with Graph().begin() as transaction:
        (node,) = run(transaction, "apoc.create.node", ["A"], {"x": 1, "y": None})
        run(transaction, "apoc.create.addLabels", [node], ["B", "C"])
        run(transaction, "apoc.create.setLabels", node, ["C", "D"])
        run(transaction, "apoc.create.setProperty", node, "p", 5)
        labels = PROCEDURES["db.labels"]
        assert labels.signature.outputs[0].name == "label"
        assert transaction.node_properties(node.position) == {"x": 1, "p": 5}
        assert set(run(transaction, "db.labels")) == {"C", "D"}


def test_several_nodes_become_one() -> None:
    with Graph().begin() as transaction:
        first = NodeRef(transaction.create_node(["A"], {"id": 1, "x": 1}))
        second = NodeRef(transaction.create_node(["B"], {"id": 2}))
        friend = transaction.create_node([], {})
        transaction.create_relationship(second.position, friend, "KNOWS", {"since": 1})
        transaction.create_relationship(first.position, friend, "KNOWS", {})
        settings = {"properties": "combine", "mergeRels": True}
        assert run(transaction, "apoc.refactor.mergeNodes", [first, second], settings) == [first]
        assert transaction.node_properties(first.position) == {"id": [1, 2], "x": 1}
        assert transaction.relationship_count == 1
        assert transaction.node_count == 2


def test_the_shape_of_a_graph_as_a_table() -> None:
    with Graph().begin() as transaction:
        ann = transaction.create_node(["Person"], {"name": "Ann", "tags": ["a"]})
        oslo = transaction.create_node(["City"], {})
        transaction.create_relationship(ann, oslo, "LIVES_IN", {"since": 1})
        rows = run(transaction, "apoc.meta.data")
        described = {(row[0], row[1], row[6], row[-1]) for row in rows}
        assert described == {
            ("Person", "name", "STRING", "node"),
            ("Person", "tags", "LIST", "node"),
            ("Person", "LIVES_IN", "RELATIONSHIP", "node"),
            ("LIVES_IN", "Person", "RELATIONSHIP", "relationship"),
            ("LIVES_IN", "since", "INTEGER", "relationship"),
        }
        (schema,) = run(transaction, "apoc.meta.schema")
        assert schema["Person"]["relationships"]["LIVES_IN"]["labels"] == ["City"]
        assert schema["City"]["relationships"]["LIVES_IN"]["direction"] == "in"
        stats = run(transaction, "apoc.meta.stats")[0][-1]
        assert stats["relTypes"]["(:Person)-[:LIVES_IN]->()"] == 1
