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

from hoplite.engine.coercion import coerced
from hoplite.engine.functions.registry import FUNCTIONS, Function, ValueFunction
from hoplite.engine.signatures import function_defaults, parse_function_signature
from hoplite.errors import PROCEDURE_CALL_FAILED, CypherError
from hoplite.lazy import lazy_pattern
from hoplite.planner.types import ANY

# The arguments (by position) for which APOC throws a NullPointerException on null.
_NEVER_NULL: dict[str, tuple[int, ...]] = {
    "apoc.coll.insert": (1,),
    "apoc.coll.insertAll": (1,),
    "apoc.coll.pairWithOffset": (1,),
    "apoc.coll.partition": (1,),
    "apoc.coll.randomItems": (1,),
    "apoc.coll.remove": (1,),
    "apoc.coll.set": (1,),
    "apoc.coll.sortMulti": (0,),
    "apoc.convert.toSortedJsonMap": (0,),
    "apoc.create.vRelationship": (0, 1, 3),
    "apoc.date.add": (0,),
    "apoc.date.convert": (0,),
    "apoc.map.clean": (0, 1, 2),
    "apoc.map.flatten": (0,),
    "apoc.map.fromPairs": (0,),
    "apoc.map.fromValues": (0,),
    "apoc.map.groupBy": (0,),
    "apoc.map.groupByMulti": (0,),
    "apoc.map.mergeList": (0,),
    "apoc.map.removeKey": (0,),
    "apoc.map.removeKeys": (0, 1),
    "apoc.map.setLists": (1, 2),
    "apoc.map.setPairs": (1,),
    "apoc.map.setValues": (1,),
    "apoc.map.sortedProperties": (0,),
    "apoc.map.unflatten": (0,),
    "apoc.meta.cypher.isType": (1,),
    "apoc.node.degree": (0,),
    "apoc.node.degree.in": (0,),
    "apoc.node.degree.out": (0,),
    "apoc.node.relationship.exists": (0,),
    "apoc.nodes.isDense": (0,),
    "apoc.scoring.existence": (0, 1),
    "apoc.text.base64Decode": (0,),
    "apoc.text.base64Encode": (0,),
    "apoc.text.base64UrlDecode": (0,),
    "apoc.text.base64UrlEncode": (0,),
    "apoc.text.byteCount": (0,),
    "apoc.text.bytes": (0,),
    "apoc.text.camelCase": (0,),
    "apoc.text.capitalize": (0,),
    "apoc.text.capitalizeAll": (0,),
    "apoc.text.decapitalizeAll": (0,),
    "apoc.text.lpad": (0, 1),
    "apoc.text.repeat": (0, 1),
    "apoc.text.rpad": (0, 1),
    "apoc.text.snakeCase": (0,),
    "apoc.text.toUpperCase": (0,),
    "apoc.text.upperCamelCase": (0,),
    "apoc.text.urldecode": (0,),
    "apoc.text.urlencode": (0,),
    "apoc.util.md5": (0,),
    "apoc.util.sha1": (0,),
    "apoc.util.sha256": (0,),
    "apoc.util.sha384": (0,),
    "apoc.util.sha512": (0,),
    "apoc.util.validatePredicate": (0,),
}

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
    never_null = tuple(place + extra for place in _NEVER_NULL.get(parsed.name, ()))

    coercions = tuple(
        (place + extra, argument.types) for place, argument in enumerate(parsed.arguments) if ANY not in argument.types
    )

    def register(function: _Value) -> _Value:
        def call(*arguments: Any) -> Any:
            missing = count + extra - len(arguments)
            given = [*arguments, *defaults[len(defaults) - missing :]] if missing else list(arguments)
            for place, types in coercions:
                given[place] = coerced(given[place], types)
            for place in never_null:
                if given[place] is None:
                    name = parsed.arguments[place - extra].name
                    message = f'Cannot read "{name}" because it is null'
                    raise function_failed(parsed.name, "java.lang.NullPointerException", message)
            try:
                return function(*given)
            except CypherError as problem:
                raise _of_function(parsed.name, problem) from None
            except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError, re.error) as problem:
                # Java would also throw on such arguments; exactly what is not worth imitating.
                raise function_failed(parsed.name, "java.lang.RuntimeException", str(problem)) from problem

        call.__module__ = function.__module__  # which names its family
        FUNCTIONS[parsed.name.lower()] = Function(parsed, call, False, needs_context)
        return function

    return register
