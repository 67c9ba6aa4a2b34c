"""Setting properties and labels row by row, or in all rows at once where that gives the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.expressions.java import TEXT_VALUE, expected
from hoplite.engine.operators.assignments import (
    Assignment,
    EntityAssignments,
    LabelAssignment,
    MapAssignment,
    PropertyAssignment,
)
from hoplite.engine.operators.row_values import (
    WORTH_DOING_AT_ONCE,
    RowValue,
    by_row,
    gone,
    is_alive,
    names_of,
    properties_of,
    value_at,
    writer_of,
)
from hoplite.engine.operators.setting_at_once import set_at_once
from hoplite.errors import type_error
from hoplite.values.columns import Column, Nodes, Relationships
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.render import describe
from hoplite.values.value_types import wrong_value


def _keys_written(items: tuple[Assignment, ...]) -> frozenset[str] | None:
    """The property keys that are written; None if only known at run time."""
    keys: set[str | RowValue] = set()
    for item in items:
        match item:
            case PropertyAssignment(key=key):
                keys.add(key)
            case EntityAssignments(entries=entries):
                keys.update(key for key, _ in entries)
            case MapAssignment():
                return None
            case LabelAssignment():
                pass
    names = frozenset(key for key in keys if isinstance(key, str))
    return names if len(names) == len(keys) else None


class Setter:
    """Sets properties and labels, one row at a time. `others` are assignments that take place between these rows."""

    def __init__(
        self, items: tuple[Assignment, ...], batch: Batch, context: Execution, others: tuple[Assignment, ...] = ()
    ) -> None:
        self.items = items
        self.batch = batch
        self.context = context
        self._columns: dict[int, Column | None] = {}
        self._values: dict[int, Callable[[int], Any]] = {}
        self._every = items + others
        self._written = _keys_written(self._every)

    def set(self, row: int) -> None:
        """Apply all items to one row, each seeing those before it."""
        for item in self.items:
            self._set(item, row)

    def set_all(self) -> None:
        """Apply one item after another, each to all rows, so that it sees what those before it have set in every
        row."""
        for item in self.items:
            is_worth_it = self.batch.row_count >= WORTH_DOING_AT_ONCE
            if is_worth_it and set_at_once(item, self.batch, self.context, self._column):
                continue
            for row in range(self.batch.row_count):
                self.context.check_time()
                self._set(item, row)

    def set_all_at_once(self) -> bool:
        """The same, if all rows of each item can be set at once; if not, some items may have been."""
        return all(set_at_once(item, self.batch, self.context, self._column) for item in self.items)

    def _set(self, item: Assignment, row: int) -> None:
        match item:
            case PropertyAssignment():
                self._property(item, row)
            case EntityAssignments():
                self._several(item, row)
            case MapAssignment():
                self._properties(item, row)
            case LabelAssignment():
                self._labels(item, row)

    def _of(self, value: RowValue, row: int) -> Any:
        known = self._values.get(id(value))
        if known is None:
            column = self._column(value)
            known = value.one_by_one(self.batch, self.context) if column is None else by_row(column)
            self._values[id(value)] = known
        return known(row)

    def _column(self, value: RowValue) -> Column | None:
        """The values in all rows, if no write can change them and none fails."""
        if id(value) not in self._columns:
            written = frozenset[str]() if self._touches_itself_only(value) else self._written
            self._columns[id(value)] = value.column(self.batch, self.context, written)
        return self._columns[id(value)]

    def _touches_itself_only(self, value: RowValue) -> bool:
        """Whether this is the value of a single `n.k = n.k + 1` with a different n in each row: no row sees another."""
        if (
            len(self._every) != 1
            or not self.items
            or not isinstance(self.items[0], PropertyAssignment)
            or value.keys is None
        ):
            return False
        subject = self.items[0].subject
        if len(subject.reads) != 1 or subject.reads_graph or subject.has_subquery:
            return False
        (name,) = subject.reads
        column = self.batch[name]
        if not isinstance(column, Nodes | Relationships) or len(np.unique(column.positions)) != len(column):
            return False
        return RowValue(value.evaluator, value.reads - {name}, value.reads_graph, False).is_settled(self.batch)

    def _key(self, key: str | RowValue, row: int) -> str:
        name = key if isinstance(key, str) else self._of(key, row)
        if not isinstance(name, str):
            raise expected(TEXT_VALUE, name)
        return name

    def _subject(self, subject: RowValue, row: int) -> NodeRef | RelationshipRef | None:
        value = self._of(subject, row)
        if value is not None and not isinstance(value, NodeRef | RelationshipRef):
            raise type_error(f"Expected {describe(value)} to be a node or relationship")
        return value

    def _property(self, item: PropertyAssignment, row: int) -> None:
        """Set one property; removing one that is missing does not count."""
        subject, key = self._subject(item.subject, row), self._key(item.key, row)
        value = None if item.value is None else self._of(item.value, row)
        if subject is None:
            return
        if not is_alive(subject, self.context):
            self.context.counters.properties_set += int(item.value is not None)
        elif value is not None or key in properties_of(subject, self.context):
            self._assign(subject, key, value)

    def _several(self, item: EntityAssignments, row: int) -> None:
        subject = self._subject(item.subject, row)
        values = {self._key(key, row): self._of(value, row) for key, value in item.entries}
        if subject is not None:
            self._assign_all(subject, values)

    def _properties(self, item: MapAssignment, row: int) -> None:
        subject = value_at(self.batch, item.variable, row)
        value = self._of(item.value, row)
        if subject is None:
            return
        if isinstance(value, NodeRef | RelationshipRef):
            value = dict(properties_of(value, self.context))
        if not isinstance(value, dict):
            shown = item.written or ("Null()" if value is None else describe(value))
            raise type_error(
                f"Expected {shown} to be a map, but it was :`{describe(value)}`", wrong_value(value, "MAP")
            )
        left = []
        if not item.merge and is_alive(subject, self.context):
            left = [key for key in properties_of(subject, self.context) if key not in value]
        self._assign_all(subject, {**value, **dict.fromkeys(left)})

    def _assign_all(self, subject: NodeRef | RelationshipRef, values: dict[str, Any]) -> None:
        """Set several properties at once; each counts, even a null for a missing property."""
        alive = is_alive(subject, self.context)
        for key, value in values.items():
            if alive:
                self._assign(subject, key, value)
            else:
                self.context.counters.properties_set += 1

    def _assign(self, subject: NodeRef | RelationshipRef, key: str, value: Any) -> None:
        writer = writer_of(self.context)
        if isinstance(subject, NodeRef):
            writer.set_node_property(subject.position, key, value)
        else:
            writer.set_relationship_property(subject.position, key, value)
        self.context.counters.properties_set += 1

    def _labels(self, item: LabelAssignment, row: int) -> None:
        subject = value_at(self.batch, item.variable, row)
        if subject is None:
            return
        if not isinstance(subject, NodeRef):
            raise type_error(f"Expected {describe(subject)} to be a node")
        writer, counters = writer_of(self.context), self.context.counters
        if not is_alive(subject, self.context):
            raise gone(subject, self.context)
        for name in names_of(item.labels, self.batch, row, self.context):
            if item.remove:
                counters.labels_removed += int(writer.remove_label(subject.position, name))
            else:
                counters.labels_added += int(writer.add_label(subject.position, name))
