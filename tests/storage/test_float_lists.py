"""Lists of floats of one length are the rows of a matrix, in memory and on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoplite
from hoplite.values.columns import FloatLists


def _column(database: hoplite.Database, key: str) -> Any:
    return database._graph.snapshot()._delta.base.node_columns[key].whole().column


def _values(database: hoplite.Database, key: str = "e") -> list[Any]:
    return [record["e"] for record in database.run(f"MATCH (d:D) RETURN d.{key} AS e ORDER BY d.id")]


@pytest.fixture(params=["memory", "disk"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    with hoplite.Database(tmp_path / "kg.hop") if request.param == "disk" else hoplite.Database() as made:
        yield made


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_a_matrix_is_loaded_as_a_matrix(database: hoplite.Database, dtype: Any) -> None:
    matrix = np.random.default_rng(1).standard_normal((50, 7)).astype(dtype)
    database.load(nodes={"D": {"id": np.arange(50), "e": matrix}})
    column = _column(database, "e")
    assert isinstance(column, FloatLists)
    assert column.matrix.dtype.itemsize == max(np.dtype(dtype).itemsize, 4)
    assert _values(database) == matrix.astype(np.float64).tolist()


def test_lists_with_nulls_between_them_stay_a_matrix(database: hoplite.Database) -> None:
    lists = [[1.5, float(row)] if row % 3 else None for row in range(30)]
    database.load(nodes={"D": {"id": list(range(30)), "e": lists}})
    assert isinstance(_column(database, "e"), FloatLists)
    assert _values(database) == lists


def test_few_lists_among_many_nodes_stay_a_matrix(database: hoplite.Database) -> None:
    lists = [[0.1, -0.0, float(row)] if row % 10 == 0 else None for row in range(100)]
    database.load(nodes={"D": {"id": list(range(100)), "e": lists}})
    assert isinstance(_column(database, "e"), FloatLists)
    assert str(_values(database)) == str(lists)


def test_written_lists_become_a_matrix_and_are_changed_in_it(database: hoplite.Database) -> None:
    database.run("UNWIND range(0, 39) AS i CREATE (:D {id: i, e: [0.5 * i, 0.1]})").consume()
    database.checkpoint()
    assert isinstance(_column(database, "e"), FloatLists)
    database.run("MATCH (d:D {id: 3}) SET d.e = [7.25, 8.5]").consume()
    database.run("MATCH (d:D {id: 4}) REMOVE d.e").consume()
    expected: list[Any] = [[0.5 * i, 0.1] for i in range(40)]
    expected[3], expected[4] = [7.25, 8.5], None
    assert _values(database) == expected
    database.checkpoint()
    assert isinstance(_column(database, "e"), FloatLists)
    assert _values(database) == expected


@pytest.mark.parametrize("other", ["[1.5]", "[1, 2]", "'text'", "[true, false]", "3.5"])
def test_another_value_beside_them_is_kept(database: hoplite.Database, other: str) -> None:
    database.load(nodes={"D": {"id": np.arange(20), "e": np.ones((20, 2))}})
    database.run(f"MATCH (d:D {{id: 3}}) SET d.e = {other}").consume()
    before = _values(database)
    database.checkpoint()
    assert _values(database) == before
    assert before[3] == next(iter(database.run(f"RETURN {other} AS e")))["e"]
    assert before[4] == [1.0, 1.0]


def test_extreme_floats_are_kept(database: hoplite.Database) -> None:
    numbers = [1e300, -0.0, float("inf"), float("nan"), 5e-324, 0.1]
    database.run("CREATE (:D {id: 1, e: $e})", e=numbers).consume()
    database.checkpoint()
    assert str(_values(database)[0]) == str(numbers)


def test_arrow_lists_are_loaded_as_a_matrix(database: hoplite.Database) -> None:
    import pyarrow as pa

    fixed = pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float32(), 2))
    loose = pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float64()))
    ragged = pa.array([[1.0], None, [3.0, 4.0]], pa.list_(pa.float64()))
    database.load(nodes={"D": pa.table({"id": [1, 2, 3], "f": fixed, "l": loose, "r": ragged})})
    assert isinstance(_column(database, "f"), FloatLists)
    assert isinstance(_column(database, "l"), FloatLists)
    assert _values(database, "f") == _values(database, "l") == [[1.0, 2.0], None, [3.0, 4.0]]
    assert _values(database, "r") == [[1.0], None, [3.0, 4.0]]


def test_a_list_with_a_null_is_refused(database: hoplite.Database) -> None:
    import pyarrow as pa

    with pytest.raises(Exception, match="null"):
        database.load(nodes={"D": pa.table({"id": [1], "e": pa.array([[1.0, None]], pa.list_(pa.float64()))})})
