"""How APOC functions are registered: by their signatures as text, with defaults for omitted arguments.

    @apoc_function("apoc.coll.flatten(coll :: LIST<ANY>, recursive = false :: BOOLEAN) :: LIST<ANY>", "Flattens ...")
    def flatten(values, recursive): ...

Nulls are passed to the functions, because each treats them differently.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from hoplite.engine import never_null
from hoplite.engine.coercion import coerced
from hoplite.engine.functions.registry import FUNCTIONS, Function, ValueFunction
from hoplite.engine.signatures import function_defaults, parse_function_signature
from hoplite.errors import PROCEDURE_CALL_FAILED, CypherError, execution_failed
from hoplite.lazy import lazy_pattern
from hoplite.planner.types import ANY

# What APOC has deprecated, and what replaces it.
_REPLACED = {
    "apoc.create.uuid": "Neo4j randomUUID() function",
    "apoc.map.setEntry": "apoc.map.setKey",
    "apoc.text.levenshteinDistance": "apoc.text.distance",
    "apoc.text.regreplace": "apoc.text.replace",
}

_Value = TypeVar("_Value", bound=ValueFunction)


def function_failed(function: str, java_class: str, message: str) -> CypherError:
    """The error of a function that has thrown: `Failed to invoke function `f`: Caused by: java.lang....: message`"""
    thrown = f"{java_class}: {message}" if message else java_class
    return CypherError(PROCEDURE_CALL_FAILED, f"Failed to invoke function `{function}`: Caused by: {thrown}")


_FAILED = lazy_pattern(r"Failed to invoke function `[^`]*`")


def _of_function(function: str, problem: CypherError) -> CypherError:
    """Attribute an error raised by another function to this one."""
    if problem.code != PROCEDURE_CALL_FAILED:
        return problem
    message = _FAILED.sub(f"Failed to invoke function `{function}`", problem.message, count=1)
    return CypherError(problem.code, message, problem.gql_status)


def apoc_function(
    signature: str, description: str, *, needs_context: bool = False, deterministic: bool = True
) -> Callable[[_Value], _Value]:
    """Register the decorated function under this signature."""
    parsed = parse_function_signature(signature, "", description)
    parsed = replace(parsed, deprecated_by=_REPLACED.get(parsed.name), deterministic=deterministic)
    defaults, count = function_defaults(signature), len(parsed.arguments)
    extra = 1 if needs_context else 0
    wanted = tuple(place + extra for place in never_null.FUNCTIONS.get(parsed.name, ()))

    coercions = tuple(
        (place + extra, argument.types) for place, argument in enumerate(parsed.arguments) if ANY not in argument.types
    )

    def register(function: _Value) -> _Value:
        def call(*arguments: Any) -> Any:
            missing = count + extra - len(arguments)
            given = [*arguments, *defaults[len(defaults) - missing :]] if missing else list(arguments)
            for place, types in coercions:
                given[place] = coerced(given[place], types)
            for place in wanted:
                if given[place] is None:
                    name = parsed.arguments[place - extra].name
                    message = f'Cannot read "{name}" because it is null'
                    raise function_failed(parsed.name, "java.lang.NullPointerException", message)
            try:
                result = function(*given)
                if type(result) is dict and None in result:
                    raise execution_failed("payload cannot be null")  # Neo4j cannot read such a map
                return result
            except CypherError as problem:
                raise _of_function(parsed.name, problem) from None
            except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError, re.error) as problem:
                # Java would also throw on such arguments; exactly what is not worth imitating.
                raise function_failed(parsed.name, "java.lang.RuntimeException", str(problem)) from problem

        call.__module__ = function.__module__  # which names its family
        FUNCTIONS[parsed.name.lower()] = Function(parsed, call, False, needs_context)
        return function

    return register
