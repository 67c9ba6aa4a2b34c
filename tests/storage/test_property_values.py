"""What a property can hold, in Neo4j's words."""

from __future__ import annotations

from typing import Any

import pytest

from hoplite.errors import CypherError
from hoplite.storage.property_values import storable
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, Duration

MIXED = "Neo4j only supports a subset of Cypher types for storage as singleton or array properties."
PRIMITIVE = "Property values can only be of primitive types or arrays thereof. Encountered: "


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", b"ab", Date(3), Duration(1), [], [1, 2], ["a"], [Date(1)]])
def test_these_are_stored_as_they_are(value: Any) -> None:
    assert storable(value) == value and type(storable(value)) is type(value)


def test_integers_beside_floats_become_floats() -> None:
    for value in ([1, 2.5], [2.5, 1], [1, 2, 2.5, 3]):
        assert [type(item) for item in storable(value)] == [float] * len(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": 1}, PRIMITIVE + "Map{a -> Long(1)}."),
        (
            {"a": [1, "x", None, {"b": 2.5}]},
            PRIMITIVE + 'Map{a -> List{Long(1), String("x"), NO_VALUE, Map{b -> Double(',
        ),
        ([{"a": 1}], PRIMITIVE + "Map{a -> Long(1)}."),
        (NodeRef(7), PRIMITIVE + "(7)."),
        (RelationshipRef(7), PRIMITIVE + "-[7]-."),
        (PathValue((1, 2), (3,)), PRIMITIVE + "Path{(1)-[3]-(2)}."),
        ([1, "a"], MIXED),
        ([True, 1], MIXED),
        ([1, {}], MIXED),
        ([1, 2.5, "a"], MIXED),
        ([Date(1), 1], MIXED),
        ([[1]], "Collections containing collections can not be stored in properties."),
        ([1, [1]], "Collections containing collections can not be stored in properties."),
        ([1, None], "Collections containing null values can not be stored in properties."),
        (
            [Point(7203, (1.0, 2.0)), Point(9157, (1.0, 2.0, 3.0))],
            "Collections containing point values with different CRS can not be stored in properties.",
        ),
    ],
)
def test_these_are_refused(value: Any, message: str) -> None:
    with pytest.raises(CypherError) as caught:
        storable(value)
    assert caught.value.message.startswith(message)
    assert caught.value.code == "Neo.ClientError.Statement.TypeError"
