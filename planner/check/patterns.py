"""Patterns to match: in MATCH, as predicates, in comprehensions and in shortest paths used as values.

Variables of a pattern are declared before its properties and predicates are checked, so that those may refer to any
part of it. A pattern used as an expression may not introduce variables.
"""

from __future__ import annotations

from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.planner.check.paths import (
    check_path,
    check_quantified_names,
    check_references,
    check_selectors,
    check_shortest,
    require_node,
)
from hoplite.planner.check.pattern_parts import (
    PATHS,
    check_element,
    check_properties,
    declare_element,
    declare_part,
    opened,
    variables_of,
)
from hoplite.planner.check.positions import after
from hoplite.planner.check.scopes import Guard, Scope
from hoplite.planner.check.state import Check


def check_match(check: Check, clause: ast.MatchClause, scope: Scope) -> None:
    """Check the patterns of a MATCH and declare their variables."""
    if clause.mode is not None:
        offset = after(clause.span.start + len("MATCH"), check.text)
        raise check.error(f"Match modes such as `{clause.mode}` are not supported yet.", offset)
    check_quantified_names(check, clause.patterns, frozenset(scope.visible()))
    for part in clause.patterns:
        check_path(check, part)
    check_selectors(check, clause.patterns)
    check_references(check, clause.patterns)
    for part in clause.patterns:
        declare_part(check, part, scope)
    for part in clause.patterns:
        check_properties(check, part, scope)
    for part in clause.patterns:
        require_node(check, part)


def check_pattern_expression(check: Check, pattern: ast.PatternChain | ast.ShortestPathFunction, scope: Scope) -> None:
    """Check a pattern that is used as a predicate, or a shortest path used as a value."""
    if isinstance(pattern, ast.ShortestPathFunction):
        _check_shortest_expression(check, pattern, scope)
        chain = pattern.pattern
    else:
        chain = pattern
        for element in opened(chain):
            for variable in variables_of(element):
                if scope.find(variable.name) is None:
                    message = f"PatternExpressions are not allowed to introduce new variables: '{variable.name}'."
                    raise check.error(message, variable.span.start, because("42N29", variable.name))
    for element in chain.elements:
        if not isinstance(element, ast.ParenthesizedPath) and element.predicate is not None:
            kind = "Node" if isinstance(element, ast.NodePattern) else "Relationship"
            message = (
                f"{kind} pattern predicates are not allowed in an expression, "
                "but only in a MATCH clause or inside a pattern comprehension"
            )
            raise check.error_at(message, element.predicate)
    inner = scope.inner()
    for element in chain.elements:
        declare_element(check, element, inner)
    for element in chain.elements:
        check_element(check, element, inner, "MATCH")


def _check_shortest_expression(check: Check, function: ast.ShortestPathFunction, scope: Scope) -> None:
    check_shortest(check, function)
    for element in function.pattern.elements:
        for variable in variables_of(element):
            check.look_up(variable, scope)
    ends = (function.pattern.elements[0], function.pattern.elements[-1])
    if any(isinstance(end, ast.NodePattern) and end.variable is None for end in ends):
        name = "allShortestPaths" if function.every else "shortestPath"
        message = f"A {name}(...) requires bound nodes when not part of a MATCH clause."
        raise check.error(message, function.span.start)


def declare_comprehension(check: Check, node: ast.PatternComprehension, scope: Scope) -> Scope:
    """The scope inside a pattern comprehension, with the variables of its pattern."""
    inner = scope.inner()
    for element in opened(node.pattern):
        declare_element(check, element, inner)
    if node.path_variable is not None:
        variable, chain = node.path_variable, opened(node.pattern)
        if scope.guard is Guard.SUBQUERY:
            check.forbid_shadowing(variable.name, variable.span.start, scope)
        if any(part.name == variable.name for element in chain for part in variables_of(element)):
            raise check.error(f"Variable `{variable.name}` already declared", variable.span.start)
        check.declare(variable, PATHS, inner)
    for element in node.pattern.elements:
        check_element(check, element, inner, "MATCH")
    return inner
