"""MERGE: for each row, the matches of a pattern; if there are none, the pattern is created.

Each row sees what the rows before it created. If the pattern is a single node, or a relationship between bound nodes,
all rows are matched at once and what is created is remembered by its properties; otherwise rows go one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution
from hoplite.engine.operators.apply import numbered
from hoplite.engine.operators.assignments import (
    Assignment,
    EntityAssignments,
    LabelAssignment,
    MapAssignment,
    PropertyAssignment,
)
from hoplite.engine.operators.base import Operator, argument_rows, node_positions, null_column
from hoplite.engine.operators.making import Maker, NewEntity, NewNode, NewRelationship, made_columns
from hoplite.engine.operators.row_values import WORTH_DOING_AT_ONCE, writer_of
from hoplite.engine.operators.setting import Setter
from hoplite.engine.operators.writes import Step
from hoplite.errors import CONSTRAINT_VALIDATION_FAILED, CypherError, semantic_error
from hoplite.gql_status import because
from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.schema import Entity
from hoplite.storage.value_index import lookup_key
from hoplite.values.columns import Bools, Int64s, Nodes, Relationships
from hoplite.values.order import equals

_WORTH_TOGETHER = 4  # from this many rows on, matching them together pays


@dataclass(slots=True, eq=False)
class _Paired:
    """Rows and what they are paired with: a position, or -1 - the place of the row that creates it in `new_rows`."""

    rows: Int64s
    positions: Int64s
    new_rows: Int64s
    is_new: Bools  # for each of `rows`
    refusal: CypherError | None  # of the row after the last of these


@dataclass(slots=True, eq=False)
class Merge(Step):
    """For each row, the matches of a pattern; if there are none, the pattern is created."""

    match: Operator
    imports: tuple[str, ...]
    added: tuple[str, ...]
    creations: tuple[NewEntity, ...]
    on_create: tuple[Assignment, ...]
    on_match: tuple[Assignment, ...]
    undirected: bool  # the pattern's relationship matches in both directions

    def apply(self, batch: Batch, context: Execution) -> Batch:
        """The rows with their matches, or with what was created for them."""
        maker = Maker(self.creations, batch, context)
        together = self._together(maker, batch, context)
        return self._row_by_row(maker, batch, context) if together is None else together

    # --- all rows together -------------------------------------------------------------------------------------

    def _together(self, maker: Maker, batch: Batch, context: Execution) -> Batch | None:
        """Match all rows at once, before anything is created; what a row creates is then remembered by its key, for
        later rows to find. None if the result could differ: the pattern has more than one part to create, or what is
        set could change what a later row matches.
        """
        if batch.row_count < _WORTH_TOGETHER or len(self.creations) != 1:
            return None
        (creation,) = self.creations
        if set(self.added) != {creation.variable} or not _has_fixed_names(creation):
            return None
        maps = self._maps(maker, batch)
        if maps is None or not all(self._leaves_alone(item, maps, batch, context) for item in self._items):
            return None
        found = self._matches(batch, context)
        if found is None:
            return None
        paired = self._paired(maker, creation, maps, found, context)
        places = paired.positions.copy()
        made = self._make_all(maker, paired.new_rows, creation, context)
        is_made = places < 0
        places[is_made] = made[-1 - places[is_made]]
        if paired.refusal is not None:
            raise paired.refusal
        column = Nodes(places) if isinstance(creation, NewNode) else Relationships(places)
        result = batch.take(paired.rows).with_columns({creation.variable: column})
        if self._items and not self._set_at_once(result, paired.is_new, creation.variable, context):
            new = Setter(self.on_create, result, context, others=self.on_match)
            old = Setter(self.on_match, result, context, others=self.on_create)
            for row, created in enumerate(paired.is_new.tolist()):
                (new if created else old).set(row)
        return result

    def _set_at_once(self, result: Batch, is_new: Bools, variable: str, context: Execution) -> bool:
        """Set what ON CREATE and ON MATCH say, if only what is merged is written to: a row that finds what another
        one created comes after it in any order."""
        if not all(_writes_to(item, variable) for item in self._items):
            return False
        writer, counters = writer_of(context), context.counters
        savepoint, properties_set = writer.savepoint(), counters.properties_set
        new = Setter(self.on_create, result.take(np.flatnonzero(is_new)), context, others=self.on_match)
        old = Setter(self.on_match, result.take(np.flatnonzero(~is_new)), context, others=self.on_create)
        if new.set_all_at_once() and old.set_all_at_once():
            return True
        writer.rollback_to(savepoint)
        counters.properties_set = properties_set
        return False

    def _paired(
        self,
        maker: Maker,
        creation: NewEntity,
        maps: list[dict[str, Any]],
        found: tuple[Int64s, Int64s],
        context: Execution,
    ) -> _Paired:
        """What each row is paired with, up to the first one that is refused."""
        bounds, positions = found[0].tolist(), found[1].tolist()
        rows, ids, is_new = list[int](), list[int](), list[bool]()
        new_rows: list[int] = []
        made: dict[Hashable, list[int]] = {}  # places in `new_rows`
        keys = self._keys(creation, maps, maker.batch)
        refusal: CypherError | None = None
        for row, asked in enumerate(maps):
            context.check_time()
            try:
                self._refuse(creation, asked)
            except CypherError as error:
                refusal = error
                break
            hits = positions[bounds[row] : bounds[row + 1]]
            created = False
            if not hits:
                alike = made.setdefault(keys[row], [])
                hits = [-1 - place for place in alike if _same(maps[new_rows[place]], asked)]
            if not hits:
                created = True
                hits = [-1 - len(new_rows)]
                alike.append(len(new_rows))
                new_rows.append(row)
            rows.extend([row] * len(hits))
            ids.extend(hits)
            is_new.extend([created] * len(hits))
        return _Paired(
            np.array(rows, np.int64),
            np.array(ids, np.int64),
            np.array(new_rows, np.int64),
            np.array(is_new, np.bool_),
            refusal,
        )

    def _make_all(self, maker: Maker, rows: Int64s, creation: NewEntity, context: Execution) -> Int64s:
        """What these rows create, in their order."""
        if len(rows) >= WORTH_DOING_AT_ONCE:
            made = Maker(self.creations, maker.batch.take(rows), context).make_all()
            if made is not None:
                return made[creation.variable]
        positions = [self._make(maker, row)[creation.variable] for row in rows.tolist()]
        return np.array(positions, np.int64)

    @property
    def _items(self) -> tuple[Assignment, ...]:
        return self.on_create + self.on_match

    def _maps(self, maker: Maker, batch: Batch) -> list[dict[str, Any]] | None:
        """The properties of the pattern in each row; None if they are not known beforehand."""
        own = self.creations[0].properties
        if own is None:
            return [{}] * batch.row_count
        values = maker.values[0]
        # What is set may be what the map reads.
        if values is None or own.has_subquery or (self._items and not own.is_settled(batch)):
            return None
        try:
            maps = [values(row) for row in range(batch.row_count)]
        except CypherError:
            return None
        return maps if all(isinstance(value, dict) for value in maps) else None

    def _leaves_alone(self, item: Assignment, maps: list[dict[str, Any]], batch: Batch, context: Execution) -> bool:
        """Whether what is set cannot change which rows match."""
        asked = maps[0].keys()
        match item:
            case PropertyAssignment(subject=subject, key=key, value=value):
                parts = [subject, value] if value is not None else [subject]
                return isinstance(key, str) and key not in asked and not any(part.has_subquery for part in parts)
            case EntityAssignments(subject=subject, entries=entries):
                fixed = all(isinstance(key, str) and key not in asked for key, _ in entries)
                return fixed and not any(part.has_subquery for part in (subject, *(value for _, value in entries)))
            case LabelAssignment(labels=labels):
                (creation,) = self.creations
                own = creation.labels if isinstance(creation, NewNode) else ()
                return all(isinstance(label, str) and label not in own for label in labels)
            case MapAssignment():
                return self._keeps_properties(item, maps, batch, context)

    def _keeps_properties(
        self, item: MapAssignment, maps: list[dict[str, Any]], batch: Batch, context: Execution
    ) -> bool:
        """Whether `n = map` or `n += map` leaves the pattern's properties as they are."""
        (creation,) = self.creations
        if creation.variable in item.value.reads or not item.value.is_settled(batch):
            return False
        values = item.value.over(batch, context)
        for row, asked in enumerate(maps):
            try:
                given = values(row)
            except CypherError:
                return False
            if not isinstance(given, dict):
                return False
            touched = asked.keys() if not item.merge else asked.keys() & given.keys()
            if item.variable != creation.variable and touched:
                return False
            if not all(key in given and equals(given[key], asked[key]) for key in touched):
                return False
        return True

    def _matches(self, batch: Batch, context: Execution) -> tuple[Int64s, Int64s] | None:
        """What already exists: positions[bounds[row] : bounds[row + 1]] for each row."""
        try:
            found = [f for f in self.match.run(context, numbered(batch, self.imports)) if f.row_count]
        except CypherError as error:
            if error.code.startswith("Neo.ClientError.Transaction."):
                raise  # cancelled, or out of time
            return None  # row by row it fails at its row
        if not found:
            return np.zeros(batch.row_count + 1, np.int64), np.zeros(0, np.int64)
        matches = concatenate_batches(found)
        rows, column = argument_rows(matches), matches[self.added[0]]
        assert rows is not None and isinstance(column, Nodes | Relationships)
        order = np.argsort(rows, kind="stable")
        bounds = np.searchsorted(rows[order], np.arange(batch.row_count + 1)).astype(np.int64)
        return bounds, column.positions[order]

    def _keys(self, creation: NewEntity, maps: list[dict[str, Any]], batch: Batch) -> list[Hashable]:
        """For each row, a key shared by rows whose patterns may match the same entity."""
        keys: list[Hashable] = [tuple(lookup_key(value) for value in asked.values()) for asked in maps]
        if isinstance(creation, NewNode):
            return keys
        starts, ends = node_positions(batch, creation.start), node_positions(batch, creation.end)
        if self.undirected:
            starts, ends = np.minimum(starts, ends), np.maximum(starts, ends)
        return list(zip(starts.tolist(), ends.tolist(), keys, strict=True))

    # --- row by row --------------------------------------------------------------------------------------------

    def _row_by_row(self, maker: Maker, batch: Batch, context: Execution) -> Batch:
        results: list[Batch] = []
        for row in range(batch.row_count):
            context.check_time()
            self._refuse_known(maker, row)
            one = batch.rows(row, row + 1)
            found = [f for f in self.match.run(context, numbered(one, self.imports)) if f.row_count]
            if found:
                matches = concatenate_batches(found)
                many = one.take(np.zeros(matches.row_count, np.int64))
                result = many.with_columns({name: matches[name] for name in self.added})
                items = self.on_match
            else:
                made = self._make(maker, row)
                result = one.with_columns(made_columns(self.creations, [made]))
                items = self.on_create
            if items:
                setter = Setter(items, result, context)
                for each in range(result.row_count):
                    setter.set(each)
            results.append(result)
        if not results:  # no rows, but all columns
            return batch.with_columns({name: null_column(0) for name in self.added})
        return concatenate_batches(results)

    def _make(self, maker: Maker, row: int) -> dict[str, int]:
        try:
            return maker.make(row, refuse=self._refuse)
        except CypherError as error:
            if error.code == CONSTRAINT_VALIDATION_FAILED:
                for creation, values in zip(self.creations, maker.values, strict=True):
                    if isinstance(creation, NewNode) and _leads_to_several(creation, values, row, maker.context):
                        raise _conflict(creation.variable.replace(HIDDEN, "  ")) from None
            raise

    # --- what can be neither matched nor created -------------------------------------------------------------------

    def _refuse_known(self, maker: Maker, row: int) -> None:
        """Refuse what is known to be wrong before matching."""
        for creation, values in zip(self.creations, maker.values, strict=True):
            if values is not None:
                self._refuse(creation, values(row))

    def _refuse(self, creation: NewEntity, value: Any) -> None:
        """A pattern with a property that equals nothing, null or NaN, can be neither matched nor created."""
        if not isinstance(value, dict):
            return
        for key, item in value.items():
            if item is None or item != item:
                kind, pattern = self._described(creation, key, item)
                what = "null" if item is None else "NaN"
                raise semantic_error(
                    f"Cannot merge the following {kind} because of {what} property value for '{key}': {pattern}"
                )

    def _described(self, creation: NewEntity, key: str, value: Any) -> tuple[str, str]:
        """What is refused, and the pattern as messages show it, with one property."""
        shown = f"{key}: {'null' if value is None else 'NaN'}"
        match creation:
            case NewNode(labels=labels):
                names = "".join(f":{label}" for label in labels if isinstance(label, str))
                return "node", f"({names} {{{shown}}})"
            case NewRelationship(type=type_, start=start, end=end):
                name = f":{type_}" if isinstance(type_, str) else ""
                return "relationship", f"({_visible(start)})-[{name} {{{shown}}}]->({_visible(end)})"


def _writes_to(item: Assignment, variable: str) -> bool:
    match item:
        case PropertyAssignment(subject=subject) | EntityAssignments(subject=subject):
            return subject.reads == {variable} and not subject.reads_graph
        case MapAssignment(variable=written) | LabelAssignment(variable=written):
            return written == variable


def _has_fixed_names(creation: NewEntity) -> bool:
    match creation:
        case NewNode(labels=labels):
            return all(isinstance(label, str) for label in labels)
        case NewRelationship(type=type_):
            return isinstance(type_, str)


def _same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return all(equals(value, right[key]) for key, value in left.items())


def _visible(name: str) -> str:
    return "" if name.startswith(HIDDEN) else name


def _leads_to_several(creation: NewNode, values: Callable[[int], Any] | None, row: int, context: Execution) -> bool:
    """Whether different constraints on a node of the pattern lead to different existing nodes."""
    found: set[frozenset[int]] = set()
    asked = values(row) if values is not None else {}
    writer = writer_of(context)
    for label in (label for label in creation.labels if isinstance(label, str)):
        for constraint in writer.schema.unique(Entity.NODE, label):
            if set(constraint.keys) <= asked.keys():
                hits = [set(writer.seek_nodes(label, key, [asked[key]])[1].tolist()) for key in constraint.keys]
                found.add(frozenset(set.intersection(*hits)))
    return len(found) > 1


def _conflict(name: str) -> CypherError:
    message = (
        f"Merge did not find a matching node {name} and can not create a new node due to conflicts with existing "
        "unique nodes"
    )
    return CypherError(CONSTRAINT_VALIDATION_FAILED, message, because("22N41", name))
