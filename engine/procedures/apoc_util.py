"""apoc.util.*, apoc.coll.* and apoc.convert.* as procedures: checks, and lists and paths as rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.apoc_collections import pair_with_offset
from hoplite.engine.functions.apoc_maps import held_by
from hoplite.engine.functions.apoc_text import soundex
from hoplite.engine.functions.entities import element_id, labels, public_id, relationship_type
from hoplite.engine.functions.java_format import FormatError, java_format
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.values.entities import NodeRef, PathValue
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


# --- paths as trees -------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.paths.toJsonTree(paths :: LIST<PATH>, lowerCaseRels = true :: BOOLEAN, config = {} :: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Returns paths from one node as nested maps.",
    works_on_system=False,
)
@cypher_procedure(
    "apoc.convert.toTree(paths :: LIST<PATH>, lowerCaseRels = true :: BOOLEAN, config = {} :: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Returns paths from one node as nested maps.",
    works_on_system=False,
    deprecated_by="apoc.paths.toJsonTree",
)
def to_tree(context: Execution, paths: list[PathValue] | None, lower_case: bool, config: Any) -> Iterator[Row]:
    """A map for each first node; a relationship type is a key, and its value the maps of the next nodes."""
    maps: dict[NodeRef, dict[str, Any]] = {}
    given = list(paths or ())
    if (config or {}).get("sortPaths", True):
        given.sort(key=len, reverse=True)
    for path in given:
        nodes = path.node_refs()
        for node, relationship, child in zip(nodes[:-1], path.relationship_refs(), nodes[1:], strict=True):
            parent = maps.setdefault(node, _tree_node(context, node))
            name = relationship_type(context, relationship) or ""
            key = name.lower() if lower_case else name
            children = parent.setdefault(key, [])
            number = public_id(context, child)
            if all(one["_id"] != number for one in children):
                held = {f"{key}.{name}": value for name, value in held_by(context, relationship).items()}
                maps[child] = {
                    **_tree_node(context, child),
                    **held,
                    f"{key}._id": public_id(context, relationship),
                    f"{key}._elementId": element_id(context, relationship),
                }
                children.append(maps[child])
    roots = dict.fromkeys(path.node_refs()[0] for path in paths or ())
    if not roots:
        yield ({},)
    yield from ((maps.get(node) or _tree_node(context, node),) for node in roots)


def _tree_node(context: Execution, node: NodeRef) -> dict[str, Any]:
    identity = {"_type": ":".join(labels(context, node)), "_id": public_id(context, node)}
    return {**held_by(context, node), **identity, "_elementId": element_id(context, node)}


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
