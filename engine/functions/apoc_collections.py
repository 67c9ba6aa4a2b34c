"""apoc.coll.*: list functions. Elements are equal as in grouping: 1 equals 1.0, and null equals null."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Hashable
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.apoc_maps import held_by
from hoplite.engine.functions.arguments import long_of
from hoplite.engine.functions.java_format import JAVA_CLASSES
from hoplite.engine.functions.strings import string_of
from hoplite.engine.memory import refuse_list
from hoplite.errors import CypherError
from hoplite.storage.property_values import java_text
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.map_order import capacity_for, set_order
from hoplite.values.order import group_key, sort_key

Items = list[Any] | None


def _distinct(values: Items) -> dict[Hashable, Any]:
    """The first of each group of equal elements, by its key."""
    found: dict[Hashable, Any] = {}
    for value in values or ():
        found.setdefault(group_key(value), value)
    return found


def _counts(values: Items) -> list[tuple[Any, int]]:
    counts: dict[Hashable, int] = {}
    first: dict[Hashable, Any] = {}
    for value in values or ():
        key = group_key(value)
        first.setdefault(key, value)
        counts[key] = counts.get(key, 0) + 1
    return [(first[key], count) for key, count in counts.items()]


# --- sets ---


_UNORDERED = (type(None), list, dict, NodeRef, RelationshipRef, PathValue)


@apoc_function("apoc.coll.toSet(coll :: LIST<ANY>) :: LIST<ANY>", "Returns the list without repeated elements.")
def to_set(values: Items) -> Items:
    """`[1, 1, 2]` becomes `[1, 2]`."""
    return None if values is None else list(_distinct(values).values())


@apoc_function(
    "apoc.coll.intersection(list1 :: LIST<ANY>, list2 :: LIST<ANY>) :: LIST<ANY>",
    "Returns the distinct elements that are in both lists.",
)
def intersection(first: Items, second: Items) -> list[Any]:
    """In the order of a set of Java, as those of union, subtract and disjunction."""
    others = _distinct(second)
    return [value for value in _set_of(first or []) if group_key(value) in others]


def _set_of(values: list[Any]) -> list[Any]:
    return set_order(_distinct(values).values(), capacity_for(len(values)))


@apoc_function(
    "apoc.coll.union(list1 :: LIST<ANY>, list2 :: LIST<ANY>) :: LIST<ANY>",
    "Returns the distinct elements of both lists.",
)
def union(first: Items, second: Items) -> Items:
    """If one list is null, the other one as it is."""
    if first is None or second is None:
        return second if first is None else first
    return set_order(_distinct([*first, *second]).values(), capacity_for(len(first)))


@apoc_function(
    "apoc.coll.unionAll(list1 :: LIST<ANY>, list2 :: LIST<ANY>) :: LIST<ANY>",
    "Returns all elements of both lists, including repeated ones.",
)
def union_all(first: Items, second: Items) -> Items:
    """Concatenated; null if both are null."""
    if first is None and second is None:
        return None
    return [*(first or ()), *(second or ())]


@apoc_function(
    "apoc.coll.subtract(list1 :: LIST<ANY>, list2 :: LIST<ANY>) :: LIST<ANY>",
    "Returns the distinct elements of the first list that are not in the second.",
)
def subtract(first: Items, second: Items) -> Items:
    """A set difference; if there is nothing to take away from it, the list as it is."""
    if first is None or second is None:
        return first
    others = _distinct(second)
    return [value for value in _set_of(first) if group_key(value) not in others]


@apoc_function(
    "apoc.coll.removeAll(list1 :: LIST<ANY>, list2 :: LIST<ANY>) :: LIST<ANY>",
    "Returns the first list without the elements of the second.",
)
def remove_all(first: Items, second: Items) -> Items:
    """Repeated elements stay."""
    others = _distinct(second)
    return None if first is None else [value for value in first if group_key(value) not in others]


@apoc_function(
    "apoc.coll.disjunction(list1 :: LIST<ANY>, list2 :: LIST<ANY>) :: LIST<ANY>",
    "Returns the elements that are in only one of the lists.",
)
def disjunction(first: Items, second: Items) -> Items:
    """A symmetric difference; if one list is null, the other one as it is."""
    if first is None or second is None:
        return second if first is None else first
    left, right = _distinct(first), _distinct(second)
    both = left.keys() & right.keys()
    return [value for value in set_order((left | right).values()) if group_key(value) not in both]


# --- questions ---


@apoc_function(
    "apoc.coll.contains(coll :: LIST<ANY>, value :: ANY) :: BOOLEAN", "Returns whether the list contains the value."
)
def contains(values: Items, value: Any) -> bool:
    """A null value is never found."""
    return value is not None and group_key(value) in _distinct(values)


@apoc_function(
    "apoc.coll.containsAll(coll1 :: LIST<ANY>, coll2 :: LIST<ANY>) :: BOOLEAN",
    "Returns whether the first list contains every element of the second.",
)
def contains_all(first: Items, second: Items) -> bool:
    """Every list contains an empty one."""
    return first is not None and second is not None and _distinct(second).keys() <= _distinct(first).keys()


@apoc_function("apoc.coll.containsDuplicates(coll :: LIST<ANY>) :: BOOLEAN", "Returns whether an element is repeated.")
def contains_duplicates(values: Items) -> bool:
    """False for null."""
    return values is not None and len(_distinct(values)) < len(values)


@apoc_function("apoc.coll.different(coll :: LIST<ANY>) :: BOOLEAN", "Returns whether no element is repeated.")
def different(values: Items) -> bool:
    """False for null."""
    return values is not None and len(_distinct(values)) == len(values)


@apoc_function(
    "apoc.coll.isEqualCollection(coll :: LIST<ANY>, values :: LIST<ANY>) :: BOOLEAN",
    "Returns whether both lists have the same elements, equally often, in any order.",
)
def is_equal_collection(first: Items, second: Items) -> bool:
    """Two nulls are equal."""
    left = {group_key(value): count for value, count in _counts(first)}
    return left == {group_key(value): count for value, count in _counts(second)}


@apoc_function(
    "apoc.coll.indexOf(coll :: LIST<ANY>, value :: ANY) :: INTEGER", "Returns the first index of the value, or -1."
)
def index_of(values: Items, value: Any) -> int:
    """Indexes start at 0."""
    wanted = group_key(value)
    return next((place for place, item in enumerate(values or ()) if group_key(item) == wanted), -1)


@apoc_function(
    "apoc.coll.occurrences(coll :: LIST<ANY>, item :: ANY) :: INTEGER", "Returns how often the item occurs in the list."
)
def occurrences(values: Items, item: Any) -> int:
    """0 for null."""
    wanted = group_key(item)
    return sum(group_key(value) == wanted for value in values or ())


@apoc_function(
    "apoc.coll.frequencies(coll :: LIST<ANY>) :: LIST<ANY>", "Returns each element with its count, as {item, count}."
)
def frequencies(values: Items) -> list[dict[str, Any]]:
    """In order of first appearance."""
    return [{"item": value, "count": count} for value, count in _counts(values)]


@apoc_function(
    "apoc.coll.duplicates(coll :: LIST<ANY>) :: LIST<ANY>", "Returns the elements that occur more than once."
)
def duplicates(values: Items) -> list[Any]:
    """Each of them once."""
    return [value for value, count in _counts(values) if count > 1]


@apoc_function(
    "apoc.coll.duplicatesWithCount(coll :: LIST<ANY>) :: LIST<ANY>",
    "Returns the elements that occur more than once with their counts, as {item, count}.",
)
def duplicates_with_count(values: Items) -> list[dict[str, Any]]:
    """In order of first appearance."""
    return [{"item": value, "count": count} for value, count in _counts(values) if count > 1]


# --- numbers ---


@apoc_function("apoc.coll.sum(coll :: LIST<INTEGER | FLOAT>) :: FLOAT", "Returns the sum of the numbers.")
def total(values: Items) -> float | None:
    """Null for an empty list."""
    return float(sum(values)) if values else None


@apoc_function("apoc.coll.sumLongs(coll :: LIST<INTEGER | FLOAT>) :: INTEGER", "Returns the sum of the whole parts.")
def total_of_integers(values: Items) -> int | None:
    """Null for null."""
    if values is None:
        return None
    total = sum(value if isinstance(value, int) else long_of(value) for value in values)
    return (total + 2**63) % 2**64 - 2**63  # wraps around like Java's long


@apoc_function("apoc.coll.avg(coll :: LIST<INTEGER | FLOAT>) :: FLOAT", "Returns the average of the numbers.")
def average(values: Items) -> float | None:
    """Null for an empty list."""
    return sum(map(float, values)) / len(values) if values else None


@apoc_function(
    "apoc.coll.stdev(list :: LIST<INTEGER | FLOAT>, isBiasCorrected = true :: BOOLEAN) :: INTEGER | FLOAT",
    "Returns the standard deviation of a sample, or of a population if isBiasCorrected is false.",
)
def deviation(values: Items, corrected: bool) -> int | float | None:
    """By the two passes of Commons Math, of which the second corrects the first; a whole result is an integer."""
    if not values:
        return None
    count = len(values)
    mean = sum(values) / count
    mean += sum(value - mean for value in values) / count
    squares = sum((value - mean) * (value - mean) for value in values)
    rest = sum(value - mean for value in values)
    result = math.sqrt(max(squares - rest * rest / count, 0.0) / max(count - bool(corrected), 1))
    return int(result) if result.is_integer() else result


@apoc_function(
    "apoc.coll.runningTotal(list :: LIST<INTEGER | FLOAT>) :: LIST<ANY>", "Returns the running totals of the elements."
)
def running_total(values: Items) -> Items:
    """`[1, 2, 3]` becomes `[1, 3, 6]`; null for an empty list."""
    refuse_list(len(values or ()))
    if not values:
        return None
    totals = itertools.accumulate(map(float, values))
    # Sums are floats, and a whole one is shown as an integer.
    return [long_of(total) if total.is_integer() else total for total in totals]


@apoc_function("apoc.coll.max(values :: LIST<ANY>) :: ANY", "Returns the largest element.")
def largest(values: Items) -> Any:
    """Nulls are skipped."""
    return max((value for value in values or () if value is not None), key=sort_key, default=None)


@apoc_function("apoc.coll.min(values :: LIST<ANY>) :: ANY", "Returns the smallest element.")
def smallest(values: Items) -> Any:
    """Nulls are skipped."""
    return min((value for value in values or () if value is not None), key=sort_key, default=None)


# --- order and shape ---


@apoc_function("apoc.coll.sort(coll :: LIST<ANY>) :: LIST<ANY>", "Returns the elements in ascending order.")
def sort(values: Items) -> list[Any]:
    """An empty list for null; several elements must be of one type, which has an order."""
    if values and len(values) > 1 and (len(set(map(type, values))) > 1 or type(values[0]) in _UNORDERED):
        raise function_failed("apoc.coll.sort", "java.lang.ClassCastException", "elements that cannot be compared")
    return sorted(values or (), key=sort_key)


@apoc_function(
    "apoc.coll.sortMaps(list :: LIST<MAP>, prop :: STRING) :: LIST<ANY>",
    "Returns the maps in descending order of a key, or in ascending order if the key is written as ^key.",
)
def sort_maps(values: Items, key: str) -> Items:
    """A stable sort."""
    if values is None:
        return []
    name = key.removeprefix("^")
    return sorted(values, key=lambda value: sort_key(value.get(name)), reverse=name == key)


@apoc_function(
    "apoc.coll.shuffle(coll :: LIST<ANY>) :: LIST<ANY>", "Returns the elements in random order.", deterministic=False
)
def shuffle(values: Items) -> list[Any]:
    """An empty list for null."""
    return random.sample(values, len(values)) if values else []


@apoc_function("apoc.coll.randomItem(coll :: LIST<ANY>) :: ANY", "Returns a random element.", deterministic=False)
def random_item(values: Items) -> Any:
    """Null for an empty list."""
    return random.choice(values) if values else None


@apoc_function(
    "apoc.coll.flatten(coll :: LIST<ANY>, recursive = false :: BOOLEAN) :: LIST<ANY>",
    "Returns the elements of the lists in the list; of lists within those too if recursive is true.",
)
def flatten(values: Items, recursive: bool) -> Items:
    """`[[1], [2]]` becomes `[1, 2]`; an empty list for null."""
    if values is None:
        return []
    flat: list[Any] = []
    for value in values:
        if isinstance(value, list):
            flat += (flatten(value, True) or []) if recursive else value
        else:
            flat.append(value)
    return flat


@apoc_function(
    "apoc.coll.pairs(list :: LIST<ANY>) :: LIST<ANY>", "Returns each element with the next, the last with null."
)
def pairs(values: Items) -> Items:
    """`[1, 2]` becomes `[[1, 2], [2, null]]`."""
    if values is None:
        return None
    return [list(pair) for pair in itertools.pairwise([*values, None])] if len(values) > 1 else []


@apoc_function("apoc.coll.pairsMin(list :: LIST<ANY>) :: LIST<ANY>", "Returns each element but the last with the next.")
def pairs_min(values: Items) -> Items:
    """`[1, 2, 3]` becomes `[[1, 2], [2, 3]]`."""
    return None if values is None else [list(pair) for pair in itertools.pairwise(values)]


@apoc_function(
    "apoc.coll.zip(list1 :: LIST<ANY>, list2 :: LIST<ANY>) :: LIST<ANY>", "Returns the elements of both lists in pairs."
)
def zip_lists(first: Items, second: Items) -> Items:
    """As long as the first list, unless the second is empty."""
    if first is None or second is None:
        return None
    if not second:
        return []
    return [[value, second[place] if place < len(second) else None] for place, value in enumerate(first)]


@apoc_function(
    "apoc.coll.partition(coll :: LIST<ANY>, batchSize :: INTEGER) :: LIST<ANY>",
    "Splits the list into lists of a given size; the last may be shorter.",
)
def partition(values: Items, size: int) -> list[Any]:
    """An empty list for null."""
    if values and size == 0:
        raise function_failed("apoc.coll.partition", "java.lang.ArithmeticException", "/ by zero")
    return [values[start : start + size] for start in range(0, len(values), size)] if values else []


@apoc_function(
    "apoc.coll.combinations(coll :: LIST<ANY>, minSelect :: INTEGER, maxSelect = -1 :: INTEGER) :: LIST<ANY>",
    "Returns all choices of between minSelect and maxSelect elements.",
)
def combinations(values: Items, least: int, most: int) -> list[Any]:
    """In the order of the list; none if a size is asked for that it does not have."""
    largest = least if most == -1 else most
    if least < 1 or largest > len(values or ()):
        return []
    sizes = range(least, largest + 1)
    refuse_list(sum(math.comb(len(values or ()), size) * size for size in sizes))
    return [list(choice) for size in sizes for choice in itertools.combinations(values or (), size)]


@apoc_function(
    "apoc.coll.dropDuplicateNeighbors(list :: LIST<ANY>) :: LIST<ANY>",
    "Returns the list without elements that equal the one before them.",
)
def drop_duplicate_neighbors(values: Items) -> Items:
    """`[1, 1, 2, 1]` becomes `[1, 2, 1]`."""
    if values is None:
        return None
    kept = [next(group) for _, group in itertools.groupby(values, key=group_key)]
    return kept[1:] if kept and kept[0] is None else kept  # APOC begins by comparing with null


@apoc_function(
    "apoc.coll.insert(coll :: LIST<ANY>, index :: INTEGER, value :: ANY) :: LIST<ANY>",
    "Returns the list with a value inserted at an index.",
)
def insert(values: Items, index: int, value: Any) -> Items:
    """An index outside the list changes nothing."""
    return insert_all(values, index, None if value is None else [value])


@apoc_function(
    "apoc.coll.insertAll(coll :: LIST<ANY>, index :: INTEGER, values :: LIST<ANY>) :: LIST<ANY>",
    "Returns the list with values inserted at an index.",
)
def insert_all(values: Items, index: int, new: Items) -> Items:
    """An index outside the list changes nothing, and neither does null."""
    if values is None or new is None or not 0 <= index <= len(values):
        return values
    return [*values[:index], *new, *values[index:]]


@apoc_function(
    "apoc.coll.remove(coll :: LIST<ANY>, index :: INTEGER, length = 1 :: INTEGER) :: LIST<ANY>",
    "Returns the list without a number of elements from an index on.",
)
def remove(values: Items, index: int, length: int) -> Items:
    """An index outside the list changes nothing."""
    if values is None or not 0 <= index < len(values):
        return values
    return values[:index] + values[index + length :]


@apoc_function(
    "apoc.coll.set(coll :: LIST<ANY>, index :: INTEGER, value :: ANY) :: LIST<ANY>",
    "Returns the list with the value at an index replaced.",
)
def set_item(values: Items, index: int, value: Any) -> Items:
    """An index outside the list changes nothing."""
    if values is None or value is None or not 0 <= index < len(values):
        return values
    return [*values[:index], value, *values[index + 1 :]]


@apoc_function("apoc.coll.fill(item :: STRING, count :: INTEGER) :: LIST<ANY>", "Returns a list that repeats an item.")
def fill(item: Any, count: int) -> list[Any]:
    """`fill('a', 2)` is `['a', 'a']`."""
    if count < 0:
        raise function_failed("apoc.coll.fill", "java.lang.IllegalArgumentException", f"List length = {count}")
    refuse_list(count)
    return [item] * count


# --- sorted lists, pairs ---


def _by_property(value: Any, key: str, context: Execution) -> Any:
    if isinstance(value, dict):
        return value.get(key)
    return held_by(context, value).get(key) if isinstance(value, NodeRef | RelationshipRef) else None


@apoc_function(
    "apoc.coll.sortNodes(coll :: LIST<NODE>, prop :: STRING) :: LIST<ANY>",
    "Returns nodes sorted by a property, in descending order unless its name begins with ^.",
    needs_context=True,
)
def sort_nodes(context: Execution, nodes: Items, key: str) -> Items:
    """A stable sort; an empty list for null."""
    if nodes is None:
        return []
    name, upwards = key.removeprefix("^"), key.startswith("^")
    return sorted(nodes, key=lambda node: sort_key(_by_property(node, name, context)), reverse=not upwards)


@apoc_function(
    "apoc.coll.sortMulti(coll :: LIST<MAP>, orderFields = [] :: LIST<STRING>, limit = -1 :: INTEGER, skip = 0 :: "
    "INTEGER) :: LIST<ANY>",
    "Returns maps sorted by several keys, in descending order unless a key begins with ^.",
)
def sort_multi(maps: Items, fields: list[str] | None, limit: int, skip: int) -> Items:
    """`skip` and `limit` apply after sorting."""
    if maps is None:
        return None
    ordered = list(maps)
    for field in reversed(fields or []):
        keys = [sort_key(one.get(field.removeprefix("^"))) for one in ordered]
        places = sorted(range(len(ordered)), key=keys.__getitem__, reverse=not field.startswith("^"))
        ordered = [ordered[place] for place in places]
    rest = ordered[skip:]
    return rest if limit < 0 else rest[:limit]


@apoc_function(
    "apoc.coll.sortText(coll :: LIST<STRING>, conf = {} :: MAP) :: LIST<ANY>",
    "Returns strings sorted letter by letter.",
)
def sort_text(texts: Items, config: Any) -> Items:
    """Ignoring case, lower case first; the locale in the configuration is ignored."""
    return [] if not texts else sorted(texts, key=lambda text: (text.lower(), text.swapcase()))


@apoc_function(
    "apoc.coll.containsSorted(coll :: LIST<ANY>, value :: ANY) :: BOOLEAN",
    "Returns whether a sorted list contains a value.",
)
def contains_sorted(values: Items, value: Any) -> bool:
    """A binary search, which may miss it in a list that is not sorted."""
    return bool(values) and _is_among_sorted("apoc.coll.containsSorted", values or [], value)


def _is_among_sorted(function: str, values: list[Any], wanted: Any) -> bool:
    """Java's binary search."""
    low, high = 0, len(values) - 1
    while low <= high:
        middle = (low + high) // 2
        found = values[middle]
        if type(found) is not type(wanted):
            raise _not_comparable(function, found, wanted)
        here, there = sort_key(found), sort_key(wanted)
        if here == there:
            return True
        low, high = (middle + 1, high) if here < there else (low, middle - 1)
    return False


def _not_comparable(function: str, found: Any, wanted: Any) -> CypherError:
    if wanted is None:
        return function_failed(function, "java.lang.NullPointerException", "a value was expected")
    there, here = (JAVA_CLASSES.get(type(value), "java.lang.Object") for value in (wanted, found))
    message = f"class {there} cannot be cast to class {here} ({there} and {here} are in module java.base of loader "
    return function_failed(function, "java.lang.ClassCastException", f"{message}'bootstrap')")


@apoc_function(
    "apoc.coll.containsAllSorted(coll1 :: LIST<ANY>, coll2 :: LIST<ANY>) :: BOOLEAN",
    "Returns whether a sorted list contains all values of another.",
)
def contains_all_sorted(values: Items, wanted: Items) -> bool:
    """False for null."""
    if values is None or wanted is None:
        return False
    return all(_is_among_sorted("apoc.coll.containsAllSorted", values, value) for value in wanted)


@apoc_function(
    "apoc.coll.frequenciesAsMap(coll :: LIST<ANY>) :: MAP",
    "Returns how often each element occurs, as a map keyed by its text.",
    needs_context=True,
)
def frequencies_as_map(context: Execution, values: Items) -> dict[str, int]:
    """`{1: 2}` for `[1, 1]`."""
    return {_text(value, context): count for value, count in _counts(values)}


def _text(value: Any, context: Execution) -> str:
    text = None if isinstance(value, list | dict) else string_of(value)
    return java_text(value, context.graph) if text is None else text


@apoc_function(
    "apoc.coll.pairWithOffset(coll :: LIST<ANY>, offset :: INTEGER) :: LIST<ANY>",
    "Returns each element with the one at an offset from it.",
)
def pair_with_offset(values: Items, offset: int) -> Items:
    """Null if there is none."""
    if values is None:
        return None
    places = range(len(values))
    return [[values[i], values[i + offset] if i + offset in places else None] for i in places]


@apoc_function(
    "apoc.coll.randomItems(coll :: LIST<ANY>, itemCount :: INTEGER, allowRepick = false :: BOOLEAN) :: LIST<ANY>",
    "Returns the given number of elements, picked at random.",
    deterministic=False,
)
def random_items(values: Items, count: int, again: bool) -> list[Any]:
    """Elements are repeated only if that is allowed."""
    if not values or count < 1:
        return []
    return random.choices(values, k=count) if again else random.sample(values, min(count, len(values)))


@apoc_function("apoc.convert.toSet(list :: ANY) :: LIST<ANY>", "Returns a value as a list without repeated elements.")
def value_to_set(value: Any) -> Items:
    """A path becomes its elements, any other single value a list of one element."""
    given = value.elements() if isinstance(value, PathValue) else value
    if given is None:
        return None
    return list(_distinct(given if isinstance(given, list) else [given]).values())
