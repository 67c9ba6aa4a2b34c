"""Values as text."""

from __future__ import annotations

from typing import Any

import pytest

from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.map_order import visiting_order
from hoplite.values.render import describe, to_string
from hoplite.values.temporal import Duration


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (3.0, "3.0"),
        (1234567.0, "1234567.0"),
        (1e7, "1.0E7"),
        (1.5e10, "1.5E10"),
        (123456789.125, "1.23456789125E8"),
        (0.001, "0.001"),
        (1e-4, "1.0E-4"),
        (1.25e-5, "1.25E-5"),
        (-0.0, "-0.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e300, "1.0E300"),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (True, "true"),
        (-7, "-7"),
        (Duration(days=1), "P1D"),
    ],
)
def test_to_string(value: Any, text: str) -> None:
    assert to_string(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "NO_VALUE"),
        (1, "Long(1)"),
        (1.5, "Double(1.500000e+00)"),
        (float("inf"), "Double(Infinity)"),
        (False, "Boolean('false')"),
        ("a", 'String("a")'),
        ([1, None], "List{Long(1), NO_VALUE}"),
        ({"a": []}, "Map{a -> List{}}"),
        (b"a\xff", "ByteArray[97, -1]"),
        (NodeRef(3), "(3)"),
        (RelationshipRef(4), "-[4]-"),
        (PathValue((1, 2), (5,)), "Path{(1)-[5]-(2)}"),
    ],
)
def test_describe(value: Any, text: str) -> None:
    assert describe(value) == text


def test_keys_are_visited_by_their_hashes() -> None:
    assert visiting_order(["quarter", "month", "year"]) == ["month", "year", "quarter"]
    assert visiting_order(["year", "month", "week"]) == ["week", "month", "year"]
