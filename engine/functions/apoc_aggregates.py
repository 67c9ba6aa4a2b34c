"""apoc.agg.*: aggregating functions that Cypher itself lacks; each group has a state that takes one row at a time.

Percentiles and statistics are those of APOC's histograms, which keep three digits of an integer: from 2,048 on, numbers
that share their first eleven bits count as equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field, replace
from typing import Any, Protocol

from hoplite.engine.coercion import coerced
from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import function_failed
from hoplite.engine.functions.apoc_maps import ends_of
from hoplite.engine.functions.group_states import row_error
from hoplite.engine.functions.registry import AGGREGATES, Aggregate
from hoplite.engine.signatures import function_defaults, parse_function_signature
from hoplite.errors import CypherError, unsupported
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.types import Signature
from hoplite.values.columns import Column, Int64s, from_objects
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.floats import float_text
from hoplite.values.order import sort_key

_EXACT_BITS = 11
_LARGEST = 2**63 - 1


class _State(Protocol):
    """The state of one group."""

    def add(self, *arguments: Any) -> None:
        """Add a row."""

    def result(self) -> Any:
        """The value of the group."""


class _Failure(Exception):
    """What Java would have thrown: a class and a message."""


class _ByRow:
    """One aggregating call."""

    def __init__(self, signature: Signature, defaults: tuple[Any, ...], start: Callable[[], _State]) -> None:
        self._name = signature.name
        self._types = [argument.types for argument in signature.arguments]
        self._defaults = defaults
        self._start = start
        self._states: dict[int, _State] = {}

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        missing = len(self._types) - len(columns)
        rest = self._defaults[len(self._defaults) - missing :] if missing else ()
        rows = zip(groups.tolist(), *(column.objects() for column in columns), strict=True)
        for index, (group, *arguments) in enumerate(rows):
            state = self._states.get(group)
            if state is None:
                state = self._states[group] = self._start()
            try:
                state.add(*map(coerced, arguments, self._types), *rest)
            except _Failure as failure:
                raise row_error(index, None, function_failed(self._name, *failure.args)) from None
            except CypherError as failure:
                raise row_error(index, None, failure) from None

    def finish(self, group_count: int) -> Column:
        return from_objects([(self._states.get(group) or self._start()).result() for group in range(group_count)])


def _aggregate(signature: str, description: str) -> Callable[[type[Any]], type[Any]]:
    """Register a state under a signature."""
    parsed = parse_function_signature(signature, "", description)
    defaults = function_defaults(signature)

    def register(state: type[Any]) -> type[Any]:
        AGGREGATES[parsed.name.lower()] = Aggregate(
            replace(parsed, aggregating=True),
            lambda argument: _ByRow(parsed, defaults, state),
        )
        return state

    return register


def _refuse_null(value: Any) -> None:
    if value is None:
        raise _Failure("java.lang.ClassCastException", "an INTEGER was expected, not null")


# --- by order ---


@_aggregate("apoc.agg.first(value :: ANY) :: ANY", "Returns the first value that is not null.")
@dataclass(slots=True)
class _First:
    value: Any = None

    def add(self, value: Any) -> None:
        if self.value is None:
            self.value = value

    def result(self) -> Any:
        return self.value


@_aggregate("apoc.agg.last(value :: ANY) :: ANY", "Returns the last value that is not null.")
@dataclass(slots=True)
class _Last:
    value: Any = None

    def add(self, value: Any) -> None:
        if value is not None:
            self.value = value

    def result(self) -> Any:
        return self.value


@_aggregate(
    "apoc.agg.nth(value :: ANY, offset :: INTEGER) :: ANY",
    "Returns the value at an offset among those that are not null; the last one for -1.",
)
@dataclass(slots=True)
class _Nth:
    value: Any = None
    seen: int = 0

    def add(self, value: Any, offset: Any) -> None:
        _refuse_null(offset)
        if offset == self.seen or offset == -1:
            self.value = self.value if value is None else value
        self.seen += value is not None

    def result(self) -> Any:
        return self.value


@_aggregate(
    "apoc.agg.slice(value :: ANY, from = 0 :: INTEGER, to = -1 :: INTEGER) :: LIST<ANY>",
    "Returns a number of values that are not null, from an offset on; all remaining ones for -1.",
)
@dataclass(slots=True)
class _Slice:
    values: list[Any] = field(default_factory=list)
    seen: int = 0

    def add(self, value: Any, first: Any, count: Any) -> None:
        _refuse_null(first)
        _refuse_null(count)
        if value is not None:
            if self.seen >= first and (count == -1 or self.seen < first + count):
                self.values.append(value)
            self.seen += 1

    def result(self) -> Any:
        return self.values


# --- the largest and the smallest ---


@dataclass(slots=True)
class _Extremes:
    """The items with the largest value, or the smallest, up to a limit."""

    sign: int
    value: Any = None
    items: list[Any] = field(default_factory=list)

    def add(self, item: Any, value: Any, limit: Any) -> None:
        _refuse_null(limit)
        if item is None or value is None:
            return
        if isinstance(value, list | dict | NodeRef | RelationshipRef | PathValue):
            raise _Failure("java.lang.ClassCastException", "lists, maps and entities have no order")
        if self.value is not None and type(value) is not type(self.value):
            raise _Failure("java.lang.ClassCastException", "values of different types cannot be compared")
        known, found = sort_key(self.value), sort_key(value)
        if self.value is None or (known < found if self.sign > 0 else found < known):
            self.value, self.items = value, [item]
        elif known == found and (limit < 0 or len(self.items) < limit):
            self.items.append(item)

    def result(self) -> Any:
        return {"items": self.items, "value": self.value}


@_aggregate(
    "apoc.agg.maxItems(item :: ANY, value :: ANY, groupLimit = -1 :: INTEGER) :: ANY",
    "Returns the largest value and the items that have it, up to a limit.",
)
class _MaxItems(_Extremes):
    def __init__(self) -> None:
        super().__init__(1)


@_aggregate(
    "apoc.agg.minItems(item :: ANY, value :: ANY, groupLimit = -1 :: INTEGER) :: ANY",
    "Returns the smallest value and the items that have it, up to a limit.",
)
class _MinItems(_Extremes):
    def __init__(self) -> None:
        super().__init__(-1)


# --- numbers ---


@_aggregate(
    "apoc.agg.product(value :: INTEGER | FLOAT) :: INTEGER | FLOAT",
    "Returns the product of the numbers; 0.0 if there are none.",
)
@dataclass(slots=True)
class _Product:
    product: int | float | None = None

    def add(self, value: Any) -> None:
        if value is None:
            return
        self.product = value if self.product is None else self.product * value
        if isinstance(self.product, int) and not -_LARGEST - 1 <= self.product <= _LARGEST:
            raise _Failure("java.lang.ArithmeticException", "long overflow")

    def result(self) -> Any:
        if self.product is None:
            return 0.0
        return 1.0 if self.product == 1 else self.product  # a product of 1 is a float, whatever the factors are


@_aggregate("apoc.agg.median(value :: ANY) :: ANY", "Returns the median of all values that are numbers.")
@dataclass(slots=True)
class _Median:
    numbers: list[float] = field(default_factory=list)

    def add(self, value: Any) -> None:
        if isinstance(value, int | float) and not isinstance(value, bool):
            self.numbers.append(float(value))

    def result(self) -> Any:
        ordered = sorted(self.numbers)
        if not ordered:
            return None
        middle = len(ordered) // 2
        return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


@dataclass(slots=True)
class _Histogram:
    """Non-negative integers; `percentiles` are those of the first row."""

    numbers: list[int] = field(default_factory=list)
    percentiles: list[float] | None = None

    def add(self, value: Any, percentiles: Any) -> None:
        if self.percentiles is None:
            if percentiles is None:
                raise _Failure("java.lang.NullPointerException", "the percentiles are null")
            self.percentiles = percentiles
        if value is None:
            return
        if isinstance(value, float):
            raise unsupported("histograms of floats; percentileCont and percentileDisc are exact")
        if value < 0:
            raise _Failure("java.lang.ArrayIndexOutOfBoundsException", "Histogram recorded value cannot be negative.")
        self.numbers.append(value)

    def at(self, ordered: list[int], percentile: float) -> int | None:
        """The value at a percentile, as the upper end of its bin."""
        if not ordered:
            return None
        place = max(int(min(percentile, 1.0) * len(ordered) + 0.5), 1)
        number = ordered[place - 1]
        return number | (_bin_size(number) - 1)


def _bin_size(number: int) -> int:
    """How many numbers, including this one, the histogram does not tell apart."""
    return 1 << max(number.bit_length() - _EXACT_BITS, 0)


@_aggregate(
    "apoc.agg.percentiles(value :: INTEGER | FLOAT, percentiles = [0.5, 0.75, 0.9, 0.95, 0.99] :: LIST<FLOAT>)"
    " :: LIST<ANY>",
    "Returns percentiles of integers, to three digits.",
)
class _Percentiles(_Histogram):
    def result(self) -> Any:
        if self.percentiles is None:
            return [None] * 6
        ordered = sorted(self.numbers)
        return [self.at(ordered, percentile) for percentile in self.percentiles]


@_aggregate(
    "apoc.agg.statistics(value :: INTEGER | FLOAT, percentiles = [0.5, 0.75, 0.9, 0.95, 0.99] :: LIST<FLOAT>) :: MAP",
    "Returns the number of integers, the smallest, the largest, their mean, standard deviation and percentiles.",
)
class _Statistics(_Histogram):
    def result(self) -> Any:
        ordered = sorted(self.numbers)
        middles = [float(number - number % _bin_size(number) + _bin_size(number) // 2) for number in ordered]
        mean = math.fsum(middles) / len(middles) if middles else 0.0
        squares = math.fsum((middle - mean) ** 2 for middle in middles)
        smallest = next((number - number % _bin_size(number) for number in ordered if number), _LARGEST)
        found: dict[str, Any] = {
            "total": len(ordered),
            "min": ordered[0] if ordered else None,
            "minNonZero": float(smallest),
            "max": ordered[-1] if ordered else None,
            "mean": mean,
            "stdev": math.sqrt(squares / len(middles)) if middles else 0.0,
        }
        if ordered:
            found |= {float_text(percentile): self.at(ordered, percentile) for percentile in self.percentiles or []}
        return found


# --- graphs ---


class _Gathered:
    """The nodes and relationships in the values of each group, each once; relationships bring their nodes along."""

    def __init__(self, context: Execution) -> None:
        self._context = context
        self._nodes: dict[int, dict[int, NodeRef]] = {}
        self._relationships: dict[int, dict[int, RelationshipRef]] = {}

    def update(self, groups: Int64s, group_count: int, columns: tuple[Column, ...]) -> None:
        for group, value in zip(groups.tolist(), columns[0].objects(), strict=True):
            self._add(self._nodes.setdefault(group, {}), self._relationships.setdefault(group, {}), value)

    def _add(self, nodes: dict[int, NodeRef], relationships: dict[int, RelationshipRef], value: Any) -> None:
        match value:
            case NodeRef():
                nodes.setdefault(value.position, value)
            case RelationshipRef():
                relationships.setdefault(value.position, value)
                for end in ends_of(self._context, value):
                    nodes.setdefault(end.position, end)
            case PathValue():
                nodes.update((node.position, node) for node in value.node_refs())
                relationships.update((one.position, one) for one in value.relationship_refs())
            case list() | dict():
                for item in value.values() if isinstance(value, dict) else value:
                    self._add(nodes, relationships, item)

    def finish(self, group_count: int) -> Column:
        return from_objects(
            [
                {
                    "nodes": list(self._nodes.get(group, {}).values()),
                    "relationships": list(self._relationships.get(group, {}).values()),
                }
                for group in range(group_count)
            ]
        )


_GRAPH = parse_function_signature(
    "apoc.agg.graph(path :: ANY) :: MAP",
    "",
    "Returns the distinct nodes and relationships in all values as a map with the keys `nodes` and `relationships`.",
)
AGGREGATES[_GRAPH.name.lower()] = Aggregate(
    replace(_GRAPH, aggregating=True), lambda argument, context: _Gathered(context), needs_context=True
)
