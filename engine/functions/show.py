"""SHOW FUNCTIONS: the tables in, one row for each form of a function out, sorted by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hoplite.engine.descriptions import arguments_of_function
from hoplite.engine.functions.registry import AGGREGATES, FUNCTIONS, Function
from hoplite.planner.types import Argument, Signature, sql_name

_DEPRECATED = frozenset(("id",))

# Syntax that looks like a function call: name, category, signature, description.
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
    """The rows of SHOW FUNCTIONS YIELD *: the scalar and aggregating functions, and syntax that looks like one."""
    rows = [row for function in functions.values() for row in _rows(function.signature)]
    rows += [row for aggregate in AGGREGATES.values() for row in _rows(aggregate.signature)]
    rows += [_syntax_row(*entry) for entry in _SYNTAX]
    return sorted(rows, key=lambda row: row["name"])


def _rows(signature: Signature) -> Iterator[dict[str, Any]]:
    for form in signature.forms:
        arguments = signature.arguments[: form.signature.count(" :: ") - 1]
        yield {
            "name": signature.name,
            "category": signature.category,
            "description": form.description,
            "signature": form.signature,
            "isBuiltIn": signature.built_in,
            "argumentDescription": arguments_of_function(form.signature) or [_described(one) for one in arguments],
            "returnDescription": form.signature.rsplit(") :: ", 1)[1],
            "aggregating": signature.aggregating,
            "isDeprecated": signature.name in _DEPRECATED or signature.deprecated_by is not None,
            "deprecatedBy": signature.deprecated_by,
        }


def _syntax_row(name: str, category: str, signature: str, description: str) -> dict[str, Any]:
    return {
        "name": name,
        "category": category,
        "description": description,
        "signature": signature,
        "isBuiltIn": True,
        "argumentDescription": arguments_of_function(signature),
        "returnDescription": signature.rsplit(" :: ", 1)[1],
        "aggregating": False,
        "isDeprecated": False,
        "deprecatedBy": None,
    }


def _described(argument: Argument) -> dict[str, Any]:
    written = " | ".join(map(sql_name, argument.types))
    return {
        "name": argument.name,
        "type": written,
        "description": f"{argument.name} :: {written}",
        "isDeprecated": False,
    }
