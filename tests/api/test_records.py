"""Records are the driver's, however they were made."""

from __future__ import annotations

import copy
import pickle

import neo4j
import pytest

import hoplite

QUERIES = ("UNWIND [1, 2] AS x RETURN x, x * 0.5 AS y, toString(x) AS z", "RETURN 1 AS x, [1, 2] AS y, null AS z")


@pytest.mark.parametrize("query", QUERIES)
def test_a_record_behaves_as_the_drivers(query: str) -> None:
    with hoplite.open() as db:
        for record in db.run(query):
            same = neo4j.Record(zip(record.keys(), record.values(), strict=True))  # type: ignore[no-untyped-call]
            assert isinstance(record, neo4j.Record) and repr(record) == repr(same)
            assert record == same and same == record
            assert list(record) == record.values() == [record["x"], record["y"], record["z"]]
            assert record.values("z", "x") == [record["z"], record["x"]]
            assert record.data() == same.data() and dict(record) == dict(same)
            assert record[1:] == same[1:] and record[0] == same[0] and record.get("none", 7) == 7
            assert record.value() == record.value("x") and record.index("y") == 1


def test_records_can_be_copied() -> None:
    with hoplite.open() as db:
        record = db.run(QUERIES[0]).peek()
        assert pickle.loads(pickle.dumps(record)) == record and copy.copy(record) == record


def test_reading_on_in_the_middle_of_a_loop_loses_nothing() -> None:
    with hoplite.open() as db:
        result = db.run("UNWIND range(1, 5) AS x RETURN x")
        seen = []
        for record in result:
            seen.append(record["x"])
            if record["x"] == 2:
                assert result.fetch(1)[0]["x"] == 3
                assert result.peek()["x"] == 4  # type: ignore[index]
        assert seen == [1, 2, 4, 5]
