"""The patterns of CREATE and MERGE, which accept only what can be written."""

from __future__ import annotations

from hoplite.errors import SYNTAX_ERROR, CypherError
from hoplite.gql_status import status
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner.check.labels import check_labels, label_parts, label_position, only_alternatives
from hoplite.planner.check.pattern_parts import (
    NODES,
    PATHS,
    RELATIONSHIPS,
    bind,
    chain_of,
    check_element,
    is_quantified,
    variables_of,
)
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import Check
from hoplite.planner.variables import free_variables


def check_written(check: Check, parts: tuple[ast.PathPattern, ...], scope: Scope, clause: str) -> None:
    """Check the patterns of a CREATE, INSERT or MERGE and declare their variables."""
    before = frozenset(scope.visible()) - _hiding(parts)
    for part in parts:
        _check_writable(check, part, clause)
    for part in parts:
        _declare_written(check, part, scope)
    for part in parts:
        for element in chain_of(part).elements:
            check_element(check, element, scope, clause)
    if clause != "MERGE":
        known = before
        for part in parts:
            _forbid_self_reference(check, part, known, clause)
            known |= {variable.name for element in chain_of(part).elements for variable in variables_of(element)}
    _note_references(check, parts, before, clause)


def _hiding(parts: tuple[ast.PathPattern, ...]) -> frozenset[str]:
    """The names of nodes that are a pattern by themselves: always new, so in a FOREACH they may shadow outer names."""
    alone = [elements[0] for part in parts if len(elements := chain_of(part).elements) == 1]
    return frozenset(variable.name for element in alone for variable in variables_of(element))


def check_insert(check: Check, clause: ast.CreateClause) -> None:
    """INSERT accepts less than CREATE: no colons or parentheses between labels, no path names, nothing computed."""
    for part in clause.patterns:
        if part.path_variable is not None:
            message = "Named patterns are not allowed in `INSERT`. Use `CREATE` instead or remove the name."
            raise check.error(message, part.path_variable.span.start)
        for element in chain_of(part).elements:
            if isinstance(element, ast.ParenthesizedPath):
                continue
            names = element.labels if isinstance(element, ast.NodePattern) else element.types
            for label in () if names is None else label_parts(names):
                if isinstance(label, ast.LabelAnd) and label.colon:
                    message = (
                        "Colon `:` conjunction is not allowed in INSERT. Use `CREATE` or conjunction with ampersand "
                        "`&` instead."
                    )
                    raise check.error(message, label_position(label, check.text))
                if isinstance(label, ast.DynamicLabel):
                    raise check.error("Invalid input '$': expected an identifier", label.span.start)
                if isinstance(label, ast.LabelName):
                    _forbid_bracket(check, label)
            if isinstance(element.properties, ast.Parameter):
                raise check.error("Invalid input '$': expected '{'", element.properties.span.start)


def _forbid_bracket(check: Check, label: ast.LabelName) -> None:
    """INSERT takes labels without parentheses: `:(A)` and `:A&(B&C)` are syntax errors."""
    before = check.text[: label.span.start].rstrip()
    if before.endswith("("):
        opening = len(before.rstrip("( \t\r\n"))
        raise check.error("Invalid input '(': expected an identifier", before.index("(", opening))


def _check_writable(check: Check, part: ast.PathPattern, clause: str) -> None:
    if isinstance(part.pattern, ast.ShortestPathFunction):
        name = "allShortestPaths" if part.pattern.every else "shortestPath"
        message = f"{name}(...) cannot be used in a {clause} clause, but only in a MATCH clause."
        raise check.error(message, part.pattern.span.start)
    if part.selector is not None:
        raise check.error(
            f"Path selectors such as `{_selector(part.selector)}` cannot be used in a {clause} clause, "
            "but only in a MATCH clause.",
            part.span.start,
        )
    for element in part.pattern.elements:
        if is_quantified(element):
            message = f"Quantified path patterns cannot be used in a {clause} clause, but only in a MATCH clause."
            raise check.error(message, element.span.start)
        if isinstance(element, ast.ParenthesizedPath):
            message = f"Parenthesized path patterns cannot be used in a {clause} clause, but only in a MATCH clause."
            raise check.error(message, element.span.start)
        _check_written_element(check, element, clause)


def _selector(selector: ast.PathSelector) -> str:
    count = selector.count.value if isinstance(selector.count, ast.Literal) else 1
    match selector.kind:
        case "ANY":
            return f"ANY {count} PATHS"
        case "SHORTEST":
            return f"SHORTEST {count} PATHS"
        case "SHORTEST GROUPS":
            return f"SHORTEST {count} PATH GROUPS"
        case "ALL SHORTEST":
            return "ALL SHORTEST PATHS"
        case _:
            return "ALL PATHS"


def _check_written_element(check: Check, element: ast.NodePattern | ast.RelationshipPattern, clause: str) -> None:
    if element.predicate is not None:
        kind = "Node" if isinstance(element, ast.NodePattern) else "Relationship"
        message = (
            f"{kind} pattern predicates are not allowed in a {clause} clause, "
            "but only in a MATCH clause or inside a pattern comprehension"
        )
        raise check.error_at(message, element.predicate)
    if isinstance(element, ast.NodePattern):
        check_labels(check, element.labels, element, "node")
        for part in () if element.labels is None else label_parts(element.labels):
            if isinstance(part, ast.DynamicLabel) and part.kind == "any":
                message = "Dynamic labels using `$any()` are not allowed in CREATE or MERGE."
                raise check.error(message, part.span.start)
            if isinstance(part, ast.LabelOr | ast.LabelNot | ast.LabelWildcard):
                message = (
                    f"Label expressions in patterns are not allowed in a {clause} clause, "
                    "but only in a MATCH clause and in expressions"
                )
                assert element.labels is not None
                raise check.error(message, label_position(element.labels, check.text))
        return
    if element.hops is not None:
        raise check.error(f"Variable length relationships cannot be used in {clause}", element.span.start)
    types = element.types
    if isinstance(types, ast.DynamicLabel) and types.kind == "any":
        message = "Dynamic types using `$any()` are not allowed in CREATE or MERGE."
        raise check.error(message, types.span.start)
    if types is None or _listed(types) == 0:
        message = (
            f"Exactly one relationship type must be specified for {clause}. "
            "Did you forget to prefix your relationship type with a ':'?"
        )
        raise check.error(message, element.span.start)
    several = isinstance(types, ast.LabelOr) and only_alternatives(types)
    if several or (_listed(types) or 1) > 1:
        computed = several and any(isinstance(part, ast.DynamicLabel) for part in label_parts(types))
        single = "single plain relationship type like `:R`" if computed else "single relationship type"
        raise check.error(f"A {single} must be specified for {clause}", element.span.start)
    if not isinstance(types, ast.LabelName | ast.DynamicLabel):
        message = (
            f"Relationship type expressions in patterns are not allowed in a {clause} clause, "
            "but only in a MATCH clause"
        )
        raise check.error(message, label_position(types, check.text))
    if clause != "MERGE" and element.direction is ast.Direction.BOTH:
        raise check.error(f"Only directed relationships are supported in {clause}", element.span.start)


def _listed(types: ast.LabelExpression) -> int | None:
    """How many names a list has that is given as a type: `$(['A', 'B'])`."""
    match types:
        case ast.DynamicLabel(expression=ast.ListLiteral(items=items)):
            return len(items)
        case ast.DynamicLabel(expression=ast.ConstantList(value=value)):
            return len(value)
        case _:
            return None


def _declare_written(check: Check, part: ast.PathPattern, scope: Scope) -> None:
    elements = chain_of(part).elements
    for element in elements:
        variable = None if isinstance(element, ast.ParenthesizedPath) else element.variable
        if variable is None:
            continue
        if isinstance(element, ast.RelationshipPattern):
            check.declare(variable, RELATIONSHIPS, scope)
        elif len(elements) == 1:
            check.forbid_shadowing(variable.name, variable.span.start, scope)
            if variable.name in scope.names:
                raise check.error(f"Variable `{variable.name}` already declared", variable.span.start)
            scope.names[variable.name] = NODES
        elif isinstance(element, ast.NodePattern):
            bound = scope.find(variable.name) is not None
            bind(check, variable, NODES, scope)
            if bound and (element.labels is not None or element.properties is not None):
                message = (
                    f"Can't create node `{variable.name}` with labels or properties here. "
                    "The variable is already declared in this context"
                )
                check.later(CypherError(SYNTAX_ERROR, message, status("42N78", variable.name, "CREATE")))
    if part.path_variable is not None:
        check.declare(part.path_variable, PATHS, scope)


def _note_references(check: Check, parts: tuple[ast.PathPattern, ...], before: frozenset[str], clause: str) -> None:
    """A property that needs what the same clause writes is deprecated, or refused; the first one is reported."""
    elements = [element for part in parts for element in chain_of(part).elements]
    written = {variable.name for element in elements for variable in variables_of(element)} - before
    written |= {part.path_variable.name for part in parts if part.path_variable is not None}
    for element in elements:
        if isinstance(element, ast.ParenthesizedPath) or element.properties is None:
            continue
        needed = free_variables(element.properties) & written
        for node in walk(element.properties):
            if isinstance(node, ast.Variable) and node.name in needed:
                if clause == "INSERT":
                    message = (
                        f"Creating an entity ({node.name}) and referencing that entity in a property definition in the "
                        "same INSERT is not allowed. Only reference variables created in earlier clauses."
                    )
                    check.later(check.error(message, node.span.start))
                    return
                verb = "Creating" if clause == "CREATE" else "Merging"
                check.mentions.self_references[node.span.start] = (verb, clause, node.name)
                return  # Neo4j stops at the first


def _forbid_self_reference(check: Check, part: ast.PathPattern, before: frozenset[str], clause: str) -> None:
    created: dict[str, str] = {}
    for element in chain_of(part).elements:
        if not isinstance(element, ast.ParenthesizedPath) and element.variable is not None:
            created[element.variable.name] = "Node" if isinstance(element, ast.NodePattern) else "Relationship"
    for element in chain_of(part).elements:
        if isinstance(element, ast.ParenthesizedPath):
            continue
        named = element.labels if isinstance(element, ast.NodePattern) else element.types
        parts = [part for part in (named, element.properties) if part is not None]
        needed = frozenset(name for part in parts for name in free_variables(part)) & created.keys() - before
        for node in (node for part in parts for node in walk(part)):
            if isinstance(node, ast.Variable) and node.name in needed:
                kind = created[node.name]
                message = (
                    f"The {kind} variable '{node.name}' is referencing a {kind} that is created in the same {clause} "
                    "clause which is not allowed. Please only reference variables created in earlier clauses."
                )
                check.later(check.error(message, node.span.start))
