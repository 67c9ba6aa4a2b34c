"""Writing: row by row, each row seeing what the rows before it wrote, after everything before the clause was read."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np

from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.java import TEXT_VALUE, expected
from hoplite.engine.operators.apply import numbered
from hoplite.engine.operators.base import Evaluator, Operator, column_of, null_column
from hoplite.errors import CypherError, entity_not_found, semantic_error, type_error
from hoplite.grammar.hidden import HIDDEN
from hoplite.storage.transaction import Transaction
from hoplite.values.columns import (
    Booleans,
    Column,
    Floats,
    Integers,
    Nodes,
    Objects,
    Relationships,
    Strings,
)
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef
from hoplite.values.render import describe, to_string


def writer_of(context: Execution) -> Transaction:
    """The transaction to write to."""
    assert context.writer is not None, "a statement that writes is run in a transaction"
    return context.writer


@dataclass(slots=True, eq=False)
class RowValue:
    """An expression evaluated row by row; at once for all rows where no write can change it.

    `reads` are the variables it uses: an expression over plain values gives the same before and after a write.
    """

    evaluator: Evaluator
    reads: frozenset[str]
    reads_graph: bool
    has_subquery: bool

    def over(self, batch: Batch, context: Execution) -> Callable[[int], Any]:
        """A function from row number to value."""
        needed = batch.only([name for name in self.reads if name in batch])
        plain = not self.reads_graph or all(not _may_hold_entities(column) for column in needed.columns.values())
        if plain and not self.has_subquery:
            try:
                values = self.evaluator(needed, context).objects()
            except RowError:
                pass  # the rows before the one that fails are written first
            else:
                return lambda row: values[row]

        def one(row: int) -> Any:
            try:
                return self.evaluator(needed.rows(row, row + 1), context).objects()[0]
            except RowError as failure:
                raise failure.error from None

        return one


def _may_hold_entities(column: Column) -> bool:
    if isinstance(column, Integers | Floats | Booleans | Strings):
        return False
    return not isinstance(column, Objects) or any(map(_holds_entity, column.values))


def _holds_entity(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(map(_holds_entity, value))
    if isinstance(value, dict):
        return any(map(_holds_entity, value.values()))
    return isinstance(value, NodeRef | RelationshipRef | PathValue)


# --- what can be made and set -----------------------------------------------------------------------------------


@dataclass(slots=True, eq=False)
class NodeToMake:
    """A node of a CREATE or MERGE."""

    variable: str
    labels: tuple[str | RowValue, ...]
    properties: RowValue | None


@dataclass(slots=True, eq=False)
class RelationshipToMake:
    """A relationship of a CREATE or MERGE."""

    variable: str
    start: str
    end: str
    type: str | RowValue
    properties: RowValue | None


ToMake: TypeAlias = NodeToMake | RelationshipToMake


@dataclass(slots=True, eq=False)
class PropertyToSet:
    """`subject.key = value`, or its removal where there is no value."""

    subject: RowValue
    key: str | RowValue
    value: RowValue | None


@dataclass(slots=True, eq=False)
class SeveralToSet:
    """`n.a = 1, n.b = n.a`: properties of one entity side by side, all values computed before any is set."""

    subject: RowValue
    entries: tuple[tuple[str | RowValue, RowValue], ...]


@dataclass(slots=True, eq=False)
class PropertiesToSet:
    """`variable = map` or `variable += map`."""

    variable: str
    value: RowValue
    merge: bool


@dataclass(slots=True, eq=False)
class LabelsToSet:
    """`variable:A:B`, or their removal."""

    variable: str
    labels: tuple[str | RowValue, ...]
    remove: bool


ToSet: TypeAlias = PropertyToSet | SeveralToSet | PropertiesToSet | LabelsToSet


def _names(parts: tuple[str | RowValue, ...], batch: Batch, row: int, context: Execution) -> list[str]:
    """Labels, some of them computed."""
    names: list[str] = []
    for part in parts:
        if isinstance(part, str):
            names.append(part)
            continue
        value = part.over(batch.rows(row, row + 1), context)(0)
        for name in value if isinstance(value, list | tuple) else (value,):
            if not isinstance(name, str):
                raise type_error(f"Expected a label or type to be a string, but got: {describe(name)}")
            names.append(name)
    return names


def _properties(value: Any) -> dict[str, Any]:
    """A property map to store: nulls are left out."""
    if not isinstance(value, dict):
        shown = "NO_VALUE" if value is None else describe(value)
        raise type_error(f"Parameter provided for node creation is not a Map, instead got {shown}")
    return {key: item for key, item in value.items() if item is not None}


class Maker:
    """Makes the nodes and relationships of a pattern, a row at a time."""

    def __init__(self, creations: tuple[ToMake, ...], batch: Batch, context: Execution) -> None:
        self.creations = creations
        self.batch = batch
        self.context = context
        made: set[str] = set()
        self.values: list[Callable[[int], Any] | None] = []  # where they do not depend on what is made here
        for creation in creations:
            own = creation.properties
            made.add(creation.variable)
            known = own is not None and not own.reads & made
            self.values.append(own.over(batch, context) if own is not None and known else None)

    def make(self, row: int, refuse: Callable[[ToMake, Any], None] | None = None) -> dict[str, int]:
        """Make everything for one row, unless its properties are refused; returns the positions by variable."""
        writer, counters = writer_of(self.context), self.context.counters
        made: dict[str, int] = {}
        for number, creation in enumerate(self.creations):
            value = self._map(number, row, made)
            if refuse is not None:
                refuse(creation, value)
            properties = {} if creation.properties is None else _properties(value)
            match creation:
                case NodeToMake(variable=variable, labels=labels):
                    names = _names(labels, self.batch, row, self.context)
                    made[variable] = writer.create_node(names, properties)
                    counters.nodes_created += 1
                    counters.labels_added += len(set(names))
                case RelationshipToMake(variable=variable, type=type_):
                    ends = [self._end(name, creation, made, row) for name in (creation.start, creation.end)]
                    (name,) = (type_,) if isinstance(type_, str) else _names((type_,), self.batch, row, self.context)
                    made[variable] = writer.create_relationship(ends[0], ends[1], name, properties)
                    counters.relationships_created += 1
            counters.properties_set += len(properties)
        return made

    def _map(self, number: int, row: int, made: dict[str, int]) -> Any:
        """The property map of a creation; one that reads what was made before it is evaluated now."""
        values, creation = self.values[number], self.creations[number]
        if values is not None:
            return values(row)
        if creation.properties is None:
            return None
        before = tuple(c for c in self.creations[:number] if c.variable in creation.properties.reads)
        one = self.batch.rows(row, row + 1).with_columns(_made_columns(before, [made]))
        if creation.variable in creation.properties.reads:  # MERGE (n {k: n.k}): it is not there yet
            one = one.with_columns({creation.variable: null_column(1)})
        return creation.properties.over(one, self.context)(0)

    def _end(self, name: str, creation: RelationshipToMake, made: dict[str, int], row: int) -> int:
        if name in made:
            return made[name]
        value = _value(self.batch, name, row)
        if isinstance(value, NodeRef):
            if not _alive(value, self.context):
                raise _gone(value, self.context)
            return value.id
        raise CypherError(
            "Neo.DatabaseError.Statement.ExecutionFailed",
            f"Failed to create relationship `{creation.variable}`, node `{name}` is missing. If you prefer to simply "
            "ignore rows where a relationship node is missing, set 'dbms.cypher.lenient_create_relationship = true' "
            "in neo4j.conf",
        )


def _gone(node: NodeRef, context: Execution) -> CypherError:
    """The error for a node that was deleted and is written to."""
    number = context.graph.node_ids(np.array([node.id], np.int64))[0]
    return entity_not_found(f"Unable to load NODE 4:{context.graph.uuid}:{number}.")


def _value(batch: Batch, name: str, row: int) -> Any:
    """One value of a column as Python has it."""
    column = batch[name]
    if isinstance(column, Nodes | Relationships):
        position = int(column.ids[row])
        if position < 0:
            return None
        return NodeRef(position) if isinstance(column, Nodes) else RelationshipRef(position)
    return column.take(np.array([row], np.int64)).objects()[0]


class Setter:
    """Sets properties and labels, a row at a time."""

    def __init__(self, items: tuple[ToSet, ...], batch: Batch, context: Execution) -> None:
        self.items = items
        self.batch = batch
        self.context = context
        self._values: dict[int, Callable[[int], Any]] = {}

    def set(self, row: int) -> None:
        """Do what one row asks for, item by item, each seeing those before it."""
        for item in self.items:
            match item:
                case PropertyToSet():
                    self._property(item, row)
                case SeveralToSet():
                    self._several(item, row)
                case PropertiesToSet():
                    self._properties(item, row)
                case LabelsToSet():
                    self._labels(item, row)

    def _of(self, value: RowValue, row: int) -> Any:
        known = self._values.get(id(value))
        if known is None:
            known = self._values[id(value)] = value.over(self.batch, self.context)
        return known(row)

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

    def _property(self, item: PropertyToSet, row: int) -> None:
        """One property; to remove one that is not there counts as nothing."""
        subject, key = self._subject(item.subject, row), self._key(item.key, row)
        value = None if item.value is None else self._of(item.value, row)
        if subject is None:
            return
        if not _alive(subject, self.context):
            self.context.counters.properties_set += int(item.value is not None)
        elif value is not None or key in _current(subject, self.context):
            self._assign(subject, key, value)

    def _several(self, item: SeveralToSet, row: int) -> None:
        subject = self._subject(item.subject, row)
        entries = [(self._key(key, row), self._of(value, row)) for key, value in item.entries]
        if subject is not None:
            self._assign_all(subject, dict(entries), {key for key, value in entries if value is not None})

    def _properties(self, item: PropertiesToSet, row: int) -> None:
        subject = _value(self.batch, item.variable, row)
        value = self._of(item.value, row)
        if subject is None:
            return
        if isinstance(value, NodeRef | RelationshipRef):
            value = dict(_current(value, self.context))
        if not isinstance(value, dict):
            shown = "Null()" if value is None else describe(value)
            raise type_error(f"Expected {shown} to be a map, but it was :`{describe(value)}`", "22G03")
        left = []
        if not item.merge and _alive(subject, self.context):
            left = [key for key in _current(subject, self.context) if key not in value]
        self._assign_all(subject, {**value, **dict.fromkeys(left)})

    def _assign_all(
        self, subject: NodeRef | RelationshipRef, values: dict[str, Any], known: Collection[str] = ()
    ) -> None:
        """Several properties at once; each counts, also a null where there was nothing, but not for an unknown key."""
        alive = _alive(subject, self.context)
        for key, value in values.items():
            if value is None and key not in known and not self.context.graph.known_key(key):
                continue
            if alive:
                self._assign(subject, key, value)
            else:
                self.context.counters.properties_set += 1

    def _assign(self, subject: NodeRef | RelationshipRef, key: str, value: Any) -> None:
        writer = writer_of(self.context)
        if isinstance(subject, NodeRef):
            writer.set_node_property(subject.id, key, value)
        else:
            writer.set_relationship_property(subject.id, key, value)
        self.context.counters.properties_set += 1

    def _labels(self, item: LabelsToSet, row: int) -> None:
        subject = _value(self.batch, item.variable, row)
        if subject is None:
            return
        if not isinstance(subject, NodeRef):
            raise type_error(f"Expected {describe(subject)} to be a node")
        writer, counters = writer_of(self.context), self.context.counters
        if not _alive(subject, self.context):
            raise _gone(subject, self.context)
        for name in _names(item.labels, self.batch, row, self.context):
            if item.remove:
                counters.labels_removed += int(writer.remove_label(subject.id, name))
            else:
                counters.labels_added += int(writer.add_label(subject.id, name))


def _class(value: Any) -> str:
    return type(value).__name__


def _alive(subject: NodeRef | RelationshipRef, context: Execution) -> bool:
    position = np.array([subject.id], np.int64)
    graph = context.graph
    exists = graph.node_exists(position) if isinstance(subject, NodeRef) else graph.relationship_exists(position)
    return bool(exists[0])


def _current(subject: NodeRef | RelationshipRef, context: Execution) -> dict[str, Any]:
    graph = context.graph
    return (
        graph.node_properties(subject.id) if isinstance(subject, NodeRef) else graph.relationship_properties(subject.id)
    )


# --- operators --------------------------------------------------------------------------------------------------


class Step(Protocol):
    """A writing clause: all rows in, all rows out."""

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """Write for every row, in order."""
        ...


@dataclass(slots=True, eq=False)
class Writing:
    """Writing clauses one after the other, over everything that the source has."""

    source: Operator
    steps: tuple[Step, ...]

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows, after all is written."""
        batches = list(self.source.run(context, argument))  # read before anything is written
        if batches:
            batch = concatenate_batches(batches)
            for step in self.steps:
                batch = step.apply(batch, context)
            yield batch


@dataclass(slots=True, eq=False)
class Create:
    """Make a pattern for each row."""

    creations: tuple[ToMake, ...]

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows with what was made for them."""
        maker = Maker(self.creations, batch, context)
        made: list[dict[str, int]] = []
        for row in range(batch.row_count):
            context.check()
            made.append(maker.make(row))
        return batch.with_columns(_made_columns(self.creations, made))


def _made_columns(creations: tuple[ToMake, ...], made: list[dict[str, int]]) -> dict[str, Column]:
    columns: dict[str, Column] = {}
    for creation in creations:
        ids = np.fromiter((row[creation.variable] for row in made), np.int64, len(made))
        columns[creation.variable] = Nodes(ids) if isinstance(creation, NodeToMake) else Relationships(ids)
    return columns


@dataclass(slots=True, eq=False)
class Merge:
    """For each row the matches of a pattern; where there are none, the pattern is made."""

    match: Operator
    imports: tuple[str, ...]
    added: tuple[str, ...]
    creations: tuple[ToMake, ...]
    on_create: tuple[ToSet, ...]
    on_match: tuple[ToSet, ...]

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows with their matches, or with what was made for them."""
        maker = Maker(self.creations, batch, context)
        results: list[Batch] = []
        for row in range(batch.row_count):
            context.check()
            self._refuse_known(maker, row)
            one = batch.rows(row, row + 1)
            found = [f for f in self.match.run(context, numbered(one, self.imports)) if f.row_count]
            if found:
                matches = concatenate_batches(found)
                many = one.take(np.zeros(matches.row_count, np.int64))
                result = many.with_columns({name: matches[name] for name in self.added})
                items = self.on_match
            else:
                made = maker.make(row, refuse=self._refuse)
                result = one.with_columns(_made_columns(self.creations, [made]))
                items = self.on_create
            if items:
                setter = Setter(items, result, context)
                for each in range(result.row_count):
                    setter.set(each)
            results.append(result)
        return concatenate_batches(results) if results else batch

    def _refuse_known(self, maker: Maker, row: int) -> None:
        """Refuse what can be seen before matching."""
        for creation, values in zip(self.creations, maker.values, strict=True):
            if values is not None:
                self._refuse(creation, values(row))

    def _refuse(self, creation: ToMake, value: Any) -> None:
        """A pattern with a property that equals nothing, null or NaN, can be neither matched nor made."""
        if not isinstance(value, dict):
            return
        for key, item in value.items():
            if item is None or item != item:
                kind, pattern = self._described(creation, value)
                what = "null" if item is None else "NaN"
                raise semantic_error(
                    f"Cannot merge the following {kind} because of {what} property value for '{key}': {pattern}"
                )

    def _described(self, creation: ToMake, value: dict[str, Any]) -> tuple[str, str]:
        """What is refused, and the pattern as messages show it."""
        shown = ", ".join(f"{k}: {_shown(v)}" for k, v in value.items())
        match creation:
            case NodeToMake(labels=labels):
                names = "".join(f":{label}" for label in labels if isinstance(label, str))
                return "node", f"({names} {{{shown}}})"
            case RelationshipToMake(type=type_, start=start, end=end):
                name = f":{type_}" if isinstance(type_, str) else ""
                return "relationship", f"({_visible(start)})-[{name} {{{shown}}}]->({_visible(end)})"


def _visible(name: str) -> str:
    return "" if name.startswith(HIDDEN) else name


def _shown(value: Any) -> str:
    return "null" if value is None else "NaN" if value != value else to_string(value)


@dataclass(slots=True, eq=False)
class Set:
    """SET and REMOVE."""

    items: tuple[ToSet, ...]

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows, after all of them are done."""
        setter = Setter(self.items, batch, context)
        for row in range(batch.row_count):
            context.check()
            setter.set(row)
        return batch


@dataclass(slots=True, eq=False)
class Delete:
    """DELETE and DETACH DELETE of nodes, relationships and paths."""

    expressions: tuple[Evaluator, ...]
    detach: bool

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows, after all of them are done."""
        for row in range(batch.row_count):
            context.check()
            one = batch.rows(row, row + 1)
            for evaluator in self.expressions:
                try:
                    value = evaluator(one, context).objects()[0]
                except RowError as failure:
                    raise failure.error from None
                self._delete(value, context)
        return batch

    def _delete(self, value: Any, context: Execution) -> None:
        match value:
            case None:
                return
            case NodeRef(id=node):
                if self.detach:
                    for relationship in writer_of(context).relationships_of(node).tolist():
                        self._delete_relationship(relationship, context)
                if writer_of(context).delete_node(node):
                    context.counters.nodes_deleted += 1
            case RelationshipRef(id=relationship):
                self._delete_relationship(relationship, context)
            case PathValue(nodes=nodes, relationships=relationships):
                for relationship in relationships:
                    self._delete_relationship(relationship, context)
                for node in nodes:
                    self._delete(NodeRef(node), context)
            case _:
                raise type_error(f"Expected a Node, Relationship or Path, but got a {_class(value)}")

    def _delete_relationship(self, relationship: int, context: Execution) -> None:
        if writer_of(context).delete_relationship(relationship):
            context.counters.relationships_deleted += 1


@dataclass(slots=True, eq=False)
class Foreach:
    """Run writes over each element of a list."""

    variable: str
    list: RowValue
    body: Operator
    imports: tuple[str, ...]

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows, after all of them are done."""
        for row in range(batch.row_count):
            one = batch.rows(row, row + 1)
            value = self.list.over(one, context)(0)
            elements = [] if value is None else value
            if not isinstance(elements, list | tuple):
                raise type_error(f"Expected {describe(value)} to be a list, but it was a {_class(value)}")
            for element in elements:
                context.check()
                columns = {**one.only(self.imports).columns, self.variable: column_of([element])}
                for _ in self.body.run(context, Batch(columns, 1)):
                    pass
        return batch
