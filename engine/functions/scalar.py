"""Scalar functions of ordinary values: size, coalesce, head, last, nullIf, and those without arguments."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np

from hoplite.engine.expressions.java import TEXT_VALUE
from hoplite.engine.functions.arguments import wrong_input
from hoplite.engine.functions.registry import cypher_function, named, over_columns
from hoplite.errors import CypherError, type_error
from hoplite.gql_status import because
from hoplite.planner.types import ANY, INTEGER, LIST, STRING
from hoplite.values.columns import Column, EntityLists, Integers, Strings
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.order import equals
from hoplite.values.render import describe
from hoplite.values.value_types import wrong_value

_ANYTHING = named("input", ANY)


# --- sizes ---


@cypher_function(
    "size",
    args=(named("input", STRING, LIST),),
    returns=INTEGER,
    category="Scalar",
    description="Returns the number of items in a `LIST<ANY>` or the number of Unicode characters in a `STRING`.",
)
def size(value: Any) -> int:
    """`size([1, 2])` is 2, `size('abc')` is 3."""
    if isinstance(value, str | list):
        return len(value)
    raise wrong_input("size", "a String or List", value)


@over_columns("size")
def size_of_column(column: Column) -> Column | None:
    """Lengths of text, and of lists of entities without building the lists."""
    if isinstance(column, EntityLists):
        return Integers(np.diff(column.offsets), column.nulls)
    return _lengths(column) if isinstance(column, Strings) else None


def _lengths(column: Strings) -> Integers:
    values = column.values.tolist()
    lengths = np.fromiter((-1 if value is None else len(value) for value in values), np.int64, len(values))
    nulls = lengths < 0
    return Integers(lengths, nulls if nulls.any() else None)


def _register_character_length(name: str) -> None:
    @cypher_function(
        name,
        args=(named("input", STRING),),
        returns=INTEGER,
        category="Scalar",
        description="Returns the number of Unicode characters in a `STRING`.",
    )
    def character_length(value: Any) -> int:
        if not isinstance(value, str):
            raise wrong_input("character_length", "a String", value)
        return len(value)

    @over_columns(name)
    def character_lengths(column: Column) -> Column | None:
        return _lengths(column) if isinstance(column, Strings) else None


_register_character_length("char_length")
_register_character_length("character_length")


# --- choosing ---


@cypher_function(
    "coalesce",
    args=(_ANYTHING,),
    returns=ANY,
    category="Scalar",
    description="Returns the first non-null value in a list of expressions.",
    nulls="handle",
    variadic=True,
)
def coalesce(*values: Any) -> Any:
    """`coalesce(null, 1, 2)` is 1."""
    return next((value for value in values if value is not None), None)


@over_columns("coalesce")
def coalesce_columns(*columns: Column) -> Column | None:
    """If the first column has no nulls, it is the answer."""
    return columns[0] if not columns[0].null_mask().any() else None


@cypher_function(
    "nullIf",
    args=(named("v1", ANY), named("v2", ANY)),
    returns=ANY,
    category="Scalar",
    description="Returns null if the two given parameters are equivalent, otherwise returns the value of the first "
    "parameter.",
    nulls="handle",
)
def null_if(first: Any, second: Any) -> Any:
    """`nullIf(1, 1.0)` is null, `nullIf(1, 2)` is 1."""
    return None if equals(first, second) is True else first


# --- ends of lists ---


def _end(value: Any, index: int) -> Any:
    if isinstance(value, list):
        return value[index] if value else None
    raise _not_a_list(value, index)


def _not_a_list(value: Any, index: int) -> CypherError:
    """The error of `value[index]`, which is how Neo4j runs head and last."""
    key = f"Int({index})"
    wrong_key = f"Expected {key} to be a {TEXT_VALUE}, but it was a org.neo4j.values.storable.IntValue"
    cause = because("22N01", index, "STRING", "INTEGER NOT NULL")
    match value:
        case dict():
            message = f"Cannot access a map '{describe(value)}' by key '{key}': {wrong_key}"
        case NodeRef() | RelationshipRef():
            message = f"Cannot use a property key with non string name. It was {key}: {wrong_key}"
        case _:
            message = (
                f"`{describe(value)}` is not a collection or a map. Element access is only possible by performing a "
                "collection lookup using an integer index, or by performing a map lookup using a string key "
                f"(found: {describe(value)}[{key}])"
            )
            cause = wrong_value(value, "LIST or MAP")
    return type_error(message, cause)


@cypher_function(
    "head",
    args=(named("list", LIST),),
    returns=ANY,
    category="Scalar",
    description="Returns the first element in a `LIST<ANY>`.",
)
def head(values: Any) -> Any:
    """`head([1, 2])` is 1, `head([])` null."""
    return _end(values, 0)


@cypher_function(
    "last",
    args=(named("list", LIST),),
    returns=ANY,
    category="Scalar",
    description="Returns the last element in a `LIST<ANY>`.",
)
def last(values: Any) -> Any:
    """`last([1, 2])` is 2, `last([])` null."""
    return _end(values, -1)


# --- without arguments ---


@cypher_function(
    "randomUUID",
    returns=STRING,
    category="Scalar",
    description="Generates a random UUID.",
    deterministic=False,
)
def random_uuid() -> str:
    """A new one for every row."""
    return str(uuid.uuid4())


@cypher_function(
    "file",
    returns=STRING,
    category="Scalar",
    description="Returns the absolute path of the file that LOAD CSV is using.",
    deterministic=False,
)
def file() -> str | None:
    """Null here: after a LOAD CSV the planner replaces the call with a column."""
    return None


@cypher_function(
    "linenumber",
    returns=INTEGER,
    category="Scalar",
    description="Returns the line number that LOAD CSV is currently using.",
    deterministic=False,
)
def linenumber() -> int | None:
    """Null, as `file()`."""
    return None
