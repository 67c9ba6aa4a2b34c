"""Writing steps: what they create and set, with expressions that are evaluated row by row."""

from __future__ import annotations

from typing import Protocol, assert_never

from hoplite.engine.operators import assignments, making, merging, row_values, writes
from hoplite.engine.operators.base import Evaluator, Operator
from hoplite.grammar import ast
from hoplite.grammar.tree import contains
from hoplite.planner import physical as pp
from hoplite.planner.parts import (
    AddLabels,
    Assignment,
    AssignProperties,
    AssignProperty,
    AssignTogether,
    CreateNode,
    CreateRelationship,
    Creation,
    DropLabels,
    DropProperty,
    PlannedSubquery,
    Term,
)
from hoplite.planner.variables import free_variables

_READS_GRAPH = (ast.Property, ast.Index, ast.HasLabels, ast.FunctionCall, ast.MapProjection, PlannedSubquery)


class Parts(Protocol):
    """What builds the plans and expressions inside a step."""

    def build(self, plan: pp.Plan) -> Operator:
        """The operator of a plan."""
        ...

    def term(self, term: Term) -> Evaluator:
        """A compiled expression."""
        ...

    def terms(self, terms: tuple[Term, ...]) -> tuple[Evaluator, ...]:
        """Several compiled expressions."""
        ...


class StepBuilder:
    """Builds the steps of `Write`."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts

    def step(self, step: pp.WriteStep) -> writes.Step:
        """One writing clause."""
        built = self._built(step)
        built.plan = step
        return built

    def _built(self, step: pp.WriteStep) -> writes.Step:
        match step:
            case pp.Create(creations=creations):
                return writes.Create(tuple(map(self._creation, creations)))
            case pp.Merge(match=match, imports=imports, added=added, creations=creations):
                return merging.Merge(
                    self.parts.build(match),
                    imports,
                    added,
                    tuple(map(self._creation, creations)),
                    tuple(map(self._assignment, step.on_create)),
                    tuple(map(self._assignment, step.on_match)),
                    step.undirected,
                )
            case pp.Set(assignments=assignments):
                return writes.Set(tuple(map(self._assignment, assignments)))
            case pp.Delete(expressions=expressions, detach=detach):
                return writes.Delete(tuple(map(self._value, expressions)), detach)
            case pp.Foreach(variable=variable, list=values, body=body, imports=imports):
                return writes.Foreach(variable, self._value(values), self.parts.build(body), imports)
            case _:
                assert_never(step)

    def _value(self, term: Term) -> row_values.RowValue:
        """An expression that is evaluated row by row."""
        reads_graph = contains(term, lambda node: isinstance(node, _READS_GRAPH))
        has_subquery = contains(term, lambda node: isinstance(node, PlannedSubquery))
        keys = None if has_subquery else _keys_read(term)
        return row_values.RowValue(self.parts.term(term), free_variables(term), reads_graph, has_subquery, keys)

    def _names(self, names: tuple[str | Term, ...]) -> tuple[str | row_values.RowValue, ...]:
        return tuple(map(self._name, names))

    def _name(self, name: str | Term) -> str | row_values.RowValue:
        return name if isinstance(name, str) else self._value(name)

    def _optional(self, term: Term | None) -> row_values.RowValue | None:
        return None if term is None else self._value(term)

    def _entries(self, term: Term | None) -> tuple[tuple[str, row_values.RowValue], ...] | None:
        if not isinstance(term, ast.MapLiteral):
            return None
        return tuple((key, self._value(value)) for key, value in term.entries)

    def _creation(self, creation: Creation) -> making.NewEntity:
        match creation:
            case CreateNode(variable=variable, labels=labels, properties=properties):
                values, entries = self._optional(properties), self._entries(properties)
                return making.NewNode(variable, self._names(labels), values, entries)
            case CreateRelationship(variable=variable, start=start, end=end, properties=properties):
                values, entries = self._optional(properties), self._entries(properties)
                return making.NewRelationship(variable, start, end, self._name(creation.type), values, entries)
            case _:
                assert_never(creation)

    def _assignment(self, assignment: Assignment) -> assignments.Assignment:
        match assignment:
            case AssignProperty(subject=subject, key=key, value=value):
                return assignments.PropertyAssignment(self._value(subject), self._name(key), self._value(value))
            case AssignTogether(subject=subject, entries=entries):
                values = tuple((key, self._value(value)) for key, value in entries)
                return assignments.EntityAssignments(self._value(subject), values)
            case DropProperty(subject=subject, key=key):
                return assignments.PropertyAssignment(self._value(subject), self._name(key), None)
            case AssignProperties(variable=variable, value=value, merge=merge):
                written = f"${value.name}" if isinstance(value, ast.Parameter) else None
                return assignments.MapAssignment(variable, self._value(value), merge, written)
            case AddLabels(variable=variable, labels=labels):
                return assignments.LabelAssignment(variable, self._names(labels), remove=False)
            case DropLabels(variable=variable, labels=labels):
                return assignments.LabelAssignment(variable, self._names(labels), remove=True)
            case _:
                assert_never(assignment)


def _keys_read(term: Term) -> frozenset[str] | None:
    """The property keys that an expression reads; None if it may read anything else of a node or relationship."""
    keys: set[str] = set()

    def looks_at_more(node: object) -> bool:
        match node:
            case ast.Property(key=key):
                keys.add(key)
                return False
            case ast.FunctionCall(arguments=arguments):
                return any(isinstance(argument, ast.Variable) for argument in arguments)
            case ast.Index() | ast.HasLabels() | ast.MapProjection() | PlannedSubquery():
                return True
            case _:
                return isinstance(node, ast.ListComprehension | ast.Quantifier | ast.Reduce)

    return None if contains(term, looks_at_more) else frozenset(keys)
