"""SET, REMOVE and DELETE: what may be assigned to, and what may be written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.planner.check.expressions import check_index, type_of
from hoplite.planner.check.labels import TOKEN_NAMES, check_token_name
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import Check
from hoplite.planner.check.typespec import any_of, exactly
from hoplite.planner.types import MAP, NODE, PATH, RELATIONSHIP

_NODES = exactly(NODE)
_ENTITIES = exactly(NODE, RELATIONSHIP)
_DELETABLE = exactly(NODE, PATH, RELATIONSHIP)
_MAPS = any_of((MAP,))


def check_set(check: Check, item: ast.SetItem, scope: Scope) -> None:
    """Check one item of a SET, or of an ON CREATE or ON MATCH."""
    match item:
        case ast.SetProperty(target=target, value=value):
            _check_target(check, target, scope)
            type_of(check, value, scope)
        case ast.SetDynamicProperty(target=target, value=value):
            _check_target(check, target, scope)
            type_of(check, value, scope)
        case ast.SetProperties(variable=variable, value=value):
            types = check.look_up(variable, scope)
            given = type_of(check, value, scope)
            check.expect(_ENTITIES, types, variable)
            check.expect(_MAPS, given, value)
            if isinstance(value, ast.Variable) and given.simple <= _ENTITIES.simple:
                sign = "+=" if item.merge else "="
                check.mentions.copied_entities[value.span.start] = (
                    f"SET {variable.name} {sign} {value.name}",
                    f"SET {variable.name} {sign} properties({value.name})",
                )
        case ast.SetLabels(variable=variable, labels=labels):
            _check_labels(check, variable, labels, scope)
        case _:
            assert_never(item)


def check_remove(check: Check, item: ast.RemoveItem, scope: Scope) -> None:
    """Check one item of a REMOVE."""
    match item:
        case ast.RemoveProperty(target=target):
            _check_target(check, target, scope)
        case ast.RemoveLabels(variable=variable, labels=labels):
            _check_labels(check, variable, labels, scope)
        case _:
            assert_never(item)


def _check_target(check: Check, target: ast.Property | ast.Index, scope: Scope) -> None:
    subject = type_of(check, target.subject, scope)
    if isinstance(target, ast.Property):
        type_of(check, target, scope)
        check.expect(_ENTITIES, subject, target.subject)
        return
    key = type_of(check, target.index, scope)
    check.expect(_ENTITIES, subject, target.subject)
    check_index(check, target, subject & _ENTITIES, key)
    check_token_name(check, target.index, target.index.span.start)


def check_together(check: Check, items: Sequence[ast.SetItem | ast.RemoveItem], clause: str) -> None:
    """The items of a SET or REMOVE use either IS or colons between several labels, not both."""
    labelled = [item for item in items if isinstance(item, ast.SetLabels | ast.RemoveLabels)]
    if not any(_uses_is(check, item) for item in labelled) or all(len(item.labels) == 1 for item in labelled):
        return
    rewritten = ", ".join(
        f"{item.variable.name} IS {label.name}"
        for item in labelled
        for label in item.labels
        if isinstance(label, ast.LabelName)
    )
    raise check.error(
        f"It is not supported to use the `IS` keyword together with multiple labels in `{clause}`. "
        f"Rewrite the expression as `{rewritten}`.",
        check.text.upper().rfind(clause, 0, items[0].span.start),
        because("42I29", clause, rewritten),
    )


def _uses_is(check: Check, item: ast.SetLabels | ast.RemoveLabels) -> bool:
    return check.text[item.variable.span.end : item.labels[0].span.start].strip().upper() == "IS"


def _check_labels(
    check: Check, variable: ast.Variable, labels: tuple[ast.LabelName | ast.DynamicLabel, ...], scope: Scope
) -> None:
    types = check.look_up(variable, scope)
    for label in labels:
        if isinstance(label, ast.DynamicLabel):
            names = type_of(check, label.expression, scope)
            if not names & TOKEN_NAMES:
                raise check.mismatch(TOKEN_NAMES, names, label.expression)
            check_token_name(check, label.expression, variable.span.start)
    check.expect(_NODES, types, variable)


def check_delete(check: Check, expression: ast.Expression, scope: Scope) -> None:
    """Check one expression of a DELETE: nodes, relationships and paths can go."""
    if isinstance(expression, ast.HasLabels):
        raise check.error_at("DELETE doesn't support removing labels from a node. Try REMOVE.", expression)
    check.expect(_DELETABLE, type_of(check, expression, scope), expression)
