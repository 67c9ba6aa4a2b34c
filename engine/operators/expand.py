"""Following relationships: one hop, variable length, and what else a MATCH needs around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.logic import as_predicate
from hoplite.engine.grouping import distinct
from hoplite.engine.hops import Excluded, Hop, Side, Steps
from hoplite.engine.operators.base import (
    LARGEST_BATCH,
    Evaluator,
    Operator,
    argument_rows,
    node_positions,
    relationship_positions,
)
from hoplite.engine.profile import Profile, Watch
from hoplite.errors import CypherError
from hoplite.grammar.ast import Direction
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.planner.parts import Traversal
from hoplite.values.columns import (
    Booleans,
    Bools,
    Column,
    EntityLists,
    Int64s,
    Nodes,
    Paths,
    Relationships,
    ragged_take,
)
from hoplite.values.entities import RelationshipRef

_SIDES = {Direction.OUTGOING: Side.OUTGOING, Direction.INCOMING: Side.INCOMING, Direction.BOTH: Side.BOTH}
_FEW_ROWS = 4
_WORTH_LEADING = 4  # if at most one end in this many passes a filter, trails are guided to those ends


@dataclass(slots=True, eq=False)
class StepPredicate:
    """A predicate on each relationship of a path, in terms of its variables."""

    from_node: str
    relationship: str
    to_node: str
    predicate: Evaluator

    def holds(self, relationships: Int64s, from_nodes: Int64s, to_nodes: Int64s, context: Execution) -> Bools:
        """Where the predicate is true."""
        columns: dict[str, Column] = {
            self.from_node: Nodes(from_nodes),
            self.relationship: Relationships(relationships),
            self.to_node: Nodes(to_nodes),
        }
        try:
            column = self.predicate(Batch(columns, len(relationships)), context)
        except RowError as failure:
            raise failure.error from None
        if isinstance(column, Booleans):
            return column.values if column.nulls is None else column.values & ~column.nulls
        return np.fromiter((value is True for value in column.objects()), np.bool_, len(column))

    def mask(self, context: Execution) -> hops.RelationshipMask:
        """What a kernel asks."""

        def allowed(relationships: Int64s, from_nodes: Int64s, to_nodes: Int64s) -> Bools:
            return self.holds(relationships, from_nodes, to_nodes, context)

        return allowed


def make_hop(
    context: Execution,
    traversal: Traversal,
    step: StepPredicate | None = None,
    both_adjacencies: bool = False,
) -> Hop:
    """The hop that kernels take; with both adjacencies they may also search from the far end."""
    hop = hops.hop_of(context.graph, _SIDES[traversal.direction], traversal.types, both_adjacencies=both_adjacencies)
    if step is None:
        return hop
    return replace(hop, relationship_mask=hops.remember_relationships(step.mask(context)))


@dataclass(slots=True, eq=False)
class Expand(Operator):
    """One hop from a bound node to its neighbours."""

    source: Operator
    from_node: str
    relationship: str
    to_node: str
    traversal: Traversal
    keep: frozenset[str] | None  # the columns used above; None: possibly all
    piece: int = LARGEST_BATCH  # rows per batch

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each relationship, in the order of the source's rows."""
        hop: Hop | None = None
        names_relationship = self.keep is None or self.relationship in self.keep
        for incoming in self.source.run(context, argument):
            nodes = node_positions(incoming, self.from_node)
            batch = used_columns(incoming, self.keep)
            if is_between_writes(context, batch.row_count):
                yield from self._extended(batch, few_steps(context, nodes, self.traversal))
                continue
            hop = hop or make_hop(context, self.traversal)
            for steps in hops.expand_chunks(hop, nodes, self.piece, relationships=names_relationship):
                context.check_time()
                yield from self._extended(batch, steps)

    def _extended(self, batch: Batch, steps: Steps) -> Iterator[Batch]:
        if not len(steps.row):
            return
        columns: dict[str, Column] = {self.to_node: Nodes(steps.neighbours)}
        if len(steps.relationships) or self.keep is None:
            columns[self.relationship] = Relationships(steps.relationships)
        yield batch.take(steps.row).with_columns(columns)


def used_columns(batch: Batch, keep: frozenset[str] | None) -> Batch:
    """The columns used above, and `ROW`."""
    if keep is None or all(name in keep for name in batch.columns):
        return batch
    return batch.only([name for name in batch.columns if name in keep or name == ROW])


def is_between_writes(context: Execution, row_count: int) -> bool:
    """Whether a statement that writes follows relationships from so few rows that `few_steps` is cheaper."""
    return context.writer is not None and row_count <= _FEW_ROWS


def few_steps(context: Execution, nodes: Int64s, traversal: Traversal) -> Steps:
    """A hop from a few nodes between writes, read from the delta directly instead of building its arrays."""
    codes, direction = hops.type_codes(context.graph, traversal.types), traversal.direction
    wanted = None if codes is None else codes.tolist()
    rows, relationships, neighbours = [], [], []
    for row, node in enumerate(nodes.tolist()):
        if node < 0:
            continue
        found = []
        if direction is not Direction.INCOMING:
            found.append(context.graph.neighbours(node, True, wanted))
        if direction is not Direction.OUTGOING:
            incoming, others = context.graph.neighbours(node, False, wanted)
            if direction is Direction.BOTH:  # a self-loop is already among the outgoing ones
                kept = others != node
                incoming, others = incoming[kept], others[kept]
            found.append((incoming, others))
        for step_relationships, step_neighbours in found:
            rows.append(np.full(len(step_relationships), row, np.int64))
            relationships.append(step_relationships)
            neighbours.append(step_neighbours)
    if not rows:
        nothing = np.zeros(0, np.int64)
        return Steps(nothing, nothing, nothing)
    return Steps(np.concatenate(rows), np.concatenate(relationships), np.concatenate(neighbours))


@dataclass(slots=True, eq=False)
class ExpandInto(Operator):
    """The relationships between two bound nodes."""

    source: Operator
    from_node: str
    relationship: str
    to_node: str
    traversal: Traversal
    keep: frozenset[str] | None  # as in Expand

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each relationship."""
        hop: Hop | None = None
        for batch in self.source.run(context, argument):
            context.check_time()
            sources, targets = node_positions(batch, self.from_node), node_positions(batch, self.to_node)
            if is_between_writes(context, batch.row_count):
                steps = few_steps(context, sources, self.traversal)
                there = steps.neighbours == targets[steps.row]
                rows, relationships = steps.row[there], steps.relationships[there]
            else:
                hop = hop or make_hop(context, self.traversal, both_adjacencies=True)
                steps = hops.expand_into(hop, sources, targets, check=context.check_time)
                rows, relationships = steps.row, steps.relationships
            if len(rows):
                kept = used_columns(batch, self.keep)
                yield kept.take(rows).with_columns({self.relationship: Relationships(relationships)})


@dataclass(slots=True, eq=False)
class Trails(Operator):
    """All trails within bounds of length from a bound node, to any node or to a bound one."""

    source: Operator
    from_node: str
    relationship: str | None
    to_node: str
    traversal: Traversal
    into: bool
    step: StepPredicate | None
    left_group: str | None
    right_group: str | None
    turned: bool
    end_predicates: tuple[Evaluator, ...] = ()  # a filter above on the ends: trails to others may be skipped

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each trail, with its relationships as a list in the order of the written pattern."""
        if self.traversal.is_empty:
            return
        hop: Hop | None = None
        for batch in self.source.run(context, argument):
            hop = hop or make_hop(context, self.traversal, self.step, both_adjacencies=True)
            sources = node_positions(batch, self.from_node)
            ends = node_positions(batch, self.to_node) if self.into else None
            found = hops.trails(
                hop,
                sources,
                self.traversal.lower,
                self.traversal.upper,
                ends=ends,
                allowed_ends=self._wanted_ends(context, hop, sources) if self.end_predicates else None,
                chunk=LARGEST_BATCH,
                check=context.check_time,
                backend=context.backend,
            )
            for trails in found:
                if len(trails.row):
                    yield self.extended(batch, trails, sources)

    def _wanted_ends(self, context: Execution, hop: Hop, sources: Int64s) -> Int64s | None:
        """The ends that pass the filter above; None if so many do that guiding trails to them does not pay, or if the
        filter fails, which it will do again if a trail reaches that end."""
        reached = hops.reach_merged(
            hop, sources, self.traversal.lower, self.traversal.upper, check=context.check_time, backend=context.backend
        )
        wanted = reached
        try:
            for predicate in self.end_predicates:
                column = predicate(Batch({self.to_node: Nodes(wanted)}, len(wanted)), context)
                wanted = wanted[as_predicate(column).true_rows()]
        except (RowError, CypherError):
            return None
        return wanted if len(wanted) * _WORTH_LEADING <= len(reached) else None

    def extended(self, batch: Batch, trails: hops.TrailBatch, sources: Int64s) -> Batch:
        """The rows of a batch with the trails found from their sources."""
        row, offsets, relationships, nodes = trails
        starts = sources[row]
        last = starts.copy()
        some = offsets[1:] > offsets[:-1]
        last[some] = nodes[offsets[1:][some] - 1]
        extended = batch.take(row)
        columns: dict[str, Nodes | EntityLists] = {}
        if not self.into:
            columns[self.to_node] = Nodes(last)
        before = _shifted(offsets, nodes, starts)
        if self.turned:
            backwards = _backwards(offsets)
            relationships, before, nodes = relationships[backwards], nodes[backwards], before[backwards]
        if self.relationship is not None:
            columns[self.relationship] = EntityLists(offsets, relationships, of_nodes=False)
        if self.left_group is not None:
            columns[self.left_group] = EntityLists(offsets, before, of_nodes=True)
        if self.right_group is not None:
            columns[self.right_group] = EntityLists(offsets, nodes, of_nodes=True)
        return extended.with_columns(columns)


def _shifted(offsets: Int64s, nodes: Int64s, starts: Int64s) -> Int64s:
    """The node before each relationship, from the node after each and the first of each trail."""
    before = np.empty_like(nodes)
    if len(nodes):
        before[1:] = nodes[:-1]
        some = offsets[1:] > offsets[:-1]
        before[offsets[:-1][some]] = starts[some]
    return before


def _backwards(offsets: Int64s) -> Int64s:
    """Indexes that reverse each list of a ragged array."""
    lengths = np.diff(offsets)
    positions = np.arange(offsets[-1], dtype=np.int64)
    mirrored: Int64s = np.repeat(offsets[:-1] + offsets[1:] - 1, lengths) - positions
    return mirrored


@dataclass(slots=True, eq=False)
class Reach(Operator):
    """The distinct ends of trails, found by frontiers: for each row, or with `merged` for all rows together."""

    source: Operator
    from_node: str
    to_node: str
    traversal: Traversal
    into: bool
    step: StepPredicate | None
    distinct_from: tuple[str, ...]
    merged: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each row of the source and each end of a trail from it."""
        if self.traversal.is_empty:
            return
        if self.merged and argument_rows(argument) is None:
            yield from self._together(context, argument)
            return
        hop: Hop | None = None
        for batch in self.source.run(context, argument):
            hop = hop or make_hop(context, self.traversal, self.step, both_adjacencies=True)
            sources = node_positions(batch, self.from_node)
            for start in range(0, batch.row_count, 1024):
                part = np.arange(start, min(start + 1024, batch.row_count), dtype=np.int64)
                yield from self._for_each_row(context, hop, batch.take(part), sources[part])

    def _for_each_row(self, context: Execution, hop: Hop, batch: Batch, sources: Int64s) -> Iterator[Batch]:
        excluded = None
        if self.distinct_from:
            columns = [relationship_positions(batch, name) for name in self.distinct_from]
            excluded = Excluded.of_columns(*columns)
        ends = hops.reach(
            hop,
            sources,
            self.traversal.lower,
            self.traversal.upper,
            excluded=excluded,
            check=context.check_time,
            backend=context.backend,
        )
        rows, nodes = ends.row, ends.nodes
        if self.into:
            kept = nodes == node_positions(batch, self.to_node)[rows]
            rows, nodes = rows[kept], nodes[kept]
        if len(rows):
            yield batch.take(rows).with_columns({self.to_node: Nodes(nodes)})

    def _together(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        find = self.merged_ends if context.profile is None else self._merged_ends  # whoever runs this counts the rows
        yield from node_batches(self.to_node, find(context, argument))

    def merged_ends(self, context: Execution, argument: Batch) -> Int64s:
        """What `run` yields if all rows of the source share a frontier, as one array."""
        if context.profile is not None:
            return self._watched_ends(context, argument, context.profile)
        starts = self.source.nodes(context, argument, self.from_node)
        if starts is None:
            return self._merged_ends(context, argument)
        if not len(starts):
            return starts
        search: hops.SettledSearch | None = context.graph.kept.get(self)
        return self._first_ends(context, starts) if search is None else search(starts, context.check_time)

    def _watched_ends(self, context: Execution, argument: Batch, profile: Profile) -> Int64s:
        watch = Watch(profile, context)
        ends = self._merged_ends(context, argument)
        watch.note(self.plan, len(ends))
        return ends

    def _merged_ends(self, context: Execution, argument: Batch) -> Int64s:
        """The distinct ends of trails from all rows of the source together."""
        found = [node_positions(batch, self.from_node) for batch in self.source.run(context, argument)]
        starts = np.concatenate(found) if found else np.zeros(0, np.int64)
        hop = make_hop(context, self.traversal, self.step, both_adjacencies=True)
        return self._reached(context, hop, starts)

    def _first_ends(self, context: Execution, starts: Int64s) -> Int64s:
        """The ends of trails from these nodes. What depends on the graph alone is kept for the next run."""
        traversal = self.traversal
        hop = make_hop(context, traversal, self.step, both_adjacencies=True)
        if self.step is None:
            search = hops.settled_search(hop, traversal.lower, traversal.upper, backend=context.backend)
            if search is not None:
                context.graph.keep(self, search)
        return self._reached(context, hop, starts)

    def _reached(self, context: Execution, hop: Hop, starts: Int64s) -> Int64s:
        lower, upper = self.traversal.lower, self.traversal.upper
        return hops.reach_merged(hop, starts, lower, upper, check=context.check_time, backend=context.backend)


def node_batches(name: str, nodes: Int64s) -> Iterator[Batch]:
    """Nodes as the only column of batches."""
    for start in range(0, len(nodes), LARGEST_BATCH):
        piece = nodes[start : start + LARGEST_BATCH]
        yield Batch({name: Nodes(piece)}, len(piece))


@dataclass(slots=True, eq=False)
class DistinctRelationships(Operator):
    """The rows in which a relationship, or list of them, shares nothing with others of the same MATCH."""

    source: Operator
    relationship: str
    others: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Part of each batch."""
        for batch in self.source.run(context, argument):
            kept = np.ones(batch.row_count, np.bool_)
            for other in self.others:
                kept &= ~_in_common(batch, self.relationship, other)
            if kept.all():
                yield batch
            elif kept.any():
                yield batch.take(np.flatnonzero(kept))


def _in_common(batch: Batch, left: str, right: str) -> Bools:
    """For each row, whether two columns, of relationships or of lists of them, share a relationship."""
    mine, others = batch[left], batch[right]
    if isinstance(mine, Relationships) and isinstance(others, Relationships):
        same: Bools = mine.positions == others.positions
        return same
    return _shares(_ragged(batch, left), _ragged(batch, right))


def _ragged(batch: Batch, name: str) -> tuple[Int64s, Int64s]:
    """A column of relationships or of lists of them, as offsets and ids."""
    column = batch[name]
    if isinstance(column, EntityLists):
        return column.offsets, column.positions
    if isinstance(column, Relationships):
        return np.arange(len(column) + 1, dtype=np.int64), column.positions
    lists = [
        [v.position for v in value if isinstance(v, RelationshipRef)]
        if isinstance(value, list | tuple)
        else [value.position]
        if isinstance(value, RelationshipRef)
        else []
        for value in column.objects()
    ]
    offsets = np.zeros(len(lists) + 1, np.int64)
    np.cumsum([len(ids) for ids in lists], out=offsets[1:])
    return offsets, np.array([i for ids in lists for i in ids], np.int64)


def _holding_others(column: Column) -> Bools:
    """For each row, whether it is a list that contains anything but relationships."""
    if isinstance(column, EntityLists | Relationships):
        return np.zeros(len(column), np.bool_)
    return np.fromiter(
        (
            isinstance(value, list) and not all(isinstance(v, RelationshipRef) for v in value)
            for value in column.objects()
        ),
        np.bool_,
        len(column),
    )


def _shares(left: tuple[Int64s, Int64s], right: tuple[Int64s, Int64s]) -> Bools:
    """For each row, whether the two lists have an element in common."""
    (left_offsets, left_ids), (right_offsets, right_ids) = left, right
    count = len(left_offsets) - 1
    shared = np.zeros(count, np.bool_)
    if not len(left_ids) or not len(right_ids):
        return shared
    left_rows = np.repeat(np.arange(count, dtype=np.int64), np.diff(left_offsets))
    right_rows = np.repeat(np.arange(count, dtype=np.int64), np.diff(right_offsets))
    span = int(max(left_ids.max(), right_ids.max())) + 2
    common = np.isin(left_rows * span + left_ids, right_rows * span + right_ids)
    shared[left_rows[common]] = True
    return shared


@dataclass(slots=True, eq=False)
class FollowBound(Operator):
    """The ends of a relationship, or of a list of relationships forming a path, that is already bound."""

    source: Operator
    relationship: str
    start: str
    end: str
    start_bound: bool
    end_bound: bool
    traversal: Traversal
    is_list: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The rows in which ends, direction, types and length fit; both orientations if undirected."""
        for batch in self.source.run(context, argument):
            parts: list[Batch] = []
            if self.traversal.direction is not Direction.INCOMING:
                parts.extend(self._followed(context, batch, forwards=True))
            if self.traversal.direction is not Direction.OUTGOING:
                parts.extend(self._followed(context, batch, forwards=False))
            if self.is_list:
                parts = self._lists(context, batch)
            if parts:
                yield concatenate_batches(parts)

    def _followed(self, context: Execution, batch: Batch, forwards: bool) -> Iterator[Batch]:
        """A single relationship, from its start to its end or the other way."""
        if self.is_list:
            return
        ids = relationship_positions(batch, self.relationship)
        starts, ends = context.graph.endpoints(ids)
        first, second = (starts, ends) if forwards else (ends, starts)
        kept = context.graph.relationship_exists(ids)
        if not forwards and self.traversal.direction is Direction.BOTH:
            kept &= starts != ends  # a loop is one match, not two
        codes = hops.type_codes(context.graph, self.traversal.types)
        if codes is not None:
            kept &= np.isin(context.graph.relationship_types(ids), codes)
        yield from self._placed(batch, np.flatnonzero(kept), first, second)

    def _placed(self, batch: Batch, rows: Int64s, first: Int64s, second: Int64s) -> Iterator[Batch]:
        """The rows whose bound ends are these, with the ends that are not."""
        first, second = first[rows], second[rows]
        kept = np.ones(len(rows), np.bool_)
        if self.start_bound:
            kept &= node_positions(batch, self.start)[rows] == first
        if self.end_bound:
            kept &= node_positions(batch, self.end)[rows] == second
        if self.start == self.end:
            kept &= first == second
        if kept.any():
            yield batch.take(rows[kept]).with_columns({self.start: Nodes(first[kept]), self.end: Nodes(second[kept])})

    def _lists(self, context: Execution, batch: Batch) -> list[Batch]:
        """Lists of relationships: each must begin where the previous one ended, and occur once."""
        offsets, ids = _ragged(batch, self.relationship)
        codes = hops.type_codes(context.graph, self.traversal.types)
        allowed = context.graph.relationship_exists(ids)
        if codes is not None:
            allowed &= np.isin(context.graph.relationship_types(ids), codes)
        starts, ends = (array.tolist() for array in context.graph.endpoints(ids))
        impossible = batch[self.relationship].null_mask() | _holding_others(batch[self.relationship])
        rows, first, last = [], [], []
        free = None if self.start_bound or self.end_bound else context.graph.nodes().tolist()
        for row in range(batch.row_count):
            a, b = int(offsets[row]), int(offsets[row + 1])
            if impossible[row] or not self._fits(b - a) or not allowed[a:b].all():
                continue
            if len(distinct(ids[a:b])) < b - a:
                continue
            if a == b:
                for node in self._anywhere(batch, row, free):
                    rows.append(row)
                    first.append(node)
                    last.append(node)
                continue
            walks = _walks(starts[a:b], ends[a:b], self.traversal.direction)
            # Neo4j finds a path that begins with a loop once per direction of the loop, unless an end is bound.
            for start, end in sorted(set(walks)) if self.start_bound or self.end_bound else sorted(walks):
                rows.append(row)
                first.append(start)
                last.append(end)
        every = np.array(rows, np.int64)
        repeated = batch.take(every)
        placed = self._placed(
            repeated,
            np.arange(len(rows), dtype=np.int64),
            np.array(first, np.int64),
            np.array(last, np.int64),
        )
        return list(placed)

    def _fits(self, length: int) -> bool:
        lower, upper = self.traversal.lower, self.traversal.upper
        return length >= lower and (upper is None or length <= upper)

    def _anywhere(self, batch: Batch, row: int, free: list[int] | None) -> list[int]:
        """The nodes where a path without relationships may be."""
        if free is not None:
            return free
        name = self.start if self.start_bound else self.end
        node = int(node_positions(batch, name)[row])
        return [node] if node >= 0 else []


def _walks(starts: list[int], ends: list[int], direction: Direction) -> list[tuple[int, int]]:
    """The (first, last) nodes of the walks along relationships in this order, for each direction of the first one."""
    found: list[tuple[int, int]] = []
    if direction is not Direction.INCOMING:
        found.extend(_walks_on((starts[0], ends[0]), starts, ends, direction))
    if direction is not Direction.OUTGOING:
        found.extend(_walks_on((ends[0], starts[0]), starts, ends, direction))
    return found


def _walks_on(begun: tuple[int, int], starts: list[int], ends: list[int], direction: Direction) -> set[tuple[int, int]]:
    """The walks that begin with the first relationship in one direction."""
    walks = {begun}
    for start, end in zip(starts[1:], ends[1:], strict=True):
        onward: set[tuple[int, int]] = set()
        for first, last in walks:
            if direction is not Direction.INCOMING and last == start:
                onward.add((first, end))
            if direction is not Direction.OUTGOING and last == end:
                onward.add((first, start))
        walks = onward
    return walks


@dataclass(slots=True, eq=False)
class BuildPath(Operator):
    """A path from its first node and its relationships, single ones and lists."""

    source: Operator
    path: str
    start: str
    relationships: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Each batch with its paths."""
        for batch in self.source.run(context, argument):
            yield batch.with_columns({self.path: build_paths(context, batch, self.start, self.relationships)})


def build_paths(context: Execution, batch: Batch, start: str, relationships: tuple[str, ...]) -> Paths:
    """The paths of a batch; null where the first node or a relationship is null."""
    count = batch.row_count
    starts = node_positions(batch, start).copy()
    for name in relationships:
        starts[batch[name].null_mask()] = -1
    parts = [_ragged(batch, name) for name in relationships]
    lengths = np.zeros(count, np.int64)
    for offsets, _ in parts:
        lengths += np.diff(offsets)
    lengths[starts < 0] = 0
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    ids = np.empty(offsets[-1], np.int64)
    at = offsets[:-1].copy()
    rows = np.flatnonzero(starts >= 0)
    for part_offsets, part_ids in parts:
        taken, items = ragged_take(part_offsets, rows)
        counts = np.diff(taken)
        places = np.arange(taken[-1], dtype=np.int64) + np.repeat(at[rows] - taken[:-1], counts)
        ids[places] = part_ids[items]
        at[rows] += counts
    return Paths(starts, offsets, ids, walked_nodes(context, starts, offsets, ids))


def walked_nodes(context: Execution, starts: Int64s, offsets: Int64s, relationships: Int64s) -> Int64s:
    """The node after each relationship of a path: the end that is not the previous node."""
    one, other = context.graph.endpoints(relationships)
    total = one + other
    nodes = np.empty(len(relationships), np.int64)
    lengths = np.diff(offsets)
    current = starts.copy()
    for position in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > position)
        entries = offsets[rows] + position
        current[rows] = total[entries] - current[rows]
        nodes[entries] = current[rows]
    return nodes
