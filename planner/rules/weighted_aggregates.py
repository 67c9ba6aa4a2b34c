"""Aggregates over rows that stand for several matches each: the column DEGREE says for how many.

count(*) becomes the sum of that column; the sum, average and number of values weigh each value with it. What is blind
to duplicates (DISTINCT, min, max) stays as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.planner.duplicates import BLIND_AGGREGATES, WEIGHABLE_AGGREGATES
from hoplite.planner.parts import AggregateCall, Presence
from hoplite.planner.variables import free_variables

DEGREE = HIDDEN + "degree"


def counts_rows(aggregate: AggregateCall) -> bool:
    """Whether an aggregate counts rows, or the rows in which a variable is not null."""
    match aggregate:
        case AggregateCall(function="count", distinct=False, arguments=() | (ast.Variable(),), weight=None):
            return True
        case _:
            return False


def is_blind(aggregate: AggregateCall) -> bool:
    """Whether an aggregate cannot tell how often a row occurs."""
    return aggregate.distinct or aggregate.function in BLIND_AGGREGATES


def weighted(
    aggregates: Iterable[AggregateCall], never_null: frozenset[str], present: Iterable[Presence] = ()
) -> tuple[AggregateCall, ...] | None:
    """The aggregates over rows with a weight; None if one has to see every match. `present`: the columns that count the
    matches in which a variable is not null."""
    columns = {column.variable: column.name for column in present}
    changed: list[AggregateCall] = []
    for aggregate in aggregates:
        if is_blind(aggregate):
            changed.append(aggregate)
        elif counts_rows(aggregate):
            counted = DEGREE
            for name in free_variables(aggregate.arguments) - never_null:
                if name not in columns:
                    return None
                counted = columns[name]
            changed.append(AggregateCall(aggregate.name, "sum", False, (ast.Variable(counted),)))
        elif aggregate.function in WEIGHABLE_AGGREGATES and aggregate.weight is None:
            changed.append(replace(aggregate, weight=ast.Variable(DEGREE)))
        else:
            return None
    return tuple(changed)
