"""Predicate functions of values. (all, any, none, single and exists are syntax, handled by the evaluator.)"""

from __future__ import annotations

from typing import Any

import numpy as np

from hoplite.engine.functions.arguments import wrong_input
from hoplite.engine.functions.registry import cypher_function, named, over_columns
from hoplite.planner.types import BOOLEAN, LIST, MAP, STRING
from hoplite.values.columns import Booleans, Column, EntityLists


@cypher_function(
    "isEmpty",
    args=(named("input", STRING, MAP, LIST),),
    returns=BOOLEAN,
    category="Predicate",
    description="Checks whether a `STRING`, `MAP` or `LIST<ANY>` is empty.",
)
def is_empty(value: Any) -> bool:
    """`isEmpty('')`, `isEmpty([])` and `isEmpty({})` are true."""
    if isinstance(value, str | list | dict):
        return not value
    raise wrong_input("isEmpty", "a List, Map, or String", value)


@over_columns("isEmpty")
def is_empty_of_column(column: Column) -> Column | None:
    """For lists of entities, without building the lists."""
    return Booleans(np.diff(column.offsets) == 0, column.nulls) if isinstance(column, EntityLists) else None
