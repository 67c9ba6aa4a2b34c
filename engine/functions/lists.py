"""List functions: range and tail. (Conversions of lists are in `conversions`, keys and labels in `entities`.)"""

from __future__ import annotations

from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.arguments import whole
from hoplite.engine.functions.registry import cypher_function, named
from hoplite.engine.memory import refuse_list
from hoplite.errors import argument_error, arithmetic_error
from hoplite.gql_status import LARGEST, status
from hoplite.planner.types import INTEGER, LIST, list_of

_NUMBERS_AT_ONCE = 1 << 20
_WRAP = 2**64


@cypher_function(
    "range",
    args=(named("start", INTEGER), named("end", INTEGER), named("step", INTEGER, optional=True)),
    returns=list_of(INTEGER),
    category="List",
    description="Returns a `LIST<INTEGER>` comprising all `INTEGER` values within a specified range.",
    nulls="handle",
    needs_context=True,
    forms=(
        (
            "range(start :: INTEGER, end :: INTEGER) :: LIST<INTEGER>",
            "Returns a `LIST<INTEGER>` comprising all `INTEGER` values within a specified range.",
        ),
        (
            "range(start :: INTEGER, end :: INTEGER, step :: INTEGER) :: LIST<INTEGER>",
            "Returns a `LIST<INTEGER>` comprising all `INTEGER` values within a specified range created with step "
            "length.",
        ),
    ),
)
def range_list(context: Execution, start: Any, end: Any, *step: Any) -> list[int]:
    """`range(0, 10, 3)` is `[0, 3, 6, 9]`; the end is included."""
    return list_of_range(numbers_of_range(start, end, *step), context)


def list_of_range(wanted: range, context: Execution) -> list[int]:
    """All numbers of a range, if there is memory for them."""
    refuse_list(length_of_range(wanted))
    numbers: list[int] = []
    for begin in range(0, length_of_range(wanted), _NUMBERS_AT_ONCE):
        if begin:
            context.check_time()
        numbers.extend(wanted[begin : begin + _NUMBERS_AT_ONCE])
    return numbers


def numbers_of_range(start: Any, end: Any, *step: Any) -> range:
    """The numbers of a call of range(), not yet materialised.

    The number of elements is (end - start) / step + 1 in 64-bit arithmetic, truncated towards zero. So if the quotient
    is zero, the start is returned whatever the signs: `range(1, 0, 3)` is `[1]`.
    """
    stride = whole(step[0], "step", "range") if step else 1
    if stride == 0:
        cause = status("22N03", "step", "INTEGER", 1, LARGEST, 0).under("22N38", "range")
        raise argument_error("Step argument to 'range()' cannot be zero", cause)
    first, final = whole(start, "start", "range"), whole(end, "end", "range")
    distance = (final - first + _WRAP // 2) % _WRAP - _WRAP // 2
    count = abs(distance) // abs(stride)
    if (distance < 0) != (stride < 0):
        count = -count
    if count == LARGEST:
        raise arithmetic_error("numeric value out of range")  # there is one more element
    return range(first, first + stride * (count + 1), stride) if count >= 0 else range(0)


def length_of_range(numbers: range) -> int:
    """The number of elements, even where `len` overflows. `stop` is always whole steps from `start`."""
    return max((numbers.stop - numbers.start) // numbers.step, 0)


@cypher_function(
    "tail",
    args=(named("input", LIST),),
    returns=LIST,
    category="List",
    description="Returns all but the first element in a `LIST<ANY>`.",
)
def tail(values: Any) -> list[Any]:
    """`tail([1, 2, 3])` is `[2, 3]`; anything but a list counts as a list of one element."""
    return values[1:] if isinstance(values, list) else []
