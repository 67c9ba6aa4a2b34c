"""Results for other libraries, and their display."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from neo4j.exceptions import ClientError
from neo4j.time import Date
from numpy.typing import NDArray

import hoplite
from hoplite.api.khop import KHopBatch

MOMENTS = "UNWIND [1, 2, null] AS i RETURN {} AS moment"


@pytest.mark.parametrize(
    ("expression", "dtype", "first"),
    [
        ("date('2024-02-0' + i)", "datetime64[s]", "2024-02-01 00:00:00"),
        ("date('9999-12-3' + (i - 1))", "datetime64[s]", "9999-12-30 00:00:00"),
        ("localdatetime('2024-02-0' + i + 'T10:00:00.000000001')", "datetime64[ns]", "2024-02-01 10:00:00.000000001"),
        ("datetime('2024-02-0' + i + 'T10:00Z')", "datetime64[ns, UTC]", "2024-02-01 10:00:00+00:00"),
        (
            "datetime('2024-02-0' + i + 'T10:00[Europe/Stockholm]')",
            "datetime64[ns, Europe/Stockholm]",
            "2024-02-01 10:00:00+01:00",
        ),
    ],
)
def test_dates_in_a_data_frame_are_typed(expression: str, dtype: str, first: str) -> None:
    with hoplite.open() as db:
        frame = db.run(MOMENTS.format(f"CASE WHEN i IS NULL THEN null ELSE {expression} END")).to_df()
    told = str(frame["moment"].dtype)
    assert (told if "s]" in dtype and "ns" not in dtype else told.replace("[us", "[ns")) == dtype
    assert str(frame["moment"][0]) == first
    assert frame["moment"].isna().tolist() == [False, False, True]


@pytest.mark.parametrize(
    "values",
    [
        "[date('2024-01-01'), 1]",
        "[date('2024-01-01'), datetime('2024-01-01T00:00Z')]",
        "[time('10:00Z')]",
        "[]",
        "[null]",
    ],
)
def test_other_columns_of_a_data_frame_stay_as_they_are(values: str) -> None:
    with hoplite.open() as db:
        query = f"UNWIND {values} AS x RETURN x"
        typed, plain = db.run(query).to_df(), db.run(query).to_df(parse_dates=False)
    pandas.testing.assert_frame_equal(typed, plain)


def test_without_parse_dates_a_data_frame_holds_the_values_of_the_driver() -> None:
    with hoplite.open() as db:
        frame = db.run("RETURN date('2024-01-01') AS d").to_df(parse_dates=False)
    assert frame["d"][0] == Date(2024, 1, 1)


def test_a_result_as_a_polars_frame() -> None:
    with hoplite.open() as db:
        frame = db.run("UNWIND [1, 2] AS x RETURN x, 'a' + x AS s, date('2024-01-01') AS d").to_polars()
    assert frame.schema == {"x": polars.Int64, "s": polars.String, "d": polars.Date}
    assert frame["s"].to_list() == ["a1", "a2"]


def test_a_result_as_a_networkx_graph_is_that_of_the_database() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:A:B {name: 'x', labels: 1})-[:R {w: 2, type: 3}]->(:C), (:D)")
        whole = db.to_networkx()
        found = db.run("MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN n, r").to_networkx()
    assert dict(found.nodes(data=True)) == dict(whole.nodes(data=True))
    assert list(found.edges(keys=True, data=True)) == list(whole.edges(keys=True, data=True))


def test_a_result_shows_its_first_rows_and_still_has_them() -> None:
    with hoplite.open() as db:
        result = db.run("UNWIND range(1, 7) AS x RETURN x")
        assert repr(result) == (
            "<Result of 'UNWIND range(1, 7) AS x RETURN x'\n"
            "  <Record x=1>\n  <Record x=2>\n  <Record x=3>\n  <Record x=4>\n  <Record x=5>\n  ...>"
        )
        assert next(result)["x"] == 1
        assert repr(result).count("Record") == 5
        assert result.value() == [2, 3, 4, 5, 6, 7]
        assert repr(result) == "<Result of 'UNWIND range(1, 7) AS x RETURN x', no more rows>"
        assert repr(db.run("MATCH (n) RETURN n")) == "<Result of 'MATCH (n) RETURN n', no rows>"
        assert repr(db.run("RETURN 1 AS x")) == "<Result of 'RETURN 1 AS x'\n  <Record x=1>>"


def test_an_error_that_was_shown_is_raised_for_whoever_reads() -> None:
    with hoplite.open() as db:
        result = db.run("UNWIND [1, 0] AS x RETURN 1 / x AS y")
        assert "/ by zero" in repr(result)
        with pytest.raises(ClientError, match="/ by zero"):
            result.values()


def test_databases_and_sessions_say_what_they_are(tmp_path: Path) -> None:
    with hoplite.open() as db:
        db.run("CREATE (:A)-[:R]->(:B)")
        assert repr(db) == "<Database in memory: 2 nodes, 1 relationships>"
        session = db.session(timeout=2.5, max_rows=10, read_only=True)
        assert repr(session) == f"<Session of {db!r}, timeout=2.5, max_rows=10, read_only=True>"
    assert repr(db) == "<Database in memory, closed>"
    path = str(tmp_path / "kg.hop")
    hoplite.open(path).close()
    with hoplite.open(path, read_only=True) as db:
        assert repr(db) == f"<Database at {path!r}, read-only: 0 nodes, 0 relationships>"


def test_retrieval_has_a_type_for_each_form() -> None:
    with hoplite.open() as db:
        (one,) = db.run("CREATE (a:A)-[:R]->(:B) RETURN id(a)").value()
        assert assert_type(db.khop(one, 1), NDArray[Any]).dtype == np.int64
        assert assert_type(db.khop([[one], []], 1, batch=True), KHopBatch).offsets.tolist() == [0, 2, 2]
        assert isinstance(assert_type(db.khop(one, 1, arrow=True), "pyarrow.Array[Any]"), pyarrow.Array)
        assert len(db.khop(one, 1, paths=True)[0].relationships) == 1
        with pytest.raises(ClientError, match="direction must be"):
            db.khop(one, 1, direction="up")  # type: ignore[call-overload]
