"""Label expressions as predicates: `n:A&!B`, `r:KNOWS|LIKES`, over columns of nodes and relationships.

A node has any number of labels, a relationship exactly one type; the same expression tests either. So a column is read
as two arrays of positions, one of nodes and one of relationships, with -1 where the row is not of that kind.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, assert_never

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.access import refuse_deleted_nodes
from hoplite.engine.expressions.evaluator import Compiled, Evaluator
from hoplite.engine.expressions.java import ENTITY, expected
from hoplite.errors import CypherError, type_error
from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Booleans, Bools, Column, Int64s, Nodes, Relationships
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.value_types import status_text, value_type


@dataclass(frozen=True, slots=True, eq=False)
class Entities:
    """The rows of a batch as nodes and relationships."""

    nodes: Int64s
    relationships: Int64s
    batch: Batch
    execution: Execution

    def labelled(self, name: str) -> Bools:
        """Which rows are a node with this label, or a relationship of this type."""
        found = self.execution.graph.has_label(self.nodes, name)
        there = self.relationships >= 0
        if self.execution.writer is not None:
            there = there & self.execution.graph.relationship_exists(self.relationships)
        rows = np.flatnonzero(there)
        if len(rows) and name in self.execution.graph.type_names:
            code = self.execution.graph.type_names.index(name)
            found[rows] = self.execution.graph.relationship_types(self.relationships[rows]) == code
        return found

    def labelled_at_all(self) -> Bools:
        """Which rows are a node with any label, or a relationship, which always has a type."""
        if self.execution.writer is not None:
            refuse_deleted_nodes(self.nodes, self.execution)
        return self.execution.graph.has_any_label(self.nodes) | (self.relationships >= 0)


LabelTest = Callable[[Entities], Bools]


def has_labels(operand: Compiled, test: LabelTest) -> Evaluator:
    """`operand:labels`: null where the operand is null."""

    def evaluate(batch: Batch, execution: Execution) -> Column:
        column = operand.evaluate(batch, execution)
        entities = _entities(column, batch, execution)
        values = test(entities)
        present = (entities.nodes >= 0) | (entities.relationships >= 0)  # a virtual entity has no stored labels
        nulls = column.null_mask()
        return Booleans(values & present, nulls if nulls.any() else None)

    return evaluate


def _entities(column: Column, batch: Batch, execution: Execution) -> Entities:
    nodes = np.full(len(column), -1, np.int64)
    relationships = np.full(len(column), -1, np.int64)
    if isinstance(column, Nodes):
        nodes = column.positions
    elif isinstance(column, Relationships):
        relationships = column.positions
    else:
        for row, value in enumerate(column.objects()):
            if isinstance(value, NodeRef):
                nodes[row] = value.position
            elif isinstance(value, RelationshipRef):
                relationships[row] = value.position
            elif value is not None:
                raise RowError(row, expected(ENTITY, value))
    return Entities(nodes, relationships, batch, execution)


def label_test(labels: ast.LabelExpression, compiled: Callable[[ast.Expression], Compiled]) -> LabelTest:
    """The test for a label expression; `compiled` compiles the expressions of dynamic labels."""
    match labels:
        case ast.LabelName(name=name):
            return lambda entities: entities.labelled(name)
        case ast.LabelWildcard():
            return Entities.labelled_at_all
        case ast.LabelNot(operand=operand):
            inner = label_test(operand, compiled)
            return lambda entities: ~inner(entities)
        case ast.LabelAnd(operands=operands):
            every = [label_test(operand, compiled) for operand in operands]
            return lambda entities: np.logical_and.reduce([test(entities) for test in every])
        case ast.LabelOr(operands=operands):
            some = [label_test(operand, compiled) for operand in operands]
            return lambda entities: np.logical_or.reduce([test(entities) for test in some])
        case ast.DynamicLabel(expression=expression, kind=kind):
            names = compiled(expression)
            return lambda entities: _dynamic(names, kind == "all", entities)
        case _:
            assert_never(labels)


def _dynamic(names: Compiled, all_of_them: bool, entities: Entities) -> Bools:
    """`$(names)`: the labels to test for differ by row."""
    column = names.evaluate(entities.batch, entities.execution)
    kind = "relationship type" if bool((entities.relationships >= 0).any()) else "node label"
    wanted = [_names(row, value, kind) for row, value in enumerate(column.objects())]
    known = {name: entities.labelled(name) for name in {n for row in wanted for n in row}}
    decide = all if all_of_them else any
    return np.fromiter(
        (decide(known[name][row] for name in row_names) for row, row_names in enumerate(wanted)),
        np.bool_,
        len(wanted),
    )


def token_names(value: Any, kind: str, null: str) -> list[str]:
    """The labels or types that `$(value)` names; `null` is how a GQL status writes a missing one."""
    names, wanted = (value, "STRING NOT NULL") if isinstance(value, list | tuple) else ([value], _STRINGS)
    for name in names:
        if not isinstance(name, str):
            cause = because("22N01", null if name is None else status_text(name), wanted, value_type(name))
            raise type_error(f"Expected {kind} to be a string or list of strings.", cause)
    return list(names)


_STRINGS = "STRING NOT NULL or LIST<STRING NOT NULL>"


def _names(row: int, value: Any, kind: str) -> list[str]:
    try:
        return token_names(value, kind, null="NO_VALUE")
    except CypherError as error:
        raise RowError(row, error) from None
