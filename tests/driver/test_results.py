"""Results: the driver's interface over lazy rows, its graph types, and values both ways."""

from __future__ import annotations

from datetime import date
from typing import Any

import neo4j
import neo4j.time
import pytest
from neo4j.exceptions import ResultNotSingleError
from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import CartesianPoint, WGS84Point


def record(values: dict[str, Any]) -> Any:
    """A record; the driver does not annotate its class."""
    make: Any = neo4j.Record
    return make(values)


def test_reading(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        result = session.run("UNWIND range(1, 6) AS x RETURN x, toString(x) AS s")
        assert list(result.keys()) == ["x", "s"]
        assert result.peek() == record({"x": 1, "s": "1"})
        assert result.fetch(2) == [record({"x": 1, "s": "1"}), record({"x": 2, "s": "2"})]
        assert next(result)["s"] == "3"
        assert result.value("s") == ["4", "5", "6"]
        assert result.peek() is None
        assert session.run("RETURN 1 AS a, 2 AS b").values("b", "a") == [[2, 1]]
        assert session.run("RETURN 1 AS a, {k: [1]} AS b").data() == [{"a": 1, "b": {"k": [1]}}]
        assert session.run("RETURN 1 AS a").to_eager_result().keys == ["a"]


def test_single(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        assert session.run("MATCH (n) RETURN n").single() is None
        with pytest.raises(ResultNotSingleError):
            session.run("MATCH (n) RETURN n").single(strict=True)
        with pytest.raises(ResultNotSingleError):
            session.run("UNWIND [1, 2] AS x RETURN x").single(strict=True)
        with pytest.warns(UserWarning, match="single record"):
            assert session.run("UNWIND [1, 2] AS x RETURN x").single() == record({"x": 1})


def test_rows_are_made_as_they_are_asked_for(driver: neo4j.Driver) -> None:
    with driver.session(fetch_size=5) as session:
        result = session.run("UNWIND range(1, 1000000) AS x UNWIND range(1, 1000000) AS y RETURN x, y")
        assert len(result.fetch(12)) == 12
        assert result.consume().query_type == "r"


def test_everything_at_once(driver: neo4j.Driver) -> None:
    with driver.session(fetch_size=-1) as session:
        assert len(session.run("UNWIND range(1, 5000) AS x RETURN x").value()) == 5000


def test_graph_types(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        result = session.run("CREATE p = (a:A:B {x: 1})-[r:R {y: 2}]->(b) RETURN p, a, r, b")
        row = result.single(strict=True)
        path, node, relationship = row["p"], row["a"], row["r"]
        assert isinstance(path, Path)
        assert isinstance(node, Node)
        assert isinstance(relationship, Relationship)
        assert (set(node.labels), dict(node)) == ({"A", "B"}, {"x": 1})
        assert (relationship.type, dict(relationship)) == ("R", {"y": 2})
        assert relationship.nodes == (node, row["b"]) == path.nodes
        assert node.graph is relationship.graph is path.graph
        graph = session.run("MATCH (a)-[r]->(b) RETURN r").graph()
        assert len(graph.nodes) == 2
        assert [r.type for r in graph.relationships] == ["R"]


def test_values_go_in_and_out(driver: neo4j.Driver) -> None:
    values: list[Any] = [
        None,
        True,
        -(2**63),
        1.5,
        "ä",
        b"\x00\x01",
        [1, "a", None],
        {"k": {"l": []}},
        neo4j.time.Date(2020, 2, 29),
        neo4j.time.Time(10, 11, 12, 13),
        neo4j.time.DateTime(2020, 1, 1, 10, 0, 0, 5),
        neo4j.time.Duration(months=1, days=2, seconds=3, nanoseconds=4),
        CartesianPoint((1.0, 2.0)),
        WGS84Point((1.0, 2.0, 3.0)),
    ]
    assert driver.execute_query("RETURN $values AS v", values=values).records[0]["v"] == values
    assert driver.execute_query("RETURN $d AS d", d=date(2020, 1, 1)).records[0]["d"] == neo4j.time.Date(2020, 1, 1)


def test_data_frames(driver: neo4j.Driver) -> None:
    driver.execute_query("CREATE (:A {x: 1, d: date('2020-01-01')})")
    with driver.session() as session:
        frame = session.run("UNWIND [1, 2] AS x RETURN x, 'a' AS s").to_df()
        assert frame.to_dict("list") == {"x": [1, 2], "s": ["a", "a"]}
        expanded = session.run("MATCH (n) RETURN n").to_df(expand=True)
        assert expanded["n().prop.x"].tolist() == [1]
        assert expanded["n().labels"].tolist() == [frozenset({"A"})]
        dates = session.run("MATCH (n) RETURN n.d AS d").to_df(parse_dates=True)
        assert str(dates["d"].dtype).startswith("datetime64")


def test_rows_without_columns_and_columns_without_rows(driver: neo4j.Driver) -> None:
    with driver.session() as session:
        created = session.run("CREATE (:A)")
        assert list(created.keys()) == []
        assert created.data() == []
        empty = session.run("MATCH (n:Nothing) RETURN n AS x")
        assert list(empty.keys()) == ["x"]
        assert list(empty) == []
