"""SHOW FUNCTIONS: the tables in, one row for each way to call a function out, sorted by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hoplite.engine.functions.registry import AGGREGATES, FUNCTIONS, Form, Function
from hoplite.planner.types import Argument, Signature, sql_name

COLUMNS = (
    "name",
    "category",
    "description",
    "signature",
    "isBuiltIn",
    "argumentDescription",
    "returnDescription",
    "aggregating",
    "isDeprecated",
    "deprecatedBy",
)
DEFAULT_COLUMNS = COLUMNS[:3]

_DEPRECATED = frozenset(("id",))

# What is called like a function and is syntax of its own: name, category, signature, description.
_SYNTAX = (
    (
        "all",
        "Predicate",
        "all(variable :: VARIABLE IN list :: LIST<ANY> WHERE predicate :: ANY) :: BOOLEAN",
        "Returns true if the predicate holds for all elements in the given `LIST<ANY>`.",
    ),
    (
        "any",
        "Predicate",
        "any(variable :: VARIABLE IN list :: LIST<ANY> WHERE predicate :: ANY) :: BOOLEAN",
        "Returns true if the predicate holds for at least one element in the given `LIST<ANY>`.",
    ),
    (
        "exists",
        "Predicate",
        "exists(input :: ANY) :: BOOLEAN",
        "Returns true if a match for the pattern exists in the graph.",
    ),
    (
        "none",
        "Predicate",
        "none(variable :: VARIABLE IN list :: LIST<ANY> WHERE predicate :: ANY) :: BOOLEAN",
        "Returns true if the predicate holds for no element in the given `LIST<ANY>`.",
    ),
    (
        "reduce",
        "List",
        "reduce(accumulator :: VARIABLE = initial :: ANY, variable :: VARIABLE IN list :: LIST<ANY> | expression :: "
        "ANY) "
        ":: ANY",
        "Runs an expression against individual elements of a `LIST<ANY>`, storing the result of the expression in an "
        "accumulator.",
    ),
    (
        "single",
        "Predicate",
        "single(variable :: VARIABLE IN list :: LIST<ANY> WHERE predicate :: ANY) :: BOOLEAN",
        "Returns true if the predicate holds for exactly one of the elements in the given `LIST<ANY>`.",
    ),
)


def function_rows(functions: Mapping[str, Function] = FUNCTIONS) -> list[dict[str, Any]]:
    """The rows of SHOW FUNCTIONS YIELD *: what is in the table, the aggregating functions, and what is syntax."""
    rows = [row for function in functions.values() for row in _rows(function.signature, function.forms)]
    rows += [row for aggregate in AGGREGATES.values() for row in _rows(aggregate.signature, aggregate.forms)]
    rows += [_syntax_row(*entry) for entry in _SYNTAX]
    return sorted(rows, key=lambda row: row["name"])


def _rows(signature: Signature, forms: tuple[Form, ...]) -> Iterator[dict[str, Any]]:
    for form in forms or (Form(signature_text(signature), signature.description),):
        arguments = signature.arguments[: form.signature.count(" :: ") - 1]
        yield {
            "name": signature.name,
            "category": signature.category,
            "description": form.description,
            "signature": form.signature,
            "isBuiltIn": signature.built_in,
            "argumentDescription": [_described(argument) for argument in arguments],
            "returnDescription": form.signature.rsplit(") :: ", 1)[1],
            "aggregating": signature.aggregating,
            "isDeprecated": signature.name in _DEPRECATED,
            "deprecatedBy": None,
        }


def _syntax_row(name: str, category: str, signature: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "category": category,
        "description": description,
        "signature": signature,
        "isBuiltIn": True,
        "argumentDescription": [],
        "returnDescription": signature.rsplit(" :: ", 1)[1],
        "aggregating": False,
        "isDeprecated": False,
        "deprecatedBy": None,
    }


def signature_text(signature: Signature) -> str:
    """`left(original :: STRING, length :: INTEGER) :: STRING`"""
    arguments = ", ".join(
        f"{argument.name}{_default(argument)} :: {_union(argument.types)}" for argument in signature.arguments
    )
    return f"{signature.name}({arguments}) :: {_union(signature.returns)}"


def _default(argument: Argument) -> str:
    """What stands for an argument that is left out: temporal functions take the current time."""
    if not argument.optional:
        return ""
    return " = null" if argument.name == "fields" else " = DEFAULT_TEMPORAL_ARGUMENT"


def _union(types: tuple[Any, ...]) -> str:
    return " | ".join(map(sql_name, types))


def _described(argument: Argument) -> dict[str, Any]:
    written = _union(argument.types)
    return {
        "name": argument.name,
        "type": written,
        "description": f"{argument.name} :: {written}",
        "isDeprecated": False,
    }
