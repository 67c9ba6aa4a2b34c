"""Paths beyond plain variable length: quantified path patterns, shortest paths, and path selectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution
from hoplite.engine.hops.interface import UNLIMITED
from hoplite.engine.hops.shortest import Keep
from hoplite.engine.operators.base import (
    Evaluator,
    Operator,
    argument_rows,
    column_of,
    evaluate,
    node_positions,
    relationship_positions,
)
from hoplite.engine.operators.expand import StepPredicate, Trails, build_paths, make_hop
from hoplite.engine.operators.rows import constant_of
from hoplite.errors import CypherError
from hoplite.gql_status import status
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.planner.parts import Group, Traversal
from hoplite.values.columns import (
    Bools,
    Column,
    EntityLists,
    Int64s,
    Integers,
    Nodes,
    Paths,
)

_HELD_ROWS = 1 << 16  # paths read before those that can no longer be selected are dropped
_STATES_AT_ONCE = 4096  # rows that a repetition extends at once: bounds memory, and lets LIMIT stop early

_SAME_ENDS = """\
The shortest path algorithm does not work when the start and end nodes are the same. This can happen if you
perform a shortestPath search after a cartesian product that might have the same start and end nodes for some
of the rows passed to shortestPath. If you would rather not experience this exception, and can accept the
possibility of missing results for those rows, disable this in the Neo4j configuration by setting
`dbms.cypher.forbid_shortestpath_common_nodes` to false. If you cannot accept missing results, and really want the
shortestPath between two common nodes, then re-write the query using a standard Cypher variable length pattern
expression followed by ordering by path length and limiting to one result."""


@dataclass(slots=True, eq=False)
class _State:
    """Unfinished paths: for each, the row it started from, the node it has reached, and what it has collected."""

    depth: int
    row: Int64s
    node: Int64s
    trail: list[Int64s]  # one array for each relationship of the pattern and repetition
    collected: dict[str, list[Column]]  # the values of each group variable, one column per repetition

    def take(self, picked: Int64s) -> _State:
        return _State(
            self.depth,
            self.row[picked],
            self.node[picked],
            [ids[picked] for ids in self.trail],
            {name: [c.take(picked) for c in columns] for name, columns in self.collected.items()},
        )


@dataclass(slots=True, eq=False)
class Repeat(Operator):
    """A quantified path pattern: states are extended by the inner plan, depth first, a bounded number at a time."""

    source: Operator
    inner: Operator
    from_node: str
    to_node: str
    into: bool
    inner_start: str
    inner_end: str
    relationships: tuple[str, ...]
    groups: tuple[Group, ...]
    trail: str
    lower: int
    upper: int | None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each path of `lower` to `upper` repetitions."""
        for batch in self.source.run(context, argument):
            sources = node_positions(batch, self.from_node)
            rows = np.flatnonzero(sources >= 0)
            stack = [_State(0, rows, sources[rows], [], {group.inner: [] for group in self.groups})]
            while stack:
                context.check_time()
                state = stack.pop()
                if state.depth >= self.lower:
                    yield from self._finished(batch, state)
                if self.upper is not None and state.depth >= self.upper:
                    continue
                for start in range(0, len(state.row), _STATES_AT_ONCE):
                    part = np.arange(start, min(start + _STATES_AT_ONCE, len(state.row)), dtype=np.int64)
                    stack.extend(self._extended(context, batch, state.take(part)))

    def _extended(self, context: Execution, batch: Batch, state: _State) -> Iterator[_State]:
        """The states after one more repetition."""
        inner = batch.take(state.row)
        columns = {**inner.columns, self.inner_start: Nodes(state.node)}
        columns[ROW] = Integers(np.arange(len(state.row), dtype=np.int64))
        for found in self.inner.run(context, Batch(columns, len(state.row))):
            rows = argument_rows(found)
            assert rows is not None
            ids = [relationship_positions(found, name) for name in self.relationships]
            kept = np.ones(found.row_count, np.bool_)
            for new in ids:
                for old in state.trail:
                    kept &= new != old[rows]
            picked = np.flatnonzero(kept)
            if not len(picked):
                continue
            before = state.take(rows[picked])
            collected = {name: [*columns, found[name].take(picked)] for name, columns in before.collected.items()}
            yield _State(
                state.depth + 1,
                before.row,
                node_positions(found, self.inner_end)[picked],
                [*before.trail, *(new[picked] for new in ids)],
                collected,
            )

    def _finished(self, batch: Batch, state: _State) -> Iterator[Batch]:
        """The rows of the paths that are long enough."""
        kept = np.arange(len(state.row), dtype=np.int64)
        if self.into:
            kept = np.flatnonzero(node_positions(batch, self.to_node)[state.row] == state.node)
        if not len(kept):
            return
        state = state.take(kept)
        columns: dict[str, Column] = {} if self.into else {self.to_node: Nodes(state.node)}
        columns[self.trail] = _lists(state.trail, len(kept), of_nodes=False)
        for group in self.groups:
            values = state.collected[group.inner]
            match group.kind:
                case "node":
                    ids = [c.positions for c in values if isinstance(c, Nodes)]
                    columns[group.outer] = _lists(ids, len(kept), of_nodes=True)
                case "relationship":
                    ids = [relationship_positions(Batch({"r": c}, len(c)), "r") for c in values]
                    columns[group.outer] = _lists(ids, len(kept), of_nodes=False)
                case _:
                    objects = [c.objects() for c in values]
                    columns[group.outer] = column_of([[o[i] for o in objects] for i in range(len(kept))])
        yield batch.take(state.row).with_columns(columns)


def _lists(parts: list[Int64s], count: int, of_nodes: bool) -> EntityLists:
    """Row i is the list of parts[0][i], parts[1][i], ..."""
    width = len(parts)
    ids = np.stack(parts, axis=1).reshape(-1) if parts else np.zeros(0, np.int64)
    return EntityLists(np.arange(count + 1, dtype=np.int64) * width, ids, of_nodes)


@dataclass(slots=True, eq=False)
class ShortestPaths(Operator):
    """One shortest path between two bound nodes, or all of them."""

    source: Operator
    from_node: str
    to_node: str
    relationship: str
    traversal: Traversal
    every: bool
    step: StepPredicate | None
    path: str | None
    predicates: tuple[Evaluator, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each selected path."""
        for batch in self.source.run(context, argument):
            sources, targets = node_positions(batch, self.from_node), node_positions(batch, self.to_node)
            if self.traversal.lower > 0 and bool(((sources == targets) & (sources >= 0)).any()):
                code = "Neo.DatabaseError.Statement.ExecutionFailed"
                raise CypherError(code, _SAME_ENDS, status("51N23"))
            hop = make_hop(context, self.traversal, self.step, both_adjacencies=True)
            choice = hops.Choice(lengths=1) if self.every else hops.Choice(paths=1)
            found = hops.shortest_trails(
                hop,
                sources,
                targets,
                self.traversal.lower,
                self.traversal.upper,
                choice,
                keep=self._keep(context, batch) if self.predicates else None,
                check=context.check_time,
                backend=context.backend,
            )
            for trails in found:
                yield self._bound(context, batch, trails)

    def _keep(self, context: Execution, batch: Batch) -> Keep:
        return lambda trails: all_hold(self.predicates, self._bound(context, batch, trails), context)

    def _bound(self, context: Execution, batch: Batch, trails: hops.TrailBatch) -> Batch:
        columns: dict[str, Column] = {
            self.relationship: EntityLists(trails.offsets, trails.relationships, of_nodes=False)
        }
        if self.path is not None:
            starts = node_positions(batch, self.from_node)[trails.row]
            columns[self.path] = Paths(starts, trails.offsets, trails.relationships, trails.nodes)
        return batch.take(trails.row).with_columns(columns)


def all_hold(predicates: tuple[Evaluator, ...], batch: Batch, context: Execution) -> Bools:
    """Where all predicates are true; each is evaluated only for the rows that passed those before it."""
    kept = np.arange(batch.row_count, dtype=np.int64)
    for predicate in predicates:
        some, (column,), error = evaluate(batch.take(kept), (predicate,), context)
        if error is not None:
            raise error
        kept = kept[np.fromiter((value is True for value in column.objects()), np.bool_, some.row_count)]
    holds = np.zeros(batch.row_count, np.bool_)
    holds[kept] = True
    return holds


@dataclass(slots=True, eq=False)
class ShortestTrails(Operator):
    """For each node, or pair of nodes, the shortest trails of a repeated relationship that a selector wants."""

    trails: Trails
    kind: str
    count: Evaluator
    predicates: tuple[Evaluator, ...]
    path: str | None

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each selected trail."""
        trails = self.trails
        choice = _choice(self.kind, constant_of(self.count, context))
        hop: hops.Hop | None = None
        for batch in trails.source.run(context, argument):
            hop = hop or make_hop(context, trails.traversal, trails.step, both_adjacencies=True)
            sources = node_positions(batch, trails.from_node)
            found = hops.shortest_trails(
                hop,
                sources,
                node_positions(batch, trails.to_node) if trails.into else None,
                trails.traversal.lower,
                trails.traversal.upper,
                choice,
                keep=self._keep(context, batch, sources) if self.predicates else None,
                check=context.check_time,
                backend=context.backend,
            )
            for chosen in found:
                yield trails.extended(batch, chosen, sources)

    def _keep(self, context: Execution, batch: Batch, sources: Int64s) -> Keep:
        trails = self.trails
        start = trails.to_node if trails.turned else trails.from_node

        def keep(found: hops.TrailBatch) -> Bools:
            known = trails.extended(batch, found, sources)
            if self.path is not None:
                assert trails.relationship is not None
                known = known.with_columns({self.path: build_paths(context, known, start, (trails.relationship,))})
            return all_hold(self.predicates, known, context)

        return keep


def _choice(kind: str, count: object) -> hops.Choice:
    assert isinstance(count, int)
    wanted = min(count, UNLIMITED)
    match kind:
        case "ALL SHORTEST":
            return hops.Choice(lengths=1)
        case "SHORTEST GROUPS":
            return hops.Choice(lengths=wanted)
        case _:
            return hops.Choice(paths=wanted)


@dataclass(slots=True, eq=False)
class SelectShortest(Operator):
    """The shortest rows of a path pattern for each pair of ends and row of the argument."""

    source: Operator
    start: str
    end: str
    kind: str
    count: Evaluator
    relationships: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Reads all paths, keeping those that may be selected, then yields the selected ones."""
        wanted = constant_of(self.count, context)
        assert isinstance(wanted, int)
        read: list[Batch] = []
        row_count, most = 0, _HELD_ROWS
        with context.memory.holding() as held:
            for batch in self.source.run(context, argument):
                read.append(held.add_batch(batch))
                row_count += batch.row_count
                if row_count > most:
                    context.check_time()
                    read = [self._selected(concatenate_batches(read), wanted)]
                    held.release()
                    held.add_batch(read[0])
                    row_count = read[0].row_count
                    most = max(2 * row_count, _HELD_ROWS)
            if read:
                yield self._selected(concatenate_batches(read), wanted)

    def _selected(self, batch: Batch, wanted: int) -> Batch:
        lengths = np.zeros(batch.row_count, np.int64)
        for name in self.relationships:
            column = batch[name]
            lengths += np.diff(column.offsets) if isinstance(column, EntityLists) else 1
        ends = [node_positions(batch, self.start), node_positions(batch, self.end)]
        rows = argument_rows(batch)
        keys = np.stack([*([] if rows is None else [rows]), *ends])
        _, pair = np.unique(keys, axis=1, return_inverse=True)
        pair = pair.reshape(-1)
        order = np.lexsort((np.arange(len(pair)), lengths, pair))
        kept = _first_of_each(pair[order], lengths[order], self.kind, wanted)
        return batch.take(np.sort(order[kept]))


def _first_of_each(pair: Int64s, lengths: Int64s, kind: str, wanted: int) -> Int64s:
    """Which of the rows, sorted by pair and length, a selector keeps."""
    opens = np.ones(len(pair), np.bool_)
    opens[1:] = pair[1:] != pair[:-1]
    if kind in ("ANY", "SHORTEST"):
        first = np.maximum.accumulate(np.where(opens, np.arange(len(pair)), 0))
        return np.flatnonzero(np.arange(len(pair)) - first < wanted)
    longer = np.zeros(len(pair), np.int64)
    longer[1:] = (pair[1:] == pair[:-1]) & (lengths[1:] != lengths[:-1])
    group = np.cumsum(longer)
    base = np.maximum.accumulate(np.where(opens, group, 0))
    return np.flatnonzero(group - base < (1 if kind == "ALL SHORTEST" else wanted))
