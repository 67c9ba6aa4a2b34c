"""valueType: a value in, the name of its most precise type out."""

from __future__ import annotations

from hoplite.engine.functions.registry import cypher_function, named
from hoplite.planner.types import ANY, STRING
from hoplite.values.value_types import value_type

cypher_function(
    "valueType",
    args=(named("input", ANY),),
    returns=STRING,
    category="Scalar",
    description="Returns a `STRING` representation of the most precise value type that the given expression evaluates "
    "to.",
    nulls="handle",
)(value_type)
