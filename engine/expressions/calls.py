"""Function calls: a whole column at a time if the function can, else value by value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.evaluator import Compiled, Evaluator
from hoplite.engine.functions.registry import FUNCTIONS, Function
from hoplite.engine.guard import interruptible
from hoplite.errors import CypherError
from hoplite.planner.types import ANY, LIST, MAP, list_of
from hoplite.values.columns import Column, Objects, from_objects, object_array
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.order import signed_bytes


def call(function: Function, arguments: Sequence[Compiled]) -> Evaluator:
    """`function(arguments)`"""

    of_lists = [place for place in range(len(arguments)) if _reads_lists(function, place)]
    of_maps = [place for place in range(len(arguments)) if _reads_maps(function, place)]

    def evaluate(batch: Batch, execution: Execution) -> Column:
        columns = [argument.evaluate(batch, execution) for argument in arguments]
        for place in of_lists:
            columns[place] = _without_bytes(columns[place])
        for place in of_maps:
            columns[place] = _entities_as_maps(columns[place], execution)
        if function.column_call is not None:
            context = (execution,) if function.needs_context else ()
            try:
                if function.is_pure:
                    with interruptible():
                        column = function.column_call(*columns)
                else:
                    column = function.column_call(*context, *columns)
                if column is not None:
                    return column
            except CypherError:
                pass  # value by value tells which row fails
        return _by_value(function, columns, batch.row_count, execution)

    return evaluate


def _reads_lists(function: Function, place: int) -> bool:
    """Whether an argument may be a list, for which bytes may be given; in APOC, that includes arguments of any type."""
    signature = function.signature
    if not function.is_own or any("BYTEARRAY" in form.signature.rsplit(") ::", 1)[0] for form in signature.forms):
        return False
    types = signature.arguments[min(place, len(signature.arguments) - 1)].types if signature.arguments else ()
    return any(type == LIST or type.inner is not None for type in types) or (not signature.built_in and ANY in types)


def _without_bytes(column: Column) -> Column:
    """The column with bytes converted to lists."""
    if not isinstance(column, Objects) or not any(type(value) is bytes for value in column.values):
        return column
    values = (signed_bytes(value) if isinstance(value, bytes) else value for value in column.values)
    return Objects(object_array(values, len(column)))


def _reads_maps(function: Function, place: int) -> bool:
    """Whether an argument is a map, or a list of maps, for which nodes and relationships may be given."""
    signature = function.signature
    if signature.built_in or not function.is_own or place >= len(signature.arguments):
        return False
    types = signature.arguments[place].types
    return MAP in types or list_of(MAP) in types


def _entities_as_maps(column: Column, execution: Execution) -> Column:
    """The column with the properties of nodes and relationships instead of them, inside lists too."""
    values = [as_map(value, execution) for value in column.objects()]
    return Objects(object_array(values, len(column)))


def as_map(value: Any, execution: Execution) -> Any:
    """The properties of an entity; a list with the properties of those in it; any other value as it is."""
    if isinstance(value, NodeRef | RelationshipRef):
        return FUNCTIONS["properties"].call(execution, value)
    if isinstance(value, list):
        return [as_map(item, execution) for item in value]
    return value


def _by_value(function: Function, columns: Sequence[Column], row_count: int, execution: Execution) -> Column:
    rows = zip(*(c.objects() for c in columns), strict=True) if columns else [()] * row_count
    results: list[Any] = []
    try:
        if function.is_pure:
            with interruptible():
                _call_for_each(function, rows, (), results, execution)
        else:
            _call_for_each(function, rows, (execution,) if function.needs_context else (), results, execution)
    except CypherError as error:
        raise RowError(len(results), error) from None
    return from_objects(results)


def _call_for_each(
    function: Function,
    rows: Iterable[tuple[Any, ...]],
    context: tuple[Execution, ...],
    results: list[Any],
    execution: Execution,
) -> None:
    for values in rows:
        if len(results) % 16 == 15:
            execution.check_time()
        if function.null_in_null_out and None in values:
            results.append(None)
        else:
            results.append(function.call(*context, *values))
