"""Calls of `range` that need no list: `size(range(1, n))`, `range(1, n)[3]`, `x IN range(1, n)`.

A range may be too long for memory. Where an expression needs only its length, one of its numbers or a part of it, a
column of Python ranges replaces the lists. Comprehensions and quantifiers iterate over a long one piece by piece. No
other expression sees these: everything else gets the list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions import access
from hoplite.engine.expressions.evaluator import Compiled, Evaluator, map_rows
from hoplite.engine.functions.lists import length_of_range, list_of_range, numbers_of_range
from hoplite.engine.memory import refuse_list
from hoplite.grammar import ast
from hoplite.values.columns import Column, Objects, from_objects, object_array

CompilePart = Callable[[ast.Expression], Compiled]
Iterate = Callable[[Compiled], Evaluator]

_LIST = "  LIST"  # the column with the current piece of a range
_PIECE = 1 << 16


def compile_with_range(expression: ast.Expression, part: CompilePart) -> Compiled | None:
    """The evaluator of an expression over a range or a part of one; None for any other."""
    match expression:
        case ast.FunctionCall(name=name, arguments=(argument,)) if (look := _LOOKS.get(name.lower())) is not None:
            numbers = _ranges(argument, part)
            return None if numbers is None else _mapped(look, [numbers])
        case ast.Index(subject=subject, index=index):
            numbers = _ranges(subject, part)
            return None if numbers is None else _mapped(_element, [numbers, part(index)])
        case ast.Binary(operator="IN", left=left, right=right):
            numbers = _ranges(right, part)
            return None if numbers is None else _mapped(_is_in, [part(left), numbers])
        case ast.Slice() | ast.FunctionCall(arguments=(_,)):
            numbers = _ranges(expression, part)
            return None if numbers is None else _listed(numbers)
        case _:
            return None


def _ranges(expression: ast.Expression, part: CompilePart) -> Compiled | None:
    """A column of ranges, with nulls where a bound of a slice is null; None for an expression that is not a range."""
    match expression:
        case ast.FunctionCall(name=name, arguments=arguments) if name.lower() == "range" and len(arguments) in (2, 3):
            return _as_ranges(numbers_of_range, [part(argument) for argument in arguments])
        case ast.FunctionCall(name=name, arguments=(argument,)) if name.lower() == "tail":
            numbers = _ranges(argument, part)
            return None if numbers is None else _as_ranges(_tail, [numbers])
        case ast.Slice(subject=subject, start=start, end=end) if start is not None or end is not None:
            numbers = _ranges(subject, part)
            if numbers is None:
                return None
            bounds = [part(bound) for bound in (start, end) if bound is not None]
            return _as_ranges(_cut(start is not None, end is not None), [numbers, *bounds])
        case _:
            return None


# --- iterating over a range -------------------------------------------------------------------------------------------


def iterated_range(expression: ast.Expression, kind: str, iterate: Iterate, part: CompilePart) -> Evaluator | None:
    """A comprehension (`kind` is "list") or a quantifier over a call of range(); None over anything else.

    `iterate` makes its evaluator over lists. Long ranges are passed to it a piece at a time, and pieces after the one
    that decides are never made.
    """
    numbers = None if kind == "single" or _is_short(expression) else _ranges(expression, part)
    if numbers is None:
        return None
    over_lists = iterate(Compiled(lambda batch, _: batch[_LIST], frozenset([_LIST])))

    def evaluate(batch: Batch, execution: Execution) -> Column:
        found = numbers.evaluate(batch, execution).objects()
        if all(one is None or length_of_range(one) <= _PIECE for one in found):
            lists = [None if one is None else list_of_range(one, execution) for one in found]
            return over_lists(batch.with_columns({_LIST: Objects(object_array(lists, len(lists)))}), execution)
        answers: list[Any] = []
        for row, wanted in enumerate(found):
            try:
                answers.append(_iterated(over_lists, kind, wanted, batch.rows(row, row + 1), execution))
            except RowError as failure:
                raise RowError(row, failure.error) from None
        return from_objects(answers)

    return evaluate


def _is_short(expression: ast.Expression) -> bool:
    """Whether a range is known to have few numbers, the same for all rows."""
    match expression:
        case ast.FunctionCall(arguments=(ast.Literal(value=int(first)), ast.Literal(value=int(last)))):
            return last - first < _PIECE
        case _:
            return False


def _iterated(over_lists: Evaluator, kind: str, wanted: range | None, batch: Batch, execution: Execution) -> Any:
    if wanted is None:
        return None
    items: list[Any] = []
    unknown = False
    for begin in range(0, max(length_of_range(wanted), 1), _PIECE):
        execution.check_time()
        column = Objects(object_array([list(wanted[begin : begin + _PIECE])], 1))
        answer = over_lists(batch.with_columns({_LIST: column}), execution).objects()[0]
        if kind == "list":
            refuse_list(len(items) + len(answer))
            items.extend(answer)
        elif answer is None:
            unknown = True
        elif answer is (kind == "any"):  # the others are decided by what is false
            return answer
    if kind == "list":
        return items
    return None if unknown else kind != "any"


def _columns(parts: Sequence[Compiled], batch: Batch, execution: Execution) -> list[Column]:
    return [part.evaluate(batch, execution) for part in parts]


def _compiled(evaluate: Callable[[Batch, Execution], Column], parts: Sequence[Compiled]) -> Compiled:
    uses = frozenset(name for part in parts for name in part.uses)
    return Compiled(evaluate, uses, all(part.stable for part in parts))


def _mapped(function: Callable[..., Any], parts: Sequence[Compiled]) -> Compiled:
    return _compiled(lambda batch, execution: map_rows(function, *_columns(parts, batch, execution)), parts)


def _as_ranges(function: Callable[..., range | None], parts: Sequence[Compiled]) -> Compiled:
    """A function that returns ranges, which are kept as ranges."""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        columns = _columns(parts, batch, execution)
        found: list[range | None] = []
        map_rows(lambda *values: found.append(function(*values)), *columns)
        return Objects(object_array(found, len(found)))

    return _compiled(evaluate, parts)


def _listed(numbers: Compiled) -> Compiled:
    """The remaining ranges as lists."""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        return map_rows(
            lambda found: None if found is None else list_of_range(found, execution), numbers.evaluate(batch, execution)
        )

    return _compiled(evaluate, [numbers])


def _head(numbers: range | None) -> int | None:
    return None if not numbers else numbers[0]


def _last(numbers: range | None) -> int | None:
    return None if not numbers else numbers[-1]


_LOOKS: dict[str, Callable[[range | None], Any]] = {
    "size": lambda numbers: None if numbers is None else length_of_range(numbers),
    "isempty": lambda numbers: None if numbers is None else not numbers,
    "head": _head,
    "last": _last,
}


def _tail(numbers: range | None) -> range | None:
    return None if numbers is None else numbers[1:]


def _cut(has_start: bool, has_end: bool) -> Callable[..., range | None]:
    def cut(numbers: range | None, *bounds: Any) -> range | None:
        if numbers is None or None in bounds:
            return None
        places = [access.slice_bound(bound) for bound in bounds]
        return numbers[places[0] if has_start else None : places[-1] if has_end else None]

    return cut


def _element(numbers: range | None, place: Any) -> int | None:
    if numbers is None or place is None:
        return None
    if type(place) is not int:
        raise access.wrong_place(str(numbers), place)
    length = length_of_range(numbers)
    return numbers[place] if -length <= place < length else None


def _is_in(value: Any, numbers: range | None) -> bool | None:
    if numbers is None or (value is None and numbers):
        return None
    if isinstance(value, float):
        return value.is_integer() and int(value) in numbers
    return type(value) is int and value in numbers
