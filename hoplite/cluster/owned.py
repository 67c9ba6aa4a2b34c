"""Which expressions the owners of nodes and relationships can evaluate: those about one of them in a row, with
parameters, that mean the same in every process."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hoplite.engine.functions.registry import Function
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner import physical as pp
from hoplite.planner.parts import ChainHop, PlannedSubquery, Step, Term
from hoplite.planner.plan_json import plan_to_json
from hoplite.planner.types import BOOLEAN
from hoplite.planner.unparse import unparse
from hoplite.planner.variables import free_variables

_CONDITIONS = (ast.Comparison, ast.IsNull, ast.IsType, ast.IsNormalized, ast.HasLabels, ast.Quantifier)
_CONNECTIVES = frozenset(("AND", "OR", "XOR", "NOT", "IN", "STARTS WITH", "ENDS WITH", "CONTAINS", "=~"))
_READS = (ast.Property, ast.Index, ast.HasLabels, ast.MapProjection, ast.FunctionCall)


class Judged(NamedTuple):
    """Whose owner can evaluate an expression, or None and why none can; without a reason, it reads no properties."""

    variable: str | None
    reason: str = ""


def judged(term: Term, functions: Mapping[str, Function]) -> Judged:
    """Who can evaluate an expression."""
    names = free_variables(term)
    parts = list(walk(term))
    if not names or not any(isinstance(part, (*_READS, PlannedSubquery)) for part in parts):
        return Judged(None)
    if reason := stays(term, functions):
        return Judged(None, reason)
    if len(names) > 1:
        return Judged(None, f"it reads {' and '.join(sorted(names))}")
    return Judged(*names)


def stays(term: Term, functions: Mapping[str, Function]) -> str:
    """Why an expression has to be evaluated in the leading process, whatever it is about; nothing if it need not be."""
    for part in walk(term):
        match part:
            case PlannedSubquery():
                return "it has a subquery"
            case ast.FunctionCall(name=name):
                function = functions.get(name.lower())
                if function is None:  # coalesce and exists are compiled by their names
                    continue
                if not function.is_own:
                    return f"{name} is a function of this process"
                if not function.signature.deterministic:
                    return f"{name} differs from call to call"
    return ""


def is_condition(term: Term, functions: Mapping[str, Function]) -> bool:
    """Whether the value of an expression is true, false or null, which takes little to send."""
    match term:
        case ast.Unary(operator=operator) | ast.Binary(operator=operator):
            return operator in _CONNECTIVES
        case ast.FunctionCall(name=name):
            function = functions.get(name.lower())
            return function is not None and function.signature.returns == (BOOLEAN,)
        case _:
            return isinstance(term, _CONDITIONS)


def as_text(term: Term) -> str:
    """An expression as a plan that can be sent: `term_of` is what a worker reads from it."""
    variables = tuple(sorted(free_variables(term)))
    return plan_to_json(pp.Project(pp.Argument(variables), (("value", term),), ("value",)), {})


def described(plan: pp.Plan, functions: Mapping[str, Function], fewest: int | None, values: bool) -> Iterator[str]:
    """For EXPLAIN: who evaluates what in a plan that runs in the leading process. Owners are asked about `fewest` rows
    or more, None: never; about `values` as well as conditions, or not."""
    entities = frozenset(_entities(plan))
    lines: dict[str, list[str]] = {}
    rows = "" if fewest == 1 else f" for {fewest:,} rows or more"
    for term in _terms(plan):
        found = judged(term, functions)
        if found.variable in entities and fewest is not None:
            if values or is_condition(term, functions):
                lines.setdefault(f"The owners of {found.variable} evaluate{rows}", []).append(unparse(term))
        elif found.reason:
            lines.setdefault("This process evaluates", []).append(f"{unparse(term)} ({found.reason})")
    for node in walk(plan):
        if isinstance(node, _SEARCHES) and node.step is not None:
            lines.setdefault("Workers that take a step evaluate", []).append(unparse(node.step.predicate))
    yield from (f"{who}: {', '.join(dict.fromkeys(texts))}" for who, texts in lines.items())


_SEARCHES = (pp.Reach, pp.Trails, pp.ShortestPaths, pp.ShortestTrails)


def _terms(plan: pp.Plan) -> Iterator[Term]:
    for node in walk(plan):
        match node:
            case pp.Filter(predicate=predicate):
                yield predicate
            case ChainHop(predicates=predicates):
                yield from predicates
            case pp.Project(items=items):
                yield from (term for _, term in items)
            case pp.Aggregate(keys=keys, aggregates=aggregates):
                yield from (term for _, term in keys)
                yield from (term for call in aggregates for term in call.terms)


def _entities(plan: pp.Plan) -> Iterator[str]:
    """The variables of a plan that are nodes, or single relationships."""
    for node in walk(plan):
        if isinstance(node, pp.Expand | pp.ExpandInto | pp.RelationshipScan | pp.RelationshipSeek):
            yield node.relationship
        for field in ("node", "from_node", "to_node", "start", "end"):
            name = getattr(node, field, None)
            if isinstance(name, str) and not isinstance(node, Step):
                yield name
