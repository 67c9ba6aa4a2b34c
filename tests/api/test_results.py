"""Results are the driver's own types, in every form they can be read in."""

from __future__ import annotations

from collections.abc import Iterator

import neo4j
import neo4j.graph
import pytest
from neo4j.exceptions import ResultNotSingleError

import hoplite


@pytest.fixture
def db() -> Iterator[hoplite.Database]:
    with hoplite.open() as db:
        db.run("CREATE (:Drug {name: 'A', w: 1})-[:R {since: 2000}]->(:Drug {name: 'B', w: 2})").consume()
        yield db


def test_rows_are_records(db: hoplite.Database) -> None:
    (record,) = db.run("MATCH (d:Drug {name: 'A'}) RETURN d.name AS name, d.w AS w")
    assert isinstance(record, neo4j.Record)
    assert record["name"] == "A" and record[1] == 1 and record.data() == {"name": "A", "w": 1}


def test_entities_are_the_drivers(db: hoplite.Database) -> None:
    ((path,),) = db.run("MATCH p = (:Drug {name: 'A'})-[:R]->() RETURN p").values()
    assert isinstance(path, neo4j.graph.Path)
    start, end = path.nodes
    (hop,) = path.relationships
    assert (
        isinstance(start, neo4j.graph.Node)
        and start.labels == frozenset({"Drug"})
        and dict(start) == {"name": "A", "w": 1}
    )
    assert isinstance(hop, neo4j.graph.Relationship) and hop.type == "R" and hop["since"] == 2000
    assert hop.start_node == start and hop.end_node == end
    ((again,),) = db.run("MATCH (d) WHERE elementId(d) = $id RETURN d", id=start.element_id).values()
    assert again.element_id == start.element_id


def test_the_forms_of_a_result(db: hoplite.Database) -> None:
    query = "MATCH (d:Drug) RETURN d.name AS name, d.w AS w ORDER BY name"
    assert list(db.run(query).keys()) == ["name", "w"]
    assert db.run(query).values() == [["A", 1], ["B", 2]]
    assert db.run(query).value("w") == [1, 2]
    assert db.run(query).data() == [{"name": "A", "w": 1}, {"name": "B", "w": 2}]
    assert db.run(query).to_df().to_dict("list") == {"name": ["A", "B"], "w": [1, 2]}
    assert db.run(query).to_arrow().to_pydict() == {"name": ["A", "B"], "w": [1, 2]}


def test_a_result_as_a_graph(db: hoplite.Database) -> None:
    graph = db.run("MATCH (a)-[r]->(b) RETURN a, r, b").graph()
    assert isinstance(graph, neo4j.graph.Graph)
    assert len(graph.nodes) == 2 and len(graph.relationships) == 1


def test_single(db: hoplite.Database) -> None:
    record = db.run("MATCH (d:Drug {name: 'A'}) RETURN d.w AS w").single(strict=True)
    assert record is not None and record["w"] == 1
    assert db.run("MATCH (d:Nothing) RETURN d").single() is None
    with pytest.raises(ResultNotSingleError):
        db.run("MATCH (d:Drug) RETURN d").single(strict=True)


def test_a_summary_counts_what_changed(db: hoplite.Database) -> None:
    summary = db.run("CREATE (:X {a: 1})-[:Y]->(:X)").consume()
    assert isinstance(summary, neo4j.ResultSummary)
    counters = summary.counters
    assert (counters.nodes_created, counters.relationships_created, counters.properties_set, counters.labels_added) == (
        2,
        1,
        1,
        2,
    )
    assert summary.query_type == "w"
    assert db.run("MATCH (n) RETURN n").consume().query_type == "r"


def test_a_reading_result_keeps_its_snapshot(db: hoplite.Database) -> None:
    result = iter(db.run("MATCH (d:Drug) RETURN d.name ORDER BY d.name"))
    assert next(result)[0] == "A"
    db.run("MATCH (d:Drug) DETACH DELETE d").consume()
    assert next(result)[0] == "B"
    assert db.run("MATCH (d:Drug) RETURN count(d)").value() == [0]


def test_columns_and_rows_as_lists_are_those_of_the_records(db: hoplite.Database) -> None:
    text = "UNWIND [3, 'x', null, [1]] AS mixed RETURN size(toString(1)) AS one, mixed"
    records = list(db.run(text))
    for key in (0, 1, -1, 7, "one", "mixed", "missing"):
        assert db.run(text).value(key, "?") == [record.value(key, "?") for record in records], key
    for keys in ((), (1,), ("mixed", "one"), (5,)):
        try:
            wanted = [record.values(*keys) for record in records]
        except IndexError:
            with pytest.raises(IndexError):
                db.run(text).values(*keys)
        else:
            assert db.run(text).values(*keys) == wanted


def test_a_list_of_values_goes_on_where_reading_stopped(db: hoplite.Database) -> None:
    result = db.run("UNWIND range(1, 5) AS x RETURN x, [x] AS list")
    assert next(result)["x"] == 1
    assert result.peek() is not None
    assert result.value("x") == [2, 3, 4, 5]
    assert result.value() == [] and result.values() == []


EVERY_KIND = [
    "UNWIND [1, 2, null] AS x RETURN x, x / 2.0 AS half, x = 1 AS one, toString(x) AS text, null AS nothing",
    "MATCH (a)-[r]->(b) RETURN a, r, b, [a, r] AS list, {n: a, at: date('2020-01-01')} AS map",
    "MATCH p = (:Drug {name: 'A'})-[:R]->() RETURN p, [p] AS paths, relationships(p) AS rs",
    "OPTIONAL MATCH (n:Nobody) RETURN n, [n] AS list",
    "RETURN date('2020-01-01') AS d, duration('P1D') AS p, point({x: 1, y: 2}) AS here, [[1, [2.5]], {a: 'b'}] AS l",
    "UNWIND [] AS x RETURN x",
    "CALL apoc.create.vNode(['V'], {x: 1}) YIELD node RETURN node",
]


@pytest.mark.parametrize("query", EVERY_KIND)
def test_plain_data_is_that_of_the_records(db: hoplite.Database, query: str) -> None:
    expected = [record.data() for record in db.run(query)]  # the driver's own method
    assert db.run(query).data() == expected
    assert [list(map(type, row.values())) for row in db.run(query).data()] == [
        list(map(type, row.values())) for row in expected
    ]
    read_from = db.run(query)
    first = [record.data() for record in read_from.fetch(1)]
    assert first + read_from.data() == expected


def test_rows_one_after_another_are_those_of_the_records(db: hoplite.Database) -> None:
    for query in ("UNWIND range(1, 1000) AS x RETURN x, toString(x) AS t", "UNWIND [[1], {a: 2}, null] AS x RETURN x"):
        assert list(map(list, db.run(query).each_row())) == db.run(query).values()
        assert [list(record.values()) for record in db.run(query)] == db.run(query).values()


def test_plain_data_of_chosen_columns(db: hoplite.Database) -> None:
    query = "MATCH (d:Drug) RETURN d.name AS name, d.w AS w ORDER BY name"
    assert db.run(query).data("w", "other") == [{"w": 1, "other": None}, {"w": 2, "other": None}]
    with pytest.raises(IndexError):
        db.run(query).data(5)


def test_a_value_that_the_driver_does_not_know_cannot_be_read_as_data(db: hoplite.Database) -> None:
    result = db.run("UNWIND [date('2020-01-01'), date('+12020-01-01')] AS d RETURN d")
    with pytest.raises(neo4j.exceptions.BrokenRecordError):
        result.data()
