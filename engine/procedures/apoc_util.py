"""apoc.util.* and apoc.coll.* as procedures: checks, and lists as rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.apoc_collections import pair_with_offset
from hoplite.engine.functions.apoc_text import soundex
from hoplite.engine.functions.java_format import FormatError, java_format
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.values.order import equals

Items = list[Any] | None
_RUNTIME_EXCEPTION = "java.lang.RuntimeException"


# --- checks ---------------------------------------------------------------------------------------------------------


def _complaint(text: str | None, parameters: Items) -> tuple[str, str]:
    """The class of the exception, and the text with its parameters filled in by Java's String.format."""
    if not parameters:
        return _RUNTIME_EXCEPTION, "null" if text is None else text
    try:
        return _RUNTIME_EXCEPTION, java_format("null" if text is None else text, parameters)
    except FormatError as problem:
        return problem.java_class, problem.message


@cypher_procedure(
    "apoc.util.validate(predicate :: BOOLEAN, message :: STRING, params :: LIST<ANY>)",
    mode="DEFAULT",
    description="Fails with a message if a predicate is true.",
    works_on_system=False,
)
def validate(context: Execution, predicate: bool | None, message: str | None, parameters: Items) -> Iterator[Row]:
    """No rows: called for its effect."""
    if predicate:
        raise call_failed("apoc.util.validate", *_complaint(message, parameters))
    return
    yield


@apoc_function(
    "apoc.util.validatePredicate(predicate :: BOOLEAN, message :: STRING, params :: LIST<ANY>) :: BOOLEAN",
    "Fails with a message if a predicate is true, and returns true otherwise.",
)
def validate_predicate(predicate: bool | None, message: str | None, parameters: Items) -> bool:
    """For use in WHERE."""
    if predicate:
        raise function_failed("apoc.util.validatePredicate", *_complaint(message, parameters))
    return True


@cypher_procedure(
    "apoc.util.sleep(duration :: INTEGER)",
    mode="DEFAULT",
    description="Waits for a number of milliseconds.",
    works_on_system=False,
)
def sleep(context: Execution, milliseconds: int) -> Iterator[Row]:
    """Observes the statement's time limit."""
    end = time.monotonic() + milliseconds / 1000
    while (left := end - time.monotonic()) > 0:
        context.check_time()
        time.sleep(min(left, 0.05))
    return
    yield


# --- lists as rows --------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.coll.zipToRows(list1 :: LIST<ANY>, list2 :: LIST<ANY>) :: (value :: LIST<ANY>)",
    mode="DEFAULT",
    description="Returns the pairs of two lists.",
    works_on_system=False,
)
def zip_to_rows(context: Execution, first: Items, second: Items) -> Iterator[Row]:
    """A row for each element of the first; null where the second is shorter."""
    others = second or []
    for place, value in enumerate(first or ()):
        yield ([value, others[place] if place < len(others) else None],)


@cypher_procedure(
    "apoc.coll.split(coll :: LIST<ANY>, value :: ANY) :: (value :: LIST<ANY>)",
    mode="DEFAULT",
    description="Splits a list at a value.",
    works_on_system=False,
)
def split(context: Execution, values: Items, separator: Any) -> Iterator[Row]:
    """Empty parts are omitted."""
    part: list[Any] = []
    for value in values or ():
        if equals(value, separator) is True:
            if part:
                yield (part,)
            part = []
        else:
            part.append(value)
    if part:
        yield (part,)


@cypher_procedure(
    "apoc.coll.partition(coll :: LIST<ANY>, batchSize :: INTEGER) :: (value :: LIST<ANY>)",
    mode="DEFAULT",
    description="Splits a list into parts of a given size.",
    works_on_system=False,
)
def partition(context: Execution, values: Items, size: int) -> Iterator[Row]:
    """The last may be shorter."""
    given = values or []
    yield from ((given[first : first + size],) for first in range(0, len(given), max(size, 1)))


@cypher_procedure(
    "apoc.coll.pairWithOffset(coll :: LIST<ANY>, offset :: INTEGER) :: (value :: LIST<ANY>)",
    mode="DEFAULT",
    description="Returns each element with the one at an offset from it.",
    works_on_system=False,
)
def pairs_with_offset(context: Execution, values: Items, offset: int) -> Iterator[Row]:
    """A row for each."""
    yield from ((pair,) for pair in pair_with_offset(values, offset) or ())


# --- sounds ---------------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.text.phoneticDelta(text1 :: STRING, text2 :: STRING) :: (phonetic1 :: STRING, phonetic2 :: STRING, "
    "delta :: INTEGER)",
    mode="DEFAULT",
    description="Returns the Soundex codes of two strings, and at how many positions they agree.",
    works_on_system=False,
)
def phonetic_delta(context: Execution, first: str | None, second: str | None) -> Iterator[Row]:
    """One row; null counts as an empty string."""
    sounds = [None if text is None else soundex(text) for text in (first, second)]
    same = sum(one == other for one, other in zip(*(sound or "" for sound in sounds), strict=False))
    yield (*sounds, same)
