"""Label expressions and relationship types: which symbols they may be written with, and where."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from hoplite.errors import CypherError, invalid_token_name
from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner.check import render
from hoplite.planner.check.positions import after, key_offsets
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import Check
from hoplite.planner.check.typespec import exactly
from hoplite.planner.types import STRING, list_of

TOKEN_NAMES = exactly(STRING, list_of(STRING))  # what a computed label may be


def label_position(labels: ast.LabelExpression, text: str) -> int:
    """Where a message about a label expression points: the name, or the last operator."""
    if isinstance(labels, ast.LabelAnd | ast.LabelOr) and len(labels.operands) > 1:
        return after(labels.operands[-2].span.end, text)
    return labels.span.start


def note_labels(check: Check, labels: ast.LabelExpression | None, kind: str) -> None:
    """Remember the names in a label expression; `kind` is label or type."""
    for part in () if labels is None else label_parts(labels):
        if isinstance(part, ast.LabelName):
            check.mentions.names[part.span.start] = (kind, part.name)


def label_parts(labels: ast.LabelExpression) -> Sequence[ast.LabelExpression]:
    """A label expression and everything in it, the whole first."""
    if isinstance(labels, ast.LabelName):  # most are, and every check asks
        return (labels,)
    if isinstance(labels, ast.LabelAnd | ast.LabelOr):
        return [labels, *(part for operand in labels.operands for part in label_parts(operand))]
    return [labels, *label_parts(labels.operand)] if isinstance(labels, ast.LabelNot) else (labels,)


def check_labels(check: Check, labels: ast.LabelExpression | None, node: ast.NodePattern | None, kind: str) -> None:
    if labels is None:
        return
    parts = label_parts(labels)
    for part in parts:
        if isinstance(part, ast.LabelOr) and part.colon and kind == "node":
            message = "Label expressions are not allowed to contain '|:'."
            if node is None:
                shown = render.labels(labels, check.text)
                message += f"\nIf you want to express a disjunction of labels, please use `:{shown}` instead"
            raise check.error(message, label_position(part, check.text), because("42I20", "|:", "disjunction", "|"))
    colon = next((part for part in parts if isinstance(part, ast.LabelAnd) and part.colon), None)
    if colon is None:
        return
    offset = label_position(colon, check.text)
    shown = render.labels(labels, check.text)
    if _uses_is(check, labels):
        raise check.error(
            f"Mixing the IS keyword with colon (':') between labels is not allowed. "
            f"This expression could be expressed as IS {shown}.",
            offset,
            because("42I29", f"IS {check.text[labels.span.start : labels.span.end]}", f"IS {shown}"),
        )


def forbid_mixed_labels(check: Check, clause: ast.Clause) -> None:
    """A clause uses either the colon (`A:B`) or the newer symbols (`A&B`) and IS between labels, including its
    subqueries.

    Labels that are matched or tested must agree with each other, and so must those that are created; a MERGE does both.
    """
    if check.colon_labels:
        _forbid_mixed(check, _matched(clause))
        _forbid_mixed(check, _written(clause))


def _forbid_mixed(check: Check, nodes: Iterable[object]) -> None:
    """`|` between relationship types is older than either notation and goes with both."""
    colons: list[tuple[ast.LabelExpression, ast.LabelAnd]] = []
    newer = uses_is = False
    for node in nodes:
        match node:
            case ast.NodePattern(labels=labels) | ast.HasLabels(labels=labels) if labels is not None:
                parts = label_parts(labels)
                colons += [(labels, part) for part in parts if isinstance(part, ast.LabelAnd) and part.colon]
                newer = newer or any(isinstance(part, ast.LabelOr) for part in parts)
                uses_is = uses_is or _uses_is(check, labels)
            case ast.RelationshipPattern(types=types) if types is not None:
                parts = label_parts(types)
                uses_is = uses_is or _uses_is(check, types)
            case _:
                continue
        newer = newer or any(
            isinstance(part, ast.LabelNot | ast.LabelWildcard) or (isinstance(part, ast.LabelAnd) and not part.colon)
            for part in parts
        )
    if colons and (newer or uses_is):
        raise _mixed(check, *colons[0], with_is=not newer)


def _mixed(check: Check, whole: ast.LabelExpression, part: ast.LabelAnd, *, with_is: bool) -> CypherError:
    if with_is:
        message = "Mixing the IS keyword with colon (':') between labels is not allowed. "
    else:
        message = (
            "Mixing label expression symbols ('|', '&', '!', and '%') with colon (':') between labels is not allowed. "
            "Please only use one set of symbols. "
        )
    message += f"This expression could be expressed as :{render.labels(whole, check.text)}."
    return check.error(message, label_position(part, check.text))


def _matched(clause: Any) -> Iterator[Any]:
    """Everything below a clause except what CREATE writes, and the tests in ORDER BY and the WHERE of a WITH."""
    if not isinstance(clause, ast.WithClause | ast.ReturnClause):
        yield from _below(clause, (ast.CreateClause,))
        return
    for item in clause.projection.items:
        yield from _below(item, (ast.CreateClause,))
    asked = [item.expression for item in clause.projection.order]
    if isinstance(clause, ast.WithClause) and clause.predicate is not None:
        asked.append(clause.predicate)
    for expression in asked:
        for node in walk(expression):
            if isinstance(node, ast.SubqueryExpression):
                yield from _below(node, (ast.CreateClause,))


def _written(clause: Any) -> Iterator[Any]:
    """The patterns of every CREATE and MERGE in a clause, without the subqueries and label predicates in them."""
    for node in walk(clause):
        match node:
            case ast.CreateClause(patterns=patterns):
                pass
            case ast.MergeClause(pattern=pattern):
                patterns = (pattern,)
            case _:
                continue
        for pattern in patterns:
            yield from _below(pattern, (ast.SubqueryExpression, ast.HasLabels))


def _below(node: Any, left_out: tuple[type, ...]) -> Iterator[Any]:
    """A node and everything below it, except nodes that are `left_out`."""
    return (part for part in walk(node, not_below=left_out) if not isinstance(part, left_out))


def _uses_is(check: Check, labels: ast.LabelExpression) -> bool:
    return check.text[: labels.span.start].rstrip(" \t\r\n(").upper().endswith("IS")


def check_types(check: Check, element: ast.RelationshipPattern) -> None:
    types = element.types
    if types is None:
        return
    if element.hops is not None and any(isinstance(part, ast.LabelAnd | ast.LabelNot) for part in label_parts(types)):
        message = "Variable length relationships must not use relationship type expressions."
        raise check.error(message, label_position(types, check.text))
    for part in label_parts(types):
        if isinstance(part, ast.LabelAnd) and part.colon:
            message = "Relationship types in a relationship type expressions may not be combined using ':'"
            raise check.error(message, label_position(part, check.text), because("42I20", ":", "disjunction", "|"))
        older = isinstance(part, ast.LabelOr) and part.colon
        if older and (element.variable or element.properties or element.hops or not only_alternatives(types)):
            raise check.error(
                "The semantics of using colon in the separation of alternative relationship types in conjunction with\n"
                "the use of variable binding, inlined property predicates, or variable length is no longer supported.\n"
                f"Please separate the relationships types using `:{render.labels(types, check.text)}` instead.",
                label_position(part, check.text),
                because("42I20", "|:", "disjunction", "|"),
            )
    if element.hops is not None and not only_alternatives(types):
        message = "Variable length relationships must not use relationship type expressions."
        raise check.error(message, label_position(types, check.text))


def only_alternatives(types: ast.LabelExpression) -> bool:
    """Whether there are only names, written or computed, separated by `|`."""
    operands = types.operands if isinstance(types, ast.LabelOr) else (types,)
    return all(isinstance(operand, ast.LabelName | ast.DynamicLabel) for operand in operands)


def check_label_predicate(check: Check, node: ast.HasLabels) -> None:
    """Check a label expression that follows an expression: `n:A|B`."""
    check_labels(check, node.labels, None, "node")
    if any(isinstance(part, ast.DynamicLabel) for part in label_parts(node.labels)):
        message = "Dynamic Label and Types are only allowed in MATCH, CREATE, MERGE, SET and REMOVE clauses."
        raise check.error(message, node.span.start)


def check_dynamic(check: Check, labels: ast.LabelExpression | None, kind: str, scope: Scope) -> None:
    if labels is None:
        return
    for part in label_parts(labels):
        if isinstance(part, ast.DynamicLabel):
            types = check.type_of(part.expression, scope)
            if not types & TOKEN_NAMES:
                name = part.expression.name if isinstance(part.expression, ast.Variable) else None
                place = f"dynamic {kind}" if name is None else f"`{name}`"
                raise check.mismatch(TOKEN_NAMES, types, part.expression, place)
            check_token_name(check, part.expression, part.span.start)


def check_token_name(check: Check, expression: ast.Expression, offset: int) -> None:
    """A label, type or key that is written as a value must not be null, empty or contain a null byte."""
    for part in expression.items if isinstance(expression, ast.ListLiteral) else (expression,):
        if isinstance(part, ast.Literal) and part.value is None:
            raise check.error(invalid_token_name("Null"), offset)
        if isinstance(part, ast.Literal) and isinstance(part.value, str):
            _forbid_invalid(check, part.value, offset)


def forbid_invalid_names(check: Check, nodes: Iterable[object]) -> None:
    """Labels, types and keys of a statement must not be empty or contain a null byte."""
    for node in nodes:
        match node:
            case ast.SetLabels() | ast.RemoveLabels():
                for label in node.labels:
                    if isinstance(label, ast.LabelName):
                        _forbid_invalid(check, label.name, node.variable.span.start)
            case ast.LabelName(name=name):
                _forbid_invalid(check, name, node.span.start)
            case ast.Property(key=name):
                _forbid_invalid(check, name, node.key_span.start)
            case ast.ProjectedProperty(key=name):
                _forbid_invalid(check, name, node.span.start + 1)
            case ast.Index(index=ast.Literal(value=str(name)) as literal):
                _forbid_invalid(check, name, literal.span.start)
            case (
                ast.NodePattern(properties=ast.MapLiteral() as map)
                | ast.RelationshipPattern(properties=ast.MapLiteral() as map)
            ):
                for name, offset in key_offsets(map, check.text):
                    _forbid_invalid(check, name, offset)
            case _:
                pass


def _forbid_invalid(check: Check, name: str, offset: int) -> None:
    if not name or "\0" in name:
        raise check.error(invalid_token_name(f"'{name}'"), offset)
