"""apoc.agg.*, with the answers of APOC core 5.26."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import ClientError

import hoplite


@pytest.fixture(scope="module")
def db() -> hoplite.Database:
    return hoplite.open()


def aggregated(db: hoplite.Database, call: str, values: list[Any]) -> Any:
    (record,) = db.run(f"UNWIND $values AS x RETURN apoc.agg.{call} AS value", values=values)
    return record["value"]


@pytest.mark.parametrize(
    ("call", "values", "expected"),
    [
        ("first(x)", [None, 1, 2], 1),
        ("last(x)", [1, 2, None], 2),
        ("nth(x, 1)", [None, 1, None, 2], 2),
        ("nth(x, -1)", [1, 2, 3], 3),
        ("nth(x, 9)", [1], None),
        ("slice(x)", [1, None, 2], [1, 2]),
        ("slice(x, 1, 2)", [1, 2, 3, 4], [2, 3]),
        ("product(x)", [2, 3, 4], 24),
        ("product(x)", [1.5, 2], 3.0),
        ("product(x)", [], 0.0),
        ("median(x)", [4, 1, "text", 3], 3.0),
        ("median(x)", [1, 2], 1.5),
        ("maxItems(x, x % 3)", [1, 2, 5, 3], {"items": [2, 5], "value": 2}),
        ("minItems(x, 0, 2)", [1, 2, 3], {"items": [1, 2], "value": 0}),
        ("maxItems(x, null)", [1], {"items": [], "value": None}),
        ("percentiles(x)", [1, 2, 3, 4, 5], [3, 4, 5, 5, 5]),
        ("percentiles(x, [0.5])", [1, 1_000_000, 123_456_789], [1_000_447]),
        ("percentiles(x)", [], [None] * 6),
        (
            "statistics(x, [0.5])",
            [1, 2, 3, 4, 5],
            {"total": 5, "min": 1, "max": 5, "minNonZero": 1.0, "mean": 3.0, "stdev": 2**0.5, "0.5": 3},
        ),
    ],
)
def test_answers_of_apoc(db: hoplite.Database, call: str, values: list[Any], expected: Any) -> None:
    found = aggregated(db, call, values)
    assert found == expected
    assert type(found) is type(expected)


def test_groups_are_apart_and_rows_keep_their_order(db: hoplite.Database) -> None:
    rows = db.run(
        "UNWIND range(1, 6) AS x WITH x ORDER BY x DESC "
        "RETURN x % 2 AS odd, apoc.agg.first(x) AS first, apoc.agg.slice(x, 1) AS rest ORDER BY odd"
    )
    assert rows.values() == [[0, 6, [4, 2]], [1, 5, [3, 1]]]


@pytest.mark.parametrize(
    ("call", "values", "message"),
    [
        ("product(x)", [2**62, 2], "long overflow"),
        ("product(x)", [1, "a"], "Can't coerce"),
        ("statistics(x)", [-1], "cannot be negative"),
        ("percentiles(x)", [0.5], "does not support histograms of floats"),
        ("maxItems(x, x)", [1, "a"], "ClassCastException"),
        ("first(DISTINCT x)", [1], "Invalid use of DISTINCT with function 'first'"),
    ],
)
def test_what_is_refused(db: hoplite.Database, call: str, values: list[Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        aggregated(db, call, values)
