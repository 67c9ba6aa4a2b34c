"""Expressions of writing clauses: evaluated row by row, or for all rows at once if no write can change them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.labels import token_names
from hoplite.engine.guard import interruptible
from hoplite.engine.operators.base import Evaluator
from hoplite.errors import CypherError, entity_not_found
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.transaction import Transaction
from hoplite.values.columns import (
    Booleans,
    Column,
    FloatLists,
    Floats,
    Integers,
    Nodes,
    Objects,
    Relationships,
    Strings,
)
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef

WORTH_DOING_AT_ONCE = 8  # rows


def writer_of(context: Execution) -> Transaction:
    """The transaction to write to."""
    assert context.writer is not None, "a statement that writes is run in a transaction"
    return context.writer


@dataclass(slots=True, eq=False)
class RowValue:
    """An expression evaluated row by row, or for all rows at once if no write can change it.

    `reads` are the variables it uses: an expression over plain values gives the same before and after a write. `keys`
    are the properties it reads if it reads nothing else of nodes and relationships, else None.
    """

    evaluator: Evaluator
    reads: frozenset[str]
    reads_graph: bool
    has_subquery: bool
    keys: frozenset[str] | None = None

    def is_settled(self, batch: Batch, written: frozenset[str] | None = None) -> bool:
        """Whether no write can change its value in any row; `written` are the only keys that are written, if known."""
        if self.has_subquery:
            return False
        if self.keys is not None and written is not None and not self.keys & written:
            return True
        columns = [batch[name] for name in self.reads if name in batch]
        return not self.reads_graph or all(not _may_hold_entities(column) for column in columns)

    def column(
        self,
        batch: Batch,
        context: Execution,
        written: frozenset[str] | None = None,
        *,
        subqueries_first: bool = False,
    ) -> Column | None:
        """The values of all rows; None if a write can change one, or a row fails: those before it are written first.

        Subqueries evaluated beforehand do not see what is written.
        """
        needed = self._needed(batch)
        if self.is_settled(needed, written) or (self.has_subquery and subqueries_first):
            try:
                return self.evaluator(needed, context)
            except RowError:
                return None
        return None

    def over(
        self,
        batch: Batch,
        context: Execution,
        written: frozenset[str] | None = None,
        *,
        subqueries_first: bool = False,
    ) -> Callable[[int], Any]:
        """A function from row number to value: from the `column`, if there is one, or `one_by_one`."""
        column = self.column(batch, context, written, subqueries_first=subqueries_first)
        return self.one_by_one(batch, context) if column is None else by_row(column)

    def one_by_one(self, batch: Batch, context: Execution) -> Callable[[int], Any]:
        """A function from row number to value, which is computed when it is asked for."""
        needed = self._needed(batch)

        def one(row: int) -> Any:
            try:
                return self.evaluator(needed.rows(row, row + 1), context).objects()[0]
            except RowError as failure:
                raise failure.error from None

        return one

    def _needed(self, batch: Batch) -> Batch:
        return batch.only([name for name in self.reads if name in batch])


def by_row(column: Column) -> Callable[[int], Any]:
    """The value at a row; entities are made on demand, because many rows may have the same few."""
    if isinstance(column, Nodes | Relationships):
        ids = column.positions
        ref: type[NodeRef] | type[RelationshipRef] = NodeRef if isinstance(column, Nodes) else RelationshipRef
        return lambda row: ref(int(ids[row])) if ids[row] >= 0 else None
    with interruptible():
        values = column.objects()
    return lambda row: values[row]


def _may_hold_entities(column: Column) -> bool:
    if isinstance(column, Integers | Floats | Booleans | Strings | FloatLists):
        return False
    with interruptible():
        return not isinstance(column, Objects) or _hold_entities(column.values)


_ENTITIES = {NodeRef, RelationshipRef, PathValue}
_NESTED = {list, tuple, dict}


def _hold_entities(values: Iterable[Any]) -> bool:
    """Whether a value is an entity or has one inside.

    All values of one depth are looked at together; what several of them share is looked at once.
    """
    values = list(values)
    while values:
        kinds = set(map(type, values))
        if not kinds.isdisjoint(_ENTITIES):
            return True
        if kinds.isdisjoint(_NESTED):
            return False
        distinct = {id(value): value for value in values if type(value) in _NESTED}.values()
        values = [item for value in distinct for item in (value.values() if type(value) is dict else value)]
    return False


def names_of(
    parts: tuple[str | RowValue, ...], batch: Batch, row: int, context: Execution, kind: str = "node label"
) -> list[str]:
    """Labels or types, some of them computed."""
    names: list[str] = []
    for part in parts:
        if isinstance(part, str):
            names.append(part)
            continue
        value = part.over(batch.rows(row, row + 1), context)(0)
        names.extend(token_names(value, kind, null="NULL"))
    return names


def value_at(batch: Batch, name: str, row: int) -> Any:
    """One value of a column as a Python object."""
    column = batch[name]
    if isinstance(column, Nodes | Relationships):
        position = int(column.positions[row])
        if position < 0:
            return None
        return NodeRef(position) if isinstance(column, Nodes) else RelationshipRef(position)
    return column.take(np.array([row], np.int64)).objects()[0]


def is_alive(subject: NodeRef | RelationshipRef, context: Execution) -> bool:
    """Whether this transaction has not deleted the entity."""
    graph = context.graph
    return (
        graph.has_node(subject.position) if isinstance(subject, NodeRef) else graph.has_relationship(subject.position)
    )


def properties_of(subject: NodeRef | RelationshipRef, context: Execution) -> dict[str, Any]:
    """The current properties."""
    graph = context.graph
    return (
        graph.node_properties(subject.position)
        if isinstance(subject, NodeRef)
        else graph.relationship_properties(subject.position)
    )


def gone(node: NodeRef, context: Execution) -> CypherError:
    """The error for writing to a deleted node."""
    number = context.graph.node_ids(np.array([node.position], np.int64))[0]
    return entity_not_found(f"Unable to load NODE 4:{context.graph.uuid}:{number}.")
