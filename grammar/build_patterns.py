"""Builds patterns, label expressions and the expressions made of patterns."""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar import ast
from hoplite.grammar.ast import Direction, Expression, LabelExpression, Span
from hoplite.grammar.build_expressions import integer_of, name_of
from hoplite.grammar.source import Source
from hoplite.grammar.tokens import Token
from hoplite.lazy_dataclass import dataclass

Element = ast.NodePattern | ast.RelationshipPattern | ast.ParenthesizedPath

# --- labels ---------------------------------------------------------------------------------------------------


def label_name(source: Source, span: Span, token: Token) -> ast.LabelName:
    return ast.LabelName(name_of(token), span)


def label_wildcard(source: Source, span: Span) -> ast.LabelWildcard:
    return ast.LabelWildcard(span)


def dynamic_label(source: Source, span: Span, expression: Expression) -> ast.DynamicLabel:
    return ast.DynamicLabel(expression, "all", span)


def dynamic_label_kind(source: Source, span: Span, kind: Token, expression: Expression) -> ast.DynamicLabel:
    return ast.DynamicLabel(expression, kind.word.lower(), span)


@dataclass(frozen=True, slots=True)
class LabelGroup:
    """A label expression in parentheses, which must not merge with a chain around it."""

    inner: LabelExpression


def label_group(source: Source, span: Span, inner: LabelExpression) -> LabelGroup:
    return LabelGroup(_open(inner))


def label_negation(source: Source, span: Span, operand: LabelExpression) -> ast.LabelNot:
    return ast.LabelNot(_open(operand), span)


def label_or(source: Source, span: Span, left: LabelExpression, right: LabelExpression) -> ast.LabelOr:
    return _disjunction(left, right, False, span)


def label_or_colon(source: Source, span: Span, left: LabelExpression, right: LabelExpression) -> ast.LabelOr:
    return _disjunction(left, right, True, span)


def _disjunction(left: LabelExpression, right: LabelExpression, colon: bool, span: Span) -> ast.LabelOr:
    if isinstance(left, ast.LabelOr):
        return ast.LabelOr((*left.operands, _open(right)), left.colon or colon, span)
    return ast.LabelOr((_open(left), _open(right)), colon, span)


def label_and(source: Source, span: Span, left: LabelExpression, right: LabelExpression) -> ast.LabelAnd:
    return _conjunction(left, right, False, span)


def label_colon(source: Source, span: Span, left: LabelExpression, right: LabelExpression) -> ast.LabelAnd:
    return _conjunction(left, right, True, span)


def _conjunction(left: LabelExpression, right: LabelExpression, colon: bool, span: Span) -> ast.LabelAnd:
    if isinstance(left, ast.LabelAnd) and left.colon == colon:
        return ast.LabelAnd((*left.operands, _open(right)), colon, span)
    return ast.LabelAnd((_open(left), _open(right)), colon, span)


def _open(expression: LabelExpression | LabelGroup) -> LabelExpression:
    return expression.inner if isinstance(expression, LabelGroup) else expression


def label_expression(source: Source, span: Span, expression: LabelExpression | LabelGroup) -> LabelExpression:
    return _open(expression)


# --- nodes and relationships ----------------------------------------------------------------------------------


def node_pattern(
    source: Source,
    span: Span,
    variable: ast.Variable | None,
    labels: LabelExpression | None,
    properties: Expression | None,
    predicate: Expression | None,
) -> ast.NodePattern:
    return ast.NodePattern(variable, labels, properties, predicate, span)


def pattern_start(
    source: Source,
    span: Span,
    bracket: Token,
    variable: ast.Variable | None,
    labels: LabelExpression | None,
    properties: Expression | None,
    predicate: Expression | None,
) -> ast.NodePattern:
    return ast.NodePattern(variable, labels, properties, predicate, span)


def relationship_detail(
    source: Source,
    span: Span,
    variable: ast.Variable | None,
    types: LabelExpression | None,
    hops: ast.Hops | None,
    properties: Expression | None,
    predicate: Expression | None,
) -> ast.RelationshipPattern:
    return ast.RelationshipPattern(Direction.BOTH, variable, types, hops, properties, predicate, None, span)


def relationship_from_dash(
    source: Source,
    span: Span,
    detail: ast.RelationshipPattern | None,
    head: Token | None,
) -> ast.RelationshipPattern:
    return _directed(detail, Direction.OUTGOING if head else Direction.BOTH, span)


def relationship_from_head(
    source: Source,
    span: Span,
    detail: ast.RelationshipPattern | None,
    head: Token | None,
) -> ast.RelationshipPattern:
    return _directed(detail, Direction.BOTH if head else Direction.INCOMING, span)


def _directed(detail: ast.RelationshipPattern | None, direction: Direction, span: Span) -> ast.RelationshipPattern:
    if detail is None:
        return ast.RelationshipPattern(direction, span=span)
    return ast.RelationshipPattern(
        direction, detail.variable, detail.types, detail.hops, detail.properties, detail.predicate, None, span
    )


def any_hops(source: Source, span: Span) -> ast.Hops:
    return ast.Hops(None, None, span)


def fixed_hops(source: Source, span: Span, length: Token) -> ast.Hops:
    hops = integer_of(source, length)
    return ast.Hops(hops, hops, span)


def bounded_hops(source: Source, span: Span, lower: Token | None, upper: Token | None) -> ast.Hops:
    return ast.Hops(_bound(source, lower), _bound(source, upper), span)


def _bound(source: Source, token: Token | None) -> int | None:
    return None if token is None else integer_of(source, token)


# --- chains ---------------------------------------------------------------------------------------------------


def repeat_any(source: Source, span: Span, sign: Token) -> ast.Repetition:
    return ast.Repetition(0, None, span)


def repeat_some(source: Source, span: Span, sign: Token) -> ast.Repetition:
    return ast.Repetition(1, None, span)


def repeat_exactly(source: Source, span: Span, times: Token) -> ast.Repetition:
    count = integer_of(source, times)
    return ast.Repetition(count, count, span)


def repeat_between(source: Source, span: Span, lower: Token | None, upper: Token | None) -> ast.Repetition:
    return ast.Repetition(_bound(source, lower) or 0, _bound(source, upper), span)


def repeated_relationship(
    source: Source,
    span: Span,
    relationship: ast.RelationshipPattern,
    repetition: ast.Repetition | None,
) -> ast.RelationshipPattern:
    if repetition is None:
        return relationship
    return replace(relationship, repetition=repetition)


def parenthesized_path(
    source: Source,
    span: Span,
    path_variable: ast.Variable | None,
    pattern: ast.PatternChain,
    predicate: Expression | None,
    repetition: ast.Repetition | None,
) -> ast.ParenthesizedPath:
    return ast.ParenthesizedPath(path_variable, pattern, predicate, repetition, span)


def pattern_chain(source: Source, span: Span, *elements: Element) -> ast.PatternChain:
    return ast.PatternChain(elements, span)


def shortest_path_function(
    source: Source, span: Span, word: Token, pattern: ast.PatternChain
) -> ast.ShortestPathFunction:
    return ast.ShortestPathFunction(pattern, word.word == "ALLSHORTESTPATHS", span)


def any_selector(source: Source, span: Span, count: Token | None) -> ast.PathSelector:
    return _selector(source, "ANY", count, span)


def all_selector(source: Source, span: Span) -> ast.PathSelector:
    return ast.PathSelector("ALL", None, span)


def all_shortest_selector(source: Source, span: Span) -> ast.PathSelector:
    return ast.PathSelector("ALL SHORTEST", None, span)


def shortest_selector(source: Source, span: Span, count: Token | None = None) -> ast.PathSelector:
    return _selector(source, "SHORTEST", count, span)


def groups_selector(source: Source, span: Span, count: Token | None) -> ast.PathSelector:
    return _selector(source, "SHORTEST GROUPS", count, span)


def _selector(source: Source, kind: str, count: Token | None, span: Span) -> ast.PathSelector:
    if count is None:
        return ast.PathSelector(kind, None, span)
    value = ast.Literal(integer_of(source, count), Span(count.start, count.end))
    return ast.PathSelector(kind, value, span)


def path_pattern(
    source: Source,
    span: Span,
    path_variable: ast.Variable | None,
    selector: ast.PathSelector | None,
    pattern: ast.PatternChain,
) -> ast.PathPattern:
    return ast.PathPattern(path_variable, selector, pattern, span)


def shortest_path_pattern(
    source: Source,
    span: Span,
    path_variable: ast.Variable | None,
    pattern: ast.ShortestPathFunction,
) -> ast.PathPattern:
    return ast.PathPattern(path_variable, None, pattern, span)


def path_patterns(source: Source, span: Span, *patterns: ast.PathPattern) -> tuple[ast.PathPattern, ...]:
    return patterns


# --- patterns as expressions ----------------------------------------------------------------------------------


def pattern_expression(source: Source, span: Span, *elements: Element) -> ast.PatternExpression:
    return ast.PatternExpression(ast.PatternChain(elements, span), span)


def pattern_comprehension(
    source: Source,
    span: Span,
    bracket: Token,
    path_variable: ast.Variable | None,
    *parts: Element | Expression | None,
) -> ast.PatternComprehension:
    elements = tuple(
        part for part in parts if isinstance(part, (ast.NodePattern, ast.RelationshipPattern, ast.ParenthesizedPath))
    )
    chain = ast.PatternChain(elements, Span(elements[0].span.start, elements[-1].span.end))
    predicate, result = parts[-2:]
    assert isinstance(result, Expression)
    assert predicate is None or isinstance(predicate, Expression)
    return ast.PatternComprehension(path_variable, chain, predicate, result, span)


def shortest_path_expression(
    source: Source, span: Span, pattern: ast.ShortestPathFunction
) -> ast.ShortestPathExpression:
    return ast.ShortestPathExpression(pattern, span)


def path_patterns_query(
    source: Source,
    span: Span,
    mode: str | None,
    patterns: tuple[ast.PathPattern, ...],
    predicate: Expression | None,
) -> ast.SingleQuery:
    match = ast.MatchClause(patterns, predicate, False, mode, (), span)
    return ast.SingleQuery((match,), span)


def subquery_expression(source: Source, span: Span, kind: Token, query: ast.Query) -> ast.SubqueryExpression:
    return ast.SubqueryExpression(kind.word, query, span)
