"""valueType: a value in, the name of its most precise type out."""

from __future__ import annotations

from typing import Any

from hoplite.engine.functions.registry import cypher_function, named
from hoplite.planner.types import ANY, STRING
from hoplite.values import value_types


@cypher_function(
    "valueType",
    args=(named("input", ANY),),
    returns=STRING,
    category="Scalar",
    description="Returns a `STRING` representation of the most precise value type that the given expression evaluates "
    "to.",
    nulls="handle",
)
def value_type(value: Any) -> str:
    """`valueType([1])` is `'LIST<INTEGER NOT NULL> NOT NULL'`."""
    return value_types.value_type(value)
