"""Expressions as text, for plans."""

from __future__ import annotations

from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.planner.parts import PlannedSubquery


def unparse(node: Any) -> str:
    """A short text for an expression; patterns and subqueries are only named."""
    match node:
        case None:
            return ""
        case PlannedSubquery(kind=kind):
            return f"{kind.upper()} {{ ... }}"
        case ast.Literal(value=None):
            return "null"
        case ast.Literal(value=bool() as value):
            return str(value).lower()
        case ast.Literal(value=str() as text):
            return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
        case ast.Literal(value=value):
            return str(value)
        case ast.Variable(name=name):
            return _name(name)
        case ast.Parameter(name=name):
            return f"${name}"
        case ast.Property(subject=subject, key=key):
            return f"{unparse(subject)}.{key}"
        case ast.Index(subject=subject, index=index):
            return f"{unparse(subject)}[{unparse(index)}]"
        case ast.Slice(subject=subject, start=start, end=end):
            return f"{unparse(subject)}[{unparse(start)}..{unparse(end)}]"
        case ast.ListLiteral(items=items):
            return f"[{', '.join(map(unparse, items))}]"
        case ast.ConstantList(value=value):
            return f"[... {len(value):,} constants]"
        case ast.MapLiteral(entries=entries):
            return "{" + ", ".join(f"{key}: {unparse(value)}" for key, value in entries) + "}"
        case ast.Unary(operator=operator, operand=operand):
            return f"{operator}{' ' if operator == 'NOT' else ''}{unparse(operand)}"
        case ast.Binary(operator=operator, left=left, right=right):
            return f"{_inside(left)} {operator} {_inside(right)}"
        case ast.Comparison(operands=operands, operators=operators):
            parts = [_inside(operands[0])]
            for operator, operand in zip(operators, operands[1:], strict=True):
                parts += [operator, _inside(operand)]
            return " ".join(parts)
        case ast.IsNull(operand=operand, negated=negated):
            return f"{_inside(operand)} IS {'NOT ' if negated else ''}NULL"
        case ast.HasLabels(operand=operand, labels=labels):
            return f"{unparse(operand)}:{_labels(labels)}"
        case ast.FunctionCall(name=name, arguments=arguments, distinct=distinct):
            return f"{name}({'DISTINCT ' if distinct else ''}{', '.join(map(unparse, arguments))})"
        case ast.CountStar():
            return "count(*)"
        case ast.ListComprehension(variable=variable, source=source, predicate=predicate, result=result):
            where = "" if predicate is None else f" WHERE {unparse(predicate)}"
            shown = "" if result is None else f" | {unparse(result)}"
            return f"[{variable.name} IN {unparse(source)}{where}{shown}]"
        case ast.Quantifier(kind=kind, variable=variable, source=source, predicate=predicate):
            return f"{kind}({variable.name} IN {unparse(source)} WHERE {unparse(predicate)})"
        case ast.Reduce():
            return f"reduce({node.accumulator.name} = ..., {node.variable.name} IN {unparse(node.source)} | ...)"
        case ast.Case():
            return "CASE ... END"
        case ast.MapProjection(subject=subject):
            return f"{_name(subject.name)} {{...}}"
        case ast.IsType(operand=operand, type=type_, negated=negated):
            return f"{_inside(operand)} IS {'NOT ' if negated else ''}:: {type_.name}"
        case _:
            return type(node).__name__


def _inside(node: Any) -> str:
    """An operand, in parentheses where it is an operation itself."""
    text = unparse(node)
    return f"({text})" if isinstance(node, ast.Binary | ast.Comparison) else text


def _name(name: str) -> str:
    return name.replace(f"{HIDDEN}UNNAMED", "anon_").removeprefix(HIDDEN)


def _labels(labels: ast.LabelExpression) -> str:
    match labels:
        case ast.LabelName(name=name):
            return name
        case ast.LabelAnd(operands=operands):
            return "&".join(map(_labels, operands))
        case ast.LabelOr(operands=operands):
            return "(" + "|".join(map(_labels, operands)) + ")"
        case ast.LabelNot(operand=operand):
            return f"!{_labels(operand)}"
        case ast.LabelWildcard():
            return "%"
        case ast.DynamicLabel(expression=expression):
            return f"$({unparse(expression)})"
