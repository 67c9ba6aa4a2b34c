"""Schema commands: create and drop indexes and constraints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.batch import UNIT, Batch
from hoplite.engine.context import Execution
from hoplite.engine.expressions.compile import compile_expression
from hoplite.engine.expressions.java import type_name
from hoplite.engine.prepare import Prepared
from hoplite.errors import UNSUPPORTED_ADMINISTRATION, CypherError, argument_error, type_error
from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.grammar.statement import Administration, CreateConstraint, CreateIndex, DropSchema
from hoplite.planner.notifications import already_exists, does_not_exist
from hoplite.planner.type_text import type_text
from hoplite.storage.index_options import checked_config, option_text, refuse_options
from hoplite.storage.schema import Constraint, Entity, Index, IndexKind
from hoplite.storage.schema_changes import enterprise_only

_NOT_SYSTEM_DATABASE = "Neo.ClientError.Statement.NotSystemDatabaseError"
_OF_CLUSTERS = ("SHOW SERVER", "SHOW SERVERS", "SHOW ALIASES")


def run_command(prepared: Prepared, context: Execution) -> Iterator[Batch]:
    """Run a command, which has no rows."""
    command = prepared.command
    match command:
        case CreateIndex():
            _create_index(command, context)
        case CreateConstraint():
            _create_constraint(command, context)
        case DropSchema():
            _drop(command, context)
        case Administration(command=name, span=span):
            text = prepared.text[span.start :].strip().rstrip(";").strip()
            code = _NOT_SYSTEM_DATABASE if name in _OF_CLUSTERS else UNSUPPORTED_ADMINISTRATION
            raise CypherError(code, f"Unsupported administration command: {text}")
        case _:
            raise AssertionError(command)
    return iter(())


def _name(name: str | ast.Parameter | None, context: Execution) -> str | None:
    if isinstance(name, ast.Parameter):
        value = context.parameters[name.name]
        if not isinstance(value, str):
            shown = "<null>" if value is None else option_text(value)
            cause = because("22N27", shown, f"$`{name.name}`", "STRING")
            raise type_error(f"Expected String, but got: {type_name(value)}", cause)
        return value
    return name


def _options(expression: ast.Expression | None, context: Execution) -> dict[str, Any]:
    if expression is None:
        return {}
    value = compile_expression(expression, context.functions)(UNIT, context).objects()[0]
    if not isinstance(value, dict):
        raise argument_error("Expected OPTIONS to be a map")
    return value


def _create_index(command: CreateIndex, context: Execution) -> None:
    assert context.writer is not None
    outcome_name = _name(command.name, context)
    outcome = context.writer.create_index(
        outcome_name,
        IndexKind(command.kind),
        Entity(command.entity),
        command.labels,
        command.keys,
        _options(command.options, context),
        command.if_not_exists,
    )
    context.counters.indexes_added += int(outcome.is_new)
    if not outcome.is_new:
        asked = _described(f"{command.kind} INDEX", outcome_name, Entity(command.entity), command.labels, command.keys)
        _note_existing(asked, outcome.rule, context)


_ENTERPRISE = {"KEY": "KEY", "NOT NULL": "PROPERTY EXISTENCE", "TYPED": "PROPERTY TYPE"}


def _create_constraint(command: CreateConstraint, context: Execution) -> None:
    assert context.writer is not None
    name, entity = _name(command.name, context), Entity(command.entity)
    options = _options(command.options, context)
    if command.kind in _ENTERPRISE:
        _refuse_constraint(command, name, options, context)
        return
    outcome = context.writer.create_constraint(
        name, entity, command.label, command.keys, options, command.if_not_exists
    )
    context.counters.constraints_added += int(outcome.is_new)
    if not outcome.is_new:
        _note_existing(_described("CONSTRAINT", name, entity, (command.label,), command.keys), outcome.rule, context)


def _refuse_constraint(
    command: CreateConstraint, name: str | None, options: dict[str, Any], context: Execution
) -> None:
    """Raise the error for a constraint of the Enterprise edition, unless one of the name exists and that is enough."""
    assert context.writer is not None
    schema, entity, rule = context.writer.schema, Entity(command.entity), _ENTERPRISE[command.kind]
    if rule == "KEY":
        checked_config(IndexKind.RANGE, entity, options, "key")
    else:
        refuse_options(entity, rule.lower(), options)
    shown = None if command.type is None else type_text(command.type)
    known = schema.constraint(name) if command.if_not_exists and name is not None else None
    if known is None:
        raise enterprise_only(schema, name, rule, entity, command.label, command.keys, shown)
    wanted = {"KEY": f"{entity.value} KEY", "PROPERTY EXISTENCE": "NOT NULL", "PROPERTY TYPE": f":: {shown}"}[rule]
    asked = _described("CONSTRAINT", name, entity, (command.label,), command.keys, wanted)
    _note_existing(asked, known, context)


def _drop(command: DropSchema, context: Execution) -> None:
    assert context.writer is not None
    name = _name(command.name, context)
    assert name is not None
    if command.kind == "INDEX":
        dropped = context.writer.drop_index(name, command.if_exists)
        context.counters.indexes_removed += int(dropped)
    else:
        dropped = context.writer.drop_constraint(name, command.if_exists)
        context.counters.constraints_removed += int(dropped)
    if not dropped:
        context.notifications.append(does_not_exist(f"DROP {command.kind} {name} IF EXISTS", name))


def _described(
    kind: str,
    name: str | None,
    entity: Entity,
    labels: tuple[str, ...],
    keys: tuple[str, ...],
    required: str = "UNIQUE",
) -> list[str]:
    """The name of a rule and what it covers, as notifications write them before and after IF NOT EXISTS."""
    if kind == "LOOKUP INDEX":
        covered, function = ("(e)", "labels") if entity is Entity.NODE else ("()-[e]-()", "type")
        return [f"{kind} {name}" if name is not None else kind, f"FOR {covered} ON EACH {function}(e)"]
    label = "|".join(labels)
    covered = f"(e:{label})" if entity is Entity.NODE else f"()-[e:{label}]-()"
    properties = ", ".join(f"e.{key}" for key in keys)
    target = f"REQUIRE ({properties}) IS {required}" if kind == "CONSTRAINT" else f"ON ({properties})"
    return [f"{kind} {name}" if name is not None else kind, f"FOR {covered} {target}"]


def _note_existing(asked: list[str], rule: Index | Constraint, context: Execution) -> None:
    kind = f"{rule.kind.value} INDEX" if isinstance(rule, Index) else "CONSTRAINT"
    known = _described(kind, rule.name, rule.entity, rule.labels, rule.keys)
    command = f"CREATE {asked[0]} IF NOT EXISTS {asked[1]}"
    context.notifications.append(already_exists(command, " ".join(known)))
