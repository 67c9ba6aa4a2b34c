"""USING INDEX, SCAN and JOIN: a hint must name a label and properties that the clause uses."""

from __future__ import annotations

from collections.abc import Iterator

from hoplite.gql_status import GqlStatus, status
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner.check.pattern_parts import chain_of
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import Check

_WHERE = (
    "either in the pattern or in supported predicates in `WHERE` "
    "(either directly or as part of a top-level `AND` or `OR`)"
)
_PREDICATES = ("IN", "STARTS WITH", "ENDS WITH", "CONTAINS", "=~")


def check_hints(check: Check, clause: ast.MatchClause, scope: Scope) -> None:
    """Check the hints of a MATCH."""
    for hint in clause.hints:
        for variable in hint.variables:
            check.look_up(variable, scope)
        if hint.kind == "JOIN":
            if not any(isinstance(node, ast.RelationshipPattern) for node in walk(clause.patterns[0])):
                message = "Cannot use join hint for single node pattern."
                written = f"USING JOIN ON {', '.join(variable.name for variable in hint.variables)}"
                raise check.error(message, hint.span.start, status("42N76", written))
        elif hint.label is not None and hint.variables:
            _check_label(check, clause, hint, hint.label)
            if hint.kind != "SCAN":
                _check_keys(check, clause, hint)


def _shown(hint: ast.Hint) -> str:
    return f"{'label scan' if hint.kind == 'SCAN' else 'index'} hint `{_written(hint)}`"


def _written(hint: ast.Hint) -> str:
    place = f"USING {hint.kind} {hint.variables[0].name}:{hint.label}"
    return place if hint.kind == "SCAN" else f"{place}({','.join(hint.keys)})"


def _unfulfilled(hint: ast.Hint, entity: str) -> GqlStatus:
    written = _written(hint)
    return status("42N77", written, entity.upper(), hint.variables[0].name).under("42N76", written)


def _check_label(check: Check, clause: ast.MatchClause, hint: ast.Hint, label: str) -> None:
    variable = hint.variables[0].name
    entity = "node"
    found: dict[str, None] = {}
    for node in walk(clause):
        match node:
            case ast.NodePattern(variable=ast.Variable(name=name), labels=names) if name == variable:
                found |= _names(names)
            case ast.RelationshipPattern(variable=ast.Variable(name=name), types=names) if name == variable:
                entity = "relationship"
                found |= _names(names)
            case ast.HasLabels(operand=ast.Variable(name=name), labels=names) if name == variable:
                found |= _names(names)
            case _:
                continue
    if label in found:
        return
    kind, function = ("label", "labels()") if entity == "node" else ("relationship type", "type()")
    if not found:
        but = f"no {kind} was found"
    else:
        plural = len(found) > 1
        listed = ", ".join(f"`{name}`" for name in found)
        but = f"only the {kind}{'s' if plural else ''} {listed} {'were' if plural else 'was'} found"
    raise check.error(
        f"Cannot use {_shown(hint)} in this context: Must use {kind} `{label}`, that the hint is referring to, on the "
        f"{entity} `{variable}` {_WHERE}, but {but}. Predicates must include the {kind} literal `{label}`. That is, "
        f"the function `{function}` is not compatible with indexes. Note that {kind} `{label}` must be specified on a "
        f"non-optional {entity}.",
        hint.span.start,
        _unfulfilled(hint, entity),
    )


def _names(labels: ast.LabelExpression | None) -> dict[str, None]:
    return {} if labels is None else dict.fromkeys(n.name for n in walk(labels) if isinstance(n, ast.LabelName))


def _check_keys(check: Check, clause: ast.MatchClause, hint: ast.Hint) -> None:
    variable = hint.variables[0].name
    used = set(_used_keys(clause, variable))
    missing = [key for key in hint.keys if key not in used]
    if not missing:
        return
    found = [f"`{key}`" for key in hint.keys if key in used]
    keys = ", ".join(f"`{key}`" for key in hint.keys)
    noun = "property" if len(hint.keys) == 1 else "properties"
    relationships = (e for part in clause.patterns for e in chain_of(part).elements)
    entity = "node"
    if any(isinstance(e, ast.RelationshipPattern) and e.variable == hint.variables[0] for e in relationships):
        entity = "relationship"
    but = f"only {', '.join(found)} was found" if found else "none was found"
    raise check.error(
        f"Cannot use {_shown(hint)} in this context: Must use the {noun} {keys}, that the hint is referring to, on the "
        f"{entity} `{variable}` {_WHERE}, but {but}. Supported predicates are: equality comparison, inequality (range) "
        "comparison, `STARTS WITH`, `IN` condition or checking property existence. The comparison cannot be performed "
        f"between two property values. Note that the {noun} {keys} must be specified on a non-optional {entity}.",
        hint.span.start,
        _unfulfilled(hint, entity),
    )


def _used_keys(clause: ast.MatchClause, variable: str) -> Iterator[str]:
    """The keys of a variable that the patterns or predicates of a clause use."""
    for node in walk(clause):
        operands: tuple[ast.Expression, ...] = ()
        match node:
            case ast.NodePattern(variable=ast.Variable(name=name), properties=ast.MapLiteral(entries=entries)) if (
                name == variable
            ):
                yield from (key for key, _ in entries)
            case ast.RelationshipPattern(
                variable=ast.Variable(name=name), properties=ast.MapLiteral(entries=entries)
            ) if name == variable:
                yield from (key for key, _ in entries)
            case ast.Comparison():
                operands = node.operands
            case ast.Binary() if node.operator in _PREDICATES:
                operands = (node.left, node.right)
            case ast.IsNull():
                operands = (node.operand,)
            case _:
                continue
        for operand in operands:
            if isinstance(operand, ast.Property) and operand.subject == ast.Variable(variable):
                yield operand.key
