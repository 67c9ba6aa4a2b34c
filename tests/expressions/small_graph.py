"""A graph in two dicts, with the reads that expressions ask for, and a short way to evaluate an expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hoplite.engine.functions
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, PlanRunner, Setting
from hoplite.engine.expressions.compile import compile_expression
from hoplite.engine.functions.registry import FUNCTIONS
from hoplite.grammar import ast
from hoplite.grammar.parse import parse
from hoplite.values.columns import Bools, Column, Int64s, from_objects

assert hoplite.engine.functions  # fills the table


@dataclass
class SmallGraph:
    """Nodes are (labels, properties), relationships (type, properties), by position."""

    nodes: Sequence[tuple[tuple[str, ...], Mapping[str, Any]]] = ()
    relationships: Sequence[tuple[str, Mapping[str, Any]]] = ()
    deleted: set[int] = field(default_factory=set)

    @property
    def type_names(self) -> tuple[str, ...]:
        return tuple(sorted({name for name, _ in self.relationships}))

    def node_property(self, nodes: Int64s, key: str) -> Column:
        return from_objects([None if n < 0 else self.nodes[n][1].get(key) for n in nodes])

    def relationship_property(self, relationships: Int64s, key: str) -> Column:
        return from_objects([None if r < 0 else self.relationships[r][1].get(key) for r in relationships])

    def node_property_maps(self, nodes: Int64s) -> list[dict[str, Any]]:
        return [{} if n < 0 else dict(self.nodes[n][1]) for n in nodes]

    def relationship_property_maps(self, relationships: Int64s) -> list[dict[str, Any]]:
        return [{} if r < 0 else dict(self.relationships[r][1]) for r in relationships]

    def has_label(self, nodes: Int64s, label: str) -> Bools:
        return np.array([n >= 0 and label in self.nodes[n][0] for n in nodes], np.bool_)

    def has_any_label(self, nodes: Int64s) -> Bools:
        return np.array([n >= 0 and bool(self.nodes[n][0]) for n in nodes], np.bool_)

    def relationship_types(self, relationships: Int64s) -> NDArray[np.int32]:
        return np.array([self.type_names.index(self.relationships[r][0]) for r in relationships], np.int32)

    def node_exists(self, nodes: Int64s) -> Bools:
        return np.array([n not in self.deleted for n in nodes], np.bool_)

    def known_key(self, name: str) -> bool:
        return any(name in properties for _, properties in self.nodes)

    def node_ids(self, nodes: Int64s) -> Int64s:
        return nodes + 100


def no_plans(plan: Any, argument: Batch, context: Execution) -> Iterator[Batch]:
    raise AssertionError("this expression has no subquery")


@dataclass(frozen=True)
class SmallWriter:
    """A transaction that has deleted these nodes, and nothing else."""

    deleted_nodes: tuple[int, ...] = ()

    def deleted_here(self, *, nodes: bool) -> list[int]:
        return list(self.deleted_nodes) if nodes else []


def an_execution(
    graph: Any = None, parameters: Mapping[str, Any] | None = None, run_plan: PlanRunner = no_plans, writer: Any = None
) -> Execution:
    """An execution at the beginning of 1970."""
    read: Any = graph or SmallGraph()
    execution = Execution(read, parameters or {}, Setting(FUNCTIONS, run_plan), 0)
    execution.writer = writer
    return execution


def expression_of(text: str) -> ast.Expression:
    """The expression that a text is parsed into."""
    query = parse(f"RETURN {text}").body
    assert isinstance(query, ast.SingleQuery)
    clause = query.clauses[0]
    assert isinstance(clause, ast.ReturnClause)
    return clause.projection.items[0].expression


def batch_of(columns: Mapping[str, Sequence[Any]]) -> Batch:
    """A batch with these values; one row where there are no columns."""
    count = len(next(iter(columns.values()))) if columns else 1
    return Batch({name: from_objects(list(values)) for name, values in columns.items()}, count)


def evaluate(text: str, execution: Execution | None = None, /, **columns: Sequence[Any]) -> list[Any]:
    """The values of an expression over columns: `evaluate("x + 1", x=[1, 2])` is [2, 3]."""
    run = compile_expression(expression_of(text), FUNCTIONS)
    values: list[Any] = run(batch_of(columns), execution or an_execution()).objects().tolist()
    return values
