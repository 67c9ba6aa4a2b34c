"""How the APOC functions enter the table: by their signatures as text, with defaults for what is left out.

    @apoc_function("apoc.coll.flatten(coll :: LIST<ANY>, recursive = false :: BOOLEAN) :: LIST<ANY>", "Flattens ...")
    def flatten(values, recursive): ...

Nulls are passed to the functions, for each has its own way with them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from hoplite.engine.functions.registry import FUNCTIONS, Form, Function, ValueFunction
from hoplite.engine.signatures import function_defaults, parse_function_signature
from hoplite.errors import PROCEDURE_CALL_FAILED, CypherError

_Value = TypeVar("_Value", bound=ValueFunction)


def function_failed(function: str, java_class: str, message: str) -> CypherError:
    """The error of a function that threw: `Failed to invoke function `f`: Caused by: java.lang....: message`"""
    return CypherError(
        PROCEDURE_CALL_FAILED, f"Failed to invoke function `{function}`: Caused by: {java_class}: {message}"
    )


def apoc_function(signature: str, description: str, *, needs_context: bool = False) -> Callable[[_Value], _Value]:
    """Register the decorated function under this signature."""
    parsed = parse_function_signature(signature, "", description)
    defaults, count = function_defaults(signature), len(parsed.arguments)
    extra = 1 if needs_context else 0

    def register(function: _Value) -> _Value:
        def call(*arguments: Any) -> Any:
            missing = count + extra - len(arguments)
            given = (*arguments, *defaults[len(defaults) - missing :]) if missing else arguments
            try:
                return function(*given)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError, re.error) as problem:
                # Java would have thrown on such arguments too; what it threw is not worth imitating.
                raise function_failed(parsed.name, "java.lang.RuntimeException", str(problem)) from problem

        forms = (Form(signature, description),)
        FUNCTIONS[parsed.name.lower()] = Function(parsed, call, False, needs_context, forms=forms)
        return function

    return register
