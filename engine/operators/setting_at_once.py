"""Setting properties in all rows at once, where that gives what going row by row gives.

Values are known for all rows before anything is set, so what is left to go wrong is found while nothing is written, or
is taken back: then the rows are done one by one, and the one that fails says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.guard import interruptible
from hoplite.engine.operators.assignments import Assignment, EntityAssignments, MapAssignment, PropertyAssignment
from hoplite.engine.operators.row_values import RowValue, writer_of
from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.schema import Entity
from hoplite.values.columns import Column, Int64s, Nodes, Relationships, from_objects, nulls

ColumnOf: TypeAlias = Callable[[RowValue], Column | None]
"""The values of an expression in all rows; None if they are not known before anything is set."""


class _NotAtOnce(Exception):
    """Only going row by row tells the result, or which row fails."""


@dataclass(slots=True, eq=False)
class _Write:
    """Values of one key, for some of the subjects."""

    key: str
    places: Int64s | None  # among the subjects; None: all of them
    values: Column


class _Subjects:
    """The nodes or relationships to set properties of, in the order of their rows."""

    def __init__(self, column: Nodes | Relationships, context: Execution) -> None:
        self.context = context
        self.rows = np.flatnonzero(column.positions >= 0)
        self.positions = column.positions[self.rows]
        self.are_nodes = isinstance(column, Nodes)
        exists = context.graph.node_exists if self.are_nodes else context.graph.relationship_exists
        if not exists(self.positions).all():
            raise _NotAtOnce
        self.are_distinct = len(np.unique(self.positions)) == len(self.positions)

    def property(self, places: Int64s | None, key: str) -> Column:
        """What they have now."""
        graph = self.context.graph
        positions = self.positions if places is None else self.positions[places]
        return graph.node_property(positions, key) if self.are_nodes else graph.relationship_property(positions, key)

    def properties(self) -> dict[str, Column]:
        """All that they have now."""
        graph = self.context.graph
        if self.are_nodes:
            return graph.node_property_columns(self.positions)
        return graph.relationship_property_columns(self.positions)

    def without_absent(self, write: _Write) -> _Write:
        """The write without the removal of properties that are missing."""
        gone = write.values.null_mask()
        if not gone.any():
            return write
        if not self.are_distinct:  # a row may set what a later one removes
            raise _NotAtOnce
        kept = np.flatnonzero(~gone | ~self.property(write.places, write.key).null_mask())
        return _Write(write.key, kept if write.places is None else write.places[kept], write.values.take(kept))

    def set(self, write: _Write) -> None:
        """Set the values."""
        entity = Entity.NODE if self.are_nodes else Entity.RELATIONSHIP
        writer = writer_of(self.context)
        if writer.schema.constrains(entity, write.key) and not self._leaves_as_it_is(write):
            raise _NotAtOnce
        positions = self.positions if write.places is None else self.positions[write.places]
        if self.are_nodes:
            writer.set_node_properties(positions, write.key, write.values)
        else:
            writer.set_relationship_properties(positions, write.key, write.values)

    def _leaves_as_it_is(self, write: _Write) -> bool:
        before, after = self.property(write.places, write.key).objects(), write.values.objects()
        return all(type(old) is type(new) and old == new for old, new in zip(before, after, strict=True))


def set_at_once(item: Assignment, batch: Batch, context: Execution, column_of: ColumnOf) -> bool:
    """Set what an item says in all rows. False, with nothing written, if that has to be done row by row."""
    try:
        subjects = _Subjects(_subject_column(item, batch, column_of), context)
        writes, count = _writes(item, subjects, column_of)
    except _NotAtOnce:
        return False
    writer = writer_of(context)
    savepoint = writer.savepoint()
    try:
        for write in writes:
            context.check_time()
            if len(write.values):
                subjects.set(write)
    except (CypherError, _NotAtOnce):
        context.check_time()  # out of time is no reason to go on
        writer.rollback_to(savepoint)
        return False
    context.counters.properties_set += count
    return True


def _subject_column(item: Assignment, batch: Batch, column_of: ColumnOf) -> Nodes | Relationships:
    match item:
        case MapAssignment(variable=variable):
            column: Column | None = batch[variable]
        case PropertyAssignment(subject=subject) | EntityAssignments(subject=subject):
            column = column_of(subject)
        case _:
            raise _NotAtOnce
    if not isinstance(column, Nodes | Relationships):
        raise _NotAtOnce
    return column


def _writes(item: Assignment, subjects: _Subjects, column_of: ColumnOf) -> tuple[list[_Write], int]:
    """What to set, and how many properties that counts as."""
    match item:
        case PropertyAssignment(key=str() as key, value=value):
            column = nulls(len(subjects.rows)) if value is None else _known(value, subjects, column_of)
            write = subjects.without_absent(_Write(key, None, column))
            return [write], len(write.values)
        case EntityAssignments(entries=entries):
            if not all(isinstance(key, str) for key, _ in entries):
                raise _NotAtOnce
            columns = {key: _known(value, subjects, column_of) for key, value in entries if isinstance(key, str)}
            writes = [subjects.without_absent(_Write(key, None, column)) for key, column in columns.items()]
            return writes, len(columns) * len(subjects.rows)
        case MapAssignment(value=value, merge=merge):
            maps = _known(value, subjects, column_of).objects().tolist()
            if any(type(held) is not dict for held in maps) or not (merge or subjects.are_distinct):
                raise _NotAtOnce
            with interruptible():
                given = list(_by_key(maps))
            left = [] if merge else list(_left(maps, subjects))
            writes = [subjects.without_absent(write) for write in given] + left
            return writes, sum(map(len, maps)) + sum(len(write.values) for write in left)
        case _:
            raise _NotAtOnce


def _known(value: RowValue, subjects: _Subjects, column_of: ColumnOf) -> Column:
    column = column_of(value)
    if column is None:
        raise _NotAtOnce
    return column if len(subjects.rows) == len(column) else column.take(subjects.rows)


_MISSING = object()


def _by_key(maps: list[dict[str, Any]]) -> Iterator[_Write]:
    """The values of maps, one key after the other."""
    for key in dict.fromkeys(key for held in maps for key in held):
        values = [held.get(key, _MISSING) for held in maps]
        places = None
        if any(value is _MISSING for value in values):
            there = [place for place, value in enumerate(values) if value is not _MISSING]
            places, values = np.array(there, np.int64), [values[place] for place in there]
        yield _Write(key, places, from_objects(values))


def _left(maps: list[dict[str, Any]], subjects: _Subjects) -> Iterator[_Write]:
    """The removal of the properties that the maps do not name."""
    for key, column in subjects.properties().items():
        named = np.fromiter((key in held for held in maps), np.bool_, len(maps))
        places = np.flatnonzero(~column.null_mask() & ~named)
        if len(places):
            yield _Write(key, places, nulls(len(places)))
