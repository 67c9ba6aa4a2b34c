"""Procedure calls: does the procedure exist, do the arguments fit, which columns can be yielded.

A procedure is looked up between the two rounds of the check; the first round only knows what its YIELD names.
"""

from __future__ import annotations

from hoplite.errors import PROCEDURE_NOT_FOUND, CypherError, cypher_error
from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.planner.check.expressions import check_predicate, type_of
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import Check
from hoplite.planner.check.typespec import ALL, TypeSpec, any_of, exactly
from hoplite.planner.types import Field, ProcedureSignature, parse_type


def check_procedure(check: Check, call: ast.CallProcedure, scope: Scope) -> dict[str, TypeSpec] | None:
    """Check a call and declare what it yields; returns the columns of a standalone call."""
    standalone = call is check.standalone
    arguments = [(argument, type_of(check, argument, scope)) for argument in call.arguments or ()]
    if call.star and not standalone:
        raise check.error("Cannot use `YIELD *` outside standalone call", call.span.start)
    procedure = None
    if check.resolved:
        procedure = known_procedure(check, call)
        _check_form(check, call, procedure, standalone=standalone)
        if call.arguments is not None:
            _check_arguments(check, call, procedure, arguments)
    columns = _declare_yielded(check, call, procedure, scope, standalone=standalone)
    if call.predicate is not None:
        if standalone:
            offset = check.text.upper().rfind("WHERE", 0, call.predicate.span.start)
            message = "Cannot use standalone call with WHERE (instead use: `CALL ... WITH * WHERE ... RETURN *`)"
            raise check.error(message, offset, because("42N24", "CALL", "WHERE"))
        check_predicate(check, call.predicate, scope.inner())
    return columns if standalone else None


def known_procedure(check: Check, call: ast.CallProcedure) -> ProcedureSignature:
    """The procedure that is called; an error if it does not exist."""
    procedure = check.catalogue.procedure(call.name)
    if procedure is None:
        raise _not_found(call.name)
    return procedure


def _not_found(name: str) -> CypherError:
    return cypher_error(
        PROCEDURE_NOT_FOUND,
        f"There is no procedure with the name `{name}` registered for this database instance. Please ensure you've "
        "spelled the procedure name correctly and that the procedure is properly deployed.",
    )


def _check_form(check: Check, call: ast.CallProcedure, procedure: ProcedureSignature, *, standalone: bool) -> None:
    if not standalone:
        _check_form_in_query(check, call, procedure)
    if (call.star or call.items is not None) and not procedure.outputs:
        raise check.error("Cannot yield value from void procedure.", call.span.start)


def _check_form_in_query(check: Check, call: ast.CallProcedure, procedure: ProcedureSignature) -> None:
    if call.arguments is None and procedure.inputs:
        raise check.error(
            "Procedure call inside a query does not support passing arguments implicitly. Please pass arguments "
            f"explicitly in parentheses after procedure name for {call.name}",
            call.span.start,
        )
    if call.arguments is None:
        raise check.error(f"Procedure call is missing parentheses: {call.name}", call.span.start)
    if call.items is None and procedure.outputs:
        message = (
            "Procedure call inside a query does not support naming results implicitly "
            "(name explicitly using `YIELD` instead)"
        )
        raise check.error(message, call.span.start)


def _check_arguments(
    check: Check,
    call: ast.CallProcedure,
    procedure: ProcedureSignature,
    arguments: list[tuple[ast.Expression, TypeSpec]],
) -> None:
    inputs = procedure.inputs
    least = sum(not field.has_default for field in inputs)
    given = len(arguments)
    if not least <= given <= len(inputs):
        raise _wrong_count(check, call, procedure, least, given)
    for field, (argument, types) in zip(inputs, arguments, strict=False):
        check.expect(any_of(parse_type(field.type)), types, argument)


def _wrong_count(
    check: Check, call: ast.CallProcedure, procedure: ProcedureSignature, least: int, given: int
) -> CypherError:
    total = len(procedure.inputs)
    if given > total:
        bound = "none" if total == 0 else f"no more than {total}"
        problem = f"provides too many arguments: got {given} expected {bound}."
    else:
        bound = f"at least {least} (total: {total}, {total - least} of which have default values)"
        problem = f"does not provide the required number of arguments: got {given} expected {bound}."
    needed = [field.type for field in procedure.inputs if not field.has_default]
    if not needed:
        takes = "no arguments"
    else:
        plural = "s" if len(needed) > 1 else ""
        takes = f"at least {len(needed)} argument{plural} of type{plural} {', '.join(needed)}"
    return check.error(
        f"Procedure call {problem}\n\nProcedure {procedure.name} has signature: {_described(procedure)}\n"
        f"meaning that it expects {takes}\nDescription: {procedure.description}",
        call.span.start,
    )


def _described(procedure: ProcedureSignature) -> str:
    inputs = ", ".join(f"{field.name}{_default(field)} :: {field.type}" for field in procedure.inputs)
    outputs = ", ".join(f"{field.name} :: {field.type}" for field in procedure.outputs)
    return f"{procedure.name}({inputs})" + (f" :: {outputs}" if outputs else "")


def _default(field: Field) -> str:
    if not field.has_default:
        return ""
    value = field.default
    match value:
        case None:
            shown = "NO_VALUE"
        case bool():
            shown = str(value).lower()
        case str():
            shown = f"'{value}'"
        case dict():
            shown = "Map{" + ", ".join(f"{key} -> {item}" for key, item in value.items()) + "}"
        case _:
            shown = str(value)
    return f"  =  {shown}"


def _declare_yielded(
    check: Check, call: ast.CallProcedure, procedure: ProcedureSignature | None, scope: Scope, *, standalone: bool
) -> dict[str, TypeSpec]:
    outputs = {} if procedure is None else {field.name: exactly_of(field.type) for field in procedure.outputs}
    if call.items is None:
        if standalone:
            scope.names.update(outputs)
        return outputs
    columns: dict[str, TypeSpec] = {}
    for item in call.items:
        types = outputs.get(item.name, ALL)
        if procedure is not None and item.name not in outputs:
            raise check.error(f"Unknown procedure output: `{item.name}`", item.span.start)
        variable = item.alias if item.alias is not None else ast.Variable(item.name, item.span)
        check.declare(variable, types, scope)
        columns[variable.name] = types
    return columns


def exactly_of(type_name: str) -> TypeSpec:
    """The types of an output from its declaration; `ANY` may be anything."""
    types = parse_type(type_name)
    return ALL if any_of(types).everything else exactly(*types)
