"""Creating nodes and relationships: what a CREATE or MERGE describes, and a maker that creates it row by row."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.guard import interruptible
from hoplite.engine.operators.base import null_column
from hoplite.engine.operators.row_values import RowValue, gone, is_alive, names_of, value_at, writer_of
from hoplite.errors import CypherError, execution_failed, type_error
from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Column, Int64s, Nodes, Objects, Relationships, from_objects, object_array
from hoplite.values.entities import NodeRef, VirtualNode
from hoplite.values.value_types import status_text, wrong_value


@dataclass(slots=True, eq=False)
class NewNode:
    """A node of a CREATE or MERGE."""

    variable: str
    labels: tuple[str | RowValue, ...]
    properties: RowValue | None
    entries: tuple[tuple[str, RowValue], ...] | None = None  # of the properties, if they are written as a map


@dataclass(slots=True, eq=False)
class NewRelationship:
    """A relationship of a CREATE or MERGE."""

    variable: str
    start: str
    end: str
    type: str | RowValue
    properties: RowValue | None
    entries: tuple[tuple[str, RowValue], ...] | None = None


NewEntity: TypeAlias = NewNode | NewRelationship


def _properties(value: Any) -> dict[str, Any]:
    """A property map to store, without nulls."""
    if not isinstance(value, dict):
        message = f"Parameter provided for node creation is not a Map, instead got {status_text(value)}"
        raise type_error(message, wrong_value(value, "MAP"))
    return {key: item for key, item in value.items() if item is not None}


_NOT_YET = VirtualNode(0)


class _NotAtOnce(Exception):
    """Rows cannot all be made at once."""


class Maker:
    """Creates the nodes and relationships of a pattern, one row at a time or all at once."""

    def __init__(self, creations: tuple[NewEntity, ...], batch: Batch, context: Execution) -> None:
        self.creations = creations
        self.batch = batch
        self.context = context
        self.made_here = frozenset(creation.variable for creation in creations)

    @cached_property
    def values(self) -> list[Callable[[int], Any] | None]:
        """The property maps by row, of creations whose properties do not depend on what is created here."""
        values: list[Callable[[int], Any] | None] = []
        for creation in self.creations:
            own = creation.properties
            known = own is not None and not own.reads & self.made_here
            values.append(
                own.over(self.batch, self.context, subqueries_first=True) if own is not None and known else None
            )
        return values

    def make(self, row: int, refuse: Callable[[NewEntity, Any], None] | None = None) -> dict[str, int]:
        """Create everything for one row, unless `refuse` raises for its properties; returns the positions by
        variable."""
        writer, counters = writer_of(self.context), self.context.counters
        made: dict[str, int] = {}
        for number, creation in enumerate(self.creations):
            value = self._map(number, row, made)
            if refuse is not None:
                refuse(creation, value)
            properties = {} if creation.properties is None else _properties(value)
            match creation:
                case NewNode(variable=variable, labels=labels):
                    names = self._names(labels, number, row, made)
                    made[variable] = writer.create_node(names, properties)
                    counters.nodes_created += 1
                    counters.labels_added += len(names)
                case NewRelationship(variable=variable, type=type_):
                    ends = [self._end(name, creation, made, row) for name in (creation.start, creation.end)]
                    name = type_ if isinstance(type_, str) else self._type(type_, number, row, made)
                    made[variable] = writer.create_relationship(ends[0], ends[1], name, properties)
                    counters.relationships_created += 1
            counters.properties_set += len(properties)
        return made

    def make_all(self) -> dict[str, Int64s] | None:
        """Create everything for all rows at once; returns the positions by variable. None, with nothing created, if
        only going row by row tells the result, or which row fails.

        With one node and one relationship in a pattern, each gets the id it would get row by row.
        """
        nodes = [creation for creation in self.creations if isinstance(creation, NewNode)]
        if len(nodes) > 1 or len(self.creations) - len(nodes) > 1:
            return None
        if not all(map(_has_literal_names, self.creations)):
            return None
        writer, counters, count = writer_of(self.context), self.context.counters, self.batch.row_count
        savepoint, made, properties_set = writer.savepoint(), dict[str, Int64s](), 0
        try:
            for creation in self.creations:
                columns = self._columns(creation)
                properties_set += sum(count - int(column.null_mask().sum()) for column in columns.values())
                if isinstance(creation, NewNode):
                    names = names_of(creation.labels, self.batch, 0, self.context)
                    made[creation.variable] = writer.create_nodes(count, names, columns)
                else:
                    ends = [self._ends(name, made) for name in (creation.start, creation.end)]
                    assert isinstance(creation.type, str), "A plain creation has a literal type."
                    made[creation.variable] = writer.create_relationships(ends[0], ends[1], creation.type, columns)
        except (CypherError, _NotAtOnce):
            writer.rollback_to(savepoint)
            return None
        for creation in self.creations:
            if isinstance(creation, NewNode):
                counters.nodes_created += count
                counters.labels_added += count * len(creation.labels)
            else:
                counters.relationships_created += count
        counters.properties_set += properties_set
        return made

    def _columns(self, creation: NewEntity) -> dict[str, Column]:
        """The properties by key, in all rows."""
        if creation.properties is None:
            return {}
        if creation.properties.reads & self.made_here:
            raise _NotAtOnce
        if creation.entries is not None:
            return {key: self._settled(value) for key, value in creation.entries}
        with interruptible():
            maps = list(map(_properties, self._settled(creation.properties).objects()))
            keys = dict.fromkeys(key for held in maps for key in held)
            return {key: from_objects([held.get(key) for held in maps]) for key in keys}

    def _settled(self, value: RowValue) -> Column:
        """The values in all rows, which no write can change."""
        column = value.column(self.batch, self.context)
        if column is None:
            raise _NotAtOnce
        return column

    def _ends(self, name: str, made: dict[str, Int64s]) -> Int64s:
        if name in made:
            return made[name]
        column = self.batch[name]
        if not isinstance(column, Nodes) or not self.context.graph.node_exists(column.positions).all():
            raise _NotAtOnce
        return column.positions

    def _map(self, number: int, row: int, made: dict[str, int]) -> Any:
        """The property map of a creation; one that reads what the clause creates is evaluated now."""
        values, own = self.values[number], self.creations[number].properties
        if values is not None:
            return values(row)
        return None if own is None else own.over(self._row(number, row, made, own.reads), self.context)(0)

    def _names(self, labels: tuple[str | RowValue, ...], number: int, row: int, made: dict[str, int]) -> list[str]:
        reads = frozenset[str]().union(*(label.reads for label in labels if not isinstance(label, str)))
        return names_of(labels, self._row(number, row, made, reads), 0, self.context)

    def _type(self, type_: RowValue, number: int, row: int, made: dict[str, int]) -> str:
        names = names_of((type_,), self._row(number, row, made, type_.reads), 0, self.context, "relationship type")
        if len(names) != 1:
            raise execution_failed(f"Exactly one relationship type must be specified, but {len(names)} were found.")
        return names[0]

    def _row(self, number: int, row: int, made: dict[str, int], reads: frozenset[str]) -> Batch:
        """A row with those entities of the clause that an expression reads: one not created yet is an empty node, or
        null for a relationship.
        """
        one = self.batch.rows(row, row + 1)
        if not reads & self.made_here:
            return one
        before = tuple(c for c in self.creations[:number] if c.variable in reads)
        later = [c for c in self.creations[number:] if c.variable in reads]
        return one.with_columns(
            made_columns(before, [made])
            | {c.variable: Objects(object_array([_NOT_YET], 1)) for c in later if isinstance(c, NewNode)}
            | {c.variable: null_column(1) for c in later if isinstance(c, NewRelationship)}
        )

    def _end(self, name: str, creation: NewRelationship, made: dict[str, int], row: int) -> int:
        if name in made:
            return made[name]
        value = value_at(self.batch, name, row)
        if isinstance(value, NodeRef):
            if not is_alive(value, self.context):
                raise gone(value, self.context)
            return value.position
        raise CypherError(
            "Neo.DatabaseError.Statement.ExecutionFailed",
            f"Failed to create relationship `{creation.variable.replace(HIDDEN, '  ')}`, node `{name}` is missing. "
            "If you prefer to simply ignore rows where a relationship node is missing, set "
            "'dbms.cypher.lenient_create_relationship = true' in neo4j.conf",
        )


def _has_literal_names(creation: NewEntity) -> bool:
    names = creation.labels if isinstance(creation, NewNode) else (creation.type,)
    return all(isinstance(name, str) for name in names)


def made_columns(creations: tuple[NewEntity, ...], made: list[dict[str, int]]) -> dict[str, Column]:
    """Columns of what was created row by row."""
    variables = [creation.variable for creation in creations]
    return new_columns(creations, {v: np.fromiter((row[v] for row in made), np.int64, len(made)) for v in variables})


def new_columns(creations: tuple[NewEntity, ...], made: dict[str, Int64s]) -> dict[str, Column]:
    """Columns of what was created, by variable."""
    return {
        creation.variable: (Nodes if isinstance(creation, NewNode) else Relationships)(made[creation.variable])
        for creation in creations
    }
