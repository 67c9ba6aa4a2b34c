"""Writing: row by row, each seeing what the rows before it wrote, after everything before the clause has been read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import field
from typing import Any

from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution
from hoplite.engine.expressions.comparison import as_list
from hoplite.engine.operators.assignments import Assignment
from hoplite.engine.operators.base import Operator, column_of
from hoplite.engine.operators.making import Maker, NewEntity, made_columns, new_columns
from hoplite.engine.operators.row_values import WORTH_DOING_AT_ONCE, RowValue, by_row, writer_of
from hoplite.engine.operators.setting import Setter
from hoplite.engine.profile import Watch
from hoplite.errors import type_error
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.physical import Shown
from hoplite.values.columns import Nodes, Relationships
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship


@dataclass(slots=True, eq=False)
class Step(ABC):
    """A writing clause: all rows in, all rows out. `plan` as in `Operator`."""

    plan: Shown | None = field(default=None, init=False, repr=False)

    @abstractmethod
    def apply(self, batch: Batch, context: Execution) -> Batch:
        """Write for every row, in order."""


@dataclass(slots=True, eq=False)
class Write(Operator):
    """Writing clauses one after another, over all rows of the source."""

    source: Operator
    steps: tuple[Step, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows, after everything is written."""
        watch = Watch(context.profile, context)
        batches = list(self.source.run(context, argument))  # read before anything is written
        if batches:
            batch = concatenate_batches(batches)
            for step in self.steps:
                batch = step.apply(batch, context)
                watch.note(step.plan, batch.row_count)
            yield batch


@dataclass(slots=True, eq=False)
class Create(Step):
    """Create a pattern for each row."""

    creations: tuple[NewEntity, ...]

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows with what was created for them."""
        maker = Maker(self.creations, batch, context)
        if batch.row_count >= WORTH_DOING_AT_ONCE and (at_once := maker.make_all()) is not None:
            return batch.with_columns(new_columns(self.creations, at_once))
        made: list[dict[str, int]] = []
        for row in range(batch.row_count):
            context.check_time()
            made.append(maker.make(row))
        return batch.with_columns(made_columns(self.creations, made))


def _class(value: Any) -> str:
    return type(value).__name__


@dataclass(slots=True, eq=False)
class Set(Step):
    """SET and REMOVE."""

    items: tuple[Assignment, ...]

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows, after all writes."""
        Setter(self.items, batch, context).set_all()
        return batch


@dataclass(slots=True, eq=False)
class Delete(Step):
    """DELETE and DETACH DELETE of nodes, relationships and paths."""

    expressions: tuple[RowValue, ...]
    detach: bool

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows, after all writes."""
        for expression in self.expressions:
            column = expression.column(batch, context)
            if batch.row_count >= WORTH_DOING_AT_ONCE and isinstance(column, Nodes | Relationships):
                self._delete_all(column, context)
                continue
            value = expression.one_by_one(batch, context) if column is None else by_row(column)
            for row in range(batch.row_count):
                context.check_time()
                self._delete(value(row), context)
        return batch

    def _delete_all(self, entities: Nodes | Relationships, context: Execution) -> None:
        writer, counters = writer_of(context), context.counters
        if isinstance(entities, Relationships):
            counters.relationships_deleted += writer.delete_relationships(entities.positions)
            return
        if self.detach:
            at_these = writer.relationships_at(entities.positions[writer.node_exists(entities.positions)])
            context.check_time()
            counters.relationships_deleted += writer.delete_relationships(at_these)
        context.check_time()
        counters.nodes_deleted += writer.delete_nodes(entities.positions)

    def _delete(self, value: Any, context: Execution) -> None:
        match value:
            case None:
                return
            case VirtualNode():
                context.counters.nodes_deleted += self.detach  # as on a server, which takes it for one of its own
            case VirtualRelationship():
                pass
            case NodeRef(position=node):
                if self.detach:
                    for relationship in writer_of(context).relationships_of(node).tolist():
                        self._delete_relationship(relationship, context)
                if writer_of(context).delete_node(node):
                    context.counters.nodes_deleted += 1
            case RelationshipRef(position=relationship):
                self._delete_relationship(relationship, context)
            case PathValue():
                for entity in (*value.relationship_refs(), *value.node_refs()):
                    self._delete(entity, context)
            case _:
                raise type_error(f"Expected a Node, Relationship or Path, but got a {_class(value)}")

    def _delete_relationship(self, relationship: int, context: Execution) -> None:
        if writer_of(context).delete_relationship(relationship):
            context.counters.relationships_deleted += 1


@dataclass(slots=True, eq=False)
class Foreach(Step):
    """Run writes over each element of a list."""

    variable: str
    list: RowValue
    body: Operator
    imports: tuple[str, ...]

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows, after all writes."""
        for row in range(batch.row_count):
            one = batch.rows(row, row + 1)
            value = self.list.over(one, context)(0)
            for element in value if isinstance(value, tuple) else as_list(value) or ():
                context.check_time()
                columns = {**one.only(self.imports).columns, self.variable: column_of([element])}
                for _ in self.body.run(context, Batch(columns, 1)):
                    pass
        return batch
