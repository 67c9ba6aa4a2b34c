"""Paths: what shortestPath, selectors and quantified path patterns accept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from hoplite.gql_status import LARGEST, because
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner.check import render
from hoplite.planner.check.labels import label_position, only_alternatives
from hoplite.planner.check.pattern_parts import (
    Element,
    chain_of,
    elements_of,
    has_fixed_length,
    inner_path,
    is_quantified,
    variables_of,
)
from hoplite.planner.check.state import Check

_ALL_OF_A_LENGTH = ("ALL SHORTEST", "SHORTEST GROUPS")


def check_path(check: Check, part: ast.PathPattern) -> None:
    if isinstance(part.pattern, ast.ShortestPathFunction):
        check_shortest(check, part.pattern)
        return
    selector = part.selector
    if selector is not None and isinstance(selector.count, ast.Literal) and selector.count.value == 0:
        message = "The path count needs to be greater than 0."
        raise check.error(message, selector.count.span.start, because("42N31", "path count", "INTEGER", 1, LARGEST, 0))
    _forbid_sub_paths(check, part)
    _check_juxtaposition(check, part.pattern)
    for element in part.pattern.elements:
        _check_quantified(check, element)


def check_selectors(check: Check, parts: tuple[ast.PathPattern, ...]) -> None:
    selective = [p for p in parts if p.selector is not None and p.selector.kind != "ALL"]
    if selective and len(parts) > 1:
        message = (
            "Multiple path patterns cannot be used in the same clause in combination with a selective path selector."
        )
        first = selective[0]
        named = first.path_variable or first.pattern
        raise check.error(message, named.span.start, because("42I45"))


def forbid_mixed_shortest(check: Check, clause: ast.Clause) -> None:
    """A clause uses either shortestPath() and its kin or selective path selectors, subqueries included."""
    if "SHORTEST" not in check.text.upper():
        return
    functions = [node for node in walk(clause) if isinstance(node, ast.ShortestPathFunction)]
    if functions and any(isinstance(node, ast.PathSelector) and node.kind != "ALL" for node in walk(clause)):
        message = (
            "Mixing shortestPath/allShortestPaths with path selectors (e.g. 'ANY SHORTEST') or explicit match "
            "modes ('e.g. DIFFERENT RELATIONSHIPS') is not allowed."
        )
        raise check.error(message, functions[0].span.start)


def check_shortest(check: Check, function: ast.ShortestPathFunction) -> None:
    """`shortestPath` takes one relationship, whose minimum length is 0 or 1."""
    name = "allShortestPaths" if function.every else "shortestPath"
    elements = function.pattern.elements
    for element in elements:
        quantified = isinstance(element, ast.ParenthesizedPath) or (
            isinstance(element, ast.RelationshipPattern) and element.repetition is not None
        )
        if quantified:
            message = f"{name}(...) contains quantified pattern. This is currently not supported."
            raise check.error(message, element.span.start)
    if len(elements) != 3 or not isinstance(elements[1], ast.RelationshipPattern):
        message = f"{name}(...) requires a pattern containing a single relationship"
        raise check.error(message, function.span.start, because("42N40", name))
    if elements[1].predicate is not None:
        message = "Relationship pattern predicates are not supported for variable-length relationships."
        raise check.error_at(message, elements[1].predicate)
    if elements[1].properties is not None:
        shown = render.scala(elements[1].properties)
        message = f"{name}(...) contains properties {shown}. This is currently not supported."
        raise check.error(message, function.span.start)
    types, hops = elements[1].types, elements[1].hops
    if types is not None and hops is None and not only_alternatives(types):
        message = "Variable length relationships must not use relationship type expressions."
        raise check.error(message, label_position(types, check.text))
    if hops is not None and hops.lower is not None and hops.lower not in (0, 1):
        message = f"{name}(...) does not support a minimal length different from 0 or 1"
        raise check.error(message, hops.span.start + 1)


def _check_juxtaposition(check: Check, pattern: ast.PatternChain) -> None:
    for left, right in zip(pattern.elements, pattern.elements[1:], strict=False):
        if isinstance(left, ast.RelationshipPattern) or isinstance(right, ast.RelationshipPattern):
            continue
        if any(isinstance(e, ast.ParenthesizedPath) and e.repetition is not None for e in (left, right)):
            continue
        texts = [render.element(element, check.text) for element in (left, right)]
        paths = [isinstance(element, ast.ParenthesizedPath) for element in (left, right)]
        if all(paths):
            case = f"both {texts[0]} and {texts[1]} are (non-quantified) parenthesized path patterns."
        else:
            kinds = ["a (non-quantified) parenthesized path pattern" if path else "a single node" for path in paths]
            case = f"{texts[0]} is {kinds[0]} and {texts[1]} is {kinds[1]}."
        raise check.error(
            "Juxtaposition is currently only supported for quantified path patterns.\n"
            f"In this case, {case}\nThat is, neither of these is a quantified path pattern.",
            right.span.start,
        )


def _forbid_sub_paths(check: Check, part: ast.PathPattern) -> None:
    """Parentheses that are not repeated may name a path only if they enclose everything that a selector chooses
    from."""
    allowed = inner_path(part)
    for group in _groups(chain_of(part)):
        variable = group.path_variable
        if group.repetition is not None or variable is None:
            continue
        error = check.error("Sub-path assignment is currently not supported.", variable.span.start, because("42N42"))
        if variable is not allowed:
            raise error
        if part.selector is not None and part.selector.kind in _ALL_OF_A_LENGTH and has_fixed_length(chain_of(part)):
            check.later(error)  # Neo4j drops the selector, which chooses nothing, between the rounds


def _groups(chain: ast.PatternChain) -> Iterator[ast.ParenthesizedPath]:
    """The parenthesized paths of a chain, outer ones first."""
    for element in chain.elements:
        if isinstance(element, ast.ParenthesizedPath):
            yield element
            yield from _groups(element.pattern)


def _check_quantified(check: Check, element: Element) -> None:
    if isinstance(element, ast.RelationshipPattern):
        if element.repetition is not None:
            _check_repetition(check, element.repetition)
            if element.hops is not None:
                message = "Variable length relationships cannot be part of a quantified path pattern."
                raise check.error(message, element.span.start)
        return
    if not isinstance(element, ast.ParenthesizedPath):
        return
    if element.repetition is None:
        for inner in element.pattern.elements:
            _check_quantified(check, inner)
        return
    _check_repetition(check, element.repetition)
    for inner in element.pattern.elements:
        if isinstance(inner, ast.ParenthesizedPath) or (
            isinstance(inner, ast.RelationshipPattern) and inner.repetition is not None
        ):
            raise check.error("Quantified path patterns are not allowed to be nested.", inner.span.start)
        if isinstance(inner, ast.RelationshipPattern) and inner.hops is not None:
            message = "Variable length relationships cannot be part of a quantified path pattern."
            raise check.error(message, inner.span.start)
    if not any(isinstance(inner, ast.RelationshipPattern) for inner in element.pattern.elements):
        raise check.error(
            "A quantified path pattern needs to have at least one relationship.\nIn this case, the quantified path "
            f"pattern {render.element(element, check.text)} consists of only one node.",
            element.span.start,
        )
    if element.path_variable is not None:
        message = "Assigning a path in a quantified path pattern is not yet supported."
        raise check.error(message, element.path_variable.span.start)


def check_references(check: Check, parts: tuple[ast.PathPattern, ...]) -> None:
    """What is in parentheses is matched before the paths of the same MATCH, so it may not refer to them."""
    named = {part.path_variable.name: part for part in parts if part.path_variable is not None}
    for part in parts if named else ():
        chain = chain_of(part)
        for group in _groups(chain):
            _check_references(check, group, named)
        if part.selector is not None and part.selector.kind != "ALL":  # its pattern counts as parenthesized
            _check_references(check, ast.ParenthesizedPath(None, chain, None, None, chain.span), named)


def _check_references(check: Check, group: ast.ParenthesizedPath, named: Mapping[str, ast.PathPattern]) -> None:
    mentioned = {node.name for node in walk(group) if isinstance(node, ast.Variable)}
    for name in sorted(mentioned & named.keys()):
        kind = "parenthesized" if group.repetition is None else "quantified"
        raise check.error(
            f"From within a {kind} path pattern, one may only reference variables, that are already bound in a "
            f"previous `MATCH` clause.\nIn this case, `{name}` is defined in the same `MATCH` clause as "
            f"{render.element(group, check.text)}.",
            named[name].span.start,
        )


def require_node(check: Check, part: ast.PathPattern) -> None:
    """A pattern must contain a node even if its quantified paths are repeated zero times."""
    elements = chain_of(part).elements
    if not all(isinstance(e, ast.ParenthesizedPath) and e.repetition is not None for e in elements):
        return
    paths = [element for element in elements if isinstance(element, ast.ParenthesizedPath)]
    if any(path.repetition is not None and path.repetition.lower > 0 for path in paths):
        return
    empty = " ".join(f"{render.element(replace(path, repetition=None), check.text)}{{0}}" for path in paths)
    raise check.error(
        "A top-level path pattern in a `MATCH` clause must be written such that it always evaluates to at least one "
        f"node pattern.\nIn this case, `{empty}` would result in an empty pattern.",
        part.span.start,
    )


def _check_repetition(check: Check, repetition: ast.Repetition) -> None:
    if repetition.upper == 0:
        message = "A quantifier for a path pattern must not be limited by 0."
        bound = " upperbound" if "," in check.text[repetition.span.start : repetition.span.end] else ""
        cause = because("42N31", f"quantifier{bound} for a path pattern", "INTEGER", 1, LARGEST, 0)
        raise check.error(message, repetition.span.start, cause)
    if repetition.upper is not None and repetition.lower > repetition.upper:
        raise check.error(
            "A quantifier for a path pattern must not have a lower bound which exceeds its upper bound.\n"
            f"In this case, the lower bound {repetition.lower} is greater than the upper bound {repetition.upper}.",
            repetition.span.start,
        )


def check_quantified_names(check: Check, parts: tuple[ast.PathPattern, ...], before: frozenset[str]) -> None:
    """A variable of a quantified path pattern stands for a list, so it belongs to that pattern alone."""
    elements = [element for part in parts for element in elements_of(part)]
    if not any(map(is_quantified, elements)):
        return
    groups: list[tuple[int, set[str]]] = []
    single: set[str] = set()
    for element in elements:
        names = {v.name for v in variables_of(element)}
        if is_quantified(element):
            groups.append((element.span.start, names))
        else:
            single |= names
    for index, (start, names) in enumerate(groups):
        for name in sorted(names):
            if name in single:
                raise check.error(
                    f"The variable `{name}` occurs both inside and outside a quantified path pattern "
                    "and needs to be renamed.",
                    start,
                )
            if any(name in others for other, (_, others) in enumerate(groups) if other != index):
                message = f"The variable `{name}` occurs in multiple quantified path patterns and needs to be renamed."
                raise check.error(message, start)
            if name in before:
                raise check.error(
                    f"The variable `{name}` is already defined in a previous clause, it cannot be referenced as a node "
                    "or as a relationship variable inside of a quantified path pattern.",
                    start,
                )


def forbid_mixed_lengths(check: Check, clause: ast.MatchClause) -> None:
    """A clause uses either quantified paths or variable-length relationships, its predicates included."""
    elements = [element for part in clause.patterns for element in elements_of(part)]
    if not any(is_quantified(element) for element in elements):
        return
    for element in walk(clause, not_below=(ast.SubqueryExpression,)):
        if isinstance(element, ast.RelationshipPattern) and element.hops is not None:
            raise check.error(
                "Mixing variable-length relationships ('-[*]-') with quantified relationships ('()-->*()') or "
                "quantified path patterns ('(()-->())*') is not allowed.",
                element.span.start,
            )
