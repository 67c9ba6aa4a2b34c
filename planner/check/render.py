"""Patterns and label expressions as text, in the form in which Neo4j's messages show them.

`MATCH (a)-[*]->(b)` comes back as written, with whitespace reduced to single spaces; `{1,2}` becomes `{1, 2}`.
"""

from __future__ import annotations

from hoplite.grammar import ast
from hoplite.grammar.tree import walk


def source(node: ast.Expression, text: str) -> str:
    """An expression nearly as it was written, with single spaces and single quotes."""
    match node:
        case ast.Literal(value=None):
            return "NULL"
        case ast.Literal(value=bool() as truth):
            return str(truth).lower()
        case ast.Literal(value=str() as string):
            return f"'{string}'"
        case ast.ListLiteral(items=items):
            return f"[{', '.join(source(item, text) for item in items)}]"
        case ast.MapLiteral(entries=entries):
            return "{" + ", ".join(f"{key}: {source(value, text)}" for key, value in entries) + "}"
        case ast.Parameter(name=name):
            return f"${name}"
        case _:
            return " ".join(text[node.span.start : node.span.end].split())


def with_parameters(node: ast.Expression, text: str) -> str:
    """A predicate as plans show it, its literals replaced by parameters."""
    start, shown, counter = node.span.start, "", 0
    for part in walk(node):
        if isinstance(part, ast.Literal) and part.value is not None and not isinstance(part.value, bool):
            kind = {int: "INT", float: "DOUBLE", str: "STRING"}[type(part.value)]
            shown += f"{text[start : part.span.start]}$`  AUTO{kind}{counter}`"
            start, counter = part.span.end, counter + 1
    return " ".join((shown + text[start : node.span.end]).split(" "))


def scala(expression: ast.Expression) -> str:
    """An expression for the one message that prints Neo4j's own syntax tree."""
    match expression:
        case ast.MapLiteral(entries=entries):
            shown = ", ".join(f"(PropertyKeyName({key}),{scala(value)})" for key, value in entries)
            return f"MapExpression(ArraySeq({shown}))"
        case ast.ListLiteral(items=items):
            return f"ListLiteral(ArraySeq({', '.join(scala(item) for item in items)}))"
        case ast.Literal(value=value):
            return _scala_literal(value)
        case ast.Unary(operator="-", operand=ast.Literal(value=int() | float() as number)):
            return _scala_literal(-number)
        case ast.Parameter(name=name):
            return f"ExplicitParameter({name},Any,UnknownSize)"
        case ast.Variable(name=name):
            return f"Variable({name})"
        case ast.Property(subject=subject, key=key):
            return f"Property({scala(subject)},PropertyKeyName({key}))"
        case _:
            return type(expression).__name__


def _scala_literal(value: bool | int | float | str | None) -> str:
    match value:
        case None:
            return "Null()"
        case bool():
            return f"{value}()"
        case int():
            return f"SignedDecimalIntegerLiteral({value})"
        case float():
            return f"DecimalDoubleLiteral({value})"
        case str():
            return f"StringLiteral({value})"


def labels(expression: ast.LabelExpression, text: str) -> str:
    """A label expression in the newer symbols: `A&B`, with parentheses around what binds more weakly."""
    match expression:
        case ast.LabelName(name=name):
            return name
        case ast.LabelWildcard():
            return "%"
        case ast.DynamicLabel(expression=computed, kind=kind):
            return f"${kind}({source(computed, text)})"
        case ast.LabelNot(operand=operand):
            return f"!{_nested(operand, text, type(expression))}"
        case ast.LabelAnd(operands=operands):
            return "&".join(_nested(operand, text, type(expression)) for operand in operands)
        case ast.LabelOr(operands=operands):
            return "|".join(_nested(operand, text, type(expression)) for operand in operands)


def _nested(expression: ast.LabelExpression, text: str, around: type) -> str:
    shown = labels(expression, text)
    compound = isinstance(expression, ast.LabelAnd | ast.LabelOr)
    return f"({shown})" if compound and type(expression) is not around else shown


def path(part: ast.PathPattern, text: str) -> str:
    """One comma-separated part of a pattern: `p = (a)-->(b)`."""
    name = "" if part.path_variable is None else f"{part.path_variable.name} = "
    if isinstance(part.pattern, ast.ShortestPathFunction):
        function = "allShortestPaths" if part.pattern.every else "shortestPath"
        return f"{name}{function}({chain(part.pattern.pattern, text)})"
    return f"{name}{chain(part.pattern, text)}"


def chain(pattern: ast.PatternChain, text: str) -> str:
    """A chain of nodes and relationships: `(a)-[r:R]->(b)`."""
    shown = ""
    for part in pattern.elements:
        piece = element(part, text)
        apart = isinstance(part, ast.ParenthesizedPath)
        shown += f" {piece} " if apart else piece
    return shown.replace("  ", " ").strip()


def element(part: ast.NodePattern | ast.RelationshipPattern | ast.ParenthesizedPath, text: str) -> str:
    """One element of a chain."""
    match part:
        case ast.NodePattern():
            return f"({_inside(part, part.labels, text)})"
        case ast.RelationshipPattern():
            return relationship(part, text)
        case ast.ParenthesizedPath(pattern=pattern, predicate=predicate, repetition=repetition):
            where = "" if predicate is None else f" WHERE {source(predicate, text)}"
            return f"({chain(pattern, text)}{where}){quantifier(repetition, text)}"


def _inside(
    part: ast.NodePattern | ast.RelationshipPattern,
    names: ast.LabelExpression | None,
    text: str,
    hops: ast.Hops | None = None,
) -> str:
    shown = "" if part.variable is None else part.variable.name
    if names is not None:
        shown += f":{labels(names, text)}"
    if isinstance(part, ast.RelationshipPattern) and hops is not None:
        shown += _hops(hops)
    if part.properties is not None:
        shown += (" " if shown else "") + source(part.properties, text)
    if part.predicate is not None:
        shown += f" WHERE {source(part.predicate, text)}"
    return shown


def relationship(part: ast.RelationshipPattern, text: str, hops: ast.Hops | None = None) -> str:
    """A relationship pattern: `-[r:R*1..2]->`; `hops`, if given, replaces its own."""
    inside = _inside(part, part.types, text, hops or part.hops)
    body = f"-[{inside}]-" if inside else "--"
    left = "<" if part.direction is ast.Direction.INCOMING else ""
    right = ">" if part.direction is ast.Direction.OUTGOING else ""
    if part.repetition is not None:
        return f" ((){left}{body}{right}()){quantifier(part.repetition, text)} "
    return f"{left}{body}{right}"


def _hops(hops: ast.Hops) -> str:
    if hops.lower is None and hops.upper is None:
        return "*"
    if hops.lower == hops.upper and hops.span != ast.NOWHERE:
        return f"*{hops.lower}"
    lower = "" if hops.lower is None else str(hops.lower)
    upper = "" if hops.upper is None else str(hops.upper)
    return f"*{lower}..{upper}"


def quantifier(repetition: ast.Repetition | None, text: str) -> str:
    """As written, with a space after a comma: `+`, `*`, `{2}`, `{1, 2}` or `{, 3}`; empty if there is none."""
    if repetition is None:
        return ""
    written = text[repetition.span.start : repetition.span.end].strip()
    bounds = [bound.strip() for bound in written.strip("{}").split(",")]
    return f"{{{', '.join(bounds)}}}" if written.startswith("{") else written
