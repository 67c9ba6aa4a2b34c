"""Finding nodes: every row of the source is paired with every node found."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.operators.base import FIRST_BATCH, LARGEST_BATCH, Evaluator, Operator, evaluate, pairs
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.value_index import Bound, ValueIndex
from hoplite.values.columns import Int64s, Integers, Nodes, Relationships


@dataclass(slots=True, eq=False)
class Argument(Operator):
    """The rows that the plan is run over."""

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The argument itself."""
        yield argument


@dataclass(slots=True, eq=False)
class NodeScan(Operator):
    """Every node, or every node with a label."""

    source: Operator
    node: str
    label: str | None
    first: int = FIRST_BATCH  # rows in the first batch

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each row with each node."""
        nodes: Int64s | None = None
        for batch in self.source.run(context, argument):
            if nodes is None:
                graph = context.graph
                nodes = graph.nodes() if self.label is None else graph.nodes_with_label(self.label)
            for rows, items in pairs(context, batch.row_count, len(nodes), self.first):
                yield batch.take(rows).with_columns({self.node: Nodes(nodes[items])})


@dataclass(slots=True, eq=False)
class RelationshipScan(Operator):
    """Every relationship of some types, with its ends."""

    source: Operator
    relationship: str
    start: str
    end: str
    types: tuple[str, ...] | None
    directed: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each row with each relationship, in both orientations if undirected (a loop once)."""
        graph = context.graph
        for batch in self.source.run(context, argument):
            if self.types is None:
                found = graph.relationships()
            else:
                found = np.sort(np.concatenate([graph.relationships_with_type(t) for t in self.types]))
            starts, ends = graph.endpoints(found)
            if not self.directed:
                other_way = starts != ends
                found = np.concatenate([found, found[other_way]])
                starts, ends = (
                    np.concatenate([starts, ends[other_way]]),
                    np.concatenate([ends, starts[other_way]]),
                )
            for rows, items in pairs(context, batch.row_count, len(found)):
                yield batch.take(rows).with_columns(
                    {
                        self.relationship: Relationships(found[items]),
                        self.start: Nodes(starts[items]),
                        self.end: Nodes(ends[items]),
                    }
                )


@dataclass(slots=True, eq=False)
class RelationshipSeek(Operator):
    """Relationships of a type whose property equals a value, or one of a list, with their ends."""

    source: Operator
    relationship: str
    start: str
    end: str
    type: str
    key: str
    value: Evaluator
    many: bool
    directed: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each row with each relationship that has the value, in both orientations if undirected (a loop once)."""
        for incoming in self.source.run(context, argument):
            batch, (column,), error = evaluate(incoming, (self.value,), context)
            rows, values = _wanted(column, self.many)
            which, found = context.graph.seek_relationships(self.type, self.key, values)
            rows = rows[which]
            if self.many:
                rows, found = _once(rows, found)
            if len(found):
                yield _with_ends(self, context.graph, batch, rows, found)
            if error is not None:
                raise error


def _with_ends(
    seek: RelationshipSeek | RelationshipIdSeek, graph: Snapshot, batch: Batch, rows: Int64s, found: Int64s
) -> Batch:
    """Rows with the relationships found for them and their ends, in both orientations if undirected (a loop once)."""
    starts, ends = graph.endpoints(found)
    if not seek.directed:
        rows, found, starts, ends = _both_ways(rows, found, starts, ends)
    return batch.take(rows).with_columns(
        {seek.relationship: Relationships(found), seek.start: Nodes(starts), seek.end: Nodes(ends)}
    )


def _both_ways(rows: Int64s, found: Int64s, starts: Int64s, ends: Int64s) -> tuple[Int64s, Int64s, Int64s, Int64s]:
    """Relationships and, reversed, those that are not loops, in order of rows."""
    other = np.flatnonzero(starts != ends)
    order = np.argsort(np.concatenate([rows, rows[other]]), kind="stable")
    return (
        np.concatenate([rows, rows[other]])[order],
        np.concatenate([found, found[other]])[order],
        np.concatenate([starts, ends[other]])[order],
        np.concatenate([ends, starts[other]])[order],
    )


def _wanted(column: Any, many: bool) -> tuple[Int64s, list[Any]]:
    """The values to look for, and the row each belongs to."""
    values = column.objects().tolist()
    if not many:
        return np.arange(len(values), dtype=np.int64), values
    rows: list[int] = []
    flat: list[Any] = []
    for row, value in enumerate(values):
        if isinstance(value, list | tuple):
            seen: set[tuple[type, Any]] = set()
            for item in value:
                key = (type(item), item) if isinstance(item, int | str | float) else None
                if key is None or key not in seen:  # IN finds a node once, however often its value is listed
                    flat.append(item)
                    rows.append(row)
                    if key is not None:
                        seen.add(key)
    return np.array(rows, np.int64), flat


def _once(rows: Int64s, nodes: Int64s) -> tuple[Int64s, Int64s]:
    """Pairs of row and node without duplicates, in order of rows."""
    if len(rows) < 2:
        return rows, nodes
    _, first = np.unique(np.stack([rows, nodes]), axis=1, return_index=True)
    first.sort()
    return rows[first], nodes[first]


@dataclass(slots=True, eq=False)
class IndexSeek(Operator):
    """Nodes with a label whose property equals a value, or one of a list."""

    source: Operator
    node: str
    label: str
    key: str
    value: Evaluator
    many: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each row with each node that has the value."""
        for incoming in self.source.run(context, argument):
            batch, (column,), error = evaluate(incoming, (self.value,), context)
            rows, values = _wanted(column, self.many)
            which, nodes = context.graph.seek_nodes(self.label, self.key, values)
            found = rows[which]
            if self.many:
                found, nodes = _once(found, nodes)
            if len(nodes):
                yield batch.take(found).with_columns({self.node: Nodes(nodes)})
            if error is not None:
                raise error


@dataclass(slots=True, eq=False)
class ParameterSeek(Operator):
    """Nodes with a label whose property equals a parameter."""

    row_by_row: IndexSeek  # the fallback for an argument of several rows
    node: str
    label: str
    key: str
    parameter: str

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The nodes, in one look-up."""
        nodes = self.nodes(context, argument, self.node)
        if nodes is None:
            yield from self.row_by_row.run(context, argument)
        elif len(nodes):
            yield Batch({self.node: Nodes(nodes)}, len(nodes))

    def nodes(self, context: Execution, argument: Batch, name: str) -> Int64s | None:
        """The nodes, if that is what the column holds."""
        if argument.columns or argument.row_count != 1 or name != self.node:
            return None
        return _having(self, context.graph, (context.parameters[self.parameter],))


_LISTS = (list, tuple)


@dataclass(slots=True, eq=False)
class ElementsSeek(Operator):
    """Nodes with a label whose property is among the elements of a list that all rows share, without those rows' other
    columns: an Unwind and an IndexSeek in one."""

    row_by_row: IndexSeek  # the fallback for an argument of several rows
    node: str
    label: str
    key: str
    parameter: str  # the list

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Only the nodes; a node may come several times."""
        nodes = self.nodes(context, argument, self.node)
        if nodes is None:
            yield from self.row_by_row.run(context, argument)
        elif len(nodes):
            yield Batch({self.node: Nodes(nodes)}, len(nodes))

    def nodes(self, context: Execution, argument: Batch, name: str) -> Int64s | None:
        """The nodes, if that is what the column holds."""
        if argument.columns or argument.row_count != 1 or name != self.node:
            return None
        value = context.parameters[self.parameter]
        if not isinstance(value, _LISTS):
            value = () if value is None else (value,)
        return _having(self, context.graph, value)


def _having(seek: ParameterSeek | ElementsSeek, graph: Snapshot, values: Sequence[Any]) -> Int64s:
    """The nodes with any of the values. The index is looked up once for each version of the graph."""
    index: ValueIndex | None = graph.kept.get(seek)
    if index is None:
        index = graph.node_index(seek.label, seek.key)
        if index is None:
            return graph.seek_nodes(seek.label, seek.key, values)[1]
        graph.keep(seek, index)
    return index.having(values)


@dataclass(slots=True, eq=False)
class IndexSearch(Operator):
    """Nodes with a label whose property meets one or two conditions; see `lp.NodeIndexSearch`."""

    source: Operator
    node: str
    label: str
    key: str
    conditions: tuple[tuple[str, Evaluator | None], ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each row with each node found for it."""
        evaluators = [evaluator for _, evaluator in self.conditions if evaluator is not None]
        for incoming in self.source.run(context, argument):
            batch, columns, error = evaluate(incoming, evaluators, context)
            rows = list(zip(*(column.objects().tolist() for column in columns), strict=True))
            known: dict[str, Int64s] = {}  # most rows look for the same
            for row, values in enumerate(rows or [()] * batch.row_count):
                context.check_time()
                shown = repr(values)
                if shown not in known:
                    known[shown] = self._found(context, values)
                nodes = known[shown]
                for start in range(0, len(nodes), LARGEST_BATCH):
                    piece = nodes[start : start + LARGEST_BATCH]
                    repeated = batch.take(np.full(len(piece), row, np.int64))
                    yield repeated.with_columns({self.node: Nodes(piece)})
            if error is not None:
                raise error

    def _found(self, context: Execution, values: tuple[Any, ...]) -> Int64s:
        graph, operator = context.graph, self.conditions[0][0]
        if operator == "IS NOT NULL":
            return graph.seek_existing(self.label, self.key)
        if operator in ("STARTS WITH", "CONTAINS", "ENDS WITH"):
            (text,) = values
            if not isinstance(text, str):
                return np.zeros(0, np.int64)
            if operator == "STARTS WITH":
                return graph.seek_prefix(self.label, self.key, text)
            return graph.seek_text(self.label, self.key, text, at_end=operator == "ENDS WITH")
        if operator == "point.distance":
            return graph.seek_near(self.label, self.key, *values)
        if operator == "point.withinBBox":
            return graph.seek_box(self.label, self.key, *values)
        low, high = None, None
        for (sign, _), value in zip(self.conditions, values, strict=True):
            if sign in (">", ">="):
                low = Bound(value, sign == ">=")
            else:
                high = Bound(value, sign == "<=")
        return graph.seek_range(self.label, self.key, low, high)


class AskedIds(NamedTuple):
    """Ids or element ids that are asked for: a value, or a list of them, in each row."""

    value: Evaluator
    many: bool
    by_element_id: bool

    def of(self, column: Any, prefix: str) -> tuple[Int64s, Int64s]:
        """Rows and the ids that their values denote; -1 if nothing can have it. `prefix`: of element ids."""
        if not self.many and not self.by_element_id and isinstance(column, Integers) and column.nulls is None:
            return np.arange(len(column), dtype=np.int64), column.values
        rows, values = _wanted(column, self.many)
        return rows, np.fromiter((self._id(value, prefix) for value in values), np.int64, len(values))

    def _id(self, value: Any, prefix: str) -> int:
        if self.by_element_id:
            number = value[len(prefix) :] if isinstance(value, str) and value.startswith(prefix) else ""
            # As in Neo4j, zeros in front are allowed in the element id of a node, and not in that of a relationship.
            if len(number) > 1 and number[0] == "0" and not prefix.startswith("4:"):
                return -1
            return int(number) if number.isascii() and number.isdecimal() and len(number) < 19 else -1
        if isinstance(value, float) and value.is_integer() and abs(value) < 2.0**63:
            return int(value)
        return value if isinstance(value, int) and not isinstance(value, bool) else -1


@dataclass(slots=True, eq=False)
class IdSeek(Operator):
    """Nodes by their id or element id."""

    source: Operator
    node: str
    asked: AskedIds

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each row with the node of that id, if there is one."""
        graph = context.graph
        for incoming in self.source.run(context, argument):
            batch, (column,), error = evaluate(incoming, (self.asked.value,), context)
            rows, ids = self.asked.of(column, f"4:{graph.uuid}:")
            nodes = np.full(len(ids), -1, np.int64)
            possible = ids >= 0
            nodes[possible] = graph.node_positions(ids[possible])
            nodes[nodes >= 0] = np.where(graph.node_exists(nodes[nodes >= 0]), nodes[nodes >= 0], -1)
            kept = nodes >= 0
            found, nodes = rows[kept], nodes[kept]
            if self.asked.many:
                found, nodes = _once(found, nodes)
            if len(nodes):
                yield batch.take(found).with_columns({self.node: Nodes(nodes)})
            if error is not None:
                raise error


@dataclass(slots=True, eq=False)
class RelationshipIdSeek(Operator):
    """Relationships, of some types or of any, by their id or element id, with their ends."""

    source: Operator
    relationship: str
    start: str
    end: str
    types: tuple[str, ...] | None
    asked: AskedIds
    directed: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each row with the relationship of that id, if there is one, in both orientations if undirected (a loop
        once)."""
        graph = context.graph
        for incoming in self.source.run(context, argument):
            batch, (column,), error = evaluate(incoming, (self.asked.value,), context)
            rows, ids = self.asked.of(column, f"5:{graph.uuid}:")
            possible = ids >= 0
            rows, found = rows[possible], graph.relationship_positions(ids[possible])
            kept = found >= 0
            rows, found = rows[kept], found[kept]
            if self.types is not None and len(found):
                codes = [code for name in self.types if (code := graph.type_code(name)) is not None]
                of_type = np.isin(graph.relationship_types(found), codes)
                rows, found = rows[of_type], found[of_type]
            if self.asked.many:
                rows, found = _once(rows, found)
            if len(found):
                yield _with_ends(self, graph, batch, rows, found)
            if error is not None:
                raise error


@dataclass(slots=True, eq=False)
class CountNodes(Operator):
    """The number of nodes, from the statistics."""

    source: Operator
    name: str
    label: str | None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """One number for each row."""
        graph = context.graph
        for batch in self.source.run(context, argument):
            count = graph.node_count if self.label is None else graph.label_count(self.label)
            yield batch.with_columns({self.name: Integers(np.full(batch.row_count, count, np.int64))})


@dataclass(slots=True, eq=False)
class CountRelationships(Operator):
    """The number of relationships, from the statistics."""

    source: Operator
    name: str
    types: tuple[str, ...] | None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """One number for each row."""
        graph = context.graph
        for batch in self.source.run(context, argument):
            if self.types is None:
                count = graph.relationship_count
            else:
                count = sum(graph.type_count(t) for t in set(self.types))
            yield batch.with_columns({self.name: Integers(np.full(batch.row_count, count, np.int64))})
