"""AND, OR, XOR and NOT over three values, and what counts as a predicate.

Any false operand decides a conjunction, whatever else happens in its row: Neo4j holds an error back until it knows that
no operand decides. So `1/x = 1 AND x <> 0` is false where x is 0, and `false AND 1/0 = 1` is false. Of several errors,
the first operand's is raised. OR is the same with true.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.evaluator import Compiled, Evaluator, either_null, holding_errors, map_rows
from hoplite.errors import CypherError, type_error
from hoplite.values.columns import Booleans, Bools, Column
from hoplite.values.render import describe
from hoplite.values.value_types import wrong_value


def as_predicate(column: Column) -> Booleans:
    """The column as true, false and null; a value that is none of them is an error."""
    if isinstance(column, Booleans):
        return column
    known = map_rows(_as_boolean, column)
    if isinstance(known, Booleans):
        return known
    return Booleans(np.zeros(len(column), np.bool_), np.ones(len(column), np.bool_))


def _as_boolean(value: Any) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, list):
        return bool(value)
    if isinstance(value, dict):
        return True
    raise type_error(f"Don't know how to treat that as a predicate: {describe(value)}", wrong_value(value, "BOOLEAN"))


def predicate(operand: Compiled) -> Compiled:
    """The operand read as a predicate."""
    if isinstance(operand.evaluate, _Predicate):
        return operand
    return Compiled(_Predicate(operand.evaluate), operand.uses, operand.stable)


class _Predicate:
    """An evaluator whose column is always Booleans."""

    __slots__ = ("evaluate",)

    def __init__(self, evaluate: Evaluator) -> None:
        self.evaluate = evaluate

    def __call__(self, batch: Batch, execution: Execution) -> Booleans:
        return as_predicate(self.evaluate(batch, execution))


def conjunction(operands: Sequence[Compiled]) -> Evaluator:
    """`a AND b AND c`"""
    return _decided_by(False, operands)


def disjunction(operands: Sequence[Compiled]) -> Evaluator:
    """`a OR b OR c`"""
    return _decided_by(True, operands)


def _decided_by(decisive: bool, operands: Sequence[Compiled]) -> Evaluator:
    predicates = [predicate(o) for o in operands]

    def evaluate(batch: Batch, execution: Execution) -> Booleans:
        count = batch.row_count
        decided: Bools = np.zeros(count, np.bool_)
        unknown: Bools = np.zeros(count, np.bool_)
        errors: dict[int, CypherError] = {}
        for operand in predicates:
            open_rows = np.flatnonzero(~decided)
            if not len(open_rows):
                break
            if len(open_rows) == count:
                column, held = _attempted(operand, batch, execution)
            else:
                part = Batch({n: batch.columns[n].take(open_rows) for n in operand.uses}, len(open_rows))
                column, held = _attempted(operand, part, execution)
            values, empty = column.values, column.nulls
            decides = values if decisive else ~values
            if empty is not None:
                decides = decides & ~empty
                unknown[open_rows] |= empty
            decided[open_rows] = decides
            for row, error in held.items():
                errors.setdefault(int(open_rows[row]), error)
        standing = [row for row in errors if not decided[row]]
        if standing:
            first = min(standing)
            raise RowError(first, errors[first])
        unknown &= ~decided
        values = decided if decisive else ~decided
        return Booleans(values, unknown if unknown.any() else None)

    return evaluate


def _attempted(operand: Compiled, batch: Batch, execution: Execution) -> tuple[Booleans, dict[int, CypherError]]:
    try:
        return as_predicate(operand.evaluate(batch, execution)), {}
    except RowError:
        column, errors = holding_errors(operand, batch, execution)
        return as_predicate(column), errors


def exclusive_or(left: Column, right: Column) -> Booleans:
    """`left XOR right`"""
    first, second = as_predicate(left), as_predicate(right)
    return Booleans(first.values ^ second.values, either_null(first.nulls, second.nulls))


def negation(column: Column) -> Booleans:
    """`NOT column`"""
    known = as_predicate(column)
    return Booleans(~known.values, known.nulls)
